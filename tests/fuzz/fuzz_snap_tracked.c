/* SPDX-License-Identifier: MIT */
/* Whatever the bytes, the paths that were found ascend, each is found again and so is
 * each folder above it, and what lies between two of them is not. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "snap/tracked_priv.h"

static void
check_path(const struct snap_tracked *t, const char *path, const char *next)
{
    AUTO(buf) other = { 0 };
    CHECK(*path && snap_tracked_has(t, path));
    for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        buf_clear(&other);
        buf_append(&other, path, (size_t)(s - path));
        CHECK(snap_tracked_below(t, buf_str(&other)));
    }
    buf_clear(&other);
    buf_printf(&other, "%s\x01", path); /* nothing comes before it but the path */
    CHECK(!next || strcmp(path, next) < 0);
    CHECK(snap_tracked_has(t, buf_str(&other)) ==
          (next && !strcmp(buf_str(&other), next)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(snap_tracked) t = { 0 };
    int r = snap_tracked_parse(&t, (struct view){ data, size });
    CHECK(r == 0 || r == ERR_DAMAGED);
    const char *path;
    for (size_t i = 0; (path = snap_tracked_at(&t, i)); i++)
        check_path(&t, path, snap_tracked_at(&t, i + 1));
    return 0;
}
