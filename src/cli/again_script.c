/* SPDX-License-Identifier: MIT */
/* again_script.c -- the messages that a run is sent once more, and its answers held
 * against the recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/again.h"
#include "cli/recall.h"
#include "cli/report.h"
#include "play/classes.h"
#include "play/edits.h"
#include "turn/clean.h"
#include "turn/event.h"

enum { HEARD_MAX = 1 << 30, EXCERPT = 120 };

/* -- what it is sent -- */

/* A message as an agent that reads lines of JSON has it. */
static void
put_json(struct buf *out, struct view text)
{
    struct json j = { .out = out };
    json_open(&j, '{');
    json_key(&j, "type"), json_str(&j, "user");
    json_key(&j, "message"), json_open(&j, '{');
    json_key(&j, "role"), json_str(&j, "user");
    json_key(&j, "content"), json_open(&j, '[');
    json_open(&j, '{');
    json_key(&j, "type"), json_str(&j, "text");
    json_key(&j, "text"), json_bytes(&j, text);
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, '}');
}

/* Texts of ours are found by their place until all are known. */
static int
say(struct cli_again *a, struct view text, uint64_t heard, bool is_json)
{
    struct run_said said = { .text = text, .heard = heard };
    if (is_json) {
        size_t at = a->said_texts.n;
        a->said_texts.ceiling = HEARD_MAX;
        put_json(&a->said_texts, text);
        said.text = (struct view){ NULL, a->said_texts.n - at };
    }
    buf_append(&a->said, &said, sizeof(said));
    return a->said.failed ? a->said.failed : a->said_texts.failed;
}

static void
place_texts(struct cli_again *a)
{
    struct run_said *said = (void *)a->said.p;
    const uint8_t *at = a->said_texts.p;
    for (size_t i = 0; i < a->said.n / sizeof(*said); i++)
        if (!said[i].text.p && said[i].text.n) {
            said[i].text.p = at;
            at += said[i].text.n;
        }
}

/* Does the new command have its first message by its words? */
static bool
is_prompted(const struct cli_again *a)
{
    return turn_prompt(cli_recall_count(a->argv), (const char *const *)a->argv).from ==
           TURN_PROMPT_ARG;
}

/* Goes over the messages that are sent, and the answers that are wanted: what comes
 * before the first that is sent is no answer to it, nor is what comes behind the last. */
struct part {
    const struct cli_again *a;
    size_t next;
    uint64_t sent; /* messages of the recording so far, the one at hand included */
};

static const struct library_message *
part_next(struct part *p)
{
    const struct cli_again *a = p->a;
    uint64_t from = a->args->from > 1 ? a->args->from : 0;
    while (p->next < library_messages_count(&a->messages)) {
        const struct library_message *m = library_messages_at(&a->messages, p->next++);
        p->sent += m->is_in;
        if (p->sent > a->turns)
            return NULL;
        if (p->sent >= from && !(m->is_in && p->sent <= a->prompted))
            return m;
    }
    return NULL;
}

static struct view
view_of(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

/* What the user has to say comes behind it. */
static int
say_recorded(struct cli_again *a, bool is_json)
{
    const char *prompt = a->args->prompt;
    uint64_t heard = 0;
    int r = 0;
    a->prompted = is_prompted(a);
    struct part p = { .a = a };
    for (const struct library_message *m; !r && (m = part_next(&p));)
        if (m->is_in)
            r = say(a, library_messages_text(&a->messages, m), heard, is_json);
        else
            heard++;
    a->heard = heard;
    return r || !prompt ? r : say(a, view_of(prompt), heard, is_json);
}

int
cli_again_script(struct cli_again *a, struct err *err)
{
    enum turn_prompt_from from =
        turn_prompt(cli_recall_count(a->argv), (const char *const *)a->argv).from;
    bool is_json = from == TURN_PROMPT_LINES;
    int r = a->how == CLI_HOW_REPLAY ? say_recorded(a, is_json) : 0;
    if (!r && a->context.n)
        r = say(a, (struct view){ a->context.p, a->context.n }, 0, is_json);
    if (r < 0)
        return err_code(err, r, "cannot send the messages of %s", buf_str(&a->called));
    place_texts(a);
    return 0;
}

/* -- what it answers -- */

struct cli_verify {
    struct cli_again *a;
    struct buf wanted;       /* of the recording: struct view, each behind its type */
    struct buf heard, texts; /* size_t: where each begins, its type before it */
    uint64_t count;
    int failed;
};

static void
put_key(struct buf *out, enum turn_type type, struct view text)
{
    buf_puts(out, turn_type_name(type));
    buf_puts(out, "\n");
    buf_append(out, text.p, text.n);
}

struct cli_verify *
cli_verify_new(struct cli_again *a)
{
    struct cli_verify *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->a = a;
    v->texts.ceiling = HEARD_MAX;
    struct part p = { .a = a };
    for (const struct library_message *m; (m = part_next(&p));)
        if (!m->is_in)
            buf_append(&v->wanted, &m, sizeof(m));
    v->failed = v->wanted.failed;
    return v;
}

void
cli_verify_free(struct cli_verify *v)
{
    if (!v)
        return;
    buf_release(&v->wanted);
    buf_release(&v->heard);
    buf_release(&v->texts);
    free(v);
}

static size_t
wanted_count(const struct cli_verify *v)
{
    return v->wanted.n / sizeof(struct library_message *);
}

static const struct library_message *
wanted_at(const struct cli_verify *v, size_t i)
{
    const struct library_message *m;
    memcpy(&m, v->wanted.p + i * sizeof(m), sizeof(m));
    return m;
}

bool
cli_verify_hear(void *ctx, enum turn_type type, struct view content)
{
    struct cli_verify *v = ctx;
    size_t at = v->texts.n;
    const struct library_message *m = v->count < wanted_count(v)
                                          ? wanted_at(v, (size_t)v->count)
                                          : NULL;
    struct view want = m ? library_messages_text(&v->a->messages, m) : (struct view){ 0 };
    v->count++;
    if (v->a->args->is_verified) {
        put_key(&v->texts, type, content);
        buf_append(&v->heard, &at, sizeof(at));
        v->failed = v->texts.failed ? v->texts.failed : v->heard.failed;
    }
    return m && m->type == type && want.n == content.n &&
           (!want.n || !memcmp(want.p, content.p, want.n));
}

/* -- the two, one against the other -- */

struct both {
    struct buf recorded; /* texts of `wanted`, each behind its type */
    struct buf keys;     /* struct view: those, then what was heard */
    struct buf numbers;  /* uint32_t: which of them are the same */
    struct buf kinds;    /* … and of one kind, all of them */
    size_t na, nb;
};

static void
both_release(struct both *b)
{
    buf_release(&b->recorded);
    buf_release(&b->keys);
    buf_release(&b->numbers);
    buf_release(&b->kinds);
}

static struct view *
key_at(const struct both *b, size_t i)
{
    return (struct view *)(void *)b->keys.p + i;
}

static uint32_t *
numbers_of(const struct buf *b)
{
    return (uint32_t *)(void *)b->p;
}

static int
make_room(struct both *b)
{
    size_t n = b->na + b->nb + 1;
    struct buf *all[] = { &b->recorded, &b->keys, &b->numbers, &b->kinds };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i]->ceiling = HEARD_MAX;
    if (!buf_grow(&b->keys, n * sizeof(struct view)) ||
        !buf_grow(&b->numbers, n * sizeof(uint32_t)) ||
        !buf_grow(&b->kinds, n * sizeof(uint32_t)))
        return -ENOMEM;
    memset(b->kinds.p, 0, b->kinds.n);
    return 0;
}

static int
gather(const struct cli_verify *v, struct both *b)
{
    b->na = wanted_count(v);
    b->nb = v->heard.n / sizeof(size_t);
    int r = make_room(b);
    if (r < 0)
        return r;
    for (size_t i = 0; i < b->na; i++) {
        const struct library_message *m = wanted_at(v, i);
        size_t at = b->recorded.n;
        put_key(&b->recorded, m->type, library_messages_text(&v->a->messages, m));
        *key_at(b, i) = (struct view){ NULL, b->recorded.n - at };
    }
    for (size_t i = 0, at = 0; i < b->na; at += key_at(b, i++)->n)
        key_at(b, i)->p = b->recorded.p + at;
    for (size_t i = 0; i < b->nb; i++) {
        size_t at, end = v->texts.n;
        memcpy(&at, v->heard.p + i * sizeof(at), sizeof(at));
        if (i + 1 < b->nb)
            memcpy(&end, v->heard.p + (i + 1) * sizeof(end), sizeof(end));
        *key_at(b, b->na + i) = (struct view){ v->texts.p + at, end - at };
    }
    return b->recorded.failed;
}

/* A difference, but for what comes behind the recording's last: that was cut off. */
static bool
is_counted(const struct play_edit *e, size_t na, size_t seen)
{
    return e->kind != PLAY_SAME && e->kind != PLAY_MOVED_AWAY &&
           !(e->kind == PLAY_INSERTED && seen == na);
}

static void
put_excerpt(struct buf *out, struct view key)
{
    AUTO(buf) clean = { 0 };
    const uint8_t *end = memchr(key.p, '\n', key.n);
    size_t type = end ? (size_t)(end - key.p) + 1 : 0;
    struct view text = { key.p + type, key.n - type };
    text.n = text.n < EXCERPT ? text.n : EXCERPT;
    turn_clean(text, &clean);
    for (size_t i = 0; i < clean.n; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    buf_puts(out, "'");
    buf_append(out, clean.p, clean.n);
    buf_puts(out, key.n - type > EXCERPT ? " …'" : "'");
}

static void
tell_first(const struct cli_verify *v, const struct both *b, const struct play_edit *e)
{
    AUTO(buf) text = { 0 };
    size_t number = e->a != PLAY_NO_ITEM ? e->a + (size_t)1 : e->b + (size_t)1;
    buf_printf(&text, "the first is answer %zu: ", number);
    if (e->a != PLAY_NO_ITEM) {
        buf_puts(&text, "recorded ");
        put_excerpt(&text, *key_at(b, e->a));
    }
    if (e->b != PLAY_NO_ITEM) {
        buf_puts(&text, e->a != PLAY_NO_ITEM ? ", now " : "not recorded, now ");
        put_excerpt(&text, *key_at(b, b->na + e->b));
    } else {
        buf_puts(&text, ", now missing");
    }
    cli_say(v->a->self, "%s", buf_str(&text));
}

static uint64_t
tell_edits(const struct cli_verify *v, const struct both *b, const struct play_edits *e)
{
    AUTO(buf) counts = { 0 };
    const struct play_edit *first = NULL;
    uint64_t n = 0;
    size_t seen = 0;
    for (size_t i = 0; i < play_edits_count(e); i++) {
        const struct play_edit *edit = play_edit_at(e, i);
        bool is_one = is_counted(edit, b->na, seen);
        seen += edit->a != PLAY_NO_ITEM && edit->kind != PLAY_MOVED_HERE;
        first = is_one && !first ? edit : first;
        n += is_one;
    }
    cli_count(&counts, n, "difference");
    buf_puts(&counts, " in ");
    cli_count(&counts, b->na, "recorded answer");
    if (n || !v->a->args->is_quiet)
        cli_say(v->a->self, "%s", buf_str(&counts));
    if (first)
        tell_first(v, b, first);
    return n;
}

uint64_t
cli_verify_tell(struct cli_verify *v)
{
    AUTO(both) b = { 0 };
    AUTO(play_edits) edits = { 0 };
    uint64_t n = 1;
    int64_t numbers = v->failed ? v->failed : gather(v, &b);
    uint32_t *same = numbers_of(&b.numbers), *kind = numbers_of(&b.kinds);
    if (!numbers)
        numbers = play_classes(key_at(&b, 0), b.na + b.nb, same);
    int r = numbers < 0 ? (int)numbers : 0;
    if (!r) {
        const struct play_align in = { same, same + b.na, b.na, b.nb, (size_t)numbers };
        const struct play_kinds kinds = { kind, kind + b.na, 1 };
        r = play_edits_make(&in, &kinds, &edits);
    }
    if (!r)
        n = tell_edits(v, &b, &edits);
    else
        cli_say(v->a->self, "the answers could not be compared: %s",
                r == ERR_LIMIT ? "there are too many" : "out of memory");
    return n;
}
