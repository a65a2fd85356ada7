/* SPDX-License-Identifier: MIT */
/*
 * run_cases.c -- runs files of terminal cases and prints TAP.
 *
 * Each case runs four times: its feeds whole, then cut after every byte, every second and
 * every third. All checks hold each time, and all four end in the same state.
 *
 * The language: a step a line, words and "strings" with spaces between; # begins a line
 * of comment. Rows, columns and lines count from 0. Strings are UTF-8 with the escapes
 * \e \r \n \b \t \a \0 \\ \" and \xNN (two small hexadecimal digits).
 *
 *   case "name"             begins a case of 10 columns and 4 rows, unless
 *   size COLS ROWS
 *   option clears_scrollback | scrollback_rows N | alternate_rows N
 *
 *   feed "bytes" [TIMES]    resize COLS ROWS      undamage
 *   offset N                the next byte's offset; 0 at first
 *
 *   row R "text"            rows "text"…          from row 0 on, the others are blank
 *   line I "text"           scrollback and screen, the oldest first
 *   wrapped R yes|no        line_wrapped I yes|no
 *   stamp R BYTE            line_stamp I BYTE     the row's last_write_byte
 *   scrollback N [DROPPED]
 *   final ["text"|alt "text"]…                    all final lines; alt: alternate screen
 *   cell R C "text" [WIDTH] a blank and a space are the same
 *   style R C WORDS         as dump_style() writes them: bold dim italic blink rapid
 *                           inverse hidden strike overline protected ul=single|double|
 *                           curly|dotted|dashed fg= bg= uc=N|#rrggbb; or default
 *   link R C "uri"          damage R yes|no
 *   cursor R C              pending|visible|blink yes|no      shape block|underline|bar
 *   mode NAME N             a field of struct term_modes, without is_
 *   title "text"            icon "text"
 *   colour N|fg|bg|cursor #rrggbb|default
 *   reply "bytes"           all since the last reply step; one * stands for any bytes
 *   marks N                 mark I clipboard|prompt|vscode "text"     mark_at I BYTE LINE
 *
 * Trailing blanks of lines do not count.
 */
#include "term/dump.h"
#include "term/steps.h"

enum { CUT_MAX = 3 };

static void
comment(const char *text, size_t n)
{
    while (n) {
        const char *end = memchr(text, '\n', n);
        size_t len = end ? (size_t)(end - text) : n;
        printf("# %.*s\n", (int)len, text);
        text += len + (end != NULL);
        n -= len + (end != NULL);
    }
}

static void
show_screen(const struct term *t)
{
    struct term_cursor c = term_cursor(t);
    printf("# cursor %u %u%s, screen:\n", c.row, c.col,
           c.is_wrap_pending ? " pending" : "");
    for (unsigned row = 0; row < term_rows(t); row++) {
        AUTO(buf) text = { 0 };
        dump_row(&text, t, row);
        printf("#   %2u |%s\n", row, buf_str(&text));
    }
}

static void
explain(struct steps_run *r, const char *path, unsigned line)
{
    printf("# %s:%u: ", path, line);
    if (r->cut)
        printf("cut at every %zu\n", r->cut);
    else
        printf("fed whole\n");
    comment(buf_str(&r->why), r->why.n);
    if (r->t)
        show_screen(r->t);
}

/* All steps, then the state into *state. */
static bool
run_once(const char *path, const struct case_one *c, size_t cut, struct buf *state)
{
    struct steps_run r;
    steps_run_init(&r, cut);
    bool ok = true;
    for (size_t i = 0; ok && i < c->n_steps; i++) {
        ok = steps_do(&r, &c->steps[i]);
        if (!ok)
            explain(&r, path, c->steps[i].line);
    }
    if (ok && r.t) {
        dump_all(state, r.t);
        dump_quoted(state, (struct view){ r.replies.p, r.replies.n });
    }
    steps_run_release(&r);
    return ok;
}

static bool
run_case(const char *path, const struct case_one *c)
{
    AUTO(buf) whole = { 0 };
    if (!run_once(path, c, 0, &whole))
        return false;
    for (size_t cut = 1; cut <= CUT_MAX; cut++) {
        AUTO(buf) state = { 0 };
        if (!run_once(path, c, cut, &state))
            return false;
        AUTO(buf) why = { 0 };
        if (!dump_same(&whole, &state, &why)) {
            printf("# fed whole, and cut at every %zu, it ends differently\n", cut);
            comment(buf_str(&why), why.n);
            return false;
        }
    }
    return true;
}

static size_t
run_file(const char *path, const struct case_file *f, size_t *number)
{
    const char *slash = strrchr(path, '/');
    size_t failed = 0;
    for (size_t i = 0; i < f->n_cases; i++) {
        const struct case_one *c = &f->cases[i];
        bool ok = run_case(path, c);
        failed += !ok;
        printf("%s %zu - %s: %.*s\n", ok ? "ok" : "not ok", ++*number,
               slash ? slash + 1 : path, (int)c->name.n, (const char *)c->name.p);
        fflush(stdout);
    }
    return failed;
}

int
main(int argc, char **argv)
{
    struct case_file *files = calloc((size_t)argc, sizeof(*files));
    if (!files)
        return 1;
    size_t count = 0, number = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        struct err err;
        if (case_file_read(&files[i], argv[i], steps_shape, &err) < 0) {
            printf("Bail out! %s: %s\n", argv[i], err.text);
            return 1;
        }
        count += files[i].n_cases;
    }
    printf("1..%zu\n", count);
    for (int i = 1; i < argc; i++) {
        failed += run_file(argv[i], &files[i], &number);
        case_file_release(&files[i]);
    }
    free(files);
    return failed ? 1 : 0;
}
