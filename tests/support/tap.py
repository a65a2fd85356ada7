# SPDX-License-Identifier: MIT
"""tap.py -- a test is a function named as a sentence; run() prints TAP.

    @test
    def a_missing_file_is_named(): ...

A test fails by an exception (assert will do) and is skipped by `raise Skip("why")`, which is for
missing tools only.
"""

import traceback

TESTS = []


class Skip(Exception):
    """The machine lacks something that the test needs."""


def test(function):
    TESTS.append(function)
    return function


def run():
    print(f"1..{len(TESTS)}", flush=True)
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
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {name}", flush=True)
    raise SystemExit(1 if failed else 0)
