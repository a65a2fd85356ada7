/* SPDX-License-Identifier: MIT */
/*
 * Most patterns are of a few kinds: names, endings of names. They are told apart from
 * most paths by their first or last byte, so that a path costs a few nanoseconds a
 * pattern.
 */
#include "snap/ignore_priv.h"

#include <string.h>

#include "snap/wild_priv.h"

struct pattern {
    struct snap_wild wild;
    bool is_negative, is_dir_only;
    bool is_of_name; /* the last part of a path alone; else from its file's folder */
};

struct snap_ignore {
    const struct snap_ignore *above; /* borrowed */
    char *dir;
    size_t dir_n;
    struct buf patterns; /* struct pattern each */
    struct buf code;
};

enum { CODE_MAX = SNAP_IGNORE_FILE_MAX * 33 }; /* a set from each byte would be that */

/* Blanks at the end go, but for one behind a backslash and what is before it. */
static size_t
without_blanks(struct view line)
{
    size_t end = line.n;
    bool is_blank = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == ' ') {
            end = is_blank ? end : i;
            is_blank = true;
            continue;
        }
        is_blank = false;
        if (line.p[i] == '\\' && ++i >= line.n)
            return line.n;
    }
    return is_blank ? end : line.n;
}

/* One line without its end. */
static int
add_line(struct snap_ignore *s, struct view line)
{
    struct pattern p = { 0 };
    if (!line.n || line.p[0] == '#')
        return 0;
    line.n = strnlen((const char *)line.p, line.n);
    line.n = without_blanks(line);
    if (line.n && line.p[0] == '!') {
        p.is_negative = true;
        line = (struct view){ line.p + 1, line.n - 1 };
    }
    if (line.n && line.p[line.n - 1] == '/') {
        p.is_dir_only = true;
        line.n--;
    }
    p.is_of_name = !line.n || !memchr(line.p, '/', line.n);
    if (line.n && line.p[0] == '/')
        line = (struct view){ line.p + 1, line.n - 1 };
    int r = snap_wild_put(&s->code, line, &p.wild);
    return r <= 0 ? r : buf_append(&s->patterns, &p, sizeof(p));
}

static int
add_lines(struct snap_ignore *s, struct view text)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    if (text.n >= SNAP_IGNORE_FILE_MAX) { /* half a pattern is none */
        const uint8_t *last = memrchr(text.p, '\n', SNAP_IGNORE_FILE_MAX);
        text.n = last ? (size_t)(last - text.p) : 0;
    }
    if (text.n >= sizeof(mark) && !memcmp(text.p, mark, sizeof(mark)))
        text = (struct view){ text.p + sizeof(mark), text.n - sizeof(mark) };
    int r = 0;
    while (text.n && r >= 0) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        struct view line = { text.p, end ? (size_t)(end - text.p) : text.n };
        size_t used = line.n + (end != NULL);
        text = (struct view){ text.p + used, text.n - used };
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        r = add_line(s, line);
    }
    return r;
}

struct snap_ignore *
snap_ignore_new(struct view text, const char *dir, const struct snap_ignore *above)
{
    struct snap_ignore *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->above = above;
    s->dir_n = strlen(dir);
    s->dir = strdup(dir);
    s->code.ceiling = CODE_MAX;
    if (!s->dir || add_lines(s, text) < 0) {
        snap_ignore_free(s);
        return NULL;
    }
    buf_shrink(&s->code);
    buf_shrink(&s->patterns);
    return s;
}

void
snap_ignore_free(struct snap_ignore *s)
{
    if (!s)
        return;
    free(s->dir);
    buf_release(&s->patterns);
    buf_release(&s->code);
    free(s);
}

/* The last one that fits; NULL: none. Neither path nor name are empty. */
static const struct pattern *
find(const struct snap_ignore *s, struct view path, struct view name, bool is_dir)
{
    const struct pattern *all = (const struct pattern *)(const void *)s->patterns.p;
    uint8_t last = name.p[name.n - 1];
    for (size_t i = s->patterns.n / sizeof(*all); i-- > 0;) {
        const struct pattern *p = &all[i];
        const struct view *text = p->is_of_name ? &name : &path;
        if ((p->wild.last && p->wild.last != last) ||
            (p->wild.first && p->wild.first != text->p[0]) || (p->is_dir_only && !is_dir))
            continue;
        if (snap_wild_fits(&p->wild, s->code.p, *text))
            return p;
    }
    return NULL;
}

bool
snap_ignore_has(const struct snap_ignore *s, const char *path, bool is_dir)
{
    size_t n = strlen(path);
    const char *slash = memrchr(path, '/', n);
    const char *name = slash ? slash + 1 : path;
    struct view name_view = { (const uint8_t *)name, n - (size_t)(name - path) };
    if (!name_view.n)
        return false;
    for (; s; s = s->above) {
        size_t skip = s->dir_n ? s->dir_n + 1 : 0;
        if (!s->patterns.n || n <= skip)
            continue;
        if (skip && (path[s->dir_n] != '/' || memcmp(path, s->dir, s->dir_n) != 0))
            continue;
        struct view below = { (const uint8_t *)path + skip, n - skip };
        const struct pattern *p = find(s, below, name_view, is_dir);
        if (p)
            return !p->is_negative;
    }
    return false;
}
