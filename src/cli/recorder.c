/* SPDX-License-Identifier: MIT */
#include "cli/recorder.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "session/meta.h"
#include "session/sockets.h"

static const char *
variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool
use_variable(struct cli_recorder *r, const char *name, uint8_t selector)
{
    r->address = variable(name);
    r->variable = name;
    r->selector = selector;
    r->token = variable("AHR_IPC_TOKEN");
    return r->address;
}

static int
reach(struct cli_recorder *r, const char *session, struct err *err)
{
    const char *around = variable("AHR_SESSION");
    if (around && !strcmp(session, around) &&
        use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL))
        return 0;
    int e = library_reach(&r->live, session, err);
    if (e < 0)
        return e;
    /* The session may not use its control socket, but it has another one. */
    if (around && !strcmp(r->live.found.id, around) &&
        use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL))
        return 0;
    *r = (struct cli_recorder){ .address = buf_str(&r->live.ctl_path),
                                .selector = IPC_SNAPSHOT_MANUAL,
                                .live = r->live };
    return 0;
}

/* A recorder of another make has no ctl.sock beside it. */
static bool
is_our_socket(const char *path)
{
    AUTO(buf) ctl = { 0 };
    buf_printf(&ctl, "%.*s/" SESSION_CTL_SOCK, (int)file_dir_len(path), path);
    return access(buf_str(&ctl), F_OK) == 0;
}

static int
find(struct cli_recorder *r, const char *session, struct err *err)
{
    /* $AHR_SESSION also is the option's variable. Inside of a session it only says which
     * one that is, and there are better ways to reach it. */
    bool is_asked = session && session != getenv("AHR_SESSION");
    if (!is_asked && (use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL) ||
                      use_variable(r, "AH_RECORDER_IPC_SOCKET", IPC_SNAPSHOT))) {
        if (is_our_socket(r->address))
            r->selector = IPC_SNAPSHOT_MANUAL;
        return 0;
    }
    if (session && *session)
        return reach(r, session, err);
    return err_set(err, ERR_MISSING,
                   "no recorder here: run this inside of 'ahr record', or say "
                   "--session SESSION");
}

int
cli_recorder_find(struct cli_recorder *ret, const char *session, struct err *err)
{
    struct cli_recorder r = { 0 };
    int e = find(&r, session, err);
    r.has_anchors = r.selector == IPC_SNAPSHOT_MANUAL;
    if (!e)
        *ret = r;
    return e;
}

void
cli_recorder_release(struct cli_recorder *r)
{
    library_live_release(&r->live);
    *r = (struct cli_recorder){ 0 };
}

int
cli_recorder_open(struct client_ask *ret, const struct cli_recorder *r, struct err *err)
{
    struct err why;
    int e = client_ask_open(ret, r->address, r->token, &why);
    if (e == ERR_MISSING && r->variable)
        return err_set(err, e,
                       "$%s names '%s', but no recorder listens there: its session has "
                       "ended; run this inside of 'ahr record', or say --session SESSION",
                       r->variable, r->address);
    if (e < 0 && r->variable)
        return err_set(err, e, "$%s: %.400s", r->variable, why.text);
    return e < 0 ? err_set(err, e, "%s", why.text) : 0;
}

bool
cli_recorder_is_run(const struct cli_recorder *r)
{
    AUTO(session_told) told = { 0 };
    struct buf meta = r->live.found.meta_path;
    return meta.n && session_meta_tell(buf_str(&meta), &told, NULL) == 0 && told.kind &&
           !strcmp(told.kind, "stream");
}

int
cli_recorder_error(const struct cli_recorder *r, int code, struct err *err)
{
    const char *around = variable("AHR_SESSION");
    if (code != -EPERM || r->variable || !around || strcmp(around, r->live.found.id) != 0)
        return code;
    if (cli_recorder_is_run(r))
        return err_set(err, ERR_MISSING,
                       "session %s is a run ('ahr run'), which takes no snapshots; "
                       "'ahr record' does",
                       around);
    return err_set(err, ERR_MISSING,
                   "session %s takes no snapshots from inside: it was recorded with "
                   "'--ipc off'",
                   around);
}

int
cli_check_label(const char *label, struct err *err)
{
    size_t n = strlen(label);
    if (n > IPC_LABEL_MAX)
        return err_set(err, ERR_USAGE, "--label is longer than %d bytes", IPC_LABEL_MAX);
    if (!utf8_is_text(label, n))
        return err_set(err, ERR_USAGE, "--label is not UTF-8");
    if (!utf8_is_line(label, n))
        return err_set(err, ERR_USAGE,
                       "--label has control characters in it; text of one line, please");
    return 0;
}

int
cli_check_instruction(const char *text, struct err *err)
{
    enum { TEXT_MAX = 60000 };
    size_t n = strlen(text);
    if (!n)
        return err_set(err, ERR_USAGE, "the text is empty");
    if (n > TEXT_MAX)
        return err_set(err, ERR_USAGE, "the text is longer than %d bytes", TEXT_MAX);
    return utf8_is_text(text, n) ? 0 : err_set(err, ERR_USAGE, "the text is not UTF-8");
}
