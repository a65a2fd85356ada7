#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mock_agent_test.py -- the mock agent tells the truth. usage: mock_agent_test.py AHR MOCK_AGENT"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.fake_recorder import FakeRecorder
from support.on_pty import OnPty
from support.public_ipc import INSTRUCT, NONE, NO_ROW, SNAPSHOT
from support.tap import run, test

AHR, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
SEEDS = range(1, 31 if os.environ.get("AHR_TEST_LONG") else 4)
SIZES = ((80, 24), (200, 50), (33, 7), (20, 3), (7, 2), (1, 1))


def plain(*args, status=0):
    """What it writes where there is no terminal."""
    done = subprocess.run([MOCK, "--no-wait", *map(str, args)], capture_output=True, check=False)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout


def told(folder):
    """Options that make it tell the truth; which truth() reads."""
    return "--truth", folder / "truth", "--bytes", folder / "bytes"


def truth(folder):
    return json.loads((folder / "truth").read_text()), (folder / "bytes").read_bytes()


def rendered(a, data, cols, rows):
    (a.dir / "x.ahr").unlink(missing_ok=True)
    a.ok("pack", "-o", "x.ahr", "--cols", cols, "--rows", rows, input=data)
    return a.ok("render", "--scrollback", "x.ahr").decode()


# -- bytes --

@test
def the_same_seed_gives_the_same_bytes():
    for seed in SEEDS:
        assert plain("--seed", seed) == plain("--seed", seed)
        assert plain("--seed", seed) != plain("--seed", seed + 1)


@test
def pauses_do_not_change_the_bytes():
    want = plain("--steps", 4)
    for pace in (("--speed", 1000), ("--rate", 10_000_000)):
        done = subprocess.run([MOCK, "--steps", "4", *map(str, pace)], capture_output=True,
                              check=True)
        assert done.stdout == want


@test
def it_moves_about_as_agents_do():
    data = plain("--steps", 60)
    for what in (rb"\r[^\n]", rb"\x1b\[\d+A", rb"\x1b\[38;2;\d+;\d+;\d+m", rb"\x1b\[48;2;",
                 rb"\x08", rb"\x1b\[K", rb"\x1b\[J", rb"\x1b\[2K", rb"\x1b\[\d+G",
                 rb"\x1b\[\?2026h", "世".encode(), "🚀".encode(), "e\u0301".encode()):
        assert re.search(what, data), what


@test
def work_is_as_much_as_asked_for():
    with Ahr(AHR) as a:
        plain("--steps", 5, "--only", "think", *told(a.dir))
        assert [step["kind"] for step in truth(a.dir)[0]["steps"]] == ["think"] * 5
        assert len(plain("--steps", 0, "--min-bytes", 300_000)) >= 300_000


@test
def wrong_usage_is_told():
    for args in (["--only", "sleep"], ["word"], ["--nonsense"], ["--cols", "0"]):
        plain(*args, status=2)


# -- on a terminal --

@test
def what_a_terminal_gets_is_what_it_says_it_wrote():
    with Ahr(AHR) as a:
        for seed in SEEDS:
            for cols, rows in SIZES:
                with OnPty([MOCK, "--no-wait", "--seed", seed, *told(a.dir)], cols, rows) as t:
                    assert t.finish() == 0
                true, data = truth(a.dir)
                assert t.bytes == data and true["total_bytes"] == len(data)
                assert (true["cols"], true["rows"], true["resizes"]) == (cols, rows, 0)
                assert data == plain("--seed", seed, "--cols", cols, "--rows", rows)


@test
def final_lines_are_those_that_ahr_shows():
    with Ahr(AHR) as a:
        for seed in SEEDS:
            for cols, rows in SIZES:
                data = plain("--seed", seed, "--steps", 20, "--cols", cols, "--rows", rows,
                             *told(a.dir))
                lines = truth(a.dir)[0]["final_lines"]
                assert len(lines) > rows
                assert "".join(line + "\n" for line in lines) == rendered(a, data, cols, rows)


@test
def each_step_ends_at_the_byte_that_is_told():
    with Ahr(AHR) as a:
        data = plain("--steps", 30, *told(a.dir))
        ends = [step["end_byte"] for step in truth(a.dir)[0]["steps"]]
        assert len(ends) == 30 and ends == sorted(set(ends)) and ends[-1] < len(data)
        for end in ends:
            assert data[:end].endswith(b"\x1b[?2026l")
        # The work so far, without what comes after it.
        plain("--steps", 29, "--kill-self", "KILL", *told(a.dir), status=-signal.SIGKILL)
        assert truth(a.dir)[1] == data[:ends[28]]


@test
def the_terminal_is_left_as_it_was():
    with OnPty([MOCK, "--no-wait"]) as t:
        t.read_until(b"\x1b[?2026h")
        assert t.state() != t.first_state
        assert t.finish() == 0 and t.state() == t.first_state


@test
def it_ends_with_its_terminal():
    with OnPty([MOCK, "--steps", 100_000]) as t:
        t.read_until(b"\x1b[?2026h")
        t.hang_up()
        assert t.process.wait() in (1, -signal.SIGHUP)


# -- how it ends --

@test
def it_exits_as_told():
    for status in (0, 1, 7, 255):
        plain("--steps", 1, "--exit", status, status=status)


@test
def it_kills_itself_in_the_middle_of_a_picture():
    with Ahr(AHR) as a:
        for name, number in (("KILL", 9), ("SEGV", 11), ("15", 15)):
            with OnPty([MOCK, "--no-wait", "--kill-self", name, *told(a.dir)]) as t:
                assert t.finish() == -number
            true, data = truth(a.dir)
            assert t.bytes == data and len(data) == true["steps"][-1]["end_byte"]
            lines = true["final_lines"]
            assert "Thinking…" in "".join(lines[-12:]) and "context left" in lines[-1]
            assert "".join(line + "\n" for line in lines) == rendered(a, data, 80, 24)


# -- what it says to its recorder --

def in_fake_recorder(a, *args, refuse=None, status=0):
    """What it says to a recorder that listens, and the truth about it."""
    with FakeRecorder([MOCK, "--no-wait", *args, *told(a.dir)], a.dir, refuse) as fake:
        assert fake.serve() == status, fake.pty.bytes[-500:]
    true, data = truth(a.dir)
    assert fake.pty.bytes == data
    return fake.requests, true


@test
def snapshots_are_taken_at_the_bytes_that_are_told():
    with Ahr(AHR) as a:
        for seed in SEEDS:
            requests, true = in_fake_recorder(a, "--seed", seed, "--steps", 20, "--snapshots",
                                              "--snapshot-base", 1000)
            ends = [step["end_byte"] for step in true["steps"]]
            assert [snap["anchor_byte"] for snap in true["snapshots"]] == ends
            assert [snap["id"] for snap in true["snapshots"]] == list(range(1000, 1020))
            assert [snap["label"] for snap in true["snapshots"]] == [
                "after " + step["kind"] for step in true["steps"]]
            assert requests == [("ipc.sock", SNAPSHOT, [snap["id"]], snap["label"],
                                 snap["anchor_byte"]) for snap in true["snapshots"]]
            for snap in true["snapshots"]:
                assert snap["reply"] == {"id": snap["id"], "anchor_byte": snap["anchor_byte"],
                                         "ts_ns": 1}
            assert "instructions" not in true


@test
def instructions_belong_to_the_bytes_that_are_told():
    with Ahr(AHR) as a:
        requests, true = in_fake_recorder(a, "--snapshots", "--instruct")
        said = [request for request in requests if request[1] == INSTRUCT]
        ends = [step["end_byte"] for step in true["steps"]]
        assert len(said) == len(true["instructions"]) == len(ends) == 12
        for n, (request, one) in enumerate(zip(said, true["instructions"])):
            where, _, (anchor, snapshot_id, row, typed), text, now = request
            assert (where, row, typed, text, now) == ("ctl.sock", NO_ROW, 0, one["text"], ends[n])
            assert one["text"].startswith(f"{n + 1}: after the {true['steps'][n]['kind']}, ")
            assert anchor == (ends[n - 1] if n % 3 == 1 else NONE)
            assert snapshot_id == (true["snapshots"][n]["id"] if n % 3 == 2 else NONE)
            assert one["snapshot_id"] == (None if snapshot_id == NONE else snapshot_id)
            assert one["anchor_byte"] == one["reply"]["anchor_byte"] == ends[n - (n % 3 == 1)]


@test
def what_it_says_changes_no_byte():
    with Ahr(AHR) as a:
        in_fake_recorder(a, "--snapshots", "--instruct")
        assert truth(a.dir)[1] == plain()


@test
def a_refusal_is_told_and_it_goes_on():
    with Ahr(AHR) as a:
        requests, true = in_fake_recorder(a, "--snapshots", "--instruct", "--exit", 3,
                                          refuse="not now – später", status=3)
        assert len(requests) == 24
        for one in true["snapshots"] + true["instructions"]:
            assert one["reply"] == {"error": "not now – später"}


@test
def without_a_recorder_it_says_why_it_cannot():
    for option in ("--snapshots", "--instruct"):
        for address, why in ((None, "AHR_IPC is not set"), ("tcp:127.0.0.1:9", "is no path"),
                             ("/nonexistent/ipc.sock", "No such file")):
            env = {k: v for k, v in os.environ.items() if k != "AHR_IPC"}
            done = subprocess.run([MOCK, "--no-wait", option], capture_output=True, check=False,
                                  env=env if address is None else {**env, "AHR_IPC": address})
            assert done.returncode == 1 and done.stdout == b"", done
            assert f"mock_agent: {option}: " in done.stderr.decode() and why in done.stderr.decode()


# -- recorded --

@test
def a_recording_of_it_holds_what_is_true():
    with Ahr(AHR) as a:
        for seed, (cols, rows) in zip(SEEDS, SIZES):
            done = a.run("record", "-q", "--cols", cols, "--rows", rows, "--", MOCK, "--no-wait",
                         "--seed", seed, "--exit", seed, *told(a.dir))
            true, data = truth(a.dir)
            assert done.returncode == seed and done.stdout == data, done.stderr
            assert a.ok("cat", "last") == data
            assert a.ok("render", "--scrollback", "last").decode() == "".join(
                line + "\n" for line in true["final_lines"])


# -- resizes --

def rule(cols):
    return ("╭" + "─" * (cols - 2) + "╮").encode()


@test
def the_region_follows_the_terminals_size():
    with Ahr(AHR) as a:
        args = [MOCK, "--no-wait", "--only", "think", "--steps", 100, *told(a.dir)]
        with OnPty(args, 80, 24) as t:
            at = t.read_until(rule(80))
            sizes = ((40, 10), (120, 40), (25, 24))
            for cols, rows in sizes:
                t.resize(cols, rows)  # it cannot be at its end: we have read too little
                at = t.read_until(rule(cols), at)
            assert t.finish() == 0
        true, data = truth(a.dir)
        assert t.bytes == data and true["final_lines"] is None
        assert (true["cols"], true["rows"], true["resizes"]) == (25, 24, len(sizes))


@test
def resizes_at_any_time_do_it_no_harm():
    draw = random.Random(5)
    with Ahr(AHR) as a:
        for seed in SEEDS:
            args = [MOCK, "--no-wait", "--seed", seed, "--steps", 40, *told(a.dir)]
            with OnPty(args, 80, 24) as t:
                while t.read(draw.randrange(1, 4096)):
                    t.resize(draw.randrange(1, 150), draw.randrange(1, 50))
                assert t.process.wait() == 0
            true, data = truth(a.dir)
            assert true["resizes"] > 0, (seed, len(data))
            same = len(os.path.commonprefix([bytes(t.bytes), data]))
            assert t.bytes == data, (seed, len(t.bytes), len(data), same, t.bytes[same:][:80], data[same:][:80])


run()
