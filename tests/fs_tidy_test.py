#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_tidy_test.py -- snapshots of files go with their session; what nobody needs is collected, while
others take some, and whoever is killed. usage: fs_tidy_test.py AHR [--sanitized]"""

import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.mounts import mounted, own_mounts
from support.processes import wait_for, with_home
from support.recorder import IS_LONG, IS_SANITIZED
from support.sessions import Home, session_id
from support.tap import run, test

own_mounts()
AHR = sys.argv[1]
A, B = (session_id("2026-05-28", letter) for letter in "ab")
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
KILLS = 100 if IS_LONG else 4 if IS_SANITIZED else 8


class Library(Ahr):
    """Two sessions, and two folders to take snapshots of."""

    def __enter__(self):
        super().__enter__()
        self.home = Home(self)
        self.trees = [self.dir / "one", self.dir / "two"]
        for number, tree in enumerate(self.trees):
            tree.mkdir()
            (tree / "file").write_text(f"{number}")
        for number, sid in enumerate((A, B)):
            self.home.add("sessions", sid, b"text", status="completed", startedAtNs=number + 1)
        return self

    def take(self, sid=None, tree=0, *more, **options):
        env = {**self.env, **({"AHR_SESSION": sid} if sid else {}), **options.pop("env", {})}
        done = subprocess.run([self.binary, "fs", "snapshot", *more], cwd=self.trees[tree], env=env,
                              capture_output=True, **options)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def listed(self, env=None):
        return {one["id"]: one["session"] for one in json.loads(self.ok("fs", "list", "--json", env=env))}

    def repositories(self, home=None):
        return sorted(((home or self.home.dir) / "snapshots").glob("*.git"))

    def is_sound(self, home=None):
        for repo in self.repositories(home):
            done = subprocess.run(["git", "--git-dir", repo, "fsck", "--full", "--strict"], env=self.env,
                                  capture_output=True)
            assert done.returncode == 0, done
            done = subprocess.run(["git", "--git-dir", repo, "rev-list", "--objects", "--all"],
                                  env=self.env, capture_output=True)
            assert done.returncode == 0, done

    def are_whole(self, want, env=None):
        """The snapshots by id, each a file's bytes, are those that there are."""
        assert sorted(self.listed(env)) == sorted(want)
        for one, data in want.items():
            into = self.dir / f"back-{one}"
            self.ok("fs", "restore", one, "--into", into, env=env)
            assert (into / "file").read_bytes() == data, one
            shutil.rmtree(into)

    def is_quiet(self):
        wait_for(lambda: not with_home(self.env["HOME"]))


# -- with their session --

@test
def a_deleted_session_takes_its_snapshots_with_it():
    with Library(AHR) as a:
        gone = [a.take(A), a.take(A, 1)]
        kept = [a.take(B), a.take()]
        a.ok("delete", "--yes", A)
        assert sorted(a.listed()) == sorted(one["id"] for one in kept)
        a.ok("fs", "tidy")
        assert len(a.repositories()) == 1
        a.is_sound()
        for one in gone:
            assert str(one["id"]) in a.fails(3, "fs", "delete", "--yes", one["id"])


@test
def a_session_whose_snapshots_cannot_go_stays():
    with Library(AHR) as a:
        taken = a.take(A)
        repo, = a.repositories()
        obstacle = repo / "packed-refs.lock" / "x"
        obstacle.mkdir(parents=True)
        said = a.fails(1, "delete", "--yes", A)
        assert f"session '{A}' stays, for its snapshots of files do" in said, said
        assert a.listed() == {taken["id"]: A}
        assert A in a.ok("list", "--json").decode()
        obstacle.rmdir()
        obstacle.parent.rmdir()
        a.ok("delete", "--yes", A)
        assert a.listed() == {}


@test
def a_session_without_snapshots_needs_no_git():
    with Library(AHR) as a:
        a.take(B)
        tools = a.dir / "tools"
        tools.mkdir()
        a.ok("delete", "--yes", A, env={"PATH": str(tools)})
        said = a.fails(3, "delete", "--yes", B, env={"PATH": str(tools)})
        assert "there is no git" in said, said
        assert list(a.listed().values()) == [B]


@test
def what_a_deleted_session_took_is_freed_in_the_background():
    with Library(AHR) as a:
        a.take(A)
        repo, = a.repositories()
        a.ok("delete", "--yes", A, env={"AHR_UPKEEP": "auto"})
        wait_for(lambda: not repo.exists())
        a.is_quiet()
        assert list((a.home.dir / "snapshots").iterdir()) == []


@test
def a_full_disk_is_no_reason_to_keep_snapshots():
    with Library(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=4m", "tmpfs"):
        home = a.dir / "disk" / "ahr"
        env = {"AHR_HOME": str(home)}
        for n in range(3):
            (a.trees[0] / "file").write_text(f"other {n}")
            a.take(A if n else B, env=env)
        repo, = a.repositories(home)
        subprocess.run(["git", "--git-dir", repo, "pack-refs", "--all"], env=a.env, check=True)
        one, *rest = a.listed(env)
        with open(a.dir / "disk" / "full", "wb", buffering=0) as full, contextlib.suppress(OSError):
            while full.write(bytes(4096)):
                pass
        a.ok("fs", "delete", "--yes", one, env=env)
        assert sorted(a.listed(env)) == sorted(rest)
        os.truncate(a.dir / "disk" / "full", 0)
        a.ok("fs", "tidy", env=env)
        a.is_sound(home)


# -- no room --

@contextlib.contextmanager
def full_disk(a, *sizes):
    """Snapshots of a file that is another one, and so large, each time, until nothing more can be written. What
    the last ones share with the first, `same`, lies in its pack."""
    with mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=8m", "tmpfs"):
        home = a.dir / "disk" / "ahr"
        env, taken = {"AHR_HOME": str(home)}, {}
        (a.trees[0] / "same").write_bytes(os.urandom(1000))
        for size in sizes:
            (a.trees[0] / "file").write_bytes(data := os.urandom(size))
            taken[a.take(env=env)["id"]] = data
        with open(a.dir / "disk" / "full", "wb", buffering=0) as full, contextlib.suppress(OSError):
            while full.write(bytes(4096)):
                pass
        yield home, env, taken


def room(home):
    return os.statvfs(home).f_bavail * os.statvfs(home).f_bsize


@test
def what_one_deleted_snapshot_had_alone_is_freed_on_a_full_disk():
    with Library(AHR) as a, full_disk(a, 1 << 20, 2 << 20, 3 << 20) as (home, env, taken):
        first, second, _ = taken
        del taken[second]
        a.ok("fs", "delete", "--yes", second, env=env)
        assert room(home) < 1 << 16
        told = a.ok("fs", "tidy", env=env)
        assert told.startswith(b"2.1 MB freed"), told
        assert room(home) > 2 << 20
        repo, = a.repositories(home)
        assert not (repo / "ahr.collect").exists()
        a.is_sound(home)
        a.are_whole(taken, env)
        # A pack that has something of another one stays, and there is no room for that one's bytes.
        del taken[first]
        a.ok("fs", "delete", "--yes", first, env=env)
        before, left = packs(repo), room(home)
        assert "No space left" in a.fails(1, "fs", "tidy", env=env)
        assert packs(repo) == before and room(home) >= left - (1 << 14)
        a.is_sound(home)
        a.are_whole(taken, env)
        os.truncate(a.dir / "disk" / "full", 0)
        a.ok("fs", "tidy", env=env)
        assert len(packs(repo)) < len(before)
        a.is_sound(home)
        a.are_whole(taken, env)


@test
def the_room_of_one_is_enough_to_collect_the_rest():
    with Library(AHR) as a, full_disk(a, 1 << 20, 3 << 20, 1 << 20) as (home, env, taken):
        first, second, third = taken
        a.ok("fs", "delete", "--yes", first, second, env=env)
        a.ok("fs", "tidy", env=env)
        assert room(home) > 7 << 19
        repo, = a.repositories(home)
        assert not (repo / "ahr.collect").exists()
        assert sum(name.endswith(".pack") for name in packs(repo)) == 1
        a.is_sound(home)
        a.are_whole({third: taken[third]}, env)


def without_room(a, rev_list='exec git "$@"'):
    """The path of a git that cannot write a pack, and lists objects by that line of shell."""
    tools = a.dir / "narrow"
    tools.mkdir(exist_ok=True)
    (tools / "git").write_text(f"""#!/bin/sh
PATH={shlex.quote(a.env["PATH"])}
export PATH
case " $* " in
*" pack-objects "*) : > objects/pack/tmp_pack_x; echo "fatal: write error: No space left on device" >&2; exit 128 ;;
*" rev-list "*) {rev_list} ;;
*) exec git "$@" ;;
esac
""")
    (tools / "git").chmod(0o755)
    return f"{tools}:{a.env['PATH']}"


@test
def nothing_is_removed_where_it_is_not_known_what_is_needed():
    with Library(AHR) as a:
        taken = {}
        for n in range(3):
            (a.trees[0] / "file").write_bytes(data := b"%d" % n)
            taken[a.take()["id"]] = data
        gone = list(taken)[1]
        del taken[gone]
        a.ok("fs", "delete", "--yes", gone)
        repo, = a.repositories()
        before = packs(repo)
        for rev_list, status in (('git "$@" | head -n 2; exit 1', 1), ("exit 1", 1), ("exit 0", 4), ("echo x", 4),
                                 ('git "$@" | sed "s/^./g&/"', 4), ('git "$@" | tr -d "\\n"', 4)):
            a.fails(status, "fs", "tidy", env={"PATH": without_room(a, rev_list)})
            assert packs(repo) == before, rev_list
        path = {"PATH": without_room(a)}
        name = repo / "refs" / "ahr" / "none" / "1"
        name.parent.mkdir(exist_ok=True)
        name.touch()
        assert "names of snapshots are damaged" in a.fails(4, "fs", "tidy", env=path)
        assert packs(repo) == before
        name.unlink()
        for index in (repo / "objects" / "pack").glob("*.idx"):
            data = index.read_bytes()
            index.chmod(0o600)
            for harm in (b"", data[:1071], data[:-1], data[:4] + b"\0\0\0\3" + data[8:],
                         data[:1028] + b"\xff" * 4 + data[1032:]):
                index.write_bytes(harm)
                assert a.run("fs", "tidy", env=path).returncode in (1, 4)
                assert packs(repo) == before, (index, len(harm))
            index.write_bytes(data)
        a.ok("fs", "tidy", env=path)
        assert len(packs(repo)) < len(before) and not (repo / "ahr.collect").exists()
        a.is_sound()
        a.are_whole(taken)


# -- killed --

def killed(a, draw, within, *args):
    """Runs it, and kills it at some moment; true when it had ended by itself."""
    process = a.popen(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(draw.random() * within)
    process.send_signal(signal.SIGKILL)
    return process.wait() == 0


def duration(a, *args):
    begin = time.monotonic()
    a.ok(*args)
    return time.monotonic() - begin


@test
def no_snapshot_outlives_its_session_whenever_delete_is_killed():
    draw = random.Random(SEED)
    with Library(AHR) as a:
        a.take(A), a.take(A, 1)
        within = duration(a, "delete", "--yes", A) * 1.3
        for n in range(KILLS):
            a.take(B), a.take(B, 1)
            kept = a.take()["id"]
            killed(a, draw, within, "delete", "--yes", B)
            a.is_quiet()
            sessions = {one["id"] for one in json.loads(a.ok("list", "--json"))}
            left = set(a.listed().values())
            assert left <= sessions | {None}, (SEED, n, left, sessions)
            assert kept in a.listed(), (SEED, n)
            if B in sessions:
                a.ok("delete", "--yes", B)
            assert set(a.listed().values()) == {None}, (SEED, n)
            a.home.add("sessions", B, b"text", status="completed")
        a.ok("fs", "tidy")
        a.is_sound()


@test
def a_killed_tidy_loses_nothing():
    draw = random.Random(SEED)
    with Library(AHR) as a:
        kept, within = [], 0
        for n in range(KILLS):
            (a.trees[0] / "file").write_text(f"{n}")
            kept.append(a.take(A)["id"])
            gone = a.take(B)["id"]
            a.ok("fs", "delete", "--yes", gone)
            if not within:
                within = duration(a, "fs", "tidy") * 1.3
            else:
                killed(a, draw, within, "fs", "tidy")
                a.is_quiet()
            assert list(a.listed()) == kept, (SEED, n)
        a.is_sound()
        a.ok("fs", "tidy")
        a.is_sound()
        assert list(a.listed()) == kept
        repo, = a.repositories()
        packs = [p.suffix for p in (repo / "objects" / "pack").iterdir()]
        assert packs.count(".pack") == 1, packs
        assert not (repo / "ahr.collect").exists()


@test
def a_tidy_without_room_that_is_killed_loses_nothing():
    draw = random.Random(SEED)
    with Library(AHR) as a:
        kept, within = {}, 0
        path = without_room(a)
        for n in range(KILLS):
            for taken in (kept, gone := {}):
                (a.trees[0] / "file").write_bytes(data := os.urandom(100))
                taken[a.take()["id"]] = data
            a.ok("fs", "delete", "--yes", *gone)
            before, a.env["PATH"] = a.env["PATH"], path
            if not within:
                within = duration(a, "fs", "tidy") * 1.3
            else:
                killed(a, draw, within, "fs", "tidy")
            a.env["PATH"] = before
            a.is_quiet()
            a.is_sound()
            assert list(a.listed()) == list(kept), (SEED, n)
        a.ok("fs", "tidy", env={"PATH": path})
        a.is_sound()
        a.are_whole(kept)


# -- meanwhile --

def tidy_and(a, line, status=0):
    """Tidies; when git has made the first pack, a line of shell is run: what others do at that moment."""
    tools = a.dir / "tools"
    tools.mkdir(exist_ok=True)
    git = tools / "git"
    git.write_text(f"""#!/bin/sh
PATH={shlex.quote(a.env["PATH"])}
export PATH
case " $* " in *" pack-objects "*) ;; *) exec git "$@" ;; esac
git "$@" || exit
mkdir {shlex.quote(str(a.dir / "once"))} 2>&- || exit 0
exec > /dev/null
{line}
""")
    git.chmod(0o755)
    env = {"PATH": f"{tools}:{a.env['PATH']}"}
    told = a.ok("fs", "tidy", env=env) if status == 0 else a.fails(status, "fs", "tidy", env=env)
    (a.dir / "once").rmdir()
    return told


def packs(repo):
    return sorted(p.name for p in (repo / "objects" / "pack").iterdir())


@test
def a_snapshot_taken_meanwhile_keeps_what_it_stands_on():
    """Also what no other needs any more, and what is about to be collected."""
    with Library(AHR) as a:
        file = a.trees[0] / "file"
        file.write_bytes(precious := os.urandom(5000))
        gone = a.take(B)["id"]
        file.write_text("other")
        kept = a.take(A)["id"]
        a.ok("fs", "delete", "--yes", gone)
        file.write_bytes(precious)
        tidy_and(a, f"{a.binary} fs snapshot --upkeep off --dir {a.trees[0]} || exit 1")
        new, = set(a.listed()) - {kept}
        a.is_sound()
        a.ok("fs", "restore", str(new), "--into", a.dir / "back")
        assert (a.dir / "back" / "file").read_bytes() == precious
        repo, = a.repositories()
        assert not (repo / "ahr.collect").exists()
        a.ok("fs", "tidy")
        a.is_sound()


@test
def what_is_deleted_meanwhile_is_collected_the_next_time():
    with Library(AHR) as a:
        file = a.trees[0] / "file"
        ids = []
        for n in range(3):
            file.write_bytes(os.urandom(50_000))
            ids.append(a.take(A)["id"])
        a.ok("fs", "delete", "--yes", ids[0])
        tidy_and(a, f"{a.binary} fs delete --yes --upkeep off {ids[1]} || exit 1")
        repo, = a.repositories()
        assert list(a.listed()) == ids[2:] and (repo / "ahr.collect").exists()
        before = sum(p.stat().st_size for p in repo.rglob("*.pack"))
        a.ok("fs", "tidy")
        assert sum(p.stat().st_size for p in repo.rglob("*.pack")) < before - 45_000
        assert not (repo / "ahr.collect").exists()
        a.is_sound()


@test
def what_cannot_be_collected_is_left_as_it_was():
    with Library(AHR) as a:
        a.take(A)
        (a.trees[0] / "file").write_text("other")
        a.ok("fs", "delete", "--yes", a.take(B)["id"])
        repo, = a.repositories()
        for _ in range(2):
            before, name = packs(repo), repo / "refs" / "ahr" / "none" / "1"
            damage = f"mkdir -p {name.parent}; : > {name}"
            assert "names of snapshots are damaged" in tidy_and(a, damage, status=4)
            assert packs(repo) == before
            name.unlink()
            a.is_sound()
            a.ok("fs", "tidy")
            assert len(packs(repo)) < len(before) or before == packs(repo)
            (repo / "ahr.collect").touch()  # the pack that is made is the one that is there


# -- at once --

@test
def snapshots_are_taken_and_deleted_while_others_tidy():
    with Library(AHR) as a:
        kept, wrong, is_over = set(), [], threading.Event()

        def take(tree):
            for n in range(6):
                (a.trees[tree] / "file").write_text(f"{tree} {n}")
                mine = a.take(A, tree)["id"]
                (a.trees[tree] / "file").write_text("the same again and again")
                other = a.take(B, tree)["id"]
                kept.add(mine)
                a.ok("fs", "delete", "--yes", other)

        def tidy():
            while not is_over.is_set():
                a.ok("fs", "tidy")

        def guarded(work, *args):
            try:
                work(*args)
            except BaseException as e:  # told by the test itself
                wrong.append(e)

        takers = [threading.Thread(target=guarded, args=(take, tree)) for tree in (0, 1)]
        tidier = threading.Thread(target=guarded, args=(tidy,))
        for thread in (*takers, tidier):
            thread.start()
        for thread in takers:
            thread.join()
        is_over.set()
        tidier.join()
        assert not wrong, wrong
        assert set(a.listed()) == kept
        a.ok("fs", "tidy")
        a.is_sound()
        assert set(a.listed()) == kept


run()
