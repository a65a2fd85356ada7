/* SPDX-License-Identifier: MIT */
#include "library/stub_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tree.h"
#include "journal/project.h"
#include "library/encrypt.h"
#include "library/index.h"
#include "library/protect.h"
#include "library/runs.h"
#include "library/runs_priv.h"
#include "session/folder.h"
#include "session/meta.h"

enum { STUB_MAX = 128 << 10 }; /* bytes that are looked at */

static int
replace(const char *dir, const char *name, const struct buf *text, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (text->failed || buf_printf(&path, "%s/%s", dir, name) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot write '%s/%s'", dir, name);
    return file_replace(buf_str(&path), (struct view){ text->p, text->n }, true, err);
}

static void
put_id(struct json *j, const char *key, const char *id)
{
    if (id && session_id_is(id))
        json_key(j, key), json_str(j, id);
}

int
stub_write_meta(const char *dir, const struct stub_facts *f, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct json json = { .out = &text }, *j = &json;
    json_open(j, '{');
    json_key(j, "version"), json_u64(j, 1);
    json_key(j, "sessionId"), json_str(j, f->id);
    json_key(j, "kind"), json_str(j, f->kind);
    json_key(j, "status"), json_str(j, session_status_name(SESSION_ENCRYPTED));
    json_key(j, "startedAtNs"), json_u64(j, f->started_at_ns);
    put_id(j, "parent", f->parent);
    put_id(j, "resumedFrom", f->resumed_from);
    if (library_is_manager(f->role))
        json_key(j, "role"), json_str(j, LIBRARY_MANAGER);
    json_close(j, '}');
    buf_puts(&text, "\n");
    return replace(dir, "session." SESSION_META, &text, err);
}

static void
format(struct buf *out, const char *name, const char *id)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "session_id"), json_str(j, name);
    json_key(j, "id"), json_str(j, id);
    json_key(j, "status"), json_str(j, session_status_name(SESSION_ENCRYPTED));
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* A name of its own: metadata.json.new may be a run's, and then it is in the vault. */
#define NEW ".ahr-encrypt"

static int
put(int dir_fd, const struct buf *text)
{
    int fd = openat(dir_fd, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0)
        return -errno;
    int r = fchmod(fd, 0600) < 0 ? -errno : file_write_all(fd, text->p, text->n);
    if (!r && fsync(fd) < 0)
        r = -errno;
    close(fd);
    if (!r && renameat(dir_fd, NEW, dir_fd, STUB_NAME) < 0)
        r = -errno;
    return r;
}

int
stub_write(int dir_fd, const char *dir, const char *id, struct err *err)
{
    AUTO(buf) text = { 0 };
    format(&text, file_name(dir), id);
    int r = text.failed ? text.failed : put(dir_fd, &text);
    return r < 0 ? err_code(err, r, "cannot write '%s/" STUB_NAME "'", dir) : 0;
}

void
stub_sweep(int dir_fd)
{
    (void)unlinkat(dir_fd, NEW, 0);
}

/* As we write it, whatever the name and, unless it is given, the id. */
bool
stub_is(int dir_fd, const char *id)
{
    static const char begin[] = "{\"session_id\":\"",
                      status[] = "\",\"status\":\"encrypted\"}\n";
    AUTO(buf) text = { .ceiling = STUB_MAX };
    AUTO(buf) end = { 0 };
    int fd = dir_fd < 0 ? -ENOENT : below_open_file(dir_fd, STUB_NAME);
    int r = fd < 0 ? fd : file_read_all(fd, &text);
    if (fd >= 0)
        close(fd);
    buf_printf(&end, "%s%s%s", id ? "\",\"id\":\"" : "", id ? id : "", status);
    return !r && !end.failed && text.n > sizeof(begin) - 1 + end.n &&
           !memcmp(text.p, begin, sizeof(begin) - 1) &&
           !memcmp(text.p + text.n - end.n, end.p, end.n);
}

int
stub_mark(const char *dir, const char *mark, const char *path, struct err *err)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "%s\n", path);
    return replace(dir, mark, &text, err);
}

int
stub_unmark(const char *dir, const char *mark, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) half = { .ceiling = PATH_MAX }; /* made by one that was killed */
    if (buf_printf(&path, "%s/%s", dir, mark) < 0 ||
        buf_printf(&half, "%s/%s.new", dir, mark) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot remove '%s/%s'", dir, mark);
    bool was_there = unlink(buf_str(&half)) == 0;
    if (unlink(buf_str(&path)) == 0)
        was_there = true;
    else if (errno != ENOENT)
        return err_sys(err, "cannot remove '%s'", buf_str(&path));
    int r = was_there ? file_sync_dir(buf_str(&path)) : 0;
    return r < 0 ? err_code(err, r, "cannot remove '%s'", buf_str(&path)) : 0;
}

int
library_encrypt_left(const char *home, const char *id, struct buf *ret)
{
    AUTO(buf) mark = { .ceiling = PATH_MAX };
    struct stat st;
    if (!session_folder_is_encrypted(home, id))
        return 0;
    int r = library_project_find(home, id, ret) ? 1 : 0;
    if (r || buf_printf(&mark, "%s/sessions/%s/" STUB_LIBRARY, home, id) < 0 ||
        lstat(buf_str(&mark), &st) < 0)
        return r;
    buf_clear(ret);
    r = library_db_path(home, ret);
    return r < 0 ? r : 1;
}

/* -- and away -- */

/* Is the folder this session's, and nothing in it but the stub? */
static bool
is_bare(int at_fd, const char *name, const char *id)
{
    AUTO(tree_names) names = { 0 };
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_it = fd >= 0 && stub_is(fd, id) && tree_names(fd, &names) == 0 &&
                 names.count == 1;
    if (fd >= 0)
        close(fd);
    return is_it;
}

static bool
find_bare(const char *from, const char *id, struct buf *ret)
{
    AUTO(buf) runs = { .ceiling = PATH_MAX };
    AUTO(tree_names) names = { 0 };
    bool is_found = false;
    int fd = runs_find(from, &runs);
    if (fd >= 0 && tree_names(fd, &names) == 0)
        for (size_t i = 0; !is_found && i < names.count; i++)
            is_found = session_name_is(names.name[i]) && is_bare(fd, names.name[i], id) &&
                       buf_printf(ret, "%s/%s", buf_str(&runs), names.name[i]) == 0;
    if (fd >= 0)
        close(fd);
    return is_found;
}

int
library_encrypt_unname(const char *home, const char *id, const char *from,
                       struct buf *ret, struct err *err)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    if (!session_folder_is_encrypted(home, id))
        return 0;
    bool is_found = library_project_find(home, id, &dir) &&
                    is_bare(AT_FDCWD, buf_str(&dir), id);
    if (!is_found)
        buf_clear(&dir);
    if (!is_found && !find_bare(from, id, &dir))
        return 0;
    int r = journal_project_remove(buf_str(&dir), id, err);
    if (r)
        return r < 0 ? r : 0; /* it has become another's just now */
    r = buf_append(ret, dir.p, dir.n);
    return r < 0 ? err_code(err, r, "cannot tell of '%s'", buf_str(&dir)) : 1;
}
