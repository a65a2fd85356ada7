#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_restore_test.py -- what a snapshot puts into a folder, and that it puts nothing elsewhere.
usage: fs_restore_test.py AHR [SHIM]"""

import contextlib
import json
import os
import shutil
import stat
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.handmade import DIR, EXEC, EXTRA, FILE, LINK, SUBMODULE, Handmade
from support.mounts import mounted, own_mounts
from support.nobody import NOBODY
from support.processes import wait_for
from support.tap import Skip, run, test

own_mounts()
AHR = sys.argv[1]


def seen(folder):
    """All that is below a folder: permissions, and bytes or where a link leads."""
    found = {}
    for where, folders, files in os.walk(os.fsencode(folder)):
        for name in folders + files:
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            what = (os.readlink(path) if stat.S_ISLNK(mode) else None if stat.S_ISDIR(mode)
                    else Path(os.fsdecode(path)).read_bytes())
            key = os.path.relpath(path, os.fsencode(folder))
            found[key] = (0 if stat.S_ISLNK(mode) else mode & 0o7777, what)
    return found


class Restore(Ahr):
    def __enter__(self):
        super().__enter__()
        self.base = self.dir / "base"  # into is in it, and so is what must stay as it is
        self.into = self.base / "into"
        self.outside = self.base / "outside"
        self.outside.mkdir(parents=True)
        (self.outside / "victim").write_text("whole")
        self.env.update(AHR_HOME=str(self.dir / "ahr"))
        self.made = Handmade(self.dir / "ahr", self.dir / "root")
        self.text = self.made.blob(b"text")
        return self

    def link(self, target):
        return self.made.blob(os.fsencode(target))

    def restore(self, snapshot, *args, status=0, into=None):
        """What it tells; it must end with that status, and touch nothing but the folder."""
        done = self.run("fs", "restore", snapshot, "--into", into or self.into, "--json", *args)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        assert sorted(p.name for p in self.base.iterdir()) in (["into", "outside"], ["outside"])
        assert seen(self.outside) == {b"victim": (0o644, b"whole")}, seen(self.outside)
        self.said = done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else None

    def refused(self, entries, names, status=1):
        """Restores the entries and a good one beside them, which alone may come of it."""
        snapshot = self.made.snapshot([(FILE, "good", self.text), *entries])
        for force in ((), ("--force",)):
            told = self.restore(snapshot, *force, status=status)
            assert seen(self.into).pop(b"good") == (0o644, b"text")
            assert told["files"] == 1 and told["failed_count"] >= len(names), told
            assert {f["path"] for f in told["failed"]} >= set(names), told
            assert "is not restored" in self.said, self.said
        shutil.rmtree(self.into)


# -- what is restored --

@test
def files_links_folders_and_permissions_are_as_they_were():
    with Restore(AHR) as a:
        m = a.made
        odd = b"new\nline \xff\"\\"
        sub = m.tree([(FILE, "x", m.blob(b"")), (EXEC, "y", m.blob(b"\0\1" * 100000))])
        snapshot = m.snapshot(
            [(FILE, odd, a.text), (FILE, "a-b", a.text), (DIR, "a", sub), (LINK, "abs", a.link("/etc/passwd")),
             (LINK, "up", a.link("../../outside/victim")), (LINK, "odd", m.blob(b"\xfe\n")), (FILE, "secret", a.text)],
            EXTRA + b"m 750 \0m 500 a\0m 400 a/x\0e 755 empty\0e 711 n/e/w\0m 710 n/e\0m 600 secret\0")
        told = a.restore(snapshot)
        assert (told["files"], told["folders"], told["failed_count"]) == (8, 5, 0), told
        assert told["bytes"] == 200000 + 4 * 3 + 11 + 20 + 2, told
        assert seen(a.into) == {
            odd: (0o644, b"text"), b"a-b": (0o644, b"text"), b"a": (0o500, None), b"a/x": (0o400, b""),
            b"a/y": (0o755, b"\0\1" * 100000), b"abs": (0, b"/etc/passwd"), b"up": (0, b"../../outside/victim"),
            b"odd": (0, b"\xfe\n"), b"empty": (0o755, None), b"n": (0o755, None), b"n/e": (0o710, None),
            b"n/e/w": (0o711, None), b"secret": (0o600, b"text")}
        assert a.into.stat().st_mode & 0o7777 == 0o750


@test
def a_snapshot_of_nothing_makes_the_folder_and_those_above_it():
    with Restore(AHR) as a:
        told = a.restore(a.made.snapshot([]), into=a.into / "x" / "y")
        assert (told["files"], told["folders"]) == (0, 0)
        assert seen(a.into) == {b"x": (0o700, None), b"x/y": (0o755, None)}


@test
def permissions_do_not_depend_on_the_umask():
    with Restore(AHR) as a:
        snapshot = a.made.snapshot([(FILE, "f", a.text), (DIR, "d", a.made.tree([(FILE, "f", a.text)]))],
                                   b"ahr-snapshot 1\nmodes 666 777 777\n")
        before = os.umask(0o077)
        try:
            a.restore(snapshot)
        finally:
            os.umask(before)
        assert {k: v[0] for k, v in seen(a.into).items()} == {b"f": 0o666, b"d": 0o777, b"d/f": 0o666}


# -- what is in the way --

def tree_in_the_way(a):
    m = a.made
    return m.snapshot([(FILE, "a", a.text), (DIR, "d", m.tree([(FILE, "f", a.text)])), (LINK, "l", a.link("a"))])


@test
def nothing_that_exists_is_touched_without_force():
    def file(a):
        (a.into / "a").write_text("mine")

    def deep(a):
        (a.into / "d").mkdir()
        (a.into / "d" / "f").symlink_to("nowhere")

    def folder(a):
        (a.into / "l").mkdir()

    def link(a):
        (a.into / "d").symlink_to(a.outside)

    for obstacle, name in ((file, "a"), (deep, "d/f"), (folder, "l"), (link, "d")):
        with Restore(AHR) as a:
            snapshot = tree_in_the_way(a)
            a.into.mkdir(mode=0o711)
            (a.into / "other").write_text("mine")
            obstacle(a)
            before = seen(a.into)
            a.restore(snapshot, status=1)
            assert f"'{name}' is in the way" in a.said and "--force" in a.said, a.said
            assert seen(a.into) == before and a.into.stat().st_mode & 0o777 == 0o711


@test
def what_is_not_in_the_way_stays_beside_it():
    with Restore(AHR) as a:
        snapshot = tree_in_the_way(a)
        (a.into / "d").mkdir(parents=True, mode=0o700)
        (a.into / "d" / "other").write_text("mine")
        a.restore(snapshot)
        assert seen(a.into) == {b"a": (0o644, b"text"), b"l": (0, b"a"), b"d": (0o700, None),
                                b"d/f": (0o644, b"text"), b"d/other": (0o644, b"mine")}


@test
def force_replaces_files_and_links_and_leaves_what_they_lead_to():
    with Restore(AHR) as a:
        snapshot = tree_in_the_way(a)
        a.into.mkdir()
        (a.into / "a").symlink_to(a.outside / "victim")
        (a.into / "d").symlink_to(a.outside)
        os.link(a.outside / "victim", a.into / "l")
        (a.into / "other").write_text("mine")
        a.restore(snapshot, "--force")
        assert seen(a.into) == {b"a": (0o644, b"text"), b"d": (0o755, None), b"d/f": (0o644, b"text"),
                                b"l": (0, b"a"), b"other": (0o644, b"mine")}


@test
def force_replaces_no_folder_that_has_something_in_it():
    with Restore(AHR) as a:
        snapshot = tree_in_the_way(a)
        (a.into / "a").mkdir(parents=True)
        (a.into / "l").mkdir()
        (a.into / "l" / "mine").write_text("mine")
        told = a.restore(snapshot, "--force", status=1)
        assert told["failed"] == [{"path": "l"}] and "folder with something in it" in a.said, (told, a.said)
        assert seen(a.into) == {b"a": (0o644, b"text"), b"d": (0o755, None), b"d/f": (0o644, b"text"),
                                b"l": (0o755, None), b"l/mine": (0o644, b"mine")}


@test
def the_folder_itself_may_be_reached_by_a_link():
    with Restore(AHR) as a:
        a.into.mkdir()
        (a.dir / "way").symlink_to(a.into)
        a.restore(tree_in_the_way(a), into=a.dir / "way")
        assert (a.into / "a").read_text() == "text"
        a.made.last += 1
        assert "Not a directory" in a.fails(1, "fs", "restore", a.made.snapshot([]), "--into", a.into / "a")


# -- hostile trees --

@test
def names_that_lead_elsewhere_are_refused():
    with Restore(AHR) as a:
        m = a.made
        evil = m.tree([(FILE, "victim", a.text), (FILE, "new", a.text)])
        a.refused([(DIR, "..", evil)], ["..", "../victim"])
        a.refused([(FILE, "..", a.text)], [".."])
        a.refused([(DIR, "d", m.tree([(DIR, "..", m.tree([(DIR, "..", m.tree([(DIR, "outside", evil)]))]))]))],
                  ["d/../../outside/victim"])
        a.refused([(DIR, ".", evil)], [".", "./new"])
        a.refused([(FILE, "../outside/victim", a.text), (FILE, "a/../../outside/new", a.text)],
                  ["../outside/victim", "a/../../outside/new"])
        a.refused([(FILE, str(a.outside / "victim"), a.text)], [str(a.outside / "victim")])
        a.refused([(DIR, str(a.outside), evil)], [f"{a.outside}/victim"])
        a.refused([(FILE, "x//y", a.text), (FILE, "z/", a.text)], ["x//y", "z/"])


@test
def links_in_the_snapshot_are_not_followed():
    with Restore(AHR) as a:
        m = a.made
        evil = m.tree([(FILE, "victim", a.text), (FILE, "new", a.text)])
        for target in (a.outside, "../outside", ".", "/"):
            snapshot = m.snapshot([(FILE, "good", a.text), (LINK, "way", a.link(target)), (DIR, "way", evil)])
            for force in ((), ("--force",)):
                told = a.restore(snapshot, *force, status=1)
                assert {"path": "way"} in told["failed"], told
            assert (a.into / "good").read_text() == "text"
            shutil.rmtree(a.into)
            # The same with a name that has a slash in it.
            snapshot = m.snapshot([(LINK, "way", a.link(target)), (FILE, "way/victim", a.text)])
            told = a.restore(snapshot, status=1)
            assert told["failed"] == [{"path": "way/victim"}], told
            shutil.rmtree(a.into)


@test
def nothing_called_git_is_restored_in_whatever_letters():
    with Restore(AHR) as a:
        m = a.made
        hooks = m.tree([(EXEC, "post-checkout", a.text)])
        for name in (".git", ".GIT", ".Git"):
            a.refused([(DIR, name, m.tree([(DIR, "hooks", hooks)]))], [name, f"{name}/hooks/post-checkout"])
        a.refused([(FILE, ".git", m.blob(b"gitdir: /somewhere"))], [".git"])
        a.refused([(LINK, ".git", a.link("../outside"))], [".git"])
        a.refused([(DIR, "sub", m.tree([(FILE, ".gIt", a.text)]))], ["sub/.gIt"])
        snapshot = m.snapshot([(FILE, ".gitignore", a.text), (FILE, "git", a.text), (FILE, ".git ", a.text)])
        assert a.restore(snapshot)["files"] == 3


@test
def what_is_no_file_link_or_folder_is_refused():
    with Restore(AHR) as a:
        a.refused([(SUBMODULE, "sub", a.text)], ["sub"])
        a.refused([("10644", "fifo", a.text), ("60644", "device", a.text)], ["fifo", "device"])
        a.refused([(FILE, "tree", a.made.tree([])), (FILE, "none", "12" * 20)], ["tree", "none"])
        a.refused([(LINK, "nul", a.made.blob(b"a\0b")), (LINK, "nothing", a.made.blob(b"")),
                   (LINK, "long", a.made.blob(b"x" * 100000))], ["nul", "nothing", "long"])
        a.refused([(FILE, "n" * 256, a.text)], ["n" * 256])


@test
def a_name_that_is_there_twice_is_restored_once():
    with Restore(AHR) as a:
        m = a.made
        snapshot = m.snapshot([(FILE, "x", a.text), (FILE, "x", m.blob(b"other")), (LINK, "x", a.link("/etc"))])
        for force in ((), ("--force",)):
            told = a.restore(snapshot, *force, status=1)
            assert told["failed"] == [{"path": "x"}] * 2 and "is there twice" in a.said, told
            assert len(seen(a.into)) == 1


@test
def folders_in_extra_are_held_to_the_same():
    with Restore(AHR) as a:
        bad = [b"../outside/new", b"/" + os.fsencode(a.outside) + b"/new", b"x/../../outside/new", b".git/x", b"a//b",
               b"good/x", b"way/x"]
        snapshot = a.made.snapshot(
            [(FILE, "good", a.text), (LINK, "way", a.link("../outside"))],
            EXTRA + b"".join(b"e 777 " + path + b"\0" for path in bad)
            + b"m 777 ../outside/victim\0m 777 ../outside\0m 777 way\0m 777 nowhere\0")
        told = a.restore(snapshot, status=1)
        failed = {f["path"].encode() for f in told["failed"]}
        # What is a folder by one source and a file by the other is the folder.
        assert failed >= set(bad) - {b"good/x", b"way/x"} | {b"good", b"way"}, told
        assert set(seen(a.into)) == {b"good", b"good/x", b"way", b"way/x"}, seen(a.into)


@test
def a_snapshot_that_cannot_be_read_makes_nothing():
    with Restore(AHR) as a:
        m = a.made
        for extra in (None, b"", b"ahr-snapshot 1\n", EXTRA + b"x", EXTRA + b"m 1000 a\0", EXTRA + b"e 755 a"):
            a.restore(m.snapshot([(FILE, "a", a.text)], extra), status=4)
            assert not a.into.exists()
        a.restore(m.snapshot([], b"ahr-snapshot 2\n"), status=1)
        assert "newer ahr" in a.said
        a.restore(m.snapshot([(DIR, "gone", "12" * 20)]), status=4)
        a.restore(m.snapshot([(FILE, "", a.text)]), status=4)
        assert not a.into.exists()


@test
def a_file_that_git_cannot_read_costs_the_others_nothing():
    with Restore(AHR) as a:
        names = [f"{i:03}" for i in range(100)]
        blobs = [a.made.blob(name.encode()) for name in names]
        for at in (20, 50):
            broken = a.made.repo / "objects" / blobs[at][:2] / blobs[at][2:]
            broken.chmod(0o600)
            broken.write_bytes(b"no zlib")
        told = a.restore(a.made.snapshot([(FILE, n, b) for n, b in zip(names, blobs)]), status=1)
        assert told["files"] == 98 and told["failed"] == [{"path": "020"}, {"path": "050"}], told
        assert seen(a.into) == {n.encode(): (0o644, n.encode()) for n in names if n not in ("020", "050")}


# -- others at the same folder --

@test
def a_folder_swapped_for_a_link_meanwhile_leads_nowhere():
    with Restore(AHR) as a:
        m = a.made
        inner = m.tree([(FILE, "new", a.text), (FILE, "victim", a.text)])
        many = m.tree([(DIR, f"{i:03}", inner) for i in range(200)])
        for i in range(200):  # so that a way through the link would end somewhere
            (a.dir / "away" / f"{i:03}").mkdir(parents=True)
        before = seen(a.dir / "away")
        snapshot = m.snapshot([(DIR, "d", many)])
        stop = threading.Event()

        def swap():
            into, aside = a.into / "d", a.into / "aside"
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    into.rename(aside)
                    into.symlink_to(a.dir / "away")
                with contextlib.suppress(OSError):
                    into.unlink()
                with contextlib.suppress(OSError):
                    aside.rename(into)

        for force in ((), ("--force",), ("--force",)):
            thread = threading.Thread(target=swap)
            if not force:
                a.into.mkdir()
            thread.start()
            try:
                a.run("fs", "restore", snapshot, "--into", a.into, *force)
            finally:
                stop.set()
                thread.join()
                stop.clear()
            assert seen(a.dir / "away") == before


@test
def killed_at_any_time_each_file_is_whole_or_not_there():
    with Restore(AHR) as a:
        data = {f"{i % 7}/{i:04}": b"%d" % i * (1 + i * 7919 % 30000) for i in range(500)}
        folders = {}
        for path, bytes_ in data.items():
            folder, name = path.split("/")
            folders.setdefault(folder, []).append((FILE, name, a.made.blob(bytes_)))
        snapshot = a.made.snapshot([(DIR, name, a.made.tree(files)) for name, files in sorted(folders.items())])
        for count in (1, 60, 150, 300):
            p = a.popen("fs", "restore", snapshot, "--into", a.into)
            wait_for(lambda: p.poll() is not None or sum(1 for _ in a.into.rglob("*/*")) >= count)
            p.kill()
            p.wait()
            for path in a.into.rglob("*/*"):
                assert path.read_bytes() == data[str(path.relative_to(a.into))]
            shutil.rmtree(a.into)
        a.into.mkdir()
        (a.into / "0").mkdir()
        (a.into / "0" / "0000").write_text("mine")
        a.restore(snapshot, "--force")
        assert {os.fsdecode(k): v[1] for k, v in seen(a.into).items() if b"/" in k} == data


# -- disks and permissions --

@test
def a_full_disk_is_told_and_leaves_whole_files():
    with Restore(AHR) as a:
        blobs = [a.made.blob(bytes([i]) * 300000) for i in range(10)]
        snapshot = a.made.snapshot([(FILE, str(i), blob) for i, blob in enumerate(blobs)], EXTRA + b"m 711 \0")
        with mounted(a.into, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
            for force in ((), ("--force",)):
                assert a.restore(snapshot, *force, status=1) is None
                assert "No space left on device" in a.said, a.said
                files = seen(a.into)
                assert 1 <= len(files) <= 4 and all(len(v[1]) == 300000 for v in files.values())
                if force:
                    assert a.into.stat().st_mode & 0o777 == 0o711
                else:
                    for path in a.into.iterdir():
                        path.unlink()


def test_with_shim(function):
    """Preloading does not go with the sanitizers."""
    return test(function) if len(sys.argv) > 2 else function


def odd_disk(**what):
    return {"LD_PRELOAD": str(Path(sys.argv[2]).resolve()), **{name: "1" for name in what}}


@test_with_shim
def where_two_names_are_one_the_second_never_takes_the_place_of_the_first():
    with Restore(AHR) as a:
        m = a.made
        a.env.update(odd_disk(FOLD=1))
        snapshot = m.snapshot([(FILE, "README", a.text), (FILE, "readme", m.blob(b"other")),
                               (DIR, "Sub", m.tree([(FILE, "a", a.text), (FILE, "b", a.text)])),
                               (DIR, "sub", m.tree([(FILE, "B", m.blob(b"other"))])),
                               (LINK, "Way", a.link("../outside")), (DIR, "way", m.tree([(FILE, "victim", a.text)]))])
        for force in ((), ("--force",)):
            told = a.restore(snapshot, *force, status=1)
            failed = {f["path"] for f in told["failed"]}
            assert failed >= {"readme", "sub/B"} and not failed & {"README", "Sub/a", "Sub/b"}, told
            assert {"Way"} <= failed or {"way/victim"} <= failed, told
            found = seen(a.into)
            assert found[b"readme"] == found[b"sub/b"] == (0o644, b"text"), found


@test_with_shim
def old_kernels_and_plain_disks_will_do():
    for what in ({"NO_TMPFILE": 1}, {"NO_OPENAT2": 1}, {"NO_OPENAT2": 1, "NO_TMPFILE": 1}):
        with Restore(AHR) as a:
            a.env.update(odd_disk(**what))
            snapshot = tree_in_the_way(a)
            a.restore(snapshot)
            want = seen(a.into)
            assert want == {b"a": (0o644, b"text"), b"d": (0o755, None), b"d/f": (0o644, b"text"), b"l": (0, b"a")}
            a.restore(snapshot, status=1)
            (a.into / "a").write_text("mine")
            shutil.rmtree(a.into / "d")
            (a.into / "d").symlink_to("../outside")
            a.restore(snapshot, "--force")
            assert seen(a.into) == want
            shutil.rmtree(a.into)
            a.refused([(FILE, "../outside/new", a.text)], ["../outside/new"])
            snapshot = a.made.snapshot([(LINK, "w", a.link("../outside")), (FILE, "w/new", a.text)])
            assert a.restore(snapshot, status=1)["failed"] == [{"path": "w/new"}]


def as_nobody(a):
    """The same program as another user, for whom permissions count."""
    if os.geteuid():
        return {}
    for where in (a.dir, *a.dir.rglob("*")):
        os.chown(where, NOBODY, NOBODY, follow_symlinks=False)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


@test
def folders_that_may_not_be_written_to_are_filled_first():
    with Restore(AHR) as a:
        deep = a.made.tree([(DIR, "e", a.made.tree([(FILE, "f", a.text)]))])
        snapshot = a.made.snapshot([(DIR, "d", deep)], EXTRA + b"m 555 \0m 111 d\0m 0 d/e\0m 0 d/e/f\0")
        user = as_nobody(a)
        a.ok("fs", "restore", snapshot, "--into", a.into, **user)
        a.ok("fs", "restore", snapshot, "--into", a.into, "--force", **user)
        for path, mode in ((a.into, 0o555), (a.into / "d", 0o111), (a.into / "d", 0o111)):
            assert path.stat().st_mode & 0o777 == mode
        a.into.chmod(0o755)
        (a.into / "d").chmod(0o755)
        (a.into / "d" / "e").chmod(0o755)
        assert (a.into / "d" / "e" / "f").stat().st_mode & 0o777 == 0


@test
def a_folder_of_somebody_else_is_told_and_the_rest_restored():
    with Restore(AHR) as a:
        if os.geteuid():
            raise Skip("another user's folder needs root")
        snapshot = tree_in_the_way(a)
        (a.into / "d").mkdir(parents=True)
        user = as_nobody(a)
        os.chown(a.into / "d", 0, 0)
        done = a.run("fs", "restore", snapshot, "--into", a.into, "--json", **user)
        told = json.loads(done.stdout)
        assert done.returncode == 1 and told["files"] == 2 and told["failed"] == [{"path": "d/f"}], (told, done)
        assert "Permission denied" in done.stderr.decode()


# -- single paths --

def of_some_depth(a):
    m = a.made
    deep = m.tree([(FILE, "x", a.text), (LINK, "y", a.link("x"))])
    d = m.tree([(DIR, "deep", deep), (FILE, "f", a.text), (EXEC, "run", a.text)])
    return m.snapshot([(FILE, "a", a.text), (DIR, "d", d), (FILE, "d-2", a.text), (FILE, b"-odd\n\xff", a.text)],
                      EXTRA + b"m 710 \0m 750 d\0m 500 d/deep\0m 600 d/f\0e 700 e/m/p\0m 711 e\0",
                      b"large d/large\0fifo d/deep/fifo\0device d-3\0mount m\0")


@test
def only_the_paths_that_are_asked_for_are_restored():
    d, deep, empty = (0o750, None), (0o500, None), (0o711, None)
    x, y = (0o644, b"text"), (0, b"x")
    whole = {b"d": d, b"d/deep": deep, b"d/deep/x": x, b"d/deep/y": y, b"d/f": (0o600, b"text"),
             b"d/run": (0o755, b"text")}
    odd = os.fsdecode(b"-odd\n\xff")
    for paths, expected, skipped in (
            (["a"], {b"a": x}, []),
            (["./d//f"], {b"d": d, b"d/f": (0o600, b"text")}, []),
            (["d/deep/x", "a"], {b"a": x, b"d": d, b"d/deep": deep, b"d/deep/x": x}, []),
            (["d/deep/y/"], {b"d": d, b"d/deep": deep, b"d/deep/y": y}, []),
            (["d/"], whole, ["d/large", "d/deep/fifo"]),
            (["d/deep", "d"], whole, ["d/large", "d/deep/fifo"]),
            (["d/deep"], {b"d": d, b"d/deep": deep, b"d/deep/x": x, b"d/deep/y": y}, ["d/deep/fifo"]),
            (["d-2"], {b"d-2": x}, []),
            (["e/m"], {b"e": empty, b"e/m": (0o755, None), b"e/m/p": (0o700, None)}, []),
            (["--", odd], {os.fsencode(odd): x}, [])):
        with Restore(AHR) as a:
            told = a.restore(of_some_depth(a), *paths)
            assert seen(a.into) == expected, (paths, seen(a.into))
            assert [one["path"] for one in told["skipped"]] == skipped, (paths, told)
            assert told["skipped_count"] == len(skipped) and told["failed_count"] == 0
            assert a.into.stat().st_mode & 0o7777 == 0o710
    for paths in ((), (".",), ("./", "a")):
        with Restore(AHR) as a:
            told = a.restore(of_some_depth(a), *paths)
            assert len(seen(a.into)) == 12 and told["skipped_count"] == 4, (paths, seen(a.into))


@test
def a_path_that_is_not_in_the_snapshot_restores_nothing():
    with Restore(AHR) as a:
        snapshot = of_some_depth(a)
        for path, why in (("b", ""), ("d/fx", ""), ("d/f/x", ""), ("d/dee", ""), ("e/m/p/q", ""),
                          ("d/large", "larger than --max-file"), ("m/x/y", "another file system")):
            said = a.fails(3, "fs", "restore", snapshot, "--into", a.into, "a", path)
            assert f"'{path}' is not in the snapshot" in said and why in said, said
            assert ("left out" in said) == bool(why), said
        for path in ("..", "../a", "d/../a", "d/..", "/a", f"{a.made.root}/a", ""):
            assert "is no path in a snapshot" in a.fails(2, "fs", "restore", snapshot, "--into", a.into, "a", path)
        assert not a.into.exists()


@test
def what_is_beside_a_path_stays_as_it_is():
    with Restore(AHR) as a:
        snapshot = of_some_depth(a)
        (a.into / "d" / "deep").mkdir(parents=True)
        (a.into / "a").write_text("mine")
        (a.into / "d" / "f").write_text("mine")
        a.into.chmod(0o705)
        (a.into / "d").chmod(0o701)
        a.restore(snapshot, "d/deep/x")
        assert seen(a.into)[b"d/deep"] == (0o755, None)
        a.restore(snapshot, "d/f", status=1)
        assert "'d/f' is in the way" in a.said and "more" not in a.said, a.said
        a.restore(snapshot, "d/f", "--force")
        a.restore(snapshot, "d/deep", "--force")
        assert seen(a.into) == {b"a": (0o644, b"mine"), b"d": (0o701, None), b"d/f": (0o600, b"text"),
                                b"d/deep": (0o500, None), b"d/deep/x": (0o644, b"text"), b"d/deep/y": (0, b"x")}
        assert a.into.stat().st_mode & 0o7777 == 0o705


@test
def a_path_does_not_lead_elsewhere_by_what_the_snapshot_holds():
    with Restore(AHR) as a:
        m = a.made
        out = m.tree([(FILE, "victim", a.text)])
        git = m.tree([(FILE, "config", a.text)])
        snapshot = m.snapshot([(DIR, ".git", git), (LINK, "up", a.link("../outside")), (DIR, "up", out),
                               (DIR, "d", m.tree([(DIR, "..", out), (FILE, "f", a.text)]))])
        for paths, good in ((("up/victim",), {b"up": (0o755, None), b"up/victim": (0o644, b"text")}),
                            ((".git",), {}), ((".git/config",), {}),
                            (("d",), {b"d": (0o755, None), b"d/f": (0o644, b"text")})):
            a.restore(snapshot, *paths, status=int(paths != ("up/victim",)))
            assert seen(a.into) == good, (paths, seen(a.into))
            shutil.rmtree(a.into)
        a.into.mkdir()
        (a.into / "d").symlink_to(a.outside)
        a.restore(snapshot, "d/f", status=1)
        a.restore(snapshot, "d/f", "--force")
        assert seen(a.into) == {b"d": (0o755, None), b"d/f": (0o644, b"text")}


# -- the command --

@test
def wrong_usage_is_told():
    with Restore(AHR) as a:
        snapshot = a.made.snapshot([])
        assert "--into" in a.fails(2, "fs", "restore", snapshot)
        assert "which snapshot" in a.fails(2, "fs", "restore", "--into", a.into)
        a.fails(3, "fs", "restore", "999999", "--into", a.into)
        assert not a.into.exists()


@test
def a_person_is_told_what_was_restored_and_what_not():
    with Restore(AHR) as a:
        snapshot = a.made.snapshot([(FILE, "good", a.text)] + [(FILE, f"x\n{i}/..", a.text) for i in range(9)])
        done = a.run("fs", "restore", snapshot, "--into", a.into)
        lines = done.stderr.decode().splitlines()
        assert lines[0].endswith(f"1 file (4 B) restored into {a.into}"), lines
        assert "leads elsewhere" in lines[1] and '"x\\n1/.."' in lines[2] and lines[-1].endswith("4 more"), lines
        assert done.returncode == 1 and not done.stdout and all(len(line) < 200 for line in lines)
        nothing = a.made.snapshot([(DIR, ".git", a.made.tree([(FILE, "config", a.text)]))])
        said = a.fails(1, "fs", "restore", nothing, "--into", a.into)
        assert "is never restored" in said.splitlines()[0] and "0 files" not in said, said


@test
def what_the_snapshot_has_left_out_is_told_as_well():
    with Restore(AHR) as a:
        root = a.dir / "tree"
        root.mkdir()
        (root / "kept").write_text("1\n")
        (root / "large\n").write_text("more than that\n")
        one = json.loads(a.ok("fs", "snapshot", "--dir", root, "--max-file", "4"))
        told = a.restore(one["id"])
        assert {key: told[key] for key in ("files", "skipped", "skipped_count")} == {
            "files": 1, "skipped": [{"path": "large\n", "reason": "large"}], "skipped_count": 1}
        assert one["skipped"] == told["skipped"] and not a.said
        lines = a.run("fs", "restore", one["id"], "--into", a.into, "--force").stderr.decode().splitlines()
        assert len(lines) == 3 and "1 left out when" in lines[1] and '"large\\n": larger' in lines[2], lines


run()
