#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_test.py -- `ahr fs snapshot`, `list`, `delete` and `tidy`: what they print, whom they tell, what
they refuse. usage: fs_test.py AHR [--sanitized]"""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.live import HUSH, Session, lines, snapshots
from support.on_pty import OnPty
from support.processes import wait_for
from support.recorder import Recorder
from support.scripted_recorder import (ANCHOR, SNAPSHOT, SNAPSHOT_MANUAL, ScriptedRecorder, done,
                                       refused)
from support.sessions import session_id
from support.tap import run, test

AHR = sys.argv[1]
TS = 1763240000123456789
NO_PLACE = "taken without a place in a recording"
KEYS = ["id", "commit", "anchor_byte", "ts_ns", "files", "bytes", "skipped", "skipped_count"]
LISTED = ["id", "session", "session_name", "label", "kind", "commit", "ts_ns", "anchor_byte", "files", "bytes",
          "skipped", "all", "root", "repository"]


class Fs(Recorder):
    """A folder `tree` with two files in it, and snapshots of that."""

    def __enter__(self):
        super().__enter__()
        self.tree = self.dir / "tree"
        (self.tree / "src").mkdir(parents=True)
        (self.tree / "src" / "a.c").write_bytes(b"int a;\n")
        (self.tree / "run").write_bytes(b"#!/bin/sh\n")
        return self

    def fs(self, *args, status=0, cwd=None, **more):
        """`ahr fs …` in the tree."""
        env = {**self.env, **more.pop("env", {})}
        got = subprocess.run([self.binary, "fs", *map(str, args)], cwd=cwd or self.tree, env=env,
                             input=b"", capture_output=True, **more)
        assert got.returncode == status, (args, got.returncode, got.stdout, got.stderr.decode())
        self.said_last = got.stderr.decode()
        return got.stdout

    def snapshot(self, *args, **more):
        out = self.fs("snapshot", *args, **more)
        assert out.count(b"\n") == 1 and out.endswith(b"\n"), out
        taken = json.loads(out)
        assert list(taken) == KEYS, out
        return taken

    def list(self, *args, **more):
        return json.loads(self.fs("list", "--json", *args, **more))

    def ids(self, *args, **more):
        return [one["id"] for one in self.list(*args, **more)]

    def git(self, *args):
        """In the one shadow repository."""
        repo, = (self.home / "snapshots").glob("*.git")
        return subprocess.run(["git", "--git-dir", repo, *args], env=self.env, check=True,
                              capture_output=True).stdout

    def files_of(self, taken):
        out = self.git("ls-tree", "-r", "-z", "--name-only", taken["commit"] + ":files")
        return sorted(out.split(b"\0")[:-1])

    def size(self):
        """Of all shadow repositories, however they change meanwhile."""
        return int(subprocess.run(["du", "-sb", self.home / "snapshots"], capture_output=True,
                                  check=False).stdout.split()[0])


def hush(size):
    """The first bytes of HUSH."""
    return b"12345"[:size]


def agrees(body):
    return done(struct.unpack_from("<Q", body)[0], 4711, TS)


def asked_for(body):
    number, offset = struct.unpack_from("<QI", body)
    assert offset == 12
    return number, body[12:].decode()


# -- the commands --


@test
def ahr_fs_tells_its_commands():
    with Fs(AHR) as a:
        overview = a.ok("fs", "-h").decode()
        assert overview.startswith("usage: ahr fs COMMAND …\n"), overview
        assert a.ok("help", "fs") == a.ok("fs", "help") == a.ok("fs", "--help") == overview.encode()
        for name in ("snapshot", "list", "delete", "tidy"):
            assert f"  {name} " in overview
            assert a.ok("help", "fs", name) == a.ok("fs", name, "-h") == a.ok("fs", "help", name)
        assert a.fails(2, "fs") == overview
        assert "ahr fs: unknown command 'snapshto'; did you mean 'snapshot'?" in a.fails(
            2, "fs", "snapshto")
        for beginning in ("sn", "snap", "snapsho"):
            assert "did you mean 'snapshot'?" in a.fails(2, "fs", beginning)
        assert "see 'ahr help fs'" in a.fails(2, "help", "fs", "zzzzzzzzzzzz")
        assert "ahr fs list: unknown option '--jsno'; did you mean '--json'?" in a.fails(
            2, "fs", "list", "--jsno")


@test
def a_snapshot_needs_no_recording():
    with Fs(AHR) as a:
        before = time.time_ns()
        taken = a.snapshot("--label", "naïve")
        assert a.said_last == f"ahr fs snapshot: no recorder here: {NO_PLACE}\n", a.said_last
        assert taken["anchor_byte"] is None and taken["files"] == 2 and taken["bytes"] == 17
        assert before <= taken["ts_ns"] <= time.time_ns()
        assert before // 1000 <= taken["id"] <= time.time_ns() // 1000
        assert taken["skipped"] == [] and taken["skipped_count"] == 0
        one, = a.list()
        assert list(one) == LISTED
        assert one == {**one, "id": taken["id"], "session": None, "label": "naïve", "kind": "manual",
                       "commit": taken["commit"], "ts_ns": taken["ts_ns"], "anchor_byte": None,
                       "files": 2, "bytes": 17, "skipped": 0, "all": False, "root": str(a.tree)}
        assert a.files_of(taken) == [b"run", b"src/a.c"]
        assert a.git("for-each-ref", "--format=%(refname)").decode() == \
            f"refs/ahr/none/{taken['id']}\n"
        assert Path(one["repository"]).parent == a.home / "snapshots"


@test
def a_snapshot_of_an_empty_folder_is_one():
    with Fs(AHR) as a:
        (a.dir / "bare").mkdir()
        taken = a.snapshot("--dir", a.dir / "bare")
        assert taken["files"] == 0 and taken["bytes"] == 0
        assert [one["root"] for one in a.list()] == [str(a.dir / "bare")]


@test
def the_root_is_the_work_tree_around_the_folder():
    with Fs(AHR) as a:
        a.snapshot(cwd=a.tree / "src")
        subprocess.run(["git", "init", "-q", a.tree], check=True, env=a.env)
        a.snapshot(cwd=a.tree / "src")
        a.snapshot("--dir", "src")
        assert [one["root"] for one in a.list()] == [str(a.tree / "src"), *2 * [str(a.tree)]]
        assert a.ids("--here", cwd=a.tree / "src") == a.ids()[1:]
        assert "--dir" not in a.fails(3, "fs", "snapshot", "--dir", "nowhere")


# -- the recorder --


@test
def inside_of_a_recording_it_has_a_place():
    with Fs(AHR) as a, Session(a, command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        taken = a.snapshot("--label", "here", env=s.env)
        assert a.said_last == "", a.said_last
        assert taken["anchor_byte"] == 5
        one, = a.list()
        assert (one["session"], one["anchor_byte"], one["ts_ns"]) == (s.id, 5, taken["ts_ns"])
        line, = lines(a.live(), "snapshots")
        assert line["id"] == taken["id"] and line["label"] == "here", line
        assert line["kind"] == "manual" and line["anchor_byte"] == 5, line
        assert a.ids("--session", s.id) == a.ids("--session", "last") == [taken["id"]]
        assert a.ids("--session", "none") == []
        s.end(hush)


@test
def the_mark_in_the_recording_is_where_the_place_was():
    with Fs(AHR) as a, Session(a) as s:  # it goes on talking while the files are read
        s.has_shown(100)
        taken = [a.snapshot(env=s.env) for _ in range(3)]
        (a.dir / "go").touch()
        a.ends(s.client, 0)
        folder = a.home / "sessions" / s.id
        assert [(line["id"], line["anchor_byte"], line["ts_ns"]) for line in
                lines(folder, "snapshots")] == \
            [(t["id"], t["anchor_byte"], t["ts_ns"]) for t in taken]
        assert [(mark.id, mark.anchor_byte) for mark in snapshots(folder / "session.ahr")] == \
            [(t["id"], t["anchor_byte"]) for t in taken]
        assert a.ids("--session", s.id) == [t["id"] for t in taken]


@test
def from_elsewhere_a_live_session_is_named():
    with Fs(AHR) as a, Session(a, "--name", "mine", command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        assert a.snapshot("--session", "mine")["anchor_byte"] == 5
        assert [one["session"] for one in a.list()] == [s.id]
        s.end(hush)
        assert "has ended" in a.fails(3, "fs", "snapshot", "--session", "mine")
        assert "'nix'" in a.fails(3, "fs", "snapshot", "--session", "nix")
        assert len(a.ids()) == 1


@test
def a_session_that_takes_nothing_from_inside_keeps_the_files():
    with Fs(AHR) as a, Session(a, "--ipc", "off", command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        env = {**s.env, "AHR_SESSION": s.id}
        done_by = subprocess.run([a.binary, "fs", "snapshot"], cwd=a.tree, env=env, capture_output=True,
                                 check=True)
        assert json.loads(done_by.stdout)["files"] == 2
        assert [one["session"] for one in a.list()] == [s.id]
        s.end(hush)


@test
def the_place_is_asked_for_before_the_files_are_read():
    with Fs(AHR) as a:
        def anchor(_):
            (a.tree / "late").write_bytes(b"in time")
            return done(0, 4711, TS)
        answers = {ANCHOR: anchor, SNAPSHOT_MANUAL: agrees}
        with ScriptedRecorder(a.dir / "s", answers) as fake:
            taken = a.snapshot("--label", "l", env={"AHR_IPC": fake.address})
        assert [selector for selector, _ in fake.heard] == [ANCHOR, SNAPSHOT_MANUAL]
        assert asked_for(fake.heard[1][1]) == (taken["id"], "l")
        assert b"late" in a.files_of(taken)
        assert (taken["anchor_byte"], taken["ts_ns"]) == (4711, TS) and a.said_last == ""


@test
def both_questions_go_over_one_connection():
    with Fs(AHR) as a:
        answers = {ANCHOR: lambda _: done(0, 1, TS), SNAPSHOT_MANUAL: agrees}
        with ScriptedRecorder(a.dir / "s", answers) as fake:
            a.snapshot(env={"AHR_IPC": fake.address})
            assert fake.connections == 1


@test
def a_recorder_that_goes_away_costs_only_the_place():
    def gone(_):
        return None

    def no(_):
        return refused("the disk is full")
    ways = [{ANCHOR: gone}, {ANCHOR: no}, {ANCHOR: lambda _: done(0, 7, TS), SNAPSHOT_MANUAL: gone},
            {ANCHOR: lambda _: done(0, 7, TS), SNAPSHOT_MANUAL: no}]
    with Fs(AHR) as a:
        for number, answers in enumerate(ways):
            with ScriptedRecorder(a.dir / f"s{number}", answers) as fake:
                taken = a.snapshot(env={"AHR_IPC": fake.address})
            assert taken["anchor_byte"] is None and taken["files"] == 2
            assert NO_PLACE in a.said_last and a.said_last.count("\n") == 1, a.said_last
        a.snapshot(env={"AHR_IPC": str(a.dir / "nobody")})
        assert "$AHR_IPC names" in a.said_last and NO_PLACE in a.said_last, a.said_last
        assert len(a.ids()) == len(ways) + 1


@test
def a_foreign_recorder_is_told_before_the_files_are_read():
    with Fs(AHR) as a:
        def agrees_late(body):
            (a.tree / "late").write_bytes(b"in time")
            return agrees(body)
        with ScriptedRecorder(a.dir / "s", {SNAPSHOT: agrees_late}) as fake:
            taken = a.snapshot("--label", "x", env={"AH_RECORDER_IPC_SOCKET": fake.address})
        assert [(s, asked_for(b)) for s, b in fake.heard] == [(SNAPSHOT, (taken["id"], "x"))]
        assert taken["anchor_byte"] == 4711 and b"late" in a.files_of(taken)


@test
def a_session_that_the_library_does_not_have_gets_none():
    with Fs(AHR) as a:
        for name in (session_id("2026-11-15", "a"), "../../evil", "none", "x" * 300):
            a.snapshot(env={"AHR_SESSION": name})
        assert [one["session"] for one in a.list()] == 4 * [None]


@test
def a_session_deleted_meanwhile_leaves_no_snapshot():
    with Fs(AHR) as a:
        name = session_id("2026-11-15", "a")
        folder = a.home / "sessions" / name
        folder.mkdir(parents=True)

        def too_late(body):
            folder.rmdir()
            return agrees(body)
        answers = {ANCHOR: lambda _: done(0, 1, TS), SNAPSHOT_MANUAL: too_late}
        with ScriptedRecorder(a.dir / "s", answers) as fake:
            out = a.fs("snapshot", status=3, env={"AHR_IPC": fake.address, "AHR_SESSION": name})
        assert out == b"" and "was deleted meanwhile" in a.said_last, (out, a.said_last)
        assert a.list() == []


# -- what it says --


@test
def what_is_left_out_is_listed_with_the_reason():
    with Fs(AHR) as a:
        os.mkfifo(a.tree / "pipe")
        (a.tree / "big").write_bytes(b"x" * 4097)
        (a.tree / "fits").write_bytes(b"x" * 4096)
        os.mkfifo(bytes(a.tree) + b"/odd\xff\n")
        taken = a.snapshot("--max-file", "4K")
        assert taken["files"] == 3 and taken["skipped_count"] == 3
        assert taken["skipped"] == [
            {"path": "big", "reason": "large"},
            {"path": "odd\ufffd\n", "path_bytes": "6f6464ff0a", "reason": "fifo"},
            {"path": "pipe", "reason": "fifo"},
        ], taken
        assert a.list()[0]["skipped"] == 3


@test
def a_thousand_are_listed_and_all_are_counted():
    with Fs(AHR) as a:
        for number in range(1100):
            (a.tree / f"f{number:04}").touch()
        taken = a.snapshot("--max-files", "1")
        assert taken["files"] == 1 and taken["skipped_count"] == 1101
        assert len(taken["skipped"]) == 1000
        assert {one["reason"] for one in taken["skipped"]} == {"many"}
        assert a.snapshot("--max-total", "1")["skipped_count"] == 2


@test
def on_a_terminal_the_first_ones_are_told():
    with Fs(AHR) as a:
        for number in range(7):
            os.mkfifo(a.tree / f"pipe\x1b{number}")
        with OnPty([a.binary, "fs", "snapshot"], cols=200, cwd=a.tree, env=a.env) as t:
            assert t.finish() == 0
            said = bytes(t.bytes).decode()
        assert 'left out: "pipe\\0330": a fifo' in said, said
        assert "left out: 2 more" in said and "\x1b" not in said.replace('"', ""), said


@test
def labels_are_clean_and_have_no_secrets():
    secret = "ghp_" + "".join("aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"[i] for i in range(36))
    with Fs(AHR) as a:
        assert "control characters" in a.fails(2, "fs", "snapshot", "--label", "a\nb")
        assert "not UTF-8" in a.fails(2, "fs", "snapshot", "--label", b"\xff".decode(
            errors="surrogateescape"))
        answers = {ANCHOR: lambda _: done(0, 1, TS), SNAPSHOT_MANUAL: agrees}
        with ScriptedRecorder(a.dir / "s", answers) as fake:
            a.snapshot("--label", f"with {secret} in it", env={"AHR_IPC": fake.address})
        label = a.list()[0]["label"]
        assert label.startswith("with ") and label.endswith(" in it") and secret not in label, label
        assert asked_for(fake.heard[1][1])[1] == label
        assert secret.encode() not in a.git("cat-file", "-p", a.list()[0]["commit"])


@test
def wrong_usage_takes_nothing():
    with Fs(AHR) as a:
        assert "must be a number of bytes such as" in a.fails(2, "fs", "snapshot", "--max-file", "1X")
        assert "cannot be as large" in a.fails(2, "fs", "snapshot", "--max-total", "99999999T")
        assert "--max-files must be a number, at least 1, not '0'" in a.fails(2, "fs", "snapshot", "--max-files", "0")
        for ceiling in ("--max-file", "--max-total"):
            assert f"{ceiling} cannot be as small as '0'" in a.fails(2, "fs", "snapshot", ceiling, "0")
        assert "one word too many" in a.fails(2, "fs", "snapshot", "x")
        assert a.ids() == []


@test
def without_git_it_says_what_is_missing():
    with Fs(AHR) as a:
        (a.dir / "empty").mkdir()
        a.fs("snapshot", status=3, env={"PATH": str(a.dir / "empty")})
        assert "git" in a.said_last and "ahr fs snapshot: " in a.said_last, a.said_last


@test
def who_starts_it_may_ignore_the_end_of_children():
    with Fs(AHR) as a:
        a.snapshot(preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        assert len(a.list(preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))) == 1


@test
def settings_come_from_variables_and_the_config_file():
    with Fs(AHR) as a:
        config = a.dir / "home" / ".config" / "ahr" / "config"
        config.parent.mkdir(parents=True)
        config.write_text("fs snapshot.max-file = 8\n")
        assert [s["path"] for s in a.snapshot()["skipped"]] == ["run"]
        assert a.snapshot(env={"AHR_MAX_FILE": "1K"})["skipped"] == []
        assert a.snapshot("--max-file", "6")["skipped_count"] == 2


# -- list and delete --


@test
def a_list_is_for_people_too():
    with Fs(AHR) as a:
        with OnPty([a.binary, "fs", "list"], cwd=a.tree, env=a.env) as t:
            assert t.finish() == 0
            assert b"there is no snapshot of files yet; 'ahr fs snapshot' takes one" in t.bytes
        with OnPty([a.binary, "fs", "list", "--here"], cwd=a.tree, env=a.env, cols=200) as t:
            assert t.finish() == 0
            assert f"there is no snapshot of '{a.tree}' yet".encode() in t.bytes
        assert a.fs("list") == b""
        taken = a.snapshot("--label", "before lunch")
        row = a.fs("list").decode()
        assert row.count("\n") == 1
        for text in (str(taken["id"]), "manual", "before lunch", str(a.tree), "17 B"):
            assert text in row, row
        here = a.fs("list", "--here").decode()
        assert str(taken["id"]) in here and "before lunch" in here and str(a.tree) not in here, here
        plain = {**a.env, "NO_COLOR": "1"}
        for cols in (20, 40, 80, 200):
            with OnPty([a.binary, "fs", "list"], cols=cols, cwd=a.tree, env=plain) as t:
                assert t.finish() == 0
                lines = bytes(t.bytes).decode().split("\r\n")
                assert all(len(line) <= cols for line in lines) and str(taken["id"]) in lines[1]


@test
def how_many_were_left_out_is_listed_if_any_were():
    def rows():
        with OnPty([a.binary, "fs", "list", "--here"], cols=200, cwd=a.tree, env={**a.env, "NO_COLOR": "1"}) as t:
            assert t.finish() == 0
            return bytes(t.bytes).decode().splitlines()
    with Fs(AHR) as a:
        a.snapshot()
        head, _ = rows()
        assert head.split() == ["WHEN", "ID", "KIND", "FILES", "SIZE", "SESSION", "LABEL"], head
        a.snapshot("--max-file", "8", "--label", "less")
        head, whole, less = rows()
        assert head.split() == ["WHEN", "ID", "KIND", "FILES", "LEFT", "OUT", "SIZE", "SESSION", "LABEL"], head
        assert whole.split()[-4:] == ["2", "17", "B", "-"], whole
        assert less.split()[-6:] == ["1", "1", "7", "B", "-", "less"], less
        end = head.index("LEFT OUT") + 8
        assert less[end - 8:end] == "       1" and whole[end - 8:end].isspace(), less
        assert b"  1  1   7 B  -  less\n" in a.fs("list", "--here")


def session_of(a, letter, **facts):
    """A session of the library; its id."""
    name = session_id("2026-11-15", letter)
    folder = a.home / "sessions" / name
    folder.mkdir(parents=True)
    if facts:
        (folder / "session.meta.json").write_text(json.dumps({"id": name, **facts}))
    return name


@test
def a_session_is_called_by_its_name_in_a_list():
    with Fs(AHR) as a:
        named = session_of(a, "a", name="refactoring")
        nameless = session_of(a, "b", name=None)
        damaged = session_of(a, "c")
        (a.home / "sessions" / damaged / "session.meta.json").write_text("{")
        for session in (named, nameless, damaged, named):
            a.snapshot(env={"AHR_SESSION": session})
        a.snapshot()
        assert [(one["session"], one["session_name"]) for one in a.list()] == [
            (named, "refactoring"), (nameless, None), (damaged, None), (named, "refactoring"), (None, None)]
        rows = a.fs("list", "--here").decode().splitlines()
        assert [row.split()[7] for row in rows] == ["refactoring", nameless[:19], damaged[:19], "refactoring", "-"]
        a.ok("rename", named, "tidying")
        assert [one["session_name"] for one in a.list("--session", "tidying")] == 2 * ["tidying"]


@test
def the_beginning_of_an_id_that_is_listed_names_its_session():
    with Fs(AHR) as a:
        ours, outside, bare = (session_of(a, letter, name=None) for letter in "abc")
        taken = {s: a.snapshot(env={"AHR_SESSION": s})["id"] for s in (ours, outside)}
        for left in (a.home / "sessions" / outside).iterdir():
            left.unlink()
        (a.home / "sessions" / outside).rmdir()  # as one with --out-file, which has ended
        for session in (ours, outside):
            shown, = (row.split()[7] for row in a.fs("list", "--here").decode().splitlines()
                      if str(taken[session]) in row)
            assert a.ids("--session", shown) == a.ids("--session", shown[:12]) == [taken[session]]
        assert "several sessions" in a.fails(2, "fs", "list", "--session", "2026-11-15")
        assert a.ids("--session", bare[:19]) == []
        assert "no session" in a.fails(3, "fs", "list", "--session", "2026-11-14")


@test
def a_session_with_snapshots_is_shown_with_how_to_list_them():
    with Fs(AHR) as a:
        session, other = session_of(a, "a", name=None), session_of(a, "b", name=None)
        hint = f"ahr fs list --session {session}\n"
        env = {**a.env, "PATH": "/nonexistent"}  # no git is to be started

        def shown(session):
            return a.ok("show", "--upkeep", "off", session, env=env).decode()
        taken = a.snapshot(env={"AHR_SESSION": session})["id"]
        assert shown(session).endswith(hint) and "ahr fs" not in shown(other)
        a.git("pack-refs", "--all")
        assert shown(session).endswith(hint) and "ahr fs" not in shown(other)
        a.fs("delete", "--yes", "--upkeep", "off", taken)
        assert "ahr fs" not in shown(session)


@test
def the_name_of_a_folder_may_hold_anything():
    with Fs(AHR) as a:
        odd = bytes(a.dir) + b'/a "\xff\n'
        os.mkdir(odd)
        a.snapshot(cwd=odd)
        one, = a.list()
        assert bytes.fromhex(one["root_bytes"]) == odd and "\ufffd" in one["root"]
        assert b'/a \\"\\377\\n"' in a.fs("list") and a.fs("list").count(b"\n") == 1
        assert a.ids("--here", cwd=odd) == [one["id"]] and a.ids("--here") == []


@test
def a_damaged_repository_is_told_and_costs_the_others_nothing():
    with Fs(AHR) as a:
        a.snapshot()
        root, = (a.home / "snapshots").glob("*.git/ahr.root")
        root.unlink()
        taken = a.snapshot()
        assert [one["id"] for one in json.loads(a.fs("list", "--json", status=4))] == [taken["id"]]
        assert "ahr.root" in a.said_last, a.said_last
        a.fs("restore", taken["id"], "--into", a.dir / "there")
        assert (a.dir / "there" / "run").read_bytes() == b"#!/bin/sh\n"


@test
def a_snapshot_that_cannot_be_read_is_in_the_way_of_none_but_the_next():
    with Fs(AHR) as a:
        a.snapshot()
        for index in (a.home / "snapshots").glob("*.git/objects/pack/*.idx"):
            index.unlink()
        (a.tree / "src" / "b.c").write_bytes(b"int b;\n")
        a.fs("snapshot", status=1)
        taken = a.snapshot()
        a.fs("restore", taken["id"], "--into", a.dir / "there")
        assert (a.dir / "there" / "src" / "a.c").read_bytes() == b"int a;\n"


@test
def snapshots_are_deleted_by_what_they_are_called():
    with Fs(AHR) as a:
        taken = [a.snapshot("--label", f"l{n}") for n in range(5)]
        ids = [one["id"] for one in taken]
        assert a.ids() == ids
        assert "which snapshot?" in a.fails(2, "fs", "delete")
        a.fs("delete", ids[0], status=2)
        assert "give --yes" in a.said_last
        a.fs("delete", "l0", "nix", "--yes", status=3)
        a.fs("delete", str(ids[0])[:4], "--yes", status=2)
        assert a.ids() == ids
        a.fs("delete", "l1", ids[1], "--yes")
        assert a.said_last == f"ahr fs delete: snapshot {ids[1]} is deleted\n"
        a.fs("delete", "-y", "last", taken[2]["commit"][:12])
        assert a.ids() == [ids[0], ids[3]]
        a.fs("delete", "-y", ids[0], ids[3])
        assert a.list() == []


@test
def deleting_asks_first():
    with Fs(AHR) as a:
        a.snapshot("--label", "dear")
        for answer, status, left in ((b"n\n", 1, 1), (b"\n", 1, 1), (b"y\n", 0, 0)):
            with OnPty([a.binary, "fs", "delete", "dear"], cwd=a.tree, env=a.env) as t:
                t.read_until(b"Delete 1 snapshot for good? [y/N] ")
                assert b"dear" in t.bytes
                os.write(t.master, answer)
                assert t.finish() == status
            assert len(a.ids()) == left


@test
def tidying_frees_what_was_deleted():
    with Fs(AHR) as a:
        assert b" in use" in a.fs("tidy")
        (a.tree / "noise").write_bytes(os.urandom(1 << 20))
        a.snapshot("--label", "gone")
        (a.tree / "noise").unlink()
        kept = a.snapshot()
        a.fs("delete", "gone", "--yes")
        assert a.size() > 1 << 20
        out = a.fs("tidy").decode()
        assert "1.0 MB freed, " in out, out
        assert a.size() < 1 << 20
        assert a.files_of(kept) == [b"run", b"src/a.c"]
        a.git("fsck")
        assert "more than the budget of 1 B" in (a.fs("tidy", "--budget", 1), a.said_last)[1]
        assert a.ids() == [kept["id"]]


@test
def what_was_deleted_is_freed_in_the_background():
    with Fs(AHR) as a:
        for label in ("gone", "kept"):
            (a.tree / "noise").write_bytes(os.urandom(1 << 20))
            a.snapshot("--label", label)
        before = a.size()
        a.fs("delete", "gone", "--yes")
        assert a.size() > before - 100000  # it was told to leave that
        a.snapshot("--upkeep", "auto")
        wait_for(lambda: a.size() < before - 1000000)
        assert [one["label"] for one in a.list()] == ["kept", None]


run()
