# SPDX-License-Identifier: MIT
"""fake_recorder.py -- just enough of a recorder to see what a program inside of one says to it.

It reads the PTY until nothing is left before it answers: by that an anchor is exact.
"""

import os
import select
import socket
import struct

from support.on_pty import OnPty
from support.public_ipc import DONE, INSTRUCT, NONE, REFUSED, SNAPSHOT, frame

FIXED = {SNAPSHOT: "<QI", INSTRUCT: "<QQIBI"}


class FakeRecorder:
    def __init__(self, args, folder, refuse=None, cols=80, rows=24):
        self.refuse = refuse  # why every request is refused; None: none is
        self.requests = []  # (socket's name, selector, numbers, text, anchor)
        self._peers = {}  # socket: (its name, bytes)
        self._listeners = {}
        for name in ("ipc.sock", "ctl.sock"):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(folder / name))
            listener.listen()
            self._listeners[listener] = name
        self.pty = OnPty(args, cols, rows, env={**os.environ, "AHR_IPC": str(folder / "ipc.sock")})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for listener in self._listeners:
            os.unlink(listener.getsockname())
            listener.close()
        for peer in self._peers:
            peer.close()
        self.pty.__exit__()

    def serve(self):
        """Until the program's end; its exit status."""
        while True:
            ready = select.select([self.pty.master, *self._listeners, *self._peers], [], [])[0]
            if self.pty.master in ready and not self.pty.read():
                return self.pty.process.wait()
            for one in ready:
                if one in self._listeners:
                    self._peers[one.accept()[0]] = self._listeners[one], bytearray()
                elif one in self._peers:
                    self._hear(one)

    def _hear(self, peer):
        name, data = self._peers[peer]
        more = peer.recv(65536)
        if not more:
            peer.close()
            del self._peers[peer]
        data += more
        while len(data) >= 4 and len(data) >= 4 + (size := struct.unpack_from("<I", data)[0]):
            request = bytes(data[4:4 + size])
            del data[:4 + size]
            peer.sendall(self._answer(name, request[0], request[1:]))

    def _answer(self, name, selector, body):
        while select.select([self.pty.master], [], [], 0)[0] and self.pty.read():
            pass
        form = FIXED[selector]
        *numbers, offset = struct.unpack_from(form, body)
        assert offset == struct.calcsize(form), (selector, body)
        anchor = len(self.pty.bytes)
        self.requests.append((name, selector, numbers, body[offset:].decode(), anchor))
        if self.refuse is not None:
            return frame(REFUSED, self.refuse.encode())
        if selector == INSTRUCT:
            anchor = numbers[0] if numbers[0] != NONE else anchor
            return frame(DONE, struct.pack("<QQQ", len(self.requests), anchor, 1))
        return frame(DONE, struct.pack("<QQQ", numbers[0], anchor, 1))
