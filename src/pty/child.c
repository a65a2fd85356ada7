/* SPDX-License-Identifier: MIT */
#include "pty/child.h"
