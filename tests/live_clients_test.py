#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_clients_test.py -- several people at one session: attach, watch, send, stop.

Windows are tmux's; terminals that must be slow or stuck are the test's own.

usage: live_clients_test.py AHR MOCK_AGENT [--sanitized]
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, kill, state, wait_for
from support.public_ipc import STATE, STATUS, Peer, frame
from support.queries import mirror_has_seen_all, mirror_of
from support.recorder import Recorder, records
from support.tap import Skip, run, test
from support.terminal import Terminal
from support.tmux import Tmux, may_lose_terminals

AHR, MOCK = sys.argv[1], str(Path(sys.argv[2]).resolve())
DETACH = "\x1dd"

# Tells each size, until it is let go.
SIZES = "trap 'echo size $(stty size)' WINCH; echo size $(stty size); echo ready; " \
        "until [ -e go ]; do sleep 0.02; done; echo over"
HUSH = "echo ready; until [ -e go ]; do sleep 0.02; done; echo over; exit 5"
VIM = "vim", "-u", "NONE", "-i", "NONE", "-N", "-n", "new.txt"
# 50 MB, then a picture; `flooded` is there when it has written all.
FLOOD_SIZE = 50_000_000
FLOOD = """
head -c 1000000 /dev/zero | tr '\\0' x | fold -w 79 >piece
echo ready
until [ -e flood ]; do sleep 0.02; done
n=0
while [ $n -lt 50 ]; do cat piece; n=$((n + 1)); done
printf '\\033[2J\\033[H'
for row in 1 2 3 4 5 6 7 8 9; do
    printf '\\033[%d;%dH\\033[3%dmrow %d' $row $row $((row % 8)) $row
done
printf '\\033[15;5Hthe last word'
touch flooded
until [ -e go ]; do sleep 0.02; done
"""


def need(*tools):
    for tool in ("tmux", *tools):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")


def go(a, name="go"):
    (a.dir / name).touch()


def in_background(a, *argv, options=()):
    """Starts it so; the session's id."""
    session = a.ok("record", "--background", *options, "--", *argv).decode().strip()
    a.live_host()
    return session


def has_output(a, what, count=1):
    def is_there():
        return a.run("cat", "last").stdout.count(what) >= count
    wait_for(is_there, lambda: f"{what} was not written: {a.run('cat', 'last').stdout[-500:]}")


def is_told_size(a, cols, rows):
    """The program has heard of this size, and of none since."""
    want = b"size %d %d" % (rows, cols)
    wait_for(lambda: re.findall(rb"size [\d ]+", a.ok("cat", "last"))[-1:] == [want],
             lambda: f"{want}: {a.ok('cat', 'last')}")


def sizes(a):
    return [r[1:] for r in records(a.session() / "session.ahr") if r[0] == "resize"]


def ended(a):
    """The facts of the session, once it has ended."""
    wait_for(lambda: a.names("sessions") and not a.names("live"), "the session goes on")
    return a.meta()


def counts(a):
    """The host's clients and watchers."""
    with Peer(a.live() / "ctl.sock") as peer:
        peer.send(frame(STATUS))
        selector, body = peer.receive()
        assert selector == STATE, selector
        return struct.unpack_from("<QQHHII", body)[4:]


# -- sizes --


@test
def the_smallest_window_wins():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        first = tmux.program(80, 24, "record", "--", "sh", "-c", SIZES)
        first.shows("ready")
        small = tmux.program(60, 20, "attach")
        is_told_size(a, 60, 20)
        low = tmux.program(100, 10, "attach")
        is_told_size(a, 60, 10)
        for window in (first, small, low):
            window.shows_session()
        small.detaches()
        is_told_size(a, 80, 10)
        low.resize(70, 30)
        is_told_size(a, 70, 24)
        for window in (first, low):
            window.shows_session()
        low.detaches()
        is_told_size(a, 80, 24)
        first.shows_session()
        first.resize(90, 25)
        is_told_size(a, 90, 25)
        first.shows_session()
        go(a)
        assert "over" in first.ends(0)


@test
def watchers_do_not_count():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        first = tmux.program(80, 24, "record", "--", "sh", "-c", SIZES)
        first.shows("ready")
        watcher = tmux.program(40, 5, "watch")
        watcher.shows("ready")
        watcher.type("x")  # is not typed into it
        watcher.type("q")
        watcher.ends(0)
        go(a)
        first.ends(0)
        assert sizes(a) == [(80, 24)]
        assert b"x" not in a.ok("cat", "last")


@test
def fixed_sizes_stay():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        in_background(a, "sh", "-c", SIZES, options=("--cols", 70, "--rows", 12))
        has_output(a, b"ready")
        windows = [tmux.program(*size, "attach") for size in ((60, 20), (100, 10))]
        for window in windows:
            window.shows("ready")
        windows[1].shows_session()
        go(a)
        for window in windows:
            window.ends(0)
        assert sizes(a) == [(70, 12)]


# -- the picture --


def same_after_attach(a, tmux, argv, use, options=()):
    """What is seen in one window before it leaves is seen in the next, whatever the mirror does."""
    in_background(a, *argv, options=options)
    host = a.live_host()
    first = tmux.program(80, 24, "attach")
    use(first)
    first.shows_session()
    before = first.picture()
    first.detaches()
    for mirror_dies in (False, True):
        if mirror_dies:
            mirror = mirror_of(host)
            kill(mirror)
            wait_for(lambda mirror=mirror: is_gone(mirror))
        window = tmux.program(80, 24, "attach")
        wait_for(lambda window=window: window.picture() == before,
                 lambda window=window: f"{window.picture()}, not {before}", 20)
        if not mirror_dies:
            window.detaches()
    return window


@test
def vim_is_seen_again_as_it_was():
    need("vim")
    with Recorder(AHR) as a, Tmux(a) as tmux:
        def use(window):
            window.shows("new.txt")
            window.enter("ihello\rw\u00f6rld \u4e16\u754c\x1b:syntax on\r"
                         ":set number cursorline hlsearch\r/hello\r")
            window.shows("2 w\u00f6rld \u4e16\u754c")
            window.shows("continuing at TOP")
        window = same_after_attach(a, tmux, VIM, use)
        window.enter("oafter\x1b")
        window.shows("after")
        window.shows_session()
        window.enter(":wq\r")
        window.ends(0)
        assert (a.dir / "new.txt").read_text() == "hello\nafter\nw\u00f6rld \u4e16\u754c\n"


@test
def an_agents_region_is_seen_again_as_it_was():
    need()
    for seed in (1, 2, 3):
        with Recorder(AHR) as a, Tmux(a) as tmux:
            script = f"{MOCK} --seed {seed} --no-wait --kill-self KILL; {HUSH}"
            window = same_after_attach(a, tmux, ("sh", "-c", script), lambda w: w.shows("ready"))
            go(a)
            window.ends(0)
            assert ended(a)["exitCode"] == 5


@test
def a_window_of_another_size_shows_the_same():
    need("vim")
    with Recorder(AHR) as a, Tmux(a) as tmux:
        first = tmux.program(80, 24, "record", "--detach", "--", *VIM)
        first.shows("new.txt")
        first.enter("ihello\x1b")
        first.shows("hello")
        second = tmux.program(50, 12, "attach")
        second.shows("hello")
        for window in (first, second):
            window.shows_session()
        second.enter("oand\x1b")
        first.shows("and")
        second.detaches()
        first.shows_session()
        first.enter(":q!\r")
        first.ends(0)


# -- coming and going --


@test
def one_can_come_to_a_session_in_the_background():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        in_background(a, "sh", "-c", "echo who; read name; echo hello $name; " + HUSH)
        window = tmux.program(80, 24, "attach")
        window.shows("who")
        window.enter("me\r")
        window.shows("hello me")
        window.shows_session()
        go(a)
        window.ends(0)
        assert ended(a)["exitCode"] == 5


@test
def one_can_come_back_when_the_window_was_closed():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        may_lose_terminals(a)
        first = tmux.program(80, 24, "record", "--detach", "--", "sh", "-c", HUSH)
        first.shows("ready")
        other = tmux.program(80, 24, "attach")
        other.shows("ready")
        host = a.live_host()
        first.close()
        wait_for(lambda: is_gone(first.pid))
        other.shows_session()
        other.detaches()
        again = tmux.program(80, 24, "attach")
        again.shows("ready")
        assert not is_gone(host)
        go(a)
        again.ends(0)
        assert (ended(a)["status"], ended(a)["exitCode"]) == ("failed", 5)


@test
def the_others_stay_when_the_first_is_killed():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        script = "echo say; read line; echo got $line; " + HUSH
        first = tmux.program(80, 24, "record", "--", "sh", "-c", script)
        first.shows("say")
        other = tmux.program(60, 20, "attach")
        other.shows("say")
        a.live_host()
        first.kill()
        other.enter("words\r")
        other.shows("got words")
        other.shows_session()
        go(a)
        other.ends(0)


@test
def many_come_and_go():
    with Recorder(AHR) as a:
        session = in_background(a, "sh", "-c", "echo ready; read line")
        mirror_has_seen_all(a.live() / "ctl.sock")
        before = a.processes()
        for n in range(10):
            windows = [a.terminal(80 - n, 24) for _ in range(3)]
            clients = [a.on(t, "attach", session, stderr=subprocess.DEVNULL) for t in windows]
            for t in windows:
                t.wait_for("ready")
            assert counts(a) == (3, 0), counts(a)
            for t, client in zip(windows, clients):
                t.type(DETACH)
                a.ends(client, 0)
                t.hang_up()
        wait_for(lambda: counts(a) == (0, 0))
        assert a.processes() == before, (a.processes(), before)
        a.ok("send", session, "enough")
        assert ended(a)["status"] == "completed"


@test
def a_session_does_not_attach_to_itself():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        script = f"{a.binary} attach; echo status $?; " \
                 f"{a.binary} send $AHR_SESSION x; echo status $?; {HUSH}"
        window = tmux.program(80, 24, "record", "--", "sh", "-c", script)
        window.shows("ready")
        text = a.ok("cat", "last")
        statuses = re.findall(rb"status (\d+)", text)
        assert len(statuses) == 2 and b"0" not in statuses, text
        go(a)
        window.ends(5)


@test
def what_has_ended_is_not_attached_to():
    with Recorder(AHR) as a:
        a.ok("record", "--", "true")
        session = a.session().name
        t = a.terminal()
        for command in (("attach", session), ("attach",), ("watch", session)):
            client = a.on(t, *command)
            a.ends(client, 3)
        assert b"ended" in t.settle(), t.settle()
        for command in (("send", session, "x"), ("stop", session)):
            a.fails(3, *command)


# -- the clients' own troubles --


@test
def an_attached_window_that_is_closed_or_killed_is_gone():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        may_lose_terminals(a)
        first = tmux.program(80, 24, "record", "--", "sh", "-c", SIZES)
        first.shows("ready")
        for leave in (lambda w: w.close(), lambda w: w.kill(), lambda w: w.kill(signal.SIGTERM)):
            other = tmux.program(60, 20, "attach")
            is_told_size(a, 60, 20)
            leave(other)
            is_told_size(a, 80, 24)
            first.shows_session()
        go(a)
        first.ends(0)
        assert a.meta()["status"] == "completed"


@test
def an_attached_client_can_be_suspended():
    with Recorder(AHR) as a:
        in_background(a, "sh", "-c", "echo on the screen; exec cat")
        t = a.terminal()
        shell = a.shell(t, "dash")
        before = t.stty()
        shell.type('"$AHR" attach')
        t.wait_for("on the screen")
        client = shell.job("ahr")
        kill(client, signal.SIGTSTP)
        t.wait_for(shell.PROMPT)
        wait_for(lambda: state(client) == "T" and t.stty() == before)
        a.ok("send", "last", "meanwhile")
        has_output(a, b"meanwhile", 2)
        assert b"meanwhile" not in t.output
        shell.type("fg")
        t.wait_for("meanwhile")
        is_painted(a, t)
        t.type("now\r")
        has_output(a, b"now", 2)
        is_painted(a, t)
        t.type("\x04")
        t.wait_for(shell.PROMPT)
        wait_for(lambda: t.stty() == before, "the terminal is not restored")
        assert shell.leave() == 0
        assert ended(a)["status"] == "completed"


@test
def a_stuck_mirror_keeps_nobody_waiting():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        in_background(a, "sh", "-c", "seq 100000; echo; " + HUSH)
        has_output(a, b"ready")
        mirror = mirror_of(a.live_host())
        kill(mirror, signal.SIGSTOP)
        wait_for(lambda: state(mirror) == "T")
        window = tmux.program(80, 24, "attach")
        window.shows("ready")
        window.shows_session()
        go(a)
        window.ends(0)


def is_raw(window):
    """Keys are the program's, Ctrl-C too."""
    fd = os.open(window.ask("pane_tty"), os.O_RDONLY | os.O_NOCTTY)
    try:
        return not termios.tcgetattr(fd)[3] & (termios.ICANON | termios.ISIG)
    finally:
        os.close(fd)


@test
def nothing_is_typed_blindly():
    """Until there is a picture keys wait, and Ctrl-C leaves a recorder that does not answer."""
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        in_background(a, "sh", "-c", "stty -echo; echo; echo ready; cat > typed")
        has_output(a, b"ready")
        host = a.live_host()
        kill(host, signal.SIGSTOP)
        wait_for(lambda: state(host) == "T")
        gone, stays = (tmux.program(80, 24, "attach") for _ in range(2))
        for window in (gone, stays):
            wait_for(lambda window=window: is_raw(window), "the terminal is not made raw")
        gone.enter("one\r")
        gone.type("C-c")
        assert "it goes on" in gone.ends().replace("\n", "")
        stays.enter("two\r")
        kill(host, signal.SIGCONT)
        stays.shows("ready")
        wait_for(lambda: (a.dir / "typed").read_bytes() == b"two\n",
                 lambda: (a.dir / "typed").read_bytes())
        stays.type("C-d")
        stays.ends(0)


@test
def a_closed_first_window_ends_it_for_all():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        may_lose_terminals(a)
        first = tmux.program(80, 24, "record", "--", "sh", "-c", HUSH)
        first.shows("ready")
        other = tmux.program(80, 24, "attach")
        other.shows("ready")
        first.close()
        other.ends(0)
        assert (ended(a)["status"], ended(a)["signal"]) == ("aborted", "HUP")


# -- slow ones --


class SlowTerminal(Terminal):
    """Takes 10 KB a second, until told otherwise."""

    is_slow = True

    def heard(self, more):
        end = time.monotonic() + len(more) / 10_000
        while self.is_slow and time.monotonic() < end:
            time.sleep(0.01)


def slow_one(a, how):
    """A slow terminal as the first, or as one of the others: (terminal, client)."""
    t = a.terminal(kind=SlowTerminal)
    script = "sh", "-c", FLOOD
    if how == "first":
        return t, a.on(t, "record", "--", *script, stderr=subprocess.DEVNULL)
    in_background(a, *script)
    return t, a.on(t, "attach", stderr=subprocess.DEVNULL)


def flood_with_a_slow_one(how):
    with Recorder(AHR) as a:
        slow, slow_client = slow_one(a, how)
        slow.wait_for("ready")
        fast = a.terminal()
        fast_client = a.on(fast, "attach", stderr=subprocess.DEVNULL)
        fast.wait_for("ready")
        with open(a.dir / "watched", "wb") as out:
            watcher = a.start("watch", stdout=out, stderr=subprocess.DEVNULL)
        wait_for(lambda: counts(a)[1], "nobody watches")
        go(a, "flood")
        wait_for(lambda: (a.dir / "flooded").exists(), "the flood does not end")
        taken = len(slow.output)
        assert taken < 2_000_000, taken
        fast.wait_for("the last word")
        assert len(slow.output) < 2_000_000
        slow.is_slow = False
        for t in (slow, fast):
            is_painted(a, t)
        go(a)
        for client in (slow_client, fast_client, watcher):
            a.ends(client, 0)
        a.nobody_is_left()
        whole = a.ok("cat", "last")
        watched = (a.dir / "watched").read_bytes()
        assert len(whole) > FLOOD_SIZE
        assert FLOOD_SIZE < len(watched) <= len(whole) and whole.endswith(watched), len(watched)


def is_painted(a, t):
    """The terminal shows the session's screen."""
    def sides():
        have = a.ok("render", "--format", "ansi", "--cols", 80, "--rows", 24, "-",
                    input=bytes(t.output))
        return have, a.ok("render", "--format", "ansi", "last")

    def are_same():
        have, want = sides()
        return have == want
    wait_for(are_same, lambda: f"the terminal shows, and the session: {sides()}", 20)


@test
def a_slow_first_terminal_on_a_flood_is_skipped_forward():
    flood_with_a_slow_one("first")


@test
def a_slow_terminal_of_another_on_a_flood_is_skipped_forward():
    flood_with_a_slow_one("other")


@test
def a_stopped_client_holds_nobody_up():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        first = tmux.program(80, 24, "record", "--", "sh", "-c", FLOOD)
        first.shows("ready")
        stopped = tmux.program(80, 24, "attach")
        stopped.shows("ready")
        watcher = tmux.program(80, 24, "watch")
        watcher.shows("ready")
        for window in (stopped, watcher):
            window.kill(signal.SIGSTOP)
            wait_for(lambda window=window: state(window.pid) == "T")
        go(a, "flood")
        wait_for(lambda: (a.dir / "flooded").exists(), "the flood does not end")
        first.shows("the last word")
        first.shows_session()
        other = tmux.program(80, 24, "attach")
        other.shows_session()
        for window in (stopped, watcher):
            window.kill(signal.SIGCONT)
            window.shows("the last word")
            window.shows_session()
        go(a)
        for window in (first, stopped, watcher, other):
            window.ends(0)


@test
def a_watching_pipe_gets_every_byte_since_it_came():
    with Recorder(AHR) as a:
        script = "n=0; until [ -e go ]; do n=$((n + 1)); echo line $n; done; seq 100000; echo over"
        in_background(a, "sh", "-c", script)
        watchers = []
        for name in "abc":
            with open(a.dir / name, "wb") as out:
                watchers.append(a.start("watch", stdout=out, stderr=subprocess.DEVNULL))
        wait_for(lambda: all((a.dir / name).stat().st_size > 10_000 for name in "abc"))
        watchers[1].send_signal(signal.SIGSTOP)
        go(a)
        wait_for(lambda: a.names("sessions") or b"over" in a.run("cat", "last").stdout[-100:])
        watchers[1].send_signal(signal.SIGCONT)
        for watcher in watchers:
            a.ends(watcher, 0)
        whole = a.ok("cat", "last")
        for name in "abc":
            have = (a.dir / name).read_bytes()
            assert 500_000 < len(have) <= len(whole) and whole.endswith(have), (name, len(have))


# -- from afar --


@test
def what_is_sent_arrives():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        script = "stty raw -echo; echo ready; head -c 18 >plain; printf '\\033[?1h'; echo app; " \
                 "head -c 6 >app; " + HUSH
        session = in_background(a, "sh", "-c", script)
        window = tmux.program(80, 24, "attach")
        window.shows("ready")
        a.ok("send", session, "h\u00e9llo w\u00f6rld")
        a.ok("send", session, "--no-enter", "--key", "Up", "--key", "C-c")
        window.shows("app")
        assert (a.dir / "plain").read_bytes() == "h\u00e9llo w\u00f6rld\r\x1b[A\x03".encode()
        a.ok("send", session, "--key", "Up", "--key", "Down")
        wait_for(lambda: (a.dir / "app").exists() and (a.dir / "app").stat().st_size == 6)
        assert (a.dir / "app").read_bytes() == b"\x1bOA\x1bOB"
        go(a)
        window.ends(0)


@test
def keys_of_an_attached_terminal_are_those_the_program_wants():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        script = "stty raw -echo; printf '\\033[?1h'; echo ready; head -c 3 >app; " \
                 "printf '\\033[?1l'; echo plain; head -c 3 >plain; " + HUSH
        in_background(a, "sh", "-c", script)
        window = tmux.program(80, 24, "attach")
        window.shows("ready")
        window.type("Up")
        window.shows("plain")
        wait_for(lambda: window.ask("keypad_cursor_flag") == "0")
        window.type("Up")
        wait_for(lambda: (a.dir / "plain").exists() and (a.dir / "plain").stat().st_size == 3)
        assert (a.dir / "app").read_bytes() == b"\x1bOA"
        assert (a.dir / "plain").read_bytes() == b"\x1b[A"
        go(a)
        window.ends(0)


@test
def stop_ends_a_session():
    need()
    with Recorder(AHR) as a, Tmux(a) as tmux:
        window = tmux.program(80, 24, "record", "--", "sh", "-c", HUSH)
        window.shows("ready")
        other = tmux.program(80, 24, "attach")
        other.shows("ready")
        a.ok("stop", a.live().name)
        window.ends(128 + signal.SIGTERM)
        other.ends(0)
        assert (a.meta()["status"], a.meta()["signal"]) == ("aborted", "TERM")


@test
def stop_ends_one_that_will_not():
    with Recorder(AHR) as a:
        session = in_background(a, "sh", "-c", "trap '' TERM HUP INT; " + HUSH)
        has_output(a, b"ready")
        begun = time.monotonic()
        a.ok("stop", session)
        assert time.monotonic() - begun > 4, "it was given no time"
        a.nobody_is_left()
        assert a.meta()["status"] == "aborted", a.meta()


run()
