/* SPDX-License-Identifier: MIT */
/* sockets_test.c -- where a live session's sockets are, and whose folders are trusted. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "session/folder.h"
#include "session/sockets.h"
#include "support/kit.h"

enum { STRANGER = 65534 };

#define ID "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd"
/* Too long for a socket in live/<id>. */
#define HOME                                                         \
    "a-home-that-is-deep/and-deeper-than-most-homes-are-but-not-as/" \
    "deep-as-to-be-in-anybodys-way"
#define LIVE HOME "/live/" ID

/* The folder of a session whose sockets must be outside; $XDG_RUNTIME_DIR and $TMPDIR are
 * `run` and `tmp` of the current folder, at a short path. */
struct place {
    struct session_folder folder;
    char *run, *tmp; /* absolute */
    char *tmpdir;    /* as it was; NULL: not set */
};

static void
place_init(struct place *p)
{
    assert_int_equal(session_folder_make(&p->folder, HOME, ID, NULL, NULL), 0);
    assert_int_equal(mkdir("run", 0700), 0);
    assert_int_equal(mkdir("tmp", 0700), 0);
    p->run = realpath("run", NULL);
    p->tmp = realpath("tmp", NULL);
    p->tmpdir = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("XDG_RUNTIME_DIR", p->run, 1);
    setenv("TMPDIR", p->tmp, 1);
}

static void
place_release(struct place *p)
{
    session_folder_release(&p->folder);
    if (p->tmpdir)
        setenv("TMPDIR", p->tmpdir, 1);
    else
        unsetenv("TMPDIR");
    free(p->tmpdir);
    free(p->run);
    free(p->tmp);
}

static bool
exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void
note(const char *text, size_t n)
{
    assert_int_equal(file_replace(LIVE "/sockets",
                                  (struct view){ (const uint8_t *)text, n }, false, NULL),
                     0);
}

static void
make(struct buf *dir)
{
    struct err err;
    assert_int_equal(session_sockets_make(LIVE, ID, dir, &err), 0);
}

static int
find(void)
{
    AUTO(buf) dir = { 0 };
    struct err err;
    return session_sockets_find(LIVE, &dir, &err);
}

static void
add_sockets(struct buf *dir)
{
    static const char *const names[] = { SESSION_CTL_SOCK, SESSION_IPC_SOCK };
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) path = { 0 };
        buf_printf(&path, "%s/%s", buf_str(dir), names[i]);
        assert_int_equal(mknod(buf_str(&path), S_IFSOCK | 0600, 0), 0);
    }
}

static void
a_short_path_has_its_sockets_itself(void **state)
{
    (void)state;
    struct session_folder f;
    AUTO(buf) dir = { 0 };
    AUTO(buf) found = { 0 };
    assert_int_equal(session_folder_make(&f, "home", ID, NULL, NULL), 0);
    assert_int_equal(session_sockets_make(f.dir, ID, &dir, NULL), 0);
    assert_string_equal(buf_str(&dir), f.dir);
    assert_int_equal(session_sockets_find(f.dir, &found, NULL), 0);
    assert_string_equal(buf_str(&found), f.dir);
    add_sockets(&dir);
    assert_int_equal(session_folder_finish(&f, NULL), 0);
    assert_int_equal(rmdir("home/sessions/" ID), 0); /* nothing is in it */
    session_folder_release(&f);
}

static void
a_long_path_has_them_in_the_runtime_folder(void **state)
{
    (void)state;
    struct place p;
    AUTO(buf) dir = { 0 };
    AUTO(buf) found = { 0 };
    struct stat st;
    place_init(&p);
    mode_t before = umask(0777);
    make(&dir);
    umask(before);
    assert_true(exists("run/ahr-" ID));
    assert_int_equal(stat(buf_str(&dir), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(session_sockets_find(LIVE, &found, NULL), 0);
    assert_string_equal(buf_str(&found), buf_str(&dir));
    add_sockets(&dir);
    assert_int_equal(session_folder_finish(&p.folder, NULL), 0);
    assert_false(exists("run/ahr-" ID));
    assert_int_equal(rmdir(HOME "/sessions/" ID), 0);
    place_release(&p);
}

static void
a_discarded_session_leaves_no_sockets(void **state)
{
    (void)state;
    struct place p;
    AUTO(buf) dir = { 0 };
    place_init(&p);
    make(&dir);
    add_sockets(&dir);
    session_folder_discard(&p.folder);
    assert_int_equal(rmdir("run"), 0);
    assert_int_equal(rmdir(HOME "/live"), 0);
    place_release(&p);
}

/* What is called as ours would be, or where others might put one, is passed over. */
static void
squat(struct place *p, int how)
{
    switch (how) {
    case 0:
        assert_int_equal(mkdir("run/ahr-" ID, 0700), 0);
        break;
    case 1:
        assert_int_equal(symlink(p->tmp, "run/ahr-" ID), 0);
        break;
    case 2:
        unsetenv("XDG_RUNTIME_DIR");
        break;
    case 3:
        setenv("XDG_RUNTIME_DIR", "run", 1); /* relative */
        break;
    case 4:
        assert_int_equal(chmod("run", 0777), 0);
        break;
    default:
        assert_int_equal(chown("run", STRANGER, STRANGER), 0);
        break;
    }
}

static void
a_runtime_folder_that_will_not_do_is_passed_over(void **state)
{
    (void)state;
    for (int how = 0; how < (geteuid() ? 5 : 6); how++) {
        struct place p;
        AUTO(buf) dir = { 0 };
        place_init(&p);
        squat(&p, how);
        make(&dir);
        assert_int_equal(strncmp(buf_str(&dir), p.tmp, strlen(p.tmp)), 0);
        assert_int_equal(find(), 0);
        session_folder_discard(&p.folder);
        assert_int_equal(rmdir("tmp"), 0);
        unlink("run/ahr-" ID);
        rmdir("run/ahr-" ID);
        assert_int_equal(rmdir("run"), 0);
        place_release(&p);
    }
}

static void
a_folder_that_is_not_private_is_refused(void **state)
{
    (void)state;
    struct place p;
    AUTO(buf) dir = { 0 };
    place_init(&p);
    make(&dir);
    assert_int_equal(find(), 0);
    static const mode_t modes[] = { 0755, 0710, 0701, 0777, 01700 };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(buf_str(&dir), modes[i]), 0);
        assert_int_equal(find(), -EPERM);
    }
    assert_int_equal(chmod(buf_str(&dir), 0700), 0);
    assert_int_equal(rename(buf_str(&dir), "elsewhere"), 0);
    assert_int_equal(find(), ERR_MISSING);
    assert_int_equal(symlink("../elsewhere", buf_str(&dir)), 0);
    assert_int_equal(find(), -EPERM);
    assert_int_equal(unlink(buf_str(&dir)), 0);
    assert_int_equal(mknod(buf_str(&dir), S_IFREG | 0700, 0), 0);
    assert_int_equal(find(), -EPERM);
    session_folder_discard(&p.folder);
    assert_true(exists(buf_str(&dir))); /* somebody's */
    place_release(&p);
}

static void
a_folder_of_somebody_else_is_refused(void **state)
{
    (void)state;
    struct place p;
    AUTO(buf) dir = { 0 };
    if (geteuid()) /* only root can make one */
        skip();
    place_init(&p);
    make(&dir);
    add_sockets(&dir);
    assert_int_equal(chown(buf_str(&dir), STRANGER, STRANGER), 0);
    assert_int_equal(find(), -EPERM);
    session_sockets_remove(LIVE);
    assert_false(exists(LIVE "/sockets"));
    assert_true(exists("run/ahr-" ID "/" SESSION_CTL_SOCK));
    assert_int_equal(chown(LIVE, STRANGER, STRANGER), 0);
    assert_int_equal(find(), -EPERM);
    place_release(&p);
}

static void
what_the_note_says_is_not_believed(void **state)
{
    (void)state;
    struct place p;
    AUTO(buf) huge = { 0 };
    place_init(&p);
    static const struct view texts[] = {
        { (const uint8_t *)"", 0 },
        { (const uint8_t *)"\n", 1 },
        { (const uint8_t *)"run/ahr-x\n", 10 },
        { (const uint8_t *)"/ahr-\0x\n", 8 },
        { (const uint8_t *)"/tmp/somebodys\n", 15 },
        { (const uint8_t *)"/ahr-x/..\n", 10 },
        { (const uint8_t *)"/ahr-x/\n", 8 },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        note((const char *)texts[i].p, texts[i].n);
        assert_int_equal(find(), ERR_DAMAGED);
    }
    memset(buf_grow(&huge, 1 << 20), 'x', 1 << 20);
    memcpy(huge.p, "/ahr-", 5);
    static const size_t sizes[] = { 99, 4096, 1 << 20 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        note((const char *)huge.p, sizes[i]);
        assert_int_equal(find(), ERR_DAMAGED);
    }
    session_folder_discard(&p.folder);
    place_release(&p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(a_short_path_has_its_sockets_itself),
        KIT_IN_DIR(a_long_path_has_them_in_the_runtime_folder),
        KIT_IN_DIR(a_discarded_session_leaves_no_sockets),
        KIT_IN_DIR(a_runtime_folder_that_will_not_do_is_passed_over),
        KIT_IN_DIR(a_folder_that_is_not_private_is_refused),
        KIT_IN_DIR(a_folder_of_somebody_else_is_refused),
        KIT_IN_DIR(what_the_note_says_is_not_believed),
    };
    return cmocka_run_group_tests_name("sockets", tests, NULL, NULL);
}
