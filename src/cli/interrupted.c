/* SPDX-License-Identifier: MIT */
#include "cli/interrupted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/recall.h"
#include "cli/report.h"
#include "cli/when.h"
#include "library/find.h"
#include "play/clean.h"
#include "session/meta.h"

enum { TRIES = 5 }; /* of a question */

/* The one that is offered. */
struct chosen {
    const struct cli_interrupted_about *about;
    bool must_match; /* in name or task */
    struct library_left left;
    struct buf name, task;
    size_t count; /* of all that could be */
};

static void
chosen_release(struct chosen *c)
{
    buf_release(&c->name);
    buf_release(&c->task);
}

/* "mend", "mend-2": one goes on with the other. */
static bool
is_same_name(const char *wanted, const char *name)
{
    size_t n = wanted ? strlen(wanted) : 0;
    if (!wanted || !name || strncmp(wanted, name, n) != 0)
        return false;
    return !name[n] || (name[n] == '-' && name[n + 1] &&
                        strspn(name + n + 1, "0123456789") == strlen(name + n + 1));
}

static bool
fits(const struct chosen *c, const struct library_left *left)
{
    const char *task = c->about->task;
    return !c->must_match || is_same_name(c->about->name, left->name) ||
           (task && left->task && !strcmp(task, left->task));
}

static void
clean(const char *text, struct buf *ret)
{
    (void)play_clean((struct view){ (const uint8_t *)text, strlen(text) }, true, ret);
}

/* A library_left_fn: the newest comes first. */
static int
take(void *ctx, const struct library_left *left)
{
    struct chosen *c = ctx;
    if (!fits(c, left) || c->count++)
        return 1;
    c->left = *left;
    c->left.name = c->left.task = NULL;
    clean(left->name ? left->name : left->id, &c->name);
    clean(left->task ? left->task : "", &c->task);
    return 1;
}

/* "session mend (the login) was cut off; it began 12m05s ago" */
static void
describe(struct chosen *c, struct buf *ret)
{
    uint64_t now = cli_when_now_ns(), start = c->left.started_at_ns;
    buf_printf(ret, "session %s", buf_str(&c->name));
    if (c->task.n)
        buf_printf(ret, " (%.60s)", buf_str(&c->task));
    buf_puts(ret, " was cut off");
    if (start && start < now) {
        buf_puts(ret, "; it began ");
        cli_duration(ret, now - start);
        buf_puts(ret, " ago");
    }
}

static void
tell(struct chosen *c)
{
    AUTO(buf) text = { 0 };
    int pid = c->left.command_pid;
    describe(c, &text);
    if (pid)
        buf_printf(
            &text,
            ", and its command still runs as process %d, which is left alone: once "
            "it has ended,",
            pid);
    buf_printf(&text, "%s 'ahr resume %s' goes on with it", pid ? "" : ":",
               buf_str(&c->name));
    if (c->count > 1)
        buf_printf(&text, " (%zu more: 'ahr list --status interrupted')", c->count - 1);
    cli_say(c->about->self, "%s", buf_str(&text));
}

enum answer { NOBODY, YES, NO };

static enum answer
read_answer(void)
{
    AUTO(buf) word = { .ceiling = 64 };
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        char byte = (char)c;
        (void)buf_append(&word, &byte, 1);
    }
    if (c == EOF)
        return NOBODY;
    const char *text = buf_str(&word);
    if (!strcasecmp(text, "y") || !strcasecmp(text, "yes"))
        return YES;
    return !*text || !strcasecmp(text, "n") || !strcasecmp(text, "no") ? NO : NOBODY;
}

/* Asked again while the answer is none. */
static enum answer
ask(struct chosen *c)
{
    AUTO(buf) text = { 0 };
    enum answer answer = NOBODY;
    describe(c, &text);
    fprintf(stderr, "ahr %s: %s\n", c->about->self->name, buf_str(&text));
    for (int tries = 0; answer == NOBODY && tries < TRIES && !feof(stdin); tries++) {
        fputs("Go on with it, by its own command? [y]es, [n]o, start afresh (no): ",
              stderr);
        answer = read_answer();
    }
    if (answer == NOBODY)
        fputc('\n', stderr);
    return answer;
}

int
cli_interrupted(const struct cli_interrupted_about *about, int how,
                char ret_id[SESSION_ID_LEN + 1])
{
    bool may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    if (how == CLI_INTERRUPTED_UNSAID || (how == CLI_INTERRUPTED_ASK && !may_ask))
        how = may_ask ? CLI_INTERRUPTED_ASK : CLI_INTERRUPTED_NOTE;
    if (how == CLI_INTERRUPTED_FRESH ||
        (how == CLI_INTERRUPTED_NOTE && about->is_quiet)) {
        library_left_mark(about->folder);
        return 0;
    }
    bool must = how == CLI_INTERRUPTED_RESUME;
    AUTO(chosen) c = { .about = about, .must_match = must };
    library_left_each(about->home, about->folder, must, take, &c);
    if (!c.count && must && !about->is_quiet)
        cli_say(about->self, "no session of this name or task was cut off here: this one "
                             "starts afresh");
    if (!c.count)
        return 0;
    memcpy(ret_id, c.left.id, sizeof(c.left.id));
    if (must)
        return 1;
    if (how == CLI_INTERRUPTED_NOTE || c.left.command_pid) {
        if (!about->is_quiet)
            tell(&c);
        return 0;
    }
    enum answer answer = ask(&c);
    if (answer == NO)
        library_left_decline(about->home, c.left.id);
    return answer == YES;
}

char **
cli_interrupted_words(int argc, char *const *argv)
{
    char **words = calloc((size_t)argc + 1, sizeof(*words));
    if (words)
        memcpy(words, argv, (size_t)argc * sizeof(*words));
    return words;
}

/* Is its own command known? Else the one that was typed is taken. */
static bool
is_command_known(const char *id)
{
    AUTO(library_found) found = { 0 };
    AUTO(session_told) told = { 0 };
    struct err ignored;
    char **words = NULL;
    bool is_known = library_find_by_files(&found, id, &ignored) == 0 &&
                    session_meta_tell(buf_str(&found.meta_path), &told, &ignored) == 0 &&
                    cli_recall(&told, id, "resume", &words, &ignored) == 0;
    free(words);
    return is_known;
}

int
cli_interrupted_resume(const struct cli_again_given *given, const char *id, bool is_quiet,
                       int count, char **command, struct err *err)
{
    int words = is_command_known(id) ? 0 : count;
    char **operands = calloc((size_t)words + 2, sizeof(*operands));
    if (!operands)
        return err_code(err, -ENOMEM, "cannot resume");
    memcpy(operands, &id, sizeof(id));
    memcpy(operands + 1, command, (size_t)words * sizeof(*operands));
    int r = cli_resume_with(given, is_quiet, words + 1, operands, err);
    free(operands);
    return r;
}
