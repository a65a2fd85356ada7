/* SPDX-License-Identifier: MIT */
#include "play/asides_priv.h"

#include <fcntl.h>
#include <string.h>

#include "gz/read.h"

enum { CHUNK = 64 << 10 };

/* What follows event `at` - 1 goes on behind event `from`, which is before it. */
struct branch {
    uint64_t at, from;
};

struct range {
    uint64_t first, last;
};

void
play_asides_release(struct play_asides *a)
{
    buf_release(&a->branches);
    buf_release(&a->kept);
    *a = (struct play_asides){ 0 };
}

bool
play_asides_may_be(const char *path)
{
    static const char mark[] = "\"type\":\"branch\"";
    enum { KEEP = sizeof(mark) - 2 };
    AUTO(buf) chunk = { 0 };
    struct gz *g;
    bool is_found = false;
    size_t held = 0;
    if (buf_reserve(&chunk, KEEP + CHUNK) < 0 || gz_open(&g, AT_FDCWD, path) < 0)
        return false;
    for (ssize_t n; !is_found && (n = gz_read(g, chunk.p + held, CHUNK)) > 0;) {
        size_t all = held + (size_t)n;
        is_found = memmem(chunk.p, all, mark, sizeof(mark) - 1) != NULL;
        held = all < KEEP ? all : KEEP;
        memmove(chunk.p, chunk.p + all - held, held);
    }
    gz_close(g);
    return is_found;
}

int
play_asides_event(struct play_asides *a)
{
    a->events++;
    return 0;
}

int
play_asides_branch(struct play_asides *a, uint64_t from)
{
    struct branch b = { ++a->events, from };
    return from < b.at ? buf_append(&a->branches, &b, sizeof(b)) : 0; /* else nonsense */
}

/* From the end back to the beginning, branch by branch. */
int
play_asides_end(struct play_asides *a)
{
    const struct branch *b = (const void *)a->branches.p;
    size_t n = a->branches.n / sizeof(*b);
    uint64_t last = a->events;
    int r = 0;
    while (!r && last) {
        while (n && b[n - 1].at > last)
            n--;
        struct range range = { n ? b[n - 1].at : 1, last };
        r = buf_append(&a->kept, &range, sizeof(range));
        last = n ? b[n - 1].from : 0;
    }
    return r;
}

bool
play_asides_is(struct play_asides *a, uint64_t number)
{
    struct range range;
    for (; a->kept.n; a->kept.n -= sizeof(range)) {
        memcpy(&range, a->kept.p + a->kept.n - sizeof(range), sizeof(range));
        if (number <= range.last)
            return number < range.first;
    }
    return false; /* it came when all were told, and goes on where the last one stood */
}
