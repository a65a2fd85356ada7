# SPDX-License-Identifier: MIT
"""entire.py -- what a run has left in a project's .entire/, and an agent that says what a test wants."""

import json
import os
import re
import stat
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

SESSION = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
INTERRUPTED = "[Tool execution was interrupted]"

# Says the lines of a file; at "gate NAME" it waits until somebody has opened that fifo for writing.
AGENT = """#!%s
import sys
for line in open(%r):
    if line.startswith("gate "):
        open(line[5:].strip()).close()
    else:
        sys.stdout.write(line)
        sys.stdout.flush()
"""


def agent(a, lines, name="claude"):
    """Puts such an agent on the PATH; a line is an object, or the name of a gate, whose fifo is made."""
    folder = a.dir / "bin"
    folder.mkdir(exist_ok=True)
    script, path = folder / f"{name}.lines", folder / name
    with open(script, "w", encoding="utf-8") as file:
        for line in lines:
            if isinstance(line, str):
                make_fifo(a.dir / line)
                file.write(f"gate {a.dir / line}\n")
            else:
                file.write(json.dumps(line) + "\n")
    path.write_text(AGENT % (sys.executable, str(script)))
    path.chmod(0o755)
    if str(folder) not in a.env["PATH"].split(":"):
        a.env["PATH"] = f"{folder}:{a.env['PATH']}"


def make_fifo(path):
    if not path.exists():
        os.mkfifo(path)


def open_gate(path):
    open(path, "wb").close()


def said(message, *blocks, usage=None):
    """A line of claude's: a message of the assistant's."""
    return {"type": "assistant", "message": {
        "id": message, "type": "message", "role": "assistant", "model": "opus-5", "content": list(blocks),
        "usage": usage or {"input_tokens": 10, "output_tokens": 5}}}


def text(words):
    return {"type": "text", "text": words}


def tool(call, name, **given):
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call, words):
    return {"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call, "content": words}]}}


BEGIN = {"type": "system", "subtype": "init", "session_id": "s", "model": "opus-5", "cwd": "/work", "tools": []}


def usage_of(lines):
    """As Entire counts: of each message the line with the most output, whole, and of several the first; and as others
    do, the largest of each value. Both must come to the same."""
    rows, largest = {}, {}
    for message in (line["message"] for line in lines if line["type"] == "assistant"):
        told = {key: message.get("usage", {}).get(key, 0) for key in USAGE}
        if message["id"] not in rows or told["output_tokens"] > rows[message["id"]]["output_tokens"]:
            rows[message["id"]] = told
        most = largest.setdefault(message["id"], dict(told))
        most.update({key: max(most[key], told[key]) for key in USAGE})
    assert rows == largest, (rows, largest)
    return {key: sum(row[key] for row in rows.values()) for key in USAGE}


class Transcript:
    """The one session of a project, or that of an id."""

    def __init__(self, project, session="*", may_be_torn=False):
        self.root = Path(project) / ".entire"
        self.dir, = (self.root / "metadata").glob(session)
        self.id = self.dir.name
        *whole, rest = self.path.read_bytes().split(b"\n") if self.path.exists() else [b""]
        assert may_be_torn or not rest, rest[-300:]
        self.lines = [json.loads(line) for line in whole]

    @property
    def path(self):
        return self.dir / "full.jsonl"

    @property
    def prompt(self):
        path = self.dir / "prompt.txt"
        return path.read_text() if path.exists() else None

    @property
    def context(self):
        path = self.dir / "context.md"
        return path.read_text() if path.exists() else None

    def blocks(self, kind=None):
        """What was said, in its order: (role, block)."""
        found = []
        for line in self.lines:
            content = line["message"]["content"]
            if isinstance(content, str):
                content = [text(content)]
            found += [(line["type"], block) for block in content if kind in (None, block["type"])]
        return found

    def usage(self):
        return usage_of(self.lines)

    def is_sound(self):
        """What each line must have, whatever was said."""
        last, seen = None, set()
        for line in self.lines:
            assert line["type"] in ("user", "assistant"), line
            assert line["sessionId"] == self.id and line["version"], line
            assert line["parentUuid"] == last, (line, last)
            last = line["uuid"]
            assert str(uuid.UUID(last)) == last and last not in seen, line
            seen.add(last)
            assert STAMP.fullmatch(line["timestamp"]), line
            assert line["cwd"].startswith("/"), line
            message = line["message"]
            assert message["role"] == line["type"], line
            assert isinstance(message["content"], list if line["type"] == "assistant" else (str, list)), line
            assert "usage" not in message or line["type"] == "assistant", line
        return self

    def is_in_order(self):
        """Each line as late as the one before, told once, and behind the one that it names."""
        times = [stamp(line) for line in self.lines]
        assert times == sorted(times), times
        uuids = [line["uuid"] for line in self.lines]
        assert len(set(uuids)) == len(uuids), uuids
        for n, line in enumerate(self.lines):
            assert line["parentUuid"] in uuids[:n] if n else line["parentUuid"] is None, line
        return self

    def calls_are_closed(self):
        calls = [block["id"] for _, block in self.blocks("tool_use")]
        results = [block["tool_use_id"] for _, block in self.blocks("tool_result")]
        assert sorted(calls) == sorted(results), (calls, results)

    def is_private(self):
        for path in self.dir.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert stat.S_IMODE(self.dir.stat().st_mode) == 0o700

    def files(self):
        """Every file in .entire with its bytes and the time of its last change."""
        return {str(p.relative_to(self.root)): (p.read_bytes(), p.stat().st_mtime_ns)
                for p in sorted(self.root.rglob("*")) if p.is_file()}


def stamp(line):
    return datetime.strptime(line["timestamp"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
