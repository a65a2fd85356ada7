/* SPDX-License-Identifier: MIT */
#include "library/recover.h"
