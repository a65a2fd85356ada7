# SPDX-License-Identifier: MIT
"""terminal.py -- a user's terminal: a PTY whose screen side a thread reads.

    t = Terminal(cols=80, rows=24)
    client = t.start(["ahr", "record", "--", "bash"], stderr=log)
    t.wait_for(b"$ ")
    t.type("ls\r")

The program is the leader of a session that has the terminal, as in a terminal's window; Shell puts
an interactive shell with job control between them. The other side of the PTY stays open here, so
that its settings can be looked at whoever has it.
"""

import fcntl
import os
import resource
import select
import signal
import struct
import subprocess
import termios
import threading
import time

from support.processes import PATIENCE, children, command, wait_for

READ_SIZE = 1 << 16


def set_size(fd, cols, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def plain_signals():
    """Between fork and exec: whoever runs the tests may ignore some, as `nohup` and `&` do."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE,
                   signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Terminal:
    def __init__(self, cols=80, rows=24):
        self.master, self.slave = os.openpty()
        set_size(self.slave, cols, rows)
        self.output = bytearray()  # all that was ever shown
        self._mark = 0  # where the next wait begins
        self._news = threading.Condition()
        self._is_reading, self._is_open = True, True
        self._waker, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    # -- the thread --

    def _read(self):
        poll = select.poll()
        poll.register(self._waker, select.POLLIN)
        poll.register(self.master, select.POLLIN)
        while self._is_open:
            poll.modify(self.master, select.POLLIN if self._is_reading else 0)
            ready = [fd for fd, _ in poll.poll()]
            if self._waker in ready:
                os.read(self._waker, 1)
            elif self._is_reading:
                more = os.read(self.master, READ_SIZE)
                with self._news:
                    self.output += more
                    self._news.notify_all()
                self.heard(more)

    def heard(self, more):
        """What was just shown; for those who answer. On the thread."""

    def _poke(self):
        os.write(self._wake, b"x")

    def pause(self):
        """Stops reading, as a terminal that hangs."""
        self._is_reading = False
        self._poke()

    def resume(self):
        self._is_reading = True
        self._poke()

    # -- what a user does --

    def start(self, argv, stdin=None, stdout=None, stderr=None, **more):
        """Starts a program as leader of a session that has this terminal, which is also its 0, 1
        and 2 where nothing else is given."""
        slave = self.slave

        def lead():
            plain_signals()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        return subprocess.Popen(argv, stdin=slave if stdin is None else stdin,
                                stdout=slave if stdout is None else stdout,
                                stderr=slave if stderr is None else stderr,
                                start_new_session=True, preexec_fn=lead, **more)

    def type(self, text):
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self.master, data):]

    def wait_for(self, what, seconds=PATIENCE):
        """Waits until `what` is shown after all that was waited for before, and returns what was
        shown up to its end."""
        what = what.encode() if isinstance(what, str) else what
        deadline = time.monotonic() + seconds
        with self._news:
            start = self._mark
            while (at := self.output.find(what, start)) < 0:
                start = max(self._mark, len(self.output) - len(what) + 1)
                left = deadline - time.monotonic()
                assert left > 0 and self._news.wait(left), \
                    f"{what} was not shown, but: {bytes(self.output[self._mark:][-2000:])}"
            since, self._mark = self._mark, at + len(what)
            return bytes(self.output[since:self._mark])

    def skip(self):
        """What was shown so far is not waited for any more."""
        with self._news:
            self._mark = len(self.output)

    def settle(self):
        """All that was written to the terminal until now, read. For when nobody writes to it."""
        end = b"\0end of %d\0" % time.monotonic_ns()
        os.write(self.slave, end)
        with self._news:
            assert self._news.wait_for(lambda: self.output.endswith(end), PATIENCE)
            del self.output[-len(end):]
            return bytes(self.output)

    def resize(self, cols, rows):
        """As a window is: the kernel tells whoever is in the foreground."""
        set_size(self.master, cols, rows)

    def stty(self):
        """The settings, as `stty -g` shows them."""
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.stty()[3] & (termios.ICANON | termios.ECHO)

    def hang_up(self):
        """The window is closed."""
        if not self._is_open:
            return
        self._is_open = False
        self._poke()
        self._thread.join()
        for fd in (self.master, self.slave, self._waker, self._wake):
            os.close(fd)


class Shell:
    """An interactive shell with job control on a terminal.

    dash leaves the terminal's settings alone, so that they show what a program did; bash puts
    back what a killed job left."""

    PROMPT = "@@ "
    ARGV = {"dash": ["dash", "-i"], "bash": ["bash", "--norc", "--noprofile", "-i"]}

    def __init__(self, terminal, kind, env, cwd):
        self.terminal, self.cwd = terminal, cwd
        self.process = terminal.start(self.ARGV[kind], cwd=cwd, env={
            **env, "PS1": self.PROMPT, "INPUTRC": "/dev/null", "HISTFILE": ""})
        terminal.wait_for(self.PROMPT)

    @property
    def pid(self):
        return self.process.pid

    def type(self, line):
        self.terminal.type(line + "\r")

    def run(self, line):
        """Runs a command line to its end; what was shown meanwhile."""
        self.type(line)
        return self.terminal.wait_for(self.PROMPT)

    def job(self, name):
        """The process of this name that the shell has started."""
        return wait_for(lambda: next((pid for pid in children(self.pid) if command(pid) == name),
                                     None), f"the shell has started no {name}")

    def leave(self):
        self.type("exit 0")
        return self.process.wait(PATIENCE)
