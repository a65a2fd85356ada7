# SPDX-License-Identifier: MIT
"""reports.py -- a session whose every byte and stamp is known: the mock agent's, and behind it what
documents must take care of. Its documents are in tests/golden/reports."""

import json
import subprocess
from pathlib import Path

from support.tape import Tape

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "reports"
FORMATS = ("md", "json", "csv", "txt", "ansi", "html", "events", "cast", "cast3")
# Made up, and of the shape that the rules look for.
SECRET = "ghp_" + "1B2c3D4e5F6g7H8i9J0kA1b2C3d4E53XiXGl"
NAME = "golden"

# What some format has a meaning of its own for, or a terminal.
AWKWARD = (
    "=1+2\r\n+3\r\n@SUM(A1)\r\n\"quoted\", and a comma\r\n"
    "| pipe | `tick` ``` *star* _line_ <b>&amp;</b> [link](http://x) \\ back\r\n"
    "  leading and  double  blanks\r\n"
    "~~~ # > - 1. $x$ {{y}}\r\n"
    "\x1b]8;;https://example.com/?a=1&b=2\x07a link\x1b]8;;\x07 and "
    "\x1b]8;;javascript:alert(1)\x07not one\x1b]8;;\x07\r\n"
    "\x1b[1;4;38;2;250;100;0mstyled\x1b[0m \x1b[7minverse\x1b[0m \x1b[31;44mred on blue\x1b[0m\r\n"
    "wide 世界 👩‍👩‍👧 e\u0301 \u202edesrever\u202c\r\n"
    f"export GITHUB_TOKEN={SECRET}\r\n")
# A program on the alternate screen, which is gone at the end.
ALTERNATE = "\x1b[?1049h\x1b[2J\x1b[3;5Hon the other screen\x1b[5;1Hstill there\x1b[?1049l"


def golden_tape(mock, folder):
    """The session."""
    subprocess.run([mock, "--no-wait", "--seed", "215", "--steps", "6", "--truth",
                    folder / "truth", "--bytes", folder / "bytes"], check=True, capture_output=True)
    truth, data = json.loads((folder / "truth").read_text()), (folder / "bytes").read_bytes()
    tape, at = Tape(80, 24), 0
    for number, step in enumerate(truth["steps"], 1):
        while at < step["end_byte"]:
            end = min(at + 700, step["end_byte"])
            tape.wait(40).data(data[at:end])
            at = end
        tape.wait(200).snapshot(number, f"after {step['kind']}")
        if number % 2 == 0:
            tape.wait(3000).instruct(number, f"{number}: go on,\n“please” | `now`\t{SECRET}",
                                     snapshot_id=number, delivered=number == 4)
    tape.seal().data(data[at:])
    tape.snapshot(7, "").data(AWKWARD).snapshot(8, f"\x1b[31m=cmd|' /C' \u202e{SECRET}\n")
    tape.wait(3_600_000).data(ALTERNATE).gap(123_456).seal().data("after the gap\r\n")
    tape.snapshot(9, "not on tape", on_tape=False).snapshot(10, "not beside it", beside=False)
    tape.instruct(7, "at an old byte", anchor=100)
    tape.data("\x1b7\x1b[9;1Ha row above, written late\x1b[K\x1b8")
    return tape.wait(500).data("\x1b[1mthe end\x1b[0m").resize(90, 20).end()


def golden_session(mock, folder, name="session.ahr"):
    return golden_tape(mock, folder).write(
        folder / name, name=NAME, cmd=["mock_agent", "--seed", "215", "a b"], cols=80, rows=24,
        status="completed", exitCode=0)


def reports(path):
    """Each document by the name of its file: the arguments that make it."""
    made = {f"export.{f}": ["export", path, "--format", f] for f in FORMATS}
    for f in ("md", "json", "csv", "txt", "ansi", "html"):
        made[f"export-timestamps.{f}"] = ["export", path, "--format", f, "--timestamps"]
        made[f"export-position.{f}"] = ["export", path, "--format", f, "--order", "position"]
    for f in FORMATS:
        made[f"export-no-redact.{f}"] = ["export", path, "--format", f, "--no-redact"]
    for f in ("json", "md", "csv", "text"):
        made[f"branch-points.{f}"] = ["branch-points", path, "--format", f]
        made[f"branch-points-instructions.{f}"] = ["branch-points", path, "--format", f,
                                                   "--instructions"]
    made["branch-points-position.json"] = ["branch-points", path, "--order", "position"]
    made["branch-points-no-redact.json"] = ["branch-points", path, "--no-redact"]
    return made
