/* SPDX-License-Identifier: MIT */
/*
 * entire_known.c -- the lines of a transcript that are there already.
 *
 * Anybody may have written to it: what is no line of a transcript is passed over.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/json_in.h"
#include "base/jsonl.h"
#include "base/num.h"
#include "journal/entire_priv.h"
#include "session/lines.h"

enum {
    PIECE = 64 << 10,
    LINE_MAX_BYTES = 512 << 20,
    KNOWN_MAX = 128 << 20, /* bytes: more than a million lines are not completed */
    WORD_MAX = 1 << 10,    /* of a uuid or a branch */
};

struct entire_line {
    char uuid[TURN_UUID_SIZE];
    struct turn_transcript_known known; /* … its id in entire_known.ids: */
    size_t id_at, id_n;
};

void
entire_known_release(struct entire_known *k)
{
    buf_release(&k->lines);
    buf_release(&k->ids);
    buf_release(&k->branch);
}

/* -- a line -- */

static uint64_t *
usage_member(struct turn_usage *u, struct buf *key)
{
    static const char *const names[TURN_USAGE_FIELDS] = { "input_tokens", "output_tokens",
                                                          "cache_creation_input_tokens",
                                                          "cache_read_input_tokens" };
    const char *name = buf_str(key);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (!strcmp(name, names[i]))
            return turn_usage_field(u, i);
    return NULL;
}

static void
take_usage(struct json_in *in, struct turn_usage *ret)
{
    AUTO(buf) key = { .ceiling = WORD_MAX };
    bool is_first = true;
    if (!json_in_take(in, '{')) {
        json_in_skip(in);
        return;
    }
    while (json_in_each(in, '}', &is_first)) {
        struct view number = { 0 };
        uint64_t *field = json_in_key(in, &key) ? usage_member(ret, &key) : NULL;
        if (field && json_in_peek(in) >= '0' && json_in_peek(in) <= '9')
            (void)(json_in_number(in, &number) &&
                   num_parse(number, UINT64_MAX - 1, field));
        else
            json_in_skip(in);
    }
}

static void
take_content(struct json_in *in, uint64_t *ret_blocks)
{
    bool is_first = true;
    if (!json_in_take(in, '[')) {
        json_in_skip(in);
        return;
    }
    for (*ret_blocks = 0; json_in_each(in, ']', &is_first); ++*ret_blocks)
        json_in_skip(in);
}

static void
take_word(struct json_in *in, struct buf *ret)
{
    buf_clear(ret);
    if (json_in_peek(in) == '"')
        json_in_str(in, ret);
    else
        json_in_skip(in);
}

static void
take_message(struct json_in *in, struct entire_line *ret, struct buf *ret_id)
{
    AUTO(buf) key = { .ceiling = WORD_MAX };
    bool is_first = true;
    if (!json_in_take(in, '{')) {
        json_in_skip(in);
        return;
    }
    while (json_in_each(in, '}', &is_first)) {
        bool has_key = json_in_key(in, &key);
        if (has_key && !strcmp(buf_str(&key), "content"))
            take_content(in, &ret->known.blocks);
        else if (has_key && !strcmp(buf_str(&key), "usage"))
            take_usage(in, &ret->known.usage);
        else if (has_key && !strcmp(buf_str(&key), "id"))
            take_word(in, ret_id);
        else
            json_in_skip(in);
    }
}

/* A jsonl_fn. */
static int
take_line(void *ctx, struct view object)
{
    struct entire_known *k = ctx;
    struct json_in in = { .p = object.p, .end = object.p + object.n };
    struct entire_line line = { .known.usage = TURN_NO_USAGE };
    AUTO(buf) key = { .ceiling = WORD_MAX };
    AUTO(buf) uuid = { .ceiling = WORD_MAX };
    AUTO(buf) parent = { .ceiling = WORD_MAX };
    AUTO(buf) branch = { .ceiling = WORD_MAX };
    AUTO(buf) id = { .ceiling = WORD_MAX };
    bool is_first = true;
    if (!json_in_take(&in, '{'))
        return 0;
    while (json_in_each(&in, '}', &is_first)) {
        bool has_key = json_in_key(&in, &key);
        if (has_key && !strcmp(buf_str(&key), "uuid"))
            take_word(&in, &uuid);
        else if (has_key && !strcmp(buf_str(&key), "parentUuid"))
            take_word(&in, &parent);
        else if (has_key && !strcmp(buf_str(&key), "gitBranch"))
            take_word(&in, &branch);
        else if (has_key && !strcmp(buf_str(&key), "message"))
            take_message(&in, &line, &id);
        else
            json_in_skip(&in);
    }
    if (in.failed || json_in_peek(&in) || in.p != in.end)
        return 0;
    if (uuid.n != TURN_UUID_SIZE - 1 || memchr(uuid.p, 0, uuid.n))
        return 1;
    memcpy(line.uuid, buf_str(&uuid), sizeof(line.uuid));
    k->has_holes |= strcmp(k->last, buf_str(&parent)) != 0;
    memcpy(k->last, line.uuid, sizeof(k->last));
    if (branch.n && !memchr(branch.p, 0, branch.n)) {
        buf_clear(&k->branch);
        buf_append(&k->branch, branch.p, branch.n);
    }
    if (id.failed) /* too long for one */
        buf_clear(&id);
    line.id_at = k->ids.n;
    line.id_n = id.n;
    int r = buf_append(&k->ids, id.p, id.n);
    if (!r)
        r = buf_append(&k->lines, &line, sizeof(line));
    return r < 0 ? r : 1;
}

/* A jsonl_bad_fn. */
static void
pass_over(void *ctx, uint64_t line)
{
    (void)ctx;
    (void)line;
}

/* -- the file -- */

static int
by_uuid(const void *a, const void *b)
{
    return strcmp(((const struct entire_line *)a)->uuid,
                  ((const struct entire_line *)b)->uuid);
}

static int
read_lines(struct jsonl *lines, int fd)
{
    AUTO(buf) piece = { 0 };
    ssize_t n = buf_reserve(&piece, PIECE);
    int r = (int)n;
    while (!r && (n = file_read(fd, piece.p, PIECE)) > 0)
        r = jsonl_feed(lines, (struct view){ piece.p, (size_t)n });
    if (!r && n < 0)
        r = (int)n;
    return r ? r : jsonl_end(lines);
}

int
entire_known_read(struct entire_known *k, int fd)
{
    static const char begin[] = "{\"type\":\"";
    struct jsonl lines = { .fn = take_line,
                           .bad = pass_over,
                           .ctx = k,
                           .begin = begin,
                           .line.ceiling = LINE_MAX_BYTES };
    k->lines.ceiling = k->ids.ceiling = KNOWN_MAX;
    int r = session_lines_mend(fd, begin, json_in_is_one);
    if (r >= 0)
        r = read_lines(&lines, fd);
    jsonl_release(&lines);
    if (!r && k->lines.n)
        qsort(k->lines.p, k->lines.n / sizeof(struct entire_line),
              sizeof(struct entire_line), by_uuid);
    return r;
}

bool
entire_known_find(const struct entire_known *k, const char *uuid,
                  struct turn_transcript_known *ret)
{
    struct entire_line wanted = { 0 };
    memcpy(wanted.uuid, uuid, sizeof(wanted.uuid));
    const struct entire_line *found = k->lines.n ? bsearch(&wanted, k->lines.p,
                                                           k->lines.n / sizeof(wanted),
                                                           sizeof(wanted), by_uuid)
                                                 : NULL;
    if (!found)
        return false;
    *ret = found->known;
    if (found->id_n)
        ret->id = (struct view){ k->ids.p + found->id_at, found->id_n };
    return true;
}
