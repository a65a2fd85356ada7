/* SPDX-License-Identifier: MIT */
#include "redact/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/program.h"
#include "redact/builtin_priv.h"

enum {
    TEXT_MAX = 1 << 20,
    SAID_MAX = 4096,
    RUN_MAX_S = 60,
    TRIES = 3, /* when the text changes while it is compiled */
    KEEP_S = 30 * 24 * 3600,
};

#define PACK_PREFIX "rules-"

/* -- places -- */

/* Appends "$VARIABLE/ahr", or "$HOME/FALLBACK/ahr" where that is not an absolute path. */
static int
put_folder(struct buf *out, const char *variable, const char *fallback)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    if (base && *base == '/')
        return buf_printf(out, "%s/ahr", base);
    if (home && *home)
        return buf_printf(out, "%s/%s/ahr", home, fallback);
    return -ENOENT;
}

static int
make_folder(const char *path, struct err *err)
{
    int r = file_make_dirs(path);
    return r < 0 ? err_set(err, r, "cannot make the folder '%s' for compiled rules: %s",
                           path, strerror(-r))
                 : 0;
}

static uint64_t
fnv1a(uint64_t h, const void *p, size_t n)
{
    const uint8_t *bytes = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 0x100000001b3;
    return h;
}

/* Another version of this program may compile otherwise: it is part of the name. */
static int
put_pack_name(struct buf *out, const struct buf *text)
{
    static const uint64_t seeds[] = { 0xcbf29ce484222325, 0x6c62272e07bb0142 };
    buf_puts(out, "/" PACK_PREFIX);
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        uint64_t h = fnv1a(seeds[i], AHR_VERSION, sizeof(AHR_VERSION));
        /* Between releases the compiler changes, too, and its work on the built-in rules.
         */
        h = fnv1a(h, &builtin_pack_size, sizeof(builtin_pack_size));
        buf_printf(out, "%016" PRIx64, fnv1a(h, text->p, text->n));
    }
    buf_puts(out, ".pack");
    return out->failed;
}

static bool
is_filled(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* -- the compiler -- */

static int
find_program(struct buf *ret)
{
    const char *given = getenv("AHR_RULES_PROGRAM");
    if (given && *given)
        return buf_puts(ret, given);
    return program_find("ahr-rules", ret);
}

/* Returns the process, whose output comes from *ret_fd, or -errno. */
static pid_t
start(const char *program, const char *in, const char *out, int *ret_fd)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    char *argv[] = { strdup("ahr-rules"), strdup(in), strdup(out), NULL };
    bool has_all = argv[0] && argv[1] && argv[2];
    posix_spawn_file_actions_t files;
    pid_t pid = -1;
    int e = has_all ? posix_spawn_file_actions_init(&files) : ENOMEM;
    if (!e) {
        e = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                             0);
        for (int fd = STDOUT_FILENO; !e && fd <= STDERR_FILENO; fd++)
            e = posix_spawn_file_actions_adddup2(&files, fds[1], fd);
        if (!e)
            e = posix_spawn(&pid, program, &files, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    for (size_t i = 0; i < 3; i++)
        free(argv[i]);
    close(fds[1]);
    if (e)
        close(fds[0]);
    else
        *ret_fd = fds[0];
    return e ? -e : pid;
}

/* Until the other end is closed: 0, or -ETIMEDOUT. What is past the ceiling is dropped.
 */
static int
hear(int fd, uint64_t deadline_ns, struct buf *said)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        if (now >= deadline_ns)
            return -ETIMEDOUT;
        int n = poll(&pfd, 1, (int)((deadline_ns - now) / 1000000) + 1);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n <= 0)
            continue;
        char bytes[512];
        ssize_t got = file_read(fd, bytes, sizeof(bytes));
        if (got <= 0)
            return (int)got;
        size_t room = SAID_MAX - said->n;
        buf_append(said, bytes, (size_t)got < room ? (size_t)got : room);
    }
}

/* It has closed its output and is about to end: waitpid's status, or -errno. */
static int
reap(pid_t pid, uint64_t deadline_ns)
{
    static const struct timespec moment = { .tv_nsec = 2000000 };
    for (;;) {
        int status;
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return status;
        if (got < 0 && errno != EINTR)
            return -errno;
        if (clock_mono_ns() >= deadline_ns)
            return -ETIMEDOUT;
        nanosleep(&moment, NULL);
    }
}

/* `status`: waitpid's, or -errno. Of what was said the first line counts. */
static int
judge(int status, struct buf *said, const char *in, struct err *err)
{
    const char *text = buf_str(said);
    int len = (int)strcspn(text, "\n");
    if (status == -ECHILD) /* we were started with SIGCHLD ignored: nobody knows */
        status = len ? 1 << 8 : 0;
    if (status == -ETIMEDOUT)
        return err_set(err, -ETIMEDOUT, "cannot compile '%s': not done after %d seconds",
                       in, RUN_MAX_S);
    if (status < 0)
        return err_code(err, status, "cannot compile '%s'", in);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    size_t in_len = strlen(in);
    if (!strncmp(text, in, in_len) && text[in_len] == ':')
        return err_set(err, ERR_USAGE, "%.*s", len, text);
    if (len)
        return err_set(err, -EIO, "cannot compile '%s': %.*s", in, len, text);
    return err_set(err, -EIO, "cannot compile '%s': ahr-rules %s %d", in,
                   WIFSIGNALED(status) ? "was ended by signal" : "has failed with status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int
run_program(const char *in, const char *out, struct err *err)
{
    AUTO(buf) program = { .ceiling = PATH_MAX };
    AUTO(buf) said = { .ceiling = SAID_MAX + 256 };
    uint64_t deadline_ns = clock_mono_ns() + RUN_MAX_S * 1000000000ULL;
    int fd = -1, r = find_program(&program);
    if (r < 0)
        return err_code(err, -ENAMETOOLONG, "cannot compile '%s'", in);
    pid_t pid = start(buf_str(&program), in, out, &fd);
    if (pid < 0) /* no ERR_MISSING: it is not the user's file that is missing */
        return err_set(err, pid, "cannot compile '%s': cannot run '%s': %s", in,
                       buf_str(&program), strerror(-pid));
    r = hear(fd, deadline_ns, &said);
    close(fd);
    if (!r)
        r = reap(pid, deadline_ns);
    if (r < 0 && r != -ECHILD) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return judge(r, &said, in, err);
}

/* -- from text to pack -- */

static int
read_text(const char *path, struct buf *text, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(err, "cannot open '%s'", path);
    if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) /* it is read more than once */
        return err_set(err, -EINVAL, "cannot take rules from '%s': not a file", path);
    buf_clear(text);
    int r = file_slurp(path, text);
    if (r == ERR_LIMIT || (!r && text->n > TEXT_MAX))
        return err_set(err, ERR_LIMIT, "'%s' is larger than 1 MiB", path);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", path);
    if (text->n && memchr(text->p, 0, text->n))
        return err_set(err, ERR_USAGE, "'%s' is no text: there is a NUL byte in it",
                       path);
    return 0;
}

/* Whole, private and on disk before it has its name. */
static int
publish(const char *made, const char *pack)
{
    struct stat st;
    int fd = open(made, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0 || fchmod(fd, 0600) < 0 || fsync(fd) < 0 ? -errno : 0;
    close(fd);
    if (!r && st.st_size == 0)
        r = -ENODATA;
    return !r && rename(made, pack) < 0 ? -errno : r;
}

/* Removes packs, and what is left of attempts, that were made long ago. */
static void
sweep(const char *folder)
{
    DIR *d = opendir(folder);
    time_t now = time(NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (!strncmp(e->d_name, PACK_PREFIX, strlen(PACK_PREFIX)) &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - st.st_mtime > KEEP_S)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

/* Under a name of its own first: others may be at the same work. Returns 1 when the text
 * changed meanwhile: nobody knows then which one was compiled. */
static int
compile(const char *rules_path, const struct buf *text, const char *pack, struct err *err)
{
    AUTO(buf) made = { .ceiling = PATH_MAX };
    AUTO(buf) again = { .ceiling = TEXT_MAX + 65536 };
    buf_printf(&made, "%s.XXXXXX", pack);
    if (made.failed)
        return err_code(err, -ENAMETOOLONG, "cannot write '%s'", pack);
    int fd = mkostemp((char *)made.p, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno, "cannot write compiled rules to '%.*s': %s",
                       (int)file_dir_len(pack), pack, strerror(errno));
    close(fd);
    int r = run_program(rules_path, buf_str(&made), err);
    if (!r)
        r = read_text(rules_path, &again, err);
    if (!r && (again.n != text->n || memcmp(again.p, text->p, text->n) != 0))
        r = 1;
    if (!r) {
        r = publish(buf_str(&made), pack);
        if (r < 0)
            err_set(err, r, "cannot write '%s': %s", pack, strerror(-r));
    }
    if (r)
        unlink(buf_str(&made));
    return r;
}

/* Where the pack of this text lies, or will. */
static int
name_pack(const struct buf *text, struct buf *folder, struct buf *pack, struct err *err)
{
    buf_clear(folder);
    buf_clear(pack);
    if (put_folder(folder, "XDG_CACHE_HOME", ".cache") < 0)
        return err_set(err, -ENOENT, "nowhere to keep compiled rules: HOME is not set");
    buf_puts(pack, buf_str(folder));
    return put_pack_name(pack, text) < 0
               ? err_code(err, -ENAMETOOLONG, "cannot make '%s'", buf_str(folder))
               : 0;
}

int
redact_own_prepare(const char *rules_path, struct buf *ret_pack_path, struct err *err)
{
    AUTO(buf)
    text = { .ceiling = TEXT_MAX + 65536 }; /* file_slurp's last read needs it */
    AUTO(buf) folder = { .ceiling = PATH_MAX };
    AUTO(buf) pack = { .ceiling = PATH_MAX };
    int r = 1;
    for (int i = 0; i < TRIES && r > 0; i++) {
        r = read_text(rules_path, &text, err);
        if (r < 0 || !text.n)
            return r;
        r = name_pack(&text, &folder, &pack, err);
        if (r < 0)
            return r;
        if (is_filled(buf_str(&pack)))
            return buf_append(ret_pack_path, pack.p, pack.n);
        r = make_folder(buf_str(&folder), err);
        if (!r)
            r = compile(rules_path, &text, buf_str(&pack), err);
    }
    if (r)
        return r < 0 ? r
                     : err_set(err, ERR_BUSY, "'%s' changes all the time", rules_path);
    sweep(buf_str(&folder));
    return buf_append(ret_pack_path, pack.p, pack.n);
}

/* -- with the engine -- */

/* False: there are none at the default place. */
static bool
find_default(struct buf *ret)
{
    if (put_folder(ret, "XDG_CONFIG_HOME", ".config") < 0)
        return false;
    buf_puts(ret, "/redact");
    return access(buf_str(ret), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int
redact_own_open(struct redact **ret, const char *rules_path, struct err *err)
{
    AUTO(buf) found = { .ceiling = PATH_MAX };
    AUTO(buf) pack = { .ceiling = PATH_MAX };
    if (!rules_path && !find_default(&found))
        return redact_open(ret, NULL, err);
    if (!rules_path)
        rules_path = buf_str(&found);
    int r = redact_own_prepare(rules_path, &pack, err);
    if (r < 0)
        return r;
    if (!pack.n)
        return redact_open(ret, NULL, err);
    r = redact_open(ret, buf_str(&pack), err);
    if (r != ERR_DAMAGED && r != ERR_MISSING)
        return r;
    /* Damaged, made with other libraries, or just swept by another. */
    unlink(buf_str(&pack));
    buf_clear(&pack);
    r = redact_own_prepare(rules_path, &pack, err);
    return r < 0 ? r : redact_open(ret, buf_str(&pack), err);
}
