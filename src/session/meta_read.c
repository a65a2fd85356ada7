/* SPDX-License-Identifier: MIT */
/*
 * meta_read.c -- a meta.json that anybody may have written.
 *
 * Text of at most 1 MiB is parsed, and nothing in it is believed: a field of another
 * type, too long or with a NUL in it is as good as none, and so is a number past 63 bits.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "base/json_in.h"
#include "session/meta_priv.h"

enum {
    META_MAX = 1 << 20,
    COMMAND_MAX = 5 * META_MAX, /* of it, quoted: a quote takes four bytes */
    DEPTH_MAX = 4,              /* of objects in objects that are told */
    BAD_MAX = 100,              /* damaged ones that are kept */
};

/* Is it more than Jansson takes? A NUL or something else stands behind it. */
static bool
is_too_large(struct view number)
{
    const char *p = (const char *)number.p;
    bool is_whole = !memchr(p, '.', number.n) && !memchr(p, 'e', number.n) &&
                    !memchr(p, 'E', number.n);
    errno = 0;
    if (is_whole)
        (void)strtoll(p, NULL, 10);
    else if (!isinf(strtod(p, NULL)))
        return false;
    return errno == ERANGE;
}

/* Numbers that are too large become null, and what they are is lost. */
static void
forget_large_numbers(struct buf *text)
{
    static const uint8_t none[] = { 'n', 'u', 'l', 'l' }; /* 1e309 is longer */
    struct json_in in = { .p = text->p, .end = text->p + text->n };
    struct view number;
    while (in.p < in.end && !in.failed) {
        if (*in.p == '"') {
            (void)json_in_str(&in, NULL);
        } else if (*in.p != '-' && (*in.p < '0' || *in.p > '9')) {
            in.p++;
        } else if (json_in_number(&in, &number) && is_too_large(number)) {
            uint8_t *at = text->p + (number.p - text->p);
            memset(at, ' ', number.n);
            memcpy(at, none, sizeof(none));
        }
    }
}

static json_t *
parse_any(struct view text)
{
    AUTO(buf) own = { 0 };
    json_error_t why;
    json_t *meta = json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, &why);
    if (meta || json_error_code(&why) != json_error_numeric_overflow ||
        buf_append(&own, text.p, text.n) < 0 || !*buf_str(&own))
        return meta;
    forget_large_numbers(&own);
    return json_loadb((const char *)own.p, own.n, JSON_ALLOW_NUL, NULL);
}

static json_t *
parse(struct view text)
{
    if (!text.n || text.n > META_MAX)
        return NULL;
    json_t *meta = parse_any(text);
    if (json_is_object(meta))
        return meta;
    json_decref(meta);
    return NULL;
}

static void
get_text(const json_t *meta, const char *key, char *ret, size_t size)
{
    const json_t *v = json_object_get(meta, key);
    size_t n = json_string_length(v);
    if (n && n < size && !memchr(json_string_value(v), 0, n))
        memcpy(ret, json_string_value(v), n + 1);
}

static uint64_t
get_number(const json_t *meta, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(meta, key));
    return v > 0 ? (uint64_t)v : 0;
}

/* UINT64_MAX: it is none. */
static uint64_t
get_count(const json_t *meta, const char *key)
{
    const json_t *v = json_object_get(meta, key);
    return json_is_integer(v) && json_integer_value(v) >= 0
               ? (uint64_t)json_integer_value(v)
               : UINT64_MAX;
}

static uint16_t
get_size(const json_t *meta, const char *key)
{
    uint64_t v = get_number(meta, key);
    return v <= UINT16_MAX ? (uint16_t)v : 0;
}

static int
get_exit_code(const json_t *meta)
{
    const json_t *v = json_object_get(meta, "exitCode");
    json_int_t code = json_is_integer(v) ? json_integer_value(v) : -1;
    return code >= 0 && code <= UINT8_MAX ? (int)code : -1;
}

/* Appends the words, each with its NUL; what is no text is an empty one. */
static int
put_words(struct buf *out, const json_t *words)
{
    int r = 0;
    for (size_t i = 0, n = json_array_size(words); !r && i < n; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        r = buf_append(out, word ? word : "", word ? strlen(word) + 1 : 1);
    }
    return r;
}

static void
get_command(const json_t *meta, char *ret, size_t size)
{
    AUTO(buf) words = { 0 };
    AUTO(buf) line = { 0 };
    if (put_words(&words, json_object_get(meta, "cmd")) == 0 &&
        session_command_line((struct view){ words.p, words.n }, size, &line) == 0)
        snprintf(ret, size, "%s", buf_str(&line));
}

int
meta_parse(struct view text, struct session_facts *ret)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    *ret = (struct session_facts){
        .cols = get_size(meta, "cols"),
        .rows = get_size(meta, "rows"),
        .exit_code = get_exit_code(meta),
        .started_at_ns = get_number(meta, "startedAtNs"),
        .ended_at_ns = get_number(meta, "endedAtNs"),
    };
    get_text(meta, "sessionId", ret->id, sizeof(ret->id));
    if (!session_id_is(ret->id))
        ret->id[0] = 0;
    get_text(meta, "name", ret->name, sizeof(ret->name));
    get_text(meta, "status", ret->status, sizeof(ret->status));
    get_command(meta, ret->command, sizeof(ret->command));
    json_decref(meta);
    return 0;
}

/* -- all of it -- */

static const struct {
    const char *key;
    size_t at; /* in session_told */
    size_t max;
} texts[] = {
    { "name", offsetof(struct session_told, name), 64 },
    { "role", offsetof(struct session_told, role), META_MAX },
    { "kind", offsetof(struct session_told, kind), 15 },
    { "status", offsetof(struct session_told, status), 15 },
    { "signal", offsetof(struct session_told, signal), 15 },
    { "cwd", offsetof(struct session_told, cwd), META_MAX },
    { "gitBranch", offsetof(struct session_told, git_branch), META_MAX },
    { "task", offsetof(struct session_told, task), META_MAX },
    { "parent", offsetof(struct session_told, parent), META_MAX },
    { "resumedFrom", offsetof(struct session_told, resumed_from), META_MAX },
    { "agent", offsetof(struct session_told, agent), META_MAX },
    { "agentSessionId", offsetof(struct session_told, agent_session_id), META_MAX },
    { "model", offsetof(struct session_told, model), META_MAX },
    { "project", offsetof(struct session_told, project), META_MAX },
    { "source", offsetof(struct session_told, source), META_MAX },
};

enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* All texts go behind each other before any is pointed at: they move while they grow. */
static int
tell_texts(const json_t *meta, struct session_told *ret)
{
    size_t starts[TEXTS], words;
    for (size_t i = 0; i < TEXTS; i++) {
        const json_t *v = json_object_get(meta, texts[i].key);
        size_t n = json_string_length(v);
        starts[i] = SIZE_MAX;
        if (!n || n > texts[i].max || memchr(json_string_value(v), 0, n))
            continue;
        starts[i] = ret->texts.n;
        buf_append(&ret->texts, json_string_value(v), n + 1);
    }
    words = ret->texts.n;
    put_words(&ret->texts, json_object_get(meta, "cmd"));
    if (ret->texts.failed)
        return ret->texts.failed;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = starts[i] == SIZE_MAX ? NULL
                                                 : (const char *)ret->texts.p + starts[i];
        memcpy((char *)ret + texts[i].at, &text, sizeof(text));
    }
    if (ret->texts.n > words)
        ret->words = (struct view){ ret->texts.p + words, ret->texts.n - words };
    return 0;
}

void
session_told_release(struct session_told *t)
{
    buf_release(&t->texts);
}

static struct session_usage
get_usage(const json_t *meta)
{
    const json_t *u = json_object_get(meta, "usage");
    return (struct session_usage){
        .input_tokens = get_count(u, "input_tokens"),
        .output_tokens = get_count(u, "output_tokens"),
        .cache_creation_tokens = get_count(u, "cache_creation_input_tokens"),
        .cache_read_tokens = get_count(u, "cache_read_input_tokens"),
        .calls = get_count(u, "calls"),
    };
}

static enum session_entire
get_entire(const json_t *meta)
{
    const json_t *v = json_object_get(meta, "entire");
    return json_is_true(v)    ? SESSION_ENTIRE_MADE
           : json_is_false(v) ? SESSION_ENTIRE_WANTED
                              : SESSION_ENTIRE_NONE;
}

int
meta_tell(struct view text, struct session_told *ret)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    const json_t *branch = json_object_get(meta, "branch");
    struct session_told told = {
        .cols = get_size(meta, "cols"),
        .rows = get_size(meta, "rows"),
        .exit_code = get_exit_code(meta),
        .started_at_ns = get_number(meta, "startedAtNs"),
        .ended_at_ns = get_number(meta, "endedAtNs"),
        .total_bytes = json_is_integer(json_object_get(meta, "totalBytes"))
                           ? get_number(meta, "totalBytes")
                           : UINT64_MAX,
        .branch_snapshot = get_count(branch, "snapshot_id"),
        .branch_byte = get_count(branch, "anchor_byte"),
        .fork_turn = get_count(json_object_get(meta, "fork"), "turn"),
        .usage = get_usage(meta),
        .iterations = get_number(meta, "iterations"),
        .entire = get_entire(meta),
    };
    uint64_t pid = get_number(meta, "hostPid");
    told.host_pid = pid > INT_MAX ? 0 : (int)pid;
    int r = tell_texts(meta, &told);
    json_decref(meta);
    if (r < 0)
        session_told_release(&told);
    else
        *ret = told;
    return r;
}

static void
tell(const char *key, json_t *v, unsigned depth, session_fact_fn fn, void *ctx)
{
    AUTO(buf) text = { .ceiling = COMMAND_MAX };
    AUTO(buf) words = { 0 };
    const char *inner;
    json_t *inner_v;
    if (json_is_string(v))
        buf_puts(&text, json_string_value(v));
    else if (json_is_integer(v))
        buf_printf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        buf_printf(&text, "%g", json_real_value(v));
    else if (json_is_boolean(v))
        buf_puts(&text, json_is_true(v) ? "yes" : "no");
    else if (json_is_array(v) && put_words(&words, v) == 0)
        session_command_line((struct view){ words.p, words.n }, SIZE_MAX, &text);
    if (text.n)
        fn(ctx, key, buf_str(&text));
    if (!json_is_object(v) || depth == DEPTH_MAX)
        return;
    json_object_foreach(v, inner, inner_v)
    {
        AUTO(buf) name = { .ceiling = COMMAND_MAX };
        buf_printf(&name, *key ? "%s.%s" : "%s%s", key, inner);
        tell(buf_str(&name), inner_v, depth + 1, fn, ctx);
    }
}

int
meta_each(struct view text, session_fact_fn fn, void *ctx)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    tell("", meta, 0, fn, ctx);
    json_decref(meta);
    return 0;
}

int
meta_json(struct view text, struct buf *ret)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    char *made = json_dumps(meta, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(meta);
    for (const char *p = made; p && *p; p++) /* one is left as it is */
        if (*p == 0x7f)
            buf_puts(ret, "\\u007f");
        else
            buf_append(ret, p, 1);
    int r = made ? ret->failed : -ENOMEM;
    free(made);
    return r;
}

static json_t *
make_small(const char *id)
{
    json_t *meta = json_object();
    json_object_set_new(meta, "version", json_integer(1));
    json_object_set_new(meta, "sessionId", json_string(id));
    return meta;
}

static int
set_number(json_t *meta, const char *key, uint64_t v)
{
    json_int_t fitting = v > INT64_MAX ? INT64_MAX : (json_int_t)v;
    return json_object_set_new(meta, key, json_integer(fitting));
}

static int
set_end(json_t *meta, uint64_t total_bytes, uint64_t ended_at_ns)
{
    const char *status = session_status_name(SESSION_INTERRUPTED);
    int r = json_object_set_new(meta, "status", json_string(status));
    json_object_del(meta, "hostPid"); /* it is nobody's any more */
    if (!r)
        r = set_number(meta, "totalBytes", total_bytes);
    if (!r && ended_at_ns)
        r = set_number(meta, "endedAtNs", ended_at_ns);
    return r;
}

static int
put_made(json_t *meta, struct buf *ret)
{
    char *made = json_dumps(meta, JSON_COMPACT);
    if (!made)
        return -ENOMEM;
    buf_puts(ret, made);
    free(made);
    return buf_puts(ret, "\n");
}

int
meta_interrupt(struct view text, const char *id, uint64_t total_bytes,
               uint64_t ended_at_ns, struct buf *ret)
{
    json_t *meta = text.p ? parse(text) : make_small(id);
    if (!meta)
        return ERR_DAMAGED;
    int r = set_end(meta, total_bytes, ended_at_ns) < 0 ? -ENOMEM : put_made(meta, ret);
    json_decref(meta);
    return r;
}

static int
set_text(json_t *meta, const char *key, const char *text)
{
    /* What is no UTF-8 is left out. */
    json_t *v = text ? json_string(text) : NULL;
    return v ? json_object_set_new(meta, key, v) : 0;
}

static int
set_usage(json_t *meta, const struct session_usage *u)
{
    const struct {
        const char *key;
        uint64_t v;
    } all[] = {
        { "input_tokens", u->input_tokens },
        { "output_tokens", u->output_tokens },
        { "cache_creation_input_tokens", u->cache_creation_tokens },
        { "cache_read_input_tokens", u->cache_read_tokens },
        { "calls", u->calls },
    };
    json_t *usage = json_object();
    int r = usage ? 0 : -1;
    for (size_t i = 0; !r && i < sizeof(all) / sizeof(all[0]); i++)
        r = all[i].v == UINT64_MAX ? 0 : set_number(usage, all[i].key, all[i].v);
    if (r || !json_object_size(usage)) {
        json_decref(usage);
        return r;
    }
    return json_object_set_new(meta, "usage", usage);
}

int
meta_learn(struct view text, const struct session_learnt *learnt, struct buf *ret)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    int r = set_text(meta, "agent", learnt->agent);
    if (!r)
        r = set_text(meta, "agentSessionId", learnt->agent_session_id);
    if (!r)
        r = set_text(meta, "model", learnt->model);
    if (!r && learnt->iterations)
        r = set_number(meta, "iterations", learnt->iterations);
    if (!r)
        r = set_usage(meta, &learnt->usage);
    r = r < 0 ? -ENOMEM : put_made(meta, ret);
    json_decref(meta);
    return r;
}

int
meta_rename(struct view text, const char *name, struct buf *ret)
{
    json_t *meta = parse(text);
    if (!meta)
        return ERR_DAMAGED;
    int r = 0;
    if (!name)
        json_object_del(meta, "name");
    else if (json_object_set_new(meta, "name", json_string(name)) < 0)
        r = -ENOMEM;
    if (!r)
        r = put_made(meta, ret);
    json_decref(meta);
    return r;
}

/* -- files -- */

static int
read_text(const char *path, struct buf *text, struct err *err)
{
    int r = file_slurp(path, text);
    if (r == ERR_LIMIT || r == -EISDIR)
        return err_set(err, ERR_DAMAGED, "'%s' is no session.meta.json", path);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

int
session_meta_each(const char *path, session_fact_fn fn, void *ctx, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    int r = read_text(path, &text, err);
    if (!r && meta_each((struct view){ text.p, text.n }, fn, ctx) < 0)
        r = err_set(err, ERR_DAMAGED, "'%s' is no session.meta.json", path);
    return r;
}

int
session_meta_json(const char *path, struct buf *ret, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    int r = read_text(path, &text, err);
    if (r < 0)
        return r;
    r = meta_json((struct view){ text.p, text.n }, ret);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is no session.meta.json", path);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

int
session_meta_read(const char *path, struct session_facts *ret, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 }; /* one read of file_slurp */
    int r = read_text(path, &text, err);
    if (!r && meta_parse((struct view){ text.p, text.n }, ret) < 0)
        r = err_set(err, ERR_DAMAGED, "'%s' is no session.meta.json", path);
    return r;
}

int
session_meta_tell(const char *path, struct session_told *ret, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    int r = read_text(path, &text, err);
    if (r < 0)
        return r;
    r = meta_tell((struct view){ text.p, text.n }, ret);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is no session.meta.json", path);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

/* As PATH.bad, or the next name that is free. */
static int
set_aside(const char *path)
{
    AUTO(buf) bad = { 0 };
    for (int i = 0; i < BAD_MAX; i++) {
        buf_clear(&bad);
        int r = i ? buf_printf(&bad, "%s.bad.%d", path, i)
                  : buf_printf(&bad, "%s.bad", path);
        if (r < 0)
            return r;
        if (access(buf_str(&bad), F_OK) < 0)
            return rename(path, buf_str(&bad)) < 0 ? -errno : 0;
    }
    return -EEXIST;
}

int
session_meta_set_aside(const char *path, struct err *err)
{
    int r = access(path, F_OK) < 0 && errno == ENOENT ? 0 : set_aside(path);
    return r < 0 ? err_code(err, r, "cannot keep '%s'", path) : 0;
}

int
session_meta_interrupt(const char *path, const char *id, uint64_t total_bytes,
                       uint64_t ended_at_ns, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    AUTO(buf) made = { 0 };
    int r = read_text(path, &text, err);
    if (!r)
        r = meta_interrupt((struct view){ text.p, text.n }, id, total_bytes, ended_at_ns,
                           &made);
    if (r == ERR_DAMAGED) {
        r = set_aside(path);
        r = r < 0 ? r : ERR_MISSING;
    }
    if (r == ERR_MISSING)
        r = meta_interrupt((struct view){ 0 }, id, total_bytes, ended_at_ns, &made);
    if (r < 0)
        return err_code(err, r, "cannot write '%s'", path);
    return file_replace(path, (struct view){ made.p, made.n }, true, err);
}

int
session_meta_learn(const char *path, const struct session_learnt *learnt, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    AUTO(buf) made = { 0 };
    int r = read_text(path, &text, err);
    if (r < 0)
        return r;
    r = meta_learn((struct view){ text.p, text.n }, learnt, &made);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is no session.meta.json", path);
    if (r < 0)
        return err_code(err, r, "cannot write '%s'", path);
    return file_replace(path, (struct view){ made.p, made.n }, true, err);
}

int
session_meta_rename(const char *path, const char *name, struct err *err)
{
    AUTO(buf) text = { .ceiling = META_MAX + 65536 };
    AUTO(buf) made = { 0 };
    int r = read_text(path, &text, err);
    if (r < 0)
        return r;
    r = meta_rename((struct view){ text.p, text.n }, name, &made);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is no session.meta.json", path);
    if (r < 0)
        return err_code(err, r, "cannot write '%s'", path);
    return file_replace(path, (struct view){ made.p, made.n }, true, err);
}

const char *
session_jansson_version(void)
{
    return jansson_version_str();
}
