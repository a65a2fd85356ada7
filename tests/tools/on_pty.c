/* SPDX-License-Identifier: MIT */
/*
 * on_pty.c -- what a program finds when it starts on a PTY. usage: on_pty MODE
 *
 *   report   signals, session, terminal, descriptors: a line each
 *   jobs     a job of its own in the terminal's foreground; both wait for a signal
 *   count    tells each SIGRTMIN, until SIGRTMIN+1
 *   stop     stops itself, then waits for a signal
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
report_signals(void)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    if (!f)
        return;
    while (fgets(line, sizeof(line), f)) {
        if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6))
            fputs(line, stdout);
    }
    fclose(f);
}

static void
report_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return;
    unsigned long long open_fds = 0;
    for (struct dirent *e; (e = readdir(d));) {
        unsigned long fd = strtoul(e->d_name, NULL, 10);
        if (e->d_name[0] != '.' && fd < 64 && fd != (unsigned long)dirfd(d))
            open_fds |= 1ULL << fd;
    }
    closedir(d);
    printf("fds: %llx\n", open_fds);
}

static int
report(void)
{
    /* First: what is opened below may get the number of one that is missing. */
    for (int i = 0; i < 3; i++)
        printf("%d is the terminal: %d\n", i, tcgetpgrp(i) == getpgrp());
    report_signals();
    report_descriptors();
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    printf("leads session: %d\n", getsid(0) == getpid());
    printf("in foreground: %d\n", fd >= 0 && tcgetpgrp(fd) == getpgrp());
    return 0;
}

static int
wait_for_signal(void)
{
    while (pause())
        ;
    return 0;
}

static int
jobs(void)
{
    signal(SIGTTOU, SIG_IGN);
    if (!fork()) {
        signal(SIGHUP, SIG_IGN); /* it would come with the death of the other */
        if (setpgid(0, 0) || tcsetpgrp(0, getpid()))
            return 1;
        puts("ready");
        fflush(stdout);
        return wait_for_signal();
    }
    return wait_for_signal();
}

static int
count(void)
{
    sigset_t set;
    int signo;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    fflush(stdout);
    while (!sigwait(&set, &signo) && signo == SIGRTMIN)
        puts("got it");
    return 0;
}

static int
stop(void)
{
    raise(SIGSTOP);
    return wait_for_signal();
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } modes[] = {
        { "report", report }, { "jobs", jobs }, { "count", count }, { "stop", stop }
    };
    for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run();
    }
    return 2;
}
