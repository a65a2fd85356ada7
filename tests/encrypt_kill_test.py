#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encrypt_kill_test.py -- encrypt and decrypt killed at each call that changes a file, or told that it fails:
the session is there, readable or locked, and whoever is called next ends the work.
usage: encrypt_kill_test.py AHR KILL_SHIM FAULT_SHIM
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.locked import Locked
from support.tap import run, test

AHR = sys.argv[1]
KILL_SHIM, FAULT_SHIM = (str(Path(p).resolve()) for p in sys.argv[2:4])


class Scene:
    """A run with all its files, readable and locked, to begin again with."""

    def __init__(self, a):
        self.ahr = a
        self.sid = a.run_agent()
        a.ok("index", self.sid)
        self.plain = a.files()
        self.keep("plain")
        a.encrypt(self.sid)
        self.keep("locked")

    def keep(self, name):
        shutil.copytree(self.ahr.library, self.ahr.dir / name / "library")
        shutil.copytree(self.ahr.project, self.ahr.dir / name / "project")

    def begin(self, name):
        for what, where in (("library", self.ahr.library), ("project", self.ahr.project)):
            shutil.rmtree(where)
            shutil.copytree(self.ahr.dir / name / what, where)

    def is_plain(self):
        for there, expected in zip(self.ahr.files(), self.plain):
            assert there == expected, [k for k in {**there, **expected} if there.get(k) != expected.get(k)]

    def is_locked(self):
        self.ahr.is_locked(self.sid)
        assert [p.name for p in self.ahr.folder.iterdir()] == ["metadata.json"]
        assert self.ahr.where() == []

    def is_there(self, n):
        """Readable, or locked in a vault that is whole; and if something is left over, that is told."""
        a = self.ahr
        listed = json.loads(a.ok("list", "--json"))  # sweeps, too
        assert [s["id"] for s in listed] == [self.sid], n
        if listed[0]["status"] == "encrypted":
            assert a.decrypt(self.sid, "--dry-run")[0], n
            shown = a.ok("show", self.sid).decode()
            assert "left over" in shown or a.where() == [], (n, a.where())
        else:
            assert a.ok("cat", self.sid), n
            assert (a.folder / "io.log").exists(), n


def end_by(scene, what, n):
    getattr(scene.ahr, what)(scene.sid)
    scene.is_locked() if what == "encrypt" else scene.is_plain()


def kill_everywhere(what, step, **env):
    with Locked(AHR) as a:
        scene, n, rounds, missed = Scene(a), 1, 0, 0
        while True:
            scene.begin("plain" if what == "encrypt" else "locked")
            done = a.run(what, scene.sid, "--key-file", a.key,
                         env={"LD_PRELOAD": KILL_SHIM, "KILL_AT": str(n), **env})
            assert done.returncode in (0, -signal.SIGKILL), (n, done)
            scene.is_there(n)
            # The same again, or the other way.
            turns = ("encrypt", "decrypt") if (what == "encrypt") == bool(rounds % 3) else ("decrypt", "encrypt")
            for turn in turns:
                end_by(scene, turn, n)
            rounds += 1
            missed = 0 if done.returncode else missed + 1
            if missed == 2:  # a call that the shim lets fail is not killed behind
                break
            n += 1 if os.environ.get("AHR_TEST_LONG") else step
        print(f"# {what}: {rounds} of {n} calls")
        assert n > 60


@test
def encrypt_killed_at_any_call():
    kill_everywhere("encrypt", 23)


@test
def decrypt_killed_at_any_call():
    kill_everywhere("decrypt", 19)


@test
def the_same_where_folders_cannot_be_exchanged_in_one_step():
    kill_everywhere("encrypt", 83, NO_EXCHANGE="1")
    kill_everywhere("decrypt", 53, NO_EXCHANGE="1", KILL_AFTER="1")


@test
def a_call_that_fails_leaves_all_as_it_was_or_is_ended_by_the_next():
    with Locked(AHR) as a:
        scene = Scene(a)
        for what in ("encrypt", "decrypt"):
            for call, error in (("write", 28), ("fsync", 5), ("rename", 5), ("open", 28), ("mkdir", 28)):
                for at in range(1, 60, 1 if os.environ.get("AHR_TEST_LONG") else 17):
                    scene.begin("plain" if what == "encrypt" else "locked")
                    done = a.run(what, scene.sid, "--key-file", a.key, env={
                        "LD_PRELOAD": FAULT_SHIM, "FAULT_CALL": call, "FAULT_AT": str(at), "FAULT_COUNT": "1",
                        "FAULT_ERRNO": str(error), "FAULT_PATH": "sessions"})
                    assert done.returncode in (0, 1) and bool(done.returncode) == bool(done.stderr), (call, at, done)
                    if done.returncode == 0:
                        break
                    scene.is_there((what, call, at))
                    end_by(scene, what, at)


@test
def nothing_goes_before_the_vault_is_known_to_stand_in_its_place():
    with Locked(AHR) as a:
        scene = Scene(a)
        for at in range(1, 100):
            scene.begin("plain")
            done = a.run("encrypt", scene.sid, "--key-file", a.key, env={
                "LD_PRELOAD": FAULT_SHIM, "FAULT_CALL": "fsync", "FAULT_AT": str(at), "FAULT_COUNT": "1",
                "FAULT_PATH": "sessions"})
            if b"/sessions' to the disk" in done.stderr:
                break
        assert done.returncode == 1 and a.vault(scene.sid).exists(), done
        (old,) = a.sessions.glob(".*-" + scene.sid)
        assert (old / "session.ahr").exists() and old.name.encode() in done.stderr
        assert (a.folder / "io.log").read_bytes() == (a.dir / "plain" / "project" / a.folder.relative_to(a.project)
                                                      / "io.log").read_bytes()
        end_by(scene, "encrypt", at)


@test
def folders_that_are_made_in_the_project_are_synced():
    with Locked(AHR) as a:
        scene = Scene(a)
        shutil.rmtree(a.project / ".ahr")
        for at in (1, 2, 3):  # the project, .ahr, sessions
            done = a.run("decrypt", scene.sid, "--key-file", a.key, env={
                "LD_PRELOAD": FAULT_SHIM, "FAULT_CALL": "fsync", "FAULT_AT": str(at), "FAULT_COUNT": "1",
                "FAULT_PATH": "/project"})
            assert done.returncode == 1 and f"cannot make '{a.folder}': Input/output error" in done.stderr.decode(), done
            shutil.rmtree(a.project / ".ahr")
        a.decrypt(scene.sid)
        assert (a.folder / "io.log").exists()


run()
