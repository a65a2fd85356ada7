#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_kill_test.py -- kill -9 at random instants of whatever changes the library: afterwards each session
is there exactly once, and whole. usage: library_kill_test.py AHR [--sanitized] [--kills N]"""

import fcntl
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import library
from support.processes import kill, wait_for, with_home
from support.recorder import IS_LONG, IS_SANITIZED, Tended
from support.tap import run, test

AHR = sys.argv[1]
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv \
    else 240 if IS_LONG else 8 if IS_SANITIZED else 24
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
SECRET = "open-sesame-and-nothing-else"

TALK = """
echo "this is marker-$0 of all"
i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo "$i: $0 talks and talks, word after word $((i * 7919 % 1000))"; done
echo "the word is open-sesame-and-nothing-else"
"""
WAITING = TALK + 'echo "all said"; flock -s gate true; echo "farewell"\n'


# -- homes, made once and copied for each kill --

class Template:
    """A home, and the truth about it."""

    def __init__(self, folder):
        self.folder = folder
        self.bytes, self.files, self.names = {}, {}, {}

    def note(self, a, sid, place):
        self.bytes[sid] = a.ok("cat", sid)
        folder = self.folder / place / sid
        self.files[sid] = library.digest(folder) if place == "sessions" else {}
        self.names[sid] = json.loads((folder / "session.meta.json").read_text())["name"]


def record_stored(a, count):
    for n in range(count):
        a.ok("record", "-q", "--sync", "none", "--name", f"stored-{n}", "--", "sh", "-c", TALK, f"stored-{n}")
    library.is_quiet(a)


def leave_cut_off(a, count):
    """Sessions whose recorders are killed with all that they had started."""
    with gate_of(a) as gate:
        for n in range(count):
            begin_waiting(a, f"cut-{n}")
        for pid in with_home(a.env["HOME"]):
            kill(pid)
        library.is_quiet(a)
        fcntl.flock(gate, fcntl.LOCK_UN)


def begin_waiting(a, name):
    """A session in the background that has said all but its farewell."""
    sid = a.ok("record", "--background", "--name", name, "--", "sh", "-c", WAITING, name).decode().strip()
    wait_for(lambda: b"all said" in a.run("cat", sid).stdout)
    return sid


def gate_of(a):
    """Whoever waits at it ends when it is let go, or closed."""
    gate = open(a.dir / "gate", "w", encoding="utf-8")
    fcntl.flock(gate, fcntl.LOCK_EX)
    return gate


def make_templates(a):
    """Indexed sessions; the same without an index; and some of them with others that were cut off."""
    made = {}

    def keep(name):
        folder = a.dir / f"template-{name}"
        shutil.copytree(a.home, folder, ignore=shutil.ignore_patterns("*.sock"))
        made[name] = Template(folder)
        for place in ("sessions", "live"):
            for sid in a.names(place):
                made[name].note(a, sid, place)

    record_stored(a, 3)
    a.ok("index", "--all")
    keep("indexed")
    for old in a.home.glob("library.*"):
        old.unlink()
    keep("bare")
    leave_cut_off(a, 2)
    keep("cut")
    return made


def restore(a, template):
    shutil.rmtree(a.home)
    shutil.copytree(template.folder, a.home)


# -- what must hold afterwards --

def is_whole(trial, template, what, names=None, gone=(), changed=()):
    """Each session once. `gone`: may have vanished; names: other names that they may have; changed: sid and
    bytes that it may have instead."""
    a = trial.a
    if trial.draw.random() < 0.5:  # also as it lies there; who looks begins to mend it
        seen = set(library.listed(a, said=[]))
        assert set(template.bytes) - set(gone) <= seen <= set(template.bytes), (what, seen)
        library.is_quiet(a)
    a.ok("recover", "--all")
    a.ok("index", "--all")
    library.is_quiet(a)
    assert [p.name for p in (a.home / "live").iterdir()] == [], what
    have = a.names("sessions")
    lost = set(template.bytes) - set(have)
    assert lost <= set(gone) and set(have) <= set(template.bytes), (what, lost, have)
    rows = library.listed(a)
    assert sorted(rows) == have, (what, sorted(rows), have)
    for sid in have:
        row = rows[sid]
        assert row["indexed"] and row["place"] == "sessions" and not row["damaged"], (what, row)
        assert row == json.loads(a.ok("show", "--json", sid)), what
        assert row["name"] in (template.names[sid], *(names or ())), (what, row["name"])
        assert row["name"] == a.meta(a.home / "sessions" / sid)["name"], what
        now = a.ok("cat", sid)
        assert now == template.bytes[sid] or (sid, now) in changed, (what, sid, len(now))
        assert a.verify(sid)["damaged"] == [], what
        if sid not in {one for one, _ in changed} and row["name"] == template.names[sid]:
            files = library.digest(a.home / "sessions" / sid)
            kept = {name: files.get(name) for name in template.files[sid]}
            assert kept == template.files[sid], (what, sid)
    assert library.where_found(a, "this is marker-") == have, what
    library.is_sound(a.home / "library.db", have)


def ends_within(pid, seconds):
    """Whether it comes to its end by itself before that."""
    fd = os.pidfd_open(pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


# -- the ways to be killed; each returns whether it was hit --

class Trial:
    def __init__(self, a, draw):
        self.a, self.draw = a, draw
        self.templates = make_templates(a)
        self.took = {}  # seconds, by command
        (a.dir / "secret").write_text(SECRET + "\n")
        self.some = sorted(self.templates["indexed"].bytes)[1]

    def struck(self, template, *args, **more):
        """Runs it in a fresh home and kills it at some instant; True: it was still at it."""
        key = args[0]
        if key not in self.took:
            restore(self.a, template)
            begin = time.monotonic()
            self.a.ok(*args, **more)
            self.took[key] = time.monotonic() - begin
            library.is_quiet(self.a)
        restore(self.a, template)
        begin = time.monotonic()
        process = self.a.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if ends_within(process.pid, self.draw.uniform(0, self.took[key])):
            self.took[key] = (self.took[key] + time.monotonic() - begin) / 2
        kill(process.pid)
        was_hit = process.wait(60) == -signal.SIGKILL
        library.is_quiet(self.a)
        return was_hit

    def index(self):
        hit = self.struck(self.templates["bare"], "index", "--all")
        is_whole(self, self.templates["bare"], "index")
        return hit

    def index_again(self):
        hit = self.struck(self.templates["indexed"], "index", self.some)
        is_whole(self, self.templates["indexed"], "index again")
        return hit

    def recover(self):
        hit = self.struck(self.templates["cut"], "recover", "--all")
        is_whole(self, self.templates["cut"], "recover")
        return hit

    def reindex(self):
        hit = self.struck(self.templates["indexed"], "reindex")
        is_whole(self, self.templates["indexed"], "reindex")
        return hit

    def rename(self):
        hit = self.struck(self.templates["indexed"], "rename", self.some, "another")
        is_whole(self, self.templates["indexed"], "rename", names=["another"])
        return hit

    def delete(self):
        hit = self.struck(self.templates["indexed"], "delete", "--yes", self.some)
        is_whole(self, self.templates["indexed"], "delete", gone=[self.some])
        return hit

    def redact(self):
        template, command = self.templates["indexed"], ("redact", self.some, "--text-file", "secret")
        plain = template.bytes[self.some]
        masked = plain.replace(SECRET.encode(), b"*" * len(SECRET))
        assert masked != plain
        hit = self.struck(template, *command)
        is_whole(self, template, "redact", changed=[(self.some, masked)])
        self.a.ok(*command)
        library.is_quiet(self.a)
        assert self.a.ok("cat", self.some) == masked
        assert self.some not in library.where_found(self.a, SECRET)
        assert [p.name for p in (self.a.home / "sessions").iterdir() if p.name.startswith(".")] == []
        return hit

    def end(self):
        """The recorder and all its helpers, somewhere between the end of the agent and that of the index."""
        a, template = self.a, self.templates["indexed"]
        if "end" not in self.took:
            self.took["end"] = 0
            restore(a, template)
            with gate_of(a):
                begin_waiting(a, "ending")
            begin = time.monotonic()
            library.is_quiet(a)
            self.took["end"] = time.monotonic() - begin
        restore(a, template)
        with gate_of(a):
            sid = begin_waiting(a, "ending")
            said = a.ok("cat", sid)
        time.sleep(self.draw.uniform(0, self.took["end"]))
        victims = with_home(a.env["HOME"])
        if not victims:
            self.took["end"] *= 0.9
        for pid in victims:
            kill(pid)
        library.is_quiet(a)
        after = Template(template.folder)
        after.bytes = {**template.bytes, sid: said}
        after.files, after.names = {**template.files, sid: {}}, {**template.names, sid: "ending"}
        is_whole(self, after, "end", changed=[(sid, said + b"farewell\r\n")])
        return bool(victims)


WAYS = (Trial.end, Trial.index, Trial.redact, Trial.recover, Trial.delete, Trial.reindex, Trial.rename,
        Trial.index_again)


@test
def each_session_is_there_once_and_whole_after_kill_9():
    print(f"# seed {SEED}")
    draw = random.Random(SEED)
    with Tended(AHR) as a:
        trial = Trial(a, draw)
        share = -(-KILLS // len(WAYS))
        for way in WAYS:
            hits = 0
            for tries in range(1, 5 * share + 10):
                try:
                    hits += way(trial)
                except BaseException:
                    print(f"# kill {tries} of {way.__name__}, seed {SEED}")
                    raise
                if hits == share:
                    break
            print(f"# {way.__name__}: {hits} of {tries} were struck at work")
            assert hits == share, way.__name__


run()
