/* SPDX-License-Identifier: MIT */
/* ahr proxy: becomes the program that has the network's libraries. */
#include "cli/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/program.h"
#include "cli/entire.h"
#include "cli/upkeep.h"

int
cli_net(const char *command, int argc, char **argv, struct err *err)
{
    AUTO(buf) path = { 0 };
    static char self[] = "ahr-net";
    char **words = calloc((size_t)argc + 3, sizeof(*words));
    int r = words ? program_find("ahr-net", &path) : -ENOMEM;
    if (r < 0) {
        free(words);
        return err_code(err, r, "cannot start 'ahr-net'");
    }
    words[0] = self;
    memcpy(&words[1], &command, sizeof(command)); /* execv() changes none */
    for (int i = 0; i < argc; i++)
        words[2 + i] = argv[i];
    execv(buf_str(&path), words);
    r = errno == ENOENT ? err_set(err, ERR_MISSING,
                                  "'%s' is missing: this ahr was installed without it",
                                  buf_str(&path))
                        : err_sys(err, "cannot start '%s'", buf_str(&path));
    free(words);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    return cli_net(self->name, argc, argv, err);
}

const struct cli_option cli_proxy_options[] = {
    { "listen", 0, CLI_TEXT, offsetof(struct cli_proxy_args, listen), "127.0.0.1:PORT",
      "where to serve, on loopback (127.0.0.1:0: at any free port)", 0, 0 },
    { "upstream", 0, CLI_TEXT, offsetof(struct cli_proxy_args, upstream), "NAME=URL,…",
      "where APIs are: anthropic, openai, gemini, … or names of your own (as the "
      "environment says, else at their vendors')",
      0, 0 },
    { "session", 0, CLI_TEXT, offsetof(struct cli_proxy_args, session), "NAME",
      "what to call the session", 0, 0 },
    { "upstream-ca", 0, CLI_TEXT, offsetof(struct cli_proxy_args, ca_file), "FILE",
      "certificates to trust, in place of the system's", 0, 0 },
    CLI_ENTIRE_OPTION(struct cli_proxy_args, entire),
    { "print-env", 0, CLI_FLAG, offsetof(struct cli_proxy_args, prints_env), NULL,
      "print what an agent's environment must say, NAME=VALUE a line", 0, 0 },
    { "replay", 0, CLI_TEXT, offsetof(struct cli_proxy_args, replay), "SESSION",
      "answer from what was recorded, and ask nobody", 0, 0 },
    { "timing", 0, CLI_CHOICE, offsetof(struct cli_proxy_args, timing), "original|fast",
      "… as fast as it came then, or at once (original)", 0, 0 },
    CLI_UPKEEP_OPTION(struct cli_proxy_args, upkeep,
                      "index the session at its end, in the background"),
    { "quiet", 'q', CLI_FLAG, offsetof(struct cli_proxy_args, is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_proxy = {
    "proxy", CLI_PROXY_SYNOPSIS, CLI_PROXY_SUMMARY, cli_proxy_options, run, false
};
