/* SPDX-License-Identifier: MIT */
/* environment.c -- what the command's environment says of the session it is in. */
#include <errno.h>
#include <stdlib.h>

#include "host/host_priv.h"
#include "session/sockets.h"

enum { OURS = 4 };

/* Those of a session around this one are not this one's. */
static const char *const names[OURS] = { "AHR_SESSION=", "AHR_IPC=", "AHR_IPC_TOKEN=",
                                         "AH_RECORDER_IPC_SOCKET=" };

static bool
is_ours(const char *entry)
{
    for (size_t i = 0; i < OURS; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

static void
put(struct host *h, const char *name, const char *value)
{
    buf_printf(&h->env_text, "%s%s", name, value);
    buf_append(&h->env_text, "", 1);
}

static void
put_ours(struct host *h)
{
    AUTO(buf) path = { 0 };
    const struct door *door = &h->doors[1];
    put(h, names[0], h->opt->id);
    if (door->fd < 0)
        return;
    if (door->is_tcp)
        buf_printf(&path, strchr(h->opt->ipc.host, ':') ? "tcp:[%s]:%u" : "tcp:%s:%u",
                   h->opt->ipc.host, door->port);
    else
        buf_printf(&path, "%s/" SESSION_IPC_SOCK, buf_str(&h->sockets_dir));
    put(h, names[1], buf_str(&path));
    if (door->is_tcp)
        put(h, names[2], h->token);
    else
        put(h, names[3], buf_str(&path));
}

int
host_make_environment(struct host *h, struct err *err)
{
    size_t n = 0, kept = 0;
    while (h->opt->envp[n])
        n++;
    put_ours(h);
    h->envp = calloc(n + OURS + 1, sizeof(*h->envp));
    if (!h->envp || h->env_text.failed)
        return err_code(err, -ENOMEM, "cannot record");
    for (size_t i = 0; i < n; i++)
        if (!is_ours(h->opt->envp[i]))
            h->envp[kept++] = h->opt->envp[i];
    char *text = (char *)h->env_text.p;
    for (char *at = text; at < text + h->env_text.n; at += strlen(at) + 1)
        h->envp[kept++] = at;
    return 0;
}
