/* SPDX-License-Identifier: MIT */
/*
 * format_csv.c -- rows by RFC 4180, for a spreadsheet.
 *
 * A text that a spreadsheet would take for a formula gets an apostrophe before it, which
 * makes it a text there.
 */
#include "play/format_priv.h"

static void
begin(struct play_out *o)
{
    buf_puts(o->out, "kind,index_or_id,position,ts_ns,text\r\n");
}

/* What a formula begins with; the last four are the first four in full width. */
static bool
is_formula(struct view text)
{
    static const char *const signs[] = {
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\xef\xbc\x9d",
        "\xef\xbc\x8b",
        "\xef\xbc\x8d",
        "\xef\xbc\xa0",
    };
    while (text.n && text.p[0] == ' ')
        text = (struct view){ text.p + 1, text.n - 1 };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t n = strlen(signs[i]);
        if (text.n >= n && !memcmp(text.p, signs[i], n))
            return true;
    }
    return false;
}

static bool
is_quoted(struct view text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '"' || text.p[i] == ',' || text.p[i] == '\n')
            return true;
    return false;
}

void
play_put_csv(struct buf *out, struct view text)
{
    const char *quote = is_quoted(text) ? "\"" : "";
    buf_puts(out, quote);
    if (is_formula(text))
        buf_puts(out, "'");
    while (text.n) {
        const uint8_t *end = *quote ? memchr(text.p, '"', text.n) : NULL;
        size_t n = end ? (size_t)(end - text.p) + 1 : text.n;
        buf_append(out, text.p, n);
        if (end)
            buf_puts(out, "\"");
        text = (struct view){ text.p + n, text.n - n };
    }
    buf_puts(out, quote);
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    buf_puts(o->out, play_item_name(item->kind));
    buf_puts(o->out, ",");
    if (item->kind == PLAY_ITEM_LINE)
        buf_put_u64(o->out, item->index);
    else if (item->event)
        buf_put_u64(o->out, item->event->id);
    buf_puts(o->out, ",");
    buf_put_u64(o->out, item->position);
    buf_puts(o->out, ",");
    if (item->ts_ns)
        buf_put_u64(o->out, item->ts_ns);
    buf_puts(o->out, ",");
    play_put_csv(o->out, item->text);
    buf_puts(o->out, "\r\n");
}

const struct play_format play_format_csv = {
    .name = "csv",
    .begin = begin,
    .item = put_item,
    .end = play_put_nothing,
};
