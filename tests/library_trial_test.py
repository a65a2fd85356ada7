#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_trial_test.py -- many recordings that end at the same instant: each is indexed, none is lost, and
nobody reads of a lock. usage: library_trial_test.py AHR [--sanitized]"""

import fcntl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import library
from support.processes import wait_for
from support.recorder import IS_SANITIZED, Tended
from support.tap import run, test

AHR = sys.argv[1]
MANY = 12 if IS_SANITIZED else 32
TROUBLE = ("lock", "busy", "cannot", "failed", "damaged", "sql")

# Ends when the test lets go of the lock, in all of them at once.
AGENT = """
echo "this is marker-$0 of many"
i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo "line $i of the session $0, and more of it"; done
echo "all said by $0"
flock -s gate true
echo "farewell from $0"
"""


def start(a, number):
    """Begins one in the background, and waits until it has said everything but its farewell."""
    name = f"many-{number:02d}"
    sid = a.ok("record", "--background", "--name", name, "--", "sh", "-c", AGENT, f"{number:02d}").decode().strip()
    wait_for(lambda: f"all said by {number:02d}".encode() in a.run("cat", sid).stdout)
    return sid


def trouble_in(folder):
    log = folder / "host.log"
    return [line for line in (log.read_text().splitlines() if log.exists() else [])
            if any(word in line.lower() for word in TROUBLE)]


@test
def recordings_that_end_at_once_are_all_indexed():
    with Tended(AHR) as a, open(a.dir / "gate", "w", encoding="utf-8") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        with ThreadPoolExecutor(4) as starters:
            ids = sorted(starters.map(lambda n: start(a, n), range(MANY)))
        assert len(set(ids)) == MANY and sorted(library.listed(a)) == ids
        fcntl.flock(gate, fcntl.LOCK_UN)

        # However far they are, each is shown, once.
        def all_indexed():
            seen = library.listed(a)
            assert sorted(seen) == ids, (len(seen), set(ids) ^ set(seen))
            return all(row["indexed"] and row["place"] == "sessions" for row in seen.values())
        wait_for(all_indexed, lambda: f"not indexed: {unindexed(a)}", 240)
        library.is_quiet(a)

        seen = library.listed(a)
        assert sorted(seen) == ids == a.names("sessions") and a.names("live") == []
        assert {row["status"] for row in seen.values()} == {"completed"}
        assert sorted(row["name"] for row in seen.values()) == [f"many-{n:02d}" for n in range(MANY)]
        assert library.where_found(a, "farewell from") == ids
        for sid, row in seen.items():
            assert trouble_in(a.home / "sessions" / sid) == []
            assert library.where_found(a, f"marker-{row['name'][-2:]}") == [sid]
        assert sum(len(library.hits(a, "all said by", "--session", sid)[0]) for sid in ids) == MANY
        library.is_sound(a.home / "library.db", ids)
        left = {p.name for p in a.home.glob("library.*")}
        assert left <= {"library.db", "library.db-wal", "library.db-shm", "library.db.lock", "library.tend"}, left


def unindexed(a):
    return [row["name"] for row in library.listed(a, said=[]).values() if not row["indexed"]]


@test
def many_who_index_the_same_are_of_one_mind():
    with Tended(AHR) as a:
        ids = []
        for n in range(6):
            a.ok("record", "-q", "--name", f"one-{n}", "--", "sh", "-c", f"seq 1 2000; echo same-{n}")
        library.is_quiet(a)
        ids = a.names("sessions")
        for old in a.home.glob("library.db*"):
            old.unlink()
        at_once = [a.start("index", "--all", stdout=log, stderr=log) for log in [a.log()] for _ in range(3)]
        at_once += [a.start("index", *ids, stdout=log, stderr=log) for log in [a.log()] for _ in range(3)]
        at_once += [a.start("reindex", stdout=log, stderr=log) for log in [a.log()] for _ in range(2)]
        for one in at_once:
            assert one.wait(120) in (0, 5), a.said()
        library.is_clear("\n".join(row for row in a.said().splitlines() if row.startswith("ahr ")))
        a.ok("index", "--all")
        library.is_sound(a.home / "library.db", ids)
        assert library.where_found(a, "same-") == ids
        assert all(row["indexed"] for row in library.listed(a).values())


run()
