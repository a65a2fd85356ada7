/* SPDX-License-Identifier: MIT */
/* ahr fs diff: what is different between two snapshots, or a snapshot and the files. */
#include "base/clock.h"
#include "snap/diff.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/fs_found.h"
#include "cli/option.h"
#include "cli/path.h"
#include "cli/progress.h"
#include "cli/recorder.h"
#include "cli/when.h"
#include "session/home.h"
#include "snap/take.h"

struct args {
    bool is_patch, is_json;
};

/* One of the two that are compared. */
struct side {
    struct snap_found found;
    struct snap_taken work; /* the files as they are now */
    bool is_found, is_work;
};

static const char *
commit_of(const struct side *s)
{
    return s->is_work ? s->work.facts.commit : s->found.facts.commit;
}

static void
side_release(struct side *s, const struct snap_repo *repo)
{
    struct err ignored; /* a name that stays is taken off by who tidies */
    if (s->is_work) {
        (void)snap_diff_drop(repo, s->work.ref, &ignored);
        snap_taken_release(&s->work);
    }
    if (s->is_found)
        snap_found_release(&s->found);
}

/* -- the files as they are now -- */

static void
step(void *ctx, uint64_t files, uint64_t bytes)
{
    (void)files;
    cli_progress_step(ctx, bytes, 0);
}

/* Its ceilings are not known; but where nothing was left out, nothing that it has may be
 * above ours. */
static struct snap_limits
limits_for(const struct snap_facts *f)
{
    struct snap_limits l = snap_limits_defaults;
    if (!f->skipped && f->bytes > l.file_bytes)
        l.file_bytes = f->bytes;
    l.files += f->files;
    l.total_bytes += f->bytes;
    return l;
}

/* As the one that they are compared with was taken. */
static int
take_work(const struct cli_command *self, struct side *ret, const struct snap_found *a,
          struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct cli_progress progress;
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    struct snap_request q = { .home = buf_str(&home),
                              .root = a->repo.root,
                              .id = clock_id(),
                              .ts_ns = cli_when_now_ns(),
                              .anchor_byte = SNAP_NONE,
                              .takes_all = a->facts.has_all,
                              .is_work = true,
                              .limits = limits_for(&a->facts),
                              .progress = step,
                              .ctx = &progress };
    cli_progress_begin(&progress, self, a->repo.root);
    r = snap_take(&q, &ret->work, err);
    cli_progress_end(&progress);
    ret->is_work = r == 0;
    return r;
}

static int
find_other(const struct cli_command *self, struct side *ret, const struct side *a,
           const char *what, struct err *err)
{
    if (!strcmp(what, "work"))
        return take_work(self, ret, &a->found, err);
    int r = cli_fs_find(&ret->found, what, err);
    ret->is_found = r == 0;
    if (r < 0 || !strcmp(ret->found.repo.path, a->found.repo.path))
        return r;
    return err_set(err, ERR_USAGE,
                   "these two are of different folders: '%.200s' and '%.200s'",
                   a->found.repo.root, ret->found.repo.root);
}

/* -- names -- */

struct listing {
    struct json json;
    struct buf text;
    bool is_json;
};

static const char *
change_word(enum snap_change_kind kind)
{
    switch (kind) {
    case SNAP_ADDED:
        return "added";
    case SNAP_DELETED:
        return "deleted";
    case SNAP_MODIFIED:
        return "modified";
    case SNAP_TYPE:
        return "type";
    case SNAP_MODE:
        return "mode";
    case SNAP_UNKNOWN:
        return "unknown";
    }
    return "";
}

/* A snap_change_fn. */
static int
put_change(void *ctx, const struct snap_change *c)
{
    struct listing *l = ctx;
    if (l->is_json) {
        json_open(&l->json, '{');
        json_key(&l->json, "change"), json_str(&l->json, change_word(c->kind));
        cli_path_json(&l->json, "path", c->path);
        json_close(&l->json, '}');
    } else {
        buf_printf(&l->text, "%c ", (char)c->kind);
        cli_path_put(&l->text, c->path);
        buf_puts(&l->text, "\n");
    }
    if (l->text.failed)
        return l->text.failed;
    (void)fwrite(l->text.p, 1, l->text.n, stdout); /* main looks whether it arrived */
    buf_clear(&l->text);
    return 0;
}

static void
put_side(struct json *j, const char *key, const struct side *s)
{
    json_key(j, key);
    if (s->is_work)
        json_str(j, "work");
    else
        json_u64(j, s->found.facts.id);
}

static int
print_names(const struct side *a, const struct side *b, bool is_json, struct err *err)
{
    struct listing l = { .is_json = is_json, .json.out = &l.text };
    if (is_json) {
        json_open(&l.json, '{');
        put_side(&l.json, "a", a);
        put_side(&l.json, "b", b);
        json_key(&l.json, "changes"), json_open(&l.json, '[');
    }
    int r = snap_diff(&a->found.repo, commit_of(a), commit_of(b), put_change, &l, err);
    if (!r && is_json) {
        json_close(&l.json, ']');
        json_close(&l.json, '}');
        puts(buf_str(&l.text));
    }
    buf_release(&l.text);
    return r;
}

/* -- a patch -- */

/* Files hold anything; a terminal would obey it. */
static void
clean(uint8_t *p, size_t n, uint8_t *before)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = p[i];
        bool is_c1 = *before == 0xc2 && byte >= 0x80 && byte < 0xa0;
        if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f || is_c1)
            p[i] = '?';
        *before = byte;
    }
}

static int
show(int fd, struct err *err)
{
    uint8_t bytes[65536], before = 0;
    ssize_t n = lseek(fd, 0, SEEK_SET) < 0 ? -1 : 1;
    while (n > 0 && (n = file_read(fd, bytes, sizeof(bytes))) > 0) {
        clean(bytes, (size_t)n, &before);
        (void)fwrite(bytes, 1, (size_t)n, stdout);
    }
    return n < 0 ? err_set(err, -EIO, "cannot show the patch") : 0;
}

static int
print_patch(const struct side *a, const struct side *b, struct err *err)
{
    const struct snap_repo *repo = &a->found.repo;
    if (!isatty(STDOUT_FILENO))
        return snap_diff_patch(repo, commit_of(a), commit_of(b), STDOUT_FILENO, err);
    int fd = memfd_create("patch", MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot make a patch");
    int r = snap_diff_patch(repo, commit_of(a), commit_of(b), fd, err);
    if (!r)
        r = show(fd, err);
    close(fd);
    return r;
}

/* -- all -- */

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    struct side a = { 0 }, b = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count < 1 || count > 2)
        return err_set(err, ERR_USAGE, "which snapshots? see 'ahr fs diff -h'");
    if (args.is_patch && args.is_json)
        return err_set(err, ERR_USAGE, "--patch or --json, not both");
    if (!strcmp(argv[0], "work"))
        return err_set(err, ERR_USAGE,
                       "the snapshot first, then 'work': the files as they are now");
    r = cli_fs_find(&a.found, argv[0], err);
    if (r < 0)
        return r;
    a.is_found = true;
    r = find_other(self, &b, &a, count > 1 ? argv[1] : "work", err);
    if (!r)
        r = args.is_patch ? print_patch(&a, &b, err)
                          : print_names(&a, &b, args.is_json, err);
    side_release(&b, &a.found.repo);
    side_release(&a, NULL);
    if (r == -EPIPE) /* nobody reads any more: die of it as by a write of our own */
        raise(SIGPIPE);
    return r;
}

static const struct cli_option options[] = {
    { "patch", 'p', CLI_FLAG, offsetof(struct args, is_patch), NULL,
      "print what changed inside of files", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { 0 },
};

const struct cli_command cli_fs_diff = {
    "fs diff",
    "SNAPSHOT [SNAPSHOT|work] [--patch] [--json]",
    "tell what changed since a snapshot, or between two",
    options,
    run,
    false,
};
