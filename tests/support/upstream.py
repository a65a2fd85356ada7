# SPDX-License-Identifier: MIT
"""upstream.py -- a stand-in for a model's API whose every byte is scripted, on the loopback.

    async def handler(request, reply):
        await reply.head(200, [("content-type", "text/event-stream")], chunked=True)
        await reply.piece(b"data: x\\n\\n")
        await reply.end()

    with Upstream(handler) as up:
        ... up.url ... up.requests ...

It runs in a thread of its own. What it is sent is kept as it came.
"""

import asyncio
import contextlib
import json
import socket
import threading


class Request:
    def __init__(self, line, headers, body):
        self.method, self.path, self.version = line.split(" ")
        self.headers = headers  # [(name, value)] in order
        self.body = body

    def header(self, name, default=None):
        return next((v for n, v in self.headers if n.lower() == name.lower()), default)


class Reply:
    """What goes back on one connection; nothing is sent that was not said."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.is_chunked = False
        self.is_open = True

    async def raw(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status, headers=(), chunked=False, version="HTTP/1.1"):
        self.is_chunked = chunked
        lines = [f"{version} {status} Scripted"] + [f"{n}: {v}" for n, v in headers]
        if chunked:
            lines.append("transfer-encoding: chunked")
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def piece(self, data):
        if self.is_chunked:
            data = b"%x\r\n%s\r\n" % (len(data), data)
        await self.raw(data)

    async def end(self):
        if self.is_chunked:
            await self.raw(b"0\r\n\r\n")

    async def whole(self, status, body, kind="application/json", headers=()):
        await self.head(status, [("content-type", kind), ("content-length", str(len(body))), *headers])
        await self.raw(body)

    def hang_up(self):
        """The connection ends here, whatever was promised."""
        self.is_open = False

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.is_open = False


async def read_body(reader, headers):
    names = {n.lower(): v for n, v in headers}
    if "content-length" in names:
        return await reader.readexactly(int(names["content-length"]))
    body = b""
    if names.get("transfer-encoding") == "chunked":
        while size := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    return body


class Upstream:
    def __init__(self, handler, tls=None, is_early=False):
        """is_early: it answers before it has read the body, which it can do by read_body()."""
        self.handler, self.tls, self.is_early = handler, tls, is_early
        self.requests = []
        self.connections = 0
        self.gone = 0  # clients that went away before their reply had ended
        self.errors = []

    async def serve_one(self, reader, writer):
        line = (await reader.readline()).decode("latin-1").rstrip("\r\n")
        if not line:
            return False
        headers = []
        while (h := (await reader.readline()).decode("latin-1").rstrip("\r\n")):
            name, _, value = h.partition(":")
            headers.append((name, value.strip()))
        reply = Reply(reader, writer)
        if dict((n.lower(), v) for n, v in headers).get("expect") == "100-continue":
            await reply.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = Request(line, headers, None if self.is_early else await read_body(reader, headers))
        self.requests.append(request)
        await self.handler(request, reply)
        return reply.is_open

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while await self.serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone += 1
        except asyncio.CancelledError:  # the test is over
            pass
        except Exception as why:  # told to the test, at its end
            self.errors.append(why)
        finally:
            with contextlib.suppress(Exception):
                writer.close()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls, limit=1 << 20, backlog=1024))
        ready.set()
        self.loop.run_forever()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        assert ready.wait(30)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"
        return self

    def __exit__(self, kind, *_):
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
        if kind is None:
            assert not self.errors, self.errors


# -- what models' APIs say --

def event(data, name=None):
    text = json.dumps(data, ensure_ascii=False) if not isinstance(data, str) else data
    return ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()


def message(text, number=1, model="m-1", pieces=5, usage=(10, 7, 3, 5)):
    """The events of a streamed Anthropic message: input, output, cache written, cache read."""
    into, out, made, read = usage
    start = {"id": f"msg_01{number:022}", "type": "message", "role": "assistant", "model": model, "content": [],
             "stop_reason": None, "usage": {"input_tokens": into, "output_tokens": 1,
                                            "cache_creation_input_tokens": made, "cache_read_input_tokens": read}}
    told = [("message_start", {"message": start}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})]
    told += [("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text[i:i + pieces]}})
             for i in range(0, len(text), pieces)]
    told += [("content_block_stop", {"index": 0}),
             ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": out}}),
             ("message_stop", {})]
    return [event({"type": kind, **more}, kind) for kind, more in told]


def chat(text, number=1, model="m-2", pieces=5, usage=(10, 7)):
    """The events of a streamed chat completion."""
    base = {"id": f"chatcmpl-{number:020}", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta, stop=None):
        return event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    told = [chunk({"role": "assistant", "content": ""})]
    told += [chunk({"content": text[i:i + pieces]}) for i in range(0, len(text), pieces)]
    told += [chunk({}, "stop"),
             event({**base, "choices": [], "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1],
                                                     "total_tokens": sum(usage)}}),
             event("[DONE]")]
    return told
