#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_hostile_test.py -- agents and projects that mean harm to `ahr run`.

usage: run_hostile_test.py AHR_BINARY; prints TAP.
"""

import json
import os
import signal
import subprocess
import sys

from support.ahr import Ahr
from support.processes import wait_for
from support.tap import run, test

BINARY = sys.argv[1]
SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/"}


def say(a, *lines, options=(), **more):
    """What ahr shows of an agent that says this; bytes, or objects for lines of JSON."""
    said = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                    for line in lines)
    (a.dir / "in").mkdir(exist_ok=True)
    (a.dir / "in" / "said").write_bytes(said)
    return a.ok("run", "-v", *options, "--", "cat", "in/said", **more)


def assert_nowhere(a, shown, secret=SECRET, least=10):
    """No `least` bytes of the secret in a row, in a file, in a file's name, or shown."""
    parts = [secret[i:i + least].encode() for i in range(4, len(secret) - least + 1)]
    for folder, folders, files in os.walk(a.dir):
        if folder == str(a.dir / "in"):
            continue
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                kept = file.read() + os.fsencode(path)
            assert not any(part in kept for part in parts), path
    assert not any(part in shown for part in parts), shown[-500:]


@test
def a_secret_is_masked_in_each_field():
    def tool(**more):
        return {"type": "assistant", "parent_tool_use_id": more.pop("parent", None), "message": {
            "id": more.pop("message", "m1"),
            "content": [{"type": "tool_use", "id": "t1", "name": "X", "input": {}, **more}]}}
    with Ahr(BINARY) as a:
        shown = say(
            a, INIT, {**INIT, "session_id": SECRET}, {**INIT, "model": SECRET},
            {**INIT, "cwd": "/" + SECRET}, tool(id=SECRET), tool(name=SECRET),
            tool(input={SECRET: 1}), tool(parent=SECRET), tool(message=SECRET),
            tool(name="Write", input={"file_path": "/tmp/" + SECRET}),
            {"type": "user", "message": {"content": [{
                "type": "tool_result", "tool_use_id": SECRET, "content": SECRET}]}},
            {"type": SECRET}, {"type": "system", "subtype": SECRET},
            {"type": "result", "subtype": SECRET, "result": SECRET})
        shown += say(a, INIT, tool(id=SECRET), options=["--json"])
        assert_nowhere(a, shown)


@test
def no_stump_of_a_secret_is_left_where_a_line_is_cut():
    with Ahr(BINARY) as a:
        shown = b""
        for before in (160, 170, 180):  # 200 bytes of a malformed line are told
            shown += say(a, INIT, b"{" + b"x" * before + b" " + SECRET.encode() + b" end\n")
        shown += say(a, INIT, b'{"type":"assistant","message":{"te":"' + SECRET[:30].encode())
        for before in (10, 20, 30):  # of the end of 1 MiB
            shown += say(a, b"x" * ((1 << 20) - before) + b" " + SECRET.encode() + b" end\n")
        assert_nowhere(a, shown)


@test
def a_long_line_keeps_all_its_bytes():
    with Ahr(BINARY) as a:
        said = b"a" * ((1 << 20) - 1) + b"\r" + b"b" * 100
        say(a, said + b"\nnext\n")
        events = [json.loads(line) for line in say(a, said + b"\nnext\n", options=["--json"])
                  .splitlines()]
        texts = [e["text"] for e in events if e["type"] == "text"]
        assert "".join(texts[:-1]).encode() == said
        assert texts[-1] == "next"


@test
def text_before_the_first_event_is_told_once():
    with Ahr(BINARY) as a:
        script = "printf 'hello '; sleep .3; cat said"
        (a.dir / "said").write_text(json.dumps(INIT) + "\n")
        assert a.ok("run", "-q", "--", "sh", "-c", script) == b"hello \n[session] s model=m\n"
        shown = a.ok("run", "-q", "--json", "--", "sh", "-c", script)
        assert shown.count(b"hello") == 1


@test
def what_a_command_says_last_is_kept_while_nobody_reads():
    with Ahr(BINARY) as a:
        (a.dir / "said.py").write_text(
            "import os, pathlib, sys, time\n"
            "os.write(1, b'x' * 99 + b'\\n')\n"
            "for _ in range(23): os.write(1, b'x' * 49999 + b'\\n')\n"
            "time.sleep(1)\n"  # all is read, and more waits to be shown than may wait
            "os.write(1, b'the end\\n')\n"
            "pathlib.Path('ended').touch()\n")
        child = a.popen("run", "-q", "--", sys.executable, "said.py", stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for((a.dir / "ended").exists)
        try:
            child.wait(1.5)  # long enough to be taken for a process that holds the output
        except subprocess.TimeoutExpired:
            pass
        shown, said = child.communicate()
        assert shown.endswith(b"the end\n"), shown[-20:]
        assert said == b""


@test
def a_process_left_behind_that_never_stops_talking_is_left():
    with Ahr(BINARY) as a:
        script = f"timeout 60 yes {'x' * 4000} & echo $! >pid; exit 5"
        done = a.run("run", "-q", "--no-echo", "--", "sh", "-c", script, timeout=40)
        os.kill(int((a.dir / "pid").read_text()), signal.SIGKILL)
        assert done.returncode == 5
        assert b"still holds its output" in done.stderr


@test
def nothing_in_the_project_is_written_through_or_waited_for():
    calls = [INIT, {"type": "assistant", "message": {"id": "m", "content": [{
        "type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "made"}}]}},
             {"type": "user", "message": {"content": [{
                 "type": "tool_result", "tool_use_id": "t", "content": "done"}]}}]
    kinds = {"link": lambda p, victim: p.symlink_to(victim), "pipe": lambda p, _: os.mkfifo(p),
             "folder": lambda p, _: p.mkdir(), "garbage": lambda p, _: p.write_bytes(b"\xff{" * 99)}
    run_files = ["", "io.log", "metadata.json", "metadata.json.lock", "artifacts",
                 "artifacts/links.json", "iterations", "iterations/1.log"]
    places = [".ahr", ".ahr/.gitignore", ".ahr/sessions", ".ahr/sessions/.counter"] + [
        f".ahr/sessions/X/{name}" for name in run_files]
    with Ahr(BINARY) as a:
        victim, text = a.dir / "victim", "precious\n"
        victim.write_text(text)
        (a.dir / "said").write_text("".join(json.dumps(call) + "\n" for call in calls))
        for number, (place, kind) in enumerate((p, k) for p in places for k in kinds):
            project = a.dir / str(number)
            path = project / place
            path.parent.mkdir(parents=True)
            kinds[kind](path, victim)
            done = a.run("run", "--name", "X", "--dir", project, "--", "sh", "-c",
                         "echo x >made; cat ../said; exit 7", timeout=30)
            assert done.returncode == 7, (place, kind, done.stderr)
            assert victim.read_text() == text, (place, kind)


run()
