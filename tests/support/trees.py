# SPDX-License-Identifier: MIT
"""trees.py -- folders full of whatever people and programs leave in them, drawn from a seed; and what of it
belongs into a snapshot, by the word of the real git.

    tree = Tree(folder, random.Random(seed))   # a git work tree with others in it
    want = expected(folder)                    # what a snapshot must hold
    is_same(want, contents(elsewhere))
    tree.change()                              # some adds, deletes, renames, modes …

Paths are bytes. A repository (`.git`) is no part of what is compared, its seal() is.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile

NAMES = [
    b"a", b"a.b", b"a-b", b"a0", b"ab", b"b", b"c", b"src", b"lib", b"doc", b"x.o", b"x.c", b"build", b"keep",
    b"with space", b" leading", b"trailing ", b"new\nline", b"tab\there", b"return\r", b"\x01\x7f", b'"quoted"',
    b"back\\slash", b"'", b"$HOME", b"`id`", b"-rf", b"--help", b":(top)x", b":colon", b"*", b"[ab]", b"?", b"~",
    b"#hash", b"!bang", b"...", b"..a", b"a..", b"\xff\xfe", b"\x80", b"caf\xc3\xa9", b"cafe\xcc\x81", b"CASE",
    b"case", b"CON", b"git~1", b".g\xe2\x80\x8cit", b"\xf0\x9f\xa6\x8a", b"n" * 255, b".hidden", b"HEAD", b"refs",
    b"deleteall", b"M 100644 inline x", b"done", b"files", b"extra", b"skipped", b".gitkeep", b"git",
]
PATTERNS = [
    b"*.o", b"build/", b"/a", b"b", b"!keep", b"**/c", b"src/**", b"lib/*", b"!lib/a", b"a*", b"\\#hash", b"\\!bang",
    b"trailing\\ ", b"[ab]", b"# a comment", b"", b"doc/a", b"?", b"!x.o", b"\xff*", b"with space", b"*/keep/",
]
LFS = (b"version https://git-lfs.github.com/spec/v1\n"
       b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")
TEXTS = [b"", b"x", b"\n", b"one\ntwo\n", b"one\r\ntwo\r\n", b"mixed\r\nends\n", b"$Id$ $Id: kept $\n", LFS,
         b"\xff\xfeu\x00t\x00f\x00", bytes(range(256)), b"<<<<<<< ours\n=======\n>>>>>>> theirs\n", b"\0" * 5000]
FILE_MODES = [0o644] * 6 + [0o755] * 3 + [0o600, 0o400, 0o444, 0o640, 0o777, 0o711, 0o500, 0o666]
FOLDER_MODES = [0o755] * 6 + [0o700, 0o750, 0o775, 0o1777, 0o711 if os.geteuid() else 0o555]
TARGETS = [b"a", b"b/c", b"..", b".", b"../../../..", b"/", b"/etc/passwd", b"/no/such", b"self", b"new\nline", b"\xff",
           b"-x", b"t" * 4000, b".git/config", b"dangling"]
EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

# What an honest git of the user's must not run while a test asks it something.
TAME = ["-c", "core.fsync=none", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
        "-c", "filter.odd.clean=cat",
        "-c", "filter.odd.smudge=cat", "-c", "filter.odd.required=false", "-c", "core.protectNTFS=false",
        "-c", "core.protectHFS=false"]


def git(folder, *args, input=b""):
    """What the user's own git says there."""
    done = run_git(folder, *args, input=input)
    assert done.returncode in (0, 1), (args, done.stderr)
    return done.stdout


def run_git(folder, *args, input=b""):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "XDG_"))}
    plain.update(HOME="/nonexistent", GIT_CONFIG_NOSYSTEM="1", GIT_OPTIONAL_LOCKS="0", LC_ALL="C",
                 GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
    return subprocess.run(["git", *TAME, "-C", folder, *args], input=input, capture_output=True, env=plain)


# -- looking --

def _walk(root):
    """Each path below it with its lstat, folders before what is in them; no `.git`."""
    ahead = [b""]
    while ahead:
        folder = ahead.pop()
        for name in sorted(os.listdir(os.path.join(root, folder)), reverse=True):
            if name == b".git":
                continue
            path = os.path.join(folder, name)
            look = os.lstat(os.path.join(root, path))
            if stat.S_ISDIR(look.st_mode):
                ahead.append(path)
            yield path, look


def read(path):
    """The bytes of a file, whose time of last access stays what it is."""
    with open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NOATIME)) as file:
        return file.read()


def contents(root):
    """path: ("file", permissions, bytes), ("link", target), ("folder", permissions) or ("other", type)."""
    root, found = os.fsencode(root), {}
    for path, look in _walk(root):
        kind, mode = stat.S_IFMT(look.st_mode), look.st_mode & 0o777
        if kind == stat.S_IFREG:
            found[path] = ("file", mode, read(os.path.join(root, path)))
        elif kind == stat.S_IFLNK:
            found[path] = ("link", os.readlink(os.path.join(root, path)))
        elif kind == stat.S_IFDIR:
            found[path] = ("folder", mode)
        else:
            found[path] = ("other", kind)
    return found


def expected(root):
    """Of contents(), what git does not ignore. A nested repository judges by its own index and patterns alone, and
    what is left of it in an outer one that ignores it is nothing."""
    root, all_of_it = os.fsencode(root), contents(root)
    with tempfile.TemporaryDirectory(prefix="ahr-oracle-") as scratch:
        copy = os.path.join(os.fsencode(scratch), b"copy")
        _copy_rules(root, copy, all_of_it)
        return _kept(root, copy, b"", all_of_it)


def _copy_rules(root, copy, all_of_it):
    """But the folders, the .gitignore files, and a repository wherever there is one."""
    for path, what in [(b"", ("folder", 0)), *all_of_it.items()]:
        if what[0] == "folder":
            os.makedirs(os.path.join(copy, path))
            if not path or _is_repository(root, path):
                git(copy, "init", "-q", "--template=", os.path.join(copy, path))
                os.mkdir(os.path.join(copy, path, b".git/info"))
                with open(os.path.join(copy, path, b".git/info/exclude"), "wb") as file:
                    file.write(_exclude(os.path.join(root, path)))
        elif what[0] == "file" and os.path.basename(path) == b".gitignore":
            with open(os.path.join(copy, path), "wb") as file:
                file.write(what[2])


def _is_repository(root, path):
    return os.path.lexists(os.path.join(root, path, b".git"))


def _exclude(folder):
    """All work trees of a repository share it."""
    if not _is_repository(folder, b""):
        return b""
    common = git(folder, "rev-parse", "--git-common-dir").rstrip(b"\n")
    try:
        return read(os.path.join(folder, common, b"info/exclude"))
    except FileNotFoundError:
        return b""


def _kept(root, copy, top, all_of_it):
    """What is kept of what belongs to the repository at `top`, and to those inside of it."""
    inner = [p for p, what in all_of_it.items() if what[0] == "folder" and p != top and _is_repository(root, p)]
    mine = [p for p in all_of_it if not any(p.startswith(r + b"/") for r in inner)]
    start = len(top) + 1 if top else 0
    asked = b"".join(b"./" + p[start:] + b"\0" for p in mine)  # no name begins with a colon so
    said = git(os.path.join(copy, top), "check-ignore", "-z", "--stdin", "--no-index", input=asked).split(b"\0")
    ignored = {os.path.join(top, p[2:]) for p in said if p}
    tracked, folders = _tracked(root, top)
    kept = {p: all_of_it[p] for p in mine
            if p not in ignored or p in (folders if all_of_it[p][0] == "folder" else tracked)}
    for r in inner:
        if r in kept:
            kept.update(_kept(root, copy, r, {p: w for p, w in all_of_it.items() if p.startswith(r + b"/")}))
    return kept


def _tracked(root, top):
    """What is in the index; and the folders in which there is some of that."""
    tracked, folders = set(), set()
    said = git(os.path.join(root, top), "ls-files", "-s", "-z") if _is_repository(root, top) else b""
    for line in said.split(b"\0"):
        name = os.path.join(top, line.partition(b"\t")[2])
        if line and line.startswith(b"160000"):
            folders.add(name)
        elif line:
            tracked.add(name)
        while line and (name := os.path.dirname(name)) != top:
            folders.add(name)
    return tracked, folders


def is_same(want, have, what=""):
    """Or says what is not."""
    if want == have:
        return
    def brief(entry):
        return entry and tuple(f"{len(x)} bytes {x[:40]!r}" if isinstance(x, bytes) else
                               oct(x) if isinstance(x, int) else x for x in entry)
    told = [f"{path!r}: {brief(want.get(path))} became {brief(have.get(path))}"
            for path in sorted({*want, *have}) if want.get(path) != have.get(path)]
    raise AssertionError(f"{what}: {len(told)} are not the same:\n" + "\n".join(told[:20]))


def seal(root):
    """All that can be told of a folder, `.git` included: nothing of it may change, not even a time."""
    root, found = os.fsencode(root), {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files, b"."):
            path = os.path.join(folder, name)
            look = os.lstat(path)
            is_file = stat.S_ISREG(look.st_mode)
            data = hashlib.sha1(read(path)).digest() if is_file else b""
            found[path] = (look.st_mode, look.st_ino, look.st_nlink, look.st_uid, look.st_size, look.st_mtime_ns,
                           look.st_ctime_ns, look.st_atime_ns if is_file else 0, data)
    return found


def is_untouched(before, root):
    now = seal(root)
    touched = [path for path in {*before, *now} if before.get(path) != now.get(path)]
    assert not touched, [(path, before.get(path), now.get(path)) for path in touched[:5]]


def git_view(root):
    """What the user sees of his repository; also that git does not understand his .gitmodules."""
    asked = (("status", "--porcelain=v2", "-z", "--branch", "--ignored"), ("for-each-ref",), ("stash", "list"),
             ("config", "--list", "--local"), ("ls-files", "-s", "-z"))
    return [(done.returncode, done.stdout) for done in (run_git(root, *args) for args in asked)]


# -- growing --

class Tree:
    """A work tree of git. witness: a file that is there once something of the user's was run."""

    def __init__(self, root, draw, entries=60):
        self.root, self.draw = os.fsencode(root), draw
        os.makedirs(self.root, exist_ok=True)
        self.witness = self.root + b".witness"
        self.repositories = []
        self._repository(b"")
        for _ in range(entries):
            draw.choice([self.add_file] * 5 + [self.add_folder] * 3 + [self.add_link])()
        self.nested()
        self.submodule()
        self.work_tree()
        for _ in range(entries // 4):
            draw.choice([self.add_file, self.add_file, self.add_folder, self.ignore, self.ignore])()
        self.track()
        self.traps()

    def change(self, times=12):
        ways = [self.add_file, self.add_file, self.add_folder, self.add_link, self.delete, self.rename, self.chmod,
                self.edit, self.edit, self.touch, self.swap_kind, self.ignore, self.track]
        for _ in range(times):
            self.draw.choice(ways)()

    # -- choosing --

    def _all(self, *kinds):
        """Work trees of git keep their place."""
        return [path for path, look in _walk(self.root)
                if path not in self.repositories and (not kinds or stat.S_IFMT(look.st_mode) in kinds)]

    def _some(self, *kinds):
        found = self._all(*kinds)
        return self.draw.choice(found) if found else None

    def _folder(self):
        return self.draw.choice([b"", *self.repositories, *self._all(stat.S_IFDIR)])

    def _new(self):
        """A path at which there is nothing."""
        while True:
            path = os.path.join(self._folder(), self.draw.choice(NAMES))
            if len(path) < 2000 and not os.path.lexists(self._at(path)):
                return path

    def _at(self, path):
        return os.path.join(self.root, path)

    def _bytes(self):
        if self.draw.random() < 0.03:
            return self.draw.randbytes(self.draw.randrange(1 << 20))
        if self.draw.random() < 0.3:
            return self.draw.randbytes(self.draw.randrange(3000))
        return self.draw.choice(TEXTS)

    # -- the ways to change --

    def add_file(self, path=None):
        path = path or self._new()
        with open(self._at(path), "wb") as file:
            file.write(self._bytes())
        os.chmod(self._at(path), self.draw.choice(FILE_MODES))

    def add_folder(self, path=None):
        path = path or self._new()
        os.mkdir(self._at(path))
        os.chmod(self._at(path), self.draw.choice(FOLDER_MODES))

    def add_link(self, path=None):
        os.symlink(self.draw.choice(TARGETS), self._at(path or self._new()))

    def delete(self):
        if (path := self._some()) and not self._holds_repository(path):
            self._remove(path)

    def rename(self):
        """Also over another file."""
        old, new = self._some(), self._new()
        if self.draw.random() < 0.2:
            new = self._some(stat.S_IFREG) or new
        if old and old != new and not self._holds_repository(old) and not new.startswith(old + b"/"):
            if os.path.lexists(self._at(new)) and os.path.isdir(self._at(old)):
                return
            os.rename(self._at(old), self._at(new))

    def chmod(self):
        if path := self._some(stat.S_IFREG, stat.S_IFDIR):
            is_folder = os.path.isdir(self._at(path))
            os.chmod(self._at(path), self.draw.choice(FOLDER_MODES if is_folder else FILE_MODES))

    def edit(self):
        """Some bytes become others; the size and the time of the last change may stay."""
        if path := self._some(stat.S_IFREG):
            look = os.stat(self._at(path))
            data = bytearray(read(self._at(path)))
            if data:
                data[self.draw.randrange(len(data))] ^= 1 + self.draw.randrange(255)
            if self.draw.random() < 0.5:
                data += b"more\n"
            os.chmod(self._at(path), look.st_mode | 0o200)
            with open(self._at(path), "r+b") as file:
                file.write(data)
            os.chmod(self._at(path), look.st_mode)
            if self.draw.random() < 0.3:
                os.utime(self._at(path), ns=(look.st_atime_ns, look.st_mtime_ns))

    def touch(self):
        if path := self._some(stat.S_IFREG):
            os.utime(self._at(path))

    def swap_kind(self):
        if (path := self._some()) and not self._holds_repository(path):
            self._remove(path)
            self.draw.choice([self.add_file, self.add_folder, self.add_link])(path)

    def ignore(self):
        path = os.path.join(self._folder(), b".gitignore")
        if not os.path.lexists(self._at(path)) or os.path.isfile(self._at(path)):
            end = self.draw.choice([b"\n", b"\n", b"\r\n"])
            with open(self._at(path), "ab") as file:
                file.write(b"".join(self._pattern() + end for _ in range(self.draw.randrange(1, 4))))

    def _pattern(self):
        """Often the name of something that is there."""
        name = os.path.basename(self._some() or b"a")
        if self.draw.random() < 0.4 or re.search(rb"[\r\n]", name):
            return self.draw.choice(PATTERNS)
        plain = re.sub(rb"[\\*?\[ #!]", rb"\\\g<0>", name)
        return self.draw.choice([b"%s", b"%s/", b"/%s", b"%s/*", b"**/%s", b"!%s"]) % plain

    def _remove(self, path):
        if os.path.isdir(self._at(path)) and not os.path.islink(self._at(path)):
            shutil.rmtree(self._at(path))
        else:
            os.unlink(self._at(path))

    def _holds_repository(self, path):
        return any(r == path or r.startswith(path + b"/") for r in self.repositories)

    # -- what git has to do with it --

    def track(self):
        """Some of it, also what is ignored, goes into the index of the outermost repository."""
        inner = tuple(r + b"/" for r in self.repositories if r)
        files = [p for p in self._all(stat.S_IFREG, stat.S_IFLNK) if not p.startswith(inner)]
        self._index(b"", self.draw.sample(files, len(files) // 4))

    def _index(self, repository, paths, version=None):
        lines = b"".join(b"100644 %s\t%s\0" % (EMPTY_BLOB, p) for p in paths)
        git(self._at(repository), "hash-object", "-w", "--stdin")
        git(self._at(repository), "update-index", "--index-version", str(self.draw.choice([2, 3, 4])))
        git(self._at(repository), "update-index", "-z", "--replace", "--index-info", input=lines)

    def _repository(self, path, *options):
        git(self.root, "init", "-q", *options, self._at(path))
        self.repositories.append(path)

    def _populate(self, path):
        for name in (b"a", b"x.o", b"b", b"odd"):
            self.add_file(os.path.join(path, name))
        os.mkdir(self._at(os.path.join(path, b"hollow")))
        self._index(path, [b"x.o", b"b", b"vanished"])
        with open(self._at(os.path.join(path, b".gitignore")), "wb") as file:
            file.write(b"*.o\nb\n")

    def nested(self):
        path = self._new()
        self._repository(path)
        self._populate(path)
        os.makedirs(self._at(os.path.join(path, b".git/info")), exist_ok=True)
        with open(self._at(os.path.join(path, b".git/info/exclude")), "ab") as file:
            file.write(b"odd\n")

    def submodule(self):
        path = b"module"
        os.makedirs(self._at(b".git/modules"))
        self._repository(path, "--separate-git-dir", self._at(b".git/modules/module"))
        self._populate(path)
        git(self.root, "update-index", "--add", "--cacheinfo", b"160000," + b"1" * 40 + b",module")
        with open(self._at(b".gitmodules"), "wb") as file:
            file.write(b'[submodule "module"]\n\tpath = module\n\turl = https://example.org/module\n')

    def work_tree(self):
        empty_tree = git(self.root, "mktree").strip()
        commit = git(self.root, "commit-tree", empty_tree, "-m", "x").strip()
        git(self.root, "update-ref", "refs/heads/side", commit)
        git(self.root, "worktree", "add", "-q", "--no-checkout", "--detach", self._at(b"tree"), commit)
        self.repositories.append(b"tree")
        self._populate(b"tree")

    def traps(self):
        """Filters, hooks and a monitor, which must not be run, and attributes that must not be heeded."""
        script = b"#!/bin/sh\necho \"$0 $*\" >>'%s'\ncat\n" % self.witness
        trap = self._at(b".git/trap")
        with open(trap, "wb") as file:
            file.write(script)
        os.chmod(trap, 0o755)
        for hook in (b"post-index-change", b"reference-transaction", b"post-commit", b"pre-auto-gc"):
            os.makedirs(self._at(b".git/hooks"), exist_ok=True)
            shutil.copy(trap, self._at(b".git/hooks/" + hook))
        for key, value in ((b"core.fsmonitor", trap), (b"filter.odd.clean", trap), (b"filter.odd.smudge", trap),
                           (b"filter.odd.required", b"true"), (b"core.autocrlf", b"true"), (b"gc.auto", b"1"),
                           (b"core.hooksPath", self._at(b".git/hooks")), (b"core.symlinks", b"false"),
                           (b"core.fileMode", b"false"), (b"core.ignoreCase", b"true")):
            git(self.root, "config", key, value)
        with open(self._at(b".gitattributes"), "wb") as file:
            file.write(b"* text=auto eol=crlf ident filter=odd working-tree-encoding=UTF-16\n*.lfs filter=lfs -text\n")

    def nothing_was_run(self):
        if os.path.exists(self.witness):
            raise AssertionError(read(self.witness))
