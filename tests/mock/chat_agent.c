/* SPDX-License-Identifier: MIT */
/*
 * chat_agent.c -- a mock agent to talk with: a line in, some lines out, the same for the
 * same conversation.
 *
 *     chat_agent [--pause-ms N] [--differ N]
 *
 * What it answers depends on all that it was told so far. "state" is answered by the one
 * number that stands for it, and changes nothing. --differ: the N-th answer is another.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"

struct agent {
    uint64_t state, told, differ;
    struct timespec pause;
};

static uint64_t
mix(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

static void
say(const struct agent *a, const char *text)
{
    printf("%s %016" PRIx64 "\n", text, a->state);
    fflush(stdout);
    nanosleep(&a->pause, NULL);
}

static void
answer(struct agent *a, const char *line)
{
    if (!strcmp(line, "state")) {
        say(a, "state");
        return;
    }
    a->state = mix(a->state, line);
    a->told++;
    if (a->told == a->differ) {
        printf("something else\n");
        fflush(stdout);
        return;
    }
    for (uint64_t i = 0; i <= a->state % 3; i++)
        say(a, i ? "and" : "so");
}

int
main(int argc, char **argv)
{
    static char line[1 << 20];
    struct agent a = { .state = UINT64_C(0xcbf29ce484222325) };
    uint64_t pause_ms = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        struct view value = { (const uint8_t *)argv[i + 1], strlen(argv[i + 1]) };
        uint64_t *to = !strcmp(argv[i], "--differ") ? &a.differ : &pause_ms;
        if (num_parse(value, 100000, to) < 0)
            return 2;
    }
    a.pause.tv_nsec = (long)(pause_ms % 1000) * 1000000;
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(&a, line);
    }
    return 0;
}
