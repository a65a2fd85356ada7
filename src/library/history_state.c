/* SPDX-License-Identifier: MIT */
/*
 * history_state.c -- import.state: how far a history was read, and what its next line
 * needs. Numbers and bytes (base/parts.h) with a checksum over all, replaced whole behind
 * what it speaks of.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/le.h"
#include "base/parts.h"
#include "library/history_priv.h"
#include "tape/crc32c.h"

enum { STATE_MAX = 128 << 20, FILES_MAX = 1 << 16 };

static const struct view magic = { (const uint8_t *)"ahr import 3", 12 };

static int
state_path(struct history *h, struct buf *ret)
{
    ret->ceiling = PATH_MAX;
    return buf_printf(ret, "%s/" HISTORY_STATE, buf_str(&h->dir));
}

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- the checksum, behind all else -- */

static bool
is_sound(const struct buf *state, struct view *ret_body)
{
    size_t end = sizeof(uint64_t);
    *ret_body = (struct view){ state->p, state->n < end ? 0 : state->n - end };
    if (state->n < end)
        return false;
    return get_le64(state->p + ret_body->n) == tape_crc32c(0, ret_body->p, ret_body->n);
}

/* From its beginning. */
static int
read_state(int fd, struct buf *ret)
{
    ret->ceiling = STATE_MAX;
    return lseek(fd, 0, SEEK_SET) < 0 ? -errno : file_read_all(fd, ret);
}

int
history_state_seal(int from_fd, int to_fd)
{
    AUTO(buf) state = { 0 };
    uint8_t crc[sizeof(uint64_t)];
    struct view body;
    int r = read_state(from_fd, &state);
    if (r == ERR_LIMIT || (!r && !is_sound(&state, &body)))
        return 0;
    buf_clear(&state);
    if (!r)
        r = read_state(to_fd, &state);
    if (r < 0 || is_sound(&state, &body))
        return r;
    put_le64(crc, tape_crc32c(0, body.p, body.n));
    ssize_t n = pwrite(to_fd, crc, sizeof(crc), (off_t)body.n);
    return n < 0 ? -errno : n == sizeof(crc) ? 0 : -EIO;
}

/* -- files -- */

static void
put_file(const struct history_source *s, struct buf *out)
{
    const struct history_file *f = &s->file;
    const uint64_t numbers[] = { f->offset, f->line,       f->head,
                                 f->tail,   f->size_bytes, f->mtime_ns };
    parts_put(out, view_of(s->known_as.n ? &s->known_as : &f->path));
    parts_put(out, view_of(&s->call));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        parts_put_u64(out, numbers[i]);
}

static int
take_file(struct view *rest, struct history_sources *files)
{
    struct history_source *s = history_sources_add(files, "");
    struct view path, call;
    if (!s)
        return -ENOMEM;
    struct history_file *f = &s->file;
    uint64_t *const numbers[] = { &f->offset, &f->line,       &f->head,
                                  &f->tail,   &f->size_bytes, &f->mtime_ns };
    bool is_fine = parts_take(rest, &path) && parts_take(rest, &call);
    for (size_t i = 0; is_fine && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        is_fine = parts_take_u64(rest, numbers[i]);
    if (!is_fine)
        return ERR_DAMAGED;
    int r = buf_append(&f->path, path.p, path.n);
    return r < 0 ? r : buf_append(&s->call, call.p, call.n);
}

/* -- all -- */

/* The largest part by far: it is not made beside, and its length is set when it is known.
 */
static int
put_reader(const struct history *h, struct buf *out)
{
    size_t at = out->n, head = sizeof(uint64_t);
    int r = parts_put_u64(out, 0);
    if (!r)
        r = turn_history_save(h->reader, out);
    if (!r)
        put_le64(out->p + at, out->n - at - head);
    return r;
}

int
history_put_state(struct history *h, struct buf *out)
{
    const uint64_t numbers[] = { h->turns_bytes, h->turns_tail, h->start_ns, h->last_ns,
                                 h->has_talk };
    out->ceiling = STATE_MAX;
    parts_put(out, magic);
    parts_put_u64(out, h->sources.count);
    for (size_t i = 0; i < h->sources.count; i++)
        put_file(&h->sources.list[i], out);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        parts_put_u64(out, numbers[i]);
    parts_put(out, view_of(&h->prompt));
    parts_put(out, view_of(&h->cwd));
    int r = turn_totals_save(&h->totals, out);
    if (!r)
        r = parts_put(out, view_of(&h->touched.open));
    if (!r)
        r = put_reader(h, out);
    return r < 0 ? r : parts_put_u64(out, tape_crc32c(0, out->p, out->n));
}

int
history_save(struct history *h)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) out = { 0 };
    int r = history_put_state(h, &out);
    if (!r)
        r = state_path(h, &path);
    if (r < 0)
        return err_code(h->err, r, "cannot keep how far '%s' was read", h->from->path);
    return file_replace(buf_str(&path), view_of(&out), !h->is_staged, h->err);
}

static int
take(struct history *h, struct view rest, struct history_sources *files)
{
    struct view part;
    uint64_t count, has_talk = 0;
    uint64_t *const numbers[] = { &h->turns_bytes, &h->turns_tail, &h->start_ns,
                                  &h->last_ns, &has_talk };
    struct buf *const texts[] = { &h->prompt, &h->cwd };
    int r = 0;
    if (!parts_take(&rest, &part) || part.n != magic.n ||
        memcmp(part.p, magic.p, magic.n) != 0 || !parts_take_u64(&rest, &count) ||
        count > FILES_MAX)
        return ERR_DAMAGED;
    for (uint64_t i = 0; !r && i < count; i++)
        r = take_file(&rest, files);
    for (size_t i = 0; !r && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        r = parts_take_u64(&rest, numbers[i]) ? 0 : ERR_DAMAGED;
    for (size_t i = 0; !r && i < sizeof(texts) / sizeof(texts[0]); i++)
        r = parts_take(&rest, &part) ? buf_append(texts[i], part.p, part.n) : ERR_DAMAGED;
    if (!r)
        r = turn_totals_load(&h->totals, &rest);
    if (!r)
        r = parts_take(&rest, &part) ? buf_append(&h->touched.open, part.p, part.n)
                                     : ERR_DAMAGED;
    if (r < 0 || !parts_take(&rest, &part) || rest.n)
        return r < 0 ? r : ERR_DAMAGED;
    h->has_talk = has_talk;
    return turn_history_load(h->reader, part);
}

int
history_take_state(struct history *h, const struct buf *state,
                   struct history_sources *ret_files)
{
    struct view body;
    return is_sound(state, &body) ? take(h, body, ret_files) : ERR_DAMAGED;
}

int
history_load(struct history *h, struct history_sources *ret_files)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) bytes = { .ceiling = STATE_MAX };
    int r = state_path(h, &path);
    if (!r)
        r = file_slurp(buf_str(&path), &bytes);
    if (r < 0)
        return r == -ENOENT ? ERR_MISSING : r == -ENOMEM ? r : ERR_DAMAGED;
    return history_take_state(h, &bytes, ret_files);
}
