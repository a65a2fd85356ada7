/* SPDX-License-Identifier: MIT */
/* pending.c -- formats that are still to come; goes when they are there. */
#include "turn/format_priv.h"

static bool
is_mine(struct view type, struct view object)
{
    (void)type;
    (void)object;
    return false;
}

static int
decode(struct turn_state *s, struct view object, const struct turn_sink *to,
       struct view *ret_other)
{
    (void)s;
    (void)object;
    (void)to;
    *ret_other = (struct view){ (const uint8_t *)"pending", 7 };
    return 0;
}

const struct turn_format turn_format_codex = { TURN_CODEX, is_mine, decode };
const struct turn_format turn_format_gemini = { TURN_GEMINI, is_mine, decode };
const struct turn_format turn_format_opencode = { TURN_OPENCODE, is_mine, decode };
