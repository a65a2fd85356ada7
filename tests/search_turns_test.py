#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search_turns_test.py -- `ahr search` in conversations: whatever the filters are, it finds what a plain look at
every turn and row finds, and the command of each hit shows it. usage: search_turns_test.py AHR"""

import json
import os
import random
import re
import shlex
import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import talks
from support.ahr import Ahr
from support.on_pty import OnPty
from support.recorder import IS_SANITIZED
from support.sessions import Home, session_id
from support.tap import run, test
from support.tape import START_NS, Tape

AHR = str(Path(sys.argv[1]).resolve())
SEED = int(os.environ.get("AHR_TEST_SEED", "12"))
COLS = 70
HOUR_NS = 3600 * 10**9
SHARED = []


class Session:
    """One that is made up, and what is to be found in it."""

    def __init__(self, number, rng, is_run):
        self.sid = session_id(f"2023-11-{number + 10:02}", "0123456789abcdef"[number % 16])
        self.start_ns = START_NS + number * HOUR_NS
        self.name = f"made-{number}" if rng.random() < 0.7 else None
        self.agent, self.role = rng.choice(talks.AGENTS), rng.choice(talks.ROLES)
        self.is_run = is_run
        self.events = talks.talk(rng, rng.choice((3, 30, 120))) if is_run else []
        self.instructions = []
        self.tape = Tape(COLS, 24)
        self.tape.now_ns = self.start_ns
        self.stamps = []

    def write(self, home, rng):
        folder = home.folder("sessions", self.sid)
        for e in self.events:
            shown = talks.shown(e, is_whole=False).replace("\n", "\r\n").encode()
            if shown and rng.random() < 0.9:  # the rest as if a disk had not taken it
                self.tape.data(shown)
            if rng.random() < 0.05:
                self.tape.data(b"of the screen alone: alpha error\r\n")
        for _ in range(0 if self.is_run else rng.choice((1, 40, 200))):
            self.tape.data(talks.lines(rng, 3).replace("\n", "\r\n").encode() + b"\r\n")
        for number in range(rng.choice((0, 0, 2))):
            text = talks.lines(rng, 2)
            self.tape.instruct(number + 1, text, anchor=self.tape.off)
            self.instructions.append((number + 1, text))
        facts = {key: value for key, value in (("name", self.name), ("agent", self.agent), ("role", self.role))
                 if value}
        if self.is_run:
            facts["kind"] = "stream"
            lines, self.stamps = talks.stamped(self.events, self.start_ns)
            (folder / "session.turns.jsonl").write_bytes(b"".join(lines))
        self.tape.end().write(folder / "session.ahr", sessionId=self.sid, status="completed", cols=COLS, rows=24,
                              startedAtNs=self.start_ns, endedAtNs=self.tape.now_ns, **facts)

    def look(self, a):
        """Its lines, from what other commands tell: all that could be found."""
        said = {talks.same_line(line) for e in self.events for is_whole in (True, False)
                for line in talks.shown(e, is_whole).split("\n")}
        self.found = []  # hits without "start" and "end", the text as "text"
        for number, (e, ts) in enumerate(zip(self.events, self.stamps), 1):
            for line in talks.shown(e).replace("\t", " ").split("\n"):
                if line:
                    self.found.append({"kind": "turn", "turn": number, "role": talks.role(e), "type": e["type"],
                                       "tool": talks.tool(e), "ts_ns": str(ts), "text": line})
        for number, text in self.instructions:
            for line in text.replace("\t", " ").split("\n"):
                if line:
                    self.found.append({"kind": "instruction", "instruction": number, "text": line})
        rows = json.loads(a.ok("export", self.sid, "--format", "json", "--timestamps", "--what", "terminal"))
        looks = json.loads(a.ok("render", self.sid, "--format", "json", "--scrollback"))["lines"]
        is_open, lines = False, []
        for row, look in zip([r for r in rows if r["kind"] == "line"], looks):
            if not is_open:
                lines.append([])
            is_open = look["wrapped"]
            lines[-1].append((row, row["text"].ljust(COLS) if is_open else row["text"]))
        for parts in lines:
            text = "".join(part for _, part in parts)
            if text:
                self.found.append({"kind": "line", "rows": parts, "text": text,
                                   "is_shown": talks.same_line(text) in said})


class Library(Ahr):
    @staticmethod
    def shared():
        if not SHARED:
            SHARED.append(Library(AHR).__enter__())
        return SHARED[0]

    def __enter__(self):
        super().__enter__()
        self.env.update(AHR_UPKEEP="off", TERM="xterm", TZ="UTC")
        rng = random.Random(SEED)
        self.sessions = [Session(number, rng, is_run=number % 3 > 0) for number in range(15)]
        for session in self.sessions:
            session.write(Home(self), rng)
        self.ok("index", "--all")
        for session in self.sessions:
            session.look(self)
        return self

    def search(self, query, *more):
        done = self.run("search", "--json", "--limit", "0", *more, "--", query)
        assert done.returncode == 0, (query, more, done.stderr)
        return json.loads(done.stdout)

    def scan(self, query, where="all", role=None, agent=None, tool=None, since_ns=0, is_regex=False):
        """The newest session first, each from its last line up: turns, rows and instructions by themselves."""
        is_of_turns = role in ("user", "assistant", "tool") or tool
        hits = []
        for s in reversed(self.sessions):
            if s.start_ns < since_ns or agent and (s.agent or "").lower() != agent.lower() or \
                    role and not is_of_turns and (s.role or "").lower() != role.lower() or \
                    role and role not in ("user", "assistant", "tool") and \
                    (s.role or "").lower() != role.lower():
                continue
            for line in reversed(s.found):
                if not self.is_wanted(line, "turns" if is_of_turns else where):
                    continue
                if role in ("user", "assistant", "tool") and line["role"] != role:
                    continue
                if tool and (line["tool"] or "").lower() != tool.lower():
                    continue
                if span := find(line["text"], query, is_regex):
                    hits.append({"session": s.sid, **place(line, span), "start": span[0], "end": span[1]})
        return hits

    @staticmethod
    def is_wanted(line, where):
        if where == "turns":
            return line["kind"] == "turn"
        return line["kind"] == "line" if where == "terminal" else not line.get("is_shown")


def find(text, query, is_regex):
    """The span in bytes of the first match."""
    if is_regex:
        match = re.search(query, text, 0 if re.search("[A-Z]", re.sub(r"\\.", "", query)) else re.IGNORECASE)
        return match and tuple(len(text[:at].encode()) for at in match.span())
    folded = query.lower() == query
    raw, asked = text.encode(), query.encode()
    at = (raw.lower() if folded else raw).find(asked)
    return (at, at + len(asked)) if at >= 0 else None


def place(line, span):
    hit = {key: line.get(key) for key in ("kind", "turn", "instruction", "role", "type", "tool", "text")}
    if line["kind"] == "line":
        start = 0
        for row, part in line["rows"]:
            if start <= span[0]:
                hit.update(line=row["index"], last_write_byte=row["last_write_byte"], ts_ns=row["ts_ns"])
            start += len(part.encode())
    elif line["kind"] == "turn":
        hit["ts_ns"] = line["ts_ns"]
    return hit


def by_stream(hits):
    """Turns, rows and instructions of each session in their order: how these stand between each other is left
    open."""
    made = {}
    for hit in hits:
        made.setdefault((hit["session"], hit["kind"]), []).append(
            {key: hit.get(key) for key in ("turn", "line", "last_write_byte", "instruction", "role", "type", "tool",
                                           "text", "start", "end")} |
            ({} if hit["kind"] == "instruction" else {"ts_ns": hit["ts_ns"]}))
    return made


def same(found, expected, what):
    assert list(dict.fromkeys(h["session"] for h in found)) == \
        list(dict.fromkeys(h["session"] for h in expected)), what
    got, wanted = by_stream(found), by_stream(expected)
    assert got.keys() == wanted.keys(), (what, got.keys() ^ wanted.keys())
    for key in wanted:
        assert got[key] == wanted[key], (what, key, [pair for pair in zip(got[key], wanted[key])
                                                     if pair[0] != pair[1]][:1], len(got[key]), len(wanted[key]))


QUERIES = ["alpha", "error", "Gamma", "a", "of the screen", "call", "[tool]", "[user]", "Bash", "Grüße", "日本", "🦊",
           "foo_bar src", "more line", "model=", "failed:", "exit 3", "two  blanks", "a b", "zzz nothing"]
REGEXES = ["err.r", "^\\[tool\\] \\w+$", "alpha.*beta", "\\d\\dx?\\b", "^  command:", "(user|tool)\\]"]


def options(rng):
    """Some filters, as words of a command and as what scan() takes."""
    words, asked = [], {}
    if rng.random() < 0.5:
        asked["where"] = rng.choice(("turns", "terminal", "all"))
        words += ["--in", asked["where"]]
    if rng.random() < 0.35:
        asked["role"] = rng.choice(("user", "assistant", "tool", "developer", "ARCHITECT", "nobody"))
        words += ["--role", asked["role"]]
    if rng.random() < 0.35:
        asked["agent"] = rng.choice(("claude", "Codex", "gemini", "other"))
        words += ["--agent", asked["agent"]]
    if rng.random() < 0.35:
        asked["tool"] = rng.choice(("Bash", "read", "EDIT", "mcp__x__y", "none"))
        words += ["--tool", asked["tool"]]
    if rng.random() < 0.3:
        asked["since_ns"] = START_NS + rng.randrange(15) * HOUR_NS
        words += ["--since", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(asked["since_ns"] // 10**9))]
    return words, asked


@test
def each_filter_alone_finds_what_a_look_at_everything_finds():
    a = Library.shared()
    hits = 0
    for words, asked in ((["--in", "turns"], {"where": "turns"}), (["--in", "terminal"], {"where": "terminal"}),
                         (["--in", "all"], {}), ([], {}), (["--role", "user"], {"role": "user"}),
                         (["--role", "assistant"], {"role": "assistant"}), (["--role", "tool"], {"role": "tool"}),
                         (["--role", "developer"], {"role": "DEVELOPER"}), (["--agent", "codex"], {"agent": "codex"}),
                         (["--tool", "bash"], {"tool": "Bash"}), (["--tool", "Read"], {"tool": "Read"})):
        for query in QUERIES[::3] if IS_SANITIZED else QUERIES:
            expected = a.scan(query, **asked)
            same(a.search(query, *words), expected, (query, words))
            hits += len(expected)
    assert hits > (500 if IS_SANITIZED else 2000), hits


@test
def filters_together_find_what_a_look_at_everything_finds():
    a = Library.shared()
    rng = random.Random(SEED + 1)
    rounds, hits = 0, 0
    while rounds < (40 if IS_SANITIZED else int(os.environ.get("AHR_TEST_ROUNDS", "250"))):
        words, asked = options(rng)
        is_regex = rng.random() < 0.2
        query = rng.choice(REGEXES if is_regex else QUERIES)
        is_of_turns = asked.get("role") in ("user", "assistant", "tool") or "tool" in asked
        if is_of_turns and asked.get("where") == "terminal":
            assert "leave out --in terminal" in a.fails(2, "search", query, *words)
            continue
        expected = a.scan(query, is_regex=is_regex, **asked)
        same(a.search(query, *words, *["--regex"] * is_regex), expected, (query, words))
        rounds += 1
        hits += len(expected)
    assert hits > 300, hits


@test
def what_a_turn_and_a_row_say_is_told_once():
    a = Library.shared()
    for query in ("[user]", "[tool]", "alpha"):
        turns = len(a.search(query, "--in", "turns"))
        rows = len(a.search(query, "--in", "terminal"))
        both = len(a.search(query))
        assert turns and rows, query
        assert turns <= both < turns + rows, (query, turns, rows, both)


@test
def the_command_of_each_hit_shows_it():
    a = Library.shared()
    rng = random.Random(SEED + 2)
    hits = a.search("alpha", "--in", "turns") + a.search("error")
    kinds = set()
    for hit in rng.sample(hits, min(len(hits), 40)):
        command = shlex.split(hit["command"])
        assert command[0] == "ahr" and "|" not in command, hit
        more = ["--fast"] if command[1] == "replay" else []
        shown = a.ok(*command[1:], *more).decode()
        if hit["kind"] == "turn":
            assert talks.same_line(hit["text"]) in map(talks.same_line, shown.splitlines()), hit
        elif hit["kind"] == "line":  # the picture there, which has it
            at = command[command.index("--from") + 1]
            shown = a.ok("replay", hit["session"], "--fast", "--to", at).decode()
            session, = (s for s in a.sessions if s.sid == hit["session"])
            row, = (row["text"] for line in session.found for row, _ in line.get("rows", ())
                    if row["index"] == hit["line"])
            assert row in shown, hit
        kinds.add(hit["kind"])
    assert kinds >= {"turn", "line"}, kinds


@test
def hits_tell_who_says_it_with_which_tool():
    a = Library.shared()
    hit = a.search("[tool]", "--tool", "Bash")[0]
    assert (hit["role"], hit["type"], hit["tool"], hit["line"]) == ("assistant", "tool_call", "Bash", None)
    line = a.ok("search", "[tool]", "--tool", "Bash", "--limit", "1").decode()
    assert f"\tturn {hit['turn']} assistant Bash\t" in line, line
    with OnPty([AHR, "search", "[tool]", "--tool", "bash", "--limit", "1"], cols=90, env=a.env, cwd=a.dir) as t:
        assert t.finish() == 0
        assert f"turn {hit['turn']} assistant Bash" in bytes(t.bytes).decode()
    line = a.ok("search", "[warn]", "--in", "turns", "--limit", "1").decode()
    assert re.search(r"\tturn \d+ warning\t", line), line
    hit = a.search("failed", "--role", "tool")[0]
    assert hit["type"] == "tool_result" and hit["tool"], hit


@test
def filters_that_fit_nothing_say_so():
    a = Library.shared()
    for words, told in ((("--agent", "nobody"), "no session of the agent 'nobody' is in the library; there are 'c"),
                        (("--role", "nobody"), "no session of the role 'nobody' is in the library; there are 'AR"),
                        (("--tool", "nothing"), "no call of the tool 'nothing' is in the library; there are 'B")):
        done = a.run("search", "alpha", *words)
        assert (done.returncode, done.stdout) == (0, b""), done
        assert told in done.stderr.decode(), done.stderr
        assert b"'Bash', 'Read'" in done.stderr or words[0] != "--tool", done.stderr
    done = a.run("search", "zzz nothing", "--agent", "CLAUDE", "--tool", "bash", "--role", "architect")
    assert done.stderr == b"ahr search: nothing found\n", done.stderr
    for word in ("role", "agent", "tool"):
        assert f"--{word} needs a word" in a.fails(2, "search", "x", f"--{word}", "")
    hostile = a.run("search", "x", "--agent", "\x1b[31m'; DROP TABLE sessions; --")
    assert hostile.returncode == 0 and b"\x1b" not in hostile.stderr, hostile
    assert a.search("alpha")


@test
def what_is_set_for_runs_does_not_narrow_a_search():
    a = Library.shared()
    every = a.ok("search", "alpha", "--json")
    assert a.ok("search", "alpha", "--json", env={"AHR_AGENT": "codex", "AHR_ROLE": "ARCHITECT"}) == every


@test
def an_index_of_before_is_made_anew_by_itself():
    with Library(AHR) as a:
        db = sqlite3.connect(Home(a).dir / "library.db")
        # As it was in version 5: usage without days.
        db.executescript("DROP TABLE messages; DROP TABLE totals; DROP TABLE usage; CREATE TABLE usage (key INTEGER NOT NULL,"
                         " model TEXT NOT NULL, input_tokens INTEGER, output_tokens INTEGER,"
                         " cache_creation_tokens INTEGER, cache_read_tokens INTEGER, calls INTEGER,"
                         " PRIMARY KEY (key, model)) WITHOUT ROWID; PRAGMA user_version = 5")
        db.close()
        done = a.run("search", "alpha")
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"15 sessions are not indexed yet" in done.stderr, done.stderr
        a.ok("index", "--all")
        same(a.search("alpha"), a.scan("alpha"), "anew")


@test
def indexed_again_and_removed_it_leaves_nothing():
    with Library(AHR) as a:
        before = a.search("alpha")
        for session in a.sessions:
            a.ok("index", session.sid)
        assert a.search("alpha") == before
        for session in a.sessions[:-1]:
            a.ok("delete", "--yes", session.sid)
        left = a.sessions[-1]
        a.sessions = [left]
        for words, asked in (((), {}), (("--in", "turns"), {"where": "turns"}), (("--tool", "Bash"), {"tool": "Bash"})):
            same(a.search("a", *words), a.scan("a", **asked), words)
        db = sqlite3.connect(Home(a).dir / "library.db")
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        db.close()
        assert a.run("delete", "--yes", left.sid).returncode == 0
        assert a.search("a") == []


@test
def a_run_of_many_labels_and_long_lines_is_found():
    with Ahr(AHR) as a:
        a.env["AHR_UPKEEP"] = "off"
        home = Home(a)
        sid = session_id("2026-05-28", "a")
        events = []
        for i in range(300):  # more tools than a piece has labels
            events.append({"type": "tool_call", "id": f"c{i}", "name": f"Tool{i}", "input": {"x": f"needle {i}"}})
        events.append({"type": "tool_result", "id": "c7", "text": "y" * 3_000_000 + " far needle"})
        events.append({"type": "tool_call", "id": "x", "name": "ä" * 400, "input": {"x": "odd needle"}})
        lines, _ = talks.stamped(events, START_NS)
        home.add_run("sessions", sid, b"nothing\r\n", lines, status="completed", startedAtNs=START_NS)
        a.ok("index", "--all")

        def search(query, *more):
            return json.loads(a.ok("search", "--json", "--limit", "0", query, *more))
        assert len(search("needle")) == 302
        for i in (0, 63, 64, 65, 299):
            hit, = search("needle", "--tool", f"tool{i}", "--role", "assistant")
            assert (hit["turn"], hit["tool"]) == (i + 1, f"Tool{i}"), hit
        hit, = search("far needle", "--tool", "Tool7")
        assert (hit["turn"], hit["role"]) == (301, "tool")
        hit, = search("odd needle", "--tool", "ä" * 400)
        assert hit["tool"] == "ä" * 127, hit


try:
    run()
finally:
    for library in SHARED:
        library.__exit__()
