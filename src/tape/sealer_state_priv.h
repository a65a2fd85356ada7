/* SPDX-License-Identifier: MIT */
/* sealer_state_priv.h -- the thread's state, and what its files do for each other. */
#ifndef TAPE_SEALER_STATE_PRIV_H
#define TAPE_SEALER_STATE_PRIV_H

#include <pthread.h>

#include "tape/rescue_priv.h"
#include "tape/sealer_priv.h"

struct sealer {
    struct tape_io *io; /* borrowed */
    struct tape_writer_options opt;
    pthread_t thread;

    /* the thread's own */
    int lock_fd; /* of the recording itself, which carries the lock */
    int fd;      /* of the current segment; -1: to be opened */
    unsigned segment;
    uint64_t end_off; /* where the next block goes */
    bool has_given_up_sync;
    struct job_list unsynced;
    uint64_t unsynced_end_off; /* of its last job */
    struct tape_packer packer;
    struct buf scratch;
    uint64_t in_file_off;  /* bytes before it are synced, if the file's name is */
    uint64_t lock_end_off; /* of the recording itself, when that is not the segment */
    struct rescue rescue;
    int astray;       /* -ENOENT: the recording's name is gone, -EEXIST: taken; or 0 */
    int rescue_error; /* of the last attempt */
    uint64_t rescue_at_ns; /* not before; each failure doubles rescue_wait_ns */
    uint64_t rescue_wait_ns;
    bool was_cut;
    bool is_copy_new; /* to be synced before anything else */
    bool is_last_look;
    int named_fds[SEALER_ALSO_MAX]; /* files beside it whose names are synced */
    size_t named_count;

    pthread_mutex_t lock; /* all below */
    pthread_cond_t work, room;
    struct job_list queue;
    struct job_list done;                 /* safe; their tails are still to be removed */
    size_t waiting_blocks, waiting_bytes; /* queue and unsynced */
    size_t unsaved_bytes;
    size_t room_wanted; /* on_news is to be called when there is so much; 0: not */
    struct buf spares[SEALER_SPARES];
    size_t spare_count;
    char *names[SEALER_NAMES_MAX]; /* all that it had; written by the thread alone */
    unsigned name_count;
    bool was_astray; /* others may have files called as our tails */
    bool is_touched; /* since the last look, at touched_at_ns */
    uint64_t touched_at_ns;
    int open_tail_fd;
    uint64_t open_tail_off, open_tail_ordinal;
    const char *open_tail_path; /* borrowed, one of names */
    bool is_tail_lost;          /* the writer is to seal the open block */
    int suspect_tail_fd;        /* the open tail, after a sync of it failed; else -1 */
    bool is_dirty; /* something waits for the next interval's sync, since dirty_at_ns */
    bool is_segment_new, is_tail_new;      /* their names are not yet synced */
    uint64_t wanted_ticket, synced_ticket; /* the last one given, the last one done */
    uint64_t wanted_at_ns; /* since when one waits, or since the last round */
    int also_fds[SEALER_ALSO_MAX];
    size_t also_count;
    uint64_t dirty_at_ns, retry_at_ns, progress_at_ns;
    uint64_t synced_off, sealed_blocks;
    int quality;
    int failing; /* errno of the last write, negative; 0: the disk works */
    bool is_suspect, is_stopping;
    bool is_write_told, is_sync_told, is_also_told, is_trouble_new;
    struct err trouble;
    bool is_astray_told, is_cut_told, is_stale_new;
    struct err stale;  /* the latest trouble with the file's name */
    bool has_news;     /* on_news is to be called */
    bool is_listening; /* … and may be: the caller has asked once */
};

/* The recording's, now; the appending thread asks with the lock held. */
static inline const char *
sealer_name(const struct sealer *s)
{
    return s->names[s->name_count - 1];
}

static inline bool
sealer_syncs(const struct sealer *s)
{
    return s->opt.sync != TAPE_SYNC_NONE && !s->has_given_up_sync;
}

/* With the lock held: whoever waits for room looks again, and is patient again. */
void sealer_made_progress(struct sealer *s);
/* The same: told once, and not before what was told last has been asked for. */
void sealer_tell(struct sealer *s, bool *is_told, int code, const char *what);
/* The same: the job is safe, and its tail may go. */
void sealer_finish_job(struct sealer *s, struct seal_job *job);
/* The same: when the folder is gone. That is not the disk's failure, and told by the next
 * look. */
void sealer_look_soon(struct sealer *s);
bool sealer_is_folder_gone(int code);
void sealer_close_segment(struct sealer *s);

/* -- sealer_sync.c -- */

bool sealer_is_sync_due(const struct sealer *s, uint64_t now_ns);
/* With the lock held: where nothing is synced any more, nobody waits for it. */
void sealer_settle_tickets(struct sealer *s);
/* Called and returns with the lock held; lets go of it for the work. */
void sealer_sync_all(struct sealer *s);

/* -- sealer_look.c -- */

/* That our files are still called as we called them, and as long as we made them. */
void sealer_look(struct sealer *s);
bool sealer_is_look_due(const struct sealer *s, uint64_t now_ns);
/* Some more of what is being made again. */
void sealer_step_rescue(struct sealer *s);
/* Remembers it when the file is shorter than we made it; without the lock. */
void sealer_notice_cut(struct sealer *s);
/* At the end: whether the recording is whole, and called as it should be. */
int sealer_check_file(struct sealer *s, struct err *err);

#endif
