/* SPDX-License-Identifier: MIT */
#include "snap/facts.h"

#include <errno.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/num.h"

enum { TEXT_MAX = 64 << 10 }; /* of a label, of a root */

void
snap_facts_release(struct snap_facts *f)
{
    free(f->label);
    free(f->root);
    *f = (struct snap_facts){ 0 };
}

static void
put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_str_or_none(j, text && *text ? text : NULL);
}

void
snap_facts_put(struct buf *out, const struct snap_facts *f)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "id"), json_u64(j, f->id);
    put_text(j, "session", f->session);
    put_text(j, "label", f->label);
    json_key(j, "kind"), json_str(j, f->is_auto ? "auto" : "manual");
    json_key(j, "ts_ns"), json_u64(j, f->ts_ns);
    json_key(j, "anchor_byte");
    if (f->anchor_byte == SNAP_NONE)
        json_none(j);
    else
        json_u64(j, f->anchor_byte);
    json_key(j, "files"), json_u64(j, f->files);
    json_key(j, "bytes"), json_u64(j, f->bytes);
    json_key(j, "skipped"), json_u64(j, f->skipped);
    json_key(j, "all"), json_bool(j, f->has_all);
    put_text(j, "root", f->root);
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* -- reading -- */

enum { HAS_ID = 1, HAS_STAMP = 2, HAS_ALL = 3 };

/* Stays as it is where the value is another thing than a number of 64 bits. */
static bool
get_number(struct json_in *in, uint64_t *ret)
{
    struct view text;
    uint8_t byte = json_in_peek(in);
    if (byte < '0' || byte > '9') {
        json_in_skip(in);
        return false;
    }
    return json_in_number(in, &text) && num_parse(text, UINT64_MAX, ret) == 0;
}

/* The text, or "" for another thing; a NUL is in none of ours. */
static const char *
get_text(struct json_in *in, struct buf *text)
{
    buf_clear(text);
    if (json_in_peek(in) != '"') {
        json_in_skip(in);
        return "";
    }
    json_in_str(in, text);
    if (text->failed || (text->n && memchr(text->p, 0, text->n)))
        in->failed = true;
    return in->failed ? "" : buf_str(text);
}

static void
get_copy(struct json_in *in, struct buf *text, char **ret)
{
    char *copy = strdup(get_text(in, text));
    if (!copy)
        in->failed = true;
    free(*ret);
    *ret = copy;
}

/* It is a part of a ref. */
static bool
is_session(const char *text)
{
    static const char good[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = strlen(text);
    return n <= SNAP_SESSION_MAX && strspn(text, good) == n;
}

static void
get_session(struct json_in *in, struct buf *text, struct snap_facts *f)
{
    const char *session = get_text(in, text);
    if (is_session(session))
        snprintf(f->session, sizeof(f->session), "%s", session);
    else
        in->failed = true;
}

static unsigned
get_member(struct json_in *in, const char *key, struct buf *text, struct snap_facts *f)
{
    const struct {
        const char *key;
        uint64_t *number;
        unsigned has;
    } numbers[] = { { "id", &f->id, HAS_ID },
                    { "ts_ns", &f->ts_ns, HAS_STAMP },
                    { "anchor_byte", &f->anchor_byte, 0 },
                    { "files", &f->files, 0 },
                    { "bytes", &f->bytes, 0 },
                    { "skipped", &f->skipped, 0 } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strcmp(key, numbers[i].key) == 0)
            return get_number(in, numbers[i].number) ? numbers[i].has : 0;
    if (strcmp(key, "session") == 0) {
        get_session(in, text, f);
    } else if (strcmp(key, "label") == 0) {
        get_copy(in, text, &f->label);
    } else if (strcmp(key, "root") == 0) {
        get_copy(in, text, &f->root);
    } else if (strcmp(key, "kind") == 0) {
        f->is_auto = strcmp(get_text(in, text), "auto") == 0;
    } else if (strcmp(key, "all") == 0) {
        f->has_all = json_in_peek(in) == 't';
        json_in_skip(in);
    } else {
        json_in_skip(in);
    }
    return 0;
}

int
snap_facts_get(struct snap_facts *ret, struct view message)
{
    AUTO(buf) key = { .ceiling = TEXT_MAX };
    AUTO(buf) text = { .ceiling = TEXT_MAX };
    struct snap_facts f = { .anchor_byte = SNAP_NONE };
    struct json_in in = { .p = message.p, .end = message.p + message.n };
    bool is_first = true;
    unsigned has = 0;
    *ret = (struct snap_facts){ 0 };
    if (!json_in_take(&in, '{'))
        return ERR_DAMAGED;
    while (json_in_each(&in, '}', &is_first) && json_in_key(&in, &key))
        has |= get_member(&in, buf_str(&key), &text, &f);
    f.label = f.label ? f.label : strdup("");
    f.root = f.root ? f.root : strdup("");
    if (in.failed || has != HAS_ALL || !f.label || !f.root) {
        snap_facts_release(&f);
        return ERR_DAMAGED;
    }
    *ret = f;
    return 0;
}
