#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sdk_test.py -- the vendors' own clients, directly, through `ahr proxy`, and from a cassette: they see the same.

usage: sdk_test.py AHR NPM_FOLDER

The clients are npm's packages in NPM_FOLDER, as sdk/package.json names them ('./dev test' installs them); what they
do are the scenes in sdk/*.mjs.
"""

import base64
import functools
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.dialogue import SAYS, SCRIPT, SSE, api, made_id, turn_of
from support.processes import wait_for
from support.proxy import Proxy
from support.tap import Skip, run, test
from support.upstream import Upstream, event

AHR, NPM = sys.argv[1], Path(sys.argv[2]).resolve()
SCENES = Path(__file__).resolve().parent / "sdk"
NODE = shutil.which("node")
OLDEST_NODE = 18


# -- the APIs --

async def tells_models(request, reply):
    """Anthropic's in two pages, OpenAI's in one."""
    if request.path.startswith("/models"):
        told = {"object": "list", "data": [{"id": f"m-{n}", "object": "model", "created": 1763500000, "owned_by": "us"}
                                           for n in (2, 3)]}
    else:
        n = 2 if "after_id=m-1" in request.path else 1
        told = {"data": [{"type": "model", "id": f"m-{n}", "display_name": f"M {n}", "created_at": "2026-01-02T03:04:05Z"}],
                "has_more": n == 1, "first_id": f"m-{n}", "last_id": f"m-{n}"}
    await reply.whole(200, json.dumps(told).encode())


async def embeds(request, reply):
    body = json.loads(request.body)
    assert body["encoding_format"] == "base64", body
    vectors = [base64.b64encode(struct.pack("<3f", len(text), 0.5, -2)).decode() for text in body["input"]]
    await reply.whole(200, json.dumps({
        "object": "list", "model": "m-4", "usage": {"prompt_tokens": 3, "total_tokens": 3},
        "data": [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]}).encode())


def scene_of(body):
    return body.get("messages", body.get("input"))[0].get("content")


async def refuses(request, reply, status, words):
    error = {"type": words.replace(" ", "_") + "_error", "message": f"It is {words}."}
    told = {"type": "error", "error": error, "request_id": "req_01"} if request.path.startswith("/v1/") else \
        {"error": {**error, "param": None, "code": None}}
    await reply.whole(status, json.dumps(told).encode(), headers=[("retry-after", "0.01"),
                                                                  ("request-id", made_id("req_01", words))])


async def begins(request, reply):
    """A stream as far as its first words."""
    path = request.path.partition("?")[0]
    await reply.head(200, [SSE], chunked=True)
    for one in SAYS[path][0](len(SCRIPT) - 1):
        await reply.piece(one)
        if b"Done" in one:
            return


async def fails(request, reply):
    await begins(request, reply)
    error = {"type": "overloaded_error", "message": "There is too much to do."}
    await reply.piece(event({"type": "error", "error": error}, "error") if request.path.startswith("/v1/")
                      else event({"error": {**error, "param": None, "code": "overloaded"}}))
    await reply.end()


LEFT = []  # replies that their clients went away from


async def all_apis(request, reply):
    path = request.path.partition("?")[0]
    attempt = int(request.header("x-stainless-retry-count", "0"))
    busy = (529, "overloaded") if path.startswith("/v1/") else (500, "api")
    if path.endswith("/models"):
        return await tells_models(request, reply)
    if path == "/embeddings":
        return await embeds(request, reply)
    if path.endswith("/count_tokens"):
        return await reply.whole(200, b'{"input_tokens":42}')
    scene = scene_of(json.loads(request.body))
    if scene == "retry" and attempt < 2:
        return await refuses(request, reply, *((429, "rate limit"), busy)[attempt])
    if scene == "refused":
        return await refuses(request, reply, 400, "invalid request")
    if scene == "busy":
        return await refuses(request, reply, *busy)
    if scene == "fails":
        return await fails(request, reply)
    if scene in ("breaks", "abort"):
        await begins(request, reply)
        if scene == "breaks":
            return reply.hang_up()
        await reply.reader.read()  # until the client has gone
        LEFT.append(path)
        return reply.hang_up()
    return await api(request, reply)


# -- the clients --

def needs_clients():
    if not NODE:
        raise Skip("there is no node")
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        raise Skip(f"node is {version.strip()}, and {OLDEST_NODE} is needed")
    listed = NPM / "package.json"
    if not listed.exists() or listed.read_bytes() != (SCENES / "package.json").read_bytes():
        raise Skip("build/npm has not what tests/sdk/package.json lists: './dev test' gets it from npm")


def play(script, env, *scenes):
    """What the scenes saw, by name."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(HOME.dir / "home"), "NODE_NO_WARNINGS": "1",
             "ANTHROPIC_API_KEY": "not-a-key", "OPENAI_API_KEY": "not-a-key", **env}
    done = subprocess.run([NODE, SCENES / script, NPM, *scenes], env=clean, cwd=HOME.dir, capture_output=True,
                          timeout=120, check=False)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr.decode())
    return {told["scene"]: told["seen"] for told in map(json.loads, done.stdout.decode().splitlines())}


@functools.cache
def played(script):
    """Directly, through the proxy, and from what that has recorded, with nobody behind it."""
    needs_clients()
    name = script.removesuffix(".mjs")
    got = SimpleNamespace()
    LEFT.clear()
    with Upstream(all_apis) as up:
        there = {"ANTHROPIC_BASE_URL": up.url, "OPENAI_BASE_URL": up.url}
        got.directly = play(script, there)
        wait_for(lambda: LEFT, "the client has not gone away")
        got.asked = [(r.method, r.path, r.body) for r in up.requests]
        up.requests.clear()
        LEFT.clear()
        with Proxy(HOME, None, env=there, session=name) as proxy:
            got.through = play(script, proxy.variables)
            wait_for(lambda: LEFT, "the upstream's connection is still open")
            proxy.end()
        got.forwarded = [(r.method, r.path, r.body) for r in up.requests]
        got.calls = proxy.calls()
        got.turns = [json.loads(line) for line in wire_of(name).with_name("session.turns.jsonl").open()]
        up.connections = 0
        with Proxy(HOME, None, "--replay", name, "--timing", "fast", env=there, session=None) as proxy:
            got.replayed = play(script, proxy.variables)
            got.missed = play(script, proxy.variables, "none")
            got.said = proxy.end()
        assert up.connections == 0, "the cassette has asked somebody"
    return got


def wire_of(name):
    root = HOME.dir / "home/.local/share/ahr/sessions"
    return next(p / "session.wire.jsonl" for p in root.iterdir()
                if json.loads((p / "session.meta.json").read_text())["name"] == name)


def same(one, other):
    assert one.keys() == other.keys(), (list(one), list(other))
    for scene, seen in one.items():
        assert seen == other[scene], (scene, seen, other[scene])


SAID = SCRIPT[-1]["say"]


# -- Anthropic's --

@test
def anthropics_client_sees_the_same_through_the_proxy_and_from_a_cassette():
    got = played("anthropic.mjs")
    assert got.forwarded == got.asked
    same(got.directly, got.through)
    same(got.through, got.replayed)


@test
def what_it_sees_is_what_the_api_says():
    seen = played("anthropic.mjs").replayed
    assert seen["stream"]["message"]["content"][-1]["name"] == "shell" and seen["stream"]["request"], seen["stream"]
    assert seen["tools"][-1]["content"] == [{"type": "text", "text": SAID}] and len(seen["tools"]) == 8, seen["tools"]
    assert seen["runner"]["last"]["content"][-1]["text"] == SAID, seen["runner"]
    assert seen["create"]["data"]["usage"]["output_tokens"] == 30 and seen["create"]["left"] == "7", seen["create"]
    assert seen["events"][0]["type"] == "message_start" and seen["events"][-1]["type"] == "message_stop"
    assert seen["count"] == {"input_tokens": 42} and [m["id"] for m in seen["models"]] == ["m-1", "m-2"]
    assert seen["retry"]["stop_reason"] == "tool_use", seen["retry"]
    assert (seen["refused"]["status"], seen["refused"]["type"]) == (400, "invalid_request_error"), seen["refused"]
    assert seen["busy"]["status"] == 529 and seen["busy"]["request"], seen["busy"]
    assert seen["fails"]["type"] == "overloaded_error" and "too much" in seen["fails"]["message"], seen["fails"]
    assert seen["breaks"]["thrown"], seen["breaks"]
    assert seen["abort"] == {"heard": ["message_start", "content_block_start", "content_block_delta"]}, seen["abort"]


def ended(call):
    """How. A client that tries again may be gone before all of the error has come."""
    end = "ok" if call["end"] == "aborted" and call["status"] in (429, 500, 529) else call["end"]
    return call["url"], call["status"], end


@test
def each_of_its_calls_is_recorded_as_it_was():
    calls = played("anthropic.mjs").calls
    messages = [("/v1/messages", status, end) for status, end in [(200, "ok")] * 11 + [
        (429, "ok"), (529, "ok"), (200, "ok"), (400, "ok"), (529, "ok"), (200, "ok"), (200, "error"), (200, "aborted")]]
    others = [(f"/v1/{what}", 200, "ok")
              for what in ("messages/count_tokens", "models?limit=2", "models?limit=2&after_id=m-1")]
    told = [ended(c) for c in calls]
    assert told == messages[:11] + others + messages[11:], told
    tools = calls[1:5]
    assert [(c["usage"]["input_tokens"], c["usage"]["output_tokens"]) for c in tools] == [
        (20, 30), (21, 31), (22, 32), (23, 33)], tools
    assert [c["usage"]["cache_read_input_tokens"] for c in tools] == [0, 50, 100, 150], tools
    assert {c["model"] for c in tools} == {"m-1"}
    retried = [(c["call"], c["retry_of"]) for c in calls[14:17]]
    assert [r[1] for r in retried] == [None, retried[0][0], retried[1][0]], retried


@test
def its_conversation_is_kept_turn_by_turn():
    turns = played("anthropic.mjs").turns
    begin = next(n for n, t in enumerate(turns) if t["type"] == "text" and t["text"] == "tools")
    mine = turns[begin:]
    calls = [(t["name"], t.get("tool_id")) for t in mine if t["type"] == "tool_call"][:4]
    assert [name for name, _ in calls] == ["read", "shell", "edit", "shell"], calls
    results = [t.get("tool_id") for t in mine if t["type"] == "tool_result"][:4]
    assert results == [i for _, i in calls], (calls, results)
    assert any(t["type"] == "text" and t["text"] == SAID and t["role"] == "assistant" for t in mine)


# -- OpenAI's --

@test
def openais_client_sees_the_same_through_the_proxy_and_from_a_cassette():
    got = played("openai.mjs")
    assert got.forwarded == got.asked
    same(got.directly, got.through)
    same(got.through, got.replayed)


@test
def what_that_one_sees_is_what_the_api_says():
    seen = played("openai.mjs").replayed
    assert seen["stream"]["whole"]["usage"]["total_tokens"] == 70, seen["stream"]
    assert seen["tools"]["last"] == SAID and len(seen["tools"]["all"]) == 9, seen["tools"]
    assert seen["create"]["data"]["choices"][0]["finish_reason"] == "tool_calls", seen["create"]
    assert seen["chunks"][-1]["choices"] == [] and seen["chunks"][-1]["usage"], seen["chunks"][-1]
    assert seen["responses"]["text"] == SAID and seen["responses"]["usage"]["input_tokens"] == 63, seen["responses"]
    assert seen["chain"] == [step["say"] for step in SCRIPT], seen["chain"]
    assert seen["items"][-1]["type"] == "response.completed" and seen["response"] == SCRIPT[0]["say"]
    assert [m["id"] for m in seen["models"]] == ["m-2", "m-3"], seen["models"]
    assert [e["embedding"] for e in seen["embeddings"]["data"]] == [[10, 0.5, -2], [3, 0.5, -2]], seen["embeddings"]
    assert seen["retry"]["choices"][0]["message"]["tool_calls"], seen["retry"]
    assert (seen["refused"]["status"], seen["refused"]["type"]) == (400, "invalid_request_error"), seen["refused"]
    assert seen["busy"]["status"] == 500, seen["busy"]
    assert seen["fails"]["thrown"] and "too much" in seen["fails"]["message"], seen["fails"]
    assert seen["abort"]["aborted"] and len(seen["abort"]["heard"]) == 2, seen["abort"]


@test
def each_of_that_ones_calls_is_recorded_as_it_was():
    calls = played("openai.mjs").calls
    chat = [("/chat/completions", status, end) for status, end in [(200, "ok")] * 7 + [
        (429, "ok"), (500, "ok"), (200, "ok"), (400, "ok"), (500, "ok"), (200, "ok"), (200, "aborted")]]
    others = [(path, 200, "ok") for path in ["/responses"] * 10 + ["/models", "/embeddings"]]
    told = [ended(c) for c in calls]
    assert told == chat[:7] + others + chat[7:], told
    items = calls[7:11]
    assert [(c["usage"]["input_tokens"], c["usage"]["output_tokens"]) for c in items] == [
        (50, 25), (51, 26), (52, 27), (53, 28)], items
    assert {c["usage"]["cache_read_input_tokens"] for c in items} == {10} and {c["model"] for c in items} == {"m-3"}
    retried = [(c["call"], c["retry_of"]) for c in calls[19:22]]
    assert [r[1] for r in retried] == [None, retried[0][0], retried[1][0]], retried


@test
def a_miss_is_an_error_that_no_client_tries_again():
    for script, path in (("anthropic.mjs", "/v1/messages"), ("openai.mjs", "/chat/completions")):
        got = played(script)
        seen = got.missed["none"]
        assert (seen["status"], seen["error"]["error"]["type"] if "error" in seen["error"] else seen["type"]) == (
            502, "cassette_miss"), seen
        assert "the nearest is call " in seen["message"], seen
        assert got.said.count("this has no answer in the recording") == 1, got.said
        assert f"POST {path}: this has no answer in the recording: " in got.said, got.said


with Ahr(AHR) as HOME:
    run()
