/* SPDX-License-Identifier: MIT */
/*
 * host.c -- the host as a process: fork, descriptors, and the start of a session.
 *
 * The child is forked while there are no threads, and waits. Only when its recording is
 * open does it run.
 */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "host/host_priv.h"
#include "redact/own.h"

void
host_log(struct host *h, const char *fmt, ...)
{
    AUTO(buf) line = { 0 };
    va_list ap;
    char text[600];
    if (h->log_fd < 0)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    uint64_t ms = (clock_now_ns(&h->opt->clock) - h->opt->clock.real_ns) / 1000000;
    buf_printf(&line, "%lu.%03lu %s\n", (unsigned long)(ms / 1000),
               (unsigned long)(ms % 1000), text);
    (void)file_write_all(h->log_fd, line.p, line.n);
}

/* -- the process -- */

static int
compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Whatever else the caller had open is the child's, not ours: we would keep pipes from
 * ending and disks from being unmounted. */
static void
keep_only(int *fds, size_t n)
{
    qsort(fds, n, sizeof(*fds), compare_ints);
    unsigned first = 3;
    for (size_t i = 0; i < n; i++) {
        if (fds[i] < (int)first)
            continue;
        if (fds[i] > (int)first)
            close_range(first, (unsigned)fds[i] - 1, 0);
        first = (unsigned)fds[i] + 1;
    }
    close_range(first, ~0U, 0);
}

static void
leave_terminal(struct host *h)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (h->opt->tty_fd >= 0 && h->opt->has_client)
        h->tty_fd = fcntl(h->opt->tty_fd, F_DUPFD_CLOEXEC, 3);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    int keep[] = { h->conn.fd,       h->tty_fd,         h->child.master_fd,
                   h->child.gate_fd, h->child.errno_fd, h->slave_fd };
    keep_only(keep, sizeof(keep) / sizeof(keep[0]));
    umask(0077);
}

/* -- the start -- */

static void
open_log(struct host *h)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/host.log", h->folder.dir);
    h->log_fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Takes back what was made, all but the meta. */
static void
undo_recording(struct host *h)
{
    struct tape_writer_status st;
    struct err ignored;
    recorder_finish(&h->recorder, &st, &ignored);
    unlink(h->folder.tape_path);
    host_force_undo(h);
    session_folder_discard(&h->folder);
}

static void
undo(struct host *h)
{
    unlink(h->folder.meta_path);
    undo_recording(h);
}

/* Everything that can fail before the command runs. */
static int
prepare(struct host *h, struct err *err)
{
    const struct host_options *o = h->opt;
    if (o->is_redacting) {
        int r = redact_own_open(&h->redact, NULL, err);
        if (r < 0)
            return r;
    }
    int r = session_folder_make(&h->folder, o->home, o->id, o->out_file, err);
    if (r < 0)
        return r;
    open_log(h);
    r = host_force_begin(h, err);
    if (!r)
        r = recorder_open(&h->recorder, h->folder.tape_path, o, h->redact, host_on_news,
                          h, err);
    if (r == -EEXIST && o->out_file && !o->is_forced)
        err_set(err, r, "'%s' exists already; choose another name, or say --force",
                o->out_file);
    if (r < 0) {
        host_force_undo(h);
        session_folder_discard(&h->folder);
        return r;
    }
    r = host_facts_begin(h, err);
    if (r < 0) {
        undo_recording(h);
        return r;
    }
    r = host_loop_init(h, err);
    if (r < 0)
        undo(h);
    return r;
}

static void
fail(struct host *h, int code, int status, const struct err *err)
{
    if (!status)
        status = code == ERR_BUSY ? 5 : code == ERR_USAGE ? 2 : 1;
    conn_send(&h->conn, &(struct ipc_message){
                            .selector = IPC_FAILED,
                            .field = { (uint64_t)status },
                            .bytes = { (const uint8_t *)err->text, strlen(err->text) },
                        });
}

/* As long as a descriptor of the child's side is open, reading finds no end there. */
static int
open_slave(int master_fd)
{
#ifdef TIOCGPTPEER
    return ioctl(master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
#else
    const char *name = ptsname(master_fd);
    return name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
#endif
}

static int
start(struct host *h, struct err *err, int *ret_status)
{
    const struct host_options *o = h->opt;
    int r = pty_child_fork(&h->child, o->argv, o->envp, o->termios, o->cols, o->rows,
                           err);
    if (r < 0)
        return r;
    h->slave_fd = open_slave(h->child.master_fd);
    leave_terminal(h);
    r = prepare(h, err);
    if (r < 0) {
        pty_child_cancel(&h->child);
        return r;
    }
    r = pty_child_exec(&h->child, o->argv[0], ret_status, err);
    if (r < 0)
        undo(h);
    else
        host_force_done(h);
    (void)!chdir("/"); /* where we stand could not be unmounted */
    return r;
}

static int
run(const struct host_options *opt, int link_fd)
{
    struct host h = { .opt = opt, .log_fd = -1, .slave_fd = -1, .tty_fd = -1 };
    struct err err = { 0 };
    int status = 0;
    conn_init(&h.conn, link_fd, opt->is_lossy);
    int r = start(&h, &err, &status);
    if (r < 0) {
        fail(&h, r, status, &err);
        return 1;
    }
    host_facts_complete(&h);
    conn_send(&h.conn, &(struct ipc_message){ .selector = IPC_STARTED });
    h.feeder = (struct feeder){ .master_fd = h.child.master_fd,
                                .recorder = opt->keeps_input ? &h.recorder : NULL,
                                .is_piped = opt->is_input_piped };
    if (!opt->has_client)
        conn_close(&h.conn);
    host_loop_run(&h);
    return 0;
}

int
host_start(const struct host_options *opt, int *ret_link_fd, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(err, "cannot make a socket");
    pid_t pid = fork();
    if (pid < 0) {
        int r = err_sys(err, "cannot start the recorder");
        close(ends[0]);
        close(ends[1]);
        return r;
    }
    if (pid == 0) {
        close(ends[0]);
        setsid();
        signal(SIGCHLD, SIG_DFL); /* ignored, it would take the command's status away */
        _exit(run(opt, ends[1]));
    }
    close(ends[1]);
    *ret_link_fd = ends[0];
    return 0;
}
