/* SPDX-License-Identifier: MIT */
#include "redact/pack_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/le.h"

/* Changes with every change of the layout or of what a field means. */
static const char magic[8] = "AHRPACK2";

enum { COUNT_MAX = 1 << 16 };

/* FNV-1a. */
static uint64_t
sum_of(struct view v)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ v.p[i]) * 0x100000001b3;
    return h;
}

const char *const pack_check_names[PACK_CHECKS] = {
    [PACK_CHECK_NONE] = "none",     [PACK_CHECK_CRC32_BASE62] = "crc32-base62",
    [PACK_CHECK_BECH32] = "bech32", [PACK_CHECK_CRC16_BASE32] = "crc16-base32",
    [PACK_CHECK_JWT] = "jwt",       [PACK_CHECK_PASSWORD] = "password",
    [PACK_CHECK_SECRET] = "secret",
};

/* -- writing -- */

static void
put_u32(struct buf *out, size_t v)
{
    uint8_t b[4];
    put_le32(b, (uint32_t)v);
    buf_append(out, b, sizeof(b));
}

/* Its length, then the bytes and a NUL. */
static void
put_str(struct buf *out, const char *s)
{
    put_u32(out, strlen(s));
    buf_append(out, s, strlen(s) + 1);
}

static void
put_strs(struct buf *out, const char *const *v, size_t n)
{
    put_u32(out, n);
    for (size_t i = 0; i < n; i++)
        put_str(out, v[i]);
}

static void
put_bytes(struct buf *out, struct view v)
{
    put_u32(out, v.n);
    buf_append(out, v.p, v.n);
}

int
pack_write(const struct pack *p, struct buf *out)
{
    size_t start = out->n;
    buf_append(out, magic, sizeof(magic));
    put_u32(out, p->n_rules);
    for (const struct pack_rule *r = p->rules; r < p->rules + p->n_rules; r++) {
        put_str(out, r->id);
        put_str(out, r->about);
        put_str(out, r->pattern);
        put_str(out, r->names);
        put_str(out, r->then);
        put_u32(out, r->entropy);
        put_u32(out, r->max);
        put_u32(out, r->run);
        put_u32(out, r->check);
    }
    put_u32(out, p->n_leads);
    for (const struct pack_lead *l = p->leads; l < p->leads + p->n_leads; l++) {
        put_u32(out, l->kind);
        put_u32(out, l->rule);
        put_u32(out, l->last_rule);
        put_str(out, l->literal);
        put_u32(out, l->has_context);
    }
    put_strs(out, p->allow, p->n_allow);
    put_strs(out, p->off, p->n_off);
    put_bytes(out, p->lead_db);
    for (size_t i = 0; i < PACK_SHAPES; i++)
        put_bytes(out, p->shape_dbs[i]);
    uint8_t sum[PACK_SUM];
    put_le64(sum, sum_of((struct view){ out->p + start, out->n - start }));
    buf_append(out, sum, sizeof(sum));
    return out->failed;
}

/* -- reading: any wrong number makes `bad`, and everything after it empty -- */

struct cursor {
    struct view left;
    bool is_bad;
};

static struct view
take(struct cursor *c, size_t n)
{
    if (c->is_bad || n > c->left.n) {
        c->is_bad = true;
        return (struct view){ 0 };
    }
    struct view v = { c->left.p, n };
    c->left.p += n;
    c->left.n -= n;
    return v;
}

/* At most max. */
static uint32_t
take_u32(struct cursor *c, uint32_t max)
{
    struct view v = take(c, 4);
    uint32_t n = v.n ? get_le32(v.p) : 0;
    if (n > max)
        c->is_bad = true;
    return c->is_bad ? 0 : n;
}

static const char *
take_str(struct cursor *c)
{
    uint32_t n = take_u32(c, COUNT_MAX);
    struct view v = take(c, (size_t)n + 1);
    if (!v.n || v.p[n] || memchr(v.p, 0, n)) {
        c->is_bad = true;
        return "";
    }
    return (const char *)v.p;
}

/* Room for the elements that a count promises; NULL also when there are none. */
static void *
take_array(struct cursor *c, size_t *ret_n, size_t size)
{
    *ret_n = take_u32(c, COUNT_MAX);
    return *ret_n ? calloc(*ret_n, size) : NULL;
}

static const char **
take_strs(struct cursor *c, size_t *ret_n)
{
    const char **v = take_array(c, ret_n, sizeof(*v));
    for (size_t i = 0; v && i < *ret_n; i++)
        v[i] = take_str(c);
    return v;
}

static void
take_rule(struct cursor *c, struct pack_rule *r)
{
    r->id = take_str(c);
    r->about = take_str(c);
    r->pattern = take_str(c);
    r->names = take_str(c);
    r->then = take_str(c);
    r->entropy = take_u32(c, 800);
    r->max = take_u32(c, PACK_MAX);
    r->run = (enum pack_run)take_u32(c, PACK_BLOCK);
    r->check = (enum pack_check)take_u32(c, PACK_CHECKS - 1);
}

static void
take_lead(struct cursor *c, struct pack_lead *l, size_t n_rules)
{
    l->kind = (enum pack_lead_kind)take_u32(c, PACK_LEAD_BLOCK);
    uint32_t most = (uint32_t)n_rules - (n_rules ? 1 : 0);
    l->rule = take_u32(c, most);
    l->last_rule = take_u32(c, most);
    l->literal = take_str(c);
    l->has_context = take_u32(c, 1) != 0;
    if ((l->kind == PACK_LEAD_TOKEN && !l->literal[0]) ||
        (l->kind == PACK_LEAD_NAME && l->last_rule < l->rule))
        c->is_bad = true;
}

bool
pack_is_sound(struct view bytes)
{
    if (bytes.n < PACK_SUM)
        return false;
    struct view body = { bytes.p, bytes.n - PACK_SUM };
    return sum_of(body) == get_le64(bytes.p + body.n);
}

int
pack_read(struct pack *p, struct view bytes)
{
    *p = (struct pack){ 0 };
    struct cursor c = { .left = bytes };
    struct view head = take(&c, sizeof(magic));
    if (c.is_bad || memcmp(head.p, magic, sizeof(magic)) != 0)
        return ERR_DAMAGED;
    p->rules = take_array(&c, &p->n_rules, sizeof(*p->rules));
    for (size_t i = 0; p->rules && i < p->n_rules; i++)
        take_rule(&c, &p->rules[i]);
    p->leads = take_array(&c, &p->n_leads, sizeof(*p->leads));
    for (size_t i = 0; p->leads && i < p->n_leads; i++)
        take_lead(&c, &p->leads[i], p->n_rules);
    p->allow = take_strs(&c, &p->n_allow);
    p->off = take_strs(&c, &p->n_off);
    p->lead_db = take(&c, take_u32(&c, UINT32_MAX));
    for (size_t i = 0; i < PACK_SHAPES; i++)
        p->shape_dbs[i] = take(&c, take_u32(&c, UINT32_MAX));
    take(&c, PACK_SUM);
    bool lacks_memory = (p->n_rules && !p->rules) || (p->n_leads && !p->leads) ||
                        (p->n_allow && !p->allow) || (p->n_off && !p->off);
    if (!c.is_bad && !lacks_memory && !c.left.n && (p->n_rules || !p->n_leads))
        return 0;
    pack_release(p);
    return lacks_memory ? -ENOMEM : ERR_DAMAGED;
}

void
pack_release(struct pack *p)
{
    free(p->rules);
    free(p->leads);
    free(p->allow);
    free(p->off);
    *p = (struct pack){ 0 };
}
