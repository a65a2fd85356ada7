#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_run_test.py -- secrets taken out of a run after the fact: out of the library, and out of its folder
in the project. usage: redact_run_test.py AHR

Secrets are made up here when the tests run; none stands in this file.
"""

import base64
import fcntl
import json
import os
import random
import string
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.run_folder import facts_of, io_of
from support.tap import run, test

AHR = sys.argv[1]
SECRET = "pass" + "".join(random.Random(os.getpid()).choices(string.ascii_letters, k=16))

# Says it in a message, a call, a result, on stderr, in bytes that are no text and in pieces; makes files.
SPEAKER = r"""
import json, os, sys, time
secret = os.environ["SAID"]
def logged():
    log = ".ahr/sessions/one/io.log"
    return os.path.exists(log) and os.path.getsize(log)
def tell(**event):
    print(json.dumps(event), flush=True)
def message(id, *blocks):
    tell(type="assistant", message={"id": id, "role": "assistant", "model": "mock-1", "content": list(blocks),
         "usage": {"input_tokens": 5, "output_tokens": 7}})
def delta(**event):
    tell(type="stream_event", event=event)
open("made-" + secret + ".txt", "w").write("in a file: " + secret + "\n")
open("made.bin", "wb").write(b"\xff\x00" + secret.encode() + b"\x00")
tell(type="system", subtype="init", session_id="agent-1", model="mock-1", cwd=os.getcwd())
message("m1", {"type": "text", "text": "it is " + secret + " here"})
delta(type="message_start", message={"id": "m2", "role": "assistant", "content": []})
delta(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
for piece in ("in pieces " + secret[:6], secret[6:12], secret[12:], " and on"):
    size, until = logged(), time.monotonic() + .5  # what may be a token waits for the next
    delta(type="content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    while logged() == size and time.monotonic() < until:
        time.sleep(.002)
message("m2", {"type": "text", "text": "in pieces " + secret + " and on"})
for name in ("made-" + secret + ".txt", "made.bin"):
    message("m3" + name[5], {"type": "tool_use", "id": "t" + name, "name": "Write",
            "input": {"file_path": name, "content": "as \"" + secret + "\""}})
    tell(type="user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t" + name,
         "content": "File created successfully: " + secret}]})
print("told: " + secret, file=sys.stderr, flush=True)
sys.stderr.buffer.write(b"\xff\xfe " + secret.encode() + b"\n")
sys.stderr.flush()
tell(type="result", subtype="success", is_error=False, result="done", num_turns=1, duration_ms=5,
     usage={"input_tokens": 5, "output_tokens": 7})
"""


class Runs(Ahr):
    """A project in which an agent has run that said its secret everywhere."""

    def __init__(self, secret=SECRET):
        super().__init__(AHR)
        self.secret = secret

    def __enter__(self):
        super().__enter__()
        self.speaker = self.dir / "home" / "speaker.py"
        self.speaker.write_text(SPEAKER)
        self.project = self.dir / "project"
        self.project.mkdir()
        self.speak()
        self.folder = self.project / ".ahr/sessions/one"
        return self

    def speak(self, *more):
        self.ok("run", "-q", "--dir", self.project, "--name", "one", "--task", "say " + self.secret,
                "--flush-ms", "10", "--agent", "claude", *more, "--", sys.executable, self.speaker,
                env={"SAID": self.secret})
        for made in self.project.glob("made*"):
            made.unlink()  # the user's own files are the user's

    def where(self):
        """What still has it, as it is or in base64, in names or bytes."""
        secret, found = self.secret.encode(), []
        coded = [base64.b64encode(b"\0" * i + secret)[i and 4:-4] for i in range(3)]
        for path in self.dir.rglob("*"):
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            if secret in bytes(path) or any(text in data for text in (secret, *coded)):
                found.append(str(path.relative_to(self.dir)))
        return found

    def redact(self, status=0, *more, text=None):
        done = self.run("redact", "one", "--text-file", "-", *more, cwd=self.project,
                        input=(text or self.secret).encode())
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def run(self, *args, cwd=None, **more):
        return subprocess.run([self.binary, *map(str, args)], input=more.pop("input", b""), capture_output=True,
                              cwd=cwd or self.dir, env={**self.env, **(more.pop("env", None) or {})}, **more)

    def io(self):
        return io_of(self.folder)

    def links(self):
        return json.loads((self.folder / "artifacts/links.json").read_text())


@test
def nothing_of_a_text_is_left_in_home_and_project():
    with Runs() as a:
        a.ok("index", "--all")
        names = {Path(p).name for p in a.where()}
        assert {"io.log", "metadata.json", "1.log", "links.json", "session.turns.jsonl"} <= names, names
        a.redact()
        assert a.where() == []
        assert json.loads(a.ok("search", "--json", a.secret)) == []
        for kind in ("json", "md", "events"):
            assert a.secret.encode() not in a.ok("export", "one", "--format", kind, "--no-redact", cwd=a.project)
        assert "nothing of it was found" in a.redact()[0]


@test
def journals_stay_what_they_are():
    with Runs() as a:
        log = a.folder / "iterations/1.log"
        before = log.read_bytes()[:512]
        said = [e for e in a.io() if not e.get("partial")]
        pieces = [e["content"] for e in a.io() if e.get("partial")]
        # A letter at the end of a piece that may begin a token waits for the next.
        assert any(SECRET[:4] in p and SECRET not in p for p in pieces), pieces
        a.redact()
        assert not [e for e in a.io() if SECRET[:4] in e.get("content", "")]
        assert log.read_bytes()[:512] == before
        after = [e for e in a.io() if not e.get("partial")]
        assert [(e["timestamp"], e["direction"], e.get("type")) for e in after] == \
            [(e["timestamp"], e["direction"], e.get("type")) for e in said]
        assert "it is [REDACTED:text] here" in [e.get("content") for e in after]
        assert "in pieces [REDACTED:text] and on" in [e.get("content") for e in after]
        (coded,) = [e for e in after if e.get("encoding") == "base64"]
        assert base64.b64decode(coded["content"]) == b"\xff\xfe [REDACTED:text]"
        facts = facts_of(a.folder)
        assert facts["task"] == "say [REDACTED:text]"
        assert facts["status"] == "completed"
        text, binary = a.links()
        copy = a.folder / "artifacts" / text["copy"]
        assert copy.read_bytes() == b"in a file: " + b"*" * len(SECRET) + b"\n"
        assert copy.stat().st_size == text["bytes"]
        assert (a.folder / "artifacts" / binary["copy"]).read_bytes() == b"\xff\0" + b"*" * len(SECRET) + b"\0"
        for path in a.folder.rglob("*"):
            assert path.stat().st_mode & 0o77 == 0, path
        listed = json.loads(a.ok("artifact", "list", "--json", "--session", "one", cwd=a.project))
        assert [x["copy"] for x in listed] == [text["copy"], binary["copy"]], listed


@test
def a_second_run_of_the_name_is_cleaned_with_it():
    with Runs() as a:
        sessions = a.dir / "home/.local/share/ahr/sessions"
        (first,) = os.listdir(sessions)
        a.speak()
        assert f"another session of this run, {first}, was not looked into: 'ahr redact {first} …'" in a.redact()[1]
        left = {Path(p).parts for p in a.where()}
        assert {parts[0] for parts in left} == {"home"} and any(first in parts for parts in left), left
        assert len(a.io()) > 20
        a.ok("redact", first, "--text-file", "-", input=SECRET.encode())
        assert a.where() == []


@test
def all_other_sessions_of_the_name_are_named():
    with Runs() as a:
        sessions = a.dir / "home/.local/share/ahr/sessions"
        a.speak()
        others = sorted(os.listdir(sessions))
        a.ok("run", "-q", "--dir", a.project, "--name", "two", "--", "true")
        a.speak()
        said = a.redact()[1]
        assert "2 other sessions of this run were not looked into" in said, said
        assert all(id in said for id in others), (said, others)
        assert said.count("\n") == 1, said


@test
def a_rule_finds_it_too():
    secret = "acme_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=32))
    with Runs(secret) as a:
        own = a.dir / "home/.config/ahr"
        own.mkdir(parents=True)
        (own / "redact").write_text("rule acme-token\nkeywords acme_\npattern acme_[A-Za-z0-9]{32}\n"
                                    "about Access token\n")
        assert a.where()
        a.ok("redact", "one", "--rule", "acme-token", cwd=a.project)
        assert a.where() == []


@test
def a_folder_at_work_is_refused_and_nothing_is_changed():
    with Runs() as a:
        before = a.where()
        fd = os.open(a.folder, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        _, why = a.redact(5)
        assert str(a.folder) in why, why
        assert a.where() == before
        os.close(fd)
        a.redact()
        assert a.where() == []


@test
def what_cannot_be_cleaned_is_named():
    with Runs() as a:
        aside = a.dir / "aside"
        aside.write_text(SECRET)
        (a.folder / "iterations/9.log").symlink_to(aside)
        (a.folder / "elsewhere").symlink_to(a.dir)
        os.mkfifo(a.folder / "pipe")
        _, said = a.redact(4)
        assert "iterations/9.log' was not masked: it is a link" in said, said
        assert "elsewhere' was not masked" in said, said
        assert aside.read_text() == SECRET
        assert a.where() == ["aside"]


@test
def a_folder_behind_a_link_is_not_touched():
    with Runs() as a:
        aside = a.dir / "aside"
        (a.project / ".ahr").rename(aside)
        (a.project / ".ahr").symlink_to(aside)
        before = a.where()
        session = next((a.dir / "home/.local/share/ahr/sessions").iterdir()).name
        done = a.run("redact", session, "--text-file", "-", input=SECRET.encode())
        assert done.returncode == 1, done
        assert b"through a link" in done.stderr, done
        assert a.where() == before


@test
def a_folder_that_is_gone_is_said():
    with Runs() as a:
        a.folder.rename(a.dir / "moved")
        session = next((a.dir / "home/.local/share/ahr/sessions").iterdir()).name
        done = a.run("redact", session, "--text-file", "-", input=SECRET.encode())
        assert done.returncode == 0, done
        assert str(a.folder).encode() in done.stderr, done
        assert all(p.startswith("moved") for p in a.where()), a.where()


run()
