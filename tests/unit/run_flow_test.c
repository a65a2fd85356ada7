/* SPDX-License-Identifier: MIT */
/*
 * run_flow_test.c -- what a command says, on its way to the files and to the screen.
 *
 * Each write is noted by the file that it goes to: what is shown is on disk by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "run/flow_priv.h"
#include "support/kit.h"

/* -- calls to the disk -- */

static struct buf calls;       /* "io log screen ", and "io! " for a sync */
static const char *full_place; /* it takes nothing */
static int screen_fd = -1;
static char reserve_path[4096]; /* noted where it is there when the meta is written */
static pthread_mutex_t tape_gate = PTHREAD_MUTEX_INITIALIZER; /* its thread waits there */

/* What the files of a run are called here; NULL: none of them. */
static const char *
place_of(int fd)
{
    static const char *const places[][2] = { { ".turns.jsonl", "turns" },
                                             { "/io.log", "io" },
                                             { "/1.log", "log" },
                                             { "/session.ahr", "tape" },
                                             { "/session.meta", "meta" } };
    char name[64], path[4096];
    if (fd == screen_fd)
        return "screen";
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof(path) - 1);
    if (n < 0)
        return NULL;
    path[n] = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strstr(path, places[i][0]))
            return places[i][1];
    return NULL;
}

/* False: it fails. What the tape's own thread does is not looked at. */
static bool
note(int fd, const char *what)
{
    bool is_ours = gettid() == getpid();
    const char *place = is_ours ? place_of(fd) : NULL;
    if (!is_ours) {
        pthread_mutex_lock(&tape_gate);
        pthread_mutex_unlock(&tape_gate);
    }
    if (place && full_place && !strcmp(place, full_place)) {
        errno = ENOSPC;
        return false;
    }
    if (place)
        buf_printf(&calls, "%s%s ", place, what);
    if (place && !strcmp(place, "meta") && access(reserve_path, F_OK) == 0)
        buf_puts(&calls, "reserved ");
    return true;
}

#define WRAP(type, name, what, parameters, arguments)         \
    type __real_##name parameters;                            \
    type __wrap_##name parameters;                            \
    type __wrap_##name parameters                             \
    {                                                         \
        return note(fd, what) ? __real_##name arguments : -1; \
    }

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker names them */
WRAP(ssize_t, write, "", (int fd, const void *p, size_t n), (fd, p, n))
WRAP(ssize_t, writev, "", (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(ssize_t, pwrite64, "", (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
WRAP(ssize_t, pwritev64, "", (int fd, const struct iovec *v, int n, off_t at),
     (fd, v, n, at))
WRAP(int, fdatasync, "!", (int fd), (fd))
/* NOLINTEND(bugprone-reserved-identifier) */

/* -- a run without a command -- */

struct kit {
    struct run_options opt;
    struct run_keep keep;
    struct run_flow flow;
    struct pty_output out;
    int shown_fd;
    unsigned said;
    char *dir, *home;
};

static char *const command[] = { (char[]){ "cmd" }, NULL };

static void
say(void *ctx, const char *text)
{
    struct kit *k = ctx;
    assert_true(*text);
    k->said++;
}

static void
on_news(void *ctx)
{
    (void)ctx;
}

static struct kit *
begin(struct run_options opt)
{
    struct kit *k = calloc(1, sizeof(*k));
    struct err err;
    int fds[2];
    k->dir = getcwd(NULL, 0);
    assert_true(asprintf(&k->home, "%s/home", k->dir) > 0);
    assert_int_equal(mkdir(k->home, 0700), 0);
    k->opt = opt;
    k->opt.home = k->home;
    k->opt.root = k->dir;
    k->opt.argv = command;
    k->opt.iterations = 1;
    k->opt.flush_ms = 60000;
    k->opt.cols = 80;
    k->opt.rows = 24;
    k->opt.say = say;
    k->opt.ctx = k;
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    k->shown_fd = fds[0];
    assert_int_equal(run_keep_open(&k->keep, &k->opt, on_news, NULL, &err), 0);
    pty_output_open(&k->out, fds[1]);
    screen_fd = k->out.fd;
    assert_int_equal(run_flow_init(&k->flow, &k->keep, &k->out, &err), 0);
    k->flow.iteration = run_keep_begin(&k->keep);
    k->opt.flush_ms = 0; /* of what is told from now on; the log waits as it was told */
    buf_clear(&calls);
    return k;
}

/* As a run that was completed; the files stay. */
static void
end(struct kit *k)
{
    struct run_facts *f = &k->keep.facts;
    run_flow_end(&k->flow);
    run_flow_settle(&k->flow);
    f->status = SESSION_COMPLETED;
    f->exit_code = 0;
    f->ended_at_ns = run_keep_now_ns(&k->keep);
    run_keep_end(&k->keep, 0, 1, NULL, NULL);
    run_keep_finish(&k->keep);
}

static void
leave(struct kit *k)
{
    full_place = NULL;
    screen_fd = -1;
    if (k->keep.tape) { /* it has not ended */
        run_keep_end(&k->keep, 0, 1, NULL, NULL);
        run_keep_discard(&k->keep);
    }
    int given_fd = k->out.given_fd;
    pty_output_close(&k->out);
    close(given_fd);
    close(k->shown_fd);
    run_flow_release(&k->flow);
    run_keep_release(&k->keep);
    free(k->home);
    free(k->dir);
    free(k);
    buf_release(&calls);
}

static void
hear(struct kit *k, const char *text)
{
    run_flow_out(&k->flow, text_view(text));
    run_flow_settle(&k->flow);
}

/* What is on the screen, or in one of the files; freed by the caller. */
static char *
shown(struct kit *k)
{
    char *text = calloc(1, 1 << 20);
    ssize_t n = read(k->shown_fd, text, (1 << 20) - 1);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static char *
content(const char *path)
{
    char *text = calloc(1, 4 << 20);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, (4 << 20) - 1, file)] = 0;
    fclose(file);
    return text;
}

#define IO  ".ahr/sessions/RUN-001/io.log"
#define LOG ".ahr/sessions/RUN-001/iterations/1.log"

static char *
turns(struct kit *k)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/sessions/%s/session.turns.jsonl", k->home,
             k->keep.id);
    return content(path);
}

static void
check_has(char *text, const char *want, bool is_wanted)
{
    if ((strstr(text, want) != NULL) != is_wanted)
        fail_msg("%s '%s' in:\n%s", is_wanted ? "no" : "there is", want, text);
    free(text);
}

static void
check_shown(struct kit *k, const char *want)
{
    char *text = shown(k);
    assert_string_equal(text, want);
    free(text);
}

/* -- order -- */

static void
what_is_shown_is_in_all_files_before(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "one\n");
    assert_string_equal(buf_str(&calls), "turns io log tape screen ");
    check_shown(k, "one\n");
    leave(k);
}

static void
a_piece_is_in_the_files_before_it_is_shown(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "part");
    assert_string_equal(buf_str(&calls), "");
    run_flow_tick(&k->flow);
    assert_string_equal(buf_str(&calls), "io log tape screen ");
    check_shown(k, "part");
    check_has(content(LOG), "\npart\n", true);
    leave(k);
}

static void
the_end_is_synced(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "one\n");
    buf_clear(&calls);
    end(k);
    assert_non_null(strstr(buf_str(&calls), "turns! "));
    assert_non_null(strstr(buf_str(&calls), "io! "));
    assert_non_null(strstr(buf_str(&calls), "log! "));
    leave(k);
}

static void
the_library_knows_the_project_from_the_start(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    char path[4096], want[4096];
    snprintf(path, sizeof(path), "%s/live/%s/project", k->home, k->keep.id);
    snprintf(want, sizeof(want), "%s/.ahr/sessions/RUN-001\n", k->dir);
    check_has(content(path), want, true);
    leave(k);
}

static void
the_tape_has_lines_as_a_terminal_needs_them(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    run_flow_out(&k->flow, text_view("one\ntwo\n"));
    assert_int_equal(k->flow.batch.tape.n, strlen("one\r\ntwo\r\n"));
    assert_memory_equal(k->flow.batch.tape.p, "one\r\ntwo\r\n", 10);
    leave(k);
}

/* What is read while the tape waits for its disk would be lost, or memory without end. */
static void
nothing_is_read_while_the_tape_has_no_room(void **state)
{
    (void)state;
    enum { PIECE_BYTES = 64 << 10, PIECES = 1000 };
    struct kit *k = begin((struct run_options){ 0 });
    int pieces = 0;
    assert_true(run_keep_has_room(&k->keep));
    pthread_mutex_lock(&tape_gate);
    for (; pieces < PIECES && run_keep_has_room(&k->keep); pieces++) {
        struct run_batch b = { 0 };
        memset(buf_grow(&b.tape, PIECE_BYTES), 'x', PIECE_BYTES);
        run_keep_write(&k->keep, &b);
        buf_release(&b.tape);
    }
    bool has_room = run_keep_has_room(&k->keep);
    pthread_mutex_unlock(&tape_gate);
    assert_false(has_room);
    assert_in_range(pieces, 1, PIECES - 1);
    while (!run_keep_has_room(&k->keep)) /* the disk takes it again */
        usleep(1000);
    leave(k);
}

static void
a_run_has_room_in_reserve_until_its_end(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    struct stat st;
    snprintf(reserve_path, sizeof(reserve_path), "%s/live/%s/reserve", k->home,
             k->keep.id);
    assert_int_equal(stat(reserve_path, &st), 0);
    assert_true(st.st_blocks * 512 >= 16 << 10);
    run_facts_write(&k->keep, false);
    assert_non_null(strstr(buf_str(&calls), "reserved "));
    buf_clear(&calls);
    end(k);
    assert_non_null(strstr(buf_str(&calls), "meta ")); /* there was room for it */
    assert_null(strstr(buf_str(&calls), "reserved "));
    leave(k);
}

/* `ahr artifact add`, say. */
static void
facts_that_somebody_else_is_changing_are_told_later(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    AUTO(buf) path = { 0 };
    journal_project_path(&k->keep.project, "metadata.json.lock", &path);
    int fd = open(buf_str(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    k->keep.facts.is_changed = true;
    run_facts_write(&k->keep, false);
    assert_true(k->keep.facts.is_changed);
    close(fd);
    run_facts_write(&k->keep, false);
    assert_false(k->keep.facts.is_changed);
    assert_int_equal(k->said, 0); /* it is no trouble */
    leave(k);
}

static int
open_second(struct kit *k, struct run_keep *ret)
{
    static struct run_options opt;
    struct err err;
    opt = k->opt;
    opt.name = "RUN-001";
    return run_keep_open(ret, &opt, on_news, NULL, &err);
}

static void
both_folders_are_locked(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    struct run_keep second;
    struct session_folder f;
    struct err err;
    run_keep_end(&k->keep, 0, 1, NULL, NULL); /* between iterations no log is locked */
    assert_int_equal(open_second(k, &second), ERR_BUSY);
    run_keep_release(&second);
    assert_int_equal(session_folder_take(&f, k->home, k->keep.id, &err), ERR_BUSY);
    assert_true(fcntl(k->keep.project.lock_fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(k->keep.folder.lock_fd, F_GETFD) & FD_CLOEXEC);
    leave(k);
}

static void
a_name_is_free_again_when_its_run_has_ended(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .name = "x" });
    end(k);
    leave(k);
    kit_remove_dir(strdup("home"));
    k = begin((struct run_options){ .name = "x" });
    assert_int_equal(k->flow.iteration, 2);
    leave(k);
}

/* -- trouble -- */

static void
a_file_that_takes_nothing_is_told_once_and_costs_nothing_else(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    full_place = "io";
    hear(k, "one\n");
    hear(k, "two\n");
    assert_int_equal(k->said, 1);
    check_shown(k, "one\ntwo\n");
    check_has(content(LOG), "one\ntwo\n", true);
    full_place = NULL;
    run_keep_tick(&k->keep);
    check_has(content(IO), "\"two\"", true);
    leave(k);
}

static void
lines_that_are_missing_are_told_where_they_are_missing(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "before\n");
    full_place = "io";
    k->keep.io.waiting.ceiling = 16;
    hear(k, "lost\n");
    hear(k, "lost too\n");
    full_place = NULL;
    hear(k, "after\n");
    char *io = content(IO);
    char *before = strstr(io, "\"before\""), *note = strstr(io, "2 lines are missing");
    char *after = strstr(io, "\"after\"");
    assert_non_null(before);
    assert_non_null(note);
    assert_non_null(after);
    assert_true(before < note);
    assert_true(note < after);
    check_has(io, "lost", false);
    leave(k);
}

/* -- secrets -- */

/* One that no file of this tree has in it. */
static const char *
secret(void)
{
    static char text[41] = "ghp_";
    static const char letters[] =
        "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    uint32_t rng = 7;
    for (size_t i = 4; i < 40; i++) {
        rng = rng * 1103515245 + 12345;
        text[i] = letters[(rng >> 16) % (sizeof(letters) - 1)];
    }
    return text;
}

static void
check_masked(const char *before, const char *behind, bool is_input)
{
    AUTO(buf) line = { 0 };
    struct kit *k = begin((struct run_options){ .is_verbose = true });
    buf_printf(&line, "%s%s%s", before, secret(), behind);
    if (is_input)
        run_flow_input(&k->flow, (struct view){ line.p, line.n }, line.p[0] != '{');
    else
        hear(k, buf_str(&line));
    end(k);
    check_has(shown(k), secret(), false);
    check_has(content(IO), secret(), false);
    check_has(content(LOG), secret(), false);
    check_has(turns(k), secret(), false);
    check_has(turns(k), "REDACTED", true);
    leave(k);
    kit_remove_dir(strdup(".ahr"));
    kit_remove_dir(strdup("home"));
}

static void
secrets_are_masked_wherever_an_agent_says_them(void **state)
{
    (void)state;
    check_masked("plain ", "\n", false);
    check_masked("{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{"
                 "\"type\":\"text\",\"text\":\"it is ",
                 "\"}]}}\n", false);
    check_masked("{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{"
                 "\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{"
                 "\"command\":\"echo\\n",
                 "\"}}]}}\n", false);
    check_masked("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"t\",\"content\":\"",
                 "\"}]}}\n", false);
    check_masked("{\"type\":\"nobody_knows\",\"x\":\"", "\"}\n", false);
    check_masked("a prompt with ", "", true);
    check_masked("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"",
                 "\"}}", true);
}

/* -- messages in pieces -- */

#define PIECE(id, text)                                                              \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{" \
    "\"id\":\"" id "\"}}}\n"                                                         \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\","        \
    "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}}\n" MORE(text)
#define MORE(text)                                                            \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\"," \
    "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"}}}\n"
#define WHOLE(id, text)                                                     \
    "{\"type\":\"assistant\",\"message\":{\"id\":\"" id "\",\"content\":[{" \
    "\"type\":\"text\",\"text\":\"" text "\"}]}}\n"

/* Pieces that have come are told. */
static void
pass_time(struct kit *k)
{
    run_flow_tick(&k->flow);
}

static void
pieces_and_their_whole_are_shown_once(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "Hello "));
    pass_time(k);
    hear(k, MORE("my "));
    pass_time(k);
    hear(k, WHOLE("m", "Hello my friend"));
    end(k);
    check_shown(k, "Hello my friend\n");
    check_has(content(LOG), "\nHello my friend\n", true);
    check_has(turns(k), "\"text\":\"Hello my friend\"", true);
    check_has(turns(k), "\"text\":\"Hello \"", false);
    leave(k);
}

static void
a_whole_that_is_another_is_shown_beside_its_pieces(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "Hello"));
    pass_time(k);
    hear(k, WHOLE("m", "Good morning to you"));
    end(k);
    check_has(content(LOG), "Hello\nGood morning to you\n", true);
    leave(k);
}

static void
pieces_without_a_whole_are_a_turn_that_was_interrupted(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "Hello wor"));
    pass_time(k);
    end(k);
    check_has(content(LOG), "\nHello wor\n", true);
    check_has(turns(k), "\"interrupted\":true", true);
    check_has(content(IO), "\"interrupted\":true", true);
    leave(k);
}

static void
a_secret_that_was_cut_off_is_not_told(void **state)
{
    (void)state;
    AUTO(buf) piece = { 0 };
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    char stump[31] = "";
    memcpy(stump, secret(), sizeof(stump) - 1);
    buf_printf(&piece, PIECE("m", "the token is %s"), stump);
    hear(k, buf_str(&piece));
    pass_time(k);
    end(k);
    check_has(shown(k), stump, false);
    check_has(content(IO), stump, false);
    check_has(content(LOG), stump, false);
    check_has(turns(k), stump, false);
    leave(k);
}

static void
a_line_that_ends_in_a_stump_of_a_secret_is_shown_without_it(void **state)
{
    (void)state;
    AUTO(buf) line = { 0 };
    struct kit *k = begin((struct run_options){ 0 });
    char stump[31] = "";
    memcpy(stump, secret(), sizeof(stump) - 1);
    buf_printf(&line, "the token is %s", stump);
    hear(k, buf_str(&line));
    end(k);
    check_has(shown(k), stump, false);
    check_has(turns(k), stump, false);
    leave(k);
}

static void
what_is_held_of_a_message_is_no_part_of_the_next(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "the key is ghp_abcdefgh"));
    pass_time(k);
    hear(k, PIECE("n", "Good morning to you"));
    pass_time(k);
    end(k);
    check_has(content(LOG), "\nGood morning to you\n", true);
    leave(k);
}

static void
many_pieces_do_not_wait(void **state)
{
    (void)state;
    AUTO(buf) piece = { 0 };
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    char *words = calloc(1, 70001);
    for (size_t i = 0; i < 70000; i++)
        words[i] = i % 8 ? 'a' : ' ';
    buf_printf(&piece, PIECE("m", "%s"), words);
    hear(k, buf_str(&piece));
    assert_non_null(strstr(buf_str(&calls), "log"));
    free(words);
    leave(k);
}

static void
a_sequence_that_a_message_leaves_open_does_not_eat_the_next(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "first \\u001b["));
    pass_time(k);
    hear(k, PIECE("n", "31m is a number"));
    pass_time(k);
    end(k);
    check_has(content(LOG), "31m is a number\n", true);
    leave(k);
}

static void
another_event_stands_behind_what_has_come_of_a_message(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE });
    hear(k, PIECE("m", "Hello"));
    run_flow_err(&k->flow, text_view("oh\n"));
    run_flow_settle(&k->flow);
    check_has(content(LOG), "Hello\n[stderr] oh\n", true);
    leave(k);
}

/* -- lines -- */

static void
a_line_of_stderr_that_does_not_end_is_shown_in_time_and_at_the_end(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    run_flow_err(&k->flow, text_view("password? "));
    run_flow_tick(&k->flow);
    check_has(shown(k), "[stderr] password? ", true);
    run_flow_err(&k->flow, text_view("last words"));
    end(k);
    check_has(content(LOG), "[stderr] last words\n", true);
    leave(k);
}

static size_t
count_x(char *text)
{
    size_t n = 0;
    for (const char *at = text; (at = strchr(at, 'x')); at++)
        n++;
    free(text);
    return n;
}

static void
a_line_that_never_ends_is_cut_and_comes_whole(void **state)
{
    (void)state;
    enum { BYTES = 5 << 19 };
    struct kit *k = begin((struct run_options){ 0 });
    char *line = calloc(1, BYTES + 1);
    memset(line, 'x', BYTES);
    run_flow_err(&k->flow, text_view(line));
    run_flow_settle(&k->flow);
    assert_in_range(k->flow.events, 1, 2);
    assert_true(k->flow.err.line.n <= RUN_LINE_MAX);
    end(k);
    assert_int_equal(count_x(content(IO)), BYTES);
    free(line);
    leave(k);
}

/* Dots that tell of progress would put it off for ever. */
static void
what_follows_does_not_put_a_piece_of_stderr_off(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    run_flow_err(&k->flow, text_view("one two "));
    uint64_t held_ns = k->flow.err.held_ns;
    assert_int_not_equal(held_ns, 0);
    run_flow_err(&k->flow, text_view("three "));
    assert_int_equal(k->flow.err.held_ns, held_ns);
    run_flow_err(&k->flow, text_view("four\nfive six "));
    assert_true(k->flow.err.held_ns > held_ns); /* another line */
    run_flow_err(&k->flow, text_view("seven\n"));
    assert_int_equal(k->flow.err.held_ns, 0);
    leave(k);
}

static void
a_line_goes_on_where_its_piece_ended_and_the_next_is_whole(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "part ");
    run_flow_tick(&k->flow);
    hear(k, "whole\nnext line\n");
    end(k);
    check_shown(k, "part whole\nnext line\n");
    check_has(turns(k), "\"text\":\"part whole\"", true);
    leave(k);
}

static void
a_character_that_is_cut_waits_for_its_rest(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ 0 });
    hear(k, "ab\xf0\x9f\x98");
    run_flow_tick(&k->flow);
    check_shown(k, "ab");
    hear(k, "\x80 c\n");
    end(k);
    check_shown(k, "\xf0\x9f\x98\x80 c\n");
    check_has(content(IO), "base64", false);
    leave(k);
}

static void
only_a_whole_message_of_the_assistant_ends_the_iterations(void **state)
{
    (void)state;
    struct kit *k = begin((struct run_options){ .agent = TURN_CLAUDE, .until = "STOP" });
    hear(
        k,
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"say STOP\"}}\n");
    hear(k, PIECE("m", "I will not STOP"));
    pass_time(k);
    assert_false(k->flow.is_until);
    hear(k, WHOLE("m", "I will not STOP yet"));
    assert_true(k->flow.is_until);
    leave(k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(what_is_shown_is_in_all_files_before),
        KIT_IN_DIR(a_piece_is_in_the_files_before_it_is_shown),
        KIT_IN_DIR(the_end_is_synced),
        KIT_IN_DIR(the_library_knows_the_project_from_the_start),
        KIT_IN_DIR(the_tape_has_lines_as_a_terminal_needs_them),
        KIT_IN_DIR(nothing_is_read_while_the_tape_has_no_room),
        KIT_IN_DIR(a_run_has_room_in_reserve_until_its_end),
        KIT_IN_DIR(facts_that_somebody_else_is_changing_are_told_later),
        KIT_IN_DIR(both_folders_are_locked),
        KIT_IN_DIR(a_name_is_free_again_when_its_run_has_ended),
        KIT_IN_DIR(a_file_that_takes_nothing_is_told_once_and_costs_nothing_else),
        KIT_IN_DIR(lines_that_are_missing_are_told_where_they_are_missing),
        KIT_IN_DIR(secrets_are_masked_wherever_an_agent_says_them),
        KIT_IN_DIR(pieces_and_their_whole_are_shown_once),
        KIT_IN_DIR(a_whole_that_is_another_is_shown_beside_its_pieces),
        KIT_IN_DIR(pieces_without_a_whole_are_a_turn_that_was_interrupted),
        KIT_IN_DIR(a_secret_that_was_cut_off_is_not_told),
        KIT_IN_DIR(a_line_that_ends_in_a_stump_of_a_secret_is_shown_without_it),
        KIT_IN_DIR(what_is_held_of_a_message_is_no_part_of_the_next),
        KIT_IN_DIR(many_pieces_do_not_wait),
        KIT_IN_DIR(a_sequence_that_a_message_leaves_open_does_not_eat_the_next),
        KIT_IN_DIR(another_event_stands_behind_what_has_come_of_a_message),
        KIT_IN_DIR(a_line_of_stderr_that_does_not_end_is_shown_in_time_and_at_the_end),
        KIT_IN_DIR(a_line_that_never_ends_is_cut_and_comes_whole),
        KIT_IN_DIR(what_follows_does_not_put_a_piece_of_stderr_off),
        KIT_IN_DIR(a_line_goes_on_where_its_piece_ended_and_the_next_is_whole),
        KIT_IN_DIR(a_character_that_is_cut_waits_for_its_rest),
        KIT_IN_DIR(only_a_whole_message_of_the_assistant_ends_the_iterations),
    };
    return cmocka_run_group_tests_name("run_flow", tests, NULL, NULL);
}
