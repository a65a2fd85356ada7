/* SPDX-License-Identifier: MIT */
#include "library/find.h"
