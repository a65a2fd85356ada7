/* SPDX-License-Identifier: MIT */
/*
 * trouble.c -- what the disk does not take, told once a folder; and at the end, what is
 * missing.
 */
#include <errno.h>

#include "run/keep_priv.h"

void
run_keep_tell(struct run_keep *k, enum run_place place, const char *text)
{
    if (k->told & 1U << place)
        return;
    k->told |= 1U << place;
    k->opt->say(k->opt->ctx, text);
}

static const char *
advice(int code)
{
    switch (code) {
    case -ENOSPC:
    case -EDQUOT:
        return ": make room on the disk";
    case -EFBIG:
        return ": raise the limit on the size of files (ulimit -f)";
    case -EROFS:
    case -EACCES:
    case -EPERM:
        return ": make it writable";
    case -EIO:
        return ": see to the disk";
    default:
        return "";
    }
}

/* Files that others take away are not waited for. */
static bool
is_theft(int code)
{
    return code == ERR_MISSING || code == -ENOENT || code == -ESTALE ||
           code == ERR_DAMAGED;
}

void
run_keep_trouble(struct run_keep *k, enum run_place place, const struct err *why)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "%s; the command goes on", why->text);
    if (!is_theft(why->code))
        buf_printf(&text,
                   ", and what cannot be written waits in memory as long as there is "
                   "room%s",
                   advice(why->code));
    run_keep_tell(k, place, buf_str(&text));
}

static void
put_count(struct buf *text, uint64_t n, const char *what)
{
    if (!n)
        return;
    buf_puts(text, text->n ? ", " : "");
    buf_put_u64(text, n);
    buf_printf(text, " %s", what);
}

void
run_keep_tell_project_loss(struct run_keep *k)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) all = { 0 };
    put_count(&text, k->io_lost, "lines of io.log");
    put_count(&text, k->log_lost, "bytes of its logs");
    if (!text.n)
        return;
    buf_printf(&all, "missing in '%s': %s", k->project.dir, buf_str(&text));
    if (k->has_folder && !k->turns_lost)
        buf_printf(&all, "; the library has them: 'ahr export --format events %s'",
                   k->id);
    k->opt->say(k->opt->ctx, buf_str(&all));
}

void
run_keep_tell_library_loss(struct run_keep *k, uint64_t tape_bytes, const char *why)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) all = { 0 };
    put_count(&text, k->turns_lost, "events");
    put_count(&text, tape_bytes, "bytes of the recording");
    if (!text.n && !why)
        return;
    if (text.n)
        buf_printf(&all, "missing in the library: %s", buf_str(&text));
    if (why)
        buf_printf(&all, "%s%s; 'ahr recover --all' puts it in order", all.n ? "; " : "",
                   why);
    k->opt->say(k->opt->ctx, buf_str(&all));
}
