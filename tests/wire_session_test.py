#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wire_session_test.py -- `ahr record --wire` and `ahr run --wire`: terminal, calls and turns of one session.

usage: wire_session_test.py AHR MOCK_AGENT [--sanitized]
"""

import asyncio
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ahr_reader
from support import wired_agent
from support.processes import is_gone, kill, wait_for
from support.proxy import files_with
from support.recorder import Recorder
from support.tap import run, test
from support.upstream import Upstream, message

AHR = sys.argv[1]
AGENT = [sys.executable, wired_agent.__file__]
SSE = ("content-type", "text/event-stream")
NUMBERS = itertools.count(1)  # of messages: their ids are unique
BASES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL")


async def answers(request, reply):
    """"Re: " and what was asked last, in pieces."""
    asked = json.loads(request.body)["messages"]
    await reply.head(200, [SSE], chunked=True)
    for one in message(f"Re: {asked[-1]['content']}", next(NUMBERS), usage=(100, 20, 3, 50)):
        await reply.piece(one)
        await asyncio.sleep(0.002)
    await reply.end()


class Wired(Recorder):
    """A home, and an upstream that the environment names."""

    def __init__(self, handler=answers):
        super().__init__(AHR)
        self.up = Upstream(handler)

    def __enter__(self):
        super().__enter__()
        self.up.__enter__()
        self.env["ANTHROPIC_BASE_URL"] = self.up.url
        self.has_recorded()
        return self

    def __exit__(self, *why):
        self.up.__exit__(*why)
        super().__exit__(*why)

    def folder(self, which="sessions"):
        found = list((self.home / which).glob("[0-9]*"))
        assert len(found) == 1, found
        return found[0]

    def lines(self, name, which="sessions"):
        """What is there of it now."""
        paths = list((self.home / which).glob(f"[0-9]*/{name}"))
        return [json.loads(line) for line in paths[0].read_bytes().splitlines()] if paths else []

    def wire(self, *more):
        return json.loads(self.ok("wire", "--json", *more))

    def session(self, *more):
        return json.loads(self.ok("show", "--json", *more))

    def tap(self, host=None):
        """The proxy's pid."""
        def found():
            for pid in self.processes():
                try:
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                        if file.read() == "ahr-wire\n":
                            return pid
                except OSError:
                    pass
            return None
        return wait_for(found, "there is no proxy")



# -- who may ask --

@test
def the_secret_part_of_its_urls_is_in_nobodys_words():
    with Wired() as a:
        for command in (["record", "--wire", "--background"], ["run", "--wire"]):
            script = 'echo "$ANTHROPIC_BASE_URL" >url.new && mv url.new url; while [ ! -e go ]; do sleep 0.05; done'
            process = a.popen(*command, "--", "sh", "-c", script, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
            url = wait_for(lambda: (a.dir / "url").exists() and (a.dir / "url").read_text().strip())
            secret = url.rpartition("/")[2]
            assert len(secret) > 30, url
            words = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in a.processes()]
            assert any(b"within" in w for w in words), words
            assert not any(secret[:32].encode() in w for w in words), words
            (a.dir / "go").touch()
            process.wait(60)
            wait_for(lambda: not a.processes())
            (a.dir / "go").unlink()
            (a.dir / "url").unlink()


# -- one clock --

@test
def terminal_calls_and_turns_are_of_one_session():
    with Wired() as a:
        done = a.run("record", "--wire", "--name", "talk", "--", *AGENT, "say:before\n", "ask:first", "say:between\n",
                     "ask:second", "say:after\n")
        assert done.returncode == 0, done
        shown = a.ok("cat", "talk").replace(b"\r", b"")
        assert shown == b"before\nRe: first\nbetween\nRe: second\nafter\n", shown
        calls = a.wire("talk")
        assert [(c["status"], c["end"]) for c in calls] == [(200, "ok")] * 2, calls
        turns = a.lines("session.turns.jsonl")
        assert [(t["role"], t["text"]) for t in turns if t["type"] == "text"] == [
            ("user", "first"), ("assistant", "Re: first"), ("user", "second"), ("assistant", "Re: second")], turns
        told = a.session("talk")
        assert (told["kind"], told["model"], told["usage"]["input_tokens"], told["usage"]["output_tokens"],
                told["usage"]["cache_read_input_tokens"], told["usage"]["calls"]) == ("terminal", "m-1", 200, 40, 100, 2), told


@test
def the_places_on_the_terminal_are_exact():
    """Of a request: all that was printed before it was sent. From there on never more than was shown, and in order."""
    with Wired() as a:
        a.ok("record", "--wire", "--name", "talk", "--", *AGENT,
             *[step for n in range(8) for step in (f"say:{'x' * (n * 37)}\n<{n}>", f"ask:{n}")])
        shown = a.ok("cat", "talk")
        calls, lines = a.wire("talk"), a.lines("session.wire.jsonl")
        for n, call in enumerate(calls):
            want = shown.index(b"<%d>" % n) + len(b"<%d>" % n)
            assert call["anchor_byte"] == want, (n, call["anchor_byte"], want)
            answered = shown.index(b"Re: %d" % n) + len(b"Re: %d" % n)
            assert want <= call["end_anchor_byte"] <= answered + 2, (n, call["end_anchor_byte"], answered)
        places = [line["anchor_byte"] for line in lines]
        assert places == sorted(places) and places[-1] <= len(shown), places
        turns = a.lines("session.turns.jsonl")
        asked = [t["anchor_byte"] for t in turns if t.get("role") == "user"]
        assert asked == [c["anchor_byte"] for c in calls], (asked, [c["anchor_byte"] for c in calls])
        assert [t["anchor_byte"] for t in turns] == sorted(t["anchor_byte"] for t in turns)


@test
def the_times_are_of_the_sessions_clock():
    with Wired() as a:
        a.ok("record", "--wire", "--name", "talk", "--", *AGENT, "say:<a>", "ask:one", "say:<b>", "ask:two", "say:<c>")
        records = []
        for line in subprocess.run([sys.executable, ahr_reader.__file__, str(a.folder() / "session.ahr")], check=True,
                                   capture_output=True).stdout.decode().splitlines():
            words = line.split()
            if words[0] == "data":
                records.append((int(words[1]), int(words[2]), int(words[3])))
        shown, calls = a.ok("cat", "talk"), a.wire("talk")

        def when(text):
            """When that text was recorded."""
            at = shown.index(text)
            return next(ts for ts, off, n in records if off <= at < off + n)
        for call, before, behind in zip(calls, (b"<a>", b"<b>"), (b"<b>", b"<c>")):
            begin, end = int(call["ts_ns"]), int(call["ts_ns"]) + int(call["duration_ms"] * 1e6)
            assert when(before) <= begin <= end <= when(behind) + 5_000_000, (when(before), begin, end, when(behind))
        stamps = [int(line["ts_ns"]) for line in a.lines("session.wire.jsonl") if line["type"] in ("request", "reply")]
        told = a.session("talk")
        assert stamps == sorted(stamps) and told["started_at"] <= calls[0]["time"] <= calls[1]["time"] <= told["ended_at"]


# -- the command's environment --

@test
def the_command_alone_is_sent_to_the_proxy():
    with Wired() as a:
        for command in ("record", "run"):
            path = a.dir / f"{command}.json"
            a.ok(command, "--wire", "--", *AGENT, f"env:{path}", "ask:x",
                 env={"OPENAI_BASE_URL": a.up.url + "/openai/v1", "HTTPS_PROXY": "http://127.0.0.1:1"})
            env = json.loads(path.read_text())
            for name in BASES:
                assert env[name].startswith("http://127.0.0.1:") and a.up.url not in env[name], (name, env[name])
            assert "127.0.0.1" in env["NO_PROXY"].split(",") and "AHR_WIRE" not in env, env
            assert {k: v for k, v in a.env.items() if k not in (*BASES, "NO_PROXY", "no_proxy")}.items() <= env.items()
            path.unlink()
            a.ok(command, "--", *AGENT, f"env:{path}")  # and not without --wire
            assert json.loads(path.read_text()).get("ANTHROPIC_BASE_URL") == a.up.url


@test
def settings_may_ask_for_it():
    with Wired() as a:
        a.ok("record", "--name", "one", "--", *AGENT, "ask:x", env={"AHR_WIRE": "1"})
        assert len(a.wire("one")) == 1
        (a.dir / "home/.config/ahr").mkdir(parents=True)
        (a.dir / "home/.config/ahr/config").write_text("wire = yes\n")
        a.ok("run", "--name", "two", "--", *AGENT, "ask:x")
        assert len(a.wire("two")) == 1


@test
def an_upstream_may_be_named():
    with Wired() as a, Upstream(answers) as other:
        a.ok("record", "--wire", "--upstream", f"anthropic={other.url}/deep/", "--", *AGENT, "ask:x")
        assert [r.path for r in other.requests] == ["/deep/v1/messages"] and not a.up.requests
        for command in ("record", "run"):
            told = a.fails(2, command, "--wire", "--upstream", "anthropic=ftp://x", "--", "true")
            assert "is no http or https URL" in told, told


# -- the agent comes first --

@test
def without_the_proxys_program_the_command_runs_all_the_same():
    with Wired() as a:
        lone = a.dir / "bin/ahr"  # an ahr without its ahr-net
        lone.parent.mkdir()
        shutil.copy(a.binary, lone)
        for command in ("record", "run"):
            path = a.dir / f"{command}.json"
            done = subprocess.run([lone, command, "--wire", "--", *AGENT, f"env:{path}", "say:hello\n", "exit:7"],
                                  env=a.env, cwd=a.dir, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
            assert done.returncode == 7 and b"hello" in done.stdout, done
            assert done.stderr.count(b"what goes over the wire is not recorded") == 1, done.stderr
            assert b"ahr-net" in done.stderr, done.stderr
            assert json.loads(path.read_text())["ANTHROPIC_BASE_URL"] == a.up.url  # as if nobody had asked for it


@test
def a_proxy_that_cannot_start_is_no_reason_not_to_run():
    with Wired() as a:
        broken = a.dir / "bin/ahr"
        broken.parent.mkdir()
        shutil.copy(a.binary, broken)
        for text, words in (("#!/bin/sh\nexit 1\n", b"has ended before it served"), ("no program", b"ahr-net")):
            (a.dir / "bin/ahr-net").write_text(text)
            (a.dir / "bin/ahr-net").chmod(0o755)
            for command in ("record", "run"):
                done = subprocess.run([broken, command, "--wire", "--", *AGENT, "say:hello\n", "ask:direct"], env=a.env,
                                      cwd=a.dir, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
                assert done.returncode == 0 and b"Re: direct" in done.stdout, (text, done)
                assert words in done.stderr and done.stderr.count(b"is not recorded") == 1, (text, done.stderr)


@test
def a_proxy_that_dies_is_there_again():
    """What goes on breaks off, is told once, and the next request is served and recorded."""
    gate = {"open": False}

    async def handler(request, reply):
        asked = json.loads(request.body)["messages"][-1]["content"]
        if asked != "first":
            await answers(request, reply)
            return
        await reply.head(200, [SSE], chunked=True)
        for one in message("Never to its end")[:4]:
            await reply.piece(one)
        while not gate["open"]:
            await asyncio.sleep(0.005)
        reply.hang_up()
    for command in ("record", "run"):
        gate["open"] = False
        with Wired(handler) as a:
            process = a.start(command, "--wire", "--name", "talk", "--", *AGENT, "ask:first", "ask:second", "ask:third",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_for(lambda: sum(line["type"] == "event" for line in a.lines("session.wire.jsonl", "live")) == 4)
            os.kill(a.tap(), signal.SIGKILL)
            out, told = process.communicate(timeout=60)
            gate["open"] = True
            assert process.returncode == 0, told
            assert b"Re: second" in out and b"Re: third" in out, out
            assert told.count(b"the proxy has died, and is started again") == 1, told
            calls = a.wire("talk")
            assert [(c["call"], c["end"]) for c in calls] == [(1, "cut"), (2, "ok"), (3, "ok")], calls
            assert len(a.wire("talk", "--call", "1")["reply_events"]) == 4
            said = [t["text"] for t in a.lines("session.turns.jsonl") if t["type"] == "text" and t["role"] == "assistant" and
                    t.get("call")]  # a plain command's output is told, too
            assert said[-2:] == ["Re: second", "Re: third"] and said[0] == "Never to i", said


@test
def what_a_proxy_has_left_is_in_order_before_anybody_asks_the_next():
    """So nobody waits for it."""
    async def handler(_, reply):
        await reply.head(200, [SSE], chunked=True)
        await reply.piece(message("Never to its end")[0])
        while not gone:
            await asyncio.sleep(0.005)
        reply.hang_up()
    gone = []
    with Wired(handler) as a:
        process = a.start("record", "--wire", "--name", "talk", "--", *AGENT, "ask:first", f"wait:{a.dir}/go",
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: any(line["type"] == "event" for line in a.lines("session.wire.jsonl", "live")))
        kill(a.tap())
        wait_for(lambda: any(line["type"] == "end" for line in a.lines("session.wire.jsonl", "live")), seconds=10)
        gone.append(True)
        (a.dir / "go").touch()
        assert process.wait(60) == 0


@test
def what_is_known_of_a_session_is_known_though_its_proxy_has_died():
    """Its agent, too, which says nothing more; also where its recorder dies with the proxy."""
    for dies_too in (False, True):
        with Wired() as a:
            process = a.start("record", "--wire", "--name", "talk", "--", *AGENT, "as:claude-cli/2.0", "ask:one",
                              f"touch:{a.dir}/asked", f"wait:{a.dir}/go", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(lambda: (a.dir / "asked").exists() and [c["end"] for c in a.wire("talk")] == ["ok"])
            pid = a.tap()
            kill(pid)
            wait_for(lambda: is_gone(pid))
            for one in a.processes() if dies_too else []:
                kill(one)
            (a.dir / "go").touch()
            process.wait(60)
            wait_for(lambda: not a.processes())
            if dies_too:
                a.ok("recover", "--all")
            told = a.session("talk")
            assert (told["status"], told["agent"], told["model"]) == (
                "interrupted" if dies_too else "completed", "claude", "m-1"), (dies_too, told)
            assert told["usage"]["output_tokens"] == 20, told


def asks_once_and_waits(a, how, binary, step="ask:one"):
    """A session of that binary whose agent has asked, and ends as soon as there is a file "go"."""
    process = subprocess.Popen([binary, how, "--wire", "--name", "talk", "--", *AGENT, step, f"touch:{a.dir}/asked",
                                f"wait:{a.dir}/go"], env=a.env, cwd=a.dir, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: (a.dir / "asked").exists() and [c["end"] for c in a.wire("talk")] == ["ok"])
    return process


def lone(a, net=None):
    """An ahr in a folder of its own, and what is its ahr-net there."""
    binary = a.dir / "bin/ahr"
    binary.parent.mkdir()
    shutil.copy(a.binary, binary)
    real = Path(a.binary).with_name("ahr-net")
    (a.dir / "bin/ahr-net").write_text(net.replace("REAL", str(real)) if net else f'#!/bin/sh\nexec {real} "$@"\n')
    (a.dir / "bin/ahr-net").chmod(0o755)
    return str(binary)


@test
def what_no_proxy_could_put_in_order_is_left_to_recover_and_told():
    for how in ("record", "run"):
        with Wired() as a:
            process = asks_once_and_waits(a, how, lone(a))
            (a.dir / "bin/ahr-net").unlink()
            kill(a.tap())
            (a.dir / "go").touch()
            told = process.communicate(timeout=60)[1]
            assert process.returncode == 0, told
            assert told.count(b"not all of what went over the wire is in order yet") == 1 and b"'ahr recover " in told, told
            assert a.session("talk")["usage"] is None
            wait_for(lambda: not a.processes())  # the recorder ends behind its client
            a.ok("recover", "--all")
            found = a.session("talk")
            assert (found["status"], found["model"], found["usage"]["output_tokens"]) == ("completed", "m-1", 20), (how, found)


# The second one finds no file where the first has left one.
ASTRAY = f"""#!{sys.executable}
import os, sys
from pathlib import Path
began = Path(__file__).parent / "began"
if began.exists():
    path = Path(sys.argv[6]).with_name("session.wire.jsonl")
    path.unlink(missing_ok=True) if path.is_file() else None
    path.mkdir(exist_ok=True)
began.touch()
os.execv("REAL", sys.argv)
"""


@test
def why_nothing_could_be_put_in_order_is_in_the_log():
    with Wired() as a:
        process = asks_once_and_waits(a, "record", lone(a, ASTRAY))
        kill(a.tap())
        (a.dir / "go").touch()
        told = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and b"not all of what went over the wire is in order yet" in told, told
        log = "".join(p.read_text() for p in a.home.glob("live/[0-9]*/*log*"))
        assert "; what went over the wire is not completed" in log, log


# The second one says each two seconds that it is at work, and works for longer than one is waited for that does not.
AT_WORK = f"""#!{sys.executable}
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).resolve().parent)!r})
from support.public_ipc import with_text
began = Path(__file__).parent / "began"
if began.exists():
    for _ in range(3):
        os.write(0, with_text(98, b"it works"))
        time.sleep(2)
began.touch()
os.execv("REAL", sys.argv)
"""


@test
def a_proxy_that_says_that_it_works_is_waited_for():
    with Wired() as one, Wired() as other:
        both = [(a, how, asks_once_and_waits(a, how, lone(a, AT_WORK))) for a, how in ((one, "record"), (other, "run"))]
        for a, _, _ in both:
            kill(a.tap())
            (a.dir / "go").touch()
        for a, how, process in both:
            told = process.communicate(timeout=60)[1]
            assert process.returncode == 0 and (how == "record" or told.count(b"it works") == 1), (how, told)
            found = a.session("talk")
            assert (found["status"], found["model"], found["usage"]["output_tokens"]) == ("completed", "m-1", 20), (how, found)


@test
def a_ctrl_c_is_the_agents_and_not_the_proxys():
    with Wired() as a:
        t = a.terminal()
        client = a.on(t, "record", "--wire", "--view", "off", "--name", "talk", "--", *AGENT, "ignore:SIGINT",
                      f"touch:{a.dir}/up", f"wait:{a.dir}/go", "ask:after the signal")
        wait_for(lambda: (a.dir / "up").exists())
        t.type(b"\x03")
        (a.dir / "go").touch()
        t.wait_for("Re: after the signal")
        assert client.wait(60) == 0
        assert a.wire("talk")[0]["end"] == "ok"


# -- ahr run --

@test
def a_plain_commands_conversation_is_that_of_its_calls():
    with Wired() as a:
        a.ok("run", "--wire", "--name", "talk", "--iterations", "3", "--", *AGENT, "say:working\n", "ask:Do it")
        calls = a.wire("talk")
        assert len(calls) == 3 and all(c["anchor_byte"] is None for c in calls), calls
        turns = a.lines("session.turns.jsonl")
        assert [t["text"] for t in turns if t["type"] == "text" and t.get("call")] == ["Do it", "Re: Do it"] * 3, turns
        told = a.session("talk")
        assert told["usage"]["output_tokens"] == 60 and told["usage"]["calls"] == 3, told["usage"]


@test
def an_agents_conversation_is_told_once():
    """Its own stream has it: the calls are recorded beside it, and tokens count once."""
    stream = a_stream()
    with Wired() as a:
        script = a.dir / "claude"
        script.write_text(f"#!/bin/sh\n{sys.executable} {wired_agent.__file__} ask:hidden >/dev/null\ncat <<'EOF'\n{stream}EOF\n")
        script.chmod(0o755)
        a.ok("run", "--wire", "--name", "talk", "--", str(script), "-p", "hidden", "--output-format", "stream-json", "--verbose")
        assert len(a.wire("talk")) == 1
        turns = a.lines("session.turns.jsonl")
        assert [t["text"] for t in turns if t["type"] == "text" and t["role"] == "assistant"] == ["Re: hidden"], turns
        told = a.session("talk")
        assert (told["usage"]["input_tokens"], told["usage"]["output_tokens"], told["agent"]) == (100, 20, "claude"), told


def a_stream():
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 50}
    objects = [{"type": "system", "subtype": "init", "session_id": "s", "model": "m-1", "cwd": "."},
               {"type": "assistant", "message": {"id": "msg_010000000000000000000001", "role": "assistant", "model": "m-1",
                                                 "content": [{"type": "text", "text": "Re: hidden"}], "usage": usage}},
               {"type": "result", "subtype": "success", "num_turns": 1, "usage": usage}]
    return "".join(json.dumps(o) + "\n" for o in objects)


# -- where it is kept --

@test
def a_recording_elsewhere_has_its_calls_beside_it():
    with Wired() as a:
        a.ok("record", "--wire", "--out-file", "x.ahr", "--", *AGENT, "ask:elsewhere")
        assert {p.name for p in a.dir.glob("x.*")} >= {"x.ahr", "x.meta.json", "x.wire.jsonl", "x.turns.jsonl"}
        assert len(a.wire("x.ahr")) == 1 and not list((a.home / "sessions").glob("*"))
        assert a.run("record", "--wire", "--out-file", "x.ahr", "--", "true").returncode == 1
        a.ok("record", "--wire", "--out-file", "x.ahr", "--force", "--", *AGENT, "say:no call")
        assert not (a.dir / "x.wire.jsonl").exists(), "the calls of the recording before"


@test
def a_session_that_asks_nothing_has_no_calls():
    with Wired() as a:
        for command in ("record", "run"):
            a.ok(command, "--wire", "--name", command, "--", *AGENT, "say:nothing to ask\n")
            told = a.fails(3, "wire", command)
            assert "nothing was recorded of the wire" in told, told
            assert a.session(command)["status"] == "completed"


@test
def its_conversation_may_go_to_entire_too():
    with Wired() as a:
        (a.dir / ".entire").mkdir()
        a.ok("record", "--wire", "--name", "talk", "--", *AGENT, "ask:one", "ask:two")
        folder = a.dir / ".entire/metadata" / a.folder().name
        lines = [json.loads(line) for line in (folder / "full.jsonl").read_bytes().splitlines()]
        assert [x["type"] for x in lines] == ["user", "assistant"] * 2, lines
        assert lines[1]["message"]["usage"] == {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 3,
                                                "cache_read_input_tokens": 50}, lines[1]
        assert (folder / "prompt.txt").read_text().strip() == "one" and (folder / "context.md").exists()
        assert [x["parentUuid"] for x in lines] == [None, *(x["uuid"] for x in lines[:-1])]


@test
def its_transcript_is_cleaned_and_goes_with_it():
    """However it ended: as it should, left by its proxies, killed and recovered."""
    for how in ("ended", "left", "killed"):
        with Wired() as a:
            (a.dir / ".entire/metadata").mkdir(parents=True)
            (a.dir / ".entire/metadata/others").touch()
            (a.dir / "secret").write_text("hippopotamus")  # not among the words of its command
            process = asks_once_and_waits(a, "record", lone(a), "ask-file:secret")
            if how == "left":
                (a.dir / "bin/ahr-net").unlink()
            if how != "ended":
                kill(a.tap())
            for one in a.processes() if how == "killed" else []:
                kill(one)
            (a.dir / "go").touch()
            process.communicate(timeout=60)
            wait_for(lambda: not a.processes())
            if how != "ended":
                a.ok("recover", "--all")
            (a.dir / "secret").unlink()
            folder = a.dir / ".entire/metadata" / a.folder().name
            assert b"hippopotamus" in (folder / "full.jsonl").read_bytes() and (folder / "context.md").exists(), how
            a.ok("redact", "talk", "--text-file", "-", input=b"hippopotamus")
            assert files_with(a.dir, b"hippopotamus") == [], (how, files_with(a.dir, b"hippopotamus"))
            a.ok("delete", "--yes", "talk")
            assert [p.name for p in (a.dir / ".entire/metadata").iterdir()] == ["others"], how
            assert files_with(a.dir, folder.name.encode()) == [], (how, files_with(a.dir, folder.name.encode()))


@test
def it_is_looked_at_and_stopped_while_it_goes_on():
    with Wired() as a:
        process = a.start("record", "--wire", "--name", "talk", "--", *AGENT, "ask:now", f"touch:{a.dir}/asked",
                          f"wait:{a.dir}/never", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: (a.dir / "asked").exists())
        wait_for(lambda: [c["end"] for c in a.wire("talk")] == ["ok"])
        proxy = a.tap()
        a.ok("stop", "talk")
        process.wait(60)
        wait_for(lambda: not os.path.exists(f"/proc/{proxy}"))
        assert a.session("talk")["status"] == "aborted" and len(a.wire("talk")) == 1


run()
