/* SPDX-License-Identifier: MIT */
/* sequences.c -- every sequence the model knows, by table; doc/sequences.md is made of
 * them. */
#include "term/sequences.h"
#include "term/handlers_priv.h"

static void
ring(struct term *t, const struct term_op *op)
{
    (void)op;
    t->bells++;
}

static void
ignore(struct term *t, const struct term_op *op)
{
    (void)t;
    (void)op;
}

static void
ris(struct term *t, const struct term_op *op)
{
    (void)op;
    term_reset(t);
}

static void
decstr(struct term *t, const struct term_op *op)
{
    (void)op;
    term_soft_reset(t);
}

/* -- charsets -- */

/* SI, SO, LS2, LS3: which of G0 to G3 is in use. */
static void
lock_shift(struct term *t, const struct term_op *op)
{
    static const uint8_t finals[] = { 0x0f, 0x0e, 'n', 'o' };
    for (unsigned g = 0; g < sizeof(finals); g++)
        if (finals[g] == op->final)
            t->at.charsets.gl = (uint8_t)g;
}

/* SS2, SS3: for one character. */
static void
single_shift(struct term *t, const struct term_op *op)
{
    t->at.charsets.single = op->final == 'N' ? 2 : 3;
}

/* ESC ( ) * + and a final: what G0 to G3 are. */
static void
designate(struct term *t, const struct term_op *op)
{
    enum term_charset set = op->final == '0'   ? TERM_CHARSET_LINES
                            : op->final == 'A' ? TERM_CHARSET_UK
                                               : TERM_CHARSET_ASCII;
    t->at.charsets.g[op->intermediate - '('] = (uint8_t)set;
}

/* -- the tables -- */

static const struct term_sequence controls[] = {
    { 0, 0, 0x07, ring, "BEL", "bell: counted" },
    { 0, 0, 0x08, term_h_bs, "BS", "back by one column" },
    { 0, 0, 0x09, term_h_ht, "HT", "to the next tab stop" },
    { 0, 0, 0x0a, term_h_lf, "LF", "down by one row; scrolls at the bottom margin" },
    { 0, 0, 0x0b, term_h_lf, "VT", "as LF" },
    { 0, 0, 0x0c, term_h_lf, "FF", "as LF" },
    { 0, 0, 0x0d, term_h_cr, "CR", "to the left margin" },
    { 0, 0, 0x0e, lock_shift, "SO", "use G1" },
    { 0, 0, 0x0f, lock_shift, "SI", "use G0" },
};

static const struct term_sequence escapes[] = {
    { 0, 0, '6', term_h_decbi, "DECBI", "back by one column, scrolling at the margin" },
    { 0, 0, '7', term_h_decsc, "DECSC", "save the cursor" },
    { 0, 0, '8', term_h_decrc, "DECRC", "restore the cursor" },
    { 0, 0, '9', term_h_decfi, "DECFI",
      "forward by one column, scrolling at the margin" },
    { 0, 0, '=', term_h_deckpam, "DECKPAM", "application keypad" },
    { 0, 0, '>', term_h_deckpam, "DECKPNM", "numeric keypad" },
    { 0, 0, 'D', term_h_ind, "IND", "down by one row; scrolls at the bottom margin" },
    { 0, 0, 'E', term_h_nel, "NEL", "to the start of the next row" },
    { 0, 0, 'H', term_h_hts, "HTS", "set a tab stop" },
    { 0, 0, 'M', term_h_ri, "RI", "up by one row; scrolls at the top margin" },
    { 0, 0, 'N', single_shift, "SS2", "next character from G2" },
    { 0, 0, 'O', single_shift, "SS3", "next character from G3" },
    { 0, 0, 'Z', term_h_da1, "DECID", "as DA1" },
    { 0, 0, '\\', ignore, "ST", "end of a string" },
    { 0, 0, 'c', ris, "RIS", "full reset" },
    { 0, 0, 'n', lock_shift, "LS2", "use G2" },
    { 0, 0, 'o', lock_shift, "LS3", "use G3" },
    { 0, '#', '8', term_h_decaln, "DECALN", "fill the screen with E" },
};

static const struct term_sequence csis[] = {
    { 0, 0, '@', term_h_ich, "ICH", "insert blank characters" },
    { 0, ' ', '@', term_h_sl, "SL", "scroll left" },
    { 0, 0, 'A', term_h_cuu, "CUU", "cursor up" },
    { 0, ' ', 'A', term_h_sr, "SR", "scroll right" },
    { 0, 0, 'B', term_h_cud, "CUD", "cursor down" },
    { 0, 0, 'C', term_h_cuf, "CUF", "cursor right" },
    { 0, 0, 'D', term_h_cub, "CUB", "cursor left" },
    { 0, 0, 'E', term_h_cnl, "CNL", "to the start of a row below" },
    { 0, 0, 'F', term_h_cpl, "CPL", "to the start of a row above" },
    { 0, 0, 'G', term_h_cha, "CHA", "to a column" },
    { 0, 0, 'H', term_h_cup, "CUP", "to a row and column" },
    { 0, 0, 'I', term_h_cht, "CHT", "forward by tab stops" },
    { 0, 0, 'J', term_h_ed, "ED",
      "erase in display; 3: the scrollback, if so configured" },
    { '?', 0, 'J', term_h_decsed, "DECSED", "erase in display what is not protected" },
    { 0, 0, 'K', term_h_el, "EL", "erase in line" },
    { '?', 0, 'K', term_h_decsel, "DECSEL", "erase in line what is not protected" },
    { 0, 0, 'L', term_h_il, "IL", "insert rows" },
    { 0, 0, 'M', term_h_dl, "DL", "delete rows" },
    { 0, 0, 'P', term_h_dch, "DCH", "delete characters" },
    { 0, 0, 'S', term_h_su, "SU", "scroll up" },
    { 0, 0, 'T', term_h_sd, "SD", "scroll down" },
    { 0, 0, 'X', term_h_ech, "ECH", "erase characters" },
    { 0, 0, 'Z', term_h_cbt, "CBT", "back by tab stops" },
    { 0, 0, '^', term_h_sd, "SD", "scroll down (as ECMA-48 had it once)" },
    { 0, 0, '`', term_h_cha, "HPA", "to a column" },
    { 0, 0, 'a', term_h_hpr, "HPR", "right by columns" },
    { 0, 0, 'b', term_h_rep, "REP", "repeat the last character" },
    { 0, 0, 'c', term_h_da1, "DA1", "what terminal is this?" },
    { '>', 0, 'c', term_h_da2, "DA2", "which version?" },
    { '=', 0, 'c', term_h_da3, "DA3", "which unit?" },
    { 0, 0, 'd', term_h_vpa, "VPA", "to a row" },
    { 0, 0, 'e', term_h_vpr, "VPR", "down by rows" },
    { 0, 0, 'f', term_h_cup, "HVP", "to a row and column" },
    { 0, 0, 'g', term_h_tbc, "TBC", "clear tab stops" },
    { 0, 0, 'h', term_h_sm, "SM", "set modes" },
    { '?', 0, 'h', term_h_sm, "DECSET", "set private modes" },
    { 0, 0, 'l', term_h_rm, "RM", "reset modes" },
    { '?', 0, 'l', term_h_rm, "DECRST", "reset private modes" },
    { 0, 0, 'm', term_sgr, "SGR", "colours and attributes" },
    { 0, 0, 'n', term_h_dsr, "DSR", "status; 6: where is the cursor?" },
    { '?', 0, 'n', term_h_decdsr, "DECDSR", "6: where is the cursor?" },
    { 0, '!', 'p', decstr, "DECSTR", "soft reset" },
    { 0, '$', 'p', term_h_decrqm, "DECRQM", "is a mode set?" },
    { '?', '$', 'p', term_h_decrqm, "DECRQM", "is a private mode set?" },
    { 0, ' ', 'q', term_h_decscusr, "DECSCUSR", "shape of the cursor" },
    { 0, '"', 'q', term_h_decsca, "DECSCA", "protect what is printed from now on" },
    { '>', 0, 'q', term_h_xtversion, "XTVERSION", "name and version" },
    { 0, 0, 'r', term_h_decstbm, "DECSTBM", "top and bottom margins" },
    { '?', 0, 'r', term_h_xtrestore, "XTRESTORE", "restore private modes" },
    { '?', 0, 's', term_h_xtsave, "XTSAVE", "save private modes" },
    { 0, 0, 's', term_h_decslrm, "DECSLRM", "left and right margins; else as DECSC" },
    { 0, 0, 't', term_h_window, "XTWINOPS", "22, 23: title stack; 18: the size" },
    { 0, 0, 'u', term_h_scorc, "SCORC", "as DECRC, without a pending wrap" },
    { '?', 0, 'u', term_h_kitty_query, "", "which keyboard flags are set?" },
    { '>', 0, 'u', term_h_kitty_push, "", "push keyboard flags" },
    { '<', 0, 'u', term_h_kitty_pop, "", "pop keyboard flags" },
    { '=', 0, 'u', term_h_kitty_set, "", "set keyboard flags" },
    { '?', 0, 'W', term_h_decst8c, "DECST8C", "5: a tab stop each eight columns" },
    { 0, '\'', '}', term_h_decic, "DECIC", "insert columns" },
    { 0, '\'', '~', term_h_decdc, "DECDC", "delete columns" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const struct term_sequence *
term_sequence_at(enum term_sequence_kind kind, unsigned i)
{
    switch (kind) {
    case TERM_SEQUENCE_CONTROL:
        return i < COUNT(controls) ? &controls[i] : NULL;
    case TERM_SEQUENCE_ESCAPE:
        return i < COUNT(escapes) ? &escapes[i] : NULL;
    case TERM_SEQUENCE_CSI:
        return i < COUNT(csis) ? &csis[i] : NULL;
    }
    return NULL;
}

/* -- dispatch -- */

void
term_index_sequences(struct term_index *index)
{
    for (unsigned i = 0; i < COUNT(index->control); i++)
        index->control[i] = ignore;
    for (unsigned i = 0; i < COUNT(index->escape); i++)
        index->escape[i] = ignore;
    for (unsigned i = 0; i < COUNT(index->csi); i++)
        for (unsigned k = 0; k < COUNT(index->csi[i]); k++)
            index->csi[i][k] = ignore;
    for (unsigned i = 0; i < COUNT(csis); i++)
        if (!csis[i].intermediate)
            index->csi[csis[i].marker & 7][csis[i].final - 0x40] = csis[i].run;
    for (unsigned i = 0; i < COUNT(escapes); i++)
        if (!escapes[i].intermediate)
            index->escape[escapes[i].final - 0x30] = escapes[i].run;
    for (unsigned i = 0; i < COUNT(controls); i++)
        index->control[controls[i].final] = controls[i].run;
}

static term_handler
find(const struct term_sequence *table, size_t n, const struct term_op *op)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].final == op->final && table[i].intermediate == op->intermediate &&
            table[i].marker == op->marker)
            return table[i].run;
    return ignore;
}

void
term_run_rare(struct term *t, const struct term_op *op)
{
    if (op->kind == TERM_OP_CSI)
        find(csis, COUNT(csis), op)(t, op);
    else if (op->intermediate >= '(' && op->intermediate <= '+')
        designate(t, op);
    else
        find(escapes, COUNT(escapes), op)(t, op);
}
