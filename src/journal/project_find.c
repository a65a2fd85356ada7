/* SPDX-License-Identifier: MIT */
/* project_find.c -- a run by its name, in the project around a folder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/file_priv.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "journal/project_priv.h"
#include "session/id.h"

/* Is there such a run in the project at root? base is the folder's name. */
static bool
has_run(const char *root, const char *name, const char **ret_base)
{
    int fds[4] = { open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1, -1, -1 };
    const char *base = fds[0] < 0 ? "" : journal_runs_base(fds[0]);
    const char *parts[] = { base, "sessions", name };
    size_t depth = 0;
    while (fds[depth] >= 0 && depth < 3) {
        fds[depth + 1] = journal_file_folder(fds[depth], parts[depth], NULL);
        depth++;
    }
    bool has = fds[3] >= 0;
    for (size_t i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *ret_base = base;
    return has;
}

static void
put_id(const char *dir, struct buf *ret)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/metadata.json", dir);
    if (journal_metadata_read(buf_str(&path), &told, NULL) == 0 && told.id &&
        session_id_is(told.id))
        buf_puts(ret, told.id);
}

int
journal_project_find(const char *cwd, const char *name, struct buf *ret_dir,
                     struct buf *ret_id)
{
    AUTO(buf) dir = { 0 };
    char root[PATH_MAX];
    const char *base;
    if (!session_name_is(name))
        return 0;
    if (!realpath(cwd, root))
        return -errno;
    while (!has_run(root, name, &base)) {
        char *slash = strrchr(root, '/');
        if (!slash || !slash[1])
            return 0;
        slash[slash == root] = 0;
    }
    buf_printf(&dir, "%s/%s/sessions/%s", strcmp(root, "/") ? root : "", base, name);
    put_id(buf_str(&dir), ret_id);
    int r = buf_append(ret_dir, dir.p, dir.n);
    return r < 0 ? r : 1;
}
