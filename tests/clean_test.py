#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clean_test.py -- sessions that have had their time go, with what their runs kept in their projects, and
nothing that is protected does. usage: clean_test.py AHR [KILL_SHIM]"""

import fcntl
import json
import os
import re
import random
import signal
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.household import Household, start_of
from support.library import digest, is_clear
from support.mounts import mounted, own_mounts, sh
from support.on_pty import OnPty
from support.tap import Skip, run, test

own_mounts()
AHR = sys.argv[1]
SHIM = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else None
SEED = int(os.environ.get("AHR_TEST_SEED", "12"))
ROUNDS = 1000 if os.environ.get("AHR_TEST_LONG") else 80 if SHIM else 30


def cleaned(a, *args, status=0, **more):
    """What it says."""
    done = a.run("clean", "--yes", *args, **more)
    assert done.returncode == status, (done.returncode, done.stderr.decode())
    return is_clear(done.stderr.decode())


def told(a, *args):
    return json.loads(a.ok("clean", "--json", *args))


# -- never one that is protected --

class Member:
    def __init__(self, dice, n, count):
        any_one = lambda: dice.choice([None, None, None, dice.randrange(count), 999])
        self.n, self.parent, self.resumed_from = n, any_one(), any_one()
        self.role = dice.choice([None, None, None, "DEVELOPER", "MANAGER", "manager"])
        self.status = dice.choice(["completed", "failed", "aborted", "crashed", "interrupted"])
        self.days = dice.choice([1, 40, 200])
        self.is_active = dice.random() < 0.12
        self.is_encrypted = not self.is_active and dice.random() < 0.2

    def facts(self, a):
        links = {"parent": self.parent, "resumedFrom": self.resumed_from}
        return {"days": self.days, **{k: a.id(v) for k, v in links.items() if v is not None},
                **({"role": self.role} if self.role else {})}


def protected(members):
    """Another way than the program's: what descends from it, for each, until nothing is new."""
    safe = {m.n for m in members if m.is_active or (m.role or "").upper() == "MANAGER"}
    for m in members:
        below, new = set(), {m.n}
        while new:
            below |= new
            new = {c.n for c in members if {c.parent, c.resumed_from} & below} - below
        if any(c.is_active and c.n in below for c in members if c.n != m.n):
            safe.add(m.n)
    return safe


@test
def no_random_library_loses_a_protected_one_and_all_others_that_fit_go():
    dice, went, stayed = random.Random(SEED), 0, 0
    for _ in range(ROUNDS):
        count = dice.randrange(1, 14)
        members = [Member(dice, n, count) for n in range(count)]
        wanted = set(dice.sample(["completed", "failed", "aborted", "crashed", "interrupted"], dice.randrange(2, 6)))
        with Household(AHR) as a, ExitStack() as stack:
            for m in members:
                if m.is_active:
                    stack.enter_context(a.going_on(m.n, **m.facts(a)))
                else:
                    a.stored(m.n, status=m.status, **m.facts(a))
            locked = {m.n for m in members if m.is_encrypted}
            if locked:
                a.lock_away(*locked)
            fit = {m.n for m in members if m.status in wanted and m.days > 30 and not m.is_active} - locked
            safe = protected(members)
            cleaned(a, "--older-than", "30d", "--status", ",".join(sorted(wanted)))
            want = {m.n for m in members} - (fit - safe)
            assert a.names() == want, (sorted(a.names()), sorted(want), [vars(m) for m in members], wanted)
            went += len(fit - safe)
            stayed += len(fit & safe)
    print(f"# {went} went, {stayed} that fit stayed, seed {SEED}")
    assert went > ROUNDS and stayed > ROUNDS / 2


@test
def why_one_stays_is_told():
    with Household(AHR) as a, a.going_on(3, parent=a.id(2), name="the-heir"):
        a.stored(1, role="Manager", name="boss")
        a.stored(2, name="elder")
        a.stored(4, parent=a.id(4), name="own-parent")
        said = cleaned(a, "--older-than", "1d")
        assert "'boss' stays: its role is MANAGER" in said, said
        assert "'elder' stays: session the-heir, which is active, descends from it" in said, said
        assert a.names() == {1, 2, 3}
        staying = {s["name"]: s["fate"] for s in told(a, "--dry-run", "--older-than", "1d")["staying"]}
        assert staying == {"boss": "protected", "elder": "protected"}, staying


@test
def one_that_lives_by_its_process_is_active_and_one_whose_number_was_used_again_is_not():
    with Household(AHR) as a:
        me = {"pid": os.getpid(), "pid_start": start_of(os.getpid())}
        a.ran(1, "alive", metadata={"status": "active", **me}, status="interrupted")
        a.ran(2, "alive-though-it-says-otherwise", metadata={"status": "interrupted", **me}, status="interrupted",
              parent=a.id(4))
        a.ran(3, "reused", metadata={"status": "active", "pid": os.getpid(), "pid_start": 1}, status="interrupted")
        a.stored(4, status="failed")
        cleaned(a, "--status", "interrupted,failed")
        assert a.names() == {1, 2, 4}, a.names()
        assert not (a.project / ".ahr" / "sessions" / "reused").exists()
        said = a.fails(5, "delete", "--yes", "--force", "alive")
        assert f"process {os.getpid()} is still at its run" in said, said


@test
def an_active_one_that_cannot_be_read_yet_keeps_all():
    with Household(AHR) as a, a.going_on(1):
        a.stored(2)
        meta = a.live / a.id(1) / "session.meta.json"
        for text in ("", "[]", None):
            meta.write_text(text) if text is not None else meta.unlink()
            said = cleaned(a, "--older-than", "1d", status=5)
            assert "what it descends from cannot be read yet" in said and a.names() == {1, 2}, said


@test
def an_encrypted_one_protects_and_is_protected_as_before():
    with Household(AHR) as a, a.going_on(3, parent=a.id(2), name="the-heir"):
        a.stored(1, role="Manager")
        a.stored(2, resumedFrom=a.id(4), parent="not an id")
        a.stored(4, parent=a.id(5))
        a.stored(5)
        a.stored(6, role="DEVELOPER")
        a.lock_away(1, 2, 4, 6)
        meta = lambda n: json.loads((a.sessions / a.id(n) / "session.meta.json").read_text())
        assert meta(1)["role"] == "MANAGER" and "role" not in meta(6)
        assert meta(2)["resumedFrom"] == a.id(4) and "parent" not in meta(2) and meta(4)["parent"] == a.id(5)
        said = cleaned(a, "--older-than", "1d")
        assert f"'{a.id(5)}' stays: session the-heir, which is active, descends from it" in said, said
        for n in (1, 2, 4, 6):
            assert f"'{a.id(n)}' stays: it is encrypted\n" in said, said
        assert "ahr delete" not in said and a.names() == {1, 2, 3, 4, 5, 6}
        fates = {s["id"]: s["fate"] for s in told(a, "--dry-run", "--older-than", "1d")["staying"]}
        assert fates == {a.id(n): "encrypted" for n in (1, 2, 4, 6)} | {a.id(5): "protected"}, fates
        assert "its role is MANAGER" in a.fails(1, "delete", "--yes", a.id(1))
        for n in (2, 4, 5):
            assert "descends from it" in a.fails(1, "delete", "--yes", a.id(n))
        a.ok("delete", "--yes", a.id(6))
        a.ok("delete", "--yes", "--force", a.id(1))
        assert a.names() == {2, 3, 4, 5}


# -- what goes --

@test
def nothing_configured_is_told_and_nothing_goes():
    with Household(AHR) as a:
        a.stored(1, status="failed", days=9999)
        done = a.run("clean")
        assert done.returncode == 0 and b"retention.failed = 30d" in done.stderr, done
        assert told(a, "--yes")["deleted"] == 0
        assert a.names() == {1}


@test
def retention_goes_by_the_status_from_the_config_file_and_variables():
    with Household(AHR) as a:
        for n, status in enumerate(("completed", "failed", "aborted", "crashed", "interrupted"), 1):
            a.stored(n, status=status, days=50)
            a.stored(n + 10, status=status, days=5)
        a.configure("# kept\nretention.completed = 90d\nretention.failed=30d\nretention.aborted = never\n")
        assert "retention.failed" in a.ok("clean", "--dry-run").decode()
        assert "1 session deleted" in cleaned(a)
        assert a.names() == {1, 3, 4, 5, 11, 12, 13, 14, 15}
        cleaned(a, env={"AHR_RETENTION_COMPLETED": "2d", "AHR_RETENTION_INTERRUPTED": "4w"})
        assert a.names() == {3, 4, 12, 13, 14, 15}
        # What is said takes the place of what is configured.
        cleaned(a, "--status", "crashed")
        assert a.names() == {3, 12, 13, 15}
        a.configure("retention.failed = soon\n")
        assert "config:1: 'retention.failed'" in a.fails(2, "clean", "--yes")


@test
def interrupted_ones_go_only_when_they_are_named():
    with Household(AHR) as a:
        a.stored(1, status="interrupted")
        (a.stored(2, kind="live", status="active") / "lock").touch()
        cleaned(a, "--older-than", "1d")
        assert a.names() == {1, 2}
        cleaned(a, "--older-than", "1d", "--status", "interrupted")
        assert a.names() == set()


@test
def the_newest_are_kept():
    with Household(AHR) as a:
        for n in range(1, 7):
            a.stored(n, days=100 - n)
        a.stored(7, days=10, role="manager")  # stays anyway, and does not count
        said = cleaned(a, "--older-than", "1d", "--keep", "2")
        assert "2 sessions" in said and a.names() == {5, 6, 7}, (said, a.names())


@test
def a_dry_run_lists_and_changes_nothing():
    with Household(AHR) as a:
        a.ran(1, "RUN-001", status="failed")
        a.stored(2)
        before = digest(a.dir)
        text = a.ok("clean", "--dry-run", "--older-than", "2w").decode()
        assert "RUN-001" in text and "failed" in text and "old" in text and a.id(2)[:19] in text, text
        found = told(a, "--dry-run", "--older-than", "2w")
        assert found["dry_run"] and [s["fate"] for s in found["sessions"]] == ["would_go"] * 2
        sizes = {s["id"]: s["size_bytes"] for s in found["sessions"]}
        folder = a.project / ".ahr" / "sessions" / "RUN-001"
        assert sizes[a.id(1)] == sum(p.stat().st_size for f in (folder, a.sessions / a.id(1))
                                     for p in f.rglob("*") if p.is_file())
        assert digest(a.dir) == before


@test
def the_oldest_stand_first_and_all_are_counted():
    with Household(AHR) as a:
        for n, days in ((1, 20), (2, 40), (3, 30)):
            a.stored(n, days=days, name=f"of-{days}-days")
        done = a.run("clean", "--dry-run", "--older-than", "1d")
        assert re.findall(r"of-(\d+)-days", done.stdout.decode()) == ["40", "30", "20"], done.stdout
        assert re.search(rb"3 sessions, [0-9.]+ k?B, would go:", done.stderr), done.stderr


@test
def where_nothing_goes_nobody_need_be_asked():
    with Household(AHR) as a:
        a.stored(1, name="old")
        done = a.run("clean", "--status", "failed")
        assert done.returncode == 0 and b"there is nothing to delete" in done.stderr, done
        assert json.loads(a.ok("clean", "--status", "failed", "--json")) is not None


@test
def it_asks_on_a_terminal_and_refuses_where_there_is_none():
    with Household(AHR) as a:
        a.stored(1, name="old")
        assert "--yes" in a.fails(2, "clean", "--older-than", "1d")
        argv = [a.binary, "clean", "--older-than", "1d"]
        for answer, status, left in ((b"n\n", 1, {1}), (b"y\n", 0, set())):
            with OnPty(argv, env=a.env, cwd=a.dir) as p:
                p.read_until(b"Delete 1 session for good? [y/N] ")
                assert b"old" in p.bytes and b"completed" in p.bytes
                os.write(p.master, answer)
                assert p.finish() == status
            assert a.names() == left


@test
def what_becomes_protected_while_it_asks_stays():
    with Household(AHR) as a:
        a.stored(1)
        a.stored(2)
        with OnPty([a.binary, "clean", "--older-than", "1d"], env=a.env, cwd=a.dir) as p:
            p.read_until(b"Delete 2 sessions for good? [y/N] ")
            with a.going_on(3, resumedFrom=a.id(1)):
                os.write(p.master, b"y\n")
                assert p.finish() == 0
        assert a.names() == {1, 3}


@test
def wrong_words_are_refused():
    with Household(AHR) as a:
        for args in (("--status", "active"), ("--status", "failed,"), ("--status", ""), ("--older-than", "soon"),
                     ("--keep", "-1"), ("last",)):
            a.fails(2, "clean", "--yes", *args)


# -- the folder of a run --

@test
def the_folder_of_a_run_goes_with_it_and_nothing_else():
    with Household(AHR) as a:
        folder = a.ran(1, "DEV-001", status="failed")
        other = a.ran(2, "DEV-002")
        (folder / "artifacts" / "link").symlink_to(a.dir / "precious")
        (a.dir / "precious").mkdir()
        (a.dir / "precious" / "file").write_text("keep me")
        before = digest(other)
        found = told(a, "--yes", "--status", "failed")
        assert [s["folder"] for s in found["sessions"]] == ["removed"] and found["deleted"] == 1
        assert not folder.exists() and digest(other) == before
        assert (a.dir / "precious" / "file").read_text() == "keep me"
        assert [p.name for p in folder.parent.iterdir()] == ["DEV-002"]


@test
def a_folder_that_another_session_uses_stays_until_the_last_has_gone():
    with Household(AHR) as a:
        a.ran(1, "again", days=90)
        folder = a.ran(2, "again", days=1)
        said = cleaned(a, "--older-than", "30d")
        assert f"another session uses '{folder}': it stays" in said and folder.exists(), said
        a.stored(3, project=str(folder), days=90)  # an earlier one of that name
        a.stored(0, project=str(folder), days=90)
        cleaned(a, "--older-than", "1h")
        assert a.names() == set() and not folder.exists()


@test
def only_a_folder_whose_metadata_says_so_is_removed():
    wrong = {
        "empty": "", "no-json": "{", "list": "[1]", "no-id": "{}", "number": '{"id": 7, "pid": "x", "status": []}',
        "another": json.dumps({"id": Household.id(77)}), "null": "null", "nul": "\0" * 100, "missing": None,
    }
    with Household(AHR) as a:
        for n, (name, text) in enumerate(wrong.items(), 1):
            metadata = a.ran(n, name) / "metadata.json"
            metadata.write_text(text) if text is not None else metadata.unlink()
        good = a.ran(50, "good")
        before = digest(a.project)
        said = cleaned(a, "--older-than", "30d")
        assert a.names() == set() and not good.exists(), a.names()
        for name in wrong:
            folder = a.project / ".ahr" / "sessions" / name
            assert f"'{folder}'" in said or str(folder) in said, (name, said)
        left = digest(a.project)
        assert left == {k: v for k, v in before.items() if not k.startswith(".ahr/sessions/good")}


@test
def nothing_is_removed_through_links_or_outside_of_a_project():
    with Household(AHR) as a:
        outside = a.dir / "outside"
        def folder_at(path, n):
            path.mkdir(parents=True)
            (path / "metadata.json").write_text(json.dumps({"id": a.id(n), "status": "completed"}))
            return path
        folder_at(outside / "one", 1)
        runs = a.project / ".ahr" / "sessions"
        runs.mkdir(parents=True)
        (runs / "one").symlink_to(outside / "one")
        folder_at(a.dir / "linked" / "sessions" / "two", 2)
        (a.dir / "other").mkdir()
        (a.dir / "other" / ".ahr").symlink_to(a.dir / "linked")
        folder_at(a.dir / "plain", 3)
        folder_at(a.dir / "deep" / ".ahr" / "sessions" / "four", 4)
        for n, path in ((1, runs / "one"), (2, a.dir / "other" / ".ahr" / "sessions" / "two"), (3, a.dir / "plain"),
                        (4, f"{a.dir}/deep/x/../.ahr/sessions/four"), (5, "../.ahr/sessions/five"),
                        (6, f"{a.dir}/deep/.ahr/sessions/.."), (7, f"{a.dir}/deep/.ahr/sessions/../../..")):
            a.stored(n, project=str(path))
            (a.sessions / a.id(n) / "project").write_text(str(path))
        watched = [outside, a.dir / "linked", a.dir / "plain", a.dir / "deep", a.project]
        before = [digest(p) for p in watched]
        said = cleaned(a, "--older-than", "30d")
        assert a.names() == set() and [digest(p) for p in watched] == before, said
        assert f"'{runs / 'one'}' is no folder: it is left alone" in said, said
        assert "is a link: it is left alone" in said, said
        assert (runs / "one").is_symlink()


@test
def a_session_whose_folder_is_a_link_is_left_alone():
    with Household(AHR) as a:
        a.stored(1)
        elsewhere = a.dir / "elsewhere"
        shutil.move(a.sessions / a.id(1), elsewhere)
        (a.sessions / a.id(1)).symlink_to(elsewhere)
        (a.sessions / a.id(2)).write_text("a file")
        a.stored(3)
        before = digest(elsewhere)
        said = cleaned(a, "--older-than", "30d")
        assert f"'{a.id(1)}' stays: it is a link" in said and f"'{a.id(2)}' stays" in said, said
        assert digest(elsewhere) == before and a.names() == {1, 2}


@test
def a_run_that_goes_on_keeps_session_and_folder():
    with Household(AHR) as a:
        folder = a.ran(1, "busy")
        a.stored(2)
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = cleaned(a, "--older-than", "30d", status=5)
        os.close(lock)
        assert f"the run in '{folder}' is going on" in said and a.names() == {1} and folder.exists(), said


@contextmanager
def over_itself(path, options="rw"):
    """It is mounted on its own place."""
    if sh("mount", "--bind", path, path).returncode:
        raise Skip("mounting needs root and a mount namespace")
    try:
        sh("mount", "-o", f"remount,bind,{options}", path)
        yield
    finally:
        sh("umount", path)


@test
def a_folder_that_cannot_be_removed_keeps_its_session():
    with Household(AHR) as a:
        with mounted(a.project, "-t", "tmpfs", "tmpfs"):
            folder = a.ran(1, "stuck")
            a.stored(2)
            assert sh("mount", "-o", "remount,ro", a.project).returncode == 0
            said = cleaned(a, "--older-than", "30d", status=1)
            assert a.names() == {1} and f"cannot remove '{folder}'" in said and folder.exists(), said
            assert told(a, "--dry-run", "--older-than", "30d")["sessions"][0]["id"] == a.id(1)
            sh("mount", "-o", "remount,rw", a.project)
            cleaned(a, "--older-than", "30d")
            assert a.names() == set() and list(folder.parent.iterdir()) == []


@test
def a_session_that_cannot_go_keeps_its_folder():
    with Household(AHR) as a:
        folder = a.ran(1, "DEV-001")
        a.ok("index", "--all")
        before = digest(folder), digest(a.sessions / a.id(1))
        with over_itself(a.home.dir / "library.db", "ro"):
            said = cleaned(a, "--older-than", "30d", status=1)
            assert "'DEV-001' stays: " in said and a.names() == {1}, said
            assert (digest(folder), digest(a.sessions / a.id(1))) == before
        with over_itself(a.sessions / a.id(1)):  # what is mounted cannot be renamed
            said = cleaned(a, "--older-than", "30d", status=1)
            assert "'DEV-001' stays: cannot remove" in said and a.names() == {1}, said
            assert (digest(folder), digest(a.sessions / a.id(1))) == before


@test
def a_home_that_cannot_be_changed_costs_no_folder():
    for place in ("sessions", "live"):
        with Household(AHR) as a:
            folder = a.ran(1, "DEV-001", status="interrupted", place=place)
            if place == "live":
                (a.live / a.id(1) / "lock").touch()
            before = digest(folder)
            with over_itself(a.home.dir / place, "ro"):
                said = cleaned(a, "--status", "interrupted", status=1)
                assert "'DEV-001' stays: cannot " in said and a.names() == {1} and digest(folder) == before, said
            cleaned(a, "--status", "interrupted")
            assert a.names() == set() and not folder.exists()


# -- odd facts --

@test
def what_a_meta_does_not_tell_is_never_guessed():
    with Household(AHR) as a:
        good = a.stored(1)
        for n, text in enumerate(("", "[]", "{}", '{"status": 7, "startedAtNs": "x"}', '{"status": "gone"}', None), 2):
            folder = a.stored(n, meta=False)
            if text is not None:
                (folder / "session.meta.json").write_text(text)
        said = cleaned(a, "--older-than", "1s")
        assert a.names() == {2, 3, 4, 5, 6, 7} and not good.exists(), (a.names(), said)
        for n in range(2, 8):
            assert f"'{a.id(n)}' stays: what it is cannot be read; 'ahr delete {a.id(n)}' deletes it" in said, said
        a.ok("delete", "--yes", a.id(2))  # and it does
        assert 2 not in a.names()


@test
def clocks_that_went_back_make_nothing_older_than_it_is():
    with Household(AHR) as a:
        day = 86_400 * 10**9
        a.stored(1, days=1)
        a.stored(2, days=-400)
        start = json.loads((a.sessions / a.id(1) / "session.meta.json").read_text())["startedAtNs"]
        a.stored(3, startedAtNs=start, endedAtNs=start - 300 * day)  # it ended before it began
        a.stored(4, startedAtNs=start + 500 * day, endedAtNs=start - 300 * day)
        a.stored(5, startedAtNs=0, endedAtNs=0)
        a.stored(6, startedAtNs=start - 300 * day, endedAtNs=0)
        cleaned(a, "--older-than", "30d")
        assert a.names() == {1, 2, 3, 4, 5}, a.names()
        a.ok("clean", "--dry-run", "--status", "completed")


# -- killed, and two at once --

@test
def killed_anywhere_the_next_one_finds_all_that_is_left():
    if not SHIM:
        raise Skip("a preloaded shim cannot go with a sanitizer")
    n, after = 1, False
    while True:
        with Household(AHR) as a:
            folder = a.ran(1, "DEV-001")
            shared = a.ran(2, "again", days=90)
            a.stored(3, project=str(shared))
            a.ran(4, "young", days=1)
            young = digest(a.project / ".ahr" / "sessions" / "young"), digest(a.sessions / a.id(4))
            env = {"LD_PRELOAD": SHIM, "KILL_AT": str(n), **({"KILL_AFTER": "1"} if after else {})}
            done = a.run("clean", "--yes", "--older-than", "30d", env=env)
            assert done.returncode in (0, -signal.SIGKILL), done
            # A folder that is whole has its session: nothing is left that nobody leads to.
            for path, owner in ((folder, 1), (shared, 2)):
                put_away = a.sessions / f".old-{a.id(owner)}"  # the next who looks puts it back
                assert not path.exists() or owner in a.names() or put_away.exists(), (n, after)
            cleaned(a, "--older-than", "30d")
            assert a.names() == {4}, (n, after, a.names())
            assert [p.name for p in a.sessions.iterdir()] == [a.id(4)], n
            assert [p.name for p in folder.parent.iterdir()] == ["young"], (n, after)
            assert (digest(folder.parent / "young"), digest(a.sessions / a.id(4))) == young
        if done.returncode == 0 and after:
            break
        if done.returncode == 0:
            print(f"# {n} calls")
            n, after = 0, True
        n += 1


@test
def two_at_once_delete_each_session_once():
    with Household(AHR) as a:
        for n in range(30):
            a.ran(n, f"RUN-{n:03}") if n % 2 else a.stored(n)
        both = [a.popen("clean", "--yes", "--json", "--older-than", "30d", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE) for _ in range(2)]
        ends = [p.communicate() for p in both]
        assert [p.returncode in (0, 5) for p in both] == [True, True], ends
        cleaned(a, "--older-than", "30d")
        assert a.names() == set() and list((a.project / ".ahr" / "sessions").iterdir()) == []


# -- delete --

@test
def delete_refuses_what_is_protected_unless_it_is_typed_out():
    with Household(AHR) as a, a.going_on(3, parent=a.id(2)):
        a.stored(1, role="MANAGER", name="boss", startedAtNs=1)
        a.stored(2, name="elder", startedAtNs=2)
        assert "its role is MANAGER; 'ahr delete --force boss'" in a.fails(1, "delete", "--yes", "boss")
        assert "descends from it" in a.fails(1, "delete", "--yes", "elder")
        for short in (a.id(1)[:24], a.id(1)[11:]):
            assert "whole name or id" in a.fails(1, "delete", "--yes", "--force", short), short
        a.fails(5, "delete", "--yes", "--force", a.id(3))
        assert a.names() == {1, 2, 3}
        a.ok("delete", "--yes", "--force", "boss")
        a.ok("delete", "--yes", "--force", a.id(2))
        assert a.names() == {3}


@contextmanager
def held(a, n):
    """Somebody is at the stored session n."""
    fd = os.open(a.sessions / a.id(n), os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(fd)


def heirs(a):
    """Ways to begin a session that descends from session 1, with what is told then."""
    a.stored(2, days=1, parent=a.id(1))
    yield a.going_on(3, resumedFrom=a.id(1)), 1, b"descends from it"
    yield a.going_on(3, parent=a.id(2)), 1, b"descends from it"
    yield a.going_on(3, meta=False), 5, b"what it descends from cannot be read yet"


@test
def delete_finds_out_anew_what_is_protected_after_the_answer():
    for i in range(3):
        with Household(AHR) as a:
            a.stored(1)
            heir, status, words = list(heirs(a))[i]
            with OnPty([a.binary, "delete", a.id(1)], env=a.env, cwd=a.dir) as p:
                p.read_until(b"Delete 1 session for good? [y/N] ")
                with heir:
                    os.write(p.master, b"y\n")
                    assert p.finish() == status and words in p.bytes, p.bytes
            assert a.names() == {1, 2, 3}


@test
def delete_refuses_while_an_active_one_cannot_be_read_unless_it_is_typed_out():
    with Household(AHR) as a, a.going_on(1, meta=False):
        a.stored(2)
        assert "what it descends from cannot be read yet" in a.fails(5, "delete", "--yes", a.id(2))
        a.ok("delete", "--yes", "--force", a.id(2))
        assert a.names() == {1}


@test
def one_that_begins_while_its_elder_is_waited_for_keeps_it():
    for command in (["delete", Household.id(1)], ["clean", "--older-than", "30d"]):
        for i in range(3):
            with Household(AHR) as a:
                folder = a.ran(1, "DEV-001")
                heir, status, words = list(heirs(a))[i]
                with ExitStack() as stack:
                    with held(a, 1):
                        p = a.popen(*command, "--yes", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                        time.sleep(0.5)  # it waits by now; else it finds out with its first look
                        stack.enter_context(heir)
                    said = p.communicate()[1]
                    assert p.returncode == status and words in said, (command, i, said)
                assert a.names() == {1, 2, 3} and (folder / "io.log").exists(), (command, i)


@test
def delete_refuses_last_even_with_force():
    with Household(AHR) as a:
        a.stored(1, role="manager", name="boss")
        a.fails(1, "delete", "--yes", "--force", "last")
        a.stored(2, days=1)
        a.ok("delete", "--yes", "last")
        assert a.names() == {1}


run()
