#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_test.py -- `ahr run` as a user meets it.

usage: run_test.py AHR_BINARY; prints TAP.
"""

import json
import signal
import subprocess
import sys
import time

from support.ahr import Ahr
from support.processes import wait_for
from support.tap import run, test

BINARY = sys.argv[1]
SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"


def project(a, name="RUN-001"):
    return a.dir / ".ahr" / "sessions" / name


def io(a, name="RUN-001"):
    return [json.loads(line) for line in (project(a, name) / "io.log").read_text().splitlines()]


def facts(a, name="RUN-001"):
    return json.loads((project(a, name) / "metadata.json").read_text())


def log(a, number=1, name="RUN-001"):
    return (project(a, name) / "iterations" / f"{number}.log").read_text()


def sh(a, script, *options, **more):
    return a.run("run", *options, "--", "sh", "-c", script, **more)


@test
def text_is_shown_and_kept_in_order():
    with Ahr(BINARY) as a:
        done = sh(a, "echo one; echo two; exit 3", "-q")
        assert done.returncode == 3
        assert done.stdout == b"one\ntwo\n"
        assert done.stderr == b""
        assert [e["content"] for e in io(a)][:2] == ["one", "two"]
        assert log(a).endswith("---\n\none\ntwo\n"), log(a)
        assert facts(a)["status"] == "failed"
        assert facts(a)["exit_code"] == 3


@test
def metadata_has_what_the_seed_names():
    with Ahr(BINARY) as a:
        (a.dir / "a.md").touch()
        inner = f"{a.binary} run -q --role DEVELOPER -- true"
        sh(a, inner, "-q", "--name", "MANAGER-main", "--task", "all of it", "--context-file", "a.md")
        sh(a, "true", "-q", "--parent", "MANAGER-main", "--role", "ARCHITECT")
        manager = facts(a, "MANAGER-main")
        assert list(manager)[:11] == [
            "session_id", "role", "status", "created_at", "completed_at", "parent_session", "task",
            "context_files", "artifacts_produced", "pid", "exit_code"], manager
        assert manager["session_id"] == "MANAGER-main"
        assert manager["task"] == "all of it"
        assert manager["context_files"] == ["a.md"]
        assert manager["parent_session"] is None
        assert manager["pid"] > 1
        assert manager["pid_start"] > 0
        assert facts(a, "DEV-001")["parent_session"] == "MANAGER-main"
        assert facts(a, "ARCH-002")["parent_session"] == "MANAGER-main"


@test
def stderr_stands_where_it_came():
    with Ahr(BINARY) as a:
        done = sh(a, "echo a; sleep .02; echo b >&2; sleep .02; echo c", "-q")
        assert done.stdout == b"a\n[stderr] b\nc\n"
        assert [e.get("stream") for e in io(a)][:3] == [None, "stderr", None]


@test
def iterations_end_with_the_text_that_is_waited_for():
    with Ahr(BINARY) as a:
        done = sh(a, "echo at {n}; test {n} = 1 || echo ENOUGH", "--iterations", "5",
                  "--until", "ENOUGH", "-q")
        assert done.stdout == b"at 1\nat 2\nENOUGH\n"
        assert "at 1" in log(a, 1)
        assert "at 2" in log(a, 2)
        assert not (project(a) / "iterations" / "3.log").exists()


@test
def iterations_end_with_a_failure():
    with Ahr(BINARY) as a:
        assert sh(a, "exit {n}", "--iterations", "5").returncode == 1
        assert facts(a)["iterations"] == 1


@test
def a_second_run_of_a_name_goes_on_in_its_folder():
    with Ahr(BINARY) as a:
        sh(a, "echo first", "--name", "again")
        sh(a, "echo second", "--name", "again")
        assert "first" in log(a, 1, "again")
        assert "second" in log(a, 2, "again")


@test
def a_name_that_is_running_is_busy():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--name", "busy", "--", "sh", "-c", "echo up; read x",
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        assert "'ahr stop busy' ends it" in a.fails(5, "run", "--name", "busy", "--", "true")
        child.communicate(b"x\n")
        assert child.returncode == 0


@test
def a_command_that_is_not_there_is_named():
    with Ahr(BINARY) as a:
        assert "nosuchcommand" in a.fails(127, "run", "--", "nosuchcommand")
        assert "Status: crashed" in log(a)


@test
def a_context_file_that_is_not_there_is_named():
    with Ahr(BINARY) as a:
        assert "'nosuch.md'" in a.fails(3, "run", "--context-file", "nosuch.md", "--", "true")
        (a.dir / "seen.md").write_text("x")
        a.ok("run", "--context-file", "seen.md", "--", "true")
        assert facts(a)["context_files"] == ["seen.md"]


@test
def the_first_run_of_a_project_warns_before_it_begins():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--", "echo", "begun", stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT)
        first = child.communicate()[0].decode()
        assert "may be secrets" in first, first
        assert first.index("may be secrets") < first.index("begun"), first
        assert "may be secrets" not in sh(a, "true").stderr.decode()


@test
def a_line_that_nothing_follows_yet_is_watched_whole():
    """A reader of lines, as grep, would wait for it for ever."""
    with Ahr(BINARY) as a:
        script = "echo up; read x; printf half; read y"
        child = a.popen("run", "--name", "up", "--", "sh", "-c", script,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        follower = a.popen("log", "-f", "up", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in follower.stdout:
            if line == b"up\n":
                break
        child.stdin.write(b"x\n")
        child.stdin.flush()
        shown = b""
        while not shown.endswith(b"half"):
            more = child.stdout.read(1)
            assert more, shown
            shown += more
        child.communicate(b"y\n")
        assert b"half\n" in follower.communicate()[0]


@test
def a_follower_that_nobody_reads_any_more_ends():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--name", "up", "--", "sh", "-c", "echo up; read x",
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        follower = a.popen("watch", "up", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        follower.stdout.readline()
        follower.stdout.close()
        assert follower.wait(20) != 0
        assert child.poll() is None
        child.communicate(b"x\n")


@test
def what_is_piped_in_is_the_users_turn():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--json", "--", "cat", input=b"hello\n")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(e["type"], e.get("role")) for e in events] == [
            ("text", "user"), ("text", "assistant"), ("exit", None)]
        assert io(a)[0]["direction"] == "in"


@test
def nothing_is_shown_without_an_echo():
    with Ahr(BINARY) as a:
        assert sh(a, "echo hidden", "--no-echo", "-q").stdout == b""
        assert "hidden" in log(a)


@test
def secrets_are_masked_everywhere():
    with Ahr(BINARY) as a:
        (a.dir / "s").write_text(f"token {SECRET}\n")
        half = f"printf 'token {SECRET[:20]}'; sleep .3; cat t"
        (a.dir / "t").write_text(SECRET[20:] + "\n")
        done = sh(a, f"cat s; cat s >&2; {half}", "-q")
        assert done.stdout.count(b"[REDACTED:github-pat]") == 3, done.stdout
        kept = [p for p in a.dir.rglob("*") if p.is_file() and p.name not in ("s", "t")]
        for path in kept:
            assert SECRET.encode() not in path.read_bytes(), path


@test
def a_piece_of_a_line_is_shown_once():
    with Ahr(BINARY) as a:
        done = sh(a, "printf 'part '; sleep .3; echo whole", "-q")
        assert done.stdout == b"part whole\n"
        assert [e.get("partial") for e in io(a)][:2] == [True, None]
        assert log(a).endswith("\n\npart whole\n")


@test
def an_interrupted_run_is_aborted():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--", "sh", "-c", "echo up; exec sleep 60",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        child.send_signal(signal.SIGINT)
        child.communicate()
        assert child.returncode == 130
        assert facts(a)["status"] == "aborted"
        assert "Interrupted: SIGINT" in log(a)


@test
def an_interrupted_run_has_no_further_iteration():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--iterations", "3", "--", "sh", "-c",
                        "trap 'exit 0' INT; echo up; while :; do sleep .05; done",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        child.send_signal(signal.SIGINT)
        assert b"up" not in child.communicate()[0]
        assert child.returncode == 0
        assert facts(a)["status"] == "aborted"
        assert facts(a)["iterations"] == 1


@test
def a_second_signal_ends_what_the_first_does_not():
    with Ahr(BINARY) as a:
        child = a.popen("run", "--", "sh", "-c",
                        "trap 'echo int' INT; trap 'echo term' TERM; echo up; "
                        "while :; do sleep .05; done",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL)
        wanted = [(b"up\n", signal.SIGINT), (b"int\n", signal.SIGINT), (b"term\n", None)]
        for line, signo in wanted:
            while (said := child.stdout.readline()) != line:
                assert said.startswith(b"[stderr]"), said
            time.sleep(0.25)  # two within a moment are one request
            if signo:
                child.send_signal(signo)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=4)  # SIGKILL comes now, not after its time of grace
        assert child.returncode == 137
        assert facts(a)["signal"] == "INT"


@test
def a_signal_that_is_ignored_stays_ignored():
    with Ahr(BINARY) as a:
        child = a.popen("run", "-q", "--", "sh", "-c", "echo up; read x; echo $x",
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        assert child.stdout.readline() == b"up\n"
        child.send_signal(signal.SIGHUP)
        assert child.communicate(b"still here\n")[0].endswith(b"still here\n")
        assert child.returncode == 0
        assert facts(a)["status"] == "completed"


@test
def facts_are_written_as_they_change():
    with Ahr(BINARY) as a:
        (a.dir / "s").write_text('{"type":"system","subtype":"init","session_id":"s","model":"m"}\n')
        child = a.popen("run", "-q", "--", "sh", "-c", "cat s; read x", stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"[session] s model=m\n"
        wait_for(lambda: facts(a)["model"] == "m")
        assert facts(a)["status"] == "active"
        child.communicate(b"\n")
        assert facts(a)["status"] == "completed"


@test
def what_goes_in_is_on_disk_before_the_command_has_it():
    with Ahr(BINARY) as a:
        done = sh(a, "read x; cat .ahr/sessions/RUN-001/io.log", "-q", input=b"hello\n")
        assert b'"direction":"in","content":"hello"' in done.stdout, done.stdout


@test
def the_command_knows_its_run_and_not_the_one_around():
    with Ahr(BINARY) as a:
        done = sh(a, "echo $AHR_SESSION $AHR_RUN_DIR ${AHR_IPC-none}", "-q",
                  env={"AHR_SESSION": "another", "AHR_IPC": "/another"})
        assert done.stdout.decode().split() == [facts(a)["id"], str(project(a)), "none"]


@test
def a_recording_inside_of_a_run_is_no_run():
    with Ahr(BINARY) as a:
        done = sh(a, f"{a.binary} record -q -- sh -c 'echo run: ${{AHR_RUN_DIR-none}}' </dev/null", "-q")
        assert b"run: none" in done.stdout, done


@test
def the_last_line_needs_no_newline():
    with Ahr(BINARY) as a:
        done = sh(a, "printf 'no end'; printf 'none either' >&2", "-q")
        assert b"no end\n" in done.stdout
        assert b"[stderr] none either\n" in done.stdout
        assert "no end\n" in log(a)
        assert "[stderr] none either\n" in log(a)


@test
def a_prompt_in_the_arguments_is_the_first_turn():
    with Ahr(BINARY) as a:
        agent = a.dir / "claude"
        agent.write_text("#!/bin/sh\necho '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n")
        agent.chmod(0o755)
        a.run("run", "-q", "--", agent, "-p", "do it", "--output-format", "stream-json")
        assert io(a)[0]["direction"] == "in"
        assert io(a)[0]["content"] == "do it"


@test
def output_that_others_hold_open_is_not_waited_for():
    with Ahr(BINARY) as a:
        done = sh(a, "sleep 5 & echo hi", timeout=4)
        assert done.stdout == b"hi\n"
        assert b"still holds its output" in done.stderr


run()
