/* SPDX-License-Identifier: MIT */
#include "library/entire.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/entire.h"
#include "library/runs.h"
#include "session/folder.h"
#include "session/id.h"
#include "session/meta.h"

/* "<root>/.ahr/sessions/NAME" */
enum { PARTS_BELOW_ROOT = 3 };

static int
put_around(const char *run, struct buf *ret)
{
    size_t n = strlen(run);
    for (int i = 0; i < PARTS_BELOW_ROOT; i++) {
        const char *slash = memrchr(run, '/', n);
        n = slash ? (size_t)(slash - run) : 0;
    }
    return n ? buf_append(ret, run, n) : buf_puts(ret, "/");
}

/* Is it a run that writes there? A session that was made of what Entire keeps may have
 * the very name of that folder, whose files are none of ours. Of one that has lost its
 * facts a file `project` says that it is a run. */
static bool
is_writer(int meta_read, const struct session_told *told, const struct buf *run)
{
    if (meta_read < 0)
        return run->n;
    return told->entire && !(told->kind && !strcmp(told->kind, "import"));
}

/* A name that was used again has another's files now, in the same project. */
int
library_entire_root(const char *dir, struct buf *ret)
{
    AUTO(session_told) told = { 0 };
    AUTO(buf) meta = { .ceiling = PATH_MAX };
    AUTO(buf) run = { .ceiling = PATH_MAX };
    int r = buf_printf(&meta, "%s/session." SESSION_META, dir);
    if (!r)
        r = library_project_of(dir, buf_str(&meta), &run);
    if (r < 0)
        return r;
    int read = session_meta_tell(buf_str(&meta), &told, NULL);
    if (!is_writer(read, &told, &run))
        return 0;
    if (run.n)
        return put_around(buf_str(&run), ret);
    if (told.project && library_project_is(told.project))
        return put_around(told.project, ret);
    return told.cwd && *told.cwd == '/' ? buf_puts(ret, told.cwd) : 0;
}

static bool
has_any(int fd)
{
    struct stat st;
    for (size_t i = 0; i < JOURNAL_ENTIRE_FILES; i++)
        if (fstatat(fd, journal_entire_files[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    return false;
}

bool
library_entire_find(const char *home, const char *id, struct buf *ret)
{
    static const char *const places[] = { "sessions", "live" };
    AUTO(buf) root = { .ceiling = PATH_MAX };
    for (size_t i = 0; !root.n && i < sizeof(places) / sizeof(places[0]); i++) {
        AUTO(buf) dir = { .ceiling = PATH_MAX };
        if (buf_printf(&dir, "%s/%s/%s", home, places[i], id) == 0)
            (void)library_entire_root(buf_str(&dir), &root);
    }
    if (!root.n || !session_id_is(id))
        return false;
    int fd = journal_entire_find(buf_str(&root), id);
    bool is_there = fd >= 0 && has_any(fd);
    if (fd >= 0)
        close(fd);
    return is_there && buf_printf(ret, "%s/.entire/metadata/%s", buf_str(&root), id) == 0;
}

int
library_entire_remove(const char *dir, const char *id, struct err *err)
{
    AUTO(buf) root = { .ceiling = PATH_MAX };
    int r = session_id_is(id) ? library_entire_root(dir, &root) : 0;
    if (r < 0)
        return err_code(err, r, "cannot tell where the project of session '%s' is", id);
    return root.n ? journal_entire_remove(buf_str(&root), id, err) : 0;
}
