/* SPDX-License-Identifier: MIT */
/*
 * match_tmp.c -- names of temporary folders, as far as they were made at random.
 *
 * Of /tmp/ahr-test-x1y2z3 that is x1y2z3: it is replaced wherever it stands, since the
 * name is told in other ways, too. /tmp/out.txt stays as it is.
 */
#include "calls/match_priv.h"

enum { NAME_BYTES = 255, BACK_BYTES = 64 };

bool
calls_is_name_byte(uint8_t c)
{
    return calls_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

static bool
is_python_byte(uint8_t c)
{
    return c == '_' || calls_is_digit(c) || (c >= 'a' && c <= 'z');
}

size_t
calls_python_name_end(struct view in, size_t start)
{
    size_t end = start + 11;
    uint8_t behind = calls_byte_at(in, end);
    if (!calls_is_at(in, start, "tmp") || in.n < end || calls_is_alnum(behind) ||
        behind == '_' || behind == '<') /* where more of it was */
        return 0;
    for (size_t i = start; i < end; i++)
        if (!is_python_byte(in.p[i]))
            return 0;
    return end;
}

/* Is it no word that somebody could say? */
static bool
is_random_python_name(struct view name)
{
    size_t mute = 0;
    for (size_t i = 3; i < name.n; i++) {
        uint8_t c = name.p[i];
        mute = c && strchr("aeiouy_", c) ? 0 : mute + 1;
        if (calls_is_digit(c) || mute >= 4 || c == 'q' || c == 'x' || c == 'j' ||
            c == 'z')
            return true;
    }
    return false;
}

static void
learn_name(struct calls_ids *ids, struct view in, size_t start)
{
    size_t end = start, next;
    while (end < in.n && end - start < NAME_BYTES && calls_is_name_byte(in.p[end]))
        end++;
    size_t python = calls_python_name_end(in, start);
    if (python && is_random_python_name(calls_part(in, start, python)))
        calls_ids_learn(ids, calls_part(in, start, python));
    for (size_t i = start; i < end; i = next + 1) {
        next = calls_run_end(calls_part(in, 0, end), i);
        struct view run = calls_part(in, i, next);
        if (calls_is_random_run(run, CALLS_RUN_OF_TMP))
            calls_ids_learn(ids, run);
    }
}

bool
calls_is_below_tmp(struct view in, size_t i)
{
    size_t least = i > BACK_BYTES ? i - BACK_BYTES : 0;
    while (i > least && calls_is_name_byte(in.p[i - 1]))
        i--;
    return calls_byte_at(in, i - 1) == '/' &&
           ((i >= 5 && calls_is_at(in, i - 5, "/tmp/")) ||
            (i >= 3 && calls_is_at(in, i - 3, "/T/")));
}

size_t
calls_folders_end(struct view in, size_t start)
{
    static const char root[] = "/var/folders/";
    enum { FOLDERS = 5 }; /* where "folders" begins in it */
    if (start < FOLDERS || !calls_is_at(in, start - FOLDERS, root))
        return 0;
    size_t first = start - FOLDERS + sizeof(root) - 1;
    size_t middle = calls_run_end(in, first), end = middle + 1;
    while (end < in.n && (calls_is_alnum(in.p[end]) || in.p[end] == '_'))
        end++;
    bool is_one = middle > first && calls_byte_at(in, middle) == '/' &&
                  end > middle + 8 && calls_is_at(in, end, "/T/");
    return is_one ? end : 0;
}

/* Behind the next such root; its names stand there. */
static const uint8_t *
next_root(struct view in, size_t at, const char *root)
{
    size_t n = strlen(root);
    const uint8_t *p = in.n - at > n ? memmem(in.p + at, in.n - at, root, n) : NULL;
    return p ? p + n : NULL;
}

void
calls_tmp_learn(struct calls_ids *ids, struct view text)
{
    size_t at = 0;
    for (const uint8_t *p; (p = next_root(text, at, "/tmp/"));) {
        learn_name(ids, text, (size_t)(p - text.p));
        at = (size_t)(p - text.p) - 1; /* the slash may begin another */
    }
    at = 0;
    for (const uint8_t *p; (p = next_root(text, at, "/var/folders/"));) {
        at = (size_t)(p - text.p);
        size_t end = calls_folders_end(text, at - strlen("folders/"));
        if (end)
            learn_name(ids, text, end + strlen("/T/"));
    }
}
