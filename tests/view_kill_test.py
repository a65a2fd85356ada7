#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_kill_test.py -- kill -9 of the viewer: the host puts the terminal back, the agent lives, and the session's
screen is there for who comes next.

usage: view_kill_test.py AHR [--sanitized]
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import outer
from support.processes import is_gone, kill, wait_for
from support.recorder import Recorder
from support.tap import run, test

AHR = sys.argv[1]
# All that a program may ask of a terminal, and some lines that are there again later.
MODES = (r"\033[?1h\033=\033[?1003h\033[?1006h\033[?1004h\033[?2004h\033[?1007l\033[=5u\033[5 q\033[?25l\033[?5h"
         r"\033]2;an agent\007")
AGENT = rf"""
stty raw -echo
i=0; while [ $i -lt 60 ]; do i=$((i + 1)); printf 'line %d of it\r\n' $i; done
printf '{MODES}\033[31mready\033[m '
while key=$(dd bs=1 count=1 2>/dev/null) && [ "$key" != q ]; do printf '<%s>' "$key"; done
"""


class Used:
    """A terminal that showed something before, with one of our programs on it."""

    def __init__(self, a, *args):
        self.a, self.terminal = a, a.terminal()
        self.before = self.terminal.stty()
        os.write(self.terminal.slave, b"what was there\r\nprompt$ ")
        self.terminal.wait_for("prompt$ ")
        self.client = a.on(self.terminal, *args, stderr=a.log())

    def texts(self):
        return outer.texts(self.a, self.terminal.output)

    def shows(self, condition):
        wait_for(condition, lambda: f"it shows {self.texts()}")

    def is_killed(self):
        kill(self.client.pid)
        self.client.wait(60)
        wait_for(lambda: self.terminal.stty() == self.before, "the terminal is still raw")
        wait_for(lambda: not outer.modes(self.terminal.output).is_alternate)
        shown = self.terminal.settle()
        assert outer.modes(shown) == outer.Modes(), outer.modes(shown)
        left = outer.screen(self.a, shown)
        assert [line["text"] for line in left["lines"]][:2] == ["what was there", "prompt$"], left["lines"][:3]
        assert (left["cursor"]["row"], left["cursor"]["col"], left["cursor"]["visible"]) == (1, 8, True), left["cursor"]


class Viewed(Used):
    """An agent under the viewer."""

    def __init__(self, a):
        a.has_recorded()
        super().__init__(a, "record", "--view", "on", "--", "sh", "-c", AGENT)
        self.host = a.host(self.client.pid)
        self.terminal.wait_for("ready")
        self.agent = a.agent(self.host)
        self.shows(lambda: outer.modes(self.terminal.output).on >= {b"1003", b"1004", b"1006", b"2004"})
        self.terminal.type("x")
        self.shows(lambda: "<x>" in self.texts()[-1])
        self.screen = self.texts()

    def is_there_for_the_next(self):
        assert not is_gone(self.agent)
        terminal = self.a.terminal()
        client = self.a.on(terminal, "attach", stderr=self.a.log("attached"))
        wait_for(lambda: outer.texts(self.a, terminal.output) == self.screen,
                 lambda: f"{outer.texts(self.a, terminal.output)} is not {self.screen}")
        wait_for(lambda: outer.modes(terminal.output).shape == 5)
        terminal.type("y")
        wait_for(lambda: "<x><y>" in outer.texts(self.a, terminal.output)[-1])
        terminal.type("q")
        self.a.ends(client, 0)
        assert outer.modes(terminal.settle()) == outer.Modes()
        assert self.a.meta()["status"] == "completed"


@test
def killed_while_the_session_is_shown_it_leaves_the_terminal_as_it_was():
    with Recorder(AHR) as a:
        viewed = Viewed(a)
        viewed.is_killed()
        viewed.is_there_for_the_next()


@test
def killed_while_somebody_looks_back_it_does_so_too():
    with Recorder(AHR) as a:
        viewed = Viewed(a)
        viewed.terminal.type("\x1dvg")
        viewed.shows(lambda: viewed.texts()[0] == "line 1 of it")
        viewed.is_killed()
        viewed.is_there_for_the_next()


@test
def killed_while_an_instruction_is_written_it_does_so_too():
    with Recorder(AHR) as a:
        viewed = Viewed(a)
        viewed.terminal.type("\x1di" + "half of it")
        viewed.shows(lambda: any("half of it" in row for row in viewed.texts()))
        viewed.is_killed()
        viewed.is_there_for_the_next()


def is_guarded(*args, is_live=False):
    """One that has no host behind it is killed, and a second time."""
    with Recorder(AHR) as a:
        viewed = Viewed(a)
        if not is_live:
            viewed.terminal.type("q")
            a.ends(viewed.client, 0)
        for _ in range(2):
            used = Used(a, *args)
            used.shows(lambda: any("of it" in row for row in used.texts()))
            used.is_killed()
        if is_live:
            viewed.terminal.type("q")
            a.ends(viewed.client, 0)


@test
def an_attached_one_does_so_too():
    is_guarded("attach", is_live=True)


@test
def one_that_watches_does_so_too():
    is_guarded("watch", is_live=True)


@test
def one_that_shows_a_session_that_has_ended_does_so_too():
    is_guarded("view", "last")


@test
def one_that_plays_a_session_does_so_too():
    is_guarded("replay", "last")


run()
