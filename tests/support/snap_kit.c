/* SPDX-License-Identifier: MIT */
#include "support/snap_kit.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/file.h"
#include "snap/git_priv.h"
#include "snap/repo.h"
#include "support/kit.h"

struct view
snap_kit_view(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

bool
snap_kit_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

void
snap_kit_write(const char *path, const char *text)
{
    struct err err;
    assert_int_equal(file_replace(path, snap_kit_view(text), false, &err), 0);
}

char *
snap_kit_home(void **state)
{
    static char home[4096];
    snprintf(home, sizeof(home), "%s/home", (char *)*state);
    return home;
}

void
snap_kit_git(const char *repo_path, const char *const *args, const char *input,
             struct buf *out)
{
    struct err err = { 0 };
    int r = snap_git_run(repo_path, args, snap_kit_view(input), out, "test", &err);
    if (r < 0)
        fail_msg("%s", err.text);
}

bool
snap_kit_is_sound(const char *repo_path)
{
    const char *const args[] = { "fsck", "--full", "--strict", NULL };
    struct err err;
    return snap_git_run(repo_path, args, (struct view){ 0 }, NULL, "test", &err) == 0;
}

void
snap_kit_object(const char *repo_path, const char *type, const char *text, char ret[65])
{
    const char *const args[] = { "hash-object", "-t", type, "-w", "--stdin", NULL };
    AUTO(buf) out = { 0 };
    snap_kit_git(repo_path, args, text, &out);
    snprintf(ret, 65, "%.*s", (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
}

void
snap_kit_put(const char *home, const char *root, const struct snap_facts *f,
             const char *bytes)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    AUTO(buf) text = { 0 };
    AUTO(buf) out = { 0 };
    struct err err;
    char blob[65], tree[65], commit[65], ref[200];
    assert_int_equal(snap_repo_open(&repo, home, root, true, SNAP_SHARED, 0, &err), 0);
    snap_kit_object(repo.path, "blob", bytes, blob);
    buf_printf(&text, "100644 blob %s\textra\n", blob);
    snap_kit_git(repo.path, (const char *const[]){ "mktree", NULL }, buf_str(&text),
                 &out);
    snprintf(tree, sizeof(tree), "%.*s", (int)strcspn(buf_str(&out), "\n"),
             buf_str(&out));
    buf_clear(&text);
    buf_printf(&text,
               "tree %s\nauthor ahr <ahr> 1 +0000\ncommitter ahr <ahr> 1 +0000\n\n",
               tree);
    snap_facts_put(&text, f);
    snap_kit_object(repo.path, "commit", buf_str(&text), commit);
    snprintf(ref, sizeof(ref), "refs/ahr/%s/%" PRIu64,
             *f->session ? f->session : SNAP_NO_SESSION, f->id);
    snap_kit_git(repo.path, (const char *const[]){ "update-ref", ref, commit, NULL }, "",
                 NULL);
}

void
snap_kit_put_plain(const char *home, const char *root, const char *session, uint64_t id)
{
    struct snap_facts f = { .id = id, .ts_ns = id, .anchor_byte = SNAP_NONE };
    char bytes[32], label[] = "";
    f.label = label;
    snprintf(f.session, sizeof(f.session), "%s", session);
    snprintf(bytes, sizeof(bytes), "%" PRIu64, id);
    snap_kit_put(home, root, &f, bytes);
}

void
snap_kit_path(const char *home, const char *root, char ret[4096])
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    struct err err;
    assert_int_equal(snap_repo_open(&repo, home, root, false, SNAP_SHARED, 0, &err), 0);
    snprintf(ret, 4096, "%s", repo.path);
}
