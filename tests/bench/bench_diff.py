#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_diff.py -- what it costs to compare two sessions; prints `name value unit` lines.

usage: bench_diff.py BUILD [--quick] [PART ...]; parts: pair, library.

Sessions are generated (support/stories.py), some hundred bytes a turn. The peer is `diff -u` of the same texts in
plain files, which need not be found, decoded or masked. Output goes to /dev/null; contenders take turns, medians of
the time on a core are printed.
"""

import os
import random
import statistics
import subprocess
import sys

from bench_export import run
from bench_record import line, main
from support.sessions import Home
from support.stories import edited, story, write_story

FULL = {"rounds": 7, "turns": 10_000, "sessions": 10_000, "each": 60, "pairs": 40}
QUICK = {"rounds": 2, "turns": 10_000, "sessions": 300, "each": 60, "pairs": 5}


class Folder(Home):
    """A library without a program beside it."""

    def __init__(self, path):
        self.dir = path


def wordy(rng, turns):
    """With as much text as real ones have."""
    words = [f"word{n}" for n in range(2000)]
    return [(kind, who, {**what, "more": " ".join(rng.choices(words, k=60))} if isinstance(what, dict)
             else what + "\n" + " ".join(rng.choices(words, k=60))) for kind, who, what in turns]


def plain(path, turns):
    """The same turns for `diff`, line by line."""
    def text(what):
        return "\n".join(f"{key}: {value}" for key, value in sorted(what.items())) if isinstance(what, dict) else what
    path.write_text("".join(f"[{kind} {who}] {text(what)}\n" for kind, who, what in turns))
    return path


def sid_of(number):
    return f"2026-02-03-{number:08x}-0000-4000-8000-000000000000"


def pair(b):
    rng = random.Random(1)
    home = Folder(b.dir / "pair")
    one = wordy(rng, story(rng, b.size["turns"]))
    shuffled = list(one)
    rng.shuffle(shuffled)
    others = {
        "few differences": edited(rng, one, b.size["turns"] // 50)[0],
        "shuffled": shuffled,
        "nothing in common": wordy(rng, story(random.Random(2), b.size["turns"])),
    }
    b.env["AHR_HOME"] = str(home.dir)
    write_story(home, sid_of(0), one, rng)
    base = plain(b.dir / "a.txt", one)
    for number, (name, other) in enumerate(others.items(), 1):
        write_story(home, sid_of(number), other, rng)
        peer = plain(b.dir / "b.txt", other)
        contenders = {
            "ahr diff": ([b.ahr, "diff", sid_of(0), sid_of(number)], (0,)),
            "ahr diff --json": ([b.ahr, "diff", "--json", sid_of(0), sid_of(number)], (0,)),
            "diff -u": (["diff", "-u", str(base), str(peer)], (0, 1)),
        }
        took, peak = {word: [] for word in contenders}, dict.fromkeys(contenders, 0)
        for _ in range(b.size["rounds"]):
            for word, (command, statuses) in contenders.items():
                seconds, mib = run(b, command, statuses)
                took[word].append(seconds)
                peak[word] = max(peak[word], mib)
        for word, all in took.items():
            line(f"{word}, {b.size['turns']} turns, {name}", statistics.median(all) * 1000, "ms")
        line(f"ahr diff, {name}, memory", peak["ahr diff"], "MiB")
        line(f"text of one session, {name}", base.stat().st_size / 1e6, "MB")


def library(b):
    """Any two of many sessions."""
    rng = random.Random(3)
    home = Folder(b.dir / "many")
    b.env["AHR_HOME"] = str(home.dir)
    one = wordy(rng, story(rng, b.size["each"]))
    recording = b.dir / "recording.ahr"
    subprocess.run([b.ahr, "pack", "-o", str(recording)], input=b"shown\r\n", env=b.env, check=True)
    for number in range(b.size["sessions"]):
        folder = write_story(home, sid_of(number), edited(rng, one, 4)[0], rng, name=f"run-{number}")
        os.link(recording, folder / "session.ahr")
    took = {"by id": [], "by name": []}
    for _ in range(b.size["pairs"]):
        a, z = rng.sample(range(b.size["sessions"]), 2)
        took["by id"].append(run(b, [b.ahr, "diff", sid_of(a), sid_of(z)])[0])
    run(b, [b.ahr, "index", "--all"])
    for _ in range(b.size["pairs"]):
        a, z = rng.sample(range(b.size["sessions"]), 2)
        took["by name"].append(run(b, [b.ahr, "diff", f"run-{a}", f"run-{z}"])[0])
    for word, all in took.items():
        line(f"ahr diff among {b.size['sessions']} sessions, {word}", statistics.median(all) * 1000, "ms")
    peers = [plain(b.dir / f"peer{n}.txt", edited(rng, one, 4)[0]) for n in range(2)]
    all = [run(b, ["diff", "-u", *map(str, peers)], (0, 1))[0] for _ in range(b.size["pairs"])]
    line("diff -u of two such texts", statistics.median(all) * 1000, "ms")


PARTS = {"pair": pair, "library": library}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
