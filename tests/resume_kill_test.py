#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resume_kill_test.py -- conversations cut off by SIGKILL at random turns go on where they were.

usage: resume_kill_test.py AHR_BINARY CHAT_AGENT [--sanitized]; prints TAP.
AHR_TEST_SEED chooses other conversations, AHR_TEST_LONG makes it 1000 of them.
"""

import json
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from support.ahr import Ahr
from support.processes import wait_for
from support.run_folder import io_of, run_folder
from support.tap import run, test

BINARY, AGENT = sys.argv[1], os.path.abspath(sys.argv[2])
IS_SANITIZED = "--sanitized" in sys.argv
SEED = int(os.environ.get("AHR_TEST_SEED", "1"))
COUNT = 1000 if os.environ.get("AHR_TEST_LONG") else 40 if IS_SANITIZED else 200
ATONCE = 4
QUIET_MS = 300


def lines_of(rng):
    words = ["mend", "the", "parser", "naïve 世界", "state of it", "", "a" * rng.choice((1, 300)), "{\"json\":1}"]
    return [f"{n} " + " ".join(rng.choice(words) for _ in range(rng.randrange(1, 6)))
            for n in range(rng.randrange(1, 9))]


def state_after(lines):
    """What the agent says of itself when it was told these, without ahr."""
    said = subprocess.run([AGENT], input="".join(f"{line}\n" for line in lines) + "state\n",
                          capture_output=True, text=True, check=True).stdout
    return said.splitlines()[-1]


class Talk:
    """A run that is talked with, and killed with all that it has started before it can say more."""

    def __init__(self, a, name):
        self.a, self.name = a, name
        self.process = a.popen("run", "-q", "--on-interrupted", "fresh", "--name", name, "--", AGENT,
                               "--pause-ms", "1", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               start_new_session=True)

    def tell(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def io(self):
        path = run_folder(self.a.dir, self.name)
        return io_of(path) if (path / "io.log").exists() else []


def cut_off(a, number):
    """Killed when some of its turns are told; the last of them may be answered or not, or in part."""
    rng = random.Random(SEED * 100003 + number)
    lines = lines_of(rng)
    talk = Talk(a, f"talk-{number}")
    for at, line in enumerate(lines):
        talk.tell(line)
        is_last = at == len(lines) - 1
        if rng.random() < (0.5 if is_last else 0.8):  # read what it says, or go on at once
            talk.process.stdout.readline()
    wait_for(lambda: sum(e["direction"] == "in" for e in talk.io()) == len(lines))
    talk.kill()
    return lines


def goes_on(number):
    with Ahr(BINARY) as a:
        lines = cut_off(a, number)
        name = f"talk-{number}"
        log = run_folder(a.dir, name) / "io.log"
        wait_for(lambda: not a.run("resume", name, "--dry-run", "--json").returncode)  # its command is gone, too
        before = log.read_bytes()
        done = a.run("resume", name, "--verify", "--quiet-ms", QUIET_MS, input=b"state\n")
        said = done.stderr.decode()
        assert done.returncode == 0, said
        assert f"by {len(lines)} message" in said and "resume: 0 differences in" in said, said
        assert done.stdout.decode().splitlines()[-1] == state_after(lines), (lines, done.stdout)
        assert log.read_bytes() == before, "the old log was changed"
        facts = {s["name"]: s for s in json.loads(a.ok("list", "--json"))}
        assert facts[name]["status"] == "interrupted"
        new = next(s for s in facts.values() if s["name"] != name)
        assert new["resumed_from"] == facts[name]["id"] and new["status"] == "completed", new
        return len(lines)


@test
def conversations_cut_off_anywhere_go_on_with_no_difference():
    with ThreadPoolExecutor(ATONCE) as some:
        turns = sum(some.map(goes_on, range(COUNT)))
    print(f"# {COUNT} sessions, {turns} turns")
    assert turns > COUNT


@test
def a_planted_difference_is_found_and_told():
    with Ahr(BINARY) as a:
        lines = [f"line {n}" for n in range(6)]
        talk = Talk(a, "talk")
        for line in lines:
            talk.tell(line)
        said = subprocess.run([AGENT], input="".join(f"{line}\n" for line in lines).encode(),
                              capture_output=True, check=True).stdout
        wait_for(lambda: sum(e["direction"] == "out" for e in talk.io()) == said.count(b"\n"))
        talk.kill()
        wait_for(lambda: not a.run("resume", "talk", "--dry-run").returncode)
        for at in (1, 4):
            done = a.run("resume", "talk", "--verify", "--quiet-ms", QUIET_MS, "--", AGENT, "--differ", at)
            said = done.stderr.decode()
            assert done.returncode == 1, said
            assert "difference" in said and " 0 differences" not in said, said
            assert "now 'something else'" in said, said
        # One that stands in the recording.
        log = run_folder(a.dir, "talk") / "io.log"
        recorded = log.read_text().splitlines()
        out = [n for n, line in enumerate(recorded) if json.loads(line)["direction"] == "out"]
        entry = json.loads(recorded[out[2]])
        entry["content"] = "never said"
        recorded[out[2]] = json.dumps(entry)
        log.write_text("\n".join(recorded) + "\n")
        done = a.run("resume", "talk", "--verify", "--quiet-ms", QUIET_MS)
        said = done.stderr.decode()
        assert done.returncode == 1 and "1 difference in" in said, said
        assert "the first is answer 3: recorded 'never said'" in said, said


@test
def a_resume_that_is_cut_off_goes_on_as_well():
    with Ahr(BINARY) as a:
        lines = cut_off(a, 7)
        wait_for(lambda: not a.run("resume", "talk-7", "--dry-run").returncode)
        again = a.popen("resume", "talk-7", "-q", "--name", "second", "--quiet-ms", QUIET_MS,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        again.stdin.write(b"one more\n")
        again.stdin.flush()
        path = run_folder(a.dir, "second")
        wait_for(lambda: (path / "io.log").exists() and (told := io_of(path)) and told[-1]["direction"] == "out"
                 and sum(e["direction"] == "in" for e in io_of(path)) == len(lines) + 1)
        again.send_signal(signal.SIGKILL)
        again.communicate()
        wait_for(lambda: not a.run("resume", "second", "--dry-run").returncode)
        done = a.run("resume", "second", "--verify", "--quiet-ms", QUIET_MS, input=b"state\n")
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode().splitlines()[-1] == state_after([*lines, "one more"])


run()
