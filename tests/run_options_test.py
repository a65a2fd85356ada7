#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_options_test.py -- iterations and options of `ahr run`, and the facts it keeps while it runs.

usage: run_options_test.py AHR_BINARY STREAM_AGENT; prints TAP.
"""

import json
import sys
from pathlib import Path

from support.ahr import Ahr
from support.processes import stat, wait_for
from support.run_folder import facts_of, run_folder
from support.runs import (SECRET, Voice, claude, claude_begin, claude_piece, claude_tool, claude_whole, facts, folder, io, library,
                          log, text_of, turns)
from support.tap import run, test

BINARY, AGENT = (str(Path(p).resolve()) for p in sys.argv[1:3])
MOST_KIB = 100_000 if "--sanitized" in sys.argv else 2_000


def sh(a, script, *options, **more):
    return a.run("run", "-q", *options, "--", "sh", "-c", script, **more)


def iterations(a, name="RUN-001"):
    return sorted(int(p.stem) for p in (folder(a, name) / "iterations").iterdir())


# -- iterations --

@test
def a_failure_ends_the_iterations_with_its_status():
    with Ahr(BINARY) as a:
        done = sh(a, "echo {n}; test {n} != 3 || exit 9", "--iterations", "5")
        assert done.returncode == 9
        assert done.stdout == b"1\n2\n3\n"
        assert iterations(a) == [1, 2, 3]
        assert ["Exit Code: 0" in log(a, n) for n in (1, 2, 3)] == [True, True, False]
        assert "Status: completed" in log(a, 3)
        assert "Exit Code: 9" in log(a, 3)
        assert facts(a)["status"] == "failed"
        assert [e["iteration"] for e in io(a)] == [1, 1, 2, 2, 3, 3]


@test
def each_log_tells_how_its_iteration_ended():
    with Ahr(BINARY) as a:
        assert sh(a, "test {n} != 2 || kill -9 $$", "--iterations", "3").returncode == 137
        assert "Status: completed" in log(a, 1)
        assert "Status: crashed" in log(a, 2)
        assert "Interrupted: SIGKILL" in log(a, 2)
        assert iterations(a) == [1, 2]


@test
def numbers_go_on_in_a_second_run():
    with Ahr(BINARY) as a:
        assert sh(a, "echo at {n}", "--name", "x", "--iterations", "2").stdout == b"at 1\nat 2\n"
        assert sh(a, "echo at {n}", "--name", "x", "--iterations", "2").stdout == b"at 3\nat 4\n"
        assert iterations(a, "x") == [1, 2, 3, 4]
        assert len(library(a)) == 2


@test
def nothing_piles_up_from_iteration_to_iteration():
    script = ("set -- /proc/$PPID/fd/*; while read -r key kib _; do test $key != VmRSS: || echo $# $kib; done "
              "</proc/$PPID/status")
    with Ahr(BINARY) as a:
        said = sh(a, script, "--iterations", "200").stdout.decode().splitlines()
        told = [[int(n) for n in line.split()] for line in said]
        assert len(told) == 200
        files = [count for count, _ in told]
        assert min(files[-50:]) <= max(files[:50]), files
        assert told[-1][1] - told[20][1] < MOST_KIB, (told[20], told[-1])
        assert iterations(a) == [*range(1, 201)]


@test
def a_log_that_others_put_in_the_way_is_not_overwritten():
    with Ahr(BINARY) as a:
        logs = folder(a) / "iterations"
        done = sh(a, f"echo {{n}}; test {{n}} != 2 || echo other >{logs}/3.log", "--iterations", "4")
        assert done.stdout == b"1\n2\n4\n5\n"
        assert (logs / "3.log").read_text() == "other\n"


def ends(a, said, *options):
    """After how many iterations of a command that says this."""
    (a.dir / "said").write_bytes(said)
    a.run("run", "-q", "--iterations", "3", "--until", "ALL DONE", *options, "--", "cat", "said")
    return facts(a)["iterations"]


@test
def what_is_waited_for_counts_in_the_assistants_words_alone():
    result = claude("user", message={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "ALL DONE"}]})
    asked = claude("user", message={"role": "user", "content": "say ALL DONE"})
    for said, want in ((claude_whole("it is ALL DONE now"), 1), (result, 3), (asked, 3),
                       (claude_tool("Bash", {"command": "echo ALL DONE"}), 3), (claude_whole("ALL", 1) +
                                                                               claude_whole("DONE", 2), 3),
                       (b"ALL DONE\n", 1), (b"ALL\nDONE\n", 3)):
        with Ahr(BINARY) as a:
            assert ends(a, said) == want, said


@test
def what_is_waited_for_is_not_taken_from_stderr_or_the_prompt():
    with Ahr(BINARY) as a:
        sh(a, "echo ALL DONE >&2; cat >/dev/null", "--iterations", "2", "--until", "ALL DONE", input=b"ALL DONE\n")
        assert facts(a)["iterations"] == 2


@test
def what_is_waited_for_may_come_in_pieces():
    with Ahr(BINARY) as a:
        said = claude_begin() + claude_piece("AL") + claude_piece("L DO") + claude_piece("NE")
        assert ends(a, said + claude_whole("ALL DONE")) == 1
    with Ahr(BINARY) as a, Voice(a, "-q", "--iterations", "2", "--until", "ALL DONE") as voice:
        voice.say(b"ALL ")
        voice.reads(b"ALL ")
        voice.say(b"DONE\n")
        assert voice.end() == 0
        assert facts(a)["iterations"] == 1


# -- options --

@test
def the_project_is_where_it_is_said_to_be():
    with Ahr(BINARY) as a:
        (a.dir / "project").mkdir()
        done = sh(a, "pwd", "--dir", "project")
        assert done.stdout.decode() == f"{(a.dir / 'project').resolve()}\n"
        assert (a.dir / "project/.ahr/sessions/RUN-001/io.log").exists()
        assert not (a.dir / ".ahr").exists()


@test
def what_is_wrong_is_told_before_anything_runs():
    with Ahr(BINARY) as a:
        (a.dir / "file").touch()
        for status, *options in ((2, "--name", "a/b"), (2, "--name", ".."), (3, "--parent", "nosuch"), (3, "--dir", "nosuch"),
                                 (2, "--dir", "file"), (2, "--flush-ms", "0"), (2, "--flush-ms", "60001"),
                                 (2, "--iterations", "0"), (2, "--until", ""), (2, "--agent", "other"), (2, "--until", "x"),
                                 (2, "--no-echo", "--json"), (2, "--task", "x" * 4097), (2, "--role", "a\nb")):
            said = a.fails(status, "run", *options, "--", "touch", "ran")
            assert said.count("\n") == 1, said
        assert "no command" in a.fails(2, "run")
        assert not (a.dir / "ran").exists()
        assert not (a.dir / ".ahr").exists()


@test
def until_says_what_it_lacks():
    with Ahr(BINARY) as a:
        assert "--until needs --iterations: how often at most" in a.fails(2, "run", "--until", "x", "--", "true")
        assert sh(a, "echo {n}", "--until", "1", "--iterations", "1").stdout == b"1\n"


@test
def quiet_and_verbose_go_together():
    with Ahr(BINARY) as a:
        done = sh(a, "echo hi", "-v")
        assert done.stdout.startswith(b"hi\n")
        assert len(done.stdout) > 3
        assert done.stderr == b""


@test
def what_it_is_given_is_masked():
    with Ahr(BINARY) as a:
        (a.dir / SECRET).touch()
        sh(a, "true", "--role", SECRET, "--task", SECRET, "--context-file", SECRET, "--context-file", "/", "--name", "x")
        sh(a, "true", "--role", SECRET, "--name", "y", "--parent", "x")
        assert facts(a, "x")["context_files"][1] == "/"
        assert facts(a, "y")["parent_session"] == "x"
        sh(a, "true", "--role", SECRET)
        for path in (*(a.dir / ".ahr").rglob("*"), *(a.dir / "home").rglob("*")):
            assert SECRET[4:12].upper() not in path.name.upper(), path
            assert not path.is_file() or SECRET[4:12].encode() not in path.read_bytes(), path


@test
def what_it_was_given_is_listed_as_it_was_given():
    with Ahr(BINARY) as a:
        (a.dir / "there").touch()
        sh(a, "true", "--context-file", "./there", "--context-file", a.dir / "there", "--role", "DEVELOPER", "--task", "t")
        assert facts(a, "DEV-001")["context_files"] == ["./there", str(a.dir / "there")]


@test
def a_parent_is_named_or_the_session_around():
    with Ahr(BINARY) as a:
        sh(a, f"{BINARY} run -q -- true", "--name", "outer")
        assert facts(a)["parent_session"] == "outer"
        sh(a, "true", "--parent", "outer", "--name", "third")
        assert facts(a, "third")["parent_session"] == "outer"


@test
def another_format_than_was_said_costs_warnings_and_nothing_else():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--agent", "codex", "--", "printf", "plain words\n%s\n",
                     claude_whole("hello").decode().strip())
        assert done.returncode == 0
        assert b"[warn] malformed JSON: plain words\n" in done.stdout
        assert "hello" in json.dumps(turns(a))
        assert facts(a)["agent"] == "codex"


@test
def options_come_from_the_environment_and_the_configuration():
    with Ahr(BINARY) as a:
        config = a.dir / "home/.config/ahr"
        config.mkdir(parents=True)
        (config / "config").write_text("iterations = 2\nuntil = never\n")
        more = {"AHR_NAME": "named", "AHR_ROLE": "R", "AHR_TASK": "T", "AHR_QUIET": "1", "AHR_FLUSH_MS": "5",
                "AHR_CONTEXT_FILE": "/dev/null", "AHR_AGENT": "text", "AHR_DIR": "p", "AHR_NO_ECHO": "1"}
        (a.dir / "p").mkdir()
        done = a.run("run", "--", "echo", "x", env=more)
        assert done.stdout + done.stderr == b""
        kept = facts_of(run_folder(a.dir / "p", "named"))
        assert (kept["role"], kept["task"], kept["agent"], kept["iterations"]) == ("R", "T", "text", 2)
        assert kept["context_files"] == ["/dev/null"]


@test
def how_much_is_shown_is_chosen():
    said = claude_whole("words") + claude("odd", x=1)
    for options, want in (((), b"words\n"), (("--no-echo",), b""), (("-v",), None), (("--json",), None)):
        with Ahr(BINARY) as a:
            (a.dir / "said").write_bytes(said)
            done = a.run("run", *options, "--", "cat", "said")
            assert b"session RUN-001" in done.stderr
            assert text_of(log(a)).startswith("words\n")
            if want is not None:
                assert done.stdout == want
            elif options == ("-v",):
                assert b"[other] odd" in done.stdout
                assert b"[exit] completed" in done.stdout
            else:
                assert [json.loads(line) for line in done.stdout.splitlines()] == turns(a)


@test
def json_and_verbose_and_quiet_go_together():
    with Ahr(BINARY) as a:
        done = a.run("run", "--json", "-q", "--", "echo", "x")
        assert done.stderr == b""
        assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["text", "exit"]
        assert a.run("run", "--json", "-v", "--", "echo", "x").stdout.count(b"\n") == 2


@test
def where_nothing_can_be_kept_that_is_said():
    with Ahr(BINARY) as a:
        (a.dir / ".ahr").touch()
        done = a.run("run", "--", "echo", "x")
        assert done.stdout == b"x\n"
        assert b"'ahr cat " in done.stderr
        done = a.run("run", "--", "echo", "x", env={"AHR_HOME": str(a.dir / ".ahr")})
        assert done.stdout == b"x\n"
        assert done.returncode == 0
        assert b"nothing of it is kept\n" in done.stderr
        assert b"'ahr log" not in done.stderr


# -- facts, while it runs --

@test
def a_run_tells_that_it_runs_and_what_it_has_used():
    with Ahr(BINARY) as a, Voice(a, "-q", "--task", "t") as voice:
        voice.say(claude("system", subtype="init", model="m1", cwd="/"))
        voice.reads(b"[session] s1 model=m1\n")
        now = facts(a)
        assert (now["status"], now["pid"], now["exit_code"]) == ("active", voice.process.pid, None)
        assert str(now["pid_start"]) == stat(voice.process.pid)[19].decode()
        meta = json.loads((library(a, "live")[0] / "session.meta.json").read_text())
        assert meta["status"] == "active"
        assert meta["hostPid"] == voice.process.pid
        wait_for(lambda: facts(a)["model"] == "m1")
        (a.dir / "made").write_text("x")
        voice.say(claude_tool("Write", {"file_path": str(a.dir / "made"), "content": "x"}))
        voice.say(claude("user", message={"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}))
        voice.say(claude("result", subtype="success", usage={"input_tokens": 5, "output_tokens": 7}))
        wait_for(lambda: facts(a)["usage"]["output_tokens"] == 7)
        wait_for(lambda: facts(a)["artifacts_produced"])
        assert voice.end() == 0
        then = facts(a)
        assert (then["status"], then["pid"], then["exit_code"]) == ("completed", now["pid"], 0)
        assert then["usage"]["input_tokens"] == 5
        assert then["completed_at"]
        meta = json.loads((library(a)[0] / "session.meta.json").read_text())
        assert meta["status"] == "completed"
        assert meta["usage"]["output_tokens"] == 7


@test
def the_command_knows_in_which_run_it_is():
    with Ahr(BINARY) as a:
        done = sh(a, 'echo "$AHR_SESSION $AHR_RUN_DIR"')
        assert done.stdout.decode().split() == [facts(a)["id"], str(folder(a).resolve())]


run()
