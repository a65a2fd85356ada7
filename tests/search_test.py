#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search_test.py -- `ahr search`: what it finds is what a plain scan of the lines finds, whatever the
query is; what is printed and said. usage: search_test.py AHR MOCK_AGENT [--sanitized]"""

import fcntl
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.on_pty import OnPty
from support.recorder import IS_SANITIZED, Recorder
from support.sessions import Home, session_id
from support.tap import run, test
from support.tape import START_NS, Tape

AHR, MOCK_AGENT = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
COLS = 60
SHARED = []
DAY_NS = 86_400_000_000_000
OLD, MID, NEW = (session_id(f"2023-11-{day}", letter)
                 for day, letter in ((14, "a"), (15, "b"), (16, "c")))

ODD_LINES = """\
it's a "quoted" line, 'twice' and ''thrice''
NEAR(error, 2) AND NOT (x OR y) * ^col:
SELECT * FROM words WHERE words MATCH 'x'; DROP TABLE sessions; --
100% sure, under_score, back\\slash, [brackets], {braces}, (parens, $dollar ^caret
Grüße aus Köln, ÄÖÜ äöü ß, naïve café
日本語のテキスト and 한국어 and 中文
emoji 🦊 and 👩‍👩‍👧‍👦 and 🇩🇪 and é combining, ſ and \u212a
a  b   c    many     blanks
\ttabs become blanks
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
Error: cannot open 'file.txt': No such file or directory
ERROR error eRRoR
x
616263 626364 hex words
-- --json --limit 0 -
path/to/some/file.c:123:45: warning: unused variable 'foo' [-Wunused-variable]
\u200bzero width\u200d joiners
""".splitlines()


def made_up(seed, count):
    """Lines of words, some much longer than the terminal is wide."""
    rng = random.Random(seed)
    words = ["alpha", "beta", "Gamma", "error", "Warning", "0x7fff", "foo_bar", "src/main.c", "the", "42",
             "return", "{", "}", "==", "a", "I"] + [f"w{rng.randrange(10**6):x}" for _ in range(300)]
    return [" ".join(rng.choice(words) for _ in range(rng.choice((1, 3, 8, 8, 20, 60))))
            for _ in range(count)]


def write(home, sid, name, lines, start_ns):
    tape = Tape(COLS, 24)
    tape.now_ns = start_ns
    for at in range(0, len(lines), 50):
        tape.data("".join(line + "\r\n" for line in lines[at:at + 50]))
    facts = {"name": name} if name else {}
    folder = home.folder("sessions", sid)
    tape.end().write(folder / "session.ahr", sessionId=sid, status="ok", cols=COLS, rows=24,
                     startedAtNs=start_ns, endedAtNs=tape.now_ns, **facts)


class Lines:
    """The lines of a session as a search sees them, from its rows; those that wrap are ASCII."""

    def __init__(self, a, sid):
        self.sid = sid
        rows = json.loads(a.ok("export", sid, "--format", "json", "--timestamps"))
        shown = json.loads(a.ok("render", sid, "--format", "json", "--scrollback"))["lines"]
        texts = [r["text"] for r in rows] + [""] * (len(shown) - len(rows))
        assert texts == [r["text"] for r in shown]
        self.lines = []  # [[start in the line, row] of each row], bytes
        is_open = False
        for row, look in zip(rows, shown):
            if not is_open:
                self.lines.append([[], b""])
            line = self.lines[-1]
            line[0].append((len(line[1]), row))
            is_open = look["wrapped"]
            line[1] += (row["text"].ljust(COLS) if is_open else row["text"]).encode()

    def scan(self, find):
        """From the last line up, what find() gives for each: a span or None."""
        for rows, text in reversed(self.lines):
            span = find(text)
            if span:
                row = [r for start, r in rows if start <= span[0]][-1]
                yield {"session": self.sid, "line": row["index"],
                       "last_write_byte": row["last_write_byte"], "ts_ns": row["ts_ns"],
                       "text": text.decode(), "start": span[0], "end": span[1]}


class Library(Ahr):
    """Three sessions, the newest with no name. Tests that change nothing share one."""

    @staticmethod
    def shared():
        if not SHARED:
            SHARED.append(Library(AHR).__enter__())
        return SHARED[0]

    def __enter__(self):
        super().__enter__()
        self.env.update(AHR_UPKEEP="off", TERM="xterm", TZ="UTC")
        home = Home(self)
        self.texts = {OLD: ODD_LINES, MID: made_up(1, 2000), NEW: made_up(2, 300) + ODD_LINES}
        for number, (sid, name) in enumerate(((OLD, "odd"), (MID, "mid"), (NEW, None))):
            write(home, sid, name, self.texts[sid], START_NS + number * DAY_NS)
        self.ok("index", OLD, MID, NEW)
        self.sessions = [Lines(self, sid) for sid in (NEW, MID, OLD)]
        return self

    def scan(self, find):
        return [hit for session in self.sessions for hit in session.scan(find)]

    def search(self, query, *more):
        """By standard input, and where it can be as a word, too."""
        args = ("search", "--json", "--limit", "0", *more)
        done = self.run(*args, "-", input=query)
        check_words(done, query)
        assert done.returncode == 0, (query[:80], done.stderr)
        is_word = 0 < len(query) < 1000 and not {0, 10} & {*query} and query != b"-"
        if is_word and query[0] % 4 == 0:
            word = query.decode(errors="surrogateescape")
            assert self.run(*args, "--", word).stdout == done.stdout
        return json.loads(done.stdout)


def check_words(done, query):
    """Nothing that only we know of."""
    said = re.sub("'/[^']*'", "", done.stderr.decode(errors="replace").lower())
    for word in ("sql", "fts", "malformed", "near \"", "match ", "pcre"):
        assert word not in said, (query[:80], said)


def same(found, expected, query):
    keys = ("session", "line", "last_write_byte", "ts_ns", "text", "start", "end")
    found = [{key: hit[key] for key in keys} for hit in found]
    assert found == expected, (query[:80], len(found), len(expected),
                               [pair for pair in zip(found, expected) if pair[0] != pair[1]][:1])


# -- what is found --

HOSTILE = [
    b"'", b'"', b"''", b'"""', b"NEAR(", b"NEAR(error, 2)", b"error NEAR", b"*", b"^", b"error*",
    b"AND", b"OR", b"NOT", b"a AND", b"(", b")", b"()", b"words:", b"words:error", b"{words}:x",
    b"rowid", b"-", b"--", b"--json", b"; DROP TABLE sessions; --", b"' OR 1=1 --", b"%", b"_",
    b"%%", b"\\", b"\\'", b"\0", b"a\0b", b"\0\0\0", b"error\0", b"x'616263'", b"616263",
    b"616263 626364", b"+", b"?", b"?1", b":a", b"@a", b"$a", b"#", b"[", b"]", b"{", b"}", b" ",
    b"  ", b"     ", b"\t", b"\r", b"a\nb", b"\na", b"\n\n", b"\x1b[31m", b"\x7f", b"\x80",
    b"\xff\xfe", b"\xc3", b"\xa4", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\xaf", "🦊".encode(),
    "👩‍👩‍👧‍👦".encode(), "🇩🇪".encode(), "é".encode(), "\u0301".encode(), "ſ".encode(),
    "\u212a".encode(), "ß".encode(), "ÄÖÜ".encode(), "äöü".encode(), "日本".encode(),
    "\u202e".encode(), "\ufeff".encode(), "\u200d".encode(), b"error", b"ERROR", b"Error", b"eRRoR",
    b"x", b"aa", b"aaa", b"a" * 49 + b"b", b"a" * 60, b"a" * (1 << 20), b"error " * 200000,
    os.urandom(1 << 20).replace(b"\n", b"x"), b"'" * 100000, b"(" * 100000, "🦊".encode() * 50000,
    b"src/main.c", b"0x7fff", b"no such thing anywhere", b"zzz", b"limit 0", b"file.c:123:45: warn",
]


def odd_queries(library):
    """500: hostile ones, parts of lines at any byte, the same spoiled, and noise."""
    rng = random.Random(8)
    lines = [line for s in library.sessions for _, line in s.lines if line]
    queries = list(HOSTILE)
    while len(queries) < 500:
        line = rng.choice(lines)
        start = rng.randrange(len(line))
        part = line[start:start + rng.choice((1, 2, 3, 4, 5, 8, 13, 30, 80, 400))]
        how = rng.randrange(6)
        if how == 0:
            part = part.swapcase()
        elif how == 1:
            part = part.lower()
        elif how == 2:
            at = rng.randrange(len(part))
            part = part[:at] + bytes([rng.randrange(256)]) + part[at + 1:]
        elif how == 3 and rng.randrange(4) == 0:
            part = rng.randbytes(rng.randrange(1, 12))
        queries.append(part)
    return queries


def scan_for(query):
    folded = query.lower() == query  # of bytes: ASCII alone

    def find(line):
        at = (line.lower() if folded else line).find(query)
        return (at, at + len(query)) if at >= 0 else None
    return find


@test
def five_hundred_odd_queries_find_what_a_scan_finds():
    a = Library.shared()
    hits = 0
    queries = odd_queries(a)
    for query in queries[::4] if IS_SANITIZED else queries:  # each takes ten times as long there
        asked = query
        if query.endswith(b"\n"):
            asked += b"\n"  # one is left out
        expected = a.scan(scan_for(query))
        same(a.search(asked), expected, query)
        hits += len(expected)
    assert hits > 1000


@test
def what_is_searched_is_what_was_written():
    a = Library.shared()
    for session in a.sessions:
        shown = [line.decode() for _, line in session.lines if line]
        written = [line.replace("\t", "        ") for line in a.texts[session.sid]]
        written = [re.sub("[\u200b]", "", line) for line in written]
        assert len(shown) == len(written)
        for one, two in zip(shown, written):
            assert one == two or not two.isascii(), (one, two)
    query = b"alpha beta"
    assert any(len(rows) > 3 for rows, _ in a.sessions[0].lines)
    assert len(a.search(query)) == sum(query.decode() in line.lower() for s in a.sessions
                                       for line in a.texts[s.sid])


REGEXES = [
    r"error", r"Error", r"err.r", r"^x$", r"^$", r"w[0-9a-f]{5}\b", r"\bthe\b",
    r"(alpha|beta) (error|42)", r"alpha|beta", r"foo_bar.*return", r"foo_bar.*?return",
    r"colou?r|error", r"\d+:\d+", r"[^ -~]", r"\S+ing", r"\.c\b", r"\[-W", r"sk",
    r"[[:alpha:]]+[0-9]", r"a{49}b", r"a{10,}", r"(a+)b", r"quot.d", r"'[^']*'", r"\\",
    r"\$dollar \^caret", r"Köln", r"köln", r".*", r"a.", r"^.{200,}$", r"[]]", r"[^]a-z]x",
    r"foo_b?ar", r"(?:src/)?main\.c", r"\w+@\w+", r"(?i)ERROR", r"(?=err)e", r"(?<!f)oo", r"日.語",
    r"🦊", r"^\s", r"\s$", r"w1|w2", r"==.*==.*==", r"}$",
]


@test
def regexes_find_what_a_scan_finds():
    a = Library.shared()
    hits = 0
    for regex in REGEXES:
        plain = re.sub(r"\\.", "", regex)
        flags = 0 if re.search("[A-Z]", plain) else re.IGNORECASE
        pattern = re.compile(regex.replace("[[:alpha:]]", "[a-zA-Z]"), flags)

        def find(line):
            text = line.decode()
            if regex.isascii() and flags:
                text = text.replace("ſ", "ƀ").replace("\u212a", "Ḁ")  # an s and a k, to Unicode alone
            m = pattern.search(text)
            return m and (len(text[:m.start()].encode()), len(text[:m.end()].encode()))
        expected = a.scan(find)
        same(a.search(regex.encode(), "--regex"), expected, regex.encode())
        hits += len(expected)
    assert hits > 5000


@test
def what_is_no_regex_is_told_with_its_place():
    a = Library.shared()
    for regex, place in ((b"a(b", "at its end"), (b"a)b", "at character 2"), (b"*", "character"),
                         ("ä(?<x".encode(), "at its end"), (b"[z-a]", "character"),
                         (b"\\C", "at its end"), (b"\xff\xfe", "character 1"),
                         (b"a{2,1}", "character"), (b"(" * 60000, "character"),
                         (b"a" * 70000, "too long"), (b"", "empty")):
        done = a.run("search", "--regex", "-", input=regex)
        check_words(done, regex)
        assert done.returncode == 2 and place in done.stderr.decode(), (regex[:40], done)
        assert done.stdout == b""
    assert "empty" in a.fails(2, "search", "")
    assert "too long" in a.fails(2, "search", "-", input=b"a" * (17 << 20))
    assert "in quotes" in a.fails(2, "search", "two", "words")
    assert "looked for" in a.fails(2, "search")


@test
def a_regex_that_takes_for_ever_is_stopped_and_told():
    with Library(AHR) as a:
        home = Home(a)
        sid = session_id("2023-11-17", "d")
        write(home, sid, "hard", ["a" * 3000 + "b", "aaa"] + ["a" * 50 + "b"] * 3, START_NS + 4 * DAY_NS)
        a.ok("index", sid)
        begin = time.monotonic()
        done = a.run("search", "--regex", "(a+)+$", "--json", "--session", sid)
        assert time.monotonic() - begin < 20
        assert [hit["text"] for hit in json.loads(done.stdout)] == ["aaa"]
        assert done.returncode == 0 and b"in 4 of the lines this regex takes too long" in done.stderr, done
        sid = session_id("2023-11-18", "e")
        write(home, sid, "harder", ["a" * 50 + "b"] * 600, START_NS + 5 * DAY_NS)
        a.ok("index", sid)
        done = a.run("search", "--regex", "(a+)+$", "--limit", "0")
        assert done.returncode == 1 and b"given up: in 500 lines" in done.stderr, done


# -- where it is looked for --

@test
def session_since_and_limit_narrow_it_down():
    a = Library.shared()
    every = a.search(b"error")
    for which, sid in (("odd", OLD), (MID, MID), ("last", NEW), (NEW[:14], NEW)):
        assert a.search(b"error", "--session", which) == [h for h in every if h["session"] == sid]
    assert {h["session"] for h in every} == {OLD, MID, NEW}
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START_NS // 10**9 + 3600))
    assert a.search(b"error", "--since", since) == [h for h in every if h["session"] != OLD]
    done = a.run("search", "error", "--json")
    assert json.loads(done.stdout) == every[:20]
    assert b"there is more: --limit 0 shows all" in done.stderr
    assert json.loads(a.ok("search", "error", "--json", "--limit", "3")) == every[:3]
    done = a.run("search", "error", "--json", "--limit", len(every))
    assert json.loads(done.stdout) == every and done.stderr == b""
    assert "no session" in a.fails(3, "search", "x", "--session", "nobody")
    assert a.ok("search", "error", "--json", env={"AHR_SESSION": OLD}) == \
        a.ok("search", "error", "--json")


@test
def a_hit_says_when_and_leads_there():
    a = Library.shared()
    hit, = a.search(b"DROP TABLE", "--session", "odd")
    assert (hit["session"], hit["name"]) == (OLD, "odd")
    stamp = int(hit["ts_ns"])
    assert hit["t_ms"] == (stamp - START_NS) // 10**6
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(stamp // 10**9))
    assert hit["time"] == f"{when}.{stamp // 10**6 % 1000:03}Z"
    assert hit["command"] == f"ahr replay {OLD} --from @{hit['last_write_byte']} --paused"
    command = hit["command"].split()[1:]
    assert b"100% sure" in a.ok(*command, "--speed", "1000")  # where there is no terminal, it plays
    assert b"100% sure" in a.ok(*command, "--fast")
    shown = a.ok("replay", OLD, "--fast", "--to", command[3]).decode()  # the picture there
    assert "DROP TABLE" in shown and "100% sure" not in shown
    assert all(h["name"] is None for h in a.search(b"error", "--session", NEW))


@test
def nothing_found_is_told_and_no_failure():
    a = Library.shared()
    for more, out in (((), b""), (("--json",), b"[]\n")):
        done = a.run("search", "no such text", *more)
        assert (done.returncode, done.stdout) == (0, out)
        assert done.stderr == b"ahr search: nothing found\n"


# -- what is not indexed --

@test
def sessions_that_are_not_indexed_are_counted():
    with Library(AHR) as a:
        home = Home(a)
        sid = session_id("2023-11-20", "d")
        write(home, sid, None, ["an error"], START_NS)
        done = a.run("search", "alpha")
        assert b"1 session is not indexed yet, and was not searched\n" in done.stderr and done.stdout
        write(home, session_id("2023-11-20", "e"), None, ["an error"], START_NS)
        done = a.run("search", "an error", "--limit", "0")
        assert b"2 sessions are not indexed yet, and were not searched\n" in done.stderr
        done = a.run("search", "an error", "--session", sid)
        assert f"session {sid} is not indexed yet, and was not searched".encode() in done.stderr
        a.ok("index", "--all")
        assert [h["session"] for h in a.search(b"an error", "--session", sid)] == [sid]
        for c in "ab":  # one was cut off, one goes on
            write(home, session_id("2023-11-21", c), None, ["an error"], START_NS)
            folder = home.dir / "live" / session_id("2023-11-21", c)
            folder.parent.mkdir(exist_ok=True)
            (home.dir / "sessions" / folder.name).rename(folder)
            (folder / "lock").touch()
        with open(folder / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = a.run("search", "an error")
        assert done.stderr == (b"ahr search: 1 session is not indexed yet, and was not searched\n"
                               b"ahr search: 1 session is being recorded, and was not searched\n")


@test
def a_session_whose_files_are_gone_is_not_found():
    with Library(AHR) as a:
        shutil.rmtree(Home(a).dir / "sessions" / MID)
        for query in (b"error", b"x"):
            assert {hit["session"] for hit in a.search(query)} == {OLD, NEW}


@test
def without_a_library_nothing_is_found_and_that_is_told():
    with Ahr(AHR) as a:
        a.env["AHR_UPKEEP"] = "off"
        done = a.run("search", "x")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"ahr search: nothing found\n")
        write(Home(a), OLD, None, ["an error"], START_NS)
        done = a.run("search", "error", "--json")
        assert (done.returncode, done.stdout) == (0, b"[]\n")
        assert b"1 session is not indexed yet, and was not searched\n" in done.stderr
        assert not (Home(a).dir / "library.db").exists()
        assert "at its end" in a.fails(2, "search", "--regex", "(")


@test
def a_broken_library_is_told_in_plain_words():
    with Library(AHR) as a:
        path = Home(a).dir / "library.db"
        whole = path.read_bytes()
        for broken in (b"no database at all, but long enough to be looked at" * 100, whole[:len(whole) // 2],
                       whole[:100] + os.urandom(len(whole) - 100)):
            for more in ("-wal", "-shm"):
                Path(f"{path}{more}").unlink(missing_ok=True)
            path.write_bytes(broken)
            for query in ("error", "x"):
                done = a.run("search", query, "--limit", "0")
                check_words(done, query.encode())
                assert done.returncode == 4, (done.returncode, done.stderr)
                assert b"'ahr reindex'" in done.stderr, done.stderr
            assert path.read_bytes() == broken


@test
def pieces_of_text_that_somebody_changed_are_told():
    with Library(AHR) as a:
        db = sqlite3.connect(Home(a).dir / "library.db")
        rng = random.Random(3)
        (place, packed), = db.execute("SELECT place, packed FROM pieces ORDER BY place DESC LIMIT 1")
        for packed in (b"", b"\0", b"\xff" * 20, rng.randbytes(1000), packed[:-5],
                       packed[:9] + b"x" + packed[10:]):
            db.execute("UPDATE pieces SET packed = ? WHERE place = ?", (packed, place))
            db.commit()
            done = a.run("search", "e", "--limit", "0")
            check_words(done, b"e")
            assert done.returncode in (0, 4), done
            assert done.returncode == 0 or b"'ahr reindex' makes it anew" in done.stderr, done.stderr
        db.close()


# -- how it looks --

def on_terminal(a, *args, cols=COLS, env=None):
    with OnPty([AHR, "search", *args], cols=cols, env={**a.env, **(env or {})}, cwd=a.dir) as t:
        assert t.finish() == 0
        return bytes(t.bytes)


@test
def on_a_terminal_lines_are_cut_around_what_was_found():
    a = Library.shared()
    out = on_terminal(a, "AND NOT", "--session", "odd").decode().replace("\r", "")
    head, text, command = out.splitlines()
    hit, = a.search(b"AND NOT", "--session", "odd")
    assert head.startswith("\x1b[1modd\x1b[0m  2023-11-14 22:13:20  line 1  byte ")
    assert text == "  NEAR(error, 2) \x1b[1;31mAND NOT\x1b[0m (x OR y) * ^col:"
    assert command == "  " + hit["command"]
    found, cols = "warning: unused", 40
    for where, cols in ((found, 40), ("path/to", 30), ("variable]", 30), ("日本語", 20),
                        ("👩‍👩‍👧‍👦", 24)):
        out = on_terminal(a, where, "--session", "odd", cols=cols).decode().replace("\r", "")
        text = out.splitlines()[1]
        assert f"\x1b[1;31m{where}\x1b[0m" in text, text
        bare = re.sub("\x1b[^m]*m", "", text)
        assert bare.isascii() is False or len(bare) <= cols
        if bare.replace("…", "").isascii():
            assert len(bare) <= cols and "…" in bare, bare
    out = on_terminal(a, found, "--session", "odd", cols=40).decode()
    text = re.sub("\x1b[^m]*m", "", out.replace("\r", "").splitlines()[1])
    assert len(text) == 40 and text[2] == text[-1] == "…", text


@test
def there_are_no_colours_where_nobody_wants_them():
    a = Library.shared()
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in on_terminal(a, "error", env=env)
    assert b"\x1b" in on_terminal(a, "error", env={"NO_COLOR": ""})


@test
def on_a_pipe_a_hit_is_one_line_of_fields():
    a = Library.shared()
    hits = a.search(b"error")
    lines = a.ok("search", "error", "--limit", "0").decode().splitlines()
    assert len(lines) == len(hits)
    for line, hit in zip(lines, hits):
        when, session, number, command, text = line.split("\t")
        assert when == hit["time"].replace("T", " ")[:19]
        assert session == (hit["name"] or hit["session"][:19])
        assert (int(number), command, text) == (hit["line"], hit["command"], hit["text"])


@test
def a_session_of_the_mock_agent_is_found_again():
    with Recorder(AHR) as a:
        a.env["AHR_UPKEEP"] = "off"
        t = a.terminal(cols=100, rows=30)
        client = a.on(t, "record", "--name", "mock", "--", MOCK_AGENT, "--seed", "7", "--no-wait")
        assert client.wait(60) == 0
        sid = a.session().name
        a.ok("index", "--all")
        rows = json.loads(a.ok("export", sid, "--format", "json", "--timestamps"))
        texts = [r for r in rows if r.get("text", "").strip()]
        assert len(texts) > 20
        for row in texts[::7]:
            query = row["text"].strip()[:30].encode()
            found = json.loads(a.ok("search", "--json", "--limit", "0", "-", input=query))
            assert any(hit["line"] == row["index"] and hit["last_write_byte"] == row["last_write_byte"] and
                       hit["ts_ns"] == row["ts_ns"] for hit in found), (row, found)


try:
    run()
finally:
    for library in SHARED:
        library.__exit__()
