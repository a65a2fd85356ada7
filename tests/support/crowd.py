# SPDX-License-Identifier: MIT
"""crowd.py -- what tests/tools/crowd_script.c says, made a second time, and held against a record.

    script = Script(seed, events, spoken, turns)
    script.plan((stream, talk, turn, attempt)).way
    record = Record(folder, script)   # reads session.wire.jsonl line by line
    record.calls["0.0.0.0"].events

Nothing of ahr's own is used to read.
"""

import base64
import functools
import json
from dataclasses import dataclass

STREAM, PLAIN, REFUSED, ERROR, DROPPED, ABORTED = range(6)
WORDS = ("the agent reads a file and then writes it back with one line more than there was while tests run in another "
         "place where nobody looks until they end or fail again").split()
BOOK, SYSTEM = 1 << 16, 6000
MASK = (1 << 64) - 1


def make_book():
    x, text = 12345, ""
    while len(text) < BOOK:
        x = (x * 1103515245 + 12345) & 0xffffffff
        text += WORDS[(x >> 16) % 32] + " "
    return text[:BOOK]


TEXT = make_book()


def mix(h, v):
    h = ((h ^ v) * 0x9e3779b97f4a7c15) & MASK
    return h ^ h >> 29


def say(start, n):
    start = (start & MASK) % (BOOK - 8192)
    return TEXT[start:start + n]


@dataclass
class Plan:
    way: int
    status: int
    deltas: int
    stop: int
    is_packed: bool
    is_reset: bool
    is_early: bool

    def pieces(self):
        """Of the reply's body, as the upstream means to send it."""
        whole = 1 if self.way in (REFUSED, PLAIN) else self.deltas + 6
        return {ERROR: self.stop + 1, DROPPED: self.stop}.get(self.way, whole)


def name_of(call):
    return ".".join(map(str, call))


class Script:
    def __init__(self, seed, events, spoken, turns):
        self.seed, self.events, self.spoken, self.most = seed, events, spoken, turns
        self.plan = functools.lru_cache(1 << 14)(self.plan)
        self.answer = functools.lru_cache(1 << 13)(self.answer)

    def draw(self, call, kind):
        h = mix(self.seed, 0)
        for v in (*call, kind, 0):
            h = mix(h, v)
        return h

    def turns(self, stream, talk):
        return 1 + self.draw((stream, talk, 0, 0), 1) % self.most

    def plan(self, call):
        h, g = self.draw(call, 2), self.draw(call, 3)
        percent = h % 100
        way = STREAM if call[3] > 1 else next(w for most, w in (
            (6, REFUSED), (9, ERROR), (13, DROPPED), (18, ABORTED), (23, PLAIN), (100, STREAM)) if percent < most)
        deltas = self.events // 2 + (h >> 8) % (self.events + 1)
        status = 200 if way != REFUSED else 429 if h >> 40 & 1 else 529
        pieces = 1 if way in (REFUSED, PLAIN) else deltas + 6
        return Plan(way, status, deltas, (h >> 16) % pieces, way != REFUSED and g % 100 < 15, bool(g >> 16 & 1),
                    (g >> 17) % 100 < 30)

    def last_attempt(self, call):
        attempt = 0
        while self.plan((*call[:3], attempt)).way not in (STREAM, PLAIN):
            attempt += 1
        return attempt

    def delta(self, call, h, n):
        piece = say((h >> 16) + n * 97, 4 + ((h + n * 31) & MASK) % 24)
        return f"[{name_of(call)}.{n}] {piece} ü. "

    def answer(self, call, deltas=None):
        """What the model says, up to so many deltas."""
        h = self.draw(call, 4)
        deltas = self.plan(call).deltas if deltas is None else deltas
        return "".join(self.delta(call, h, n) for n in range(deltas))

    def question(self, call):
        h = self.draw((*call[:3], 0), 5)
        return f"<{name_of(call[:3])}> {say(h, 1 + (h >> 32) % self.spoken)}"

    def model(self, call):
        return f"m-{call[0] % 7}"

    def ask(self, call):
        """The body of the request."""
        stream, talk, turn, _ = call
        said = []
        for t in range(turn + 1):
            one = (stream, talk, t, 0)
            mark = '","cache_control":{"type":"ephemeral"}}]}' if t == turn else '"}]}'
            said.append('{"role":"user","content":[{"type":"text","text":"' + self.question(one) + mark)
            if t < turn:
                said.append('{"role":"assistant","content":[{"type":"text","text":"' +
                            self.answer((stream, talk, t, self.last_attempt(one))) + '"}]}')
        wants = "false" if self.plan(call).way == PLAIN else "true"
        return (f'{{"model":"{self.model(call)}","max_tokens":4096,"stream":{wants},"system":"{say(0, SYSTEM)}",'
                f'"messages":[{",".join(said)}]}}').encode()

    def usage(self, call, output):
        stream, talk, turn, attempt = call
        return {"input_tokens": 10 + 3 * turn + stream, "cache_creation_input_tokens": 7 + attempt,
                "cache_read_input_tokens": 100 * talk + turn, "output_tokens": output}

    def told_usage(self, call, pieces):
        """What is known when so many pieces have come."""
        plan = self.plan(call)
        events = pieces - (plan.way == ERROR and pieces == plan.pieces())  # the error tells nothing
        if plan.way == REFUSED or not events:
            return None
        return self.usage(call, plan.deltas if plan.way == PLAIN or events >= plan.deltas + 5 else 1)

    def head_of(self, call):
        stream, talk, turn, attempt = call
        return f'"id":"msg_01{stream:04}{talk:06}{turn:04}{attempt:04}"'

    def whole(self, call):
        """The reply in one piece."""
        plan = self.plan(call)
        if plan.way == REFUSED:
            kind = "rate_limit_error" if plan.status == 429 else "overloaded_error"
            return f'{{"type":"error","error":{{"type":"{kind}","message":"not now, {name_of(call)}"}}}}'
        usage = json.dumps(self.usage(call, plan.deltas), separators=(",", ":"))
        return (f'{{{self.head_of(call)},"type":"message","role":"assistant","model":"{self.model(call)}","content":['
                f'{{"type":"text","text":"{self.answer(call)}"}}],"stop_reason":"end_turn","usage":{usage}}}')

    def event_maker(self, call):
        """event(n): the n-th of them."""
        plan, h = self.plan(call), self.draw(call, 4)
        last = plan.pieces() - 1
        stream, talk, turn, attempt = call
        begin = ('event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":'
                 f'"text_delta","text":"[{stream}.{talk}.{turn}.{attempt}.')
        start = h >> 16

        def event(n):
            if n == last and plan.way == ERROR:
                return ('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"amid the '
                        'reply"}}\n\n')
            if 3 <= n < 3 + plan.deltas:
                n -= 3
                at = (start + n * 97) % (BOOK - 8192)
                return f'{begin}{n}] {TEXT[at:at + 4 + ((h + n * 31) & MASK) % 24]} ü. "}}}}\n\n'
            if n == 0:
                usage = json.dumps(self.usage(call, 1), separators=(",", ":"))
                return (f'event: message_start\ndata: {{"type":"message_start","message":{{{self.head_of(call)},"type":'
                        f'"message","role":"assistant","model":"{self.model(call)}","content":[],"stop_reason":null,'
                        f'"usage":{usage}}}}}\n\n')
            return {
                1: 'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":'
                   '"text","text":""}}\n\n',
                2: 'event: ping\ndata: {"type":"ping"}\n\n',
                3 + plan.deltas: 'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
                4 + plan.deltas: 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"'
                                 f'}},"usage":{{"output_tokens":{plan.deltas}}}}}\n\n',
                5 + plan.deltas: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
            }[n]
        return event


# -- what was recorded --

class Kept:
    """A call in the record, as far as it is read."""

    def __init__(self, number, call, script):
        self.number, self.call = number, call
        self.plan = script.plan(call)
        self.make = script.event_maker(call)
        self.has_whole_request = False
        self.request_size = 0
        self.retry_of = None
        self.status = self.end = None
        self.events = 0
        self.is_torn = False  # its last event breaks off
        self.reply = None
        self.last_ns = 0

    def pieces(self):
        """How many of the script's have come whole."""
        if self.plan.way in (PLAIN, REFUSED):
            return int(self.reply is not None)
        return self.events - self.is_torn

    def deltas(self):
        is_error = self.plan.way == ERROR and self.pieces() == self.plan.pieces()
        return max(0, min(self.pieces() - is_error - 3, self.plan.deltas))

    def is_said(self):
        """Has the model said all of its text?"""
        is_error = self.plan.way == ERROR and self.pieces() == self.plan.pieces()
        return self.plan.way == PLAIN or self.pieces() - is_error > 3 + self.plan.deltas

    def may_break_off(self):
        return self.plan.way in (DROPPED, ABORTED)


class Record:
    """session.wire.jsonl held against the script, line by line. What is wrong is an AssertionError."""

    def __init__(self, path, script):
        self.script, self.calls, self.by_number = script, {}, {}
        self.bodies = {}  # of requests that broke off, by number
        self.lines = self.again = self.events = self.others = 0
        self.bytes = {}  # of each type's lines
        with open(path, "rb") as file:
            for raw in file:
                self.take(raw)
        assert all(k.end for k in self.by_number.values() if k), "a call without an end"

    def take(self, raw):
        self.lines += 1
        assert raw.endswith(b"}\n"), raw[-200:]
        line = json.loads(raw)
        number, kind = line["call"], line["type"]
        self.bytes[kind] = self.bytes.get(kind, 0) + len(raw)
        assert b"planted-credential" not in raw, raw[:300]
        if kind == "request":
            self.take_request(line)
            return
        kept = self.by_number[number]
        if not kept:
            return
        assert not kept.end, ("a line behind the end", raw[:300])
        if kind == "event":
            self.take_event(kept, line)
        else:
            getattr(self, "take_" + kind)(kept, line)

    def take_request(self, line):
        headers = {n.lower(): v for n, v in line["headers"]}
        number = line["call"]
        assert number not in self.by_number, ("twice", line)
        self.by_number[number] = None
        if "x-crowd" not in headers:
            self.others += 1
            return
        assert headers["authorization"] == "[REDACTED:header]", headers
        assert line["url"] == "/v1/messages" and line["turns"], line
        call = tuple(map(int, headers["x-crowd"].split(".")))
        assert call not in self.calls, ("twice", line)
        kept = Kept(number, call, self.script)
        kept.retry_of = line.get("retry_of")
        self.calls[call] = self.by_number[number] = kept

    def take_request_body(self, kept, line):
        want = self.script.ask(kept.call)
        if "ops" in line:
            base = self.bodies.get(line["base"]) or self.script.ask(self.by_number[line["base"]].call)
            got = b"".join(base[op[0]:op[0] + op[1]] if isinstance(op, list) else op.encode() for op in line["ops"])
        else:
            got = line["text"].encode()
        assert line.get("base", 0) < kept.number, line["base"]  # readers go back only
        kept.request_size = len(got)
        kept.has_whole_request = got == want
        assert line["last"] and line["size"] == len(got), (line["size"], len(got))
        is_cut = kept.plan.way == ABORTED and kept.plan.is_early
        assert kept.has_whole_request or (is_cut and want.startswith(got)), (kept.call, len(got), len(want))
        if not kept.has_whole_request:
            self.bodies[kept.number] = got

    def take_reply(self, kept, line):
        assert kept.status is None, line
        kept.status = line["status"]
        assert kept.status == kept.plan.status, (kept.call, kept.status, kept.plan)

    def take_event(self, kept, line):
        n, text, ts_ns = line["event"], line["text"], int(line["ts_ns"])
        assert not kept.is_torn, (kept.call, n)
        if n < kept.events:  # it was held, and is whole now
            self.again += 1
        else:
            assert n == kept.events and ts_ns >= kept.last_ns, (kept.call, n, kept.events, ts_ns, kept.last_ns)
            kept.events += 1
            self.events += 1
            kept.last_ns = ts_ns
        if text == (want := kept.make(n)) or line.get("held"):
            return
        kept.is_torn = True
        assert kept.may_break_off() and want.startswith(text), (kept.call, n, text, want)

    def take_body(self, kept, line):
        text = line["text"] if "text" in line else base64.b64decode(line["base64"]).decode()
        kept.reply = (kept.reply or "") + text
        if line.get("last"):
            assert kept.reply == self.script.whole(kept.call), (kept.call, kept.reply[:300])
            assert line["size"] == len(kept.reply.encode()), line["size"]

    def take_end(self, kept, line):
        kept.end = line
        is_stream = kept.plan.way not in (PLAIN, REFUSED) and kept.status
        assert line.get("events") == (kept.events if is_stream else None), (kept.call, line, kept.events)

    def holds(self, seen):
        """Of a call, what its client has seen: {call: (status, bytes, pieces)}."""
        script = self.script
        for call, (status, size, pieces) in seen.items():
            kept, plan = self.calls.get(call), script.plan(call)
            if kept is None:
                assert plan.way == ABORTED and plan.is_early and plan.is_reset, call
                continue
            end = kept.end
            if plan.way in (STREAM, PLAIN, REFUSED, ERROR):
                assert end["status"] == "ok" and kept.pieces() == pieces == plan.pieces(), (call, end, pieces, plan)
                assert end["received"] == size, (call, end, size)
            elif plan.way == DROPPED:
                assert end["status"] == "error" and pieces <= kept.pieces() <= plan.pieces(), (call, end, pieces, plan)
                assert plan.is_reset or kept.pieces() == plan.pieces(), (call, kept.pieces(), plan)
            else:
                assert end["status"] in ("aborted", "ok"), (call, end)
                assert kept.pieces() >= pieces, (call, kept.pieces(), pieces)
            is_early = plan.way == ABORTED and plan.is_early
            assert is_early or kept.has_whole_request, call
            assert end["sent"] == kept.request_size, (call, end, kept.request_size)
            assert kept.status == (status or kept.status) or status == 502, (call, kept.status, status)
            want = script.told_usage(call, kept.pieces())
            assert end.get("usage") == want, (call, end, want)
            assert end.get("model") == (want and script.model(call)), (call, end)
        assert set(self.calls) <= set(seen), set(self.calls) - set(seen)

    def knows_retries(self):
        """A call that repeats one that has failed says so. The end of one that was aborted may be heard later."""
        for call, kept in self.calls.items():
            if not kept.has_whole_request:
                continue
            tried = [self.calls.get((*call[:3], attempt)) for attempt in range(call[3])]
            same = [k for k in tried if k and k.has_whole_request and
                    (k.plan.way == PLAIN) == (kept.plan.way == PLAIN)]
            want = same[-1].number if same else None
            if not same or same[-1].plan.way in (REFUSED, DROPPED):
                assert kept.retry_of == want, (call, kept.retry_of, want)
            assert kept.retry_of in (None, want), (call, kept.retry_of, want)


class Turns:
    """session.turns.jsonl held against the record and the script."""

    def __init__(self, path, record):
        self.record, self.script = record, record.script
        self.asked, self.said, self.used, self.errors = {}, {}, {}, {}
        with open(path, "rb") as file:
            for raw in file:
                assert b"planted-credential" not in raw
                line = json.loads(raw)
                kept = record.by_number[line["call"]]
                if kept:
                    getattr(self, "take_" + line["type"])(kept, line)
        self.is_complete()

    def take_session(self, kept, line):
        assert line["model"] == self.script.model(kept.call), line

    def take_usage(self, kept, line):
        assert line["id"] == json.loads("{" + self.script.head_of(kept.call) + "}")["id"], line
        self.used[kept.call] = line["usage"]

    def take_error(self, kept, line):
        assert kept.call not in self.errors, line
        self.errors[kept.call] = line["text"]

    def take_text(self, kept, line):
        call, text = kept.call, line["text"]
        if line["role"] == "user":
            key = call[:3]
            assert text == self.script.question(call), (call, text[:200])
            tried = [self.record.calls.get((*key, attempt)) for attempt in range(call[3])]
            # a client may give up when all has just been answered: then it asks once more
            is_new = any(k and k.plan.way == ABORTED and k.end["status"] == "ok" for k in tried)
            assert key not in self.asked or is_new, ("asked twice", call, self.asked[key])
            self.asked.setdefault(key, call)
            return
        assert call not in self.said, ("said twice", call)
        self.said[call] = text
        is_whole = kept.is_said()
        assert bool(line.get("interrupted")) == (not is_whole), (call, line.get("interrupted"), kept.pieces())
        want = self.script.answer(call, kept.plan.deltas if is_whole else kept.deltas())
        assert text.strip() == want.strip(), (call, kept.plan, kept.events, kept.end, text[-200:], want[-200:])

    def is_complete(self):
        script = self.script
        for call, kept in self.record.calls.items():
            has_said = kept.plan.way == PLAIN or (kept.plan.way != REFUSED and kept.deltas())
            assert (call in self.said) == bool(has_said), (call, kept.plan, kept.pieces())
            want = script.told_usage(call, kept.pieces())
            assert self.used.get(call) == want, (call, self.used.get(call), want)
            has_error = kept.plan.way in (REFUSED, ERROR) or (kept.plan.way == DROPPED)
            assert (call in self.errors) == has_error, (call, kept.plan, self.errors.get(call))
            if kept.plan.way == REFUSED:
                assert self.errors[call] == f"not now, {name_of(call)}", self.errors[call]
            elif kept.plan.way == ERROR:
                assert self.errors[call] == "amid the reply", self.errors[call]
            if kept.has_whole_request:  # by the first attempt that was
                asked = self.asked[call[:3]]
                assert asked[3] <= call[3] and self.record.calls[asked].has_whole_request, (call, asked)

    def usage(self):
        """All of it, summed."""
        total = {}
        for told in self.used.values():
            for name, n in told.items():
                total[name] = total.get(name, 0) + n
        return total
