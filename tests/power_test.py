#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""power_test.py -- the power goes: a file system on a loop device is shut down under the writer.

What the writer had called synced must be there after the next mount. Needs root, loop devices
and the file systems; says so where it cannot. usage: power_test.py SYNCER DUMP
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.tap import Skip, run, test

SYNCER, DUMP = (str(Path(p).resolve()) for p in sys.argv[1:3])
CYCLES = 500 if os.environ.get("AHR_TEST_LONG") else 25  # on each file system
POLICIES = ("interval", "block", "always")


def sh(*args):
    return subprocess.run(args, capture_output=True, text=True)


class Disk:
    """A file system in an image, mounted."""

    def __init__(self, kind):
        for tool in (f"mkfs.{kind}", "xfs_io", "mount"):
            if not shutil.which(tool):
                raise Skip(f"no {tool}")
        if os.geteuid() != 0:
            raise Skip("only root can mount")
        self.scratch = tempfile.TemporaryDirectory(prefix="ahr-power-")
        self.image = Path(self.scratch.name) / "image"
        self.dir = Path(self.scratch.name) / "mnt"
        self.dir.mkdir()
        with open(self.image, "wb") as f:
            f.truncate(320 << 20)
        made = sh(f"mkfs.{kind}", "-q", str(self.image))
        assert made.returncode == 0, made.stderr
        try:
            self.mount()
        except AssertionError as why:
            self.scratch.cleanup()
            raise Skip(f"cannot mount {kind} here: {why}") from None

    def mount(self):
        done = sh("mount", "-o", "loop", str(self.image), str(self.dir))
        assert done.returncode == 0, done.stderr.strip()

    def cut_power(self):
        """No log is flushed: what is not on the disk by now never will be."""
        done = sh("xfs_io", "-x", "-c", "shutdown", str(self.dir))
        assert done.returncode == 0, done.stderr

    def umount(self):
        deadline = time.monotonic() + 30
        while sh("umount", str(self.dir)).returncode:
            assert time.monotonic() < deadline, "cannot umount"
            time.sleep(0.01)

    def remount(self):
        self.umount()
        self.mount()

    def close(self):
        self.umount()
        self.scratch.cleanup()


def contiguous(recording):
    """The bytes that come back without a hole, from the first on."""
    done = sh(DUMP, str(recording))
    end = 0
    for line in done.stdout.splitlines():
        kind, _, *rest = line.split()
        if kind == "data" and int(rest[0]) == end:
            end += int(rest[1])
    return end


def cycle(disk, number):
    path = disk.dir / f"{number}.ahr"
    policy = POLICIES[number % len(POLICIES)]
    writer = subprocess.Popen([SYNCER, str(path), policy], stdout=subprocess.PIPE)
    synced, lines = 0, random.randrange(1, 40)
    for _ in range(lines):  # each line: so many bytes are synced now
        synced = int(writer.stdout.readline())
    # What is said from here on does not count: a sync that runs while the file system is shut down
    # may say OK, as a bare loop of write and fdatasync shows. No one hears such a word when the
    # power goes.
    disk.cut_power()
    writer.kill()
    writer.communicate()
    disk.remount()
    have = contiguous(path)
    assert have >= synced, f"cycle {number}, {policy}: {synced} bytes were synced, {have} are there"
    for left in disk.dir.glob(f"{number}.ahr*"):
        left.unlink()
    return synced


def campaign(kind):
    disk = Disk(kind)
    try:
        total = sum(cycle(disk, n) for n in range(CYCLES))
        print(f"# {kind}: {CYCLES} cycles, {total} bytes synced and found again")
        assert total > 0
    finally:
        disk.close()


@test
def what_was_synced_on_ext4_survives():
    campaign("ext4")


@test
def what_was_synced_on_xfs_survives():
    campaign("xfs")


run()
