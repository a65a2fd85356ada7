#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_view.py -- what looking at a session costs; prints `name value unit` lines.

usage: bench_view.py BUILD [--quick] [PART ...]; parts: frames, bytes, rows, open, idle.

As bench_record.py: contenders take turns, medians are compared, missing peers are named. tmux, around the
same child on the same terminal, is what the viewer is compared with. Times decide nothing.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench_record import line, main, missing, percentile, status, wake_ups
from support.on_pty import OnPty

FULL = {"rounds": 5, "stream_s": 5, "rows": 1_000_000, "searches": 9, "session_mib": 1024, "opens": 9,
        "window_s": 10, "speed": "8"}
QUICK = {"rounds": 1, "stream_s": 1, "rows": 50_000, "searches": 2, "session_mib": 16, "opens": 2,
         "window_s": 2, "speed": "50"}
COLS, ROWS = 120, 40
STREAM_BYTES_S = 10_000_000
PREFIX = b"\x1d"  # Ctrl-]
PATIENCE_S = 60


def viewed(b, *command):
    """The child in a session that the viewer shows."""
    return [b.ahr, "record", "-q", "--view", "on", "--", *map(str, command)]


def in_tmux(b, *command):
    """The child in a tmux of its own, which ends with it."""
    conf = b.dir / "tmux.conf"
    conf.write_text("set -g status off\nset -g history-limit 1000000\nset -g exit-empty on\n")
    return ["tmux", "-u", "-S", str(b.dir / "tmux"), "-f", str(conf), "new-session", *map(str, command)]


def contenders(b):
    """Who shows a child, by name."""
    found = {"ahr": viewed}
    if shutil.which("tmux"):
        found["tmux"] = in_tmux
    else:
        missing("tmux")
    return found


def shown(b, command, ms=0):
    """Bytes that came to the terminal, and the pictures on it: age and distance in us."""
    got = b.output(b.tool("frame_times", COLS, ROWS, ms, *command)).splitlines()
    pictures = [tuple(map(int, row.split()[1:])) for row in got if row.startswith("picture ")]
    b.forget()
    return int(got[0].split()[1]), pictures


# -- how old a picture is --

def frames_of(b, what, rate):
    took = {name: [] for name in contenders(b)}
    for _ in range(b.size["rounds"]):
        for name, around in contenders(b).items():
            child = b.tool("marked_stream", rate, b.size["stream_s"])
            _, pictures = shown(b, around(b, *child), (b.size["stream_s"] + 10) * 1000)
            took[name].append(pictures)
    for name, rounds in took.items():
        for which, p in (("p50", 0.5), ("p99", 0.99)):
            for i, unit in ((0, "age of a picture"), (1, "from picture to picture")):
                # Of the rounds' own: one round in which the machine was busy does not decide.
                of_rounds = [percentile([one[i] for one in pictures], p) for pictures in rounds if pictures]
                line(f"{what}, {unit} {which}, {name}", statistics.median(of_rounds or [0]) / 1e3, "ms")


def frames(b):
    frames_of(b, "10 MB/s", STREAM_BYTES_S)
    frames_of(b, "flood", 0)


# -- what is sent to the terminal --

def streams(b):
    """Children whose output is the same each time, by name."""
    mock = [b.mock, "--seed", "7", "--cols", COLS, "--rows", ROWS]
    return {"agent": [*mock, "--steps", "30", "--speed", b.size["speed"]],
            "build log": [*mock, "--only", "build", "--no-wait", "--min-bytes", "4000000"],
            "redraw": [*mock, "--only", "think", "--steps", "20", "--speed", b.size["speed"]]}


def count_bytes(b, command):
    """What the child itself writes."""
    return len(subprocess.run([str(word) for word in command], env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True).stdout)


def sent(b):
    for what, child in streams(b).items():
        line(f"{what}, bytes of the child", count_bytes(b, child) / 1e3, "kB")
        for name, around in contenders(b).items():
            rounds = [shown(b, around(b, *child))[0] for _ in range(b.size["rounds"])]
            line(f"{what}, bytes to the terminal, {name}", statistics.median(rounds) / 1e3, "kB")


# -- many rows --

class OnTerminal(OnPty):
    """A program that the bench reads all the time, so that it waits for nobody."""

    def __init__(self, b, command):
        super().__init__(command, COLS, ROWS, env=b.env, cwd=b.dir)
        os.set_blocking(self.master, False)

    def read_for(self, seconds):
        """What comes within that time."""
        end, got = time.monotonic() + seconds, b""
        while time.monotonic() < end:
            try:
                got += self.read()
            except BlockingIOError:
                time.sleep(0.0005)
        return got

    def read_on(self, text, seconds=PATIENCE_S):
        """Seconds until that text has come; None: it has not."""
        begin, start = time.monotonic(), len(self.bytes)
        while time.monotonic() < begin + seconds:
            try:
                if not self.read():
                    return None
            except BlockingIOError:
                time.sleep(0.0002)
            if self.bytes.find(text, max(0, start - len(text))) >= 0:
                return time.monotonic() - begin
        return None

    def type(self, keys):
        os.write(self.master, keys)


def leave(terminal):
    """Ends the session that it shows; its recorder is gone then."""
    terminal.process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 20
    while terminal.process.poll() is None and time.monotonic() < end:
        terminal.read_for(0.01)


def rows_once(b, took):
    """Memory behind so many rows, and the time of searches through them, which find one at the top."""
    count, done = b.size["rows"], b.dir / "done"
    done.unlink(missing_ok=True)
    script = (f"echo 'needle is-behind-it'; seq -f 'row %.0f of many, as long as most are' {count}; "
              f"touch '{done}'; echo all-there; exec cat")
    with OnTerminal(b, viewed(b, "sh", "-c", script)) as t:
        while not done.exists():
            t.read_for(0.05)
        t.read_on(b"all-there", 5)
        t.read_for(0.5)
        took["peak"].append(status(Path(f"/proc/{t.process.pid}/status"), "VmHWM") / 1024)
        t.type(PREFIX + b"v")
        t.read_for(0.5)
        for _ in range(b.size["searches"]):
            t.type(b"G")
            t.read_for(0.2)
            t.type(b"?needle\r")
            found_s = t.read_on(b"is-behind-it", 10)
            if found_s is not None:
                took["search"].append(found_s * 1e3)
            t.read_for(0.1)
        leave(t)
    b.forget()


def rows(b):
    took = {"peak": [], "search": []}
    for _ in range(max(1, b.size["rounds"] // 2)):
        rows_once(b, took)
    many = f"{b.size['rows']} rows"
    line(f"{many}, peak RSS of the viewer", max(took["peak"]), "MiB")
    if took["search"]:
        line(f"{many}, search by keys (< 100)", statistics.median(took["search"]), "ms")
        line(f"{many}, search by keys, max", max(took["search"]), "ms")
    else:
        missing("a viewer that searches")


# -- a finished session --

def forget_pages(path):
    """The next one who reads the file reads it from the disk, where the kernel does as it is told."""
    for one in path.parent.glob(path.name + "*"):
        with open(one, "rb") as f:
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def look_once(b, tape, mark):
    """Until its last screen is there, and out: keyframes are kept. Returns how long that took."""
    with OnTerminal(b, [b.ahr, "view", str(tape)]) as t:
        took_s = t.read_on(mark)
        t.type(b"q")
        while t.process.poll() is None:
            t.read_for(0.01)
    return took_s


def open_finished(b):
    """Until the last screen is there: its last words tell."""
    tape = b.dir / "long.ahr"
    b.output(b.tool("make_session", tape, b.size["session_mib"]))
    mark = b.output([b.ahr, "render", tape]).split()[-1]
    what = f"open {b.size['session_mib']} MiB by ahr view"
    line(f"{what}, never seen before: last screen", look_once(b, tape, mark.encode()) * 1e3, "ms")
    took = {"cold": [], "warm": []}
    for _ in range(b.size["opens"]):
        for how in took:
            if how == "cold":
                forget_pages(tape)
            got = b.output(b.tool("first_picture", 1, COLS, ROWS, mark, b.ahr, "view", tape))
            took[how].append(float(got) / 1e3)
    for how, values in took.items():
        line(f"{what}, {how} (< 200)", statistics.median(values), "ms")
    tape.unlink()


# -- nothing happens --

def idle(b):
    child = ["sh", "-c", "echo ready; exec cat"]
    for name, around in contenders(b).items():
        rounds = []
        for _ in range(max(1, b.size["rounds"] // 2)):
            with OnTerminal(b, around(b, *child)) as t:
                t.read_on(b"ready", 10)
                t.read_for(1.5)  # past the start
                before = wake_ups(t.process.pid)
                t.read_for(b.size["window_s"])
                rounds.append((wake_ups(t.process.pid) - before) * 60 / b.size["window_s"])
                leave(t)
            b.forget()
        line(f"idle, wake-ups of the viewer, {name}", statistics.median(rounds), "1/min")


PARTS = {"frames": frames, "bytes": sent, "rows": rows, "open": open_finished, "idle": idle}


if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
