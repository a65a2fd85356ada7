/* SPDX-License-Identifier: MIT */
#include "session/folder.h"
