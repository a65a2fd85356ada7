# SPDX-License-Identifier: MIT
"""mounts.py -- file systems that only a test sees. It needs root, and says so where it cannot.

    own_mounts()    # first of all
    with mounted(folder, "-t", "tmpfs", "tmpfs"): ...
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

from support.processes import wait_for
from support.tap import Skip

ON_ITS_OWN = "AHR_TEST_OWN_MOUNTS"


def sh(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True)


def own_mounts():
    """Goes on in a mount namespace of its own, where that is allowed."""
    if os.environ.get(ON_ITS_OWN) or os.geteuid() or not shutil.which("unshare"):
        return
    if sh("unshare", "-m", "true").returncode == 0:
        os.environ[ON_ITS_OWN] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])


@contextmanager
def mounted(where, *args):
    """Or says why that cannot be tried here. Nobody outside our namespace sees it."""
    if not os.environ.get(ON_ITS_OWN):
        raise Skip("mounting needs root and a mount namespace")
    where.mkdir()
    done = sh("mount", *args, where)
    if done.returncode:
        raise Skip(f"cannot mount here: {done.stderr.strip()}")
    try:
        yield
    finally:
        wait_for(lambda: sh("umount", where).returncode == 0, "umount")
