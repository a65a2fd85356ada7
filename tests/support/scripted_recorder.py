# SPDX-License-Identifier: MIT
"""scripted_recorder.py -- something that listens where a recorder would, and does as it is told.

    with ScriptedRecorder(path, {INPUT: taken}) as fake:
        ...
        fake.heard      # [(selector, body), ...] of all connections, in order

An answer is a function from a request's body to what is sent back: bytes, or None to hang up. What
has no answer is met with silence. Speaks by doc/ipc.md alone.
"""

import socket
import struct
import threading

SNAPSHOT, INSTRUCT, INPUT, SUBSCRIBE, STOP, AUTH, ANCHOR, SNAPSHOT_MANUAL = 0, 16, 17, 19, 21, 23, 25, 27
DONE, REFUSED, TAKEN, SKIPPED, JOINED, STAGE = 0, 1, 68, 70, 71, 72


def frame(selector, body=b""):
    return struct.pack("<IB", 1 + len(body), selector) + body


def done(number, anchor, ts_ns):
    return frame(DONE, struct.pack("<QQQ", number, anchor, ts_ns))


def refused(text):
    return frame(REFUSED, text.encode())


def typed(body):
    """The bytes of an Input."""
    assert struct.unpack_from("<I", body)[0] == 4
    return body[4:]


def taken(body):
    return frame(TAKEN, struct.pack("<I", len(typed(body))))


def no_picture(_):
    return (frame(JOINED, struct.pack("<IQHHQQ", 2, 9, 80, 24, 1, 1))
            + frame(STAGE, struct.pack("<HHIQ", 80, 24, 0, 0))
            + frame(SKIPPED, struct.pack("<QHH", 9, 80, 24)))


class ScriptedRecorder:
    def __init__(self, path, answers):
        """path: of a socket; None: a port of loopback."""
        if path:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self.address = str(path)
        else:
            self._listener = socket.socket()
            self._listener.bind(("127.0.0.1", 0))
            self.address = "tcp:127.0.0.1:%d" % self._listener.getsockname()[1]
        self._listener.listen(16)
        self.answers = answers
        self.heard = []
        self._peers = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    @property
    def typed(self):
        """What was typed, piece by piece."""
        return [typed(body) for selector, body in self.heard if selector == INPUT]

    @property
    def connections(self):
        """How many there were."""
        return len(self._peers)

    def hang_up(self):
        """On all that are there."""
        for peer in self._peers:
            peer.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        while True:
            try:
                peer = self._listener.accept()[0]
            except OSError:
                return
            self._peers.append(peer)
            self._threads.append(threading.Thread(target=self._serve, args=[peer]))
            self._threads[-1].start()

    def _serve(self, peer):
        with peer, peer.makefile("rb") as stream:
            while len(head := stream.read(4)) == 4:
                request = stream.read(struct.unpack("<I", head)[0])
                self.heard.append((request[0], request[1:]))
                answer = self.answers.get(request[0], lambda _: b"")(request[1:])
                if answer is None:
                    return
                peer.sendall(answer)
