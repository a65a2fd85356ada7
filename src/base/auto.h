/* SPDX-License-Identifier: MIT */
/* auto.h -- AUTO(buf) x = {…}: a struct buf that buf_release() takes back at the end of
 * its scope. */
#ifndef BASE_AUTO_H
#define BASE_AUTO_H

#define AUTO(type) __attribute__((cleanup(type##_release))) struct type

#endif
