#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""change_test.py -- sessions renamed and deleted, and nothing else with them.
usage: change_test.py AHR"""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.mounts import mounted, own_mounts
from support.on_pty import OnPty
from support.sessions import GOLDEN, Home, indexed, meta_of, session_id
from support.tap import run, test

own_mounts()
AHR = sys.argv[1]
A, B, C = (session_id("2026-05-28", letter) for letter in "abc")


class Library(Ahr):
    def __enter__(self):
        super().__enter__()
        self.env.update(AHR_UPKEEP="off")
        self.home = Home(self)
        self.sessions = self.home.dir / "sessions"
        self.db = self.home.dir / "library.db"
        for number, sid in enumerate((A, B, C)):
            self.home.add("sessions", sid, b"text of %d\r\n" % number, status="completed",
                          startedAtNs=number + 1, name="abc"[number])
        return self

    def index(self):
        self.ok("index", "--all")

    def ids(self):
        return [s["id"] for s in json.loads(self.ok("list", "--json"))]

    def rows(self):
        """The ids in the index, and how many pieces of text it has."""
        db = sqlite3.connect(self.db)
        ids = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY key DESC")]
        pieces = db.execute("SELECT count(*) FROM pieces").fetchone()[0]
        db.close()
        return ids, pieces


# -- renamed --

@test
def a_renamed_session_is_found_by_its_new_name_alone():
    for is_indexed in (False, True):
        with Library(AHR) as a:
            if is_indexed:
                a.index()
            assert "is called 'new' now" in a.run("rename", "b", "new").stderr.decode()
            assert a.ok("cat", "new") == b"text of 1\r\n"
            a.fails(3, "cat", "b")
            assert "'c' still means" not in a.run("rename", "c", "c").stderr.decode()
            said = a.run("rename", "a", "c").stderr.decode()
            assert f"'c' still means session {C}, which is newer" in said, said
            a.ok("rename", A, "a")
            assert meta_of(a.sessions / B)["name"] == "new"
            if is_indexed:
                assert a.rows() == ([C, B, A], 3)
            assert "no name any more" in a.run("rename", B, "--none").stderr.decode()
            assert "name" not in meta_of(a.sessions / B)
            a.fails(3, "cat", "new")


@test
def all_other_facts_stay_as_they_are():
    with Library(AHR) as a:
        path = a.sessions / A / "session.meta.json"
        text = ('{"z":1,"name":"a","startedAtNs":1780000000123456789,"x":{"b":[1,2.5,null],"a":true},'
                '"cmd":["é\\u0000","\\ud83d\\ude00"],"status":"completed"}')
        path.write_text(text)
        a.ok("rename", A, "other")
        want = json.loads(text)
        want["name"] = "other"
        assert list(json.loads(path.read_text()).items()) == list(want.items())
        assert path.stat().st_mode & 0o777 == 0o600
        assert sorted(p.name for p in path.parent.iterdir()) == ["session.ahr", "session.meta.json"]


@test
def what_cannot_be_renamed_stays():
    with Library(AHR) as a:
        before = a.home.tree()
        assert "is no name for a session" in a.fails(2, "rename", "a", "a/b")
        assert "is no name for a session" in a.fails(2, "rename", "a", "last")
        for args in ((), ("a",), ("a", "b", "c"), ("--none",), ("a", "b", "--none")):
            assert "see 'ahr rename -h'" in a.fails(2, "rename", *args)
        assert "no session or file" in a.fails(3, "rename", "nobody", "x")
        shutil.copy(GOLDEN / "smallest.ahr", a.dir / "x.ahr")
        assert "is a file" in a.fails(3, "rename", "x.ahr", "x")
        assert a.home.tree() == before
        (a.sessions / A / "session.meta.json").write_text("[]")
        assert "is no session.meta.json" in a.fails(4, "rename", A, "x")
        assert (a.sessions / A / "session.meta.json").read_text() == "[]"


# -- deleted --

@test
def a_deleted_session_is_gone_with_its_rows_and_no_other_is():
    with Library(AHR) as a:
        a.index()
        rest = {k: v for k, v in a.home.tree().items() if B not in k and "library.db" not in k}
        deep = a.sessions / B / "x" / "y"
        deep.mkdir(parents=True)
        (deep / "z").write_text("z")
        assert f"session {B} is deleted" in a.run("delete", "--yes", "b").stderr.decode()
        assert {k: v for k, v in a.home.tree().items() if "library.db" not in k} == rest
        assert a.ids() == [C, A] and a.rows() == ([C, A], 2)
        a.ok("delete", "--yes", A, "c", C)
        assert a.ids() == [] and a.rows() == ([], 0) and os.listdir(a.sessions) == []


@test
def links_are_removed_and_not_followed():
    with Library(AHR) as a:
        outside = a.dir / "outside"
        (outside / "sub").mkdir(parents=True)
        (outside / "file").write_text("mine")
        folder = a.sessions / A
        (folder / "dir").symlink_to(outside)
        (folder / "file").symlink_to(outside / "file")
        (folder / "up").symlink_to("../..")
        (folder / "sub").mkdir()
        (folder / "sub" / "dir").symlink_to(outside)
        a.ok("delete", "--yes", A)
        assert (outside / "file").read_text() == "mine" and (outside / "sub").is_dir()
        assert not folder.exists() and sorted(os.listdir(a.sessions)) == [B, C]
        os.rename(a.sessions / B, a.dir / "moved")
        (a.sessions / B).symlink_to(a.dir / "moved")
        a.run("delete", "--yes", B)
        assert (a.dir / "moved" / "session.ahr").exists()


@test
def nothing_is_deleted_unless_all_can_be():
    with Library(AHR) as a:
        before = a.home.tree()
        assert "no session or file 'nobody'" in a.fails(3, "delete", "--yes", "a", "nobody", "b")
        assert "which session?" in a.fails(2, "delete", "--yes")
        assert "give --yes" in a.fails(2, "delete", "a")
        assert "no session or file 'nobody'" in a.fails(3, "delete", "a", "nobody")  # before it would ask
        shutil.copy(GOLDEN / "smallest.ahr", a.dir / "x.ahr")
        assert "is a file" in a.fails(3, "delete", "--yes", "a", "x.ahr")
        assert a.home.tree() == before


@test
def one_is_asked_on_the_terminal():
    with Library(AHR) as a:
        for answer in (b"n\n", b"\n", b"\x04", b"maybe\n"):
            with OnPty([a.binary, "delete", "a", "b"], env=a.env, cwd=a.dir) as p:
                p.read_until(b"Delete 2 sessions for good? [y/N] ")
                assert A[:19].encode() in p.bytes and B[:19].encode() in p.bytes
                os.write(p.master, answer)
                assert p.finish() == 1 and b"nothing is deleted" in p.bytes
        assert a.ids() == [C, B, A]
        with OnPty([a.binary, "delete", "a", "b"], env=a.env, cwd=a.dir) as p:
            p.read_until(b"[y/N] ")
            os.write(p.master, b"y\n")
            assert p.finish() == 0
        assert a.ids() == [C]


@test
def a_live_session_is_left_alone():
    with Library(AHR) as a:
        live = session_id("2026-05-28", "d")
        folder = a.home.add("live", live, b"live", name="d", startedAtNs=9)
        with open(folder / "lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = a.home.tree()
            assert "'ahr stop d' ends it" in a.fails(5, "delete", "--yes", "a", "d")
            assert "'ahr stop d' ends it" in a.fails(5, "rename", "d", "e")
            assert a.home.tree() == before


@test
def one_that_was_cut_off_is_recovered_first():
    with Library(AHR) as a:
        cut = session_id("2026-05-28", "d")
        a.home.add_cut_off(cut, name="d", startedAtNs=9)
        a.ok("rename", "d", "e")
        assert meta_of(a.sessions / cut)["status"] == "interrupted"
        assert meta_of(a.sessions / cut)["name"] == "e" and os.listdir(a.home.dir / "live") == []


@test
def one_that_was_cut_off_goes_as_it_is():
    with Library(AHR) as a:
        cut = session_id("2026-05-28", "e")
        folder = a.home.add_cut_off(cut, name="f", startedAtNs=10)
        (folder / "session.ahr").unlink()  # nobody needs to read it
        (folder / "session.ahr").mkdir()
        (folder / "session.ahr" / "file").touch()
        a.ok("delete", "--yes", "f")
        assert os.listdir(a.home.dir / "live") == [] and a.ids() == [C, B, A]


def fill(path):
    with open(path, "wb", buffering=0) as full:
        with contextlib.suppress(OSError):
            while full.write(bytes(4096)):
                pass


@test
def one_that_was_cut_off_on_a_full_disk_goes_all_the_same():
    for command in (("delete", "--yes", "f"), ("clean", "--yes", "--status", "interrupted")):
        with Library(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
            a.index()
            home = a.dir / "disk" / "ahr"
            cut = a.home.add_cut_off(session_id("2026-05-28", "e"), name="f", startedAtNs=10)
            with open(cut / "session.ahr", "ab") as tape:
                tape.write(bytes(500_000))  # recover would keep them, in a file of its own
            shutil.copytree(a.home.dir, home)
            fill(a.dir / "disk" / "full")
            a.ok(*command, env={"AHR_HOME": str(home)})
            assert os.listdir(home / "live") == [] and sorted(os.listdir(home / "sessions")) == [A, B, C]


@test
def a_session_that_somebody_holds_waits_its_turn():
    with Library(AHR) as a:
        fd = os.open(a.sessions / A, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        delete = a.popen("delete", "--yes", "a")
        try:
            a.ok("delete", "--yes", "b")
            assert delete.poll() is None and (a.sessions / A).is_dir()
        finally:
            os.close(fd)
        assert delete.wait() == 0 and a.ids() == [C]


@test
def a_broken_index_keeps_no_session_from_going():
    with Library(AHR) as a:
        a.db.write_text("no database" * 1000)
        before = a.home.tree()
        assert "ahr reindex" in a.fails(4, "rename", A, "x")
        assert a.home.tree().items() >= before.items()
        said = a.run("delete", "--yes", A)
        assert said.returncode == 0 and b"is deleted" in said.stderr, said.stderr
        assert b"ahr reindex" in said.stderr and not (a.sessions / A).exists()
        assert a.db.read_text() == "no database" * 1000


@test
def what_was_left_half_done_is_ended_by_the_next():
    with Library(AHR) as a:
        a.index()
        os.rename(a.sessions / A, a.sessions / f".gone-{A}")  # killed while it was deleted
        shutil.copytree(a.sessions / B, a.sessions / f".new-{B}")  # … before the swap
        os.rename(a.sessions / C, a.sessions / f".old-{C}")  # … in the middle of it
        (a.sessions / f".new-{C}").mkdir()
        held = session_id("2026-05-28", "e")
        (a.sessions / f".gone-{held}").mkdir()
        (a.sessions / ".gone-x").mkdir()  # whose is that?
        extra = session_id("2026-05-28", "d")
        a.home.add("sessions", extra, b"x")
        fd = os.open(a.sessions / f".gone-{held}", os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)  # somebody is at it
        a.ok("delete", "--yes", extra)
        os.close(fd)
        assert sorted(os.listdir(a.sessions)) == sorted([B, C, f".gone-{held}", ".gone-x"])
        assert a.ids() == [C, B] and a.ok("cat", C) == b"text of 2\r\n"
        os.rename(a.sessions / B, a.sessions / f".old-{B}")  # killed in the middle once more
        assert a.ids() == [C, B]  # and a look is enough
        os.rename(a.sessions / B, a.sessions / f".old-{B}")  # killed after the swap
        shutil.copytree(a.sessions / f".old-{B}", a.sessions / B)
        assert a.ids() == [C, B]
        assert sorted(os.listdir(a.sessions)) == sorted([B, C, ".gone-x"])
        for command in (["recover", "--all"], ["index", "--all"], ["reindex"]):  # who mends mends this, too
            os.rename(a.sessions / B, a.sessions / f".old-{B}")
            a.ok(*command)
            assert sorted(os.listdir(a.sessions)) == sorted([B, C, ".gone-x"]), command
        shutil.copytree(a.sessions / B, a.sessions / f".gone-{B}")  # under the name that it is to get
        a.ok("delete", "--yes", B)
        assert sorted(os.listdir(a.sessions)) == sorted([C, ".gone-x"])


@test
def what_is_no_folder_under_a_hidden_name_is_in_nobodys_way():
    with Library(AHR) as a:
        outside = a.dir / "outside"
        outside.mkdir()
        (outside / "file").touch()
        (a.sessions / f".gone-{A}").symlink_to(outside)
        (a.sessions / f".new-{B}").touch()
        a.ok("delete", "--yes", A)
        assert a.ids() == [C, B]
        assert sorted(os.listdir(a.sessions)) == [B, C] and (outside / "file").exists()


@test
def a_full_disk_is_no_reason_to_keep_a_session():
    with Library(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
        a.index()
        home = a.dir / "disk" / "ahr"
        shutil.copytree(a.home.dir, home)
        with open(home / "sessions" / A / "large", "wb") as large:
            large.write(bytes(500_000))
        fill(a.dir / "disk" / "full")
        env = {"AHR_HOME": str(home)}
        for look in (("list",), ("search", "zz")):
            done = a.run(*look, env=env)
            assert done.returncode == 0 and b"No space" not in done.stderr, done
        assert "No space left" in a.fails(1, "rename", A, "other", env=env)
        a.ok("delete", "--yes", A, env=env)
        assert sorted(os.listdir(home / "sessions")) == [B, C]
        assert indexed(home) == [B, C]


@test
def nothing_of_a_deleted_session_is_left_in_the_library():
    with Library(AHR) as a:
        a.ok("rename", A, "odd-name-of-it")
        a.index()

        def files():
            return b"".join(p.read_bytes() for p in a.home.dir.glob("library.db*"))
        assert b"odd-name-of-it" in files() and A.encode() in files()
        a.ok("delete", "--yes", A)
        assert b"odd-name-of-it" not in files() and A.encode() not in files()


run()
