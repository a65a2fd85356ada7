/* SPDX-License-Identifier: MIT */
#include "session/id.h"

#include <errno.h>

#include "base/err.h"
#include "base/uuid.h"

enum { NAME_MAX_LEN = 64 };

/* d: a digit, x: a hexadecimal one in lower case. */
static const char pattern[] = "dddd-dd-dd-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
_Static_assert(sizeof(pattern) - 1 == SESSION_ID_LEN, "the pattern is an id's");

int
session_id_make(uint64_t start_ns, char ret_id[SESSION_ID_LEN + 1], uint8_t ret_uuid[16])
{
    static const char hex[] = "0123456789abcdef";
    char id[SESSION_ID_LEN + 1];
    uint8_t uuid[16];
    time_t start = (time_t)(start_ns / 1000000000);
    struct tm day;
    if (!localtime_r(&start, &day))
        return -errno;
    if (strftime(id, sizeof(id), "%Y-%m-%d-", &day) != sizeof("YYYY-MM-DD-") - 1)
        return -ERANGE; /* a year of five digits */
    int r = uuid_make(uuid);
    if (r < 0)
        return r;
    for (size_t at = sizeof("YYYY-MM-DD-") - 1, nibble = 0; at < SESSION_ID_LEN; at++) {
        bool is_high = nibble % 2 == 0;
        id[at] = pattern[at] == '-'
                     ? '-'
                     : hex[is_high ? uuid[nibble / 2] >> 4 : uuid[nibble / 2] & 15];
        nibble += pattern[at] != '-';
    }
    id[SESSION_ID_LEN] = 0;
    memcpy(ret_id, id, sizeof(id));
    memcpy(ret_uuid, uuid, sizeof(uuid));
    return 0;
}

/* Looked up, not compared: ids are asked about by the ten thousand, and nobody can guess
 * whether a digit or a letter comes next. */
static bool
fits(char c, char kind)
{
    enum { DIGIT = 1, HEX = 2, DASH = 4 };
    static const uint8_t classes[256] = {
        ['0'] = DIGIT | HEX, ['1'] = DIGIT | HEX, ['2'] = DIGIT | HEX,
        ['3'] = DIGIT | HEX, ['4'] = DIGIT | HEX, ['5'] = DIGIT | HEX,
        ['6'] = DIGIT | HEX, ['7'] = DIGIT | HEX, ['8'] = DIGIT | HEX,
        ['9'] = DIGIT | HEX, ['a'] = HEX,         ['b'] = HEX,
        ['c'] = HEX,         ['d'] = HEX,         ['e'] = HEX,
        ['f'] = HEX,         ['-'] = DASH,
    };
    uint8_t wanted = kind == 'd' ? DIGIT : kind == 'x' ? HEX : DASH;
    return classes[(uint8_t)c] & wanted;
}

bool
session_id_may_begin(const char *text)
{
    size_t n = 0;
    while (text[n] && n < SESSION_ID_LEN && fits(text[n], pattern[n]))
        n++;
    return !text[n] && n >= SESSION_PREFIX_MIN;
}

bool
session_id_is(const char *text)
{
    return strlen(text) == SESSION_ID_LEN && session_id_may_begin(text);
}

bool
session_name_is(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    size_t n = strlen(text);
    if (!n || n > NAME_MAX_LEN || strspn(text, allowed) != n)
        return false;
    if (*text == '-' || *text == '.' || !strcmp(text, "last"))
        return false;
    bool is_file = n > 4 && !strcmp(text + n - 4, ".ahr");
    return !is_file && !session_id_may_begin(text);
}
