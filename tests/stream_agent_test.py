#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stream_agent_test.py -- the agent that streams says what it is told to.
usage: stream_agent_test.py STREAM_AGENT"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.tap import run, test

AGENT = str(Path(sys.argv[1]).resolve())
TOKEN = re.compile(r"tok-\d+-\d+-[0-9a-f]{8}")


def agent(*args, status=0, **more):
    done = subprocess.run([AGENT, *map(str, args)], capture_output=True, check=False, **more)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


def objects(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def texts(lines):
    """What claude's whole messages say."""
    return [block["text"] for line in lines if line["type"] == "assistant"
            for block in line["message"]["content"] if block["type"] == "text"]


@test
def each_message_has_a_token_of_its_own():
    with tempfile.TemporaryDirectory() as folder:
        for form in ("claude", "codex", "plain"):
            sent = Path(folder, form)
            done = agent("--format", form, "--messages", 30, "--delay-us", 0, "--sent", sent)
            tokens = sent.read_text().split()
            assert len(set(tokens)) == 30, tokens
            assert set(TOKEN.findall(done.stdout.decode())) == set(tokens)
    assert agent("--seed", 2).stdout != agent("--seed", 3).stdout


@test
def pieces_are_the_whole():
    lines = objects(agent("--partial", "--messages", 5, "--delay-us", 0))
    said = "".join(line["event"]["delta"]["text"] for line in lines
                   if line.get("event", {}).get("type") == "content_block_delta")
    assert said == "".join(texts(lines))


@test
def garbage_and_notes_come_where_they_are_asked_for():
    done = agent("--messages", 6, "--garbage", 3, "--stderr-every", 2, "--delay-us", 0)
    assert done.stdout.count(b"\n{garbage: ") == 2
    assert done.stderr.count(b"note ") == 3


@test
def a_huge_message_is_one_line():
    done = agent("--messages", 4, "--huge", 1_000_000, "--delay-us", 0)
    assert max(len(t) for t in texts(objects(done))) > 1_000_000


@test
def it_ends_as_it_is_told():
    agent("--messages", 1, "--exit", 7, status=7)
    for sig in (signal.SIGKILL, signal.SIGSEGV):
        done = agent("--messages", 10, "--die-after", 3, "--kill-self", int(sig), "--delay-us", 0,
                     "--format", "plain", status=-sig)
        assert done.stdout.count(b"tok-") == 3, done.stdout


@test
def files_are_written_as_the_calls_say():
    with tempfile.TemporaryDirectory() as folder:
        lines = objects(agent("--messages", 9, "--write", folder, "--delay-us", 0))
        calls = [block["input"] for line in lines if line["type"] == "assistant"
                 for block in line["message"]["content"] if block["type"] == "tool_use"]
        assert len(calls) == 3, calls
        for call in calls:
            assert Path(call["file_path"]).read_text() == call["content"]


@test
def each_prompt_is_answered():
    asked = [{"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": t}]}}
             for t in ('one "1"', "two")]
    done = agent("--prompts", "json", input="".join(json.dumps(a) + "\n" for a in asked).encode())
    said = texts(objects(done))
    assert ['one "1"' in said[0], "two" in said[1], len(said)] == [True, True, 2], said
    done = agent("--prompts", "lines", "--format", "plain", input=b"a\nb\n")
    assert done.stdout.count(b"Answer ") == 2, done.stdout


@test
def lines_alternate():
    done = agent("--alternate", "--messages", 6, stdin=subprocess.DEVNULL)
    assert re.findall(rb"line (\d+)", done.stdout) == [b"000001", b"000003", b"000005"]
    assert re.findall(rb"line (\d+)", done.stderr) == [b"000002", b"000004", b"000006"]


@test
def signals_can_be_ignored():
    child = subprocess.Popen([AGENT, "--prompts", "lines", "--format", "plain", "--ignore", "INT",
                              "--ignore", "TERM"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(b"x\n")
    child.stdin.flush()
    assert child.stdout.readline().startswith(b"Answer 1"), "it does not answer"
    os.kill(child.pid, signal.SIGINT)
    os.kill(child.pid, signal.SIGTERM)
    out, _ = child.communicate(b"y\n", timeout=20)
    assert [out.startswith(b"Answer 2"), child.returncode] == [True, 0], (out, child.returncode)


@test
def the_pipes_outlive_it_when_they_are_held():
    child = subprocess.Popen([AGENT, "--hold", "60", "--messages", "1", "--format", "plain"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    holder = int(child.stderr.readline().split()[1])
    try:
        assert child.wait(timeout=20) == 0
        os.kill(holder, 0)
    finally:
        os.kill(holder, signal.SIGKILL)
    out, _ = child.communicate(timeout=20)
    assert b"tok-" in out


run()
