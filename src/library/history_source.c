/* SPDX-License-Identifier: MIT */
#include "library/history_source_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "turn/history.h"

enum {
    CHUNK = 256 << 10,
    CHUNK_OF_MANY = 32 << 10,
    ENDS = 4096, /* bytes at both ends by which a beginning is known */
};

/* -- open -- */

static int
start(struct history_source *s, const struct stat *st)
{
    s->file.size_bytes = (uint64_t)st->st_size;
    s->file.mtime_ns = file_mtime_ns(st);
    s->is_document = file_ends_in(buf_str(&s->file.path), ".json");
    s->is_over = s->has_line = s->is_too_long = s->is_parked = false;
    s->device = st->st_dev;
    s->inode = st->st_ino;
    if (file_ends_in(buf_str(&s->file.path), ".zst")) {
        s->file.offset = s->file.line = 0;
        return gz_zstd_new(&s->zstd, s->fd);
    }
    return s->file.offset > s->file.size_bytes ? -ESTALE : 0;
}

int
history_source_open(struct history_source *s, struct err *err)
{
    const char *path = buf_str(&s->file.path);
    struct stat st;
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) < 0)
        return err_sys(err, "cannot open '%s'", path);
    int r = S_ISREG(st.st_mode) ? start(s, &st) : -EINVAL;
    s->is_open = !r;
    if (r < 0)
        history_source_close(s);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

void
history_source_park(struct history_source *s)
{
    if (s->zstd) /* that would be read from its beginning */
        return;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    buf_release(&s->held);
    s->at = 0;
    s->is_parked = s->has_line;
}

void
history_source_close(struct history_source *s)
{
    gz_zstd_free(s->zstd);
    s->zstd = NULL;
    history_source_park(s);
    s->is_open = s->has_line = s->is_parked = false;
}

/* The file that it was, and not one that has taken its place. */
static int
hold(struct history_source *s)
{
    struct stat st;
    if (s->fd >= 0)
        return 0;
    s->fd = open(buf_str(&s->file.path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0)
        return -errno;
    bool is_it = fstat(s->fd, &st) == 0 && st.st_dev == s->device &&
                 st.st_ino == s->inode;
    if (!is_it)
        history_source_park(s);
    return is_it ? 0 : -ESTALE;
}

/* -- by which a beginning is known -- */

uint64_t
history_hash_before(int fd, uint64_t end)
{
    uint8_t bytes[ENDS];
    uint64_t from = end > ENDS ? end - ENDS : 0;
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    ssize_t n = pread(fd, bytes, (size_t)(end - from), (off_t)from);
    if (n < 0 || (uint64_t)n != end - from)
        return 0;
    for (ssize_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h | 1;
}

static void
hash_ends(struct history_source *s, uint64_t *head, uint64_t *tail)
{
    uint64_t n = s->file.offset, some = n < ENDS ? n : ENDS;
    bool is_known = !s->zstd && hold(s) == 0;
    *head = is_known ? history_hash_before(s->fd, some) : 0;
    *tail = is_known ? history_hash_before(s->fd, n) : 0;
}

void
history_source_seal(struct history_source *s)
{
    hash_ends(s, &s->file.head, &s->file.tail);
}

bool
history_source_is_same(struct history_source *s)
{
    uint64_t head, tail;
    hash_ends(s, &head, &tail);
    return head && head == s->file.head && tail == s->file.tail;
}

bool
history_source_begins_same(struct history_source *s)
{
    uint64_t head, tail;
    hash_ends(s, &head, &tail);
    return head && head == s->file.head;
}

/* -- lines -- */

static ssize_t
read_at(int fd, uint8_t *p, size_t n, uint64_t offset)
{
    ssize_t r;
    do
        r = pread(fd, p, n, (off_t)offset);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

/* 0: there is no more. */
static ssize_t
read_more(struct history_source *s)
{
    s->held.n -= s->at;
    if (s->at)
        memmove(s->held.p, s->held.p + s->at, s->held.n);
    s->at = 0;
    size_t before = s->held.n, want = s->is_one_of_many ? CHUNK_OF_MANY : CHUNK;
    uint64_t at_byte = s->file.offset + before,
             left = s->file.size_bytes > at_byte ? s->file.size_bytes - at_byte : 0;
    if (!s->zstd && left < want)
        want = (size_t)left;
    int r = want ? hold(s) : 0;
    if (r < 0)
        return r;
    s->held.ceiling = HISTORY_LINE_MAX + 2 * CHUNK;
    if (!want || !buf_grow(&s->held, want))
        return want ? s->held.failed : 0;
    uint8_t *at = s->held.p + before;
    ssize_t n = s->zstd ? gz_zstd_read(s->zstd, at, want)
                        : read_at(s->fd, at, want, at_byte);
    s->held.n = before + (n > 0 ? (size_t)n : 0);
    return n;
}

static void
drop(struct history_source *s, size_t n)
{
    s->at += n;
    s->file.offset += n;
}

static void
set_line(struct history_source *s, size_t n, size_t with_newline)
{
    s->line = (struct view){ s->held.p + s->at, n };
    s->line_bytes = with_newline;
    s->has_line = true;
    uint64_t stamp = s->has_rivals ? turn_history_stamp(s->line) : 0;
    if (stamp > s->stamp_ns)
        s->stamp_ns = stamp;
}

/* The end of the file: is what is left a line? */
static void
take_last(struct history_source *s)
{
    struct view rest = { s->held.p + s->at, s->held.n - s->at };
    s->is_over = true;
    if (rest.n && (s->is_document || turn_history_is_whole(rest)))
        set_line(s, rest.n, rest.n);
}

/* Too long for one: only its end is looked for. Where that is not there yet, it is not
 * taken. */
static void
pass_over(struct history_source *s)
{
    ssize_t n;
    uint64_t begin = s->file.offset;
    do {
        drop(s, s->held.n - s->at);
        n = read_more(s);
        const uint8_t *end = n > 0 ? memchr(s->held.p, '\n', s->held.n) : NULL;
        if (end) {
            s->at = (size_t)(end - s->held.p);
            s->file.offset += s->at;
            return;
        }
    } while (n > 0);
    s->error = n < 0 ? (int)n : 0;
    s->is_over = true;
    s->file.offset = s->is_document ? s->file.offset : begin;
}

/* It is a line still, with nothing in it, so that it is told in its place. */
static void
set_too_long(struct history_source *s)
{
    s->line = (struct view){ NULL, 0 };
    s->line_bytes = 0;
    s->has_line = s->is_too_long = true;
}

void
history_source_find_line(struct history_source *s)
{
    size_t looked = 0;
    while (!s->has_line && !s->is_over) {
        const uint8_t *p = s->held.p + s->at, *end = NULL;
        size_t n_held = s->held.n - s->at;
        if (!s->is_document && n_held > looked)
            end = memchr(p + looked, '\n', n_held - looked);
        looked = n_held;
        if (end) {
            set_line(s, (size_t)(end - p), (size_t)(end + 1 - p));
            return;
        }
        if (n_held > HISTORY_LINE_MAX) {
            set_too_long(s);
            return;
        }
        ssize_t n = read_more(s);
        if (n < 0)
            s->error = (int)n;
        if (n <= 0)
            take_last(s);
    }
}

void
history_source_taken(struct history_source *s)
{
    s->has_line = false;
    if (s->is_too_long) {
        s->is_too_long = false;
        pass_over(s); /* what ends it is an empty line */
        return;
    }
    s->file.line += s->line_bytes > s->line.n;
    drop(s, s->line_bytes);
}

bool
history_source_unpark(struct history_source *s)
{
    ssize_t n = 1;
    while (s->is_parked && s->held.n < s->line_bytes && n > 0)
        n = read_more(s);
    if (n <= 0) {
        s->error = n < 0 ? (int)n : -ESTALE;
        s->has_line = s->is_parked = false;
        s->is_over = true;
        return false;
    }
    if (s->is_parked && s->line_bytes)
        s->line.p = s->held.p + s->at;
    s->is_parked = false;
    return true;
}

/* -- two files -- */

/* Bytes that are at hand, after what was taken; 0: there are none any more. */
static ssize_t
at_hand(struct history_source *s)
{
    ssize_t n = s->at == s->held.n ? read_more(s) : 1;
    return n <= 0 ? n : (ssize_t)(s->held.n - s->at);
}

static int
compare(struct history_source *a, struct history_source *b, enum history_relation *ret)
{
    for (;;) {
        ssize_t n = at_hand(a), m = at_hand(b);
        if (n < 0 || m < 0)
            return (int)(n < 0 ? n : m);
        *ret = n ? HISTORY_BEYOND : HISTORY_WITHIN;
        if (!n || !m)
            return 0;
        size_t both = (size_t)(n < m ? n : m);
        *ret = HISTORY_OTHER;
        if (memcmp(a->held.p + a->at, b->held.p + b->at, both) != 0)
            return 0;
        drop(a, both);
        drop(b, both);
    }
}

int
history_files_compare(const char *a, const char *b, enum history_relation *ret,
                      struct err *err)
{
    struct history_sources both = { 0 };
    struct history_source *x = history_sources_add(&both, a), *y;
    struct err ignored = { 0 };
    *ret = HISTORY_OTHER;
    y = x ? history_sources_add(&both, b) : NULL;
    int r = y ? history_source_open(&both.list[0], err) : -ENOMEM;
    if (!r && history_source_open(y, &ignored) == 0)
        r = compare(&both.list[0], y, ret);
    history_sources_release(&both);
    if (r == ERR_DAMAGED) { /* as far as it goes it is a story of its own */
        *ret = HISTORY_OTHER;
        return 0;
    }
    return r < 0 && !err->code ? err_code(err, r, "cannot read '%s'", a) : r;
}

uint64_t
history_source_rest(const struct history_source *s)
{
    uint64_t size = s->file.size_bytes, taken = s->file.offset;
    return s->zstd ? s->held.n - s->at : size > taken ? size - taken : 0;
}
