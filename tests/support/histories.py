# SPDX-License-Identifier: MIT
"""histories.py -- what agents keep of their sessions, made up by seed, with the truth about it.

    h = claude(folder, seed=3, turns=4, subs=2)   # a History; nothing is written yet
    h.write()                                     # all of it
    h.write(10); h.append(10, 20)                 # or step by step, in the order of time

A step is a line of one of its files. Written from samples of real files, not from the reader.
"""

import json
import random
import shutil
import subprocess
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

START = datetime(2025, 6, 1, 9, 0, tzinfo=timezone.utc)
WORDS = ["parser", "buffer", "the", "needs", "a", "test", "fails", "with", "Grüße", "日本語", "🦊", "0x7f", "src/main.c",
         "return", "and", "so", "it", "goes", "{", "}", '"quoted"', "back\\slash", "tab\there"]
USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class History:
    """Its files as steps, and what must come out."""

    def __init__(self, agent, path, seed):
        self.agent, self.path = agent, Path(path)
        self.rng = random.Random(f"{agent}-{seed}")
        self.sid = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.steps = []  # (path, bytes)
        self.texts = []  # (role, text, parent)
        self.calls = {}  # id: (name, parent)
        self.results = set()
        self.files = []  # as artifacts
        self.usage = dict.fromkeys(USAGE, 0)
        self.model = None
        self._now = START + timedelta(seconds=self.rng.randrange(1 << 20))
        self._number = 0

    # -- making --

    def id(self, prefix=""):
        return prefix + str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def time(self):
        self._now += timedelta(milliseconds=self.rng.randint(1, 5000))
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def words(self, count=None):
        self._number += 1
        count = count or self.rng.choice((3, 8, 30))
        return f"saying-{self._number} " + " ".join(self.rng.choice(WORDS) for _ in range(count))

    def say(self, role, text, parent=None):
        self.texts.append((role, text, parent))
        return text

    def add(self, path, value):
        self.steps.append((path, (value if isinstance(value, bytes) else dumps(value).encode()) + b"\n"))

    def use(self, counts):
        for key, value in zip(USAGE, counts):
            self.usage[key] += value
        return dict(zip(USAGE, counts))

    # -- writing --

    @property
    def paths(self):
        return sorted({path for path, _ in self.steps})

    def write(self, upto=None):
        for path in self.paths:
            path.unlink(missing_ok=True)
        self.append(0, upto)
        return self

    def append(self, begin, end=None):
        for path, line in self.steps[begin:end]:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab") as file:
                file.write(line)

    # -- the truth --

    def is_in(self, events, upto=None):
        """These events (session.turns.jsonl) tell all of it, and nothing else."""
        texts = [(e["role"], e["text"], e.get("parent")) for e in events if e["type"] == "text"]
        assert sorted(map(str, texts)) == sorted(map(str, self.texts)), (texts, self.texts)
        calls = {e["id"]: (e["name"], e.get("parent")) for e in events if e["type"] == "tool_call"}
        assert calls == self.calls, (calls, self.calls)
        results = [e["id"] for e in events if e["type"] == "tool_result"]
        assert sorted(results) == sorted(self.results), (results, self.results)
        files = [e["path"] for e in events if e["type"] == "artifact"]
        assert sorted(files) == sorted(self.files), (files, self.files)


# -- Claude Code --

class Claude(History):
    def __init__(self, folder, seed, name=None):
        super().__init__("claude", folder, seed)
        self.path = Path(folder) / f"{name or self.sid}.jsonl"
        self.cwd, self.model, self.leaf = "/home/dev/project", "claude-mock-1", None

    def line(self, kind, message, path=None, side=None, **more):
        uid = self.id()
        self.add(path or self.path, {
            "parentUuid": (side or {"leaf": self.leaf})["leaf"], "isSidechain": side is not None, "userType": "external",
            "cwd": self.cwd, "sessionId": self.sid, "version": "2.1.197", "gitBranch": "main",
            **({"agentId": side["agent"]} if side else {}), "type": kind, "message": message, "uuid": uid,
            "timestamp": self.time(), **more})
        if side:
            side["leaf"] = uid
        else:
            self.leaf = uid
        return uid

    def prompt(self, text, **where):
        parent = where.get("side", {}).get("call") if where.get("side") else None
        return self.line("user", {"role": "user", "content": self.say("user", text, parent)}, **where)

    def answer(self, *blocks, **where):
        """A message on as many lines as it has blocks; its usage is told on each, the last one counts."""
        mid, side = self.id("msg_"), where.get("side")
        counts = [self.rng.randint(0, 5000) for _ in USAGE]
        for number, block in enumerate(blocks):
            if block["type"] == "text":
                self.say("assistant", block["text"], side and side["call"])
            elif block["type"] == "tool_use":
                self.calls[block["id"]] = (block["name"], side and side["call"])
            is_last = number == len(blocks) - 1
            now = counts if is_last else [counts[0], 1, *counts[2:]]
            self.line("assistant", {"id": mid, "type": "message", "role": "assistant", "model": self.model,
                                    "content": [block], "stop_reason": "end_turn" if is_last else None,
                                    "usage": dict(zip(USAGE, now))}, requestId=f"req_{mid}", **where)
        self.use(counts)

    def result(self, call, text, is_error=False, told=None, **where):
        self.results.add(call)
        self.line("user", {"role": "user", "content": [{"tool_use_id": call, "type": "tool_result", "content": text,
                                                        "is_error": is_error}]},
                  toolUseResult=told or {"stdout": text}, **where)

    def turn(self, **where):
        self.prompt(self.words(), **where)
        for _ in range(self.rng.randint(1, 3)):
            self.act(**where)
        self.answer({"type": "text", "text": self.words()}, **where)

    def act(self, **where):
        call, kind = self.id("toolu_"), self.rng.choice(("Bash", "Read", "Write"))
        name = f"src/file-{call[-6:]}.c"
        given = {"Bash": {"command": "make " + self.words(3)}, "Read": {"file_path": f"{self.cwd}/{name}"},
                 "Write": {"file_path": f"{self.cwd}/{name}", "content": self.words()}}[kind]
        self.answer({"type": "text", "text": self.words()},
                    {"type": "tool_use", "id": call, "name": kind, "input": given}, **where)
        has_failed = kind == "Bash" and self.rng.random() < 0.3
        said = f"File created successfully at: {self.cwd}/{name}" if kind == "Write" else self.words()
        self.result(call, said, is_error=has_failed, **where)
        if kind == "Write":
            self.files.append(name)

    def sub_agents(self, count, link="meta", turns=1):
        """Several at once, as a message with several Task calls has them; their lines come by turns."""
        sides = []
        for _ in range(count):
            agent, call = f"{self.rng.getrandbits(32):08x}", self.id("toolu_")
            base = self.path.with_suffix("") / "subagents" if link != "beside" else self.path.parent
            sides.append({"agent": agent, "call": call, "leaf": None, "path": base / f"agent-{agent}.jsonl"})
        self.answer(*({"type": "tool_use", "id": s["call"], "name": "Task",
                       "input": {"prompt": self.words(3), "subagent_type": "general-purpose"}} for s in sides))
        for _ in range(turns):
            for step in ("prompt", "act", "act", "end"):
                for side in sides:
                    where = {"side": side, "path": side["path"]}
                    if step == "prompt":
                        self.prompt(self.words(), **where)
                    elif step == "act":
                        self.act(**where)
                    else:
                        self.answer({"type": "text", "text": self.words()}, **where)
        for side in sides:
            if link == "meta":
                meta = side["path"].with_suffix(".meta.json")
                meta.parent.mkdir(parents=True, exist_ok=True)
                meta.write_text(dumps({"agentType": "general-purpose", "toolUseId": side["call"]}))
            self.result(side["call"], self.words(), told={"agentId": side["agent"], "status": "completed"})
        return sides


def claude(folder, seed=0, turns=3, subs=0, link="meta", name=None):
    """A session; with sub-agents that are linked by a meta.json, by the call's result alone (`result`), or
    whose files lie beside the session's (`beside`), as older versions have them."""
    h = Claude(folder, seed, name)
    h.add(h.path, {"type": "queue-operation", "operation": "enqueue", "timestamp": h.time(), "sessionId": h.sid})
    for _ in range(turns):
        h.turn()
    if subs:
        h.prompt(h.words())
        h.sub_agents(subs, link)
        h.answer({"type": "text", "text": h.words()})
    return h


def short_lines(folder, count):
    """A transcript of many lines with little in them; its path, and one line more."""
    sid = str(uuid.UUID(int=count, version=4))
    def line(n):
        role, parent = ("assistant" if n % 2 else "user"), f'"{n - 1:08x}"' if n else "null"
        content = (f'[{{"type":"text","text":"{n}"}}],"id":"msg_01Short{n:013}","usage":{{"input_tokens":{n},"output_tokens":1}}'
                   if n % 2 else f'"{n}"')
        return (f'{{"parentUuid":{parent},"type":"{role}","message":{{"role":"{role}","content":{content}}},"uuid":"{n:08x}",'
                f'"sessionId":"{sid}","timestamp":"2025-06-01T{n // 60000 % 24:02}:{n // 1000 % 60:02}:{n % 60:02}Z"}}\n')
    path = Path(folder) / f"{sid}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(map(line, range(count)))
    return path, line(count).encode()


# -- Codex --

class Codex(History):
    def __init__(self, folder, seed):
        super().__init__("codex", folder, seed)
        day = self._now.strftime("%Y/%m/%d")
        self.path = Path(folder) / day / f"rollout-{self._now:%Y-%m-%dT%H-%M-%S}-{self.sid}.jsonl"
        self.cwd, self.model = "/home/dev/project", "codex-mock-1"
        self.totals = [0, 0, 0]

    def line(self, kind, payload):
        self.add(self.path, {"timestamp": self.time(), "type": kind, "payload": payload})

    def both(self, role, text):
        """A message is told twice: as the model has it, and as the user saw it."""
        self.say(role, text)
        kind = "input_text" if role == "user" else "output_text"
        self.line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
        self.line("event_msg", {"type": "user_message" if role == "user" else "agent_message", "message": text})

    def turn(self):
        self.both("user", self.words())
        for _ in range(self.rng.randint(1, 3)):
            call = self.id("call_")
            self.calls[call] = ("shell", None)
            self.results.add(call)
            self.line("response_item", {"type": "function_call", "name": "shell", "call_id": call,
                                        "arguments": dumps({"command": ["bash", "-lc", self.words(4)]})})
            self.line("response_item", {"type": "function_call_output", "call_id": call,
                                        "output": "Exit code: 0\n" + self.words()})
        self.both("assistant", self.words())
        grown = [self.rng.randint(100, 5000), 0, self.rng.randint(1, 900)]
        grown[1] = self.rng.randint(0, grown[0])
        self.totals = [a + b for a, b in zip(self.totals, grown)]
        self.use((grown[0] - grown[1], grown[2], 0, grown[1]))
        info = {"total_token_usage": dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), self.totals))}
        for _ in range(2):  # once more without news
            self.line("event_msg", {"type": "token_count", "info": info})


def codex(folder, seed=0, turns=3):
    h = Codex(folder, seed)
    h.line("session_meta", {"id": h.sid, "timestamp": h.time(), "cwd": h.cwd, "originator": "codex_cli_rs",
                            "cli_version": "0.60.0"})
    h.line("turn_context", {"cwd": h.cwd, "model": h.model, "approval_policy": "never"})
    for _ in range(turns):
        h.turn()
    return h


class Thread(Codex):
    """One whose answers are told as versions of Codex have told them; they may go on in the same thread, and it
    may be forked. `usage` is what its own answers have used.

    calls     0.98: totals, most of them twice; turns have no ids
    turns     0.130: the same, with turns' ids; a fork copies all lines, with new times and otherwise serialised
    records   0.166: each answer is a record, too; a fork has none of its parent's lines, but its total goes on
    """

    def __init__(self, folder, seed, form, parent=None, is_copy=False):
        super().__init__(folder, seed)
        self.form, self.totals, self.own, self.last = form, [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]
        meta = {"id": self.sid, "cwd": self.cwd, "originator": "codex_exec", "cli_version": form}
        if parent:
            meta["forked_from_id"] = parent.sid
            self.totals, self.last, self.own = list(parent.totals), list(parent.last), list(parent.own)
        self.line("session_meta", meta)
        if is_copy:
            self.copy([line for _, line in parent.steps])

    def copy(self, lines):
        now = self.time()
        for line in lines:
            value = json.loads(line) | {"timestamp": now}
            self.steps.append((self.path, json.dumps(value, sort_keys=True).encode() + b"\n"))

    def counts(self, numbers):
        keys = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
        told = dict(zip(keys, numbers))
        if self.form != "records":
            del told["cache_write_input_tokens"]
        return told | {"total_tokens": numbers[0] + numbers[3]}

    def count(self):
        self.line("event_msg", {"type": "token_count", "info": {
            "total_token_usage": self.counts(self.totals), "last_token_usage": self.counts(self.last)}})

    def answer(self, **more):
        used = [self.rng.randint(1000, 9000), self.rng.randint(0, 500), 0, self.rng.randint(1, 900)]
        self.last = used
        self.totals = [a + b for a, b in zip(self.totals, used)]
        self.use((used[0] - used[1], used[3], 0, used[1]))
        if self.form != "records":
            self.count()
            return
        self.own = [a + b for a, b in zip(self.own, used)]
        self.line("token_usage_record", {"thread_id": self.sid, "response_id": self.id("resp_"),
                                         "usage": self.counts(used), "thread_token_usage": self.counts(self.own)})
        self.count()

    def turn(self, answers=3):
        turn = {"turn_id": self.id()} if self.form != "calls" else {}
        if turn:
            self.line("event_msg", {"type": "task_started", **turn})
        self.line("turn_context", {**turn, "cwd": self.cwd, "model": self.model})
        self.both("user", self.words())
        for number in range(answers):
            if self.form != "records":
                self.count()  # the one before, once more
            if number < answers - 1:
                call = self.id("call_")
                self.calls[call] = ("shell", None)
                self.results.add(call)
                self.line("response_item", {"type": "function_call", "name": "shell", "call_id": call,
                                            "arguments": "{}"})
                self.answer()
                self.line("response_item", {"type": "function_call_output", "call_id": call, "output": "done"})
            else:
                self.both("assistant", self.words())
                self.answer()
        self.line("event_msg", {"type": "task_complete", **turn})
        return self

    def compact(self):
        """The total is told once more, with nothing behind it."""
        self.line("compacted", {"message": self.words()})
        self.last = [0, 0, 0, 0]
        self.count()
        return self

    def go_on_as(self, form):
        """A newer version goes on; its records' totals begin anew."""
        self.form, self.own = form, [0, 0, 0, 0]
        return self

    def fork(self, seed, is_copy):
        folder = self.path.parents[3]
        return Thread(folder, seed, self.form, self, is_copy)


def thread(folder, seed=0, form="records"):
    return Thread(folder, seed, form)


def pack(path):
    """As Codex packs old ones: X.jsonl.zst, and X.jsonl is gone. None: there is no zstd here."""
    if not shutil.which("zstd"):
        return None
    subprocess.run(["zstd", "-q", "--rm", str(path)], check=True)
    return path.with_name(path.name + ".zst")


# -- Gemini --

class Gemini(History):
    def __init__(self, folder, seed):
        super().__init__("gemini", folder, seed)
        self.path = Path(folder) / self.sid.replace("-", "") / "chats" / f"session-{self._now:%Y-%m-%dT%H-%M}-{self.sid[:8]}.json"
        self.model, self.start, self.messages = "gemini-mock-1", self.time(), []

    def message(self, kind, text, **more):
        self.say("user" if kind == "user" else "assistant", text)
        self.messages.append({"id": self.id(), "timestamp": self.time(), "type": kind, "content": text, **more})

    def turn(self):
        self.message("user", self.words())
        call = self.id("read_file-")
        self.calls[call] = ("read_file", None)
        self.results.add(call)
        said, counts = self.words(), [self.rng.randint(100, 3000) for _ in range(3)]
        self.message("gemini", self.words(), model=self.model, thoughts=[], toolCalls=[{
            "id": call, "name": "read_file", "args": {"path": "src/main.c"}, "status": "success",
            "result": [{"functionResponse": {"id": call, "response": {"output": said}}}]}],
            tokens={"input": counts[0], "output": counts[1], "cached": 0, "thoughts": counts[2], "tool": 0,
                    "total": sum(counts)})
        self.use((counts[0], counts[1] + counts[2], 0, 0))

    def write(self, upto=None):
        """A document, written anew whenever something is said."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        made = {"sessionId": self.sid, "projectHash": "0" * 64, "startTime": self.start,
                "lastUpdated": self.messages[-1]["timestamp"], "messages": self.messages[:upto]}
        self.path.write_text(json.dumps(made, ensure_ascii=False, indent=2))
        return self

    @property
    def paths(self):
        return [self.path]


def gemini(folder, seed=0, turns=3):
    h = Gemini(folder, seed)
    for _ in range(turns):
        h.turn()
    return h


# -- Entire --

def entire(project, seed=0, turns=3, sid=None):
    """A transcript as Claude's, in a folder that is called as the session."""
    h = claude(project, seed, turns)
    old, h.path = h.path, Path(project) / ".entire" / "metadata" / (sid or h.sid) / "full.jsonl"
    h.steps = [(h.path if path == old else path, line) for path, line in h.steps]
    return h
