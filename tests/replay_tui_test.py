#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_tui_test.py -- `ahr replay` on terminals of tmux: pictures, keys, and what is left behind.

usage: replay_tui_test.py AHR GOLDEN_DIR [--sanitized]
"""

import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import state, wait_for
from support.recorder import Recorder
from support.tap import Skip, run, test
from support.tape import Tape
from support.tmux import Tmux

AHR, GOLDEN = sys.argv[1:3]
COLS, ROWS, RATE = 100, 30, 200  # of the recording: bytes a second

STATUS = re.compile(r"([▶⏸]) (?:(\d+):)?(\d+):(\d+)(?:\.(\d+))?")


def film():
    """Bytes like an agent's: colours, wide characters, a region drawn again and again; some 100 s."""
    lines = [b"\033[?2004h\033]0;a title\007"]
    for n in range(150):
        lines.append(b"\033[1;3%dmstep %d\033[m of \xe4\xb8\x96\xe7\x95\x8c, \033[48;2;%d;20;90mdone\033[m"
                     b" \033[4mline\033[24m %s\r\n" % (n % 8, n, n, b"x" * (n % 70)))
        if n % 10 == 5:
            lines.append(b"\033[?25l\033[5A\033[K\033[7mdrawn over at %d\033[m\033[5B\r\033[?25h" % n)
    return b"".join(lines)


FILM = film()


@contextmanager
def cinema(name="film.ahr", raw=FILM, **size):
    if not shutil.which("tmux"):
        raise Skip("there is no tmux")
    with Recorder(AHR) as a, Tmux(a) as tmux:
        pack(a, name, raw, **size)
        yield a, tmux


def pack(a, name, raw, cols=COLS, rows=ROWS, rate=RATE):
    a.ok("pack", "--cols", cols, "--rows", rows, "--rate", rate, "-o", name, input=raw)


class Seat:
    """A window in which a recording is played."""

    def __init__(self, tmux, cols, rows, *args):
        self.window = tmux.program(cols, rows, "replay", *args)
        self.window.wait_drawn()
        self.type, self.screen = self.window.type, self.window.screen
        self.until, self.shows = self.window.wait_until, self.window.shows

    def line(self):
        """The row with the status line."""
        return next((r for r in reversed(self.window.rows()) if STATUS.search(r)), "")

    def status(self):
        """Is it paused, and the time in s; None and -1 where there is no such line."""
        found = STATUS.search(self.line())
        if not found:
            return None, -1
        h, m, s, ms = (int(n or 0) for n in found.groups()[1:])
        return found[1] == "⏸", h * 3600 + m * 60 + s + ms / 1000

    def byte(self):
        """The byte that it tells; -1 where it tells none."""
        found = re.search(r"@(\d+)", self.line())
        return int(found[1]) if found else -1

    def last_row(self):
        return (self.window.rows() or [""])[-1]

    def is_at(self, seconds, within=0.0):
        """Waits until it is paused at that time."""
        def is_there():
            is_paused, time = self.status()
            return is_paused and abs(time - seconds) <= within
        self.until(is_there, f"paused at {seconds}")

    def paused(self):
        """Pauses it at its place."""
        self.type("Space")
        self.until(lambda: self.status()[0], "a pause")
        return self.status()[1]

    def picture(self):
        """The session's rows where they stand at the top left, with colours."""
        tmux = self.window.tmux
        seen = tmux.ok("capture-pane", "-epN", "-t", self.window.target).split("\n")[:ROWS]
        return tmux.ahr.ok("render", "--format", "ansi", "--cols", COLS, "--rows", ROWS, "-",
                           input="\r\n".join(seen).encode())

    def shows_truth(self):
        """What is shown is what was there at the byte that is told."""
        def sides():
            return self.picture(), truth(self.window.tmux.ahr, max(self.byte(), 0))
        wait_for(lambda: len(set(sides())) == 1, lambda: f"here, and there: {sides()}")

    def leaves(self, key="q"):
        self.type(key)
        assert "replay" not in self.window.ends(), "something is left"


def truth(a, byte):
    return a.ok("render", "--format", "ansi", "--cols", COLS, "--rows", ROWS, "-", input=FILM[:byte])


def rows_of(a, byte):
    return a.ok("render", "--cols", COLS, "--rows", ROWS, "-", input=FILM[:byte]).decode().split("\n")


def ended(seat):
    """Plays to the end."""
    seat.type("G")
    seat.until(lambda: seat.status()[0] and seat.byte() == len(FILM), "the end")


# -- pictures --


@test
def on_a_larger_terminal_it_stands_framed_in_the_middle():
    with cinema() as (a, tmux):
        seat = Seat(tmux, 120, 40, "film.ahr")
        seat.shows("step 1 ")
        ended(seat)
        rows = seat.window.screen("-N").split("\n")
        frame = next(n for n, row in enumerate(rows) if "┌" in row)
        assert frame == 3 and rows[3].startswith(" " * 9 + "┌─ "), rows[3]
        assert rows[3].rstrip().endswith("─┐") and rows[34].strip().startswith("└──"), rows
        assert STATUS.search(rows[35]), rows[35]
        inner = [row.strip()[1:-1].rstrip() for row in rows[4:34]]
        assert inner == [row.rstrip() for row in rows_of(a, len(FILM))[:ROWS]], inner
        seat.leaves()


@test
def with_two_more_rows_the_status_line_is_in_the_frame():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS + 2, ROWS + 2, "film.ahr")
        seat.until(lambda: re.fullmatch(r"└─ ▶ 0:0\d / .* q quit ─┘", seat.last_row()))
        assert seat.window.rows()[0].startswith("┌─ ")
        seat.leaves()


@test
def on_a_terminal_of_its_size_the_status_line_comes_and_goes():
    with cinema() as (a, tmux):
        seat = Seat(tmux, COLS, ROWS, "film.ahr", "--speed", "1000")
        seat.until(lambda: seat.status()[0], "the end")
        seat.leaves()
        seat = Seat(tmux, COLS, ROWS, "film.ahr")
        seat.shows("step 0 ")
        seat.until(lambda: not seat.line())
        seat.type("+")
        seat.until(lambda: "1.5×" in seat.line())
        seat.until(lambda: not seat.line())
        seat.type("9")
        seat.paused()
        seat.until(lambda: seat.last_row().startswith("step "), "the row that was covered")
        seat.leaves()


@test
def every_place_shows_what_was_there_backwards_too():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr")
        seat.paused()
        whole = (len(FILM) - 1) // RATE
        for key in "92741G36g805":
            seat.type(key)
            share = {"g": 0, "G": 10}.get(key) or int(key.replace("g", "0"))
            seat.is_at(share * whole / 10, within=2)
            seat.shows_truth()
        seat.leaves()


@test
def a_smaller_terminal_shows_a_window_and_says_so():
    with cinema() as (a, tmux):
        for cols, rows, note in ((80, 24, "100x30 shown as 80x23"), (30, 8, "30x7 of 100x30")):
            seat = Seat(tmux, cols, rows, "film.ahr", "--speed", "16")
            seat.shows("step 40 ")
            seat.until(lambda n=note: n in seat.line(), note)
            seat.type("G")
            seat.until(lambda: seat.status()[0], "the end")
            # The cursor is in the last row; two characters of each are wide.
            want = [row[:cols - 2].rstrip() for row in rows_of(a, len(FILM))[ROWS - rows + 1:ROWS]]
            seat.until(lambda: seat.window.rows()[:-1] == want, want)
            seat.leaves()


@test
def a_resized_terminal_is_drawn_anew_while_it_plays():
    with cinema() as (_, tmux):
        seat = Seat(tmux, 120, 40, "film.ahr", "--speed", "4")
        seat.shows("step 3 ")
        for cols, rows in ((80, 24), (COLS, ROWS + 1), (40, 5), (150, 50), (COLS, ROWS + 1)):
            seat.window.resize(cols, rows)
            seat.until(lambda c=cols, r=rows: is_laid_out(seat, c, r), f"{cols}x{rows}")
        seat.paused()
        seat.shows_truth()
        seat.leaves()


def is_laid_out(seat, cols, rows):
    screen = seat.window.screen("-N").split("\n")
    if cols < COLS:
        return STATUS.search(screen[-1]) is not None and "┌" not in seat.screen()
    has_frame = any("┌─ " in row for row in screen)
    return has_frame == (cols >= COLS + 2 and rows >= ROWS + 2)


@test
def on_the_smallest_terminals_nothing_breaks():
    with cinema() as (a, _):
        for cols, rows in ((1, 1), (2, 1), (1, 5), (3, 2), (10, 4), (5, 3)):
            t = a.terminal(cols, rows)
            client = a.on(t, "replay", "film.ahr", "--speed", "100")
            t.wait_for("\033[?1049h")
            t.type("?x/abc\r 5.+-[G/x\x03q")
            a.ends(client, 0)
            shown = t.settle()
            end = a.ok("render", "--cols", cols, "--rows", rows, "-", input=shown)
            assert end.strip() == b"", (cols, rows, end)


# -- keys --


@test
def keys_go_by_seconds_minutes_and_pictures():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr")
        seat.paused()
        seat.type("g")
        seat.is_at(0)
        for keys, at in ((("Right",), 5), (("Right", "Right"), 15), (("Left",), 10), (("}",), 70),
                         (("{",), 10), (("S-Right",), 70), (("S-Left",), 10), (("Left",) * 4, 0)):
            seat.type(*keys)
            seat.is_at(at)
        before = seat.byte()
        seat.type(".")
        seat.until(lambda: seat.byte() > before)
        seat.shows_truth()
        seat.type("Space")
        seat.until(lambda: seat.status()[0] is False, "it plays")
        seat.type(".")
        seat.until(lambda: seat.status()[0], "a step pauses")
        seat.leaves("C-c")


@test
def speed_goes_in_steps():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr")
        seat.paused()
        for key, speed in zip("+++++---------", ("1.5", "2", "4", "8", "16", "8", "4", "2", "1.5",
                                                 "1", "0.5", "0.25", "0.25", "0.25")):
            seat.type(key)
            seat.until(lambda s=speed: f" {s}× " in seat.line(), speed)
        seat.leaves()


@test
def a_text_is_found_in_time():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr")
        seat.shows("step 0 ")
        seat.type("/", "drown", "BSpace", "BSpace", "BSpace", "awn", "C-u", "drawn over at 4")
        seat.until(lambda: "/drawn over at 4" in seat.screen())
        seat.type("Enter")
        seat.until(lambda: seat.status()[0] and FILM[:seat.byte()].endswith(b"drawn over at 4"))
        place = seat.byte()
        seat.shows_truth()
        seat.type("n")
        seat.until(lambda: "not found after this" in seat.line())
        seat.type("G")
        seat.until(lambda: seat.byte() == len(FILM))
        seat.type("N")
        seat.until(lambda: seat.byte() == place)
        seat.type("/", "x")
        seat.until(lambda: seat.last_row() == "/x")
        seat.type("Escape")
        seat.until(lambda: seat.byte() == place, "the same place")
        seat.type("/", "never seen anywhere", "Enter")
        seat.until(lambda: "not found" in seat.line())
        seat.leaves()


@test
def snapshots_are_stations():
    with cinema() as (a, tmux):
        sid = a.ok("record", "--background", "--name", "stations", "--cols", COLS, "--rows", ROWS,
                   "--", "sh", "-c", "while read x; do echo \"got $x\"; done",
                   stdin=subprocess.DEVNULL, input=None).decode().strip()
        for name in ("one", "two", "three"):
            a.ok("send", sid, name)
            wait_for(lambda n=name: f"got {n}".encode() in a.run("cat", sid).stdout)
            a.ok("snapshot", "--label", f"after {name}", "--session", sid)
            a.ok("instruct", sid, f"beside {name}")  # no station, and in another file
        a.ok("stop", sid)
        seat = Seat(tmux, COLS, ROWS + 1, "stations")
        seat.until(lambda: seat.status()[0] and "◆ after three" in seat.line(), "the end")
        for key, label, last in (("[", "two", "two"), ("[", "one", "one"),
                                 ("[", None, "one"), ("]", "two", "two"), ("]", "three", "three"),
                                 ("]", None, "three")):
            seat.type(key)
            if label:
                seat.until(lambda n=label: f"◆ after {n}" in seat.line(), label)
            else:
                seat.until(lambda: "no snapshot" in seat.line())
            seat.until(lambda n=last: [row for row in seat.window.rows()
                                       if row.startswith("got")][-1:] == [f"got {n}"], last)
        seat.leaves()


@test
def help_is_a_key_away():
    with cinema() as (_, tmux):
        for key in "?h":
            seat = Seat(tmux, 80, 24, "film.ahr")
            seat.type(key)
            seat.shows("tenths of the whole")
            seat.type("q")
            seat.until(lambda: "tenths of the whole" not in seat.screen())
            seat.leaves()


@test
def at_the_end_it_stays_and_can_begin_again():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr", "--speed", "200")
        seat.until(lambda: seat.status()[0] and seat.byte() == len(FILM), "the end")
        seat.shows_truth()
        seat.type("Left")
        seat.until(lambda: 0 <= seat.byte() < len(FILM))
        seat.shows_truth()
        ended(seat)
        seat.type("Space")
        seat.until(lambda: seat.status()[0] is False, "it plays again")
        seat.leaves()


@test
def of_a_session_that_goes_on_the_end_says_so():
    with cinema() as (a, tmux):
        a.ok("record", "--background", "-q", "--name", "live", "--", "sh", "-c", "echo here; cat")
        wait_for(lambda: a.ok("cat", "live"))
        seat = Seat(tmux, 120, 40, "live", "--speed", "1000")
        seat.shows("still being recorded")
        seat.leaves()
        a.ok("stop", "live")


@test
def it_begins_and_pauses_where_it_is_told():
    with cinema() as (_, tmux):
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr", "--from", "20", "--to", "21", "--speed", "4")
        seat.is_at(21)
        seat.shows_truth()
        seat.type("Space")
        seat.until(lambda: seat.status()[1] > 22, "it goes on from there")
        seat.leaves()


@test
def paused_it_begins_with_the_picture_that_is_asked_for():
    place = FILM.index(b"drawn over at 45") + len(b"drawn over at 45")
    with cinema() as (_, tmux):
        for start, byte in ((("--from", f"@{place}"), place), ((), 0)):
            seat = Seat(tmux, COLS, ROWS + 1, "film.ahr", *start, "--paused", "--speed", "4")
            seat.until(lambda b=byte: seat.status()[0] and max(seat.byte(), 0) == b, "a pause")
            seat.shows_truth()
            seat.type("Space")
            seat.until(lambda b=byte: seat.status()[0] is False and seat.byte() > b, "it plays")
            seat.leaves()


@test
def what_is_missing_is_told():
    with cinema() as (_, tmux):
        seat = Seat(tmux, 100, 30, str(Path(GOLDEN).resolve() / "gap.ahr"), "--speed", "1000")
        seat.until(lambda: re.search(r"\d+ bytes were not recorded here", seat.screen()))
        seat.leaves()


# -- the terminal --


@test
def suspended_it_leaves_the_terminal_and_comes_back_to_its_place():
    with cinema() as (a, tmux):
        window = tmux.window(COLS, ROWS + 1)
        window.line(f"stty -a >before; {a.binary} replay film.ahr")
        window.wait_drawn()
        window.wait_until(lambda: "step 2 " in window.screen())
        window.type("C-z")
        window.wait_drawn(False)
        window.wait_until(lambda: "topped" in window.screen() and window.rows()[-1:] == ["$"])
        window.line("stty -a >between; echo he''re")
        window.wait_for("here")
        window.line("fg")
        window.wait_drawn()
        window.wait_until(lambda: "step 2 " in window.screen() and "here" not in window.screen())
        window.type("q")
        window.wait_until(lambda: window.rows()[-1:] == ["$"])
        window.line("stty -a >after; echo th''ere")
        window.wait_for("there")
        before = (a.dir / "before").read_text()
        assert before == (a.dir / "between").read_text() == (a.dir / "after").read_text()


@test
def whatever_ends_it_the_terminal_is_as_it_was():
    with cinema() as (a, _):
        for end in ("q", "\x03", signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            t = a.terminal(80, 24)
            before = t.stty()
            client = a.on(t, "replay", "film.ahr")
            t.wait_for("step 1")
            assert t.is_raw()
            if isinstance(end, str):
                t.type(end)
                a.ends(client, 0)
            else:
                client.send_signal(end)
                a.ends(client, -end)
            assert t.stty() == before
            shown = t.settle()
            assert shown.endswith(b"\033[?25h\033[?1007r\033[?1049l"), shown[-80:]
            assert a.ok("render", "-", input=shown).strip() == b""


@test
def a_terminal_that_takes_nothing_can_be_left():
    with cinema() as (a, _):
        t = a.terminal(COLS, ROWS)
        client = a.on(t, "replay", "film.ahr", "--speed", "50")
        t.wait_for("step 1")
        t.pause()
        wait_for(lambda: state(client.pid) == "S")
        client.send_signal(signal.SIGTERM)
        a.ends(client, -signal.SIGTERM)
        assert not t.is_raw()
        t.resume()


@test
def a_picture_that_is_never_whole_holds_nobody_up():
    with Recorder(AHR) as a:
        tape = Tape(80, 24).data(b"begun\033[?2026h" + b"x" * 200_000).wait(3_600_000)
        for n in range(3000):  # each lays out anew what has scrolled off
            tape.resize(2 + n % 2 * 298, 24).data(b"y")
        tape.end().write(a.dir / "storm.ahr")
        t = a.terminal(COLS, ROWS)
        client = a.on(t, "replay", "storm.ahr", "--from", "1")
        t.wait_for("xxxx")
        asked = time.monotonic()
        t.type(".")
        t.wait_for("⏸")
        client.send_signal(signal.SIGTERM)
        a.ends(client, -signal.SIGTERM)
        assert time.monotonic() - asked < 5 and not t.is_raw()


@test
def without_a_terminal_for_input_the_keys_are_those_of_the_controlling_one():
    with cinema() as (_, tmux):
        window = tmux.window(COLS, ROWS + 1)
        window.line(f"{tmux.ahr.binary} replay film.ahr </dev/null")
        window.wait_drawn()
        window.type("Space")
        window.wait_until(lambda: "⏸" in window.screen())
        window.type("q")
        window.wait_drawn(False)


@test
def nothing_of_the_recording_but_its_cells_reaches_the_terminal():
    evil = (b"\033]0;evil title\007\007\033[?1003h\033[?1006h\033[?1h\033[=31;1u\033]52;c;ZXZpbA==\007"
            b"\033[5n\033[c\033P$qm\033\\\033[?5h\033]8;;http://example.org\033\\link\033]8;;\033\\ fin\r\n")
    with cinema("evil.ahr", evil) as (a, _):
        t = a.terminal(COLS, ROWS)
        client = a.on(t, "replay", "evil.ahr", "--speed", "1000")
        t.wait_for("fin")
        t.type("q")
        a.ends(client, 0)
        shown = t.settle()
        for never in (b"evil", b"\007", b"1003h", b"1006h", b"?1h", b"=31", b"]52", b"ZXZ", b"[5n",
                      b"[c", b"\033P", b"?5h"):
            assert never not in shown, (never, shown)


@test
def without_colours_attributes_stay():
    with cinema() as (_, tmux):
        tmux.ahr.env["NO_COLOR"] = "1"
        seat = Seat(tmux, COLS, ROWS + 1, "film.ahr", "--from", "10")
        seat.shows("step 9 ")
        seen = seat.window.tmux.ok("capture-pane", "-ep", "-t", seat.window.target)
        assert not re.search(r"\033\[[0-9;:]*(?<![0-9])[34][0-8][;m]", seen), seen
        assert "\033[1m" in seen and "\033[4m" in seen, seen
        seat.leaves()


@test
def while_it_plays_all_of_it_becomes_near():
    with cinema("long.ahr", FILM * 300, rate=20) as (a, tmux):
        seat = Seat(tmux, 120, 40, "long.ahr")
        cache = Path(a.env["HOME"]) / ".cache/ahr/keyframes"
        wait_for(lambda: any(f.stat().st_size > 10000 for f in cache.glob("*") if f.suffix != ".new"),
                 "keyframes that nobody has asked for")
        assert not seat.status()[0], "it has been paused"
        seat.leaves()


@test
def what_stands_still_costs_next_to_nothing():
    with cinema() as (a, _):
        pack(a, "slow.ahr", b"x" * 100, rate=1)
        still, slow, other = (a.terminal(COLS, ROWS + 1) for _ in range(3))
        clients = [a.on(still, "replay", "film.ahr"), a.on(slow, "replay", "slow.ahr")]
        still.wait_for("step 1")
        still.type(" ")
        still.wait_for("⏸")
        slow.wait_for("x")
        wait_for(lambda: all(state(client.pid) == "S" for client in clients))
        before = [wakeups(client.pid) for client in clients]
        clients.append(a.on(other, "replay", "film.ahr", "--speed", "40"))  # some 2 s
        other.wait_for("⏸")
        paused, playing = (wakeups(c.pid) - n for c, n in zip(clients, before))
        assert paused < 3 and playing < 30, (paused, playing)
        for terminal, client in zip((still, slow, other), clients):
            terminal.type("q")
            a.ends(client, 0)


def wakeups(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])


run()
