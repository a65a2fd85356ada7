# SPDX-License-Identifier: MIT
"""live.py -- a session that is being recorded, and what its files say about snapshots.

    with Recorder(AHR) as a, Session(a) as s:
        snap(s.ipc, 7, "here")
        s.end()
        assert [one.id for one in taken(a.session())] == [7]
"""

import json
import os
from collections import namedtuple
from pathlib import Path
from struct import unpack_from

import ahr_reader
from support.processes import is_gone, kill, wait_for
from support.public_ipc import snap

# Talks until it is let go; the n-th line says n, so that the truth is known.
TALK = 'n=0; until [ -e go ]; do n=$((n + 1)); echo "line $n"; sleep 0.01; done'
# Says five bytes, and no more.
HUSH = "printf 12345; until [ -e go ]; do sleep 0.01; done"

Snapshot = namedtuple("Snapshot", "ts_ns id anchor_byte label")


def talk(size):
    """The first bytes of TALK."""
    text, n = bytearray(), 0
    while len(text) < size:
        n += 1
        text += b"line %d\r\n" % n
    return bytes(text[:size])


class Session:
    """`ahr record` of a program that goes on until end(), or is ended with the block."""

    def __init__(self, a, *options, command=("sh", "-c", TALK), **more):
        self.ahr, self.shown_path = a, a.dir / "shown"
        with open(self.shown_path, "wb") as out, a.log() as log:
            self.client = a.start("record", *options, "--", *command, stdout=out, stderr=log, **more)
        self.host = a.host(self.client.pid)
        self.agent = a.agent(self.host)
        # Between the two halves of exec it has none.
        self.env = wait_for(lambda: environment(self.agent))
        self.id = self.env["AHR_SESSION"]
        self.ipc = self.env.get("AHR_IPC")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        (self.ahr.dir / "go").touch()
        if self.client.poll() is None:
            kill(self.host)
            kill(self.client.pid)
            self.client.wait()
        wait_for(lambda: is_gone(self.host))

    @property
    def ctl(self):
        return os.path.join(os.path.dirname(self.ipc), "ctl.sock")

    def shown(self):
        return self.shown_path.read_bytes()

    def has_shown(self, size):
        wait_for(lambda: len(self.shown()) >= size)

    def still_works(self, number):
        """A good snapshot, after whatever has happened."""
        done = snap(self.ipc, number, "still here")
        assert done.id == number
        return done

    def goes_on(self):
        """The program still writes, and it is recorded and shown."""
        self.has_shown(len(self.shown()) + 1)

    def end(self, truth=talk, status=0):
        """Lets it go; all that it wrote was shown and is recorded. Its snapshots."""
        (self.ahr.dir / "go").touch()
        self.ahr.ends(self.client, status)
        shown, recorded = self.shown(), self.ahr.ok("cat", self.id)
        assert recorded == truth(len(recorded)), "the recording is not what was written"
        assert shown == recorded, (len(shown), len(recorded))
        facts = self.ahr.verify(self.id)
        assert facts["damaged"] == [] and facts["warnings"] == [], facts
        return taken(self.ahr.home / "sessions" / self.id)


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        pairs = os.fsdecode(file.read()).split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def snapshots(path):
    """Those of a sealed recording, in its order."""
    file, at, found = Path(path).read_bytes(), 0, []
    while at < len(file):
        head = ahr_reader.header_at(file, at)
        assert head, f"no block at {at} of {path}"
        found += _snapshots(ahr_reader.unpack(file[at + 44:at + 44 + head.packed], head.size))
        at += 44 + head.packed
    return found


def _snapshots(block):
    heads = {0: ("<I", 20, 24), 1: (None, 0, 16), 2: ("<I", 12, 16), 3: (None, 0, 20),
             4: ("<H", 28, 30)}
    at, found = 0, []
    while at < len(block):
        form, where, size = heads[block[at]]
        length = unpack_from(form, block, at + where)[0] if form else 0
        if block[at] == 4:
            label = block[at + size:at + size + length].decode()
            found.append(Snapshot(*unpack_from("<QQQ", block, at + 4), label))
        at += size + length
    return found


def lines(folder, name, torn=()):
    """The objects of session.NAME.jsonl, each on a line that is whole, but for those of `torn`."""
    path = folder / f"session.{name}.jsonl"
    text = path.read_text() if path.exists() else ""
    assert not text or text.endswith("\n"), text[-200:]
    return [json.loads(line) for line in text.split("\n")[:-1] if line not in torn]


def taken(folder, torn=()):
    """A finished session's snapshots: recording and lines must tell the same, in order."""
    found = snapshots(folder / "session.ahr")
    told = lines(folder, "snapshots", torn)
    for line in told:
        assert sorted(line) == ["anchor_byte", "id", "kind", "label", "ts_ns"], line
        assert line["kind"] in ("auto", "manual"), line
    assert [Snapshot(*(line[key] for key in Snapshot._fields)) for line in told] == found
    for before, after in zip(found, found[1:]):
        assert before.ts_ns <= after.ts_ns and before.anchor_byte <= after.anchor_byte
    return found


def kinds(folder):
    return {line["id"]: line["kind"] for line in lines(folder, "snapshots")}


def by_hand(a, *args, **more):
    """What `ahr snapshot` says."""
    facts = json.loads(a.ok("snapshot", *args, **more))
    assert list(facts) == ["id", "anchor_byte", "ts_ns"], facts
    return facts
