# SPDX-License-Identifier: MIT
"""kept_run.py -- what a run has left: its folder in the project, its folder in the library."""

import json
import re

HEAD = 512
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def without_colour(shown):
    return COLOUR.sub(b"", shown)


class KeptRun:
    """Of a project's folder and a home's; by default those of Ahr `a`."""

    def __init__(self, a, name="RUN-001", project=None, home=None):
        self.dir = (project or a.dir) / ".ahr" / "sessions" / name
        self.home = home or a.dir / "home" / ".local" / "share" / "ahr"

    def io(self):
        """Each line; they are whole."""
        text = (self.dir / "io.log").read_text()
        assert text.endswith("\n") or not text, text[-200:]
        return [json.loads(line) for line in text.splitlines()]

    def said(self, **wanted):
        """The contents of whole lines with these members."""
        return [line.get("content") for line in self.io() if not line.get("partial")
                and all(line.get(key) == value for key, value in wanted.items())]

    def log_path(self, number=1):
        return self.dir / "iterations" / f"{number}.log"

    def head(self, number=1):
        """The fields of the log's head."""
        head = self.log_path(number).read_bytes()[:HEAD]
        assert head.endswith(b"---\n\n"), head
        lines = [line.rstrip() for line in head.decode().splitlines()]
        return dict(line.split(": ", 1) for line in lines[1:-2])

    def log(self, number=1):
        """The text behind the head: whole lines."""
        text = self.log_path(number).read_bytes()[HEAD:]
        assert text.endswith(b"\n") or not text, text[-200:]
        return text

    def facts(self):
        return json.loads((self.dir / "metadata.json").read_text())

    def folder(self, where="sessions"):
        """In the library."""
        found = [*(self.home / where).glob("2*")]
        assert len(found) == 1, found
        return found[0]

    def turns(self, where="sessions"):
        text = (self.folder(where) / "session.turns.jsonl").read_text()
        assert text.endswith("\n") or not text, text[-200:]
        return [json.loads(line) for line in text.splitlines()]

    def meta(self, where="sessions"):
        return json.loads((self.folder(where) / "session.meta.json").read_text())
