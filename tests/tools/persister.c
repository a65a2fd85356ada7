/* SPDX-License-Identifier: MIT */
/*
 * persister.c -- a program that keeps an iteration log by journal/iteration.h alone, as
 * any caller of the library would.
 *
 * usage: persister LOG ITERATION FLUSH_MS <COMMANDS
 *
 * A command a line: out TEXT, piece TEXT (no newline), err TEXT, errpiece TEXT, flush,
 * complete CODE MS, abort SIGNAL, crash REASON, close. Each is answered with what it
 * returned. SIGINT, SIGTERM and SIGHUP abort the log. At the end of its commands it ends
 * as it is.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/signame.h"
#include "journal/iteration.h"

static volatile sig_atomic_t signalled;

static void
note(int signo)
{
    signalled = signo;
}

static int
add(struct journal_iteration *it, const char *text, bool is_stderr, bool is_whole)
{
    AUTO(buf) b = { 0 };
    buf_puts(&b, text);
    if (is_whole)
        buf_puts(&b, "\n");
    struct view v = { b.p, b.n };
    return is_stderr ? journal_iteration_append_stderr(it, v)
                     : journal_iteration_append(it, v);
}

static int
complete(struct journal_iteration *it, const char *args)
{
    int code = 0;
    unsigned long long ms = 0;
    if (sscanf(args, "%d %llu", &code, &ms) != 2)
        return -EINVAL;
    return journal_iteration_complete(it, code, ms);
}

static int
obey(struct journal_iteration **it, const char *word, const char *rest)
{
    if (!strcmp(word, "out"))
        return add(*it, rest, false, true);
    if (!strcmp(word, "piece"))
        return add(*it, rest, false, false);
    if (!strcmp(word, "err"))
        return add(*it, rest, true, true);
    if (!strcmp(word, "errpiece"))
        return add(*it, rest, true, false);
    if (!strcmp(word, "flush"))
        return journal_iteration_flush(*it);
    if (!strcmp(word, "complete"))
        return complete(*it, rest);
    if (!strcmp(word, "abort"))
        return journal_iteration_abort(*it, rest);
    if (!strcmp(word, "crash"))
        return journal_iteration_crash(*it, rest);
    return -ENOSYS;
}

static bool
take_line(struct journal_iteration **it, char *line)
{
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = 0;
    if (!strcmp(line, "close"))
        return false;
    printf("%d\n", obey(it, line, rest));
    for (struct err err; journal_iteration_trouble(*it, &err);)
        fprintf(stderr, "%s\n", err.text);
    fflush(stdout);
    return true;
}

/* Signals arrive here alone: none is missed just before. */
static int
wait_input(const struct journal_iteration *it)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    uint64_t due = journal_iteration_due_ns(it), now = clock_mono_ns();
    uint64_t ns = due > now ? due - now : 0;
    struct timespec time = { .tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000) };
    sigset_t none;
    sigemptyset(&none);
    return ppoll(&in, 1, due == UINT64_MAX ? NULL : &time, &none);
}

/* Whole lines of what has come, until there are no more. */
static void
serve(struct journal_iteration **it)
{
    static char room[1 << 16];
    size_t n = 0;
    for (;;) {
        int r = wait_input(*it);
        journal_iteration_tick(*it, clock_mono_ns());
        if (signalled) {
            char name[16];
            snprintf(name, sizeof(name), "SIG%s", signame(signalled));
            journal_iteration_abort(*it, name);
            return;
        }
        if (r <= 0)
            continue;
        ssize_t got = read(STDIN_FILENO, room + n, sizeof(room) - 1 - n);
        if (got <= 0)
            return;
        n += (size_t)got;
        for (char *end; (end = memchr(room, '\n', n));) {
            *end = 0;
            if (!take_line(it, room))
                return;
            n -= (size_t)(end + 1 - room);
            memmove(room, end + 1, n);
        }
    }
}

int
main(int argc, char **argv)
{
    struct journal_iteration *it;
    struct err err;
    uint64_t number, flush_ms;
    struct sigaction act = { .sa_handler = note };
    sigset_t held;
    if (argc != 4 ||
        num_parse((struct view){ (uint8_t *)argv[2], strlen(argv[2]) }, UINT64_MAX,
                  &number) < 0 ||
        num_parse((struct view){ (uint8_t *)argv[3], strlen(argv[3]) }, 100000,
                  &flush_ms) < 0)
        return 2;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    if (journal_iteration_open(&it, argv[1], number, (unsigned)flush_ms, &err) < 0) {
        fprintf(stderr, "persister: %s\n", err.text);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    serve(&it);
    journal_iteration_close(it);
    return 0;
}
