/* SPDX-License-Identifier: MIT */
/* net.h -- the commands of ahr-net, which `ahr` and its recorders start. */
#ifndef NET_NET_H
#define NET_NET_H

#include "cli/command.h"

extern const struct cli_command net_proxy, net_within;

#endif
