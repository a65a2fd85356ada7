# SPDX-License-Identifier: MIT
"""kept_run.py -- what a run has left: its folder in the project, its folder in the library."""

import json
import re

from support.run_folder import facts_of, io_of, lines_of, log_path, run_folder

HEAD = 512
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def without_colour(shown):
    return COLOUR.sub(b"", shown)


class KeptRun:
    """Of a project's folder and a home's; by default those of Ahr `a`."""

    def __init__(self, a, name="RUN-001", project=None, home=None):
        self.dir = run_folder(project or a.dir, name)
        self.home = home or a.dir / "home" / ".local" / "share" / "ahr"

    def io(self):
        """Each line; they are whole."""
        return io_of(self.dir)

    def said(self, **wanted):
        """The contents of whole lines with these members."""
        return [line.get("content") for line in self.io() if not line.get("partial")
                and all(line.get(key) == value for key, value in wanted.items())]

    def log_path(self, number=1):
        return log_path(self.dir, number)

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
        return facts_of(self.dir)

    def folder(self, where="sessions"):
        """In the library."""
        found = [*(self.home / where).glob("2*")]
        assert len(found) == 1, found
        return found[0]

    def turns(self, where="sessions"):
        return lines_of(self.folder(where) / "session.turns.jsonl")

    def meta(self, where="sessions"):
        return json.loads((self.folder(where) / "session.meta.json").read_text())
