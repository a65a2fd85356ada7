/* SPDX-License-Identifier: MIT */
/* ahr fs tidy: collects what no snapshot needs, and keeps to a budget. */
#include "snap/tidy.h"

#include <limits.h>
#include <stdio.h>

#include "cli/option.h"
#include "cli/report.h"
#include "session/home.h"

struct args {
    uint64_t budget_bytes;
};

static void
say_dropped(const struct cli_command *self, const struct snap_tidied *t)
{
    AUTO(buf) text = { 0 };
    if (!t->dropped)
        return;
    cli_count(&text, t->dropped, "automatic snapshot");
    cli_say(self, "%s did not fit into the budget: deleted, the oldest first",
            buf_str(&text));
}

static void
say_rest(const struct cli_command *self, const struct snap_tidied *t, uint64_t budget)
{
    AUTO(buf) text = { 0 };
    if (t->bytes_after > budget && !t->busy) {
        cli_size(&text, budget);
        cli_say(self,
                "that is more than the budget of %s: 'ahr fs delete' removes snapshots "
                "that were taken by hand",
                buf_str(&text));
    }
    buf_clear(&text);
    if (t->busy) {
        buf_put_u64(&text, t->busy);
        cli_say(self, "%s of the shadow repositories in use: try again later",
                buf_str(&text));
    }
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) text = { 0 };
    struct args a = { .budget_bytes = SNAP_BUDGET };
    struct snap_tidied t = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE, "'%s' is one word too many; see 'ahr fs tidy -h'",
                       argv[0]);
    r = session_home(&home, err);
    if (!r)
        r = snap_tidy(buf_str(&home), a.budget_bytes, &t, err);
    if (r < 0)
        return r;
    say_dropped(self, &t);
    cli_size(&text, t.bytes_before > t.bytes_after ? t.bytes_before - t.bytes_after : 0);
    buf_puts(&text, " freed, ");
    cli_size(&text, t.bytes_after);
    buf_puts(&text, " in use");
    puts(buf_str(&text));
    say_rest(self, &t, a.budget_bytes);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    { "budget", 0, CLI_SIZE, offsetof(struct args, budget_bytes), "SIZE",
      "of the disk, for all snapshots together (10G)", 0, 0 },
    { 0 },
};

const struct cli_command cli_fs_tidy = {
    "fs tidy", "[--budget SIZE]", "free what no snapshot needs any more", options, run,
    false,
};
