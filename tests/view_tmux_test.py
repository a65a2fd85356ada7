#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_tmux_test.py -- the viewer on sessions that go on, in windows of tmux: the picture, the prefix, sizes, the end.

usage: view_tmux_test.py AHR [--sanitized]

Each scenario is played on recorded, attached and watched sessions, in windows of three sizes. A full disk needs root,
and is mounted where nobody else sees it.
"""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import actor
from support.mounts import mounted, own_mounts
from support.processes import wait_for
from support.recorder import IS_SANITIZED
from support.seats import LIVE, PREFIX, SIZES, Seat, Theatre, scenarios
from support.tap import run, test

AHR = sys.argv[1]
THEATRE = Theatre(AHR)
scenario = scenarios(THEATRE)
WATCHED = *LIVE, "watch"
MANY = 12000 if IS_SANITIZED else 25000  # rows: more than the mirror has


def live(kinds=LIVE, sizes=SIZES):
    """Begins with the live picture."""
    return scenario(kinds, sizes, begins=lambda s: plain(s.return_to_live()))


def plain(s):
    """Nothing but the session's own screen is there, with its cursor."""
    want = [f"row {n} of many" for n in range(actor.ROWS + 2 - s.rows_n, actor.ROWS + 1)] + ["ready>"]
    return s.until(lambda: s.lines() == want and s.cursor() == (7, s.rows_n - 1), "the session's screen alone")


def pty_size(s):
    told = subprocess.run(["stty", "-F", (s.session.dir / "tty").read_text(), "size"], capture_output=True, text=True)
    return tuple(map(int, told.stdout.split()))[::-1]


# -- the prefix --

@live()
def the_status_line_is_there_while_the_prefix_is_held(s):
    before = s.session.typed()
    s.say(PREFIX).tells("● REC")
    if s.cols > 30:
        s.tells("2 snapshots").tells(s.session.name).tells("kB").tells("? help")
    assert s.lines()[-2] == f"row {actor.ROWS} of many"
    plain(s.say("x"))
    assert s.session.typed() == before


@live()
def the_prefix_twice_is_the_sessions(s):
    before = s.session.typed()
    plain(s.say(PREFIX + PREFIX)).until(lambda: s.session.typed() == before + PREFIX.encode(), "it is typed")
    s.say("a\x1b[Aé").until(lambda: s.session.typed() == before + (PREFIX + "a\x1b[Aé").encode(), "and so are others")


@scenario(["watch"])
def who_watches_types_nothing(s):
    before = s.session.typed()
    s.say("v").until(s.is_back, "review mode").say("q").until(lambda: not s.is_back(), "live").say("xyz")
    s.command("?").sees("look back").say("q").sees_not("look back")
    assert s.session.typed() == before


@live(WATCHED)
def v_and_bracket_look_back(s):
    for key in "v[":
        plain(s.command(key).tells(f"line {actor.ROWS + 1} of {actor.ROWS + 1}").say("q"))


@live(WATCHED)
def the_title_has_a_dot(s):
    s.until(lambda: s.ask("pane_title") == f"● {actor.TITLE}", "the title")


@live(WATCHED)
def the_help_is_shown(s):
    s.command("?").sees("look back", "q closes")
    if s.rows_n < 10:
        s.sees("↓ more").type("Down", "Down", "Down", "Down").sees("draw anew")
    plain(s.say("q"))


@live(WATCHED)
def r_draws_anew(s):
    plain(s.spoil().command("r"))


@live()
def a_snapshot_is_taken_with_a_label(s):
    count = len(s.session.lines("snapshots"))
    plain(s.command("s").tells("label:").say("half").type("Escape"))
    s.command("s").tells("label:").say("half way\r").tells("snapshot taken")
    mark = s.session.lines("snapshots")[count]
    assert (mark["label"], mark["kind"]) == ("half way", "manual") and mark["anchor_byte"] >= len(actor.text()), mark
    s.command("v").say("[").at(200).sees("◆").say("]").sees('"half way"')


# -- out of it --

@live()
def q_asks_and_may_be_taken_back(s):
    for key in ("c", "q", "Escape"):
        plain(s.command("q").tells("d detach").tells("c cancel").type(key))


@scenario(WATCHED)
def leaving_leaves_the_session(s):
    again = Seat(THEATRE, "watch" if s.kind == "watch" else "attach", s.cols, s.rows_n, s.session, name="-again")
    again.sees("ready>")
    for keys in ("d", "qd") if again.kind == "attach" else ("d", "q"):
        again.command(keys[0])
        if keys[1:]:
            again.tells("d detach").say(keys[1:])
        again.ends()
        assert again.ask("alternate_on") == "0" and s.session.folder().parent.name == "live"
        again = Seat(THEATRE, again.kind, s.cols, s.rows_n, s.session, name=f"-after-{keys}").sees("ready>")


def to_be_ended():
    """New seats, each with a session of its own, as these end; their own ones are left alone."""
    def made(function):
        def on_another(s):
            function(THEATRE.sit(s.kind, s.cols, s.rows_n))
        on_another.__name__ = function.__name__
        return scenario(LIVE)(on_another)
    return made


@to_be_ended()
def d_detaches_and_the_command_goes_on(s):
    s.command("d")
    assert "goes on" in (said := s.ends().replace("\n", "")), said
    assert s.session.folder().parent.name == "live"
    s.session.write("\r\nalive")
    Seat(THEATRE, "attach", s.cols, s.rows_n, s.session, name="-back").sees("alive")


@to_be_ended()
def q_stops_the_command_when_that_is_wanted(s):
    s.command("q").tells("s stop").say("s").ends(143 if s.kind == "record" else 0)
    wait_for(lambda: s.session.folder().parent.name == "sessions")


@scenario(WATCHED)
def who_looks_back_stays_until_q_when_the_session_ends(s):
    other = THEATRE.sit(s.kind, s.cols, s.rows_n).look_back()
    THEATRE.ahr.ok("send", other.session.name, "\x103", "--no-enter")
    other.tells("■ ended: exit 3; q leaves").at(1, 1).say("j").at(2, 2).say("q").ends(3 if s.kind == "record" else 0)
    assert other.ask("alternate_on") == "0"


# -- sizes --

@to_be_ended()
def a_session_follows_its_window(s):
    if s.kind == "attach":  # one that was begun with a size keeps it
        return
    for cols, rows in ((s.cols + 10, s.rows_n + 4), (s.cols - 5, s.rows_n - 2)):
        s.resize(cols, rows)
        s.until(lambda: pty_size(s) == (cols, rows), f"{cols}x{rows}").sees("ready>")
        s.say(PREFIX).tells("● REC").say("x").until(lambda: "REC" not in s.screen(), "no status line")


@scenario(WATCHED)
def a_smaller_session_is_framed_in_the_middle(s):
    other = THEATRE.sit(s.kind, s.cols, s.rows_n, size=(20, 4))
    left, top = (s.cols - 20) // 2, (s.rows_n - 4) // 2

    def is_framed():
        lines = other.lines()
        return (lines[top - 1][left - 1:] == f"┌─ {actor.TITLE} " + "─" * (20 - 3 - len(actor.TITLE)) + "┐" and
                lines[top + 3][left - 1:] == "│ready>" + " " * 14 + "│" and other.cursor() == (left + 7, top + 3) and
                lines[top + 4][left - 1:].startswith("└" + "─" * 20))
    other.until(is_framed, f"a frame at {left}, {top}")
    assert pty_size(other) == (20, 4)
    other.look_back()


@scenario(WATCHED)
def a_larger_session_is_cut_and_its_part_is_moved(s):
    other = THEATRE.sit(s.kind, s.cols, s.rows_n, size=(200, 60))
    other.session.write("\r\n\033[190Gfar away\033[H\033[9C")  # the cursor is at the top left
    other.until(lambda: other.numbers()[0] == actor.ROWS + 2 - 60 + 1 and other.cursor() == (9, 0), "the top")
    rows = s.rows_n - 1
    other.command("\x1b[B").until(lambda: other.numbers()[0] == actor.ROWS + 3 - 60 + (rows + 1) // 2, "half of it")
    for _ in range(20):
        other.command("\x1b[B").command("\x1b[C")
    other.sees("far away").say(PREFIX).tells("of 200x60").say("x")
    for _ in range(20):
        other.command("\x1b[A").command("\x1b[D")
    other.until(lambda: other.numbers()[0] == actor.ROWS + 3 - 60, "the top left again")
    if s.kind != "watch":
        for _ in range(20):
            other.command("\x1b[B")
        other.sees_not(f"row {actor.ROWS + 3 - 60} ").say("t")
        other.until(lambda: other.numbers()[0] == actor.ROWS + 3 - 60, "where it is typed")


@scenario(["attach", "watch"])
def a_window_of_another_size_leaves_the_session_as_it_is(s):
    other = Seat(THEATRE, s.kind, s.cols, s.rows_n, s.session, name="-resized").sees("ready>")
    other.resize(s.cols + 20, s.rows_n + 6)
    other.until(lambda: other.lines()[2].startswith(" " * 9 + "┌") and other.cursor() == (17, 2 + s.rows_n), "a frame")
    other.resize(s.cols - 10, s.rows_n - 3)
    other.until(lambda: other.lines()[-1] == "ready>" and other.cursor() == (7, s.rows_n - 4), "a part of it")
    assert pty_size(s) == (s.cols, s.rows_n)
    other.close()


# -- before it came --

@test
def who_comes_late_gets_all_rows():
    session = THEATRE.open().session(MANY)
    session.begin(80, 24)
    seats = [Seat(THEATRE, kind, *size, session, name=f"-{size[0]}") for kind in ("attach", "watch") for size in SIZES]
    for seat in seats:
        seat.sees("ready>").command("v").until(seat.is_back, "review mode").say("g")
    for seat in seats:
        seat.at(1, 1).tells(f"line 1 of {MANY + 1}").say("/row 9999\r").at(9999).say("q")
    THEATRE.ahr.ok("stop", session.name)


# -- trouble --

@test
def a_full_disk_is_told_loudly():
    theatre = Theatre(AHR)
    theatre.ahr.__enter__()
    try:
        with mounted(theatre.ahr.home, "-t", "tmpfs", "-o", "size=32m", "tmpfs"):
            try:
                is_told(theatre)
            finally:
                theatre.clear()
    finally:
        theatre.close()


LOUD = re.compile(r"\x1b\[41m[^\x1b]*No space")


def is_told(theatre):
    theatre.open()
    seats = [theatre.sit("record", *size) for size in SIZES]
    late = Seat(theatre, "attach", *SIZES[0], seats[0].session).sees("ready>")
    with open(theatre.ahr.home / "filler", "wb", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(1 << 16)):
            pass
    for seat in (*seats, late):
        seat.session.write("more " * 20000)
    for seat in (*seats, late):
        seat.tells("No space left on dev").until(lambda: LOUD.search(seat.looks()[-1]), lambda: seat.looks()[-1])
        seat.say(PREFIX + "r").until(lambda: "No space" not in seat.screen(), "it is hidden")


own_mounts()
try:
    run()
finally:
    THEATRE.close()
