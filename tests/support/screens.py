# SPDX-License-Identifier: MIT
"""screens.py -- what a terminal gets when a line with a secret is shown.

Colours and links around and inside of the secret, sequences that leave the cursor where it is, and
all the ways by which programs break a long line. SCREEN: name -> function(rng, line) giving the
bytes and the columns that the scanner is told (0: not known).
"""

from support.surroundings import Marked, lines_around, prose

ST, BEL = "\x1b\\", "\x07"
WIDTHS = (40, 60, 80, 100)
NEUTRAL = ["\x1b[?25l", "\x1b[?25h", "\x1b[K", "\x1b[?2026h", "\x1b]0;make: 12 of 40\x07", "\x1b[0m",
           "\x1b]2;vim\x1b\\", "\x1b(B", "\x1b7", "\x1b[22;39m", "\x1b]133;C\x07"]


def framed(rng, fill):
    """Lines before and behind; fill adds what is between."""
    before, after = lines_around(rng)
    out = Marked().add(before + "\r\n")
    fill(out)
    return out.add("\r\n" + after + "\r\n")


def colour(rng):
    return rng.choice([f"\x1b[{rng.choice([1, 31, 32, 36, 93])}m", f"\x1b[38;5;{rng.randrange(256)}m",
                       f"\x1b[38;2;{rng.randrange(256)};{rng.randrange(256)};{rng.randrange(256)}m"])


def whole(rng, line, left, right):
    prefix, secret, suffix = line
    return framed(rng, lambda out: out.add(prefix + left).secret(secret).add(right + suffix))


def bare(rng, line):
    return whole(rng, line, "", ""), rng.choice((0, 200))


def sgr_around(rng, line):
    return whole(rng, line, colour(rng), "\x1b[0m"), rng.choice((0, 200))


def sgr_words(rng, line):
    """As by a syntax highlighter: name, sign and value each in a colour of its own."""
    prefix, secret, suffix = line
    return framed(rng, lambda out: out.add(colour(rng) + prefix + "\x1b[0m" + colour(rng))
                  .secret(secret).add("\x1b[0m" + colour(rng) + suffix + "\x1b[m")), 0


def sgr_between(rng, line):
    prefix, secret, suffix = line

    def fill(out):
        out.add(prefix)
        for char in secret:
            out.add(colour(rng)).secret(char)
        out.add("\x1b[0m" + suffix)
    return framed(rng, fill), 0


def truecolor_line(rng, line):
    """A gradient over the whole line, name and all."""
    prefix, secret, suffix = line

    def fill(out):
        for at, char in enumerate(prefix + secret + suffix):
            out.add(f"\x1b[38;2;{at * 3 % 256};128;{255 - at * 3 % 256}m")
            if len(prefix) <= at < len(prefix + secret):
                out.secret(char)
            else:
                out.add(char)
        out.add("\x1b[39m")
    return framed(rng, fill), 0


def link_around(rng, line):
    end = rng.choice((ST, BEL))
    return whole(rng, line, f"\x1b]8;id={rng.randrange(99)};https://example.com/x{end}",
                 f"\x1b]8;;{end}"), 0


def title_holds(rng, line):
    prefix, secret, suffix = line
    end = rng.choice((ST, BEL))
    return framed(rng, lambda out: out.add("\x1b]0;" + prefix).secret(secret)
                  .add(suffix + end + "make")), 0


def neutral_inside(rng, line):
    prefix, secret, suffix = line
    places = set(rng.sample(range(1, len(secret)), min(3, len(secret) - 1)))

    def fill(out):
        out.add(prefix)
        for at, char in enumerate(secret):
            if at in places:
                out.add(rng.choice(NEUTRAL))
            out.secret(char)
        out.add(suffix)
    return framed(rng, fill), rng.choice((0, 200))


# -- broken lines --

def padded(rng, line, width):
    """Text in front of the line, so that the edge falls into the secret; how much that is."""
    prefix, secret, _ = line
    reach = rng.randrange(1, len(secret))  # secret bytes in front of the edge
    room = (width - reach - len(prefix)) % width
    if room < 2:
        return " " * room
    return (prose(rng, 40)[:room - 2].rstrip() + ": ").rjust(room)


def broken(rng, line, width, separator, indent=0, is_coloured=False):
    prefix, secret, suffix = line = tuple(part.replace("\t", "  ") for part in line)
    inner = width - indent
    lead = padded(rng, line, inner)
    text = lead + prefix + secret + suffix
    first = len(lead + prefix)

    def fill(out):
        out.add(" " * indent)
        for at, char in enumerate(text):
            if at and at % inner == 0:
                out.add(separator(at // inner) + " " * indent)
            if is_coloured:
                out.add(colour(rng))
            if first <= at < first + len(secret):
                out.secret(char)
            else:
                out.add(char)
    return framed(rng, fill)


def wrapped(separator, is_told=True, **more):
    def make(rng, line):
        width = rng.choice(WIDTHS)
        return broken(rng, line, width, separator, **more), width if is_told else 0
    return make


def indented(is_told):
    def make(rng, line):
        width = rng.choice(WIDTHS)
        return broken(rng, line, width, lambda row: "\r\n", indent=rng.randrange(2, 5)), \
            width if is_told else 0
    return make


def boxed(rng, line):
    """Broken some columns before the edge, as by a program that keeps a margin."""
    width = rng.choice(WIDTHS)
    return broken(rng, line, width - 2, lambda row: "\r\n", indent=2), width


SCREEN = {
    "terminal": bare,
    "sgr around": sgr_around,
    "sgr words": sgr_words,
    "sgr between": sgr_between,
    "sgr truecolor line": truecolor_line,
    "link around": link_around,
    "title holds it": title_holds,
    "neutral inside": neutral_inside,
    "wrap": wrapped(lambda row: "\r\n"),
    "wrap, width unknown": wrapped(lambda row: "\r\n", is_told=False),
    "wrap coloured": wrapped(lambda row: "\r\n", is_coloured=True),
    "wrap sgr at the edge": wrapped(lambda row: "\x1b[0m\r\n\x1b[32m"),
    "wrap by the terminal": wrapped(lambda row: ""),
    "wrap indented": indented(True),
    "wrap indented, width unknown": indented(False),
    "wrap with a margin": boxed,
    "wrap by readline": wrapped(lambda row: " \r"),
    "wrap by readline, width unknown": wrapped(lambda row: " \r", is_told=False),
    "wrap by EL": wrapped(lambda row: "\x1b[K\r\n"),
    "wrap by EL, width unknown": wrapped(lambda row: "\x1b[K\r\n", is_told=False),
    "wrap by CUP": wrapped(lambda row: f"\x1b[{3 + row};1H"),
    "wrap by CUP, width unknown": wrapped(lambda row: f"\x1b[{3 + row};1H", is_told=False),
    "wrap by CR CUD": wrapped(lambda row: "\r\x1b[1B"),
    "wrap by LF CR": wrapped(lambda row: "\n\r"),
}
