/* SPDX-License-Identifier: MIT */
/* report.c -- what programs ask a terminal, and the answers. */
#include <stdarg.h>
#include <stdio.h>

#include "term/handlers_priv.h"

enum { REPLY_MAX = 512 };

void
term_reply(struct term *t, const char *fmt, ...)
{
    if (!t->opt.reply)
        return;
    char text[REPLY_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n > 0 && n < REPLY_MAX)
        t->opt.reply(t->opt.ctx, text, (size_t)n);
}

/* A VT220 with colours. */
void
term_h_da1(struct term *t, const struct term_op *op)
{
    if (!term_param(op, 0, 0))
        term_reply(t, "\x1b[?62;22c");
}

void
term_h_da2(struct term *t, const struct term_op *op)
{
    if (!term_param(op, 0, 0))
        term_reply(t, "\x1b[>1;100;0c");
}

void
term_h_da3(struct term *t, const struct term_op *op)
{
    if (!term_param(op, 0, 0))
        term_reply(t, "\x1bP!|00000000\x1b\\");
}

void
term_h_xtversion(struct term *t, const struct term_op *op)
{
    if (!term_param(op, 0, 0))
        term_reply(t, "\x1bP>|ahr(%s)\x1b\\", AHR_VERSION);
}

static void
report_cursor(struct term *t, const char *marker)
{
    bool is_origin = term_has(t, TERM_MODE_ORIGIN);
    unsigned row = t->at.row - (is_origin ? t->top : 0);
    unsigned col = t->at.col - (is_origin ? t->left : 0);
    term_reply(t, "\x1b[%s%u;%uR", marker, row + 1, col + 1);
}

void
term_h_dsr(struct term *t, const struct term_op *op)
{
    unsigned what = term_param(op, 0, 0);
    if (what == 5)
        term_reply(t, "\x1b[0n");
    else if (what == 6)
        report_cursor(t, "");
}

void
term_h_decdsr(struct term *t, const struct term_op *op)
{
    if (term_param(op, 0, 0) == 6)
        report_cursor(t, "?");
}

/* -- DECRQSS -- */

static void
answer_sgr(struct term *t)
{
    struct buf sgr = { 0 };
    term_style_to_sgr(&t->at.pen, &sgr);
    term_reply(t, "\x1bP1$r%sm\x1b\\", buf_str(&sgr));
    buf_release(&sgr);
}

static void
answer_setting(struct term *t, struct view what)
{
    const char *name = (const char *)what.p;
    if (what.n == 1 && name[0] == 'm')
        answer_sgr(t);
    else if (what.n == 1 && name[0] == 'r')
        term_reply(t, "\x1bP1$r%u;%ur\x1b\\", t->top + 1, t->bottom);
    else if (what.n == 1 && name[0] == 's')
        term_reply(t, "\x1bP1$r%u;%us\x1b\\", t->left + 1, t->right);
    else if (what.n == 2 && !memcmp(name, " q", 2))
        term_reply(t, "\x1bP1$r%u q\x1b\\", t->cursor_style);
    else if (what.n == 2 && !memcmp(name, "\"q", 2))
        term_reply(t, "\x1bP1$r%u\"q\x1b\\", t->at.pen.attrs & TERM_PROTECTED ? 1U : 0U);
    else if (what.n == 2 && !memcmp(name, "\"p", 2))
        term_reply(t, "\x1bP1$r62;1\"p\x1b\\");
    else
        term_reply(t, "\x1bP0$r\x1b\\");
}

void
term_dcs(struct term *t, const struct term_op *op)
{
    if (op->marker || op->final != 'q')
        return;
    if (op->intermediate == '$')
        answer_setting(t, op->string);
    else if (op->intermediate == '+') /* XTGETTCAP: nothing is known */
        term_reply(t, "\x1bP0+r\x1b\\");
}

/* -- the window -- */

/* CSI t: the title stack, and the size. What would move a window is not heeded. */
void
term_h_window(struct term *t, const struct term_op *op)
{
    unsigned what = term_param(op, 0, 0), which = term_param(op, 1, 0);
    if (what == 18)
        term_reply(t, "\x1b[8;%u;%ut", t->rows, t->cols);
    else if (what == 22)
        term_push_title(t, which);
    else if (what == 23)
        term_pop_title(t, which);
}
