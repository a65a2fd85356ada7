#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_order_test.py -- stderr keeps its place among the lines of stdout, also where the machine is busy.

usage: run_order_test.py AHR STREAM_AGENT PERSISTER; prints TAP.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.kept_run import KeptRun
from support.persister import Persister, fields, parts
from support.processes import children, state, wait_for
from support.tap import run, test

AHR, AGENT, PERSISTER = (str(Path(path).resolve()) for path in sys.argv[1:4])
LINES = 500


@contextmanager
def busy(count=2):
    """As many processes that never rest."""
    some = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in some:
            process.kill()
            process.wait()


def numbers(lines):
    return [int(re.search(r"line (\d+)", line).group(1)) for line in lines]


def expect_in_turn(lines, is_stderr):
    """Odd numbers are stdout's, even ones stderr's, and all stand in order."""
    got = numbers(lines)
    wrong = [n for n, m in zip(range(1, LINES + 1), got) if n != m]
    assert got == [*range(1, LINES + 1)], (len(got), wrong[:9])
    assert [is_stderr(line) for line in lines] == [n % 2 == 0 for n in got]


def alternate(a):
    done = a.run("run", "-q", "--", AGENT, "--format", "plain", "--alternate", "--messages", LINES)
    assert done.returncode == 0
    assert done.stderr == b"", done.stderr
    return done.stdout


def expect_order(a, shown):
    kept = KeptRun(a)
    expect_in_turn(shown.decode().splitlines(), lambda line: line.startswith("[stderr] "))
    assert kept.log() == shown
    lines = [line for line in kept.io() if line["direction"] == "out" and line.get("type") != "exit"]
    assert numbers(line["content"] for line in lines) == [*range(1, LINES + 1)]
    assert [line.get("stream") == "stderr" for line in lines] == [n % 2 == 0 for n in range(1, LINES + 1)]
    turns = [turn for turn in kept.turns() if turn["type"] in ("text", "stderr")]
    assert numbers(turn["text"] for turn in turns) == [*range(1, LINES + 1)]


@test
def lines_of_both_by_turns_stay_in_order():
    with Ahr(AHR) as a:
        expect_order(a, alternate(a))


@test
def lines_of_both_by_turns_stay_in_order_where_the_machine_is_busy():
    with Ahr(AHR) as a, busy(max(2, os.cpu_count() or 1)):
        expect_order(a, alternate(a))


@test
def lines_of_both_by_turns_stay_in_order_when_they_are_read_late():
    """All of them are there before any but the first is read."""
    with Ahr(AHR) as a:
        late = a.popen("run", "-q", "--", AGENT, "--format", "plain", "--alternate", "--messages", LINES,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        first = late.stdout.readline()
        (agent,) = wait_for(lambda: children(late.pid), "the agent")
        late.send_signal(signal.SIGSTOP)
        wait_for(lambda: state(agent) == "Z", "the agent's end")
        late.send_signal(signal.SIGCONT)
        shown = first + late.communicate()[0]
        expect_order(a, shown)


@test
def a_line_of_stderr_comes_behind_what_was_there_before_it():
    script = ("import os, time\n"
              "for n in range(1, 101): os.write(1, b'line %d\\n' % n)\n"
              "time.sleep(.001)\n"
              "os.write(2, b'line 101\\n')\n")
    with Ahr(AHR) as a:
        for _ in range(5):
            done = a.run("run", "-q", "--name", "n", "--", sys.executable, "-c", script)
            lines = done.stdout.decode().splitlines()
            assert numbers(lines) == [*range(1, 102)], lines[-3:]
            assert lines[-1].startswith("[stderr] ")


@test
def a_line_of_stderr_that_is_first_stays_first():
    script = ("import os, time\n"
              "os.write(2, b'line 1\\n')\n"
              "time.sleep(.001)\n"
              "for n in range(2, 102): os.write(1, b'line %d\\n' % n)\n")
    with Ahr(AHR) as a:
        for _ in range(5):
            done = a.run("run", "-q", "--name", "n", "--", sys.executable, "-c", script)
            lines = done.stdout.decode().splitlines()
            assert numbers(lines) == [*range(1, 102)], lines[:3]
            assert lines[0].startswith("[stderr] ")


@test
def a_line_of_stderr_within_a_line_of_stdout_stands_by_itself():
    script = ("import os, time\n"
              "os.write(1, b'one '); time.sleep(.2)\n"
              "os.write(2, b'two\\n'); time.sleep(.2)\n"
              "os.write(1, b'three\\n')\n")
    with Ahr(AHR) as a:
        done = a.run("run", "-q", "--", sys.executable, "-c", script)
        assert done.stdout.splitlines()[:2] == [b"one ", b"[stderr] two"], done.stdout
        assert b"three" in done.stdout
        assert KeptRun(a).log() == done.stdout
        assert "one three" in KeptRun(a).said(type="text")


@test
def a_caller_of_the_library_gets_the_same_log():
    with tempfile.TemporaryDirectory() as folder, Ahr(AHR) as a:
        shown = alternate(a)
        log = Path(folder, "1.log")
        with Persister(PERSISTER, log) as p:
            for line in shown.decode().splitlines():
                is_stderr = line.startswith("[stderr] ")
                p.ok("err " + line[9:] if is_stderr else "out " + line)
            p.ok("complete 0 12")
        assert parts(log)[1].encode() == shown
        assert fields(log)["Status"] == KeptRun(a).head()["Status"] == "completed"
        assert a.ok("log", log) != b""


run()
