#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resume_test.py -- `ahr resume`, `ahr fork`, `--on-interrupted` and `ahr show --tree` as a user meets them.

usage: resume_test.py AHR_BINARY CHAT_AGENT [--sanitized]; prints TAP.
"""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys

from support.ahr import Ahr
from support.on_pty import OnPty
from support.processes import children, is_gone, wait_for, with_home
from support.recorder import IS_SANITIZED
from support.run_folder import facts_of, io_of, run_folder
from support.tap import run, test

BINARY, AGENT = map(os.path.abspath, sys.argv[1:3])
AGENT_ID = "5d24b3fe-203e-4318-a394-9204b50310b2"
SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
QUICK = ("--quiet-ms", "200")


def start(a, *options, command=(AGENT,), **more):
    return a.popen("run", "-q", *options, "--", *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)


def cut_off(a, name, lines, *options, command=(AGENT,)):
    """A run that was told these, has answered each, and was killed."""
    process = start(a, "--name", name, "--on-interrupted", "fresh", *options, command=command)
    for n, line in enumerate(lines, 1):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        process.stdout.readline()
        wait_for(lambda: sum(e["direction"] == "in" for e in io_of(run_folder(a.dir, name))) == n)
    process.kill()
    process.communicate()
    wait_for(lambda: command_is_gone(a, name))


def command_is_gone(a, name):
    pid = facts_of(run_folder(a.dir, name))["command_pid"]
    return not pid or is_gone(pid)


def fake_agent(a, name, script):
    """A program of an agent's name, first on PATH; what it was called with goes to the file `called`."""
    folder = a.dir / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >>{a.dir}/called\n"
                    f"echo ---- >>{a.dir}/called\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    a.env["PATH"] = f"{folder}:{a.env['PATH']}"
    return name


def calls(a):
    text = (a.dir / "called").read_text()
    return [call.splitlines() for call in text.split("----\n")[:-1]]


def said_by_claude(session=AGENT_ID, text="I look."):
    begin = json.dumps({"type": "system", "subtype": "init", "session_id": session, "model": "m", "cwd": "/"})
    message = json.dumps({"type": "assistant", "session_id": session, "message": {
        "id": "msg_1", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}})
    return f"echo '{begin}'; echo '{message}'"


def done_by_claude(session=AGENT_ID):
    return "echo '" + json.dumps({"type": "result", "subtype": "success", "session_id": session, "is_error": False,
                                  "result": "ok", "num_turns": 1, "duration_ms": 1}) + "'"


def sessions(a):
    return {s["name"]: s for s in json.loads(a.ok("list", "--json"))}


def killed_claude(a, *args, extra=""):
    """`ahr run -- claude …`, killed after its first words."""
    fake_agent(a, "claude", f"{said_by_claude()}\n{extra}\nexec sleep 60")
    process = a.popen("run", "-q", "--name", "work", "--", "claude", *args, stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE)
    while process.stdout.readline() != b"I look.\n":  # its last word: what it says then would end it
        pass
    pid = facts_of(run_folder(a.dir, "work"))["command_pid"]
    process.kill()
    process.communicate()
    return pid


# -- replay --

@test
def messages_are_sent_in_order_and_then_stdin_is_ours():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two"])
        done = a.run("resume", "talk", *QUICK, input=b"three\nstate\n")
        assert done.returncode == 0, done.stderr
        sent = [e["content"] for e in io_of(run_folder(a.dir, "talk-2")) if e["direction"] == "in"]
        assert sent == ["one", "two", "three", "state"], sent
        new = sessions(a)["talk-2"]
        assert new["resumed_from"] == sessions(a)["talk"]["id"] and new["status"] == "completed"
        assert facts_of(run_folder(a.dir, "talk-2"))["resumed_from"] == sessions(a)["talk"]["id"]


@test
def from_leaves_out_what_came_before():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two", "three"])
        done = a.run("resume", "talk", "--from", 3, *QUICK)
        assert done.returncode == 0 and b"by 1 message sent" in done.stderr, done.stderr
        sent = [e["content"] for e in io_of(run_folder(a.dir, "talk-2")) if e["direction"] == "in"]
        assert sent == ["three"], sent
        plan = json.loads(a.ok("resume", "talk", "--dry-run", "--json", "--from", 2))
        assert plan["messages"] == ["two", "three"] and plan["how"] == "replay"
        assert "was sent 3 messages" in a.fails(2, "resume", "talk", "--from", 4)


@test
def an_archived_session_goes_on_as_any_other():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two"])
        a.ok("recover", "--all")
        a.ok("archive", "talk")
        folder = run_folder(a.dir, "talk")
        assert (folder / "io.log.gz").exists() and not (folder / "io.log").exists()
        before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        done = a.run("resume", "talk", "--verify", *QUICK, input=b"state\n")
        assert done.returncode == 0 and b"0 differences" in done.stderr, done.stderr
        done = a.run("fork", "talk", "--at", 1, "-q", *QUICK)
        assert done.returncode == 0, done.stderr
        assert before == {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        (folder / "io.log.gz").write_bytes(before[folder / "io.log.gz"][:-30])
        done = a.run("resume", "talk", "--dry-run", "--json")
        assert json.loads(done.stdout)["messages"] == ["one", "two"], done.stdout  # the session's own events have it
        turns = next((a.dir / "home/.local/share/ahr/sessions").glob("2*/session.turns.jsonl.gz"))
        turns.write_bytes(turns.read_bytes()[:40])
        done = a.run("resume", "talk", "--dry-run", "--json")
        assert b"cannot be read" in done.stderr, done.stderr


@test
def a_message_that_came_in_pieces_is_one():
    with Ahr(BINARY) as a:
        process = a.popen("run", "-q", "--name", "long", "--", "wc", "-L", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
        process.stdin.write(b"x" * 3_000_000 + b"\nsecond, ")
        process.stdin.flush()
        log = run_folder(a.dir, "long") / "io.log"
        wait_for(lambda: log.exists() and b"second" in log.read_bytes())  # it waits no longer for its end
        process.stdin.write(b"and its rest\n")
        out, _ = process.communicate()
        done = a.run("resume", "long", "--verify", *QUICK, stdin=subprocess.DEVNULL, input=None)
        assert done.returncode == 0 and done.stdout == out == b"3000000\n", (done, out)
        plan = json.loads(a.ok("resume", "long", "--dry-run", "--json"))
        assert [len(m) for m in plan["messages"]] == [3_000_000, len("second, and its rest")]


@test
def a_folder_that_is_another_sessions_by_now_is_not_taken():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["old one", "old two"])
        old = sessions(a)["talk"]["id"]
        a.ok("recover", "--all")
        shutil.rmtree(a.dir / ".ahr")
        cut_off(a, "talk", ["new one"])
        assert json.loads(a.ok("resume", old, "--dry-run", "--json"))["messages"] == ["old one", "old two"]
        assert json.loads(a.ok("resume", "talk", "--dry-run", "--json"))["messages"] == ["new one"]
        assert b"new" not in a.run("log", old).stdout
        (a.dir / "key").write_bytes(os.urandom(64))
        before = {p: p.read_bytes() for p in run_folder(a.dir, "talk").rglob("*") if p.is_file()}
        a.ok("encrypt", old, "--key-file", a.dir / "key")
        assert before == {p: p.read_bytes() for p in run_folder(a.dir, "talk").rglob("*") if p.is_file()}


@test
def who_recovers_it_meanwhile_is_waited_for():
    with Ahr(BINARY) as a:
        a.env["AHR_UPKEEP"] = "auto"
        for n in range(3):
            cut_off(a, f"talk{n}", ["one"])
            a.run("list", "--status", "interrupted")
            done = a.run("resume", f"talk{n}", "-q", *QUICK)
            assert done.returncode == 0, done.stderr
        wait_for(lambda: not with_home(a.dir / "home", True))


@test
def a_dry_run_starts_nothing():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one \x1b[2J \x9b31m \u202e", "two"])
        before = sorted(p for p in a.dir.rglob("*"))
        text = a.ok("resume", "talk", "--dry-run").decode()
        assert "by 2 messages" in text and AGENT in text and not any(c in text for c in "\x1b\x9b\u202e")
        # What was cut off is recovered on the way; no session has begun.
        assert len(sessions(a)) == 1
        assert [p for p in a.dir.rglob("*") if p not in before and "/sessions/talk" in str(p)] == []


@test
def an_answer_in_the_stream_ends_a_turn():
    """An agent that reads lines of JSON is sent the next when it says that it is done."""
    with Ahr(BINARY) as a:
        agent = f"{said_by_claude()}\nwhile read -r line; do echo \"$line\" >>{a.dir}/heard; sleep .05; " \
                f"{said_by_claude(text='so')}; {done_by_claude()}; done"
        fake_agent(a, "claude", agent)
        words = ("claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json")
        process = start(a, "--name", "work", command=words)
        for text in ("first \"quoted\"", "second"):
            message = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        wait_for(lambda: len(process.stdout.readline()) and (a.dir / "heard").exists()
                 and len((a.dir / "heard").read_text().splitlines()) == 2)
        process.kill()
        process.communicate()
        wait_for(lambda: command_is_gone(a, "work"))
        (a.dir / "heard").unlink()
        done = a.run("resume", "work", "--replay", "-q", stdin=subprocess.DEVNULL, input=None)
        assert done.returncode == 0, done.stderr
        heard = [json.loads(line) for line in (a.dir / "heard").read_text().splitlines()]
        assert [h["message"]["content"][0]["text"] for h in heard] == ["first \"quoted\"", "second"]
        log = [(e["direction"], e.get("type")) for e in io_of(run_folder(a.dir, "work-2"))]
        at = [n for n, (direction, _) in enumerate(log) if direction == "in"]
        assert ("out", "done") in log[at[0]:at[1]], log  # the second came behind the first one's end


@test
def a_prompt_in_the_command_is_not_sent_twice():
    with Ahr(BINARY) as a:
        pid = killed_claude(a, "-p", "fix it")
        os.kill(pid, signal.SIGKILL)
        fake_agent(a, "claude", f"{said_by_claude()}; {done_by_claude()}; cat >{a.dir}/stdin")
        done = a.run("resume", "work", "--replay", "-q", stdin=subprocess.DEVNULL, input=None)
        assert done.returncode == 0, done.stderr
        assert calls(a)[-1] == ["-p", "fix it"]
        assert (a.dir / "stdin").read_bytes() == b""


# -- the agent's own way --

@test
def an_agent_that_can_goes_on_by_itself():
    with Ahr(BINARY) as a:
        pid = killed_claude(a, "-p", "fix it", "--verbose")
        os.kill(pid, signal.SIGKILL)
        fake_agent(a, "claude", f"{said_by_claude()}; {done_by_claude()}")
        done = a.run("resume", "work")
        assert done.returncode == 0 and AGENT_ID.encode() in done.stderr, done.stderr
        assert calls(a)[-1] == ["-p", "--verbose", "--resume", AGENT_ID, "Go on where you left off."]
        a.ok("resume", "work", "-q", "--prompt", "tests first")
        assert calls(a)[-1][-1] == "tests first"
        a.ok("fork", "work", "-q")
        assert calls(a)[-1][2:5] == ["--resume", AGENT_ID, "--fork-session"]
        new = sessions(a)
        assert new["work-4"]["fork"]["from"] == new["work"]["id"] and new["work-4"]["resumed_from"] is None


@test
def codex_goes_on_by_its_thread():
    with Ahr(BINARY) as a:
        thread = "01a1de26-2285-74e1-833b-68633f363660"
        started = json.dumps({"type": "thread.started", "thread_id": thread})
        fake_agent(a, "codex", f"echo '{started}'")
        a.ok("run", "-q", "--name", "work", "--", "codex", "exec", "--json", "fix it")
        a.ok("resume", "work", "-q")
        assert calls(a)[-1] == ["exec", "--json", "resume", thread, "Go on where you left off."]
        plan = json.loads(a.ok("fork", "work", "--dry-run", "--json"))
        assert plan["how"] == "replay", plan  # it has no fork of its own
        plan = json.loads(a.ok("resume", "work", "--dry-run", "--json", "--", "claude", "-p"))
        assert plan["how"] == "replay", plan  # another agent cannot go on with its session


@test
def a_terminal_goes_on_by_what_the_agent_has_printed():
    with Ahr(BINARY) as a:
        fake_agent(a, "claude", f"echo hello; echo; echo 'Resume this session with:'; echo 'claude --resume {AGENT_ID}'")
        a.ok("record", "-q", "--name", "tui", "--", "claude", "--model", "x")
        plan = json.loads(a.ok("resume", "tui", "--dry-run", "--json"))
        assert plan["how"] == "native" and plan["cmd"] == ["claude", "--model", "x", "--resume", AGENT_ID], plan
        done = a.run("resume", "tui")
        assert done.returncode == 0, done.stderr
        assert calls(a)[-1] == ["--model", "x", "--resume", AGENT_ID]
        assert sessions(a)["tui-2"]["resumed_from"] == sessions(a)["tui"]["id"]


@test
def a_terminal_without_any_way_says_so():
    with Ahr(BINARY) as a:
        a.ok("record", "-q", "--name", "shell", "--", "sh", "-c", "echo hello")
        said = a.fails(2, "resume", "shell")
        assert "what was typed is not in its recording" in said and "ahr resume shell -- COMMAND" in said, said
        assert "record --input" in a.fails(2, "resume", "shell", "--replay")
        assert "are for runs" in a.fails(2, "resume", "shell", "--verify")
        assert "are for runs" in a.fails(2, "resume", "shell", "--from", 2)
        assert "no agent that is known" in a.fails(2, "resume", "shell", "--context")
        assert len(sessions(a)) == 1


@test
def what_was_typed_is_typed_once_more():
    with Ahr(BINARY) as a:
        a.env["AHR_UPKEEP"] = "off"
        with OnPty([BINARY, "record", "-q", "--input", "--name", "typed", "--", "sh", "-c",
                    "while read -r x; do echo \"got $x\"; done"], cwd=a.dir, env=a.env) as pty:
            os.write(pty.master, b"first\r")
            pty.read_until(b"got first")
            os.write(pty.master, b"second\r")
            pty.read_until(b"got second")
            os.write(pty.master, b"\x04")
            pty.process.wait()
        plan = json.loads(a.ok("resume", "typed", "--dry-run", "--json"))
        assert plan["how"] == "typed" and plan["messages"][:2] == ["first", "second"], plan
        assert "--prompt does not go with that" in a.fails(2, "resume", "typed", "--prompt", "x")
        with OnPty([BINARY, "resume", "typed", "-q"], cwd=a.dir, env=a.env) as pty:
            pty.read_until(b"got first")
            pty.read_until(b"got second")
            pty.process.wait()
        assert b"got second" in a.ok("cat", "typed-2")


# -- a short account --

@test
def context_tells_what_has_happened():
    with Ahr(BINARY) as a:
        edit = json.dumps({"type": "assistant", "session_id": AGENT_ID, "message": {
            "id": "msg_2", "role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a.c", "content": "x"}}]}})
        result = json.dumps({"type": "user", "session_id": AGENT_ID, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}})
        (a.dir / "a.c").write_text("x")
        fake_agent(a, "claude", f"{said_by_claude(text='I will write a.c first.')}; echo '{edit}'; echo '{result}'")
        a.ok("run", "-q", "--name", "work", "--", "claude", "-p", "mend the parser")
        a.ok("resume", "work", "--context", "-q", "--prompt", "And now the tests.")
        words = (a.dir / "called").read_text().split("----\n")[-2]
        assert words.startswith("-p\nThis goes on with an earlier session"), words
        assert "## The task\nmend the parser\n" in words and "- I will write a.c first." in words
        assert "touched\n- created /a.c\n" in words, words
        assert words.rstrip().endswith("And now the tests.") and "--resume" not in words
        plan = json.loads(a.ok("resume", "work", "--context", "--dry-run", "--json", "--context-bytes", "4K"))
        assert plan["how"] == "context" and len(plan["cmd"][-1].encode()) <= 4096


@test
def context_for_a_plain_program_is_its_first_message():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["mend it", "go on"], command=("cat",))
        done = a.run("resume", "talk", "--context", "-q", *QUICK)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(b"This goes on with an earlier session"), done.stdout
        assert b"mend it" in done.stdout and b"[user] go on" in done.stdout
        assert done.stdout.count(b"\n") == 1, done.stdout  # to such a program a line is a message


@test
def what_would_run_it_is_told_nothing():
    with Ahr(BINARY) as a:
        for name, command in (("shell", ["sh"]), ("snake", ["python3", "-i"])):
            a.ok("run", "-q", "--name", name, "--", *command, input=b"print('x')\n" if name == "snake" else b"echo x\n")
            assert "no agent that is known" in a.fails(2, "resume", name, "--context", "--dry-run")
        a.ok("run", "-q", "--name", "script", "--", "sh", "-c", "cat", input=b"mend it\n")
        a.ok("resume", "script", "--context", "--dry-run")


# -- what keeps it from going on --

@test
def a_live_session_is_not_gone_on_with():
    with Ahr(BINARY) as a:
        process = start(a, "--name", "talk")
        process.stdin.write(b"one\n")
        process.stdin.flush()
        process.stdout.readline()
        assert "is being recorded" in a.fails(5, "resume", "talk")
        process.communicate()
        a.ok("resume", "talk", "-q", *QUICK)  # one that has ended may go on


@test
def of_two_that_go_on_with_one_the_second_is_refused():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        first = a.popen("resume", "talk", "-q", *QUICK, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first.stdout.readline()
        said = a.fails(5, "resume", "talk")
        assert "goes on already" in said, said
        first.communicate()
        many = [a.popen("resume", "talk", "-q", *QUICK, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL) for _ in range(4)]
        wait_for(lambda: sum(p.poll() == 5 for p in many) == 3)
        for p in many:
            p.communicate()
        assert sorted(p.returncode for p in many) == [0, 5, 5, 5]


@test
def a_command_that_outlived_its_recorder_is_named_and_left_alone():
    with Ahr(BINARY) as a:
        pid = killed_claude(a, "-p", "fix it")
        try:
            said = a.fails(5, "resume", "work")
            assert f"process {pid}" in said and "left alone" in said, said
            assert not is_gone(pid)
        finally:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: is_gone(pid))
        fake_agent(a, "claude", done_by_claude())
        a.ok("resume", "work", "-q")


@test
def while_its_command_lives_a_session_is_not_cleaned_away():
    with Ahr(BINARY) as a:
        pid = killed_claude(a, "-p", "fix it")
        try:
            a.ok("recover", "--all")
            a.run("clean", "--status", "interrupted", "--older-than", "0s", "--yes")
            assert "work" in sessions(a) and not is_gone(pid)
        finally:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: is_gone(pid))
        a.ok("clean", "--status", "interrupted", "--older-than", "0s", "--yes")
        assert sessions(a) == {}


@test
def a_number_that_was_used_again_is_another_process():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        path = run_folder(a.dir, "talk") / "metadata.json"
        facts = json.loads(path.read_text())
        facts.update(status="active", pid=os.getpid(), pid_start=1, command_pid=os.getpid(), command_start=1)
        path.write_text(json.dumps(facts))
        a.ok("resume", "talk", "-q", *QUICK)


@test
def masks_are_sent_and_that_is_said_before():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", [f"use {SECRET}"])
        done = a.run("resume", "talk", *QUICK)
        said = done.stderr.decode()
        assert done.returncode == 0 and "the masks are sent, not the secrets" in said, said
        assert said.index("masks are sent") < said.index("goes on by")
        assert json.loads(a.ok("resume", "talk", "--dry-run", "--json"))["masked"] is True
        assert SECRET not in (run_folder(a.dir, "talk-2") / "io.log").read_text()


@test
def bad_journals_cost_no_good_message():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two"])
        log = run_folder(a.dir, "talk") / "io.log"
        lines = log.read_bytes().split(b"\n")
        at = [n for n, line in enumerate(lines) if b'"in"' in line]
        lines[at[1]] = b"\0\0\0" + lines[at[1]] + b'{"timestamp":"2026-11-03T10:15:30.123Z","direc'
        log.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines) + b'{"timestamp":"20')
        done = a.run("resume", "talk", "--dry-run", "--json")
        assert json.loads(done.stdout)["messages"] == ["one", "two"], done.stdout
        assert b"some of what was said" in done.stderr, done.stderr
        for text in ("", "[]", "{", '{"status":7,"id":[],"pid":"x"}', None):
            path = run_folder(a.dir, "talk") / "metadata.json"
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
            plan = json.loads(a.ok("resume", sessions(a)["talk"]["id"], "--dry-run", "--json"))
            assert plan["messages"] == ["one", "two"]
        log.unlink()  # the session's own events have it, too
        assert json.loads(a.ok("resume", sessions(a)["talk"]["id"], "--dry-run", "--json"))["messages"] == ["one", "two"]


@test
def events_are_not_kept_where_the_journal_has_the_messages():
    """64 MB of answers in the session's events, two lines in io.log: what it takes is of the size of one of them."""
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        a.ok("resume", "talk", "--dry-run")
        session = sessions(a)["talk"]
        turns = os.path.join(session["path"], "session.turns.jsonl")
        with open(turns) as f:
            last = json.loads(f.readlines()[-1])
        with open(turns, "a") as f:
            for n in range(64):
                f.write(json.dumps({**last, "type": "text", "role": "assistant", "text": "x" * 1_000_000}) + "\n")
        child = subprocess.Popen([BINARY, "resume", session["id"], "--dry-run", "--json"], env=a.env, cwd=a.dir,
                                 stdout=subprocess.PIPE)
        plan = json.load(child.stdout)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0 and plan["messages"] == ["one"], plan
        print(f"# {used.ru_maxrss >> 10} MiB")
        assert IS_SANITIZED or used.ru_maxrss < 56 << 10, used.ru_maxrss


@test
def a_clock_that_went_back_changes_no_order():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two", "three"])
        id = sessions(a)["talk"]["id"]
        log = run_folder(a.dir, "talk") / "io.log"
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        for n, entry in enumerate(entries):
            entry["timestamp"] = f"20{99 - n:02}-01-01T00:00:00.000Z"
        log.write_text("".join(json.dumps(e) + "\n" for e in entries))
        meta = next((a.dir / "home/.local/share/ahr").glob("*/2*/session.meta.json"))
        facts = json.loads(meta.read_text())
        meta.write_text(json.dumps({**facts, "endedAtNs": 5, "startedAtNs": 2**62}))
        assert json.loads(a.ok("resume", id, "--dry-run", "--json"))["messages"] == ["one", "two", "three"]
        assert json.loads(a.ok("fork", id, "--at", 2, "--dry-run", "--json"))["messages"] == ["one", "two"]
        assert json.loads(a.ok("show", id, "--json"))["duration_ms"] is None
        a.ok("resume", id, "-q", *QUICK)


@test
def what_cannot_be_known_is_asked_for():
    with Ahr(BINARY) as a:
        a.run("run", "-q", "--name", "secret", "--", "echo", f"--token={SECRET}")
        assert "say it: 'ahr resume … -- COMMAND'" in a.fails(2, "resume", "secret")
        a.ok("resume", "secret", "-q", "--", "true")
        assert "which session" in a.fails(2, "resume")
        assert "no session" in a.fails(3, "resume", "nobody")
        assert "no session" in a.fails(3, "resume", "../../nowhere")
        file = os.path.join(sessions(a)["secret"]["path"], "session.ahr")
        for said in (a.fails(3, "resume", file), a.fails(3, "fork", file, "--at", 1), a.fails(3, "branch", file)):
            assert "is a file; only sessions of the library" in said and "'ahr list'" in said.replace("\n", " "), said
        assert "--json is for --dry-run" in a.fails(2, "resume", "secret", "--json")
        assert "--context" in a.fails(2, "resume", "secret", "--context", "--verify")
        cut_off(a, "talk", ["one"])
        assert "needs another name" in a.fails(2, "resume", "talk", "--name", "talk")
        assert "is no folder" in a.fails(3, "resume", "talk", "--dir", a.dir / "gone")


@test
def a_run_folder_that_is_a_link_is_refused():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        folder = run_folder(a.dir, "talk")
        elsewhere = a.dir / "elsewhere"
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
        before = {p: p.read_bytes() for p in elsewhere.rglob("*") if p.is_file()}
        plan = json.loads(a.ok("resume", [i for i in sessions(a).values()][0]["id"], "--dry-run", "--json"))
        assert plan["messages"] == ["one"]  # of the session's own events
        shutil.rmtree(elsewhere / "iterations")
        (elsewhere / "io.log").write_text(json.dumps({"timestamp": "2025-11-03T10:15:30.123Z", "direction": "in",
                                                      "content": "planted", "iteration": 1}) + "\n")
        before = {p: p.read_bytes() for p in elsewhere.rglob("*") if p.is_file()}
        done = a.run("resume", [i for i in sessions(a).values()][0]["id"], "--dry-run", "--json")
        assert json.loads(done.stdout)["messages"] == ["one"] and b"is a link" in done.stderr, done
        a.run("list", env={"AHR_UPKEEP": "auto"})
        wait_for(lambda: not with_home(a.dir / "home", True))
        assert before == {p: p.read_bytes() for p in elsewhere.rglob("*") if p.is_file()}


@test
def a_session_that_is_a_link_is_refused():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        a.ok("recover", "--all")
        id = sessions(a)["talk"]["id"]
        folder = a.dir / "home/.local/share/ahr/sessions" / id
        folder.rename(a.dir / "elsewhere")
        folder.symlink_to(a.dir / "elsewhere")
        for command in (("resume",), ("fork",), ("export", "--format", "txt"), ("show",), ("diff", id)):
            said = a.fails(3, *command, id)
            assert "is a link" in said, (command, said)


@test
def the_name_of_an_encrypted_run_stays_taken():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        a.ok("recover", "--all")
        (a.dir / "key").write_bytes(os.urandom(64))
        id = sessions(a)["talk"]["id"]
        a.ok("encrypt", id, "--key-file", a.dir / "key")
        said = a.fails(2, "run", "--name", "talk", "--", "true")
        assert "is encrypted" in said and f"ahr decrypt {id}" in said, said
        assert "is encrypted" in a.fails(1, "resume", id)
        vault = a.dir / "home/.local/share/ahr/sessions" / id / "session.vault"
        vault.rename(a.dir / "taken")
        assert "its vault is gone" in a.fails(4, "decrypt", id, "--key-file", a.dir / "key")
        (a.dir / "taken").rename(vault)
        a.ok("decrypt", id, "--key-file", a.dir / "key")
        assert json.loads(a.ok("resume", "talk", "--dry-run", "--json"))["messages"] == ["one"]


# -- fork --

@test
def a_fork_has_the_first_turns_alone():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two", "three"])
        done = a.run("fork", "talk", "--at", 2, "-q", *QUICK, input=b"another\nstate\n")
        assert done.returncode == 0, done.stderr
        sent = [e["content"] for e in io_of(run_folder(a.dir, "talk-2")) if e["direction"] == "in"]
        assert sent == ["one", "two", "another", "state"]
        want = subprocess.run([AGENT], input="one\ntwo\nanother\nstate\n", capture_output=True, text=True).stdout
        assert done.stdout.decode().splitlines()[-1] == want.splitlines()[-1]
        new = sessions(a)["talk-2"]
        assert new["fork"] == {"from": sessions(a)["talk"]["id"], "turn": 2} and new["parent"] == new["fork"]["from"]
        assert "has 3 turns" in a.fails(2, "fork", "talk", "--at", 4)
        assert "has 3 turns" in a.fails(2, "fork", "talk", "--at", 0)
        assert "neither the number" in a.fails(2, "fork", "talk", "--at", "soon")
        plan = json.loads(a.ok("fork", "talk", "--at", "1:00:00", "--dry-run", "--json"))
        assert plan["messages"] == ["one", "two", "three"]


@test
def the_account_of_a_fork_is_of_its_turns_alone():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["mend it", "and test it", "ship it"])
        edit = json.dumps({"type": "assistant", "session_id": AGENT_ID, "message": {
            "id": "msg_2", "role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.c"}}]}})
        fake_agent(a, "claude", f"while read -r x; do {said_by_claude()}; echo '{edit}'; {done_by_claude()}; done")
        process = start(a, "--name", "work", command=("claude", "-p", "--input-format", "stream-json"))
        for text in ("write b", "write c", "write d"):
            message = {"type": "user", "message": {"role": "user", "content": text}}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            while not process.stdout.readline().startswith(b"[done]"):
                pass
        process.communicate()
        for name, texts in (("talk", ("mend it", "and test it", "ship it")), ("work", ("write b", "write c", "write d"))):
            for at in (1, 2, 3):
                plan = json.loads(a.ok("fork", name, "--at", at, "--context", "--dry-run", "--json"))
                assert plan["how"] == "context" and len(plan["messages"]) == 1, plan
                told = plan["messages"][0]
                assert [text in told for text in texts] == [n < at for n in range(3)], (name, at, told)
                assert name == "talk" or told.count("[tool] Read") == at, told


@test
def a_prompt_comes_behind_what_is_sent_once_more():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two"])
        a.ok("fork", "talk", "--at", 1, "-q", "--prompt", "another", *QUICK)
        sent = [e["content"] for e in io_of(run_folder(a.dir, "talk-2")) if e["direction"] == "in"]
        assert sent == ["one", "another"], sent
        plan = a.run("resume", "talk", "--prompt", "three", "--dry-run")
        assert b"by 2 messages sent once more, and the prompt" in plan.stdout and b"message   three" in plan.stdout
        assert "does not go with --verify" in a.fails(2, "resume", "talk", "--verify", "--prompt", "x")


@test
def another_folder_has_names_of_its_own():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        (a.dir / "w1").mkdir()
        for _ in range(2):
            a.ok("fork", "talk", "--dir", a.dir / "w1", "-q", *QUICK)
        names = sorted(p.name for p in (a.dir / "w1/.ahr/sessions").iterdir() if p.is_dir())
        assert names == ["talk-2", "talk-3"], names
        (a.dir / "w2").mkdir()
        a.ok("fork", "talk", "--dir", a.dir / "w2", "-q", *QUICK)  # all forks are told apart by their names
        assert sorted(sessions(a)) == ["talk", "talk-2", "talk-3", "talk-4"], sessions(a)
        assert all(len([e for e in io_of(run_folder(a.dir / "w1", name)) if e["direction"] == "in"]) == 1 for name in names)


@test
def a_fork_begins_with_the_files_of_its_moment():
    with Ahr(BINARY) as a:
        (a.dir / "work").mkdir()
        script = f"while read -r x; do echo \"$x\" >>notes; {BINARY} fs snapshot >/dev/null 2>&1; echo \"did $x\"; done"
        process = a.popen("run", "-q", "--name", "files", "--dir", a.dir / "work", "--", "sh", "-c", script,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in (b"one\n", b"two\n", b"three\n"):
            process.stdin.write(line)
            process.stdin.flush()
            process.stdout.readline()
        process.communicate()
        id = json.loads(a.ok("list", "--json"))[0]["id"]
        done = a.run("fork", id, "--at", 2, "--into", a.dir / "forked", "-q", *QUICK, "--", "cat", "notes")
        assert done.returncode == 0 and done.stdout == b"one\ntwo\n", (done.stdout, done.stderr)
        assert (a.dir / "work/notes").read_text() == "one\ntwo\nthree\n"
        cut_off(a, "bare", ["one"])
        assert "no snapshot of files" in a.fails(3, "fork", "bare", "--at", 1, "--into", a.dir / "x")
        assert not (a.dir / "x").exists()
        assert "needs another name" in a.fails(2, "fork", "files", "--into", a.dir / "y", "--name", "files")
        assert not (a.dir / "y").exists()
        count = len(sessions(a))
        assert "nosuchcommand" in a.fails(127, "fork", id, "--into", a.dir / "y", "--", "nosuchcommand")
        assert not (a.dir / "y").exists() and len(sessions(a)) == count


# -- those that were cut off, when another begins --

@test
def what_was_cut_off_is_told_where_another_begins():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"], "--task", "mend the login")
        done = a.run("run", "--", "true")
        said = done.stderr.decode()
        assert "session talk (mend the login) was cut off" in said and "'ahr resume talk' goes on with it" in said, said
        assert facts_of(run_folder(a.dir, "talk"))["status"] == "interrupted"
        assert b"talk" not in a.run("run", "-q", "--", "true").stderr
        assert b"talk" not in a.run("run", "--on-interrupted", "fresh", "--", "true").stderr
        assert b"'ahr resume talk'" in a.run("record", "--background", "--", "true").stderr
        a.ok("resume", "talk", "-q", *QUICK)
        assert b"cut off" not in a.run("run", "--", "true").stderr  # it has gone on


@test
def a_quiet_start_marks_what_is_dead_all_the_same():
    for options in (("-q",), ("--on-interrupted", "fresh")):
        with Ahr(BINARY) as a:
            cut_off(a, "talk", ["one"])
            assert facts_of(run_folder(a.dir, "talk"))["status"] == "active"
            a.ok("run", *options, "--", "true")
            assert facts_of(run_folder(a.dir, "talk"))["status"] == "interrupted"


@test
def resume_takes_the_newest_of_the_same_name_or_task():
    with Ahr(BINARY) as a:
        cut_off(a, "other", ["zero"])
        cut_off(a, "talk", ["one"], "--task", "mend")
        done = a.run("run", "--on-interrupted", "resume", "--name", "new", "--task", "mend", "--", AGENT,
                     env={"AHR_QUIET_MS": "200"})
        assert b"session talk goes on" in done.stderr, done.stderr
        assert sessions(a)["new"]["resumed_from"] == sessions(a)["talk"]["id"]  # the name that was typed
        done = a.run("run", "--on-interrupted", "resume", "--name", "nothing-like-it", "--", AGENT)
        assert b"goes on" not in done.stderr and b"starts afresh" in done.stderr, done.stderr
        done = a.run("run", "--name", "other", "--", AGENT,
                     env={"AHR_QUIET_MS": "200", "AHR_ON_INTERRUPTED": "resume"})
        assert b"session other goes on" in done.stderr, done.stderr


@test
def a_name_by_role_that_was_typed_is_not_taken_again():
    line = ("run", "--on-interrupted", "resume", "--role", "ARCHITECT")
    for typed, env in ((("--name", "ARCH-001"), {}), ((), {"AHR_NAME": "ARCH-001"})):
        with Ahr(BINARY) as a:
            cut_off(a, "ARCH-001", ["one"], "--role", "ARCHITECT")
            log = run_folder(a.dir, "ARCH-001") / "io.log"
            before = log.read_bytes()
            done = a.run(*line, *typed, "--", AGENT, env={"AHR_QUIET_MS": "200", **env})
            assert b"session ARCH-001 goes on" in done.stderr, done.stderr
            new = [s for s in sessions(a).values() if s["resumed_from"]]
            assert len(new) == 1 and new[0]["name"] != "ARCH-001" and new[0]["role"] == "ARCHITECT", new
            assert log.read_bytes() == before


@test
def options_hold_for_the_session_that_goes_on():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        done = a.run("run", "--json", "--on-interrupted", "resume", "--name", "talk", "--role", "TESTER", "--", "false",
                     env={"AHR_QUIET_MS": "200"})
        assert done.returncode == 0, done.stderr  # its own command, not the one that was typed
        assert all(json.loads(line)["type"] for line in done.stdout.splitlines()) and done.stdout, done.stdout
        assert sessions(a)["talk-2"]["role"] == "TESTER" and sessions(a)["talk-2"]["resumed_from"]
        a.ok("resume", "talk", "-q", *QUICK)
        cut_off(a, "gone", ["one"])
        a.ok("recover", "--all")
        a.ok("delete", "--yes", "gone")
        assert b"gone" not in a.run("run", "--", "true").stderr
        cut_off(a, "last-one", ["one"])
        assert a.run("resume", "last-one", "--", "nosuchcommand").returncode == 127
        assert b"'ahr resume last-one'" in a.run("run", "--", "true").stderr  # nobody has gone on with it


@test
def on_a_terminal_it_is_asked():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        env = {**a.env, "AHR_QUIET_MS": "200"}
        with OnPty([BINARY, "run", "--", AGENT], cwd=a.dir, env=env) as pty:
            pty.read_until(b"Go on with it")
            os.write(pty.master, b"y\n")
            pty.read_until(b"goes to the command")
            os.write(pty.master, b"\x04")
            pty.read_until(b"completed")
        assert sessions(a)["talk-2"]["resumed_from"] == sessions(a)["talk"]["id"]
        cut_off(a, "again", ["one"])
        with OnPty([BINARY, "run", "--", AGENT], cwd=a.dir, env=env) as pty:
            pty.read_until(b"Go on with it")
            os.write(pty.master, b"what\n")  # is no answer
            pty.read_until(b"Go on with it", len(pty.bytes) - 1)
            os.write(pty.master, b"n\n")
            pty.read_until(b"n\r\n")
            os.write(pty.master, b"state\n")
            pty.read_until(b"state cbf29ce484222325")
            os.write(pty.master, b"\x04")
            pty.read_until(b"completed")
        assert b"cut off" not in a.run("run", "--", "true").stderr  # it was declined
        done = a.run("run", "--on-interrupted", "resume", "--name", "again", "--", AGENT, env={"AHR_QUIET_MS": "200"})
        assert b"session again goes on" in done.stderr, done.stderr  # it is named, not asked for


@test
def whose_command_still_runs_is_not_offered():
    with Ahr(BINARY) as a:
        process = start(a, "--name", "talk", command=("sh", "-c", "echo begun; exec sleep 60"))
        process.stdout.readline()
        pid = facts_of(run_folder(a.dir, "talk"))["command_pid"]
        process.kill()
        process.communicate()
        with OnPty([BINARY, "run", "--", "echo", "fresh"], cwd=a.dir, env=a.env | {"AHR_ON_INTERRUPTED": "ask"}) as pty:
            pty.read_until(b"completed")
            said = pty.bytes.decode()
        assert f"its command still runs as process {pid}" in said and "Go on with it" not in said, said
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: is_gone(pid))
        assert b"'ahr resume talk' goes on" in a.run("run", "--", "true").stderr


@test
def a_terminal_that_was_cut_off_is_offered_recovered_or_not():
    with Ahr(BINARY) as a:
        a.ok("record", "-q", "--background", "--name", "tui", "--", "sleep", "60")
        host = json.loads((next((a.dir / "home/.local/share/ahr/live").iterdir()) / "session.meta.json").read_text())["hostPid"]
        inside = children(host)
        os.kill(host, signal.SIGKILL)
        wait_for(lambda: is_gone(host) and all(map(is_gone, inside)))
        assert b"'ahr resume tui'" in a.run("record", "--", "true").stderr
        a.ok("recover", "--all")
        assert b"'ahr resume tui'" in a.run("record", "--", "true").stderr
        with Ahr(BINARY) as b:
            b.env = a.env
            assert b"tui" not in b.run("record", "--", "true").stderr  # another folder


# -- what is alive and what is not --

@test
def a_recorder_without_its_socket_is_named_and_left_alone():
    with Ahr(BINARY) as a:
        process = start(a, "--name", "talk")
        process.stdin.write(b"one\n")
        process.stdin.flush()
        process.stdout.readline()
        live = next((a.dir / "home/.local/share/ahr/live").iterdir())
        (live / "ctl.sock").unlink()
        done = a.run("list", "--json")
        assert json.loads(done.stdout)[0]["status"] == "interrupted"
        assert f"process {process.pid}".encode() in done.stderr, done.stderr
        assert f"process {process.pid}" in a.fails(3, "send", "talk", "x")
        assert f"process {process.pid}" in a.fails(5, "resume", "talk")
        process.stdin.write(b"state\n")
        process.communicate()
        assert process.returncode == 0 and sessions(a)["talk"]["status"] == "completed"


@test
def list_marks_runs_of_the_project_that_are_dead():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one"])
        assert facts_of(run_folder(a.dir, "talk"))["status"] == "active"
        a.run("list")
        assert facts_of(run_folder(a.dir, "talk"))["status"] == "active"  # nothing goes on in the background
        a.run("list", env={"AHR_UPKEEP": "auto"})
        assert facts_of(run_folder(a.dir, "talk"))["status"] == "interrupted"
        wait_for(lambda: not with_home(a.dir / "home", True))


@test
def a_run_of_another_tool_goes_on_with_a_command():
    with Ahr(BINARY) as a:
        folder = a.dir / ".claude-man/sessions/ARCH-001"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(json.dumps({"session_id": "ARCH-001", "status": "active", "pid": 999999}))
        (folder / "io.log").write_text("".join(json.dumps(e) + "\n" for e in (
            {"timestamp": "2025-11-03T10:15:30.123Z", "direction": "in", "content": "one"},
            {"timestamp": "2025-11-03T10:15:31.456Z", "direction": "out", "content": "so"},
            {"timestamp": "2025-11-03T10:16:45.789Z", "direction": "in", "content": "two"})))
        assert "say it" in a.fails(2, "resume", "ARCH-001")
        done = a.run("resume", "ARCH-001", "--verify", *QUICK, "--", AGENT, input=b"state\n")
        assert done.returncode == 1 and b"the first is answer 1: recorded 'so'" in done.stderr, done.stderr
        assert json.loads((folder / "metadata.json").read_text())["status"] == "interrupted"


# -- the family --

@test
def the_tree_shows_who_comes_from_whom():
    with Ahr(BINARY) as a:
        cut_off(a, "talk", ["one", "two"])
        a.ok("resume", "talk", "-q", *QUICK)
        a.ok("fork", "talk-2", "--at", 1, "-q", *QUICK)
        a.ok("run", "-q", "--name", "child", "--parent", "talk", "--", "true")
        tree = json.loads(a.ok("show", "talk-3", "--tree", "--json"))
        assert (tree["name"], tree["relation"]) == ("talk", "root")
        below = {c["name"]: c for c in tree["children"]}
        assert below["talk-2"]["relation"] == "resume" and below["child"]["relation"] == "child"
        fork = below["talk-2"]["children"][0]
        assert (fork["name"], fork["relation"], fork["turn"]) == ("talk-3", "fork", 1)
        text = a.ok("show", "talk-3", "--tree").decode()
        assert "│ └ talk-3" in text or "  └ talk-3" in text, text
        assert [line for line in text.splitlines() if line.endswith("◀")][0].count("talk-3") == 1
        meta = next((a.dir / "home/.local/share/ahr/sessions").glob("2*/session.meta.json"))
        facts = json.loads(meta.read_text())
        meta.write_text(json.dumps({**facts, "status": "\x1b]0;x\x07", "name": "\x9b2J"}))
        shown = a.run("show", facts["sessionId"], "--tree").stdout
        assert shown and b"\x1b" not in shown and "\x9b".encode() not in shown, shown
        meta.write_text(json.dumps(facts))
        alone = a.ok("show", "child", "--tree", "--json")
        assert json.loads(alone)["name"] == "talk"


run()
