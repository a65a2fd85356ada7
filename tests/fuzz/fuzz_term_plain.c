/* SPDX-License-Identifier: MIT */
/*
 * Plain text of a session, however it is cut: lines of text and nothing else; without
 * changes of size each final line is among them.
 */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "play/plain.h"

enum { RESIZE = 0xff };

static int
print(void *ctx, struct view text)
{
    struct buf *out = ctx;
    CHECK(utf8_is_line(text.p, text.n));
    buf_append(out, text.p, text.n);
    return buf_puts(out, "\n");
}

/* A term_line_fn; ctx is what was printed, with a newline before it. */
static int
check_printed(void *ctx, const struct term_line *line)
{
    const struct buf *out = ctx;
    AUTO(buf) whole = { 0 };
    buf_printf(&whole, "\n%s\n", (const char *)line->text.p);
    if (!line->text.n || memmem(out->p, out->n, whole.p, whole.n))
        return 0;
    fprintf(stderr, "'%s' is not in:%.*s", (const char *)line->text.p, (int)out->n,
            (const char *)out->p);
    abort();
}

static void
play(struct view in, size_t step)
{
    AUTO(buf) out = { 0 };
    struct play_plain plain = { .print = print, .ctx = &out };
    struct term *t = term_input_new(&in);
    bool has_resizes = in.n && memchr(in.p, RESIZE, in.n);
    uint64_t off = 0;
    buf_puts(&out, "\n");
    while (in.n) {
        if (in.p[0] == RESIZE) {
            size_t n = in.n < 3 ? in.n : 3;
            term_input_feed(t, (struct view){ in.p, n }, 0);
            in = (struct view){ in.p + n, in.n - n };
            continue;
        }
        const uint8_t *end = memchr(in.p, RESIZE, in.n);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        n = n < step ? n : step;
        term_feed(t, in.p, n, off);
        off += n;
        CHECK(play_plain_look(&plain, t, off) == 0);
        in = (struct view){ in.p + n, in.n - n };
    }
    CHECK(play_plain_end(&plain, t, off) == 0);
    if (!has_resizes)
        term_final_lines(t, check_printed, &out);
    play_plain_release(&plain);
    term_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    play((struct view){ data, size }, 1);
    play((struct view){ data, size }, 7);
    return 0;
}
