#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""archive_test.py -- runs put away compressed: every command reads them as before, whoever is killed
between, whatever the disk does, and whatever lies in the place of a file.

usage: archive_test.py AHR STREAM_AGENT [KILL_SHIM]; prints TAP.
"""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.mounts import mounted, own_mounts
from support.real_runs import Runs
from support.tap import run, test

AHR, AGENT = (str(Path(path).resolve()) for path in sys.argv[1:3])
SHIM = str(Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 else None
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "events", "cast", "cast3")
SECRET = "sk-hunter2-is-no-password"


def test_preloaded(function):
    """A test, but under the sanitizers, which do not go with preloading."""
    return test(function) if SHIM else function


class Put(Runs):
    """A project with a run of two iterations called "one", which has written files."""

    def __init__(self):
        super().__init__(AHR, AGENT)

    def __enter__(self):
        super().__enter__()
        (self.project / "given.txt").write_text("made by hand\n")
        self.agent("--messages", "6", "--write", str(self.project), options=("--name", "one"))
        self.ok("artifact", "add", "--session", "one", "given.txt")
        self.agent("--messages", "3", options=("--name", "one"))
        self.ok("index", "--all")
        return self

    def ids(self):
        return [s["id"] for s in self.json("list")]

    def journals(self):
        """What an archive takes, by its name without .gz: bytes as they were, mode and time."""
        found = {}
        run_dir = self.folder("one")
        for path in (*run_dir.glob("io.log*"), *run_dir.glob("iterations/*.log*"),
                     *run_dir.glob("artifacts/0*"), *self.home.glob("sessions/*/session.turns.jsonl*")):
            data, name, st = path.read_bytes(), str(path), path.lstat()
            if name.endswith(".gz"):
                data, name = gzip.decompress(data), name[:-3]
            assert name not in found, f"{name} is there twice"
            found[name] = (data, st.st_mode, st.st_mtime_ns)
        return found

    def packed(self):
        return sorted(p for p in (*self.project.rglob("*.gz"), *self.home.rglob("*.gz")))

    def views(self):
        """What every command that reads says of it, but for the size on disk."""
        seen = {}
        for session in self.ids():
            for kind in FORMATS:
                seen[session, kind] = self.ok("export", session, "--format", kind)
            seen[session, "show"] = {k: v for k, v in self.json("show", session).items() if k != "size_bytes"}
            seen[session, "branch-points"] = self.ok("branch-points", session)
            seen[session, "replay"] = self.ok("replay", session)
            seen[session, "cat"] = self.ok("cat", session)
            seen[session, "verify"] = self.ok("verify", session)
        for args in (["log", "one"], ["log", "one", "--json"], ["log", "-f", "one"],
                     ["log", "one", "--iteration", "2"], ["log", "--iteration", "last"],
                     ["log", self.folder("one") / "iterations/1.log"],
                     ["artifact", "list", "--session", "one", "--json"],
                     ["search", "--json", "message"], ["search", "file-1"]):
            seen[tuple(map(str, args))] = self.ok(*args)
        return seen

    def is_whole(self, before):
        """Nothing is lost, and all can still be done with it."""
        now = {name: data for name, (data, *_) in self.journals().items()}
        assert now == {name: data for name, (data, *_) in before.items()}


def damage(path, how):
    data = bytearray(path.read_bytes())
    if how == "cut":
        data = data[:len(data) // 2]
    else:
        data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


# -- as before --


@test
def every_command_reads_it_as_before():
    with Put() as a:
        files, before = a.journals(), a.views()
        assert len(files) >= 8, files.keys()
        told = a.ok("archive", "one", *a.ids()).decode()
        assert "in all: 2 sessions" in told, told
        assert "ratio" in told, told
        assert len(a.packed()) == len(files)
        assert a.journals() == files  # mode and time, too
        assert a.views() == before
        for again in ("reindex", "recover"):
            a.ok(again, *(["--all"] if again == "recover" else []))
            assert a.views() == before, again
        (a.home / "library.db").unlink()
        a.ok("index", "--all")
        assert a.views() == before
        a.ok("archive", "--undo", *a.ids())
        assert a.packed() == []
        assert a.journals() == files
        assert a.views() == before


@test
def the_size_that_is_listed_is_the_one_on_disk():
    with Put() as a:
        for args in (["archive"], ["archive", "--undo"]):
            a.ok(*args, *a.ids())
            for s in a.json("list"):
                assert s["indexed"], args
                folder = a.home / "sessions" / s["id"]
                assert s["size_bytes"] == sum(p.stat().st_size for p in folder.iterdir() if p.name != "keyframes")


@test
def what_is_old_is_taken_and_what_was_named_whatever_its_age():
    with Put() as a:
        assert a.ok("archive") == b"nothing to do\n"
        assert a.packed() == []
        dry = a.json("archive", "--older-than", "now", "--dry-run")
        assert dry["files"] == len(a.journals())
        assert dry["before"] == sum(len(data) for data, *_ in a.journals().values())
        assert dry["after"] is None and {s["state"] for s in dry["sessions"]} == {"would_archive"}
        assert a.packed() == []
        done = a.json("archive", "--older-than", "now")
        assert (done["files"], done["before"]) == (dry["files"], dry["before"])
        assert done["after"] == sum(p.stat().st_size for p in a.packed())
        assert done["ratio"] == round(done["before"] * 100 // done["after"] / 100, 2)
        assert [s["state"] for s in done["sessions"]] == ["archived", "archived"]
        assert a.json("archive", "one")["sessions"][0]["files"] == 0
        assert "archived already" in a.ok("archive", "one").decode()
        assert "nothing of it is archived" not in a.ok("archive", "--undo", "one").decode()
        for wrong in (["--undo"], ["one", "--older-than", "1d"], ["--older-than", "soon"]):
            a.fails(2, "archive", *wrong)
        assert "no session" in a.fails(3, "archive", "nobody", "one")


@test
def what_is_configured_is_for_those_that_nobody_names():
    with Put() as a:
        newest, older = a.ids()
        config = a.dir / "home" / ".config" / "ahr" / "config"
        config.parent.mkdir(parents=True)
        config.write_text("archive.older-than = 14d\n")
        assert a.json("archive")["files"] == 0
        a.fails(2, "archive", "one", "--older-than", "1d")
        assert a.json("archive", older)["files"] > 0 and a.packed()
        a.fails(2, "archive", "--undo")
        undo = a.json("archive", older, "--undo", "--dry-run")["sessions"]
        assert [s["state"] for s in undo] == ["would_unpack"] and a.packed()
        a.ok("archive", older, "--undo")
        config.unlink()
        a.env["AHR_OLDER_THAN"] = "now"
        a.json("archive", older, "--undo")
        assert a.packed() == []
        a.fails(2, "archive", "--undo")
        assert a.json("archive")["files"] > 0


@test
def one_of_which_no_time_is_known_is_not_old():
    with Put() as a:
        newest, older = a.ids()
        meta = a.home / "sessions" / older / "session.meta.json"
        facts = json.loads(meta.read_text())
        del facts["startedAtNs"], facts["endedAtNs"]
        meta.write_text(json.dumps(facts))
        a.ok("reindex")
        done = a.json("archive", "--older-than", "now")["sessions"]
        assert [s["id"] for s in done] == [newest], done
        assert not list((a.home / "sessions" / older).glob("*.gz"))
        assert a.json("archive", older)["sessions"][0]["files"] > 0


@test
def a_session_without_journals_has_nothing_to_do():
    with Runs(AHR) as a:
        a.ok("record", "--", "true")
        told = a.ok("archive", "last").decode()
        assert "nothing to archive" in told, told
        assert a.json("archive", "last")["sessions"][0]["state"] == "nothing"


@test
def an_empty_journal_stays():
    with Put() as a:
        (a.folder("one") / "io.log").write_bytes(b"")
        a.ok("archive", *a.ids())
        assert (a.folder("one") / "io.log").read_bytes() == b""
        a.ok("archive", "--undo", *a.ids())
        a.ok("run", "-q", "--name", "one", "--", "echo", "more")
        assert a.io("one")[0]["content"]


# -- gone on with --


@test
def a_run_of_the_same_name_goes_on_where_it_was():
    with Put() as a:
        old, logs = (a.folder("one") / "io.log").read_bytes(), a.ok("log", "one")
        a.ok("archive", *a.ids())
        a.ok("run", "-q", "--name", "one", "--", "echo", "the third")
        now = (a.folder("one") / "io.log").read_bytes()
        assert now.startswith(old) and b"the third" in now[len(old):]
        assert not (a.folder("one") / "io.log.gz").exists()
        assert (a.folder("one") / "iterations/2.log.gz").exists()
        assert (a.folder("one") / "iterations/3.log").exists()
        shown = a.ok("log", "one")
        assert shown.startswith(logs) and b"the third" in shown[len(logs):]
        a.ok("archive", *a.ids())
        assert a.ok("log", "one") == shown
        assert gzip.decompress((a.folder("one") / "io.log.gz").read_bytes()) == now


@test
def files_can_be_added_to_an_archived_run():
    with Put() as a:
        old, copies = (a.folder("one") / "io.log").read_bytes(), len([*a.folder("one").glob("artifacts/0*")])
        a.ok("archive", *a.ids())
        a.ok("artifact", "add", "--session", "one", "given.txt")
        (same,) = [e for e in a.links("one") if e["why"] == "it is as it was"]
        assert same["path"] == "given.txt"
        assert len([*a.folder("one").glob("artifacts/0*")]) == copies
        (a.project / "given.txt").write_text("changed\n")
        a.ok("artifact", "add", "--session", "one", "given.txt")
        now = (a.folder("one") / "io.log").read_bytes()
        assert now.startswith(old) and now[len(old):].count(b'"given.txt"') == 2, now[len(old):]
        assert not (a.folder("one") / "io.log.gz").exists()
        a.ok("instruct", a.ids()[0], "do this")
        a.ok("archive", *a.ids())
        assert a.json("show", a.ids()[0])["instructions"] == 1
        assert len([*a.folder("one").glob("artifacts/0*.gz")]) == copies + 1


@test
def files_that_are_added_while_it_is_archived_are_all_noted():
    with Put() as a:
        adding = [a.popen("artifact", "add", "--session", "one", "given.txt") for _ in range(4)]
        for _ in range(3):
            a.run("archive", *a.ids())
            adding += [a.popen("artifact", "add", "--session", "one", "given.txt") for _ in range(3)]
        for one in adding:
            assert one.wait() == 0
        a.ok("archive", *a.ids())
        io = gzip.decompress((a.folder("one") / "io.log.gz").read_bytes())
        assert io.count(b'"given.txt"') == 1 + len(adding), io.count(b'"given.txt"')
        assert [json.loads(line) for line in io.splitlines()]


@test
def copies_of_compressed_files_are_left_as_they_are():
    with Put() as a:
        (a.project / "own.gz").write_bytes(gzip.compress(b"mine", mtime=0))
        a.ok("artifact", "add", "--session", "one", "own.gz")
        (copy,) = a.folder("one").glob("artifacts/*-own.gz")
        before = copy.read_bytes()
        a.ok("archive", *a.ids())
        a.ok("archive", "--undo", *a.ids())
        assert copy.read_bytes() == before
        assert [*a.folder("one").glob("artifacts/*-own*")] == [copy]


@test
def a_run_that_was_cut_off_is_put_in_order_first():
    with Put() as a:
        with a.live("--name", "one") as live:
            live.say("hello")
            live.until("got hello")
            live.kill()
        older = a.ids()[-1]
        a.ok("archive", older)  # of the same folder, and whole
        head = gzip.decompress((a.folder("one") / "iterations/3.log.gz").read_bytes())[:512]
        assert b"Status: crashed" in head, head
        a.ok("archive", "one")
        assert b"got hello" in a.ok("log", "one", "--iteration", "3")
        assert len(a.ids()) == 3
        assert a.facts("one")["status"] == "interrupted"


# -- secrets --


@test
def nothing_masked_is_left_in_an_archive():
    with Runs(AHR) as a:
        (a.project / "notes.txt").write_text(f"note {SECRET}\n" * 50)
        for _ in range(2):
            a.ok("run", "-q", "--name", "one", "--", "sh", "-c", f"for i in $(seq 50); do echo say {SECRET} $i; done")
        a.ok("artifact", "add", "--session", "one", "notes.txt")
        a.ok("index", "--all")
        ids = [s["id"] for s in a.json("list")]
        a.ok("archive", *ids)
        (a.folder("one") / ".ahr-archive.new").write_text(SECRET)  # left by one that was killed
        said = b""
        for one in ids:
            done = a.run("redact", one, "--text-file", "-", input=SECRET.encode())
            assert done.returncode == 0, done.stderr
            said += done.stderr
        assert b"it was archived" in said, said
        a.ok("archive", *ids)
        for top in (a.project, a.home):
            for path in top.rglob("*"):
                if not path.is_file() or path == a.project / "notes.txt":
                    continue
                data = path.read_bytes()
                data += gzip.decompress(data) if path.suffix == ".gz" else b""
                assert SECRET.encode() not in data, path
        assert b"say" in a.ok("log", "one")


@test
def what_cannot_be_looked_into_is_not_called_clean():
    with Put() as a:
        a.ok("archive", *a.ids())
        damage(a.folder("one") / "iterations/1.log.gz", "cut")
        said = a.fails(4, "redact", a.ids()[0], "--text-file", "-", input=b"message")
        assert "iterations/1.log.gz' is damaged" in said, said
        newest = a.home / "sessions" / a.ids()[0]
        a.ok("archive", a.ids()[0])
        damage(newest / "session.turns.jsonl.gz", "cut")
        said = a.fails(4, "redact", a.ids()[0], "--text-file", "-", input=b"other")
        assert "Nothing was masked" in said, said
        a.fails(4, "archive", "--undo", a.ids()[0])
        assert (newest / "session.turns.jsonl.gz.bad").exists()
        a.run("redact", a.ids()[0], "--text-file", "-", input=b"other")
        assert not (newest / "session.turns.jsonl.gz.bad").exists()


# -- in use --


@test
def what_is_in_use_is_left_alone():
    with Put() as a:
        before, ended = a.journals(), a.ids()
        with a.live("--name", "one") as live:
            assert "going on" in a.fails(5, "archive", ended[0])
            a.fails(5, "archive", "one")
            done = a.run("archive", "--older-than", "now")
            assert done.returncode == 0 and b"in use" in done.stderr, done.stderr
            assert a.packed() == []
            live.say("hello")
            live.until("got hello")
            assert live.end() == 0
        now = a.journals()
        assert all(now[name][0].startswith(data) for name, (data, *_) in before.items())
        a.ok("archive", *a.ids())


@test
def two_at_once_lose_nothing():
    with Put() as a:
        before = a.journals()
        for _ in range(3):
            both = [a.popen("archive", *undo, *a.ids(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for undo in ([], ["--undo"], [], ["--undo"])]
            for one in both:
                assert one.wait() in (0, 5), one.returncode
            a.is_whole(before)
        a.ok("archive", *a.ids())
        a.is_whole(before)


# -- what lies in the place of a file --


@test
def links_are_refused():
    with Put() as a:
        outside = a.dir / "outside"
        outside.mkdir()
        (outside / "io.log").write_text("mine\n")
        (outside / "1.log").write_text("mine\n")
        io = a.folder("one") / "io.log"
        io.rename(a.dir / "io.log")
        io.symlink_to(outside / "io.log")
        assert "is a link" in a.fails(1, "archive", *a.ids())
        assert io.is_symlink()
        io.unlink()
        (a.dir / "io.log").rename(io)
        a.ok("archive", "--undo", *a.ids())
        io.with_name("io.log.gz").symlink_to(outside / "io.log")
        a.fails(1, "archive", *a.ids())
        assert "is a link" in a.fails(1, "archive", "--undo", *a.ids())
        io.with_name("io.log.gz").unlink()
        logs = a.folder("one") / "iterations"
        logs.rename(a.dir / "iterations")
        logs.symlink_to(outside)
        assert "is a link" in a.fails(1, "archive", *a.ids())
        logs.unlink()
        (a.dir / "iterations").rename(logs)
        folder = a.folder("one")
        folder.rename(a.dir / "elsewhere")
        folder.symlink_to(a.dir / "elsewhere")
        assert "link" in a.fails(1, "archive", *a.ids())
        folder.unlink()
        (a.dir / "elsewhere").rename(folder)
        a.project.rename(a.dir / "project-2")
        a.project.symlink_to(a.dir / "project-2")
        assert "link" in a.fails(1, "archive", *a.ids())
        assert sorted(p.name for p in outside.iterdir()) == ["1.log", "io.log"]
        assert (outside / "io.log").read_text() == "mine\n"


@test
def damage_is_named_and_the_neighbours_are_unharmed():
    for how in ("cut", "flipped"):
        with Put() as a:
            newest, older = a.ids()
            before = a.views()
            a.ok("archive", newest, older)
            log = a.folder("one") / "iterations/1.log.gz"
            damage(log, how)
            done = a.run("log", "one")
            assert done.returncode == 4 and str(log) in done.stderr.decode(), done
            assert a.ok("log", "one", "--iteration", "2") in done.stdout
            assert len(a.run("log", "one", "--json").stdout.splitlines()) == 2
            turns = a.home / "sessions" / older / "session.turns.jsonl.gz"
            damage(turns, how)
            done = a.run("export", older, "--format", "events")
            assert done.returncode == 4 and "session.turns.jsonl.gz' is damaged" in done.stderr.decode(), done
            assert b"session.turns.jsonl.gz: not all" in a.run("verify", older).stdout
            a.fails(4, "verify", older)
            assert a.ok("export", newest, "--format", "events") == before[newest, "events"]
            a.run("reindex")
            assert [s["damaged"] for s in a.json("list")] == [False, True]
            damage(a.folder("one") / "io.log.gz", how)
            done = a.run("run", "-q", "--name", "one", "--", "echo", "runs")
            assert done.returncode == 0 and b"archive --undo one" in done.stderr, done
            a.fails(4, "artifact", "add", "--session", "one", "given.txt")
            said = a.fails(4, "archive", "--undo", older)
            assert said.count("was damaged") == 3, said
            assert log.with_name("1.log.gz.bad").exists() and log.with_name("1.log").exists()
            a.ok("archive", "--undo", newest)
            assert a.packed() == []
            a.ok("run", "-q", "--name", "one", "--", "echo", "runs")
            assert a.ok("log", "one", "--iteration", "2") == before["log", "one", "--iteration", "2"]


@test
def a_damaged_archive_beside_its_journal_is_put_aside_and_told():
    with Put() as a:
        before = a.journals()
        io = a.folder("one") / "io.log"
        text = io.read_bytes()
        a.ok("archive", *a.ids())
        damage(io.with_name("io.log.gz"), "cut")
        damaged = io.with_name("io.log.gz").read_bytes()
        io.write_bytes(text)
        done = a.run("archive", "one")
        assert done.returncode == 0 and b"io.log.gz', which was there, was damaged" in done.stderr, done
        bad = io.with_name("io.log.gz.bad")
        assert bad.read_bytes() == damaged
        bad.unlink()
        a.is_whole(before)


@test
def a_journal_begun_anew_beside_its_archive_is_not_merged():
    with Put() as a:
        a.ok("archive", *a.ids())
        io = a.folder("one") / "io.log"
        io.write_text('{"direction":"in","content":"by another tool"}\n')
        for undo in ([], ["--undo"]):
            said = a.fails(1, "archive", *undo, "one")
            assert "does not begin with what 'io.log.gz'" in said, said
            assert "another tool" in io.read_text()
            assert io.with_name("io.log.gz").exists()


# -- the disk --


@test
def a_full_disk_is_told_and_loses_nothing():
    with Put() as a:
        with mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=8m", "tmpfs"):
            disk = a.dir / "disk"
            home = disk / "home"
            shutil.copytree(a.home, home)
            a.env["AHR_HOME"] = str(home)
            a.home, older = home, a.ids()[-1]
            turns = home / "sessions" / older / "session.turns.jsonl"
            turns.write_bytes(os.urandom(2_000_000))
            before = a.journals()
            for undo in ([], ["--undo"]):
                with open(disk / "filler", "wb", buffering=0) as filler:
                    # The index has its room, the file has not.
                    filler.write(bytes((os.statvfs(disk).f_bavail - 100) * 4096))
                    said = a.fails(1, "archive", *undo, older)
                    assert "session.turns.jsonl': No space left" in said, said
                    a.is_whole(before)
                    try:
                        while filler.write(bytes(4096)):
                            pass
                    except OSError:
                        pass
                    a.fails(1, "archive", *undo, older)
                    a.is_whole(before)
                (disk / "filler").unlink()
                a.ok("archive", *undo, older)
                a.is_whole(before)


def kill_everywhere(command, prepare, step):
    """At each call that changes a file: nothing is lost, and the next one ends the work."""
    with Put() as a:
        prepare(a)
        ids, before, n = a.ids(), a.journals(), 1
        shown = a.ok("log", "one"), a.ok("export", ids[0], "--format", "events")
        for top in (a.project, a.home):
            shutil.copytree(top, a.dir / f"{top.name}-before", copy_function=shutil.copy2)
        while True:
            for top in (a.project, a.home):
                shutil.rmtree(top)
                shutil.copytree(a.dir / f"{top.name}-before", top)
            done = a.run(*command, *ids, env={"LD_PRELOAD": SHIM, "KILL_AT": str(n)})
            assert done.returncode in (0, -signal.SIGKILL), (n, done)
            assert (a.ok("log", "one"), a.ok("export", ids[0], "--format", "events")) == shown, n
            a.ok(*command, *ids)
            a.is_whole(before)
            assert not [*a.dir.rglob(".ahr-archive.new")], n
            if done.returncode == 0:
                break
            n += 1 if IS_LONG else step
        assert n > 30, n
        print(f"# {n} calls")


@test_preloaded
def killed_at_any_call_of_archive_nothing_is_lost():
    kill_everywhere(["archive"], lambda a: None, 11)


@test_preloaded
def killed_at_any_call_of_undo_nothing_is_lost():
    kill_everywhere(["archive", "--undo"], lambda a: a.ok("archive", *a.ids()), 11)


@test_preloaded
def killed_while_a_run_takes_its_journal_back_nothing_is_lost():
    with Put() as a:
        old = (a.folder("one") / "io.log").read_bytes()
        a.ok("archive", *a.ids())
        for n in range(1, 40, 1 if IS_LONG else 3):
            a.run("run", "-q", "--name", "one", "--", "true", env={"LD_PRELOAD": SHIM, "KILL_AT": str(n)})
            a.ok("recover", "--all")
            a.ok("archive", *a.ids())
            io = gzip.decompress((a.folder("one") / "io.log.gz").read_bytes())
            assert io.startswith(old), n


own_mounts()
run()
