#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_export.py -- what it costs to get a session back out; prints `name value unit` lines.

usage: bench_export.py BUILD [--quick] [PART ...]; parts: report, size.

One generated agent session of 1 GiB and ten hours serves all parts. Contenders take turns; medians of the
time on a core are compared. Output goes to /dev/null, so that no disk is measured.
"""

import gzip
import os
import shutil
import statistics
import subprocess
import sys

from bench_record import line, main

FULL = {"rounds": 3, "mib": 1024}
QUICK = {"rounds": 1, "mib": 32}
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "cast", "cast3")


def session(b):
    """The recording that all parts read, made once."""
    path = b.dir / "session.ahr"
    if not path.exists():
        subprocess.run(b.tool("make_session", path, b.size["mib"]), check=True)
    return str(path)


def run(b, command, statuses=(0,)):
    """Seconds on a core, and the peak of its memory in MiB."""
    process = subprocess.Popen(command, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        sys.exit(f"{command} exits with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def take_turns(b, contenders, rounds):
    """Of each: all its seconds, and the most memory."""
    took = {name: [] for name in contenders}
    peak = dict.fromkeys(contenders, 0)
    for _ in range(rounds):
        for name, command in contenders.items():
            seconds, mib = run(b, command)
            took[name].append(seconds)
            peak[name] = max(peak[name], mib)
    return took, peak


def report(b):
    path = session(b)
    bound = "decoding and the model"
    contenders = {
        "Brotli alone": b.tool("bounds", "brotli", path),
        "decoding": b.tool("bounds", "decode", path),
        bound: b.tool("bounds", "feed", path),
        "replay --fast": [b.ahr, "replay", "--fast", path],
        "branch-points": [b.ahr, "branch-points", path],
        "branch-points by position": [b.ahr, "branch-points", "--order", "position", path],
    }
    contenders |= {f"export {name}": [b.ahr, "export", "--format", name, path] for name in FORMATS}
    took, peak = take_turns(b, contenders, b.size["rounds"])
    median = {name: statistics.median(seconds) for name, seconds in took.items()}
    for name, seconds in median.items():
        line(f"{name}, of {b.size['mib']} MiB", seconds, "s")
        wanted = name in ("export md", "export json", "export csv", "branch-points")
        line(f"{name} / {bound}{' (<= 1.2)' * wanted}", seconds / median[bound], "x")
        line(f"{name}, peak RSS{' (<= 256)' * wanted}", peak[name], "MiB")
    line("export md / Brotli alone", median["export md"] / median["Brotli alone"], "x")


def size(b):
    path = session(b)
    cast = b.dir / "session.cast.gz"
    export = subprocess.Popen([b.ahr, "export", "--no-redact", "--format", "cast", path], env=b.env,
                              stdout=subprocess.PIPE)
    with gzip.open(cast, "wb", compresslevel=6) as out:
        shutil.copyfileobj(export.stdout, out, 1 << 20)
    export.stdout.close()
    if export.wait():
        sys.exit("the export to a cast has failed")
    ours, theirs = os.path.getsize(path), cast.stat().st_size
    cast.unlink()
    line("size of the recording", ours / 1e6, "MB")
    line("size as asciicast v2 with gzip -6", theirs / 1e6, "MB")
    line("asciicast v2 with gzip / ours (> 1)", theirs / ours, "x")


PARTS = {"report": report, "size": size}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
