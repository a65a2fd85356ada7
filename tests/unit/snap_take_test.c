/* SPDX-License-Identifier: MIT */
/* snap_take_test.c -- file snapshots taken: what is in them, what is read for them, what
 * is left out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/git_priv.h"
#include "snap/still_priv.h"
#include "snap/take.h"
#include "snap/walk_priv.h"
#include "support/kit.h"

enum { BIG = 5 << 20 }; /* of which progress is told */

/* In a folder of its own: the tree is in "root", all of ours in "home". */
struct place {
    char root[256], home[300];
    uint64_t told; /* how often progress was */
};

static void
enter(struct place *p)
{
    char here[200];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(mkdir("root", 0755) | mkdir("home", 0700), 0);
    snprintf(p->root, sizeof(p->root), "%s/root", here);
    snprintf(p->home, sizeof(p->home), "%s/home", here);
    p->told = 0;
}

static bool tells_twice; /* the names of folders, as if they came and went meanwhile */

/* In place of the system's, which the walk would call. */
ssize_t
getdents64(int fd, void *p, size_t n)
{
    ssize_t r = syscall(SYS_getdents64, fd, p, n);
    if (r || !tells_twice)
        return r;
    tells_twice = false;
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return syscall(SYS_getdents64, fd, p, n);
}

static void
put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
    close(fd);
}

/* The clock of files goes in steps. */
static void
wait_until_settled(const struct snap_look *l)
{
    while (!snap_look_is_settled(l))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void
put_big(const char *path, uint64_t bytes)
{
    put(path, "");
    assert_int_equal(truncate(path, (off_t)bytes), 0);
}

static void
count_progress(void *ctx, uint64_t files, uint64_t bytes)
{
    struct place *p = ctx;
    p->told += files > 0 || bytes > 0;
}

static struct snap_request
request(struct place *p)
{
    return (struct snap_request){ .home = p->home,
                                  .root = p->root,
                                  .id = 1000,
                                  .ts_ns = 5,
                                  .anchor_byte = SNAP_NONE,
                                  .limits = snap_limits_defaults,
                                  .progress = count_progress,
                                  .ctx = p };
}

static void
take(const struct snap_request *q, struct snap_taken *ret)
{
    struct err err = { 0 };
    int r = snap_take(q, ret, &err);
    if (r)
        print_error("%d: %s\n", r, err.text);
    assert_int_equal(r, 0);
}

static void
git(const struct place *p, const char *const *args, struct buf *out)
{
    AUTO(buf) all = { 0 };
    struct err err;
    assert_int_equal(snap_repos(p->home, &all, &err), 0);
    assert_int_equal(snap_git_run(buf_str(&all), args, (struct view){ 0 }, out, "", &err),
                     0);
}

/* The tree of a snapshot as lines "MODE PATH=TEXT". */
static void
assert_files(const struct place *p, const struct snap_taken *t, const char *want)
{
    AUTO(buf) list = { 0 };
    AUTO(buf) got = { 0 };
    git(p, (const char *const[]){ "ls-tree", "-r", "-z", t->ref, "files", NULL }, &list);
    for (size_t i = 0; i < list.n; i += strlen((const char *)list.p + i) + 1) {
        const char *at = (const char *)list.p + i;
        AUTO(buf) blob = { 0 };
        char id[41];
        memcpy(id, at + 12, 40);
        id[40] = 0;
        git(p, (const char *const[]){ "cat-file", "blob", id, NULL }, &blob);
        buf_printf(&got, "%.6s %s=%s\n", at, strchr(at, '\t') + 7, buf_str(&blob));
    }
    assert_string_equal(buf_str(&got), want);
}

static void
assert_extra(const struct place *p, const struct snap_taken *t, const char *want)
{
    AUTO(buf) got = { 0 };
    char name[160];
    snprintf(name, sizeof(name), "%s:extra", t->ref);
    git(p, (const char *const[]){ "cat-file", "blob", name, NULL }, &got);
    for (size_t i = 0; i < got.n; i++)
        got.p[i] = got.p[i] ? got.p[i] : ';';
    assert_string_equal(buf_str(&got), want);
}

static void
assert_skips(const struct snap_taken *t, const char *want)
{
    AUTO(buf) got = { 0 };
    struct view rest = { t->skips.list.p, t->skips.list.n };
    struct snap_skip s;
    while (snap_skip_next(&rest, &s))
        buf_printf(&got, "%.*s %s;", (int)s.word_len, s.word, s.path);
    assert_string_equal(buf_str(&got), want);
}

static void
a_snapshot_has_files_links_folders_and_permissions(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put("root/a \"b\"\n\\", "odd");
    put("root/x", "run");
    assert_int_equal(mkdir("root/empty", 0755) | mkdir("root/sub", 0700), 0);
    put("root/sub/y", "secret");
    put("root/sub-", "");
    assert_int_equal(chmod("root/x", 0755) | chmod("root/sub/y", 0600) |
                         symlink("../../\xff", "root/link") | mkfifo("root/fifo", 0600) |
                         chmod("root", 0750),
                     0);
    struct snap_request q = request(&p);
    take(&q, &t);
    assert_files(&p, &t,
                 "100644 a \"b\"\n\\=odd\n120000 link=../../\xff\n100644 sub-=\n"
                 "100644 sub/y=secret\n100755 x=run\n");
    assert_extra(
        &p, &t,
        "ahr-snapshot 1\nmodes 644 755 755\nm 750 ;e 755 empty;m 700 sub;m 600 sub/y;");
    assert_skips(&t, "fifo fifo;");
    assert_int_equal(t.facts.files, 5);
    assert_int_equal(t.facts.bytes, 3 + 7 + 6 + 3);
    assert_int_equal(t.facts.skipped, 1);
    assert_string_equal(t.ref, "refs/ahr/none/1000");
    snap_taken_release(&t);
}

static void
a_folder_with_nothing_in_it_has_a_snapshot(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    struct snap_request q = request(&p);
    take(&q, &t);
    assert_files(&p, &t, "");
    assert_extra(&p, &t, "ahr-snapshot 1\nmodes 644 755 755\n");
    snap_taken_release(&t);
    put("root/a", "1");
    take(&q, &t);
    assert_files(&p, &t, "100644 a=1\n");
    snap_taken_release(&t);
    assert_int_equal(unlink("root/a"), 0);
    take(&q, &t);
    assert_files(&p, &t, "");
    snap_taken_release(&t);
}

static void
what_has_not_changed_is_not_read_again(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put_big("root/big", BIG);
    put("root/a", "1");
    struct snap_request q = request(&p);
    take(&q, &t);
    assert_int_equal(p.told, 1);
    snap_taken_release(&t);
    put("root/a", "2");
    take(&q, &t);
    assert_int_equal(p.told, 1);
    assert_int_equal(t.facts.bytes, BIG + 1);
    assert_string_equal(t.ref, "refs/ahr/none/1001"); /* 1000 is in use */
    snap_taken_release(&t);
    /* Without the last one there is nothing to compare with. */
    git(&p, (const char *const[]){ "update-ref", "-d", "refs/ahr/none/1001", NULL },
        NULL);
    take(&q, &t);
    assert_int_equal(p.told, 2);
    snap_taken_release(&t);
}

static void
one_for_a_comparison_is_nowhere_listed_and_leaves_the_cache(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put_big("root/big", BIG);
    struct snap_request q = request(&p);
    take(&q, &t);
    snap_taken_release(&t);
    q.is_work = true;
    take(&q, &t);
    assert_string_equal(t.ref, "refs/work/1000");
    snap_taken_release(&t);
    git(&p, (const char *const[]){ "update-ref", "-d", "refs/work/1000", NULL }, NULL);
    take(&q, &t);
    assert_int_equal(p.told, 1);
    snap_taken_release(&t);
}

static void
nothing_is_taken_where_nothing_has_changed(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put_big("root/big", BIG);
    assert_int_equal(mkdir("root/sub", 0755), 0);
    struct snap_request q = request(&p);
    q.only_changed = true;
    take(&q, &t);
    snap_taken_release(&t);
    assert_int_equal(snap_take(&q, &t, NULL), 1);
    /* Other times alone are no change, and it is read but once for them. */
    assert_int_equal(utimensat(AT_FDCWD, "root/big", NULL, 0), 0);
    assert_int_equal(snap_take(&q, &t, NULL), 1);
    assert_int_equal(p.told, 2);
    assert_int_equal(snap_take(&q, &t, NULL), 1);
    assert_int_equal(p.told, 2);
    assert_int_equal(chmod("root/sub", 0700), 0);
    take(&q, &t);
    snap_taken_release(&t);
    assert_int_equal(mkfifo("root/fifo", 0600), 0);
    take(&q, &t);
    snap_taken_release(&t);
    AUTO(buf) refs = { 0 };
    git(&p, (const char *const[]){ "for-each-ref", "--format=%(refname)", NULL }, &refs);
    assert_string_equal(buf_str(&refs), "refs/ahr/none/1000\nrefs/ahr/none/1001\n"
                                        "refs/ahr/none/1002\n");
}

/* It would go with the other session. */
static void
each_session_has_its_own_of_the_same_files(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put("root/a", "1");
    struct snap_request q = request(&p);
    q.only_changed = true;
    static const char *const sessions[] = { NULL, "s1", "s", "s2" };
    for (size_t i = 0; i < sizeof(sessions) / sizeof(sessions[0]); i++) {
        q.session = sessions[i];
        take(&q, &t);
        assert_files(&p, &t, "100644 a=1\n");
        snap_taken_release(&t);
        assert_int_equal(snap_take(&q, &t, NULL), 1);
    }
}

static void
files_links_and_folders_take_each_others_place(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    assert_int_equal(mkdir("root/a", 0755) | mkdir("root/a/b", 0755), 0);
    put("root/a/b/c", "1");
    put("root/d", "2");
    assert_int_equal(symlink("3", "root/e"), 0);
    struct snap_request q = request(&p);
    take(&q, &t);
    snap_taken_release(&t);
    assert_int_equal(unlink("root/a/b/c") | rmdir("root/a/b") | rmdir("root/a") |
                         unlink("root/d") | unlink("root/e") | mkdir("root/d", 0755) |
                         symlink("4", "root/a"),
                     0);
    put("root/d/a", "5");
    put("root/e", "6");
    take(&q, &t);
    assert_files(&p, &t, "120000 a=4\n100644 d/a=5\n100644 e=6\n");
    snap_taken_release(&t);
}

static void
remove_b(void *ctx, uint64_t files, uint64_t bytes)
{
    (void)ctx, (void)files, (void)bytes;
    (void)unlink("root/b");
}

/* Neither kept from the last one nor told: it is deleted. */
static void
a_file_that_goes_meanwhile_was_never_there(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put("root/b", "1");
    struct snap_request q = request(&p);
    take(&q, &t);
    snap_taken_release(&t);
    put_big("root/a", BIG);
    put("root/b", "22");
    struct stat st;
    assert_int_equal(stat("root/b", &st), 0);
    wait_until_settled(&(struct snap_look){ .ctime_ns = st.st_ctim.tv_sec * 1000000000 +
                                                        st.st_ctim.tv_nsec });
    q.progress = remove_b; /* of a: now it is b's turn */
    take(&q, &t);
    assert_skips(&t, "");
    assert_int_equal(t.facts.files, 1);
    AUTO(buf) names = { 0 };
    git(&p, (const char *const[]){ "ls-tree", "-r", "--name-only", t.ref, "files", NULL },
        &names);
    assert_string_equal(buf_str(&names), "files/a\n");
    snap_taken_release(&t);
}

static void
ceilings_leave_out_and_tell(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put("root/a", "12");
    put("root/b", "12345");
    put("root/c", "12");
    put("root/d", "12");
    struct snap_request q = request(&p);
    q.limits.file_bytes = 4;
    take(&q, &t);
    assert_skips(&t, "large b;");
    snap_taken_release(&t);
    q.limits.files = 2;
    take(&q, &t);
    assert_skips(&t, "large b;many d;");
    snap_taken_release(&t);
    q.limits.total_bytes = 3;
    take(&q, &t);
    assert_skips(&t, "large b;total c;total d;");
    assert_files(&p, &t, "100644 a=12\n");
    snap_taken_release(&t);
}

static void
what_is_ignored_is_left_out_unless_it_is_asked_for(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    put("root/.gitignore", "*.o\n");
    put("root/a.o", "1");
    assert_int_equal(
        mkdir("root/.git", 0755) | mkdir("root/sub", 0755) | mkdir("root/.Git", 0755), 0);
    put("root/.git/HEAD", "");
    put("root/sub/b.o", "2");
    assert_int_equal(mkdir("root/sub/.git", 0755), 0); /* that is none */
    struct snap_request q = request(&p);
    take(&q, &t);
    assert_files(&p, &t, "100644 .gitignore=*.o\n\n");
    assert_extra(&p, &t, "ahr-snapshot 1\nmodes 644 755 755\ne 755 sub;");
    assert_skips(&t, "name .Git;");
    snap_taken_release(&t);
    q.takes_all = true;
    take(&q, &t);
    assert_files(&p, &t, "100644 .gitignore=*.o\n\n100644 a.o=1\n100644 sub/b.o=2\n");
    snap_taken_release(&t);
}

static void
our_own_folder_is_left_out(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    assert_int_equal(mkdir("root/home", 0700), 0);
    snprintf(p.home, sizeof(p.home), "%s/home", p.root);
    put("root/a", "1");
    struct snap_request q = request(&p);
    for (int i = 0; i < 2; i++) {
        take(&q, &t);
        assert_files(&p, &t, "100644 a=1\n");
        assert_skips(&t, "ours home;");
        snap_taken_release(&t);
    }
}

static void
a_session_that_is_no_name_is_refused(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    struct snap_request q = request(&p);
    static const char *const bad[] = { "", "..", "a/b", "a b", "a\n" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        q.session = bad[i];
        assert_int_equal(snap_take(&q, &t, NULL), ERR_USAGE);
    }
}

/* -- the walk -- */

static void
all_threads_together_find_what_one_finds(void **state)
{
    (void)state;
    struct place p;
    struct snap_walk one, many;
    enter(&p);
    for (int i = 0; i < 60; i++) {
        char path[64];
        snprintf(path, sizeof(path), "root/%d", i / 6 * 6);
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        snprintf(path, sizeof(path), "root/%d/%d-", i / 6 * 6, i);
        assert_int_equal(mkdir(path, 0755), 0);
        snprintf(path, sizeof(path), "root/%d/%d-/x", i / 6 * 6, i);
        put(path, "");
        snprintf(path, sizeof(path), "root/%d.", i);
        put(path, "");
    }
    struct snap_walk_options opt = { .root = p.root,
                                     .threads = 1,
                                     .limits = &snap_limits_defaults };
    assert_int_equal(snap_walk(&one, &opt, NULL), 0);
    opt.threads = 5;
    assert_int_equal(snap_walk(&many, &opt, NULL), 0);
    assert_int_equal(one.count, 1 + 10 + 3 * 60);
    assert_int_equal(many.count, one.count);
    const char *before = "";
    for (size_t i = 0; i < one.count; i++) {
        const struct snap_entry *e = &many.entry[i];
        assert_string_equal(one.entry[i].path, e->path);
        assert_int_equal(one.entry[i].parent, e->parent);
        assert_true(e->kind != SNAP_DIR || !e->is_empty);
        if (e->kind == SNAP_DIR)
            continue;
        assert_true(strcmp(before, e->path) < 0);
        before = e->path;
    }
    snap_walk_release(&one);
    snap_walk_release(&many);
}

/* What it has left is measured by who tidies. */
static void
one_that_fails_leaves_a_mark(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    struct err err = { 0 };
    AUTO(buf) mark = { 0 };
    enter(&p);
    struct snap_request q = request(&p);
    take(&q, &t);
    snap_taken_release(&t);
    assert_int_equal(snap_repos(p.home, &mark, &err), 0);
    mark.n--; /* the NUL */
    buf_puts(&mark, "/ahr.waste");
    assert_int_equal(access(buf_str(&mark), F_OK), -1);
    const char *search = getenv("PATH");
    char *path = strdup(search ? search : "");
    assert_int_equal(setenv("PATH", p.home, 1), 0);
    int r = snap_take(&q, &t, &err);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_int_equal(r, ERR_MISSING);
    assert_int_equal(access(buf_str(&mark), F_OK), 0);
}

/* -- one moment -- */

/* Of the files in "root". */
static void
begin_reading(struct snap_reader *r, struct snap_import *im)
{
    struct place p;
    struct snap_taken t;
    enter(&p);
    struct snap_request q = request(&p);
    take(&q, &t); /* so that there is a repository */
    snap_taken_release(&t);
    AUTO(buf) all = { 0 };
    assert_int_equal(snap_repos(p.home, &all, NULL), 0);
    assert_int_equal(snap_import_start(im, buf_str(&all), NULL), 0);
    *r = (struct snap_reader){ .file_bytes_max = 100, .import = im };
    r->root_fd = open(p.root, O_PATH | O_CLOEXEC);
}

static void
end_reading(struct snap_reader *r)
{
    close(r->root_fd);
    snap_import_release(r->import);
    snap_reader_release(r);
}

/* Whose last change is so long ago; of a disk that has only whole seconds, and of which
 * it is a second more at most. */
static struct snap_look
look_of_age(int64_t age_ns, bool is_coarse)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    int64_t ns = now.tv_sec * INT64_C(1000000000) + (is_coarse ? 0 : now.tv_nsec | 1);
    return (struct snap_look){ .ctime_ns = ns - age_ns };
}

/* Time goes on meanwhile: so what should not be is tried again and again. */
static bool
may_be_unsettled(int64_t age_ns, bool is_coarse)
{
    for (int i = 0; i < 1000; i++) {
        struct snap_look l = look_of_age(age_ns, is_coarse);
        if (!snap_look_is_settled(&l))
            return true;
    }
    return false;
}

static void
a_look_is_settled_when_the_clock_has_moved_on(void **state)
{
    (void)state;
    const int64_t ms = 1000000, s = 1000 * ms;
    assert_true(may_be_unsettled(0, false));
    assert_true(may_be_unsettled(10 * ms, false));
    assert_false(may_be_unsettled(21 * ms, false));
    assert_true(may_be_unsettled(-10 * ms, false));   /* ahead of the coarse clock */
    assert_false(may_be_unsettled(-3600 * s, false)); /* that was set back */
    assert_true(may_be_unsettled(0, true));
    assert_true(may_be_unsettled(1 * s, true));
    assert_false(may_be_unsettled(2 * s, true));
}

static void
a_file_with_a_writer_is_read_when_it_rests(void **state)
{
    (void)state;
    struct snap_reader r;
    struct snap_import im;
    begin_reading(&r, &im);
    struct snap_try try = { .path = "a" };
    assert_int_equal(snap_still_read(&r, &try), SNAP_LOST);
    int fd = open("root/a", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(file_write_all(fd, "half", 4), 0);
    assert_int_equal(snap_still_read(&r, &try), SNAP_LATER);
    wait_until_settled(&try.look);
    assert_int_equal(snap_still_read(&r, &try), SNAP_LATER);
    close(fd);
    assert_int_equal(snap_still_read(&r, &try), SNAP_READ);
    assert_true(try.blob > 0);
    r.file_bytes_max = 3;
    assert_int_equal(snap_still_read(&r, &try), SNAP_REFUSED);
    assert_int_equal(try.why, SNAP_SKIP_LARGE);
    assert_int_equal(unlink("root/a") | mkfifo("root/a", 0600), 0);
    assert_int_equal(snap_still_read(&r, &try), SNAP_LATER);
    end_reading(&r);
}

/* Somebody has it open, and might go on writing: it is waited for. */
static void
a_file_that_is_open_but_rests_is_in_the_snapshot(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    int fd = open("root/log", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(file_write_all(fd, "line", 4), 0);
    struct snap_request q = request(&p);
    take(&q, &t);
    close(fd);
    assert_files(&p, &t, "100644 log=line\n");
    assert_skips(&t, "");
    snap_taken_release(&t);
}

/* Another one in its place, made in the same step of the clock, would look like it. */
static void
a_link_is_read_when_the_clock_has_moved_on(void **state)
{
    (void)state;
    struct snap_reader r;
    struct snap_import im;
    begin_reading(&r, &im);
    struct snap_try try = { .path = "l" };
    assert_int_equal(snap_still_link(&r, &try), SNAP_LOST);
    enum snap_still s = SNAP_READ;
    for (int i = 0; i < 1000 && s == SNAP_READ; i++) { /* we may be slow */
        (void)unlink("root/l");
        assert_int_equal(symlink("there", "root/l"), 0);
        s = snap_still_link(&r, &try);
    }
    assert_int_equal(s, SNAP_LATER);
    wait_until_settled(&try.look);
    assert_int_equal(snap_still_link(&r, &try), SNAP_READ);
    assert_int_equal(unlink("root/l") | mkfifo("root/l", 0600), 0);
    assert_int_equal(snap_still_link(&r, &try), SNAP_LATER);
    wait_until_settled(&try.look);
    assert_int_equal(snap_still_link(&r, &try), SNAP_LATER); /* it is none any more */
    end_reading(&r);
}

static void
a_name_that_a_folder_has_twice_is_taken_once(void **state)
{
    (void)state;
    struct place p;
    struct snap_taken t;
    enter(&p);
    struct snap_request q = request(&p);
    q.is_gentle = true; /* one thread */
    put("root/a", "1");
    put("root/b", "2");
    assert_int_equal(mkdir("root/d", 0755), 0);
    put("root/d/c", "3");
    tells_twice = true;
    take(&q, &t);
    assert_false(tells_twice);
    assert_int_equal(t.facts.files, 3);
    snap_taken_release(&t);
    assert_int_equal(unlink("root/b"), 0);
    take(&q, &t);
    assert_files(&p, &t, "100644 a=1\n100644 d/c=3\n");
    snap_taken_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(a_snapshot_has_files_links_folders_and_permissions),
        KIT_IN_DIR(a_folder_with_nothing_in_it_has_a_snapshot),
        KIT_IN_DIR(what_has_not_changed_is_not_read_again),
        KIT_IN_DIR(one_for_a_comparison_is_nowhere_listed_and_leaves_the_cache),
        KIT_IN_DIR(nothing_is_taken_where_nothing_has_changed),
        KIT_IN_DIR(each_session_has_its_own_of_the_same_files),
        KIT_IN_DIR(files_links_and_folders_take_each_others_place),
        KIT_IN_DIR(a_file_that_goes_meanwhile_was_never_there),
        KIT_IN_DIR(ceilings_leave_out_and_tell),
        KIT_IN_DIR(what_is_ignored_is_left_out_unless_it_is_asked_for),
        KIT_IN_DIR(our_own_folder_is_left_out),
        KIT_IN_DIR(a_session_that_is_no_name_is_refused),
        KIT_IN_DIR(all_threads_together_find_what_one_finds),
        KIT_IN_DIR(one_that_fails_leaves_a_mark),
        cmocka_unit_test(a_look_is_settled_when_the_clock_has_moved_on),
        KIT_IN_DIR(a_file_with_a_writer_is_read_when_it_rests),
        KIT_IN_DIR(a_file_that_is_open_but_rests_is_in_the_snapshot),
        KIT_IN_DIR(a_link_is_read_when_the_clock_has_moved_on),
        KIT_IN_DIR(a_name_that_a_folder_has_twice_is_taken_once),
    };
    return cmocka_run_group_tests_name("snap_take", tests, NULL, NULL);
}
