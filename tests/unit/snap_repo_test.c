/* SPDX-License-Identifier: MIT */
/* snap_repo_test.c -- shadow repositories, the facts of snapshots, lists of them, and
 * their removal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/git_priv.h"
#include "snap/list.h"
#include "snap/repo_priv.h"
#include "snap/root.h"
#include "snap/tidy.h"
#include "support/kit.h"
#include "support/snap_kit.h"

struct listed {
    uint64_t ids[32];
    unsigned count;
};

static int
note(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct listed *l = ctx;
    assert_true(snap_kit_exists(repo_path));
    assert_true(l->count < 32);
    l->ids[l->count++] = f->id;
    return 0;
}

static int
list(const char *home, const char *session, const char *root, struct listed *ret)
{
    struct snap_filter filter = { .session = session, .root = root };
    struct err err;
    *ret = (struct listed){ 0 };
    return snap_list(home, &filter, note, ret, &err);
}

/* -- roots -- */

static void
assert_root(const char *dir, const char *expected)
{
    AUTO(buf) root = { 0 };
    struct err err;
    char *real = realpath(expected, NULL);
    assert_int_equal(snap_root(&root, dir, &err), 0);
    assert_string_equal(buf_str(&root), real);
    free(real);
}

static void
make_git_dir(const char *path)
{
    char at[512];
    static const char *const inside[] = { "objects", "refs" };
    for (size_t i = 0; i < 2; i++) {
        snprintf(at, sizeof(at), "%s/%s", path, inside[i]);
        assert_int_equal(file_make_dirs(at), 0);
    }
    snprintf(at, sizeof(at), "%s/HEAD", path);
    snap_kit_write(at, "ref: refs/heads/main\n");
}

static void
the_root_is_the_work_tree_around_a_folder(void **state)
{
    (void)state;
    make_git_dir("work/.git");
    assert_int_equal(file_make_dirs("work/a/b"), 0);
    assert_root("work/a/b", "work");
    assert_root("work", "work");
    assert_int_equal(symlink("work/a", "link"), 0);
    assert_root("link", "work");
}

static void
the_root_is_the_folder_itself_without_a_work_tree(void **state)
{
    (void)state;
    assert_int_equal(file_make_dirs("a/b"), 0);
    assert_int_equal(file_make_dirs("a/.git"), 0); /* is none: it is empty */
    assert_root("a/b", "a/b");
    snap_kit_write("a/b/.git", "gitdir: ../nowhere\n");
    assert_root("a/b", "a/b");
}

static void
a_git_file_leads_to_its_repository(void **state)
{
    (void)state;
    make_git_dir("main/.git");
    assert_int_equal(file_make_dirs("main/.git/worktrees/x"), 0);
    snap_kit_write("main/.git/worktrees/x/HEAD", "ref: refs/heads/x\n");
    snap_kit_write("main/.git/worktrees/x/commondir", "../..\n");
    assert_int_equal(file_make_dirs("main/sub/deep"), 0);
    snap_kit_write("main/sub/.git", "gitdir: ../.git/worktrees/x\n");
    assert_root("main/sub/deep", "main/sub");
}

static void
a_root_that_is_not_there_is_told(void **state)
{
    (void)state;
    AUTO(buf) root = { 0 };
    struct err err;
    assert_int_equal(snap_root(&root, "nowhere", &err), ERR_MISSING);
    snap_kit_write("file", "");
    assert_int_equal(snap_root(&root, "file", &err), -ENOTDIR);
}

/* -- repositories -- */

static void
a_repository_is_made_once_and_found_again(void **state)
{
    AUTO(snap_repo) first = { .lock_fd = -1 };
    AUTO(snap_repo) again = { .lock_fd = -1 };
    AUTO(buf) all = { 0 };
    struct err err;
    struct stat st;
    char *home = snap_kit_home(state);
    assert_int_equal(snap_repo_open(&first, home, "/a", false, SNAP_SHARED, 0, &err),
                     ERR_MISSING);
    assert_int_equal(snap_repo_open(&first, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_int_equal(snap_repo_open(&again, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_string_equal(first.path, again.path);
    assert_string_equal(again.root, "/a");
    assert_int_equal(stat(first.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_true(snap_kit_is_sound(first.path));
    assert_int_equal(snap_repos(home, &all, &err), 0);
    assert_int_equal(all.n, strlen(first.path) + 1);
}

static void
two_roots_of_one_hash_have_two_repositories(void **state)
{
    AUTO(snap_repo) first = { .lock_fd = -1 };
    AUTO(snap_repo) twin = { .lock_fd = -1 };
    AUTO(snap_repo) again = { .lock_fd = -1 };
    AUTO(buf) file = { 0 };
    struct err err;
    char *home = snap_kit_home(state);
    assert_int_equal(snap_repo_open(&first, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    buf_printf(&file, "%s/ahr.root", first.path);
    snap_kit_write(buf_str(&file), "/another");
    assert_int_equal(snap_repo_open(&twin, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_string_not_equal(first.path, twin.path);
    /* What lay before it is gone: it is found all the same. */
    assert_int_equal(snap_repo_remove(first.path), 0);
    assert_int_equal(snap_repo_open(&again, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_string_equal(again.path, twin.path);
}

static void
who_removes_waits_for_all_others(void **state)
{
    AUTO(snap_repo) one = { .lock_fd = -1 };
    AUTO(snap_repo) two = { .lock_fd = -1 };
    struct err err;
    char *home = snap_kit_home(state);
    assert_int_equal(snap_repo_open(&one, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_int_equal(snap_repo_open(&two, home, "/a", true, SNAP_ALONE, 0, &err),
                     ERR_BUSY);
    snap_repo_release(&one);
    assert_int_equal(snap_repo_open(&two, home, "/a", true, SNAP_ALONE, 0, &err), 0);
    assert_int_equal(snap_repo_open(&one, home, "/a", true, SNAP_SHARED, 20, &err),
                     ERR_BUSY);
}

/* Has that process opened the lock file? */
static bool
is_at_lock(pid_t pid)
{
    char folder[64], path[96], target[4096];
    snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof(path), "%s/%d", folder, fd);
        ssize_t n = readlink(path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = 0;
        if (strstr(target, "/" SNAP_LOCK_FILE))
            return true;
    }
    return false;
}

/* Who has waited for its lock finds no repository there, and makes another. */
static void
a_repository_that_is_removed_meanwhile_is_made_again(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    char *home = snap_kit_home(state), path[4096], byte = 0;
    struct err err;
    int ready[2];
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    snap_repo_release(&repo);
    snap_kit_path(home, "/a", path);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        int r = snap_repo_open_at(&repo, path, SNAP_ALONE, 0, &err);
        (void)!write(ready[1], "", 1);
        while (!is_at_lock(parent))
            usleep(1000);
        _exit(r || snap_repo_remove(path));
    }
    assert_int_equal(file_read(ready[0], &byte, 1), 1);
    int r = snap_repo_open(&repo, home, "/a", true, SNAP_SHARED, 10000, &err), status;
    close(ready[0]), close(ready[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(r, 0);
    AUTO(buf) file = { 0 };
    buf_printf(&file, "%s/" SNAP_LOCK_FILE, repo.path);
    assert_true(file_is_at(repo.lock_fd, buf_str(&file)));
}

/* One that works on after our death must not find its objects collected. */
static void
a_git_that_outlives_its_starter_keeps_the_lock(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    const char *const args[] = { "cat-file", "--batch", NULL };
    struct snap_git g;
    struct err err;
    char *home = snap_kit_home(state);
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    assert_int_equal(snap_git_start(&g, repo.path, args, true, -1, &err), 0);
    snap_repo_release(&repo);
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_ALONE, 0, &err),
                     ERR_BUSY);
    snap_git_kill(&g);
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_ALONE, 0, &err), 0);
}

/* Also one that neither reads nor writes. */
static void
git_ends_with_its_starter(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    struct err err;
    char *home = snap_kit_home(state);
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    snap_repo_release(&repo);
    snap_kit_write("git", "#!/bin/sh\nexec sleep 60\n");
    assert_int_equal(chmod("git", 0700), 0);
    int held[2];
    assert_int_equal(pipe(held), 0); /* no O_CLOEXEC: git has the end for writing */
    pid_t child = fork();
    if (child == 0) {
        const char *const args[] = { "cat-file", "--batch", NULL };
        char path[4096];
        struct snap_git g;
        snap_kit_path(home, "/a", path);
        close(held[0]);
        AUTO(buf) search = { 0 };
        char *here = getcwd(NULL, 0);
        buf_printf(&search, "%s:%s", here, getenv("PATH"));
        setenv("PATH", buf_str(&search), 1);
        int r = snap_git_start(&g, path, args, true, -1, &err);
        raise(SIGKILL);
        _exit(r);
    }
    close(held[1]);
    struct pollfd end = { .fd = held[0] };
    assert_int_equal(poll(&end, 1, 20000), 1); /* nobody has it any more */
    close(held[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
git_does_not_see_the_users_settings(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) out = { 0 };
    struct err err;
    char *home = snap_kit_home(state);
    snap_kit_write("evil", "[alias]\n\tmine = !false\n[user]\n\tname = evil\n");
    setenv("GIT_CONFIG_GLOBAL", "evil", 1);
    setenv("GIT_OBJECT_DIRECTORY", "/nowhere", 1);
    assert_int_equal(snap_repo_open(&repo, home, "/a", true, SNAP_SHARED, 0, &err), 0);
    const char *const args[] = { "config", "--list", NULL };
    snap_kit_git(repo.path, args, "", &out);
    assert_null(strstr(buf_str(&out), "evil"));
    char name[65];
    snap_kit_object(repo.path, "blob", "x", name);
    unsetenv("GIT_CONFIG_GLOBAL");
    unsetenv("GIT_OBJECT_DIRECTORY");
}

static void
what_git_says_is_told(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    struct err err;
    assert_int_equal(
        snap_repo_open(&repo, snap_kit_home(state), "/a", true, SNAP_SHARED, 0, &err), 0);
    const char *const args[] = { "cat-file", "-p", "nothing", NULL };
    assert_int_equal(
        snap_git_run(repo.path, args, (struct view){ 0 }, NULL, "cannot do it", &err),
        -EIO);
    assert_non_null(
        strstr(err.text, "cannot do it: git says: fatal: Not a valid object"));
}

static void
a_missing_git_is_told(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    struct err err;
    const char *search = getenv("PATH");
    char *before = strdup(search ? search : "");
    assert_int_equal(
        snap_repo_open(&repo, snap_kit_home(state), "/a", true, SNAP_SHARED, 0, &err), 0);
    const char *const args[] = { "version", NULL };
    setenv("PATH", "/nowhere", 1);
    int r = snap_git_run(repo.path, args, (struct view){ 0 }, NULL, "x", &err);
    setenv("PATH", before, 1);
    free(before);
    assert_int_equal(r, ERR_MISSING);
    assert_non_null(strstr(err.text, "there is no git"));
}

/* -- facts -- */

static void
facts_come_back_as_they_were(void **state)
{
    (void)state;
    char label[] = "a \"label\"\n\x01 ä", root[] = "/a/b c";
    struct snap_facts f = { .id = UINT64_MAX,
                            .session = SNAP_KIT_S1,
                            .is_auto = true,
                            .ts_ns = 5,
                            .anchor_byte = 0,
                            .files = 7,
                            .bytes = UINT64_C(1) << 63,
                            .skipped = 9,
                            .has_all = true,
                            .label = label,
                            .root = root };
    AUTO(snap_facts) back = { 0 };
    AUTO(buf) text = { 0 };
    AUTO(buf) again = { 0 };
    snap_facts_put(&text, &f);
    assert_int_equal(text.n, strcspn(buf_str(&text), "\n") + 1); /* one line */
    assert_int_equal(snap_facts_get(&back, (struct view){ text.p, text.n }), 0);
    assert_string_equal(back.label, label);
    snap_facts_put(&again, &back);
    assert_string_equal(buf_str(&text), buf_str(&again));
}

static void
facts_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"id\":1}",
        "{\"id\":1,\"ts_ns\":2",
        "{\"id\":-1,\"ts_ns\":2}",
        "{\"id\":1,\"ts_ns\":2,\"session\":\"../x\"}",
        "{\"id\":1,\"ts_ns\":2,\"label\":\"a\\u0000b\"}",
        "{\"id\":18446744073709551616,\"ts_ns\":2}",
    };
    struct snap_facts f;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(snap_facts_get(&f, snap_kit_view(bad[i])), ERR_DAMAGED);
    assert_int_equal(
        snap_facts_get(
            &f, snap_kit_view("{\"new\":[{}],\"id\":1,\"ts_ns\":2,\"label\":null}")),
        0);
    assert_string_equal(f.label, "");
    assert_true(f.anchor_byte == SNAP_NONE);
    snap_facts_release(&f);
}

/* -- lists -- */

static void
snapshots_are_listed_by_their_time(void **state)
{
    char *home = snap_kit_home(state);
    struct listed l;
    assert_int_equal(list(home, NULL, NULL, &l), 0);
    assert_int_equal(l.count, 0);
    snap_kit_put_plain(home, "/a", SNAP_KIT_S1, 3000);
    snap_kit_put_plain(home, "/b", SNAP_KIT_S1, 1000);
    snap_kit_put_plain(home, "/a", "", 2000);
    snap_kit_put_plain(home, "/a", SNAP_KIT_S2, 4000);
    assert_int_equal(list(home, NULL, NULL, &l), 0);
    assert_int_equal(l.count, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(l.ids[i], 1000 * (i + 1));
    assert_int_equal(list(home, SNAP_KIT_S1, NULL, &l), 0);
    assert_int_equal(l.count, 2);
    assert_int_equal(list(home, SNAP_NO_SESSION, NULL, &l), 0);
    assert_int_equal(l.count, 1);
    assert_int_equal(list(home, NULL, "/b", &l), 0);
    assert_int_equal(l.count, 1);
}

static void
a_damaged_snapshot_does_not_hide_the_others(void **state)
{
    char *home = snap_kit_home(state), path[4096], commit[65], ref[8192];
    struct listed l;
    snap_kit_put_plain(home, "/a", SNAP_KIT_S1, 1000);
    snap_kit_put_plain(home, "/a", SNAP_KIT_S1, 3000);
    snap_kit_put_plain(home, "/b", SNAP_KIT_S1, 2000);
    snap_kit_path(home, "/a", path);
    snap_kit_object(path, "blob", "no commit", commit);
    snprintf(ref, sizeof(ref), "%s/refs/ahr/" SNAP_KIT_S1 "/500", path);
    snap_kit_write(ref, commit);
    snprintf(ref, sizeof(ref), "%s/refs/ahr/" SNAP_KIT_S1 "/600", path);
    snap_kit_write(ref, "0123456789012345678901234567890123456789\n");
    assert_int_equal(list(home, NULL, NULL, &l), ERR_DAMAGED);
    assert_int_equal(l.count, 3);
    snprintf(ref, sizeof(ref), "%s/HEAD", path);
    assert_int_equal(unlink(ref), 0);
    assert_int_equal(list(home, NULL, NULL, &l), ERR_DAMAGED);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.ids[0], 2000);
}

static void
a_damaged_name_is_told(void **state)
{
    char *home = snap_kit_home(state), path[4096], ref[8192];
    struct listed l;
    snap_kit_put_plain(home, "/a", SNAP_KIT_S1, 1000);
    snap_kit_path(home, "/a", path);
    snprintf(ref, sizeof(ref), "%s/refs/ahr/" SNAP_KIT_S1 "/600.lock", path);
    snap_kit_write(ref, "");
    assert_int_equal(list(home, NULL, NULL, &l), 0); /* somebody is at work */
    snprintf(ref, sizeof(ref), "%s/refs/ahr/" SNAP_KIT_S1 "/600", path);
    snap_kit_write(ref, "");
    assert_int_equal(list(home, NULL, NULL, &l), ERR_DAMAGED);
    assert_int_equal(l.count, 1);
}

static int
find(const char *home, const char *here, const char *what, uint64_t *ret)
{
    struct snap_found f = { .repo.lock_fd = -1 };
    struct err err;
    int r = snap_find(&f, home, here, what, &err);
    *ret = r ? 0 : f.facts.id;
    if (!r)
        snap_found_release(&f);
    return r;
}

static void
a_snapshot_is_found_by_what_it_is_called(void **state)
{
    char *home = snap_kit_home(state), label[] = "before it";
    struct snap_facts f = { .id = 123456, .ts_ns = 1, .label = label };
    uint64_t id;
    snap_kit_put(home, "/a", &f, "");
    snap_kit_put_plain(home, "/a", "", 123999);
    snap_kit_put_plain(home, "/b", "", 123777);
    assert_int_equal(find(home, NULL, "123456", &id), 0);
    assert_int_equal(find(home, NULL, "1234", &id), 0);
    assert_int_equal(id, 123456);
    assert_int_equal(find(home, NULL, "before it", &id), 0);
    assert_int_equal(id, 123456);
    assert_int_equal(find(home, NULL, "before", &id), ERR_MISSING);
    assert_int_equal(find(home, NULL, "123", &id), ERR_MISSING); /* too short */
    assert_int_equal(find(home, NULL, "", &id), ERR_MISSING);
    assert_int_equal(find(home, NULL, "last", &id), 0);
    assert_int_equal(id, 123999);
    assert_int_equal(find(home, "/b", "last", &id), 0);
    assert_int_equal(id, 123777);
    assert_int_equal(find(home, "/c", "last", &id), 0);
    assert_int_equal(id, 123999);
}

static void
a_name_that_fits_several_is_refused(void **state)
{
    char *home = snap_kit_home(state);
    uint64_t id;
    snap_kit_put_plain(home, "/a", "", 123456);
    snap_kit_put_plain(home, "/a", "", 123499);
    snap_kit_put_plain(home, "/a", "", 1234);
    snap_kit_put_plain(home, "/b", "", 123488);
    assert_int_equal(find(home, NULL, "12345", &id), 0);
    assert_int_equal(find(home, NULL, "12348", &id), 0);
    assert_int_equal(find(home, NULL, "1234", &id), 0); /* the whole of one */
    assert_int_equal(id, 1234);
    snap_kit_put_plain(home, "/a", "", 123498);
    assert_int_equal(find(home, NULL, "12349", &id), ERR_USAGE);
    assert_int_equal(find(home, "/b", "1234", &id), 0); /* those of here come first */
    assert_int_equal(id, 123488);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(the_root_is_the_work_tree_around_a_folder),
        KIT_IN_DIR(the_root_is_the_folder_itself_without_a_work_tree),
        KIT_IN_DIR(a_git_file_leads_to_its_repository),
        KIT_IN_DIR(a_root_that_is_not_there_is_told),
        KIT_IN_DIR(a_repository_is_made_once_and_found_again),
        KIT_IN_DIR(two_roots_of_one_hash_have_two_repositories),
        KIT_IN_DIR(who_removes_waits_for_all_others),
        KIT_IN_DIR(a_repository_that_is_removed_meanwhile_is_made_again),
        KIT_IN_DIR(a_git_that_outlives_its_starter_keeps_the_lock),
        KIT_IN_DIR(git_ends_with_its_starter),
        KIT_IN_DIR(git_does_not_see_the_users_settings),
        KIT_IN_DIR(what_git_says_is_told),
        KIT_IN_DIR(a_missing_git_is_told),
        KIT_IN_DIR(facts_come_back_as_they_were),
        KIT_IN_DIR(facts_that_are_none_are_refused),
        KIT_IN_DIR(snapshots_are_listed_by_their_time),
        KIT_IN_DIR(a_damaged_snapshot_does_not_hide_the_others),
        KIT_IN_DIR(a_damaged_name_is_told),
        KIT_IN_DIR(a_snapshot_is_found_by_what_it_is_called),
        KIT_IN_DIR(a_name_that_fits_several_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
