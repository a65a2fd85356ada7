/* SPDX-License-Identifier: MIT */
#include "cli/vault_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/unseen.h"

int
cli_vault_keys_check(const struct cli_vault_keys *a, struct err *err)
{
    int count = !!a->passphrase_file + !!a->key_file + !!a->new_key;
    return count > 1 ? err_set(err, ERR_USAGE,
                               "one of --passphrase-file, --key-file and --new-key is "
                               "enough")
                     : 0;
}

/* -- a passphrase -- */

static int
judge(const struct vault_secret *s, int r, const char *where, struct err *err)
{
    if (r == ERR_LIMIT)
        return err_set(err, ERR_USAGE, "a passphrase has at most %d bytes",
                       VAULT_PASSPHRASE_MAX - 1);
    if (r < 0)
        return err_code(err, r, "cannot read a passphrase from %s", where);
    return s->n ? 0 : err_set(err, ERR_USAGE, "the passphrase is empty: there is none");
}

static int
read_file(const char *path, struct vault_secret *ret, struct err *err)
{
    bool is_stdin = !strcmp(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    int r = vault_secret_read_line(ret, fd);
    if (!is_stdin)
        close(fd);
    return judge(ret, r, is_stdin ? "standard input" : path, err);
}

static int
ask(const struct cli_command *self, const char *question, struct vault_secret *ret,
    struct err *err)
{
    struct buf in = { .p = ret->p,
                      .cap = ret->cap,
                      .ceiling = ret->cap }; /* its memory */
    int r = cli_read_unseen(self, question, true, &in);
    ret->n = in.n;
    vault_secret_cut_line(ret);
    return judge(ret, r, "the terminal", err);
}

static int
ask_again(const struct cli_command *self, const struct vault_secret *first,
          struct err *err)
{
    AUTO(vault_secret) second = { 0 };
    int r = vault_secret_init(&second, VAULT_PASSPHRASE_MAX);
    if (r < 0)
        return err_code(err, r, "cannot ask for a passphrase");
    r = ask(self, "the passphrase again", &second, err);
    if (r < 0)
        return r;
    return second.n == first->n && !memcmp(second.p, first->p, first->n)
               ? 0
               : err_set(err, -EINVAL,
                         "the two passphrases are not the same; nothing is encrypted");
}

static int
read_passphrase(const struct cli_command *self, const struct cli_vault_keys *a,
                bool is_new, struct vault_keys *ret, struct err *err)
{
    int r = vault_keys_init(ret);
    if (r < 0)
        return err_code(err, r, "cannot keep a passphrase");
    if (a->passphrase_file)
        return read_file(a->passphrase_file, &ret->secret, err);
    if (!isatty(STDIN_FILENO))
        return err_set(err, ERR_USAGE,
                       "there is no terminal to ask for the passphrase on: say "
                       "--passphrase-file FILE or --key-file FILE");
    r = ask(self, "the passphrase? it is not shown", &ret->secret, err);
    return !r && is_new ? ask_again(self, &ret->secret, err) : r;
}

/* -- either -- */

int
cli_vault_keys(const struct cli_command *self, const struct cli_vault_keys *a,
               bool is_new, struct vault_keys *ret, struct err *err)
{
    const struct rlimit none = { 0, 0 };
    struct vault_keys k = { .kind = VAULT_PASSPHRASE };
    const char *file = a->new_key ? a->new_key : a->key_file;
    (void)setrlimit(RLIMIT_CORE, &none); /* a core file would keep what we wipe */
    if (a->cost >= 0)
        k.cost = (enum vault_cost)a->cost;
    if (file)
        k.kind = VAULT_KEY_FILE;
    int r = a->new_key ? vault_key_make(a->new_key, err) : 0;
    if (!r)
        r = file ? vault_keys_read_file(&k, file, err)
                 : read_passphrase(self, a, is_new, &k, err);
    if (r < 0)
        vault_keys_release(&k);
    else
        *ret = k;
    return r;
}
