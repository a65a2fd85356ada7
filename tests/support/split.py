# SPDX-License-Identifier: MIT
"""split.py -- talks to redact_split, which feeds each case whole and cut everywhere."""

import json
import os
import struct
import subprocess
from dataclasses import dataclass, field

IS_TERMINAL, KEEPS_LENGTH, IS_LONG = 1, 2, 4


@dataclass
class Case:
    bytes: bytes
    ranges: list = field(default_factory=list)  # of the secret
    is_terminal: bool = False
    cols: int = 0
    keeps_length: bool = False
    is_long: bool = False  # cut in a few ways only

    def pack(self):
        flags = (self.is_terminal * IS_TERMINAL | self.keeps_length * KEEPS_LENGTH
                 | self.is_long * IS_LONG)
        head = struct.pack("<B3xIII", flags, self.cols, len(self.bytes), len(self.ranges))
        return head + b"".join(struct.pack("<II", *r) for r in self.ranges) + self.bytes


def split(program, cases):
    """What it says of each, in order; a process for each processor."""
    count = max(1, min(os.cpu_count() or 1, 8, len(cases)))
    shares = [cases[i::count] for i in range(count)]
    children = [subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for _ in shares]
    for child, share in zip(children, shares):  # all input is read before any output is written
        child.stdin.write(b"".join(case.pack() for case in share))
        child.stdin.close()
    said = [None] * len(cases)
    for number, child in enumerate(children):
        said[number::count] = [json.loads(line) for line in child.stdout]
        assert child.wait() == 0, f"{program}: status {child.returncode}"
    return said
