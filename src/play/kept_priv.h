/* SPDX-License-Identifier: MIT */
/* kept_priv.h -- lines by copy, for those who cannot pass them on at once. */
#ifndef PLAY_KEPT_PRIV_H
#define PLAY_KEPT_PRIV_H

#include "term/term.h"

struct play_kept_head {
    uint64_t last_write_byte, index;
    size_t text_at;
    uint32_t text_len, cols, row_cols;
    uint32_t span_at, n_spans;
    bool is_wrapped, has_pad, is_alternate;
};

/* Zeroed it is empty and ready for use. As many as the model has may come. */
struct play_kept {
    struct buf heads;
    struct buf texts; /* one behind the other; the owner may add something between */
    struct buf spans; /* links are borrowed from the model */
};

void play_kept_release(struct play_kept *k);
size_t play_kept_count(const struct play_kept *k);
/* Its looks as well, if asked. 0, -ENOMEM or ERR_LIMIT. */
int play_kept_add(struct play_kept *k, const struct term_line *line, uint64_t index,
                  bool has_spans);
struct play_kept_head *play_kept_head(const struct play_kept *k, size_t i);
/* The line again, with its text at `text`; borrowed until the next call that changes k.
 */
struct term_line play_kept_line(const struct play_kept *k, size_t i, uint8_t *text);
/* The first n lines and so many bytes of the texts go. */
void play_kept_drop(struct play_kept *k, size_t n, size_t bytes);
/* By last_write_byte; lines with the same one stay in their order. */
void play_kept_sort(struct play_kept *k);

#endif
