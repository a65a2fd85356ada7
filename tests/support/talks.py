# SPDX-License-Identifier: MIT
"""talks.py -- conversations of runs made up by seed, and what people are shown of them: written from
doc/events.md and the head of src/turn/show.h alone."""

import json
import random
import re

WORDS = ["alpha", "beta", "Gamma", "error", "Warning", "0x7fff", "foo_bar", "src/main.c", "the", "42", "return",
         "Grüße", "日本語", "emoji 🦊", "a\tb", "two  blanks", "sk", "user", "tool", "Bash", "{", "}"]
TOOLS = ["Bash", "Read", "edit", "command_execution", "mcp__x__y"]
AGENTS = ["claude", "codex", "gemini", None]
ROLES = ["DEVELOPER", "ARCHITECT", "Reviewer", None]


def line(rng):
    """Lines that may wrap are ASCII."""
    count = rng.choice((0, 1, 3, 8, 30))
    return " ".join(rng.choice([w for w in WORDS if w.isascii()] if count > 3 else WORDS) for _ in range(count))


def lines(rng, most=6):
    return "\n".join(line(rng) for _ in range(rng.randint(1, most))).strip() or "x"


def talk(rng, count):
    """So many events, without their stamps. Some results name their tool, others only their call."""
    calls, made = [], []
    while len(made) < count:
        kind = rng.choice(("user", "text", "text", "thinking", "call", "call", "result", "result", "error", "stderr",
                           "warning", "usage", "artifact", "other", "session", "done"))
        number = len(made)
        side = {"parent": "call-0"} if rng.random() < 0.1 else {}
        if kind in ("user", "text"):
            made.append({"type": "text", "role": "user" if kind == "user" else "assistant", "id": f"m{number}",
                         "text": lines(rng), **side})
        elif kind == "thinking":
            made.append({"type": "thinking", "id": f"m{number}", "text": lines(rng), **side})
        elif kind == "call":
            calls.append((f"call-{number}", rng.choice(TOOLS)))
            made.append({"type": "tool_call", "id": calls[-1][0], "name": calls[-1][1],
                         "input": {"command": lines(rng, 3), "n": number, "list": [1, "two"]}, **side})
        elif kind == "result" and calls:
            call, tool = calls.pop(rng.randrange(len(calls)))
            named = {"name": tool} if rng.random() < 0.5 else {}
            fate = rng.choice(({}, {}, {"is_error": True}, {"is_error": True, "exit_code": 3}))
            made.append({"type": "tool_result", "id": call, **named, **fate, "text": lines(rng, 16), "_tool": tool,
                         **side})
        elif kind in ("error", "stderr", "warning"):
            made.append({"type": kind, "text": lines(rng, 1)})
        elif kind == "usage":
            made.append({"type": "usage", "id": f"m{number}", "usage": {"input_tokens": 3, "output_tokens": number}})
        elif kind == "artifact":
            made.append({"type": "artifact", "change": "created", "path": f"src/file {number}.c"})
        elif kind == "other":
            made.append({"type": "other", "name": "system/alpha", "data": {"type": "system", "word": "beta"}})
        elif kind == "session":
            made.append({"type": "session", "agent_session_id": f"s-{number}", "model": "model-beta", "cwd": "/alpha"})
        elif kind == "done":
            made.append({"type": "done", "subtype": "success", "turns": 2})
    return made


def role(event):
    return {"text": event.get("role"), "thinking": "assistant", "tool_call": "assistant",
            "tool_result": "tool"}.get(event["type"])


def tool(event):
    return event.get("name") or event.get("_tool") if event["type"] in ("tool_call", "tool_result") else None


def _tag(event, word):
    sub = "sub" if event.get("parent") else ""
    word = " ".join(filter(None, (sub, word)))
    return f"[{word}]" if word else ""


def _indented(text):
    return "\n".join(f"  {line}" if i and line else line for i, line in enumerate(text.split("\n")))


def _members(data):
    return "".join(f"  {key}: " + _indented(value if isinstance(value, str) else
                                            json.dumps(value, separators=(",", ":"), ensure_ascii=False)) + "\n"
                   for key, value in data.items())


def shown(event, is_whole=True):
    """The text that people see of it, with its tags; "" for what has none in a search."""
    kind = event["type"]
    if kind in ("text", "thinking"):
        word = "thinking" if kind == "thinking" else "user" if event["role"] == "user" else ""
        tag = _tag(event, word)
        return (f"{tag} " if tag else "") + event["text"] + "\n"
    if kind == "tool_call":
        return f"{_tag(event, 'tool')} {event['name']}\n" + _members(event["input"])
    if kind == "tool_result":
        fate = ""
        if event.get("is_error"):
            fate = f"exit {event['exit_code']}: " if event.get("exit_code") else "failed: "
        text = event["text"].split("\n")
        rest = len(text) - 10
        if not is_whole and rest > 0:
            text = [*text[:10], f"… {rest} more line" + "s" * (rest > 1)]
        return f"{_tag(event, 'result')} {fate}" + _indented("\n".join(text)) + "\n"
    if kind in ("error", "stderr", "warning"):
        return f"[{'warn' if kind == 'warning' else kind}] " + _indented(event["text"]) + "\n"
    if kind == "artifact":
        return f"[artifact] {event['change']} {event['path']}\n" if is_whole else ""
    if kind == "other":
        return f"[other] {event['name']}\n" + _members(event["data"]) if is_whole else ""
    if kind == "session":
        cwd = f" cwd={event['cwd']}" if is_whole else ""
        return f"[session] {event['agent_session_id']} model={event['model']}{cwd}\n"
    if kind == "done":
        return f"[done] {event['subtype']} ({event['turns']} turns)\n"
    return ""


def same_line(text):
    """What stays of a line when blanks do not count."""
    return re.sub("[ \t]+", " ", text).strip()


def stamped(events, start_ns, each_ns=1_000_000):
    """Lines of session.turns.jsonl, and each event's stamp."""
    stamps = [start_ns + i * each_ns for i in range(len(events))]
    return [json.dumps({"ts_ns": str(ts), "t_ms": (ts - start_ns) // 10**6, "session": "", "iteration": 1,
                        **{k: v for k, v in e.items() if k != "_tool"}}).encode() + b"\n"
            for e, ts in zip(events, stamps)], stamps


def made_up(seed, count):
    return talk(random.Random(seed), count)
