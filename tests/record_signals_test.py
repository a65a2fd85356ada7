#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_signals_test.py -- `ahr record` told to stop, stopped, hung up or left alone.

Whatever happens the recording is whole, its status right, the terminal as it was, and nobody left.

usage: record_signals_test.py AHR [--sanitized]
"""

import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import has_heard, is_gone, kill, state, wait_for
from support.recorder import IS_LONG, IS_SANITIZED, Recorder, without_calming
from support.tap import run, test

AHR = sys.argv[1]
ROUNDS = 100 if IS_LONG else 12
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
SLOWNESS = 6 if IS_SANITIZED else 1

DIES = "echo ready; exec sleep 1000"
TRAPS = "trap 'echo told; exit 3' INT TERM HUP QUIT; echo ready; while :; do sleep 0.02; done"
IGNORES = "trap '' INT TERM HUP QUIT; echo ready; while :; do sleep 0.02; done"
# Goes on until it is told by a file.
WAITS = "echo ready; until [ -e go ]; do sleep 0.02; done; echo went on; exit 5"
# 24 MB, counted; the last screen is painted when a file is there.
FLOODS = """
head -c 240000 /dev/zero | tr '\\0' x | fold -w 79 >piece
n=0
while [ $n -lt 100 ]; do cat piece; n=$((n + 1)); echo $n >count; done
until [ -e go ]; do sleep 0.02; done
printf '\\033[2J\\033[H'
for row in 1 2 3 4 5 6 7 8 9; do
    printf '\\033[%d;%dH\\033[3%dmrow %d' $row $row $((row % 8)) $row
done
printf '\\033[15;5Hthe last word'
exit 7
"""


FULL_SCREEN = "printf '\\033[?1049h\\033[?1000h'; " + WAITS


def name_of(number):
    return signal.Signals(number).name[3:]


def until(moment):
    wait_for(lambda: time.monotonic() >= moment)


class Session:
    """A recorded sh -c SCRIPT on a terminal, or with pipes."""

    def __init__(self, a, script, *options, on_terminal=True):
        self.a = a
        self.log = a.log()
        self.terminal = a.terminal() if on_terminal else None
        self.before = self.terminal and self.terminal.stty()
        command = ("record", *options, "--", "sh", "-c", script)
        self.start = time.monotonic()
        if on_terminal:
            self.client = a.on(self.terminal, *command, stderr=self.log)
        else:
            self.client = a.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=self.log)

    def find_host(self):
        self.host = self.a.host(self.client.pid)
        return self.host

    def is_ready(self):
        if self.terminal:
            self.terminal.wait_for("ready\r\n")
        else:
            assert self.client.stdout.readline() == b"ready\r\n"
        self.find_host()
        self.agent = self.a.agent(self.host)
        return self

    def pid(self, whom):
        return self.client.pid if whom == "client" else self.host

    def ends(self, status):
        self.a.ends(self.client, status)
        self.is_over()

    def is_over(self):
        """Nobody is left, the terminal is as it was."""
        self.a.nobody_is_left()
        if self.terminal:
            assert self.terminal.stty() == self.before, "the terminal's settings have changed"
        self.log.close()
        for pipe in (self.client.stdin, self.client.stdout):
            if pipe:
                pipe.close()

    def is_recorded(self, status, number=None, exit_code=None):
        a = self.a
        meta = a.meta()
        have = meta["status"], meta.get("signal"), meta.get("exitCode")
        assert have[:2] == (status, number and name_of(number)), have
        assert exit_code is None or have[2] == exit_code, have
        facts = a.verify(meta["sessionId"])
        assert facts["warnings"] == [] == facts["damaged"], facts
        assert meta["totalBytes"] == facts["bytes"] and meta["endedAtNs"] >= meta["startedAtNs"]
        if self.terminal:
            shown = self.terminal.settle()
            text = shown if status in ("completed", "failed") else without_calming(shown)
            assert a.ok("cat", "last") == text, shown


def one_round(draw, whom, n):
    number, is_double = draw.choice(SIGNALS), draw.random() < 0.5
    script = draw.choice((DIES, TRAPS))
    delay = 0 if n % 4 == 0 else draw.uniform(0, 0.03 * SLOWNESS)
    what = f"round {n} of seed {SEED}: {name_of(number)}{' twice' if is_double else ''}" \
           f" to the {whom} after {delay * 1000:.1f} ms, {'DIES' if script == DIES else 'TRAPS'}"
    try:
        with Recorder(AHR) as a:
            s = Session(a, script)
            if whom == "host":
                s.find_host()
            until(s.start + delay)
            for _ in range(1 + is_double):
                kill(s.pid(whom), number)
            status = s.client.wait(60)
            s.is_over()
            was_ready = b"ready" in s.terminal.settle()
            if not a.names("sessions"):  # it had not begun
                assert not was_ready and status in (-number, 128 + number, 1), (was_ready, status)
                assert a.names("live") == [], a.names("live")
                return
            code = None if status == 128 + number else status
            assert code in (None, 3), status
            s.is_recorded("aborted", number, code)
    except BaseException:
        print(f"# {what}")
        raise


@test
def signals_to_the_client_at_random_moments_end_the_session():
    draw = random.Random(SEED)
    for n in range(ROUNDS):
        one_round(draw, "client", n)


@test
def signals_to_the_host_at_random_moments_end_the_session():
    draw = random.Random(SEED + 1)
    for n in range(ROUNDS):
        one_round(draw, "host", n)


@test
def each_signal_reaches_the_agent_by_its_name():
    for whom in ("client", "host"):
        for number in SIGNALS:
            for on_terminal in (True, False):
                with Recorder(AHR) as a:
                    s = Session(a, DIES, on_terminal=on_terminal).is_ready()
                    kill(s.pid(whom), number)
                    s.ends(128 + number)
                    s.is_recorded("aborted", number)


@test
def an_agent_that_ends_in_its_own_way_is_heard_out():
    for whom in ("client", "host"):
        for number in SIGNALS:
            with Recorder(AHR) as a:
                s = Session(a, TRAPS).is_ready()
                kill(s.pid(whom), number)
                kill(s.pid(whom), number)  # the same request twice, as `timeout` sends it
                s.ends(3)
                s.is_recorded("aborted", number, 3)
                assert a.ok("cat", "last").endswith(b"told\r\n")


@test
def an_agent_that_ignores_everything_is_killed_after_a_while():
    with Recorder(AHR) as a:
        s = Session(a, IGNORES).is_ready()
        begun = time.monotonic()
        kill(s.client.pid, signal.SIGTERM)
        s.ends(128 + signal.SIGKILL)
        assert time.monotonic() - begun > 4
        s.is_recorded("aborted", signal.SIGTERM)


@test
def a_second_signal_kills_an_agent_that_ignores_the_first():
    for whom, numbers in (("client", (signal.SIGINT, signal.SIGINT)),
                          ("host", (signal.SIGTERM, signal.SIGHUP))):
        with Recorder(AHR) as a:
            s = Session(a, IGNORES).is_ready()
            begun = time.monotonic()
            kill(s.pid(whom), numbers[0])
            until(begun + 0.6)
            assert not is_gone(s.agent)
            kill(s.pid(whom), numbers[1])
            s.ends(128 + signal.SIGKILL)
            assert time.monotonic() - begun < 4.5, "that was the grace of the first"
            meta = a.meta()
            assert meta["status"] == "aborted" and meta["signal"] in map(name_of, numbers)
            a.verify("last")


@test
def a_second_signal_soon_after_is_the_same_request():
    for whom in ("client", "host"):
        with Recorder(AHR) as a:
            s = Session(a, "trap 'until [ -e go ]; do sleep 0.02; done; exit 3' TERM; echo ready; "
                           "while :; do sleep 0.02; done").is_ready()
            begun = time.monotonic()
            kill(s.pid(whom), signal.SIGTERM)
            until(begun + 0.15)
            kill(s.pid(whom), signal.SIGTERM)
            wait_for(lambda: has_heard(s.client.pid) and has_heard(s.host))
            (a.dir / "go").touch()
            s.ends(3)
            s.is_recorded("aborted", signal.SIGTERM, 3)


@test
def the_whole_group_in_the_foreground_is_told():
    with Recorder(AHR) as a:
        s = Session(a, "sleep 1000 | sleep 1001 | cat & echo ready; wait").is_ready()
        kill(s.host, signal.SIGTERM)
        s.ends(128 + signal.SIGTERM)
        s.is_recorded("aborted", signal.SIGTERM)


@test
def an_agent_killed_by_another_hand_has_crashed():
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        with Recorder(AHR) as a:
            s = Session(a, DIES).is_ready()
            kill(s.agent, number)
            s.ends(128 + number)
            s.is_recorded("crashed", number)


@test
def a_stopped_agent_is_continued():
    with Recorder(AHR) as a:
        s = Session(a, WAITS).is_ready()
        kill(s.agent, signal.SIGSTOP)
        (a.dir / "go").touch()
        s.ends(5)
        s.is_recorded("failed", None, 5)


# -- the client --


def shows_the_end(a, s):
    assert b"the last word" in a.shows_the_end(s.terminal)
    assert len(a.ok("cat", "last")) > 24_000_000


def count(a):
    try:
        return int((a.dir / "count").read_text() or 0)
    except FileNotFoundError:
        return 0


@test
def a_stopped_client_does_not_stop_the_agent():
    with Recorder(AHR) as a:
        s = Session(a, FLOODS)
        wait_for(lambda: count(a) > 0)
        kill(s.client.pid, signal.SIGSTOP)
        wait_for(lambda: state(s.client.pid) == "T")
        begun = time.monotonic()
        wait_for(lambda: count(a) == 100, lambda: f"the agent stands still at {count(a)}")
        until(begun + (10 if IS_LONG else 0))
        (a.dir / "go").touch()
        kill(s.client.pid, signal.SIGCONT)
        s.ends(7)
        shows_the_end(a, s)


@test
def a_session_ends_while_its_client_is_stopped():
    with Recorder(AHR) as a:
        s = Session(a, FLOODS)
        wait_for(lambda: count(a) > 0)
        s.find_host()
        agent = a.agent(s.host)
        kill(s.client.pid, signal.SIGSTOP)
        (a.dir / "go").touch()
        wait_for(lambda: is_gone(agent), lambda: f"the agent stands still at {count(a)}")
        wait_for(lambda: a.meta()["status"] == "failed" if a.names("sessions") else False,
                 "the session does not end")
        kill(s.client.pid, signal.SIGCONT)
        s.ends(7)
        shows_the_end(a, s)


@test
def a_terminal_that_hangs_does_not_stop_the_agent():
    with Recorder(AHR) as a:
        s = Session(a, FLOODS)
        wait_for(lambda: count(a) > 0)
        s.terminal.pause()
        wait_for(lambda: count(a) == 100, lambda: f"the agent stands still at {count(a)}")
        (a.dir / "go").touch()
        s.terminal.resume()
        s.ends(7)
        shows_the_end(a, s)


@test
def a_terminal_that_was_skipped_shows_what_comes_later():
    with Recorder(AHR) as a:
        # In small pieces, so that whole ones fill the way to the client.
        script = "echo ready; until [ -e flood ]; do sleep 0.02; done; n=0; " \
                 "while [ $n -lt 40000 ]; do printf %0100d 0; n=$((n + 1)); done; " \
                 "echo flooded | tee flooded; until [ -e go ]; do sleep 0.02; done; exit 5"
        s = Session(a, script).is_ready()
        kill(s.client.pid, signal.SIGSTOP)
        (a.dir / "flood").touch()
        wait_for(lambda: (a.dir / "flooded").exists(), "the agent stands still")
        kill(s.client.pid, signal.SIGCONT)
        s.terminal.wait_for("flooded")
        (a.dir / "go").touch()
        s.ends(5)
        a.shows_the_end(s.terminal)


@test
def a_terminal_that_hangs_does_not_keep_us_from_hearing_a_signal():
    for whom in ("client", "host"):
        with Recorder(AHR) as a:
            s = Session(a, "echo ready; exec yes").is_ready()
            s.terminal.pause()
            had = len(a.ok("cat", "last"))
            wait_for(lambda: len(a.ok("cat", "last")) > had + 2_000_000, "the agent stands still")
            kill(s.pid(whom), signal.SIGTERM)
            wait_for(lambda: a.names("sessions"), "the session does not end")
            s.terminal.resume()
            s.ends(128 + signal.SIGTERM)
            assert a.meta()["status"] == "aborted" and a.meta()["signal"] == "TERM"
            a.verify("last")


@test
def a_pipe_that_nobody_reads_does_not_keep_us_from_hearing_a_signal():
    for whom in ("client", "host"):
        with Recorder(AHR) as a:
            s = Session(a, "echo ready; exec yes", on_terminal=False).is_ready()
            kill(s.pid(whom), signal.SIGTERM)
            wait_for(lambda: a.names("sessions"), "the session does not end")
            shown = s.client.stdout.read()
            s.ends(128 + signal.SIGTERM)
            s.is_recorded("aborted", signal.SIGTERM)
            assert b"ready\r\n" + shown == a.ok("cat", "last")


def output_ends(way):
    """Where it reads, and the client's output; the terminal is that of its input."""
    if way == "socket":
        return socket.socketpair()
    ours, theirs = os.pipe()
    return open(ours, "rb"), open(theirs, "wb")


@test
def nobody_who_reads_nothing_keeps_it_from_ending():
    for way in ("socket", "pipe", "terminal"):
        with Recorder(AHR) as a, a.log() as log:
            t = a.terminal()
            before = t.stty()
            ours, theirs = output_ends(way)
            client = a.on(t, "record", "--", "yes", stderr=log,
                          stdout=theirs if way != "terminal" else None)
            t.pause()
            wait_for(lambda: a.recorded_size() > 1_500_000, "nothing comes")
            begun = time.monotonic()
            kill(client.pid, signal.SIGTERM)
            a.ends(client, 128 + signal.SIGTERM)
            assert time.monotonic() - begun < 4, "that was the agent's grace"
            a.nobody_is_left()
            assert t.stty() == before, "the terminal's settings have changed"
            assert a.meta()["status"] == "aborted" and a.meta()["signal"] == "TERM"
            ours.close(), theirs.close()


@test
def a_full_pipe_does_not_keep_the_host_from_ending():
    with Recorder(AHR) as a:
        s = Session(a, "echo ready; exec yes", on_terminal=False).is_ready()
        a.stands_still(1_000_000)
        kill(s.host, signal.SIGTERM)
        wait_for(lambda: a.names("sessions"), "the session does not end")
        s.client.stdout.read()
        s.ends(128 + signal.SIGTERM)
        s.is_recorded("aborted", signal.SIGTERM)


def give(fd, size):
    """Writes so much, or until nothing is taken for a while; how much was."""
    os.set_blocking(fd, False)
    given, last = 0, time.monotonic()
    while given < size and time.monotonic() < last + 0.3:
        try:
            given += os.write(fd, b"y\n" * 2048)
            last = time.monotonic()
        except BlockingIOError:
            select.select([], [fd], [], 0.1)
    return given


@test
def input_that_nobody_reads_does_not_keep_us_from_hearing_a_signal():
    with Recorder(AHR) as a:
        s = Session(a, DIES, on_terminal=False).is_ready()
        given = give(s.client.stdin.fileno(), 2_000_000)
        assert 0 < given < 500_000, f"{given} bytes are on their way to nobody"
        begun = time.monotonic()
        kill(s.client.pid, signal.SIGTERM)
        s.ends(128 + signal.SIGTERM)
        assert time.monotonic() - begun < 4, "that was the agent's grace"
        s.is_recorded("aborted", signal.SIGTERM)


@test
def timeout_ends_a_session_in_good_order():
    with Recorder(AHR) as a:
        done = a.line("timeout 0.2 $AHR record -- sh -c 'echo ready; exec sleep 1000'")
        assert done.returncode == 124 and done.stdout == b"ready\r\n", done
        a.nobody_is_left()
        assert a.meta()["status"] == "aborted" and a.meta()["signal"] == "TERM"


def leaves(shown, *modes):
    return all(b"\x1b[?%dl" % mode in shown for mode in modes)


@test
def a_full_screen_program_that_is_cut_off_leaves_its_screen():
    with Recorder(AHR) as a:
        s = Session(a, FULL_SCREEN).is_ready()
        kill(s.client.pid, signal.SIGTERM)
        s.ends(128 + signal.SIGTERM)
        after = s.terminal.settle().partition(b"ready\r\n")[2]
        assert leaves(after, 1000, 1049), after
    with Recorder(AHR) as a:
        s = Session(a, DIES).is_ready()
        kill(s.client.pid, signal.SIGTERM)
        s.ends(128 + signal.SIGTERM)
        shown = s.terminal.settle()  # one that has not entered it: the cursor would jump
        assert leaves(shown, 1000) and not leaves(shown, 1049), shown


@test
def the_screen_of_a_full_screen_program_is_left_while_it_goes_on():
    for number in (signal.SIGKILL, signal.SIGTSTP):
        with Recorder(AHR) as a:
            s = Session(a, FULL_SCREEN).is_ready()
            kill(s.client.pid, number)
            after = s.terminal.wait_for(b"\x1b[?1047l" if number == signal.SIGKILL
                                        else b"\x1b[?1049l")
            assert leaves(after, 1000) and not is_gone(s.agent), after
            wait_for(lambda: s.terminal.stty() == s.before)
            wait_for(lambda: state(s.client.pid) in "TZ")  # before that it would stop after all
            (a.dir / "go").touch()
            kill(s.client.pid, signal.SIGCONT)
            assert s.client.wait(60) in (-signal.SIGKILL, 5)
            s.is_over()


@test
def a_killed_client_on_a_terminal_does_not_end_the_session():
    with Recorder(AHR) as a:
        s = Session(a, WAITS).is_ready()
        kill(s.client.pid)
        s.client.wait(60)
        wait_for(lambda: s.terminal.stty() == s.before, "the terminal is not restored")
        assert a.meta(a.live())["status"] == "active"
        (a.dir / "go").touch()
        s.is_over()
        meta = a.meta()
        assert meta["status"] == "failed" and meta["exitCode"] == 5
        assert a.ok("cat", "last") == b"ready\r\nwent on\r\n"


@test
def a_killed_client_without_a_terminal_ends_the_session():
    with Recorder(AHR) as a:
        s = Session(a, WAITS, on_terminal=False).is_ready()
        kill(s.client.pid)
        s.client.wait(60)
        s.is_over()
        s.is_recorded("aborted", signal.SIGHUP)


@test
def a_closed_window_ends_the_session():
    with Recorder(AHR) as a:
        s = Session(a, DIES).is_ready()
        s.terminal.hang_up()
        s.client.wait(60)
        s.terminal = None
        s.is_over()
        s.is_recorded("aborted", signal.SIGHUP)


@test
def with_detach_a_closed_window_does_not():
    with Recorder(AHR) as a:
        s = Session(a, WAITS, "--detach").is_ready()
        s.terminal.hang_up()
        s.client.wait(60)
        s.terminal = None
        assert a.meta(a.live())["status"] == "active" and not is_gone(s.agent)
        (a.dir / "go").touch()
        s.is_over()
        s.is_recorded("failed", None, 5)
        assert a.ok("cat", "last") == b"ready\r\nwent on\r\n"


@test
def with_detach_a_hang_up_lets_the_client_go():
    with Recorder(AHR) as a:
        s = Session(a, WAITS, "--detach").is_ready()
        kill(s.client.pid, signal.SIGHUP)
        a.ends(s.client, 0)
        assert s.terminal.stty() == s.before
        assert a.meta(a.live())["status"] == "active" and not is_gone(s.agent)
        (a.dir / "go").touch()
        s.is_over()
        assert a.meta()["status"] == "failed" and a.meta()["exitCode"] == 5
        assert a.ok("cat", "last") == b"ready\r\nwent on\r\n"


@test
def with_detach_other_signals_end_the_session():
    with Recorder(AHR) as a:
        s = Session(a, DIES, "--detach").is_ready()
        kill(s.client.pid, signal.SIGTERM)
        s.ends(128 + signal.SIGTERM)
        s.is_recorded("aborted", signal.SIGTERM)


@test
def a_hang_up_that_is_ignored_from_the_start_is_ignored():
    with Recorder(AHR) as a, a.log() as log:  # as under nohup
        client = a.start("record", "--", "sh", "-c", WAITS, stdout=subprocess.PIPE, stderr=log,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        assert client.stdout.readline() == b"ready\r\n"
        for pid in (client.pid, a.host(client.pid)):
            kill(pid, signal.SIGHUP)
            wait_for(lambda pid=pid: has_heard(pid))
        (a.dir / "go").touch()
        assert client.communicate(timeout=60)[0] == b"went on\r\n"
        a.ends(client, 5)
        assert a.meta()["status"] == "failed" and a.meta()["exitCode"] == 5


@test
def a_key_that_kills_the_agent_aborts_the_session():
    for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
        with Recorder(AHR) as a:
            s = Session(a, DIES).is_ready()
            s.terminal.type(key)
            s.ends(128 + number)
            meta = a.meta()
            assert (meta["status"], meta["signal"]) == ("aborted", name_of(number)), meta


@test
def keys_go_to_the_agent_not_to_us():
    for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
        with Recorder(AHR) as a:
            s = Session(a, TRAPS).is_ready()
            s.terminal.type(key)
            s.ends(3)
            s.is_recorded("failed", None, 3)  # by itself: nobody told us


run()
