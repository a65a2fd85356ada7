#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill_cli_test.py -- the real program, killed at each of its calls that change a file.

usage: kill_cli_test.py AHR SHIM
"""

import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.sessions import Home, indexed, session_id
from support.tap import run, test

AHR, SHIM = sys.argv[1], str(Path(sys.argv[2]).resolve())
DATA = b"".join(b"%d: some output of an agent\r\n" % i for i in range(3000))
PACK = ("pack", "--rate", "10000", "--block-kib", "16", "--sync", "block", "-o", "x.ahr")


def killed_at(a, n, after, *args, **more):
    """True when the program was killed there; false when it came to its end."""
    env = {"LD_PRELOAD": SHIM, "KILL_AT": str(n), **({"KILL_AFTER": "1"} if after else {})}
    done = a.run(*args, env=env, **more)
    assert done.returncode in (0, -signal.SIGKILL), done
    return done.returncode != 0


def empty(a):
    for left in a.dir.glob("x.ahr*"):
        left.unlink()


def recovered(a):
    if not list(a.dir.glob("x.ahr*")):
        return b""
    seen = a.run("cat", "x.ahr")
    assert seen.returncode == 0, seen
    a.ok("recover", "x.ahr")
    assert a.ok("cat", "x.ahr") == seen.stdout
    assert [p.name for p in a.dir.glob("x.ahr*")] == ["x.ahr"]
    return seen.stdout


@test
def pack_killed_at_each_call_keeps_what_it_had_saved():
    with Ahr(AHR) as a:
        for after in (False, True):
            n, had = 1, b""
            while killed_at(a, n, after, *PACK, input=DATA):
                have = recovered(a)
                assert DATA.startswith(have)
                # One record more or less: the two threads' calls do not come in the same order.
                assert len(have) >= len(had) - 70 * 500, (n, len(have), len(had))
                had = max(had, have, key=len)
                empty(a)
                n += 1 if n < 60 or os.environ.get("AHR_TEST_LONG") else 7
            assert recovered(a) == DATA
            print(f"# {n} calls")
            empty(a)


@test
def recover_killed_at_each_call_can_be_run_again():
    with Ahr(AHR) as a:
        assert killed_at(a, 120, False, *PACK, input=DATA)
        cut = a.dir / "cut"
        cut.mkdir()
        for left in a.dir.glob("x.ahr*"):
            shutil.move(left, cut)
        want = None
        for after in (False, True):
            for n in range(1, 1000):
                for left in cut.iterdir():
                    shutil.copy(left, a.dir)
                was_killed = killed_at(a, n, after, "recover", "x.ahr")
                have = recovered(a)
                want = want or have
                assert have == want and have
                empty(a)
                if not was_killed:
                    break
            assert n > 3
            print(f"# {n} calls")


def cut_off(a):
    """A session as its recorder left it, one of which nothing was recorded, and one with a
    damaged meta."""
    home = Home(a)
    shutil.rmtree(home.dir, ignore_errors=True)
    home.add_cut_off(session_id("2026-01-02", "a"), name="cut")
    (home.folder("live", session_id("2026-01-02", "b")) / "session.ahr.tail-0").touch()
    bad = home.add_cut_off(session_id("2026-01-02", "c"), meta=False)
    (bad / "session.meta.json").write_text("{")
    return home


@test
def recover_all_killed_at_each_call_can_be_run_again():
    with Ahr(AHR) as a:
        home = cut_off(a)
        a.ok("recover", "--all")
        want = home.tree()
        ids = [session_id("2026-01-02", letter) for letter in "ac"]
        for after in (False, True):
            n, was_killed = 1, True
            while was_killed:
                cut_off(a)
                was_killed = killed_at(a, n, after, "recover", "--all")
                a.ok("recover", "--all")
                # What was to be removed may have got its other name: it does not count.
                hidden = [p for p in home.tree() if p.startswith("live/.new-")]
                assert {p: v for p, v in home.tree().items() if p not in hidden} == want, n
                assert indexed(home.dir) == ids, n
                # From there on it is SQLite that writes.
                n += 1 if n < 50 or os.environ.get("AHR_TEST_LONG") else 11
            assert n > 20 and not hidden
            print(f"# {n} calls")


run()
