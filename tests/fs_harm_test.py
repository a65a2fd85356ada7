#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_harm_test.py -- what is in a snapshot's way: others at the same time, no room, what cannot or must not be read,
ceilings. The outcome is clear, and earlier snapshots are whole. usage: fs_harm_test.py AHR [--sanitized]"""

import contextlib
import json
import os
import queue
import random
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.mounts import mounted, own_mounts
from support.nobody import NOBODY
from support.shadow import Shadow, skips
from support.tap import Skip, run, test
from support.trees import Tree, contents, expected, is_same

own_mounts()
AHR = sys.argv[1]
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))
MIB = 1 << 20


def work(snapper, **files):
    """A folder with these files."""
    folder = snapper.dir / "work"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


# -- others --

@test
def several_at_once_are_several_snapshots():
    """Also where none was before, so that each would make the shadow repository."""
    with Shadow(AHR) as a:
        tree = Tree(a.dir / "work", random.Random(1))
        ids = set()
        for _ in range(2):
            some = [a.popen("fs", "snapshot", "--dir", a.dir / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for _ in range(5)]
            want = expected(a.dir / "work")
            ends = [one.communicate(timeout=120) for one in some]
            assert [one.returncode for one in some] == [0] * 5, ends
            new = {json.loads(out)["id"] for out, _ in ends}
            assert len(new) == 5 and not new & ids, (new, ids)
            ids |= new
            for snapshot in new:
                is_same(want, a.restored(snapshot))
            tree.change()
        assert set(a.listed()) == ids and len(a.repositories()) == 1
        a.is_sound()


@test
def snapshots_go_on_while_others_are_deleted_and_collected():
    """Two take them, one deletes those that are not even, one tidies all the time."""
    with Shadow(AHR) as a, ThreadPoolExecutor(4) as pool:
        folder, taken = work(a, same=os.urandom(100_000)), queue.Queue()
        want = {}

        def take(name):
            for number in range(60 if IS_LONG else 8):
                data = os.urandom(3) if number % 3 else b"again"  # what was collected may come back
                (folder / name).write_bytes(data)
                snapshot = a.snapshot(folder)["id"]
                if number % 2:
                    taken.put(snapshot)
                else:
                    want[snapshot] = (name.encode(), data)

        def delete():
            while snapshot := taken.get():
                a.ok("fs", "delete", "--yes", snapshot)

        def tidy():
            while not at_work[0].done() or not at_work[1].done():
                done = a.run("fs", "tidy")
                assert done.returncode in (0, 5), done

        at_work = [pool.submit(take, name) for name in ("one", "two")]
        others = [pool.submit(delete), pool.submit(tidy)]
        wait(at_work)
        taken.put(None)
        for one in (*at_work, *others):
            one.result()
        for _ in range(2):
            assert set(a.listed()) == set(want)
            for snapshot, (name, data) in want.items():
                have = a.restored(snapshot)
                assert have[name][2] == data and len(have[b"same"][2]) == 100_000, (snapshot, have)
            a.is_sound()
            a.ok("fs", "tidy")


# -- no room --

@test
def a_full_disk_is_told_and_costs_no_earlier_snapshot():
    with Shadow(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=6m", "tmpfs"):
        a.home = a.dir / "disk" / "ahr"
        a.env["AHR_HOME"] = str(a.home)
        folder = work(a, small=b"x", other=os.urandom(MIB))
        want = contents(folder)
        kept = a.snapshot(folder)["id"]
        (folder / "large").write_bytes(os.urandom(12 * MIB))
        for _ in range(2):
            said = a.fails(1, "fs", "snapshot", "--dir", folder)
            assert said.startswith("ahr fs snapshot: ") and "No space left" in said, said
            assert said.count("\n") == 1, said
            assert list(a.listed()) == [kept]
            is_same(want, a.restored(kept))
            a.is_sound()
            assert os.statvfs(a.home).f_bavail * 4096 > 3 * MIB, "what has failed has left the disk full"
        (folder / "large").write_bytes(b"small again")
        now = a.snapshot(folder)["id"]
        is_same(contents(folder), a.restored(now))
        is_same(want, a.restored(kept))
        a.is_sound()


@test
def a_disk_that_is_full_to_the_last_byte_is_told():
    """Nothing can be written at all: no repository, no ref, no cache."""
    with Shadow(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
        a.home = a.dir / "disk" / "ahr"
        a.env["AHR_HOME"] = str(a.home)
        folder = work(a, file=b"one")
        kept = a.snapshot(folder)["id"]
        with open(a.dir / "disk" / "full", "wb", buffering=0) as full, contextlib.suppress(OSError):
            while full.write(bytes(4096)):
                pass
        (folder / "file").write_bytes(b"two")
        said = a.fails(1, "fs", "snapshot", "--dir", folder)
        assert said.startswith("ahr fs snapshot: ") and "No space left" in said, said
        other = a.dir / "other"
        other.mkdir()
        assert "No space left" in a.fails(1, "fs", "snapshot", "--dir", other)
        assert a.restored(kept)[b"file"][2] == b"one"
        a.is_sound()
        (a.dir / "disk" / "full").unlink()
        assert a.restored(a.snapshot(folder)["id"])[b"file"][2] == b"two"
        a.is_sound()


# -- what cannot be read --

@test
def what_another_may_not_read_is_listed():
    if os.geteuid():
        raise Skip("becoming another user needs root")
    with Shadow(AHR) as a:
        os.chmod(a.dir, 0o755)
        folder = work(a, open=b"x", closed=b"secret")
        os.chmod(folder / "closed", 0)
        for name, mode in (("shut", 0o700), ("blind", 0o311), ("stuck", 0o644)):
            (folder / name).mkdir()
            (folder / name / "file").write_bytes(b"x")
            os.chmod(folder / name, mode)
        a.home.mkdir()
        os.chown(a.home, NOBODY, NOBODY)
        os.chown(a.dir / "home", NOBODY, NOBODY)
        told = a.snapshot(folder, user=NOBODY, group=NOBODY, extra_groups=[])
        skipped = skips(told)
        assert set(skipped.values()) == {"unreadable"}, skipped
        assert {b"closed", b"shut", b"blind"} <= set(skipped) <= {b"closed", b"shut", b"blind", b"stuck", b"stuck/file"}
        have = a.restored(told["id"])
        assert have[b"open"][2] == b"x" and not {b"closed", b"shut/file", b"blind/file"} & set(have), have
        a.is_sound()


@test
def a_huge_file_costs_nothing_and_is_listed():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        with open(folder / "huge", "wb") as huge:
            huge.truncate(10 << 30)
        begin = time.monotonic()
        told = a.snapshot(folder)
        assert time.monotonic() - begin < 20
        assert skips(told) == {b"huge": "large"} and told["files"] == 1
        assert set(a.restored(told["id"])) == {b"file"}
        assert sum(p.stat().st_size for p in a.home.rglob("*") if p.is_file()) < MIB
        a.is_sound()


@test
def a_large_file_that_is_allowed_is_whole():
    with Shadow(AHR) as a:
        folder = work(a, large=os.urandom(MIB) * 40)
        is_same(contents(folder), a.restored(a.snapshot(folder)["id"]))
        (folder / "large").write_bytes(bytes(200 * MIB))
        told = a.snapshot(folder, "--max-file", "300M")
        assert told["bytes"] == 200 * MIB
        into = a.dir / "into"
        a.ok("fs", "restore", told["id"], "--into", into)
        assert (into / "large").stat().st_size == 200 * MIB
        a.is_sound()


@test
def what_is_no_file_is_listed_and_never_opened():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        os.mkfifo(folder / "fifo")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "socket"))
        want = {b"fifo": "fifo", b"socket": "socket"}
        if os.geteuid() == 0:
            os.mknod(folder / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
            os.mknod(folder / "disk", 0o600 | stat.S_IFBLK, os.makedev(240, 1))
            want.update({b"zero": "device", b"disk": "device"})
        told = a.snapshot(folder, timeout=60)
        assert skips(told) == want, told
        assert set(a.restored(told["id"])) == {b"file"}


@test
def other_file_systems_are_not_entered():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        with mounted(folder / "mount", "-t", "tmpfs", "tmpfs"), mounted(folder / "bind", "--bind", a.dir / "home"):
            for name in ("mount", "bind"):
                (folder / name / "inside").write_bytes(b"x")
            told = a.snapshot(folder)
            assert skips(told) == {b"mount": "mount", b"bind": "mount"}, told
            assert not {b"mount/inside", b"bind/inside"} & set(a.restored(told["id"]))


@test
def names_that_git_must_not_have_are_listed():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        (folder / "sub").mkdir()
        for path in (".GIT", "sub/.Git"):
            (folder / path).write_bytes(b"x")
        (folder / ".giT").mkdir()
        (folder / ".giT" / "config").write_bytes(b"x")
        told = a.snapshot(folder)
        assert skips(told) == {b".GIT": "name", b"sub/.Git": "name", b".giT": "name"}, told
        assert set(a.restored(told["id"])) == {b"file", b"sub"}


@test
def a_path_that_is_too_long_is_listed():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        here = os.open(folder, os.O_RDONLY)
        for _ in range(20):
            os.mkdir("d" * 250, dir_fd=here)
            inner = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(os.open("deep", os.O_WRONLY | os.O_CREAT, dir_fd=here))
        os.close(here)
        told = a.snapshot(folder)
        assert set(skips(told).values()) == {"name"}, told
        assert b"file" in a.restored(told["id"])
        a.is_sound()


@test
def our_own_home_is_no_part_of_a_snapshot():
    with Shadow(AHR) as a:
        folder = work(a, file=b"x")
        a.home = folder / "home of ahr"
        a.env["AHR_HOME"] = str(a.home)
        for _ in range(2):
            told = a.snapshot(folder)
            assert skips(told) in ({b"home of ahr": "ours"}, {b"home of ahr/snapshots": "ours"}), told
            assert {p for p in a.restored(told["id"]) if not p.startswith(b"home")} == {b"file"}
        a.is_sound()


# -- ceilings --

@test
def what_is_over_a_ceiling_is_listed():
    with Shadow(AHR) as a:
        folder = work(a, a=b"1" * 100, b=b"2" * 100, c=b"3" * 100, d=b"4" * 1000)
        for options, want, reason in ((("--max-file", "500"), {b"d"}, "large"), (("--max-files", "3"), {b"d"}, "many"),
                                      (("--max-files", "1"), {b"b", b"c", b"d"}, "many"),
                                      (("--max-total", "250"), {b"c", b"d"}, "total"),
                                      (("--max-file", "1"), {b"a", b"b", b"c", b"d"}, "large"), ((), set(), None)):
            told = a.snapshot(folder, *options)
            skipped = skips(told)
            assert set(skipped) == want and set(skipped.values()) <= {reason}, (options, told)
            assert set(a.restored(told["id"])) == {b"a", b"b", b"c", b"d"} - want, options
        a.is_sound()


@test
def a_thousand_of_many_skipped_are_told():
    with Shadow(AHR) as a:
        folder = work(a)
        for number in range(1200):
            (folder / f"{number:04}").touch()
        told = a.snapshot(folder, "--max-files", "1")
        assert len(told["skipped"]) == 1000 and told["skipped_count"] == 1199
        assert [s["path"] for s in told["skipped"]] == [f"{n:04}" for n in range(1, 1001)]


# -- what the shadow repository may have gone through --

@test
def a_damaged_cache_costs_time_and_nothing_else():
    with Shadow(AHR) as a:
        tree, draw = Tree(a.dir / "work", random.Random(2)), random.Random(3)
        a.snapshot(a.dir / "work")
        cache = a.repositories()[0] / "ahr.cache"
        for _ in range(8):
            data = bytearray(cache.read_bytes())
            for _ in range(draw.randrange(1, 4)):
                data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            cut = draw.choice([0, 1, len(data) // 2, len(data) - 1, len(data)])
            cache.write_bytes(data[:cut])
            tree.change(2)
            is_same(expected(a.dir / "work"), a.restored(a.snapshot(a.dir / "work")["id"]))
        a.is_sound()


@test
def a_cache_of_snapshots_that_are_gone_is_not_believed():
    with Shadow(AHR) as a:
        folder = work(a, file=b"same", other=b"x")
        old = a.snapshot(folder)["id"]
        a.ok("fs", "delete", "--yes", old)
        a.ok("fs", "tidy")
        is_same(contents(folder), a.restored(a.snapshot(folder)["id"]))
        a.is_sound()
        last = a.snapshot(folder)["id"]
        repository, = a.repositories()
        for ref in a.refs(repository):
            a.git(repository, "update-ref", "-d", ref)
        for more in (("reflog", "expire", "--expire=now", "--all"), ("gc", "--prune=now", "-q")):
            a.git(repository, *more)
        assert last not in a.listed()
        is_same(contents(folder), a.restored(a.snapshot(folder)["id"]))
        a.is_sound()


run()
