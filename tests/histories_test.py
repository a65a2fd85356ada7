#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_test.py -- `ahr import` of what agents keep of their sessions: what comes out, and how it goes on.

usage: histories_test.py AHR [--sanitized]; prints TAP. What goes wrong with files, disks and sessions is in
histories_broken_test.py.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import USAGE, claude, codex, dumps, entire, gemini, pack
from support.importer import Importer, tree
from support.tap import Skip, run, test

AHR = sys.argv[1]
FIXTURES = Path(__file__).resolve().parents[2] / "shared" / "fixtures" / "agents"


def fixture(name):
    path = FIXTURES / name
    if not path.exists():
        raise Skip("no ../shared/fixtures beside the project")
    return path


def kinds(events):
    """How often there is what; what people see of it."""
    count = {}
    for e in events:
        key = e["type"] + ("/" + e["role"] if e["type"] == "text" else "")
        count[key] = count.get(key, 0) + 1
    return count


def is_told(a, h, sid):
    """All of a made-up history is in that session, and its facts."""
    h.is_in(a.events(sid))
    row = a.shown(sid)
    assert (row["kind"], row["agent"], row["status"]) == ("import", h.agent, "completed"), row
    assert row["agent_session_id"] == h.sid and row["model"] == h.model, row
    assert {key: row["usage"][key] for key in USAGE} == h.usage, (row["usage"], h.usage)


# -- real ones --

@test
def a_real_transcript_of_claude_has_its_turns_pairs_usage_and_files():
    path = fixture("claude-transcript.jsonl")
    with Importer(AHR) as a:
        row = a.take(path)[path.resolve()]
        assert row["result"] == "new" and not row["places"], row
        assert row["id"] == "2026-11-15-5302b783-768e-471d-b6ed-91c06dd74f9c"
        events, count = a.events(row["id"]), kinds(a.events(row["id"]))
        assert count["text/user"] == 1 and count["text/assistant"] == 5, count
        calls = [e["id"] for e in events if e["type"] == "tool_call"]
        results = [e["id"] for e in events if e["type"] == "tool_result"]
        assert calls == results and len(calls) == 4, (calls, results)
        assert [e["name"] for e in events if e["type"] == "tool_call"] == ["Bash", "Read", "Edit", "Bash"]
        assert sum(e.get("is_error", False) for e in events if e["type"] == "tool_result") == 1
        assert [(e["path"], e["change"]) for e in events if e["type"] == "artifact"] == [("src/main.c", "modified")]
        usage = a.shown(row["id"])["usage"]
        assert usage == {"input_tokens": 7000, "output_tokens": 370, "cache_creation_input_tokens": 300,
                         "cache_read_input_tokens": 8000, "calls": 5}, usage


@test
def a_real_rollout_of_codex_has_its_turns_pairs_and_usage():
    path = fixture("codex-rollout.jsonl")
    with Importer(AHR) as a:
        row = a.take(path)[path.resolve()]
        assert row["id"] == "2026-11-15-01a1de26-2285-74e1-833b-68633f363660"
        events, count = a.events(row["id"]), kinds(a.events(row["id"]))
        assert count["text/user"] == 1 and count["text/assistant"] == 3, count
        results = [e for e in events if e["type"] == "tool_result"]
        assert [e["id"] for e in events if e["type"] == "tool_call"] == [e["id"] for e in results]
        assert [e.get("exit_code") for e in results] == [0, 2], results
        usage = a.shown(row["id"])["usage"]
        assert (usage["input_tokens"], usage["cache_read_input_tokens"], usage["output_tokens"]) == (3000, 300, 66)


@test
def the_run_of_a_stream_and_the_import_of_its_transcript_are_the_same_but_for_the_prompt():
    stream, path = fixture("claude-stream.ndjson"), fixture("claude-transcript.jsonl")
    with Importer(AHR) as a:
        a.ok("run", "-q", "--name", "streamed", "--", "cat", stream)
        sid = a.take(path)[path.resolve()]["id"]
        diff = json.loads(a.run("diff", "--json", "streamed", sid).stdout)
        assert diff["what"] == "turns" and diff["exact"], diff
        assert [(c["kind"], c["type"], c["role"]) for c in diff["changes"]] == [("insert", "text", "user")], diff
        assert diff["a"]["usage"] == diff["b"]["usage"] and diff["a"]["tool_calls"] == diff["b"]["tool_calls"]


# -- made-up ones --

@test
def made_up_histories_of_each_agent_are_told_as_they_were_made():
    with Importer(AHR) as a:
        for seed in range(4):
            made = [claude(a.claude, seed, turns=3, subs=seed), codex(a.codex, seed), gemini(a.gemini, seed),
                    entire(a.dir, seed + 100)]
            for h in made:
                h.write()
            done = a.take()
            for h in made:
                assert done[h.path]["result"] == "new", done[h.path]
                is_told(a, h, done[h.path]["id"])
        assert len(a.sessions()) == 16
        assert len(json.loads(a.ok("list", "--json"))) == 16


@test
def a_packed_rollout_is_the_same_session_as_before_it_was_packed():
    with Importer(AHR) as a:
        h = codex(a.codex, 1, turns=5).write()
        sid = a.take()[h.path]["id"]
        before = a.turns(sid)
        packed = pack(h.path)
        if not packed:
            raise Skip("no zstd")
        row = a.take()[packed]
        assert row["id"] == sid and a.turns(sid) == before, row
        assert a.take()[packed]["result"] == "unchanged"
        other = codex(a.codex, 2).write()
        packed = pack(other.path)
        is_told(a, other, a.take()[packed]["id"])
        assert len(a.sessions()) == 2


@test
def a_rollout_that_lies_there_packed_and_plain_is_one_session():
    with Importer(AHR) as a:
        h = codex(a.codex, 1).write()
        kept = h.path.read_bytes()
        packed = pack(h.path)
        if not packed:
            raise Skip("no zstd")
        h.path.write_bytes(kept)
        for results in (["new", "unchanged"], ["unchanged", "unchanged"]):
            done = a.take()
            assert sorted(row["result"] for row in done.values()) == results, done
        assert len(a.sessions()) == 1


@test
def what_a_sub_agent_says_stands_in_its_call_in_the_order_of_time():
    for link in ("meta", "result", "beside"):
        with Importer(AHR) as a:
            h = claude(a.claude, 7, turns=1, subs=3, link=link).write()
            done = a.take()
            assert list(done) == [h.path], done
            is_told(a, h, done[h.path]["id"])
            events = a.events(done[h.path]["id"])
            stamps = [int(e["ts_ns"]) for e in events]
            assert stamps == sorted(stamps)
            inner = [e for e in events if e.get("parent")]
            assert len({e["parent"] for e in inner}) == 3
            # They worked at the same time: their events come by turns.
            turns = [e["parent"] for e in inner]
            assert sum(x != y for x, y in zip(turns, turns[1:])) > 4, turns


# -- messages that come again --

def messages(a, sid):
    """Input and output tokens, and how many messages: as its facts tell it, and by the index."""
    usage = a.shown(sid)["usage"]
    a.ok("index", "--all")
    total = json.loads(a.ok("usage", "--json", sid))["total"]
    by_facts, by_index = ([x[key] for key in ("input_tokens", "output_tokens", "calls")] for x in (usage, total))
    assert by_facts == by_index, (by_facts, by_index)
    return tuple(by_facts)


def hundred(h):
    """So many answers; returns the steps that they are."""
    begin = len(h.steps)
    h.prompt("go on")
    for _ in range(100):
        h.answer({"type": "text", "text": h.words()})
    return h.steps[begin:]


def once_more(h, steps, path):
    """The same lines as the agent writes them when a session goes on: only their own ids are others."""
    leaf = None
    for _, line in steps:
        value = {**json.loads(line), "uuid": h.id(), "parentUuid": leaf, "timestamp": h.time()}
        h.add(path, value)
        leaf = value["uuid"]


@test
def messages_that_come_again_much_later_count_once():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=0)
        steps = hundred(h)
        once_more(h, steps, h.path)
        sid = a.take(h.write().path)[h.path]["id"]
        want = (h.usage["input_tokens"], h.usage["output_tokens"], 100)
        assert messages(a, sid) == want
        grown = len(h.steps)
        once_more(h, steps, h.path)  # … and also when the first were read by another program
        h.append(grown)
        assert a.take(h.path)[h.path]["result"] == "grown"
        assert messages(a, sid) == want


@test
def a_sub_agent_that_begins_with_the_messages_of_its_session_counts_them_once():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=0)
        steps = hundred(h)
        (side,) = h.sub_agents(1)
        own = [step for step in h.steps if step[0] == side["path"]]
        calls = len({json.loads(line)["message"].get("id") for _, line in h.steps if b'"role":"assistant"' in line})
        h.steps = [step for step in h.steps if step not in own]
        for step, line in steps:
            h.add(side["path"], {**json.loads(line), "uuid": h.id(), "timestamp": h.time(), "isSidechain": True,
                                 "agentId": side["agent"]})
        h.steps += own
        h.write()
        sid = a.take()[h.path]["id"]
        assert messages(a, sid) == (h.usage["input_tokens"], h.usage["output_tokens"], calls)


# -- which --

@test
def histories_are_found_where_agents_keep_them():
    with Importer(AHR) as a:
        places = {
            a.user / ".claude/projects/p": (claude, {}),
            a.user / ".config/claude/projects/p": (claude, {}),
            a.user / ".codex/sessions": (codex, {}),
            a.user / ".codex/archived_sessions": (codex, {}),
            a.user / ".gemini/tmp": (gemini, {}),
            a.dir / "x/claude/projects/p": (claude, {"CLAUDE_CONFIG_DIR": str(a.dir / "x/claude")}),
            a.dir / "x/codex/sessions": (codex, {"CODEX_HOME": str(a.dir / "x/codex")}),
            a.dir / "x/gemini/.gemini/tmp": (gemini, {"GEMINI_CLI_HOME": str(a.dir / "x/gemini")}),
        }
        made = {place: make(place, number).write() for number, (place, (make, _)) in enumerate(places.items())}
        kept = entire(a.dir / "work", 50).write()
        deep = a.dir / "work/src/deep"
        deep.mkdir(parents=True)
        plain = {str(h.path) for place, h in made.items() if place.is_relative_to(a.user)}
        assert {str(p) for p in a.take("--dry-run")} == plain
        for place, (_, env) in places.items():
            if not env:
                continue
            found = {str(p) for p in a.take("--dry-run", env=env)}
            gone = next(iter(env)).split("_")[0].lower()
            assert found == {p for p in plain if f"/.{gone}/" not in p and f"/{gone}/" not in p} | \
                {str(made[place].path)}, (place, found)
        done = subprocess.run([a.binary, "import", "--json", "--dry-run"], cwd=deep, env=a.env, capture_output=True,
                              check=True)
        assert str(kept.path) in [row["path"] for row in json.loads(done.stdout)]


@test
def an_agent_that_is_named_is_the_only_one():
    with Importer(AHR) as a:
        made = [claude(a.claude, 1).write(), codex(a.codex, 2).write(), gemini(a.gemini, 3).write(),
                entire(a.dir, 4).write()]
        words = ["claude", "codex", "gemini", "entire"]
        for h, word in zip(made, words):
            assert list(a.take("--dry-run", "--agent", word)) == [h.path]
        everything = a.take("--dry-run", a.user, "--agent", "codex")
        assert list(everything) == [made[1].path], everything
        assert "no history of Codex" in a.fails(1, "import", "--agent", "codex", made[0].path)
        assert a.sessions() == []


@test
def options_of_recordings_and_of_histories_do_not_go_together():
    with Importer(AHR) as a:
        h = claude(a.claude, 1).write()
        for more in (["--format", "cast"], ["--name", "x"], ["--out-file", "x.ahr"], ["--cols", "80"], ["--input"]):
            assert "one kind" in a.fails(2, "import", "--dry-run", *more, h.path)
        assert not a.home.exists()


@test
def what_has_not_changed_since_then_is_left_alone():
    with Importer(AHR) as a:
        old, new = claude(a.claude, 1).write(), claude(a.claude, 2).write()
        stamp = os.stat(new.path).st_mtime - 10 * 86400
        os.utime(old.path, (stamp, stamp))
        assert list(a.take("--since", "7d")) == [new.path]
        assert set(a.take("--since", "30d")) == {old.path, new.path}
        assert "yesterdayish" in a.fails(2, "import", "--since", "yesterdayish")


@test
def a_dry_run_says_what_would_be_and_changes_nothing():
    with Importer(AHR) as a:
        grows, same, more = claude(a.claude, 1), claude(a.claude, 2).write(), codex(a.codex, 3)
        grows.write(6)
        done = a.take("--dry-run")
        assert {row["result"] for row in done.values()} == {"new"}
        assert not a.home.exists()
        a.take()
        grows.append(6)
        more.write()
        before = tree(a.user)
        done = a.take("--dry-run")
        assert {p: row["result"] for p, row in done.items()} == {grows.path: "grown", same.path: "unchanged",
                                                                 more.path: "new"}
        assert tree(a.user) == before
        said = a.ok("import", "--dry-run").decode().splitlines()
        assert [line.split()[0] for line in said] == ["grown", "new"] and str(more.path) in said[1], said
        new = done[more.path]["id"]
        assert a.take()[more.path]["id"] == new
        with open(more.path, "ab") as file:
            file.write(b'{"type":"event_msg"')
        assert [a.take(*how)[more.path]["result"] for how in (("--dry-run",), ())] == ["unchanged"] * 2


@test
def paths_are_cleaned_where_they_are_shown():
    with Importer(AHR) as a:
        h = claude(a.dir / "with\x1b[31m\nstrange", 1).write()
        said = a.ok("import", "--dry-run", h.path)
        assert b"\x1b" not in said and said.count(b"\n") == 1, said
        assert list(a.take(h.path)) == [h.path]


# -- once more --

@test
def importing_twice_changes_nothing():
    with Importer(AHR) as a:
        made = [claude(a.claude, 1, subs=2), claude(a.claude, 2, subs=2, link="result"), codex(a.codex, 3),
                gemini(a.gemini, 4), entire(a.dir, 5)]
        for h in made:
            h.write()
        (a.claude / "empty.jsonl").touch()
        (a.claude / "other.jsonl").write_text('{"hello":1}\n')
        (a.claude / "said-nothing.jsonl").write_text('{"type":"summary","summary":"x","leafUuid":"y"}\n')
        originals = tree(a.dir)
        a.take()
        after = tree(a.dir)
        assert {k: v for k, v in after.items() if "share" not in k and k != "home/.local"} == originals
        for _ in range(2):
            done = a.take()
            assert {row["result"] for row in done.values()} == {"unchanged", "skipped"}, done
            assert sum(row["result"] == "skipped" for row in done.values()) == 2
            now = tree(a.dir)
            assert {k: v for k, v in now.items()} == after, sorted(set(now.items()) ^ set(after.items()))
        assert "5 unchanged, 2 skipped" in a.run("import").stderr.decode()


@test
def a_history_that_grows_step_by_step_is_the_one_that_was_taken_in_one_go():
    for seed in range(3):
        with Importer(AHR) as a, Importer(AHR) as once:
            made = [(claude(a.claude, seed, turns=3, subs=2), claude(once.claude, seed, turns=3, subs=2)),
                    (codex(a.codex, seed), codex(once.codex, seed))]
            steps, sids = [0, 0], [None, None]
            rng = made[0][0].rng
            while any(at < len(h.steps) for at, (h, _) in zip(steps, made)):
                for i, (h, _) in enumerate(made):
                    upto = min(len(h.steps), steps[i] + rng.randint(1, 5))
                    h.append(steps[i], upto)
                    steps[i] = upto
                a.take()
            for h, whole in made:
                whole.write()
                row = once.take()[whole.path]
                assert a.turns(row["id"]) == once.turns(row["id"])
                is_told(a, h, row["id"])
                mine, theirs = a.shown(row["id"]), once.shown(row["id"])
                assert {k for k in mine if mine[k] != theirs[k]} <= {"path", "size_bytes"}, (mine, theirs)


@test
def a_stream_that_was_kept_counts_once_however_it_grows():
    def turn(total):
        return {"type": "turn.completed", "usage": {"input_tokens": total, "cached_input_tokens": 0, "output_tokens": 7}}
    with Importer(AHR) as a:
        path = a.dir / "kept.ndjson"
        said = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "done"}}
        lines = [{"type": "thread.started", "thread_id": "01a1de26-2285-74e1-833b-68633f363660"}, said, turn(100),
                 turn(150), turn(220)]
        for upto in range(3, len(lines) + 1):
            path.write_text("".join(dumps(line) + "\n" for line in lines[:upto]))
            sid = a.take(path)[path.resolve()]["id"]
        usage = a.shown(sid)["usage"]
        assert (usage["input_tokens"], usage["output_tokens"]) == (220, 7), usage


# Writes its input byte by byte; so many for each number it is told.
WRITER = """
import sys
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "ab", buffering=0) as file:
    for line in sys.stdin:
        for _ in range(int(line)):
            file.write(data[:1])
            data = data[1:]
        print(len(data), flush=True)
"""


@test
def half_a_line_is_never_taken_while_the_agent_writes():
    with Importer(AHR) as a, Importer(AHR) as once:
        h, whole = claude(a.claude, 3, turns=2), claude(once.claude, 3, turns=2).write()
        sid = once.take()[whole.path]["id"]
        want = once.turns(sid)
        h.path.parent.mkdir(parents=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(whole.path), str(h.path)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        left = 1
        while left:
            writer.stdin.write(f"{h.rng.randint(1, 700)}\n")  # while this is written …
            done = a.take()                                   # … that is read
            left = int(writer.stdout.readline())
            assert all(not row["places"] for row in done.values()), done
            if sid in a.sessions():
                got = a.turns(sid)
                assert want.startswith(got) and (not got or got.endswith(b"\n")), left
        writer.stdin.close()
        assert writer.wait() == 0
        assert a.take()[h.path]["unfinished_bytes"] == 0
        assert a.turns(sid) == want
        writer.stdout.close()


@test
def a_line_that_is_whole_is_taken_before_its_newline_comes():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write()
        data = h.path.read_bytes()
        h.path.write_bytes(data[:-1])
        row = a.take()[h.path]
        assert row["unfinished_bytes"] == 0
        before = a.turns(row["id"])
        h.path.write_bytes(data)
        assert a.take()[h.path]["result"] == "unchanged"
        assert a.turns(row["id"]) == before
        h.path.write_bytes(data + data.splitlines()[-1][:40])
        row = a.take()[h.path]
        assert row["unfinished_bytes"] == 40 and not row["places"] and row["events"] == 0, row


# -- moved, doubled --

@test
def a_project_that_was_moved_keeps_its_sessions():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=2, subs=2)
        upto = len(h.steps) - 3
        h.write(upto)
        sid = a.take()[h.path]["id"]
        moved = a.claude.with_name("-elsewhere")
        a.claude.rename(moved)
        h.steps = [(moved / path.relative_to(a.claude), line) for path, line in h.steps]
        done = a.take()
        assert [(row["id"], row["result"]) for row in done.values()] == [(sid, "unchanged")], done
        h.append(upto)
        assert a.take()[moved / h.path.name]["result"] == "grown"
        is_told(a, h, sid)


@test
def copies_are_the_same_session_and_the_longer_one_is_taken():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=4)
        h.write(8)
        copy = a.dir / ".entire/metadata" / h.sid / "full.jsonl"
        copy.parent.mkdir(parents=True)
        shutil.copy(h.path, copy)
        sid = {row["id"] for row in a.take().values()}
        assert len(sid) == 1
        h.append(8, 12)
        for _ in range(2):
            assert {row["id"] for row in a.take().values()} == sid
        assert {row["result"] for row in a.take().values()} == {"unchanged"}
        shutil.copy(h.path, copy)
        h.append(12)
        done = a.take()
        assert sorted(row["result"] for row in done.values()) == ["grown", "unchanged"], done
        is_told(a, h, sid.pop())
        assert len(a.sessions()) == 1


@test
def sessions_of_two_projects_that_are_called_alike_are_two():
    with Importer(AHR) as a:
        one, two = claude(a.claude, 1, name="same"), claude(a.claude.with_name("-other"), 2, name="same")
        two.steps = [(path, line.replace(two.sid.encode(), one.sid.encode())) for path, line in two.steps]
        one.write(6), two.write(6)
        done = a.take()
        ids = {h.path: done[h.path]["id"] for h in (one, two)}
        assert len(set(ids.values())) == 2
        for h in (two, one):
            h.append(6)
            done = a.take()
            assert {p: row["id"] for p, row in done.items()} == ids
        two.sid = one.sid
        for h in (one, two):
            is_told(a, h, ids[h.path])
        # The first is deleted, and the second is not made once more.
        a.ok("delete", "--yes", ids[one.path])
        done = a.take(two.path)
        assert done[two.path]["id"] == ids[two.path] and done[two.path]["result"] == "unchanged", done
        assert a.take(one.path)[one.path]["result"] == "new"
        assert len(a.sessions()) == 2


@test
def another_file_of_its_name_takes_no_session_whose_own_file_is_gone():
    for were_both_there in (False, True):
        with Importer(AHR) as a:
            one, two = claude(a.claude, 1, name="same"), claude(a.claude.with_name("-other"), 2, turns=6, name="same")
            two.steps = [(path, line.replace(two.sid.encode(), one.sid.encode())) for path, line in two.steps]
            one.write()
            if were_both_there:
                two.write()
            first = a.take()
            ids = {h: first[h.path]["id"] for h in (one, two) if h.path in first}
            one.path.unlink()
            two.write()
            row = a.take()[two.path]
            assert row["id"] != ids[one] and row["result"] == ("unchanged" if were_both_there else "new"), row
            one.is_in(a.events(ids[one])), two.is_in(a.events(row["id"]))
            assert len(a.sessions()) == 2 and ids.get(two, row["id"]) == row["id"]


@test
def a_copy_of_before_is_no_other_session_when_the_longer_one_is_gone():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=6).write()
        sid = a.take()[h.path]["id"]
        before, lines = a.turns(sid), h.path.read_bytes().splitlines(keepends=True)
        assert sum(map(len, lines[:12])) > 4096
        h.path.unlink()
        copies = [a.dir / "backup" / h.path.name, a.dir / ".entire/metadata" / f"2025-06-01-{h.sid}" / "full.jsonl"]
        for path in copies:
            path.parent.mkdir(parents=True)
            path.write_bytes(b"".join(lines[:12]))
        for _ in range(2):
            done = a.take(*copies)
            assert [(r["id"], r["result"]) for r in done.values()] == [(sid, "skipped")] * 2, done
        h.write()
        assert a.take()[h.path]["result"] == "unchanged"
        assert a.turns(sid) == before and a.sessions() == [sid]


@test
def what_an_agent_keeps_goes_before_what_entire_has_of_it():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=2)
        copy = a.dir / ".entire/metadata" / f"2025-06-01-{h.sid}" / "full.jsonl"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(b"".join(line.replace(b"saying-1 ", b"MASKED ") for _, line in h.steps))
        row = a.take()[copy]
        # Entire calls the folder so: the agent knows it by what stands in the lines.
        assert row["agent_session_id"] == a.shown(row["id"])["agent_session_id"] == h.sid, row
        h.write()
        done = a.take()
        assert {r["id"] for r in done.values()} == {row["id"]} and done[h.path]["result"] == "replaced", done
        is_told(a, h, row["id"])
        done = a.take()
        assert done[h.path]["result"] == "unchanged" and done[copy]["result"] == "skipped", done
        # Two of Entire's that went on otherwise are two.
        away = a.dir / "clone/.entire/metadata" / copy.parent.name / "full.jsonl"
        away.parent.mkdir(parents=True)
        away.write_bytes(copy.read_bytes().replace(b"MASKED ", b"otherwise "))
        again = {"AHR_HOME": str(a.dir / "again")}
        two = {path: a.take(path, env=again)[path] for path in (copy, away)}
        assert [r["result"] for r in two.values()] == ["new", "new"], two


@test
def a_sub_agent_whose_session_is_gone_is_a_session_of_its_own():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=1, subs=1).write()
        sid = a.take()[h.path]["id"]
        before = a.turns(sid)
        h.path.unlink()
        done = a.take()
        assert len(done) == 1 and sid not in [row["id"] for row in done.values()], done
        assert a.turns(sid) == before
        alone = next(iter(done.values()))["id"]
        row, events = a.shown(alone), a.events(alone)
        assert (row["cwd"], row["model"]) == (h.cwd, h.model), row
        assert row["task"] == " ".join(next(text for role, text, parent in h.texts if parent and role == "user").split())
        assert row["agent_session_id"].startswith("agent-"), row
        assert not [e for e in events if "parent" in e], events
        assert all(not e["path"].startswith("/") for e in events if e["type"] == "artifact"), events


@test
def files_of_sub_agents_that_come_later_or_go_for_a_while_are_taken_once():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=1, subs=2)
        h.write()
        sides = [path for path in h.paths if path != h.path]
        away = sides[0].with_suffix(".away")
        sides[0].rename(away)
        sid = a.take()[h.path]["id"]
        away.rename(sides[0])
        assert a.take()[h.path]["result"] == "grown"
        h.is_in(a.events(sid))
        sides[1].rename(away)
        os.utime(h.path)
        assert a.take()[h.path]["result"] == "unchanged"
        with open(h.path, "ab") as file:
            file.write(dumps({"type": "system", "subtype": "x", "uuid": "u", "sessionId": h.sid}).encode() + b"\n")
        assert a.take()[h.path]["events"] == 1
        away.rename(sides[1])
        assert a.take()[h.path]["result"] == "unchanged"
        h.is_in(a.events(sid))


# -- with everything else --

@test
def all_commands_take_imported_sessions():
    with Importer(AHR) as a:
        made = [claude(a.claude, 1, subs=1).write(), codex(a.codex, 2).write(), gemini(a.gemini, 3).write()]
        done = a.take()
        a.ok("index", "--all")
        for h in made:
            sid = done[h.path]["id"]
            row = next(r for r in json.loads(a.ok("list", "--json")) if r["id"] == sid)
            assert row["kind"] == "import" and row["indexed"] and not row["damaged"] and row["cols"] is None, row
            assert row["turns"] and row == a.shown(sid)
            word = h.texts[-1][1].split()[0] + " "
            hits = json.loads(a.ok("search", "--json", "--limit", "0", word))
            assert sid in [hit["session"] for hit in hits], (word, hits)
            for form in ("jsonl", "md", "html", "json"):
                out = a.ok("export", "--format", form, sid).decode()
                assert h.texts[-1][1].split()[0] in out, (form, out[:500])
            assert a.verify(sid)["damaged"] == []
            diff = json.loads(a.ok("diff", "--json", sid, sid))
            assert diff["same"], diff
        assert a.run("doctor").returncode == 0
        assert b"import.state" not in a.run("doctor").stdout


@test
def secrets_are_masked_wherever_they_go():
    with Importer(AHR) as a:
        secret = "ghp_" + "".join(a_char for a_char in "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
        h = claude(a.claude, 1, turns=0)
        h.prompt("x " * 40 + "the token is " + secret)
        h.turn()
        h.write()
        sid = a.take()[h.path]["id"]
        for path in a.folder(sid).iterdir():
            assert secret.encode() not in path.read_bytes(), path
        assert "the token is" in a.shown(sid)["task"]


@test
def commands_of_the_agents_own_are_no_task():
    with Importer(AHR) as a:
        said = ["<command-name>/clear</command-name>\n<command-message>clear</command-message>",
                "<local-command-stdout></local-command-stdout>", "<bash-input>ls</bash-input>"]
        h = claude(a.claude, 1, turns=0)
        for text in said:
            h.prompt(text)
        h.write()
        sid = a.take()[h.path]["id"]
        assert not a.shown(sid)["task"], a.shown(sid)
        upto = len(h.steps)
        h.prompt("and now for <b>this</b>")
        h.turn()
        h.append(upto)
        a.take()
        assert a.shown(sid)["task"] == "and now for <b>this</b>", a.shown(sid)
        h.is_in(a.events(sid))


@test
def an_export_to_json_is_what_two_imports_agree_on():
    """The state is of no use any more: the session is made anew, and is the same."""
    with Importer(AHR) as a:
        h = claude(a.claude, 5, subs=1).write()
        sid = a.take()[h.path]["id"]
        before = a.turns(sid)
        (a.folder(sid) / "import.state").unlink()
        assert a.take()[h.path]["result"] == "replaced"
        assert a.turns(sid) == before
        (a.folder(sid) / "import.state").write_bytes(b"\0" * 100)
        assert a.take()[h.path]["result"] == "replaced"
        assert a.turns(sid) == before
        assert a.take()[h.path]["result"] == "unchanged"


if __name__ == "__main__":
    run()
