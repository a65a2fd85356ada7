/* SPDX-License-Identifier: MIT */
#include "calls/agent.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *begins, *agent; /* of User-Agent */
} agents[] = {
    { "claude-cli/", "claude" },  { "claude-code/", "claude" },
    { "codex_cli_rs/", "codex" }, { "codex_exec/", "codex" },
    { "codex-tui/", "codex" },    { "GeminiCLI/", "gemini" },
    { "opencode/", "opencode" },
};

static const char *
find(struct view value)
{
    for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
        size_t n = strlen(agents[i].begins);
        if (value.n >= n && !memcmp(value.p, agents[i].begins, n))
            return agents[i].agent;
    }
    return NULL;
}

const char *
calls_agent(const struct calls_header *headers, size_t count)
{
    const char *found = NULL;
    for (size_t i = 0; i < count && !found; i++) {
        struct view name = headers[i].name;
        if (name.n == 10 && !strncasecmp((const char *)name.p, "user-agent", 10))
            found = find(headers[i].value);
    }
    return found;
}
