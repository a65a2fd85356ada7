#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""referee_test.py -- screens that others expect for byte streams.

usage: referee_test.py AHR ANSWERS

The cases are those of ../shared/fixtures/vt. What we differ in on purpose is named, with the reason,
in referee-exceptions.txt; a case that is named there must fail.
"""

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import Skip, run, test

AHR, ANSWERS = sys.argv[1:3]
HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "shared/fixtures/vt"
EXCEPTIONS = dict(line.split(": ", 1)
                  for line in (HERE / "referee-exceptions.txt").read_text().splitlines()
                  if line and not line.startswith("#"))
SHOWN_MAX = 20  # of what is wrong
SCREENS = {"xterm", "alacritty", "vt100", "tmux"}
counts = {}  # suite -> cases, exceptions


def folder(suite):
    if not (FIXTURES / suite).is_dir():
        raise Skip("the shared fixtures are not here")
    return FIXTURES / suite


def judge(suite, results):
    """results: case -> what is wrong with it, or None."""
    listed = {name.partition("/")[2] for name in EXCEPTIONS if name.startswith(suite + "/")}
    wrong = [f"{suite}/{case}: {why}" for case, why in results.items()
             if why and case not in listed]
    wrong += [f"{suite}/{case}: is an exception, and there is no such case"
              for case in listed - results.keys()]
    wrong += [f"{suite}/{case}: is an exception, and passes"
              for case in listed & results.keys() if not results[case]]
    counts[suite] = len(results), len(listed)
    print(f"# {suite}: {len(results)} cases, {len(listed)} exceptions, {len(wrong)} wrong")
    more = [f"… and {len(wrong) - SHOWN_MAX} more"] if len(wrong) > SHOWN_MAX else []
    assert not wrong, "\n".join(wrong[:SHOWN_MAX] + more)


def render(a, data, rows, cols, *more):
    # Some streams begin as a typescript does, whose first line would not be shown.
    return json.loads(a.ok("render", "--format", "json", "--cols", cols, "--rows", rows, *more,
                           input=b"\x1b[m" + data))


def onlcr(data):
    """What a terminal's driver makes of a program's output."""
    return data.replace(b"\n", b"\r\n")


def echo(data, rows, cols):
    """The terminal's answers, as its driver shows them when nobody reads them."""
    answers = subprocess.run([ANSWERS, str(cols), str(rows)], input=data, capture_output=True,
                             check=True).stdout
    return re.sub(rb"[\0-\x1f]", lambda m: b"^%c" % (m[0][0] | 0x40), answers)


def compare_text(screen, text):
    rows = [line.rstrip(" ") for line in text.split("\n")]
    want = "\n".join(rows).rstrip("\n").split("\n")
    want += [""] * (screen["rows"] - len(want))
    got = [line["text"] for line in screen["lines"]]
    return differ("row", want, got)


def differ(what, want, got):
    for i, (w, g) in enumerate(zip(want, got)):
        if w != g:
            return f"{what} {i}: {w!r} expected, got {g!r}"
    return None if len(want) == len(got) else f"{len(want)} {what}s expected, got {len(got)}"


def compare_cursor(screen, row, col):
    # While a wrap is pending some say that the cursor is past the last column.
    want = {"row": row, "col": min(col, screen["cols"] - 1)}
    got = {key: screen["cursor"][key] for key in want}
    return None if want == got else f"cursor {want} expected, got {got}"


def size(path):
    return map(int, path.with_suffix(".size").read_text().split())


def judge_each(suite, compare):
    """compare(a, path) runs one case and says what is wrong with its screen, or None."""
    with Ahr(AHR) as a:
        paths = sorted(folder(suite).glob("*.in"))
        judge(suite, {path.stem: compare(a, path) for path in paths})


def compare_with_file(screen, path):
    return compare_text(screen, path.with_suffix(".text").read_text())


def xterm_case(a, path):
    return compare_with_file(render(a, onlcr(path.read_bytes()), 25, 80), path)


def alacritty_case(a, path):
    return compare_with_file(render(a, path.read_bytes(), *size(path)), path)


def tmux_case(a, path):
    data = onlcr(path.read_bytes())
    screen = render(a, data + echo(data, *size(path)), *size(path))
    why = compare_with_file(screen, path)
    cursor = path.with_suffix(".cursor")
    if not why and cursor.exists():
        col, row = map(int, cursor.read_text().split(","))
        why = compare_cursor(screen, row, col)
    return why


@test
def xterm_screens():
    judge_each("xterm", xterm_case)


@test
def alacritty_screens():
    judge_each("alacritty", alacritty_case)


@test
def tmux_screens():
    judge_each("tmux", tmux_case)


# -- vt100: cells --

def looks_expected(cell):
    colour = lambda c: int(c) if c and c.isdigit() else c
    attrs = [name for name in ("bold", "italic", "underline", "inverse") if cell.get(name)]
    return colour(cell.get("fgcolor")), colour(cell.get("bgcolor")), attrs


def looks_of(line, cols):
    looks = [(None, None, [])] * cols
    for span in line["spans"]:
        for col in range(span["start"], span["end"]):
            looks[col] = span["fg"], span["bg"], span["attrs"]
    return looks


def rows_expected(cells, screen):
    """The cells of each row; those that are not listed are blank."""
    return [[cells.get(f"{row},{col}", {}) for col in range(screen["cols"])]
            for row in range(screen["rows"])]


def text_expected(row):
    """With blanks behind it only where they were written."""
    filled = [i for i, cell in enumerate(row) if cell.get("contents")]
    return "".join(cell.get("contents") or " " for cell in row[:filled[-1] + 1 if filled else 0]
                   if not cell.get("is_wide_continuation"))


def compare_cells(screen, rows):
    for number, (want, line) in enumerate(zip(rows, screen["lines"])):
        text = text_expected(want).rstrip(" ")
        if text != line["text"]:
            return f"row {number}: {text!r} expected, got {line['text']!r}"
        for col, (cell, look) in enumerate(zip(want, looks_of(line, screen["cols"]))):
            if not cell.get("is_wide_continuation") and looks_expected(cell) != look:
                return f"row {number} column {col}: {looks_expected(cell)} expected, got {look}"
    return None


def compare_wrapping(screen, rows, contents):
    """contents has wrapped rows in one line, but an empty row always ends one."""
    joined = ""
    is_going_on = False
    for row, line in zip(rows, screen["lines"]):
        text = text_expected(row)
        joined += text + "\n" * ((not line["wrapped"]) + (is_going_on and not text))
        is_going_on = line["wrapped"]
    return differ("line", contents.split("\n"), joined.rstrip("\n").split("\n"))


@test
def vt100_cells():
    results = {}
    with Ahr(AHR) as a:
        for scenario in sorted(folder("vt100").iterdir()):
            data = b""
            for number in range(1, len(list(scenario.glob("*.json"))) + 1):
                data += (scenario / f"{number}.typescript").read_bytes()
                want = json.loads((scenario / f"{number}.json").read_text())
                screen = render(a, data, 24, 80)
                rows = rows_expected(want["cells"], screen)
                is_hidden = want.get("hide_cursor", False)
                results[f"{scenario.name}/{number}"] = (
                    compare_cells(screen, rows)
                    or compare_wrapping(screen, rows, want["contents"])
                    or compare_cursor(screen, *want["cursor_position"])
                    or (screen["cursor"]["visible"] == is_hidden and "wrong cursor visibility")
                    or None)
    judge("vt100", results)


# -- Unicode --

MARK = b"\x1b[41m\x1b[X\x1b[m"  # colours the cell at the cursor and prints nothing


def draw(a, pieces):
    """Each piece on a row of its own; returns the rows."""
    data = b"".join(piece + b"\r\n" for piece in pieces)
    return render(a, data, 24, 80, "--scrollback")["lines"][:len(pieces)]


def columns(a, texts):
    """How many columns the cursor moves for each text."""
    rows = draw(a, [text.encode() + MARK for text in texts])
    return [next(span["start"] for span in row["spans"] if span["bg"] == 1) for row in rows]


def code_points(text):
    return "".join(chr(int(word, 16)) for word in text.split())


def data_lines(name):
    """The lines that are not comments, without their remarks, and these."""
    for line in (folder("unicode") / name).read_text().splitlines():
        data, _, remark = line.partition("#")
        if data.strip():
            yield data.strip(), remark.strip()


def is_mark(cluster):
    return unicodedata.category(cluster[0]).startswith("M") or cluster[0] == "\u200d"


def is_vowel_or_end(cluster):
    """A part of a Hangul syllable that takes no place: nothing to see on a terminal."""
    return "\u1160" <= cluster[0] <= "\u11ff"


def grapheme_cases():
    for line, _ in data_lines("GraphemeBreakTest.txt"):
        clusters = [code_points(part.replace("×", " ")) for part in line.strip("÷ ").split("÷")]
        if any(unicodedata.category(c) == "Cc" for c in "".join(clusters)):
            continue
        if any(map(is_vowel_or_end, clusters)):
            continue
        if is_mark(clusters[0]):  # it needs something to stand on
            clusters[0] = "a" + clusters[0]
        yield re.sub(r"\W+", "-", line.replace("×", "x")).strip("-"), clusters


@test
def unicode_grapheme_clusters_are_cells():
    cases = dict(grapheme_cases())
    known = sorted({cluster for clusters in cases.values() for cluster in clusters})
    with Ahr(AHR) as a:
        width = dict(zip(known, columns(a, known)))
        tries = []  # erase each cluster in turn: exactly that one must go
        for case, clusters in cases.items():
            col = 0
            for i, cluster in enumerate(clusters):
                n = width[cluster]
                move = b"\x1b[%dC" % col if col else b""
                want = "".join([*clusters[:i], " " * n, *clusters[i + 1:]]).rstrip(" ")
                tries.append((case, "".join(clusters).encode() + b"\r" + move + b"\x1b[%dX" % n, want))
                col += n
        results = {case: None if all(width[c] for c in clusters) else "a cluster has no width"
                   for case, clusters in cases.items()}
        for (case, _, want), row in zip(tries, draw(a, [piece for _, piece, _ in tries])):
            if row["text"] != want:
                results[case] = results[case] or f"{want!r} expected, got {row['text']!r}"
    judge("unicode-graphemes", results)


@test
def unicode_east_asian_widths():
    want = {"W": 2, "F": 2, "Na": 1, "H": 1}
    ranges = {}
    for line, remark in data_lines("EastAsianWidth.txt"):
        span, width = line.split(";")
        is_printable = remark[0] in "LNPSZ"  # its general category
        if width in want and is_printable:
            first, _, last = span.partition("..")
            ranges[span] = range(int(first, 16), int(last or first, 16) + 1), want[width]
    with Ahr(AHR) as a:
        runes = [rune for span, _ in ranges.values() for rune in span]
        width = dict(zip(runes, columns(a, map(chr, runes))))
    results = {}
    for case, (span, n) in ranges.items():
        wrong = [f"U+{rune:04X} is {width[rune]}" for rune in span if width[rune] != n]
        results[case] = f"width {n} expected, {' '.join(wrong[:3])} ({len(wrong)})" if wrong else None
    judge("unicode-widths", results)


def judge_emoji(suite, sequences):
    """Each is one cell of two columns, with all of its text."""
    with Ahr(AHR) as a:
        rows = draw(a, [text.encode() + MARK for text in sequences])
    results = {}
    for text, row in zip(sequences, rows):
        col = next(span["start"] for span in row["spans"] if span["bg"] == 1)
        got = col, row["text"]
        results["-".join(f"{ord(c):04X}" for c in text)] = (
            None if got == (2, text) else f"{(2, text)} expected, got {got}")
    judge(suite, results)


@test
def unicode_variation_sequences_for_emoji_are_two_wide():
    judge_emoji("unicode-variation", [code_points(line.split(";")[0])
                                      for line, _ in data_lines("emoji-variation-sequences.txt")
                                      if "emoji style" in line])


@test
def unicode_joined_emoji_are_one_cell():
    judge_emoji("unicode-zwj", [code_points(line.split(";")[0])
                                for line, _ in data_lines("emoji-zwj-sequences.txt")])


@test
def at_most_one_case_in_twenty_is_an_exception():
    if not counts:
        raise Skip("the shared fixtures are not here")
    # The lines of Unicode's files are many: without them it holds, too.
    for what, suites in ("all", counts), ("screens", counts.keys() & SCREENS):
        cases, exceptions = map(sum, zip(*(counts[suite] for suite in suites)))
        print(f"# {what}: {cases} cases, {exceptions} exceptions")
        assert exceptions * 20 <= cases, (what, cases, exceptions)
    assert {name.partition("/")[0] for name in EXCEPTIONS} <= counts.keys()


run()
