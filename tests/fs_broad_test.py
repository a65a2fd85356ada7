#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_broad_test.py -- folders in which very many names change at once: their trees are made apart, and are git's own.
usage: fs_broad_test.py AHR"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.shadow import Shadow
from support.tap import run, test
from support.trees import NAMES, contents, git, is_same

AHR = sys.argv[1]
MANY = 2050  # see SNAP_NAMES_BROAD

# It writes down what it is asked for, and fails or kills its caller where it is told to.
WRAPPER = """#!/bin/sh
for word; do
    case $word in hash-object|ls-tree)
        echo $word >>{log} ;;
    esac
    case $word:$AT_TREE in
    hash-object:fail)
        exit 3 ;;
    hash-object:kill)
        {git} "$@" && kill -9 $PPID
        exit ;;
    esac
done
exec {git} "$@"
"""


class Broad(Shadow):
    def __enter__(self):
        super().__enter__()
        self.work, self.log = self.dir / "work", self.dir / "log"
        (self.dir / "bin").mkdir()
        wrapper = self.dir / "bin" / "git"
        wrapper.write_text(WRAPPER.format(git=shutil.which("git"), log=self.log))
        wrapper.chmod(0o755)
        self.env["PATH"] = f"{wrapper.parent}:{self.env['PATH']}"
        return self

    def put(self, folder, names, text="x"):
        """One file by all of these names, which is cheap; a snapshot cannot tell."""
        (self.work / folder).mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.dir) as file:
            file.write(text)
            file.flush()
            for name in names:
                (self.work / folder / name).unlink(missing_ok=True)
                os.link(file.name, self.work / folder / name)

    def is_right(self, *asked):
        """A snapshot, whose id is returned, has the tree that git makes of the same files. asked: of git, for it."""
        self.log.write_text("")
        told = self.snapshot(self.work)
        words = self.log.read_text().split()
        assert words == list(asked), words
        ours = self.git(self.repositories()[0], "rev-parse", f"{told['commit']}:files").stdout.strip()
        there = ["--git-dir", self.dir / "theirs", "--work-tree", self.work]
        git(self.dir, "init", "-q", "--bare", "theirs")
        git(self.work, *there, "add", "-A", "-f")
        assert ours == git(self.work, *there, "write-tree").strip()
        self.is_sound()
        return told["id"]


def numbered(count):
    return [f"f{n:04}" for n in range(count)]


def loose(a):
    return list(a.repositories()[0].glob("objects/??/*"))


@test
def broad_folders_have_the_tree_that_git_makes_of_them():
    with Broad(AHR) as a:
        odd = 'odd "\\\n\udcff'
        a.put("", [os.fsdecode(name) for name in NAMES if name != b"src"] + numbered(MANY))
        a.put(f"src/{odd}", numbered(MANY))
        a.put(f"src/{odd}", ["dir-", "dir.x", "dir0", "dir-0"])
        a.put(f"src/{odd}/dir/below", ["1", "2"])
        a.put("src", ["1", "2"])
        (a.work / "src" / odd / "empty" / "below").mkdir(parents=True)
        a.put(f"src/{odd}", ["f0001"], "runs")
        (a.work / "src" / odd / "f0001").chmod(0o755)
        (a.work / "f0001-link").symlink_to("f0001")
        snapshot = a.is_right("hash-object", "hash-object")
        is_same(contents(a.work), a.restored(snapshot))
        a.put("", ["one-other"])
        a.is_right()


@test
def what_has_not_changed_in_a_broad_folder_stays():
    with Broad(AHR) as a:
        a.put("in", ["a", "z"])
        a.put("in", ["becomes-folder", "becomes-empty"])
        a.put("in/becomes-file", ["1", "2"])
        a.put("in/goes", ["1", "2"])
        a.put("in/stays", ["1", "2"])
        a.put("in", numbered(MANY))
        a.put("away/all", numbered(MANY))
        a.put("", ["beside"])
        a.is_right("hash-object", "hash-object")

        for name in ("becomes-folder", "becomes-empty", "f0007"):
            (a.work / "in" / name).unlink()
        for name in ("in/becomes-file", "in/goes", "away"):
            shutil.rmtree(a.work / name)
        (a.work / "in" / "becomes-empty").mkdir()
        a.put("in/becomes-folder", ["1"])
        a.put("in/stays", ["2", "3"], "y")
        a.put("in", ["becomes-file", *(f"{name}-new" for name in numbered(MANY))])
        a.is_right("ls-tree", "hash-object")

        for path in a.work.glob("in/f*"):
            path.unlink()
        a.is_right("ls-tree", "hash-object")


@test
def a_broad_folder_may_lose_everything():
    with Broad(AHR) as a:
        a.put("in", numbered(MANY))
        a.put("", ["beside"])
        a.is_right("hash-object")
        for path in a.work.glob("in/f*"):
            path.unlink()
        a.is_right()
        a.put("", numbered(MANY))
        a.is_right("ls-tree", "hash-object")


@test
def one_that_is_killed_before_it_has_named_a_tree_leaves_nothing():
    with Broad(AHR) as a:
        a.put("", ["first"])
        a.snapshot(a.work)
        a.put("", numbered(MANY))
        a.fails(-9, "fs", "snapshot", "--dir", a.work, env={"AT_TREE": "kill"})
        assert loose(a)
        a.is_sound()
        assert len(a.listed()) == 1
        a.is_right("ls-tree", "hash-object")
        a.put("", numbered(MANY), "never to be seen")
        a.fails(-9, "fs", "snapshot", "--dir", a.work, env={"AT_TREE": "kill"})
        a.ok("fs", "delete", "--yes", min(a.listed()))
        a.ok("fs", "tidy")
        a.is_sound()
        assert not loose(a)


@test
def a_tree_that_cannot_be_made_is_told():
    with Broad(AHR) as a:
        a.put("", numbered(MANY))
        said = a.fails(1, "fs", "snapshot", "--dir", a.work, env={"AT_TREE": "fail"})
        assert "cannot keep the snapshot: git has failed with status 3" in said, said
        assert not a.listed()
        a.is_right("hash-object")


run()
