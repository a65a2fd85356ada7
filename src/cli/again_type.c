/* SPDX-License-Identifier: MIT */
#include "cli/again_type.h"

#include <string.h>

#include "cli/command.h"
#include "cli/live.h"
#include "cli/option.h"
#include "client/typing.h"
#include "session/upkeep.h"
#include "tape/io.h"
#include "tape/reader.h"

enum { TYPED_MAX = 4 << 20 };

int
cli_again_type_read(const char *path, struct buf *ret, bool *ret_is_masked,
                    struct err *err)
{
    const struct tape_reader_options opt = { 0 };
    struct tape_reader *reader;
    struct tape_record rec;
    int r = tape_reader_open(&reader, tape_io_files(), path, &opt, err);
    if (r < 0)
        return r;
    ret->ceiling = TYPED_MAX;
    while (tape_reader_next(reader, &rec)) {
        if (rec.tag == TAPE_INPUT)
            buf_append(ret, rec.bytes.p, rec.bytes.n);
        *ret_is_masked |= rec.tag == TAPE_MARK && rec.code == TAPE_MARK_REDACTED;
    }
    tape_reader_close(reader);
    if (ret->failed == ERR_LIMIT)
        return err_set(err, ERR_LIMIT,
                       "more than 4 MiB were typed in '%s': that is not typed once more",
                       path);
    return ret->failed ? err_code(err, ret->failed, "cannot read '%s'", path) : 0;
}

static bool
is_enter(uint8_t c)
{
    return c == '\r' || c == '\n'; /* the latter of a terminal that was not raw yet */
}

struct view
cli_again_type_line(struct view *rest)
{
    size_t n = 0;
    while (n < rest->n && !is_enter(rest->p[n]))
        n++;
    n += n < rest->n;
    struct view line = { rest->p, n };
    *rest = (struct view){ rest->p + n, rest->n - n };
    return line;
}

/* A line at a time, and Enter by itself. */
static int
type_all(struct cli_live *l, struct view typed, struct err *err)
{
    struct client_typing typing = { .ask = &l->ask };
    uint64_t at;
    int r = 0;
    while (!r && typed.n) {
        struct view line = cli_again_type_line(&typed);
        bool has_enter = is_enter(line.p[line.n - 1]);
        r = cli_live_settle(l, &at, err);
        if (!r && line.n > has_enter)
            r = client_type(&typing, (struct view){ line.p, line.n - has_enter }, err);
        if (!r && has_enter)
            r = client_type(&typing, (struct view){ line.p + line.n - 1, 1 }, err);
    }
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) typed = { 0 };
    struct cli_live l;
    int count, r = cli_parse(self, argc, argv, NULL, &count, err);
    if (r)
        return r;
    if (count != 2)
        return err_set(err, ERR_USAGE, "ahr resume starts this");
    bool is_masked = false;
    r = cli_again_type_read(argv[1], &typed, &is_masked, err);
    if (!r)
        r = cli_live_open(&l, argv[0], err);
    if (r < 0)
        return r;
    r = type_all(&l, (struct view){ typed.p, typed.n }, err);
    cli_live_release(&l);
    return r;
}

int
cli_again_type_start(const char *home, const char *id, const char *tape_path)
{
    const char *words[] = { "resume-type", "--", id, tape_path, NULL };
    return session_upkeep_start(home, words, -1, NULL);
}

static const struct cli_option options[] = { { 0 } };

const struct cli_command cli_resume_type = {
    "resume-type", "SESSION RECORDING", NULL, options, run, false,
};
