#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_claude_test.py -- `ahr import` of what the real claude keeps. usage: … AHR

Only on request (AHR_TEST_CLAUDE=1), and where claude (npm @anthropic-ai/claude-code) is on PATH; in
an empty HOME, with a stand-in for its API, as run_claude_test.py.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.model_api import OUTPUT, USAGE, ModelApi, text, tool
from support.real_claude import STREAM, needs_claude, scrub
from support.tap import run, test

AHR = sys.argv[1]


def imported(a):
    return [s for s in json.loads(a.ok("list", "--json")) if s["kind"] == "import"]


def turns_of(a, session):
    path = Path(a.env["AHR_HOME"]) / "sessions" / session["id"] / "session.turns.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def said(turns, **also):
    return [t for t in turns if t["type"] in ("text", "tool_call", "tool_result")
            and all(t.get(k) == v for k, v in also.items())]


def total(a):
    return json.loads(a.ok("usage", "--json"))["total"]


def of_messages(count):
    return (count * USAGE["input_tokens"], count * OUTPUT,
            count * USAGE["cache_creation_input_tokens"], count * USAGE["cache_read_input_tokens"])


def sums(usage):
    return (usage["input_tokens"], usage["output_tokens"], usage["cache_creation_input_tokens"],
            usage["cache_read_input_tokens"])


@test
def a_sub_agent_says_what_it_says_in_its_call():
    needs_claude()
    script = [tool("Agent", {"description": "look", "prompt": "Look around.",
                             "subagent_type": "general-purpose"}),
              tool("Bash", {"command": "echo seen by the sub-agent", "description": "look"}),
              text("I have looked around."), text("The sub-agent has looked.")]
    with Ahr(AHR) as a, ModelApi(script) as api:
        scrub(a, api)
        a.ok("run", "--", "claude", "-p", "Have somebody look around", *STREAM, timeout=120)
        asked = len(api.requests)
        a.ok("import", "--agent", "claude")
        sessions = imported(a)
        assert len(sessions) == 1, sessions
        assert sums(sessions[0]["usage"]) == of_messages(asked), (asked, sessions)
        turns = turns_of(a, sessions[0])
        call = [t for t in said(turns, type="tool_call") if "parent" not in t]
        assert len(call) == 1, turns
        inside = said(turns, parent=call[0]["id"])
        assert any(t.get("text") == "I have looked around." for t in inside), inside
        assert [t["name"] for t in inside if t["type"] == "tool_call"] == ["Bash"], inside
        own = said(turns, type="text", role="assistant")
        assert own[-1]["text"] == "The sub-agent has looked.", own
        a.ok("index", "--all")  # the run and its own history: counted once
        assert sums(total(a)) == of_messages(asked), (asked, total(a))


@test
def sessions_that_go_on_and_fork_count_each_message_once():
    needs_claude()
    script = [text("First."), text("Second."), text("Third.")]
    with Ahr(AHR) as a, ModelApi(script) as api:
        scrub(a, api)
        a.ok("run", "--name", "one", "--", "claude", "-p", "One", *STREAM, timeout=120)
        a.ok("import")
        before = imported(a)
        assert len(before) == 1, before
        done = a.run("resume", "one", "--prompt", "Two", timeout=120)
        assert done.returncode == 0, done
        out = a.ok("import", "--json")
        assert [h["result"] for h in json.loads(out)] == ["grown"], out
        done = a.run("fork", "one", "--prompt", "Three", timeout=120)
        assert done.returncode == 0, done
        out = a.ok("import", "--json")
        assert sorted(h["result"] for h in json.loads(out)) == ["new", "unchanged"], out
        texts = {s["id"]: [t["text"] for t in said(turns_of(a, s), type="text", role="assistant")]
                 for s in imported(a)}
        assert sorted(map(len, texts.values())) in ([2, 2], [2, 3]), texts
        assert "Third." in sum(texts.values(), []), texts
        a.ok("index", "--all")
        assert sums(total(a)) == of_messages(len(api.requests)), (total(a), texts)


run()
