/* SPDX-License-Identifier: MIT */
/* signame.h -- what a signal is called: "TERM". */
#ifndef BASE_SIGNAME_H
#define BASE_SIGNAME_H

/* "?" for one that has no name here (a real-time one, say). */
const char *signame(int signo);

#endif
