/* SPDX-License-Identifier: MIT */
#include "cli/session.h"

#include <limits.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "library/reach.h"
#include "session/folder.h"
#include "session/meta.h"

static int
follow(struct buf *path)
{
    char real[PATH_MAX];
    struct stat st;
    bool is_link = lstat(buf_str(path), &st) == 0 && S_ISLNK(st.st_mode);
    if (!is_link || !realpath(buf_str(path), real))
        return 0; /* whoever opens it tells what is wrong */
    buf_clear(path);
    return buf_puts(path, real);
}

int
cli_find_any(const struct cli_command *self, struct library_found *ret, const char *what,
             struct err *err)
{
    struct library_found f;
    int r = library_find(&f, what, err);
    if (r < 0)
        return r;
    if (self)
        cli_say_index(self, &f.why);
    r = follow(&f.tape_path);
    if (r < 0) {
        library_found_release(&f);
        return err_code(err, r, "cannot open '%s'", what);
    }
    *ret = f;
    return 0;
}

int
cli_find(const struct cli_command *self, struct library_found *ret, const char *what,
         struct err *err)
{
    struct library_found f = { 0 };
    int r = cli_find_any(self, &f, what, err);
    if (r < 0)
        return r;
    if (f.is_encrypted) {
        r = library_refuse_encrypted(cli_called(what, f.id), err);
        library_found_release(&f);
        return r;
    }
    *ret = f;
    return 0;
}

int
cli_session_choice(const struct cli_command *c, const char *option, int count,
                   char **operands, const char **ret, struct err *err)
{
    bool is_asked = option && option != getenv("AHR_SESSION");
    if (count + is_asked > 1)
        return err_set(err, ERR_USAGE, "give one session at most; see 'ahr %s -h'",
                       c->name);
    *ret = count ? operands[0] : is_asked ? option : NULL;
    return 0;
}

const char *
cli_called(const char *what, const char *id)
{
    return what && strcmp(what, "last") != 0 ? what : id;
}

bool
cli_is_run(const struct library_found *f)
{
    AUTO(session_told) told = { 0 };
    struct err ignored;
    struct buf meta_path = f->meta_path;
    return meta_path.n && !session_meta_tell(buf_str(&meta_path), &told, &ignored) &&
           told.kind && !strcmp(told.kind, "stream");
}

bool
cli_say_history(const struct cli_command *c, const struct library_found *f)
{
    AUTO(session_told) told = { 0 };
    struct err ignored;
    struct buf meta_path = f->meta_path;
    bool is_told = meta_path.n &&
                   !session_meta_tell(buf_str(&meta_path), &told, &ignored) && told.kind;
    bool is_history = is_told && told.agent && !strcmp(told.kind, "import");
    bool is_wire = is_told && !strcmp(told.kind, "wire");
    if (is_history)
        cli_say(c,
                "session %s was imported from what %s keeps, and has no terminal: 'ahr "
                "export %s' has its conversation",
                f->id, told.agent, f->id);
    if (is_wire)
        cli_say(c,
                "session %s was recorded by 'ahr proxy', and has no terminal: 'ahr wire "
                "%s' has its calls, 'ahr export %s' its conversation",
                f->id, f->id, f->id);
    return is_history || is_wire;
}

int
cli_check_ended(const char *home, const struct library_found *f, const char *what,
                struct err *err)
{
    const char *called = cli_called(what, f->id);
    AUTO(library_session) s = { 0 };
    struct err ignored;
    if (!f->is_live || !session_folder_is_held(home, f->id))
        return 0;
    bool is_read = library_session_read(&s, home, f->id, &ignored) == 0;
    if (is_read && !s.is_held && !s.lost_pid)
        return 0; /* somebody recovers it */
    if (is_read && s.lost_pid)
        return err_set(err, ERR_BUSY,
                       "the recorder of session '%s' lives (process %d), but cannot be "
                       "reached; it is left alone: end it ('kill %d') first",
                       called, s.lost_pid, s.lost_pid);
    return err_set(err, ERR_BUSY, "session '%s' is being recorded; 'ahr stop %s' ends it",
                   called, called);
}

bool
cli_is_live(const char *id)
{
    struct library_live live;
    struct err ignored;
    if (library_reach(&live, id, &ignored) < 0)
        return false;
    library_live_release(&live);
    return true;
}

void
cli_say_index(const struct cli_command *self, const struct err *why)
{
    if (why->code && why->code != ERR_MISSING)
        cli_say(self, "%s", why->text);
}

int
cli_check_name(const char *name, struct err *err)
{
    if (!name || session_name_is(name))
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%s' is no name for a session: at most 64 letters, digits, '.', '_' "
                   "and '-', not beginning with '.' or '-'; not 'last', and nothing like "
                   "an id or a file.ahr",
                   name);
}

int
cli_check_story(const char *name, const char *role, const char *task, struct err *err)
{
    enum { ROLE_MAX = 64, TASK_MAX = 4096 };
    if (role && (!*role || strlen(role) > ROLE_MAX || !utf8_is_line(role, strlen(role))))
        return err_set(err, ERR_USAGE,
                       "--role is a word of at most %d bytes, as DEVELOPER", ROLE_MAX);
    if (task && strlen(task) > TASK_MAX)
        return err_set(err, ERR_USAGE, "--task is longer than %d bytes", TASK_MAX);
    return cli_check_name(name, err);
}

void
cli_say_lost(const struct cli_command *self, const struct library_session *s)
{
    cli_say(self,
            "session %s: its recorder lives (process %d), but its socket is gone: it "
            "cannot be reached, and is left alone",
            s->facts.id, s->lost_pid);
}
