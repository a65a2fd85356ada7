# SPDX-License-Identifier: MIT
"""nobody.py -- another user, and the sockets at which he listens. It needs root."""

import json
import os
import select
import socket

from support.tap import Skip

NOBODY = 65534


def as_nobody(folder, action):
    """What action() gives as another user, in that folder; JSON, and a descriptor if it gives one."""
    if os.geteuid():
        raise Skip("becoming another user needs root")
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            told, fds = action()
        except BaseException as why:
            told, fds = repr(why), []
        socket.send_fds(theirs, [json.dumps(told).encode()], fds)
        os._exit(0)
    theirs.close()
    with ours:
        data, fds, _, _ = socket.recv_fds(ours, 65536, 1)
    os.waitpid(pid, 0)
    return json.loads(data), fds


def nobodys_socket(folder, name):
    """A socket in this folder at which another user listens."""
    def listen():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(name)
        os.chmod(name, 0o777)
        listener.listen()
        return "ok", [listener.detach()]

    told, fds = as_nobody(folder, listen)
    assert told == "ok", told
    return socket.socket(fileno=fds[0])


def was_told(listener):
    """What those have sent who came to this listener."""
    heard = b""
    listener.setblocking(False)
    while select.select([listener], [], [], 0)[0]:
        with listener.accept()[0] as peer:
            peer.settimeout(60)
            heard += peer.recv(65536)
    return heard


def nobodys_folder(path, mode=0o755):
    path.mkdir()
    os.chmod(path, mode)
    os.chown(path, NOBODY, NOBODY)
    return path
