#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diff_test.py -- `ahr diff` as a user meets it. usage: diff_test.py AHR STREAM_AGENT"""

import gzip
import json
import os
import random
import re
import sys
import time
from pathlib import Path
from unicodedata import combining, east_asian_width

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.on_pty import OnPty
from support.processes import wait_for
from support.sessions import Home, session_id
from support.stories import APART, edited, lines, story, write_story
from support.tap import run, test
from support.tape import Tape
from support.tmux import Tmux, Window

AHR, AGENT = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
A, B, C = (session_id("2026-02-03", letter) for letter in "abc")
PAIRS = 600 if os.environ.get("AHR_TEST_LONG") else 60
event = Home.event


def said(number, text, role="assistant"):
    return event(number, "text", role=role, text=text)


def called(number, name, call=None, **arguments):
    return event(number, "tool_call", id=call or f"t{number}", name=name, input=arguments)


def answered(number, text, call="", **facts):
    return event(number, "tool_result", id=call, text=text, **facts)


class Pair:
    """Two sessions, a and b, of these events."""

    def __init__(self, a, b, shown=(b"", b"")):
        self.events, self.shown = (a, b), shown

    def __enter__(self):
        self.ahr = Ahr(AHR).__enter__()
        self.home = Home(self.ahr)
        for sid, name, events, shown in zip((A, B), "ab", self.events, self.shown):
            self.home.add_run("sessions", sid, shown or b"x", events, name=name)
        return self

    def __exit__(self, *more):
        self.ahr.__exit__(*more)

    def json(self, *more, status=0):
        done = self.ahr.run("diff", "--json", *more, "a", "b")
        assert done.returncode == status, (done.returncode, done.stderr.decode())
        return json.loads(done.stdout)

    def text(self, *more):
        return self.ahr.ok("diff", *more, "a", "b").decode()

    def unified(self, *more):
        """What stands behind the head."""
        return self.text(*more).split("\n--- ", 1)[1].split("\n", 2)[2].splitlines()


def told(found):
    return {(one["kind"], one["a"], one["b"]) for one in found["changes"]}


# -- the edits --

def remade(a, found):
    """b, made of a and of what was told alone."""
    changes = found["changes"]
    by_b = {one["b"]: one for one in changes if one["b"]}
    gone = {one["a"] for one in changes if one["a"]}
    stays = iter([one for number, one in enumerate(a, 1) if number not in gone])
    made, number = [], 1
    total = found["b"]["turns"]
    while number <= total:
        one = by_b.get(number)
        made.append(next(stays) if one is None else a[one["a"] - 1] if one["kind"] == "move" else content(one))
        number += 1
    assert next(stays, None) is None
    return made


def content(one):
    """A turn of stories.py again."""
    if one["type"] == "tool_call":
        return ("tool_call", one["tool"], one["b_input"])
    who = {"text": one.get("role"), "tool_result": one.get("b_failed")}.get(one["type"])
    return (one["type"], who, one["b_text"])


@test
def generated_pairs_have_exactly_the_differences_that_were_made():
    kinds = dict.fromkeys(("insert", "delete", "change", "move"), 0)
    with Ahr(AHR) as a:
        home = Home(a)
        for seed in range(PAIRS):
            rng = random.Random(seed)
            one = story(rng, rng.randrange(8, 60))
            two, made = edited(rng, one, rng.randrange(1, 8))
            sids = [f"2026-02-03-{seed:08x}-{half * 4}-{half * 4}-{half * 4}-{half * 12}" for half in "ab"]
            for sid, turns in zip(sids, (one, two)):
                write_story(home, sid, turns, rng)
            found = json.loads(a.ok("diff", "--json", *sids))
            assert told(found) == made, (seed, sorted(made, key=str), sorted(told(found), key=str))
            assert found["counts"] == {kind: sum(m[0] == kind for m in made) for kind in kinds}, seed
            assert remade(one, found) == two, seed
            assert found["same"] == (not made) and found["exact"]
            for kind, _, _ in made:
                kinds[kind] += 1
    assert min(kinds.values()) > PAIRS // 5, kinds
    print(f"# {PAIRS} pairs: {kinds}")


@test
def where_they_part_is_where_the_first_difference_is():
    with Ahr(AHR) as a:
        home = Home(a)
        for seed in range(12):
            rng = random.Random(seed)
            one = story(rng, 20)
            two = story(random.Random(seed + 1000), 20)
            same = rng.randrange(20)
            sids = [f"2026-02-03-{seed:08x}-{half * 4}-{half * 4}-{half * 4}-{half * 12}" for half in "ab"]
            write_story(home, sids[0], one, rng)
            write_story(home, sids[1], one[:same] + two[same:], rng)
            found = json.loads(a.ok("diff", "--json", *sids))
            assert found["same_prefix"] == same, (seed, same, found["same_prefix"])
            assert found["parts_at"] == {"a_turn": same + 1, "b_turn": same + 1}, found["parts_at"]
        write_story(home, C, one[:7], rng)
        found = json.loads(a.ok("diff", "--json", sids[0], C))
        assert found["same_prefix"] == 7 and found["parts_at"] == {"a_turn": 8, "b_turn": None}, found["parts_at"]
        assert found["counts"] == {"insert": 0, "delete": 13, "change": 0, "move": 0}


@test
def turns_that_come_often_still_make_the_other_session():
    with Ahr(AHR) as a:
        home = Home(a)
        for seed in range(20):
            rng = random.Random(seed)
            few = story(rng, 6)
            one, two = ([rng.choice(few) for _ in range(rng.randrange(40))] for _ in "ab")
            sids = [f"2026-02-03-{seed:08x}-{half * 4}-{half * 4}-{half * 4}-{half * 12}" for half in "ab"]
            for sid, turns in zip(sids, (one, two)):
                write_story(home, sid, turns, rng)
            if not one or not two:
                continue
            found = json.loads(a.ok("diff", "--json", *sids))
            assert remade(one, found) == two, seed


@test
def what_differs_by_nature_is_no_difference():
    a = [said(1, "go", "user"), called(2, "Bash", "t1", command="ls", all=True), answered(3, "x\ty", "t1")]
    b = [event(9, "text", role="user", text="go", id="other", iteration=4),
         event(10, "usage", id="m", usage={"input_tokens": 5}),
         event(11, "tool_call", id="zz", name="Bash", input={"all": True, "command": "ls"}),
         event(12, "stderr", text="noise"), answered(13, "x\ty\x1b[0m", "zz")]
    with Pair(a, b) as pair:
        found = pair.json("--exit-code")
        assert found["same"] and not found["changes"] and found["parts_at"] is None, found
        assert "the turns are the same" in pair.text()


@test
def the_exit_status_tells_of_differences_only_when_asked():
    with Pair([said(1, "one")], [said(1, "two")]) as pair:
        pair.json()
        pair.json("--exit-code", status=1)
        for what in ("turns", "terminal"):
            assert pair.ahr.run("diff", "--what", what, "--exit-code", "a", "a").returncode == 0
        assert pair.ahr.run("diff", "--exit-code", "a", "b").returncode == 1


@test
def arguments_of_another_type_are_a_change_that_is_seen():
    with Pair([called(1, "T", n=1)], [called(1, "T", n="1")]) as pair:
        assert told(pair.json()) == {("change", 1, 1)}
        assert pair.unified() == ["@@ -1,1 +1,1 @@ events 1, 1", '-{"n":1}', '+{"n":"1"}'], pair.unified()


@test
def a_result_that_failed_is_not_one_that_did_not():
    with Pair([answered(1, "x")], [answered(1, "x", is_error=True, exit_code=3)]) as pair:
        found = pair.json()
        assert told(found) == {("change", 1, 1)}
        assert (found["changes"][0]["a_failed"], found["changes"][0]["b_failed"]) == (False, True)
        assert pair.unified()[1:] == ["-[result] x", "+[result] exit 3: x"]


# -- what is printed --

TALK = [said(n, f"word {n}") for n in range(1, 21)]


@test
def unified_has_hunks_with_three_turns_around():
    other = [*TALK[:9], said(10, "word ten"), *TALK[10:]]
    with Pair(TALK, other) as pair:
        assert pair.unified() == [
            "@@ -7,7 +7,7 @@ events 7-13, 7-13", *(f" [assistant] word {n}" for n in (7, 8, 9)), "-[assistant] word 10",
            "+[assistant] word ten", *(f" [assistant] word {n}" for n in (11, 12, 13))], pair.unified()


@test
def a_hunk_tells_the_events_with_which_export_shows_its_turns():
    def usage(n):
        return event(n, "usage", id=f"m{n}", usage={"input_tokens": 5})
    a = [usage(0), *(said(n, f"word {n}") for n in range(1, 9)), usage(9)]
    b = [*(said(n, f"word {n}") for n in range(1, 8)), usage(8), usage(9), said(10, "new"), said(11, "newer")]
    with Pair(a, b) as pair:
        assert [line for line in pair.unified() if line[0] == "@"] == ["@@ -5,4 +5,5 @@ events 6-9, 5-11"], pair.unified()
        for name, which, words in (("a", "9", ["word 8"]), ("b", "10-11", ["new", "newer"])):
            shown = pair.ahr.ok("export", name, "--turn", which, "--format", "txt").decode()
            assert shown == "".join(f"{word}\n" for word in words), shown
    with Pair(a, [usage(0)]) as pair:
        assert [line for line in pair.unified() if line[0] == "@"] == ["@@ -1,8 +0,0 @@ events 2-9, none"], pair.unified()


@test
def a_move_is_told_at_both_of_its_places():
    other = [*TALK[:2], *TALK[3:18], TALK[2], *TALK[18:]]
    with Pair(TALK, other) as pair:
        assert told(pair.json()) == {("move", 3, 18)}
        text = pair.unified()
        assert text[3] == "~turn 3 moved to 18: [assistant] word 3", text
        assert "~turn 18 moved from 3: [assistant] word 3" in text
        assert [line for line in text if line[0] == "@"] == [
            "@@ -1,6 +1,5 @@ events 1-6, 1-5", "@@ -16,5 +15,6 @@ events 16-20, 15-20"], text
        assert not [line for line in text if line[0] in "+-"], text


@test
def within_a_change_lines_that_are_the_same_stay():
    long = [f"line {n}" for n in range(40)]
    other = [*long[:20], "another", *long[21:]]
    with Pair([said(1, "\n".join(long))], [said(1, "\n".join(other))]) as pair:
        assert pair.unified() == [
            "@@ -1,1 +1,1 @@ events 1, 1", " [assistant] line 0", "… 16 same lines", *(f" line {n}" for n in (17, 18, 19)),
            "-line 20", "+another", *(f" line {n}" for n in (21, 22, 23)), "… 16 same lines"], pair.unified()


@test
def totals_stand_side_by_side():
    a = [said(1, "x"), called(2, "Bash", "t", command="ls"), answered(3, "no", "t", is_error=True),
         event(4, "usage", id="m", usage={"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 5}),
         event(5, "done", cost_microusd=12345)]
    with Pair(a, [said(1, "x")]) as pair:
        found = pair.json()
        assert found["a"]["turns"] == 3 and found["a"]["tool_calls"] == found["a"]["failed_tool_calls"] == 1
        assert found["a"]["usage"]["input_tokens"] == 1200 and found["a"]["cost_microusd"] == 12345
        assert found["b"]["usage"] is None and found["b"]["cost_microusd"] is None
        assert (found["a"]["id"], found["a"]["name"], found["what"]) == (A, "a", "turns")
        text = pair.text()
        for row in (r"turns +3 +1", r"tool calls +1 +0", r"failed +1 +0", r"input tokens +1,200 +-",
                    r"cost +\$0.012345 +-", r"same at first +1 turn +1 turn", r"part at +turn 2 +the end"):
            assert re.search(f"(?m)^{row}$", text), (row, text)


HOSTILE = "\x1b[2J\x1b]0;x\x07\u009b31m\x00\x9d\u202eevil\r\n@@ -1,1 +1,1 @@\n--- a\n+++ b\nahr diff: \x08\x7f\u2028~turn"


@test
def texts_of_others_cannot_pass_for_ours_or_harm_a_terminal():
    a = [said(1, "x"), called(2, HOSTILE, text=HOSTILE), answered(3, HOSTILE), event(4, "artifact", change="created",
                                                                                 path=HOSTILE)]
    with Pair(a, [said(1, HOSTILE), event(2, "error", text=HOSTILE)]) as pair:
        for what in ("turns", "tools", "files"):
            for args in (("--what", what), ("--what", what, "--json")):
                text = pair.text(*args)
                json_path = what == "files" and "--json" in args  # which is a path as it is, for programs
                bad = [c for c in text if (ord(c) < 32 and c not in "\n\t")
                       or (0x7f <= ord(c) < 0xa0 or c in "\u202e\u2028") and not json_path]
                assert not bad, (args, bad, text)
        for line in pair.unified():
            assert line[0] in " +-" or re.fullmatch(r"@@ -1,\d \+1,\d @@ events 1-\d, 1-\d|… \d+ (same|more) lines?", line), line
        for no_color, has_some in (({"NO_COLOR": "1"}, False), ({}, True)):
            with OnPty([AHR, "diff", "a", "b"], cols=60, cwd=pair.ahr.dir,
                       env={**pair.ahr.env, "TERM": "xterm", **no_color}) as pty:
                pty.finish()
                seen = bytes(pty.bytes).decode()
            assert ("\x1b" in seen) == has_some, seen
            rest = re.sub(r"\x1b\[[0-9]*m", "", seen)
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", rest), rest


SECRET = "ghp_" + "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=36))


@test
def secrets_are_masked_unless_that_is_not_wanted():
    halves = SECRET[:12] + "\x1b[0m" + SECRET[12:]
    a = [said(1, f"token {SECRET}"), called(2, "Bash", command=f"login {SECRET}"), answered(3, halves)]
    with Pair(a, [said(1, "token"), called(2, "Bash", command="login")]) as pair:
        for args in ((), ("--json",), ("--what", "tools"), ("--what", "tools", "--json")):
            done = pair.ahr.run("diff", *args, "a", "b")
            assert SECRET not in done.stdout.decode() and b"REDACTED" in done.stdout, (args, done.stdout)
            done = pair.ahr.run("diff", *args, "--no-redact", "a", "b")
            assert SECRET in done.stdout.decode() and b"not masked" in done.stderr, (args, done)


# -- side by side --

SIDE_A = [said(1, "go", "user"), said(2, "この行はとても長いので折り返されるはずです。もっと長く、もっともっと長く"),
          called(3, "Bash", command="make test", timeout=60), answered(4, "one\n\ttwo 🙂 three\n  4\tfour\t\tlong"),
          event(5, "thinking", text="I move"), *TALK[:8], said(30, "only in a"), *TALK[8:]]
SIDE_B = [said(1, "go", "user"), said(2, "この行はとても長いので折り返されるはずです。もっと短く"),
          called(3, "Bash", command="make check", timeout=60), answered(4, "one\n\ttwo 👩‍👩‍👧 three\nfour"),
          *TALK[:8], *TALK[8:], event(5, "thinking", text="I move"), said(40, "only in b " + "long " * 60)]


def cell_at(row, col):
    """The character in a column of what a terminal shows."""
    at = 0
    for char in row:
        if at >= col:
            return char if at == col else ""
        at += 0 if combining(char) or char in "\u200d\ufe0f" else 2 if east_asian_width(char) in "WF" else 1
    return " "


def in_window(tmux, cols):
    """A window of tmux in which a and b were compared."""
    name, told = f"cols{cols}", tmux.ahr.dir / f"cols{cols}"
    tmux.ok("new-session", "-d", "-x", str(cols), "-y", "100", "-s", name, "sh", "-c",
            '"$0" diff a b; echo $? >$1; exec sleep 1000', AHR, str(told))
    wait_for(lambda: told.exists() and told.read_text() == "0\n", "it does not end")
    return Window(tmux, name)


@test
def side_by_side_fits_the_terminal():
    with Pair(SIDE_A, SIDE_B) as pair, Tmux(pair.ahr) as tmux:
        for cols in (80, 57, 40):
            window = in_window(tmux, cols)
            rows = window.rows()
            assert rows == [row.rstrip() for row in window.screen("-J").splitlines()], (cols, "a row did not fit", "\n".join(rows))
            head = next(n for n, row in enumerate(rows) if re.fullmatch(r" +a +b", row))
            room = (cols - 3 - 2 * 3) // 2
            body = [row for row in rows[head + 1:] if not row.startswith(("…", "events "))]
            assert "events 1-8, 1-7" in rows, rows
            for row in body:
                marks = [cell_at(row, room + 3 + n) for n in range(3)]
                assert marks[0] == marks[2] == " " and marks[1] in " <>|~", (cols, row, marks)
            text = "\n".join(body)
            assert re.search(r"(?m)^ 3 \[tool\] Bash +3 \[tool\] Bash$", text), text
            assert re.search(r"(?m)^ +command: make( test)? *\| +command: make", text), text
            assert re.search(r"(?m)^ 5 \(to 25\).* ~$", text) and re.search(r"(?m)^ +~ 25 \(from 5\)", text), text
            assert re.search(r"(?m)^14 \[assistant\].* <", text) and re.search(r"(?m)^ +> 26 \[assistant\]", text), text
            assert any(re.fullmatch(r"… \d+ turns are the same", row) for row in rows[head + 1:]), rows
        narrow = in_window(tmux, 20).rows()
        assert "@@ -1,8 +1,7 @@" in " ".join(narrow), narrow  # no room for two


@test
def tabs_are_as_wide_in_what_is_the_same():
    a, b = (answered(4, f"head\n\tint y = 1;\n\tx = {n};\n\tint z = 1;\nend") for n in (1, 2))
    with Pair([said(1, "go", "user"), a], [said(1, "go", "user"), b]) as pair, Tmux(pair.ahr) as tmux:
        rows = in_window(tmux, 100).rows()
        row_of = lambda text: next(row for row in rows if text in row)
        left = {row_of(text).index(text) for text in ("int y = 1;", "x = 1;", "int z = 1;")}
        right = {row_of(text).rindex(text) for text in ("int y = 1;", "x = 2;", "int z = 1;")}
        assert len(left) == len(right) == 1, (left, right, "\n".join(rows))


# -- tools, files, terminals --

@test
def calls_are_counted_by_tool_and_arguments():
    a = [called(1, "Bash", "1", command="make", n=1), called(2, "Bash", "2", n=1, command="make"),
         answered(3, "no", "2", is_error=True), called(4, "Read", path="x"), called(5, "Bash", command="ls")]
    b = [called(1, "Bash", command="make", n=1), called(2, "Edit", path="x"), called(3, "Bash", command="ls")]
    with Pair(a, b) as pair:
        found = pair.json("--what", "tools")
        got = {(one["tool"], json.dumps(one["input"], sort_keys=True)): (one["a"], one["b"], one["a_failed"], one["b_failed"])
               for one in found["tools"]}
        assert got == {("Bash", '{"command": "make", "n": 1}'): (2, 1, 1, 0), ("Read", '{"path": "x"}'): (1, 0, 0, 0),
                       ("Edit", '{"path": "x"}'): (0, 1, 0, 0), ("Bash", '{"command": "ls"}'): (1, 1, 0, 0)}, got
        assert not found["same"] and "changes" not in found
        rows = [line.split() for line in pair.text("--what", "tools").splitlines()[-4:]]
        assert [row[0] for row in rows] == ["<", ">", "!", "="], rows
        assert rows[2] == ["!", "2", "1", "1/0", "Bash", "command:", "make", "n:", "1"], rows
        pair.json("--what", "tools", "--exit-code", status=1)
        assert pair.ahr.run("diff", "--what", "tools", "--exit-code", "a", "a").returncode == 0


@test
def files_are_told_by_what_became_of_them():
    def touch(*all):
        return [event(n, "artifact", change=change, path=path) for n, (change, path) in enumerate(all, 1)]
    a = touch(("created", "new"), ("modified", "new"), ("modified", "both"), ("modified", "odd\nname"), ("deleted", "c"),
              ("created", "c"))
    b = touch(("modified", "both"), ("deleted", "new"), ("created", "only b"))
    with Pair(a, b) as pair:
        found = pair.json("--what", "files", "--exit-code", status=1)
        assert {one["path"]: (one["a"], one["b"]) for one in found["files"]} == {
            "new": ("created", "deleted"), "both": ("modified", "modified"), "odd\nname": ("modified", None),
            "only b": (None, "created"), "c": ("modified", None)}, found["files"]
        text = pair.text("--what", "files").splitlines()
        assert text[-5:] == ["<  modified  -         c", '<  modified  -         "odd\\nname"',
                             ">  -         created   only b", "!  created   deleted   new",
                             "=  modified  modified  both"], text


@test
def a_terminal_is_compared_by_its_final_lines_whatever_its_width():
    long = " ".join(f"word{n}" for n in range(30))
    with Ahr(AHR) as a:
        home = Home(a)
        for sid, cols, name, last in ((A, 80, "wide", "end"), (B, 31, "narrow", "another end")):
            folder = home.folder("sessions", sid)
            home.write_meta(folder, sid, name=name)
            tape = Tape(cols, 24)
            tape.data(f"first\r\n{long}\r\n{last}\r\n".encode())
            tape.write(folder / "session.ahr")
        done = a.fails(2, "diff", "--what", "turns", "wide", "narrow")
        assert "'wide' has no turns" in done and "--what terminal" in done, done
        found = json.loads(a.ok("diff", "--json", "wide", "narrow"))
        assert found["what"] == "terminal" and found["a"]["lines"] == 3 and found["a"]["turns"] is None, found
        assert told(found) == {("change", 3, 3)} and found["same_prefix"] == 2, found
        assert (found["changes"][0]["type"], found["changes"][0]["b_text"]) == ("line", "another end")
        text = a.ok("diff", "wide", A).decode()
        assert "the lines are the same" in text, text
        path = a.dir / "home/.local/share/ahr/sessions" / B / "session.ahr"
        assert b"-end\n+another end\n" in a.ok("diff", "wide", path)


@test
def one_with_turns_and_one_without_are_compared_as_terminals():
    with Pair([said(1, "x")], [said(1, "y")], (b"same\r\nold\r\n", b"same\r\nnew\r\n")) as pair:
        (pair.home.dir / "sessions" / B / "session.turns.jsonl").unlink()
        assert pair.json()["what"] == "terminal"
        assert pair.unified() == ["@@ -1,2 +1,2 @@", " same", "-old", "+new"]
        assert "'b' has no turns" in pair.ahr.fails(2, "diff", "--what", "tools", "a", "b")


# -- what goes wrong --

@test
def sessions_that_are_not_given_or_not_there_are_asked_for():
    with Pair([said(1, "x")], [said(1, "y")]) as pair:
        for operands in ((), ("a",), ("a", "b", "a")):
            words = pair.ahr.fails(2, "diff", *operands)
            assert "give A and B" in words and "ahr list" in words, words
        assert "nobody" in pair.ahr.fails(3, "diff", "a", "nobody")
        assert "no.ahr" in pair.ahr.fails(3, "diff", "no.ahr", "b")
        assert "--what" in pair.ahr.fails(2, "diff", "--what", "colours", "a", "b")


@test
def damaged_lines_are_told_and_the_rest_is_compared():
    rubbish = [b"{\"ts_ns\":\"1\",\"typ\n", b"\xff\xfe\x00\n", b"[]\n"]
    with Pair([said(1, "same"), *rubbish, said(2, "old")], [said(1, "same"), said(2, "new")]) as pair:
        done = pair.ahr.run("diff", "--json", "--exit-code", "a", "b")
        assert done.returncode == 4, done
        words = done.stderr.decode().splitlines()
        assert words == [f"ahr diff: 'a': line {n} of its events cannot be read" for n in (2, 3, 4)], words
        found = json.loads(done.stdout)
        assert told(found) == {("change", 2, 2)} and found["a"]["damaged_lines"] == 3, found
        for cut in range(0, 400, 7):  # a file that ends anywhere
            turns = pair.home.dir / "sessions" / A / "session.turns.jsonl"
            turns.write_bytes(b"".join(TALK)[:cut])
            assert pair.ahr.run("diff", "--json", "a", "b").returncode in (0, 4), cut


@test
def archived_sessions_are_compared_and_cut_ones_as_far_as_they_go():
    with Pair(TALK, [*TALK[:15], said(16, "another")]) as pair:
        turns = pair.home.dir / "sessions" / A / "session.turns.jsonl"
        want = pair.json()
        packed = gzip.compress(turns.read_bytes())
        turns.unlink()
        turns.with_name("session.turns.jsonl.gz").write_bytes(packed)
        assert pair.json() == want and want["same_prefix"] == 15, want
        turns.with_name("session.turns.jsonl.gz").write_bytes(packed[:-20])
        done = pair.ahr.run("diff", "--json", "a", "b")
        assert done.returncode == 4 and b"'a': " in done.stderr, done
        assert json.loads(done.stdout)["same_prefix"] > 0, done.stdout


@test
def a_disk_that_takes_no_more_is_a_failure():
    with Pair([said(1, "x")], [said(1, "y" * 200000)]) as pair, open("/dev/full", "wb") as full:
        for args in ((), ("--json",), ("--what", "tools")):
            process = pair.ahr.popen("diff", *args, "a", "b", stdout=full, stderr=-1)
            words = process.communicate()[1]
            assert process.returncode == 1 and b"standard output" in words, (args, process.returncode, words)


@test
def a_session_that_goes_on_is_compared_as_far_as_it_is():
    with Pair([said(1, "x"), said(2, "y")], [said(1, "x")]) as pair:
        live = pair.home.add_run("live", C, b"x", [said(1, "x"), said(2, "y")[:-9]], name="c")
        found = json.loads(pair.ahr.ok("diff", "--json", "a", "c"))
        assert told(found) == {("delete", 2, None)} and found["b"]["damaged_lines"] == 0, found
        assert live.exists()


# -- real runs, and many turns --

@test
def runs_of_an_agent_differ_where_the_agent_did():
    with Ahr(AHR) as a:
        for name, more in (("one", ()), ("two", ()), ("cut", ("--kill-self", "KILL", "--die-after", "8"))):
            done = a.run("run", "--name", name, "--", AGENT, "--messages", "12", "--delay-us", "0", "--seed", "5",
                         *more, "do it")
            assert done.returncode == (137 if more else 0), done
        found = json.loads(a.ok("diff", "--json", "one", "two"))
        assert found["same"] and found["a"]["turns"] == found["same_prefix"] > 12, found
        found = json.loads(a.ok("diff", "--json", "one", "cut"))
        assert found["same_prefix"] == found["b"]["turns"] >= 8, found
        assert found["parts_at"] == {"a_turn": found["b"]["turns"] + 1, "b_turn": None}, found["parts_at"]
        assert found["counts"]["delete"] == found["a"]["turns"] - found["b"]["turns"] > 0, found["counts"]
        assert found["a"]["duration_ms"] is not None
        last = json.loads(a.ok("diff", "--json", "last", "cut"))
        assert last["same"] and last["a"]["name"] == "cut", last["a"]


def shuffled(rng, turns):
    """The same turns in quite another order."""
    other = list(turns)
    rng.shuffle(other)
    return other


@test
def ten_thousand_turns_are_compared():
    with Ahr(AHR) as a:
        home = Home(a)
        rng = random.Random(9)
        one = story(rng, 10_000)
        two, made = edited(rng, one, 200)
        write_story(home, A, one, rng)
        write_story(home, B, two, rng)
        write_story(home, C, shuffled(rng, one), rng)
        for what, sids in (("few differences", (A, B)), ("little in common", (A, C))):
            start = time.monotonic()
            found = json.loads(a.ok("diff", "--json", *sids))
            print(f"# 10,000 turns, {what}: {time.monotonic() - start:.3f} s")
            if sids[1] == B:
                assert told(found) == made and len(made) > 100, len(made)
            else:
                assert found["counts"]["move"] > 9000 and found["counts"]["insert"] == 0, found["counts"]


if __name__ == "__main__":
    assert APART > 2
    run()
