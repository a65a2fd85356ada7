/* SPDX-License-Identifier: MIT */
#include "play/import.h"

static const struct play_import_format *const formats[] = {
    &play_import_cast, &play_import_script,
    &play_import_ttyrec, /* last: what it begins with tells least */
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct play_import_format *
play_import_find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

const struct play_import_format *
play_import_guess(struct view beginning)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->fits(beginning))
            return formats[i];
    return NULL;
}

int
play_import_read(const struct play_import_format *format, struct play_import *im)
{
    int r = format->read(im);
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++)
        if (im->source[i] && im->source[i]->error && (!r || r == ERR_DAMAGED))
            r = im->source[i]->error;
    return r;
}

int
play_import_begin(struct play_import *im, const struct play_import_head *head)
{
    struct play_import_head h = *head;
    if (h.cols > PLAY_IMPORT_SIZE_MAX || h.rows > PLAY_IMPORT_SIZE_MAX || !h.cols ||
        !h.rows)
        h.cols = h.rows = 0;
    if (h.start_ns > PLAY_IMPORT_TIME_MAX)
        h.start_ns = 0;
    im->has_head = true;
    return im->head(im->ctx, &h);
}

int
play_import_put(struct play_import *im, struct play_import_record rec)
{
    bool is_stream = rec.kind == PLAY_IMPORT_OUTPUT || rec.kind == PLAY_IMPORT_INPUT;
    struct view left = rec.bytes;
    int r = 0;
    rec.time_ns = im->end_ns;
    im->records++;
    if (!is_stream)
        return im->record(im->ctx, &rec);
    while (!r && left.n) {
        size_t n = left.n < PLAY_IMPORT_BYTES_MAX ? left.n : PLAY_IMPORT_BYTES_MAX;
        rec.bytes = (struct view){ left.p, n };
        r = im->record(im->ctx, &rec);
        left = (struct view){ left.p + n, left.n - n };
    }
    return r;
}

void
play_import_wait(struct play_import *im, uint64_t ns)
{
    if (ns <= UINT64_C(1000000000) * PLAY_IMPORT_STEP_MAX_S &&
        im->end_ns + ns <= PLAY_IMPORT_TIME_MAX)
        im->end_ns += ns;
}

void
play_import_clock(struct play_import *im, uint64_t raw_ns)
{
    if (im->has_raw && raw_ns > im->raw_ns)
        play_import_wait(im, raw_ns - im->raw_ns);
    im->raw_ns = raw_ns;
    im->has_raw = true;
}

void
play_import_damaged(struct play_import *im, int source, uint64_t offset, const char *text)
{
    im->damages++;
    if (im->damage)
        im->damage(im->ctx, source, offset, text);
}
