#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cassette_test.py -- `ahr proxy --replay`: the same requests get the same replies, and nothing else gets any.

usage: cassette_test.py AHR [--sanitized]
"""

import asyncio
import contextlib
import copy
import functools
import gzip
import json
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.dialogue import SSE, Anthropic, Chat, Responses, Run, api, made_id
from support.processes import wait_for
from support.proxy import Proxy
from support.tap import run, test, test_meanwhile
from support.upstream import Upstream, event, message

AHR = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
MESSAGES = "/v1/messages"
OF_CONNECTION = ("transfer-encoding", "connection", "content-length", "content-encoding")


def asked(text, **more):
    return {"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": text}], **more}


def cassette(a, *options, session="talk", timing="fast", **more):
    return Proxy(a, None, "--replay", session, "--timing", timing, *options, session=None, **more)


def recorded(a, handler, drive, *options, **more):
    """Records what drive(proxy) asks an API that this handler is; what that gave."""
    with Upstream(handler) as up, Proxy(a, None, "--upstream", f"anthropic={up.url},openai={up.url}", *options,
                                        **more) as proxy:
        got = drive(proxy)
        proxy.end()
        return got


def wire_file(a):
    return next(a.dir.glob("home/.local/share/ahr/sessions/*/session.wire.jsonl"))


def edit_wire(a, change):
    """change(line) is called for each line, and may return another one; None: it goes."""
    path = wire_file(a)
    lines = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"
                            for line in lines if line))


def whole(reply):
    """What a client sees of it, but for how its end is told."""
    headers = sorted((n.lower(), v) for n, v in reply.headers if n.lower() not in OF_CONNECTION)
    return reply.status, headers, reply.body, reply.is_whole


def missed(reply):
    """What a miss says."""
    told = json.loads(reply.body)
    assert (reply.status, told["type"], told["error"]["type"]) == (502, "error", "cassette_miss"), reply.__dict__
    assert reply.header("content-type") == "application/json" and reply.is_whole, reply.headers
    return told["error"]["message"].removeprefix("ahr proxy: this has no answer in the recording: ")


# -- a conversation with tools --

STYLES = [(Anthropic, "ANTHROPIC_BASE_URL"), (Chat, "OPENAI_BASE_URL"), (Responses, "OPENAI_BASE_URL")]


def converse(proxy, kind, variable, seed):
    def ask(path, body, headers):
        return proxy.post(path, body, headers=headers, variable=variable)
    return kind(ask, Run(seed)).talk()


@functools.cache
def talk():
    """Recorded once, of each style one conversation of four calls."""
    return recorded(HOME, api, lambda proxy: [converse(proxy, kind, variable, 1) for kind, variable in STYLES])


@test
def a_conversation_with_tools_comes_back_byte_for_byte_at_either_pace():
    first = talk()
    for timing in ("fast", "original"):
        with cassette(HOME, timing=timing) as proxy:
            for was, (kind, variable) in zip(first, STYLES):
                now = converse(proxy, kind, variable, 1)
                assert now.requests == was.requests, (timing, kind)
                assert [whole(r) for r in now.replies] == [whole(r) for r in was.replies], (timing, kind)
                assert [r.framing for r in now.replies] == ["chunked"] * 4, (timing, kind)


@test
def another_run_that_does_the_same_gets_the_same():
    first = talk()
    with cassette(HOME) as proxy:
        for seed in range(2, 6):
            for was, (kind, variable) in zip(first, STYLES):
                now = converse(proxy, kind, variable, seed)
                assert now.requests != was.requests
                assert [r.body for r in now.replies] == [r.body for r in was.replies], (seed, kind)


def shuffled(value, r):
    """The same JSON with its members in another order."""
    if isinstance(value, dict):
        members = [(k, shuffled(v, r)) for k, v in value.items()]
        r.shuffle(members)
        return dict(members)
    return [shuffled(v, r) for v in value] if isinstance(value, list) else value


@test
def how_a_request_is_written_does_not_matter():
    anthropic = talk()[0]
    r = random.Random(3)
    with cassette(HOME) as proxy:
        for body, was in zip(anthropic.requests, anthropic.replies):
            unmarked = json.loads(json.dumps(body), object_hook=lambda o: {k: v for k, v in o.items()
                                                                           if k not in ("cache_control", "metadata")})
            for other in (json.dumps(shuffled(body, r)).encode(), json.dumps(body, indent=3).encode(),
                          json.dumps(body, ensure_ascii=False).encode(), json.dumps(unmarked).encode()):
                for chunked in (False, True):
                    got = proxy.post(MESSAGES, other, chunked=chunked, headers=[("x-request-id", "q"), ("Odd", "1")])
                    assert got.body == was.body, got.body


@test
def ids_of_calls_may_be_others_if_they_are_so_everywhere():
    anthropic = talk()[0]
    body = anthropic.requests[3]
    text = json.dumps(body)
    ids = [b["id"] for m in body["messages"] for b in m["content"] if b["type"] == "tool_use"]
    assert len(set(ids)) == 4, ids
    other = [f"toolu_01{i}" + "".join(random.Random(i).choices("abcXYZ0123456789", k=21)) for i in range(4)]
    with cassette(HOME) as proxy:
        renamed = text
        for old, new in zip(ids, other):
            renamed = renamed.replace(old, new)
        assert proxy.post(MESSAGES, renamed.encode()).body == anthropic.replies[3].body
        swapped = copy.deepcopy(body)
        results = swapped["messages"][2]["content"]
        results[0]["tool_use_id"], results[1]["tool_use_id"] = results[1]["tool_use_id"], results[0]["tool_use_id"]
        why = missed(proxy.post(MESSAGES, swapped))
        assert why.startswith("the nearest is call 4, which differs: messages[2].content[0].tool_use_id: "), why


@test
def conversations_that_go_on_by_an_id_are_told_apart():
    def goes_on(name, turn):
        return {"model": "m-3", "previous_response_id": made_id("resp_", f"{name} {turn}"),
                "input": [{"type": "function_call_output", "call_id": made_id("call_", name), "output": "ok"}]}

    async def handler(request, reply):
        await reply.whole(200, json.dumps({"to": json.loads(request.body)["previous_response_id"]}).encode())

    def ask(proxy, name, turn, **more):
        return json.loads(proxy.post("/responses", {**goes_on(name, turn), **more}, variable="OPENAI_BASE_URL").body)
    order = [(name, turn) for turn in range(3) for name in "abc"]
    with Ahr(AHR) as a:
        recorded(a, handler, lambda proxy: [ask(proxy, *one) for one in order])
        with cassette(a) as proxy:
            for name, turn in sorted(order, reverse=True) + order:
                got = ask(proxy, name, turn, user="another", instructions=None)
                assert "error" in got, got  # it is another request
                got = ask(proxy, name, turn, user="another")
                assert got == {"to": goes_on(name, turn)["previous_response_id"]}, (name, turn, got)
        with cassette(a) as proxy:  # where all ids are others, they come in their order
            for name, turn in order:
                got = ask(proxy, name.upper(), turn + 7)
                assert got == {"to": goes_on(name, turn)["previous_response_id"]}, (name, turn, got)


# -- what was not asked --

def changed(turn, change):
    body = copy.deepcopy(talk()[0].requests[turn])
    change(body)
    return body


def set_at(*path):
    *path, value = path

    def change(body):
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = value
    return change


def system_prompt(body):
    body["system"][1]["text"] = body["system"][1]["text"].replace("You mend", "You break")


def one_message_more(body):
    body["messages"].append({"role": "user", "content": "And now?"})


def one_message_less(body):
    del body["messages"][-1]


def no_thinking(body):
    del body["thinking"]


def another_tool(body):
    body["tools"].insert(1, {"name": "search", "description": "Finds."})


CHANGES = [
    (0, system_prompt, 'system[1].text: recorded "You mend files.\\n', 'asked "You break files.\\n'),
    (3, system_prompt, 'system[1].text: recorded "You mend files.\\n', 'asked "You break files.\\n'),
    (1, set_at("tools", 1, "description", "Alters a file."),
     'tools[1].description: recorded "Changes a file.", asked "Alters a file."', ""),
    (2, set_at("tools", 2, "input_schema", "properties", "path", "type", "integer"),
     'tools[2].input_schema.properties.path.type: recorded "string", asked "integer"', ""),
    (3, set_at("messages", 2, "content", 0, "content", 0, "text", "     1\tthe notes\n"),
     'messages[2].content[0].content[0].text: recorded "     1\\tteh notes\\n", asked "     1\\tthe notes\\n"', ""),
    (3, set_at("messages", 3, "content", 0, "text", "Mended."),
     'messages[3].content[0].text: recorded "There is a typo, which I mend: “teh”.", asked "Mended."', ""),
    (2, set_at("messages", 3, "content", 1, "input", "new", "thee"),
     'messages[3].content[1].input.new: recorded "the", asked "thee"', ""),
    (0, set_at("messages", 0, "content", 0, "text", "Is notes.md in order?"),
     'messages[0].content[0].text: recorded "Is notes.txt in order?", asked "Is notes.md in order?"', ""),
    (3, one_message_more, 'messages: recorded 7 items, asked 8; the 8th is {"content":"And now?","role":"user"}', ""),
    (3, set_at("model", "m-9"), 'model: recorded "m-1", asked "m-9"', ""),
    (2, set_at("max_tokens", 100), "max_tokens: recorded 99, asked 100", ""),
    (1, set_at("stream", False), "stream: recorded true, asked false", ""),
    (1, set_at("temperature", 0.5), "temperature: recorded missing, asked 0.5", ""),
    (2, no_thinking, 'thinking: recorded {"budget_tokens":50,"type":"enabled"}, asked missing', ""),
    (0, another_tool, 'tools[1].name: recorded "edit", asked "search"', ""),
]


@test
def any_other_request_is_refused_with_the_nearest_and_where_it_differs():
    talk()
    with cassette(HOME) as proxy:
        for turn, change, begins, has in CHANGES:
            why = missed(proxy.post(MESSAGES, changed(turn, change)))
            where = f"the nearest is call {turn + 1}, which differs: "
            assert why.startswith(where + begins) and has in why, (where, begins, why)
        why = missed(proxy.post(MESSAGES, changed(3, one_message_less)))
        assert why.startswith("the nearest is call 4, which differs: messages: recorded 7 items, asked 6; the 7th"), why
        body = talk()[0].requests[2]
        why = missed(proxy.post("/v1/complete", body))
        assert why == 'the nearest is call 3, which differs: path: recorded "/v1/messages", asked "/v1/complete"', why
        why = missed(proxy.post(MESSAGES, body, method="PUT"))
        assert why == 'the nearest is call 3, which differs: method: recorded "POST", asked "PUT"', why
        why = missed(proxy.post(MESSAGES, b"plain words"))
        assert 'which differs: body: recorded {"max_tokens":' in why and 'asked "plain words"' in why, why
        why = missed(proxy.post(MESSAGES, b"\xff\xfe\0"))
        assert "which differs: body: recorded {" in why, why
        why = missed(proxy.ask("/v1/models", method="GET"))
        assert 'which differs: method: recorded "POST", asked "GET"' in why, why


@test
def a_client_is_told_not_to_ask_again_what_was_not_recorded():
    talk()
    with cassette(HOME, "-q") as proxy:
        got = proxy.post(MESSAGES, changed(1, no_thinking))
        assert got.header("x-should-retry") == "false", got.headers
        got = missed(got)
        said = proxy.end()
        assert said == f"ahr proxy: POST {MESSAGES}: this has no answer in the recording: {got}\n", said


# -- the same, several times --

@test
def what_was_asked_again_is_answered_in_turn_and_the_last_from_then_on():
    async def handler(request, reply):
        n = len(up.requests)
        await reply.head(200 if n < 3 else 503, [SSE, ("x-n", str(n))], chunked=True)
        for one in message(f"Answer {n}."):
            await reply.piece(one)
        await reply.end()
    with Ahr(AHR) as a:
        with Upstream(handler) as up, Proxy(a, up.url) as proxy:
            for _ in range(3):
                proxy.post(MESSAGES, asked("Again?"))
            proxy.end()
        for _ in range(2):  # each time from the beginning
            with cassette(a) as proxy:
                got = [proxy.post(MESSAGES, asked("Again?")) for _ in range(5)]
                assert [(g.header("x-n"), g.status) for g in got] == [("1", 200), ("2", 200), *[("3", 503)] * 3], got
                assert [g.body for g in got] == [b"".join(message(f"Answer {n}.")) for n in (1, 2, 3, 3, 3)]


# -- replies of all kinds --

PACKED = {"gzip": gzip.compress,
          "br": lambda data: subprocess.run(["brotli", "-c"], input=data, capture_output=True, check=True).stdout}
JSON_BODY = json.dumps({"id": "msg_01aaaaaaaaaaaaaaaaaaaaaa", "type": "message", "role": "assistant", "model": "m-1",
                        "content": [{"type": "text", "text": "In one piece — ü."}], "stop_reason": "end_turn",
                        "usage": {"input_tokens": 4, "output_tokens": 5}}, ensure_ascii=False).encode()
LATER = [("retry-after", "7"), ("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"), ("anthropic-ratelimit-limit", "5")]


async def all_kinds(request, reply):
    """What is replied is asked for by a header."""
    way = request.header("x-way")
    what, _, more = way.partition(" ")
    if what == "error":
        body = json.dumps({"type": "error", "error": {"type": "x_error", "message": f"It is {more}."}}).encode()
        await reply.whole(int(more), body, headers=LATER)
    elif what == "packed":
        is_stream = "stream" in more
        data = PACKED[more.split()[0]](b"".join(message("Packed. " * 40)) if is_stream else JSON_BODY)
        await reply.whole(200, data, SSE[1] if is_stream else "application/json",
                          [("content-encoding", more.split()[0]), ("vary", "accept-encoding")])
    elif what == "json" and more == "chunked":
        await reply.head(200, [("content-type", "application/json")], chunked=True)
        await reply.piece(JSON_BODY[:20])
        await reply.piece(JSON_BODY[20:])
        await reply.end()
    elif what == "json":
        await reply.whole(200, JSON_BODY, headers=[("x-twice", "1"), ("x-twice", "2"), ("Connection", "x-hop"),
                                                   ("X-Hop", "is not the client's")])
    elif what == "stream":
        body = b"".join(message("With a length."))
        await reply.whole(200, body, SSE[1])
    elif what == "bytes":
        await reply.whole(200, bytes(range(256)) * 20, "application/octet-stream")
    elif what == "empty":
        await reply.whole(200, b"", "text/plain")
    elif what == "odd":
        await reply.whole(200, b"odd bytes", headers=[("content-encoding", "x-odd")])
    elif what == "head" and more == "packed":
        await reply.head(200, [("content-length", "1234"), ("content-encoding", "gzip"), ("x-a", "b")])
    elif what == "head":
        await reply.head(200, [("content-length", "1234"), ("x-a", "b")])
    else:
        await reply.head(int(what), [("x-a", "b"), ("etag", '"e"')])


KINDS = ["error 400", "error 401", "error 429", "error 500", "error 529", "packed gzip stream", "packed br stream",
         "packed gzip", "packed br", "json", "json chunked", "stream", "bytes", "empty", "odd", "head", "head packed",
         "204", "304"]


def ask_kind(proxy, way, on=None):
    method = {"head": "HEAD", "204": "DELETE", "304": "GET"}.get(way.split()[0], "POST")
    body = None if method != "POST" else json.dumps(asked(way)).encode()
    path = "/v1/things/" + way.replace(" ", "-") if body is None else MESSAGES
    with contextlib.nullcontext(on) if on else proxy.client() as c:
        c.send(proxy.request(path, body, method=method, headers=[("X-Way", way), ("Accept-Encoding", "gzip, br")]))
        return c.reply(method)


@functools.cache
def kinds():
    return recorded(HOME, all_kinds, lambda proxy: {way: ask_kind(proxy, way) for way in KINDS}, session="kinds")


@test
def errors_and_replies_of_all_kinds_come_back():
    first = kinds()
    with cassette(HOME, session="kinds") as proxy:
        for way, was in first.items():
            got = ask_kind(proxy, way)
            if way.startswith("packed"):
                continue
            assert whole(got) == whole(was), (way, got.__dict__, was.__dict__)
            if way not in ("json chunked", "head packed"):
                told = [r.header("content-length") for r in (got, was)]
                assert told[0] == told[1] and got.framing == was.framing, (way, told, got.framing)
        assert got.header("etag") == '"e"'
        assert proxy.post(MESSAGES, asked("json chunked")).header("content-length") == str(len(JSON_BODY))
        assert proxy.post(MESSAGES, asked("odd")).header("content-encoding") == "x-odd"


@test
def what_was_compressed_comes_without_compression():
    kinds()
    with cassette(HOME, session="kinds") as proxy:
        for way in (w for w in KINDS if w.startswith("packed")):
            got = ask_kind(proxy, way)
            want = b"".join(message("Packed. " * 40)) if "stream" in way else JSON_BODY
            assert (got.status, got.body, got.is_whole) == (200, want, True), (way, got.__dict__)
            assert got.header("content-encoding") is None and got.header("vary") == "accept-encoding", got.headers
            assert got.header("content-length") == str(len(want)), (way, got.headers)


@test
def connections_are_kept_and_old_clients_are_served():
    kinds()
    with cassette(HOME, session="kinds") as proxy:
        body = json.dumps(asked("json")).encode()
        with proxy.client() as c:
            for way in ("json", "head", "204", "304", "json", "stream", "error 529", "empty", "json"):
                got = ask_kind(proxy, way, on=c)
                assert whole(got) == whole(kinds()[way]), (way, got.__dict__)
            c.send(proxy.request(MESSAGES, body) * 3)
            assert [c.reply().body for _ in range(3)] == [JSON_BODY] * 3
        got = proxy.post(MESSAGES, asked("stream"), version="1.0")
        assert got.body == kinds()["stream"].body and got.is_whole, got.__dict__


async def breaks_off(request, reply):
    way = request.header("x-way")
    events = message("This is not said to its end.")[:5]
    if way == "body":
        await reply.head(200, [("content-type", "application/json"), ("content-length", "5000")])
        await reply.raw(b'{"id":')
    else:
        await reply.head(200, [SSE, *([("content-length", "100000")] if way == "length" else [])],
                         chunked=way in ("chunked", "reset"))
        for one in events:
            await reply.piece(one)
    await asyncio.sleep(0.02)
    if way == "reset":
        reply.reset()
    reply.hang_up()


@test
def what_broke_off_breaks_off_again():
    ways = ["chunked", "length", "reset", "body"]
    with Ahr(AHR) as a:
        first = recorded(a, breaks_off, lambda proxy: [proxy.post(MESSAGES, asked(way), headers=[("X-Way", way)])
                                                       for way in ways])
        assert not any(r.is_whole for r in first)
        for timing in ("fast", "original"):
            with cassette(a, timing=timing) as proxy:
                for way, was in zip(ways, first):
                    got = proxy.post(MESSAGES, asked(way))
                    assert whole(got) == whole(was), (way, got.__dict__, was.__dict__)
                    # an old client knows the end by the end of the connection: it must not look like one
                    old = proxy.post(MESSAGES, asked(way), version="1.0")
                    assert old.body == was.body and not old.is_whole, (way, old.__dict__)


@test
def a_reply_that_the_recorder_has_not_seen_to_its_end_breaks_off_there():
    events = message("The recorder was killed here.")

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in events[:4]:
            await reply.piece(one)
        await asyncio.sleep(60)
    with Ahr(AHR) as a:
        with Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
            c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
            c.head()
            c.until(b"content_block_delta")
            wait_for(lambda: sum(line["type"] == "event" for line in proxy.lines("live")) == 4)
            proxy.process.kill()
            proxy.process.wait()
        a.ok("recover", "--all")
        with cassette(a) as proxy:
            got = proxy.post(MESSAGES, asked("x"))
            assert (got.status, got.body, got.is_whole) == (200, b"".join(events[:4]), False), got.__dict__


@test
def large_replies_come_whole_however_slowly_they_are_read():
    size = 12 << 20  # more than waits anywhere on the way
    text = random.Random(1).randbytes(size // 2).hex().encode()
    events = [event({"n": n, "pad": "p" * 9000}) for n in range(size // 9000)]

    async def handler(request, reply):
        if request.method == "GET":
            await reply.whole(200, text, "text/plain")
        else:
            await reply.whole(200, b"".join(events), SSE[1])

    def drive(proxy):
        assert proxy.ask("/v1/files/1", method="GET").body == text
        assert proxy.post(MESSAGES, asked("a lot")).body == b"".join(events)
    with Ahr(AHR) as a:
        recorded(a, handler, drive)
        with cassette(a) as proxy, proxy.client() as slow:
            slow.send(proxy.request("/v1/files/1", method="GET"))
            assert slow.head()[0] == 200
            assert proxy.post(MESSAGES, asked("a lot")).body == b"".join(events)  # nobody waits for the slow one
            assert slow.exactly(size) == text


@test
def a_large_request_is_known_again():
    size = 33 << 20  # more than is kept of a request that goes to an upstream
    body = b'{"file":"' + random.Random(2).randbytes(1 << 15).hex().encode() * (size >> 16) + b'"}'

    async def handler(request, reply):
        await reply.whole(200, b'{"n":%d}' % len(request.body))
    with Ahr(AHR) as a:
        recorded(a, handler, lambda proxy: proxy.post("/v1/files", body))
        with cassette(a) as proxy:
            got = proxy.post("/v1/files", body)
            assert (got.status, got.body) == (200, b'{"n":%d}' % len(body)), (got.status, got.body)
            other = body[:-9] + b"x" + body[-8:]
            why = missed(proxy.post("/v1/files", other))
            assert why.startswith("the nearest is call 1, which differs: file: recorded "), why


# -- time --

@test
def the_original_pace_is_no_faster_than_it_was():
    events = message("One two three.")

    async def handler(request, reply):
        if request.method == "GET":
            await reply.head(200, [("content-type", "text/plain"), ("content-length", "8")])
            await reply.raw(b"half")
            await asyncio.sleep(0.3)
            await reply.raw(b"half")
            return
        await asyncio.sleep(0.2)
        await reply.head(200, [SSE], chunked=True)
        for n, one in enumerate(events):
            await asyncio.sleep(0.3 if n == 3 else 0)
            await reply.piece(one)
        await reply.end()

    def drive(proxy):
        proxy.post(MESSAGES, asked("x"))
        proxy.ask("/v1/slow", method="GET")
    with Ahr(AHR) as a:
        recorded(a, handler, drive)
        call, slow = (json.loads(a.ok("wire", "--json", "--call", n, "talk")) for n in (1, 2))
        begun = int(call["ts_ns"])
        due = [(int(e["ts_ns"]) - begun) / 1e9 for e in call["reply_events"]]
        assert due[3] > 0.5 and slow["duration_ms"] >= 300, (due, slow)
        with cassette(a, timing="original") as proxy, proxy.client() as c:
            start = time.monotonic()
            c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
            assert c.head()[0] == 200
            assert time.monotonic() - start >= call["first_byte_ms"] / 1e3
            for one, after in zip(events, due):
                assert c.until(b"\r\n") == b"%x" % len(one) and c.exactly(len(one) + 2) == one + b"\r\n"
                assert time.monotonic() - start >= after, (one, after)
            start = time.monotonic()
            assert proxy.ask("/v1/slow", method="GET").body == b"halfhalf"
            assert time.monotonic() - start >= 0.3


@test
def a_fast_one_waits_for_nothing_and_a_slow_one_can_be_left():
    first = talk()[0]
    gone_on = threading.Event()

    async def handler(request, reply):
        if request.method != "GET":
            await api(request, reply)
            return
        await reply.head(200, [("content-type", "application/x-ndjson")], chunked=True)
        await reply.piece(b'{"n":1}\n')
        while not gone_on.is_set():
            await asyncio.sleep(0.01)
        await reply.piece(b'{"n":2}\n')
        await reply.end()

    def drive(proxy):
        converse(proxy, *STYLES[0], 1)
        with proxy.client() as c:
            c.send(proxy.request("/v1/lines", method="GET"))
            c.until(b"\n\r\n")
            gone_on.set()
            c.until(b"0\r\n\r\n")

    def later(line):
        is_later = line["type"] in ("event", "body", "end") and line.get("event", line.get("piece")) != 0
        minutes = 10 * 60 * 10**9 if is_later else 0
        line["ts_ns"] = str(int(line["ts_ns"]) + minutes)
        if "duration_ns" in line:
            line["duration_ns"] += minutes
        return line
    with Ahr(AHR) as a:
        recorded(a, handler, drive)
        edit_wire(a, later)
        with cassette(a) as proxy:
            assert [r.body for r in converse(proxy, *STYLES[0], 2).replies] == [r.body for r in first.replies]
        with cassette(a, timing="original") as proxy, proxy.client() as stays:
            for c in (stays, proxy.client()):
                c.send(proxy.request(MESSAGES, json.dumps(first.requests[0]).encode()))
                assert c.head()[0] == 200 and b"message_start" in c.until(b"\n\n")
            c.sock.close()
            with proxy.client() as lines:  # which are no events, and come when they came
                lines.send(proxy.request("/v1/lines", method="GET"))
                assert lines.head()[0] == 200 and lines.until(b"\n") == b'{"n":1}'
            assert missed(proxy.post(MESSAGES, asked("others are answered meanwhile")))
            proxy.end()  # while one waits
            assert not stays.rest().endswith(b"0\r\n\r\n")


@test_meanwhile
def a_reply_that_its_client_has_left_waits_for_that_again():
    events = message("He will not hear this to its end.")

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in events[:5]:
            await reply.piece(one)
        await asyncio.sleep(60)

    def drive(proxy):
        with proxy.client() as c:
            c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
            c.head()
            for one in events[:5]:
                c.until(one)
        proxy.wait_calls(1)
    with Ahr(AHR) as a:
        recorded(a, handler, drive)
        with cassette(a) as proxy:
            start = time.monotonic()
            with proxy.client() as c:  # it leaves once more
                c.send(proxy.request(MESSAGES, json.dumps(asked("x")).encode()))
                assert c.head()[0] == 200
                for one in events[:5]:
                    c.until(one)
            got = proxy.post(MESSAGES, asked("x"))  # it stays
            assert time.monotonic() - start >= 5, "it broke off at once"
            assert (got.body, got.is_whole) == (b"".join(events[:5]), False), got.__dict__


# -- many --

@test
def many_clients_at_once_get_each_its_own():
    count = 40

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in message(json.loads(request.body)["messages"][0]["content"] * 20):
            await reply.piece(one)
            await asyncio.sleep(0)
        await reply.end()

    def drive(proxy):
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda n: proxy.post(MESSAGES, asked(f"client {n} ")).body, range(count)))
    with Ahr(AHR) as a:
        first = recorded(a, handler, drive)
        with cassette(a, timing="original") as proxy, ThreadPoolExecutor(count) as pool:
            again = list(pool.map(lambda n: proxy.post(MESSAGES, asked(f"client {n} ")).body, [*range(count)] * 3))
            assert again == first * 3
            proxy.end()


@test
def the_nearest_is_found_among_many():
    count = 700
    words = ("red", "green", "blue", "black", "white", "grey", "pink", "brown")
    bodies = [asked(" ".join(random.Random(n).choices(words, k=40))) for n in range(count)]

    async def handler(request, reply):
        await reply.whole(200, b"{}")

    def drive(proxy):
        with proxy.client() as c:
            for body in bodies:
                c.send(proxy.request(MESSAGES, json.dumps(body).encode()))
                assert c.reply().status == 200
    with Ahr(AHR) as a:
        recorded(a, handler, drive)
        with cassette(a) as proxy:
            for n in (0, 333, count - 1):
                text = bodies[n]["messages"][0]["content"]
                for other in (text + " green", "dark " + text, text[:99] + "ish" + text[99:]):
                    why = missed(proxy.post(MESSAGES, asked(other)))
                    assert why.startswith(f"the nearest is call {n + 1}, which differs: messages[0].content"), (n, why)


@test
def two_apis_with_the_same_paths_are_told_apart():
    async def handler(request, reply):
        await reply.whole(200, request.path.encode(), "text/plain")
    with Ahr(AHR) as a:
        with Upstream(handler) as up, Proxy(a, None, "--upstream",
                                            f"openai={up.url}/o,groq={up.url}/g,my-own={up.url}/m") as proxy:
            for name in ("GROQ", "OPENAI", "MY_OWN", "OPENAI"):
                proxy.ask("/models", method="GET", variable=f"{name}_BASE_URL")
            proxy.end()
        with cassette(a) as proxy:
            for name, want in (("OPENAI", "o"), ("MY_OWN", "m"), ("GROQ", "g"), ("GROQ", "g"), ("MY_OWN", "m")):
                got = proxy.ask("/models", method="GET", variable=f"{name}_BASE_URL")
                assert got.body == f"/{want}/models".encode(), (name, got.body)
            # where it was not asked at all, another one's answer is better than none
            assert proxy.ask("/models", method="GET", variable="OPENROUTER_BASE_URL").status == 200


# -- other recordings --

CLIENT = """
import json, os, sys, urllib.request
base = os.environ["ANTHROPIC_BASE_URL"]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for text in ("first", "second"):
    body = json.dumps({"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}).encode()
    with opener.open(urllib.request.Request(base + "/v1/messages", body)) as reply:
        print(len(reply.read()))
"""


@test
def what_a_session_with_wire_has_recorded_is_a_cassette_too():
    async def handler(request, reply):
        await reply.whole(200, b"".join(message("To " + json.loads(request.body)["messages"][0]["content"])), SSE[1])
    for command in ("run", "record"):
        with Ahr(AHR) as a, Upstream(handler) as up:
            a.ok(command, "--name", "talk", "--wire", "--upstream", f"anthropic={up.url}", "--", sys.executable, "-c",
                 CLIENT, env={"NO_PROXY": "127.0.0.1"})
            assert len(up.requests) == 2
            with cassette(a) as proxy:
                for text in ("second", "first"):
                    got = proxy.post(MESSAGES, asked(text))
                    assert got.body == b"".join(message(f"To {text}")), (command, got.body)
                missed(proxy.post(MESSAGES, asked("third")))
            assert len(up.requests) == 2


@test
def an_archived_session_is_a_cassette_as_it_lies():
    with Ahr(AHR) as a:
        first = recorded(a, api, lambda proxy: converse(proxy, *STYLES[0], 1))
        a.ok("archive", "talk")
        assert not list(a.dir.glob("home/.local/share/ahr/sessions/*/session.wire.jsonl"))
        with cassette(a) as proxy:
            assert [r.body for r in converse(proxy, *STYLES[0], 2).replies] == [r.body for r in first.replies]


def drops(kind, call):
    """The first such line of a call is lost."""
    seen = []

    def change(line):
        if (line["call"], line["type"]) == (call, kind) and not seen:
            return seen.append(line)
        return line
    return change


@test
def damage_costs_no_call_but_its_own():
    texts = [" ".join(random.Random(n).choices(("red", "green", "blue", "black", "white"), k=99)) for n in range(5)]

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in message(json.loads(request.body)["messages"][0]["content"][:50]):
            await reply.piece(one)
        await reply.end()
    with Ahr(AHR) as a:
        recorded(a, handler, lambda proxy: [proxy.post(MESSAGES, asked(text)) for text in texts])
        good = wire_file(a).read_bytes()
        for kind in ("request", "request_body", "reply", "event", "end"):
            wire_file(a).write_bytes(good)
            edit_wire(a, drops(kind, 2))
            with cassette(a) as proxy:
                for n, text in enumerate(texts):
                    got = proxy.post(MESSAGES, asked(text))
                    if n == 1:
                        missed(got)
                    else:
                        assert got.body == b"".join(message(text[:50])), (kind, n, got.body)
                why = "lines of it are damaged" if kind != "end" else "it goes on, or was cut off ('ahr recover')"
                said = proxy.end()
                assert said.startswith(f"ahr proxy: call 2 is left out: {why}\n"
                                       "ahr proxy: answers from 4 recorded calls, "), (kind, said)


@test
def a_call_that_is_told_by_a_lost_one_is_left_out_too():
    with Ahr(AHR) as a:
        first = recorded(a, api, lambda proxy: converse(proxy, *STYLES[0], 1))
        edit_wire(a, drops("request_body", 2))
        with cassette(a) as proxy:
            assert proxy.post(MESSAGES, first.requests[0]).body == first.replies[0].body
            assert all(missed(proxy.post(MESSAGES, body)) for body in first.requests[1:])
            said = proxy.end()
            assert all(f"call {n} is left out" in said for n in (2, 3, 4)), said


@test
def a_recording_that_is_cut_or_full_of_garbage_serves_what_is_left():
    with Ahr(AHR) as a:
        first = recorded(a, api, lambda proxy: converse(proxy, *STYLES[0], 1))
        path = wire_file(a)
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        calls = [json.loads(line)["call"] for line in lines]
        third = sum(map(len, lines[:calls.index(3)]))
        # torn in the midst of the third call, with garbage before it
        path.write_bytes(b"\0\0\n{\"a\":1}\nno line\n" + data[:third + (len(data) - third) // 3])
        with cassette(a) as proxy:
            got = [proxy.post(MESSAGES, body) for body in first.requests]
            assert [g.body for g in got[:2]] == [r.body for r in first.replies[:2]]
            missed(got[3])
            said = proxy.end()
            assert "2 lines of the recording are damaged" in said, said
            assert "call 3 is left out" in said and "answers from 2 recorded calls" in said, said
        path.write_bytes(b"no line\n" * 3)
        said = a.fails(4, "proxy", "--replay", "talk")
        assert "no call in 'talk' can be answered" in said, said
        path.write_bytes(b"")
        assert "nothing was recorded of the wire in 'talk'" in a.fails(3, "proxy", "--replay", "talk")
        path.unlink()
        assert "nothing was recorded of the wire in 'talk'" in a.fails(3, "proxy", "--replay", "talk")
        assert "nobody" in a.fails(3, "proxy", "--replay", "nobody")


@test
def a_recording_without_a_reply_says_so():
    with Ahr(AHR) as a:
        with Proxy(a, "http://127.0.0.1:1") as proxy:
            assert proxy.post(MESSAGES, asked("Is there anybody?")).status == 502
            proxy.end()
        said = a.fails(3, "proxy", "--replay", "talk")
        assert "no call in 'talk' was answered" in said, said
        with Proxy(a, None, session="quiet") as proxy:
            proxy.end()
        assert "nothing was recorded of the wire in 'quiet'" in a.fails(3, "proxy", "--replay", "quiet")


@test
def what_was_asked_but_never_answered_is_told_as_such():
    async def handler(request, reply):
        if b"lost" in request.body:
            reply.hang_up()
        else:
            await reply.whole(200, JSON_BODY)
    with Ahr(AHR) as a:
        recorded(a, handler, lambda proxy: [proxy.post(MESSAGES, asked(t)) for t in ("found", "lost")])
        with cassette(a) as proxy:
            assert proxy.post(MESSAGES, asked("found")).body == JSON_BODY
            for _ in range(2):
                why = missed(proxy.post(MESSAGES, asked("lost")))
                assert why.startswith("call 2 asked the same, and had none: the upstream has broken off: "), why


# -- secrets --

@test
def a_secret_that_is_masked_in_the_recording_is_no_difference():
    token = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
    key = "planted-credential-AAAA1111"

    async def handler(request, reply):
        await reply.head(200, [SSE], chunked=True)
        for one in message(f"Your token is {token}."):
            await reply.piece(one)
        await reply.end()
    body = asked(f"My token is {token}, and my key {key}.", system=f"export GITHUB_TOKEN={token}")
    for_all = [("x-api-key", key), ("authorization", f"Bearer {key}")]
    with Ahr(AHR) as a:
        recorded(a, handler, lambda proxy: proxy.post(MESSAGES + f"?key={key}&beta=true", body, headers=for_all))
        assert token.encode() not in wire_file(a).read_bytes() and key.encode() not in wire_file(a).read_bytes()
        with cassette(a) as proxy:
            got = proxy.post(MESSAGES + f"?key={key}&beta=true", body, headers=for_all)
            assert got.status == 200 and b"[REDACTED:" in got.body and b"ghp_" not in got.body, got.body
            # with another key, as a test has it
            other = json.loads(json.dumps(body).replace(key, "another-credential-BB22"))
            got = proxy.post(MESSAGES + "?beta=true", other, headers=[("x-api-key", "another-credential-BB22")])
            assert got.status == 200, got.body
            # what is no secret of the one who asks is none
            why = missed(proxy.post(MESSAGES + "?beta=true", other))
            assert "another-credential-BB22" in why, why
            why = missed(proxy.post(MESSAGES + "?beta=true", asked(f"A token: {token}"), headers=for_all))
            assert "ghp_" not in why, why


# -- what it does not do --

@test
def it_asks_nobody_and_records_nothing():
    first = talk()
    root = HOME.dir / "home/.local/share/ahr"

    def all_files():
        return {str(p): p.stat().st_size for p in root.rglob("*")}
    before = all_files()
    with Upstream(api) as up:
        env = {"ANTHROPIC_BASE_URL": up.url, "OPENAI_BASE_URL": up.url, "HTTP_PROXY": up.url, "ALL_PROXY": up.url}
        with cassette(HOME, env=env) as proxy:
            for was, (kind, variable) in zip(first, STYLES):
                assert [r.body for r in converse(proxy, kind, variable, 2).replies] == [r.body for r in was.replies]
            missed(proxy.post(MESSAGES, asked("nobody has asked that")))
            assert all_files() == before
            proxy.end()
        assert all_files() == before
        assert up.connections == 0


@test
def it_ends_by_a_signal():
    talk()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with cassette(HOME) as proxy:
            assert "answers from 12 recorded calls, at 127.0.0.1:" in proxy.end(number)


with Ahr(AHR) as HOME:
    run()
