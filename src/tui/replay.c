/* SPDX-License-Identifier: MIT */
#include "tui/replay.h"

#include <errno.h>

int
tui_replay(const struct tui_replay *opt, struct err *err)
{
    (void)opt;
    return err_code(err, -ENOTSUP, "cannot play on a terminal yet");
}
