#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fs_changing_test.py -- files that are written to while a snapshot reads them: each is one of its versions, or is
listed as left out. usage: fs_changing_test.py AHR [--sanitized]"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, kill, wait_for
from support.shadow import Shadow, skips
from support.tap import run, test

AHR = sys.argv[1]
IS_LONG = bool(os.environ.get("AHR_TEST_LONG"))
ROUNDS = 40 if IS_LONG else 3
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
MIB = 1 << 20

# Writes version after version of some files: a number, again and again. Between two of them a file is whole and
# closed.
WRITER = r"""
import os, random, sys, time
folder, way, sizes = sys.argv[1], sys.argv[2], [int(size) for size in sys.argv[4:]]
draw, number = random.Random(int(sys.argv[3])), 0

def chunks(data):
    step = max(1, len(data) // draw.choice([1, 2, 7, 30]))
    return [data[at:at + step] for at in range(0, len(data), step)]

def write(fd, data, pause):
    for piece in chunks(data):
        while piece:
            piece = piece[os.write(fd, piece):]
        time.sleep(draw.uniform(0, pause))

while True:
    number += 1
    size = sizes[number % len(sizes)]
    path = f"{folder}/{way} {size}"
    data = b"%015d\n" % number * (size // 16)
    if way == "over":      # in place, of the same size
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        write(fd, data, 0.02)
    elif way == "slow":    # seldom whole
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        write(fd, data, 0.5)
    elif way == "at once": # one call a version, again and again
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.pwrite(fd, data, 0)
    elif way == "cut":     # as shells and editors do
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        write(fd, data * draw.choice([1, 1, 2]), 0.01)
    elif way == "back":    # and the time of the last change is lied about
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        write(fd, data, 0.01)
        os.utime(fd, (1, 1))
    elif way == "swap":    # another file takes its name
        fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        write(fd, data, 0)
        os.rename(path + ".new", path)
    os.close(fd)
    time.sleep(draw.choice([0, 0, 0.001, 0.05]))
"""
WAYS = ("over", "slow", "at once", "cut", "back", "swap")
SIZES = (64, 5000, 3 * MIB)


def is_one_version(data, size):
    """The same number all along, and not cut off."""
    return len(data) in (size // 16 * 16, size // 16 * 32) and data == data[:16] * (len(data) // 16)


@contextlib.contextmanager
def writers(folder, draw):
    """The sizes of the files that are being written to."""
    sizes = {f"{way} {size}": size for way in WAYS for size in SIZES}
    some = [subprocess.Popen([sys.executable, "-c", WRITER, folder, way, str(draw.randrange(1 << 30)),
                              *map(str, SIZES)]) for way in WAYS]
    try:
        wait_for(lambda: all((folder / name).exists() for name in sizes), "the writers do not write")
        yield {name.encode(): size for name, size in sizes.items()}
    finally:
        for one in some:
            one.kill()
            one.wait()


@test
def each_file_is_one_of_its_versions_or_is_listed():
    print(f"# seed {SEED}")
    draw = random.Random(SEED)
    with Shadow(AHR) as a:
        folder = a.dir / "work"
        folder.mkdir()
        for number in range(200):
            (folder / f"calm {number}").write_bytes(b"%d" % number)
        whole = left_out = 0
        with writers(folder, draw) as sizes:
            for _ in range(ROUNDS):
                told = a.snapshot(folder, timeout=60)
                skipped = skips(told)
                have = a.restored(told["id"])
                for number in range(200):
                    assert have[b"calm %d" % number][2] == b"%d" % number
                for name, size in sizes.items():
                    if name in have:
                        assert is_one_version(have[name][2], size), (SEED, name, len(have[name][2]), have[name][2][:99])
                        whole += 1
                    else:
                        assert skipped.get(name) == "changing", (name, skipped)
                        left_out += 1
                assert not {*skipped} & {*have}, skipped
        print(f"# {whole} whole, {left_out} left out")
        assert whole
        a.is_sound()


def read_bytes(pid):
    """How much it has read by now."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/io", encoding="ascii") as file:
        return int(file.readline().split()[1])
    return 0


def stopped_while_it_reads(a, folder, file, change):
    """A snapshot during which the file changes: what comes of it."""
    size = file.stat().st_size
    process = a.popen("fs", "snapshot", "--dir", folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: read_bytes(process.pid) > size // 8 or is_gone(process.pid), "it reads nothing")
        os.kill(process.pid, signal.SIGSTOP)
        was_within = read_bytes(process.pid) < size
        change()
        os.kill(process.pid, signal.SIGCONT)
        out, said = process.communicate(timeout=60)
    finally:
        kill(process.pid)
    assert process.returncode == 0, said
    return out, was_within


@test
def a_file_that_changes_in_the_middle_of_being_read_is_no_mixture():
    """Stopped halfway; then the rest is another version's, and its times are set back."""
    with Shadow(AHR) as a:
        folder = a.dir / "work"
        folder.mkdir()
        file, within = folder / "large", 0
        for version in range(1, 7):
            old, new = (bytes([65 + v]) * (48 * MIB) for v in (version - 1, version))
            file.write_bytes(old)
            os.utime(file, (1, 1))

            def change():
                with open(file, "r+b") as out:
                    out.write(new)
                if version % 2:
                    os.utime(file, (1, 1))
            out, was_within = stopped_while_it_reads(a, folder, file, change)
            within += was_within
            told = json.loads(out)
            have = a.restored(told["id"])
            if b"large" in have:
                assert have[b"large"][2] in (old, new), version
            else:
                assert skips(told) == {b"large": "changing"}, told
            if within >= 2:
                break
        assert within, "it was never stopped halfway"


@test
def what_is_swapped_while_it_is_looked_at_leads_nowhere_else():
    """Files become links to a secret, folders links to elsewhere, files folders, and back."""
    script = r"""
import os, sys, itertools
os.chdir(sys.argv[1])
os.symlink("../outside", "link")
for n in itertools.count():
    os.rename("folder", "aside"); os.rename("link", "folder")
    for _ in range(10): os.stat("folder")
    os.rename("folder", "link"); os.rename("aside", "folder")
    if n % 20: continue
    os.symlink("../outside/secret", "link.new"); os.rename("link.new", "file")
    with open("file.new", "w") as f: f.write("public")
    os.rename("file.new", "file")
    os.mkfifo("fifo.new"); os.rename("fifo.new", "pipe")
    with open("pipe.new", "w") as f: f.write("public")
    os.rename("pipe.new", "pipe")
"""
    with Shadow(AHR) as a:
        outside, folder = a.dir / "outside", a.dir / "work"
        outside.mkdir()
        (outside / "secret").write_bytes(b"secret")
        (folder / "folder").mkdir(parents=True)
        inner = os.open(folder / "folder", os.O_RDONLY)  # wherever it is
        for number in range(100):
            (outside / f"{number}").write_bytes(b"secret")
        for name in ("file", "pipe"):
            (folder / name).write_bytes(b"public")
        swapper = subprocess.Popen([sys.executable, "-c", script, folder])
        try:
            for _ in range(60 if IS_LONG else 6):
                for number in range(100):  # so that each is read anew
                    with open(f"{number}", "wb", opener=lambda p, flags: os.open(p, flags, dir_fd=inner)) as out:
                        out.write(b"public")
                told = a.snapshot(folder, timeout=60)
                for path, what in a.restored(told["id"]).items():
                    assert what[0] != "file" or what[2] == b"public", (path, what)
        finally:
            swapper.kill()
            swapper.wait()
            os.close(inner)
        a.is_sound()


@test
def what_is_removed_while_it_is_looked_at_is_gone_without_a_word():
    script = r"""
import os, sys, shutil
while True:
    shutil.rmtree(sys.argv[1] + "/gone", ignore_errors=True)
    for n in range(30):
        os.makedirs(sys.argv[1] + f"/gone/{n}/x")
        with open(sys.argv[1] + f"/gone/{n}/file", "w") as f: f.write("x")
"""
    with Shadow(AHR) as a:
        folder = a.dir / "work"
        folder.mkdir()
        (folder / "stays").write_bytes(b"x")
        remover = subprocess.Popen([sys.executable, "-c", script, folder])
        try:
            for _ in range(4):
                told = a.snapshot(folder, timeout=60)
                assert {*skips(told).values()} <= {"changing"}, told
                assert a.restored(told["id"])[b"stays"][2] == b"x"
        finally:
            remover.kill()
            remover.wait()
        a.is_sound()


run()
