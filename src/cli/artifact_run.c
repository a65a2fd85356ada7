/* SPDX-License-Identifier: MIT */
#include "cli/artifact_run.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/project.h"
#include "session/home.h"
#include "session/id.h"

static bool
is_run(const char *dir)
{
    char path[PATH_MAX];
    return dir && *dir == '/' &&
           snprintf(path, sizeof(path), "%s/metadata.json", dir) < (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

/* Where the library says that the run keeps its files: in <home>/<kind>/<id>/project. */
static bool
find_by_id(const char *home, const char *id, struct buf *ret)
{
    static const char *const kinds[] = { "live", "sessions" };
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) path = { 0 };
        AUTO(buf) dir = { .ceiling = 128 << 10 };
        buf_printf(&path, "%s/%s/%s/project", home, kinds[i], id);
        if (file_slurp(buf_str(&path), &dir) < 0)
            continue;
        while (dir.n && dir.p[dir.n - 1] == '\n')
            dir.n--;
        if (is_run(buf_str(&dir)))
            return buf_append(ret, dir.p, dir.n) == 0;
    }
    return false;
}

int
cli_artifact_run(const char *session, struct buf *ret_dir, struct err *err)
{
    AUTO(buf) home = { 0 };
    AUTO(buf) id = { 0 };
    const char *around = getenv("AHR_SESSION"), *dir = getenv("AHR_RUN_DIR");
    if (!session || !*session)
        return err_set(err, ERR_USAGE, "no run around this: give --session NAME");
    if (around && !strcmp(session, around) && is_run(dir))
        return buf_puts(ret_dir, dir);
    if (session_id_is(session)) {
        int r = session_home(&home, err);
        if (r < 0)
            return r;
        if (find_by_id(buf_str(&home), session, ret_dir))
            return 0;
        return err_set(err, ERR_MISSING, "session '%s' has no run in a project", session);
    }
    int r = journal_project_find(".", session, ret_dir, &id);
    if (r < 0)
        return err_code(err, r, "cannot look for a run in the current folder");
    return r ? 0
             : err_set(err, ERR_MISSING, "no run '%s' in the project around this folder",
                       session);
}
