/* SPDX-License-Identifier: MIT */
/* artifact_read.c -- the entries of links.json, for whoever wants to list them. */
#include <errno.h>
#include <fcntl.h>

#include "base/num.h"
#include "journal/artifact.h"
#include "journal/artifact_priv.h"
#include "journal/file_priv.h"
#include "journal/metadata_priv.h"

enum { PATH, ACTION, TIMESTAMP, COPY, WHY, TEXTS };

static const char *const keys[TEXTS] = { "path", "action", "timestamp", "copy", "why" };

struct entry {
    struct buf text[TEXTS];
};

static void
entry_release(struct entry *e)
{
    for (size_t i = 0; i < TEXTS; i++)
        buf_release(&e->text[i]);
}

static int
tell(struct view object, journal_artifact_told_fn fn, void *ctx)
{
    AUTO(journal_members) m = { .in = { .p = object.p, .end = object.p + object.n } };
    AUTO(entry) e = { 0 };
    struct journal_artifact_told t = { 0 };
    while (journal_members_next(&m)) {
        const char *key = buf_str(&m.key);
        for (size_t i = 0; i < TEXTS; i++)
            if (!strcmp(keys[i], key))
                journal_member_text(m.value, &e.text[i]);
        if (!strcmp(key, "bytes"))
            (void)num_parse(m.value, UINT64_MAX, &t.bytes);
        if (!strcmp(key, "redacted"))
            t.is_redacted = m.value.n == 4 && !memcmp(m.value.p, "true", 4);
    }
    if (!e.text[PATH].n) /* none of ours */
        return 0;
    t.path = buf_str(&e.text[PATH]);
    t.action = buf_str(&e.text[ACTION]);
    t.timestamp = buf_str(&e.text[TIMESTAMP]);
    t.copy = buf_str(&e.text[COPY]);
    t.why = buf_str(&e.text[WHY]);
    return fn(ctx, &t);
}

int
journal_artifacts_read(const char *dir, journal_artifact_told_fn fn, void *ctx,
                       struct err *err)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) file = { 0 };
    bool is_first = true;
    buf_printf(&path, "%s/artifacts/links.json", dir);
    int r = journal_file_read(AT_FDCWD, buf_str(&path), JOURNAL_LINKS_BYTES, &file);
    if (r < 0)
        return r == -ENOENT ? 0 : err_code(err, r, "cannot read '%s'", buf_str(&path));
    struct json_in in = { .p = file.p, .end = file.p + file.n };
    if (!json_in_take(&in, '['))
        in.failed = true;
    while (json_in_each(&in, ']', &is_first)) {
        (void)json_in_peek(&in);
        const uint8_t *start = in.p;
        if (!json_in_skip(&in))
            break;
        r = tell((struct view){ start, (size_t)(in.p - start) }, fn, ctx);
        if (r < 0)
            return r;
    }
    return in.failed ? err_set(err, ERR_DAMAGED, "'%s' is damaged", buf_str(&path)) : 0;
}
