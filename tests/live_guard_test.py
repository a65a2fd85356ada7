#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_guard_test.py -- a recorder's sockets, and those who mean harm: other users, squatters,
crowds, the silent, and the recorded program itself. usage: live_guard_test.py AHR [--sanitized]
"""

import os
import re
import resource
import select
import socket
import stat
import struct
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

TESTS_DIR = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS_DIR))
from support.live import HUSH, Session, by_hand, kinds
from support.nobody import NOBODY, as_nobody, nobodys_folder, nobodys_socket, was_told
from support.processes import wait_for
from support.public_ipc import (ANCHOR, INPUT, STATE, STATUS, SUBSCRIBE, TAKEN, HungUp, Peer,
                                Refused, frame, snap, snapshot, with_text)
from support.recorder import Recorder
from support.tap import Skip, run, test, test_meanwhile

AHR = sys.argv[1]
CROWD = 1000
REQUESTERS = 64
PAUSE = 28
# Without an end, at a pace that costs the others little.
FLOOD = "until [ -e go ]; do seq 1 5000; sleep 0.05; done"


@test_meanwhile
def half_a_frame_and_silence_are_dropped():
    with Recorder(AHR) as a, Session(a) as s, ExitStack() as stack:
        silent = []
        for address in (s.ipc, s.ctl):
            for request in (snapshot(5, "silent")[:-1], snapshot(5)[:3], struct.pack("<I", 1000)):
                silent.append(stack.enter_context(Peer(address)))
                silent[-1].send(request)
        taking = stack.enter_context(Peer(s.ipc))
        asked = taking.ask(frame(ANCHOR))
        since = time.monotonic()
        for peer in silent:
            peer.is_turned_away()
        assert time.monotonic() - since > 1, "no time to think"
        s.still_works(6)
        assert taking.snapshot(7) == (7, *asked[1:]), "who asked for an anchor is at work"
        (a.dir / "go").touch()
        a.ends(s.client, 0)
        assert sorted(kinds(a.session())) == [6, 7]


@test_meanwhile
def who_does_not_read_is_let_go():
    """After half a minute; whoever has asked for silence meanwhile stays."""
    with Recorder(AHR) as a, Session(a, command=("sh", "-c", FLOOD)) as s, ExitStack() as stack:
        deaf, paused = (stack.enter_context(Peer(s.ctl)) for _ in range(2))
        for peer, flags in ((deaf, 1), (paused, 0)):
            peer.send(frame(SUBSCRIBE, struct.pack("<HHB", 0, 0, flags)))
        paused.send(frame(PAUSE, struct.pack("<BQ", 1, 0)))
        assert wait_for(lambda: onlookers(s) == (2, 1) and (2, 1)) == (2, 1)  # with `record` itself
        since = time.monotonic()
        wait_for(lambda: onlookers(s)[1] == 0, "it still looks on", 90)
        assert time.monotonic() - since > 10, "no time to read"
        assert onlookers(s) == (2, 0)
        s.still_works(1)
        s.end(flood)


def onlookers(s):
    """How many clients and how many watchers there are."""
    with Peer(s.ctl) as peer:
        peer.send(frame(STATUS))
        selector, body = peer.receive()
        assert selector == STATE, (selector, body)
        return struct.unpack_from("<II", body, 20)


def flood(size):
    """The first bytes of FLOOD."""
    once = b"".join(b"%d\r\n" % n for n in range(1, 5001))
    return (once * (size // len(once) + 1))[:size]


# -- others who would like to be heard --

@test
def another_user_is_turned_away():
    with Recorder(AHR) as a, Session(a) as s:
        folder = os.path.dirname(s.ipc)

        def attempt():
            got = []
            for name in ("ipc.sock", "ctl.sock"):
                for request in (b"", snapshot(66), frame(STATUS)):
                    with Peer(name) as peer:
                        peer.send(request)
                        got.append(peer.is_turned_away() or "hung up")
            return got, []

        assert "PermissionError" in as_nobody(folder, attempt)[0]  # by the folder
        for path in (folder, s.ipc, s.ctl):
            os.chmod(path, 0o777)
        got = as_nobody(folder, attempt)[0]
        assert isinstance(got, list) and len(got) == 6, got
        os.chmod(folder, 0o700)
        s.still_works(1)
        assert [one.id for one in s.end()] == [1]


@test
def nothing_is_said_to_another_users_socket():
    with Recorder(AHR) as a, Session(a) as s:
        os.chmod(a.dir, 0o755)
        folder = nobodys_folder(a.dir / "theirs")
        with nobodys_socket(folder, "ipc.sock") as listener:
            for env in ({"AHR_IPC": str(folder / "ipc.sock")},
                        {"AH_RECORDER_IPC_SOCKET": str(folder / "ipc.sock")}):
                done = a.run("snapshot", "--label", "private", env=env, timeout=60)
                assert done.returncode and done.stdout == b"", done
                assert str(folder) in done.stderr.decode(), done.stderr
            assert was_told(listener) == b""
        (a.dir / "link.sock").symlink_to(s.ipc)
        done = a.run("snapshot", env={"AHR_IPC": str(a.dir / "link.sock")}, timeout=60)
        assert done.returncode and done.stdout == b"", done
        assert s.end() == []


def far_away(a):
    """A home whose sockets' paths would be too long."""
    a.home = a.dir / ("far" * 20) / ("away" * 15) / "ahr"
    return {"AHR_HOME": str(a.home)}


@test
def sockets_of_a_long_path_lie_in_a_private_folder():
    for name, others in (("XDG_RUNTIME_DIR", {}), ("TMPDIR", {"XDG_RUNTIME_DIR": "/nonexistent"})):
        with Recorder(AHR) as a:
            (a.dir / "run").mkdir(mode=0o700)
            a.env.update(far_away(a), **others)
            a.env[name] = str(a.dir / "run")
            with Session(a) as s:
                folder = Path(s.ipc).parent
                assert folder.parent == a.dir / "run" and len(s.ipc) <= 107
                assert stat.S_IMODE(folder.lstat().st_mode) == 0o700 and not folder.is_symlink()
                if name == "XDG_RUNTIME_DIR":
                    assert folder.name == f"ahr-{s.id}"
                s.still_works(1)
                assert by_hand(a, "--id", 2, "--session", s.id)["id"] == 2
                assert [one.id for one in s.end()] == [1, 2]
                assert list((a.dir / "run").iterdir()) == []


@test
def a_runtime_folder_that_is_no_private_one_is_not_trusted():
    with Recorder(AHR) as a:
        if os.geteuid():
            raise Skip("another user's folder needs root")
        os.chmod(a.dir, 0o755)
        (a.dir / "tmp").mkdir(mode=0o700)
        nobodys_folder(a.dir / "theirs", 0o777)
        a.env.update(far_away(a), XDG_RUNTIME_DIR=str(a.dir / "theirs"), TMPDIR=str(a.dir / "tmp"))
        with Session(a) as s:
            facts = os.lstat(os.path.dirname(s.ipc))
            assert stat.S_ISDIR(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o700
            assert facts.st_uid == os.geteuid()
            s.still_works(1)
            assert len(s.end()) == 1


@test
def a_squatted_or_linked_folder_is_not_believed():
    with Recorder(AHR) as a:
        os.chmod(a.dir, 0o755)
        run_dir = a.dir / "run"
        run_dir.mkdir(mode=0o755)
        a.env.update(far_away(a), XDG_RUNTIME_DIR=str(run_dir))
        with Session(a) as s, ExitStack() as stack:
            folder, away = Path(s.ipc).parent, run_dir / "away"

            def is_refused():
                done = a.run("snapshot", "--label", "private", "--session", s.id, timeout=60)
                assert done.returncode == 1 and done.stdout == b"", done
                assert done.stderr.startswith(b"ahr snapshot: "), done.stderr

            folder.rename(away)
            nobodys_folder(folder)
            listeners = [stack.enter_context(nobodys_socket(folder, name))
                         for name in ("ipc.sock", "ctl.sock")]
            is_refused()
            os.chown(folder, os.geteuid(), -1)  # the sockets in it are still theirs
            os.chmod(folder, 0o700)
            is_refused()
            assert [was_told(listener) for listener in listeners] == [b"", b""]
            folder.rename(run_dir / "squatted")
            folder.symlink_to(away)
            is_refused()
            folder.unlink()
            away.rename(folder)
            folder.chmod(0o777)
            is_refused()
            folder.chmod(0o700)
            assert by_hand(a, "--id", 5, "--session", s.id)["id"] == 5
            assert [one.id for one in s.end()] == [5]


@test
def another_users_session_folder_is_not_believed():
    with Recorder(AHR) as a, Session(a) as s:
        if os.geteuid():
            raise Skip("giving a folder away needs root")
        folder = a.live()
        os.chown(folder, NOBODY, NOBODY)
        done = a.run("snapshot", "--session", s.id, timeout=60)
        os.chown(folder, os.geteuid(), os.getegid())
        assert done.returncode and done.stdout == b"", done
        assert by_hand(a, "--id", 5, "--session", s.id)["id"] == 5
        assert [one.id for one in s.end()] == [5]


def crowd_at(address, seconds=2):
    """As many connections as are to be had in that time."""
    crowd, deadline = [], time.monotonic() + seconds
    while len(crowd) < CROWD and time.monotonic() < deadline:
        peer = socket.socket(socket.AF_UNIX)
        peer.setblocking(False)
        try:
            peer.connect(address)
            crowd.append(peer)
        except BlockingIOError:  # the queue is full
            peer.close()
            select.select([], [], [], 0.001)
    return crowd


def let_in(address, number):
    """A snapshot if one is to be had now."""
    try:
        return snap(address, number, "through the crowd", timeout=5)
    except (HungUp, Refused, OSError):
        return None


@test_meanwhile
def a_thousand_connections_keep_nobody_out():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * CROWD + 500:
        raise Skip(f"only {hard} files may be open here")
    with Recorder(AHR) as a, Session(a) as s, ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * CROWD + 500), hard))
        for address in (s.ipc, s.ctl):
            for number, peer in enumerate(crowd_at(address)):
                stack.enter_context(peer)
                try:  # they say nothing, half of something, or nonsense
                    peer.send((b"", snapshot(1, "silent")[:-1], frame(200))[number % 3])
                except OSError:
                    pass  # dropped already
        since = time.monotonic()
        s.goes_on()
        wait_for(lambda: let_in(s.ipc, 7), seconds=30)
        wait_for(lambda: let_in(s.ctl, 8), seconds=30)
        print(f"# through the crowd after {time.monotonic() - since:.1f} s")
        s.goes_on()
        assert {one.id for one in s.end()} == {7, 8}


def is_answered(peer):
    peer.send(frame(STATUS))
    return peer.receive()[0] == STATE


@test
def who_asked_longest_ago_makes_room():
    with Recorder(AHR) as a, Session(a) as s, ExitStack() as stack:
        def comes():
            peer = stack.enter_context(Peer(s.ctl))
            assert is_answered(peer)
            return peer

        peers = [comes() for _ in range(REQUESTERS)]
        assert is_answered(peers[0])
        comes()
        peers[1].socket.setblocking(False)  # it has been dropped already
        assert peers[1].socket.recv(1) == b""
        assert is_answered(peers[0]) and is_answered(peers[2])


@test
def a_crowd_leaves_the_recording_its_files():
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))

    with Recorder(AHR) as a, Session(a, preexec_fn=few_files) as s, ExitStack() as stack:
        for _ in range(200):
            peer = stack.enter_context(Peer(s.ctl))
            peer.send(frame(SUBSCRIBE, struct.pack("<HHB", 0, 0, 1)))
            try:
                peer.receive()
            except HungUp:
                pass
        wait_for(lambda: let_in(s.ipc, 7), seconds=30)
        s.goes_on()
        assert [one.id for one in s.end()] == [7]
        assert "Too many" not in a.said()


@test
def input_that_nobody_reads_is_not_kept_for_ever():
    with Recorder(AHR) as a, silence() as stdin, \
            Session(a, command=("sh", "-c", f"stty raw -echo; {HUSH}"), stdin=stdin) as s:
        s.has_shown(5)
        for _ in range(300):
            with Peer(s.ctl) as peer:
                peer.send(with_text(INPUT, bytes(65000)) + frame(STATUS))
                if peer.receive() == (1, b"too much input is on its way already"):
                    break
        else:
            raise AssertionError("all of it was taken")
        s.still_works(1)
        s.end(lambda n: b"12345")


# -- the program and its own prompts --

TYPIST = """
import os, select, subprocess, sys, time
from support.public_ipc import INPUT, HungUp, Peer, with_text

def attempt(name):
    with Peer(os.path.join(os.path.dirname(os.environ["AHR_IPC"]), "ctl.sock")) as peer:
        peer.send(with_text(INPUT, b"yes\\n"))
        try:
            selector, body = peer.receive()
        except HungUp:
            selector, body = "hung up", b""
    with open("result.draft", "w") as file:
        file.write(f"{selector} {body[:100]!r}")
    os.rename("result.draft", name)

def nested(name):
    # As the command of another recorder that was started here.
    with open("/proc/self/cmdline") as file:
        this = file.read().split("\\0")[:3]
    subprocess.run([*this, name], env={**os.environ, "AHR_SESSION": "another"})

def orphan(name):
    parent = os.getpid()
    if os.fork() == 0:
        middle = os.getpid()
        os.setsid()
        if os.fork():
            os._exit(0)
        while os.getppid() == middle:
            time.sleep(0.001)
        attempt(name)
        nested("below")
        os._exit(0)
    os.wait()

if sys.argv[1:]:
    attempt(sys.argv[1])
    sys.exit()
attempt("itself")
pid = os.fork()
if pid == 0:
    attempt("child")
    os._exit(0)
os.waitpid(pid, 0)
orphan("orphan")
while not os.path.exists("go"):
    time.sleep(0.01)
while select.select([0], [], [], 0)[0]:
    print("got", os.read(0, 100))
"""
TYPISTS = ("itself", "child", "orphan", "below")


@contextmanager
def silence():
    """Standard input on which nothing comes, and no end."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(read)
        os.close(write)


def typed(*options):
    """What the program's attempts to type were answered with, and what it read then."""
    with Recorder(AHR) as a, silence() as stdin, \
            Session(a, *options, command=(sys.executable, "-c", TYPIST), stdin=stdin,
                    env={"PYTHONPATH": str(TESTS_DIR)}) as s:
        for name in TYPISTS:
            wait_for((a.dir / name).exists, f"{name} got no answer")
        s.still_works(1)
        (a.dir / "go").touch()
        a.ends(s.client, 0)
        return [(a.dir / name).read_text() for name in TYPISTS], a.ok("cat", "last")


@test
def a_program_does_not_type_into_itself():
    answers, recorded = typed()
    for answer in answers:
        assert re.fullmatch(r"1 b['\"].+['\"]", answer), answers
    assert recorded == b"", recorded


@test
def a_program_types_into_itself_where_it_may():
    answers, recorded = typed("--allow-self")
    assert answers == [f"{TAKEN} {struct.pack('<I', 4)!r}"] * 4
    assert recorded == b"got b'yes\\n'\r\n" * 4, recorded


@test
def others_may_type():
    script = 'read word; printf "<$word>"'
    with Recorder(AHR) as a, silence() as stdin, \
            Session(a, command=("sh", "-c", script), stdin=stdin) as s:
        with Peer(s.ctl) as peer:
            peer.send(with_text(INPUT, b"maybe\n"))
            assert peer.receive() == (TAKEN, struct.pack("<I", 6))
        a.ends(s.client, 0)
        assert a.ok("cat", "last") == b"<maybe>"


run()
