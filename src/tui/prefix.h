/* SPDX-License-Identifier: MIT */
/*
 * prefix.h -- what is typed for the session, byte for byte, and what is for us: the
 * prefix and the key behind it.
 *
 * However a terminal writes the prefix: as its control byte, or in the sequences of
 * xterm's and kitty's keyboard protocols. Twice, it is sent once, as it was typed. What
 * is pasted is for the session, if the terminal marks it. Nothing that is for the session
 * is ever held back.
 */
#ifndef TUI_PREFIX_H
#define TUI_PREFIX_H

#include <stdbool.h>

#include "base/buf.h"

enum { TUI_PREFIX_DEFAULT = 0x1d }; /* Ctrl-] */

struct tui_prefix {
    uint8_t key; /* a control byte: 1..31; 0: there is none, all is for the session */
    bool is_held;
    bool is_pasting;
    unsigned matched; /* so many bytes of a paste's begin or end have come */
};

struct tui_key;

/* "^]", "C-]", "Ctrl-]", in either case of letters. 0 or ERR_USAGE: ^[ begins other keys,
 * ^I ^J ^M are keys that are needed. */
int tui_prefix_parse(const char *text, uint8_t *ret, struct err *err);
/* As people read it: "Ctrl-]". */
const char *tui_prefix_name(uint8_t key, char room[16]);

/*
 * Takes bytes from the front of *in: appends what is for the session to *out, until the
 * prefix was typed and is_held becomes true, or *in is empty. While it is held the
 * caller reads keys itself (keys_priv.h) and clears it: but for the prefix again, which
 * tui_prefix_again() knows.
 */
void tui_prefix_take(struct tui_prefix *p, struct view *in, struct buf *out);
/* While it is held: is the prefix typed again at the front of *in? Then it is taken, and
 * appended to *out. Releases and bare modifiers of kitty's protocol are passed over.
 * True: it is not held any more, go on with tui_prefix_take(); so it is when a paste
 * begins, which is the session's. Not to be asked in the middle of a key: of one that was
 * cut the caller has the rest. */
bool tui_prefix_again(struct tui_prefix *p, struct view *in, struct buf *out);
/* Is this key the prefix? For those who read keys. */
bool tui_prefix_is(const struct tui_prefix *p, const struct tui_key *key);

#endif
