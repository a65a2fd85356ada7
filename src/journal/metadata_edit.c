/* SPDX-License-Identifier: MIT */
/*
 * metadata_edit.c -- some members changed, all others as they are, byte for byte.
 *
 * Of a key that comes twice the last is what readers take: that one is changed.
 */
#include "base/json.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/metadata_priv.h"

enum { STATUS, COMPLETED_AT, EXIT_CODE, ARTIFACTS, CHANGES };

static const char *const keys[CHANGES] = {
    [STATUS] = "status",
    [COMPLETED_AT] = "completed_at",
    [EXIT_CODE] = "exit_code",
    [ARTIFACTS] = "artifacts_produced",
};

struct change {
    struct view old; /* where it stands; p NULL: nowhere */
    struct buf value;
    bool is_wanted;
};

struct editing {
    struct change change[CHANGES];
    bool has_members;
    const uint8_t *end; /* the closing bracket */
};

static void
editing_release(struct editing *e)
{
    for (size_t i = 0; i < CHANGES; i++)
        buf_release(&e->change[i].value);
}

static int
find(struct editing *e, struct view old)
{
    AUTO(journal_members) m = { .in = { .p = old.p, .end = old.p + old.n } };
    while (journal_members_next(&m)) {
        e->has_members = true;
        for (size_t i = 0; i < CHANGES; i++)
            if (!strcmp(keys[i], buf_str(&m.key)) && strlen(keys[i]) == m.key.n)
                e->change[i].old = m.value;
    }
    e->end = m.in.p - 1;
    bool is_whole = !m.in.failed && !json_in_peek(&m.in) && m.in.p == m.in.end;
    return is_whole ? 0 : ERR_DAMAGED;
}

static void
want_text(struct change *c, const char *text)
{
    struct json j = { .out = &c->value };
    json_str(&j, text);
    c->is_wanted = true;
}

/* Before the bracket that closes the array, with what stands there as it is. */
static void
want_artifact(struct change *c, const char *path)
{
    AUTO(buf) names = { 0 };
    struct json j = { .out = &c->value };
    bool is_array = c->old.n && c->old.p[0] == '[';
    if (is_array)
        journal_names_read(c->old, &names);
    size_t before = names.n;
    journal_names_add(&names, path);
    if (names.n == before)
        return;
    struct json_in in = { .p = c->old.p + 1, .end = c->old.p + c->old.n };
    bool is_empty = !is_array || json_in_peek(&in) == ']';
    if (is_array)
        buf_append(&c->value, c->old.p, c->old.n - 1);
    else
        buf_puts(&c->value, "[");
    if (!is_empty)
        buf_puts(&c->value, ",");
    json_str(&j, path);
    buf_puts(&c->value, "]");
    c->is_wanted = true;
}

/* The wanted change that stands first behind `from`; NULL: none. */
static struct change *
next_change(struct editing *e, const uint8_t *from)
{
    struct change *first = NULL;
    for (size_t i = 0; i < CHANGES; i++) {
        struct change *c = &e->change[i];
        if (c->is_wanted && c->old.p && c->old.p >= from &&
            (!first || c->old.p < first->old.p))
            first = c;
    }
    return first;
}

static void
put_all(struct editing *e, struct view old, struct buf *out)
{
    const uint8_t *at = old.p;
    for (struct change *c; (c = next_change(e, at)); at = c->old.p + c->old.n) {
        buf_append(out, at, (size_t)(c->old.p - at));
        buf_append(out, c->value.p, c->value.n);
    }
    const uint8_t *end = e->end; /* blanks before it go behind what is added */
    while (end > at && strchr(" \t\r\n", end[-1]) && end[-1])
        end--;
    buf_append(out, at, (size_t)(end - at));
    for (size_t i = 0; i < CHANGES; i++) {
        struct change *c = &e->change[i];
        if (!c->is_wanted || c->old.p)
            continue;
        buf_printf(out, "%s\n  \"%s\": ", e->has_members ? "," : "", keys[i]);
        buf_append(out, c->value.p, c->value.n);
        e->has_members = true;
    }
    buf_append(out, end, (size_t)(old.p + old.n - end));
}

int
journal_metadata_edit(struct view old, const char *status, uint64_t completed_at_ns,
                      const char *artifact, struct buf *out)
{
    AUTO(editing) e = { 0 };
    AUTO(buf) time = { 0 };
    int r = find(&e, old);
    if (r < 0)
        return r;
    if (status) {
        want_text(&e.change[STATUS], status);
        buf_puts(&e.change[EXIT_CODE].value, "null");
        e.change[EXIT_CODE].is_wanted = true;
    }
    if (completed_at_ns) {
        journal_time(completed_at_ns, &time);
        want_text(&e.change[COMPLETED_AT], buf_str(&time));
    }
    if (artifact)
        want_artifact(&e.change[ARTIFACTS], artifact);
    put_all(&e, old, out);
    return out->failed;
}
