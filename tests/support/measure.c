/* SPDX-License-Identifier: MIT */
#include "support/measure.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
measure_line(const char *text, double value, const char *unit)
{
    char name[96];
    size_t n = 0;
    for (; *text && n + 1 < sizeof(name); text++)
        if (*text != ',' && *text != '(' && *text != ')')
            name[n++] = *text == ' ' ? '_' : *text;
    name[n] = 0;
    printf("%-52s %10.3f %s\n", name, value, unit);
    fflush(stdout);
}

static int
compare(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

double
measure_percentile(double *v, size_t n, double p)
{
    qsort(v, n, sizeof(v[0]), compare);
    return v[(size_t)((double)(n - 1) * p)];
}

double
measure_median(double *v, size_t n)
{
    return measure_percentile(v, n, 0.5);
}

double
measure_cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* AddressSanitizer has a heap of its own, which mallinfo2() does not see. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

size_t
measure_heap_bytes(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}
