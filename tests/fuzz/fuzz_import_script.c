/* SPDX-License-Identifier: MIT */
/* Any files as a typescript, its times and what was typed, cut in any way. The input is
 * two lengths of two bytes, of the typescript and of the timing file; then the three. */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "fuzz/import_input.h"

static struct view
take(struct view *in, size_t n)
{
    struct view v = { in->p, n < in->n ? n : in->n };
    in->p += v.n;
    in->n -= v.n;
    return v;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size }, files[PLAY_IMPORT_SOURCES];
    if (size < 4)
        return 0;
    struct view lengths = take(&in, 4);
    files[PLAY_IMPORT_FILE] = take(&in, get_le16(lengths.p));
    files[PLAY_IMPORT_TIMING] = take(&in, get_le16(lengths.p + 2));
    files[PLAY_IMPORT_TYPED] = in.n ? in : (struct view){ 0 };
    import_check(&play_import_script, files);
    return 0;
}
