# SPDX-License-Identifier: MIT
"""ahr.py -- runs the real binary in a private HOME."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


class Ahr:
    """A scratch folder with a HOME in it; use as a context manager."""

    def __init__(self, binary):
        self.binary = str(Path(binary).resolve())

    def __enter__(self):
        self._scratch = tempfile.TemporaryDirectory(prefix="ahr-test-")
        self.dir = Path(self._scratch.name)
        (self.dir / "home").mkdir()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("AHR_", "AH_RECORDER_", "XDG_"))
                    or k == "AHR_TEST_LONG"}
        self.env["HOME"] = str(self.dir / "home")
        self.env["AHR_UPKEEP"] = "off"  # nothing goes on behind a test that is not about it
        self.env["AHR_VIEW"] = "off"  # bytes are passed as they are, where the viewer is not asked for
        return self

    def __exit__(self, *_):
        self._scratch.cleanup()

    def run(self, *args, input=b"", env=None, **more):
        return subprocess.run([self.binary, *map(str, args)], input=input, capture_output=True,
                              cwd=self.dir, env={**self.env, **(env or {})}, **more)

    def ok(self, *args, **more):
        """The output of a command that must succeed."""
        done = self.run(*args, **more)
        assert done.returncode == 0, (args, done.returncode, done.stderr.decode())
        return done.stdout

    def fails(self, status, *args, **more):
        """What a command says that must fail with this status."""
        done = self.run(*args, **more)
        assert done.returncode == status, (args, done.returncode, done.stderr.decode())
        return done.stderr.decode()

    def popen(self, *args, **more):
        env = {**self.env, **more.pop("env", {})}
        return subprocess.Popen([self.binary, *map(str, args)], cwd=self.dir, env=env, **more)

    def verify(self, path, status=0):
        done = self.run("verify", "--json", path)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)
