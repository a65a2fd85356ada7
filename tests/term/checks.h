/* SPDX-License-Identifier: MIT */
/* checks.h -- the steps that look and do not touch: false with the reason in r->why. */
#ifndef CHECKS_H
#define CHECKS_H

#include "term/steps.h"

bool check_row(struct steps_run *r, const struct case_step *s);
bool check_rows(struct steps_run *r, const struct case_step *s);
bool check_line(struct steps_run *r, const struct case_step *s);
bool check_row_property(struct steps_run *r, const struct case_step *s);
bool check_line_property(struct steps_run *r, const struct case_step *s);
bool check_scrollback(struct steps_run *r, const struct case_step *s);
bool check_final(struct steps_run *r, const struct case_step *s);
bool check_cell(struct steps_run *r, const struct case_step *s);
bool check_style(struct steps_run *r, const struct case_step *s);
bool check_link(struct steps_run *r, const struct case_step *s);
bool check_damage(struct steps_run *r, const struct case_step *s);
bool check_cursor(struct steps_run *r, const struct case_step *s);
bool check_cursor_look(struct steps_run *r, const struct case_step *s);
bool check_mode(struct steps_run *r, const struct case_step *s);
bool check_title(struct steps_run *r, const struct case_step *s);
bool check_colour(struct steps_run *r, const struct case_step *s);
bool check_reply(struct steps_run *r, const struct case_step *s);
bool check_marks(struct steps_run *r, const struct case_step *s);
bool check_mark(struct steps_run *r, const struct case_step *s);

#endif
