#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_hangup_test.py -- the terminal goes away under a viewer, whatever it shows: all that ran there ends soon, and
nobody is busy with a terminal that is not there.

usage: view_hangup_test.py AHR [--sanitized]
"""

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import describe, is_gone, stat, wait_for
from support.recorder import IS_SANITIZED, Recorder
from support.tap import Skip, run, test
from support.tmux import Tmux, may_lose_terminals

AHR = sys.argv[1]
SOON = 15 if IS_SANITIZED else 5  # seconds; on a machine that has other things to do
BUSY = 3 if IS_SANITIZED else 0.5  # seconds of the processor
AGENT = "trap 'echo hup; exit 3' HUP; seq 100; echo ready; while :; do sleep 0.05; done"
# What is open, the keys behind the prefix that open it, and what is shown then.
LIVE = {"the picture": ("", "ready"), "review": ("v", "line"), "a search": ("v/", "/"), "a prompt": ("s", "label:"),
        "help": ("?", "q closes"), "a draft": ("i", "Ctrl-S"), "review's help": ("vh", "looking back"),
        "a held prefix": ("-", "ready")}
NOT_FOR_WATCHERS = ("a held prefix", "a prompt", "a draft")
ENDED = {"review": ("", "ready"), "a search": ("/", "/"), "help": ("h", "looking back"), "a draft": ("i", "Ctrl-S"),
         "a file's name": ("s", "save as:")}


@contextmanager
def house():
    if not shutil.which("tmux"):
        raise Skip("there is no tmux")
    with Recorder(AHR) as a:
        a.env["AHR_VIEW"] = "on"
        may_lose_terminals(a)
        with Tmux(a) as tmux:
            yield a, tmux


def opened(tmux, keys, shown, *args):
    """A window with a viewer in which something is open."""
    window = tmux.program(80, 24, *args)
    window.wait_drawn()
    window.shows("ready")
    if keys:
        window.enter(keys)
    window.shows(shown)
    return window


def used(pid):
    """Seconds of the processor."""
    fields = stat(pid)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0


def all_end(tmux, some):
    """Without the terminals, so do these."""
    before = {pid: used(pid) for pid in some}
    most = dict(before)
    tmux.run("kill-server")

    def is_over():
        left = [pid for pid in some if not is_gone(pid)]
        most.update({pid: used(pid) for pid in left})
        return not left
    wait_for(is_over, lambda: f"they live: {describe(p for p in some if not is_gone(p))}", SOON)
    busy = {pid: most[pid] - before[pid] for pid in some if most[pid] - before[pid] > BUSY}
    assert not busy, busy


@test
def a_recorder_ends_and_its_agent_is_told():
    for _what, (keys, shown) in LIVE.items():
        with house() as (a, tmux):
            seat = opened(tmux, keys and "\x1d" + keys.strip("-"), shown, "record", "--", "sh", "-c", AGENT)
            host = a.host(seat.pid)
            all_end(tmux, [seat.pid, host, a.agent(host)])
            assert a.meta()["status"] == "aborted", a.meta()
            assert a.ok("cat", "last").endswith(b"hup\r\n")


@test
def those_who_joined_end_and_the_session_goes_on():
    for kind in ("attach", "watch"):
        with house() as (a, tmux):
            a.ok("record", "--background", "--", "sh", "-c", AGENT)
            seats = [opened(tmux, keys and "\x1d" + keys.strip("-"), shown, kind)
                     for what, (keys, shown) in LIVE.items() if kind == "attach" or what not in NOT_FOR_WATCHERS]
            all_end(tmux, [seat.pid for seat in seats])
            assert a.names("live")
            a.run("stop", a.live().name)
            wait_for(lambda: a.names("live") == [])


@test
def so_does_who_looks_at_a_session_that_has_ended():
    with house() as (a, tmux):
        a.run("record", "-q", "--view", "off", "--", "sh", "-c", "seq 100; echo ready")
        seats = [opened(tmux, keys, shown, "view", "last") for keys, shown in ENDED.values()]
        all_end(tmux, [seat.pid for seat in seats])


@test
def so_does_who_still_looks_back_when_the_session_ends():
    for kind in ("record", "attach"):
        with house() as (a, tmux):
            if kind == "attach":
                a.ok("record", "--background", "--", "sh", "-c", AGENT)
            seat = opened(tmux, "\x1dv", "line", kind, *(["--", "sh", "-c", AGENT] if kind == "record" else []))
            a.run("stop", a.live().name)
            seat.shows("ended")
            all_end(tmux, [seat.pid])


@test
def so_does_who_was_stopped_or_has_lent_it_to_an_editor():
    with house() as (a, tmux):
        editor = a.dir / "editor"
        editor.write_text("#!/bin/sh\necho in the editor\nexec sleep 1000\n")
        editor.chmod(0o755)
        a.env["EDITOR"] = str(editor)
        a.env.pop("VISUAL", None)
        a.ok("record", "--background", "--name", "live", "--", "sh", "-c", AGENT)
        a.run("record", "-q", "--view", "off", "--name", "ended", "--", "sh", "-c", "seq 100; echo ready")
        some = []
        for kind, name, keys, shown in (("watch", "live", ("C-z",), "Stopped"), ("view", "ended", ("C-z",), "Stopped"),
                                        ("view", "ended", ("i",), "Ctrl-S")):
            window = tmux.window(80, 24)
            window.ahr(kind, name)
            window.wait_drawn()
            window.wait_until(lambda w=window: "ready" in w.screen(), "ready")
            some.append(window.client())
            window.type(*keys)
            window.wait_until(lambda w=window, s=shown: s in w.screen(), shown)
            if keys == ("i",):
                window.type("C-e")
                window.wait_until(lambda w=window: "in the editor" in w.screen(), "the editor")
        all_end(tmux, some)
        a.run("stop", "live")
        wait_for(lambda: a.names("live") == [])


run()
