/* SPDX-License-Identifier: MIT */
/*
 * ahr-rules IN OUT -- compiles a file of redaction rules.
 *
 * The build runs it for the rules that are built in; ahr runs it for the user's own. It
 * is a program of its own so that the pattern compiler, which is large and takes its
 * time, is in no process that holds an agent's terminal. OUT ending in .c: as C source.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "redact/compile_priv.h"

/* As a string: compilers read it many times faster than a list of numbers. */
static void
put_source(struct buf *out, const struct buf *pack)
{
    buf_printf(out,
               "/* Made by ahr-rules. */\n"
               "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include "
               "\"redact/builtin_priv.h\"\n\n"
               "const size_t builtin_pack_size = %zu;\n"
               "const char builtin_pack[] =\n",
               pack->n);
    for (size_t i = 0; i < pack->n; i++)
        buf_printf(out, "%s\\%03o%s", i % 24 ? "" : "    \"", pack->p[i],
                   i % 24 == 23 || i + 1 == pack->n ? "\"\n" : "");
    buf_puts(out, "    ;\n");
}

static int
write_file(const char *path, const struct buf *b, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, "cannot write '%s'", path);
    int e = file_write_all(fd, b->p, b->n);
    if (e >= 0 && fsync(fd) < 0)
        e = -errno;
    if (close(fd) < 0 && e >= 0)
        e = -errno;
    return e < 0 ? err_code(err, e, "cannot write '%s'", path) : 0;
}

static int
convert(const char *in, const char *out, struct err *err)
{
    AUTO(buf) text = { .ceiling = 4 << 20 };
    AUTO(buf) pack = { 0 };
    AUTO(buf) source = { 0 };
    struct rules rules;
    int e = file_slurp(in, &text);
    if (e < 0)
        return err_code(err, e, "cannot read '%s'", in);
    e = buf_append(&text, "", 1);
    if (!e)
        e = rules_parse(&rules, (char *)text.p, in, err);
    if (e)
        return e;
    e = compile_rules(&rules, in, &pack, err);
    rules_release(&rules);
    if (e)
        return e;
    size_t len = strlen(out);
    if (len < 2 || strcmp(out + len - 2, ".c") != 0)
        return write_file(out, &pack, err);
    put_source(&source, &pack);
    return source.failed ? err_code(err, source.failed, "cannot write '%s'", out)
                         : write_file(out, &source, err);
}

int
main(int argc, char **argv)
{
    struct err err = { 0 };
    if (argc != 3) {
        fputs("usage: ahr-rules IN OUT\n", stderr);
        return 2;
    }
    if (convert(argv[1], argv[2], &err) < 0) {
        fprintf(stderr, "%s\n", err.text[0] ? err.text : "out of memory");
        return 1;
    }
    return 0;
}
