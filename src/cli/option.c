/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <strings.h>

#include "base/num.h"
#include "cli/config.h"
#include "cli/nearest.h"
#include "cli/when.h"

enum { NAMES_MAX = 64 }; /* of a command's options */

/* Where a value came from. */
struct origin {
    char text[PATH_MAX + 64]; /* for messages */
    bool is_typed;            /* the command line */
};

static int
set_flag(const struct cli_option *o, void *at, const char *value,
         const struct origin *from, struct err *err)
{
    static const char *const yes[] = { "1", "true", "yes", "on" };
    static const char *const no[] = { "0", "false", "no", "off", "" };
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        if (!strcasecmp(value, yes[i]))
            return *(bool *)at = true, 0;
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        if (!strcasecmp(value, no[i]))
            return *(bool *)at = false, 0;
    (void)o;
    return err_set(err, ERR_USAGE, "%s must be yes or no, not '%s'", from->text, value);
}

static int
set_number(const struct cli_option *o, void *at, const char *value,
           const struct origin *from, struct err *err)
{
    uint64_t v;
    struct view text = { (const uint8_t *)value, strlen(value) };
    if (num_parse(text, o->max, &v) == 0 && v >= o->min)
        return memcpy(at, &v, sizeof(v)), 0;
    if (o->max == UINT64_MAX && o->min)
        return err_set(err, ERR_USAGE,
                       "%s must be a number, at least %" PRIu64 ", not '%s'", from->text,
                       o->min, value);
    if (o->max == UINT64_MAX)
        return err_set(err, ERR_USAGE, "%s must be a number, not '%s'", from->text,
                       value);
    return err_set(err, ERR_USAGE,
                   "%s must be a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                   from->text, o->min, o->max, value);
}

static int
set_size(const struct cli_option *o, void *at, const char *value,
         const struct origin *from, struct err *err)
{
    uint64_t v;
    struct view text = { (const uint8_t *)value, strlen(value) };
    int r = num_parse_size(text, o->max ? o->max : UINT64_MAX, &v);
    if (!r && v >= o->min)
        return memcpy(at, &v, sizeof(v)), 0;
    if (r == -EINVAL)
        return err_set(err, ERR_USAGE,
                       "%s must be a number of bytes such as 512K, 100M or 2G, not '%s'",
                       from->text, value);
    return err_set(err, ERR_USAGE, "%s cannot be as %s as '%s'", from->text,
                   r ? "large" : "small", value);
}

/* Which of the words in small letters that is; -1: none. */
static int
maybe_word(const struct cli_option *o, const char *value)
{
    int n = 0;
    for (const char *word = o->arg; *word;) {
        word += strspn(word, "[|]");
        size_t len = strcspn(word, "[|]");
        bool is_small = *word >= 'a' && *word <= 'z';
        if (is_small && strlen(value) == len && !strncmp(word, value, len))
            return n;
        n += is_small;
        word += len;
    }
    return -1;
}

/* Is the next word the option's value, or an operand? */
static bool
is_maybe(const struct cli_option *o, const char *value)
{
    uint64_t v;
    struct view text = { (const uint8_t *)value, strlen(value) };
    return maybe_word(o, value) >= 0 ||
           (o->max && num_parse(text, UINT64_MAX, &v) != -EINVAL);
}

static int
set_maybe(const struct cli_option *o, void *at, const char *value,
          const struct origin *from, struct err *err)
{
    uint64_t v;
    struct view text = { (const uint8_t *)value, strlen(value) };
    int word = maybe_word(o, value);
    if (word >= 0)
        v = CLI_WORD((unsigned)word);
    else if (!o->max)
        return err_set(err, ERR_USAGE, "%s must be one of %s, not '%s'", from->text,
                       o->arg, value);
    else if (num_parse(text, o->max, &v) < 0 || v < o->min)
        return err_set(err, ERR_USAGE,
                       "%s must be one of %s, where a number is from %" PRIu64
                       " to %" PRIu64 ", not '%s'",
                       from->text, o->arg, o->min, o->max, value);
    return memcpy(at, &v, sizeof(v)), 0;
}

static int
set_choice(const struct cli_option *o, void *at, const char *value,
           const struct origin *from, struct err *err)
{
    size_t len = strlen(value);
    int n = 0;
    for (const char *word = o->arg; word; n++) {
        size_t word_len = strcspn(word, "|");
        if (len && len == word_len && !strncmp(word, value, len))
            return memcpy(at, &n, sizeof(n)), 0;
        word = word[word_len] ? word + word_len + 1 : NULL;
    }
    return err_set(err, ERR_USAGE, "%s must be one of %s, not '%s'", from->text, o->arg,
                   value);
}

static int
set_time(void *at, const char *value, const struct origin *from, struct err *err)
{
    struct err why = { 0 };
    uint64_t v = 0;
    int r = strcmp(value, "never") != 0
                ? cli_when_parse(value, cli_when_now_ns(), &v, &why)
                : 0;
    if (r < 0)
        return err_set(err, ERR_USAGE, "%.200s: %s, or never", from->text, why.text);
    return memcpy(at, &v, sizeof(v)), 0;
}

/* What is typed takes the place of what a variable or the config file says. */
static int
add_to_list(struct cli_list *list, const char *value, const struct origin *from,
            struct err *err)
{
    if (!list->is_typed)
        list->n = 0;
    if (list->n == CLI_LIST_MAX)
        return err_set(err, ERR_USAGE, "%s is given more than %d times", from->text,
                       CLI_LIST_MAX);
    list->item[list->n++] = value;
    list->is_typed = from->is_typed;
    return 0;
}

static int
set(const struct cli_option *o, void *values, const char *value,
    const struct origin *from, struct err *err)
{
    void *at = (char *)values + o->offset;
    switch (o->kind) {
    case CLI_FLAG:
        return set_flag(o, at, value, from, err);
    case CLI_NUMBER:
        return set_number(o, at, value, from, err);
    case CLI_SIZE:
        return set_size(o, at, value, from, err);
    case CLI_MAYBE:
        return set_maybe(o, at, value, from, err);
    case CLI_CHOICE:
        return set_choice(o, at, value, from, err);
    case CLI_TEXT:
        memcpy(at, &value, sizeof(value));
        return 0;
    case CLI_TIME:
        return set_time(at, value, from, err);
    case CLI_LIST:
        return add_to_list(at, value, from, err);
    }
    return 0;
}

static const struct cli_option *
find(const struct cli_command *c, const char *name, size_t len)
{
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    return NULL;
}

/* -- the config file -- */

static int
config_line(const struct cli_command *c, char *line, unsigned number, const char *path,
            void *values, struct err *err)
{
    char *key, *value;
    int r = cli_config_split(line, &key, &value);
    if (r < 0)
        return err_set(err, ERR_USAGE, "%s:%u: not of the form 'name = value'", path,
                       number);
    if (!r)
        return 0;
    char *dot = find(c, key, strlen(key)) ? NULL : strchr(key, '.');
    if (dot) {
        *dot = 0;
        if (strcmp(key, c->name) != 0)
            return 0;
        key = dot + 1;
    }
    const struct cli_option *o = find(c, key, strlen(key));
    if (!o && dot)
        return err_set(err, ERR_USAGE, "%s:%u: '%s' has no option '%s'", path, number,
                       c->name, key);
    if (!o)
        return 0; /* another command's */
    struct origin from = { .is_typed = false };
    snprintf(from.text, sizeof(from.text), "%s:%u: '%s'", path, number, key);
    return set(o, values, value, &from, err);
}

static int
read_config(const struct cli_command *c, void *values, struct err *err)
{
    char path[PATH_MAX];
    /* Text values point into it: it stays until the end of the program. */
    static struct buf text;
    text = (struct buf){ 0 };
    int r = cli_config_read(path, &text, err);
    char *save, *at = r > 0 ? (char *)text.p : NULL;
    if (r <= 0)
        buf_release(&text);
    r = r > 0 ? 0 : r;
    for (unsigned number = 1; at && !r; number++) {
        save = strchr(at, '\n');
        if (save)
            *save++ = 0;
        r = config_line(c, at, number, path, values, err);
        at = save;
    }
    return r;
}

static char
variable_letter(char c)
{
    if (c == '-' || c == '.')
        return '_';
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void
cli_option_variable(const struct cli_option *o, char ret[CLI_VARIABLE_SIZE])
{
    snprintf(ret, CLI_VARIABLE_SIZE, "AHR_%s", o->name);
    for (char *p = ret; *p; p++)
        *p = variable_letter(*p);
}

static int
read_environment(const struct cli_command *c, void *values, struct err *err)
{
    int r = 0;
    for (const struct cli_option *o = c->options; !r && o && o->name; o++) {
        char name[CLI_VARIABLE_SIZE];
        cli_option_variable(o, name);
        const char *value = getenv(name);
        struct origin from = { .is_typed = false };
        snprintf(from.text, sizeof(from.text), "$%s", name);
        if (value)
            r = set(o, values, value, &from, err);
    }
    return r;
}

const struct cli_option *
cli_option_find(const struct cli_command *c, const char *name)
{
    return find(c, name, strlen(name));
}

int
cli_option_check(const struct cli_option *o, const char *value, const char *called,
                 struct err *err)
{
    union {
        bool flag;
        int choice;
        const char *text;
        uint64_t number;
        struct cli_list list;
    } scratch = { 0 };
    struct cli_option at_start = *o;
    struct origin from = { .is_typed = false };
    at_start.offset = 0;
    snprintf(from.text, sizeof(from.text), "%s", called);
    return set(&at_start, &scratch, value, &from, err);
}

/* -- the command line -- */

struct cursor {
    int argc, next;
    char **argv;
};

static int
take(const struct cli_option *o, const char *inline_value, struct cursor *at,
     void *values, struct err *err)
{
    struct origin from = { .is_typed = true };
    snprintf(from.text, sizeof(from.text), "--%s", o->name);
    if (o->kind == CLI_FLAG)
        return set(o, values, inline_value ? inline_value : "1", &from, err);
    bool has_next = at->next < at->argc;
    if (o->kind == CLI_MAYBE && !inline_value &&
        (!has_next || !is_maybe(o, at->argv[at->next])))
        return memcpy((char *)values + o->offset, &(uint64_t){ CLI_WORD(0) },
                      sizeof(uint64_t)),
               0;
    if (!inline_value && !has_next)
        return err_set(err, ERR_USAGE, "%s needs a value: %s", from.text, o->arg);
    return set(o, values, inline_value ? inline_value : at->argv[at->next++], &from, err);
}

static int
complain_unknown(const struct cli_command *c, const char *word, size_t len,
                 struct err *err)
{
    const char *names[NAMES_MAX] = { "help" };
    char name[NAMES_MAX] = "";
    size_t n = 1;
    for (const struct cli_option *o = c->options; o && o->name && n < NAMES_MAX; o++)
        names[n++] = o->name;
    if (len < sizeof(name))
        memcpy(name, word, len);
    const char *near = cli_nearest(name, names, n);
    if (near)
        return err_set(err, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'?",
                       name, near);
    return err_set(err, ERR_USAGE, "unknown option '--%.*s'; see 'ahr %s -h'", (int)len,
                   word, c->name);
}

static int
take_long(const struct cli_command *c, const char *word, struct cursor *at, void *values,
          struct err *err)
{
    size_t len = strcspn(word, "=");
    const struct cli_option *o = find(c, word, len);
    if (!o)
        return complain_unknown(c, word, len, err);
    return take(o, word[len] ? word + len + 1 : NULL, at, values, err);
}

static int
take_short(const struct cli_command *c, const char *word, struct cursor *at, void *values,
           struct err *err)
{
    for (const struct cli_option *o = c->options; o && o->name; o++) {
        if (o->letter != word[0])
            continue;
        const char *rest = word[1] ? word + 1 : NULL;
        if (o->kind != CLI_FLAG)
            return take(o, rest, at, values, err);
        int r = take(o, NULL, at, values, err);
        return r < 0 || !rest ? r : take_short(c, rest, at, values, err);
    }
    return err_set(err, ERR_USAGE, "unknown option '-%c'; see 'ahr %s -h'", word[0],
                   c->name);
}

static bool
is_help(const char *word)
{
    return !strcmp(word, "-h") || !strcmp(word, "--help");
}

static int
parse(const struct cli_command *c, int argc, char **argv, bool is_plain, void *values,
      int *ret_count, struct err *err)
{
    for (int i = 0; i < argc && !c->takes_command && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i])) {
            cli_print_help(c); /* whatever is wrong elsewhere */
            return CLI_HELP_SHOWN;
        }
    struct cursor at = { .argc = argc, .argv = argv };
    int count = 0, r = is_plain ? 0 : read_config(c, values, err);
    if (!r && !is_plain)
        r = read_environment(c, values, err);
    bool is_open = true;
    while (!r && at.next < argc) {
        char *word = argv[at.next++];
        if (!is_open || word[0] != '-' || !word[1]) {
            argv[count++] = word;
            is_open = is_open && !c->takes_command;
        } else if (!strcmp(word, "--")) {
            is_open = false;
        } else if (is_help(word)) {
            cli_print_help(c);
            r = CLI_HELP_SHOWN;
        } else if (word[1] == '-') {
            r = take_long(c, word + 2, &at, values, err);
        } else {
            r = take_short(c, word + 1, &at, values, err);
        }
    }
    *ret_count = count;
    return r;
}

int
cli_parse(const struct cli_command *c, int argc, char **argv, void *values,
          int *ret_count, struct err *err)
{
    return parse(c, argc, argv, false, values, ret_count, err);
}

int
cli_parse_plain(const struct cli_command *c, int argc, char **argv, void *values,
                int *ret_count, struct err *err)
{
    return parse(c, argc, argv, true, values, ret_count, err);
}
