#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_hostile_test.py -- programs made to harm: what the viewer writes of them is on a list, and nothing comes back.

usage: view_hostile_test.py AHR [--sanitized]

support/hostile.py has what the program writes, support/allowed.py what may reach the user's terminal. That terminal
answers all that it is asked: it must never be. The program notes what is typed to it: that must be what a session
without a terminal hears, whose every answer is the mirror's.
"""

import os
import re
import struct
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import allowed
from support.hostile import CALM, recording, sequences
from support.processes import PATIENCE, wait_for
from support.public_ipc import snap
from support.queries import AnsweringTerminal, queries
from support.recorder import Recorder
from support.tap import run, test, test_meanwhile
from support.tape import Tape

AHR = str(Path(sys.argv[1]).resolve())
PREFIX, ESCAPE, END_OF_FRAME = "\x1d", "\x1b", "\x1b[?2026l"
ALL = [data for _, data in sequences()]
FEW = ALL[::7]
# What terminals say when they are asked, or for no reason at all.
ANSWERS = b"".join(q.user.encode() for q in queries("")) + b"\x1b[8;7;7t\x1b]52;c;cXE=\x1b\\\x1bP1+r544e=71\x1b\\\x1b[?997;1n"

# Writes what it is told by its FIFO, and notes what it hears. usage: PROGRAM FIFO LOG
PROGRAM = """
import os, select, struct, sys, termios, tty
tty.setraw(0)
orders, log = os.open(sys.argv[1], os.O_RDWR), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def read(n):
    data = b""
    while len(data) < n:
        data += os.read(orders, n - len(data))
    return data
while True:
    ready = select.select([0, orders], [], [])[0]
    if 0 in ready:
        os.write(log, os.read(0, 65536))
    elif size := struct.unpack("<I", read(4))[0]:
        data = read(size)
        while data:
            data = data[os.write(1, data):]
    else:
        break
"""


class Agent:
    """The program in a session, and what it hears."""

    def __init__(self, a, name):
        self.fifo, self.log = a.dir / f"{name}.fifo", a.dir / f"{name}.log"
        self.asked = 0
        os.mkfifo(self.fifo)
        self.orders = os.open(self.fifo, os.O_RDWR)
        self.argv = [sys.executable, "-c", PROGRAM, str(self.fifo), str(self.log)]

    def _order(self, data):
        while data:
            data = data[os.write(self.orders, data):]

    def says(self, data):
        self._order(struct.pack("<I", len(data)) + data)

    def ends(self):
        self._order(bytes(4))
        os.close(self.orders)

    def heard(self):
        """All that it was told so far, but for answers to questions that are asked here alone."""
        self.asked += 1
        own = rb"\x1b\[\?9%03d;0\$y" % self.asked
        self.says(CALM + b"\x1b[?9%03d$p" % self.asked)
        wait_for(lambda: re.search(own, self.log_bytes()), lambda: f"no answer: {self.log_bytes()}")
        return re.sub(rb"\x1b\[\?9\d{3};0\$y", b"", self.log_bytes())

    def log_bytes(self):
        return self.log.read_bytes() if self.log.exists() else b""


def what_is_said(found):
    """The pieces in which it is said: each of them is to be seen, and then it is gone."""
    for number, data in enumerate(found):
        yield recording(data)
        yield CALM + b"%d was %s\r\n" % (number, b"one" if number % 2 else b"another")


def what_the_mirror_answers(a, found, size):
    agent = Agent(a, "alone")
    a.ok("record", "--background", "--cols", size[0], "--rows", size[1], "--", *agent.argv)
    for piece in what_is_said(found):
        agent.says(piece)
    heard = agent.heard()
    agent.ends()
    wait_for(lambda: not a.names("live"))
    assert heard.count(b"\x1b[?62;22c") > 1 or len(found) < len(ALL), heard
    return heard


class Seat:
    """A user's terminal with the viewer on it."""

    def __init__(self, a, size, how):
        self.a, self.size, self.agent = a, size, Agent(a, how)
        self.t = a.terminal(*size, kind=AnsweringTerminal)
        if how == "attach":
            a.ok("record", "--background", "--cols", size[0], "--rows", size[1], "--", *self.agent.argv)
            self.client = a.on(self.t, "attach", stderr=a.log())
        else:
            self.client = a.on(self.t, "record", "-q", "--view", "on", "--", *self.agent.argv, stderr=a.log())
        self.t.wait_for("\x1b[?1049h")
        self.says(b"hello")

    def says(self, piece):
        """And it is drawn."""
        self.t.skip()
        self.agent.says(piece)
        self.t.wait_for(END_OF_FRAME)

    def type(self, keys):
        """And it has been drawn."""
        self.t.skip()
        self.t.type(keys)
        self.t.wait_for(END_OF_FRAME)

    def shows(self, text, is_there=True):
        """Soon this is on the screen, or is not any more."""
        def screen():
            return self.a.ok("render", "--cols", self.size[0], "--rows", self.size[1], "-", input=bytes(self.t.output)).decode()
        wait_for(lambda: (text in screen()) == is_there, lambda: f"{text!r}, {is_there}: {screen()}")

    def check(self):
        allowed.viewer(bytes(self.t.output))
        assert self.t.asked == [], self.t.asked

    def ends(self):
        self.agent.ends()
        assert self.client.wait(PATIENCE) == 0, self.a.said()
        self.t.settle()
        self.check()


@contextmanager
def seat(a, size=(80, 24), how="record"):
    s = Seat(a, size, how)
    yield s
    s.ends()


@test
def there_are_hundreds_of_them():
    assert len(ALL) >= 200


def is_drawn_and_heard(size, found, how):
    with Recorder(AHR) as a:
        want = what_the_mirror_answers(a, found, size)
        with seat(a, size, how) as s:
            for number, piece in enumerate(what_is_said(found)):
                s.says(piece)
                if number % 50 == 20:  # the status line, while one of them is on the screen
                    s.type(PREFIX)
                    s.t.type("x")
            heard = s.agent.heard()
            assert heard == want, difference(heard, want)


def difference(one, other):
    at = len(os.path.commonprefix([one, other]))
    return f"at {at}: {one[max(0, at - 80):at + 80]} and {other[max(0, at - 80):at + 80]}"


@test_meanwhile
def what_each_of_them_leaves_is_drawn_and_the_mirror_alone_answers():
    is_drawn_and_heard((80, 24), ALL, "record")


@test_meanwhile
def in_a_small_window_it_is_the_same():
    is_drawn_and_heard((30, 8), FEW, "record")


@test_meanwhile
def for_somebody_who_has_attached_it_is_the_same():
    is_drawn_and_heard((80, 24), FEW, "attach")


def leaf_through(s, pages):
    """Looks at all of it, with all that can be on a page."""
    s.type("g")
    for page in range(pages):
        s.type("f" if page % 2 else "d")
    s.t.type("T/behind\rN[]\x1b[C\x1b[D&was\r&\r=T")
    # Each Escape by itself: behind another, or before a key, it would be a part of it.
    for keys, text, is_there in (("i", "Ctrl-S", True), ("x" + ESCAPE, "Esc again", True), (ESCAPE, "Esc again", False)):
        s.t.type(keys)
        s.shows(text, is_there)
    s.type("G")


def looking_back(size, found):
    with Recorder(AHR) as a, seat(a, size) as s:
        for number, piece in enumerate(what_is_said(found)):
            s.agent.says(piece)
            if number % 2 == 0:
                label(a, number, found[number // 2])
        before = s.agent.heard()
        s.type(PREFIX + "v")
        leaf_through(s, 40)
        # Here nothing that the terminal says is for the program, nor is it a key.
        s.t.type(ANSWERS)
        leaf_through(s, 3)
        s.t.type(ANSWERS + b"q")
        after = s.agent.heard()
        assert after == before, difference(after, before)


def label(a, number, data):
    """A snapshot with this as its label, but for what no label of a live session may have."""
    text = "".join(c for c in data.decode(errors="replace") if c >= " " and not 0x7f <= ord(c) < 0xa0)
    snap(a.live() / "ipc.sock", number + 1, text[:200].encode())


@test_meanwhile
def in_review_mode_rows_and_labels_are_text_and_answers_are_for_nobody():
    looking_back((80, 24), FEW)


@test_meanwhile
def in_review_mode_of_a_small_window_it_is_the_same():
    looking_back((30, 8), FEW[::3])


@test
def while_a_box_is_open_what_the_terminal_says_is_for_nobody():
    with Recorder(AHR) as a, seat(a) as s:
        before = s.agent.heard()
        for key in "siq":
            s.type(PREFIX + key)
            s.t.type(ANSWERS)
            s.type(ESCAPE)
        s.t.type("a")
        wait_for(lambda: s.agent.log_bytes().endswith(b"a"))
        assert s.agent.heard() == before + b"a", s.agent.heard()


@test
def an_ended_session_is_looked_at_as_safely_with_any_name():
    with Recorder(AHR) as a:
        tape = Tape(80, 24)
        for number, data in enumerate(FEW, 1):
            tape.data(recording(data)).snapshot(number, data[:300]).instruct(number, data.decode(errors="replace"))
            tape.wait(1000).data(CALM)
        name = "".join(data.decode(errors="replace") for data in FEW[:20])
        tape.end().write(a.dir / "x.ahr", name=name, cmd=["agent", name])
        for size in ((80, 24), (30, 8)):
            t = a.terminal(*size, kind=AnsweringTerminal)
            client = a.on(t, "view", "x.ahr", stderr=a.log())
            t.wait_for(END_OF_FRAME)
            t.type(ANSWERS)
            for page in range(60):
                t.type("bj" if page % 2 else "bjj")  # at the top, too, there is something new
                t.wait_for(END_OF_FRAME)
            t.type("gT/behind\r[]{}=q")
            assert client.wait(PATIENCE) == 0, a.said()
            allowed.viewer(t.settle())
            assert t.asked == [], t.asked


run()
