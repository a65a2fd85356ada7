#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_run.py -- what `ahr run` costs; prints `name value unit` lines.

usage: bench_run.py BUILD [--quick] [PART ...]; parts: latency, flood, start, memory.

Contenders take turns in the same run, and medians are compared; CPU time, as whoever else is at
work on the machine makes the clock go faster. Files go to a temporary folder below $BENCH_DIR.
Appends to the log are measured by bench_journal, the decoders by bench_turn.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

from bench_record import line, main, peak_kib, percentile

FULL = {"rounds": 5, "events": 400, "flood_bytes": 100_000_000, "starts": 20,
        "line_bytes": 60_000_000, "endless_bytes": 200_000_000, "many": 1_000_000}
QUICK = {"rounds": 2, "events": 100, "flood_bytes": 5_000_000, "starts": 5,
         "line_bytes": 5_000_000, "endless_bytes": 10_000_000, "many": 50_000}
PAUSE_S = 0.002  # between events
STAMP = re.compile(rb"@([0-9]+)@")


# -- runs --

def run(b, *command, options=()):
    return [b.ahr, "run", "-q", *options, "--", *command]


def forget(b):
    b.forget()
    shutil.rmtree(b.dir / ".ahr", ignore_errors=True)


def spent(b, command, shell=False):
    """Seconds by the clock and of CPU, of all processes of a command."""
    begin = time.monotonic()
    p = subprocess.Popen(command, shell=shell, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit(f"{command} failed: {p.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def peak_mib(b, command):
    """What /proc tells: the rusage of a child counts what we have ourselves."""
    p = subprocess.Popen(command, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL)
    watch = threading.Thread(target=p.wait)
    watch.start()
    peak = peak_kib([p.pid])[0] / 1024
    watch.join()
    return peak


# -- what an agent says --

WORDS = "the file is read, its tests pass and nothing else has changed in src/base/buf.c; ".split()


def said(i, n):
    return " ".join(WORDS[(i * 7 + k * k) % len(WORDS)] for k in range(n))


def claude(i, text):
    return {"type": "assistant", "session_id": "s1", "message": {
        "id": f"msg_{i}", "role": "assistant", "model": "m", "content": [
            {"type": "text", "text": text}]}}


def claude_call(i):
    return {"type": "assistant", "session_id": "s1", "message": {
        "id": f"msg_{i}", "role": "assistant", "model": "m", "content": [
            {"type": "tool_use", "id": f"toolu_{i}", "name": "Bash",
             "input": {"command": f"grep -n '{said(i, 3)}' src/*.c", "timeout": 1000}}],
        "usage": {"input_tokens": 10, "output_tokens": i % 97}}}


def claude_result(i):
    text = "\n".join(f"src/file_{k}.c:{i + k}: {said(k, 9)}" for k in range(20))
    return {"type": "user", "session_id": "s1", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"toolu_{i}", "content": text}]}}


def codex(i, text):
    return {"type": "item.completed", "item": {
        "id": f"item_{i}", "type": "agent_message", "text": text}}


def compact(event):
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


def agent_stream(path, size):
    """Three events in turn, as many as fit; a block of them is repeated."""
    block = "".join(compact(e) + "\n" for i in range(2000) for e in (
        claude(i, said(i, 30)), claude_call(i), claude_result(i))).encode()
    with open(path, "wb") as f:
        while f.tell() + len(block) <= size or not f.tell():
            f.write(block)


def build_log(path, size):
    with open(path, "w") as f:
        i = 0
        while f.tell() < size:
            f.writelines(f"[{k % 900}/900] cc -O2 -c src/file_{k % 97}.c -o file_{k}.o\n"
                         for k in range(i, i + 10000))
            i += 10000


# -- the time that an event takes --

def child(kind, count):
    """Says what time it is, again and again. Runs as a program of its own."""
    for i in range(count):
        text = f"@{time.monotonic_ns()}@ {said(i, 6)}"
        out = text if kind == "text" else compact((claude if kind == "claude" else codex)(i, text))
        os.write(1, (out + "\n").encode())
        time.sleep(PAUSE_S)


def arrivals(b, command):
    """How long each stamp was on its way, in ms."""
    p = subprocess.Popen(command, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE)
    fd, rest, took = p.stdout.fileno(), b"", []
    while piece := os.read(fd, 65536):
        now = time.monotonic_ns()
        rest += piece
        whole = rest.rfind(b"\n") + 1
        took += [(now - int(found[1])) / 1e6 for found in STAMP.finditer(rest, 0, whole)]
        rest = rest[whole:]
    p.wait()
    return took


def latency(b):
    for kind in ("text", "claude", "codex"):
        program = [sys.executable, os.path.abspath(__file__), "--child", kind,
                   str(b.size["events"])]
        piped = ["sh", "-c", '"$@" | cat', "sh", *program]
        took = {"cat": [], "ahr": []}
        for _ in range(b.size["rounds"]):
            for name, command in (("cat", piped), ("ahr", run(b, *program))):
                forget(b)
                took[name] += arrivals(b, command)
        if len(took["ahr"]) != len(took["cat"]):
            sys.exit(f"{kind}: {len(took['ahr'])} events came, not {len(took['cat'])}")
        for p, wanted in ((0.5, " (< 1)"), (0.99, "")):
            bare, ahr = (percentile(took[name], p) for name in ("cat", "ahr"))
            name = f"run, event of {kind}, p{p * 100:.0f}"
            line(f"{name} through cat", bare, "ms")
            line(f"{name} added by ahr{wanted}", ahr - bare, "ms")


# -- a flood --

def disk_bytes(b):
    """By what the file is for."""
    sums = {}
    for folder in (b.dir / "ahr", b.dir / ".ahr"):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                kind = ("tape" if path.suffix == ".ahr" else "log" if path.parent.name ==
                        "iterations" else path.name)
                sums[kind] = sums.get(kind, 0) + path.stat().st_size
    return sums


def flood(b):
    for what, make in (("agent stream", agent_stream), ("build log", build_log)):
        data = b.dir / "data"
        make(data, b.size["flood_bytes"])
        size = data.stat().st_size
        contenders = {"cat": (f"cat '{data}' | cat", True),
                      "ahr": (run(b, "cat", str(data)), False)}
        took = {name: [] for name in contenders}
        for _ in range(b.size["rounds"]):
            for name, (command, shell) in contenders.items():
                forget(b)
                took[name].append(spent(b, command, shell))
        wall, cpu = ({name: statistics.median(t[i] for t in took[name]) for name in took}
                     for i in range(2))
        line(f"run, {what}, ahr", size / 1e6 / wall["ahr"], "MB/s")
        line(f"run, {what}, ahr of CPU", size / 1e6 / cpu["ahr"], "MB/s")
        line(f"run, {what}, lines of CPU", data.read_bytes().count(b"\n") / cpu["ahr"], "per_s")
        line(f"run, {what}, time of ahr / cat to cat", wall["ahr"] / wall["cat"], "x")
        line(f"run, {what}, CPU of ahr / cat to cat", cpu["ahr"] / cpu["cat"], "x")
        sums = disk_bytes(b)
        line(f"run, {what}, on disk a byte", sum(sums.values()) / size, "bytes")
        for kind in ("tape", "session.turns.jsonl", "io.log", "log"):
            line(f"run, {what}, of that {kind}", sums.get(kind, 0) / size, "bytes")
        forget(b)
        line(f"run, {what}, peak RSS (<= 64)", peak_mib(b, contenders["ahr"][0]), "MiB")
        data.unlink()


# -- from the start to the first byte --

def first_byte(b, command):
    begin = time.monotonic()
    p = subprocess.Popen(command, env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE)
    os.read(p.stdout.fileno(), 1)
    took = (time.monotonic() - begin) * 1e3
    p.stdout.read()
    p.wait()
    return took


def start(b):
    program = ["sh", "-c", "echo here"]
    took = {"sh": [], "ahr": []}
    for _ in range(b.size["rounds"] * b.size["starts"]):
        forget(b)
        took["sh"].append(first_byte(b, program))
        took["ahr"].append(first_byte(b, run(b, *program)))
    for p in (0.5, 0.99):
        bare, ahr = (percentile(took[name], p) for name in ("sh", "ahr"))
        line(f"run, start to first byte p{p * 100:.0f}, sh -c", bare, "ms")
        line(f"run, start to first byte p{p * 100:.0f}, ahr's own", ahr - bare, "ms")


# -- memory --

def memory(b):
    data = b.dir / "data"
    n = b.size["line_bytes"]
    for what, make in (
            ("one JSON line", lambda f: f.write(compact(claude(1, "word " * (n // 5))) + "\n")),
            ("a line without end", lambda f: f.write("word " * (b.size["endless_bytes"] // 5))),
            ("many events", lambda f: f.writelines(
                compact(claude(i, said(i, 3))) + "\n" for i in range(b.size["many"])))):
        with open(data, "w") as f:
            make(f)
        forget(b)
        peak = peak_mib(b, run(b, "cat", str(data)))
        mb = data.stat().st_size / 1e6
        line(f"run, {what} of {mb:.0f} MB, peak RSS", peak, "MiB")
        data.unlink()


PARTS = {"latency": latency, "flood": flood, "start": start, "memory": memory}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
