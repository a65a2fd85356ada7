#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proxy_attack_test.py -- who may not use `ahr proxy`, and what nobody may send it. usage: proxy_attack_test.py AHR

Each bad request must be refused, its connection end, and nothing of it come to the upstream or
into the record: neither what was refused nor what was put behind it. The same is asked of the
other side: what a broken or hostile upstream says never makes the client read one reply as two.
"""

import json
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.proxy import Proxy
from support.tap import run, test
from support.upstream import Upstream

AHR = sys.argv[1]
MESSAGES = "/v1/messages"


async def ok(request, reply):
    await reply.whole(200, b'{"ok":true}')


class World:
    """A proxy, its upstream, and what has become of either."""

    def __init__(self, handler=ok, *options):
        self.handler, self.options = handler, options

    def __enter__(self):
        self.a = Ahr(AHR).__enter__()
        self.up = Upstream(self.handler).__enter__()
        self.proxy = Proxy(self.a, self.up.url, *self.options).__enter__()
        self.where, self.base = self.proxy.base()
        self.port = self.where.rpartition(":")[2]
        return self

    def __exit__(self, *why):
        self.proxy.__exit__(*why)
        self.up.__exit__(*why)
        self.a.__exit__(*why)

    def raw(self, data, half_close=False):
        """All that comes back for these bytes, until the proxy ends the connection."""
        with self.proxy.client() as c:
            try:
                c.send(data)
                if half_close:
                    c.sock.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass  # it has ended the connection before all was sent
            return c.rest()

    def refused(self, data, statuses):
        """Refused with one of these, once, and the connection ends."""
        self.up.requests.clear()
        data = data if isinstance(data, bytes) else data.encode("latin-1")
        got = self.raw(data)
        status = int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.1 ") else None
        assert status in statuses, (data[:300], got[:300])
        assert got.count(b"HTTP/1.1 4") + got.count(b"HTTP/1.1 5") == 1, (data[:300], got)  # what stands behind is not answered
        assert not self.up.requests, (data[:300], self.up.requests[0].path)
        head, _, body = got.partition(b"\r\n\r\n")
        assert b"connection: close" in head.lower(), head
        told = json.loads(body)
        assert told["type"] == "error" and told["error"]["message"].startswith("ahr proxy: "), told

    def head(self, target=None, host=None, more=(), method="POST", version="HTTP/1.1"):
        lines = [f"{method} {target or self.base + MESSAGES} {version}",
                 *([f"Host: {host or self.where}"] if host != "" else []), *more]
        return "\r\n".join(lines) + "\r\n\r\n"

    def still_serves(self):
        self.up.requests.clear()
        assert self.proxy.post(MESSAGES, b"{}").body == b'{"ok":true}'
        assert len(self.up.requests) == 1

    def records(self, count):
        """So many calls are recorded at the end, and no more."""
        self.proxy.end()
        calls = self.proxy.calls()
        assert len(calls) == count, calls


# -- who comes --

@test
def only_those_who_call_it_by_this_machines_name_are_served():
    with World() as w:
        p = w.port
        for host in (f"127.0.0.1:{p}", f"localhost:{p}", f"LocalHost:{p}", f"[::1]:{p}"):
            with w.proxy.client() as c:
                c.send(w.head(host=host, more=["Content-Length: 2"]).encode() + b"{}")
                assert c.reply().status == 200, host
        others = ["attacker.example", f"attacker.example:{p}", f"127.0.0.1.attacker.example:{p}", f"localhost.:{p}",
                  f"127.0.0.1:{int(p) + 1}", "127.0.0.1", f"0.0.0.0:{p}", f"127.1:{p}", f"127.0.0.2:{p}",
                  f"2130706433:{p}", f"0x7f000001:{p}", f"[::ffff:127.0.0.1]:{p}", f"[::]:{p}", "api.anthropic.com",
                  "api.openai.com:443", f"127.0.0.1:0{p}", f"localhost.attacker.example:{p}"]
        for host in others:
            w.refused(w.head(host=host, more=["Content-Length: 2"]) + "{}", (400, 421))
        for host in (f"user@127.0.0.1:{p}", f"127.0.0.1:{p}@attacker.example", f"127.0.0.1:{p},attacker.example",
                     f"127.0.0.1:{p} attacker.example", f"http://127.0.0.1:{p}", f"[127.0.0.1]:{p}", f"[::1:{p}",
                     f"127.0.0.1:+{p}", f"127.0.0.1:{p}/", "127.0.0.1:99999999"):
            w.refused(w.head(host=host, more=["Content-Length: 2"]) + "{}", (400,))
        w.refused(w.head(host="", more=["Content-Length: 2"]) + "{}", (400,))
        w.refused(w.head(more=[f"Host: {w.where}"]), (400,))
        w.refused(w.head(more=["Host: attacker.example"]), (400,))
        w.still_serves()
        w.records(5)


@test
def web_pages_are_refused_whatever_their_origin():
    with World() as w:
        origins = ["http://attacker.example", "null", "", f"http://{w.where}", "https://localhost", "file://",
                   "chrome-extension://abc"]
        for origin in origins:
            for method in ("POST", "GET", "OPTIONS", "PUT", "DELETE", "HEAD"):
                got = w.raw(w.head(method=method, more=[f"Origin: {origin}", "Connection: close"]).encode())
                assert got.startswith(b"HTTP/1.1 403 ") and not w.up.requests, (origin, method, got)
                assert b"access-control" not in got.lower(), got
        w.still_serves()
        w.records(1)


@test
def the_secret_path_is_needed_and_only_the_whole_of_it():
    with World() as w:
        key = w.base[1:]
        paths = ["/", "/v1/messages", f"/{key[:-1]}/v1/messages", f"/{key}0/v1/messages", f"//{key}/v1/messages",
                 f"/x/{key}/v1/messages", f"/{key.upper()}/v1/messages", f"/%{ord(key[0]):02x}{key[1:]}/v1/messages",
                 f"/./{key}/v1/messages", f"/x/../{key}/v1/messages", f"/{key};x/v1/messages", f"/{'0' * len(key)}/v1",
                 f"/?{key}", "/favicon.ico", "/json/version"]
        for path in paths:
            w.refused(w.head(target=path, more=["Content-Length: 2"]) + "{}", (404,))
        w.still_serves()
        w.records(1)


@test
def the_path_behind_the_secret_one_reaches_the_upstream_alone():
    """`..` leads out of nothing: it is the upstream's to read, on the upstream's host."""
    with World() as w:
        for path in ("/../../etc/passwd", "/@attacker.example/x", "//attacker.example/x", "/%0d%0aX-A:%20b", "?a=b",
                     "/\\attacker.example"):
            got = w.proxy.ask(path, b"{}")
            assert got.status == 200 and w.up.requests[-1].path == path if path[0] == "/" else True, path
            assert w.up.requests[-1].header("host") == f"127.0.0.1:{w.up.port}"
            assert w.up.requests[-1].header("x-a") is None


@test
def other_uses_of_a_proxy_are_refused():
    with World() as w:
        host = [f"Host: {w.where}"]
        absolute = [f"http://{w.where}{w.base}{MESSAGES}", f"http://attacker.example{w.base}{MESSAGES}",
                    f"https://api.anthropic.com{MESSAGES}", "http://169.254.169.254/latest/meta-data",
                    "ftp://attacker.example/", "file:///etc/passwd", f"HTTP://{w.where}{w.base}"]
        for target in absolute:
            w.refused(w.head(target=target, more=["Content-Length: 2"]) + "{}", (400,))
        for target in ("attacker.example:443", f"{w.where}", "169.254.169.254:80", w.base):
            w.refused(w.head(target=target, method="CONNECT"), (400, 405))
        w.refused(w.head(target="*", method="OPTIONS"), (400,))
        w.refused(w.head(target="*"), (400,))
        w.refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (505,))
        for version in ("HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/1.10", "HTTP/1", "http/1.1", "RTSP/1.0", "HTTP/01.1"):
            w.refused(w.head(version=version), (400, 505))
        w.refused(f"GET {w.base}\r\n" + "\r\n".join(host) + "\r\n\r\n", (400,))  # HTTP/0.9
        w.refused(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40), (400,))  # TLS
        w.refused(b"\x00" * 64, (400,))
        w.still_serves()
        w.records(1)


# -- requests that could be read in two ways --

SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@test
def requests_that_could_be_two_are_none():
    with World() as w:
        first = w.head().removesuffix("\r\n")  # without the end of the head
        heads = [
            "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2\r\nContent-Length: 60",
            "Content-Length: 2, 2", "Content-Length: 2 2", "Content-Length: +2", "Content-Length: -2",
            "Content-Length: 0x2", "Content-Length: 2;", "Content-Length:", "Content-Length: 2e1", "Content-Length: ２",
            "Content-Length: 18446744073709551618", "Content-Length: 99999999999999999999", "Content-Length: 1_0",
            "Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 2",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity",
            "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: xchunked",
            "Transfer-Encoding: \x0bchunked", "Transfer-Encoding: chunked\x00", "Transfer-Encoding: \"chunked\"",
            "Transfer-Encoding: chunked;q=1", "Transfer-Encoding:", "Transfer-Encoding : chunked",
            "Transfer-Encoding\t: chunked", "Content-Length : 2", "Content-Length\x00: 2", " Content-Length: 2",
            "X-A: b\r\n Content-Length: 2", "X-A: b\r\n\tTransfer-Encoding: chunked", "X-A\r\n : b",
            "X-A: b\rContent-Length: 2", "X-A: b\nContent-Length: 2", "X-A: b\r\r\nContent-Length: 2", "X-A: b\x00",
            "X-A: b\x7f", "X A: b", ": b", "X-A", "X-A: b\x0cc", "(X): b", "Content_Length: 2\nX: y",
            "Expect: 200-ok", "Expect: 100-continue, x",
        ]
        for head in heads:
            w.refused((first + head + "\r\n\r\n{}" + SMUGGLED).encode(), (400, 413, 417, 501))
        bare = w.head(more=["Content-Length: 2"]) + "{}"
        w.refused(bare.replace("\r\n", "\n") + SMUGGLED, (400,))
        w.refused(bare.replace("\r\n", "\r") + SMUGGLED, (400,))
        w.refused(bare.replace("HTTP/1.1\r\n", "HTTP/1.1\n") + SMUGGLED, (400,))
        w.refused(bare.replace("POST ", "POST  "), (400,))
        w.refused(bare.replace(" HTTP/1.1", "  HTTP/1.1"), (400,))
        w.refused(bare.replace("POST ", "POST\t"), (400,))
        w.refused(bare.replace("POST ", " POST "), (400,))
        w.refused(bare.replace(" HTTP/1.1", " HTTP/1.1 "), (400,))
        w.refused("\r\n\r\n\r\n" + bare, (400,))
        w.refused(w.head(version="HTTP/1.0", more=["Transfer-Encoding: chunked"]) + "0\r\n\r\n", (400,))
        w.still_serves()
        w.records(1)


@test
def chunks_that_could_be_two_are_none():
    """The head was in order, so the call had begun: it is broken off, and nothing stands behind it."""
    with World() as w:
        head = w.head(more=["Transfer-Encoding: chunked"])
        bodies = ["2\n{}\r\n0\r\n\r\n", "2\r\n{}\n0\r\n\r\n", "2\r\n{}\r\n0\n\n", "2 \r\n{}\r\n0\r\n\r\n",
                  " 2\r\n{}\r\n0\r\n\r\n", "+2\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n",
                  "ffffffffffffffff2\r\n{}", "8000000000000002\r\n{}", "2;a\nb\r\n{}\r\n0\r\n\r\n", "2;a\x00\r\n{}\r\n0\r\n\r\n",
                  "2\r\n{}0\r\n\r\n", "2\r\n{}xx0\r\n\r\n", "\r\n2\r\n{}\r\n0\r\n\r\n", "g\r\n", "2;" + "x" * 70000,
                  "2\r\n{}\r\n0\r\nGET / HTTP/1.1\r\n\r\n", "2\r\n{}\r\n0\r\nX: " + "y" * 70000,
                  "2\r\n{}\r\n0\r\n X: y\r\n\r\n", "2\r\n{}\r\n0\r\nX: a\nB: c\r\n\r\n"]
        for body in bodies:
            w.up.requests.clear()
            got = w.raw((head + body + SMUGGLED).encode("latin-1"))
            assert got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1 ") == 1, (body[:60], got[:200])
            assert not any("smuggled" in r.path for r in w.up.requests), body[:60]
        w.still_serves()
        w.proxy.end()
        calls = w.proxy.calls()
        assert [c["end"] for c in calls] == ["aborted"] * len(bodies) + ["ok"], [c["end"] for c in calls]


@test
def what_is_in_order_is_served_though_odd():
    """Strictness costs no client that follows the book."""
    with World() as w:
        for head, body in (("Content-Length:2", "{}"), ("CONTENT-LENGTH: \t 2 \t", "{}"), ("Content-Length: 0002", "{}"),
                           ("transfer-encoding: Chunked", "2;name=\"value\"\r\n{}\r\n0\r\nTrailer-A: b\r\n\r\n"),
                           ("Transfer-Encoding: chunked\r\nTrailer: Trailer-A", "0002\r\n{}\r\n000\r\n\r\n"),
                           ("X-Empty:\r\nContent-Length: 2", "{}"), ("X!#$%&'*+-.^_`|~: v\r\nContent-Length: 2", "{}"),
                           ("X-Latin: \xe4\xf6\r\nContent-Length: 2", "{}"), ("Content-Length: 2\r\nAccept: a,\tb", "{}")):
            with w.proxy.client() as c:
                c.send((w.head().removesuffix("\r\n") + head + "\r\n\r\n" + body).encode("latin-1"))
                assert c.reply().status == 200 and w.up.requests[-1].body == b"{}", head


# -- too much --

@test
def oversized_heads_are_refused():
    with World() as w:
        w.refused(w.head(more=["X-A: " + "b" * (70 << 10)]), (431,))
        w.refused(w.head(more=[f"X-{n}: b" for n in range(2000)]), (431,))
        w.refused(w.head(more=["X-" + "a" * (70 << 10) + ": b"]), (431,))
        w.refused(w.head(target=w.base + "/" + "a" * (20 << 10)), (414,))
        w.refused("A" * (70 << 10), (501, 414, 400, 431))
        w.refused(w.head(more=["Content-Length: 4611686018427387905"]), (413,))
        got = w.proxy.ask(MESSAGES, b"{}", headers=[(f"X-{n}", "b" * 400) for n in range(100)])
        assert got.status == 200, got.status  # 40 KB are none too many
        w.still_serves()
        w.records(2)


@test
def many_who_say_nothing_keep_nobody_out():
    with World() as w:
        silent = [w.proxy.client() for _ in range(400)]
        for n, c in enumerate(silent):
            c.send(w.head(more=["Content-Length: 10"])[:n % 60].encode())
        w.still_serves()
        for c in silent:
            c.sock.close()
        w.still_serves()


# -- what comes from the other side --

def scripted(head, body=b"", then=None):
    async def handler(request, reply):
        await reply.raw(head + body)
        if then:
            await then(reply)
        reply.hang_up()
    return handler


NEXT = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nx-evil: 1\r\n\r\nEVIL!!!"


@test
def no_reply_of_an_upstream_is_read_as_two():
    """Whatever lengths it tells: the client gets one reply, whole or visibly broken off, and the next request its own."""
    replies = {
        "length and chunks": (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
                              b"5\r\nhello\r\n0\r\n\r\n" + NEXT),
        "chunks and length": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 300\r\n\r\n",
                              b"5\r\nhello\r\n0\r\n\r\n" + NEXT),
        "two lengths": (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 3\r\n\r\n", b"hello" + NEXT),
        "a list of lengths": (b"HTTP/1.1 200 OK\r\ncontent-length: 5, 3\r\n\r\n", b"hello" + NEXT),
        "a length below zero": (b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n", b"hello"),
        "a length beyond all": (b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", b"hello"),
        "a length of letters": (b"HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\n", b"hello"),
        "more than its length": (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", b"hello" + NEXT),
        "less than its length": (b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n", b"hello"),
        "chunks of another size": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"zz\r\nhello\r\n0\r\n\r\n"),
        "chunks that end amid": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"5\r\nhel"),
        "another coding": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        "a line of its own": (b"HTTP/1.1 200 OK\r\nx-a: b\rx-evil: 1\r\ncontent-length: 5\r\n\r\n", b"hello"),
        "a reason of its own": (b"HTTP/1.1 200 OK\rx-evil: 1\r\ncontent-length: 5\r\n\r\n", b"hello"),
        "no body where there is one": (b"HTTP/1.1 204 No\r\ncontent-length: 7\r\n\r\n", b"EVIL!!!"),
        "not modified": (b"HTTP/1.1 304 No\r\ncontent-length: 7\r\n\r\n", b"EVIL!!!"),
        "no HTTP": (b"SSH-2.0-x\r\n", b"hello"),
        "an old one": (b"HTTP/0.9 200 OK\r\n\r\n", b"hello"),
        "nothing": (b"", b""),
        "a head that ends amid": (b"HTTP/1.1 200 OK\r\ncontent-le", b""),
        "another protocol": (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", NEXT),
    }
    whole = {"length and chunks", "chunks and length", "more than its length", "a line of its own", "a reason of its own"}

    async def handler(request, reply):
        name = request.header("x-way")
        if name is None:
            await ok(request, reply)
        else:
            await scripted(*replies[name])(request, reply)
    with World(handler) as w:
        for name in replies:
            with w.proxy.client() as c:
                c.send(w.proxy.request(MESSAGES, b"{}", headers=[("X-Way", name)]))
                try:
                    got = c.reply()
                except (EOFError, ValueError):
                    got = None
                assert got is None or (b"EVIL" not in got.body and got.header("x-evil") is None), (name, got.__dict__)
                if name in whole:
                    assert (got.status, got.body, got.is_whole) == (200, b"hello", True), (name, got.__dict__)
                elif got and got.status not in (502, 204, 304):
                    assert not got.is_whole or got.body == b"hello", (name, got.__dict__)
                try:  # the next request on the same connection gets its own reply, or none
                    c.send(w.proxy.request(MESSAGES, b"{}"))
                    after = c.reply()
                    assert after.body == b'{"ok":true}', (name, after.__dict__)
                except (EOFError, ConnectionError):
                    pass
        w.still_serves()
        w.proxy.end()
        assert len(w.proxy.calls()) >= len(replies) + 1


@test
def heads_of_an_upstream_have_a_ceiling():
    ways = {"long": b"x-a: " + b"b" * (600 << 10) + b"\r\n",
            "many": b"".join(b"x-%d: b\r\n" % n for n in range(5000)),
            "endless": b"x-a: b\r\n" * 200000}

    async def handler(request, reply):
        name = request.header("x-way")
        await reply.raw(b"HTTP/1.1 200 OK\r\n" + ways[name] + b"content-length: 2\r\n\r\n{}")
    with World(handler) as w:
        for name in ways:
            got = w.proxy.ask(MESSAGES, b"{}", headers=[("X-Way", name)])
            assert got.status == 502, (name, got.status)
            assert b"the upstream has broken off" in got.body, got.body


@test
def nothing_but_loopback_is_listened_to():
    with World() as w, open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
        ours = [r[1] for r in rows if r[3] == "0A" and int(r[1].partition(":")[2], 16) == int(w.port)]
        assert [o.partition(":")[0] for o in ours] == ["0100007F"], ours


run()
