#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entire_after_test.py -- what the other commands do with a session's folder in .entire/.

usage: entire_after_test.py AHR; prints TAP.
"""

import os
import shutil
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


run()
