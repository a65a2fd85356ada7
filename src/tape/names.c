/* SPDX-License-Identifier: MIT */
#include "tape/names.h"

#include <inttypes.h>

#include "base/num.h"

void
tape_tail_path(char *dst, const char *path, uint64_t ordinal)
{
    snprintf(dst, TAPE_PATH_MAX, "%s.tail-%" PRIu64, path, ordinal);
}

void
tape_segment_path(char *dst, const char *path, unsigned segment)
{
    if (segment)
        snprintf(dst, TAPE_PATH_MAX, "%s.%u", path, segment);
    else
        snprintf(dst, TAPE_PATH_MAX, "%s", path);
}

void
tape_kept_path(char *dst, const char *path, unsigned number)
{
    if (number > 1)
        snprintf(dst, TAPE_PATH_MAX, "%s.kept-%u", path, number);
    else
        snprintf(dst, TAPE_PATH_MAX, "%s.kept", path);
}

/* Prefix, then a number as we write it: no leading zero. */
static bool
is_numbered(const char *suffix, const char *prefix, uint64_t max, uint64_t *ret)
{
    size_t skip = strlen(prefix);
    if (strncmp(suffix, prefix, skip) != 0 || (suffix[skip] == '0' && suffix[skip + 1]))
        return false;
    struct view digits = { (const uint8_t *)suffix + skip, strlen(suffix + skip) };
    return num_parse(digits, max, ret) == 0;
}

bool
tape_tail_suffix(const char *suffix, uint64_t *ret_ordinal)
{
    return is_numbered(suffix, ".tail-", UINT64_MAX, ret_ordinal);
}

bool
tape_segment_suffix(const char *suffix, unsigned *ret_segment)
{
    uint64_t n;
    if (!is_numbered(suffix, ".", TAPE_SEGMENTS_MAX - 1, &n) || !n)
        return false;
    *ret_segment = (unsigned)n;
    return true;
}
