/* SPDX-License-Identifier: MIT */
#include "session/environment.h"

#include <stdlib.h>

static const char *const names[] = { SESSION_ENV_ID, SESSION_ENV_RUN, SESSION_ENV_IPC,
                                     SESSION_ENV_IPC_TOKEN, SESSION_ENV_RECORDER };

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static bool
is_of_a_session(const char *entry)
{
    for (size_t i = 0; i < NAMES; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Is the same variable among them? */
static bool
is_set_by(const char *entry, const struct buf *ours)
{
    size_t n = strcspn(entry, "=");
    const char *at = (const char *)ours->p;
    for (const char *end = at + ours->n; ours->n && at < end; at += strlen(at) + 1)
        if (!strncmp(at, entry, n) && at[n] == '=')
            return true;
    return false;
}

char **
session_environment(char *const *around, const struct buf *ours)
{
    size_t n = 0, kept = 0;
    while (around[n])
        n++;
    for (size_t i = 0; i < ours->n; i++)
        n += !ours->p[i];
    char **made = ours->failed ? NULL : calloc(n + 1, sizeof(*made));
    if (!made)
        return NULL;
    for (size_t i = 0; around[i]; i++)
        if (!is_of_a_session(around[i]) && !is_set_by(around[i], ours))
            made[kept++] = around[i];
    for (char *at = (char *)ours->p, *end = at + ours->n; at < end; at += strlen(at) + 1)
        made[kept++] = at;
    return made;
}

void
session_environment_put(struct buf *ours, const char *name, const char *value)
{
    buf_printf(ours, "%s%s", name, value);
    buf_append(ours, "", 1);
}
