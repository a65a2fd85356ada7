# SPDX-License-Identifier: MIT
"""queries.py -- what programs ask a terminal, who answers, and whether it was said once.

    t = a.terminal(kind=AnsweringTerminal)
    asker = Asker(a, TOOL, "one")
    client = a.on(t, "record", "--", *asker.argv)
    asker.hears("one", USER)

A user's terminal here gives answers that the mirror never gives. Each query must get one of them,
or one of the mirror's, and nothing else may come.
"""

import json
import os
import re
import struct
from collections import namedtuple

from support.processes import stat, wait_for
from support.public_ipc import INPUT, SUBSCRIBE, HungUp, Peer, frame, with_text
from support.terminal import Terminal

SKIPPED, PICTURE = 70, 74
WATCH_WITH_PICTURE = 3
MIRROR, USER = "mirror", "user"
AGAIN = b"\x1b[again~"  # as input: an answer may have been lost, what is next?

Query = namedtuple("Query", "name bytes mirror user")


def _osc(code, mirror, end):
    return Query(f"OSC{code}{'BEL' if end == chr(7) else 'ST'}", f"\x1b]{code};?{end}",
                 f"\x1b]{code};rgb:{mirror}{end}", f"\x1b]{code};rgb:7777/7777/7777{end}")


def queries(version, cols=80, rows=24):
    """All that the model answers, for a terminal of this size."""
    table = [
        Query("DA1", "\x1b[c", "\x1b[?62;22c", "\x1b[?64;7c"),
        Query("DA2", "\x1b[>c", "\x1b[>1;100;0c", "\x1b[>7;7;7c"),
        Query("DA3", "\x1b[=c", "\x1bP!|00000000\x1b\\", "\x1bP!|77777777\x1b\\"),
        Query("XTVERSION", "\x1b[>q", f"\x1bP>|ahr({version})\x1b\\", "\x1bP>|user(7)\x1b\\"),
        Query("DSR", "\x1b[5n", "\x1b[0n", "\x1b[3n"),
        Query("CPR", "\x1b[1;9H\x1b[6n", "\x1b[1;9R", "\x1b[1;7R"),
        Query("DECXCPR", "\x1b[1;9H\x1b[?6n", "\x1b[?1;9R", "\x1b[?1;7R"),
        Query("size", "\x1b[18t", f"\x1b[8;{rows};{cols}t", "\x1b[8;7;7t"),
        Query("keyboard", "\x1b[?u", "\x1b[?0u", "\x1b[?7u"),
        Query("terminfo", "\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\", "\x1bP1+r544e=77\x1b\\"),
    ]
    colours = {"4;1": "cdcd/0000/0000", "10": "e5e5/e5e5/e5e5", "11": "0000/0000/0000",
               "12": "e5e5/e5e5/e5e5"}
    table += [_osc(code, rgb, end) for code, rgb in colours.items() for end in ("\x1b\\", "\a")]
    modes = {"?7": 1, "?25": 1, "?1": 2, "?1049": 2, "?2004": 2, "?2026": 2, "?2027": 3, "?7777": 0,
             "4": 2, "20": 2}
    table += [Query(f"mode{mode}", f"\x1b[{mode}$p", f"\x1b[{mode};{value}$y", f"\x1b[{mode};4$y")
              for mode, value in modes.items()]
    settings = {"m": "0m", "r": f"1;{rows}r", "s": f"1;{cols}s", " q": "0 q", '"q': '0"q',
                '"p': '62;1"p'}
    table += [Query(f"setting{n}", f"\x1bP$q{what}\x1b\\", f"\x1bP1$r{value}\x1b\\",
                    f"\x1bP1$r7{what}\x1b\\") for n, (what, value) in enumerate(settings.items())]
    return table


class AnsweringTerminal(Terminal):
    """Knows where a fence has put its cursor, and answers all that is asked."""

    FENCE = rb"\x1b\[(\d+);(\d+)H\x1b\[6n"

    def __init__(self, *args, **more):
        self._answers = {q.bytes.encode(): q.user.encode() for q in queries("")}
        self._answers[b"\x1b[6n"] = b"\x1b[7;7R"  # wherever that is
        known = sorted(map(re.escape, self._answers), key=len, reverse=True)
        self._asked = re.compile(b"(?:" + b"|".join(known) + b")|" + self.FENCE, re.DOTALL)
        self._rest = b""
        self.asked = []  # each query that was seen
        super().__init__(*args, **more)

    def heard(self, more):
        data, end = self._rest + more, 0
        for match in self._asked.finditer(data):
            query, end = match.group(), match.end()
            self.asked.append(query)
            self.type(self._answers.get(query) or b"\x1b[%s;%sR" % match.groups())
        self._rest = self._unfinished(data[end:])

    @staticmethod
    def _unfinished(data):
        """What may be the beginning of a query: at most two sequences make one."""
        last = data.rfind(b"\x1b")
        at = data.rfind(b"\x1b", 0, last) if last > 0 else last
        return data[at if at >= 0 else last:][-32:] if last >= 0 else b""


class Asker:
    """The program `queries` in a session, its phases started by files."""

    def __init__(self, a, tool, *phases, size=(80, 24)):
        self.a = a
        self.version = a.ok("--version").split()[1].decode()
        self.size = size
        self.owed = []  # queries without an answer so far
        self.log = a.dir / "answers"
        (a.dir / "table").write_text("".join(f"{q.name} {q.bytes.encode().hex()}\n"
                                             for q in queries("")))
        self.argv = [str(tool), str(a.dir / "table"), str(self.log), *phases, "end"]

    def begin(self, phase):
        (self.a.dir / phase).touch()

    def lines(self, phase):
        """What was heard in this phase so far: {query: text}; "done" at its end."""
        lines = self.log.read_text().split("\n")[:-1] if self.log.exists() else []
        found = [json.loads(line) for line in lines]
        return {one["query"]: one["got"] for one in found if one["phase"] == phase}

    def is_over(self, phase):
        wait_for(lambda: "done" in self.lines(phase),
                 lambda: f"not all of {phase} is answered: {self.lines(phase)}")

    def heard(self, phase):
        """What was heard in it, which must be over soon."""
        self.is_over(phase)
        return {name: got for name, got in self.lines(phase).items() if name != "done"}

    def truth(self, who, size=None):
        table = queries(self.version, *(size or self.size))
        return {"begin": "", **{q.name: q.mirror if who == MIRROR else q.user for q in table}}

    def hears(self, phase, who, size=None):
        """Asks everything; who answers, once."""
        self.begin(phase)
        self.heard_from(phase, who, size)

    def heard_from(self, phase, who, size=None):
        have, want = self.heard(phase), self.truth(who, size)
        assert have == want, {name: (have.get(name), want.get(name))
                              for name in {*have, *want} if have.get(name) != want.get(name)}

    def at_most_once(self, phase, ask_again):
        """Each query was answered once, by whomever, or, the one that was in the hands of someone
        who was stopped just then, not at all, or late: by the mirror, behind what the terminal that
        is there again has answered meanwhile."""
        def is_over():
            if "done" in self.lines(phase):
                return True
            ask_again()
            return False
        wait_for(is_over, lambda: f"not all of {phase} is answered: {self.lines(phase)}")
        have, both = self.heard(phase), (self.truth(MIRROR), self.truth(USER))
        assert have.keys() == both[0].keys(), have
        lost = 0
        for name, got in have.items():
            answers = [truth[name] for truth in both]
            late = [pair for truth in both for owed in self.owed for own in answers
                    for pair in (truth[owed] + own, own + truth[owed])]
            if got in answers:
                continue
            if not got:
                lost += 1
                self.owed.append(name)
            else:
                assert got in late, (name, got, have)
                self.owed.clear()
        assert lost <= 1, have
        return have

    def ends(self, *clients):
        """Nothing more has come for it."""
        self.begin("end")
        assert self.heard("end") == {"begin": ""}, self.heard("end")
        for client in clients:
            self.a.ends(client, 0)


def type_by_socket(ctl, data):
    with Peer(ctl) as peer:
        peer.send(with_text(INPUT, data))
        peer.receive()  # it has been taken


def mirror_has_seen_all(ctl):
    """Whatever the mirror had to say to the output so far is at the host: it has since given
    somebody the screen."""
    def has_shown():
        with Peer(ctl) as peer:
            peer.send(frame(SUBSCRIBE, struct.pack("<HHB", 0, 0, WATCH_WITH_PICTURE)))
            while True:
                try:
                    selector, body = peer.receive()
                except HungUp:
                    return False
                if selector == SKIPPED:
                    return False
                if selector == PICTURE and body[8]:
                    return True
    wait_for(has_shown, "there is no mirror")


def mirror_of(host):
    """The pid of a host's mirror."""
    def find():
        for pid in os.listdir("/proc"):
            if not pid.isdigit() or not (fields := stat(pid)) or int(fields[1]) != host:
                continue
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if file.read() == b"ahr\0mirror\0" and fields[0] != b"Z":
                        return int(pid)
            except OSError:
                pass
        return None
    return wait_for(find, f"{host} has no mirror")
