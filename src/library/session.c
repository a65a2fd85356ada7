/* SPDX-License-Identifier: MIT */
/*
 * session.c -- the facts of one session, from its files.
 *
 * It may move while it is looked at: from live/ to sessions/ when it ends. What was read
 * counts only if its folder is still there afterwards.
 */
#include "library/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "journal/metadata.h"
#include "library/ids_priv.h"
#include "session/folder.h"
#include "session/id.h"
#include "session/lines.h"
#include "session/meta.h"
#include "session/sockets.h"

enum {
    LINES_BYTES_MAX = 64 << 20, /* of a file whose lines are counted */
    TEXTS_MAX = 16 << 20,
};

static const char *const places[] = {
    [LIBRARY_SESSIONS] = "sessions",
    [LIBRARY_LIVE] = "live",
    [LIBRARY_DAMAGED] = "damaged",
};

const char *
library_place_name(enum library_place place)
{
    return places[place];
}

void
library_session_release(struct library_session *s)
{
    buf_release(&s->texts);
    *s = (struct library_session){ 0 };
}

/* -- texts -- */

/* Every text of a session. */
static const size_t members[] = {
    offsetof(struct store_session, id),
    offsetof(struct store_session, name),
    offsetof(struct store_session, role),
    offsetof(struct store_session, kind),
    offsetof(struct store_session, status),
    offsetof(struct store_session, signal),
    offsetof(struct store_session, cmd),
    offsetof(struct store_session, command),
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

static const char *
get_member(const struct store_session *row, size_t i)
{
    const char *text;
    memcpy(&text, (const char *)row + members[i], sizeof(text));
    return text;
}

int
library_session_keep(struct library_session *s, const struct store_session *row)
{
    struct buf texts = { .ceiling = TEXTS_MAX };
    size_t starts[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++) {
        const char *text = get_member(row, i);
        starts[i] = text ? texts.n : SIZE_MAX;
        if (text)
            buf_append(&texts, text, strlen(text) + 1);
    }
    if (texts.failed) {
        int r = texts.failed;
        buf_release(&texts);
        return r;
    }
    s->facts = *row;
    for (size_t i = 0; i < MEMBERS; i++) {
        const char *text = starts[i] == SIZE_MAX ? NULL
                                                 : (const char *)texts.p + starts[i];
        memcpy((char *)&s->facts + members[i], &text, sizeof(text));
    }
    buf_release(&s->texts);
    s->texts = texts;
    return 0;
}

int
library_command(struct view words, struct buf *ret_json, struct buf *ret_line)
{
    struct json j = { .out = ret_json };
    json_open(&j, '[');
    for (size_t at = 0; at < words.n; at += strlen((const char *)words.p + at) + 1)
        json_str(&j, (const char *)words.p + at);
    json_close(&j, ']');
    int r = session_command_line(words, SESSION_COMMAND_MAX, ret_line);
    return r < 0 ? r : ret_json->failed;
}

/* -- files -- */

/* All files in the folder but keyframes, which come and go. */
static uint64_t
folder_bytes(const char *dir)
{
    uint64_t bytes = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (strcmp(e->d_name, "keyframes") != 0 &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_size;
    }
    if (d)
        closedir(d);
    return bytes;
}

static uint64_t
count_in(int fd)
{
    uint8_t chunk[65536];
    uint64_t lines = 0, bytes = 0;
    uint8_t last = '\n';
    ssize_t n;
    while (bytes < LINES_BYTES_MAX && (n = file_read(fd, chunk, sizeof(chunk))) > 0) {
        const uint8_t *p = chunk, *end = chunk + n;
        while ((p = memchr(p, '\n', (size_t)(end - p)))) {
            lines++;
            p++;
        }
        last = chunk[n - 1];
        bytes += (uint64_t)n;
    }
    return lines + (last != '\n');
}

/* How many lines the file beside the recording has. */
static uint64_t
count_lines(const char *tape_path, const char *what)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (session_sibling_path(tape_path, what, &path) < 0)
        return 0;
    struct stat st;
    int fd = open(buf_str(&path),
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    uint64_t lines = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? count_in(fd) : 0;
    close(fd);
    return lines;
}

/* -- a session -- */

static void
take_told(struct store_session *row, const struct session_told *t)
{
    row->name = t->name;
    row->role = t->role;
    row->kind = t->kind;
    row->status = t->status;
    row->signal = t->signal;
    row->cwd = t->cwd;
    row->task = t->task;
    row->parent = t->parent;
    row->resumed_from = t->resumed_from;
    row->agent = t->agent;
    row->agent_session_id = t->agent_session_id;
    row->model = t->model;
    row->project = t->project;
    row->iterations = t->iterations;
    row->exit_code = t->exit_code;
    row->started_at_ns = t->started_at_ns;
    row->ended_at_ns = t->ended_at_ns;
    row->bytes = t->total_bytes;
    row->branch_snapshot = t->branch_snapshot;
    row->branch_byte = t->branch_byte;
    row->fork_turn = t->fork_turn;
    row->input_tokens = t->usage.input_tokens;
    row->output_tokens = t->usage.output_tokens;
    row->cache_creation_tokens = t->usage.cache_creation_tokens;
    row->cache_read_tokens = t->usage.cache_read_tokens;
    row->calls = t->usage.calls;
    row->cols = t->cols;
    row->rows = t->rows;
}

/* What a live one's meta does not know yet, or says of times that are over. */
static void
take_live(struct store_session *row, bool is_held)
{
    if (!row->ended_at_ns)
        row->bytes = UINT64_MAX;
    if (!is_held)
        row->status = session_status_name(SESSION_INTERRUPTED);
}

static int
read_folder(struct library_session *s, const char *dir, const char *id)
{
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    AUTO(buf) cmd = { .ceiling = TEXTS_MAX };
    AUTO(buf) command = { 0 };
    AUTO(session_told) told = { 0 };
    struct store_session row = store_session_unknown;
    struct stat st;
    int r = session_folder_paths(dir, &tape, &meta);
    if (!r)
        r = session_meta_tell(buf_str(&meta), &told, NULL);
    if (r == -ENOMEM)
        return r;
    if (!r)
        take_told(&row, &told);
    row.id = id;
    if (!row.kind)
        row.kind = "terminal";
    if (!row.started_at_ns)
        row.started_at_ns = ids_day_ns(id);
    if (s->place == LIBRARY_LIVE)
        take_live(&row, s->is_held);
    row.is_damaged = s->place == LIBRARY_DAMAGED;
    row.size_bytes = folder_bytes(dir);
    if (strncmp(buf_str(&tape), dir, strlen(dir)) != 0 && stat(buf_str(&tape), &st) == 0)
        row.size_bytes += (uint64_t)st.st_size;
    if (!row.status || strcmp(row.status, session_status_name(SESSION_ENCRYPTED)) != 0) {
        row.snapshots = count_lines(buf_str(&tape), SESSION_SNAPSHOTS);
        row.instructions = count_lines(buf_str(&tape), SESSION_INSTRUCTIONS);
    }
    if (told.words.n) {
        r = library_command(told.words, &cmd, &command);
        row.cmd = r < 0 ? NULL : buf_str(&cmd);
        row.command = r < 0 ? NULL : buf_str(&command);
    }
    return library_session_keep(s, &row);
}

static bool
is_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A recorder whose socket is gone: nobody can use the session any more. Its number is
 * told, and that is all. */
static void
look_for_recorder(struct library_session *s, const char *dir)
{
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    AUTO(session_told) told = { 0 };
    if (session_folder_paths(dir, &tape, &meta) < 0 ||
        session_meta_tell(buf_str(&meta), &told, NULL) < 0)
        return;
    bool is_ended = told.status && !strcmp(told.status, "interrupted"); /* by a recover */
    if (told.host_pid <= 0 && !is_ended)
        return;
    bool is_dead = is_ended || !journal_process_start(told.host_pid);
    if (is_dead) { /* who holds it recovers it */
        s->is_held = false;
    } else if (!session_sockets_are_there(dir)) {
        s->lost_pid = told.host_pid;
        s->is_held = false;
    }
}

int
library_session_read(struct library_session *ret, const char *home, const char *id,
                     struct err *err)
{
    static const enum library_place order[] = { LIBRARY_SESSIONS, LIBRARY_LIVE,
                                                LIBRARY_SESSIONS, LIBRARY_DAMAGED };
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    for (size_t i = 0; session_id_is(id) && i < sizeof(order) / sizeof(order[0]); i++) {
        buf_clear(&dir);
        if (buf_printf(&dir, "%s/%s/%s", home, places[order[i]], id) < 0)
            break;
        if (!is_folder(buf_str(&dir)))
            continue;
        struct library_session s = { .place = order[i] };
        s.is_held = s.place == LIBRARY_LIVE && session_folder_is_held(home, id);
        if (s.is_held)
            look_for_recorder(&s, buf_str(&dir));
        int r = read_folder(&s, buf_str(&dir), id);
        if (!r && is_folder(buf_str(&dir))) {
            *ret = s;
            return 0;
        }
        library_session_release(&s);
        if (r < 0)
            return err_code(err, r, "cannot read the facts of '%s'", id);
    }
    return err_set(err, ERR_MISSING, "no session '%s'", id);
}
