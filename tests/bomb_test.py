#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bomb_test.py -- files made to exhaust a reader: bounded memory, a clear word, soon done.

usage: bomb_test.py AHR [--sanitized]   (memory of a sanitized program says nothing)
"""

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import run, test

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
RSS_MAX_KB = 64 << 10


def header(raw_len, packed_len, count=1, byte_off=0):
    return struct.pack("<4sHHQQIIIB7x", b"AHRC", 1, 44, 1, byte_off, raw_len, packed_len, count, 0)


def fill(path, piece, times):
    """Writes it bit by bit: a child's peak memory counts from ours."""
    with open(path, "wb") as f:
        for done in range(0, times, 1000):
            f.write(piece * min(1000, times - done))


def look(a, name, status, command="verify"):
    """Runs the command; tells time and memory."""
    begun = time.monotonic()
    child = a.popen(command, name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = child.stdout.read().decode(errors="replace")
    _, code, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    print(f"# {name}: {command} {time.monotonic() - begun:.2f} s, {usage.ru_maxrss >> 10} MiB")
    assert child.returncode == status, (child.returncode, said[:500])
    assert IS_SANITIZED or usage.ru_maxrss <= RSS_MAX_KB, usage.ru_maxrss
    return said


@test
def a_gigabyte_in_a_few_bytes_is_refused():
    with Ahr(AHR) as a:
        zeros = subprocess.Popen(["head", "-c", "1G", "/dev/zero"], stdout=subprocess.PIPE)
        bomb = subprocess.run(["brotli", "-5", "-w", "24", "-c"], stdin=zeros.stdout,
                              capture_output=True, check=True).stdout
        zeros.wait()
        print(f"# {len(bomb)} bytes hold 1 GiB")
        for name, claim in (("honest", 1 << 30), ("liar", 37), ("limit", 16 << 20)):
            (a.dir / name).write_bytes(header(claim, len(bomb)) + bomb)
            said = look(a, name, 4)
            assert ("more than 16 MiB" if claim >> 30 else "claimed length") in said, said
            look(a, name, 4, "cat")


@test
def lengths_of_ffffffff_are_refused():
    with Ahr(AHR) as a:
        for name, raw, packed, count in (("raw", 0xFFFFFFFF, 10, 1), ("packed", 37, 0xFFFFFFFF, 1),
                                         ("all", 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)):
            (a.dir / name).write_bytes(header(raw, packed, count) + b"x" * 100)
            assert "claims more than" in look(a, name, 4)


@test
def a_million_tiny_blocks_are_read():
    with Ahr(AHR) as a:
        record = struct.pack("<B3xQQI", 0, 1, 0, 0)  # DATA without bytes
        packed = subprocess.run(["brotli", "-c"], input=record, capture_output=True,
                                check=True).stdout
        fill(a.dir / "tiny", header(len(record), len(packed)) + packed, 10**6)
        assert "1,000,000 blocks, 1,000,000 records" in look(a, "tiny", 0)


@test
def a_million_false_magics_are_passed_over():
    with Ahr(AHR) as a:
        fill(a.dir / "plain", b"AHRC", 10**6)
        look(a, "plain", 4)
        # Each claims all that follows it, and each has to be looked at to be found out.
        fill(a.dir / "greedy", header(37, 16 << 20), 10**6)
        look(a, "greedy", 4)
        # … with a checksum flag, so that the checksum is what is asked for.
        checked = bytearray(header(37, 4 << 20))
        checked[36] = 2
        fill(a.dir / "checked", bytes(checked), 10**6)
        look(a, "checked", 4)


@test
def damage_everywhere_is_listed_up_to_a_limit():
    with Ahr(AHR) as a:
        record = struct.pack("<B3xQQI", 0, 1, 0, 0)
        packed = subprocess.run(["brotli", "-c"], input=record, capture_output=True,
                                check=True).stdout
        good = header(len(record), len(packed)) + packed
        fill(a.dir / "holes", good + b"no block", 100000)
        said = look(a, "holes", 4)
        assert "and 99" in said and len(said) < 1 << 20


run()
