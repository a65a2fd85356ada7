# SPDX-License-Identifier: MIT
"""locked.py -- sessions to be encrypted, in which a text stands wherever it can; and what is there of them,
byte for byte.

    with Locked(AHR) as a:
        a.record()                      # a terminal session
        a.run_agent()                   # a run with artifacts and two iterations
        before = a.files()
        a.encrypt(a.id())
"""

import os
import random
import string
import subprocess
import sys
from pathlib import Path

from support.ahr import Ahr

PLANTED = "planted" + "".join(random.Random(os.getpid()).choices(string.ascii_letters, k=16))

# Says it in a message, a call and on stderr, and makes files.
SPEAKER = r"""
import json, os, sys
said = os.environ["SAID"]
def tell(**event):
    print(json.dumps(event), flush=True)
def message(id, *blocks):
    tell(type="assistant", message={"id": id, "role": "assistant", "model": "mock-1", "content": list(blocks),
         "usage": {"input_tokens": 5, "output_tokens": 7}})
open("made-" + said + ".txt", "w").write("in a file: " + said + "\n")
open("made.bin", "wb").write(b"\xff\x00" + said.encode() + bytes(200000))
tell(type="system", subtype="init", session_id="agent-1", model="mock-1", cwd=os.getcwd())
message("m1", {"type": "text", "text": "it is " + said + " here"})
for name in ("made-" + said + ".txt", "made.bin"):
    message("m2" + name[5], {"type": "tool_use", "id": "t" + name, "name": "Write",
            "input": {"file_path": name, "content": "as \"" + said + "\""}})
    tell(type="user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t" + name,
         "content": "File created successfully: " + said}]})
print("told: " + said, file=sys.stderr, flush=True)
tell(type="result", subtype="success", is_error=False, result="done", num_turns=1, duration_ms=5,
     usage={"input_tokens": 5, "output_tokens": 7})
"""


def look(root, but=()):
    """Each file and folder below it: bytes, mode, and the time of its last change."""
    found = {}
    for path in sorted(root.rglob("*")):
        name, st = str(path.relative_to(root)), path.lstat()
        if name.split("/")[-1] in but:
            continue
        assert not path.is_symlink(), path
        found[name] = (path.read_bytes() if path.is_file() else None, oct(st.st_mode),
                       st.st_mtime_ns if path.is_file() else 0)
    return found


class Locked(Ahr):
    def __enter__(self):
        super().__enter__()
        self.env["AHR_UPKEEP"] = "off"
        self.library = self.dir / "home" / ".local" / "share" / "ahr"
        self.sessions = self.library / "sessions"
        self.project = self.dir / "project"
        self.project.mkdir()
        self.folder = self.project / ".ahr/sessions/one"
        self.key = self.dir / "key"
        self.key.write_bytes(bytes(range(32)))
        return self

    # -- what there is --

    def record(self, name="term", text=PLANTED):
        self.ok("record", "-q", "--name", name, "--task", "say " + text, "--", "sh", "-c",
                f"echo begin {text}; seq 500; echo end")
        return self.newest()

    def run_agent(self, name="one", text=PLANTED, *more):
        speaker = self.dir / "home" / "speaker.py"
        speaker.write_text(SPEAKER)
        self.ok("run", "-q", "--dir", self.project, "--name", name, "--task", "say " + text, "--agent", "claude",
                "--iterations", "2", *more, "--", sys.executable, speaker, env={"SAID": text})
        for made in self.project.glob("made*"):
            made.unlink()  # the user's own files are the user's
        return self.newest()

    def newest(self):
        return max(self.sessions.iterdir(), key=lambda p: p.stat().st_mtime_ns).name

    def run(self, *args, cwd=None, env=None, input=b"", **more):
        return subprocess.run([self.binary, *map(str, args)], input=input, capture_output=True,
                              cwd=cwd or self.project, env={**self.env, **(env or {})}, **more)

    def files(self):
        """All that must come back."""
        return (look(self.sessions, but=("keyframes", "lock")), look(self.project))

    def where(self, text=PLANTED):
        """What still has it, in names or bytes."""
        found = []
        for root in (self.dir / "home", self.project):
            for path in root.rglob("*"):
                if path.name == "speaker.py":
                    continue
                if text.encode() in bytes(path) or (path.is_file() and text.encode() in path.read_bytes()):
                    found.append(str(path.relative_to(self.dir)))
        return found

    # -- what is done to it --

    def work(self, what, *args, status=0, env=None, input=b""):
        keys = () if any(str(a).startswith("--") and "-file" in str(a) for a in args) else ("--key-file", self.key)
        done = self.run(what, *args, *keys, env=env, input=input)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def encrypt(self, *args, **more):
        return self.work("encrypt", *args, **more)

    def decrypt(self, *args, **more):
        return self.work("decrypt", *args, **more)

    def vault(self, sid):
        return self.sessions / sid / "session.vault"

    def is_locked(self, sid):
        """Its folder holds a vault, what tells nothing of it, and no more; nothing is left beside it."""
        assert sorted(p.name for p in (self.sessions / sid).iterdir()) == ["session.meta.json", "session.vault"]
        assert all(not p.name.startswith(".") for p in self.sessions.iterdir())
        assert oct(self.vault(sid).stat().st_mode)[-3:] == "600"
