#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wire_claude_test.py -- `--wire` around the real claude, headless and on a terminal, and it on a cassette. usage: … AHR

Only on request (AHR_TEST_CLAUDE=1), and where claude (npm @anthropic-ai/claude-code) is on PATH; in an empty HOME, with a
stand-in for its API, as run_claude_test.py.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.model_api import OUTPUT, USAGE, ModelApi, refusal, text, tool
from support.processes import wait_for
from support.proxy import Proxy, files_with
from support.real_claude import STREAM, needs_claude, scrub
from support.tap import run, test
from support.terminal import Terminal

AHR = sys.argv[1]
BASH = tool("Bash", {"command": "echo from the tool", "description": "look"})


def calls_of(a, name):
    return json.loads(a.ok("wire", "--json", name))


def lines(a, kind):
    path = next(Path(a.env["AHR_HOME"]).glob(f"*/*/session.{kind}.jsonl"))
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def check_session(a, name, api, shown):
    """Terminal, calls and turns of one session: tokens as they were sent, places in order, nothing of the key."""
    calls = calls_of(a, name)
    answered = [c for c in calls if c["status"] == 200 and c["url"].startswith("/v1/messages?")]
    sent = api.count - sum("status" in r for r in api.told)
    assert len(answered) == sent, (len(answered), sent, calls)
    assert all(c["end"] == "ok" for c in calls), calls
    usage = json.loads(a.ok("show", "--json", name))["usage"]
    want = {k: USAGE[k] * sent for k in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")}
    assert usage == {**want, "output_tokens": OUTPUT * sent, "calls": sent}, (usage, want)
    if shown is not None:
        for kind in ("wire", "turns"):
            places = [x["anchor_byte"] for x in lines(a, kind)]
            assert places == sorted(places) and places[-1] <= len(shown), (kind, places)
    turns = lines(a, "turns")
    said = [(t["type"], t.get("text") or t.get("name")) for t in turns
            if t["type"] in ("text", "tool_call", "tool_result") and "system-reminder" not in (t.get("text") or "")]
    assert files_with(a.env["AHR_HOME"], a.env["ANTHROPIC_API_KEY"].encode()) == []
    return [s for s in said if s[1]]


@test
def a_headless_run_on_a_terminal_is_recorded_whole():
    needs_claude()
    with Ahr(AHR) as a, ModelApi([BASH, refusal(429), text("All is well.")]) as api:
        scrub(a, api)
        a.ok("record", "--wire", "--name", "real", "--", "claude", "-p", "Do it", "--allowedTools", "Bash", timeout=120)
        shown = a.ok("cat", "real")
        assert b"All is well." in shown
        said = check_session(a, "real", api, shown)
        assert said == [("text", "Do it"), ("text", "I'll call a tool."), ("tool_call", "Bash"),
                        ("tool_result", "from the tool"), ("text", "All is well.")], said
        retried = next(c for c in calls_of(a, "real") if c["retry_of"])
        assert calls_of(a, "real")[retried["retry_of"] - 1]["status"] == 429, retried


@test
def an_interactive_session_is_recorded_whole():
    needs_claude()
    with Ahr(AHR) as a, ModelApi([BASH, text("All is well."), text("And again.")]) as api:
        scrub(a, api)
        a.env["TERM"] = "xterm-256color"
        key = a.env["ANTHROPIC_API_KEY"]
        (a.dir / "home/.claude.json").write_text(json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [key[-20:]]},
            "projects": {str(a.dir): {"hasTrustDialogAccepted": True}}}))
        t = Terminal(100, 30)
        try:
            process = t.start([a.binary, "record", "--wire", "--view", "off", "--name", "tui", "--", "claude",
                               "--allowedTools", "Bash"], cwd=a.dir, env=a.env)

            def screen():
                return subprocess.run([a.binary, "render", "tui"], env=a.env, capture_output=True, check=False).stdout.decode()

            def say(words):
                """As a person does: the line is typed, seen, then sent."""
                t.type(words)
                wait_for(lambda: f"❯ {words}" in screen().replace("\u00a0", " "), screen)
                t.type("\r")
            wait_for(lambda: "? for shortcuts" in screen(), screen)
            say("Please do it")
            wait_for(lambda: "● All is well." in screen(), screen)
            say("Once more")
            wait_for(lambda: "● And again." in screen(), screen)
            t.type("\x03")
            t.type("\x03")
            process.wait(60)
        finally:
            t.hang_up()
        shown = a.ok("cat", "tui")
        said = check_session(a, "tui", api, shown)
        for want in (("text", "Please do it"), ("text", "I'll call a tool."), ("tool_call", "Bash"),
                     ("text", "All is well."), ("text", "Once more"), ("text", "And again.")):
            assert said.count(want) == 1, (want, said)
        begun = {c["call"]: c["anchor_byte"] for c in calls_of(a, "tui")}
        asked = next(x for x in lines(a, "turns") if x.get("text") == "Once more")
        assert asked["anchor_byte"] == begun[asked["call"]] >= shown.index(b"All is well."), asked


@test
def a_run_on_pipes_has_its_calls_beside_its_stream():
    needs_claude()
    with Ahr(AHR) as a, ModelApi([BASH, text("All is well.")]) as api:
        scrub(a, api)
        a.ok("run", "--wire", "--name", "piped", "--", "claude", "-p", "Do it", *STREAM, "--allowedTools", "Bash", timeout=120)
        said = check_session(a, "piped", api, None)
        assert said.count(("text", "All is well.")) == 1 and said.count(("tool_call", "Bash")) == 1, said


@test
def it_works_on_a_cassette_without_a_network():
    """Another session of its own, other ids and times, another key: it hears the same, as often as it asks."""
    needs_claude()
    words = ("claude", "-p", "Do it", "--output-format", "json", "--allowedTools", "Bash")
    with Ahr(AHR) as a, ModelApi([BASH, text("All is well.")]) as api:
        scrub(a, api)
        a.ok("record", "--wire", "--name", "real", "--", *words, timeout=120)
        first = json.loads(a.ok("cat", "real").decode().split("\n")[0].split("\r")[0])
        count = api.count
        with Proxy(a, None, "--replay", "real", "--timing", "fast", session=None) as cassette:
            env = {**a.env, **cassette.variables, "ANTHROPIC_API_KEY": "another"}
            for _ in range(2):
                done = subprocess.run(words, cwd=a.dir, env=env, capture_output=True, timeout=120,
                                      stdin=subprocess.DEVNULL, check=False)
                assert done.returncode == 0, done
                again = json.loads(done.stdout)
                assert again["result"] == first["result"] == "All is well.", again
                assert again["usage"]["output_tokens"] == first["usage"]["output_tokens"]
        assert api.count == count  # nobody was asked


run()
