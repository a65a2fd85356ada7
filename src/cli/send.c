/* SPDX-License-Identifier: MIT */
/* ahr send: types a text and keys into a live session. */
#include "cli/keys.h"
#include "cli/live.h"
#include "cli/option.h"
#include "cli/session.h"
#include "term/term.h"

struct args {
    struct cli_list keys;
    bool has_no_enter;
};

struct sender {
    const struct cli_command *self;
    struct cli_live live;
    struct client_typing typing;
    bool knows_mode, is_app_cursor; /* how the program wants its cursor keys */
};

/* -- keys -- */

static int
check_keys(const struct cli_list *keys, struct err *err)
{
    AUTO(buf) ignored = { 0 };
    int r = 0;
    for (size_t i = 0; !r && i < keys->n; i++)
        r = cli_keys_find(keys->item[i], false, &ignored, err);
    return r;
}

static int
look_at_screen(struct sender *s, struct err *err)
{
    struct client_ask ask;
    struct term *t;
    int r = client_ask_open(&ask, buf_str(&s->live.at.ctl_path), NULL, err);
    if (r < 0)
        return r;
    r = client_ask_screen(&ask, &t, err);
    if (!r) {
        s->is_app_cursor = term_modes(t).app_cursor_keys;
        term_free(t);
    }
    client_ask_close(&ask);
    return r;
}

static void
learn_mode(struct sender *s)
{
    struct err why;
    if (!s->knows_mode && look_at_screen(s, &why) < 0)
        cli_say(s->self,
                "cannot tell in which mode the program has its cursor keys, and takes "
                "the usual one: %s",
                why.text);
    s->knows_mode = true;
}

static int
press(struct sender *s, const char *name, struct err *err)
{
    AUTO(buf) bytes = { 0 };
    bool has_modes = cli_keys_has_modes(name);
    if (has_modes)
        learn_mode(s);
    int r = cli_keys_find(name, s->is_app_cursor, &bytes, err);
    if (r < 0)
        return r;
    /* Other keys may start or end a program, and cursor keys hardly do. */
    s->knows_mode = has_modes;
    return client_type(&s->typing, (struct view){ bytes.p, bytes.n }, err);
}

/* -- all of it -- */

/* An answer to something else shows that the recorder has all that was typed before. */
static int
leave_waiting(struct sender *s, struct err *err)
{
    struct ipc_message ignored, m = { .selector = IPC_ANCHOR };
    int r = cli_ask_done(&s->live.ask, &m, &ignored, err);
    if (!r)
        cli_say(s->self,
                "the program has not read it yet: it waits in the recorder of session %s",
                s->live.called);
    return r;
}

static int
type_all(struct sender *s, const char *text, const struct args *args, struct err *err)
{
    int r = text ? cli_type_text(&s->typing, text, !args->has_no_enter, err) : 0;
    for (size_t i = 0; !r && i < args->keys.n; i++)
        r = press(s, args->keys.item[i], err);
    if (!r && s->typing.is_stuck)
        r = leave_waiting(s, err);
    return r < 0 ? cli_live_error(&s->live, r, err) : CLI_DONE;
}

/* -- a run, which has no terminal and takes lines -- */

static int
refuse_keys(const struct sender *s, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "%s is a run, which has no terminal and takes no keys: 'ahr send %s "
                   "TEXT' gives it a line, 'ahr stop %s' ends it",
                   s->live.called, s->live.called, s->live.called);
}

static int
send_line(struct sender *s, const char *text, const struct args *args, struct err *err)
{
    size_t n = strlen(text);
    bool is_open = args->has_no_enter && n && text[n - 1] != '\n' && text[n - 1] != '\r';
    int r = type_all(s, text, args, err);
    if (r == CLI_DONE && is_open)
        cli_say(s->self,
                "a run takes whole lines: this waits there for the rest of its line; "
                "'ahr send %s REST' ends it",
                s->live.called);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? see 'ahr send -h'");
    if (count == 1 && !args.keys.n)
        return err_set(err, ERR_USAGE, "what is to be sent? give TEXT, or --key NAME");
    if (count > 2)
        return err_set(err, ERR_USAGE,
                       "'%s' is one word too many; put quotes around the text", argv[2]);
    r = check_keys(&args.keys, err);
    if (r < 0)
        return r;
    struct sender s = { .self = self };
    r = cli_live_open(&s.live, argv[0], err);
    if (r < 0)
        return r;
    s.typing.ask = &s.live.ask;
    if (!cli_is_run(&s.live.at.found))
        r = type_all(&s, count > 1 ? argv[1] : NULL, &args, err);
    else
        r = args.keys.n ? refuse_keys(&s, err) : send_line(&s, argv[1], &args, err);
    cli_live_release(&s.live);
    return r;
}

static const struct cli_option options[] = {
    { "no-enter", 0, CLI_FLAG, offsetof(struct args, has_no_enter), NULL,
      "do not press Enter behind the text", 0, 0 },
    { "key", 0, CLI_LIST, offsetof(struct args, keys), "NAME",
      "press this key after that: Escape, Up, C-c, …", 0, 0 },
    { 0 },
};

const struct cli_command cli_send = {
    "send",
    "SESSION [TEXT] [--no-enter] [--key NAME]…",
    "type into a live session",
    options,
    run,
    false,
};
