#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_keys_test.py -- what is typed reaches the recorded program byte for byte, whoever draws.

usage: view_keys_test.py AHR [--sanitized]
"""

import random
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.keyboards import PASTE, PREFIX, PREFIX_TWICE, all_keys
from support.processes import PATIENCE, wait_for
from support.recorder import IS_SANITIZED, Recorder
from support.tap import run, test

AHR = sys.argv[1]
MEGABYTE = 1 << 20
BYE = b"<that is all>"

# Raw and without echo, it writes each read to a file, in hex, on a line of its own.
READER = r"""
import os, sys, tty
tty.setraw(0)
print("ready", end="\r\n", flush=True)
tail = b""
with open(sys.argv[1], "w", buffering=1) as told:
    while not tail.endswith(sys.argv[2].encode()):
        got = os.read(0, 65536)
        print(got.hex(), file=told)
        tail = (tail + got)[-100:]
"""


class Typist:
    """Somebody at a terminal, and what arrives at the program."""

    def __init__(self, terminal, told, rng):
        self.terminal, self.rng = terminal, rng
        self._told = open(told, encoding="ascii")
        self._line = ""
        self.typed, self.want, self.got = 0, bytearray(), bytearray()

    def _read(self):
        lines = (self._line + self._told.read()).split("\n")
        self._line = lines.pop()
        for line in lines:
            self.got += bytes.fromhex(line)

    def has_arrived(self):
        """Waits for all that was typed; it is what it should be, so far."""
        deadline = time.monotonic() + PATIENCE
        while self._read() or len(self.got) < len(self.want):
            assert time.monotonic() < deadline, self.difference()
            time.sleep(0.0005)
        assert self.got == self.want, self.difference()

    def difference(self):
        at = next((i for i, (a, b) in enumerate(zip(self.got, self.want)) if a != b),
                  min(len(self.got), len(self.want)))
        around = slice(max(at - 40, 0), at + 40)
        return (f"{len(self.got)} bytes instead of {len(self.want)}, other from byte {at} on: "
                f"{bytes(self.got[around])} instead of {bytes(self.want[around])}")

    def type(self, keys, want=None):
        """want: what of them is for the program; all, if nothing else is said."""
        self.want += keys if want is None else want
        self.terminal.type(keys)

    def type_in_pieces(self, keys):
        """Each is cut somewhere, and the program has the first part before the second is typed."""
        rest = b""
        for key in keys:
            cut = self.rng.randrange(1, len(key))
            self.type(rest + key[:cut])
            self.has_arrived()
            rest = key[cut:]
        self.type(rest)
        self.has_arrived()

    def leave(self):
        self.type(BYE)
        self.has_arrived()


def start(a, way, terminal):
    """The program that draws, or passes: a client on this terminal."""
    reader = [sys.executable, "reader.py", "told", BYE.decode()]
    if way != "attach":
        return a.on(terminal, "record", "-q", "--view", way, "--", *reader)
    a.ok("record", "--background", "-q", "--", *reader, input=None, stdin=subprocess.DEVNULL)
    return a.on(terminal, "attach", "last")


@contextmanager
def typist(way, seed):
    with Recorder(AHR) as a:
        (a.dir / "reader.py").write_text(READER)
        terminal = a.terminal()
        client = start(a, way, terminal)
        wait_for((a.dir / "told").exists)
        terminal.wait_for("ready")
        wait_for(terminal.is_raw)
        someone = Typist(terminal, a.dir / "told", random.Random(seed))
        yield someone
        someone.leave()
        assert client.wait(PATIENCE) == 0
        assert a.verify("last")["warnings"] == []


def noise(rng, size):
    """Any bytes but the prefix."""
    return rng.randbytes(size + size // 64).replace(bytes([PREFIX]), b"")[:size]


def all_keys_arrive(way):
    keys = all_keys()
    assert len(keys) >= 500, len(keys)
    with typist(way, 1) as someone:
        for key in keys:
            someone.type(key)
        someone.has_arrived()
        someone.rng.shuffle(keys)
        someone.type(b"".join(keys))
        someone.has_arrived()


def cut_keys_arrive(way):
    keys = [key for key in all_keys() if len(key) > 1]
    with typist(way, 2) as someone:
        someone.type_in_pieces(someone.rng.sample(keys, len(keys) // (4 if IS_SANITIZED else 1)))
        # One piece after the other, as fast as it goes.
        text = b"".join(keys)
        while text:
            size = someone.rng.randrange(1, 12)
            someone.type(text[:size])
            text = text[size:]
        someone.has_arrived()


def a_megabyte_arrives(way):
    with typist(way, 3) as someone:
        text = someone.rng.randbytes(MEGABYTE)
        someone.type(PASTE[0] + text + PASTE[1])
        someone.has_arrived()
        someone.type(noise(someone.rng, MEGABYTE))
        someone.has_arrived()


def the_prefix_twice_is_sent_once(way):
    with typist(way, 4) as someone:
        for keys, want in PREFIX_TWICE * 3:
            someone.type(keys, want)
            someone.has_arrived()
            someone.type(b"x")
        someone.has_arrived()
        for _ in range(20):
            someone.type(b"\x1d", b"")
            someone.type(b"\x1d")
            someone.has_arrived()


@test
def all_keys_arrive_without_a_viewer():
    all_keys_arrive("off")


@test
def all_keys_arrive_through_a_viewer():
    all_keys_arrive("on")


@test
def all_keys_arrive_from_another_terminal():
    all_keys_arrive("attach")


@test
def keys_cut_anywhere_arrive_without_a_viewer():
    cut_keys_arrive("off")


@test
def keys_cut_anywhere_arrive_through_a_viewer():
    cut_keys_arrive("on")


@test
def keys_cut_anywhere_arrive_from_another_terminal():
    cut_keys_arrive("attach")


@test
def a_paste_of_a_megabyte_arrives_without_a_viewer():
    a_megabyte_arrives("off")


@test
def a_paste_of_a_megabyte_arrives_through_a_viewer():
    a_megabyte_arrives("on")


@test
def a_paste_of_a_megabyte_arrives_from_another_terminal():
    a_megabyte_arrives("attach")


@test
def the_prefix_twice_is_sent_once_by_a_viewer():
    the_prefix_twice_is_sent_once("on")


@test
def the_prefix_twice_is_sent_once_from_another_terminal():
    the_prefix_twice_is_sent_once("attach")


@test
def without_a_viewer_there_is_no_prefix():
    with typist("off", 5) as someone:
        for keys, _ in PREFIX_TWICE:
            someone.type(keys)
        someone.has_arrived()


run()
