/* SPDX-License-Identifier: MIT */
/* visit.c -- what those who come to ctl.sock ask for. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "run/run_priv.h"

static int
on_input(void *ctx, struct view bytes, struct err *err)
{
    struct run *r = ctx;
    int e = r->is_running ? run_input_send(&r->input, bytes) : -EPIPE;
    run_flow_settle(&r->flow);
    run_loop_update(r);
    if (e == -EPIPE)
        return err_set(err, e, "the command takes no input any more");
    return e < 0 ? err_set(err, e, "the command does not read its input; too much waits")
                 : 0;
}

static void
on_stop(void *ctx, int signo)
{
    run_stop(ctx, signo);
}

/* Where it belongs. The words are those of a recorder (host/notes.c): who asks goes by
 * them. */
static int
find_place(const struct run *r, const struct ipc_message *m, uint64_t *ret,
           struct err *err)
{
    uint64_t now_off = r->keep.tape_off;
    uint64_t off = m->field[0] == IPC_NONE ? now_off : m->field[0];
    if (m->field[1] != IPC_NONE) /* a run takes none */
        return err_set(err, -EINVAL, "no snapshot %" PRIu64, m->field[1]);
    if (off > now_off)
        return err_set(err, -EINVAL, "byte %" PRIu64 " has not been written yet", off);
    *ret = off;
    return 0;
}

static int
on_instruct(void *ctx, const struct ipc_message *m, struct ipc_message *ret,
            struct err *err)
{
    struct run *r = ctx;
    AUTO(buf) text = { 0 };
    AUTO(buf) line = { 0 };
    uint64_t off = 0;
    int e = find_place(r, m, &off, err);
    if (e < 0)
        return e;
    run_mask_text(r->keep.redact, m->bytes, &text);
    struct session_instruction i = {
        .id = clock_id(),
        .ts_ns = run_keep_now_ns(&r->keep),
        .anchor_byte = off,
        .snapshot_id = IPC_NONE,
        .row = (uint32_t)m->field[2],
        .text = { text.p, text.n },
        .is_delivered = m->field[3],
    };
    session_instruction_line(&line, &i);
    e = r->instructions.path
            ? session_lines_add(&r->instructions, (struct view){ line.p, line.n })
            : -ENOENT;
    if (e < 0)
        return err_code(err, e, "cannot note it");
    r->instruction_count++;
    ret->field[0] = i.id;
    ret->field[1] = i.anchor_byte;
    ret->field[2] = i.ts_ns;
    return 0;
}

static void
on_status(void *ctx, struct ipc_message *ret)
{
    struct run *r = ctx;
    *ret = (struct ipc_message){
        .selector = IPC_STATE,
        .field = { r->keep.tape_off, run_keep_now_ns(&r->keep) - r->keep.clock.real_ns,
                   r->opt->cols, r->opt->rows, 0, 0, 0, r->instruction_count },
    };
}

static void
on_anchor(void *ctx, struct ipc_message *ret)
{
    struct run *r = ctx;
    *ret = (struct ipc_message){
        .selector = IPC_DONE,
        .field = { 0, r->keep.tape_off, run_keep_now_ns(&r->keep) },
    };
}

void
run_visit_open(struct run *r)
{
    struct door_calls calls = { .on_input = on_input,
                                .on_stop = on_stop,
                                .on_instruct = on_instruct,
                                .on_status = on_status,
                                .on_anchor = on_anchor,
                                .ctx = r };
    AUTO(buf) path = { 0 };
    struct err err;
    r->instructions.fd = -1;
    if (!r->keep.has_folder)
        return;
    if (!session_sibling_path(r->keep.folder.tape_path, SESSION_INSTRUCTIONS, &path))
        (void)session_lines_init(&r->instructions, buf_str(&path));
    if (door_open(&r->door, &r->loop, r->keep.folder.dir, r->keep.id, &calls, &err) < 0) {
        AUTO(buf) text = { 0 };
        buf_printf(&text, "%s; 'ahr send' and 'ahr stop' will not reach this run",
                   err.text);
        r->opt->say(r->opt->ctx, buf_str(&text));
    }
}

void
run_visit_close(struct run *r)
{
    door_close(r->door);
    r->door = NULL;
    if (r->instructions.path)
        session_lines_release(&r->instructions);
}
