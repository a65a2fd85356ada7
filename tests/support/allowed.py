# SPDX-License-Identifier: MIT
"""allowed.py -- what each output of ahr may hold, by small parsers that know nothing of ahr's code.

Each takes bytes, and fails with the first thing that is not on its list.
"""

import base64
import csv as csv_rows
import hashlib
import io
import json as json_text
import re

# Characters that no text of a recording has: controls, and what turns its neighbours round or ends lines.
FORBIDDEN = frozenset(map(chr, [*range(0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
                                *range(0x2066, 0x206a), *range(0xfff9, 0xfffc), 0xfeff]))


def show(text, at):
    return f"{text[at]!r} at {at}: {text[max(0, at - 60):at + 60]!r}"


def text(data, also="\n"):
    """UTF-8 without such characters, but for those in `also`; returns it."""
    found = data.decode()  # strictly
    for at, char in enumerate(found):
        assert char not in FORBIDDEN or char in also, show(found, at)
    return found


def lines(data):
    found = text(data)
    assert not found or found.endswith("\n")
    return found.split("\n")[:-1]


# -- documents --

def csv(data):
    found = text(data, "\r\n\t")
    assert "\r" not in found.replace("\r\n", "")
    rows = list(csv_rows.reader(io.StringIO(found, newline=""), strict=True))
    assert rows[0] == ["kind", "index_or_id", "position", "ts_ns", "text"], rows[0]
    for kind, number, position, stamp, cell in rows[1:]:
        assert kind in ("line", "snapshot", "instruction", "notice"), kind
        assert (number + position + stamp).isdecimal(), (number, position, stamp)
        assert cell.lstrip(" ")[:1] not in tuple("=+-@\t\r＝＋－＠"), cell
    return rows[1:]


def _strings(value):
    if isinstance(value, str):
        text(value.encode(), "\n\t")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _strings(key)
            _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            _strings(inner)


def json(data):
    value = json_text.loads(text(data))
    _strings(value)
    return value


# What a cell may have: characters that mean nothing, those escaped, entities, the break of an instruction's line.
MD_CELL = re.compile(r"(?:[^\\`*_\[\]<>&|~$\n]|\\[!-/:-@\[-`{-~]|&(?:lt|gt|amp|#64|#124);|<br>)*")
MD_HEAD = re.compile(r"(?:\S+ \*\*(?:snapshot|instruction|notice)(?: \d+)?\*\*|\d+(?: \(alternate screen\))?)")


def markdown(data):
    fence = None
    for line in lines(data):
        if fence:
            if re.fullmatch(r" {0,3}`{%d,}[ \t]*" % len(fence), line):
                fence = None
        elif opened := re.fullmatch(r"(`{3,})(?:text)?", line):
            fence = opened[1]
        elif line.startswith("# "):
            assert MD_CELL.fullmatch(line[2:]), line
        elif line not in ("", "| | position | time | text |", "|---|---:|---:|---|", "*alternate screen*"):
            row = re.fullmatch(r"\| (.*?) \| (\d+) \| ([0-9:.]*) \| (.*) \|", line)
            assert row, line
            assert MD_HEAD.fullmatch(row[1]) and MD_CELL.fullmatch(row[4]), line
            assert not re.search(r"(?<!\\)://", row[4]), line  # else a renderer makes a link of it
    assert not fence, "a fence is open at the end"


def ruled(data):
    return lines(data)


def cast(data):
    """The recording's own bytes are in it, as JSON's strings."""
    rows = [json_text.loads(line) for line in text(data).split("\n") if line]
    assert isinstance(rows[0], dict) and rows[0]["version"] in (2, 3)
    for row in rows[1:]:
        assert isinstance(row, list) and len(row) == 3 and row[1] in "oirmx", row


# -- HTML --

COLOUR = r"(?:color|background|--l|--d|text-decoration-color):#[0-9a-f]{6}"
NUMBER = r"\d{1,20}"
NAME = rf"(?:snapshot|instruction)-{NUMBER}(?:-{NUMBER})?"
WEB = r"[Hh][Tt][Tt][Pp][Ss]?://(?:[!#$%(-;=?-~ ]|&(?:amp|lt|gt|quot|#39);)+"
POLICY = (r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; style-src-attr 'unsafe-inline'; base-uri 'none'; "
          r"form-action 'none'")
TAGS = {  # by element: each attribute it may have, and its values
    "html": {"lang": "en"}, "head": {}, "title": {}, "style": {}, "body": {}, "header": {}, "h1": {}, "ul": {}, "li": {},
    "bdi": {}, "h3": {},
    "meta": {"charset": "utf-8", "http-equiv": "Content-Security-Policy", "name": "viewport|referrer",
             "content": rf"width=device-width, initial-scale=1|no-referrer|{POLICY}"},
    "nav": {"aria-labelledby": "contents"}, "h2": {"id": "contents"}, "span": {"class": "when"},
    "main": {"translate": "no", "tabindex": "0", "aria-label": "Terminal", "class": "times", "style": r"--cols:\d{1,5}"},
    "section": {"class": "event", "id": NAME, "aria-label": rf"(?:Snapshot|Instruction) {NUMBER}"},
    "p": {"class": "note", "role": "note", "dir": "auto"}, "pre": {"class": "(?:alt)? ?(?:far)?"},
    "a": {"href": rf"#{NAME}|{WEB}"},
    "i": {"class": r"(?:[wnerBDIHSOUci]|U[2-5]|[bgf]1?\d|p[1-9]\d{0,3})(?: (?:[BDIHSOUci]|U[2-5]|[bgf]1?\d))*",
          "style": rf"{COLOUR}(?:;{COLOUR})*", "data-t": r"[0-9:. ]+"},
}
VOID = ("meta",)
CLOSED_BY_ITSELF = ("li",)
TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)((?: [a-z-]+=(?:\"[^\"<>]*\"|[A-Za-z0-9_-]+))*)>")
ATTRIBUTE = re.compile(r" ([a-z-]+)=(?:\"([^\"]*)\"|(\S+))")
CHARACTERS = re.compile(r"(?:[^<>&]|&(?:amp|lt|gt|quot|#39);)*")


def _element(page, at, stack):
    tag = TAG.match(page, at)
    assert tag, show(page, at)
    ends, name, attributes = tag.groups()
    assert name in TAGS, show(page, at)
    if ends:
        assert not attributes and stack and stack.pop() == name, show(page, at)
        return tag.end()
    seen = {}
    for key, quoted, bare in ATTRIBUTE.findall(attributes):
        assert key in TAGS[name] and key not in seen, (tag[0], key)
        seen[key] = quoted or bare
        assert re.fullmatch(TAGS[name][key], seen[key]), (tag[0], key)
    if name not in (*VOID, *CLOSED_BY_ITSELF):
        stack.append(name)
    return tag.end()


def html(data):
    page = text(data, "\n\t")
    head = "<!DOCTYPE html>\n"
    assert page.startswith(head)
    at, stack, sheet, policies = len(head), [], None, re.findall(r"content=\"(default-src[^\"]*)\"", page)
    while at < len(page):
        if page[at] == "<":
            at = _element(page, at, stack)
        elif stack and stack[-1] == "style":
            assert sheet is None
            end = page.index("</", at)
            sheet, at = page[at:end], end
        else:
            at = CHARACTERS.match(page, at).end()
            assert at == len(page) or page[at] == "<", show(page, at)
    assert not stack, stack
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert len(policies) == 1 and f"'sha256-{digest}'" in policies[0], policies
    ids = re.findall(r" id=\"?([^\" >]*)", page[page.index("</style>"):])
    assert len(ids) == len(set(ids)), ids


# -- terminals --

SGR = r"\x1b\[[0-9;:]*m"
LINK = r"\x1b\]8;;[!-~]*\x1b\\"
# Moves, erasing, scrolling, the cursor's looks and the modes of a screen that is all the player's.
DRAWING = (SGR, LINK, r"\x1b\[(?:\d+(?:;\d+)?)?H", r"\x1b\[\d*[CGSK]", r"\x1b\[2?J", r"\x1b\[\d q",
           r"\x1b\[\?(?:25|7|2004|2026)[hl]")
# What takes a terminal, and what gives it back: all of it or nothing.
CALM = ("\x18\x1b\\\x1b[0m\x1b7\x1b[r\x1b8\x1b[?1l\x1b>\x1b[?7h\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l"
        "\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?2026l\x1b[<u\x1b[?25h")
TAKING = tuple(map(re.escape, ("\x18\x1b\\\x1b[?1049h", CALM, "\x1b[?1007s", "\x1b[?1007r", "\x1b[?1049l")))


def terminal(data, sequences=(), also="\r\n"):
    """Text, and nothing of these lists besides; `sequences` are patterns."""
    found = data.decode()
    known = re.compile("|".join(f"(?:{s})" for s in sequences) or r"(?!)")
    at = 0
    while at < len(found):
        if found[at] in "\x1b\x18":
            sequence = known.match(found, at)
            assert sequence, show(found, at)
            at = sequence.end()
        else:
            assert found[at] not in FORBIDDEN or found[at] in also, show(found, at)
            at += 1


def ansi(data, also="\n"):
    terminal(data, (SGR, LINK), also)


def player(data):
    terminal(data, TAKING + DRAWING)


# -- the viewer --

TITLE = r"\x1b\]2;[^%s]*\x1b\\" % re.escape("".join(sorted(FORBIDDEN)))
# The modes that decide what a terminal sends, the looks of all of it, the keyboard's flags, the stack of titles.
MIRRORED = (r"\x1b\[\?(?:1|5|66|9|1000|1002|1003|1004|1005|1006|1007|1015|1016)[hl]", r"\x1b\[=\d{1,2};1u",
            r"\x1b\[2[23];0t", TITLE)


def viewer(data):
    terminal(data, TAKING + DRAWING + MIRRORED, "\r\n\a")
