/* SPDX-License-Identifier: MIT */
/* Compiled rules that are read are written back as the same bytes, with the sum that is
 * right; cut off or with something behind them they are none. */
#include "fuzz/fuzz.h"
#include "redact/pack_priv.h"

static void
check_refused(struct view bytes)
{
    struct pack p;
    CHECK(pack_read(&p, bytes) == ERR_DAMAGED);
    CHECK(!p.rules && !p.leads && !p.allow && !p.off);
}

static void
check_strings(const struct pack *p)
{
    for (size_t i = 0; i < p->n_rules; i++)
        CHECK(p->rules[i].id && p->rules[i].pattern && p->rules[i].names &&
              p->rules[i].check < PACK_CHECKS);
    for (size_t i = 0; i < p->n_leads; i++)
        CHECK(p->leads[i].literal && p->leads[i].rule < p->n_rules &&
              p->leads[i].last_rule < p->n_rules);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack p;
    AUTO(buf) out = { 0 };
    if (pack_read(&p, (struct view){ data, size })) {
        CHECK(!p.rules && !p.leads && !p.allow && !p.off);
        return 0;
    }
    check_strings(&p);
    CHECK(!pack_write(&p, &out));
    CHECK(out.n == size && !memcmp(out.p, data, size - PACK_SUM));
    CHECK(pack_is_sound((struct view){ out.p, out.n }));
    CHECK(pack_is_sound((struct view){ data, size }) == !memcmp(out.p, data, size));
    pack_release(&p);
    check_refused((struct view){ out.p, out.n - 1 });
    CHECK(!buf_append(&out, "", 1));
    check_refused((struct view){ out.p, out.n });
    return 0;
}
