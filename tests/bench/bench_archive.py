#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_archive.py -- what archives of journals cost and save; prints `name value unit` lines.

usage: bench_archive.py BUILD [--quick] [PART ...]; parts: archive, read.

The journals are those of real runs of the mock agent. The peer is gzip, on the same files in the same run;
contenders take turns, and medians of the time on a core are compared. `ahr archive` reads back what it has
written and syncs it, which gzip does not; and it indexes each session again, which takes as long as `ahr reindex`.
"""

import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from bench_export import run
from bench_record import line, main

FULL = {"rounds": 3, "runs": 4, "messages": 20_000}
QUICK = {"rounds": 1, "runs": 2, "messages": 2_000}
LEVELS = (1, 6, 9)
OURS = 6  # the level of src/gz/stream.c


def journals(b, suffix=""):
    """What an archive takes, as it lies there."""
    found = [*b.dir.glob("project/.ahr/sessions/*/io.log"), *b.dir.glob("project/.ahr/sessions/*/iterations/*.log"),
             *b.dir.glob("home/sessions/*/session.turns.jsonl")]
    return [path.with_name(path.name + suffix) for path in found]


def make(b):
    """Runs that have ended; made once."""
    project = b.dir / "project"
    b.env.update(AHR_HOME=str(b.dir / "home"), AHR_UPKEEP="off")
    if not project.exists():
        project.mkdir()
        for _ in range(b.size["runs"]):
            agent = [Path(b.mock).with_name("stream_agent"), "--delay-us", "0", "--messages", b.size["messages"]]
            subprocess.run([b.ahr, "run", "-q", "--", *map(str, agent)], env=b.env, cwd=project, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = journals(b)
    return files, sum(path.stat().st_size for path in files)


def ahr(b, *args):
    return [b.ahr, *args, "--older-than", "now"]


def archive(b):
    files, plain = make(b)
    copies = b.dir / "copies"
    took = {name: [] for name in ("ahr archive", "ahr archive --undo", "ahr reindex", "gzip -dc")}
    took |= {f"gzip -{level}": [] for level in LEVELS}
    packed = {}
    for _ in range(b.size["rounds"]):
        for level in LEVELS:
            shutil.rmtree(copies, ignore_errors=True)
            copies.mkdir()
            names = [shutil.copyfile(path, copies / str(i)) for i, path in enumerate(files)]
            took[f"gzip -{level}"].append(run(b, ["gzip", f"-{level}", *map(str, names)])[0])
            packed[f"gzip -{level}"] = sum(path.stat().st_size for path in copies.iterdir())
            if level == OURS:
                took["gzip -dc"].append(run(b, ["gzip", "-dc", *map(str, copies.iterdir())])[0])
        took["ahr archive"].append(run(b, ahr(b, "archive"))[0])
        packed["ahr archive"] = sum(path.with_name(path.name + ".gz").stat().st_size for path in files)
        took["ahr reindex"].append(run(b, [b.ahr, "reindex"])[0])
        took["ahr archive --undo"].append(run(b, ahr(b, "archive", "--undo"))[0])
    shutil.rmtree(copies)
    line("journals", plain / 1e6, "MB")
    for name, size in packed.items():
        line(f"ratio, {name}", plain / size, "x")
    line(f"size of an archive / gzip -{OURS} (<= 1.01)", packed["ahr archive"] / packed[f"gzip -{OURS}"], "x")
    seconds = {name: statistics.median(all_of) for name, all_of in took.items()}
    for name in ("ahr archive", "ahr archive --undo"):
        seconds[f"{name}, but for the index"] = max(seconds[name] - seconds["ahr reindex"], 1e-3)
    for name, value in seconds.items():
        line(name, plain / 1e6 / value, "MB/s")
    peer = seconds[f"gzip -{OURS}"] + seconds["gzip -dc"]
    line(f"gzip -{OURS} and -dc / ahr archive but for the index", peer / seconds["ahr archive, but for the index"], "x")


def read(b):
    """A command that reads all of the text, before and after."""
    make(b)
    turns = sum(path.stat().st_size for path in b.dir.glob("home/sessions/*/session.turns.jsonl")) / b.size["runs"]
    took = {}
    for state, args in (("plain", ["archive", "--undo"]), ("archived", ["archive"])):
        run(b, ahr(b, *args))
        command = [b.ahr, "export", "last", "--format", "events", "--no-redact"]
        took[state] = statistics.median(run(b, command)[0] for _ in range(b.size["rounds"]))
        line(f"export of events, {state}", turns / 1e6 / took[state], "MB/s")
    line("export of events, archived / plain", took["archived"] / took["plain"], "x")
    run(b, ahr(b, "archive", "--undo"))
    os.sync()


PARTS = {"archive": archive, "read": read}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
