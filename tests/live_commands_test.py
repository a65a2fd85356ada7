#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_commands_test.py -- snapshot, send, stop and instruct against a made-up recorder: what they
say to it, and to the user whatever it answers. usage: live_commands_test.py AHR"""

import fcntl
import json
import os
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.scripted_recorder import (ANCHOR, AUTH, INPUT, INSTRUCT, SNAPSHOT, SNAPSHOT_MANUAL, STOP,
                                   SUBSCRIBE, ScriptedRecorder, done, no_picture, refused, taken)
from support.processes import wait_for
from support.sessions import Home, session_id
from support.tap import run, test

AHR = sys.argv[1]
SID = session_id("2026-11-15", "a")
TS = 1763240000123456789
NONE = 2**64 - 1


def agrees(body):
    """To a snapshot: anchored at 4711."""
    return done(struct.unpack_from("<Q", body)[0], 4711, TS)


@contextmanager
def live_session(answers):
    """An Ahr with one live session, whose recorder answers so."""
    with Ahr(AHR) as a:
        folder = Home(a).folder("live", SID)
        folder.chmod(0o700)
        Home.write_meta(folder, SID, name="mine")
        a.ok("pack", "-o", folder / "session.ahr", input=b"hello")
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            a.folder = folder
            with ScriptedRecorder(folder / "ctl.sock", answers) as fake:
                yield a, fake


def end_session(a):
    os.makedirs(a.folder.parent.parent / "sessions")
    os.rename(a.folder, a.folder.parent.parent / "sessions" / SID)


def snapshot_request(body):
    number, offset = struct.unpack_from("<QI", body)
    assert offset == 12
    return number, body[12:].decode()


def instruct_request(body):
    *numbers, offset = struct.unpack_from("<QQIBI", body)
    assert offset == 25
    return *numbers, body[25:].decode()


# -- snapshot --


@test
def a_snapshot_is_told_to_the_recorder_around():
    with Ahr(AHR) as a, ScriptedRecorder(a.dir / "s", {SNAPSHOT_MANUAL: agrees}) as fake:
        out = a.ok("snapshot", "--id", 45, "--label", "naïve", env={"AHR_IPC": fake.address})
        assert out == b'{"id":45,"anchor_byte":4711,"ts_ns":%d}\n' % TS
        (selector, body), = fake.heard
        assert selector == SNAPSHOT_MANUAL and snapshot_request(body) == (45, "naïve")


@test
def an_id_is_made_of_the_time():
    with Ahr(AHR) as a, ScriptedRecorder(a.dir / "s", {SNAPSHOT_MANUAL: agrees}) as fake:
        before = time.time_ns() // 1000
        ids = [json.loads(a.ok("snapshot", env={"AHR_IPC": fake.address}))["id"]
               for _ in range(3)]
        assert before <= ids[0] < ids[1] < ids[2] <= time.time_ns() // 1000
        assert snapshot_request(fake.heard[0][1]) == (ids[0], "")


@test
def a_foreign_recorder_is_told_in_the_public_way():
    with Ahr(AHR) as a, ScriptedRecorder(a.dir / "s", {SNAPSHOT: agrees}) as fake:
        a.ok("snapshot", "--id", 1, env={"AH_RECORDER_IPC_SOCKET": fake.address})
        assert fake.heard == [(SNAPSHOT, struct.pack("<QI", 1, 12))]


@test
def over_tcp_the_token_comes_first():
    with Ahr(AHR) as a, ScriptedRecorder(None, {SNAPSHOT_MANUAL: agrees}) as fake:
        a.ok("snapshot", "--id", 1, env={"AHR_IPC": fake.address, "AHR_IPC_TOKEN": "c0ffee"})
        assert fake.heard[0] == (AUTH, struct.pack("<I", 4) + b"c0ffee")
        assert fake.heard[1][0] == SNAPSHOT_MANUAL


@test
def ours_comes_before_a_foreign_one_and_a_named_one_before_both():
    with live_session({SNAPSHOT_MANUAL: agrees}) as (a, named), \
            ScriptedRecorder(a.dir / "ours", {SNAPSHOT_MANUAL: agrees}) as ours, \
            ScriptedRecorder(a.dir / "other", {SNAPSHOT: agrees}) as other:
        env = {"AHR_IPC": ours.address, "AH_RECORDER_IPC_SOCKET": other.address}
        a.ok("snapshot", env=env)
        assert [len(r.heard) for r in (named, ours, other)] == [0, 1, 0]
        a.ok("snapshot", "--session", "mine", env=env)
        assert [len(r.heard) for r in (named, ours, other)] == [1, 1, 0]
        # Inside of a session it is reached by its own socket, however it is called.
        for name in ("mine", SID, SID[:20]):
            a.ok("snapshot", "--session", name, env={**env, "AHR_SESSION": SID})
        a.ok("snapshot", env={**env, "AHR_SESSION": SID})
        assert [len(r.heard) for r in (named, ours, other)] == [1, 5, 0]
        # A foreign recorder inside of a session of ours that has no socket is the nearer one.
        a.ok("snapshot", env={"AH_RECORDER_IPC_SOCKET": other.address, "AHR_SESSION": SID})
        assert [len(r.heard) for r in (named, ours, other)] == [1, 5, 1]
        a.ok("snapshot", env={"AHR_SESSION": "mine"})
        assert [len(r.heard) for r in (named, ours, other)] == [2, 5, 1]


@test
def without_a_recorder_it_says_what_to_do():
    with Ahr(AHR) as a:
        assert "no recorder here: run this inside of 'ahr record', or say --session SESSION" in \
            a.fails(3, "snapshot")
        for name in ("AHR_IPC", "AH_RECORDER_IPC_SOCKET"):
            said = a.fails(3, "snapshot", env={name: str(a.dir / "gone")})
            assert f"${name} names" in said and "gone" in said and "--session" in said, said
        assert "no session or file 'nix'" in a.fails(3, "snapshot", "--session", "nix")
        assert "$AHR_IPC" in a.fails(2, "snapshot", env={"AHR_IPC": "tcp:192.0.2.1:80"})


@test
def labels_are_text_of_one_line():
    with Ahr(AHR) as a, ScriptedRecorder(a.dir / "s", {SNAPSHOT_MANUAL: agrees}) as fake:
        env = {"AHR_IPC": fake.address}
        for label in ("two\nlines", "\x1b[31m", "\x7f", "\x80", "\u009b"):
            assert "control characters" in a.fails(2, "snapshot", "--label", label, env=env)
        bad = subprocess.run([a.binary, "snapshot", "--label", b"\xff"], env={**a.env, **env},
                             capture_output=True)
        assert bad.returncode == 2 and b"not UTF-8" in bad.stderr
        assert "longer than 65535" in a.fails(2, "snapshot", "--label", "é" * 32768, env=env)
        assert "one word too many" in a.fails(2, "snapshot", "label", env=env)
        assert fake.heard == []
        a.ok("snapshot", "--label", "é" * 32767 + "x", env=env)
        assert len(snapshot_request(fake.heard[0][1])[1].encode()) == 65535


@test
def what_the_recorder_refuses_is_told_in_its_words():
    with Ahr(AHR) as a, ScriptedRecorder(a.dir / "s", {SNAPSHOT_MANUAL: lambda _: refused("no \x1b!")}) \
            as fake:
        assert "ahr snapshot: no ?!\n" == a.fails(1, "snapshot", env={"AHR_IPC": fake.address})
        fake.answers = {SNAPSHOT_MANUAL: lambda _: None}
        assert "closed the connection" in a.fails(1, "snapshot", env={"AHR_IPC": fake.address})
        fake.answers = {SNAPSHOT_MANUAL: lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n"}
        assert "makes no sense" in a.fails(1, "snapshot", env={"AHR_IPC": fake.address})


# -- send --


@test
def a_text_is_typed_and_then_enter():
    with live_session({INPUT: taken}) as (a, fake):
        assert a.ok("send", "mine", "fix the tests") == b""
        assert fake.typed == [b"fix the tests", b"\r"]
        a.ok("send", "mine", "y", "--no-enter")
        a.ok("send", "mine", "")
        a.ok("send", "mine", "--", "--no-enter\x03")
        assert fake.typed[2:] == [b"y", b"\r", b"--no-enter\x03", b"\r"]


@test
def keys_follow_in_their_order():
    with live_session({INPUT: taken, SUBSCRIBE: no_picture}) as (a, fake):
        a.ok("send", "--key", "esc", "mine", "--key=C-c", "--key", "x")
        assert fake.typed == [b"\x1b", b"\x03", b"x"]
        a.ok("send", "mine", "text", "--key", "F5", "--key", "S-Tab", env={"AHR_KEY": "Tab"})
        assert fake.typed[3:] == [b"text", b"\r", b"\x1b[15~", b"\x1b[Z"]
        a.ok("send", "mine", env={"AHR_KEY": "Tab"})
        assert fake.typed[7:] == [b"\t"]
        done = a.run("send", "mine", "--key", "Up", "--key", "Down")
        assert done.returncode == 0 and b"no picture of the screen" in done.stderr
        assert fake.typed[8:] == [b"\x1b[A", b"\x1b[B"]
        assert [selector for selector, _ in fake.heard].count(SUBSCRIBE) == 1


@test
def a_long_text_goes_piece_by_piece():
    with live_session({INPUT: taken}) as (a, fake):
        text = "é" * 60000  # the kernel takes no longer word than 128 KiB
        a.ok("send", "mine", text)
        assert fake.typed[-1] == b"\r" and b"".join(fake.typed[:-1]) == text.encode()


@test
def wrong_usage_is_told_before_anything_is_typed():
    with live_session({INPUT: taken}) as (a, fake):
        assert "which session?" in a.fails(2, "send")
        assert "what is to be sent?" in a.fails(2, "send", "mine")
        assert "put quotes around" in a.fails(2, "send", "mine", "two", "words")
        assert "did you mean 'Enter'?" in a.fails(2, "send", "mine", "x", "--key", "Entre")
        assert "more than 256 times" in a.fails(2, "send", "mine", *["--key", "Up"] * 257)
        assert "no session or file 'yours'" in a.fails(3, "send", "yours", "x")
        assert fake.heard == []


@test
def what_cannot_be_typed_is_told():
    with live_session({INPUT: lambda _: refused("not from inside")}) as (a, fake):
        assert "session mine: not from inside" in a.fails(1, "send", "mine", "y")
        fake.answers = {INPUT: lambda _: None}
        assert "has it ended?" in a.fails(1, "send", "mine", "y")
        assert fake.typed == [b"y", b"y"]


@test
def a_program_that_does_not_read_is_not_waited_for_long():
    with live_session({ANCHOR: lambda _: done(0, 5, TS), INSTRUCT: lambda _: done(9, 5, TS)}) \
            as (a, fake):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        sender = a.popen("send", "mine", "text", "--key", "Tab", **pipes)
        instructor = a.popen("instruct", "mine", "--type", "other", **pipes)
        out, said = sender.communicate()
        assert sender.returncode == 0 and out == b"" and b"has not read it yet" in said
        out, said = instructor.communicate()
        assert instructor.returncode == 0 and json.loads(out)["id"] == 9
        assert b"not delivered" in said
        assert sorted(fake.typed) == sorted([b"text", b"\r", b"\t", b"other", b"\r"])
        (_, body), = [h for h in fake.heard if h[0] == INSTRUCT]
        assert instruct_request(body) == (5, NONE, 2**32 - 1, 0, "other")


# -- stop --


def still_waits(process):
    """It has not ended, and will not soon."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return True
    return False


@test
def stop_waits_for_the_end():
    with live_session({STOP: lambda _: done(0, 0, TS)}) as (a, fake):
        stopper = a.popen("stop", "mine", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: fake.heard)
        assert fake.heard == [(STOP, b"\x0f")] and still_waits(stopper)
        # A connection may end before the session does.
        fake.hang_up()
        assert still_waits(stopper)
        end_session(a)
        out, said = stopper.communicate()
        assert stopper.returncode == 0 and out == b""
        assert said.decode() == "ahr stop: session mine has ended\n"


@test
def one_that_ends_by_itself_has_ended():
    with live_session({}) as (a, fake):
        fake.answers = {STOP: lambda _: end_session(a)}
        assert b"has ended" in a.run("stop", "mine").stderr


@test
def stop_says_why_it_cannot():
    with live_session({STOP: lambda _: None}) as (a, fake):
        assert "closed the connection" in a.fails(1, "stop", "mine")
        fake.answers = {STOP: lambda _: refused("not you")}
        assert "session mine: not you" in a.fails(1, "stop", "mine")
        assert "give one session" in a.fails(2, "stop")
        assert "give one session" in a.fails(2, "stop", "mine", "yours")
        assert "no session or file 'yours'" in a.fails(3, "stop", "yours")


# -- instruct --


def notes(body):
    """As a recorder that has the snapshot 7, at byte 70, and 100 bytes."""
    anchor, snapshot, *_ = instruct_request(body)
    if snapshot not in (NONE, 7):
        return refused(f"no snapshot {snapshot}")
    if anchor != NONE and anchor > 100:
        return refused(f"byte {anchor} has not been written yet")
    return done(3, 70 if snapshot == 7 else min(anchor, 100), TS)


@test
def an_instruction_is_noted_where_it_belongs():
    with live_session({INSTRUCT: notes}) as (a, fake):
        no_row = 2**32 - 1
        out = a.ok("instruct", "mine", "two\nlines")
        assert out == b'{"id":3,"anchor_byte":100,"ts_ns":%d}\n' % TS
        assert instruct_request(fake.heard[0][1]) == (NONE, NONE, no_row, 0, "two\nlines")
        assert json.loads(a.ok("instruct", "mine", "x", "--at", "@42"))["anchor_byte"] == 42
        assert instruct_request(fake.heard[1][1]) == (42, NONE, no_row, 0, "x")
        assert json.loads(a.ok("instruct", "mine", "x", "--at", "7"))["anchor_byte"] == 70
        assert instruct_request(fake.heard[2][1]) == (NONE, 7, no_row, 0, "x")
        assert json.loads(a.ok("instruct", "mine", "x", "--at", "8"))["anchor_byte"] == 8
        assert "byte 101 has not been written yet" in a.fails(
            1, "instruct", "mine", "x", "--at", "@101")
        assert "101 is neither a snapshot of it nor a byte" in a.fails(
            1, "instruct", "mine", "x", "--at", "101")


@test
def a_typed_instruction_is_anchored_before_it_is_typed():
    with live_session({ANCHOR: lambda _: done(0, 55, TS), INPUT: taken, INSTRUCT: notes}) \
            as (a, fake):
        assert json.loads(a.ok("instruct", "mine", "--type", "use tabs"))["anchor_byte"] == 55
        assert [selector for selector, _ in fake.heard] == [ANCHOR, INPUT, INPUT, INSTRUCT]
        assert fake.typed == [b"use tabs", b"\r"]
        assert instruct_request(fake.heard[3][1]) == (55, NONE, 2**32 - 1, 1, "use tabs")
        assert json.loads(a.ok("instruct", "mine", "--type", "x", "--at", "7"))["anchor_byte"] == 70
        typed = len(fake.typed)
        assert "byte 56 has not been written yet" in a.fails(
            1, "instruct", "mine", "--type", "x", "--at", "@56")
        assert len(fake.typed) == typed
        said = a.fails(1, "instruct", "mine", "--type", "x", "--at", "101")
        assert "was typed, but is not noted" in said and "101 is neither" in said


@test
def what_is_no_instruction_is_refused():
    with live_session({INSTRUCT: notes}) as (a, fake):
        assert "give a session and a text" in a.fails(2, "instruct", "mine")
        assert "put quotes around" in a.fails(2, "instruct", "mine", "two", "words")
        assert "is empty" in a.fails(2, "instruct", "mine", "")
        assert "longer than 60000 bytes" in a.fails(2, "instruct", "mine", "é" * 30001)
        bad = subprocess.run([a.binary, "instruct", "mine", b"\xff"], env=a.env,
                             capture_output=True)
        assert bad.returncode == 2 and b"not UTF-8" in bad.stderr
        for at in ("", "@", "soon", "-1", "@-1", str(2**64 - 1)):
            assert "--at must be" in a.fails(2, "instruct", "mine", "x", f"--at={at}"), at
        assert fake.heard == []
        a.ok("instruct", "mine", "é" * 30000)
        assert "no session or file 'yours'" in a.fails(3, "instruct", "yours", "x")


run()
