#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_review_test.py -- looking back in windows of tmux: every key of review mode.

usage: view_review_test.py AHR [--sanitized]

Each scenario is played on a recorded, an attached, a watched and a finished session, in windows of three sizes.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import actor
from support.processes import wait_for
from support.seats import KINDS, RATE, Seat, Theatre, scenarios
from support.tap import run

THEATRE = Theatre(sys.argv[1])
scenario = scenarios(THEATRE)
LINES = [*(re.sub(r"\033\[\d*m", "", actor.row(n).decode()).strip() for n in range(1, actor.ROWS + 1)), "ready>"]
LAST = len(LINES)


def review(kinds=KINDS):
    """Begins with the first line on top, and at it."""
    return scenario(kinds, begins=Seat.look_back)


def at_end(s):
    return s.until(lambda: "ready>" in s.lines()[s.cursor()[1]], "the end")


# -- lines and pages --

@review()
def j_e_and_down_go_a_line_on(s):
    s.say("j").at(2, 2).say("e").at(3, 3).type("Down").at(4, 4).say("5j").at(9, 9)


@review()
def k_y_and_up_go_a_line_back(s):
    s.say("11g").at(11, 11).say("k").at(10, 10).say("y").at(9, 9).type("Up").at(8, 8).say("3k").at(5, 5)


@review()
def where_the_page_cannot_move_the_current_line_does(s):
    s.say("G")
    at_end(s).say("k").at(LAST - 1, LAST - s.page).say("j")
    at_end(s).say("g").at(1, 1).say("k").at(1, 1)


@review()
def space_f_ctrl_f_and_page_down_go_a_page_on(s):
    for key in (" ", "f", "\x06", "\x1b[6~"):
        s.say(key).at(1 + s.page, 1 + s.page).say("g").at(1, 1)
    s.say("5 ").at(6, 6)


@review()
def b_ctrl_b_and_page_up_go_a_page_back(s):
    start = 5 + s.page
    for key in ("b", "\x02", "\x1b[5~"):
        s.say(f"{start}g").at(start, start).say(key).at(5, 5)


@review()
def d_and_u_go_half_a_page_or_as_far_as_they_are_told(s):
    half = (s.page + 1) // 2
    s.say("d").at(1 + half, 1 + half).type("C-d").at(1 + 2 * half, 1 + 2 * half)
    s.say("u").at(1 + half, 1 + half).type("C-u").at(1, 1)
    s.say("4d").at(5, 5).say("d").at(9, 9).say("u").at(5, 5).say(f"{half}u").at(1, 1)


@review()
def z_and_w_go_a_page_and_say_how_long_that_is(s):
    s.say("z").at(1 + s.page, 1 + s.page).say("w").at(1, 1)
    s.say("7z").at(8, 8).say(" ").at(15, 15).say("w").at(8, 8).say(f"{s.page}w").at(1, 1)


@review()
def g_and_G_go_to_the_ends_and_to_numbers(s):
    s.say("G")
    at_end(s).tells(f"line {LAST} of {LAST}").say("150g").at(150, 150).say("50G").at(50, 50)
    s.say("g").at(1, 1).type("End")
    at_end(s).type("Home").at(1, 1).say(">")
    at_end(s).say("<").at(1, 1)


@review()
def percents_are_of_the_lines(s):
    for key in "%p":
        s.say(f"50{key}").at(1 + LAST // 2, 1 + LAST // 2).say(f"100{key}")
        at_end(s).say(key).at(1, 1)


@scenario(begins=Seat.look_back)
def arrows_show_the_rest_of_long_rows(s):
    text = b"\033[180Gfar away\r\n" + actor.PROMPT
    if s.kind == "view":
        other = Seat(THEATRE, s.kind, s.cols, s.rows_n, THEATRE.finished(200, 60, actor.text() + text)).sees("ready>")
    else:
        other = THEATRE.sit(s.kind, s.cols, s.rows_n, size=(200, 60))
        other.session.write(text)
        other.command("v").until(other.is_back, "review mode")
    other.say("G").sees_not("far away").type(*["Right"] * 20).sees("far away")
    other.type(*["Left"] * 20).sees("ready>").sees_not("far away").close()


@review()
def the_wheel_goes_three_lines(s):
    s.click(3, 2, 65).at(4, 4).click(3, 2, 65).at(7, 7).click(3, 2, 64).at(4, 4)


@review()
def a_line_has_its_colours(s):
    s.say("60g").at(60, 60).until(lambda: "\033[31mred" in s.looks()[0], "red")


# -- texts --

def lit(s, number, word):
    """Is the word in this line highlighted?"""
    row = s.numbers().index(number) if number in s.numbers() else 0
    return re.search(r"\033\[[\d;]*7m" + word, s.looks()[row])


@review()
def a_search_goes_on_while_it_is_typed(s):
    s.say("/need").tells("/need").until(lambda: lit(s, 123, "Need"), "need is lit")
    s.say("l").until(lambda: lit(s, 123, "Needl"), "needl is lit").type("Enter").at(123)
    s.say("n").at(222).until(lambda: lit(s, 222, "needl"), "it is lit").say("n").tells("not found").say("N").at(123)
    s.say("/xyzzy").tells_one("/xyzzy").type("Enter").tells("not found: xyzzy").at(123)


@review()
def a_capital_makes_a_search_exact(s):
    s.say("/Needle\r").at(123).say("n").tells("not found").at(123)


@review()
def a_question_mark_searches_back(s):
    s.say("G")
    at_end(s).say("?needle").tells("?needle").type("Enter").at(222).say("n").at(123).say("N").at(222)
    s.say("2?row 1\r").at(198)


@review()
def escape_ends_a_search_where_it_began(s):
    s.say("9g").at(9, 9).say("/needle").until(lambda: 123 in s.numbers(), "it").type("Escape").at(9, 9)


@review()
def escape_u_hides_highlights(s):
    s.say("/needle\r").at(123).until(lambda: lit(s, 123, "Needle"), "it is lit")
    s.say("\x1bu").until(lambda: not lit(s, 123, "Needle"), "it is not lit").at(123)
    s.say("\x1bu").until(lambda: lit(s, 123, "Needle"), "it is lit")


@review()
def an_ampersand_leaves_lines_with_a_text(s):
    s.say("&needle").tells("&needle").type("Enter")
    s.until(lambda: [n for n in s.numbers() if n] == [123, 222], "both lines alone")
    s.say("&\r").until(lambda: 124 in s.numbers() or 2 in s.numbers(), "all lines")
    s.say("&xyzzy\r").tells("not found: xyzzy")


# -- places --

@review()
def marks_are_gone_back_to(s):
    s.say("20g").at(20, 20).say("ma").tells("marked").say("200g").at(200).say("'a").at(20).say("''").at(200)
    s.type("C-x", "C-x").at(20).say("'b").tells("there is no mark b")


@review()
def brackets_go_to_snapshots(s):
    s.say("]").at(100).sees('"first"').say("]").at(200).sees('"second"')
    s.say("]").tells("no snapshot").say("[").at(100).say("[").tells("no snapshot").at(100)


@review()
def a_badge_tells_its_label_and_has_a_row_of_its_own(s):
    s.say("99g").at(99, 99)
    s.until(lambda: s.numbers()[:4] == [99, 100, None, 101] and '"first"' in s.lines()[2], "the badge")


@review()
def braces_go_by_minutes(s):
    s.say("}")
    if s.kind != "view":  # all came within one
        s.until(lambda: s.cursor()[1] > 0, "further down")
        at_end(s).say("{").at(1)
        return
    minute = 60 * RATE // len(actor.row(50))
    s.until(lambda: abs((s.numbers()[s.cursor()[1]] or 0) - minute) < 9, "a minute")
    s.say("{").until(lambda: (s.numbers()[s.cursor()[1]] or 9) < 3, "the minute before")


@review()
def at_goes_to_a_byte_or_a_time(s):
    start = actor.text().index(actor.row(50))
    s.say("@").tells("time or @byte").say(f"@{start + 5}\r").at(50)
    s.say("@0\r").at(1).say("@nonsense\r").tells("'nonsense' is no")
    if s.kind == "view":
        s.say("@1:00\r").until(lambda: (s.numbers()[s.cursor()[1]] or 0) > 60, "a minute later")


@review()
def an_equals_sign_tells_the_place(s):
    byte = actor.text().index(actor.row(7)) - 2
    s.say("5j").at(6, 6).say("=").tells(f"line 6 of {LAST} (1%)"[:s.cols - 2])
    if s.cols > 30:
        s.tells(f"byte {byte}, time 0:0")


@review()
def T_shows_when_a_line_was_written_and_where(s):
    byte = actor.text().index(actor.row(2)) - 2
    s.say("T").until(lambda: re.match(rf" +0:0\d\.\d +{byte} │row 1 ", s.lines()[0]), "the gutter").at(1, 1)
    s.say("T").until(lambda: s.lines()[0].startswith("row 1"), "no gutter")


# -- what leaves it --

@review()
def R_draws_anew(s):
    s.spoil().say("R").sees_not("GARBAGE").at(1, 1).spoil().type("C-l").sees_not("GARBAGE")


@review()
def s_saves_the_lines_and_asks_before_it_overwrites(s):
    path = s.tmux.ahr.dir / f"{s.kind}{s.cols}"
    s.say("s").tells("save as").say(path.name + "\r").tells(f"{LAST} lines saved")
    assert [line.rstrip() for line in path.read_text().splitlines()] == LINES
    path.write_text("mine")
    s.say(f"s{path.name}\r").tells_one("overwrite?", "exists:").say("n").tells("not saved")
    assert path.read_text() == "mine"
    s.say(f"s{path.name}\r").tells_one("overwrite?", "exists:").say("y").tells(f"{LAST} lines saved")
    assert len(path.read_text().splitlines()) == LAST
    s.say("s/nowhere/file\r").tells("cannot")


@review()
def v_opens_the_lines_in_the_editor(s):
    s.say("v")
    assert [line.rstrip() for line in s.edited().splitlines()] == LINES
    s.at(1, 1).say("j").at(2, 2)


@review()
def Y_copies_the_line(s):
    number = 20 + 4 * (KINDS.index(s.kind) + 1) + s.cols % 7
    s.say(f"{number}g").at(number).say("Y").tells("copied")
    wait_for(lambda: f"row {number} of many" in s.tmux.ok("list-buffers", "-F", "#{buffer_sample}").splitlines())


@review()
def h_shows_the_keys(s):
    s.say("h").sees("looking back", "a line (e y", "q closes")
    if s.rows_n < 24:
        s.sees("↓ more").say("j").sees_not("a line (e y").type("NPage", "NPage", "NPage", "NPage").sees_not("more")
    s.say("q").at(1, 1)


# -- out of it --

@scenario(("record", "attach", "watch"), begins=Seat.look_back)
def q_goes_back_to_the_live_picture(s):
    s.say("q").until(lambda: "ready>" in s.bar() and s.numbers()[-2] == LAST - 1, "the live picture")
    s.command("[").until(s.is_back, "review mode")
    at_end(s)


@scenario(("record", "attach", "watch"), begins=Seat.look_back)
def F_follows_what_comes(s):
    s.say("F").tells("follows")
    at_end(s).session.write("so\r\nit goes on")
    s.until(lambda: s.lines()[-3:-1] == ["ready> so", "it goes on"], "what came").say("g").at(1, 1)
    s.session.write("\r\nand on")
    s.tells(f"of {LAST + 2}").at(1, 1)


@scenario(["view"], begins=Seat.look_back)
def q_leaves_a_session_that_has_ended(s):
    s.say("q").ends()
    assert s.ask("alternate_on") == "0"


try:
    run()
finally:
    THEATRE.close()
