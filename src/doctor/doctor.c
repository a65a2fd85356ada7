/* SPDX-License-Identifier: MIT */
/* doctor.c -- the table of checks, and what they write their findings with. */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "doctor/doctor_priv.h"

enum { TEXT_MAX = 4096 };

const struct doctor_check doctor_checks[] = {
    { "versions", doctor_versions },
    { "environment", doctor_environment },
    { "home", doctor_home },
    { "disk", doctor_disk },
    { "live", doctor_live },
    { "sessions", doctor_sessions },
    { "leftovers", doctor_leftovers },
    { "index", doctor_index },
    { "project", doctor_project },
    { "agents", doctor_agents },
    { 0 },
};

void
doctor_report_release(struct doctor_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        buf_release(&r->list[i].text);
        buf_release(&r->list[i].mend);
    }
    buf_release(&r->sum);
    *r = (struct doctor_report){ 0 };
}

/* What is too long, or finds no memory, is told as far as it goes. */
__attribute__((format(printf, 2, 0))) static void
put(struct buf *out, const char *fmt, va_list args)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof(text), fmt, args);
    buf_puts(out, text);
}

void
doctor_sum(struct doctor_report *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put(&r->sum, fmt, args);
    va_end(args);
}

struct doctor_finding *
doctor_find(struct doctor_report *r, enum doctor_grade grade, const char *fmt, ...)
{
    va_list args;
    if (grade > r->grade)
        r->grade = grade;
    if (r->count == DOCTOR_FINDINGS_MAX) {
        r->more++;
        return NULL;
    }
    struct doctor_finding *f = &r->list[r->count++];
    f->grade = grade;
    va_start(args, fmt);
    put(&f->text, fmt, args);
    va_end(args);
    return f;
}

void
doctor_mend(struct doctor_finding *f, const char *fmt, ...)
{
    va_list args;
    if (!f)
        return;
    va_start(args, fmt);
    put(&f->mend, fmt, args);
    va_end(args);
}

void
doctor_mend_path(struct doctor_finding *f, const char *path)
{
    if (!f)
        return;
    buf_puts(&f->mend, "'");
    for (const char *p = path; *p; p++)
        if (*p == '\'')
            buf_puts(&f->mend, "'\\''");
        else
            buf_append(&f->mend, p, 1);
    buf_puts(&f->mend, "'");
}
