#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_kill_test.py -- `ahr run` or its command, ended at random instants, or at each call that changes a file:
whatever was shown is kept, whole, and each place says how it ended.

usage: run_kill_test.py AHR STREAM_AGENT [KILL_SHIM] [--sanitized] [--kills N]
"""

import fcntl
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.processes import is_gone, kill, wait_for, with_home
from support.recorder import IS_LONG, IS_SANITIZED
from support.run_traces import Kept
from support.ahr import Ahr
from support.tap import Skip, run, test
from support.terminal import plain_signals

AHR, AGENT = sys.argv[1], str(Path(sys.argv[2]).resolve())
SHIM = next((str(Path(arg).resolve()) for arg in sys.argv[3:] if "shim" in arg), None)
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv \
    else 3000 if IS_LONG else 42 if IS_SANITIZED else 300
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)

# How the agent speaks, and with how long a message in the middle at most.
SPEECHES = {
    "claude": (("--format", "claude"), 200_000),
    "partial": (("--format", "claude", "--partial"), 1_500),
    "codex": (("--format", "codex"), 60_000),
    "plain": (("--format", "plain"), 200_000),
}
ABORTED = {"ctrl-C": signal.SIGINT, "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM,
           "SIGHUP": signal.SIGHUP, "hang-up": signal.SIGHUP}
WAYS = (*ABORTED, "SIGKILL", "SIGKILL of the child")


def agents(pid):
    """The commands of a living ahr."""
    try:
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def keep_all(terminal):
    """^C does not throw away what is on its way to the screen."""
    settings = termios.tcgetattr(terminal)
    settings[3] |= termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


class Trial:
    """One run in a project and a library of its own."""

    def __init__(self, a, number, speech, seed, options=()):
        self.a, self.speech, self.options = a, speech, options
        self.draw = random.Random(seed)
        self.dir = a.dir / f"trial-{number}"
        self.dir.mkdir()
        self.home = self.dir / "ahr"
        self.env = {"AHR_HOME": str(self.home), "NO_COLOR": "1"}
        words, most = SPEECHES[speech]
        self.command = ["--agent", "text" if speech == "plain" else speech.replace("partial", "claude"), "--",
                        AGENT, *words, "--messages", "20", "--stderr-every", "3", "--seed", str(seed),
                        "--huge", str(self.draw.randrange(most)), "--sent", str(self.dir / "sent")]
        self.shown, self.pids, self.process, self.fd = bytearray(), [], None, None

    # -- the run --

    def start(self, on_terminal=False):
        args = [self.a.binary, "run", "-q", "--name", "x", "--flush-ms", str(self.draw.choice((1, 3, 20))),
                *self.options, *self.command]
        if on_terminal:
            self.fd, there = os.openpty()
            keep_all(there)

            def begin():
                plain_signals()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            more = {"stdin": there, "start_new_session": True, "preexec_fn": begin}
        else:
            self.fd, there = os.pipe()
            more = {"stdin": subprocess.DEVNULL, "preexec_fn": plain_signals}
        self.process = subprocess.Popen(args, cwd=self.dir, env={**self.a.env, **self.env}, stdout=there,
                                        stderr=open(self.dir / "stderr", "wb"), **more)
        os.close(there)

    def read(self, until=None, text=None):
        """What is shown: until that time, until it has that text, or to its end."""
        while text is None or text not in self.shown:
            left = None if until is None else max(0, until - time.monotonic())
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # a terminal that nobody has open
                data = b""
            if not data:
                break
            self.shown += data

    def finish(self):
        self.read()
        self.close()
        return self.process.wait(60)

    def close(self):
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def strike(self, way):
        self.pids = agents(self.process.pid)
        if way == "ctrl-C":
            os.write(self.fd, b"\x03")
        elif way == "hang-up":
            self.close()
        elif way == "SIGKILL of the child":
            wait_for(self.has_begun)
            self.pids = agents(self.process.pid)
            for pid in self.pids:
                kill(pid)
        else:
            self.process.send_signal(getattr(signal, way))

    def has_begun(self):
        """… or ended, for which it may have to be read."""
        self.read(until=0)
        return agents(self.process.pid) or self.process.poll() is not None

    def screen(self):
        """What was seen, in whole characters; the terminal's own part of it left out."""
        text = bytes(self.shown).decode(errors="ignore").replace("^C", "", 1)
        return text.replace("\r\n", "\n").rstrip("\r")

    def sent(self):
        path = self.dir / "sent"
        return path.read_text().split() if path.exists() else []

    def kept(self, **more):
        return Kept(self.dir, self.home, "x", **more)

    def nobody_is_left(self):
        for pid in self.pids:
            wait_for(lambda: is_gone(pid), f"{pid} is left", 20)
        if not self.pids:
            wait_for(lambda: not with_home(self.a.env["HOME"]), "somebody is left", 20)

    # -- what must hold --

    def is_json(self):
        return "--json" in self.options

    def has_all(self, kept, just_killed=False, has_last=True):
        shown = self.screen()
        if self.is_json():
            assert kept.raw_turns.startswith(shown.encode()), ("turns", shown[-300:], kept.raw_turns[-300:])
            return
        kept.log_has(shown)
        kept.io_has(shown, self.speech == "partial" or has_last is False)
        kept.turns_have(shown, has_last)
        if not just_killed and shown:
            kept.tape_has(self.a, self.env, shown)

    def is_tidy(self):
        """One that never began or was to be removed may wait there, hidden, until it is old."""
        left = [p.name for p in (self.home / "live").glob("*") if not p.name.startswith(".new-")]
        assert left == [], left

    def is_all_said(self, kept, log, session, why, code):
        """It ended in order: nothing that the command said is missing."""
        self.is_tidy()
        got = [kept.log.status, kept.log.why, kept.facts["status"], kept.meta["status"], kept.facts["exit_code"]]
        assert got == [log, why, session, session, code], (got, [log, why, session, code])
        assert kept.log.body.endswith("\n") or not kept.log.body
        kept.has_sent(self.sent())
        self.has_all(kept)

    def is_recovered(self):
        """After SIGKILL of ahr: before and after `ahr recover`."""
        self.has_all(self.kept(just_killed=True), just_killed=True, has_last=False)
        if self.draw.random() < 0.1 and self.kept(just_killed=True).log:
            told = self.a.run("log", "x", env=self.env)
            assert told.returncode == 0 or b"it is empty" in told.stderr, told
        self.a.ok("recover", "--all", env=self.env)
        self.is_tidy()
        kept = self.kept()
        self.has_all(kept, has_last=False)
        if not kept.log:
            assert kept.facts.get("status", "interrupted") == "interrupted", kept.facts
            return
        assert kept.log.body.endswith("\n") or not kept.log.body, kept.log.body[-100:]
        if kept.log.status == "crashed":
            got = [kept.log.why, kept.facts["status"], kept.meta.get("status")]
            assert got == ["unknown", "interrupted", "interrupted"], got
        else:  # it was at its end already
            got = [kept.log.status, kept.facts["status"], kept.meta["status"]]
            assert got[0] == "completed", got
            assert {*got[1:]} <= {"completed", "interrupted"}, got


# -- random instants --

def struck(trial, way, seconds):
    """True: it was still at work, which takes it so long."""
    begin = time.monotonic()
    if way == "SIGKILL of the child":  # else, at its end, it is the leak checker that is killed
        trial.env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    trial.start(way in ("ctrl-C", "hang-up"))
    if trial.draw.random() < 0.4:
        trial.read(until=begin + trial.draw.uniform(0, seconds))
    else:
        trial.read(text=b"Message %d of" % trial.draw.randrange(1, 20))
        trial.read(until=time.monotonic() + trial.draw.uniform(0, 0.002))
    trial.strike(way)
    status = trial.process.wait(60) if trial.fd is None else trial.finish()
    trial.nobody_is_left()
    if way == "SIGKILL":
        trial.is_recovered()
        return status == -signal.SIGKILL
    number = signal.SIGKILL if way not in ABORTED else ABORTED[way]
    if status == -number and not (trial.dir / ".ahr").exists():  # it did not know of signals yet: nothing has begun
        assert way in ABORTED
        return True
    name = "SIG" + number.name.removeprefix("SIG")
    kept = trial.kept()
    if status == 0 and kept.log.status == "completed":  # all was said before, and a signal does not change its status
        trial.is_all_said(kept, "completed", "completed", None, 0)
        return False
    assert status in ((128 + number,) if way not in ABORTED else (128 + number, 0)), (status, (trial.dir / "stderr").read_text())
    is_ours = way in ABORTED
    trial.is_all_said(kept, "aborted" if is_ours else "crashed", "aborted" if is_ours else "crashed", name, status)
    return True


def measure(a, speech):
    """How many seconds it takes until all is said."""
    trial = Trial(a, f"whole-{speech}", speech, SEED)
    begin = time.monotonic()
    trial.start()
    trial.read(text=b"Message 20 of")
    took = time.monotonic() - begin
    assert trial.finish() == 0
    assert len(trial.sent()) == 20
    trial.is_all_said(trial.kept(), "completed", "completed", None, 0)
    return took


@test
def what_was_shown_is_kept_whoever_is_ended_and_when():
    print(f"# seed {SEED}")
    draw = random.Random(SEED)
    hits = dict.fromkeys(WAYS, 0)
    with Ahr(AHR) as a:
        seconds = {speech: measure(a, speech) for speech in SPEECHES}
        number = 0
        while sum(hits.values()) < KILLS:
            number += 1
            assert number < 4 * KILLS + 100, hits
            way, speech = min(hits, key=hits.get), draw.choice(list(SPEECHES))
            trial = Trial(a, number, speech, SEED + number, ("--json",) if draw.random() < 0.15 else ())
            try:
                hits[way] += struck(trial, way, seconds[speech])
            except BaseException:
                print(f"# trial {number}: {way}, {speech}, seed {SEED}, {trial.options}")
                raise
            finally:
                trial.close()
                kill_left(trial)
            if "AHR_TEST_KEEP" not in os.environ:
                shutil.rmtree(trial.dir)
        assert with_home(a.env["HOME"]) == []
    print(f"# {number} trials, struck at work: {hits}")


@test
def the_next_run_of_that_name_goes_on_behind_one_that_was_killed():
    with Ahr(AHR) as a:
        trial = Trial(a, "again", "claude", SEED)
        trial.start()
        trial.read(text=b"Message 3 of")
        trial.strike("SIGKILL")
        assert trial.finish() == -signal.SIGKILL
        trial.nobody_is_left()
        first = trial.screen()
        with open(trial.dir / ".ahr/sessions/x/io.log", "a", encoding="utf-8") as io:
            io.write('{"timestamp":"2026-01-01T00:00:00.000Z","direction":"out","cont')
        trial.shown = bytearray()
        trial.start()
        assert trial.finish() == 0
        dead, live = trial.kept(), trial.kept(number=2)
        dead.log_has(first)
        assert [dead.log.status, dead.log.why] == ["crashed", "unknown"]
        assert [live.log.status, live.facts["status"]] == ["completed", "completed"]
        assert live.log.body == trial.screen()
        live.io_has(first + trial.screen(), False)


def kill_left(trial):
    """Only where the trial has failed."""
    if trial.process.poll() is None:
        trial.process.kill()
        trial.process.wait()


# -- each call that changes a file --

@test
def what_was_shown_is_kept_at_whichever_call_ahr_dies():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    stride = 1 if IS_LONG else 5
    with Ahr(AHR) as a:
        for after in (False, True):
            for speech in SPEECHES:
                calls = die_at_each(a, speech, after, stride)
                assert calls > 40, calls
                print(f"# {speech}: {calls} calls")


def die_at_each(a, speech, after, stride):
    number = random.Random(f"{SEED} {speech} {after}").randrange(stride) + 1
    while True:
        trial = Trial(a, f"{speech}-{after}-{number}", speech, SEED)
        at = trial.command.index("--") + 1
        trial.command[at:at] = ["env", "-u", "LD_PRELOAD"]
        for option, value in (("--messages", "4"), ("--huge", "3000" if speech != "partial" else "100")):
            trial.command[trial.command.index(option) + 1] = value
        trial.env |= {"LD_PRELOAD": SHIM, "KILL_AT": str(number)} | ({"KILL_AFTER": "1"} if after else {})
        trial.start()
        for name in ("LD_PRELOAD", "KILL_AT", "KILL_AFTER"):
            trial.env.pop(name, None)
        try:
            status = trial.finish()
            trial.nobody_is_left()
            assert status in (0, -signal.SIGKILL), (status, (trial.dir / "stderr").read_text())
            trial.is_recovered()
        except BaseException:
            print(f"# killed at call {number}, {'behind' if after else 'before'} it, {speech}, seed {SEED}")
            raise
        if "AHR_TEST_KEEP" not in os.environ:
            shutil.rmtree(trial.dir)
        if status == 0:
            return number
        number += stride


run()
