#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""branch_points_test.py -- `ahr branch-points`: snapshots between the lines where they fell, and
`ahr record --out-branch-points`. usage: branch_points_test.py AHR MOCK_AGENT [--sanitized]"""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import children, is_gone, wait_for
from support.recorder import IS_LONG, Recorder
from support.reports import golden_session
from support.sessions import session_id
from support.tap import run, test, test_meanwhile
from support.tape import Tape

AHR, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
SPINNER = re.compile("[✻✽✶✳✢·] Thinking…")
SEEDS = range(1, 31 if IS_LONG else 6)


def points(a, *args, **more):
    return json.loads(a.ok("branch-points", *args, **more))


def order(got):
    """Lines by their texts, others as <id>."""
    return [one["text"] if one["kind"] == "line" else f"<{one['id']}>" for one in got["items"]]


def placed(a, tape, *args):
    return order(points(a, tape.end().write(a.dir / "x.ahr"), *args))


# -- where snapshots stand: each order here was worked out by hand --

@test
def a_snapshot_stands_before_the_first_line_behind_it():
    with Recorder(AHR) as a:
        tape = Tape().data("one\r\n").snapshot(1).data("two\r\nthree\r\n").snapshot(2)
        assert placed(a, tape) == ["one", "<1>", "two", "three", "<2>"]


@test
def a_line_comes_before_a_snapshot_at_its_last_byte():
    with Recorder(AHR) as a:
        tape = Tape().snapshot(1).data("one").snapshot(2).data("\r\ntwo").snapshot(3)
        assert placed(a, tape) == ["<1>", "one", "<2>", "two", "<3>"]


@test
def a_line_that_is_written_over_and_over_stands_behind_the_snapshots_meanwhile():
    with Recorder(AHR) as a:
        tape = Tape().data("start\r\n").snapshot(1)
        for percent in range(0, 101, 10):
            tape.data(f"\r{percent:3}% of it").snapshot(10 + percent)
        tape.data("\r\n").snapshot(2).data("end\r\n")
        meanwhile = [f"<{10 + percent}>" for percent in range(0, 100, 10)]
        assert placed(a, tape) == ["start", "<1>", *meanwhile, "100% of it", "<110>", "<2>", "end"]


@test
def what_scrolls_off_takes_its_snapshots_along():
    with Recorder(AHR) as a:
        tape, want = Tape(20, 3), []
        for n in range(200):
            tape.data(f"line {n}\r\n").snapshot(n)
            want += [f"line {n}", f"<{n}>"]
        assert placed(a, tape) == want


@test
def scrolling_a_line_is_not_writing_to_it():
    with Recorder(AHR) as a:
        tape = Tape(20, 4).data("a\r\nb\r\nc\r\nd").snapshot(1)
        tape.data("\x1b[4;1H\n\n").snapshot(2).data("e")  # two rows scroll off
        # The blank row was never written to: it is not behind them.
        assert placed(a, tape) == ["a", "b", "c", "d", "", "<1>", "<2>", "e"]


@test
def a_row_above_that_is_written_later_stands_behind_the_snapshot():
    with Recorder(AHR) as a:
        def tape():
            return Tape(20, 5).data("a\r\nb\r\nc\r\n").snapshot(1).data("\x1b[1;1HA\x1b[4;1Hd")
        assert placed(a, tape()) == ["<1>", "A", "b", "c", "d"]
        assert placed(a, tape(), "--order", "position") == ["b", "c", "<1>", "A", "d"]


@test
def erasing_a_row_is_writing_to_it():
    with Recorder(AHR) as a:
        tape = Tape(20, 5).data("a\r\nb\r\nc").snapshot(1).data("\x1b[2;3H\x1b[K").snapshot(2)
        assert placed(a, tape) == ["a", "<1>", "b", "c", "<2>"]


@test
def snapshots_at_one_byte_keep_their_order():
    with Recorder(AHR) as a:
        tape = Tape().data("one\r\n").snapshot(9).snapshot(3).snapshot(7, on_tape=False).snapshot(1)
        tape.instruct(5, "i").data("two")
        want = ["one", "<9>", "<3>", "<1>", "<7>", "two"]
        assert placed(a, tape) == want
        assert order(points(a, "x.ahr", "--instructions")) == want[:-1] + ["<5>", "two"]


@test
def snapshots_out_of_order_are_put_in_order():
    with Recorder(AHR) as a:
        tape = Tape().data("one\r\ntwo\r\n").snapshot(2, anchor=10).snapshot(1, anchor=3)
        tape.snapshot(3, anchor=99)
        assert placed(a, tape) == ["one", "<1>", "two", "<2>", "<3>"]


@test
def one_both_on_tape_and_beside_it_is_one():
    with Recorder(AHR) as a:
        tape = Tape().data("one\r\n").snapshot(1, "a").snapshot(2, "b", beside=False)
        tape.snapshot(3, "c", on_tape=False)
        got = points(a, tape.end().write(a.dir / "x.ahr"))
        assert [(one["id"], one["label"]) for one in got["items"][1:]] == [(1, "a"), (2, "b"), (3, "c")]


# -- the agent knows --

def settled(seed, steps, folder):
    """How many final lines are above the agent's region, and so never touched again, when this
    many steps are done: by its own bookkeeping when it stops there."""
    subprocess.run([MOCK, "--no-wait", "--seed", str(seed), "--steps", str(steps), "--kill-self", "KILL",
                    "--truth", folder / "there"], capture_output=True, check=False)
    lines = json.loads((folder / "there").read_text())["final_lines"]
    return max(i for i, line in enumerate(lines) if SPINNER.match(line)), lines


@test
def snapshots_among_rewrites_and_scrolls_stand_where_the_agent_says():
    with Recorder(AHR) as a:
        for seed in SEEDS:
            a.ok("record", "-q", "--allow-self", "--cols", "80", "--rows", "24", "--", MOCK, "--no-wait",
                 "--seed", seed, "--steps", "8", "--snapshots", "--instruct", "--truth", a.dir / "truth")
            truth = json.loads((a.dir / "truth").read_text())
            got = points(a, "--instructions")
            lines = [one for one in got["items"] if one["kind"] == "line"]
            assert [one["text"] for one in lines] == truth["final_lines"]
            assert [one["index"] for one in lines] == list(range(len(lines)))
            assert got["total_bytes"] == truth["total_bytes"]
            snapshots = [one for one in got["items"] if one["kind"] == "snapshot"]
            assert [(one["id"], one["anchor_byte"], one["label"]) for one in snapshots] == [
                (one["id"], one["anchor_byte"], one["label"]) for one in truth["snapshots"]]
            before, at = {}, 0
            for one in got["items"]:
                at += one["kind"] == "line"
                if one["kind"] != "line":
                    before[one["kind"], one["id"]] = at
            where = {}
            for n, one in enumerate(truth["snapshots"], 1):
                count, then = settled(seed, n, a.dir)
                assert then[:count] == truth["final_lines"][:count]
                assert before["snapshot", one["id"]] == count, (seed, n, count)
                where[one["anchor_byte"]] = count
            assert len(set(where.values())) > 3
            for one in truth["instructions"]:
                assert before["instruction", one["reply"]["id"]] == where[one["anchor_byte"]], (seed, one)
                assert any(one["text"] == have.get("text") for have in got["items"])


# -- formats --

@test
def the_json_is_laid_out_as_others_print_it():
    with Recorder(AHR) as a:
        path = golden_session(MOCK, a.dir)
        for more in ([], ["--instructions"], ["--order", "position"]):
            text = a.ok("branch-points", path, *more).decode()
            got = json.loads(text)
            want = json.dumps(got, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
            assert text == want
            assert sorted(got) == ["items", "total_bytes"]
            kinds = {"line": {"index", "kind", "last_write_byte", "text"},
                     "snapshot": {"anchor_byte", "id", "kind", "label", "ts_ns"},
                     "instruction": {"anchor_byte", "id", "kind", "text", "ts_ns"}}
            for one in got["items"]:
                assert set(one) - {"screen"} == kinds[one["kind"]], one
            assert any(one.get("screen") == "alternate" for one in got["items"])
            assert [one["label"] for one in got["items"] if one.get("id") == 7 and "label" in one] == [None]
            has = any(one["kind"] == "instruction" for one in got["items"])
            assert has == ("--instructions" in more)
        empty = Tape().end().write(a.dir / "e.ahr")
        assert a.ok("branch-points", empty) == b'{\n  "items": [],\n  "total_bytes": 0\n}\n'


@test
def the_session_is_an_operand_or_an_option_or_the_last():
    with Recorder(AHR) as a:
        a.ok("record", "-q", "--name", "first", "--", "echo", "one")
        a.ok("record", "-q", "--name", "second", "--", "echo", "two")
        assert order(points(a)) == ["two"]
        assert order(points(a, "first")) == order(points(a, "--session", "first")) == ["one"]
        assert "one session at most" in a.fails(2, "branch-points", "--session", "first", "second")
        assert "one session at most" in a.fails(2, "branch-points", "first", "second")
        around = {"AHR_SESSION": session_id("2026-02-03", "a")}
        assert order(points(a, env=around)) == ["two"]
        assert order(points(a, "first", env=around)) == ["one"]
        ah = a.dir / "ah"
        ah.symlink_to(a.binary)
        done = subprocess.run([ah, "agent", "branch-points", "--session", "first", "--format", "text"],
                              capture_output=True, env=a.env, check=True)
        assert done.stdout == b"one\n"


@test
def there_is_none_where_there_is_no_session():
    with Recorder(AHR) as a:
        assert "no session" in a.fails(3, "branch-points")


# -- killed, then recovered --

@test
def a_session_that_was_cut_off_is_the_same_after_recover():
    with Recorder(AHR) as a:
        client = a.start("record", "--allow-self", "--cols", "80", "--rows", "24", "--", MOCK,
                         "--steps", "400", "--speed", "50", "--snapshots", "--instruct",
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        host = a.host(client.pid)
        agent = a.agent(host)
        wait_for(lambda: a.recorded_size() > 30_000)
        os.kill(host, signal.SIGKILL)
        client.wait(60)
        wait_for(lambda: is_gone(host) and is_gone(agent))
        sid, = a.names("live")
        tape = a.home / "live" / sid / "session.ahr"
        formats = ("md", "json", "csv", "txt", "ansi", "html", "cast", "cast3")

        def reports(what):
            return {f: a.ok("export", what, "--format", f) for f in formats} | {
                "points": a.ok("branch-points", what, "--instructions")}
        before = reports(sid)
        assert len(order(json.loads(before["points"]))) > 20
        assert reports(tape) == reports("last") == before
        a.ok("recover", sid)
        after = a.home / "sessions" / sid / "session.ahr"
        assert reports(sid) == reports(after) == reports("last") == before


# -- record --out-branch-points --

@test
def the_file_is_there_when_record_returns():
    with Recorder(AHR) as a:
        done = a.run("record", "-q", "--out-branch-points", "p.json", "--", "sh", "-c",
                     f"echo one; {AHR} snapshot --label here >/dev/null; echo two; exit 7")
        assert done.returncode == 7 and done.stderr == b"", done
        assert (a.dir / "p.json").read_bytes() == a.ok("branch-points")
        assert [one["kind"] for one in json.loads((a.dir / "p.json").read_text())["items"]] == [
            "line", "snapshot", "line"]
        assert sorted(p.name for p in a.dir.iterdir()) == ["ahr", "home", "p.json"]


@test
def it_is_where_the_caller_means_and_as_he_lets_files_be_made():
    with Recorder(AHR) as a:
        (a.dir / "sub").mkdir()
        done = a.line("umask 027; cd sub && $AHR record -q --out-branch-points ../new/deep/p.json -- "
                      "sh -c 'cd /; echo x'")
        assert done.returncode == 0, done
        path = a.dir / "new" / "deep" / "p.json"
        assert json.loads(path.read_text())["total_bytes"] == 3
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@test
def it_goes_with_an_out_file():
    with Recorder(AHR) as a:
        a.ok("record", "-q", "--out-file", "x.ahr", "--out-branch-points", "p.json", "--", "echo", "hi")
        assert (a.dir / "p.json").read_bytes() == a.ok("branch-points", "x.ahr")
        for same in ("y.ahr", "y.meta.json", "y.snapshots.jsonl", "y.instructions.jsonl"):
            assert "cannot both be" in a.fails(2, "record", "-q", "--out-file", "y.ahr",
                                               "--out-branch-points", same, "--", "true")
        assert not list(a.dir.glob("y.*"))


@test
def one_that_is_there_is_replaced_by_force_alone():
    with Recorder(AHR) as a:
        (a.dir / "p.json").write_text("old")
        (a.dir / "folder").mkdir()
        os.mkfifo(a.dir / "pipe")
        record = ("record", "-q", "--out-branch-points")
        assert "exists already" in a.fails(1, *record, "p.json", "--", "touch", "ran")
        assert "no regular file" in a.fails(1, *record, "folder", "--force", "--", "touch", "ran")
        assert "no regular file" in a.fails(1, *record, "pipe", "--force", "--", "touch", "ran")
        assert "no name of a file" in a.fails(2, *record, "folder/", "--", "touch", "ran")
        assert "Not a directory" in a.fails(1, *record, "p.json/x", "--", "touch", "ran")
        assert "--force is for" in a.fails(2, "record", "--force", "--", "touch", "ran")
        assert not (a.dir / "ran").exists() and a.names("sessions") == a.names("live") == []
        assert (a.dir / "p.json").read_text() == "old"
        a.ok(*record, "p.json", "--force", "--", "echo", "new")
        assert "new" in (a.dir / "p.json").read_text()


@test
def an_old_file_is_not_taken_for_one_that_is_not_all():
    with Recorder(AHR) as a:
        record = ("record", "-q", "--force", "--out-file", "x.ahr", "--out-branch-points", "p.json",
                  "--", "sh", "-c")
        (a.dir / "p.json").write_text("old")
        said = a.run(*record, "echo hi; rm x.ahr; echo junk > x.ahr").stderr.decode()
        assert "branch points were not written: " in said and "is not all" not in said, said
        assert (a.dir / "p.json").read_text() == "old"
        said = a.run(*record, "echo hi; echo junk > x.ahr").stderr.decode()
        assert "branch points were not" not in said, said
        assert (a.dir / "p.json").read_text() != "old"


@test
def what_cannot_be_written_at_the_end_is_told_and_costs_nothing():
    with Recorder(AHR) as a:
        done = a.run("record", "-q", "--out-branch-points", "gone/p.json", "--", "sh", "-c",
                     "rmdir gone; echo hi; exit 3")
        assert done.returncode == 3 and done.stdout.endswith(b"hi\r\n"), done
        said = done.stderr.decode()
        assert "branch points were not written" in said and "gone/p.json" in said, said
        assert order(points(a)) == ["hi"] and a.meta()["status"] == "failed"


@test
def nobody_need_wait_for_it():
    with Recorder(AHR) as a:
        sid = a.ok("record", "--background", "--out-branch-points", "p.json", "--", "sh", "-c",
                   "read x; echo $x").decode().strip()
        a.ok("send", sid, "done")
        wait_for(lambda: (a.dir / "p.json").exists())
        assert (a.dir / "p.json").read_bytes() == a.ok("branch-points", sid)


@test
def a_client_that_was_killed_is_not_needed():
    with Recorder(AHR) as a:
        t = a.terminal()
        client = a.on(t, "record", "--out-branch-points", "p.json", "--", "sh", "-c",
                      "echo ready; while [ ! -e go ]; do sleep 0.01; done; echo end")
        host = a.host(client.pid)
        t.wait_for(b"ready")
        client.kill()
        client.wait()
        (a.dir / "go").touch()
        wait_for(lambda: (a.dir / "p.json").exists())
        assert order(json.loads((a.dir / "p.json").read_text())) == ["ready", "end"]
        wait_for(lambda: is_gone(host))


@test
def a_terminal_that_hangs_up_leaves_the_file_behind():
    with Recorder(AHR) as a:
        t = a.terminal()
        client = a.on(t, "record", "--out-branch-points", "p.json", "--", "sh", "-c",
                      "echo ready; sleep 1000")
        host = a.host(client.pid)
        t.wait_for(b"ready")
        t.hang_up()
        wait_for(lambda: is_gone(host))
        assert order(json.loads((a.dir / "p.json").read_text())) == ["ready"]


def hangs(a):
    """A recording whose branch points never come: (client, host, their maker, which is stopped)."""
    client = a.start("record", "-q", "--out-branch-points", "p.json", "--", "sh", "-c",
                     "seq 300000; echo hi; exit 5", stdout=a.log("shown"),
                     stderr=subprocess.PIPE)
    host = a.host(client.pid)

    def maker():
        for pid in children(host):
            try:
                if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1] == b"branch-points":
                    return pid
            except (OSError, IndexError):
                pass
        return None
    pid = wait_for(maker)
    os.kill(pid, signal.SIGSTOP)
    return client, host, pid


@test
def one_that_is_killed_is_told():
    with Recorder(AHR) as a:
        client, host, maker = hangs(a)
        # The last output does not wait for it, and all is on disk.
        wait_for(lambda: (a.dir / "shown").read_bytes().endswith(b"\nhi\r\n"))
        assert client.poll() is None and a.names("live") == [] and a.meta()["exitCode"] == 5
        os.kill(maker, signal.SIGKILL)
        _, said = client.communicate(timeout=60)
        assert client.returncode == 5 and b"were not written: SIGKILL" in said, said
        wait_for(lambda: is_gone(host))
        assert not (a.dir / "p.json").exists()


@test_meanwhile
def one_that_never_ends_is_not_waited_for_for_ever():
    with Recorder(AHR) as a:
        client, host, maker = hangs(a)
        _, said = client.communicate(timeout=100)
        assert client.returncode == 5 and b"were not written: it took too long" in said, said
        wait_for(lambda: is_gone(host) and is_gone(maker))
        assert not (a.dir / "p.json").exists() and points(a)["items"][-1]["text"] == "hi"


run()
