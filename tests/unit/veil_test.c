/* SPDX-License-Identifier: MIT */
/* veil_test.c -- secrets that lie across the events of a streamed reply, cut anywhere, in
 * several texts at the same time; ceilings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/redact_kit.h"
#include "support/rng.h"
#include "support/text_view.h"
#include "support/veil_kit.h"

/* -- one text -- */

static const char *const samples[] = {
    "Use [[github-pat:<ghp>]] then, or [[github-pat:<ghp>]]; \"ghp\" is how they "
    "begin.\n",
    "{\"command\": \"export DB_PASSWORD=[[password-assignment:x9<alnum*10>]]\\nls\", "
    "\"n\": 2}",
    "gh g ghp ghp_ sk- [[github-pat:<ghp>]]",
    "caf\xc3\xa9 \xf0\x9f\x98\x80 postgres://u:[[url-password:<alnum*12>]]@h/x "
    "\xe2\x82\xac",
    "[[jwt:<jwt*200>]] \\ \"quoted\" / \x01\t",
    "<begin>\n[[private-key:<b64*64>\n<b64*22>==]]\n<end>\nand on",
};
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

enum { WINDOW = 6 };

/* No WINDOW letters of a secret stand together; the first ones may be public. */
static void
check_hidden(const struct kit_sample *s, struct view shown)
{
    enum { PUBLIC = 4 };
    for (size_t i = 0; i < s->finds.n; i++) {
        size_t from = (size_t)s->finds.v[i].start + PUBLIC;
        size_t end = (size_t)s->finds.v[i].end;
        bool is_jwt = !strcmp(s->rules[i], "jwt"); /* which all begin alike */
        for (size_t at = is_jwt ? from + 40 : from; at + WINDOW <= end; at++)
            if (shown.n && memmem(shown.p, shown.n, s->in.p + at, WINDOW))
                fail_msg("written: %.*s", WINDOW, (const char *)s->in.p + at);
    }
}

static void
check_text(struct redact *redact, const char *sample, const struct veil_kit_style *style,
           size_t first, size_t step)
{
    struct veil_kit k;
    struct veil_kit_text t;
    struct kit_sample s;
    AUTO(buf) words = { 0 };
    kit_sample_init(&s, sample);
    veil_kit_open(&k, redact);
    veil_kit_text_open(&t, style, 3, redact);
    for (size_t at = 0; at < s.in.n;) {
        struct view piece = veil_kit_piece(&s.in, at, at ? step : first);
        veil_kit_say(&k, &t, (enum veil_kit_escapes)(at % VEIL_KIT_ESCAPES), piece);
        at += piece.n;
    }
    veil_kit_end(&k);
    veil_kit_check_end(&k, &t);
    veil_kit_words(&k, &t, true, &words);
    check_hidden(&s, veil_kit_view(&words));
    check_hidden(&s, veil_kit_view(&t.out));
    check_hidden(&s, veil_kit_view(&k.all));
    veil_kit_text_close(&t);
    veil_kit_close(&k);
    kit_sample_release(&s);
}

static void
a_secret_is_masked_in_pieces_of_any_size(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t step = 1; step <= 7; step++)
            check_text(*state, samples[i],
                       &veil_kit_styles[(i + step) % veil_kit_style_count], step, step);
}

static void
a_secret_is_masked_in_the_events_of_any_api(void **state)
{
    for (size_t i = 0; i < veil_kit_style_count; i++)
        check_text(*state, samples[i % 2], &veil_kit_styles[i], 2, 3);
}

static void
a_secret_is_masked_wherever_it_is_cut(void **state)
{
    struct kit_sample s;
    for (size_t i = 0; i < SAMPLES; i++) {
        kit_sample_init(&s, samples[i]);
        for (size_t cut = 1; cut < s.in.n; cut++)
            check_text(*state, samples[i], &veil_kit_styles[cut % veil_kit_style_count],
                       cut, s.in.n);
        kit_sample_release(&s);
    }
}

/* -- several texts -- */

static void
say_some(struct veil_kit *k, struct veil_kit_text *t, const struct buf *text, size_t *at,
         uint32_t *rng)
{
    struct view piece = veil_kit_piece(text, *at, rng_between(rng, 1, 7));
    veil_kit_say(k, t, (enum veil_kit_escapes)rng_below(rng, VEIL_KIT_ESCAPES), piece);
    *at += piece.n;
}

/* `count` of them, each in its own order; `together` at the same time. */
static void
check_texts(struct redact *redact, size_t count, size_t together, uint32_t seed)
{
    enum { MOST = 100 };
    struct veil_kit k;
    struct veil_kit_text texts[MOST];
    struct kit_sample s[MOST];
    size_t at[MOST] = { 0 }, done = 0;
    uint32_t rng = rng_seed(seed);
    veil_kit_open(&k, redact);
    for (size_t i = 0; i < count; i++) {
        kit_sample_init(&s[i], samples[(seed + i) % SAMPLES]);
        veil_kit_text_open(&texts[i], &veil_kit_styles[seed % veil_kit_style_count],
                           (unsigned)i, redact);
    }
    while (done < count) {
        size_t i = done + rng_below(&rng, (uint32_t)together);
        if (i < count && at[i] < s[i].in.n)
            say_some(&k, &texts[i], &s[i].in, &at[i], &rng);
        while (done < count && at[done] == s[done].in.n)
            done++;
    }
    veil_kit_end(&k);
    for (size_t i = 0; i < count; i++) {
        AUTO(buf) words = { 0 };
        veil_kit_check_end(&k, &texts[i]);
        veil_kit_words(&k, &texts[i], true, &words);
        check_hidden(&s[i], veil_kit_view(&words));
        check_hidden(&s[i], veil_kit_view(&texts[i].out));
        veil_kit_text_close(&texts[i]);
        kit_sample_release(&s[i]);
    }
    veil_kit_close(&k);
}

static void
texts_between_each_other_are_masked(void **state)
{
    for (uint32_t seed = 0; seed < 30; seed++)
        check_texts(*state, 2 + seed % 3, 2 + seed % 3, seed);
}

static void
more_texts_than_are_followed_at_once_are_masked(void **state)
{
    for (uint32_t seed = 0; seed < 10; seed++)
        check_texts(*state, 5 + seed * 3, 5 + seed * 3, seed);
}

/* Most have ended where something of them is held. */
static void
many_texts_behind_each_other_are_masked(void **state)
{
    check_texts(*state, 100, 3, 2);
    check_texts(*state, 100, 1, 3);
}

/* -- several texts in an event -- */

/* What a scanner of its own lets out, with the letters that are public. */
static void
put_let_out(struct redact *redact, const struct buf *text, size_t step, struct buf *out)
{
    struct redact_stream *stream;
    assert_int_equal(redact_stream_new(&stream, redact, &(struct redact_options){ 0 }),
                     0);
    for (size_t at = 0; at < text->n; at += step) {
        size_t n = text->n - at < step ? text->n - at : step;
        assert_int_equal(redact_stream_feed(stream, text->p + at, n, out), 0);
        assert_int_equal(redact_stream_rest(stream, out), 0);
    }
    assert_int_equal(redact_stream_flush(stream, out), 0);
    redact_stream_free(stream);
}

/* What stands in their places. */
static void
take_pair(const struct buf *event, const char *pattern, struct buf *a, struct buf *b)
{
    const char *hash = strchr(pattern, '#'), *at = strchr(pattern, '@');
    size_t before = (size_t)(hash - pattern), middle = (size_t)(at - hash) - 1;
    const uint8_t *end = event->p + event->n - strlen(at + 1);
    const uint8_t *mid = memmem(event->p, event->n, hash + 1, middle);
    assert_non_null(mid);
    buf_append(a, event->p + before, (size_t)(mid - event->p) - before);
    buf_append(b, mid + middle, (size_t)(end - mid) - middle);
    assert_memory_equal(event->p, pattern, before);
    assert_memory_equal(end, at + 1, strlen(at + 1));
}

static void
check_pair(struct redact *redact, const char *pattern, const char *one, const char *two,
           size_t step)
{
    struct veil_kit k;
    struct kit_sample s[2];
    struct buf got[2] = { { 0 }, { 0 } };
    kit_sample_init(&s[0], one);
    kit_sample_init(&s[1], two);
    veil_kit_open(&k, redact);
    for (size_t at = 0; at < s[0].in.n || at < s[1].in.n; at += step) {
        AUTO(buf) event = { 0 };
        struct view none = { 0 };
        veil_kit_put(&event, pattern,
                     at < s[0].in.n ? veil_kit_piece(&s[0].in, at, step) : none,
                     at < s[1].in.n ? veil_kit_piece(&s[1].in, at, step) : none);
        veil_kit_feed(&k, veil_kit_view(&event));
    }
    veil_kit_end(&k);
    for (size_t i = 0; i < k.n; i++)
        take_pair(&k.events[i].last, pattern, &got[0], &got[1]);
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) want = { 0 };
        put_let_out(redact, &s[i].in, step, &want);
        kit_same(veil_kit_view(&got[i]), veil_kit_view(&want), pattern);
        check_hidden(&s[i], veil_kit_view(&got[i]));
        buf_release(&got[i]);
        kit_sample_release(&s[i]);
    }
    veil_kit_close(&k);
}

#define ONE "one [[github-pat:<ghp>]] and done"
#define TWO "of two: password=[[password-assignment:x9<alnum*10>]] ends; ghp_ is none"

static void
several_texts_in_an_event_are_masked(void **state)
{
    static const char *const patterns[] = {
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"#\"}},{\"index\":1,"
        "\"delta\":{\"content\":\"@\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"#\"},\"index\":0},{\"delta\":{"
        "\"content\":\"@\"},\"index\":1}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
        "\"function\":{\"arguments\":\"#\"}},{\"index\":1,\"custom\":{\"input\":\"@\"}}]}"
        "}"
        "]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"#\",\"content\":\"@\"}}]}\n\n",
        "data: "
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"#\"}]},\"index\":0},{"
        "\"content\":{\"parts\":[{\"text\":\"@\"}]},\"index\":1}]}\n\n",
    };
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        for (size_t step = 1; step < 8; step++)
            check_pair(*state, patterns[i], ONE, TWO, step);
}

static void
thoughts_under_two_names_are_masked(void **state)
{
    static const char both[] =
        "data: "
        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"reasoning\":\"#\","
        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"@\",\"index\":0}]"
        "}"
        "}]}\n\n";
    for (size_t step = 1; step < 8; step++)
        check_pair(*state, both, ONE, ONE, step);
}

static void
parts_of_one_text_in_an_event_are_joined(void **state)
{
    AUTO(buf) token = { 0 };
    AUTO(buf) event = { 0 };
    uint32_t rng = rng_seed(8);
    struct veil_kit k;
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_put(
        &event,
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a #\"},{\"text\":"
        "\"@ b\"}]}}]}\n\n",
        (struct view){ token.p, 20 }, (struct view){ token.p + 20, token.n - 20 });
    veil_kit_open(&k, *state);
    veil_kit_feed(&k, veil_kit_view(&event));
    assert_string_equal(buf_str(&k.events[0].last),
                        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a "
                        "\"},{\"text\":\"[REDACTED:github-pat] b\"}]}}]}\n\n");
    veil_kit_end(&k);
    veil_kit_close(&k);
}

static void
a_text_that_begins_with_its_block_is_masked(void **state)
{
    AUTO(buf) token = { 0 };
    AUTO(buf) begin = { 0 };
    AUTO(buf) more = { 0 };
    uint32_t rng = rng_seed(8);
    struct veil_kit k;
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_put(&begin,
                 "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{"
                 "\"type\":\"text\",\"text\":\"#\"}}\n\n",
                 (struct view){ token.p, 20 }, (struct view){ 0 });
    veil_kit_put(&more, VEIL_KIT_TEXT("2", "# b"),
                 (struct view){ token.p + 20, token.n - 20 }, (struct view){ 0 });
    veil_kit_open(&k, *state);
    veil_kit_feed(&k, veil_kit_view(&begin));
    veil_kit_feed(&k, veil_kit_view(&more));
    veil_kit_end(&k);
    assert_null(memmem(k.all.p, k.all.n, token.p + 4, 6));
    assert_string_equal(buf_str(&k.events[1].last),
                        VEIL_KIT_TEXT("2", "[REDACTED:github-pat] b"));
    veil_kit_close(&k);
}

/* They have the text once more, letter by letter. */
static void
tokens_and_their_odds_go_with_what_is_masked(void **state)
{
    static const char pattern[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"#\"},\"logprobs\":{"
        "\"content\":[{\"token\":\"@\",\"bytes\":[1],\"logprob\":-1}]}}]}\n\n";
    AUTO(buf) token = { 0 };
    AUTO(buf) text = { 0 };
    uint32_t rng = rng_seed(8);
    struct veil_kit k;
    kit_expand(&token, "<ghp>", &rng);
    buf_printf(&text, "see %s now, and ghp_ is no more", buf_str(&token));
    veil_kit_open(&k, *state);
    for (size_t at = 0; at < text.n; at += 2) {
        AUTO(buf) event = { 0 };
        veil_kit_put(&event, pattern, veil_kit_piece(&text, at, 2),
                     veil_kit_piece(&text, at, 2));
        veil_kit_feed(&k, veil_kit_view(&event));
    }
    veil_kit_end(&k);
    for (size_t i = 0; i < k.n; i++) {
        bool is_secret = i >= 3 && i <= 22;
        const struct buf *last = &k.events[i].last;
        assert_int_equal(memmem(last->p, last->n, "\"logprobs\":null", 15) != NULL,
                         is_secret);
    }
    veil_kit_close(&k);
}

static void
tokens_go_with_a_text_that_is_masked_as_a_whole(void **state)
{
    AUTO(buf) token = { 0 };
    AUTO(buf) event = { 0 };
    uint32_t rng = rng_seed(8);
    struct veil_kit k;
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_put(&event,
                 "data: {\"type\":\"response.output_text.done\",\"text\":\"a # b\","
                 "\"logprobs\":[{\"token\":\"@\"}]}\n\n",
                 veil_kit_view(&token), (struct view){ token.p, 9 });
    veil_kit_open(&k, *state);
    veil_kit_feed(&k, veil_kit_view(&event));
    veil_kit_feed_text(&k, "data: {\"text\":\"a\",\"logprobs\":[{\"token\":\"a\"}]}\n\n");
    veil_kit_end(&k);
    assert_string_equal(buf_str(&k.all),
                        "data: {\"type\":\"response.output_text.done\",\"text\":\"a "
                        "[REDACTED:github-pat] b\",\"logprobs\":null}\n\n"
                        "data: {\"text\":\"a\",\"logprobs\":[{\"token\":\"a\"}]}\n\n");
    veil_kit_close(&k);
}

/* -- ceilings -- */

static void
thousands_of_events_behind_a_held_one_are_kept(void **state)
{
    enum { EVENTS = 20000 };
    struct veil_kit k;
    veil_kit_open(&k, *state);
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "it is ghp_"));
    for (size_t i = 0; i < EVENTS; i++)
        veil_kit_feed_text(&k, i % 3 ? VEIL_KIT_TEXT("1", "and on, ")
                                     : "data: {\"type\":\"ping\"}\n\n");
    assert_true(k.waited > 4000 && k.waited <= 8193);
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", ", no more"));
    veil_kit_end(&k);
    for (size_t i = 0; i < k.n; i++)
        kit_same(veil_kit_view(&k.events[i].last), veil_kit_view(&k.events[i].came),
                 "behind");
    veil_kit_close(&k);
}

/* Both texts go on where many events ago they were held. */
static void
what_had_to_be_decided_too_early_is_masked(void **state)
{
    struct veil_kit k;
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(4);
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_open(&k, *state);
    veil_kit_feed_piece(&k, VEIL_KIT_TEXT("0", "a #"), (struct view){ token.p, 20 });
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("1", "export PASSWORD="));
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("2", "see ghp_"));
    for (size_t i = 0; i < 9000; i++)
        veil_kit_feed_text(&k, "data: {\"type\":\"ping\"}\n\n");
    assert_true(k.settled > 3);
    veil_kit_feed_piece(&k, VEIL_KIT_TEXT("0", "#"), (struct view){ token.p + 20, 9 });
    veil_kit_feed_piece(&k, VEIL_KIT_TEXT("0", "#"), (struct view){ token.p + 29, 9 });
    veil_kit_feed_piece(&k, VEIL_KIT_TEXT("0", "# b"), (struct view){ token.p + 38, 2 });
    veil_kit_feed_piece(&k, VEIL_KIT_TEXT("1", "x9# b"),
                        (struct view){ token.p + 10, 9 });
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("2", "a\\u0062"));
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("2", ", no \\u0063"));
    veil_kit_end(&k);
    const struct buf *last = &k.events[k.n - 4].last;
    assert_string_equal(buf_str(&k.events[0].last),
                        VEIL_KIT_TEXT("0", "a [REDACTED:github-pat]"));
    assert_non_null(memmem(last->p, last->n, "\"[REDACTED:github-pat] b", 24));
    assert_string_equal(buf_str(&k.events[1].last),
                        VEIL_KIT_TEXT("1", "export PASSWORD="));
    assert_string_equal(buf_str(&k.events[k.n - 3].last),
                        VEIL_KIT_TEXT("1", "[REDACTED:password-assignment] b"));
    assert_string_equal(buf_str(&k.events[2].last), VEIL_KIT_TEXT("2", "see ghp_"));
    assert_string_equal(buf_str(&k.events[k.n - 2].last), VEIL_KIT_TEXT("2", "a\\u0062"));
    assert_string_equal(buf_str(&k.events[k.n - 1].last),
                        VEIL_KIT_TEXT("2", ", no \\u0063"));
    assert_null(memmem(k.all.p, k.all.n, token.p + 10, 6));
    assert_null(memmem(k.all.p, k.all.n, token.p + 20, 6));
    veil_kit_close(&k);
}

/* -- events of which not all has come -- */

#define KEY "planted-credential-KKKK4321"

/* A token, or what the call itself has said, cut off at each of its letters. */
static void
a_secret_in_which_an_event_breaks_off_is_masked(void **state)
{
    static const char *const befores[] = {
        "event: content_block_delta\ndata: {\"delta\":{\"text\":\"see\\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"",
        "data: no JSON, ",
    };
    const struct calls_header key = { text_view("x-api-key"), text_view(KEY) };
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(5);
    kit_expand(&token, "<ghp>", &rng);
    for (size_t i = 0; i < 2 * sizeof(befores) / sizeof(befores[0]); i++) {
        const char *secret = i % 2 ? KEY : buf_str(&token);
        for (size_t n = i % 2 ? 8 : 12; n <= strlen(secret); n += 3) {
            struct veil_kit k;
            AUTO(buf) part = { 0 };
            buf_printf(&part, "%s%.*s", befores[i / 2], (int)n, secret);
            veil_kit_open(&k, *state);
            calls_mask_learn(&k.mask, &key);
            veil_kit_feed_part(&k, buf_str(&part), CALLS_SPLIT_CUT);
            veil_kit_end(&k);
            assert_null(memmem(k.all.p, k.all.n, secret + 4, 4));
            assert_memory_equal(k.all.p, befores[i / 2], strlen(befores[i / 2]));
            assert_non_null(memmem(k.all.p, k.all.n, "[REDACTED:", 10));
            veil_kit_close(&k);
        }
    }
}

/* What the event before it says goes on in it. */
static void
a_secret_across_the_last_events_is_masked_where_it_breaks_off(void **state)
{
    static const char last[] = "data: {\"type\":\"content_block_delta\",\"index\":0,"
                               "\"delta\":{\"text\":\"";
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(6);
    kit_expand(&token, "<ghp>", &rng);
    const struct calls_header key = { text_view("x-api-key"), text_view(KEY) };
    for (size_t i = 0; i < 4; i++) {
        const char *secret = i % 2 ? KEY : buf_str(&token);
        struct veil_kit k;
        AUTO(buf) part = { 0 };
        /* nothing but its blank line is missing, or more */
        buf_printf(&part, "%s%.6s%s", last, secret + 14, i / 2 ? "\"}}" : "");
        veil_kit_open(&k, *state);
        calls_mask_learn(&k.mask, &key);
        veil_kit_feed_piece(&k, VEIL_KIT_TEXT("0", "see #"),
                            (struct view){ (const uint8_t *)secret, 14 });
        veil_kit_feed_part(&k, buf_str(&part), CALLS_SPLIT_CUT);
        veil_kit_end(&k);
        assert_null(memmem(k.all.p, k.all.n, secret + 6, 6));
        assert_null(memmem(k.all.p, k.all.n, secret + 14, 6));
        assert_non_null(memmem(k.all.p, k.all.n, "\"see ", 5));
        veil_kit_close(&k);
    }
}

/* In whichever pieces an event over the ceiling is handed out. */
static void
a_secret_across_the_pieces_of_an_event_is_masked(void **state)
{
    static const char text[] =
        "event: x\ndata: {\"text\":\"words, \\n#, and words\"}\n\n";
    AUTO(buf) token = { 0 };
    AUTO(buf) event = { 0 };
    AUTO(buf) want = { 0 };
    uint32_t rng = rng_seed(7);
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_put(&event, text, veil_kit_view(&token), (struct view){ 0 });
    veil_kit_put(&want, text, text_view("[REDACTED:github-pat]"), (struct view){ 0 });
    for (size_t at = 30; at < event.n - 10; at++) {
        struct veil_kit k;
        AUTO(buf) first = { 0 };
        buf_append(&first, event.p, at);
        veil_kit_open(&k, *state);
        veil_kit_feed_part(&k, buf_str(&first), CALLS_SPLIT_ON);
        veil_kit_feed_part(&k, buf_str(&event) + at, CALLS_SPLIT_WHOLE);
        veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "another"));
        veil_kit_end(&k);
        assert_null(memmem(k.all.p, k.all.n, token.p + 4, 4));
        buf_clear(&first);
        for (size_t i = 0; i < 2; i++)
            buf_append(&first, k.events[i].last.p, k.events[i].last.n);
        assert_string_equal(buf_str(&first), buf_str(&want));
        assert_string_equal(buf_str(&k.events[2].last), VEIL_KIT_TEXT("0", "another"));
        veil_kit_close(&k);
    }
}

/* No more events wait than letters are held. */
static void
long_secrets_let_the_events_before_them_go(void **state)
{
    static const char *const longs[] = {
        "a [[jwt:<jwt*5000>]] b",
        "<begin>\n[[private-key:<b64*9000>\n<b64*64>]]\n<end>\nb",
        "a <b64*6000> b",
        "{\"token\": \"see <alnum*70>, <alnum*70> ghp_ <alnum*70>\", \"key\": \"",
    };
    for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
        struct veil_kit k;
        struct veil_kit_text t;
        struct kit_sample s;
        kit_sample_init(&s, longs[i]);
        veil_kit_open(&k, *state);
        veil_kit_text_open(&t, &veil_kit_styles[i], 0, *state);
        t.is_long = true;
        for (size_t at = 0; at < s.in.n; at += 3)
            veil_kit_say(&k, &t, VEIL_KIT_PLAIN, veil_kit_piece(&s.in, at, 3));
        veil_kit_end(&k);
        veil_kit_check_end(&k, &t);
        assert_true(k.waited <= REDACT_HOLD / 3 + 2);
        veil_kit_text_close(&t);
        veil_kit_close(&k);
        kit_sample_release(&s);
    }
}

static int
pass_over(void *ctx, const struct calls_veiled *v)
{
    *(size_t *)ctx += v->bytes.n;
    return 0;
}

static void
memory_is_bounded(void **state)
{
    enum { EVENTS = 60000, MOST = 4 << 20 };
    struct calls_mask mask = { .redact = *state };
    struct calls_veil *v;
    size_t written = 0, before = measure_heap_bytes(), most = 0;
    const struct calls_veil_to to = { pass_over, pass_over, &written };
    AUTO(buf) event = { 0 };
    assert_int_equal(calls_veil_new(&v, &mask), 0);
    for (size_t i = 0; i < EVENTS; i++) {
        buf_clear(&event);
        buf_printf(&event, "data: {\"index\":%zu,\"delta\":\"%s\"}\n\n", i % 100,
                   i % 7 ? "a" : " ghp_");
        assert_int_equal(
            calls_veil_event(v, veil_kit_view(&event), CALLS_SPLIT_WHOLE, i, &to), 0);
        size_t now = measure_heap_bytes() - before;
        most = now > most ? now : most;
    }
    buf_clear(&event);
    buf_puts(&event, "data: {\"delta\":\"");
    for (size_t i = 0; i < 5000; i++)
        buf_puts(&event, "words and ");
    buf_puts(&event, "\"}\n\n");
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(
            calls_veil_event(v, veil_kit_view(&event), CALLS_SPLIT_WHOLE, i, &to), 0);
    size_t now = measure_heap_bytes() - before;
    assert_true(most < MOST && now < MOST);
    assert_int_equal(calls_veil_end(v, &to), 0);
    assert_true(written > (size_t)EVENTS * 20);
    calls_veil_free(v);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_masked_in_pieces_of_any_size),
        cmocka_unit_test(a_secret_is_masked_in_the_events_of_any_api),
        cmocka_unit_test(a_secret_is_masked_wherever_it_is_cut),
        cmocka_unit_test(texts_between_each_other_are_masked),
        cmocka_unit_test(more_texts_than_are_followed_at_once_are_masked),
        cmocka_unit_test(many_texts_behind_each_other_are_masked),
        cmocka_unit_test(several_texts_in_an_event_are_masked),
        cmocka_unit_test(thoughts_under_two_names_are_masked),
        cmocka_unit_test(parts_of_one_text_in_an_event_are_joined),
        cmocka_unit_test(a_text_that_begins_with_its_block_is_masked),
        cmocka_unit_test(tokens_and_their_odds_go_with_what_is_masked),
        cmocka_unit_test(tokens_go_with_a_text_that_is_masked_as_a_whole),
        cmocka_unit_test(thousands_of_events_behind_a_held_one_are_kept),
        cmocka_unit_test(what_had_to_be_decided_too_early_is_masked),
        cmocka_unit_test(a_secret_in_which_an_event_breaks_off_is_masked),
        cmocka_unit_test(a_secret_across_the_last_events_is_masked_where_it_breaks_off),
        cmocka_unit_test(a_secret_across_the_pieces_of_an_event_is_masked),
        cmocka_unit_test(long_secrets_let_the_events_before_them_go),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
