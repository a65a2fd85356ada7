/* SPDX-License-Identifier: MIT */
/*
 * sealer_look.c -- the writer's thread looks after the recording's name.
 *
 * Now and then it looks whether the recording is still called as it was. If not, it makes
 * it again from the open descriptor (rescue_priv.h), between its other work. All here is
 * called and returns with the lock held, and lets go of it for calls to the disk, unless
 * it says otherwise.
 */
#include "tape/sealer_state_priv.h"

#include <errno.h>
#include <stdarg.h>

#include "base/clock.h"
#include "tape/names.h"

/* reason may be 0. */
__attribute__((format(printf, 3, 4))) static void
tell_stale(struct sealer *s, int reason, const char *fmt, ...)
{
    char text[sizeof(s->stale.text)];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (reason)
        err_code(&s->stale, reason, "%s", text);
    else
        err_set(&s->stale, 0, "%s", text);
    s->stale.code = -ESTALE;
    s->is_stale_new = s->has_news = true;
}

static const char *
what_happened(const struct sealer *s)
{
    return s->astray == -EEXIST ? "was replaced by another file"
                                : "was removed or moved away";
}

static void
fail_rescue(struct sealer *s, int code)
{
    if (s->rescue.fd >= 0) {
        pthread_mutex_unlock(&s->lock);
        rescue_abandon(&s->rescue, s->io, s->is_last_look);
        pthread_mutex_lock(&s->lock);
    }
    uint64_t longest_ns = s->opt.sync_ns * 64;
    s->rescue_error = code;
    s->rescue_at_ns = clock_mono_ns() + s->rescue_wait_ns;
    s->rescue_wait_ns = s->rescue_wait_ns < longest_ns ? s->rescue_wait_ns * 2
                                                       : longest_ns;
    if (!s->is_astray_told)
        tell_stale(s, code,
                   "'%s' %s; make room, or its folder again, and it is made anew from "
                   "what is still open",
                   sealer_name(s), what_happened(s));
    s->is_astray_told = true;
}

static void
begin_rescue(struct sealer *s, int why)
{
    s->astray = why;
    s->was_astray = true;
    if (s->rescue.fd >= 0 || (!s->is_last_look && clock_mono_ns() < s->rescue_at_ns))
        return;
    pthread_mutex_unlock(&s->lock);
    int r = rescue_begin(&s->rescue, s->io, sealer_name(s), s->names[0], why == -EEXIST);
    pthread_mutex_lock(&s->lock);
    if (r < 0)
        fail_rescue(s, r);
}

/* 0, also when it is the name that it had; else it has had too many. */
static int
add_name(struct sealer *s, const char *path)
{
    if (!strcmp(path, sealer_name(s)))
        return 0;
    char *copy = s->name_count < SEALER_NAMES_MAX ? strdup(path) : NULL;
    if (!copy)
        return -ENOMEM;
    s->names[s->name_count++] = copy;
    s->is_tail_lost = s->open_tail_fd >= 0; /* it stands beside the other file */
    return 0;
}

static void
take_over(struct sealer *s)
{
    const char *was = sealer_name(s);
    int old = s->lock_fd, r = add_name(s, s->rescue.path);
    if (r < 0) {
        fail_rescue(s, r);
        return;
    }
    if (was == sealer_name(s))
        tell_stale(s, 0, "'%s' %s; made again from what is still open", was,
                   what_happened(s));
    else
        tell_stale(s, 0, "'%s' %s; the recording goes on as '%s'", was, what_happened(s),
                   sealer_name(s));
    s->lock_fd = s->rescue.fd;
    s->rescue.fd = -1;
    bool is_current = s->fd == old;
    if (is_current)
        s->fd = s->lock_fd;
    s->astray = s->rescue_error = 0;
    s->rescue_at_ns = 0;
    s->rescue_wait_ns = s->opt.sync_ns;
    s->is_astray_told = false;
    s->is_segment_new = true;
    s->is_copy_new = sealer_syncs(s);
    pthread_mutex_unlock(&s->lock);
    if (!is_current) /* the segments that follow are what can be relied on */
        tape_io_sync(s->io, s->lock_fd);
    s->io->ops->close(s->io, old);
    pthread_mutex_lock(&s->lock);
}

void
sealer_step_rescue(struct sealer *s)
{
    pthread_mutex_unlock(&s->lock);
    int r = rescue_step(&s->rescue, s->io, s->lock_fd,
                        s->fd == s->lock_fd ? s->end_off : s->lock_end_off);
    pthread_mutex_lock(&s->lock);
    if (r < 0)
        fail_rescue(s, r);
    else if (r)
        take_over(s);
    sealer_made_progress(
        s); /* nobody who waits for room should lose patience meanwhile */
}

void
sealer_notice_cut(struct sealer *s)
{
    uint64_t size;
    s->was_cut |= s->fd == s->lock_fd && !s->io->ops->size(s->io, s->fd, &size) &&
                  size < s->end_off;
}

static bool
is_astray(int named)
{
    return named == -ENOENT || named == -EEXIST;
}

/* 0, or what has become of the recording's name; without the lock. That the disk failed
 * is no answer: it is asked again. */
static int
find_itself(struct sealer *s)
{
    if (s->rescue.fd >= 0) /* the new file stands there already */
        return s->astray;
    int r = s->io->ops->named(s->io, s->lock_fd, sealer_name(s));
    return !r || is_astray(r) ? r : s->io->ops->named(s->io, s->lock_fd, sealer_name(s));
}

/* The open tail is not closed meanwhile: only this thread's work leads there. */
void
sealer_look(struct sealer *s)
{
    int tail_fd = s->open_tail_fd, tail = 0;
    char path[TAPE_PATH_MAX];
    if (tail_fd >= 0)
        tape_tail_path(path, s->open_tail_path, s->open_tail_ordinal);
    s->is_touched = false;
    pthread_mutex_unlock(&s->lock);
    int itself = find_itself(s);
    sealer_notice_cut(s);
    if (tail_fd >= 0)
        tail = s->io->ops->named(s->io, tail_fd, path);
    pthread_mutex_lock(&s->lock);
    if (is_astray(tail) && s->open_tail_fd == tail_fd)
        s->is_tail_lost = s->was_astray = true;
    if (s->was_cut && !s->is_cut_told) {
        tell_stale(s, 0, "'%s' was cut while it was being made: a part of it is lost",
                   sealer_name(s));
        s->is_cut_told = true;
    }
    if (is_astray(itself))
        begin_rescue(s, itself);
    else if (!itself)
        s->astray = 0;
}

bool
sealer_is_look_due(const struct sealer *s, uint64_t now_ns)
{
    return s->is_touched && now_ns - s->touched_at_ns >= s->opt.sync_ns;
}

int
sealer_check_file(struct sealer *s, struct err *err)
{
    int now = find_itself(s);
    if (!s->astray && is_astray(now)) { /* after the last look */
        s->astray = now;
        s->rescue_error = -ESTALE;
    }
    if (s->astray) {
        err_code(err, s->rescue_error, "'%s' %s, and could not be made again as a whole",
                 sealer_name(s), what_happened(s));
        err->code = -ESTALE;
        return err->code;
    }
    if (s->name_count > 1)
        return err_set(err, -ESTALE,
                       "'%s' was replaced by another file; the recording is '%s'",
                       s->names[0], sealer_name(s));
    if (s->was_cut)
        return err_set(err, -ESTALE, "'%s' was cut while it was being made",
                       sealer_name(s));
    return 0;
}
