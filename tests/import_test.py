#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""import_test.py -- `ahr import`: files that asciinema, script and ttyrec have made are shown as
those show them; a session is made whole or not at all. usage: import_test.py AHR [--sanitized]"""

import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.foreign import COLS, ROWS, Foreign
from support.mounts import mounted, own_mounts
from support.processes import wait_for
from support.recorder import IS_LONG, IS_SANITIZED, Recorder, records
from support.tap import run, test

AHR = sys.argv[1]
own_mounts()

HEAD = {"version": 2, "width": 20, "height": 5, "timestamp": 1700000000}
EVENTS = [[0.5, "o", "one\r\n"], [1.25, "m", "here"], [2.0, "o", "tw\u00f6"]]


def cast(events=EVENTS, **head):
    return "".join(json.dumps(line) + "\n" for line in [{**HEAD, **head}, *events]).encode()


class Import(Recorder):
    """A home, and files in its folder."""

    def write(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def imported(self, *args, status=0):
        """The folder of the session that was made."""
        done = self.run("import", *args)
        assert done.returncode == status, (done.returncode, done.stderr)
        sid = done.stdout.decode().strip()
        assert sid in self.names("sessions"), sid
        assert self.names("live") == []
        return self.home / "sessions" / sid

    def shows(self, folder, shown, cols=COLS, rows=ROWS):
        """The session is, byte for byte and on the screen, what a player has shown."""
        assert self.ok("cat", folder / "session.ahr") == shown
        size = ("--cols", cols, "--rows", rows)
        for form in (("--format", "ansi", "--scrollback"), ("--format", "json")):
            have = self.ok("render", *form, folder / "session.ahr")
            assert have == self.ok("render", *form, *size, "-", input=shown)
        assert b"underlined the end" in self.ok("render", folder / "session.ahr")

    def lasts(self, folder, seconds):
        meta = self.meta(folder)
        have = (meta["endedAtNs"] - meta["startedAtNs"]) / 1e9
        assert abs(have - seconds) < 1e-5, (have, seconds)
        facts = self.verify(folder / "session.ahr")
        assert abs((int(facts["last_ts_ns"]) - int(facts["first_ts_ns"])) / 1e9 - seconds) < 1e-5


# -- the real tools --

@test
def a_cast_by_asciinema_is_shown_as_asciinema_shows_it():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("asciinema")
        path = tools.asciinema_rec("x.cast")
        folder = a.imported("x.cast", "--name", "drawn")
        a.shows(folder, tools.asciinema_cat(path))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        a.lasts(folder, lines[-1][0])
        meta = a.meta(folder)
        assert meta["startedAtNs"] == lines[0]["timestamp"] * 10**9
        assert meta["task"] == "A title" and meta["name"] == "drawn"
        assert meta["kind"] == "import" and meta["source"] == "x.cast"
        assert meta["status"] == "completed" and "exitCode" not in meta and "host" not in meta
        assert (meta["cols"], meta["rows"]) == (COLS, ROWS)
        assert meta["env"] == {"TERM": "xterm-256color", "SHELL": "/bin/sh"}
        assert a.ok("cat", "drawn") == a.ok("cat", folder.name)


@test
def what_was_typed_comes_only_when_it_is_asked_for():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("asciinema")
        terminal = a.terminal(COLS, ROWS)
        asciinema = terminal.start(
            ["asciinema", "rec", "-q", "--stdin", "-c", "printf ready; read x; echo got $x",
             "typed.cast"], cwd=a.dir, env=a.env)
        terminal.wait_for("ready")
        terminal.type("hunter2\r")
        a.ends(asciinema, 0)
        done = a.run("import", "typed.cast")
        assert done.returncode == 0 and b"--input keeps it" in done.stderr
        without = a.home / "sessions" / done.stdout.decode().strip()
        assert not [r for r in records(without / "session.ahr") if r[0] == "input"]
        assert a.meta(without)["input"] is False
        kept = a.imported("typed.cast", "--input")
        assert b"".join(r[1] for r in records(kept / "session.ahr")
                        if r[0] == "input") == b"hunter2\r"
        assert a.meta(kept)["input"] is True


def delays(path):
    """The sum of a timing file's delays."""
    return sum(float(line.split()[line[0].isalpha()]) for line in path.read_text().splitlines())


@test
def a_typescript_with_old_times_is_shown_as_scriptreplay_shows_it():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("script", "scriptreplay")
        tools.script("-O", "x.script", "-T", "x.tm", "-m", "classic")
        folder = a.imported("x.script")  # x.tm lies beside it
        a.shows(folder, tools.scriptreplay("-t", "x.tm", "x.script"))
        a.lasts(folder, delays(a.dir / "x.tm"))
        meta = a.meta(folder)
        assert (meta["cols"], meta["rows"]) == (COLS, ROWS)
        assert meta["cmd"] == [tools.command()], meta["cmd"]
        head = (a.dir / "x.script").read_text().splitlines()[0]
        began = re.search(r"started on (\S+ \S+)", head)[1]
        assert meta["startedAtNs"] == int(subprocess.run(
            ["date", "-d", began, "+%s"], capture_output=True, check=True).stdout) * 10**9


@test
def a_typescript_with_many_streams_is_shown_as_scriptreplay_shows_it():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("script", "scriptreplay")
        tools.script("-O", "out", "-I", "in", "-T", "times", "-m", "advanced", resize=(100, 40))
        folder = a.imported("out", "times", "in")
        shown = tools.scriptreplay("-T", "times", "-O", "out")
        assert a.ok("cat", folder / "session.ahr") == shown
        assert b"now 100x40" in shown
        sizes = [r[1:] for r in records(folder / "session.ahr") if r[0] == "resize"]
        assert sizes[0] == (COLS, ROWS) and sizes[-1] == (100, 40)
        screen = json.loads(a.ok("render", "--format", "json", folder / "session.ahr"))
        assert (screen["cols"], screen["rows"]) == (100, 40)
        assert a.meta(folder)["exitCode"] == 0
        took = re.search(r"DURATION (\S+)", (a.dir / "times").read_text())[1]
        a.lasts(folder, max(float(took), delays(a.dir / "times")))


@test
def a_log_of_both_streams_is_taken_apart():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("script", "scriptreplay")
        terminal = a.terminal(COLS, ROWS)
        script = terminal.start(["script", "-q", "-c", "printf ready; read x; " + tools.command(),
                                 "-B", "both", "-T", "both.timing"], cwd=a.dir, env=a.env)
        terminal.wait_for("ready")
        terminal.type("typed\r")
        a.ends(script, 0)
        folder = a.imported("both", "--input")
        a.shows(folder, tools.scriptreplay("-T", "both.timing", "-B", "both"))
        assert b"".join(r[1] for r in records(folder / "session.ahr")
                        if r[0] == "input") == b"typed\r"


@test
def a_ttyrec_file_is_shown_as_ttyplay_shows_it():
    with Import(AHR) as a:
        tools = Foreign(a)
        tools.need("ttyrec", "ttyplay")
        path = tools.ttyrec("x.ttyrec")
        folder = a.imported("x.ttyrec", "--cols", COLS, "--rows", ROWS)
        a.shows(folder, tools.ttyplay(path))
        file, at, stamps = path.read_bytes(), 0, []
        while at < len(file):
            s, us, n = struct.unpack_from("<III", file, at)
            stamps.append(s * 10**6 + us)
            at += 12 + n
        a.lasts(folder, (stamps[-1] - stamps[0]) / 1e6)
        assert a.meta(folder)["startedAtNs"] == stamps[0] * 1000
        swapped = bytearray(file)
        at = 0
        while at < len(file):
            s, us, n = struct.unpack_from("<III", file, at)
            struct.pack_into(">III", swapped, at, s, us, n)
            at += 12 + n
        a.write("big.tty", swapped)
        big = a.imported("big.tty", "--cols", COLS, "--rows", ROWS)
        assert records(big / "session.ahr") == records(folder / "session.ahr")


# -- what is made of it --

@test
def markers_are_snapshots():
    with Import(AHR) as a:
        a.write("x.cast", cast([*EVENTS, [3, "m", "a\x1b[31m token=ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"]]))
        folder = a.imported("x.cast")
        lines = [json.loads(line) for line in
                 (folder / "session.snapshots.jsonl").read_text().splitlines()]
        assert [(line["id"], line["anchor_byte"], line["ts_ns"]) for line in lines] == [
            (1, 5, 1700000001250000000), (2, 9, 1700000003000000000)]
        assert lines[0]["label"] == "here"
        assert lines[1]["label"] == "a [31m token=[REDACTED:github-pat]"
        taped = [r for r in records(folder / "session.ahr") if r[0] == "snapshot"]
        assert [(r[1], r[2], r[3].decode()) for r in taped] == [
            (line["id"], line["anchor_byte"], line["label"]) for line in lines]
        a.ok("recover", "--all")


@test
def secrets_in_what_is_told_of_it_are_masked():
    with Import(AHR) as a:
        token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
        a.write("x.cast", cast(title=f"use {token}", command=f"login {token}"))
        folder = a.imported("x.cast")
        meta = (folder / "session.meta.json").read_text()
        assert token not in meta and meta.count("[REDACTED:github-pat]") == 2


@test
def the_exit_status_decides_what_became_of_it():
    with Import(AHR) as a:
        head = {"version": 3, "term": {"cols": 20, "rows": 5}}
        for status, name in (("0", "completed"), ("3", "failed")):
            a.write("x.cast", "".join(json.dumps(x) + "\n" for x in (
                head, [0.5, "o", "x"], [1.5, "x", status])).encode())
            meta = a.meta(a.imported("x.cast"))
            assert meta["status"] == name and meta["exitCode"] == int(status)
            assert meta["endedAtNs"] - meta["startedAtNs"] == 2 * 10**9


@test
def json_tells_the_facts():
    with Import(AHR) as a:
        a.write("x.cast", cast([*EVENTS, [9, "zz", 1], [9.5, "i", "x"]]))
        done = a.run("import", "x.cast", "--json")
        facts = json.loads(done.stdout)
        assert list(facts) == ["id", "path", "format", "started_at_ns", "duration_ms", "bytes",
                               "cols", "rows", "snapshots", "left_out", "damages"]
        assert facts["path"] == str(a.session() / "session.ahr")
        del facts["id"], facts["path"]
        assert facts == {"format": "cast", "started_at_ns": "1700000000000000000",
                         "duration_ms": 9500, "bytes": 9, "cols": 20, "rows": 5, "snapshots": 1,
                         "left_out": 2, "damages": 0}
        assert b"1 events have no meaning here" in done.stderr


@test
def an_out_file_has_its_siblings_beside_it():
    with Import(AHR) as a:
        a.write("x.cast", cast())
        assert a.ok("import", "x.cast", "--out-file", "new/y.ahr") == b"new/y.ahr\n"
        names = ["y.ahr", "y.meta.json", "y.snapshots.jsonl"]
        assert sorted(os.listdir(a.dir / "new")) == names
        assert {os.stat(a.dir / "new" / n).st_mode & 0o777 for n in names} == {0o600}
        assert a.names("sessions") == a.names("live") == []
        before = [(a.dir / "new" / n).read_bytes() for n in names]
        assert "'new/y.ahr' exists already" in a.fails(1, "import", "x.cast", "--out-file",
                                                       "new/y.ahr")
        assert [(a.dir / "new" / n).read_bytes() for n in names] == before
        assert a.ok("cat", "new/y.ahr") == "one\r\ntwö".encode()


@test
def without_a_time_of_its_own_it_began_when_the_file_was_written():
    with Import(AHR) as a:
        path = a.write("x.cast", b'{"version":2,"width":9,"height":9}\n[1,"o","x"]\n')
        os.utime(path, (1600000000, 1600000000))
        assert a.meta(a.imported("x.cast"))["startedAtNs"] == 1600000000 * 10**9


# -- what a file is --

@test
def what_a_file_is_shows_by_its_contents_and_its_name():
    with Import(AHR) as a:
        a.write("anything", cast())
        a.imported("anything")
        a.write("named.cast", b'[1,"o","x"]\n')
        assert "a header that cannot be read" in a.fails(4, "import", "named.cast")
        a.write("log", b"Protokoll\nabc\n")
        a.write("log.timing", b"1 3\n")
        a.imported("log", status=4)
        a.write("text", b"just text\n")
        assert "'text' is no asciicast, typescript or ttyrec file, nor an agent's history" in a.fails(4, "import", "text")
        a.write("h.jsonl", b'{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"x"}}\n')
        assert "'h.jsonl' is an agent's history: give it apart from 'text'" in a.fails(2, "import", "text", "h.jsonl")
        a.write("x.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3")
        assert "packed by gzip: unpack it first" in a.fails(4, "import", "x.gz")


@test
def wrong_usage_is_told():
    with Import(AHR) as a:
        a.write("x.cast", cast())
        a.write("typescript", b"Script started on 2024-01-01 00:00:00+00:00\nabc")
        assert "give one recording" in a.fails(2, "import", "--cols", "80")
        assert "give one recording" in a.fails(2, "import", "a", "b", "c", "d")
        assert "its times are in another file" in a.fails(2, "import", "typescript")
        assert "has no other file" in a.fails(2, "import", "x.cast", "typescript", "--format", "cast")
        assert "no name for a session" in a.fails(2, "import", "x.cast", "--name", "a b")
        assert "no name of a file" in a.fails(2, "import", "x.cast", "--out-file", "-")
        assert "cannot open 'nix'" in a.fails(3, "import", "nix")
        assert "cannot open 'nix'" in a.fails(3, "import", "typescript", "nix")
        a.write("kept.jsonl", b'{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"hi"}}\n')
        for path in (".", "kept.jsonl"):
            assert f"of recordings of a terminal, which '{path}' is not" in a.fails(2, "import", "--name", "x", path)
        assert a.names("sessions") == [] and a.names("live") == []


# -- whole, or not at all --

class Slow:
    """An import that waits for the rest of its file, with much of it read."""

    def __init__(self, a, *args):
        self.ahr, fifo = a, a.dir / "fifo"
        os.mkfifo(fifo)
        self.process = a.start("import", fifo, *args, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.file = open(fifo, "wb", buffering=0)
        self.file.write(cast([[i, "o", "x" * 100] for i in range(1000)]))

    def more(self):
        """Another event: it looks up."""
        try:
            self.file.write(b'[2000,"o","' + b"y" * 70000 + b'"]\n')
        except BrokenPipeError:
            pass

    def end(self):
        self.file.close()
        return self.process.communicate(timeout=60)


@test
def what_comes_from_a_pipe_is_read_once():
    with Import(AHR) as a:
        mine, its = os.pipe()
        os.write(its, cast([[0.5, "o", "all of it"]]))
        os.close(its)  # it is there before it is looked at
        done = subprocess.run([a.binary, "import", "/dev/stdin"], stdin=mine, capture_output=True, env=a.env, cwd=a.dir)
        os.close(mine)
        assert done.returncode == 0, done.stderr
        assert a.ok("cat", "last") == b"all of it"


@test
def a_killed_import_is_never_found_and_swept_away():
    with Import(AHR) as a:
        slow = Slow(a)
        wait_for(lambda: a.names("live"))
        assert all(name.startswith(".new-") for name in a.names("live"))
        assert a.names("sessions") == []
        assert "there is no session" in a.fails(3, "cat", "last")
        a.ok("recover", "--all")
        folder = a.home / "live" / a.names("live")[0]
        os.utime(folder, (0, 0))
        a.ok("recover", "--all")
        assert folder.exists()  # somebody is at it
        slow.process.kill()
        slow.end()
        os.utime(folder, (0, 0))
        assert a.names("sessions") == []
        a.ok("recover", "--all")
        assert a.names("live") == a.names("sessions") == []


@test
def an_import_that_is_told_to_stop_leaves_nothing():
    for out in ((), ("--out-file", "out/y.ahr")):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Import(AHR) as a:
                slow = Slow(a, *out)
                made = (lambda: (a.dir / "out").is_dir() and os.listdir(a.dir / "out")) if out \
                    else (lambda: a.names("live"))
                wait_for(made)
                slow.process.send_signal(number)
                slow.more()
                told = slow.end()
                assert slow.process.returncode == 128 + number, (slow.process.returncode, told)
                assert told[0] == b""
                assert not made() and a.names("sessions") == []


@test
def what_a_killed_import_left_beside_an_out_file_is_replaced():
    with Import(AHR) as a:
        slow = Slow(a, "--out-file", "out/y.ahr")
        # A tail beside it: it is not only made, but locked.
        wait_for(lambda: (a.dir / "out").is_dir() and len(os.listdir(a.dir / "out")) > 1)
        a.write("x.cast", cast())
        assert "y.ahr.import' is being" in a.fails(5, "import", "x.cast", "--out-file", "out/y.ahr")
        slow.process.kill()
        slow.end()
        assert "y.ahr" not in os.listdir(a.dir / "out")
        a.ok("import", "x.cast", "--out-file", "out/y.ahr")
        assert sorted(os.listdir(a.dir / "out")) == ["y.ahr", "y.meta.json", "y.snapshots.jsonl"]


@test
def a_full_disk_is_told_and_nothing_is_left():
    with Import(AHR) as a, mounted(a.dir / "small", "-t", "tmpfs", "-o", "size=300k", "tmpfs"):
        noise = random.Random(1).randbytes(600000).hex()
        a.write("x.cast", cast([[i, "o", noise[i * 1000:i * 1000 + 1000]] for i in range(1200)]))
        for args, env in (((), {"AHR_HOME": str(a.dir / "small" / "home")}),
                          (("--out-file", a.dir / "small" / "y.ahr"), {})):
            done = a.run("import", "x.cast", *args, env=env)
            assert done.returncode == 1, done
            assert b"No space left on device" in done.stderr and done.stdout == b"", done
            left = [p for p in (a.dir / "small").rglob("*") if p.is_file()]
            assert left == [], left


# -- hostile files --

def does_no_harm(a, *args):
    """Whatever the file is: it is told, and what is made is whole. True: something was."""
    done = a.run("import", *args, "--json")
    assert done.returncode in (0, 2, 4), (args, done.returncode, done.stderr)
    assert a.names("live") == []
    if not done.stdout:
        assert done.stderr and done.returncode
        return False
    facts = json.loads(done.stdout)
    assert (facts["damages"] > 0) == (done.returncode == 4), done
    a.verify(facts["path"])
    return True


def samples(a):
    text = b"".join(b"line %d \x1b[3%dmcaf\xc3\xa9\x1b[0m\r\n" % (i, i % 8) for i in range(30))
    a.write("x.cast", cast([[i / 10, "o", text[i * 20:i * 20 + 20].decode("utf-8", "replace")]
                            for i in range(30)] + [[9, "r", "30x9"], [9.5, "m", "here"]]))
    a.write("x.one", json.dumps({**HEAD, "version": 1, "stdout": [[0.1, "a\u00e9"]] * 9}).encode())
    a.write("x.script", b'Script started on 2024-01-01 00:00:00+00:00 [TERM="xterm" COLUMNS="30"'
            b' LINES="9"]\n' + text + b"\nScript done on x\n")
    a.write("x.tm", b"H 0 START_TIME 2024-01-01 00:00:00+00:00\n" + b"O 0.5 30\n" * 20 +
            b"S 0.1 SIGWINCH ROWS=9 COLS=40\nH 0 EXIT_CODE 0\n")
    a.write("x.ttyrec", b"".join(struct.pack("<III", 1700000000 + i, 5, 20) +
                                 text[i * 20:i * 20 + 20] for i in range(30)))
    return [("x.cast",), ("x.one",), ("x.script", "x.tm"), ("x.ttyrec",)]


@test
def files_cut_anywhere_do_no_harm():
    with Import(AHR) as a:
        rng = random.Random(7)
        times = 60 if IS_LONG else 8 if IS_SANITIZED else 15
        for files in samples(a):
            for name in files:
                whole = (a.dir / name).read_bytes()
                made = [does_no_harm(a, *[(a.write("cut-" + name, whole[:at]) if f == name
                                           else a.dir / f) for f in files])
                        for at in [0, 1, len(whole) - 1, *rng.choices(range(len(whole)), k=times)]]
                assert made[2], name
                a.write(name, whole)


@test
def files_with_flipped_bits_do_no_harm():
    with Import(AHR) as a:
        rng = random.Random(8)
        times = 100 if IS_LONG else 8 if IS_SANITIZED else 20
        for files in samples(a):
            for name in files:
                whole = (a.dir / name).read_bytes()
                for _ in range(times):
                    bad = bytearray(whole)
                    for _ in range(rng.choice((1, 1, 3, 20))):
                        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
                    a.write("flip-" + name, bad)
                    does_no_harm(a, *[a.dir / ("flip-" + f if f == name else f) for f in files])


@test
def one_flipped_bit_costs_one_event():
    with Import(AHR) as a:
        rng = random.Random(9)
        lines = cast([[i, "o", f"<{i}>"] for i in range(50)]).splitlines()
        for _ in range(10):
            number = rng.randrange(1, 51)
            bad = [bytearray(line) for line in lines]
            bad[number][rng.randrange(len(bad[number]))] ^= 1 << rng.randrange(7)
            a.write("x.cast", b"\n".join(bad) + b"\n")
            done = a.run("import", "x.cast")
            assert done.returncode in (0, 4)
            text = a.ok("cat", done.stdout.decode().strip())
            for i in range(50):
                assert i == number - 1 or b"<%d>" % i in text, (i, bad[number])


HOSTILE = {
    "nothing but a head": (cast([]), 0),
    "no end of the head": (b'{"version":2', 4),
    "NaN": (b'{"version":2,"width":9,"height":9}\n[NaN,"o","x"]\n[1,"o","y"]\n', 4),
    "negative": (cast([[-1, "o", "x"], [1, "o", "y"]]), 4),
    "huge times": (cast([[1e300, "o", "x"], [10**30, "o", "x"], [1, "o", "y"]]), 4),
    "huge sizes": (cast([[1, "r", "99999999999x1"], [1, "o", "y"]], width=10**30), 4),
    "no size": (cast(width=0), 4),
    "sizes of texts": (cast(width="80", height=None), 4),
    "huge start": (cast(timestamp=10**40), 0),
    "deep nesting": (b'{"version":2,"width":9,"height":9,"x":' + b"[" * 500000 + b"\n", 4),
    "deep events": (cast([]) + b"[1,\"o\"," * 100000 + b"\n" + b'[1,"o","y"]\n', 4),
    "NULs": (cast([[1, "o", "y"]]) + b"\0" * 100000 + b'[2,"o","z"]\n', 4),
    "NUL in a text": (cast([[1, "o", "a\0b"], [2, "m", "c\0d"]], title="e\0f"), 0),
    "no UTF-8": (cast([]) + b'[1,"o","\xff\xfe\xc3"]\n', 4),
    "half surrogates": (cast([]) + b'[1,"o","\\ud800\\ud800\\udc00"]\n', 4),
    "a long line": (cast([[1, "o", "x" * 5000000]]), 0),
    "a longer one than may be": (cast([[1, "o", "y"]]) + b'[2,"o","' + b"x" * (17 << 20) + b'"]\n', 4),
    "all kinds of ends": (cast([[1, "o", "y"]]).replace(b"\n", b"\r\n"), 0),
    "another version": (cast(version=9), 4),
    "one document, no frames": (b'{"version":1,"width":9,"height":9,"stdout":7}', 0),
}


@test
def hostile_casts_do_no_harm():
    with Import(AHR) as a:
        for name, (data, status) in HOSTILE.items():
            a.write("x.cast", data)
            done = a.run("import", "x.cast", "--json")
            assert done.returncode == status, (name, done.returncode, done.stderr[:300])
            assert len(done.stderr) < 3000, name
            assert a.names("live") == []
            if done.stdout:
                facts = json.loads(done.stdout)
                assert facts["duration_ms"] < 10**6, (name, facts)
                a.verify(facts["path"])
                a.ok("render", facts["path"])


@test
def absurd_lengths_do_no_harm():
    with Import(AHR) as a:
        a.write("x.script", b"Script started\nabc")
        for line in (b"1 4294967295", b"1 18446744073709551615", b"1 18446744073709551616", b"1 -1",
                     b"O 1e99 3", b"I 1 4294967295", b"nan 3", b"\0\0\0", b"1" * 100000):
            a.write("x.tm", line + b"\n1 1\n")
            assert does_no_harm(a, "x.script", "x.tm"), line
        good = struct.pack("<III", 1700000000, 0, 3) + b"abc"
        for bad in (struct.pack("<III", 1700000001, 0, 0xffffffff), b"\xff" * 12, b"\0" * 12,
                    struct.pack("<III", 0xffffffff, 999999, 4 << 20), b"x"):
            a.write("x.ttyrec", good + bad)
            assert does_no_harm(a, "x.ttyrec"), bad
            a.write("x.ttyrec", bad + good)
            does_no_harm(a, "x.ttyrec", "--format", "ttyrec")


run()
