#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_crowd_test.py -- many `ahr run` at once in one project: no line is torn or lost, no name used twice.

usage: run_crowd_test.py AHR STREAM_AGENT [--sanitized]
"""

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.processes import kill, wait_for
from support.recorder import IS_LONG, IS_SANITIZED
from support.run_folder import facts_of, io_of
from support.run_traces import Kept, Log, said, tokens
from support.tap import run, test

AHR, AGENT = sys.argv[1], str(Path(sys.argv[2]).resolve())
CROWD = 16 if IS_SANITIZED else 64
FORMS = (("--format", "claude"), ("--format", "claude", "--partial"), ("--format", "codex"), ("--format", "plain"))
MESSAGES = 62 if IS_LONG else 14  # the one in the middle is no call of a tool


class Crowd(Ahr):
    def __enter__(self):
        super().__enter__()
        self.home = self.dir / "ahr"
        self.env["AHR_HOME"] = str(self.home)
        return self

    def begin(self, *args, **more):
        return self.popen("run", "-q", *args, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                                 "stderr": subprocess.PIPE, **more})

    def agent(self, number):
        """What each of them says is told nowhere else."""
        return ["--", AGENT, *FORMS[number % len(FORMS)], "--seed", number, "--messages", MESSAGES, "--huge",
                5000 if "--partial" not in FORMS[number % len(FORMS)] else 300, "--stderr-every", 4,
                "--sent", self.dir / f"sent-{number}", "--delay-us", 300]

    def sent(self, number):
        return set((self.dir / f"sent-{number}").read_text().split())

    def sessions(self):
        return self.dir / ".ahr" / "sessions"

    def names(self):
        return sorted(p.name for p in self.sessions().iterdir() if p.is_dir() and not p.name.startswith("."))

    def library(self):
        self.ok("index", "--all")
        return json.loads(self.ok("list", "--json"))


def finish(processes):
    """What each has shown; all must end well."""
    shown = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (process.returncode, err.decode())
        shown.append(out.decode())
    return shown


@test
def runs_side_by_side_have_names_and_files_of_their_own():
    with Crowd(AHR) as a:
        shown = finish([a.begin(*a.agent(n)) for n in range(CROWD)])
        assert a.names() == [f"RUN-{n:03}" for n in range(1, CROWD + 1)], a.names()
        by_number = {}
        for name in a.names():
            kept = Kept(a.dir, a.home, name)
            number = kept.facts["cmd"][kept.facts["cmd"].index("--seed") + 1]
            by_number[int(number)] = kept
        assert sorted(by_number) == list(range(CROWD))
        for number, kept in by_number.items():
            assert kept.log.body == shown[number], (number, shown[number][-300:], kept.log.body[-300:])
            assert [kept.log.status, kept.facts["status"], kept.meta["status"]] == ["completed"] * 3
            kept.has_sent(a.sent(number))
            assert len(a.sent(number)) == MESSAGES
            assert tokens(said(kept.io)) == a.sent(number), "somebody else's"
            kept.io_has(shown[number], "--partial" in kept.facts["cmd"])
        rows = a.library()
        assert sorted(row["name"] for row in rows) == a.names()
        assert {row["status"] for row in rows} == {"completed"}
        assert list((a.home / "live").iterdir()) == []


@test
def runs_with_names_that_were_given_keep_them():
    with Crowd(AHR) as a:
        count = CROWD // 4
        finish([a.begin("--name", f"given-{n}", *a.agent(n)) for n in range(count)])
        assert a.names() == sorted(f"given-{n}" for n in range(count))
        for n in range(count):
            Kept(a.dir, a.home, f"given-{n}").has_sent(a.sent(n))


@test
def one_name_is_one_run_at_a_time():
    """Whoever comes while it runs is told so; those that ran follow each other in one folder."""
    with Crowd(AHR) as a:
        (a.dir / "turn").mkdir()
        alone = 'mkdir turn/busy || exit 9; echo "mark-$0-here"; sleep .01; rmdir turn/busy'
        processes = [a.begin("--name", "one", "--", "sh", "-c", alone, str(n)) for n in range(CROWD)]
        ran, busy = [], 0
        for n, process in enumerate(processes):
            out, err = process.communicate(timeout=120)
            if process.returncode == 5:
                busy += 1
                assert b"one" in err, err
                assert out == b""
            else:
                assert process.returncode == 0, (process.returncode, err)
                assert out.decode() == f"mark-{n}-here\n"
                ran.append(n)
        assert ran
        folder = a.sessions() / "one"
        logs = {int(p.stem): Log(p) for p in (folder / "iterations").iterdir()}
        assert sorted(logs) == list(range(1, len(ran) + 1))
        assert {log.status for log in logs.values()} == {"completed"}
        assert Counter(log.body for log in logs.values()) == Counter(f"mark-{n}-here\n" for n in ran)
        in_order = re.findall(r"mark-(\d+)-here", said(io_of(folder)))
        assert in_order == [re.findall(r"\d+", logs[n].body)[0] for n in sorted(logs)]
        assert len(a.library()) == len(ran)
        print(f"# {len(ran)} ran, {busy} were told that it is busy")


@test
def artifacts_added_at_once_are_all_there():
    with Crowd(AHR) as a:
        live = a.begin("--name", "live", "--", "sh", "-c", "echo up; cat; echo down", stdin=subprocess.PIPE)
        assert live.stdout.readline() == b"up\n"
        files = [f"made-{n}" for n in range(CROWD // 4)]
        for name in files:
            (a.dir / name).write_text(f"content of {name}\n")
        adding = [a.popen("artifact", "add", "--session", "live", name, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) for name in files]
        finish(adding)
        out, err = live.communicate(timeout=60)
        assert (live.returncode, out) == (0, b"down\n"), err
        folder = a.sessions() / "live"
        told = [e["path"] for e in io_of(folder) if e["direction"] == "artifact"]
        assert sorted(Path(p).name for p in told) == sorted(files), told
        facts = facts_of(folder)
        assert facts["status"] == "completed"
        assert sorted(Path(p).name for p in facts["artifacts_produced"]) == sorted(files), facts
        kept = {p.read_text() for p in (folder / "artifacts").rglob("*") if p.is_file() and p.name != "links.json"}
        assert kept == {f"content of {name}\n" for name in files}, kept


@test
def runs_go_on_while_another_is_recovered():
    with Crowd(AHR) as a:
        dead = a.begin("--name", "dead", "--", "sh", "-c", "echo last words; exec sleep 60")
        assert dead.stdout.readline() == b"last words\n"
        child = int(Path(f"/proc/{dead.pid}/task/{dead.pid}/children").read_text().split()[0])
        dead.send_signal(signal.SIGKILL)
        kill(child)
        dead.communicate()
        live = [a.begin("--name", f"live-{n}", "--", "sh", "-c", "echo up; cat; echo down",
                        stdin=subprocess.PIPE) for n in range(2)]
        for process in live:
            assert process.stdout.readline() == b"up\n"
        recovering = [a.popen("recover", "--all", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                      for _ in range(4)]
        for process in recovering:
            _, err = process.communicate(timeout=60)
            assert process.returncode in (0, 5), err
        wait_for(lambda: not (a.home / "live" / Kept(a.dir, a.home, "dead").facts["id"]).exists())
        kept = Kept(a.dir, a.home, "dead")
        assert [kept.log.status, kept.log.why, kept.facts["status"]] == ["crashed", "unknown", "interrupted"]
        assert kept.log.body == "last words\n"
        for n, process in enumerate(live):
            facts = facts_of(a.sessions() / f"live-{n}")
            assert facts["status"] == "active", facts
            process.communicate(timeout=60)
            assert process.returncode == 0
            kept = Kept(a.dir, a.home, f"live-{n}")
            assert kept.log.body == "up\ndown\n"
            assert [kept.log.status, kept.facts["status"], kept.meta["status"]] == ["completed"] * 3
        assert sorted(row["name"] for row in a.library()) == ["dead", "live-0", "live-1"]


run()
