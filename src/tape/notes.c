/* SPDX-License-Identifier: MIT */
#include "tape/notes.h"

void
tape_notes_add(void *ctx, const struct tape_notice *n)
{
    struct tape_notes *notes = ctx;
    notes->damages += n->kind != TAPE_NOTE_WARNING;
    notes->is_torn |= n->kind == TAPE_NOTE_TORN;
    if (!notes->list)
        notes->list = calloc(2 * (size_t)TAPE_NOTES_MAX, sizeof(notes->list[0]));
    struct tape_note note = { n->kind, n->offset, n->length, strdup(n->file),
                              strdup(n->text) };
    bool is_warning = n->kind == TAPE_NOTE_WARNING;
    size_t listed = is_warning ? notes->warnings : notes->count - notes->warnings;
    if (listed == TAPE_NOTES_MAX || !notes->list || !note.file || !note.text) {
        notes->left_out++;
        free(note.file);
        free(note.text);
        return;
    }
    notes->warnings += is_warning;
    notes->list[notes->count++] = note;
}

void
tape_notes_release(struct tape_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        free(notes->list[i].file);
        free(notes->list[i].text);
    }
    free(notes->list);
    *notes = (struct tape_notes){ 0 };
}
