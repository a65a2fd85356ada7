#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_import.py -- what the import of agents' histories costs; prints `name value unit` lines.

usage: bench_import.py BUILD [--quick] [PART ...]; parts: large, short, sides, many.

The large one is a transcript of many turns, imported, imported again unchanged, and once more when it has grown
by a hundredth. The peers are `cat`, and `jq -c .` where it is there, which reads and writes the same lines. The
short one has as many lines as are known again, with little in them; that with sides has the files of many
sub-agents, whose lines lie in each other's time. The many are small ones of several agents in one go.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench_record import line, main, missing
from bench_run import peak_mib

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support.histories import claude, codex, gemini, short_lines

FULL = {"large_bytes": 200_000_000, "short": 500_000, "sides": 300, "many": 1000, "rounds": 3}
QUICK = {"large_bytes": 20_000_000, "short": 50_000, "sides": 60, "many": 100, "rounds": 1}
BLOCK_TURNS = 60


def write_large(folder, size):
    """A transcript of that size, block after block, each with ids of its own; and the next block."""
    h = claude(folder, seed=1, turns=BLOCK_TURNS)
    block = b"".join(step for _, step in h.steps[1:])
    def numbered(number):
        text = block
        for key in (b'uuid":"', b'Uuid":"', b'"toolu_', b'"msg_'):
            text = text.replace(key, key + b"%d-" % number)
        # The first line of a block goes on behind the last one of the block before.
        return text.replace(b'"parentUuid":null', b'"parentUuid":"%d-%s"' % (number - 1, h.leaf.encode())) \
            if number else text
    h.path.parent.mkdir(parents=True, exist_ok=True)
    number = written = 0
    with open(h.path, "wb") as file:
        while written < size:
            written += file.write(numbered(number))
            number += 1
    more = b""
    while len(more) < size // 100:
        more += numbered(number)
        number += 1
    return h.path, written, more


def import_it(b, path):
    return [b.ahr, "import", "--json", str(path)]


def large(b):
    path, size, more = write_large(b.dir / "large", b.size["large_bytes"])
    took = {"import": [], "unchanged": [], "grown": [], "cat": [], "jq": []}
    for _ in range(b.size["rounds"]):
        b.forget()
        took["cat"].append(b.seconds(["cat", str(path)]))
        if shutil.which("jq"):
            took["jq"].append(b.seconds(["jq", "-c", ".", str(path)]))
        took["import"].append(b.seconds(import_it(b, path)))
        took["unchanged"].append(b.seconds(import_it(b, path)))
        with open(path, "ab") as file:
            file.write(more)
        took["grown"].append(b.seconds(import_it(b, path)))
        os.truncate(path, size)
    best = {name: min(times) for name, times in took.items() if times}
    line("import large history", size / best["import"] / 1e6, "MB/s")
    line("import large history, cat", size / best["cat"] / 1e6, "MB/s")
    if "jq" in best:
        line("import large history, jq -c", size / best["jq"] / 1e6, "MB/s")
    else:
        missing("jq")
    line("import unchanged history", best["unchanged"] * 1000, "ms")
    line("import history grown by 1 %", best["grown"] * 1000, "ms")
    line("import history grown by 1 %, of the first", best["grown"] / best["import"] * 100, "%")
    b.forget()
    line("import large history, memory", peak_mib(b, import_it(b, path)), "MiB")
    line("import unchanged history, memory", peak_mib(b, import_it(b, path)), "MiB")
    shutil.rmtree(path.parent)


def short(b):
    path, more = short_lines(b.dir / "short", b.size["short"])
    b.forget()
    size, took = path.stat().st_size, b.seconds(import_it(b, path))
    line("import short lines", size / took / 1e6, "MB/s")
    with open(path, "ab") as file:
        file.write(more)
    line("import short lines, one more", b.seconds(import_it(b, path)) * 1000, "ms")
    b.forget()
    line("import short lines, memory", peak_mib(b, import_it(b, path)), "MiB")
    shutil.rmtree(path.parent)


def sides(b):
    root = b.dir / "sides"
    h = claude(root, 1, turns=1)
    h.sub_agents(b.size["sides"], "result", turns=10)
    h.write()
    size = sum(path.stat().st_size for path in h.paths)
    b.forget()
    line("import sub-agents' files", size / b.seconds(import_it(b, root)) / 1e6, "MB/s")
    b.forget()
    line("import sub-agents' files, memory", peak_mib(b, import_it(b, root)), "MiB")
    shutil.rmtree(root)


def many(b):
    root, count = b.dir / "many", b.size["many"]
    made = [(claude, codex, gemini)[n % 3](root / str(n % 3), n, turns=3) for n in range(count)]
    size = 0
    for h in made:
        h.write()
        size += h.path.stat().st_size
    took = {"import": [], "unchanged": []}
    for _ in range(b.size["rounds"]):
        b.forget()
        for what in took:
            begin = time.monotonic()
            subprocess.run(import_it(b, root), env=b.env, cwd=b.dir, check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            took[what].append(time.monotonic() - begin)
    line("import small histories", count / min(took["import"]), "files/s")
    line("import small histories, each", size / count / 1000, "kB")
    line("import small histories unchanged", count / min(took["unchanged"]), "files/s")
    shutil.rmtree(root)


PARTS = {"large": large, "short": short, "sides": sides, "many": many}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
