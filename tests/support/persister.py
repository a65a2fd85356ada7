# SPDX-License-Identifier: MIT
"""persister.py -- drives tests/tools/persister.c, and reads the logs that it writes."""

import subprocess


class Persister:
    """A program that keeps a log; use as a context manager. Ended, it ends as it is."""

    def __init__(self, program, log, number=1, flush_ms=100):
        self.log = log
        self.process = subprocess.Popen([program, log, str(number), str(flush_ms)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def do(self, command):
        """What the call returned."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def ok(self, *commands):
        for command in commands:
            got = self.do(command)
            assert got == 0, (command, got)

    def signal(self, number):
        self.process.send_signal(number)
        self.process.wait()


def parts(log):
    """The head's lines, without their blanks, and the text."""
    whole = log.read_text()
    head, _, text = whole.partition("---\n\n")
    assert len(head) + 5 == 512, len(head)
    return [line.rstrip(" ") for line in head.splitlines()], text


def fields(log):
    head, _ = parts(log)
    return dict(line.split(": ", 1) for line in head[1:])
