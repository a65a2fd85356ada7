#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_fixtures_test.py -- real streams of agents through `ahr run`: all is kept, however it comes.

usage: run_fixtures_test.py AHR; prints TAP.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.kept_run import KeptRun, without_colour
from support.on_pty import OnPty
from support.tap import Skip, run, test

AHR = sys.argv[1]
FIXTURES = Path(__file__).resolve().parents[2] / "shared/fixtures/agents"
NAMES = ("claude-stream", "claude-stream-partial", "codex-stream")
SIZES = (1, 2, 3, 7, 64, 1000, 4096, 1 << 20)

# Writes a file in pieces; behind every so many it rests for longer than --flush-ms 1.
FEEDER = """
import os, sys, time
data = open(sys.argv[1], "rb").read()
size, every = int(sys.argv[2]), int(sys.argv[3])
for n, at in enumerate(range(0, len(data), size), 1):
    piece = data[at:at + size]
    assert os.write(1, piece) == len(piece)
    if every and n % every == 0:
        time.sleep(0.004)
"""


def fixture(name):
    path = FIXTURES / f"{name}.ndjson"
    if not path.exists():
        raise Skip("the shared fixtures are not here")
    return path


def stream(name):
    return [json.loads(line) for line in fixture(name).read_text().splitlines()]


def claude_blocks(name, who, kind):
    return [block for line in stream(name) if line["type"] == who
            for block in line["message"]["content"] if block["type"] == kind]


def told(name):
    """What a stream says, by its own lines: texts, names of tools, beginnings of results, tokens."""
    if name.startswith("claude"):
        texts = [b["text"] for b in claude_blocks(name, "assistant", "text")]
        tools = [b["name"] for b in claude_blocks(name, "assistant", "tool_use")]
        results = [b["content"] for b in claude_blocks(name, "user", "tool_result")]
        usage = stream(name)[-1]["usage"]
        return texts, tools, results, (usage["input_tokens"], usage["output_tokens"],
                                       usage["cache_read_input_tokens"])
    done = [line["item"] for line in stream(name) if line["type"] == "item.completed"]
    commands = [item for item in done if item["type"] == "command_execution"]
    usage = stream(name)[-1]["usage"]
    cached = usage["cached_input_tokens"]
    return ([item["text"] for item in done if item["type"] == "agent_message"],
            ["command_execution"] * len(commands),
            [item["aggregated_output"] for item in commands],
            (usage["input_tokens"] - cached, usage["output_tokens"], cached))


def play(a, name):
    done = a.run("run", "-q", "--", "cat", fixture(name))
    assert done.returncode == 0, done.stderr
    assert done.stderr == b"", done.stderr
    return done.stdout


def turns_of(kept, kind):
    return [turn for turn in kept.turns() if turn["type"] == kind]


def expect_all(name):
    texts, tools, results, tokens = told(name)
    with Ahr(AHR) as a:
        shown = play(a, name)
        kept = KeptRun(a)
        lines = shown.decode().splitlines()
        assert kept.log() == shown
        assert sum(line.startswith("[session] ") for line in lines) == 1
        assert sum(line.startswith("[tool] ") for line in lines) == len(tools)
        assert sum(line.startswith("[result] ") for line in lines) == len(results)
        assert sum(line.startswith("[done] ") for line in lines) == 1
        for text in texts:
            assert shown.count(text.encode() + b"\n") == 1, text
        assert kept.said(type="text") == texts
        assert [turn["text"] for turn in turns_of(kept, "text")] == texts
        assert [turn["name"] for turn in turns_of(kept, "tool_call")] == tools
        assert len(kept.said(type="tool_call")) == len(tools)
        assert len(turns_of(kept, "tool_result")) == len(results)
        for result, content in zip(results, kept.said(type="tool_result")):
            words = without_colour(result.encode()).decode().split()
            assert " ".join(words) in " ".join(content.split()), (result, content)
        assert len(turns_of(kept, "done")) == len(kept.said(type="done")) == 1
        for usage in (kept.facts()["usage"], kept.meta()["usage"]):
            assert (usage["input_tokens"], usage["output_tokens"],
                    usage["cache_read_input_tokens"]) == tokens, (usage, tokens)


@test
def all_that_claude_streams_is_kept():
    expect_all("claude-stream")


@test
def all_that_claude_streams_in_pieces_is_kept_and_shown_once():
    expect_all("claude-stream-partial")


@test
def all_that_codex_streams_is_kept():
    expect_all("codex-stream")


def expect_same(name, sizes, every):
    """Each size of pieces gives the log, the screen and the tape that the whole gives."""
    with Ahr(AHR) as a:
        whole = play(a, name)
        turns = len(KeptRun(a).turns())
        for size in sizes:
            with Ahr(AHR) as b:
                done = b.run("run", "-q", "--flush-ms", "1", "--", sys.executable, "-c", FEEDER,
                             fixture(name), size, every)
                assert done.returncode == 0, done.stderr
                kept = KeptRun(b)
                assert kept.log() == whole, (name, size, every)
                assert done.stdout == whole, (name, size, every)
                tape = without_colour(b.ok("cat", "last")).replace(b"\r\n", b"\n")
                assert tape == whole, (name, size, every)
                assert len(kept.turns()) == turns, (name, size, every)


@test
def pieces_of_any_size_give_the_same_log():
    for name in NAMES:
        expect_same(name, SIZES, 0)


@test
def pieces_with_pauses_give_the_same_log():
    expect_same("claude-stream", (64, 1000), 16)
    expect_same("claude-stream-partial", (700, 64), 20)
    expect_same("codex-stream", (3,), 16)


@test
def what_replay_prints_is_the_log():
    for name in NAMES:
        with Ahr(AHR) as a:
            play(a, name)
            want = b"".join(KeptRun(a).log().split())  # the terminal has 80 columns, and no tabs
            got = b"".join(a.ok("replay", "--fast", "last").split())
            assert got == want, name


@test
def what_log_prints_ends_with_the_log():
    with Ahr(AHR) as a:
        shown = play(a, "claude-stream")
        assert a.ok("log", "RUN-001").endswith(shown)


def on_terminal(a, **env):
    args = [a.binary, "run", "-q", "--", "cat", fixture("codex-stream")]
    with OnPty(args, cwd=a.dir, env={**a.env, "TERM": "xterm-256color", **env}) as on:
        while on.read():
            pass
        assert on.process.wait() == 0
        return bytes(on.bytes).replace(b"\r\n", b"\n")


@test
def colours_are_for_terminals_alone():
    with Ahr(AHR) as a:
        a.env.pop("NO_COLOR", None)
        shown = on_terminal(a)
        log = KeptRun(a).log()
        assert shown.count(b"\x1b[") >= 10
        assert without_colour(shown) == log
        assert b"\x1b" not in log
        assert b"\x1b" not in (KeptRun(a).dir / "io.log").read_bytes()
        assert on_terminal(a, NO_COLOR="1") == log
        assert on_terminal(a, TERM="dumb") == log


run()
