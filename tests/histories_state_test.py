#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_state_test.py -- import.state, by which `ahr import` goes on with a history: damaged, of another version or
gone; what it takes of memory, and what is not in it.

usage: histories_state_test.py AHR [--sanitized]; prints TAP.
"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import claude, codex, short_lines
from support.importer import Importer, peak
from support.tap import run, test

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
MIB = 1 << 20
RSS_MAX = 64 * MIB


def state_of(a, sid):
    return a.folder(sid) / "import.state"


@test
def a_history_of_500_000_short_lines_is_taken_in_bounded_memory():
    with Importer(AHR) as a:
        path, more = short_lines(a.claude, 50_000 if IS_SANITIZED else 500_000)
        for what in ("new", "unchanged", "grown"):
            if what == "grown":
                a.ok("index", "--all")  # which it has to leave
                with open(path, "ab") as file:
                    file.write(more)
            used, said = peak(a, "import", "--json")
            assert json.loads(said)[0]["result"] == what, said
            assert IS_SANITIZED or used <= RSS_MAX, f"{what}: {used / MIB:.1f} MiB"


@test
def a_state_with_a_bit_that_is_wrong_is_not_believed():
    rng = random.Random(3)
    with Importer(AHR) as a:
        for make in (claude, codex):
            h = make(a.dir / make.__name__, 1)
            h.write(len(h.steps) - 2)
            sid = a.take(h.path)[h.path]["id"]
            turns, shown, state = a.turns(sid), a.shown(sid), state_of(a, sid).read_bytes()
            for at in [0, len(state) - 1, *(rng.randrange(len(state)) for _ in range(60))]:
                spoilt = bytearray(state)
                spoilt[at] ^= 1 << rng.randrange(8)
                state_of(a, sid).write_bytes(spoilt)
                assert a.take(h.path)[h.path]["result"] == "replaced", at
                assert (a.turns(sid), a.shown(sid)) == (turns, shown), at
                assert state_of(a, sid).read_bytes() == state, at
            for end in (0, 7, len(state) // 2, len(state) - 1):
                state_of(a, sid).write_bytes(state[:end])
                assert a.take(h.path)[h.path]["result"] == "replaced", end
            h.append(len(h.steps) - 2)
            state_of(a, sid).write_bytes(state[:-1])
            a.take(h.path)
            h.is_in(a.events(sid))


@test
def a_session_whose_state_is_of_no_use_is_not_taken_over_by_another_file_of_its_name():
    for way in ("another version", "gone"):
        with Importer(AHR) as a:
            one, two = claude(a.dir / "pa", 1), claude(a.dir / "pb", 2)
            two.path = two.path.with_name(one.path.name)
            two.steps = [(two.path, line) for _, line in two.steps]
            one.write(8), two.write(12)
            ids = {h: a.take(h.path)[h.path]["id"] for h in (one, two)}
            assert len(set(ids.values())) == 2
            one.append(8)
            for sid in ids.values():
                state = state_of(a, sid).read_bytes()
                state_of(a, sid).unlink()
                if way != "gone":
                    state_of(a, sid).write_bytes(state.replace(b"ahr import", b"ahr IMPORT"))
            for h in (two, one):
                row = a.take(h.path)[h.path]
                assert (row["id"], row["result"]) == (ids[h], "replaced"), (way, row)
            two.append(12)
            a.take(two.path)
            for h in (one, two):
                h.is_in(a.events(ids[h]))
            assert a.sessions() == sorted(ids.values())


@test
def no_secret_is_in_a_state():
    with Importer(AHR) as a:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        def made(folder):
            h = claude(folder, 1, turns=0)
            h.cwd = f"/home/dev/{secret}/project"
            h.turn()
            h.add(h.path, {"type": "summary", "summary": f"of another {secret}", "leafUuid": h.id()})
            h.add(h.path, {"type": "custom-title", "customTitle": f"with {secret} in it", "sessionId": h.sid})
            h.turn()
            h.steps = [(path, line.replace(b'"gitBranch":"main"', b'"gitBranch":"%s"' % secret.encode()))
                       for path, line in h.steps]
            h.files.clear()
            open_at = len(h.steps)
            h.answer({"type": "tool_use", "id": "toolu_1", "name": "Write",
                      "input": {"file_path": f"{h.cwd}/src/{secret}.c", "content": "x"}})
            h.calls["toolu_1"] = ("Write", None)
            return h, open_at + 1
        h, upto = made(a.claude)
        for end in (8, upto):
            h.write(end)
            sid = next(iter(a.take().values()))["id"]
            for path in a.folder(sid).iterdir():
                assert secret.encode() not in path.read_bytes(), path
        h.result("toolu_1", "File created successfully at: x")
        h.write()
        assert a.take()[h.path]["result"] == "grown"
        whole = a.take(env={"AHR_HOME": str(a.dir / "whole")})[h.path]["id"]
        assert a.turns(sid) == (a.dir / "whole/sessions" / whole / "session.turns.jsonl").read_bytes()
        shown = a.shown(sid)
        assert shown["task"].startswith("with ") and shown["cwd"].startswith("/home/dev/"), shown
        files = [e["path"] for e in a.events(sid) if e["type"] == "artifact"]
        assert files and all(path.startswith("src/") for path in files), files


if __name__ == "__main__":
    run()
