#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_input_test.py -- what a command of `ahr run` is sent: our input, prompts, `ahr send`.

usage: run_input_test.py AHR_BINARY STREAM_AGENT; prints TAP.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from support.ahr import Ahr
from support.on_pty import OnPty
from support.runs import SECRET, facts, io, library, log, tape, text_of, turns
from support.tap import run, test

BINARY, AGENT = (str(Path(p).resolve()) for p in sys.argv[1:3])
LINES, MOST_SECONDS = (60_000, 30) if "--sanitized" in sys.argv else (600_000, 10)


def sent(a, name="RUN-001"):
    return [e["content"] for e in io(a, name) if e["direction"] == "in"]


def asked(a):
    return [e["text"] for e in turns(a) if e.get("role") == "user"]


def fake(a, name, script):
    """A program of that name, first on PATH."""
    path = a.dir / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    a.env["PATH"] = f"{path.parent}:{os.environ['PATH']}"


def on_terminal(a, *args):
    return OnPty([a.binary, "run", "-q", *args], cwd=a.dir, env=a.env)


# -- where it comes from --

@test
def what_goes_in_is_kept_and_not_shown():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--", "wc", "-l", input=b"one\ntwo\n")
        assert done.stdout == b"2\n"
        assert text_of(log(a)) == "2\n"
        assert tape(a) == b"2\r\n"
        assert sent(a) == ["one", "two"]
        assert asked(a) == ["one", "two"]


@test
def what_goes_in_does_not_break_a_line_that_is_open():
    with Ahr(BINARY) as a:
        done = subprocess.Popen([BINARY, "run", "-q", "--", "sh", "-c", "printf 'name? '; read x; echo \"hi $x\""],
                                cwd=a.dir, env=a.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert os.read(done.stdout.fileno(), 100) == b"name? "
        assert done.communicate(b"me\n")[0] == b"hi me\n"
        assert text_of(log(a)) == "name? hi me\n"
        assert sent(a) == ["me"]


@test
def a_file_goes_in_as_it_is():
    data = os.urandom(1 << 20) + b"\nend without newline"
    with Ahr(BINARY) as a:
        (a.dir / "data").write_bytes(data)
        with open(a.dir / "data", "rb") as file:
            process = a.popen("run", "-q", "--", "sh", "-c", "cat >copy", stdin=file)
            assert process.wait() == 0
        assert (a.dir / "copy").read_bytes() == data


@test
def a_pipe_goes_in_as_it_is():
    data = bytes(range(256)) * 20000
    with Ahr(BINARY) as a:
        assert a.run("run", "-q", "--", "sh", "-c", "cat >copy", input=data).returncode == 0
        assert (a.dir / "copy").read_bytes() == data


@test
def nothing_goes_in_where_there_is_nothing():
    with Ahr(BINARY) as a:
        for close in (False, True):
            process = subprocess.Popen([BINARY, "run", "-q", "--", "cat"], cwd=a.dir, env=a.env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       preexec_fn=(lambda: os.close(0)) if close else None)
            assert process.communicate(timeout=60)[0] == b""
            assert process.returncode == 0
        assert sent(a) == []


@test
def what_is_typed_at_a_terminal_goes_in_line_by_line():
    with Ahr(BINARY) as a, on_terminal(a, "--", "sh", "-c", "echo up; while read x; do echo \"<$x>\"; done; echo over") as t:
        t.read_until(b"up\r\n")
        os.write(t.master, b"one\n")
        t.read_until(b"<one>\r\n")
        os.write(t.master, b"two\n\x04")
        t.read_until(b"over\r\n")
        assert t.finish() == 0
        assert t.bytes == b"up\r\none\r\n<one>\r\ntwo\r\n<two>\r\nover\r\n"  # by the terminal, once
        assert sent(a) == ["one", "two"]


@test
def short_lines_are_cheap_and_on_disk_before_the_command_has_them():
    script = """
import os
kept = seen = 0
io = None
while data := os.read(0, 1 << 20):
    io = io or open(".ahr/sessions/RUN-001/io.log", "rb")  # its first line makes it
    seen += data.count(b"\\n")
    kept += io.read().count(b"\\n")
    assert kept >= seen, (kept, seen)
print(seen)
"""
    lines = b"".join(b"%d\n" % n for n in range(1, LINES + 1))
    with Ahr(BINARY) as a:
        (a.dir / "check.py").write_text(script)
        process = a.popen("run", "-q", "--", sys.executable, "check.py", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError):  # what was said then is told below
            process.stdin.write(lines)
            process.stdin.close()
        shown = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert shown == b"%d\n" % LINES, shown[-2000:]
        print(f"# {used.ru_utime + used.ru_stime:.2f} s of the processor, {len(lines)} bytes")
        assert used.ru_utime + used.ru_stime < MOST_SECONDS
        assert len(sent(a)) == LINES


@test
def a_command_that_never_reads_is_not_waited_for():
    with Ahr(BINARY) as a:
        assert a.run("run", "-q", "--", "true", input=b"x\n" * 2_000_000, timeout=60).returncode == 0


@test
def a_command_that_closes_its_input_goes_on():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--", "sh", "-c", "head -c 1 >/dev/null; exec <&-; sleep .1; echo on", input=b"x\n" * 500_000)
        assert done.stdout == b"on\n"


@test
def input_without_a_newline_is_passed_on():
    with Ahr(BINARY) as a:
        process = a.popen("run", "-q", "--", "sh", "-c", "head -c 3; cat >/dev/null", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
        process.stdin.write(b"abc")
        process.stdin.flush()
        assert os.read(process.stdout.fileno(), 10) == b"abc"
        process.communicate()
        assert sent(a) == ["abc"]


# -- again and again --

@test
def each_iteration_is_given_what_the_first_was():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--iterations", "3", "--", "sh", "-c", "cat; echo end {n}", input=b"task\nmore")
        assert done.stdout == b"".join(b"task\nmore\nend %d\n" % n for n in (1, 2, 3)).replace(b"more\nend", b"moreend")
        assert sent(a) == ["task", "more"] * 3


@test
def an_iteration_that_reads_little_takes_nothing_from_the_next():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--iterations", "3", "--", "sh", "-c", "read x; echo $x", input=b"a\nb\n")
        assert done.stdout == b"a\na\na\n"


@test
def input_that_is_too_long_to_be_kept_is_told():
    with Ahr(BINARY) as a:
        with open(a.dir / "big", "wb") as file:
            file.write(b"a" * (17 << 20))
        with open(a.dir / "big", "rb") as file:
            process = a.popen("run", "--no-echo", "--iterations", "2", "--", "wc", "-c", stdin=file, stderr=subprocess.PIPE)
            told = process.communicate()[1]
        assert text_of(log(a, 1)).strip() == str(17 << 20)
        assert text_of(log(a, 2)).strip() == "0"
        assert b"16 MiB" in told, told


# -- prompts --

@test
def a_prompt_in_the_arguments_is_the_first_message():
    with Ahr(BINARY) as a:
        fake(a, "claude", f"exec {AGENT} --messages 1 --seed 4\n")
        done = a.run("run", "-q", "--", "claude", "-p", f"mend the\ntest {SECRET}", "--output-format", "stream-json")
        assert done.stdout.startswith(b"[session] mock-session-4")
        assert sent(a) == ["mend the\ntest [REDACTED:github-pat]"]
        assert turns(a)[0]["role"] == "user"
        assert b"mend the" not in done.stdout
        assert facts(a)["agent"] == "claude"


@test
def each_iteration_has_its_prompt():
    with Ahr(BINARY) as a:
        fake(a, "codex", f"exec {AGENT} --format codex --messages 1\n")
        a.ok("run", "-q", "--iterations", "2", "--", "codex", "exec", "--json", "step {n}")
        assert sent(a) == ["step 1", "step 2"]
        assert facts(a)["agent"] == "codex"


@test
def a_prompt_of_several_words_is_one_message():
    with Ahr(BINARY) as a:
        fake(a, "opencode", "echo hi\n")
        a.ok("run", "-q", "--", "opencode", "run", "mend", "the", "test")
        assert sent(a) == ["mend the test"]


@test
def an_agent_that_has_its_prompt_does_not_wait_for_the_terminal():
    with Ahr(BINARY) as a:
        fake(a, "claude", "cat; readlink /proc/self/fd/0\n")
        with on_terminal(a, "--", "claude", "-p", "do it") as t:
            assert t.finish() == 0
            assert t.bytes == b"/dev/null\r\n"


@test
def an_agent_that_has_its_prompt_gets_what_is_piped_in_as_well():
    with Ahr(BINARY) as a:
        fake(a, "claude", "cat\n")
        assert a.ok("run", "-q", "--", "claude", "-p", "sum up", input=b"a text\n") == b"a text\n"
        assert sent(a) == ["sum up", "a text"]


@test
def all_of_the_input_is_one_prompt():
    with Ahr(BINARY) as a:
        fake(a, "claude", "cat >got\n")
        a.ok("run", "-q", "--", "claude", "-p", input=b"line one\n\nline two\n")
        assert sent(a) == ["line one\n\nline two"]
        assert asked(a) == ["line one\n\nline two"]
        assert (a.dir / "got").read_bytes() == b"line one\n\nline two\n"


# -- conversations --

def converse(a, *options):
    return a.popen("run", "-q", *options, "--", AGENT, "--prompts", "lines", stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE)


def answer(process):
    while not (line := process.stdout.readline()).startswith(b"Answer"):
        assert line
    return line


@test
def a_conversation_goes_line_by_line():
    with Ahr(BINARY) as a, converse(a) as process:
        for n, said in enumerate(("hello", "and then?", f"take {SECRET}"), 1):
            process.stdin.write(said.encode() + b"\n")
            process.stdin.flush()
            shown = said.replace(SECRET, "[REDACTED:github-pat]")
            assert answer(process).startswith(f'Answer {n} to "{shown}'.encode())
        process.communicate()
        assert process.returncode == 0
        assert sent(a) == ["hello", "and then?", "take [REDACTED:github-pat]"]


@test
def a_conversation_in_json_is_told_as_what_is_said():
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "the question"}}).encode() + b"\n"
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--", AGENT, "--prompts", "json", input=line)
        assert b'Answer 1 to "the question"' in done.stdout
        assert sent(a) == ["the question"]


@test
def what_is_sent_goes_in():
    with Ahr(BINARY) as a, converse(a, "--name", "talk") as process:
        assert process.stdout.readline().startswith(b"[session]")
        a.ok("send", "talk", "from afar")
        assert answer(process).startswith(b'Answer 1 to "from afar"')
        process.communicate()
        assert sent(a, "talk") == ["from afar"]


@test
def a_run_is_stopped_from_afar():
    with Ahr(BINARY) as a, converse(a, "--name", "talk") as process:
        assert process.stdout.readline().startswith(b"[session]")
        a.ok("stop", "talk")
        process.communicate()
        assert facts(a, "talk")["status"] == "aborted"
        assert "Status: aborted" in log(a, 1, "talk")


@test
def a_live_run_is_instructed():
    with Ahr(BINARY) as a, converse(a, "--name", "talk") as process:
        assert process.stdout.readline().startswith(b"[session]")
        a.ok("instruct", "talk", "be brief")
        process.communicate()
        said = (library(a)[-1] / "session.instructions.jsonl").read_text()
        assert json.loads(said)["text"] == "be brief", said


run()
