#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_live.py -- what live sessions cost; prints `name value unit` lines.

usage: bench_live.py BUILD [--quick] [PART ...]; parts: attach, keys, watchers, snapshots, mirror.

As bench_record.py: contenders take turns, medians are compared, missing peers are named.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench_record import KEY_PAUSE_US, cpu_s, line, main, missing, percentile, status
from support.on_pty import OnPty
from support.processes import children, is_gone, wait_for

FULL = {"rounds": 5, "pictures": 10, "behind": {"100 KB": 100_000, "50 MB": 50_000_000},
        "key_rounds": 9, "keys": 100, "window_s": 5, "asks": 100, "together": 10,
        "flood_bytes": 128 << 20}
QUICK = {"rounds": 2, "pictures": 3, "behind": {"100 KB": 100_000, "2 MB": 2_000_000},
         "key_rounds": 2, "keys": 30, "window_s": 1, "asks": 20, "together": 3,
         "flood_bytes": 8 << 20}
SIZES = ((80, 24), (200, 50))
MARK = "all-of-it-is-here"
TYPING_US = 30000  # between the keys of a person who is fast
WATCHERS = 100
DEAF = 10
TOGETHER = 50


def runs(pid, program):
    try:
        return os.readlink(f"/proc/{pid}/exe") == program
    except OSError:  # gone
        return False


class Live:
    """A session without a client; a context manager."""

    def __init__(self, b, *command, cols=80, rows=24, sync="interval"):
        self.b = b
        self.id = b.output([b.ahr, "record", "--background", "-q", "--cols", str(cols), "--rows",
                            str(rows), "--sync", sync, "--", *map(str, command)]).strip()
        self.dir = b.dir / "ahr/live" / self.id
        self.host = json.loads((self.dir / "session.meta.json").read_text())["hostPid"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not is_gone(self.host):
            os.kill(self.host, signal.SIGTERM)
        wait_for(lambda: is_gone(self.host))
        self.b.forget()

    @property
    def mirror(self):
        """Its pid: of the host's children the one that is an ahr, too."""
        return wait_for(lambda: [p for p in children(self.host) if runs(p, self.b.ahr)])[0]

    def attach(self):
        return [self.b.ahr, "attach", self.id]


def times(b, tool, *args):
    """What one of our tools has measured: a number a line."""
    return [float(row) for row in b.output(b.tool(tool, *args)).split()]


def load_of(pids, seconds):
    """CPU of each, in % of a core."""
    begin, before = time.monotonic(), [cpu_s(p) for p in pids]
    time.sleep(seconds)
    elapsed, after = time.monotonic() - begin, [cpu_s(p) for p in pids]
    return [(y - x) / elapsed * 100 for x, y in zip(before, after)]


# -- from `ahr attach` to the picture --

class Tmux:
    """A tmux server of its own with one session; a context manager."""

    def __init__(self, b, *command, cols, rows):
        self.b, conf = b, b.dir / "tmux.conf"
        conf.write_text("set -g status off\nset -g history-limit 10000\n")
        self.tmux = ["tmux", "-u", "-S", str(b.dir / "tmux"), "-f", str(conf)]
        b.output([*self.tmux, "new-session", "-d", "-x", str(cols), "-y", str(rows), *command])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.b.output([*self.tmux, "kill-server"])

    def attach(self):
        return [*self.tmux, "attach"]


def content(b, size, cols, rows):
    """A command that writes so much, says so at the bottom of the screen, and stays."""
    data, done = b.dir / "data", b.dir / "done"
    with open(data, "wb") as f:
        subprocess.run([b.mock, "--no-wait", "--seed", "1", "--cols", str(cols), "--rows",
                        str(rows), "--min-bytes", str(size)], stdout=f, check=True)
    done.unlink(missing_ok=True)
    script = f"cat '{data}'; printf '\\033[{rows};1H{MARK}'; touch '{done}'; exec cat"
    return ["sh", "-c", script], done


def keep_picture(b, client, cols, rows):
    """What the first picture is made of, in a file: the least is to write it."""
    path = b.dir / "picture"
    with OnPty(client, cols, rows, env=b.env, cwd=b.dir) as t:
        t.read_until(MARK.encode())
        path.write_bytes(t.bytes)
    return path


def attach_one(b, what, size, cols, rows):
    with_tmux = bool(shutil.which("tmux"))
    program, done = content(b, size, cols, rows)
    with Live(b, *program, cols=cols, rows=rows) as live:
        wait_for(done.exists)
        bare = ["cat", str(keep_picture(b, live.attach(), cols, rows))]
        contenders = {"bare": bare, "ahr": live.attach()}
        took = {name: [] for name in (*contenders, *["tmux"] * with_tmux)}

        def turns():
            for _ in range(b.size["rounds"]):
                for name, client in contenders.items():
                    took[name] += times(b, "first_picture", b.size["pictures"], cols, rows, MARK,
                                        *client)

        if with_tmux:
            done.unlink()
            with Tmux(b, *program, cols=cols, rows=rows) as peer:
                wait_for(done.exists)
                contenders["tmux"] = peer.attach()
                turns()
        else:
            missing("tmux")
            turns()
    for name, values in took.items():
        wanted = " (< 50)" if name == "ahr" else ""
        where = f"first picture, {what} behind it, {cols}x{rows}, {name}"
        line(f"{where}{wanted}", statistics.median(values) / 1e3, "ms")
        line(f"{where}, max{wanted}", max(values) / 1e3, "ms")


def attach(b):
    for what, size in b.size["behind"].items():
        for cols, rows in SIZES:
            attach_one(b, what, size, cols, rows)


# -- from a key to its echo --

def type_at(b, pause_us, client):
    return times(b, "key_echo", b.size["keys"], pause_us, *client)


def keys_paused(b, what, pause_us, budget=""):
    program = b.tool("key_echo", "echo")
    took = {"direct": [], "record": [], "attach": []}  # a list a round
    for _ in range(b.size["key_rounds"]):
        took["direct"].append(type_at(b, pause_us, program))
        took["record"].append(type_at(b, pause_us, b.record(*program)))
        with Live(b, *program) as live:
            took["attach"].append(type_at(b, pause_us, live.attach()))
    for name, p in (("median", 0.5), ("p99", 0.99)):
        # Of the rounds' own: one round in which the machine was busy does not decide.
        value = {who: statistics.median(percentile(values, p) for values in rounds) / 1e3
                 for who, rounds in took.items()}
        wanted = budget if name == "p99" else ""
        line(f"{what} {name}, direct", value["direct"], "ms")
        for who in ("record", "attach"):
            added = value[who] - value["direct"]
            line(f"{what} {name}, added by ahr {who}{wanted}", added, "ms")


def keys(b):
    keys_paused(b, "key to echo", TYPING_US, " (< 1)")
    # Faster than pictures are drawn: what a client that draws makes them wait.
    keys_paused(b, "key to echo in a burst", KEY_PAUSE_US)


# -- many that look --

def watched_by(b, live, count, deaf):
    """CPU of the host in %, its memory, and what the watchers say."""
    tool = subprocess.Popen(b.tool("watchers", live.dir / "ctl.sock", count, deaf),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert tool.stdout.readline() == "ready\n"
    time.sleep(b.size["window_s"] / 5)  # past the start
    load, = load_of([live.host], b.size["window_s"])
    rss_kib = status(Path(f"/proc/{live.host}/status"), "VmRSS")
    said = tool.communicate()[0].split()
    return load, rss_kib, [int(word) for word in said]


def watchers(b):
    program = [b.mock, "--rate", "1000000", "--steps", "1000000"]
    cases = {"0 watchers": (0, 0), "1 watcher": (1, 0), f"{WATCHERS} watchers": (WATCHERS, 0),
             f"{WATCHERS} watchers, {DEAF} of them deaf": (WATCHERS, DEAF)}
    got = {case: [] for case in cases}
    for _ in range(b.size["rounds"]):
        for case, (count, deaf) in cases.items():
            with Live(b, *program) as live:
                got[case].append(watched_by(b, live, count, deaf))
    for case, values in got.items():
        line(f"1 MB/s, {case}, CPU of the host", statistics.median(v[0] for v in values), "%")
        line(f"1 MB/s, {case}, RSS of the host", max(v[1] for v in values) / 1024, "MiB")
        if cases[case][0]:
            fewest, most = (sum(v[2][i] for v in values) for i in (0, 1))
            line(f"1 MB/s, {case}, the least served / the best", fewest / max(most, 1), "x")
            line(f"1 MB/s, {case}, skips and losses (0)", sum(v[2][2] + v[2][3] for v in values),
                 "times")


# -- snapshots --

def snapshots(b):
    took = {}

    def add(name, *args):
        took.setdefault(name, []).extend(times(b, "round_trips", *args))

    for _ in range(b.size["rounds"]):
        add("ping-pong, bare", "ping", b.size["asks"])
        for sync in ("interval", "none"):
            with Live(b, "cat", sync=sync) as live:
                sock = live.dir / "ipc.sock"
                pages = [b.dir / "ahr/page", b.dir / "ahr/page2"]
                add("fdatasync of 4 KiB, bare", "fdatasync", b.size["asks"], *pages[:1])
                add("fdatasync of 4 KiB in 2 files, bare", "fdatasync", b.size["asks"], *pages)
                add(f"status, sync {sync}", "status", sock, b.size["asks"])
                add(f"snapshot, sync {sync}", "snapshot", sock, b.size["asks"])
                add(f"{TOGETHER} snapshots at once, sync {sync}", "together", sock,
                    b.size["together"], TOGETHER)
    for name, values in took.items():
        line(f"{name}, median", statistics.median(values), "us")
        line(f"{name}, p99", percentile(values, 0.99), "us")


# -- the mirror --

def mirror_at(b, what, program):
    with Live(b, *program) as live:
        mirror = live.mirror
        time.sleep(b.size["window_s"] / 5)  # past the start
        host, mirror = load_of([live.host, mirror], b.size["window_s"])
    line(f"{what}, CPU of the host", host, "%")
    line(f"{what}, CPU of the mirror", mirror, "%")


def flood_once(b):
    """CPU of host and mirror in a flood, how long a picture takes right behind it, memory."""
    program, done = content(b, b.size["flood_bytes"], 80, 24)
    with Live(b, *program) as live:
        mirror = live.mirror
        wait_for(done.exists)
        used = cpu_s(live.host), cpu_s(mirror)
        picture, = times(b, "first_picture", 1, 80, 24, MARK, *live.attach())
        return *used, picture / 1e3, status(Path(f"/proc/{mirror}/status"), "VmRSS") / 1024


def mirror_in_flood(b):
    rounds = [flood_once(b) for _ in range(b.size["rounds"])]
    for i, (what, unit) in enumerate((("CPU of the host", "s"), ("CPU of the mirror", "s"),
                                      ("first picture right behind it (< 50)", "ms"),
                                      ("RSS of the mirror", "MiB"))):
        line(f"flood, {what}", statistics.median(values[i] for values in rounds), unit)


def mirror(b):
    mirror_at(b, "10 Hz spinner", [b.mock, "--only", "think", "--steps", "1000000"])
    mirror_at(b, "1 MB/s", [b.mock, "--rate", "1000000", "--steps", "1000000"])
    mirror_in_flood(b)


PARTS = {"attach": attach, "keys": keys, "watchers": watchers, "snapshots": snapshots,
         "mirror": mirror}


if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
