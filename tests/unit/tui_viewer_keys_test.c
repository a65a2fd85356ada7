/* SPDX-License-Identifier: MIT */
/* tui_viewer_keys_test.c -- what the viewer does with what is typed, and what it tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/rng.h"
#include "support/viewer_scene.h"
#include "tui/viewer_priv.h"

#define MS     SCENE_MS
#define PREFIX "\035"
#define ESC    "\033[27u" /* as kitty's protocol tells it at once */

enum { SEEDS = 8 };

static const char *
last_row(const struct scene *s)
{
    return scene_row(s->outer, term_rows(s->outer) - 1);
}

static bool
has_bar(const struct scene *s, const char *text)
{
    return strstr(last_row(s), text);
}

static bool
is_text(struct tui_wish wish, const char *text)
{
    return wish.text.n == strlen(text) && !memcmp(wish.text.p, text, wish.text.n);
}

static void
feed_lines(struct scene *s)
{
    for (int i = 0; i < 100; i++) {
        char line[32];
        snprintf(line, sizeof(line), "line %d\r\n", i);
        scene_feed(s, line);
    }
}

static void
begin(struct scene *s)
{
    scene_simple(s, 80, 24);
    feed_lines(s);
    scene_feed(s, "\033[?2004h\033[24;1Hlast$ ");
    scene_draw(s);
    scene_is_equal(s);
}

/* -- the session's -- */

static void
what_is_typed_is_the_sessions(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    static const char all[] =
        "abc\033\033[A\033OP\001\003\032\033[200~\035v\033[201~\302";
    scene_type(&s, all);
    scene_was_typed(&s, all);
    scene_type(&s, PREFIX PREFIX "x");
    scene_was_typed(&s, PREFIX "x");
    scene_is_equal(&s);
    scene_wishes_nothing(&s);
    scene_release(&s);
}

static void
what_is_no_command_is_dropped_with_its_prefix(void **state)
{
    (void)state;
    static const char *const keys[] = { "x", "D", "\033[5~", "\t", "\001", "ü" };
    struct scene s;
    begin(&s);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        scene_type(&s, PREFIX);
        assert_true(has_bar(&s, "● REC  task"));
        scene_type(&s, keys[i]);
        scene_is_equal(&s); /* the row is there again */
        scene_type(&s, "y");
        scene_was_typed(&s, "y");
    }
    scene_wishes_nothing(&s);
    scene_release(&s);
}

static void
escape_behind_the_prefix_is_told_by_time(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "\033");
    assert_true(has_bar(&s, "● REC"));
    int wait_ms = tui_viewer_wait_ms(s.viewer, s.now_ns);
    assert_in_range(wait_ms, 1, 200);
    s.now_ns += (uint64_t)wait_ms * MS;
    scene_draw_now(&s);
    scene_is_equal(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    scene_type(&s, "z");
    scene_was_typed(&s, "z");
    scene_release(&s);
}

static void
without_a_prefix_all_is_the_sessions(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(80, 24);
    struct scene s;
    opt.prefix = 0;
    scene_init(&s, 80, 24, &opt);
    scene_type(&s, PREFIX "v" PREFIX "d");
    scene_was_typed(&s, PREFIX "v" PREFIX "d");
    scene_release(&s);
}

/* -- the prefix -- */

static void
the_prefix_shows_what_there_is(void **state)
{
    (void)state;
    struct play_event snapshot = { .kind = PLAY_SNAPSHOT, .snapshot_id = PLAY_NONE };
    struct scene s;
    begin(&s);
    assert_int_equal(play_events_add(&s.events, &snapshot), 0);
    assert_false(tui_viewer_shows_events(s.viewer));
    scene_type(&s, PREFIX);
    assert_true(tui_viewer_shows_events(s.viewer));
    assert_true(has_bar(&s, "● REC  task"));
    assert_true(has_bar(&s, "1 snapshot"));
    assert_true(has_bar(&s, "v review"));
    assert_true(has_bar(&s, "? help"));
    scene_is_row(s.outer, 0, "line 77"); /* nothing else is touched */
    scene_release(&s);
}

static void
d_leaves_the_session_alone(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "d");
    scene_wishes(&s, TUI_WISH_DETACH);
    scene_wishes_nothing(&s);
    scene_release(&s);
}

static void
q_asks_what_is_to_become_of_the_command(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        int wish; /* -1: none */
    } answers[] = {
        { "s", TUI_WISH_STOP }, { "d", TUI_WISH_DETACH }, { "c", -1 }, { ESC, -1 },
        { "\003", -1 },         { "zs", TUI_WISH_STOP }
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct scene s;
        begin(&s);
        scene_type(&s, PREFIX "q");
        scene_is_row(s.outer, 23,
                     "the command still runs: s stop it  d detach  c cancel");
        scene_wishes_nothing(&s);
        scene_type(&s, "\033[200~s\033[201~"); /* a paste is no answer */
        scene_wishes_nothing(&s);
        scene_type(&s, answers[i].key);
        if (answers[i].wish >= 0)
            scene_wishes(&s, (enum tui_wish_kind)answers[i].wish);
        scene_wishes_nothing(&s);
        scene_is_equal(&s);
        scene_type(&s, "x");
        scene_was_typed(&s, "x");
        scene_release(&s);
    }
}

static void
s_asks_for_a_label(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "s");
    assert_true(has_bar(&s, "label:"));
    scene_type(&s, "all good");
    assert_true(has_bar(&s, "label: all good"));
    assert_int_equal(term_cursor(s.outer).row, 23);
    assert_int_equal(term_cursor(s.outer).col, 15);
    scene_type(&s, "\r");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_SNAPSHOT), "all good"));
    scene_is_equal(&s);
    scene_type(&s, PREFIX "s\r");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_SNAPSHOT), ""));
    scene_type(&s, PREFIX "snever" ESC);
    scene_wishes_nothing(&s);
    scene_is_equal(&s);
    scene_was_typed(&s, "");
    scene_release(&s);
}

/* As terminals write it that have kitty's protocol, with releases and modifiers. */
static void
the_prefix_is_known_in_any_form(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_feed(&s, "\033[=15;1u");
    scene_type(&s, "\033[57442;5u\033[93;5u\033[93;5:3u\033[57442;1:3u");
    assert_true(has_bar(&s, "● REC"));
    scene_type(&s, "\033[118u");
    assert_true(has_bar(&s, "line 101 of 101"));
    scene_type(&s, "\033[118;1:3u\033[113u");
    scene_is_equal(&s);
    scene_release(&s);
}

/* -- help -- */

static void
help_stands_over_the_picture(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "?");
    assert_true(scene_has(&s, "Ctrl-], then"));
    assert_true(scene_has(&s, "look back"));
    assert_true(scene_has(&s, "q closes"));
    assert_false(term_cursor(s.outer).is_visible);
    scene_type(&s, "q");
    scene_is_equal(&s);
    scene_wishes_nothing(&s);
    scene_release(&s);
}

static void
no_line_of_the_help_is_cut_where_there_is_room(void **state)
{
    (void)state;
    static const char *const keys[] = { PREFIX "?", PREFIX "vh" };
    for (size_t i = 0; i < 2; i++) {
        struct scene s;
        scene_simple(&s, 54, 40);
        scene_type(&s, keys[i]);
        assert_true(scene_has(&s, "q closes") && !scene_has(&s, "…"));
        assert_int_equal(scene_has(&s, "snapshot, instruction before, after"), i);
        scene_release(&s);
    }
}

static void
help_scrolls_where_there_is_no_room(void **state)
{
    (void)state;
    struct scene s;
    scene_simple(&s, 30, 8);
    scene_feed(&s, "text");
    scene_type(&s, PREFIX "?");
    assert_true(scene_has(&s, "look back"));
    assert_false(scene_has(&s, "another part"));
    assert_true(scene_has(&s, "more"));
    scene_type(&s, "jj");
    assert_true(scene_has(&s, "instruction"));
    scene_type(&s, "\033[6~\033[6~\033[6~");
    assert_true(scene_has(&s, "?        this"));
    assert_false(scene_has(&s, "more"));
    scene_type(&s, "k");
    assert_false(scene_has(&s, "?        this"));
    scene_type(&s, "x");
    scene_is_equal(&s);
    scene_release(&s);
    scene_simple(&s, 1, 1);
    scene_type(&s, PREFIX "?");
    scene_type(&s, "x" PREFIX "q");
    scene_release(&s);
}

/* -- review mode -- */

static void
looking_back_and_live_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    for (int i = 0; i < 2; i++) {
        scene_type(&s, i ? PREFIX "[" : PREFIX "v");
        assert_true(has_bar(&s, "line 101 of 101"));
        assert_true(scene_has(&s, "last$"));
        scene_type(&s, "g");
        scene_is_row(s.outer, 0, "line 0");
        assert_true(has_bar(&s, "line 1 of 101"));
        scene_feed(&s, "more");
        scene_draw(&s);
        scene_is_row(s.outer, 0, "line 0");
        scene_type(&s, "q");
        scene_is_equal(&s);
    }
    scene_wishes_nothing(&s);
    scene_was_typed(&s, "");
    scene_release(&s);
}

static void
the_prefix_is_known_in_review_mode(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "v" PREFIX);
    assert_true(has_bar(&s, "? help"));
    scene_type(&s, "d");
    scene_wishes(&s, TUI_WISH_DETACH);
    scene_type(&s, PREFIX "s");
    assert_true(has_bar(&s, "label:"));
    scene_type(&s, ESC PREFIX "q"
                              "c"
                              "q");
    scene_is_equal(&s);
    scene_wishes_nothing(&s);
    scene_was_typed(&s, "");
    scene_release(&s);
}

static void
review_mode_on_small_terminals(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = { { 30, 8 }, { 200, 50 }, { 80, 1 }, { 1, 1 } };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct tui_viewer_options opt = scene_options(sizes[i][0], sizes[i][1]);
        struct scene s;
        scene_init(&s, 80, 24, &opt);
        scene_feed(&s, "one\r\ntwo\r\nthree");
        scene_type(&s, PREFIX "vTgh");
        scene_type(&s, "qi");
        scene_type(&s, "text");
        scene_type(&s, ESC);
        scene_type(&s, ESC "q");
        scene_draw(&s);
        assert_false(tui_viewer_is_open(s.viewer));
        scene_release(&s);
    }
}

static void
a_finished_session_is_looked_back_at(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(80, 24);
    struct scene s;
    opt.is_live = false;
    scene_init(&s, 80, 24, &opt);
    scene_feed(&s, "one\r\ntwo\r\n");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "one");
    assert_true(has_bar(&s, "■  task"));
    scene_type(&s, PREFIX "d");
    scene_type(&s, "\032");
    scene_was_typed(&s, "");
    scene_wishes(&s, TUI_WISH_SUSPEND);
    scene_wishes_nothing(&s);
    scene_type(&s, "q");
    scene_wishes(&s, TUI_WISH_LEAVE);
    scene_release(&s);
}

/* … before there was a picture. */
static void
it_begins_where_it_is_told_to(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(80, 24);
    static const char *const moments[] = { "@500", "0:30" };
    for (size_t i = 0; i < 2; i++) {
        struct play_stamps stamps = { 0 };
        struct scene s;
        opt.is_live = false;
        scene_init(&s, 80, 24, &opt);
        s.source.term = NULL;
        tui_viewer_go(s.viewer, moments[i]); /* there is nothing to go to */
        feed_lines(&s);
        play_stamps_add(&stamps, 500, 31000 * MS);
        play_stamps_add(&stamps, s.fed, 99000 * MS);
        s.source.term = s.session;
        s.source.stamps = &stamps;
        s.source.start_ts_ns = 1000 * MS;
        tui_viewer_go(s.viewer, moments[i]);
        scene_draw(&s);
        assert_true(scene_has(&s, "line 56") && !scene_has(&s, "line 99"));
        scene_draw(&s);
        assert_true(scene_has(&s, "line 56"));
        play_stamps_release(&stamps);
        scene_release(&s);
    }
}

static void
the_end_waits_for_those_who_look_back(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    assert_false(tui_viewer_ended(s.viewer, "exit 0"));
    scene_release(&s);
    static const char *const open[] = { PREFIX "v", PREFIX "?", PREFIX "slabel" };
    static const char *const close[] = { "q", "q", ESC };
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        begin(&s);
        scene_type(&s, open[i]);
        assert_true(tui_viewer_ended(s.viewer, "exit 0"));
        scene_draw(&s);
        if (i < 2)
            assert_true(has_bar(&s, "■ ended: exit 0; q leaves"));
        scene_wishes_nothing(&s);
        scene_type(&s, close[i]);
        scene_wishes(&s, TUI_WISH_LEAVE);
        scene_wishes_nothing(&s);
        scene_release(&s);
    }
}

/* -- instructions -- */

static void
i_is_an_instruction_about_now(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "i");
    assert_true(tui_viewer_shows_events(s.viewer));
    scene_type(&s, "do it");
    assert_true(scene_has(&s, "do it"));
    scene_type(&s, "\023"); /* Ctrl-S */
    scene_is_row(s.outer, 23, "type it to the agent now? y yes  n no  Y always  N never");
    scene_wishes_nothing(&s);
    scene_type(&s, "y");
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_INSTRUCT);
    assert_true(is_text(wish, "do it"));
    assert_true(wish.anchor_byte == PLAY_NONE);
    assert_true(wish.snapshot_id == PLAY_NONE);
    assert_int_equal(wish.row, 100);
    assert_true(wish.is_typed);
    scene_is_equal(&s);
    scene_was_typed(&s, "");
    scene_release(&s);
}

static void
the_answer_is_asked_once_if_it_is_for_all(void **state)
{
    (void)state;
    for (int is_yes = 0; is_yes < 2; is_yes++) {
        struct scene s;
        begin(&s);
        scene_type(&s, PREFIX "ione\023");
        scene_type(&s, is_yes ? "Y" : "N");
        assert_int_equal(scene_wishes(&s, TUI_WISH_REMEMBER).is_typed, is_yes);
        assert_int_equal(scene_wishes(&s, TUI_WISH_INSTRUCT).is_typed, is_yes);
        scene_type(&s, PREFIX "itwo\r\nlines\023");
        struct tui_wish wish = scene_wishes(&s, TUI_WISH_INSTRUCT);
        assert_int_equal(wish.is_typed, is_yes);
        scene_wishes_nothing(&s);
        scene_is_equal(&s);
        scene_release(&s);
    }
}

static void
an_instruction_can_be_taken_back(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "itext\023");
    scene_type(&s, ESC); /* not the question, and the text is there still */
    assert_true(scene_has(&s, "text"));
    scene_type(&s, ESC);
    scene_type(&s, ESC);
    scene_is_equal(&s);
    scene_type(&s, PREFIX "i\023"); /* nothing is no instruction */
    scene_is_equal(&s);
    scene_wishes_nothing(&s);
    scene_release(&s);
}

static void
an_instruction_about_a_line_is_anchored_there(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vg");
    scene_type(&s, "i");
    scene_type(&s, "other\023");
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_INSTRUCT);
    assert_true(is_text(wish, "other"));
    assert_int_equal(wish.row, 0);
    assert_int_equal(wish.anchor_byte, strlen("line 0"));
    assert_false(wish.is_typed);
    scene_wishes_nothing(&s);
    assert_true(has_bar(&s, "line 1 of")); /* one looks back still */
    scene_release(&s);
}

static void
an_instruction_after_the_end_is_typed_to_nobody(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "itext");
    assert_true(tui_viewer_ended(s.viewer, "exit 0"));
    scene_type(&s, "\023");
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_INSTRUCT);
    assert_false(wish.is_typed);
    assert_true(wish.anchor_byte != PLAY_NONE);
    scene_wishes(&s, TUI_WISH_LEAVE);
    scene_release(&s);
}

/* Not laid out anew for each character, which would take minutes. */
static void
a_long_text_is_typed_at_once(void **state)
{
    (void)state;
    enum { SIZE = 60000 };
    static char text[SIZE + 1];
    struct scene s;
    memset(text, 'x', SIZE);
    begin(&s);
    scene_type(&s, PREFIX "vgi");
    uint64_t begin_ns = clock_mono_ns();
    scene_type(&s, text);
    assert_true(clock_mono_ns() - begin_ns < 10000 * MS);
    scene_type(&s, "\023");
    assert_int_equal(scene_wishes(&s, TUI_WISH_INSTRUCT).text.n, SIZE);
    scene_release(&s);
}

static void
a_text_that_was_refused_is_in_the_next_draft(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vgi"
                          "a long text\023");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_INSTRUCT), "a long text"));
    tui_viewer_refused(s.viewer, "the disk is full", s.now_ns);
    scene_draw(&s);
    assert_true(has_bar(&s, "the disk is full"));
    scene_type(&s, "i!\023");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_INSTRUCT), "a long text!"));
    scene_type(&s, "ianother\023");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_INSTRUCT), "another"));
    scene_release(&s);
}

/* -- files and the clipboard -- */

static void
a_draft_is_written_in_the_editor(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct stat st;
    char path[256];
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vgi");
    scene_type(&s, "draft\005"); /* Ctrl-E */
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_EDITOR);
    assert_true(wish.text.n < sizeof(path));
    memcpy(path, wish.text.p, wish.text.n);
    path[wish.text.n] = 0;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(file_write_all(fd, "and more\n", 9), 0);
    close(fd);
    tui_viewer_edited(s.viewer, &err);
    assert_int_equal(stat(path, &st), -1);
    scene_type(&s, "\023");
    assert_true(is_text(scene_wishes(&s, TUI_WISH_INSTRUCT), "draft\nand more"));
    scene_type(&s, "i\005");
    wish = scene_wishes(&s, TUI_WISH_EDITOR);
    err_set(&err, ERR_MISSING, "no editor");
    s.now_ns += 3600 * UINT64_C(1000) * MS; /* however long it took */
    tui_viewer_edited(s.viewer, &err);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), 0);
    scene_draw_now(&s);
    assert_true(has_bar(&s, "no editor"));
    s.now_ns += 3000 * MS;
    scene_draw_now(&s);
    assert_false(has_bar(&s, "no editor"));
    scene_release(&s);
}

static void
the_text_is_opened_in_the_editor(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    char path[256];
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vgjv");
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_EDITOR);
    assert_int_equal(wish.row, 2);
    assert_true(wish.text.n < sizeof(path));
    memcpy(path, wish.text.p, wish.text.n);
    path[wish.text.n] = 0;
    assert_int_equal(file_slurp(path, &text), 0);
    assert_int_equal(strncmp(buf_str(&text), "line 0\nline 1\n", 14), 0);
    tui_viewer_edited(s.viewer, &(struct err){ 0 });
    assert_int_equal(access(path, F_OK), -1);
    scene_release(&s);
}

static void
what_is_typed_of_a_command_is_shown(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "v");
    scene_type(&s, "12");
    assert_true(has_bar(&s, ":12  ● REC"));
    scene_type(&s, "g");
    assert_true(has_bar(&s, "line 12 of"));
    assert_false(has_bar(&s, ":12"));
    scene_type(&s, "m");
    assert_true(has_bar(&s, "mark:"));
    scene_type(&s, "a");
    assert_true(has_bar(&s, "marked"));
    scene_type(&s, "'");
    assert_true(has_bar(&s, "go to mark:"));
    scene_type(&s, "a");
    assert_false(has_bar(&s, "mark"));
    scene_release(&s);
}

static void
what_a_key_says_last_is_what_is_read(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "v");
    tui_viewer_tell(s.viewer, "noted", s.now_ns);
    scene_draw(&s);
    assert_true(has_bar(&s, "noted"));
    scene_type(&s, "/nowhere\r");
    assert_true(has_bar(&s, "not found: nowhere"));
    assert_false(has_bar(&s, "noted"));
    scene_release(&s);
}

static void
a_line_is_copied_when_it_is_asked_for(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vg");
    assert_int_equal(term_mark_count(s.outer), 0);
    scene_type(&s, "Y");
    assert_int_equal(term_mark_count(s.outer), 1);
    struct term_mark mark = term_mark_at(s.outer, 0);
    assert_int_equal(mark.kind, TERM_MARK_CLIPBOARD);
    assert_int_equal(mark.text.n, strlen("c;bGluZSAw"));
    assert_memory_equal(mark.text.p, "c;bGluZSAw", mark.text.n); /* "line 0" */
    scene_draw(&s);
    assert_int_equal(term_mark_count(s.outer), 1);
    scene_release(&s);
}

/* -- what is told -- */

static void
trouble_is_told_until_it_is_over(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    tui_viewer_trouble(s.viewer, "disk full\033]52;c;AA\007\302\233");
    scene_draw(&s);
    assert_int_equal(strncmp(last_row(&s), "disk full]52;c;AA  ● REC", 19), 0);
    struct term_cell cell;
    term_cell_at(s.outer, 23, 0, &cell);
    assert_true(cell.style.attrs & TERM_BOLD);
    assert_int_equal(term_mark_count(s.outer), 0);
    scene_type(&s, "x"); /* it stays */
    scene_was_typed(&s, "x");
    assert_true(has_bar(&s, "disk full"));
    scene_type(&s, PREFIX "r");
    scene_is_equal(&s); /* hidden, until … */
    tui_viewer_trouble(s.viewer, "disk full\033]52;c;AA\007\302\233");
    scene_draw(&s);
    scene_is_equal(&s);
    tui_viewer_trouble(s.viewer, "a gap");
    scene_draw(&s);
    assert_true(has_bar(&s, "a gap"));
    tui_viewer_trouble(s.viewer, NULL);
    scene_draw(&s);
    scene_is_equal(&s);
    scene_release(&s);
}

static void
what_was_asked_for_is_told_beside_trouble(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    tui_viewer_trouble(s.viewer, "cannot write 'session.ahr': No space left on device; "
                                 "the command goes on without being recorded");
    tui_viewer_tell(s.viewer, "snapshot taken", s.now_ns);
    scene_draw(&s);
    assert_true(has_bar(&s, "No space left"));
    assert_true(has_bar(&s, "snapshot taken"));
    scene_release(&s);
}

static void
of_trouble_without_room_the_reason_is_told(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    tui_viewer_trouble(s.viewer, "cannot write '/x': disk full");
    scene_draw(&s);
    assert_true(has_bar(&s, "cannot write '/x': disk full"));
    tui_viewer_trouble(s.viewer, "cannot write '/a/path/that/is/longer/than/all/of/this/"
                                 "terminal/and/tells/nobody/anything': disk full; so");
    scene_draw(&s);
    assert_int_equal(strncmp(last_row(&s), "disk full; so  ● REC", 19), 0);
    scene_release(&s);
}

static void
what_is_told_goes_by_itself(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    s.now_ns += 16 * MS;
    tui_viewer_tell(s.viewer, "snapshot 12", s.now_ns);
    scene_draw_now(&s);
    assert_true(has_bar(&s, "snapshot 12"));
    int wait_ms = tui_viewer_wait_ms(s.viewer, s.now_ns);
    assert_int_equal(wait_ms, 3000);
    s.now_ns += (uint64_t)wait_ms * MS;
    scene_draw_now(&s);
    scene_is_equal(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    scene_release(&s);
}

static void
what_is_told_makes_room_for_what_the_next_key_tells(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vgY");
    assert_true(has_bar(&s, "copied"));
    scene_type(&s, "'x");
    assert_true(has_bar(&s, "there is no mark x"));
    assert_false(has_bar(&s, "copied"));
    scene_release(&s);
}

static void
the_status_line_has_room_anywhere(void **state)
{
    (void)state;
    for (unsigned cols = 1; cols < 120; cols++) {
        struct tui_viewer_options opt = scene_options(cols, 3);
        struct scene s;
        opt.name = "a name\033[2J 漢字 that is long, \342\200\256turned\nand broken";
        scene_init(&s, cols, 3, &opt);
        scene_feed(&s, "top\033[2;1Hmid");
        scene_draw(&s);
        size_t before = term_scrollback_count(s.outer);
        tui_viewer_trouble(s.viewer, "the disk is full");
        scene_type(&s, PREFIX);
        scene_is_row(s.outer, 0, cols > 2 ? "top" : scene_row(s.session, 0));
        assert_int_equal(term_scrollback_count(s.outer), before);
        scene_type(&s, "q");
        scene_release(&s);
    }
}

/* Nobody is there any more to be typed to. */
static void
an_answer_after_the_end_types_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "i");
    scene_type(&s, "words\023");
    assert_true(has_bar(&s, "type it to the agent now?"));
    assert_true(tui_viewer_ended(s.viewer, "exit 0"));
    scene_type(&s, "y");
    struct tui_wish wish = scene_wishes(&s, TUI_WISH_INSTRUCT);
    assert_true(is_text(wish, "words"));
    assert_false(wish.is_typed);
    scene_release(&s);
}

static void
a_click_beside_the_page_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *click;
        bool is_on_page;
    } clicks[] = { { "\033[<0;2;1M", false },
                   { "\033[<0;79;1M", false },
                   { "\033[<0;30;1M", true } };
    struct tui_viewer_options opt = scene_options(80, 24);
    for (size_t i = 0; i < sizeof(clicks) / sizeof(clicks[0]); i++) {
        struct scene s;
        scene_init(&s, 40, 10, &opt);
        scene_feed(&s, "text");
        scene_type(&s, PREFIX "v");
        scene_type(&s, clicks[i].click);
        assert_int_equal(scene_has(&s, "Ctrl-S submit"), clicks[i].is_on_page);
        scene_release(&s);
    }
}

/* -- those who watch -- */

static void
a_watcher_needs_no_prefix(void **state)
{
    (void)state;
    static const char *const leave[] = { "q", "d", "\003", PREFIX "d", PREFIX "q" };
    struct tui_viewer_options opt = scene_options(80, 24);
    opt.is_watcher = true;
    for (size_t i = 0; i < sizeof(leave) / sizeof(leave[0]); i++) {
        struct scene s;
        scene_init(&s, 80, 24, &opt);
        scene_feed(&s, "text");
        scene_type(&s, "xyz\033[200~q\033[201~");
        scene_wishes_nothing(&s);
        scene_type(&s, "v");
        assert_true(has_bar(&s, "line 1 of 1"));
        scene_type(&s, "q?");
        assert_true(scene_has(&s, "look back"));
        scene_type(&s, "q");
        scene_wishes_nothing(&s);
        scene_type(&s, leave[i]);
        scene_wishes(&s, TUI_WISH_LEAVE);
        scene_wishes_nothing(&s);
        scene_was_typed(&s, "");
        scene_release(&s);
    }
}

static void
a_watcher_is_not_asked_for_words_that_nobody_takes(void **state)
{
    (void)state;
    static const char *const keys[] = { "s", "i", PREFIX "i", "i", "\r", "\033[<0;1;1M" };
    enum { LOOKING_BACK = 3 };
    struct tui_viewer_options opt = scene_options(80, 24);
    opt.is_watcher = true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct scene s;
        scene_init(&s, 80, 24, &opt);
        scene_feed(&s, "text");
        if (i >= LOOKING_BACK)
            scene_type(&s, "v");
        scene_type(&s, keys[i]);
        assert_true(has_bar(&s, "a watcher only looks"));
        assert_false(scene_has(&s, "label:"));
        assert_false(scene_has(&s, "Ctrl-S submit"));
        scene_type(&s, i >= LOOKING_BACK ? "qq" : "q");
        scene_wishes(&s, TUI_WISH_LEAVE);
        scene_release(&s);
    }
}

static void
a_session_without_a_picture_is_no_trouble(void **state)
{
    (void)state;
    for (int is_live = 0; is_live < 2; is_live++) {
        AUTO(buf) out = { 0 };
        struct tui_viewer_options opt = scene_options(80, 24);
        struct scene s;
        opt.is_live = is_live;
        opt.begins_back = true;
        scene_init(&s, 80, 24, &opt);
        tui_viewer_free(s.viewer);
        s.source.term = NULL;
        s.source.events = NULL;
        s.viewer = tui_viewer_new(&opt, &s.source);
        tui_viewer_begin(s.viewer, &out);
        scene_draw(&s);
        scene_type(&s, "jkGg/x\rT&x\rY=");
        scene_type(&s, "i");
        scene_type(&s, "text");
        scene_type(&s, ESC ESC "q");
        if (is_live)
            scene_type(&s, PREFIX "v" PREFIX "i" ESC "q" PREFIX "\033[A");
        assert_false(tui_viewer_end_with(s.viewer, false, &out));
        scene_release(&s);
    }
}

/* … with this on its screen; the old one is gone. */
static void
renew(struct scene *s, const char *text)
{
    struct term *old = s->session;
    struct term_options how = term_options_default();
    how.cols = 80;
    how.rows = 24;
    s->session = term_new(&how);
    assert_non_null(s->session);
    term_feed(s->session, text, strlen(text), 0);
    s->source.term = s->session;
    term_free(old);
    tui_viewer_renew(s->viewer);
}

static void
another_model_is_looked_at_from_then_on(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "v");
    renew(&s, "another");
    scene_type(&s, "jk");
    assert_true(scene_has(&s, "another"));
    scene_type(&s, "q");
    scene_is_equal(&s);
    scene_release(&s);
}

static void
another_model_is_known_when_nobody_looks_back(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    scene_type(&s, PREFIX "vq");
    renew(&s, "another");
    assert_ptr_equal(s.viewer->review.book.term, s.session);
    renew(&s, "a third");
    scene_type(&s, PREFIX "v");
    assert_true(scene_has(&s, "a third"));
    scene_release(&s);
}

static void
another_model_does_not_ring_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    renew(&s, "another\a\a");
    scene_draw(&s);
    assert_null(memchr(s.last.p, '\a', s.last.n));
    scene_feed(&s, "\a");
    scene_draw(&s);
    assert_non_null(memchr(s.last.p, '\a', s.last.n));
    scene_release(&s);
}

/* -- whatever is typed -- */

/* Nothing that could end in a file's name for `s`. */
static const char *const anything[] = {
    PREFIX,
    PREFIX "v",
    PREFIX "i",
    PREFIX "?",
    PREFIX "q",
    PREFIX "r",
    PREFIX PREFIX,
    "q",
    "c",
    "y",
    "n",
    "j",
    "k",
    "g",
    "G",
    "f",
    "b",
    "d",
    "u",
    "z",
    "w",
    "5",
    "%",
    "p",
    "/lin",
    "?ne 1",
    "n",
    "N",
    "&line",
    "ma",
    "'a",
    "''",
    "F",
    "=",
    "R",
    "T",
    "[",
    "]",
    "{",
    "}",
    "@",
    "@9",
    "0:01",
    "i",
    "\r",
    "\n",
    ESC,
    "\033",
    "\033u",
    "\177",
    "\t",
    "\033[A",
    "\033[B",
    "\033[C",
    "\033[D",
    "\033[5~",
    "\033[6~",
    "\033[H",
    "\033[F",
    "\033[<0;3;4M",
    "\033[<0;3;4m",
    "\033[<64;9;9M",
    "\033[<65;1;1M",
    "\033[200~pa\r",
    "\033[201~",
    "\023",
    "\003",
    "\f",
    "\001",
    "\013",
    "\027",
    "漢",
    "\033[13;5u",
};

static void
shows_its_picture(const struct scene *s)
{
    const struct term *shown = s->viewer->canvas.shown;
    for (unsigned row = 0; row < term_rows(shown); row++)
        for (unsigned col = 0; col < term_cols(shown); col++) {
            struct term_cell a, b;
            term_cell_at(shown, row, col, &a);
            term_cell_at(s->outer, row, col, &b);
            assert_true(scene_is_same_text(&a, &b) && scene_is_same_look(&a, &b));
        }
}

static void
type_anything(uint32_t seed, unsigned cols, unsigned rows)
{
    AUTO(buf) out = { 0 };
    struct tui_viewer_options opt = scene_options(cols, rows);
    struct tui_wish wish;
    struct scene s;
    uint32_t rng = seed;
    opt.is_watcher = seed % 4 == 3;
    scene_init(&s, 40, 12, &opt);
    for (int i = 0; i < 400; i++) {
        char line[40];
        uint32_t n = rng_next(&rng);
        snprintf(line, sizeof(line), "line %d of 漢字%s", i, n % 5 ? "\r\n" : "");
        scene_feed(&s, n % 50 == 7 ? "\033[?1049h" : n % 50 == 8 ? "\033[?1049l" : line);
        scene_type(&s, anything[rng_next(&rng) % (sizeof(anything) / sizeof(*anything))]);
        if (n % 40 == 3) {
            unsigned wide = 1 + n / 64 % 90, high = 1 + n / 8192 % 30;
            term_resize(s.outer, wide, high);
            tui_viewer_resize(s.viewer, wide, high, &out);
            scene_flush(&s, &out);
        } else if (n % 40 == 4) {
            term_resize(s.session, 2 + n / 64 % 60, 2 + n / 8192 % 20);
            tui_viewer_touch(s.viewer);
        }
        while (tui_viewer_wish(s.viewer, &wish))
            if (wish.kind == TUI_WISH_EDITOR)
                tui_viewer_edited(s.viewer, &(struct err){ 0 });
        scene_draw(&s);
        shows_its_picture(&s);
    }
    scene_release(&s);
}

static void
whatever_is_typed_there_is_a_picture(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        type_anything(seed, seed % 2 ? 40 : 60, seed % 3 ? 12 : 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_typed_is_the_sessions),
        cmocka_unit_test(what_is_no_command_is_dropped_with_its_prefix),
        cmocka_unit_test(escape_behind_the_prefix_is_told_by_time),
        cmocka_unit_test(without_a_prefix_all_is_the_sessions),
        cmocka_unit_test(the_prefix_shows_what_there_is),
        cmocka_unit_test(d_leaves_the_session_alone),
        cmocka_unit_test(q_asks_what_is_to_become_of_the_command),
        cmocka_unit_test(s_asks_for_a_label),
        cmocka_unit_test(the_prefix_is_known_in_any_form),
        cmocka_unit_test(help_stands_over_the_picture),
        cmocka_unit_test(no_line_of_the_help_is_cut_where_there_is_room),
        cmocka_unit_test(help_scrolls_where_there_is_no_room),
        cmocka_unit_test(looking_back_and_live_again),
        cmocka_unit_test(the_prefix_is_known_in_review_mode),
        cmocka_unit_test(review_mode_on_small_terminals),
        cmocka_unit_test(a_finished_session_is_looked_back_at),
        cmocka_unit_test(it_begins_where_it_is_told_to),
        cmocka_unit_test(the_end_waits_for_those_who_look_back),
        cmocka_unit_test(i_is_an_instruction_about_now),
        cmocka_unit_test(the_answer_is_asked_once_if_it_is_for_all),
        cmocka_unit_test(an_instruction_can_be_taken_back),
        cmocka_unit_test(an_instruction_about_a_line_is_anchored_there),
        cmocka_unit_test(an_instruction_after_the_end_is_typed_to_nobody),
        cmocka_unit_test(a_long_text_is_typed_at_once),
        cmocka_unit_test(a_text_that_was_refused_is_in_the_next_draft),
        cmocka_unit_test(a_draft_is_written_in_the_editor),
        cmocka_unit_test(the_text_is_opened_in_the_editor),
        cmocka_unit_test(what_is_typed_of_a_command_is_shown),
        cmocka_unit_test(what_a_key_says_last_is_what_is_read),
        cmocka_unit_test(a_line_is_copied_when_it_is_asked_for),
        cmocka_unit_test(trouble_is_told_until_it_is_over),
        cmocka_unit_test(what_was_asked_for_is_told_beside_trouble),
        cmocka_unit_test(of_trouble_without_room_the_reason_is_told),
        cmocka_unit_test(what_is_told_goes_by_itself),
        cmocka_unit_test(what_is_told_makes_room_for_what_the_next_key_tells),
        cmocka_unit_test(the_status_line_has_room_anywhere),
        cmocka_unit_test(an_answer_after_the_end_types_nothing),
        cmocka_unit_test(a_click_beside_the_page_is_none),
        cmocka_unit_test(a_watcher_needs_no_prefix),
        cmocka_unit_test(a_watcher_is_not_asked_for_words_that_nobody_takes),
        cmocka_unit_test(a_session_without_a_picture_is_no_trouble),
        cmocka_unit_test(another_model_is_looked_at_from_then_on),
        cmocka_unit_test(another_model_is_known_when_nobody_looks_back),
        cmocka_unit_test(another_model_does_not_ring_again),
        cmocka_unit_test(whatever_is_typed_there_is_a_picture),
    };
    return cmocka_run_group_tests_name("tui_viewer_keys", tests, NULL, NULL);
}
