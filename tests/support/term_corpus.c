/* SPDX-License-Identifier: MIT */
/*
 * term_corpus.c -- each corpus is a function that writes its next piece, and one line in
 * the table at the end.
 */
#include "support/term_corpus.h"

#include <stdbool.h>
#include <string.h>

#include "support/rng.h"
#include "support/term_corpus_priv.h"

uint32_t
corpus_below(struct corpus_gen *g, size_t n)
{
    return rng_below(&g->seed, (uint32_t)n);
}

unsigned
corpus_between(struct corpus_gen *g, unsigned first, unsigned last)
{
    return first + corpus_below(g, last - first + 1);
}

void
corpus_repeat(struct corpus_gen *g, const char *s, unsigned times)
{
    for (; times; times--)
        buf_puts(g->out, s);
}

static const char *const words[] = {
    "the",   "function", "returns", "a",       "buffer", "when",     "file",   "is",
    "not",   "found",    "in",      "session", "we",     "should",   "check",  "error",
    "block", "header",   "and",     "then",    "write",  "test",     "for",    "case",
    "this",  "because",  "parser",  "accepts", "length", "zero",     "update", "build",
    "of",    "config",   "module",  "import",  "struct", "const",    "static", "int",
    "if",    "while",    "switch",  "default", "break",  "terminal", "cursor", "screen",
    "row",   "column",   "scroll",  "region",  "colour", "record",   "replay", "snapshot",
    "merge", "commit",   "branch",  "index",   "search", "database", "table",  "journal",
};

/* A theme's colours, as syntax highlighters and agents use them. */
static const uint32_t theme[] = {
    0xd77757, 0x999999, 0x888888, 0x61afef, 0xc678dd, 0x98c379, 0xe5c07b, 0xe06c75,
    0x56b6c2, 0xabb2bf, 0x5c6370, 0x225c2b, 0x7a2936, 0x373737, 0xb1b9f9, 0x4eba65,
    0xffc107, 0xff6b80, 0x282c34, 0xd19a66, 0x505050, 0xffffff, 0x2c7a39, 0x3e4451,
};

uint32_t
corpus_theme(struct corpus_gen *g)
{
    return theme[corpus_below(g, sizeof(theme) / sizeof(theme[0]))];
}

const char *
corpus_word(struct corpus_gen *g)
{
    return CORPUS_PICK(g, words);
}

struct corpus_draw
corpus_draw(struct corpus_gen *g)
{
    struct corpus_draw d;
    for (size_t i = 0; i < 6; i++)
        d.w[i] = corpus_word(g);
    for (size_t i = 0; i < 3; i++)
        d.n[i] = corpus_below(g, 1 << 24);
    return d;
}

void
corpus_rgb(struct corpus_gen *g, unsigned which, uint32_t colour)
{
    buf_printf(g->out, "\x1b[%u;2;%u;%u;%um", which, colour >> 16, colour >> 8 & 255,
               colour & 255);
}

void
corpus_sentence(struct corpus_gen *g, unsigned n)
{
    for (; n; n--) {
        buf_puts(g->out, corpus_word(g));
        buf_puts(g->out, corpus_below(g, 12) ? " " : ", ");
    }
}

/* -- a build -- */

static void
warning(struct corpus_gen *g)
{
    struct corpus_draw d = corpus_draw(g);
    unsigned line = d.n[0] % 900;
    buf_printf(g->out,
               "\x1b[1m../src/%s/%s.c:%u:%u:\x1b[0m \x1b[1;35mwarning: \x1b[0munused "
               "variable '\x1b[1m%s_%s\x1b[0m' [\x1b[1;35m-Wunused-variable\x1b[0m]\r\n",
               d.w[0], d.w[1], line, d.n[1] % 60, d.w[2], d.w[3]);
    buf_printf(g->out,
               "%5u |     struct %s *\x1b[1;35m%s_%s\x1b[0m = %s_get(%s, %u);\r\n", line,
               d.w[4], d.w[2], d.w[3], d.w[4], d.w[5], d.n[2] % 4096);
    buf_puts(g->out, "      |                 \x1b[1;35m^~~~~~~~~~\x1b[0m\r\n");
}

static void
build_log(struct corpus_gen *g)
{
    struct corpus_draw d = corpus_draw(g);
    const char *dir = d.w[0], *file = d.w[1];
    unsigned kind = corpus_below(g, 100), n = g->tick % 1800;
    if (kind < 40)
        buf_printf(g->out, "[%u/1800] Compiling C object src/lib%s.a.p/%s_%s.c.o\r\n", n,
                   dir, dir, file);
    else if (kind < 58)
        buf_printf(g->out,
                   "gcc -DHAVE_CONFIG_H -I. -I../include -Wall -Wextra -O2 -g -MT "
                   "%s_%s.o -MD -MP -c -o %s/%s_%s.o %s/%s_%s.c\r\n",
                   dir, file, dir, dir, file, dir, dir, file);
    else if (kind < 68)
        buf_printf(g->out, "  CC      drivers/%s/%s/%s_%u.o\r\n", dir, d.w[2], file,
                   n % 64);
    else if (kind < 73)
        buf_printf(g->out, "[%u/1800] Linking target tests/unit/%s_%s_test\r\n", n, dir,
                   file);
    else if (kind < 88)
        buf_printf(g->out, "%4u/1800 %s:unit / %-8s %-40s OK  %9u.%02us\r\n", n, dir,
                   file, d.w[2], d.n[0] % 9, d.n[1] % 100);
    else if (kind < 96)
        buf_printf(g->out,
                   "ok %u - %s_%s_%s_%s the %s of the %s is %u after %u bytes\r\n", n,
                   dir, file, d.w[2], d.w[3], d.w[4], d.w[5], d.n[0], d.n[1] % 65536);
    else if (kind < 98)
        buf_puts(g->out, "\r\n");
    else
        warning(g);
}

/* -- text -- */

static void
sgr(struct corpus_gen *g)
{
    for (unsigned n = corpus_between(g, 14, 22); n; n--) {
        struct corpus_draw d = corpus_draw(g);
        unsigned kind = corpus_below(g, 6);
        if (kind == 0)
            buf_printf(g->out, "\x1b[1;38;5;%um", d.n[0] % 256);
        else if (kind == 1)
            buf_printf(g->out, "\x1b[4;38;5;%u;48;5;%um", d.n[0] % 256, d.n[1] % 256);
        else if (kind == 2)
            buf_printf(g->out, "\x1b[0;%u;%um", 30 + d.n[0] % 8, 40 + d.n[1] % 8);
        else if (kind == 3)
            buf_printf(g->out, "\x1b[0;3;%um", 90 + d.n[0] % 8);
        else
            corpus_rgb(g, 38, kind == 4 ? corpus_theme(g) : d.n[0]);
        if (kind == 5)
            corpus_rgb(g, 48, corpus_theme(g));
        buf_printf(g->out, "%.5s ", corpus_word(g));
    }
    buf_puts(g->out, "\x1b[0m\r\n");
}

static const char *const phrases[] = {
    "终端模型把字节变成屏幕",
    "每一行都知道最后写入它的字节",
    "如果文件不存在则返回错误",
    "编译器发出了警告，请检查配置",
    "端末エミュレータは、バイト列から",
    "画面とスクロールバックを作ります",
    "터미널은 바이트를 화면으로 바꿉니다",
    "파일을 찾을 수 없습니다",
};

static const char *const symbols[] = {
    "👩‍👩‍👧 👨‍💻", "🏳️‍🌈 🇩🇪 🇯🇵",
    "❤️ ✔️ ⚠️",           "🚀 🎉 😀 👍🏽",
    "e\u0301te\u0301 nai\u0308ve",    "Vie\u0323\u0302t สวัสดี नमस्ते",
};

static void
cjk(struct corpus_gen *g)
{
    for (unsigned n = corpus_between(g, 3, 6); n; n--) {
        unsigned kind = corpus_below(g, 12);
        if (kind < 8)
            buf_puts(g->out, CORPUS_PICK(g, phrases));
        else if (kind < 10)
            buf_printf(g->out, " %s_%u ", corpus_word(g), g->tick % 1000);
        else
            buf_printf(g->out, " %s ", CORPUS_PICK(g, symbols));
        if (kind < 3)
            buf_puts(g->out, "，");
    }
    buf_puts(g->out, "。\r\n");
}

/* -- scrolling -- */

static void
scroll_regions(struct corpus_gen *g)
{
    unsigned top = corpus_between(g, 1, 20),
             bottom = corpus_between(g, top + 2, TERM_CORPUS_ROWS);
    unsigned inside = corpus_between(g, top, bottom);
    buf_printf(g->out, "\x1b[%u;%ur", top, bottom);
    unsigned kind = corpus_below(g, 6);
    if (kind == 0) {
        buf_printf(g->out, "\x1b[%u;1H%s", bottom, corpus_word(g));
        for (unsigned n = corpus_between(g, 4, 40); n; n--)
            buf_puts(g->out, corpus_below(g, 3) ? "\n" : "\r\nx->y");
    } else if (kind == 1) {
        buf_printf(g->out, "\x1b[%u;1H%s", top, corpus_word(g));
        corpus_repeat(g, "\x1bM", corpus_between(g, 4, 40));
    } else if (kind == 2) {
        buf_printf(g->out, "\x1b[%u;1H", inside);
        corpus_repeat(g, "\x1b[L", corpus_between(g, 2, 12));
        buf_puts(g->out, corpus_word(g));
    } else if (kind == 3) {
        buf_printf(g->out, "\x1b[%u;1H\x1b[%uM\x1b[M%s", inside, 2 + g->tick % 4,
                   corpus_word(g));
    } else {
        char c = kind == 4 ? 'S' : 'T';
        buf_printf(g->out, "\x1b[%u%c\x1b[%c\x1b[%u;9H%s", 1 + g->tick % 8, c, c, inside,
                   corpus_word(g));
    }
    if (corpus_below(g, 16) == 0)
        buf_puts(g->out, "\x1b[r\x1b[40;1H\r\n\r\n\r\n");
}

static void
truecolor(struct corpus_gen *g)
{
    /* One line in eight is a gradient: colours that no line had before. */
    bool is_gradient = corpus_below(g, 8) == 0;
    uint32_t colour = corpus_below(g, 1 << 24);
    corpus_repeat(g, "    ", corpus_below(g, 3));
    for (unsigned n = corpus_between(g, 8, 12); n; n--) {
        colour = is_gradient ? (colour + 0x030507) & 0xffffff : corpus_theme(g);
        corpus_rgb(g, 38, colour);
        if (corpus_below(g, 6) == 0)
            corpus_rgb(g, 48, corpus_theme(g));
        buf_puts(g->out, corpus_word(g));
        buf_puts(g->out, corpus_below(g, 3) ? " = " : " ");
        buf_puts(g->out, corpus_below(g, 12) ? "" : "\x1b[49m");
    }
    buf_puts(g->out, "\x1b[0m\r\n");
}

static const struct {
    const char *name;
    void (*piece)(struct corpus_gen *g);
} corpora[TERM_CORPORA] = {
    [TERM_CORPUS_BUILD_LOG] = { "build_log", build_log },
    [TERM_CORPUS_AGENT] = { "agent", corpus_agent },
    [TERM_CORPUS_EDITOR] = { "editor", corpus_editor },
    [TERM_CORPUS_SGR] = { "sgr", sgr },
    [TERM_CORPUS_CJK] = { "cjk", cjk },
    [TERM_CORPUS_SCROLL_REGIONS] = { "scroll_regions", scroll_regions },
    [TERM_CORPUS_TRUECOLOR] = { "truecolor", truecolor },
};

const char *
term_corpus_name(enum term_corpus_kind kind)
{
    return corpora[kind].name;
}

enum term_corpus_kind
term_corpus_find(const char *name)
{
    unsigned i = 0;
    while (i < TERM_CORPORA && strcmp(corpora[i].name, name) != 0)
        i++;
    return (enum term_corpus_kind)i;
}

void
term_corpus(struct buf *out, enum term_corpus_kind kind, size_t n, uint32_t seed)
{
    struct corpus_gen g = { .out = out, .seed = rng_seed(seed) };
    size_t end = out->n + n;
    while (out->n < end && !out->failed) {
        corpora[kind].piece(&g);
        g.tick++;
    }
}
