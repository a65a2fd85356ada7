#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_files_test.py -- the files that `ahr import` takes for histories, however they are given, however large
or many they are, and whatever is wrong with all of one.

usage: histories_files_test.py AHR [--sanitized]; prints TAP.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import claude, codex, gemini
from support.importer import Importer
from support.tap import run, test

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
KIB, MIB = 1 << 10, 1 << 20


def long_ones(a):
    """Of each agent one whose first line, or all of it, is longer than what is looked at."""
    for size in (100 * KIB, 600 * KIB):
        first = claude(a.dir / f"c{size}", 1, turns=0)
        first.steps.clear()  # the prompt is the first line
        first.prompt("x" * size)
        first.turn()
        yield first
        first = codex(a.dir / f"x{size}", 2)
        value = json.loads(first.steps[0][1])
        value["payload"]["instructions"] = "y" * size
        first.steps[0] = (first.path, json.dumps(value).encode() + b"\n")
        yield first
        first = gemini(a.dir / f"g{size}", 3)
        first.message("user", "z" * size)
        yield first


@test
def a_file_that_is_named_is_taken_however_long_its_first_line_is():
    with Importer(AHR) as a:
        for h in long_ones(a):
            h.write()
            row = a.take(h.path)[h.path]
            assert row["result"] == "new" and row["agent"] == h.agent, row
            h.is_in(a.events(row["id"]))


@test
def a_first_line_that_is_half_written_is_left_for_the_next_time():
    with Importer(AHR) as a:
        for make in (claude, codex):
            h = make(a.dir / make.__name__, 1)
            h.steps = [s for s in h.steps if b'"queue-operation"' not in s[1]]
            h.path.parent.mkdir(parents=True)
            half = h.steps[0][1][:-20]
            h.path.write_bytes(half)
            done = a.run("import", h.path)
            assert done.returncode == 0 and b"its last line is not finished" in done.stderr, done
            assert a.sessions() == []
            h.write()
            row = a.take(h.path)[h.path]
            assert row["result"] == "new", row
            h.is_in(a.events(row["id"]))
            a.ok("delete", "--yes", row["id"])


@test
def a_terminal_that_has_shown_a_history_is_no_history():
    with Importer(AHR) as a:
        h = codex(a.dir / "h", 1).write()
        shown = h.path.read_bytes()
        (a.dir / "x").write_bytes(b"Script started on 2025-06-01 09:00:00+00:00\n" + shown)
        (a.dir / "x.timing").write_bytes(b"0.5 %d\n" % len(shown))
        a.ok("import", a.dir / "x")
        row = a.shown(a.sessions()[0])
        assert row["agent"] is None and row["bytes"] == len(shown), row



if __name__ == "__main__":
    run()
