/* SPDX-License-Identifier: MIT */
#include "cli/wired.h"

#include <unistd.h>

#include "base/file.h"
#include "calls/upstreams.h"

enum { CA_BYTES_MAX = 16 << 20 };

/* What is not read at the start is found out by the first request: too late. */
static int
check_ca(const char *path, struct err *err)
{
    static const char begin[] = "-----BEGIN ", what[] = "CERTIFICATE-----";
    AUTO(buf) text = { .ceiling = CA_BYTES_MAX };
    int r = file_slurp(path, &text);
    if (r < 0)
        return err_code(err, r, "--upstream-ca: cannot read '%s'", path);
    if (!text.n || !memmem(text.p, text.n, begin, sizeof(begin) - 1) ||
        !memmem(text.p, text.n, what, sizeof(what) - 1))
        return err_set(err, ERR_USAGE,
                       "--upstream-ca: '%s' holds no certificate; it must be PEM", path);
    return 0;
}

int
cli_wired_check(const struct cli_wired *w, struct err *err)
{
    struct calls_upstreams u;
    if (!w->is_on) /* what is told may be another command's setting */
        return 0;
    int r = w->ca_file ? check_ca(w->ca_file, err) : 0;
    if (!r)
        r = calls_upstreams_init(&u, environ, w->upstream, NULL, err);
    if (!r)
        calls_upstreams_release(&u);
    return r;
}
