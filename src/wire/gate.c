/* SPDX-License-Identifier: MIT */
/*
 * gate.c -- who may ask for what.
 *
 * A page in a browser can make requests to this machine: it has an Origin, or a Host that
 * was made to point here. It does not know the path either way.
 */
#include <stdio.h>
#include <strings.h>

#include "wire/wire_priv.h"

/* 127.0.0.1, localhost or [::1], with our port. */
static bool
is_our_host(const struct wire *w, struct view host)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
    char port[8];
    int n = snprintf(port, sizeof(port), ":%u", w->port);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t size = strlen(names[i]);
        if (host.n == size + (size_t)n &&
            !strncasecmp((const char *)host.p, names[i], size) &&
            !memcmp(host.p + size, port, (size_t)n))
            return true;
    }
    return false;
}

static bool
has_origin(const struct wire_head *head)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (wire_head_is(head->headers[i].name, "origin"))
            return true;
    return false;
}

const char *
gate_check(const struct wire *w, const struct wire_head *head, struct gate_pass *ret,
           unsigned *ret_status)
{
    struct view target = head->target; /* it begins with a slash */
    size_t end = 1;
    while (end < target.n && target.p[end] != '/' && target.p[end] != '?')
        end++;
    if (head->host.n && !is_our_host(w, head->host)) {
        *ret_status = 421;
        return "the Host is not this proxy's";
    }
    if (has_origin(head)) {
        *ret_status = 403;
        return "requests of web pages are refused";
    }
    ret->path = (struct view){ target.p + end, target.n - end };
    ret->upstream = calls_upstreams_find(w->opt->upstreams,
                                         (struct view){ target.p + 1, end - 1 });
    *ret_status = 404;
    return ret->upstream ? NULL
                         : "there is nothing at this path: the base URL has a secret "
                           "part, which 'ahr proxy --print-env' tells";
}
