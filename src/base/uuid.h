/* SPDX-License-Identifier: MIT */
/* uuid.h -- random (version 4) UUIDs as 16 bytes. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdint.h>

int uuid_make(uint8_t ret_id[16]);

#endif
