#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_record.py -- what recording costs; prints `name value unit` lines.

usage: bench_record.py BUILD [--quick] [PART ...]; parts: flood, start, load, keys.

Contenders take turns in the same run, and medians are compared. Peers that are not installed are
said to be missing. Files go to a temporary folder below $BENCH_DIR (default: the system's).
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support.on_pty import OnPty

FULL = {"rounds": 5, "flood_bytes": 256 << 20, "starts": 40, "window_s": 5, "keys": 400}
QUICK = {"rounds": 2, "flood_bytes": 8 << 20, "starts": 5, "window_s": 1, "keys": 50}
KEY_PAUSE_US = 1500
SLOW_ROUNDS = 3  # for a peer that takes long, and is far away


def line(text, value, unit):
    """Three words, as measure_line() of support/measure.h prints them."""
    name = "".join("_" if c == " " else c for c in text if c not in ",()")
    print(f"{name:<52} {value:10.3f} {unit}", flush=True)


def missing(tool):
    print(f"# {tool} is missing here: not compared with it", flush=True)


def percentile(values, p):
    return sorted(values)[int((len(values) - 1) * p)]


class Bench:
    def __init__(self, build, scratch, size):
        self.bin = build / "tests/bench"
        self.ahr = str(build / "src/ahr")
        self.mock = str(build / "tests/mock/mock_agent")
        self.dir = scratch
        self.size = size
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("AHR_", "XDG_"))}
        self.env.update(HOME=str(scratch), AHR_HOME=str(scratch / "ahr"), AHR_UPKEEP="off")

    def tool(self, name, *args):
        return [str(self.bin / name), *map(str, args)]

    def record(self, *command):
        return [self.ahr, "record", "-q", "--", *command]

    def script(self, *command):
        return ["script", "-q", "-c", " ".join(command), str(self.dir / "typescript")]

    def forget(self):
        """So that no recording is in the way of the next one."""
        shutil.rmtree(self.dir / "ahr", ignore_errors=True)

    def output(self, command):
        return subprocess.run(command, env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True).stdout.decode()

    def seconds(self, command):
        begin = time.monotonic()
        subprocess.run(command, env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - begin


# -- processes, by /proc --

def children(pid):
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def status(path, key):
    for row in path.read_text().splitlines():
        if row.startswith(key + ":"):
            return int(row.split()[1])
    raise KeyError(key)


def cpu_s(pid):
    """Time on a core, of all its threads."""
    return sum(int(p.read_text().split()[0])
               for p in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def wake_ups(pid):
    return sum(status(p, "voluntary_ctxt_switches")
               for p in Path(f"/proc/{pid}/task").glob("*/status"))


def peak_kib(pids):
    """The most memory that each had at a time, looked at until the last is gone."""
    peaks = dict.fromkeys(pids, 0)
    while True:
        alive = False
        for pid in pids:
            try:
                peaks[pid] = status(Path(f"/proc/{pid}/status"), "VmHWM")
                alive = True
            except (OSError, KeyError):  # gone, or a zombie
                pass
        if not alive:
            return [peaks[pid] for pid in pids]
        time.sleep(0.002)


def wait_children(pid):
    while not (found := children(pid)):
        time.sleep(0.0005)
    return found


# -- a flood --

def flood(b):
    data = b.dir / "data"
    with open(data, "wb") as f:
        subprocess.run([b.mock, "--no-wait", "--seed", "1", "--cols", "100", "--rows", "40",
                        "--min-bytes", str(b.size["flood_bytes"])], stdout=f, check=True)
    cat = ["cat", str(data)]
    contenders = {
        "bare, plain": b.tool("bare_drain", 0, *cat),
        "bare, batches": b.tool("bare_drain", 200, *cat),
        "ahr": b.record(*cat),
        "script": b.script(*cat),
        "asciinema": ["asciinema", "rec", "-q", "--overwrite", "-c", " ".join(cat),
                      str(b.dir / "cast")],
    }
    for peer in ("script", "asciinema"):
        if not shutil.which(peer):
            missing(peer)
            del contenders[peer]
    took = {name: [] for name in contenders}
    for i in range(b.size["rounds"]):
        for name, command in contenders.items():
            if name != "asciinema" or i < SLOW_ROUNDS:
                b.forget()
                took[name].append(b.seconds(command))
    median = {name: statistics.median(times) for name, times in took.items()}
    mb = data.stat().st_size / 1e6
    for name, seconds in median.items():
        line(f"flood, {name}", mb / seconds, "MB/s")
    bare = min(median["bare, plain"], median["bare, batches"])
    line("flood, time of ahr / bare (<= 1.25)", median["ahr"] / bare, "x")
    # Whatever else the machine does makes a round slower, never faster.
    best = min(took["bare, plain"] + took["bare, batches"])
    line("flood, best time of ahr / best of bare", min(took["ahr"]) / best, "x")
    for peer in ("script", "asciinema"):
        if peer in median:
            line(f"flood, time of ahr / {peer} (< 1)", median["ahr"] / median[peer], "x")
    memory(b, cat)


def memory(b, cat):
    """Apart from the timed rounds, which are not to be watched."""
    b.forget()
    client = subprocess.Popen(b.record(*cat), env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL)
    host = wait_children(client.pid)[0]
    watch = threading.Thread(target=client.wait)  # else it stays, as a zombie
    watch.start()
    host_kib, client_kib = peak_kib([host, client.pid])
    watch.join()
    line("flood, peak RSS of the host (<= 64)", host_kib / 1024, "MiB")
    line("flood, peak RSS of the client", client_kib / 1024, "MiB")
    came = int(b.output(b.tool("bare_drain", 0, *cat)))
    kept = int(subprocess.run(f"'{b.ahr}' cat last | wc -c", shell=True, env=b.env, check=True,
                              stdout=subprocess.PIPE).stdout)
    line("flood, bytes lost (0)", came - kept, "bytes")


# -- from the start to the program --

def start(b):
    stamp = str(b.dir / "stamp")
    program = b.tool("launch", "stamp", stamp)
    contenders = {"direct": program, "ahr": b.record(*program)}
    if shutil.which("script"):
        contenders["script"] = b.script(*program)
    else:
        missing("script")
    to_main, whole = ({name: [] for name in contenders} for _ in range(2))
    for _ in range(b.size["rounds"]):
        for name, command in contenders.items():
            for row in b.output(b.tool("launch", b.size["starts"], stamp, *command)).splitlines():
                to_main[name].append(float(row.split()[0]) / 1e3)
                whole[name].append(float(row.split()[1]) / 1e3)
    for what, times, wanted in (("start to the program", to_main, " (<= 5)"),
                                ("start to end", whole, "")):
        median = {name: statistics.median(times[name]) for name in times}
        line(f"{what}, direct", median["direct"], "ms")
        line(f"{what}, ahr's own{wanted}", median["ahr"] - median["direct"], "ms")
        line(f"{what}, ahr's own p99", percentile(times["ahr"], 0.99) - median["direct"], "ms")
        if "script" in median:
            line(f"{what}, script's own", median["script"] - median["direct"], "ms")
            line(f"{what}, ahr / script (< 1)", median["ahr"] / median["script"], "x")


# -- CPU and wake-ups --

def watched(b, command, pids_of):
    """CPU in % of a core and wake-ups a second of what pids_of() finds, while a user watches."""
    with OnPty(command, env=b.env, cwd=b.dir) as t:
        reader = threading.Thread(target=t.finish)
        t.read_until(b"\x1b[?2026h")
        pids = pids_of(t.process.pid)
        reader.start()
        time.sleep(b.size["window_s"] / 5)  # past the start
        before = time.monotonic(), sum(map(cpu_s, pids)), sum(map(wake_ups, pids))
        time.sleep(b.size["window_s"])
        after = time.monotonic(), sum(map(cpu_s, pids)), sum(map(wake_ups, pids))
        t.process.send_signal(signal.SIGTERM)
        reader.join()
    elapsed, cpu, wakes = (y - x for x, y in zip(before, after))
    return cpu / elapsed * 100, wakes / elapsed


def load(b):
    spinner = [b.mock, "--only", "think", "--steps", "1000000"]
    stream = [b.mock, "--rate", "1000000", "--steps", "1000000"]
    for what, program, wanted in (("10 Hz spinner", spinner, "< 1"), ("1 MB/s", stream, "<= 10")):
        cpu, wakes = watched(b, b.record(*program), lambda pid: [pid, *children(pid)])
        line(f"{what}, CPU of ahr ({wanted})", cpu, "%")
        line(f"{what}, wake-ups of ahr", wakes, "per_s")
        if shutil.which("script"):
            cpu, wakes = watched(b, b.script(*program), lambda pid: [pid])
            line(f"{what}, CPU of script", cpu, "%")
            line(f"{what}, wake-ups of script", wakes, "per_s")
        else:
            missing("script")
        b.forget()


# -- from a key to its echo --

def keys(b):
    program = b.tool("key_echo", "echo")
    contenders = {"direct": program, "ahr": b.record(*program)}
    if shutil.which("script"):
        contenders["script"] = b.script(*program)
    else:
        missing("script")
    took = {name: [] for name in contenders}
    for _ in range(b.size["rounds"]):
        for name, command in contenders.items():
            rows = b.output(b.tool("key_echo", b.size["keys"], KEY_PAUSE_US, *command)).splitlines()
            took[name] += [float(row) / 1e3 for row in rows]
    for name, p in (("median", 0.5), ("p99", 0.99)):
        value = {who: percentile(times, p) for who, times in took.items()}
        line(f"key to echo {name}, direct", value["direct"], "ms")
        for who in value:
            if who != "direct":
                wanted = " (< 1)" if who == "ahr" and name == "p99" else ""
                added = value[who] - value["direct"]
                line(f"key to echo {name}, added by {who}{wanted}", added, "ms")


PARTS = {"flood": flood, "start": start, "load": load, "keys": keys}


def main(args, parts, usage, size):
    """BUILD and the parts that are wanted, all if none is named."""
    args = [arg for arg in args if arg != "--quick"]
    if not args or not set(args[1:]) <= set(parts):
        sys.exit(usage)
    where = os.environ.get("BENCH_DIR")
    with tempfile.TemporaryDirectory(prefix="ahr-bench-", dir=where) as scratch:
        bench = Bench(Path(args[0]).resolve(), Path(scratch), size)
        bench.env.update(TERM="xterm-256color", LANG="C.UTF-8")
        bench.env.pop("TMUX", None)
        for part in args[1:] or parts:
            parts[part](bench)
            bench.forget()


if __name__ == "__main__":
    main(sys.argv[1:], PARTS, __doc__, QUICK if "--quick" in sys.argv else FULL)
