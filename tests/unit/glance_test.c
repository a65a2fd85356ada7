/* SPDX-License-Identifier: MIT */
/* glance_test.c -- the alternate screen and the line's end, however the bytes are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/glance_priv.h"

struct sample {
    const char *bytes;
    bool is_alternate, is_mid_line;
};

#define ESC "\033"

static const struct sample samples[] = {
    { "", false, false },
    { "text", false, true },
    { "text\n", false, false },
    { "text\r\n", false, false },
    { "50 %\r", false, false },
    { "text\nmore", false, true },
    { ESC "[31mred" ESC "[0m", false, true },
    { "line\n" ESC "[0m", false, false },
    { ESC "[?1049h", true, false },
    { ESC "[?1047h", true, false },
    { ESC "[?47h", true, false },
    { ESC "[?1049h" ESC "[?1049l", false, false },
    { ESC "[?1049h" ESC "[?47l", false, false },
    { ESC "[?1049htext" ESC "[?25l", true, true },
    { ESC "[?1;1049;25h", true, false },
    { ESC "[?1049;25h", true, false },
    { ESC "[?25;1049h", true, false },
    { ESC "[?1049h" ESC "[?25;1047;1l", false, false },
    { ESC "[?01049h", true, false },
    /* What looks like it, and is not. */
    { ESC "[1049h", false, false },
    { ESC "[?104h", false, false },
    { ESC "[?10490h", false, false },
    { ESC "[?99999999991049h", false, false },
    { ESC "[?1049s", false, false },
    { ESC "[?1049$p", false, false },
    { "[?1049h", false, true },
    { ESC "[?1049" ESC "[?25h", false, false },
    { ESC "[?10" ESC "[?1049h", true, false },
    { ESC ESC "[?1049h", true, false },
    { ESC "7" ESC "[?1049h" ESC "8", true, false },
};

static void
is_seen(const struct sample *s, const struct glance *g, size_t cut)
{
    if (g->is_alternate != s->is_alternate || g->is_mid_line != s->is_mid_line)
        fail_msg("sample %zu, cut at %zu: alternate %d, mid-line %d",
                 (size_t)(s - samples), cut, g->is_alternate, g->is_mid_line);
}

static void
look(struct glance *g, const char *bytes, size_t n)
{
    glance(g, (struct view){ (const uint8_t *)bytes, n });
}

static void
screens_and_lines_are_seen_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        size_t n = strlen(s->bytes);
        for (size_t cut = 0; cut <= n; cut++) {
            struct glance g = { 0 };
            look(&g, s->bytes, cut);
            look(&g, s->bytes + cut, n - cut);
            is_seen(s, &g, cut);
        }
        struct glance g = { 0 };
        for (size_t at = 0; at < n; at++)
            look(&g, s->bytes + at, 1);
        is_seen(s, &g, n);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_and_lines_are_seen_however_they_are_cut),
    };
    return cmocka_run_group_tests_name("glance", tests, NULL, NULL);
}
