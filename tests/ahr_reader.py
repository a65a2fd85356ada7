#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ahr_reader.py -- an independent reader of recordings, written from doc/ahr-format.md alone.

    ahr_reader.py FILE      prints the records and the damage, in the format of tests/tools/dump.c

It is plain rather than fast.  Left out: the search budget of I16, files that are no part of the
recording (I20), and what is only a warning (record_count, no RESIZE first, no last flag, time going
back).
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
from struct import unpack_from
from types import SimpleNamespace

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
    """What the Brotli stream `payload` gives; None unless it is whole, one, and `length` long (I15.4)."""
    with tempfile.TemporaryFile() as packed:
        packed.write(payload)
        packed.seek(0)
        with subprocess.Popen(["brotli", "-dc"], stdin=packed, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as brotli:
            data = brotli.stdout.read(length + 1)  # I4: decoding stops there
            brotli.stdout.close()
            return data if brotli.wait() == 0 and len(data) == length else None


def parse(data, ts, end, strict=False):
    """The records in `data` as lines (section 3), the latest of `ts` and their time stamps, and the end
    of the farthest DATA, or else `end`.  None when they do not fill `data`, or there is another tag (I9)."""
    lines, at = [], 0
    while at < len(data):
        form, name = {0: ("<QI", "data"), 1: ("<HH", "resize"), 2: ("<I", "input"), 3: ("<II", "mark"),
                      4: ("<QQH", "snapshot")}.get(data[at], (None, None))
        head = {"<QI": 24, "<HH": 16, "<I": 16, "<II": 20, "<QQH": 30}.get(form)
        if head is None or at + head > len(data):
            return None
        when, fields = unpack_from("<Q", data, at + 4)[0], unpack_from(form, data, at + 12)
        at += head
        if name in ("data", "input", "snapshot"):
            text = data[at:at + fields[-1]]  # the last field is its length
            at += fields[-1]
            fields += sum((i + 1) * byte for i, byte in enumerate(text)) % 2**32,
        if name == "data" and strict and fields[0] < end:
            return None  # I11
        if name == "data":
            end = max(end, fields[0] + fields[1])
        lines.append(" ".join(map(str, (name, when, *fields))))
        ts = max(ts, when)
    return SimpleNamespace(lines=lines, ts=ts, end=end) if at == len(data) else None


def header_at(file, at):
    """The fields of the block header at `at` if it parses (I15.1: I3, I4, payload within the file)."""
    if file[at:at + 4] != b"AHRC" or at + 44 > len(file):
        return None
    version, header_len, ts, off, size, packed, _, flags = unpack_from("<HHQQIIIB", file, at + 4)
    if version != 1 or header_len not in (44, 48) or size > 16 << 20 or packed > 17 << 20 \
            or at + 44 + packed > len(file):
        return None
    return SimpleNamespace(header_len=header_len, ts=ts, off=off, size=size, packed=packed, flags=flags)


def block_at(suffix, file, at, first, prev, searching):
    """The block at `at` if it is accepted after `prev`, in a file whose first accepted one is `first`."""
    head = header_at(file, at)
    if not head:
        return None
    has_sum = bool(head.flags & 2) or any(file[at + 37:at + 44])  # I15.2
    if not head.flags & 2 if has_sum else suffix or first and first.has_sum:
        return None
    sums = first.has_sum if first else has_sum  # taken as a property of the file, as in I18
    after = prev.ordinal + 1 if prev else 0
    ahead = (int.from_bytes(file[at + 41:at + 44], "little") - after) % 2**24 if sums else 0  # I6, I18
    if ahead >= 2**23 or prev and head.off < (prev.records.end if sums else prev.off):  # I15.3
        return None
    if searching and has_sum and prev and head.ts < prev.records.ts:  # I16
        return None
    for skip in (44, 48)[:1 + (head.header_len == 48)]:  # I3
        end = at + skip + head.packed
        header, payload = file[at:at + skip], file[at + skip:end]
        if end > len(file) or has_sum and unpack_from("<I", header, 37)[0] != \
                crc32c(header[:37] + bytes(4) + header[41:] + payload):  # I5
            continue
        data = unpack(payload, head.size)  # I15.4
        records = parse(data, head.ts, head.off, has_sum) if data is not None else None  # I15.5
        if records:
            return SimpleNamespace(suffix=suffix, at=at, end=end, ordinal=after + ahead, off=head.off, span=None,
                                   damage=None, last=head.flags & 1, has_sum=has_sum, records=records)
    return None


def places(file, bad):
    """Where to look after what is at `bad` was not accepted (I16): its claimed end, then each magic."""
    head = header_at(file, bad)
    if head and bad + 44 + head.packed < len(file):
        yield bad + 44 + head.packed
    while (bad := file.find(b"AHRC", bad + 1)) >= 0:
        yield bad


def read_blocks(suffix, file):
    """The accepted blocks of a file, with the damaged spans before them, and its torn end if any.
    A span is (offset, length, ordinal of the block before it) (I17)."""
    blocks, at = [], 0
    while at < len(file):
        first, prev = (blocks[0], blocks[-1]) if blocks else (None, None)
        block = block_at(suffix, file, at, first, prev, False)
        if not block:
            found = (block_at(suffix, file, place, first, prev, True) for place in places(file, at))
            block = next(filter(None, found), None)
            span = at, (block.at if block else len(file)) - at, prev.ordinal if prev else -1
            if not block:
                return blocks, span
            block.span = span
        blocks.append(block)
        at = block.end
    return blocks, None


def read_tail(suffix, file):
    """A tail (section 4) in the shape of a block; `records` is None when its header is bad."""
    tail = SimpleNamespace(suffix=suffix, at=0, end=len(file), ordinal=int(suffix[6:]), span=None, damage=None,
                           last=False, records=None)
    tail.session = None
    if len(file) < 44:
        return tail
    magic, version, size, tail.session, ordinal, tail.off, crc = unpack_from("<4sHH16sQQI", file)
    if (magic, version, size, ordinal, crc) != (b"AHRT", 1, 44, tail.ordinal, crc32c(file[:40])):
        return tail
    at, data = 44, b""
    while any(file[at:]):  # I14; zeros are torn
        left = len(file) - at - 8
        size = unpack_from("<I", file, at)[0] if left >= -4 else 0
        if left < size <= (1 << 20) + 30 or left < 0 and not size:
            break  # torn, no damage: the record was never acknowledged
        record = file[at + 8:at + 8 + size]
        crc = crc32c(file[at:at + 4] + record, crc)
        records = parse(record, 0, 0)
        if not 0 < size <= left or len(data) + size > 16 << 20 or unpack_from("<I", file, at + 4)[0] != crc \
                or not records or len(records.lines) != 1:
            tail.damage = at, len(file) - at
            break
        data += record
        at += 8 + size
    tail.records = parse(data, 0, tail.off, True)
    return tail


def read_files(path):
    """The recording's blocks by ordinal, the copy to prefer first (I18), and the torn ends of its files."""
    copies, torn_ends = {}, []
    found = [name[len(path):] for name in glob.glob(glob.escape(path) + ".*")]
    segments = sorted((s for s in found if re.fullmatch(r"\.[1-9][0-9]*", s)), key=lambda s: int(s[1:]))
    tails = [s for s in found if re.fullmatch(r"\.tail-(0|[1-9][0-9]*)", s)]
    for suffix in [""] * os.path.exists(path) + segments + tails:
        with open(path + suffix, "rb") as stream:
            file = stream.read()
        if suffix not in tails:
            blocks, torn = read_blocks(suffix, file)
            torn_ends += [(suffix, *torn)] if torn else []
        else:
            is_empty = not any(file) or len(file) < 44 and b"AHRT".startswith(file[:4])  # I14
            blocks = [] if is_empty else [read_tail(suffix, file)]
        for block in blocks:
            copies.setdefault(block.ordinal, []).append(block)
    return copies, torn_ends


def dump(path):
    """The lines of the recording at `path`."""
    copies, torn_ends = read_files(path)
    order = [copies[ordinal][0] for ordinal in sorted(copies)]  # I18: lowest next, first copy wins
    end, ended, session, delivered = 0, False, None, set()
    for block in order:
        if hasattr(block, "session"):  # a tail must go with what came before it (section 4)
            if not block.records or ended or block.off < end or session not in (None, block.session):
                block.damage, block.records = (0, block.end), None
                continue
            session = block.session
            if not block.records.lines:
                continue  # nothing came from it: repair would seal no block either
        delivered.add(block.ordinal)
        end, ended = block.records.end, ended or block.last

    lines, last = [], -1

    def damage(block_suffix, offset, length):
        lines.append(f"damage {block_suffix or '-'} {offset} {length}")

    def covered(before, after):  # I18: blocks between came, all of them, and so from another file
        return after > before + 1 and all(ordinal in delivered for ordinal in range(before + 1, after))

    for block in order:
        for copy in copies[block.ordinal]:
            if copy.span and not covered(copy.span[2], copy.ordinal):
                damage(copy.suffix, *copy.span[:2])
        if block.ordinal in delivered:
            if block.ordinal > last + 1 and not block.span:
                damage(block.suffix, block.at, 0)  # I19
            last = block.ordinal
        if block.damage:
            damage(block.suffix, *block.damage)
        if block.ordinal in delivered:
            lines += block.records.lines
    for suffix, offset, length, before in torn_ends:
        if not covered(before, last + 1):
            damage(suffix, offset, length)
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ahr_reader.py FILE")
    print("".join(line + "\n" for line in dump(sys.argv[1])), end="")
