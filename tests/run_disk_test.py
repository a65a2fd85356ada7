#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_disk_test.py -- the disk fills up, fails, or is taken away under `ahr run`.

The agent never notices: it ends as it would have, and all that it says is shown. It is told once for
the project and once for the library, with what to do; what is missing is told at the end and in the
log. Small and read-only file systems need root, and are mounted where nobody else sees them.
usage: run_disk_test.py AHR STREAM_AGENT [SHIM]; prints TAP.
"""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.kept_run import KeptRun
from support.mounts import mounted, own_mounts, sh
from support.processes import wait_for
from support.tap import run, test

AHR, AGENT = (str(Path(path).resolve()) for path in sys.argv[1:3])
SHIM = str(Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 else None

KIB, MIB = 1 << 10, 1 << 20
STATUS = 7
LINE = 64
WRITES = "write,writev,pwrite,pwritev"
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))

# Writes so many KiB of lines for a number, else waits for the FIFO.
TALKER = """
import os, sys
n = 0
for step in sys.argv[1:]:
    if not step.isdigit():
        open(step).read()
        continue
    text = b"".join((b"line %%08d " %% m).ljust(%d, b"x") + b"\\n" for m in range(n, n + int(step) * 16))
    n += int(step) * 16
    while text:
        text = text[os.write(1, text[:16384]):]
sys.exit(%d)
""" % (LINE - 1, STATUS)


def lines(kib, first=0):
    return b"".join((b"line %08d " % n).ljust(LINE - 1, b"x") + b"\n" for n in range(first, first + kib * 16))


def test_preloaded(function):
    """A test, but under the sanitizers, which do not go with preloading."""
    return test(function) if SHIM else function


class Place:
    """A project and a home, each in the scratch folder or on a disk of its own."""

    def __init__(self, a, disk, where):
        self.ahr, self.disk = a, disk
        self.project = disk / "p" if where in ("project", "both") else a.dir / "p"
        self.home = disk / "h" if where in ("home", "both") else a.dir / ".ahr-h"
        self.env = {"AHR_HOME": str(self.home)}
        for folder in (self.project, self.home):
            if not os.statvfs(folder.parent).f_flag & os.ST_RDONLY:
                folder.mkdir()

    def kept(self):
        return KeptRun(self.ahr, "n", project=self.project, home=self.home)

    def args(self, *command):
        return ["run", "--name", "n", "--dir", self.project, "--", *command]

    def talk(self, *steps, **more):
        env = {**self.env, **more.pop("env", {})}
        return self.ahr.run(*self.args(sys.executable, "-c", TALKER, *steps), env=env, **more)

    def start(self, *steps):
        for step in steps:
            if isinstance(step, Path):
                os.mkfifo(step)
        return self.ahr.popen(*self.args(sys.executable, "-c", TALKER, *steps), env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *args):
        return self.ahr.run(*args, env=self.env)

    def put_in_order(self):
        """Afterwards, with all calls at work: recover finds nothing that it cannot mend, nor does verify."""
        done = self.run("recover", "--all")
        assert done.returncode == 0, done.stderr
        if [*self.home.glob("sessions/2*")]:
            done = self.run("verify", "last")
            assert done.returncode == 0, (done.stdout, done.stderr)

    def expect_readable(self):
        """What there is of log, io.log and turns is whole lines, and `ahr log` reads it."""
        kept = self.kept()
        if kept.log_path().exists() and kept.log_path().stat().st_size:
            kept.log()
            done = self.run("log", kept.dir)
            assert done.returncode == 0, done.stderr
        if (kept.dir / "io.log").exists():
            kept.io()
        for where in ("live", "sessions"):
            if [*self.home.glob(where + "/2*/session.turns.jsonl")]:
                kept.turns(where)


@contextmanager
def place(where=None, *mount):
    with Ahr(AHR) as a:
        disk = a.dir / "disk"
        if not mount:
            disk.mkdir()
            yield Place(a, disk, where)
            return
        with mounted(disk, *mount):
            yield Place(a, disk, where)


def tmpfs(*options):
    return ("-t", "tmpfs", "-o", ",".join(options), "tmpfs")


def said(done):
    """What it has told, without what it always tells."""
    usual = ("ahr run: logs hold all", "ahr run: session n ")
    return [line for line in done.stderr.decode().splitlines() if not line.startswith(usual)]


def told(done, text):
    """Of those, the messages with this in it."""
    return [line for line in said(done) if text in line]


def expect_unharmed(done, truth, status=STATUS):
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stdout == truth, (len(done.stdout), len(truth), done.stderr)


def expect_told_once(p, done, project=True, home=True, why="", advice=""):
    """For each folder that has trouble, and for no other; what is missing is told apart from that."""
    for folder, is_told in ((p.project, project), (p.home, home)):
        # The recording's own trouble may be told at the end, with what is missing.
        news = [line for line in told(done, f"'{folder}/") if "missing in" not in line and "ahr recover" not in line]
        assert len(news) == is_told, (folder, said(done))
        for line in news:
            assert why in line, line
            assert advice in line, line
            assert "the command goes on" in line, line
    missing = told(done, "missing in ")
    assert len(missing) <= project + home, missing


# -- full --


def expect_full(where):
    with place(where, *tmpfs("size=256k")) as p:
        done = p.talk(600)
        expect_unharmed(done, lines(600))
        expect_told_once(p, done, where != "home", where != "project", "No space left on device",
                         "make room on the disk")
        p.expect_readable()
        kept = p.kept()
        assert kept.head()["Status"] == "completed"
        assert kept.head()["Exit Code"] == str(STATUS)
        assert kept.facts()["status"] == "failed"
        if where == "home":
            assert kept.log() == lines(600)
            assert len(told(done, "missing in the library: ")) == 1
        else:
            expect_note(kept.log(), lines(600), "the disk was full")
            assert len(told(done, f"missing in '{kept.dir}': ")) == 1
        if where == "project":
            assert len(kept.turns()) == 600 * 16 + 1
            assert f"ahr export --format events {kept.folder().name}" in told(done, "missing in")[0]
        assert sh("mount", "-o", "remount,size=64m", p.disk).returncode == 0
        p.put_in_order()
        done = p.talk(1)
        expect_unharmed(done, lines(1))
        assert said(done) == []


def expect_note(log, truth, why):
    """The beginning of the text, and a last line that tells how much is missing."""
    text, _, note = log[:-1].rpartition(b"\n")
    text += b"\n"
    assert note.endswith(b" bytes are missing here: " + why.encode()), note
    missing = int(note.split()[1].replace(b",", b""))
    assert truth.startswith(text), (text[-200:], len(text))
    assert len(text) + missing == len(truth), (len(text), missing, len(truth))


@test
def a_full_disk_of_the_project_costs_the_agent_nothing():
    expect_full("project")


@test
def a_full_disk_of_the_library_costs_the_agent_nothing():
    expect_full("home")


@test
def a_full_disk_of_both_costs_the_agent_nothing():
    expect_full("both")


@test
def an_export_tells_of_events_that_a_full_disk_did_not_take():
    with place("home", *tmpfs("size=256k")) as p:
        for _ in range(20):
            p.talk(600)
            (meta,) = p.home.glob("*/2*/session.meta.json")
            if '"status":"active"' not in meta.read_text():
                break
            # Its end did not fit either: to all it is one whose recorder has vanished, and tells nothing of an end.
            shutil.rmtree(p.home)
            p.home.mkdir()
            shutil.rmtree(p.project / ".ahr")
        assert sh("mount", "-o", "remount,size=64m", p.disk).returncode == 0
        done = p.run("export", "n", "--format", "events")
        assert done.returncode == 4, (done.returncode, done.stderr)
        assert done.stdout.count(b"\n") == len(p.kept().turns()) > 100
        assert b"'n': events are missing at the end; 'ahr log " + bytes(p.kept().dir) + b"'" in done.stderr, done.stderr
        p.talk(1)
        done = p.run("export", "last", "--format", "events")
        assert (done.returncode, done.stderr) == (0, b""), done.stderr


@test
def a_disk_that_is_full_from_the_start_costs_the_agent_nothing():
    for where in ("project", "home", "both"):
        with place(where, *tmpfs("size=256k")) as p:
            fd = os.open(p.disk / "filler", os.O_WRONLY | os.O_CREAT)
            try:
                while os.write(fd, bytes(4096)):
                    pass
            except OSError:
                os.close(fd)
            done = p.talk(100)
            expect_unharmed(done, lines(100))
            expect_told_once(p, done, where != "home", where != "project", "No space left on device",
                             "make room on the disk")
            p.expect_readable()
            if where == "home":
                assert p.kept().log() == lines(100)
            else:
                assert not p.kept().log_path().exists(), "a log without even a head"
            (p.disk / "filler").unlink()
            p.put_in_order()


@test
def logs_are_kept_out_of_git_as_soon_as_there_is_room():
    for has_room in (True, False):
        with place("project", *tmpfs("size=256k")) as p:
            filler, room = p.disk / "filler", p.ahr.dir / "room"
            with open(filler, "wb", buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            with p.start(1, room, 1) as process:
                process.stdout.read(KIB)
                ignore = p.project / ".ahr/.gitignore"
                assert not ignore.exists()
                if has_room:
                    filler.unlink()
                    wait_for(ignore.exists, ".gitignore")
                    assert ignore.read_text() == "*\n"
                room.write_bytes(b"")
                process.stdout.read()
                assert process.wait() == STATUS
                (greeting,) = [line for line in process.stderr.read().decode().splitlines() if "logs hold all" in line]
            assert ("a .gitignore keeps them out of git" in greeting) == has_room, greeting
            assert ("a .gitignore could not be written" in greeting) != has_room, greeting
            assert ignore.exists() == has_room


@test
def a_disk_without_room_for_files_costs_the_agent_nothing():
    for inodes in range(2, 14, 1 if IS_LONG else 3):
        with place("both", *tmpfs(f"nr_inodes={inodes + 3}")) as p:
            done = p.talk(10)
            expect_unharmed(done, lines(10))
            assert said(done), "nothing was told"
            p.expect_readable()


@test
def what_a_full_disk_did_not_take_is_written_when_there_is_room():
    """The agent has not ended yet: it waits for its output to be read."""
    for where in ("project", "home"):
        with place(where, *tmpfs("size=384k")) as p:
            full, room = p.ahr.dir / "full", p.ahr.dir / "room"
            with p.start(100, full, 400, room, 1) as process:
                got = process.stdout.read(100 * KIB)
                fd = os.open(p.disk / "filler", os.O_WRONLY | os.O_CREAT)
                try:
                    while os.write(fd, bytes(4096)):
                        pass
                except OSError:
                    os.close(fd)
                full.write_bytes(b"")
                got += process.stdout.read(400 * KIB)
                assert sh("mount", "-o", "remount,size=64m", p.disk).returncode == 0
                wait_for(lambda: where == "home" or p.kept().log() == lines(500), "the rest of the log")
                room.write_bytes(b"")
                got += process.stdout.read()
                done = subprocess.CompletedProcess([], process.wait(), got, process.stderr.read())
            expect_unharmed(done, lines(501))
            expect_told_once(p, done, where != "home", where != "project", "No space left on device",
                             "make room on the disk")
            assert told(done, "missing in") == [], said(done)
            kept = p.kept()
            assert kept.log() == lines(501)
            assert len(kept.said(type="text")) == 501 * 16
            assert len([turn for turn in kept.turns() if turn["type"] == "text"]) == 501 * 16
            assert kept.facts()["status"] == kept.meta()["status"] == "failed"
            p.put_in_order()


@test
def lines_that_waited_too_long_are_counted_where_they_are_missing():
    """More than the 8 MiB of each file that wait for a disk; then there is room."""
    with place("both", *tmpfs("size=512k")) as p:
        room = p.ahr.dir / "room"
        with p.start(10 * KIB, room, 1) as process:
            got = process.stdout.read(10 * MIB)
            assert sh("mount", "-o", "remount,size=64m", p.disk).returncode == 0
            kept = p.kept()
            wait_for(lambda: b"are missing here" in (kept.dir / "io.log").read_bytes(), "the line in io.log")
            wait_for(lambda: b" bytes are missing here" in kept.log(), "the line in the log")
            room.write_bytes(b"")
            got += process.stdout.read()
            done = subprocess.CompletedProcess([], process.wait(), got, process.stderr.read())
        expect_unharmed(done, lines(10 * KIB + 1))
        expect_told_once(p, done, why="No space left on device")
        texts = kept.said(type="text")
        (note,) = kept.said(type="warning")
        assert len(texts) + int(note.split()[1]) == (10 * KIB + 1) * 16, note
        before = kept.said().index(note)  # it stands where they are missing
        truth = lines(10 * KIB + 1).decode().splitlines()
        assert texts[:before] == truth[:before]
        assert texts[before:] == truth[before - len(texts):]
        assert kept.log().endswith(lines(1, 10 * KIB * 16))
        assert texts[-1] == lines(1, 10 * KIB * 16).decode().splitlines()[-1]
        turns = [turn for turn in kept.turns() if turn["type"] == "text"]
        (warning,) = [turn for turn in kept.turns() if turn["type"] == "warning"]
        assert len(turns) + int(warning["text"].split()[0]) == (10 * KIB + 1) * 16, warning
        p.put_in_order()


@test
def an_output_that_takes_nothing_costs_the_run_nothing():
    with place() as p, open("/dev/full", "wb") as full:
        done = p.ahr.popen(*p.args(sys.executable, "-c", TALKER, 100), env=p.env, stdin=subprocess.DEVNULL,
                           stdout=full, stderr=subprocess.PIPE)
        stderr = done.stderr.read()
        assert done.wait() == STATUS, stderr
        assert stderr.count(b"cannot write the output: No space left on device") == 1, stderr
        assert stderr.count(b"the command goes on") == 1, stderr
        assert p.kept().log() == lines(100)
        assert p.kept().facts()["status"] == "failed"
        done.stderr.close()


@test
def a_limit_on_the_size_of_files_costs_the_agent_nothing():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 * KIB, 100 * KIB))

    with place() as p:
        done = p.talk(600, preexec_fn=limit)
        expect_unharmed(done, lines(600))
        expect_told_once(p, done, why="File too large", advice="ulimit -f")
        p.expect_readable()
        expect_note(p.kept().log(), lines(600), "the disk failed: File too large")
        assert p.kept().facts()["status"] == p.kept().meta()["status"] == "failed"
        p.put_in_order()


# -- read-only --


@test
def a_folder_that_is_read_only_costs_the_agent_nothing():
    for where in ("project", "home", "both"):
        with place(where, *tmpfs("ro")) as p:
            if where != "home":
                p.project = p.disk
            done = p.talk(10)
            expect_unharmed(done, lines(10))
            news = said(done)
            assert len(told(done, "Read-only file system")) == len(news) == 1 + (where == "both"), news
            if where == "home":
                assert p.kept().log() == lines(10)
                assert "the library will not have this run, its project does" in news[0]
                assert b"'ahr log n'" in done.stderr
            if where == "project":
                assert len(p.kept().turns()) == 161
                assert "the run is kept in the library alone" in news[0]
                assert p.run("cat", "last").stdout.replace(b"\r\n", b"\n") == lines(10)
                assert b"'ahr cat " in done.stderr
            if where == "both":
                assert "nothing of it is kept, but the command runs" in news[1]


def turn_read_only(p):
    """A remount is refused while files are open for writing; the folder's modes do not bind root. So: the
    project's own folder is mounted over itself, read-only, which new files meet."""
    more = p.ahr.dir / "more"
    with p.start(100, more, 100) as process:
        got = process.stdout.read(100 * KIB)
        assert sh("mount", "--bind", p.disk, p.disk).returncode == 0
        assert sh("mount", "-o", "remount,bind,ro", p.disk).returncode == 0
        more.write_bytes(b"")
        got += process.stdout.read()
        done = subprocess.CompletedProcess([], process.wait(), got, process.stderr.read())
        assert sh("umount", p.disk).returncode == 0
        return done


@test
def a_disk_that_turns_read_only_costs_the_agent_nothing():
    for where in ("project", "home"):
        with place(where, *tmpfs("size=8m")) as p:
            done = turn_read_only(p)
            expect_unharmed(done, lines(200))
            expect_told_once(p, done, where != "home", where != "project")


# -- failing --


def mock(p, *ending, **faults):
    """A few messages, and as many writes or more."""
    env = {**p.env, **{name: str(value) for name, value in faults.items()}}
    if faults:
        env["LD_PRELOAD"] = SHIM
    ending = ending or ("--exit", STATUS)
    return p.ahr.run(*p.args(AGENT, "--messages", 6, "--delay-us", 1000, *ending), env=env)


def unfaulted():
    with place() as p:
        done = mock(p)
        kept = p.kept()
        assert said(done) == [], done.stderr
        return done.stdout, len(kept.io()), len(kept.turns())


def expect_nothing_lost(p, truth, **faults):
    shown, io, turns = truth
    done = mock(p, **faults)
    expect_unharmed(done, shown)
    assert len(said(done)) <= 2, said(done)
    assert told(done, "missing in") == [], said(done)
    kept = p.kept()
    assert kept.log() == shown, faults
    assert kept.head()["Status"] == "completed", faults
    assert len(kept.io()) == io, faults
    assert kept.facts()["status"] == "failed", faults
    if [*p.home.glob("sessions/2*")]:
        assert len(kept.turns()) == turns, faults
        assert kept.meta()["status"] == "failed", faults
    p.put_in_order()
    return done


@test_preloaded
def a_write_that_fails_once_loses_nothing():
    truth = unfaulted()
    for at in range(1, 60 if IS_LONG else 28):
        with place() as p:
            done = expect_nothing_lost(p, truth, FAULT_CALL=WRITES, FAULT_AT=at, FAULT_COUNT=1)
            assert len(said(done)) <= 1, (at, said(done))
            assert all("Input/output error" in line for line in said(done)), said(done)


@test_preloaded
def a_disk_that_fails_now_and_then_loses_nothing():
    truth = unfaulted()
    for every in (2, 3, 4, 5, 7, 11):
        with place() as p:
            done = expect_nothing_lost(p, truth, FAULT_CALL=WRITES, FAULT_AT=every, FAULT_EVERY=every)
            expect_told = told(done, "see to the disk")
            assert expect_told == said(done), said(done)


@test_preloaded
def a_disk_that_takes_nothing_any_more_costs_the_agent_nothing():
    truth, io, _ = unfaulted()
    for at in (1, 2, 3, 5, 8, 13, 21, 34):
        with place() as p:
            done = mock(p, FAULT_CALL=WRITES, FAULT_AT=at)
            expect_unharmed(done, truth)
            p.expect_readable()
            kept = p.kept()
            # Who is late reads more at once: there may be too few writes for the last ones.
            if at < 20 or len(kept.io()) < io:
                expect_told_once(p, done, why="Input/output error", advice="see to the disk")
                missing = told(done, f"missing in '{kept.dir}': ")
                assert len(missing) == 1, said(done)
                assert f"{io - len(kept.io())} lines of io.log" in missing[0], (missing, len(kept.io()))
            p.put_in_order()


@test_preloaded
def however_the_agent_ends_its_status_is_passed_on():
    for ending, status in ((("--exit", 0), 0), (("--exit", 255), 255), (("--kill-self", "TERM"), 143),
                           (("--kill-self", "KILL"), 137)):
        with place() as p:
            done = mock(p, *ending, FAULT_CALL=WRITES, FAULT_PATH="/p/.ahr/")
            assert done.returncode == status, (ending, done.returncode)
            expect_told_once(p, done, home=False, why="Input/output error")


@test_preloaded
def a_call_that_fails_costs_the_agent_nothing():
    truth, *_ = unfaulted()
    for call, most in (("open", 12), ("mkdir", 7), ("rename", 7), ("fsync,fdatasync", 8)):
        steps = range(1, most + 1) if IS_LONG else range(1, most + 1, 2)
        for faults in [*({"FAULT_AT": at, "FAULT_COUNT": 1} for at in steps), {}]:
            with place() as p:
                done = mock(p, FAULT_CALL=call, **faults)
                expect_unharmed(done, truth)
                news = [line for line in said(done) if "missing in" not in line and "ahr recover" not in line]
                assert len(news) <= 2, (call, faults, said(done))
                assert faults or news, (call, "nothing was told")
                p.expect_readable()
                p.put_in_order()


@test_preloaded
def a_sync_that_fails_loses_nothing():
    truth = unfaulted()
    for faults in ({"FAULT_COUNT": 1}, {}):
        with place() as p:
            shown, io, _ = truth
            done = mock(p, FAULT_CALL="fsync,fdatasync", **faults)
            expect_unharmed(done, shown)
            kept = p.kept()
            assert kept.log() == shown
            assert len(kept.io()) == io
            assert kept.facts()["status"] == "failed"
            p.put_in_order()


# -- taken away --


def taken_away(p, steal):
    """Between two parts of what the agent says."""
    more = p.ahr.dir / "more"
    with p.start(50, more, 50) as process:
        got = process.stdout.read(50 * KIB)
        steal(p)
        more.write_bytes(b"")
        got += process.stdout.read()
        done = subprocess.CompletedProcess([], process.wait(), got, process.stderr.read())
    expect_unharmed(done, lines(100))
    return done


@test
def a_project_that_is_taken_away_costs_the_agent_nothing():
    def remove(p):
        shutil.rmtree(p.project)

    def move(p):
        p.project.rename(p.ahr.dir / "moved")

    def replace(p):
        move(p)
        p.project.mkdir()

    for steal in (remove, move, replace):
        with place() as p:
            done = taken_away(p, steal)
            expect_told_once(p, done, home=False)
            assert len(p.kept().turns()) == 1601
            assert p.kept().meta()["status"] == "failed"
            if steal is not remove:
                log = KeptRun(p.ahr, "n", project=p.ahr.dir / "moved").log()
                assert log == lines(100)
            p.put_in_order()


@test
def logs_that_are_taken_away_cost_the_agent_nothing():
    for what in ("iterations", "io.log"):
        with place() as p:
            def steal(p):
                path = p.kept().dir / what
                shutil.rmtree(path) if path.is_dir() else path.unlink()

            done = taken_away(p, steal)
            expect_told_once(p, done, home=False, why="was moved, removed or replaced")
            assert len(p.kept().turns()) == 1601
            assert p.kept().facts()["status"] == "failed"
            p.put_in_order()


@test
def a_library_that_is_taken_away_costs_the_agent_nothing():
    with place() as p:
        done = taken_away(p, lambda p: shutil.rmtree(p.home))
        assert p.kept().log() == lines(100)
        assert p.kept().facts()["status"] == "failed"
        assert 1 <= len(said(done)) <= 2, said(done)
        assert len(p.kept().io()) == 1601


own_mounts()
run()
