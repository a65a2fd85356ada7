/* SPDX-License-Identifier: MIT */
/* crc32c.h -- CRC-32C (Castagnoli), by the CPU's instruction where there is one. */
#ifndef TAPE_CRC32C_H
#define TAPE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Start with crc = 0; feed the result back in to go on. */
uint32_t tape_crc32c(uint32_t crc, const void *p, size_t n);
/* The table version of the same, for tests and other machines. */
uint32_t tape_crc32c_table(uint32_t crc, const void *p, size_t n);

#endif
