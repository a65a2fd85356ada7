/* SPDX-License-Identifier: MIT */
#include "cli/live.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/session.h"

/* Before it answers a recorder may wait for its disk. */
enum { ANSWER_MS = 30000 };

int
cli_live_open(struct cli_live *ret, const char *session, struct err *err)
{
    struct cli_live l = { .ask.fd = -1 };
    int r = library_reach(&l.at, session, err);
    if (r < 0)
        return r;
    l.called = cli_called(session, l.at.found.id);
    r = client_ask_open(&l.ask, buf_str(&l.at.ctl_path), NULL, err);
    if (r < 0) {
        r = cli_live_error(&l, r, err);
        cli_live_release(&l);
        return r;
    }
    *ret = l;
    ret->called = cli_called(session, ret->at.found.id);
    return 0;
}

void
cli_live_release(struct cli_live *l)
{
    client_ask_close(&l->ask);
    library_live_release(&l->at);
}

int
cli_live_error(const struct cli_live *l, int code, struct err *err)
{
    struct err why = *err;
    if (code == -ECONNRESET)
        return err_set(err, code,
                       "session %s: its recorder has closed the connection; has it "
                       "ended?",
                       l->called);
    return err_set(err, code, "session %s: %.440s", l->called, why.text);
}

int
cli_ask_done(struct client_ask *ask, const struct ipc_message *m, struct ipc_message *ret,
             struct err *err)
{
    struct ipc_message got;
    int r = client_ask(ask, m, ANSWER_MS, &got, err);
    while (!r && got.selector == IPC_TAKEN)
        r = client_ask(ask, NULL, ANSWER_MS, &got, err);
    if (r < 0)
        return r;
    if (got.selector != IPC_DONE)
        return err_set(err, -EPROTO, "the recorder answers something else");
    *ret = got;
    return 0;
}

int
cli_print_done(const struct ipc_message *done, struct err *err)
{
    AUTO(buf) line = { 0 };
    struct json j = { .out = &line };
    json_open(&j, '{');
    json_key(&j, "id"), json_u64(&j, done->field[0]);
    json_key(&j, "anchor_byte"), json_u64(&j, done->field[1]);
    json_key(&j, "ts_ns"), json_u64(&j, done->field[2]);
    json_close(&j, '}');
    if (line.failed)
        return err_code(err, line.failed, "cannot print the answer");
    puts(buf_str(&line));
    return 0;
}

int
cli_type_text(struct client_typing *t, const char *text, bool with_enter, struct err *err)
{
    struct view bytes = { (const uint8_t *)text, strlen(text) };
    int r = bytes.n ? client_type(t, bytes, err) : 0;
    if (!r && with_enter)
        r = client_type(t, (struct view){ (const uint8_t *)"\r", 1 }, err);
    return r;
}

/* -- a program that is ready -- */

enum {
    LOOK_MS = 50,
    REST_MS = 700,
    SILENT_MS = 3000,
    READY_MS = 15000,
};

static int
ask_anchor(struct cli_live *l, uint64_t *ret, struct err *err)
{
    struct ipc_message done = { 0 }, m = { .selector = IPC_ANCHOR };
    int r = cli_ask_done(&l->ask, &m, &done, err);
    if (!r)
        *ret = done.field[1];
    return r;
}

static uint64_t
now_ms(void)
{
    return clock_mono_ns() / 1000000;
}

int
cli_live_settle(struct cli_live *l, uint64_t *ret_byte, struct err *err)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    uint64_t last = 0, begin = now_ms(), changed = begin;
    int r;
    *ret_byte = 0;
    while (!(r = ask_anchor(l, ret_byte, err))) {
        uint64_t now = now_ms(), byte = *ret_byte;
        changed = byte != last ? now : changed;
        last = byte;
        if (now - changed >= (byte ? REST_MS : SILENT_MS) || now - begin >= READY_MS)
            break;
        nanosleep(&pause, NULL);
    }
    return r;
}
