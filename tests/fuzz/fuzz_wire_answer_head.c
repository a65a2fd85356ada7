/* SPDX-License-Identifier: MIT */
/* Whatever an upstream's head says: what is passed on tells one length at most, a plain
 * number and never beside chunks; and all of it is borrowed from the head. */
#include <strings.h>

#include "fuzz/fuzz.h"
#include "wire/answer_head.h"

static void
check_inside(struct view v, struct view in)
{
    CHECK(!v.n || (v.p >= in.p && v.p + v.n <= in.p + in.n));
    CHECK(!v.n || !memchr(" \t\r\n", v.p[0], 4));
    CHECK(!v.n || !memchr(" \t\r\n", v.p[v.n - 1], 4));
}

static bool
is_called(struct view v, const char *name)
{
    return v.n == strlen(name) && !strncasecmp((const char *)v.p, name, v.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_answer_head h;
    const char *why = NULL;
    size_t lengths = 0, codings = 0;
    uint8_t *own = malloc(size ? size : 1); /* a sanitizer sees who reads behind it */
    CHECK(own);
    if (size)
        memcpy(own, data, size);
    struct view in = { own, size };
    int r = wire_answer_head_read(in, &h, &why);
    CHECK(r == 0 || (r == ERR_DAMAGED && why));
    for (size_t i = 0; r == 0 && i < h.count; i++) {
        struct view value = h.headers[i].value;
        check_inside(h.headers[i].name, in);
        check_inside(value, in);
        codings += is_called(h.headers[i].name, "transfer-encoding");
        if (!is_called(h.headers[i].name, "content-length"))
            continue;
        lengths++;
        CHECK(value.n);
        for (size_t k = 0; k < value.n; k++)
            CHECK(value.p[k] >= '0' && value.p[k] <= '9');
    }
    CHECK(lengths <= 1 && (!lengths || !codings));
    free(own);
    return 0;
}
