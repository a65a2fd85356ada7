/* SPDX-License-Identifier: MIT */
#include "session/home.h"

#include <limits.h>
#include <unistd.h>

static int
put_given(struct buf *ret, const char *given, struct err *err)
{
    char here[PATH_MAX];
    if (*given == '/')
        return buf_puts(ret, given);
    if (!getcwd(here, sizeof(here)))
        return err_sys(err, "cannot tell where '%s' is", given);
    return buf_printf(ret, "%s/%s", here, given);
}

int
session_home(struct buf *ret, struct err *err)
{
    const char *given = getenv("AHR_HOME"), *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    int r;
    if (given && *given)
        r = put_given(ret, given, err);
    else if (data && *data == '/')
        r = buf_printf(ret, "%s/ahr", data);
    else if (home && *home == '/')
        r = buf_printf(ret, "%s/.local/share/ahr", home);
    else
        r = err_set(err, ERR_MISSING,
                    "nowhere to keep sessions: set HOME, or AHR_HOME, to a folder");
    if (ret->failed)
        return err_code(err, ret->failed, "cannot tell where sessions are kept");
    return r;
}
