/* SPDX-License-Identifier: MIT */
#include "support/store_kit.h"

#include "base/num.h"

struct store *
store_kit_open(enum store_mode mode)
{
    struct store *s = NULL;
    struct err err = { 0 };
    if (store_open(&s, STORE_KIT_DB, mode, STORE_KIT_WAIT, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

const char *
store_kit_id(int i)
{
    static char ids[8][STORE_ID_LEN + 1];
    static unsigned next;
    char *id = ids[next++ % 8];
    snprintf(id, STORE_ID_LEN + 1, "2026-01-02-01234567-89ab-4cde-8f01-%012x",
             (unsigned)i);
    return id;
}

static struct view
words_of(int i, uint32_t number, char room[32])
{
    int n = snprintf(room, 32, "616161 %06x %06x", number, (unsigned)i << 8);
    return (struct view){ (const uint8_t *)room, (size_t)n };
}

int64_t
store_kit_fill(struct store *s, int i, uint64_t started_at_ns, uint32_t pieces)
{
    char name[32], packed[64], room[32];
    int64_t key = 0;
    struct store_session row = { .id = store_kit_id(i),
                                 .name = name,
                                 .status = "ended",
                                 .command = "make it",
                                 .started_at_ns = started_at_ns };
    snprintf(name, sizeof(name), "name%d", i);
    store_kit_must(store_session_put(s, &row, &key, NULL));
    for (uint32_t n = 0; n < pieces; n++) {
        int len = snprintf(packed, sizeof(packed), "%d.%u ", i, n);
        struct store_piece piece = { .key = key,
                                     .number = n,
                                     .packed = { (uint8_t *)packed, (size_t)len } };
        store_kit_must(store_piece_put(s, &piece, words_of(i, n, room), NULL));
    }
    struct store_moment moment = { .kind = STORE_INSTRUCTION,
                                   .id = 1,
                                   .snapshot_id = UINT64_MAX,
                                   .text = { (const uint8_t *)"go on", 5 } };
    if (pieces)
        store_kit_must(store_moment_put(s, key, &moment, NULL));
    return key;
}

int64_t
store_kit_put(struct store *s, int i, uint64_t started_at_ns, uint32_t pieces)
{
    struct err err = { 0 };
    if (store_begin(s, &err) < 0)
        fail_msg("%s", err.text);
    int64_t key = store_kit_fill(s, i, started_at_ns, pieces);
    if (store_commit(s, &err) < 0)
        fail_msg("%s", err.text);
    return key;
}

static int
take_key(void *ctx, const struct store_piece *piece)
{
    *(int64_t *)ctx = piece->key;
    return 0;
}

void
store_kit_remove(struct store *s, int i, uint32_t pieces)
{
    char room[32];
    int64_t key = -1;
    struct store_search search = { .id = store_kit_id(i) };
    store_kit_must(store_pieces(s, &search, take_key, &key, NULL));
    store_kit_must(store_begin(s, NULL));
    for (uint32_t n = 0; n < pieces; n++)
        store_kit_must(store_piece_remove(s, key, n, words_of(i, n, room), NULL));
    store_kit_must(store_session_delete(s, store_kit_id(i), NULL));
    store_kit_must(store_commit(s, NULL));
}

struct found {
    struct buf text;
    int count;
};

/* A piece says of itself whose it is. */
static int
take_piece(void *ctx, const struct store_piece *piece)
{
    struct found *found = ctx;
    char want[64];
    long i = strtol(piece->id + STORE_ID_LEN - 12, NULL, 16);
    int n = snprintf(want, sizeof(want), "%ld.%u ", i, piece->number);
    assert_int_equal(piece->packed.n, n);
    assert_memory_equal(piece->packed.p, want, (size_t)n);
    buf_append(&found->text, piece->packed.p, piece->packed.n);
    found->count++;
    return 1;
}

static struct found
find(struct store *s, const char *words, const char *id, uint64_t since_ns)
{
    struct found found = { 0 };
    struct err err = { 0 };
    struct store_search search = { .id = id, .since_ns = since_ns };
    if (words)
        search.words = (struct view){ (const uint8_t *)words, strlen(words) };
    if (store_pieces(s, &search, take_piece, &found, &err) < 0)
        fail_msg("%s", err.text);
    return found;
}

const char *
store_kit_found(struct store *s, const char *words, const char *id, uint64_t since_ns)
{
    static char text[4096];
    struct found found = find(s, words, id, since_ns);
    snprintf(text, sizeof(text), "%s", buf_str(&found.text));
    buf_release(&found.text);
    return text;
}

int
store_kit_find(struct store *s, const char *words, const char *id, uint64_t since_ns)
{
    struct found found = find(s, words, id, since_ns);
    buf_release(&found.text);
    return found.count;
}
