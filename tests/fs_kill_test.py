#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_kill_test.py -- kill -9 at random instants of whatever changes the snapshots: those that there were are whole,
and the user's files and repositories know nothing of it. usage: fs_kill_test.py AHR [--sanitized] [--kills N]"""

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import library
from support.processes import children, command, kill, state, wait_for
from support.shadow import Shadow
from support.tap import run, test
from support.trees import Tree, expected, git_view, is_same, is_untouched, seal

AHR = sys.argv[1]
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv \
    else 100 if os.environ.get("AHR_TEST_LONG") else 5 if "--sanitized" in sys.argv else 14
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


class Trial:
    """A tree with a past: home-0 has no snapshot of it, home-1 two, and it has changed since; home-2 has lost one
    of them, and what that held is to be collected."""

    def __init__(self, a, draw):
        self.a, self.draw, self.took = a, draw, {}
        self.root = a.dir / "work"
        self.tree = Tree(self.root, draw, 80)
        self._large("large")
        self.known = {}
        self._keep("home-0")
        for name in ("first", "second"):
            told = a.snapshot(self.root, "--label", name)
            self.known[told["id"]] = expected(self.root)
            self.tree.change()
            self._large(name)
        self._keep("home-1")
        self.lost, _ = sorted(self.known)
        a.ok("fs", "delete", "--yes", self.lost)
        self._keep("home-2")
        self.now = expected(self.root)
        self.view = git_view(self.root)
        self.seal = seal(self.root)

    def _large(self, name):
        (self.root / f"{name}.bytes").write_bytes(self.draw.randbytes(4 << 20))

    def _keep(self, name):
        self.a.home.mkdir(exist_ok=True)
        shutil.copytree(self.a.home, self.a.dir / name)

    def begin(self, name):
        shutil.rmtree(self.a.home, ignore_errors=True)
        shutil.copytree(self.a.dir / name, self.a.home)

    # -- what must hold afterwards --

    def is_whole(self, known, may_have_gone=()):
        """Each that there was; and if there is one more, then it is the tree of now."""
        a = self.a
        is_untouched(self.seal, self.root)
        self.tree.nothing_was_run()
        a.is_sound()
        rows = a.listed()
        assert set(known) - set(may_have_gone) <= set(rows), (known.keys(), rows.keys())
        assert len(set(rows) - set(known)) <= 1, rows
        for snapshot in rows:
            is_same(known.get(snapshot, self.now), a.restored(snapshot), snapshot)
        return rows

    def goes_on(self, known, rows):
        """The next snapshot is as good as if nothing had happened, and nothing is left to be cleared away."""
        a = self.a
        told = a.snapshot(self.root)
        assert told["id"] not in rows
        is_same(self.now, a.restored(told["id"]))
        folder = a.home / "snapshots"
        for aside in folder.glob(".*"):
            os.utime(aside, (1, 1))  # of somebody who may be at it, it would be
        a.ok("fs", "tidy")
        assert [p.name for p in folder.iterdir() if p.suffix != ".git"] == [], list(folder.iterdir())
        for repository in a.repositories():
            left = [p for p in repository.rglob("*") if p.suffix in (".new", ".lock", ".keep") or "tmp_" in p.name
                    or p.name.startswith("fast_import_crash")]
            left.remove(repository / "ahr.lock")
            assert left == [], left
        a.is_sound()
        assert set(a.listed()) == {*rows, told["id"]}
        some = self.draw.choice(sorted(set(rows) & set(known)) or [told["id"]])
        is_same(known.get(some, self.now), a.restored(some))

    # -- the ways to be killed; each returns whether it was hit --

    def struck(self, home, *args, victims=None):
        """Runs it in a fresh home; it is killed at some instant, with or without what it has started."""
        if args not in self.took:
            self.begin(home)
            begin = time.monotonic()
            self.a.ok(*args)
            self.took[args] = time.monotonic() - begin
            library.is_quiet(self.a)
        self.begin(home)
        begin = time.monotonic()
        process = self.a.popen(*args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        if ends_within(process.pid, self.draw.uniform(0, self.took[args])):
            self.took[args] = (self.took[args] + time.monotonic() - begin) / 2
        if victims:
            victims(process)
        else:
            kill(process.pid)
        said = process.communicate(timeout=60)[1]
        library.is_quiet(self.a)
        return process.returncode, said

    def snapshot(self):
        status, _ = self.struck("home-1", "fs", "snapshot", "--dir", self.root)
        self.goes_on(self.known, self.is_whole(self.known))
        return status == -signal.SIGKILL

    def first(self):
        status, _ = self.struck("home-0", "fs", "snapshot", "--dir", self.root)
        self.goes_on({}, self.is_whole({}))
        return status == -signal.SIGKILL

    def group(self):
        """With all that it has started."""
        def all_of_it(process):
            os.killpg(process.pid, signal.SIGKILL)
        status, _ = self.struck("home-1", "fs", "snapshot", "--dir", self.root, victims=all_of_it)
        self.goes_on(self.known, self.is_whole(self.known))
        return status == -signal.SIGKILL

    def interrupted(self):
        """By a key, a hang-up or a polite kill, as a terminal sends it to all of them."""
        number = self.draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])

        def politely(process):
            os.killpg(process.pid, number)
        status, _ = self.struck("home-1", "fs", "snapshot", "--dir", self.root, victims=politely)
        assert status in (0, 1, -number, 128 + number), status
        self.goes_on(self.known, self.is_whole(self.known))
        return status != 0

    def git(self):
        """Its git alone: that is told, and is no snapshot."""
        hit = []

        def its_git(process):
            # By its name: at its end a sanitized ahr has a child of its own, which it would wait for in vain.
            gits = lambda: [p for p in children(process.pid) if command(p) == "git"]
            wait_for(lambda: gits() or state(process.pid) in (None, "Z"))
            for pid in gits():
                kill(pid)
                hit.append(pid)
        status, said = self.struck("home-1", "fs", "snapshot", "--dir", self.root, victims=its_git)
        rows = self.is_whole(self.known)
        if status:
            assert status == 1 and said.startswith(b"ahr fs snapshot: "), (status, said)
            assert set(rows) == set(self.known), rows
        self.goes_on(self.known, rows)
        return bool(hit) and status == 1

    def delete(self):
        status, _ = self.struck("home-1", "fs", "delete", "--yes", self.lost)
        self.goes_on(self.known, self.is_whole(self.known, may_have_gone=[self.lost]))
        return status == -signal.SIGKILL

    def tidy(self):
        known = {k: v for k, v in self.known.items() if k != self.lost}
        status, _ = self.struck("home-2", "fs", "tidy")
        self.goes_on(known, self.is_whole(known))
        return status == -signal.SIGKILL


def ends_within(pid, seconds):
    """Whether it comes to its end by itself before that."""
    fd = os.pidfd_open(pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


WAYS = {Trial.snapshot: 4, Trial.first: 2, Trial.group: 2, Trial.interrupted: 1, Trial.git: 1, Trial.delete: 1,
        Trial.tidy: 1}


@test
def snapshots_are_whole_and_the_user_knows_nothing_after_kill_9():
    print(f"# seed {SEED}")
    with Shadow(AHR) as a:
        trial = Trial(a, random.Random(SEED))
        for way, weight in WAYS.items():
            share, hits = max(1, KILLS * weight // sum(WAYS.values())), 0
            for tries in range(1, 5 * share + 10):
                try:
                    hits += way(trial)
                except BaseException as error:
                    error.add_note(f"kill {tries} of {way.__name__}, seed {SEED}")
                    raise
                if hits == share:
                    break
            print(f"# {way.__name__}: {hits} of {tries} were struck at work")
            assert hits == share, way.__name__
        assert git_view(trial.root) == trial.view


run()
