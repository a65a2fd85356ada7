/* SPDX-License-Identifier: MIT */
/* machine.c -- what sessions need: libraries, disks, variables, agents. */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "doctor/doctor_priv.h"
#include "gz/read.h"
#include "host/host.h"
#include "library/search.h"
#include "redact/redact.h"
#include "session/id.h"
#include "session/meta.h"
#include "session/sockets.h"
#include "snap/repo.h"
#include "store/store.h"
#include "tape/brotli.h"
#include "term/width.h"
#include "vault/head.h"

/* -- versions -- */

/* Without the day that stands behind some. */
static int
number_len(const char *version)
{
    return (int)strcspn(version, " ");
}

void
doctor_versions(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) brotli = { 0 };
    AUTO(buf) pcre2 = { 0 };
    AUTO(buf) git = { 0 };
    struct utsname kernel;
    struct err err = { 0 };
    (void)d;
    tape_brotli_version(&brotli);
    library_pcre2_version(&pcre2);
    if (snap_git_version(&git, &err) < 0)
        doctor_find(out, DOCTOR_NOTE, "%s", err.text);
    const char *pcre2_text = buf_str(&pcre2), *hs_text = redact_engine_version();
    doctor_sum(
        out,
        "ahr %s, Brotli %s, Jansson %s, libsodium %s, libuv %s, PCRE2 %.*s, SQLite "
        "%s, utf8proc %s, Vectorscan %.*s, zlib %s, git %s",
        AHR_VERSION, buf_str(&brotli), session_jansson_version(), vault_version(),
        host_uv_version(), number_len(pcre2_text), pcre2_text, store_sqlite_version(),
        term_utf8proc_version(), number_len(hs_text), hs_text, gz_version(),
        git.n ? buf_str(&git) : "none");
    if (uname(&kernel) == 0)
        doctor_sum(out, ", %s %s %s", kernel.sysname, kernel.release, kernel.machine);
}

/* -- the environment -- */

enum {
    SOCKET_PATH_MAX = 107, /* unix(7) */
    SOCKET_EXTRA = sizeof("/live//" SESSION_CTL_SOCK) - 1 + SESSION_ID_LEN,
};

/* May a private folder be made in it? */
static bool
is_fit(const char *path)
{
    struct stat st;
    return path && *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           (st.st_uid == geteuid() || !st.st_uid) && access(path, W_OK | X_OK) == 0;
}

static void
look_at_sockets(const struct doctor *d, struct doctor_report *out)
{
    const char *run = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
    bool is_long = strlen(d->home) + SOCKET_EXTRA > SOCKET_PATH_MAX;
    if (run && *run && !is_fit(run)) {
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_NOTE, "XDG_RUNTIME_DIR is '%s', which is no folder of yours",
            run);
        doctor_mend(f, "unset XDG_RUNTIME_DIR");
    }
    if (!is_long)
        return;
    tmp = tmp && *tmp ? tmp : "/tmp";
    const char *where = is_fit(run) ? run : is_fit(tmp) ? tmp : NULL;
    if (where)
        doctor_find(out, DOCTOR_NOTE,
                    "'%s' is too long a path for sockets: those of live sessions lie in "
                    "'%s'",
                    d->home, where);
    else
        doctor_find(
            out, DOCTOR_ATTENTION,
            "'%s' is too long a path for sockets, and neither XDG_RUNTIME_DIR nor "
            "'%s' has a place for them: set AHR_HOME to a shorter one",
            d->home, tmp);
}

static void
look_at_relative(struct doctor_report *out)
{
    static const char *const names[] = { "XDG_DATA_HOME", "XDG_CONFIG_HOME" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value || *value == '/')
            continue;
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_NOTE, "%s is '%s', which is no absolute path and is ignored",
            names[i], value);
        doctor_mend(f, "unset %s", names[i]);
    }
}

/* SQLite's log needs memory that processes share, which these do not have. */
static void
look_at_file_system(const struct doctor *d, struct doctor_report *out)
{
    static const struct {
        unsigned long type;
        const char *name;
    } remote[] = {
        { 0x6969, "NFS" },    { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB" },
        { 0x01021997, "9p" }, { 0x5346414f, "AFS" },  { 0x00c36400, "Ceph" },
    };
    struct statfs fs;
    if (statfs(d->home, &fs) < 0)
        return;
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
        if ((unsigned long)fs.f_type == remote[i].type)
            doctor_find(out, DOCTOR_NOTE,
                        "'%s' is on %s: the index has no log there, and is slower when "
                        "several use it",
                        d->home, remote[i].name);
}

void
doctor_environment(const struct doctor *d, struct doctor_report *out)
{
    const char *home = getenv("AHR_HOME");
    look_at_sockets(d, out);
    look_at_relative(out);
    look_at_file_system(d, out);
    doctor_sum(out, home && *home ? "AHR_HOME is '%s'" : "no AHR_HOME, so %s", d->home);
}

/* -- disks -- */

enum {
    LITTLE_MB = 1024, /* told */
    NONE_MB = 64,     /* sessions are about to lose bytes */
};

static void
look_at_disk(struct doctor_report *out, const char *path, const char *what)
{
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return;
    unsigned long long mb = (unsigned long long)fs.f_bavail * fs.f_frsize / 1000000;
    doctor_sum(out, "%s%llu MB free for %s", out->sum.n ? ", " : "", mb, what);
    bool is_full = mb < NONE_MB || (fs.f_files && !fs.f_favail);
    if (!is_full && mb >= LITTLE_MB)
        return;
    struct doctor_finding *f = doctor_find(
        out, is_full ? DOCTOR_ATTENTION : DOCTOR_NOTE, "there is little room for %s: %s",
        what, fs.f_files && !fs.f_favail ? "no file can be made" : path);
    doctor_mend(f, "ahr clean --older-than 30d");
}

/* Of what is not there yet, that of the folder which will hold it. */
static void
look_at_nearest(struct doctor_report *out, const char *path, const char *what)
{
    AUTO(buf) at = { .ceiling = PATH_MAX };
    struct stat st;
    buf_puts(&at, path);
    while (at.n > 1 && stat(buf_str(&at), &st) < 0)
        at.n = file_dir_len(buf_str(&at));
    look_at_disk(out, at.n ? buf_str(&at) : "/", what);
}

void
doctor_disk(const struct doctor *d, struct doctor_report *out)
{
    look_at_nearest(out, d->home, "sessions");
    look_at_nearest(out, d->here, "this project");
}

/* -- agents -- */

/* In the order of PATH; they are never run. */
static bool
find_on_path(const char *name, struct buf *ret)
{
    const char *at = getenv("PATH");
    for (; at; at = *at ? at + 1 : NULL) {
        size_t n = strcspn(at, ":");
        struct stat st;
        buf_clear(ret);
        if (n)
            buf_append(ret, at, n);
        buf_printf(ret, "%s%s", n ? "/" : "./", name);
        if (!ret->failed && stat(buf_str(ret), &st) == 0 && S_ISREG(st.st_mode) &&
            access(buf_str(ret), X_OK) == 0)
            return true;
        at += n;
        if (!*at)
            break;
    }
    return false;
}

void
doctor_agents(const struct doctor *d, struct doctor_report *out)
{
    static const char *const names[] = { "claude", "codex", "gemini", "opencode" };
    (void)d;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        AUTO(buf) path = { .ceiling = PATH_MAX };
        if (find_on_path(names[i], &path))
            doctor_sum(out, "%s%s", out->sum.n ? ", " : "", buf_str(&path));
    }
    if (!out->sum.n)
        doctor_sum(out, "none of claude, codex, gemini and opencode on PATH");
}
