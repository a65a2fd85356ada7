/* SPDX-License-Identifier: MIT */
/*
 * vault_test.c -- a vault gives back what was put in, and nothing else: whatever is done
 * to its bytes is refused, and no byte behind that place is handed out.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/le.h"
#include "support/kit.h"
#include "vault/keys_priv.h"
#include "vault/pack.h"
#include "vault/stream.h"

enum {
    SEALED = VAULT_CHUNK + 17,
    CHUNKS = 4,
    PLAIN = 3 * VAULT_CHUNK + 1000,
};

static void
set_key(struct vault_keys *k, uint8_t byte)
{
    *k = (struct vault_keys){ .kind = VAULT_KEY_FILE };
    assert_int_equal(vault_secret_init(&k->secret, 32), 0);
    memset(k->secret.p, byte, 32);
    k->secret.n = 32;
}

static void
set_passphrase(struct vault_keys *k, const char *text)
{
    *k = (struct vault_keys){ .kind = VAULT_PASSPHRASE, .cost = VAULT_INTERACTIVE };
    assert_int_equal(vault_keys_init(k), 0);
    k->secret.n = strlen(text);
    memcpy(k->secret.p, text, k->secret.n);
}

static uint8_t
plain_at(size_t i)
{
    return (uint8_t)(i * 31 + i / 251);
}

static int
memory_file(const struct buf *b)
{
    int fd = memfd_create("vault", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(b ? file_write_all(fd, b->p, b->n) : 0, 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* n bytes sealed, as a file's bytes. */
static void
seal(struct buf *ret, struct vault_keys *k, size_t n)
{
    struct vault_writer *w;
    struct err err;
    int fd = memory_file(NULL);
    assert_int_equal(vault_writer_open(&w, fd, k, &err), 0);
    for (size_t at = 0; at < n;) {
        uint8_t piece[7777];
        size_t some = n - at < sizeof(piece) ? n - at : sizeof(piece);
        for (size_t i = 0; i < some; i++)
            piece[i] = plain_at(at + i);
        assert_int_equal(vault_write(w, piece, some), 0);
        at += some;
    }
    assert_int_equal(vault_writer_end(w), 0);
    vault_writer_free(w);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    buf_clear(ret);
    assert_int_equal(file_read_all(fd, ret), 0);
    close(fd);
}

/* 0 when it was read to its end; what is handed out is what was put in, in any case. */
static int
unseal(const struct buf *b, struct vault_keys *k, size_t *ret_n, struct err *err)
{
    struct vault_reader *r;
    struct view got;
    int fd = memory_file(b);
    *ret_n = 0;
    int e = vault_reader_open(&r, fd, k, err);
    if (!e) {
        while ((e = vault_read(r, &got, err)) > 0)
            for (size_t i = 0; i < got.n; i++)
                assert_int_equal(got.p[i], plain_at((*ret_n)++));
        vault_reader_free(r);
    }
    close(fd);
    return e;
}

static void
what_goes_in_comes_out_whatever_its_length(void **state)
{
    (void)state;
    static const size_t lengths[] = {
        0,    1, VAULT_CHUNK - 1, VAULT_CHUNK, VAULT_CHUNK + 1, (size_t)2 * VAULT_CHUNK,
        PLAIN
    };
    AUTO(vault_keys) k;
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        seal(&b, &k, lengths[i]);
        size_t chunks = lengths[i] / VAULT_CHUNK + 1;
        assert_int_equal(b.n, VAULT_HEAD_BYTES + lengths[i] + chunks * 17);
        assert_int_equal(unseal(&b, &k, &n, &err), 0);
        assert_int_equal(n, lengths[i]);
    }
}

static void
two_of_the_same_bytes_have_nothing_in_common(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    size_t same = 0;
    set_key(&k, 7);
    seal(&a, &k, 4096);
    seal(&b, &k, 4096);
    for (size_t i = VAULT_HEAD_FACTS; i < a.n; i++)
        same += a.p[i] == b.p[i];
    assert_true(same < 100);                     /* one in 256 by chance */
    assert_memory_equal(a.p + 32, b.p + 32, 16); /* one salt: the work is shared */
    assert_memory_not_equal(a.p + 48, b.p + 48, 24);
}

static void
a_key_that_was_cheaper_to_read_with_seals_nothing(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) b = { 0 };
    const uint8_t *key;
    struct vault_head cheap = { .kind = VAULT_PASSPHRASE, .ops = 1 }, dear;
    struct err err;
    cheap.mem_bytes = VAULT_MEM_MIN;
    set_passphrase(&k, "horse");
    assert_int_equal(vault_keys_derive(&k, &cheap, &key, &err), 0);
    seal(&b, &k, 10);
    assert_int_equal(vault_head_parse(b.p, b.n, &dear, &err), 0);
    assert_int_equal(dear.ops, 2);
    assert_int_equal(dear.mem_bytes, 64 << 20);
    assert_memory_not_equal(dear.salt, cheap.salt, sizeof(dear.salt));
}

static void
a_cut_is_told_wherever_it_is(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) whole = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&whole, &k, PLAIN);
    struct buf cut = whole;
    for (size_t at = 0; at < whole.n; at++) {
        size_t in_chunk = at < VAULT_HEAD_BYTES ? 0 : (at - VAULT_HEAD_BYTES) % SEALED;
        bool is_near = at < 400 || in_chunk < 40 || in_chunk > SEALED - 40 ||
                       whole.n - at < 40;
        if (!is_near && at % 8191)
            continue;
        cut.n = at;
        int r = unseal(&cut, &k, &n, &err);
        assert_int_equal(r, ERR_DAMAGED);
        assert_true(n <= at && n % VAULT_CHUNK == 0);
    }
    cut.n = VAULT_HEAD_BYTES + 2 * SEALED;
    assert_int_equal(unseal(&cut, &k, &n, &err), ERR_DAMAGED);
    assert_string_equal(err.text, "it is cut off behind chunk 2");
}

static void
every_bit_of_the_head_counts(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&b, &k, 10);
    for (size_t at = 0; at < VAULT_HEAD_BYTES; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            b.p[at] ^= (uint8_t)(1u << bit);
            int r = unseal(&b, &k, &n, &err);
            assert_int_equal(r, at == 8 || at == 9 ? ERR_NEWER : ERR_DAMAGED);
            assert_int_equal(n, 0);
            b.p[at] ^= (uint8_t)(1u << bit);
        }
    assert_int_equal(unseal(&b, &k, &n, &err), 0);
}

/* Whoever can make the sum fit, too, does not get past the chunk that is bound to it. */
static void
a_head_that_was_changed_with_care_opens_nothing(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&b, &k, 10);
    for (size_t at = 32; at < VAULT_HEAD_FACTS + VAULT_HEAD_CHECK; at++) {
        b.p[at] ^= 1;
        vault_head_seal(b.p);
        assert_int_equal(unseal(&b, &k, &n, &err), -EACCES);
        assert_int_equal(n, 0);
        b.p[at] ^= 1;
    }
}

static void
a_flip_is_told_in_every_chunk(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&b, &k, PLAIN);
    for (size_t at = VAULT_HEAD_BYTES; at < b.n; at++) {
        size_t in_chunk = (at - VAULT_HEAD_BYTES) % SEALED;
        if (in_chunk > 20 && in_chunk < SEALED - 20 && at % 4093)
            continue;
        b.p[at] ^= (uint8_t)(1u << at % 8);
        assert_int_equal(unseal(&b, &k, &n, &err), ERR_DAMAGED);
        assert_int_equal(n, (at - VAULT_HEAD_BYTES) / SEALED * VAULT_CHUNK);
        b.p[at] ^= (uint8_t)(1u << at % 8);
    }
}

static void
swapped_repeated_and_missing_chunks_are_refused(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) whole = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&whole, &k, PLAIN);
    size_t last = whole.n - VAULT_HEAD_BYTES - (size_t)3 * SEALED;
    for (size_t i = 0; i < CHUNKS; i++)
        for (size_t j = 0; j < CHUNKS; j++) { /* chunk j in the place of chunk i */
            AUTO(buf) b = { 0 };
            if (i == j)
                continue;
            for (size_t c = 0; c < CHUNKS; c++) {
                size_t from = c == i ? j : c == j ? i : c;
                buf_append(&b, c ? NULL : whole.p, c ? 0 : VAULT_HEAD_BYTES);
                buf_append(&b, whole.p + VAULT_HEAD_BYTES + from * SEALED,
                           from == 3 ? last : SEALED);
            }
            assert_int_equal(unseal(&b, &k, &n, &err), ERR_DAMAGED);
            assert_true(n <= (i < j ? i : j) * VAULT_CHUNK);
        }
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) b = { 0 };
        size_t at = VAULT_HEAD_BYTES + i * SEALED;
        buf_append(&b, whole.p, at + SEALED);
        buf_append(&b, whole.p + at, whole.n - at); /* twice */
        assert_int_equal(unseal(&b, &k, &n, &err), ERR_DAMAGED);
        assert_int_equal(n, (i + 1) * VAULT_CHUNK);
        buf_clear(&b);
        buf_append(&b, whole.p, at);
        buf_append(&b, whole.p + at + SEALED, whole.n - at - SEALED); /* left out */
        assert_int_equal(unseal(&b, &k, &n, &err), ERR_DAMAGED);
        assert_int_equal(n, i * VAULT_CHUNK);
    }
}

static void
chunks_of_another_vault_and_bytes_behind_the_end_are_refused(void **state)
{
    (void)state;
    AUTO(vault_keys) k;
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_key(&k, 7);
    seal(&a, &k, PLAIN);
    seal(&b, &k, PLAIN);
    memcpy(a.p + VAULT_HEAD_BYTES + SEALED, b.p + VAULT_HEAD_BYTES + SEALED, SEALED);
    assert_int_equal(unseal(&a, &k, &n, &err), ERR_DAMAGED);
    assert_int_equal(n, VAULT_CHUNK);
    static const size_t more[] = { 1, 17, 500, SEALED };
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        seal(&a, &k, 1000);
        assert_non_null(memset(buf_grow(&a, more[i]), 'x', more[i]));
        assert_int_equal(unseal(&a, &k, &n, &err), ERR_DAMAGED);
        assert_int_equal(n, 0); /* what is in the last chunk is not handed out either */
    }
    seal(&a, &k, VAULT_CHUNK);
    buf_puts(&a, "x");
    assert_int_equal(unseal(&a, &k, &n, &err), ERR_DAMAGED);
}

static void
another_key_and_another_passphrase_are_told_from_damage(void **state)
{
    (void)state;
    AUTO(vault_keys) right, wrong, file;
    AUTO(buf) b = { 0 };
    struct err err;
    size_t n;
    set_passphrase(&right, "correct horse");
    set_passphrase(&wrong, "correct horsf");
    set_key(&file, 7);
    seal(&b, &right, 100);
    assert_int_equal(unseal(&b, &wrong, &n, &err), -EACCES);
    assert_string_equal(err.text, "this is not its passphrase");
    assert_int_equal(unseal(&b, &file, &n, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "encrypted with a passphrase"));
    assert_int_equal(unseal(&b, &right, &n, &err), 0);
    seal(&b, &file, 100);
    assert_int_equal(unseal(&b, &right, &n, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "--key-file"));
    vault_keys_release(&wrong);
    set_key(&wrong, 8);
    assert_int_equal(unseal(&b, &wrong, &n, &err), -EACCES);
    assert_string_equal(err.text, "this is not its key file");
}

/* A head may ask for no more than a machine gives to a stranger; the sum fits. */
static void
what_costs_too_much_is_refused_before_it_is_paid(void **state)
{
    (void)state;
    static const struct {
        uint64_t ops, mem;
    } cases[] = { { 17, 64 << 20 },  { UINT64_MAX, 64 << 20 },
                  { 0, 64 << 20 },   { 2, (UINT64_C(1) << 30) + 1 },
                  { 2, UINT64_MAX }, { 2, 1024 },
                  { 2, 0 } };
    AUTO(vault_keys) k;
    struct err err;
    size_t n;
    set_passphrase(&k, "any");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct vault_head h = { .kind = VAULT_PASSPHRASE,
                                .ops = cases[i].ops,
                                .mem_bytes = cases[i].mem };
        AUTO(buf) b = { 0 };
        uint8_t *p = buf_grow(&b, VAULT_HEAD_BYTES);
        memset(p, 0, VAULT_HEAD_BYTES);
        vault_head_format(&h, p);
        vault_head_seal(p);
        assert_int_equal(unseal(&b, &k, &n, &err), ERR_LIMIT);
    }
    assert_null(k.key.p); /* nothing was derived */
}

static void
a_key_file_is_made_once_and_private(void **state)
{
    (void)state;
    AUTO(vault_keys) a = { .kind = VAULT_KEY_FILE }, b = a, c = a;
    struct err err;
    struct stat st;
    umask(0);
    assert_int_equal(vault_key_make("key", &err), 0);
    assert_int_equal(stat("key", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 32);
    assert_int_equal(vault_key_make("key", &err), -EEXIST);
    assert_int_equal(vault_key_make("key2", &err), 0);
    assert_int_equal(vault_keys_read_file(&a, "key", &err), 0);
    assert_int_equal(vault_keys_read_file(&b, "key", &err), 0);
    assert_int_equal(vault_keys_read_file(&c, "key2", &err), 0);
    assert_memory_equal(a.secret.p, b.secret.p, 32);
    assert_memory_not_equal(a.secret.p, c.secret.p, 32);
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(vault_key_make("link", &err), -EEXIST);
    assert_int_equal(access("nowhere", F_OK), -1);
}

static void
what_can_be_no_key_is_told(void **state)
{
    (void)state;
    AUTO(vault_keys) a = { .kind = VAULT_KEY_FILE }, b = a, c = a;
    struct err err;
    int fd = open("short", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "0123456789012345678901234567890", 31), 31);
    close(fd);
    assert_int_equal(vault_keys_read_file(&a, "short", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "31 bytes"));
    assert_int_equal(vault_keys_read_file(&b, "missing", &err), ERR_MISSING);
    assert_int_equal(vault_keys_read_file(&c, ".", &err), -EISDIR);
}

static void
a_passphrase_is_the_first_line(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = { { "one\ntwo\n", "one" },
                  { "one\r\ntwo", "one" },
                  { "one", "one" },
                  { "\n", "" },
                  { "", "" },
                  { " a b \n", " a b " } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(vault_secret) s = { 0 };
        AUTO(buf) b = { 0 };
        buf_puts(&b, cases[i].in);
        int fd = memory_file(&b);
        assert_int_equal(vault_secret_init(&s, 16), 0);
        assert_int_equal(vault_secret_read_line(&s, fd), 0);
        assert_int_equal(s.n, strlen(cases[i].out));
        assert_memory_equal(s.p, cases[i].out, s.n);
        for (size_t at = s.n; at < s.cap; at++) /* sodium's own filling, or zeros */
            assert_true(!strchr("two\r\n", s.p[at]) || !s.p[at]);
        close(fd);
    }
    AUTO(vault_secret) s = { 0 };
    AUTO(buf) b = { 0 };
    buf_puts(&b, "longer than sixteen bytes\n");
    int fd = memory_file(&b);
    assert_int_equal(vault_secret_init(&s, 16), 0);
    assert_int_equal(vault_secret_read_line(&s, fd), ERR_LIMIT);
    close(fd);
}

/* -- what is in it -- */

static void
paths_lead_below_and_nowhere_else(void **state)
{
    (void)state;
    static const char *const good[] = {
        "a", "a/b", ".a", "..a", "a..", "a/...", " ", "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g"
    };
    static const char *const bad[] = {
        "",    "/",   "/a",   "a/",   "a//b",   ".",  "..",
        "./a", "a/.", "../a", "a/..", "a/../b", "//", "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h"
    };
    char long_part[300] = { 0 }, long_path[1100] = { 0 };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(vault_path_is(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(vault_path_is(bad[i]));
    memset(long_part, 'x', 256);
    assert_false(vault_path_is(long_part));
    long_part[255] = 0;
    assert_true(vault_path_is(long_part));
    for (size_t i = 0; i < 1025; i++)
        long_path[i] = i % 200 == 199 ? '/' : 'x';
    assert_false(vault_path_is(long_path));
}

/* Everything that is found, as text. */
static int
on_begin(void *ctx, const char *id, const char *project)
{
    return buf_printf(ctx, "begin %s %s\n", id, project);
}

static int
on_entry(void *ctx, const struct vault_entry *e)
{
    return buf_printf(ctx, "%d %s %o %d.%u %d %s\n", (int)e->root,
                      e->is_folder ? "d" : "f", e->mode, (int)e->mtime_s, e->mtime_ns,
                      (int)e->bytes, e->path);
}

static int
on_bytes(void *ctx, struct view bytes)
{
    return buf_append(ctx, bytes.p, bytes.n);
}

static int
on_done(void *ctx)
{
    return buf_puts(ctx, "|\n");
}

static const struct vault_pack_fns fns = { on_begin, on_entry, on_bytes, on_done };

static int
unpack(struct view in, size_t step, struct buf *ret, struct err *err)
{
    AUTO(vault_unpack) u = { .fns = &fns, .ctx = ret };
    int r = 0;
    for (size_t at = 0; !r && at < in.n; at += step) {
        size_t n = in.n - at < step ? in.n - at : step;
        r = vault_unpack_feed(&u, (struct view){ in.p + at, n }, err);
    }
    return r ? r : vault_unpack_end(&u, err);
}

static void
pack(struct buf *ret)
{
    struct vault_entry e = { VAULT_SESSION, false, 0600, -5, 999999999, 5, "a" };
    vault_pack_begin(ret, "the-id", "/p/.ahr/sessions/N");
    vault_pack_entry(ret, &e);
    buf_puts(ret, "12345");
    e = (struct vault_entry){ VAULT_PROJECT, false, 0644, 7, 0, 0, "x/empty" };
    vault_pack_entry(ret, &e);
    e = (struct vault_entry){ VAULT_PROJECT, true, 0700, 8, 1, 0, "x" };
    vault_pack_entry(ret, &e);
    vault_pack_end(ret, 3, 5);
}

static void
what_was_packed_is_found_however_it_is_cut(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    struct err err;
    pack(&b);
    for (size_t step = 1; step <= b.n; step++) {
        AUTO(buf) found = { 0 };
        assert_int_equal(unpack((struct view){ b.p, b.n }, step, &found, &err), 0);
        assert_string_equal(buf_str(&found), "begin the-id /p/.ahr/sessions/N\n"
                                             "0 f 600 -5.999999999 5 a\n12345|\n"
                                             "1 f 644 7.0 0 x/empty\n|\n"
                                             "1 d 700 8.1 0 x\n");
    }
}

static void
what_is_packed_wrongly_is_refused(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    AUTO(buf) found = { 0 };
    struct err err;
    pack(&b);
    for (size_t n = 0; n < b.n; n++)
        assert_int_equal(unpack((struct view){ b.p, n }, 64, &found, &err), ERR_DAMAGED);
    buf_puts(&b, "E");
    assert_int_equal(unpack((struct view){ b.p, b.n }, 64, &found, &err), ERR_DAMAGED);
    struct vault_entry e = { VAULT_SESSION, false, 0600, 0, 0, 0, "../up" };
    buf_clear(&b);
    vault_pack_begin(&b, "id", "");
    assert_int_equal(vault_pack_entry(&b, &e), ERR_LIMIT);
    e.path = "up"; /* then the bytes are changed */
    vault_pack_entry(&b, &e);
    vault_pack_end(&b, 1, 0);
    assert_int_equal(unpack((struct view){ b.p, b.n }, 64, &found, &err), 0);
    b.p[b.n - 17 - 2] = '.';
    b.p[b.n - 17 - 1] = '.';
    assert_int_equal(unpack((struct view){ b.p, b.n }, 64, &found, &err), ERR_DAMAGED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out_whatever_its_length),
        cmocka_unit_test(two_of_the_same_bytes_have_nothing_in_common),
        cmocka_unit_test(a_key_that_was_cheaper_to_read_with_seals_nothing),
        cmocka_unit_test(a_cut_is_told_wherever_it_is),
        cmocka_unit_test(every_bit_of_the_head_counts),
        cmocka_unit_test(a_head_that_was_changed_with_care_opens_nothing),
        cmocka_unit_test(a_flip_is_told_in_every_chunk),
        cmocka_unit_test(swapped_repeated_and_missing_chunks_are_refused),
        cmocka_unit_test(chunks_of_another_vault_and_bytes_behind_the_end_are_refused),
        cmocka_unit_test(another_key_and_another_passphrase_are_told_from_damage),
        cmocka_unit_test(what_costs_too_much_is_refused_before_it_is_paid),
        KIT_IN_DIR(a_key_file_is_made_once_and_private),
        KIT_IN_DIR(what_can_be_no_key_is_told),
        cmocka_unit_test(a_passphrase_is_the_first_line),
        cmocka_unit_test(paths_lead_below_and_nowhere_else),
        cmocka_unit_test(what_was_packed_is_found_however_it_is_cut),
        cmocka_unit_test(what_is_packed_wrongly_is_refused),
    };
    return cmocka_run_group_tests_name("vault", tests, NULL, NULL);
}
