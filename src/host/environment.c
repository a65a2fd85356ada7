/* SPDX-License-Identifier: MIT */
/* environment.c -- what the command's environment says of the session it is in. */
#include "session/environment.h"

#include <errno.h>

#include "host/host_priv.h"
#include "session/sockets.h"

static void
put_ours(struct host *h)
{
    AUTO(buf) path = { 0 };
    const struct door *door = &h->doors[1];
    session_environment_put(&h->env_text, SESSION_ENV_ID, h->opt->id);
    if (h->has_tap)
        buf_append(&h->env_text, h->tap.variables.p, h->tap.variables.n);
    if (door->fd < 0)
        return;
    if (door->is_tcp)
        buf_printf(&path, strchr(h->opt->ipc.host, ':') ? "tcp:[%s]:%u" : "tcp:%s:%u",
                   h->opt->ipc.host, door->port);
    else
        buf_printf(&path, "%s/" SESSION_IPC_SOCK, buf_str(&h->sockets_dir));
    session_environment_put(&h->env_text, SESSION_ENV_IPC, buf_str(&path));
    if (door->is_tcp)
        session_environment_put(&h->env_text, SESSION_ENV_IPC_TOKEN, h->token);
    else
        session_environment_put(&h->env_text, SESSION_ENV_RECORDER, buf_str(&path));
}

int
host_make_environment(struct host *h, struct err *err)
{
    put_ours(h);
    h->envp = session_environment(h->opt->envp, &h->env_text);
    return h->envp ? 0 : err_code(err, -ENOMEM, "cannot record");
}
