/* SPDX-License-Identifier: MIT */
/* job_priv.h -- a block on its way from the writer to the recording, and lists of such.
 */
#ifndef TAPE_JOB_PRIV_H
#define TAPE_JOB_PRIV_H

#include "tape/block.h"

struct seal_job {
    struct seal_job *next;
    struct tape_block head;
    uint64_t end_byte_off;
    uint64_t data_bytes, saved_data_bytes; /* of DATA, and of that what is in the tail */
    uint64_t gap_marks;
    struct buf bytes;     /* the records; after packing, the block */
    size_t raw_len;       /* bytes of records */
    const char *path;     /* borrowed; the tail is called after it */
    int tail_fd;          /* -1: none */
    bool is_tail_suspect; /* a sync of it has failed; with the holder of the job */
    bool is_tail_whole;   /* the block is in it; from when it is handed over */
    bool is_tail_synced;  /* … and safe there */
    bool is_tail_named;   /* the folder was synced with its name in it; the appending
                             thread's own note */
    bool is_saved;        /* it is whole in some file */
    bool is_packed;
};

struct job_list {
    struct seal_job *first, **end;
    size_t count;
    size_t bytes; /* of records */
};

void seal_job_free(struct seal_job *job);
void job_list_init(struct job_list *l);
void job_list_push(struct job_list *l, struct seal_job *job);
/* The first one, or NULL. */
struct seal_job *job_list_pop(struct job_list *l);
/* `from` comes before what is in `to`; from is empty afterwards. */
void job_list_prepend(struct job_list *to, struct job_list *from);

#endif
