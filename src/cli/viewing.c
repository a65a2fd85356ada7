/* SPDX-License-Identifier: MIT */
#include "cli/viewing.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/session.h"
#include "library/instruct.h"
#include "session/home.h"
#include "tui/prefix.h"

int
cli_viewing_prefix(const struct cli_viewing *v, uint8_t *ret, struct err *err)
{
    struct err why;
    if (!v->prefix) {
        *ret = TUI_PREFIX_DEFAULT;
        return 0;
    }
    int r = tui_prefix_parse(v->prefix, ret, &why);
    return r < 0 ? err_set(err, ERR_USAGE, "--prefix: %.400s", why.text) : 0;
}

/* -- the answer -- */

static int
open_answer(int how)
{
    AUTO(buf) path = { 0 };
    struct err ignored;
    if (session_home(&path, &ignored) < 0 || buf_puts(&path, "/.deliver") < 0)
        return -1;
    return open(buf_str(&path), how | O_CLOEXEC, 0600);
}

static enum tui_deliver
remembered(void)
{
    char word[8] = "";
    int fd = open_answer(O_RDONLY);
    if (fd < 0)
        return TUI_DELIVER_ASK;
    ssize_t n = file_read(fd, word, sizeof(word) - 1);
    close(fd);
    if (n == 4 && !memcmp(word, "yes\n", 4))
        return TUI_DELIVER_YES;
    return n == 3 && !memcmp(word, "no\n", 3) ? TUI_DELIVER_NO : TUI_DELIVER_ASK;
}

enum tui_deliver
cli_viewing_deliver(const struct cli_viewing *v)
{
    return v->deliver == CLI_DELIVER_UNSAID ? remembered() : (enum tui_deliver)v->deliver;
}

void
cli_viewing_remember(bool is_typed)
{
    int fd = open_answer(O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return; /* it is asked again */
    (void)file_write_all(fd, is_typed ? "yes\n" : "no\n", is_typed ? 4 : 3);
    close(fd);
}

const char *
cli_viewing_name(const char *name, const char *id, char room[CLI_VIEWING_NAME])
{
    if (name && *name && session_name_is(name))
        snprintf(room, CLI_VIEWING_NAME, "%s", name);
    else
        snprintf(room, CLI_VIEWING_NAME, "%.*s", CLI_SHORT_ID, id);
    return room;
}

/* -- instructions -- */

int
cli_viewing_instruct(const char *what, const struct tui_wish *wish,
                     struct play_event *ret, struct err *err)
{
    struct library_found found;
    struct session_instruction i = { .anchor_byte = wish->anchor_byte,
                                     .snapshot_id = wish->snapshot_id,
                                     .row = wish->row,
                                     .text = wish->text,
                                     .is_delivered = wish->is_typed };
    int r = library_find_by_files(&found, what, err);
    if (r < 0)
        return r;
    r = library_instruct(&found, &i, err);
    library_found_release(&found);
    if (r < 0)
        return r;
    *ret = (struct play_event){ .kind = PLAY_INSTRUCTION,
                                .id = i.id,
                                .ts_ns = i.ts_ns,
                                .anchor_byte = i.anchor_byte,
                                .text = i.text,
                                .snapshot_id = i.snapshot_id,
                                .is_delivered = i.is_delivered };
    return 0;
}
