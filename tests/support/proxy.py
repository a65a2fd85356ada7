# SPDX-License-Identifier: MIT
"""proxy.py -- `ahr proxy` in a private home, clients that see every byte, and what was recorded.

    with Ahr(AHR) as a, Upstream(handler) as up, Proxy(a, up.url) as proxy:
        reply = proxy.post("/v1/messages", b"{}")
        proxy.end()
        calls = proxy.calls()
"""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

from support.processes import wait_for


class Reply:
    def __init__(self, status, headers, body, framing, is_whole):
        self.status, self.headers, self.body = status, headers, body
        self.framing, self.is_whole = framing, is_whole

    def header(self, name):
        return next((v for n, v in self.headers if n.lower() == name.lower()), None)


class Client:
    """One connection: what is sent is sent as it is, what comes is taken apart by hand."""

    def __init__(self, where, timeout=60):
        host, _, port = where.rpartition(":")
        self.sock = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def more(self):
        """False: nothing follows."""
        try:
            data = self.sock.recv(65536)
        except ConnectionError:
            data = b""
            self.was_reset = True
        self.buffer += data
        return bool(data)

    was_reset = False

    def until(self, mark):
        while mark not in self.buffer:
            if not self.more():
                raise EOFError(self.buffer)
        before, _, self.buffer = self.buffer.partition(mark)
        return before

    def exactly(self, n):
        while len(self.buffer) < n and self.more():
            pass
        got, self.buffer = self.buffer[:n], self.buffer[n:]
        return got

    def head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        headers = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines[1:])]
        return status, headers

    def body(self, status, headers, method="POST"):
        names = {n.lower(): v for n, v in headers}
        if method == "HEAD" or status in (204, 304) or 100 <= status < 200:
            return b"", "none", True
        if names.get("transfer-encoding") == "chunked":
            return self.chunks()
        if "content-length" in names:
            n = int(names["content-length"])
            got = self.exactly(n)
            return got, "length", len(got) == n
        while self.more():
            pass
        got, self.buffer = self.buffer, b""
        return got, "close", not self.was_reset

    def chunks(self):
        parts = []
        try:
            while size := int(self.until(b"\r\n"), 16):
                got = self.exactly(size + 2)
                parts.append(got[:size])
                if len(got) < size + 2:
                    return b"".join(parts), "chunked", False
            assert self.until(b"\r\n") == b""
        except EOFError:
            return b"".join(parts), "chunked", False
        return b"".join(parts), "chunked", True

    def reply(self, method="POST"):
        status, headers = self.head()
        while 100 <= status < 200:
            status, headers = self.head()
        return Reply(status, headers, *self.body(status, headers, method))

    def rest(self):
        while self.more():
            pass
        got, self.buffer = self.buffer, b""
        return got


class Proxy:
    """A proxy that serves; use as a context manager."""

    def __init__(self, a, url, *options, upstream="anthropic", env=None, session="talk"):
        self.a, self.session = a, session
        upstreams = ["--upstream", f"{upstream}={url}"] if url else []
        name = ["--session", session] if session else []
        self.command = ["proxy", "--print-env", *upstreams, *name, *options]
        self.env = env or {}
        self.upstream = upstream

    def start(self):
        self.process = self.a.popen(*self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        told = os.read(self.process.stdout.fileno(), 65536).decode()  # it is one write
        self.variables = dict(line.split("=", 1) for line in told.splitlines())
        if not self.variables:
            self.said = self.process.stderr.read().decode()
            raise AssertionError((self.process.wait(), self.said))
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def base(self, variable="ANTHROPIC_BASE_URL"):
        """Where it is ("127.0.0.1:4711"), and its secret path."""
        where, _, path = self.variables[variable].removeprefix("http://").partition("/")
        return where, "/" + path

    def client(self, variable="ANTHROPIC_BASE_URL"):
        return Client(self.base(variable)[0])

    def request(self, path, body=None, headers=(), method="POST", variable="ANTHROPIC_BASE_URL", version="1.1",
                chunked=False):
        """The bytes of a request."""
        where, base = self.base(variable)
        lines = [f"{method} {base}{path} HTTP/{version}", f"Host: {where}"]
        lines += [f"{n}: {v}" for n, v in headers]
        if chunked:
            lines.append("Transfer-Encoding: chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 9]), body[i:i + 9])
                            for i in range(0, len(body), 9)) + b"0\r\n\r\n"
        elif body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")

    def ask(self, path, body=None, method="POST", **more):
        with self.client(more.get("variable", "ANTHROPIC_BASE_URL")) as c:
            c.send(self.request(path, body, method=method, **more))
            return c.reply(method)

    def post(self, path, body, **more):
        return self.ask(path, body if isinstance(body, bytes) else json.dumps(body).encode(), **more)

    def end(self, number=signal.SIGTERM, status=0):
        """Ends it by a signal; what it said on standard error."""
        self.process.send_signal(number)
        self.said = self.process.communicate()[1].decode()
        assert self.process.returncode == status, (self.process.returncode, self.said)
        return self.said

    # -- what was recorded --

    def folder(self, which="sessions"):
        root = self.a.dir / "home/.local/share/ahr" / which
        found = [p for p in root.iterdir() if p.is_dir()]
        assert len(found) == 1, found
        return found[0]

    def lines(self, which="sessions", name="session.wire.jsonl"):
        path = self.folder(which) / name
        data = path.read_bytes() if path.exists() else b""
        if which == "live":  # somebody may be writing one
            data = data[:data.rfind(b"\n") + 1]
        return [json.loads(line) for line in data.splitlines()]

    def turns(self, which="sessions"):
        return self.lines(which, "session.turns.jsonl")

    def calls(self):
        return json.loads(self.a.ok("wire", "--json", self.session))

    def call(self, number):
        return json.loads(self.a.ok("wire", "--json", "--call", number, self.session))

    def wait_calls(self, n, which="live"):
        """Until so many calls have ended."""
        def ended():
            return sum(line["type"] == "end" for line in self.lines(which)) >= n
        wait_for(ended)


def files_with(folder, needle):
    """The files below it that hold those bytes."""
    return [str(p) for p in Path(folder).rglob("*") if p.is_file() and needle in p.read_bytes()]
