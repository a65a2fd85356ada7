/* SPDX-License-Identifier: MIT */
/* sequences.c -- prints doc/sequences.md from the terminal model's tables. */
#include "term/sequences.h"

#include <stdio.h>

/* What stands in no table. */
static const char preface[] =
    "# Control sequences\n"
    "\n"
    "What the terminal model (`src/term/`) knows of what programs send. This file is\n"
    "made from the model's own tables by `./dev sequences`: do not edit it. Sequences\n"
    "stand in `src/term/sequences.c`, modes in `modes.c`, OSC numbers in `osc.c`.\n"
    "\n"
    "Spaces are for reading only; one that is sent is written `SP`. `Pm` stands for\n"
    "numbers with semicolons (in SGR also colons) between them; one that is left out\n"
    "has its usual value. `ST` is `ESC \\`.\n"
    "\n"
    "Known and not acted on:\n"
    "\n"
    "- Mouse, focus, paste, keypad and keyboard modes are state that a viewer reads.\n"
    "- The clipboard (OSC 52) and shell marks (OSC 133, 633) are recorded as marks.\n"
    "- What would move, resize or iconify a window is skipped.\n"
    "- APC, PM and SOS strings, and `ESC k … ST`, are skipped to their end, as is a DCS "
    "not listed here.\n"
    "- 8-bit controls (C1) are not honoured: a byte from 0x80 to 0x9f is bad UTF-8 and\n"
    "  becomes U+FFFD, the characters U+0080 to U+009F are dropped.\n"
    "\n"
    "All else that has the form of a sequence is skipped. CAN and SUB end one at once.\n";

static const char charsets[] =
    "\n"
    "`ESC (`, `ESC )`, `ESC *` and `ESC +` with a final say what G0, G1, G2 and G3 are:\n"
    "`0` DEC line drawing, `A` British, any other ASCII.\n";

static const char strings[] =
    "\n"
    "## DCS\n"
    "\n"
    "| sequence | name | what |\n"
    "|---|---|---|\n"
    "| `DCS $ q … ST` | DECRQSS | how is it set? `m` SGR, `r` DECSTBM, `s` DECSLRM, "
    "`SP q` DECSCUSR, `\" q` DECSCA, `\" p` DECSCL; else \"not known\" |\n"
    "| `DCS + q … ST` | XTGETTCAP | terminfo's values: always \"not known\" |\n";

static void
put_byte(uint8_t byte)
{
    if (byte == ' ')
        printf(" SP");
    else if (byte == '|') /* else it would end the table's cell */
        printf(" \\|");
    else if (byte)
        printf(" %c", byte);
}

static void
put_sequence(const char *introducer, const char *params, const struct term_sequence *s)
{
    const char *quote = s->final == '`' ? "``" : "`";
    printf("| %s%s", quote, introducer);
    put_byte(s->marker);
    printf("%s", params);
    put_byte(s->intermediate);
    put_byte(s->final);
    printf("%s%s | %s | %s |\n", s->final == '`' ? " " : "", quote, s->name, s->what);
}

static void
put_head(const char *title, const char *columns)
{
    printf("\n## %s\n\n| %s |\n|---|---|---|\n", title, columns);
}

static void
put_controls(void)
{
    const struct term_sequence *s;
    put_head("Controls", "byte | name | what");
    for (unsigned i = 0; (s = term_sequence_at(TERM_SEQUENCE_CONTROL, i)); i++)
        printf("| `0x%02x` | %s | %s |\n", s->final, s->name, s->what);
}

static void
put_sequences(enum term_sequence_kind kind, const char *introducer, const char *params)
{
    const struct term_sequence *s;
    put_head(introducer, "sequence | name | what");
    for (unsigned i = 0; (s = term_sequence_at(kind, i)); i++)
        put_sequence(introducer, params, s);
}

static void
put_modes(void)
{
    unsigned number;
    bool is_private;
    const char *name;
    put_head("Modes", "set | reset | what");
    for (unsigned i = 0; (name = term_mode_name(i, &number, &is_private)); i++) {
        const char *marker = is_private ? "? " : "";
        printf("| `CSI %s%u h` | `CSI %s%u l` | %s |\n", marker, number, marker, number,
               name);
    }
}

static void
put_oscs(void)
{
    unsigned number;
    const char *what;
    printf("\n## OSC\n\nThey end with `ST` or BEL; answers end as the question did.\n\n"
           "| sequence | what |\n|---|---|\n");
    for (unsigned i = 0; (what = term_osc_name(i, &number)); i++)
        printf("| `OSC %u ; … ST` | %s |\n", number, what);
}

int
main(void)
{
    printf("%s", preface);
    put_controls();
    put_sequences(TERM_SEQUENCE_ESCAPE, "ESC", "");
    printf("%s", charsets);
    put_sequences(TERM_SEQUENCE_CSI, "CSI", " Pm");
    put_modes();
    put_oscs();
    printf("%s", strings);
    return fflush(stdout) != 0;
}
