#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wire_crowd_test.py -- a crowd of agents at one `ahr proxy`: nothing is lost or mixed, and memory stays flat.

usage: wire_crowd_test.py AHR CROWD_UPSTREAM CROWD_CLIENTS [--sanitized]

What 200 agents do in 30 minutes, as the long form has it: an agent's turn takes some 30 seconds, of which 12 are a
model's that says 50 events a second, and the others its thinking before them and tools behind them. That is 60
calls of 600 events for each: 12,000 calls, to which come some that are asked again, and 7,000,000 events. The
conversation is resent with each call, up to some 500 kB. All of it goes through as fast as the machine can.

Both sides make each byte from a seed: the clients hold what they get against it, the upstream what it is asked,
and support/crowd.py, which has made all of it once more, what was recorded.
"""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.crowd import DROPPED, PLAIN, REFUSED, Record, Script, Turns
from support.processes import is_quiet, times_slept, wait_for
from support.proxy import Proxy
from support.tap import run, test
from support.upstream import event

AHR, UPSTREAM, CLIENTS = sys.argv[1], *(str(Path(arg).resolve()) for arg in sys.argv[2:4])
IS_LONG, IS_SANITIZED = bool(os.environ.get("AHR_TEST_LONG")), "--sanitized" in sys.argv
SEED = int(os.environ.get("AHR_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)

# streams, calls of each; events of a call, on the average; bytes a user says, and turns of a talk, at most
STREAMS, CALLS, EVENTS, SPOKEN, TURNS = (
    (100, 8, 60, 2000, 5) if IS_SANITIZED else (200, 60, 600, 4000, 18) if IS_LONG else (200, 10, 100, 2000, 5))


class Crowd:
    """The upstream, a proxy in front of it, and what the clients have seen; use as a context manager."""

    def __init__(self, a, *options):
        self.a, self.options = a, options
        self.words = [str(n) for n in (SEED, EVENTS, SPOKEN, TURNS)]
        self.script = Script(SEED, EVENTS, SPOKEN, TURNS)

    def __enter__(self):
        self.upstream = subprocess.Popen([UPSTREAM, *self.words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        port = int(self.upstream.stdout.readline())
        self.proxy = Proxy(self.a, f"http://127.0.0.1:{port}", *self.options).start()
        return self

    def __exit__(self, *_):
        self.proxy.__exit__()
        self.end_upstream()

    def end_upstream(self):
        """What it found wrong with the requests."""
        if not self.upstream.stdin.closed:
            self.upstream.stdin.close()
            self.wrong = self.upstream.stdout.read().decode()
            self.upstream.stdout.close()
            assert self.upstream.wait(60) == bool(self.wrong), self.wrong
        return self.wrong

    def files(self):
        return len(os.listdir(f"/proc/{self.proxy.process.pid}/fd"))

    def come(self):
        """All of them come, ask, and go."""
        where, base = self.proxy.base()
        begin = time.monotonic()
        done = subprocess.run([CLIENTS, *self.words, where.rpartition(":")[2], base, str(STREAMS), str(CALLS),
                               str(self.proxy.process.pid)], capture_output=True, check=False)
        self.seconds = time.monotonic() - begin
        lines = done.stdout.decode().splitlines()
        assert done.returncode == 0, (done.returncode, [line for line in lines if line.startswith("wrong")][:10],
                                      done.stderr.decode())
        told = [line.split() for line in lines]
        self.memory = [tuple(map(int, words[1:])) for words in told if words[0] == "rss"]
        self.seen = {tuple(map(int, words[1:5])): tuple(map(int, words[6:])) for words in told if words[0] == "call"}


def is_flat(memory):
    """Behind a warm-up the last third of the calls takes no more than the first did, but for 10 %, or 16 MiB; in the
    short form 32 MiB: each talk leaves a body of some 12 kB as a base for those to come, until these have 64 MiB, and
    that form ends before."""
    kb = [kb for _, kb, _ in memory[len(memory) // 4:-1]]
    third = len(kb) // 3
    first, last = max(kb[:third]), max(kb[-third:])
    print(f"# memory: {first >> 10} MiB in the first third, {last >> 10} MiB in the last")
    if not IS_SANITIZED:  # which keeps what was freed
        assert last <= max(first * 1.1, first + ((16 if IS_LONG else 32) << 10)), kb


@test
def nothing_of_a_crowd_is_lost_or_mixed_and_memory_stays_flat():
    print(f"# AHR_TEST_SEED={SEED}", flush=True)
    with Ahr(AHR) as a, Crowd(a) as crowd:
        crowd.proxy.post("/v1/models", b"{}")
        files = crowd.files()
        crowd.come()
        wrong = crowd.end_upstream()
        assert not wrong, wrong[:2000]
        is_flat(crowd.memory)
        # what was kept for the next call goes with the upstream
        wait_for(lambda: crowd.proxy.post("/v1/models", b"{}").status == 502 and crowd.files() <= files,
                 lambda: f"{crowd.files()} files are open, at first {files}")
        said = crowd.proxy.end()
        assert "disk" not in said, said
        begin = time.monotonic()
        folder = crowd.proxy.folder()
        record = Record(folder / "session.wire.jsonl", crowd.script)
        record.holds(crowd.seen)
        record.knows_retries()
        turns = Turns(folder / "session.turns.jsonl", record)
        is_told(a, crowd, record, turns)
        size = sum(pieces[1] for pieces in crowd.seen.values())
        print(f"# {STREAMS} streams, {len(record.calls)} calls, {record.events} events, {size >> 20} MiB of replies in "
              f"{crowd.seconds:.1f} s; read in {time.monotonic() - begin:.1f} s")


def is_told(a, crowd, record, turns):
    """The commands say the same as the files."""
    rows = json.loads(a.ok("wire", "--json", "talk"))
    assert len(rows) == len(record.by_number)
    for row in rows:
        kept = record.by_number[row["call"]]
        if kept:
            usage = {n: v for n, v in (row["usage"] or {}).items() if v is not None}
            assert usage == kept.end.get("usage", {}), (row, kept.end)
            assert (row["status"], row["end"]) == (kept.status, kept.end["status"]), (row, kept.end)
    shown = json.loads(a.ok("show", "--json", "talk"))
    usage = {n: v for n, v in shown["usage"].items() if n != "calls"}
    assert usage == turns.usage() and shown["usage"]["calls"] == len(turns.used), (shown, turns.usage())
    for call in random.Random(SEED).sample(sorted(record.calls), 2 if IS_LONG else 8):
        kept = record.calls[call]
        done = a.run("wire", "--json", "--call", kept.number, "talk")
        assert done.returncode == 0, (call, kept.__dict__, done.stderr)
        told = json.loads(done.stdout)
        if kept.has_whole_request:
            assert told["request"].encode() == crowd.script.ask(call) and told["request_is_whole"], call
        if kept.plan.way in (PLAIN, REFUSED):
            assert told["reply"] == crowd.script.whole(call), call
        elif kept.plan.way != DROPPED and not kept.is_torn:
            make = crowd.script.event_maker(call)
            assert [e["text"] for e in told.get("reply_events", [])] == [make(n) for n in range(kept.events)], call


# -- what waits --

class Door:
    """An upstream with a thread for each connection: serve(sock). `event` is set when it closes."""

    def __enter__(self):
        self.door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.door.getsockname()[1]}"
        self.event = threading.Event()
        threading.Thread(target=self.welcome, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.event.set()
        self.door.close()

    def welcome(self):
        while True:
            try:
                sock, _ = self.door.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()


class Sink(Door):
    """It takes requests, and reads them when it is told to by the event. Each is answered with its size and sum."""

    def serve(self, sock):
        self.event.wait()
        with sock, sock.makefile("rb") as file:
            size = 0
            while (line := file.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            told = f"{size} {zlib.crc32(file.read(size))}".encode()
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(told), told))


@test
def large_requests_that_wait_take_bounded_memory_together():
    count, size = (8, 4 << 20) if IS_SANITIZED else (24, 16 << 20)
    line = f"{'words of a request, ' * 50}\n".encode()
    body = line * (size // len(line))
    with Ahr(AHR) as a, Sink() as up, Proxy(a, up.url) as proxy:
        pid, got = proxy.process.pid, []

        def ask():
            got.append(proxy.post("/v1/files", body).body)
        threads = [threading.Thread(target=ask) for _ in range(count)]
        for t in threads:
            t.start()
        wait_for(lambda: times_slept(pid) > 5 and is_quiet(pid))
        up.event.set()
        for t in threads:
            t.join()
        peak = memory_peak(pid)
        print(f"# {count * len(body) >> 20} MiB of requests, at most {peak >> 10} MiB of memory")
        # 128 MiB are kept of all, and 1 MiB of each; 64 MiB for those to come; and what it takes to write one
        assert IS_SANITIZED or peak < 380 << 10, peak
        assert set(got) == {f"{len(body)} {zlib.crc32(body)}".encode()} and len(got) == count, got
        proxy.end()
        sums = {}
        with open(proxy.folder() / "session.wire.jsonl", "rb") as file:
            for raw in file:
                told = json.loads(raw)
                if told["type"] == "request_body":
                    assert "base" in told or "text" in told, told
                    text = body if "base" in told else told["text"].encode()
                    sums[told["call"]] = zlib.crc32(text, sums.get(told["call"], 0))
        assert set(sums.values()) == {zlib.crc32(body)} and len(sums) == count, sums


# -- whose turn it is --

class Floods(Door):
    """An upstream that floods, takes floods, and says an event when the one before it has been seen."""

    def __init__(self):
        self.seen, self.taken = threading.Semaphore(0), 0

    def serve(self, sock):
        with sock, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += sock.recv(65536)
            if b"/upload " in head:
                while data := sock.recv(1 << 18):
                    self.taken += len(data)
                return
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            part = event({"type": "x", "text": "words of an event"}) * 1000
            while b"/flood " in head and not self.event.is_set():
                sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            for n in range(ROUNDS):
                one = event({"type": "x", "n": n})
                sock.sendall(b"%x\r\n%s\r\n" % (len(one), one))
                self.seen.acquire()


ROUNDS = 100


@test
def floods_keep_nobody_waiting():
    """While replies and a request flood through the proxy, events come one by one, each when the last was seen."""
    with Ahr(AHR) as a, Floods() as up, Proxy(a, up.url) as proxy:
        passed = [0, 0]

        def read_flood(number):
            with proxy.client() as c:
                c.send(proxy.request("/v1/flood", b"{}"))
                while not up.event.is_set():
                    passed[number] += len(c.sock.recv(1 << 18))

        def write_flood():
            with proxy.client() as c, contextlib.suppress(OSError):
                c.send(proxy.request("/v1/upload", method="POST", headers=[("Transfer-Encoding", "chunked")]))
                part = b"words of a request, " * 3000
                while not up.event.is_set():
                    c.send(b"%x\r\n%s\r\n" % (len(part), part))
        threads = [threading.Thread(target=read_flood, args=(n,)) for n in (0, 1)]
        threads.append(threading.Thread(target=write_flood))
        for t in threads:
            t.start()
        wait_for(lambda: min(passed) > 1 << 20 and up.taken > 1 << 20)
        before, between = sum(passed) + up.taken, []
        with proxy.client() as c:
            c.send(proxy.request("/v1/events", b"{}"))
            for n in range(ROUNDS):
                c.until(event({"type": "x", "n": n}))
                up.seen.release()
                now = sum(passed) + up.taken
                between.append(now - before)
                before = now
        up.event.set()
        for t in threads:
            t.join()
        print(f"# {sorted(between)[ROUNDS // 2] >> 10} KiB of them between two events, {sum(between) >> 20} MiB of all",
              flush=True)
        assert sum(between) > 1 << 20  # they went on meanwhile
        proxy.process.kill()  # it has more to write than anybody wants to wait for


def memory_peak(pid):
    """In KiB."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


if __name__ == "__main__":
    run()
