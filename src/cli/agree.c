/* SPDX-License-Identifier: MIT */
#include "cli/agree.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/report.h"

int
cli_may_ask(struct err *err)
{
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return 0;
    return err_set(err, ERR_USAGE,
                   "there is no terminal to ask on: give --yes to delete for good");
}

bool
cli_is_agreed(struct cli_table *t, size_t count, const char *thing)
{
    AUTO(buf) text = { 0 };
    struct err ignored;
    char answer[16] = "";
    cli_table_flush(t, true, &ignored);
    buf_puts(&text, "Delete ");
    cli_count(&text, count, thing);
    buf_puts(&text, " for good? [y/N] ");
    fputs(buf_str(&text), stderr);
    if (!fgets(answer, sizeof(answer), stdin))
        fputs("\n", stderr);
    return !strcmp(answer, "y\n") || !strcmp(answer, "Y\n") || !strcmp(answer, "yes\n");
}
