# SPDX-License-Identifier: MIT
"""run_traces.py -- what `ahr run` has kept of a run, read without its help, and compared with what was shown.

    kept = Kept(project, home, "RUN-001")
    kept.has_all_of(shown)
"""

import json
import re
from collections import Counter

from support.run_folder import facts_of, lines_of, log_path, run_folder

TOKEN = re.compile(r"tok-\d+-\d+-[0-9a-f]{8}")
HEAD = re.compile(r"# Iteration (\d+)\nTimestamp: (\S+)\nStatus: (\w+) *\n((?:[A-Z][A-Za-z ]*: [^\n]*\n)*)---\n\n")
BETWEEN = re.compile(r"\n(\[stderr\] [^\n]*\n)+")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def tokens(text):
    return set(TOKEN.findall(text))


def said(entries):
    """The text of io.log: pieces count where the whole never came."""
    texts, pieces = [], ""
    for e in entries:
        if e.get("partial"):
            pieces += e["content"]
            continue
        if e.get("type") in ("text", "thinking") and e["direction"] == "out":
            pieces = ""
        texts.append(e.get("content", ""))
    return "\n".join([*texts, pieces])


class Log:
    """An iteration log; None of its fields before it has a head."""

    def __init__(self, path):
        text = path.read_bytes().decode()
        match = HEAD.match(text)
        self.status, self.facts, self.body = None, {}, ""
        if not match:
            assert len(text) < 600, text[:600]
            return
        self.status, self.body = match[3], text[match.end():]
        self.facts = dict(line.split(": ", 1) for line in match[4].splitlines())

    @property
    def why(self):
        return self.facts.get("Interrupted")


class Kept:
    """All places in which a run of one iteration is kept. just_killed: nobody has put them in order yet."""

    def __init__(self, project, home, name, just_killed=False, number=1):
        self.folder = run_folder(project, name)
        io = self.folder / "io.log"
        self.io = lines_of(io, just_killed) if io.exists() else []
        path = log_path(self.folder, number)
        self.log = Log(path) if path.exists() else None
        self.facts = facts_of(self.folder) if (self.folder / "metadata.json").exists() else {}
        places = (home / "live", home / "sessions") if just_killed else (home / "sessions",)
        found = [p for place in places if place.exists() for p in place.iterdir()
                 if self.facts and p.name == self.facts["id"]]
        self.session = found[0] if found else None
        self.meta, self.turns, self.raw_turns = {}, [], b""
        if self.session:
            if (self.session / "session.meta.json").exists():
                self.meta = json.loads((self.session / "session.meta.json").read_text())
            turns = self.session / "session.turns.jsonl"
            if turns.exists():
                self.turns, self.raw_turns = lines_of(turns, just_killed), turns.read_bytes()

    # -- against what was seen --

    def log_has(self, shown):
        """Log = screen: it begins with all that was shown."""
        body = self.log.body if self.log else ""
        assert body.startswith(shown), ("log", shown[-300:], body[-300:], len(shown), len(body))

    def io_has(self, shown, in_pieces):
        """Each line that was shown, as often as it was; one that is not ended, or was shown in pieces, somewhere."""
        text = said(self.io)
        have = Counter(text.split("\n"))
        *whole, rest = shown.split("\n")
        for line, count in Counter(whole).items():
            line = line.removeprefix("[stderr] ")
            if line.startswith("[session]"):
                assert ("\n" + line) in ("\n" + text), line
            elif have[line] < count:
                assert in_pieces, ("io.log", line, count, have[line])
                assert line in text, ("io.log", line)
        assert rest.removeprefix("[stderr] ") in text or not in_pieces, ("io.log", rest)

    def turns_have(self, shown, has_last):
        """The tokens of all messages; of the one that was just being said only where it was ended in order."""
        ended = shown if has_last else shown[:shown.rfind("Message ")]
        lost = tokens(ended) - tokens(json.dumps(self.turns))
        assert not lost, ("turns", lost)

    def has_sent(self, sent):
        """Whatever the agent had written."""
        log = self.log.body + BETWEEN.sub("", self.log.body)  # lines of stderr may stand between two pieces
        for where, text in (("log", log), ("io.log", said(self.io)), ("turns", json.dumps(self.turns))):
            lost = set(sent) - tokens(text)
            assert not lost, (where, lost, text[-2000:])

    def tape_has(self, a, env, shown):
        """… and `ahr cat` gives it with colours, for a terminal."""
        tape = COLOUR.sub("", a.ok("cat", self.session.name, env=env).decode()).replace("\r\n", "\n")
        assert tape.startswith(shown), ("tape", shown[-300:], tape[-300:])
