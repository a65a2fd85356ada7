# SPDX-License-Identifier: MIT
"""html_style.py -- a style sheet as C, with the hash by which a page's policy knows it.

usage: html_style.py SHEET.css NAME OUT.c: play_NAME_style and play_NAME_style_hash
"""

import base64
import hashlib
import re
import sys


def main(sheet, name, out):
    with open(sheet, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?([{};]) ?", r"\1", text).strip()
    if "</" in text:
        sys.exit(f"html_style.py: {sheet} would end its element")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    codes = ", ".join(map(str, text.encode()))  # a string so long is not portable C
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "play/html_priv.h"\n\n'
                   f"const char play_{name}_style[] = {{ {codes}, 0 }};\n"
                   f'const char play_{name}_style_hash[] = "sha256-{digest}";\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
