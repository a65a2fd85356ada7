/* SPDX-License-Identifier: MIT */
/*
 * io_read.c -- a line of io.log, whoever wrote it.
 *
 * What a member means is decided when all are known; one that means nothing to us here (a
 * type that we do not know, the content of an artifact) is kept with those whose names we
 * do not know, so that a line that is written again has lost nothing.
 */
#include <errno.h>

#include "base/base64.h"
#include "base/json_in.h"
#include "base/num.h"
#include "base/utf8.h"
#include "journal/io.h"
#include "turn/event.h"

enum member {
    TIMESTAMP,
    DIRECTION,
    CONTENT,
    ENCODING,
    TYPE,
    STREAM,
    PARTIAL,
    ITERATION,
    PATH,
    ACTION,
    MEMBERS,
};

static const char *const keys[MEMBERS] = {
    [TIMESTAMP] = "timestamp", [DIRECTION] = "direction", [CONTENT] = "content",
    [ENCODING] = "encoding",   [TYPE] = "type",           [STREAM] = "stream",
    [PARTIAL] = "partial",     [ITERATION] = "iteration", [PATH] = "path",
    [ACTION] = "action",
};

struct reading {
    struct view raw[MEMBERS]; /* n 0: there is none */
    struct buf key, text, more;
};

static void
reading_release(struct reading *r)
{
    buf_release(&r->key);
    buf_release(&r->text);
    buf_release(&r->more);
}

static int
member_of(const struct buf *key)
{
    for (int i = 0; i < MEMBERS; i++)
        if (strlen(keys[i]) == key->n && !memcmp(keys[i], key->p, key->n))
            return i;
    return -1;
}

/* Raw JSON that may stand in a line of ours. */
static void
keep(struct reading *r, struct view member)
{
    struct json_in in = { .p = member.p, .end = member.p + member.n };
    if (!json_in_str(&in, NULL) || !json_in_take(&in, ':') || !json_in_skip(&in) ||
        in.is_odd)
        return;
    for (size_t i = 0; i < member.n; i++)
        if (member.p[i] < 0x20)
            return;
    buf_puts(&r->more, ",");
    buf_append(&r->more, member.p, member.n);
}

static void
keep_known(struct reading *r, enum member m)
{
    AUTO(buf) member = { 0 };
    if (!r->raw[m].n)
        return;
    buf_printf(&member, "\"%s\":", keys[m]);
    buf_append(&member, r->raw[m].p, r->raw[m].n);
    keep(r, (struct view){ member.p, member.n });
}

static bool
take_members(struct reading *r, struct json_in *in)
{
    bool is_first = true;
    if (!json_in_take(in, '{'))
        return false;
    while (json_in_each(in, '}', &is_first)) {
        (void)json_in_peek(in);
        const uint8_t *member = in->p;
        if (!json_in_key(in, &r->key))
            return false;
        (void)json_in_peek(in);
        const uint8_t *value = in->p;
        if (!json_in_skip(in))
            return false;
        int m = member_of(&r->key);
        if (m >= 0)
            r->raw[m] = (struct view){ value, (size_t)(in->p - value) };
        else
            keep(r, (struct view){ member, (size_t)(in->p - member) });
    }
    return !in->failed;
}

/* The string, in r->text; empty where it is none. */
static struct view
string(struct reading *r, enum member m)
{
    struct json_in in = { .p = r->raw[m].p, .end = r->raw[m].p + r->raw[m].n };
    buf_clear(&r->text);
    if (json_in_peek(&in) != '"' || !json_in_str(&in, &r->text))
        buf_clear(&r->text);
    return (struct view){ r->text.p, r->text.n };
}

static bool
is(struct view text, const char *word)
{
    return text.n == strlen(word) && !memcmp(text.p, word, text.n);
}

static int
read_direction(struct reading *r)
{
    struct view word = string(r, DIRECTION);
    return is(word, "in")         ? JOURNAL_IN
           : is(word, "out")      ? JOURNAL_OUT
           : is(word, "artifact") ? JOURNAL_ARTIFACT
                                  : -1;
}

/* Appended to texts, which moves: only its length is known now. */
static size_t
put_string(struct reading *r, enum member m, struct buf *texts)
{
    struct view text = string(r, m);
    buf_append(texts, text.p, text.n);
    return text.n;
}

static size_t
put_content(struct reading *r, struct buf *texts)
{
    size_t before = texts->n;
    bool is_base64 = is(string(r, ENCODING), "base64");
    struct view text = string(r, CONTENT);
    if (!is_base64 || !base64_take(text, texts))
        buf_append(texts, text.p, text.n);
    /* What is no text will be written with an encoding of ours. */
    if (!is_base64 && utf8_is_text(text.p, text.n))
        keep_known(r, ENCODING);
    return texts->n - before;
}

static void
read_marks(struct reading *r, struct journal_io_entry *e)
{
    struct view type = string(r, TYPE);
    int t = r->raw[TYPE].n ? turn_type_of(type) : -1;
    if (t >= 0)
        e->type = turn_type_name((enum turn_type)t);
    else
        keep_known(r, TYPE);
    e->is_stderr = is(string(r, STREAM), "stderr");
    if (!e->is_stderr)
        keep_known(r, STREAM);
    e->is_partial = is(r->raw[PARTIAL], "true");
}

int
journal_io_read(struct view line, struct buf *texts, struct journal_io_entry *ret)
{
    AUTO(reading) r = { 0 };
    struct json_in in = { .p = line.p, .end = line.p + line.n };
    struct journal_io_entry e = { 0 };
    buf_clear(texts);
    int direction = take_members(&r, &in) ? read_direction(&r) : -1;
    if (direction < 0)
        return ERR_DAMAGED;
    e.direction = (enum journal_direction)direction;
    e.ts_ns = journal_time_read(string(&r, TIMESTAMP));
    bool is_artifact = e.direction == JOURNAL_ARTIFACT;
    for (int m = CONTENT; is_artifact && m <= PARTIAL; m++)
        keep_known(&r, (enum member)m);
    if (!is_artifact)
        keep_known(&r, PATH), keep_known(&r, ACTION), read_marks(&r, &e);
    if (num_parse(r.raw[ITERATION], UINT64_MAX, &e.iteration) < 0)
        keep_known(&r, ITERATION);
    size_t first = is_artifact ? put_string(&r, PATH, texts) : put_content(&r, texts);
    size_t second = is_artifact ? put_string(&r, ACTION, texts) : 0;
    buf_append(texts, r.more.p, r.more.n);
    if (texts->failed || r.more.failed || r.text.failed || r.key.failed)
        return -ENOMEM;
    *(is_artifact ? &e.path : &e.content) = (struct view){ texts->p, first };
    e.action = (struct view){ texts->p + first, second };
    e.more = (struct view){ texts->p + first + second, r.more.n };
    *ret = e;
    return 0;
}
