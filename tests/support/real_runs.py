# SPDX-License-Identifier: MIT
"""real_runs.py -- real runs of `ahr run` in a project of their own, ended or going on.

    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6")
        with a.live() as run:
            run.say("hello")
"""

import json
import os
import signal
import subprocess
from contextlib import contextmanager

from support.ahr import Ahr
from support.processes import wait_for
from support.run_folder import facts_of, io_of, log_path, run_folder

# Says what it is told, and does what stands behind "do ".
LOOP = 'echo up; while read -r word rest; do case $word in do) eval "$rest";; *) echo "got $word $rest";; esac; done'


class Live:
    """A run that goes on until end(), stop or kill."""

    def __init__(self, runs, process):
        self.runs, self.process = runs, process

    def line(self):
        return self.process.stdout.readline().decode()

    def until(self, text):
        """Reads on to the line that has it."""
        while text not in (line := self.line()):
            assert line, f"the run ended before {text!r}"
        return line

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait()

    def kill(self):
        """All of it at once, as when the machine goes down."""
        child = self.runs.children(self.process.pid)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for pid in child:
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), f"{pid} lives on")


class Runs(Ahr):
    """A project, and an empty library."""

    def __init__(self, binary, agent=None):
        super().__init__(binary)
        self.agent_path = agent

    def __enter__(self):
        super().__enter__()
        self.project = self.dir / "project"
        self.project.mkdir()
        self.home = self.dir / "home/.local/share/ahr"
        return self

    def run(self, *args, input=b"", env=None, cwd=None, **more):
        return subprocess.run([self.binary, *map(str, args)], input=input, capture_output=True,
                              cwd=cwd or self.project, env={**self.env, **(env or {})}, **more)

    def agent(self, *args, options=()):
        """A run of the mock agent that has ended; what it showed."""
        return self.ok("run", "-q", *options, "--", self.agent_path, "--delay-us", "0", *args)

    @contextmanager
    def live(self, *options, script=LOOP):
        process = self.popen("run", "-q", *options, "--", "sh", "-c", script, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        run = Live(self, process)
        try:
            run.until("up")
            yield run
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                pipe.close()

    def popen(self, *args, **more):
        env = {**self.env, **more.pop("env", {})}
        return subprocess.Popen([self.binary, *map(str, args)], cwd=more.pop("cwd", self.project), env=env, **more)

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(one) for one in file.read().split()]

    def json(self, *args, **more):
        return json.loads(self.ok(*args, "--json", **more))

    def folder(self, name="RUN-001"):
        return run_folder(self.project, name)

    def facts(self, name="RUN-001"):
        return facts_of(self.folder(name))

    def io(self, name="RUN-001"):
        return io_of(self.folder(name))

    def log(self, number=1, name="RUN-001"):
        return log_path(self.folder(name), number).read_text()

    def events(self, session="RUN-001"):
        text = self.ok("export", session, "--format", "events", "--no-redact")
        return [json.loads(line) for line in text.splitlines()]

    def links(self, name="RUN-001"):
        return json.loads((self.folder(name) / "artifacts/links.json").read_text())
