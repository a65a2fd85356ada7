# SPDX-License-Identifier: MIT
"""real_claude.py -- the real claude, asked for and kept to itself: an empty HOME, a stand-in for its API."""

import os
import shutil

from support.tap import Skip

STREAM = ("--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits")


def needs_claude():
    if not shutil.which("claude"):
        raise Skip("no claude on PATH")
    if not os.environ.get("AHR_TEST_CLAUDE"):
        raise Skip("AHR_TEST_CLAUDE=1 asks for it")


def scrub(a, api):
    """Nothing of the caller's reaches the agent, and the agent reaches nothing but the stand-in."""
    home = a.env["HOME"]
    a.env = {
        "PATH": os.environ["PATH"], "HOME": home, "TERM": "dumb", "LANG": "C.UTF-8",
        "AHR_UPKEEP": "off", "AHR_HOME": str(a.dir / "library"),
        "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "not-a-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1",
    }
