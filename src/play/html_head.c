/* SPDX-License-Identifier: MIT */
/* html_head.c -- how a page of ours begins: its policy, its style sheet, its title. */
#include <string.h>

#include "play/html_priv.h"

void
play_html_head(struct buf *out, const char *title, const char *style, const char *hash)
{
    if (!title || !*title)
        title = "Recorded session";
    const struct view text = { (const uint8_t *)title, strlen(title) };
    buf_puts(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
                  "<meta http-equiv=Content-Security-Policy content=\"default-src "
                  "'none'; style-src '");
    buf_puts(out, hash);
    buf_puts(out, "'; style-src-attr 'unsafe-inline'; base-uri 'none'; form-action "
                  "'none'\">\n"
                  "<meta name=viewport content=\"width=device-width, "
                  "initial-scale=1\">\n"
                  "<meta name=referrer content=no-referrer>\n<title>");
    play_html_text(out, text);
    buf_puts(out, "</title>\n<style>");
    buf_puts(out, style);
    buf_puts(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
    play_html_text(out, text);
    buf_puts(out, "</h1>\n");
}
