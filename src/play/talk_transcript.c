/* SPDX-License-Identifier: MIT */
/* talk_transcript.c -- a run's conversation as a transcript for Entire. */
#include "play/talk.h"
#include "turn/transcript.h"

struct writing {
    const struct play_talk_options *opt;
    const char *session;
    play_write_fn write;
    void *ctx;
    struct turn_transcript *transcript;
    struct play_turns_mask masked;
    uint64_t number, last_ns;
    bool is_stopped;
};

/* -- what the transcript asks for -- */

static void
make_uuid(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE])
{
    const struct writing *w = ctx;
    turn_transcript_uuid(w->session, number, ret);
}

static int
write_line(void *ctx, struct view line)
{
    struct writing *w = ctx;
    int r = w->write(w->ctx, line);
    w->is_stopped = r < 0;
    return r;
}

/* -- the events -- */

/* A play_turn_fn. */
static int
take_turn(void *ctx, const struct turn_event *given, const struct turn_stamp *at)
{
    struct writing *w = ctx;
    struct turn_event e = *given;
    w->number = turn_transcript_number(w->number, at->ts_ns);
    w->last_ns = at->ts_ns;
    if (w->opt->turn)
        w->opt->turn(w->opt->ctx, given);
    if (at->is_aside)
        return 0;
    int r = w->opt->redact ? play_turns_mask(w->opt->redact, &e, &w->masked) : 0;
    return r < 0 ? r : turn_transcript_add(w->transcript, &e, w->number, at->ts_ns);
}

/* A play_turns_bad_fn. */
static void
take_bad(void *ctx, uint64_t line)
{
    struct writing *w = ctx;
    if (w->opt->bad)
        w->opt->bad(w->opt->ctx, line);
}

int
play_transcript(const char *path, const struct play_transcript *about,
                const struct play_talk_options *opt, play_write_fn write, void *ctx,
                struct err *err)
{
    struct writing w = {
        .opt = opt, .session = about->session, .write = write, .ctx = ctx
    };
    const struct turn_transcript_options own = {
        .session = about->session,
        .version = AHR_VERSION,
        .cwd = about->cwd,
        .git_branch = about->git_branch,
        .model = about->model,
        .uuid = make_uuid,
        .line = write_line,
        .ctx = &w,
    };
    const struct play_turns_options turns = { .is_growing = opt->is_growing,
                                              .has_asides = true,
                                              .fn = take_turn,
                                              .bad = take_bad,
                                              .ctx = &w };
    int r = turn_transcript_new(&w.transcript, &own);
    if (r < 0)
        return err_code(err, r, "cannot make the transcript");
    r = play_turns_read(path, &turns, err);
    bool is_cut = r == ERR_DAMAGED; /* what there was is told to its end */
    if (!r || is_cut) {
        r = turn_transcript_end(w.transcript, w.last_ns, about->has_ended);
        if (r < 0 && !w.is_stopped)
            err_code(err, r, "cannot make the transcript");
        r = !r && is_cut ? ERR_DAMAGED : r;
    }
    turn_transcript_free(w.transcript);
    play_turns_mask_release(&w.masked);
    return r;
}
