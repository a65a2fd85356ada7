/* SPDX-License-Identifier: MIT */
/* diff_tally.c -- which calls of tools, and which files, are in one or in both. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/diff.h"
#include "cli/path.h"
#include "cli/table.h"

enum { ARGUMENTS_MAX = 400 }; /* columns of a call's arguments */

const char *
cli_diff_change_word(enum play_file_change change)
{
    switch (change) {
    case PLAY_FILE_NONE:
        break;
    case PLAY_FILE_CREATED:
        return "created";
    case PLAY_FILE_MODIFIED:
        return "modified";
    case PLAY_FILE_DELETED:
        return "deleted";
    }
    return "";
}

/* '<': in a alone, '>': in b alone, '=': in both, '!': in both, but not as much. */
static char
mark_of(bool is_in_a, bool is_in_b, bool is_same)
{
    return !is_in_b ? '<' : !is_in_a ? '>' : is_same ? '=' : '!';
}

static const char marks[] = "<>!="; /* in this order they are printed */
static const unsigned styles[] = { 31, 32, 33, 0 };

static void
put_mark(struct cli_table *t, size_t i)
{
    const char text[] = { marks[i], 0 };
    cli_table_put(t, text, styles[i]);
}

/* How many of each there are; unlike: of those in both that are not the same, none: where
 * there are none at all. */
static void
put_summary(struct cli_diff *d, const size_t counts[4], const char *unlike,
            const char *none)
{
    const char *const where[] = { "only in A", "only in B", unlike, "in both" };
    unsigned used = 0;
    for (size_t i = 0; i < 4; i++)
        if (counts[i])
            cli_diff_listed(d, counts[i], where[i], &used);
    buf_printf(&d->text, "%s\n\n", used ? "" : none);
}

/* -- calls -- */

static const struct cli_column call_columns[] = {
    { "", false, 0, 0 },      { "A", true, 0, 0 },     { "B", true, 0, 0 },
    { "FAILED", true, 0, 1 }, { "TOOL", false, 6, 0 }, { "ARGUMENTS", false, 10, 0 },
};

static char
call_mark(const struct play_call_tally *c)
{
    return mark_of(c->count[0], c->count[1], c->count[0] == c->count[1]);
}

/* A call's arguments in one line, as people read them: without what says that it is a
 * call, and the tool's name. */
static void
put_arguments(struct cli_diff *d, struct cli_table *t, const struct play_side *s,
              uint32_t turn)
{
    AUTO(buf) text = { .ceiling = SIZE_MAX };
    AUTO(buf) cell = { 0 };
    const struct play_side_turn *call = play_side_at(s, turn);
    (void)play_side_show(s, call, false, &text);
    const uint8_t *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
    size_t skip = end ? (size_t)(end - text.p) + 1 : text.n;
    while (skip < text.n && text.p[skip] == ' ')
        skip++;
    while (text.n > skip && text.p[text.n - 1] == '\n')
        text.n--;
    struct view left = { text.p + skip, text.n - skip };
    (void)term_text_put(&d->widths, left, ARGUMENTS_MAX, &cell);
    cli_table_put(t, buf_str(&cell), 0);
}

static void
put_call(struct cli_diff *d, struct cli_table *t, const struct play_call_tally *c)
{
    size_t which = c->count[0] ? 0 : 1;
    const struct play_side *s = &d->sides[which].turns;
    struct view name = play_side_name(s, play_side_at(s, c->first[which]));
    AUTO(buf) text = { 0 };
    for (size_t i = 0; i < 2; i++) {
        buf_clear(&text);
        buf_put_u64(&text, c->count[i]);
        cli_table_put(t, buf_str(&text), 0);
    }
    buf_clear(&text);
    if (c->failed[0] || c->failed[1])
        buf_printf(&text, "%" PRIu64 "/%" PRIu64, c->failed[0], c->failed[1]);
    cli_table_put(t, buf_str(&text), 31);
    buf_clear(&text);
    buf_append(&text, name.p, name.n);
    cli_table_put(t, buf_str(&text), 0);
    put_arguments(d, t, s, c->first[which]);
}

static int
put_call_table(struct cli_diff *d, const struct play_call_tally *all, size_t count,
               struct err *err)
{
    struct cli_table t = { .columns = call_columns, .count = 6, .spare = 1 << 3 };
    int r = 0;
    cli_table_look(&t, STDOUT_FILENO);
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < count && !r; i++) {
            if (call_mark(&all[i]) != marks[k])
                continue;
            put_mark(&t, k);
            put_call(d, &t, &all[i]);
            r = cli_table_flush(&t, false, err);
        }
    if (!r)
        r = cli_table_flush(&t, true, err);
    cli_table_release(&t);
    return r;
}

int
cli_diff_calls(struct cli_diff *d, bool *ret_is_same, struct err *err)
{
    AUTO(buf) tally = { 0 };
    size_t counts[4] = { 0 };
    int r = play_compare_calls(&d->sides[0].turns, &d->sides[1].turns, &tally);
    if (r < 0)
        return err_code(err, r, "cannot compare the calls");
    const struct play_call_tally *all = (const struct play_call_tally *)(const void *)
                                            tally.p;
    size_t count = tally.n / sizeof(*all);
    for (size_t i = 0; i < count; i++)
        counts[strchr(marks, call_mark(&all[i])) - marks]++;
    *ret_is_same = count == counts[3];
    put_summary(d, counts, "in both but not as often", "no tool was called");
    r = cli_diff_flush(d, true);
    return r < 0 ? r : put_call_table(d, all, count, err);
}

/* -- files -- */

static const struct cli_column file_columns[] = {
    { "", false, 0, 0 },
    { "A", false, 0, 0 },
    { "B", false, 0, 0 },
    { "PATH", false, 12, 0 },
};

static char
file_mark(const struct play_file_tally *f)
{
    return mark_of(f->change[0], f->change[1], f->change[0] == f->change[1]);
}

static void
put_file(struct cli_table *t, const struct play_file_tally *f)
{
    AUTO(buf) raw = { 0 };
    AUTO(buf) path = { 0 };
    for (size_t i = 0; i < 2; i++)
        cli_table_put(t, f->change[i] ? cli_diff_change_word(f->change[i]) : "-", 0);
    buf_append(&raw, f->path.p, f->path.n);
    cli_path_put(&path, buf_str(&raw));
    cli_table_put(t, buf_str(&path), 0);
}

int
cli_diff_files(struct cli_diff *d, bool *ret_is_same, struct err *err)
{
    AUTO(buf) tally = { 0 };
    size_t counts[4] = { 0 };
    int r = play_compare_files(&d->sides[0].turns, &d->sides[1].turns, &tally);
    if (r < 0)
        return err_code(err, r, "cannot compare the files");
    const struct play_file_tally *all = (const struct play_file_tally *)(const void *)
                                            tally.p;
    size_t count = tally.n / sizeof(*all);
    for (size_t i = 0; i < count; i++)
        counts[strchr(marks, file_mark(&all[i])) - marks]++;
    *ret_is_same = count == counts[3];
    put_summary(d, counts, "in both but not alike", "no file was touched");
    r = cli_diff_flush(d, true);
    struct cli_table t = { .columns = file_columns, .count = 4 };
    cli_table_look(&t, STDOUT_FILENO);
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < count && !r; i++) {
            if (file_mark(&all[i]) != marks[k])
                continue;
            put_mark(&t, k);
            put_file(&t, &all[i]);
            r = cli_table_flush(&t, false, err);
        }
    if (!r)
        r = cli_table_flush(&t, true, err);
    cli_table_release(&t);
    return r;
}
