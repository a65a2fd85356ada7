/* SPDX-License-Identifier: MIT */
#include "cli/entire.h"

#include <errno.h>

#include "cli/branch_git.h"
#include "journal/entire.h"

/* No monitor of the repository's own is started for it. */
#define QUIETLY "-c", "core.fsmonitor=false"

/* In a git work tree, and not ignored? Where there is no git nobody takes it. */
static bool
would_be_taken(const char *root)
{
    static const char *const inside[] = { QUIETLY, "rev-parse", "--is-inside-work-tree",
                                          NULL };
    /* A rule for folders alone also holds where there is none yet. */
    static const char *const ignored[] = { QUIETLY, "check-ignore", "-q",
                                           ".entire/metadata/full.jsonl", NULL };
    AUTO(buf) answer = { 0 };
    struct err err;
    if (cli_branch_git(root, inside, &answer, &err) < 0 ||
        strcmp(buf_str(&answer), "true") != 0)
        return false;
    return cli_branch_git(root, ignored, NULL, &err) == -EIO;
}

bool
cli_entire(const struct cli_command *self, uint64_t wanted, const char *root)
{
    bool is_on = wanted == CLI_ENTIRE_ON ||
                 (wanted == CLI_ENTIRE_AUTO && journal_entire_is_wanted(root));
    if (is_on && would_be_taken(root))
        cli_say(self, "git does not ignore '.entire/metadata/', which will hold all that "
                      "the agent says, and that may be secrets in spite of masks; a line "
                      "in .gitignore keeps it out");
    return is_on;
}
