/* SPDX-License-Identifier: MIT */
#include "cli/nearest.h"

#include <string.h>

enum { LEN_MAX = 32, PREFIX_MIN = 2 };

static size_t
least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that make a of b. */
static size_t
distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), d[LEN_MAX + 1][LEN_MAX + 1];
    for (size_t i = 0; i <= la; i++)
        for (size_t j = 0; j <= lb; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            size_t swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
                              ? d[i - 2][j - 2] + 1
                              : (size_t)-1;
            size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
                            least(change, swap, change));
        }
    return d[la][lb];
}

static const char *
only_longer(const char *word, const char *const *words, size_t n)
{
    const char *found = NULL;
    size_t len = strlen(word), count = 0;
    for (size_t i = 0; i < n && len >= PREFIX_MIN; i++)
        if (!strncmp(words[i], word, len)) {
            found = words[i];
            count++;
        }
    return count == 1 ? found : NULL;
}

const char *
cli_nearest(const char *word, const char *const *words, size_t n)
{
    const char *longer = only_longer(word, words, n);
    if (longer)
        return longer;
    const char *best = NULL;
    size_t len = strlen(word), best_d = len / 2 + 1;
    if (!len || len > LEN_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) > LEN_MAX)
            continue;
        size_t d = distance(word, words[i]);
        if (d < best_d) {
            best = words[i];
            best_d = d;
        }
    }
    return best;
}
