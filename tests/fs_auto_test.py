#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_auto_test.py -- snapshots that `ahr record --auto-snapshot` takes by itself.
usage: fs_auto_test.py AHR [--sanitized]"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.live import lines
from support.processes import children, command, is_gone, kill, wait_for
from support.recorder import Recorder
from support.tap import run, test, test_meanwhile
from support.terminal import plain_signals

AHR = sys.argv[1]
# Lets the test do what is to be done, and goes when it is told to.
WAIT = "echo here; until [ -e ../go ]; do sleep 0.01; done"


class Automat(Recorder):
    """A recorder whose current folder is a tree of its own."""

    def __enter__(self):
        super().__enter__()
        self.tree = self.dir / "tree"
        self.tree.mkdir()
        (self.tree / "old").write_text("was here before\n")
        return self

    def record(self, *options, line=WAIT):
        with self.log() as log:
            return subprocess.Popen([self.binary, "record", *options, "--", "sh", "-c", line],
                                    cwd=self.tree, env=self.env, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True,
                                    preexec_fn=plain_signals)

    @contextmanager
    def watched(self, *options, line=WAIT, status=0):
        """A session that goes on to the end of the block: client, host, and who takes snapshots."""
        client = self.record(*options, line=line)
        host = self.host(client.pid)
        taker = wait_for(lambda: [p for p in children(host) if command(p) == "ahr-fs-auto"],
                         "nobody takes snapshots")[0]
        yield client, host, taker
        (self.dir / "go").touch()
        self.ends(client, status)

    def snapshots(self):
        return json.loads(self.ok("fs", "list", "--json"))

    def has(self, count):
        return wait_for(lambda: len(now := self.snapshots()) >= count and now,
                        lambda: f"there are {self.snapshots()}")

    def files(self, one):
        """What a snapshot holds, by git alone."""
        git = ["git", "--git-dir", one["repository"]]
        names = subprocess.run([*git, "ls-tree", "-r", "-z", "--name-only", one["commit"] + ":files"],
                               check=True, capture_output=True).stdout.split(b"\0")[:-1]
        return {os.fsdecode(name): subprocess.run(
            [*git, "cat-file", "blob", os.fsencode(one["commit"] + ":files/") + name],
            check=True, capture_output=True).stdout.decode() for name in names}


def watches(taker):
    """It has begun: there is something that it watches."""
    fdinfo = Path(f"/proc/{taker}/fdinfo")
    return any("inotify wd" in one.read_text() for one in fdinfo.iterdir())


@test_meanwhile
def what_was_there_first_is_kept_before_anything_changes():
    with Automat(AHR) as a:
        for count in (1, 2):  # each session has its own: they go with it
            with a.watched("--auto-snapshot", "1000") as (_, _, taker):
                one = a.has(count)[-1]
                assert a.files(one) == {"old": "was here before\n"}, one
            wait_for(lambda: is_gone(taker))
            (a.dir / "go").unlink()
        both = a.snapshots()
        assert len(both) == 2 and len({one["session"] for one in both}) == 2, both
        with a.watched("--auto-snapshot", "1000") as (_, _, taker):
            a.has(3)
            (a.tree / "old").unlink()
        wait_for(lambda: is_gone(taker))
        assert [len(a.files(one)) for one in a.snapshots()[:3]] == [1, 1, 1]
        assert a.snapshots()[3]["files"] == 0


@test_meanwhile
def files_that_rest_are_kept_with_their_place():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot", "1") as (_, _, taker):
            a.has(1)
            (a.tree / "new").write_text("1\n")
            first = a.has(2)[1]
            (a.tree / "folder").mkdir()
            (a.tree / "folder" / "deep").write_text("2\n")
            (a.tree / "old").unlink()
            second = a.has(3)[2]
        assert a.files(first) == {"old": "was here before\n", "new": "1\n"}
        assert a.files(second) == {"new": "1\n", "folder/deep": "2\n"}
        wait_for(lambda: is_gone(taker))
        assert len(a.snapshots()) == 3, "nothing has changed since"
        told = [{key: one[key] for key in ("id", "ts_ns", "kind", "anchor_byte")}
                for one in (first, second)]
        assert lines(a.session(), "snapshots")[1:] == [{**one, "label": ""} for one in told]
        assert {one["kind"] for one in told} == {"auto"} and told[0]["anchor_byte"] == len("here\r\n")
        assert {one["session"] for one in (first, second)} == {a.session().name}
        assert a.verify("last")["snapshots"] == 3


@test_meanwhile
def what_changed_at_the_end_is_kept_and_nobody_waits_for_it():
    with Automat(AHR) as a:
        client = a.record("--auto-snapshot", "1000", line="echo said; echo made > new; exit 3")
        a.ends(client, 3)
        a.nobody_is_left()
        one = a.snapshots()[-1]
        assert a.files(one)["new"] == "made\n"
        assert (one["kind"], one["anchor_byte"]) == ("auto", len("said\r\n"))
        assert one["ts_ns"] == a.meta()["endedAtNs"]


@test_meanwhile
def where_nothing_changes_there_is_none():
    with Automat(AHR) as a:
        (a.tree / ".gitignore").write_text("*.log\n")
        os.utime(a.tree / "old", (1, 1))
        with a.watched("--auto-snapshot=1") as (_, _, taker):
            a.has(1)
            (a.tree / "new").write_text("1\n")
            a.has(2)
            (a.tree / "x.log").write_text("ignored")
        wait_for(lambda: is_gone(taker))
        assert len(a.snapshots()) == 2


@test_meanwhile
def the_recording_itself_is_no_change():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot", "1", "--out-file", "x.ahr") as (_, _, taker):
            a.has(1)
            (a.tree / "x.c").write_text("1\n")
            a.has(2)  # … which is noted in x.ahr
            (a.tree / "y.c").write_text("2\n")
            a.has(3)
        wait_for(lambda: is_gone(taker))
        assert len(a.snapshots()) <= 4  # the last one has the end of x.ahr


@test_meanwhile
def a_killed_recorder_leaves_the_last_changes_kept_and_nobody_behind():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot", "1000", status=1) as (client, host, taker):
            a.has(1)
            (a.tree / "new").write_text("1\n")
            kill(host)
            client.wait(60)
            wait_for(lambda: is_gone(taker))
            _, one = a.snapshots()
            assert a.files(one)["new"] == "1\n" and one["anchor_byte"] is None


@test_meanwhile
def whoever_takes_them_may_die():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot", "1") as (_, _, taker):
            a.has(1)
            kill(taker)
            log = a.live() / "host.log"
            wait_for(lambda: "no automatic snapshots any more" in log.read_text())
            (a.tree / "new").write_text("1\n")
        assert (a.session() / "host.log").read_text().count("automatic") == 1
        assert a.ok("cat", "last") == b"here\r\n" and len(a.snapshots()) == 1


@test_meanwhile
def what_goes_wrong_is_in_the_log_once():
    with Automat(AHR) as a:
        a.home.mkdir(mode=0o700)
        (a.home / "snapshots").write_text("in the way")
        with a.watched("--auto-snapshot", "1") as (_, _, taker):
            log = a.live() / "host.log"
            for number in range(2):
                wait_for(lambda: watches(taker))
                (a.tree / "new").write_text(f"{number}\n")
                wait_for(lambda: "automatic snapshots: cannot" in log.read_text(), log.read_text)
        wait_for(lambda: is_gone(taker))
        assert (a.session() / "host.log").read_text().count("automatic") == 1


@test_meanwhile
def a_ceiling_that_is_none_is_told_in_the_log():
    with Automat(AHR) as a:
        a.env["AHR_MAX_FILES"] = "0"
        client = a.record("--auto-snapshot")
        log = a.live() / "host.log"
        wait_for(log.exists)
        wait_for(lambda: "$AHR_MAX_FILES must be a number, at least 1" in log.read_text(), log.read_text)
        (a.dir / "go").touch()
        a.ends(client, 0)


@test_meanwhile
def it_steps_back_behind_all_others():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot") as (_, host, taker):
            wait_for(lambda: watches(taker))
            assert os.sched_getscheduler(taker) == os.SCHED_IDLE
            assert os.getpriority(os.PRIO_PROCESS, taker) == 19
            assert os.getsid(taker) == taker != os.getsid(host)
        wait_for(lambda: is_gone(taker))


@test_meanwhile
def it_works_without_a_socket_and_is_off_unless_asked_for():
    with Automat(AHR) as a:
        with a.watched("--auto-snapshot", "1", "--ipc", "off") as (_, _, taker):
            a.has(1)
            (a.tree / "new").write_text("1\n")
            a.has(2)
        wait_for(lambda: is_gone(taker))
        assert len(lines(a.session(), "snapshots")) == 2
        for off in ((), ("--auto-snapshot=off",), ("--auto-snapshot", "off")):
            a.ends(a.record(*off, line="echo more >> new"), 0)
        a.env["AHR_AUTO_SNAPSHOT"] = "5"
        a.ends(a.record("--auto-snapshot", "off", line="echo more >> new"), 0)
        a.nobody_is_left()
        assert len(a.snapshots()) == 2


@test
def what_cannot_be_is_said_before_the_command_runs():
    with Automat(AHR) as a:
        for value in ("0", "86401", "-1", "often", ""):
            said = a.fails(2, "record", f"--auto-snapshot={value}", "--", "touch", "ran")
            assert "--auto-snapshot" in said, said
        hint = "--auto-snapshot takes a number of seconds, 'quiet' or 'off'"
        for words, is_hinted in ((("2s", "--", "touch", "ran"), True), (("quite", "touch", "ran"), True),
                                 (("--", "quite"), False), (("quiet", "quite"), False), (("--quiet", "2s"), False)):
            said = a.fails(127, "record", "--auto-snapshot", *words)
            assert "command not found" in said and (hint in said) == is_hinted, (words, said)
        tools = a.dir / "tools"
        tools.mkdir()
        (tools / "touch").symlink_to("/bin/touch")
        said = a.fails(3, "record", "--auto-snapshot", "--", "touch", "ran", env={"PATH": str(tools)})
        assert "needs git" in said, said
        assert not (a.dir / "ran").exists() and a.names("live") == a.names("sessions") == []


run()
