/* SPDX-License-Identifier: MIT */
#include "cli/fs_found.h"

#include <limits.h>

#include "session/home.h"
#include "snap/root.h"

int
cli_fs_find(struct snap_found *ret, const char *what, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) here = { .ceiling = PATH_MAX };
    struct err ignored;
    bool is_somewhere = snap_root(&here, ".", &ignored) == 0;
    int r = session_home(&home, err);
    if (r < 0)
        return r;
    return snap_find(ret, buf_str(&home), is_somewhere ? buf_str(&here) : NULL, what,
                     err);
}
