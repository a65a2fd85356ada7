/* SPDX-License-Identifier: MIT */
/*
 * folder.h -- the folder of one session: live/<id> while it is recorded, sessions/<id>
 * when it has ended.
 *
 * Whoever records holds a lock on live/<id>/lock. A free lock and no end mean that the
 * recorder has vanished. With an out-file the recording and its meta stand elsewhere;
 * live/<id> then has the lock and a file `out-file` with the recording's absolute path,
 * and is removed at the end. Folders are 0700 and files 0600 whatever the umask.
 */
#ifndef SESSION_FOLDER_H
#define SESSION_FOLDER_H

#include <stdbool.h>

#include "base/buf.h"

struct session_folder {
    char *home; /* $AHR_HOME */
    char *id;
    char *dir;       /* <home>/live/<id>, later <home>/sessions/<id> */
    char *tape_path; /* the recording */
    char *meta_path;
    int lock_fd;         /* held */
    bool is_outside;     /* the recording stands at an out-file */
    bool is_one_of_many; /* who finishes them syncs sessions/ when all are done */
};

/*
 * Makes live/.new-<id>, takes its lock, and renames it to live/<id>; missing folders
 * above (and above the out-file) are made. Makes neither recording nor meta. out_file:
 * absolute, or NULL. The lock is close-on-exec.
 */
int session_folder_make(struct session_folder *ret, const char *home, const char *id,
                        const char *out_file, struct err *err);
/* The same for a session that nobody is to find before it is finished: it stays
 * live/.new-<id>. When its maker dies it is swept away. */
int session_folder_stage(struct session_folder *ret, const char *home, const char *id,
                         struct err *err);
/* What a killed maker has left of live/.new-<id> goes, unless somebody is at it. */
void session_folder_unstage(const char *home, const char *id);
/* The session has ended: to sessions/<id>, its folders synced; outside: live/<id> is
 * removed; its sockets are, in any case. The paths in *f follow. The lock is let go, also
 * when it fails; one that a killed process has left in sessions/<id> means nothing. */
int session_folder_finish(struct session_folder *f, struct err *err);
/* Is there a folder <home>/<kind>/<id>, and no link to one? */
bool session_folder_exists(const char *home, const char *kind, const char *id);
/* Is what is stored there locked away (library/encrypt.h)? Its vault and a few facts are
 * all that is in it then. */
bool session_folder_is_encrypted(const char *home, const char *id);
/* Removes from a session's folder what only its recorder had use for: lock, reserve and
 * sockets. */
void session_folder_strip(const char *dir);
/* Nothing was recorded after all: removes live/<id> with what is in it. */
void session_folder_discard(struct session_folder *f);
/* What was recorded is not wanted: removes live/<id> with all that is in it. An error
 * before its first step leaves it as it is. */
int session_folder_remove(struct session_folder *f, struct err *err);
void session_folder_release(struct session_folder *f);

/*
 * A folder of live/ as somebody else finds it: takes its lock and fills *ret. ERR_BUSY
 * while its recorder lives, ERR_MISSING when it is gone (moved to sessions/ meanwhile,
 * say).
 */
int session_folder_take(struct session_folder *ret, const char *home, const char *id,
                        struct err *err);
/* Is live/<id> being recorded (or recovered) right now? Asks without being in anybody's
 * way for longer than the question takes. */
bool session_folder_is_held(const char *home, const char *id);
/* Removes what recorders have left in live/ before they had begun (.new-*): what nobody
 * holds and is older than a minute. */
void session_folder_sweep(const char *home);

/* Appends the recording's and the meta's path for a session in `dir` (NUL-terminated by
 * buf_str), following `out-file`; no lock. */
int session_folder_paths(const char *dir, struct buf *ret_tape, struct buf *ret_meta);
/* Appends the path of a file beside the recording: X.<what> for X.ahr, NAME.<what> for
 * another NAME. */
int session_sibling_path(const char *tape_path, const char *what, struct buf *ret);
#define SESSION_META  "meta.json"
#define SESSION_VAULT "session.vault" /* in a stored session's folder */

#endif
