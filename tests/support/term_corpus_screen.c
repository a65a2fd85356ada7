/* SPDX-License-Identifier: MIT */
/*
 * term_corpus_screen.c -- programs that paint: a coding agent and an editor.
 *
 * The agent's pieces have the shape of a recorded session of one (see agents/ in the
 * shared fixtures): words set by CHA, rules of box drawing, a prompt painted again below
 * what scrolls, titles with every state. The editor's are vim's.
 */
#include <string.h>

#include "support/term_corpus.h"
#include "support/term_corpus_priv.h"

/* -- a coding agent -- */

static void
rule(struct corpus_gen *g)
{
    corpus_rgb(g, 38, 0x888888);
    corpus_repeat(g, "─", TERM_CORPUS_COLS);
    buf_puts(g->out, "\x1b[39m\r\r\n");
}

/* The prompt and the footer: four rows, the cursor behind them. */
static void
prompt(struct corpus_gen *g)
{
    rule(g);
    buf_puts(g->out, "❯\u00a0\x1b[7m \x1b[27m\x1b[K\r\r\n");
    rule(g);
    buf_puts(g->out,
             "\x1b[3G\x1b[38;2;153;153;153mesc\x1b[7Gto\x1b[10Ginterrupt\x1b[20G·\x1b[22G"
             "←\x1b[24Gfor\x1b[28Gagents\x1b[83G●\x1b[85Ghigh\x1b[90G·\x1b[92G/effort"
             "\x1b[39m\r\r\n");
}

static void
spinner(struct corpus_gen *g)
{
    static const char *const frames[] = { "✻", "✽", "✶", "✳", "✢", "·" };
    unsigned start = g->tick * 3;
    for (unsigned i = 0, n = corpus_between(g, 4, 16); i < n; i++) {
        buf_puts(g->out, "\x1b[?2026h\x1b[6A\r");
        corpus_rgb(g, 38, 0xd77757);
        buf_printf(g->out,
                   "%s\x1b[39m \x1b[38;2;215;119;87m%s…\x1b[39m \x1b[38;2;153;153;153m"
                   "(%us · ↓ %u tokens · esc to interrupt)\x1b[39m\x1b[K\r\x1b[6B"
                   "\x1b[?2026l",
                   frames[(start + i) % 6], corpus_word(g), (start + i) / 8 % 600,
                   (start + i) * 17 % 9000);
    }
}

static void
prose(struct corpus_gen *g)
{
    buf_puts(g->out, "\x1b[38;2;255;255;255m●\x1b[39m ");
    for (unsigned i = 0, lines = corpus_between(g, 2, 6); i < lines; i++) {
        unsigned col = 3;
        for (unsigned n = corpus_between(g, 8, 15); n; n--) {
            const char *w = corpus_word(g);
            if (corpus_below(g, 10) == 0)
                buf_printf(g->out, "\x1b[%uG\x1b[38;2;177;185;249m`%s`\x1b[39m", col, w);
            else
                buf_printf(g->out, "\x1b[%uG%s", col, w);
            col += 1 + (unsigned)strlen(w);
        }
        buf_puts(g->out, "\x1b[K\r\r\n");
    }
}

static void
patch(struct corpus_gen *g)
{
    for (unsigned i = 0, n = corpus_between(g, 4, 18), first = corpus_below(g, 900);
         i < n; i++) {
        unsigned kind = corpus_below(g, 3);
        buf_printf(g->out, "      \x1b[2m%4u\x1b[22m ", first + i);
        if (kind)
            corpus_rgb(g, 48, kind == 1 ? 0x225c2b : 0x7a2936);
        buf_puts(g->out, kind == 1 ? "+ " : kind == 2 ? "- " : "  ");
        for (unsigned k = corpus_between(g, 1, 4); k; k--) {
            corpus_rgb(g, 38, corpus_theme(g));
            struct corpus_draw d = corpus_draw(g);
            buf_printf(g->out, "%s\x1b[39m %s(%s);", d.w[0], d.w[1], d.w[2]);
        }
        buf_puts(g->out, kind ? "\x1b[K\x1b[49m\r\r\n" : "\x1b[K\r\r\n");
    }
}

void
corpus_agent(struct corpus_gen *g)
{
    unsigned kind = corpus_below(g, 10);
    if (g->tick == 0)
        prompt(g);
    if (kind < 4) {
        spinner(g);
        return;
    }
    /* What is new goes where the status line was, the prompt below it once more. */
    buf_puts(g->out, "\x1b[?2026h\x1b[2D\x1b[6A\r");
    if (kind < 7)
        prose(g);
    else if (kind < 9)
        patch(g);
    else
        for (unsigned i = corpus_between(g, 2, 10); i; i--) {
            buf_puts(g->out, "  \x1b[38;2;153;153;153m⎿\x1b[39m  ");
            corpus_sentence(g, corpus_between(g, 4, 12));
            buf_puts(g->out, "\x1b[K\r\r\n");
        }
    buf_puts(g->out, "\x1b[K\r\r\n\x1b[K\r\r\n");
    prompt(g);
    buf_puts(g->out, "\x1b[?2026l");
    if (corpus_below(g, 4) == 0)
        buf_printf(g->out, "\x1b]0;✳ the %s\a", corpus_word(g));
}

/* -- an editor -- */

enum { EDITOR_TEXT_ROWS = TERM_CORPUS_ROWS - 2 };

static void
editor_line(struct corpus_gen *g, unsigned number)
{
    static const unsigned colours[] = { 130, 2, 81, 224, 9, 5, 14, 121, 242 };
    buf_printf(g->out, "\x1b[38;5;130m%5u \x1b[m", number);
    corpus_repeat(g, "    ", corpus_below(g, 4));
    if (corpus_below(g, 8) == 0) {
        buf_puts(g->out, "\x1b[38;5;242m/* ");
        corpus_sentence(g, corpus_between(g, 3, 10));
        buf_puts(g->out, "*/\x1b[m");
    } else {
        for (unsigned n = corpus_between(g, 1, 6); n; n--) {
            struct corpus_draw d = corpus_draw(g);
            unsigned colour = CORPUS_PICK(g, colours);
            if (d.n[0] % 2)
                buf_printf(g->out, "\x1b[38;5;%um%s\x1b[m %s", colour, d.w[0], d.w[1]);
            else
                buf_printf(g->out, "%s->%s(%s, \x1b[38;5;%um%u\x1b[m) ", d.w[0], d.w[1],
                           d.w[2], colour, d.n[1] % 4096);
        }
    }
    buf_puts(g->out, "\x1b[K");
}

static void
editor_status(struct corpus_gen *g)
{
    struct corpus_draw d = corpus_draw(g);
    buf_printf(g->out,
               "\x1b[%u;1H\x1b[1m\x1b[48;5;238m\x1b[38;5;250m src/%s/%s.c [+]\x1b[K"
               "\x1b[100G%u,%u\x1b[113G%u%%\x1b[m",
               TERM_CORPUS_ROWS - 1, d.w[0], d.w[1], g->tick % 2000, d.n[0] % 80,
               g->tick % 100);
}

static void
editor_repaint(struct corpus_gen *g)
{
    buf_puts(g->out, "\x1b[?25l\x1b[H\x1b[2J");
    for (unsigned row = 1; row <= EDITOR_TEXT_ROWS; row++) {
        buf_printf(g->out, "\x1b[%u;1H", row);
        editor_line(g, g->tick % 2000 + row);
    }
    editor_status(g);
    buf_puts(g->out, "\x1b[10;12H\x1b[?25h");
}

/* One line further down or up, as vim does it: scroll the region, paint the new line. */
static void
editor_scroll(struct corpus_gen *g)
{
    for (unsigned n = corpus_between(g, 1, 20), is_down = corpus_below(g, 2); n; n--) {
        buf_printf(g->out, "\x1b[?25l\x1b[1;%ur", EDITOR_TEXT_ROWS);
        if (is_down)
            buf_printf(g->out, "\x1b[%u;1H\r\n\x1b[r\x1b[%u;1H", EDITOR_TEXT_ROWS,
                       EDITOR_TEXT_ROWS);
        else
            buf_puts(g->out, "\x1b[1;1H\x1b[L\x1b[r\x1b[1;1H");
        editor_line(g, g->tick % 2000 + n);
        editor_status(g);
        buf_printf(g->out, "\x1b[%u;7H\x1b[?25h", corpus_between(g, 1, EDITOR_TEXT_ROWS));
    }
}

/* Typing: a character, now and then the line again from its start. */
static void
editor_type(struct corpus_gen *g)
{
    unsigned row = corpus_between(g, 1, EDITOR_TEXT_ROWS), col = corpus_between(g, 7, 60);
    buf_printf(g->out, "\x1b[%u;%uH", row, col);
    for (unsigned n = corpus_between(g, 3, 30); n; n--) {
        buf_printf(g->out, "\x1b[?25l%c\x1b[K\x1b[?25h",
                   (int)corpus_between(g, 'a', 'z'));
        if (corpus_below(g, 5))
            continue;
        buf_printf(g->out, "\x1b[?25l\x1b[%u;1H", row);
        editor_line(g, g->tick % 2000 + row);
        editor_status(g);
        buf_printf(g->out, "\x1b[%u;%uH\x1b[?25h", row, ++col);
    }
}

void
corpus_editor(struct corpus_gen *g)
{
    unsigned kind = corpus_below(g, 20);
    if (g->tick == 0) {
        buf_puts(g->out, "\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h");
        editor_repaint(g);
    } else if (kind < 2) {
        editor_repaint(g);
    } else if (kind < 8) {
        editor_scroll(g);
    } else if (kind < 15) {
        editor_type(g);
    } else if (kind < 19) {
        /* A cut and a paste below it. */
        unsigned row = corpus_between(g, 2, EDITOR_TEXT_ROWS - 5);
        buf_printf(g->out, "\x1b[%u;%ur\x1b[%u;1H\x1b[%uM\x1b[r", row, EDITOR_TEXT_ROWS,
                   row, 3U);
        for (unsigned i = 2; i < 5; i++) {
            buf_printf(g->out, "\x1b[%u;1H", EDITOR_TEXT_ROWS - 4 + i);
            editor_line(g, g->tick % 2000 + i);
        }
        editor_status(g);
    } else {
        buf_puts(g->out, "\x1b[?1049l\r\n:!make\r\n\x1b[?1049h");
        editor_repaint(g);
    }
}
