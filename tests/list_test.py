#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list_test.py -- sessions listed, shown and found: by the index, without it, and halfway.
usage: list_test.py AHR"""

import contextlib
import fcntl
import json
import random
import re
import shutil
import sqlite3
import struct
import sys
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.on_pty import OnPty
from support.sessions import GOLDEN, Home, session_id
from support.tap import run, test

AHR = sys.argv[1]
SECOND = 10**9
T = 1_780_000_000 * SECOND  # 2026-05-28T20:26:40Z
KEYS = ["id", "name", "role", "kind", "status", "signal", "exit_code", "cmd", "cwd", "task",
        "started_at", "ended_at", "duration_ms", "bytes", "cols", "rows", "snapshots",
        "instructions", "parent", "branch", "fork", "resumed_from", "agent", "agent_session_id", "model", "usage",
        "project", "iterations", "turns", "size_bytes", "damaged", "lines", "place", "indexed", "path"]


class Library(Ahr):
    """An Ahr whose looks start nothing in the background."""

    def __enter__(self):
        super().__enter__()
        self.env.update(AHR_UPKEEP="off", TZ="UTC0")
        self.home = Home(self)
        self.db = self.home.dir / "library.db"
        return self

    def put(self, sid, place="sessions", **facts):
        folder = self.home.folder(place, sid)
        shutil.copy(GOLDEN / "smallest.ahr", folder / "session.ahr")
        if place == "live":
            (folder / "lock").touch()
        self.home.write_meta(folder, sid, **{"status": "completed", **facts})
        return folder

    def index(self):
        self.ok("index", "--all")

    def drop_index(self):
        for path in self.home.dir.glob("library.db*"):
            path.unlink()

    def listed(self, *args):
        return json.loads(self.ok("list", "--json", *args))

    def ids(self, *args):
        return [s["id"] for s in self.listed(*args)]


def some(a):
    """Four sessions from the oldest to the newest."""
    ids = [session_id(f"2026-05-{28 + i // 3}", c) for i, c in enumerate("dbca")]
    a.put(ids[0], name="first", startedAtNs=T, endedAtNs=T + 65 * SECOND, cmd=["make", "a b"],
          totalBytes=7, cols=100, rows=30, exitCode=0, cwd="/src")
    a.put(ids[1], startedAtNs=T + SECOND, status="failed", exitCode=3, cmd=["false"])
    a.put(ids[2], name="first", startedAtNs=T + 2 * SECOND, status="aborted", signal="TERM",
          role="DEV", task="t", parent=ids[0])
    a.put(ids[3], name="third", startedAtNs=T + 86400 * SECOND, status="completed", kind="import")
    return ids


@test
def sessions_are_listed_the_newest_first_indexed_or_not():
    with Library(AHR) as a:
        ids = some(a)
        assert a.ids() == ids[::-1]
        a.index()
        assert a.ids() == ids[::-1]
        late = session_id("2026-05-28", "e")
        a.put(late, startedAtNs=T + SECOND + 1)
        assert a.ids() == [ids[3], ids[2], late, ids[1], ids[0]]
        assert [s["indexed"] for s in a.listed()] == [True, True, False, True, True]


@test
def facts_are_the_same_from_the_index_and_from_the_files():
    with Library(AHR) as a:
        some(a)
        before = a.listed()
        a.index()
        after = a.listed()
        assert all(list(s) == KEYS for s in before + after)
        for s, t in zip(before, after):
            assert not s["indexed"] and t["indexed"] and s["lines"] is None and t["lines"] == 1
            t.update(indexed=False, lines=None, bytes=s["bytes"])
            assert s == t
        first = after[-1]
        assert first["cmd"] == ["make", "a b"] and first["duration_ms"] == 65000
        assert first["started_at"] == "2026-05-28T20:26:40.000Z" and first["exit_code"] == 0
        assert first["cols"] == 100 and first["usage"] is None and first["place"] == "sessions"
        assert json.loads(a.ok("show", "--json", first["id"]))["cmd"] == first["cmd"]


@test
def filters_leave_what_fits():
    with Library(AHR) as a:
        ids = some(a)
        for is_indexed in (False, True):
            if is_indexed:
                a.index()
            assert a.ids("--status", "failed") == [ids[1]]
            assert a.ids("--status", "active") == []
            assert a.ids("--name", "f*") == [ids[2], ids[0]]
            assert a.ids("--name", "*") == [ids[3], ids[2], ids[0]]
            assert a.ids("--name", "f*", "--limit", "1") == [ids[2]]
            assert a.ids("-n", "2") == [ids[3], ids[2]]
            assert a.ids("--since", "2026-05-29") == [ids[3]]
            assert a.ids("--until", "2026-05-29") == ids[2::-1]
            assert a.ids("--since", "2026-05-28T20:26:41", "--until", "2026-05-28T20:26:42Z") == [ids[1]]
            assert a.ids("--since", "1s") == []
        assert "is no date" in a.fails(2, "list", "--since", "soon")
        assert "--status must be one of" in a.fails(2, "list", "--status", "dead")
        assert "takes no session; did you mean 'ahr show x'?" in a.fails(2, "list", "x")


@test
def live_ones_are_marked_and_cut_off_ones_told():
    with Library(AHR) as a:
        held, cut, done = (session_id("2026-05-28", c) for c in "abc")
        folder = a.put(held, "live", startedAtNs=T + 9, status="active", cmd=["vi"])
        a.put(cut, "live", startedAtNs=T + 8, status="active", cmd=["top"])
        a.put(done, startedAtNs=T + 7)
        with open(folder / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            rows = a.ok("list").decode().splitlines()
            assert "● active" in rows[0] and rows[0].endswith("vi")
            assert " interrupted " in rows[1] and rows[1].endswith("top")
            assert [s["place"] for s in a.listed()] == ["live", "live", "sessions"]
            assert a.ids("--status", "active") == [held]
            assert a.ids("--status", "interrupted") == [cut]
            assert b"being recorded now" in a.ok("show", held)
            assert f"ahr stop {held}".encode() in a.ok("show", held)
        assert f"ahr recover {cut}".encode() in a.ok("show", cut)


@test
def a_table_on_a_pipe_is_whole():
    with Library(AHR) as a:
        ids = some(a)
        a.put(session_id("2026-05-28", "f"), startedAtNs=1, cmd=["x" * 500])
        rows = a.ok("list", "--flat").decode().splitlines()
        assert len(rows) == 5 and "x" * 500 in rows[4] and "\033" not in "".join(rows)
        assert re.fullmatch(r"2026-05-28 20:26  first +completed +1m05s +\d+ B +make 'a b'", rows[3])
        short = rows[2].split()[2]
        assert short == ids[1][:19] and json.loads(a.ok("show", "--json", short))["id"] == ids[1]


def names(a, *args):
    """The second column, by what stands around it."""
    rows = a.ok("list", *args).decode().splitlines()
    return [re.match(r"[-\d]+ [:\d]+  (.*?)  +completed", row)[1] for row in rows]


@test
def who_has_a_parent_stands_below_it():
    with Library(AHR) as a:
        put = {}
        for i, (name, parent) in enumerate((
                ("root", None), ("kid", "root"), ("other", None), ("grandkid", "kid"), ("late", "root"),
                ("stray", "gone"), ("alone", None), ("last", "grandkid"))):
            put[name] = session_id("2026-05-28", "abcdef01"[i])
            above = {"parent": put.get(parent, session_id("2026-01-01", "9"))} if parent else {}
            a.put(put[name], name=name, startedAtNs=T + i * SECOND, **above)
        tree = ["alone", "stray", "other", "root", "├ late", "└ kid", "  └ grandkid", "    └ last"]
        for _ in range(2):
            assert names(a) == tree, names(a)
            assert names(a, "--flat") == ["last", "alone", "stray", "late", "grandkid", "other", "kid", "root"]
            assert names(a, "--limit", "5") == ["last", "alone", "stray", "late", "grandkid"][1:4] + [
                "grandkid", "└ last"], names(a, "--limit", "5")
            assert [s["name"] for s in a.listed()][:2] == ["last", "alone"]
            a.index()


@test
def who_is_its_own_ancestor_is_listed_all_the_same():
    with Library(AHR) as a:
        one, two, self, below = (session_id("2026-05-28", c) for c in "abcd")
        a.put(one, name="one", startedAtNs=T, parent=two)
        a.put(two, name="two", startedAtNs=T + SECOND, parent=one)
        a.put(self, name="self", startedAtNs=T + 2 * SECOND, parent=self)
        a.put(below, name="below", startedAtNs=T + 3 * SECOND, parent=two)
        assert sorted(name.strip("└├│ ") for name in names(a)) == ["below", "one", "self", "two"], names(a)
        assert names(a)[0] == "self", names(a)
        chain = [session_id("2026-05-29", "0")[:-3] + f"{i:03x}" for i in range(60)]
        for i, sid in enumerate(chain):
            a.put(sid, name=f"n{i}", startedAtNs=T + (10 + i) * SECOND, **({"parent": chain[i - 1]} if i else {}))
        rows = names(a)
        assert len(rows) == 64 and max(map(len, rows)) < 40 and rows[59].endswith("└ n59"), rows


@test
def a_library_of_an_older_ahr_is_done_without_and_brought_up_to_date():
    with Library(AHR) as a:
        ids = some(a)
        branch = {"from": ids[0], "snapshot_id": 5, "anchor_byte": 7}
        a.put(session_id("2026-05-30", "e"), startedAtNs=T + 2 * 86400 * SECOND, parent=ids[0], branch=branch,
              fork={"from": ids[0], "turn": 3}, resumedFrom=ids[1])
        a.index()
        indexed = a.listed()[0]
        with contextlib.closing(sqlite3.connect(a.db)) as db:
            for table in ("turns", "usage", "messages", "totals", "artifacts"):
                db.execute(f"DROP TABLE {table}")
            for column in ("branch_snapshot", "branch_byte", "project", "iterations", "turns", "fork_turn"):
                db.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
            db.execute("PRAGMA user_version = 1")
            db.commit()
        before = a.listed()
        assert len(before) == 5 and not any(s["indexed"] for s in before)
        a.index()
        after = a.listed()
        assert all(s["indexed"] for s in after) and [s["id"] for s in after] == [s["id"] for s in before]
        for newest in (indexed, before[0]):
            assert newest["branch"] == branch and newest["fork"] == {"from": ids[0], "turn": 3}
            assert newest["resumed_from"] == ids[1]
        assert after[1]["branch"] is None and after[1]["fork"] is None


def columns(text):
    """How wide a terminal shows it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


@test
def a_table_on_a_terminal_fits_it():
    with Library(AHR) as a:
        some(a)
        a.put(session_id("2026-05-28", "f"), startedAtNs=T - 1, name="修復登錄",
              cmd=["回" * 90], status="crashed")
        a.put(session_id("2026-05-28", "e"), startedAtNs=T - 2, cmd=["y" * 300])
        for cols in (52, 60, 62, 70, 80, 133):
            with OnPty([a.binary, "list"], cols=cols, env=a.env, cwd=a.dir) as p:
                assert p.finish() == 0
                shown = p.bytes.decode()
            assert "\033[31mcrashed\033[m" in shown
            rows = re.sub("\033\\[[0-9;]*m", "", shown).splitlines()
            assert rows[0].startswith("WHEN") and "COMMAND" in rows[0]
            at = rows[0].index("COMMAND")
            assert any("…" in r for r in rows) and "修" in rows[-2]
            for row in rows[1:]:
                assert columns(row) <= cols, (cols, row)
                size = re.search(r"\d+ k?B", row)
                assert size is None or columns(row[:size.end()]) == at - 2, row
                assert size or cols < 80, row
        for cols in (26, 40, 51):  # even there a row is a row
            with OnPty([a.binary, "list"], cols=cols, env=a.env, cwd=a.dir) as p:
                assert p.finish() == 0
                rows = re.sub("\033\\[[0-9;]*m", "", p.bytes.decode()).splitlines()
            assert len(rows) == 7 and all(columns(r) <= cols for r in rows), rows
            assert all("NAME" in r or "first" in r or "-" in r or "third" in r or "修" in r for r in rows)
        a.put(session_id("2026-05-28", "9"), startedAtNs=T - 3, name="n" * 64, cmd=["z" * 90])
        with OnPty([a.binary, "list"], cols=120, env=a.env, cwd=a.dir) as p:
            assert p.finish() == 0
        assert b"n" * 30 in p.bytes and b"z" * 30 in p.bytes  # neither takes all of the room
        with OnPty([a.binary, "list"], env={**a.env, "NO_COLOR": "1"}, cwd=a.dir) as p:
            assert p.finish() == 0 and b"\033" not in p.bytes


@test
def an_empty_list_says_what_to_do():
    with Library(AHR) as a:
        for args, said in (([], b"ahr record -- COMMAND"), (["--name", "x*"], b"no session is like that")):
            with OnPty([a.binary, "list", *args], env=a.env, cwd=a.dir) as p:
                assert p.finish() == 0 and said in p.bytes
            assert a.run("list", *args).stderr == b""


@test
def texts_of_others_cannot_touch_the_terminal():
    with Library(AHR) as a:
        evil = "a\033[2J\u202eb\r\n\tc\x9b\x07"
        sid = session_id("2026-05-28", "a")
        a.put(sid, startedAtNs=T, name=evil, cmd=[evil], cwd=evil, task=evil, status=evil[:9])
        for is_indexed in (False, True):
            if is_indexed:
                a.index()
            for args in (["list"], ["show", sid], ["list", "--json"], ["show", "--json", sid]):
                out = a.ok(*args).decode()
                assert not re.search("[\0-\x09\x0b-\x1f\x7f]", out), (args, out)
                assert "--json" in args or not re.search("[\x80-\x9f\u202e]", out), (args, out)
            assert a.ok("list").count(b"\n") == 1


@test
def what_cannot_be_read_does_not_hide_the_rest():
    with Library(AHR) as a:
        ids = some(a)
        bad = session_id("2026-05-30", "a")
        folder = a.put(bad)
        (folder / "session.meta.json").write_bytes(b"{\xff\0")
        (a.home.dir / "sessions" / session_id("2026-05-30", "b")).write_text("a file")
        (a.home.dir / "sessions" / session_id("2026-05-30", "c")).symlink_to("/")
        (a.home.dir / "sessions" / ".new-x").mkdir()
        assert a.ids() == [bad, *ids[::-1]]
        assert a.listed()[0]["started_at"] == "2026-05-30T00:00:00.000Z"
        a.index()
        assert a.ids() == [bad, *ids[::-1]]
        for sid in ids[:2]:
            shutil.rmtree(a.home.dir / "sessions" / sid)
        assert a.ids() == [bad, ids[3], ids[2]]


@test
def a_broken_index_is_told_of_and_done_without():
    with Library(AHR) as a:
        ids = some(a)
        a.index()
        whole = a.db.read_bytes()
        page = bytearray(whole)
        for at in range(4096, len(page), 4096):
            page[at:at + 200] = bytes(200)
        for broken in (b"no database at all\n" * 400, whole[:5000], bytes(page)):
            a.drop_index()
            a.db.write_bytes(broken)
            for args, want in ((["list", "--json"], ids[::-1]), (["show", "--json", "first"], ids[2])):
                done = a.run(*args)
                got = json.loads(done.stdout)
                assert done.returncode == 0, done.stderr
                assert (got["id"] if isinstance(got, dict) else [s["id"] for s in got]) == want
                said = done.stderr.decode()
                assert "library.db" in said and "ahr reindex" in said and said.count("\n") == 1, said
            done = a.run("cat", "first")
            assert done.returncode == 0 and b"library.db" in done.stderr
            assert a.run("show", ids[0]).returncode == 0
            assert a.run("cat", ids[0]).stderr == b""  # an id needs no index
            assert a.db.read_bytes() == broken
        a.drop_index()
        assert a.run("list").stderr == b"" == a.run("cat", "first").stderr


@test
def a_row_that_the_index_does_not_tell_hides_no_session():
    with Library(AHR) as a:
        ids = some(a)
        a.index()
        for change in ("started_at_ns = 'x'", "key = -key"):
            with contextlib.closing(sqlite3.connect(a.db)) as db:
                db.execute(f"UPDATE sessions SET {change} WHERE id = ?", (ids[1],))
                db.commit()
            assert sorted(a.ids()) == sorted(ids), change
            a.ok("reindex")


@test
def show_tells_what_there_is_and_what_to_do():
    with Library(AHR) as a:
        ids = some(a)
        folder = a.home.dir / "sessions" / ids[0]
        (folder / "session.audit.jsonl").write_text(
            '{"ts_ns":"1","time":"2026-06-01T00:00:00Z","what":"redact","by":"rule github-pat",'
            '"masked":3,"files":{"host.log":3}}\nbroken\n{"time":"never","by":7,"masked":1}\n')
        shown = a.ok("show", ids[0]).decode()
        for line in (f"session       {ids[0]}", "name          first", "command       make 'a b'",
                     "duration      1m05s", "terminal      100x30", "snapshots     0",
                     f"recording     {folder}/session.ahr",
                     f"ahr view {ids[0]}", f"ahr replay {ids[0]}",
                     "redacted      2026-06-01T00:00:00Z, rule github-pat, 3 places"):
            assert f"\n{line}\n" in f"\n{shown}\n", (line, shown)
        assert shown.count("redacted") == 1
        assert "failed (exit 3)" in a.ok("show", ids[1]).decode()
        assert "aborted (SIGTERM)" in a.ok("show", ids[2]).decode()
        assert json.loads(a.ok("show", "--json"))["id"] == ids[3]
        assert "no session or file 'nobody'" in a.fails(3, "show", "nobody")
        shutil.copy(GOLDEN / "smallest.ahr", a.dir / "x.ahr")
        assert "ahr replay --print-meta x.ahr" in a.fails(3, "show", "x.ahr")
        assert "one session at most" in a.fails(2, "show", "a", "b")


def leaves(db, table):
    """The places of a table's pages that hold rows, in their order."""
    with contextlib.closing(sqlite3.connect(db)) as it:
        it.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        root, = it.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        size, = it.execute("PRAGMA page_size").fetchone()
    page = db.read_bytes()[(root - 1) * size:root * size]
    assert page[0] == 5, "there are too few rows"
    count, = struct.unpack_from(">H", page, 3)
    cells = struct.unpack_from(f">{count}H", page, 12)
    return [(struct.unpack_from(">I", page, at)[0] - 1) * size for at in cells]


@test
def an_index_that_breaks_on_the_way_is_left_there():
    with Library(AHR) as a:
        ids = [session_id(f"2026-04-{day:02d}", "a") for day in range(1, 31)]
        for i, sid in enumerate(ids):
            a.put(sid, startedAtNs=T + i, cmd=["x" * 900])
        a.index()
        oldest, *_ = leaves(a.db, "sessions")
        with open(a.db, "r+b") as db:
            db.seek(oldest)
            db.write(b"\xff")
        done = a.run("list", "--json")
        rows = json.loads(done.stdout)
        assert done.returncode == 0 and b"'ahr reindex' makes it anew" in done.stderr, done
        assert [s["id"] for s in rows] == ids[::-1]
        assert rows[0]["indexed"] and not rows[-1]["indexed"]


def random_home(a, rng):
    """Names that come again, starts that contradict ids, some without; all kinds of places."""
    names = ["alpha", "beta", "cafe", "ghp_" + "A1b2C3d4E5" * 3 + "f6G7h8"]
    ids = []
    for i in range(24):
        sid = f"2026-0{rng.randint(1, 3)}-1{rng.randint(0, 1)}-" + "-".join(
            "".join(rng.choice("abc01") for _ in range(n)) for n in (8, 4, 4, 4, 12))
        facts = {"startedAtNs": rng.choice([T + rng.randint(0, 3), T + i * SECOND, 5])}
        if rng.random() < 0.2:
            facts = {}
        if rng.random() < 0.8:
            facts["name"] = rng.choice(names)
        a.put(sid, rng.choice(["sessions"] * 5 + ["live"]), **facts)
        ids.append(sid)
    return ids, names


@test
def finding_gives_the_same_with_and_without_an_index():
    rng = random.Random(8)
    for _ in range(3):
        with Library(AHR) as a:
            ids, names = random_home(a, rng)
            a.index()
            for sid in rng.sample(ids, 4):  # some come later, some are gone
                folder = a.home.dir / "sessions" / sid
                if folder.is_dir():
                    shutil.rmtree(folder)
            late = session_id("2026-03-11", rng.choice("abc"))
            a.put(late, name=rng.choice(names), startedAtNs=T + 2)
            whats = ["last", "nobody", "cafe", "2026-01", *names, *ids[:6],
                     *(sid[11:15] for sid in ids[:4]), *(sid[:12] for sid in ids[:4])]

            def answers():
                return [(r.returncode, r.stdout and json.loads(r.stdout)["id"], r.stderr)
                        for r in (a.run("show", "--json", what) for what in whats)]
            by_index, indexed = answers(), a.ids()
            a.drop_index()
            for what, ours, theirs in zip(whats, by_index, answers()):
                assert ours == theirs, (what, ours, theirs)
            assert sorted(indexed) == sorted(a.ids())


run()
