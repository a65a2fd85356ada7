/* SPDX-License-Identifier: MIT */
/*
 * match_local.c -- addresses on this machine, of whatever serves there for this run:
 * ports that the system has chosen, and the secret part of a proxy's base URL.
 */
#include "calls/match_priv.h"
#include "calls/upstreams.h"

enum { PORT_DIGITS = 5, PORT_FIRST = 32768, PORT_LAST = 65535 };

static bool
is_behind(struct view in, size_t start, const char *what)
{
    size_t n = strlen(what);
    return start >= n && calls_is_at(in, start - n, what);
}

bool
calls_is_local_port(struct view in, size_t start, size_t end)
{
    static const char *const hosts[] = { "127.0.0.1:", "localhost:", "[::1]:",
                                         "0.0.0.0:" };
    unsigned port = 0;
    if (end - start != PORT_DIGITS || calls_byte_at(in, start - 1) != ':')
        return false;
    for (size_t i = start; i < end; i++)
        port = port * 10 + (unsigned)(in.p[i] - '0');
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (is_behind(in, start, hosts[i]))
            return port >= PORT_FIRST && port <= PORT_LAST;
    return false;
}

/* As calls_key_make() makes it, with a letter behind. */
bool
calls_is_segment(struct view in, size_t start, size_t end)
{
    if (end - start != CALLS_KEY_CHARS + 1 || calls_byte_at(in, start - 1) != '/' ||
        !calls_is_digit(calls_byte_at(in, start - 2)))
        return false;
    for (size_t i = start; i < end; i++)
        if (!(in.p[i] >= 'a' && in.p[i] <= 'z') && !(in.p[i] >= '2' && in.p[i] <= '7'))
            return false;
    return true;
}
