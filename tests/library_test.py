#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_test.py -- sessions found by whatever they are called, and ended when they were
cut off. usage: library_test.py AHR"""

import fcntl
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.sessions import GOLDEN, Home, meta_of, session_id
from support.tap import run, test

AHR = sys.argv[1]
OLD, MID, NEW = session_id("2026-01-02", "a"), session_id("2026-01-02", "b"), session_id("2026-03-04", "c")


def three(a):
    """An old one and two of the same name; the one whose id sorts last began last."""
    home = Home(a)
    home.add("sessions", OLD, b"old", name="fix-login", startedAtNs=30)
    home.add("sessions", MID, b"mid", name="fix-login", startedAtNs=20)
    home.add("live", NEW, b"new", name="other", startedAtNs=40)
    return home


@test
def a_session_is_found_by_each_of_its_names():
    with Ahr(AHR) as a:
        three(a)
        for what, text in (("last", b"new"), (OLD, b"old"), (NEW, b"new"), ("2026-03", b"new"),
                           ("2026-01-02-bb", b"mid"), ("other", b"new"), ("fix-login", b"old")):
            assert a.ok("cat", what) == text, what
            assert a.ok("render", what) == text + b"\n", what
            assert json.loads(a.ok("verify", "--json", what))["bytes"] == 3, what


@test
def the_last_one_began_last_of_its_day():
    with Ahr(AHR) as a:
        home = Home(a)
        home.add("sessions", OLD, b"later", startedAtNs=9)
        home.add("sessions", MID, b"sooner", startedAtNs=8)
        assert a.ok("cat", "last") == b"later"


@test
def a_prefix_of_several_names_them():
    with Ahr(AHR) as a:
        three(a)
        told = a.fails(2, "cat", "2026-01")
        assert f"several sessions begin with '2026-01': '{OLD}', '{MID}'\n" in told
        home = Home(a)
        for letter in "defabc":
            home.add("sessions", session_id("2026-01-09", letter), b"")
        assert "and 4 more\n" in a.fails(2, "cat", "2026-01")


@test
def what_is_not_there_is_told():
    with Ahr(AHR) as a:
        assert "there is no session in '" in a.fails(3, "cat", "last")
        three(a)
        assert f"no session '{session_id('2026-01-02', 'f')}'" in a.fails(
            3, "verify", session_id("2026-01-02", "f"))
        for what in ("2026-09", "202", "nobody", ""):
            assert f"no session or file '{what}'; 'ahr list' lists the sessions\n" in a.fails(3, "verify", what)
        env = {"HOME": ""}
        assert "set HOME, or AHR_HOME" in a.fails(3, "cat", "last", env=env)
        a.ok("cat", GOLDEN / "smallest.ahr", env=env)


@test
def a_file_comes_before_a_session_and_a_folder_behind():
    with Ahr(AHR) as a:
        three(a)
        (a.dir / "other").mkdir()
        assert a.ok("cat", "other") == b"new"
        a.ok("pack", "-o", "y.ahr", input=b"file")
        os.rename(a.dir / "y.ahr", a.dir / "fix-login")
        assert a.ok("cat", "fix-login") == b"file"
        (a.dir / "nobody").mkdir()
        assert "Is a directory" in a.fails(1, "verify", "nobody")


@test
def the_home_is_where_the_variables_say():
    with Ahr(AHR) as a:
        three(a)
        where = a.dir / "home" / ".local" / "share"
        moved = a.dir / "moved"
        where.rename(moved)
        assert a.ok("cat", "last", env={"XDG_DATA_HOME": str(moved)}) == b"new"
        assert a.ok("cat", "last", env={"AHR_HOME": str(moved / "ahr")}) == b"new"
        assert a.ok("cat", "last", env={"AHR_HOME": "moved/ahr"}) == b"new"
        a.fails(3, "cat", "last", env={"XDG_DATA_HOME": "moved"})


@test
def unreadable_metas_and_foreign_things_are_passed_over():
    with Ahr(AHR) as a:
        home = three(a)
        bad = home.add("sessions", session_id("2026-05-06", "a"), b"bad", meta=False)
        (bad / "session.meta.json").write_bytes(b"{\xff\0")
        (home.dir / "sessions" / "notes.txt").write_text("x")
        (home.dir / "live" / ".new-x").mkdir()
        assert a.ok("cat", "fix-login") == b"old"
        assert a.ok("cat", "last") == b"bad"


@test
def an_out_file_is_followed_while_it_is_recorded():
    with Ahr(AHR) as a:
        home = Home(a)
        a.ok("pack", "-o", "mine.ahr", input=b"mine")
        Home.write_meta(a.dir, NEW, name="away")
        os.rename(a.dir / "session.meta.json", a.dir / "mine.meta.json")
        folder = home.folder("live", NEW)
        (folder / "out-file").write_text(str(a.dir / "mine.ahr") + "\n")
        assert a.ok("cat", "away") == a.ok("cat", "last") == a.ok("cat", "2026") == b"mine"
        (folder / "out-file").write_text("mine.ahr")
        assert "names no file" in a.fails(4, "cat", NEW)


# -- recover --


@test
def a_cut_off_session_is_sealed_marked_and_moved():
    with Ahr(AHR) as a:
        home = Home(a)
        home.add_cut_off(OLD, name="cut", x={"kept": [1, 2.5, None]})
        text = a.ok("cat", "cut")
        would = json.loads(a.ok("recover", "--dry-run", "--json", "cut"))
        assert would["session"] == OLD and would["changed"] and would["dry_run"]
        assert (home.dir / "live" / OLD / "session.ahr.tail-1").exists()
        done = json.loads(a.ok("recover", "--json", "cut"))
        folder = home.dir / "sessions" / OLD
        assert done == {**would, "dry_run": False, "file": str(folder / "session.ahr")}
        assert sorted(p.name for p in folder.iterdir()) == ["session.ahr", "session.meta.json"]
        assert not list((home.dir / "live").iterdir())
        assert a.ok("cat", "cut") == text and text
        meta, seen = meta_of(folder), a.verify(folder / "session.ahr")
        assert list(meta.items()) == [
            ("version", 1), ("sessionId", OLD), ("status", "interrupted"), ("name", "cut"),
            ("x", {"kept": [1, 2.5, None]}), ("totalBytes", len(text)),
            ("endedAtNs", int(seen["last_ts_ns"]))]
        assert b"nothing to do" in a.ok("recover", OLD)


@test
def recover_all_takes_those_whose_recorder_is_gone():
    with Ahr(AHR) as a:
        home = Home(a)
        assert a.run("recover", "--all").stderr == b"ahr recover: nothing to recover\n"
        assert a.ok("recover", "--all", "--json") == b"[]\n"
        home.add_cut_off(OLD)
        home.add_cut_off(MID, meta=False)
        busy = home.add_cut_off(NEW)
        with open(busy / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = json.loads(a.ok("recover", "--all", "--json"))
            assert [d["session"] for d in done] == [OLD, MID]
            assert "is being recorded" in a.fails(5, "recover", NEW)
            assert a.run("recover", "--all").stderr == b"ahr recover: nothing to recover\n"
        assert meta_of(home.dir / "sessions" / MID)["sessionId"] == MID
        assert [p.name for p in (home.dir / "live").iterdir()] == [NEW]
        assert "not both" in a.fails(2, "recover", "--all", NEW)


@test
def a_session_without_a_byte_is_removed():
    with Ahr(AHR) as a:
        home = Home(a)
        home.folder("live", OLD)
        (home.folder("live", MID) / "session.ahr").touch()
        tail = (GOLDEN / "tails.ahr.tail-1").read_bytes()
        folder = home.folder("live", NEW)
        (folder / "session.ahr.tail-0").write_bytes(tail[:7])
        Home.write_meta(folder, NEW)
        assert a.ok("recover", "--dry-run", OLD).decode() == (
            f"{OLD}: nothing was recorded, would be removed\n")
        assert a.ok("recover", "--all").decode() == "".join(
            f"{s}: nothing was recorded, removed\n" for s in (OLD, MID, NEW))
        assert not list((home.dir / "live").iterdir()) and not (home.dir / "sessions").exists()


@test
def what_cannot_be_read_at_all_goes_to_damaged():
    with Ahr(AHR) as a:
        home = Home(a)
        tail = bytearray((GOLDEN / "tails.ahr.tail-1").read_bytes())
        tail[60] ^= 1
        (home.folder("live", OLD) / "session.ahr.tail-1").write_bytes(tail)
        (home.folder("live", NEW) / "session.ahr").write_bytes(b"no recording")
        for sid in (OLD, NEW):
            (home.dir / "live" / sid / "lock").touch()
        (home.dir / "damaged" / NEW).mkdir(parents=True)
        before = home.tree()
        done = a.run("recover", "--all", "--dry-run")
        assert done.returncode == 4 and home.tree() == before, done
        assert done.stdout.decode() == "".join(
            f"{s}: nothing of it can be read; would be moved to 'damaged'\n" for s in (OLD, NEW))
        done = a.run("recover", "--all", "--json")
        assert done.returncode == 4, done
        assert [(d["session"], d["set_aside"], d["file"]) for d in json.loads(done.stdout)] == [
            (OLD, True, None), (NEW, True, None)]
        assert not list((home.dir / "live").iterdir()) and not (home.dir / "sessions").exists()
        assert (home.dir / "damaged" / f"{NEW}.2" / "session.ahr").read_bytes() == b"no recording"
        assert bytes(tail) in [p.read_bytes() for p in (home.dir / "damaged" / OLD).iterdir()]
        assert meta_of(home.dir / "damaged" / OLD)["status"] == "interrupted"
        assert a.run("recover", "--all").stderr == b"ahr recover: nothing to recover\n"
        assert f"nothing of session '{OLD}' can be read: see '" in a.fails(3, "show", OLD)


@test
def a_recording_of_a_newer_version_is_left_where_it_is():
    with Ahr(AHR) as a:
        home = Home(a)
        newer = bytearray((GOLDEN / "smallest.ahr").read_bytes())
        newer[4] = 2
        (home.folder("live", NEW) / "session.ahr").write_bytes(newer)
        before = home.tree()
        assert "holds no whole block" in a.fails(4, "recover", "--all")
        assert before.items() <= home.tree().items() and not (home.dir / "damaged").exists()


@test
def a_session_of_the_same_id_is_not_overwritten():
    with Ahr(AHR) as a:
        home = Home(a)
        home.add("sessions", OLD, b"there before", status="completed")
        before = home.tree()
        home.add_cut_off(OLD)
        assert "is already there" in a.fails(1, "recover", "--all")
        assert a.ok("cat", OLD) == b"there before"
        assert a.ok("cat", home.dir / "live" / OLD / "session.ahr")
        assert before.items() <= home.tree().items()


@test
def an_end_that_was_told_stays():
    with Ahr(AHR) as a:
        home = Home(a)
        folder = home.add_cut_off(OLD, status="failed", exitCode=3)
        meta = (folder / "session.meta.json").read_bytes()
        a.ok("recover", "--all")
        assert (home.dir / "sessions" / OLD / "session.meta.json").read_bytes() == meta


@test
def a_damaged_meta_is_kept_beside_a_new_one():
    with Ahr(AHR) as a:
        home = Home(a)
        folder = home.add_cut_off(OLD, meta=False)
        (folder / "session.meta.json").write_text('{"sessionId":')
        (folder / "session.meta.json.bad").write_text("an older one")
        a.ok("recover", "--all")
        folder = home.dir / "sessions" / OLD
        assert meta_of(folder)["status"] == "interrupted"
        assert (folder / "session.meta.json.bad").read_text() == "an older one"
        assert (folder / "session.meta.json.bad.1").read_text() == '{"sessionId":'


def add_outside(a, home, sid, owner):
    """A cut-off session at mine.ahr, whose meta is that of `owner`."""
    folder = home.add_cut_off(sid)
    Home.write_meta(folder, owner)
    for piece in folder.glob("session.*"):
        piece.rename(a.dir / piece.name.replace("session", "mine", 1))
    (folder / "out-file").write_text(str(a.dir / "mine.ahr") + "\n")


@test
def an_out_file_is_recovered_where_it_stands():
    with Ahr(AHR) as a:
        home = Home(a)
        add_outside(a, home, OLD, OLD)
        assert b"mine.ahr: recovered" in a.ok("recover", "--all")
        assert sorted(p.name for p in a.dir.glob("mine*")) == ["mine.ahr", "mine.meta.json"]
        assert json.loads((a.dir / "mine.meta.json").read_text())["status"] == "interrupted"
        assert not list((home.dir / "live").iterdir()) and not (home.dir / "sessions").exists()


@test
def an_out_file_that_is_another_sessions_by_now_is_left_alone():
    with Ahr(AHR) as a:
        home = Home(a)
        add_outside(a, home, OLD, NEW)
        before = {p: p.read_bytes() for p in a.dir.glob("mine*")}
        assert f"{OLD}: nothing was recorded, removed\n" in a.ok("recover", "--all").decode()
        assert before == {p: p.read_bytes() for p in a.dir.glob("mine*")}
        assert not list((home.dir / "live").iterdir())


@test
def what_was_left_before_a_session_began_goes_in_time():
    with Ahr(AHR) as a:
        home = Home(a)
        for name, age_s in ((".new-old", 90), (".new-held", 90), (".new-young", 0)):
            folder = home.folder("live", name)
            (folder / "lock").touch()
            before = (folder / "lock").stat().st_mtime - age_s
            os.utime(folder, (before, before))
        with open(home.dir / "live" / ".new-held" / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            a.ok("recover", "--all")
        assert sorted(p.name for p in (home.dir / "live").iterdir()) == [".new-held", ".new-young"]


run()
