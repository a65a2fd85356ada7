/* SPDX-License-Identifier: MIT */
/*
 * search.c -- a text in all sessions that are indexed.
 *
 * The index of words names the pieces that may hold it, the newest first; each is
 * unpacked and looked through, and of what is found there that is told which is a row of
 * what was asked for. What has no word of three bytes is looked for in all of them.
 */
#include "library/search.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "library/grams_priv.h"
#include "library/pattern_priv.h"
#include "library/piece_priv.h"
#include "session/id.h"

struct walk {
    const struct library_search *search;
    library_hit_fn fn;
    void *ctx;
    struct pattern *pattern;
    struct piece piece;
    struct buf found;            /* struct pattern_hit: of a piece, from its beginning */
    char id[SESSION_ID_LEN + 1]; /* of the piece */
    bool is_gone;                /* … that session is */
    struct library_searched done;
    struct err *err;
};

static bool
is_asked_for(const struct library_search *s, const struct label *label)
{
    switch (s->in) {
    case LIBRARY_IN_ALL:
        return label->kind != LABEL_SHOWN;
    case LIBRARY_IN_TERMINAL:
        return label->kind == LABEL_LINE || label->kind == LABEL_SHOWN;
    case LIBRARY_IN_TURNS:
        break;
    }
    return label->kind == LABEL_TURN && (!s->role || s->role == label->role) &&
           (!s->tool.n || label_is_tool(label_tool(s->tool), label->tool));
}

static enum library_hit_kind
kind_of(const struct label *label)
{
    return label->kind == LABEL_TURN          ? LIBRARY_HIT_TURN
           : label->kind == LABEL_INSTRUCTION ? LIBRARY_HIT_INSTRUCTION
                                              : LIBRARY_HIT_LINE;
}

static int
hand_over(struct walk *w, const struct pattern_hit *found)
{
    struct piece_row row = piece_row_at(&w->piece, found->start);
    const struct label label = piece_label_of(&w->piece, &row);
    if (!is_asked_for(w->search, &label))
        return 1;
    bool is_turn = label.kind == LABEL_TURN;
    const struct library_hit hit = {
        .id = w->id,
        .kind = kind_of(&label),
        .index = row.index,
        .write_byte = row.write_byte,
        .ts_ns = row.ts_ns,
        .type = is_turn ? turn_type_name(label.type) : NULL,
        .role = is_turn ? turn_role_name(label.role) : NULL,
        .tool = label.tool,
        .line = { w->piece.text.p + found->line, found->line_end - found->line },
        .start = found->start - found->line,
        .end = found->end - found->line,
    };
    if (w->search->limit && w->done.hits == w->search->limit) {
        w->done.has_more = true;
        return 0;
    }
    w->done.hits++;
    return w->fn(w->ctx, &hit);
}

/* From the last one up. Goes on: 1. */
static int
hand_over_all(struct walk *w)
{
    const struct pattern_hit *found = (const void *)w->found.p;
    int r = 1;
    for (size_t i = w->found.n / sizeof(*found); r > 0 && i > 0; i--)
        r = hand_over(w, &found[i - 1]);
    return r;
}

static int
look_through(struct walk *w)
{
    struct pattern_hit hit;
    buf_clear(&w->found);
    int r = pattern_begin(w->pattern, (struct view){ w->piece.text.p, w->piece.text.n });
    while (r >= 0 && (r = pattern_next(w->pattern, &hit)) > 0)
        r = buf_append(&w->found, &hit, sizeof(hit));
    w->done.is_given_up = r == ERR_LIMIT && !w->found.failed;
    return w->done.is_given_up ? 0 : r;
}

/* Somebody has removed its files, and nobody has told the library yet. */
static bool
is_gone(const char *home, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return home && buf_printf(&path, "%s/sessions/%s", home, id) >= 0 &&
           stat(buf_str(&path), &st) < 0 && errno == ENOENT;
}

static void
enter_session(struct walk *w, const char *id)
{
    if (!strcmp(w->id, id))
        return;
    snprintf(w->id, sizeof(w->id), "%s", id);
    w->is_gone = is_gone(w->search->home, w->id);
}

/* A store_piece_fn. */
static int
take_piece(void *ctx, const struct store_piece *packed)
{
    struct walk *w = ctx;
    enter_session(w, packed->id);
    if (w->is_gone)
        return 1;
    int r = piece_unpack(packed->packed, &w->piece);
    if (r == ERR_DAMAGED)
        return err_set(w->err, r,
                       "library.db is damaged: the text of session %s cannot be read; "
                       "'ahr reindex' makes it anew",
                       w->id);
    if (!r)
        r = look_through(w);
    if (r < 0)
        return err_code(w->err, r, "cannot search session %s", w->id);
    const struct tape_progress *progress = w->search->progress;
    w->done.text_bytes += w->piece.text.n;
    if (progress)
        progress->step(progress->ctx, w->done.text_bytes, 0);
    r = hand_over_all(w);
    return r > 0 && w->done.is_given_up ? 0 : r;
}

static int
walk_pieces(struct walk *w, struct store *s, struct err *err)
{
    AUTO(buf) words = { 0 };
    const struct library_search *asked = w->search;
    int r = grams_asked(pattern_literal(w->pattern), &words);
    if (!r)
        r = labels_asked(asked->in, asked->role, asked->tool, &words);
    if (r < 0)
        return err_code(err, r, "cannot search");
    const struct store_search search = {
        .words = { words.p, words.n },
        .id = asked->id,
        .since_ns = asked->since_ns,
        .agent = asked->agent,
        .role = asked->session_role,
    };
    r = store_pieces(s, &search, take_piece, w, err);
    return r == ERR_MISSING && search.id ? 0 : r; /* that session is not indexed */
}

int
library_search(struct store *s, const struct library_search *search, library_hit_fn fn,
               void *ctx, struct library_searched *ret, struct err *err)
{
    struct walk w = { .search = search, .fn = fn, .ctx = ctx, .err = err };
    int r = pattern_new(&w.pattern, search->query, search->is_regex, err);
    if (!r && s && !pattern_is_hopeless(w.pattern))
        r = walk_pieces(&w, s, err);
    if (r >= 0) {
        w.done.hard_lines = pattern_hard_lines(w.pattern);
        *ret = w.done;
    }
    pattern_free(w.pattern);
    piece_release(&w.piece);
    buf_release(&w.found);
    return r < 0 ? r : 0;
}
