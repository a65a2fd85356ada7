#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_export.py -- what it costs to get a session back out; prints `name value unit` lines.

usage: bench_export.py BUILD [--quick] [PART ...]; parts: report, formats, size.

One generated agent session of ten hours serves all parts. Contenders take turns, medians are
compared. Output goes to /dev/null, so that no disk is measured.
"""

import gzip
import os
import shutil
import statistics
import subprocess
import sys
import time

from bench_record import line, main

FULL = {"rounds": 5, "bytes": 1 << 30, "format_rounds": 3}
QUICK = {"rounds": 2, "bytes": 32 << 20, "format_rounds": 1}
HOURS = 10
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "cast", "cast3")


def session(b):
    """The recording that all parts read, made once."""
    path = b.dir / "session.ahr"
    if not path.exists():
        size = b.size["bytes"]
        make = subprocess.Popen([b.mock, "--no-wait", "--seed", "1", "--cols", "120", "--rows", "40",
                                 "--min-bytes", str(size)], stdout=subprocess.PIPE)
        subprocess.run([b.ahr, "pack", "--cols", "120", "--rows", "40", "--rate",
                        str(size // (HOURS * 3600)), "--sync", "none", "-o", str(path)],
                       stdin=make.stdout, env=b.env, check=True)
        make.stdout.close()
        make.wait()
    return str(path)


def run(b, command):
    """Seconds, and the peak of its memory in MiB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} exits with {process.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


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
    took, peak = take_turns(b, {
        "Brotli alone": b.tool("bounds", "brotli", path),
        "decoding": b.tool("bounds", "decode", path),
        "decoding and the model": b.tool("bounds", "feed", path),
        "report": [b.ahr, "export", "--format", "json", path],
        "branch points": [b.ahr, "branch-points", path],
    }, b.size["rounds"])
    median = {name: statistics.median(seconds) for name, seconds in took.items()}
    for name, seconds in median.items():
        line(f"{name}, of {b.size['bytes'] >> 20} MiB", seconds, "s")
    bound = median["decoding and the model"]
    for name in ("report", "branch points"):
        line(f"{name} / decoding and the model (<= 1.2)", median[name] / bound, "x")
        best = min(took[name]) / min(took["decoding and the model"])
        line(f"{name} / decoding and the model, best of each", best, "x")
        line(f"{name} / Brotli alone", median[name] / median["Brotli alone"], "x")
        line(f"{name}, peak RSS (<= 256)", peak[name], "MiB")
    line("decoding and the model, peak RSS", peak["decoding and the model"], "MiB")


def formats(b):
    path = session(b)
    contenders = {name: [b.ahr, "export", "--format", name, path] for name in FORMATS}
    contenders["replay --fast"] = [b.ahr, "replay", "--fast", path]
    took, peak = take_turns(b, contenders, b.size["format_rounds"])
    for name, seconds in took.items():
        line(f"export, {name}", statistics.median(seconds), "s")
        line(f"export, {name}, peak RSS", peak[name], "MiB")


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


PARTS = {"report": report, "formats": formats, "size": size}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
