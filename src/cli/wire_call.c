/* SPDX-License-Identifier: MIT */
/* wire_call.c -- one call as text: both heads, both bodies, what is known of it. */
#include <inttypes.h>

#include "base/utf8.h"
#include "cli/report.h"
#include "cli/wire_print.h"
#include "turn/clean.h"

struct printing {
    struct buf out;
};

static void
put_clean(struct printing *p, struct view v)
{
    struct turn_clean clean = { 0 };
    turn_clean_feed(&clean, v, &p->out);
    turn_clean_end(&clean, &p->out);
}

static void
put_headers(struct printing *p, const struct calls_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_clean(p, headers[i].name);
        buf_puts(&p->out, ": ");
        put_clean(p, headers[i].value);
        buf_puts(&p->out, "\n");
    }
}

static void
put_body(struct printing *p, struct view body, bool is_whole)
{
    buf_puts(&p->out, "\n");
    if (!is_whole)
        buf_puts(&p->out, "[parts of it are missing in the record]\n");
    if (body.n && !utf8_is_text(body.p, body.n))
        buf_printf(&p->out, "[%zu bytes that are no text; --json has them]\n", body.n);
    else
        put_clean(p, body);
    if (p->out.n && p->out.p[p->out.n - 1] != '\n')
        buf_puts(&p->out, "\n");
}

static void
put_duration(struct printing *p, const char *label, uint64_t ns)
{
    if (ns == CALLS_NONE)
        return;
    buf_puts(&p->out, label);
    cli_duration(&p->out, ns);
}

static void
put_tokens(struct printing *p, const char *label, uint64_t n)
{
    if (n == TURN_UNKNOWN)
        return;
    buf_puts(&p->out, label);
    buf_put_grouped(&p->out, n);
}

static void
put_end(struct printing *p, const struct calls_facts *f)
{
    const struct turn_usage *u = &f->usage;
    buf_printf(&p->out, "\n--- %s", f->has_end ? calls_status_name(f->end) : "going on");
    if (f->error.n) {
        buf_puts(&p->out, ": ");
        put_clean(p, f->error);
    }
    if (f->model.n) {
        buf_puts(&p->out, ", ");
        put_clean(p, f->model);
    }
    put_tokens(p, ", in ", u->input_tokens);
    put_tokens(p, ", out ", u->output_tokens);
    put_tokens(p, ", cache written ", u->cache_creation_tokens);
    put_tokens(p, ", cache read ", u->cache_read_tokens);
    put_duration(p, ", first byte ", f->first_byte_ns);
    put_duration(p, ", first token ", f->first_token_ns);
    put_duration(p, ", all ", f->duration_ns);
    if (f->retry_of)
        buf_printf(&p->out, ", retry of call %" PRIu64, f->retry_of);
    buf_puts(&p->out, "\n");
}

int
cli_wire_call(const struct calls_whole *w, struct err *err)
{
    struct printing p = { .out.ceiling = (size_t)3 << 30 };
    const struct calls_facts *f = w->facts;
    put_clean(&p, f->method);
    buf_puts(&p.out, " ");
    put_clean(&p, f->target);
    put_clean(&p, f->url);
    buf_printf(&p.out, " HTTP/1.%u\n", f->http_minor);
    put_headers(&p, w->request_headers, w->request_header_count);
    put_body(&p, w->request, w->is_request_whole);
    if (f->status) {
        buf_printf(&p.out, "\nHTTP/1.1 %u\n", f->status);
        put_headers(&p, w->reply_headers, w->reply_header_count);
        put_body(&p, w->reply, w->is_reply_whole || !calls_is_damaged(w));
    }
    put_end(&p, f);
    int r = cli_wire_write(&p.out, err);
    buf_release(&p.out);
    return r;
}
