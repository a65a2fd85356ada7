# SPDX-License-Identifier: MIT
"""tmux.py -- windows of tmux as users' terminals: their screens can be looked at.

    with Tmux(a) as tmux:
        window = tmux.window(80, 24)
        window.type("ls", "Enter")
        window.wait_for("README")
        with_vim = tmux.program(80, 24, "record", "--", "vim")
        with_vim.shows_session()
"""

import re
import shlex
import subprocess

from support.processes import children, command, describe, kill, open_files, wait_for, with_home

# tmux continues those of its own children that are stopped, and may forget how they ended.
SHELL = 'told=$1; shift; "$0" "$@"; echo $? >$told.new; mv $told.new $told; exec sleep 1000'


# What stands around a session on a larger terminal.
LINE = re.compile(r"(?: |\x1b\[[0-9;]*m)*[┌└]?─.*─[┐┘]?(?:\x1b\[m)?")
FRAMED = re.compile(r"(?: |\x1b\[[0-9;]*m)*│(?:\x1b\[m)?(.*?)(?:\x1b\[0;2m)?│(?:\x1b\[m)?")


def inside(rows):
    """The rows of a session, without the frame around it, and the blanks at their ends, of whatever colour."""
    lines = [at for at, row in enumerate(rows) if LINE.fullmatch(row)]
    if len(lines) > 1:
        rows = rows[lines[0] + 1:lines[-1]]
    framed = [found[1] for row in rows if (found := FRAMED.fullmatch(row))]
    rows = [re.sub(r" +((?:\x1b\[m)?)$", r"\1", row) for row in framed or rows]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def may_lose_terminals(ahr):
    """For tests that close the windows of living programs. SIGCONT comes with the SIGHUP then, and takes back
    the SIGSTOP by which LeakSanitizer stops the process that it looks through: both would wait for ever."""
    ahr.env["ASAN_OPTIONS"] = ahr.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


class Window:
    def __init__(self, tmux, name):
        self.tmux, self.target = tmux, f"={name}:"

    def type(self, *keys):
        """Keys by their names in tmux; other text as it is."""
        self.tmux.ok("send-keys", "-t", self.target, *keys)

    def line(self, text):
        self.type(text, "Enter")

    def ahr(self, *args):
        """Starts the program from the window's shell."""
        self.line(" ".join(shlex.quote(str(a)) for a in (self.tmux.ahr.binary, *args)))

    def screen(self, *more):
        return self.tmux.ok("capture-pane", "-p", *more, "-t", self.target).rstrip()

    def ask(self, what):
        return self.tmux.ok("display-message", "-p", "-t", self.target, f"#{{{what}}}").strip()

    def rows(self):
        return [row.rstrip() for row in self.screen().splitlines()]

    def session_rows(self):
        """Those of the session that it shows, without a frame around it."""
        return inside(self.rows())

    def wait_for(self, row):
        """Until one of its rows, or of its session's, is this text."""
        def is_there():
            rows = self.rows()
            return row in rows or row in inside(rows)
        return self.wait_until(is_there, row)

    def wait_until(self, condition, what=""):
        return wait_for(condition, lambda: f"{what() if callable(what) else repr(what)} is not there, but:\n"
                                           f"{self.screen()}")

    def wait_drawn(self, is_drawn=True):
        """Until the alternate screen is on, or not."""
        self.wait_until(lambda: self.ask("alternate_on") == str(int(is_drawn)), "a drawn screen")

    def client(self, name="ahr"):
        """The pid of the program that was started from the shell."""
        shell = self.ask("pane_pid")
        found = wait_for(lambda: subprocess.run(
            ["ps", "-o", "pid=,comm=", "--ppid", shell], capture_output=True, text=True,
            check=False).stdout.split())
        assert found[1] == name, found
        return int(found[0])


class Program(Window):
    """A window with our program in it, and nothing else."""

    def __init__(self, tmux, name, cols, rows):
        super().__init__(tmux, name)
        self.cols, self.rows_n, self._told = cols, rows, tmux.ahr.dir / name
        shell = int(self.ask("pane_pid"))
        self.pid = wait_for(lambda: children(shell), "the shell has started nobody")[0]

    def enter(self, text):
        """Types what tmux has no names for, too."""
        self.type("-H", *(f"{byte:x}" for byte in text.encode()))

    def resize(self, cols, rows):
        self.cols, self.rows_n = cols, rows
        self.tmux.ok("resize-window", "-t", self.target, "-x", str(cols), "-y", str(rows))

    def close(self):
        self.tmux.ok("kill-session", "-t", self.target)

    def kill(self, *number):
        kill(self.pid, *number)

    def shows(self, what):
        self.wait_until(lambda: what in self.screen(), what)

    def rendered(self):
        """What is seen, colours and all, as `ahr render` tells it."""
        seen = self.tmux.ok("capture-pane", "-epN", "-t", self.target).rstrip("\n")
        return self.tmux.ahr.ok("render", "--format", "ansi", "--cols", self.cols, "--rows",
                                self.rows_n, "-", input=seen.replace("\n", "\r\n").encode())

    def picture(self):
        """The same with the cursor."""
        return self.rendered(), *map(self.ask, ("cursor_x", "cursor_y", "cursor_flag"))

    def shows_session(self):
        """What the recording ends with is what is seen. For when nothing is written."""
        def sides():
            both = self.rendered(), self.tmux.ahr.ok("render", "--format", "ansi", "last")
            return [inside(side.decode().split("\n")) for side in both]
        wait_for(lambda: sides()[0] == sides()[1], lambda: f"here, and there: {sides()}")

    def ends(self, status=0):
        """Waits for the program's end; what the window shows then."""
        wait_for(self._told.exists, lambda: f"it goes on: {self.screen()}")
        have = int(self._told.read_text())
        assert have == status, (have, self.screen())
        return self.screen()

    def detaches(self):
        self.type("C-]", "d")
        assert "it goes on" in self.ends().replace("\n", "")


class Tmux:
    def __init__(self, ahr):
        self.ahr, self.socket, self.count = ahr, str(ahr.dir / "tmux"), 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self._let_go()
        self.close()

    def close(self):
        self.run("kill-server")

    def _let_go(self):
        """Who is just leaving has left before its terminal goes; see may_lose_terminals()."""
        here = set(self.run("list-panes", "-aF", "#{pane_tty}").stdout.split())
        leaving = lambda: [p for p in with_home(self.ahr.env["HOME"]) if command(p) == "ahr" and here & open_files(p)]
        if "detect_leaks=0" not in self.ahr.env.get("ASAN_OPTIONS", ""):
            wait_for(lambda: not leaving(), lambda: f"still on a terminal: {describe(leaving())}", 20)

    def run(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *args],
                              capture_output=True, encoding="utf-8", env=self.ahr.env,
                              cwd=self.ahr.dir, check=False)

    def ok(self, *args):
        done = self.run(*args)
        assert done.returncode == 0, done
        return done.stdout

    def window(self, cols, rows):
        """A new one with a shell in it, which says "$ "."""
        self.count += 1
        name = f"w{self.count}"
        self.ok("new-session", "-d", "-x", str(cols), "-y", str(rows), "-s", name,
                "exec env PS1='$ ' dash -i")
        window = Window(self, name)
        window.wait_for("$")
        return window

    def program(self, cols, rows, *args):
        """A new one with our program in it."""
        self.count += 1
        name = f"w{self.count}"
        self.ok("new-session", "-d", "-x", str(cols), "-y", str(rows), "-s", name, "sh", "-c",
                SHELL, self.ahr.binary, name, *args)
        return Program(self, name, cols, rows)
