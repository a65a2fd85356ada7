#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_queries_test.py -- a program that asks its terminal gets one answer, whoever gives it.

In pass-through it is the user's terminal, else the mirror; never both, and no query is lost when
it changes.

usage: live_queries_test.py AHR QUERIES [--sanitized]
"""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, kill, state, wait_for
from support.queries import (AGAIN, MIRROR, USER, AnsweringTerminal, Asker, mirror_has_seen_all,
                             mirror_of, queries, type_by_socket)
from support.recorder import Recorder, records
from support.tap import Skip, run, test

AHR, QUERIES = sys.argv[1], str(Path(sys.argv[2]).resolve())
DETACH = "\x1dd"


def ctl(a):
    return a.live() / "ctl.sock"


def in_background(a, asker, *options):
    """Starts it so; the pid of its host."""
    a.ok("record", "--background", *options, "--", *asker.argv)
    return a.live_host()


def passing(a, asker, *options, **more):
    """On a user's terminal that answers: (terminal, client)."""
    t = a.terminal(kind=AnsweringTerminal, **more)
    with a.log() as log:
        return t, a.on(t, "record", *options, "--", *asker.argv, stderr=log)


def attached(a, *size):
    t = a.terminal(*size, kind=AnsweringTerminal)
    with a.log("attach") as log:
        return t, a.on(t, "attach", stderr=log)


def sees_no_query(t):
    shown = bytes(t.output)
    for q in queries(""):
        question = q.bytes.encode().removeprefix(b"\x1b[1;9H")
        assert question not in shown, (q.name, shown)
    assert t.asked == [], t.asked


# -- who answers --


@test
def in_pass_through_the_users_terminal_answers():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "two")
        _, client = passing(a, asker)
        asker.hears("one", USER)
        mirror_has_seen_all(ctl(a))
        asker.hears("two", USER)
        mirror_has_seen_all(ctl(a))
        asker.ends(client)


@test
def in_the_background_the_mirror_answers():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "two")
        in_background(a, asker)
        asker.hears("one", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.hears("two", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def without_a_terminal_the_mirror_answers():
    with Recorder(AHR) as a, a.log() as log:
        asker = Asker(a, QUERIES, "one")
        client = a.start("record", "--", *asker.argv, stdout=subprocess.PIPE, stderr=log)
        asker.hears("one", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends(client)
        assert client.stdout.read() == a.ok("cat", "last")
        client.stdout.close()


@test
def with_output_to_a_pipe_the_mirror_answers():
    with Recorder(AHR) as a, a.log() as log:
        asker = Asker(a, QUERIES, "one")
        t = a.terminal(kind=AnsweringTerminal)
        client = a.on(t, "record", "--", *asker.argv, stdout=subprocess.PIPE, stderr=log)
        asker.hears("one", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends(client)
        sees_no_query(t)
        client.stdout.close()


@test
def what_was_asked_before_there_is_a_mirror_is_answered():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one")
        asker.begin("one")  # its first query is there sooner than the mirror
        in_background(a, asker)
        asker.heard_from("one", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def when_the_window_is_closed_the_mirror_takes_over():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "two")
        t, client = passing(a, asker, "--detach")
        asker.hears("one", USER)
        a.live_host()
        t.hang_up()
        client.wait(60)
        asker.hears("two", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def one_who_is_attached_is_asked_nothing():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "two", "three")
        in_background(a, asker)
        asker.hears("one", MIRROR)
        t, client = attached(a)
        t.wait_for("\x1b[?1049h")
        asker.hears("two", MIRROR)
        mirror_has_seen_all(ctl(a))
        t.type(DETACH)
        a.ends(client, 0)
        sees_no_query(t)
        asker.hears("three", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def a_smaller_window_makes_the_mirror_answer_for_the_first():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "same", "small", "again-alone")
        _, client = passing(a, asker)
        asker.hears("one", USER)
        same, same_client = attached(a, 90, 30)
        same.wait_for("\x1b[?1049h")
        asker.hears("same", USER)
        small, small_client = attached(a, 60, 20)
        small.wait_for("\x1b[?1049h")
        asker.hears("small", MIRROR, (60, 20))
        mirror_has_seen_all(ctl(a))
        for t, one in ((small, small_client), (same, same_client)):
            t.type(DETACH)
            a.ends(one, 0)
            sees_no_query(t)
        asker.hears("again-alone", USER)
        mirror_has_seen_all(ctl(a))
        asker.ends(client)


# -- the mirror dies --


@test
def a_killed_mirrors_queries_are_answered_by_the_next():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "before", "during", "after")
        host = in_background(a, asker)
        asker.hears("before", MIRROR)
        mirror = mirror_of(host)
        kill(mirror, signal.SIGSTOP)
        wait_for(lambda: state(mirror) == "T")
        size = a.recorded_size()
        asker.begin("during")
        wait_for(lambda: a.recorded_size() > size)  # it has asked
        kill(mirror)
        asker.heard_from("during", MIRROR)
        assert mirror_of(host) != mirror
        asker.hears("after", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def a_mirror_killed_at_any_moment_leaves_one_answer():
    phases = [f"round{n}" for n in range(4)]
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, *phases)
        host = in_background(a, asker)
        for n, phase in enumerate(phases):
            asker.begin(phase)
            wait_for(lambda phase=phase, n=n: len(asker.lines(phase)) > 7 * n)
            kill(mirror_of(host))
            asker.heard_from(phase, MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()


@test
def a_killed_mirror_is_not_missed_in_pass_through():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "before", "after")
        _, client = passing(a, asker)
        asker.hears("before", USER)
        kill(mirror_of(a.host(client.pid)))
        asker.hears("after", USER)
        mirror_has_seen_all(ctl(a))  # the next one has read all of it, and keeps still
        asker.ends(client)


# -- the client goes --


@test
def a_suspended_clients_terminal_is_spared():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "suspended", "resumed")
        t, client = passing(a, asker)
        asker.hears("one", USER)
        kill(client.pid, signal.SIGTSTP)
        wait_for(lambda: state(client.pid) == "T")
        asked = len(t.asked)
        asker.hears("suspended", MIRROR)
        assert len(t.asked) == asked, t.asked[asked:]
        kill(client.pid, signal.SIGCONT)
        wait_for(lambda: state(client.pid) == "S" and t.is_raw())
        mirror_has_seen_all(ctl(a))
        asker.hears("resumed", USER)
        mirror_has_seen_all(ctl(a))
        asker.ends(client)


@test
def a_client_suspended_at_any_moment_leaves_no_second_answer():
    phases = [f"round{n}" for n in range(4)]
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, *phases)
        t, client = passing(a, asker)
        for n, phase in enumerate(phases):
            asker.begin(phase)
            wait_for(lambda phase=phase, n=n: len(asker.lines(phase)) > 7 * n)
            kill(client.pid, signal.SIGTSTP)
            wait_for(lambda: state(client.pid) == "T")
            kill(client.pid, signal.SIGCONT)
            wait_for(lambda: state(client.pid) == "S" and t.is_raw())
            asker.at_most_once(phase, lambda: t.type(AGAIN))
        mirror_has_seen_all(ctl(a))
        asker.ends(client)


@test
def a_client_killed_at_any_moment_leaves_no_second_answer():
    for n in range(4):
        with Recorder(AHR) as a:
            asker = Asker(a, QUERIES, "one", "two")
            _, client = passing(a, asker)
            host = a.host(client.pid)
            asker.begin("one")
            wait_for(lambda n=n: len(asker.lines("one")) > 7 * n)
            kill(client.pid)
            client.wait(60)
            asker.at_most_once("one", lambda: type_by_socket(ctl(a), AGAIN))
            asker.hears("two", MIRROR)
            mirror_has_seen_all(ctl(a))
            asker.ends()
            wait_for(lambda host=host: is_gone(host))


@test
def a_client_killed_while_it_was_stopped_leaves_no_second_answer():
    with Recorder(AHR) as a:
        asker = Asker(a, QUERIES, "one", "between", "after")
        _, client = passing(a, asker)
        asker.hears("one", USER)
        host = a.host(client.pid)
        kill(client.pid, signal.SIGSTOP)
        wait_for(lambda: state(client.pid) == "T")
        size = a.recorded_size()
        asker.begin("between")
        wait_for(lambda: a.recorded_size() > size)
        kill(client.pid)
        client.wait(60)
        have = asker.at_most_once("between", lambda: type_by_socket(ctl(a), AGAIN))
        assert have == asker.truth(MIRROR), have
        asker.hears("after", MIRROR)
        mirror_has_seen_all(ctl(a))
        asker.ends()
        wait_for(lambda: is_gone(host))


# -- piped input --


@test
def to_a_command_with_piped_input_nobody_says_anything():
    text = b"".join(b"line %d of the input\n" % n for n in range(2000))
    asks = "".join(q.bytes for q in queries("")).encode()
    with Recorder(AHR) as a:
        (a.dir / "text").write_bytes(text)
        (a.dir / "asks").write_bytes(asks)
        (a.dir / "script").write_text(
            "stty raw -echo; cat asks; touch asked; until [ -e go ]; do sleep 0.02; done; "
            f"head -c {len(text)} >got; stty -icanon min 0 time 0; cat >more; exit 0\n")
        with a.log() as log:
            source = open(a.dir / "text", "rb")
            pipe = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
            client = a.start("record", "--", "sh", "./script", stdin=pipe.stdout,
                             stdout=subprocess.PIPE, stderr=log)
            pipe.stdout.close()
            source.close()
        wait_for(lambda: (a.dir / "asked").exists())
        mirror_has_seen_all(ctl(a))
        (a.dir / "go").touch()
        assert client.stdout.read() == asks
        client.stdout.close()
        a.ends(client, 0)
        pipe.wait(60)
        assert (a.dir / "got").read_bytes() == text
        assert (a.dir / "more").read_bytes() == b""


# -- programs --


class User:
    """Someone who uses a program: on a terminal that answers, or from afar, where the mirror does."""

    def __init__(self, a, who, *argv):
        self.a, self.is_afar = a, who == MIRROR
        if self.is_afar:
            self.session = a.ok("record", "--background", "--input", "--", *argv).decode().strip()
        else:
            self.terminal = a.terminal(kind=AnsweringTerminal)
            self.client = a.on(self.terminal, "record", "--input", "--", *argv)

    def sees(self, what):
        wait_for(lambda: what in self.a.run("cat", "last").stdout, f"{what} is not shown")
        mirror_has_seen_all(ctl(self.a))
        if not self.is_afar:
            self.terminal.wait_for(what)  # and has answered what came before

    def types(self, text):
        if self.is_afar:
            self.a.ok("send", self.session, "--no-enter", text)
        else:
            self.terminal.type(text)

    def leaves(self):
        if not self.is_afar:
            self.a.ends(self.client, 0)
        self.a.nobody_is_left()


@test
def python_is_answered_once():
    ask = """
import json, os, termios, tty
def ask(query):
    was = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, query.encode() + b"\\x1b[9;9H\\x1b[6n")
    got = b""
    while not got.endswith(b"\\x1b[9;9R"):
        got += os.read(0, 100)
    termios.tcsetattr(0, termios.TCSANOW, was)
    return got[:-6].decode()
def note(*queries):
    with open("heard", "w") as file:
        json.dump(list(map(ask, queries)), file)
"""
    names = "DA1", "DA2", "CPR", "DSR"
    table = {q.name: q.bytes for q in queries("")}
    for who in (USER, MIRROR):
        with Recorder(AHR) as a:
            truth = Asker(a, QUERIES).truth(who)
            (a.dir / "ask.py").write_text(ask)
            user = User(a, who, sys.executable, "-q", "-i", "ask.py")
            user.sees(b">>> ")
            user.types(f"note({', '.join(repr(table[name]) for name in names)}); print('do' 'ne')\r")
            user.sees(b"done")
            user.types("exit()\r")
            user.leaves()
            heard = json.loads((a.dir / "heard").read_text())
            assert heard == [truth[name] for name in names], heard


VIM = "vim", "-u", "NONE", "-i", "NONE", "-N", "-n", "new.txt"
# What it asks at its start, and the answers as they are typed.
VIMS = {b"\x1b[>c": rb"\x1b\[>[\d;]*c", b"\x1b[6n": rb"\x1b\[\d+;\d+R",
        b"\x1b]10;?\x07": rb"\x1b\]10;rgb:[^\x07\x1b]*(?:\x07|\x1b\\)",
        b"\x1b]11;?\x07": rb"\x1b\]11;rgb:[^\x07\x1b]*(?:\x07|\x1b\\)"}


@test
def vim_is_answered_once():
    if not shutil.which("vim"):
        raise Skip("vim is not installed")
    for who in (USER, MIRROR):
        with Recorder(AHR) as a:
            user = User(a, who, *VIM)
            user.sees(b"new.txt")
            user.sees(b"\x1b[>c")
            user.types("ihello")
            user.sees(b"hello")
            user.types("\x1b:call writefile([v:termresponse], 'heard')\r:wq\r")
            user.leaves()
            assert (a.dir / "new.txt").read_text() == "hello\n"
            heard = (a.dir / "heard").read_text().rstrip("\n")
            assert heard == Asker(a, QUERIES).truth(who)["DA2"], heard
            shown = a.ok("cat", "last")
            typed = b"".join(r[-1] for r in records(a.session() / "session.ahr") if r[0] == "input")
            counts = {query: (shown.count(query), len(re.findall(answer, typed)))
                      for query, answer in VIMS.items()}
            assert all(asked == answered for asked, answered in counts.values()), (counts, typed)
            assert sum(asked for asked, _ in counts.values()) >= 2, counts


run()
