/* SPDX-License-Identifier: MIT */
#include "cli/fs_skipped.h"

#include "cli/path.h"
#include "cli/report.h"

enum {
    PRINTED_MAX = 1000, /* as JSON */
    TOLD_MAX = 5,       /* to a person */
};

void
cli_fs_skipped_json(struct json *j, const struct snap_skips *skips)
{
    struct view rest = { skips->list.p, skips->list.n };
    struct snap_skip s;
    json_key(j, "skipped"), json_open(j, '[');
    for (unsigned n = 0; n < PRINTED_MAX && snap_skip_next(&rest, &s); n++) {
        json_open(j, '{');
        cli_path_json(j, "path", s.path);
        json_key(j, "reason");
        json_bytes(j, (struct view){ (const uint8_t *)s.word, s.word_len });
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "skipped_count"), json_u64(j, skips->count);
}

void
cli_fs_skipped_say(const struct cli_command *self, const struct snap_skips *skips)
{
    struct view rest = { skips->list.p, skips->list.n };
    struct snap_skip s;
    uint64_t told = 0;
    for (; told < TOLD_MAX && snap_skip_next(&rest, &s); told++) {
        AUTO(buf) name = { 0 };
        cli_path_put(&name, s.path);
        cli_say(self, "left out: %.700s: %s", buf_str(&name), snap_skip_text(&s));
    }
    if (skips->count > told) {
        AUTO(buf) count = { 0 };
        cli_count(&count, skips->count - told, NULL);
        cli_say(self, "left out: %s more", buf_str(&count));
    }
}
