/* SPDX-License-Identifier: MIT */
/* process.c -- which process a number means. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "journal/metadata.h"

enum { STARTTIME = 22 }; /* proc_pid_stat(5) counts from 1; the name is the second */

uint64_t
journal_process_start(int pid)
{
    AUTO(buf) stat = { 0 };
    char path[64];
    uint64_t start = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if (pid <= 0 || file_slurp(path, &stat) < 0)
        return 0;
    /* The name is in parentheses, and may hold any. */
    const char *at = strrchr(buf_str(&stat), ')');
    if (at && at[1] &&
        (at[2] == 'Z' || at[2] == 'X')) /* dead, and nobody has asked yet */
        return 0;
    for (int field = 2; at && field < STARTTIME; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return 0;
    struct view digits = { (const uint8_t *)at + 1, strcspn(at + 1, " \n") };
    return num_parse(digits, UINT64_MAX, &start) < 0 ? 0 : start;
}

bool
journal_process_is(int pid, uint64_t start)
{
    return start && journal_process_start(pid) == start;
}

int
journal_told_alive(const struct journal_told *t)
{
    uint64_t start = t->pid ? journal_process_start(t->pid) : 0;
    if (journal_process_is(t->command_pid, t->command_start))
        return t->command_pid;
    bool is_it = t->pid_start ? start == t->pid_start
                              : start && t->status && !strcmp(t->status, "active");
    return is_it ? t->pid : 0;
}
