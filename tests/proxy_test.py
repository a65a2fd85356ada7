#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proxy_test.py -- what `ahr proxy` forwards, and what it records. usage: proxy_test.py AHR [--sanitized]"""

import asyncio
import base64
import fcntl
import gzip
import json
import random
import signal
import struct
import subprocess
import sys
import termios
import threading
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.processes import is_quiet, times_slept, wait_for
from support.proxy import Proxy, files_with
from support.tap import run, test
from support.upstream import Upstream, chat, event, message

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
SSE = ("content-type", "text/event-stream; charset=utf-8")
MESSAGES = "/v1/messages"


def peak_kb(proxy):
    """The most memory that it has had."""
    with open(f"/proc/{proxy.process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def connections_to(port):
    """Those of this machine, as the kernel counts them: one that was reset is none."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        return [line for line in file if line.split()[2].endswith(f":{port:04X}")]


def asked(text, stream=True, **more):
    return {"model": "m-1", "max_tokens": 9, "stream": stream, "messages": [{"role": "user", "content": text}], **more}


def streams(events, pause=0.0, chunked=True, headers=()):
    """A handler that streams these events."""
    async def handler(request, reply):
        body = b"".join(events)
        more = [] if chunked else [("content-length", str(len(body)))]
        await reply.head(200, [SSE, *headers, *more], chunked=chunked)
        for one in events:
            await reply.piece(one)
            await asyncio.sleep(pause)
        await reply.end()
    return handler


def answers(status, body, kind="application/json", headers=()):
    async def handler(request, reply):
        await reply.whole(status, body, kind, headers)
    return handler


def recorded_reply(call):
    if "reply_base64" in call:
        return base64.b64decode(call["reply_base64"])
    return call["reply"].encode()


# -- streams --

@test
def a_stream_comes_back_byte_for_byte_and_is_recorded_event_by_event():
    events = [b": hello\n\n", *message("Hello, wörld — said in pieces."), b"event: odd\ndata: {\ndata: 1}\n\n",
              b"data: [DONE]\r\n\r\n", b"id: 7\nretry: 10\n\n"]
    with Ahr(AHR) as a, Upstream(streams(events, 0.002)) as up, Proxy(a, up.url) as proxy:
        got = proxy.post(MESSAGES, asked("Say it"))
        assert (got.status, got.body, got.is_whole) == (200, b"".join(events), True), got.__dict__
        assert got.header("content-type") == SSE[1] and got.framing == "chunked", got.headers
        proxy.end()
        call = proxy.call(1)
        assert call["reply"].encode() == b"".join(events), call["reply"]
        assert [e["text"].encode() for e in call["reply_events"]] == events, call["reply_events"]
        stamps = [int(e["ts_ns"]) for e in call["reply_events"]]
        assert stamps == sorted(stamps) and stamps[-1] - stamps[0] > 2_000_000 * (len(events) - 2), stamps
        assert json.loads(call["request"]) == asked("Say it") and call["request_is_whole"]
        assert call["status"] == 200 and call["end"] == "ok" and call["model"] == "m-1", call
        assert call["usage"] == {"input_tokens": 10, "output_tokens": 7, "cache_creation_input_tokens": 3,
                                 "cache_read_input_tokens": 5}, call["usage"]
        assert 0 < call["first_byte_ms"] <= call["first_token_ms"] <= call["duration_ms"], call
        turns = proxy.turns()
        assert [(t["role"], t["text"]) for t in turns if t["type"] == "text"] == [
            ("user", "Say it"), ("assistant", "Hello, wörld — said in pieces.")], turns


@test
def events_are_shown_when_they_come_and_not_before_they_are_on_disk():
    events = message("one two three")

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in events:
            await reply.piece(one)
            while up.allowed <= events.index(one):
                await asyncio.sleep(0.001)
        await reply.end()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        up.allowed = 0
        with proxy.client() as c:
            c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
            assert c.head()[0] == 200
            for number, one in enumerate(events):
                assert c.until(b"\r\n") == b"%x" % len(one)
                assert c.exactly(len(one) + 2) == one + b"\r\n"  # the next is not even sent yet
                told = [line for line in proxy.lines("live") if line["type"] == "event"]
                assert [t["text"].encode() for t in told] == events[:number + 1], (number, told)
                up.allowed = number + 1
            assert c.until(b"\r\n") == b"0"


@test
def a_body_that_is_no_stream_is_on_disk_too_before_it_is_shown():
    said = json.dumps({"id": "msg_1", "content": [{"type": "text", "text": "One line.\nAnd \"another\", ü."}], "n": 1})
    bodies = {"application/json": said.encode(), "application/x-ndjson": b'{"done":false,"text":"a b"}\n' * 3,
              "text/plain": "Words, and nothing else: ü. ".encode() * 3}

    allowed = {}

    async def handler(request, reply):
        kind, framing = request.header("x-kind"), request.header("x-framing")
        body = bodies[kind]
        more = [("content-length", str(len(body)))] if framing == "length" else []
        await reply.head(200, [("content-type", kind), *more], chunked=framing == "chunked")
        for n in range(0, len(body), 7):
            await reply.piece(body[n:n + 7])
            while allowed.get((kind, framing), -1) <= n:
                await asyncio.sleep(0.001)
        await reply.end()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        asked_kinds = [(kind, framing) for kind in bodies for framing in ("length", "chunked")]
        for number, (kind, framing) in enumerate(asked_kinds, 1):
            body = bodies[kind]
            with proxy.client() as c:
                c.send(proxy.request("/v1/x", b"{}", headers=[("X-Kind", kind), ("X-Framing", framing)]))
                c.head()
                for n in range(0, len(body), 7):
                    part = body[n:n + 7]
                    if framing == "chunked":
                        assert c.until(b"\r\n") == b"%x" % len(part)
                    assert c.exactly(len(part)) == part and (framing == "length" or c.exactly(2) == b"\r\n")
                    told = [line for line in proxy.lines("live") if line["type"] == "body" and line["call"] == number]
                    kept = "".join(line["text"] for line in told).encode()
                    # the letters of a word may be the first of a secret
                    assert body.startswith(kept) and len(kept) > n + 7 - 8, (kind, framing, n, kept)
                    is_last = framing == "length" and n + 7 >= len(body)
                    assert told[-1].get("last", False) == is_last and (kept == body or not is_last), (kind, told)
                    allowed[kind, framing] = n + 1
                if framing == "chunked":
                    assert c.until(b"\r\n") == b"0"
        proxy.wait_calls(len(asked_kinds))
        proxy.end()
        for number, (kind, _) in enumerate(asked_kinds, 1):
            call = proxy.call(number)
            assert call["reply"].encode() == bodies[kind] and call["reply_is_whole"], (kind, call)


@test
def other_framings_and_old_clients_get_the_same_bytes():
    events = message("The same, whatever the framing.")
    body = b"".join(events)

    async def handler(request, reply):
        way = request.header("x-way")
        if way == "chunked":
            await streams(events)(request, reply)
        elif way == "length":
            await streams(events, chunked=False)(request, reply)
        else:
            await reply.head(200, [SSE], version="HTTP/1.0")
            await reply.raw(body)
            reply.hang_up()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for version in ("1.1", "1.0"):
            for way in ("chunked", "length", "close"):
                got = proxy.post(MESSAGES, asked(way), headers=[("X-Way", way)], version=version)
                assert (got.status, got.body, got.is_whole) == (200, body, True), (version, way, got.__dict__)
                framing = {"length": "length"}.get(way, "chunked" if version == "1.1" else "close")
                assert got.framing == framing, (version, way, got.framing)
        proxy.end()
        for number in range(1, 7):
            assert proxy.call(number)["reply"].encode() == body, number


def encoders():
    def brotli(data):
        return subprocess.run(["brotli", "-c"], input=data, capture_output=True, check=True).stdout

    def zstd(data):
        return subprocess.run(["zstd", "-c", "-q"], input=data, capture_output=True, check=True).stdout
    return {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli, "zstd": zstd}


@test
def compressed_replies_are_passed_on_as_they_are_and_recorded_decoded():
    events = message("Packed on its way. " * 50)
    whole = json.dumps({"id": "msg_01whole0000000000000", "type": "message", "role": "assistant", "model": "m-1",
                        "content": [{"type": "text", "text": "In one piece."}], "stop_reason": "end_turn",
                        "usage": {"input_tokens": 4, "output_tokens": 5}}).encode()
    packed = {(name, kind): pack(data) for name, pack in encoders().items()
              for kind, data in (("stream", b"".join(events)), ("whole", whole))}

    async def handler(request, reply):
        data = packed[request.header("x-pack"), request.header("x-kind")]
        kind = SSE[1] if request.header("x-kind") == "stream" else "application/json"
        await reply.whole(200, data, kind, [("content-encoding", request.header("x-pack"))])
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for (name, kind), data in packed.items():
            got = proxy.post(MESSAGES, asked("x"), headers=[("X-Pack", name), ("X-Kind", kind),
                                                            ("Accept-Encoding", "gzip, br")])
            assert (got.body, got.header("content-encoding")) == (data, name), (name, kind)
        assert {r.header("accept-encoding") for r in up.requests} == {"gzip, br"}
        proxy.end()
        for number, (name, kind) in enumerate(packed, 1):
            call = proxy.call(number)
            want = b"".join(events) if kind == "stream" else whole
            assert call["reply"].encode() == want, (name, kind)
            assert call["usage"]["output_tokens"] == (7 if kind == "stream" else 5), call
            if kind == "stream":
                assert [e["text"].encode() for e in call["reply_events"]] == events


@test
def a_stream_that_is_packed_and_flushed_comes_event_by_event():
    events = message("flushed")

    async def handler(request, reply):
        await reply.head(200, [SSE, ("content-encoding", "gzip")], chunked=True)
        pack = zlib.compressobj(wbits=31)
        for one in events:
            await reply.piece(pack.compress(one) + pack.flush(zlib.Z_SYNC_FLUSH))
            while len([1 for line in proxy.lines("live") if line["type"] == "event"]) <= events.index(one):
                await asyncio.sleep(0.001)  # it is recorded before anything else comes
        await reply.piece(pack.flush())
        await reply.end()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        got = proxy.post(MESSAGES, asked("x"))
        assert gzip.decompress(got.body) == b"".join(events)


# -- errors --

@test
def errors_of_the_api_are_passed_on_and_retries_known():
    replies = [(429, b'{"type":"error","error":{"type":"rate_limit_error","message":"slower"}}'),
               (529, b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'),
               (200, b"".join(message("At last.")))]

    async def handler(request, reply):
        status, body = replies[len(up.requests) - 1]
        kind = SSE[1] if status == 200 else "application/json"
        await reply.whole(status, body, kind, [("retry-after", "1"), ("request-id", "req_1")])
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for status, body in replies:
            got = proxy.post(MESSAGES, asked("Try"))
            assert (got.status, got.body, got.header("retry-after")) == (status, body, "1"), got.__dict__
        proxy.end()
        calls = proxy.calls()
        assert [c["status"] for c in calls] == [429, 529, 200] and [c["end"] for c in calls] == ["ok"] * 3, calls
        assert [c["retry_of"] for c in calls] == [None, 1, 2], calls
        turns = proxy.turns()
        assert [t["text"] for t in turns if t["type"] == "error"] == ["slower", "busy"], turns
        assert [t["text"] for t in turns if t["type"] == "text"] == ["Try", "At last."], turns


@test
def a_stream_that_breaks_off_breaks_off_for_the_client_too():
    events = message("This will never be said to its end.")
    part = events[:5]

    async def handler(request, reply):
        way = request.header("x-way")
        if way == "length":
            await reply.head(200, [SSE, ("content-length", "100000")])
        else:
            await reply.head(200, [SSE], chunked=way != "close")
        for one in part:
            await reply.piece(one)
        if way == "error":
            await reply.piece(event({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "error"))
            await reply.end()
            return
        await asyncio.sleep(0.02)
        if way == "reset":
            reply.reset()
        reply.hang_up()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        ways = ["chunked", "length", "reset", "error"]
        for way in ways:
            got = proxy.post(MESSAGES, asked(way), headers=[("X-Way", way)])
            assert got.body.startswith(b"".join(part)) and got.is_whole == (way == "error"), (way, got.__dict__)
        # an old client knows the end by the end of the connection: it must not look like one
        got = proxy.post(MESSAGES, asked("old"), headers=[("X-Way", "chunked")], version="1.0")
        assert got.body == b"".join(part) and not got.is_whole, got.__dict__
        proxy.end()
        for number, way in enumerate([*ways, "old"], 1):
            call = proxy.call(number)
            assert call["reply"].encode().startswith(b"".join(part)), way
            assert call["end"] == ("ok" if way == "error" else "error"), (way, call["end"])
            assert (call["error"] or "").startswith("the upstream has broken off") == (way != "error"), call["error"]
        texts = [t for t in proxy.turns() if t["type"] == "text" and t["role"] == "assistant"]
        assert len(texts) == 5 and all(t.get("interrupted") for t in texts), texts
        assert {t["text"] for t in texts} == {"This will never"}, texts


@test
def what_came_before_an_upstream_broke_off_is_not_lost():
    """It has sent all and reset the connection before the proxy looks again."""
    events = [event({"type": "x", "n": n, "pad": "p" * 1000}) for n in range(60)]

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        await reply.piece(events[0])
        while not up.goes_on:
            await asyncio.sleep(0.001)
        for one in events[1:]:
            await reply.piece(one)
        sock = reply.writer.get_extra_info("socket")
        while reply.writer.transport.get_write_buffer_size() or struct.unpack(
                "i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0]:
            await asyncio.sleep(0.001)
        reply.reset()
        up.has_reset = True
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        up.goes_on = up.has_reset = False
        c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
        status, headers = c.head()
        while events[0] not in c.buffer:
            assert c.more()
        proxy.process.send_signal(signal.SIGSTOP)
        up.goes_on = True
        wait_for(lambda: up.has_reset and not connections_to(up.port))
        proxy.process.send_signal(signal.SIGCONT)
        body, _, is_whole = c.body(status, headers)
        assert not is_whole and body == b"".join(events), (len(body), len(b"".join(events)))
        proxy.wait_calls(1)
        proxy.end()
        assert [e["text"].encode() for e in proxy.call(1)["reply_events"]] == events


@test
def an_upstream_that_is_not_there_is_told_in_a_way_that_clients_show():
    with Ahr(AHR) as a, Proxy(a, "http://127.0.0.1:1") as proxy:
        got = proxy.post(MESSAGES, asked("x"))
        told = json.loads(got.body)
        assert got.status == 502 and told["type"] == "error" and told["error"]["type"] == "upstream_unreachable", told
        assert "cannot reach the upstream" in told["error"]["message"], told
        proxy.end()
        call = proxy.call(1)
        assert call["status"] is None and call["end"] == "error" and "cannot reach" in call["error"], call
        assert json.loads(call["request"]) == asked("x")


# -- bodies of all kinds --

@test
def requests_reach_the_upstream_as_they_were():
    bodies = [b"", b"x" * 70000, bytes(range(256)) * 40, json.dumps(asked("ü\u2028\\\"")).encode()]
    headers = [("X-Odd", "a  b"), ("x-EMPTY", ""), ("User-Agent", "sdk/1"), ("X-Twice", "1"), ("X-Twice", "2"),
               ("Content-Type", "application/octet-stream"), ("Connection", "keep-alive"), ("TE", "trailers"),
               ("Connection", "x-hop, Content-Length"), ("X-Hop", "gone")]
    with Ahr(AHR) as a, Upstream(answers(200, b"{}")) as up, Proxy(a, up.url + "/base/") as proxy:
        for body in bodies:
            for chunked in (False, True):
                up.requests.clear()
                got = proxy.post("/v1/x?q=%41&r=a/../b", body, headers=headers, chunked=chunked)
                assert got.status == 200, got.__dict__
                request = up.requests[0]
                assert (request.path, request.body) == ("/base/v1/x?q=%41&r=a/../b", body), request.path
                told = [(n, v) for n, v in request.headers if n.lower() not in ("host", "content-length",
                                                                               "transfer-encoding")]
                assert told == [h for h in headers if h[0] not in ("Connection", "X-Hop", "TE")], told
                assert request.header("host") == f"127.0.0.1:{up.port}", request.headers
        proxy.end()
        for number, body in enumerate([b for b in bodies for _ in range(2)], 1):
            call = proxy.call(number)
            got = base64.b64decode(call["request_base64"]) if "request_base64" in call else call["request"].encode()
            assert got == body, (number, len(got), len(body))


@test
def methods_and_replies_without_a_body_are_passed_on():
    async def handler(request, reply):
        if request.method == "HEAD":
            await reply.head(200, [("content-length", "1234"), ("x-a", "b")])
        elif request.method == "DELETE":
            await reply.head(204, [("x-a", "b")])
        else:
            await reply.whole(200, request.method.encode(), "text/plain", [("x-a", "b")])
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for method, status, body in (("GET", 200, b"GET"), ("HEAD", 200, b""), ("DELETE", 204, b""),
                                     ("PUT", 200, b"PUT"), ("PATCH", 200, b"PATCH"), ("OPTIONS", 200, b"OPTIONS")):
            got = proxy.ask("/v1/models", b"q" if method in ("PUT", "PATCH") else None, method=method)
            assert (got.status, got.body, got.header("x-a")) == (status, body, "b"), (method, got.__dict__)
            assert up.requests[-1].method == method
        assert [r.body for r in up.requests] == [b"", b"", b"", b"q", b"q", b""]


@test
def a_client_that_waits_for_100_continue_gets_it():
    body = json.dumps(asked("after the go")).encode()
    with Ahr(AHR) as a, Upstream(answers(200, b"{}")) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        whole = proxy.request(MESSAGES, body, headers=[("Expect", "100-continue")])
        c.send(whole[:-len(body)])
        assert c.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue"
        c.send(body)
        assert c.reply().status == 200 and up.requests[0].body == body
        assert up.requests[0].header("expect") is None


@test
def connections_are_kept_on_both_sides_and_requests_may_come_ahead():
    with Ahr(AHR) as a, Upstream(answers(200, b'{"n":1}')) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        one = proxy.request(MESSAGES, b"{}")
        for _ in range(5):
            c.send(one)
            assert c.reply().status == 200
        c.send(one * 4)
        assert [c.reply().status for _ in range(4)] == [200] * 4
        assert len(up.requests) == 9 and up.connections == 1, (len(up.requests), up.connections)
        c.send(proxy.request(MESSAGES, b"{}", headers=[("Connection", "close")]))
        assert c.reply().header("connection") == "close" and not c.more()


@test
def a_kept_connection_that_has_gone_is_made_anew():
    """However the upstream has let go of it: the request is sent again, whole, and the client does not notice."""
    async def handler(request, reply):
        if reply.writer in seen:  # the second one on this connection
            if request.header("x-way") == "reset":
                reply.reset()
            reply.hang_up()
            return
        seen.add(reply.writer)
        await reply.whole(200, b'{"n":%d}' % len(request.body))
    bodies = [b"{}", json.dumps(asked("again " * 20000)).encode()]
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        seen = set()
        for way in ("reset", "closed"):
            for body in bodies * 3:
                got = proxy.post(MESSAGES, body, headers=[("X-Way", way)])
                assert got.body == b'{"n":%d}' % len(body), (way, got.__dict__)
        assert up.connections > len(bodies) * 3, up.connections
        assert all(r.body in bodies for r in up.requests)
        proxy.end()
        assert [c["end"] for c in proxy.calls()] == ["ok"] * 12


@test
def a_hundred_megabytes_pass_and_memory_stays_where_it_was():
    size = (20 if IS_SANITIZED else 100) << 20
    piece = random.Random(1).randbytes(1 << 16).hex().encode()

    async def handler(request, reply):
        await reply.head(200, [("content-type", "text/plain"), ("content-length", str(size))])
        sent = 0
        while sent < size:
            n = min(len(piece), size - sent)
            await reply.raw(piece[:n])
            sent += n
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        c.send(proxy.request("/v1/files/1", method="GET"))
        status, headers = c.head()
        got = 0
        while got < size:
            if not c.buffer:
                assert c.more()
            n = len(c.buffer)
            for at in range(0, n, 4096):  # each byte is the right one
                begin = (got + at) % len(piece)
                part = c.buffer[at:at + 4096]
                want = (piece + piece[:4096])[begin:begin + len(part)]
                assert part == want, (got, at)
            got += n
            c.buffer = b""
        assert IS_SANITIZED or peak_kb(proxy) < 48 << 10, peak_kb(proxy)
        proxy.end()
        body = b"".join(line["text"].encode() for line in proxy.lines() if line["type"] == "body")
        assert len(body) == size and body[:1000] == piece[:1000] and body[-10:] == (piece * 2)[:size % len(piece) + len(piece)][-10:]


@test
def a_large_request_goes_up_whole_and_is_recorded():
    size = 40 << 20  # more than is kept in memory
    body = random.Random(2).randbytes(1 << 15).hex().encode() * (size >> 16)
    with Ahr(AHR) as a, Upstream(answers(200, b"{}")) as up, Proxy(a, up.url) as proxy:
        for chunked in (False, True):
            up.requests.clear()
            with proxy.client() as c:
                c.send(proxy.request("/v1/files", body if not chunked else body[:100], chunked=chunked)
                       if not chunked else
                       proxy.request("/v1/files", method="POST", headers=[("Transfer-Encoding", "chunked")]) +
                       b"".join(b"%x\r\n%s\r\n" % (1 << 16, body[i:i + (1 << 16)])
                                for i in range(0, len(body), 1 << 16)) + b"0\r\n\r\n")
                assert c.reply().status == 200
            assert up.requests[0].body == body, len(up.requests[0].body)
        proxy.end()
        for number in (1, 2):
            kept = b"".join(line["text"].encode() for line in proxy.lines()
                            if line["type"] == "request_body" and line["call"] == number)
            assert kept == body, (number, len(kept))


@test
def a_request_that_is_answered_early_is_recorded_as_far_as_it_came():
    body = b"what is said early, and what is said late; " * 3000
    early, has_come = 10000, threading.Event()

    async def handler(request, reply):
        await reply.reader.readexactly(early)
        await reply.head(200, [("content-length", "2"), ("connection", "content-length")])
        if request.path.endswith("whole"):
            await reply.reader.readexactly(len(body) - early)
            await reply.raw(b"{}")
        else:
            await reply.reader.readexactly(len(body) - 500 - early)
            has_come.set()
            await reply.reader.read()
    with Ahr(AHR) as a, Upstream(handler, is_early=True) as up, Proxy(a, up.url) as proxy:
        for number, path in enumerate(("/v1/whole", "/v1/left"), 1):
            with proxy.client() as c:
                head = proxy.request(path, body)[:-len(body)]
                c.send(head + body[:early])
                status, headers = c.head()
                assert status == 200 and ("content-length", "2") in headers, headers
                c.send(body[early:] if number == 1 else body[early:-500])
                assert c.exactly(2) == b"{}" if number == 1 else has_come.wait(60)
            proxy.wait_calls(number)
        proxy.end()
        kept = [b"".join(line["text"].encode() for line in proxy.lines()
                         if line["type"] == "request_body" and line["call"] == n) for n in (1, 2)]
        assert kept == [body, body[:-500]], [len(k) for k in kept]
        assert [proxy.call(n)["request"].encode() for n in (1, 2)] == kept


@test
def a_client_that_leaves_amid_a_flood_leaves_a_proxy_at_rest():
    async def handler(_, reply):
        await reply.head(200, [("content-type", "application/octet-stream")])
        while True:
            await reply.raw(bytes(1 << 20))
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for _ in range(4):
            with proxy.client() as c:
                c.send(proxy.request("/v1/x", b"{}"))
                got = 0
                while got < 8 << 20:
                    got += len(c.sock.recv(1 << 20))
            wait_for(lambda: is_quiet(proxy.process.pid))
        proxy.end()


@test
def a_client_that_reads_slowly_costs_no_memory_and_loses_nothing():
    count = 6000
    events = [event({"type": "x", "n": n, "pad": "p" * 8000}) for n in range(count)]
    body = b"".join(events)
    with Ahr(AHR) as a, Upstream(streams(events)) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        c.send(proxy.request(MESSAGES, json.dumps(asked("slowly")).encode()))
        assert c.head()[0] == 200
        # as long as nothing is read, not more is taken from the upstream than fits between
        wait_for(lambda: times_slept(proxy.process.pid) > 5 and len(proxy.lines("live")) > 10 and
                 is_quiet(proxy.process.pid))
        assert len(proxy.lines("live")) < count * 0.9 and peak_kb(proxy) < (256 << 10 if IS_SANITIZED else 48 << 10)
        assert c.chunks()[0] == body
        proxy.end()
        assert [e["text"].encode() for e in proxy.call(1)["reply_events"]] == events


@test
def a_client_that_goes_away_cancels_its_call():
    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        while True:
            await reply.piece(event({"type": "ping"}))
            await asyncio.sleep(0.01)
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        with proxy.client() as c:
            c.send(proxy.request(MESSAGES, json.dumps(asked("forever")).encode()))
            c.head()
            c.exactly(200)
        wait_for(lambda: up.gone, "the upstream's connection is still open")
        proxy.wait_calls(1)
        proxy.end()
        call = proxy.call(1)
        assert call["end"] == "aborted" and call["events"] > 0, call


@test
def a_client_that_goes_away_when_all_is_said_has_all():
    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in (chat if "chat" in request.path else message)("All of it."):
            await reply.piece(one)
        while True:  # the end of the stream is late
            await asyncio.sleep(0.01)
            await reply.piece(b": and nothing more\n\n")
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for path, last in ((MESSAGES, b"message_stop"), ("/v1/chat/completions", b"[DONE]")):
            with proxy.client() as c:
                c.send(proxy.request(path, json.dumps(asked("x")).encode()))
                c.until(last)
        proxy.wait_calls(2)
        proxy.end()
        assert [c["end"] for c in proxy.calls()] == ["ok", "ok"], proxy.calls()
        with Proxy(a, None, "--replay", "talk", session=None) as cassette:
            got = cassette.post(MESSAGES, asked("x"))
            assert got.is_whole and got.body.startswith(b"".join(message("All of it."))), got.__dict__


@test
def a_body_that_breaks_off_is_nobody_elses():
    with Ahr(AHR) as a, Upstream(answers(200, b"{}")) as up, Proxy(a, up.url) as proxy:
        with proxy.client() as c:
            c.send(proxy.request(MESSAGES, b"x" * 1000)[:-500])
        proxy.wait_calls(1)
        assert proxy.post(MESSAGES, b"{}").status == 200
        proxy.end()
        calls = proxy.calls()
        assert [c["end"] for c in calls] == ["aborted", "ok"], calls


# -- secrets --

@test
def credentials_are_in_no_file():
    planted = {"authorization": "Bearer planted-credential-AAAA1111", "x-api-key": "planted-credential-BBBB2222",
               "api-key": "planted-credential-CCCC3333", "cookie": "s=planted-credential-DDDD4444; t=1",
               "x-goog-api-key": "planted-credential-EEEE5555", "proxy-authorization": "Basic planted-credential-FFFF6666",
               "x-session-token": "planted-credential-GGGG7777"}
    echo = " ".join(planted.values())

    async def handler(request, reply):
        if request.header("x-way") == "stream":  # said again, a few letters an event
            await streams(message(f"Your key is {echo} and that is wrong.", pieces=3),
                          headers=[("set-cookie", "id=planted-credential-IIII9999; Path=/")])(request, reply)
        else:
            await reply.whole(401, json.dumps({"error": {"message": f"invalid: {echo} {request.path}"}}).encode())
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        path = MESSAGES + "?key=planted-credential-HHHH8888&beta=true"
        for way in ("body", "stream"):
            got = proxy.post(path, asked("my key is planted-credential-BBBB2222"),
                             headers=[*planted.items(), ("X-Way", way)])
            assert b"planted-credential-AAAA1111" in got.body or way == "stream", got.body
            request = up.requests[-1]
            assert all(request.header(n) == v for n, v in planted.items()) and "HHHH8888" in request.path
        proxy.end()
        call = proxy.call(1)
        assert call["url"] == MESSAGES + "?key=[REDACTED:query]&beta=true", call["url"]
        assert dict(call["request_headers"])["x-api-key"] == "[REDACTED:header]", call["request_headers"]
        assert files_with(a.dir / "home", b"planted-credential") == []
        said = proxy.call(2)["reply"]
        assert "Your key" not in said and "key" in json.dumps(proxy.turns())  # in pieces, and nothing else is lost
        texts = [t["text"] for t in proxy.turns() if t["type"] == "text" and t["role"] == "assistant"]
        assert texts[0].startswith("Your key is") and texts[0].endswith("and that is wrong."), texts


@test
def a_secret_that_a_model_says_in_pieces_is_masked():
    secret = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
    with Ahr(AHR) as a, Upstream(streams(message(f"The token: {secret}. Keep it.", pieces=4))) as up, \
            Proxy(a, up.url) as proxy:
        got = proxy.post(MESSAGES, asked("Which token?"))
        assert b"ghp_" not in got.body and got.is_whole  # it was cut for the client, too: nothing is masked there
        proxy.end()
        text = next(t["text"] for t in proxy.turns() if t.get("role") == "assistant")
        assert text.startswith("The token: ") and "[REDACTED:" in text and text.endswith(". Keep it."), text
        events = [json.loads(e["text"].split("data: ")[1]) for e in proxy.call(1)["reply_events"]]
        said = "".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta")
        assert said == text, (said, text)
        for part in (secret, secret[4:], secret[8:24]):
            assert files_with(a.dir / "home", part.encode()) == [], part


@test
def a_secret_in_which_a_body_breaks_off_is_masked_too():
    secret, own = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl", "planted-credential-KKKK4321"
    bodies = ["A text, and in it " + secret, '{"text": "in JSON\\n' + secret, "What you have said: " + own,
              "An end that nobody tells: " + secret,
              'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"see\\n' + secret]

    async def handler(request, reply):
        body = bodies[len(up.requests) - 1].encode()
        kind = "text/event-stream" if body.startswith(b"data") else "text/plain"
        await reply.head(200, [("content-type", kind)], chunked=b"that nobody" not in body)
        await reply.piece(body[:-8])
        reply.hang_up()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        for body in bodies:  # of replies …
            got = proxy.post("/v1/x", b"{}", headers=[("X-Api-Key", own)])
            assert got.body == body[:-8].encode(), got.__dict__
        for body in bodies:  # … and of requests
            with proxy.client() as c:
                c.send(proxy.request("/v1/x", body.encode(), headers=[("X-Api-Key", own)])[:-8])
        proxy.wait_calls(2 * len(bodies))
        proxy.end()
        for part in (secret[4:16], own[:-8], own[8:-8]):
            assert files_with(a.dir / "home", part.encode()) == [], part
        kept = [line["text"] for line in proxy.lines() if line["type"] in ("body", "event", "request_body") and
                line.get("text") != "{}"]
        assert sum("[REDACTED:" in text for text in kept) == 2 * len(bodies), kept
        assert all(any(text.startswith(body[:9]) for text in kept) for body in bodies), kept


# -- the conversation --

@test
def only_what_is_new_of_a_conversation_is_stored_and_every_call_is_whole():
    async def handler(request, reply):
        n = len(json.loads(request.body)["messages"])
        await streams(message(f"Answer {n}. " + "words " * 300, number=n, pieces=40))(request, reply)
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        messages, bodies = [], []
        system = [{"type": "text", "text": "You are a test. " * 500, "cache_control": {"type": "ephemeral"}}]
        for turn in range(30):
            messages.append({"role": "user", "content": [{"type": "text", "text": f"Question {turn}: " + "why? " * 200,
                                                          "cache_control": {"type": "ephemeral"}}]})
            body = json.dumps({"model": "m-1", "system": system, "messages": messages, "stream": True,
                               "tools": [{"name": "t", "description": "d" * 3000}]}).encode()
            bodies.append(body)
            assert proxy.post(MESSAGES, body).status == 200
            del messages[-1]["content"][0]["cache_control"]  # the marker moves on
            messages.append({"role": "assistant", "content": f"Answer {len(messages)}. " + "words " * 300})
        proxy.end()
        kept = sum(len(json.dumps(line)) for line in proxy.lines() if line["type"] == "request_body")
        assert kept < 0.15 * sum(map(len, bodies)), (kept, sum(map(len, bodies)))
        for number, body in enumerate(bodies, 1):
            call = proxy.call(number)
            assert call["request"].encode() == body and call["request_is_whole"], number
        turns = [t for t in proxy.turns() if t["type"] == "text"]
        assert len(turns) == 60 and [t["role"] for t in turns] == ["user", "assistant"] * 30, len(turns)


@test
def other_apis_are_recorded_too():
    async def handler(request, reply):
        if "chat" in request.path:
            await streams(chat("From chat."))(request, reply)
        else:
            await reply.whole(200, b'{"data":[]}')
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url, upstream="openai") as proxy:
        got = proxy.post("/chat/completions", {"model": "m-2", "stream": True,
                                               "messages": [{"role": "system", "content": "s"},
                                                            {"role": "user", "content": "Hi chat"}]},
                         variable="OPENAI_BASE_URL")
        assert got.body == b"".join(chat("From chat."))
        assert proxy.ask("/models", method="GET", variable="OPENAI_BASE_URL").status == 200
        proxy.end()
        call = proxy.call(1)
        assert (call["model"], call["usage"]["input_tokens"], call["usage"]["output_tokens"]) == ("m-2", 10, 7), call
        assert [(t["role"], t["text"]) for t in proxy.turns() if t["type"] == "text"] == [
            ("user", "Hi chat"), ("assistant", "From chat.")]
        usage = json.loads(a.ok("usage", "--json", "--by", "model")) if a.run("index", "--all").returncode == 0 else {}
        assert usage["rows"][0]["model"] == "m-2" and usage["rows"][0]["input_tokens"] == 10, usage


# -- how it is started, and ends --

@test
def the_environment_says_where_the_apis_are_and_what_an_agent_must_say():
    with Ahr(AHR) as a, Upstream(answers(200, b"{}")) as up, \
            Proxy(a, None, env={"ANTHROPIC_BASE_URL": up.url + "/a", "OPENAI_BASE_URL": up.url + "/o/v1"}) as proxy:
        assert set(proxy.variables) >= {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}
        paths = {value.rsplit("/", 1)[1] for value in proxy.variables.values()}
        assert len(paths) == 5 and all(len(p) == 33 for p in paths), paths  # two variables are of one upstream
        assert proxy.post(MESSAGES, b"{}").status == 200
        assert proxy.post("/models", b"{}", variable="OPENAI_BASE_URL").status == 200
        assert [r.path for r in up.requests] == ["/a/v1/messages", "/o/v1/models"], [r.path for r in up.requests]


@test
def what_is_told_wrong_is_told_at_once():
    with Ahr(AHR) as a:
        for args, words in ((["--listen", "0.0.0.0:0"], "no HOST:PORT on loopback"),
                            (["--listen", "127.0.0.1"], "no HOST:PORT"),
                            (["--upstream", "anthropic"], "not of the form name=URL"),
                            (["--upstream", "anthropic=ftp://x"], "is no http or https URL"),
                            (["--upstream", "x y=http://z"], "not of the form name=URL"),
                            (["--session", "a b"], "a b"), (["operand"], "no operands"),
                            (["--replay", "x", "--upstream", "a=http://b"], "does not go with")):
            assert words in a.fails(2, "proxy", *args), (args, words)
        assert "cannot read 'none.pem'" in a.fails(3, "proxy", "--upstream-ca", "none.pem")
        assert "nobody" in a.fails(3, "proxy", "--replay", "nobody")
        assert not (a.dir / "home/.local/share/ahr/live").exists() or not any(
            (a.dir / "home/.local/share/ahr/live").iterdir())


@test
def it_ends_by_a_signal_and_breaks_off_what_goes_on():
    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        await reply.piece(message("half")[0])
        await asyncio.sleep(60)
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
        c.head()
        c.until(b"message_start")
        said = proxy.end()
        assert "ended by SIGTERM, 1 call" in said and "ahr wire talk" in said, said
        assert not c.rest().endswith(b"0\r\n\r\n")
        call = proxy.call(1)
        assert call["end"] == "aborted" and call["error"] == "the proxy was stopped", call
        shown = a.ok("show", "--json", "talk")
        assert json.loads(shown)["status"] == "completed" and json.loads(shown)["kind"] == "wire", shown


@test
def it_can_be_ended_as_soon_as_it_can_be_asked():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with Ahr(AHR) as a, Proxy(a, "http://127.0.0.1:1") as proxy:
            assert f"ended by {signal.Signals(number).name}, 0 calls" in proxy.end(number)


@test
def it_is_seen_while_it_serves_and_can_be_stopped():
    with Ahr(AHR) as a, Upstream(streams(message("hi"))) as up, Proxy(a, up.url) as proxy:
        proxy.post(MESSAGES, asked("x"))
        listed = json.loads(a.ok("list", "--json"))
        assert [(s["status"], s["kind"], s["name"]) for s in listed] == [("active", "wire", "talk")], listed
        assert b"200" in a.ok("wire", "talk")
        a.ok("stop", "talk")
        assert proxy.process.wait(30) == 0
        assert json.loads(a.ok("show", "--json", "talk"))["status"] == "completed"


run()
