/* SPDX-License-Identifier: MIT */
#include "pty/tty.h"
