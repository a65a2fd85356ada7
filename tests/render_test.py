#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""render_test.py -- `ahr render` as a user meets it. usage: render_test.py AHR"""

import json
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import run, test

AHR = sys.argv[1]
LINES = b"".join(b"line %d \x1b[31mred\x1b[0m\r\n" % i for i in range(100))
PLAIN = {"fg": None, "bg": None, "attrs": [], "link": None}
# All that the ansi form may hold besides text.
ALLOWED = re.compile(rb"\x1b\[[0-9;:]*m|\x1b\]8;;[\x21-\x7e]*\x1b\\|\n")


def render(a, data, *more):
    return json.loads(a.ok("render", "--format", "json", *more, input=data))


def texts(screen):
    return [line["text"] for line in screen["lines"]]


def spans(data, **more):
    with Ahr(AHR) as a:
        return render(a, data, "--rows", 1, **more)["lines"][0]["spans"]


# -- recordings by hand --

def data(byte_off, text):
    return struct.pack("<B3xQQI", 0, 1, byte_off, len(text)) + text


def resize(cols, rows):
    return struct.pack("<B3xQHH", 1, 1, cols, rows)


def gap(n):
    return struct.pack("<B3xQII", 3, 1, 1, n)


def block(*records, byte_off=0):
    raw = b"".join(records)
    packed = subprocess.run(["brotli", "-c"], input=raw, capture_output=True, check=True).stdout
    return struct.pack("<4sHHQQIIIB7x", b"AHRC", 1, 44, 1, byte_off, len(raw), len(packed),
                       len(records), 0) + packed


# -- formats --

@test
def text_is_the_screen_without_its_blank_end():
    with Ahr(AHR) as a:
        assert a.ok("render", input=b"one  \r\n\r\n  three\r\n\r\n") == b"one\n\n  three\n"
        assert a.ok("render", input=b"") == b""
        assert a.ok("render", input=LINES) == b"".join(b"line %d red\n" % i for i in range(77, 100))


@test
def json_has_exactly_the_keys_and_rows_it_should():
    with Ahr(AHR) as a:
        stream = b"\x1b]2;a title\x07one\r\n\x1b[1;38;2;1;2;3;48;5;200mtwo\x1b[?25l"
        out = a.ok("render", "--format", "json", input=stream)
        assert out.count(b"\n") == 1
        screen = json.loads(out)
        assert list(screen) == ["cols", "rows", "cursor", "title", "alternate", "lines",
                                "scrollback_rows"]
        assert screen["cols"] == 80 and screen["rows"] == 24 == len(screen["lines"])
        assert list(screen["cursor"].items()) == [("row", 1), ("col", 3), ("visible", False)]
        assert screen["title"] == "a title" and screen["alternate"] is False
        assert screen["scrollback_rows"] == 0
        one, two, three = screen["lines"][:3]
        assert list(one.items()) == [("text", "one"), ("wrapped", False), ("last_write_byte", 15),
                                     ("spans", [])]
        assert two["last_write_byte"] == stream.index(b"two") + 3
        assert list(two["spans"][0].items()) == [
            ("start", 0), ("end", 3), ("fg", "#010203"), ("bg", 200), ("attrs", ["bold"]),
            ("link", None)]
        assert three == {"text": "", "wrapped": False, "last_write_byte": 0, "spans": []}


@test
def each_look_has_its_name():
    for sgr, want in (
            ("1", ["bold"]), ("2", ["dim"]), ("3", ["italic"]), ("4", ["underline"]),
            ("21", ["double_underline"]), ("4:3", ["curly_underline"]),
            ("4:4", ["dotted_underline"]), ("4:5", ["dashed_underline"]), ("5", ["blink"]),
            ("6", ["rapid_blink"]), ("7", ["inverse"]), ("8", ["hidden"]), ("9", ["strike"]),
            ("53", ["overline"]), ("9;7;4;1", ["bold", "underline", "inverse", "strike"])):
        span, = spans(b"\x1b[%smx" % sgr.encode())
        assert span == {**PLAIN, "start": 0, "end": 1, "attrs": want}, (sgr, span)
    span, = spans(b"a\x1b[1\"qb\x1b[\"qc")
    assert span == {**PLAIN, "start": 1, "end": 2, "attrs": ["protected"]}
    span, = spans(b"\x1b[4;58;5;9mx")
    assert span == {**PLAIN, "start": 0, "end": 1, "attrs": ["underline"], "underline_color": 9}
    span, = spans(b"\x1b[93;44mx")
    assert (span["fg"], span["bg"]) == (11, 4)


@test
def wide_characters_take_two_columns_of_a_span():
    left, right = spans("世\x1b[1m界\x1b[m|\x1b[3mx".encode())
    assert (left["start"], left["end"]) == (2, 4)
    assert (right["start"], right["end"]) == (5, 6)


@test
def a_coloured_blank_row_has_a_span_and_no_text():
    span, = spans(b"\x1b[44m\x1b[2K")
    assert span == {**PLAIN, "start": 0, "end": 80, "bg": 4}
    with Ahr(AHR) as a:
        assert a.ok("render", input=b"\x1b[44m\x1b[2K") == b""
        assert a.ok("render", "--format", "ansi", "--cols", 3, input=b"\x1b[44m\x1b[2K") == (
            b"\x1b[0;44m   \x1b[m\n")


@test
def wrapped_rows_are_rows_of_their_own():
    with Ahr(AHR) as a:
        screen = render(a, b"abcdefgh\r\nij", "--cols", 5)
        assert [(l["text"], l["wrapped"]) for l in screen["lines"][:3]] == [
            ("abcde", True), ("fgh", False), ("ij", False)]
        assert a.ok("render", "--cols", 5, input=b"abcdefgh\r\nij") == b"abcde\nfgh\nij\n"


@test
def ansi_is_the_text_with_its_looks():
    with Ahr(AHR) as a:
        ansi = lambda data: a.ok("render", "--format", "ansi", input=data)
        assert ansi(b"a\x1b[1;31mb\x1b[mc\r\n\r\nd\r\n\r\n") == b"a\x1b[0;1;31mb\x1b[mc\n\nd\n"
        assert ansi(b"\x1b[38;5;99;48;2;1;2;3mx") == b"\x1b[0;38;5;99;48;2;1;2;3mx\x1b[m\n"
        assert ansi(b"\x1b[97;100mx") == b"\x1b[0;97;100mx\x1b[m\n"
        assert ansi(b"\x1b]8;id=1;http://x/\x07a\x1b]8;;\x07b") == (
            b"\x1b[0m\x1b]8;;http://x/\x1b\\a\x1b]8;;\x1b\\\x1b[mb\n")


@test
def ansi_has_the_blanks_at_the_end_that_look_like_something():
    with Ahr(AHR) as a:
        ansi = lambda data: a.ok("render", "--format", "ansi", "--cols", 8, input=data)
        assert ansi(b"ab\x1b[44m\x1b[K") == b"ab\x1b[0;44m      \x1b[m\n"
        assert ansi(b"\x1b[44ma\x1b[K\x1b[6G\x1b[mb\x1b[K") == b"\x1b[0;44ma    \x1b[mb\n"
        # Plain blanks between the text and the bar, then two bars, then plain ones.
        assert ansi(b"a\x1b[4G\x1b[41m \x1b[42m  ") == (
            b"a  \x1b[0;41m \x1b[m\x1b[0;42m  \x1b[m\n")
        assert ansi("世 \x1b[44m \x1b[K".encode()) == "世 \x1b[0;44m     \x1b[m\n".encode()
        assert ansi(b"\r\n\x1b[4m  \x1b[m  x  ") == b"\n\x1b[0;4m  \x1b[m  x\n"


@test
def ansi_finds_a_look_behind_wide_characters():
    with Ahr(AHR) as a:
        ansi = lambda text: a.ok("render", "--format", "ansi", input=text.encode()).decode()
        assert ansi("世界e\u0301\x1b[31m世\x1b[mx") == "世界e\u0301\x1b[0;31m世\x1b[mx\n"
        assert ansi("👩‍👩‍👧\x1b[1m🇬🇧b\x1b[m") == "👩‍👩‍👧\x1b[0;1m🇬🇧b\x1b[m\n"
        # What the last column has no room for stands in the next row.
        assert a.ok("render", "--format", "ansi", "--cols", 5,
                    input="世界\x1b[31m世x".encode()) == "世界\n\x1b[0;31m世x\x1b[m\n".encode()


@test
def halves_of_a_flag_in_cells_of_their_own_keep_their_columns_and_looks():
    left, right = "\U0001f1ec", "\U0001f1e7"
    apart = f"{left}\x1b[1;2H\x1b[1m{right}\x1b[mx\x1b[31my"
    one, two = spans(apart.encode())
    with Ahr(AHR) as a:
        ansi = a.ok("render", "--format", "ansi", input=apart.encode()).decode()
    assert ansi == f"{left}\x1b[0;1m{right}\x1b[mx\x1b[0;31my\x1b[m\n", ansi
    assert [(s["start"], s["end"]) for s in (one, two)] == [(1, 2), (3, 4)]


@test
def ansi_shown_again_looks_the_same():
    draws = [
        "\x1b[1mbold \x1b[22;2mdim\x1b[m \x1b[4:2;58;5;1mdouble\x1b[4:3mcurly\x1b[m\r\n",
        "世\x1b[31m界 é\x1b[32me\u0301 \x1b[7m👩‍👩‍👧\x1b[m \x1b[9m🇬🇧x\x1b[m tail\r\n",
        "\x1b[44m\x1b[K\x1b[m\r\n\x1b[20G\x1b[53;5mfar\x1b[m\r\n",
        "\x1b]8;;https://example.org/?a=b;c\x07a link\x1b[1m bold\x1b]8;;\x07\x1b[m.\r\n",
    ]
    with Ahr(AHR) as a:
        first = render(a, "".join(draws).encode())
        ansi = a.ok("render", "--format", "ansi", input="".join(draws).encode())
        again = render(a, ansi.replace(b"\n", b"\r\n"))
        for before, after in zip(first["lines"], again["lines"]):
            assert (before["text"], before["spans"]) == (after["text"], after["spans"])


# -- options and input --

@test
def scrollback_comes_before_the_screen():
    with Ahr(AHR) as a:
        want = [f"line {i} red" for i in range(100)]
        text = "".join(line + "\n" for line in want).encode()
        assert a.ok("render", "--scrollback", input=LINES) == text
        screen = render(a, LINES, "--scrollback")
        assert texts(screen) == [*want, ""] and screen["scrollback_rows"] == 101 - 24
        assert len(render(a, LINES)["lines"]) == 24
        stamps = [line["last_write_byte"] for line in screen["lines"]]
        ends = [i for i in range(len(LINES)) if LINES.startswith(b"\x1b[0m", i)]
        assert stamps == [*ends, 0]


@test
def dropped_rows_are_told():
    with Ahr(AHR) as a:
        done = a.run("render", "--scrollback", "--scrollback-rows", 10, input=LINES)
        assert done.returncode == 0 and done.stdout.startswith(b"line 67 red\n")
        assert b"the oldest 67 rows were dropped" in done.stderr
        assert a.run("render", "--scrollback", input=LINES).stderr == b""


@test
def the_alternate_screen_is_among_the_lines_of_text():
    stream = b"before\r\n\x1b[?1049h\x1b[Hfull screen\x1b[?1049lafter\r\n"
    with Ahr(AHR) as a:
        assert a.ok("render", input=stream) == b"before\nafter\n"
        assert a.ok("render", "--scrollback", input=stream).split() == [
            b"before", b"full", b"screen", b"after"]
        assert [t for t in texts(render(a, stream, "--scrollback")) if t] == ["before", "after"]
        shown = render(a, stream.partition(b"\x1b[?1049l")[0])
        assert shown["alternate"] is True and shown["lines"][0]["text"] == "full screen"


@test
def size_is_as_told():
    with Ahr(AHR) as a:
        screen = render(a, b"\x1b[999;999Hx", "--cols", 7, "--rows", 3)
        assert (screen["cols"], screen["rows"]) == (7, 3)
        assert screen["lines"][2]["text"] == "      x"


@test
def input_is_a_file_or_standard_input():
    with Ahr(AHR) as a:
        (a.dir / "log").write_bytes(b"hello")
        (a.dir / "pipe").symlink_to("/dev/stdin")
        for args in (["log"], ["-"], [], ["--", "log"], ["pipe"]):
            assert a.ok("render", *args, input=b"hello") == b"hello\n"


@test
def wrong_usage_and_missing_files_are_told():
    with Ahr(AHR) as a:
        assert a.fails(3, "render", "nowhere") == "ahr render: no session or file 'nowhere'; 'ahr list' lists the sessions\n"
        assert "cannot open 'nowhere.ahr'" in a.fails(3, "render", "nowhere.ahr")
        assert "Is a directory" in a.fails(1, "render", "home")
        assert "--format must be one of text|ansi|json" in a.fails(2, "render", "--format", "html")
        assert "--cols must be a number from 1 to 10000" in a.fails(2, "render", "--cols", "0")
        assert "--rows must be a number from 1 to 10000" in a.fails(2, "render", "--rows", "10001")
        assert "one session or file at most" in a.fails(2, "render", "a", "b")
        with open("/dev/full", "wb") as full:
            child = a.popen("render", "/dev/null", "--format", "json", stdout=full,
                            stderr=subprocess.PIPE)
            assert b"cannot write to standard output" in child.communicate()[1]
            assert child.returncode == 1
        a.ok("pack", "-o", "x.ahr", input=LINES)
        assert "give its file" in a.fails(2, "render", input=(a.dir / "x.ahr").read_bytes())


@test
def what_script_adds_is_left_out():
    head = b'Script started on 2026-11-15 10:00:00+00:00 [TERM="xterm" COLUMNS="80"]\n'
    foot = b'\nScript done on 2026-11-15 10:00:05+00:00 [COMMAND_EXIT_CODE="0"]\n'
    with Ahr(AHR) as a:
        for body in (b"hello\r\n", b"", LINES, LINES * 60, b"Script done on nothing\r\nmore"):
            want = a.ok("render", "--scrollback", input=body)
            for whole in (head + body + foot, head + body, head + body + foot[:-1]):
                assert a.ok("render", "--scrollback", input=whole) == want, whole
        stamp = render(a, head + b"x" + foot)["lines"][0]["last_write_byte"]
        assert stamp == len(head) + 1  # counted in the file
        for other in (b"Script started", b"hello\r\n" + head, b"hello" + foot, b"Script started on "):
            assert b"Script" in a.ok("render", input=other)


# -- recordings --

@test
def a_recording_has_its_own_size_and_is_known_by_its_contents():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", "--cols", 33, "--rows", 7, input=LINES)
        (a.dir / "x").write_bytes((a.dir / "x.ahr").read_bytes())
        for name in ("x", "x.ahr"):
            screen = json.loads(a.ok("render", "--format", "json", name))
            assert (screen["cols"], screen["rows"]) == (33, 7)
            assert texts(screen) == [f"line {i} red" for i in range(94, 100)] + [""]
            assert a.ok("render", "--scrollback", name) == a.ok("render", "--scrollback", input=LINES)
        wide = json.loads(a.ok("render", "--format", "json", "--cols", 50, "x.ahr"))
        assert (wide["cols"], wide["rows"]) == (50, 7)
        assert a.ok("render", "--scrollback", "--format", "json", "x.ahr") == a.ok(
            "render", "--scrollback", "--format", "json", "--cols", 33, "--rows", 7, input=LINES)


@test
def resizes_are_followed_unless_a_size_is_told():
    with Ahr(AHR) as a:
        (a.dir / "x.ahr").write_bytes(block(
            resize(10, 4), resize(5, 4), data(0, b"abcdefgh\r\n"), resize(20, 3),
            data(10, b"\x1b[18Gxyz!"), resize(0, 0)))
        screen = json.loads(a.ok("render", "--format", "json", "x.ahr"))
        assert (screen["cols"], screen["rows"]) == (20, 3)
        assert texts(screen) == ["abcdefgh", " " * 17 + "xyz", "!"]
        told = json.loads(a.ok("render", "--format", "json", "--cols", 5, "--rows", 4, "x.ahr"))
        assert (told["cols"], told["rows"]) == (5, 4)
        assert texts(told) == ["abcde", "fgh", "    x", "yz!"]
        (a.dir / "y.ahr").write_bytes(block(data(0, b"no size")))
        screen = json.loads(a.ok("render", "--format", "json", "y.ahr"))
        assert (screen["cols"], screen["rows"]) == (80, 24) and texts(screen)[0] == "no size"


@test
def input_and_marks_are_not_shown_and_offsets_are_the_recordings():
    with Ahr(AHR) as a:
        typed = struct.pack("<B3xQI", 2, 1, 6) + b"secret"
        (a.dir / "x.ahr").write_bytes(block(resize(20, 3), data(0, b"one\r\n"), typed, gap(1000),
                                            data(1005, b"two")))
        done = a.run("render", "--format", "json", "x.ahr")
        assert done.returncode == 0
        assert done.stderr.decode() == (
            "ahr render: 'x.ahr': 1000 bytes from byte 5 on were not recorded\n")
        screen = json.loads(done.stdout)
        assert texts(screen) == ["one", "two", ""]
        assert [line["last_write_byte"] for line in screen["lines"]] == [3, 1008, 0]


@test
def a_damaged_recording_is_shown_as_far_as_it_can_be_read():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", "--block-kib", 16, input=LINES * 100)
        broken = bytearray((a.dir / "x.ahr").read_bytes())
        broken[len(broken) // 2] ^= 0x40
        (a.dir / "x.ahr").write_bytes(broken)
        done = a.run("render", "--scrollback", "x.ahr")
        assert done.returncode == 4
        assert b"skipped" in done.stderr and b"are missing" in done.stderr
        assert done.stdout.startswith(b"line 0 red\n") and done.stdout.endswith(b"line 99 red\n")
        (a.dir / "y.ahr").write_bytes(b"no recording at all")
        done = a.run("render", "y.ahr")
        assert done.returncode == 4 and done.stdout == b""


@test
def a_recording_that_is_still_tails_only_is_shown():
    with Ahr(AHR) as a:
        writer = a.popen("pack", "-o", "x.ahr", stdin=subprocess.PIPE)
        writer.stdin.write(b"early")
        writer.stdin.flush()
        while b"early" not in a.run("cat", "x.ahr").stdout:
            assert writer.poll() is None
        assert (a.dir / "x.ahr").stat().st_size == 0
        assert a.ok("render", "x.ahr") == b"early\n"
        writer.kill()
        writer.wait()
        writer.stdin.close()
        (a.dir / "x.ahr").unlink()
        assert a.ok("render", "x.ahr") == b"early\n"


# -- hostile input --

HOSTILE = [
    b"\x1b]2;\x1b[31mowned\x07\x1b]0;new\nline \"quoted\" \\ \xc2\x9b31m \xff\x07x",
    b"\x1b]8;;http://x/\x1b[2J\x07link\x1b]8;;\x07\x1b]8;;java\nscript:\"x\"\\\x1b\\l\x1b]8;;\x1b\\",
    b"\x1b]8;;http://\xc2\x9d/\xe4\xb8\x96\xff\x7f \x07wide\x1b]8;;\x07",
    b"\xc2\x80\xc2\x9b31m\xc2\x9d0;t\x07\x9b31m\x90abc\x9c text \x7f\x00\x01\x02\x05\x0e\x0f\x18",
    b"\x1bPq#0;2;0;0;0~~@@vv\x1b\\\x1b_Gf=24;AAAA\x1b\\\x1b^privacy\x1b\\\x1bXsos\x1b\\after",
    b"\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81.",
    b"\x1b[" + b"9" * 5000 + b"m" + b"\x1b[38;5;999mx\x1b[38;2;999;1mx\x1b[48:2:::::1mx",
]


def hostile_streams():
    dice = random.Random(1)
    pieces = [b"\x1b[", b"\x1b]", b"\x1bP", b"\x9b", b"\xc2\x9b", b"8;;", b"\x07", b"\x1b\\", b"m", b"\n",
              b"\x00", b"2;", "世".encode(), b"\xcc\x81", b"H", b"1", b"38;5;1", b"?1049h", b"A" * 90]
    for size in (1, 10, 200, 3000):
        yield b"".join(dice.choice(pieces) for _ in range(size))
        yield dice.randbytes(size)
    yield b"\0" * 200000
    yield b"\0\xff\x80\x1b" * 50000
    yield bytes(range(256)) * 400
    yield from HOSTILE


@test
def nothing_but_looks_and_links_gets_through():
    with Ahr(AHR) as a:
        for stream in hostile_streams():
            for wide in ([], ["--scrollback"]):
                ansi = a.ok("render", "--format", "ansi", *wide, input=stream)
                text = a.ok("render", *wide, input=stream)
                for out, allowed in ((ansi, ALLOWED), (text, re.compile(rb"\n"))):
                    rest = allowed.sub(b"", out).decode()  # valid UTF-8
                    bad = [c for c in rest if ord(c) < 32 or 127 <= ord(c) < 160]
                    assert not bad, (bad, stream[:200])
                assert [line.rstrip(b" ") for line in ALLOWED.sub(
                    lambda m: b"\n" if m[0] == b"\n" else b"", ansi).rstrip().split(b"\n")] == [
                    line for line in text.rstrip().split(b"\n")], stream[:200]


@test
def hostile_titles_and_links_are_escaped_in_json():
    with Ahr(AHR) as a:
        for stream in hostile_streams():
            out = a.ok("render", "--format", "json", "--scrollback", input=stream)
            screen = json.loads(out)  # valid, and on one line
            assert out.count(b"\n") == 1 and out.endswith(b"\n")
            assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", out), stream[:200]
            for line in screen["lines"]:
                assert all(s["start"] < s["end"] <= screen["cols"] for s in line["spans"])


@test
def a_huge_size_and_no_size_do_no_harm():
    with Ahr(AHR) as a:
        (a.dir / "x.ahr").write_bytes(block(
            resize(65535, 65535), data(0, b"a"), resize(1, 1), data(1, b"b"), resize(1, 65535),
            data(2, b"c"), resize(80, 24), data(3, b"d")))
        screen = json.loads(a.ok("render", "--format", "json", "--scrollback", "x.ahr"))
        assert (screen["cols"], screen["rows"]) == (80, 24)
        assert "".join(texts(screen)) == "abcd"


@test
def a_long_stream_takes_little_memory_and_comes_out_whole():
    with Ahr(AHR) as a:
        count = 200000
        stream = b"".join(b"%d\r\n" % i for i in range(count))
        want = b"".join(b"%d\n" % i for i in range(count))
        assert a.ok("render", "--scrollback", input=stream) == want
        assert a.ok("render", "--scrollback", "--format", "ansi", input=stream) == want
        assert len(render(a, stream, "--scrollback")["lines"]) == count + 1


@test
def what_holds_no_record_is_said_to():
    with Ahr(AHR) as a:
        (a.dir / "empty.ahr").write_bytes(b"")
        done = a.run("render", "empty.ahr")
        assert done.returncode == 0
        assert b"'empty.ahr' holds no record: is it an .ahr recording?" in done.stderr
        (a.dir / "no.ahr").write_bytes(b"hi")
        assert "is it an .ahr recording?" in a.fails(4, "render", "no.ahr")


run()
