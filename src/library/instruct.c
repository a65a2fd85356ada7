/* SPDX-License-Identifier: MIT */
#include "library/instruct.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "library/change_priv.h"
#include "library/find.h"
#include "library/index.h"
#include "redact/own.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/home.h"

#define DAY_US UINT64_C(86400000000)

/* -- its number -- */

/* Never one twice; those of other writers that are far ahead are left alone. */
static int
pass_by(void *ctx, const struct session_moment *m)
{
    uint64_t *id = ctx;
    if (m->id >= *id && m->id - *id < DAY_US)
        *id = m->id + 1;
    return 0;
}

static int
number(const char *path, struct session_instruction *i)
{
    struct session_unread unread;
    struct clock now;
    clock_start(&now);
    i->ts_ns = now.real_ns;
    i->id = clock_id();
    return session_moments_read(path, SESSION_INSTRUCTION, pass_by, &i->id, &unread);
}

/* -- its line -- */

static int
add_line(const char *path, struct view line)
{
    struct session_lines lines;
    int r = session_lines_init(&lines, path);
    if (!r)
        r = session_lines_add(&lines, line);
    if (!r && fdatasync(session_lines_fd(&lines)) < 0 && errno != EINVAL)
        r = -errno;
    if (!r)
        r = file_sync_dir(path);
    session_lines_release(&lines);
    return r;
}

/* Whoever calls this is the only one who adds to the file. */
static int
add(const char *path, struct session_instruction *i, struct redact *redact,
    struct err *err)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) line = { 0 };
    int r = redact_text(redact, i->text.p, i->text.n, &text);
    if (!r)
        r = number(path, i);
    if (r < 0)
        return err_code(err, r, "cannot note it in '%s'", path);
    struct session_instruction masked = *i;
    masked.text = (struct view){ text.p, text.n };
    session_instruction_line(&line, &masked);
    r = line.failed;
    if (!r)
        r = add_line(path, (struct view){ line.p, line.n });
    return r < 0 ? err_code(err, r, "cannot write '%s'", path) : 0;
}

/* -- of a session, of a file -- */

/* An index that nobody can use is not in the way of what a person has written. */
static int
forget(const char *home, const char *id, struct err *err)
{
    int r = library_forget(home, id, err);
    return r == ERR_DAMAGED || r == ERR_NEWER ? 0 : r;
}

static int
add_to_session(const char *home, const char *id, struct session_instruction *i,
               struct redact *redact, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = library_settle(home, id, err);
    if (r > 0)
        return err_set(err, ERR_MISSING, "there is nothing left of session '%s'", id);
    if (r < 0)
        return r;
    if (buf_printf(&path, "%s/sessions/%s/session." SESSION_INSTRUCTIONS, home, id) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot note it in session '%s'", id);
    int hold = session_hold(home, id, LIBRARY_WAIT_MS, err);
    if (hold < 0)
        return hold;
    if (session_folder_is_encrypted(home, id))
        r = library_refuse_encrypted(id, err);
    else
        r = forget(home, id, err);
    if (!r)
        r = add(buf_str(&path), i, redact, err);
    close(hold);
    library_index_again(home, id, redact);
    return r;
}

/* The recording itself is what those who add to its lines hold. */
static int
hold_file(const char *tape_path, struct err *err)
{
    uint64_t deadline_ns = clock_mono_ns() + LIBRARY_WAIT_MS * UINT64_C(1000000);
    int fd = open(tape_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", tape_path);
    int r = file_lock(fd, false, deadline_ns);
    if (!r)
        return fd;
    close(fd);
    return r == ERR_BUSY ? err_set(err, r, "another ahr is at '%s'; try again", tape_path)
                         : err_code(err, r, "cannot lock '%s'", tape_path);
}

static int
add_to_file(const char *tape_path, struct session_instruction *i, struct redact *redact,
            struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = session_sibling_path(tape_path, SESSION_INSTRUCTIONS, &path);
    if (r < 0)
        return err_code(err, r, "cannot note it beside '%s'", tape_path);
    int hold = hold_file(tape_path, err);
    if (hold < 0)
        return hold;
    r = add(buf_str(&path), i, redact, err);
    close(hold);
    return r;
}

int
library_instruct(const struct library_found *found, struct session_instruction *i,
                 struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) tape = { 0 };
    struct redact *redact = NULL;
    int r = redact_own_open(&redact, NULL, err);
    if (r < 0)
        return r;
    r = buf_append(&tape, found->tape_path.p, found->tape_path.n);
    if (r < 0)
        err_code(err, r, "cannot note it");
    else if (!*found->id)
        r = add_to_file(buf_str(&tape), i, redact, err);
    else if ((r = session_home(&home, err)) >= 0)
        r = add_to_session(buf_str(&home), found->id, i, redact, err);
    redact_close(redact);
    return r;
}
