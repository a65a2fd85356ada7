/* SPDX-License-Identifier: MIT */
#include "tools/crowd_http.h"

#include <stdlib.h>
#include <strings.h>

const char *
crowd_http_header(struct crowd_http *h, const char *name)
{
    static char value[4096];
    size_t n = strlen(name);
    const char *line = buf_str(&h->head);
    while ((line = strstr(line, "\r\n")) && line[2]) {
        line += 2;
        if (strncasecmp(line, name, n) != 0 || line[n] != ':')
            continue;
        const char *from = line + n + 1 + strspn(line + n + 1, " ");
        size_t size = strcspn(from, "\r");
        if (size >= sizeof(value))
            return NULL;
        memcpy(value, from, size);
        value[size] = 0;
        return value;
    }
    return NULL;
}

/* The next byte up to a newline goes to h->head. True: that was the line's end. */
static bool
take_line(struct crowd_http *h, struct view *rest)
{
    while (rest->n) {
        uint8_t c = rest->p[0];
        *rest = (struct view){ rest->p + 1, rest->n - 1 };
        buf_append(&h->head, &c, 1);
        if (c == '\n')
            return true;
    }
    return false;
}

static bool
ends_head(const struct crowd_http *h)
{
    return h->head.n >= 4 && !memcmp(h->head.p + h->head.n - 4, "\r\n\r\n", 4);
}

static void
begin_body(struct crowd_http *h)
{
    const char *coding = crowd_http_header(h, "transfer-encoding");
    bool is_chunked = coding && !strcasecmp(coding, "chunked");
    const char *length = crowd_http_header(h, "content-length");
    h->head_end = h->head.n;
    h->left = length ? strtoull(length, NULL, 10) : 0;
    h->part = is_chunked ? CROWD_SIZE : h->left ? CROWD_LENGTH : CROWD_END;
}

static void
begin_chunk(struct crowd_http *h)
{
    h->left = strtoull(buf_str(&h->head) + h->head_end, NULL, 16);
    h->head.n = h->head_end;
    h->is_last = !h->left;
    h->part = h->left ? CROWD_CHUNK : CROWD_CRLF;
}

static int
end_chunk(struct crowd_http *h)
{
    bool is_empty = h->head.n - h->head_end == 2;
    h->head.n = h->head_end;
    h->part = h->is_last ? CROWD_END : CROWD_SIZE;
    return is_empty ? 0 : -1;
}

static bool
take_body(struct crowd_http *h, struct view *rest, struct view *ret)
{
    *ret = *rest;
    if (ret->n > h->left)
        ret->n = (size_t)h->left;
    h->left -= ret->n;
    *rest = (struct view){ rest->p + ret->n, rest->n - ret->n };
    if (!h->left)
        h->part = h->part == CROWD_CHUNK ? CROWD_CRLF : CROWD_END;
    return ret->n;
}

int
crowd_http_next(struct crowd_http *h, struct view *rest, struct view *ret_body)
{
    while (h->part != CROWD_END && rest->n) {
        if (h->part == CROWD_LENGTH || h->part == CROWD_CHUNK)
            return take_body(h, rest, ret_body);
        if (!take_line(h, rest))
            return 0;
        if (h->part == CROWD_HEAD && ends_head(h))
            begin_body(h);
        else if (h->part == CROWD_SIZE)
            begin_chunk(h);
        else if (h->part == CROWD_CRLF && end_chunk(h) < 0)
            return -1;
    }
    return 0;
}

void
crowd_http_clear(struct crowd_http *h)
{
    buf_clear(&h->head);
    h->part = CROWD_HEAD;
    h->left = 0;
    h->is_last = false;
}

void
crowd_http_release(struct crowd_http *h)
{
    buf_release(&h->head);
}
