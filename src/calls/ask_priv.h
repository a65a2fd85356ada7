/* SPDX-License-Identifier: MIT */
/*
 * ask_priv.h -- one API of a vendor, as it is asked: a table entry.
 *
 * A new API is one file and one line in talk.c's table.
 */
#ifndef CALLS_ASK_PRIV_H
#define CALLS_ASK_PRIV_H

#include "calls/talk.h"

enum { ASK_SCRATCH = 4 };

/* Where the events of a message go. */
struct ask_to {
    int (*tell)(void *ctx, const struct turn_event *e);
    void *ctx;
    struct buf text[ASK_SCRATCH];
};

struct ask_api {
    enum turn_api api;
    const char *path; /* in which the URL's ends */
    const char *list; /* the member of the body that has the messages */
    /* One of them, raw, good JSON. */
    int (*tell)(struct ask_to *to, struct view message);
};

extern const struct ask_api ask_anthropic, ask_openai_chat, ask_openai_responses;

/* Do they come from the one who made the program, and not from its user? */
bool ask_is_set_up(struct view role);
/* A text of the user's or the assistant's; nothing for an empty one. */
int ask_tell_text(struct ask_to *to, enum turn_type type, bool is_user, struct view text);
/* An image, say: that there was one. type raw. */
int ask_tell_other(struct ask_to *to, bool is_user, struct view type);
/* id and name raw, arguments JSON or a text. */
int ask_tell_call(struct ask_to *to, struct view id, struct view name, struct view json);
/* id raw; content a string or blocks. */
int ask_tell_result(struct ask_to *to, struct view id, struct view content,
                    bool is_error);

#endif
