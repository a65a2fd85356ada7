/* SPDX-License-Identifier: MIT */
#include "redact/engine_priv.h"

#include <errno.h>
#include <hs_runtime.h>
#include <stdlib.h>

#include "redact/redact.h"

/* The shapes are loaded when they are first asked: most streams hold nothing that looks
 * like a secret, and the larger databases would take most of the time to open. */
struct engine {
    const struct pack *pack;                    /* borrowed */
    hs_database_t *leads, *shapes[PACK_SHAPES]; /* NULL: none, or not loaded */
    hs_scratch_t *scratch;
};

struct engine_stream {
    struct engine *engine; /* borrowed */
    hs_stream_t *state;    /* NULL: no leads to look for */
};

static int
code(hs_error_t e)
{
    return e == HS_SUCCESS ? 0 : e == HS_NOMEM ? -ENOMEM : ERR_DAMAGED;
}

static int
load(hs_database_t **ret, hs_scratch_t **scratch, struct view bytes)
{
    if (!bytes.n || *ret)
        return 0;
    hs_database_t *db;
    hs_error_t e = hs_deserialize_database((const char *)bytes.p, bytes.n, &db);
    if (e != HS_SUCCESS)
        return code(e);
    e = hs_alloc_scratch(db, scratch);
    if (e != HS_SUCCESS)
        hs_free_database(db);
    else
        *ret = db;
    return code(e);
}

int
engine_open(struct engine **ret, const struct pack *pack)
{
    struct engine *e = calloc(1, sizeof(*e));
    if (!e)
        return -ENOMEM;
    e->pack = pack;
    int r = load(&e->leads, &e->scratch, pack->lead_db);
    if (r) {
        engine_close(e);
        return r;
    }
    *ret = e;
    return 0;
}

int
engine_load(struct engine *e)
{
    int r = 0;
    for (size_t i = 0; !r && i < PACK_SHAPES; i++)
        r = load(&e->shapes[i], &e->scratch, e->pack->shape_dbs[i]);
    return r;
}

void
engine_close(struct engine *e)
{
    if (!e)
        return;
    hs_free_scratch(e->scratch);
    hs_free_database(e->leads);
    for (size_t i = 0; i < PACK_SHAPES; i++)
        hs_free_database(e->shapes[i]);
    free(e);
}

size_t
engine_size_bytes(const struct engine *e)
{
    size_t sum = 0, n;
    if (e->leads && hs_database_size(e->leads, &n) == HS_SUCCESS)
        sum += n;
    for (size_t i = 0; i < PACK_SHAPES; i++)
        if (e->shapes[i] && hs_database_size(e->shapes[i], &n) == HS_SUCCESS)
            sum += n;
    if (e->scratch && hs_scratch_size(e->scratch, &n) == HS_SUCCESS)
        sum += n;
    return sum;
}

int
engine_stream_new(struct engine_stream **ret, struct engine *e)
{
    struct engine_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->engine = e;
    int r = e->leads ? code(hs_open_stream(e->leads, 0, &s->state)) : 0;
    if (r) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void
engine_stream_free(struct engine_stream *s)
{
    if (!s)
        return;
    hs_close_stream(s->state, s->engine->scratch, NULL, NULL);
    free(s);
}

int
engine_stream_reset(struct engine_stream *s)
{
    if (!s->state)
        return 0;
    return code(hs_reset_stream(s->state, 0, s->engine->scratch, NULL, NULL));
}

struct lead_call {
    engine_lead_fn fn;
    void *ctx;
    size_t n_leads;
};

static int
on_lead(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
        void *ctx)
{
    const struct lead_call *call = ctx;
    (void)from, (void)flags;
    if (id < call->n_leads)
        call->fn(call->ctx, id, to);
    return 0;
}

int
engine_stream_scan(struct engine_stream *s, struct view text, engine_lead_fn fn,
                   void *ctx)
{
    if (!s->state || !text.n)
        return 0;
    struct lead_call call = { fn, ctx, s->engine->pack->n_leads };
    return code(hs_scan_stream(s->state, (const char *)text.p, (unsigned)text.n, 0,
                               s->engine->scratch, on_lead, &call));
}

struct shape_call {
    uint32_t *ends;
    size_t n_rules;
};

static int
on_shape(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
         void *ctx)
{
    const struct shape_call *call = ctx;
    (void)from, (void)flags;
    if (id < call->n_rules && to > call->ends[id])
        call->ends[id] = (uint32_t)to;
    return 0;
}

int
engine_shapes(struct engine *e, enum pack_shapes which, struct view text, uint32_t *ends)
{
    int r = load(&e->shapes[which], &e->scratch, e->pack->shape_dbs[which]);
    if (r || !e->shapes[which] || !text.n)
        return r;
    struct shape_call call = { ends, e->pack->n_rules };
    return code(hs_scan(e->shapes[which], (const char *)text.p, (unsigned)text.n, 0,
                        e->scratch, on_shape, &call));
}

const char *
redact_engine_version(void)
{
    return hs_version();
}
