#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_same_test.py -- under the viewer a program looks as it does without: each runs in two windows of tmux.

usage: view_same_test.py AHR MOCK_AGENT [--sanitized]

In one of them it runs alone, in the other under `ahr record --view on`; a third one is attached to the latter.
Text, colours, attributes and the cursor must become the same, in every state that it is brought to.
"""

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import panes
from support.processes import describe, is_gone, wait_for
from support.recorder import Recorder
from support.tap import Skip, run, test
from support.tmux import Tmux, Window

AHR, AGENT = (str(Path(p).resolve()) for p in sys.argv[1:3])
FIXTURES = Path(__file__).resolve().parents[2] / "shared" / "fixtures" / "agents"
SIZES = (80, 24), (120, 40)
LOOKS = 10


class Stage:
    """The same program in all windows, each with a file of its own to say that it is there: "$0"."""

    def __init__(self, a, tmux, cols, rows, script, *args):
        self.a, self.tmux = a, tmux
        bare, viewed = (str(a.dir / name) for name in ("bare", "viewed"))
        for flag in (bare, viewed):
            Path(flag).unlink(missing_ok=True)
        command = ["sh", "-c", script]
        tmux.count += 1
        name = f"bare{tmux.count}"
        tmux.ok("new-session", "-d", "-x", str(cols), "-y", str(rows), "-s", name, *command, bare, *args)
        self.bare = Window(tmux, name)
        self.viewed = tmux.program(cols, rows, "record", "-q", "--view", "on", "--", *command, viewed, *args)
        self.also = tmux.program(cols, rows, "attach", a.live().name)
        self.flags = Path(bare), Path(viewed)

    def has_begun(self):
        """It has written all that it does by itself."""
        for flag in self.flags:
            wait_for(flag.exists, lambda: f"{flag} is not there: {self.viewed.screen()}")

    def type(self, *keys):
        for window in (self.bare, self.viewed):
            window.type(*keys)

    def is_same(self, row="", **how):
        """Soon they all show the same, with this text in it."""
        if row:
            wait_for(lambda: row in self.bare.screen(), lambda: f"{row!r} is not there: {self.bare.screen()}")
        for window in (self.viewed, self.also):
            def why(window=window):
                before, shown = panes.picture(self.bare, **how), panes.picture(window, **how)
                return panes.difference(before, shown) or panes.difference(before, panes.picture(self.bare, **how))
            wait_for(lambda: not why(), why)

    def rests(self):
        """Nobody draws any more: many looks in a row have seen the same."""
        looks = []

        def is_steady():
            looks.append(panes.picture(self.bare))
            return len(looks) > LOOKS and all(look == looks[-1] for look in looks[-LOOKS:])
        wait_for(is_steady, "it draws on and on")
        self.is_same()

    def close(self):
        """… with what was erased, and is to be seen by its colour alone."""
        self.rests()
        for window in (self.bare, self.viewed, self.also):
            panes.stretch(window)
        self.is_same(is_stretched=True)
        self.a.ok("stop", self.a.live().name)
        wait_for(lambda: not self.a.names("live"))
        for window in (self.viewed, self.also):
            wait_for(lambda pid=window.pid: is_gone(pid), lambda: f"they go on: {describe(self.a.processes())}")
        for window in (self.bare, self.viewed, self.also):
            self.tmux.ok("kill-session", "-t", window.target)


@contextmanager
def theatre(*tools):
    for tool in ("tmux", *tools):
        if not shutil.which(tool):
            raise Skip(f"there is no {tool}")
    with Recorder(AHR) as a:
        a.env.update(AHR_VIEW="on")
        with Tmux(a) as tmux:
            tmux.ok("new-session", "-d", "sleep", "1000")
            tmux.ok("set-option", "-g", "default-terminal", "tmux-256color")
            yield a, tmux


@contextmanager
def stage(a, tmux, size, script, *args):
    s = Stage(a, tmux, *size, script, *args)
    yield s
    s.close()


def plays(*bytes_):
    """A script that writes files to its terminal as they are, and is quiet then."""
    return 'stty raw -echo; cat "$@"; : >"$0"; exec sleep 1000', *bytes_


# -- what is written --

def sheet():
    """Every attribute and kind of colour, wide and joined characters, lines, a cursor at the edge."""
    rows = [b"\033[2J\033[H"]
    rows += [b"\033[%sm%s\033[m " % (code, code) for code in b"1 2 3 4 5 7 8 9 21 53 4:2 4:3 4:4 4:5 1;3;4 7;31".split()]
    rows += [b"\r\n"] + [b"\033[3%d;10%dm%d" % (n, 7 - n, n) for n in range(8)]
    rows += [b"\033[m\r\n"] + [b"\033[48;5;%dm " % n for n in range(0, 256, 5)]
    rows += [b"\033[m\r\n"] + [b"\033[38;2;%d;90;%dm#" % (n, 255 - n) for n in range(0, 256, 5)]
    rows += [b"\033[m\r\n\033[4;58;5;9mcoloured line\033[m \033[44mto the end\033[K\033[m\r\n"]
    rows += ["世界 e\u0301 \U0001f600 한글 ─│┌ …\r\n".encode(), b"\033(0lqqk tqqu x\033(B\r\n"]
    rows += [b"\033[?5l\033[7mreverse\033[K\033[27m\r\nover\rOV\033[5Cx\033[10G\033[1@\033[2P\r\n"]
    rows += [b"\033[3;8r\033[8;1H\nscrolled\033[r\033[12;1Htab\there\033[999;990Hcorner"]
    return b"".join(rows)


@test
def every_attribute_colour_and_width_is_the_same():
    with theatre() as (a, tmux):
        (a.dir / "sheet").write_bytes(sheet())
        for size in SIZES:
            with stage(a, tmux, size, *plays(str(a.dir / "sheet"))) as s:
                s.has_begun()
                s.is_same("coloured line")


@test
def a_hidden_cursor_is_hidden_and_one_at_the_edge_is_there():
    with theatre() as (a, tmux):
        (a.dir / "one").write_bytes(b"\033[?25lhidden\033[5;9H")
        (a.dir / "other").write_bytes(b"\033[?25h\033[2;999Hx")
        for name in ("one", "other"):
            with stage(a, tmux, SIZES[0], *plays(str(a.dir / name))) as s:
                s.has_begun()
                s.is_same()


@test
def an_agents_work_looks_the_same_at_its_end_and_in_the_middle_of_a_picture():
    script = '"$1" --no-wait --seed "$2" --steps 20 $3 2>&1; : >"$0"; exec sleep 1000'
    with theatre() as (a, tmux):
        for size in SIZES:
            for seed, more in (("1", ""), ("9", "--kill-self KILL"), ("4", "--kill-self SEGV")):
                with stage(a, tmux, size, f"exec 2>/dev/null; {script}", AGENT, seed, more) as s:
                    s.has_begun()
                    s.is_same()


@test
def a_real_agents_stream_looks_the_same():
    streams = sorted(FIXTURES.glob("*.raw"))
    if not streams:
        raise Skip(f"there is no {FIXTURES}")
    with theatre() as (a, tmux):
        for size in SIZES:
            for stream in streams:
                with stage(a, tmux, size, *plays(str(stream))) as s:
                    s.has_begun()
                    s.is_same()


# -- what is typed to --

@test
def vim_looks_the_same_in_all_its_modes():
    with theatre("vim") as (a, tmux):
        (a.dir / "sample.c").write_text("".join(
            f'/* {n} */\nint f{n}(void)\n{{\n\treturn {n}; // "世界"\n}}\n' for n in range(60)))
        for size in SIZES:
            with stage(a, tmux, size, 'exec vim -u NONE -i NONE -nN -c "syntax on" sample.c') as s:
                for keys, row in (((), "sample.c"), ((":set nu hls cul showmode", "Enter"), " 1 /*"),
                                  (("/return", "Enter", "n"), "/return"), (("V", "j", "j"), "VISUAL LINE"),
                                  (("Escape", "o", "new 世界 text"), "INSERT"), (("Escape", ":silent undo", "Enter"), ""),
                                  ((":vsplit", "Enter"), ""), (("C-f",), ""), ((":echo 'half"), ":echo 'half")):
                    s.type(*([keys] if isinstance(keys, str) else keys))
                    s.is_same(row)


@test
def less_looks_the_same_wherever_it_is():
    with theatre("less") as (a, tmux):
        (a.dir / "text").write_bytes(b"".join(b"\033[3%dmline %d\033[m %s\n" % (n % 8, n, b"word " * (n % 40))
                                              for n in range(300)))
        for size in SIZES:
            with stage(a, tmux, size, "exec less -R text") as s:
                for keys, row in (((), "line 1"), (("/line 77", "Enter"), "line 77"), (("G",), "line 299"),
                                  (("-", "N", "Enter"), "299"), (("-", "S", "Enter"), ""), (("g",), "line 0"), (("/half",), "/half")):
                    s.type(*keys)
                    s.is_same(row)


HTOPRC = """htop_version=3.2.2
config_reader_min_version=3
fields=0 48 2 1
hide_kernel_threads=1
header_layout=two_50_50
column_meters_0=Hostname
column_meter_modes_0=2
column_meters_1=System
column_meter_modes_1=2
tree_view=0
sort_key=0
color_scheme=0
enable_mouse=1
delay=600
"""  # what changes by itself is not among the columns and meters


@test
def htop_looks_the_same_with_its_menus():
    with theatre("htop") as (a, tmux):
        for size in SIZES:
            sleeper = subprocess.Popen(["sleep", "1000"])
            try:
                (a.dir / "htoprc").write_text(HTOPRC)
                with stage(a, tmux, size, 'cp htoprc "$0".rc; HTOPRC="$0".rc exec htop -d 600 -p "$1"',
                           str(sleeper.pid)) as s:
                    for keys, row in (((), "sleep 1000"), (("F1",), "htop"), (("q",), "sleep 1000"), (("F2",), "Categories"),
                                      (("Down", "Down"), ""), (("Escape",), "sleep 1000"), (("/", "sle"), "sle")):
                        s.type(*keys)
                        s.is_same(row)
            finally:
                sleeper.kill()
                sleeper.wait()


run()
