#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_artifact_test.py -- files that an agent's tools write, in a real run: noted, listed, copied.

usage: run_artifact_test.py AHR STREAM_AGENT
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.mounts import mounted, own_mounts
from support.real_runs import Runs
from support.tap import run, test

own_mounts()
AHR, AGENT = sys.argv[1], str(Path(sys.argv[2]).resolve())
SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"

# Does what each line of its input says: {"do": shell, "tool": name, "input": arguments, "says": result}.
TOOLS = r"""
import json, os, subprocess, sys
def tell(**event):
    print(json.dumps(event), flush=True)
tell(type="system", subtype="init", session_id="s", model="m", cwd=os.getcwd())
for i, step in enumerate(json.loads(os.environ["STEPS"])):
    tell(type="assistant", message={"id": f"m{i}", "role": "assistant", "content": [
        {"type": "tool_use", "id": f"t{i}", "name": step["tool"], "input": step["input"]}]})
    # The call is seen before the file changes, as with an agent that asks first.
    sys.stdout.flush()
    import time
    time.sleep(.05)
    subprocess.run(["sh", "-c", step.get("do", "")], check=True)
    tell(type="user", message={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"t{i}", "content": step.get("says", "ok"),
         "is_error": step.get("failed", False)}]})
    time.sleep(.05)
"""


def write(path, do, **more):
    return {"tool": "Write", "input": {"file_path": path, "content": "x"}, "do": do, **more}


def work(a, *steps):
    (a.dir / "tools.py").write_text(TOOLS)
    a.ok("run", "-q", "--agent", "claude", "--", sys.executable, a.dir / "tools.py",
         env={"STEPS": json.dumps(steps)})


def told(a):
    return [(e["path"], e["action"]) for e in a.io() if e["direction"] == "artifact"]


def copy(a, link):
    return (a.folder() / "artifacts" / link["copy"]).read_bytes()


@test
def a_file_is_copied_each_time_it_changes():
    with Runs(AHR) as a:
        work(a, write("a.txt", "echo one > a.txt"),
             {"tool": "Edit", "input": {"file_path": "a.txt", "old_string": "one", "new_string": "two"},
              "do": "echo two > a.txt"},
             {"tool": "apply_patch", "input": {"input": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"},
              "do": "rm a.txt"})
        assert told(a) == [("a.txt", "created"), ("a.txt", "modified"), ("a.txt", "deleted")]
        one, two, gone = a.links()
        assert (copy(a, one), copy(a, two)) == (b"one\n", b"two\n")
        assert (gone["action"], gone["copy"]) == ("deleted", None)
        assert a.facts()["artifacts_produced"] == ["a.txt"]
        assert [e["change"] for e in a.events() if e["type"] == "artifact"] == ["created", "modified", "deleted"]


@test
def the_mock_agents_files_are_all_there():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "18", "--write", str(a.project))
        assert {path for path, _ in told(a)} == {"file-0", "file-1", "file-2"}
        assert sorted(a.facts()["artifacts_produced"]) == ["file-0", "file-1", "file-2"]


@test
def odd_files_are_noted_without_a_copy_and_why():
    with Runs(AHR) as a:
        outside = a.dir / "outside.txt"
        work(a, write(str(outside), f"echo out > {outside}"),
             write("link", f"ln -s {outside} link"), write("pipe", "mkfifo pipe"), write("dir", "mkdir dir"),
             write("big", "truncate -s 20M big"), write("gone", "true"),
             write("denied", "true", failed=True))
        links = {link["path"]: link for link in a.links()}
        assert copy(a, links[str(outside)]) == b"out\n"
        assert "link" in links["link"]["why"]
        assert "no plain file" in links["pipe"]["why"]
        assert "no plain file" in links["dir"]["why"]
        assert "8 MiB" in links["big"]["why"]
        assert "no such file" in links["gone"]["why"]
        assert "denied" not in links
        assert all(links[name]["copy"] is None for name in ("link", "pipe", "dir", "big", "gone"))


@test
def a_secret_is_masked_in_the_copy():
    with Runs(AHR) as a:
        work(a, write("keys", f"echo token {SECRET} > keys"))
        (link,) = a.links()
        assert link["redacted"] is True
        assert SECRET.encode() not in copy(a, link)
        assert (a.project / "keys").read_text() == f"token {SECRET}\n"


@test
def artifact_add_says_when_there_is_no_copy():
    with Runs(AHR) as a:
        work(a, write("a", "echo x > a"))
        (a.project / "big").write_bytes(b"\0" * (9 << 20))
        done = a.run("artifact", "add", "--session", "RUN-001", "big", "a")
        assert done.returncode == 0, done
        assert b"'big' was noted without a copy: it is larger than 8 MiB" in done.stderr, done
        assert b"'a'" not in done.stderr, done
        assert b"copy" not in a.run("artifact", "add", "--session", "RUN-001", "a").stderr


@test
def a_full_disk_costs_the_copy_and_nothing_else():
    with Runs(AHR) as a, mounted(a.dir / "small", "-t", "tmpfs", "-o", "size=1m", "none"):
        a.project = a.dir / "small"
        source = a.dir / "source"
        source.write_bytes(os.urandom(2 << 20))
        work(a, write(str(source), "true"))
        (link,) = a.links()
        assert link["copy"] is None
        assert "disk is full" in link["why"], link
        assert told(a) == [(str(source), "modified")]
        assert a.facts()["status"] == "completed"


run()
