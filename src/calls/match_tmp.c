/* SPDX-License-Identifier: MIT */
/*
 * match_tmp.c -- names of temporary folders, as far as they were made at random.
 *
 * Of /tmp/ahr-test-x1y2z3 that is x1y2z3: it is replaced wherever it stands, since the
 * name is told in other ways, too. /tmp/out.txt stays as it is.
 */
#include "calls/match_priv.h"

enum { NAME_BYTES = 255, BACK_BYTES = 64, PYTHON_BYTES = 8 };

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

/* Eight of them, and no more. */
static size_t
python_end(struct view in, size_t start)
{
    size_t end = start + PYTHON_BYTES;
    uint8_t behind = calls_byte_at(in, end);
    if (in.n < end || calls_is_alnum(behind) || behind == '_' ||
        behind == '<') /* where more of it was */
        return 0;
    for (size_t i = start; i < end; i++)
        if (!is_python_byte(in.p[i]))
            return 0;
    return end;
}

size_t
calls_python_name_end(struct view in, size_t start)
{
    uint8_t before = calls_byte_at(in, start - 1);
    if (calls_is_at(in, start, "tmp"))
        return before == '/' || before == '.' ? python_end(in, start + 3) : 0;
    return before == '-' || before == '_' || before == '.' ? python_end(in, start) : 0;
}

/* Is it no word that somebody could say? Between underscores there may be several. What
 * has digits alone is another's. */
static bool
is_random_python_name(struct view name)
{
    bool is_random = false, has_letters = false;
    for (size_t i = 0, end; i < name.n; i = end + 1) {
        end = calls_run_end(name, i);
        is_random |= calls_is_random_run(calls_part(name, i, end), CALLS_RUN_OF_PYTHON);
    }
    for (size_t i = 0; i < name.n; i++)
        has_letters |= !calls_is_digit(name.p[i]);
    return is_random && has_letters;
}

/* "tmp" says nothing of what follows. */
static struct view
without_tmp(struct view run)
{
    return calls_part(run, calls_is_at(run, 0, "tmp") ? 3 : 0, run.n);
}

static void
learn_name(struct calls_ids *ids, struct view in, size_t start)
{
    size_t end = start, next;
    while (end < in.n && end - start < NAME_BYTES && calls_is_name_byte(in.p[end]))
        end++;
    for (size_t i = start; i < end; i++) {
        size_t python = calls_python_name_end(in, i);
        size_t random = python ? python - PYTHON_BYTES : 0;
        if (python && is_random_python_name(calls_part(in, random, python)))
            calls_ids_learn(ids, calls_part(in, i, python));
    }
    for (size_t i = start; i < end; i = next + 1) {
        next = calls_run_end(calls_part(in, 0, end), i);
        struct view run = calls_part(in, i, next);
        if (calls_is_random_run(without_tmp(run), CALLS_RUN_OF_TMP))
            calls_ids_learn(ids, run);
    }
}

bool
calls_is_below_tmp(struct view in, size_t i)
{
    size_t least = i > BACK_BYTES ? i - BACK_BYTES : 0;
    while (i > least && calls_is_name_byte(in.p[i - 1]))
        i--;
    if (calls_byte_at(in, i - 1) != '/')
        return false;
    return (i >= 5 && calls_is_at(in, i - 5, "/tmp/")) ||
           (i >= 3 && calls_is_at(in, i - 3, "/T/"));
}

bool
calls_is_of_pytest(struct view in, size_t i)
{
    static const char folder[] = "/pytest-", of[] = "/pytest-of-";
    size_t n = sizeof(folder) - 1, m = sizeof(of) - 1;
    if (i < n || !calls_is_at(in, i - n, folder))
        return false;
    size_t at = i - n, least = at > BACK_BYTES ? at - BACK_BYTES : 0;
    while (at > least && calls_is_name_byte(in.p[at - 1]))
        at--;
    return at && in.n - --at > m && calls_is_at(in, at, of);
}

/* Behind letters, digits and underscores. */
static size_t
part_end(struct view in, size_t i)
{
    while (i < in.n && (calls_is_alnum(in.p[i]) || in.p[i] == '_'))
        i++;
    return i;
}

size_t
calls_folders_end(struct view in, size_t start)
{
    static const char root[] = "/var/folders/";
    enum { FOLDERS = 5 }; /* where "folders" begins in it */
    if (start < FOLDERS || !calls_is_at(in, start - FOLDERS, root))
        return 0;
    size_t first = start - FOLDERS + sizeof(root) - 1;
    size_t middle = part_end(in, first), end = part_end(in, middle + 1);
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
