# SPDX-License-Identifier: MIT
"""panes.py -- what a window of tmux shows, cell for cell: text, colours, attributes, cursor.

tmux writes the same picture in more than one way: blanks at a row's end may be cells or none, and lines may be
letters of another character set. Here they are one. It keeps to itself what colour was erased with behind the last
character of a row, until stretch() makes characters of it.
"""

import re

TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\]8;[^\x1b]*\x1b\\|([\x0e\x0f])|([^\x1b\x0e\x0f])")
GRAPHICS = dict(zip("`afgijklmnopqrstuvwxyz{|}~", "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"))
RESETS = {22: (1, 2), 23: (3,), 24: (4,), 25: (5,), 27: (7,), 28: (8,), 29: (9,), 55: (53,)}


class Pen:
    def __init__(self):
        self.attributes, self.colours = {}, {}

    def style(self):
        return tuple(sorted(self.attributes.items())), tuple(sorted(self.colours.items()))

    def set(self, parameters):
        words = [[int(n or 0) for n in word.split(":")] for word in parameters.split(";")]
        while words:
            code, *rest = words.pop(0)
            if code == 0:
                self.__init__()
            elif code in (38, 48, 58):
                self.colours[code] = self.colour(rest, words)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.colours[38] = code - 30 if code < 90 else code - 82
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.colours[48] = code - 40 if code < 100 else code - 92
            elif code in (39, 49, 59):
                self.colours.pop(code - 1, None)
            elif code in RESETS:
                for one in RESETS[code]:
                    self.attributes.pop(one, None)
            else:
                self.attributes[code] = rest[0] if rest else 1

    @staticmethod
    def colour(rest, words):
        if not rest:
            kind = words.pop(0)[0]
            rest = [kind, *(words.pop(0)[0] for _ in range(1 if kind == 5 else 3))]
        return rest[1] if rest[0] == 5 else tuple(rest[-3:])


def is_blank(cell, is_stretched):
    char, (attributes, colours) = cell
    return char == " " and not attributes and not (colours if is_stretched else [c for c in colours if c[0] != 48])


def cells(row, pen, is_stretched):
    """(character, style) of each cell, without those at the end that are blank."""
    found, is_graphic = [], False
    for parameters, shift, char in TOKEN.findall(row):
        if char:
            found.append((GRAPHICS.get(char, char) if is_graphic else char, pen.style()))
        elif shift:
            is_graphic = shift == "\x0e"
        else:
            pen.set(parameters)
    while found and is_blank(found[-1], is_stretched):
        found.pop()
    return found


def screen(window, is_stretched=False):
    pen, text = Pen(), window.tmux.ok("capture-pane", "-p", "-e", "-N", "-t", window.target)
    return [cells(row, pen, is_stretched) for row in text.split("\n")]


def stretch(window):
    """All cells become characters, and the last column is lost. For when nobody writes to the window any more."""
    rows = b"".join(b"\033[%dH\033[@\033[P" % row for row in range(1, int(window.ask("pane_height")) + 1))
    with open(window.ask("pane_tty"), "wb", buffering=0) as tty:
        tty.write(b"\0337\033[m\033[?6l" + rows + b"\0338\0337\033[2;9Hseen")
    window.wait_until(lambda: "seen" in window.screen())


def cursor(window):
    """Column, row, is it visible? Behind the last column it stands in it."""
    cols, x, y, flag = map(int, window.tmux.ok("display-message", "-p", "-t", window.target,
                                               "#{pane_width} #{cursor_x} #{cursor_y} #{cursor_flag}").split())
    return min(x, cols - 1), y, flag


def picture(window, is_stretched=False):
    return screen(window, is_stretched), None if is_stretched else cursor(window)


def difference(one, other):
    """The first place where two pictures differ, for a person; "": they do not."""
    for y, (a, b) in enumerate(zip(one[0], other[0])):
        for x in range(max(len(a), len(b))):
            if a[x:x + 1] != b[x:x + 1]:
                texts = ["".join(char for char, _ in row) for row in (a, b)]
                return f"row {y} column {x}: {a[x:x + 1]} and {b[x:x + 1]}\n{texts[0]!r}\n{texts[1]!r}"
    if len(one[0]) != len(other[0]):
        return f"{len(one[0])} rows and {len(other[0])}"
    return "" if one[1] == other[1] else f"cursor {one[1]} and {other[1]}"
