/* SPDX-License-Identifier: MIT */
/* measure.h -- time and memory of this process, and how benchmarks tell them. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>

/* `name value unit`. Three words a line: what is asked of the value stands in the name.
 */
void measure_line(const char *text, double value, const char *unit);
/* Both sort v; p is from 0 to 1. */
double measure_percentile(double *v, size_t n, double p);
double measure_median(double *v, size_t n);
/* CPU time of this process so far. */
double measure_cpu_s(void);
/* What malloc has given out and not got back, under the sanitizers too. */
size_t measure_heap_bytes(void);

#endif
