/* SPDX-License-Identifier: MIT */
/*
 * iteration.c -- the iteration log: what waits, and when it is written.
 *
 * Text goes through `waiting`, so that what was refused stays in its place before what
 * follows. While something is missing nothing is taken in until all that waits is out:
 * the line that tells of it stands where the text would have stood.
 */
#include "journal/iteration.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "journal/io.h"
#include "journal/iteration_priv.h"

#define RETRY_NS UINT64_C(250000000)
#define LOOK_NS  UINT64_C(1000000000)

enum {
    DIRECT_MIN = 64 << 10, /* as much goes past `waiting` */
    EAGER_MAX = 64 << 10,  /* more than this is tried again only after RETRY_NS */
    KEPT_MAX = 64 << 10,   /* memory that stays when nothing waits */
    LOCK_WAIT_MS = 1000,
    LAST_TRIES = 4, /* at the end, a disk may fail now and then */
};

enum line { LINE_ENDED, LINE_OUT, LINE_STDERR };

struct journal_iteration {
    char *path;
    struct journal_disk disk;
    struct journal_head head;
    bool is_head_owed, is_over;
    struct buf waiting;
    enum line line; /* what the last of all text taken in is */
    uint64_t flush_ns, due_ns, retry_ns, look_ns;
    uint64_t missing; /* bytes that were dropped and are not told of yet */
    uint64_t lost;    /* … at the end */
    int missing_code; /* why */
    int trouble;      /* that the disk makes now, else 0 */
    bool is_gone;     /* the path names another file, or none */
    struct journal_news news;
};

/* -- trouble -- */

static void
meet_trouble(struct journal_iteration *it, int code)
{
    it->trouble = code;
    it->retry_ns = clock_mono_ns() + RETRY_NS;
    journal_news_trouble(&it->news, code);
}

bool
journal_iteration_trouble(struct journal_iteration *it, struct err *ret)
{
    return journal_news_take(&it->news, ret);
}

/* Somebody may remove, replace or cut the file. What is cut off is gone; the rest goes
 * behind what is left, and the head is written again. */
static void
look_after(struct journal_iteration *it, uint64_t now)
{
    struct stat st;
    if (now < it->look_ns)
        return;
    it->look_ns = now + LOOK_NS;
    if (!it->is_gone && !file_is_at(it->disk.fd, it->path)) {
        it->is_gone = true;
        journal_news_gone(&it->news);
    }
    if (fstat(it->disk.fd, &st) < 0 || (uint64_t)st.st_size >= it->disk.end)
        return;
    it->disk.end = it->disk.size = st.st_size > JOURNAL_HEAD ? (uint64_t)st.st_size
                                                             : JOURNAL_HEAD;
    it->disk.is_open = false;
    it->is_head_owed = true;
    journal_news_cut(&it->news);
}

/* -- to the disk -- */

static int
write_head(struct journal_iteration *it)
{
    AUTO(buf) head = { 0 };
    int r = journal_head_format(&it->head, JOURNAL_HEAD, &head);
    if (!r)
        r = journal_disk_head(&it->disk, (struct view){ head.p, head.n });
    it->is_head_owed = r < 0;
    return r;
}

static void
put_note(struct journal_iteration *it, struct buf *out)
{
    struct err why = { 0 };
    buf_puts(out, it->line == LINE_ENDED ? "[ahr] " : "\n[ahr] ");
    buf_put_grouped(out, it->missing);
    if (it->missing_code == -ENOSPC || it->missing_code == -EDQUOT) {
        buf_puts(out, " bytes are missing here: the disk was full\n");
    } else {
        err_code(&why, it->missing_code, "the disk failed");
        buf_printf(out, " bytes are missing here: %.100s\n", why.text);
    }
    it->line = LINE_ENDED;
}

static int
write_waiting(struct journal_iteration *it)
{
    size_t done = 0;
    int r = 0;
    if (it->waiting.n)
        r = journal_disk_put(&it->disk, (struct view){ it->waiting.p, it->waiting.n },
                             &done);
    it->waiting.n -= done;
    if (done && it->waiting.n)
        memmove(it->waiting.p, it->waiting.p + done, it->waiting.n);
    if (!it->waiting.n && it->waiting.cap > KEPT_MAX)
        buf_shrink(&it->waiting);
    return r;
}

/* All that waits, and the line about what is missing. */
static int
write_all(struct journal_iteration *it)
{
    int r = it->is_head_owed ? write_head(it) : 0;
    if (!r)
        r = write_waiting(it);
    if (!r && it->missing) {
        put_note(it, &it->waiting);
        it->missing = 0;
        r = write_waiting(it);
    }
    it->due_ns = UINT64_MAX;
    if (r < 0) {
        meet_trouble(it, r);
    } else {
        it->trouble = 0;
        journal_news_over(&it->news);
    }
    return r;
}

/* While there is trouble and much waits, not each append tries. */
static bool
is_time(const struct journal_iteration *it, uint64_t now)
{
    return !it->trouble || it->waiting.n <= EAGER_MAX || now >= it->retry_ns;
}

/* -- taking in -- */

static void
put_stderr(struct journal_iteration *it, struct view content)
{
    while (content.n) {
        const uint8_t *end = memchr(content.p, '\n', content.n);
        size_t n = end ? (size_t)(end - content.p) + 1 : content.n;
        if (it->line != LINE_STDERR)
            buf_puts(&it->waiting, "[stderr] ");
        buf_append(&it->waiting, content.p, n);
        it->line = end ? LINE_ENDED : LINE_STDERR;
        content.p += n;
        content.n -= n;
    }
}

/* Behind what waits: all of it, or it is missing. */
static int
take(struct journal_iteration *it, struct view content, enum line kind)
{
    size_t before = it->waiting.n;
    enum line line = it->line;
    if (line != LINE_ENDED && line != kind) {
        buf_puts(&it->waiting, "\n");
        it->line = LINE_ENDED;
    }
    if (kind == LINE_STDERR) {
        put_stderr(it, content);
    } else {
        buf_append(&it->waiting, content.p, content.n);
        it->line = content.p[content.n - 1] == '\n' ? LINE_ENDED : LINE_OUT;
    }
    if (!it->waiting.failed)
        return 0;
    it->waiting.failed = 0;
    it->waiting.n = before;
    it->line = line;
    if (!it->missing) {
        it->missing_code = it->trouble ? it->trouble : -ENOMEM;
        journal_news_missing(&it->news);
    }
    it->missing += content.n;
    return ERR_LIMIT;
}

/* What is large goes straight to the file, and only what that refuses waits. */
static void
pass_by(struct journal_iteration *it, struct view *content)
{
    size_t done = 0;
    if (it->waiting.n || it->is_head_owed || it->missing || it->line == LINE_STDERR)
        return;
    int r = journal_disk_put(&it->disk, *content, &done);
    if (r < 0)
        meet_trouble(it, r);
    if (done)
        it->line = content->p[done - 1] == '\n' ? LINE_ENDED : LINE_OUT;
    content->p += done;
    content->n -= done;
}

static int
add(struct journal_iteration *it, struct view content, enum line kind)
{
    if (it->is_over)
        return -EINVAL;
    if (!content.n)
        return 0;
    uint64_t now = clock_mono_ns();
    bool is_due = now >= it->due_ns || !it->flush_ns || content.p[content.n - 1] == '\n';
    look_after(it, now);
    if (it->missing && is_time(it, now))
        write_all(it);
    if (it->missing) {
        it->missing += content.n;
        return ERR_LIMIT;
    }
    if (kind == LINE_OUT && content.n >= DIRECT_MIN)
        pass_by(it, &content);
    int r = content.n ? take(it, content, kind) : 0;
    if (r < 0)
        return r;
    if (!is_time(it, now))
        return it->trouble;
    if (is_due)
        return write_all(it);
    if (it->due_ns == UINT64_MAX)
        it->due_ns = now + it->flush_ns;
    return 0;
}

int
journal_iteration_append(struct journal_iteration *it, struct view content)
{
    return add(it, content, LINE_OUT);
}

int
journal_iteration_append_stderr(struct journal_iteration *it, struct view content)
{
    return add(it, content, LINE_STDERR);
}

/* -- by the clock -- */

static bool
has_waiting(const struct journal_iteration *it)
{
    return it->waiting.n || it->missing || it->is_head_owed;
}

int
journal_iteration_flush(struct journal_iteration *it)
{
    if (it->is_over)
        return -EINVAL;
    look_after(it, clock_mono_ns());
    return has_waiting(it) ? write_all(it) : 0;
}

uint64_t
journal_iteration_due_ns(const struct journal_iteration *it)
{
    if (it->is_over || !has_waiting(it))
        return UINT64_MAX;
    return it->trouble ? it->retry_ns : it->due_ns;
}

void
journal_iteration_tick(struct journal_iteration *it, uint64_t mono_ns)
{
    if (mono_ns >= journal_iteration_due_ns(it))
        journal_iteration_flush(it);
}

/* -- the beginning and the end -- */

/* Somebody who puts dead logs in order may have it for a moment. */
static int
make_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(err, "cannot make the log '%s'", path);
    int r = file_lock(fd, false, clock_mono_ns() + LOCK_WAIT_MS * UINT64_C(1000000));
    if (!r && fchmod(fd, 0600) < 0)
        r = -errno;
    if (r < 0) {
        close(fd);
        unlink(path);
        return err_code(err, r, "cannot lock the log '%s'", path);
    }
    return fd;
}

static void
begin_head(struct journal_iteration *it, uint64_t iteration)
{
    AUTO(buf) now = { 0 };
    struct clock clock;
    it->head = (struct journal_head){ .iteration = iteration,
                                      .status = JOURNAL_IN_PROGRESS,
                                      .duration_ms = UINT64_MAX,
                                      .exit_code = INT64_MIN };
    clock_start(&clock);
    journal_time(clock.real_ns, &now);
    snprintf(it->head.timestamp, sizeof(it->head.timestamp), "%s", buf_str(&now));
}

int
journal_iteration_open(struct journal_iteration **ret, const char *path,
                       uint64_t iteration, unsigned flush_ms, struct err *err)
{
    struct journal_iteration *it = calloc(1, sizeof(*it));
    char *copy = strdup(path);
    int fd = it && copy ? make_file(path, err) : err_code(err, -ENOMEM, "'%s'", path);
    if (!it || fd < 0) {
        free(it);
        free(copy);
        return fd;
    }
    it->path = copy;
    it->news.path = copy;
    it->disk = (struct journal_disk){ .fd = fd, .end = JOURNAL_HEAD };
    it->waiting.ceiling = JOURNAL_WAITING_MAX;
    it->flush_ns = flush_ms * UINT64_C(1000000);
    it->due_ns = UINT64_MAX;
    it->look_ns = clock_mono_ns() + LOOK_NS;
    begin_head(it, iteration);
    it->is_head_owed = true;
    write_all(it);
    *ret = it;
    return 0;
}

/* The disk does not take the rest: it is missing, and the log says so. On a full disk the
 * last lines give way to that if they must. */
static void
give_up_rest(struct journal_iteration *it, int code)
{
    uint64_t missing = it->missing + it->waiting.n;
    for (int tries = 0; tries < 2; tries++) {
        buf_clear(&it->waiting);
        it->missing = missing;
        it->missing_code = code;
        it->line = it->disk.is_open ? LINE_OUT : LINE_ENDED;
        if (!write_all(it) || (code != -ENOSPC && code != -EDQUOT))
            break;
        if (!tries)
            missing += journal_disk_make_room(&it->disk, JOURNAL_HEAD);
    }
    it->lost = missing;
    journal_news_lost(&it->news, missing, code);
}

static int
flush_last(struct journal_iteration *it)
{
    int r = journal_iteration_flush(it);
    for (int tries = 1; r < 0 && tries < LAST_TRIES; tries++)
        r = journal_iteration_flush(it);
    return r;
}

static int
write_last_head(struct journal_iteration *it)
{
    int r = write_head(it);
    for (int tries = 1; r < 0 && tries < LAST_TRIES; tries++)
        r = write_head(it);
    return r < 0 || fdatasync(it->disk.fd) == 0 ? r : -errno;
}

static int
finish(struct journal_iteration *it, enum journal_status status)
{
    if (it->is_over)
        return -EINVAL;
    it->look_ns = 0;
    int r = flush_last(it);
    if (r < 0)
        give_up_rest(it, r);
    it->is_over = true;
    it->head.status = status;
    int h = write_last_head(it);
    if (h < 0)
        meet_trouble(it, h);
    return r < 0 ? r : h;
}

int
journal_iteration_complete(struct journal_iteration *it, int exit_code,
                           uint64_t duration_ms)
{
    if (!it->is_over) {
        it->head.exit_code = exit_code;
        it->head.duration_ms = duration_ms;
    }
    return finish(it, JOURNAL_COMPLETED);
}

int
journal_iteration_abort(struct journal_iteration *it, const char *signal)
{
    if (!it->is_over)
        journal_head_reason(&it->head, signal);
    return finish(it, JOURNAL_ABORTED);
}

int
journal_iteration_crash(struct journal_iteration *it, const char *reason)
{
    if (!it->is_over)
        journal_head_reason(&it->head, reason);
    return finish(it, JOURNAL_CRASHED);
}

uint64_t
journal_iteration_missing(const struct journal_iteration *it)
{
    return it->lost;
}

void
journal_iteration_close(struct journal_iteration *it)
{
    if (!it)
        return;
    if (!it->is_over)
        journal_iteration_flush(it);
    else if (it->is_head_owed)
        write_head(it);
    struct stat st; /* one that has not even a head is none */
    if (it->is_head_owed && fstat(it->disk.fd, &st) == 0 && !st.st_size &&
        file_is_at(it->disk.fd, it->path))
        unlink(it->path);
    close(it->disk.fd);
    free(it->path);
    buf_release(&it->waiting);
    free(it);
}
