# SPDX-License-Identifier: MIT
"""foreign.py -- other recorders and players, as users have them: asciinema, script, ttyrec.

    tools = Foreign(a)          # of a Recorder
    tools.need("asciinema")     # or the test is skipped
    path = tools.asciinema_rec("x.cast", DRAW)
    shown = tools.asciinema_cat(path)
"""

import shlex
import shutil
import subprocess
import sys

from support.processes import wait_for
from support.tap import Skip

COLS, ROWS = 90, 30

# Colours, rewrites of a line, characters of one to four bytes, the cursor here and there, more
# lines than a screen has; and with `resize`, what a terminal of another size is told.
DRAW = r'''
import os, signal, sys, time
def put(text):
    os.write(1, text.encode())
def resized(*_):
    size = os.get_terminal_size(1)
    put("\r\nnow %dx%d\r\n" % (size.columns, size.lines))
    sys.exit(0)
put("\x1b[31mred\x1b[0m \x1b[1;38;2;10;200;30mgreen\x1b[0m café 中文 😀 e\u0301\r\n")
for i in range(20):
    put("\r\x1b[Kprogress %d%%" % (i * 5))
    time.sleep(0.005)
put("\r\n\x1b[5;10Hplaced\x1b[K\x1b[7m reverse\x1b[27m\x1b[12;1H")
for i in range(40):
    put("line %d of many\r\n" % i)
put("\x1b]0;title\x07\x1b[4munderlined\x1b[0m the end\r\n")
if "resize" in sys.argv:
    signal.signal(signal.SIGWINCH, resized)
    put("ready\r\n")
    signal.pause()
'''


class Foreign:
    def __init__(self, ahr):
        self.ahr = ahr
        self.draw = ahr.dir / "draw.py"
        self.draw.write_text(DRAW)

    @staticmethod
    def need(*programs):
        for program in programs:
            if not shutil.which(program):
                raise Skip(f"there is no {program}")

    def command(self, *args):
        """The program that draws, as a line for a shell."""
        return " ".join(shlex.quote(str(a)) for a in (sys.executable, self.draw, *args))

    def on_terminal(self, *argv, resize=None, cols=COLS, rows=ROWS, **more):
        """Runs a program on a terminal to its end; the terminal, and what came on a pipe."""
        terminal = self.ahr.terminal(cols, rows)
        more = {"cwd": self.ahr.dir, "env": self.ahr.env, "stderr": subprocess.PIPE, **more}
        process = terminal.start([str(a) for a in argv], **more)
        if resize:
            terminal.wait_for("ready")
            terminal.resize(*resize)
        out, told = process.communicate(timeout=60)
        assert process.returncode == 0, (argv, process.returncode, told)
        return terminal, out

    # -- recorders --

    def asciinema_rec(self, name, *more):
        self.on_terminal("asciinema", "rec", "-q", "-c", self.command(), "-t", "A title", *more,
                         name)
        return self.ahr.dir / name

    def script(self, *options, resize=None):
        command = self.command("resize") if resize else self.command()
        self.on_terminal("script", "-q", "-c", command, *options, resize=resize)

    def ttyrec(self, name):
        self.on_terminal("ttyrec", "-e", self.command(), name)
        return self.ahr.dir / name

    # -- players --

    def asciinema_cat(self, path):
        return self.on_terminal("asciinema", "cat", path, stdout=subprocess.PIPE)[1]

    def asciinema_play(self, path, cols=COLS, rows=ROWS):
        """What a terminal was shown."""
        return self.on_terminal("asciinema", "play", "-s", "1000", "-i", "0.001", path, cols=cols,
                                rows=rows)[0].settle()

    def scriptreplay(self, *options):
        """What it shows; it ends with a newline of its own."""
        shown = self.on_terminal("scriptreplay", "-m", "0.0001", *options,
                                 stdout=subprocess.PIPE)[1]
        assert shown.endswith(b"\n")
        return shown[:-1]

    def ttyplay(self, path):
        return self.on_terminal("ttyplay", "-n", path, stdout=subprocess.PIPE)[1]

    def in_tmux(self, tmux, cols, rows, *argv):
        """The rows of a window of tmux that a program has drawn on to its end."""
        line = " ".join(shlex.quote(str(a)) for a in argv)
        ended = self.ahr.dir / f"ended{tmux.count}"
        tmux.count += 1
        name = f"foreign{tmux.count}"
        tmux.ok("new-session", "-d", "-x", str(cols), "-y", str(rows), "-s", name,
                f"{line}; touch {ended}; exec sleep 1000")
        wait_for(ended.exists, f"{argv[0]} does not end")
        shown = tmux.ok("capture-pane", "-p", "-t", f"={name}:")
        return [row.rstrip() for row in shown.rstrip().splitlines()]
