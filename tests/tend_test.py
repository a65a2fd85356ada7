#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tend_test.py -- the library looks after itself: what was recorded, imported or cut off is indexed
without anybody's doing. usage: tend_test.py AHR"""

import contextlib
import ctypes
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.processes import is_gone, stat, wait_for
from support.recorder import Recorder, Tended
from support.sessions import Home, indexed, meta_of, session_id
from support.tap import run, test

AHR = sys.argv[1]
OLD, NEW = session_id("2026-01-02", "a"), session_id("2026-03-04", "b")


class Watched(Tended):
    """At the end it is waited for what goes on there."""

    def indexers(self):
        """The processes at work in the background."""
        def words(pid):
            try:
                return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                return []
        return [p for p in self.processes() if b"index" in words(p)[1:2]]

    def indexer(self):
        """The one that is there, as soon as it shows what it is."""
        indexer, = wait_for(self.indexers, "nobody is at work")
        return indexer

    def awaits(self, *ids):
        wait_for(lambda: indexed(self.home) == sorted(ids),
                 lambda: f"indexed: {indexed(self.home)}")


@contextlib.contextmanager
def locked(home):
    """Nobody else can write to the library."""
    with contextlib.closing(sqlite3.connect(home / "library.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


# -- at the end of a session --

@test
def a_session_is_indexed_when_it_has_ended():
    with Watched(AHR) as a:
        a.ok("record", "-q", "--", "echo", "needle")
        a.awaits(a.session().name)


@test
def nobody_waits_for_the_index():
    with Watched(AHR) as a:
        a.ok("record", "-q", "--", "true")
        first = a.session().name
        a.awaits(first)
        a.nobody_is_left()
        with locked(a.home):
            client = a.start("record", "-q", "--", "sh", "-c", "read x; exit 7", stdin=subprocess.PIPE)
            host = a.host(client.pid)
            client.communicate(b"go\n")
            a.ends(client, 7)
            wait_for(lambda: is_gone(host), "the host waits")
            indexer = a.indexer()
            fields = stat(indexer)
            assert int(fields[3]) == indexer and int(fields[4]) == 0, "it has a session or a terminal"
            assert int(fields[16]) >= 10, f"nice {fields[16]}"
            assert os.readlink(f"/proc/{indexer}/cwd") == "/"
            for fd in range(3):
                assert os.readlink(f"/proc/{indexer}/fd/{fd}") == "/dev/null"
        a.awaits(*a.names("sessions"))
        assert len(a.names("sessions")) == 2


@test
def what_is_not_to_be_indexed_starts_nothing():
    with Watched(AHR) as a:
        a.ok("record", "-q", "--upkeep", "off", "--", "true")
        a.ok("record", "-q", "--", "true", env={"AHR_UPKEEP": "off"})
        a.ok("record", "-q", "--out-file", "x.ahr", "--", "true")
        assert a.indexers() == []
        config = a.dir / "home" / ".config" / "ahr"
        config.mkdir(parents=True)
        (config / "config").write_text("upkeep = off\n")
        a.ok("record", "-q", "--", "true")
        assert a.indexers() == [] and not (a.home / "library.db").exists()
        assert len(a.names("sessions")) == 3


@test
def what_was_imported_is_indexed():
    with Watched(AHR) as a:
        (a.dir / "x.cast").write_text('{"version": 2, "width": 80, "height": 24}\n[1, "o", "needle"]\n')
        assert a.indexers() == []
        a.ok("import", "--out-file", "y.ahr", "x.cast")
        assert a.indexers() == []
        a.awaits(a.ok("import", "x.cast").decode().strip())


@contextlib.contextmanager
def touched(folder):
    """The names in this folder that anybody opens, makes or removes meanwhile."""
    libc, names = ctypes.CDLL(None, use_errno=True), set()
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert libc.inotify_add_watch(fd, os.fsencode(folder), 0xfff) >= 0, os.strerror(ctypes.get_errno())
    yield names
    with contextlib.suppress(BlockingIOError):
        while events := os.read(fd, 1 << 16):
            while events:
                n, = struct.unpack_from("12xI", events)
                names.add(events[16:16 + n].rstrip(b"\0").decode())
                events = events[16 + n:]
    os.close(fd)


@test
def a_recorder_never_touches_the_index():
    with Recorder(AHR) as a:
        a.ok("record", "-q", "--name", "first", "--", "true")
        a.ok("index", "--all")
        first = a.session().name
        with touched(a.home) as names:
            a.ok("record", "-q", "--name", "next", "--parent", "first", "--", "true")
            a.ok("record", "-q", "--parent", "last", "--", "true")
        assert {"live", "sessions"} <= names and not any(n.startswith("library") for n in names), names
        made, = (f for f in (a.home / "sessions").iterdir() if meta_of(f).get("name") == "next")
        assert meta_of(made)["parent"] == first
        with touched(a.home) as names:
            a.ok("show", "first")
        assert "library.db" in names  # or the test would not see it


# -- after recover --

def home_of(a):
    return Home(a), a.dir / "home" / ".local" / "share" / "ahr"


@test
def what_was_recovered_is_indexed():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        home.add_cut_off(OLD)
        home.add("sessions", NEW, b"not indexed yet", status="completed")
        a.ok("recover", OLD)
        assert indexed(folder) == [OLD]
        a.ok("recover", "--all")  # whatever else waits, too
        assert indexed(folder) == sorted([OLD, NEW])


@test
def a_look_that_changes_nothing_makes_no_library():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        a.ok("recover", "--all")
        assert not (folder / "library.db").exists()
        home.add_cut_off(OLD)
        a.ok("recover", "--all", "--dry-run")
        assert not (folder / "library.db").exists()


@test
def a_library_that_is_no_use_does_not_keep_a_session_from_being_recovered():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        home.add_cut_off(OLD)
        (folder / "library.db").write_text("no library")
        done = a.run("recover", "--all")
        assert done.returncode == 0 and b"recovered" in done.stdout, done
        assert b"ahr recover: not indexed yet: " in done.stderr, done.stderr
        assert (folder / "library.db").read_text() == "no library"
        assert meta_of(folder / "sessions" / OLD)["status"] == "interrupted"


@test
def a_stored_session_is_mended_and_indexed_again():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        home.add_cut_off(OLD, status="completed")
        (folder / "sessions").mkdir()
        (folder / "live" / OLD).rename(folder / "sessions" / OLD)
        a.ok("index", OLD)
        text = a.ok("cat", OLD)
        assert b"recovered" in a.ok("recover", OLD)
        assert indexed(folder) == [OLD] and a.ok("cat", OLD) == text
        assert not list((folder / "sessions" / OLD).glob("*.tail-*"))
        assert b"nothing to do" in a.ok("recover", OLD)


@test
def a_stored_session_that_cannot_be_read_goes_to_damaged():
    for command in (["recover", OLD], ["index", "--all"]):
        with Ahr(AHR) as a:
            home, folder = home_of(a)
            home.add("sessions", OLD, b"text", status="completed")
            home.add("sessions", NEW, b"text", status="completed")
            tape = folder / "sessions" / OLD / "session.ahr"
            ruin = b"x" + tape.read_bytes()[1:]
            tape.write_bytes(ruin)
            assert "damaged" in a.run(*command).stdout.decode(), command
            assert (folder / "damaged" / OLD / "session.ahr").read_bytes() == ruin, command
            a.ok("index", "--all")
            assert indexed(folder) == [NEW], command


@test
def a_process_number_that_somebody_else_has_by_now_says_nothing():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        home.add_cut_off(OLD, hostPid=os.getpid())
        a.ok("recover", "--all")
        assert not list((folder / "live").iterdir())
        assert meta_of(folder / "sessions" / OLD)["status"] == "interrupted"
        assert indexed(folder) == [OLD]


# -- after a look --

@test
def a_look_has_done_what_was_left_undone():
    with Watched(AHR) as a:
        del a.env["AHR_HOME"]
        home, a.home = home_of(a)
        home.add_cut_off(OLD)
        home.add("sessions", NEW, b"not indexed yet", status="completed")
        assert OLD in a.ok("list", "--json").decode()
        a.awaits(OLD, NEW)
        a.nobody_is_left()
        assert meta_of(a.home / "sessions" / OLD)["status"] == "interrupted"
        shutil.rmtree(a.home / "sessions" / OLD)  # by hand: its rows are of no use
        a.ok("list")
        a.awaits(NEW)


@test
def looks_that_come_together_start_one_process():
    with Watched(AHR) as a:
        del a.env["AHR_HOME"]
        home, a.home = home_of(a)
        home.add("sessions", NEW, b"text", status="completed")
        a.ok("index", NEW)
        home.add("sessions", OLD, b"text", status="completed")
        with locked(a.home):
            for _ in range(3):
                a.ok("list")
                a.indexer()
        a.awaits(OLD, NEW)


@test
def a_library_that_cannot_be_used_starts_nothing():
    with Watched(AHR) as a:
        del a.env["AHR_HOME"]
        home, a.home = home_of(a)
        home.add("sessions", OLD, b"text", status="completed")
        (a.home / "library.db").write_text("no library")
        assert OLD in a.ok("list", "--json").decode()
        assert a.processes() == [] and not (a.home / "library.tend").exists()


# -- keyframes --

@test
def a_long_session_has_its_keyframes_when_it_is_indexed():
    with Ahr(AHR) as a:
        home, folder = home_of(a)
        home.add("sessions", OLD, b"a line of text\r\n" * 200000, status="completed")
        home.add("sessions", NEW, b"a line of text\r\n", status="completed")
        a.ok("index", "--all")
        assert (folder / "sessions" / OLD / "keyframes").stat().st_size > 128
        assert not (folder / "sessions" / NEW / "keyframes").exists()


run()
