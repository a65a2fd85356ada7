# SPDX-License-Identifier: MIT
"""actor.py -- an agent whose every line is known: rows with snapshots between them, then it listens.

usage: actor.py FOLDER [ROWS]

FOLDER/tty is its terminal: what is written there is said by it. FOLDER/typed has all that was typed to it. Ctrl-D
ends it with 0, a digit behind Ctrl-P with that.
"""

import os
import re
import sys
import tty
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.public_ipc import snap

ROWS, PROMPT = 300, b"ready> "
SNAPSHOTS = {100: (1, "first"), 200: (2, "second")}  # behind these rows: id, label
TITLE = "at work"
WORDS = {60: "\033[31mred\033[m", 123: "a Needle", 222: "a needle"}


def row(n):
    return f"row {n} {WORDS.get(n, 'of many')}\r\n".encode()


def rows(first, last):
    return b"".join(map(row, range(first, last + 1)))


def text():
    """All that it says by itself."""
    return b"\033]2;%s\033\\" % TITLE.encode() + rows(1, ROWS) + PROMPT


def is_heard():
    """What was written so far has been read by the recorder: it answers a question behind it."""
    os.write(1, b"\033[6n")
    answer = b""
    while not re.search(rb"\033\[\d+;\d+R", answer):
        answer += os.read(0, 1)


def main(folder, count):
    tty.setraw(0)
    os.write(1, b"\033]2;%s\033\\" % TITLE.encode())
    done = 0
    for last in [n for n in SNAPSHOTS if n < count] + [count]:
        data = memoryview(rows(done + 1, last))
        while data:
            data = data[os.write(1, data):]
        done = last
        is_heard()
        if last in SNAPSHOTS:
            snap(os.environ["AHR_IPC"], *SNAPSHOTS[last])
    os.write(1, PROMPT)
    with open(folder / "typed", "ab", buffering=0) as log:
        (folder / "tty.new").write_text(os.ttyname(0))
        (folder / "tty.new").rename(folder / "tty")
        while data := os.read(0, 65536):
            log.write(data)
            if end := re.search(rb"\x04|\x10([0-9])", data):
                return int(end[1] or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS))
