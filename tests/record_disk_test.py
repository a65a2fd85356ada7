#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_disk_test.py -- the disk fills up, fails, or loses the recording under a running agent.

The agent never notices: it ends as it would have, and all it wrote comes out. What could be
recorded is readable, what is missing is marked, and it is told once. Full and read-only file
systems need root, and are mounted where nobody else sees them. usage: record_disk_test.py AHR [SHIM]
"""

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.mounts import mounted, own_mounts, sh
from support.processes import wait_for, with_home
from support.public_ipc import ANCHOR, DONE, REFUSED, Peer, frame, snapshot
from support.tap import Skip, run, test

AHR = sys.argv[1]
SHIM = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else None

KIB, MIB = 1 << 10, 1 << 20
STATUS = 7
GOES_ON = "; the command goes on"

# Writes random bytes to a raw terminal: `KIB` of them for a number, else waits for the FIFO.
AGENT = """
import os, random, sys, tty
tty.setraw(1)
for number, step in enumerate(sys.argv[1:]):
    if not step.isdigit():
        open(step).read()
        continue
    left = memoryview(random.Random(number).randbytes(int(step) << 10))
    while left:
        left = left[os.write(1, left[:16384]):]
sys.exit(%d)
""" % STATUS


def test_preloaded(function):
    """A test, but under the sanitizers, which do not go with preloading."""
    return test(function) if SHIM else function


class Recording:
    """`ahr record` around the agent; what it shows and says is read as it comes."""

    def __init__(self, a, *steps, home=None, options=(), env=None, **more):
        self.ahr, self.home = a, Path(home or a.dir / "ahr-home")
        self.steps = [a.dir / step for step in steps if isinstance(step, str)]
        self.env = {"AHR_HOME": str(self.home), **(env or {})}
        self.truth = b"".join(random.Random(n).randbytes(step * KIB)
                              for n, step in enumerate(steps) if isinstance(step, int))
        for step in self.steps:
            os.mkfifo(step)
        self.process = a.popen("record", *options, "--", sys.executable, "-c", AGENT, *steps,
                               env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **more)
        self.shown, self.heard = bytearray(), bytearray()
        self.threads = [threading.Thread(target=self._read, args=pair, daemon=True) for pair in
                        ((self.process.stdout, self.shown), (self.process.stderr, self.heard))]
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing waits for ever, whatever went wrong."""
        while self.process.poll() is None:
            for step in self.steps:
                os.close(os.open(step, os.O_RDWR | os.O_NONBLOCK))
            time.sleep(0.01)
        for step in self.steps:
            step.unlink()

    @staticmethod
    def _read(pipe, into):
        while piece := os.read(pipe.fileno(), 65536):
            into += piece

    @property
    def said(self):
        return self.heard.decode()

    def has_shown(self, kib):
        wait_for(lambda: len(self.shown) >= kib * KIB, f"{kib} KiB")

    def go(self, step):
        (self.ahr.dir / step).write_bytes(b"")

    def folder(self):
        """Where it is recorded now."""
        return wait_for(lambda: list(self.home.glob("live/2*")), "the session's folder")[0]

    def end(self):
        """The agent is none the worse; its session's id."""
        status = self.process.wait(60)
        for thread in self.threads:
            thread.join(60)
        # Its recorder, too, which may hold the session a moment longer.
        wait_for(lambda: not with_home(self.ahr.env["HOME"]), "the recorder stays")
        assert status == STATUS, (status, self.said)
        assert self.shown == self.truth, (len(self.shown), len(self.truth), self.said)
        return re.search(r"session (\S+): failed \(exit 7\)", self.said).group(1)

    def told_once(self, text):
        told = self.said.split("\n\nahr record: ")[1:]  # such news stand apart
        assert len(told) == 1 and text in told[0].splitlines()[0], self.said

    def run(self, *args):
        return self.ahr.run(*args, env={"AHR_HOME": str(self.home)})

    def expect_whole(self, what="last", missing=0):
        """All is there but so much, which was marked."""
        done = self.run("cat", what)
        assert done.returncode == 0, done.stderr
        if not missing:
            assert done.stdout == self.truth, (len(done.stdout), len(self.truth))
            return
        assert len(done.stdout) == len(self.truth) - missing
        head = len(os.path.commonprefix([done.stdout, bytes(self.truth)]))
        assert self.truth.endswith(done.stdout[head:])

    def expect_beginning(self, what, least):
        """How much of it is there, without a hole; half a block may lie behind it."""
        done = self.run("cat", what)
        assert done.returncode in (0, 4), done.stderr
        assert self.truth.startswith(done.stdout)
        assert len(done.stdout) >= least, len(done.stdout)
        return len(done.stdout)

    def expect_most(self, what, least):
        """As much of it is there: a beginning, or, where one file was full and those behind it were not, with a
        hole, which is told."""
        done = self.run("cat", what)
        assert done.returncode in (0, 4), done.stderr
        assert len(done.stdout) >= least, len(done.stdout)
        hole = re.search(rb"(\d+) bytes from byte (\d+) on are missing", done.stderr)
        n, at = map(int, hole.groups()) if hole else (0, len(self.truth))
        assert (self.truth[:at] + self.truth[at + n:]).startswith(done.stdout), done.stderr

    def verify(self, what="last"):
        done = self.run("verify", "--json", what)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    def marked(self, what="last"):
        """How many bytes are missing by the recording's own marks."""
        texts = self.verify(what)["warnings"]
        return sum(int(n) for text in texts
                   for n in re.findall(r"(\d+) bytes at (?:byte \d+|the end) were not", text))

    def meta(self, sid, kind="sessions"):
        return json.loads((self.home / kind / sid / "session.meta.json").read_text())


# -- full --


@contextmanager
def full_disk(a):
    """A session whose disk of 6 MiB is full, with more dropped than memory holds."""
    disk = a.dir / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=6m", "tmpfs"):
        with Recording(a, 256, "fill", 24 * 1024, "rest", 512, home=disk / "home") as rec:
            rec.has_shown(256)
            rec.go("fill")
            rec.has_shown(256 + 24 * 1024)
            yield rec, disk


@test
def a_full_disk_leaves_a_marked_gap_and_recording_goes_on_when_there_is_room():
    with Ahr(AHR) as a, full_disk(a) as (rec, disk):
        assert sh("mount", "-o", "remount,size=64m", disk).returncode == 0
        wait_for(lambda: (rec.folder() / "session.ahr").stat().st_size > 8 * MIB and
                 len(list(rec.folder().glob("*.tail-*"))) < 2, "what was held to be written")
        rec.go("rest")
        sid = rec.end()
        rec.told_once("No space left on device")
        missing = rec.marked()
        assert 0 < missing < 16 * MIB
        rec.expect_whole(missing=missing)
        assert rec.run("cat", "last").stdout.endswith(rec.truth[-512 * KIB:])
        facts = rec.meta(sid)
        assert facts["gaps"] == 1 and facts["missingBytes"] == missing, facts
        assert facts["status"] == "failed" and facts["exitCode"] == STATUS
        assert f"{missing} of {len(rec.truth)} bytes could not be written" in rec.said


@test
def a_disk_that_stays_full_keeps_what_it_took():
    with Ahr(AHR) as a, full_disk(a) as (rec, disk):
        rec.go("rest")
        sid = rec.end()
        rec.told_once("No space left on device")
        assert f"ahr recover {sid}" in rec.said
        # A tail may have found a place behind blocks that did not, and half of one counts for
        # nothing although its whole records come back.
        missing = int(re.search(r"(\d+) of \d+ bytes could not be written", rec.said).group(1))
        kept = rec.run("cat", sid)
        assert len(kept.stdout) >= len(rec.truth) - missing, (kept.stderr, rec.said)
        assert kept.stdout[:MIB] == rec.truth[:MIB]
        assert sh("mount", "-o", "remount,size=64m", disk).returncode == 0
        done = rec.run("recover", "--all")
        assert done.returncode in (0, 4), (done.stdout, done.stderr)
        assert rec.run("cat", sid).stdout == kept.stdout
        assert (disk / "home/sessions" / sid).is_dir()


@test
def a_disk_that_turns_read_only_keeps_what_it_took():
    if not shutil.which("mkfs.ext4"):
        raise Skip("no mkfs.ext4")
    with Ahr(AHR) as a:
        disk, image = a.dir / "disk", a.dir / "image"
        with open(image, "wb") as f:
            f.truncate(32 * MIB)
        assert sh("mkfs.ext4", "-q", image).returncode == 0
        with mounted(disk, "-o", "loop,errors=remount-ro", image), \
                Recording(a, 1024, "fail", 16 * 1024, home=disk / "home") as rec:
            rec.has_shown(1024)
            assert sh("mount", "-o", "remount,abort", disk).returncode == 0
            rec.go("fail")
            sid = rec.end()
            rec.told_once("Read-only file system")
            rec.expect_beginning(sid, MIB)


# -- failing --


def faulty(a, call, at, count, *steps):
    env = {"LD_PRELOAD": SHIM, "FAULT_CALL": call, "FAULT_AT": str(at)}
    if count:
        env["FAULT_COUNT"] = str(count)
    return Recording(a, *steps, env=env)


@test_preloaded
def a_write_that_fails_once_loses_nothing():
    for at in (1, 2, 3, 5, 8, 13, 21):
        with Ahr(AHR) as a, faulty(a, "pwrite", at, 1, 1024) as rec:
            sid = rec.end()
            rec.told_once("Input/output error")
            rec.expect_whole()
            facts = rec.meta(sid)
            assert facts["gaps"] == 0 and facts["missingBytes"] == 0, facts


@test_preloaded
def a_disk_that_takes_nothing_any_more_keeps_what_it_took():
    with Ahr(AHR) as a, faulty(a, "pwrite", 40, None, 512, "on", 24 * 1024) as rec:
        rec.has_shown(512)
        rec.go("on")
        sid = rec.end()
        rec.told_once("Input/output error")
        missing = len(rec.truth) - rec.expect_beginning(sid, 256 * KIB)
        assert f"{missing} of {len(rec.truth)} bytes could not be written" in rec.said


@test_preloaded
def a_failed_sync_makes_it_suspect_and_loses_nothing():
    for count in (1, None):
        with Ahr(AHR) as a, faulty(a, "fdatasync", 1, count, 512, "more", 4096) as rec:
            rec.has_shown(512)
            wait_for(lambda: GOES_ON in rec.said, "the message")
            rec.go("more")
            sid = rec.end()
            rec.told_once("Input/output error")
            assert "a sync failed" in rec.said
            rec.expect_whole()
            assert rec.verify()["damaged"] == []
            if count:  # else its pieces could not be joined, either
                assert rec.meta(sid)["suspect"] is True
                continue
            assert f"ahr recover {sid}" in rec.said
            assert rec.run("recover", sid).returncode == 0
            assert rec.verify(sid)["warnings"] == []
            rec.expect_whole(sid)


@test_preloaded
def replies_wait_for_a_slow_disk_in_order():
    """However many are asked for before the first one is on disk."""
    env = {"LD_PRELOAD": SHIM, "FAULT_CALL": "fdatasync", "FAULT_AT": "1", "FAULT_MS": "300"}
    with Ahr(AHR) as a, Recording(a, 1, "on", env=env) as rec:
        rec.has_shown(1)
        with Peer(rec.folder() / "ipc.sock") as peer:
            asked = threading.Thread(target=lambda: [peer.send(snapshot(n)) for n in range(6000)])
            since = time.monotonic()
            asked.start()
            assert peer.done().id == 0
            assert time.monotonic() - since > 0.2, "the disk cannot have it yet"
            assert [peer.done().id for _ in range(1, 6000)] == [*range(1, 6000)]
            asked.join()
        rec.go("on")
        rec.end()


@test_preloaded
def a_refusal_waits_for_the_replies_before_it():
    env = {"LD_PRELOAD": SHIM, "FAULT_CALL": "fdatasync", "FAULT_AT": "1", "FAULT_MS": "300"}
    with Ahr(AHR) as a, Recording(a, 1, "on", env=env) as rec:
        rec.has_shown(1)
        with Peer(rec.folder() / "ipc.sock") as peer:
            peer.send(snapshot(1) + snapshot(2, b"\x07") + frame(ANCHOR) + snapshot(3))
            told = [peer.receive() for _ in range(4)]
        assert [selector for selector, _ in told] == [DONE, REFUSED, DONE, DONE], told
        assert b"the label is not UTF-8" in told[1][1]
        assert [int.from_bytes(told[n][1][:8], "little") for n in (0, 2, 3)] == [1, 0, 3]
        rec.go("on")
        rec.end()


@test
def a_limit_on_the_size_of_files_ends_no_session():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))

    with Ahr(AHR) as a, Recording(a, 4096, preexec_fn=limit) as rec:
        sid = rec.end()
        rec.told_once("File too large")
        assert f"ahr recover {sid}" in rec.said
        rec.expect_whole(sid)  # tails are small
        assert rec.run("recover", sid).returncode == 0
        rec.expect_whole(sid)
    with Ahr(AHR) as a, Recording(a, 40 * 1024, preexec_fn=limit) as rec:
        sid = rec.end()
        rec.told_once("File too large")
        rec.expect_most(sid, 4 * MIB)
    # A second of 17 MiB, so that the next block's file is full just when blocks are synced and there is room.
    with Ahr(AHR) as a, Recording(a, 17214, "rest", 4096, preexec_fn=limit) as rec:
        rec.has_shown(17214)
        time.sleep(1.6)
        rec.go("rest")
        rec.expect_most(rec.end(), 16 * MIB)


# -- taken away --


def taken_away(a, steal, **more):
    """The recording is taken away while the agent waits; it then writes, waits, and writes."""
    with Recording(a, 512, "write", 64, "rest", 512, **more) as rec:
        rec.has_shown(512)
        steal(rec)
        rec.go("write")
        rec.has_shown(512 + 64)
        wait_for(lambda: GOES_ON in rec.said, "the message")
        rec.go("rest")
        rec.sid = rec.end()
        return rec


@test
def a_session_whose_recording_is_deleted_is_whole():
    for sync in ("interval", "none", "always"):
        with Ahr(AHR) as a:
            rec = taken_away(a, lambda rec: (rec.folder() / "session.ahr").unlink(),
                             options=("--sync", sync))
            rec.told_once("session.ahr' was removed or moved away; made again")
            rec.expect_whole()
            assert rec.verify()["warnings"] == []
            assert rec.meta(rec.sid)["gaps"] == 0
            assert list(rec.home.glob("live/*")) == []


def remove_tree(folder):
    """Also when files are made in it meanwhile."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


@test
def a_session_whose_folder_is_deleted_is_whole():
    with Ahr(AHR) as a:
        rec = taken_away(a, lambda rec: remove_tree(rec.folder()))
        rec.told_once("session.ahr' was removed or moved away; made again")
        rec.expect_whole()
        assert rec.verify()["warnings"] == []
        assert rec.meta(rec.sid)["status"] == "failed"


@test
def a_session_is_whole_when_all_of_ahrs_files_are_deleted():
    with Ahr(AHR) as a:
        rec = taken_away(a, lambda rec: remove_tree(rec.home))
        rec.told_once("session.ahr' was removed or moved away; made again")
        rec.expect_whole()


@test
def a_recording_deleted_just_before_the_end_is_whole():
    with Ahr(AHR) as a, Recording(a, 512, "end") as rec:
        rec.has_shown(512)
        (rec.folder() / "session.ahr").unlink()
        rec.go("end")
        rec.end()
        assert rec.said.count("session.ahr' was removed or moved away; made again") == 1, rec.said
        rec.expect_whole()


@test
def an_out_file_that_is_deleted_is_made_again():
    with Ahr(AHR) as a:
        rec = taken_away(a, lambda rec: (a.dir / "out/x.ahr").unlink(),
                         options=("--out-file", "out/x.ahr"))
        rec.told_once("x.ahr' was removed or moved away; made again")
        rec.expect_whole(a.dir / "out/x.ahr")
        assert (a.dir / "out/x.meta.json").exists()


@test
def a_file_that_took_the_recordings_name_is_left_alone():
    def replace(_):
        (a.dir / "mine").write_bytes(b"a diary")
        (a.dir / "mine").rename(a.dir / "x.ahr")

    with Ahr(AHR) as a:
        rec = taken_away(a, replace, options=("--out-file", "x.ahr"))
        rec.told_once("x.ahr' was replaced by another file; the recording goes on as")
        assert (a.dir / "x.ahr").read_bytes() == b"a diary"
        rec.expect_whole(a.dir / "x.ahr.kept")


own_mounts()
run()
