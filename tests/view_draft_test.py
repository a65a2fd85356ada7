#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_draft_test.py -- instructions written in the viewer, in windows of tmux: the box, its keys, what comes of it.

usage: view_draft_test.py AHR [--sanitized]

Each scenario is played on recorded, attached and finished sessions, in windows of three sizes.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import actor
from support.processes import wait_for
from support.seats import CTRL_ENTER, LIVE, SIZES, Seat, Theatre, scenarios
from support.tap import run

THEATRE = Theatre(sys.argv[1])
scenario = scenarios(THEATRE)
SUBMIT, EDITOR, FIELDS = "\x13", "\x05", "anchor_byte delivered id row snapshot_id text ts_ns".split()
ALL = *LIVE, "view"


def line_50(s):
    s.look_back().say("50g").at(50, 50)


def title(s, text):
    """Of the box behind a line, as far as there is room for it."""
    return ("instruction " * (s.cols >= 40) + text)[:s.cols - 7]


def draft(kinds=ALL):
    """Begins with the box open behind line 50."""
    return scenario(kinds, begins=lambda s: (line_50(s), s.say("i").sees(title(s, "after line 50"))))


def written(s):
    """The lines of the box."""
    return [line[2:-2].rstrip() for line in s.lines() if line.startswith("│") and line.endswith("│")]


def has(s, *lines):
    return s.until(lambda: written(s) == list(lines), f"the box has {lines}")


def is_closed(s):
    return s.until(lambda: not any(line.startswith("└") for line in s.lines()), "no box")


def noted(s, text):
    """The instruction with this text, once it is there."""
    wait_for(lambda: any(line["text"] == text for line in s.session.lines("instructions")), lambda: s.screen())
    found = [line for line in s.session.lines("instructions") if line["text"] == text]
    assert len(found) == 1 and sorted(found[0]) == FIELDS, found
    return found[0]


# -- the box --

@draft()
def it_opens_behind_the_line_and_the_lines_that_follow_are_dim(s):
    has(s, "").until(lambda: s.lines()[0] == "row 50 of many" and s.lines()[1].startswith("┌"), "line and box")
    looks = s.looks()
    assert "\033[2m" not in looks[0] and not re.match(r"\033\[[\d;]*2m", looks[0]), looks[0]
    assert re.match(r"\033\[(\d;)*2(;\d)*mrow 51", looks[4]), looks[4]
    assert s.cursor() == (2, 2), s.cursor()
    s.type("Escape")
    is_closed(s).until(lambda: "\033[2m" not in s.looks()[1], "nothing is dim").at(50, 50)


@scenario(ALL, begins=line_50)
def enter_and_a_click_open_it_too(s):
    for number, key in ((50, "\r"), (53, "\x1b[<0;4;4M\x1b[<0;4;4m")):
        s.say(key).sees(title(s, f"after line {number}")).type("Escape")
        is_closed(s)


@scenario(ALL, begins=line_50)
def it_tells_the_nearest_snapshot(s):
    for line, snapshot in ((50, '"first", snapshot 1'), (149, '"first", snapshot 1'), (152, '"second", snapshot 2'),
                           (290, '"second", snapshot 2')):
        s.say(f"{line}g").at(line).say("i").sees(title(s, f"after line {line}, at {snapshot}"))
        s.type("Escape")
        is_closed(s)


@draft()
def keys_edit_several_lines(s):
    has(s.say("one two\rthree"), "one two", "three")
    has(s.type("Up", "Home").say("a "), "a one two", "three")
    has(s.type("Right", "Delete", "BSpace"), "a e two", "three")
    has(s.type("End", "C-w").say("2"), "a e 2", "three")
    has(s.type("C-a", "C-k").say("first"), "first", "three")
    has(s.type("Down", "C-u"), "first", "")
    has(s.type("C-z"), "first", "three")
    has(s.say("\x1b[200~ and\nmore\x1b[201~"), "first", "three and", "more")
    s.say(SUBMIT)
    is_closed(s)
    noted(s, "first\nthree and\nmore")


@draft()
def escape_gives_it_up_when_there_is_text_only_twice(s):
    has(s.say("no"), "no").type("Escape").sees("Esc again").say("t")
    has(s, "not").type("Escape").sees("Esc again").type("Escape")
    is_closed(s).at(50)
    assert not [line for line in s.session.lines("instructions") if "no" in line["text"]]


@draft()
def ctrl_e_opens_the_editor(s):
    s.say("begun" + EDITOR)
    assert (given := s.edited()) == "begun\n", given
    has(s, "begun", "and more").say(SUBMIT)
    is_closed(s)
    noted(s, "begun\nand more")


# -- what comes of it --

@draft()
def ctrl_s_submits_it_as_one_line(s):
    s.say("do it\rlike this" + SUBMIT).sees("✎")
    line = noted(s, "do it\nlike this")
    assert line["anchor_byte"] == actor.text().index(actor.row(51)) - 2, line
    assert (line["snapshot_id"], line["row"], line["delivered"]) == (1, 49, False), line
    assert line["id"] and line["ts_ns"], line


@draft()
def ctrl_enter_submits_it_too(s):
    is_closed(s.say("by enter" + CTRL_ENTER))
    noted(s, "by enter")


@scenario(ALL, begins=line_50)
def an_instruction_is_a_badge_that_is_gone_to(s):
    s.say("151g").at(151).say("ihere" + SUBMIT).sees('✎ "here"').say("120g").at(120)
    s.say("]").at(151).say("[").at(100)


@scenario(["watch"], begins=line_50)
def who_watches_gives_none(s):
    s.say("i").tells("a watcher only looks")
    assert not s.session.lines("instructions")


@scenario(["view"], begins=Seat.look_back)
def one_in_a_session_that_has_ended_is_in_library_and_reports(s):
    s.say("9g").at(9).say(f"iplover{s.cols}" + SUBMIT).sees("✎")
    a, name, count = s.tmux.ahr, s.session.name, len(s.session.lines("instructions"))
    assert (shown := json.loads(a.ok("show", "--json", name)))["instructions"] == count, (shown, count)
    for form in ("md", "html", "json"):
        assert f"plover{s.cols}".encode() in a.ok("export", "--format", form, name), form


# -- now --

def now(s, text):
    """Asks whether it is typed."""
    s.return_to_live().command("i").sees("instruction for now"[:s.cols - 7]).say(text + SUBMIT)
    return s.tells_one("type it to the agent now? y yes", "type it now?")


def is_typed(s, bytes_):
    s.until(lambda: s.session.typed().endswith(bytes_), lambda: s.session.typed())


@scenario(LIVE)
def y_types_it_to_the_agent(s):
    now(s, "go on").say("y").tells_one("instruction", "typed")
    is_typed(s, b"go on\r")
    line = noted(s, "go on")
    assert line["delivered"] is True and line["snapshot_id"] == 2, line
    assert line["anchor_byte"] >= len(actor.text()), line


@scenario(LIVE)
def n_only_notes_it(s):
    before = s.session.typed()
    now(s, "perhaps").say("n")
    assert noted(s, "perhaps")["delivered"] is False and s.session.typed() == before


@scenario(LIVE)
def escape_at_the_question_goes_back_to_the_text(s):
    now(s, "wait").type("Escape").until(lambda: written(s) == ["wait"], "the text").type("Escape", "Escape")
    s.until(lambda: "ready>" in s.screen() and not written(s), "the live picture")


@scenario(LIVE)
def several_lines_are_pasted_where_the_agent_wants_that(s):
    s.return_to_live().session.write("\033[?2004hpaste")
    s.sees("ready> paste")
    now(s, "one\rtwo").say("y")
    is_typed(s, b"\x1b[200~one\ntwo\x1b[201~\r")


@scenario(LIVE)
def Y_is_remembered(s):
    now(s, "always").say("Y")
    is_typed(s, b"always\r")
    wait_for(lambda: (THEATRE.ahr.home / ".deliver").read_text() == "yes\n")
    s.command("i").sees("instruction for now"[:s.cols - 7]).say("again" + SUBMIT)
    is_typed(s, b"again\r")


@scenario(["attach"], sizes=SIZES[:1])
def N_is_remembered_by_others_too(s):
    (THEATRE.ahr.home / ".deliver").unlink()
    for count in range(2):
        other = Seat(THEATRE, "attach", s.cols, s.rows_n, s.session, name=f"-{count}").sees("ready>")
        before = s.session.typed()
        if not count:
            now(other, "never0").say("N")
        else:
            other.command("i").sees("instruction for now").say("never1" + SUBMIT)
        assert noted(s, f"never{count}")["delivered"] is False and s.session.typed() == before
    assert (THEATRE.ahr.home / ".deliver").read_text() == "no\n"


try:
    run()
finally:
    THEATRE.close()
