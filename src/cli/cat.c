/* SPDX-License-Identifier: MIT */
/* ahr cat: the raw PTY bytes of a recording. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/losses.h"
#include "cli/option.h"
#include "cli/session.h"
#include "tape/reader.h"

struct args {
    uint64_t from, to;
    bool is_raw;
};

/* The part of a DATA record that was asked for. */
static struct view
cut(const struct tape_record *rec, const struct args *args)
{
    struct view v = rec->bytes;
    uint64_t start = rec->byte_off, end = start + v.n;
    uint64_t from = args->from > start ? args->from : start;
    uint64_t to = args->to < end ? args->to : end;
    if (from >= to)
        return (struct view){ v.p, 0 };
    return (struct view){ v.p + (from - start), (size_t)(to - from) };
}

static int
copy(struct cli_losses *l, struct tape_reader *r, const struct args *args,
     struct err *err)
{
    struct tape_record rec;
    int e = tape_reader_seek_byte(r, args->from);
    l->next_byte = args->from;
    while (!e && tape_reader_next(r, &rec)) {
        if (rec.tag == TAPE_DATA && rec.byte_off >= args->to)
            return 0;
        cli_losses_record(l, &rec);
        if (rec.tag != TAPE_DATA)
            continue;
        struct view v = cut(&rec, args);
        e = file_write_all(STDOUT_FILENO, v.p, v.n);
        if (e < 0)
            return err_code(err, e, "cannot write to standard output");
    }
    return e < 0 ? err_code(err, e, "cannot read '%s'", l->path) : 0;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .to = UINT64_MAX };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (e)
        return e;
    if (count != 1)
        return err_set(err, ERR_USAGE, "give one session; see 'ahr cat -h'");
    if (args.from > args.to)
        return err_set(err, ERR_USAGE, "--from lies behind --to");
    if (isatty(STDOUT_FILENO) && !args.is_raw)
        return err_set(
            err, ERR_USAGE,
            "a recording's bytes could take over this terminal; redirect them, "
            "or say --raw");

    AUTO(library_found) found = { 0 };
    e = cli_find(self, &found, argv[0], err);
    if (e < 0)
        return e;
    struct cli_losses losses = { .command = self, .path = argv[0] };
    struct tape_reader_options opt = { .notice = cli_losses_notice, .ctx = &losses };
    struct tape_reader *r;
    e = tape_reader_open(&r, tape_io_files(), buf_str(&found.tape_path), &opt, err);
    if (e < 0)
        return e;
    e = copy(&losses, r, &args, err);
    tape_reader_close(r);
    return e < 0 ? e : losses.is_damaged ? CLI_DAMAGED : CLI_DONE;
}

static const struct cli_option options[] = {
    { "from", 0, CLI_NUMBER, offsetof(struct args, from), "BYTE",
      "begin at this PTY byte", 0, UINT64_MAX },
    { "to", 0, CLI_NUMBER, offsetof(struct args, to), "BYTE", "end before this PTY byte",
      0, UINT64_MAX },
    { "raw", 0, CLI_FLAG, offsetof(struct args, is_raw), NULL, "write to a terminal, too",
      0, 0 },
    { 0 },
};

const struct cli_command cli_cat = {
    "cat",
    "SESSION [--from BYTE] [--to BYTE] [--raw]",
    "write the raw PTY bytes of a session",
    options,
    run,
    false,
};
