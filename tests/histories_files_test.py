#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_files_test.py -- the files that `ahr import` takes for histories, however they are given, however large
or many they are, and whatever is wrong with all of one.

usage: histories_files_test.py AHR [--sanitized]; prints TAP.
"""

import json
import os
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import claude, codex, gemini, pack
from support.importer import VARIABLES, Importer, peak
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
def a_packed_rollout_of_which_nothing_can_be_read_is_told():
    for what in ("cut", "garbage"):
        with Importer(AHR) as a:
            h = codex(a.codex, 1, turns=40).write()
            packed = pack(h.path) or h.path.rename(f"{h.path}.zst")
            if what == "cut" and not packed.read_bytes().startswith(b"\x28\xb5\x2f\xfd"):
                continue
            packed.write_bytes(packed.read_bytes()[:60] if what == "cut" else b"this is none" * 100)
            for args in ((), (packed,)):
                row = a.take(*args, status=4)[packed]
                assert row["cut"] == 1 and row["result"] == "skipped", row
                assert f"'{packed}': line 1 (byte 0) and what follows cannot be read" in a.fails(4, "import", *args)
            other = claude(a.claude, 2).write()
            a.take(status=4)[other.path]
            assert len(a.sessions()) == 1


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



@test
def a_file_whose_time_is_older_than_what_is_in_it_keeps_its_times():
    with Importer(AHR) as a:
        h = codex(a.codex, 1).write()
        want = a.shown(a.take()[h.path]["id"])
        os.utime(h.path, (978_307_200, 978_307_200))
        again = {"AHR_HOME": str(a.dir / "again")}
        row = a.take(env=again)[h.path]
        got = json.loads(a.ok("show", "--json", row["id"], env=again))
        assert got["duration_ms"] and (got["started_at"], got["ended_at"]) == (want["started_at"], want["ended_at"]), got


# -- where they lie --

@test
def a_variable_that_is_empty_is_as_one_that_is_not_there():
    with Importer(AHR) as a:
        made = [claude(a.user / ".claude/projects/p", 1).write(), claude(a.user / ".config/claude/projects/p", 2).write(),
                codex(a.codex, 3).write(), gemini(a.gemini, 4).write()]
        assert set(a.take(env=dict.fromkeys(VARIABLES, ""))) == {h.path for h in made}


# -- many files --

def many(a, count):
    """A session whose sub-agents speak by turns: their lines lie in each other's time."""
    h = claude(a.claude, 1, turns=1)
    h.prompt(h.words())
    h.sub_agents(count, "result")
    return h.write()


def sides(h):
    return [path for path in h.paths if path != h.path]


@test
def sub_agents_may_be_more_than_files_may_be_open():
    with Importer(AHR) as a:
        h = many(a, 1200)
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        used, said = peak(a, "import", "--json", preexec_fn=few)
        row = json.loads(said)[0]
        h.is_in(a.events(row["id"]))
        assert IS_SANITIZED or used < 48 * MIB, used
        times = [e["t_ms"] for e in a.events(row["id"])]
        assert times == sorted(times)
        # All of them grow.
        added = len(h.steps)
        for path in sides(h):
            where = {"path": path, "side": {"agent": path.stem[6:], "leaf": None, "call": path.stem}}
            h.line("user", {"role": "user", "content": "one more"}, **where)
        h.append(added)
        used, said = peak(a, "import", "--json", preexec_fn=few)
        assert (json.loads(said)[0]["result"], json.loads(said)[0]["events"]) == ("grown", 1200), said
        assert IS_SANITIZED or used < 48 * MIB, used
        before = a.turns(row["id"])
        whole = a.take(env={"AHR_HOME": str(a.dir / "whole")})[h.path]
        assert whole["events"] == before.count(b"\n")


@test
def lines_that_do_not_end_are_no_more_than_others():
    with Importer(AHR) as a:
        h = many(a, 400)
        for path in sides(h):
            path.write_bytes(path.read_bytes().splitlines()[0])
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        row = a.take(preexec_fn=few)[h.path]
        assert row["result"] == "new" and row["unfinished_bytes"] == 0, row
        said = {e["parent"] for e in a.events(row["id"]) if e["type"] == "text" and "parent" in e}
        assert len(said) == 400


@test
def memory_does_not_grow_with_the_files_whose_lines_are_long():
    with Importer(AHR) as a:
        h = many(a, 24)
        for path in sides(h):
            first, rest = path.read_bytes().split(b"\n", 1)
            value = json.loads(first)
            value["message"]["content"] = "x" * (8 * MIB)
            path.write_bytes(json.dumps(value).encode() + b"\n" + rest)
        used, said = peak(a, "import", "--json")
        long = [e for e in a.events(json.loads(said)[0]["id"]) if len(e.get("text", "")) == 8 * MIB]
        assert len(long) == 24
        assert IS_SANITIZED or used < 96 * MIB, used


if __name__ == "__main__":
    run()
