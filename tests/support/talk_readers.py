# SPDX-License-Identifier: MIT
"""talk_readers.py -- exported conversations read back, by parsers that know nothing of ahr's code.

Each takes the bytes of a document, fails with the first thing that must not be in one, and returns its turns:
(number, type or title, tool, text), and what it says besides. An event among it is (how many turns came before it,
kind, id, delivered or None, text)."""

import csv as csv_rows
import html.parser
import io
import json as json_text
import re
import uuid
from datetime import datetime

from support import allowed
from support.entire import USAGE, usage_of


csv_rows.field_size_limit(64 << 20)


def csv(data):
    rows = list(csv_rows.reader(io.StringIO(allowed.text(data, "\r\n\t"), newline=""), strict=True))
    assert rows[0] == ["kind", "turn", "ts_ns", "role", "type", "tool", "text"], rows[0]
    turns, others = [], {"notices": [], "totals": {}, "events": []}
    for kind, number, stamp, role, type_, tool, text in rows[1:]:
        assert re.fullmatch(r"\d*", stamp), stamp
        for cell in (tool, text):
            assert cell.lstrip(" ")[:1] not in tuple("=+-@\t\r＝＋－＠"), cell
        if kind == "turn":
            turns.append((int(number), type_, tool, text))
            assert role in ("", "user", "assistant", "tool"), role
        elif kind == "notice":
            others["notices"].append(text)
        elif kind in ("instruction", "snapshot"):
            assert (type_ == "") == (kind == "snapshot") and not role and not tool, type_
            delivered = {"delivered": True, "not delivered": False, "": None}[type_]
            others["events"].append((len(turns), kind, int(number), delivered, text))
        else:
            assert kind == "total", kind
            others["totals"][type_] = int(text)
    return turns, others


def json(data):
    items = allowed.json(data)
    assert data.count(b"\n") == len(items) + 2  # one a line
    turns, others = [], {"notices": [], "totals": {}, "events": []}
    for item in items:
        kind = item.pop("kind")
        if kind == "turn":
            turns.append((item["turn"], item["type"], item.get("tool", ""), item.get("text", item.get("input"))))
            assert ("ts_ns" in item) == ("t_ms" in item), item
        elif kind == "notice":
            others["notices"].append(item["text"])
        elif kind in ("instruction", "snapshot"):
            text = item["text"] if kind == "instruction" else item.get("label", "")
            others["events"].append((len(turns), kind, item["id"], item.get("delivered"), text))
        else:
            assert kind == "totals", kind
            others["totals"] = item
    return turns, others


HEADING = re.compile(r"## (\d+) · ((?:Sub-agent: )?[A-Z][a-z]+(?: [a-z]+)?)(?: (.*?))?(?: · \d+:\d\d:\d\d\.\d{3})?")

BETWEEN = re.compile(r"## (Instruction|Snapshot) (\d+)(?: \((not )?(delivered)\))?(?: · (.*?))??(?: · \d+:\d\d:\d\d\.\d{3})?")


FACTS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


def markdown(data):
    """What is not in a fence is a heading, a notice or the table, and nothing that a renderer does more with."""
    turns, others = [], {"notices": [], "totals": {}, "events": []}
    fence, body, last = None, None, turns
    for line in allowed.text(data, "\n\t").split("\n"):
        if fence:
            if re.fullmatch(r" {0,3}`{%d,}[ \t]*" % len(fence), line):
                last[-1] = (*last[-1][:-1], "\n".join(body))
                fence = None
            else:
                body.append(line)
        elif opened := re.fullmatch(r"(`{3,})text", line):
            fence, body = opened[1], []
            assert last[-1][-1] == "", "two fences of one turn"
        elif line.startswith("> "):
            assert allowed.MD_CELL.fullmatch(line.replace("**notice**", "")[2:]), line
            others["notices"].append(line.partition("**notice** ")[2])
        elif line.startswith("# "):
            assert allowed.MD_CELL.fullmatch(line[2:]), line
        elif not turns and not others["events"] and FACTS.match(line):
            assert allowed.MD_CELL.fullmatch(line) and "facts" not in others, line
            others["facts"] = line
        elif found := BETWEEN.fullmatch(line):
            kind, last = found[1].lower(), others["events"]
            assert (kind == "snapshot") == (not found[4]) and allowed.MD_CELL.fullmatch(found[5] or ""), line
            last.append((len(turns), kind, int(found[2]), not found[3] if found[4] else None, found[5] or ""))
        elif line.startswith("## ") and line != "## Totals":
            last = turns
            heading = HEADING.fullmatch(line)
            assert heading and allowed.MD_CELL.fullmatch(heading[3] or ""), line
            turns.append((int(heading[1]), heading[2], heading[3] or "", ""))
        elif row := re.fullmatch(r"\| ([A-Z][a-z ]+) \| (\d+) \|", line):
            others["totals"][row[1]] = int(row[2])
        else:
            assert line in ("", "## Totals", "| | |", "|---|---:|"), line
    assert not fence, "a fence is open at the end"
    return turns, others


class _Page(html.parser.HTMLParser):
    TAGS = {"html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "name", "content"}, "title": set(),
            "style": set(), "body": set(), "header": set(), "h1": set(), "main": {"translate"}, "h2": set(),
            "section": {"class", "id"}, "a": {"href"}, "bdi": set(), "span": {"class"}, "details": {"open"},
            "summary": set(), "pre": {"dir"}, "p": {"class", "role"}, "footer": set(), "table": set(), "tr": set(),
            "th": {"scope"}, "td": set()}
    UNENDED = ("meta", "tr", "th", "td")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.turns, self.notices, self.totals, self.stack = [], [], {}, []
        self.events, self.last = [], None
        self.sheet, self.policy, self.row = "", None, None

    def handle_starttag(self, tag, attrs):
        assert tag in self.TAGS, tag
        for key, value in attrs:
            assert key in self.TAGS[tag], (tag, key)
            if key == "href":
                assert re.fullmatch(r"#turn-\d+", value), value
            if tag == "section" and key == "class":
                assert re.fullmatch("[a-z_]+(?: user)?(?: sub)?(?: bad)?", value), value
        attrs = dict(attrs)
        if attrs.get("http-equiv"):
            self.policy = attrs["content"]
        if tag == "section" and attrs["class"] in ("instruction", "snapshot"):
            assert "id" not in attrs
            self.events.append([len(self.turns), attrs["class"], "", ""])
            self.last = self.events[-1]
        elif tag == "section":
            self.turns.append([int(attrs["id"].removeprefix("turn-")), attrs["class"].split()[0], "", ""])
            self.last = self.turns[-1]
        if tag == "p" and attrs["class"] != "facts":
            self.notices.append("")
        self.is_facts = attrs.get("class") == "facts"
        self.row = tag if tag in ("th", "td") else None
        if tag not in self.UNENDED:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, tag

    def handle_data(self, data):
        at = self.stack[-1] if self.stack else None
        if at == "style":
            self.sheet += data
        elif at == "pre":
            self.last[3] += data
        elif at == "bdi" and self.stack[-2] == "h2":
            self.last[3 if self.last in self.events[-1:] else 2] += data
        elif at == "h2" and self.last in self.events[-1:] and data.strip():
            self.last[2] += data.strip()
        elif at == "p" and self.is_facts:
            assert FACTS.match(data), data
        elif at == "p":
            self.notices[-1] += data
        elif at == "table" and data.strip():
            if self.row == "th":
                self.name = data.strip()
            else:
                self.totals[self.name] = int(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_pi(self, data):
        raise AssertionError(data)


def page(data):
    found = allowed.text(data, "\n\t")
    assert found.startswith("<!DOCTYPE html>\n")
    reader = _Page()
    reader.feed(found.removeprefix("<!DOCTYPE html>\n"))
    reader.close()
    assert not reader.stack, reader.stack
    digest = allowed.base64.b64encode(allowed.hashlib.sha256(reader.sheet.encode()).digest()).decode()
    assert re.fullmatch(allowed.POLICY, reader.policy) and f"'sha256-{digest}'" in reader.policy, reader.policy
    # The newline behind <pre> is none of the text's.
    return ([(number, type_, tool, text.removeprefix("\n")) for number, type_, tool, text in reader.turns],
            {"notices": reader.notices, "totals": reader.totals, "events": [_between(*e) for e in reader.events]})


def _between(before, kind, head, text):
    found = re.fullmatch(r"(Instruction|Snapshot) (\d+)(?: \((not )?(delivered)\))?(?:Totals)?", head)
    assert found and found[1].lower() == kind and (kind == "snapshot") == (not found[4]), head
    return before, kind, int(found[2]), not found[3] if found[4] else None, text.removeprefix("\n")


# -- the transcript, by the rules of seed 002 and DESIGN 4.3 --



def _check_assistant(message, calls, calling):
    assert message["type"] == "message" and message["role"] == "assistant" and message["id"], message
    assert isinstance(message["model"], str) and isinstance(message["content"], list)
    for block in message["content"]:
        if block["type"] == "tool_use":
            assert isinstance(block["input"], dict) and isinstance(block["name"], str) and block["id"], block
            calls.append(block["id"])
        else:
            assert block["type"] in ("text", "thinking") and isinstance(block[block["type"]], str), block
    if any(block["type"] == "tool_use" for block in message["content"]):
        calling.add(message["id"])
    wanted = ("tool_use",) if message["id"] in calling else ("end_turn", None)
    assert message["stop_reason"] in wanted, message
    if "usage" in message:
        assert set(message["usage"]) == set(USAGE) and all(v >= 0 for v in message["usage"].values()), message


def _check_user(message, answered):
    assert message["role"] == "user", message
    if isinstance(message["content"], str):
        return
    for block in message["content"]:
        if block["type"] == "tool_result":
            assert isinstance(block["content"], str) and isinstance(block["tool_use_id"], str), block
            answered.append(block["tool_use_id"])
        else:
            assert block["type"] == "text", block


def transcript(data, session):
    """Its lines, and the usage over all messages, each counted once."""
    lines, before, seen, calls, answered, calling = [], None, set(), [], [], set()
    assert not data or data.endswith(b"\n")
    for raw in data.decode().split("\n")[:-1]:  # valid UTF-8, and nothing but LF ends a line
        line = json_text.loads(raw)
        assert line["type"] in ("user", "assistant") and line["sessionId"] == session, line
        assert str(uuid.UUID(line["uuid"])) == line["uuid"] and line["uuid"] not in seen, line["uuid"]
        assert line["parentUuid"] == before, line
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["timestamp"]), line
        datetime.fromisoformat(line["timestamp"][:-1])
        assert isinstance(line["cwd"], str) and line["version"] and isinstance(line["gitBranch"], str), line
        assert isinstance(line["isSidechain"], bool) and line["userType"] == "external", line
        before = line["uuid"]
        seen.add(before)
        message = line["message"]
        if line["type"] == "assistant":
            _check_assistant(message, calls, calling)
        else:
            _check_user(message, answered)
        lines.append(line)
    return lines, usage_of(lines), calls, answered
