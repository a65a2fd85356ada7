/* SPDX-License-Identifier: MIT */
/* talk_json.c -- a conversation as an array of JSON, one object a line of text. */
#include "base/json_in.h"
#include "play/clean.h"
#include "play/talk_priv.h"
#include "turn/compact.h"

static void
begin(struct play_out *o)
{
    buf_puts(o->out, "[");
}

static void
begin_item(struct play_out *o, const char *kind)
{
    buf_puts(o->out, o->items ? ",\n" : "\n");
    o->json.comma = false;
    json_open(&o->json, '{');
    json_key(&o->json, "kind"), json_str(&o->json, kind);
}

static void
put_text(struct json *j, const char *key, struct view text)
{
    if (text.n)
        json_key(j, key), json_bytes(j, text);
}

static void
put_id(struct json *j, const char *key, struct view id, struct buf *room)
{
    buf_clear(room);
    if (id.n && play_clean(id, true, room) >= 0)
        put_text(j, key, (struct view){ room->p, room->n });
}

/* JSON with each of its strings clean; it is good and compact. */
static int
clean_json(struct view json, struct buf *out)
{
    AUTO(buf) text = { .ceiling = SIZE_MAX };
    AUTO(buf) clean = { .ceiling = SIZE_MAX };
    int r = 0;
    for (size_t i = 0; !r && i < json.n;) {
        struct json_in in = { .p = json.p + i, .end = json.p + json.n };
        if (json.p[i] != '"') {
            const uint8_t *quote = memchr(in.p, '"', json.n - i);
            size_t n = quote ? (size_t)(quote - in.p) : json.n - i;
            r = buf_append(out, in.p, n);
            i += n;
            continue;
        }
        struct json j = { .out = out };
        buf_clear(&text);
        buf_clear(&clean);
        if (!json_in_str(&in, &text))
            return ERR_DAMAGED;
        r = play_clean((struct view){ text.p, text.n }, false, &clean);
        json_bytes(&j, (struct view){ clean.p, clean.n });
        i = (size_t)(in.p - json.p);
    }
    return r < 0 ? r : out->failed;
}

/* Arguments are JSON in the document, too, where they are any. */
static void
put_input(struct json *j, const struct play_turn *turn, struct buf *room)
{
    AUTO(buf) compact = { .ceiling = SIZE_MAX };
    buf_clear(room);
    room->ceiling = SIZE_MAX;
    if (turn_compact(turn->event->json, &compact) &&
        clean_json((struct view){ compact.p, compact.n }, room) >= 0)
        json_key(j, "input"), json_raw(j, (struct view){ room->p, room->n });
    else
        put_text(j, "input_text", turn->text);
}

static void
put_time(struct play_out *o, uint64_t ts_ns)
{
    struct json *j = &o->json;
    json_key(j, "ts_ns"), json_u64_str(j, ts_ns);
    json_key(j, "t_ms"), json_u64(j, play_since_start(o, ts_ns) / 1000000);
}

static void
put_turn(struct play_out *o, const struct play_turn *turn)
{
    const struct turn_event *e = turn->event;
    struct json *j = &o->json;
    AUTO(buf) room = { 0 };
    bool is_of_tool = e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
    begin_item(o, "turn");
    json_key(j, "turn"), json_u64(j, turn->number);
    json_key(j, "type"), json_str(j, turn_type_name(e->type));
    if (turn_role_of(e))
        json_key(j, "role"), json_str(j, turn_role_name(turn_role_of(e)));
    if (o->about->has_times)
        put_time(o, turn->ts_ns);
    put_text(j, is_of_tool ? "tool" : "name", turn->name);
    put_id(j, is_of_tool ? "call" : "id", e->id, &room);
    put_id(j, "parent", e->parent, &room);
    if (e->is_error)
        json_key(j, "is_error"), json_bool(j, true);
    if (e->was_cut_off)
        json_key(j, "interrupted"), json_bool(j, true);
    if (e->type == TURN_TOOL_RESULT && e->exit_code >= 0)
        json_key(j, "exit_code"), json_u64(j, (uint64_t)e->exit_code);
    if (e->type == TURN_TOOL_CALL && e->json.n)
        put_input(j, turn, &room);
    else
        json_key(j, "text"), json_bytes(j, turn->text);
    json_close(j, '}');
    if (room.failed && !o->out->failed)
        o->out->failed = room.failed;
}

static void
put_event(struct play_out *o, const struct play_item *item)
{
    const struct play_event *e = item->event;
    struct json *j = &o->json;
    begin_item(o, play_item_name(item->kind));
    json_key(j, "id"), json_u64(j, e->id);
    if (o->about->has_times && item->ts_ns)
        put_time(o, item->ts_ns);
    if (item->kind == PLAY_ITEM_SNAPSHOT) {
        put_text(j, "label", item->text);
    } else {
        json_key(j, "text"), json_bytes(j, item->text);
        if (e->snapshot_id != PLAY_NONE)
            json_key(j, "snapshot_id"), json_u64(j, e->snapshot_id);
        json_key(j, "delivered"), json_bool(j, e->is_delivered);
    }
    json_close(j, '}');
}

static void
put_notice(struct play_out *o, struct view text)
{
    begin_item(o, "notice");
    json_key(&o->json, "text"), json_bytes(&o->json, text);
    json_close(&o->json, '}');
}

static void
end(struct play_out *o, const struct play_talk_sums *sums)
{
    struct talk_sum all[TALK_SUMS];
    size_t n = talk_sums(sums, all);
    if (n) {
        begin_item(o, "totals");
        for (size_t i = 0; i < n; i++)
            json_key(&o->json, all[i].key), json_u64(&o->json, all[i].value);
        json_close(&o->json, '}');
    }
    buf_puts(o->out, "\n]\n");
}

const struct play_talk_format play_talk_json = {
    .name = "json",
    .begin = begin,
    .turn = put_turn,
    .event = put_event,
    .notice = put_notice,
    .end = end,
};
