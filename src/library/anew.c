/* SPDX-License-Identifier: MIT */
/* anew.c -- a session's folder made anew, file by file; what each is by its name. */
#include "library/anew_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/tree.h"
#include "gz/pack.h"
#include "gz/read.h"
#include "library/history_state_priv.h"
#include "session/lines.h"
#include "tape/names.h"

enum { TEXT_MAX = 1 << 30 }; /* of a file that is read whole */

/* -- what a file is -- */

enum kind {
    RECORDING,
    PART,    /* of the recording, whose new file has it */
    SCRAP,   /* a recording, perhaps, that nobody reads, or a damaged archive: kept where
                it can be read */
    DERIVED, /* made again from others, or of no use to anybody */
    TEXT,
    JSON,
    JSON_LINES,
    CALLS, /* of the wire */
    BYTES, /* whatever it is, its length stays */
    STATE, /* … of an import, with a checksum */
};

static const struct {
    const char *name; /* with a '*' before it: the end of a name */
    enum kind kind;
} kinds[] = {
    { "session.ahr", RECORDING },
    { "keyframes", DERIVED },
    { "keyframes.new", DERIVED },
    { "lock", DERIVED },
    { "reserve", DERIVED },
    { "*.json.new", DERIVED },
    { "*" TAPE_JOIN_SUFFIX, DERIVED },
    { "*.json", JSON },
    { "*.json.bad", JSON },
    { "session." SESSION_WIRE, CALLS },
    { "*.jsonl", JSON_LINES },
    { "*.jsonl.bad", JSON_LINES },
    { "host.log", TEXT },
    { HISTORY_STATE, STATE },
    { GZ_TEMP, DERIVED },
};

static bool
is_called(const char *name, const char *pattern)
{
    size_t n = strlen(name), end = strlen(pattern + 1);
    if (*pattern != '*')
        return !strcmp(name, pattern);
    return n >= end && !strcmp(name + n - end, pattern + 1);
}

static enum kind
kind_of(const char *name)
{
    uint64_t ordinal;
    unsigned segment;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is_called(name, kinds[i].name))
            return kinds[i].kind;
    if (strstr(name, GZ_SUFFIX GZ_BAD))
        return SCRAP;
    const char *suffix = strstr(name, ".ahr");
    if (!suffix)
        return BYTES;
    suffix += strlen(".ahr");
    bool is_ours = !strncmp(name, "session.ahr", strlen("session.ahr"));
    bool is_part = tape_tail_suffix(suffix, &ordinal) ||
                   tape_segment_suffix(suffix, &segment);
    return is_ours && is_part ? PART : SCRAP;
}

/* -- one file -- */

static void
tell(const struct anew *a, const char *name, const char *what)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "'%s/%s' %s", a->from, name, what);
    if (a->rw->tell)
        a->rw->tell(a->rw->ctx, buf_str(&text));
}

static int
paths(const struct anew *a, const char *name, struct buf *from, struct buf *to)
{
    from->ceiling = to->ceiling = PATH_MAX;
    buf_printf(from, "%s/%s", a->from, name);
    buf_printf(to, "%s/%s", a->to, name);
    return from->failed || to->failed ? -ENAMETOOLONG : 0;
}

static int
make_tape(struct anew *a, const char *name, enum kind kind, struct scrub_count *count,
          struct err *err)
{
    AUTO(buf) from = { 0 };
    AUTO(buf) to = { 0 };
    bool is_damaged = false;
    int r = paths(a, name, &from, &to);
    if (r < 0)
        return err_code(err, r, "cannot rewrite '%s'", name);
    r = scrub_tape(a->rw->secrets, buf_str(&from), buf_str(&to),
                   kind == RECORDING ? a->rw->progress : NULL, count, &is_damaged, err);
    bool is_useless = kind == SCRAP && (r == ERR_DAMAGED || is_damaged);
    if (is_useless) {
        if (unlink(buf_str(&to)) < 0 && errno != ENOENT)
            return err_sys(err, "cannot remove '%s'", buf_str(&to));
        tell(a, name, "cannot be read, may hold anything, and is gone");
        *count = (struct scrub_count){ 0 };
        a->done.dropped++;
        return 0;
    }
    if (r < 0)
        return r;
    if (is_damaged)
        tell(a, name, "was damaged: what could not be read of it is gone");
    a->done.is_damaged |= is_damaged;
    return 0;
}

static int
make_text(struct anew *a, int from_fd, int to_fd, enum kind kind,
          struct scrub_count *count)
{
    AUTO(buf) in = { .ceiling = TEXT_MAX };
    AUTO(buf) out = { .ceiling = SIZE_MAX };
    int r = file_read_all(from_fd, &in);
    if (r < 0)
        return r;
    struct view text = { in.p, in.n };
    switch (kind) {
    case TEXT:
        r = scrub_text(a->scrub, text, &out, count);
        break;
    case JSON:
        r = scrub_json(a->scrub, text, &out, count);
        break;
    case JSON_LINES:
        r = scrub_json_lines(a->scrub, text, &out, count);
        break;
    case RECORDING:
    case PART:
    case SCRAP:
    case DERIVED:
    case CALLS:
    case BYTES:
    case STATE:
        break;
    }
    return r < 0 ? r : file_write_all(to_fd, out.p, out.n);
}

static int
make_bytes(struct anew *a, int from_fd, int to_fd, enum kind kind,
           struct scrub_count *count)
{
    int r = scrub_bytes(a->scrub, from_fd, to_fd, count);
    return r < 0 || kind != STATE ? r : history_state_seal(from_fd, to_fd);
}

static int
make_from(struct anew *a, int from_fd, const char *name, enum kind kind,
          struct scrub_count *count)
{
    int to_fd = openat(a->to_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to_fd < 0)
        return -errno;
    bool has_length = kind == BYTES || kind == STATE;
    int r = fchmod(to_fd, 0600) < 0 ? -errno
            : has_length            ? make_bytes(a, from_fd, to_fd, kind, count)
                                    : make_text(a, from_fd, to_fd, kind, count);
    if (!r && fsync(to_fd) < 0)
        r = -errno;
    close(to_fd);
    return r;
}

static int
make_plain(struct anew *a, const char *name, enum kind kind, struct scrub_count *count,
           struct err *err)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(a->from_fd, name, flags);
    if (fd < 0)
        return err_sys(err, "cannot read '%s/%s'", a->from, name);
    int r = make_from(a, fd, name, kind, count);
    close(fd);
    if (r == ERR_LIMIT)
        return err_set(err, r,
                       "cannot mask '%s/%s': it is too large, or the mask "
                       "itself is what is to be masked",
                       a->from, name);
    return r < 0 ? err_code(err, r, "cannot make '%s/%s' anew", a->from, name) : 0;
}

static int
make_calls(struct anew *a, const char *name, struct scrub_count *count, struct err *err)
{
    AUTO(buf) from = { 0 };
    AUTO(buf) to = { 0 };
    uint64_t dropped = 0;
    int r = paths(a, name, &from, &to);
    int fd = r < 0 ? r
                   : openat(a->to_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_code(err, r < 0 ? r : -errno, "cannot make '%s/%s' anew", a->from,
                        name);
    r = scrub_wire(a->scrub, buf_str(&from), fd, count, &dropped, err);
    if (!r && (fchmod(fd, 0600) < 0 || fsync(fd) < 0))
        r = err_sys(err, "cannot make '%s/%s' anew", a->from, name);
    close(fd);
    if (!r && dropped)
        tell(a, name, "was damaged: what could not be read of it is gone");
    a->done.is_damaged |= dropped > 0;
    return r;
}

static int
make_file(struct anew *a, const char *name, struct err *err)
{
    struct scrub_count count = { 0 };
    enum kind kind = kind_of(name);
    int r = 0;
    if (kind == RECORDING || kind == SCRAP)
        r = make_tape(a, name, kind, &count, err);
    else if (kind == CALLS)
        r = make_calls(a, name, &count, err);
    else if (kind != PART && kind != DERIVED)
        r = make_plain(a, name, kind, &count, err);
    if (r < 0 || !count.places)
        return r;
    struct json j = { .out = &a->files, .comma = a->files.n > 0 };
    json_key(&j, name), json_u64(&j, count.places);
    a->done.files++;
    a->done.masked += count.places;
    a->done.masked_bytes += count.bytes;
    return a->files.failed ? err_code(err, a->files.failed, "cannot note '%s'", name) : 0;
}

/* -- all of them -- */

/* 1: a plain file. 0: what is left out without a loss. */
static int
judge(const struct anew *a, const char *name, struct err *err)
{
    struct stat st;
    if (fstatat(a->from_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "cannot look at '%s/%s'", a->from, name);
    if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
        return err_set(err, -EINVAL,
                       "'%s/%s' is a %s: what it leads to is no part of the session; "
                       "move it away first",
                       a->from, name, S_ISDIR(st.st_mode) ? "folder" : "link");
    if (S_ISREG(st.st_mode) && st.st_nlink > 1)
        tell(a, name, "has another name elsewhere, where it stays as it is");
    return S_ISREG(st.st_mode);
}

static int
make_all(struct anew *a, char **names, size_t count, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < count; i++) {
        r = judge(a, names[i], err);
        if (!r)
            names[i] = NULL; /* a socket, say */
    }
    for (size_t i = 0; r >= 0 && i < count; i++)
        r = names[i] ? make_file(a, names[i], err) : 0;
    return r < 0 ? r : 0;
}

int
anew_make(struct anew *a, struct err *err)
{
    AUTO(tree_names) names = { 0 };
    int r = scrub_new(&a->scrub, a->rw->secrets);
    if (!r)
        r = tree_names(a->from_fd, &names);
    return r < 0 ? err_code(err, r, "cannot list '%s'", a->from)
                 : make_all(a, names.name, names.count, err);
}

void
anew_release(struct anew *a)
{
    scrub_free(a->scrub);
    buf_release(&a->files);
}
