/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define FIRST_NS 500000000ULL /* short work stays silent */
#define EVERY_NS 100000000ULL

void
cli_progress_begin(struct cli_progress *p, const struct cli_command *c, const char *what)
{
    const char *term = getenv("TERM");
    bool is_dumb = !term || !strcmp(term, "dumb");
    *p = (struct cli_progress){ .command = c,
                                .what = file_name(what),
                                .next_ns = clock_mono_ns() + FIRST_NS,
                                .is_on = isatty(STDERR_FILENO) && !is_dumb };
}

void
cli_progress_step(void *ctx, uint64_t done, uint64_t total)
{
    struct cli_progress *p = ctx;
    if (!p->is_on || clock_mono_ns() < p->next_ns)
        return;
    p->next_ns = clock_mono_ns() + EVERY_NS;
    p->is_shown = true;
    if (total)
        fprintf(stderr, "\rahr %s: %.40s: %.0f %%\033[K", p->command->name, p->what,
                100 * (double)done / (double)total);
    else
        fprintf(stderr, "\rahr %s: %.40s: %" PRIu64 " MB\033[K", p->command->name,
                p->what, done / 1000000);
}

void
cli_progress_end(struct cli_progress *p)
{
    if (p->is_shown)
        fputs("\r\033[K", stderr);
    p->is_shown = false;
}

void
cli_progress_tell(struct cli_progress *p, const char *text)
{
    AUTO(buf) clean = { 0 };
    cli_progress_end(p);
    if (buf_puts(&clean, text) >= 0 && buf_append(&clean, "", 1) >= 0)
        cli_say(p->command, "%s", cli_clean((char *)clean.p));
}
