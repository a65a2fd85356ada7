/* SPDX-License-Identifier: MIT */
#include "cli/again.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/path.h"
#include "cli/recall.h"
#include "cli/session.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "library/recover.h"
#include "library/runs.h"
#include "play/turns.h"
#include "run/run.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/meta.h"
#include "turn/native.h"

static const uint64_t RECOVER_WAITS_NS = UINT64_C(60000000000);

void
cli_again_release(struct cli_again *a)
{
    struct buf *bufs[] = { &a->home,   &a->called,  &a->project, &a->agent_id,
                           &a->words,  &a->context, &a->said,    &a->said_texts,
                           &a->screen, &a->typed };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    library_found_release(&a->found);
    session_told_release(&a->told);
    library_messages_release(&a->messages);
    free(a->command);
    free(a->argv);
}

/* -- whether it may go on -- */

/* The recorder is gone, its command may not be: two would work on the same files. */
static int
check_command(struct cli_again *a, struct err *err)
{
    AUTO(buf) path = { 0 };
    AUTO(journal_told) told = { 0 };
    if (!a->project.n ||
        buf_printf(&path, "%s/metadata.json", buf_str(&a->project)) < 0 ||
        journal_metadata_read(buf_str(&path), &told, NULL) < 0)
        return 0;
    bool is_its = !*a->found.id || (told.id && !strcmp(told.id, a->found.id));
    int pid = is_its && journal_process_is(told.command_pid, told.command_start)
                  ? told.command_pid
                  : 0;
    if (!pid && is_its && told.status && !strcmp(told.status, "active") &&
        journal_process_is(told.pid, told.pid_start))
        pid = told.pid;
    if (!pid)
        return 0;
    return err_set(err, ERR_BUSY,
                   "session %s was cut off, but its command still runs as process %d; it "
                   "is left alone: end it ('kill %d') or wait for it first",
                   buf_str(&a->called), pid, pid);
}

static int
recover(struct cli_again *a, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct tape_repair_report report;
    char id[SESSION_ID_LEN + 1];
    memcpy(id, a->found.id, sizeof(id));
    if (!a->found.is_live)
        return 0;
    int r = library_recover(id, false, NULL, &report, &path, NULL, err);
    /* What looks at the library starts a recover in the background. */
    uint64_t deadline_ns = clock_mono_ns() + RECOVER_WAITS_NS;
    for (unsigned tries = 0; r == ERR_BUSY && clock_back_off(tries, deadline_ns); tries++)
        r = library_recover(id, false, NULL, &report, &path, NULL, err);
    if (r > 0)
        return err_set(
            err, ERR_DAMAGED,
            "nothing of session '%s' can be read; its files are in '%s/damaged'", id,
            buf_str(&a->home));
    if (r < 0 && r != ERR_MISSING)
        return r;
    library_found_release(&a->found);
    a->found = (struct library_found){ 0 };
    return library_find(&a->found, id, err);
}

/* -- which one -- */

/* A run that another tool has left in the project: no session of the library. */
static int
find_foreign(struct cli_again *a, const char *what, struct err *err)
{
    AUTO(buf) id = { 0 };
    struct err ignored;
    if (journal_project_find(".", what, &a->project, &id) <= 0)
        return err->code;
    int r = journal_project_recover(buf_str(&a->project), &ignored);
    if (r == ERR_BUSY) {
        *err = ignored;
        return r;
    }
    a->is_run = true;
    a->told.exit_code = -1;
    return buf_puts(&a->called, what);
}

/* What a link leads to is somebody else's; the library has the conversation, too. */
static void
leave_link(struct cli_again *a)
{
    struct stat st;
    if (!a->project.n || lstat(buf_str(&a->project), &st) < 0 || !S_ISLNK(st.st_mode))
        return;
    AUTO(buf) shown = { 0 };
    cli_path_put(&shown, buf_str(&a->project));
    cli_say(a->self, "%s is a link: it is left alone", buf_str(&shown));
    buf_clear(&a->project);
}

/* An agent goes on with its own. */
static int
refuse_import(const struct cli_again *a, struct err *err)
{
    AUTO(buf) words = { 0 };
    AUTO(buf) line = { 0 };
    const struct session_told *t = &a->told;
    const char *argv[] = { t->agent, NULL };
    if (!t->agent || !t->agent_session_id ||
        turn_native_words(1, argv, t->agent_session_id, NULL, false, &words) < 0 ||
        session_command_line((struct view){ words.p, words.n }, SESSION_COMMAND_MAX,
                             &line) < 0)
        return err_set(err, ERR_USAGE,
                       "session %s was imported; there is no command to go on with",
                       a->found.id);
    return err_set(err, ERR_USAGE,
                   "session %s was imported; its agent goes on with it by '%.300s', in "
                   "'%.500s'",
                   a->found.id, buf_str(&line), t->cwd ? t->cwd : "its folder");
}

static int
read_facts(struct cli_again *a, struct err *err)
{
    AUTO(buf) dir = { 0 };
    const char *meta = buf_str(&a->found.meta_path);
    struct err ignored;
    if (session_meta_tell(meta, &a->told, &ignored) < 0)
        a->told = (struct session_told){ .exit_code = -1 };
    a->is_run = a->told.kind && !strcmp(a->told.kind, "stream");
    if (a->told.kind && !strcmp(a->told.kind, "import"))
        return refuse_import(a, err);
    if (a->told.kind && !strcmp(a->told.kind, "wire"))
        return err_set(
            err, ERR_USAGE,
            "session %s was recorded by 'ahr proxy'; there is no command to go "
            "on with",
            a->found.id);
    buf_printf(&dir, "%s/sessions/%s", buf_str(&a->home), a->found.id);
    buf_puts(&a->called, a->told.name ? a->told.name : a->found.id);
    int r = library_project_of(buf_str(&dir), meta, &a->project);
    if (r < 0)
        return err_code(err, r, "cannot find the project of %s", a->found.id);
    leave_link(a);
    return 0;
}

int
cli_again_find(struct cli_again *a, const char *what, struct err *err)
{
    int r = session_home(&a->home, err);
    if (r < 0)
        return r;
    r = cli_find(a->self, &a->found, what, err);
    if (r == ERR_MISSING)
        r = find_foreign(a, what, err);
    if (r < 0)
        return r;
    if (!a->project.n && !*a->found.id && access(buf_str(&a->found.tape_path), F_OK) < 0)
        return err_set(err, ERR_MISSING, "there is no session '%s', and no such file",
                       what);
    if (!a->project.n && !*a->found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file; only sessions of the library can go on ('ahr "
                       "list' lists them)",
                       what);
    if (*a->found.id) {
        r = cli_check_ended(buf_str(&a->home), &a->found, what, err);
        if (!r)
            r = recover(a, err);
        if (!r)
            r = read_facts(a, err);
    }
    return r < 0 ? r : check_command(a, err);
}

/* -- what is known of it -- */

/* Does the folder say that it is another session's? A name may be used again, and the
 * folder may have been removed between. */
static bool
is_anothers(struct cli_again *a)
{
    AUTO(buf) path = { 0 };
    AUTO(journal_told) told = { 0 };
    return buf_printf(&path, "%s/metadata.json", buf_str(&a->project)) == 0 &&
           journal_metadata_read(buf_str(&path), &told, NULL) == 0 && told.id &&
           strcmp(told.id, a->found.id) != 0;
}

static int
read_talk(struct cli_again *a, struct err *err)
{
    AUTO(buf) turns = { 0 };
    if (*a->found.id &&
        session_sibling_path(buf_str(&a->found.tape_path), SESSION_TURNS, &turns) < 0)
        return err_code(err, -ENOMEM, "cannot read what was said");
    bool has_log = a->project.n &&
                   !(turns.n && play_turns_exist(buf_str(&turns)) && is_anothers(a));
    int r = library_messages_read(&a->messages, has_log ? buf_str(&a->project) : NULL,
                                  turns.n ? buf_str(&turns) : NULL, run_script_counts,
                                  err);
    if (r < 0)
        return r;
    if (a->messages.unread.lines || a->messages.is_cut)
        cli_say(a->self,
                "session %s: some of what was said in it cannot be read; it goes on "
                "without that",
                buf_str(&a->called));
    return 0;
}

int
cli_again_read(struct cli_again *a, size_t count, char **words, struct err *err)
{
    int r = a->is_run ? read_talk(a, err) : 0;
    if (r < 0)
        return r;
    if (!a->is_run && (a->args->is_verified || a->args->from > 1))
        return err_set(
            err, ERR_USAGE,
            "session %s is a terminal's: --verify and --from are for runs, whose "
            "messages are known",
            buf_str(&a->called));
    if (a->args->from > 1 && a->args->from > a->messages.sent)
        return err_set(err, ERR_USAGE,
                       "--from %" PRIu64 ": session %s was sent %" PRIu64 " message%s",
                       a->args->from, buf_str(&a->called), a->messages.sent,
                       a->messages.sent == 1 ? "" : "s");
    return count ? cli_recall_given(count, words, a->self->name, &a->command, err)
                 : cli_recall(&a->told, buf_str(&a->called), a->self->name, &a->command,
                              err);
}
