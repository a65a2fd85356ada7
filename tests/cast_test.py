#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cast_test.py -- recordings as asciicasts: read by a reader of our own, played by asciinema, and
imported again. usage: cast_test.py AHR [--sanitized]"""

import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.foreign import COLS, ROWS, Foreign
from support.recorder import Recorder, records
from support.tap import run, test
from support.tmux import Tmux

AHR = sys.argv[1]
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
# What is not to be seen, but for the newline between events.
UNSEEN = {*range(0x00, 0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
          *range(0x2066, 0x206a), 0xfeff, *range(0xfff9, 0xfffc)} - {ord("\n")}


class Cast:
    """An asciicast of version 2 or 3, read by its definition: a header, then events with the
    time at which they come."""

    def __init__(self, data):
        text = data.decode()
        assert text.endswith("\n") and not UNSEEN & set(map(ord, text))
        head, *lines = text[:-1].split("\n")
        self.head = json.loads(head)
        self.version = self.head["version"]
        assert self.version in (2, 3)
        size = self.head["term"] if self.version == 3 else self.head
        self.cols, self.rows = ((size["cols"], size["rows"]) if self.version == 3
                                else (size["width"], size["height"]))
        assert isinstance(self.head["timestamp"], int)
        self.events = list(self._events(lines))

    def _events(self, lines):
        now = 0  # microseconds
        for line in lines:
            when, code, text = json.loads(line, parse_float=str)
            assert line.startswith(f"[{when},") and isinstance(text, str), line
            whole, _, rest = when.partition(".")
            us = int(whole) * 10**6 + int(rest)
            assert len(rest) == 6 and us >= 0
            assert self.version == 3 or us >= now, "time goes back"
            now = now + us if self.version == 3 else us
            yield now, code, text

    def output(self):
        return "".join(text for _, code, text in self.events if code == "o").encode()


def recorded(a, *more):
    """A session of the program that draws, on a terminal."""
    tools = Foreign(a)
    terminal = a.terminal(COLS, ROWS)
    client = a.on(terminal, "record", "--", sys.executable, tools.draw, *more, stderr=a.log())
    if more:
        terminal.wait_for("ready")
        terminal.resize(100, 40)
    a.ends(client, 0)
    return tools


def exported(a, form, session="last", *more):
    return a.ok("export", session, "--format", form, *more)


# -- against asciinema --

@test
def asciinema_shows_what_we_show():
    with Recorder(AHR) as a, Tmux(a) as tmux:
        tools = recorded(a)
        tools.need("asciinema")
        (a.dir / "x.cast").write_bytes(exported(a, "cast"))
        size = ("--cols", COLS, "--rows", ROWS)
        shown = tools.asciinema_cat(a.dir / "x.cast")
        assert shown == a.ok("cat", "last")
        played = tools.asciinema_play(a.dir / "x.cast")
        for form in ("text", "ansi"):
            want = a.ok("render", "--scrollback", "--format", form, "last")
            for bytes_ in (shown, played):
                assert a.ok("render", "--scrollback", "--format", form, *size, "-",
                            input=bytes_) == want
        rows = tools.in_tmux(tmux, COLS, ROWS, "asciinema", "play", "-s", "1000", "-i", "0.001",
                             a.dir / "x.cast")
        assert rows == a.ok("render", "last").decode().splitlines()
        assert "underlined the end" in rows


# -- against a reader of our own --

@test
def both_versions_hold_the_session_event_by_event():
    with Recorder(AHR) as a:
        recorded(a, "resize")
        taped = records(a.session() / "session.ahr")
        facts = a.verify(a.session() / "session.ahr")
        start, end = int(facts["first_ts_ns"]), int(facts["last_ts_ns"])
        for form in ("cast", "cast3"):
            cast = Cast(exported(a, form))
            assert (cast.cols, cast.rows) == (COLS, ROWS)
            assert cast.head["timestamp"] == start // 10**9
            assert cast.head["ahr"] == {"masked": True}
            assert cast.output() == a.ok("cat", "last")
            assert [text for _, code, text in cast.events if code == "r"] == ["100x40"]
            assert len([1 for _, code, text in cast.events if code == "o" and text]) <= len(
                [1 for r in taped if r[0] == "data"])
            assert cast.events[-1][0] == (end - start) // 1000
            if form == "cast3":
                assert cast.events[-1][1:] == ("x", "0")


@test
def a_snapshot_is_a_marker_at_its_place():
    with Recorder(AHR) as a:
        done = a.run("record", "--", "sh", "-c",
                     f'printf one; "{a.binary}" snapshot --label "a \\"b\\"" >&2; printf two')
        assert done.returncode == 0, done
        for form in ("cast", "cast3"):
            events = [(code, text) for _, code, text in Cast(exported(a, form)).events]
            at = events.index(("m", 'a "b"'))
            assert "".join(text for code, text in events[:at] if code == "o") == "one"
            assert "".join(text for code, text in events[at:] if code == "o").endswith("two")


@test
def input_is_never_exported():
    with Recorder(AHR) as a:
        terminal = a.terminal()
        client = a.on(terminal, "record", "--input", "--", "sh", "-c",
                      "stty -echo; printf ready; read x; echo done", stderr=a.log())
        terminal.wait_for("ready")
        terminal.type("hunter2\r")
        a.ends(client, 0)
        assert any(r[0] == "input" for r in records(a.session() / "session.ahr"))
        for form in ("cast", "cast3"):
            assert b"hunter2" not in exported(a, form)


# -- characters --

def packed(a, data, name="x.ahr", *more):
    a.ok("pack", "--rate", "1000", "--cols", "80", "--rows", "24", "-o", name, *more, input=data)
    return name


@test
def characters_cut_by_records_come_whole():
    with Recorder(AHR) as a:
        rng = random.Random(5)
        text = "".join(rng.choice("aé中😀\x1b\r\n\t\"\\\u202e\u2028\x7f\x85\0") for _ in range(5000))
        packed(a, text.encode())
        for form in ("cast", "cast3"):
            assert Cast(exported(a, form, "x.ahr")).output() == text.encode()


@test
def bytes_that_are_no_text_become_marks_and_are_counted():
    with Recorder(AHR) as a:
        data = random.Random(6).randbytes(20000)
        packed(a, data)
        done = a.run("export", "x.ahr", "--format", "cast")
        assert done.returncode == 0, done
        assert Cast(done.stdout).output().decode() == data.decode("utf-8", "replace")
        assert b"U+FFFD" in done.stderr, done.stderr


# -- masks --

@test
def a_secret_is_masked_unless_that_is_turned_off():
    with Recorder(AHR) as a:
        text = f"export GITHUB_TOKEN={TOKEN}\r\nnext\r\n".encode()
        packed(a, text * 20)
        plain = a.ok("cat", "x.ahr")
        for form in ("cast", "cast3"):
            masked = Cast(exported(a, form, "x.ahr"))
            out = masked.output()
            assert TOKEN.encode() not in out and len(out) == len(plain)
            assert out.count(b"export GITHUB_TOKEN=****") == 20
            assert masked.head["ahr"] == {"masked": True}
            bare = Cast(exported(a, form, "x.ahr", "--no-redact"))
            assert bare.output() == plain
            assert bare.head["ahr"] == {"masked": False}
            assert "not masked" in bare.head["title"]
            assert [(t, c) for t, c, _ in masked.events] == [(t, c) for t, c, _ in bare.events]


# -- there and back --

@test
def what_is_exported_and_imported_is_the_same_bytes():
    with Recorder(AHR) as a:
        rng = random.Random(7)
        text = "".join(rng.choice(["word ", "é", "中文", "😀", "\x1b[3%dm" % rng.randrange(8), "\r\n",
                                   "\ragain", "\0", "\u202e", "\x9b", "\x7f"]) for _ in range(20000))
        packed(a, text.encode())
        facts = a.verify("x.ahr")
        for form in ("cast", "cast3"):
            (a.dir / form).write_bytes(exported(a, form, "x.ahr"))
            back = json.loads(a.ok("import", form, "--json"))
            assert a.ok("cat", back["id"]) == text.encode()
            again = a.verify(back["path"])
            took = int(facts["last_ts_ns"]) - int(facts["first_ts_ns"])
            assert int(again["last_ts_ns"]) - int(again["first_ts_ns"]) == took // 1000 * 1000
            for view in (("text",), ("json",)):
                assert a.ok("render", "--format", *view, back["id"]) == \
                    a.ok("render", "--format", *view, "x.ahr")
            assert Cast(exported(a, form, back["id"])).events == Cast((a.dir / form).read_bytes()).events


@test
def a_session_comes_back_with_its_snapshots_and_sizes():
    with Recorder(AHR) as a:
        recorded(a, "resize")
        a.ok("record", "--", "sh", "-c", f'printf one; "{a.binary}" snapshot --label here >&2; printf two')
        for session in a.names("sessions"):
            before = records(a.home / "sessions" / session / "session.ahr")
            for form in ("cast", "cast3"):
                (a.dir / form).write_bytes(exported(a, form, session))
                back = json.loads(a.ok("import", form, "--json"))
                after = records(back["path"])

                def shape(taped):
                    kept = [r for r in taped if r[0] in ("resize", "snapshot")]
                    return [(r[0], *(r[2:] if r[0] == "snapshot" else r[1:])) for r in kept]
                assert shape(after) == shape(before)
                assert a.ok("cat", back["id"]) == a.ok("cat", session)


# -- damage --

@test
def a_damaged_recording_is_exported_as_far_as_it_can_be_read():
    with Recorder(AHR) as a:
        lines = b"".join(b"line %d\r\n" % i for i in range(20000))
        packed(a, lines, "x.ahr", "--block-kib", "8")
        file = bytearray((a.dir / "x.ahr").read_bytes())
        file[len(file) // 2] ^= 1
        (a.dir / "x.ahr").write_bytes(file)
        for form in ("cast", "cast3"):
            done = a.run("export", "x.ahr", "--format", form)
            assert done.returncode == 4 and b"skipped" in done.stderr, done.stderr
            cast = Cast(done.stdout)
            told = [text for _, code, text in cast.events if code == "m"]
            assert len(told) == 1 and told[0].endswith("missing here: the recording is damaged")
            missing = int(told[0].split()[0])
            assert len(cast.output()) == len(lines) - missing and missing > 0


run()
