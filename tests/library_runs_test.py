#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_runs_test.py -- runs in the library: shown, found, recovered, changed.
usage: library_runs_test.py AHR"""

import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.on_pty import OnPty
from support.sessions import Home, meta_of, session_id
from support.tap import run, test

AHR = sys.argv[1]
ID = session_id("2026-05-28", "a")
OTHER = session_id("2026-05-28", "b")
START = 1_780_000_000_000_000_000
USAGE = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5, "calls": 1}
LONG = "\n".join(f"row {i}" for i in range(500)) + "\nneedle\tin hay"


class Runs(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = Home(self)
        self.project = self.dir / "project" / ".ahr" / "sessions" / "RUN-001"
        return self

    def events(self, *more):
        e = self.home.event
        return [e(1, "session", agent_session_id="s1", model="m-1"),
                e(2, "text", role="user", text="do it"),
                e(3, "tool_call", id="c1", name="Bash", input={"command": "ls"}),
                e(4, "tool_result", id="c1", name="Bash", text=LONG),
                e(5, "artifact", change="created", path="a/b.c"),
                e(6, "usage", id="m", usage={"input_tokens": 3, "output_tokens": 4}),
                *more]

    def add(self, kind="sessions", *more, sid=ID, **facts):
        return self.home.add_run(kind, sid, b"[user] do it\r\nonly here\r\n", self.events(*more), self.project, **{
            "name": "RUN-001", "agent": "claude", "startedAtNs": START, **facts})

    def rows(self, sql):
        with contextlib.closing(sqlite3.connect(self.home.dir / "library.db")) as db:
            return db.execute(sql).fetchall()

    def shown(self, sid=ID):
        return json.loads(self.ok("show", "--json", sid))

    def metadata(self):
        return json.loads((self.project / "metadata.json").read_text())

    def log(self):
        return (self.project / "iterations" / "1.log").read_text()


@test
def a_run_is_shown_the_same_by_files_and_by_the_index():
    with Runs(AHR) as a:
        a.add(status="completed", endedAtNs=START + 10**9, model="m-1", agentSessionId="s1",
              usage=USAGE, iterations=2, cmd=["claude", "-p", "x"])
        before = a.shown()
        a.ok("index", "--all")
        after = a.shown()
        assert (before["indexed"], after["indexed"]) == (False, True)
        for key in ("kind", "agent", "agent_session_id", "model", "usage", "project", "iterations"):
            assert before[key] == after[key], key
        assert after["kind"] == "stream"
        assert after["usage"] == {**USAGE, "cache_creation_input_tokens": None}
        assert after["turns"] == 6
        assert json.loads(a.ok("list", "--json"))[0]["usage"] == after["usage"]
        table = a.ok("list").decode()
        assert "claude" in table, table
        assert " 12 " in table, table  # tokens
        text = a.ok("show", ID).decode()
        assert str(a.project) in text
        assert f"ahr log {ID}" in text


def _table(a, cols):
    with OnPty([a.binary, "list"], cols=cols, env=a.env, cwd=a.dir) as p:
        assert p.finish() == 0
        return re.sub("\033\\[[0-9;]*m", "", p.bytes.decode()).splitlines()


@test
def a_table_of_runs_fits_any_terminal_and_tells_the_same_of_all():
    with Runs(AHR) as a:
        facts = {"status": "completed", "endedAtNs": START + 10**9, "usage": USAGE, "cmd": ["claude", "-p", "x" * 90]}
        below = session_id("2026-05-29", "b")
        a.add(**facts)
        a.project = a.project.parent / "DEV-001"
        a.add(sid=below, **{**facts, "name": "DEV-001", "parent": ID, "startedAtNs": START + 1})
        for row in _table(a, 120)[1:]:
            assert " claude  " in row, row  # the agent, not the command
            assert " 12 " in row, row
        for cols in (60, 80):
            head, *rows = _table(a, cols)
            for row, name in zip(rows, ("RUN-001", "└ DEV-001"), strict=True):
                assert len(row) <= cols, row
                assert f" {name} " in row, row
                assert " completed " in row, row
                assert row[head.index("COMMAND"):].startswith("claude -p xxxxx"), row


@test
def a_word_that_was_cut_off_on_the_screen_is_found_once_and_where_it_is_said():
    with Runs(AHR) as a:
        a.add(status="completed")
        a.ok("index", "--all")
        hit, = json.loads(a.ok("search", "--json", "needle"))
        assert (hit["turn"], hit["line"]) == (4, None)
        assert hit["text"].strip() == "needle in hay"
        assert "turn 4" in a.ok("search", "needle").decode()
        hit, = json.loads(a.ok("search", "--json", "do it"))
        assert (hit["turn"], hit["line"]) == (2, None)
        hit, = json.loads(a.ok("search", "--json", "do it", "--in", "terminal"))
        assert (hit["turn"], hit["line"]) == (None, 0)
        hit, = json.loads(a.ok("search", "--json", "only here"))
        assert (hit["turn"], hit["line"]) == (None, 1)
        assert json.loads(a.ok("search", "--json", "row 499"))[0]["turn"] == 4


@test
def events_have_their_rows():
    with Runs(AHR) as a:
        a.add(status="completed")
        a.ok("index", "--all")
        turns = a.rows("SELECT number, type, role, name, call FROM turns ORDER BY number")
        assert turns[1] == (2, "text", "user", None, None)
        assert turns[2] == (3, "tool_call", "assistant", "Bash", "c1")
        assert turns[3] == (4, "tool_result", "tool", "Bash", "c1")
        assert a.rows("SELECT path, action, turn FROM artifacts") == [("a/b.c", "created", 5)]
        assert [r[1] for r in a.rows("SELECT * FROM usage")] == ["m-1"]
        a.ok("delete", "--yes", ID)
        for table in ("turns", "usage", "artifacts"):
            assert a.rows(f"SELECT count(*) FROM {table}") == [(0,)], table


@test
def no_good_event_is_lost_for_a_bad_neighbour():
    with Runs(AHR) as a:
        good = a.home.event(7, "text", role="assistant", text="one")[:-1]
        more = a.home.event(8, "text", role="assistant", text="two")
        folder = a.add("sessions", b"\xef\xbb\xbfgarbage\n", good + more, b"\0" * 5000,
                       good[:20] + more, b"\r\n", good)
        done = a.run("index", ID)
        assert done.returncode == 4, done
        shown = a.shown()
        assert shown["damaged"] is True
        assert shown["turns"] == 6 + 4
        (folder / "session.turns.jsonl").unlink()
        a.ok("reindex")
        assert a.shown()["turns"] == 0


@test
def a_run_that_was_cut_off_is_recovered_with_its_project():
    with Runs(AHR) as a:
        torn = a.home.event(7, "text", role="assistant", text="never shown")[:-9]
        a.add("live", torn, status="active", hostPid=4711)
        told = a.ok("recover", ID).decode()
        assert f"the run's files in '{a.project}' are in order" in told, told
        folder = a.home.dir / "sessions" / ID
        events = (folder / "session.turns.jsonl").read_bytes()
        assert events == b"".join(a.events())
        meta = meta_of(folder)
        assert (meta["status"], meta["model"], meta["agentSessionId"]) == ("interrupted", "m-1", "s1")
        assert meta["usage"]["input_tokens"] == 3
        assert a.metadata()["status"] == "interrupted"
        assert "Status: crashed" in a.log()
        assert "Interrupted: unknown" in a.log()
        assert (a.project / "io.log").read_text().count("\n") == 1
        assert a.shown()["indexed"] is True
        assert a.shown()["usage"]["output_tokens"] == 4


@test
def recover_killed_at_any_instant_is_ended_by_the_next():
    rng = random.Random(11)
    with Runs(AHR) as a:
        for i in range(12):
            torn = a.home.event(7, "text", role="assistant", text="never shown")[:-9]
            a.add("live", torn, status="active")
            with a.popen("recover", ID, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    p.wait(rng.random() * 0.03)
                p.kill()
            a.ok("recover", "--all")
            folder = a.home.dir / "sessions" / ID
            assert (folder / "session.turns.jsonl").read_bytes() == b"".join(a.events()), i
            assert meta_of(folder)["status"] == "interrupted", i
            assert meta_of(folder)["usage"]["output_tokens"] == 4, i
            assert a.metadata()["status"] == "interrupted", i
            assert "Interrupted: unknown" in a.log(), i
            a.ok("delete", "--yes", ID)
            shutil.rmtree(a.project)


@test
def an_event_without_its_newline_is_ended():
    with Runs(AHR) as a:
        last = a.home.event(7, "text", role="assistant", text="whole")
        a.add("live", last[:-1])
        a.ok("recover", ID)
        folder = a.home.dir / "sessions" / ID
        assert (folder / "session.turns.jsonl").read_bytes() == b"".join(a.events(last))


@test
def a_run_that_has_shown_nothing_leaves_no_active_project():
    with Runs(AHR) as a:
        folder = a.add("live", status="active")
        (folder / "session.ahr").unlink()
        (folder / "session.turns.jsonl").unlink()
        assert "nothing was recorded" in a.ok("recover", ID).decode()
        assert not folder.exists()
        assert a.metadata()["status"] == "interrupted"


@test
def events_of_which_nothing_was_shown_are_kept():
    with Runs(AHR) as a:
        folder = a.add("live", status="active")
        (folder / "session.ahr").unlink()
        a.ok("recover", ID)
        assert (a.home.dir / "sessions" / ID / "session.turns.jsonl").exists()
        assert json.loads(a.ok("search", "--json", "needle"))[0]["turn"] == 4


@test
def a_project_that_is_gone_or_a_link_is_said_and_left():
    with Runs(AHR) as a:
        a.add("live", status="active")
        aside = a.dir / "aside"
        a.project.rename(aside)
        a.project.symlink_to(aside)
        done = a.run("recover", ID)
        assert done.returncode == 0, done
        assert b"stay as they are" in done.stderr, done
        assert json.loads((aside / "metadata.json").read_text())["status"] == "active"
    with Runs(AHR) as a:
        folder = a.add("live", status="active")
        (folder / "project").write_text("/nowhere/.ahr/sessions/all")
        done = a.run("recover", "--all")
        assert done.returncode == 0, done
        assert b"/nowhere/.ahr/sessions/all" in done.stderr, done


@test
def recover_leaves_a_folder_alone_that_is_no_runs():
    with Runs(AHR) as a:
        folder = a.add("live", status="active")
        other = a.dir / "other"
        other.mkdir()
        (other / "metadata.json").write_text('{"status":"active"}')
        (other / "io.log").write_text('{"timestamp":"to')
        (folder / "project").write_text(str(other))
        a.ok("recover", "--all")
        assert (other / "metadata.json").read_text() == '{"status":"active"}'
        assert (other / "io.log").read_text() == '{"timestamp":"to'


@test
def recover_all_looks_at_the_project_around():
    with Runs(AHR) as a:
        a.add("sessions", status="interrupted")
        inside = a.dir / "project" / "src"
        inside.mkdir()
        done = a.run("recover", "--all")
        assert done.returncode == 0, done
        assert a.metadata()["status"] == "active"  # not this folder's project
        (a.dir / ".ahr").symlink_to(a.dir / "project" / ".ahr")
        a.ok("recover", "--all")
        assert a.metadata()["status"] == "active"
        (a.dir / ".ahr").unlink()
        (a.dir / "project" / ".ahr").rename(a.dir / ".ahr")
        a.project = a.dir / ".ahr" / "sessions" / "RUN-001"
        assert "would be" in a.ok("recover", "--all", "--dry-run").decode()
        assert a.metadata()["status"] == "active"
        with open(a.project / "io.log") as _, _folder(a.project):
            a.ok("recover", "--all")
            assert a.metadata()["status"] == "active"  # somebody runs it
        assert str(a.project) in a.ok("recover", "--all").decode()
        assert a.metadata()["status"] == "interrupted"
        assert "nothing to recover" in a.run("recover", "--all").stderr.decode()


@contextlib.contextmanager
def _folder(path):
    """Holds the lock on a folder."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    yield
    os.close(fd)


@test
def a_bare_log_is_recovered():
    with Runs(AHR) as a:
        a.add()
        log = a.project / "iterations" / "1.log"
        assert "would be" in a.ok("recover", "--dry-run", log).decode()
        assert "Status: in_progress" in a.log()
        assert "recovered" in a.ok("recover", log).decode()
        assert "Status: crashed" in a.log()
        assert json.loads(a.ok("recover", "--json", log))["changed"] is False
        log.write_text("nothing of ours")
        assert "no iteration log" in a.fails(4, "recover", "--dry-run", log)


@test
def a_name_means_the_run_of_the_project_around():
    with Runs(AHR) as a:
        a.project = a.dir / ".ahr" / "sessions" / "RUN-001"
        a.add(status="completed")
        a.home.add("sessions", OTHER, b"x", name="RUN-001", status="completed",
                   startedAtNs=START + 10**9)
        assert a.shown("RUN-001")["id"] == ID
        a.project.rename(a.dir / "elsewhere")
        assert a.shown("RUN-001")["id"] == OTHER


@test
def what_a_run_kept_in_its_project_stays_there():
    with Runs(AHR) as a:
        a.add(status="completed")
        assert str(a.project) in a.run("rename", ID, "other").stderr.decode()
        assert a.shown("other")["id"] == ID
        assert a.shown("other")["model"] is None
        assert str(a.project) in a.run("delete", "--yes", ID).stderr.decode()
        assert a.project.is_dir()
        assert not (a.home.dir / "sessions" / ID).exists()


@test
def a_text_is_taken_out_of_the_events_and_the_index():
    with Runs(AHR) as a:
        folder = a.add(status="completed")
        a.ok("index", "--all")
        done = a.run("redact", ID, "--text-file", "-", input=b"needle\n")
        assert done.returncode == 0, done
        assert done.stderr == b"", done
        assert b"needle" not in (folder / "session.turns.jsonl").read_bytes()
        assert a.shown()["turns"] == 6
        assert json.loads(a.ok("search", "--json", "needle")) == []


@test
def nobody_attaches_to_a_run():
    with Runs(AHR) as a:
        folder = a.add("live", status="active")
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            text = a.ok("show", ID).decode()
            assert f"ahr send {ID} TEXT" in text, text
            assert "attach" not in text, text


run()
