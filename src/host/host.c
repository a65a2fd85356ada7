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
    int keep[] = { h->link->fd,       h->tty_fd,         h->child.master_fd,
                   h->child.gate_fd,  h->child.errno_fd, h->slave_fd,
                   h->folder.lock_fd, h->doors[0].fd,    h->doors[1].fd,
                   h->tap.listen_fd,  h->tap.fd };
    keep_only(keep, sizeof(keep) / sizeof(keep[0]));
    h->user_umask = umask(0077);
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
    open_log(h);
    int r = o->is_redacting ? redact_own_open(&h->redact, NULL, err) : 0;
    if (!r)
        r = host_notes_init(h, err);
    if (!r)
        r = host_force_begin(h, err);
    if (r < 0) {
        session_folder_discard(&h->folder);
        return r;
    }
    r = recorder_open(&h->recorder, h->folder.tape_path, o, h->redact, host_on_news, h,
                      err);
    if (r == -EEXIST && o->out_file && !o->is_forced)
        err_set(err, r, "'%s' exists already; choose another name, or say --force",
                o->out_file);
    if (r < 0) {
        host_force_undo(h);
        session_folder_discard(&h->folder);
        return r;
    }
    r = host_force_check(h, err);
    if (!r)
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
    conn_send(h->link, &(struct ipc_message){
                           .selector = IPC_FAILED,
                           .field = { (uint64_t)status },
                           .bytes = { (const uint8_t *)err->text, strlen(err->text) },
                       });
    conn_flush(h->link, &h->reel);
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

/* Nothing is piped to it: whatever it reads will be typed, by those who attach. */
static void
set_echo(int fd)
{
    struct termios state;
    if (fd < 0 || tcgetattr(fd, &state) < 0)
        return;
    state.c_lflag |= ECHO;
    tcsetattr(fd, TCSANOW, &state);
}

/* The folder, the sockets in it, and the command that is told of them, at its gate. */
static int
make_place(struct host *h, struct err *err)
{
    const struct host_options *o = h->opt;
    int r = session_folder_make(&h->folder, o->home, o->id, o->out_file, err);
    if (r < 0)
        return r;
    r = host_doors_open(h, err);
    if (!r)
        host_wire_open(h);
    if (!r)
        r = host_make_environment(h, err);
    if (!r)
        r = pty_child_fork(&h->child, o->argv, h->envp, o->termios, o->cols, o->rows,
                           err);
    if (r < 0)
        session_folder_discard(&h->folder);
    return r;
}

static int
start(struct host *h, struct err *err, int *ret_status)
{
    const struct host_options *o = h->opt;
    int r = make_place(h, err);
    if (r < 0)
        return r;
    h->slave_fd = open_slave(h->child.master_fd);
    if (!o->termios && !(o->has_client && o->has_input))
        set_echo(h->slave_fd);
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

static bool
init(struct host *h, const struct host_options *opt, int link_fd)
{
    *h = (struct host){ .opt = opt,
                        .log_fd = -1,
                        .slave_fd = -1,
                        .tty_fd = -1,
                        .points_said_fd = -1,
                        .cols = opt->cols,
                        .rows = opt->rows };
    h->link = host_add_conn(h, link_fd, CONN_LINK);
    if (!h->link)
        return false;
    h->link->is_subscribed = true;
    h->link->is_lossy = opt->is_lossy;
    h->link->cols = opt->has_terminal ? opt->cols : 0;
    h->link->rows = opt->has_terminal ? opt->rows : 0;
    return true;
}

/* Everyone who comes is told this first. */
static void
set_first_stage(struct host *h)
{
    bool is_passing = h->opt->has_client && h->opt->is_lossy && !h->opt->is_viewed;
    h->passing = is_passing ? h->link->number : 0;
    h->answer_from = host_may_mirror_answer(h, h->passing) ? 0 : IPC_NONE;
    struct ipc_message stage = host_stage_message(h);
    host_broadcast(h, &stage);
    conn_send(h->link, &(struct ipc_message){ .selector = IPC_STARTED });
    conn_flush(h->link, &h->reel);
}

static int
run(const struct host_options *opt, int link_fd)
{
    struct host h;
    struct err err = { 0 };
    int status = 0;
    if (!init(&h, opt, link_fd))
        return 1;
    int r = start(&h, &err, &status);
    if (r < 0) {
        host_wire_cancel(&h);
        fail(&h, r, status, &err);
        return 1;
    }
    host_facts_complete(&h);
    struct recorder *input_to = opt->keeps_input ? &h.recorder : NULL;
    h.piped = (struct feeder){ .master_fd = h.child.master_fd,
                               .recorder = input_to,
                               .is_piped = true };
    h.typed = (struct feeder){ .master_fd = h.child.master_fd, .recorder = input_to };
    set_first_stage(&h);
    if (h.door_trouble.code)
        host_say_trouble(&h, h.door_trouble.text);
    if (!opt->has_client)
        host_drop_conn(&h, h.link);
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
