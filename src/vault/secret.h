/* SPDX-License-Identifier: MIT */
/*
 * secret.h -- bytes that nobody is to find: in memory that is not swapped out and in no
 * core file, where the system lets us, and wiped when they are let go.
 */
#ifndef VAULT_SECRET_H
#define VAULT_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Zeroed it is ready for use. */
struct vault_secret {
    uint8_t *p;
    size_t n, cap;
};

/* Room for cap bytes; -ENOMEM. */
int vault_secret_init(struct vault_secret *s, size_t cap);
void vault_secret_release(struct vault_secret *s);
/* The first line of what fd has to read, without its end, and up to it no byte is kept
 * elsewhere. What is behind it may have been read, too. ERR_LIMIT: it is longer than
 * there is room. */
int vault_secret_read_line(struct vault_secret *s, int fd);
/* Keeps of what is there the first line alone, without its end. */
void vault_secret_cut_line(struct vault_secret *s);

#endif
