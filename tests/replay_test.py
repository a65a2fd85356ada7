#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_test.py -- `ahr replay` as a user meets it, but for the player on a terminal.
usage: replay_test.py AHR MOCK_AGENT"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.live import Session
from support.on_pty import OnPty
from support.recorder import Recorder
from support.sessions import GOLDEN, Home, session_id
from support.tape import Tape
from support.tap import run, test

AHR, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
HOUR = 3600_000
QUICK = ("--speed", "1000", "--idle-limit", "0.01")
OLD, NEW = session_id("2026-01-02", "a"), session_id("2026-03-04", "b")
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "events", "cast", "cast3")


def long_session(path):
    """Two lines, and an hour between them."""
    return Tape().data("first\r\n").wait(HOUR).data("second\r\n").end().write(path)


def mock_session(a, name="x.ahr", seed=5):
    """What the mock agent writes, an hour long; redraws, colours, the alternate screen."""
    agent = subprocess.run([MOCK, "--seed", str(seed), "--no-wait", "--bytes", "truth"],
                           cwd=a.dir, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                           env=a.env, check=False)
    assert agent.returncode == 0
    stream = (a.dir / "truth").read_bytes()
    tape = Tape()
    for i in range(0, len(stream), 700):
        tape.data(stream[i:i + 700]).wait(HOUR // (len(stream) // 700 + 1))
    tape.end().write(a.dir / name)
    return stream


def damaged(path):
    """Three blocks, of which the one in the middle is no good."""
    tape = Tape().data("first\r\n").seal().data("middle\r\n").seal().data("last\r\n").end()
    whole = bytearray(tape.bytes())
    at = whole.index(b"AHRC", whole.index(b"AHRC", 1) + 1) - 1
    whole[at] ^= 0x10
    path.write_bytes(whole)


# -- plain text --

@test
def text_comes_as_time_passes_and_an_interrupt_ends_it():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        child = a.popen("replay", "x.ahr", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert child.stdout.readline() == b"first\n"
        assert child.poll() is None  # for an hour
        child.send_signal(signal.SIGINT)
        assert child.communicate() == (b"", b"") and child.returncode == -signal.SIGINT


@test
def speed_and_idle_limit_shorten_the_wait():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        assert a.ok("replay", "x.ahr", *QUICK) == b"first\nsecond\n"
        assert a.ok("replay", "x.ahr", "--idle-limit", "0.001") == b"first\nsecond\n"
        Tape().data("a\r\n").wait(10_000).data("b\r\n").write(a.dir / "y.ahr")
        assert a.ok("replay", "y.ahr", "--speed", "1000") == b"a\nb\n"
        env = {"AHR_SPEED": "1000", "AHR_IDLE_LIMIT": "0.01"}
        assert a.ok("replay", "x.ahr", env=env) == b"first\nsecond\n"


@test
def every_final_line_is_printed_in_its_order_and_nothing_but_text():
    with Ahr(AHR) as a:
        for seed in (1, 2, 3):
            mock_session(a, seed=seed)
            text = a.ok("replay", *QUICK, "x.ahr").decode()
            assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
            printed = text.split("\n")
            final = a.ok("render", "--scrollback", "x.ahr").decode().split("\n")
            assert not [line for line in final if line and line not in printed]
            rows = Tape().data("".join(f"line {i}\r\n" for i in range(500))).write(a.dir / "y.ahr")
            assert a.ok("replay", *QUICK, rows) == a.ok("replay", "--fast", rows)


@test
def a_line_that_changes_is_printed_again_at_the_end():
    with Ahr(AHR) as a:
        Tape().data("0 %\r\n").wait(HOUR).data("\x1b[A100 %\r\n").write(a.dir / "x.ahr")
        assert a.ok("replay", *QUICK, "x.ahr") == b"0 %\n100 %\n"


@test
def gaps_are_lines_of_their_own():
    with Ahr(AHR) as a:
        Tape().data("one\r\n").gap(1000).data("two\r\n").end().write(a.dir / "x.ahr")
        done = a.run("replay", *QUICK, "x.ahr")
        assert done.stdout == b"one\n[ahr: 1000 bytes were not recorded here]\ntwo\n"
        assert done.stderr == (
            b"ahr replay: 'x.ahr': 1000 bytes from byte 5 on were not recorded\n")
        assert done.returncode == 0
        damaged(a.dir / "y.ahr")
        done = a.run("replay", *QUICK, "y.ahr")
        assert done.stdout.decode().split("\n") == [
            "first", "[ahr: 8 bytes are missing here: the recording is damaged]", "last", ""]
        assert done.returncode == 4 and b"8 bytes from byte 7 on are missing" in done.stderr


@test
def a_reader_that_goes_away_ends_it():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        for mode in ([], ["--raw"]):
            child = a.popen("replay", "x.ahr", *mode, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert child.stdout.read(5) == b"first"
            child.stdout.close()
            assert child.stderr.read() == b"" and child.wait() == -signal.SIGPIPE
            child.stderr.close()
        Tape().data("x" * 79 + "\r\n" + "line\r\n" * 200000).write(a.dir / "y.ahr")
        for mode in (["--fast"], ["--raw", "--fast"], QUICK, ["--format", "md"]):
            child = a.popen("replay", "y.ahr", *mode, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.read(1)
            child.stdout.close()
            assert child.stderr.read() == b"" and child.wait() == -signal.SIGPIPE, mode
            child.stderr.close()


@test
def a_full_disk_is_told():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        for mode in (QUICK, ["--fast"], ["--raw", "--fast"], ["--print-meta"]):
            with open("/dev/full", "wb") as full:
                child = a.popen("replay", "x.ahr", *mode, stdout=full, stderr=subprocess.PIPE)
                assert b"cannot write to standard output: No space" in child.communicate()[1], mode
                assert child.returncode == 1, mode


# -- from, to --

def clock_session(path):
    """A line each second, "0 s" … "9 s", of five bytes each."""
    tape = Tape()
    for i in range(10):
        tape.wait(1000 - 1 if i else 0).data(f"{i} s\r\n")
    return tape.end().write(path)


def seconds(*which):
    return "".join(f"{i} s\n" for i in which).encode()


@test
def text_and_bytes_begin_and_end_where_they_are_told_to():
    with Ahr(AHR) as a:
        clock_session(a.dir / "x.ahr")
        for where, want in (
                (["--from", "4.5"], range(5, 10)), (["--to", "4.5"], range(0, 5)),
                (["--from", "0:03.5", "--to", "0:00:06.5"], range(4, 7)),
                (["--from", "@25"], range(5, 10)), (["--to", "@25"], range(0, 5)),
                (["--from", "@10", "--to", "6.5"], range(2, 7)),
                (["--from", "2.5", "--to", "@25"], range(3, 5)),
                (["--from", "100"], []), (["--from", "@1000"], []), (["--to", "0.5"], [0]),
                (["--to", "999:59:59"], range(10)), (["--to", "@99999"], range(10)),
                (["--from", "0"], range(10)), (["--from", "@0"], range(10))):
            assert a.ok("replay", "x.ahr", *QUICK, *where) == seconds(*want), where
            raw = a.ok("replay", "x.ahr", "--raw", *QUICK, *where)
            assert raw == seconds(*want).replace(b"\n", b"\r\n"), where
        assert a.ok("replay", "x.ahr", "--raw", "--fast", "--from", "@3", "--to", "@7") == b"\r\n1 "
        # A line that goes on behind the beginning is there as a whole.
        assert a.ok("replay", "x.ahr", *QUICK, "--from", "@6", "--to", "@11") == b"1 s\n2\n"


@test
def waits_begin_where_the_session_does():
    with Ahr(AHR) as a:
        Tape().data("a\r\n").wait(HOUR).data("b\r\n").wait(HOUR).data("c\r\n").write(a.dir / "x.ahr")
        for mode in ([], ["--raw"]):
            child = a.popen("replay", "x.ahr", "--from", "59:59.9", *mode, stdout=subprocess.PIPE)
            assert child.stdout.readline().rstrip() == b"b"
            assert child.poll() is None
            child.send_signal(signal.SIGTERM)
            assert child.communicate()[0] == b"" and child.returncode == -signal.SIGTERM


@test
def fast_shows_the_state_at_a_moment():
    with Ahr(AHR) as a:
        Tape().data("one\r\ntwo\r\n").wait(1000).data("\x1b[2AONE\r\n\n").wait(1000).data(
            "three\r\n").end().write(a.dir / "x.ahr")
        fast = lambda *more: a.ok("replay", "--fast", "x.ahr", *more)
        assert fast() == b"ONE\ntwo\nthree\n"
        assert fast("--to", "0.5") == b"one\ntwo\n"
        assert fast("--to", "1.5") == b"ONE\ntwo\n"
        assert fast("--to", "@3") == b"one\n"
        assert fast("--to", "@18") == b"ONE\ntwo\n"
        assert fast("--from", "0.5") == b"ONE\nthree\n"
        assert fast("--from", "1.5") == b"three\n"
        assert fast("--from", "@10") == b"ONE\nthree\n"
        assert fast("--from", "0.5", "--to", "1.5") == b"ONE\n"


# -- raw --

@test
def raw_is_the_recorded_bytes():
    with Ahr(AHR) as a:
        stream = mock_session(a)
        assert a.ok("replay", "--raw", "--fast", "x.ahr") == stream
        assert a.ok("replay", "--raw", *QUICK, "x.ahr") == stream


@test
def raw_tells_of_gaps_elsewhere():
    with Ahr(AHR) as a:
        Tape().data("one\r\n").gap(7).data("two\r\n").end().write(a.dir / "x.ahr")
        done = a.run("replay", "--raw", "--fast", "x.ahr")
        assert (done.returncode, done.stdout) == (0, b"one\r\ntwo\r\n")
        assert b"7 bytes from byte 5 on were not recorded" in done.stderr
        done = a.run("replay", "--raw", "--fast", "x.ahr", "--from", "@12")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"two\r\n", b"")


@test
def raw_leaves_a_terminal_calm():
    with Ahr(AHR) as a:
        shown = b"\x1b[?1049h\x1b[?1003h\x1b[31mred"
        Tape().data(shown).write(a.dir / "x.ahr")
        Tape().data(shown).wait(HOUR).data("never").write(a.dir / "y.ahr")
        with OnPty([a.binary, "replay", "--raw", "x.ahr"], cwd=a.dir, env=a.env) as t:
            assert t.finish() == 0
            assert t.bytes.startswith(shown)
            left = t.bytes[len(shown):]
            assert left.startswith(b"\x1b[?1049l") and b"\x1b[?1003l" in left and b"\x1b[0m" in left
        with OnPty([a.binary, "replay", "--raw", "y.ahr"], cwd=a.dir, env=a.env) as t:
            t.read_until(b"red")
            t.process.send_signal(signal.SIGINT)
            assert t.finish() == -signal.SIGINT
            assert b"\x1b[?1003l" in t.bytes and b"never" not in t.bytes


# -- on a terminal --

@test
def a_terminal_gets_the_player():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        damaged(a.dir / "y.ahr")
        for name, status in (("x.ahr", 0), ("y.ahr", 4)):
            with OnPty([a.binary, "replay", name], cwd=a.dir, env=a.env) as t:
                t.read_until(b"first")
                os.write(t.master, b"q")
                assert t.finish() == status, bytes(t.bytes)
                assert t.bytes.count(b"skipped") == (status == 4)
        with OnPty([a.binary, "replay", "x.ahr"], cwd=a.dir, env=a.env) as t:
            t.read_until(b"first")
            t.process.send_signal(signal.SIGTERM)
            assert t.finish() == -signal.SIGTERM
        (a.dir / "empty.ahr").write_bytes(b"")
        with OnPty([a.binary, "replay", "empty.ahr"], cwd=a.dir, env=a.env) as t:
            assert t.finish() == 4 and b"holds no record" in t.bytes


# -- fast --

@test
def fast_is_what_render_shows():
    with Ahr(AHR) as a:
        mock_session(a)
        assert a.ok("replay", "--fast", "x.ahr") == a.ok("render", "--scrollback", "x.ahr")


@test
def fast_has_colours_on_a_terminal_unless_told_not_to():
    with Ahr(AHR) as a:
        mock_session(a)
        ansi = a.ok("render", "--scrollback", "--format", "ansi", "x.ahr")
        text = a.ok("render", "--scrollback", "x.ahr")
        assert ansi != text

        def shown(*more, **env):
            with OnPty([a.binary, "replay", "--fast", "x.ahr", *more], cwd=a.dir,
                       env={**a.env, **env}) as t:
                assert t.finish() == 0
                return bytes(t.bytes).replace(b"\r\n", b"\n")

        a.env.pop("NO_COLOR", None)
        assert shown() == ansi
        assert shown(NO_COLOR="") == ansi
        assert shown(NO_COLOR="1") == text
        assert shown("--no-colors") == text
        assert shown(AHR_NO_COLORS="1") == text


# -- documents --

@test
def a_format_is_what_export_writes():
    with Ahr(AHR) as a:
        mock_session(a)
        for form in FORMATS:
            for more in ([], ["--order", "position"]):
                want = a.ok("export", "--format", form, *more, "x.ahr")
                assert want and a.ok("replay", "--format", form, *more, "x.ahr") == want, form
                assert a.ok("replay", "--fast", "--format", form, *more, "x.ahr") == want, form
        clock_session(a.dir / "y.ahr")
        assert a.ok("replay", "--format", "txt", "--to", "2.5", "y.ahr") == seconds(0, 1, 2)
        assert a.ok("replay", "--format", "txt", "--to", "@15", "y.ahr") == seconds(0, 1, 2)


# -- facts and figures --

def facts(a, *args, status=0):
    done = a.run("replay", "--print-meta", "--json", *args)
    assert done.returncode == status, done
    assert done.stdout.count(b"\n") == 1
    return json.loads(done.stdout)


@test
def meta_tells_facts_and_figures():
    with Ahr(AHR) as a:
        home = Home(a)
        folder = home.folder("sessions", OLD)
        Tape(100, 30).data("a" * 1000 + "\r\n").snapshot(1, "here").wait(61_500).resize(
            90, 20).data("b\r\n").instruct(7, "go on").end().write(folder / "session.ahr")
        home.write_meta(folder, OLD, name="fix-login", status="failed", exitCode=3,
                        cmd=["claude", "--continue", "fix it"], cwd="/src",
                        startedAtNs=1_700_000_000_000_000_000, agent={"model": "x-1"})
        got = facts(a, OLD)
        assert got["session"] == OLD and got["live"] is False
        assert got["file"] == str(folder / "session.ahr")
        assert got["meta"]["cmd"] == ["claude", "--continue", "fix it"]
        assert (got["cols"], got["rows"]) == (100, 30)
        assert got["duration_ms"] == 61505
        assert got["first_ts_ns"] == "1700000000000000000"
        assert [got[k] for k in ("blocks", "bytes", "resizes", "snapshots", "instructions")] == [
            1, 1005, 2, 1, 1]
        assert got["records"] == 6
        size = (folder / "session.ahr").stat().st_size
        assert got["file_bytes"] == size and abs(got["ratio"] - 1005 / size) < 0.001
        assert (got["warnings"], got["damaged"], got["truncated_tail"]) == ([], [], False)
        text = a.ok("replay", "--print-meta", OLD, env={"TZ": "UTC"}).decode()
        rows = dict(re.match(r"(.{13}\S*) +(.*)", line).groups() for line in text.splitlines())
        rows = {key.strip(): value for key, value in rows.items()}
        for key, want in (("session", OLD), ("name", "fix-login"), ("status", "failed"),
                          ("exit code", "3"), ("command", "claude --continue 'fix it'"),
                          ("folder", "/src"), ("started", "2023-11-14 22:13:20 +0000"),
                          ("agent.model", "x-1"), ("size", "100x30"), ("duration", "0:01:01.505"),
                          ("file bytes", f"{size:,}"), ("bytes", "1,005"), ("snapshots", "1"),
                          ("instructions", "1"), ("damage", "none")):
            assert rows[key] == want, (key, text)


@test
def meta_does_without_a_meta():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        got = facts(a, "x.ahr")
        assert got["meta"] is None and got["session"] is None and got["bytes"] == 15
        assert b"duration      1:00:00" in a.ok("replay", "--print-meta", "x.ahr")


@test
def a_damaged_meta_is_told_and_the_rest_is_there():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        for bad in (b"{", b"[]", b"", b"\0" * 100, b'"x"', b"{}" * 600000):
            (a.dir / "x.meta.json").write_bytes(bad)
            done = a.run("replay", "--print-meta", "x.ahr")
            assert done.returncode == 4 and b"duration      1:00:00" in done.stdout
            assert b"is no session.meta.json" in done.stderr
            assert facts(a, "x.ahr", status=4)["meta"] is None
            assert a.ok("replay", *QUICK, "x.ahr") == b"first\nsecond\n"


@test
def a_hostile_meta_is_only_text():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        bad = "\x1b]52;c;AAAA\x07\x9b31m\u202e\x7f\r\nsize          1x1"
        (a.dir / "x.meta.json").write_text(json.dumps(
            {"name": bad, bad: bad, "cmd": [bad, 1, {}], "cwd": {"deep": {"er": [bad]}},
             "startedAtNs": -1, "endedAtNs": "soon", "cols": 1e300, "status": 7, "role": None}))
        for more in ([], ["--json"]):
            out = a.ok("replay", "--print-meta", *more, "x.ahr").decode()
            assert not [c for c in out if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160
                                                        or c in "\u202e\u2028")], out
        assert "\nsize          80x24\n" in a.ok("replay", "--print-meta", "x.ahr").decode()


# -- which session --

@test
def the_session_is_the_last_unless_told():
    with Ahr(AHR) as a:
        told = a.fails(3, "replay")
        assert "there is no session in '" in told
        assert "no session or file 'nobody'" in a.fails(3, "replay", "nobody")
        assert "cannot open 'x.ahr'" in a.fails(3, "replay", "x.ahr")
        home = Home(a)
        home.add("sessions", OLD, b"old", name="first", startedAtNs=1)
        home.add("sessions", NEW, b"new", startedAtNs=2)
        for args, want in (([], b"new\n"), (["last"], b"new\n"), (["first"], b"old\n"),
                           (["--session", "first"], b"old\n"), ([OLD], b"old\n")):
            for mode in ([], ["--fast"], ["--format", "txt"]):
                assert a.ok("replay", *args, *mode) == want, (args, mode)
        # Inside of a session that variable says which one it is, and nothing else.
        assert a.ok("replay", env={"AHR_SESSION": OLD}) == b"new\n"
        assert a.ok("replay", OLD, env={"AHR_SESSION": NEW}) == b"old\n"
        assert "one session" in a.fails(2, "replay", "--session", OLD, NEW)
        assert "one session" in a.fails(2, "replay", OLD, NEW)


@test
def ah_agent_replay_is_another_name():
    with Ahr(AHR) as a:
        Home(a).add("sessions", OLD, b"old")
        (a.dir / "ah").symlink_to(a.binary)
        done = subprocess.run([a.dir / "ah", "agent", "replay", "--fast"], capture_output=True,
                              env=a.env, check=False)
        assert (done.returncode, done.stdout) == (0, b"old\n"), done


# -- what makes no sense --

@test
def wrong_words_are_told_what_is_right():
    with Ahr(AHR) as a:
        long_session(a.dir / "x.ahr")
        for args, want in (
                (["--from", "x"], "--from: 'x' is no moment of a session: give seconds (12.5), m:ss, "
                                  "h:mm:ss or @BYTE"),
                (["--to", "1:2"], "--to: '1:2' is no moment"),
                (["--to", "@"], "--to: '@' is no moment"),
                (["--to", "@0"], "nothing lies before byte 0"),
                (["--from", "5", "--to", "4"], "--from lies behind --to"),
                (["--from", "@5", "--to", "@4"], "--from lies behind --to"),
                (["--speed", "0"], "--speed: '0' is no number from 0.01 to 1000"),
                (["--speed", "1001"], "--speed: '1001' is no number from 0.01 to 1000"),
                (["--idle-limit", "-1"], "--idle-limit: '-1' is no time"),
                (["--json"], "--json is for --print-meta; --format json"),
                (["--print-meta", "--fast"], "--print-meta shows no lines"),
                (["--print-meta", "--raw"], "--print-meta shows no lines"),
                (["--print-meta", "--format", "md"], "--print-meta shows no lines"),
                (["--print-meta", "--to", "5"], "--print-meta is about the whole session"),
                (["--raw", "--format", "md"], "choose one"),
                (["--format", "md", "--from", "5"], "--from is not for --format"),
                (["--format", "doc"], "--format must be one of md|json|csv")):
            assert want in a.fails(2, "replay", "x.ahr", *args), args


# -- damage --

@test
def all_that_can_be_read_is_delivered_and_the_rest_told():
    with Ahr(AHR) as a:
        damaged(a.dir / "x.ahr")
        whole = Tape().data("first\r\n").seal().data("second\r\n").seal().data("third\r\n").end().bytes()
        (a.dir / "cut.ahr").write_bytes(whole[:-10])
        for name, words in (("x.ahr", [b"first", b"last"]), ("cut.ahr", [b"first", b"second"])):
            for mode in (QUICK, ["--fast"], ["--raw", "--fast"], ["--format", "txt"]):
                done = a.run("replay", name, *mode)
                assert done.returncode == 4, (name, mode, done)
                assert all(word in done.stdout for word in words), (name, mode, done)
                assert b"skipped" in done.stderr, (name, mode, done)
            got = facts(a, name, status=4)
            assert got["damaged"] and got["blocks"] == 2 and got["meta"] is None
            assert got["truncated_tail"] is (name == "cut.ahr")
            done = a.run("replay", "--print-meta", name)
            assert done.returncode == 4 and b"damage        yes\n  " in done.stdout


@test
def what_is_no_recording_is_told():
    with Ahr(AHR) as a:
        (a.dir / "empty.ahr").write_bytes(b"")
        (a.dir / "junk.ahr").write_bytes(b"no recording at all" * 100)
        for name in ("empty.ahr", "junk.ahr"):
            for mode in ([], ["--fast"], ["--raw"], ["--format", "txt"], ["--print-meta"]):
                done = a.run("replay", name, *mode)
                assert done.returncode == 4, (name, mode, done)
                assert b"holds no record: is it an .ahr recording?" in done.stderr, (name, mode, done)
                assert mode == ["--print-meta"] or done.stdout == b"", (name, mode, done)


@test
def damage_anywhere_ends_no_way_in_a_crash():
    with Ahr(AHR) as a:
        for piece in GOLDEN.glob("*.ahr*"):
            shutil.copy(piece, a.dir / piece.name)
        for path in sorted(a.dir.glob("*.ahr")):
            want = a.run("cat", path)
            status = 4 if path.name == "empty.ahr" else want.returncode
            for mode in (QUICK, ["--fast"], ["--raw", "--fast"], ["--print-meta"],
                         ["--raw", "--fast", "--from", "@3"], [*QUICK, "--from", "0.001", "--to", "@9"]):
                done = a.run("replay", path, *mode)
                assert done.returncode in (0, 4), (path, mode, done)
                is_part = "--from" in mode
                assert is_part or done.returncode == status, (path, mode, done)
            assert a.run("replay", "--raw", "--fast", path).stdout == want.stdout, path


# -- a live session --

@test
def a_session_is_replayed_while_it_is_recorded():
    with Recorder(AHR) as a, Session(a) as s:
        s.has_shown(500)
        recorded = a.ok("cat", s.id)
        for mode in (QUICK, ["--fast"], ["--raw", "--fast"]):
            lines = a.ok("replay", s.id, *mode).replace(b"\r", b"").split(b"\n")
            n = len(recorded.split(b"\n")) - 1
            assert lines[:n] == [b"line %d" % i for i in range(1, n + 1)], mode
        got = facts(a, s.id)
        assert got["live"] is True and got["meta"]["status"] == "active" and got["damaged"] == []
        assert got["bytes"] >= 500
        s.end()
        got = facts(a, s.id)
        assert got["live"] is False and got["meta"]["status"] == "completed"


run()
