/* SPDX-License-Identifier: MIT */
/* history_ids.c -- sessions by what follows the day in their ids, sorted by that. */
#include <stdlib.h>
#include <string.h>

#include "library/history_priv.h"
#include "library/ids_priv.h"

void
library_history_ids_release(struct library_history_ids *ids)
{
    buf_release(&ids->all);
    ids->is_read = false;
}

static int
compare(const void *a, const void *b)
{
    return strcmp((const char *)a + HISTORY_DATE_LEN, (const char *)b + HISTORY_DATE_LEN);
}

int
history_ids_read(struct library_history_ids *ids, const char *home)
{
    if (ids->is_read)
        return 0;
    buf_clear(&ids->all);
    int r = ids_collect_stored(&ids->all, home);
    if (r < 0)
        return r;
    if (ids->all.n)
        qsort(ids->all.p, ids_count(&ids->all), IDS_STEP, compare);
    ids->is_read = true;
    return 0;
}

/* The first that is not before it. */
static size_t
place_of(const struct library_history_ids *ids, const char *id)
{
    size_t low = 0, high = ids_count(&ids->all);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare(ids_at(&ids->all, mid), id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const char *
history_ids_find(const struct library_history_ids *ids, const char *id)
{
    size_t at = place_of(ids, id);
    bool is_it = at < ids_count(&ids->all) && compare(ids_at(&ids->all, at), id) == 0;
    return is_it ? ids_at(&ids->all, at) : NULL;
}

int
history_ids_add(struct library_history_ids *ids, const char *id)
{
    size_t at = place_of(ids, id) * IDS_STEP, behind = ids->all.n - at;
    uint8_t *end = buf_grow(&ids->all, IDS_STEP);
    if (!end)
        return ids->all.failed;
    memmove(ids->all.p + at + IDS_STEP, ids->all.p + at, behind);
    memcpy(ids->all.p + at, id, IDS_STEP);
    return 0;
}
