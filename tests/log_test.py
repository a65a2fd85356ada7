#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""log_test.py -- `ahr log`: runs and logs found, printed, followed; hostile ones.
usage: log_test.py AHR PERSISTER"""

import fcntl
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from support.ahr import Ahr
from support.on_pty import OnPty
from support.persister import Persister
from support.processes import wait_for
from support.tap import run, test

AHR, PERSISTER = sys.argv[1:]

OLD = ("# Iteration 12\nTimestamp: 2026-01-17T10:15:30.123Z\nDuration: 4500ms\nExit Code: 1\n"
       "---\n\nhello\n")


def log_text(number, text, status="completed", more="Duration: 5ms\nExit Code: 0\n"):
    """A log as we write it."""
    front = f"# Iteration {number}\nTimestamp: 2026-01-17T10:15:30.123Z\nStatus: {status}"
    back = f"\n{more}---\n\n"
    return front + " " * (512 - len(front) - len(back)) + back + text


def trimmed(text):
    return "".join(line.rstrip(" ") + "\n" for line in text.splitlines())


def make_run(project, name, *logs):
    """The folder of a run that has these logs."""
    folder = project / ".ahr" / "sessions" / name
    (folder / "iterations").mkdir(parents=True, mode=0o700)
    for number, text in enumerate(logs, 1):
        (folder / "iterations" / f"{number}.log").write_text(text)
    return folder


@contextmanager
def going_on(folder):
    """The run's lock is held."""
    fd = os.open(folder, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(fd)


class Follower:
    """`ahr log -f`; what it has printed so far is `text`."""

    def __init__(self, ahr, *args):
        self.out = ahr.dir / "followed"
        with open(self.out, "wb") as out:
            self.process = ahr.popen("log", "-f", *args, stdout=out, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    @property
    def text(self):
        return self.out.read_text()

    def shows(self, end):
        wait_for(lambda: self.text.endswith(end), lambda: repr(self.text[-200:]))

    def ended(self, status=0):
        assert self.process.wait(60) == status
        return self.process.stderr.read().decode()


# -- which one --

@test
def a_log_of_either_layout_is_printed_without_padding():
    with Ahr(AHR) as a:
        (a.dir / "old.log").write_text(OLD)
        assert a.ok("log", "old.log").decode() == OLD
        new = log_text(3, "one\ntwo\n")
        (a.dir / "new.log").write_text(new)
        assert a.ok("log", "./new.log").decode() == trimmed(new)


@test
def a_run_is_found_by_its_name_from_anywhere_in_its_project():
    with Ahr(AHR) as a:
        first, second = log_text(1, "a\n"), log_text(2, "b\n")
        folder = make_run(a.dir, "ARCH-001", first, second)
        (a.dir / "deep" / "er").mkdir(parents=True)
        want = trimmed(first) + trimmed(second)
        assert a.ok("log", "ARCH-001").decode() == want
        assert a.ok("log", folder).decode() == want
        there = subprocess.run([a.binary, "log", "ARCH-001"], cwd=a.dir / "deep" / "er", env=a.env,
                               capture_output=True)
        assert there.stdout.decode() == want
        assert a.ok("log", "ARCH-001", "--iteration", "1").decode() == trimmed(first)
        assert a.ok("log", "ARCH-001", "--iteration", "last").decode() == trimmed(second)


@test
def without_a_name_it_is_the_last_run_of_the_project():
    with Ahr(AHR) as a:
        late = make_run(a.dir, "ARCH-001", log_text(1, "late\n"))
        early = make_run(a.dir, "DEV-001", log_text(1, "early\n"))
        os.utime(early / "iterations" / "1.log", (1000, 1000))
        os.utime(late / "iterations" / "1.log", (2000, 2000))
        assert a.ok("log").endswith(b"late\n")
        assert a.ok("log", "last").endswith(b"late\n")


@test
def a_session_of_the_library_names_the_folder_of_its_run():
    with Ahr(AHR) as a:
        away = a.dir / "away"
        folder = make_run(away, "DEV-001", log_text(1, "from the library\n"))
        home = a.dir / "h"
        a.ok("record", "-q", "--", "true", env={"AHR_HOME": str(home)})
        [session] = (home / "sessions").glob("*/*.ahr")
        (session.parent / "project").write_text(f"{folder}\n")
        assert a.ok("log", env={"AHR_HOME": str(home)}).endswith(b"from the library\n")
        (session.parent / "project").unlink()
        assert "is no run" in a.fails(3, "log", "last", env={"AHR_HOME": str(home)})


@test
def what_is_not_there_or_is_no_log_is_named():
    with Ahr(AHR) as a:
        make_run(a.dir, "EMPTY-001")
        make_run(a.dir, "DEV-001", log_text(1, "x\n"))
        (a.dir / "notes").write_text("my notes\n")
        (a.dir / "empty").touch()
        assert "'./x.log'" in a.fails(3, "log", "./x.log")
        assert "no log in" in a.fails(3, "log", "EMPTY-001")
        assert "log: DEV-001 has 1 iteration\n" in a.fails(3, "log", "DEV-001", "--iteration", "2")
        assert "'notes' is no iteration log" in a.fails(4, "log", "notes")
        assert "'empty' is no iteration log" in a.fails(4, "log", "empty")
        assert a.run("log", "NOBODY-001").returncode == 3
        assert "'x'" in a.fails(2, "log", "DEV-001", "--iteration", "x")
        assert "one log" in a.fails(2, "log", "notes", "--iteration", "1")
        assert "one session" in a.fails(2, "log", "a", "b")
        os.mkfifo(a.dir / "fifo")
        assert "no plain file" in a.fails(2, "log", "./fifo")


@test
def an_iteration_that_is_not_there_is_told_with_how_many_are():
    with Ahr(AHR) as a:
        folder = make_run(a.dir, "RUN-003", log_text(1, "a\n"), log_text(2, "b\n"))
        for what in ("RUN-003", f"{folder}/", "last"):
            for number in ("9", "0"):
                assert a.fails(3, "log", what, "--iteration", number) == "ahr log: RUN-003 has 2 iterations\n"
        (folder / "iterations/1.log").unlink()
        assert a.fails(3, "log", "--iteration", "1") == "ahr log: RUN-003 has no log of iteration 1\n"


# -- as JSON --

@test
def an_object_a_log():
    with Ahr(AHR) as a:
        make_run(a.dir, "DEV-001", log_text(1, "a\n"),
                 log_text(2, "b", "aborted", "Interrupted: SIGINT\n"), OLD,
                 log_text(4, "", "in_progress", ""))
        got = [json.loads(line) for line in a.ok("log", "--json").splitlines()]
        time = "2026-01-17T10:15:30.123Z"
        assert got == [
            {"iteration": 1, "status": "completed", "timestamp": time, "duration_ms": 5,
             "exit_code": 0, "interrupted": None, "text": "a\n"},
            {"iteration": 2, "status": "aborted", "timestamp": time, "duration_ms": None,
             "exit_code": None, "interrupted": "SIGINT", "text": "b"},
            {"iteration": 12, "status": "completed", "timestamp": time, "duration_ms": 4500,
             "exit_code": 1, "interrupted": None, "text": "hello\n"},
            {"iteration": 4, "status": "in_progress", "timestamp": time, "duration_ms": None,
             "exit_code": None, "interrupted": None, "text": ""}]


# -- what others wrote --

HOSTILE = b"a\x1b]0;owned\x07b\x1b[2J\xc3(\xe2\x80\xaex\rtab\tend\n"


@test
def a_pipe_gets_the_bytes_and_a_terminal_no_control_characters():
    with Ahr(AHR) as a:
        raw = OLD.encode() + HOSTILE
        (a.dir / "x.log").write_bytes(raw)
        assert a.ok("log", "x.log") == raw
        json.loads(a.ok("log", "--json", "x.log"))
        with OnPty([a.binary, "log", "x.log"], cwd=a.dir, env=a.env) as t:
            assert t.finish() == 0
            shown = bytes(t.bytes)
        assert b"\x1b" not in shown
        assert b"\x07" not in shown
        assert b"\xe2\x80\xae" not in shown
        assert "hello" in shown.decode()
        assert shown.decode().endswith("end\r\n")


@test
def any_bytes_are_taken_for_a_log_or_refused():
    with Ahr(AHR) as a:
        whole = log_text(1, "x\n").encode()
        for cut in range(0, 520, 37):
            (a.dir / "x.log").write_bytes(whole[:cut])
            assert a.run("log", "x.log").returncode == (4 if cut < 512 - 1 else 0), cut
        (a.dir / "x.log").write_bytes(b"# Iteration 1\n" + b"y" * 100000)
        a.fails(4, "log", "x.log")
        (a.dir / "x.log").write_bytes(whole + bytes(100000))
        assert a.ok("log", "x.log").endswith(bytes(100000))


# -- live ones --

@test
def a_line_is_followed_as_it_grows():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", flush_ms=0) as p:
        with Follower(a, p.log) as f:
            p.ok("piece Hel")
            f.shows("\n\nHel")
            p.ok("piece lo")
            f.shows("\n\nHello")
            p.ok("out , world")
            f.shows("\n\nHello, world")
            p.ok("err oops")
            f.shows("Hello, world\n[stderr] oops")
            p.ok("complete 3 10")
            assert "iteration 1: completed, exit code 3" in f.ended()
            assert f.text.endswith("\n\nHello, world\n[stderr] oops\n")


@test
def what_is_followed_is_what_the_log_has_at_its_end():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", flush_ms=0) as p:
        with Follower(a, p.log) as f:
            for i in range(300):
                p.ok(f"piece {i} ", f"out {'x' * (i * 7 % 500)}", f"err {i}")
            p.ok("abort SIGINT")
            assert "aborted, SIGINT" in f.ended()
            text = p.log.read_text().partition("---\n\n")[2]
            assert f.text.partition("---\n\n")[2] == text


@test
def a_run_is_followed_into_its_next_iterations_until_it_is_over():
    with Ahr(AHR) as a:
        folder = make_run(a.dir, "DEV-001", log_text(1, "first\n"))
        with Follower(a, "DEV-001") as idle:
            idle.ended()
        with going_on(folder):
            follower = Follower(a, "DEV-001")
            follower.shows("first\n")
            with Persister(PERSISTER, folder / "iterations" / "2.log", 2) as p:
                p.ok("out second")
                follower.shows("second")
                p.ok("complete 0 1")
            follower.shows("second\n")
            with Persister(PERSISTER, folder / "iterations" / "3.log", 3) as p:
                p.ok("out third")
                follower.shows("third")
                p.ok("complete 0 1")
            assert follower.process.poll() is None
        with follower:
            assert "iteration 3: completed" in follower.ended()
            assert follower.text.count("# Iteration") == 3


@test
def a_run_that_has_no_log_yet_is_waited_for():
    with Ahr(AHR) as a:
        folder = a.dir / ".ahr" / "sessions" / "DEV-001"
        folder.mkdir(parents=True)
        with going_on(folder):
            follower = Follower(a, "DEV-001")
            (folder / "iterations").mkdir()
            (folder / "iterations" / "1.log").write_text(log_text(1, "here\n"))
            follower.shows("here\n")
        with follower:
            follower.ended()


@test
def a_log_whose_writer_dies_comes_to_an_end():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log") as p:
        with Follower(a, p.log) as f:
            p.ok("out last words")
            f.shows("last words")
            p.signal(signal.SIGKILL)
            assert "its writer is gone" in f.ended()
            assert f.text.endswith("last words\n")


@test
def a_log_that_is_replaced_is_begun_again_and_one_that_is_cut_goes_on():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log") as p:
        with Follower(a, p.log) as f:
            p.ok("out before")
            f.shows("before")
            os.truncate(p.log, 512)
            # More than was cut off: who looks only now would take as much for what it has seen.
            p.ok("out and what comes after")
            f.shows("after")
            (a.dir / "new").write_text(log_text(9, "another\n"))
            os.rename(a.dir / "new", p.log)
            f.ended()
            assert f.text.endswith("another\n")
            assert "# Iteration 9\n" in f.text


@test
def ctrl_c_ends_it_and_harms_no_run():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log") as p:
        with Follower(a, p.log) as f:
            p.ok("out hello")
            f.shows("hello")
            f.process.send_signal(signal.SIGINT)
            assert f.ended(-signal.SIGINT) == ""
            p.ok("out goes on")


@test
def followed_as_json_a_log_is_told_when_it_has_its_end():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log") as p:
        with Follower(a, "--json", p.log) as f:
            p.ok("out hello", "complete 0 1")
            f.ended()
            assert json.loads(f.text)["text"] == "hello\n"
            assert json.loads(f.text)["status"] == "completed"


run()
