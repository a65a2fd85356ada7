/* SPDX-License-Identifier: MIT */
/*
 * ahr pack: makes a recording from a byte stream, as if it had come from a PTY.
 *
 * Without --rate each piece is stamped when it is read. With --rate the stamps are made
 * up, as if that many bytes had come each second, and nothing waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/uuid.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "tape/writer.h"

enum {
    PIECE_MAX = 64 << 10,  /* one turn's read */
    PIECES_PER_SECOND = 20 /* of made-up time */
};

struct args {
    uint64_t cols, rows, rate, block_kib, block_ms, quality;
    int sync;
    const char *output;
};

struct pack {
    const struct cli_command *self;
    struct tape_writer *writer;
    struct clock clock;
    int64_t clock_base_ns;
    uint64_t rate, bytes;
    sigset_t signal_mask;
};

static uint64_t
now_ns(const struct pack *p)
{
    if (!p->rate)
        return clock_now_ns(&p->clock);
    /* Whole seconds apart, so that it does not overflow. */
    return p->clock.real_ns + p->bytes / p->rate * 1000000000 +
           p->bytes % p->rate * 1000000000 / p->rate;
}

static void
tell_trouble(struct pack *p)
{
    struct err trouble;
    if (tape_writer_trouble(p->writer, &trouble))
        cli_say(p->self, "%s%s", trouble.text,
                trouble.code == -ESTALE ? ""
                                        : "; going on, up to 8 MiB are kept in memory");
}

/* -- being stopped: the recording is finished all the same -- */

static const int stop_signals[] = { SIGHUP, SIGINT, SIGTERM };
static volatile sig_atomic_t stopped_by;

static void
note_signal(int number)
{
    stopped_by = number;
}

/* From here on the signals that ask us to stop arrive only inside ppoll with *ret_mask.
 */
static void
catch_signals(sigset_t *ret_mask)
{
    struct sigaction now, act = { .sa_handler = note_signal };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++) {
        sigaction(stop_signals[i], NULL, &now);
        if (now.sa_handler == SIG_IGN) /* as under nohup */
            continue;
        sigaction(stop_signals[i], &act, NULL);
        sigaddset(&set, stop_signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, ret_mask);
}

/* A signal that waits while ppoll finds input each time. */
static bool
is_stopped(void)
{
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; !stopped_by && i < sizeof(stop_signals) / sizeof(stop_signals[0]);
         i++)
        if (sigismember(&pending, stop_signals[i]) == 1)
            stopped_by = stop_signals[i];
    return stopped_by;
}

/* Waits for input, sealing the open block when its time is up. False: a signal stops us.
 */
static bool
wait_for_input(struct pack *p, int fd)
{
    while (!is_stopped()) {
        /* Made-up time stands still meanwhile. */
        uint64_t due = p->rate ? UINT64_MAX : tape_writer_due_ns(p->writer),
                 now = now_ns(p);
        uint64_t ns = due <= now ? 0 : due - now;
        struct timespec left = { .tv_sec = (time_t)(ns / 1000000000),
                                 .tv_nsec = (long)(ns % 1000000000) };
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        int n = ppoll(&pfd, 1, due == UINT64_MAX ? NULL : &left, &p->signal_mask);
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;
        tape_writer_tick(p->writer, now_ns(p));
        tell_trouble(p);
    }
    return false;
}

static void
append(struct pack *p, const uint8_t *bytes, size_t n)
{
    int64_t step_ns = p->rate ? 0 : clock_step_ns(&p->clock, &p->clock_base_ns);
    uint64_t ts_ns = now_ns(p);
    if (step_ns)
        tape_writer_append(p->writer,
                           (struct tape_record){ .tag = TAPE_MARK,
                                                 .ts_ns = ts_ns,
                                                 .code = TAPE_MARK_CLOCK,
                                                 .val = (uint32_t)(step_ns / 1000000) });
    tape_writer_append(p->writer,
                       (struct tape_record){ .ts_ns = ts_ns, .bytes = { bytes, n } });
    p->bytes += n;
    tell_trouble(p);
}

static size_t
piece_size(const struct pack *p)
{
    uint64_t n = p->rate / PIECES_PER_SECOND;
    if (!p->rate || n > PIECE_MAX)
        return PIECE_MAX;
    return n ? (size_t)n : 1;
}

static int
copy(struct pack *p, int fd, const char *name, struct err *err)
{
    static uint8_t chunk[PIECE_MAX];
    struct cli_progress progress;
    size_t piece = piece_size(p);
    ssize_t n;
    cli_progress_begin(&progress, p->self, name);
    do {
        n = wait_for_input(p, fd) ? file_read(fd, chunk, sizeof(chunk)) : 0;
        for (ssize_t at = 0; at < n; at += (ssize_t)piece)
            append(p, chunk + at, (size_t)(n - at) < piece ? (size_t)(n - at) : piece);
        cli_progress_step(&progress, p->bytes, 0);
    } while (n > 0);
    cli_progress_end(&progress);
    return n < 0 ? err_code(err, (int)n, "cannot read '%s'", name) : 0;
}

static int
finish(struct pack *p, const char *output, struct err *err)
{
    struct tape_writer_status st;
    int r = tape_writer_finish(p->writer, now_ns(p), &st, err);
    uint64_t lost = st.dropped_bytes + st.unsaved_bytes;
    if (r < 0)
        cli_say(p->self, "%s", err->text);
    if (st.trouble.code)
        cli_say(p->self, "%s", st.trouble.text);
    if (st.is_suspect)
        cli_say(p->self, "a sync failed: '%s' may not survive a loss of power", output);
    if (lost)
        cli_say(p->self, "%" PRIu64 " of %" PRIu64 " bytes could not be written", lost,
                st.byte_off);
    if (r < 0 && r != -ESTALE)
        cli_say(p->self, "when there is room again, 'ahr recover %s' saves the rest",
                output);
    return r < 0 || lost ? CLI_FAILED : CLI_DONE;
}

static int
pack(const struct cli_command *self, const struct args *args, int fd, const char *name,
     struct err *err)
{
    struct pack p = { .self = self, .rate = args->rate };
    clock_start(&p.clock);
    struct tape_writer_options opt = tape_writer_defaults;
    opt.quality = (int)args->quality;
    opt.block_bytes = args->block_kib << 10;
    opt.block_ns = args->block_ms * 1000000;
    opt.sync = (enum tape_sync)args->sync;
    opt.start_ts_ns = p.clock.real_ns;
    opt.cols = (uint16_t)args->cols;
    opt.rows = (uint16_t)args->rows;
    int r = uuid_make(opt.session_id);
    if (r < 0)
        return err_code(err, r, "cannot make a session id");
    /* Before there is a file that somebody could wait for. */
    catch_signals(&p.signal_mask);
    r = tape_writer_open(&p.writer, tape_io_files(), args->output, &opt, err);
    if (r < 0)
        return r;
    r = copy(&p, fd, name, err);
    if (r < 0)
        cli_say(self, "%s; what came before it is kept", err->text);
    int done = finish(&p, args->output, err);
    if (stopped_by && !done)
        return 128 + stopped_by;
    return r < 0 ? CLI_FAILED : done;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    const struct tape_writer_options *d = &tape_writer_defaults;
    struct args args = { .cols = d->cols,
                         .rows = d->rows,
                         .block_kib = d->block_bytes >> 10,
                         .block_ms = d->block_ns / 1000000,
                         .quality = (uint64_t)d->quality,
                         .sync = (int)d->sync };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count > 1)
        return err_set(err, ERR_USAGE, "give one input at most; see 'ahr pack -h'");
    if (!args.output || !*args.output)
        return err_set(err, ERR_USAGE, "where to? give -o FILE.ahr");
    if (!strcmp(args.output, "-"))
        return err_set(err, ERR_USAGE,
                       "a recording cannot go to standard output: give a file");
    const char *input = count && strcmp(argv[0], "-") != 0 ? argv[0] : NULL;
    int fd = input ? open(input, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", input);
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) /* before anything is made */
        return err_code(err, -EISDIR, "cannot read '%s'",
                        input ? input : "standard input");
    r = pack(self, &args, fd, input ? input : "standard input", err);
    if (input)
        close(fd);
    return r;
}

static const struct cli_option options[] = {
    { "output", 'o', CLI_TEXT, offsetof(struct args, output), "FILE.ahr",
      "the recording to make; it must not exist", 0, 0 },
    { "cols", 0, CLI_NUMBER, offsetof(struct args, cols), "N", "terminal columns (80)", 1,
      65535 },
    { "rows", 0, CLI_NUMBER, offsetof(struct args, rows), "N", "terminal rows (24)", 1,
      65535 },
    { "rate", 0, CLI_NUMBER, offsetof(struct args, rate), "BYTES_PER_S",
      "stamp as if this much had come each second", 1, 10000000000 },
    { "block-kib", 0, CLI_NUMBER, offsetof(struct args, block_kib), "N",
      "seal a block at this many KiB of records (256)", 1, 8192 },
    { "block-ms", 0, CLI_NUMBER, offsetof(struct args, block_ms), "N",
      "… or this many ms after its first (10000)", 1, 3600000 },
    { "brotli-q", 0, CLI_NUMBER, offsetof(struct args, quality), "N",
      "compression, 0 to 11 (4)", 0, 11 },
    { "sync", 0, CLI_CHOICE, offsetof(struct args, sync), "none|interval|block|always",
      "when to wait for the disk (interval: each second)", 0, 0 },
    { 0 },
};

const struct cli_command cli_pack = {
    "pack",
    "[--cols N --rows N] [--rate BYTES_PER_S] [--block-kib N] [--block-ms N] [--brotli-q "
    "N] "
    "[--sync none|interval|block|always] -o FILE.ahr [INPUT]",
    "make a recording from a byte stream, as if it had come from a terminal",
    options,
    run,
    false,
};
