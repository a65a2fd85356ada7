/* SPDX-License-Identifier: MIT */
/*
 * format_branch_points.c -- JSON with a fixed schema: keys by the alphabet, an indent of
 * two blanks, laid out as serde_json's pretty printer does, whose readers compare bytes.
 */
#include "play/format_priv.h"

static void
begin(struct play_out *o)
{
    buf_puts(o->out, "{\n  \"items\": [");
}

/* `before`: the comma of the key before, the key, its colon. */
static void
put_number(struct play_out *o, const char *before, uint64_t v)
{
    buf_puts(o->out, before);
    buf_put_u64(o->out, v);
}

static void
put_string(struct play_out *o, const char *before, struct view v)
{
    struct json j = { .out = o->out };
    buf_puts(o->out, before);
    json_bytes(&j, v);
}

static void
put_line(struct play_out *o, const struct play_item *item)
{
    put_number(o, "      \"index\": ", item->index);
    put_number(
        o, ",\n      \"kind\": \"line\",\n      \"last_write_byte\": ", item->position);
    if (item->line->is_alternate)
        buf_puts(o->out, ",\n      \"screen\": \"alternate\"");
    put_string(o, ",\n      \"text\": ", item->text);
}

static void
put_event(struct play_out *o, const struct play_item *item)
{
    put_number(o, "      \"anchor_byte\": ", item->position);
    put_number(o, ",\n      \"id\": ", item->event->id);
    if (item->kind == PLAY_ITEM_INSTRUCTION)
        put_string(o,
                   ",\n      \"kind\": \"instruction\",\n      \"text\": ", item->text);
    else if (item->text.n)
        put_string(o, ",\n      \"kind\": \"snapshot\",\n      \"label\": ", item->text);
    else
        buf_puts(o->out, ",\n      \"kind\": \"snapshot\",\n      \"label\": null");
    put_number(o, ",\n      \"ts_ns\": ", item->ts_ns);
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_NOTICE)
        return; /* the schema has none */
    buf_puts(o->out, o->state[0]++ ? ",\n    {\n" : "\n    {\n");
    if (item->kind == PLAY_ITEM_LINE)
        put_line(o, item);
    else
        put_event(o, item);
    buf_puts(o->out, "\n    }");
}

static void
end(struct play_out *o)
{
    buf_puts(o->out, o->state[0] ? "\n  ],\n" : "],\n");
    put_number(o, "  \"total_bytes\": ", o->about->total_bytes);
    buf_puts(o->out, "\n}\n");
}

const struct play_format play_format_branch_points = {
    .name = "branch-points",
    .begin = begin,
    .item = put_item,
    .end = end,
};
