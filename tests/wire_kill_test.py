#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wire_kill_test.py -- the recording proxy killed at random instants, or at each call that changes a file, alone or
within a session, and recover behind it: what a client has seen is in the record.

usage: wire_kill_test.py AHR [KILL_SHIM FAULT_SHIM] [--sanitized] [--kills N]
"""

import asyncio
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.entire import Transcript, text as block
from support.processes import command, is_gone, kill, wait_for, with_home
from support.proxy import Proxy, files_with
from support.tap import Skip, run, test
from support.upstream import Upstream, event, message
from support.wire_kept import Seen, wire_calls

AHR = sys.argv[1]
SHIM, FAULTS = ([str(Path(arg).resolve()) for arg in sys.argv if arg.endswith(".so")] + [None, None])[:2]
IS_LONG, IS_SANITIZED = bool(os.environ.get("AHR_TEST_LONG")), "--sanitized" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else \
    1000 if IS_LONG else 10 if IS_SANITIZED else 25
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)

TOKEN = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
OWN = "planted-credential-of-the-client-0123456789"
NEEDLES = [TOKEN.encode(), TOKEN[4:].encode(), TOKEN[10:24].encode(), OWN.encode(), OWN[8:30].encode()]
WORDS = "the agent reads a file and then writes it back with one line more than there was while tests run".split()


# -- what is asked and answered --

def words(draw, n):
    return " ".join(draw.choice(WORDS) for _ in range(n)) + ". "


class Plan:
    """A call: everything about it follows from its name, "SEED.CLIENT.NUMBER.KIND"."""

    KINDS = ("talk", "talk", "talk", "stream", "packed", "hidden", "plain", "json", "lines", "binary", "upload", "huge")

    def __init__(self, name):
        self.name = name
        seed, self.client, self.number, self.kind = name.split(".")
        draw = random.Random(name)
        label = name.replace(".", " ")  # some tokens have dots
        self.said = f"[{label}] " + words(draw, draw.randrange(3, 60))
        if self.kind == "hidden":
            self.said += f"It is {TOKEN} and no other one. {words(draw, 5)}"
        self.question = f"<{label}> " + words(draw, draw.randrange(2, 40))
        self.slow = draw.choice((0, 0, 0.001))
        self.pieces = getattr(self, "make_" + self.kind, self.make_stream)(draw)
        self.is_stream = self.kind in ("talk", "stream", "packed", "hidden")
        self.content_type = "text/event-stream" if self.is_stream else {
            "plain": "text/plain", "binary": "application/octet-stream", "lines": "application/x-ndjson",
            "huge": "text/plain"}.get(self.kind, "application/json")
        self.has_length = self.kind in ("json", "upload") or draw.random() < 0.2

    def make_stream(self, draw):
        """Its events."""
        number = int(self.client) * 1_000_000 + int(self.number)
        return message(self.said, number=number, pieces=draw.choice((3, 8, 30)), usage=(10 + number, 7, 3, 5))

    def make_packed(self, draw):
        pack, pieces = zlib.compressobj(wbits=31), []
        self.events = self.make_stream(draw)
        for one in self.events:
            pieces.append(pack.compress(one) + pack.flush(zlib.Z_SYNC_FLUSH))
        return [*pieces, pack.flush()]

    def make_plain(self, draw):
        return [words(draw, draw.randrange(1, 400)).encode() for _ in range(draw.randrange(1, 60))]

    def make_huge(self, draw):
        return [(words(draw, 40) * 200).encode() for _ in range(30)]

    def make_lines(self, draw):
        return [json.dumps({"done": False, "text": words(draw, 5) + "ü\n"}).encode() + b"\n" for _ in range(60)]

    def make_binary(self, draw):
        return [b"\0\xff" + draw.randbytes(draw.randrange(1, 4000)) for _ in range(40)]

    def make_json(self, draw):
        whole = json.dumps({"id": f"msg_01{int(self.client):04}{int(self.number):016}", "type": "message",
                            "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": self.said}],
                            "stop_reason": "end_turn", "usage": {"input_tokens": 4, "output_tokens": 5}}).encode()
        return [whole[i:i + 50] for i in range(0, len(whole), 50)]

    make_upload = make_json

    def body(self):
        return b"".join(self.pieces)

    def clear(self):
        """What is recorded of a stream."""
        return self.events if self.kind == "packed" else self.pieces

    def path(self):
        return "/v1/messages" if self.is_stream or self.kind in ("json", "upload") else "/v1/other"

    def ask(self, before):
        """The body of the request; before: the plans that the talk has had until now."""
        said = []
        for plan in before:
            said += [{"role": "user", "content": plan.question}, {"role": "assistant", "content": plan.said}]
        more = {"pad": words(random.Random(self.name), 100) * 800} if self.kind == "upload" else {}
        return json.dumps({"model": "m-1", "stream": self.is_stream, **more,
                           "messages": [*said, {"role": "user", "content": self.question}]}).encode()


async def serve(request, reply):
    plan = Plan(request.header("x-call"))
    headers = [("content-type", plan.content_type)]
    if plan.kind == "packed":
        headers.append(("content-encoding", "gzip"))
    if plan.has_length:
        headers.append(("content-length", str(len(plan.body()))))
    await reply.head(200, headers, chunked=not plan.has_length)
    for piece in plan.pieces:
        await reply.piece(piece)
        if plan.slow:
            await asyncio.sleep(plan.slow)
    await reply.end()


# -- who asks --

class Asked:
    """A call as its client knows it."""

    def __init__(self, plan, before):
        self.plan, self.body = plan, plan.ask(before)
        self.raw = bytearray()
        self.seen = None


class Client(threading.Thread):
    """Calls one after the other on a connection, until it breaks."""

    def __init__(self, proxy, number, kinds, seed):
        super().__init__(daemon=True)
        self.where, self.base = proxy.base()
        self.plans = [Plan(f"{seed}.{number}.{n}.{kind}") for n, kind in enumerate(kinds)]
        self.asked, self.count, self.sock = [], 0, None

    def run(self):
        host, _, port = self.where.rpartition(":")
        try:
            with socket.create_connection((host, int(port))) as self.sock:
                for plan in self.plans:
                    if not self.ask(plan):
                        break
        except OSError:
            pass

    def ask(self, plan):
        """False: there is no more."""
        talk = [a.plan for a in self.asked if a.plan.kind == "talk"] if plan.kind == "talk" else []
        asked = Asked(plan, talk)
        self.asked.append(asked)
        self.sock.sendall((f"POST {self.base}{plan.path()} HTTP/1.1\r\nHost: {self.where}\r\nX-Call: {plan.name}\r\n"
                           f"X-Api-Key: {OWN}\r\nContent-Length: {len(asked.body)}\r\n\r\n").encode() + asked.body)
        while not (asked.seen and asked.seen.is_whole):
            data = self.sock.recv(65536)
            if not data:
                return False
            asked.raw += data
            self.count += len(data)
            # it is taken apart where it may be at its end
            if not asked.seen or asked.seen.status is None or data.endswith(b"\r\n") or \
                    (asked.seen.size or 1 << 40) <= len(asked.raw):
                asked.seen = Seen(asked.raw)
        return True


def crowd(proxy, draw, seed, clients=5, calls=5):
    return [Client(proxy, number, [draw.choice(Plan.KINDS) for _ in range(calls)], seed) for number in range(clients)]


# -- what must hold --

def no_secret_is_anywhere(a):
    for needle in NEEDLES:
        found = [p for p in files_with(a.dir, needle) if Path(p).parent.name != "seen"]
        assert not found, (needle, found)


def delta_text(events):
    said = (json.loads(one.partition("data: ")[2]) for one in events)
    return "".join(e["delta"].get("text", "") for e in said if e["type"] == "content_block_delta")


MASK = "[REDACTED:github-pat]"


def masked(text):
    return text.replace(TOKEN, MASK)


def one_mask(text):
    """The first letters of a token are no secret, and of one that broke off nobody knows whose it is."""
    return re.sub(r"(?<= is )g?h?p?_?$", "", re.sub(r"g?h?p?_?\[REDACTED:[a-z-]+\]", MASK, text))


def has_events(kept, plan, whole):
    """The first `whole` events at least, each as it was; a secret in them is masked, what may be one left out."""
    want = [one.decode() for one in plan.clear()]
    assert len(kept.events) >= whole, (plan.name, len(kept.events), whole)
    if plan.kind != "hidden":
        for n, text in kept.events.items():
            may_be_torn = n == len(kept.events) - 1 and n >= whole
            is_right = text == want[n] or (may_be_torn and want[n].startswith(text)) or n in kept.held
            assert is_right, (plan.name, n, text, want[n])
        return
    try:
        said = delta_text(kept.events[n] for n in sorted(kept.events))
    except json.JSONDecodeError:  # the last one is torn
        said = delta_text(kept.events[n] for n in range(len(kept.events) - 1))
    said, shown = one_mask(said), delta_text(want[:whole])
    doubt = plan.said.index(TOKEN)
    assert masked(plan.said).startswith(said.removesuffix(MASK)), (plan.name, said)
    assert said.startswith(shown[:doubt][:-8]), (plan.name, said, shown)
    if len(shown) > doubt + len(TOKEN) + 8:
        assert said.startswith(masked(shown)[:-8]), (plan.name, said, shown)


def has_all(calls, asked):
    """What the client has seen of it is in the record, and so is what it had asked. The record's call, or None."""
    plan, seen = asked.plan, Seen(asked.raw)
    found = [c for c in calls.values() if c.headers.get("x-call") == plan.name]
    assert len(found) < 2, plan.name
    if not found:
        assert not asked.raw, (plan.name, bytes(asked.raw[:200]))
        return None
    kept = found[0]
    assert kept.headers["x-api-key"] == "[REDACTED:header]", kept.headers
    if kept.has_request:
        assert kept.request == asked.body, (plan.name, len(kept.request), len(asked.body))
    if not asked.raw:
        return kept
    assert kept.has_request and kept.status == 200, (plan.name, kept.status)
    if seen.status is None:
        return kept
    assert seen.status == 200 and plan.body().startswith(seen.body), (plan.name, seen.status, seen.body[-100:])
    if plan.is_stream:
        whole, size = 0, 0
        while whole < len(plan.clear()) and (size := size + len(plan.pieces[whole])) <= len(seen.body):
            whole += 1
        has_events(kept, plan, whole)
        return kept
    body = plan.body()
    assert body.startswith(kept.body), (plan.name, kept.body[-100:])
    held = 40 if plan.kind != "binary" else 4096  # what opens a control string in it may be behind a secret's beginning
    if len(seen.body) == len(body) and (plan.has_length or seen.is_whole):
        held = 0
    assert len(kept.body) >= len(seen.body) - held, (plan.name, len(kept.body), len(seen.body))
    return kept


def turns_are_right(folder, calls):
    """Each question once, and each answer as far as it was recorded, with its call."""
    path = folder / "session.turns.jsonl"
    turns = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    asked, said = {}, {}
    stamps = [int(t["ts_ns"]) for t in turns]
    assert stamps == sorted(stamps), stamps
    for turn in (t for t in turns if t["type"] == "text" and "call" in t):
        kept = calls[turn["call"]]
        if turn["role"] == "user":
            assert turn["text"] not in asked, ("asked twice", turn)
            asked[turn["text"]] = kept.number
        else:
            assert kept.number not in said, ("said twice", turn)
            said[kept.number] = turn
    for kept in calls.values():
        plan = Plan(kept.headers["x-call"])
        if not kept.has_request or not kept.facts.get("turns"):
            continue
        assert asked.get(plan.question) == kept.number, (plan.name, plan.question, asked.get(plan.question))
        told = said.get(kept.number)
        if not plan.is_stream:
            assert bool(told) == (kept.body == plan.body()), (plan.name, told, kept.body)
            assert not told or told["text"] == masked(plan.said).strip() or told["text"] == masked(plan.said), told
            continue
        events = [kept.events[n] for n in sorted(kept.events) if kept.events[n].endswith("\n\n")]
        text = delta_text(events)
        assert bool(told) == bool(text), (plan.name, told, text)
        if told:
            is_whole = any('"content_block_stop"' in e for e in events)
            assert bool(told.get("interrupted")) == (not is_whole), (plan.name, told)
            assert told["text"].strip() == text.strip(), (plan.name, told["text"], text)
    return turns


def transcript_is_right(a, turns):
    if not turns and not (a.dir / ".entire/metadata").exists():
        return
    kept = Transcript(a.dir).is_sound().is_in_order()
    want = [(t["role"], block(t["text"])) for t in turns if t["type"] == "text"]
    have = [(role, b) for role, b in kept.blocks("text")]
    assert have == want, (have[-2:], want[-2:])


def commands_work(a, calls, draw):
    rows = json.loads(a.ok("wire", "--json", "talk"))
    assert sorted(r["call"] for r in rows) == sorted(calls), ([r["call"] for r in rows], sorted(calls))
    for row in rows:
        assert row["end"] == calls[row["call"]].end["status"], row
    for number in draw.sample(sorted(calls), min(2, len(calls))):
        told = json.loads(a.ok("wire", "--json", "--call", number, "talk"))
        if calls[number].has_request:
            assert told["request"].encode() == calls[number].request, number
    if draw.random() < 0.3 or IS_LONG:
        json.loads(a.ok("wire", "--har", "talk"))
        a.ok("index", "--all")
        a.ok("search", "agent")
        a.ok("usage", "--json")
        a.ok("export", "talk", "--format", "md")


def is_recovered(a, proxy, clients, draw, is_entire, may_have_ended=False):
    """Before and after `ahr recover`."""
    no_secret_is_anywhere(a)
    before = wire_calls(proxy.folder("live") / "session.wire.jsonl", may_be_torn=True)
    asked = [one for c in clients for one in c.asked]
    for one in asked:
        has_all(before, one)
    if draw.random() < 0.2 and before:
        done = a.run("wire", "--json", "talk")
        assert done.returncode in (0, 4) and len(json.loads(done.stdout)) == len(before), done
    a.ok("recover", "--all")
    folder = proxy.folder()
    calls = wire_calls(folder / "session.wire.jsonl")
    for one in asked:
        has_all(calls, one)
    for kept in calls.values():
        assert kept.end, kept.number
        if kept.number not in before or not before[kept.number].end:
            assert kept.end["status"] == "cut", kept.end
    shown = json.loads(a.ok("show", "--json", "talk"))
    ends = ("interrupted", "completed") if may_have_ended else ("interrupted",)
    assert shown["status"] in ends and shown["kind"] == "wire", shown
    last = max((c.end["t_ms"] for c in calls.values()), default=0)
    assert shown["status"] == "completed" or shown["duration_ms"] == last, (shown["duration_ms"], last)
    turns = turns_are_right(folder, calls)
    if is_entire:
        transcript_is_right(a, turns)
    commands_work(a, calls, draw)
    files = {p: p.read_bytes() for p in folder.iterdir() if p.suffix == ".jsonl"}
    a.ok("recover", "--all")
    assert files == {p: p.read_bytes() for p in folder.iterdir() if p.suffix == ".jsonl"}
    no_secret_is_anywhere(a)
    return calls


def has_begun(folder):
    path = folder / "session.wire.jsonl"
    return path.exists() and path.stat().st_size > 0


# -- random instants --

def kill_one(number):
    """True: it was at work."""
    seed = f"{SEED}-{number}"
    draw = random.Random(seed)
    is_entire = draw.random() < 0.5
    with Ahr(AHR) as a, Upstream(serve) as up, Proxy(a, up.url, "--entire", "on" if is_entire else "off") as proxy:
        clients = crowd(proxy, draw, seed.replace(".", ""))
        size = sum(len(plan.body()) + 300 for c in clients for plan in c.plans)
        upto = draw.random() ** 2 * size * 1.05
        for c in clients:
            c.start()
        wait_for(lambda: sum(c.count for c in clients) >= upto or not any(c.is_alive() for c in clients))
        if draw.random() < 0.5:
            time.sleep(draw.random() * 0.003)  # an instant like any other
        was_at_work = any(c.is_alive() for c in clients)
        proxy.process.kill()
        proxy.process.wait()
        for c in clients:
            c.join(60)
            assert not c.is_alive()
        if has_begun(proxy.folder("live")):
            is_recovered(a, proxy, clients, draw, is_entire)
        return was_at_work


@test
def what_a_client_has_seen_is_kept_whenever_the_proxy_is_killed():
    print(f"# AHR_TEST_SEED={SEED}", flush=True)
    hits = number = 0
    begin = time.monotonic()
    while hits < KILLS:
        number += 1
        assert number < 4 * KILLS + 20, hits
        try:
            hits += kill_one(number)
        except BaseException:
            print(f"# trial {number}, seed {SEED}")
            raise
    print(f"# {number} trials, {hits} killed at work, {time.monotonic() - begin:.1f} s")


# -- each call that changes a file --

def small_crowd(proxy, seed):
    """The same one each time; it says little."""
    kinds = (("talk", "talk"), ("hidden", "json"), ("packed", "plain"))
    return [Client(proxy, n, each, seed) for n, each in enumerate(kinds)]


def die_at(number, env, is_entire):
    """Its exit status."""
    with Ahr(AHR) as a, Upstream(serve) as up:
        proxy = Proxy(a, up.url, "--entire", "on" if is_entire else "off",
                      env={"LD_PRELOAD": SHIM, "KILL_AT": str(number), **env})
        clients = []
        try:
            proxy.start()
        except AssertionError as why:  # it died before it served
            assert why.args[0][0] == -signal.SIGKILL, why
        else:
            clients = small_crowd(proxy, str(SEED))
            for c in clients:
                c.start()
            for c in clients:
                c.join(60)
            proxy.process.send_signal(signal.SIGTERM)
            proxy.process.wait(60)
        status = proxy.process.returncode
        proxy.__exit__()
        if status:
            assert status == -signal.SIGKILL, status
            left = [p for p in (a.dir / "home/.local/share/ahr/live").glob("[0-9]*")]
            if left and has_begun(left[0]):
                is_recovered(a, proxy, clients, random.Random(number), is_entire, may_have_ended=True)
            else:
                a.ok("recover", "--all")
        assert list((a.dir / "home/.local/share/ahr/live").glob("[0-9]*")) == []
        no_secret_is_anywhere(a)
        return status


@test
def it_is_kept_at_whichever_call_the_proxy_dies():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    stride = 1 if IS_LONG else 23
    for env in ({}, {"KILL_AFTER": "1"}):
        number = random.Random(f"{SEED}{env}").randrange(stride) + 1
        while True:
            try:
                status = die_at(number, env, number % 2)
            except BaseException:
                print(f"# killed at call {number} {env}, seed {SEED}")
                raise
            if not status:
                break
            number += stride
        assert number > 60, number
        print(f"# {number} calls")


@test
def recover_killed_at_any_call_is_ended_by_the_next():
    if not SHIM:
        raise Skip("preloading does not go with the sanitizers")
    with Ahr(AHR) as a, Upstream(serve) as up, Proxy(a, up.url, "--entire", "on") as proxy:
        clients = small_crowd(proxy, f"{SEED}")
        for c in clients:
            c.start()
        for c in clients:
            c.join(60)
        proxy.process.kill()
        proxy.process.wait()
        live = proxy.folder("live")
        # as it might have been killed a little earlier: calls without their ends, and half a line
        lines = (live / "session.wire.jsonl").read_bytes().splitlines(keepends=True)
        count = len(lines) * 2 // 3
        (live / "session.wire.jsonl").write_bytes(b"".join(lines[:count]) + lines[count][:40])
        turns = (live / "session.turns.jsonl").read_bytes().splitlines(keepends=True)
        (live / "session.turns.jsonl").write_bytes(b"".join(turns[:4]) + turns[4][:30])
        told, = (a.dir / ".entire/metadata").glob("*/full.jsonl")
        told.write_bytes(told.read_bytes().splitlines(keepends=True)[0] + b'{"type":"assis')
        saved, want = a.dir.with_name(a.dir.name + "-saved"), None
        shutil.copytree(a.dir, saved, ignore=shutil.ignore_patterns("*.sock"))
        try:
            for env in ({}, {"KILL_AFTER": "1"}):
                number = 0
                while True:
                    put_back(saved, a.dir)
                    more = {"LD_PRELOAD": SHIM, "KILL_AT": str(number), **env} if number else {}
                    done = a.run("recover", "--all", env=more)
                    assert done.returncode in (0, -signal.SIGKILL), done.stderr
                    a.ok("recover", "--all")
                    files = {p.name: p.read_bytes() for p in proxy.folder().iterdir() if p.suffix == ".jsonl"}
                    files |= {p.name: p.read_bytes() for p in (a.dir / ".entire/metadata").glob("*/*")}
                    want = want or files
                    assert files.keys() == want.keys(), (number, env, sorted(files))
                    for name, data in files.items():
                        assert data == want[name], (number, env, name, data[-500:], want[name][-500:])
                    if number and not done.returncode:
                        break
                    number += 1 if IS_LONG else 1 + number // 8
                assert number > 10, number
                print(f"# {number} calls")
            calls = wire_calls(proxy.folder() / "session.wire.jsonl")
            assert "cut" in {c.end["status"] for c in calls.values()}
            transcript_is_right(a, turns_are_right(proxy.folder(), calls))
        finally:
            shutil.rmtree(saved)


def put_back(saved, folder):
    for p in folder.iterdir():
        if p.is_dir():
            shutil.rmtree(p)
        else:
            p.unlink()
    shutil.copytree(saved, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))


# -- within a session --

def agent(seed, count):
    """Three talk to the API at the same time; a call that breaks off is asked again, as another one. What comes is
    in a file of its own for each call before anything is done with it."""
    base = os.environ["ANTHROPIC_BASE_URL"]
    where, _, path = base.removeprefix("http://").partition("/")
    host, _, port = where.rpartition(":")

    def ask(name):
        plan, raw = Plan(name), b""
        body = plan.ask([])
        try:
            with socket.create_connection((host, int(port)), timeout=60) as sock:
                fd = os.open(f"seen/{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                sock.sendall((f"POST /{path}{plan.path()} HTTP/1.1\r\nHost: {where}\r\nX-Call: {name}\r\n"
                              f"X-Api-Key: {OWN}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
                while data := sock.recv(65536):
                    os.write(fd, data)
                    raw += data
                    if Seen(raw).is_whole:
                        return True
        except OSError:
            time.sleep(0.002)  # as clients do that ask again
        return False

    def talk(client):
        draw = random.Random(f"{seed}{client}")
        for n in range(count):
            kind = draw.choice(Plan.KINDS[3:10])
            attempt = 0
            while not ask(f"{seed}.{client}.{n * 1000 + attempt}.{kind}"):
                attempt += 1
                if attempt > 500:
                    os._exit(7)
    talkers = [threading.Thread(target=talk, args=(client,)) for client in range(3)]
    for t in talkers:
        t.start()
    for t in talkers:
        t.join()
    print("all was said")


def killer(seed):
    """Asks, and when the answer begins kills the proxy and ends, at the same time."""
    where, _, path = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://").partition("/")
    host, _, port = where.rpartition(":")
    names = (f"{seed}.0.{n}.stream" for n in range(1000))
    name = next(n for n in names if Plan(n).slow and len(Plan(n).pieces) > 40)  # it takes its time
    pid = next(pid for pid in with_home(os.environ["HOME"]) if command(pid) == "ahr-wire")
    with socket.create_connection((host, int(port))) as sock:
        body = Plan(name).ask([])
        sock.sendall((f"POST /{path}/v1/messages HTTP/1.1\r\nHost: {where}\r\nX-Call: {name}\r\nX-Api-Key: {OWN}\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
        raw = b""
        while raw.count(b"content_block_delta") < 6:
            raw += sock.recv(64)
        with open(f"seen/{name}", "wb") as file:
            file.write(raw)
        kill(pid)
    os._exit(0)


class Session:
    """`ahr record --wire` or `ahr run --wire` of that agent."""

    def __init__(self, a, how, url, seed, *words):
        self.a, self.has_transcript = a, how == "record" and random.Random(seed).random() < 0.5
        (a.dir / "seen").mkdir()
        if self.has_transcript:  # then one is wanted
            (a.dir / ".entire").mkdir()
        self.env = dict(ANTHROPIC_API_KEY="none")
        # each agent is in a process group of its own: it is killed with the rest
        self.process = a.popen(how, "--name", "talk", "--wire", "--upstream", f"anthropic={url}", "--",
                               sys.executable, str(Path(__file__).resolve()), AHR, *words,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.env)

    def count(self):
        return sum(p.stat().st_size for p in (self.a.dir / "seen").iterdir())

    def pids(self, name):
        return [pid for pid in with_home(self.a.env["HOME"]) if command(pid) == name]

    def proxy(self):
        """Its pid, when it serves; None: all is over."""
        return wait_for(lambda: self.pids("ahr-wire") or (self.process.poll() is not None and [None]))[0]

    def asked(self):
        found = []
        for path in sorted((self.a.dir / "seen").iterdir()):
            one = Asked(Plan(path.name), [])
            one.raw = bytearray(path.read_bytes())
            found.append(one)
        return found

    def kill_all(self):
        self.process.kill()

        def are_gone():
            for pid in with_home(self.a.env["HOME"]):
                kill(pid)
            return not with_home(self.a.env["HOME"], with_doubtful=True)
        wait_for(are_gone)
        self.process.wait()
        self.process.stdout.close()

    def folder(self, which="sessions"):
        found = [p for p in (self.a.dir / "home/.local/share/ahr" / which).glob("[0-9]*")]
        assert len(found) == 1, found
        return found[0]

    def is_kept(self, *status):
        a = self.a
        no_secret_is_anywhere(a)
        calls = wire_calls(self.folder() / "session.wire.jsonl")
        asked = self.asked()
        for one in asked:
            has_all(calls, one)
        for kept in calls.values():
            assert kept.end, kept.number
        shown = json.loads(a.ok("show", "--json", "talk"))
        assert shown["status"] in status, shown
        turns = turns_are_right(self.folder(), calls)
        if self.has_transcript:
            transcript_is_right(a, turns)
        rows = json.loads(a.ok("wire", "--json", "talk"))
        assert len(rows) == len(calls)
        return calls, asked, shown


def answered(asked):
    """How many calls were, at the last attempt."""
    return len({(one.plan.client, int(one.plan.number) // 1000) for one in asked if Seen(one.raw).is_whole})


def usage_is_right(shown, calls):
    """What a session is said to have used is what its calls were recorded with."""
    total = {}
    for kept in calls.values():
        for name, n in kept.end.get("usage", {}).items():
            total[name] = total.get(name, 0) + n
    usage = {n: v for n, v in (shown["usage"] or {}).items() if n != "calls" and v}
    assert usage == total, (shown["usage"], total)


@test
def a_session_goes_on_when_its_proxy_is_killed():
    for number in range(KILLS // 13 + 1):
        seed = f"{SEED}w{number}"
        draw = random.Random(seed)
        how = ("record", "run")[number % 2]
        with Ahr(AHR) as a, Upstream(serve) as up:
            session = Session(a, how, up.url, seed, "--agent", seed, "6")
            try:
                kills, seen = 0, 0
                for _ in range(2):  # with the third in a row it would serve without a record
                    seen += draw.random() * 60_000
                    wait_for(lambda: session.count() >= seen or session.process.poll() is not None)
                    pid = session.proxy()
                    if pid is None:
                        break
                    kill(pid)
                    kills += 1
                    wait_for(lambda: is_gone(pid))
                said = session.process.communicate(timeout=120)[0].decode()
                assert session.process.returncode == 0 and "all was said" in said, (session.process.returncode, said)
                calls, asked, shown = session.is_kept("completed")
                assert answered(asked) == 3 * 6, answered(asked)
                cut = sum(c.end["status"] == "cut" for c in calls.values())
                assert kills or not cut, (kills, cut)
                usage_is_right(shown, calls)
            except BaseException:
                print(f"# {how}, trial {number}, seed {SEED}")
                raise
            finally:
                session.kill_all()


@test
def what_a_proxy_has_left_is_put_in_order_though_the_command_ends_with_it():
    for number in range(12 if IS_LONG else 4):
        how, seed = ("record", "run")[number % 2], f"{SEED}k{number}"
        with Ahr(AHR) as a, Upstream(serve) as up:
            session = Session(a, how, up.url, seed, "--killer", seed)
            try:
                said = session.process.communicate(timeout=120)[0].decode()
                assert session.process.returncode == 0, (session.process.returncode, said)
                calls, _, shown = session.is_kept("completed")
                assert [c.end["status"] for c in calls.values()] == ["cut"], [c.end for c in calls.values()]
                usage_is_right(shown, calls)
            except BaseException:
                print(f"# {how}, trial {number}, seed {SEED}")
                raise
            finally:
                session.kill_all()


@test
def what_an_agent_has_seen_is_kept_when_its_recorder_is_killed_with_the_proxy():
    for number in range(KILLS // 10 + 1):
        seed = f"{SEED}b{number}"
        draw = random.Random(seed)
        how = ("record", "run")[number % 2]
        with Ahr(AHR) as a, Upstream(serve) as up:
            session = Session(a, how, up.url, seed, "--agent", seed, "6")
            try:
                wanted = draw.random() * 100_000
                wait_for(lambda: session.count() > wanted or session.process.poll() is not None)
                if draw.random() < 0.3:  # the proxy alone first, and then all
                    kill(session.proxy() or session.process.pid)
                was_at_work = session.process.poll() is None
                session.kill_all()
                a.ok("recover", "--all")
                calls, _, shown = session.is_kept("interrupted", *([] if was_at_work else ["completed"]))
                usage_is_right(shown, calls)
                before = {p: p.read_bytes() for p in session.folder().iterdir() if p.is_file()}
                a.ok("recover", "--all")
                assert before == {p: p.read_bytes() for p in session.folder().iterdir() if p.is_file()}
                if session.has_transcript:
                    a.ok("delete", "--yes", "talk")
                    assert not [*(a.dir / ".entire").glob("metadata/*")]
            except BaseException:
                print(f"# {how}, trial {number}, seed {SEED}")
                raise
            finally:
                session.kill_all()


# -- a disk that fails --

def all_is_said(clients):
    """Each has got every byte of each reply."""
    for c in clients:
        c.start()
    for c in clients:
        c.join(60)
    for c in clients:
        for one in c.asked:
            seen = Seen(one.raw)
            assert seen.is_whole and seen.body == one.plan.body(), (one.plan.name, len(seen.body), len(one.plan.body()))
        assert len(c.asked) == len(c.plans), c.plans


@test
def a_disk_that_fails_at_any_call_stops_nobody_and_loses_nothing_once_it_works_again():
    if not FAULTS:
        raise Skip("preloading does not go with the sanitizers")
    failed = 0
    for at in range(1, 200, 1 if IS_LONG else 17):
        draw = random.Random(f"{SEED}{at}")
        call, code = draw.choice((("writev", 28), ("writev", 5), ("open", 28)))
        env = {"LD_PRELOAD": FAULTS, "FAULT_CALL": call, "FAULT_PATH": "session.wire", "FAULT_ERRNO": str(code),
               "FAULT_AT": str(at if call == "writev" else 1), "FAULT_COUNT": str(draw.choice((1, 2, 7, 30)))}
        try:
            with Ahr(AHR) as a, Upstream(serve) as up, Proxy(a, up.url, env=env) as proxy:
                clients = small_crowd(proxy, f"{SEED}d{at}")
                all_is_said(clients)
                said = proxy.end()
                failed += "cannot write" in said
                assert said.count("cannot write") <= 1, said
                if "did not take" in said:  # it failed until the end
                    continue
                calls = wire_calls(proxy.folder() / "session.wire.jsonl")
                for one in (one for c in clients for one in c.asked):
                    assert has_all(calls, one).end["status"] == "ok", one.plan.name
                turns_are_right(proxy.folder(), calls)
        except BaseException:
            print(f"# {env}")
            raise
    print(f"# {failed} were told of")
    assert failed


@test
def a_disk_that_is_full_is_told_of_once_and_what_is_lost_is_counted():
    with Ahr(AHR) as a, Upstream(serve) as up, Proxy(a, up.url) as proxy:
        pid, size = proxy.process.pid, (lambda: (proxy.folder("live") / "session.wire.jsonl").stat().st_size)
        most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        all_is_said([Client(proxy, 1, ["talk", "stream"], SEED)])
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size() + 1000, most[1]))  # a write is cut short there
        all_is_said([Client(proxy, 2, ["stream", "json"], SEED)])
        assert size() <= size() + 1000
        resource.prlimit(pid, resource.RLIMIT_FSIZE, most)
        all_is_said([Client(proxy, 3, ["talk", "plain"], SEED)])
        before = {line["call"] for line in proxy.lines("live")}
        assert before == set(range(1, 7)), before  # nothing is lost yet
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size() + 5000, most[1]))
        all_is_said([Client(proxy, 4, ["huge"] * 10, SEED)])  # more than waits in memory
        resource.prlimit(pid, resource.RLIMIT_FSIZE, most)
        last = Client(proxy, 5, ["talk", "talk", "json"], SEED)
        all_is_said([last])
        said = proxy.end()
        assert said.count("cannot write") == 1, said
        lost = re.search(r"the disk did not take (\d+) lines", said)
        assert lost and int(lost[1]) > 10, said
        lines = proxy.lines()  # each is whole
        kept = [line for line in lines if line["call"] > 6]
        assert len(kept) > 100
        for number, plan in enumerate(last.plans, len(before) + 11):
            told = json.loads(a.run("wire", "--json", "--call", number, "talk").stdout)  # others have no end: status 4
            assert told["reply"].encode() == plan.body() and told["request"].encode() == last.asked[number - 17].body
        done = a.run("wire", "--json", "talk")
        rows = json.loads(done.stdout)
        assert done.returncode in (0, 4) and len(rows) <= 19 and {1, 2, 3, 4, 5, 6, 17, 18, 19} <= {r["call"] for r in rows}, rows


@test
def an_agent_works_on_when_its_proxy_dies_again_and_again():
    """Three deaths in a row, and the next one serves without a record."""
    for how in ("record", "run"):
        with Ahr(AHR) as a, Upstream(serve) as up:
            session = Session(a, how, up.url, f"{SEED}c", "--agent", f"{SEED}c", "40")
            try:
                for _ in range(4):
                    pid = session.proxy()
                    if pid is None:
                        break
                    wait_for(lambda: session.count() or session.process.poll() is not None)
                    kill(pid)
                    wait_for(lambda: is_gone(pid))
                said = session.process.communicate(timeout=120)[0].decode()
                assert session.process.returncode == 0 and "all was said" in said, (session.process.returncode, said)
                no_secret_is_anywhere(a)
                calls = wire_calls(session.folder() / "session.wire.jsonl")  # as the last death has left it
                rows = json.loads(a.ok("wire", "--json", "talk"))
                told = {r["call"]: r["end"] for r in rows}
                want = {n: c.end["status"] for n, c in calls.items()}  # completed by the last one
                assert told == want, (set(told.items()) ^ set(want.items()))
                assert answered(session.asked()) == 3 * 40, answered(session.asked())
            except BaseException:
                print(f"# {how}, seed {SEED}")
                raise
            finally:
                session.kill_all()


if __name__ == "__main__":
    if "--agent" in sys.argv:
        agent(sys.argv[-2], int(sys.argv[-1]))
    elif "--killer" in sys.argv:
        killer(sys.argv[-1])
    else:
        run()
