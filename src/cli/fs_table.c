/* SPDX-License-Identifier: MIT */
#include "cli/fs_table.h"

#include "cli/path.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"

enum { NS_A_S = 1000000000, S_A_MIN = 60 };

static const struct cli_column columns[] = {
    { "WHEN", false, 0, 8 },    { "ID", false, 0, 0 },      { "KIND", false, 0, 4 },
    { "FILES", true, 0, 3 },    { "LEFT OUT", true, 0, 5 }, { "SIZE", true, 0, 2 },
    { "SESSION", false, 8, 1 }, { "FOLDER", false, 8, 6 },  { "LABEL", false, 8, 7 },
};
static const struct cli_column columns_here[] = {
    { "WHEN", false, 0, 7 },    { "ID", false, 0, 0 },      { "KIND", false, 0, 4 },
    { "FILES", true, 0, 3 },    { "LEFT OUT", true, 0, 5 }, { "SIZE", true, 0, 2 },
    { "SESSION", false, 8, 1 }, { "LABEL", false, 8, 6 },
};

enum { LEFT_OUT = 4 }; /* in both */

struct cli_table
cli_fs_table(bool is_here)
{
    size_t count = sizeof(columns) / sizeof(columns[0]);
    return (struct cli_table){ .columns = is_here ? columns_here : columns,
                               .count = count - is_here,
                               .spare = 1U << LEFT_OUT };
}

/* With seconds: there may be many in a minute. No zone of our time has any. */
static void
put_when(struct cli_table *t, uint64_t ns)
{
    AUTO(buf) cell = { 0 };
    char when[CLI_WHEN_LOCAL_SIZE];
    buf_printf(&cell, "%s:%02u", cli_when_local(ns, when),
               (unsigned)(ns / NS_A_S % S_A_MIN));
    cli_table_put(t, buf_str(&cell), 0);
}

static void
put_number(struct cli_table *t, uint64_t n)
{
    AUTO(buf) cell = { 0 };
    buf_put_u64(&cell, n);
    cli_table_put(t, buf_str(&cell), 0);
}

void
cli_fs_table_put(struct cli_table *t, struct cli_fs_names *names,
                 const struct snap_facts *f)
{
    char session[CLI_SHORT_ID + 1] = "-";
    AUTO(buf) size = { 0 };
    AUTO(buf) folder = { 0 };
    const char *name = cli_fs_name(names, f->session);
    if (strlen(f->session) >= CLI_SHORT_ID)
        memcpy(session, f->session, CLI_SHORT_ID);
    cli_size(&size, f->bytes);
    cli_path_put(&folder, f->root ? f->root : "");
    put_when(t, f->ts_ns);
    put_number(t, f->id);
    cli_table_put(t, f->is_auto ? "auto" : "manual", 0);
    put_number(t, f->files);
    if (f->skipped)
        put_number(t, f->skipped);
    else
        cli_table_put(t, NULL, 0);
    cli_table_put(t, buf_str(&size), 0);
    cli_table_put(t, name ? name : session, 0);
    if (t->columns == columns)
        cli_table_put(t, buf_str(&folder), 0);
    cli_table_put(t, f->label, 0);
}
