#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ahr_reader.py -- an independent reader of recordings, written from doc/ahr-format.md alone.

    ahr_reader.py FILE      prints the records and the damage, in the format of tests/tools/dump.c

It is plain rather than fast.  Left out: the search budget of I16, and all that is only a warning
(record_count, no RESIZE first, no last flag, time going back).
"""

import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

MAX_RECORDS, MAX_PAYLOAD = 16 << 20, 17 << 20  # I4

TABLE = []
for crc in range(256):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    TABLE.append(crc)


def crc32c(data, crc=0):
    """CRC-32C of `data` (I5), continued from `crc` (section 4)."""
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def unpack(payload, length):
    """The one Brotli stream in `payload`, or None unless it is whole and gives `length` bytes (I15.4)."""
    with tempfile.TemporaryFile() as packed:
        packed.write(payload)
        packed.seek(0)
        with subprocess.Popen(["brotli", "-dc"], stdin=packed, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as brotli:
            data = brotli.stdout.read(length + 1)  # I4: no more is decoded than was claimed
            brotli.stdout.close()
            return data if brotli.wait() == 0 and len(data) == length else None


def total(data):
    return sum((i + 1) * byte for i, byte in enumerate(data)) % 2**32


class Records:
    """The records in `data` (section 3) as lines; ValueError when they do not fill it (I9)."""

    def __init__(self, data, start_ts, start_off):
        self.lines, self.last_ts, self.end = [], start_ts, start_off
        at = 0

        def take(size):
            nonlocal at
            at += size
            if at > len(data):
                raise ValueError("record is cut off")
            return data[at - size:at]

        while at < len(data):
            tag, ts = struct.unpack("<BxxxQ", take(12))
            if tag == 0:
                off, size = struct.unpack("<QI", take(12))
                self.lines.append(f"data {ts} {off} {size} {total(take(size))}")
                self.end = off + size
            elif tag == 1:
                self.lines.append("resize %d %d %d" % (ts, *struct.unpack("<HH", take(4))))
            elif tag == 2:
                size, = struct.unpack("<I", take(4))
                self.lines.append(f"input {ts} {size} {total(take(size))}")
            elif tag == 3:
                self.lines.append("mark %d %d %d" % (ts, *struct.unpack("<II", take(8))))
            elif tag == 4:
                ident, anchor, size = struct.unpack("<QQH", take(18))
                self.lines.append(f"snapshot {ts} {ident} {anchor} {size} {total(take(size))}")
            else:
                raise ValueError("unknown tag")
            self.last_ts = max(self.last_ts, ts)


class Block:
    """A block or tail that was read: its file's suffix, place, ordinal, records; the span before it."""
    span = None           # (offset, length, ordinal of the last block before it) of damage before it
    damage = None         # (offset, length) of damage in it, behind its records (tails)
    last = False


def header_at(file, at):
    """The fields of a header that parses (I15.1) at `at`, or None."""
    if len(file) - at < 44 or file[at:at + 4] != b"AHRC":
        return None
    fields = struct.unpack_from("<HHQQIIIB", file, at + 4)
    version, header_len, _, _, size, packed, _, _ = fields
    ok = (version == 1 and header_len in (44, 48) and size <= MAX_RECORDS and packed <= MAX_PAYLOAD
          and at + 44 + packed <= len(file))
    return fields if ok else None


def block_at(file, at, first, prev, searching):
    """The block at `at` if it is accepted (I15, I16) behind `prev`, in a file that begins with `first`."""
    fields = header_at(file, at)
    if fields is None:
        return None
    _, header_len, ts, off, size, packed, _, flags = fields
    checked = bool(flags & 2) or any(file[at + 37:at + 44])
    if checked and not flags & 2 or first and first.checked and not checked:
        return None  # I15.2
    by_ordinal = first.checked if first else checked
    ordinal, after = int.from_bytes(file[at + 41:at + 44], "little"), prev.ordinal + 1 if prev else 0
    ahead = (ordinal - after) % 2**24
    if by_ordinal and (ahead >= 2**23 or prev and off < prev.records.end):
        return None  # I6, I15.3
    if checked and searching and prev and ts < prev.records.last_ts:
        return None  # I16
    if not by_ordinal and prev and off < prev.off:
        return None  # I15.3
    for skip in (44, 48) if header_len == 48 else (44,):  # I3
        end = at + skip + packed
        header, payload = file[at:at + skip], file[at + skip:end]
        if end > len(file):
            continue
        if checked and crc32c(header[:37] + bytes(4) + header[41:] + payload) \
                != int.from_bytes(header[37:41], "little"):
            continue  # I5
        data = unpack(payload, size)
        if data is None:
            continue
        block = Block()
        try:
            block.records = Records(data, ts, off)
        except ValueError:
            continue
        block.at, block.end, block.checked, block.off, block.last = at, end, checked, off, bool(flags & 1)
        block.ordinal = after + ahead if by_ordinal else after  # I18: numbered as they come
        return block
    return None


def places(file, bad):
    """Where to look after the block at `bad` was not accepted (I16)."""
    fields = header_at(file, bad)
    if fields and bad + 44 + fields[5] < len(file):
        yield bad + 44 + fields[5]
    at = bad
    while (at := file.find(b"AHRC", at + 4)) >= 0:
        yield at


def read_blocks(suffix, file):
    """The accepted blocks of a file, and its torn end: (offset, length, ordinal before it) or None."""
    blocks, at = [], 0
    while at < len(file):
        first, prev = (blocks[0], blocks[-1]) if blocks else (None, None)
        span = None
        block = block_at(file, at, first, prev, False)
        if not block:
            found = (block_at(file, place, first, prev, True) for place in places(file, at))
            block = next((b for b in found if b), None)
            span = (at, (block.at if block else len(file)) - at, prev.ordinal if prev else -1)  # I17
        if not block:
            return blocks, span
        block.suffix, block.span = suffix, span
        blocks.append(block)
        at = block.end
    return blocks, None


def read_tail(suffix, file):
    """A tail (section 4) as a block, or None when it is empty; `records` is None when its header is bad."""
    if len(file) < 44 or not any(file):
        return None
    tail = Block()
    tail.suffix, tail.at, tail.records, tail.damage = suffix, 0, None, (0, len(file))
    tail.ordinal = int(suffix[6:])
    magic, version, size, tail.session, ordinal, off, crc = struct.unpack_from("<4sHH16sQQI", file)
    tail.off = off
    if (magic, version, size, ordinal) != (b"AHRT", 1, 44, tail.ordinal) or crc32c(file[:40]) != crc:
        return tail
    at, data = 44, b""
    tail.records, tail.damage = Records(data, 0, off), None
    while at < len(file):  # I14
        left = file[at:]
        size, want = struct.unpack_from("<II", left) if len(left) >= 8 else (0, 0)
        if len(left) < 8 + size or not any(left):
            break  # torn: never acknowledged, no damage
        record = left[8:8 + size]
        crc = crc32c(left[:4] + record, crc)
        try:
            if not size or len(data) + size > MAX_RECORDS or crc != want \
                    or len(Records(record, 0, 0).lines) != 1:
                raise ValueError("bad frame")
        except ValueError:
            tail.damage = (at, len(left))
            break
        data += record
        at += 8 + size
    tail.records = Records(data, 0, off)
    return tail


def files_of(path):
    """The recording's files as (suffix, bytes): segments in their order, then tails (section 1)."""
    names = [name[len(path):] for name in glob.glob(glob.escape(path) + ".*")]
    segments = sorted((s for s in names if re.fullmatch(r"\.[1-9][0-9]*", s)), key=lambda s: int(s[1:]))
    tails = sorted((s for s in names if re.fullmatch(r"\.tail-(0|[1-9][0-9]*)", s)), key=lambda s: int(s[6:]))

    def load(suffix):
        with open(path + suffix, "rb") as file:
            return suffix, file.read()
    return [load(s) for s in [""] * os.path.exists(path) + segments], [load(s) for s in tails]


def dump(path):
    """The lines of the recording at `path`."""
    segments, tails = files_of(path)
    copies, torn_ends = {}, []  # ordinal -> blocks, the preferred one first (I18)
    for suffix, file in segments:
        blocks, torn = read_blocks(suffix, file)
        torn_ends += [(suffix, *torn)] if torn else []
        for block in blocks:
            copies.setdefault(block.ordinal, []).append(block)
    sealed = set(copies)
    for suffix, file in tails:
        tail = read_tail(suffix, file)
        if tail and tail.ordinal not in sealed:
            copies.setdefault(tail.ordinal, []).append(tail)

    # The lowest ordinal comes next, the first copy wins; a tail must go with what came before it.
    end, ended, session, refused = 0, False, None, set()
    for ordinal in sorted(copies):
        block = copies[ordinal][0]
        if ordinal not in sealed and (block.records is None or ended or block.off < end
                                      or session not in (None, block.session)):
            with_size = {suffix: len(file) for suffix, file in tails}
            block.damage = (0, with_size[block.suffix])
            refused.add(ordinal)
            continue
        if ordinal not in sealed:
            session = block.session
        end, ended = block.records.end, ended or block.last
    delivered = set(copies) - refused

    def covered(before, after):
        """I18: the blocks of a span came, all of them, from another file."""
        return after > before + 1 and all(o in delivered for o in range(before + 1, after))

    def damage(suffix, offset, length):
        lines.append(f"damage {suffix or '-'} {offset} {length}")

    lines, last = [], -1
    for ordinal in sorted(copies):
        block = copies[ordinal][0]
        for copy in copies[ordinal]:
            if copy.span and not covered(copy.span[2], ordinal):
                damage(copy.suffix, *copy.span[:2])
        if ordinal in delivered:
            if ordinal > last + 1 and not block.span:
                damage(block.suffix, block.at, 0)  # I19
            lines += block.records.lines
            last = ordinal
        if block.damage:
            damage(block.suffix, *block.damage)
    for suffix, offset, length, before in torn_ends:
        if not covered(before, last + 1):
            damage(suffix, offset, length)
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ahr_reader.py FILE")
    print("".join(line + "\n" for line in dump(sys.argv[1])), end="")
