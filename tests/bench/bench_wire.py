#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_wire.py -- what the proxy costs; prints `name value unit` lines.

usage: bench_wire.py BUILD [--quick] [PART ...]; parts: first, events, flood, many, storage.

The upstream is a process of its own, and what is asked of it directly is the lower bound. For floods nginx
(proxy_pass without buffers) is the peer, which records nothing. Contenders take turns in the same run; medians are
printed, and of delays the 99th percentile.
"""

import json
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

from bench_record import line, main, missing, percentile

FULL = {"rounds": 5, "asked": 300, "events": 2000, "pause_s": 0.002, "flood": 100_000_000, "streams": 200,
        "each": 300, "turns": 100}
QUICK = {"rounds": 2, "asked": 60, "events": 300, "pause_s": 0.002, "flood": 10_000_000, "streams": 50, "each": 60,
         "turns": 100}
RECV = 256 << 10


# -- the upstream: a process of its own --

def delta(text):
    data = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return f"event: content_block_delta\ndata: {json.dumps(data)}\n\n".encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def stream_events(sock, count, pause_s):
    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(count):
        sock.sendall(chunk(delta(f"@{time.monotonic_ns()}@ ")))
        time.sleep(pause_s)
    sock.sendall(b"0\r\n\r\n")


def flood(sock, size, kind):
    rng = random.Random(1)
    words = [rng.randbytes(4).hex() for _ in range(500)]
    part = b"".join(delta(" ".join(rng.choices(words, k=8))) for _ in range(2000))
    body = chunk(part)
    sock.sendall(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
    for _ in range(size // len(part)):
        sock.sendall(body)
    sock.sendall(b"0\r\n\r\n")


def serve_one(sock):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = sock.recv(RECV)
            if not more:
                return
            data += more
        head, _, data = data.partition(b"\r\n\r\n")
        length = next((int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length")), 0)
        while len(data) < length:
            data += sock.recv(RECV)
        data = data[length:]
        _, path, _ = head.split(b" ", 2)
        words = path.decode().rsplit("/", 1)[1].split("-")
        if words[0] == "events":
            stream_events(sock, int(words[1]), float(words[2]))
        elif words[0] == "flood":
            flood(sock, int(words[1]), words[2].replace("_", "/"))
        else:
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")


def upstream():
    door = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(door.getsockname()[1], flush=True)
    while True:
        sock, _ = door.accept()
        threading.Thread(target=serve_one, args=(sock,), daemon=True).start()


# -- who is asked --

class Contender:
    """Where it is, and what stands before the path."""

    def __init__(self, port, base=""):
        self.port, self.base = port, base

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def request(self, path, body=b"{}"):
        return (f"POST {self.base}/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


class World:
    """The upstream, a proxy before it and nginx; use as a context manager."""

    def __init__(self, b):
        self.b = b
        self.processes = []

    def __enter__(self):
        self.up = self.start([sys.executable, __file__, "--upstream"])
        self.direct = Contender(int(self.up.stdout.readline()))
        url = f"http://127.0.0.1:{self.direct.port}"
        self.proxy_process = self.start([self.b.ahr, "proxy", "-q", "--print-env", "--upstream", f"anthropic={url}"])
        where = self.proxy_process.stdout.readline().decode().strip().split("=", 1)[1]
        host, _, base = where.removeprefix("http://").partition("/")
        self.proxy = Contender(int(host.rpartition(":")[2]), "/" + base)
        self.nginx = self.start_nginx()
        return self

    def __exit__(self, *_):
        for p in reversed(self.processes):
            p.terminate()
            p.wait()

    def start(self, command):
        p = subprocess.Popen(command, env=self.b.env, cwd=self.b.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.processes.append(p)
        return p

    def start_nginx(self):
        program = next((p for p in ("/usr/sbin/nginx", "/usr/local/sbin/nginx") if os.path.exists(p)), None)
        if not program:
            missing("nginx")
            return None
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        folder = self.b.dir / "nginx"
        folder.mkdir(exist_ok=True)
        (folder / "nginx.conf").write_text(f"""
            daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                client_max_body_size 0;
                upstream up {{ server 127.0.0.1:{self.direct.port}; keepalive 16; }}
                server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://up; proxy_http_version 1.1;
                    proxy_set_header Connection ""; proxy_buffering off; }} }} }}""")
        self.start([program, "-p", str(folder), "-c", str(folder / "nginx.conf")])
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return Contender(port)
            except OSError:
                time.sleep(0.01)
        return None

    def contenders(self):
        all_of_them = {"direct": self.direct, "ahr proxy": self.proxy, "nginx": self.nginx}
        return {name: c for name, c in all_of_them.items() if c}

    def cpu_s(self):
        with open(f"/proc/{self.proxy_process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        with open(f"/proc/{self.proxy_process.pid}/status", encoding="utf-8") as file:
            return next(int(text.split()[1]) for text in file if text.startswith("VmHWM")) / 1024


# -- parts --

def conversation(size):
    """A body of about that size."""
    turn = {"role": "user", "content": [{"type": "text", "text": "why is it so, and not otherwise? " * 30}]}
    return json.dumps({"model": "m", "messages": [turn] * (size // 1024 + 1), "stream": True}).encode()


def first(b):
    """Until the first byte of the reply comes back."""
    with World(b) as w:
        for name, size in (("1 kB", 1 << 10), ("100 kB", 100 << 10), ("1 MB", 1 << 20)):
            took = {word: [] for word in w.contenders()}
            body = conversation(size)
            socks = {word: c.connect() for word, c in w.contenders().items()}
            for n in range(b.size["asked"]):
                for word, c in w.contenders().items():
                    # each call says something new, as a conversation does
                    request = c.request("first", body[:-2] + b',"n":%d}' % n if n else body)
                    begin = time.perf_counter()
                    socks[word].sendall(request)
                    data = socks[word].recv(RECV)
                    took[word].append((time.perf_counter() - begin) * 1000)
                    while not data.endswith(b"\r\n\r\n{}"):
                        data += socks[word].recv(RECV)
            for sock in socks.values():
                sock.close()
            for word, values in took.items():
                line(f"wire first byte of {name} {word}", statistics.median(values), "ms")
            added = {word: statistics.median(values) - statistics.median(took["direct"]) for word, values in took.items()}
            line(f"wire first byte of {name} added by ahr proxy", added["ahr proxy"], "ms")
            late = {word: percentile(values, 0.99) for word, values in took.items()}
            line(f"wire first byte of {name} added by ahr proxy p99", late["ahr proxy"] - late["direct"], "ms")


def delays(contender, count, pause_s):
    """Of each event from the upstream's hand to ours, in ms."""
    with contender.connect() as sock:
        sock.sendall(contender.request(f"events-{count}-{pause_s}"))
        got, data = [], b""
        while len(got) < count:
            data += sock.recv(RECV)
            now = time.monotonic_ns()
            while data.count(b"@") >= 2:
                _, stamp, data = data.split(b"@", 2)
                got.append((now - int(stamp)) / 1e6)
        return got


def events(b):
    """Each event of a stream, as it comes."""
    with World(b) as w:
        took = {word: [] for word in w.contenders()}
        for _ in range(b.size["rounds"]):
            for word, c in w.contenders().items():
                took[word] += delays(c, b.size["events"], b.size["pause_s"])
        for word, values in took.items():
            line(f"wire event delay median {word}", statistics.median(values), "ms")
            line(f"wire event delay p99 {word}", percentile(values, 0.99), "ms")
        for p, word in ((0.5, "median"), (0.99, "p99")):
            line(f"wire event delay {word} added by ahr proxy",
                 percentile(took["ahr proxy"], p) - percentile(took["direct"], p), "ms")


def drain(contender, path):
    with contender.connect() as sock:
        sock.sendall(contender.request(path))
        begin, size, tail = time.perf_counter(), 0, b""
        while not tail.endswith(b"\r\n0\r\n\r\n"):
            data = sock.recv(RECV)
            size += len(data)
            tail = (tail + data)[-16:]
        return size / (time.perf_counter() - begin) / 1e6


def flood_part(b):
    """As much as goes through, of events, and of a body that is no stream."""
    with World(b) as w:
        for name, kind in (("events", "text_event-stream"), ("a plain body", "text_plain")):
            took = {word: [] for word in w.contenders()}
            for _ in range(b.size["rounds"]):
                for word, c in w.contenders().items():
                    took[word].append(drain(c, f"flood-{b.size['flood']}-{kind}"))
            for word, values in took.items():
                line(f"wire throughput of {name} {word}", statistics.median(values), "MB/s")
            if w.nginx:
                line(f"wire throughput of {name} against nginx",
                     statistics.median(took["ahr proxy"]) / statistics.median(took["nginx"]), "x")
        line("wire memory after floods", w.peak_mib(), "MiB")


def many(b):
    """Many streams at the same time."""
    with World(b) as w:
        results, count, each = [], b.size["streams"], b.size["each"]
        begin_cpu = w.cpu_s()
        threads = [threading.Thread(target=lambda: results.append(len(delays(w.proxy, each, 0.02)))) for _ in range(count)]
        begin = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        passed = time.perf_counter() - begin
        line(f"wire events of {count} streams", sum(results) / passed, "1/s")
        line(f"wire CPU an event of {count} streams", (w.cpu_s() - begin_cpu) / sum(results) * 1e6, "us")
        line(f"wire memory of {count} streams", w.peak_mib(), "MiB")


def storage(b):
    """Bytes that are stored of a conversation that grows."""
    with World(b) as w, w.proxy.connect() as sock:
        rng = random.Random(1)
        words = [rng.randbytes(3).hex() for _ in range(3000)]
        messages, sent = [], 0
        for _ in range(b.size["turns"]):
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": rng.randbytes(9).hex(),
                                                          "content": " ".join(rng.choices(words, k=600)),
                                                          "cache_control": {"type": "ephemeral"}}]})
            body = json.dumps({"model": "m", "system": "s" * 15000, "messages": messages, "stream": True}).encode()
            sock.sendall(w.proxy.request("messages", body))
            data = b""
            while not data.endswith(b"\r\n\r\n{}"):
                data += sock.recv(RECV)
            sent += len(body)
            del messages[-1]["content"][0]["cache_control"]
            messages.append({"role": "assistant", "content": " ".join(rng.choices(words, k=200))})
        path = next((b.dir / "ahr/live").glob("*/session.wire.jsonl"))
        stored = sum(len(text) for text in path.read_bytes().splitlines() if b'"type":"request_body"' in text)
        line("wire bytes stored of a call", stored / b.size["turns"] / 1000, "kB")
        line("wire bytes sent of a call", sent / b.size["turns"] / 1000, "kB")
        line("wire stored against sent", stored / sent * 100, "%")


PARTS = {"first": first, "events": events, "flood": flood_part, "many": many, "storage": storage}

if __name__ == "__main__":
    if "--upstream" in sys.argv:
        upstream()
    else:
        main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
