/* SPDX-License-Identifier: MIT */
/*
 * take.c -- a snapshot: walk, compare with the last one, read what has changed, commit.
 *
 * The repository's lock is held together with others all the time. Nothing but the last
 * step of git's makes the snapshot; the cache comes behind it, and one that is older than
 * the last snapshot is as good.
 */
#include "snap/take.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snap/cache_priv.h"
#include "snap/extra_priv.h"
#include "snap/names_priv.h"
#include "snap/ref_priv.h"
#include "snap/refs_priv.h"
#include "snap/repo_priv.h"
#include "snap/tidy.h"

enum { THREADS = 4, TRIES = 3, MODES = 0777 + 1, BESIDE_MAX = 1 << 30 };

const struct snap_limits snap_limits_defaults = {
    .file_bytes = UINT64_C(128) << 20,
    .files = 1000000,
    .total_bytes = UINT64_C(8) << 30,
};

struct taking {
    const struct snap_request *q;
    struct snap_repo repo;
    struct snap_cache cache;
    bool has_cache;
    struct snap_import import;
    struct snap_fates fates;
    struct snap_names names;
    struct buf extra;
    struct snap_cache_head head; /* of what is made now */
    uint64_t id, files, bytes;
};

static void
taking_release(struct taking *t)
{
    snap_import_release(&t->import);
    snap_names_release(&t->names);
    snap_fates_release(&t->fates);
    snap_cache_release(&t->cache);
    snap_repo_release(&t->repo);
    buf_release(&t->extra);
}

/* -- what there is -- */

static unsigned
thread_count(const struct snap_request *q)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (q->is_gentle || cpus < 2)
        return 1;
    return cpus < THREADS ? (unsigned)cpus : THREADS;
}

static int
look_around(struct taking *t, struct err *err)
{
    struct snap_walk walk = { 0 };
    struct snap_walk_options opt = { .home = t->q->home,
                                     .root = t->q->root,
                                     .takes_all = t->q->takes_all,
                                     .threads = thread_count(t->q),
                                     .limits = &t->q->limits };
    int r = snap_walk(&walk, &opt, err);
    if (r < 0)
        return r;
    r = snap_fates_init(&t->fates, &walk, t->has_cache ? &t->cache : NULL);
    return r < 0 ? err_code(err, r, "cannot compare the files in '%s'", t->q->root) : 0;
}

static int
start_import(struct taking *t, struct err *err)
{
    return t->import.is_running ? 0 : snap_import_start(&t->import, t->repo.path, err);
}

static int
read_files(struct taking *t, struct err *err)
{
    if (!t->fates.unknown)
        return 0;
    int r = start_import(t, err);
    if (r < 0)
        return r;
    struct snap_reader reader = { .file_bytes_max = t->q->limits.file_bytes,
                                  .import = &t->import };
    reader.root_fd = open(t->q->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (reader.root_fd < 0)
        return err_sys(err, "cannot open '%s'", t->q->root);
    r = snap_fates_read(&t->fates, &reader, t->q->progress, t->q->ctx);
    snap_reader_release(&reader);
    close(reader.root_fd);
    return r < 0 ? err_code(err, r, "cannot read the files in '%s'", t->q->root) : 0;
}

/* -- what stands beside the files -- */

static bool
is_executable(const struct snap_entry *e)
{
    return e->look.mode & S_IXUSR;
}

static unsigned
most(const uint32_t count[static MODES], unsigned otherwise)
{
    unsigned best = otherwise;
    for (unsigned i = 0; i < MODES; i++)
        if (count[i] > count[best])
            best = i;
    return best;
}

/* Which permissions most have; and what is in it, now that all was read. */
static struct snap_extra
count_all(struct taking *t)
{
    uint32_t count[3][MODES] = { 0 };
    struct snap_walk *w = &t->fates.walk;
    for (size_t i = 0; i < w->count; i++)
        w->entry[i].is_empty = true;
    for (size_t i = 0; i < w->count; i++) {
        const struct snap_entry *e = &w->entry[i];
        if (t->fates.fate[i].is_out)
            continue;
        if (i)
            w->entry[e->parent].is_empty = false;
        int kind = e->kind == SNAP_DIR ? 2 : is_executable(e);
        if (e->kind != SNAP_LINK)
            count[kind][e->look.mode & 0777]++;
        if (e->kind == SNAP_DIR)
            continue;
        t->files++;
        t->bytes += e->look.size_bytes;
    }
    return (struct snap_extra){ .file_mode = most(count[0], 0644),
                                .exec_mode = most(count[1], 0755),
                                .dir_mode = most(count[2], 0755) };
}

static int
make_extra(struct taking *t)
{
    struct snap_extra x = count_all(t);
    const struct snap_walk *w = &t->fates.walk;
    t->extra.ceiling = BESIDE_MAX;
    snap_extra_begin(&t->extra, &x);
    for (size_t i = 0; i < w->count; i++) {
        const struct snap_entry *e = &w->entry[i];
        struct snap_extra_item item = { .mode = e->look.mode & 0777, .path = e->path };
        item.is_empty_dir = e->kind == SNAP_DIR && e->is_empty && i;
        unsigned usual = e->kind == SNAP_DIR ? x.dir_mode
                         : is_executable(e)  ? x.exec_mode
                                             : x.file_mode;
        bool is_other = e->kind != SNAP_LINK && item.mode != usual;
        if (!t->fates.fate[i].is_out && (item.is_empty_dir || is_other))
            snap_extra_put(&t->extra, &item);
    }
    struct view extra = { t->extra.p, t->extra.n };
    struct view skipped = { t->fates.skips.list.p, t->fates.skips.list.n };
    t->head.beside = snap_checksum(snap_checksum(0, extra), skipped);
    return t->extra.failed;
}

/* -- the commit -- */

static int
copy_facts(struct snap_facts *ret, const struct taking *t)
{
    const struct snap_request *q = t->q;
    struct snap_facts f = { .id = t->id,
                            .is_auto = q->is_auto,
                            .ts_ns = q->ts_ns,
                            .anchor_byte = q->anchor_byte,
                            .files = t->files,
                            .bytes = t->bytes,
                            .skipped = t->fates.skips.count,
                            .has_all = q->takes_all };
    snprintf(f.session, sizeof(f.session), "%s", q->session ? q->session : "");
    snprintf(f.commit, sizeof(f.commit), "%s", t->head.ids.commit);
    f.label = strdup(q->label ? q->label : "");
    f.root = strdup(q->root);
    *ret = f;
    return f.label && f.root ? 0 : -ENOMEM;
}

static void
choose_name(struct taking *t)
{
    const struct snap_request *q = t->q;
    char *ref = t->head.ref, known[SNAP_COMMIT_MAX + 1];
    for (t->id = q->id;; t->id++) {
        if (q->is_work)
            snprintf(ref, SNAP_REF_MAX + 1, "refs/work/%" PRIu64, t->id);
        else
            snprintf(ref, SNAP_REF_MAX + 1, "refs/ahr/%s/%" PRIu64,
                     q->session ? q->session : SNAP_NO_SESSION, t->id);
        bool is_used = q->is_work ? snap_ref_read(t->repo.path, ref, known) >= 0
                                  : snap_ref_has_id(t->repo.path, t->id);
        if (!is_used)
            return;
    }
}

static int
put_commit(struct taking *t, struct err *err)
{
    AUTO(buf) message = { 0 };
    struct snap_facts facts;
    struct snap_skips *skips = &t->fates.skips;
    struct view extra = { t->extra.p, t->extra.n };
    uint64_t extra_blob = snap_import_blob(&t->import, extra), skips_blob = 0;
    if (skips->list.n)
        skips_blob = snap_import_blob(&t->import,
                                      (struct view){ skips->list.p, skips->list.n });
    int r = copy_facts(&facts, t);
    if (r >= 0)
        snap_facts_put(&message, &facts);
    snap_facts_release(&facts);
    if (r < 0 || message.failed)
        return err_code(err, r < 0 ? r : message.failed, "cannot keep the snapshot");
    t->names = (struct snap_names){ .fates = &t->fates,
                                    .import = &t->import,
                                    .repo_path = t->repo.path,
                                    .base = t->has_cache ? t->cache.head.ids.files : "" };
    r = snap_names_init(&t->names, err);
    if (r < 0)
        return r;
    snap_import_begin_commit(&t->import, t->head.ref, t->q->ts_ns / 1000000000,
                             (struct view){ message.p, message.n }, t->names.base);
    r = snap_names_put(&t->names, err);
    if (r < 0)
        return r;
    snap_import_name_beside(&t->import, "extra", extra_blob);
    if (skips_blob)
        snap_import_name_beside(&t->import, "skipped", skips_blob);
    return 0;
}

/* For the next one. A failure costs time then, and nothing else: false. */
static bool
write_cache(const struct taking *t)
{
    struct snap_cache_out out = { 0 };
    const struct snap_fates *f = &t->fates;
    if (t->q->is_work)
        return false;
    snap_cache_begin(&out, &t->head);
    for (size_t i = 0; i < f->walk.count; i++) {
        const struct snap_entry *e = &f->walk.entry[i];
        struct snap_look look = e->look;
        if (e->kind == SNAP_DIR || f->fate[i].is_out)
            continue;
        if (f->fate[i].blob && !snap_look_is_settled(&look))
            look.mode = 0; /* like nothing that there is */
        snap_cache_put(&out, e->path, &look);
    }
    bool is_written = snap_cache_end(&out) >= 0 &&
                      snap_cache_write(&out, t->repo.path) >= 0;
    buf_release(&out.b);
    return is_written;
}

/* That of another session goes with it. */
static bool
is_last_ours(const struct taking *t)
{
    char below[SNAP_REF_MAX + 1];
    int n = snprintf(below, sizeof(below), SNAP_REFS "%s/",
                     t->q->session ? t->q->session : SNAP_NO_SESSION);
    return t->has_cache && strncmp(t->cache.head.ref, below, (size_t)n) == 0;
}

static bool
is_unchanged(const struct taking *t, const char *files)
{
    return t->q->only_changed && is_last_ours(t) &&
           strcmp(files, t->cache.head.ids.files) == 0 &&
           t->head.beside == t->cache.head.beside;
}

/* 1: it has turned out that nothing has changed. */
static int
commit(struct taking *t, struct err *err)
{
    int r = start_import(t, err);
    if (r < 0)
        return r;
    choose_name(t);
    r = put_commit(t, err);
    if (r < 0)
        return r;
    bool is_same = snap_import_ask(&t->import, &t->head.ids) >= 0 &&
                   is_unchanged(t, t->head.ids.files);
    if (is_same) {
        snap_import_forget(&t->import, t->head.ref);
        t->head = t->cache.head;
    }
    snap_import_finish(&t->import);
    /* Meanwhile git brings its own to the disk. */
    bool is_written = write_cache(t);
    r = snap_import_end(&t->import, err);
    if (is_written)
        (void)snap_cache_place(t->repo.path, r >= 0);
    return r < 0 ? r : is_same;
}

static int
take(struct taking *t, struct err *err)
{
    int r = snap_repo_open(&t->repo, t->q->home, t->q->root, true, SNAP_SHARED,
                           SNAP_WAIT_MS, err);
    if (r < 0)
        return r;
    t->has_cache = snap_cache_load(&t->cache, t->repo.path) >= 0;
    /* It gets ready while we look around. */
    if (!t->q->only_changed)
        r = start_import(t, err);
    if (r >= 0)
        r = look_around(t, err);
    if (r >= 0)
        r = read_files(t, err);
    if (r >= 0 && (r = make_extra(t)) < 0)
        err_code(err, r, "cannot keep the snapshot");
    if (r < 0)
        return r;
    bool has_same_names = !t->fates.unknown && !t->fates.gone.n;
    if (has_same_names && is_unchanged(t, t->cache.head.ids.files))
        return 1;
    return commit(t, err);
}

static int
give(struct snap_taken *ret, struct taking *t, struct err *err)
{
    struct snap_taken taken = { .skips = t->fates.skips };
    t->fates.skips = (struct snap_skips){ 0 };
    snprintf(taken.ref, sizeof(taken.ref), "%s", t->head.ref);
    int r = copy_facts(&taken.facts, t);
    taken.facts.skipped = taken.skips.count;
    if (r < 0) {
        snap_taken_release(&taken);
        return err_code(err, r, "cannot tell of the snapshot");
    }
    *ret = taken;
    return 0;
}

static bool
is_name(const char *session)
{
    size_t n = strspn(session, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_");
    return n && n <= SNAP_SESSION_MAX && !session[n];
}

/* Has another one taken that name after we had looked? */
static bool
is_again(const struct taking *t, int r)
{
    char known[SNAP_COMMIT_MAX + 1];
    return r < 0 && *t->head.ref &&
           snap_ref_read(t->repo.path, t->head.ref, known) >= 0 &&
           strcmp(known, t->head.ids.commit) != 0;
}

int
snap_take(const struct snap_request *q, struct snap_taken *ret, struct err *err)
{
    if (q->session && !is_name(q->session))
        return err_set(err, ERR_USAGE, "'%s' is no session", q->session);
    for (int tries = 0;; tries++) {
        struct taking t = { .q = q, .repo.lock_fd = -1 };
        int r = take(&t, err);
        if (r == 0)
            r = give(ret, &t, err);
        else if (r == 1)
            *ret = (struct snap_taken){ 0 };
        bool is_over = tries >= TRIES || !is_again(&t, r);
        if (r == -EIO && t.has_cache) /* git may be unable to read what it stands on */
            snap_cache_drop(t.repo.path);
        if (t.repo.path && (r < 0 || t.import.wasted))
            (void)snap_repo_mark(t.repo.path, SNAP_WASTE_FILE);
        char *repo_path = r < 0 && t.repo.path ? strdup(t.repo.path) : NULL;
        taking_release(&t);
        if (repo_path)
            snap_tidy_after(q->home, repo_path);
        free(repo_path);
        if (is_over)
            return r;
    }
}

void
snap_taken_release(struct snap_taken *t)
{
    snap_facts_release(&t->facts);
    snap_skips_release(&t->skips);
    *t = (struct snap_taken){ 0 };
}
