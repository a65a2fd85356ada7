#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_screen_test.py -- a real agent's session looks as in tmux. usage: agent_screen_test.py AHR"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import Skip, run, test

AHR = sys.argv[1]
FIXTURES = Path(__file__).resolve().parents[2] / "shared/fixtures/agents"
SIZE = ("--cols", 100, "--rows", 30)


def session(name):
    if not (FIXTURES / f"{name}.raw").exists():
        raise Skip("the shared fixtures are not here")
    return FIXTURES / f"{name}.raw"


def check(a, name, *render):
    """What render shows is what tmux showed."""
    want = (FIXTURES / f"{name}.tmux.txt").read_text()
    row, col = map(int, (FIXTURES / f"{name}.cursor").read_text().split())
    shown = json.loads(a.ok("render", "--scrollback", "--format", "json", *render))
    got = "".join(line["text"] + "\n" for line in shown["lines"])
    for number, (w, g) in enumerate(zip(want.splitlines(), got.splitlines()), 1):
        assert w.rstrip(" ") == g, f"line {number}: {w!r} expected, got {g!r}"
    assert want.rstrip("\n") == got.rstrip("\n")
    assert len(shown["lines"]) == shown["scrollback_rows"] + 30 == want.count("\n")
    assert (shown["cursor"]["row"], shown["cursor"]["col"]) == (row, col), shown["cursor"]
    text = a.ok("render", "--scrollback", *render).decode()
    assert text == got.rstrip("\n") + "\n"


@test
def the_session_looks_as_in_tmux():
    with Ahr(AHR) as a:
        check(a, "claude-tui", *SIZE, session("claude-tui"))


@test
def the_live_session_looks_as_in_tmux():
    with Ahr(AHR) as a:
        check(a, "claude-tui-live", *SIZE, session("claude-tui-live"))


@test
def a_recording_of_it_looks_the_same():
    with Ahr(AHR) as a:
        for name in ("claude-tui", "claude-tui-live"):
            a.ok("pack", *SIZE, "--rate", 10000, "-o", f"{name}.ahr", session(name))
            check(a, name, f"{name}.ahr")


run()
