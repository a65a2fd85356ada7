/* SPDX-License-Identifier: MIT */
/* io.c -- lines of io.log, written. */
#include "journal/io.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "session/lines.h"

static void
put_content(struct json *j, struct view content)
{
    json_key(j, "content");
    if (utf8_is_text(content.p, content.n)) {
        json_bytes(j, content);
        return;
    }
    buf_puts(j->out, "\"");
    base64_put(content, j->out);
    buf_puts(j->out, "\"");
    j->comma = true;
    json_key(j, "encoding"), json_str(j, "base64");
}

static void
put_said(struct json *j, const struct journal_io_entry *e)
{
    put_content(j, e->content);
    if (e->type)
        json_key(j, "type"), json_str(j, e->type);
    if (e->is_stderr)
        json_key(j, "stream"), json_str(j, "stderr");
    if (e->is_partial)
        json_key(j, "partial"), json_bool(j, true);
}

void
journal_io_line(const struct journal_io_entry *e, struct buf *out)
{
    static const char *const directions[] = { "in", "out", "artifact" };
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "timestamp");
    buf_puts(out, "\""), journal_time(e->ts_ns, out), buf_puts(out, "\"");
    j->comma = true;
    json_key(j, "direction"), json_str(j, directions[e->direction]);
    if (e->direction == JOURNAL_ARTIFACT) {
        json_key(j, "path"), json_bytes(j, e->path);
        json_key(j, "action"), json_bytes(j, e->action);
    } else {
        put_said(j, e);
    }
    if (e->iteration)
        json_key(j, "iteration"), json_u64(j, e->iteration);
    buf_append(out, e->more.p, e->more.n);
    json_close(j, '}');
    buf_puts(out, "\n");
}

int
journal_io_append(const char *path, struct view line, struct err *err)
{
    struct session_lines l;
    int r = session_lines_init(&l, path);
    if (!r)
        r = session_lines_add(&l, line);
    session_lines_release(&l);
    return r < 0 ? err_code(err, r, "cannot write '%s'", path) : 0;
}
