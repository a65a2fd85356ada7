#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_snap.py -- what snapshots of files cost; prints `name value unit` lines.

usage: bench_snap.py BUILD [--quick] [PART ...]; parts: take, restore, growth, agent.

As bench_record.py: contenders take turns in the same run, and medians are compared. The peer is git with a
repository of its own for the same files, which stand in a work tree as an agent has it: its own .git with an index,
a .gitignore of some length, and folders that are ignored.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench_record import line, main, percentile
from support.processes import wait_for, with_home

FULL = {"first_rounds": 3, "rounds": 25, "restore_rounds": 3, "files": 50_000, "growth_files": 5_000, "edits": 100,
        "agent_rounds": 3, "bursts": 8}
QUICK = {"first_rounds": 2, "rounds": 5, "restore_rounds": 2, "files": 2_000, "growth_files": 500, "edits": 10,
         "agent_rounds": 1, "bursts": 2}

A_FOLDER = 20  # files in it
MEAN_BYTES = 4000
MAX_BYTES = 100_000
EDITED = 10  # files, before each further snapshot
OLD_S = 2.5  # what has changed longer ago may be taken for what it was
IGNORED = ("node_modules/", "build/", "target/", "dist/", "__pycache__/", ".venv/", ".cache/", ".idea/", "*.o", "*.a",
           "*.so", "*.pyc", "*.class", "*.log", "*.tmp", "*.swp", "*~", ".DS_Store", "coverage/", "/out", "/tmp/",
           "*.min.js", "*.map", "npm-debug.log*", ".env", ".env.*", "!.env.example", "*.sqlite3", "docs/_build/",
           "**/generated/*.h", "cmake-build-*/", "*.[oa]bj", "tags", "Thumbs.db", "core.[0-9]*")
WORDS = ("int", "return", "the", "struct", "if", "for", "buffer", "length", "error", "while", "const", "snapshot",
         "static", "void", "result", "path", "index", "value", "0;", "(x)", "{", "}", "->", "==", "\n", "\n    ")


# -- a work tree, and git's view of it --

class Tree:
    """Files like a project's, with a repository of their own."""

    def __init__(self, b, name, files):
        self.b, self.dir, self.random = b, b.dir / name, random.Random(1)
        self.text = "".join(self.random.choice(WORDS) + " " for _ in range(200_000)).encode()
        self.paths = [self.path(i) for i in range(files)]
        for i, path in enumerate(self.paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"/* %d */\n" % i + self.some_text())
        for i in range(files // 25):
            path = self.dir / f"node_modules/p{i // 100}/{i}.js"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")
        (self.dir / ".gitignore").write_text("".join(f"{row}\n" for row in IGNORED))
        self.bytes = sum(path.stat().st_size for path in self.paths)
        git = Git(b, self, self.dir / ".git")
        git.new()
        git.run(git.add)

    def path(self, i):
        folder = i // A_FOLDER
        return self.dir / f"part{folder % 25:02}/module{folder // 25:03}/source_file_{i:06}.c"

    def some_text(self):
        size = min(int(self.random.expovariate(1 / MEAN_BYTES)), MAX_BYTES)
        begin = self.random.randrange(len(self.text) - MAX_BYTES)
        return self.text[begin:begin + size]

    def edit(self):
        """A line in the middle of a few files, a new file, and one less."""
        for path in self.random.sample(self.paths[1:], EDITED):
            old = path.read_bytes()
            middle = old.find(b"\n", self.random.randrange(len(old))) + 1
            path.write_bytes(old[:middle] + b"/* edited %d */\n" % self.random.getrandbits(60) + old[middle:])
        gone, new = self.paths[0], self.dir / f"new_{self.random.getrandbits(60):x}.c"
        gone.unlink()
        new.write_bytes(self.some_text())
        self.paths[0] = new

    def grow_old(self):
        until = time.time() + OLD_S
        while time.time() < until:
            time.sleep(0.1)


class Git:
    """A repository for a tree's files, wherever it lies."""

    name = add = "git add -A && git write-tree"

    def __init__(self, b, tree, where):
        self.tree, self.dir = tree, where
        who = {f"GIT_{role}_{what}": "a" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env = {**b.env, **who, "GIT_DIR": str(where), "GIT_WORK_TREE": str(tree.dir),
                    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def new(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.run("git init -q && git config gc.auto 0")

    def run(self, script):
        subprocess.run(script, shell=True, env=self.env, cwd=self.tree.dir, stdout=subprocess.DEVNULL, check=True)

    def take(self):
        self.run(self.add)

    def commit(self):
        self.run("git add -A && git commit -q -m x")


class Ahr:
    """Our snapshots of a tree, which no recorder is asked about."""

    name = "ahr fs snapshot"

    def __init__(self, b, tree):
        self.b, self.tree, self.home = b, tree, Path(b.env["AHR_HOME"])

    def new(self):
        shutil.rmtree(self.home / "snapshots", ignore_errors=True)

    def run(self, *args):
        return subprocess.run([self.b.ahr, "fs", *map(str, args)], env=self.b.env, cwd=self.tree.dir, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def take(self):
        """One that has all files, else all figures are void."""
        taken = json.loads(self.run("snapshot"))
        if taken["files"] != len(self.tree.paths) + 1 or taken["skipped"]:
            sys.exit(f"a snapshot of {len(self.tree.paths) + 1} files has {taken['files']} of them")
        return taken["id"]


def disk_mb(folder):
    return sum(os.lstat(Path(top) / name).st_blocks * 512 for top, _, names in os.walk(folder) for name in names) / 1e6


def seconds(call):
    begin = time.monotonic()
    call()
    return time.monotonic() - begin


def take_turns(rounds, contenders, before=lambda: None):
    """The median of each of {name: call}, in s; who is first changes from round to round."""
    took = {name: [] for name in contenders}
    for i in range(rounds):
        before()
        for name in list(contenders)[::-1 if i % 2 else 1]:
            took[name].append(seconds(contenders[name]))
    return {name: statistics.median(times) for name, times in took.items()}


def compare(what, median, unit="s", scale=1, wanted=""):
    for name, took in median.items():
        line(f"{what}, {name}", took * scale, unit)
    ours, peer = list(median.values())[:2]
    line(f"{what}, ours / git's{wanted}", ours / peer, "x")


# -- the first snapshot of a tree, and further ones --

def pair(b, size="files"):
    if not hasattr(b, size):
        setattr(b, size, Tree(b, f"tree of {size}", b.size[size]))
    tree = getattr(b, size)
    tree.grow_old()
    return tree, Ahr(b, tree), Git(b, tree, b.dir / "peer.git")


def take(b):
    tree, ahr, git = pair(b)
    line("files", len(tree.paths) + 1, "files")
    line("bytes of all files", tree.bytes / 1e6, "MB")
    both = {ahr.name: ahr.take, git.name: git.take}

    def anew():
        ahr.new()
        git.new()

    compare("first snapshot", take_turns(b.size["first_rounds"], both, anew))
    line("first snapshot, disk of ours / git's", disk_mb(ahr.home / "snapshots") / disk_mb(git.dir), "x")
    bare = {"bare walk by find": lambda: subprocess.run(["find", tree.dir, "-size", "+100M"], check=True)}
    rounds = b.size["rounds"]
    compare("nothing changed", take_turns(rounds, {**both, **bare}), "ms", 1e3, " (<= 1.2)")
    compare(f"{EDITED} files just edited", take_turns(rounds, both, tree.edit), "ms", 1e3, " (<= 1.2)")

    def edit_long_ago():
        tree.edit()
        tree.grow_old()

    compare(f"{EDITED} files edited long ago", take_turns(max(rounds // 5, 2), both, edit_long_ago), "ms", 1e3,
            " (<= 1.2)")


# -- back to files --

def restore(b):
    tree, ahr, git = pair(b)
    ahr.new()
    git.new()
    git.take()
    snapshot = ahr.take()
    into = {"ahr fs restore": b.dir / "by ahr", "git checkout-index -a": b.dir / "by git"}
    calls = [lambda folder: ahr.run("restore", snapshot, "--into", folder),
             lambda folder: git.run(f"git checkout-index -a --prefix='{folder}/'")]

    def empty():
        for folder in into.values():
            shutil.rmtree(folder, ignore_errors=True)
        os.sync()

    median = take_turns(b.size["restore_rounds"],
                        {name: lambda call=call, name=name: call(into[name]) for name, call in zip(into, calls)}, empty)
    compare("restore", median)
    subprocess.run(["diff", "-r", *into.values()], check=True)
    empty()


# -- what many snapshots need on disk --

def growth(b):
    tree, ahr, git = pair(b, "growth_files")
    ahr.new()
    git.new()
    stores = {"ahr": (ahr.take, ahr.home / "snapshots", lambda: ahr.run("tidy")),
              "git commit": (git.commit, git.dir, lambda: git.run("git gc -q --prune=now"))}
    for make, _, _ in stores.values():
        make()
    first = {name: disk_mb(where) for name, (_, where, _) in stores.items()}
    edits = b.size["edits"]
    took = take_turns(edits, {name: make for name, (make, _, _) in stores.items()}, tree.edit)
    for name, (_, where, tidy) in stores.items():
        line(f"disk, first of {len(tree.paths) + 1} files, {name}", first[name], "MB")
        line(f"disk, each further one, {name}", (disk_mb(where) - first[name]) / edits * 1e3, "kB")
        tidied = seconds(tidy)
        line(f"disk, all {edits + 1} when tidied, {name}", disk_mb(where), "MB")
        line(f"disk, tidied in, {name}", tidied, "s")
        line(f"disk, time of each, {name}", took[name] * 1e3, "ms")


# -- what an agent notices --

def agent_at_work(b, tree, options):
    """What busy_agent.py has measured of its own steps."""
    out = b.dir / "agent.json"
    program = [sys.executable, Path(__file__).with_name("busy_agent.py"), tree.dir / "part00", b.size["bursts"], out]
    subprocess.run([b.ahr, "record", "-q", *options, "--", *map(str, program)], cwd=tree.dir, check=True,
                   env=b.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    # The last snapshot is taken behind the end of the session.
    wait_for(lambda: not with_home(b.env["HOME"]), "the last snapshot is never taken", 600)
    return json.loads(out.read_text())


def agent(b):
    """The first round has the first snapshot in it, of all files."""
    tree, ahr, _ = pair(b)
    ahr.new()
    kinds = {"alone": ["--auto-snapshot=off"], "with auto-snapshot": ["--auto-snapshot=1"]}
    steps = {name: [] for name in kinds}
    rates = {name: [] for name in kinds}
    for _ in range(b.size["agent_rounds"]):
        for name, options in kinds.items():
            got = agent_at_work(b, tree, options)
            steps[name] += got["step_us"]
            rates[name].append(got["steps_per_s"])
    taken = json.loads(ahr.run("list", "--json"))
    line("agent, automatic snapshots in all", len(taken), "snapshots")
    for name in kinds:
        line(f"agent, {name}, steps", statistics.median(rates[name]), "per_s")
        for what, p in (("median", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            line(f"agent, {name}, a step, {what}", percentile(steps[name], p), "us")
    alone, watched = (statistics.median(rates[name]) for name in kinds)
    line("agent, steps alone / with auto-snapshot (1)", alone / watched, "x")


PARTS = {"take": take, "restore": restore, "growth": growth, "agent": agent}

if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
