/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/option.h"

enum cli_status
cli_exit_status(int code)
{
    switch (code) {
    case ERR_USAGE:
        return CLI_USAGE;
    case ERR_MISSING:
        return CLI_MISSING;
    case ERR_DAMAGED:
        return CLI_DAMAGED;
    case ERR_BUSY:
        return CLI_BUSY;
    default:
        return code < 0 ? CLI_FAILED : (enum cli_status)code;
    }
}

void
cli_say(const struct cli_command *c, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    cli_clean(text);
    fprintf(stderr, "ahr %s: %s\n", c->name, text);
}

char *
cli_clean(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return text;
}

void
cli_print_help(const struct cli_command *c)
{
    printf("usage: ahr %s %s\n\n%s\n\n", c->name, c->synopsis,
           c->summary ? c->summary : "for ahr itself");
    for (const struct cli_option *o = c->options; o && o->name; o++) {
        char left[64], letter[8] = "";
        if (o->letter)
            snprintf(letter, sizeof(letter), "-%c, ", o->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->arg ? " " : "",
                 o->arg ? o->arg : "");
        const char *gap = strlen(left) > 22 ? "\n                         " : " ";
        printf("  %-22s%s%s\n", left, gap, o->help);
    }
    printf("  %-22s %s\n", "-h, --help", "show this");
}
