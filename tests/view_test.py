#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_test.py -- `ahr view` on terminals of tmux: sessions that have ended, and what is left behind.

usage: view_test.py AHR [--sanitized]
"""

import json
import re
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import wait_for
from support.recorder import Recorder
from support.sessions import Home, session_id
from support.tap import Skip, run, test
from support.tmux import Tmux

AHR = sys.argv[1]
SID = session_id("2026-05-28", "a")
RATE = 1000  # bytes a second
TEXT = b"".join(b"line %03d of all\r\n" % n for n in range(300)) + b"the end"
LINE = len(b"line 000 of all\r\n")


@contextmanager
def house():
    """A home with a session of 300 lines, and a snapshot at its 100th."""
    if not shutil.which("tmux"):
        raise Skip("there is no tmux")
    with Recorder(AHR) as a, Tmux(a) as tmux:
        home = Home(a)
        home.dir = a.home
        folder = home.folder("sessions", SID)
        a.ok("pack", "--cols", "80", "--rows", "24", "--rate", RATE, "-o", folder / "session.ahr", input=TEXT)
        home.write_meta(folder, SID, status="completed", startedAtNs=1, name="mine")
        (folder / "session.snapshots.jsonl").write_text(json.dumps(
            {"id": 7, "ts_ns": 2, "label": "seven", "kind": "manual", "anchor_byte": 100 * LINE}) + "\n")
        yield a, tmux, folder


def view(tmux, *args, cols=80, rows=24):
    window = tmux.program(cols, rows, "view", *args)
    window.wait_drawn()
    return window


def noted(folder):
    path = folder / "session.instructions.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@test
def it_begins_at_the_end_and_reaches_every_line():
    with house() as (_, tmux, _folder):
        for cols, rows in ((80, 24), (120, 40), (30, 8)):
            seat = view(tmux, "mine", cols=cols, rows=rows)
            seat.shows("the end")
            seat.type("g")
            seat.shows("line 000 of all")
            seat.type("G")
            seat.shows("the end")
            seat.type("q")
            seat.ends()


@test
def a_file_is_viewed_too():
    with house() as (a, tmux, folder):
        shutil.copy(folder / "session.ahr", a.dir / "x.ahr")
        seat = view(tmux, "x.ahr")
        seat.type("g")
        seat.shows("line 000 of all")
        seat.type("q")
        seat.ends()


@test
def it_begins_where_it_is_told_to():
    with house() as (_, tmux, _folder):
        for at in (f"@{150 * LINE + 1}", str(150 * LINE / RATE)):
            seat = view(tmux, "mine", "--at", at)
            seat.shows("line 150 of all")
            assert "the end" not in seat.screen()
            seat.type("q")
            seat.ends()


@test
def an_instruction_is_noted_and_shown_at_its_line():
    with house() as (a, tmux, folder):
        seat = view(tmux, "mine", "--at", f"@{120 * LINE + 1}")
        seat.shows("line 120 of all")
        seat.type("i")
        seat.shows("seven")
        seat.enter("use tabs")
        seat.shows("use tabs")
        seat.type("C-s")
        wait_for(lambda: noted(folder), "nothing was noted")
        seat.wait_until(lambda: re.search(r"──.*use tabs", seat.screen()), "a badge")
        line = noted(folder)[0]
        assert line["text"] == "use tabs" and line["snapshot_id"] == 7 and line["delivered"] is False
        assert 119 * LINE <= line["anchor_byte"] <= 122 * LINE, line
        seat.type("q")
        seat.ends()
        assert b"use tabs" in a.ok("export", "mine", "--format", "json")


@test
def a_window_of_another_size_shows_the_same_place():
    with house() as (_, tmux, _folder):
        seat = view(tmux, "mine", "--at", f"@{150 * LINE + 1}")
        seat.shows("line 150 of all")
        for cols, rows in ((120, 40), (40, 10)):
            seat.resize(cols, rows)
            seat.shows("line 150 of all")
        seat.type("q")
        seat.ends()


@test
def ctrl_z_gives_the_terminal_back_for_a_while():
    with house() as (a, tmux, _folder):
        window = tmux.window(80, 24)
        window.ahr("view", "mine")
        window.wait_drawn()
        window.type("C-z")
        window.wait_drawn(False)
        window.line("fg")
        window.wait_drawn()
        window.wait_until(lambda: "the end" in window.screen(), "the end")
        window.type("q")
        window.wait_drawn(False)


@test
def a_signal_ends_it_and_the_terminal_is_as_it_was():
    with house() as (_, tmux, _folder):
        for signo in (signal.SIGTERM, signal.SIGHUP):
            seat = view(tmux, "mine")
            seat.shows("the end")
            seat.kill(signo)
            seat.wait_drawn(False)
            seat.ends(128 + signo)


@test
def the_editor_has_the_terminal_meanwhile():
    with house() as (a, tmux, folder):
        editor = a.dir / "editor"
        editor.write_text('#!/bin/sh\nfor last; do :; done\necho "in the editor" >/dev/tty\nread line\n'
                          'echo "from $line" >"$last"\n')
        editor.chmod(0o755)
        a.env["EDITOR"] = str(editor)
        a.env.pop("VISUAL", None)
        seat = view(tmux, "mine")
        seat.type("i")
        seat.type("C-e")
        seat.shows("in the editor")
        seat.line("outside")
        seat.wait_drawn()
        seat.shows("from outside")
        seat.type("C-s")
        wait_for(lambda: [n["text"] for n in noted(folder)] == ["from outside"], lambda: noted(folder))
        seat.type("q")
        seat.ends()


@test
def without_a_terminal_it_says_what_to_use():
    with house() as (a, _tmux, _folder):
        said = a.fails(2, "view", "mine")
        assert "needs a terminal" in said and "ahr render" in said and "ahr cat" in said
        assert "no moment" in a.fails(2, "view", "mine", "--at", "x")


@test
def damage_is_told_when_the_terminal_is_back():
    with house() as (_, tmux, folder):
        tape = folder / "session.ahr"
        tape.write_bytes(tape.read_bytes() + b"no block at all" * 9)
        seat = view(tmux, "mine")
        seat.shows("the end")
        seat.type("q")
        assert "ahr view:" in seat.ends(4)


run()
