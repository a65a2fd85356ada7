/* SPDX-License-Identifier: MIT */
/*
 * banned.h -- calls that this project does not make; using one is a compile error.
 *
 * The system's headers come first, so that only our own uses are caught.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef gmtime
#undef localtime

#define strcpy    banned_use_buf_or_snprintf
#define strcat    banned_use_buf_or_snprintf
#define strncpy   banned_use_buf_or_snprintf
#define strncat   banned_use_buf_or_snprintf
#define sprintf   banned_use_snprintf
#define vsprintf  banned_use_vsnprintf
#define strtok    banned_use_strtok_r
#define atoi      banned_use_num_parse
#define atol      banned_use_num_parse
#define gmtime    banned_use_gmtime_r
#define localtime banned_use_localtime_r

#endif
