/* SPDX-License-Identifier: MIT */
/*
 * encrypt.c -- a stored session locked away.
 *
 * The vault is written and read back, held against the files byte for byte, before
 * anything is removed. The session goes out of the index, then the folders change places,
 * then the project is cleaned: of that only what is in the vault. Until it is clean, the
 * session's folder has a file `project` that says where there may be more, and until the
 * library was scrubbed, once for all that a command encrypts, a file `library`.
 */
#include "library/encrypt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "base/tree.h"
#include "journal/metadata.h"
#include "library/encrypt_priv.h"
#include "library/entire.h"
#include "library/ids_priv.h"
#include "library/left.h"
#include "library/remake_priv.h"
#include "library/session.h"
#include "library/stow_priv.h"
#include "library/stub_priv.h"
#include "session/folder.h"
#include "snap/list.h"

struct encrypt {
    struct remake at;
    const struct library_vault *opt;
    struct stow stow;
    struct buf list; /* of the project's files that are in the vault */
    struct library_vaulted done;
};

static void
encrypt_release(struct encrypt *e)
{
    stow_release(&e->stow);
    remake_release(&e->at);
    buf_release(&e->list);
    library_vaulted_release(&e->done);
}

void
library_vaulted_release(struct library_vaulted *v)
{
    buf_release(&v->project);
}

static void
tell(const struct encrypt *e, const char *text)
{
    if (e->opt->tell)
        e->opt->tell(e->opt->ctx, text);
}

/* -- what must be ours first -- */

static int
hold(struct encrypt *e, struct err *err)
{
    /* One that became so while we waited was another's work, and another's key. */
    bool was_encrypted = session_folder_is_encrypted(e->at.home, e->at.id);
    int r = remake_hold(&e->at, err);
    if (!r)
        r = remake_hold_project(&e->at, err);
    if (r < 0)
        return r;
    e->done.is_already = session_folder_is_encrypted(e->at.home, e->at.id);
    if (e->done.is_already != was_encrypted)
        return err_set(err, ERR_BUSY, "another ahr has just been at session '%s'",
                       e->at.id);
    return 0;
}

/* A folder that another session's vault has taken holds nothing of ours. */
static void
set_roots(struct encrypt *e)
{
    bool has_project = e->at.project_fd >= 0 && !stub_is(e->at.project_fd, NULL);
    e->stow = (struct stow){
        .root_fd = { e->at.hold_fd, has_project ? e->at.project_fd : -1 },
        .root_path = { buf_str(&e->at.dir), buf_str(&e->at.project) },
        .id = e->at.id,
        .project = has_project ? buf_str(&e->at.project) : "",
        .progress = e->opt->progress,
        .tell = e->opt->tell,
        .ctx = e->opt->ctx,
    };
}

/* A stow_fn. */
static int
show_entry(void *ctx, int dir_fd, const char *name, const struct vault_entry *entry,
           struct err *err)
{
    struct encrypt *e = ctx;
    (void)dir_fd, (void)name, (void)err;
    if (e->opt->entry)
        e->opt->entry(e->opt->ctx, entry);
    return 0;
}

/* -- the new folder -- */

static int
write_vault(struct encrypt *e, struct err *err)
{
    int fd = openat(e->at.new_fd, SESSION_VAULT,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, "cannot make '%s/" SESSION_VAULT "'",
                       buf_str(&e->at.new_dir));
    int r = fchmod(fd, 0600) < 0 ? err_sys(err, "cannot make the vault private")
                                 : stow_write(&e->stow, fd, e->opt->keys, err);
    if (!r && fsync(fd) < 0)
        r = err_sys(err, "cannot write the vault to the disk");
    if (!r && lseek(fd, 0, SEEK_SET) < 0)
        r = err_sys(err, "cannot read the vault");
    if (!r)
        r = stow_check(&e->stow, fd, e->opt->keys, false, &e->list, err);
    close(fd);
    return r < 0 ? encrypt_explain(buf_str(&e->at.new_dir), r, err) : 0;
}

/* The role as a census finds it: of the session, else of its run. */
static int
write_facts(struct encrypt *e, const struct store_session *s, struct err *err)
{
    AUTO(journal_told) run = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    const char *role = s->role;
    if (!role && e->stow.root_fd[VAULT_PROJECT] >= 0 &&
        buf_printf(&path, "%s/metadata.json", buf_str(&e->at.project)) == 0 &&
        journal_metadata_read(buf_str(&path), &run, NULL) == 0 &&
        (!run.id || !strcmp(run.id, e->at.id)))
        role = run.role;
    const struct stub_facts facts = { .id = e->at.id,
                                      .kind = s->kind,
                                      .started_at_ns = s->started_at_ns,
                                      .parent = s->parent,
                                      .resumed_from = s->resumed_from,
                                      .role = role };
    return stub_write_meta(buf_str(&e->at.new_dir), &facts, err);
}

static int
fill_folder(struct encrypt *e, struct err *err)
{
    AUTO(library_session) s = { 0 };
    int r = library_session_read(&s, e->at.home, e->at.id, err);
    if (!r)
        r = write_vault(e, err);
    if (!r)
        r = write_facts(e, &s.facts, err);
    if (!r && e->stow.root_fd[VAULT_PROJECT] >= 0)
        r = stub_mark(buf_str(&e->at.new_dir), STUB_PROJECT, buf_str(&e->at.project),
                      err);
    if (!r)
        r = stub_mark(buf_str(&e->at.new_dir), STUB_LIBRARY, buf_str(&e->at.db_path),
                      err);
    if (!r && fsync(e->at.new_fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s'", buf_str(&e->at.new_dir));
    return r;
}

static int
lock_away(struct encrypt *e, struct err *err)
{
    struct err ignored;
    int r = remake_open_library(&e->at, err);
    if (!r)
        r = remake_folder(&e->at, err);
    if (!r)
        r = fill_folder(e, err);
    if (!r)
        r = library_forget(e->at.home, e->at.id, err);
    if (!r)
        r = library_left_forget(e->at.home, e->at.id, err);
    if (!r)
        return remake_exchange(&e->at, err);
    if (e->at.new_fd >= 0)
        (void)remake_drop(&e->at, &ignored);
    return r;
}

/* -- the project -- */

/* Is there something besides the stub? */
static void
look_for_rest(struct encrypt *e, int fd, const char *dir)
{
    AUTO(tree_names) names = { 0 };
    if (tree_names(fd, &names) < 0)
        return;
    for (size_t i = 0; i < names.count; i++) {
        AUTO(buf) text = { 0 };
        if (!strcmp(names.name[i], STUB_NAME))
            continue;
        buf_printf(&text, "'%s/%s' is not in the vault, and stays", dir, names.name[i]);
        tell(e, buf_str(&text));
    }
}

/* Of the run's folder at fd: what is listed (stow_check()), but for metadata.json, and
 * what a killed decrypt has left. */
static int
remove_listed(int fd, const char *dir, const struct buf *list, struct err *err)
{
    int r = tree_remove(fd, ENCRYPT_STAGE);
    if (r < 0)
        return err_code(err, r, "cannot remove '%s/" ENCRYPT_STAGE "'", dir);
    for (size_t at = 0; at < list->n;) {
        const char *path = (const char *)list->p + at + 1;
        AUTO(buf) parent = { .ceiling = PATH_MAX };
        bool is_folder = list->p[at] == 'd';
        at += 2 + strlen(path);
        if (!strcmp(path, STUB_NAME))
            continue;
        buf_append(&parent, path, file_dir_len(path));
        int parent_fd = below_open(fd, buf_str(&parent), O_PATH | O_DIRECTORY);
        if (parent_fd == -ENOENT)
            continue;
        r = parent_fd < 0 ? parent_fd : 0;
        if (!r && unlinkat(parent_fd, file_name(path), is_folder ? AT_REMOVEDIR : 0) < 0)
            r = errno == ENOENT || (is_folder && errno == ENOTEMPTY) ? 0 : -errno;
        if (parent_fd >= 0)
            close(parent_fd);
        if (r < 0)
            return err_code(err, r, "'%s/%s' is in the vault, but cannot be removed", dir,
                            path);
    }
    return 0;
}

/* The stub first: whoever looks is told what has become of it. */
static int
clean_project(struct encrypt *e, struct err *err)
{
    const char *dir = buf_str(&e->at.project);
    int fd = e->at.project_fd;
    int r = stub_write(fd, dir, e->at.id, err);
    if (!r)
        r = remove_listed(fd, dir, &e->list, err);
    if (!r && fsync(fd) < 0 && errno != EINVAL)
        r = err_sys(err, "cannot write '%s' to the disk", dir);
    if (!r)
        look_for_rest(e, fd, dir);
    return r;
}

int
encrypt_explain(const char *dir, int r, struct err *err)
{
    struct err why = *err;
    return err_set(err, r, "'%s/" SESSION_VAULT "': %s", dir, why.text);
}

/* -- what is elsewhere -- */

static int
count_snapshot(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    (void)f, (void)repo_path;
    ++*(uint64_t *)ctx;
    return 0;
}

static void
look_elsewhere(struct encrypt *e)
{
    const struct snap_filter filter = { .session = e->at.id };
    AUTO(buf) ids = { 0 };
    AUTO(buf) text = { 0 };
    struct err ignored;
    struct stat st;
    if (snap_has(e->at.home, e->at.id))
        (void)snap_list(e->at.home, &filter, count_snapshot, &e->done.snapshots,
                        &ignored);
    if (e->stow.root_fd[VAULT_PROJECT] >= 0 && remake_others(&e->at, &ids) == 0)
        for (size_t i = 0; i < ids_count(&ids); i++) {
            buf_clear(&text);
            buf_printf(&text,
                       "session %s is of the same run's folder, which is in the vault of "
                       "%s now",
                       ids_at(&ids, i), e->at.id);
            tell(e, buf_str(&text));
        }
    buf_clear(&text);
    if (buf_printf(&text, "%s/damaged/%s", e->at.home, e->at.id) == 0 &&
        lstat(buf_str(&text), &st) == 0) {
        buf_puts(&text, " is a ruin of the same session: it is not encrypted");
        tell(e, buf_str(&text));
    }
    if (e->at.project.n && e->at.project_fd < 0) {
        buf_clear(&text);
        buf_printf(
            &text,
            "'%s', the run's folder in its project, is not there: if it was moved, "
            "what it holds is not encrypted",
            buf_str(&e->at.project));
        tell(e, buf_str(&text));
    }
}

/* It is no part of the vault, which has all that it was made of. */
static void
look_for_transcript(struct encrypt *e)
{
    AUTO(buf) dir = { 0 };
    AUTO(buf) text = { 0 };
    if (!library_entire_find(e->at.home, e->at.id, &dir))
        return;
    buf_printf(
        &text,
        "'%s' has the conversation of session %s, and is not encrypted: remove it; "
        "'ahr export --format jsonl' makes it again of one that is decrypted",
        buf_str(&dir), e->at.id);
    tell(e, buf_str(&text));
}

/* -- all -- */

/* It is locked away already: what is left of it in the project goes, if it is what the
 * vault holds. */
static int
end_work(struct encrypt *e, struct err *err)
{
    int fd = openat(e->at.hold_fd, SESSION_VAULT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s/" SESSION_VAULT "'", buf_str(&e->at.dir));
    e->stow.root_fd[VAULT_PROJECT] = e->at.project_fd;
    int r = stow_lock(&e->stow, err);
    if (!r)
        r = stow_check(&e->stow, fd, e->opt->keys, true, &e->list, err);
    close(fd);
    if (r < 0)
        return encrypt_explain(buf_str(&e->at.dir), r, err);
    return e->at.project_fd >= 0 ? clean_project(e, err) : 0;
}

/* The project's files stay until it is known that the vault does: who is called next
 * ends that. */
static int
encrypt_now(struct encrypt *e, struct err *err)
{
    struct err why = { 0 };
    int r = lock_away(e, err);
    if (r < 0 && !e->at.is_exchanged)
        return r;
    bool stays = r < 0 || e->stow.root_fd[VAULT_PROJECT] < 0;
    int next = remake_forget_keyframes(&e->at, &why);
    r = remake_first_error(r, next, &why, err);
    next = stays ? 0 : clean_project(e, &why);
    return remake_first_error(r, next, &why, err);
}

static int
encrypt(struct encrypt *e, struct err *err)
{
    int r = hold(e, err);
    if (r < 0)
        return r;
    set_roots(e);
    look_for_transcript(e); /* while its meta says where that is */
    if (e->done.is_already)
        r = e->opt->is_dry_run ? 0 : end_work(e, err);
    else
        r = stow_walk(&e->stow, show_entry, e, err);
    e->done.files = e->stow.files;
    e->done.bytes = e->stow.bytes;
    e->stow.total_bytes = 2 * e->stow.bytes; /* written, and read again */
    if (r < 0 || e->opt->is_dry_run)
        return r;
    if (!e->done.is_already)
        r = encrypt_now(e, err);
    if (!r)
        r = stub_unmark(buf_str(&e->at.dir), STUB_PROJECT, err);
    look_elsewhere(e);
    return r;
}

int
library_encrypt(const char *home, const char *id, const struct library_vault *opt,
                struct library_vaulted *ret, struct err *err)
{
    AUTO(encrypt)
    e = { .at = REMAKE(home, id), .opt = opt, .stow = { .root_fd = { -1, -1 } } };
    int r = remake_init(&e.at, err);
    if (!r)
        r = encrypt(&e, err);
    if (r < 0)
        return r;
    if (*e.stow.project)
        buf_puts(&e.done.project, e.stow.project);
    *ret = e.done;
    e.done.project = (struct buf){ 0 };
    return 0;
}

/* Every session's: of one that was killed, too. */
static int
unmark_all(const char *home, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = ids_collect(&ids, home, "sessions", "");
    if (r < 0)
        return err_code(err, r, "cannot list the sessions in '%s'", home);
    for (size_t i = 0; !r && i < ids_count(&ids); i++) {
        AUTO(buf) dir = { .ceiling = PATH_MAX };
        const char *id = ids_at(&ids, i);
        if (session_folder_is_encrypted(home, id) &&
            buf_printf(&dir, "%s/sessions/%s", home, id) == 0)
            r = stub_unmark(buf_str(&dir), STUB_LIBRARY, err);
    }
    return r;
}

static int
scrub(const char *home, struct err *err)
{
    AUTO(remake) r = REMAKE(home, "");
    struct err why;
    if (library_db_path(home, &r.db_path) < 0)
        return err_code(err, r.db_path.failed, "cannot open the library");
    if (access(buf_str(&r.db_path), F_OK) < 0 && errno == ENOENT)
        return 0;
    int e = remake_open_library(&r, &why);
    if (!e)
        e = store_scrub(r.store, &why);
    return e < 0 ? err_set(err, e,
                           "'%s' may still hold text of sessions that are "
                           "encrypted: %s",
                           buf_str(&r.db_path), why.text)
                 : 0;
}

int
library_encrypt_end(const char *home, struct err *err)
{
    int r = scrub(home, err);
    return r < 0 ? r : unmark_all(home, err);
}
