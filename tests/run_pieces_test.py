#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_pieces_test.py -- messages that come in pieces, lines that do not end, and odd bytes.

usage: run_pieces_test.py AHR_BINARY; prints TAP.
"""

import base64
import os
import signal
import sys
import time

from support.ahr import Ahr
from support.processes import wait_for
from support.runs import (SECRET, Voice, claude, claude_begin, claude_piece, claude_tool, claude_whole, facts, folder, io,
                          library, log, tape, text_of, turns, whole)
from support.tap import run, test

BINARY = sys.argv[1]


def texts(entries, key):
    return [e[key] for e in entries if e.get("type") == "text"]


def is_nowhere(a, secret, *shown):
    """Not even the first letters behind its prefix, in whatever file."""
    kept = [p for root in (folder(a), library(a)[-1]) for p in root.rglob("*") if p.is_file()]
    assert len(kept) > 4, kept
    for text in (*shown, tape(a), *(p.read_bytes() for p in kept)):
        assert secret[:8].encode() not in text, text[-2000:]
        assert secret[-8:].encode() not in text, text[-2000:]


@test
def words_are_shown_and_logged_before_the_message_is_whole():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("first ") + claude_piece("words"))
        voice.reads(b"first words")
        assert text_of(log(a)) == "first words\n"
        assert io(a)[-1]["partial"]
        voice.say(claude_piece(" and more"))
        voice.reads(b"first words and more")
        assert text_of(log(a)) == "first words and more\n"
        voice.say(claude_whole("first words and more."))
        voice.reads(b"first words and more.\n")
        assert voice.end() == 0
        assert text_of(log(a)) == "first words and more.\n"
        assert texts(whole(io(a)), "content") == ["first words and more."]
        assert texts(turns(a), "text") == ["first words and more."]
        assert tape(a) == b"first words and more.\r\n"


@test
def a_line_of_stderr_in_the_middle_of_a_message_ends_its_line():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("one "))
        voice.reads(b"one ")
        voice.complain(b"trouble\n")
        voice.reads(b"one \n[stderr] trouble\n")
        voice.say(claude_piece("two"))
        voice.reads(b"one \n[stderr] trouble\ntwo")
        voice.say(claude_whole("one two"))
        assert voice.end() == 0
        assert voice.shown == b"one \n[stderr] trouble\ntwo\n"
        assert text_of(log(a)) == voice.shown.decode()
        assert texts(whole(io(a)), "content") == ["one two"]


@test
def lines_of_stderr_stand_between_what_was_flushed_of_a_message():
    words = [f"word{n} " for n in range(240)]
    with Ahr(BINARY) as a, Voice(a, "-q", "--flush-ms", "20") as voice:
        voice.say(claude_begin())
        for n, word in enumerate(words):
            voice.say(claude_piece(word))
            time.sleep(0.003)  # as an agent says it
            if n % 80 == 40:
                voice.complain(b"trouble\n")
                while b"trouble" not in voice.shown[-200:]:
                    voice.shown += os.read(voice.process.stdout.fileno(), 65536)
        voice.say(claude_whole("".join(words) + "end"))
        assert voice.end() == 0
        shown = text_of(log(a))
        assert shown == voice.shown.decode()
        parts = shown.split("\n[stderr] trouble\n")
        assert len(parts) == 4, shown
        assert "".join(parts) == "".join(words) + "end\n"
        assert [part[-1] for part in parts] == [" ", " ", " ", "\n"], [part[-20:] for part in parts]
        pieces = [e["content"] for e in io(a) if e.get("partial")]
        assert 6 < len(pieces) < 160, len(pieces)
        assert ("".join(words) + "end").startswith("".join(pieces))
        assert texts(turns(a), "text") == ["".join(words) + "end"]


@test
def another_event_in_the_middle_of_a_message_ends_its_line():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("before "))
        voice.reads(b"before ")
        voice.say(claude_tool("Bash", {"command": "ls"}))
        voice.reads(b"before \n[tool] Bash\n  command: ls\n")
        assert voice.end() == 0
        assert text_of(log(a)) == voice.shown.decode()
        assert len(texts(whole(io(a)), "content")) == 1


@test
def a_whole_that_is_not_what_its_pieces_were_is_shown_as_well():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("a draft"))
        voice.reads(b"a draft")
        voice.say(claude_whole("something else"))
        assert voice.end() == 0
        assert voice.shown == b"a draft\nsomething else\n"
        assert texts(turns(a), "text")[-1] == "something else"


def is_kept_as_cut_off(a):
    assert [(e["text"], e.get("interrupted")) for e in turns(a) if e["type"] == "text"] == [("half a sent", True)]
    last = [e for e in io(a) if e.get("type") == "text"][-1]
    assert (last["content"], last.get("interrupted"), last.get("partial")) == ("half a sent", True, None)
    assert text_of(log(a)) == "half a sent\n"


@test
def what_was_said_of_a_message_is_kept_when_ctrl_c_cuts_it_off():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("half a sent"))
        voice.reads(b"half a sent")
        assert voice.interrupt() == 130
        assert voice.shown == b"half a sent\n"
        is_kept_as_cut_off(a)
        assert "Interrupted: SIGINT" in log(a)
        assert facts(a)["status"] == "aborted"


@test
def what_was_said_of_a_message_is_kept_when_the_command_is_killed():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("half a sent"))
        voice.reads(b"half a sent")
        os.kill(voice.speaker(), signal.SIGKILL)
        voice.err.close()
        assert voice.finish() == 137
        is_kept_as_cut_off(a)
        assert "Status: crashed" in log(a)
        assert "Interrupted: SIGKILL" in log(a)
        assert facts(a)["status"] == "crashed"


@test
def pieces_that_wait_are_kept_when_the_command_is_killed():
    """Nothing of it was shown before."""
    with Ahr(BINARY) as a, Voice(a, "-q", "--flush-ms", "60000") as voice:
        voice.say(claude("system", subtype="init", model="m", cwd="/") + claude_begin() + claude_piece("half a sent"))
        voice.reads(b"[session] s1 model=m\n")
        os.kill(voice.speaker(), signal.SIGTERM)
        voice.err.close()
        assert voice.finish() == 143
        assert voice.shown.endswith(b"\nhalf a sent\n")
        assert turns(a)[-2]["interrupted"]


@test
def a_secret_in_pieces_is_never_seen():
    text = f"the token {SECRET} is it"
    for size in (1, 7, 30):
        with Ahr(BINARY) as a, Voice(a, "-q", "--flush-ms", "1") as voice:
            voice.say(claude_begin())
            for at in range(0, len(text), size):
                voice.say(claude_piece(text[at:at + size]))
            voice.say(claude_whole(text))
            assert voice.end() == 0
            assert voice.shown == b"the token [REDACTED:github-pat] is it\n"
            assert text_of(log(a)) == voice.shown.decode()
            is_nowhere(a, SECRET, voice.shown)


@test
def half_a_secret_is_not_seen_either():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(claude_begin() + claude_piece("the token ") + claude_piece(SECRET[:20]))
        voice.reads(b"the token ")
        assert voice.interrupt() == 130
        is_nowhere(a, SECRET[:20], voice.shown)
        assert turns(a)[-2]["text"].startswith("the token ")


@test
def half_a_secret_in_a_line_without_an_end_is_not_seen():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(b"the token " + SECRET[:20].encode())
        voice.reads(b"the token ")
        voice.complain(b"at " + SECRET[:20].encode())
        voice.reads(b"the token \n[stderr] at \n")
        assert voice.interrupt() == 130
        is_nowhere(a, SECRET[:20], voice.shown)


@test
def secrets_are_masked_in_arguments_of_tools_and_in_the_command_line():
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq3Zx9w\n" * 8 + "-----END RSA PRIVATE KEY-----\n"
    with Ahr(BINARY) as a:
        said = (claude_tool("Bash", {"command": f"curl -H 'Authorization: Bearer {SECRET}'", "x": {SECRET: [SECRET]}}) +
                claude_tool("Write", {"content": key}) + claude_whole(f'he said "{SECRET}"\\'))
        (a.dir / "said").write_bytes(said)
        done = a.run("run", "-q", "--task", f"use {SECRET}", "--", "sh", "-c", "cat said; cat", "sh", SECRET,
                     f"--password={SECRET}", input=f"say {SECRET}\n".encode())
        assert done.returncode == 0
        is_nowhere(a, SECRET, done.stdout)
        is_nowhere(a, "MIIEpAIBAAKCAQEA", done.stdout)
        assert facts(a)["task"] == "use [REDACTED:github-pat]"
        calls = [e for e in turns(a) if e["type"] == "tool_call"]
        assert calls[0]["input"]["command"].startswith("curl -H 'Authorization: Bearer [REDACTED")
        assert "PRIVATE KEY" in calls[1]["input"]["content"] or "REDACTED" in calls[1]["input"]["content"]


# -- plain programs --

@test
def a_question_is_shown_before_its_line_ends():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(b"Go on? [y/n] ")
        voice.reads(b"Go on? [y/n] ")
        assert text_of(log(a)) == "Go on? [y/n] \n"
        voice.say(b"y\nfine\n")
        assert voice.end() == 0
        assert voice.shown == b"Go on? [y/n] y\nfine\n"
        assert texts(whole(io(a)), "content") == ["Go on? [y/n] y", "fine"]


@test
def a_program_prints_what_it_prints():
    for said in (b"one\n", b"a\n\nb\n\n\n", b"\n", b" \n\t\n  x\n", b"", "ü — 漢\n".encode(), b"{\n", b"{}\n[1]\n"):
        with Ahr(BINARY) as a:
            done = a.run("run", "-q", "--", "cat", input=said)
            assert done.stdout == said, (said, done.stdout)
            assert text_of(log(a)) == said.decode()
            assert tape(a) == said.replace(b"\n", b"\r\n")


@test
def a_last_line_without_a_newline_gets_one():
    with Ahr(BINARY) as a:
        assert a.run("run", "-q", "--", "printf", "x").stdout == b"x\n"
        assert text_of(log(a)) == "x\n"


@test
def bytes_that_are_no_text_are_kept():
    with Ahr(BINARY) as a:
        done = a.run("run", "-q", "--", "cat", input=b"\xff\xfe\x00\n\x00\n")
        assert done.stdout == "\ufffd\ufffd\n\n".encode()
        said = [e for e in io(a) if e["direction"] == "out"]
        assert base64.b64decode(said[0]["content"]) == b"\xff\xfe\x00"
        assert said[0]["encoding"] == "base64"
        assert said[1]["content"] == "\0"


@test
def progress_in_one_line_is_a_line_a_step():
    with Ahr(BINARY) as a, Voice(a, "-q") as voice:
        voice.say(b"10%\r")
        voice.reads(b"10%\n")
        voice.say(b"20%\r")
        voice.reads(b"10%\n20%\n")
        voice.say(b"done\n")
        assert voice.end() == 0
        assert voice.shown == b"10%\n20%\ndone\n"
        assert texts(whole(io(a)), "content") == ["10%\r20%\rdone"]


@test
def a_line_of_megabytes_is_whole_in_all_of_its_parts():
    line = bytes(97 + i % 26 for i in range(3_500_000))
    with Ahr(BINARY) as a:
        (a.dir / "line").write_bytes(line + b"\nend\n")
        done = a.run("run", "-q", "--", "cat", "line")
        assert done.stdout.replace(b"\n", b"") == line + b"end"
        assert "".join(texts(whole(io(a)), "content")).encode() == line + b"end"
        assert text_of(log(a)).encode() == done.stdout


@test
def a_command_that_says_nothing_has_an_empty_log():
    with Ahr(BINARY) as a:
        done = a.run("run", "--", "true")
        assert done.stdout == b""
        assert text_of(log(a)) == ""
        assert [e["type"] for e in turns(a)] == ["exit"]
        assert b"completed, 1 event in" in done.stderr


@test
def a_log_always_ends_with_a_whole_line():
    """Looked at again and again while pieces come."""
    with Ahr(BINARY) as a, Voice(a, "-q", "--flush-ms", "1") as voice:
        voice.say(claude_begin())
        path = folder(a) / "iterations" / "1.log"
        wait_for(path.exists)
        for n in range(60):
            voice.say(claude_piece(f"word {n} "))
            data = path.read_bytes()
            assert data.endswith(b"\n"), data[-80:]
        said = "".join(f"word {n} " for n in range(60))
        voice.say(claude_whole(said))
        assert voice.end() == 0
        assert text_of(log(a)) == said + "\n"


run()
