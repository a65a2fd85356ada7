/* SPDX-License-Identifier: MIT */
/* Whatever stands in a call's arguments or a patch, each path lies in what came in or was
 * decoded from it, and is told with an action that there is. A links.json that anybody
 * wrote is taken or refused; one entry more, and it is read again with one entry more. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz/fuzz.h"
#include "journal/artifact_priv.h"

static void
on_path(void *ctx, struct view path, const char *action)
{
    size_t *count = ctx;
    CHECK(path.n == 0 || path.p);
    CHECK(!action || !strcmp(action, "created") || !strcmp(action, "modified") ||
          !strcmp(action, "deleted"));
    ++*count;
}

static void
check_tools(struct view in)
{
    static const char *const tools[] = { "Write",       "MultiEdit",   "NotebookEdit",
                                         "apply_patch", "file_change", "edit",
                                         "replace",     "shell" };
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        size_t once = 0, twice = 0;
        struct view name = { (const uint8_t *)tools[i], strlen(tools[i]) };
        journal_tool_paths(name, in, on_path, &once);
        journal_tool_paths(name, in, on_path, &twice);
        CHECK(once == twice);
    }
    size_t count = 0;
    journal_patch_paths(in, on_path, &count);
    CHECK(count <= in.n);
    (void)journal_result_action(in);
}

static void
put(int dir_fd, struct view bytes)
{
    int fd = openat(dir_fd, "links.json", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK(file_write_all(fd, bytes.p, bytes.n) == 0);
    close(fd);
}

static void
check_links(int dir_fd, struct view in)
{
    AUTO(buf) text = { 0 };
    struct view path = { (const uint8_t *)"a/b.c", 5 };
    struct journal_links l = { 0 };
    put(dir_fd, in);
    int r = journal_links_read(dir_fd, path, &l);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (!r) {
        struct journal_link link = {
            .path = path, .action = "created", .copy = "9999-b.c", .bytes = 3
        };
        size_t before = l.count;
        journal_links_add(&l, &link, &text);
        CHECK(!text.failed);
        journal_links_release(&l);
        put(dir_fd, (struct view){ text.p, text.n });
        CHECK(journal_links_read(dir_fd, path, &l) == 0);
        CHECK(l.count == before + 1 && l.is_known && !l.is_deleted);
        CHECK(l.highest >= 9999);
    }
    journal_links_release(&l);
}

static char folder[] = "/tmp/ahr-fuzz-XXXXXX";

static void
remove_folder(void)
{
    static const char path[] = "/links.json";
    char links[sizeof(folder) + sizeof(path)];
    snprintf(links, sizeof(links), "%s%s", folder, path);
    unlink(links);
    rmdir(folder);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int dir_fd = -1;
    struct view in = { data ? data : (const uint8_t *)"", size };
    if (dir_fd < 0) {
        CHECK(mkdtemp(folder) && !atexit(remove_folder));
        dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(dir_fd >= 0);
    }
    check_tools(in);
    check_links(dir_fd, in);
    return 0;
}
