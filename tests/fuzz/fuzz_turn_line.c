/* SPDX-License-Identifier: MIT */
/* Whatever line is read: written again it is one line of valid JSON, and says the same.
 */
#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "turn/line.h"

static bool
is_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

static void
check_same(const struct turn_event *a, const struct turn_event *b)
{
    CHECK(a->type == b->type && a->is_user == b->is_user && a->is_error == b->is_error);
    CHECK(a->was_cut_off == b->was_cut_off && !a->is_partial && !b->is_partial);
    CHECK(is_same(a->id, b->id) && is_same(a->parent, b->parent));
    CHECK(is_same(a->message, b->message));
    CHECK(is_same(a->name, b->name) && is_same(a->text, b->text));
    CHECK(is_same(a->json, b->json) && is_same(a->model, b->model));
    CHECK(is_same(a->cwd, b->cwd) && is_same(a->signal, b->signal));
    CHECK(!memcmp(&a->usage, &b->usage, sizeof(a->usage)));
    CHECK(!memcmp(&a->total, &b->total, sizeof(a->total)));
    CHECK(a->duration_ms == b->duration_ms && a->turns == b->turns);
    CHECK(a->cost_microusd == b->cost_microusd && a->exit_code == b->exit_code);
}

static void
check_line(const struct buf *line)
{
    struct json_in in = { .p = line->p, .end = line->p + line->n };
    CHECK(!line->failed && memchr(line->p, '\n', line->n) == line->p + line->n - 1);
    CHECK(utf8_is_text(line->p, line->n));
    CHECK(json_in_skip(&in) && !in.is_odd && in.p + 1 == in.end);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) texts = { 0 };
    AUTO(buf) again = { 0 };
    AUTO(buf) line = { 0 };
    struct turn_event e, f;
    struct turn_stamp at, then;
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = turn_line_read(in, &texts, &e, &at);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (r)
        return 0;
    turn_line(&e, &at, &line);
    check_line(&line);
    CHECK(turn_line_read((struct view){ line.p, line.n }, &again, &f, &then) == 0);
    check_same(&e, &f);
    CHECK(at.ts_ns == then.ts_ns && at.start_ns == then.start_ns);
    CHECK(at.iteration == then.iteration && at.call == then.call);
    CHECK(at.has_anchor == then.has_anchor && at.anchor_byte == then.anchor_byte);
    return 0;
}
