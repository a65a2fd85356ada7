# SPDX-License-Identifier: MIT
"""sessions.py -- sessions made by hand in the home of an Ahr."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def session_id(day, letter):
    """Of that day, with a UUID of one letter."""
    return f"{day}-" + "-".join(letter * n for n in (8, 4, 4, 4, 12))


class Home:
    def __init__(self, a):
        self.ahr = a
        self.dir = a.dir / "home" / ".local" / "share" / "ahr"

    def folder(self, kind, sid):
        folder = self.dir / kind / sid
        folder.mkdir(parents=True)
        return folder

    def add(self, kind, sid, text, meta=True, **facts):
        """A whole recording of the text, with its facts."""
        folder = self.folder(kind, sid)
        self.ahr.ok("pack", "-o", folder / "session.ahr", input=text)
        if meta:
            self.write_meta(folder, sid, **facts)
        return folder

    def add_cut_off(self, sid, meta=True, **facts):
        """One whose recorder was killed: a recording with tails, and a free lock."""
        folder = self.folder("live", sid)
        for piece in GOLDEN.glob("tails.ahr*"):
            shutil.copy(piece, folder / piece.name.replace("tails", "session"))
        (folder / "lock").touch()
        if meta:
            self.write_meta(folder, sid, **facts)
        return folder

    def add_run(self, kind, sid, shown, events, project=None, **facts):
        """A run: what it has shown, its events (lines, or what lies there instead), and its folder
        in its project, which is made with an io.log, an iteration log and its metadata."""
        folder = self.add(kind, sid, shown, meta=False)
        self.write_meta(folder, sid, kind="stream", project=str(project), **facts)
        (folder / "session.turns.jsonl").write_bytes(b"".join(events))
        if kind == "live":
            (folder / "lock").touch()
        if project:
            (folder / "project").write_text(str(project))
            (project / "iterations").mkdir(parents=True)
            (project / "io.log").write_text('{"timestamp":"2026-05-28T20:26:40.000Z",'
                                            '"direction":"out","content":"a"}\n{"timestamp":"20')
            head = "# Iteration 1\nTimestamp: 2026-05-28T20:26:40.000Z\nStatus: in_progress"
            (project / "iterations" / "1.log").write_text(head.ljust(506) + "\n---\n\nshown\n")
            (project / "metadata.json").write_text(json.dumps(
                {"session_id": project.name, "id": sid, "status": "active", "pid": None}))
        return folder

    @staticmethod
    def event(number, type, **facts):
        """A line of session.turns.jsonl."""
        return json.dumps({"ts_ns": str(1_780_000_000_000_000_000 + number), "t_ms": 0,
                           "session": "", "iteration": 1, "type": type, **facts}).encode() + b"\n"

    @staticmethod
    def write_meta(folder, sid, **facts):
        meta = {"version": 1, "sessionId": sid, "status": "active", **facts}
        (folder / "session.meta.json").write_text(json.dumps(meta))

    def tree(self):
        """Each file's bytes, but for the index; a lock that is left in sessions/ means nothing."""
        return {str(p.relative_to(self.dir)): p.read_bytes() if p.is_file() else None
                for p in self.dir.rglob("*") if not p.name.startswith("library.")
                and (p.parent.parent.name != "sessions" or p.name != "lock")}


def indexed(home):
    """The ids in the library.db of this folder, without ahr's help."""
    if not (home / "library.db").exists():
        return []
    with contextlib.closing(sqlite3.connect(f"file:{home}/library.db?mode=ro", uri=True)) as db:
        try:
            return sorted(row[0] for row in db.execute("SELECT id FROM sessions"))
        except sqlite3.OperationalError:  # it is just being made
            return []


def meta_of(folder):
    return json.loads((folder / "session.meta.json").read_text())
