#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_broken_test.py -- whatever becomes of library.db, sessions are listed, shown and read, a clear word
is said, and `reindex` makes it anew. usage: library_broken_test.py AHR [--sanitized]"""

import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import library
from support.nobody import NOBODY
from support.processes import open_files, state, wait_for
from support.recorder import IS_LONG, IS_SANITIZED, Tended
from support.tap import Skip, run, test

AHR = sys.argv[1]
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
FLIPS = 300 if IS_LONG else 6 if IS_SANITIZED else 16
NAMES = ("first", "second", "third")
SOME = NAMES[:1] if IS_SANITIZED else NAMES
SCRIPT = 'echo "marker-$0 stands here"; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo "$i $0 $((i * 7919))"; done'
DAMAGED, NEWER, BUSY = 4, 1, 5


class Library:
    """Three stored sessions and their index, in a home of its own; a context manager."""

    made = None  # the same three for all, and where they are

    def __enter__(self):
        self.a = Tended(AHR).__enter__()
        self.db = self.a.home / "library.db"
        if Library.made is None:
            for name in NAMES:
                self.a.ok("record", "-q", "--sync", "none", "--name", name, "--", "sh", "-c", SCRIPT, name)
            self.a.ok("index", "--all")
            library.is_quiet(self.a)
            Library.made = Path(os.environ.get("TMPDIR", "/tmp")) / f"ahr-test-{os.getpid()}-three"
            shutil.copytree(self.a.home, Library.made)
        else:
            shutil.copytree(Library.made, self.a.home)
        self.ids = self.a.names("sessions")
        self.before = library.digest(self.a.home / "sessions")
        self.bytes = {name: self.a.ok("cat", name) for name in NAMES}
        return self

    def __exit__(self, *why):
        if why[0] is None:
            library.is_quiet(self.a)
        return self.a.__exit__(*why)

    # -- what must hold --

    def run(self, *args, **more):
        """A command that ends, and speaks as people do."""
        done = self.a.run(*args, timeout=60, **more)
        assert done.returncode >= 0, (args, done)
        library.is_clear(done.stderr.decode())
        return done

    def reads_on(self, word=None, by=SOME, **more):
        """Everything that needs no index. word: what `list` says about it; None: whatever it says."""
        done = self.run("list", "--json", **more)
        assert done.returncode == 0, done
        assert sorted(row["id"] for row in json.loads(done.stdout)) == self.ids, done.stdout
        said = done.stderr.decode()
        if word is not None:
            assert (word in said) if word else not said, said
            assert said.count("\n") <= 1, said
        assert self.run("list", **more).returncode == 0
        for what in (*by, "last"):
            text = self.bytes.get(what, self.bytes["third"])
            shown = self.run("show", "--json", what, **more)
            assert shown.returncode == 0 and json.loads(shown.stdout)["id"] in self.ids, (what, shown)
            read = self.run("cat", what, **more)
            assert read.returncode == 0 and read.stdout == text, (what, read.stderr)
            played = self.run("replay", "--fast", what, **more)
            assert played.returncode == 0 and f"{what if what in NAMES else 'third'} stands here".encode() \
                in played.stdout, (what, played)

    def search_tells(self, status, word, **more):
        done = self.run("search", "marker-", **more)
        assert done.returncode == status, (done.returncode, done.stderr)
        assert word in done.stderr.decode(), done.stderr

    def is_made_anew(self):
        self.a.ok("reindex")
        library.is_quiet(self.a)
        self.works()

    def works(self):
        assert sorted(library.listed(self.a)) == self.ids
        assert library.where_found(self.a, "marker-") == self.ids
        self.reads_on("")
        library.is_sound(self.db, self.ids)

    def sessions_are_untouched(self):
        now = library.digest(self.a.home / "sessions")
        assert {name: now.get(name) for name in self.before} == self.before

    def alone(self):
        """library.db without a log: all of it is in the one file."""
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert not self.db.with_name("library.db-wal").exists()
        return self.db.read_bytes()

    def is_left_alone(self, action):
        """Nobody removes or replaces what lies there, unasked."""
        before = self.db.read_bytes()
        action()
        library.is_quiet(self.a)
        assert self.db.read_bytes() == before


def broken(lib, status, word):
    """It is told, nothing stops, and it is made anew on request."""
    def look():
        lib.reads_on(word)
        lib.search_tells(status, word)
    lib.is_left_alone(look)
    lib.is_made_anew()
    lib.sessions_are_untouched()


# -- the file --

@test
def a_library_that_works_says_nothing():
    with Library() as lib:
        lib.works()
        lib.sessions_are_untouched()


@test
def a_deleted_library_comes_back_by_itself():
    with Library() as lib:
        for old in lib.a.home.glob("library.*"):
            old.unlink()
        done = lib.run("search", "marker-")
        assert done.returncode == 0 and done.stdout == b"" and "3 sessions" in done.stderr.decode(), done
        lib.reads_on("")
        wait_for(lambda: all(row["indexed"] for row in library.listed(lib.a).values()), "it is not made")
        library.is_quiet(lib.a)
        lib.works()
        for old in lib.a.home.glob("library.*"):
            old.unlink()
        lib.is_made_anew()
        lib.sessions_are_untouched()


@test
def text_is_no_library():
    with Library() as lib:
        lib.db.write_text("these are my notes\n" * 1000)
        broken(lib, DAMAGED, "reindex")


@test
def an_empty_file_is_as_good_as_none():
    with Library() as lib:
        for old in lib.a.home.glob("library.db*"):
            old.unlink()
        lib.db.write_bytes(b"")
        done = lib.run("search", "marker-")
        assert done.returncode == 0 and done.stdout == b"" and "3 sessions" in done.stderr.decode(), done
        lib.reads_on("")
        library.is_quiet(lib.a)
        lib.works()
        lib.db.write_bytes(b"")
        lib.is_made_anew()
        lib.sessions_are_untouched()


@test
def a_foreign_database_is_no_library():
    with Library() as lib:
        for old in lib.a.home.glob("library.db*"):
            old.unlink()
        with contextlib.closing(sqlite3.connect(lib.db)) as db:
            db.execute("CREATE TABLE sessions (something TEXT)")
            db.commit()
        broken(lib, DAMAGED, "reindex")


@test
def a_lost_page_is_told():
    with Library() as lib:
        lib.db.write_bytes(lib.alone()[:-4096])
        broken(lib, DAMAGED, "reindex")


@test
def a_cut_page_is_told():
    with Library() as lib:
        lib.db.write_bytes(lib.alone()[:-100])
        broken(lib, DAMAGED, "reindex")


@test
def half_a_library_is_told():
    with Library() as lib:
        whole = lib.alone()
        lib.db.write_bytes(whole[:len(whole) // 2])
        broken(lib, DAMAGED, "reindex")


@test
def one_that_a_damaged_page_misnames_is_listed_once():
    with Library() as lib:
        whole, sid = lib.alone(), lib.ids[1].encode()
        other = sid[:-1] + (b"0" if sid.endswith(b"1") else b"1")
        pages = [at for at in range(0, len(whole), 4096) if sid in whole[at:at + 4096]]
        assert len(pages) > 1  # its row, and what leads to it
        for at in pages:
            page = whole[at:at + 4096].replace(sid, other)
            lib.db.write_bytes(whole[:at] + page + whole[at + 4096:])
            done = lib.run("list", "--json")
            assert sorted(row["id"] for row in json.loads(done.stdout)) == lib.ids, done
            library.is_quiet(lib.a)
            for old in lib.a.home.glob("library.db*"):
                old.unlink()


@test
def any_flipped_bytes_do_no_harm():
    draw = random.Random(SEED)
    print(f"# seed {SEED}")
    with Library() as lib:
        whole = lib.alone()
        for n in range(FLIPS):
            flipped = bytearray(whole)
            for _ in range(draw.choice((1, 4, 64))):
                # Half of them where the structure is: heads of pages.
                at = draw.randrange(len(whole))
                at = at // 4096 * 4096 + draw.randrange(100) if draw.random() < 0.5 else at
                flipped[min(at, len(whole) - 1)] ^= draw.randrange(1, 256)
            lib.db.write_bytes(flipped)
            try:
                done = lib.run("list", "--json")
                assert done.returncode == 0
                assert sorted(row["id"] for row in json.loads(done.stdout)) == lib.ids, done
                for sid in lib.ids:
                    assert lib.run("show", sid).returncode == 0
                    assert lib.run("cat", sid).stdout in lib.bytes.values()
                assert lib.run("search", "marker-").returncode in (0, 1, DAMAGED)
                assert lib.run("search", "4").returncode in (0, 1, DAMAGED)
                library.is_quiet(lib.a)
                if n % 8 == 0 or IS_LONG:
                    lib.is_made_anew()
            except BaseException:
                print(f"# flip {n} of seed {SEED}")
                raise
            for old in lib.a.home.glob("library.db*"):
                old.unlink()
        lib.sessions_are_untouched()


@test
def a_broken_library_is_in_nobodys_way_or_tells():
    with Library() as lib:
        lib.db.write_text("these are my notes\n" * 1000)
        done = lib.run("rename", "second", "other")
        renamed = json.loads(lib.run("show", "--json", "other" if done.returncode == 0 else "second").stdout)
        assert renamed["name"] == ("other" if done.returncode == 0 else "second"), (done, renamed)
        assert done.returncode in (0, DAMAGED) and (done.returncode == 0 or "reindex" in done.stderr.decode())
        done = lib.run("delete", "--yes", "first")
        assert done.returncode in (0, DAMAGED) and (done.returncode == 0 or "reindex" in done.stderr.decode())
        lib.ids = lib.a.names("sessions")
        assert len(lib.ids) == (2 if done.returncode == 0 else 3)
        lib.a.ok("reindex")
        assert sorted(library.listed(lib.a)) == lib.ids == library.where_found(lib.a, "marker-")


@test
def a_broken_library_is_told_once_by_the_command():
    with Library() as lib:
        lib.db.write_text("these are my notes\n" * 1000)
        for args in (["show", "first"], ["cat", "first"], ["render", "first"], ["verify", "first", "second"],
                     ["replay", "--fast", "first"], ["replay", "--format", "txt", "first"],
                     ["branch-points", "first"], ["rename", "first", "other"], ["index", "first"],
                     ["search", "x", "--session", "first"]):
            said = lib.run(*args).stderr.decode()
            assert said.startswith(f"ahr {args[0]}: ") and said.count("library.db") == 1, (args, said)


@test
def a_newer_library_is_told_and_left_alone():
    with Library() as lib:
        lib.alone()
        with contextlib.closing(sqlite3.connect(lib.db)) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            assert version > 0
            db.execute(f"PRAGMA user_version = {version + 1}")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        broken(lib, NEWER, "newer")


# -- its log --

@test
def a_library_without_its_log_lacks_only_the_latest():
    with Library() as lib, contextlib.closing(sqlite3.connect(lib.db)) as reader:
        with contextlib.closing(sqlite3.connect(lib.db)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sessions").fetchone()  # so that the log stays
        lib.a.ok("record", "-q", "--name", "late", "--", "echo", "marker-late stands here")
        wait_for(lambda: lib.db.with_name("library.db-wal").stat().st_size > 0)
        library.is_quiet(lib.a)
        alone = lib.db.read_bytes()
        reader.execute("COMMIT")
        reader.close()
        for old in lib.a.home.glob("library.db*"):
            old.unlink()
        lib.db.write_bytes(alone)
        lib.ids = lib.a.names("sessions")
        done = lib.run("list", "--json")
        assert sorted(row["id"] for row in json.loads(done.stdout)) == lib.ids, done
        library.is_quiet(lib.a)
        wait_for(lambda: library.where_found(lib.a, "marker-") == lib.ids)
        lib.sessions_are_untouched()


@test
def a_log_of_another_library_does_no_harm():
    with Library() as lib, Tended(AHR) as other:
        other.ok("record", "-q", "--name", "alien", "--", "echo", "marker-alien stands there")
        library.is_quiet(other)
        there = other.home / "library.db"
        with contextlib.closing(sqlite3.connect(there)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sessions").fetchone()
            other.ok("record", "-q", "--name", "alien-2", "--", "seq", "5000")
            library.is_quiet(other)
            log = there.with_name("library.db-wal").read_bytes()
        assert log
        lib.alone()
        for old in lib.a.home.glob("library.db-*"):
            old.unlink()
        lib.db.with_name("library.db-wal").write_bytes(log)
        lib.reads_on(by=())
        done = lib.run("search", "marker-")
        assert done.returncode in (0, DAMAGED), done
        assert b"alien" not in done.stdout
        library.is_quiet(lib.a)
        lib.is_made_anew()
        lib.sessions_are_untouched()


@test
def a_log_of_garbage_does_no_harm():
    with Library() as lib:
        lib.alone()
        lib.db.with_name("library.db-wal").write_bytes(random.Random(SEED).randbytes(100_000))
        lib.db.with_name("library.db-shm").write_bytes(random.Random(SEED).randbytes(32768))
        lib.reads_on()
        lib.is_made_anew()
        lib.sessions_are_untouched()


# -- what is no file --

@test
def a_folder_of_that_name_is_told():
    with Library() as lib:
        lib.db.unlink()
        lib.db.mkdir()
        (lib.db / "mine").write_text("x")
        lib.reads_on("library.db")
        lib.search_tells(DAMAGED, "library.db")
        done = lib.run("reindex")
        assert done.returncode != 0 and "library.db" in done.stderr.decode(), done
        assert (lib.db / "mine").read_text() == "x"
        shutil.rmtree(lib.db)
        lib.is_made_anew()
        lib.sessions_are_untouched()


@test
def a_fifo_of_that_name_holds_nobody_up():
    with Library() as lib:
        for old in lib.a.home.glob("library.db*"):
            old.unlink()
        os.mkfifo(lib.db)
        lib.reads_on("library.db")
        lib.search_tells(DAMAGED, "library.db")
        lib.is_made_anew()
        lib.sessions_are_untouched()


# -- rights --

@test
def a_fifo_beside_it_holds_nobody_up():
    for ending in ("-wal", "-journal"):
        with Library() as lib:
            lib.alone()
            os.mkfifo(f"{lib.db}{ending}")
            lib.reads_on("library.db", by=NAMES[:1])
            lib.search_tells(DAMAGED, "library.db")
            assert lib.run("index", lib.ids[0]).returncode == DAMAGED
            lib.is_made_anew()
            lib.sessions_are_untouched()


def as_somebody(lib):
    """What to run commands with, as one whom rights bind; all files are his."""
    binary = lib.a.dir / "ahr-copy"
    shutil.copy(lib.a.binary, binary)
    binary.chmod(0o755)
    lib.a.binary = str(binary)
    if os.geteuid():
        return {}
    for top, folders, files in os.walk(lib.a.dir):
        for one in (top, *(os.path.join(top, name) for name in (*folders, *files))):
            os.chown(one, NOBODY, NOBODY)
    done = subprocess.run([binary, "-h"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True)
    if done.returncode:
        raise Skip("becoming another user is not possible here")
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


@test
def a_library_that_cannot_be_written_is_read():
    with Library() as lib:
        who = as_somebody(lib)
        lib.alone()
        os.chown(lib.db, *(2 * [NOBODY if who else -1]))
        lib.db.chmod(0o444)
        lib.reads_on(**who)
        assert lib.run("search", "marker-", **who).stdout.count(b"stands here") == 3
        assert lib.run("reindex", **who).returncode == 0
        assert lib.run("search", "marker-", **who).stdout.count(b"stands here") == 3
        lib.sessions_are_untouched()


@test
def a_library_that_cannot_be_read_is_told():
    with Library() as lib:
        who = as_somebody(lib)
        lib.db.chmod(0)
        lib.reads_on("library.db", **who)
        done = lib.run("search", "marker-", **who)
        assert done.returncode == 1 and "ermission denied" in done.stderr.decode(), done
        lib.sessions_are_untouched()


@test
def a_home_that_cannot_be_written_is_read():
    with Library() as lib:
        who = as_somebody(lib)
        lib.alone()
        for left in lib.a.home.glob("library.db[-.]*"):
            left.unlink()
        with read_only(lib.a.home):
            lib.reads_on(**who)
            done = lib.run("search", "marker-", **who)
            assert done.returncode == 0 and done.stdout.count(b"stands here") == 3, done
            for command in (("reindex",), ("index", "--all"), ("rename", "first", "other"),
                            ("delete", "--yes", "first")):
                done = lib.run(*command, **who)
                assert done.returncode in (0, 1) and (done.returncode or command[0] == "index"), (command, done)
            lib.sessions_are_untouched()
        lib.works()


@contextlib.contextmanager
def read_only(folder):
    modes = {one: one.stat().st_mode for one in (folder, *folder.rglob("*"))}
    for one in modes:
        one.chmod(0o555 if one.is_dir() else 0o444)
    try:
        yield
    finally:
        for one, mode in modes.items():
            one.chmod(mode & 0o7777)


# -- locked by somebody else --

@contextlib.contextmanager
def locked(lib, *pragmas):
    """Held by another program until the block ends, or release() is called."""
    db = sqlite3.connect(lib.db, isolation_level=None, timeout=60)
    for pragma in pragmas:
        db.execute(f"PRAGMA {pragma}").fetchall()
    db.execute("BEGIN EXCLUSIVE")
    try:
        yield db
    finally:
        db.close()


def is_told_while_locked(lib, *pragmas):
    """What can do without it does; a search waits, and goes on when it is free."""
    with locked(lib, *pragmas) as db:
        lib.reads_on("locked by another program", by=("first",))
        search = lib.a.start("search", "marker-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: has_open(search.pid, lib.db) or search.poll() is not None)
        assert search.poll() is None, search.communicate()
        lib.sessions_are_untouched()
        db.close()
        found, said = search.communicate(timeout=60)
        assert search.returncode == 0 and found.count(b"stands here") == 3, (search.returncode, said)


@test
def a_library_that_is_locked_for_writing_is_read():
    with Library() as lib, locked(lib, "journal_mode = WAL"):
        lib.reads_on("")
        assert library.where_found(lib.a, "marker-") == lib.ids
        lib.sessions_are_untouched()


@test
def a_library_that_is_locked_for_all_is_told():
    with Library() as lib:
        is_told_while_locked(lib, "locking_mode = EXCLUSIVE")
        lib.works()


@test
def a_library_with_a_journal_that_is_locked_is_told():
    with Library() as lib:
        lib.alone()
        is_told_while_locked(lib, "journal_mode = DELETE")
        lib.works()


@test
def whoever_changes_a_locked_library_waits_for_it():
    with Library() as lib:
        with locked(lib) as db:
            rename = lib.a.start("rename", "first", "other", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_for(lambda: has_open(rename.pid, lib.db) or rename.poll() is not None)
            assert rename.poll() is None, rename.communicate()
            db.execute("ROLLBACK")
            _, said = rename.communicate(timeout=60)
            assert rename.returncode == 0, said
        assert json.loads(lib.a.ok("show", "--json", "other"))["name"] == "other"
        assert library.where_found(lib.a, "marker-") == lib.ids


def has_open(pid, path):
    return state(pid) == "S" and str(path) in open_files(pid)


def a_library_that_stays_locked_ends_in_busy():
    with Library() as lib:
        with locked(lib, "locking_mode = EXCLUSIVE"):
            lib.search_tells(BUSY, "locked by another program")
        with locked(lib):
            for command in (("rename", "first", "other"), ("delete", "--yes", "first")):
                done = lib.a.run(*command, timeout=120)
                said = library.is_clear(done.stderr.decode())
                assert done.returncode == BUSY and "lock" in said and "again" in said, done
        lib.works()
        lib.sessions_are_untouched()


if IS_LONG:  # it takes minutes
    test(a_library_that_stays_locked_ends_in_busy)
try:
    run()
finally:
    if Library.made:
        shutil.rmtree(Library.made)
