#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_crowd_test.py -- connections to a host that end, pause or lag in odd moments.

The test speaks the wire protocol itself (doc/ipc.md), as a client that is no friend might.

usage: live_crowd_test.py AHR [--sanitized]
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.live import taken
from support.processes import children, state, wait_for
from support.recorder import Recorder
from support.queries import mirror_of
from support.tap import run, test, test_meanwhile

AHR = sys.argv[1]
NONE = (1 << 64) - 1
DONE, REFUSED, OUTPUT, ENDED, SKIPPED = 0, 1, 64, 67, 70
JOINED, STAGE, PICTURE, STATE = 71, 72, 74, 75
WATCH, PICTURE_FIRST = 1, 2
SECRET = b"DB_PASSWORD=correcthorse9"
WAITS = """
echo ready
until [ -e more ] || [ -e go ]; do sleep 0.02; done
echo more
until [ -e go ]; do sleep 0.02; done
"""


class Client:
    """A connection to a session's ctl.sock."""

    def __init__(self, recorder):
        path = recorder.live() / "ctl.sock"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        wait_for(lambda: self.socket.connect_ex(str(path)) == 0, "nobody listens")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, selector, form="", *fields, text=None):
        body = struct.pack("<B" + form, selector, *fields)
        if text is not None:
            body += struct.pack("<I", len(body) + 3) + text
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def _read(self, n):
        have = b""
        while len(have) < n:
            more = self.socket.recv(n - len(have))
            if not more:
                raise EOFError
            have += more
        return have

    def get(self, *selectors):
        """The next frame with one of these selectors: it and its body."""
        while True:
            body = self._read(struct.unpack("<I", self._read(4))[0])
            if body[0] in selectors:
                return body[0], body[1:]

    def subscribe(self, cols=0, rows=0, flags=0):
        self.send(19, "HHB", cols, rows, flags)

    def snapshot(self, number):
        self.send(0, "Q", number, text=b"")

    def clients(self):
        self.send(20)
        return struct.unpack_from("<I", self.get(STATE)[1], 20)[0]

    def output_bytes(self):
        self.send(20)
        return struct.unpack_from("<Q", self.get(STATE)[1])[0]

    def anchor(self):
        self.send(25)
        return struct.unpack("<QQQ", self.get(DONE)[1])[1]

    def instruct(self, anchor, snapshot):
        self.send(16, "QQIB", anchor, snapshot, 0xffffffff, 0, text=b"look")
        return self.get(DONE, REFUSED)


def waiting(recorder):
    """A session that ends when the test says so."""
    client = recorder.start("record", "--", "sh", "-c", WAITS, stdout=subprocess.DEVNULL,
                            stderr=recorder.log())
    recorder.host(client.pid)
    wait_for(lambda: recorder.names("live"))
    return client


def finish(recorder, client):
    (recorder.dir / "go").touch()
    recorder.ends(client, 0)


@test
def a_subscriber_that_leaves_before_its_reply_is_not_kept():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as other:
            for number in range(20):
                with Client(a) as c:
                    c.subscribe(80, 24)
                    c.get(JOINED)
                    c.snapshot(number)
            wait_for(lambda: other.clients() == 1, lambda: f"{other.clients()} are left", 15)
        finish(a, client)


@test
def replies_come_to_one_that_has_said_all():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            for number in range(100):
                c.snapshot(number)
            c.socket.shutdown(socket.SHUT_WR)
            for number in range(100):
                kind, body = c.get(DONE, REFUSED)
                assert kind == DONE and struct.unpack_from("<Q", body)[0] == number, body
            assert c.socket.recv(1) == b""
        finish(a, client)


@test
def joined_is_the_first_that_a_subscriber_hears():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            wait_for(lambda: c.output_bytes() == len("ready\r\n"))  # no more comes
            for size in (70, 60, 50):
                c.subscribe(size, 20)
                kind, body = c.get(*range(256))
                assert kind == JOINED and struct.unpack_from("<HH", body, 12) == (size, 20), kind
                kind, body = c.get(*range(256))
                assert kind == STAGE and struct.unpack_from("<HH", body) == (size, 20), kind
                c.clients()
        finish(a, client)


@test
def the_size_of_a_watcher_does_not_count():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            c.subscribe(40, 10, WATCH)
            assert struct.unpack_from("<HH", c.get(JOINED)[1], 12) == (80, 24)
        finish(a, client)


@test
def no_more_than_256_look_on():
    with Recorder(AHR) as a, ExitStack() as crowd:
        client = waiting(a)
        for _ in range(255):  # and the client of `ahr record`
            one = crowd.enter_context(Client(a))
            one.subscribe()
            one.get(JOINED)
        with Client(a) as c:
            c.subscribe()
            kind, why = c.get(JOINED, REFUSED)
            assert kind == REFUSED and b"too many" in why, why
        finish(a, client)


@test_meanwhile
def a_mirror_that_hangs_is_replaced():
    with Recorder(AHR) as a:
        client = waiting(a)
        host = a.live_host()
        mirror = mirror_of(host)
        os.kill(mirror, signal.SIGSTOP)
        with Client(a) as c:
            c.subscribe(80, 24, PICTURE_FIRST)
            assert c.get(PICTURE, SKIPPED)[0] == SKIPPED
        wait_for(lambda: mirror_of(host) != mirror)
        with Client(a) as c:
            c.subscribe(80, 24, PICTURE_FIRST)
            assert c.get(PICTURE, SKIPPED)[0] == PICTURE
        finish(a, client)


@test
def a_picture_of_many_pieces_comes_whole():
    """Pieces, the last of them marked, of one offset; then the log from there on, and no sooner."""
    with Recorder(AHR) as a:
        command = "seq 1000000 1100000; echo ready; until [ -e more ]; do sleep 0.02; done; echo more"
        client = a.start("record", "--", "sh", "-c", command, stdout=subprocess.DEVNULL,
                         stderr=a.log())
        with Client(a) as c:
            wait_for(lambda: c.anchor() == 100001 * 9 + 7)
            c.subscribe(80, 24, PICTURE_FIRST)
            pieces, is_last = 0, False
            while not is_last:
                kind, body = c.get(OUTPUT, PICTURE, SKIPPED)
                assert kind == PICTURE, (kind, pieces)
                off, is_last = struct.unpack_from("<QB", body)
                assert off == 100001 * 9 + 7
                pieces += 1
            assert pieces > 1
            (a.dir / "more").touch()
            assert struct.unpack_from("<Q", c.get(OUTPUT, PICTURE)[1])[0] == off
        a.ends(client, 0)


@test
def one_that_has_paused_and_subscribes_again_gets_the_output():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            c.subscribe()
            c.send(28, "BQ", 1, 0)
            c.subscribe()
            c.clients()
            (a.dir / "more").touch()
            assert c.get(OUTPUT, ENDED)[1].endswith(b"more\r\n")
        finish(a, client)


@test
def an_instruction_may_lie_behind_its_snapshot():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            c.snapshot(7)
            before = struct.unpack("<QQQ", c.get(DONE)[1])[1]
            (a.dir / "more").touch()
            wait_for(lambda: c.anchor() > before)
            end = c.anchor()
            kind, body = c.instruct(end, 7)
            assert kind == DONE, body
            assert struct.unpack("<QQQ", body)[1] == end
            assert c.instruct(NONE, 7)[1][8:16] == struct.pack("<Q", before)
            assert c.instruct(end + 100, 7)[0] == REFUSED
            assert c.instruct(end, 8) == (REFUSED, b"no snapshot 8")
        finish(a, client)


@test
def a_stop_by_no_signal_is_refused():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            for number in (0, 65, 255):
                c.send(21, "B", number)
                assert c.get(DONE, REFUSED) == (REFUSED, b"there is no such signal")
        finish(a, client)


def picture(c):
    """The screen that it is sent, and the offset of it; None when it is to make its own."""
    pieces = b""
    while True:
        kind, body = c.get(PICTURE, SKIPPED)
        if kind == SKIPPED:
            return None
        pieces += body[13:]
        if body[8]:
            return pieces, struct.unpack_from("<Q", body)[0]


@test
def a_picture_that_comes_late_is_not_the_next_one():
    with Recorder(AHR) as a:
        client = waiting(a)
        host = a.live_host()
        with Client(a) as c, Client(a) as other:
            c.subscribe(flags=2)
            empty = picture(c)
            mirror, = (p for p in children(host)
                       if Path(f"/proc/{p}/cmdline").read_bytes().endswith(b"\0mirror\0"))
            os.kill(mirror, signal.SIGSTOP)
            c.subscribe(flags=2)
            assert picture(c) is None
            before = other.anchor()
            (a.dir / "more").touch()
            wait_for(lambda: other.anchor() > before)
            c.subscribe(flags=2)
            c.send(28, "BQ", 1, 0)
            c.subscribe(flags=2)
            os.kill(mirror, signal.SIGCONT)
            other.subscribe(flags=2)
            assert picture(c) == picture(other) != empty
        finish(a, client)


LONG, LONG_SIZE = "seq -f %070.0f 20000", 20000 * 72


def long_one(a, script):
    """A session that shows LONG, which a picture of many pieces is made of."""
    client = a.start("record", "--", "sh", "-c", f"{script}; until [ -e go ]; do sleep 0.02; done",
                     stdout=subprocess.DEVNULL, stderr=a.log())
    a.host(client.pid)
    wait_for(lambda: a.names("live"))
    return client


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: state(pid) == "T")


@test
def a_newcomer_after_a_flood_has_the_mirror_catch_up():
    """One that was skipped would never see what it is asked."""
    with Recorder(AHR) as a, ExitStack() as stack:
        client = long_one(a, f"until [ -e more ]; do sleep 0.02; done; {LONG}")
        c, other = (stack.enter_context(Client(a)) for _ in range(2))
        mirror = mirror_of(a.live_host())
        stop(mirror)
        (a.dir / "more").touch()
        wait_for(lambda: other.anchor() == LONG_SIZE)
        c.subscribe(flags=PICTURE_FIRST)
        other.anchor()  # it has been asked for by now
        os.kill(mirror, signal.SIGCONT)
        found = picture(c)
        assert found and found[1] == LONG_SIZE, found
        other.subscribe(flags=PICTURE_FIRST)
        assert picture(other) == found
        finish(a, client)


@test
def a_mirror_killed_within_a_picture_leaves_no_half_of_it():
    """What has come is void; another's picture must not be put behind it."""
    with Recorder(AHR) as a, ExitStack() as stack:
        client = long_one(a, LONG)
        host = a.live_host()
        mirror = mirror_of(host)
        old = time.monotonic() + 1.5  # one that dies sooner is not replaced at once
        c, other = (stack.enter_context(Client(a)) for _ in range(2))
        wait_for(lambda: other.anchor() == LONG_SIZE)
        other.subscribe(flags=PICTURE_FIRST)
        size = len(picture(other)[0])
        assert size > 500000, size  # more than a socket holds
        wait_for(lambda: time.monotonic() > old)
        stop(mirror)
        c.subscribe(flags=PICTURE_FIRST)
        other.anchor()
        stop(host)
        os.kill(mirror, signal.SIGCONT)
        wait_for(lambda: state(mirror) == "S", "it has room for all")
        os.kill(mirror, signal.SIGKILL)
        wait_for(lambda: state(mirror) == "Z")
        os.kill(host, signal.SIGCONT)
        kind, body = c.get(PICTURE, SKIPPED)
        assert kind == PICTURE and not body[8], kind
        while kind == PICTURE:
            kind, body = c.get(PICTURE, SKIPPED, OUTPUT)
            assert kind != PICTURE or not body[8], "the last piece, of another one"
        assert kind == SKIPPED and struct.unpack_from("<Q", body)[0] == LONG_SIZE, (kind, body)
        finish(a, client)


@test
def secrets_in_labels_and_instructions_are_masked():
    with Recorder(AHR) as a:
        client = waiting(a)
        with Client(a) as c:
            c.send(0, "Q", 1, text=b"with " + SECRET)
            assert c.get(DONE, REFUSED)[0] == DONE
            c.send(16, "QQIB", NONE, NONE, 0xffffffff, 0, text=b"take " + SECRET)
            assert c.get(DONE, REFUSED)[0] == DONE
        finish(a, client)
        value = SECRET.partition(b"=")[2]
        one, = taken(a.session())  # in the recording, and its line
        assert one.label.startswith("with DB_PASSWORD=") and value.decode() not in one.label
        note = (a.session() / "session.instructions.jsonl").read_bytes()
        assert b"take DB_PASSWORD=" in note and value not in note, note


@test
def a_terminal_that_was_overtaken_passes_nothing():
    """Whoever asks for anchors has the PTY read on, past what the terminal's client takes."""
    with Recorder(AHR) as a:
        terminal = a.terminal()
        client = a.on(terminal, "record", "--", "sh", "-c", "until [ -e go ]; do sleep 0.02; done; "
                      "exec head -c 30000000 /dev/zero")
        a.host(client.pid)
        with Client(a) as c:
            c.subscribe()
            assert struct.unpack_from("<I", c.get(STAGE)[1], 4)[0] == 1
            os.kill(client.pid, signal.SIGSTOP)
            (a.dir / "go").touch()
            kind, body, end = DONE, b"", 0
            while kind == DONE and end < 20 << 20:
                c.send(25)
                kind, body = c.get(DONE, STAGE)
                end = struct.unpack("<QQQ", body)[1] if kind == DONE else end
            assert kind == STAGE and struct.unpack_from("<I", body, 4)[0] == 0, (end, body)
            os.kill(client.pid, signal.SIGCONT)
            c.socket.shutdown(socket.SHUT_RDWR)
        a.ends(client, 0)


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def to_pipe(recorder, size):
    return recorder.start("record", "--", "head", "-c", str(size), "/dev/zero",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=recorder.log())


def read_all(pipe):
    return sum(len(piece) for piece in iter(lambda: os.read(pipe.fileno(), 65536), b""))


def has_ended(recorder):
    """Soon; else it waits for whoever reads."""
    try:
        return wait_for(lambda: recorder.names("sessions"), seconds=2)
    except AssertionError:
        return False


@test
def input_after_the_end_costs_no_output():
    """The command has ended, and its last bytes still wait in the host for who reads the pipe."""
    with Recorder(AHR) as a:
        client = to_pipe(a, 16 << 20)
        size = a.stands_still(1 << 20) - (128 << 10)  # a little less, and the command can end
        assert read_all(client.stdout) == 16 << 20
        a.ends(client, 0)
    with Recorder(AHR) as a:
        client, got = to_pipe(a, size), 0
        while not has_ended(a):  # what lies between them holds not always the same
            got += len(os.read(client.stdout.fileno(), 65536))
        client.stdin.write(b"late\n")
        client.stdin.flush()
        wait_for(lambda: not unread(client.stdin))
        got += read_all(client.stdout)
        a.ends(client, 0)
        assert got == size and "completed" in a.said(), (got, size, a.said())


@test
def a_subscriber_that_types_after_the_end_hears_of_the_end():
    with Recorder(AHR) as a:
        client = a.start("record", "--", "sh", "-c",
                         "until [ -e go ]; do sleep 0.02; done; head -c 1000000 /dev/zero",
                         stdout=subprocess.DEVNULL, stderr=a.log())
        with Client(a) as c:
            c.subscribe(80, 24)
            c.get(STAGE)
            (a.dir / "go").touch()
            wait_for(lambda: a.names("sessions"))
            c.send(17, text=b"late\n")
            assert c.get(REFUSED, ENDED)[0] == ENDED
        a.ends(client, 0)


run()
