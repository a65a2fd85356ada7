# SPDX-License-Identifier: MIT
"""public_ipc.py -- a recorder's sockets, spoken to with plain bytes; nothing of ours helps.

    request   u32 length | selector | numbers ... | u32 offset of the text | text
    snapshot  len=13+n | 00 | u64 id | u32 12 | label
    reply     19000000 | 00 | u64 id | u64 anchor_byte | u64 ts_ns       or  len=1+n | 01 | text

    with Peer(path) as peer:
        done = peer.snapshot(7, "post-tool")
"""

import socket
import struct
from collections import namedtuple

SNAPSHOT, INSTRUCT, INPUT, RESIZE, SUBSCRIBE, STATUS, STOP, DETACH, AUTH, HANGUP, ANCHOR = \
    0, *range(16, 26)
SNAPSHOT_MANUAL = 27
DONE, REFUSED, TAKEN, STATE = 0, 1, 68, 75
NONE, NO_ROW = 2**64 - 1, 2**32 - 1
LABEL_MAX = 65535

Done = namedtuple("Done", "id anchor_byte ts_ns")


class Refused(Exception):
    """The recorder has said no, and why."""


class HungUp(Exception):
    """The recorder has closed the connection."""


def frame(selector, body=b""):
    return struct.pack("<IB", 1 + len(body), selector) + body


def snapshot(number, label=b"", selector=SNAPSHOT):
    label = label.encode() if isinstance(label, str) else label
    return frame(selector, struct.pack("<QI", number, 12) + label)


def instruct(text, anchor=NONE, snapshot_id=NONE, row=NO_ROW, typed=0):
    return frame(INSTRUCT, struct.pack("<QQIBI", anchor, snapshot_id, row, typed, 25) + text.encode())


def with_text(selector, data):
    """A message without numbers: Input, Auth."""
    return frame(selector, struct.pack("<I", 4) + data)


class Peer:
    """A connection to a path or to tcp:HOST:PORT."""

    def __init__(self, address, token=None, timeout=60):
        if str(address).startswith("tcp:"):
            host, _, port = str(address)[4:].rpartition(":")
            self.socket = socket.create_connection((host, int(port)), timeout)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            try:
                self.socket.connect(str(address))
            except OSError:
                self.socket.close()
                raise
        if token is not None:
            self.send(with_text(AUTH, token.encode()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # what it said before it hung up is still to be read

    def _read(self, size):
        data = b""
        while len(data) < size:
            try:
                more = self.socket.recv(size - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                raise HungUp(data)
            data += more
        return data

    def receive(self):
        """The next message: (selector, body)."""
        size = struct.unpack("<I", self._read(4))[0]
        assert 1 <= size <= 13 + LABEL_MAX, size
        data = self._read(size)
        return data[0], data[1:]

    def done(self):
        """The next message, which answers a request that was right."""
        selector, body = self.receive()
        if selector == REFUSED:
            raise Refused(body.decode())
        assert selector == DONE and len(body) == 24, (selector, body)
        return Done(*struct.unpack("<QQQ", body))

    def is_turned_away(self):
        """Waits for a refusal or the end of the connection; why, or None when it just ended."""
        try:
            selector, body = self.receive()
        except HungUp as left:
            assert not left.args[0], left
            return None
        assert selector == REFUSED, (selector, body)
        assert body.decode(), "a refusal without a reason"
        return body.decode()

    def ask(self, request):
        self.send(request)
        return self.done()

    def snapshot(self, number, label=b"", selector=SNAPSHOT):
        return self.ask(snapshot(number, label, selector))


def snap(address, number, label=b"", **more):
    """One snapshot by a connection of its own."""
    with Peer(address, **more) as peer:
        return peer.snapshot(number, label)
