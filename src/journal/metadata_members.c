/* SPDX-License-Identifier: MIT */
/* metadata_members.c -- the members of a metadata.json, whoever wrote it. */
#include "base/utf8.h"
#include "journal/metadata_priv.h"

bool
journal_members_next(struct journal_members *m)
{
    struct json_in *in = &m->in;
    if (!m->is_begun) {
        m->is_begun = m->is_first = true;
        if (!json_in_take(in, '{'))
            in->failed = true;
    }
    if (!json_in_each(in, '}', &m->is_first))
        return false;
    (void)json_in_peek(in);
    const uint8_t *start = in->p;
    if (!json_in_key(in, &m->key))
        return false;
    (void)json_in_peek(in);
    const uint8_t *value = in->p;
    if (!json_in_skip(in))
        return false;
    m->member = (struct view){ start, (size_t)(in->p - start) };
    m->value = (struct view){ value, (size_t)(in->p - value) };
    return true;
}

void
journal_members_release(struct journal_members *m)
{
    buf_release(&m->key);
}

void
journal_member_text(struct view value, struct buf *ret)
{
    struct json_in in = { .p = value.p, .end = value.p + value.n };
    buf_clear(ret);
    if (json_in_peek(&in) != '"' || !json_in_str(&in, ret) || ret->failed)
        buf_clear(ret);
}

void
journal_names_add(struct buf *names, const char *name)
{
    size_t count = 0;
    for (size_t at = 0; at < names->n; at += strlen((char *)names->p + at) + 1, count++)
        if (!strcmp((char *)names->p + at, name))
            return;
    if (count < JOURNAL_NAMES_MAX)
        buf_append(names, name, strlen(name) + 1);
}

void
journal_names_read(struct view array, struct buf *ret)
{
    struct json_in in = { .p = array.p, .end = array.p + array.n };
    AUTO(buf) name = { 0 };
    bool is_first = true;
    if (!json_in_take(&in, '['))
        return;
    while (json_in_each(&in, ']', &is_first)) {
        buf_clear(&name);
        bool is_text = json_in_peek(&in) == '"';
        if (!(is_text ? json_in_str(&in, &name) : json_in_skip(&in)))
            return;
        if (is_text && name.n && !memchr(name.p, 0, name.n))
            journal_names_add(ret, buf_str(&name));
    }
}

void
journal_metadata_artifacts(struct view object, struct buf *ret)
{
    AUTO(journal_members) m = { .in = { .p = object.p, .end = object.p + object.n } };
    while (journal_members_next(&m)) {
        if (strcmp(buf_str(&m.key), "artifacts_produced") != 0)
            continue;
        buf_clear(ret);
        journal_names_read(m.value, ret);
    }
}

static bool
is_ours(const char *key)
{
    static const char *const keys[] = {
        "session_id", "role",          "status",
        "created_at", "completed_at",  "parent_session",
        "task",       "context_files", "artifacts_produced",
        "pid",        "exit_code",     "id",
        "pid_start",  "signal",        "cmd",
        "cwd",        "agent",         "agent_session_id",
        "model",      "iterations",    "resumed_from",
        "usage",      "command_pid",   "command_start",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

void
journal_metadata_foreign(struct view object, struct buf *out)
{
    AUTO(journal_members) m = { .in = { .p = object.p, .end = object.p + object.n } };
    AUTO(buf) kept = { 0 };
    while (journal_members_next(&m)) {
        if (is_ours(buf_str(&m.key)))
            continue;
        buf_puts(&kept, ",\n  ");
        buf_append(&kept, m.member.p, m.member.n);
    }
    /* What stands before a place where it breaks off may be a part of something else. */
    if (!m.in.failed && !m.in.is_odd)
        buf_append(out, kept.p, kept.n);
}
