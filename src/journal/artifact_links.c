/* SPDX-License-Identifier: MIT */
/* artifact_links.c -- links.json: where the copies of a run's files came from. */
#include <errno.h>

#include "base/json.h"
#include "base/num.h"
#include "journal/artifact_priv.h"
#include "journal/file_priv.h"
#include "journal/io.h"
#include "journal/metadata_priv.h"

void
journal_links_release(struct journal_links *l)
{
    buf_release(&l->file);
    buf_release(&l->last_copy);
}

/* A copy's name is used to open it: it stays in its folder. */
static bool
is_copy_name(struct buf *name)
{
    return name->n && name->p[0] != '.' && !memchr(name->p, '/', name->n) &&
           !memchr(name->p, 0, name->n);
}

static void
note_copy(struct journal_links *l, struct buf *copy, uint64_t bytes, bool is_old)
{
    uint64_t number = 0;
    const char *name = buf_str(copy);
    struct view digits = { (const uint8_t *)name, strcspn(name, "-") };
    if (num_parse(digits, 999999999, &number) == 0 && number > l->highest)
        l->highest = number;
    if (!is_old && l->bytes < UINT64_MAX / 2)
        l->bytes += bytes < UINT32_MAX ? bytes : UINT32_MAX;
}

static void
read_entry(struct journal_links *l, struct view entry, struct view path)
{
    AUTO(journal_members) m = { .in = { .p = entry.p, .end = entry.p + entry.n } };
    AUTO(buf) copy = { 0 };
    AUTO(buf) text = { 0 };
    uint64_t bytes = 0;
    bool is_path = false, is_old = false, is_deleted = false;
    while (journal_members_next(&m)) {
        const char *key = buf_str(&m.key);
        if (!strcmp(key, "copy")) {
            journal_member_text(m.value, &copy);
        } else if (!strcmp(key, "bytes")) {
            (void)num_parse(m.value, UINT64_MAX, &bytes);
        } else if (!strcmp(key, "path")) {
            journal_member_text(m.value, &text);
            is_path = text.n == path.n && !memcmp(buf_str(&text), path.p, path.n);
        } else if (!strcmp(key, "why")) {
            is_old = m.value.n && m.value.p[0] == '"';
        } else if (!strcmp(key, "action")) {
            journal_member_text(m.value, &text);
            is_deleted = !strcmp(buf_str(&text), "deleted");
        }
    }
    bool has_copy = is_copy_name(&copy);
    if (has_copy)
        note_copy(l, &copy, bytes, is_old);
    if (!is_path)
        return;
    l->is_known = true;
    l->is_deleted = is_deleted;
    buf_clear(&l->last_copy);
    if (has_copy)
        buf_append(&l->last_copy, copy.p, copy.n);
}

static int
read_entries(struct journal_links *l, struct view path)
{
    struct json_in in = { .p = l->file.p, .end = l->file.p + l->file.n };
    bool is_first = true;
    if (!json_in_take(&in, '['))
        return ERR_DAMAGED;
    while (json_in_each(&in, ']', &is_first)) {
        (void)json_in_peek(&in);
        const uint8_t *start = in.p;
        if (!json_in_skip(&in))
            return ERR_DAMAGED;
        read_entry(l, (struct view){ start, (size_t)(in.p - start) }, path);
        l->count++;
    }
    return in.failed || json_in_peek(&in) || in.p != in.end ? ERR_DAMAGED : 0;
}

int
journal_links_read(int fd, struct view path, struct journal_links *ret)
{
    *ret = (struct journal_links){ 0 };
    int r = journal_file_read(fd, "links.json", JOURNAL_LINKS_BYTES, &ret->file);
    if (!r)
        r = read_entries(ret, path);
    if (!r)
        return 0;
    journal_links_release(ret);
    *ret = (struct journal_links){ 0 };
    bool is_ours = r == -ENOENT;
    bool is_readable = r == ERR_LIMIT || r == -ELOOP || r == -EINVAL;
    return is_ours ? 0 : is_readable ? ERR_DAMAGED : r;
}

static void
put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_str_or_none(j, text);
}

void
journal_links_add(const struct journal_links *l, const struct journal_link *link,
                  struct buf *out)
{
    AUTO(buf) time = { 0 };
    struct json json = { .out = out }, *j = &json;
    size_t n = l->file.n; /* less the bracket that closes it, and blanks before that */
    while (n && l->file.p[n - 1] != ']')
        n--;
    n -= n > 0;
    while (n && strchr(" \t\r\n", l->file.p[n - 1]) && l->file.p[n - 1])
        n--;
    if (l->count)
        buf_append(out, l->file.p, n), buf_puts(out, ",\n");
    else
        buf_puts(out, "[\n");
    journal_time(link->ts_ns, &time);
    json_open(j, '{');
    json_key(j, "path"), json_bytes(j, link->path);
    json_key(j, "action"), json_str(j, link->action);
    json_key(j, "timestamp"), json_str(j, buf_str(&time));
    put_text(j, "copy", link->copy);
    json_key(j, "bytes"), json_u64(j, link->bytes);
    json_key(j, "redacted"), json_bool(j, link->is_redacted);
    put_text(j, "why", link->why);
    json_close(j, '}');
    buf_puts(out, "\n]\n");
}
