/* SPDX-License-Identifier: MIT */
#include "cli/log_find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/session.h"
#include "gz/read.h"
#include "journal/log.h"
#include "journal/project.h"
#include "library/runs.h"

void
cli_log_found_release(struct cli_log_found *f)
{
    buf_release(&f->dir);
    buf_release(&f->file);
}

/* 1: it is one. An archived log is called by its own name, or by its archive's. */
static int
find_path(struct cli_log_found *ret, const char *what, struct err *err)
{
    struct stat st;
    bool is_there = stat(what, &st) == 0 || gz_stat(AT_FDCWD, what, &st) == 1;
    size_t n = strlen(what), plain = gz_name_len(what);
    bool is_tape = n > 4 && !strcmp(what + n - 4, ".ahr");
    if (is_tape || (!strchr(what, '/') && !(is_there && S_ISREG(st.st_mode))))
        return 0;
    if (!is_there)
        return err_sys(err, "cannot open '%s'", what);
    bool is_dir = S_ISDIR(st.st_mode);
    int r = buf_append(is_dir ? &ret->dir : &ret->file, what,
                       is_dir || !plain ? n : plain);
    return r < 0 ? err_code(err, r, "'%s'", what) : 1;
}

/* The file `project` beside the recording says where the logs of that run are. */
static int
find_in_library(const struct cli_command *self, struct cli_log_found *ret,
                const char *what, struct err *err)
{
    AUTO(library_found) found = { 0 };
    AUTO(buf) path = { 0 };
    AUTO(buf) line = { .ceiling = 1 << 20 };
    int r = cli_find(self, &found, what, err);
    if (r < 0)
        return r;
    const char *tape = buf_str(&found.tape_path);
    buf_printf(&path, "%.*s/project", (int)file_dir_len(tape), tape);
    r = file_slurp(buf_str(&path), &line);
    if (r == -ENOENT || (!r && !line.n))
        return err_set(err, ERR_MISSING,
                       "session '%s' is no run: it has no iteration logs", what);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", buf_str(&path));
    const char *dir = buf_str(&line);
    r = buf_append(&ret->dir, dir, strcspn(dir, "\n"));
    return r < 0 ? err_code(err, r, "'%s'", dir) : 0;
}

static int
find(const struct cli_command *self, struct cli_log_found *ret, const char *what,
     struct err *err)
{
    AUTO(buf) id = { 0 };
    if (!what || !strcmp(what, "last")) {
        int r = journal_run_last(".", &ret->dir);
        return r > 0 ? 0 : find_in_library(self, ret, "last", err);
    }
    int r = find_path(ret, what, err);
    if (!r)
        r = journal_project_find(".", what, &ret->dir, &id);
    if (!r)
        return find_in_library(self, ret, what, err);
    return r < 0 ? r : 0;
}

int
cli_log_find(const struct cli_command *self, struct cli_log_found *ret, const char *what,
             struct err *err)
{
    int r = find(self, ret, what, err);
    if (!r && ret->dir.n && library_run_is_encrypted(buf_str(&ret->dir)))
        r = library_refuse_encrypted(file_name(buf_str(&ret->dir)), err);
    return r;
}

/* -- a run alone -- */

static bool
is_run(const char *dir)
{
    char path[PATH_MAX];
    return dir && *dir == '/' &&
           snprintf(path, sizeof(path), "%s/metadata.json", dir) < (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

/* 1: there is one. What is around may be a recording, too. */
static int
find_around(const struct cli_command *self, struct buf *ret_dir, struct err *err)
{
    AUTO(cli_log_found) found = { 0 };
    const char *session = getenv("AHR_SESSION"), *dir = getenv("AHR_RUN_DIR");
    if (!session || !*session)
        return 0;
    if (is_run(dir))
        return buf_puts(ret_dir, dir) < 0 ? -ENOMEM : 1;
    int r = find_in_library(self, &found, session, err);
    if (!r)
        r = buf_append(ret_dir, found.dir.p, found.dir.n);
    return r == ERR_MISSING ? 0 : r < 0 ? r : 1;
}

static int
find_named(const struct cli_command *self, const char *what, struct buf *ret_dir,
           struct err *err)
{
    AUTO(cli_log_found) found = { 0 };
    char real[PATH_MAX];
    int r = cli_log_find(self, &found, what, err);
    if (r < 0)
        return r;
    if (found.file.n)
        return err_set(err, ERR_USAGE, "'%s' is a file, no run", what);
    if (!realpath(buf_str(&found.dir), real) || !is_run(real))
        return err_set(err, ERR_MISSING, "there is no run in '%s' (any more)",
                       buf_str(&found.dir));
    r = buf_puts(ret_dir, real);
    return r < 0 ? err_code(err, r, "'%s'", real) : 0;
}

int
cli_run_find(const struct cli_command *self, const char *what, bool has_default,
             struct buf *ret_dir, struct err *err)
{
    bool is_asked = what && what != getenv("AHR_SESSION");
    int r = is_asked ? 0 : find_around(self, ret_dir, err);
    if (r > 0 && library_run_is_encrypted(buf_str(ret_dir)))
        return library_refuse_encrypted(file_name(buf_str(ret_dir)), err);
    if (r)
        return r < 0 ? r : 0;
    if (!is_asked && !has_default)
        return err_set(err, ERR_USAGE, "no run around this: give --session NAME");
    return find_named(self, is_asked ? what : NULL, ret_dir, err);
}
