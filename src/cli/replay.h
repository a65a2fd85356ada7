/* SPDX-License-Identifier: MIT */
/* replay.h -- what `ahr replay` was asked for, and the ways it does that. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "cli/pace.h"
#include "cli/session.h"
#include "play/moment.h"

struct cli_replay {
    const struct cli_command *self;
    const char *name; /* of the session, as the user gave it */
    struct library_found found;
    unsigned cols, rows; /* as its meta says; 0: it does not */
    bool has_from, has_to;
    struct play_moment from, to;
    struct cli_pace pace;
    bool has_colours, is_json;
    bool is_paused; /* at first; of the player on a terminal alone */
};

/* Each returns an exit status, or an error. */
int cli_replay_text(struct cli_replay *r, struct err *err);
int cli_replay_raw(struct cli_replay *r, struct err *err);
int cli_replay_fast(struct cli_replay *r, struct err *err);
int cli_replay_meta(struct cli_replay *r, struct err *err);
int cli_replay_screen(struct cli_replay *r, struct err *err);

/* `to` as play_load() takes it: 0 where there is none, stamps instead of times. */
int cli_replay_limit(struct cli_replay *r, uint64_t *ret_byte, uint64_t *ret_ns,
                     struct err *err);
/* "'x' holds no record: is it an .ahr recording?", and the status for that. */
int cli_replay_nothing(const struct cli_replay *r);

#endif
