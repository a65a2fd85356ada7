/* SPDX-License-Identifier: MIT */
/*
 * points.c -- --out-branch-points: made when all is on disk, before anyone is told of the
 * end, so that the file is there when `ahr record` returns.
 *
 * `ahr branch-points` makes it: the host parses nothing. The host waits for it in its
 * loop, so long as a report may take, and no longer; what goes wrong is told, and the
 * recording is none the worse for it.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signame.h"
#include "host/host_priv.h"

enum {
    WAIT_MS = 20000,
    BYTES_A_MS = 10000, /* a tenth of what it does on a slow machine */
    END_MS = 2000,      /* for one that was told to end */
    DAMAGED = 4,        /* its exit status when all that can be read is written */
};

#define NOT_WRITTEN "branch points were not written: %s; see 'ahr branch-points'"

static void
tell(struct host *h, const char *text)
{
    host_log(h, "%s", text);
    host_broadcast(
        h, &(struct ipc_message){ .selector = IPC_TROUBLE,
                                  .bytes = { (const uint8_t *)text, strlen(text) } });
}

/* What it said first, without its name. */
static void
read_complaint(struct host *h, int status, char *ret, size_t size)
{
    static const char prefix[] = "ahr branch-points: ";
    ssize_t n = h->points_said_fd < 0 ? 0 : pread(h->points_said_fd, ret, size - 1, 0);
    ret[n > 0 ? n : 0] = 0;
    ret[strcspn(ret, "\n")] = 0;
    if (!strncmp(ret, prefix, strlen(prefix)))
        memmove(ret, ret + strlen(prefix), strlen(ret) - strlen(prefix) + 1);
    if (!ret[0])
        snprintf(ret, size, "it ended with %d", status);
}

/* It puts a new file in the place of the old one. */
static bool
has_written(const struct host *h)
{
    struct stat now;
    return stat(h->opt->points_path, &now) == 0 &&
           (now.st_dev != h->points_old.st_dev || now.st_ino != h->points_old.st_ino);
}

static void
judge(struct host *h, int status)
{
    char why[400];
    AUTO(buf) line = { 0 };
    bool has_exited = WIFEXITED(status);
    if (has_exited && !WEXITSTATUS(status))
        return;
    if (has_exited)
        read_complaint(h, WEXITSTATUS(status), why, sizeof(why));
    else if (h->is_points_late)
        snprintf(why, sizeof(why), "it took too long");
    else
        snprintf(why, sizeof(why), "SIG%s", signame(WTERMSIG(status)));
    if (has_exited && WEXITSTATUS(status) == DAMAGED && has_written(h))
        buf_printf(&line, "'%s' is not all: %s", h->opt->points_path, why);
    else
        buf_printf(&line, NOT_WRITTEN, why);
    tell(h, buf_str(&line));
}

static void
end(struct host *h, int status)
{
    h->points_pid = 0;
    uv_timer_stop(&h->points_timer);
    judge(h, status);
    if (h->points_said_fd >= 0)
        close(h->points_said_fd);
    host_conclude(h);
}

void
host_reap_points(struct host *h)
{
    int status;
    if (h->points_pid && waitpid(h->points_pid, &status, WNOHANG) == h->points_pid)
        end(h, status);
}

/* It removes what it has begun when it is told to end. */
static void
on_late(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (!h->is_points_late) {
        h->is_points_late = true;
        kill(h->points_pid, SIGTERM);
        uv_timer_start(timer, on_late, END_MS, 0);
        return;
    }
    kill(h->points_pid, SIGKILL);
    end(h, SIGKILL); /* one that hangs in the kernel is not waited for */
}

/* Nothing is written by us any more: files may be made as the user has it. */
static int
spawn(struct host *h)
{
    static char name[] = "ahr", command[] = "branch-points", format[] = "--format=json",
                order[] = "--order=visual", output[] = "-o", end_of_options[] = "--";
    char *path = strdup(h->opt->points_path), *tape = strdup(h->folder.tape_path);
    char *argv[] = { name, command,        format, order, output,
                     path, end_of_options, tape,   NULL };
    int r = -ENOMEM;
    h->points_said_fd = memfd_create("said", MFD_CLOEXEC);
    mode_t own = umask(h->user_umask);
    if (path && tape)
        r = host_spawn(argv, h->points_said_fd, STDERR_FILENO, &h->points_pid);
    umask(own);
    free(path);
    free(tape);
    return r;
}

bool
host_make_points(struct host *h)
{
    if (!h->opt->points_path)
        return false;
    if (stat(h->opt->points_path, &h->points_old) < 0)
        h->points_old = (struct stat){ 0 };
    int r = spawn(h);
    if (r < 0) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, NOT_WRITTEN, strerror(-r));
        tell(h, buf_str(&line));
        return false;
    }
    uv_update_time(&h->loop);
    uv_timer_start(&h->points_timer, on_late, WAIT_MS + h->meta.total_bytes / BYTES_A_MS,
                   0);
    return true;
}
