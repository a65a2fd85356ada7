/* SPDX-License-Identifier: MIT */
/* environment.c -- what the command's environment says of the run it is in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/run_priv.h"

/* Those of a session around this one are not this one's. */
static const char *const names[] = { "AHR_SESSION=", "AHR_RUN_DIR=", "AHR_IPC=",
                                     "AHR_IPC_TOKEN=", "AH_RECORDER_IPC_SOCKET=" };

enum { NAMES = sizeof(names) / sizeof(names[0]), OURS = 2 };

static bool
is_ours(const char *entry)
{
    for (size_t i = 0; i < NAMES; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

static void
put(struct run *r, const char *name, const char *value)
{
    buf_printf(&r->env_text, "%s%s", name, value);
    buf_append(&r->env_text, "", 1);
}

int
run_environment_make(struct run *r, struct err *err)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    put(r, names[0], r->keep.id);
    if (r->keep.has_project)
        put(r, names[1], r->keep.project.dir);
    r->envp = calloc(n + OURS + 1, sizeof(*r->envp));
    if (!r->envp || r->env_text.failed)
        return err_code(err, -ENOMEM, "cannot run");
    for (size_t i = 0; i < n; i++)
        if (!is_ours(environ[i]))
            r->envp[kept++] = environ[i];
    char *text = (char *)r->env_text.p, *end = text + r->env_text.n;
    for (char *at = text; at < end; at += strlen(at) + 1)
        r->envp[kept++] = at;
    return 0;
}
