/* SPDX-License-Identifier: MIT */
#include "session/id.h"
