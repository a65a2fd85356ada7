# SPDX-License-Identifier: MIT
"""household.py -- a home with sessions of any kind in it, made by hand: ended long ago, going on, in a
project, of each other's family.

    with Household(AHR) as a:
        a.stored(n=1, status="failed", days=40)
        with a.going_on(2, parent=a.id(1)): ...
"""

import fcntl
import json
import os
import shutil
import time
from contextlib import contextmanager

from support.ahr import Ahr
from support.sessions import GOLDEN, Home

DAY_NS = 86_400 * 10**9
NOW_NS = time.time_ns()


def start_of(pid):
    """When that process began, as the kernel counts."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


class Household(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = Home(self)
        self.sessions, self.live = self.home.dir / "sessions", self.home.dir / "live"
        self.project = self.dir / "project"
        self.config = self.dir / "home" / ".config" / "ahr" / "config"
        return self

    @staticmethod
    def id(n):
        return f"2026-03-01-{n:08x}-0000-4000-8000-000000000000"

    def names(self):
        """The numbers of the sessions that are there."""
        return {int(p.name[11:19], 16) for kind in (self.sessions, self.live) if kind.exists()
                for p in kind.iterdir() if not p.name.startswith(".")}

    def stored(self, n, status="completed", days=100, kind="sessions", meta=True, **facts):
        """A session that ended so many days ago."""
        folder = self.home.dir / kind / self.id(n)
        folder.mkdir(parents=True, mode=0o700)
        self.home.dir.chmod(0o700)
        folder.parent.chmod(0o700)
        shutil.copyfile(GOLDEN / "smallest.ahr", folder / "session.ahr")
        end = NOW_NS - int(days * DAY_NS)
        if meta:
            self.home.write_meta(folder, self.id(n), **{"status": status, "startedAtNs": end - 10**9,
                                                        "endedAtNs": end, **facts})
        for path in folder.iterdir():
            path.chmod(0o600)
        return folder

    def run_folder(self, n, name, **metadata):
        """What the run n has in the project; metadata None: no such file."""
        folder = self.project / ".ahr" / "sessions" / name
        (folder / "iterations").mkdir(parents=True, exist_ok=True)
        (folder / "artifacts").mkdir(exist_ok=True)
        (folder / "io.log").write_text('{"timestamp":"2026-05-28T20:26:40.000Z","direction":"out","content":"a"}\n')
        facts = {"session_id": name, "id": self.id(n), "status": "completed", **metadata}
        (folder / "metadata.json").write_text(json.dumps(facts))
        return folder

    def ran(self, n, name, metadata=None, **facts):
        """A run that is over, and its folder in the project."""
        folder = self.run_folder(n, name, **(metadata or {}))
        self.stored(n, kind=facts.pop("place", "sessions"), project=str(folder), **{"name": name, **facts})
        return folder

    @contextmanager
    def going_on(self, n, **facts):
        """A session that somebody records."""
        folder = self.stored(n, kind="live", status="active", **facts)
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            os.close(lock)

    def lock_away(self, *numbers):
        """Encrypts those sessions, in one go."""
        key = self.dir / "key"
        key.write_bytes(bytes(range(32)))
        self.ok("encrypt", "--key-file", key, *map(self.id, numbers))

    def configure(self, text):
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)
