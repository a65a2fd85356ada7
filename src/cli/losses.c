/* SPDX-License-Identifier: MIT */
#include "cli/losses.h"

#include <inttypes.h>

/* A recording can be made of nothing else: only so many are told. */
static bool
may_tell(struct cli_losses *l)
{
    if (l->told == CLI_LOSSES_MAX)
        cli_say(l->command, "'%s' lacks more than that: 'ahr verify' tells what",
                l->path);
    l->told += l->told <= CLI_LOSSES_MAX;
    return l->told <= CLI_LOSSES_MAX;
}

void
cli_losses_notice(void *ctx, const struct tape_notice *n)
{
    struct cli_losses *l = ctx;
    if (n->kind == TAPE_NOTE_WARNING)
        return;
    l->is_damaged = true;
    if (!may_tell(l))
        return;
    if (n->length)
        cli_say(l->command,
                "'%s': %" PRIu64 " bytes at file offset %" PRIu64 " skipped: %s", n->file,
                n->length, n->offset, n->text);
    else
        cli_say(l->command, "'%s': at file offset %" PRIu64 ": %s", n->file, n->offset,
                n->text);
}

static bool
is_before(const struct tape_notes *notes, size_t i)
{
    const struct tape_note *n = &notes->list[i];
    for (size_t k = 0; k < i; k++)
        if (notes->list[k].offset == n->offset && !strcmp(notes->list[k].file, n->file))
            return true;
    return false;
}

void
cli_losses_notes(struct cli_losses *l, const struct tape_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct tape_note *n = &notes->list[i];
        struct tape_notice notice = { n->kind, n->file, n->offset, n->length, n->text };
        if (!is_before(notes, i))
            cli_losses_notice(l, &notice);
    }
}

void
cli_losses_gap(struct cli_losses *l, uint64_t byte_off, uint64_t bytes, bool is_recorded)
{
    l->is_damaged |= !is_recorded;
    if (!may_tell(l))
        return;
    cli_say(l->command, "'%s': %" PRIu64 " bytes from byte %" PRIu64 " on %s", l->path,
            bytes, byte_off, is_recorded ? "were not recorded" : "are missing");
}

void
cli_losses_record(struct cli_losses *l, const struct tape_record *rec)
{
    if (rec->tag == TAPE_MARK && rec->code == TAPE_MARK_GAP) {
        cli_losses_gap(l, l->next_byte, rec->val, true);
        l->next_byte += rec->val;
    }
    if (rec->tag != TAPE_DATA)
        return;
    if (rec->byte_off > l->next_byte)
        cli_losses_gap(l, l->next_byte, rec->byte_off - l->next_byte, false);
    l->next_byte = rec->byte_off + rec->bytes.n;
}
