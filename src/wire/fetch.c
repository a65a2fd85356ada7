/* SPDX-License-Identifier: MIT */
/* fetch.c -- libcurl's multi interface driven by libuv; all that knows libcurl. */
#include "wire/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "wire/answer_head.h"

enum {
    CONNECT_S = 30,
    PIECE_BYTES = 64 << 10,
    UPLOAD_BYTES = 64 << 10,
    TURN_BYTES = 128 << 10, /* of a reply, before others have their turn */
    HANDLES = 3,            /* of the loop, without sockets */
    KEPT = 512,             /* connections */
    HEAD_BYTES_MAX = 256 << 10,
};

/* A socket of libcurl's, while it is to be watched. */
struct watch {
    uv_poll_t poll;
    curl_socket_t fd;
    int events;
    struct fetches *all;
};

struct fetch {
    struct fetches *all;
    CURL *easy;
    struct curl_slist *headers;
    const struct fetch_events *events;
    void *ctx;
    struct fetch *next, *before;
    struct buf head; /* lines of the reply's head */
    bool has_head;   /* it was handed out */
    bool is_inside;  /* libcurl is calling us for it */
    bool is_cancelled;
    bool is_held;        /* nobody takes more of it now */
    bool is_resting;     /* it has had its turn */
    uint64_t turn;       /* its latest one, in which … */
    size_t taken;        /* … so much of it was handed out */
    const char *refusal; /* of the reply's head; NULL: it is not refused */
    char why[CURL_ERROR_SIZE];
};

struct fetches {
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_check_t check;
    uv_idle_t idle; /* while some rest, nobody waits in the poll */
    const char *ca_file;
    struct fetch *first;
    size_t resting;
    uint64_t turn; /* of the loop */
    bool is_closing;
    unsigned open; /* handles of the loop */
};

/* -- the loop -- */

static void
end_fetch(struct fetch *f)
{
    struct fetches *all = f->all;
    if (f->before)
        f->before->next = f->next;
    else
        all->first = f->next;
    if (f->next)
        f->next->before = f->before;
    if (f->is_resting && !--all->resting)
        uv_idle_stop(&all->idle);
    curl_multi_remove_handle(all->multi, f->easy);
    curl_easy_cleanup(f->easy);
    curl_slist_free_all(f->headers);
    buf_release(&f->head);
    free(f);
}

static enum fetch_end
end_of(CURLcode code)
{
    switch ((int)code) {
    case CURLE_OK:
        return FETCH_OK;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR: /* it speaks no TLS, or none that is spoken here */
        return FETCH_UNREACHABLE;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CIPHER:
        return FETCH_UNTRUSTED;
    default:
        return FETCH_BROKEN;
    }
}

/* libcurl calls it well, too, when a connection ends amid the head. */
static const char *
why_ended(const struct fetch *f, CURLcode code)
{
    if (f->refusal)
        return f->refusal;
    if (code == CURLE_OK)
        return f->has_head ? "" : "its reply ends before its head does";
    return f->why[0] ? f->why : curl_easy_strerror(code);
}

static void
look_for_ended(struct fetches *all)
{
    CURLMsg *m;
    for (int left; (m = curl_multi_info_read(all->multi, &left));) {
        struct fetch *f = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &f);
        enum fetch_end end = code == CURLE_OK && !f->has_head ? FETCH_BROKEN
                                                              : end_of(code);
        if (!f->is_cancelled)
            f->events->done(f->ctx, end, why_ended(f, code));
        end_fetch(f);
    }
}

static void
act(struct fetches *all, curl_socket_t fd, int what)
{
    int running;
    curl_multi_socket_action(all->multi, fd, what, &running);
    look_for_ended(all);
}

/* Of a socket with an error libuv tells once, and looks no more; libcurl, were it told
 * so, would not read what had come before. The next read or write meets the error. */
static void
on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *w = poll->data;
    /* What is wrong it finds out itself, and then knows if it may be tried once more. */
    if (status < 0)
        events = w->events;
    int what = events & UV_READABLE ? CURL_CSELECT_IN : 0;
    what |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    act(w->all, w->fd, what);
    if (status < 0 && !uv_is_closing((uv_handle_t *)poll))
        uv_poll_start(poll, w->events, on_poll);
}

static void
on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* -- turns -- */

static void
on_idle(uv_idle_t *idle)
{
    (void)idle;
}

/* libcurl reads a socket until it is empty, and one that is filled faster than that never
 * is: everybody else would wait. */
static size_t
rest(struct fetch *f)
{
    struct fetches *all = f->all;
    f->is_resting = true;
    if (!all->resting++)
        uv_idle_start(&all->idle, on_idle);
    return CURL_WRITEFUNC_PAUSE;
}

static bool
has_had_its_turn(struct fetch *f)
{
    if (f->turn != f->all->turn)
        f->taken = 0;
    f->turn = f->all->turn;
    return f->taken >= TURN_BYTES;
}

static void
on_check(uv_check_t *check)
{
    struct fetches *all = check->data;
    all->turn++;
    if (!all->resting)
        return;
    all->resting = 0;
    uv_idle_stop(&all->idle);
    for (struct fetch *f = all->first, *next; f; f = next) {
        bool goes_on = f->is_resting && !f->is_held;
        next = f->next;
        f->is_resting = false;
        if (goes_on)
            curl_easy_pause(f->easy, CURLPAUSE_CONT);
    }
}

/* -- the end of handles -- */

static void
free_all(struct fetches *all)
{
    if (--all->open == 0 && all->is_closing)
        free(all);
}

static void
on_watch_closed(uv_handle_t *handle)
{
    struct watch *w = handle->data;
    free_all(w->all);
    free(w);
}

static void
on_handle_closed(uv_handle_t *handle)
{
    free_all(handle->data);
}

static int
set_timer(CURLM *multi, long ms, void *ctx)
{
    struct fetches *all = ctx;
    (void)multi;
    if (all->is_closing)
        return 0;
    if (ms < 0)
        uv_timer_stop(&all->timer);
    else
        uv_timer_start(&all->timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

static struct watch *
make_watch(struct fetches *all, curl_socket_t fd)
{
    struct watch *w = calloc(1, sizeof(*w));
    if (!w || uv_poll_init_socket(all->loop, &w->poll, fd)) {
        free(w);
        return NULL;
    }
    w->fd = fd;
    w->all = all;
    w->poll.data = w;
    all->open++;
    curl_multi_assign(all->multi, fd, w);
    return w;
}

static int
set_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    struct fetches *all = ctx;
    struct watch *w = of_socket;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w)
            uv_close((uv_handle_t *)&w->poll, on_watch_closed);
        curl_multi_assign(all->multi, fd, NULL);
        return 0;
    }
    w = w ? w : make_watch(all, fd);
    if (!w)
        return -1;
    w->events = (what & CURL_POLL_IN ? UV_READABLE : 0) |
                (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&w->poll, w->events, on_poll) ? -1 : 0;
}

int
fetches_new(struct fetches **ret, uv_loop_t *loop, const char *ca_file, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, -EIO, "cannot set up libcurl");
    struct fetches *all = calloc(1, sizeof(*all));
    if (!all || !(all->multi = curl_multi_init())) {
        free(all);
        return err_code(err, -ENOMEM, "cannot set up libcurl");
    }
    all->loop = loop;
    all->ca_file = ca_file;
    uv_timer_init(loop, &all->timer);
    uv_check_init(loop, &all->check);
    uv_idle_init(loop, &all->idle);
    all->timer.data = all->check.data = all->idle.data = all;
    all->open = HANDLES;
    uv_check_start(&all->check, on_check);
    curl_multi_setopt(all->multi, CURLMOPT_SOCKETFUNCTION, set_watch);
    curl_multi_setopt(all->multi, CURLMOPT_SOCKETDATA, all);
    curl_multi_setopt(all->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(all->multi, CURLMOPT_TIMERDATA, all);
    curl_multi_setopt(all->multi, CURLMOPT_MAXCONNECTS, (long)KEPT);
    curl_multi_setopt(all->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    *ret = all;
    return 0;
}

void
fetches_free(struct fetches *all)
{
    if (!all)
        return;
    for (struct fetch *f = all->first, *next; f; f = next) {
        next = f->next;
        end_fetch(f);
    }
    curl_multi_cleanup(all->multi);
    all->is_closing = true;
    uv_close((uv_handle_t *)&all->timer, on_handle_closed);
    uv_close((uv_handle_t *)&all->check, on_handle_closed);
    uv_close((uv_handle_t *)&all->idle, on_handle_closed);
}

/* -- the reply -- */

/* False: it is refused. */
static bool
hand_out_head(struct fetch *f, unsigned status)
{
    struct wire_answer_head head;
    if (wire_answer_head_read((struct view){ f->head.p, f->head.n }, &head, &f->refusal) <
        0)
        return false;
    f->has_head = true;
    f->is_inside = true;
    f->events->head(f->ctx, status, head.reason, head.headers, head.count);
    f->is_inside = false;
    return true;
}

/* Each line of each head: of those before the last (100, 103) nobody is told. Behind the
 * body trailers come here, too. */
static size_t
on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct fetch *f = ctx;
    long status = 0;
    n *= size;
    if (f->is_cancelled)
        return 0;
    if (f->has_head)
        return n;
    if (n > 5 && !strncasecmp(p, "HTTP/", 5))
        buf_clear(&f->head);
    f->head.ceiling = HEAD_BYTES_MAX;
    bool is_end = n <= 2 && (p[0] == '\r' || p[0] == '\n');
    if (!is_end)
        return buf_append(&f->head, p, n) < 0 ? 0 : n;
    curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 1000 && !hand_out_head(f, (unsigned)status))
        return 0;
    return f->is_cancelled ? 0 : n;
}

static size_t
on_data(char *p, size_t size, size_t n, void *ctx)
{
    struct fetch *f = ctx;
    n *= size;
    if (f->is_cancelled)
        return n ? 0 : 1;
    if (has_had_its_turn(f))
        return rest(f);
    f->is_inside = true;
    f->is_held = !f->events->data(f->ctx, (struct view){ (const uint8_t *)p, n });
    f->is_inside = false;
    if (f->is_cancelled)
        return n ? 0 : 1;
    f->taken += n;
    return f->is_held ? (size_t)CURL_WRITEFUNC_PAUSE : n;
}

/* -- the request -- */

static size_t
on_more(char *p, size_t size, size_t n, void *ctx)
{
    struct fetch *f = ctx;
    bool is_end = false;
    if (f->is_cancelled)
        return CURL_READFUNC_ABORT;
    f->is_inside = true;
    size_t got = f->events->more(f->ctx, (uint8_t *)p, size * n, &is_end);
    f->is_inside = false;
    return f->is_cancelled ? (size_t)CURL_READFUNC_ABORT
           : got || is_end ? got
                           : (size_t)CURL_READFUNC_PAUSE;
}

static int
on_seek(void *ctx, curl_off_t at, int origin)
{
    struct fetch *f = ctx;
    bool is_possible = !f->is_cancelled && at == 0 && origin == SEEK_SET;
    return is_possible && f->events->again(f->ctx) ? CURL_SEEKFUNC_OK
                                                   : CURL_SEEKFUNC_FAIL;
}

static int
add_line(struct fetch *f, const char *line)
{
    struct curl_slist *more = curl_slist_append(f->headers, line);
    if (!more)
        return -ENOMEM;
    f->headers = more;
    return 0;
}

/* What libcurl would add by itself is not sent, unless the client has. */
static int
set_headers(struct fetch *f, const struct fetch_request *r)
{
    AUTO(buf) line = { 0 };
    bool has_accept = false;
    int e = 0;
    for (size_t i = 0; i < r->header_count && !e; i++) {
        const struct calls_header *h = &r->headers[i];
        has_accept |= h->name.n == 6 &&
                      !strncasecmp((const char *)h->name.p, "accept", 6);
        buf_clear(&line);
        buf_append(&line, h->name.p, h->name.n);
        buf_puts(&line, h->value.n ? ": " : ";");
        buf_append(&line, h->value.p, h->value.n);
        e = line.failed ? line.failed : add_line(f, buf_str(&line));
    }
    if (!e && !has_accept)
        e = add_line(f, "Accept:");
    if (!e)
        e = add_line(f, "Expect:");
    if (!e && r->has_body && r->length == FETCH_CHUNKED)
        e = add_line(f, "Transfer-Encoding: chunked");
    curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->headers);
    return e;
}

static void
set_body(struct fetch *f, const struct fetch_request *r)
{
    CURL *e = f->easy;
    if (!strcmp(r->method, "HEAD"))
        curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    else if (r->has_body)
        curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
    else
        curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
    if (!r->has_body)
        return;
    curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE,
                     r->length == FETCH_CHUNKED ? (curl_off_t)-1 : (curl_off_t)r->length);
    curl_easy_setopt(e, CURLOPT_READFUNCTION, on_more);
    curl_easy_setopt(e, CURLOPT_READDATA, f);
    curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(e, CURLOPT_SEEKDATA, f);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BYTES);
}

/* A proxy that the environment asks for is for others than this machine. */
static void
set_proxy(CURL *e)
{
    static const char own[] = "localhost,127.0.0.1,::1,[::1]";
    const char *told = getenv("no_proxy");
    AUTO(buf) list = { 0 };
    told = told ? told : getenv("NO_PROXY");
    buf_printf(&list, "%s%s%s", own, told ? "," : "", told ? told : "");
    curl_easy_setopt(e, CURLOPT_NOPROXY,
                     told && !strcmp(told, "*") ? "*" : buf_str(&list));
}

static void
set_options(struct fetch *f, const struct fetch_request *r)
{
    CURL *e = f->easy;
    curl_easy_setopt(e, CURLOPT_URL, r->url);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, (long)PIECE_BYTES);
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, f->why);
    curl_easy_setopt(e, CURLOPT_PRIVATE, f);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
    if (f->all->ca_file)
        curl_easy_setopt(e, CURLOPT_CAINFO, f->all->ca_file);
    set_proxy(e);
}

int
fetch_start(struct fetches *all, const struct fetch_request *r,
            const struct fetch_events *events, void *ctx, struct fetch **ret)
{
    struct fetch *f = calloc(1, sizeof(*f));
    if (!f || !(f->easy = curl_easy_init())) {
        free(f);
        return -ENOMEM;
    }
    f->all = all;
    f->events = events;
    f->ctx = ctx;
    f->next = all->first;
    if (f->next)
        f->next->before = f;
    all->first = f;
    set_options(f, r);
    set_body(f, r);
    int e = set_headers(f, r);
    if (!e && curl_multi_add_handle(all->multi, f->easy) != CURLM_OK)
        e = -ENOMEM;
    if (e < 0)
        end_fetch(f);
    else
        *ret = f;
    return e;
}

void
fetch_resume(struct fetch *f)
{
    f->is_held = false;
    if (!f->is_inside && !f->is_resting)
        curl_easy_pause(f->easy, CURLPAUSE_CONT);
}

void
fetch_cancel(struct fetch *f)
{
    f->is_cancelled = true;
    if (!f->is_inside)
        end_fetch(f);
}

const char *
fetch_version(void)
{
    return curl_version();
}
