#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proxy_tls_test.py -- upstreams over TLS: who is believed, and who is not. usage: proxy_tls_test.py AHR"""

import asyncio
import json
import random
import socket
import ssl
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.certificates import Authority
from support.proxy import Proxy
from support.tap import run, test
from support.upstream import Upstream, message

AHR = sys.argv[1]
SSE = ("content-type", "text/event-stream")
MESSAGES = "/v1/messages"
EVENTS = message("Said in confidence.")
BODY = json.dumps({"model": "m-1", "messages": [{"role": "user", "content": "A secret of mine"}]}).encode()


async def streamed(request, reply):
    await reply.head(200, [SSE], chunked=True)
    for one in EVENTS:
        await reply.piece(one)
    await reply.end()


class Scene:
    """A folder for certificates; use as a context manager."""

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="ahr-tls-")
        self.folder = Path(self.scratch.name)
        self.good = Authority(self.folder, "good")
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()


def refused(scene, tls, *options, url=None, because):
    """The client is told why, and nothing of what it asked has reached the upstream."""
    with Ahr(AHR) as a, Upstream(streamed, tls=tls) as up, Proxy(a, url(up) if url else up.url, *options) as proxy:
        for _ in range(2):  # it is not believed the second time either
            got = proxy.post(MESSAGES, BODY)
            told = json.loads(got.body)["error"]
            assert got.status == 502 and told["type"] == "upstream_untrusted", got.__dict__
            assert "the upstream's certificate is refused, and nothing was sent" in told["message"], told
            assert any(b in told["message"] for b in because), (told, because)
            assert "--upstream-ca" in told["message"], told
        assert not up.requests, up.requests[0].path
        proxy.end()
        calls = proxy.calls()
        assert [c["end"] for c in calls] == ["error"] * 2 and "certificate is refused" in calls[0]["error"], calls
        assert json.loads(proxy.call(1)["request"]) == json.loads(BODY)  # what was wanted is recorded all the same


# -- who is believed --

@test
def an_upstream_of_a_known_authority_is_forwarded_and_recorded_as_any():
    with Scene() as s, Ahr(AHR) as a, Upstream(streamed, tls=s.good.server("leaf", "IP:127.0.0.1")) as up, \
            Proxy(a, up.url, "--upstream-ca", s.good.file) as proxy:
        assert up.url.startswith("https://")
        with proxy.client() as c:
            for _ in range(5):
                c.send(proxy.request(MESSAGES, BODY))
                got = c.reply()
                assert (got.status, got.body, got.is_whole) == (200, b"".join(EVENTS), True), got.__dict__
        assert up.connections == 1, up.connections  # one handshake
        assert up.requests[0].body == BODY
        proxy.end()
        call = proxy.call(1)
        assert call["target"] == up.url and call["reply"].encode() == b"".join(EVENTS), call
        assert [e["text"].encode() for e in call["reply_events"]] == EVENTS


@test
def a_name_is_proven_as_an_address_is_and_a_chain_is_followed():
    with Scene() as s:
        between = Authority(s.folder, "between", under=s.good)
        for tls in (s.good.server("named", "DNS:localhost"), between.server("chained", "DNS:localhost")):
            with Ahr(AHR) as a, Upstream(streamed, tls=tls) as up, \
                    Proxy(a, up.url.replace("127.0.0.1", "localhost"), "--upstream-ca", s.good.file) as proxy:
                assert proxy.post(MESSAGES, BODY).body == b"".join(EVENTS)
                assert up.requests[0].header("host") == f"localhost:{up.port}"


@test
def large_bodies_go_through_whole_both_ways():
    size = 8 << 20
    data = random.Random(1).randbytes(size)

    async def handler(request, reply):
        await reply.head(200, [("content-type", "application/octet-stream"), ("content-length", str(size))])
        await reply.raw(data)
    with Scene() as s, Ahr(AHR) as a, Upstream(handler, tls=s.good.server("leaf", "IP:127.0.0.1")) as up, \
            Proxy(a, up.url, "--upstream-ca", s.good.file) as proxy:
        got = proxy.post("/v1/files", data[:4 << 20])
        assert got.body == data and up.requests[0].body == data[:4 << 20]


@test
def a_session_may_have_an_upstream_over_tls_too():
    script = ("import json,os,urllib.request as u\n"
              "r=u.Request(os.environ['ANTHROPIC_BASE_URL']+'/v1/messages',os.environ['BODY'].encode(),"
              "{'content-type':'application/json'})\nprint(len(u.urlopen(r).read()))")
    with Scene() as s, Upstream(streamed, tls=s.good.server("leaf", "IP:127.0.0.1")) as up:
        for command in ("record", "run"):
            with Ahr(AHR) as a:
                shown = a.ok(command, "--wire", "--upstream", f"anthropic={up.url}", "--upstream-ca", s.good.file, "--",
                             sys.executable, "-c", script, env={"BODY": BODY.decode()}, timeout=60)
                assert str(len(b"".join(EVENTS))).encode() in shown, shown
                calls = json.loads(a.ok("wire", "--json"))
                assert [(c["status"], c["target"]) for c in calls] == [(200, up.url)], calls


# -- who is not --

@test
def an_authority_that_is_not_known_is_refused():
    with Scene() as s:
        leaf = s.good.server("leaf", "IP:127.0.0.1")
        other = Authority(s.folder, "other")
        unknown = ("unable to get local issuer", "self-signed", "self signed")
        refused(s, leaf, because=unknown)  # the system's do not have it
        refused(s, leaf, "--upstream-ca", other.file, because=unknown)
        refused(s, s.good.server("own", "IP:127.0.0.1", signed_by_itself=True), "--upstream-ca", s.good.file,
                because=unknown)
        between = Authority(s.folder, "between", under=s.good)
        refused(s, between.server("unchained", "IP:127.0.0.1", with_chain=False), "--upstream-ca", s.good.file,
                because=unknown)


@test
def a_certificate_of_somebody_else_or_of_another_time_is_refused():
    with Scene() as s:
        trusting = ("--upstream-ca", s.good.file)
        refused(s, s.good.server("elsewhere", "DNS:attacker.example"), *trusting,
                because=("does not match", "no alternative certificate subject name matches"))
        refused(s, s.good.server("address", "IP:127.0.0.2"), *trusting,
                because=("does not match", "no alternative certificate subject name matches"))
        refused(s, s.good.server("past", "IP:127.0.0.1", days=-1), *trusting, because=("expired",))


@test
def one_that_speaks_no_tls_is_not_spoken_to_in_plain():
    with Scene() as s, Ahr(AHR) as a, socket.create_server(("127.0.0.1", 0)) as door, \
            Proxy(a, f"https://127.0.0.1:{door.getsockname()[1]}", "--upstream-ca", s.good.file) as proxy, \
            proxy.client() as c:
        c.send(proxy.request(MESSAGES, BODY))
        there, _ = door.accept()
        heard = there.recv(65536)
        there.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        there.close()
        got = c.reply()
        assert got.status == 502 and json.loads(got.body)["error"]["type"].startswith("upstream_"), got.__dict__
        assert heard[:1] == b"\x16" and b"secret of mine" not in heard, heard


@test
def old_versions_of_tls_are_not_spoken():
    with Scene() as s:
        tls = s.good.server("leaf", "IP:127.0.0.1")
        with warnings.catch_warnings():  # of how old they are
            warnings.simplefilter("ignore")
            tls.minimum_version, tls.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with Ahr(AHR) as a, Upstream(streamed, tls=tls) as up, \
                Proxy(a, up.url, "--upstream-ca", s.good.file) as proxy:
            got = proxy.post(MESSAGES, BODY)
            assert got.status == 502 and not up.requests, (got.__dict__, up.requests)


@test
def a_reply_that_is_cut_off_on_its_way_is_not_whole():
    async def handler(request, reply):
        if request.header("x-way") == "length":
            await reply.head(200, [SSE, ("content-length", "9999")])
        else:
            await reply.head(200, [SSE], chunked=True)
        for one in EVENTS[:4]:
            await reply.piece(one)
        await asyncio.sleep(0.02)
        reply.writer.transport.abort()
        reply.hang_up()
    with Scene() as s, Ahr(AHR) as a, Upstream(handler, tls=s.good.server("leaf", "IP:127.0.0.1")) as up, \
            Proxy(a, up.url, "--upstream-ca", s.good.file) as proxy:
        for way in ("chunks", "length"):
            got = proxy.post(MESSAGES, BODY, headers=[("X-Way", way)])
            assert got.body == b"".join(EVENTS[:4]) and not got.is_whole, (way, got.__dict__)
        proxy.end()
        assert [c["end"] for c in proxy.calls()] == ["error", "error"], proxy.calls()


@test
def a_file_that_holds_no_certificates_is_told_at_once():
    with Ahr(AHR) as a:
        (a.dir / "empty.pem").write_bytes(b"")
        (a.dir / "text.pem").write_text("this is no certificate\n")
        for name in ("empty.pem", "text.pem"):
            for command in (["proxy"], ["record", "--wire"], ["run", "--wire"]):
                more = [] if command == ["proxy"] else ["--", "true"]
                done = a.run(*command, "--upstream-ca", name, *more, timeout=30)
                assert done.returncode == 2 and f"'{name}' holds no certificate".encode() in done.stderr, (command, done)
        assert "cannot read 'missing.pem'" in a.fails(3, "proxy", "--upstream-ca", "missing.pem")
        assert "cannot read '.'" in a.fails(1, "proxy", "--upstream-ca", ".")


@test
def certificates_that_are_damaged_are_told_to_the_client():
    with Scene() as s, Ahr(AHR) as a, Upstream(streamed, tls=s.good.server("leaf", "IP:127.0.0.1")) as up:
        broken = a.dir / "broken.pem"
        broken.write_text("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
        with Proxy(a, up.url, "--upstream-ca", broken) as proxy:
            got = proxy.post(MESSAGES, BODY)
            assert got.status == 502 and str(broken) in json.loads(got.body)["error"]["message"], got.body
            assert not up.requests


run()
