/* SPDX-License-Identifier: MIT */
/* handlers_priv.h -- one function a sequence; sequences.c has them in its tables. */
#ifndef TERM_HANDLERS_PRIV_H
#define TERM_HANDLERS_PRIV_H

#include "term/sequences.h"
#include "term/term_priv.h"

/* cursor.c */
void term_h_cuu(struct term *t, const struct term_op *op);
void term_h_cud(struct term *t, const struct term_op *op);
void term_h_cuf(struct term *t, const struct term_op *op);
void term_h_cub(struct term *t, const struct term_op *op);
void term_h_bs(struct term *t, const struct term_op *op);
void term_h_cr(struct term *t, const struct term_op *op);
void term_h_lf(struct term *t, const struct term_op *op);
void term_h_ind(struct term *t, const struct term_op *op);
void term_h_nel(struct term *t, const struct term_op *op);
void term_h_cnl(struct term *t, const struct term_op *op);
void term_h_cpl(struct term *t, const struct term_op *op);
void term_h_cup(struct term *t, const struct term_op *op);
void term_h_cha(struct term *t, const struct term_op *op);
void term_h_vpa(struct term *t, const struct term_op *op);
void term_h_hpr(struct term *t, const struct term_op *op);
void term_h_vpr(struct term *t, const struct term_op *op);
void term_h_ht(struct term *t, const struct term_op *op);
void term_h_cht(struct term *t, const struct term_op *op);
void term_h_cbt(struct term *t, const struct term_op *op);
void term_h_hts(struct term *t, const struct term_op *op);
void term_h_tbc(struct term *t, const struct term_op *op);
void term_h_decst8c(struct term *t, const struct term_op *op);
void term_h_decsc(struct term *t, const struct term_op *op);
void term_h_decrc(struct term *t, const struct term_op *op);
void term_h_scorc(struct term *t, const struct term_op *op);
void term_h_decslrm(struct term *t, const struct term_op *op);
void term_h_decstbm(struct term *t, const struct term_op *op);

/* screen.c */
void term_h_ri(struct term *t, const struct term_op *op);

/* edit.c */
void term_h_ed(struct term *t, const struct term_op *op);
void term_h_el(struct term *t, const struct term_op *op);
void term_h_decsed(struct term *t, const struct term_op *op);
void term_h_decsel(struct term *t, const struct term_op *op);
void term_h_ech(struct term *t, const struct term_op *op);
void term_h_ich(struct term *t, const struct term_op *op);
void term_h_dch(struct term *t, const struct term_op *op);
void term_h_decic(struct term *t, const struct term_op *op);
void term_h_decdc(struct term *t, const struct term_op *op);
void term_h_sl(struct term *t, const struct term_op *op);
void term_h_sr(struct term *t, const struct term_op *op);
void term_h_decbi(struct term *t, const struct term_op *op);
void term_h_decfi(struct term *t, const struct term_op *op);
void term_h_il(struct term *t, const struct term_op *op);
void term_h_dl(struct term *t, const struct term_op *op);
void term_h_su(struct term *t, const struct term_op *op);
void term_h_sd(struct term *t, const struct term_op *op);
void term_h_rep(struct term *t, const struct term_op *op);
void term_h_decaln(struct term *t, const struct term_op *op);
void term_h_decsca(struct term *t, const struct term_op *op);
void term_h_decscusr(struct term *t, const struct term_op *op);

/* modes.c */
void term_h_sm(struct term *t, const struct term_op *op);
void term_h_rm(struct term *t, const struct term_op *op);
void term_h_xtsave(struct term *t, const struct term_op *op);
void term_h_xtrestore(struct term *t, const struct term_op *op);
void term_h_decrqm(struct term *t, const struct term_op *op);
void term_h_deckpam(struct term *t, const struct term_op *op);
void term_h_kitty_push(struct term *t, const struct term_op *op);
void term_h_kitty_pop(struct term *t, const struct term_op *op);
void term_h_kitty_set(struct term *t, const struct term_op *op);
void term_h_kitty_query(struct term *t, const struct term_op *op);

/* report.c */
void term_h_da1(struct term *t, const struct term_op *op);
void term_h_da2(struct term *t, const struct term_op *op);
void term_h_da3(struct term *t, const struct term_op *op);
void term_h_xtversion(struct term *t, const struct term_op *op);
void term_h_dsr(struct term *t, const struct term_op *op);
void term_h_decdsr(struct term *t, const struct term_op *op);
void term_h_window(struct term *t, const struct term_op *op);

#endif
