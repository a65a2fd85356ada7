#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py -- holds the includes of the sources to src/LAYERS.

usage: layers.py [SOURCE_DIR]

LAYERS has lines of two kinds:

    module : modules that it may use, all of them listed above
    <header.h> or <folder/> : the only files (or folders/) that may include it
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


class Layers:
    def __init__(self, src):
        self.src = src
        self.uses = {}  # module -> modules
        self.foreign = {}  # header or folder/ -> places
        self.problems = []
        self.read(src / "LAYERS")

    def complain(self, path, line, text):
        self.problems.append(f"{path}:{line}: {text}")

    def read(self, path):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            name, colon, rest = line.partition("#")[0].partition(":")
            name = name.strip()
            if not name:
                continue
            if not colon:
                self.complain(path, number, "not of the form 'module : modules'")
            elif name.startswith("<"):
                self.foreign[name.strip("<>")] = rest.split()
            else:
                self.add_module(path, number, name, rest.split())

    def add_module(self, path, number, name, uses):
        if name in self.uses:
            self.complain(path, number, f"'{name}' is listed twice")
        for used in uses:
            if used not in self.uses:
                self.complain(path, number, f"'{name}' uses '{used}', which is not above it")
        self.uses[name] = uses

    def check_own(self, here, header):
        """What is wrong with an #include "header" in a file of module `here`, or None."""
        module, slash, _ = header.rpartition("/")
        if not slash:
            return f'"{header}" is not written from the source folder'
        if module not in self.uses:
            return f'"{header}" is of no module in LAYERS'
        if module == here:
            return None
        if header.endswith("_priv.h"):
            return f'"{header}" is private to {module}/'
        if module not in self.uses.get(here, []):
            return f"'{here}' may not use '{module}'"
        return None

    def check_foreign(self, file, header):
        for known, places in self.foreign.items():
            matches = header.startswith(known) if known.endswith("/") else header == known
            is_here = any(
                file.startswith(p) if p.endswith("/") else file == p for p in places
            )
            if matches and not is_here:
                return f"<{header}> belongs to {' '.join(places)}"
        return None

    def check_file(self, path):
        file = path.relative_to(self.src).as_posix()
        # A file that lies in no folder is a module by itself: main.c is `main`.
        here = file.rpartition("/")[0] or path.stem
        if here not in self.uses:
            self.complain(path, 1, f"'{here}' is no module in LAYERS")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not (include := INCLUDE.match(line)):
                continue
            own, foreign = include.groups()
            text = self.check_own(here, own) if own else self.check_foreign(file, foreign)
            if text:
                self.complain(path, number, text)

    def check(self):
        for path in sorted(self.src.rglob("*.[ch]")):
            self.check_file(path)
        return self.problems


def main(args):
    src = Path(args[0]) if args else Path(__file__).resolve().parent.parent / "src"
    problems = Layers(src).check()
    for text in problems:
        print(text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
