#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_trees_test.py -- random trees: what is restored is what was there, and the user's repositories do not know.
usage: fs_trees_test.py AHR [--sanitized]"""

import os
import random
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.shadow import Shadow
from support.tap import run, test
from support.trees import Tree, contents, expected, git_view, is_same, is_untouched, seal

AHR = sys.argv[1]
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))
ROUNDS = 100 if IS_LONG else 1 if "--sanitized" in sys.argv else 3
STEPS = 4
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)


def counted(want):
    """How many files and links there are, and their bytes."""
    sizes = [len(what[-1]) for what in want.values() if what[0] in ("file", "link")]
    return len(sizes), sum(sizes)


def taken(a, tree, *args, **more):
    """A snapshot of which the user's repository knows nothing; its id, and what it must hold."""
    root = os.fsdecode(tree.root)
    want = contents(root) if "--all" in args else expected(root)
    view = git_view(root)
    before = seal(root)
    told = a.snapshot(root, *args, **more)
    is_untouched(before, root)
    tree.nothing_was_run()
    assert git_view(root) == view
    assert told["skipped"] == [] and (told["files"], told["bytes"]) == counted(want), (told, counted(want))
    return told["id"], want


@test
def what_is_restored_is_what_was_there_byte_for_byte():
    print(f"# seed {SEED}")
    for number in range(ROUNDS):
        seed = SEED + number
        draw = random.Random(seed)
        with Shadow(AHR) as a:
            tree = Tree(a.dir / "work", draw)
            kept = []
            for step in range(STEPS):
                every = ["--all"] if draw.random() < 0.2 else []
                kept.append(taken(a, tree, *every))
                is_same(kept[-1][1], a.restored(kept[-1][0]), f"seed {seed}, step {step} {every}")
                if step == 1:
                    is_same(kept[-1][1], a.held(kept[-1][0]), f"seed {seed}, read with git")
                tree.change()
            for step, (snapshot, want) in enumerate(kept):
                is_same(want, a.restored(snapshot), f"seed {seed}, step {step} in the end")
            assert sorted(a.listed()) == sorted(snapshot for snapshot, _ in kept)
            a.is_sound()


@test
def a_folder_that_loses_a_file_keeps_the_others_whatever_is_beside_it():
    """Folders are in another order than their names: "a.b" comes before "a/"."""
    names = ["a", "a b", "a-b", "a.b", "a.b.c", "a0", "a/a", "a/a.b", "ab", "a\xff"]
    with Shadow(AHR) as a:
        work = a.dir / "work"
        for name in names:
            (work / name).mkdir(parents=True, exist_ok=True)
            for file in ("x", "y"):
                (work / name / file).write_text(name + file)
        (work / "a-").write_text("a file")
        a.snapshot(work)
        for name in names:
            (work / name / "x").unlink()
            is_same(contents(work), a.restored(a.snapshot(work)["id"]), name)


@test
def a_folder_that_nothing_has_changed_is_the_same_once_more():
    with Shadow(AHR) as a:
        tree = Tree(a.dir / "work", random.Random(SEED))
        first, want = taken(a, tree)
        second, again = taken(a, tree)
        assert first != second and want == again
        is_same(want, a.restored(second))
        trees = {a.git(a.repositories()[0], "rev-parse", f"{row['commit']}^{{tree}}").stdout for row in
                 a.listed().values()}
        assert len(trees) == 1, trees


@test
def what_the_user_has_told_git_is_not_heard():
    """In his environment and his configuration."""
    with Shadow(AHR) as a:
        tree = Tree(a.dir / "work", random.Random(SEED))
        trap = os.fsdecode(tree.root) + "/.git/trap"
        config = Path(a.env["HOME"]) / ".gitconfig"
        config.write_text(f"[core]\n\tfsmonitor = {trap}\n\thooksPath = {a.dir}/work/.git/hooks\n\tautocrlf = true\n"
                          f"\tattributesFile = {a.dir}/attributes\n[init]\n\ttemplateDir = {a.dir}/work/.git\n"
                          f"[filter \"odd\"]\n\tclean = {trap}\n\trequired = true\n"
                          "[fastimport]\n\tunpackLimit = 100000\n[transfer]\n\tfsckObjects = true\n"
                          "[extensions]\n\tobjectFormat = sha256\n")
        (a.dir / "attributes").write_text("* text eol=crlf ident filter=odd\n")
        (a.dir / "other").mkdir()
        env = {"GIT_DIR": str(a.dir / "work/.git"), "GIT_WORK_TREE": str(a.dir / "other"),
               "GIT_INDEX_FILE": str(a.dir / "work/.git/index"), "GIT_OBJECT_DIRECTORY": str(a.dir / "other"),
               "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(a.dir / "work/.git/objects"), "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": f"{a.dir}/work/.git/hooks",
               "GIT_NAMESPACE": "odd", "GIT_DEFAULT_HASH": "sha256", "GIT_TRACE": f"{a.dir}/other/trace",
               "GIT_CONFIG_PARAMETERS": "'core.autocrlf'='true'", "GIT_TEMPLATE_DIR": str(a.dir / "work/.git"),
               "GIT_CEILING_DIRECTORIES": str(a.dir), "GIT_EXEC_PATH": str(a.dir / "other")}
        for _ in range(2):
            snapshot, want = taken(a, tree, env=env)
            is_same(want, a.restored(snapshot))
            tree.change()
        assert os.listdir(a.dir / "other") == []
        a.is_sound()


@test
def a_folder_without_git_is_a_root_of_its_own():
    with Shadow(AHR) as a:
        folder = a.dir / "plain" / "below"
        (folder / "empty").mkdir(parents=True)
        (folder / "file").write_bytes(b"x\r\n")
        (folder / ".gitignore").write_bytes(b"no\n")
        (folder / "no").write_bytes(b"ignored all the same")
        (folder.parent / "outside").write_bytes(b"outside")
        want = contents(folder)
        del want[b"no"]
        is_same(want, a.restored(a.snapshot(folder)["id"]))


@test
def an_empty_folder_is_an_empty_snapshot():
    with Shadow(AHR) as a:
        folder = a.dir / "empty"
        folder.mkdir()
        told = a.snapshot(folder)
        assert (told["files"], told["bytes"]) == (0, 0)
        assert a.restored(told["id"]) == {}
        (folder / "file").touch()
        is_same(contents(folder), a.restored(a.snapshot(folder)["id"]))
        (folder / "file").unlink()
        assert a.restored(a.snapshot(folder)["id"]) == {}
        a.is_sound()


@test
def a_change_right_after_a_snapshot_is_in_the_next():
    """Same size, same inode, and the time of the last change set back."""
    with Shadow(AHR) as a:
        file = a.dir / "work" / "file"
        file.parent.mkdir()
        file.write_bytes(b"version 00")
        look = file.stat()
        for number in range(1, 12):
            a.snapshot(file.parent)
            with open(file, "r+b") as out:
                out.write(b"version %02d" % number)
            os.utime(file, ns=(look.st_atime_ns, look.st_mtime_ns))
            now = a.restored(a.snapshot(file.parent)["id"])
            assert now[b"file"][2] == b"version %02d" % number, now


@test
def deep_and_long_paths_come_back():
    with Shadow(AHR) as a:
        folder = a.dir / "work"
        here = folder
        while len(str(here)) < 3000:
            here /= "d" * 250
        here.mkdir(parents=True)
        (here / "file").write_bytes(b"deep")
        wide = folder / "wide"
        wide.mkdir()
        for number in range(1500):
            (wide / f"{number:x}").write_bytes(b"%d" % number)
        is_same(contents(folder), a.restored(a.snapshot(folder)["id"]))


@test
def twins_by_hard_link_are_two_files():
    with Shadow(AHR) as a:
        folder = a.dir / "work"
        folder.mkdir()
        (folder / "one").write_bytes(b"twin")
        os.link(folder / "one", folder / "two")
        os.link(folder / "one", a.dir / "outside")
        told = a.snapshot(folder)
        assert told["files"] == 2
        into = a.dir / "into"
        a.ok("fs", "restore", told["id"], "--into", into)
        looks = [os.lstat(into / name) for name in ("one", "two")]
        assert all(stat.S_ISREG(look.st_mode) and look.st_nlink == 1 for look in looks)


run()
