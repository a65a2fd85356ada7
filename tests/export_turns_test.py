#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export_turns_test.py -- `ahr export` of runs: their conversations in each format, read back by others; and the
transcript for Entire. usage: export_turns_test.py AHR"""

import html
import json
import os
import random
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import hostile, talk_readers, talks
from support.ahr import Ahr
from support.recorder import IS_SANITIZED
from support.runs import SECRET
from support.sessions import Home, session_id
from support.tap import Skip, run, test

AHR = str(Path(sys.argv[1]).resolve())
FIXTURES = Path(__file__).resolve().parent.parent.parent / "shared" / "fixtures" / "agents"
START = 1_780_000_000_000_000_000
ID, OTHER = (session_id("2026-05-28", letter) for letter in "ab")
READERS = {"csv": talk_readers.csv, "json": talk_readers.json, "md": talk_readers.markdown, "html": talk_readers.page}
TITLES = {"text": "Assistant", "thinking": "Thinking", "tool_call": "Tool call", "tool_result": "Result",
          "error": "Error", "done": "Done", "warning": "Warning", "stderr": "Standard error", "artifact": "File",
          "exit": "End", "other": "Event", "session": "Session", "usage": "Usage"}


class Talk(Ahr):
    def __enter__(self):
        super().__enter__()
        self.env["AHR_UPKEEP"] = "off"
        self.home = Home(self)
        return self

    def add(self, events, sid=ID, status="completed", iterations=0, **facts):
        """events: objects, or bytes that lie there in place of one."""
        plain = [e for e in events if not isinstance(e, bytes)]
        lines = iter(talks.stamped(plain, START)[0])
        lines = [e if isinstance(e, bytes) else next(lines) for e in events]
        return self.home.add_run("sessions", sid, b"shown\r\n", lines, status=status, startedAtNs=START,
                                 iterations=iterations, **facts)

    def export(self, form, *more, which=ID, status=0):
        done = self.run("export", which, "--format", form, *more)
        assert done.returncode == status, (form, more, done.returncode, done.stderr)
        return done.stdout

    def read(self, form, *more, **how):
        return READERS[form](self.export(form, *more, **how))

    def transcript(self, *more, **how):
        return talk_readers.transcript(self.export("jsonl", *more, **how), ID)


def clean(text):
    """As src/turn/clean.h says, of what stands in these tests."""
    text = re.sub("\r\n|[\r\u0085\u2028\u2029]", "\n", text)
    text = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]|\x1b\\][^\x07\n]*\x07", "", text)
    return re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text).rstrip("\n")


# -- how much it takes: the first of all, since a child's peak memory counts from ours --

@test
def memory_does_not_grow_with_the_conversation():
    """10,000 turns, some of a megabyte: what it takes is of the size of one of them."""
    rng = random.Random(3)
    with Talk(AHR) as a:
        folder = a.add([])
        with open(folder / "session.turns.jsonl", "wb") as f:
            for n in range(10_000):
                text = "x" * 1_000_000 if n % 200 == 7 else talks.lines(rng, 3)
                e = {"type": "tool_call", "id": f"c{n}", "name": "Bash", "input": {"command": text}} if n % 2 == 0 \
                    else {"type": "tool_result", "id": f"c{n - 1}", "text": text}
                f.write(talks.stamped([e], START + n)[0][0])
        for form in (*READERS, "txt", "jsonl"):
            child = subprocess.Popen([AHR, "export", ID, "--format", form], env=a.env, cwd=a.dir,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            assert child.returncode == 0, form
            print(f"# {form}: {used.ru_maxrss >> 10} MiB")
            assert IS_SANITIZED or used.ru_maxrss < 48 << 10, (form, used.ru_maxrss)


# -- the head, and what stands for a folded text --

@test
def the_head_says_what_is_known_of_the_session():
    with Talk(AHR) as a:
        a.add([{"type": "text", "text": "hello"}], name="mend", agent="claude", model="opus <b>", cmd=["claude", SECRET],
              endedAtNs=START + 130 * 10**9)
        when = datetime.fromtimestamp(START // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        head = f"{when} · 2m10s · completed · claude · opus <b> · claude "
        page, text = a.export("html").decode(), a.read("md")[1]["facts"]
        assert f"<p class=facts>{html.escape(head)}[REDACTED:" in page and SECRET not in page, page
        assert text.replace("\\", "").replace("&lt;", "<").replace("&gt;", ">").startswith(head) and SECRET not in text, text
        a.add([{"type": "text", "text": "hello"}], sid=OTHER, status=None)
        assert a.read("md", which=OTHER)[1]["facts"] == when


@test
def a_folded_call_shows_what_it_is_about():
    with Talk(AHR) as a:
        a.add([{"type": "tool_call", "id": "1", "name": "Edit", "input": {"replace_all": False, "file_path": "src/a.c"}},
               {"type": "tool_call", "id": "2", "name": "Odd", "input": {"x": 1, "y": "path: no"}},
               {"type": "tool_result", "id": "1", "text": "one\ncommand: two"}])
        found = re.findall("<summary><bdi>(.*?)</bdi>", a.export("html").decode())
        assert found == ["file_path: src/a.c", "x: 1 …", "one …"], found


# -- the fixtures' streams --

def fixture(a, name):
    path = FIXTURES / f"{name}.ndjson"
    if not path.exists():
        raise Skip("the shared fixtures are not here")
    a.ok("run", "-q", "--", "cat", path)
    return json.loads(a.ok("list", "--json"))[0]["id"]


def events_of(a, sid):
    return [json.loads(line) for line in a.ok("export", sid, "--format", "events").decode().splitlines()]


@test
def the_streams_of_agents_come_out_in_each_format():
    for name in ("claude-stream", "claude-stream-partial", "codex-stream"):
        with Talk(AHR) as a:
            sid = fixture(a, name)
            events = events_of(a, sid)
            said = [(i, e) for i, e in enumerate(events, 1) if e["type"] != "usage"]
            for form in READERS:
                turns, others = a.read(form, which=sid)
                assert [t[0] for t in turns] == [i for i, _ in said], form
                for (_, kind, tool, text), (_, e) in zip(turns, said):
                    assert kind in (e["type"], TITLES[e["type"]]), (form, kind, e)
                    if e["type"] in ("text", "tool_result", "error"):
                        assert text == clean(e["text"]), (form, text, e)
                    if e["type"] in ("tool_call", "tool_result"):
                        assert tool.replace("\\", "").startswith(e["name"]), (form, tool, e)
                    if e["type"] == "tool_call":
                        assert form == "json" or re.sub(r"\s", "", e["input"]["command" if "command" in e["input"] else
                                                        "file_path"]) in re.sub(r"\s", "", text), (form, text, e)
                        assert form != "json" or text == e["input"], (text, e)
                totals = {key.lower().replace(" ", "_"): value for key, value in others["totals"].items()}
                expected = (3000, 66) if name == "codex-stream" else (7000, 370)
                assert (totals["input_tokens"], totals["output_tokens"]) == expected, (form, totals)
                assert others["notices"] == [], (form, others)
            text = a.export("txt", which=sid).decode()
            assert "[tool] " in text and text.splitlines()[-1].startswith("[ahr: turns "), text


@test
def transcripts_of_the_streams_follow_the_rules_and_count_right():
    for name, expected in (("claude-stream", (7000, 370, 300, 8000)), ("claude-stream-partial", (7000, 370, 300, 8000)),
                           ("codex-stream", (3300 - 300, 66, 0, 300))):
        with Talk(AHR) as a:
            sid = fixture(a, name)
            data = a.export("jsonl", which=sid)
            lines, usage, calls, answered = talk_readers.transcript(data, sid)
            assert tuple(usage[key] for key in talk_readers.USAGE) == expected, (name, usage)
            assert sorted(calls) == sorted(answered) and len(calls) == (2 if name == "codex-stream" else 4), name
            assert a.export("jsonl", which=sid) == data  # the same bytes
            kinds = [line["type"] for line in lines]
            assert kinds == (["assistant", "user"] * 4)[:len(kinds) - 1] + ["assistant"], kinds
            said = [e for e in events_of(a, sid) if e["type"] == "text"]
            blocks = [b["text"] for line in lines if line["type"] == "assistant" for b in line["message"]["content"]
                      if b["type"] == "text"]
            assert blocks == [e["text"] for e in said], name
            if name != "codex-stream":
                own = [json.loads(x) for x in (FIXTURES / "claude-transcript.jsonl").read_text().splitlines()]
                ids = dict.fromkeys(x["message"]["id"] for x in own if x["type"] == "assistant")
                assert len(dict.fromkeys(x["message"]["id"] for x in lines if x["type"] == "assistant")) == len(ids)


# -- made-up conversations --

@test
def made_up_conversations_come_out_whole():
    for seed in range(4):
        with Talk(AHR) as a:
            events = talks.made_up(seed, 150)
            a.add(events)
            shown = "".join(talks.shown(e).rstrip("\n") + "\n" for e in events if e["type"] != "usage")
            text = a.export("txt").decode()
            assert text.rpartition("[ahr: ")[0] == shown, seed
            for form in READERS:
                turns, _ = a.read(form)
                assert len(turns) == sum(e["type"] != "usage" for e in events)
                for number, _, _, text in turns:
                    e = events[number - 1]
                    if "text" in e:
                        assert text == e["text"], (form, e)
            lines, _, calls, answered = a.transcript()
            assert set(calls) <= set(answered)
            results = {b["tool_use_id"]: b["content"] for line in lines if line["type"] == "user" and
                       isinstance(line["message"]["content"], list) for b in line["message"]["content"]
                       if b["type"] == "tool_result"}
            for e in events:
                if e["type"] == "tool_result":
                    assert results[e["id"]] == e["text"]
            done = {e["id"] for e in events if e["type"] == "tool_result"}
            assert all(results[c] == "[Tool execution was interrupted]" for c in set(calls) - done)
            sides = [line for line in lines if line["isSidechain"]]
            assert bool(sides) == any("parent" in e for e in events if talks.role(e)), seed


@test
def one_turn_or_some_of_them_are_shown_alone():
    with Talk(AHR) as a:
        events = talks.made_up(5, 60)
        a.add(events)
        for first, last in ((1, 1), (7, 7), (10, 20), (60, 60), (59, 4000)):
            asked = str(first) if first == last else f"{first}-{last}"
            for form in READERS:
                turns, others = a.read(form, "--turn", asked)
                assert [t[0] for t in turns] == list(range(first, min(last, 60) + 1)), (form, asked)
                assert not others["totals"]
            text = a.export("txt", "--turn", asked).decode()
            assert text == "".join(talks.shown(e) for e in events[first - 1:last]) or \
                any(e["type"] == "usage" for e in events[first - 1:last]), asked
        assert "has no turn 61, only 60" in a.fails(3, "export", ID, "--format", "txt", "--turn", "61")
        for wrong in ("0", "x", "3-2", "-1", "1-", "", "1-2-3", "99999999999999999999"):
            assert "is no turn" in a.fails(2, "export", ID, "--format", "txt", f"--turn={wrong}"), wrong
        assert "leave out --turn" in a.fails(2, "export", ID, "--format", "jsonl", "--turn", "1")


@test
def what_there_is_not_is_told_with_what_there_is():
    with Talk(AHR) as a:
        other = session_id("2026-05-27", "b")
        a.add(talks.made_up(6, 5))
        a.home.add("sessions", other, b"of a terminal\r\n", status="completed", startedAtNs=START - 10**9)
        said = a.fails(2, "export", other, "--format", "jsonl")
        assert "has no conversation" in said and "md, json, csv, txt" in said, said
        assert "has no conversation" in a.fails(2, "export", other, "--format", "md", "--what", "turns")
        assert "has no conversation" in a.fails(2, "export", other, "--format", "txt", "--turn", "1")
        for form in ("ansi", "cast", "cast3"):
            assert f"no format '{form}'" in a.fails(2, "export", ID, "--format", form, "--what", "turns")
            assert b"shown" in a.export(form)
        assert "not what a terminal shows" in a.fails(2, "export", ID, "--format", "jsonl", "--what", "terminal")
        assert a.export("txt", "--what", "terminal") == b"shown\n"
        assert a.export("txt", which=other) == b"of a terminal\n"
        path = a.home.dir / "sessions" / ID / "session.ahr"
        for form in (*READERS, "txt", "jsonl"):
            assert a.export(form, which=str(path)) == a.export(form), form
            a.ok("export", ID, "-o", f"out.{form}")
            assert (a.dir / f"out.{form}").read_bytes() == a.export(form), form
        (path.parent / "session.turns.jsonl").unlink()
        assert a.export("txt") == b"shown\n"


@test
def times_are_told_where_they_are_asked_for():
    with Talk(AHR) as a:
        events = talks.made_up(7, 30)
        a.add(events)
        rows = json.loads(a.export("json", "--timestamps"))
        for row in rows[:-1]:
            assert int(row["ts_ns"]) == START + (row["turn"] - 1) * 10**6 and row["t_ms"] == row["turn"] - 1, row
        a.read("md", "--timestamps"), a.read("html", "--timestamps")
        assert "0:00:00.004" in a.export("md", "--timestamps").decode()
        for line in a.export("txt", "--timestamps").decode().splitlines()[:-1]:
            assert re.match(r"0:00:00\.0\d\d(  |$)", line), line
        stamps = [row.split(",")[2] for row in a.export("csv", "--timestamps").decode().split("\r\n") if
                  row.startswith("turn,")]
        assert stamps[0] == str(START)


# -- what stands between the turns --

def note(a, *moments, sid=ID):
    """Moments: (kind, id, at which ns, text, and an instruction: whether it was delivered)."""
    for kind in ("snapshot", "instruction"):
        lines = [{"id": i, "ts_ns": at, "label" if kind == "snapshot" else "text": text, "anchor_byte": 1,
                  **({"kind": "manual"} if kind == "snapshot" else {"snapshot_id": i + 40, "delivered": delivered[0]})}
                 for which, i, at, text, *delivered in moments if which == kind]
        path = a.home.dir / "sessions" / sid / f"session.{kind}s.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@test
def instructions_and_snapshots_stand_between_the_turns_by_their_time():
    ms = 10**6
    with Talk(AHR) as a:
        a.add([{"type": "text", "role": "assistant", "text": f"word {n}"} for n in range(1, 6)])
        plain = {form: a.export(form) for form in ("jsonl", "txt")}
        some = {form: a.export(form, "--turn", "2-4") for form in (*READERS, "txt")}
        note(a, ("instruction", 9, START + 90 * ms, "behind all", True),
             ("instruction", 3, START + 5 * ms // 2, "do it\notherwise", True),
             ("instruction", 1, START - ms, "before all", False), ("instruction", 2, START + ms, "with the second", False),
             ("snapshot", 45, START + 7 * ms // 2, "a label"), ("snapshot", 46, START + 15 * ms // 4, ""))
        expected = [(0, "instruction", 1, False, "before all"), (2, "instruction", 2, False, "with the second"),
                    (3, "instruction", 3, True, "do it\notherwise"), (4, "snapshot", 45, None, "a label"),
                    (4, "snapshot", 46, None, ""), (5, "instruction", 9, True, "behind all")]
        for form in READERS:
            for more in ((), ("--timestamps",)):
                turns, others = a.read(form, *more)
                assert others["events"] == expected, (form, others["events"])
                assert [t[3] for t in turns] == [f"word {n}" for n in range(1, 6)], (form, turns)
        assert a.export("txt").decode().splitlines()[:-1] == [
            "[instruction 1 (not delivered)] before all", "word 1", "word 2",
            "[instruction 2 (not delivered)] with the second", "word 3",
            "[instruction 3 (delivered)] do it", "  otherwise", "word 4", "[snapshot 45] a label",
            "[snapshot 46]", "word 5", "[instruction 9 (delivered)] behind all"], a.export("txt")
        timed = {row["id"]: row for row in json.loads(a.export("json", "--timestamps")) if "id" in row}
        assert timed[3] == {"kind": "instruction", "id": 3, "ts_ns": str(START + 5 * ms // 2), "t_ms": 2,
                            "text": "do it\notherwise", "snapshot_id": 43, "delivered": True}, timed
        assert timed[45] == {"kind": "snapshot", "id": 45, "ts_ns": str(START + 7 * ms // 2), "t_ms": 3,
                             "label": "a label"}, timed
        assert a.export("jsonl") == plain["jsonl"]
        for form, data in some.items():
            assert a.export(form, "--turn", "2-4") == data, form
        (a.home.dir / "sessions" / ID / "session.instructions.jsonl").write_text("no line\n")
        assert "1 line was not read" in a.fails(4, "export", ID, "--format", "md")


@test
def what_stands_between_the_turns_is_masked_and_clean():
    with Talk(AHR) as a:
        a.add([{"type": "text", "role": "assistant", "text": "word"}])
        for n, text in enumerate((*EVIL, f"use {SECRET} here")):
            note(a, ("instruction", 7, START + 1, text, n % 2 == 0), ("instruction", 7, START + 2, text, True),
                 ("snapshot", 8, START + 3, text))
            for form in READERS:
                turns, others = a.read(form, "--timestamps")
                assert [e[:4] for e in others["events"]] == [
                    (1, "instruction", 7, n % 2 == 0), (1, "instruction", 7, True), (1, "snapshot", 8, None)], (form, text)
                assert SECRET not in str(others), form
            lines = a.export("txt").decode().splitlines()
            assert lines[0] == "word" and SECRET not in str(lines), lines
            assert all(line.startswith(("[instruction 7 (", "[snapshot 8]", "  ", "[ahr: ")) for line in lines[1:]), lines
        assert "[REDACTED:" in a.export("md").decode().replace("\\", "")
        assert SECRET in a.export("txt", "--no-redact").decode()


# -- what is wrong with it --

@test
def damage_is_told_inside_and_by_the_exit_status():
    with Talk(AHR) as a:
        events = talks.made_up(8, 20)
        a.add([*events[:5], b'{"ts_ns":"1","type":"te\n', *events[5:], b"\0" * 300 + b"garbage\n"])
        for form in READERS:
            turns, others = a.read(form, status=4)
            assert len(turns) == sum(e["type"] != "usage" for e in events), form
            assert len(others["notices"]) == 2 and "line 6 of the events cannot be read" in others["notices"][0], form
        assert b"[ahr: line 6 of the events cannot be read]\n" in a.export("txt", status=4)
        done = a.run("export", ID, "--format", "jsonl")
        assert done.returncode == 4 and b"line 6 of its events cannot be read" in done.stderr, done.stderr
        talk_readers.transcript(done.stdout, ID)


@test
def events_that_are_missing_at_the_end_are_told():
    with Talk(AHR) as a:
        a.add(talks.made_up(9, 20), iterations=1)
        for form in READERS:
            _, others = a.read(form, status=4)
            assert others["notices"] == ["events are missing here"], (form, others)
        assert b"may have more" in a.run("export", ID, "--format", "jsonl").stderr
        a.add([*talks.made_up(9, 20), {"type": "exit", "status": "completed", "exit_code": 0}],
              sid=session_id("2026-05-29", "b"), iterations=1)
        assert a.read("json", which=session_id("2026-05-29", "b"))[1]["notices"] == []


@test
def secrets_are_masked_unless_they_are_asked_for():
    events = [{"type": "text", "role": "user", "text": f"use {SECRET} here"},
              {"type": "tool_call", "id": "c", "name": "Bash", "input": {"command": f"curl -H 'X: {SECRET}'"}},
              {"type": "tool_result", "id": "c", "text": f"{SECRET[:12]}\x1b[31m{SECRET[12:]}\n{SECRET}"},
              {"type": "other", "name": SECRET, "data": {"key": SECRET}},
              {"type": "session", "agent_session_id": "s", "model": "m", "cwd": f"/home/{SECRET}"}]
    with Talk(AHR) as a:
        a.add(events, name="n", cwd=f"/x/{SECRET}")
        for form in (*READERS, "txt", "jsonl"):
            data = a.export(form).decode()
            assert SECRET not in data and "REDACTED" in data, form
            if form != "jsonl":  # there texts are as they came, escapes and all
                assert SECRET[12:] not in data, form
            done = a.run("export", ID, "--format", form, "--no-redact")
            assert SECRET in done.stdout.decode(), form
            told = done.stderr if form == "jsonl" else done.stdout
            assert b"secrets are not masked in this document" in told, form


# -- hostile texts --

EVIL = ["<script>alert(1)</script>", "</pre></section><img src=x onerror=alert(1)>", "\"' onclick=x <!-- ]]>",
        "```\n# out\n```", "````\n~~~\n```js\n", "`" * 500, "=1+1", "  @SUM(A1)", "\t-cmd|' /C calc'!A0", "+x,\"y\"\n=z",
        "＝1", "[x](javascript:alert(1)) ![](http://127.0.0.1:9/)", "| a | b |\n|---|---|", "\u202egnp.exe\u2066",
        "\x1b]0;title\x07\x1b[2J\x1b[31mred", "a\rb\r\nc\x0bd\x0c\x85e\u2028f\u2029g", "\0\x01\x7f\x9b31m", "\ufeffbom",
        "{\"a\":1}\n{\"b\":2}", "&lt;b&gt; &amp;", "\u200b\u200d\u2060", "",
        "https://example.org/?a=1&b=2 www.example.org a@b.c"]


def evil_events():
    for n, text in enumerate(EVIL):
        yield {"type": "text", "role": "user", "id": text, "text": text}
        yield {"type": "text", "role": "assistant", "id": f"m{n}", "parent": text[:100], "text": text}
        yield {"type": "thinking", "text": text}
        yield {"type": "tool_call", "id": text or "c", "name": text, "input": {text: text, "list": [text, None, 1.5]}}
        yield {"type": "tool_call", "id": f"c{n}", "name": "odd", "input_text": text}
        yield {"type": "tool_call", "id": f"d{n}", "name": "odd", "input": [text]}
        yield {"type": "tool_result", "id": text, "name": text, "text": text, "is_error": bool(n % 2)}
        yield {"type": "other", "name": text, "data": {"x": text}}
        yield {"type": "session", "agent_session_id": text, "model": text, "cwd": text}
        yield {"type": "artifact", "change": "created", "path": text}
        for kind in ("error", "warning", "stderr"):
            yield {"type": kind, "text": text}
        yield {"type": "done", "subtype": text, "text": text, "is_error": True}
        yield {"type": "exit", "status": text, "signal": text, "exit_code": 1}
    for text in ("<" * 1_000_000, "`\n" * 20000):
        yield {"type": "text", "role": "assistant", "text": text}
        yield {"type": "tool_call", "id": "long", "name": "long", "input": {"x": text}}
        yield {"type": "tool_result", "id": "long", "text": text}
    for data in (b"\xff\xfe\x80<b>", hostile.recording(b"x")[:3000]):
        coded = __import__("base64").b64encode(data).decode()
        yield {"type": "tool_result", "id": "c", "text": coded, "encoding": "base64"}
        yield {"type": "tool_result", "name_base64": coded, "text": "x"}


@test
def hostile_texts_in_every_field_stay_texts():
    with Talk(AHR) as a:
        a.add(list(evil_events()), name="evil")
        meta = a.home.dir / "sessions" / ID / "session.meta.json"
        facts = json.loads(meta.read_text())
        meta.write_text(json.dumps({**facts, "name": None, "cmd": ["<script>", "```", "=1", "\u202e"]}))
        for more in ((), ("--timestamps", "--no-redact", "--turn", "1-300")):
            for form in READERS:
                a.read(form, *more)
            talk_readers.allowed.text(a.export("txt", *more), "\n\t")
        for more in ((), ("--no-redact",)):
            a.transcript(*more)


run()
