#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_broken_test.py -- `ahr import` of histories that are damaged, rewritten or huge, into sessions that
somebody has changed, beside another import, and onto a full disk.

usage: histories_broken_test.py AHR [--sanitized]; prints TAP.
"""

import base64
import fcntl
import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import claude, codex, dumps, gemini, pack
from support.importer import Importer, peak, tree
from support.mounts import mounted, own_mounts
from support.processes import wait_for
from support.tap import Skip, run, test

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
MIB = 1 << 20
RSS_MAX = 64 * MIB
KEY = "0123456789abcdef" * 4


def spoil(h, at, line):
    """Puts bytes before the line at that place of the session's own file; returns where they are."""
    lines = h.path.read_bytes().splitlines(keepends=True)
    lines.insert(at, line)
    h.path.write_bytes(b"".join(lines))
    return at + 1, sum(len(x) for x in lines[:at])


def places(row):
    return [(p["what"], p["line"], p["offset"]) for p in row["places"]]


# -- damaged lines --

BAD = {
    "no json": b"this is no JSON\n",
    "half an object": b'{"type":"user","uuid":"half","message":{"role":"us\n',
    "NULs": b"\0" * 4096 + b"\n",
    "invalid UTF-8 that is no JSON": b"\xff\xfe\xfa\n",
    "100,000 brackets": b"[" * 100_000 + b"\n",
    "100,000 objects in each other": b'{"a":' * 100_000 + b"\n",
}


@test
def damaged_lines_are_told_with_their_places_and_their_neighbours_stay():
    with Importer(AHR) as a:
        for number, (what, line) in enumerate(BAD.items()):
            for make in (claude, codex):
                h = make(a.dir / f"{number}", number).write()
                want = [spoil(h, 3, line), spoil(h, 8, line)]
                row = a.take(h.path, status=4)[h.path]
                kind = "nuls" if what == "NULs" else "malformed"
                assert row[kind] == 2, (what, row)
                assert places(row) == [(kind, *at) for at in want], (what, row)
                h.is_in(a.events(row["id"]))
                warnings = [e for e in a.events(row["id"]) if e["type"] == "warning"]
                assert len(warnings) == (0 if kind == "nuls" else 2), what
                done = a.run("import", h.path)
                assert done.returncode == 0, "what was told is not told again"


@test
def damage_is_told_to_people_with_its_line():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=6).write()
        for at in range(2, 20, 2):
            spoil(h, at, b"{oops\n")
        said = a.fails(4, "import")
        assert said.count("malformed JSON") == 5 and "line 3 (byte " in said, said
        assert "9 places in all" in said, said


@test
def odd_lines_cost_nothing():
    """Two objects on a line, CRLF, a BOM, U+2028, an empty line, NULs before a line, invalid UTF-8 in a text."""
    with Importer(AHR) as a:
        def joined(data):
            lines = data.split(b"\n")
            return b"\n".join(lines[:4]) + b"\n" + lines[4] + lines[5] + b"\n" + b"\n".join(lines[6:])
        ways = {
            "two on a line": joined,
            "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
            "BOM": lambda data: b"\xef\xbb\xbf" + data,
            "empty lines": lambda data: data.replace(b"\n", b"\n\n \n"),
        }
        for number, (what, way) in enumerate(ways.items()):
            h = claude(a.dir / f"{number}", number).write()
            h.path.write_bytes(way(h.path.read_bytes()))
            row = a.take(h.path)[h.path]
            assert not row["places"], (what, row)
            h.is_in(a.events(row["id"]))


@test
def texts_may_hold_anything():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=1)
        for text in ("with \u2028 and \u2029", "a NUL \0 here", "\x1b[31m red \x07", "\ud83e\udd8a".encode(
                "utf-16", "surrogatepass").decode("utf-16")):
            h.prompt(text)
        h.write()
        sid = a.take()[h.path]["id"]
        h.is_in(a.events(sid))
        # Bytes that are no UTF-8, in a line that is good but for them.
        value = {**json.loads(h.steps[-1][1]), "parentUuid": h.leaf, "uuid": "one-more"}
        line = dumps(value).encode().replace(b"\xf0\x9f\xa6\x8a", b"\xff\xfe") + b"\n"
        assert b"\xff" in line
        with open(h.path, "ab") as file:
            file.write(line)
        row = a.take()[h.path]
        told = a.events(sid)[-1]
        assert row["events"] == 1 and told["encoding"] == "base64", told  # each byte as it was
        assert base64.b64decode(told["text"]) == b"\xff\xfe", told


def with_huge_count(h, huge):
    """The last message tells so many tokens; it is not among those that count."""
    lines = [json.loads(line) for line in h.path.read_bytes().splitlines()]
    usage = lines[-1]["message"]["usage"]
    h.usage["input_tokens"] -= usage["input_tokens"]
    usage["input_tokens"] = huge
    h.path.write_text("".join(dumps(line) + "\n" for line in lines))


@test
def a_count_that_no_model_can_reach_costs_itself_and_not_the_session():
    for number, huge in enumerate((1 << 53, 1 << 63, (1 << 64) - 2, 1 << 80)):
        with Importer(AHR) as a:
            h = claude(a.claude, number).write()
            with_huge_count(h, huge)
            sid = a.take()[h.path]["id"]
            usage = a.shown(sid)["usage"]
            assert {key: usage[key] for key in h.usage} == h.usage, (huge, usage)
            assert a.take()[h.path]["result"] == "unchanged"


@test
def a_session_whose_facts_have_a_number_too_large_goes_on():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        half = len(h.steps) - 4
        sid = a.take(h.write(half).path)[h.path]["id"]
        meta = a.folder(sid) / "session.meta.json"
        facts = json.loads(meta.read_bytes())
        facts["usage"]["input_tokens"] = facts["totalBytes"] = 1 << 63
        meta.write_text(dumps(facts))
        assert a.shown(sid)["usage"]["input_tokens"] is None
        h.append(half)
        assert a.take(h.path)[h.path]["result"] == "grown"
        usage = a.shown(sid)["usage"]
        assert {key: usage[key] for key in h.usage} == h.usage, usage


@test
def missing_parents_several_roots_cycles_and_repeated_lines_are_told_and_cost_nothing():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=4)
        said = [i for i, (_, line) in enumerate(h.steps) if b'"parentUuid"' in line]
        def edit(at, **more):
            value = json.loads(h.steps[at][1])
            value.update(more)
            h.steps[at] = (h.path, dumps(value).encode() + b"\n")
            return value["uuid"]
        edit(said[5], parentUuid="00000000-0000-4000-8000-000000000000")
        edit(said[7], parentUuid=None)
        own = json.loads(h.steps[said[9]][1])["uuid"]
        edit(said[9], parentUuid=own)
        h.steps.insert(said[11] + 1, h.steps[said[11]])
        h.write()
        row = a.take()[h.path]
        counts = {key: row[key] for key in ("roots", "cycles", "repeated", "malformed")}
        assert counts == {"roots": 1, "cycles": 1, "repeated": 1, "malformed": 0} and row["orphans"], row
        lines = {p["what"]: p["line"] for p in reversed(row["places"])}
        assert lines == {"orphans": said[5] + 1, "roots": said[7] + 1, "cycles": said[9] + 1,
                         "repeated": said[11] + 2}, lines
        h.is_in(a.events(row["id"]))


@test
def a_torn_rollout_that_is_packed_is_taken_as_far_as_it_goes():
    with Importer(AHR) as a:
        h = codex(a.codex, 1, turns=400).write()
        packed = pack(h.path)
        if not packed:
            raise Skip("no zstd")
        whole = packed.read_bytes()
        packed.write_bytes(whole[:len(whole) // 2])
        row = a.take(status=4)[packed]
        assert row["cut"] == 1 and row["events"] > 10, row
        assert [p["what"] for p in row["places"]] == ["cut"], row
        assert a.take()[packed]["result"] == "unchanged"
        packed.write_bytes(whole)
        assert a.take()[packed]["result"] == "replaced"
        h.is_in(a.events(row["id"]))
        packed.write_bytes(b"\x28\xb5\x2f\xfd" + os.urandom(5000))
        a.take(status=4 if a.run("import").returncode == 4 else 0)
        h.is_in(a.events(row["id"]))


# -- memory --

def is_bounded(what, used):
    if not IS_SANITIZED:
        assert used <= RSS_MAX, f"{what}: {used / MIB:.1f} MiB"


@test
def a_line_of_10_mb_is_taken_in_bounded_memory():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=2)
        text = "0123456789 abcdef\n" * (10 * MIB // 18)
        h.answer({"type": "tool_use", "id": "toolu_long", "name": "Bash", "input": {"command": "cat"}})
        h.calls["toolu_long"] = ("Bash", None)
        h.result("toolu_long", text)
        h.turn()
        h.write()
        used, said = peak(a, "import", "--json")
        events = a.events(json.loads(said)[0]["id"])
        h.is_in(events)
        assert [len(e["text"]) for e in events if e.get("id") == "toolu_long" and "text" in e] == [len(text)]
        is_bounded("a line of 10 MB", used)


@test
def a_line_of_70_mb_is_told_and_passed_over():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=2).write()
        where = spoil(h, 4, b'{"type":"user","uuid":"x","message":{"content":"' + b"x" * (70 * MIB) + b'"}}\n')
        row = a.take(status=4)[h.path]
        assert row["too_long"] == 1 and places(row) == [("too_long", *where)], row
        h.is_in(a.events(row["id"]))


@test
def a_history_of_50_mb_is_taken_in_bounded_memory():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=30)
        block = b"".join(line for _, line in h.steps[1:])
        h.path.parent.mkdir(parents=True)
        size = 0
        with open(h.path, "wb") as file:
            for number in range(10_000):
                size += file.write(block.replace(h.sid[:8].encode(), b"%08d" % number).replace(
                    b'uuid":"', b'uuid":"%d-' % number).replace(b'Uuid":"', b'Uuid":"%d-' % number).replace(
                    b'"toolu_', b'"toolu_%d-' % number).replace(b'"msg_', b'"msg_%d-' % number))
                if size > 50 * MIB:
                    break
        used, said = peak(a, "import", "--json")
        is_bounded("50 MB", used)
        row = json.loads(said)[0]
        assert row["events"] > 100_000 and row["bytes"] == size, row
        used, said = peak(a, "import", "--json")
        assert json.loads(said)[0]["result"] == "unchanged"
        is_bounded("50 MB unchanged", used)


# -- files that change otherwise --

@test
def a_file_that_has_shrunk_leaves_what_was_imported():
    for make in (claude, codex):
        with Importer(AHR) as a:
            h = make(a.dir / "h", 1, turns=5).write()
            sid = a.take(h.path)[h.path]["id"]
            before = a.turns(sid)
            for upto in (9, 3, 0):
                h.path.unlink()
                h.append(0, upto)
                h.path.touch()
                done = a.run("import", "--json", h.path)
                assert done.returncode in (0, 4), done  # 4: it is empty
                assert a.turns(sid) == before, upto
            h.write()
            a.take(h.path)
            assert a.turns(sid) == before
            h.path.unlink()
            assert h.path.name in a.fails(3, "import", h.path)


@test
def a_file_that_was_written_anew_with_more_is_read_anew():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(len(h.steps) - 4)
        sid = a.take()[h.path]["id"]
        a.ok("rename", sid, "kept-name")
        h.steps[0] = (h.path, b'{"type":"custom-title","customTitle":"a new head","sessionId":"x"}\n')
        h.write()
        row = a.take()[h.path]
        assert (row["id"], row["result"]) == (sid, "replaced"), row
        h.is_in(a.events(sid))
        assert a.shown(sid)["name"] == "kept-name" and a.shown(sid)["task"] == "a new head"
        assert a.sessions() == [sid] and not list((a.home / "live").iterdir())


@test
def a_chat_of_gemini_is_written_anew_each_time_and_grows():
    with Importer(AHR) as a:
        h = gemini(a.gemini, 1, turns=4)
        h.write(3)
        sid = a.take()[h.path]["id"]
        h.write()
        row = a.take()[h.path]
        assert (row["id"], row["result"]) == (sid, "replaced"), row
        h.is_in(a.events(sid))
        text = h.path.read_bytes()
        h.path.write_bytes(text[:len(text) // 2])  # it is being written just now
        a.run("import")
        h.is_in(a.events(sid))


@test
def originals_stay_as_they_are():
    with Importer(AHR) as a:
        made = [claude(a.claude, 1, subs=1), codex(a.codex, 2), gemini(a.gemini, 3)]
        for h in made:
            h.write()
        os.chmod(made[0].path, 0o444)
        os.chmod(a.codex, 0o555)
        roots = (a.user / ".claude", a.user / ".codex", a.user / ".gemini")
        before = [tree(root) for root in roots]
        for h in made[:2]:
            a.take()
            with open(h.path, "ab") if os.access(h.path, os.W_OK) and not os.geteuid() else open(os.devnull, "ab"):
                pass
        a.take()
        assert [tree(root) for root in roots] == before


@test
def no_link_is_followed_and_what_is_no_file_is_passed_over():
    with Importer(AHR) as a:
        h = claude(a.dir / "elsewhere", 1).write()
        a.claude.mkdir(parents=True)
        (a.claude / "link.jsonl").symlink_to(h.path)
        (a.claude / "folder").symlink_to(h.path.parent)
        os.mkfifo(a.claude / "pipe.jsonl")
        (a.claude / "folder.jsonl").mkdir()
        assert a.take() == {}
        # The place itself may be one, and then it is the same whatever way leads there.
        (a.user / ".config").mkdir()
        (a.user / ".config/claude").symlink_to(a.dir / "conf")
        other = claude(a.dir / "conf/projects/p", 2).write()
        assert list(a.take()) == [other.path]
        assert a.take(a.user / ".config/claude/projects/p" / other.path.name)[other.path]["result"] == "unchanged"


# -- sessions that were changed meanwhile --

@test
def a_session_that_was_renamed_keeps_its_name():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(8)
        sid = a.take()[h.path]["id"]
        a.ok("rename", sid, "my-name")
        h.append(8)
        assert a.take()[h.path]["result"] == "grown"
        assert a.shown(sid)["name"] == "my-name"
        h.is_in(a.events(sid))


@test
def a_session_that_was_redacted_goes_on_and_nothing_comes_back():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        word = "saying-1"
        upto = len(h.steps) - 5
        h.write(upto)
        sid = a.take()[h.path]["id"]
        a.ok("redact", sid, "--text-file", "-", input=word.encode() + b" \n")
        assert word.encode() + b" " not in a.turns(sid)
        h.append(upto)
        assert a.take()[h.path]["result"] == "grown"
        for path in a.folder(sid).iterdir():
            assert word.encode() + b" " not in path.read_bytes(), path
        before = a.turns(sid)
        once = a.take(env={"AHR_HOME": str(a.dir / "once")})[h.path]
        assert once["events"] == before.count(b"\n")
        h.steps[0] = (h.path, b'{"type":"summary","summary":"a new head","leafUuid":"x"}\n')
        h.write()
        row = a.take()[h.path]
        assert row["result"] == "skipped" and "redact" in row["why"], row
        assert a.turns(sid) == before


@test
def what_was_masked_in_the_place_of_a_history_stays_so():
    with Importer(AHR) as a:
        h = claude(a.dir / "some-customer", 1)
        upto = len(h.steps) - 5
        h.write(upto)
        sid = a.take(h.path)[h.path]["id"]
        holds = lambda: [p.name for p in a.folder(sid).iterdir() if b"some-customer" in p.read_bytes()]
        assert holds()
        a.ok("redact", sid, "--text-file", "-", input=b"some-customer\n")
        for result in ("grown", "unchanged"):
            assert holds() == []
            h.append(upto)
            upto = None if upto is None else len(h.steps)
            assert a.take(h.path)[h.path]["result"] == result
        assert holds() == []
        h.is_in(a.events(sid))


@test
def a_session_without_its_state_goes_on_though_it_is_told_in_fewer_events():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(8)
        sid = a.take()[h.path]["id"]
        turns = a.folder(sid) / "session.turns.jsonl"
        lines = turns.read_bytes().splitlines(keepends=True)
        turns.write_bytes(b"".join(lines[:2] + lines[1:2] * 300 + lines[2:]))  # as an ahr of before had told it
        (a.folder(sid) / "import.state").unlink()
        # What was written anew, and has less, takes nothing away.
        whole = h.path.read_bytes()
        h.path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]))
        row = a.take()[h.path]
        assert row["result"] == "skipped" and "less" in row["why"], row
        h.path.write_bytes(whole)
        h.append(8)
        assert a.take()[h.path]["result"] == "replaced"
        h.is_in(a.events(sid))


@test
def a_session_that_was_archived_waits_until_it_is_unpacked():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(8)
        sid = a.take()[h.path]["id"]
        a.ok("index", "--all")
        a.ok("archive", sid)
        assert not (a.folder(sid) / "session.turns.jsonl").exists()
        assert a.take()[h.path]["result"] == "unchanged"
        h.append(8)
        row = a.take()[h.path]
        assert row["result"] == "skipped" and "archive" in row["why"], row
        a.ok("archive", "--undo", sid)
        assert a.take()[h.path]["result"] == "grown"
        h.is_in(a.events(sid))


@test
def a_session_that_was_encrypted_is_left_alone():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(8)
        sid = a.take()[h.path]["id"]
        key = a.dir / "key"
        key.write_bytes(bytes(range(32)))
        a.ok("encrypt", sid, "--key-file", key)
        before = tree(a.folder(sid))
        h.append(8)
        row = a.take()[h.path]
        assert row["result"] == "skipped" and "encrypted" in row["why"], row
        assert tree(a.folder(sid)) == before and a.sessions() == [sid]
        a.ok("decrypt", sid, "--key-file", key)
        assert a.take()[h.path]["result"] == "grown"
        h.is_in(a.events(sid))


@test
def a_session_that_was_deleted_is_made_again():
    with Importer(AHR) as a:
        h = claude(a.claude, 1).write()
        sid = a.take()[h.path]["id"]
        a.ok("delete", "--yes", sid)
        row = a.take()[h.path]
        assert (row["id"], row["result"]) == (sid, "new")
        h.is_in(a.events(sid))


@test
def a_session_that_lost_lines_is_told_and_not_made_worse():
    with Importer(AHR) as a:
        h = claude(a.claude, 1)
        h.write(8)
        sid = a.take()[h.path]["id"]
        turns = a.folder(sid) / "session.turns.jsonl"
        turns.write_bytes(b"".join(turns.read_bytes().splitlines(keepends=True)[:3]))
        left = turns.read_bytes()
        for grown in (False, True):
            if grown:
                h.append(8)
            said = a.fails(1, "import")
            assert "has lost some" in said and sid in said, said
            assert turns.read_bytes() == left
        turns.unlink()
        assert "has lost some" in a.fails(1, "import") and not turns.exists()
        a.ok("delete", "--yes", sid)
        a.take()
        h.is_in(a.events(sid))


@test
def what_was_recorded_here_is_never_taken_for_an_import():
    """The folder that a session of the library has left for Entire is that session, and skipped."""
    with Importer(AHR) as a:
        a.ok("run", "-q", "--name", "own", "--", "true")
        sid = a.sessions()[0]
        before = tree(a.folder(sid))
        h = claude(a.dir, 1)
        path = a.dir / ".entire/metadata" / sid / "full.jsonl"
        h.steps = [(path, line) for _, line in h.steps]
        h.write()
        row = a.take()[path]
        assert row["id"] == sid and row["result"] == "skipped", row
        said = a.run("import").stderr.decode()  # nothing of it that anybody could do anything about
        assert said == "ahr import: histories: 1 skipped\n", said
        (a.dir / "empty").mkdir()
        assert a.run("import", a.dir / "empty").stderr.decode() == "ahr import: no histories were found there\n"
        assert tree(a.folder(sid)) == before and a.sessions() == [sid]


# -- two at once, and no room --

@test
def a_second_import_says_that_another_is_at_work():
    with Importer(AHR) as a:
        h = claude(a.claude, 1).write()
        a.home.mkdir(parents=True)
        with open(a.home / "import.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = a.fails(5, "import")
            assert "another 'ahr import' is at work" in said, said
            assert list(a.take("--dry-run")) == [h.path]
            assert a.sessions() == []
        assert a.take()[h.path]["result"] == "new"


@test
def imports_that_begin_at_once_take_each_history_once():
    with Importer(AHR) as a:
        made = [claude(a.claude, n).write() for n in range(20)]
        for _ in range(3):
            racing = [a.popen("import", stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
            ends = [(child.communicate(), child.returncode) for child in racing]
            assert {code for _, code in ends} <= {0, 5} and 0 in {code for _, code in ends}, ends
            done = a.take()
            assert {row["result"] for row in done.values()} == {"unchanged"}
            for h in made:
                h.is_in(a.events(done[h.path]["id"]))
            assert len(a.sessions()) == len(made)
            h = claude(a.claude, 100 + len(made)).write()
            made.append(h)


@test
def a_full_disk_leaves_whole_sessions_and_the_rest_comes_later():
    own_home = lambda a: {"AHR_HOME": str(a.dir / "disk/ahr")}
    with Importer(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=400k", "tmpfs"):
        a.home = a.dir / "disk/ahr"
        made = [claude(a.claude, n, turns=12) for n in range(30)]
        for h in made:
            h.write(30)
        done = a.run("import", env=own_home(a))
        assert done.returncode == 1 and b"No space left" in done.stderr, done
        have = a.sessions()
        assert 0 < len(have) < 30 and not list((a.home / "live").iterdir()), have
        want = {}
        with Importer(AHR) as once:
            for h in made:
                row = once.take(h.path)[h.path]
                want[row["id"]] = once.turns(row["id"])
        for sid in have:
            assert a.turns(sid) == want[sid]
        # Those that are there cannot grow either, and lose nothing.
        for h in made:
            h.append(30)
        for ballast in range(100):
            with open(a.dir / f"disk/{ballast}", "wb") as file:
                try:
                    file.write(bytes(65536))
                    file.flush()
                except OSError:
                    break
        assert a.run("import", env=own_home(a)).returncode == 1
        for sid in have:
            assert want[sid].startswith(a.turns(sid)) or a.turns(sid).startswith(want[sid])
        subprocess.run(["mount", "-o", "remount,size=64m", a.dir / "disk"], check=True)
        done = a.take(env=own_home(a))
        for h in made:
            h.is_in(a.events(done[h.path]["id"]))
        assert len(a.sessions()) == 30


@test
def a_limit_on_files_ends_it_with_a_reason():
    with Importer(AHR) as a:
        h = claude(a.claude, 1, turns=40).write()
        limit = 20_000
        done = a.run("import", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert done.returncode == 1 and b"cannot write" in done.stderr, done
        assert a.sessions() == [] and not list((a.home / "live").iterdir())
        h.is_in(a.events(a.take()[h.path]["id"]))


@test
def what_cannot_be_read_does_not_stop_the_others():
    if not os.geteuid():
        raise Skip("root reads everything")
    with Importer(AHR) as a:
        good, bad = claude(a.claude, 1).write(), claude(a.claude, 2).write()
        bad.path.chmod(0)
        done = a.take(status=1)
        assert list(done) == [good.path]


@test
def a_stopped_import_keeps_what_it_has():
    with Importer(AHR) as a:
        made = [claude(a.claude, n, turns=40).write() for n in range(40)]
        child = a.popen("import", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: a.sessions() or child.poll() is not None)
        child.terminate()
        said = child.communicate()[1].decode()
        assert child.returncode in (128 + 15, 0), child.returncode
        assert ("what is imported stays, and the next import goes on" in said) == (child.returncode != 0), said
        assert not list((a.home / "live").iterdir())
        done = a.take()
        for h in made:
            h.is_in(a.events(done[h.path]["id"]))


@test
def bytes_at_random_places_never_cost_more_than_their_lines():
    rng = random.Random(7)
    with Importer(AHR) as a:
        for number in range(12):
            h = claude(a.dir / str(number), number).write()
            lines = h.path.read_bytes().splitlines(keepends=True)
            spoilt = sorted(rng.sample(range(1, len(lines)), 3))
            for at in spoilt:
                line = bytearray(lines[at])
                for _ in range(rng.randint(1, 8)):
                    line[rng.randrange(len(line) - 1)] = rng.choice(b'\0\xff{}[]",:\\x')
                lines[at] = bytes(line)
            h.path.write_bytes(b"".join(lines))
            done = a.run("import", "--json", h.path)
            assert done.returncode in (0, 4), done
            row = json.loads(done.stdout)[0]
            texts = [e["text"] for e in a.events(row["id"]) if e["type"] == "text"]
            kept = [json.loads(x) for n, x in enumerate(lines) if n not in spoilt]
            for value in kept:
                content = value.get("message", {}).get("content")
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
                for block in blocks:
                    assert block["type"] != "text" or block["text"] in texts, (number, spoilt, block)


if __name__ == "__main__":
    own_mounts()
    run()
