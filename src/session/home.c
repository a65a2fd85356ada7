/* SPDX-License-Identifier: MIT */
#include "session/home.h"
