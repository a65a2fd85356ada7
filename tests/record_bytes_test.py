#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_bytes_test.py -- `ahr record` neither loses nor changes a byte, in either direction.

What the recorded program wrote, as the line discipline passed it on, what `ahr cat` gives, and what
the client passed to its own output are held against each other.

usage: record_bytes_test.py AHR [--sanitized]   (sanitized: less of everything)
"""

import hashlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import kill, state, wait_for
from support.recorder import IS_LONG, IS_SANITIZED, Recorder
from support.tap import run, test

AHR = sys.argv[1]
WAYS = ("pipe", "file", "terminal")
RAW = "stty raw -echo; "


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def record(a, way, *args, status=0, stdin=subprocess.DEVNULL):
    """Records a command to its end; what the client passed on."""
    with a.log() as log:
        if way == "terminal":
            t = a.terminal()
            a.ends(a.on(t, "record", *args, stderr=log), status)
            return t.settle()
        with open(a.dir / "stdout", "w+b") as out:
            client = a.start("record", *args, stdin=stdin, stderr=log,
                             stdout=subprocess.PIPE if way == "pipe" else out)
            shown = client.communicate(timeout=120)[0]
            a.ends(client, status)
            out.seek(0)
            return out.read() if way == "file" else shown


class NotShown(AssertionError):
    """It is recorded, though."""


def in_each_way(check, ways=WAYS):
    """A terminal that takes too little is left out (client/lag.c), and where others have the
    processors it may be this one: it has two more tries."""
    for way in ways:
        for tries in range(3 if way == "terminal" else 1, 0, -1):
            try:
                with Recorder(AHR) as a:
                    check(a, way)
                break
            except NotShown:
                if tries == 1:
                    raise


def is_whole(a, shown, want):
    """The same bytes were written, shown and recorded."""
    recorded = a.ok("cat", a.session().name)
    sizes = len(want), len(recorded), len(shown)
    assert sha256(recorded) == sha256(want), ("recorded", *sizes)
    if sha256(shown) != sha256(want):
        raise NotShown(*sizes)
    facts = a.verify(a.session().name)
    assert facts["bytes"] == len(want) and facts["warnings"] == [] == facts["damaged"]
    meta = a.meta()
    assert meta["totalBytes"] == len(want) and meta["gaps"] == 0 and not meta["suspect"]


def piped(a, data, *args, status=0, as_file=False):
    """Records a command that is given `data`; what came out of it."""
    with a.log() as log:
        if as_file:
            (a.dir / "stdin").write_bytes(data)
            with open(a.dir / "stdin", "rb") as file:
                client = a.start("record", *args, stdin=file, stdout=subprocess.PIPE, stderr=log)
                shown = client.communicate(timeout=120)[0]
        else:
            client = a.start("record", *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=log)
            shown = client.communicate(data, timeout=120)[0]
        a.ends(client, status)
    return shown


def lines_of_all_lengths(size, seed=5):
    """Random bytes of all values in lines of up to 1 MB."""
    draw = random.Random(seed)
    pool = draw.randbytes(2 << 20).replace(b"\n", b"")
    lines, have = [], 0
    while have < size:
        length = int(10 ** draw.uniform(0, 6))
        start = draw.randrange(len(pool) - length)
        lines.append(pool[start:start + length] + b"\n")
        have += length + 1
    return b"".join(lines)


# -- output --


@test
def two_hundred_thousand_lines_arrive_whole():
    want = b"".join(b"%d\r\n" % n for n in range(1, 200001))
    in_each_way(lambda a, way: is_whole(a, record(a, way, "--", "seq", "1", "200000"), want))


@test
def random_bytes_in_raw_mode_arrive_whole():
    for way, mib in (("pipe", 64), ("file", 8)):
        with Recorder(AHR) as a:
            data = random.Random(mib).randbytes((mib << 20) // (8 if IS_SANITIZED else 1))
            (a.dir / "random").write_bytes(data)
            is_whole(a, record(a, way, "--", "sh", "-c", RAW + "cat random"), data)


PIECE = 128 << 10  # client/lag.c drops nothing before twice as much waits
BY_PIECES = f"""
import os
with open("random", "rb") as file:
    while piece := file.read({PIECE}):
        while piece:
            piece = piece[os.write(1, piece):]
        os.read(0, 1)
"""


@test
def random_bytes_on_a_terminal_arrive_whole_as_fast_as_it_takes_them():
    with Recorder(AHR) as a, a.log() as log:
        data = random.Random(6).randbytes((64 << 20) // (8 if IS_SANITIZED else 1))
        (a.dir / "random").write_bytes(data)
        t = a.terminal()
        client = a.on(t, "record", "--", "sh", "-c", RAW + 'exec "$0" -c "$1"', sys.executable, BY_PIECES, stderr=log)
        for size in range(PIECE, len(data) + 1, PIECE):
            wait_for(lambda: len(t.output) >= size)
            t.type("x")
        a.ends(client, 0)
        is_whole(a, t.settle(), data)


@test
def a_burst_and_an_instant_exit_arrive_whole():
    data = random.Random(1).randbytes(5_000_000)

    def check(a, way):
        (a.dir / "burst").write_bytes(data)
        is_whole(a, record(a, way, "--", "sh", "-c", RAW + "cat burst; exit 9", status=9), data)
    in_each_way(check)


@test
def the_last_words_of_many_short_programs_arrive():
    with Recorder(AHR) as a:
        for n in range(50 if not IS_SANITIZED else 10):
            shown = record(a, "pipe", "--", "sh", "-c", f"printf 'the last word {n}'")
            assert shown == b"the last word %d" % n
            assert a.ok("cat", "last") == shown


@test
def a_program_that_prints_nothing_is_recorded():
    in_each_way(lambda a, way: is_whole(a, record(a, way, "--", "true"), b""))


@test
def a_grandchild_that_keeps_the_pty_open_does_not_hang_us():
    data = random.Random(2).randbytes(1_000_000)

    def check(a, way):
        (a.dir / "data").write_bytes(data)
        script = RAW + "trap '' HUP; sleep 1000 & echo $! >pid; cat data"
        shown = record(a, way, "--", "sh", "-c", script)
        kill(int((a.dir / "pid").read_text()))
        is_whole(a, shown, data)
        assert a.meta()["status"] == "completed"
    in_each_way(check)


@test
def a_grandchild_that_floods_the_pty_does_not_hang_us():
    with Recorder(AHR) as a:
        script = "trap '' HUP; echo first; yes flood & echo $! >pid; exit 4"
        shown = record(a, "pipe", "--", "sh", "-c", script, status=4)
        assert shown.startswith(b"first\r\n") and shown == a.ok("cat", "last")
        kill(int((a.dir / "pid").read_text()))


@test
def a_program_that_closes_its_terminal_and_goes_on_is_waited_for():
    with Recorder(AHR) as a:
        script = "echo before; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 6"
        is_whole(a, record(a, "pipe", "--", "sh", "-c", script, status=6), b"before\r\n")


@test
def what_others_print_right_after_the_end_is_recorded():
    with Recorder(AHR) as a:
        script = "trap '' HUP; (while kill -0 $$; do :; done 2>/dev/null; echo late) & echo first"
        is_whole(a, record(a, "pipe", "--", "sh", "-c", script), b"first\r\nlate\r\n")


@test
def a_program_that_opens_its_terminal_again_is_recorded():
    with Recorder(AHR) as a:
        script = "echo before; exec 0<&- 1>&- 2>&-; sleep 0.1; echo after >/dev/tty; exit 6"
        is_whole(a, record(a, "pipe", "--", "sh", "-c", script, status=6), b"before\r\nafter\r\n")


@test
def a_full_disk_as_output_does_not_harm_the_agent():
    want = b"".join(b"%d\r\n" % n for n in range(1, 20001))
    with Recorder(AHR) as a, a.log() as log, open("/dev/full", "wb") as full:
        client = a.start("record", "--", "sh", "-c", "seq 1 20000; exit 7", stdout=full,
                         stderr=log)
        a.ends(client, 7)
        is_whole(a, want, want)
        assert a.said().count("cannot write to standard output") == 1, a.said()


@test
def a_pipe_that_is_read_late_gets_every_byte():
    data = random.Random(3).randbytes(8 << 20)
    with Recorder(AHR) as a, a.log() as log:
        (a.dir / "data").write_bytes(data)
        client = a.start("record", "--", "sh", "-c", RAW + "cat data; echo x >done",
                         stdout=subprocess.PIPE, stderr=log)
        a.stands_still(65536)
        stood = time.monotonic()
        wait_for(lambda: time.monotonic() > stood + 0.6)  # a terminal would be skipped by now
        shown = client.communicate(timeout=60)[0]
        a.ends(client, 0)
        is_whole(a, shown, data)


@test
def output_that_nobody_reads_ends_the_session():
    for command in ("yes", "seq 1 100000000") * 5:
        with Recorder(AHR) as a:
            done = a.line(f"$AHR record -- {command} | head -n 1", timeout=30)
            assert done.stdout == {"yes": b"y\r\n"}.get(command, b"1\r\n")
            a.nobody_is_left()
            assert a.meta()["status"] == "aborted" and a.meta()["signal"] == "HUP"
            a.verify("last")


@test
def a_pipeline_ends():
    with Recorder(AHR) as a:
        for command in ("true", "echo hello"):
            done = a.line(f"$AHR record -- {command} | tee x")
            assert done.returncode == 0
            assert done.stdout == (a.dir / "x").read_bytes() == a.ok("cat", "last")
        assert done.stdout == b"hello\r\n"


@test
def a_socket_is_as_good_as_a_pipe():
    data = random.Random(8).randbytes(2_000_000)
    want = data.replace(b"\n", b"\r\n")
    with Recorder(AHR) as a, a.log() as log:  # what node and libuv give to their children
        (ours, theirs), got = socket.socketpair(), bytearray()
        client = a.start("record", "--", "cat", stdin=theirs, stdout=theirs, stderr=log)
        theirs.close()

        def send():
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        while more := ours.recv(65536):
            got += more
        sender.join()
        ours.close()
        a.ends(client, 0)
        is_whole(a, bytes(got), want)


@test
def a_session_is_finished_also_when_nobody_reads_its_output_yet():
    data = random.Random(9).randbytes(200_000)
    with Recorder(AHR) as a, a.log() as log:
        (a.dir / "data").write_bytes(data)
        client = a.start("record", "--", "sh", "-c", RAW + "cat data", stdout=subprocess.PIPE,
                         stderr=log)
        wait_for(lambda: a.names("sessions"), "the session waits for its client's reader")
        shown = client.communicate(timeout=60)[0]
        a.ends(client, 0)
        is_whole(a, shown, data)


class Unread:
    """A session whose client stands still while the agent prints this many x, if there is room
    for so many on the way."""

    def __init__(self, a, size, then=""):
        self.a, self.log = a, a.log()
        script = f"printf ready; until [ -e go ]; do sleep 0.02; done; " \
                 f"head -c {size} /dev/zero | tr '\\0' x; {then}"
        self.client = a.start("record", "--", "sh", "-c", script, stdout=subprocess.PIPE,
                              stderr=self.log)
        assert self.client.stdout.read(5) == b"ready"
        self.agent = a.agent(a.host(self.client.pid))
        kill(self.client.pid, signal.SIGSTOP)
        wait_for(lambda: state(self.client.pid) == "T")
        (a.dir / "go").touch()

    def read(self):
        """The client goes on; all that it shows."""
        kill(self.client.pid, signal.SIGCONT)
        shown = self.client.communicate(timeout=60)[0]
        self.log.close()
        return b"ready" + shown


@cache
def room_on_the_way():
    """What an agent can print while its client takes nothing, about."""
    with Recorder(AHR) as a:
        unread = Unread(a, 100_000_000)
        size = a.stands_still(100_000)
        kill(unread.agent, signal.SIGTERM)
        unread.read()
        return size


@test
def a_host_stays_until_all_is_read():
    size = room_on_the_way() - 150_000  # so that all is on the way, the last of it in the host
    with Recorder(AHR) as a:
        unread = Unread(a, size)
        a.stands_still(100_000)
        is_whole(a, unread.read(), b"ready" + b"x" * size)
        a.ends(unread.client, 0)


@test
def a_session_ends_whose_output_was_full_when_the_agent_ended():
    most = room_on_the_way()
    for size in range(most - 24_000, most + 1, 8_000):  # in one of them just all is on the way
        with Recorder(AHR) as a:
            unread = Unread(a, size, "trap '' HUP; sleep 1000 & echo $! >pid")
            a.stands_still(100_000)
            is_whole(a, unread.read(), b"ready" + b"x" * size)
            a.ends(unread.client, 0)
            kill(int((a.dir / "pid").read_text()))


# -- input --


@test
def what_is_piped_in_comes_out():
    size = 100_000_000 if IS_LONG else 20_000_000
    data = lines_of_all_lengths(size // (8 if IS_SANITIZED else 1))
    with Recorder(AHR) as a:
        is_whole(a, piped(a, data, "--", "cat"), data.replace(b"\n", b"\r\n"))


@test
def a_file_as_input_comes_out():
    data = lines_of_all_lengths(2_000_000, seed=6)
    with Recorder(AHR) as a:
        shown = piped(a, data, "--", "cat", as_file=True)
        is_whole(a, shown, data.replace(b"\n", b"\r\n"))


@test
def every_byte_value_and_line_length_passes_a_canonical_terminal():
    values = bytes(range(256))
    special = b"\x03\x04\x1c\x16\x1a\x11\x13\x7f\x15\x17\x12\x0f\r\0\xff"
    lengths = 1, 1023, 1024, 1025, 2048, 4095, 4096, 9000
    for data in (values * 40, values[::-1] * 40, b"".join(bytes([v, 10]) for v in values),
                 special * 500 + b"\n", b"\x04" * 5000, b"\x16" * 5001, b"\n" * 5000,
                 *(b"x" * n + b"\n" + b"y" * n for n in lengths)):
        with Recorder(AHR) as a:
            is_whole(a, piped(a, data, "--", "cat"), data.replace(b"\n", b"\r\n"))


@test
def the_end_of_the_input_is_seen_also_in_mid_line():
    for data in (b"", b"\n", b"no newline", b"a line\nno newline", b"z" * 1024, b"z" * 2048,
                 b"z" * 4096):
        for as_file in (False, True):
            with Recorder(AHR) as a:
                shown = piped(a, data, "--", "sh", "-c", "cat; echo end", as_file=as_file)
                is_whole(a, shown, data.replace(b"\n", b"\r\n") + b"end\r\n")


@test
def a_raw_terminal_gets_bytes_as_they_are_and_no_end():
    data = random.Random(4).randbytes(300_000) + bytes(range(256))
    with Recorder(AHR) as a, a.log() as log:
        script = f"{RAW} printf ready; head -c {len(data)} >got; " \
                 "timeout --foreground 0.3 cat >more; printf $?"
        client = a.start("record", "--", "sh", "-c", script, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=log)
        assert client.stdout.read(5) == b"ready"
        assert client.communicate(data, timeout=60)[0] == b"124"
        a.ends(client, 0)
        assert sha256((a.dir / "got").read_bytes()) == sha256(data)
        assert (a.dir / "more").read_bytes() == b""


@test
def no_input_means_that_nothing_is_sent():
    for stdin in ("</dev/null", "<&-"):
        with Recorder(AHR) as a:
            script = "timeout --foreground 0.3 cat; echo status $?"
            done = a.line(f"$AHR record -- sh -c '{script}' {stdin}")
            assert done.returncode == 0, done
            assert done.stdout == b"status 124\r\n", done  # it waited, and saw no end


@test
def closed_standard_files_do_no_harm():
    for closed in ("<&- >&- 2>&-", ">&-", "2>&-", "<&- 2>&-"):
        with Recorder(AHR) as a:
            a.line(f"$AHR record -- sh -c 'echo hello; echo ran >>ran; exit 3' {closed}")
            wait_for(lambda: a.names("sessions"))
            a.nobody_is_left()
            assert (a.dir / "ran").read_bytes() == b"ran\n", closed
            assert a.ok("cat", "last") == b"hello\r\n", closed
            a.verify("last")


@test
def input_that_nobody_reads_does_not_hang_us():
    data = lines_of_all_lengths(3_000_000, seed=7)
    with Recorder(AHR) as a:
        done = a.line("$AHR record -- true", stdin=None, input=data)
        assert done.returncode == 0 and done.stdout == b""
    with Recorder(AHR) as a:
        done = a.line("yes | $AHR record -- sh -c 'read x; echo $x; exit 5'; echo $?")
        assert done.stdout == b"y\r\n5\n"


@test
def input_that_never_ends_does_not_hang_us():
    with Recorder(AHR) as a, a.log() as log:
        client = a.start("record", "--", "sh", "-c", "echo done", stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=log)
        assert client.stdout.read() == b"done\r\n"  # its stdin is still open
        a.ends(client, 0)
        client.stdin.close()
        client.stdout.close()


@test
def what_is_piped_in_is_not_echoed():
    with Recorder(AHR) as a:
        shown = piped(a, b"a question\n", "--", "sh", "-c", "read x; echo answer to $x")
        is_whole(a, shown, b"answer to a question\r\n")


@test
def what_is_typed_is_echoed_once():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        client = a.on(t, "record", "--", "sh", "-c", "echo ready; read x; echo got $x", stderr=log)
        t.wait_for("ready")
        t.type("words\r")
        a.ends(client, 0)
        is_whole(a, t.settle(), b"ready\r\nwords\r\ngot words\r\n")


@test
def typed_bytes_reach_a_raw_program_as_they_are():
    data = bytes(range(256)) * 4
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        script = f"{RAW} printf ready; head -c {len(data)} >got"
        client = a.on(t, "record", "--", "sh", "-c", script, stderr=log)
        t.wait_for("ready")
        for start in range(0, len(data), 64):
            t.type(data[start:start + 64])
        a.ends(client, 0)
        assert (a.dir / "got").read_bytes() == data


run()
