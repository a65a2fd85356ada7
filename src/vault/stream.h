/* SPDX-License-Identifier: MIT */
/*
 * stream.h -- bytes into a vault, and out of it.
 *
 * Behind the head come chunks, all of one size but the last, each bound to those before
 * it: what is changed, cut off, taken out, put in or put elsewhere is refused at that
 * chunk, and bytes of it are never handed out. Only the last one says that it is the
 * last: up to it, what was handed out may be the beginning of more.
 */
#ifndef VAULT_STREAM_H
#define VAULT_STREAM_H

#include "vault/keys.h"

struct vault_writer;
/* fd stays the caller's. The head is written. */
int vault_writer_open(struct vault_writer **ret, int fd, struct vault_keys *keys,
                      struct err *err);
/* 0 or -errno. */
int vault_write(struct vault_writer *w, const void *p, size_t n);
/* The last chunk; before this the vault is nothing. Nothing is synced. */
int vault_writer_end(struct vault_writer *w);
void vault_writer_free(struct vault_writer *w);

struct vault_reader;
/* From where fd stands, and fd stays the caller's. Messages say what is wrong with "it".
 * ERR_DAMAGED and the like as vault_head_parse(); -EACCES: the key does not fit. */
int vault_reader_open(struct vault_reader **ret, int fd, struct vault_keys *keys,
                      struct err *err);
/* The next bytes, up to the next call: 1; 0: that was all, and nothing is behind it.
 * ERR_DAMAGED: what comes is not what was written. */
int vault_read(struct vault_reader *r, struct view *ret, struct err *err);
void vault_reader_free(struct vault_reader *r);

#endif
