/* SPDX-License-Identifier: MIT */
/* ahr doctor: is all well, and what mends what is not. */
#include "doctor/doctor.h"

#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/config.h"
#include "cli/option.h"
#include "cli/output.h"
#include "session/home.h"
#include "term/text.h"

struct args {
    bool is_json, is_deep;
};

struct printing {
    bool is_json, is_utf8, is_coloured;
    bool needs_attention;
    struct buf text;
    struct json json;
};

/* -- the config file, which only cli/ knows -- */

/* A cli_config_fn. */
static void
find_in_config(void *ctx, const char *where, unsigned line, const char *why)
{
    struct doctor_finding *f;
    if (line)
        f = doctor_find(ctx, DOCTOR_ATTENTION, "%s:%u: %s", where, line, why);
    else
        f = doctor_find(ctx, DOCTOR_ATTENTION, "%s", why);
    if (line) {
        doctor_mend(f, "sed -i '%us/^/# /' ", line);
        doctor_mend_path(f, where);
    } else {
        doctor_mend(f, "unset %s", where);
    }
}

static void
check_config(const struct doctor *d, struct doctor_report *out)
{
    struct err err = { 0 };
    (void)d;
    int count = cli_config_check(find_in_config, out, &err);
    if (count < 0)
        doctor_find(out, DOCTOR_ATTENTION, "%s", err.text);
    else if (!count)
        doctor_sum(out, "nothing in the config file");
    else
        doctor_sum(out, "%d line%s in the config file", count, count == 1 ? "" : "s");
}

static const struct doctor_check own_checks[] = {
    { "config", check_config },
    { 0 },
};

/* -- printed -- */

static bool
is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
    }
    return false;
}

static void
put_mark(struct printing *p, enum doctor_grade grade)
{
    static const char *const marks[] = { "✓", "!", "✗" };
    static const char *const plain[] = { "ok", "!", "x" };
    static const int colours[] = { 32, 33, 31 };
    if (p->is_coloured)
        buf_printf(&p->text, "\033[%dm", colours[grade]);
    buf_printf(&p->text, p->is_utf8 ? "%s" : "%-2s",
               p->is_utf8 ? marks[grade] : plain[grade]);
    if (p->is_coloured)
        buf_puts(&p->text, "\033[m");
}

/* Names of files may hold anything. */
static void
put_clean(struct printing *p, const char *before, struct buf *text)
{
    AUTO(buf) clean = { 0 };
    buf_append(&clean, text->p, text->n);
    buf_append(&clean, "", 1);
    if (clean.failed)
        return;
    buf_puts(&p->text, before);
    buf_puts(&p->text, cli_clean((char *)clean.p));
    buf_puts(&p->text, "\n");
}

static void
put_text(struct printing *p, const char *name, struct doctor_report *r)
{
    put_mark(p, r->grade);
    buf_printf(&p->text, " %-12s", name);
    put_clean(p, " ", &r->sum);
    for (size_t i = 0; i < r->count; i++) {
        put_clean(p, "    ", &r->list[i].text);
        if (r->list[i].mend.n)
            put_clean(p, "        ", &r->list[i].mend);
    }
    if (r->more)
        buf_printf(&p->text, "    and %zu more\n", r->more);
}

static const char *const grades[] = { "ok", "note", "attention" };

static void
put_json(struct printing *p, const char *name, struct doctor_report *r)
{
    struct json *j = &p->json;
    json_open(j, '{');
    json_key(j, "check"), json_str(j, name);
    json_key(j, "grade"), json_str(j, grades[r->grade]);
    json_key(j, "text"), json_str(j, buf_str(&r->sum));
    json_key(j, "findings"), json_open(j, '[');
    for (size_t i = 0; i < r->count; i++) {
        struct doctor_finding *f = &r->list[i];
        json_open(j, '{');
        json_key(j, "grade"), json_str(j, grades[f->grade]);
        json_key(j, "text"), json_str(j, buf_str(&f->text));
        json_key(j, "mend"), json_str_or_none(j, f->mend.n ? buf_str(&f->mend) : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "more"), json_u64(j, r->more);
    json_close(j, '}');
}

/* -- all -- */

static void
do_checks(struct printing *p, const struct doctor *d, const struct doctor_check *checks)
{
    for (const struct doctor_check *c = checks; c->name; c++) {
        AUTO(doctor_report) r = { 0 };
        c->fn(d, &r);
        p->needs_attention |= r.grade == DOCTOR_ATTENTION;
        if (p->is_json)
            put_json(p, c->name, &r);
        else
            put_text(p, c->name, &r);
    }
}

static int
examine(const struct args *a, const struct doctor *d, struct err *err)
{
    struct printing p = { .is_json = a->is_json, .is_utf8 = is_utf8() };
    p.is_coloured = !a->is_json && cli_output_has_colours();
    p.json.out = &p.text;
    if (p.is_json) {
        json_open(&p.json, '{');
        json_key(&p.json, "checks"), json_open(&p.json, '[');
    }
    do_checks(&p, d, own_checks);
    do_checks(&p, d, doctor_checks);
    if (p.is_json) {
        json_close(&p.json, ']');
        json_key(&p.json, "attention"), json_bool(&p.json, p.needs_attention);
        json_close(&p.json, '}');
        buf_puts(&p.text, "\n");
    }
    int r = p.text.failed ? p.text.failed
                          : file_write_all(STDOUT_FILENO, p.text.p, p.text.n);
    buf_release(&p.text);
    if (r < 0)
        return err_code(err, r, "cannot write to standard output");
    return p.needs_attention ? CLI_FAILED : CLI_DONE;
}

/* What is wrong with the config file is told by its check, not by a refusal. */
static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    char here[PATH_MAX];
    struct args a = { 0 };
    int count, r = cli_parse_plain(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE, "doctor takes no operands; see 'ahr doctor -h'");
    r = session_home(&home, err);
    if (r < 0)
        return r;
    const struct doctor d = { .home = buf_str(&home),
                              .here = getcwd(here, sizeof(here)) ? here : "/",
                              .is_deep = a.is_deep };
    return examine(&a, &d, err);
}

static const struct cli_option options[] = {
    { "deep", 0, CLI_FLAG, offsetof(struct args, is_deep), NULL,
      "read all of the sessions and the index, too", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { 0 },
};

const struct cli_command cli_doctor = {
    "doctor",
    "[--deep] [--json]",
    "check home, sessions and surroundings, and say what mends them",
    options,
    run,
    false,
};
