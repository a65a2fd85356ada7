# SPDX-License-Identifier: MIT
"""tap.py -- a test is a function named as a sentence; run() prints TAP.

    @test
    def a_missing_file_is_named(): ...

A test fails by an exception (assert will do) and is skipped by `raise Skip("why")`, which is for
missing tools only.
"""

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

TESTS = []
MEANWHILE = []


class Skip(Exception):
    """The machine lacks something that the test needs."""


def test(function):
    TESTS.append(function)
    return function


def test_meanwhile(function):
    """A test that mostly waits: it begins before all others, beside them, and is told at its place."""
    def told():
        told.future.result()
    told.__name__ = function.__name__
    MEANWHILE.append((told, function))
    return test(told)


def run():
    print(f"1..{len(TESTS)}", flush=True)
    beside = ThreadPoolExecutor(len(MEANWHILE) or 1)
    for told, function in MEANWHILE:
        told.future = beside.submit(function)
    failed = 0
    for number, function in enumerate(TESTS, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception:  # whatever went wrong, the others still run
            failed += 1
            print(traceback.format_exc(), file=sys.stderr, flush=True)  # meson shows that of the failed
            print(f"not ok {number} - {name}", flush=True)
    raise SystemExit(1 if failed else 0)
