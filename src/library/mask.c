/* SPDX-License-Identifier: MIT */
#include "library/mask_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json_in.h"

/* -- texts -- */

/* Those that others made up; all else are words of ours. */
static const size_t members[] = {
    offsetof(struct store_session, name),
    offsetof(struct store_session, role),
    offsetof(struct store_session, cwd),
    offsetof(struct store_session, task),
    offsetof(struct store_session, parent),
    offsetof(struct store_session, resumed_from),
    offsetof(struct store_session, agent),
    offsetof(struct store_session, agent_session_id),
    offsetof(struct store_session, model),
    offsetof(struct store_session, project),
};

enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

static int
mask_text(struct store_session *row, size_t member, struct redact *redact,
          struct buf *masked)
{
    const char *text;
    memcpy(&text, (char *)row + member, sizeof(text));
    if (!text)
        return 0;
    int r = redact_text(redact, text, strlen(text), masked);
    text = buf_str(masked);
    memcpy((char *)row + member, &text, sizeof(text));
    return r < 0 ? r : masked->failed;
}

/* -- the command -- */

/* Appends the words of a JSON array, each with its NUL. */
static int
read_words(const char *json, struct buf *words)
{
    struct json_in in = { .p = (const uint8_t *)json,
                          .end = (const uint8_t *)json + strlen(json) };
    bool is_first = true;
    if (!json_in_take(&in, '['))
        return 0;
    while (json_in_each(&in, ']', &is_first) && json_in_str(&in, words))
        buf_append(words, "", 1);
    return words->failed;
}

static int
mask_words(const struct buf *words, struct redact *redact, struct buf *ret)
{
    size_t n = 0, i = 0;
    for (size_t at = 0; at < words->n; at++)
        n += !words->p[at];
    const char **argv = calloc(n + 1, sizeof(*argv));
    if (!argv)
        return -ENOMEM;
    for (size_t at = 0; at < words->n; at += strlen(argv[i++]) + 1)
        argv[i] = (const char *)words->p + at;
    int r = redact_argv(redact, n, argv, ret);
    free(argv);
    return r;
}

static int
mask_command(struct store_session *row, struct redact *redact, struct buf *cmd,
             struct buf *command)
{
    AUTO(buf) words = { 0 };
    AUTO(buf) masked = { 0 };
    if (!row->cmd)
        return 0;
    int r = read_words(row->cmd, &words);
    if (!r)
        r = mask_words(&words, redact, &masked);
    if (!r)
        r = library_command((struct view){ masked.p, masked.n }, cmd, command);
    row->cmd = buf_str(cmd);
    row->command = buf_str(command);
    return r;
}

int
mask_facts(struct library_session *s, struct redact *redact, struct err *err)
{
    struct buf masked[MEMBERS] = { 0 };
    AUTO(buf) cmd = { 0 };
    AUTO(buf) command = { 0 };
    struct store_session row = s->facts;
    int r = mask_command(&row, redact, &cmd, &command);
    for (size_t i = 0; !r && i < MEMBERS; i++)
        r = mask_text(&row, members[i], redact, &masked[i]);
    if (!r)
        r = library_session_keep(s, &row);
    for (size_t i = 0; i < MEMBERS; i++)
        buf_release(&masked[i]);
    return r < 0 ? err_code(err, r, "cannot mask the facts of '%s'", s->facts.id) : 0;
}
