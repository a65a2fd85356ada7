/* SPDX-License-Identifier: MIT */
/*
 * snapshots.c -- the lines of snapshots that a vanished recorder did not get to write.
 *
 * The recording is the truth: a snapshot is in it before its line is written.
 */
#include "library/snapshots_priv.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "session/folder.h"
#include "session/lines.h"
#include "tape/reader.h"

static int
compare(const void *a, const void *b)
{
    const struct session_snapshot_key *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->anchor_byte != y->anchor_byte)
        return x->anchor_byte < y->anchor_byte ? -1 : 1;
    return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* The lines that there are: keys in order, and which of them have had their record. */
struct known {
    struct buf keys, used;
};

static int
known_read(struct known *k, const char *path)
{
    int r = session_snapshot_keys(path, &k->keys);
    size_t n = k->keys.n / sizeof(struct session_snapshot_key);
    uint8_t *used = r < 0 || !n ? NULL : buf_grow(&k->used, n);
    if (r < 0 || !n)
        return r;
    if (!used)
        return k->used.failed;
    memset(used, 0, n);
    qsort(k->keys.p, n, sizeof(struct session_snapshot_key), compare);
    return 0;
}

/* A line's stamp is that of its record, or earlier, when its anchor was asked for. */
static bool
has_line(struct known *known, const struct tape_record *rec)
{
    const struct session_snapshot_key *all = (const void *)known->keys.p;
    struct session_snapshot_key key = { rec->snapshot_id, rec->ts_ns, rec->byte_off };
    size_t from = 0, to = known->keys.n / sizeof(key);
    while (from < to) { /* the last that is not behind it */
        size_t middle = from + (to - from) / 2;
        if (compare(&all[middle], &key) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    bool has_it = from && !known->used.p[from - 1] && all[from - 1].id == key.id &&
                  all[from - 1].anchor_byte == key.anchor_byte;
    if (has_it)
        known->used.p[from - 1] = true;
    return has_it;
}

static int
add_missing(struct session_lines *lines, struct known *known, struct tape_reader *reader)
{
    AUTO(buf) line = { 0 };
    struct tape_record rec;
    int r = 0;
    while (!r && tape_reader_next(reader, &rec)) {
        if (rec.tag != TAPE_SNAPSHOT || has_line(known, &rec))
            continue;
        buf_clear(&line);
        session_snapshot_line(&line, rec.snapshot_id, rec.ts_ns, rec.bytes, false,
                              rec.byte_off);
        r = line.failed;
        if (!r)
            r = session_lines_add(lines, (struct view){ line.p, line.n });
    }
    return r;
}

static int
sync_lines(struct session_lines *lines)
{
    int fd = session_lines_fd(lines);
    if (fd < 0)
        return 0;
    if (fsync(fd) < 0)
        return -errno;
    return file_sync_dir(lines->path);
}

static int
complete(const char *path, struct tape_reader *reader)
{
    AUTO(session_lines) lines = { .fd = -1 };
    struct known known = { 0 };
    int r = session_lines_init(&lines, path);
    if (!r)
        r = known_read(&known, path);
    if (!r)
        r = add_missing(&lines, &known, reader);
    buf_release(&known.keys);
    buf_release(&known.used);
    return r < 0 ? r : sync_lines(&lines);
}

int
snapshots_complete(const char *tape_path, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct tape_reader *reader;
    struct tape_reader_options opt = { 0 };
    int r = tape_reader_open(&reader, tape_io_files(), tape_path, &opt, err);
    if (r < 0)
        return r;
    r = session_sibling_path(tape_path, SESSION_SNAPSHOTS, &path);
    if (!r)
        r = complete(buf_str(&path), reader);
    tape_reader_close(reader);
    return r < 0 ? err_code(err, r, "cannot write '%s'", buf_str(&path)) : 0;
}
