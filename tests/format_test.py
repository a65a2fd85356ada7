#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""format_test.py -- our reader and the one written from doc/ahr-format.md say the same of each file.

    format_test.py DUMP GOLDEN      DUMP: the built tests/tools/dump.c; GOLDEN: the folder of recordings
"""

import difflib
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import ahr_reader  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent
HELLO = "shared/fixtures/ahr/public-hello.ahr"


def compare(dump, path):
    """None when both readers print the same of `path`, else what differs."""
    ours = subprocess.run([dump, str(path)], capture_output=True, text=True, check=False)
    if ours.returncode:
        return [f"{dump}: exit {ours.returncode}", *ours.stderr.splitlines()]
    theirs = ahr_reader.dump(str(path))
    return list(difflib.unified_diff(ours.stdout.splitlines(), theirs, "dump", "ahr_reader.py", lineterm=""))


def listings():
    """The bytes of the hex dumps in section 7 of the document, one after the other."""
    section = (TESTS.parent / "doc/ahr-format.md").read_text(encoding="utf-8").split("\n## 7.", 1)[1]
    found = []
    for listing in re.findall(r"^```\n(.*?)^```$", section, re.M | re.S):
        data = b""
        for line in listing.splitlines():
            # The offset, then bytes with one or two blanks between them, then at least three and a remark.
            offset, digits = re.match(r"([0-9a-f]{8})  ((?:[0-9a-f]{2} {0,2})+)(?: |$)", line).groups()
            if int(offset, 16) != len(data):
                raise ValueError(f"wrong offset in the listing: {line}")
            data += bytes.fromhex(digits)
        found.append(data)
    return found


def listing_is(number, want):
    data = listings()[number]
    return [] if data == want else [f"listing: {data.hex(' ')}", f"file:    {want.hex(' ')}"]


def unpacked(block):
    head = ahr_reader.header_at(block, 0)
    return ahr_reader.unpack(block[44:44 + head.packed], head.size)


def main(dump, golden):
    files = sorted(pathlib.Path(golden).glob("*.ahr"))
    smallest = (pathlib.Path(golden) / "smallest.ahr")
    tests = [(f"both readers agree on {path.name}", lambda path=path: compare(dump, path)) for path in files]
    tests += [("the hex dump in the document is smallest.ahr", lambda: listing_is(0, smallest.read_bytes())),
              ("the listing of its records is its payload", lambda: listing_is(1, unpacked(smallest.read_bytes())))]
    hello = next((up / HELLO for up in TESTS.parents if (up / HELLO).exists()), None)
    tests.append(("both readers agree on public-hello.ahr", hello and (lambda: compare(dump, hello))))

    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        if test is None:
            print(f"ok {number} - {name} # SKIP no ../{HELLO} beside the project")
            continue
        try:
            wrong = test()
        except Exception as error:  # a test that breaks has failed; the others go on
            wrong = [f"{type(error).__name__}: {error}"]
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for line in wrong:
            print(f"# {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: format_test.py DUMP GOLDEN")
    sys.exit(main(sys.argv[1], sys.argv[2]))
