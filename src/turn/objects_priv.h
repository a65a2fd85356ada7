/* SPDX-License-Identifier: MIT */
/*
 * objects_priv.h -- the JSON objects of a line, and what stands between them.
 *
 * Pure. A good line is one object. But two writers may share a pipe, one may be cut off
 * and the next go on behind it, a program may print words before it: a good object is
 * found wherever it begins. An object inside of one that is torn is a part of that, and
 * is found only if the caller knows it for one that stands alone.
 */
#ifndef TURN_OBJECTS_PRIV_H
#define TURN_OBJECTS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct turn_objects {
    struct view rest; /* of the line; what was taken is gone */
    bool (*is_known)(void *ctx, struct view object);
    void *ctx;
    size_t size;  /* of the whole line; 0 at first */
    size_t spent; /* bytes that were looked at, with those looked at again */
};

/*
 * The next object, and what stands before it, which is not JSON. False: there is none;
 * all of the rest is in *ret_before. Looks at no byte more than some 16 times in all,
 * and gives up then.
 */
bool turn_objects_next(struct turn_objects *o, struct view *ret_before,
                       struct view *ret_object);
/* Nothing that anybody said: blanks, NULs, a byte order mark? */
bool turn_objects_is_blank(struct view text);
/* … or also what stands between the elements of an array? */
bool turn_objects_is_between(struct view text);

#endif
