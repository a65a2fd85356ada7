/* SPDX-License-Identifier: MIT */
/* format_json.c -- an array of objects, one a line of text: each line is JSON but for the
 * comma at its end. */
#include "play/format_priv.h"

static void
begin(struct play_out *o)
{
    o->json = (struct json){ .out = o->out };
    buf_puts(o->out, "[");
}

/* ts_ns is past 2^53. */
static void
put_time(struct play_out *o, uint64_t ts_ns)
{
    json_key(&o->json, "ts_ns");
    if (ts_ns)
        json_u64_str(&o->json, ts_ns);
    else
        json_none(&o->json);
    json_key(&o->json, "t_ms");
    if (ts_ns)
        json_u64(&o->json, play_since_start(o, ts_ns) / 1000000);
    else
        json_none(&o->json);
}

/* Lines are many: their keys are put down as they stand. */
static void
put_line(struct play_out *o, const struct play_item *item)
{
    struct json *j = &o->json;
    buf_puts(o->out, ",\"index\":");
    buf_put_u64(o->out, item->index);
    buf_puts(o->out, ",\"last_write_byte\":");
    buf_put_u64(o->out, item->position);
    buf_puts(o->out, ",\"text\":");
    j->comma = false;
    json_bytes(j, item->text);
    if (item->line->is_alternate)
        json_key(j, "screen"), json_str(j, "alternate");
    if (o->about->has_times)
        put_time(o, item->ts_ns);
}

static void
put_event(struct play_out *o, const struct play_item *item)
{
    struct json *j = &o->json;
    json_key(j, "id"), json_u64(j, item->event->id);
    json_key(j, "anchor_byte"), json_u64(j, item->position);
    put_time(o, item->ts_ns);
    if (item->kind == PLAY_ITEM_INSTRUCTION) {
        json_key(j, "text"), json_bytes(j, item->text);
        json_key(j, "snapshot_id");
        if (item->event->snapshot_id == PLAY_NONE)
            json_none(j);
        else
            json_u64(j, item->event->snapshot_id);
        json_key(j, "delivered"), json_bool(j, item->event->is_delivered);
        return;
    }
    json_key(j, "label");
    if (item->text.n)
        json_bytes(j, item->text);
    else
        json_none(j);
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    struct json *j = &o->json;
    buf_puts(o->out, o->items > 1 ? ",\n{\"kind\":\"" : "\n{\"kind\":\"");
    buf_puts(o->out, play_item_name(item->kind));
    buf_puts(o->out, "\"");
    j->comma = true;
    switch (item->kind) {
    case PLAY_ITEM_LINE:
        put_line(o, item);
        break;
    case PLAY_ITEM_SNAPSHOT:
    case PLAY_ITEM_INSTRUCTION:
        put_event(o, item);
        break;
    case PLAY_ITEM_NOTICE:
        json_key(j, "position"), json_u64(j, item->position);
        json_key(j, "text"), json_bytes(j, item->text);
        break;
    }
    json_close(j, '}');
}

static void
end(struct play_out *o)
{
    buf_puts(o->out, o->items ? "\n]\n" : "]\n");
}

const struct play_format play_format_json = {
    .name = "json",
    .begin = begin,
    .item = put_item,
    .end = end,
};
