#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""persister_test.py -- the iteration log kept by a program of somebody else, who calls the library.
usage: persister_test.py AHR PERSISTER"""

import json
import signal
import sys

from support.ahr import Ahr
from support.mounts import mounted, own_mounts
from support.persister import Persister, fields, parts
from support.processes import wait_for
from support.tap import run, test

AHR, PERSISTER = sys.argv[1:]


@test
def stdout_and_stderr_keep_their_order():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log") as p:
        want = ""
        for i in range(200):
            p.ok(f"out line {i}", f"err trouble {i}")
            want += f"line {i}\n[stderr] trouble {i}\n"
        assert parts(p.log)[1] == want


@test
def a_piece_is_on_disk_after_flush_ms_and_goes_on_in_its_line():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", flush_ms=20) as p:
        p.ok("piece Hel")
        wait_for(lambda: parts(p.log)[1] == "Hel\n")
        p.ok("piece lo", "err oops", "out on")
        assert parts(p.log)[1] == "Hello\n[stderr] oops\non\n"


@test
def each_ending_has_its_status():
    endings = {"complete 7 1500": {"Status": "completed", "Duration": "1500ms", "Exit Code": "7"},
               "abort SIGTERM": {"Status": "aborted", "Interrupted": "SIGTERM"},
               "crash Error: no more": {"Status": "crashed", "Interrupted": "Error: no more"}}
    for ending, want in endings.items():
        with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", 4) as p:
            p.ok("out hello")
            assert fields(p.log)["Status"] == "in_progress"
            p.ok(ending)
            assert p.do("out more") < 0
            got = fields(p.log)
            del got["Timestamp"]
            assert got == want
            assert parts(p.log)[0][0] == "# Iteration 4"
            assert parts(p.log)[1] == "hello\n"


@test
def a_signal_aborts_the_log():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", flush_ms=60000) as p:
            p.ok("piece not written yet")
            p.signal(number)
            assert fields(p.log)["Interrupted"] == number.name
            assert fields(p.log)["Status"] == "aborted"
            assert parts(p.log)[1] == "not written yet\n"


@test
def killed_it_leaves_a_log_that_says_in_progress_with_all_that_was_appended():
    with Ahr(AHR) as a, Persister(PERSISTER, a.dir / "1.log", flush_ms=0) as p:
        p.ok("out one", "piece two")
        p.signal(signal.SIGKILL)
        assert fields(p.log)["Status"] == "in_progress"
        assert parts(p.log)[1] == "one\ntwo\n"
        assert json.loads(a.ok("log", "--json", p.log))["text"] == "one\ntwo\n"


@test
def a_log_that_exists_is_not_touched():
    with Ahr(AHR) as a:
        (a.dir / "1.log").write_text("precious")
        try:
            Persister(PERSISTER, a.dir / "1.log")
            raise RuntimeError("it was opened")
        except AssertionError as why:
            assert "File exists" in str(why)
        assert (a.dir / "1.log").read_text() == "precious"


@test
def a_full_disk_is_told_once_and_the_log_says_what_is_missing():
    with Ahr(AHR) as a, mounted(a.dir / "small", "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        log = a.dir / "small" / "1.log"
        with Persister(PERSISTER, log) as p:
            results = [p.do(f"out {i} {'x' * 1000}") for i in range(100)]
            assert results[0] == 0
            assert results[-1] < 0
            assert p.do("complete 0 5") < 0
            p.process.stdin.close()
            p.process.wait()
            begin, end = p.process.stderr.read().splitlines()
        assert "cannot write the log" in begin
        assert "No space left" in begin
        assert "bytes are missing at the end of the log" in end
        assert fields(log)["Status"] == "completed"
        *lines, last = parts(log)[1].splitlines()
        assert last.startswith("[ahr] ")
        assert last.endswith(" bytes are missing here: the disk was full")
        missing = int(last.split()[1].replace(",", ""))
        whole = "".join(f"{i} {'x' * 1000}\n" for i in range(100))
        assert "".join(line + "\n" for line in lines) == whole[:len(whole) - missing]


own_mounts()
run()
