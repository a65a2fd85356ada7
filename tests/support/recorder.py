# SPDX-License-Identifier: MIT
"""recorder.py -- `ahr record` in a private home: its processes, its sessions, its terminals.

    with Recorder(AHR) as a:
        t = a.terminal()
        client = a.on(t, "record", "--", "cat")

At the end of the block no process may be left of all that was started in it.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from struct import unpack_from

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ahr_reader
from support.ahr import Ahr
from support.processes import (children, describe, is_gone, kill, open_files, wait_for,
                               with_home)
from support.terminal import Shell, Terminal, plain_signals

IS_SANITIZED = "--sanitized" in sys.argv
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))


class Recorder(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = self.dir / "ahr"
        self.env.update(AHR_HOME=str(self.home), TERM="xterm-256color", LANG="C.UTF-8",
                        SHELL="/bin/sh", TMUX_TMPDIR=str(self.dir))
        for name in ("TMUX", "COLORTERM", "LESS", "ENV", "BASH_ENV", "PROMPT_COMMAND"):
            self.env.pop(name, None)
        self._terminals = []
        self._hosts = set()
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.nobody_is_left()
        finally:
            for pid in self.processes():
                kill(pid)
            for terminal in self._terminals:
                terminal.hang_up()
            wait_for(lambda: not self.processes())
            super().__exit__()

    def has_recorded(self):
        """What is only said to who records for the first time is not said."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / ".secrets-told").touch(mode=0o600)

    # -- processes --

    def processes(self):
        return sorted({*with_home(self.env["HOME"]), *(h for h in self._hosts if not is_gone(h))})

    def nobody_is_left(self):
        wait_for(lambda: not self.processes(),
                 lambda: f"left behind: {describe(self.processes())}", 20)

    def host(self, client):
        """The host's pid: the client's only child."""
        host = wait_for(lambda: children(client), f"{client} has no host")[0]
        self._hosts.add(host)
        return host

    def live_host(self):
        """The host's pid, whoever has started it: it alone has the lock open."""
        lock = str(self.live() / "lock")
        host = wait_for(lambda: [p for p in self.processes() if lock in open_files(p)],
                        "there is no host")[0]
        self._hosts.add(host)
        return host

    def agent(self, host):
        """The pid of the recorded program, once it runs."""
        def running():
            for pid in children(host):
                try:
                    if os.readlink(f"/proc/{pid}/exe") != self.binary:
                        return pid
                except OSError:
                    pass
            return None
        return wait_for(running, f"{host} has no agent")

    # -- starting things --

    def terminal(self, *args, kind=Terminal, **more):
        self._terminals.append(kind(*args, **more))
        return self._terminals[-1]

    def on(self, terminal, *args, env=None, **more):
        """The program with these arguments on a terminal."""
        return terminal.start([self.binary, *args], cwd=self.dir, env={**self.env, **(env or {})},
                              **more)

    def shell(self, terminal, kind):
        return Shell(terminal, kind, {**self.env, "AHR": self.binary}, self.dir)

    def start(self, *args, **more):
        """The program without a terminal, in a session of its own."""
        more = {"stdin": subprocess.DEVNULL, "preexec_fn": plain_signals, **more}
        return self.popen(*args, start_new_session=True, **more)

    def line(self, line, **more):
        """A shell's line to its end; $AHR is the program."""
        more = {"stdin": subprocess.DEVNULL, "timeout": 120, **more}
        return subprocess.run(["sh", "-c", line], cwd=self.dir, capture_output=True,
                              env={**self.env, "AHR": self.binary}, preexec_fn=plain_signals,
                              **more)

    def log(self, name="stderr"):
        """A file for the program's messages."""
        return open(self.dir / name, "ab")

    def said(self, name="stderr"):
        return (self.dir / name).read_text()

    # -- sessions --

    def names(self, where):
        """What lies in live/ or sessions/."""
        folder = self.home / where
        return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []

    def session(self):
        """The folder of the one session there is, finished."""
        assert self.names("live") == [], self.names("live")
        name, = self.names("sessions")
        return self.home / "sessions" / name

    def live(self):
        """The folder of the one session that is being recorded."""
        return self.home / "live" / wait_for(
            lambda: [n for n in self.names("live") if not n.startswith(".")])[0]

    def meta(self, folder=None):
        return json.loads(((folder or self.session()) / "session.meta.json").read_text())

    def recorded_size(self):
        return len(self.run("cat", "last").stdout)

    def stands_still(self, least):
        """Waits until the recording has this size and has not grown for a while: whatever lies
        between the agent and its reader is full. Returns the size."""
        size, since = 0, 0

        def stands():
            nonlocal size, since
            if (now := self.recorded_size()) != size:
                size, since = now, time.monotonic()
            return size >= least and time.monotonic() > since + 0.1

        wait_for(stands, lambda: f"the recording does not stand still: {size} bytes")
        return size

    def shows_the_end(self, terminal, cols=80, rows=24):
        """The terminal's screen is what the recording ends with; returns it."""
        want = self.ok("render", "--format", "ansi", "last")
        have = self.ok("render", "--format", "ansi", "--cols", cols, "--rows", rows, "-",
                       input=terminal.settle())
        assert have == want, (have, want)
        return want

    def ends(self, client, status):
        """Waits for the program's end."""
        have = client.wait(60)
        assert have == status, f"exit status {have}, not {status}"


# What a client sends to a terminal whose program was cut off: sequences that calm it, no text.
CALMING = re.compile(rb"\x18(?:\x1b\\|\x1b[78>=]|\x1b\[[?<]?[0-9;]*[A-Za-z])*")


def without_calming(shown):
    """What a terminal was shown, without such an end."""
    text, calm, rest = shown.partition(b"\x18")
    assert not calm or CALMING.fullmatch(calm + rest), calm + rest
    return text


def records(path):
    """Every record of a sealed recording as (name, fields…), the text last where there is one:
    ("input", b"ls\\r"), ("resize", 80, 24), ("mark", 2, 0), ("data", 0, b"…")."""
    file = Path(path).read_bytes()
    at, found = 0, []
    while at < len(file):
        head = ahr_reader.header_at(file, at)
        assert head, f"no block at {at} of {path}"
        block = ahr_reader.unpack(file[at + 44:at + 44 + head.packed], head.size)
        found += _parse(block)
        at += 44 + head.packed
    return found


def _parse(block):
    forms = {0: ("data", "<QI", 24), 1: ("resize", "<HH", 16), 2: ("input", "<I", 16),
             3: ("mark", "<II", 20), 4: ("snapshot", "<QQH", 30)}
    at, found = 0, []
    while at < len(block):
        name, form, size = forms[block[at]]
        fields = unpack_from(form, block, at + 12)
        at += size
        if name in ("data", "input", "snapshot"):
            length = fields[-1]
            fields = (*fields[:-1], block[at:at + length])
            at += length
        found.append((name, *fields))
    return found


class Tended(Recorder):
    """One in whose home work goes on in the background."""

    def __enter__(self):
        super().__enter__()
        del self.env["AHR_UPKEEP"]
        return self
