#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""index_test.py -- sessions into the library's index, out of it, and all of them anew.

usage: index_test.py AHR
"""

import fcntl
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.processes import open_files, times_slept, wait_for
from support.secrets import Templates
from support.sessions import Home, session_id
from support.tap import run, test
from support.tape import START_NS, Tape

AHR = sys.argv[1]
ONE, TWO, THREE = (session_id("2026-01-02", letter) for letter in "abc")
FACTS = dict(status="completed", name="fix", startedAtNs=START_NS, endedAtNs=START_NS + 5, exitCode=0,
             cmd=["make", "a b"], cwd="/w", cols=80, rows=24)


def add(home, sid, tape, **facts):
    folder = home.folder("sessions", sid)
    tape.end().write(folder / "session.ahr", **{"sessionId": sid, **FACTS, **facts})
    return folder


def ask(home, sql):
    with closing(sqlite3.connect(home.dir / "library.db")) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(sql)]


def ids(home):
    return sorted(row["id"] for row in ask(home, "SELECT id FROM sessions"))


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def unpack(packed):
    """A piece's rows, as (index, byte, time, start, label), and its text."""
    size, at = varint(packed, 0)
    raw = subprocess.run(["brotli", "-dc"], input=packed[at:], capture_output=True, check=True).stdout
    assert len(raw) == size
    count, at = varint(raw, 0)
    rows, last = [], [0, 0, 0, 0, 0]
    for _ in range(count):
        for i in range(5):
            value, at = varint(raw, at)
            last[i] += value if i == 3 else value >> 1 ^ -(value & 1)
        rows.append(tuple(last))
    labels, at = varint(raw, at)
    return rows, raw[at + labels:].decode()


def texts(home, sid):
    return [unpack(row["packed"]) for row in
            ask(home, f"SELECT packed FROM pieces JOIN sessions ON place >> 20 = key WHERE id = '{sid}' "
                "ORDER BY place")]


def found(home, word):
    """The ids of the sessions with a piece that may hold the word."""
    grams = " ".join(word[i:i + 3].lower().encode().hex() for i in range(len(word) - 2))
    return sorted({row["id"] for row in
                   ask(home, "SELECT id FROM words JOIN sessions ON words.rowid >> 20 = key "
                       f"WHERE words MATCH '{grams}'")})


@test
def a_session_is_in_the_index_with_its_facts_and_its_text():
    with Ahr(AHR) as a:
        home = Home(a)
        tape = Tape().data("first line\r\n").snapshot(1, "here").instruct(1, "go on", snapshot_id=1)
        folder = add(home, ONE, tape.data("second\r\n"), role="DEV", task="do it", parent=TWO)
        told = a.ok("index", "last").decode()
        assert told == f"{ONE}: 2 lines, 16 bytes\n"
        row, = ask(home, "SELECT * FROM sessions")
        size = sum(p.stat().st_size for p in folder.iterdir())
        for key, value in dict(
                id=ONE, name="fix", role="DEV", kind="terminal", status="completed", task="do it",
                cmd='["make","a b"]', command="make 'a b'", cwd="/w", parent=TWO, exit_code=0, cols=80,
                rows=24, started_at_ns=START_NS, ended_at_ns=START_NS + 5, snapshots=1, instructions=1,
                lines=2, text_bytes=16, damaged=0, size_bytes=size).items():
            assert row[key] == value, (key, row[key])
        moments = ask(home, "SELECT kind, id, anchor_byte, snapshot_id, text FROM moments ORDER BY kind")
        assert [tuple(m.values()) for m in moments] == [(0, 1, 12, None, "here"), (1, 1, 12, 1, "go on")]
        (rows, text), = texts(home, ONE)
        assert text == "first line\nsecond\ngo on\n"
        assert [r[0] for r in rows] == [0, 1, 1] and rows[0][1] == 10 and rows[1][3] == 11
        assert [r[4] for r in rows] == [0, 0, 2] and rows[2][1] == 12  # the last is the instruction's
        assert START_NS < rows[0][2] < rows[1][2] < START_NS + 10_000_000
        assert found(home, "FIRST") == [ONE] and not found(home, "third")


@test
def rows_that_wrap_are_one_line_as_it_was_written():
    with Ahr(AHR) as a:
        home = Home(a)
        text = "abcdefgh\r\n12345 78\r\nabcde\u4f60\u597d\r\nx    y\r\n"
        add(home, ONE, Tape(6, 4).data(text))
        add(home, TWO, Tape(6, 4).data("abcdefg\x1b[?1049h\x1b[Halt\x1b[?1049lh"))
        a.ok("index", ONE, TWO)
        (rows, got), = texts(home, ONE)
        assert got == text.replace("\r", ""), got
        assert [r[0] for r in rows] == list(range(7))
        (_, got), = texts(home, TWO)
        assert got == "abcdef\nalt\ngh\n", got  # the screens' lines never go on in each other


@test
def no_secret_is_in_the_library():
    with Ahr(AHR) as a:
        home = Home(a)
        templates = Templates(random.Random(5))
        texts_of_a_meta = ("name", "role", "cwd", "parent", "resumedFrom", "agent", "agentSessionId", "model")
        secrets = [templates.expand("ghp_<alnum*30><crc32>") for _ in range(6 + len(texts_of_a_meta))]
        shown, label, wish, word, task, typed, *facts = secrets
        tape = Tape(20, 5).data(f"token {shown}\r\n").snapshot(1, label).instruct(1, wish)
        add(home, ONE, tape, cmd=["x", "--token", word, f"--password={typed}"], task=f"use {task}",
            **dict(zip(texts_of_a_meta, facts)))
        a.ok("index", "--all")
        (_, text), = texts(home, ONE)
        assert "token" in text and "***" in text.replace("\n", "")
        row, = ask(home, "SELECT * FROM sessions")
        assert json.loads(row["cmd"])[:2] == ["x", "--token"]
        assert sum("[REDACTED:" in str(text) for text in row.values()) == 3 + len(texts_of_a_meta), row
        stored = b"".join(p.read_bytes() for p in home.dir.glob("library.db*"))
        stored += json.dumps(ask(home, "SELECT * FROM sessions") + ask(home, "SELECT * FROM moments")).encode()
        for secret in secrets:
            assert secret.encode() not in stored and secret not in text.replace("\n", "")


@test
def indexed_again_it_is_there_once_and_as_it_is_now():
    with Ahr(AHR) as a:
        home = Home(a)
        folder = add(home, ONE, Tape().data("an old word\r\n"))
        add(home, TWO, Tape().data("another\r\n"), startedAtNs=START_NS + 10**9)
        a.ok("index", "--all", "-q")
        before = ask(home, "SELECT key FROM sessions ORDER BY key")
        Tape().data("a new one\r\n").snapshot(1, "x").end().write(folder / "session.ahr", **FACTS)
        for _ in range(3):
            a.ok("index", ONE)
        assert ask(home, "SELECT key FROM sessions ORDER BY key") == before
        assert [text for _, text in texts(home, ONE)] == ["a new one\n"]
        assert not found(home, "old word") and found(home, "new one") == [ONE]
        assert found(home, "another") == [TWO]
        assert len(ask(home, "SELECT * FROM moments")) == 1
        assert len(ask(home, "SELECT * FROM pieces")) == 2


@test
def a_long_session_has_many_pieces_and_all_of_them_go():
    with Ahr(AHR) as a:
        home = Home(a)
        lines = [f"line {i} of many, {i * 7919 % 100003}" for i in range(9000)]
        add(home, ONE, Tape().data("".join(line + "\r\n" for line in lines)))
        a.ok("index", ONE)
        pieces = texts(home, ONE)
        assert len(pieces) > 3 and "".join(text for _, text in pieces) == "\n".join(lines) + "\n"
        numbers = [row[0] for rows, _ in pieces for row in rows]
        assert numbers == list(range(len(lines)))
        shutil.rmtree(home.dir / "sessions" / ONE)
        a.ok("index", "--all")
        for table in ("sessions", "pieces", "moments"):
            assert not ask(home, f"SELECT * FROM {table}"), table
        assert not ask(home, "SELECT rowid FROM words WHERE words MATCH '6c696e'")


@test
def a_damaged_session_is_indexed_as_far_as_it_is_whole():
    with Ahr(AHR) as a:
        home = Home(a)
        folder = add(home, ONE, Tape().data("before\r\n").seal().data("lost\r\n").seal().data("behind\r\n"))
        whole = (folder / "session.ahr").read_bytes()
        at = whole.index(b"AHRC", 10) + 50
        (folder / "session.ahr").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        home.folder("sessions", TWO)  # nothing is in it
        add(home, THREE, Tape().data("sound\r\n"))
        four = session_id("2026-01-02", "f")
        torn = add(home, four, Tape().data("sound\r\n").snapshot(1, "x")) / "session.snapshots.jsonl"
        torn.write_bytes(torn.read_bytes()[:-9])
        (home.dir / "sessions" / session_id("2026-01-02", "d")).symlink_to(folder)
        done = a.run("index", "--all", "--json")
        told = {one["session"]: one for one in json.loads(done.stdout)}
        assert done.returncode == 4, done
        assert [told[sid]["damaged"] for sid in (ONE, TWO, THREE, four)] == [True, True, False, True]
        (_, text), = texts(home, ONE)
        assert "before\n" in text and "behind\n" in text and "lost" not in text
        assert ask(home, f"SELECT damaged FROM sessions WHERE id = '{ONE}'") == [{"damaged": 1}]
        row, = ask(home, f"SELECT * FROM sessions WHERE id = '{TWO}'")
        assert row["started_at_ns"] and row["kind"] == "terminal" and row["lines"] == 0
        assert ids(home) == sorted([ONE, TWO, THREE, four])


@test
def what_is_no_stored_session_is_refused_and_what_is_gone_taken_out():
    with Ahr(AHR) as a:
        home = Home(a)
        add(home, ONE, Tape().data("one\r\n"))
        home.add_cut_off(TWO)
        (a.dir / "x.ahr").write_bytes(Tape().end().bytes())
        assert "is a file; only sessions of the library" in a.fails(2, "index", "x.ahr")
        assert "has not ended yet" in a.fails(5, "index", TWO[11:19])
        assert "give sessions, or --all" in a.fails(2, "index")
        assert "give sessions, or --all" in a.fails(2, "index", "--all", ONE)
        a.ok("index", ONE)
        shutil.rmtree(home.dir / "sessions" / ONE)
        assert f"no session '{ONE}'" in a.fails(3, "index", ONE)
        assert ids(home) == []


@test
def a_session_that_somebody_is_at_is_waited_for():
    with Ahr(AHR) as a:
        home = Home(a)
        for sid in (ONE, TWO):
            add(home, sid, Tape().data("one\r\n"))
        for args in (("index", "--all", "-q"), ("index", ONE, "-q")):
            folder = home.dir / "sessions" / ONE
            held = os.open(folder, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
            going = a.popen(*args)
            wait_for(lambda: str(home.dir / "library.db") in open_files(going.pid), f"{args} does not begin")
            looks = times_slept(going.pid)
            wait_for(lambda: times_slept(going.pid) > looks + 20, f"{args} does not wait")
            os.close(held)
            assert going.wait(60) == 0
        assert ids(home) == [ONE, TWO]


# -- reindex --

def some(home, n=6):
    made = [session_id("2026-02-03", letter) for letter in "0123456789"[:n]]
    for i, sid in enumerate(made):
        add(home, sid, Tape().data(f"session number {i}\r\n"), name=f"s{i}", startedAtNs=START_NS + i)
    return made


@test
def where_there_is_no_session_yet_there_is_nothing_to_index():
    with Ahr(AHR) as a:
        assert a.run("index", "--all").stderr == b"ahr index: nothing to index\n"
        assert a.ok("reindex") == b"0 sessions, 0 lines, 0 bytes\n"
        assert a.ok("reindex", "--json") == b"[]\n"
        assert "there is no session in" in a.fails(3, "index", "nobody")
        assert not Path(a.env["HOME"], ".local").exists()


@test
def reindex_makes_it_anew_whatever_was_there():
    def newer(path):
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version = 99")
    broken = {
        "missing": lambda path: path.unlink(),
        "text": lambda path: path.write_text("not a database, really\n" * 100),
        "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
        "empty": lambda path: path.write_bytes(b""),
        "newer": newer,
    }
    with Ahr(AHR) as a:
        home = Home(a)
        made = some(home)
        db = home.dir / "library.db"
        assert a.ok("reindex").decode() == "6 sessions, 6 lines, 96 bytes\n"
        for name, harm in broken.items():
            harm(db)
            assert a.ok("reindex", "-q") == b"", name
            assert ids(home) == made and found(home, "number 3"), name
        assert sorted(p.name for p in home.dir.iterdir()) == ["library.db", "library.db.lock", "sessions"]
        assert {one["session"] for one in json.loads(a.ok("reindex", "--json"))} == set(made)
        assert "reindex takes all sessions" in a.fails(2, "reindex", made[0])


@test
def reindex_that_fails_leaves_the_old_one():
    with Ahr(AHR) as a:
        home = Home(a)
        made = some(home)
        a.ok("index", "--all")
        before = (home.dir / "library.db").read_bytes()

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        told = a.fails(1, "reindex", preexec_fn=small_files)
        assert "library.db.new" in told and "SQL" not in told, told
        assert (home.dir / "library.db").read_bytes() == before and ids(home) == made
        assert not list(home.dir.glob("library.db.new*"))
        lock = os.open(home.dir / "library.db.new.lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "by another ahr; try again" in a.fails(5, "reindex")
        os.close(lock)
        a.ok("reindex")


@test
def reindex_tells_what_it_cannot_read_and_goes_on():
    with Ahr(AHR) as a:
        home = Home(a)
        made = some(home)
        (home.dir / "sessions" / made[2] / "session.ahr").write_bytes(b"nothing of ours" * 100)
        done = a.run("reindex")
        assert done.returncode == 4 and f"{made[2]}: ".encode() in done.stdout, done
        assert ids(home) == made or ids(home) == made[:2] + made[3:]


@test
def what_a_killed_reindex_has_left_goes_with_the_next_index():
    with Ahr(AHR) as a:
        home = Home(a)
        some(home, 1)
        left = [home.dir / f"library.db.new{ending}" for ending in ("", "-journal", ".lock")]
        for path in left:
            path.touch()
        maker = os.open(left[2], os.O_RDWR)
        fcntl.flock(maker, fcntl.LOCK_EX)
        a.ok("index", "--all")
        assert all(path.exists() for path in left)  # somebody is at it
        os.close(maker)
        a.ok("index", "--all")
        assert not any(path.exists() for path in left)


@test
def what_changes_while_reindex_runs_is_in_the_new_one_as_it_is_then():
    with Ahr(AHR) as a:
        home = Home(a)
        made = some(home, 10)
        a.ok("index", "--all")
        # Readers keep the swap from being done; what they do meanwhile comes behind our back.
        reader = os.open(home.dir / "library.db.lock", os.O_RDWR)
        fcntl.flock(reader, fcntl.LOCK_SH)
        going = a.popen("reindex", "--json", stdout=subprocess.PIPE)
        held = os.open(home.dir / "sessions" / made[9], os.O_RDONLY)
        try:
            lock = str(home.dir / "library.db.lock")
            wait_for(lambda: lock in open_files(going.pid), "reindex does not wait for the readers")
            shutil.rmtree(home.dir / "sessions" / made[0])
            meta = home.dir / "sessions" / made[1] / "session.meta.json"
            meta.with_suffix(".new").write_text(json.dumps({**FACTS, "name": "renamed"}))
            meta.with_suffix(".new").rename(meta)
            add(home, ONE, Tape().data("came late\r\n"))
            fcntl.flock(held, fcntl.LOCK_EX)
            os.close(reader)
            assert going.wait(60) in (0, 5)
        finally:
            going.kill()
            going.communicate()
        assert ids(home) == sorted([ONE, *made[1:9]])
        os.close(held)
        a.ok("index", "--all")
        assert ids(home) == sorted([ONE, *made[1:]])
        names = ask(home, f"SELECT name FROM sessions WHERE id = '{made[1]}'")
        assert names == [{"name": "renamed"}] and found(home, "came late") == [ONE]


@test
def sessions_that_cannot_be_listed_are_not_gone():
    with Ahr(AHR) as a:
        home = Home(a)
        made = some(home, 3)
        a.ok("index", "--all")
        sessions = home.dir / "sessions"
        sessions.rename(home.dir / "elsewhere")
        sessions.symlink_to("sessions")  # as unreadable for root as for anybody
        for command in (["index", "--all"], ["reindex"], ["list"], ["recover", "--all"], ["show", "last"]):
            done = a.run(*command)
            assert b"cannot list the sessions in" in done.stderr, (command, done)
            assert done.returncode == (0 if command[0] == "recover" else 1), (command, done)
        assert ids(home) == made
        sessions.unlink()
        (home.dir / "elsewhere").rename(sessions)
        assert [s["id"] for s in json.loads(a.ok("list", "--json"))] == made[::-1]


if __name__ == "__main__":
    run()
