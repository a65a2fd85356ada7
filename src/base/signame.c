/* SPDX-License-Identifier: MIT */
#include "base/signame.h"

#include <signal.h>
#include <stddef.h>

static const struct {
    int signo;
    const char *name;
} names[] = {
    { SIGHUP, "HUP" },   { SIGINT, "INT" },   { SIGQUIT, "QUIT" },
    { SIGILL, "ILL" },   { SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" },
    { SIGBUS, "BUS" },   { SIGFPE, "FPE" },   { SIGKILL, "KILL" },
    { SIGUSR1, "USR1" }, { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
    { SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" },
    { SIGXCPU, "XCPU" }, { SIGXFSZ, "XFSZ" }, { SIGVTALRM, "VTALRM" },
    { SIGPROF, "PROF" }, { SIGSYS, "SYS" },   { SIGIO, "IO" },
};

const char *
signame(int signo)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].signo == signo)
            return names[i].name;
    return "?";
}
