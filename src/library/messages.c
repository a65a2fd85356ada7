/* SPDX-License-Identifier: MIT */
#include "library/messages.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "journal/io.h"
#include "play/turns.h"
#include "redact/redact.h"
#include "turn/show.h"

enum { TEXTS_MAX = 1 << 30, MESSAGES_MAX = 512 << 20 };

struct reading {
    struct library_messages messages;
    bool (*counts)(enum turn_type type);
    bool is_wanted;  /* the iteration is known, and no other is taken */
    bool is_open;    /* the last that was sent goes on */
    struct buf room; /* an event as io.log has it */
};

void
library_messages_release(struct library_messages *t)
{
    buf_release(&t->messages);
    buf_release(&t->texts);
    *t = (struct library_messages){ 0 };
}

size_t
library_messages_count(const struct library_messages *t)
{
    return t->messages.n / sizeof(struct library_message);
}

const struct library_message *
library_messages_at(const struct library_messages *t, size_t i)
{
    return (const struct library_message *)(const void *)t->messages.p + i;
}

struct view
library_messages_text(const struct library_messages *t, const struct library_message *m)
{
    return (struct view){ t->texts.p + m->at, m->n };
}

static int
add(struct reading *r, struct library_message m, struct view text)
{
    struct library_messages *t = &r->messages;
    m.at = t->texts.n;
    m.n = text.n;
    t->texts.ceiling = TEXTS_MAX;
    t->messages.ceiling = MESSAGES_MAX;
    buf_append(&t->texts, text.p, text.n);
    buf_append(&t->messages, &m, sizeof(m));
    t->sent += m.is_in;
    t->is_masked |= m.is_in && redact_has_mask(text.p, text.n);
    return t->texts.failed ? t->texts.failed : t->messages.failed;
}

/* It is the rest of the message before it, if nothing came between. */
static bool
join(struct reading *r, struct view text)
{
    struct library_messages *t = &r->messages;
    size_t count = library_messages_count(t);
    struct library_message *last = (struct library_message *)(void *)t->messages.p;
    if (!count || !last[count - 1].is_in)
        return false;
    buf_append(&t->texts, text.p, text.n);
    last[count - 1].n += text.n;
    struct view whole = library_messages_text(t, &last[count - 1]);
    t->is_masked |= redact_has_mask(whole.p, whole.n);
    return true;
}

/* A later iteration takes the place of the one before. */
static bool
enter(struct reading *r, uint64_t iteration)
{
    struct library_messages *t = &r->messages;
    if (iteration == t->iteration)
        return true;
    if (r->is_wanted || iteration < t->iteration)
        return false;
    buf_clear(&t->messages);
    buf_clear(&t->texts);
    t->sent = 0;
    t->is_masked = false;
    t->iteration = iteration;
    return true;
}

/* A journal_io_fn. */
static int
take_entry(void *ctx, const struct journal_io_entry *e)
{
    struct reading *r = ctx;
    struct library_message m = { .is_in = e->direction == JOURNAL_IN, .ts_ns = e->ts_ns };
    static const char user[] = "\"role\":\"user\"", stump[] = "\"interrupted\":true",
                      open[] = "\"open\":true";
    if (e->direction == JOURNAL_ARTIFACT || e->is_stderr || e->is_partial ||
        !enter(r, e->iteration))
        return 0;
    int type = e->type ? turn_type_of(
                             (struct view){ (const uint8_t *)e->type, strlen(e->type) })
                       : TURN_TEXT;
    bool is_none = e->more.n && (memmem(e->more.p, e->more.n, user, sizeof(user) - 1) ||
                                 memmem(e->more.p, e->more.n, stump, sizeof(stump) - 1));
    bool was_open = r->is_open;
    r->is_open = m.is_in && e->more.n &&
                 memmem(e->more.p, e->more.n, open, sizeof(open) - 1);
    if (m.is_in && was_open && join(r, e->content))
        return r->messages.texts.failed;
    if (!m.is_in && (is_none || type < 0 || !r->counts((enum turn_type)type)))
        return 0;
    m.type = m.is_in ? TURN_TEXT : (enum turn_type)type;
    return add(r, m, e->content);
}

/* A play_turn_fn. */
static int
take_event(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct reading *r = ctx;
    struct library_message m = { .is_in = e->type == TURN_TEXT && e->is_user,
                                 .type = e->type,
                                 .ts_ns = at->ts_ns };
    if (e->is_partial || at->is_aside || !enter(r, at->iteration))
        return 0;
    if (!m.is_in && (e->was_cut_off || !r->counts(e->type)))
        return 0;
    return add(r, m, turn_show_content(e, &r->room));
}

static void
note_bad(void *ctx, uint64_t line)
{
    struct session_unread *u = &((struct reading *)ctx)->messages.unread;
    u->first = u->lines++ ? u->first : line;
}

static int
read_events(struct reading *r, const char *path, struct err *err)
{
    const struct play_turns_options opt = {
        .has_asides = true, .fn = take_event, .bad = note_bad, .ctx = r
    };
    int e = path ? play_turns_read(path, &opt, err) : 0;
    r->messages.is_cut |= e == ERR_DAMAGED;
    return e == ERR_MISSING || e == ERR_DAMAGED ? 0 : e;
}

static int
read_log(struct reading *r, const char *project, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (!project || buf_printf(&path, "%s/io.log", project) < 0)
        return 0;
    int e = journal_io_each(buf_str(&path), take_entry, r, &r->messages.unread, err);
    r->messages.is_cut |= e == ERR_DAMAGED;
    return e == ERR_MISSING || e == ERR_DAMAGED ? 0 : e;
}

/* A play_turn_fn: of which iteration the last events are. */
static int
note_iteration(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    uint64_t *last = ctx;
    if (!e->is_partial && at->iteration > *last)
        *last = at->iteration;
    return 0;
}

static int
find_iteration(const char *path, uint64_t *ret, struct err *err)
{
    const struct play_turns_options opt = { .fn = note_iteration, .ctx = ret };
    int e = path ? play_turns_read(path, &opt, err) : 0;
    return e == ERR_MISSING || e == ERR_DAMAGED ? 0 : e;
}

/* The folder may have runs of the same name before and after it: the events tell which
 * iterations are this session's. What they say themselves is kept only where the log has
 * nothing, or breaks off and has less. */
static int
read_either(struct reading *r, const char *project, const char *turns_path,
            struct err *err)
{
    uint64_t last = 0;
    int e = project ? find_iteration(turns_path, &last, err) : 0;
    r->messages.iteration = last;
    r->is_wanted = last;
    if (!e)
        e = read_log(r, project, err);
    if (e < 0 || (library_messages_count(&r->messages) && !r->messages.is_cut))
        return e;
    struct reading events = { .counts = r->counts };
    e = read_events(&events, turns_path, err);
    bool is_better = !e && (events.messages.sent >= r->messages.sent);
    library_messages_release(is_better ? &r->messages : &events.messages);
    if (is_better)
        r->messages = events.messages;
    buf_release(&events.room);
    return e;
}

int
library_messages_read(struct library_messages *ret, const char *project,
                      const char *turns_path, bool (*counts)(enum turn_type type),
                      struct err *err)
{
    struct reading r = { .counts = counts };
    int e = read_either(&r, project, turns_path, err);
    if (e < 0)
        library_messages_release(&r.messages);
    else
        *ret = r.messages;
    buf_release(&r.room);
    if (e == ERR_LIMIT)
        return err_set(err, e, "what was said in it is more than 1 GiB");
    return e < 0 && !err->code ? err_code(err, e, "cannot read what was said") : e;
}
