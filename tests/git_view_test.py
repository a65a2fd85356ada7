#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""git_view_test.py -- what is ignored and what is tracked, held against git's own word.

usage: git_view_test.py GIT_VIEW   AHR_TEST_SEED gives other patterns, AHR_TEST_LONG=1 more of them.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.tap import Skip, run, test

GIT_VIEW = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("AHR_TEST_SEED", "2026"))
CASES = 4000 if os.environ.get("AHR_TEST_LONG") else 200
CLASSES = ("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
           "upper", "xdigit")
# Names that patterns may trip over, as bytes: git takes any.
NAMES = [b"a", b"b", b"ab", b"aab", b"abab", b"foo", b"foo.c", b"a.o", b"A", b".a", b"x y", b" x", b"x ",
         b"a\\b", b"\\", b"*", b"**", b"?", b"[x]", b"[", b"]", b"!a", b"#a", b"~", b"a~", b"-", b"^",
         b"a-b", b"\xc3\xa9", b"\xff", b"a\nb", b"\r", b"a\r", b"\t", b"a\t", b"\xef\xbb\xbfa", b"z"]
ATOMS = [b"*", b"*", b"**", b"***", b"?", b"/", b"/", b"/**/", b"**/", b"/**", b"**\\/", b"a", b"b", b"ab",
         b".", b"foo", b"\\", b"\\*", b"\\a", b"\\/", b"[a-c]", b"[!a]", b"[^ab]", b"[]a]", b"[!]]", b"[a-]",
         b"[-a]", b"[\\]]", b"[a\\-c]", b"[[:alpha:]]", b"[![:space:]_]", b"[[:nope:]]", b"[[:alpha]",
         b"[[::]]", b"[[:]", b"[", b"]", b"[a", b"[/]", b"[.-0]", b"[c-a]", b"[a-c-e]", b"[\xc3\xa9]",
         b"[\x80-\xff]", b" ", b"\\ ", b"!", b"#", b"\t", b"\r", b"~", b"-", b"\xff", b"x", b"[[-\\]]", b"a[!x]b", b"a[.-0]b", b"a?b"]


def environment(home):
    return {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": home, "LC_ALL": "C",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsync", "GIT_CONFIG_VALUE_0": "none"}


class Tree:
    """A repository that is thrown away."""

    def __init__(self, *init):
        if not shutil.which("git"):
            raise Skip("git is missing")
        self.scratch = tempfile.TemporaryDirectory(prefix="ahr-git-view-")
        self.home = self.scratch.name
        self.path = os.fsencode(os.path.join(self.home, "tree"))
        os.mkdir(self.path)
        self.git("init", "-q", "--template=", *init)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def git(self, *args, stdin=b"", codes=(0,), cwd=None):
        done = subprocess.run(["git", *args], cwd=cwd or self.path, input=stdin, capture_output=True,
                              env=environment(self.home), check=False)
        assert done.returncode in codes, f"git {args}: {done.stderr}"
        return done.stdout

    def put(self, path, data=b""):
        whole = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(data)

    def folder(self, path):
        os.makedirs(os.path.join(self.path, path), exist_ok=True)

    def ours(self, what, paths=(), cwd=None):
        return subprocess.run([GIT_VIEW, what, cwd or self.path], check=True, stdout=subprocess.PIPE,
                              input=b"".join(p + b"\0" for p in paths)).stdout

    def check_ignored(self, paths):
        """Every path that git sees otherwise fails the test, with what git has to say."""
        said = self.git("check-ignore", "--no-index", "-z", "-v", "-n", "--stdin", codes=(0, 1),
                        stdin=b"".join(p + b"\0" for p in paths)).split(b"\0")
        rows = [said[i:i + 4] for i in range(0, len(said) - 1, 4)]
        ours = self.ours("ignored", paths)
        assert len(rows) == len(paths) == len(ours), (len(rows), len(paths), len(ours))
        wrong, hits = [], 0
        for path, (source, line, pattern, named), our in zip(paths, rows, ours):
            assert path == named, (path, named)
            is_ignored = bool(pattern) and not pattern.startswith(b"!")
            hits += is_ignored
            if is_ignored != (our == ord("1")):
                text = b""
                if source:
                    with open(os.path.join(self.path, source), "rb") as file:
                        text = file.read()
                wrong.append((path, is_ignored, source, line, pattern, text[:300]))
        for row in wrong[:10]:
            print(f"# git says {row}")
        assert not wrong, f"{len(wrong)} of {len(paths)} paths"
        return hits

    def check_tracked(self, cwd=None):
        expected = sorted(set(self.git("ls-files", "-z", cwd=cwd).split(b"\0")[:-1]))
        ours = self.ours("tracked", cwd=cwd).split(b"\0")[:-1]
        assert ours == expected, f"{len(ours)} paths, not {len(expected)}"
        return expected


def random_pattern(rng, paths):
    """Made of pieces, or of a path that is there with some of it made wild."""
    if rng.random() < 0.5:
        made = b"".join(rng.choice(ATOMS) for _ in range(rng.randint(1, 5)))
    else:
        parts = rng.choice(paths).split(b"/")
        parts = parts[rng.randrange(len(parts)):] if rng.random() < 0.5 else parts
        wild = [b"*", b"**", b"?", b"[!/]*", b"\\a*", b"*a", b"a*", b"*a*b"]
        parts = [rng.choice(wild) if rng.random() < 0.3 else part for part in parts]
        made = b"/".join(parts)
        if rng.random() < 0.3 and made:  # a wildcard in the middle of something
            at = rng.randrange(len(made))
            made = made[:at] + rng.choice([b"*", b"**", b"?", b"\\"]) + made[at + rng.randint(0, 1):]
    before = rng.choice([b"", b"", b"", b"!", b"/", b"!/", b"\\", b"**/"])
    behind = rng.choice([b"", b"", b"", b"/", b" ", b"  ", b"\\ ", b"\t", b"/**", b"\r", b"\0x", b"\\"])
    return before + made + behind


def random_file(rng, paths):
    lines = [random_pattern(rng, paths) for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.2:
        lines.insert(0, rng.choice([b"*", b"/*", b"a", b"*/", b"", b"# no", b"**"]))
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n"])
    text = end.join(lines) + rng.choice([b"", end])
    return b"\xef\xbb\xbf" + text if rng.random() < 0.1 else text


def random_paths(rng):
    """Folders, and paths in them, which need not be there for git to tell."""
    folders, paths = [b""], []
    for _ in range(rng.randint(1, 7)):
        above = rng.choice(folders)
        if above.count(b"/") < 4:
            folders.append(above + rng.choice(NAMES) + b"/")
    for folder in folders:
        paths += [folder + name for name in rng.sample(NAMES, 6)]
    return folders[1:], sorted(set(paths + [f[:-1] for f in folders[1:]]))


def make_case(tree, rng, base):
    folders, paths = random_paths(rng)
    for folder in folders:
        tree.folder(base + folder)
    for folder in [b""] + [f for f in folders if rng.random() < 0.3]:
        below = [p[len(folder):] for p in paths if p.startswith(folder)]
        tree.put(base + folder + b".gitignore", random_file(rng, below or [b"a"]))
    return [base + p for p in paths]


@test
def random_patterns_mean_what_they_mean_to_git():
    rng = random.Random(SEED)
    with Tree() as tree:
        paths = []
        for i in range(CASES):
            paths += make_case(tree, rng, b"case %d/" % i)
        hits = tree.check_ignored(paths)
        print(f"# {hits} of {len(paths)} ignored")
        assert hits > len(paths) // 20


@test
def files_at_the_root_and_of_the_repository_count_too():
    rng = random.Random(SEED + 1)
    for _ in range(CASES // 15):
        with Tree() as tree:
            paths = make_case(tree, rng, b"")
            tree.put(b".git/info/exclude", random_file(rng, paths))
            tree.check_ignored(paths)


@test
def classes_hold_what_they_hold_for_git():
    names = [b"n" + bytes([c]) for c in range(1, 256) if c != ord("/")]
    with Tree() as tree:
        paths = []
        for name in CLASSES:
            for i, sign in enumerate(("", "!", "^")):
                base = f"{name}{i}/".encode()
                tree.put(base + b".gitignore", f"n[{sign}[:{name}:]]\n".encode())
                paths += [base + n for n in names]
        assert tree.check_ignored(paths) > len(CLASSES)


@test
def a_pattern_that_takes_others_for_ever_is_quick():
    with Tree() as tree:
        tree.put(b".gitignore", b"*a" * 100 + b"*b\n" + b"**/*a*/" * 30 + b"b\n")
        deep = b"/".join([b"a" * 60] * 40)
        assert tree.ours("ignored", [b"a" * 255, deep, b"a" * 200 + b"b"]) == b"001"


ODD = [b"a", b"a b", b"a-b", b"a.b", b"a/b/c/d", b"a0", b"\xff\xfe", b"new\nline", b"deep/" * 30 + b"x", b"z" * 200,
       b"z" * 199 + b"y", b"quote\"", b"dir/x", b"dir.x", b"dir0", b"dir/sub/y"]


@test
def an_index_of_any_version_is_read():
    long = b"/".join([b"l" * 255] * 16)  # its length just does not fit the field for it
    assert len(long) == 0xfff
    for init in ((), ("--object-format=sha256",)):
        with Tree(*init) as tree:
            names = [n for n in ODD if n != b"a"] + [b"b%d/f%d" % (i % 7, i) for i in range(300)]
            for name in names:
                tree.put(name)
            tree.git("add", "-A")
            blob = tree.git("hash-object", "-w", "--stdin", stdin=b"x").strip()
            tree.git("update-index", "--index-info", stdin=b"100644 %s\t%s\n" % (blob, long))
            for version in ("2", "3", "4"):
                tree.git("update-index", "--index-version", version)
                assert len(tree.check_tracked()) == len(names) + 1, version
            tree.put(b"later", b"")
            tree.git("add", "-N", "later")
            tree.git("update-index", "--skip-worktree", "dir/x")
            for version in ("2", "3", "4"):  # these flags need the third at least
                tree.git("update-index", "--index-version", version)
                assert len(tree.check_tracked()) == len(names) + 2, version


@test
def a_path_is_found_in_the_index_or_below_it():
    with Tree() as tree:
        for name in ODD[1:]:
            tree.put(name)
        tree.git("add", "-A")
        said = tree.ours("tracked", [b"a", b"a b", b"a/b", b"a/b/c/d", b"a/", b"dir", b"di", b"dir/", b"dir/sub",
                                     b"dir/sub/y", b"zz", b"", b"\xff", b"dir.x"]).split()
        assert said == [b"b", b"h", b"b", b"h", b"-", b"b", b"-", b"-", b"b", b"h", b"-", b"-", b"-", b"h"], said


@test
def conflicts_are_one_path_each():
    with Tree() as tree:
        blob = tree.git("hash-object", "-w", "--stdin", stdin=b"x").strip()
        tree.git("update-index", "--index-info", stdin=b"".join(
            b"100644 %s %d\t%s\n" % (blob, stage, name) for name in (b"both", b"c", b"cc") for stage in (1, 2, 3)))
        assert tree.check_tracked() == [b"both", b"c", b"cc"]


@test
def a_split_index_and_a_broken_one_have_no_paths():
    with Tree() as tree:
        for name in ODD[1:]:
            tree.put(name)
            os.utime(os.path.join(tree.path, name), (1e9, 1e9))  # else git keeps a second look in mind
        tree.git("add", "-A")
        index = Path(os.fsdecode(tree.path), ".git", "index")
        whole = index.read_bytes()
        tree.git("update-index", "--split-index")
        tree.put(b"added")
        tree.git("add", "added")
        assert tree.ours("tracked") == b""
        for broken in (b"", b"DIRC", whole[:-1], whole[:100], whole + b"x", b"X" + whole[1:],
                       whole[:4] + b"\0\0\0\5" + whole[8:], whole[:8] + b"\xff\xff\xff\xff" + whole[12:]):
            index.write_bytes(broken)
            assert tree.ours("tracked") == b"", broken[:40]
        index.unlink()
        os.mkfifo(index)
        assert tree.ours("tracked") == b""


@test
def a_worktree_has_its_own_index_and_shares_what_is_excluded():
    with Tree() as tree:
        tree.put(b"one")
        tree.put(b".git/info/exclude", b"*.secret\n")
        tree.git("add", "-A")
        tree.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
        tree.git("worktree", "add", "-q", "--detach", "../other")
        other = os.path.join(os.fsencode(tree.home), b"other")
        with open(os.path.join(other, b"two"), "wb"):
            pass
        tree.git("add", "two", cwd=other)
        assert tree.check_tracked(cwd=other) == [b"one", b"two"]
        assert tree.check_tracked() == [b"one"]
        assert tree.ours("ignored", [b"x.secret", b"x"], cwd=other) == b"10"


@test
def a_submodule_is_a_path_and_has_its_own_index():
    with Tree() as inner, Tree() as tree:
        inner.put(b"deep/file")
        inner.git("add", "-A")
        inner.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
        tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", os.fsdecode(inner.path), "sub")
        assert tree.check_tracked() == [b".gitmodules", b"sub"]
        sub = os.path.join(tree.path, b"sub")
        assert os.path.isfile(os.path.join(sub, b".git"))
        assert tree.check_tracked(cwd=sub) == [b"deep/file"]


@test
def a_git_file_that_leads_nowhere_has_nothing():
    with Tree() as tree:
        for text in (b"", b"gitdir: ", b"gitdir: nowhere\n", b"gitdir: .git\n", b"x" * 100000, b"gitdir: \0/\n"):
            tree.put(b"in/.git", text)
            assert tree.ours("tracked", cwd=os.path.join(tree.path, b"in")) == b""


run()
