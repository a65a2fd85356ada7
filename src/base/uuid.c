/* SPDX-License-Identifier: MIT */
#include "base/uuid.h"

#include <errno.h>
#include <sys/random.h>

int
uuid_make(uint8_t ret_id[16])
{
    if (getrandom(ret_id, 16, 0) != 16)
        return -errno;
    ret_id[6] = (uint8_t)((ret_id[6] & 0x0f) | 0x40);
    ret_id[8] = (uint8_t)((ret_id[8] & 0x3f) | 0x80);
    return 0;
}
