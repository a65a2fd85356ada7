#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_attach_test.py -- sessions on other terminals: attach and watch, seen through tmux.

usage: live_attach_test.py AHR [--sanitized]
"""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import children, wait_for
from support.recorder import IS_SANITIZED, Recorder
from support.tap import Skip, run, test
from support.tmux import Tmux

AHR = sys.argv[1]
FLOOD = 300000 if IS_SANITIZED else 1000000  # lines


@contextmanager
def recorder():
    if not shutil.which("tmux"):
        raise Skip("there is no tmux")
    with Recorder(AHR) as a, Tmux(a) as tmux:
        yield a, tmux


def in_background(a, *args):
    """A recorded shell that nobody sees; its prompt is "@"."""
    return a.ok("record", "--background", *args, "--", "dash", "-i", env={"PS1": "@ "}, input=None,
                stdin=subprocess.DEVNULL).decode().strip()


def stop(a, sid):
    a.run("stop", sid)
    wait_for(lambda: not a.names("live"))


def watchers(a):
    """How many there are, as the recorder says."""
    with socket.socket(socket.AF_UNIX) as ctl:
        ctl.connect(str(a.live() / "ctl.sock"))
        ctl.sendall(b"\x01\0\0\0\x14")
        return struct.unpack_from("<IBQQHHII", ctl.recv(100))[-1]


def flood(window, text):
    """Much output, and then this."""
    window.line(f"seq {FLOOD}; clear; echo {text[:1]}''{text[1:]}")


@test
def attached_it_is_the_same_screen_and_its_keys_are_the_sessions():
    with recorder() as (a, tmux):
        one, other = tmux.window(100, 30), tmux.window(80, 20)
        one.line("AHR_QUIET=1 PS1='@ ' " + a.binary + " record -- dash -i")
        one.wait_for("@")
        one.line("stty size")
        one.wait_for("30 100")
        other.ahr("attach")
        other.wait_for("30 100")
        other.line("stty size")
        other.wait_for("20 80")
        one.wait_drawn()
        one.wait_for("20 80")
        other.wait_until(lambda: one.session_rows() == other.session_rows(), "they differ")
        other.type("C-]", "d")
        other.wait_until(lambda: "it goes on" in other.screen())
        other.wait_drawn(False)
        one.wait_drawn(False)
        one.line("clear; stty size")
        one.wait_until(lambda: one.session_rows()[:2] == ["30 100", "@"])
        one.line("exit")
        one.wait_until(lambda: one.session_rows()[-1] == "$")


@test
def a_large_session_is_seen_through_a_window_that_follows_the_cursor():
    with recorder() as (a, tmux):
        sid = in_background(a, "--cols", "120", "--rows", "40")
        window = tmux.window(60, 10)
        window.ahr("attach", sid)
        window.wait_drawn()
        window.line("clear; stty size; seq 30")
        window.wait_until(lambda: window.session_rows()[-2:] == ["30", "@"])
        assert "40 120" not in window.session_rows()
        window.line("clear; stty size")
        window.wait_until(lambda: window.session_rows()[:2] == ["40 120", "@"])
        window.type("C-]", "d")
        window.wait_drawn(False)
        stop(a, sid)


@test
def a_stopped_client_disturbs_nobody_and_comes_back_to_the_right_picture():
    with recorder() as (a, tmux):
        sid = in_background(a)
        one, other = tmux.window(80, 24), tmux.window(80, 24)
        one.ahr("attach", sid)
        other.line(f"exec {a.binary} attach {sid}")  # a shell would take its terminal back
        for window in (one, other):
            window.wait_drawn()
        stopped = int(other.ask("pane_pid"))
        os.kill(stopped, signal.SIGSTOP)
        flood(one, "done")
        one.wait_for("done")
        os.kill(stopped, signal.SIGCONT)
        other.wait_for("done")
        other.wait_until(lambda: other.session_rows() == one.session_rows())
        other.type("C-]", "d")
        one.type("C-]", "d")
        one.wait_drawn(False)
        stop(a, sid)


@test
def a_suspended_client_leaves_the_terminal_and_is_passing_or_drawing_again():
    with recorder() as (a, tmux):
        one, other = tmux.window(100, 30), tmux.window(80, 20)
        one.line("AHR_QUIET=1 PS1='@ ' " + a.binary + " record -- dash -i")
        one.wait_for("@")
        os.kill(one.client(), signal.SIGTSTP)
        one.wait_until(lambda: "topped" in one.screen())
        other.ahr("attach")
        other.wait_drawn()
        other.line("echo while you were away")
        other.wait_for("while you were away")
        one.line("fg")
        one.wait_drawn()  # a smaller terminal has come meanwhile
        one.wait_for("while you were away")
        other.type("C-]", "d")
        one.wait_drawn(False)
        one.line("exit")
        one.wait_until(lambda: one.session_rows()[-1] == "$")


@test
def a_terminal_that_takes_nothing_does_not_hold_the_command_up():
    with Recorder(AHR) as a:
        t = a.terminal(80, 24)
        t.pause()
        client = a.on(t, "record", "-q", "--", "sh", "-c",
                      f"seq {FLOOD}; echo the end; touch flag; read x", stderr=a.log())
        wait_for((a.dir / "flag").exists)
        t.resume()
        t.wait_for("the end")
        t.type("\r")
        assert client.wait(60) == 0
        shown = t.settle()
        assert len(shown) < FLOOD * 4, "nothing was skipped"
        (a.dir / "shown").write_bytes(shown)
        rows = a.ok("render", "--cols", "80", "--rows", "24", "shown").decode().split("\n")
        assert [r for r in rows if r][-2:] == [str(FLOOD), "the end"], rows
        recorded = a.ok("cat", "last")
        assert recorded.startswith(b"".join(b"%d\r\n" % i for i in range(1, FLOOD + 1)))


@test
def a_watching_pipe_gets_every_byte_however_slow():
    with Recorder(AHR) as a:
        t = a.terminal(80, 24)
        client = a.on(t, "record", "-q", "--", "sh", "-c",
                      f"read x; seq {FLOOD}; echo the end; touch flag; read x", stderr=a.log())
        sid = a.live().name
        slow = [a.start("watch", sid, stdout=subprocess.PIPE, stderr=a.log("watcher"))
                for _ in range(2)]
        wait_for(lambda: watchers(a) == 2)
        t.type("\r")
        wait_for((a.dir / "flag").exists)
        t.type("\r")
        assert client.wait(60) == 0
        recorded = a.ok("cat", sid)
        for process in slow:
            seen = process.stdout.read()
            assert process.wait(60) == 0
            assert seen == recorded, (len(seen), len(recorded))
        assert re.search(r"session \S+: completed, [\d,]+ bytes", a.said("watcher"))


@test
def in_the_background_of_a_terminal_it_waits_to_be_fetched():
    with recorder() as (a, tmux):
        sid = in_background(a)
        window = tmux.window(80, 24)
        shell = int(window.ask("pane_pid"))
        window.line(f"{a.binary} attach {sid} &")
        wait_for(lambda: any(map(is_stopped, children(shell))))
        window.line("fg")
        window.wait_drawn()
        window.line("echo he''ard")
        window.wait_for("heard")
        window.type("C-]", "d")
        window.wait_drawn(False)
        stop(a, sid)


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@test
def a_watcher_that_nobody_reads_ends_though_nothing_is_said():
    with Recorder(AHR) as a:
        sid = in_background(a)
        watcher = a.start("watch", sid, stdout=subprocess.PIPE, stderr=a.log("watcher"))
        wait_for(lambda: watchers(a) == 1)
        watcher.stdout.close()
        assert watcher.wait(60) == 0
        with open("/dev/full", "wb") as full:
            watcher = a.start("watch", sid, stdout=full, stderr=a.log("full"))
        wait_for(lambda: watchers(a) == 1)
        a.ok("send", sid, "echo")
        assert watcher.wait(60) == 1
        assert "No space left" in a.said("full")
        stop(a, sid)


@test
def all_are_told_that_the_recorder_has_vanished():
    with Recorder(AHR) as a:
        sid = in_background(a)
        crowd = [a.start("watch", sid, stdout=subprocess.DEVNULL, stderr=a.log(f"watcher-{n}"))
                 for n in range(12)]
        wait_for(lambda: watchers(a) == len(crowd))
        host = a.live_host()
        os.kill(host, signal.SIGKILL)
        for n, watcher in enumerate(crowd):
            assert watcher.wait(60) == 1
            assert "has vanished" in a.said(f"watcher-{n}"), a.said(f"watcher-{n}")


@test
def a_live_session_comes_before_an_ended_one_or_a_file_of_its_name():
    with Recorder(AHR) as a:
        for _ in range(2):
            in_background(a, "--name", "twin")
        (a.dir / "twin").touch()
        for _ in range(2):
            a.ok("send", "twin", "echo")
            a.ok("stop", "twin")
        assert not a.names("live")


@test
def without_a_terminal_or_a_session_it_is_told():
    with Recorder(AHR) as a:
        said = a.fails(2, "attach")
        assert "'ahr watch'" in said and "'ahr send'" in said
        assert "no session is being recorded" in a.fails(3, "watch")
        assert "give one session" in a.fails(2, "watch", "one", "two")
        t = a.terminal()
        assert a.on(t, "attach", "nowhere").wait(60) == 3
        t.wait_for("nowhere")


run()
