#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_typing_test.py -- what `ahr send` and `ahr instruct --type` type, as a recorded program
meets it. usage: live_typing_test.py AHR"""

import ast
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import wait_for
from support.recorder import Recorder
from support.tap import run, test

AHR = sys.argv[1]

# Raw and without echo, it tells of each read on a line of its own: how many bytes, and which. Ctrl-A
# and Ctrl-N set the cursor keys' mode, Ctrl-S has it read nothing until there is a file `go`.
READER = r"""
import os, time, tty
tty.setraw(0)
print("ready", end="\r\n", flush=True)
while True:
    got = os.read(0, 65536)
    if got == b"\x01": os.write(1, b"\x1b[?1h")
    if got == b"\x0e": os.write(1, b"\x1b[?1l")
    print(len(got), got[:40], end="\r\n", flush=True)
    if got == b"\x13":
        while not os.path.exists("go"): time.sleep(0.01)
"""


class Session:
    def __init__(self, a):
        self.ahr = a

    def send(self, *args):
        return self.ahr.ok("send", "reader", *args)

    def reads(self):
        """Each read as told: its size, and its first bytes."""
        told = self.ahr.run("cat", "reader").stdout.decode()
        for mode in ("\x1b[?1h", "\x1b[?1l"):
            told = told.replace(mode, "")
        lines = [line.split(" ", 1) for line in told.split("\r\n")[1:-1]]
        return [(int(size), ast.literal_eval(first)) for size, first in lines]

    def has_read(self, count):
        """Waits for so many bytes and no more, and gives the first ones of each read. However
        slow this machine is: whether two pieces come in one read is left to the unit tests."""
        wait_for(lambda: sum(size for size, _ in self.reads()) >= count,
                 lambda: f"no {count} bytes: {self.reads()}")
        assert sum(size for size, _ in self.reads()) == count, self.reads()
        return b"".join(first for _, first in self.reads())


@contextmanager
def reader():
    with Recorder(AHR) as a:
        (a.dir / "reader.py").write_text(READER)
        a.ok("record", "--background", "--name", "reader", "-q", "--", sys.executable, "reader.py")
        wait_for(lambda: a.run("cat", "reader").stdout.endswith(b"ready\r\n"))
        yield Session(a)
        a.ok("stop", "reader")


@test
def a_text_is_followed_by_enter_and_keys():
    with reader() as s:
        s.send("fix the tests")
        assert s.has_read(14) == b"fix the tests\r"
        s.send("--no-enter", "y", "--key", "Escape", "--key", "x")
        assert s.has_read(17)[14:] == b"y\x1bx"


@test
def one_send_is_apart_from_the_next():
    with reader() as s:
        begun = time.monotonic()
        s.send("--key", "Escape")  # with an "x" right behind it, it would be Alt-x
        assert time.monotonic() - begun >= 0.1
        s.send("--key", "x")
        assert s.has_read(2) == b"\x1bx"


@test
def cursor_keys_are_sent_as_the_program_wants_them():
    with reader() as s:
        s.send("--key", "Up", "--key", "Home")
        assert s.has_read(6) == b"\x1b[A\x1b[H"
        s.send("--key", "C-a")
        s.has_read(7)
        s.send("--key", "Down", "--key", "End")
        assert s.has_read(13)[7:] == b"\x1bOB\x1bOF"
        s.send("--key", "C-n")
        s.has_read(14)
        s.send("--key", "Down")
        assert s.has_read(17)[14:] == b"\x1b[B"


@test
def a_long_text_arrives_whole():
    with reader() as s:
        s.send("x" * 120000)
        s.has_read(120001)


@test
def what_is_not_read_waits_in_the_recorder():
    with reader() as s:
        s.send("--key", "C-s")
        s.has_read(1)
        done = s.ahr.run("send", "reader", "x" * 60000)
        assert done.returncode == 0 and b"has not read it yet" in done.stderr, done
        (s.ahr.dir / "go").touch()
        s.has_read(60002)


@test
def too_much_for_the_recorder_is_told():
    with reader() as s:
        s.send("--key", "C-s")
        s.has_read(1)
        said = s.ahr.fails(1, "send", "reader", "x" * 120000)
        assert "does not read" in said and "the rest was not sent" in said, said
        (s.ahr.dir / "go").touch()


@test
def a_typed_instruction_is_noted_before_what_it_brings():
    with reader() as s:
        before = len(s.ahr.ok("cat", "reader"))
        told = json.loads(s.ahr.ok("instruct", "reader", "--type", "use tabs"))
        assert told["anchor_byte"] == before
        assert s.has_read(9) == b"use tabs\r"
        line, = (s.ahr.live() / "session.instructions.jsonl").read_text().splitlines()
        note = json.loads(line)
        assert note == {**told, "snapshot_id": None, "row": None, "text": "use tabs",
                        "delivered": True}


@test
def a_program_may_not_type_into_itself():
    with Recorder(AHR) as a:
        a.start("record", "-q", "--", a.binary, "send", "last", "y", stdout=subprocess.DEVNULL).wait()
        assert b"may not control it" in a.ok("cat", "last")


run()
