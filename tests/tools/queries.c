/* SPDX-License-Identifier: MIT */
/*
 * queries.c -- asks its terminal, and notes what it is told. usage: queries TABLE LOG
 * FILE…
 *
 * TABLE has lines of a name and a query in hexadecimal. As soon as a FILE is there, all
 * of them are asked; when its name is "end", none. Each query goes out with a fence
 * behind it: the cursor is put where it has not been before, and asked for. What comes
 * before the fence's answer is noted as a line of LOG, a JSON object; so is, as "begin",
 * what comes before a first fence of each FILE. Where an answer may have been lost, the
 * word AGAIN as input makes it set up another fence; the first one's answer may still
 * come.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define AGAIN "\033[again~"

enum { QUERIES_MAX = 64, WAIT_MS = 5, FENCE_ROWS = 15, FENCE_COLS = 50, LOST_MAX = 64 };

struct query {
    char name[32];
    char bytes[256];
    size_t n;
};

static struct query table[QUERIES_MAX];
static size_t table_n;
static FILE *log_file;
static char heard[1 << 16];
static size_t heard_n;
static unsigned fence; /* the latest one's number */
static unsigned lost[LOST_MAX];
static size_t lost_n;

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

static void
read_table(const char *path)
{
    char hex[512];
    FILE *f = fopen(path, "r");
    if (!f)
        fail(path);
    for (; table_n < QUERIES_MAX; table_n++) {
        struct query *q = &table[table_n];
        if (fscanf(f, "%31s %511s", q->name, hex) != 2)
            break;
        for (q->n = 0; hex[2 * q->n] && q->n < sizeof(q->bytes); q->n++) {
            unsigned byte;
            sscanf(hex + 2 * q->n, "%2x", &byte);
            q->bytes[q->n] = (char)byte;
        }
    }
    fclose(f);
}

static void
say(const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(STDOUT_FILENO, p, n);
        if (done < 0 && errno != EINTR)
            fail("write");
        p += done < 0 ? 0 : done;
        n -= done < 0 ? 0 : (size_t)done;
    }
}

static void
listen_a_while(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    if (poll(&in, 1, WAIT_MS) <= 0)
        return;
    ssize_t n = read(STDIN_FILENO, heard + heard_n, sizeof(heard) - heard_n);
    if (n <= 0)
        fail("read");
    heard_n += (size_t)n;
}

/* Takes a word out of what was heard; was it there? */
static bool
take_out(const char *word)
{
    size_t n = strlen(word);
    char *at = memmem(heard, heard_n, word, n);
    if (!at)
        return false;
    heard_n -= n;
    memmove(at, at + n, heard_n - (size_t)(at - heard));
    return true;
}

static void
note(const char *phase, const char *name, size_t n)
{
    fprintf(log_file, "{\"phase\":\"%s\",\"query\":\"%s\",\"got\":\"", phase, name);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)heard[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            fprintf(log_file, "\\u%04x", c);
        else
            fputc(c, log_file);
    }
    fprintf(log_file, "\"}\n");
    fflush(log_file);
}

/* The row is never the first: that one is the queries'. */
static void
fence_text(unsigned number, const char *end, char ret[32])
{
    snprintf(ret, 32, "\033[%u;%u%s", 2 + number % FENCE_ROWS,
             1 + number / FENCE_ROWS % FENCE_COLS, end);
}

static void
ask_with_fence(const char *query, size_t n)
{
    char text[300], end[32];
    fence_text(++fence, "H\033[6n", end);
    memcpy(text, query, n);
    memcpy(text + n, end, strlen(end));
    say(text, n + strlen(end));
}

static void
forget_lost(void)
{
    char answer[32];
    for (size_t i = 0; i < lost_n; i++) {
        fence_text(lost[i], "R", answer);
        if (take_out(answer))
            lost[i--] = lost[--lost_n];
    }
}

/* Where the fence's answer stands; NULL: it has not come yet. */
static char *
find_fence(char ret_answer[32])
{
    forget_lost();
    fence_text(fence, "R", ret_answer);
    return memmem(heard, heard_n, ret_answer, strlen(ret_answer));
}

static void
ask(const char *phase, const char *name, const char *query, size_t n)
{
    char answer[32], *at;
    ask_with_fence(query, n);
    while (!(at = find_fence(answer))) {
        listen_a_while();
        if (take_out(AGAIN) && lost_n < LOST_MAX) {
            lost[lost_n++] = fence;
            ask_with_fence("", 0);
        }
    }
    note(phase, name, (size_t)(at - heard));
    size_t end = (size_t)(at - heard) + strlen(answer);
    heard_n -= end;
    memmove(heard, heard + end, heard_n);
}

static void
run_phase(const char *phase)
{
    struct stat st;
    while (stat(phase, &st) < 0)
        listen_a_while();
    take_out(AGAIN);
    ask(phase, "begin", "", 0);
    for (size_t i = 0; i < table_n && strcmp(phase, "end") != 0; i++)
        ask(phase, table[i].name, table[i].bytes, table[i].n);
    note(phase, "done", 0);
}

int
main(int argc, char **argv)
{
    struct termios how;
    if (argc < 4 || tcgetattr(STDIN_FILENO, &how) < 0)
        return 2;
    cfmakeraw(&how);
    tcsetattr(STDIN_FILENO, TCSANOW, &how);
    read_table(argv[1]);
    log_file = fopen(argv[2], "a");
    if (!log_file)
        fail(argv[2]);
    for (int i = 3; i < argc; i++)
        run_phase(argv[i]);
    return 0;
}
