# SPDX-License-Identifier: MIT
"""outer.py -- what a user's terminal is like after all that it was shown: its screen, and the modes that somebody
has left on it."""

import json
import re

SEQUENCE = re.compile(rb"\x1b(?:\[([<=>?]?)([0-9;:]*)([ !\"$'*+]?)([@-~])|([=>]))")
# The alternate screen, whose flags of the keyboard protocol are its own.
SCREENS = (b"47", b"1047", b"1049")
# Those that are on at first; synchronized updates are over by the next byte.
ON, UNTOLD = {b"7", b"25", b"1007"}, {b"2026"}


class Modes:
    def __init__(self):
        self.on, self.shape, self.keypad, self.titles = set(ON), 0, False, 0
        self.saved = {}
        self.is_alternate, self.kitty = False, {False: 0, True: 0}

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return str(vars(self))

    def _set(self, number, is_on):
        if number in SCREENS:
            self.is_alternate = is_on
        elif number == b"66":
            self.keypad = is_on
        elif number not in UNTOLD:
            (self.on.add if is_on else self.on.discard)(number)

    def _keys(self, kind, parameters):
        flags = int(parameters.split(b";")[0] or 0)
        if kind != b"?":
            self.kitty[self.is_alternate] = 0 if kind == b"<" else flags

    def take(self, shown):
        for kind, parameters, between, final, keypad in SEQUENCE.findall(shown):
            if keypad:
                self.keypad = keypad == b"="
            elif kind == b"?" and final in (b"h", b"l"):
                for number in parameters.split(b";"):
                    self._set(number, final == b"h")
            elif kind == b"?" and final == b"s":
                self.saved[parameters] = parameters in self.on
            elif kind == b"?" and final == b"r":
                self._set(parameters, self.saved.pop(parameters))
            elif final == b"u" and kind:
                self._keys(kind, parameters)
            elif final == b"q" and between == b" ":
                self.shape = int(parameters or 0)
            elif final == b"t" and parameters in (b"22;0", b"23;0"):
                self.titles += 1 if parameters == b"22;0" else -1
        return self


def modes(shown):
    return Modes().take(shown)


def screen(a, shown, cols=80, rows=24):
    """As `ahr render` has it: lines, cursor, title …"""
    return json.loads(a.ok("render", "--format", "json", "--cols", cols, "--rows", rows, "-", input=bytes(shown)))


def texts(a, shown, **size):
    return [line["text"] for line in screen(a, shown, **size)["lines"]]
