# SPDX-License-Identifier: MIT
"""wire_kept.py -- session.wire.jsonl read by itself, and what a client has seen of a reply, to whatever byte.

    kept = wire_calls(folder / "session.wire.jsonl")   # by number
    kept[1].request, kept[1].events, kept[1].body, kept[1].end
    seen = Seen(raw)                                   # of a connection, all that came
"""

import base64
import json


class Call:
    def __init__(self, number):
        self.number = number
        self.headers, self.facts, self.status, self.end = {}, None, None, None
        self.pieces, self.has_request = {}, False
        self.events, self.held = {}, set()
        self.parts, self.has_body = {}, False

    @property
    def request(self):
        return b"".join(self.pieces[n] for n in sorted(self.pieces))

    @property
    def body(self):
        return b"".join(self.parts[n] for n in sorted(self.parts))

    def text(self):
        """Of all events."""
        return "".join(self.events[n] for n in sorted(self.events))


def bytes_of(line):
    return line["text"].encode() if "text" in line else base64.b64decode(line["base64"])


def wire_calls(path, may_be_torn=False):
    """What is there of each call; a line that is none is an error, but for the last one where that may be."""
    calls = {}
    *whole, rest = path.read_bytes().split(b"\n") if path.exists() else [b""]
    assert may_be_torn or not rest, rest[-300:]
    for raw in whole:
        line = json.loads(raw)
        number, kind = line["call"], line["type"]
        call = calls.setdefault(number, Call(number))
        assert call.end is None, ("a line behind the end", raw[:300])
        if kind == "request":
            assert call.facts is None, ("a number for two calls", raw[:300])
            call.facts = line
            call.headers = {n.lower(): v for n, v in line["headers"]}
        elif kind == "request_body":
            if "ops" in line:
                base = calls[line["base"]].request
                got = b"".join(base[op[0]:op[0] + op[1]] if isinstance(op, list) else op.encode() for op in line["ops"])
            else:
                got = bytes_of(line)
            call.pieces[line.get("piece", 0)] = got
            call.has_request |= line.get("last", False)
        elif kind == "reply":
            call.status = line["status"]
        elif kind == "event":
            call.events[line["event"]] = bytes_of(line).decode()
            (call.held.add if line.get("held") else call.held.discard)(line["event"])
        elif kind == "body":
            call.parts[line.get("piece", 0)] = bytes_of(line)
            call.has_body |= line.get("last", False)
        else:
            call.end = line
    for call in calls.values():
        assert call.facts, ("a call without its head", call.number)
        for numbers in (call.pieces, call.events, call.parts):
            assert sorted(numbers) == list(range(len(numbers))), (call.number, sorted(numbers))
    return calls


class Seen:
    """A reply as far as it has come."""

    def __init__(self, raw):
        head, mark, rest = bytes(raw).partition(b"\r\n\r\n")
        self.status, self.body, self.is_whole, self.size = None, b"", False, None
        if not mark:
            return
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        names = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
        self.size = int(names["content-length"]) if "content-length" in names else None
        if names.get("transfer-encoding") == "chunked":
            self.take_chunks(rest)
        else:
            self.body = rest
            self.is_whole = len(rest) == self.size

    def take_chunks(self, rest):
        parts = []
        while b"\r\n" in rest:
            size, _, rest = rest.partition(b"\r\n")
            n = int(size, 16)
            if not n:
                self.is_whole = rest == b"\r\n"
                break
            parts.append(rest[:n])
            rest = rest[n + 2:]
        self.body = b"".join(parts)
