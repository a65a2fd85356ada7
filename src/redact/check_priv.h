/* SPDX-License-Identifier: MIT */
/* check_priv.h -- what a format lets us verify without asking its vendor. */
#ifndef REDACT_CHECK_PRIV_H
#define REDACT_CHECK_PRIV_H

#include "redact/pack_priv.h"

enum check_result {
    CHECK_UNKNOWN, /* nothing to verify */
    CHECK_RIGHT,
    CHECK_WRONG,
};

/* Of the whole secret, its keyword included. */
enum check_result check_secret(enum pack_check check, struct view secret);

#endif
