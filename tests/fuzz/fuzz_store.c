/* SPDX-License-Identifier: MIT */
/* A library.db with bytes changed is opened and asked everything: it ends, with an answer
 * or an error of ours, and what is told is in our words. The input is the changes: three
 * bytes of place, one of length, and that many bytes. */
#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz/fuzz.h"
#include "store/store.h"

enum { SESSIONS = 30, PIECES = 4 };

static char dir[64], db[96];
static struct buf base; /* a good one, kept in memory for the process's life */

static const char *
id_of(unsigned i)
{
    static char id[STORE_ID_LEN + 1];
    snprintf(id, sizeof(id), "2026-01-02-01234567-89ab-4cde-8f01-%012x", i);
    return id;
}

static void
put_session(struct store *s, unsigned i)
{
    char words[64];
    uint8_t packed[600] = { (uint8_t)i };
    struct store_session row = { .id = id_of(i),
                                 .name = "name",
                                 .status = "ended",
                                 .started_at_ns = i * UINT64_C(5000000) };
    struct store_piece piece = { .packed = { packed, sizeof(packed) } };
    struct store_moment moment = { .text = { (const uint8_t *)"label", 5 } };
    CHECK(store_session_put(s, &row, &piece.key, NULL) == 0);
    const struct store_message message = { .message = i % 7, .model = "m", .calls = 1 };
    CHECK(store_moment_put(s, piece.key, &moment, NULL) == 0);
    CHECK(store_message_put(s, piece.key, &message, NULL) == 0);
    CHECK(store_messages_settle(s, piece.key, NULL) == 0);
    for (; piece.number < PIECES; piece.number++) {
        int n = snprintf(words, sizeof(words), "616161 %06x %06x", i, piece.number);
        struct view v = { (uint8_t *)words, (size_t)n };
        CHECK(store_piece_put(s, &piece, v, NULL) == 0);
    }
}

static void
remove_beside(void)
{
    static const char *const endings[] = { "-wal", "-shm", "-journal" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", db, endings[i]);
        unlink(path);
    }
}

static void
leave(void)
{
    char lock[128];
    snprintf(lock, sizeof(lock), "%s.lock", db);
    unlink(lock);
    unlink(db);
    remove_beside();
    rmdir(dir);
    buf_release(&base);
}

static void
prepare(void)
{
    struct store *s = NULL;
    snprintf(dir, sizeof(dir), "%s/ahr-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(dir));
    snprintf(db, sizeof(db), "%s/library.db", dir);
    atexit(leave);
    CHECK(store_open(&s, db, STORE_WRITE, 0, NULL) == 0);
    for (unsigned i = 0; i < SESSIONS; i++) {
        CHECK(store_begin(s, NULL) == 0);
        put_session(s, i);
        CHECK(store_commit(s, NULL) == 0);
    }
    store_close(s);
    CHECK(file_slurp(db, &base) == 0);
}

/* -- what is asked -- */

/* A size that is absurd may be more than SQLite asks the system for. */
static void
check_result(int r, const struct err *err)
{
    CHECK(r == 0 || r == ERR_DAMAGED || r == ERR_MISSING || r == ERR_NEWER ||
          r == ERR_LIMIT || r == -ENOMEM);
    CHECK(r == 0 || (err->code == r && *err->text));
    CHECK(!strstr(err->text, "SQL") && !strstr(err->text, "malformed"));
}

static int
on_session(void *ctx, const struct store_session *row)
{
    CHECK(strlen(row->id) == STORE_ID_LEN && !strchr(row->id, '/'));
    CHECK(++*(unsigned *)ctx <= base.n); /* none comes again and again */
    return 1;
}

static int
on_usage(void *ctx, const struct store_usage *row)
{
    CHECK(!row->model || strlen(row->model) < base.n);
    CHECK(++*(unsigned *)ctx <= base.n);
    return 1;
}

static int
on_piece(void *ctx, const struct store_piece *piece)
{
    uint8_t last = 0;
    CHECK(piece->number < STORE_PIECES_MAX && strlen(piece->id) == STORE_ID_LEN);
    for (size_t i = 0; i < piece->packed.n; i++)
        last ^= piece->packed.p[i]; /* all of it can be read */
    (void)*(volatile uint8_t *)&last;
    CHECK(++*(unsigned *)ctx <= base.n);
    return 1;
}

static void
ask(struct store *s, const char *words, const char *id)
{
    struct err err = { 0 };
    unsigned count = 0;
    struct store_search search = { .words = { (const uint8_t *)words, strlen(words) },
                                   .id = id };
    check_result(store_pieces(s, &search, on_piece, &count, &err), &err);
}

static void
change(struct store *s)
{
    struct err err = { 0 };
    struct store_session row = { .id = id_of(3), .started_at_ns = 77 };
    struct view words = { (const uint8_t *)"616161 000003 000001", 20 };
    int r = store_begin(s, &err);
    if (!r)
        r = store_session_put(s, &row, NULL, &err);
    if (!r)
        r = store_piece_remove(s, 15, 1, words, &err);
    if (!r)
        r = store_session_delete(s, id_of(4), &err);
    if (!r)
        r = store_commit(s, &err);
    store_rollback(s);
    check_result(r, &err);
}

static void
ask_all(enum store_mode mode)
{
    AUTO(buf) ids = { 0 };
    struct err err = { 0 };
    struct store *s = NULL;
    unsigned count = 0;
    int r = store_open(&s, db, mode, 0, &err);
    check_result(r, &err);
    if (r < 0)
        return;
    check_result(store_ids(s, &ids, &err), &err);
    check_result(store_sessions(s, NULL, on_session, &count, &err), &err);
    count = 0;
    check_result(store_session_get(s, id_of(7), on_session, &count, &err), &err);
    ask(s, "", NULL);
    ask(s, "616161", NULL);
    ask(s, "616161 000003", NULL);
    ask(s, "616161", id_of(5));
    for (int by = STORE_BY_DAY; by <= STORE_BY_PROJECT; by++) {
        const struct store_usage_filter filter = { .since_day = by == STORE_BY_AGENT };
        count = 0;
        check_result(
            store_usage(s, (enum store_usage_by)by, &filter, on_usage, &count, &err),
            &err);
    }
    check_result(store_check(s, &err), &err);
    if (mode == STORE_WRITE)
        change(s);
    store_close(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    AUTO(buf) bytes = { 0 };
    if (!base.n)
        prepare();
    CHECK(buf_append(&bytes, base.p, base.n) == 0);
    enum store_mode mode = fuzz_byte(&in) % 2 ? STORE_WRITE : STORE_READ;
    while (in.n) {
        size_t at = fuzz_byte(&in), n;
        at = at << 8 | fuzz_byte(&in);
        at = (at << 8 | fuzz_byte(&in)) % base.n;
        n = fuzz_byte(&in);
        for (size_t i = 0; i < n && in.n && at + i < bytes.n; i++)
            bytes.p[at + i] = fuzz_byte(&in);
    }
    remove_beside();
    CHECK(file_replace(db, (struct view){ bytes.p, bytes.n }, false, NULL) == 0);
    ask_all(mode);
    return 0;
}
