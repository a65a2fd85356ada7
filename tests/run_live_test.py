#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_live_test.py -- a run that goes on: watched, told something, stopped, marked. usage: run_live_test.py AHR"""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.on_pty import OnPty
from support.real_runs import Runs
from support.tap import run, test

AHR = sys.argv[1]


def on_terminal(a, *args):
    return OnPty([a.binary, *args], cwd=a.project, env=a.env)


def read_to(process, text):
    """Reads on until text has come; the end of its line comes with what follows it."""
    seen = b""
    while text not in seen:
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, (text, seen)
        seen += piece


@test
def it_is_listed_as_active_and_shown_with_what_can_be_done():
    with Runs(AHR) as a, a.live() as live:
        (one,) = a.json("list")
        assert (one["name"], one["status"], one["place"], one["kind"]) == ("RUN-001", "active", "live", "stream")
        assert a.facts()["status"] == "active"
        assert f"ahr send {one['id']} TEXT" in a.ok("show", "RUN-001").decode()
        assert live.end() == 0
        (one,) = a.json("list")
        assert (one["status"], one["place"]) == ("completed", "sessions")


@test
def a_watcher_on_a_pipe_sees_all_of_it_and_ends_with_it():
    with Runs(AHR) as a, a.live() as live:
        watcher = a.popen("watch", "RUN-001", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        read_to(watcher, b"up")
        live.say("more")
        read_to(watcher, b"got more")
        assert live.end() == 0
        out, err = watcher.communicate(timeout=60)
        assert watcher.returncode == 0, err
        assert b"completed" in err, err


@test
def ctrl_c_leaves_the_watch_and_harms_no_run():
    with Runs(AHR) as a, a.live() as live:
        with on_terminal(a, "watch", "RUN-001") as p:
            p.read_until(b"Ctrl-C leaves it")
            p.read_until(b"up")
            live.say("more")
            p.read_until(b"got more")
            os.write(p.master, b"\x03")
            assert p.finish() in (-signal.SIGINT, 130)
        live.say("again")
        assert live.until("got again")
        assert live.end() == 0


@test
def view_of_a_live_run_is_the_watch():
    with Runs(AHR) as a, a.live():
        with on_terminal(a, "view", "RUN-001") as p:
            p.read_until(b"up")
            os.write(p.master, b"\x03")
            p.finish()


@test
def attach_refuses_and_says_what_to_do():
    with Runs(AHR) as a, a.live():
        with on_terminal(a, "attach", "RUN-001") as p:
            assert p.finish() == 2
            said = bytes(p.bytes)
        assert b"ahr watch" in said, said
        assert b"ahr send" in said, said


@test
def a_line_is_sent_to_it():
    with Runs(AHR) as a, a.live() as live:
        a.ok("send", "RUN-001", "a line")
        assert live.until("got a line")
        assert live.end() == 0
        assert [e["content"] for e in a.io() if e["direction"] == "in"] == ["a line"]
        (id,) = [one["id"] for one in a.json("list")]
        assert "a line" in [e.get("text") for e in a.events(id) if e.get("role") == "user"]


@test
def stop_ends_it_as_aborted():
    with Runs(AHR) as a, a.live() as live:
        assert "has ended" in a.run("stop", "RUN-001").stderr.decode()
        assert live.process.wait() == 128 + signal.SIGTERM
        assert a.facts()["status"] == "aborted"
        assert "Interrupted: SIGTERM" in a.log()


@test
def an_instruction_is_noted():
    with Runs(AHR) as a, a.live() as live:
        a.ok("instruct", "RUN-001", "do it otherwise")
        assert live.end() == 0
        (one,) = a.json("list")
        assert one["instructions"] == 1
        assert "do it otherwise" in a.ok("export", "RUN-001", "--format", "md").decode()


@test
def a_snapshot_inside_of_it_is_refused_clearly():
    with Runs(AHR) as a, a.live() as live:
        live.say(f"do {a.binary} snapshot --label here; echo sta''tus $?")
        assert "is a run ('ahr run'), which takes no snapshots" in live.until("[stderr]")
        assert "status 3" in live.until("status")
        assert live.end() == 0


@test
def files_are_kept_from_inside_of_it_and_noted_as_its_own():
    with Runs(AHR) as a, a.live() as live:
        (a.project / "kept.txt").write_text("as it is\n")
        live.say(f"do {a.binary} fs snapshot --label here; echo sta''tus $?")
        assert "status 0" in live.until("status"), a.log()
        assert live.end() == 0
        (session,) = a.json("list")
        (taken,) = a.json("fs", "list")
        assert taken["label"] == "here", taken
        assert taken["session"] == session["id"], taken
        a.ok("fs", "restore", taken["commit"], "--into", a.dir / "back")
        assert (a.dir / "back/kept.txt").read_text() == "as it is\n"


@test
def what_would_change_it_is_refused_while_it_goes_on():
    with Runs(AHR) as a, a.live() as live:
        for command in (["delete", "--yes"], ["rename", "RUN-001", "other"]):
            said = a.fails(5, command[0], *(command[1:] if command[0] == "rename" else [*command[1:], "RUN-001"]))
            assert "ahr stop" in said, said
        assert "ahr stop" in a.fails(5, "redact", "RUN-001", "--text-file", "-", input=b"something\n")
        assert live.end() == 0


run()
