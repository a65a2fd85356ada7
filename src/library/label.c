/* SPDX-License-Identifier: MIT */
#include "library/label_priv.h"

#include "base/ascii.h"
#include "library/grams_priv.h"

enum {
    TYPE,
    ROLE,
    SIZE,
    HEAD_BYTES, /* the tool follows */
};

/* Words of labels; their first byte stands in no UTF-8. */
enum {
    WORD_ROWS = 0xff0001, /* rows of a terminal */
    WORD_TURNS = 0xff0002,
    WORD_ROLE = 0xff0100, /* and an enum turn_role */
    WORD_TOOL = 0xfe0000, /* and a hash of its name */
};

void
labels_release(struct labels *l)
{
    buf_release(&l->packed);
    *l = (struct labels){ 0 };
}

void
labels_clear(struct labels *l)
{
    buf_clear(&l->packed);
    l->count = 0;
}

struct view
label_tool(struct view name)
{
    size_t n = name.n < LABEL_TOOL_MAX ? name.n : LABEL_TOOL_MAX;
    while (n < name.n && n && (name.p[n] & 0xc0) == 0x80)
        n--;
    return (struct view){ name.p, n };
}

bool
label_is_tool(struct view a, struct view b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (ascii_fold(a.p[i]) != ascii_fold(b.p[i]))
            return false;
    return true;
}

static struct label
label_in(const struct labels *l, size_t at)
{
    const uint8_t *head = l->packed.p + at;
    return (struct label){
        .kind = LABEL_TURN,
        .type = (enum turn_type)head[TYPE],
        .role = (enum turn_role)head[ROLE],
        .tool = { head + HEAD_BYTES, head[SIZE] },
    };
}

static bool
is_same(const struct label *a, const struct label *b)
{
    return a->type == b->type && a->role == b->role && a->tool.n == b->tool.n &&
           (!a->tool.n || !memcmp(a->tool.p, b->tool.p, a->tool.n));
}

int
labels_add(struct labels *l, const struct label *label)
{
    struct label own = *label;
    int number = LABEL_TURN;
    own.tool = label_tool(label->tool);
    for (size_t at = 0; at < l->packed.n; number++) {
        struct label known = label_in(l, at);
        if (is_same(&known, &own))
            return number;
        at += HEAD_BYTES + known.tool.n;
    }
    if (l->count == LABELS_MAX)
        return ERR_LIMIT;
    const uint8_t head[HEAD_BYTES] = { [TYPE] = (uint8_t)own.type,
                                       [ROLE] = (uint8_t)own.role,
                                       [SIZE] = (uint8_t)own.tool.n };
    int r = buf_reserve(&l->packed, sizeof(head) + own.tool.n);
    if (r < 0)
        return r;
    buf_append(&l->packed, head, sizeof(head));
    buf_append(&l->packed, own.tool.p, own.tool.n);
    l->count++;
    return number;
}

int
labels_read(struct labels *l, struct view packed)
{
    labels_clear(l);
    unsigned count = 0;
    for (size_t at = 0; at < packed.n; count++) {
        const uint8_t *head = packed.p + at;
        if (packed.n - at < HEAD_BYTES || packed.n - at - HEAD_BYTES < head[SIZE] ||
            head[TYPE] >= TURN_TYPES || head[ROLE] > TURN_TOOL || count == LABELS_MAX)
            return ERR_DAMAGED;
        at += HEAD_BYTES + (size_t)head[SIZE];
    }
    int r = buf_append(&l->packed, packed.p, packed.n);
    l->count = r < 0 ? 0 : count;
    return r;
}

unsigned
labels_count(const struct labels *l)
{
    return LABEL_TURN + l->count;
}

struct label
labels_at(const struct labels *l, unsigned number)
{
    size_t at = 0;
    if (number < LABEL_TURN)
        return (struct label){ .kind = (enum label_kind)number };
    for (unsigned i = LABEL_TURN; i < number; i++)
        at += HEAD_BYTES + (size_t)l->packed.p[at + SIZE];
    return label_in(l, at);
}

/* -- words -- */

static uint32_t
tool_word(struct view tool)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < tool.n; i++)
        hash = (hash ^ ascii_fold(tool.p[i])) * 16777619U;
    return WORD_TOOL | ((hash >> 16 ^ hash) & 0xffff);
}

/* A word that is there already is no other. */
static int
put_word(struct buf *ret, size_t from, uint32_t word)
{
    size_t before = ret->n;
    int r = grams_word(word, ret);
    if (r < 0)
        return r;
    size_t n = ret->n - before;
    for (size_t at = from; at < before; at += n)
        if (!memcmp(ret->p + at, ret->p + before, n))
            ret->n = before;
    return 0;
}

int
labels_words(const struct labels *l, unsigned kinds, struct buf *ret)
{
    size_t from = ret->n;
    int r = 0;
    if (kinds & (1U << LABEL_LINE | 1U << LABEL_SHOWN))
        r = put_word(ret, from, WORD_ROWS);
    for (size_t at = 0; !r && at < l->packed.n;) {
        struct label label = label_in(l, at);
        r = put_word(ret, from, WORD_TURNS);
        if (!r && label.role)
            r = put_word(ret, from, WORD_ROLE | (uint32_t)label.role);
        if (!r && label.tool.n)
            r = put_word(ret, from, tool_word(label.tool));
        at += HEAD_BYTES + label.tool.n;
    }
    return r;
}

int
labels_asked(enum library_in in, enum turn_role role, struct view tool, struct buf *ret)
{
    int r = in == LIBRARY_IN_ALL
                ? 0
                : grams_word(in == LIBRARY_IN_TURNS ? WORD_TURNS : WORD_ROWS, ret);
    if (!r && role)
        r = grams_word(WORD_ROLE | (uint32_t)role, ret);
    if (!r && tool.n)
        r = grams_word(tool_word(label_tool(tool)), ret);
    return r;
}
