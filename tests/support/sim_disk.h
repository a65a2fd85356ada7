/* SPDX-License-Identifier: MIT */
/*
 * sim_disk.h -- a disk in memory that fails, fills up or loses power at a chosen call.
 *
 * It keeps what was written apart from what was synced. A sync that fails loses, as on
 * Linux, what it should have written: later syncs say OK and do not bring it back. Names
 * (create, rename, unlink) are durable only after a sync of the folder.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include <pthread.h>

#include "tape/io.h"

enum { SIM_FILES = 256, SIM_HANDLES = 256 };

enum sim_fault {
    SIM_NONE,
    SIM_ERROR, /* the call fails with `error` */
    SIM_SHORT, /* a write or read does half of it; other calls are left alone */
    SIM_POWER, /* from this call on nothing works; sim_power_cut() then shows what is left
                */
};

struct sim_node {
    struct buf data, durable;
    uint64_t lost_from, lost_to; /* dropped by a failed sync */
    int refs;                    /* names, now or durably, and handles */
};

struct sim_name {
    char *name;
    struct sim_node *node;
};

struct sim_disk {
    struct tape_io io;
    pthread_mutex_t lock;
    struct sim_name now[SIM_FILES], durable[SIM_FILES];
    struct sim_node *handles[SIM_HANDLES];
    uint64_t capacity; /* 0: endless */

    enum sim_fault fault;
    int error;
    bool is_forever;
    bool is_sync_only; /* only sync calls count */
    int at_call;       /* 1: the first */
    int repeat;        /* so many calls more fail, too */
    int calls;         /* so far */
    bool is_dead;
};

void sim_init(struct sim_disk *d);
void sim_release(struct sim_disk *d);
/* No more faults; handles are closed. */
void sim_heal(struct sim_disk *d);
/* What a disk may hold after the power went: for each name and each file's unsynced
 * bytes, by seed, the old or the new state or something between; seed 0: all that is not
 * synced is gone. */
void sim_power_cut(struct sim_disk *d, unsigned seed);
/* A file's bytes, or an empty view. */
struct view sim_file(struct sim_disk *d, const char *name);
void sim_put(struct sim_disk *d, const char *name, struct view bytes);
int sim_count_files(struct sim_disk *d);
void sim_copy(struct sim_disk *to, const struct sim_disk *from);

#endif
