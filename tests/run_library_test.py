#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_library_test.py -- real runs in the library: indexed, listed, found, changed, recovered.

usage: run_library_test.py AHR STREAM_AGENT [KILL_SHIM]
"""

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import wait_for
from support.real_runs import Runs
from support.tap import Skip, run, test

AHR, AGENT = sys.argv[1], str(Path(sys.argv[2]).resolve())
SHIM = str(Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 else None
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "events", "cast", "cast3")


def rows(a, question):
    db = sqlite3.connect(f"file:{a.home / 'library.db'}?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def without_index(facts):
    return {k: v for k, v in facts.items() if k not in ("indexed", "lines", "turns")}


@test
def events_usage_and_files_have_their_rows():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6", "--write", str(a.project), options=("--task", "a task"))
        a.ok("index", "--all")
        events = a.events()
        (told,) = a.json("list")
        assert rows(a, "SELECT count(*) FROM turns") == [(told["turns"],)]
        assert told["turns"] == len(events)
        assert rows(a, "SELECT sum(output_tokens) FROM usage") == [(60,)]
        paths = {path for path, in rows(a, "SELECT path FROM artifacts")}
        assert paths == {"file-1", "file-2"}, paths


@test
def files_and_index_tell_the_same():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6", options=("--role", "DEVELOPER"))
        a.agent("--messages", "6", "--format", "codex", options=("--agent", "codex"))
        before, shown = a.json("list"), a.json("show", "DEV-001")
        a.ok("index", "--all")
        after = a.json("list")
        assert [without_index(x) for x in before] == [without_index(x) for x in after]
        assert without_index(a.json("show", "DEV-001")) == without_index(shown)
        codex, claude = after
        assert (claude["agent"], codex["agent"]) == ("claude", "codex")
        assert claude["model"], claude
        assert claude["role"] == "DEVELOPER"
        for one in after:
            assert one["usage"]["output_tokens"] == 60, one
        table = a.ok("list").decode()
        assert "claude" in table, table
        assert "660" in table, table
        a.ok("reindex")
        assert a.json("list") == after


@test
def a_word_behind_the_cut_is_found_and_the_printed_command_works():
    with Runs(AHR) as a:
        text = "\n".join(f"line {i}" for i in range(400)) + "\nthe hidden needle\n"
        agent = a.dir / "agent.jsonl"
        agent.write_text("\n".join(json.dumps(e) for e in (
            {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
            {"type": "assistant", "message": {"id": "1", "role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}},
            {"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": text}]}})) + "\n")
        shown = a.ok("run", "-q", "--agent", "claude", "--", "cat", agent)
        assert b"needle" not in shown
        a.ok("index", "--all")
        (hit,) = json.loads(a.ok("search", "--json", "hidden needle"))
        assert hit["turn"] == 3, hit
        line = a.ok("search", "hidden needle").decode()
        (command,) = [cell for cell in line.split("\t") if cell.startswith("ahr ")]
        words = shlex.split(command.split("|")[0])
        assert b"hidden needle" in a.ok(*words[1:]), command


@test
def every_format_is_exported():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6", options=("--name", "one"))
        token = next(e["text"] for e in a.events("one") if e.get("role") == "assistant").split()[-1]
        for kind in FORMATS:
            assert token.encode() in a.ok("export", "one", "--format", kind), kind


@test
def renamed_and_deleted_it_leaves_its_project_folder_and_says_so():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "3")
        a.ok("rename", "RUN-001", "other")
        assert a.json("show", "other")["name"] == "other"
        said = a.run("delete", "--yes", "other").stderr.decode()
        assert str(a.folder()) in said, said
        assert a.folder().is_dir()
        assert a.json("list") == []


@test
def dead_runs_of_a_project_are_recovered_together():
    with Runs(AHR) as a:
        for _ in range(3):
            with a.live() as live:
                live.say("word")
                live.until("got word")
                live.kill()
        inside = a.project / "src"
        inside.mkdir()
        a.ok("recover", "--all", cwd=inside)
        assert {one["status"] for one in a.json("list")} == {"interrupted"}
        for name in ("RUN-001", "RUN-002", "RUN-003"):
            assert a.facts(name)["status"] == "interrupted"
            assert "Status: crashed" in a.log(1, name)
            assert "Interrupted: unknown" in a.log(1, name)
            assert "got word" in a.log(1, name)
        assert "nothing to recover" in a.run("recover", "--all").stderr.decode()


@test
def a_dead_run_whose_project_is_gone_or_moved_is_recovered():
    with Runs(AHR) as a:
        for name in ("gone", "moved"):
            with a.live("--name", name) as live:
                live.say("word")
                live.until("got word")
                live.kill()
        shutil.rmtree(a.folder("gone"))
        moved = a.dir / "moved"
        a.folder("moved").rename(moved)
        done = a.run("recover", "--all")
        assert done.returncode == 0, done
        assert str(a.folder("gone")).encode() in done.stderr, done
        assert {one["status"] for one in a.json("list")} == {"interrupted"}
        for one in a.json("list"):
            assert b"got word" in a.ok("cat", one["id"])
        log = moved / "iterations/1.log"
        a.ok("recover", log)
        assert "Status: crashed" in log.read_text()


@test
def a_dead_run_that_is_deleted_is_over_in_its_project():
    with Runs(AHR) as a:
        with a.live("--name", "one") as live:
            live.say("word")
            live.until("got word")
            live.kill()
        assert a.folder("one").is_dir()
        said = a.run("delete", "--yes", "one").stderr.decode()
        assert str(a.folder("one")) in said, said
        assert a.facts("one")["status"] == "interrupted" and "Status: crashed" in a.log(1, "one")
        assert not list((a.home / "live").iterdir()) and a.json("list") == []


@test
def a_command_that_outlived_its_recorder_is_named():
    with Runs(AHR) as a:
        run = a.popen("run", "-q", "--name", "one", "--", "sh", "-c", "echo up; exec sleep 1000",
                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert run.stdout.readline() == b"up\n"
        wait_for(lambda: a.facts("one")["command_pid"], "the command's number")
        pid = a.facts("one")["command_pid"]
        try:
            run.kill(), run.wait(), run.stdout.close()
            words = f"process {pid}"
            for state in ("cut off", "recovered"):
                said = a.fails(5, "delete", "--yes", "one") + a.run("clean", "--yes", "--older-than", "now", "--status",
                                                                    "interrupted").stderr.decode()
                assert f"{words} is still at its run" in said and f"process {run.pid}" not in said, said
                checks = {c["check"]: c for c in json.loads(a.run("doctor", "--json").stdout)["checks"]}
                living = [f for f in checks["live"]["findings"] if f["grade"] == "note"]
                assert len(living) == 1 and words in living[0]["text"] and "left alone" in living[0]["text"], checks
                (note,) = checks["project"]["findings"] or [{"text": words}]
                assert words in note["text"] and bool(checks["project"]["findings"]) == (state == "cut off"), checks
                a.ok("recover", "--all")
        finally:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not a.run("delete", "--yes", "one").returncode, "its end")
        assert not json.loads(a.run("doctor", "--json").stdout)["checks"][5]["findings"]


@test
def a_lost_meta_is_made_anew_of_what_the_project_has():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6", options=("--name", "one", "--role", "DEVELOPER", "--task", "a task"))
        a.run("run", "-q", "--name", "two", "--", "sh", "-c", "exit 3", "a", "a")
        a.run("run", "-q", "--name", "three", "--", "sh", "-c", "kill -9 $$")
        before = a.json("list")
        assert sorted(one["status"] for one in before) == ["completed", "crashed", "failed"], before
        for text in ("", "{", "[]", "{}", None):
            for one in before:
                meta = a.home / "sessions" / one["id"] / "session.meta.json"
                meta.write_text(text) if text is not None else meta.unlink()
                a.ok("recover", one["id"])
            for was, now in zip(before, a.json("list"), strict=True):
                for key in was.keys() - {"duration_ms", "cols", "rows", "size_bytes", "indexed", "lines", "turns"}:
                    assert now[key] == was[key], (text, key, was, now)
        metadata = a.folder("two") / "metadata.json"
        metadata.write_text(metadata.read_text().replace(before[1]["id"], before[0]["id"]))
        (a.home / "sessions" / before[1]["id"] / "session.meta.json").unlink()
        a.ok("recover", before[1]["id"])  # what is another's is not taken for its own
        now = a.json("show", before[1]["id"])
        assert now["status"] == "interrupted" and not now["name"], now


@test
def a_run_that_was_cut_off_and_has_no_meta_keeps_its_name():
    with Runs(AHR) as a:
        with a.live("--name", "one") as live:
            live.say("word")
            live.until("got word")
            live.kill()
        (folder,) = (a.home / "live").iterdir()
        (folder / "session.meta.json").unlink()
        a.ok("recover", "--all")
        (one,) = a.json("list")
        assert (one["name"], one["status"]) == ("one", "interrupted") and one["cmd"][0] == "sh", one


def harms():
    """What leaves nothing of a recording."""
    def flip(tape):
        data = bytearray(tape.read_bytes())
        data[60] ^= 1
        tape.write_bytes(data)
    return (flip, lambda tape: tape.write_bytes(b"garbage"), lambda tape: tape.write_bytes(b""), Path.unlink)


@test
def a_conversation_is_kept_whatever_became_of_its_recording():
    for n, harm in enumerate(harms()):
        for place in ("sessions", "live"):
            with Runs(AHR, AGENT) as a:
                a.agent("--messages", "6", options=("--name", "one"))
                token = next(e["text"] for e in a.events("one") if e.get("role") == "assistant").split()[-1]
                folder = next(a.home.glob("sessions/*"))
                harm(folder / "session.ahr")
                if place == "live":
                    (a.home / "live").mkdir(exist_ok=True)
                    folder.rename(a.home / "live" / folder.name)
                else:
                    seen = {c["check"]: c for c in json.loads(a.run("doctor", "--json", "--deep").stdout)["checks"]}
                    (finding,) = seen["sessions"]["findings"]
                    assert "its conversation is kept" in finding["text"] and not finding["mend"], finding
                for args in (("--dry-run",), ()):
                    done = a.run("recover", *args, folder.name)
                    assert b"its conversation is kept" in done.stdout, (n, place, done)
                    assert b"cannot be read" in done.stdout or (place, n > 1) == ("live", True), (n, place, done)
                    assert done.returncode in ((0, 4) if place == "live" and n > 1 else (4,)), (n, place, done)
                a.run("index", "--all")
                a.run("index", folder.name)
                (one,) = a.json("list")
                assert one["damaged"] and one["turns"] and folder.is_dir(), (n, place, one)
                assert json.loads(a.ok("search", "--json", token)), (n, place)
                assert token.encode() in a.ok("export", "one", "--format", "txt")
                assert not (a.home / "damaged").exists()


@test
def a_log_in_the_project_keeps_its_session():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "6", options=("--name", "one"))
        folder = next(a.home.glob("sessions/*"))
        harms()[0](folder / "session.ahr")
        (folder / "session.turns.jsonl").unlink()
        a.fails(4, "index", folder.name)
        a.fails(4, "recover", folder.name)
        assert folder.is_dir()
        (a.folder("one") / "io.log").unlink()
        assert "nothing of it can be read" in a.run("recover", folder.name).stdout.decode()
        assert not folder.exists()


@test
def verify_names_lines_that_are_no_events():
    with Runs(AHR, AGENT) as a:
        a.agent("--messages", "3")
        told = a.verify("RUN-001")
        assert told["events"] == len(a.events())
        assert told["bad_event_lines"] == []
        turns = next(a.home.glob("sessions/*/session.turns.jsonl"))
        lines = turns.read_text().splitlines()
        turns.write_text("\n".join([lines[0], "{rubbish", *lines[1:]]) + "\n")
        told = a.verify("RUN-001", status=4)
        assert told["bad_event_lines"] == [2]
        assert told["events"] == len(lines)
        assert "line 2" in a.run("verify", "RUN-001").stdout.decode()


@test
def killed_at_any_call_no_name_is_given_twice():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    with Runs(AHR) as a:
        names, killed = [], 0
        for at in range(1, 24):
            after = {"KILL_AFTER": "1"} if at % 2 else {}
            before = {path.name for path in a.folder("").glob("RUN-*")}
            done = a.run("run", "-q", "--", "true", env={"LD_PRELOAD": SHIM, "KILL_AT": str(at), **after})
            killed += done.returncode < 0
            names += sorted({path.name for path in a.folder("").glob("RUN-*")} - before)
            a.ok("run", "-q", "--", "true")
            new = {path.name for path in a.folder("").glob("RUN-*")} - before - set(names)
            assert len(new) == 1, (at, new)
            names += new
        assert killed > 5, killed
        assert len(names) == len(set(names)), names
        numbers = [int(name[4:]) for name in names]
        assert numbers == sorted(numbers), names


run()
