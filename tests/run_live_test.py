#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_live_test.py -- a run that goes on: watched, told something, stopped, marked. usage: run_live_test.py AHR"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.on_pty import OnPty
from support.processes import wait_for
from support.real_runs import Runs
from support.tap import run, test

AHR = sys.argv[1]


def on_terminal(a, *args):
    return OnPty([a.binary, *args], cwd=a.project, env=a.env)


def on_terminal_shell(a, script):
    return OnPty(["bash", "-c", script], cwd=a.project, env=a.env)


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
def keys_leave_the_watch_and_harm_no_run():
    with Runs(AHR) as a, a.live() as live:
        for key in (b"q", b"d", b"\x03", b"xyz\r q"):
            with on_terminal(a, "watch", "RUN-001") as p:
                p.read_until(b"q leaves it")
                p.read_until(b"up")
                live.say("more")
                p.read_until(b"got more")
                wait_for(lambda: p.state() != p.first_state, "no key is waited for")
                os.write(p.master, key)
                assert p.finish() == 0
                assert p.bytes.endswith(b"\r\nahr watch: RUN-001 goes on\r\n"), p.bytes
                assert b"xyz" not in p.bytes  # nothing is echoed
                assert p.state() == p.first_state
        live.say("again")
        assert live.until("got again")
        assert live.end() == 0


@test
def a_watch_gives_the_terminal_back_however_it_ends():
    with Runs(AHR) as a, a.live() as live:
        for signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, 0):
            with on_terminal(a, "watch", "RUN-001") as p:
                p.read_until(b"up")
                wait_for(lambda: p.state() != p.first_state, "no key is waited for")
                if signo:
                    p.process.send_signal(signo)
                    assert p.finish() == (-signo if signo == signal.SIGKILL else 128 + signo)
                else:
                    assert live.end() == 0
                    assert p.finish() == 0
                wait_for(lambda: p.state() == p.first_state, "the terminal stays as it was made")


@test
def a_watch_can_be_left_while_the_terminal_stands_still():
    with Runs(AHR) as a, a.live(script="echo up; yes") as live:
        with on_terminal(a, "watch", "RUN-001") as p:
            p.read_until(b"up")
            os.write(p.master, b"\x13")  # Ctrl-S
            os.write(p.master, b"q")
            p.process.wait()
            assert p.state() == p.first_state
        live.process.kill()


@test
def a_watch_that_is_suspended_gives_the_terminal_back_meanwhile():
    with Runs(AHR) as a, a.live() as live:
        script = f'set -m; "{a.binary}" watch RUN-001; echo sta""tus $?; stty -a | grep -q " icanon" && echo as it w""as; fg; echo en""ded $?'
        with on_terminal_shell(a, script) as p:
            p.read_until(b"up")
            os.write(p.master, b"\x1a")  # Ctrl-Z
            p.read_until(b"as it was")
            live.say("more")
            p.read_until(b"got more")
            os.write(p.master, b"q")
            p.read_until(b"ended 0")
            p.finish()


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
        assert b"'ahr watch RUN-001'" in said, said
        assert b"'ahr send RUN-001 TEXT'" in said, said


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
def keys_are_refused_with_what_to_do():
    with Runs(AHR) as a, a.live() as live:
        for more in ((), ("text",)):
            said = a.fails(2, "send", "RUN-001", *more, "--key", "Escape")
            assert "'ahr send RUN-001 TEXT'" in said, said
            assert "'ahr stop RUN-001'" in said, said
        assert live.end() == 0
        assert [e for e in a.io() if e["direction"] == "in"] == []


@test
def a_text_without_enter_waits_for_the_rest_of_its_line():
    with Runs(AHR) as a, a.live() as live:
        said = a.run("send", "RUN-001", "half ", "--no-enter").stderr.decode()
        assert "'ahr send RUN-001 REST'" in said, said
        assert a.run("send", "RUN-001", "a line").stderr == b""
        assert live.until("got half a line")
        assert a.run("send", "RUN-001", "whole\n", "--no-enter").stderr == b""
        assert live.until("got whole")
        assert live.end() == 0
        assert [e["content"] for e in a.io() if e["direction"] == "in"] == ["half a line", "whole"]


@test
def what_is_said_names_what_was_typed():
    with Runs(AHR) as a, a.live() as live:
        (id,) = [one["id"] for one in a.json("list")]
        said = [a.fails(5, "delete", "--yes", "RUN-001"), a.fails(5, "rename", "RUN-001", "other"),
                a.fails(5, "redact", "RUN-001", "--text-file", "-", input=b"something\n"),
                a.run("stop", "RUN-001").stderr.decode()]
        for text in said:
            assert "RUN-001" in text, said
            assert id not in text, said
        live.process.wait()


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
def an_instruction_at_a_place_that_is_not_there_is_refused():
    with Runs(AHR) as a, a.live() as live:
        assert "byte 99999 has not been written yet" in a.fails(1, "instruct", "RUN-001", "--at", "@99999", "x")
        assert "12345 is neither a snapshot of it nor a byte" in a.fails(1, "instruct", "RUN-001", "--at", "12345", "x")
        for at in ("2", "@1"):
            done = json.loads(a.ok("instruct", "RUN-001", "--at", at, "at " + at))
            assert done["anchor_byte"] == int(at.strip("@")), done
        assert live.end() == 0
        (one,) = a.json("list")
        assert one["instructions"] == 2, one


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
