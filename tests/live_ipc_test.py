#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_ipc_test.py -- snapshots by the public bytes, over every way there is; malformed requests.

The other end is written here, from the bytes that the design fixes (support/public_ipc.py).
usage: live_ipc_test.py AHR ASKER MOCK_AGENT [--sanitized]
"""

import json
import os
import random
import re
import signal
import socket
import stat
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

TESTS_DIR = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS_DIR))
from support.live import HUSH, Session, by_hand, kinds, lines, snapshots, taken
from support.mounts import mounted, own_mounts
from support.processes import kill, state, wait_for
from support.public_ipc import (ANCHOR, AUTH, DETACH, HANGUP, INPUT, LABEL_MAX, RESIZE, SNAPSHOT,
                                SNAPSHOT_MANUAL, STATE, STATUS, STOP, SUBSCRIBE,
                                HungUp, Peer, Refused, frame, instruct, snap, snapshot, with_text)
from support.recorder import IS_LONG, IS_SANITIZED, Recorder
from support.tap import run, test

AHR, ASKER, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:4])
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
EXACT = 2000 if IS_SANITIZED else 10_000
KILLS = 100 if IS_LONG else 4 if IS_SANITIZED else 12


def ask_as_text(n):
    """What ASKER writes."""
    text = b"all work and no play makes the agent a dull one\r\n"
    return (text * (n // len(text) + 1))[:n]


def just_once(n):
    return b"12345"[:n]


# -- the public bytes --

@test
def a_client_of_the_public_bytes_gets_the_right_reply():
    with Recorder(AHR) as a, Session(a, command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        before = time.time_ns()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(s.env["AH_RECORDER_IPC_SOCKET"])
            client.sendall(bytes.fromhex("16000000" "00" "2d00000000000000" "0c000000") + b"post-tool")
            reply = client.recv(29, socket.MSG_WAITALL)
        assert reply[:13] == bytes.fromhex("19000000" "00" "2d00000000000000"), reply
        anchor, ts_ns = struct.unpack("<QQ", reply[13:])
        assert anchor == 5
        assert abs(ts_ns - before) < 60 * 10**9
        one, = s.end(just_once)
        assert one == (ts_ns, 45, 5, "post-tool")
        assert kinds(a.session()) == {45: "auto"}
        assert a.verify("last")["snapshots"] == 1


@test
def the_sockets_are_the_users_alone():
    with Recorder(AHR) as a, Session(a, preexec_fn=lambda: os.umask(0)) as s:
        assert s.ipc == s.env["AH_RECORDER_IPC_SOCKET"] == str(a.live() / "ipc.sock")
        assert "AHR_IPC_TOKEN" not in s.env
        for path, mode in ((s.ipc, 0o600), (s.ctl, 0o600), (os.path.dirname(s.ipc), 0o700)):
            assert stat.S_IMODE(os.lstat(path).st_mode) == mode, (path, oct(os.lstat(path).st_mode))
        s.end()
        assert not list(a.home.rglob("*.sock"))


@test
def anchor_and_status_are_told_and_leave_no_trace():
    size = ("--cols", "90", "--rows", "33")
    with Recorder(AHR) as a, Session(a, *size, command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        for address in (s.ipc, s.ctl):
            with Peer(address) as peer:
                first = peer.ask(frame(ANCHOR))
                assert first[:2] == (0, 5)
                taken_at = peer.snapshot(9).ts_ns
                assert first.ts_ns <= taken_at <= peer.ask(frame(ANCHOR)).ts_ns
                peer.send(frame(STATUS))
                selector, body = peer.receive()
                assert selector == STATE
                *numbers, offset = struct.unpack_from("<QQHHIIQQI", body)
                assert offset == struct.calcsize("<QQHHIIQQI") and body[offset:] == b""
                size, _, cols, rows, clients, watchers, count, instructions = numbers
                assert (size, cols, rows, watchers, instructions) == (5, 90, 33, 0, 0)
                assert clients == 1 and count == (1 if address == s.ipc else 2)
        assert len(s.end(just_once)) == 2


def with_an_earlier_anchor(s):
    """Three snapshots; the second is put where its sender had asked before. Their replies."""
    with Peer(s.ipc) as early, Peer(s.ipc) as other:
        asked = early.ask(frame(ANCHOR))
        s.has_shown(asked.anchor_byte + 1)
        done = [other.snapshot(1), early.snapshot(2), early.snapshot(3)]
        assert done[1] == (2, *asked[1:])
        assert asked.anchor_byte < done[0].anchor_byte <= done[2].anchor_byte
        assert asked.ts_ns < done[0].ts_ns <= done[2].ts_ns
        return sorted(done)


def told(folder):
    return sorted((one["id"], one["anchor_byte"], one["ts_ns"]) for one in lines(folder, "snapshots"))


@test
def a_snapshot_is_put_where_its_sender_asked_before():
    with Recorder(AHR) as a, Session(a) as s:
        done = with_an_earlier_anchor(s)
        (a.dir / "go").touch()
        a.ends(s.client, 0)
        facts = a.verify(s.id)
        assert facts["snapshots"] == 3 and facts["damaged"] == facts["warnings"] == [], facts
        assert told(a.session()) == done
        stamps = [one.ts_ns for one in snapshots(a.session() / "session.ahr")]
        assert stamps == sorted(stamps)
        shown = [one for one in json.loads(a.ok("export", "--format", "json", s.id))
                 if one.get("kind") == "snapshot"]
        assert sorted((one["id"], one["anchor_byte"], int(one["ts_ns"])) for one in shown) == done


@test
def a_snapshot_with_an_earlier_anchor_has_one_line_after_a_crash():
    with Recorder(AHR) as a, Session(a) as s:
        done = with_an_earlier_anchor(s)
        kill(s.host)
        s.client.wait(60)
        (a.dir / "go").touch()
        a.run("recover", "--all")
        assert told(a.session()) == done


@test
def labels_of_any_length_and_script_are_kept():
    labels = ["", "x", "post-tool", 'quote " and \\ back', "naïve 世界 🚀 e\u0301", "\u2028 \u00a0",
              "x" * LABEL_MAX, "世" * (LABEL_MAX // 3)]
    with Recorder(AHR) as a, Session(a) as s:
        with Peer(s.ipc) as peer:
            for number, label in enumerate(labels):
                assert peer.snapshot(number, label).id == number
        assert [one.label for one in s.end()] == labels


@test
def any_number_is_an_id():
    with Recorder(AHR) as a, Session(a) as s:
        ids = [0, 1, 2**53, 2**63, 2**64 - 1, 1]
        with Peer(s.ipc) as peer:
            assert [peer.snapshot(number).id for number in ids] == ids
        assert [one.id for one in s.end()] == ids


# -- what is wrong --

def huge(size):
    return struct.pack("<I", size) + snapshot(1, "x")[4:]


MALFORMED = {
    "no length": huge(0),
    "4 GiB": huge(2**32 - 1),
    "a byte too long": huge(14 + LABEL_MAX) + b"x" * LABEL_MAX,
    "an unknown selector": frame(1, bytes(12)),
    "a selector of replies": frame(64, bytes(12)),
    "selector 255": frame(255),
    "a selector alone": frame(SNAPSHOT),
    "a body cut short": frame(SNAPSHOT, bytes(11)),
    "an offset of 0": frame(SNAPSHOT, struct.pack("<QI", 1, 0) + b"label"),
    "an offset behind the end": frame(SNAPSHOT, struct.pack("<QI", 1, 2**32 - 1) + b"label"),
    "an offset one off": frame(SNAPSHOT, struct.pack("<QI", 1, 13) + b"label"),
    "a label that is no UTF-8": snapshot(1, b"caf\xe9"),
    "a label with half a character": snapshot(1, b"\xe4\xb8"),
    "a label with a surrogate": snapshot(1, b"\xed\xa0\x80"),
    "a label with an escape": snapshot(1, "red \x1b[31m"),
    "a label of two lines": snapshot(1, "one\ntwo"),
    "a label with NUL": snapshot(1, "a\0b"),
    "a label with DEL": snapshot(1, "a\x7fb"),
    "a label with C1": snapshot(1, "a\u009b31mb"),
    "a manual one with C1": snapshot(1, "\u0085", SNAPSHOT_MANUAL),
    "trailing bytes": frame(STATUS, b"x"),
    "trailing bytes of an anchor": frame(ANCHOR, bytes(8)),
    "a token over a Unix socket": with_text(AUTH, b"0123456789abcdef"),
    "a token as if none were one": with_text(AUTH, bytes(32)),
}
# What only ctl.sock takes; each is right in itself.
CONTROL = {
    "instruct": instruct("go on"),
    "input": with_text(INPUT, b"y\r"),
    "resize": frame(RESIZE, struct.pack("<HH", 40, 10)),
    "subscribe": frame(SUBSCRIBE, struct.pack("<HHB", 0, 0, 1)),
    "stop": frame(STOP, bytes([15])),
    "detach": frame(DETACH),
    "hangup": frame(HANGUP),
    "input end": frame(26),
    "pause": frame(28, struct.pack("<BQ", 1, 0)),
    "screen": frame(96, struct.pack("<IBI", 1, 1, 9)),
    "reply": frame(97, struct.pack("<QI", 1, 12) + b"\x1b[0n"),
}


@test
def malformed_requests_are_turned_away_and_the_recording_goes_on():
    with Recorder(AHR) as a, Session(a) as s:
        for number, (name, request) in enumerate({**MALFORMED, **CONTROL}.items()):
            try:
                with Peer(s.ipc) as peer:
                    peer.send(request)
                    assert peer.is_turned_away(), "closed without a word"
                s.still_works(number)
            except Exception as why:
                raise AssertionError(f"{name}: {why!r}") from why
        s.goes_on()
        found = s.end()
        assert [one.id for one in found] == list(range(len(MALFORMED) + len(CONTROL)))
        assert lines(a.session(), "instructions") == []
        assert a.meta()["status"] == "completed"


@test
def malformed_requests_are_turned_away_by_the_control_socket_too():
    strange = {**MALFORMED, "half a resize": frame(RESIZE, b"xxx"),
               "the mirror's screen": CONTROL["screen"], "the mirror's reply": CONTROL["reply"],
               "a wrong offset of input": frame(INPUT, struct.pack("<I", 5) + b"y\r"),
               "an unknown snapshot": instruct("x", snapshot_id=4711)}
    with Recorder(AHR) as a, Session(a) as s:
        for number, (name, request) in enumerate(strange.items()):
            try:
                with Peer(s.ctl) as peer:
                    peer.send(request)
                    assert peer.is_turned_away(), "closed without a word"
                s.still_works(number)
            except Exception as why:
                raise AssertionError(f"{name}: {why!r}") from why
        assert len(s.end()) == len(strange)


@test
def a_refusal_says_why():
    with Recorder(AHR) as a, Session(a) as s:
        for request in (snapshot(1, b"\xff"), snapshot(1, "\x07"), frame(99)):
            with Peer(s.ipc) as peer:
                peer.send(request)
                assert peer.is_turned_away(), "closed without a word"
        with Peer(s.ctl) as peer:
            peer.send(instruct("x", snapshot_id=4711))
            assert "no snapshot 4711" in peer.is_turned_away()
        assert s.end() == []


@test
def requests_come_in_pieces_of_any_size():
    with Recorder(AHR) as a, Session(a) as s, Peer(s.ipc) as peer:
        request = snapshot(77, "bit by bit")
        for byte in request[:-1]:
            peer.send(bytes([byte]))
        s.still_works(1)
        assert peer.ask(request[-1:]).id == 77
        two = snapshot(2) + snapshot(3)
        peer.send(two[:20])
        assert peer.done().id == 2
        assert peer.ask(two[20:]).id == 3
        assert [one.id for one in s.end()] == [1, 77, 2, 3]


@test
def half_a_frame_and_a_close_harm_nobody():
    with Recorder(AHR) as a, Session(a) as s:
        request = snapshot(5, "cut off")
        for size in range(len(request)):
            with Peer(s.ipc) as peer:
                peer.send(request[:size])
        # Whole, but the other end does not wait for the reply.
        for _ in range(20):
            with Peer(s.ipc) as peer:
                peer.send(snapshot(6, "never heard"))
        s.still_works(7)
        assert {one.id for one in s.end()} in ({6, 7}, {7})


@test
def whoever_has_said_all_still_gets_the_reply():
    with Recorder(AHR) as a, Session(a) as s, Peer(s.ipc) as peer:
        kill(s.host, signal.SIGSTOP)  # it is to find request and end together
        wait_for(lambda: state(s.host) == "T")
        peer.send(snapshot(1) + snapshot(2))
        peer.socket.shutdown(socket.SHUT_WR)
        kill(s.host, signal.SIGCONT)
        assert [peer.done().id, peer.done().id] == [1, 2]
        assert len(s.end()) == 2


# -- many --

def at_once(count, action):
    """action(n) in as many threads, which begin together; what each gave."""
    barrier = threading.Barrier(count)

    def act(number):
        barrier.wait()
        return action(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(act, range(count)))


@test
def fifty_snapshots_at_once_are_fifty_records_in_order():
    for sync in ("interval", "none", "always"):
        with Recorder(AHR) as a, Session(a, "--sync", sync) as s, ExitStack() as stack:
            peers = [stack.enter_context(Peer(s.ipc)) for _ in range(50)]
            replies = at_once(50, lambda n: peers[n].snapshot(1000 + n, f"of {n}"))
            found = s.end()
            assert len(found) == 50
            assert sorted(one.id for one in found) == list(range(1000, 1050))
            assert {one[:3] for one in found} == {(r.ts_ns, r.id, r.anchor_byte) for r in replies}
            assert all(one.label == f"of {one.id - 1000}" for one in found)


@test
def requests_in_a_row_are_answered_in_order():
    with Recorder(AHR) as a, Session(a) as s, Peer(s.ipc) as peer:
        peer.send(b"".join(snapshot(n, "in a row") for n in range(300)))
        assert [peer.done().id for _ in range(300)] == list(range(300))
        assert [one.id for one in s.end()] == list(range(300))


def asks(a, count, *options):
    """A program writes and asks; every anchor is where it stood."""
    with open(a.dir / "shown", "wb") as out, a.log() as log:
        client = a.start("record", *options, "--", ASKER, count, 1, a.dir / "replies", stdout=out,
                         stderr=log)
        status = client.wait(240)
    assert status == 0, (status, a.said(), (a.dir / "replies").read_text()[-500:])
    recorded = a.ok("cat", "last")
    assert recorded == ask_as_text(len(recorded)) == (a.dir / "shown").read_bytes()
    replies = [tuple(map(int, line.split())) for line in (a.dir / "replies").read_text().splitlines()]
    assert len(replies) == count
    assert [(one.id, one.anchor_byte, one.ts_ns) for one in taken(a.session())] == replies
    facts = a.verify("last")
    assert facts["damaged"] == [] == facts["warnings"] and facts["snapshots"] == count


@test
def every_anchor_is_exact():
    with Recorder(AHR) as a:
        asks(a, EXACT, "--sync", "none")


@test
def every_anchor_is_exact_however_it_is_recorded():
    for options in ((), ("--redact",), ("--sync", "always"), ("--sync", "block"),
                    ("--block-ms", "1", "--redact", "--sync", "none")):
        with Recorder(AHR) as a:
            asks(a, 100 if IS_SANITIZED else 200, *options)


@test
def the_mock_agents_truth_is_what_was_recorded():
    with Recorder(AHR) as a:
        a.ok("record", "-q", "--allow-self", "--", MOCK, "--no-wait", "--steps", 30, "--snapshots",
             "--snapshot-base", 500, "--instruct", "--truth", a.dir / "truth", "--bytes",
             a.dir / "bytes")
        true = json.loads((a.dir / "truth").read_text())
        assert a.ok("cat", "last") == (a.dir / "bytes").read_bytes()
        found = taken(a.session())
        assert [(one.id, one.label, one.anchor_byte) for one in found] == [
            (one["id"], one["label"], one["anchor_byte"]) for one in true["snapshots"]]
        assert [one["reply"] for one in true["snapshots"]] == [
            {"id": one.id, "anchor_byte": one.anchor_byte, "ts_ns": one.ts_ns} for one in found]
        told = lines(a.session(), "instructions")
        assert len(told) == 30 == len({one["id"] for one in told})
        for have, want in zip(told, true["instructions"]):
            assert {**have, "id": 0, "ts_ns": 0} == {
                "id": 0, "ts_ns": 0, "anchor_byte": want["anchor_byte"],
                "snapshot_id": want["snapshot_id"], "row": None, "text": want["text"],
                "delivered": False}
            assert want["reply"] == {key: have[key] for key in ("id", "anchor_byte", "ts_ns")}


# -- `ahr snapshot` --

@test
def a_snapshot_by_hand_is_manual():
    with Recorder(AHR) as a, Session(a, command=("sh", "-c", HUSH)) as s:
        s.has_shown(5)
        before = time.time_ns() // 1000
        public = {"AH_RECORDER_IPC_SOCKET": s.ipc}
        facts = [by_hand(a, "--id", 7, "--label", "seen “it”", "--session", s.id),
                 by_hand(a, env={"AHR_IPC": s.ipc}), by_hand(a, "--label", "x" * LABEL_MAX, env=public)]
        assert facts[0]["id"] == 7 and all(one["anchor_byte"] == 5 for one in facts)
        for one in facts[1:]:
            assert before <= one["id"] <= time.time_ns() // 1000 and one["id"] < 2**53
        found = s.end(just_once)
        assert [(one.id, one.anchor_byte, one.ts_ns) for one in found] == [
            (one["id"], one["anchor_byte"], one["ts_ns"]) for one in facts]
        assert [one.label for one in found] == ["seen “it”", "", "x" * LABEL_MAX]
        assert set(kinds(a.session()).values()) == {"manual"}


@test
def the_recorded_program_takes_snapshots_by_the_command():
    with Recorder(AHR) as a:
        out = a.ok("record", "-q", "--", "sh", "-c", f"printf abc; {AHR} snapshot --label mine")
        facts = json.loads(out[3:])
        one, = taken(a.session())
        assert one == (facts["ts_ns"], facts["id"], 3, "mine")


@test
def without_a_recorder_there_is_no_snapshot():
    with Recorder(AHR) as a:
        assert a.fails(3, "snapshot").startswith("ahr snapshot: ")
        assert "nobody" in a.fails(3, "snapshot", "--session", "nobody")
        a.fails(3, "snapshot", env={"AHR_IPC": str(a.dir / "gone.sock")})
        a.ok("record", "-q", "--", "true")
        a.fails(3, "snapshot", "--session", "last")


@test
def labels_that_nobody_could_read_are_refused_on_the_command_line():
    with Recorder(AHR) as a, Session(a) as s:
        for label in ("two\nlines", "\x1b[31m", "a\u0085b", b"caf\xe9", "x" * (LABEL_MAX + 1)):
            label = os.fsdecode(label)
            done = a.run("snapshot", "--label", label, "--session", s.id)
            assert done.returncode in (1, 2) and done.stdout == b"", (label[:20], done)
            assert done.stderr.startswith(b"ahr snapshot: "), done.stderr
        assert s.end() == []


# -- other ways than a Unix socket --

@test
def over_tcp_the_token_comes_first():
    with Recorder(AHR) as a, Session(a, "--ipc", "tcp:127.0.0.1:0") as s:
        assert re.fullmatch(r"tcp:127\.0\.0\.1:\d+", s.ipc), s.ipc
        token = s.env["AHR_IPC_TOKEN"]
        assert re.fullmatch(r"[0-9a-f]{32,}", token) and "AH_RECORDER_IPC_SOCKET" not in s.env
        assert not (a.live() / "ipc.sock").exists()
        with Peer(s.ipc, token) as peer:
            assert [peer.snapshot(n).id for n in (1, 2)] == [1, 2]
        wrong = ["", token[:-1], token + "0", token[:-1] + ("1" if token[-1] == "0" else "0"),
                 token.upper() if token.upper() != token else "0", "\0" * len(token)]
        for number, other in enumerate(wrong):
            with Peer(s.ipc, other) as peer:
                peer.send(snapshot(90 + number))
                assert peer.is_turned_away() is not None
                try:
                    raise AssertionError(peer.receive())
                except HungUp:
                    pass
        for request in (snapshot(80), frame(STATUS), frame(ANCHOR), b"GET / HTTP/1.1\r\n\r\n"):
            with Peer(s.ipc) as peer:
                peer.send(request)
                assert peer.is_turned_away(), "closed without a word"
        for request in CONTROL.values():
            with Peer(s.ipc, token) as peer:
                peer.send(request)
                assert peer.is_turned_away(), "closed without a word"
        is_nowhere(a, token, s)
        assert [one.id for one in s.end()] == [1, 2]
        is_nowhere(a, token)


@test
def a_snapshot_by_hand_goes_over_tcp():
    with Recorder(AHR) as a, Session(a, "--ipc", "tcp:127.0.0.1:0") as s:
        token = s.env["AHR_IPC_TOKEN"]
        assert by_hand(a, "--id", 3, env={"AHR_IPC": s.ipc, "AHR_IPC_TOKEN": token})["id"] == 3
        a.fails(1, "snapshot", env={"AHR_IPC": s.ipc, "AHR_IPC_TOKEN": "0" * len(token)})
        a.fails(1, "snapshot", env={"AHR_IPC": s.ipc})
        assert [one.id for one in s.end()] == [3]


def is_nowhere(a, token, s=None):
    """No file of ours and no command line holds it."""
    for path in a.home.rglob("*"):
        if path.is_file():
            assert token.encode() not in path.read_bytes(), path
    assert token.encode() not in a.ok("cat", "last")
    for pid in (s.host, s.client.pid) if s else ():
        assert token.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


@test
def every_session_has_a_token_of_its_own():
    tokens = set()
    for _ in range(3):
        with Recorder(AHR) as a, Session(a, "--ipc", "tcp:127.0.0.1:0") as s:
            tokens.add(s.env["AHR_IPC_TOKEN"])
            s.end()
    assert len(tokens) == 3


@test
def tcp_is_for_this_machine_alone():
    with Recorder(AHR) as a:
        for where in ("tcp:0.0.0.0:0", "tcp:192.0.2.1:0", "tcp:example.com:80", "tcp:", "tcp:127.0.0.1",
                      "tcp:127.0.0.1:99999", "nonsense"):
            a.fails(2, "record", "--ipc", where, "--", "touch", a.dir / "ran")
        assert not (a.dir / "ran").exists() and a.names("sessions") == []


@test
def switched_off_there_is_no_socket_for_the_program():
    with Recorder(AHR) as a, Session(a, "--ipc", "off") as s:
        assert not {"AHR_IPC", "AH_RECORDER_IPC_SOCKET", "AHR_IPC_TOKEN"} & set(s.env)
        assert s.id == a.live().name and not (a.live() / "ipc.sock").exists()
        assert by_hand(a, "--session", s.id, "--id", 4)["id"] == 4  # a person still may
        assert [one.id for one in s.end()] == [4]


@test
def a_session_in_a_session_has_a_socket_of_its_own():
    with Recorder(AHR) as a, Session(a) as s:
        outer = {name: s.env[name] for name in ("AHR_IPC", "AH_RECORDER_IPC_SOCKET", "AHR_SESSION")}
        for ipc in ("auto", "off", "tcp:127.0.0.1:0"):
            inner = a.ok("record", "-q", "--ipc", ipc, "--", "env", env=outer).decode()
            assert outer["AHR_IPC"] not in inner, (ipc, inner)
        s.end()


# -- killed, and out of room --

def keep(_):
    pass


def lose_a_line(path):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def lose_half_a_line(path):
    path.write_bytes(path.read_bytes()[:-20])


CUTS = (keep, lose_a_line, lose_half_a_line, Path.unlink)


def killed_while_asked(draw, n):
    count, cut = draw.choice((1, 2, draw.randrange(3, 300))), CUTS[n % len(CUTS)]
    what = f"round {n} of seed {SEED}: killed after {count} snapshots, then {cut.__name__}"
    try:
        with Recorder(AHR) as a, open(a.dir / "shown", "wb") as out, a.log() as log:
            replies = a.dir / "replies"
            client = a.start("record", "--block-ms", "20", "--", ASKER, 0, 1, replies, stdout=out,
                             stderr=log)
            host = a.host(client.pid)
            wait_for(lambda: replies.exists() and replies.read_bytes().count(b"\n") >= count)
            kill(host)
            client.wait(60)
            a.nobody_is_left()
            folder = a.live()
            path = folder / "session.snapshots.jsonl"
            cut(path)
            torn = path.read_text().split("\n")[-1:] if path.exists() else []
            a.ok("recover", "--all")
            assert not list(a.home.rglob("*.sock")), "sockets are left"
            found = taken(a.session(), torn)
            heard = [tuple(map(int, line.split())) for line in replies.read_text().splitlines()]
            assert len(heard) >= count
            assert [(one.id, one.anchor_byte, one.ts_ns) for one in found[:len(heard)]] == heard
            assert len(found) <= len(heard) + 1 and len({one.id for one in found}) == len(found)
            recorded = a.ok("cat", "last")
            assert recorded == ask_as_text(len(recorded)) and len(recorded) >= heard[-1][1]
            assert a.verify("last")["damaged"] == []
            whole = {p.name: p.read_bytes() for p in a.session().iterdir()}
            a.ok("recover", "--all")
            assert whole == {p.name: p.read_bytes() for p in a.session().iterdir()}
    except BaseException:
        print(f"# {what}")
        raise


@test
def a_snapshot_that_was_answered_survives_kill_9():
    draw = random.Random(SEED)
    for n in range(KILLS):
        killed_while_asked(draw, n)


def fill(path):
    """Takes all the room that is left there."""
    with open(path, "wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


@test
def snapshots_on_a_full_disk_are_answered():
    with Recorder(AHR) as a, mounted(a.home, "-t", "tmpfs", "-o", "size=3m", "tmpfs"), \
            Session(a) as s:
        done, held = [s.still_works(1)], []
        fill(a.home / "fill")
        for number in range(2, 22):
            try:
                done.append(snap(s.ipc, number, "x" * 2000))
            except Refused as why:
                assert "the disk takes nothing now" in str(why), why
                held.append(number)
        assert len(held) > 10, held  # what is in memory alone is not called done
        s.goes_on()
        (a.home / "fill").unlink()

        def is_done():
            try:
                return snap(s.ipc, 100, "room again")
            except Refused:
                return None

        done.append(wait_for(is_done))
        (a.dir / "go").touch()
        a.ends(s.client, 0)
        recorded = a.ok("cat", s.id)
        assert recorded == s.shown() and a.verify(s.id)["damaged"] == []
        found = {one[:3] for one in taken(a.session())}
        assert {(one.ts_ns, one.id, one.anchor_byte) for one in done} <= found
        assert set(held) <= {one[1] for one in found}


own_mounts()
run()
