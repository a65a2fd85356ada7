/* SPDX-License-Identifier: MIT */
/* ahr rename: gives a session another name, or none. */
#include "library/change.h"

#include <limits.h>

#include "cli/option.h"
#include "cli/session.h"
#include "library/runs.h"
#include "redact/own.h"
#include "session/home.h"

struct args {
    bool is_none;
};

/* Of several with one name another may be meant by it. */
static void
tell_other(const struct cli_command *self, const char *name, const char *id)
{
    AUTO(library_found) found = { 0 };
    struct err ignored;
    if (library_find(&found, name, &ignored) < 0 || !strcmp(found.id, id))
        return;
    if (*found.id)
        cli_say(self, "'%s' still means session %s, which is newer", name, found.id);
    else
        cli_say(self, "in this folder '%s' means the file that is called so", name);
}

/* Its folder there is named by others, too: by logs, and by runs that go on in it. */
static void
tell_project(const struct cli_command *self, const char *home, const char *id)
{
    AUTO(buf) project = { 0 };
    if (library_project_find(home, id, &project))
        cli_say(self, "its folder in its project keeps its name: '%s'",
                cli_clean((char *)project.p));
}

static int
rename_session(const struct cli_command *self, const char *what, const char *name,
               struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(library_found) found = { 0 };
    struct redact *redact = NULL;
    int r = cli_find(NULL, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING, "'%s' is a file, not a session of the library",
                       what);
    r = session_home(&home, err);
    if (r >= 0)
        r = cli_check_ended(buf_str(&home), &found, what, err);
    if (r >= 0)
        r = redact_own_open(&redact, NULL, err);
    if (r < 0)
        return r;
    r = library_rename(buf_str(&home), found.id, name, redact, err);
    redact_close(redact);
    if (!r && name) {
        cli_say(self, "session %s is called '%s' now", found.id, name);
        tell_project(self, buf_str(&home), found.id);
        tell_other(self, name, found.id);
    } else if (!r)
        cli_say(self, "session %s has no name any more", found.id);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count + a.is_none != 2 || !count)
        return err_set(err, ERR_USAGE,
                       "give a session, and its new name or --none; see 'ahr rename -h'");
    const char *name = a.is_none ? NULL : argv[1];
    r = cli_check_name(name, err);
    return r < 0 ? r : rename_session(self, argv[0], name, err);
}

static const struct cli_option options[] = {
    { "none", 0, CLI_FLAG, offsetof(struct args, is_none), NULL, "take its name away", 0,
      0 },
    { 0 },
};

const struct cli_command cli_rename = {
    "rename", "SESSION [NAME] [--none]", "give a session another name", options, run,
    false,
};
