# SPDX-License-Identifier: MIT
"""importer.py -- `ahr import` of histories in a private home, and what is in the library afterwards.

    with Importer(AHR) as a:
        h = claude(a.claude, seed=1).write()
        done = a.take()               # what the program says of each, by its path
        a.events(done[h.path]["id"])
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from support.ahr import Ahr

VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")


class Importer(Ahr):
    def __enter__(self):
        super().__enter__()
        for name in VARIABLES:
            self.env.pop(name, None)
        self.user = self.dir / "home"
        self.home = self.user / ".local/share/ahr"
        self.claude = self.user / ".claude/projects/-home-dev-project"
        self.codex = self.user / ".codex/sessions"
        self.gemini = self.user / ".gemini/tmp"
        return self

    def take(self, *args, status=0, **more):
        """Imports, and gives what is said of each, by its path."""
        done = self.run("import", "--json", *args, **more)
        assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr.decode())
        rows = json.loads(done.stdout)
        by_path = {Path(row["path"]): row for row in rows}
        assert len(by_path) == len(rows), rows
        return by_path

    def folder(self, sid):
        return self.home / "sessions" / sid

    def turns(self, sid):
        return (self.folder(sid) / "session.turns.jsonl").read_bytes()

    def events(self, sid):
        return [json.loads(line) for line in self.turns(sid).splitlines()]

    def sessions(self):
        folder = self.home / "sessions"
        return sorted(p.name for p in folder.iterdir()) if folder.exists() else []

    def shown(self, sid):
        return json.loads(self.ok("show", "--json", sid))


def tree(folder):
    """Each file below it: bytes, mode and the time of its last change; and the folders' modes."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        st = path.lstat()
        what = (hashlib.sha256(path.read_bytes()).hexdigest(), st.st_mtime_ns) if path.is_file() else None
        found[str(path.relative_to(folder))] = (what, oct(st.st_mode))
    return found


# The memory of a child counts what its parent had when it began: a parent that has little.
MEASURE = """
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(a, *args, **more):
    """What the program takes of memory at most, in bytes, and what it prints. Meson has malloc write to all that is
    reserved: that would count, too."""
    env = {name: value for name, value in a.env.items() if name != "MALLOC_PERTURB_"}
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, a.binary, *args], cwd=a.dir, env=env,
                          capture_output=True, check=False, **more)
    told = done.stderr.decode().splitlines()
    assert done.returncode == 0 and len(told) == 1, (done.returncode, told)
    print(f"# {int(told[0]) >> 10} MiB")
    return int(told[0]) << 10, done.stdout
