/* SPDX-License-Identifier: MIT */
/*
 * proxy.h -- the recording proxy: HTTP/1.1 on loopback, in front of model APIs.
 *
 * What a client asks goes to the upstream of its path, and what that replies goes back as
 * it comes, byte for byte; a record is kept on the way. Whoever comes must know the
 * upstream's secret path, and come as to this machine: a request with another Host, with
 * an Origin, or that could be read in two ways is refused.
 */
#ifndef WIRE_PROXY_H
#define WIRE_PROXY_H

#include "calls/upstreams.h"
#include "wire/control.h"
#include "wire/record.h"

struct cassette;

/* A session of the proxy's own: who wants to stop it comes there. */
struct wire_place {
    const char *dir, *id; /* live/<id> */
    struct clock clock;
};

/* All borrowed. */
struct wire_options {
    int listen_fd; /* listening, non-blocking */
    const struct calls_upstreams *upstreams;
    const char *ca_file; /* NULL: the system's certificates */
    /* The record, asked for with the first client; NULL: nothing is recorded. */
    struct wire_record *(*open_record)(void *ctx);
    struct wire_control *control;   /* NULL: nobody has started us */
    const struct wire_place *place; /* NULL: none */
    struct cassette *cassette; /* answers in place of the upstreams; NULL: these do */
    bool is_original_pace;     /* … as fast as they did */
    /* It can be asked now, and signals are heeded. An error (< 0) ends it. May be NULL.
     */
    int (*ready)(void *ctx, struct err *err);
    /* Each second, and when there was something to write: facts may have changed. */
    void (*tick)(void *ctx);
    void *ctx; /* of all */
};

enum wire_end { WIRE_SIGNAL, WIRE_LEFT };

struct wire_result {
    enum wire_end end;
    int signo; /* SIGNAL */
};

/* Serves until a signal (SIGINT, SIGTERM, SIGHUP), or until whoever has started us is
 * gone; calls that go on then are broken off. */
int wire_run(const struct wire_options *opt, struct wire_result *ret, struct err *err);

#endif
