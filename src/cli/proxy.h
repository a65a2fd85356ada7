/* SPDX-License-Identifier: MIT */
/* proxy.h -- `ahr proxy`: its options, which ahr-net reads. */
#ifndef CLI_PROXY_H
#define CLI_PROXY_H

#include "cli/option.h"

struct cli_proxy_args {
    const char *listen, *upstream, *session, *ca_file, *replay;
    uint64_t entire; /* CLI_ENTIRE_… */
    int timing, upkeep;
    bool prints_env, is_quiet;
};

/* What --timing may say. */
enum { CLI_TIMING_ORIGINAL, CLI_TIMING_FAST };

extern const struct cli_option cli_proxy_options[];
#define CLI_PROXY_SYNOPSIS                                                           \
    "[--listen 127.0.0.1:PORT] [--upstream NAME=URL,…] [--session NAME] "          \
    "[--upstream-ca FILE] [--entire [on|off|auto]] [--print-env] [--replay SESSION " \
    "[--timing original|fast]] [--upkeep auto|off] [-q]"
#define CLI_PROXY_SUMMARY \
    "stand in front of model APIs, and record what goes over the wire"

/* Becomes ahr-net, with these words; returns only if that fails. */
int cli_net(const char *command, int argc, char **argv, struct err *err);

#endif
