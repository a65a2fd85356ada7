/* SPDX-License-Identifier: MIT */
#include "cli/recall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "redact/redact.h"

/* Words that were masked or cut, or were no UTF-8, are not what was typed. */
static bool
is_true(const char *word)
{
    return !redact_has_mask(word, strlen(word)) && !strstr(word, "\xef\xbf\xbd") &&
           strcmp(word, "…") != 0;
}

int
cli_recall(struct session_told *told, const char *id, const char *verb, char ***ret,
           struct err *err)
{
    struct view words = told->words;
    size_t n = 0;
    bool is_whole = words.n;
    for (size_t at = 0; at < words.n; n++) {
        const char *word = (const char *)words.p + at;
        is_whole &= is_true(word) && (n || *word);
        at += strlen(word) + 1;
    }
    if (!is_whole)
        return err_set(err, ERR_USAGE,
                       "the command of session %s is not known%s; say it: 'ahr %s … "
                       "-- COMMAND'",
                       id, words.n ? " in full" : "", verb);
    char **command = calloc(n + 1, sizeof(*command));
    if (!command)
        return err_code(err, -ENOMEM, "cannot %s", verb);
    n = 0;
    for (size_t at = 0; at < words.n; at += strlen(command[n++]) + 1)
        command[n] = (char *)told->texts.p + (words.p - told->texts.p) + at;
    *ret = command;
    return 0;
}

int
cli_recall_given(size_t count, char **words, const char *verb, char ***ret,
                 struct err *err)
{
    if (!*words[0])
        return err_set(err, ERR_USAGE, "the command is empty");
    char **command = calloc(count + 1, sizeof(*command));
    if (!command)
        return err_code(err, -ENOMEM, "cannot %s", verb);
    memcpy(command, words, count * sizeof(*words));
    *ret = command;
    return 0;
}

size_t
cli_recall_count(char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}
