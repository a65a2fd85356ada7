#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""instructions.py -- what a byte costs in instructions, ours and libvterm's.

usage: instructions.py BENCH_TERM [BYTES [CORPUS ...]]; prints `name value unit` lines.

Times wobble, instructions do not: a ratio below its floor is a failure. Callgrind counts a run that makes a corpus and feeds
it, and one that only makes it; the difference is the feeding.
"""

import re
import shutil
import subprocess
import sys

# The corpora, and how many times libvterm's count must be ours.
FLOORS = {
    "build_log": 20,
    "agent": 4,
    "editor": 5,
    "sgr": 4,
    "cjk": 5,
    "scroll_regions": 50,
    "truecolor": 0,
}
BYTES = 2_000_000


def run(bench, who, corpus, size):
    """Instructions of one run, and how many bytes the corpus really had."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*tool, bench, "--feed", who, corpus, str(size)],
        capture_output=True,
        text=True,
        check=True,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    return int(collected[1]), int(done.stdout)


def line(name, value, unit):
    print(f"{name:<52} {value:10.3f} {unit}", flush=True)


def count(bench, corpus, size):
    making, n = run(bench, "none", corpus, size)
    cost = {
        who: (run(bench, who, corpus, size)[0] - making) / n for who in ("ours", "vterm")
    }
    line(f"instructions_{corpus}_ours", cost["ours"], "per_byte")
    line(f"instructions_{corpus}_libvterm", cost["vterm"], "per_byte")
    ratio = cost["vterm"] / cost["ours"]
    line(f"instructions_ratio_{corpus}_>=_{FLOORS[corpus]}", ratio, "x")
    return ratio >= FLOORS[corpus]


def main(bench, size=BYTES, *corpora):
    if not shutil.which("valgrind"):
        print("# no valgrind here: instructions not counted")
        return
    missed = [corpus for corpus in corpora or FLOORS if not count(bench, corpus, int(size))]
    if missed:
        sys.exit(f"instructions.py: too many instructions for {', '.join(missed)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
