#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_live_test.py -- the viewer on a live session: lines from before it came, what it is asked for, the end.

usage: view_live_test.py AHR [--sanitized]
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tty
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import outer
from support.mounts import mounted, own_mounts
from support.processes import kill, state, wait_for
from support.recorder import IS_SANITIZED, Recorder
from support.tap import run, test, test_meanwhile

AHR = sys.argv[1]
own_mounts()
LINES = 15000 if IS_SANITIZED else 30000  # more than the mirror has
PREFIX = "\x1d"
WIDE = "row %.0f of many " + "x" * 60
MANY = 220000 if IS_SANITIZED else 300000  # more than 16 MiB of them: not all are read again at once
TALK = "seq -f 'row %.0f of many' {}; printf 'ready '; read x; exit ${{x:-0}}"


class View:
    """A client on a terminal of its own."""

    def __init__(self, a, *args, is_first=False, **more):
        self.a, self.terminal = a, a.terminal()
        if not is_first:
            a.has_recorded()
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


@test
def lines_from_before_come_while_others_pour_in():
    with Recorder(AHR) as a:
        # Never at rest, but far from what a model keeps at most: the first line is still there when it is read.
        pour = "import time\nwhile print('and one more of these\\n' * 20, end='', flush=True) is None: time.sleep(0.001)"
        script = f"seq -f 'row %.0f of many' {LINES}; exec \"$@\""
        first = View(a, "record", "--view", "on", "--", "sh", "-c", script, "sh", sys.executable, "-c", pour)
        first.shows("and one more")
        late = View(a, "view", "last").type("g").shows("row 1 of many", 0)
        late.type("q", "q").ends(0)
        first.type("\x03")
        first.client.wait(60)


@test
def lines_from_before_come_although_the_session_ends():
    with Recorder(AHR) as a:
        first = View(a, "record", "--view", "on", "--", "sh", "-c", f"seq -f '{WIDE}' 60000; printf ready; read x")
        first.shows("ready")
        late = View(a, "view", "last")
        late.terminal.wait_for(b"\x1b[?1049h")
        kill(late.client.pid, signal.SIGSTOP)
        first.type("\r").ends(0)
        kill(late.client.pid, signal.SIGCONT)
        late.shows("exit 0").type("g").shows("row 1 of many", 0).type("q").ends(0)


# -- somebody else has the terminal --

class Job(View):
    """The same under a shell with job control."""

    def __init__(self, a, *words):
        self.a, self.terminal = a, a.terminal()
        self.shell = a.shell(self.terminal, "dash")
        self.before = self.terminal.stty()
        self.shell.type(f'"$AHR" {" ".join(words)}')

    def stops(self, keys=None):
        """By these keys, or by a signal; returns what it showed."""
        texts = self.timeless()
        if keys:
            self.type(keys)
        else:
            kill(self.shell.job("ahr"), signal.SIGTSTP)
        self.terminal.wait_for(self.shell.PROMPT)
        assert self.terminal.stty() == self.before
        assert outer.modes(self.terminal.settle()) == outer.Modes()
        return texts

    def timeless(self):
        return [re.sub(r"  \d+:\d\d  ", "  ", text) for text in self.texts()]

    def goes_on(self, texts=None):
        self.shell.type("fg")
        if texts:
            wait_for(lambda: self.timeless() == texts, lambda: f"{self.timeless()}, not {texts}")
        return self


@test_meanwhile
def it_stops_and_goes_on_with_the_same_picture():
    with Recorder(AHR) as a:
        a.env["AHR_DELIVER"] = "no"
        (a.dir / "talk").write_text(TALK.format(60))
        job = Job(a, "record", "--view", "on", "--", "sh", "talk").shows("ready")
        job.goes_on(job.stops())
        job.type(PREFIX + "v", "k").shows("line 60 of")
        job.goes_on(job.stops("\x1a"))
        job.goes_on(job.stops())
        job.type("?row 12 ").shows("?row 12")
        job.goes_on(job.stops()).type("\r").shows("row 12 of many")
        job.type("i", "text of mine").shows("text of mine")
        job.goes_on(job.stops()).type(", and more").shows("text of mine, and more")
        job.type("\x13").shows("instruction noted").type("q")
        job.type(PREFIX + "s", "half").shows("label: half")
        job.goes_on(job.stops()).type(" way\r").shows("snapshot taken")
        job.type("\r")
        job.terminal.wait_for(job.shell.PROMPT)
        assert outer.modes(job.terminal.settle()) == outer.Modes()
        assert job.shell.leave() == 0
        assert [n["text"] for n in lines_of(a, "instructions", a.session())] == ["text of mine, and more"]
        assert [n["label"] for n in lines_of(a, "snapshots", a.session())] == ["half way"]


@test
def one_that_is_killed_while_it_is_stopped_leaves_the_terminal_alone():
    with Recorder(AHR) as a:
        view = record(a)
        a.host(view.client.pid)
        kill(view.client.pid, signal.SIGTSTP)
        wait_for(lambda: state(view.client.pid) == "T")
        shown = view.terminal.settle()
        kill(view.client.pid)
        wait_for(lambda: "the client has vanished" in (a.live() / "host.log").read_text())
        assert view.terminal.settle() == shown
        view.client.wait(60)
        a.ok("stop", "last")


@test
def one_that_is_killed_leaves_no_mode_and_sets_none():
    with Recorder(AHR) as a:
        view = record(a)
        kill(view.client.pid)
        view.terminal.wait_for(b"\x1b[23;0t")
        assert outer.modes(view.terminal.settle()) == outer.Modes()
        assert view.terminal.stty() == view.before
        assert b"\x1b[?1007h" not in view.terminal.output
        a.ok("stop", "last")


@test_meanwhile
def what_came_while_it_was_stopped_is_all_there():
    with Recorder(AHR) as a:
        (a.dir / "talk").write_text(f"""seq -f '{WIDE}' 60; echo ready; until [ -e go ]; do sleep 0.02; done
            seq -f '{WIDE}' 61 {MANY}; touch gone; read x""")
        job = Job(a, "record", "--view", "on", "--", "sh", "talk").shows("ready")
        job.stops()
        (a.dir / "go").touch()
        wait_for((a.dir / "gone").exists)
        job.goes_on().shows(f"row {MANY} of many", 22)
        job.type(PREFIX + "v", "g").shows("row 1 of many", 0)
        for n in (60, 100, MANY // 3, MANY // 2):
            line = n if n <= 60 else n + 1
            job.type(f"{line}g").shows(f"row {n} of many", 0)
        job.type("G").shows(f"row {MANY} of many", 22).type("q", "\r")
        job.terminal.wait_for(job.shell.PROMPT)
        assert job.shell.leave() == 0


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
def an_instruction_that_the_session_does_not_survive_is_noted_once():
    with Recorder(AHR) as a:
        script = 'printf ready; read x; read pid <client; kill -STOP "$pid"; exit 7'
        view = View(a, "record", "--view", "on", "--deliver", "yes", "--", "sh", "-c", script).shows("ready")
        (a.dir / "client").write_text(f"{view.client.pid}\n")
        view.type(PREFIX + "i", "go\x13")
        wait_for(lambda: a.home.exists() and not a.names("live"))
        kill(view.client.pid, signal.SIGCONT)
        view.ends(7)
        noted, = lines_of(a, "instructions", a.session())
        assert (noted["text"], noted["delivered"]) == ("go", True), noted


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
def what_is_typed_behind_a_detach_is_not_the_sessions():
    with Recorder(AHR) as a:
        record(a).type(PREFIX + "d7\r").ends(0)
        View(a, "attach").shows("ready").type("3\r").ends(0)
        assert a.meta()["exitCode"] == 3


@test
def a_prefix_that_is_typed_before_there_is_a_picture_is_one():
    with Recorder(AHR) as a:
        terminal = a.terminal()
        tty.setraw(terminal.slave)
        terminal.type(PREFIX + "d")
        client = a.on(terminal, "record", "--view", "on", "--", "sh", "-c", TALK.format(5), stderr=a.log())
        a.ends(client, 0)
        View(a, "attach").shows("ready").type("3\n").ends(0)  # its terminal is raw, too
        assert a.meta()["exitCode"] == 3


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
        (a.dir / "tmp").mkdir()
        view = View(a, "record", "--view", "on", "--", "sh", "-c", TALK.format(5),
                    env={"EDITOR": str(editor), "TMPDIR": str(a.dir / "tmp")})
        view.shows("ready").type(PREFIX + "i", "text ", "\x05").shows("from the editor")
        view.type("\x05\x05")  # one after the other, with what the first has left
        wait_for(lambda: sum("from the editor" in row for row in view.texts()) == 3, lambda: view.texts())
        view.type("\x1b").shows("Esc again").type("\x1b").hides("from the editor").type("\r").ends(0)
        assert not os.listdir(a.dir / "tmp")


# -- trouble --

@test_meanwhile
def trouble_is_told_until_it_is_hidden():
    with Recorder(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
        trouble = "cannot write 'session.ahr': No space left on device"
        # What a mirror misses in a flood it has from the recording, where this one's end is not.
        script = "head -c 3000000 /dev/urandom | base64 -w 70; echo all of it; read x; echo ready; read x"
        view = View(a, "record", "--view", "on", "--", "sh", "-c", script, env={"AHR_HOME": str(a.dir / "disk/home")})
        view.shows("all of it").shows(trouble, 23).type("\r").shows("ready")
        view.type(PREFIX + "v", "k").hides("ready").shows(trouble, 23).type("q").shows("ready").shows(trouble, 23)
        view.type(PREFIX + "r").hides(trouble)
        a.env["AHR_HOME"] = str(a.dir / "disk/home")
        for how in ("attach", "watch"):  # it was told before they came
            View(a, how).shows("ready").shows(trouble, 23).type(PREFIX + "d").ends(0)
        view.type("\r")
        view.client.wait(60)
        assert "No space left on device" in a.said()


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
        view.ends(128 + signal.SIGTERM)
        assert a.meta()["status"] == "aborted"


@test
def a_terminal_that_is_slow_is_given_back_too():
    with Recorder(AHR) as a:
        a.ok("record", "--background", "--", "sh", "-c", "yes | cat -n", input=None, stdin=subprocess.DEVNULL)
        view = View(a, "attach").shows("y")
        view.terminal.pause()
        time.sleep(0.3)  # nothing more fits into it
        view.type(PREFIX + "d")
        time.sleep(0.1)
        view.terminal.resume()
        view.ends(0)
        a.ok("stop", "last")


@test
def nobody_looks_back_from_a_terminal_that_is_gone():
    for keys, shown in (("v", "line 61 of"), ("ihalf of it", "half of it"), ("s", "label:"), ("?", "q closes")):
        with Recorder(AHR) as a:
            view = record(a).type(PREFIX + keys).shows(shown)
            view.terminal.hang_up()
            a.ends(view.client, 128 + signal.SIGHUP)
            assert a.meta()["status"] == "aborted"


@test
def a_terminal_may_go_while_the_editor_has_it():
    with Recorder(AHR) as a:
        editor, running, go = (a.dir / name for name in ("editor", "running", "go"))
        editor.write_text(f'#!/bin/sh\n>"{running}"\nuntil [ -e "{go}" ]; do sleep 0.02; done\n')
        editor.chmod(0o755)
        a.env["EDITOR"] = str(editor)
        a.ok("record", "-q", "--", "echo", "text")
        for view, keys, status in ((View(a, "view", "last").shows("text"), "i", -signal.SIGHUP),
                                   (record(a), PREFIX + "i", 128 + signal.SIGHUP)):
            view.type(keys, "x\x05")
            wait_for(running.exists)
            view.terminal.hang_up()
            go.touch()
            a.ends(view.client, status)
            go.unlink()
            running.unlink()


@test
def a_signal_ends_the_editor_too():
    with Recorder(AHR) as a:
        editor, running = a.dir / "editor", a.dir / "running"
        editor.write_text(f'#!/bin/sh\nkill -TSTP 0\necho $$ >"{running}"\nexec sleep 1000\n')
        editor.chmod(0o755)
        a.env["EDITOR"] = str(editor)
        a.ok("record", "-q", "--", "echo", "text")
        for how, signo, status in (("view", signal.SIGTERM, -signal.SIGTERM), ("view", signal.SIGHUP, -signal.SIGHUP),
                                   ("record", signal.SIGTERM, 128 + signal.SIGTERM),
                                   ("record", signal.SIGHUP, 128 + signal.SIGHUP)):
            view = View(a, "view", "last").shows("text") if how == "view" else record(a)
            view.type("i" if how == "view" else PREFIX + "i", "x\x05")
            wait_for(lambda: running.exists() and running.read_text())
            os.kill(view.client.pid, signo)
            view.ends(status)
            pid = int(running.read_text())
            wait_for(lambda: state(pid) in (None, "Z"))
            running.unlink()


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


@test_meanwhile
def who_records_for_the_first_time_is_told_of_the_prefix():
    with Recorder(AHR) as a:
        for is_first in (True, False):
            view = View(a, "record", "--view", "on", "--prefix", "^a", "--", "sh", "-c", "echo up; read -r x",
                        is_first=is_first)
            view.shows("up")
            if is_first:
                view.shows("this is recorded; Ctrl-A then ? shows the keys", -1)
            view.hides("shows the keys")
            view.type("\r").ends(0)


run()
