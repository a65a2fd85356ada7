#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export_test.py -- `ahr export` as a user meets it. usage: export_test.py AHR MOCK_AGENT RULES
[--sanitized]; with --write DIR in place of RULES it writes the golden documents."""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from resource import RLIMIT_CORE, setrlimit

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.mounts import mounted, own_mounts
from support.processes import wait_for
from support.reports import FORMATS, GOLDEN, NAME, SECRET, golden_session, reports
from support.secrets import Templates, read_rules
from support.sessions import GOLDEN as GOLDEN_TAPES
from support.sessions import Home, session_id
from support.tap import run, test
from support.tape import Tape, siblings

AHR, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
SID = session_id("2026-02-03", "a")
TEXT_FORMATS = ("md", "json", "csv", "txt", "ansi", "html")


def export(a, path, form="txt", *more, status=0):
    """(document, what was said)"""
    done = a.run("export", path, "--format", form, *more)
    assert done.returncode == status, (done.returncode, done.stdout[-300:], done.stderr)
    return done.stdout, done.stderr.decode()


def items(a, path, *more, status=0):
    return json.loads(export(a, path, "json", *more, status=status)[0])


def lines(a, path, status=0):
    """The final lines, without notices."""
    return [one["text"] for one in items(a, path, status=status) if one["kind"] == "line"]


def rendered(a, path):
    """The same by another way."""
    text = a.run("render", "--scrollback", path).stdout.decode()
    return text.removesuffix("\n").split("\n") if text else []


def is_left(folder):
    """What a command that failed may have left beside FILE."""
    return sorted(p.name for p in folder.iterdir())


# -- golden documents --

def made(a, args):
    done = a.run(*args)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    return done.stdout


def write_golden(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with Ahr(AHR) as a:
        for name, args in reports(golden_session(MOCK, a.dir)).items():
            (folder / name).write_bytes(made(a, args))


@test
def documents_are_the_golden_ones():
    with Ahr(AHR) as a:
        wanted = reports(golden_session(MOCK, a.dir))
        assert sorted(p.name for p in GOLDEN.iterdir()) == sorted(wanted)
        for name, args in wanted.items():
            have, want = made(a, args), (GOLDEN / name).read_bytes()
            if have != want:
                (Path(os.environ.get("TMPDIR", "/tmp")) / f"ahr-have-{name}").write_bytes(have)
            assert have == want, f"{name} differs; see ahr-have-{name} in the temporary folder"


@test
def a_second_run_gives_the_same_bytes():
    with Ahr(AHR) as a:
        for args in reports(golden_session(MOCK, a.dir)).values():
            first = a.ok(*args)
            assert first and a.ok(*args) == first, args


@test
def neither_place_nor_locale_nor_clock_change_a_byte():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        (a.dir / "other").mkdir()
        for file in [path, *siblings(path)]:
            shutil.copy(file, a.dir / "other" / file.name.replace("session", "x"))
        for form in FORMATS:
            want = export(a, path, form)[0]
            assert export(a, "other/x.ahr", form)[0] == want, form
            for env in ({"TZ": "Asia/Tokyo"}, {"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8"},
                        {"COLUMNS": "7", "TERM": "dumb", "NO_COLOR": "1"}):
                assert a.ok("export", path, "--format", form, env=env) == want, (form, env)


@test
def a_session_is_the_same_whatever_it_is_called_by():
    with Ahr(AHR) as a:
        folder = Home(a).folder("sessions", SID)
        path = golden_session(MOCK, folder)
        meta = json.loads((folder / "session.meta.json").read_text())
        (folder / "session.meta.json").write_text(json.dumps({**meta, "sessionId": SID}))
        (a.dir / "link.ahr").symlink_to(path)
        for form in FORMATS:
            want = export(a, path, form)[0]
            assert len(want) > 1000
            for what in (SID, SID[:14], NAME, "last", "link.ahr", os.path.relpath(path, a.dir)):
                assert export(a, what, form)[0] == want, (form, what)
            assert a.ok("export", "--format", form) == want


@test
def a_session_in_sealed_blocks_tails_or_repaired_is_the_same():
    with Ahr(AHR) as a:
        for piece in GOLDEN_TAPES.glob("tails.ahr*"):
            shutil.copy(piece, a.dir)
        before = {form: export(a, "tails.ahr", form)[0] for form in FORMATS}
        a.ok("recover", "tails.ahr")
        assert not list(a.dir.glob("tails.ahr.tail*"))
        assert {form: export(a, "tails.ahr", form)[0] for form in FORMATS} == before


# -- events --

def event(t_ms, **fields):
    """A line as `ahr run` writes it."""
    return json.dumps({"ts_ns": str(1_700_000_000_000_000_000 + t_ms * 1_000_000), "t_ms": t_ms,
                       "session": SID, "iteration": 1, **fields},
                      separators=(",", ":"), ensure_ascii=False)


TURNS = [
    event(1, type="session", agent_session_id="s-1", model="m-2", cwd="/w"),
    event(2, type="text", role="user", text="do it\u00fc"),
    event(3, type="tool_call", id="t1", name="Bash", input={"command": "ls -l", "n": [1, None]}),
    event(4, type="tool_result", id="t1", name="Bash", is_error=True, text="a  b", exit_code=2),
    event(5, type="stderr", text="//4=", encoding="base64"),
    event(6, type="done", subtype="success", duration_ms=7, turns=1,
          usage={"input_tokens": 1, "output_tokens": 2}),
    event(8, type="exit", status="completed", exit_code=0, duration_ms=8),
]


def stored_run(a, turns, kind="sessions"):
    """A run's folder with these bytes as its events."""
    folder = Home(a).folder(kind, SID)
    Tape().data("what a terminal would show\r\n").end().write(
        folder / "session.ahr", sessionId=SID, cmd=["agent"], kind="stream", status="completed",
        exitCode=0)
    (folder / "session.turns.jsonl").write_bytes(turns)
    return folder


@test
def the_events_of_a_run_are_given_back_line_by_line():
    with Ahr(AHR) as a:
        turns = "".join(line + "\n" for line in TURNS).encode()
        folder = stored_run(a, turns)
        for what in (SID, "last", folder / "session.ahr"):
            out, said = export(a, what, "events")
            assert out == turns, out
            assert said == "", said
        a.ok("export", SID, "-o", "x.events")
        assert (a.dir / "x.events").read_bytes() == turns


@test
def damaged_events_cost_no_other():
    with Ahr(AHR) as a:
        first, second, third = (line.encode() for line in TURNS[:3])
        folder = stored_run(a, b"\n".join([
            first, b"no JSON", second + third, b"", third[:40] + first, bytes(99) + second + b"\r",
            b'{"type":7}', third[:-2]]))
        out, said = export(a, SID, "events", status=4)
        assert out.split(b"\n")[:-1] == [first, second, third, first, second], out
        assert [int(n) for n in re.findall(r"line (\d+) of its events", said)] == [2, 5, 7, 8], said
        # One that goes on has a last line that is not there yet.
        shutil.rmtree(folder)
        stored_run(a, first + b"\n" + second[:-9], kind="live")
        out, said = export(a, SID, "events")
        assert out == first + b"\n", out
        assert said == "", said


@test
def events_of_a_later_ahr_are_kept():
    with Ahr(AHR) as a:
        later = event(3, type="plan", steps=[1, 2])
        stored_run(a, later.encode() + b"\n")
        got = json.loads(export(a, SID, "events")[0])
        assert got["type"] == "other" and got["name"] == "plan", got
        assert got["data"] == json.loads(later), got


@test
def events_are_masked_unless_that_is_not_wanted():
    with Ahr(AHR) as a:
        lines_in = [event(1, type="text", role="assistant", text=f"it is {SECRET} there"),
                    event(2, type="tool_call", name="Write",
                          input={"content": f"a\n{SECRET}\n", "path": "x"}),
                    event(3, type="tool_result", id=SECRET, parent=SECRET, text=f"\n{SECRET}")]
        turns = "".join(line + "\n" for line in lines_in).encode()
        stored_run(a, turns)
        out = export(a, SID, "events")[0].decode()
        assert SECRET[4:] not in out, out
        got = [json.loads(line) for line in out.splitlines()]
        assert got[0]["text"] == "it is [REDACTED:github-pat] there", got[0]
        assert got[1]["input"] == {"content": "a\n[REDACTED:github-pat]\n", "path": "x"}, got[1]
        out, said = export(a, SID, "events", "--no-redact")
        assert [json.loads(line) for line in out.splitlines()] == [
            json.loads(line) for line in lines_in]
        assert "not masked" in said, said


def told(got):
    """Of each event what matters here."""
    return [(one["type"], one["t_ms"], one.get("text", one.get("name"))) for one in got]


@test
def a_terminals_recording_is_a_stream_of_events():
    with Ahr(AHR) as a:
        tape = Tape(20, 5).wait(9).data("one\r\ntwo\r\n").wait(99).snapshot(1, "here")
        tape.wait(99).data("x" * 18 + " and so on\r\n").wait(49).instruct(1, "now\nthat")
        tape.wait(499).data("50%").wait(499).data("\r100%\r\n\r\n")
        folder = Home(a).folder("sessions", SID)
        tape.end().write(folder / "session.ahr", sessionId=SID, cmd=["make", "a b"], cwd="/w/p",
                         status="failed", exitCode=3)
        out, said = export(a, SID, "events")
        got = [json.loads(line) for line in out.splitlines()]
        assert said == "", said
        assert {one["session"] for one in got} == {SID}
        assert all(int(one["ts_ns"]) // 1_000_000 % 10_000_000 == one["t_ms"] for one in got), got
        assert got[0]["type"] == "session", got[0]
        assert got[0]["command"] == "make 'a b'", got[0]
        assert got[0]["cwd"] == "/w/p", got[0]
        assert [(kind, text) for kind, _, text in told(got)][1:-1] == [
            ("text", "one\ntwo"), ("other", "snapshot"), ("text", "x" * 18 + " and so on"),
            ("text", "now\nthat"), ("text", "100%")], told(got)
        assert [one.get("role") for one in got[1:-1]] == [
            "assistant", None, "assistant", "user", "assistant"]
        times = [one["t_ms"] for one in got]
        assert times == sorted(times), times
        assert got[5]["t_ms"] - got[4]["t_ms"] >= 998, times
        assert got[2]["data"] == {"id": 1, "label": "here", "anchor_byte": 10}, got[2]
        assert (got[-1]["type"], got[-1]["status"], got[-1]["exit_code"]) == ("exit", "failed", 3)
        assert got[-1]["duration_ms"] == got[-1]["t_ms"], got[-1]


# -- formats --

@test
def every_format_tells_the_same_lines_and_events():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        want = items(a, path)
        rows = list(csv.reader(io.StringIO(export(a, path, "csv")[0].decode(), newline="")))
        assert rows[0] == ["kind", "index_or_id", "position", "ts_ns", "text"]
        assert [row[0] for row in rows[1:]] == [one["kind"] for one in want]
        for row, one in zip(rows[1:], want):
            text = one.get("text", one.get("label")) or ""
            assert row[4].removeprefix("'") == text, (row, one)
            where = one.get("last_write_byte", one.get("anchor_byte", one.get("position")))
            assert row[2] == str(where), (row, one)
        text = export(a, path, "txt")[0].decode()
        notice = [f"[ahr: {one['text']}]" for one in want if one["kind"] == "notice"]
        kept = [line for line in text.split("\n")[:-1] if line not in notice]
        assert kept == [one["text"] for one in want if one["kind"] == "line"]
        plain = re.sub(r"\x1b\[[0-9;:]*m|\x1b\]8;;[\x21-\x7e]*\x1b\\", "",
                       export(a, path, "ansi")[0].decode())
        assert [line.rstrip() for line in plain.split("\n")] == text.split("\n")


@test
def a_formula_is_defused():
    with Ahr(AHR) as a:
        cells = ["=1+1", "+1", "-1", "@x", "  =2", "plain"]
        tape = Tape().data("".join(f"{cell}\r\n" for cell in cells))
        for n, cell in enumerate(cells):
            tape.snapshot(n, cell)
        path = tape.end().write(a.dir / "x.ahr")
        rows = csv.reader(io.StringIO(export(a, path, "csv")[0].decode(), newline=""))
        for row in list(rows)[1:]:
            assert row[4] == "plain" or row[4][0] == "'", row


@test
def the_format_is_the_outputs_name():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        for form in FORMATS[:-1]:
            a.ok("export", path, "-o", f"x.y.{form}")
            assert (a.dir / f"x.y.{form}").read_bytes() == export(a, path, form)[0]
        a.ok("export", "--session", path, "-o", "X.CSV")
        assert (a.dir / "X.CSV").read_bytes() == export(a, path, "csv")[0]
        a.ok("export", path, "-o", "x.md", "--format", "json")
        assert json.loads((a.dir / "x.md").read_text())
        for wrong in (["-o", "x.png"], ["-o", "md"], ["-o", "-"], []):
            said = a.fails(2, "export", path, *wrong)
            assert all(form in said for form in FORMATS), said
        assert "one of" in a.fails(2, "export", path, "--format", "pdf")
        assert "give one session" in a.fails(2, "export", path, path, "--format", "md")


@test
def timestamps_are_those_of_the_last_write():
    with Ahr(AHR) as a:
        tape = Tape().wait(999).data("first\r\n").wait(1999).data("50%").wait(59_999).data("\r100%\r\n")
        path = tape.wait(3_599_999).data("last").end().write(a.dir / "x.ahr")
        assert export(a, path, "txt", "--timestamps")[0].decode().split("\n") == [
            "0:00:01.000  first", "0:01:03.000  100%", "1:01:03.000  last", ""]
        assert [one["t_ms"] for one in items(a, path, "--timestamps")] == [1000, 63000, 3663000]


# -- what is missing --

def several_blocks(a, name="x.ahr"):
    """A recording of eight blocks, and where each ends in the file."""
    tape = Tape(40, 5)
    for n in range(8):
        tape.seal() if n else None
        tape.data("".join(f"block {n} line {i} {'x' * (i % 30)}\r\n" for i in range(50)))
        tape.snapshot(n, f"behind block {n}")
    tape.end().write(a.dir / name)
    return a.dir / name


@test
def what_is_left_of_a_cut_recording_is_delivered():
    with Ahr(AHR) as a:
        whole = several_blocks(a).read_bytes()
        x = a.dir / "cut.ahr"
        draw = random.Random(3)
        for n in sorted({1, 43, 44, 45, len(whole) - 1, *draw.sample(range(2, len(whole)), 30)}):
            x.write_bytes(whole[:n])
            want = rendered(a, x)
            verdict = json.loads(a.run("verify", "--json", x).stdout)
            is_damaged = a.run("verify", x).returncode == 4
            if not want:
                out, said = export(a, x, "json", status=4)
                assert out == b"" and "holds no record" in said, (n, out, said)
                continue
            out, said = export(a, x, "json", status=4 if is_damaged else 0)
            have = [one["text"] for one in json.loads(out) if one["kind"] == "line"]
            assert have == want, n
            assert bool(said) == is_damaged, (n, said, verdict)


@test
def of_gaps_by_the_thousand_some_are_told():
    with Ahr(AHR) as a:
        tape = Tape()
        for _ in range(3000):
            tape.data("x").gap(5)
        tape.end().write(a.dir / "x.ahr")
        done = a.run("export", "x.ahr", "--format", "json")
        assert done.returncode == 0, done
        assert len(done.stderr.splitlines()) == 101, done.stderr
        assert b"'ahr verify' tells what" in done.stderr.splitlines()[-1]
        assert sum("not recorded" in item["text"] for item in json.loads(done.stdout)) == 3000


@test
def what_lies_around_damage_is_delivered_and_marked():
    with Ahr(AHR) as a:
        whole = several_blocks(a).read_bytes()
        x = a.dir / "hurt.ahr"
        draw = random.Random(4)
        missing = 0
        for at in draw.sample(range(len(whole)), 40):
            x.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1:])
            out, said = export(a, x, "json", status=4)
            assert "hurt.ahr" in said and "offset" in said, said
            got = json.loads(out)
            assert [one["text"] for one in got if one["kind"] == "line"] == rendered(a, x)
            missing += any("are missing here" in one.get("text", "") for one in got)
        assert missing > 20


@test
def every_format_delivers_what_is_left():
    with Ahr(AHR) as a:
        whole = several_blocks(a).read_bytes()
        third = [m.start() for m in re.finditer(b"AHRC", whole)][2]
        (a.dir / "hurt.ahr").write_bytes(whole[:third + 60] + b"?" + whole[third + 61:])
        for form in FORMATS:
            out, said = export(a, "hurt.ahr", form, status=4)
            text = out.decode()
            for n in (0, 1, 3, 7):
                assert f"block {n} line 7" in text, (form, n)
            assert "block 2 line 7" not in text and "skipped" in said, (form, said)
            assert "missing" in text, form
            a.fails(4, "export", "hurt.ahr", "-o", f"out.{form}", "--format", form)
            assert (a.dir / f"out.{form}").read_bytes() == out


@test
def tails_alone_are_delivered():
    with Ahr(AHR) as a:
        for piece in GOLDEN_TAPES.glob("tails.ahr.tail*"):
            shutil.copy(piece, a.dir)
        done = a.run("export", "tails.ahr", "--format", "txt")
        assert done.returncode in (0, 4) and done.stdout.decode().split("\n")[:-1]
        have = [line for line in done.stdout.decode().split("\n")[:-1] if not line.startswith("[ahr: ")]
        assert have == rendered(a, "tails.ahr")


@test
def what_holds_no_record_makes_no_document():
    with Ahr(AHR) as a:
        (a.dir / "old.md").write_text("from before")
        for name, data in (("empty.ahr", b""), ("picture.ahr", b"\x89PNG\r\n\x1a\n" + bytes(999)),
                           ("text", b"just text\n")):
            (a.dir / name).write_bytes(data)
            for form in FORMATS:
                out, said = export(a, name, form, status=4)
                assert out == b"" and f"'{name}' holds no record" in said, (form, out, said)
                a.fails(4, "export", name, "--format", form, "-o", "old.md")
            assert "holds no record" in a.fails(4, "branch-points", name)
        assert (a.dir / "old.md").read_text() == "from before"
        assert sorted(is_left(a.dir)) == ["empty.ahr", "home", "old.md", "picture.ahr", "text"]


@test
def what_is_not_there_is_told():
    with Ahr(AHR) as a:
        (a.dir / "folder.ahr").mkdir()
        assert "no session" in a.fails(3, "export", "--format", "md")
        assert "no session" in a.fails(3, "export", "nobody", "--format", "md")
        assert "No such file" in a.fails(3, "export", "x.ahr", "--format", "md")
        assert "folder.ahr" in a.fails(1, "export", "folder.ahr", "--format", "md")


@test
def a_recording_with_a_size_alone_is_an_empty_document():
    with Ahr(AHR) as a:
        path = Tape().end().write(a.dir / "x.ahr")
        assert items(a, path) == [] and export(a, path, "txt")[0] == b""
        assert len(export(a, path, "csv")[0].split(b"\r\n")) == 2
        assert json.loads(a.ok("branch-points", path)) == {"items": [], "total_bytes": 0}


@test
def the_size_is_the_metas_where_the_recording_has_none():
    with Ahr(AHR) as a:
        tape = Tape()
        tape.blocks.clear()
        path = tape.data("x" * 25).end().write(a.dir / "x.ahr", cols=10, rows=4)
        assert lines(a, path) == ["x" * 10, "x" * 10, "x" * 5]
        siblings(path)[2].write_text("{")
        assert lines(a, path) == ["x" * 25]


# -- what stands beside it --

def events_of(got):
    return [(one["kind"], one["id"], one.get("label", one.get("text"))) for one in got
            if one["kind"] in ("snapshot", "instruction")]


@test
def good_lines_beside_a_recording_survive_bad_ones():
    with Ahr(AHR) as a:
        path = Tape().data("one\r\n").end().write(a.dir / "x.ahr")
        snapshots, instructions, _ = siblings(path)

        def snap(n, label='"x"'):
            return b'{"id":%d,"ts_ns":2,"label":%s,"kind":"auto","anchor_byte":3}' % (
                n, label if isinstance(label, bytes) else label.encode())
        snapshots.write_bytes(b"\n".join([
            b"\xef\xbb\xbf" + snap(1) + b"\r", b'{"id":2,"ts_', b"\0\0\0" + snap(3) + snap(4),
            b'{"id":5,"ts_ns":9' + snap(6), b"[1,2]", b"garbage", b"",
            snap(7, '"\\ud83d\\ude00 \\ud800 \\u0041\\n"'), snap(8, b'"\xff\xc3\xa4"'),
            snap(9, b'"' + b"z" * (2 << 20) + b'"'), b"{" * 100_000, snap(2**64 - 1, "null"),
            b'{"id":99,"ts_ns":1']))
        instructions.write_bytes(b'{"id":1,"ts_ns":5,"anchor_byte":0,"text":"do","x":[{}]}\nbad\n')
        out, said = export(a, path, "json", status=4)
        got = events_of(json.loads(out))
        assert [one[1] for one in got if one[0] == "snapshot"] == [1, 3, 4, 6, 7, 8, 9, 2**64 - 1]
        texts = {one[1]: one[2] for one in got if one[0] == "snapshot"}
        assert texts[7].startswith("😀 \ufffd A") and texts[8] == "\ufffdä"
        assert texts[9] == "z" * (2 << 20) and texts[2**64 - 1] is None
        assert ("instruction", 1, "do") in got
        assert "'" + str(snapshots) + "': 6 lines were not read, from line 2 on" in said, said
        assert "'" + str(instructions) + "': 1 line was not read, from line 2 on" in said, said
        for form in FORMATS:
            export(a, path, form, status=4)


@test
def labels_and_instructions_are_inert_text():
    with Ahr(AHR) as a:
        evil = "\x1b]52;c;AAAA\x07\x1b[2J\x9b31m\u202eabc\u2066\u2028x\x00</script><script>alert(1)"
        path = Tape().data("one\r\n").snapshot(1, evil).instruct(1, evil).end().write(
            a.dir / "x.ahr", name="n", cmd=[evil, evil])
        for form in FORMATS:
            out = export(a, path, form)[0].decode()
            bad = re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e"
                             "\u2066-\u2069\u2028\u2029]", out)
            assert not bad, (form, bad)
            assert form != "html" or "<script" not in out


@test
def a_file_that_cannot_be_read_costs_nothing_else():
    with Ahr(AHR) as a:
        path = Tape().data("one\r\n").snapshot(1, "on tape").instruct(2, "do").end().write(a.dir / "x.ahr")
        snapshots = siblings(path)[0]
        snapshots.unlink()
        assert [one[1] for one in events_of(items(a, path))] == [1, 2]
        os.mkfifo(snapshots)
        out, said = export(a, path, "json", status=4)
        assert [one[1] for one in events_of(json.loads(out))] == [1, 2]
        assert "cannot read" in said and snapshots.name in said


# -- the file --

@test
def a_file_appears_whole_with_the_mode_that_is_due():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        want = export(a, path, "md")[0]
        folder = a.dir / "out"
        folder.mkdir()
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            done = subprocess.run(["sh", "-c", f"umask {mask:o}; exec \"$@\"", "sh", a.binary, "export",
                                   str(path), "-o", str(folder / "x.md")], env=a.env, check=False,
                                  stderr=subprocess.DEVNULL)
            assert done.returncode == 0
            assert stat.S_IMODE((folder / "x.md").stat().st_mode) == mode
            assert (folder / "x.md").read_bytes() == want
            (folder / "x.md").unlink()
        (folder / "x.md").write_text("old")
        (folder / "x.md").chmod(0o640)
        a.ok("export", path, "-o", "out/x.md")
        assert (folder / "x.md").read_bytes() == want
        assert stat.S_IMODE((folder / "x.md").stat().st_mode) == 0o640
        assert is_left(folder) == ["x.md"]


@test
def a_link_stays_and_what_it_names_is_replaced():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        (a.dir / "there").mkdir()
        (a.dir / "there" / "real.md").write_text("old")
        (a.dir / "link.md").symlink_to("there/real.md")
        a.ok("export", path, "-o", "link.md")
        assert (a.dir / "link.md").is_symlink()
        assert (a.dir / "there" / "real.md").read_bytes() == export(a, path, "md")[0]
        assert is_left(a.dir / "there") == ["real.md"]


@test
def a_pipe_and_standard_output_are_written_to():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        want = export(a, path, "md")[0]
        os.mkfifo(a.dir / "pipe.md")
        writer = a.popen("export", path, "-o", "pipe.md", stderr=subprocess.DEVNULL)
        assert (a.dir / "pipe.md").read_bytes() == want and writer.wait() == 0
        assert stat.S_ISFIFO((a.dir / "pipe.md").stat().st_mode)
        for name in ("/dev/stdout", "-", "/proc/self/fd/1"):
            assert a.ok("export", path, "--format", "md", "-o", name) == want
        (a.dir / "log").write_bytes(b"before\n")
        for name in ("/dev/stdout", str(a.dir / "log")):
            with open(a.dir / "log", "ab") as log:
                assert a.popen("export", path, "--format", "md", "-o", name, stdout=log,
                               stderr=subprocess.DEVNULL).wait() == 0
        assert (a.dir / "log").read_bytes() == b"before\n" + want + want
        a.ok("export", path, "--format", "md", "-o", "/dev/null")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        assert os.path.islink("/dev/stdout")


@test
def where_it_cannot_be_written_is_told():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        (a.dir / "folder.md").mkdir()
        for name, why in (("nowhere/x.md", "No such file"), ("folder.md", "Is a directory"),
                          ("folder.md/", "Is a directory"), ("session.ahr/x.md", "Not a directory")):
            said = a.fails(1, "export", path, "--format", "md", "-o", name)
            assert "cannot write" in said and why in said, said
        with mounted(a.dir / "ro", "-t", "tmpfs", "-o", "ro", "tmpfs"):
            assert "Read-only" in a.fails(1, "export", path, "-o", "ro/x.md")


@test
def a_full_disk_leaves_what_was_there():
    with Ahr(AHR) as a:
        path = Tape().data("".join(f"{n} {'x' * 60}\r\n" for n in range(20_000))).end().write(a.dir / "x.ahr")
        with mounted(a.dir / "small", "-t", "tmpfs", "-o", "size=256k", "tmpfs"):
            for form in FORMATS:
                old = a.dir / "small" / f"x.{form}"
                old.write_text("from before")
                said = a.fails(1, "export", path, "-o", old, "--format", form)
                assert "No space left" in said and f"x.{form}" in said, said
                assert old.read_text() == "from before"
                old.unlink()
                a.fails(1, "export", path, "-o", old, "--format", form)
                assert is_left(a.dir / "small") == [], form
        with open("/dev/full", "wb") as full:
            done = subprocess.run([a.binary, "export", str(path), "--format", "txt"], stdout=full,
                                  stderr=subprocess.PIPE, env=a.env, check=False)
        assert done.returncode == 1 and b"standard output: No space left" in done.stderr


@test
def a_signal_leaves_nothing_behind():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "big.ahr", input=b"".join(b"%d %s\r\n" % (n, b"y" * 70) for n in range(200_000)))
        folder = a.dir / "out"
        folder.mkdir()
        (folder / "x.html").write_text("from before")
        caught = 0
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            p = a.popen("export", "big.ahr", "-o", "out/x.html", stderr=subprocess.DEVNULL,
                        preexec_fn=lambda: setrlimit(RLIMIT_CORE, (0, 0)))
            wait_for(lambda: len(is_left(folder)) == 2 or p.poll() is not None)
            p.send_signal(signo)
            assert p.wait(60) in (-signo, 0)
            caught += p.returncode == -signo
            assert is_left(folder) == ["x.html"]
            if p.returncode:
                assert (folder / "x.html").read_text() == "from before"
            (folder / "x.html").write_text("from before")
        assert caught


@test
def a_signal_that_is_ignored_ends_nothing():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "big.ahr", input=b"".join(b"%d %s\r\n" % (n, b"y" * 70) for n in range(200_000)))
        folder = a.dir / "out"
        folder.mkdir()
        p = a.popen("export", "big.ahr", "-o", "out/x.html", stderr=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(lambda: is_left(folder) or p.poll() is not None)
        p.send_signal(signal.SIGHUP)
        assert p.stderr.read() == b"" and p.wait(60) == 0
        p.stderr.close()
        assert is_left(folder) == ["x.html"]


@test
def more_events_than_there_is_room_for_stop_nothing():
    with Ahr(AHR) as a:
        tape = Tape()
        for n in range(1200):  # with 60 KB each
            tape.data(f"{n}\r\n").snapshot(n, "x" * 60_000)
            if n % 200 == 0:
                tape.seal()
        path = tape.end().write(a.dir / "x.ahr")
        text = a.run("export", path, "--format", "json").stdout
        kinds = [one["kind"] for one in json.loads(text)]
        left_out = 1200 - kinds.count("snapshot")
        assert kinds.count("line") == 1200 and 0 < left_out < 100, left_out
        assert f"{left_out} more snapshots or instructions are not shown" in text.decode()


@test
def a_reader_that_goes_away_is_no_reason_to_talk():
    with Ahr(AHR) as a:
        path = Tape().data("".join(f"{n} {'x' * 60}\r\n" for n in range(20_000))).end().write(a.dir / "x.ahr")
        for form in FORMATS:
            p = a.popen("export", path, "--format", form, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
            p.stdout.read(10)
            p.stdout.close()
            assert p.stderr.read() == b"" and p.wait() == -signal.SIGPIPE
            p.stderr.close()


@test
def many_at_once_are_not_in_each_others_way():
    with Ahr(AHR) as a:
        path = golden_session(MOCK, a.dir)
        want = export(a, path, "html")[0]
        (a.dir / "out").mkdir()
        running = [a.popen("export", path, "-o", "out/same.html" if n % 2 else f"out/{n}.html",
                           stderr=subprocess.PIPE) for n in range(32)]
        said = [p.communicate()[1] for p in running]
        assert [p.returncode for p in running] == [0] * 32, said
        files = list((a.dir / "out").iterdir())
        assert len(files) == 17 and all(p.read_bytes() == want for p in files)


# -- secrets --

def planted():
    """Some secrets of the rules' own examples, each with what stands around it."""
    rng = random.Random(11)
    templates = Templates(rng)
    rules = [rule for rule in read_rules(sys.argv[3]) if rule.hits and not rule.is_named]
    found = []
    for rule in rng.sample(rules, 40):
        line = templates.hit(rule.hits[0])
        if len("".join(line)) < 70 and "".join(line).isprintable() and len(line[1]) > 11:
            found.append(line)
    assert len(found) > 15, len(found)
    return found


def readable(form, document):
    """What a reader of the document sees, however it is written."""
    text = document.decode()
    if form in ("json", "cast", "cast3"):
        def strings(value):
            if isinstance(value, str):
                yield value
            elif isinstance(value, (list, dict)):
                for one in value.values() if isinstance(value, dict) else value:
                    yield from strings(one)
        parsed = json.loads(text) if form == "json" else [json.loads(line) for line in text.splitlines()]
        return "\n".join(strings(parsed))
    text = re.sub(r"\x1b\[[0-9;:]*m|\x1b\]8;;[^\x1b]*\x1b\\", "", text)
    if form == "csv":
        return text.replace('""', '"')
    if form == "md":
        text = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
    if form in ("html", "md"):
        text = re.sub(r"<[^>]*>", "", text) if form == "html" else text
        for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"),
                             ("&#124;", "|"), ("&amp;", "&")):
            text = text.replace(entity, char)
    return text


@test
def secrets_are_masked_wherever_they_stand():
    with Ahr(AHR) as a:
        secrets = planted()
        tape = Tape(100, 24)
        for n, (before, secret, behind) in enumerate(secrets):
            text = before + secret + behind
            tape.data(f"{text}\r\n").snapshot(n, text).instruct(n, f"take\n{text}")
            if text == secret:  # known without what stands around it
                tape.data(f"\x1b]8;;https://example.com/{secret}\x07link {n}\x1b]8;;\x07\r\n")
        path = tape.end().write(a.dir / "x.ahr", name="n", cmd=["sh", "-c", "".join(secrets[0])])
        for form in FORMATS:
            masked, said = export(a, path, form)
            shown = readable(form, masked)
            for _, secret, _ in secrets:
                assert secret not in shown and secret.encode() not in masked, (form, secret)
            assert said == "", said
            bare = readable(form, export(a, path, form, "--no-redact")[0])
            for _, secret, _ in secrets:
                assert secret in bare, (form, secret)
            assert ("not masked" in bare) and "not masked" not in shown, form
        for form in ("json", "md", "csv", "text"):
            out = a.ok("branch-points", path, "--instructions", "--format", form)
            assert not any(secret.encode() in out for _, secret, _ in secrets)
            done = a.run("branch-points", path, "--format", form, "--no-redact")
            assert secrets[0][1] in readable(form, done.stdout), form
            assert b"not masked" not in done.stdout, (form, done.stdout[:300])
            assert b"not masked" in done.stderr


@test
def a_secret_that_the_terminal_has_wrapped_is_masked():
    with Ahr(AHR) as a:
        for cols in (20, 30, 33):
            path = Tape(cols, 10).data(f"GITHUB_TOKEN={SECRET}\r\nnext\r\n").end().write(a.dir / "x.ahr")
            for form in TEXT_FORMATS:
                out = readable(form, export(a, path, form)[0])
                assert not any(SECRET[n:n + 8] in out for n in range(4, len(SECRET) - 8)), (cols, form)
                assert "next" in out


@test
def the_users_own_rules_are_kept():
    with Ahr(AHR) as a:
        rules = a.dir / "home" / ".config" / "ahr" / "redact"
        rules.parent.mkdir(parents=True)
        rules.write_text("rule acme\nkeywords acme_\npattern acme_[A-Za-z0-9]{32}\nabout of acme\n")
        secret = "acme_" + Templates(random.Random(6)).random("alnum", 32)
        path = Tape().data(f"x {secret} y\r\n").end().write(a.dir / "x.ahr")
        assert secret.encode() not in export(a, path, "txt")[0]
        rules.write_text("rule acme\nnonsense\n")
        done = a.run("export", path, "--format", "txt")
        assert done.returncode == 2 and done.stdout == b"" and b"redact" in done.stderr, done
        assert secret.encode() in export(a, path, "txt", "--no-redact")[0]


# -- others --

@test
def a_session_that_goes_on_is_taken_as_far_as_it_is():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "live.ahr", stdin=subprocess.PIPE)
        writer.stdin.write(b"so far\r\n")
        writer.stdin.flush()
        wait_for(lambda: a.run("cat", "live.ahr").stdout)
        assert lines(a, "live.ahr") == ["so far"]
        writer.stdin.close()
        assert writer.wait() == 0 and lines(a, "live.ahr") == ["so far"]


@test
def other_writers_recordings_are_exported():
    with Ahr(AHR) as a:
        for path in sorted(GOLDEN_TAPES.glob("*.ahr")):
            for form in FORMATS:
                done = a.run("export", path, "--format", form)
                assert done.returncode in (0, 4), (path, form, done)
                if form == "json" and done.stdout:
                    have = [one["text"] for one in json.loads(done.stdout) if one["kind"] == "line"]
                    assert have == rendered(a, path), path


if len(sys.argv) > 3 and sys.argv[3] == "--write":
    write_golden(Path(sys.argv[4]))
else:
    own_mounts()
    run()
