/* SPDX-License-Identifier: MIT */
/* What is read of any bytes is read again from what it is written as; reading takes
 * nothing from behind the bytes, and ends. */
#include "fuzz/fuzz.h"
#include "snap/extra_priv.h"

static bool
is_same(const struct snap_extra_item *a, const struct snap_extra_item *b)
{
    return a->is_empty_dir == b->is_empty_dir && a->mode == b->mode &&
           strcmp(a->path, b->path) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) again = { 0 };
    struct view rest = { data, size };
    struct snap_extra x, y;
    struct snap_extra_item i, j;
    if (snap_extra_head(&x, &rest) < 0)
        return 0;
    CHECK(x.file_mode <= 0777 && x.exec_mode <= 0777 && x.dir_mode <= 0777);
    struct view items = rest;
    snap_extra_begin(&again, &x);
    int r;
    while ((r = snap_extra_next(&rest, &i)) > 0) {
        CHECK(rest.p + rest.n == data + size && i.mode <= 0777);
        snap_extra_put(&again, &i);
    }
    CHECK(r == 0 || r == ERR_DAMAGED);
    struct view second = { again.p, again.n };
    CHECK(!again.failed && snap_extra_head(&y, &second) == 0);
    CHECK(x.file_mode == y.file_mode && x.exec_mode == y.exec_mode &&
          x.dir_mode == y.dir_mode);
    while (snap_extra_next(&second, &j) > 0)
        CHECK(snap_extra_next(&items, &i) > 0 && is_same(&i, &j));
    CHECK(second.n == 0 && snap_extra_next(&items, &i) <= 0);
    return 0;
}
