/* SPDX-License-Identifier: MIT */
#include "pty/feed.h"
