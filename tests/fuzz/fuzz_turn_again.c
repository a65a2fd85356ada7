/* SPDX-License-Identifier: MIT */
/* How a session goes on, of whatever its recording holds: an account of it is clean text
 * and never passes its ceiling; words of a new command line are whole, hold no id that is
 * none, and the words before the agent's name are those of the old one. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "turn/context.h"
#include "turn/native.h"

enum { WORDS_MAX = 24 };

static const enum turn_type types[] = { TURN_TEXT,  TURN_TOOL_CALL, TURN_TOOL_RESULT,
                                        TURN_ERROR, TURN_ARTIFACT,  TURN_TEXT };

/* Each line is an event: its first byte says of which type. */
static void
check_context(struct view input)
{
    AUTO(buf) out = { 0 };
    struct turn_context *c;
    size_t max = TURN_CONTEXT_MIN + (input.n ? input.p[0] : 0) * (size_t)64;
    CHECK(turn_context_new(&c, max) == 0);
    while (input.n) {
        const uint8_t *end = memchr(input.p, '\n', input.n);
        size_t n = end ? (size_t)(end - input.p) : input.n;
        struct turn_event e = turn_event(types[n ? input.p[0] % 6 : 0]);
        e.is_user = n && input.p[0] % 6 == 5;
        e.text = e.json = e.name = (struct view){ input.p, n };
        CHECK(turn_context_add(c, &e) == 0);
        n += end != NULL;
        input = (struct view){ input.p + n, input.n - n };
    }
    int r = turn_context_make(c, "", &out);
    CHECK(r == 0 || (r == ERR_MISSING && !out.n));
    CHECK(out.n <= max && utf8_is_text(out.p, out.n));
    for (size_t i = 0; i < out.n; i++)
        CHECK(out.p[i] >= 0x20 || out.p[i] == '\n' || out.p[i] == '\t');
    turn_context_free(c);
}

static size_t
count_words(const struct buf *words)
{
    size_t n = 0;
    CHECK(!words->n || !words->p[words->n - 1]);
    for (size_t at = 0; at < words->n; at += strlen((char *)words->p + at) + 1)
        n++;
    return n;
}

static void
check_words(size_t argc, const char *const *argv)
{
    AUTO(buf) words = { 0 };
    AUTO(buf) prompted = { 0 };
    enum turn_agent agent = TURN_AUTO;
    size_t start = turn_prompt_start(argc, argv, &agent);
    const char *id = turn_native_id(argc, argv);
    CHECK(start <= argc && (!id || turn_native_is_id(id)));
    int r = turn_native_words(argc, argv, "0123-abcd", "go", false, &words);
    CHECK(r == 0 || (r == ERR_MISSING && !start));
    if (!r) {
        CHECK(count_words(&words) >= start + 2);
        const char *at = (char *)words.p;
        for (size_t i = 0; i < start; i++, at += strlen(at) + 1)
            CHECK(!strcmp(at, argv[i]));
    }
    r = turn_native_prompt(argc, argv, "NEW", argc % 2, &prompted);
    CHECK(r == 0 || (r == ERR_MISSING && !start));
    CHECK(count_words(&prompted) <= argc + 2);
}

/* Words end with NULs or blanks. */
static void
check_command(struct view input)
{
    AUTO(buf) text = { 0 };
    const char *argv[WORDS_MAX];
    size_t argc = 0;
    buf_append(&text, input.p, input.n < 2000 ? input.n : 2000);
    buf_append(&text, "", 1);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ' ' || text.p[i] == '\n')
            text.p[i] = 0;
    for (size_t at = 0; at < text.n && argc < WORDS_MAX; at += strlen(argv[argc++]) + 1)
        argv[argc] = (char *)text.p + at;
    check_words(argc, argv);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view input = { data, size };
    AUTO(buf) id = { 0 };
    check_context(input);
    check_command(input);
    if (turn_native_told(input, TURN_CLAUDE, &id))
        CHECK(turn_native_is_id(buf_str(&id)));
    return 0;
}
