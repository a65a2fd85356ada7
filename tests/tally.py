#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally.py -- adds up test results, and prints `N passed, N failed, N skipped`.

usage: tally.py BUILD_DIR|FILE.tap ...

A build directory has meson's logs: the JUnit file knows each sub-test, the JSON file how
each program ended. A program that crashed, ran out of time or broke off counts as at
least one failure, however many of its sub-tests had passed by then.
"""

import json
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

WHOLE = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}


def complain(text):
    print(f"tally: {text}")


def of_case(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def subtests(junit):
    """Program name -> Counter of its sub-tests; suites are named PROJECT.PROGRAM."""
    return {
        suite.get("name").partition(".")[2]: Counter(map(of_case, suite.iter("testcase")))
        for suite in xml.parse(junit).getroot().iter("testsuite")
    }


def of_program(run, parts):
    verdict = WHOLE.get(run["result"], "failed")
    count = parts.get(run["name"]) or Counter([verdict])
    if verdict == "failed" and not count["failed"]:
        complain(f"'{run['name']}' ended with {run['result']} behind its last result")
        count["failed"] += 1
    return count


def of_meson(build):
    logs = build / "meson-logs"
    count = Counter()
    try:
        status = int((logs / "status").read_text())
        parts = subtests(logs / "testlog.junit.xml")
        for line in (logs / "testlog.json").read_text(errors="replace").splitlines():
            count += of_program(json.loads(line), parts)
    except (OSError, ValueError, xml.ParseError) as e:
        complain(f"'{build}' has no whole set of results: {e}")
        count["failed"] += 1
        return count
    if status and not count["failed"]:
        complain(f"'meson test' in '{build}' failed with status {status}")
        count["failed"] += 1
    return count


def of_tap(path):
    count, planned = Counter(), None
    for line in path.read_text().splitlines() if path.exists() else []:
        if plan := re.match(r"1\.\.(\d+)", line):
            planned = int(plan[1])
        elif result := re.match(r"(not )?ok\b(.*)", line):
            skipped = re.search(r"# *skip", result[2], re.I)
            count["failed" if result[1] else "skipped" if skipped else "passed"] += 1
    if planned is None or planned != sum(count.values()):
        complain(f"'{path}' broke off")
        count["failed"] += 1
    return count


def main(paths):
    total = Counter()
    for path in map(Path, paths):
        total += of_tap(path) if path.suffix == ".tap" else of_meson(path)
    if not total:
        complain("no results at all")
        total["failed"] += 1
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
