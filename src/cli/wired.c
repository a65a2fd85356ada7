/* SPDX-License-Identifier: MIT */
#include "cli/wired.h"

#include <unistd.h>

#include "calls/upstreams.h"

int
cli_wired_check(const struct cli_wired *w, struct err *err)
{
    struct calls_upstreams u;
    if (!w->is_on && (w->upstream || w->ca_file)) /* settings of another command's */
        return 0;
    if (w->ca_file && access(w->ca_file, R_OK) < 0)
        return err_sys(err, "--upstream-ca: cannot read '%s'", w->ca_file);
    int r = w->is_on ? calls_upstreams_init(&u, environ, w->upstream, NULL, err) : 0;
    if (w->is_on && !r)
        calls_upstreams_release(&u);
    return r;
}
