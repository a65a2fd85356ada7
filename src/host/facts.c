/* SPDX-License-Identifier: MIT */
/*
 * facts.c -- what is known of a session, in its meta.json.
 *
 * Written three times: before the command runs, without anything that must be masked;
 * when the rules are there, with it; and at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "host/host_priv.h"
#include "redact/own.h"

enum {
    CMD_BYTES_MAX = 64 << 10, /* what is kept of a command line */
    RESERVE_BYTES = 16 << 10, /* so that a full disk still takes the last meta */
};

int
host_facts_begin(struct host *h, struct err *err)
{
    const struct host_options *o = h->opt;
    h->meta = (struct session_meta){
        .id = o->id,
        .status = SESSION_ACTIVE,
        .started_at_ns = o->clock.real_ns,
        .cmd = (const char *const *)o->argv,
        .cmd_count = 1,
        .cols = o->cols,
        .rows = o->rows,
        .quality = o->quality,
        .name = o->name,
        .role = o->role,
        .parent = o->parent,
        .branch = o->branch,
        .lineage = o->lineage,
        .cwd = o->cwd,
        .exit_code = -1,
        .host_pid = getpid(),
        .has_input = o->keeps_input,
        .is_redacted = o->is_redacting,
        .entire = o->is_wired && o->is_entire ? SESSION_ENTIRE_WANTED
                                              : SESSION_ENTIRE_NONE,
    };
    return session_meta_write(h->folder.meta_path, &h->meta, false, err);
}

/* What cannot be masked is not written, but recorded it is all the same. */
static void
open_rules(struct host *h)
{
    struct err ignored;
    if (!h->redact && redact_own_open(&h->redact, NULL, &ignored) < 0 &&
        redact_open(&h->redact, NULL, &ignored) < 0)
        h->redact = NULL;
}

static void
mask_command(struct host *h)
{
    size_t n = 0, kept = 0;
    while (h->opt->argv[n])
        n++;
    h->cmd_list = calloc(n + 1, sizeof(*h->cmd_list));
    if (!h->cmd_list ||
        redact_argv(h->redact, n, (const char *const *)h->opt->argv, &h->cmd) < 0)
        return;
    const char *start = (const char *)h->cmd.p, *at = start;
    for (; kept < n && at - start < CMD_BYTES_MAX; at += strlen(at) + 1)
        h->cmd_list[kept++] = at;
    if (kept < n)
        h->cmd_list[kept++] = "…";
    h->meta.cmd = h->cmd_list;
    h->meta.cmd_count = kept;
}

static void
make_reserve(struct host *h, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (posix_fallocate(fd, 0, RESERVE_BYTES) != 0)
        host_log(h, "no room for a reserve");
    close(fd);
}

static const char *
reserve_path(struct host *h, struct buf *room)
{
    buf_printf(room, "%s/reserve", h->folder.dir);
    return buf_str(room);
}

void
host_facts_complete(struct host *h)
{
    AUTO(buf) path = { 0 };
    const char *task = h->opt->task;
    struct err err;
    open_rules(h);
    if (h->redact)
        mask_command(h);
    if (h->redact && task && !redact_text(h->redact, task, strlen(task), &h->task))
        h->meta.task = buf_str(&h->task);
    if (session_meta_write(h->folder.meta_path, &h->meta, false, &err) < 0)
        host_log(h, "%s", err.text); /* it is tried again at the end */
    make_reserve(h, reserve_path(h, &path));
    if (h->opt->sync != TAPE_SYNC_NONE)
        (void)file_sync_dir(h->folder.dir); /* that there is a session, and its name */
}

/* Has the proxy told of the conversation there? */
static bool
has_transcript(const struct host *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return h->meta.entire && h->opt->cwd &&
           buf_printf(&path, "%s/.entire/metadata/%s", h->opt->cwd, h->opt->id) == 0 &&
           lstat(buf_str(&path), &st) == 0;
}

int
host_facts_end(struct host *h, struct err *err)
{
    AUTO(buf) path = { 0 };
    unlink(reserve_path(h, &path));
    if (has_transcript(h))
        h->meta.entire = SESSION_ENTIRE_MADE;
    return session_meta_write(h->folder.meta_path, &h->meta, true, err);
}
