#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wire_cli_test.py -- `ahr wire` as a user meets it, and what other commands make of recorded calls.

usage: wire_cli_test.py AHR
"""

import asyncio
import base64
import json
import re
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.on_pty import OnPty
from support.proxy import Proxy, files_with
from support.tap import run, test
from support.upstream import Upstream, message
from support.wire_story import HOSTILE, PATH, Story

AHR = sys.argv[1]
MAN = Path(__file__).resolve().parent.parent / "doc/ahr-wire.1.scd"


def facts(a, *more):
    return json.loads(a.ok("wire", "talk", "--json", *more))


def wire_file(a):
    return next((a.dir / "home/.local/share/ahr").glob("sessions/*/session.wire.jsonl"))


def rows(a):
    return [line.split("  ") for line in a.ok("wire", "talk").decode().splitlines()]


# -- the table --

@test
def the_table_has_a_line_a_call():
    with Ahr(AHR) as a, Story(a) as story:
        lines = a.ok("wire", "talk").decode().splitlines()
        assert len(lines) == len(story.calls), lines
        for number, (line, call) in enumerate(zip(lines, story.calls), 1):
            assert line.split()[0] == str(number) and str(call.status) in line, line
            if call.usage:
                into, out, made, read = call.usage
                assert f"{into:,}" in line and f" {out} " in line, line
                if read is not None:
                    assert f"{round(100 * read / (into + (made or 0) + read))}%" in line, line
        assert "529" in lines[3] and "200, retry of 4" in lines[4], lines[3:5]
        assert "200, error: the upstream has broken off" in lines[6], lines[6]
        assert "GET /v1/models" in lines[7] and "gpt-m" in lines[9], lines[7:]
        assert a.ok("wire") == a.ok("wire", "last") == a.ok("wire", story.proxy.folder().name) == a.ok("wire", "talk")


@test
def on_a_terminal_it_has_a_head_and_fits():
    with Ahr(AHR) as a, Story(a):
        for cols in (60, 80, 140):
            with OnPty([a.binary, "wire", "talk"], cols=cols, env={**a.env, "TERM": "xterm", "NO_COLOR": "1"}, cwd=a.dir) as p:
                assert p.finish() == 0
                lines = p.bytes.decode().replace("\r", "").splitlines()
            assert lines[0].split()[:2] == ["CALL", "TIME"] and "STATUS" in lines[0], lines[0]
            assert max(map(len, lines)) <= cols, (cols, max(lines, key=len))
            assert len(lines) == 11, lines


# -- facts --

@test
def the_facts_are_those_of_what_was_sent():
    with Ahr(AHR) as a, Story(a) as story:
        calls = facts(a)
        documented = set(re.findall(r"_([a-z_0-9]+)_", MAN.read_text().split("# JSON")[1].split("With *--call*")[0]))
        assert set(calls[0]) == documented - {"ok", "aborted", "error", "cut", "open"} | {"error"}, set(calls[0])
        for number, (told, call) in enumerate(zip(calls, story.calls), 1):
            assert (told["call"], told["status"], told["method"], told["url"]) == (number, call.status, call.method, call.path)
            assert told["target"] == story.up.url and told["sent_bytes"] == len(call.body), told
            assert told["end"] == ("error" if call.breaks_off else "ok"), told
            data = call.pack(call.reply) if call.pack else call.reply
            assert told["received_bytes"] in (len(data), len(call.reply)), (told, len(data))
            usage = told["usage"]
            if not call.usage:
                assert usage is None or call.breaks_off, told
                continue
            assert tuple(usage.values()) == call.usage, (usage, call.usage)
            into, out, made, read = call.usage
            if read is not None:
                assert abs(told["cache_share"] - read / (into + made + read)) < 0.001, told
            assert 0 <= told["first_byte_ms"] <= told["first_token_ms"] <= told["duration_ms"], told
            speed = out / (told["duration_ms"] - told["first_token_ms"]) * 1000
            assert abs(told["tokens_per_s"] - speed) < 0.02 * speed + 0.1, (told, speed)
        assert [t["events"] for t in calls] == [len(c.events) if c.events else None for c in story.calls]
        assert [t["t_ms"] for t in calls] == sorted(t["t_ms"] for t in calls)
        assert [t["retry_of"] for t in calls] == [None, None, None, None, 4, None, None, None, None, None]


@test
def one_call_is_given_back_whole():
    with Ahr(AHR) as a, Story(a) as story:
        for number, call in enumerate(story.calls, 1):
            told = facts(a, "--call", number)
            for key, want in (("request", call.body), ("reply", call.reply)):
                got = base64.b64decode(told[f"{key}_base64"]) if f"{key}_base64" in told else told[key].encode()
                assert got == want, (number, key, got[:200])
                assert told["request_is_whole"] and told["reply_is_whole"], number  # of all that came
            headers = {name.lower(): value for name, value in told["request_headers"]}
            assert headers["x-api-key"] == "[REDACTED:header]", headers
            if not call.pack:
                assert ["request-id", "req_1"] in told["reply_headers"], told["reply_headers"]
            if call.events:
                assert [e["text"].encode() for e in told["reply_events"]] == call.events
                after = [e["after_ms"] for e in told["reply_events"]]
                assert after == sorted(after) and told["first_byte_ms"] <= after[0], after
            assert "planted-credential" not in json.dumps(told)


@test
def as_text_a_call_says_nothing_to_a_terminal():
    with Ahr(AHR) as a, Story(a) as story:
        for number, call in enumerate(story.calls, 1):
            text = a.ok("wire", "talk", "--call", number).decode()
            assert text.startswith(f"{call.method} {story.up.url}{call.path} HTTP/1.1\n"), text[:200]
            assert f"HTTP/1.1 {call.status}\n" in text and "\n--- " in text, text
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), ascii(text)
            if call.events and call.reply.decode() != HOSTILE and number < 4:
                assert call.body.decode() in text and call.events[0].decode().strip() in text
        table = a.ok("wire", "talk").decode()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", table), ascii(table)


# -- HTTP Archive --

def check_har(log, count):
    """What HAR 1.2 asks for: members, their types, and that parts of a time are the time."""
    def has(thing, **members):
        for name, kind in members.items():
            assert name in thing, (name, thing)
            assert isinstance(thing[name], kind) and not (kind is int and isinstance(thing[name], bool)), (name, thing[name])
        for name in set(thing) - set(members):
            assert name.startswith("_") or name in ("comment", "pages", "postData", "encoding", "text", "params"), name
    number = (int, float)
    has(log, version=str, creator=dict, entries=list)
    assert log["version"] == "1.2" and len(log["entries"]) == count
    has(log["creator"], name=str, version=str)
    for entry in log["entries"]:
        has(entry, startedDateTime=str, time=number, request=dict, response=dict, cache=dict, timings=dict)
        assert datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00")).tzinfo
        has(entry["timings"], send=number, wait=number, receive=number)
        assert abs(sum(entry["timings"].values()) - entry["time"]) < 0.01, entry["timings"]
        request, response = entry["request"], entry["response"]
        has(request, method=str, url=str, httpVersion=str, cookies=list, headers=list, queryString=list, headersSize=int,
            bodySize=int)
        has(response, status=int, statusText=str, httpVersion=str, cookies=list, headers=list, content=dict,
            redirectURL=str, headersSize=int, bodySize=int)
        has(response["content"], size=int, mimeType=str)
        if "postData" in request:
            has(request["postData"], mimeType=str, text=str)
            assert set(request["postData"]) <= {"mimeType", "text", "_encoding"}, request["postData"]
        for pair in request["headers"] + response["headers"] + request["queryString"]:
            assert set(pair) == {"name", "value"} and all(isinstance(v, str) for v in pair.values()), pair
        assert request["url"].startswith("http://127.0.0.1:"), request["url"]


@test
def the_archive_is_one_that_others_read():
    with Ahr(AHR) as a, Story(a) as story:
        har = json.loads(a.ok("wire", "talk", "--har"))
        assert list(har) == ["log"]
        check_har(har["log"], len(story.calls))
        for entry, call in zip(har["log"]["entries"], story.calls):
            content = entry["response"]["content"]
            got = base64.b64decode(content["text"]) if content.get("encoding") == "base64" else content["text"].encode()
            assert got == call.reply and content["size"] == len(call.reply), (got[:100], content["size"])
            assert entry["response"]["status"] == call.status
            if call.body:
                sent = entry["request"]["postData"]
                got = base64.b64decode(sent["text"]) if "_encoding" in sent else sent["text"].encode()
                assert got == call.body, got[:100]
            assert ("_events" in entry) == bool(call.events)
        assert har["log"]["entries"][0]["request"]["queryString"] == [{"name": "beta", "value": "true"}]
        one = json.loads(a.ok("wire", "talk", "--har", "--call", "5"))
        check_har(one["log"], 1)
        assert one["log"]["entries"][0] == har["log"]["entries"][4]
        assert b"planted-credential" not in a.ok("wire", "talk", "--har")


# -- what is asked for wrongly --

@test
def what_is_not_there_is_told():
    with Ahr(AHR) as a, Story(a):
        assert "there is no call 11 in 'talk'; it has 10" in a.fails(3, "wire", "talk", "--call", "11")
        assert "nobody" in a.fails(3, "wire", "nobody")
        assert "--json and --har do not go together" in a.fails(2, "wire", "--json", "--har")
        assert "unexpected 'more'" in a.fails(2, "wire", "talk", "more")
        for bad in ("0", "-1", "x", "99999999999999999999"):
            a.fails(2, "wire", "--call", bad)
        a.ok("record", "--name", "plain", "--", "true")
        told = a.fails(3, "wire", "plain")
        assert "nothing was recorded of the wire in 'plain'; 'ahr record --wire'" in told, told


# -- while it is recorded --

@test
def a_call_that_goes_on_is_looked_at():
    """Whatever has come of it."""
    async def handler(request, reply):
        await reply.head(200, [("content-type", "text/event-stream")], chunked=True)
        await reply.piece(message("half")[0])
        await gate.wait()
        await reply.end()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        gate = asyncio.Event()
        c.send(proxy.request(PATH, json.dumps({"model": "m-1", "stream": True, "messages": []}).encode()))
        c.head()
        c.until(b"message_start")
        assert b"200, going on" in a.ok("wire", "talk")
        told = facts(a, "--call", "1")
        assert (told["end"], told["duration_ms"], len(told["reply_events"])) == ("open", None, 1), told
        assert b"--- going on" in a.ok("wire", "talk", "--call", "1")
        check_har(json.loads(a.ok("wire", "talk", "--har"))["log"], 1)
        up.loop.call_soon_threadsafe(gate.set)
        c.until(b"\r\n0\r\n\r\n")
        proxy.end()
        assert facts(a)[0]["end"] == "ok"


@test
def a_call_whose_recorder_was_killed_is_cut_before_it_is_recovered_too():
    async def handler(request, reply):
        await reply.head(200, [("content-type", "text/event-stream")], chunked=True)
        await reply.piece(message("half")[0])
        await reply.reader.read()
    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy, proxy.client() as c:
        c.send(proxy.request(PATH, json.dumps({"model": "m-1", "stream": True, "messages": []}).encode()))
        c.head()
        c.until(b"message_start")
        proxy.process.kill()
        proxy.process.wait()
        done = a.run("wire", "talk")
        assert done.returncode == 4 and b"200, cut" in done.stdout, done
        assert b"ends before 1 call did; 'ahr recover' completes it" in done.stderr, done
        a.ok("recover", "--all")
        assert b"200, cut" in a.ok("wire", "talk")


# -- damage --

@test
def damage_costs_no_good_call():
    with Ahr(AHR) as a, Story(a) as story:
        path = wire_file(a)
        good = path.read_bytes()
        whole = {n: a.ok("wire", "talk", "--call", n, "--json") for n in range(1, 11)}
        lines = good.splitlines(keepends=True)
        victims = [i for i, line in enumerate(lines) if json.loads(line)["call"] == 2]
        harms = {
            "a line that is no object": lines[:5] + [b"not json\n"] + lines[5:],
            "two lines joined": [b"".join(lines[:3]).replace(b"\n", b"") + b"\n"] + lines[3:],
            "NULs between": lines[:7] + [b"\0" * 4096 + b"\n"] + lines[7:],
            "an event that is gone": [line for i, line in enumerate(lines) if i != victims[4]],
            "the end cut off": lines[:-1] + [lines[-1][:30]],
            "a body by which others are told": [line for i, line in enumerate(lines) if i != victims[1]],
        }
        harmless = ("two lines joined", "NULs between")
        for name, harmed in harms.items():
            path.write_bytes(b"".join(harmed))
            bad = []
            for number in range(1, 11):
                done = a.run("wire", "talk", "--call", number, "--json")
                assert done.returncode == 0 or done.returncode == 4, (name, number, done)
                if done.stdout != whole[number]:
                    bad.append(number)
                    told = json.loads(done.stdout) if done.stdout else {"end": None}
                    assert told["end"] == "cut" or not (told["request_is_whole"] and told["reply_is_whole"]), told
            want = {"an event that is gone": [2], "the end cut off": [10], "a body by which others are told": [2, 3, 4, 5]}
            assert bad == want.get(name, []), (name, bad)
            done = a.run("wire", "talk")
            assert len(done.stdout.splitlines()) == 10 or name == "the end cut off", (name, done)
            if name not in harmless:
                told = a.run("wire", "talk", "--json")
                both = [done.returncode, told.returncode, *(a.run("wire", "talk", "--call", n).returncode for n in (2, 10))]
                assert 4 in both, (name, both)
        path.write_bytes(good)
        assert a.ok("wire", "talk", "--call", "2", "--json") == whole[2]


# -- what others make of it --

@test
def the_conversation_is_a_sessions_like_any_other():
    with Ahr(AHR) as a, Story(a) as story:
        shown = json.loads(a.ok("show", "talk", "--json"))
        assert (shown["kind"], shown["status"], shown["model"]) == ("wire", "completed", "claude-m-1"), shown
        want = [sum(c.usage[i] or 0 for c in story.calls if c.usage) for i in range(4)]
        told = [shown["usage"][k] for k in ("input_tokens", "output_tokens", "cache_creation_input_tokens",
                                            "cache_read_input_tokens")]
        lost = (10, 1, 3, 5)  # of the reply that broke off, as far as it was told
        assert told == [w + x for w, x in zip(want, lost)], (told, want)
        a.ok("index", "--all")
        hits = json.loads(a.ok("search", "zebras", "--json"))
        assert {h["session"]["name"] if isinstance(h["session"], dict) else h["session"] for h in hits["hits"]
                } if isinstance(hits, dict) else hits, hits
        rows_of = json.loads(a.ok("usage", "--json", "--by", "model"))["rows"]
        assert sum(r["output_tokens"] for r in rows_of) == told[1], rows_of
        text = a.ok("export", "talk", "--what", "turns", "--format", "txt").decode()
        assert text.index("Question 0") < text.index("Answer 0") < text.index("Question 1") < text.index("At last."), text
        assert text.count("Question 0") == 1 and text.count("Answer 1, in pieces") == 3, text
        assert "[error] busy" in text and "Hello from chat." in text
        for kind in ("md", "json", "csv", "html", "jsonl"):
            assert b"Question 2" in a.ok("export", "talk", "--what", "turns", "--format", kind), kind
        assert "ahr wire" in a.ok("show", "talk").decode()


@test
def archived_encrypted_and_deleted_it_is_what_it_was():
    with Ahr(AHR) as a, Story(a) as story:
        whole = [a.ok("wire", "talk", *more) for more in ((), ("--json",), ("--har",), ("--json", "--call", "2"))]
        before = sum(p.stat().st_size for p in story.proxy.folder().iterdir())
        a.ok("archive", "talk")
        assert [p.name for p in story.proxy.folder().glob("session.wire*")] == ["session.wire.jsonl.gz"]
        assert sum(p.stat().st_size for p in story.proxy.folder().iterdir()) < before / 2
        assert [a.ok("wire", "talk", *more) for more in ((), ("--json",), ("--har",), ("--json", "--call", "2"))] == whole
        with Proxy(a, None, "--replay", "talk", "--timing", "fast", session=None) as again:
            assert again.post(PATH, story.calls[0].body).body == story.calls[0].reply
        a.ok("archive", "--undo", "talk")
        assert [a.ok("wire", "talk", *more) for more in ((), ("--json",), ("--har",), ("--json", "--call", "2"))] == whole
        key = a.dir / "key"
        key.write_bytes(b"k" * 32)
        a.ok("encrypt", "talk", "--key-file", key)
        assert files_with(a.dir / "home", b"zebras") == []
        assert "encrypted" in a.fails(1, "wire", story.proxy.folder().name)
        a.ok("decrypt", story.proxy.folder().name, "--key-file", key)
        assert [a.ok("wire", "talk", *more) for more in ((), ("--json",), ("--har",), ("--json", "--call", "2"))] == whole
        a.ok("delete", "--yes", "talk")
        assert files_with(a.dir / "home", b"zebras") == []


@test
def a_text_is_taken_out_of_all_calls_afterwards():
    with Ahr(AHR) as a, Story(a) as story:
        a.ok("index", "--all")
        before = facts(a)
        texts = b"zebras\nBroken off\n"
        a.ok("redact", "talk", "--text-file", "-", input=texts)
        for text in (b"zebras", b"Broken off"):
            assert files_with(a.dir / "home", text) == [], text
        after = facts(a)
        for old, new in zip(before, after):
            assert {k: v for k, v in old.items() if k != "error"} == {k: v for k, v in new.items() if k != "error"}
        for number, call in enumerate(story.calls, 1):
            told = facts(a, "--call", number)
            if b"zebras" in call.body:
                assert "zebras" not in told["request"] and "[REDACTED:" in told["request"], told["request"][:300]
                asked = json.loads(told["request"])
                assert asked["messages"][-1] == json.loads(call.body)["messages"][-1] or number <= 3
            if call.events and number not in (7,):
                assert told["reply"].encode() == call.reply, number
        assert b"zebras" not in a.ok("export", "talk", "--what", "turns", "--format", "txt")


@test
def a_secret_that_was_said_in_pieces_is_taken_out_afterwards():
    word = "hippopotamus"
    with Ahr(AHR) as a, Upstream(None) as up:
        async def handler(request, reply):
            await reply.head(200, [("content-type", "text/event-stream")], chunked=True)
            for one in message(f"They said {word} and {word}, {word}.", pieces=3):
                await reply.piece(one)
            await reply.end()
        up.handler = handler
        with Proxy(a, up.url) as proxy:
            proxy.post(PATH, {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": f"{word}?"}]})
            proxy.end()
        a.ok("redact", "talk", "--text-file", "-", input=word.encode())
        told = facts(a, "--call", "1")
        said = "".join(json.loads(e["text"].split("data: ")[1])["delta"]["text"] for e in told["reply_events"]
                       if "text_delta" in e["text"])
        mask = re.escape(re.search(r"\[REDACTED:[^]]*\]", said).group())
        assert re.fullmatch(f"They said {mask} and {mask}, {mask}\\.", said), said
        assert word not in json.dumps(told) and files_with(a.dir / "home", word.encode()) == []


@test
def what_a_killed_body_ends_with_stays_but_for_half_a_text():
    """Two calls whose bodies break off: the one may go on as a text does, the other has begun one for sure."""
    bodies = [(["{\"text\":\"some wo", "rds and its last is "], "{\"text\":\"some [] and its last is "),
              (["some wo", "rds: it is noth"], "some []: it []")]
    with Ahr(AHR) as a, Story(a):
        path, count = wire_file(a), len(facts(a))
        with path.open("a") as file:
            for call, (pieces, _) in enumerate(bodies, count + 1):
                line = {"ts_ns": "1700000000000000000", "t_ms": 1, "call": call}
                print(json.dumps({**line, "type": "request", "method": "POST", "url": PATH}), file=file)
                for kind in ("request_body", "body"):
                    for number, piece in enumerate(pieces):
                        print(json.dumps({**line, "type": kind, "piece": number, "text": piece}), file=file)
                if call == count + 1:
                    print(json.dumps({**line, "type": "end", "status": "cut"}), file=file)
        for _ in range(2):  # the second time there is nothing to do
            a.ok("redact", "talk", "--text-file", "-", input=b"words\nis nothing at all\n")
            for call, (_, want) in enumerate(bodies, count + 1):
                told = json.loads(a.run("wire", "talk", "--json", "--call", call).stdout)
                for kind in ("request", "reply"):
                    assert re.sub(r"\[REDACTED:[^]]*\]", "[]", told[kind]) == want, (kind, told[kind])


@test
def the_doctor_finds_what_is_wrong_with_it():
    with Ahr(AHR) as a, Story(a):
        assert a.run("doctor", "--deep").returncode == 0, a.run("doctor", "--deep")
        path = wire_file(a)
        path.write_bytes(path.read_bytes()[:-40])
        told = a.run("doctor", "--deep")
        assert told.returncode and b"wire" in told.stdout, told


run()
