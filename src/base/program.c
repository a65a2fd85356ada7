/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/file.h"

int
program_find(const char *name, struct buf *ret)
{
    static const char *const places[] = { "", "../libexec/ahr/", "../../bin/" };
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    size_t before = ret->n;
    self[n > 0 ? n : 0] = 0;
    for (size_t i = 0; n > 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        ret->n = before;
        buf_printf(ret, "%.*s/%s%s", (int)file_dir_len(self), self, places[i], name);
        if (access(buf_str(ret) + before, X_OK) == 0)
            return ret->failed;
    }
    ret->n = before;
    return buf_printf(ret, AHR_LIBEXECDIR "/%s", name);
}
