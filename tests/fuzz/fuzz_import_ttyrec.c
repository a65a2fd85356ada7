/* SPDX-License-Identifier: MIT */
/* Any file as a ttyrec file, cut in any way. */
#include "fuzz/fuzz.h"
#include "fuzz/import_input.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view files[PLAY_IMPORT_SOURCES] = { { data ? data : (const uint8_t *)"",
                                                 size } };
    (void)play_import_guess(files[0]);
    import_check(&play_import_ttyrec, files);
    return 0;
}
