#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""instruct_test.py -- instructions noted in sessions that have ended: where, whole, and found again.

usage: instruct_test.py AHR [SHIM]"""

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.sessions import Home, indexed, session_id
from support.tap import run, test

AHR = sys.argv[1]
SHIM = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else None
SID = session_id("2026-05-28", "a")
TEXT = b"first\r\nsecond\r\n"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]


class Library(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = Home(self)
        self.folder = self.home.add("sessions", SID, TEXT, status="completed", startedAtNs=1, name="mine")
        self.lines = self.folder / "session.instructions.jsonl"
        (self.folder / "session.snapshots.jsonl").write_text(
            '{"id":7,"ts_ns":2,"label":"seven","kind":"manual","anchor_byte":5}\n')
        return self

    def instruct(self, *args):
        return json.loads(self.ok("instruct", *args))

    def noted(self, path=None):
        return [json.loads(line) for line in (path or self.lines).read_text().splitlines()]


# -- where --

@test
def an_ended_session_is_instructed_at_its_end_a_byte_or_a_snapshot():
    with Library(AHR) as a:
        before = time.time_ns()
        said = [a.instruct("mine", "at the\nend"), a.instruct(SID, "a byte", "--at", "@3"),
                a.instruct("last", "a snapshot", "--at", "7"), a.instruct("mine", "a byte", "--at", "8")]
        assert [s["anchor_byte"] for s in said] == [len(TEXT), 3, 5, 8]
        noted = a.noted()
        assert [n["text"] for n in noted] == ["at the\nend", "a byte", "a snapshot", "a byte"]
        assert [n["snapshot_id"] for n in noted] == [None, None, 7, None]
        for one, line in zip(said, noted):
            assert {k: line[k] for k in one} == one and line["row"] is None and line["delivered"] is False
            assert before <= line["ts_ns"] <= time.time_ns() and line["id"] >= line["ts_ns"] // 1000
        assert len({n["id"] for n in noted}) == 4
        assert os.stat(a.lines).st_mode & 0o777 == 0o600


@test
def a_place_that_there_is_not_is_refused():
    with Library(AHR) as a:
        assert "ends at byte 15" in a.fails(1, "instruct", "mine", "x", "--at", "@16")
        assert "neither a snapshot" in a.fails(1, "instruct", "mine", "x", "--at", "16")
        assert "no session or file 'yours'" in a.fails(3, "instruct", "yours", "x")
        assert "nobody to type it to" in a.fails(3, "instruct", "mine", "x", "--type")
        assert not a.lines.exists()


@test
def a_file_has_its_instructions_beside_it():
    with Library(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        a.instruct("x.ahr", "one")
        a.instruct("./x.ahr", "two", "--at", "@1")
        assert [(n["text"], n["anchor_byte"]) for n in a.noted(a.dir / "x.instructions.jsonl")] == [
            ("one", len(TEXT)), ("two", 1)]
        assert b"two" in a.ok("export", "x.ahr", "--format", "json")
        assert not a.lines.exists()


@test
def one_whose_recorder_has_vanished_is_made_whole_first():
    with Library(AHR) as a:
        sid = session_id("2026-05-28", "b")
        a.home.add_cut_off(sid, name="cut")
        a.instruct("cut", "x", "--at", "@1")
        assert [n["text"] for n in a.noted(a.home.dir / "sessions" / sid / "session.instructions.jsonl")] == ["x"]
        assert not (a.home.dir / "live" / sid).exists()


# -- what --

@test
def secrets_are_masked_in_it():
    with Library(AHR) as a:
        a.instruct("mine", f"log in with {TOKEN} first")
        text = a.noted()[0]["text"]
        assert TOKEN not in text and text.startswith("log in with ") and text.endswith(" first")


@test
def it_is_found_again():
    for is_indexed in (False, True):
        with Library(AHR) as a:
            if is_indexed:
                a.ok("index", "--all")
            a.instruct("mine", "use tabs")
            assert json.loads(a.ok("show", "mine", "--json"))["instructions"] == 1
            if is_indexed:
                assert indexed(a.home.dir) == [SID]
            assert b"use tabs" in a.ok("export", "mine", "--format", "json")


@test
def its_id_is_like_no_other():
    with Library(AHR) as a:
        soon, far = time.time_ns() // 1000 + 600_000_000, time.time_ns() // 1000 + 86400_000_000 * 9
        line = '{{"id":{},"ts_ns":2,"anchor_byte":5,"snapshot_id":null,"row":null,"text":"x","delivered":false}}\n'
        a.lines.write_text("".join(line.format(n) for n in (soon, soon + 1, far)))
        a.instruct("mine", "y")
        assert a.noted()[-1]["id"] == soon + 2


@test
def an_index_that_nobody_can_use_is_not_in_its_way():
    with Library(AHR) as a:
        a.ok("index", "--all")
        (a.home.dir / "library.db").write_bytes(b"no database" * 1000)
        a.instruct(SID, "x")
        assert [n["text"] for n in a.noted()] == ["x"]


# -- whole --

@test
def what_was_torn_before_is_ended_and_passed_over():
    with Library(AHR) as a:
        a.lines.write_text('{"id":1,"ts_ns":2,"anch')
        a.instruct("mine", "x")
        torn, line = a.lines.read_text().splitlines()
        assert torn == '{"id":1,"ts_ns":2,"anch' and json.loads(line)["text"] == "x"


@test
def one_at_a_time_is_at_a_session():
    with Library(AHR) as a:
        folder = os.open(a.folder, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        waiting = a.popen("instruct", "mine", "x", stdout=-1)
        time.sleep(0.2)
        assert waiting.poll() is None and not a.lines.exists()
        os.close(folder)
        waiting.communicate()
        assert waiting.returncode == 0 and len(a.noted()) == 1


@test
def of_many_at_once_all_land():
    with Library(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        for session, path in (("mine", a.lines), ("x.ahr", a.dir / "x.instructions.jsonl")):
            all_of_them = [a.popen("instruct", session, f"number {n}", stdout=-1) for n in range(6)]
            for one in all_of_them:
                one.communicate()
                assert one.returncode == 0
            noted = a.noted(path)
            assert sorted(n["text"] for n in noted) == [f"number {n}" for n in range(6)]
            assert len({n["id"] for n in noted}) == 6


def killed_at(a, n, after, *args):
    env = {"LD_PRELOAD": SHIM, "KILL_AT": str(n), **({"KILL_AFTER": "1"} if after else {})}
    done = a.run(*args, env=env)
    assert done.returncode in (0, -signal.SIGKILL), done
    return done.returncode != 0


@test
def killed_at_any_call_it_is_there_whole_or_not_at_all():
    if not SHIM:
        return
    with Library(AHR) as a:
        a.ok("index", "--all")
        had, landed = [], 0
        # Most calls are SQLite's: out of the index, and into it again.
        for n, after in [(n, after) for n in range(1, 160, 8) for after in (False, True)]:
            is_killed = killed_at(a, n, after, "instruct", "mine", "long " * 2000)
            have = a.noted() if a.lines.exists() else []
            assert have[:len(had)] == had and len(have) - len(had) in (0, 1), n
            assert is_killed or len(have) > len(had)
            assert json.loads(a.ok("show", "mine", "--json"))["instructions"] == len(have), n
            landed += len(have) > len(had)
            had = have
        assert 0 < landed < 40, landed
        print(f"# {landed} of 40 landed")


@test
def killed_at_each_call_the_lines_of_a_file_are_whole():
    if not SHIM:
        return
    with Library(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        path = a.dir / "x.instructions.jsonl"
        for after in (False, True):
            had, n, is_killed = [], 0, True
            path.unlink(missing_ok=True)
            while is_killed:
                n += 1
                is_killed = killed_at(a, n, after, "instruct", "x.ahr", "long " * 2000)
                have = a.noted(path) if path.exists() else []
                assert have[:len(had)] == had and len(have) - len(had) in (0, 1), n
                assert is_killed or len(have) > len(had)
                had = have
            assert n > 1


run()
