/* SPDX-License-Identifier: MIT */
/* bench_hostile.h -- what a byte costs at worst, and that four times the bytes cost four
 * times as much. */
#ifndef BENCH_HOSTILE_H
#define BENCH_HOSTILE_H

void bench_hostile(void);

#endif
