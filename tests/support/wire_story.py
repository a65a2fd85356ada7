# SPDX-License-Identifier: MIT
"""wire_story.py -- a conversation over the wire with something of everything in it, and the truth about it.

    with Ahr(AHR) as a, Story(a) as story:   # recorded as session "talk"
        story.calls[0].reply ...             # what was asked and answered, byte for byte
"""

import asyncio
import gzip
import json

from support.proxy import Proxy
from support.upstream import Upstream, chat, message

SSE = ("content-type", "text/event-stream; charset=utf-8")
PATH = "/v1/messages?beta=true"
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x1b[0m \x9b2J \u202e\u2066 \r\b </script><img src=x onerror=alert(1)> =1+1"


class Call:
    """One call: what is asked, and what the upstream says."""

    def __init__(self, body, status=200, events=None, reply=b"", kind="application/json", pack=None, **more):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.events, self.kind, self.pack = status, events, kind, pack
        self.reply = b"".join(events) if events else reply
        self.path, self.method = more.get("path", PATH), more.get("method", "POST")
        self.variable = more.get("variable", "ANTHROPIC_BASE_URL")
        self.breaks_off = more.get("breaks_off", False)
        self.usage = more.get("usage")  # input, output, cache written, cache read


def asked(messages, **more):
    return {"model": "claude-m-1", "max_tokens": 100, "stream": True, "messages": list(messages), **more}


def script():
    said, calls = [], []
    usages = [(1200, 90, 300, 20000), (40, 7, 0, 21500), (9, 3, 0, 0)]
    for n, usage in enumerate(usages):
        said.append({"role": "user", "content": [{"type": "text", "text": f"Question {n} about zebras" + " why?" * 100}]})
        answer = f"Answer {n}, in pieces. " * 3
        calls.append(Call(asked(said), events=message(answer, n + 1, "claude-m-1", usage=usage), usage=usage))
        said.append({"role": "assistant", "content": answer})
    said.append({"role": "user", "content": "And now slowly"})
    busy = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}).encode()
    calls.append(Call(asked(said), status=529, reply=busy))
    calls.append(Call(asked(said), events=message("At last.", 9, "claude-m-1"), usage=(10, 7, 3, 5), pack=gzip.compress))
    calls.append(Call(asked([{"role": "user", "content": "hostile"}]), events=message(HOSTILE, 10, "claude-m-1"),
                      usage=(10, 7, 3, 5)))
    calls.append(Call(asked([{"role": "user", "content": "off"}]), events=message("Broken off here", 11, "claude-m-1")[:4],
                      breaks_off=True))
    calls.append(Call(b"", reply=b'{"data":[]}', path="/v1/models", method="GET"))
    calls.append(Call(bytes(range(256)) * 4, reply=bytes(range(255, -1, -1)) * 8, kind="application/octet-stream",
                      path="/v1/files"))
    calls.append(Call({"model": "gpt-m", "stream": True, "messages": [{"role": "user", "content": "Hello chat"}]},
                      events=chat("Hello from chat.", 12, "gpt-m"), usage=(10, 7, None, None), path="/chat/completions",
                      variable="OPENAI_BASE_URL"))
    return calls


class Story:
    """`ahr proxy` with that conversation; it has ended, unless `lives`. A context manager."""

    def __init__(self, a, *options, lives=False, env=None):
        self.a, self.lives, self.calls = a, lives, script()
        self.at = 0
        self.up = Upstream(self.handle)
        self.options, self.env = options, env

    async def handle(self, request, reply):
        call = self.calls[self.at]
        if not call.events or call.pack:
            data = call.pack(call.reply) if call.pack else call.reply
            more = [("content-encoding", "gzip")] if call.pack else []
            await reply.whole(call.status, data, SSE[1] if call.events else call.kind, [("request-id", "req_1"), *more])
            return
        await reply.head(call.status, [SSE, ("request-id", "req_1")], chunked=True)
        for one in call.events:
            await reply.piece(one)
            await asyncio.sleep(0.001)
        if call.breaks_off:
            reply.hang_up()
        else:
            await reply.end()

    def __enter__(self):
        self.up.__enter__()
        self.proxy = Proxy(self.a, f"{self.up.url},openai={self.up.url}", *self.options, env=self.env).start()
        for self.at, call in enumerate(self.calls):
            got = self.proxy.ask(call.path, call.body or None, call.method, variable=call.variable,
                                 headers=[("Content-Type", "application/json"), ("X-Api-Key", "planted-credential-1")])
            assert got.status == call.status and got.is_whole != call.breaks_off, (self.at, got.__dict__)
        if not self.lives:
            self.proxy.end()
        return self

    def __exit__(self, *why):
        self.proxy.__exit__(*why)
        self.up.__exit__(*why)
