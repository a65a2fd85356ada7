/* SPDX-License-Identifier: MIT */
/* instruct.h -- where an instruction belongs, and one that is noted in a session that has
 * ended. */
#ifndef CLI_INSTRUCT_H
#define CLI_INSTRUCT_H

#include "ipc/message.h"
#include "library/find.h"

struct cli_place {
    uint64_t byte, snapshot; /* IPC_NONE: none. Both: whichever of them there is */
};

/* *ret: as the recorder of a live one answers. */
int cli_instruct_ended(const struct library_found *found, struct cli_place place,
                       const char *text, struct ipc_message *ret, struct err *err);

#endif
