#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_live_test.py -- the viewer on a live session: lines from before it came, what it is asked for, the end.

usage: view_live_test.py AHR [--sanitized]
"""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import outer
from support.processes import kill, wait_for
from support.recorder import IS_SANITIZED, Recorder
from support.tap import run, test

AHR = sys.argv[1]
LINES = 15000 if IS_SANITIZED else 30000  # more than the mirror has
PREFIX = "\x1d"
TALK = "seq -f 'row %.0f of many' {}; printf 'ready '; read x; exit ${{x:-0}}"


class View:
    """A client on a terminal of its own."""

    def __init__(self, a, *args, **more):
        self.a, self.terminal = a, a.terminal()
        self.before = self.terminal.stty()
        self.client = a.on(self.terminal, *args, stderr=a.log(), **more)

    def texts(self):
        return outer.texts(self.a, self.terminal.output)

    def shows(self, text, row=None):
        def is_there():
            texts = self.texts()
            return any(text in t for t in texts) if row is None else text in texts[row]
        wait_for(is_there, lambda: f"{text!r} is not in {self.texts()}")
        return self

    def hides(self, text):
        wait_for(lambda: not any(text in row for row in self.texts()), lambda: f"{text!r} is in {self.texts()}")
        return self

    def type(self, *keys):
        for key in keys:
            self.terminal.type(key)
        return self

    def ends(self, status):
        self.a.ends(self.client, status)
        assert self.terminal.stty() == self.before
        assert outer.modes(self.terminal.settle()) == outer.Modes()


def record(a, *args, lines=60, options=()):
    return View(a, "record", "--view", "on", *options, "--", "sh", "-c", TALK.format(lines), *args).shows("ready")


def lines_of(a, kind, folder=None):
    path = (folder or a.live()) / f"session.{kind}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# -- lines from before --

@test
def who_comes_late_sees_the_first_line_too():
    with Recorder(AHR) as a:
        first = record(a, lines=LINES)
        for how in ("attach", "watch"):
            late = View(a, how).shows(f"row {LINES} of many")
            late.type(PREFIX + "v", "g").shows("row 1 of many", 0)
            late.type("G").shows(f"row {LINES} of many")
            late.type("q", PREFIX + "d").ends(0)
        first.type("\r").ends(0)


@test
def lines_go_on_behind_those_from_before():
    with Recorder(AHR) as a:
        script = f"seq -f 'row %.0f of many' {LINES}; while read x; do echo \"then $x\"; done"
        first = View(a, "record", "--view", "on", "--", "sh", "-c", script).shows(f"row {LINES} of many")
        late = View(a, "attach").shows(f"row {LINES} of many")
        late.type(PREFIX + "v", "g").shows("row 1 of many", 0)
        first.type("one\r", "two\r").shows("then two")
        late.type("/then one\r").shows("then one").type("q", PREFIX + "d").ends(0)
        first.type("\x04").ends(0)


# -- what is asked for --

@test
def a_snapshot_is_marked_with_its_label():
    with Recorder(AHR) as a:
        view = record(a).type(PREFIX + "s", "half way\r").shows("snapshot taken")
        mark, = lines_of(a, "snapshots")
        assert (mark["label"], mark["kind"]) == ("half way", "manual"), mark
        view.type(PREFIX + "v").shows('"half way"').type("q", "\r").ends(0)


@test
def an_instruction_is_noted_and_typed():
    with Recorder(AHR) as a:
        view = record(a, options=("--deliver", "yes")).type(PREFIX + "i", "7\x13")
        view.ends(7)
        noted, = lines_of(a, "instructions", a.session())
        assert (noted["text"], noted["delivered"]) == ("7", True), noted


@test
def an_answer_is_remembered_for_all():
    with Recorder(AHR) as a:
        view = record(a).type(PREFIX + "i", "later\x13").shows("type it to the agent now?").type("N")
        view.shows("instruction noted").type("\r").ends(0)
        assert (a.home / ".deliver").read_text() == "no\n"
        noted, = lines_of(a, "instructions", a.session())
        assert (noted["text"], noted["delivered"]) == ("later", False), noted


@test
def a_watcher_asks_for_nothing():
    with Recorder(AHR) as a:
        first = record(a)
        View(a, "watch").shows("ready").type("s", "x\r").shows("a watcher only looks").type("q").ends(0)
        assert lines_of(a, "snapshots") == []
        first.type("\r").ends(0)


@test
def quit_stops_the_command_or_leaves_it():
    with Recorder(AHR) as a:
        record(a).type(PREFIX + "q", "d").ends(0)
        assert a.live()
        View(a, "attach").shows("ready").type(PREFIX + "q", "s").ends(0)
        wait_for(lambda: not a.names("live"))
        assert a.meta()["status"] == "aborted"


@test
def another_key_may_be_the_prefix():
    with Recorder(AHR) as a:
        view = record(a, options=("--prefix", "^A")).type(PREFIX + "\x01v").shows("line 61 of")
        view.type("q", "\x01d").ends(0)
        a.ok("stop", "last")


@test
def the_editor_has_the_terminal_meanwhile():
    with Recorder(AHR) as a:
        editor = a.dir / "editor"
        editor.write_text('#!/bin/sh\nstty -a | grep -q -- "[^-]icanon" && echo "from the editor" >>"$1"\n')
        editor.chmod(0o755)
        view = View(a, "record", "--view", "on", "--", "sh", "-c", TALK.format(5), env={"EDITOR": str(editor)})
        view.shows("ready").type(PREFIX + "i", "text ", "\x05").shows("from the editor")
        view.type("\x1b").shows("Esc again").type("\x1b").hides("from the editor").type("\r").ends(0)


# -- the end --

@test
def who_looks_back_stays_when_the_session_ends():
    with Recorder(AHR) as a:
        view = record(a).type(PREFIX + "v", "g").shows("row 1 of many", 0)
        View(a, "attach").shows("ready").type("3\r").ends(0)
        view.shows("exit 3").shows("row 1 of many", 0)
        view.type("i", "do that again\x13").shows("instruction noted")
        noted, = lines_of(a, "instructions", a.session())
        assert noted["text"] == "do that again", noted
        view.shows('"do that again"').type("q").ends(3)


@test
def who_looks_back_stays_when_the_host_is_killed():
    with Recorder(AHR) as a:
        view = record(a).type(PREFIX + "v", "g").shows("row 1 of many", 0)
        kill(a.host(view.client.pid))
        view.shows("the recorder has vanished").type("G").shows("ready").type("q").ends(1)
        a.ok("recover", "--all")


@test
def a_signal_ends_it_as_ever():
    with Recorder(AHR) as a:
        view = record(a).type(PREFIX + "v").shows("line 61 of")
        os.kill(view.client.pid, signal.SIGTERM)
        view.shows("SIGTERM").type("q")
        view.client.wait(60)
        assert a.meta()["status"] == "aborted"


# -- how it is chosen --

@test
def without_a_terminal_there_is_no_viewer():
    with Recorder(AHR) as a:
        assert "must be a terminal" in a.fails(2, "record", "--view", "on", "--", "true")
        assert b"\x1b" not in a.ok("record", "-q", "--view", "auto", "--", "echo", "text")


@test
def a_terminal_that_is_too_small_is_not_taken_by_itself():
    with Recorder(AHR) as a:
        for cols, rows, is_viewed in ((40, 10, True), (39, 10, False), (40, 9, False)):
            terminal = a.terminal(cols, rows)
            client = a.on(terminal, "record", "-q", "--view", "auto", "--", "echo", "text", stderr=a.log())
            a.ends(client, 0)
            assert (b"\x1b[?1049h" in terminal.settle()) == is_viewed


@test
def a_terminal_that_cannot_draw_is_not_taken_by_itself():
    with Recorder(AHR) as a:
        for view, is_viewed in (("auto", False), ("on", True)):
            terminal = a.terminal()
            client = a.on(terminal, "record", "-q", "--view", view, "--", "echo", "text", env={"TERM": "dumb"},
                          stderr=a.log())
            a.ends(client, 0)
            assert (b"\x1b[?1049h" in terminal.settle()) == is_viewed


run()
