#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_kill_test.py -- kill -9 of client and host at random moments loses nothing that was shown.

usage: record_kill_test.py AHR [--sanitized]
"""

import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, kill, wait_for
from support.recorder import IS_LONG, IS_SANITIZED, Recorder, without_calming
from support.tap import run, test

AHR = sys.argv[1]
ROUNDS = 500 if IS_LONG else 25 if IS_SANITIZED else 100
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)

# Bursts and pauses; the n-th line says n, so that the truth is known.
CHATTER = """
n=0
while :; do
    burst=$((n * 7919 % 97))
    while [ $burst -ge 0 ]; do
        n=$((n + 1)) burst=$((burst - 1))
        echo "line $n of an agent that talks and talks"
    done
    [ $((n % 5)) != 0 ] || sleep 0.002
done
"""


def truth(length):
    """The first bytes that CHATTER writes."""
    text, n = bytearray(), 0
    while len(text) < length:
        n += 1
        text += b"line %d of an agent that talks and talks\r\n" % n
    return bytes(text[:length])


class Screen:
    """Where the client shows things: a pipe or a terminal."""

    def __init__(self, a, on_terminal):
        self.terminal = a.terminal() if on_terminal else None
        self.before = self.terminal and self.terminal.stty()
        self.log = a.log()
        command = ("record", "--block-ms", "20", "--", "sh", "-c", CHATTER)
        if on_terminal:
            self.client = a.on(self.terminal, *command, stderr=self.log)
        else:
            self.client = a.start(*command, stdout=subprocess.PIPE, stderr=self.log)
            self.bytes = bytearray()

    def wait_for(self, size):
        if self.terminal:
            wait_for(lambda: len(self.terminal.output) >= size)
            return
        while len(self.bytes) < size:
            more = os.read(self.client.stdout.fileno(), 65536)
            assert more, "the client has ended"
            self.bytes += more

    def ends(self):
        """Waits for the client's end; its status."""
        if not self.terminal:
            with self.client.stdout as pipe:
                self.bytes += pipe.read()
        self.log.close()
        return self.client.wait(60)

    def shown(self):
        return self.terminal.settle() if self.terminal else bytes(self.bytes)


def strike(a, screen, host, victims, size):
    """Kills them; afterwards nobody of ours is left."""
    client = screen.client
    if victims == "host":
        kill(host)
        assert screen.ends() == 1
    elif victims == "client":
        kill(client.pid)
        screen.ends()
        if screen.terminal:  # it goes on without
            had = len(a.run("cat", "last").stdout)
            wait_for(lambda: is_gone(host) or len(a.run("cat", "last").stdout) > had)
            assert size == 0 or not is_gone(host)
            kill(host)
    else:
        for pid in (client.pid, host) if victims == "client first" else (host, client.pid):
            kill(pid)
        screen.ends()
    a.nobody_is_left()


def one_round(draw, n):
    victims = draw.choice(("host", "client", "client first", "host first"))
    on_terminal = draw.random() < 0.5
    # From before the first byte to some MB; a few right at the start.
    size = 0 if draw.random() < 0.2 else int(10 ** draw.uniform(0, 6))
    what = f"round {n} of seed {SEED}: {victims} killed after {size} bytes" \
           f"{' on a terminal' if on_terminal else ''}"
    try:
        with Recorder(AHR) as a:
            screen = Screen(a, on_terminal)
            host = a.host(screen.client.pid)
            screen.wait_for(size)
            strike(a, screen, host, victims, size)
            shown = without_calming(screen.shown())
            if on_terminal and victims in ("host", "client"):  # with both, nobody can
                assert screen.terminal.stty() == screen.before, "terminal not restored"
            if victims == "host" and size:
                assert "ahr recover" in a.said()
            # Without a terminal the host of a killed client comes to an end by itself.
            ends = {"client": ("aborted",), "client first": ("aborted", "interrupted")}
            is_whole(a, shown, not on_terminal and ends.get(victims) or ("interrupted",), size)
    except BaseException:
        print(f"# {what}")
        raise


def is_whole(a, shown, statuses, size):
    if size:
        early = a.run("cat", "last")  # readable as it lies there
        assert early.returncode == 0, early.stderr
        assert early.stdout.startswith(shown), (len(early.stdout), len(shown))
    a.ok("recover", "--all")
    # What was just being made may be somebody's, for all that others know; it goes later.
    left = [name for name in a.names("live") if size or not name.startswith(".new-")]
    assert left == [], left
    if not a.names("sessions"):
        assert size == 0 and shown == b""  # struck before it was there
        return
    folder = a.home / "sessions" / a.names("sessions")[0]
    recorded = a.ok("cat", folder.name)
    assert recorded.startswith(shown), (len(recorded), len(shown))
    assert recorded == truth(len(recorded))
    facts = a.verify(folder.name)
    assert facts["damaged"] == [] and facts["bytes"] == len(recorded)
    meta = a.meta(folder)
    assert meta["status"] in (statuses if size else ("aborted", "interrupted")), meta
    assert meta["sessionId"] == folder.name and meta["totalBytes"] == len(recorded)
    if recorded:  # else it may have been struck before the command was noted down, and ran
        assert meta["cmd"][0] == "sh" and meta["endedAtNs"] >= meta["startedAtNs"]
    assert not list(folder.glob("*.tail-*")) and not (folder / "lock").exists()
    whole = {p.name: p.read_bytes() for p in folder.iterdir()}
    a.ok("recover", "--all")  # a second time changes nothing
    assert whole == {p.name: p.read_bytes() for p in folder.iterdir()}


@test
def what_was_shown_survives_kill_9_at_random_moments():
    print(f"# seed {SEED}")
    draw = random.Random(SEED)
    for n in range(ROUNDS):
        one_round(draw, n)


@test
def a_host_killed_under_an_out_file_is_recovered_there():
    with Recorder(AHR) as a, a.log() as log:
        client = a.start("record", "--out-file", "x.ahr", "--", "sh", "-c", CHATTER,
                         stdout=subprocess.PIPE, stderr=log)
        host = a.host(client.pid)
        shown = client.stdout.read(100_000)
        kill(host)
        shown += client.stdout.read()
        assert client.wait(60) == 1
        a.nobody_is_left()
        a.ok("recover", "--all")
        assert a.ok("cat", "x.ahr").startswith(shown)
        assert '"interrupted"' in (a.dir / "x.meta.json").read_text()
        assert a.names("live") == [] == a.names("sessions")
        assert not list(a.dir.glob("x.ahr.tail-*"))


@test
def recover_leaves_a_living_session_alone():
    with Recorder(AHR) as a, a.log() as log:
        script = "echo here; until [ -e go ]; do sleep 0.02; done"
        client = a.start("record", "--", "sh", "-c", script,
                         stdout=subprocess.PIPE, stderr=log)
        assert client.stdout.read(6) == b"here\r\n"
        name = a.live().name
        a.ok("recover", "--all")
        assert a.fails(5, "recover", name)
        assert a.names("live") == [name] and a.meta(a.live())["status"] == "active"
        (a.dir / "go").touch()
        a.ends(client, 0)
        assert a.meta()["status"] == "completed"


@test
def the_agent_of_a_killed_host_is_hung_up():
    with Recorder(AHR) as a, a.log() as log:
        client = a.start("record", "--", "sh", "-c", "echo $$; exec sleep 1000",
                         stdout=subprocess.PIPE, stderr=log)
        agent = int(client.stdout.readline())
        kill(a.host(client.pid))
        wait_for(lambda: is_gone(agent))
        assert client.wait(60) == 1


run()
