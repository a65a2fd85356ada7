#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entire_kill_test.py -- `ahr run --entire`, or the recover behind it, killed at random instants and at each call that
changes a file: what is in .entire/ is whole at any moment, and recover completes it.

usage: entire_kill_test.py AHR STREAM_AGENT [KILL_SHIM] [--sanitized] [--kills N]
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.entire import INTERRUPTED, Transcript, text
from support.processes import wait_for, with_home
from support.recorder import IS_LONG, IS_SANITIZED
from support.run_folder import lines_of
from support.tap import Skip, run, test

AHR, AGENT = sys.argv[1], Path(sys.argv[2]).resolve()
SHIM = next((str(Path(arg).resolve()) for arg in sys.argv[3:] if "shim" in arg), None)
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv \
    else 300 if IS_LONG else 8 if IS_SANITIZED else 24
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
PROMPT = "say twenty things"


class Trial:
    """A run in a project and a library of its own, of an agent that always says the same."""

    def __init__(self, a, name, seed, *words):
        self.a, self.dir = a, a.dir / name
        self.dir.mkdir()
        self.env = {**a.env, "AHR_HOME": str(self.dir / "library"), "NO_COLOR": "1"}
        agent = self.dir / "claude"
        agent.symlink_to(AGENT)
        self.command = [a.binary, "run", "-q", "--entire", "--flush-ms", "1", "--", "env", "-u", "LD_PRELOAD", agent,
                        "--format=claude", "--messages=20", f"--seed={seed}", *words, PROMPT]

    def start(self, **env):
        return subprocess.Popen(self.command, cwd=self.dir, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=open(self.dir / "stderr", "ab"))

    def recover(self, **env):
        return subprocess.run([self.a.binary, "recover", "--all"], cwd=self.dir, env={**self.env, **env},
                              capture_output=True)

    def has_begun(self):
        return any((self.dir / ".entire/metadata").glob("2*"))

    def turns(self, may_be_torn=False):
        found = [*(self.dir / "library").glob("*/2*/session.turns.jsonl")]
        return lines_of(found[0], may_be_torn) if found else []

    def clear(self):
        if "AHR_TEST_KEEP" not in os.environ:
            shutil.rmtree(self.dir)


def told(turns):
    """The blocks of a transcript, made of events by other means."""
    blocks = []
    for turn in turns:
        if turn["type"] == "text":
            blocks.append((turn.get("role", "assistant"), text(turn["text"])))
        elif turn["type"] == "tool_call":
            blocks.append(("assistant", turn["id"]))
        elif turn["type"] == "tool_result":
            blocks.append(("user", turn["id"]))
    return blocks


def plain(blocks):
    """… of a transcript; what nobody said is left out."""
    found = []
    for role, block in blocks:
        if block["type"] == "tool_use":
            block = block["id"]
        elif block["type"] == "tool_result":
            if block["content"] == INTERRUPTED:
                continue
            block = block["tool_use_id"]
        elif block["type"] != "text":
            continue
        found.append((role, block))
    return found


def is_whole_now(trial, shown):
    """Just killed: before anybody has put it in order."""
    if not trial.has_begun():
        assert not shown, shown[-300:]
        return
    left = Transcript(trial.dir, "2*", may_be_torn=True).is_sound().is_in_order()
    assert left.prompt in (None, PROMPT), left.prompt
    assert left.prompt or not (shown or left.lines), left.lines
    said, events = plain(left.blocks()), told(trial.turns(True))
    assert said == events[:len(said)], (said[-3:], events[-3:])  # the events come first


def is_completed(trial, whole):
    """Behind recover: all that was told, as the same agent says it when nobody kills it."""
    if not trial.has_begun():
        return
    kept = Transcript(trial.dir, "2*").is_sound().is_in_order()
    said = plain(kept.blocks())
    assert said == told(trial.turns()), (said[-3:], told(trial.turns())[-3:])
    assert said == whole[:len(said)], (said[-3:], whole[len(said) - 3:len(said)])
    kept.calls_are_closed()
    assert kept.prompt == PROMPT and kept.context, (kept.prompt, kept.context)
    assert kept.context.count("\n- **") == len(kept.blocks("tool_use"))
    assert not [name for name in os.listdir(kept.dir) if name.endswith(".new")]
    before = kept.files()
    trial.recover()
    assert Transcript(trial.dir, "2*").files() == before


def said_whole(a, name, seed, *words):
    trial = Trial(a, name, seed, *words)
    begin = time.monotonic()
    with trial.start() as process:
        assert process.communicate()[0] and process.returncode == 0, (trial.dir / "stderr").read_text()
    took = time.monotonic() - begin
    kept = Transcript(trial.dir, "2*").is_sound().is_in_order()
    assert plain(kept.blocks()) == told(trial.turns())
    trial.clear()
    return plain(kept.blocks()), took


def nobody_is_left(a):
    wait_for(lambda: not with_home(a.env["HOME"]), "somebody is left", 20)


def kill_one(a, number, draw):
    """True: it was still at work."""
    words = (f"--delay-us={draw.choice((300, 2000, 15000))}", f"--huge={draw.randrange(300_000)}",
             *draw.choice(((), ("--partial", "--huge=900"))))
    whole, seconds = said_whole(a, f"whole-{number}", SEED, *words)
    trial = Trial(a, str(number), SEED, *words)
    with trial.start() as process:
        if draw.random() < 0.5:
            time.sleep(draw.uniform(0, seconds))  # an instant like any other: nothing is waited for
        else:
            word = b"Message %d of" % draw.randrange(1, 20)
            seen = b""
            while word not in seen and (piece := os.read(process.stdout.fileno(), 65536)):
                seen += piece
        is_at_work = process.poll() is None
        process.kill()
        shown = process.stdout.read()
    nobody_is_left(a)
    is_whole_now(trial, shown)
    trial.recover()
    is_completed(trial, whole)
    trial.clear()
    return is_at_work and process.returncode == -signal.SIGKILL


@test
def what_is_there_is_whole_and_recover_completes_it():
    print(f"# seed {SEED}")
    draw = random.Random(SEED)
    hits = number = 0
    with Ahr(AHR) as a:
        while hits < KILLS:
            number += 1
            assert number < 4 * KILLS + 20, hits
            try:
                hits += kill_one(a, number, draw)
            except BaseException:
                print(f"# trial {number}, seed {SEED}")
                raise
    print(f"# {number} trials, {hits} killed at work")


@test
def it_is_so_at_whichever_call_ahr_dies():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    words = ("--messages=4", "--delay-us=0", "--huge=3000")
    stride = 1 if IS_LONG else 6
    with Ahr(AHR) as a:
        whole, _ = said_whole(a, "whole", SEED, *words)
        for after in ({}, {"KILL_AFTER": "1"}):
            number = random.Random(SEED + len(after)).randrange(stride) + 1
            while True:
                trial = Trial(a, f"{number}-{len(after)}", SEED, *words)
                with trial.start(LD_PRELOAD=SHIM, KILL_AT=str(number), **after) as process:
                    shown = process.communicate()[0]
                assert process.returncode in (0, -signal.SIGKILL), (trial.dir / "stderr").read_text()
                nobody_is_left(a)
                try:
                    if process.returncode:
                        is_whole_now(trial, shown)
                    trial.recover()
                    is_completed(trial, whole)
                except BaseException:
                    print(f"# killed at call {number} {after}, seed {SEED}")
                    raise
                trial.clear()
                if process.returncode == 0:
                    break
                number += stride
            assert number > 40, number
            print(f"# {number} calls")


@test
def recover_killed_at_any_call_is_ended_by_the_next():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    with Ahr(AHR) as a:
        trial = Trial(a, "one", SEED, "--delay-us=0", "--huge=3000")
        with trial.start() as process:
            seen = b""
            while b"Message 12 of" not in seen:
                piece = os.read(process.stdout.fileno(), 65536)
                assert piece
                seen += piece
            process.kill()
        nobody_is_left(a)
        path = Transcript(trial.dir, "2*", may_be_torn=True).path
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:3]) + lines[3][:70])  # so that there is something to do
        (path.parent / "prompt.txt").unlink()
        saved = a.dir / "saved"
        shutil.copytree(trial.dir, saved, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        wanted, number = None, 0
        for after in ({}, {"KILL_AFTER": "1"}):
            number = 0
            while True:
                shutil.rmtree(trial.dir)
                shutil.copytree(saved, trial.dir, symlinks=True)
                done = trial.recover(LD_PRELOAD=SHIM, KILL_AT=str(number), **after) if number else trial.recover()
                assert done.returncode in (0, -signal.SIGKILL), done.stderr
                if done.returncode:
                    trial.recover()
                kept = Transcript(trial.dir, "2*").is_sound().is_in_order()
                files = {name: data for name, (data, _) in kept.files().items()}
                wanted = wanted or files
                assert files == wanted, (number, after, sorted(files))
                if number and done.returncode == 0:
                    break
                number += 1
            assert number > 10, number
            print(f"# {number} calls")
        Transcript(trial.dir, "2*").calls_are_closed()


run()
