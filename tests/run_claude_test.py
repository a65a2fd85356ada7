#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_claude_test.py -- `ahr run` with the real claude. usage: run_claude_test.py AHR

Only on request (AHR_TEST_CLAUDE=1), and where claude (npm @anthropic-ai/claude-code) is on PATH. It
has an empty HOME, an environment without anything of ours or the user's, and a stand-in for its API.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.model_api import ModelApi, refusal, text, tool
from support.run_folder import facts_of, io_of, run_folder
from support.real_claude import STREAM, needs_claude, scrub
from support.tap import run, test

AHR = sys.argv[1]


def kept(a, name):
    """io.log and metadata.json of a run."""
    folder = run_folder(a.dir, name)
    return io_of(folder), facts_of(folder)


def contents(lines, direction):
    return [line["content"] for line in lines if line["direction"] == direction]


@test
def a_session_with_a_tool_and_a_refusal_is_kept_whole():
    needs_claude()
    with Ahr(AHR) as a:
        path = a.dir / "hello.txt"
        script = [tool("Write", {"file_path": str(path), "content": "hello\n"}), refusal(429),
                  text("All is well.")]
        with ModelApi(script) as api:
            scrub(a, api)
            shown = a.ok("run", "--name", "real", "--", "claude", "-p", "Write hello.txt",
                         *STREAM, timeout=120).decode()
            assert len(api.requests) == 3, len(api.requests)
        assert path.read_text() == "hello\n"
        for part in ("[session] ", "I'll call a tool.", "[tool] Write", "[result] ", "All is well.",
                     "[done] success"):
            assert part in shown, (part, shown)
        assert shown.count("All is well.") == 1, shown
        lines, metadata = kept(a, "real")
        assert contents(lines, "in") == ["Write hello.txt"], lines
        assert "All is well." in contents(lines, "out"), lines
        assert metadata["status"] == "completed", metadata
        assert metadata["agent"] == "claude", metadata
        assert any(p.endswith("hello.txt") for p in metadata["artifacts_produced"]), metadata
        # two messages of 100 tokens, 20 of them written to the cache and 30 read from it beside that
        assert metadata["usage"]["input_tokens"] == 200, metadata
        assert metadata["usage"]["output_tokens"] == 20, metadata


@test
def pieces_are_shown_once():
    needs_claude()
    with Ahr(AHR) as a, ModelApi([text("It is told in pieces.")]) as api:
        scrub(a, api)
        shown = a.ok("run", "--name", "pieces", "--", "claude", "-p", "Tell", *STREAM,
                     "--include-partial-messages", timeout=120).decode()
        assert shown.count("It is told in pieces.") == 1, shown
        lines, _ = kept(a, "pieces")
        whole = [line for line in lines if line["direction"] == "out" and not line.get("partial")]
        assert [w["content"] for w in whole].count("It is told in pieces.") == 1, whole


@test
def a_prompt_on_stdin_is_the_first_message():
    needs_claude()
    with Ahr(AHR) as a, ModelApi([text("Heard.")]) as api:
        scrub(a, api)
        a.ok("run", "--name", "stdin", "--", "claude", "-p", *STREAM, input=b"From a pipe",
             timeout=120)
        lines, _ = kept(a, "stdin")
        assert contents(lines, "in")[0].rstrip("\n") == "From a pipe", lines
        assert "Heard." in contents(lines, "out"), lines


@test
def it_goes_on_with_its_own_session():
    """Killed with its recorder, resumed and forked: the model is told what was said before."""
    needs_claude()
    with Ahr(AHR) as a, ModelApi([text("I chose the blue one."), text("Or green."), text("Still blue.")]) as api:
        scrub(a, api)
        a.ok("run", "--name", "real", "--", "claude", "-p", "Choose a colour", *STREAM, timeout=120)
        done = a.run("fork", "real", "--prompt", "And another?", timeout=120)
        asked = json.dumps(api.requests[-1])
        assert done.returncode == 0 and "I chose the blue one." in asked and "And another?" in asked, (done, asked)
        first, fork = kept(a, "real")[1], kept(a, "real-2")[1]
        assert fork["agent_session_id"] != first["agent_session_id"], fork
        done = a.run("resume", "real", "--prompt", "Which one was it?", timeout=120)
        assert done.returncode == 0 and b"by the agent's own session" in done.stderr, done.stderr
        asked = json.dumps(api.requests[-1])
        assert "I chose the blue one." in asked and "Which one was it?" in asked, asked
        assert "And another?" not in asked, asked  # the fork has left it as it was
        lines, metadata = kept(a, "real-3")
        assert "Still blue." in contents(lines, "out") and metadata["resumed_from"], metadata
        assert metadata["agent_session_id"] == first["agent_session_id"], metadata
        done = a.run("resume", "real", "--replay", "--verify", timeout=120)
        assert b"difference" in done.stderr, done.stderr


run()
