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
    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->anchor_byte < y->anchor_byte ? -1 : x->anchor_byte > y->anchor_byte;
}

static bool
has_line(const struct buf *keys, const struct tape_record *rec)
{
    struct session_snapshot_key key = { rec->snapshot_id, rec->ts_ns, rec->byte_off };
    return keys->n && bsearch(&key, keys->p, keys->n / sizeof(key), sizeof(key), compare);
}

static int
add_missing(struct session_lines *lines, const struct buf *keys,
            struct tape_reader *reader)
{
    AUTO(buf) line = { 0 };
    struct tape_record rec;
    int r = 0;
    while (!r && tape_reader_next(reader, &rec)) {
        if (rec.tag != TAPE_SNAPSHOT || has_line(keys, &rec))
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
    AUTO(buf) keys = { 0 };
    int r = session_lines_init(&lines, path);
    if (!r)
        r = session_snapshot_keys(path, &keys);
    if (!r && keys.n)
        qsort(keys.p, keys.n / sizeof(struct session_snapshot_key),
              sizeof(struct session_snapshot_key), compare);
    if (!r)
        r = add_missing(&lines, &keys, reader);
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
