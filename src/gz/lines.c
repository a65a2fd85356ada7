/* SPDX-License-Identifier: MIT */
#include "gz/lines.h"

#include <errno.h>
#include <fcntl.h>

#include "gz/read.h"

enum { CHUNK = 64 << 10 };

/* What stands before damage is read to its last line, which the damage has torn. */
static int
read_all(struct gz *g, struct jsonl *lines, bool is_growing)
{
    AUTO(buf) chunk = { 0 };
    ssize_t n = 0;
    int r = buf_reserve(&chunk, CHUNK);
    while (!r && (n = gz_read(g, chunk.p, CHUNK)) > 0)
        r = jsonl_feed(lines, (struct view){ chunk.p, (size_t)n });
    if (!r && !is_growing)
        r = jsonl_end(lines);
    return r < 0 ? r : (int)n;
}

int
gz_lines_read(const char *path, struct jsonl *lines, bool is_growing, struct err *err)
{
    struct gz *g = NULL;
    int r = gz_open(&g, AT_FDCWD, path);
    if (r < 0)
        return err_code(err, r == -ENOENT ? ERR_MISSING : r, "cannot open '%s'", path);
    r = read_all(g, lines, is_growing);
    bool is_packed = gz_is_packed(g);
    gz_close(g);
    if (r == ERR_DAMAGED && is_packed)
        return err_set(err, r, "'%s" GZ_SUFFIX "' is damaged: not all of it can be read",
                       path);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}
