/* SPDX-License-Identifier: MIT */
/* ahr delete: removes sessions, their files and all that the index has of them. */
#include "library/change.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"
#include "library/list.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/home.h"

struct args {
    bool is_sure;
};

/* -- which -- */

static bool
is_among(const struct buf *ids, const char *id)
{
    for (size_t at = 0; at < ids->n; at += SESSION_ID_LEN + 1)
        if (!strcmp((const char *)ids->p + at, id))
            return true;
    return false;
}

/* Appends its id; one that is named twice is deleted once. */
static int
resolve(const char *home, const char *what, struct buf *ids, struct err *err)
{
    AUTO(library_found) found = { 0 };
    int r = cli_find(&found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file, not a session of the library: remove it as any "
                       "other",
                       what);
    if (found.is_live && session_folder_is_held(home, found.id))
        return err_set(err, ERR_BUSY,
                       "session '%s' is being recorded; 'ahr stop %s' ends it", found.id,
                       found.id);
    if (is_among(ids, found.id))
        return 0;
    r = buf_append(ids, found.id, sizeof(found.id));
    return r < 0 ? err_code(err, r, "cannot delete '%s'", what) : 0;
}

/* -- asking -- */

static void
put_session(struct buf *out, const char *home, const char *id)
{
    AUTO(library_session) s = { 0 };
    char when[CLI_WHEN_LOCAL_SIZE];
    struct err why, ignored;
    buf_printf(out, "%s", id);
    if (library_look(&s, home, id, &why, &ignored) == 0) {
        buf_printf(out, "  %s  ", cli_when_local(s.facts.started_at_ns, when));
        cli_size(out, s.facts.size_bytes);
        if (s.facts.name)
            buf_puts(out, "  "), play_title(NULL, s.facts.name, out);
        if (s.facts.command)
            buf_puts(out, "  "), play_title(NULL, s.facts.command, out);
    }
    buf_puts(out, "\n");
}

/* On the terminal, whatever stdout is. */
static bool
is_agreed(const char *home, const struct buf *ids)
{
    AUTO(buf) text = { 0 };
    char answer[16] = "";
    size_t count = ids->n / (SESSION_ID_LEN + 1);
    for (size_t i = 0; i < count; i++)
        put_session(&text, home, (const char *)ids->p + i * (SESSION_ID_LEN + 1));
    buf_puts(&text, "Delete ");
    cli_count(&text, count, "session");
    buf_puts(&text, " for good? [y/N] ");
    fputs(buf_str(&text), stderr);
    if (!fgets(answer, sizeof(answer), stdin))
        fputs("\n", stderr);
    return !strcmp(answer, "y\n") || !strcmp(answer, "Y\n") || !strcmp(answer, "yes\n");
}

/* -- all -- */

/* One that fails does not stop the others. */
static int
delete_all(const struct cli_command *self, const char *home, const struct buf *ids)
{
    int worst = CLI_DONE;
    for (size_t at = 0; at < ids->n; at += SESSION_ID_LEN + 1) {
        const char *id = (const char *)ids->p + at;
        struct err err = { 0 };
        int r = library_delete(home, id, &err);
        if (r >= 0)
            cli_say(self, "session %s is deleted", id);
        if (r)
            cli_say(self, "%s", err.text);
        if (r > 0)
            cli_say(self, "the index may still hold text of it until it is made anew");
        if (r < 0 && !worst)
            worst = (int)cli_exit_status(r);
    }
    library_sweep(home);
    return worst;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) ids = { 0 };
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? see 'ahr delete -h'");
    if (!a.is_sure && !(isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return err_set(err, ERR_USAGE,
                       "there is no terminal to ask on: give --yes to delete for good");
    r = session_home(&home, err);
    for (int i = 0; !r && i < count; i++)
        r = resolve(buf_str(&home), argv[i], &ids, err);
    if (r < 0)
        return r;
    if (!a.is_sure && !is_agreed(buf_str(&home), &ids)) {
        cli_say(self, "nothing is deleted");
        return CLI_FAILED;
    }
    return delete_all(self, buf_str(&home), &ids);
}

static const struct cli_option options[] = {
    { "yes", 'y', CLI_FLAG, offsetof(struct args, is_sure), NULL, "do not ask", 0, 0 },
    { 0 },
};

const struct cli_command cli_delete = {
    "delete", "SESSION… [--yes]", "delete sessions for good", options, run, false,
};
