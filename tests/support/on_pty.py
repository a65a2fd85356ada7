# SPDX-License-Identifier: MIT
"""on_pty.py -- a program on a PTY whose other end is read only when asked.

So the program cannot run ahead: it is held up as soon as some kilobytes wait here.
"""

import errno
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

from support.processes import PATIENCE
from support.terminal import plain_signals

CHUNK = 65536


def begin():
    """Between fork and exec."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    plain_signals()


class OnPty:
    """Runs a program as the leader of a session whose terminal this is; a context manager."""

    def __init__(self, args, cols=80, rows=24, **more):
        self.master, slave = pty.openpty()
        self.resize(cols, rows)
        self.first_state = self.state()
        self.bytes = bytearray()  # all that has come out so far
        self.process = subprocess.Popen(
            [str(a) for a in args], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=begin, **more)
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.hang_up()

    def resize(self, cols, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def state(self):
        return termios.tcgetattr(self.master)  # of both ends

    def hang_up(self):
        if self.master is not None:
            os.close(self.master)
            self.master = None

    def read(self, most=CHUNK):
        """What has come out next; b"" when no process has the terminal open any more."""
        can_read, _, _ = select.select([self.master], [], [], PATIENCE)
        assert can_read, ("nothing comes any more", self.bytes[-2000:])
        try:
            data = os.read(self.master, most)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self.bytes += data
        return data

    def read_until(self, text, start=0):
        """Reads on until text has come out behind byte `start`; where it begins."""
        while (at := self.bytes.find(text, start)) < 0:
            assert self.read(4096), (text, self.bytes[start:][-2000:])
        return at

    def finish(self):
        """Reads to the end; the exit status, -N for a signal."""
        while self.read():
            pass
        return self.process.wait()
