# SPDX-License-Identifier: MIT
"""model_api.py -- a stand-in for a model's API (Messages, streamed), on the loopback.

    with ModelApi([text("Hello."), tool("Bash", {"command": "ls"}), refusal(429)]) as api:
        env = {"ANTHROPIC_BASE_URL": api.url}

Each request for a streamed message takes the next reply of the script; when there is none left, "Done.".
A request without tools (a title, a check of the quota) is none of the conversation and gets "ok".
"""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30,
         "output_tokens": 1}
OUTPUT = 10


def text(words):
    return {"blocks": [{"type": "text", "text": words}], "stop": "end_turn"}


def tool(name, arguments, words="I'll call a tool."):
    return {"blocks": [{"type": "text", "text": words},
                       {"type": "tool_use", "id": "", "name": name, "input": arguments}],
            "stop": "tool_use"}


def refusal(status):
    """A reply that is none; clients try again."""
    return {"status": status}


def pieces(block):
    """The deltas in which a block is said."""
    if block["type"] == "text":
        words = block["text"]
        return [{"type": "text_delta", "text": words[i:i + 5]} for i in range(0, len(words), 5)]
    words = json.dumps(block["input"])
    return [{"type": "input_json_delta", "partial_json": words[i:i + 9]}
            for i in range(0, len(words), 9)]


def events(reply, number, model, token):
    """The events of one streamed message; its ids are unique, as a model's are."""
    message = {"id": f"msg_01{token}{number:04}", "type": "message", "role": "assistant", "model": model,
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(reply["blocks"]):
        empty = {"type": "text", "text": ""}
        if block["type"] == "tool_use":
            empty = {**block, "id": f"toolu_01{token}{number:04}", "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in pieces(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": reply["stop"], "stop_sequence": None},
           "usage": {"output_tokens": OUTPUT}}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json", **headers):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.answer(200, b"")

    def do_GET(self):
        self.answer(404, b'{"type":"error","error":{"type":"not_found_error","message":"none"}}')

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self.answer(200, b'{"input_tokens":100}')
        elif path.endswith("/v1/messages"):
            self.message(json.loads(body))
        else:
            self.answer(404, b"{}")

    def message(self, request):
        reply, number = self.server.api.next_reply(request)
        if "status" in reply:
            error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slower"}}
            self.answer(reply["status"], json.dumps(error).encode(), retry_after="0")
            return
        told = list(events(reply, number, request.get("model", "mock"), self.server.api.token))
        if request.get("stream"):
            body = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in told)
            self.answer(200, body.encode(), "text/event-stream")
            return
        whole = {**told[0]["message"], "content": reply["blocks"], "stop_reason": reply["stop"],
                 "usage": {**USAGE, "output_tokens": OUTPUT}}
        self.answer(200, json.dumps(whole).encode())


class ModelApi:
    """A server with a script; use as a context manager."""

    def __init__(self, script):
        self.script = list(script)
        self.requests = []  # of the conversation
        self.told = []  # the replies to them
        self.count = 0
        self.token = secrets.token_hex(9)
        self.lock = threading.Lock()

    def __enter__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.api = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next_reply(self, request):
        with self.lock:
            self.count += 1
            if not request.get("tools"):
                return text("ok"), self.count
            self.requests.append(request)
            self.told.append(self.script.pop(0) if self.script else text("Done."))
            return self.told[-1], self.count
