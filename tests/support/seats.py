# SPDX-License-Identifier: MIT
"""seats.py -- the viewer in windows of tmux: on live, attached, watched and finished sessions, at all sizes.

    @scenario(KINDS, begins=in_review)
    def j_goes_a_line_on(s):
        s.type("j").at(2)

A scenario is one test; it is played on all seats that it is for, at once. They are opened when they are first needed,
and are used for all scenarios of a program.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from support import actor
from support.processes import kill, wait_for
from support.recorder import Recorder
from support.sessions import Home, session_id
from support.tap import Skip, test
from support.tmux import SHELL, Program, Tmux

PREFIX, CTRL_ENTER = "\x1d", "\x1b[13;5u"
LIVE = "record", "attach"
KINDS = *LIVE, "watch", "view"
SIZES = (80, 24), (120, 40), (30, 8)
RATE = 20  # bytes a second, of finished sessions
ACTOR = Path(actor.__file__)


class Control(Tmux):
    """A server that is talked to by one connection: hundreds of commands a second."""

    def __enter__(self):
        super().ok("new-session", "-d", "-s", "hub", "sleep", "1000")
        self._lock = threading.Lock()
        self._talk = subprocess.Popen(
            ["tmux", "-S", self.socket, "-f", "/dev/null", "-C", "attach", "-t", "hub"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=self.ahr.env, cwd=self.ahr.dir, encoding="utf-8")
        self.ok("set-option", "-g", "default-terminal", "tmux-256color")
        self.ok("set-option", "-s", "set-clipboard", "on")
        return self

    def close(self):
        super().close()
        self._talk.communicate()

    def ok(self, *args):
        words = " ".join("'" + str(a).replace("'", "'\"'\"'") + "'" for a in args)
        with self._lock:
            self._talk.stdin.write(words + "\n")
            self._talk.stdin.flush()
            return self._answer(words)

    def _answer(self, words):
        lines, number = [], None
        for line in self._talk.stdout:
            kind, *rest = line.split(" ", 3)
            if number is None:
                number = rest[1] if kind == "%begin" and rest[2].strip() == "1" else None
            elif kind in ("%end", "%error") and rest[1] == number:
                assert kind == "%end", (words, lines)
                return "".join(lines)
            else:
                lines.append(line)
        raise AssertionError(f"tmux is gone: {words}")


class Seat(Program):
    """A window in which somebody looks at a session."""

    def __init__(self, theatre, kind, cols, rows, session, *options, name=""):
        self.theatre, self.kind, self.session = theatre, kind, session
        command = {"record": ("record", "--view", "on", *options, "--", *session.command()),
                   "attach": ("attach", *options, session.name), "watch": ("watch", *options, session.name),
                   "view": ("view", *options, session.name)}[kind]
        tmux, name = theatre.tmux, f"{kind}-{session.name}{name}"
        tmux.ok("new-session", "-d", "-x", cols, "-y", rows, "-s", name, "sh", "-c", SHELL, tmux.ahr.binary, name,
                *command)
        super().__init__(tmux, name, cols, rows)
        self.page = rows - 1

    def __repr__(self):
        return f"{self.kind} at {self.cols}x{self.rows_n}"

    # -- what is done --

    def type(self, *keys):
        """Names of keys for tmux."""
        super().type(*keys)
        return self

    def say(self, text):
        """Characters, and bytes of keys that tmux has no names for."""
        self.enter(text)
        return self

    def click(self, x, y, button=0):
        """At a column and row, from 0."""
        return self.say(f"\x1b[<{button};{x + 1};{y + 1}M\x1b[<{button};{x + 1};{y + 1}m")

    def command(self, key):
        """A key behind the prefix; a watcher needs none."""
        return self.say(key if self.kind == "watch" else PREFIX + key)

    def is_back(self):
        return self.bar().find("line ") >= 0

    def look_back(self):
        """Review mode, at the first line."""
        if not self.is_back():
            self.command("v")
        return self.say("g").at(1, 1)

    def return_to_live(self):
        if self.kind == "view" or not self.is_back():
            return self
        self.say("q")
        return self.until(lambda: not self.is_back(), "the live picture")

    def spoil(self):
        """Somebody else writes to the terminal."""
        with open(self.ask("pane_tty"), "wb", buffering=0) as tty:
            tty.write(b"\0337\033[2;2HGARBAGE\0338")
        return self.sees("GARBAGE")

    def edited(self):
        """What $EDITOR was given here."""
        path = self.tmux.ahr.dir / f"edited-{os.path.basename(self.ask('pane_tty'))}"
        wait_for(path.exists, lambda: f"nothing was edited: {self.screen()}")
        text = path.read_text()
        path.unlink()
        return text

    # -- what is seen --

    def lines(self):
        """All rows of the window."""
        lines = [line.rstrip() for line in self.tmux.ok("capture-pane", "-p", "-t", self.target).splitlines()]
        return lines + [""] * (self.rows_n - len(lines))

    def looks(self):
        """The same with sequences for colours and the like."""
        return self.tmux.ok("capture-pane", "-e", "-p", "-t", self.target).splitlines()

    def bar(self):
        return self.lines()[-1]

    def cursor(self):
        x, y = self.ask("cursor_x},#{cursor_y").split(",")
        return int(x), int(y)

    def until(self, condition, what=""):
        self.wait_until(condition, what)
        return self

    def sees(self, *texts):
        """All of them, whatever the row."""
        return self.until(lambda: all(text in self.screen() for text in texts), texts)

    def sees_not(self, text):
        return self.until(lambda: text not in self.screen(), f"not {text}")

    def tells(self, text):
        """In the status line."""
        return self.until(lambda: text in self.bar(), text)

    def tells_one(self, *texts):
        """A long text, or a shorter one where there is no room."""
        return self.until(lambda: any(text in self.bar() for text in texts), texts)

    def numbers(self):
        """The numbers of the actor's rows that are seen, by their row in the window."""
        found = (re.match(r"\W*(?:[\d:.]+ +\d+ │)?row (\d+) ", line) for line in self.lines())
        return [int(f[1]) if f else None for f in found]

    def at(self, line, top=None):
        """The cursor stands on this row of the actor's; that one is the first of the page."""
        def is_there():
            numbers, (_, y) = self.numbers(), self.cursor()
            return numbers[y] == line and top in (None, numbers[0])
        return self.until(is_there, f"at line {line} with {top} on top")


class Session:
    """Of the actor: to be recorded, or recorded, under a name."""

    def __init__(self, a, name, rows=actor.ROWS):
        self.ahr, self.name, self.rows, self.dir = a, name, rows, a.dir / f"of-{name}"
        self.dir.mkdir()

    def command(self):
        return sys.executable, "-S", ACTOR, self.dir, str(self.rows)

    def begin(self, cols, rows, *options):
        """In the background."""
        done = self.ahr.ok("record", "-q", "--background", "--cols", cols, "--rows", rows, "--name", self.name,
                           *options, "--", *self.command())
        self.is_ready()
        return done

    def is_ready(self):
        wait_for((self.dir / "tty").exists, lambda: f"{self.name} is not ready")
        return self

    def write(self, text):
        """The actor says it."""
        with open((self.dir / "tty").read_text(), "wb", buffering=0) as tty:
            tty.write(text if isinstance(text, bytes) else text.encode())

    def typed(self):
        """All that was typed to it."""
        return (self.dir / "typed").read_bytes()

    def folder(self):
        """Where its files are."""
        return wait_for(self._found, lambda: f"{self.name} is nowhere")

    def _found(self):
        for meta in self.ahr.home.glob("*/*/session.meta.json"):
            with suppress(OSError, ValueError):  # it is being moved, or another one being made
                if json.loads(meta.read_text()).get("name") == self.name:
                    return meta.parent
        return None

    def lines(self, kind):
        path = self.folder() / f"session.{kind}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Theatre:
    def __init__(self, binary):
        self.ahr, self.tmux, self.seats, self._lock = Recorder(binary), None, {}, threading.Lock()
        self.count = 0

    def open(self):
        if not shutil.which("tmux"):
            raise Skip("there is no tmux")
        if not self.tmux:
            if not hasattr(self.ahr, "home"):
                self.ahr.__enter__()
            self.ahr.env.update(EDITOR=str(self._editor()))
            self.tmux = Control(self.ahr).__enter__()
        return self

    def clear(self):
        """Nobody is left."""
        if self.tmux:
            self.tmux.close()
        self.tmux = None
        for pid in self.ahr.processes():
            kill(pid)
        wait_for(lambda: not self.ahr.processes())

    def close(self):
        if hasattr(self.ahr, "home"):
            self.clear()
            self.ahr.__exit__(SystemExit)

    def _editor(self):
        """One that keeps what it is given, by its terminal, and writes a line behind it."""
        path = self.ahr.dir / "editor"
        path.write_text('#!/bin/sh\nfor file; do :; done\nto=edited-$(basename "$(tty)")\n'
                        'cp "$file" $to.new && echo "and more" >>"$file" && mv $to.new $to\n')
        path.chmod(0o755)
        return path

    def session(self, rows=actor.ROWS):
        with self._lock:
            self.count += 1
            return Session(self.ahr, f"s{self.count}", rows)

    def finished(self, cols, rows, text=None):
        """One that was recorded before, slowly."""
        session, home = self.session(), Home(self.ahr)
        home.dir, day = self.ahr.home, session_id("2026-05-28", "a")
        sid = day[:-6] + f"{int(session.name[1:]):06}"
        folder = home.folder("sessions", sid)
        self.ahr.ok("pack", "--cols", cols, "--rows", rows, "--rate", RATE, "-o", folder / "session.ahr",
                    input=text or actor.text())
        home.write_meta(folder, sid, status="completed", startedAtNs=1, name=session.name, cols=cols, rows=rows)
        (folder / "session.snapshots.jsonl").write_text("".join(
            json.dumps({"id": i, "ts_ns": n, "label": label, "kind": "manual",
                        "anchor_byte": len(actor.text().split(actor.row(n + 1))[0])}) + "\n"
            for n, (i, label) in actor.SNAPSHOTS.items()))
        return session

    def sit(self, kind, cols, rows, size=None):
        """A new seat, with a session of its own, of another size perhaps."""
        options = ("--cols", size[0], "--rows", size[1]) if size else ()
        if kind == "view":
            return Seat(self, kind, cols, rows, self.finished(*(size or (cols, rows)))).sees("ready>")
        session = self.session()
        if kind == "record":
            seat = Seat(self, kind, cols, rows, session, "--name", session.name, *options)
            session.is_ready()
        else:
            session.begin(*(size or (cols, rows)))
            seat = Seat(self, kind, cols, rows, session)
        return seat.sees("ready>")

    def seat(self, kind, size):
        """The one that is used for all."""
        if (kind, size) not in self.seats:
            self.seats[kind, size] = self.sit(kind, *size)
        return self.seats[kind, size]


def scenarios(theatre):
    """What makes a test of a function that is played on seats."""
    pool = ThreadPoolExecutor(len(KINDS) * len(SIZES))

    def scenario(kinds=KINDS, sizes=SIZES, begins=None):
        def made(function):
            def play(kind, size):
                seat = theatre.seat(kind, size)
                try:
                    if begins:
                        begins(seat)
                    function(seat)
                except Exception as why:
                    theatre.seats.pop((kind, size))  # whatever it is like now, others get a new one
                    raise AssertionError(f"{seat}: {str(why) or repr(why)}") from why

            def played():
                theatre.open()
                todo = [pool.submit(play, kind, size) for kind in kinds for size in sizes]
                failed = [f.exception() for f in todo if f.exception()]
                for why in failed[1:]:
                    print(f"# {str(why).splitlines()[0]}")
                if failed:
                    raise failed[0]
            played.__name__ = function.__name__
            return test(played)
        return made
    return scenario
