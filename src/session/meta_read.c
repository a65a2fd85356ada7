/* SPDX-License-Identifier: MIT */
#include "session/meta.h"
