#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_signals_test.py -- `ahr run` when it is stopped, and when nobody, or somebody slow, reads it.

usage: run_signals_test.py AHR_BINARY [--sanitized]; prints TAP.
"""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from support.ahr import Ahr
from support.on_pty import OnPty
from support.processes import children, command, is_in_foreground, kill, state, wait_for
from support.runs import facts, folder, io, log, text_of, turns
from support.tap import run, test, test_meanwhile
from support.terminal import plain_signals

BINARY = str(Path(sys.argv[1]).resolve())
MOST_KIB = 900_000 if "--sanitized" in sys.argv else 150_000
MOST_SECONDS = 20 if "--sanitized" in sys.argv else 1
WAIT = "echo up; exec sleep 1000"


def start(a, script, *options, **more):
    """Waits until it is up."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            "preexec_fn": plain_signals, **more}
    process = a.popen("run", *options, "--", "sh", "-c", script, **more)
    assert process.stdout.readline() == b"up\n"
    return process


def fill(pipe):
    os.set_blocking(pipe, False)
    try:
        while os.write(pipe, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(pipe, True)


def waits_for_more(pid):
    """Than one thing: its loop is open."""
    try:
        return any("eventpoll" in os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:  # it closes them just now
        return True


def cpu(pid):
    """Seconds of the processor that it has used."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def child_of(process):
    return wait_for(lambda: children(process.pid))[0]


@test
def each_signal_ends_it_by_its_name():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with Ahr(BINARY) as a, start(a, "ulimit -c 0; " + WAIT) as process:
            process.send_signal(number)
            _, told = process.communicate()
            assert process.returncode == 128 + number, told
            assert facts(a)["status"] == "aborted"
            assert facts(a)["signal"] == number.name[3:]
            assert "Status: aborted" in log(a)
            assert f"Interrupted: {number.name}" in log(a)
            assert turns(a)[-1]["status"] == "aborted"
            assert b"aborted" in told


@test
def a_command_that_ends_well_when_it_is_told_to_is_aborted_with_its_status():
    with Ahr(BINARY) as a, start(a, "trap 'echo bye; exit 7' INT; echo up; while :; do sleep .01; done") as process:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
        assert rest == b"bye\n"
        assert process.returncode == 7
        assert facts(a)["status"] == "aborted"
        assert text_of(log(a)) == "up\nbye\n"


@test
def what_is_ignored_stays_ignored():
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Ahr(BINARY) as a, start(a, "echo up; read x; echo $x", stdin=subprocess.PIPE, preexec_fn=ignore) as process:
        process.send_signal(signal.SIGHUP)
        rest, _ = process.communicate(b"on\n")
        assert rest == b"on\n"
        assert facts(a)["status"] == "completed"


@test
def a_second_ctrl_c_is_a_sigterm_and_a_third_kills():
    script = "trap '' INT; trap 'echo no' TERM; exec 2>/dev/null; echo up; while :; do sleep .01; done"
    with Ahr(BINARY) as a, start(a, script) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)  # two within 200 ms are one
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"no\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 137
        assert facts(a)["status"] == "aborted"
        assert "Interrupted: SIGINT" in log(a)


@test_meanwhile
def a_command_that_does_not_heed_signals_is_killed_in_the_end():
    with Ahr(BINARY) as a, start(a, "trap '' INT TERM; echo up; while :; do sleep .1; done") as process:
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate()
        assert process.returncode == 137
        assert 9 < time.monotonic() - began < 40
        assert "Interrupted: SIGTERM" in log(a)


@test
def a_whole_group_is_signalled():
    with Ahr(BINARY) as a, start(a, "sleep 1000 & echo up; wait") as process:
        shell = child_of(process)
        sleeper = wait_for(lambda: children(shell))[0]
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        kill(sleeper, signal.SIGTERM)  # a job of a shell ignores SIGINT
        process.communicate()
        wait_for(lambda: state(sleeper) in (None, "Z"))
        assert facts(a)["status"] == "aborted"


@test
def a_signal_of_somebody_else_is_a_crash():
    with Ahr(BINARY) as a, start(a, WAIT) as process:
        os.kill(child_of(process), signal.SIGTERM)
        process.communicate()
        assert process.returncode == 143
        assert facts(a)["status"] == "crashed"
        assert facts(a)["signal"] == "TERM"
        assert "Interrupted: SIGTERM" in log(a)


@test
def ctrl_c_at_a_terminal_ends_it():
    with Ahr(BINARY) as a, OnPty([BINARY, "run", "--", "sh", "-c", WAIT], cwd=a.dir, env=a.env) as t:
        t.read_until(b"up\r\n")
        os.write(t.master, b"\x03")
        assert t.finish() == 130
        assert b"\r\n^C\r\nahr run: session RUN-001 " in t.bytes, t.bytes
        assert b"aborted" in t.bytes
        assert "Interrupted: SIGINT" in log(a)


@test
def what_is_said_behind_ctrl_c_ends_its_line():
    script = "trap 'echo bye; exit 0' INT; echo up; while :; do sleep .01; done"
    with Ahr(BINARY) as a, OnPty([BINARY, "run", "--", "sh", "-c", script], cwd=a.dir, env=a.env) as t:
        t.read_until(b"up\r\n")
        os.write(t.master, b"\x03")
        assert t.finish() == 0
        assert b"up\r\n^Cbye\r\nahr run: session " in t.bytes, t.bytes


@test
def a_signal_behind_its_end_does_not_change_the_status():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with Ahr(BINARY) as a:
            a.ok("run", "--name", "x", "--", "true")  # what is said only once is said
            there, full = os.pipe()
            fill(full)
            process = a.popen("run", "--name", "x", "--", "sh", "-c", "exit 3", stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=full)
            os.close(full)
            # All is kept and closed, and its last word waits to be read.
            wait_for(lambda: facts(a, "x")["status"] == "failed" and not waits_for_more(process.pid) and
                     state(process.pid) == "S")
            process.send_signal(number)
            told = b""
            while more := os.read(there, 65536):
                told += more
            os.close(there)
            assert process.wait(60) == 3
            assert told.endswith(b"'ahr log x'\n"), told[-200:]
            assert facts(a, "x")["status"] == "failed"


@test
def ctrl_c_ends_a_flood_of_lines_soon():
    for is_read in (True, False):
        with Ahr(BINARY) as a:
            process = a.popen("run", "-q", "--", "yes", stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL if is_read else subprocess.PIPE)
            if not is_read:
                assert process.stdout.read(1) == b"y"
                process.stdout.close()
            io_log = folder(a) / "io.log"
            wait_for(lambda: io_log.exists() and io_log.stat().st_size > 10 << 20)
            process.send_signal(signal.SIGSTOP)
            wait_for(lambda: state(process.pid) == "T")
            begin, size = cpu(process.pid), io_log.stat().st_size
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 130
            took = used.ru_utime + used.ru_stime - begin  # of the processor: others may be at work
            more = io_log.stat().st_size - size
            print(f"# {took:.2f} s, {more >> 20} MiB")
            assert took < MOST_SECONDS, took
            assert more < 30 << 20, more
            assert facts(a)["status"] == "aborted"


@test
def ctrl_z_stops_the_command_as_well_and_fg_continues_both():
    with Ahr(BINARY) as a:
        job = f"set -m; {BINARY} run -q -- sh -c 'echo up; read x; echo \"got $x\"'; echo back; read y; fg; echo over"
        with OnPty(["bash", "--norc", "-c", job], cwd=a.dir, env=a.env) as t:
            t.read_until(b"up\r\n")
            ahr = wait_for(lambda: [p for p in children(t.process.pid) if command(p) == "ahr"])[0]
            child = wait_for(lambda: children(ahr))[0]
            os.write(t.master, b"\x1a")
            t.read_until(b"back\r\n")
            assert state(ahr) == "T"
            wait_for(lambda: state(child) == "T")
            os.write(t.master, b"\n")
            wait_for(lambda: state(child) == "S")
            wait_for(lambda: is_in_foreground(ahr))
            os.write(t.master, b"it\n")
            t.read_until(b"got it\r\n")
            t.read_until(b"over\r\n")
        assert facts(a)["status"] == "completed"


@test
def a_stopped_command_is_ended_by_a_signal():
    with Ahr(BINARY) as a, start(a, WAIT) as process:
        child = child_of(process)
        os.kill(child, signal.SIGSTOP)
        wait_for(lambda: state(child) == "T")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 143
        assert facts(a)["status"] == "aborted"


# -- those who read --

@test
def a_reader_who_goes_away_does_not_stop_it():
    with Ahr(BINARY) as a:
        shell = f"{BINARY} run -- seq 5000 | head -1"
        done = subprocess.run(["bash", "-c", shell], cwd=a.dir, env=a.env, capture_output=True)
        assert done.stdout == b"1\n"
        assert done.stderr.count(b"nobody reads the output") == 1, done.stderr
        assert text_of(log(a)).split() == [str(n) for n in range(1, 5001)]
        assert facts(a)["status"] == "completed"


@test
def closed_descriptors_do_not_harm_it():
    for which in ("<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        with Ahr(BINARY) as a:
            shell = f"{BINARY} run -- sh -c 'echo one; echo two >&2; cat; exit 3' {which}"
            done = subprocess.run(["bash", "-c", shell], cwd=a.dir, env=a.env, stdin=subprocess.DEVNULL,
                                  capture_output=True)
            assert done.returncode == 3, which
            said = [e["content"] for e in io(a) if e["direction"] == "out"]
            assert sorted(said[:2]) == ["one", "two"], (which, said)
            assert facts(a)["status"] == "failed"


def is_full(pipe):
    """Or has no room for another piece."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] > 60000


@test
def a_slow_reader_slows_the_command_and_loses_nothing():
    with Ahr(BINARY) as a:
        process = a.popen("run", "-q", "--", "sh", "-c", "seq -f %0500.0f 10000; echo done >&2", stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL)
        child = child_of(process)
        # Both wait: the one for its reader, the other for room in its pipe.
        wait_for(lambda: is_full(process.stdout) and state(process.pid) == "S" and
                 children(child) and all(state(p) == "S" for p in children(child)))
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            peak = [int(line.split()[1]) for line in file if line.startswith("VmHWM")][0]
        size = (folder(a) / "io.log").stat().st_size
        shown, _ = process.communicate()
        lines = shown.split(b"\n")
        assert lines[:10000] == [b"%0500d" % n for n in range(1, 10001)]
        assert lines[10000] == b"[stderr] done"
        assert peak < MOST_KIB, peak
        assert size < (folder(a) / "io.log").stat().st_size


@test
def a_reader_who_never_reads_does_not_keep_it_from_ending():
    with Ahr(BINARY) as a:
        process = a.popen("run", "-q", "--", "yes", "x" * 1000, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        child = child_of(process)
        wait_for(lambda: is_full(process.stdout) and state(process.pid) == "S" and state(child) == "S")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        process.stdout.close()
        assert facts(a)["status"] == "aborted"


@test
def a_grandchild_that_holds_the_pipes_is_not_waited_for():
    with Ahr(BINARY) as a:
        done = a.run("run", "--", "sh", "-c", "sleep 1000 >&2 & echo $!; echo hi", timeout=60)
        kill(int(done.stdout.split()[0]))
        assert done.returncode == 0
        assert b"still holds its output" in done.stderr
        assert facts(a)["status"] == "completed"


run()
