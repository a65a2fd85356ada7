#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers_test.py -- the tree keeps to its layers, and the checker finds those that do not.

usage: layers_test.py [SOURCE_DIR]; prints TAP.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SRC = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "src"

# What is planted (file, line) and what must be said about it.
PLANTS = {
    "an include of a module above is found": (
        "base/planted.c", '#include "cli/option.h"', "'base' may not use 'cli'"),
    "an include past a module's arrows is found": (
        "main.c", '#include "tape/reader.h"', "'main' may not use 'tape'"),
    "a private header of another folder is found": (
        "cli/planted.c", '#include "tape/reader_priv.h"', "is private to tape/"),
    "a foreign header in another file is found": (
        "tape/planted.c", "#include <brotli/encode.h>", "belongs to tape/brotli.c"),
    "a foreign header in another header is found": (
        "base/planted.h", "#  include <brotli/types.h>", "belongs to tape/brotli.c"),
    "an include that is not written from src is found": (
        "tape/planted.c", '#include "reader.h"', "not written from the source folder"),
    "a folder that is in no layer is found": (
        "nowhere/planted.c", "", "'nowhere' is no module"),
    "an arrow upwards is found": (
        "LAYERS", "low : high\nhigh : base", "'low' uses 'high', which is not above it"),
}


def check(src):
    """The checker's exit status and what it said."""
    done = subprocess.run(
        [sys.executable, HERE / "layers.py", src], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def plant(src, file, text):
    """Adds text behind the file's last line; returns the line where it stands."""
    path = src / file
    path.parent.mkdir(exist_ok=True)
    old = path.read_text() if path.exists() else ""
    path.write_text(f"{old}{text}\n")
    return old.count("\n") + 1


def finds(file, text, message):
    with tempfile.TemporaryDirectory() as scratch:
        src = Path(scratch) / "src"
        shutil.copytree(SRC, src)
        line = plant(src, file, text)
        status, said = check(src)
    wanted = f"{src / file}:{line}: "
    is_found = any(s.startswith(wanted) and message in s for s in said.splitlines())
    return status == 1 and is_found, said


def main():
    status, said = check(SRC)
    results = [("the tree keeps to its layers", status == 0, said)]
    results += [(name, *finds(*what)) for name, what in PLANTS.items()]
    print(f"1..{len(results)}")
    for number, (name, is_ok, said) in enumerate(results, 1):
        print(f"{'ok' if is_ok else 'not ok'} {number} - {name}")
        if not is_ok:
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")
    return 0 if all(is_ok for _, is_ok, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
