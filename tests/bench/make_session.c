/* SPDX-License-Identifier: MIT */
/* make_session FILE.ahr MIB: the recording that bench_export.py reads. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "support/long_session.h"

int
main(int argc, char **argv)
{
    uint64_t mib;
    struct err err = { .text = "usage: make_session FILE.ahr MIB" };
    if (argc == 3 &&
        num_parse((struct view){ (const uint8_t *)argv[2], strlen(argv[2]) }, 1 << 20,
                  &mib) == 0 &&
        long_session_make(argv[1], mib, &err) >= 0)
        return 0;
    fprintf(stderr, "make_session: %s\n", err.text);
    return 1;
}
