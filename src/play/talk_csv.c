/* SPDX-License-Identifier: MIT */
/* talk_csv.c -- a conversation as rows by RFC 4180, for a spreadsheet. */
#include "play/talk_priv.h"

static void
begin(struct play_out *o)
{
    buf_puts(o->out, "kind,turn,ts_ns,role,type,tool,text\r\n");
}

static void
put_word(struct play_out *o, const char *word)
{
    buf_puts(o->out, word ? word : "");
    buf_puts(o->out, ",");
}

static void
put_turn(struct play_out *o, const struct play_turn *turn)
{
    buf_puts(o->out, "turn,");
    buf_put_u64(o->out, turn->number);
    buf_puts(o->out, ",");
    if (o->about->has_times && turn->ts_ns)
        buf_put_u64(o->out, turn->ts_ns);
    buf_puts(o->out, ",");
    put_word(o, turn_role_name(turn_role_of(turn->event)));
    put_word(o, turn_type_name(turn->event->type));
    play_put_csv(o->out, turn->name);
    buf_puts(o->out, ",");
    play_put_csv(o->out, turn->text);
    buf_puts(o->out, "\r\n");
}

/* Its id stands where a turn has its number. */
static void
put_event(struct play_out *o, const struct play_item *item)
{
    bool is_snapshot = item->kind == PLAY_ITEM_SNAPSHOT;
    put_word(o, play_item_name(item->kind));
    buf_put_u64(o->out, item->event->id);
    buf_puts(o->out, ",");
    if (o->about->has_times && item->ts_ns)
        buf_put_u64(o->out, item->ts_ns);
    buf_puts(o->out, ",,");
    put_word(o, is_snapshot                 ? ""
                : item->event->is_delivered ? "delivered"
                                            : "not delivered");
    buf_puts(o->out, ",");
    play_put_csv(o->out, item->text);
    buf_puts(o->out, "\r\n");
}

static void
put_notice(struct play_out *o, struct view text)
{
    buf_puts(o->out, "notice,,,,,,");
    play_put_csv(o->out, text);
    buf_puts(o->out, "\r\n");
}

/* One row each: their names are in the column of types. */
static void
end(struct play_out *o, const struct play_talk_sums *sums)
{
    struct talk_sum all[TALK_SUMS];
    size_t n = talk_sums(sums, all);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        buf_puts(o->out, "total,,,,");
        put_word(o, all[i].key);
        buf_puts(o->out, ",");
        buf_put_u64(o->out, all[i].value);
        buf_puts(o->out, "\r\n");
    }
}

const struct play_talk_format play_talk_csv = {
    .name = "csv",
    .begin = begin,
    .turn = put_turn,
    .event = put_event,
    .notice = put_notice,
    .end = end,
};
