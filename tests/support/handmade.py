# SPDX-License-Identifier: MIT
"""handmade.py -- snapshots made by hand with plain git, of trees that no snapshot of ours would have.

    made = Handmade(home, root)
    snapshot = made.snapshot([("100644", "a", made.blob(b"text")), ("40000", "..", made.tree([…]))])
"""

import json
import os
import subprocess

FILE, EXEC, LINK, DIR, SUBMODULE = "100644", "100755", "120000", "40000", "160000"
EXTRA = b"ahr-snapshot 1\nmodes 644 755 755\n"
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
ENV.update({f"GIT_{who}_{what}": "ahr" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")})


def shadow_of(home, root):
    """Where the shadow repository of that root lies."""
    hashed = 0xcbf29ce484222325
    for byte in os.fsencode(root):
        hashed = (hashed ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return home / "snapshots" / f"{hashed:016x}.git"


class Handmade:
    def __init__(self, home, root):
        self.root = root
        self.repo = shadow_of(home, root)
        self.last = 1000
        if not self.repo.exists():
            self.repo.mkdir(parents=True)
            self.git("init", "--bare", "--template=", ".")
            (self.repo / "ahr.root").write_bytes(os.fsencode(root))

    def git(self, *args, input=b""):
        done = subprocess.run(["git", *args], input=input, capture_output=True, check=False, cwd=self.repo,
                              env={**ENV, "GIT_DIR": "."})
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout.decode().strip()

    def blob(self, data):
        return self.git("hash-object", "-w", "--stdin", input=data)

    def tree(self, entries):
        """Of (mode, name, id), in that order, whatever git thinks of it."""
        raw = b"".join(mode.encode() + b" " + (name if isinstance(name, bytes) else name.encode()) + b"\0"
                       + bytes.fromhex(oid) for mode, name, oid in entries)
        return self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", input=raw)

    def snapshot(self, entries, extra=EXTRA, skipped=None, **facts):
        """Its id. The entries are those of its root."""
        top = [(FILE, "extra", self.blob(extra))] if extra is not None else []
        if entries:
            top.append((DIR, "files", self.tree(entries)))
        if skipped is not None:
            top.append((FILE, "skipped", self.blob(skipped)))
        self.last += 1
        told = {"id": self.last, "session": None, "label": None, "kind": "manual", "ts_ns": self.last,
                "anchor_byte": None, "files": 1, "bytes": 1, "skipped": (skipped or b"").count(b"\0"), "all": False,
                "root": os.fsdecode(self.root), **facts}
        commit = self.git("commit-tree", "-m", json.dumps(told), self.tree(top))
        self.git("update-ref", f"refs/ahr/none/{self.last}", commit)
        return self.last
