/* SPDX-License-Identifier: MIT */
/*
 * decrypt.c -- a session brought back from its vault.
 *
 * Everything comes out beside its place, and nothing is put there before the vault was
 * read to its end. Then the run's files go to the project, then the folders change
 * places: killed between, the vault is there still, and what is in the project is what it
 * holds. From the first byte in the project on, a file `project` in the session's folder
 * says so.
 */
#include "library/encrypt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tree.h"
#include "library/anew_run_priv.h"
#include "library/change_priv.h"
#include "library/encrypt_priv.h"
#include "library/remake_priv.h"
#include "library/runs.h"
#include "library/stub_priv.h"
#include "library/unstow_priv.h"
#include "session/folder.h"
#include "session/meta.h"

struct decrypt {
    struct remake at;
    const struct library_vault *opt;
    const char *vault; /* its name in the session's folder; NULL: there is none */
    struct unstow out;
    int stage_fd;
    bool is_rest;    /* the session is readable, only its project's files are not */
    bool is_made;    /* the run's folder is, by us */
    bool was_marked; /* before us */
    bool has_moved;  /* what is in the run's folder is in its place, or part of it */
    struct library_vaulted done;
};

static void
decrypt_release(struct decrypt *d)
{
    remake_let_go(&d->stage_fd);
    unstow_release(&d->out);
    remake_release(&d->at);
    library_vaulted_release(&d->done);
}

static void
tell(const struct decrypt *d, const char *text)
{
    if (d->opt->tell)
        d->opt->tell(d->opt->ctx, text);
}

/* -- the project -- */

/* Below the project, where it was; no link is followed on the way. */
static int
make_run_folder(const char *path, struct err *err)
{
    enum { PARTS = 3 }; /* .ahr/sessions/NAME */
    AUTO(buf) root = { .ceiling = PATH_MAX };
    size_t n = strlen(path);
    for (int i = 0; i < PARTS; i++)
        n = (size_t)((const char *)memrchr(path, '/', n) - path);
    buf_append(&root, path, n);
    int root_fd = open(n ? buf_str(&root) : "/",
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root_fd < 0)
        return err_set(err, ERR_MISSING,
                       "the project '%s' is gone: put it in its place, or say "
                       "'--without-project'",
                       buf_str(&root));
    AUTO(buf) inside = { .ceiling = PATH_MAX };
    buf_printf(&inside, "%s/x", path + n + 1);
    int fd = unstow_parent(root_fd, buf_str(&inside));
    close(root_fd);
    if (fd < 0)
        return err_code(err, fd, "cannot make '%s'", path);
    close(fd);
    return 0;
}

static int
hold_run_folder(struct decrypt *d, struct err *err)
{
    const char *path = buf_str(&d->at.project);
    int fd = anew_run_hold(path, err);
    if (fd == -1) {
        int r = make_run_folder(path, err);
        if (r < 0)
            return r;
        d->is_made = true;
        fd = anew_run_hold(path, err);
    }
    if (fd == -1)
        return err_set(err, -EAGAIN, "'%s' is made and removed at once; try again", path);
    d->at.project_fd = fd;
    return fd < 0 ? fd : 0;
}

/* From here on something of it may lie there. */
static int
make_stage(struct decrypt *d, struct err *err)
{
    const char *path = buf_str(&d->at.project);
    AUTO(buf) marked = { .ceiling = PATH_MAX };
    d->was_marked = library_project_find(d->at.home, d->at.id, &marked);
    int r = d->is_rest ? 0 : stub_mark(buf_str(&d->at.dir), STUB_PROJECT, path, err);
    if (r < 0)
        return r;
    r = tree_remove(d->at.project_fd, ENCRYPT_STAGE);
    if (!r && mkdirat(d->at.project_fd, ENCRYPT_STAGE, 0700) < 0)
        r = -errno;
    if (!r)
        d->stage_fd = openat(d->at.project_fd, ENCRYPT_STAGE,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!r && d->stage_fd < 0)
        r = -errno;
    return r < 0 ? err_code(err, r, "cannot make '%s/" ENCRYPT_STAGE "'", path) : 0;
}

/* An unstow's begin. */
static int
on_begin(void *ctx, const char *project, struct err *err)
{
    struct decrypt *d = ctx;
    if (!*project)
        return 0;
    if (!library_project_is(project))
        return err_set(err, ERR_DAMAGED, "it names no run's folder, but '%s'", project);
    buf_clear(&d->at.project);
    buf_puts(&d->at.project, project);
    if (d->opt->is_without_project || d->opt->is_dry_run)
        return 0;
    d->out.root_path[VAULT_PROJECT] = buf_str(&d->at.project);
    int r = hold_run_folder(d, err);
    if (!r)
        r = make_stage(d, err);
    if (!r)
        d->out.root_fd[VAULT_PROJECT] = d->stage_fd;
    return r;
}

static void
on_entry(void *ctx, const struct vault_entry *e)
{
    struct decrypt *d = ctx;
    bool is_wanted = e->root == VAULT_SESSION ? !d->is_rest : !d->opt->is_without_project;
    if (is_wanted && d->opt->entry)
        d->opt->entry(d->opt->ctx, e);
}

/* -- out of the vault -- */

static int
hold(struct decrypt *d, struct err *err)
{
    struct stat st;
    bool was_encrypted = session_folder_is_encrypted(d->at.home, d->at.id);
    int r = remake_hold(&d->at, err);
    if (r < 0)
        return r;
    bool is_encrypted = session_folder_is_encrypted(d->at.home, d->at.id);
    d->is_rest = !is_encrypted &&
                 fstatat(d->at.hold_fd, ENCRYPT_REST, &st, AT_SYMLINK_NOFOLLOW) == 0;
    d->vault = is_encrypted ? SESSION_VAULT : d->is_rest ? ENCRYPT_REST : NULL;
    if (is_encrypted != was_encrypted)
        return err_set(err, ERR_BUSY, "another ahr has just been at session '%s'",
                       d->at.id);
    return 0;
}

static int
read_vault(struct decrypt *d, struct err *err)
{
    int fd = openat(d->at.hold_fd, d->vault, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s/%s'", buf_str(&d->at.dir), d->vault);
    d->out.id = d->at.id;
    d->out.root_fd[VAULT_SESSION] = d->is_rest ? -1 : d->at.new_fd;
    d->out.root_fd[VAULT_PROJECT] = -1;
    d->out.root_path[VAULT_SESSION] = buf_str(&d->at.new_dir);
    d->out.begin = on_begin;
    d->out.entry = on_entry;
    d->out.ctx = d;
    d->out.progress = d->opt->progress;
    int r = unstow_read(&d->out, fd, d->opt->keys, err);
    close(fd);
    return r < 0 ? encrypt_explain(buf_str(&d->at.dir), r, err) : 0;
}

/* What the project is not there for stays locked, in a file of the session. */
static int
keep_rest(struct decrypt *d, struct err *err)
{
    if (linkat(d->at.hold_fd, d->vault, d->at.new_fd, ENCRYPT_REST, 0) < 0)
        return err_sys(err, "cannot keep what belongs to the project");
    AUTO(buf) text = { 0 };
    buf_printf(&text,
               "what the run kept in '%s' stays encrypted; 'ahr decrypt %s', once more, "
               "puts it there",
               buf_str(&d->at.project), d->at.id);
    tell(d, buf_str(&text));
    return 0;
}

static int
put_in_place(struct decrypt *d, struct err *err)
{
    int r = 0;
    if (d->stage_fd >= 0) {
        r = unstow_place(&d->out, d->at.project_fd, buf_str(&d->at.project),
                         ENCRYPT_STAGE, err);
        d->has_moved = r != -EEXIST;
    } else if (d->at.project.n && !d->is_rest) {
        r = keep_rest(d, err);
    }
    if (r < 0)
        return r;
    if (d->is_rest) {
        if (unlinkat(d->at.hold_fd, ENCRYPT_REST, 0) < 0)
            return err_sys(err, "cannot remove '%s/" ENCRYPT_REST "'",
                           buf_str(&d->at.dir));
        return 0;
    }
    if (fsync(d->at.new_fd) < 0 && errno != EINVAL)
        return err_sys(err, "cannot write '%s'", buf_str(&d->at.new_dir));
    return remake_exchange(&d->at, err);
}

/* What has come out goes again; the vault is as it was. */
static void
take_back(struct decrypt *d)
{
    struct err ignored;
    if (d->at.new_fd >= 0 && !d->at.is_exchanged)
        (void)remake_drop(&d->at, &ignored);
    if (d->at.project_fd < 0 || d->has_moved)
        return;
    bool is_clean = tree_remove(d->at.project_fd, ENCRYPT_STAGE) == 0;
    if (d->is_made)
        is_clean = rmdir(buf_str(&d->at.project)) == 0;
    if (is_clean && !d->was_marked && !d->is_rest)
        (void)stub_unmark(buf_str(&d->at.dir), STUB_PROJECT, &ignored);
}

/* Its meta says that it is encrypted. */
static bool
is_said_to_be(struct decrypt *d)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(session_told) told = { 0 };
    return buf_printf(&path, "%s/session." SESSION_META, buf_str(&d->at.dir)) == 0 &&
           session_meta_tell(buf_str(&path), &told, NULL) == 0 && told.status &&
           !strcmp(told.status, session_status_name(SESSION_ENCRYPTED));
}

static int
decrypt(struct decrypt *d, struct err *err)
{
    int r = hold(d, err);
    if (r < 0)
        return r;
    if (!d->vault && is_said_to_be(d))
        return err_set(err, ERR_DAMAGED,
                       "session '%s' is encrypted, but its vault is gone: there is no "
                       "'%s/" SESSION_VAULT "'",
                       d->at.id, buf_str(&d->at.dir));
    d->done.is_already = !d->vault || (d->is_rest && d->opt->is_without_project);
    if (d->done.is_already)
        return 0;
    if (!d->is_rest && !d->opt->is_dry_run)
        r = remake_folder(&d->at, err);
    if (!r)
        r = read_vault(d, err);
    if (!r && !d->opt->is_dry_run)
        r = put_in_place(d, err);
    if (r < 0)
        take_back(d);
    d->done.files = d->out.files;
    d->done.bytes = d->out.bytes;
    return r;
}

int
library_decrypt(const char *home, const char *id, const struct library_vault *opt,
                struct library_vaulted *ret, struct err *err)
{
    AUTO(decrypt)
    d = { .at = REMAKE(home, id), .opt = opt, .stage_fd = -1 };
    int r = remake_init(&d.at, err);
    if (!r)
        r = decrypt(&d, err);
    if (r < 0)
        return r;
    remake_let_go(&d.at.new_fd);
    remake_let_go(&d.at.hold_fd); /* who indexes it holds it */
    if (!opt->is_dry_run)
        library_index_again(home, id, opt->redact);
    if (d.at.project.n)
        buf_append(&d.done.project, d.at.project.p, d.at.project.n);
    *ret = d.done;
    d.done.project = (struct buf){ 0 };
    return 0;
}
