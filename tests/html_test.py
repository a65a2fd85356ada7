#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""html_test.py -- exported pages in a real browser: what they show, and that they do nothing.

usage: html_test.py AHR
"""

import json
import re
import sys
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.chromium import Chromium
from support.hostile import CALM, recording, sequences
from support.tap import run, test
from support.tape import Tape

AHR = sys.argv[1]
SHARED = Path(__file__).resolve().parents[2] / "shared"
LIGHT, DARK = "#ffffff", "#0d1117"  # the page's ground

# The page's lines as a reader sees them: rows that go on in the next one are rows.
ROWS = """(() => {
    const rows = [];
    for (const pre of document.querySelectorAll("pre")) {
        const copy = pre.cloneNode(true);
        for (const end of copy.querySelectorAll(".r")) end.textContent = "\\n";
        rows.push(copy.textContent);
    }
    return rows.join("");
})()"""


# -- one browser for all --

class World:
    def __init__(self):
        self._stack = ExitStack()
        self._browser = None

    @property
    def browser(self):
        if not self._browser:
            self._browser = self._stack.enter_context(Chromium())
        return self._browser

    def close(self):
        self._stack.close()


WORLD = World()


@contextmanager
def shown(tape, *args, dark=False, edit=None, **facts):
    """The page of a recording (a Tape, or a stream), its text export, and what it was made by."""
    with Ahr(AHR) as a:
        if isinstance(tape, bytes):
            a.ok("pack", "--cols", 80, "--rows", 24, "-o", "x.ahr", input=tape)
        else:
            tape.write(a.dir / "x.ahr", **facts)
        a.ok("export", "--format", "html", "-o", "x.html", *args, "x.ahr")
        text = a.ok("export", "--format", "txt", *(w for w in args if w != "--timestamps"), "x.ahr").decode()
        if edit:
            (a.dir / "x.html").write_text(edit((a.dir / "x.html").read_text()))
        page = WORLD.browser.page(dark=dark)
        page.open(a.dir / "x.html")
        yield page, text
        page.close()


class Canary:
    """A server that nobody may ask for anything."""

    def __enter__(self):
        asked = self.asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_error(404)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def does_nothing(page, canary):
    """No script has run, no question was asked, nothing but the file was fetched."""
    assert page.value("typeof pwned") == "undefined"
    assert all(url.startswith("file:///") and url.endswith("/x.html") for url in page.requests()), page.requests()
    assert len(page.requests()) == 1, page.requests()
    for kind in ("Page.javascriptDialogOpening", "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                 "Page.windowOpen", "Page.downloadWillBegin", "Page.frameAttached"):
        assert not page.events(kind), page.events(kind)
    assert not canary.asked, canary.asked


def hostile_tape(canary):
    tape = Tape(80, 24)
    for number, (_, data) in enumerate(sequences(canary), 1):
        words = data.decode(errors="replace")
        tape.data(recording(data)).snapshot(number % 50, data[:2000]).instruct(number % 50, words[:2000]).data(CALM)
    return tape.end()


# -- colours --

def rgb(text):
    found = re.fullmatch(r"rgba?\((\d+), (\d+), (\d+)(?:, [\d.]+)?\)", text)
    return tuple(map(int, found.groups()))


def luminance(colour):
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + .055) / 1.055) ** 2.4) for c in colour]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + .05) / (low + .05)


def styles(page, prefix, *names):
    """The computed style of each element whose text begins so, as {text: {name: value}}."""
    return page.value(f"""Object.fromEntries([...document.querySelectorAll("pre i, pre a")]
        .filter(e => e.textContent.startsWith({json.dumps(prefix)})).map(e => {{
            const style = getComputedStyle(e), found = {{}};
            for (const name of {json.dumps(names)}) found[name] = style[name];
            return [e.textContent, found];
        }}))""")


# -- inert --

@test
def a_page_of_everything_hostile_does_nothing():
    with Canary() as canary, shown(hostile_tape(canary.address), "--timestamps", name="</title><script>pwned=1</script>") as (
            page, _):
        does_nothing(page, canary)
        # Whoever tries each element's events still finds none.
        page.value("""for (const e of document.querySelectorAll("*"))
            for (const kind of ["load", "error", "toggle", "focus", "mouseover"]) e.dispatchEvent(new Event(kind))""")
        does_nothing(page, canary)
        names = page.value("[...new Set([...document.querySelectorAll('*')].map(e => e.localName))].sort()")
        assert set(names) <= {"a", "bdi", "body", "h1", "h2", "h3", "head", "header", "html", "i", "li", "main", "meta", "nav",
                              "p", "pre", "section", "span", "style", "title", "ul"}, names
        attributes = page.value("[...new Set([...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()))].sort()")
        assert not any(name.startswith("on") or name in ("src", "srcset", "action", "xlink:href") for name in attributes), attributes
        hrefs = page.value("[...document.querySelectorAll('a')].map(a => a.protocol)")
        assert set(hrefs) <= {"http:", "https:", "file:"} and "http:" in hrefs, set(hrefs)
        assert page.value("[...document.querySelectorAll('a')].every(a => a.protocol != 'file:' ||"
                          " a.getAttribute('href').startsWith('#'))")
        assert page.value("document.title") == "</title><script>pwned=1</script>"


@test
def even_markup_that_got_in_would_do_nothing():
    def plant(text):
        return text.replace("<main", f"""<script>pwned=1</script><img src="{canary.address}img" onerror="pwned=1">
            <link rel=stylesheet href="{canary.address}css"><iframe src="{canary.address}frame"></iframe>
            <style>h1 {{ background: url({canary.address}bg); font-size: 99px }}</style><p style="background:url({canary.address}p)">x
            <svg onload="pwned=1"></svg><object data="{canary.address}object"></object>
            <video src="{canary.address}video" autoplay></video><base href="{canary.address}"><a id=bad href="javascript:pwned=1">x</a>
            <form id=form action="{canary.address}form"><input name=x></form><main""")

    with Canary() as canary, shown(b"hello\r\n", edit=plant) as (page, _):
        page.value("document.getElementById('bad').click(); document.getElementById('form').requestSubmit()")
        assert page.value("typeof pwned") == "undefined"
        assert page.value("getComputedStyle(document.querySelector('h1')).fontSize") != "99px"
        assert not canary.asked, canary.asked


@test
def links_lead_to_the_web_and_nowhere_else():
    def link(uri, text):
        return b"\x1b]8;;" + uri + b"\x1b\\" + text + b"\x1b]8;;\x1b\\ "
    stream = b"".join((link(b"https://example.org/a?b=\"c\"&d=<e>", b"one"), link(b"HTTP://EXAMPLE.ORG/", b"two"),
                       link(b"javascript:alert(1)", b"three"), link(b"file:///etc/passwd", b"four"), link(b"//x", b"five"),
                       link(b"https://", b"six"),
                       b"\x1b]8;;https://example.org/\x1b\\red \x1b[31mand\x1b[m white\x1b]8;;\x1b\\"))
    with shown(stream) as (page, _):
        found = page.value("[...document.querySelectorAll('pre a')].map(a => [a.textContent, a.href])")
        assert found == [["one", "https://example.org/a?b=%22c%22&d=%3Ce%3E"], ["two", "http://example.org/"],
                         ["red and white", "https://example.org/"]], found


# -- the same text --

def same_text(page, text):
    rows = [row.rstrip(" ") for row in page.value(ROWS).split("\n")]
    have, want = rows, text.split("\n")
    assert have == want, next((pair for pair in zip(have, want) if pair[0] != pair[1]), (len(have), len(want)))


@test
def its_text_is_that_of_the_text_export():
    streams = [b"one\r\n\r\n\r\n  two  \r\n<b>&amp; \"three\"\r\n", b"\r\n\r\nx\r\n", b"x" * 1000, b"",
               "wide 漢字 😀 👩\u200d🚀 ✓ e\u0301 | שלום\r\n".encode(),
               b"\x1b[44m\x1b[K bar \x1b[m\r\n\x1b[7m   \x1b[m   \x1b[41m  \x1b[m\r\nend",
               b"a\r\n\x1b[?1049halternate\r\nscreen\x1b[?1049lb\r\n", b"".join(b"line %d\r\n" % i for i in range(2000))]
    if (SHARED / "fixtures" / "agents").is_dir():
        streams += [path.read_bytes() for path in sorted((SHARED / "fixtures" / "agents").glob("*.raw"))]
    for stream in streams:
        with shown(stream or b" ") as (page, text):
            same_text(page, text)


@test
def the_text_of_hostile_lines_is_the_same_too():
    tape = Tape(80, 24)
    for _, data in sequences():
        tape.data(recording(data)).data(CALM)
    with shown(tape.end()) as (page, text):
        same_text(page, text)


@test
def times_are_to_be_seen_and_not_part_of_the_text():
    tape = Tape().data(b"one\r\n").wait(61_000).data(b"two\r\n").end()
    with shown(tape, "--timestamps") as (page, text):
        assert page.value("document.querySelector('pre').textContent") == "one\ntwo\n" == text
        assert page.value("""[...document.querySelectorAll("[data-t]")].map(e => getComputedStyle(e, "::before").content)""") == [
            '"0:00:00.001"', '"0:01:01.002"']
        assert page.value("getSelection().selectAllChildren(document.querySelector('pre')); String(getSelection())") == "one\ntwo"


@test
def a_line_that_wraps_is_found_and_copied_as_one():
    words = b"a line that is longer than the terminal is wide, so that it wraps somewhere amid these words"
    with shown(b"first\r\n" + words + b"\r\nlast\r\n") as (page, text):
        assert text.split("\n")[1] == words.decode()[:80]
        assert page.value("window.find('amid these words')")
        assert page.value("window.find('wraps somewhere amid these', true)") is False  # by letters, as any search
        assert page.value("getSelection().selectAllChildren(document.querySelector('pre')); String(getSelection())") == (
            f"first\n{words.decode()}\nlast")
        heights = page.value("document.querySelector('pre').getBoundingClientRect().height /"
                             " parseFloat(getComputedStyle(document.querySelector('pre')).lineHeight)")
        assert round(heights) == 4, heights  # and still drawn as two rows


# -- looks --

@test
def columns_are_where_they_were():
    rows = ["漢字かな|", "ABCDEFGH|", "✓ ⚠ ● ⠋ |", "😀🚀✅👩\u200d🚀|", "─━│┃╭╮░▒|", "a\u00adb c d |"]
    with shown("".join(f"{row}\r\n" for row in rows).encode()) as (page, _):
        at = page.value("""(() => {
            const pre = document.querySelector("pre"), ends = [], walk = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
            for (let node; (node = walk.nextNode());)
                for (let i = 0; i < node.data.length; i++)
                    if (node.data[i] == "|") {
                        const range = document.createRange();
                        range.setStart(node, i), range.setEnd(node, i + 1);
                        ends.push(range.getBoundingClientRect().left);
                    }
            return ends;
        })()""")
        assert len(at) == len(rows)
        cell = page.value("""(() => { const s = document.createElement("span"); s.textContent = "0".repeat(100);
            document.querySelector("pre").append(s); return s.getBoundingClientRect().width / 100 })()""")
        # Ideographs go by the em of their font: where there is none, what stands for them is narrower.
        for row, x in list(zip(rows, at))[1:]:
            assert abs(x - at[1]) < cell / 2, (row, x, at[1], cell)


@test
def colours_are_as_on_screen_and_can_be_read():
    names = [f"f{i:03}" for i in range(256)]
    stream = b"".join(b"\x1b[38;5;%dm%s\x1b[m " % (i, name.encode()) for i, name in enumerate(names))
    stream += b"".join(b"\x1b[48;5;%dmb%03d\x1b[m " % (i, i) for i in range(256)) + b"\r\n"
    stream += b"".join(b"\x1b[38;2;%d;%d;%dmt%d,%d,%d\x1b[m\r\n" % ((r, g, b) * 2) for r in (0, 99, 255) for g in (0, 99, 255)
                       for b in (0, 99, 255))
    for dark, ground in ((False, LIGHT), (True, DARK)):
        ground = tuple(bytes.fromhex(ground[1:]))
        with shown(stream, dark=dark) as (page, _):
            assert rgb(page.value("getComputedStyle(document.body).backgroundColor")) == ground
            for prefix in "ft":
                found = styles(page, prefix, "color")
                assert len(found) == (256 if prefix == "f" else 27)
                for name, style in found.items():
                    assert contrast(rgb(style["color"]), ground) >= 4.5, (dark, name, style)
            found = styles(page, "b", "color", "backgroundColor")
            assert len(found) == 256
            for name, style in found.items():
                assert contrast(rgb(style["color"]), rgb(style["backgroundColor"])) >= 4.5, (dark, name, style)
            assert found["b001"]["backgroundColor"] == "rgb(205, 0, 0)"
            assert found["b196"]["backgroundColor"] == "rgb(255, 0, 0)"
            # What can be read is left alone.
            texts = styles(page, "t", "color")
            assert (texts["t0,99,0"]["color"] == "rgb(0, 99, 0)") != dark, texts["t0,99,0"]
            assert (texts["t255,255,0"]["color"] == "rgb(255, 255, 0)") == dark, texts["t255,255,0"]


@test
def attributes_are_as_on_screen():
    wanted = {
        "1": {"fontWeight": "700"}, "3": {"fontStyle": "italic"}, "9": {"textDecorationLine": "line-through"},
        "4": {"textDecorationLine": "underline", "textDecorationStyle": "solid"}, "4:2": {"textDecorationStyle": "double"},
        "4:3": {"textDecorationStyle": "wavy"}, "4:4": {"textDecorationStyle": "dotted"}, "4:5": {"textDecorationStyle": "dashed"},
        "4;9": {"textDecorationLine": "underline line-through"}, "53": {"textDecorationLine": "overline"},
        "4:3;58;5;1": {"textDecorationColor": "rgb(205, 0, 0)"}, "8": {"color": "rgba(0, 0, 0, 0)"}, "2": {"opacity": "0.7"},
        "7": {"color": "rgb(255, 255, 255)", "backgroundColor": "rgb(31, 35, 40)"},
        "7;31": {"color": "rgb(255, 255, 255)", "backgroundColor": "rgb(205, 0, 0)"},
        "31;44": {"color": "rgb(205, 0, 0)", "backgroundColor": "rgb(0, 0, 238)"},
        "38;2;1;2;3;48;2;4;5;6": {"color": "rgb(1, 2, 3)", "backgroundColor": "rgb(4, 5, 6)"},
        "48;2;250;250;250": {"color": "rgb(0, 0, 0)"}, "48;2;10;10;40": {"color": "rgb(255, 255, 255)"},
    }
    stream = b"".join(b"\x1b[%smx%d.\x1b[m\r\n" % (sgr.encode(), i) for i, sgr in enumerate(wanted))
    with shown(stream) as (page, _):
        for i, (sgr, looks) in enumerate(wanted.items()):
            have = styles(page, f"x{i}.", *looks)[f"x{i}."]
            assert have == looks, (sgr, have)


@test
def a_ground_reaches_as_far_as_it_did():
    with shown(b"\x1b[44m\x1b[K x\x1b[m\r\n" + b"0" * 80) as (page, _):
        bar, line = page.value("""(() => {
            const pre = document.querySelector("pre"), last = document.createRange();
            last.selectNodeContents(pre.lastChild);
            return [pre.querySelector("i").parentElement.lastElementChild.getBoundingClientRect().right - pre.getBoundingClientRect().left,
                    last.getBoundingClientRect().width];
        })()""")
        assert abs(bar - line) < 2, (bar, line)
        assert page.value("document.querySelector('pre').textContent").split("\n")[0] == " x"


# -- events --

@test
def the_list_leads_to_each_event_even_when_numbers_repeat():
    tape = Tape().data(b"one\r\n").snapshot(45, "first <b>").data(b"two\r\n").snapshot(45, "again").instruct(
        7, "do\n\tthis & that", delivered=True).data(b"three\r\n").snapshot(3, "").instruct(7, "x", delivered=False).snapshot(
        2**64 - 1, "the last").end()
    with shown(tape) as (page, _):
        found = page.value("""[...document.querySelectorAll("nav a")].map(a => {
            const to = document.querySelectorAll("[id='" + a.getAttribute("href").slice(1) + "']");
            return [to.length, to[0]?.querySelector("h3").textContent.trim(), to[0]?.querySelector("p")?.textContent ?? ""];
        })""")
        assert [n for n, _, _ in found] == [1] * 6, found
        assert [text for _, _, text in found] == ["first <b>", "again", "do\n\tthis & that", "", "the last", "x"], found
        assert page.value("document.querySelector('#snapshot-45 p').textContent") == "first <b>"
        headings = page.value("[...document.querySelectorAll('h1,h2,h3')].map(h => h.localName)")
        assert headings == ["h1", "h2"] + ["h3"] * 6, headings


@test
def what_a_reader_must_know_is_to_be_seen():
    with shown(Tape().data(b"one\r\n").gap(100).data(b"two\r\n").end(), "--no-redact") as (page, _):
        notes = page.value("[...document.querySelectorAll('.note')].map(n => [n.textContent, n.checkVisibility()])")
        assert len(notes) == 2 and all(visible for _, visible in notes), notes
        assert "not masked" in notes[0][0] and "100 bytes" in notes[1][0], notes


@test
def a_long_page_is_drawn_as_it_comes_into_sight():
    stream = b"".join(b"line \x1b[3%dm%d\x1b[m\r\n" % (i % 8, i) for i in range(50_000)) + b"the very end\r\n"
    with shown(stream) as (page, text):
        assert page.value("document.querySelectorAll('pre').length") == -(-len(text.splitlines()) // 250)
        assert page.value("document.querySelectorAll('pre.far').length") > 150
        assert page.value("window.find('the very end')")


if __name__ == "__main__":
    try:
        run()
    finally:
        WORLD.close()
