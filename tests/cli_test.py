#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cli_test.py -- the commands as a user meets them. usage: cli_test.py AHR"""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import Skip, run, test

AHR = sys.argv[1]
TEXT = b"".join(b"line %d \x1b[31mred\x1b[0m\r\n" % i for i in range(20000))


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def cut_off(a, name="x.ahr", **more):
    """A recording whose writer was killed after it had taken all of TEXT."""
    writer = a.popen("pack", "-o", name, stdin=subprocess.PIPE, **more)
    writer.stdin.write(TEXT)
    writer.stdin.flush()
    wait_for(lambda: a.run("cat", name).stdout == TEXT)
    writer.kill()
    writer.wait()
    writer.stdin.close()


@test
def version_help_and_usage():
    with Ahr(AHR) as a:
        assert a.ok("--version").startswith(b"ahr 0.")
        overview = a.ok("help").decode()
        for name in ("artifact", "attach", "branch-points", "cat", "delete", "export", "fs",
                     "import", "index", "instruct", "list", "pack", "record", "recover", "redact",
                     "reindex", "rename", "render", "replay", "run", "search", "send", "show", "snapshot", "stop",
                     "verify", "view", "watch"):
            assert f"  {name} " in overview
            assert a.ok("help", name) == a.ok(name, "-h") == a.ok(name, "--help")
            assert b" \n" not in a.ok(name, "-h")
        assert "mirror" not in overview
        assert "for recorders to start" in a.fails(2, "mirror")
        assert "usage: ahr COMMAND" in a.fails(2)
        assert "unknown command 'verfiy'; did you mean 'verify'?" in a.fails(2, "verfiy")
        assert "did you mean 'branch-points'?" in a.fails(2, "branch-point")
        assert "see 'ahr help'" in a.fails(2, "zzzzzzzzz")
        assert "unknown command" in a.fails(2, "help", "zzzzzzzzz")


@test
def ah_agent_is_another_name():
    with Ahr(AHR) as a:
        (a.dir / "ah").symlink_to(a.binary)
        ah = Ahr.__new__(Ahr)
        ah.__dict__.update(a.__dict__, binary=str(a.dir / "ah"))
        assert ah.ok("agent", "verify", "-h") == a.ok("verify", "-h")
        assert ah.ok("agent", "fs", "snapshot", "-h") == a.ok("fs", "snapshot", "-h")
        assert ah.ok("--version") == a.ok("--version")


@test
def wrong_usage_is_told_with_status_2():
    with Ahr(AHR) as a:
        assert "unknown option '--jsn'; did you mean '--json'?" in a.fails(2, "verify", "--jsn", "x")
        assert "did you mean '--status'?" in a.fails(2, "list", "--statsu=active")
        for far in ("zzzzzzzz", "z" * 100, "=x"):
            assert "; see 'ahr list -h'" in a.fails(2, "list", f"--{far}")
        assert "which session?" in a.fails(2, "verify")
        assert "give -o FILE.ahr" in a.fails(2, "pack")
        assert a.fails(2, "list", "-n", "x").endswith(": --limit must be a number, not 'x'\n")
        assert "--cols must be a number from 1 to 65535, not '0'" in a.fails(
            2, "pack", "--cols", "0", "-o", "x")
        assert "--sync must be one of none|interval|block|always" in a.fails(
            2, "pack", "--sync", "sometimes", "-o", "x")
        assert "--rows needs a value" in a.fails(2, "pack", "--rows")
        assert "--from lies behind --to" in a.fails(2, "cat", "--from", "9", "--to", "3", "x")


@test
def what_goes_in_comes_out():
    with Ahr(AHR) as a:
        (a.dir / "in").write_bytes(TEXT)
        a.ok("pack", "in", "-o", "x.ahr", "--cols", "120", "--rows=40")
        assert a.ok("cat", "x.ahr") == TEXT
        assert a.ok("cat", "--from", "1000", "--to", "70000", "x.ahr") == TEXT[1000:70000]
        assert a.ok("cat", "x.ahr", "--from", str(len(TEXT) + 5)) == b""
        facts = a.verify("x.ahr")
        assert facts["bytes"] == len(TEXT) and facts["resizes"] == 1
        assert facts["warnings"] == [] and facts["damaged"] == []
        assert facts["truncated_tail"] is False
        assert list(facts) == ["file", "blocks", "records", "bytes", "resizes", "snapshots",
                               "first_ts_ns", "last_ts_ns", "warnings", "damaged",
                               "truncated_tail"]
        assert sorted(p.name for p in a.dir.iterdir()) == ["home", "in", "x.ahr"]


@test
def all_sizes_qualities_and_policies_come_out():
    with Ahr(AHR) as a:
        for n, data in enumerate((b"", b"x", bytes(range(256)) * 3000, os.urandom(300000))):
            for sync in ("none", "interval", "block", "always"):
                name = f"{n}-{sync}.ahr"
                a.ok("pack", "-o", name, "--sync", sync, "--brotli-q", str(n * 3),
                     "--block-kib", "64", input=data)
                assert a.ok("cat", name) == data
                a.verify(name)


@test
def files_are_private_whatever_the_umask():
    with Ahr(AHR) as a:
        for mask in (0, 0o777):
            a.ok("pack", "-o", f"{mask}.ahr", input=b"secret", preexec_fn=lambda: os.umask(mask))
            assert stat.S_IMODE((a.dir / f"{mask}.ahr").stat().st_mode) == 0o600


@test
def rate_makes_up_the_time():
    with Ahr(AHR) as a:
        a.ok("pack", "--rate", "1000", "-o", "x.ahr", input=b"y" * 60000)
        facts = a.verify("x.ahr")
        seconds = (int(facts["last_ts_ns"]) - int(facts["first_ts_ns"])) / 1e9
        assert 59.9 < seconds <= 60.0, seconds
        assert facts["blocks"] == 6  # one each 10 s
        a.ok("pack", "--rate", "1000", "--block-ms", "1000", "-o", "y.ahr", input=b"y" * 60000)
        assert a.verify("y.ahr")["blocks"] > 50


@test
def a_block_is_sealed_by_time_while_nothing_comes():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "x.ahr", "--block-ms", "50", stdin=subprocess.PIPE)
        writer.stdin.write(b"early")
        writer.stdin.flush()
        wait_for(lambda: (a.dir / "x.ahr").exists() and (a.dir / "x.ahr").stat().st_size > 0)
        writer.stdin.close()
        assert writer.wait() == 0
        assert a.ok("cat", "x.ahr") == b"early"


@test
def nothing_is_overwritten():
    with Ahr(AHR) as a:
        (a.dir / "x.ahr").write_bytes(b"precious")
        assert "'x.ahr' exists already" in a.fails(1, "pack", "-o", "x.ahr", input=b"new")
        assert (a.dir / "x.ahr").read_bytes() == b"precious"
        (a.dir / "y.ahr.tail-3").write_bytes(b"")
        assert "run 'ahr recover y.ahr' first" in a.fails(1, "pack", "-o", "y.ahr")
        assert "No such file" in a.fails(3, "pack", "-o", "no/such/x.ahr")
        assert "Is a directory" in a.fails(1, "verify", "home")


@test
def missing_files_are_status_3():
    with Ahr(AHR) as a:
        for command in ("verify", "recover", "cat"):
            said = a.fails(3, command, "nowhere.ahr")
            assert said == f"ahr {command}: cannot open 'nowhere.ahr': No such file or directory\n"
        assert "cannot open 'nowhere'" in a.fails(3, "pack", "-o", "x.ahr", "nowhere")


@test
def several_files_are_one_array_and_the_missing_one_does_not_stop_the_others():
    with Ahr(AHR) as a:
        for name in ("x.ahr", "y.ahr"):
            a.ok("pack", "-o", name, input=b"hello")
        done = a.run("verify", "x.ahr", "nowhere.ahr", "y.ahr", "--json")
        assert [f["file"] for f in json.loads(done.stdout)] == ["x.ahr", "y.ahr"]
        assert done.returncode == 3 and b"nowhere.ahr" in done.stderr


@test
def a_live_recording_is_busy_and_can_be_read():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "x.ahr", stdin=subprocess.PIPE)
        writer.stdin.write(TEXT)
        writer.stdin.flush()
        wait_for(lambda: a.run("cat", "x.ahr").stdout == TEXT)
        assert "right now" in a.fails(5, "recover", "x.ahr")
        assert "right now" in a.fails(5, "recover", "--dry-run", "x.ahr")
        assert "right now" in a.fails(5, "pack", "-o", "x.ahr")
        assert a.verify("x.ahr")["bytes"] == len(TEXT)
        writer.stdin.close()
        assert writer.wait() == 0
        assert a.verify("x.ahr")["warnings"] == []


@test
def a_killed_writer_loses_nothing_and_recover_says_what_it_did():
    with Ahr(AHR) as a:
        cut_off(a)
        before = sorted(p.name for p in a.dir.iterdir())
        would = json.loads(a.ok("recover", "--dry-run", "--json", "x.ahr"))
        assert sorted(p.name for p in a.dir.iterdir()) == before
        assert would["dry_run"] is True and would["changed"] is True
        did = json.loads(a.ok("recover", "--json", "x.ahr"))
        assert {**did, "dry_run": True} == would
        assert did["sealed_records"] > 0 and did["damaged"] == 0
        assert a.ok("cat", "x.ahr") == TEXT
        assert sorted(p.name for p in a.dir.iterdir()) == ["home", "x.ahr"]
        whole = (a.dir / "x.ahr").read_bytes()
        for _ in range(3):
            assert b"nothing to do" in a.ok("recover", "x.ahr")
            assert (a.dir / "x.ahr").read_bytes() == whole


@test
def a_writer_that_is_told_to_stop_finishes_its_recording():
    with Ahr(AHR) as a:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = f"{number}.ahr"
            writer = a.popen("pack", "-o", name, stdin=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            writer.stdin.write(TEXT)
            writer.stdin.flush()
            wait_for(lambda: a.run("cat", name).stdout == TEXT)
            writer.send_signal(number)
            assert writer.wait(60) == 128 + number
            writer.stdin.close()
            assert a.ok("cat", name) == TEXT
            assert a.verify(name)["warnings"] == []
        for args in (["/dev/zero"], ["--rate", "1000000"]):  # always ready; made-up time, none ready
            name = f"busy{len(args)}.ahr"
            busy = a.popen("pack", "-o", name, *args, stdin=subprocess.PIPE)
            wait_for(lambda: (a.dir / name).exists() and list(a.dir.glob(name + ".tail-*")))
            busy.terminate()
            assert busy.wait(60) == 128 + signal.SIGTERM
            busy.stdin.close()
            assert a.verify(name)["warnings"] == []
        stubborn = a.popen("pack", "-o", "x.ahr", stdin=subprocess.PIPE,
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(lambda: (a.dir / "x.ahr").exists())
        stubborn.send_signal(signal.SIGHUP)
        stubborn.communicate(TEXT)
        assert stubborn.returncode == 0 and a.ok("cat", "x.ahr") == TEXT


@test
def the_recording_published_by_another_writer_is_read():
    hello = Path(__file__).resolve().parents[2] / "shared/fixtures/ahr/public-hello.ahr"
    if not hello.exists():
        raise Skip("the shared fixtures are not here")
    with Ahr(AHR) as a:
        facts = a.verify(hello)
        assert facts["damaged"] == [] and facts["records"] == 1
        assert a.ok("cat", hello) == b"hello world\r\n"


@test
def closed_standard_files_do_not_reach_the_recording():
    with Ahr(AHR) as a:
        shell = lambda line: subprocess.run(["sh", "-c", line], cwd=a.dir, capture_output=True,
                                            env={**a.env, "PROGRAM": a.binary})
        done = shell("$PROGRAM pack -o x.ahr <&-")
        assert done.returncode == 1 and b"Bad file descriptor" in done.stderr
        (a.dir / "in").write_bytes(TEXT)
        shell("ulimit -f 100; $PROGRAM pack --sync none -o y.ahr in 2>&-")  # trouble to tell
        assert a.ok("cat", "y.ahr") == TEXT
        assert shell("$PROGRAM verify y.ahr >&-").returncode == 1


@test
def a_recording_that_is_taken_away_is_made_again():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "x.ahr", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        writer.stdin.write(b"hel")
        writer.stdin.flush()
        wait_for(lambda: a.run("cat", "x.ahr").stdout == b"hel")
        (a.dir / "x.ahr").unlink()
        said = writer.communicate(b"lo")[1]
        assert writer.returncode == 0 and said.count(b"was removed or moved away") == 1, said
        assert a.ok("cat", "x.ahr") == b"hello"


@test
def a_file_put_in_its_place_is_left_alone():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "x.ahr", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: (a.dir / "x.ahr.tail-0").exists())  # its own by now
        (a.dir / "other").write_bytes(b"a diary")
        (a.dir / "other").rename(a.dir / "x.ahr")
        said = writer.communicate(b"hello")[1]
        assert writer.returncode == 1 and b"the recording is 'x.ahr.kept'" in said, said
        assert (a.dir / "x.ahr").read_bytes() == b"a diary"
        assert a.ok("cat", "x.ahr.kept") == b"hello"


@test
def files_that_are_no_part_of_it_are_left_alone():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        whole = (a.dir / "x.ahr").read_bytes()
        (a.dir / "x.ahr.1").write_bytes(b"the only copy of something")
        assert a.verify("x.ahr", status=4)["bytes"] == len(TEXT)
        assert "no part of it" in a.fails(4, "recover", "x.ahr")
        assert (a.dir / "x.ahr.1").read_bytes() == b"the only copy of something"
        (a.dir / "x.ahr.1").unlink()
        (a.dir / "x.ahr.tail-7").write_bytes(b"precious")
        assert a.run("recover", "x.ahr").returncode == 4
        assert (a.dir / "x.ahr.tail-7.torn").read_bytes() == b"precious"
        assert (a.dir / "x.ahr").read_bytes() == whole


@test
def a_link_leads_to_the_tails_of_its_target():
    with Ahr(AHR) as a:
        cut_off(a)
        (a.dir / "sub").mkdir()
        (a.dir / "sub/link").symlink_to("../x.ahr")
        assert a.verify("sub/link")["bytes"] == len(TEXT)
        assert a.ok("cat", "sub/link") == TEXT
        a.ok("recover", "sub/link")
        assert [p.name for p in a.dir.glob("x.ahr*")] == ["x.ahr"]


@test
def names_are_no_way_to_the_terminal():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "red\x1b[31m.ahr", input=b"x")
        assert b"\x1b" not in a.ok("verify", "red\x1b[31m.ahr")
        assert "\x1b" not in a.fails(3, "verify", "gone\x1b[31m.ahr")
        assert "name is too long" in a.fails(1, "pack", "-o", "n" * 250)


@test
def a_torn_end_is_cut_and_kept():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        whole = (a.dir / "x.ahr").read_bytes()
        (a.dir / "x.ahr").write_bytes(whole[:-7])
        facts = a.verify("x.ahr", status=4)
        assert facts["truncated_tail"] is True
        span, = facts["damaged"]
        assert span["offset"] + span["length"] == len(whole) - 7
        assert span["reason"] == "payload is cut short"
        done = a.run("cat", "x.ahr")
        assert done.returncode == 4 and TEXT.startswith(done.stdout)
        assert b"skipped: payload is cut short" in done.stderr
        assert b"x.ahr.torn" in a.ok("recover", "x.ahr")
        assert (a.dir / "x.ahr").read_bytes() + (a.dir / "x.ahr.torn").read_bytes() == whole[:-7]
        assert a.verify("x.ahr")["truncated_tail"] is False


@test
def damage_in_the_middle_is_named_and_stepped_over():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", "--block-kib", "16", input=TEXT)
        broken = bytearray((a.dir / "x.ahr").read_bytes())
        broken[len(broken) // 2] ^= 0x40
        (a.dir / "x.ahr").write_bytes(broken)
        facts = a.verify("x.ahr", status=4)
        span, = facts["damaged"]
        assert span["offset"] < len(broken) // 2 < span["offset"] + span["length"]
        done = a.run("cat", "x.ahr")
        lost = len(TEXT) - len(done.stdout)
        start = next(i for i in range(len(TEXT)) if TEXT[i] != done.stdout[i])
        assert done.returncode == 4 and lost > 0
        assert TEXT.endswith(done.stdout[-1000:])
        assert b"are missing" in done.stderr, start
        assert a.run("recover", "x.ahr").returncode == 4
        assert (a.dir / "x.ahr").read_bytes() == bytes(broken)


@test
def what_is_no_recording_is_left_alone():
    with Ahr(AHR) as a:
        (a.dir / "notes").write_bytes(b"dear diary\n" * 100)
        assert a.verify("notes", status=4)["blocks"] == 0
        assert "holds no whole block" in a.fails(4, "recover", "notes")
        assert (a.dir / "notes").read_bytes() == b"dear diary\n" * 100
        (a.dir / "empty").write_bytes(b"")
        assert a.verify("empty")["warnings"] == ["holds no block: is it an .ahr recording?"]


@test
def bytes_do_not_reach_a_terminal_unasked():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=b"\x1b]0;owned\x07")
        for args, status in ((["cat", "x.ahr"], 2), (["cat", "--raw", "x.ahr"], 0)):
            mine, theirs = pty.openpty()
            child = a.popen(*args, stdout=theirs, stderr=subprocess.PIPE)
            os.close(theirs)
            said = child.communicate()[1]
            assert child.returncode == status
            if status:
                assert b"say --raw" in said
            else:
                assert os.read(mine, 100) == b"\x1b]0;owned\x07"
            os.close(mine)


@test
def options_come_from_command_line_environment_and_config_in_this_order():
    with Ahr(AHR) as a:
        config = a.dir / "home/.config/ahr/config"
        config.parent.mkdir(parents=True)
        config.write_text("# mine\nblock-ms = 1000\nverify.json = yes\n")
        blocks = lambda name: json.loads(a.ok("verify", name))["blocks"]
        data = b"y" * 20000
        pack = ("pack", "--rate", "1000", "-o")
        a.ok(*pack, "a.ahr", input=data)
        a.ok(*pack, "b.ahr", input=data, env={"AHR_BLOCK_MS": "5000"})
        a.ok(*pack, "c.ahr", "--block-ms", "10000", input=data, env={"AHR_BLOCK_MS": "5000"})
        assert blocks("a.ahr") > blocks("b.ahr") > blocks("c.ahr") == 2
        config.write_text("block-ms = soon\n")
        assert "config:1: 'block-ms' must be a number" in a.fails(2, "pack", "-o", "d.ahr")
        config.write_text("pack.blocks = 3\n")
        assert "'pack' has no option 'blocks'" in a.fails(2, "pack", "-o", "d.ahr")
        config.unlink()
        assert "$AHR_BLOCK_MS must be a number" in a.fails(
            2, "pack", "-o", "d.ahr", env={"AHR_BLOCK_MS": "x"})


@test
def a_full_disk_is_told_once_and_the_rest_is_readable():
    with Ahr(AHR) as a:
        limit = 300 * 1024
        import resource

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        data = os.urandom(12 << 20)
        done = a.run("pack", "-o", "x.ahr", input=data, preexec_fn=small_files)
        assert done.returncode == 1
        said = done.stderr.decode()
        assert said.count("File too large; going on") == 1, said
        out = a.run("cat", "x.ahr").stdout
        assert out and out == data[:len(out)]
        # What is not called lost is there: in the recording, or in tails that fit the limit.
        lost = re.search(r"(\d+) of 12582912 bytes could not be written", said)
        assert len(out) == len(data) - (int(lost[1]) if lost else 0), (len(out), said)


@test
def output_that_cannot_be_written_is_a_failure():
    with Ahr(AHR) as a, open("/dev/full", "wb") as full:
        a.ok("pack", "-o", "x.ahr", input=TEXT)
        for args in (["verify", "x.ahr"], ["cat", "x.ahr"], ["help"], ["verify", "-h"]):
            child = a.popen(*args, stdout=full, stderr=subprocess.PIPE)
            said = child.communicate()[1]
            assert child.returncode == 1, args
            assert b"cannot write to standard output: No space left on device" in said


@test
def files_to_import_that_do_not_go_together_are_refused():
    with Ahr(AHR) as a:
        (a.dir / "x.cast").write_text('{"version":2,"width":80,"height":24}\n[0.1,"o","hello"]\n')
        (a.dir / "typescript").write_text("Script started on 2026-01-01 00:00:00+00:00\nhello\n")
        (a.dir / "times").write_text("0.1 5\n")
        said = a.fails(2, "import", "times", "typescript")  # as scriptreplay has them
        assert "'typescript' is the typescript: give it first, then 'times'" in said
        said = a.fails(2, "import", "x.cast", "times")
        assert "'x.cast' is an asciicast, which has no other file: not 'times'" in said
        assert "there is no session" in a.fails(3, "replay", "last")
        said = a.fails(4, "import", "typescript", "times", "--out-file", "x.ahr")
        assert "damaged in 1 place;" in said
        assert a.ok("cat", "x.ahr") == b"hello\n"


run()
