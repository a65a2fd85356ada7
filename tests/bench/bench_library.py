#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_library.py -- what it costs to find sessions again; prints `name value unit` lines.

usage: bench_library.py BUILD [--quick] [PART ...]; parts: index, list, usage, search, filters, largest, start.

One generated library of 10,000 sessions and 1 GB of text serves all parts: recordings of terminals, and as many
runs with their conversations; the same text lies beside it in plain files, for peers. Each figure is of a process from its start to its end, its output to /dev/null.
"""

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time

from bench_record import line, main
from support.processes import wait_for, with_home

FULL = {"rounds": 5, "runs": 25, "starts": 40, "sessions": 10_000, "text_mb": 1100, "padded_mb": 5000}
QUICK = {"rounds": 2, "runs": 5, "starts": 5, "sessions": 300, "text_mb": 20, "padded_mb": 200}

QUERIES = {  # what they are, the words, and the hits that are expected; None: as many as are asked for
    "rare word": ("quokka", 3),
    "word of one session": ("ticket-000042", 1),
    "common word": ("error", None),
    "common words": ("the error", None),
    "two letters": ("qu", None),
    "absent word": ("zyzzyvax", 0),
    "absent, of common words": ("session the file is not open to error", 0),
    "absent letters": ("~~", 0),
}
FILTERS = {  # of a common word
    "no filter": (),
    "--in turns": ("--in", "turns"),
    "--in terminal": ("--in", "terminal"),
    "--role user": ("--role", "user"),
    "--tool Bash": ("--tool", "Bash"),
    "--agent claude": ("--agent", "claude"),
    "--agent codex, of 1 in 200": ("--agent", "codex"),
    "--role DEVELOPER --tool Read": ("--role", "DEVELOPER", "--tool", "Read"),
    "--tool, of none": ("--tool", "nothing"),
}
HITS = 20
FEW, LONG_MS = 3, 10_000


# -- the library, made once --

class Library:
    def __init__(self, b):
        self.home, self.texts = b.dir / "library", b.dir / "texts"
        self.db = self.home / "library.db"
        (self.home / "sessions").mkdir(parents=True)
        self.texts.mkdir()
        count, cores = b.size["sessions"], len(os.sched_getaffinity(0))
        each = b.size["text_mb"] * 1_000_000 // count
        bounds = [count * i // cores for i in range(cores + 1)]
        makers = [subprocess.Popen(b.tool("make_library", self.home, self.texts, first, last, count, each))
                  for first, last in zip(bounds, bounds[1:])]
        if any([maker.wait() for maker in makers]):
            sys.exit("make_library has failed")
        self.text_mb = sum(one.stat().st_size for one in os.scandir(self.texts)) / 1e6
        self.env = {**b.env, "AHR_HOME": str(self.home)}

    def index(self, b):
        begin = time.monotonic()
        subprocess.run([b.ahr, "index", "--all"], env=self.env, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin

    def size(self):
        return sum(one.stat().st_size for one in self.home.glob("library.db*"))


def library(b, is_indexed=True):
    if not hasattr(b, "library"):
        b.library = Library(b)
    if is_indexed and not b.library.db.exists():
        b.library.index(b)
    return b.library


def run_ms(command, env):
    """From the start of a process to its end."""
    quiet = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
             (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
             (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    begin = time.monotonic()
    pid = os.posix_spawnp(command[0], list(map(str, command)), env, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    took = time.monotonic() - begin
    if status:
        sys.exit(f"{command} ends with {os.waitstatus_to_exitcode(status)}")
    return took * 1e3


def take_turns(b, contenders, env):
    """The median of each, in ms; those that take long have fewer turns."""
    took = {name: [] for name in contenders}
    for i in range(b.size["runs"]):
        for name, command in contenders.items():
            if i < FEW or sum(took[name]) < LONG_MS:
                took[name].append(run_ms(command, env))
    return {name: statistics.median(times) for name, times in took.items()}


# -- parts --

def index(b):
    lib = library(b, is_indexed=False)
    for old in lib.home.glob("library.db*"):
        old.unlink()
    took = lib.index(b)
    line("text of all sessions", lib.text_mb, "MB")
    line("index, of all sessions", took, "s")
    line("index, of all sessions", lib.text_mb / took, "MB/s")
    line("library.db / text", lib.size() / 1e6 / lib.text_mb, "x")
    begin = time.monotonic()
    subprocess.run([b.ahr, "reindex"], env=lib.env, check=True, stdout=subprocess.DEVNULL)
    line("reindex", time.monotonic() - begin, "s")
    line("library.db / text, after reindex", lib.size() / 1e6 / lib.text_mb, "x")


def look(b):
    lib = library(b)
    middle = sorted(os.listdir(lib.home / "sessions"))[b.size["sessions"] // 2]
    count = b.size["sessions"]
    contenders = {
        "bare readdir by ls -U": ["ls", "-U", lib.home / "sessions"],
        "ahr -h": [b.ahr, "-h"],
        f"list, of {count} (< 30)": [b.ahr, "list"],
        "list --json": [b.ahr, "list", "--json"],
        "list --limit 20": [b.ahr, "list", "--limit", "20"],
        "show (< 10)": [b.ahr, "show", middle],
        "show last": [b.ahr, "show", "last"],
        "show by name": [b.ahr, "show", f"work-{count // 2 // 3 * 3}"],
    }
    median = take_turns(b, contenders, lib.env)
    for name, ms in median.items():
        line(name, ms, "ms")
    listed = json.loads(subprocess.run([b.ahr, "list", "--json"], env=lib.env, check=True,
                                       stdout=subprocess.PIPE).stdout)
    if len(listed) != count or not all(one["indexed"] for one in listed):
        sys.exit(f"list has {len(listed)} of {count} sessions, or some that are not indexed")
    line("list / bare readdir", median[f"list, of {count} (< 30)"] / median["bare readdir by ls -U"], "x")


def usage(b):
    """All that was used, of which some stands in two sessions."""
    lib = library(b)
    count = b.size["sessions"]
    total = json.loads(subprocess.run([b.ahr, "usage", "--json"], env=lib.env, check=True,
                                      stdout=subprocess.PIPE).stdout)["total"]
    runs = count // 2
    if total["calls"] != runs * 60 - count // 4 * 20:
        sys.exit(f"usage counts {total['calls']} messages of {runs} runs")
    groups = ("day", "model", "session", "agent", "project")
    contenders = {f"usage --by {what}, of {count} (< 50)": [b.ahr, "usage", "--by", what] for what in groups}
    contenders["usage --json"] = [b.ahr, "usage", "--json"]
    contenders["usage of one (< 10)"] = [b.ahr, "usage", sorted(os.listdir(lib.home / "sessions"))[1]]
    for name, ms in take_turns(b, contenders, lib.env).items():
        line(name, ms, "ms")


def hits(b, lib, query):
    found = subprocess.run([b.ahr, "search", "--json", "--limit", str(HITS), query], env=lib.env, check=True,
                           capture_output=True).stdout
    return len(json.loads(found))


def search(b):
    lib = library(b)
    for what, (query, expected) in QUERIES.items():
        if (found := hits(b, lib, query)) != (HITS if expected is None else expected):
            sys.exit(f"{found} hits for '{query}'")
    median = take_turns(b, {what: [b.ahr, "search", "--limit", HITS, query]
                            for what, (query, _) in QUERIES.items()}, lib.env)
    for what, ms in median.items():
        is_wanted = what in ("rare word", "common word", "common words", "word of one session", "absent word")
        line(f"search, {what}{' (< 50)' * is_wanted}", ms, "ms")
        begin = time.monotonic()
        subprocess.run(["grep", "-rFi", "--", QUERIES[what][0], str(lib.texts)], env=lib.env, stdout=subprocess.DEVNULL)
        line(f"grep -rFi / search, {what}", (time.monotonic() - begin) * 1e3 / ms, "x")


def filters(b):
    """The first page of a common word, and of one that is rare, with each filter."""
    lib = library(b)
    for query in ("error", "quokka"):
        median = take_turns(b, {what: [b.ahr, "search", "--limit", HITS, *more, query]
                                for what, more in FILTERS.items()}, lib.env)
        for what, ms in median.items():
            line(f"search {query}, {what} (< 50)", ms, "ms")


def largest(b):
    """What it takes to open the largest run there is."""
    lib = library(b)
    sizes = {}
    for folder in os.scandir(lib.home / "sessions"):
        if os.path.exists(f"{folder.path}/session.turns.jsonl"):
            sizes[folder.name] = os.stat(f"{folder.path}/session.turns.jsonl").st_size
    which = max(sizes, key=sizes.get)
    line("largest run, its events", sizes[which] / 1e6, "MB")
    commands = {"show, of the largest (< 200)": [b.ahr, "show", which]}
    for form in ("txt", "md", "json", "csv", "html", "jsonl", "events"):
        commands[f"export {form}, of the largest"] = [b.ahr, "export", which, "--format", form]
    commands["export txt --turn 1, of the largest (< 200)"] = [b.ahr, "export", which, "--format", "txt", "--turn", "1"]
    for what, ms in take_turns(b, commands, lib.env).items():
        line(what, ms, "ms")


def pad(path, mb):
    """Fills the library up to this size."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE padding (bytes BLOB)")
        while os.stat(path).st_size < mb * 1e6:
            db.execute("INSERT INTO padding VALUES (zeroblob(?))", (100_000_000,))
            db.commit()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()


def start(b):
    """To the program, and to the end of `record`, with nothing in the home and with a large library."""
    lib = library(b)
    pad(lib.db, b.size["padded_mb"])
    line("library.db, padded", lib.size() / 1e9, "GB")
    stamp = str(b.dir / "stamp")
    program = b.tool("launch", "stamp", stamp)
    homes = {"empty": str(b.dir / "ahr"), "large": str(lib.home)}
    took = {name: ([], []) for name in homes}
    for _ in range(b.size["rounds"]):
        for name, home in homes.items():
            rows = subprocess.run(b.tool("launch", b.size["starts"], stamp, *b.record(*program)),
                                  env={**b.env, "AHR_HOME": home}, cwd=b.dir, check=True,
                                  stdout=subprocess.PIPE).stdout.decode().splitlines()
            for row in rows:
                for times, us in zip(took[name], row.split()):
                    times.append(float(us) / 1e3)
            # What was recorded is indexed meanwhile, in the background.
            wait_for(lambda: not with_home(b.env["HOME"]), "the index never ends", 600)
    for i, what in enumerate(("start to the program", "start to end")):
        median = {name: statistics.median(times[i]) for name, times in took.items()}
        for name, ms in median.items():
            line(f"{what}, {name} library", ms, "ms")
        line(f"{what}, large / empty (1)", median["large"] / median["empty"], "x")


PARTS = {"index": index, "list": look, "usage": usage, "search": search, "filters": filters, "largest": largest, "start": start}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
