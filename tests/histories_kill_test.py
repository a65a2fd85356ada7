#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_kill_test.py -- kill -9 of `ahr import` at random instants: in the end each history is one session,
with the events of an import that nobody has disturbed. usage: histories_kill_test.py AHR [KILL_SHIM FAULT_SHIM] [--sanitized] [--kills N]

A home of many histories is imported, killed and imported again, until nothing is left to do; then all of them
grow, and the same once more. The instants are drawn over the time that the work takes.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import library
from support.histories import claude, codex, gemini
from support.importer import Importer, tree
from support.processes import kill
from support.tap import Skip, run, test

AHR = sys.argv[1]
SHIM, FAULTS = ([str(Path(arg).resolve()) for arg in sys.argv if arg.endswith(".so")] + [None, None])[:2]
IS_LONG, IS_SANITIZED = bool(os.environ.get("AHR_TEST_LONG")), "--sanitized" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 200 if IS_LONG else 30
COUNT = 1000 if IS_LONG else 40 if IS_SANITIZED else 150
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


def make(a, number):
    kind = number % 5
    if kind == 3:
        return codex(a.codex, number, turns=1)
    if kind == 4:
        return gemini(a.gemini, number, turns=2)
    return claude(a.claude, number, turns=1, subs=1 if kind == 2 else 0)


class Trial:
    """A home, one that nobody disturbs, and how far the histories of both are written."""

    def __init__(self, a, whole):
        self.a, self.whole, self.draw = a, whole, random.Random(SEED)
        self.made = [(make(a, n), make(whole, n)) for n in range(COUNT)]
        self.kills = 0
        print(f"# AHR_TEST_SEED={SEED}, {COUNT} histories", flush=True)

    def write(self, share):
        for both in self.made:
            for h in both:
                if h.agent == "gemini":
                    h.write(max(2, int(len(h.messages) * share)))
                else:
                    done, upto = getattr(h, "done", 0), int(len(h.steps) * share)
                    h.append(done, upto)
                    h.done = upto

    def import_killed(self, within):
        """One import that is killed in that time, if it is not over before."""
        child = self.a.popen("import", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + self.draw.random() * within
        while child.poll() is None and time.monotonic() < deadline:
            pass  # a sleep is too coarse
        was_alive = child.poll() is None
        kill(child.pid)
        said = child.communicate()[1].decode()
        assert was_alive or child.returncode in (0, -9), (child.returncode, said)
        self.kills += child.returncode == -9
        return child.returncode == -9

    def disturb(self, kills):
        """So many kills, by which the work comes to its end; between them somebody looks, or recovers."""
        begin = time.monotonic()
        self.want()
        within = 2 * (time.monotonic() - begin) / kills + 0.005
        for _ in range(kills):
            self.import_killed(within)
            look = self.draw.random()
            if look < 0.1:
                rows = library.listed(self.a, said=[])
                assert set(rows) <= set(self.want()), "a session that no history has"
            elif look < 0.2:
                self.a.ok("recover", "--all")
            elif look < 0.3:
                self.a.ok("index", "--all")

    def want(self):
        """What an import that nobody disturbs gives now."""
        rows = self.whole.take().values()
        return {row["id"]: self.whole.turns(row["id"]) for row in rows if row["result"] != "skipped"}

    def is_right(self, what):
        a, want = self.a, self.want()
        a.take()
        have = a.sessions()
        assert have == sorted(want), (what, set(have) ^ set(want))
        for sid in have:
            assert a.turns(sid) == want[sid], (what, sid)
            assert not (a.folder(sid) / "session.turns.jsonl.new").exists(), (what, sid)
        done = a.take()
        assert {row["result"] for row in done.values()} <= {"unchanged", "skipped"}, what
        a.ok("recover", "--all")
        a.ok("index", "--all")
        assert list((a.home / "live").iterdir()) == [], what
        rows = library.listed(a)
        assert sorted(rows) == have, what
        for sid, row in rows.items():
            mine = {key: row[key] for key in ("turns", "usage", "model", "agent_session_id", "started_at", "ended_at")}
            theirs = self.whole.shown(sid) if self.draw.random() < 0.1 or IS_LONG else row
            theirs = {**theirs, "turns": row["turns"]}  # only an index counts them
            assert mine == {key: theirs[key] for key in mine}, (what, sid)
        library.is_sound(a.home / "library.db", have)
        assert library.where_found(a, "saying-1 ") == have, what  # each has it once


@test
def whatever_is_killed_each_history_is_one_session_with_each_event_once():
    with Importer(AHR) as a, Importer(AHR) as whole:
        trial = Trial(a, whole)
        trial.write(0.4)
        originals = tree(a.user / ".claude")
        trial.disturb(KILLS // 3)
        assert tree(a.user / ".claude") == originals
        trial.is_right("new")
        for share in (0.7, 1):
            trial.write(share)
            trial.disturb(KILLS // 3)
            trial.is_right(f"grown to {share}")
        for h, _ in trial.made:
            if h.agent != "gemini":
                assert h.done == len(h.steps)
        done = a.take()
        for h, _ in trial.made:
            h.is_in(a.events(done[h.path]["id"]))
        assert trial.kills >= KILLS // 5, trial.kills
        print(f"# {trial.kills} of {KILLS} imports were killed", flush=True)


@test
def a_kill_while_sessions_are_made_anew_leaves_the_old_or_the_new_one():
    with Importer(AHR) as a:
        draw, count = random.Random(SEED), 10 if not IS_LONG else 60
        made = [claude(a.claude, n, turns=3) for n in range(count)]
        for h in made:
            h.write(len(h.steps) - 3)
        old = {row["id"]: a.turns(row["id"]) for row in a.take().values()}
        for h in made:
            h.steps[0] = (h.path, b'{"type":"summary","summary":"a new head","leafUuid":"x"}\n')
            h.write()
        with Importer(AHR) as once:
            rows = [once.take(h.path)[h.path] for h in made]
            new = {row["id"]: [{**e} for e in once.events(row["id"])] for row in rows}
        strip = lambda events: [{k: v for k, v in e.items() if k not in ("ts_ns", "t_ms", "session")} for e in events]
        kept, rounds, kills, torn = a.dir / "kept", max(10, KILLS // 4), 0, 0
        shutil.copytree(a.home, kept)
        begin = time.monotonic()
        assert {row["result"] for row in a.take().values()} == {"replaced"}
        takes = time.monotonic() - begin
        for _ in range(rounds):
            shutil.rmtree(a.home)
            shutil.copytree(kept, a.home)
            child = a.popen("import", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + draw.random() * takes
            while child.poll() is None and time.monotonic() < deadline:
                pass
            kill(child.pid)
            was_killed = child.wait() == -9
            kills += was_killed
            takes *= 1.1 if was_killed else 0.6  # as busy as the machine is now
            assert sorted(old) == a.sessions()
            are_old = [a.turns(sid) == old[sid] for sid in old]
            torn += len(set(are_old)) == 2
            for sid, is_old in zip(old, are_old):
                assert is_old or strip(a.events(sid)) == strip(new_of(new, sid)), sid
            a.take()
            for sid in old:
                assert strip(a.events(sid)) == strip(new_of(new, sid)), sid
        print(f"# {kills} of {rounds} imports were killed, {torn} between sessions", flush=True)
        assert kills >= rounds // 5, kills
        for h in made:
            sid = next(row["id"] for row in a.take(h.path).values())
            h.is_in(a.events(sid))
        assert a.sessions() == sorted(old)


@test
def a_kill_between_any_two_changes_of_a_file_is_made_good_by_the_next_import():
    """One that is new, one that has grown and one that was written anew; whoever looks in between finds all of
    what was there before."""
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    with Importer(AHR) as a, Importer(AHR) as whole:
        grown, anew, added = (claude(a.claude, n, turns=1, subs=n == 1) for n in (1, 2, 3))
        grown.write(9), anew.write(6)
        a.take()
        a.ok("index", "--all")
        first = {sid: a.turns(sid) for sid in a.sessions()}
        grown.append(9), added.write()
        anew.steps[0] = (anew.path, b'{"type":"summary","summary":"a new head","leafUuid":"x"}\n')
        anew.write()
        kept = a.dir / "kept"
        shutil.copytree(a.home, kept)
        rows = a.take()
        assert sorted(row["result"] for row in rows.values()) == ["grown", "new", "replaced"]
        want = {sid: a.turns(sid) for sid in a.sessions()}
        ids = {h: rows[h.path]["id"] for h in (grown, anew, added)}
        for after in (False, True):
            step = 1 if IS_LONG else 4
            n, was_killed = random.Random(SEED + after).randrange(step) - step + 1, True
            while was_killed:
                n += step
                shutil.rmtree(a.home)
                shutil.copytree(kept, a.home)
                env = {"LD_PRELOAD": SHIM, "KILL_AT": str(n), **({"KILL_AFTER": "1"} if after else {})}
                was_killed = a.run("import", env=env).returncode == -9
                what = (n, after)
                for sid, turns in first.items():
                    now = a.turns(sid)
                    assert now.startswith(turns) or now == want[sid], what
                if n % 3 == 0:  # as it lies there it is listed, and indexed
                    assert set(library.listed(a, said=[])) >= set(first), what
                    a.ok("index", "--all")
                a.take()
                assert {sid: a.turns(sid) for sid in a.sessions()} == want, what
                assert list((a.home / "live").iterdir()) == [], what
                a.ok("index", "--all")
                assert library.where_found(a, "saying-1 ") == sorted(ids.values()), what
                assert {row["result"] for row in a.take().values()} == {"unchanged"}, what
            print(f"# {n - 1} changes", flush=True)
            assert n > 40


@test
def a_disk_that_fails_at_any_call_costs_no_line():
    if not FAULTS:
        raise Skip("preloading does not go with the sanitizers")
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=1, subs=1)
        h.write(9)
        sid = a.take()[h.path]["id"]
        kept = a.dir / "kept"
        shutil.copytree(a.home, kept)
        h.append(9)
        a.take()
        want, failed = a.turns(sid), 0
        for at in range(1, 41):
            shutil.rmtree(a.home)
            shutil.copytree(kept, a.home)
            env = {"LD_PRELOAD": FAULTS, "FAULT_CALL": "write,pwrite,fsync,fdatasync,rename,open,mkdir", "FAULT_AT": str(at),
                   "FAULT_COUNT": "1", "FAULT_PATH": "/sessions/"}
            failed += a.run("import", env=env).returncode != 0
            for _ in range(2):
                a.take()
                assert a.turns(sid) == want, at
        print(f"# {failed} failed")
        assert failed >= 6, failed


def new_of(new, sid):
    """Its day may be another: what follows that is the same."""
    return next(events for name, events in new.items() if name[11:] == sid[11:])


if __name__ == "__main__":
    run()
