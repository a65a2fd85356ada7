/* SPDX-License-Identifier: MIT */
#include "snap/import_priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"

enum { SEND_AT = 64 << 10, COMMIT_MARK = 0, ANSWER_MAX = 128 };

int
snap_import_start(struct snap_import *ret, const char *repo_path, struct err *err)
{
    static const char *const args[] = { "fast-import", "--quiet", "--done", "--depth=0",
                                        NULL };
    struct snap_import im = { 0 };
    int r = snap_git_start(&im.git, repo_path, args, true, -1, err);
    if (r < 0)
        return r;
    im.is_running = true;
    *ret = im;
    return 0;
}

void
snap_import_release(struct snap_import *im)
{
    if (im->is_running)
        snap_git_kill(&im->git);
    buf_release(&im->out);
    *im = (struct snap_import){ 0 };
}

static void
fail(struct snap_import *im, int r)
{
    if (r < 0 && !im->failed)
        im->failed = r;
}

static void
send_out(struct snap_import *im)
{
    fail(im, im->out.failed);
    if (!im->failed)
        fail(im, snap_git_write(&im->git, im->out.p, im->out.n));
    buf_clear(&im->out);
}

void
snap_import_put(struct snap_import *im, const void *p, size_t n)
{
    if (im->out.n + n > SEND_AT)
        send_out(im);
    if (n <= SEND_AT)
        buf_append(&im->out, p, n);
    else if (!im->failed)
        fail(im, snap_git_write(&im->git, p, n));
}

static void
put_text(struct snap_import *im, const char *s)
{
    snap_import_put(im, s, strlen(s));
}

static void
put_number(struct snap_import *im, const char *before, uint64_t n)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "%s%" PRIu64 "\n", before, n);
    snap_import_put(im, text, (size_t)len);
}

/* In quotes, in which any byte may stand but for these. */
static void
put_path(struct snap_import *im, const char *folder, const char *path)
{
    put_text(im, "\"");
    put_text(im, folder);
    for (;;) {
        size_t n = strcspn(path, "\"\\\n");
        snap_import_put(im, path, n);
        path += n;
        if (!*path)
            break;
        put_text(im, *path == '\n' ? "\\n" : *path == '"' ? "\\\"" : "\\\\");
        path++;
    }
    put_text(im, "\"\n");
}

static void
put_path_below(struct snap_import *im, const char *path)
{
    put_path(im, *path ? "files/" : "files", path);
}

uint64_t
snap_import_begin_blob(struct snap_import *im, uint64_t size_bytes)
{
    /* git does not mind that a line feed is missing behind the bytes. */
    put_number(im, "blob\nmark :", ++im->marks);
    put_number(im, "data ", size_bytes);
    return im->marks;
}

uint64_t
snap_import_blob(struct snap_import *im, struct view bytes)
{
    uint64_t mark = snap_import_begin_blob(im, bytes.n);
    snap_import_put(im, bytes.p, bytes.n);
    return mark;
}

void
snap_import_begin_commit(struct snap_import *im, const char *ref, uint64_t time_s,
                         struct view message, const char *files)
{
    put_text(im, "commit ");
    put_text(im, ref);
    put_number(im, "\nmark :", ++im->marks);
    char who[64];
    int n = snprintf(who, sizeof(who), "committer ahr <ahr> %" PRIu64 " +0000\n", time_s);
    snap_import_put(im, who, (size_t)n);
    put_number(im, "data ", message.n);
    snap_import_put(im, message.p, message.n);
    if (*files)
        snap_import_name_folder(im, "", files);
}

void
snap_import_remove(struct snap_import *im, const char *path)
{
    put_text(im, "D ");
    put_path_below(im, path);
}

static void
put_name(struct snap_import *im, unsigned git_mode, uint64_t blob)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "M %o :%" PRIu64 " ", git_mode, blob);
    snap_import_put(im, text, (size_t)n);
}

void
snap_import_name(struct snap_import *im, unsigned git_mode, const char *path,
                 uint64_t blob)
{
    put_name(im, git_mode, blob);
    put_path_below(im, path);
}

void
snap_import_name_folder(struct snap_import *im, const char *path, const char *tree)
{
    put_text(im, "M 040000 ");
    put_text(im, tree);
    put_text(im, " ");
    put_path_below(im, path);
}

void
snap_import_name_beside(struct snap_import *im, const char *name, uint64_t blob)
{
    put_name(im, 0100644, blob);
    put_path(im, "", name);
}

/* -- answers -- */

static int
read_byte(struct snap_import *im, char *ret)
{
    if (im->answers_at == im->answers_end) {
        ssize_t n = file_read(im->git.out_fd, im->answers, sizeof(im->answers));
        if (n <= 0)
            return n < 0 ? (int)n : -EPIPE;
        im->answers_at = 0;
        im->answers_end = (size_t)n;
    }
    *ret = im->answers[im->answers_at++];
    return 0;
}

/* One line, without its end; of a long one the beginning. */
static int
read_line(struct snap_import *im, char line[static ANSWER_MAX])
{
    size_t n = 0;
    if (im->out.n)
        send_out(im);
    for (int r = im->failed;;) {
        char c = 0;
        r = r < 0 ? r : read_byte(im, &c);
        if (r < 0) {
            fail(im, r);
            return r;
        }
        if (c == '\n')
            break;
        if (n < ANSWER_MAX - 1)
            line[n++] = c;
    }
    line[n] = 0;
    return 0;
}

static int
copy_id(char ret[static SNAP_COMMIT_MAX + 1], const char *text)
{
    size_t n = strspn(text, "0123456789abcdef");
    if (n < 40 || n > SNAP_COMMIT_MAX)
        return ERR_DAMAGED;
    memcpy(ret, text, n);
    ret[n] = 0;
    return 0;
}

void
snap_import_ask_blob(struct snap_import *im, uint64_t blob)
{
    put_number(im, "get-mark :", blob);
}

int
snap_import_blob_id(struct snap_import *im, char ret[static SNAP_COMMIT_MAX + 1])
{
    char line[ANSWER_MAX];
    int r = read_line(im, line);
    if (r >= 0)
        r = copy_id(ret, line);
    fail(im, r);
    return r;
}

/* "040000 tree ID\tPATH"; or of a file; or "missing PATH". */
int
snap_import_folder_id(struct snap_import *im, const char *path,
                      char ret[static SNAP_COMMIT_MAX + 1])
{
    char line[ANSWER_MAX];
    put_text(im, "ls ");
    put_path_below(im, path);
    int r = read_line(im, line);
    ret[0] = 0;
    if (r >= 0 && strncmp(line, "040000 tree ", 12) == 0)
        r = copy_id(ret, line + 12);
    fail(im, r);
    return r;
}

int
snap_import_ask(struct snap_import *im, struct snap_import_ids *ret)
{
    int r = snap_import_folder_id(im, "", ret->files);
    if (r < 0)
        return r;
    put_text(im, "\n");
    snap_import_ask_blob(im, im->marks);
    return snap_import_blob_id(im, ret->commit);
}

void
snap_import_forget(struct snap_import *im, const char *ref)
{
    put_text(im, "reset ");
    put_text(im, ref);
    put_text(im, "\nfrom 0000000000000000000000000000000000000000\n\n");
}

void
snap_import_finish(struct snap_import *im)
{
    put_text(im, "done\n");
    send_out(im);
    snap_git_close_in(&im->git);
}

int
snap_import_end(struct snap_import *im, struct err *err)
{
    im->is_running = false;
    int failed = im->failed;
    /* It knows best why it has ended, if it has. */
    int r = snap_git_end(&im->git, "cannot keep the snapshot", err);
    if (r >= 0 && failed < 0)
        r = err_code(err, failed, "cannot keep the snapshot");
    return r;
}
