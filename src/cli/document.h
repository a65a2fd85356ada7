/* SPDX-License-Identifier: MIT */
/*
 * document.h -- a session as a document: found, loaded, masked, formatted, written.
 *
 * What can be read of a damaged recording is delivered, and the damage told on stderr.
 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include "cli/command.h"
#include "play/report.h"

/* The formats that users choose from, as the words of an option. */
#define CLI_DOCUMENT_FORMATS "md|json|csv|txt|ansi|html|events|cast|cast3"
/* … and those of `ahr export`. */
#define CLI_EXPORT_FORMATS CLI_DOCUMENT_FORMATS "|jsonl"

/* The name of that word, from 0. */
const char *cli_document_format(int word);
/* What a file's name tells of its format; NULL: nothing. */
const char *cli_document_format_of(const char *file_name);

/* Of what a document is made. */
enum cli_document_what {
    CLI_WHAT_LINES, /* a terminal's lines; but events of a run are its own */
    CLI_WHAT_ANY,   /* of a run its conversation, where the format has one */
    CLI_WHAT_TURNS,
    CLI_WHAT_TERMINAL,
};

struct cli_document {
    const char *session; /* SESSION; NULL: last */
    /* md json csv txt ansi html events cast cast3 jsonl; branch-points and its likes, by
     * the commands that make them */
    const char *format;
    enum cli_document_what what;
    uint64_t first_turn, last_turn; /* of a conversation; 0: all */
    enum play_order order;
    bool is_unmasked, has_times, has_instructions;
    bool is_bare; /* no notices in it: its readers know no such item */
    const char
        *output; /* NULL: stdout; else it is replaced, or never left half-written */
    uint64_t to_byte, to_ns; /* as in play_load_options; 0: all */
};

/* An exit status, or an error. */
int cli_document(const struct cli_command *self, const struct cli_document *doc,
                 struct err *err);

#endif
