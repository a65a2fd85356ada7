# SPDX-License-Identifier: MIT
"""tape.py -- recordings made by hand, with any stamps: written from doc/ahr-format.md alone.

    tape = Tape(80, 24)
    tape.data(b"hello\\r\\n").snapshot(1, "here")
    tape.write(folder / "x.ahr")

Time goes on by a millisecond with each record, unless wait() says otherwise.
"""

import json
import subprocess
from pathlib import Path
from struct import pack

from ahr_reader import crc32c

START_NS = 1_700_000_000_000_000_000
MS = 1_000_000
GAP, END = 1, 2


def brotli(data):
    done = subprocess.run(["brotli", "-c", "-q", "4"], input=data, capture_output=True, check=True)
    return done.stdout


def siblings(path):
    """Where the snapshots and the instructions of a recording stand, and its facts."""
    stem = str(path).removesuffix(".ahr")
    return [Path(f"{stem}.{what}") for what in
            ("snapshots.jsonl", "instructions.jsonl", "meta.json")]


class Tape:
    def __init__(self, cols=80, rows=24):
        self.now_ns = START_NS
        self.off = 0
        self.blocks = []  # [first stamp, offset before it, records, count]
        self.snapshots, self.instructions = [], []  # lines beside the recording
        self.resize(cols, rows)

    def _add(self, tag, body):
        if not self.blocks:
            self.seal()
        block = self.blocks[-1]
        block[2] += pack("<B3xQ", tag, self.now_ns) + body
        block[3] += 1
        self.now_ns += MS
        return self

    def seal(self):
        """What follows is in a block of its own."""
        self.blocks.append([self.now_ns, self.off, b"", 0])
        return self

    def wait(self, ms):
        self.now_ns += ms * MS
        return self

    def data(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        self._add(0, pack("<QI", self.off, len(text)) + text)
        self.off += len(text)
        return self

    def resize(self, cols, rows):
        return self._add(1, pack("<HH", cols, rows))

    def gap(self, n):
        """So many bytes were not recorded."""
        self._add(3, pack("<II", GAP, n))
        self.off += n
        return self

    def snapshot(self, number, label="", anchor=None, on_tape=True, beside=True):
        anchor = self.off if anchor is None else anchor
        text = label if isinstance(label, bytes) else label.encode()
        if beside:
            self.snapshots.append({"id": number, "ts_ns": self.now_ns,
                                   "label": text.decode(errors="replace"), "kind": "auto",
                                   "anchor_byte": anchor})
        return self._add(4, pack("<QQH", number, anchor, len(text)) + text) if on_tape else self

    def instruct(self, number, text, anchor=None, snapshot_id=None, delivered=False):
        self.instructions.append({"id": number, "ts_ns": self.now_ns,
                                  "anchor_byte": self.off if anchor is None else anchor,
                                  "snapshot_id": snapshot_id, "row": None, "text": text,
                                  "delivered": delivered})
        return self

    def end(self):
        return self._add(3, pack("<II", END, 0))

    def bytes(self, is_whole=True):
        out = b""
        for ordinal, (ts, off, records, count) in enumerate(self.blocks):
            payload = brotli(records)
            flags = 2 | (is_whole and ordinal == len(self.blocks) - 1)
            head = b"AHRC" + pack("<HHQQIIIB", 1, 44, ts, off, len(records), len(payload), count, flags)
            number = ordinal.to_bytes(3, "little")
            crc = crc32c(head + bytes(4) + number + payload)
            out += head + pack("<I", crc) + number + payload
        return out

    def write(self, path, **facts):
        """The recording, what stands beside it, and with facts its meta."""
        path = Path(path)
        path.write_bytes(self.bytes())
        snapshots, instructions, meta = siblings(path)
        for where, lines in ((snapshots, self.snapshots), (instructions, self.instructions)):
            where.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
        if facts:
            meta.write_text(json.dumps({"version": 1, **facts}))
        return path
