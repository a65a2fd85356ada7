#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_cli_test.py -- `ahr record` as a user meets it: options, files, messages, exit statuses.

Secrets are made up here when the tests run; none stands in this file.

usage: record_cli_test.py AHR [--sanitized]
"""

import json
import os
import random
import re
import select
import signal
import stat
import string
import subprocess
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, wait_for
from support.recorder import Recorder, records
from support.tap import run, test

AHR = sys.argv[1]
ALNUM = string.digits + string.ascii_uppercase + string.ascii_lowercase
ID = r"\d{4}-\d\d-\d\d-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
WAITS = "echo ready; until [ -e go ]; do sleep 0.02; done; echo went on"


def token(seed):
    """A token as GitHub makes them, checksum and all."""
    body = "".join(random.Random(seed).choices(ALNUM, k=30))
    number, digits = zlib.crc32(body.encode()), ""
    while number or len(digits) < 6:
        number, digit = divmod(number, 62)
        digits = ALNUM[digit] + digits
    return "ghp" + "_" + body + digits


def record(a, *args, status=0, **more):
    """Records to the end; what it printed."""
    more = {"input": None, "stdin": subprocess.DEVNULL, **more}
    done = a.run("record", *args, timeout=60, **more)
    assert done.returncode == status, (args, done.returncode, done.stderr.decode())
    return done.stdout


def says(a, status, *args, **more):
    more = {"input": None, "stdin": subprocess.DEVNULL, **more}
    done = a.run("record", *args, timeout=60, **more)
    assert done.returncode == status, (args, done.returncode, done.stderr.decode())
    return done.stderr.decode()


def nothing_was_made(a, *also):
    """No trace of a session, and of these files neither."""
    assert a.names("live") == [] == a.names("sessions")
    for name in also:
        assert not (a.dir / name).exists(), name
    a.nobody_is_left()


def all_metas(a):
    return [a.meta(a.home / "sessions" / name) for name in a.names("sessions")]


# -- how it ends --


@test
def the_exit_status_is_the_childs():
    for script, status, want in (("exit 0", 0, ("completed", 0, None)),
                                 ("exit 7", 7, ("failed", 7, None)),
                                 ("exit 255", 255, ("failed", 255, None)),
                                 ("kill -SEGV $$", 139, ("crashed", None, "SEGV")),
                                 ("kill -TERM $$", 143, ("crashed", None, "TERM")),
                                 ("kill -KILL $$", 137, ("crashed", None, "KILL"))):
        with Recorder(AHR) as a:
            record(a, "--", "sh", "-c", "ulimit -c 0; " + script, status=status)
            meta = a.meta()
            have = meta["status"], meta.get("exitCode"), meta.get("signal")
            assert (have[0], have[2]) == (want[0], want[2]), have
            assert want[1] is None or have[1] == want[1], have


@test
def the_exit_status_is_the_childs_also_when_the_caller_ignores_its_children():
    ignores = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with Recorder(AHR) as a:
        for n in range(5):
            record(a, "--", "sh", "-c", "exit 7", status=7, preexec_fn=ignores)
        assert [(m["status"], m["exitCode"]) for m in all_metas(a)] == [("failed", 7)] * 5


@test
def a_line_at_the_end_says_what_there_is():
    with Recorder(AHR) as a:
        for script, what in (("", "completed"), ("exit 7", r"failed \(.*7\)"),
                             ("ulimit -c 0; kill -SEGV $$", r"crashed \(.*SEGV\)")):
            done = a.run("record", "--", "sh", "-c", f"printf %01234d 0; {script}")
            last = done.stderr.decode().splitlines()[-1]
            how = rf"{what}, 1,234 bytes in \d+\.\d\d\d s"
            assert re.fullmatch(rf"ahr record: session {ID}: {how}", last), last
            assert re.search(ID, last)[0] in a.names("sessions")


@test
def the_line_at_the_end_begins_on_a_new_line():
    for text, gap in (("no line end", b"\r\n"), ("a colour\\033[0m", b"\r\n"), ("a line\\n", b""),
                      ("a line\\n\\033[0m", b"")):
        with Recorder(AHR) as a:
            t = a.terminal()
            a.ends(a.on(t, "record", "--", "printf", text), 0)
            rest = t.settle().partition(a.ok("cat", "last"))[2]
            assert rest.startswith(gap + b"ahr record: session "), (text, rest)


@test
def secrets_are_warned_of_once():
    with Recorder(AHR) as a:
        first = says(a, 0, "--", "true")
        assert "secret" in first and "--redact" in first
        assert len(first.splitlines()) == 3
        second = says(a, 0, "--", "true")
        assert "secret" not in second and len(second.splitlines()) == 1


@test
def quiet_is_quiet():
    with Recorder(AHR) as a:
        assert says(a, 0, "-q", "--", "true") == ""
        assert says(a, 3, "-q", "--", "sh", "-c", "exit 3") == ""
        assert "'no-such-program'" in says(a, 127, "-q", "--", "no-such-program")


# -- what cannot begin --


@test
def wrong_usage_is_told_before_anything_begins():
    with Recorder(AHR) as a:
        run_it = ("--", "touch", "ran")
        for args in ((), ("--",), ("-q", "--"), ("--", "")):
            assert "command" in says(a, 2, *args)
        for option, values in (("--cols", ("0", "-1", "65536", "100000", "ten", "")),
                               ("--rows", ("0", "-1", "65536", "x")),
                               ("--brotli-q", ("12", "-1", "best")),
                               ("--block-ms", ("0", "-5", "soon")),
                               ("--sync", ("sometimes", "")),
                               ("--view", ("maybe",)),
                               ("--frobnicate", ("1",))):
            for value in values:
                said = says(a, 2, f"{option}={value}", *run_it)
                assert said.startswith("ahr record: ") and option in said, said
        for name in ("two words", "last", "", "-x", "a/b", "x" * 65):
            assert f"'{name}'" in says(a, 2, f"--name={name}", *run_it)
        assert "'--nmae'" in says(a, 2, "--nmae", "x", *run_it)
        nothing_was_made(a, "ran")


@test
def a_command_that_cannot_run_leaves_nothing():
    with Recorder(AHR) as a:
        (a.dir / "plain").write_text("#!/bin/sh\n")
        (a.dir / "orphan").write_text("#!/no/such/interpreter\n")
        (a.dir / "orphan").chmod(0o755)
        for command, status in (("no-such-program", 127), ("./no/such", 127),
                                ("./plain", 126), (str(a.dir), 126), ("/", 126)):
            for option in ((), ("--out-file", "x.ahr"), ("--background",), ("--detach",)):
                said = says(a, status, *option, "--", command)
                assert said.startswith("ahr record: ") and f"'{command}'" in said, said
                assert len(said.splitlines()) == 1, said
                nothing_was_made(a, "x.ahr", "x.meta.json")
        done = a.run("record", "--", "./orphan")
        assert done.returncode in (126, 127) and done.stdout == b""
        nothing_was_made(a)


@test
def a_failed_start_leaves_the_file_it_would_have_replaced():
    with Recorder(AHR) as a:
        (a.dir / "x.ahr").write_bytes(b"precious")
        (a.dir / "x.meta.json").write_bytes(b"{}")
        says(a, 127, "--force", "--out-file", "x.ahr", "--", "no-such-program")
        assert (a.dir / "x.ahr").read_bytes() == b"precious"
        assert (a.dir / "x.meta.json").read_bytes() == b"{}"


@test
def a_missing_interpreter_leaves_the_file_it_would_have_replaced():
    with Recorder(AHR) as a:
        record(a, "--out-file", "x.ahr", "--", "echo", "first")
        (a.dir / "orphan").write_text("#!/no/such/interpreter\n")
        (a.dir / "orphan").chmod(0o755)
        says(a, 127, "--force", "--out-file", "x.ahr", "--", "./orphan")
        assert a.ok("cat", "x.ahr") == b"first\r\n"
        assert json.loads((a.dir / "x.meta.json").read_text())["cmd"] == ["echo", "first"]


@test
def an_unwritable_place_is_told_before_the_child_starts():
    with Recorder(AHR) as a:
        (a.dir / "file").touch()
        for place in (a.dir / "file/home", "/proc/ahr", "/dev/null/ahr"):
            said = says(a, 1, "--", "touch", "ran", env={"AHR_HOME": str(place)})
            assert said.startswith("ahr record: ") and str(place) in said, said
        said = says(a, 1, "--out-file", "/proc/x.ahr", "--", "touch", "ran")
        assert "/proc/x.ahr" in said, said
        assert says(a, 1, "--out-file", "file/x.ahr", "--", "touch", "ran")
        assert says(a, 1, "--out-file", ".", "--", "touch", "ran")
        nothing_was_made(a, "ran")


@test
def a_parent_that_does_not_exist_is_status_3():
    with Recorder(AHR) as a:
        assert "'nobody'" in says(a, 3, "--parent", "nobody", "--", "touch", "ran")
        nothing_was_made(a, "ran")


# -- files --


@test
def an_out_file_stands_where_it_was_asked_for():
    with Recorder(AHR) as a:
        shown = record(a, "--out-file", "deep/er/x.ahr", "--", "echo", "hello")
        assert shown == b"hello\r\n" == a.ok("cat", "deep/er/x.ahr")
        assert sorted(p.name for p in (a.dir / "deep/er").iterdir()) == ["x.ahr", "x.meta.json"]
        assert a.names("live") == [] == a.names("sessions")
        meta = json.loads((a.dir / "deep/er/x.meta.json").read_text())
        assert meta["status"] == "completed" and meta["totalBytes"] == 7
        for path in ("deep", "deep/er"):
            assert stat.S_IMODE((a.dir / path).stat().st_mode) & 0o077 == 0
        said = says(a, 0, "--out-file", "y.ahr", "--", "true")
        assert "y.ahr" in said.splitlines()[-1], said
        record(a, "--out-file", "bare", "--", "echo", "hello")
        assert a.ok("cat", "./bare") == b"hello\r\n" and (a.dir / "bare.meta.json").exists()


@test
def an_existing_out_file_is_replaced_only_by_force():
    with Recorder(AHR) as a:
        record(a, "--out-file", "x.ahr", "--", "echo", "first")
        said = says(a, 1, "--out-file", "x.ahr", "--", "touch", "ran")
        assert "x.ahr'" in said and "--force" in said, said
        assert a.ok("cat", "x.ahr") == b"first\r\n" and not (a.dir / "ran").exists()
        record(a, "--force", "--out-file", "x.ahr", "--", "echo", "second")
        assert a.ok("cat", "x.ahr") == b"second\r\n"
        assert a.verify("x.ahr")["warnings"] == []
        assert sorted(p.name for p in a.dir.glob("x*")) == ["x.ahr", "x.meta.json"]


@test
def a_meta_json_without_a_recording_is_replaced_only_by_force():
    with Recorder(AHR) as a:
        meta = a.dir / "x.meta.json"
        meta.write_text("somebody's")
        said = says(a, 1, "--out-file", "x.ahr", "--", "touch", "ran")
        assert "x.meta.json'" in said and "--force" in said, said
        assert meta.read_text() == "somebody's"
        nothing_was_made(a, "ran", "x.ahr")
        record(a, "--force", "--out-file", "x.ahr", "--", "echo", "mine")
        assert json.loads(meta.read_text())["status"] == "completed"
        assert a.ok("cat", "x.ahr") == b"mine\r\n"


@test
def a_live_out_file_is_not_replaced_even_by_force():
    with Recorder(AHR) as a:
        client = a.start("record", "--out-file", "x.ahr", "--", "sh", "-c", WAITS,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert client.stdout.readline() == b"ready\r\n"
        for option in ((), ("--force",)):
            for name in ("x.ahr", "./x.ahr", str(a.dir / "x.ahr")):
                says(a, 5, *option, "--out-file", name, "--", "touch", "ran")
        assert a.ok("cat", "x.ahr") == b"ready\r\n"
        (a.dir / "go").touch()
        assert client.communicate(timeout=60)[0] == b"went on\r\n" and client.returncode == 0
        assert a.ok("cat", "x.ahr") == b"ready\r\nwent on\r\n"
        assert not (a.dir / "ran").exists()


@test
def files_are_private_whatever_the_umask():
    for mask in (0, 0o022, 0o777):
        with Recorder(AHR) as a:
            mine = lambda: os.umask(mask)
            shown = record(a, "--", "sh", "-c", "umask", preexec_fn=mine)
            assert int(shown, 8) == mask  # the child's own is as it was
            record(a, "--out-file", "out/x.ahr", "--", "true", preexec_fn=mine)
            for path in [a.home, *a.home.rglob("*"), *(a.dir / "out").rglob("*")]:
                mode = stat.S_IMODE(path.lstat().st_mode)
                assert mode == (0o700 if path.is_dir() else 0o600), (oct(mask), path, oct(mode))


@test
def while_it_lives_it_can_be_read():
    with Recorder(AHR) as a:
        client = a.start("record", "--name", "alive", "--", "sh", "-c", WAITS,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert client.stdout.readline() == b"ready\r\n"
        live = a.live()
        assert re.fullmatch(ID, live.name)
        names = {p.name for p in live.iterdir()}
        assert {"lock", "host.log", "session.ahr", "session.meta.json"} <= names, names
        assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in live.iterdir())
        meta = a.meta(live)
        assert meta["status"] == "active" and meta.get("endedAtNs") in (None, 0)
        for what in ("last", live.name, live.name[:15], "alive"):
            assert a.ok("cat", what) == b"ready\r\n", what
            assert a.verify(what)["bytes"] == 7
            assert a.ok("render", what) == b"ready\n", what
        (a.dir / "go").touch()
        assert client.communicate(timeout=60)[0] == b"went on\r\n"
        assert not (a.session() / "lock").exists()
        for what in ("last", live.name, live.name[:15], "alive", str(a.session() / "session.ahr")):
            assert a.ok("cat", what) == b"ready\r\nwent on\r\n", what


@test
def sessions_are_found_by_what_people_call_them():
    with Recorder(AHR) as a:
        for name in ("one", "two", "one"):
            record(a, "--name", name, "--", "sh", "-c", f"echo {name} $AHR_SESSION")
        assert a.ok("cat", "last").startswith(b"one ") and a.ok("cat", "two").startswith(b"two ")
        assert a.ok("cat", "one") == a.ok("cat", "last")  # the newest of that name
        for name in a.names("sessions"):
            assert a.ok("cat", name).decode().split()[1] == name
        shared = os.path.commonprefix(a.names("sessions"))[:10]
        assert shared in a.fails(2, "cat", shared)
        assert "'nobody'" in a.fails(3, "cat", "nobody")
        assert a.fails(3, "verify", "nobody") and a.fails(3, "render", "nobody")


@test
def many_may_begin_at_once():
    with Recorder(AHR) as a:
        some = [a.start("record", "-q", "--", "sh", "-c", f"echo {n}; exit {n}",
                        stdout=subprocess.PIPE) for n in range(12)]
        for n, client in enumerate(some):
            assert client.communicate(timeout=60)[0] == b"%d\r\n" % n and client.returncode == n
        assert len(a.names("sessions")) == 12 and a.names("live") == []
        texts = {a.ok("cat", name) for name in a.names("sessions")}
        assert texts == {b"%d\r\n" % n for n in range(12)}


@test
def of_many_that_want_one_file_one_gets_it():
    for option in ((), ("--force",)):
        with Recorder(AHR) as a:
            script = "echo $1; echo $1 >>ran; until [ -e go ]; do sleep 0.02; done"
            some = [a.start("record", "-q", *option, "--out-file", "x.ahr", "--", "sh", "-c",
                            script, "sh", n, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    for n in range(8)]
            wait_for(lambda: sum(client.poll() is None for client in some) <= 1)
            (a.dir / "go").touch()
            shown = {client.communicate(timeout=60)[0]: client.returncode for client in some}
            assert sorted(shown.values())[0] == 0 and len(shown) == 2, shown
            assert all(client.returncode in (0, 1, 5) for client in some)
            assert len((a.dir / "ran").read_text().split()) == 1
            winner, = (text for text, status in shown.items() if status == 0)
            assert a.ok("cat", "x.ahr") == winner and a.verify("x.ahr")["warnings"] == []


@test
def a_folder_that_is_gone_is_no_hindrance():
    with Recorder(AHR) as a:
        done = a.line("mkdir gone; cd gone; rmdir ../gone; $AHR record -- echo hello")
        assert done.returncode == 0 and done.stdout == b"hello\r\n", done
        assert a.ok("cat", "last") == b"hello\r\n"


# -- meta.json --


@test
def the_facts_are_in_meta_json():
    with Recorder(AHR) as a:
        task = 'say "hällo",\n then go'
        before = time.time_ns()
        record(a, "--name", "N.1", "--role", "DEVELOPER", "--task", task, "--cols", "101",
               "--rows", "33", "--brotli-q", "7", "--", "sh", "-c", "echo hello; exit 2", status=2,
               env={"COLORTERM": "truecolor", "MY_PRIVATE": "not to be seen"})
        after = time.time_ns()
        path = a.session() / "session.meta.json"
        meta = json.loads(path.read_text())
        want = {"version": 1, "sessionId": a.session().name, "name": "N.1", "role": "DEVELOPER",
                "task": task, "cmd": ["sh", "-c", "echo hello; exit 2"], "cols": 101, "rows": 33,
                "brotliQ": 7, "status": "failed", "exitCode": 2, "totalBytes": 7, "gaps": 0,
                "missingBytes": 0, "suspect": False, "cwd": str(a.dir.resolve()),
                "env": {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8",
                        "SHELL": "/bin/sh"}}
        assert {k: meta.get(k) for k in want} == want, meta
        assert meta["host"]["os"] == "linux" and meta["host"]["arch"]
        assert before <= meta["startedAtNs"] <= meta["endedAtNs"] <= after
        assert a.ok("--version").decode().split()[1] == meta["ahrVersion"]
        assert meta.get("parent") is None and meta.get("signal") is None
        assert "not to be seen" not in path.read_text()


@test
def secrets_on_the_command_line_are_not_in_meta_json():
    secret = token(1)
    with Recorder(AHR) as a:
        shown = record(a, "--", "sh", "-c", "echo $2", "x", "--token", secret)
        assert shown.decode() == secret + "\r\n"  # the child gets what was given
        text = (a.session() / "session.meta.json").read_text()
        assert secret not in text, text
        assert json.loads(text)["cmd"][:4] == ["sh", "-c", "echo $2", "x"]


@test
def secrets_in_the_task_are_not_in_meta_json():
    secret = token(3)
    with Recorder(AHR) as a:
        record(a, "--task", f"clone it with {secret} and look", "--", "true")
        task = a.meta()["task"]
        assert secret not in task and task.startswith("clone it with "), task


@test
def odd_command_lines_do_not_break_meta_json():
    for args in ((b"\xff\xfe\x80",), ("\x1b[31m\n\t\"\\",), ("",), ("x" * 130_000,),
                 ("y" * 100_000,) * 15):
        with Recorder(AHR) as a:
            record(a, "--", "sh", "-c", "echo fine", *map(os.fsdecode, args))
            meta = a.meta()
            assert meta["status"] == "completed" and meta["cmd"][:3] == ["sh", "-c", "echo fine"]
            assert a.ok("cat", "last") == b"fine\r\n"
            assert a.ok("cat", meta["sessionId"]) == b"fine\r\n"


# -- parents --


@test
def a_record_inside_a_record_is_linked():
    with Recorder(AHR) as a:
        shown = record(a, "--name", "outer", "--", a.binary, "record", "--name", "inner", "--",
                       "sh", "-c", "echo $AHR_SESSION; exit 3", status=3).decode()
        metas = {m["name"]: m for m in all_metas(a)}
        outer, inner = metas["outer"], metas["inner"]
        assert inner["parent"] == outer["sessionId"] and outer.get("parent") is None
        assert inner["sessionId"] in shown.split()  # what the innermost child is told
        assert outer["sessionId"] in shown  # and it is said
        assert inner["exitCode"] == outer["exitCode"] == 3


@test
def a_parent_may_be_named():
    with Recorder(AHR) as a:
        record(a, "--name", "elder", "--", "true")
        elder = a.names("sessions")[0]
        for what in ("elder", elder, "last"):
            record(a, "--parent", what, "--name", "child", "--", "true")
            newest = max(all_metas(a), key=lambda m: m["startedAtNs"])
            assert newest["parent"] in a.names("sessions")
            assert what == "last" or newest["parent"] == elder


# -- the child's world --


@test
def the_child_has_a_terminal_and_a_clean_start():
    def rough():
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGUSR1, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGALRM])

    with Recorder(AHR) as a:
        script = "cat /proc/self/status; test -t 0 && test -t 1 && test -t 2 && : </dev/tty " \
                 "&& echo a terminal; for n in 0 1 2 3 4 5 6 7 8 9; do " \
                 "test ! -e /proc/$$/fd/$n || echo fd $n; done"
        shown = record(a, "--", "sh", "-c", script, preexec_fn=rough,
                       restore_signals=False).decode()
        for name in ("SigBlk", "SigIgn", "SigCgt"):
            assert int(re.search(name + r":\s*([0-9a-f]+)", shown)[1], 16) & 0x7fffffff == 0, shown
        assert "a terminal\r\n" in shown
        assert re.findall(r"fd (\d)", shown) == ["0", "1", "2"]


@test
def the_size_can_be_given():
    with Recorder(AHR) as a:
        assert record(a, "--", "stty", "size") == b"24 80\r\n"
        assert record(a, "--cols", "132", "--", "stty", "size") == b"24 132\r\n"
        assert record(a, "--cols=7", "--rows=3", "--", "stty", "size") == b"3 7\r\n"
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal(cols=99, rows=44)
        a.ends(a.on(t, "record", "--rows", "11", "--", "stty", "size", stderr=log), 0)
        assert t.settle() == b"11 99\r\n"
        assert [r for r in records(a.session() / "session.ahr") if r[0] == "resize"] == [
            ("resize", 99, 11)]


@test
def all_options_record_the_same_bytes():
    with Recorder(AHR) as a:
        for options in (("--sync", "none"), ("--sync", "block"), ("--sync", "always"),
                        ("--sync", "interval"), ("--brotli-q", "0"), ("--brotli-q", "11"),
                        ("--block-ms", "1"), ("--view", "auto"),
                        ("--view", "off"), ("--detach",), ("--input",), ("--redact",)):
            shown = record(a, *options, "--", "seq", "1", "2000")
            assert shown == b"".join(b"%d\r\n" % n for n in range(1, 2001)), options
            assert a.ok("cat", "last") == shown
            assert a.verify("last")["warnings"] == []


@test
def options_of_the_command_are_its_own():
    with Recorder(AHR) as a:
        assert record(a, "--", "echo", "-q", "--", "--name") == b"-q -- --name\r\n"
        assert record(a, "-q", "echo", "hi", "--cols", "50") == b"hi --cols 50\r\n"
        assert record(a, "echo", "-q", "-h", "--", "x") == b"-q -h -- x\r\n"


# -- input and secrets --


def typed(a, *options, script, steps):
    """The records of a session in which this was typed: (wait for, type)."""
    with a.log() as log:
        t = a.terminal()
        client = a.on(t, "record", *options, "--", "sh", "-c", script, stderr=log)
        for prompt, text in steps:
            t.wait_for(prompt)
            t.type(text)
        a.ends(client, 0)
    return records(a.session() / "session.ahr")


def inputs(found):
    return b"".join(r[1] for r in found if r[0] == "input")


ASKS = "printf 'name: '; read n; stty -echo; printf 'pass''word: '; read p; stty echo; " \
       "printf 'city: '; read c; echo $n $p $c >answers"
ANSWERS = (("name: ", "Jane\r"), ("password: ", "hunter2\r"), ("city: ", "Rome\r"))


@test
def input_is_recorded_when_asked_for():
    with Recorder(AHR) as a:
        found = typed(a, "--input", script=ASKS, steps=ANSWERS)
        assert (a.dir / "answers").read_text() == "Jane hunter2 Rome\n"
        have = inputs(found)
        assert len(have) == len(b"Jane\rhunter2\rRome\r"), have
        assert have.startswith(b"Jane\r*******") and have.endswith(b"Rome\r"), have
        assert any(r[:2] == ("mark", 4) for r in found)
        assert b"hunter2" not in b"".join(r[-1] for r in found if isinstance(r[-1], bytes))


@test
def input_is_not_recorded_unasked():
    with Recorder(AHR) as a:
        found = typed(a, script=ASKS, steps=ANSWERS)
        assert inputs(found) == b"" and not any(r[0] == "input" for r in found)
        assert (a.dir / "answers").read_text() == "Jane hunter2 Rome\n"


@test
def input_of_a_raw_program_is_recorded_as_it_is():
    with Recorder(AHR) as a:
        found = typed(a, "--input", script="stty raw -echo; printf ready; head -c 6 >got",
                      steps=(("ready", "abc\x03\x1b\r"),))
        assert inputs(found) == b"abc\x03\x1b\r" == (a.dir / "got").read_bytes()
        assert not any(r[:2] == ("mark", 4) for r in found)


@test
def input_stands_in_its_order_also_when_it_is_masked():
    start = token(4)[:20]
    with Recorder(AHR) as a:
        script = "stty raw -echo; printf 'key: '; head -c 20 >got; stty sane -echo; " \
                 "printf 'pass''word: '; read p; echo $p >>got"
        found = typed(a, "--input", "--redact", script=script,
                      steps=(("key: ", start), ("password: ", "hunter2\r")))
        assert (a.dir / "got").read_text() == start + "hunter2\n"
        assert re.fullmatch(rb".{20}\*{7}[*\r]", inputs(found)), inputs(found)
        assert any(r[:2] == ("mark", 4) for r in found)
        stars = next(n for n, r in enumerate(found) if r[:2] == ("mark", 4)) - 1
        assert len(inputs(found[:stars])) == 20, inputs(found[:stars])


@test
def redact_gives_out_what_it_holds_at_the_end():
    with Recorder(AHR) as a:
        for text in (b"ends with ghp_abc", token(5)[:30].encode()):
            shown = record(a, "--redact", "--", "printf", text.decode())
            assert shown == a.ok("cat", "last") and len(shown) == len(text), (text, shown)
        assert record(a, "--redact", "--", "printf", "or g") == b"or g"


@test
def redact_masks_what_is_shown_and_what_is_recorded():
    secret = token(2)
    for on_terminal in (False, True):
        with Recorder(AHR) as a, a.log() as log:
            script = f"echo before; echo GITHUB_TOKEN={secret}; sleep 0.05; " \
                     f"printf {secret[:20]}; sleep 0.05; echo {secret[20:]} after"
            if on_terminal:
                t = a.terminal()
                a.ends(a.on(t, "record", "--redact", "--", "sh", "-c", script, stderr=log), 0)
                shown = t.settle()
            else:
                shown = record(a, "--redact", "--", "sh", "-c", script)
            recorded = a.ok("cat", "last")
            bare = f"before\r\nGITHUB_TOKEN={secret}\r\n{secret} after\r\n".encode()
            assert shown == recorded and len(recorded) == len(bare), (shown, recorded)
            assert secret.encode() not in recorded and secret[20:].encode() not in recorded
            assert recorded.startswith(b"before\r\nGITHUB_TOKEN=*")
            assert recorded.endswith(b"* after\r\n")
            assert a.meta()["totalBytes"] == len(bare)


@test
def redact_does_not_hold_a_prompt_back():
    with Recorder(AHR) as a:
        # The "g" could be a token's first letter.
        found = typed(a, "--redact",
                      script="printf 'pass''word: '; read x; printf 'q to quit, or g'; read y",
                      steps=(("password: ", "x\r"), ("or g", "y\r")))
        assert any(r[0] == "data" for r in found)


# -- without a client --


@test
def in_the_background_it_prints_the_id_and_returns():
    with Recorder(AHR) as a:
        done = a.run("record", "--background", "--name", "bg", "--", "sh", "-c", WAITS + "; exit 4",
                     timeout=60)
        assert done.returncode == 0, done
        name = done.stdout.decode().removesuffix("\n")
        assert re.fullmatch(ID, name) and a.names("live") == [name], done
        wait_for(lambda: a.ok("cat", name) == b"ready\r\n")
        (a.dir / "go").touch()
        wait_for(lambda: name in a.names("sessions"))
        a.nobody_is_left()
        meta = a.meta()
        assert meta["status"] == "failed" and meta["exitCode"] == 4
        assert a.ok("cat", "bg") == b"ready\r\nwent on\r\n"


@test
def in_the_background_a_terminal_is_left_alone():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        before = t.stty()
        client = a.on(t, "record", "--background", "--", "sh", "-c", WAITS, stderr=log)
        a.ends(client, 0)
        name = t.settle().decode().strip()
        assert re.fullmatch(ID, name) and t.stty() == before
        t.hang_up()
        (a.dir / "go").touch()
        a.nobody_is_left()
        assert a.meta()["status"] == "completed" and a.ok("cat", name) == b"ready\r\nwent on\r\n"


@test
def in_the_background_nothing_of_the_callers_is_kept_open():
    with Recorder(AHR) as a, a.log() as log:
        t = a.terminal()
        ours, theirs = os.pipe()
        # The agent has them, too, until it closes them.
        script = "import os, time; os.closerange(3, 1000); print(os.getppid(), flush=True)\n" \
                 "while not os.path.exists('go'): time.sleep(0.02)"
        client = a.on(t, "record", "--background", "--", sys.executable, "-I", "-c", script,
                      stderr=log, pass_fds=(theirs,))
        os.close(theirs)
        a.ends(client, 0)
        assert select.select([ours], [], [], 20)[0] and os.read(ours, 1) == b""  # its end
        os.close(ours)
        host = int(wait_for(lambda: a.ok("cat", "last")))
        links = {os.readlink(f"/proc/{host}/fd/{fd}") for fd in os.listdir(f"/proc/{host}/fd")}
        assert not links & {os.ttyname(t.slave), "/dev/tty"}, links
        assert os.readlink(f"/proc/{host}/cwd") == "/"
        (a.dir / "go").touch()


@test
def in_the_background_it_can_be_named_at_once():
    with Recorder(AHR) as a:
        for n in range(20):
            a.ok("record", "--background", "--name", f"n{n}", "--", "sh", "-c",
                 "until [ -e go ]; do sleep 0.02; done")
            a.ok("verify", f"n{n}")
        (a.dir / "go").touch()


@test
def a_session_in_the_background_is_stopped_by_a_signal():
    with Recorder(AHR) as a:
        name = a.ok("record", "--background", "--", "sh", "-c", "echo $$; exec sleep 1000")
        name = name.decode().strip()
        agent = int(wait_for(lambda: a.ok("cat", name)))
        with open(f"/proc/{agent}/stat", encoding="utf-8") as file:
            host = int(file.read().rpartition(")")[2].split()[1])
        os.kill(host, signal.SIGTERM)
        a.nobody_is_left()
        assert is_gone(agent) and a.meta()["status"] == "aborted" and a.meta()["signal"] == "TERM"


run()
