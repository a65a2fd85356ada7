#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_diff_test.py -- what `ahr fs diff` tells of two snapshots, and of one and the files.
usage: fs_diff_test.py AHR"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.handmade import EXTRA, FILE, Handmade
from support.on_pty import OnPty
from support.tap import run, test
from support.terminal import plain_signals

AHR = sys.argv[1]


class Diff(Ahr):
    def __enter__(self):
        super().__enter__()
        self.env.update(AHR_HOME=str(self.dir / "ahr"))
        self.root = self.dir / "root"
        self.root.mkdir()
        return self

    def take(self, *args):
        return str(json.loads(self.ok("fs", "snapshot", "--dir", self.root, *args))["id"])

    def diff(self, *args):
        return self.ok("fs", "diff", *args).decode().splitlines()

    def repo(self):
        [repo] = (self.dir / "ahr" / "snapshots").glob("*.git")
        return repo


def fill(root):
    for name in ("same", "gone", "changed", "private", "becomes-link", "becomes-folder", "d/deep"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(f"{name}\n")
    for name in ("empty-gone", "empty-filled", "closed", "becomes-file", "full"):
        (root / name).mkdir()
    (root / "full" / "x").write_text("x\n")
    (root / "link").symlink_to("same")


def change(root):
    (root / "gone").unlink()
    (root / "changed").write_text("changed\nmore\n")
    (root / "private").chmod(0o600)
    (root / "becomes-link").unlink()
    (root / "becomes-link").symlink_to("same")
    (root / "becomes-folder").unlink()
    (root / "becomes-folder").mkdir()
    (root / "becomes-folder" / "new").write_text("new\n")
    (root / "becomes-file").rmdir()
    (root / "becomes-file").write_text("file\n")
    (root / "empty-gone").rmdir()
    (root / "empty-filled" / "f").write_text("f\n")
    (root / "empty-new").mkdir()
    (root / "closed").chmod(0o700)
    (root / "full" / "x").unlink()
    (root / "link").unlink()
    (root / "link").symlink_to("changed")
    Path(os.fsdecode(os.fsencode(root) + b"/odd\n\xff")).write_text("odd\n")


CHANGES = ["D becomes-file/", "A becomes-file", "D becomes-folder", "A becomes-folder/new", "T becomes-link", "M changed",
           "P closed/", "A empty-filled/f", "D empty-gone/", "A empty-new/", "D full/x", "D gone", "M link",
           'A "odd\\n\\377"', "P private"]


@test
def every_kind_of_change_is_told_by_its_letter():
    with Diff(AHR) as a:
        fill(a.root)
        one = a.take("--label", "before")
        change(a.root)
        two = a.take()
        assert a.diff(one, two) == CHANGES
        assert a.diff(two, two) == a.diff(one, "before") == []
        back = {"A": "D", "D": "A"}
        assert sorted(a.diff(two, one)) == sorted(back.get(c[0], c[0]) + c[1:] for c in CHANGES)


@test
def the_files_as_they_are_now_leave_no_snapshot_behind():
    with Diff(AHR) as a:
        fill(a.root)
        one = a.take()
        assert a.diff(one) == a.diff(one, "work") == []
        change(a.root)
        assert a.diff("last", "work") == CHANGES == a.diff(one)
        assert [s["id"] for s in json.loads(a.ok("fs", "list", "--json"))] == [int(one)]
        refs = subprocess.run(["git", "--git-dir", a.repo(), "for-each-ref", "--format=%(refname)"],
                              capture_output=True, text=True, check=True).stdout.split()
        assert refs == [f"refs/ahr/none/{one}"], refs


@test
def ignored_files_are_compared_only_with_a_snapshot_that_has_them():
    with Diff(AHR) as a:
        (a.root / ".gitignore").write_text("*.o\n")
        (a.root / "x.o").write_text("1")
        some, everything = a.take(), a.take("--all")
        (a.root / "x.o").write_text("22")
        assert a.diff(some) == []
        assert a.diff(everything) == ["M x.o"]
        assert a.diff(some, everything) == ["A x.o"]


@test
def what_one_of_them_has_left_out_is_not_told_as_a_change():
    with Diff(AHR) as a:
        (a.root / "big").write_text("x" * 5000)
        (a.root / "small").write_text("x")
        with_big, without = a.take(), a.take("--max-file", "1000")
        assert a.diff(with_big, without) == a.diff(without, with_big) == ["? big"]
        made = Handmade(a.dir / "ahr", a.root)
        deep = made.tree([(FILE, "x", made.blob(b""))])
        whole, part = made.snapshot([("40000", "d", deep)]), made.snapshot([], EXTRA, b"unreadable d\0")
        assert a.diff(whole, part) == ["? d/x"]


@test
def what_is_above_the_usual_ceiling_is_compared_if_the_snapshot_has_it():
    with Diff(AHR) as a:
        with (a.root / "large").open("wb") as file:
            file.truncate(129 << 20)
        one = a.take("--max-file", "1G")
        assert a.diff(one) == []
        os.truncate(a.root / "large", 1)
        assert a.diff(one) == ["M large"]


@test
def json_has_the_same():
    with Diff(AHR) as a:
        fill(a.root)
        one = a.take()
        change(a.root)
        told = json.loads(a.ok("fs", "diff", one, "--json"))
        words = {"A": "added", "D": "deleted", "M": "modified", "T": "type", "P": "mode"}
        assert (told["a"], told["b"]) == (int(one), "work")
        assert [c["change"] for c in told["changes"]] == [words[line[0]] for line in CHANGES]
        [odd] = [c for c in told["changes"] if "path_bytes" in c]
        assert bytes.fromhex(odd["path_bytes"]) == b"odd\n\xff"


@test
def a_patch_makes_one_of_the_other():
    with Diff(AHR) as a:
        fill(a.root)
        (a.root / "binary").write_bytes(bytes(range(256)) * 10)
        one = a.take()
        other = a.dir / "other"
        shutil.copytree(a.root, other, symlinks=True)
        change(a.root)
        (a.root / "binary").write_bytes(bytes(range(255, -1, -1)) * 10)
        (a.root / ".gitattributes").write_text("* diff=evil filter=evil\n")
        patch = a.ok("fs", "diff", one, "--patch")
        assert b"+more\n" in patch and b"GIT binary patch" in patch, patch
        subprocess.run(["git", "apply", "--unsafe-paths", f"--directory={other}"], input=patch, check=True, cwd="/",
                       env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": "/"})
        for path in a.root.rglob("*"):
            there = other / path.relative_to(a.root)
            if path.is_symlink():
                assert path.readlink() == there.readlink()
            elif path.is_file():
                assert path.read_bytes() == there.read_bytes(), path
        assert not (other / "gone").exists()
        assert a.ok("fs", "diff", one, one, "--patch") == b""


@test
def a_patch_from_and_to_nothing_is_one():
    with Diff(AHR) as a:
        nothing = a.take()
        (a.root / "x").write_text("x\n")
        assert b"+++ b/x" in a.ok("fs", "diff", nothing, "--patch")
        one = a.take()
        assert b"--- a/x" in a.ok("fs", "diff", one, nothing, "--patch")


@test
def a_terminal_is_shown_no_control_characters_of_files():
    with Diff(AHR) as a:
        one = a.take()
        (a.root / "x").write_bytes(b"\x1b]0;title\x07 \xc2\x9bm \tend\n")
        with OnPty([a.binary, "fs", "diff", one, "--patch"], cwd=a.dir, env=a.env, cols=200) as p:
            assert p.finish() == 0
            out = bytes(p.bytes)
        assert b"end" in out and b"\x1b]" not in out and b"\x9b" not in out and b"\x07" not in out, out


@test
def a_reader_that_goes_away_is_no_failure_to_tell_of():
    with Diff(AHR) as a:
        one = a.take()
        (a.root / "x").write_text("a line\n" * 100000)
        for names in ((), ("--patch",)):
            done = subprocess.run(["bash", "-c", '"$@" | head -n 1; exit "${PIPESTATUS[0]}"', "-", a.binary,
                                   "fs", "diff", one, *names], cwd=a.dir, env=a.env,
                                  preexec_fn=plain_signals, capture_output=True)
            assert done.returncode in (0, 128 + signal.SIGPIPE) and not done.stderr, done
        refs = subprocess.run(["git", "--git-dir", a.repo(), "for-each-ref"], check=True,
                              capture_output=True).stdout.splitlines()
        assert len(refs) == 1, refs


@test
def wrong_usage_and_other_folders_are_told():
    with Diff(AHR) as a:
        one = a.take()
        (a.dir / "elsewhere").mkdir()
        other = str(json.loads(a.ok("fs", "snapshot", "--dir", a.dir / "elsewhere"))["id"])
        assert "different folders" in a.fails(2, "fs", "diff", one, other)
        assert "not both" in a.fails(2, "fs", "diff", one, "--patch", "--json")
        assert "the snapshot first" in a.fails(2, "fs", "diff", "work")
        a.fails(2, "fs", "diff")
        a.fails(2, "fs", "diff", one, one, one)
        a.fails(3, "fs", "diff", "nobody")
        a.root.rmdir()
        a.fails(3, "fs", "diff", one)


run()
