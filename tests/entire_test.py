#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entire_test.py -- `ahr run --entire`: a conversation in the project's .entire/ (seed 002, each of its criteria).

usage: entire_test.py AHR STREAM_AGENT; prints TAP.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import entire
from support.ahr import Ahr
from support.entire import BEGIN, INTERRUPTED, Transcript, result, said, text, tool
from support.processes import wait_for
from support.run_folder import lines_of
from support.tap import Skip, run, test

AHR, AGENT = sys.argv[1], str(Path(sys.argv[2]).resolve())
FIXTURE = Path(__file__).resolve().parents[2] / "shared/fixtures/agents/claude-stream.ndjson"
CLAUDE = ("claude", "-p", "explain main.rs", "--output-format", "stream-json", "--verbose")
TALK = (BEGIN, said("m1", text("Let me read that file."), tool("t1", "read_file", path="src/main.rs", limit=3),
                    usage={"input_tokens": 1200, "output_tokens": 350, "cache_creation_input_tokens": 7,
                           "cache_read_input_tokens": 800}),
        result("t1", "1: use std::io;"), said("m2", text("It reads.")))


def at_the_gate(a, *args, lines=TALK[:2], more=TALK[2:]):
    """A living run whose agent waits behind the first lines."""
    entire.agent(a, (*lines, "gate", *more))
    return a.popen("run", "-q", *args, "--", *CLAUDE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def has_lines(a, count):
    folders = list((a.dir / ".entire/metadata").glob("*/full.jsonl"))
    return folders and len(Transcript(a.dir, may_be_torn=True).lines) >= count


def go_on(a, process):
    entire.open_gate(a.dir / "gate")
    assert process.wait(60) == 0


# -- the criteria --

@test
def full_jsonl_is_written_while_the_agent_runs():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire") as process:
            wait_for(lambda: has_lines(a, 2))  # also the message behind which nothing comes
            assert process.poll() is None
            now = Transcript(a.dir).is_sound()
            assert now.lines[0]["message"] == {"role": "user", "content": "explain main.rs"}
            assert [b["type"] for _, b in now.blocks()] == ["text", "text", "tool_use"]
            assert now.context is None
            go_on(a, process)
        kept = Transcript(a.dir).is_sound()
        assert kept.lines[:2] == now.lines
        assert [line["type"] for line in kept.lines] == ["user", "assistant", "user", "assistant"]
        assert kept.lines[2]["message"]["content"] == [
            {"type": "tool_result", "tool_use_id": "t1", "content": "1: use std::io;"}]
        kept.is_private()


@test
def what_was_said_survives_a_crash():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire") as process:
            wait_for(lambda: has_lines(a, 2))
            process.kill()
            process.wait()
            entire.open_gate(a.dir / "gate")
        left = Transcript(a.dir, may_be_torn=True)
        assert left.prompt == "explain main.rs" and left.context is None
        a.ok("recover", "--all")
        kept = Transcript(a.dir).is_sound()
        assert kept.lines[:2] == left.lines and len(kept.lines) == 3
        block, = kept.lines[2]["message"]["content"]
        assert (block["tool_use_id"], block["content"], block["is_error"]) == ("t1", INTERRUPTED, True)
        assert "- **read_file**: src/main.rs\n" in kept.context
        before = kept.files()
        a.run("recover", "--all")
        assert Transcript(a.dir).files() == before


@test
def what_each_message_took_is_attached_to_it():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire") as process:
            go_on(a, process)
        kept = Transcript(a.dir).is_sound()
        assert kept.lines[1]["message"]["usage"] == TALK[1]["message"]["usage"]
        assert [line["message"]["id"] for line in kept.lines if line["type"] == "assistant"] == ["m1", "m2"]
        assert [line["message"]["model"] for line in kept.lines if line["type"] == "assistant"] == ["opus-5"] * 2
        assert kept.usage()["output_tokens"] == 355


@test
def the_session_is_a_date_and_a_uuid():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        today = datetime.now(timezone.utc)
        a.ok("run", "--entire", "--", *CLAUDE)
        kept = Transcript(a.dir)
        assert entire.SESSION.fullmatch(kept.id), kept.id
        days = {(today + timedelta(days=d)).strftime("%Y-%m-%d") for d in (-1, 0, 1)}
        assert kept.id[:10] in days, kept.id
        assert kept.id in a.ok("list", "--json").decode()  # one name for all places


@test
def each_turn_has_its_time_in_utc():
    with Ahr(AHR) as a:
        begin = datetime.now(timezone.utc) - timedelta(milliseconds=2)
        with at_the_gate(a, "--entire") as process:
            wait_for(lambda: has_lines(a, 2))
            between = datetime.now(timezone.utc) + timedelta(milliseconds=2)
            go_on(a, process)
        end = datetime.now(timezone.utc) + timedelta(milliseconds=2)
        times = [entire.stamp(line) for line in Transcript(a.dir).is_sound().lines]
        assert times == sorted(times)
        assert begin <= times[0] and times[1] <= between, (begin, times, between)
        assert between - timedelta(seconds=1) <= times[2] and times[3] <= end, (times, end)


@test
def prompt_txt_is_there_with_the_first_input():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire", lines=(), more=TALK) as process:
            wait_for(lambda: has_lines(a, 1))  # nothing was answered yet
            assert Transcript(a.dir).prompt == "explain main.rs"
            go_on(a, process)
        assert Transcript(a.dir).prompt == "explain main.rs"


@test
def prompt_txt_is_what_is_piped_in():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        a.ok("run", "--entire", "--", "claude", "-p", "--output-format", "stream-json", "--verbose",
             input=b"explain\n\nmain.rs\n")
        kept = Transcript(a.dir).is_sound()
        assert kept.prompt == kept.lines[0]["message"]["content"] == "explain\n\nmain.rs", kept.prompt


LINES = b"Line one of the task.\nLine two.\n\nLine four.\n"


@test
def prompt_txt_is_all_that_a_plain_program_is_piped():
    whole = LINES.decode().rstrip("\n")
    with Ahr(AHR) as a:
        (a.dir / "file").write_bytes(LINES)
        big = b"x" * 99 + b"\n"
        for given, prompt in ((LINES, whole), (b"\n \n" + LINES, whole), (b"one", "one"),
                              (big * 20000, (big * 20000).decode().rstrip("\n")),
                              (big * 200000, (big * 167772).decode().rstrip("\n"))):  # 16 MiB
            a.ok("run", "-q", "--entire", "--", "sh", "-c", "cat >/dev/null; echo ok", input=given)
            assert Transcript(a.dir).prompt == prompt, Transcript(a.dir).prompt[-200:]
            shutil.rmtree(a.dir / ".entire")
        with open(a.dir / "file", "rb") as file:
            assert a.popen("run", "-q", "--entire", "--iterations", "2", "--", "sh", "-c", "cat >/dev/null; echo ok",
                           stdin=file, stdout=subprocess.DEVNULL).wait() == 0
        assert Transcript(a.dir).prompt == whole


@test
def prompt_txt_grows_until_the_program_speaks_or_nothing_more_comes():
    for rest in (b"", b"Behind the answer.\n"):
        with Ahr(AHR) as a, a.popen("run", "-q", "--entire", "--", "sh", "-c", "head -n 4; cat >/dev/null",
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            first, more = LINES[:22], LINES[22:]
            process.stdin.write(first)
            process.stdin.flush()
            wait_for(lambda: has_lines(a, 1))
            assert Transcript(a.dir).prompt == first.decode().rstrip("\n")  # it does not wait for the end
            process.stdin.write(more)
            process.stdin.flush()
            if rest:
                assert process.stdout.readline()
                process.stdin.write(rest)
            process.stdin.close()
            wait_for(lambda: Transcript(a.dir, may_be_torn=True).prompt == LINES.decode().rstrip("\n"))
            process.wait()
            kept = Transcript(a.dir).is_sound()
            assert kept.prompt == LINES.decode().rstrip("\n") and len(kept.lines) >= 5


@test
def prompt_txt_is_whole_when_the_input_ends_before_anything_is_said():
    with Ahr(AHR) as a:
        entire.make_fifo(a.dir / "gate")
        with a.popen("run", "-q", "--entire", "--", "sh", "-c", f"cat >/dev/null; cat {a.dir / 'gate'}",
                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            process.stdin.write(b"one\n")
            process.stdin.flush()
            wait_for(lambda: has_lines(a, 1))
            process.stdin.write(b"two")
            process.stdin.close()
            try:
                wait_for(lambda: Transcript(a.dir, may_be_torn=True).prompt == "one\ntwo")
            finally:
                entire.open_gate(a.dir / "gate")


@test
def context_md_has_facts_and_key_actions():
    with Ahr(AHR) as a:
        entire.agent(a, (BEGIN, said("m1", tool("t1", "Bash", command="make\n  -s *.c"), tool("t2", "Read", path="a_b")),
                         result("t1", "x"), result("t2", "y"), said("m2", tool("t3", "Task")), result("t3", "z")))
        a.ok("run", "--entire", "--", *CLAUDE)
        kept = Transcript(a.dir).is_sound()
        found = re.fullmatch(r"# Session Context\n\n- Session ID: (.+)\n- Model: (.+)\n- Started: (.+)\n\n"
                             r"## Key Actions\n\n((?:- .+\n)*)", kept.context)
        assert found, kept.context
        assert [found[1], found[2]] == [kept.id, "opus-5"]
        assert entire.STAMP.fullmatch(found[3]) and found[3] <= kept.lines[0]["timestamp"], found[3]
        assert found[4] == "- **Bash**: make -s \\*.c\n- **Read**: a_b\n- **Task**\n", found[4]
        assert not (kept.dir / "summary.txt").exists()


@test
def what_entire_has_is_not_modified():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        folder = a.dir / ".entire"
        (folder / "metadata/other").mkdir(parents=True)
        (folder / "settings.json").write_text('{"enabled":true ,\n "strategy": "manual-commit"}')
        (folder / ".gitignore").write_text("tmp/\n")
        (folder / "metadata/other/full.jsonl").write_text("mine")
        folder.chmod(0o750)
        before = Transcript(a.dir, "other", may_be_torn=True).files()
        a.ok("run", "--", *CLAUDE)  # it is there, so it is wanted
        kept = Transcript(a.dir, "2*").is_sound()
        assert {key: value for key, value in kept.files().items() if kept.id not in key} == before
        assert folder.stat().st_mode & 0o777 == 0o750


@test
def the_loop_waits_for_no_sync():
    if not shutil.which("strace"):
        raise Skip("no strace")
    with Ahr(AHR) as a:
        entire.agent(a, (BEGIN, *[line for n in range(50) for line in (
            said(f"m{n}", tool(f"t{n}", "Read", path="a")), result(f"t{n}", "x"))]))
        counts = {}
        # nothing else may trace what is traced
        env = {**a.env, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        for word in ("on", "off"):
            trace = a.dir / f"trace-{word}"
            done = subprocess.run(["strace", "-f", "-c", "-o", trace, "-e", "trace=fsync,fdatasync,sync_file_range",
                                   a.binary, "run", "-q", "--no-echo", f"--entire={word}", "--", *CLAUDE],
                                  cwd=a.dir, env=env, capture_output=True)
            if b"PTRACE_TRACEME" in done.stderr and done.returncode:
                raise Skip("strace may not trace here")
            assert done.returncode == 0, done.stderr
            rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+).*sync", trace.read_text(), re.M)
            counts[word] = sum(map(int, rows))
        assert len(Transcript(a.dir).lines) == 101
        # prompt.txt and its folder, full.jsonl at the end, context.md and its folder
        assert counts["on"] - counts["off"] <= 5, counts


@test
def jq_reads_every_line():
    if not shutil.which("jq"):
        raise Skip("no jq")
    with Ahr(AHR) as a:
        a.ok("run", "--entire", "--", AGENT, "--messages", "30", "--huge", "100000", "--secret", "--stderr-every", "4",
             "--garbage", "5")
        kept = Transcript(a.dir).is_sound()
        with open(kept.path, "rb") as file:
            done = subprocess.run(["jq", "-c", ".uuid"], stdin=file, capture_output=True, check=True)
        assert done.stdout.decode().split() == [json.dumps(line["uuid"]) for line in kept.lines]
        kept.calls_are_closed()


@test
def a_real_stream_has_its_tokens_and_files():
    if not FIXTURE.exists():
        raise Skip("the shared fixtures are not here")
    with Ahr(AHR) as a:
        a.ok("run", "--entire", "--", "cat", FIXTURE)
        kept = Transcript(a.dir).is_sound()
        assert kept.usage() == {"input_tokens": 7000, "output_tokens": 370, "cache_read_input_tokens": 8000,
                                "cache_creation_input_tokens": 300}, kept.usage()
        files = {block["input"]["file_path"] for _, block in kept.blocks("tool_use") if "file_path" in block["input"]}
        stream = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
        want = [b for line in stream if line["type"] == "assistant" for b in line["message"]["content"]
                if b["type"] == "tool_use"]
        assert files == {b["input"]["file_path"] for b in want if "file_path" in b["input"]} and files
        assert [b["id"] for _, b in kept.blocks("tool_use")] == [b["id"] for b in want]
        assert kept.context.count("\n- **") == len(want)


@test
def jq_reads_whatever_a_tool_is_called_with():
    if not shutil.which("jq"):
        raise Skip("no jq")

    def nested(levels):
        return json.loads("[" * levels + "]" * levels)

    with Ahr(AHR) as a:
        entire.agent(a, (BEGIN, said("m1", *(tool(f"t{n}", "Deep", a=nested(n)) for n in (10, 190, 199, 200, 230, 250)),
                                     tool("half", "Half", a="x\ud800y"))))
        a.ok("run", "--entire", "--", *CLAUDE)
        kept = Transcript(a.dir).is_sound()
        done = subprocess.run(["jq", "-c", ".message.content[]? | .id?"], stdin=open(kept.path, "rb"), capture_output=True)
        assert done.returncode == 0 and b"t250" in done.stdout, done
        given = {block["id"]: block["input"] for _, block in kept.blocks("tool_use")}
        assert given["t199"] == {"a": nested(199)} and given["half"] == {"a": "x\ufffdy"}, given["half"]
        assert list(given["t250"]) == ["text"] and json.loads(given["t250"]["text"]) == {"a": nested(250)}


# -- around it --

@test
def it_is_as_the_export_has_it():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        a.ok("run", "--entire", "--", *CLAUDE)
        kept = Transcript(a.dir).is_sound()
        exported = a.ok("export", "--format", "jsonl", "--no-redact", kept.id)
        assert [line["uuid"] for line in map(json.loads, exported.splitlines())] == [l["uuid"] for l in kept.lines]


@test
def it_is_wanted_by_a_folder_an_option_a_variable_or_the_config():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        config = a.dir / "home/.config/ahr/config"
        config.parent.mkdir(parents=True)

        def is_kept(*args, env=None, settings=""):
            shutil.rmtree(a.dir / ".entire/metadata", ignore_errors=True)
            config.write_text(settings)
            a.ok("run", "-q", *args, "--", *CLAUDE, env=env)
            return (a.dir / ".entire/metadata").exists()

        assert not is_kept() and not (a.dir / ".entire").exists()
        assert not is_kept("--entire", "auto") and not is_kept("--entire=off")
        assert is_kept("--entire", env={"AHR_ENTIRE": "off"})
        assert is_kept()  # from now on there is a folder
        assert not is_kept("--entire", "off")
        assert not is_kept(env={"AHR_ENTIRE": "off"}) and not is_kept(settings="run.entire = off\n")
        assert is_kept("--entire", "auto", env={"AHR_ENTIRE": "off"})
        shutil.rmtree(a.dir / ".entire")
        assert is_kept(env={"AHR_ENTIRE": "on"})
        shutil.rmtree(a.dir / ".entire")
        assert is_kept(settings="entire = on\n")
        for word in ("5", "yes"):
            assert "must be one of [on|off|auto]" in a.fails(2, "run", f"--entire={word}", "--", "true")


@test
def git_that_would_take_it_is_told_of_in_a_line():
    if not shutil.which("git"):
        raise Skip("no git")
    with Ahr(AHR) as a:
        entire.agent(a, TALK)

        def told(*args):
            said = a.run("run", *args, "--", *CLAUDE).stderr.decode()
            return [line for line in said.splitlines() if ".entire" in line]

        assert told("--entire") == []  # no work tree
        subprocess.run(["git", "init", "-q", "-b", "trunk", "."], cwd=a.dir, env=a.env, check=True)
        line, = told()
        assert "git does not ignore '.entire/metadata/'" in line
        assert len(told("-q")) == 1 and told("--entire=off") == []
        assert not (a.dir / ".gitignore").exists() and not (a.dir / ".entire/.gitignore").exists()
        ignored = a.dir / ".entire/.gitignore"
        ignored.write_text("metadata/\n")
        assert told() == [] and ignored.read_text() == "metadata/\n"
        ignored.unlink()
        shutil.rmtree(a.dir / ".entire")
        (a.dir / ".gitignore").write_text(".entire/\n")
        assert told("--entire") == []
        assert Transcript(a.dir).lines[0]["gitBranch"] == "trunk"


@test
def trouble_is_told_once_and_costs_the_agent_nothing():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        (a.dir / ".entire").write_text("a file")
        done = a.run("run", "--entire", "--name", "x", "--", *CLAUDE)
        told = [line for line in done.stderr.decode().splitlines() if ".entire" in line]
        assert done.returncode == 0 and len(told) == 2, done.stderr
        assert "cannot write" in told[0] and "the command goes on" in told[0], told
        assert re.search(r"missing in '.*': 4 lines of full.jsonl, prompt.txt, context.md; 'ahr export --format jsonl .*' "
                         "has all that was said", told[1]), told
        assert (a.dir / ".entire").read_text() == "a file"
        assert "It reads." in a.ok("log", "x").decode()


@test
def iterations_are_one_conversation():
    with Ahr(AHR) as a:
        entire.agent(a, TALK)
        a.ok("run", "--entire", "--iterations", "3", "--", *CLAUDE[:2], "part {n}", *CLAUDE[3:])
        kept = Transcript(a.dir).is_sound()
        assert len(kept.lines) == 12 and kept.prompt == "part 1"
        assert [b["text"] for role, b in kept.blocks("text") if role == "user"] == ["part 1", "part 2", "part 3"]
        assert kept.context.count("- **read_file**") == 3
        ids = [line["message"]["id"] for line in kept.lines if line["type"] == "assistant"]
        assert ids == ["m1", "m2", "m1.2", "m2.2", "m1.3", "m2.3"], ids  # no message of one is another's
        assert kept.usage()["output_tokens"] == 3 * 355


@test
def a_stream_that_comes_again_is_used_once():
    """In the lines as in the session's facts, whether its end tells the total or not."""
    one = [said(f"msg_01Unique{n:012}", text("x"), usage={"input_tokens": 500, "output_tokens": 5}) for n in range(2)]
    done = {"type": "result", "subtype": "success", "usage": {"input_tokens": 1000, "output_tokens": 90}}
    for lines, output in ((one, 10), ([*one, done], 90)):
        with Ahr(AHR) as a:
            (a.dir / "stream").write_text("".join(json.dumps(line) + "\n" for line in (BEGIN, *lines)))
            a.ok("run", "--entire", "--iterations", "2", "--", "cat", a.dir / "stream")
            kept = Transcript(a.dir).is_sound()
            used = json.loads(a.ok("show", "--json"))["usage"]
            assert (used["input_tokens"], used["output_tokens"], used["calls"]) == (1000, output, 2), used
            assert (kept.usage()["input_tokens"], kept.usage()["output_tokens"]) == (1000, output), kept.usage()
            assert len({line["message"]["id"] for line in kept.lines}) == 2


@test
def an_iteration_leaves_nothing_open_to_the_next():
    with Ahr(AHR) as a:
        entire.agent(a, (BEGIN, said("m1", tool("t1", "Read", path="a"))))
        a.ok("run", "--entire", "--iterations", "2", "--", *CLAUDE)
        kept = Transcript(a.dir).is_sound()
        assert [line["type"] for line in kept.lines] == ["user", "assistant", "user"] * 2
        assert kept.context.count("- **Read**") == 2, kept.context
        kept.calls_are_closed()
        a.ok("run", "--entire", "--iterations", "2", "--", "sh", "-c", "echo ok")
        kept, = [t for t in (Transcript(a.dir, d.name) for d in kept.dir.parent.iterdir()) if t.id != kept.id]
        assert [line["message"]["content"] for line in kept.lines] == [[text("ok")]] * 2


@test
def what_a_message_of_calls_has_used_is_told_of_it():
    def part(kind, message, **more):
        return {"type": kind, "timestamp": 1, "sessionID": "s", "part": {"messageID": message, **more}}

    def step(message, **tokens):
        return part("step_finish", message, reason="tool-calls" if message == "m1" else "stop", cost=0, tokens=tokens)

    with Ahr(AHR) as a:
        entire.agent(a, (part("tool_use", "m1", callID="t1", tool="read", state={
            "status": "completed", "input": {"path": "a"}, "output": "x"}), step("m1", input=10, output=5), "gate",
            part("text", "m2", text="Done."), step("m2", input=20, output=7)), name="opencode")
        with a.popen("run", "-q", "--entire", "--", "opencode", "run", "--format", "json", "go",
                     stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: has_lines(a, 4))
            assert Transcript(a.dir).usage()["output_tokens"] == 5
            go_on(a, process)
        kept = Transcript(a.dir).is_sound()
        told = [(line["message"]["id"], line["message"].get("usage", {}).get("output_tokens"))
                for line in kept.lines if line["type"] == "assistant"]
        assert told == [("m1", None), ("m1", 5), ("m2", 7)], told


@test
def secrets_are_masked():
    with Ahr(AHR) as a:
        secret = "AKIA" + "QWERTYUIOPASDFGH"
        entire.agent(a, (BEGIN, said("m1", text(f"It is {secret}."), tool("t1", "Bash", command=f"echo {secret}")),
                         result("t1", secret)))
        a.ok("run", "--entire", "--", *CLAUDE[:2], f"use {secret}", *CLAUDE[3:])
        kept = Transcript(a.dir).is_sound()
        assert "use " in kept.prompt and "Bash" in kept.context
        for path in kept.dir.iterdir():
            assert secret not in path.read_text(), path


@test
def plain_text_is_a_conversation_too():
    with Ahr(AHR) as a:
        a.ok("run", "--entire", "--", "printf", "one\\ntwo\\n")
        kept = Transcript(a.dir).is_sound()
        assert [b["text"] for _, b in kept.blocks("text")] == ["one", "two"]
        assert kept.prompt is None and "None.\n" in kept.context


# -- recover --

@test
def recover_does_not_make_anew_what_was_removed():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire") as process:
            wait_for(lambda: has_lines(a, 2))
            process.kill()
            process.wait()
            entire.open_gate(a.dir / "gate")
        shutil.rmtree(a.dir / ".entire")
        a.ok("recover", "--all")
        assert not (a.dir / ".entire").exists()


@test
def recover_makes_what_could_not_be_made_before():
    with Ahr(AHR) as a:
        (a.dir / ".entire").write_text("in the way")
        entire.agent(a, (*TALK[:2], "gate", *TALK[2:]))
        with a.popen("run", "-q", "--entire", "--", *CLAUDE, stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL) as process:
            seen = b""
            while b"[tool]" not in seen:
                seen += os.read(process.stdout.fileno(), 65536)
            process.kill()
            process.wait()
            entire.open_gate(a.dir / "gate")
        (a.dir / ".entire").unlink()
        a.ok("recover", "--all")
        kept = Transcript(a.dir).is_sound()
        assert len(kept.lines) == 3 and kept.prompt == "explain main.rs" and kept.context
        kept.calls_are_closed()
        kept.is_private()


@test
def recover_completes_a_prompt_that_came_in_lines():
    for options in ((), ("--agent", "claude")):  # the command line decides
        with Ahr(AHR) as a:
            entire.make_fifo(a.dir / "gate")
            with a.popen("run", "-q", "--entire", *options, "--", "sh", "-c", f"cat {a.dir / 'gate'}",
                         stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
                for count, line in enumerate(LINES.splitlines(keepends=True), 1):
                    process.stdin.write(line)
                    process.stdin.flush()
                    wait_for(lambda: has_lines(a, count))
                process.kill()
                process.wait()
                entire.open_gate(a.dir / "gate")
            assert Transcript(a.dir).prompt == "Line one of the task."
            a.ok("recover", "--all")
            assert Transcript(a.dir).is_sound().prompt == LINES.decode().rstrip("\n"), options


@test
def recover_goes_on_with_a_message_of_which_a_part_was_early():
    with Ahr(AHR) as a:
        entire.agent(a, (BEGIN, said("m1", text("Let me look.")), "gate", said("m1", tool("t1", "Read", path="a")),
                         said("m1", tool("t2", "Read", path="b")), "hold"))
        with a.popen("run", "-q", "--entire", "--", *CLAUDE, stdout=subprocess.PIPE) as process:
            wait_for(lambda: has_lines(a, 2))
            entire.open_gate(a.dir / "gate")
            seen = b""
            while seen.count(b"[tool]") < 2:
                seen += os.read(process.stdout.fileno(), 65536)
            process.kill()
            process.wait()
            entire.open_gate(a.dir / "hold")
        left = Transcript(a.dir, may_be_torn=True)
        assert left.lines[1]["message"]["content"] == [text("Let me look.")]
        a.ok("recover", "--all")
        kept = Transcript(a.dir).is_sound()
        kept.calls_are_closed()
        said_once = [b.get("text") or b.get("id") or b["tool_use_id"] for _, b in kept.blocks()]
        assert said_once == ["explain main.rs", "Let me look.", "t1", "t2", "t1", "t2"], said_once
        assert {line["message"]["id"] for line in kept.lines if line["type"] == "assistant"} == {"m1"}
        assert kept.usage()["output_tokens"] == 5


@test
def a_damaged_event_makes_no_other_one_twice():
    talk = (BEGIN, *[line for n in range(4) for line in (
        said(f"m{n}", text(f"Part {n}."), tool(f"t{n}", "Read", path="a")), result(f"t{n}", "x"))])
    for damaged in range(2, 12):
        with Ahr(AHR) as a:
            with at_the_gate(a, "--entire", lines=talk, more=()) as process:
                wait_for(lambda: has_lines(a, 9))
                process.kill()
                process.wait()
                entire.open_gate(a.dir / "gate")
            left = Transcript(a.dir)
            live, = (a.dir / "home/.local/share/ahr/live").glob("2*")
            path = live / "session.turns.jsonl"
            lines = path.read_bytes().splitlines(keepends=True)
            what = json.loads(lines[damaged])["type"]
            lines[damaged] = lines[damaged][:20] + b"\x01" + lines[damaged][21:]
            path.write_bytes(b"".join(lines))
            a.ok("recover", "--all")
            kept = Transcript(a.dir).is_sound()
            assert kept.lines[:9] == left.lines
            more = 1 if what in ("text", "tool_result") else 0  # what it began, or has answered
            assert len(kept.lines) == 9 + more, (damaged, what, kept.lines[9:])
            times = [entire.stamp(line) for line in kept.lines[:9]]
            assert times == sorted(times)


@test
def recover_completes_whatever_is_left_of_it():
    with Ahr(AHR) as a:
        with at_the_gate(a, "--entire", lines=TALK[:3], more=()) as process:
            wait_for(lambda: has_lines(a, 3))
            process.kill()
            process.wait()
            entire.open_gate(a.dir / "gate")
        folder = Transcript(a.dir, may_be_torn=True).dir
        whole = (folder / "full.jsonl").read_bytes()
        live, = (a.dir / "home/.local/share/ahr/live").glob("2*")
        turns = lines_of(live / "session.turns.jsonl", True)
        assert [turn["type"] for turn in turns if turn["type"].startswith("tool")] == ["tool_call", "tool_result"]
        torn = whole[:whole.index(b"\n") + 50]  # in the second line
        (folder / "full.jsonl").write_bytes(torn + bytes(9000))  # by power loss
        (folder / "prompt.txt").unlink()
        (folder / "prompt.txt.new").write_text("expl")
        a.ok("recover", "--all")
        kept = Transcript(a.dir).is_sound()
        assert kept.path.read_bytes() == whole
        assert kept.prompt == "explain main.rs" and kept.context
        assert sorted(os.listdir(folder)) == ["context.md", "full.jsonl", "prompt.txt"]


run()
