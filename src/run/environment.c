/* SPDX-License-Identifier: MIT */
/* environment.c -- what the command's environment says of the run it is in. */
#include "session/environment.h"

#include <errno.h>
#include <unistd.h>

#include "run/run_priv.h"

int
run_environment_make(struct run *r, struct err *err)
{
    session_environment_put(&r->env_text, SESSION_ENV_ID, r->keep.id);
    if (r->keep.has_project)
        session_environment_put(&r->env_text, SESSION_ENV_RUN, r->keep.project.dir);
    if (r->wire.is_open)
        buf_append(&r->env_text, r->wire.tap.variables.p, r->wire.tap.variables.n);
    r->envp = session_environment(environ, &r->env_text);
    return r->envp ? 0 : err_code(err, -ENOMEM, "cannot run");
}
