#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_programs_test.py -- real programs under `ahr record`, driven on a terminal as a user does.

After each of them the terminal's settings are what they were, and what was shown was recorded.

usage: record_programs_test.py AHR [--sanitized]
"""

import os
import shutil
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import (children, command, has_heard, is_gone, is_in_foreground, kill,
                               state, wait_for)
from support.recorder import Recorder, records
from support.tap import Skip, run, test

AHR = sys.argv[1]
CTRL_C, CTRL_D, CTRL_Z, ESCAPE = "\x03", "\x04", "\x1a", "\x1b"


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")


@contextmanager
def recorded(a, *argv, status=0, options=(), env=None):
    """A program on a terminal; at the end of the block it must end with this status."""
    with a.log() as log:
        t = a.terminal()
        before = t.stty()
        client = a.on(t, "record", *options, "--", *argv, stderr=log, env=env)
        t.client = client
        yield t
        a.ends(client, status)
        assert t.stty() == before, "the terminal's settings have changed"
        assert a.ok("cat", "last") == t.settle(), "what was shown is not what was recorded"
        meta = a.meta()
        assert meta["exitCode"] == status
        assert meta["status"] == ("failed" if status else "completed")
        assert a.verify("last")["warnings"] == []


def records_script(shell, script, options="-q", then=""):
    """A user's shell is told to record a script; from a file, so that it is not echoed."""
    (shell.cwd / "script").write_text(script)
    shell.type(f'"$AHR" record {options} -- sh ./script{then}')


def sizes(a):
    return [r[1:] for r in records(a.session() / "session.ahr") if r[0] == "resize"]


# -- programs --


@test
def bash_with_job_control():
    need("bash")
    with Recorder(AHR) as a:
        env = {"PS1": "@@ ", "INPUTRC": "/dev/null"}
        with recorded(a, "bash", "--norc", "--noprofile", "-i", status=3, env=env) as t:
            t.wait_for("@@ ")
            shell = a.agent(a.host(t.client.pid))
            t.type("sleep 100\r")
            sleep = wait_for(lambda: [p for p in children(shell) if command(p) == "sleep"])[0]
            wait_for(lambda: is_in_foreground(sleep))
            t.type(CTRL_Z)
            t.wait_for("Stopped")
            t.wait_for("@@ ")
            assert state(sleep) == "T"
            t.type("bg\r")
            t.wait_for("sleep 100 &")
            wait_for(lambda: state(sleep) == "S")
            t.type("jobs\r")
            t.wait_for("Running")
            t.type("fg\r")
            wait_for(lambda: is_in_foreground(sleep))
            t.type(CTRL_C)
            wait_for(lambda: is_gone(sleep))
            t.wait_for("@@ ")
            t.type("echo status=$?\r")
            t.wait_for("status=130")
            t.type("exit 3\r")


@test
def vim_writes_a_file():
    need("vim")
    with Recorder(AHR) as a:
        with recorded(a, "vim", "-u", "NONE", "-i", "NONE", "-N", "-n", "new.txt") as t:
            t.wait_for("new.txt")
            t.type("ihello from vim\rsecond line")
            t.wait_for("line")
            t.type(ESCAPE + ":wq\r")
        assert (a.dir / "new.txt").read_text() == "hello from vim\nsecond line\n"


@test
def less_turns_pages():
    need("less")
    with Recorder(AHR) as a:
        (a.dir / "book").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
        with recorded(a, "less", "book") as t:
            t.wait_for("line 23")
            t.type(" ")
            t.wait_for("line 46")
            t.type("G")
            t.wait_for("line 1000")
            t.type("q")


@test
def top_shows_processes():
    need("top")
    with Recorder(AHR) as a:
        with recorded(a, "top", "-d", "0.3") as t:
            t.wait_for("load average")
            t.wait_for("PID")
            t.wait_for("load average", 20)
            t.type("q")


@test
def tmux_inside():
    need("tmux")
    with Recorder(AHR) as a:
        with recorded(a, "tmux", "-L", "inside", "-f", "/dev/null", "new-session",
                      "env", "PS1=@@ ", "dash", "-i") as t:
            t.wait_for("@@ ")
            t.type("echo in''side\r")
            t.wait_for("inside")
            t.resize(100, 30)
            t.type("until stty size | grep '29 10''0'; do sleep 0.05; done\r")
            t.wait_for("29 100")  # a row is tmux's own
            t.type("exit\r")
            t.wait_for("[exited]")
        assert sizes(a) == [(80, 24), (100, 30)]


@test
def python_reads_evaluates_and_prints():
    with Recorder(AHR) as a:
        with recorded(a, sys.executable, "-q", "-I") as t:
            t.wait_for(">>> ")
            t.type("6 * 7\r")
            t.wait_for("\r\n42")
            t.wait_for(">>> ")
            t.type("import sys; sys.stdout.isatty(), sys.stdin.isatty()\r")
            t.wait_for("(True, True)")
            t.wait_for(">>> ")
            t.type(CTRL_D)


@test
def a_record_inside_a_record():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        before = t.stty()
        client = a.on(t, "record", "--", a.binary, "record", "--", "sh", "-c",
                      "stty size; read x; echo got $x; exit 4", stderr=log)
        t.wait_for("24 80")
        t.type("words\r")
        a.ends(client, 4)
        assert t.stty() == before
        assert b"got words\r\n" in t.settle()
        assert len(a.names("sessions")) == 2 and a.names("live") == []


# -- size --


@test
def the_agent_sees_the_terminals_size_and_each_change():
    with Recorder(AHR) as a:
        script = "stty size; trap 'stty size; echo seen' WINCH; echo ready; " \
                 "until [ -e go ]; do sleep 0.02; done"
        with recorded(a, "sh", "-c", script) as t:
            t.wait_for("24 80\r\nready")
            for cols, rows in ((100, 30), (132, 50), (20, 5), (1, 1), (80, 24)):
                t.resize(cols, rows)
                t.wait_for(f"{rows} {cols}\r\nseen")
            (a.dir / "go").touch()
        assert sizes(a) == [(80, 24), (100, 30), (132, 50), (20, 5), (1, 1), (80, 24)]
        assert a.verify("last")["resizes"] == 6
        # What the agent printed at a new size stands behind the record of that size.
        size, text = None, {}
        for record in records(a.session() / "session.ahr"):
            if record[0] == "resize":
                size = record[1:]
            elif record[0] == "data":
                text[size] = text.get(size, b"") + record[2]
        assert b"50 132" in text[132, 50] and b"50 132" not in text[100, 30]
        meta = a.meta()
        assert (meta["cols"], meta["rows"]) == (80, 24)


@test
def what_was_printed_at_the_old_size_stands_before_the_new_one():
    with Recorder(AHR) as a:
        script = "echo ready; until [ -e old ]; do sleep 0.02; done; echo old; echo >printed; " \
                 "until [ -e go ]; do sleep 0.02; done"
        with recorded(a, "sh", "-c", script) as t:
            t.wait_for("ready")
            host = a.host(t.client.pid)
            kill(host, signal.SIGSTOP)
            wait_for(lambda: state(host) == "T")
            t.resize(100, 30)
            wait_for(lambda: has_heard(t.client.pid))  # and told the host
            (a.dir / "old").touch()
            wait_for(lambda: (a.dir / "printed").exists())
            kill(host, signal.SIGCONT)
            t.wait_for("old")
            (a.dir / "go").touch()
        order = [r[-1] for r in records(a.session() / "session.ahr")
                 if r == ("resize", 100, 30) or r[0] == "data"]
        assert order[-1] == 30 and b"old" in b"".join(order[:-1]), order


@test
def a_storm_of_sizes_ends_with_the_last():
    with Recorder(AHR) as a:
        script = "echo ready; until [ \"$(stty size)\" = '41 141' ]; do echo still here; done; " \
                 "echo calm"
        with recorded(a, "sh", "-c", script) as t:
            t.wait_for("ready")
            for n in range(200):
                t.resize(60 + n % 50, 20 + n % 7)
            t.resize(141, 41)
            t.wait_for("calm")
        assert sizes(a)[0] == (80, 24) and sizes(a)[-1] == (141, 41)
        assert all(one != other for one, other in zip(sizes(a), sizes(a)[1:]))


@test
def a_key_ends_a_flood():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        before = t.stty()
        client = a.on(t, "record", "--", "yes", stderr=log)
        wait_for(lambda: len(t.output) > 3_000_000)
        t.type(CTRL_C)
        a.ends(client, 130)
        assert t.stty() == before
        a.shows_the_end(t)  # on a busy machine it was skipped forward


@test
def what_is_pasted_arrives_whole_however_late_it_is_read():
    text = b"".join(b"pasted line %d\n" % n for n in range(20000))
    with Recorder(AHR) as a:
        script = "stty raw -echo; printf ready; until [ -e go ]; do echo busy; done; " \
                 f"head -c {len(text)} >got"
        with recorded(a, "sh", "-c", script) as t:
            t.wait_for("ready")
            paste = threading.Thread(target=t.type, args=(text,))
            paste.start()
            for _ in range(100):  # it is not held up by what waits for it
                t.skip()
                t.wait_for("busy")
            (a.dir / "go").touch()
            paste.join()
        assert (a.dir / "got").read_bytes() == text


@test
def input_from_a_pipe_with_output_to_a_terminal():
    need("dash")
    with Recorder(AHR) as a:
        t = a.terminal(cols=91, rows=17)
        shell = a.shell(t, "dash")
        before = t.stty()
        said = shell.run('printf "one\\ntwo\\n" | "$AHR" record -q -- sh -c "cat; stty size"; '
                         'echo status=$?')
        assert b"status=0" in said, said
        assert a.ok("cat", "last") == b"one\r\ntwo\r\n17 91\r\n"
        assert t.stty() == before
        assert shell.leave() == 0


@test
def nobody_else_is_made_non_blocking():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        client = a.on(t, "record", "--", "sh", "-c", "echo ready; read x", stderr=log)
        t.wait_for("ready")
        assert os.get_blocking(t.slave)  # the same open file as the client's 0 and 1
        t.type("x\r")
        a.ends(client, 0)
        assert os.get_blocking(t.slave)
        ends = os.pipe(), os.pipe()
        client = a.start("record", "--", "sh", "-c", "echo ready; read x", stdin=ends[0][0],
                         stdout=ends[1][1], stderr=log)
        assert os.read(ends[1][0], 100) == b"ready\r\n"
        for fd in (*ends[0], *ends[1]):
            assert os.get_blocking(fd)
        os.write(ends[0][1], b"x\n")
        a.ends(client, 0)
        for fd in (*ends[0], *ends[1]):
            assert os.get_blocking(fd)
            os.close(fd)


# -- the terminal, whatever happens --


@test
def a_killed_client_leaves_the_terminal_as_it_was():
    need("dash", "bash")
    for kind in ("dash", "bash"):
        with Recorder(AHR) as a:
            t = a.terminal()
            shell = a.shell(t, kind)
            before = t.stty()
            records_script(shell, "echo ready; until [ -e go ]; do sleep 0.02; done")
            t.wait_for("ready\r\n")
            client = shell.job("ahr")
            host = a.host(client)
            assert t.is_raw()
            kill(client)
            t.wait_for("Killed")
            t.wait_for(shell.PROMPT)
            wait_for(lambda: t.stty() == before, "the terminal is not restored")
            assert not is_gone(host)
            assert b"still" in shell.run("echo st''ill")
            (a.dir / "go").touch()
            wait_for(lambda: is_gone(host))
            assert a.meta()["status"] == "completed"
            assert shell.leave() == 0


@test
def a_killed_host_leaves_the_terminal_as_it_was():
    need("dash")
    with Recorder(AHR) as a:
        t = a.terminal()
        shell = a.shell(t, "dash")
        before = t.stty()
        records_script(shell, "echo ready; exec sleep 1000", options="")
        t.wait_for("ready\r\n")
        kill(a.host(shell.job("ahr")))
        said = t.wait_for(shell.PROMPT)
        assert b"ahr recover" in said, said
        assert t.stty() == before
        assert b"\nstatus=1" in shell.run("echo status=$?")
        assert shell.leave() == 0
        a.nobody_is_left()
        a.ok("recover", "--all")
        assert a.meta()["status"] == "interrupted"


@test
def an_agent_that_breaks_its_terminal_does_not_break_ours():
    need("dash")
    with Recorder(AHR) as a:
        t = a.terminal()
        shell = a.shell(t, "dash")
        before = shell.run("stty -g")
        shell.run('"$AHR" record -q -- sh -c "stty raw -echo; kill -9 \\$\\$"')
        assert shell.run("stty -g") == before
        assert shell.leave() == 0


@test
def a_stopped_client_gives_the_terminal_back_and_takes_it_again():
    need("dash", "bash")
    for kind, number in (("dash", signal.SIGTSTP), ("bash", signal.SIGTSTP),
                         ("dash", signal.SIGTTOU)):
        with Recorder(AHR) as a:
            t = a.terminal()
            shell = a.shell(t, kind)
            before = t.stty()
            records_script(shell, "echo on the screen; exec cat")
            t.wait_for("on the screen\r\n")
            client = shell.job("ahr")
            t.type("one\r")
            t.wait_for("one\r\none\r\n")
            kill(client, number)
            t.wait_for(shell.PROMPT)
            assert state(client) == "T"
            wait_for(lambda: t.stty() == before, "the terminal is not restored")
            shell.run("echo shell''s turn")
            shell.type("fg")
            wait_for(lambda: state(client) == "S" and t.is_raw())
            t.wait_for("on the screen")  # painted anew
            t.wait_for("one")
            t.type("two\r")
            t.wait_for("two\r\ntwo\r\n")
            t.type(CTRL_D)
            t.wait_for(shell.PROMPT)
            wait_for(lambda: t.stty() == before, "the terminal is not restored")
            assert shell.leave() == 0
            a.nobody_is_left()
            assert a.meta()["status"] == "completed"
            text = a.ok("cat", "last")
            assert text == b"on the screen\r\none\r\none\r\ntwo\r\ntwo\r\n", text


@test
def a_size_that_changed_while_we_were_stopped_is_seen():
    need("dash")
    with Recorder(AHR) as a:
        t = a.terminal()
        shell = a.shell(t, "dash")
        records_script(shell, "trap 'stty size; echo seen' WINCH; echo ready; "
                              "until [ -e go ]; do sleep 0.02; done")
        t.wait_for("ready\r\n")
        kill(shell.job("ahr"), signal.SIGTSTP)
        t.wait_for(shell.PROMPT)
        t.resize(90, 33)
        shell.type("fg")
        t.wait_for("33 90\r\nseen")
        (a.dir / "go").touch()
        t.wait_for(shell.PROMPT)
        assert shell.leave() == 0
        assert sizes(a) == [(80, 24), (90, 33)]


@test
def started_in_the_background_it_is_not_stopped():
    need("dash", "bash")
    for kind in ("dash", "bash"):
        with Recorder(AHR) as a:
            t = a.terminal()
            shell = a.shell(t, kind)
            before = t.stty()
            records_script(shell, "echo working; until [ -e go ]; do sleep 0.02; done; "
                                  "echo alldone; exit 6", then=" &")
            t.wait_for("working\r")
            client = shell.job("ahr")
            assert b"mine" in shell.run("echo mi''ne")  # what is typed is the shell's
            wait_for(lambda: state(client) == "S", lambda: state(client))
            wait_for(lambda: t.stty() == before)  # bash has its own way while it reads
            (a.dir / "go").touch()
            t.wait_for("alldone\r")
            wait_for(lambda: is_gone(client))
            assert b"\nstatus=6" in shell.run("wait $!; echo status=$?")
            wait_for(lambda: t.stty() == before)
            assert shell.leave() == 0
            a.nobody_is_left()
            assert a.ok("cat", "last") == b"working\r\nalldone\r\n"
            assert a.meta()["status"] == "failed"


@test
def output_to_a_pipe_leaves_the_keyboard_to_the_agent():
    need("dash")
    with Recorder(AHR) as a:
        t = a.terminal()
        shell = a.shell(t, "dash")
        before = t.stty()
        records_script(shell, "echo ready; read x; echo got $x", then=" | cat")
        t.wait_for("ready\r\n")
        t.type("words\r")
        t.wait_for("got words")
        t.wait_for(shell.PROMPT)
        assert t.stty() == before
        assert shell.leave() == 0


run()
