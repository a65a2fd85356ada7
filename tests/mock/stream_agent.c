/* SPDX-License-Identifier: MIT */
/*
 * stream_agent.c -- a program that speaks as agents without a terminal do, for `ahr run`.
 *
 * Message N holds the token "tok-SEED-N-HASH", of which there is no other, so that a test
 * can tell what is lost, doubled or out of place. With --sent FILE each token is appended
 * there when its lines were written whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_in.h"
#include "base/num.h"
#include "mock/speech.h"
#include "support/rng.h"

struct options {
    uint64_t seed, messages, delay, stderr_every, huge, exit, die_after, hold, garbage;
    bool has_delay, is_alternating, has_secret, reads_lines, reads_json;
    int kill_signal;
    const char *write, *sent;
    struct speech speech;
};

static const char usage[] =
    "usage: stream_agent [OPTION]... [PROMPT]\n"
    "  --format claude|codex|plain  how it speaks, by default claude\n"
    "  --partial            claude: in pieces before each message\n"
    "  --messages N         by default 20; every third is a call of a tool\n"
    "  --seed N             tokens and pauses\n"
    "  --delay-us N         between messages; by default 0 to 2000 by the seed\n"
    "  --alternate          numbered lines on stdout and stderr by turns, 1 ms apart\n"
    "  --stderr-every N     a line on stderr behind every N-th message\n"
    "  --secret             a key of a cloud in every fifth message\n"
    "  --huge BYTES         so long is the middle message\n"
    "  --garbage N          a line that is no JSON behind every N-th message\n"
    "  --write DIR          calls of tools write files there (file-0, file-1, file-2)\n"
    "  --sent FILE          append each token when it was written\n"
    "  --exit N             exit with that status\n"
    "  --kill-self SIGNAL   die of it (KILL, SEGV, 9) behind half of the messages\n"
    "  --die-after N        … behind that many\n"
    "  --ignore SIGNAL      which then does nothing; may be given again\n"
    "  --hold SECONDS       a grandchild keeps stdout and stderr open for so long\n"
    "  --prompts lines|json answer each line of stdin, until its end\n";

_Noreturn static void
die(const char *what, const char *why)
{
    fprintf(stderr, "stream_agent: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* -- the command line -- */

static uint64_t
number(const char *text)
{
    uint64_t n;
    struct view v = { (const uint8_t *)text, strlen(text) };
    if (num_parse(v, UINT32_MAX, &n) < 0)
        die(text, "a number is asked for here");
    return n;
}

static int
signal_number(const char *text)
{
    for (int sig = 1; sig < NSIG; sig++) {
        const char *name = sigabbrev_np(sig);
        if (name && !strcmp(name, text))
            return sig;
    }
    return (int)number(text);
}

static enum speech_format
format_of(const char *text)
{
    static const char *const names[] = { "claude", "codex", "plain" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], text))
            return (enum speech_format)i;
    die(text, "no such format");
}

static const struct option long_options[] = {
    { "format", 1, 0, 'f' },
    { "partial", 0, 0, 'p' },
    { "messages", 1, 0, 'm' },
    { "seed", 1, 0, 's' },
    { "delay-us", 1, 0, 'd' },
    { "alternate", 0, 0, 'a' },
    { "stderr-every", 1, 0, 'e' },
    { "secret", 0, 0, 'S' },
    { "huge", 1, 0, 'h' },
    { "garbage", 1, 0, 'g' },
    { "write", 1, 0, 'w' },
    { "sent", 1, 0, 't' },
    { "exit", 1, 0, 'x' },
    { "kill-self", 1, 0, 'k' },
    { "die-after", 1, 0, 'D' },
    { "ignore", 1, 0, 'i' },
    { "hold", 1, 0, 'H' },
    { "prompts", 1, 0, 'P' },
    { 0 },
};

static void
set_behaviour(struct options *o, int opt, const char *arg)
{
    if (opt == 'w')
        o->write = arg;
    else if (opt == 't')
        o->sent = arg;
    else if (opt == 'x')
        o->exit = number(arg);
    else if (opt == 'k')
        o->kill_signal = signal_number(arg);
    else if (opt == 'D')
        o->die_after = number(arg);
    else if (opt == 'i')
        (void)signal(signal_number(arg), SIG_IGN);
    else if (opt == 'H')
        o->hold = number(arg);
    else if (opt == 'P' && !strcmp(arg, "json"))
        o->reads_json = true;
    else if (opt == 'P')
        o->reads_lines = true;
    else
        die("usage", usage);
}

static void
set_option(struct options *o, int opt, const char *arg)
{
    if (opt == 'f')
        o->speech.format = format_of(arg);
    else if (opt == 'p')
        o->speech.is_partial = true;
    else if (opt == 'm')
        o->messages = number(arg);
    else if (opt == 's')
        o->seed = number(arg);
    else if (opt == 'd')
        o->delay = number(arg), o->has_delay = true;
    else if (opt == 'a')
        o->is_alternating = true;
    else if (opt == 'e')
        o->stderr_every = number(arg);
    else if (opt == 'S')
        o->has_secret = true;
    else if (opt == 'h')
        o->huge = number(arg);
    else if (opt == 'g')
        o->garbage = number(arg);
    else
        set_behaviour(o, opt, arg);
}

/* -- writing -- */

/* Nobody reads any more: as most programs it then goes without a word. */
static void
write_to(int fd, const void *p, size_t n)
{
    if (file_write_all(fd, p, n) < 0)
        _exit(EXIT_FAILURE);
}

static void
pause_us(uint64_t us)
{
    struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
    while (us && nanosleep(&t, &t) && errno == EINTR)
        ;
}

/* Pieces come one by one, so that there is something between them. */
static void
flush(struct options *o)
{
    struct buf *out = &o->speech.out;
    if (out->failed)
        die("a message", "out of memory");
    for (size_t at = 0; at < out->n;) {
        const uint8_t *end = memchr(out->p + at, '\n', out->n - at);
        size_t n = o->speech.is_partial && end ? (size_t)(end - out->p) + 1 - at
                                               : out->n - at;
        write_to(STDOUT_FILENO, out->p + at, n);
        at += n;
        if (at < out->n)
            pause_us(o->has_delay ? o->delay / 8 : 100);
    }
    buf_clear(out);
}

static const char *
token(const struct options *o, uint64_t n, char room[64])
{
    uint32_t state = rng_seed((uint32_t)(o->seed * 100003 + n));
    (void)rng_next(&state);
    (void)snprintf(room, 64, "tok-%llu-%llu-%08x", (unsigned long long)o->seed,
                   (unsigned long long)n, rng_next(&state));
    return room;
}

static void
tell_sent(const struct options *o, const char *tok)
{
    if (!o->sent)
        return;
    int fd = open(o->sent, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[80];
    int n = snprintf(line, sizeof(line), "%s\n", tok);
    if (fd < 0 || file_write_all(fd, line, (size_t)n) < 0)
        die(o->sent, strerror(errno));
    (void)close(fd);
}

/* -- what it says -- */

static void
put_message(const struct options *o, uint64_t n, struct buf *text)
{
    char tok[64];
    (void)buf_printf(text, "Message %llu of %llu: %s", (unsigned long long)n,
                     (unsigned long long)o->messages, token(o, n, tok));
    if (o->has_secret && n % 5 == 0) /* in two parts: this file is scanned, too */
        (void)buf_printf(text, " AWS_SECRET_ACCESS_KEY=%s%s%06llu", "wJalrXUtnFEMI/K7MD",
                         "ENG/bPxRfiCYzQ", (unsigned long long)n);
    if (o->huge && n == o->messages / 2) {
        uint8_t *p = buf_grow(text, o->huge);
        for (size_t i = 0; p && i < o->huge; i++)
            p[i] = i % 80 == 79 ? '\n' : (uint8_t)('a' + i % 26);
    }
}

static void
write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || file_write_all(fd, text, strlen(text)) < 0)
        die(path, strerror(errno));
    (void)close(fd);
}

static void
message(struct options *o, uint64_t n)
{
    struct buf text = { 0 }, path = { 0 };
    char tok[64];
    put_message(o, n, &text);
    bool is_tool = n % 3 == 0, is_file = is_tool && o->write;
    if (is_file) {
        (void)buf_printf(&path, "%s/file-%llu", o->write,
                         (unsigned long long)(n / 3 % 3));
        write_file(buf_str(&path), buf_str(&text));
    }
    if (is_tool)
        speech_tool(&o->speech, buf_str(&text), is_file ? buf_str(&path) : NULL);
    else
        speech_say(&o->speech, buf_str(&text));
    if (o->garbage && n % o->garbage == 0)
        (void)buf_printf(&o->speech.out, "{garbage: %s\n", token(o, n, tok));
    flush(o);
    tell_sent(o, token(o, n, tok));
    if (o->stderr_every && n % o->stderr_every == 0) {
        char line[128];
        int size = snprintf(line, sizeof(line), "note %llu: err-%s\n",
                            (unsigned long long)n, token(o, n, tok));
        write_to(STDERR_FILENO, line, (size_t)size);
    }
    buf_release(&text);
    buf_release(&path);
}

/* Odd ones on stdout, even ones on stderr. */
static void
alternate(const struct options *o)
{
    for (uint64_t n = 1; n <= o->messages; n++) {
        char line[128], tok[64];
        int size = snprintf(line, sizeof(line), "line %06llu %s\n", (unsigned long long)n,
                            token(o, n, tok));
        write_to(n % 2 ? STDOUT_FILENO : STDERR_FILENO, line, (size_t)size);
        tell_sent(o, tok);
        pause_us(o->has_delay ? o->delay : 1000);
    }
}

/* Whatever was made of the signal before us, and without a core file. */
static void
kill_self(int sig)
{
    const struct rlimit none = { 0, 0 };
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

static void
talk(struct options *o)
{
    uint32_t state = rng_seed((uint32_t)o->seed);
    uint64_t deadly = o->die_after ? o->die_after : o->messages / 2;
    char tok[64];
    speech_begin(&o->speech);
    flush(o);
    for (uint64_t n = 1; n <= o->messages; n++) {
        message(o, n);
        if (o->kill_signal && n == deadly)
            kill_self(o->kill_signal);
        pause_us(o->has_delay ? o->delay : rng_below(&state, 2000));
    }
    speech_end(&o->speech, token(o, o->messages, tok));
    flush(o);
}

/* -- prompts -- */

/* The string of that key, wherever it stands; false: there is none. */
static bool
string_of(const char *line, const char *key, struct buf *out)
{
    const char *at = strstr(line, key), *end = line + strlen(line);
    if (!at)
        return false;
    struct json_in in = { .p = (const uint8_t *)at + strlen(key),
                          .end = (const uint8_t *)end };
    return json_in_peek(&in) == '"' && json_in_str(&in, out);
}

/* The text of {"type":"user","message":{"content":…}}, which is a string or has blocks.
 */
static void
prompt_of(const char *line, struct buf *out)
{
    if (!string_of(line, "\"text\":", out))
        (void)string_of(line, "\"content\":", out);
}

static void
answer(struct options *o, char *line, uint64_t n)
{
    struct buf prompt = { 0 }, text = { 0 };
    char tok[64];
    line[strcspn(line, "\n")] = 0;
    if (o->reads_json)
        prompt_of(line, &prompt);
    else
        (void)buf_puts(&prompt, line);
    (void)buf_printf(&text, "Answer %llu to \"%s\": %s", (unsigned long long)n,
                     buf_str(&prompt), token(o, n, tok));
    speech_say(&o->speech, buf_str(&text));
    speech_end(&o->speech, tok);
    flush(o);
    tell_sent(o, tok);
    buf_release(&prompt);
    buf_release(&text);
}

static void
answer_all(struct options *o)
{
    char *line = NULL;
    size_t room = 0;
    speech_begin(&o->speech);
    flush(o);
    for (uint64_t n = 1; getline(&line, &room, stdin) >= 0; n++)
        answer(o, line, n);
    free(line);
}

/* Tells who it is, so that a test can end it. */
static void
hold_pipes(uint64_t seconds)
{
    pid_t pid = fork();
    if (pid < 0)
        die("fork", strerror(errno));
    if (!pid) {
        pause_us(seconds * 1000000);
        _exit(0);
    }
    fprintf(stderr, "holder %d\n", (int)pid);
}

int
main(int argc, char **argv)
{
    struct options o = { .seed = 1, .messages = 20 };
    int opt;
    while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        set_option(&o, opt, optarg);
    o.speech.seed = o.seed;
    if (o.hold)
        hold_pipes(o.hold);
    if (o.is_alternating)
        alternate(&o);
    else if (o.reads_lines || o.reads_json)
        answer_all(&o);
    else
        talk(&o);
    buf_release(&o.speech.out);
    return (int)o.exit;
}
