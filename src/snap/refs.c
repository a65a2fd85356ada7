/* SPDX-License-Identifier: MIT */
#include "snap/refs_priv.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "snap/git_priv.h"
#include "snap/repo_priv.h"

int
snap_refs(const char *repo_path, const char *below, struct buf *ret, struct err *err)
{
    const char *const args[] = { "for-each-ref", "--format=%(objectname) %(refname)",
                                 below, NULL };
    return snap_git_run(repo_path, args, (struct view){ 0 }, ret,
                        "cannot list the snapshots", err);
}

bool
snap_refs_line(struct view *rest, struct view *ret)
{
    if (!rest->n)
        return false;
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *ret = (struct view){ rest->p, n };
    rest->p += n + !!end;
    rest->n -= n + !!end;
    return true;
}

/* Takes what stands before the byte off *rest, and the byte. */
static bool
take_word(struct view *rest, char byte, struct view *ret)
{
    const uint8_t *end = rest->n ? memchr(rest->p, byte, rest->n) : NULL;
    if (!end)
        return false;
    *ret = (struct view){ rest->p, (size_t)(end - rest->p) };
    rest->n -= ret->n + 1;
    rest->p = end + 1;
    return true;
}

static bool
copy_word(char *ret, size_t max, struct view word)
{
    if (!word.n || word.n > max || memchr(word.p, 0, word.n))
        return false;
    memcpy(ret, word.p, word.n);
    ret[word.n] = 0;
    return true;
}

/* <commit> refs/ahr/<session>/<id> */
static bool
parse(struct view line, struct snap_ref *ret)
{
    struct view commit, session;
    size_t n = strlen(SNAP_REFS);
    if (!take_word(&line, ' ', &commit) || line.n < n ||
        memcmp(line.p, SNAP_REFS, n) != 0)
        return false;
    ret->name = line;
    struct view rest = { line.p + n, line.n - n };
    return take_word(&rest, '/', &session) &&
           num_parse(rest, UINT64_MAX, &ret->id) == 0 &&
           copy_word(ret->commit, SNAP_COMMIT_MAX, commit) &&
           copy_word(ret->session, SNAP_SESSION_MAX, session);
}

bool
snap_ref_next(struct view *rest, struct snap_ref *ret)
{
    struct view line;
    while (snap_refs_line(rest, &line))
        if (parse(line, ret))
            return true;
    return false;
}

/* As a folder of single ones, or in the file that has many. */
bool
snap_refs_has(const char *repo_path, const char *session)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) packed = { 0 };
    AUTO(buf) below = { 0 };
    buf_printf(&path, "%s/" SNAP_REFS "%s", repo_path, session);
    buf_printf(&below, " " SNAP_REFS "%s/", session);
    if (path.failed || below.failed || access(buf_str(&path), F_OK) == 0)
        return true;
    buf_clear(&path);
    buf_printf(&path, "%s/packed-refs", repo_path);
    int r = file_slurp(buf_str(&path), &packed);
    return r < 0 ? r != -ENOENT
                 : packed.n && memmem(packed.p, packed.n, below.p, below.n);
}

int
snap_refs_remove(const char *repo_path, struct view refs, struct err *err)
{
    const char *const args[] = { "update-ref", "--stdin", NULL };
    AUTO(buf) orders = { 0 };
    struct view line, commit;
    while (snap_refs_line(&refs, &line))
        if (take_word(&line, ' ', &commit))
            buf_printf(&orders, "delete %.*s\n", (int)line.n, (const char *)line.p);
    if (orders.failed)
        return err_code(err, orders.failed, "cannot remove snapshots");
    if (!orders.n)
        return 0;
    /* First, in case that we are killed in between. */
    int r = snap_repo_mark(repo_path, SNAP_COLLECT_FILE);
    if (r < 0)
        return err_code(err, r, "cannot write '%s/" SNAP_COLLECT_FILE "'", repo_path);
    return snap_git_run(repo_path, args, (struct view){ orders.p, orders.n }, NULL,
                        "cannot remove snapshots", err);
}
