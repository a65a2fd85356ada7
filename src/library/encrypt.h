/* SPDX-License-Identifier: MIT */
/*
 * encrypt.h -- stored sessions locked away, and brought back (doc/vault.md).
 *
 * All of a session's files, and of a run those in its project, become one vault in its
 * folder; a few facts that tell nothing stay beside it. The folder with the vault takes
 * the place of the other in one step, and so it is on the way back: killed at any point,
 * the session is there, readable or locked, and to call it again ends the work.
 *
 * Bytes that were on the disk are freed, not overwritten. Snapshots of files are not part
 * of it.
 */
#ifndef LIBRARY_ENCRYPT_H
#define LIBRARY_ENCRYPT_H

#include "redact/redact.h"
#include "tape/reader.h"
#include "vault/keys.h"
#include "vault/pack.h"

struct library_vault {
    struct vault_keys *keys;
    struct redact *redact; /* decrypt: for the index */
    const struct tape_progress *progress;
    bool is_dry_run;         /* nothing is changed, and encrypt needs no keys */
    bool is_without_project; /* decrypt: what belongs to the project stays locked */
    void (*tell)(void *ctx, const char *text);             /* what a person should know */
    void (*entry)(void *ctx, const struct vault_entry *e); /* each; may be NULL */
    void *ctx;
};

/* Zeroed it is ready for use. */
struct library_vaulted {
    uint64_t files, bytes; /* that went in, or came out */
    uint64_t snapshots;    /* of files, which stay as they are */
    bool is_already;    /* there was nothing to do, or only what a killed one had left */
    struct buf project; /* of a run: its folder in its project; empty: none */
};

void library_vaulted_release(struct library_vaulted *v);

/*
 * ERR_BUSY: it is being recorded or worked on; ERR_DAMAGED: the library cannot be read.
 * One whose recorder has vanished is recovered first. Where a run's files of an earlier
 * call are left in its project, they go if they are what the vault holds, which takes its
 * keys. Behind the last of them library_encrypt_end() is to be called.
 */
int library_encrypt(const char *home, const char *id, const struct library_vault *opt,
                    struct library_vaulted *ret, struct err *err);
/* Nothing of what was encrypted is left in the library's file either. */
int library_encrypt_end(const char *home, struct err *err);

/* Of an encrypted session: what a call that was killed may have left readable, a run's
 * folder or the library, is appended: 1. */
int library_encrypt_left(const char *home, const char *id, struct buf *ret);

/* Of an encrypted session that is to be deleted: the folder that keeps its name, in the
 * project around the folder `from` or where it is known to be, is removed if nothing else
 * is in it. 1: it was, and its path is appended; 0: there is none. */
int library_encrypt_unname(const char *home, const char *id, const char *from,
                           struct buf *ret, struct err *err);

/*
 * -EACCES: the keys do not fit; ERR_DAMAGED: the vault is not what was written, and
 * nothing of it was put in place. -EEXIST: in the project there are files that differ,
 * which are named, and stay; ERR_MISSING: the project is gone.
 */
int library_decrypt(const char *home, const char *id, const struct library_vault *opt,
                    struct library_vaulted *ret, struct err *err);

#endif
