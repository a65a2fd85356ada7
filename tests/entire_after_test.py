#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entire_after_test.py -- what the other commands do with a session's folder in .entire/.

usage: entire_after_test.py AHR [KILL_SHIM]; prints TAP. Secrets are made up here when it runs.
"""

import json
import os
import random
import shutil
import signal
import string
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import entire
from support.ahr import Ahr
from support.entire import BEGIN, Transcript, result, said, text, tool
from support.mounts import ON_ITS_OWN, own_mounts, sh
from support.tap import Skip, run, test

own_mounts()
AHR = sys.argv[1]
SHIM = next((str(Path(arg).resolve()) for arg in sys.argv[2:] if "shim" in arg), None)
SECRET = "pass" + "".join(random.Random(os.getpid()).choices(string.ascii_letters, k=16))
CLAUDE = ("claude", "-p", "explain main.rs", "--output-format", "stream-json", "--verbose")
TALK = (BEGIN, said("m1", text("Let me read that file."), tool("t1", "read_file", path="src/main.rs", limit=3)),
        result("t1", "1: use std::io;"), said("m2", text("It reads.")))


def ran(a, lines=TALK, *args, prompt="explain main.rs"):
    """A run that has ended, and its transcript."""
    entire.agent(a, lines)
    before = {path.name for path in (a.dir / ".entire/metadata").glob("2*")}
    a.ok("run", "-q", "--entire", *args, "--", *CLAUDE[:2], prompt, *CLAUDE[3:])
    new, = {path.name for path in (a.dir / ".entire/metadata").glob("2*")} - before
    return Transcript(a.dir, new).is_sound()


@contextmanager
def unwritable(*folders):
    """For root as well, who needs a mount for that."""
    if os.geteuid():
        for folder in folders:
            folder.chmod(0o500)
        yield
        for folder in folders:
            folder.chmod(0o700)
        return
    if not os.environ.get(ON_ITS_OWN) or sh("mount", "--bind", folders[0], folders[0]).returncode:
        raise Skip("mounting needs root and a mount namespace")
    try:
        sh("mount", "-o", "remount,bind,ro", folders[0])
        yield
    finally:
        sh("umount", folders[0])


# -- delete and clean --

@test
def a_deleted_session_takes_its_transcript_and_nothing_else():
    with Ahr(AHR) as a:
        kept, other = ran(a), ran(a)
        (kept.root / "settings.json").write_text("{}")
        before = {name: file for name, file in kept.files().items() if kept.id not in name}
        told = a.run("delete", "--yes", kept.id).stderr.decode()
        assert f"its transcript is removed, too: '{kept.dir}'" in told, told
        assert not kept.dir.exists() and Transcript(a.dir, other.id).files() == before
        a.ok("delete", "--yes", other.id)
        assert sorted(path.name for path in kept.root.rglob("*")) == ["metadata", "settings.json"]


@test
def files_of_others_in_its_folder_stay():
    with Ahr(AHR) as a:
        kept = ran(a)
        (kept.dir / "summary.txt").write_text("theirs")
        (kept.dir / "context.md.new").write_text("half")
        kept.path.unlink()
        kept.path.mkdir()
        told = a.run("delete", "--yes", kept.id).stderr.decode()
        assert f"its transcript is removed; what else is in '{kept.dir}' stays" in told, told
        assert sorted(os.listdir(kept.dir)) == ["full.jsonl", "summary.txt"]
        assert (kept.dir / "summary.txt").read_text() == "theirs"


@test
def a_session_can_go_when_its_transcript_has_or_is_a_link():
    with Ahr(AHR) as a:
        gone, moved, linked = ran(a), ran(a), ran(a)
        shutil.rmtree(gone.dir)
        a.ok("delete", "--yes", gone.id)
        precious = a.dir / "precious"
        moved.dir.rename(precious)
        moved.dir.symlink_to(precious)
        before = sorted(os.listdir(precious))
        assert "transcript" not in a.run("delete", "--yes", moved.id).stderr.decode()
        assert sorted(os.listdir(precious)) == before and moved.dir.is_symlink()
        (linked.dir / "prompt.txt").unlink()
        (linked.dir / "prompt.txt").symlink_to(precious / "prompt.txt")
        a.ok("delete", "--yes", linked.id)
        assert not linked.dir.exists() and sorted(os.listdir(precious)) == before
        last = ran(a)
        shutil.rmtree(a.dir / ".entire")
        a.ok("delete", "--yes", last.id)
        assert a.ok("list", "--json").strip() == b"[]" and not (a.dir / ".entire").exists()


@test
def one_that_is_protected_keeps_its_transcript():
    with Ahr(AHR) as a:
        kept = ran(a, TALK, "--role", "MANAGER")
        before = kept.files()
        assert "is protected" in a.fails(1, "delete", "--yes", kept.id)
        assert Transcript(a.dir).files() == before
        a.ok("delete", "--yes", "--force", kept.id)
        assert not kept.dir.exists()


@test
def a_transcript_that_cannot_go_keeps_its_session():
    with Ahr(AHR) as a:
        kept = ran(a)
        before = kept.files()
        with unwritable(kept.root, kept.dir):
            told = a.run("delete", "--yes", kept.id)
            assert told.returncode == 1 and b"for its transcript does: cannot remove" in told.stderr, told
            assert Transcript(a.dir).files() == before
        assert "It reads." in a.ok("log", kept.id).decode()
        a.ok("delete", "--yes", kept.id)
        assert not kept.dir.exists()


@test
def clean_takes_it_as_delete_does():
    with Ahr(AHR) as a:
        kept, other = ran(a), ran(a)
        (other.dir / "summary.txt").write_text("theirs")
        told = a.run("clean", "--yes", "--status", "completed").stderr.decode()
        assert f"what is not its own in '{other.dir}' stays" in told, told
        assert not kept.dir.exists() and os.listdir(other.dir) == ["summary.txt"]
        assert not list((a.dir / ".ahr/sessions").glob("[!.]*"))


# -- what was imported --

FOREIGN = "2026-01-02-a1b2c3d4-e5f6-4890-abcd-ef1234567890"


def imported(a):
    """A session made of what Entire itself has kept in the project; its id is the folder's name."""
    folder = a.dir / ".entire/metadata" / FOREIGN
    folder.mkdir(parents=True)
    begin = {"sessionId": FOREIGN, "cwd": str(a.dir), "version": "2.0", "isSidechain": False, "userType": "external"}
    asked = {**begin, "type": "user", "uuid": "0b7f1c52-0000-4000-8000-000000000001", "parentUuid": None,
             "timestamp": "2026-01-02T10:00:00.000Z", "message": {"role": "user", "content": f"use {SECRET}"}}
    answer = {**begin, **said("m1", text(f"It is {SECRET}.")), "uuid": "0b7f1c52-0000-4000-8000-000000000002",
              "parentUuid": asked["uuid"], "timestamp": "2026-01-02T10:00:01.000Z"}
    (folder / "full.jsonl").write_text(json.dumps(asked) + "\n" + json.dumps(answer) + "\n")
    (folder / "prompt.txt").write_text(f"use {SECRET}")
    (folder / "context.md").write_text(f"# Theirs\n\n{SECRET}\n")
    a.ok("import", ".entire")
    assert FOREIGN in a.ok("list", "--json").decode()
    return Transcript(a.dir)


@test
def what_entire_itself_has_kept_is_never_touched():
    for words in (("delete", "--yes", FOREIGN), ("clean", "--yes", "--status", "completed,failed,interrupted"),
                  ("redact", FOREIGN, "--text-file", "-"), ("encrypt", "--new-key", "key", FOREIGN)):
        with Ahr(AHR) as a:
            theirs = imported(a)
            before = theirs.files()
            done = a.run(*words, input=SECRET.encode())
            assert done.returncode == 0, done
            assert Transcript(a.dir).files() == before, words
            assert b".entire" not in done.stderr, done
            if words[0] in ("delete", "clean"):
                assert a.ok("list", "--json").strip() == b"[]", words


@test
def one_that_wrote_no_transcript_takes_none_along():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        a.ok("run", "-q", "--entire=off", "--name", "x", "--", *CLAUDE)
        sid = json.loads(a.ok("list", "--json"))[0]["id"]
        folder = a.dir / ".entire/metadata" / sid
        folder.mkdir(parents=True)
        (folder / "prompt.txt").write_text("theirs")
        a.ok("delete", "--yes", "x")
        assert (folder / "prompt.txt").read_text() == "theirs"


@test
def a_run_that_has_lost_its_facts_takes_its_transcript_along():
    with Ahr(AHR) as a:
        for text_of_it in (None, "{"):
            kept = ran(a)
            meta = a.dir / "home/.local/share/ahr/sessions" / kept.id / "session.meta.json"
            meta.unlink()
            if text_of_it:
                meta.write_text(text_of_it)
            a.ok("delete", "--yes", kept.id)
            assert not kept.dir.exists()


# -- the branch --

@test
def the_branch_of_a_run_is_in_its_facts_and_exports():
    if not shutil.which("git"):
        raise Skip("no git")
    with Ahr(AHR) as a:
        plain = ran(a)

        def branches(sid):
            lines = a.ok("export", "--format", "jsonl", sid).decode().splitlines()
            return {json.loads(line)["gitBranch"] for line in lines}

        token = "AKIA" + "QWERTYUIOPASDFGH"
        for branch in ("fix/it", token):
            subprocess.run(["git", "init", "-q", "-b", branch, "."], cwd=a.dir, env=a.env, check=True)
            kept = ran(a)
            shutil.rmtree(a.dir / ".git")
            told, = {line["gitBranch"] for line in kept.lines}
            assert told == branch if branch != token else token not in told, told
            assert branches(kept.id) == {told} and branches(plain.id) == {""}
            meta = json.loads((a.dir / "home/.local/share/ahr/sessions" / kept.id / "session.meta.json").read_text())
            assert meta["gitBranch"] == told
            shown = a.ok("replay", "--print-meta", kept.id).decode().splitlines()
            assert [line.split(None, 2)[2] for line in shown if line.startswith("git branch")] == [told], shown


# -- redact --

LONG = "x" * 150 + SECRET + "y" * 50  # context.md has a piece of it


def spoken(secret):
    """It is everywhere."""
    return (BEGIN, said("m1", text(f"It is {secret}."), tool("t1", "Bash", command=f"echo {secret}")),
            result("t1", f"a\n{secret}\nb"), said("m2", tool("t2", "Write", path="a", content=f'as "{secret}"')),
            result("t2", "ok"))


def redact(a, kept, secret=SECRET, env=None):
    return a.run("redact", kept.id, "--text-file", "-", input=secret.encode(), env=env)


def holds(kept, secret):
    return [path.name for path in sorted(kept.dir.iterdir()) if secret in path.read_text()]


@test
def what_is_masked_in_a_session_is_masked_in_its_transcript():
    with Ahr(AHR) as a:
        kept, other = ran(a, spoken(SECRET), prompt=f"use {SECRET}"), ran(a, spoken(SECRET))
        assert holds(kept, SECRET) == ["context.md", "full.jsonl", "prompt.txt"]
        before, context = Transcript(a.dir, other.id).files(), kept.context
        (kept.dir / "summary.txt").write_text(SECRET)
        kept.path.chmod(0o640)
        done = redact(a, kept)
        assert done.returncode == 0, done
        assert f"'{kept.dir}/summary.txt' is not the session's own" in done.stderr.decode(), done
        now = Transcript(a.dir, kept.id).is_sound()
        assert holds(now, SECRET) == ["summary.txt"]
        assert [line["uuid"] for line in now.lines] == [line["uuid"] for line in kept.lines]
        assert now.prompt == "use [REDACTED:text]", now.prompt
        assert "- **Bash**: echo [REDACTED:text]\n" in now.context, now.context
        assert now.context == context.replace(SECRET, "[REDACTED:text]")
        assert now.path.stat().st_mode & 0o777 == 0o640
        files = now.files()
        assert {name: file for name, file in before.items() if other.id in name} == \
            {name: file for name, file in files.items() if other.id in name}
        assert f"{kept.id}: nothing of it was found" in redact(a, kept).stdout.decode()
        assert Transcript(a.dir, kept.id).files() == files


@test
def what_context_md_has_of_it_goes_however_it_stands_there():
    for secret, lines in ((SECRET, (said("m1", tool("t1", "Write", content=LONG)),)),
                          ("*" + SECRET + "`<x>", spoken("*" + SECRET + "`<x>")),
                          (f"two  {SECRET}", spoken(f"two  {SECRET}"))):
        with Ahr(AHR) as a:
            kept = ran(a, (BEGIN, *lines))
            assert SECRET[:8] in kept.context and secret not in kept.context
            done = redact(a, kept, secret)
            now = Transcript(a.dir, kept.id).is_sound()
            assert done.returncode == 0, done
            assert SECRET[:8] not in now.context and "[REDACTED" in now.context, now.context
            assert secret not in "".join(json.dumps(line, ensure_ascii=False) for line in now.lines)


@test
def what_is_not_there_or_holds_nothing_is_left_alone():
    with Ahr(AHR) as a:
        kept = ran(a)
        files = kept.files()
        assert "nothing of it was found" in redact(a, kept).stdout.decode()
        assert Transcript(a.dir).files() == files
        kept = ran(a, spoken(SECRET))
        (kept.dir / "context.md").unlink()
        kept.path.unlink()
        (kept.dir / "full.jsonl.new").write_text(SECRET)  # by one that was killed
        assert redact(a, kept).returncode == 0
        assert os.listdir(kept.dir) == ["prompt.txt"]
        kept = ran(a, spoken(SECRET))
        shutil.rmtree(kept.dir)
        assert redact(a, kept).returncode == 0 and not kept.dir.exists()


@test
def it_is_masked_through_no_link():
    with Ahr(AHR) as a:
        kept = ran(a, spoken(SECRET), prompt=f"use {SECRET}")
        precious = a.dir / "precious"
        precious.write_text(SECRET)
        (kept.dir / "prompt.txt").unlink()
        (kept.dir / "prompt.txt").symlink_to(precious)
        os.link(kept.path, a.dir / "other-name")
        done = redact(a, kept)
        assert done.returncode == 4, done
        told = done.stderr.decode()
        assert f"'{kept.dir}/prompt.txt' was not masked: it is a link" in told, told
        assert f"'{kept.path}' was not masked: it has another name" in told, told
        assert f"not all of its transcript in '{kept.dir}' is" in told, told
        assert precious.read_text() == SECRET and (kept.dir / "prompt.txt").is_symlink()
        assert SECRET not in kept.path.read_text() and SECRET in (a.dir / "other-name").read_text()

        kept = ran(a, spoken(SECRET))
        moved = a.dir / "moved"
        kept.root.rename(moved)
        kept.root.symlink_to(moved)
        before = kept.files()
        done = redact(a, kept)
        assert done.returncode == 4 and b"is reached through a link" in done.stderr, done
        assert Transcript(a.dir, kept.id).files() == before


@test
def without_its_events_context_md_is_named():
    with Ahr(AHR) as a:
        kept = ran(a, spoken(SECRET))
        turns, = (a.dir / "home/.local/share/ahr/sessions" / kept.id).glob("session.turns.jsonl")
        turns.unlink()
        done = redact(a, kept)
        assert done.returncode == 4 and b"context.md' was not masked: the events" in done.stderr, done
        assert holds(kept, SECRET) == ["context.md"]


@test
def a_redact_killed_anywhere_leaves_each_file_whole_and_the_next_ends_it():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    with Ahr(AHR) as a:
        kept = ran(a, (BEGIN, said("m1", tool("t1", "Write", content=LONG))), prompt=f"use {SECRET}")
        saved = a.dir / "saved"
        places = (kept.root, a.dir / ".ahr", a.dir / "home/.local/share/ahr")

        def put(back):
            for n, place in enumerate(places):
                if back:
                    shutil.rmtree(place)
                    shutil.copytree(saved / str(n), place, symlinks=True)
                else:
                    shutil.copytree(place, saved / str(n), symlinks=True)

        def texts():
            return {path.name: path.read_bytes() for path in kept.dir.iterdir() if path.suffix != ".new"}

        put(back=False)
        old = texts()
        assert redact(a, kept).returncode == 0
        new = texts()
        assert all(old[name] != new[name] for name in old), new
        number, mixed = 0, 0
        while True:
            number += 1
            put(back=True)
            done = redact(a, kept, env={"LD_PRELOAD": SHIM, "KILL_AT": str(number)})
            assert done.returncode in (0, -signal.SIGKILL), (number, done)
            now = texts()
            assert all(now[name] in (old[name], new[name]) for name in old), (number, now)
            mixed += now not in (old, new)
            if done.returncode == 0:
                break
            if number % 3 == 0 or now != old:
                done = redact(a, kept)
                assert done.returncode == 0 and texts() == new, (number, done)
                assert len(os.listdir(kept.dir)) == 3, number
        assert mixed, number
        print(f"# {number} calls")


# -- encrypt --

@test
def a_transcript_that_stays_readable_is_told_of():
    with Ahr(AHR) as a:
        kept, other = ran(a), ran(a)
        shutil.rmtree(other.dir)
        before = kept.files()
        key = a.dir / "key"
        words = f"'{kept.dir}' has the conversation of session {kept.id}, and is not encrypted: remove it"
        assert words in a.run("encrypt", "--dry-run", kept.id).stderr.decode()
        done = a.run("encrypt", "--new-key", key, kept.id, other.id)
        told = done.stderr.decode()
        assert done.returncode == 0 and words in told and told.count(".entire") == 1, told
        assert Transcript(a.dir, kept.id).files() == before
        a.ok("decrypt", "--key-file", key, kept.id)
        a.ok("delete", "--yes", kept.id)
        assert not kept.dir.exists()


@test
def a_transcript_of_ours_in_another_library_names_no_session_of_an_agents():
    with Ahr(AHR) as a:
        kept = ran(a)
        home = {"AHR_HOME": str(a.dir / "elsewhere")}
        sid = a.ok("import", a.dir / ".entire", env=home).decode().strip()
        told = json.loads(a.ok("show", "--json", sid, env=home))
        assert (told["kind"], told["agent_session_id"]) == ("import", None), told
        assert kept.lines[0]["sessionId"] == sid, (sid, kept.lines[0])


run()
