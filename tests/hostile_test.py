#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_test.py -- recordings made to harm: nothing comes out of them that is not on a list.

usage: hostile_test.py AHR COMMANDS [--sanitized]

support/hostile.py has what is recorded, support/allowed.py what each output may hold.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import allowed
from support.ahr import Ahr
from support.hostile import CALM, recording, sequences
from support.processes import PATIENCE
from support.recorder import Recorder
from support.tap import run, test, test_meanwhile
from support.tape import Tape

AHR, COMMANDS = (str(Path(p).resolve()) for p in sys.argv[1:3])
OUTPUTS = {
    "md": (("export", "--format", "md"), allowed.markdown),
    "json": (("export", "--format", "json"), allowed.json),
    "csv": (("export", "--format", "csv"), allowed.csv),
    "txt": (("export", "--format", "txt"), allowed.lines),
    "ansi": (("export", "--format", "ansi"), allowed.ansi),
    "html": (("export", "--format", "html", "--timestamps"), allowed.html),
    "cast": (("export", "--format", "cast"), allowed.cast),
    "cast3": (("export", "--format", "cast3"), allowed.cast),
    "points": (("branch-points", "--instructions"), allowed.json),
    "points.md": (("branch-points", "--format", "md"), allowed.markdown),
    "points.csv": (("branch-points", "--format", "csv"), allowed.csv),
    "points.text": (("branch-points", "--format", "text"), allowed.lines),
    "unmasked": (("export", "--format", "html", "--no-redact", "--order", "position"), allowed.html),
    "fast": (("replay", "--fast"), allowed.lines),
    "plain": (("replay", "--speed", "1000"), allowed.lines),
}


def hostile_tape(data):
    """A recording of these bytes, which are its labels, instructions and name as well."""
    words = data.decode(errors="replace")
    tape = Tape(80, 24).data(recording(data)).snapshot(1, data[:2000]).instruct(1, words)
    return tape.resize(60, 20).snapshot(2, words[:500], on_tape=False).data(b"end\r\n").end(), words


def write_all(folder, found):
    """Recordings by number, each in a folder of its own."""
    for number, (_, data) in enumerate(found):
        tape, words = hostile_tape(data)
        (folder / str(number)).mkdir()
        tape.write(folder / str(number) / "x.ahr", name=words, cmd=["agent", words])


def run_all(a, folder, numbers):
    """Every output of them, as (number, output, bytes)."""
    wanted = [(n, out) for n in numbers for out in OUTPUTS]
    lines = b"".join(b"\0".join(str(word).encode() for word in (
        folder / str(n) / out, *OUTPUTS[out][0], folder / str(n) / "x.ahr")) + b"\0\0" for n, out in wanted)
    (folder / "commands").write_bytes(lines)
    done = subprocess.run([COMMANDS, folder / "commands"], capture_output=True, env=a.env, cwd=a.dir)
    assert done.returncode == 0, (done.returncode, len(done.stdout.split()), done.stderr[-2000:])
    statuses = done.stdout.split()
    assert len(statuses) == len(wanted), (len(statuses), done.stderr[-2000:])
    bad = [(w, s) for w, s in zip(wanted, statuses) if s != b"0"]
    assert not bad, (bad[:9], done.stderr[-2000:])
    for n, out in wanted:
        yield n, out, (folder / str(n) / out).read_bytes()


@test
def there_are_hundreds_of_them():
    assert len(sequences()) >= 200


@test
def what_each_one_leaves_is_on_the_list_of_each_output():
    found = sequences()
    wrong = []
    with Ahr(AHR) as a:
        write_all(a.dir, found)
        # Sanitized each takes its time; the plain run takes them all.
        step = 3 if "--sanitized" in sys.argv else 1
        for number, out, data in run_all(a, a.dir, range(0, len(found), step)):
            try:
                assert data, "nothing came out"
                OUTPUTS[out][1](data)
            except (AssertionError, ValueError) as why:
                wrong.append(f"{found[number][0]} by {out}: {str(why)[:300]}")
    assert not wrong, "\n".join([f"{len(wrong)} in all", *wrong[:40]])


def whole_tape(path):
    """One recording of them all, each to be seen for a second, and in a snapshot's label."""
    tape = Tape(80, 24)
    for number, (_, data) in enumerate(sequences(), 1):
        tape.data(recording(data)).snapshot(number, data[:300]).wait(1000).data(CALM)
    tape.end().write(path, cmd=["agent"])


@test
def what_all_of_them_leave_together_is_on_the_list_of_each_output():
    with Ahr(AHR) as a:
        whole_tape(a.dir / "x.ahr")
        texts = {}
        for out, (command, check) in OUTPUTS.items():
            texts[out] = a.ok(*command, "x.ahr")
            check(texts[out])
        # It was all read: each has left its frame, wherever it has put it.
        assert texts["txt"].count(b"behind") > len(sequences()) - 20


@test
def a_terminal_gets_text_colours_and_links_at_most():
    with Recorder(AHR) as a:
        whole_tape(a.dir / "x.ahr")
        for command, sequences_ in ((("--fast",), (allowed.SGR, allowed.LINK)), (("--fast", "--no-colors"), ())):
            t = a.terminal()
            assert a.on(t, "replay", *command, "x.ahr").wait(PATIENCE) == 0
            allowed.terminal(t.settle(), sequences_)


END_OF_FRAME = "\x1b[?2026l"


@test_meanwhile
def the_player_draws_and_nothing_else_at_each_snapshot():
    with Recorder(AHR) as a:
        whole_tape(a.dir / "x.ahr")
        # With a frame, with the bar below, cropped; not each of them needs every picture.
        for cols, rows, stride in ((80, 25, 1), (120, 40, 7), (50, 12, 7)):
            t = a.terminal(cols, rows)
            client = a.on(t, "replay", "x.ahr", stderr=a.log())
            t.wait_for(END_OF_FRAME)
            t.type(" g")
            for step in range(len(sequences()) // stride):
                t.type("]" * stride + "+-"[step % 2])  # another speed: there is a frame to wait for
                t.wait_for(END_OF_FRAME)
            t.type("[" * 20 + "...{}5Gq")
            assert client.wait(PATIENCE) == 0, a.said()
            shown = t.settle()
            allowed.player(shown)
            if stride == 1:
                for seen in (b"click me", b"</pre><script>", "שלום".encode(), b"hidden!"):
                    assert seen in shown, seen


@test
def the_lists_are_short():
    for data, checks in (
            (b"\x1b]52;c;?\x07\n", (allowed.ansi, allowed.player, allowed.lines, allowed.html)),
            (b"\x1b[6n\n", (allowed.ansi, allowed.player, allowed.lines)),
            (b"\x1b[?1049h\n", (allowed.player,)), (b"\x1b]8;;a b\x1b\\\n", (allowed.ansi,)),
            ("a\u202eb\n".encode(), (allowed.ansi, allowed.player, allowed.lines, allowed.html, allowed.markdown)),
            ("\x9b31m\n".encode(), (allowed.ansi, allowed.player, allowed.lines)), (b"\xff\n", (allowed.ansi, allowed.lines)),
            (b"kind,index_or_id,position,ts_ns,text\r\nline,0,1,,=1\r\n", (allowed.csv,)),
            (b"| 0 | 1 |  | <b> |\n", (allowed.markdown,)), (b"```text\n```\n<b>\n", (allowed.markdown,))):
        for check in checks:
            try:
                check(data)
            except (AssertionError, ValueError):
                continue
            raise AssertionError(f"{check.__name__} takes {data}")


if __name__ == "__main__":
    run()
