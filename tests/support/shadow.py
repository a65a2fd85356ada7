# SPDX-License-Identifier: MIT
"""shadow.py -- `ahr fs` in a private home, and the shadow repositories that come of it, seen by plain git.

    with Shadow(AHR) as a:
        told = a.snapshot(folder)
        is_same(contents(folder), a.restored(told["id"]))
        a.is_sound()
"""

import io
import json
import os
import shutil
import subprocess

from support.ahr import Ahr
from support.trees import contents


class Shadow(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = self.dir / "ahr"
        self.env.update(AHR_HOME=str(self.home))
        for name in [name for name in self.env if name.startswith("GIT_")]:
            del self.env[name]
        self._restored = 0
        return self

    def snapshot(self, folder, *args, **more):
        """What it tells of itself."""
        return json.loads(self.ok("fs", "snapshot", "--dir", folder, *args, **more))

    def restored(self, snapshot, *args):
        """What a snapshot holds, put into a new folder that is gone afterwards."""
        self._restored += 1
        into = self.dir / f"restored-{self._restored}"
        try:
            self.ok("fs", "restore", snapshot, "--into", into, *args)
            return contents(into)
        finally:
            shutil.rmtree(into, ignore_errors=True)

    def listed(self, *args):
        """The snapshots by id."""
        rows = json.loads(self.ok("fs", "list", "--json", *args))
        assert len({row["id"] for row in rows}) == len(rows), rows
        return {row["id"]: row for row in rows}

    def repositories(self):
        folder = self.home / "snapshots"
        return sorted(p for p in folder.iterdir() if p.suffix == ".git") if folder.is_dir() else []

    def refs(self, repository):
        return self.git(repository, "for-each-ref", "--format=%(refname)", "refs/ahr").stdout.decode().split()

    def git(self, repository, *args, input=b""):
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        return subprocess.run(["git", "--git-dir", repository, *args], input=input, capture_output=True, env=env)

    def held(self, snapshot):
        """What a snapshot holds, read with plain git as doc/snapshots.md tells it."""
        refs = {ref.rpartition("/")[2]: (repository, ref) for repository in self.repositories()
                for ref in self.refs(repository)}
        repository, ref = refs[str(snapshot)]
        extra = self.git(repository, "cat-file", "blob", f"{ref}:extra").stdout
        version, modes, rest = extra.split(b"\n", 2)
        assert version == b"ahr-snapshot 1", version
        plain, runs, folder = (int(word, 8) for word in modes.split()[1:])
        found = {}
        listing = self.git(repository, "ls-tree", "-r", "-t", "-z", ref).stdout
        rows = [line.partition(b"\t")[::2] for line in listing.split(b"\0") if b"\tfiles/" in line]
        blobs = self.blobs(repository, {head.split()[2] for head, _ in rows if b" blob " in head})
        for head, path in rows:
            mode, _, name = head.split()
            data = blobs.get(name)
            found[path[len(b"files/"):]] = {b"100644": ("file", plain, data), b"100755": ("file", runs, data),
                                            b"120000": ("link", data), b"040000": ("folder", folder)}[mode]
        items = [item.split(b" ", 2) for item in rest.split(b"\0") if item]
        for above in [path for kind, _, path in items if kind == b"e"]:
            assert above not in found, above
            while above := os.path.dirname(above):  # git has none that holds but empty ones either
                found.setdefault(above, ("folder", folder))
        for kind, mode, path in items:
            what = found.get(path, ("folder",))
            found[path] = (what[0], int(mode, 8), *what[2:])
        found.pop(b"", None)
        return found

    def blobs(self, repository, names):
        """By name."""
        stream = io.BytesIO(self.git(repository, "cat-file", "--batch", input=b"\n".join(names)).stdout)
        found = {}
        while head := stream.readline().split():
            found[head[0]] = stream.read(int(head[2]))
            stream.read(1)
        return found

    def is_sound(self):
        """git finds nothing wrong in any of them."""
        for repository in self.repositories():
            done = self.git(repository, "fsck", "--full", "--no-dangling", "--no-progress")
            lines = (done.stdout + done.stderr).decode().splitlines()
            told = [line for line in lines if not line.startswith("notice:")]
            assert done.returncode == 0 and not told, (repository, done.returncode, told)


def skips(told):
    """What a snapshot has left out: path and reason."""
    found = {bytes.fromhex(s["path_bytes"]) if "path_bytes" in s else s["path"].encode(): s["reason"]
             for s in told["skipped"]}
    assert told["skipped_count"] >= len(found)
    return found
