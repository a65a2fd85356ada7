/* SPDX-License-Identifier: MIT */
/* iteration_news.c -- what is told of an iteration log: trouble once, and its end. */
#include <inttypes.h>

#include "journal/iteration_priv.h"

void
journal_news_trouble(struct journal_news *n, int code)
{
    if (code == n->told)
        return;
    n->told = code;
    n->is_told_now = n->has = true;
    err_code(&n->latest, code, "cannot write the log '%s', which is tried again",
             n->path);
}

void
journal_news_over(struct journal_news *n)
{
    if (!n->is_told_now)
        return;
    n->is_told_now = false;
    n->has = true;
    err_set(&n->latest, 0, "the log '%s' can be written again", n->path);
}

void
journal_news_missing(struct journal_news *n)
{
    n->has = n->is_told_now = true;
    err_set(&n->latest, ERR_LIMIT,
            "too much waits for the log '%s': text is missing in it from here on",
            n->path);
}

void
journal_news_lost(struct journal_news *n, uint64_t bytes, int code)
{
    n->has = true;
    n->is_told_now = false;
    err_code(&n->latest, code, "%" PRIu64 " bytes are missing at the end of the log '%s'",
             bytes, n->path);
}

void
journal_news_gone(struct journal_news *n)
{
    n->has = true;
    err_set(&n->latest, ERR_MISSING,
            "the log '%s' was moved, removed or replaced: what follows is in the "
            "file that was there",
            n->path);
}

void
journal_news_cut(struct journal_news *n)
{
    n->has = true;
    err_set(&n->latest, ERR_DAMAGED, "somebody cut the log '%s': it goes on behind that",
            n->path);
}

bool
journal_news_take(struct journal_news *n, struct err *ret)
{
    if (!n->has)
        return false;
    n->has = false;
    *ret = n->latest;
    return true;
}
