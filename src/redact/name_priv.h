/* SPDX-License-Identifier: MIT */
/*
 * name_priv.h -- the name that a value is given to, read backwards from the value.
 *
 *     export API_KEY=          "api_key": "          setPassword('          --token
 *            ^^^^^^^            ^^^^^^^                 ^^^^^^^^^^^          ^^^^^^^
 */
#ifndef REDACT_NAME_PRIV_H
#define REDACT_NAME_PRIV_H

#include "base/buf.h"
#include "redact/bytes_priv.h"

/* How the value is given, from the surest to the weakest. */
enum name_op {
    NAME_ASSIGN,   /* = : => := -> > */
    NAME_FLAG,     /* --name value */
    NAME_ARGUMENT, /* name(value, or "name", value */
    NAME_PROSE,    /* name value, name is value */
};

struct name {
    struct view text; /* may hold blanks: "the api key" */
    enum name_op op;
    bool is_quoted; /* the value is */
    uint8_t quote;
    bool is_tight; /* NAME=value, without blanks around the operator */
};

enum { NAME_READINGS = 3 };

/* before ends where the value begins. There may be several readings ("token: str = "
 * names token, "Authorization: Bearer " names authorization); returns how many there are.
 */
size_t name_read(struct view before, struct name ret[NAME_READINGS]);

/*
 * Whether one of the words (a-z, '_' for any separator or none, separated by blanks)
 * stands in name, with no blank behind it, and what follows does not say that the value
 * is only about the secret (token_type, password_url).
 */
bool name_tells(struct view name, const char *words);

#endif
