#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""branch_test.py -- `ahr branch`: the files of a moment in a folder of their own, a session that goes on
there, and nothing else touched. usage: branch_test.py AHR MOCK_AGENT [--sanitized]"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.mounts import mounted, own_mounts
from support.on_pty import OnPty
from support.processes import is_gone, wait_for
from support.recorder import Recorder
from support.tap import run, test, test_meanwhile

own_mounts()
AHR, MOCK = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
SHOW = "cat a; ls"


def seen(folder):
    """Everything below a folder, bytes and permissions; .git as git itself sees it is left out."""
    found = {}
    for where, folders, files in os.walk(os.fsencode(folder)):
        folders[:] = [name for name in folders if name != b".git"]
        for name in folders + [name for name in files if name != b".git"]:
            path = os.path.join(where, name)
            what = (os.readlink(path) if os.path.islink(path) else None if os.path.isdir(path)
                    else open(path, "rb").read())
            found[os.path.relpath(path, os.fsencode(folder))] = (os.lstat(path).st_mode, what)
    return found


class Project(Recorder):
    """A session called `first` that has kept its files, labelled `then`, and changed them."""

    def __enter__(self):
        super().__enter__()
        self.root = self.dir / "project"
        (self.root / "sub" / "deep").mkdir(parents=True)
        (self.root / "a").write_text("one\n")
        (self.root / "sub" / "run").write_text("#!/bin/sh\n")
        (self.root / "sub" / "run").chmod(0o750)
        (self.root / "sub" / "link").symlink_to("../a")
        (self.root / os.fsdecode(b"odd\n \xff")).write_text("odd")
        return self

    def repository(self):
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "x")
        self.git("config", "user.email", "x@x")
        self.commit("first")

    def git(self, *args, where=None):
        return subprocess.run(["git", "-C", where or self.root, *args], check=True, capture_output=True,
                              env=self.env, encoding="utf-8").stdout

    def commit(self, what, hours=-1):
        """So long from now, as far as git can tell."""
        self.git("add", "-A")
        self.env["GIT_COMMITTER_DATE"] = f"{int(time.time()) + hours * 3600} +0000"
        self.git("commit", "-qm", what)
        del self.env["GIT_COMMITTER_DATE"]

    def record(self, script, *options, name="first", cwd=None):
        subprocess.run([self.binary, "record", "-q", "--name", name, *options, "--", "sh", "-c", script],
                       cwd=cwd or self.root, env=self.env, stdin=subprocess.DEVNULL, check=True, capture_output=True)

    def first(self, **more):
        self.truth = seen(self.root)
        self.record(f"echo hi; {self.binary} fs snapshot --label then >/dev/null; echo changed >a; "
                    f"echo more >more; {self.binary} snapshot --label mark >/dev/null; echo end", **more)
        self.after = seen(self.root)
        self.parent = self.facts("first")
        self.parent_files = self.files_of("first")
        return self

    def facts(self, session):
        return json.loads(self.ok("show", "--json", session))

    def files_of(self, session):
        """Its files; the lock of a session that is over means nothing."""
        folder = Path(self.facts(session)["path"])
        return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "lock"}

    def branch(self, *args, **more):
        """The facts of the new session, whose output is in self.out."""
        before = set(self.ids())
        done = self.run("branch", *args, **more)
        assert done.returncode == 0, (args, done.returncode, done.stderr.decode())
        self.out, self.said = done.stdout.decode(), done.stderr.decode()
        (new,) = set(self.ids()) - before
        return self.facts(new)

    def ids(self):
        return [s["id"] for s in json.loads(self.ok("list", "--json"))]

    def refuses(self, status, *args, folders=(), **more):
        """What it says; nothing has come of it."""
        said = self.fails(status, "branch", *args, **more)
        assert len(self.ids()) == 1, self.ids()
        assert self.folders() == sorted(["project", *folders]), self.folders()
        assert seen(self.root) == self.after and self.files_of("first") == self.parent_files
        return said

    def folders(self):
        return sorted(p.name for p in self.dir.iterdir() if p.name.startswith(("project", "into")))

    def instructions(self, session):
        path = Path(self.facts(session)["path"]) / "session.instructions.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def snapshot(self):
        return json.loads(self.ok("fs", "list", "--json"))[0]


# -- files --

@test
def a_branch_has_the_files_of_that_moment_and_the_rest_stays_as_it_was():
    with Project(AHR) as a:
        a.first()
        new = a.branch("first", "--at", "then", "--name", "second", "--", "sh", "-c", SHOW)
        into = a.dir / "project.branch-1"
        assert seen(into) == a.truth and a.truth != a.after
        assert seen(a.root) == a.after and a.files_of("first") == a.parent_files
        assert new["cwd"] == str(into) and new["name"] == "second" and new["status"] == "completed"
        assert "one" in a.out and "changed" not in a.out
        assert f"into {into}" in a.said and "4 files" in a.said, a.said


@test
def both_sides_know_of_each_other():
    with Project(AHR) as a:
        a.first()
        new = a.branch("first", "--at", "then", "--instruct", "go left", "--", "echo", "{}")
        at = a.snapshot()
        point = {"from": a.parent["id"], "snapshot_id": at["id"], "anchor_byte": at["anchor_byte"]}
        assert new["parent"] == a.parent["id"] and new["branch"] == point and a.parent["branch"] is None
        meta = json.loads((Path(new["path"]) / "session.meta.json").read_text())
        assert meta["branch"] == point and meta["cmd"] == ["echo", "go left"]
        (told,) = a.instructions("first")
        assert (told["text"], told["snapshot_id"], told["anchor_byte"], told["delivered"]) == (
            "go left", at["id"], at["anchor_byte"], False), told
        wait_for(lambda: a.instructions(new["id"]), "noted in the new one")
        (told,) = a.instructions(new["id"])
        assert (told["text"], told["delivered"], told["snapshot_id"]) == ("go left", True, None), told
        a.ok("index", "--all")
        assert a.facts(new["id"])["branch"] == point
        shown = a.ok("show", new["id"]).decode()
        assert f"snapshot {at['id']}, at byte {at['anchor_byte']}" in shown, shown
        rows = a.ok("list").decode().splitlines()
        assert "first" in rows[0] and f"└ {new['id'][:19]}" in rows[1], rows


@test
def without_at_it_is_the_last_one_and_without_a_command_that_of_the_session():
    with Project(AHR) as a:
        a.record(f"cat a; {a.binary} fs snapshot >/dev/null; echo two >a; {a.binary} fs snapshot --label now >/dev/null")
        new = a.branch("first", "--into", a.dir / "into" / "new")
        into = a.dir / "into" / "new"
        assert a.out.splitlines()[0] == "two" and new["cwd"] == str(into) and (into / "a").read_text() == "two\n"
        assert new["cmd"] == a.facts("first")["cmd"]
        older = a.snapshot()
        a.branch("first", "--at", str(older["id"])[:-2], "--", "cat", "a")
        assert a.out == "one\r\n", a.out


@test
def it_starts_in_the_folder_that_was_the_sessions():
    with Project(AHR) as a:
        a.repository()
        a.first(cwd=a.root / "sub" / "deep")
        shutil.rmtree(a.root / "sub")
        new = a.branch("first", "--at", "then", "--", "sh", "-c", "pwd; echo $PWD")
        here = f"{a.dir}/project.branch-1/sub/deep"
        assert a.out.split() == [here, here] and new["cwd"] == here


@test
def a_link_at_its_place_does_not_lead_out_of_the_folder():
    with Project(AHR) as a:
        a.repository()
        (a.dir / "outside" / "deep").mkdir(parents=True)
        a.record(f"cd {a.root}; mv sub old; ln -s {a.dir}/outside sub; {a.binary} fs snapshot >/dev/null",
                 cwd=a.root / "sub" / "deep")
        new = a.branch("first", "--", "pwd")
        assert new["cwd"] == f"{a.dir}/project.branch-1" and "it starts in the folder above" in a.said, a.said


@test
def a_folder_with_something_in_it_is_refused_and_an_empty_one_filled():
    with Project(AHR) as a:
        a.first()
        (a.dir / "into").mkdir()
        (a.dir / "into" / "mine").write_text("mine")
        (a.dir / "into-link").symlink_to("into")
        (a.dir / "into-file").write_text("mine")
        for name in ("into", "into-link", "into-file", "project"):
            said = a.refuses(1, "first", "--into", a.dir / name, "--", "true",
                             folders=("into", "into-link", "into-file"))
            assert "is there already" in said, said
        assert (a.dir / "into" / "mine").read_text() == "mine" and (a.dir / "into-file").read_text() == "mine"
        (a.dir / "into" / "mine").unlink()
        a.branch("first", "--at", "then", "--into", f"{a.dir}/into/", "--", "true")
        assert seen(a.dir / "into") == a.truth


@test
def each_of_several_at_once_has_a_folder_of_its_own():
    with Project(AHR) as a:
        a.first()
        (a.dir / "project.branch-2").mkdir()  # empty, and somebody's
        some = [a.popen("branch", "first", "--at", "then", "-q", "--background", "--", "pwd",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(5)]
        ids = [one.communicate()[0].decode().strip() for one in some]
        assert all(one.returncode == 0 for one in some) and len(set(ids)) == 5, ids
        wait_for(lambda: all(a.facts(one)["status"] == "completed" for one in ids), "all end")
        folders = {a.facts(one)["cwd"] for one in ids}
        assert folders == {f"{a.dir}/project.branch-{n}" for n in (1, 3, 4, 5, 6)}, folders
        assert all(seen(folder) == a.truth for folder in folders)


# -- git --

@test
def a_worktree_is_one_at_the_commit_of_that_time():
    with Project(AHR) as a:
        a.repository()
        for name in ("post-checkout", "reference-transaction"):
            hook = a.root / ".git" / "hooks" / name
            hook.write_text(f"#!/bin/sh\ntouch {a.dir}/hooked\n")
            hook.chmod(0o755)
        then = a.git("rev-parse", "HEAD").strip()
        (a.root / "new").write_text("not committed")
        (a.root / "sub" / "run").unlink()
        a.first()
        a.commit("later", hours=1)
        (a.dir / "hooked").unlink()
        status = a.git("status", "--porcelain"), a.git("rev-parse", "HEAD")
        a.branch("first", "--at", "then", "--worktree", "--", "git", "status", "--porcelain")
        into = a.dir / "project.branch-1"
        assert seen(into) == a.truth and (into / ".git").is_file()
        assert a.git("rev-parse", "HEAD", where=into).strip() == then
        assert a.out.splitlines() == [" D sub/run", "?? new"], a.out
        assert str(into) in a.git("worktree", "list") and not (a.dir / "hooked").exists()
        assert (a.git("status", "--porcelain"), a.git("rev-parse", "HEAD")) == status
        a.env["GIT_DIR"] = "/nowhere"
        a.branch("first", "--at", "then", "--worktree", "--into", a.dir / "into", "--", "true")
        del a.env["GIT_DIR"]
        assert len(a.git("worktree", "list").splitlines()) == 3


@test
def what_cannot_be_a_worktree_is_told_and_leaves_nothing():
    with Project(AHR) as a:
        a.first()
        assert "no git repository" in a.refuses(2, "first", "--worktree", "--", "true")
    with Project(AHR) as a:
        a.git("init", "-q")
        a.first()
        assert "git says: fatal" in a.refuses(1, "first", "--worktree", "--", "true")
        a.repository()
        a.after = seen(a.root)
        a.refuses(127, "first", "--worktree", "--", "no-such-command-here")
        assert len(a.git("worktree", "list").splitlines()) == 1
        (a.dir / "into").mkdir()
        a.refuses(127, "first", "--worktree", "--into", a.dir / "into", "--", "no-such-command-here", folders=["into"])
        assert not list((a.dir / "into").iterdir())


@test
def without_git_it_says_so():
    with Project(AHR) as a:
        a.first()
        (a.dir / "bin").mkdir()
        assert "git" in a.refuses(3, "first", "--", "/bin/true", env={"PATH": str(a.dir / "bin")})


# -- which moment, which command --

@test
def a_mark_without_files_names_the_nearest_snapshot():
    with Project(AHR) as a:
        a.first()
        at = a.snapshot()["id"]
        mark = json.loads((Path(a.parent["path"]) / "session.snapshots.jsonl").read_text().splitlines()[-1])
        for what in ("mark", str(mark["id"])):
            said = a.refuses(3, "first", "--at", what, "--", "true")
            assert f"ahr branch {a.parent['id']} --at {at}'" in said, said
        a.branch(*re.search(r"ahr branch (.*)'", said)[1].split(), "--", "true")


@test
def of_two_snapshots_as_near_the_newer_one_is_named():
    with Project(AHR) as a:
        keep, mark = (f"{a.binary} {what}snapshot >/dev/null --label" for what in ("fs ", ""))
        a.record(f"{keep} a; printf 123; {mark} x; {keep} b; echo 2 >a; {keep} c; printf 123456789; {keep} d; {mark} y")
        ids = {one["label"]: one["id"] for one in json.loads(a.ok("fs", "list", "--json"))}
        for what, near in ("x", "c"), ("y", "d"):
            said = a.fails(3, "branch", "first", "--at", what, "--", "true")
            assert f"--at {ids[near]}'" in said, (what, ids, said)


@test
def what_is_missing_is_told_with_what_to_do():
    with Project(AHR) as a:
        a.record("echo hi", name="bare")
        said = a.fails(3, "branch", "bare", "--", "true")
        assert "record --auto-snapshot" in said and "ahr fs snapshot" in said, said
        assert "no session" in a.fails(3, "branch", "nobody", "--", "true")
        assert "which session" in a.fails(2, "branch")
        a.ok("delete", "--yes", "bare")
        a.first()
        assert f"fs list --session {a.parent['id']}" in a.refuses(3, "first", "--at", "never", "--", "true")
        for option, value in (("--name", "a b"), ("--into", ""), ("--instruct", ""), ("--view", "odd")):
            a.refuses(2, "first", option, value, "--", "true")
        assert "command not found" in a.refuses(127, "first", "--", "no-such-command-here")
        assert "command is empty" in a.refuses(2, "first", "--", "")
        outside = json.loads(subprocess.run([a.binary, "fs", "snapshot"], cwd=a.root, env=a.env, check=True,
                                            stdin=subprocess.DEVNULL, capture_output=True).stdout)
        a.refuses(3, "first", "--at", outside["id"], "--", "true")


@test
def a_command_that_was_masked_is_asked_for():
    with Project(AHR) as a:
        a.record(f"DB_PASSWORD=hunter2hunter2 {a.binary} fs snapshot >/dev/null")
        assert "hunter2" not in json.dumps(a.facts("first")["cmd"])
        a.after, a.parent_files = seen(a.root), a.files_of("first")
        assert "is not known in full" in a.refuses(2, "first")
        meta = Path(a.facts("first")["path"]) / "session.meta.json"
        meta.write_text(json.dumps({"version": 1, "name": "first"}))
        a.parent_files = a.files_of("first")
        assert "is not known;" in a.refuses(2, "first")


# -- what the agent is told --

@test_meanwhile
def an_instruction_is_typed_once_the_program_rests():
    with Project(AHR) as a:
        a.first()
        reads = ("stty -echo; sleep 0.3; printf 'welcome\\n'; sleep 0.2; printf '> '; stty echo; read -r x; "
                 "echo \"told: $x\"")
        sid = a.ok("branch", "first", "--at", "then", "--background", "-q", "--instruct", "go 'left' -- now",
                   "--", "sh", "-c", reads).decode().strip()
        wait_for(lambda: a.facts(sid)["status"] == "completed", "the program is told")
        assert b"told: go 'left' -- now\r\n" in a.ok("cat", sid)
        wait_for(lambda: a.instructions(sid), "noted")
        assert [i["text"] for i in a.instructions(sid)] == ["go 'left' -- now"] == [
            i["text"] for i in a.instructions("first")]


@test_meanwhile
def an_agent_on_a_terminal_is_told_as_well_and_one_that_has_ended_is_noted():
    with Project(AHR) as a:
        a.first()
        agent = f"{MOCK} --seed 3 --steps 2 --no-wait; printf '> '; read -r x; echo \"told: $x\""
        with OnPty([a.binary, "branch", "first", "--at", "then", "--view", "off", "--name", "second",
                    "--instruct", "-- $HOME", "--", "sh", "-c", agent], env=a.env, cwd=a.dir) as p:
            p.read_until(b"told: -- $HOME")
            p.finish()
        wait_for(lambda: a.instructions("second"), "noted")
        assert [i["delivered"] for i in a.instructions("second")] == [True]
        a.ok("branch", "first", "--at", "then", "--name", "third", "--instruct", "too late", "--", "true")
        wait_for(lambda: a.instructions("third"), "noted in one that has ended")
        (told,) = a.instructions("third")
        assert (told["text"], told["delivered"]) == ("too late", False), told


@test
def a_session_that_still_runs_can_be_branched_from():
    with Project(AHR) as a:
        go = a.dir / "go"
        script = f"{a.binary} fs snapshot >/dev/null; echo taken; while [ ! -e {go} ]; do sleep 0.05; done"
        sid = subprocess.run([a.binary, "record", "--background", "-q", "--name", "first", "--", "sh", "-c", script],
                             cwd=a.root, env=a.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             check=True).stdout.decode().strip()
        wait_for(lambda: b"taken" in a.ok("cat", sid), "the snapshot")
        new = a.branch("first", "--instruct", "x", "--", "echo", "{}")
        assert new["parent"] == sid and [i["text"] for i in a.instructions(sid)] == ["x"]
        go.touch()
        wait_for(lambda: a.facts(sid)["status"] == "completed", "the end")


# -- harm --

@test
def a_full_disk_leaves_neither_a_folder_nor_a_session():
    with Project(AHR) as a:
        for i in range(8):
            (a.root / f"large{i}").write_bytes(os.urandom(300000))
        a.first()
        with mounted(a.dir / "small", "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
            said = a.refuses(1, "first", "--at", "then", "--into", a.dir / "small" / "new", "--", "true")
            assert "No space left on device" in said and not list((a.dir / "small").iterdir()), said
            (a.dir / "small" / "empty").mkdir()
            a.refuses(1, "first", "--at", "then", "--into", a.dir / "small" / "empty", "--", "true")
            assert not list((a.dir / "small" / "empty").iterdir())


@test
def killed_at_any_time_it_has_touched_nothing_and_named_the_folder():
    with Project(AHR) as a:
        for i in range(200):
            (a.root / f"f{i}").write_text(str(i) * 500)
        a.first()
        for n in range(8):
            into = a.dir / f"into-{n}"
            p = a.popen("branch", "first", "--at", "then", "--into", into, "--background", "--", "true",
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(n * 0.008)
            p.kill()
            _, said = p.communicate()
            wait_for(lambda: is_gone(p.pid), "it is gone")
            if into.exists() and list(into.iterdir()):
                assert f"into {into}".encode() in said, (n, said)
            assert seen(a.root) == a.after and a.files_of("first") == a.parent_files
        wait_for(lambda: all(a.facts(i)["status"] == "completed" for i in a.ids()), "those that began have ended")
        for sid in a.ids():
            new = a.facts(sid)
            assert sid == a.parent["id"] or seen(new["cwd"]) == a.truth


@test
def a_damaged_snapshot_starts_nothing():
    with Project(AHR) as a:
        a.first()
        repo = Path(a.snapshot()["repository"])
        for pack in repo.glob("objects/pack/*.pack"):
            pack.chmod(0o600)
            data = bytearray(pack.read_bytes())
            data[len(data) // 3:2 * len(data) // 3] = b"\0" * (2 * len(data) // 3 - len(data) // 3)
            pack.write_bytes(data)
        done = a.run("branch", "first", "--at", "then", "--", "true")
        assert done.returncode in (1, 3, 4), done
        assert a.folders() == ["project"] and len(a.ids()) == 1 and seen(a.root) == a.after


run()
