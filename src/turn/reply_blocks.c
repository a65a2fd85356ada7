/* SPDX-License-Identifier: MIT */
/* reply_blocks.c -- what a model is saying: texts and calls, several at the same time. */
#include "turn/reply_priv.h"

#include "base/json.h"

enum {
    KEPT = 64 << 10, /* memory that stays for another block */
    KEPT_BLOCKS = 8, /* … for so many */
};

/* The memory of that many goes before it. */
static void
empty(struct buf *b, size_t open)
{
    if (b->cap > KEPT || open > KEPT_BLOCKS)
        buf_release(b);
    buf_clear(b);
}

struct turn_block *
turn_block_find(struct turn_reply *r, uint64_t key)
{
    for (size_t i = r->open; i-- > 0;)
        if (r->blocks[i].key == key)
            return &r->blocks[i];
    return NULL;
}

int
turn_block_begin(struct turn_reply *r, uint64_t key, enum turn_type type,
                 struct turn_block **ret)
{
    if (r->open == TURN_REPLY_BLOCKS) {
        bool was_told = r->has_too_many;
        *ret = NULL;
        r->has_too_many = true;
        return was_told ? 0 : turn_reply_warn(r, "too many parts at once, some are lost");
    }
    struct turn_block *b = &r->blocks[r->open++];
    b->key = key;
    b->type = type;
    b->is_lost = false;
    b->said.ceiling = b->proof.ceiling = r->max;
    *ret = b;
    return 0;
}

int
turn_block_begin_call(struct turn_reply *r, uint64_t key, struct view id,
                      struct view name, struct turn_block **ret)
{
    int result = turn_block_begin(r, key, TURN_TOOL_CALL, ret);
    if (result < 0 || !*ret)
        return result;
    struct turn_block *b = *ret;
    if (id.n <= TURN_REPLY_WORD)
        buf_append(&b->id, id.p, id.n);
    if (name.n <= TURN_REPLY_WORD)
        buf_append(&b->name, name.p, name.n);
    if (b->id.failed || b->name.failed)
        return b->id.failed ? b->id.failed : b->name.failed;
    if (r->is_silent)
        return 0;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.is_partial = true;
    e.id = turn_view_of(&b->id);
    e.name = turn_view_of(&b->name);
    return turn_reply_tell(r, &e);
}

/* {"signature":…} of a thought */
static struct view
proof_of(struct turn_reply *r, const struct turn_block *b)
{
    struct buf *out = &r->text[3];
    struct json j = { .out = out };
    buf_clear(out);
    json_open(&j, '{');
    json_key(&j, "signature");
    json_raw(&j, turn_view_of(&b->proof));
    json_close(&j, '}');
    return turn_view_of(out);
}

static int
tell_said(struct turn_reply *r, const struct turn_block *b, bool was_cut_off)
{
    struct turn_event e = turn_event(b->type);
    e.was_cut_off = was_cut_off;
    if (b->type == TURN_TOOL_CALL) {
        e.id = turn_view_of(&b->id);
        e.message = turn_view_of(&r->id);
        e.name = turn_view_of(&b->name);
        e.json = turn_view_of(&b->said);
        return turn_reply_tell(r, &e);
    }
    e.id = turn_view_of(&r->id);
    e.text = turn_view_of(&b->said);
    if (b->proof.n)
        e.json = proof_of(r, b);
    return e.text.n || e.json.n ? turn_reply_tell(r, &e) : 0;
}

/* Too much is being said at once: all of it is handed out as far as it has come. Texts
 * go on anew, arguments make no sense any more. */
static int
cut_off_all(struct turn_reply *r)
{
    int result = 0;
    for (size_t i = 0; i < r->open && result >= 0; i++) {
        struct turn_block *b = &r->blocks[i];
        if (!b->said.n && !b->proof.n)
            continue;
        result = tell_said(r, b, true);
        b->is_lost = b->type == TURN_TOOL_CALL;
        buf_release(&b->said);
        buf_release(&b->proof);
        b->said.ceiling = b->proof.ceiling = r->max;
    }
    r->held = 0;
    return result;
}

int
turn_block_piece(struct turn_reply *r, struct turn_block *b, struct view text)
{
    if (!text.n || b->is_lost)
        return 0;
    int result = r->held + text.n > r->max ? cut_off_all(r) : 0;
    if (result < 0 || b->is_lost)
        return result;
    if ((result = buf_append(&b->said, text.p, text.n)) < 0)
        return result;
    r->held += text.n;
    if (r->is_silent)
        return 0;
    bool is_call = b->type == TURN_TOOL_CALL;
    struct turn_event e = turn_event(b->type);
    e.is_partial = true;
    e.id = turn_view_of(is_call ? &b->id : &r->id);
    *(is_call ? &e.json : &e.text) = text;
    return turn_reply_tell(r, &e);
}

int
turn_block_prove(struct turn_reply *r, struct turn_block *b, struct view proof)
{
    r->held -= b->proof.n;
    buf_clear(&b->proof);
    int result = r->held + proof.n > r->max ? cut_off_all(r) : 0;
    if (result < 0 || (result = buf_append(&b->proof, proof.p, proof.n)) < 0)
        return result;
    r->held += proof.n;
    return 0;
}

static int
warn_of_stray(struct turn_reply *r)
{
    bool was_told = r->has_stray;
    r->has_stray = true;
    return was_told ? 0
                    : turn_reply_warn(r, "pieces of a call that has not begun, or has "
                                         "ended, are lost");
}

int
turn_block_say(struct turn_reply *r, uint64_t key, enum turn_type type, struct view text)
{
    struct turn_block *b = turn_block_find(r, key);
    int result = 0;
    if (!text.n)
        return 0;
    if (!b && type == TURN_TOOL_CALL)
        return warn_of_stray(r);
    if (!b)
        result = turn_block_begin(r, key, type, &b);
    if (result < 0 || !b || b->type != type)
        return result;
    return turn_block_piece(r, b, text);
}

int
turn_block_end(struct turn_reply *r, struct turn_block *b, bool was_cut_off)
{
    int result = b->is_lost ? 0 : tell_said(r, b, was_cut_off);
    r->held -= b->said.n + b->proof.n;
    empty(&b->said, r->open);
    empty(&b->proof, r->open);
    buf_clear(&b->id);
    buf_clear(&b->name);
    /* Its memory waits behind those that are open. */
    struct turn_block kept = *b;
    struct turn_block *last = &r->blocks[--r->open];
    memmove(b, b + 1, (size_t)(last - b) * sizeof(*b));
    *last = kept;
    return result;
}

int
turn_block_end_all(struct turn_reply *r, bool was_cut_off)
{
    int result = 0;
    while (r->open && result >= 0)
        result = turn_block_end(r, &r->blocks[0], was_cut_off);
    return result;
}

void
turn_block_release_all(struct turn_reply *r)
{
    for (size_t i = 0; i < TURN_REPLY_BLOCKS; i++) {
        buf_release(&r->blocks[i].said);
        buf_release(&r->blocks[i].id);
        buf_release(&r->blocks[i].name);
        buf_release(&r->blocks[i].proof);
    }
}
