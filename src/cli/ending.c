/* SPDX-License-Identifier: MIT */
#include "cli/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/signame.h"
#include "cli/report.h"
#include "ipc/message.h"
#include "session/meta.h"

void
cli_say_losses(const struct cli_ending *e, const struct client_result *done)
{
    struct buf text = done->text;
    if (done->flags & IPC_ENDED_ASTRAY)
        cli_say(e->command, "%s", buf_str(&text));
    if (done->flags & IPC_ENDED_LEFT)
        cli_say(e->command, "%s; see 'ahr recover %s'", buf_str(&text),
                e->out_file ? e->out_file : e->id);
    if (done->flags & IPC_ENDED_SUSPECT)
        cli_say(e->command,
                "a sync failed: the recording may not survive a loss of power");
    if (done->missing_bytes)
        cli_say(e->command, "%" PRIu64 " of %" PRIu64 " bytes could not be written",
                done->missing_bytes, done->bytes);
    if (done->lost_bytes)
        cli_say(e->command, "%" PRIu64 " bytes could not be shown", done->lost_bytes);
}

void
cli_say_end(const struct cli_ending *e, const struct client_result *done)
{
    AUTO(buf) line = { 0 };
    if (done->is_mid_line && e->is_out_terminal && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    buf_printf(&line, "session %s: %s", e->id,
               session_status_name((enum session_status)done->status));
    if (done->signo)
        buf_printf(&line, " (SIG%s)", signame(done->signo));
    else if (done->exit_code)
        buf_printf(&line, " (exit %d)", done->exit_code);
    buf_puts(&line, ", ");
    cli_count(&line, done->bytes, "byte");
    if (done->missing_bytes)
        buf_puts(&line, ", not all of them recorded,");
    buf_printf(&line, " in %.3f s", (double)done->ns / 1e9);
    if (e->out_file)
        buf_printf(&line, ", in '%s'", e->out_file);
    cli_say(e->command, "%s", buf_str(&line));
}
