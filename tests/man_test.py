#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man_test.py -- each command's -h and its man page say the same.

usage: man_test.py AHR_BINARY DOC_DIR; prints TAP.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def run(*args):
    """What the program prints, whatever this machine's configuration says."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("AHR_")}
    with tempfile.TemporaryDirectory() as home:
        env.update(HOME=home, XDG_CONFIG_HOME=home)
        done = subprocess.run(args, capture_output=True, encoding="utf-8", env=env, check=True)
    return done.stdout


def plain(scd):
    """scdoc's text without its marks; an underscore inside a word is none."""
    scd = re.sub(r"(?<![A-Za-z0-9\\])_|(?<!\\)_(?![A-Za-z0-9])|(?<!\\)\*", "", scd)
    return re.sub(r"\\(.)", r"\1", scd)


def section(page, title):
    """The lines of one section of a page, without marks."""
    found = re.search(rf"^# {title}\n(.*?)(?=^# |\Z)", page, re.M | re.S)
    return plain(found[1]).strip() if found else ""


def usage(help_text):
    return re.match(r"usage: (.*)", help_text)[1]


def options_of_help(help_text):
    """The options of the list; each line is `  -o, --output ARG  what it is for`."""
    lines = re.findall(r"^  ((?:-\w, )?--[\w-]+)", help_text, re.M)
    return set(OPTION.findall(" ".join(lines)))


def options_of_page(page):
    """The options that have an entry: lines without indentation that begin with one."""
    lines = re.findall(r"^-.*$", section(page, "OPTIONS"), re.M)
    return set(OPTION.findall(" ".join(lines)))


def compare(what, ours, theirs):
    """A test result: name, whether both are equal, and how they differ."""
    return what, ours == theirs, f"-h: {ours}\nman: {theirs}"


def commands_of(overview):
    return re.findall(r"^  (\w[\w-]*) ", overview, re.M)


def list_test(name, overview, page):
    """The page of a program or command that has others below it names them all."""
    listed = re.findall(rf"^{name}-([\w-]+)\(1\)$", section(page, "COMMANDS"), re.M)
    return compare(
        f"{name}: the page lists every command", sorted(commands_of(overview)), sorted(listed)
    )


def command_tests(ahr, doc, *words):
    command = " ".join(words)
    path = doc / f"ahr-{'-'.join(words)}.1.scd"
    if not path.exists():
        return [(f"{command}: there is a man page", False, f"no {path}")]
    text, page = run(ahr, *words, "-h"), path.read_text(encoding="utf-8")
    below = commands_of(text) if usage(text).endswith(" COMMAND …") else []
    results = [list_test(f"ahr-{command}", text, page)] if below else []
    for word in below:
        results += command_tests(ahr, doc, *words, word)
    return results + [
        compare(f"{command}: -h and the synopsis agree", usage(text), section(page, "SYNOPSIS")),
        compare(
            f"{command}: -h and the page have the same options",
            sorted(options_of_help(text)),
            sorted(options_of_page(page)),
        ),
    ]


def main(ahr, doc):
    overview = run(ahr, "help")
    page = (doc / "ahr.1.scd").read_text(encoding="utf-8")
    results = [
        compare("ahr: the synopsis agrees", usage(overview), section(page, "SYNOPSIS")),
        list_test("ahr", overview, page),
    ]
    for command in commands_of(overview):
        results += command_tests(ahr, doc, command)
    print(f"1..{len(results)}")
    for number, (name, is_ok, why) in enumerate(results, 1):
        print(f"{'ok' if is_ok else 'not ok'} {number} - {name}")
        if not is_ok:
            print("".join(f"# {line}\n" for line in why.splitlines()), end="")
    return 0 if all(is_ok for _, is_ok, _ in results) else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
