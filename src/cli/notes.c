/* SPDX-License-Identifier: MIT */
#include "cli/notes.h"

#include <inttypes.h>

#include "cli/report.h"

void
cli_notes_json(struct json *j, const char *path, const struct tape_notes *notes)
{
    json_key(j, "warnings"), json_open(j, '[');
    for (size_t i = 0; i < notes->count; i++)
        if (notes->list[i].kind == TAPE_NOTE_WARNING)
            json_str(j, notes->list[i].text);
    json_close(j, ']');
    json_key(j, "damaged"), json_open(j, '[');
    for (size_t i = 0; i < notes->count; i++) {
        const struct tape_note *n = &notes->list[i];
        if (n->kind == TAPE_NOTE_WARNING)
            continue;
        json_open(j, '{');
        json_key(j, "offset"), json_u64(j, n->offset);
        json_key(j, "length"), json_u64(j, n->length);
        json_key(j, "reason"), json_str(j, n->text);
        if (strcmp(n->file, path) != 0)
            json_key(j, "file"), json_str(j, n->file);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "truncated_tail"), json_bool(j, notes->is_torn);
}

static void
text_note(struct buf *out, const char *path, const struct tape_note *n)
{
    static const char *const kind[] = {
        [TAPE_NOTE_WARNING] = "warning",
        [TAPE_NOTE_DAMAGE] = "damaged",
        [TAPE_NOTE_TORN] = "torn end",
    };
    buf_printf(out, "\n  %s: ", kind[n->kind]);
    if (strcmp(n->file, path) != 0)
        buf_printf(out, "%s: ", n->file);
    if (n->kind != TAPE_NOTE_WARNING) {
        if (n->length)
            cli_count(out, n->length, "byte");
        buf_printf(out, "%sat file offset %" PRIu64 ": ", n->length ? " " : "",
                   n->offset);
    }
    buf_puts(out, n->text);
}

void
cli_notes_text(struct buf *out, const char *path, const struct tape_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        text_note(out, path, &notes->list[i]);
    if (notes->left_out)
        buf_printf(out, "\n  and %zu more", notes->left_out);
}
