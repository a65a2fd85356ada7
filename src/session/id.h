/* SPDX-License-Identifier: MIT */
/* id.h -- what a session is called: YYYY-MM-DD-<uuid4>. */
#ifndef SESSION_ID_H
#define SESSION_ID_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SESSION_ID_LEN = 47,
    SESSION_PREFIX_MIN = 4, /* of an id, where a prefix stands for it */
};

/* A new id with the local day of start_ns (wall clock); its UUID also as bytes. */
int session_id_make(uint64_t start_ns, char ret_id[SESSION_ID_LEN + 1],
                    uint8_t ret_uuid[16]);
bool session_id_is(const char *text);
/* Could an id begin so? At least SESSION_PREFIX_MIN characters. */
bool session_id_may_begin(const char *text);
/* May a person call a session so? [A-Za-z0-9._-]+, at most 64, no leading '-' or '.', not
 * "last", and nothing that could be taken for an id or a file. */
bool session_name_is(const char *text);

#endif
