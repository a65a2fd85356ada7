/* SPDX-License-Identifier: MIT */
/* A rule file is taken, or refused with the line that is wrong. */
#include "fuzz/fuzz.h"
#include "redact/rules_priv.h"

static const char path[] = "rules.txt";

static unsigned
count_lines(const char *text)
{
    unsigned n = 1;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* `rules.txt:LINE: what` */
static void
check_message(const struct err *err, unsigned lines)
{
    char *end;
    CHECK(!strncmp(err->text, path, sizeof(path) - 1));
    CHECK(err->text[sizeof(path) - 1] == ':');
    unsigned long line = strtoul(err->text + sizeof(path), &end, 10);
    CHECK(line >= 1 && line <= lines);
    CHECK(end[0] == ':' && end[1] == ' ' && end[2]);
}

static void
check_rule(const struct rules_rule *r, unsigned lines)
{
    const char *at = r->keywords ? r->keywords : "";
    CHECK(r->line >= 1 && r->line <= lines);
    CHECK(r->made.id[0] && r->made.about && r->made.then);
    CHECK(r->keywords || r->after || r->made.names[0]);
    CHECK(r->made.max >= 1 && r->made.max <= 4096 && r->made.entropy <= 800);
    for (struct view w = rules_word(&at); w.n; w = rules_word(&at))
        CHECK(w.n >= 2 && w.n <= 32 && !memchr(w.p, ' ', w.n));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rules r;
    struct err err;
    AUTO(buf) text = { 0 };
    CHECK(!buf_append(&text, data, size) && !buf_append(&text, "", 1));
    unsigned lines = count_lines((char *)text.p);
    int e = rules_parse(&r, (char *)text.p, path, &err);
    if (e) {
        CHECK(e == ERR_USAGE && err.code == e);
        check_message(&err, lines);
        CHECK(!r.v && !r.allow && !r.off);
        return 0;
    }
    CHECK(r.n <= RULES_MAX && r.n_allow <= RULES_EXTRAS_MAX &&
          r.n_off <= RULES_EXTRAS_MAX);
    for (size_t i = 0; i < r.n; i++)
        check_rule(&r.v[i], lines);
    rules_release(&r);
    return 0;
}
