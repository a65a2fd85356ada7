/* SPDX-License-Identifier: MIT */
/*
 * ahr render: what a terminal shows after a byte stream or a recording.
 *
 * The input goes through the model piece by piece; lines are printed as they are made, so
 * that only the model itself takes memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/lines.h"
#include "cli/losses.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/session.h"

enum {
    PIECE_MAX = 64 << 10,
    NOTE_MAX = 32
               << 10, /* a line that script(1) has added, at most; the command is in it */
    COLS = 80,
    ROWS = 24,
};

enum format { FORMAT_TEXT, FORMAT_ANSI, FORMAT_JSON };

struct args {
    uint64_t cols, rows, scrollback_rows;
    bool has_scrollback;
    int format; /* enum format */
};

struct render {
    const struct cli_command *self;
    const struct args *args;
    const char *name;
    unsigned cols, rows;
    struct term *term;   /* NULL until the first byte: sizes before it are no resizes */
    bool has_cr, has_lf; /* were there any? */
    struct cli_progress progress;
    struct cli_printer printer;
    struct json json; /* into the printer's buffer */
};

/* -- input -- */

static int
begin(struct render *r, struct err *err)
{
    struct term_options opt = term_options_default();
    opt.cols = r->cols;
    opt.rows = r->rows;
    opt.scrollback_rows = (uint32_t)r->args->scrollback_rows;
    if (!r->args->has_scrollback || r->args->format == FORMAT_JSON)
        opt.alternate_rows = 0;
    if (r->term)
        term_resize(r->term, r->cols, r->rows);
    else if (!(r->term = term_new(&opt)))
        return err_code(err, -ENOMEM, "cannot make a terminal of %ux%u", r->cols,
                        r->rows);
    return 0;
}

static void
feed_bytes(struct render *r, const uint8_t *p, size_t n, uint64_t byte_off)
{
    if (!r->has_cr) {
        r->has_cr = memchr(p, '\r', n) != NULL;
        r->has_lf |= memchr(p, '\n', n) != NULL;
    }
    term_feed(r->term, p, n, byte_off);
}

/* What the command line says stays; a zero says nothing. Of several sizes in a row only
 * the last one counts: begin() takes it. */
static void
resize(struct render *r, unsigned cols, unsigned rows)
{
    r->cols = r->args->cols || !cols ? r->cols : cols;
    r->rows = r->args->rows || !rows ? r->rows : rows;
}

static int
feed_recording(struct render *r, const char *path, struct err *err)
{
    struct cli_losses losses = { .command = r->self, .path = r->name };
    struct tape_progress progress = { cli_progress_step, &r->progress };
    struct tape_reader_options opt = { cli_losses_notice, &losses, &progress };
    struct tape_reader *tape;
    struct tape_record rec;
    int e = tape_reader_open(&tape, tape_io_files(), path, &opt, err);
    if (e < 0)
        return e;
    bool is_empty = true;
    while (!e && tape_reader_next(tape, &rec)) {
        is_empty = false;
        cli_losses_record(&losses, &rec);
        if (rec.tag == TAPE_RESIZE)
            resize(r, rec.cols, rec.rows);
        if (rec.tag != TAPE_DATA)
            continue;
        e = begin(r, err);
        if (!e)
            feed_bytes(r, rec.bytes.p, rec.bytes.n, rec.byte_off);
    }
    tape_reader_close(tape);
    if (is_empty)
        cli_say(r->self, "'%s' holds no record: is it an .ahr recording?", r->name);
    return e < 0 ? e : losses.is_damaged ? CLI_DAMAGED : CLI_DONE;
}

/* script(1) puts a line of its own before what it records. Returns that line's length. */
static size_t
script_head(struct view in)
{
    static const char begin[] = "Script started on ";
    size_t n = in.n < NOTE_MAX ? in.n : NOTE_MAX;
    if (n < sizeof(begin) || memcmp(in.p, begin, sizeof(begin) - 1) != 0)
        return 0;
    const uint8_t *end = memchr(in.p, '\n', n);
    return end ? (size_t)(end - in.p) + 1 : 0;
}

/* … and another behind it, with a newline before. Returns their length at the end. */
static size_t
script_foot(struct view in)
{
    static const char begin[] = "\nScript done on ";
    size_t len = sizeof(begin) - 1, least = in.n > NOTE_MAX ? in.n - NOTE_MAX : 0;
    for (size_t at = in.n; at-- > least;)
        if (in.n - at >= len && !memcmp(in.p + at, begin, len)) {
            const uint8_t *end = memchr(in.p + at + 1, '\n', in.n - at - 1);
            return !end || end == in.p + in.n - 1 ? in.n - at : 0;
        }
    return 0;
}

/* Bytes that were read and not yet fed. */
struct stream {
    int fd;
    uint64_t byte_off, size; /* of its first byte; of the file, 0: unknown */
    size_t n;
    uint8_t bytes[PIECE_MAX];
};

/* Reads until it is full. Returns how much came, 0 at the end, or -errno. */
static ssize_t
fill(struct stream *s)
{
    ssize_t n = 1, sum = 0;
    while (s->n < sizeof(s->bytes) && n > 0) {
        n = file_read(s->fd, s->bytes + s->n, sizeof(s->bytes) - s->n);
        s->n += n > 0 ? (size_t)n : 0;
        sum += n > 0 ? n : 0;
    }
    return n < 0 ? n : sum;
}

static void
feed(struct render *r, struct stream *s, size_t n)
{
    feed_bytes(r, s->bytes, n, s->byte_off);
    memmove(s->bytes, s->bytes + n, s->n - n);
    s->n -= n;
    s->byte_off += n;
    cli_progress_step(&r->progress, s->byte_off, s->size);
}

/* All that is not script's own. Its last line may come in pieces: so much is held back.
 */
static int
feed_stream(struct render *r, struct stream *s, struct err *err)
{
    size_t head = script_head((struct view){ s->bytes, s->n });
    size_t hold = head ? NOTE_MAX : 0;
    ssize_t n = begin(r, err);
    if (n < 0)
        return (int)n;
    memmove(s->bytes, s->bytes + head, s->n - head);
    s->n -= head;
    s->byte_off += head;
    do {
        feed(r, s, s->n > hold ? s->n - hold : 0);
        n = fill(s);
    } while (n > 0);
    feed(r, s, s->n - (head ? script_foot((struct view){ s->bytes, s->n }) : 0));
    if (n < 0)
        cli_say(r->self, "cannot read '%s': %s; this is what came before", r->name,
                strerror((int)-n));
    return n < 0 ? CLI_FAILED : CLI_DONE;
}

static bool
is_named_ahr(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".ahr");
}

static bool
is_recording(const struct stream *s)
{
    return s->n >= sizeof(tape_block_magic) &&
           !memcmp(s->bytes, tape_block_magic, sizeof(tape_block_magic));
}

/* path NULL: standard input. Returns an exit status, or an error. */
static int
read_all(struct render *r, const char *path, struct err *err)
{
    /* What is left of a cut-off recording may be tails only, or begin with damage. */
    if (path && is_named_ahr(path))
        return feed_recording(r, path, err);
    struct stream s = { .fd = STDIN_FILENO };
    struct stat st;
    if (path)
        s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (s.fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    if (fstat(s.fd, &st) == 0 && S_ISREG(st.st_mode))
        s.size = (uint64_t)st.st_size;
    ssize_t e = fill(&s);
    bool is_tape = is_recording(&s);
    if (e < 0)
        e = err_code(err, (int)e, "cannot read '%s'", r->name);
    else if (is_tape && !path)
        e = err_set(err, ERR_USAGE,
                    "a recording cannot come from standard input: "
                    "give its file");
    else
        e = is_tape ? feed_recording(r, path, err) : feed_stream(r, &s, err);
    if (path)
        close(s.fd);
    return (int)e;
}

/* -- output -- */

static int
print_json_line(void *ctx, const struct term_line *line)
{
    struct render *r = ctx;
    cli_line_json(&r->json, line);
    return cli_printer_flush(&r->printer, false);
}

/* The screen's rows, and before them the scrollback's, if asked. */
static int
each_row(struct render *r, bool has_scrollback, term_line_fn fn, void *ctx)
{
    AUTO(term_line) line = { 0 };
    size_t past = term_scrollback_count(r->term), end = past + term_rows(r->term);
    int e = 0;
    for (size_t i = has_scrollback ? 0 : past; i < end && !e; i++) {
        e = term_line_at(r->term, i, &line);
        if (!e)
            e = fn(ctx, &line);
    }
    return e;
}

static int
print_json(struct render *r)
{
    struct json *j = &r->json;
    struct term_cursor cursor = term_cursor(r->term);
    j->out = &r->printer.out;
    json_open(j, '{');
    json_key(j, "cols"), json_u64(j, term_cols(r->term));
    json_key(j, "rows"), json_u64(j, term_rows(r->term));
    json_key(j, "cursor"), json_open(j, '{');
    json_key(j, "row"), json_u64(j, cursor.row);
    json_key(j, "col"), json_u64(j, cursor.col);
    json_key(j, "visible"), json_bool(j, cursor.is_visible);
    json_close(j, '}');
    json_key(j, "title"), json_str(j, term_title(r->term));
    json_key(j, "alternate"), json_bool(j, term_modes(r->term).is_alternate);
    json_key(j, "lines"), json_open(j, '[');
    int e = each_row(r, r->args->has_scrollback, print_json_line, r);
    json_close(j, ']');
    json_key(j, "scrollback_rows"), json_u64(j, term_scrollback_count(r->term));
    json_close(j, '}');
    buf_puts(&r->printer.out, "\n");
    return e;
}

static int
print(struct render *r, struct err *err)
{
    int e;
    if (r->args->format == FORMAT_JSON)
        e = print_json(r);
    else if (r->args->has_scrollback)
        e = term_final_lines(r->term, cli_printer_line, &r->printer);
    else
        e = each_row(r, false, cli_printer_line, &r->printer);
    if (e >= 0)
        e = cli_printer_flush(&r->printer, true);
    if (e == -ENOMEM)
        return err_code(err, e, "cannot print '%s'", r->name);
    return e < 0 ? err_code(err, e, "cannot write to standard output") : 0;
}

/* What is not among the lines that were asked for, and what looks odd in them. */
static void
tell_dropped(const struct render *r)
{
    if (r->has_lf && !r->has_cr)
        cli_say(r->self,
                "'%s' has line feeds and no carriage returns, so that each line begins "
                "where the last one ended; see ahr-render(1)",
                r->name);
    uint64_t rows = term_scrollback_dropped(r->term);
    uint64_t alternate = term_alternate_dropped(r->term);
    if (rows && r->args->has_scrollback)
        cli_say(r->self,
                "'%s': the oldest %" PRIu64 " rows were dropped; see --scrollback-rows",
                r->name, rows);
    if (alternate && r->args->has_scrollback && r->args->format != FORMAT_JSON)
        cli_say(r->self,
                "'%s': the oldest %" PRIu64 " rows of the alternate screen were dropped",
                r->name, alternate);
}

static int
render(struct render *r, const char *path, struct err *err)
{
    cli_progress_begin(&r->progress, r->self, r->name);
    int status = read_all(r, path, err);
    cli_progress_end(&r->progress);
    if (status < 0)
        return status;
    int e = begin(r, err); /* when there was not one byte, or a last size */
    if (e < 0)
        return e;
    e = print(r, err);
    if (e < 0)
        return e;
    tell_dropped(r);
    if (term_error(r->term) < 0)
        return err_code(err, term_error(r->term), "'%s': not all could be kept", r->name);
    return status;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .scrollback_rows = TERM_SCROLLBACK_ROWS };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (e)
        return e;
    if (count > 1)
        return err_set(err, ERR_USAGE,
                       "give one session or file at most; see 'ahr render -h'");
    bool is_stdin = !count || !strcmp(argv[0], "-");
    AUTO(library_found) found = { 0 };
    e = is_stdin ? 0 : cli_find(self, &found, argv[0], err);
    if (e < 0)
        return e;
    struct render r = { .self = self,
                        .args = &args,
                        .printer = { .is_ansi = args.format == FORMAT_ANSI },
                        .name = is_stdin ? "standard input" : argv[0],
                        .cols = args.cols ? (unsigned)args.cols : COLS,
                        .rows = args.rows ? (unsigned)args.rows : ROWS };
    e = render(&r, is_stdin ? NULL : buf_str(&found.tape_path), err);
    if (r.term)
        term_free(r.term);
    cli_printer_release(&r.printer);
    return e;
}

static const struct cli_option options[] = {
    { "cols", 0, CLI_NUMBER, offsetof(struct args, cols), "N",
      "terminal columns (as recorded, else 80)", 1, TERM_COLS_MAX },
    { "rows", 0, CLI_NUMBER, offsetof(struct args, rows), "N",
      "terminal rows (as recorded, else 24)", 1, TERM_ROWS_MAX },
    { "scrollback", 0, CLI_FLAG, offsetof(struct args, has_scrollback), NULL,
      "print what has scrolled off, too", 0, 0 },
    { "scrollback-rows", 0, CLI_NUMBER, offsetof(struct args, scrollback_rows), "N",
      "keep this many rows that scroll off (1000000)", 0, UINT32_MAX },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), "text|ansi|json",
      "plain text, with colours, or JSON (text)", 0, 0 },
    { 0 },
};

const struct cli_command cli_render = {
    "render",
    "[--cols N] [--rows N] [--scrollback] [--scrollback-rows N] "
    "[--format text|ansi|json] [SESSION|FILE|-]",
    "show what a terminal shows after a byte stream or a recording",
    options,
    run,
    false,
};
