#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""artifact_test.py -- ahr artifact: files of a run, noted from inside of it and from elsewhere.
usage: artifact_test.py AHR"""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.sessions import session_id
from support.tap import run, test

AHR = sys.argv[1]
ID = session_id("2026-05-28", "a")
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1b2C"


class Project(Ahr):
    """A project with one run in it, called one."""

    def __enter__(self):
        super().__enter__()
        self.run_dir = self.dir / ".ahr/sessions/one"
        self.run_dir.mkdir(parents=True)
        self.write_metadata({"session_id": "one", "status": "completed", "artifacts_produced": [],
                             "pid": None, "exit_code": 0, "id": ID, "theirs": {"kept": [1, 2]}})
        self.around = {"AHR_SESSION": ID, "AHR_RUN_DIR": str(self.run_dir)}
        return self

    def run(self, *args, cwd=None, env=None, **more):
        return subprocess.run([self.binary, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=cwd or self.dir, env={**self.env, **(env or {})}, **more)

    def write_metadata(self, members):
        (self.run_dir / "metadata.json").write_text(json.dumps(members))

    def metadata(self):
        return json.loads((self.run_dir / "metadata.json").read_text())

    def lines(self):
        return [json.loads(line) for line in (self.run_dir / "io.log").read_text().splitlines()]

    def links(self):
        return json.loads((self.run_dir / "artifacts/links.json").read_text())


@test
def a_file_is_noted_in_all_places():
    with Project(AHR) as p:
        (p.dir / "docs").mkdir()
        (p.dir / "docs/a.md").write_text("first\n")
        p.ok("artifact", "add", "docs/a.md", env=p.around)
        (line,) = p.lines()
        assert list(line) == ["timestamp", "direction", "path", "action"]
        assert line["direction"] == "artifact"
        assert (line["path"], line["action"]) == ("docs/a.md", "created")
        assert p.metadata()["artifacts_produced"] == ["docs/a.md"]
        assert p.metadata()["theirs"] == {"kept": [1, 2]}
        assert (p.run_dir / "artifacts/0001-a.md").read_text() == "first\n"
        for path in p.run_dir.rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600) or \
                path.name == "metadata.json", path


@test
def what_happened_is_found_out():
    with Project(AHR) as p:
        path = p.dir / "a"
        path.write_text("1")
        p.ok("artifact", "add", "a", "--session", "one")
        path.write_text("2")
        p.ok("artifact", "add", "a", "--session", "one")
        path.unlink()
        p.ok("artifact", "add", "a", "--session", "one")
        assert [line["action"] for line in p.lines()] == ["created", "modified", "deleted"]
        assert p.metadata()["artifacts_produced"] == ["a"]
        assert [link["copy"] for link in p.links()] == ["0001-a", "0002-a", None]


@test
def secrets_are_masked_in_copies():
    with Project(AHR) as p:
        (p.dir / "conf").write_text(f"token = {SECRET}\n")
        (p.dir / "binary").write_bytes(b"\0\1\2\xff" + SECRET.encode() + b"\0")
        (p.dir / "image").write_bytes(b"\x89PNG\0\xff\xfe")
        p.ok("artifact", "add", "conf", "binary", "image", "--session", "one")
        conf, binary, image = p.links()
        assert conf["redacted"]
        assert binary["copy"] is None
        assert "secret" in binary["why"]
        assert (p.run_dir / "artifacts" / image["copy"]).read_bytes() == b"\x89PNG\0\xff\xfe"
        for path in p.run_dir.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@test
def the_list_is_told_as_text_and_json():
    with Project(AHR) as p:
        assert json.loads(p.ok("artifact", "list", "--json", "--session", "one")) == []
        (p.dir / "a\x1b[31m").write_text("x")
        p.ok("artifact", "add", "a\x1b[31m", "--session", "one")
        text = p.ok("artifact", "list", "--session", "one")
        assert b"created" in text
        assert b"\x1b" not in text
        (entry,) = json.loads(p.ok("artifact", "list", "--json", env=p.around))
        assert entry["path"] == "a\x1b[31m"
        assert entry["bytes"] == 1
        (p.dir / "a\x1b[31m").unlink()
        p.ok("artifact", "add", "a\x1b[31m", "--action", "deleted", "--session", "one")
        _, gone = json.loads(p.ok("artifact", "list", "--json", env=p.around))
        assert (gone["copy"], gone["bytes"]) == (None, None), gone


@test
def what_is_missing_is_told():
    with Project(AHR) as p:
        assert "no such file" in p.fails(3, "artifact", "add", "none", "--session", "one")
        assert "'two'" in p.fails(3, "artifact", "add", "x", "--session", "two")
        assert "no run around" in p.fails(2, "artifact", "add", "x")
        assert "no file given" in p.fails(2, "artifact", "add", "--session", "one")
        p.fails(2, "artifact", "add", ".ahr/sessions/one/io.log", "--session", "one")
        assert not (p.run_dir / "io.log").exists()


@test
def an_id_is_found_by_the_library():
    with Project(AHR) as p:
        p.ok("record", "-q", "--name", "called", "--", "true")
        (session,) = (p.dir / "home/.local/share/ahr/sessions").glob("*/*.ahr")
        (session.parent / "project").write_text(f"{p.run_dir}\n")
        (p.dir / "a").write_text("x")
        for what in (session.parent.name, "called"):
            p.ok("artifact", "add", p.dir / "a", "--session", what, cwd="/")
            *_, entry = json.loads(p.ok("artifact", "list", "--json", "--session", what, cwd="/"))
            assert entry["path"] == "a"
        assert p.metadata()["artifacts_produced"] == ["a"]
        (session.parent / "project").unlink()
        assert "is no run" in p.fails(3, "artifact", "list", "--session", "called", cwd="/")


@test
def a_run_is_found_as_log_finds_it():
    with Project(AHR) as p:
        (p.run_dir / "iterations").mkdir()
        (p.run_dir / "iterations/1.log").write_text("")
        (p.dir / "a").write_text("x")
        (p.dir / "deep").mkdir()
        p.ok("artifact", "add", "a", "--session", "last")
        for args in ((), ("--session", "last"), ("--session", ".ahr/sessions/one"), ("--session", p.run_dir)):
            (entry,) = json.loads(p.ok("artifact", "list", "--json", *args))
            assert entry["path"] == "a"
        (entry,) = json.loads(p.ok("artifact", "list", "--json", cwd=p.dir / "deep"))
        assert entry["path"] == "a"
        # Inside of a recording there is no run around.
        inside = {"AHR_SESSION": ID}
        assert len(json.loads(p.ok("artifact", "list", "--json", env=inside))) == 1
        assert "no run around" in p.fails(2, "artifact", "add", "a", env=inside)
        assert "no run" in p.fails(2, "artifact", "list", "--session", "./a")
        assert "no run in" in p.fails(3, "artifact", "list", "--session", "./deep")


@test
def many_at_once_lose_nothing():
    with Project(AHR) as p:
        count = 24
        for i in range(count):
            (p.dir / f"f{i}").write_text(str(i))
        started = [p.popen("artifact", "add", f"f{i}", "--session", "one") for i in range(count)]
        assert [done.wait() for done in started] == [0] * count
        names = sorted(f"f{i}" for i in range(count))
        assert sorted(p.metadata()["artifacts_produced"]) == names
        assert sorted(line["path"] for line in p.lines()) == names
        for link in p.links():
            assert (p.run_dir / "artifacts" / link["copy"]).read_text() == link["path"][1:]


@test
def links_in_the_runs_folder_are_not_written_through():
    with Project(AHR) as p:
        (p.dir / "precious").write_text("mine")
        (p.dir / "a").write_text("x")
        os.symlink(p.dir / "precious", p.run_dir / "io.log")
        p.fails(1, "artifact", "add", "a", "--session", "one")
        (p.run_dir / "io.log").unlink()
        (p.run_dir / "metadata.json").rename(p.dir / "elsewhere")
        os.symlink(p.dir / "elsewhere", p.run_dir / "metadata.json")
        before = (p.dir / "elsewhere").read_text()
        p.fails(1, "artifact", "add", "a", "--session", "one")
        assert (p.dir / "elsewhere").read_text() == before
        assert (p.dir / "precious").read_text() == "mine"


run()
