# SPDX-License-Identifier: MIT
"""runs.py -- what `ahr run` keeps, and a command that says just what a test wants it to.

    with Ahr(BINARY) as a, Voice(a, "--name", "x") as voice:
        voice.say(b"part ")
        voice.reads(b"part ")
        voice.complain(b"trouble\\n")
        assert voice.end() == 0
"""

import json
import os
import signal
import subprocess

from support.processes import children, command, wait_for
from support.run_folder import facts_of, io_of, lines_of, log_path, run_folder

SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"


def folder(a, name="RUN-001"):
    return run_folder(a.dir, name)


def io(a, name="RUN-001"):
    return io_of(folder(a, name))


def facts(a, name="RUN-001"):
    return facts_of(folder(a, name))


def log(a, number=1, name="RUN-001"):
    return log_path(folder(a, name), number).read_text()


def text_of(log_text):
    """What was shown, without the head."""
    return log_text.partition("---\n\n")[2]


def library(a, which="sessions"):
    """The folders of the library, oldest first."""
    root = a.dir / "home/.local/share/ahr" / which
    return sorted((p for p in root.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime_ns)


def turns(a, at=-1, which="sessions"):
    return lines_of(library(a, which)[at] / "session.turns.jsonl")


def tape(a, at=-1):
    return a.ok("cat", "--raw", library(a)[at] / "session.ahr")


def whole(entries):
    return [e for e in entries if not e.get("partial")]


# -- what claude says --

def claude(kind, **more):
    return json.dumps({"type": kind, **more, "session_id": "s1"}).encode() + b"\n"


def claude_begin(number=1):
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
    return (claude("stream_event", event={"type": "message_start", "message": message}) +
            claude("stream_event", event={"type": "content_block_start", "index": 0,
                                          "content_block": {"type": "text", "text": ""}}))


def claude_piece(text):
    return claude("stream_event", event={"type": "content_block_delta", "index": 0,
                                         "delta": {"type": "text_delta", "text": text}})


def claude_whole(text, number=1):
    return claude("assistant", message={"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m",
                                        "content": [{"type": "text", "text": text}]})


def claude_tool(name, arguments, number=9):
    return claude("assistant", message={"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m",
                                        "content": [{"type": "tool_use", "id": "t1", "name": name,
                                                     "input": arguments}]})


class Voice:
    """A run whose command says what it is told to; use as a context manager."""

    def __init__(self, a, *options, stdin=subprocess.DEVNULL, before="", **more):
        self.a = a
        for name in ("out", "err"):
            os.mkfifo(a.dir / name)
        script = f"{before} cat err >&2 & exec cat out"
        self.process = a.popen("run", *options, "--", "sh", "-c", script, stdin=stdin,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.out = open(a.dir / "out", "wb", buffering=0)
        self.err = open(a.dir / "err", "wb", buffering=0)
        self.shown = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.out.close()
        self.err.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def say(self, data):
        self.out.write(data)

    def complain(self, data):
        self.err.write(data)

    def reads(self, text):
        """Waits until that is what was shown, all of it."""
        while len(self.shown) < len(text) and (more := os.read(self.process.stdout.fileno(), 65536)):
            self.shown += more
        assert self.shown == text, self.shown

    def speaker(self):
        """The process that says it."""
        def found():
            return [pid for pid in children(self.process.pid) if command(pid) == "cat"]
        return wait_for(found)[0]

    def end(self):
        """It has said all; the exit status of the run."""
        self.out.close()
        self.err.close()
        return self.finish()

    def finish(self):
        rest, self.told = self.process.communicate()
        self.shown += rest
        return self.process.returncode

    def interrupt(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.finish()
