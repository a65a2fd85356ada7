/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include <errno.h>

int
num_parse(struct view text, uint64_t max, uint64_t *ret)
{
    uint64_t v = 0;
    if (!text.n)
        return -EINVAL;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -EINVAL;
        uint64_t digit = (uint64_t)(text.p[i] - '0');
        if (v > (max - digit) / 10 || digit > max)
            return -ERANGE;
        v = v * 10 + digit;
    }
    *ret = v;
    return 0;
}
