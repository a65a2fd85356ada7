# SPDX-License-Identifier: MIT
"""keyboards.py -- what terminals send: every key of xterm, rxvt, the Linux console and kitty, mice,
focus, pastes, and answers to questions that nobody has asked."""

PREFIX = 0x1d  # Ctrl-]
PASTE = (b"\x1b[200~", b"\x1b[201~")

MODIFIERS = range(2, 17)  # Shift, Alt, Ctrl, Meta and all they make together, 1 added
PRINTABLE = [bytes([c]) for c in range(0x20, 0x7f)]
CONTROLS = [bytes([c]) for c in (*range(0x20), 0x7f) if c != PREFIX]
TEXTS = [text.encode() for text in (
    "é", "ß", "ñ", "Ж", "א", "ع", "ก", "中", "日本", "한", "€", "\u00a0", "\u200d", "\ufeff",
    "e\u0301", "👍", "👍🏽", "👩‍👩‍👧", "🇺🇦", "\U0010fffd", "naïve café", "ünïcödé")]
NO_TEXTS = [b"\x80", b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xfe\xff"]


def alt_keys():
    """Escape before the key."""
    return [b"\x1b" + key for key in (*PRINTABLE, *CONTROLS, *TEXTS[:8])]


def xterm_keys():
    letters = [bytes([c]) for c in b"ABCDEFHPQRS"]
    numbers = (*range(1, 9), *range(11, 16), *range(17, 22), *range(23, 27), 28, 29, *range(31, 35))
    yield from (head + letter for head in (b"\x1b[", b"\x1bO") for letter in letters)
    yield from (b"\x1b[1;%d%s" % (m, letter) for m in MODIFIERS for letter in letters)
    yield from (b"\x1b[%d~" % n for n in numbers)
    yield from (b"\x1b[%d;%d~" % (n, m) for n in numbers for m in (2, 3, 5, 6, 8, 9))
    yield from (b"\x1bO" + bytes([c]) for c in b"jklmnopqrstuvwxyMX")  # the keypad
    yield from (b"\x1b[Z", b"\x1b[1;2Z", b"\x1b[2D", b"\x1bO2C")
    # modifyOtherKeys
    yield from (b"\x1b[27;%d;%d~" % (m, code) for m in (2, 3, 4, 6, 7, 8)
                for code in (9, 13, 27, 32, 65, 93, 97, 127))
    yield from (b"\x1b[27;5;%d~" % code for code in (9, 13, 27, 32, 97, 127))


def other_keys():
    yield from (b"\x1b[%c" % c for c in b"abcd")  # rxvt
    yield from (b"\x1bO%c" % c for c in b"abcd")
    yield from (b"\x1b[%d%c" % (n, c) for n in (2, 3, 5, 6, 7, 8, 11, 15, 24) for c in b"$^@")
    yield from (b"\x1b[[%c" % c for c in b"ABCDE")  # the Linux console
    yield from (b"\x1b\x1b[%c" % c for c in b"ABCD")  # with Alt, of rxvt


def kitty_keys():
    yield from (b"\x1b[%du" % code for code in (9, 13, 27, 32, 93, 97, 127, 233, 0x4e2d, 0x1f600))
    yield from (b"\x1b[97;%du" % m for m in (*MODIFIERS, 65, 129, 197))
    yield from (b"\x1b[93;%du" % m for m in (2, 3, 4, 6, 7, 8))  # no Ctrl, or not that alone
    yield from (b"\x1b[97;%d:%du" % (m, event) for m in (1, 5) for event in (1, 2, 3))
    yield from (b"\x1b[97:65;2u", b"\x1b[97:65;2;65u", b"\x1b[1092::97;5u", b"\x1b[97;;229u",
                b"\x1b[13;5u", b"\x1b[13;5:3u", b"\x1b[43:42:93;5u")
    yield from (b"\x1b[%du" % code for code in range(57344, 57455, 3))
    yield from (b"\x1b[%d;5:3u" % code for code in range(57441, 57455))  # Shift and the like
    yield from (b"\x1b[1;%d:%d%c" % (m, event, c)
                for m in (1, 5) for event in (2, 3) for c in b"ADH")
    yield from (b"\x1b[3;5:3~", b"\x1b[15;1:2~")


def mice():
    for button in (0, 1, 2, 4, 16, 32, 35, 64, 65, 66, 128):
        for col, row in ((1, 1), (80, 24), (93, 5), (300, 200)):
            yield b"\x1b[<%d;%d;%dM" % (button, col, row)
            yield b"\x1b[<%d;%d;%dm" % (button, col, row)
    for button in (32, 33, 35, 64, 96):
        yield b"\x1b[M%c\x21\x21" % button  # X10 and its like
        yield b"\x1b[M%c\x7f\xff" % button
        yield b"\x1b[M%c\xc2\xa1\xc4\x8c" % button  # in UTF-8
        yield b"\x1b[%d;93;5M" % button  # urxvt
    yield from (b"\x1b[I", b"\x1b[O")


def answers():
    """As a terminal gives them; here they are typed."""
    yield from (b"\x1b[?62;1;6;22c", b"\x1b[>1;4600;0c", b"\x1b[0n", b"\x1b[12;40R",
                b"\x1b[?12;40R", b"\x1b[?2026;2$y", b"\x1b[?5u", b"\x1b[8;24;80t",
                b"\x1b[4;600;800t", b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
                b"\x1b]10;rgb:ffff/ffff/ffff\x07",
                b"\x1b]52;c;aGVsbG8=\x1b\\", b"\x1bP1$r0m\x1b\\", b"\x1bP>|xterm(388)\x1b\\",
                b"\x1bP1+r544e=787465726d\x1b\\", b"\x1b_Gi=31;OK\x1b\\", b"\x1b[?997;1n")


def pastes():
    for text in (b"", b"x", b"two\rlines", b"\x1d", b"\x1dd", b"\x1b[93;5u", b"\x03\x04\x1a\x1b",
                 b"\x1b[200~", b"\x1b[20", b"\x1b[201", "ünï 中".encode(), bytes(range(256))):
        yield PASTE[0] + text + PASTE[1]


def all_keys():
    """Each once. None of them is the prefix."""
    return list(dict.fromkeys((
        *CONTROLS, *PRINTABLE, *TEXTS, *NO_TEXTS, *alt_keys(), *xterm_keys(), *other_keys(),
        *kitty_keys(), *mice(), *answers(), *pastes())))


# The prefix twice, however it is typed, and what is sent of it.
PREFIX_TWICE = [
    (b"\x1d\x1d", b"\x1d"),
    (b"\x1b[93;5u\x1b[93;5u", b"\x1b[93;5u"),
    (b"\x1b[27;5;93~\x1b[27;5;93~", b"\x1b[27;5;93~"),
    (b"\x1b[93;5:1u\x1b[93;5:3u\x1b[57442;5:3u\x1b[93:125;5:1u", b"\x1b[93:125;5:1u"),
    (b"\x1d\x1b[93;69u", b"\x1b[93;69u"),
]
