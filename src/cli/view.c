/* SPDX-License-Identifier: MIT */
/* ahr view: looks back at a session on this terminal, with the keys of a pager. */
#include <unistd.h>

#include "cli/events.h"
#include "cli/join.h"
#include "cli/losses.h"
#include "cli/output.h"
#include "cli/pace.h"
#include "cli/session.h"
#include "library/keyframes.h"
#include "play/moment.h"
#include "session/folder.h"
#include "session/meta.h"
#include "tui/view.h"

struct args {
    struct cli_viewing viewing;
    const char *session, *at;
    bool has_no_colours;
};

struct view_of {
    const struct cli_command *self;
    const char *what; /* the session, as the user gave it */
    const struct args *args;
    struct play_moment at; /* with args->at */
    struct library_found found;
};

/* -- one that has ended -- */

/* Its name and, where the recording does not say it, its size. */
static void
read_facts(struct view_of *v, struct session_facts *ret)
{
    AUTO(buf) path = { 0 };
    if (session_sibling_path(buf_str(&v->found.tape_path), SESSION_META, &path) < 0 ||
        session_meta_read(buf_str(&path), ret, NULL) < 0)
        *ret = (struct session_facts){ 0 };
}

static int
instruct(void *ctx, const struct tui_wish *wish, struct play_event *ret, struct err *err)
{
    struct view_of *v = ctx;
    const char *what = *v->found.id ? v->found.id : buf_str(&v->found.tape_path);
    return cli_viewing_instruct(what, wish, ret, err);
}

static bool
is_empty(const char *path)
{
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *tape;
    struct tape_record rec;
    struct err ignored;
    if (tape_reader_open(&tape, tape_io_files(), path, &quiet, &ignored) < 0)
        return false; /* whoever opens it next says why */
    bool is_one = tape_reader_next(tape, &rec);
    tape_reader_close(tape);
    return !is_one;
}

static int
show(struct view_of *v, struct play_events *events, struct tape_notes *notes,
     struct err *err)
{
    AUTO(buf) keyframes = { 0 };
    struct session_facts facts;
    char name[CLI_VIEWING_NAME];
    bool has_place = library_keyframes_path(&v->found, &keyframes) >= 0;
    read_facts(v, &facts);
    const struct tui_view opt = {
        .io = tape_io_files(),
        .path = buf_str(&v->found.tape_path),
        .play = { .cols = facts.cols,
                  .rows = facts.rows,
                  .keyframes_path = has_place ? buf_str(&keyframes) : NULL,
                  .notice = tape_notes_add,
                  .ctx = notes },
        .events = events,
        .name = *v->found.id ? cli_viewing_name(facts.name, v->found.id, name) : v->what,
        .from_ns = v->args->at && !v->at.is_byte ? v->at.value + !v->at.value : 0,
        .from_byte = v->args->at && v->at.is_byte ? v->at.value + !v->at.value : 0,
        .has_colours = !v->args->has_no_colours && cli_output_has_colours(),
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
        .instruct = instruct,
        .ctx = v,
    };
    return tui_view(&opt, err);
}

static int
view_ended(struct view_of *v, struct err *err)
{
    AUTO(play_events) events = { 0 };
    struct cli_losses losses = { .command = v->self, .path = v->what };
    struct tape_notes notes = { 0 };
    if (is_empty(buf_str(&v->found.tape_path))) {
        cli_say(v->self, "'%s' holds no record: is it an .ahr recording?", v->what);
        return CLI_DAMAGED;
    }
    int lost = cli_events(v->self, &v->found, &events, err);
    if (lost < 0)
        return lost;
    int e = show(v, &events, &notes, err);
    cli_losses_notes(&losses, &notes);
    tape_notes_release(&notes);
    if (e)
        return e < 0 ? e : cli_die_of(e);
    return losses.is_damaged || lost ? CLI_DAMAGED : CLI_DONE;
}

/* -- any -- */

static int
view(struct view_of *v, struct err *err)
{
    int r = cli_find(v->self, &v->found, v->what, err);
    if (r < 0)
        return r;
    if (cli_say_history(v->self, &v->found))
        return CLI_FAILED;
    if (!*v->found.id || !v->found.is_live || !cli_is_live(v->found.id))
        return view_ended(v, err);
    if (v->args->at)
        return err_set(err, ERR_USAGE,
                       "--at is for sessions that have ended; in this one the key @ goes "
                       "there");
    char *id = v->found.id;
    return cli_join(v->self, CLIENT_WATCH, &v->args->viewing, 1, &id, err);
}

static int
check_terminal(struct err *err)
{
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "this needs a terminal; 'ahr render' prints a session's last screen "
        "or all of its lines, 'ahr cat' its bytes, 'ahr log' what a run has said");
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .viewing = { .deliver = TUI_DELIVER_NO, .begins_back = true } };
    struct view_of v = { .self = self, .args = &args };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = cli_session_choice(self, args.session, count, argv, &v.what, err);
    if (!r && args.at)
        r = play_moment_parse(args.at, &v.at, err);
    if (!r)
        r = check_terminal(err);
    if (r)
        return r;
    v.what = v.what ? v.what : "last";
    r = view(&v, err);
    if (r == ERR_MISSING && v.found.is_live) {
        /* It has ended, and moved, since it was found. */
        library_found_release(&v.found);
        v.found = (struct library_found){ 0 };
        r = view(&v, err);
    }
    library_found_release(&v.found);
    return r;
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the session, as the operand is (last)", 0, 0 },
    { "at", 0, CLI_TEXT, offsetof(struct args, at), "T",
      "begin there: seconds, m:ss, h:mm:ss or @BYTE (at the end)", 0, 0 },
    { "no-colors", 0, CLI_FLAG, offsetof(struct args, has_no_colours), NULL,
      "without colours", 0, 0 },
    CLI_PREFIX_OPTION(struct args),
    { 0 },
};

const struct cli_command cli_view = {
    "view",
    "[--session SESSION] [SESSION] [--at T] [--no-colors] [--prefix KEY]",
    "look back at a session, and note instructions in it",
    options,
    run,
    false,
};
