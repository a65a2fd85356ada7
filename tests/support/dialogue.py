# SPDX-License-Identifier: MIT
"""dialogue.py -- an agent with tools and the model's API that it talks with, small but as on the wire.

    with Upstream(api) as up: ... agent = Anthropic(ask, Run(1)).talk()

The API tells from a request alone what it answers: the same script in three styles. The agent makes its
next request of the reply, as the real ones do, and its tools tell what another run would tell otherwise:
dates, ids, folders (Run).
"""

import json
import random
import string
import uuid
from dataclasses import dataclass

from support.upstream import event

SSE = ("content-type", "text/event-stream; charset=utf-8")

# What the model does, turn by turn: it thinks, says something, and calls tools.
SCRIPT = [
    {"think": "A file, then. I should look before I change it.", "say": "I look at it first.",
     "calls": [("read", {"path": "notes.txt"}), ("shell", {"command": "ls -l && date"})]},
    {"say": "There is a typo, which I mend: “teh”.",
     "calls": [("edit", {"path": "notes.txt", "old": "teh", "new": "the"})]},
    {"think": "Does it hold?", "say": "", "calls": [("shell", {"command": "make test"})]},
    {"say": "Done: notes.txt is in order, and the tests pass — all of them."},
]


def sliced(text, n):
    return [text[i:i + n] for i in range(0, len(text), n)]


# -- the API --

def opaque(seed, n=120):
    """What looks like a signature."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits + "+/", k=n)) + "=="


def made_id(prefix, seed, n=24):
    return prefix + "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=n))


def anthropic_blocks(turn):
    """A reply's blocks, each with the deltas in which it is said."""
    step = SCRIPT[turn]
    if "think" in step:
        yield ({"type": "thinking", "thinking": "", "signature": ""},
               [{"type": "thinking_delta", "thinking": t} for t in sliced(step["think"], 11)] +
               [{"type": "signature_delta", "signature": opaque(f"think {turn}")}])
    if step["say"]:
        yield ({"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in sliced(step["say"], 7)])
    for n, (name, told) in enumerate(step.get("calls", [])):
        yield ({"type": "tool_use", "id": made_id("toolu_01", f"call {turn} {n}", 22), "name": name, "input": {}},
               [{"type": "input_json_delta", "partial_json": t} for t in ["", *sliced(json.dumps(told), 9)]])


def anthropic_message(turn):
    stop = "tool_use" if SCRIPT[turn].get("calls") else "end_turn"
    usage = {"input_tokens": 20 + turn, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 50 * turn,
             "output_tokens": 1}
    return {"id": made_id("msg_01", f"message {turn}", 22), "type": "message", "role": "assistant", "model": "m-1",
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}, stop


def anthropic_events(turn):
    message, stop = anthropic_message(turn)
    yield event({"type": "message_start", "message": message}, "message_start")
    yield event({"type": "ping"}, "ping")
    for index, (block, deltas) in enumerate(anthropic_blocks(turn)):
        yield event({"type": "content_block_start", "index": index, "content_block": block}, "content_block_start")
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    yield event({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                 "usage": {"output_tokens": 30 + turn}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def anthropic_whole(turn):
    message, stop = anthropic_message(turn)
    content = heard_anthropic(b"".join(anthropic_events(turn)))
    usage = {**message["usage"], "output_tokens": 30 + turn}
    return {**message, "content": content, "stop_reason": stop, "usage": usage}


def chat_events(turn):
    step = SCRIPT[turn]
    base = {"id": made_id("chatcmpl-", f"chat {turn}"), "object": "chat.completion.chunk", "created": 1763500000 + turn,
            "model": "m-2", "system_fingerprint": "fp_44709d6fcb"}

    def chunk(delta, stop=None):
        return event({**base, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}]})
    yield chunk({"role": "assistant", "content": "" if step["say"] else None})
    for t in sliced(step["say"], 7):
        yield chunk({"content": t})
    for n, (name, told) in enumerate(step.get("calls", [])):
        yield chunk({"tool_calls": [{"index": n, "id": made_id("call_", f"chat {turn} {n}"), "type": "function",
                                     "function": {"name": name, "arguments": ""}}]})
        for t in sliced(json.dumps(told), 9):
            yield chunk({"tool_calls": [{"index": n, "function": {"arguments": t}}]})
    yield chunk({}, "tool_calls" if step.get("calls") else "stop")
    yield event({**base, "choices": [], "usage": {"prompt_tokens": 40 + turn, "completion_tokens": 30 + turn,
                                                  "total_tokens": 70 + 2 * turn}})
    yield event("[DONE]")


def chat_whole(turn):
    return {"id": made_id("chatcmpl-", f"chat {turn}"), "object": "chat.completion", "created": 1763500000 + turn,
            "model": "m-2", "system_fingerprint": "fp_44709d6fcb",
            "choices": [{"index": 0, "message": heard_chat(b"".join(chat_events(turn))), "logprobs": None,
                         "finish_reason": "tool_calls" if SCRIPT[turn].get("calls") else "stop"}],
            "usage": {"prompt_tokens": 40 + turn, "completion_tokens": 30 + turn, "total_tokens": 70 + 2 * turn}}


def responses_items(turn):
    """The items of a response, whole."""
    step = SCRIPT[turn]
    if "think" in step:
        yield {"id": made_id("rs_", f"think {turn}"), "type": "reasoning", "summary": [],
               "encrypted_content": opaque(f"think {turn}")}
    if step["say"]:
        yield {"id": made_id("msg_", f"said {turn}"), "type": "message", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": step["say"], "annotations": []}]}
    for n, (name, told) in enumerate(step.get("calls", [])):
        yield {"id": made_id("fc_", f"item {turn} {n}"), "type": "function_call", "status": "completed", "name": name,
               "call_id": made_id("call_", f"response {turn} {n}"), "arguments": json.dumps(told)}


def response_id(turn):
    return made_id("resp_", f"response {turn}")


def responses_whole(turn):
    return {"id": response_id(turn), "object": "response", "created_at": 1763500000 + turn,
            "status": "completed", "model": "m-3", "output": list(responses_items(turn)), "error": None,
            "parallel_tool_calls": True, "tools": [], "tool_choice": "auto",
            "usage": {"input_tokens": 60 + turn, "input_tokens_details": {"cached_tokens": 10},
                      "output_tokens": 25 + turn, "output_tokens_details": {"reasoning_tokens": 4},
                      "total_tokens": 85 + 2 * turn}}


def responses_deltas(item, index):
    """The events between an item's beginning and its end: type, members."""
    told = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        part = item["content"][0]
        yield "content_part.added", {**told, "content_index": 0, "part": {**part, "text": ""}}
        for t in sliced(part["text"], 7):
            yield "output_text.delta", {**told, "content_index": 0, "delta": t, "logprobs": []}
        yield "output_text.done", {**told, "content_index": 0, "text": part["text"], "logprobs": []}
        yield "content_part.done", {**told, "content_index": 0, "part": part}
    elif item["type"] == "function_call":
        for t in sliced(item["arguments"], 9):
            yield "function_call_arguments.delta", {**told, "delta": t}
        yield "function_call_arguments.done", {**told, "arguments": item["arguments"], "name": item["name"]}


def responses_events(turn):
    whole = responses_whole(turn)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    told = [("created", {"response": begun}), ("in_progress", {"response": begun})]
    for index, item in enumerate(whole["output"]):
        empty = {"message": {"content": []}, "function_call": {"arguments": ""}}.get(item["type"], {})
        begins = {**item, **empty}
        if "status" in begins:
            begins["status"] = "in_progress"
        told.append(("output_item.added", {"output_index": index, "item": begins}))
        told += responses_deltas(item, index)
        told.append(("output_item.done", {"output_index": index, "item": item}))
    told.append(("completed", {"response": whole}))
    for number, (kind, more) in enumerate(told):
        yield event({"type": f"response.{kind}", "sequence_number": number, **more}, f"response.{kind}")


def turn_of(body):
    """Which turn a request asks for: how often the model has spoken in it, or which reply it goes on from."""
    before = body.get("previous_response_id") or body.get("thread", {}).get("previous_message_id")
    if before:
        return next(t + 1 for t in range(len(SCRIPT)) if before in (anthropic_message(t)[0]["id"], response_id(t)))
    if "input" in body:
        spoke = [i.get("role") == "assistant" or i.get("type") in ("function_call", "reasoning") for i in body["input"]]
    else:
        spoke = [m["role"] == "assistant" for m in body["messages"]]
    return sum(now and not before for before, now in zip([False, *spoke], spoke))


SAYS = {"/v1/messages": (anthropic_events, anthropic_whole), "/chat/completions": (chat_events, chat_whole),
        "/responses": (responses_events, responses_whole)}


async def api(request, reply):
    """An Upstream's handler."""
    path = request.path.partition("?")[0]
    body = json.loads(request.body)
    turn = turn_of(body)
    events, whole = SAYS[path]
    number = made_id("req_01", f"{path} {turn}")
    headers = [("request-id", number), ("x-request-id", number), ("x-ratelimit-remaining", "7"),
               ("cache-control", "no-cache")]
    if not body.get("stream"):
        await reply.whole(200, json.dumps(whole(turn)).encode(), headers=headers)
        return
    await reply.head(200, [SSE, *headers], chunked=True)
    for one in events(turn):
        await reply.piece(one)
    await reply.end()


# -- the agent --

@dataclass
class Run:
    """What differs from run to run though the same is done."""
    seed: int

    def __post_init__(self):
        r = random.Random(f"run {self.seed}")
        self.uuid = str(uuid.UUID(int=r.getrandbits(128), version=4))
        self.tmp = "/tmp/agent-" + "".join(r.choices(string.ascii_letters, k=2)) + f"{r.randrange(10)}x" + \
            f"{r.randrange(10)}" + r.choice(string.ascii_letters)
        self.commit = f"{r.getrandbits(156):039x}a"
        self.date = f"2026-{r.randrange(1, 13):02}-{r.randrange(1, 28):02}"
        self.port, self.took = r.randrange(33000, 60000), r.uniform(0.01, 9)
        self.clock = f"{r.randrange(10, 24)}:{r.randrange(10, 60)}:{r.randrange(10, 60)}"
        self.month = r.choice(["Mar", "Jun", "Nov"])
        self.user = f"user_{r.getrandbits(256):064x}_account_{self.uuid}_session_{uuid.UUID(int=r.getrandbits(128))}"
        self.bill = f"x-anthropic-billing-header: cc_version=2.1.{r.randrange(99)}.{r.getrandbits(12):03x}; " \
            f"cc_entrypoint=cli; cch={r.getrandbits(20):05x};"

    def system(self):
        return (f"You mend files.\n\n<env>\nWorking directory: {self.tmp}\nPlatform: linux\n"
                f"Today's date: {self.date}\n</env>\ngitStatus: clean\nRecent commits:\n"
                f"{self.commit[:7]} begin\nsession {self.uuid}")

    def tool(self, name, told):
        if name == "read":
            return "     1\tteh notes\n"
        if name == "edit":
            return f"{self.tmp}/notes.txt has been updated."
        if told["command"] == "make test":
            return (f"[main {self.commit[:7]}] mend\ncommit {self.commit}\nlog in {self.tmp}/log\n"
                    f"at {self.date}T{self.clock}Z on http://127.0.0.1:{self.port}/: 3 passed in {self.took:.2f}s\n")
        return f"-rw-r--r-- 1 u u 10 {self.month} 19 {self.clock[:5]} notes.txt\n{self.date} {self.clock} +0000\n"


TOOLS = {"read": "Reads a file.", "edit": "Changes a file.", "shell": "Runs a command."}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": True}


def told_events(body):
    """The data of a stream's events."""
    for one in body.decode().split("\n\n"):
        data = "\n".join(line[6:] for line in one.split("\n") if line.startswith("data: "))
        if data and data != "[DONE]":
            yield json.loads(data)


def heard_anthropic(body):
    """The message that a stream tells."""
    blocks = []
    for e in told_events(body):
        if e["type"] == "content_block_start":
            blocks.append({**e["content_block"], "json": ""})
        elif e["type"] == "content_block_delta":
            block, delta = blocks[e["index"]], e["delta"]
            for member in ("text", "thinking", "signature"):
                block[member] = block.get(member, "") + delta.get(member, "") if member in delta else block.get(member)
            block["json"] += delta.get("partial_json", "")
    for block in blocks:
        told = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(told)
    return [{k: v for k, v in b.items() if v is not None} for b in blocks]


def heard_chat(body):
    message = {"role": "assistant", "content": None}
    for e in told_events(body):
        for choice in e["choices"]:
            delta = choice["delta"]
            if delta.get("content") is not None:
                message["content"] = (message["content"] or "") + delta["content"]
            for call in delta.get("tool_calls", []):
                calls = message.setdefault("tool_calls", [])
                if call["index"] == len(calls):
                    calls.append({k: v for k, v in call.items() if k != "index"})
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return message


def heard_responses(body):
    return next(e["response"]["output"] for e in told_events(body) if e["type"] == "response.completed")


class Agent:
    """ask(path, body, headers) gives a reply; what was asked and answered is kept."""

    def __init__(self, ask, run):
        self.ask, self.run = ask, run
        self.requests, self.replies = [], []

    def talk(self, prompt="Is notes.txt in order?"):
        said = self.begin(prompt)
        goes_on = True
        while goes_on:
            body = self.body(said)
            self.requests.append(json.loads(json.dumps(body)))
            reply = self.ask(self.path, body, self.headers())
            self.replies.append(reply)
            assert reply.status == 200, reply.body
            goes_on = self.go_on(said, reply.body)
        return self

    def headers(self):
        n = len(self.requests)
        return [("content-type", "application/json"), ("x-api-key", f"sk-{self.run.uuid}"),
                ("x-stainless-retry-count", "0"), ("x-stainless-os", "Linux"),
                ("idempotency-key", f"stainless-node-retry-{self.run.uuid}-{n}"),
                ("user-agent", f"agent/{self.run.seed}")]


class Anthropic(Agent):
    path = "/v1/messages"

    def begin(self, prompt):
        return [{"role": "user", "content": [{"type": "text", "text": prompt}]}]

    def body(self, said):
        mark = {"cache_control": {"type": "ephemeral"}}
        *before, last = said
        *parts, end = last["content"]
        said = [*before, {**last, "content": [*parts, {**end, **mark}]}]  # the marker moves on
        return {"model": "m-1", "max_tokens": 99, "stream": True, "thinking": {"type": "enabled", "budget_tokens": 50},
                "system": [{"type": "text", "text": self.run.bill},
                           {"type": "text", "text": self.run.system(), **mark}],
                "tools": [{"name": n, "description": d, "input_schema": SCHEMA} for n, d in TOOLS.items()],
                "metadata": {"user_id": self.run.user}, "messages": said}

    def go_on(self, said, body):
        blocks = heard_anthropic(body)
        said.append({"role": "assistant", "content": blocks})
        results = [{"type": "tool_result", "tool_use_id": b["id"],
                    "content": [{"type": "text", "text": self.run.tool(b["name"], b["input"])}]}
                   for b in blocks if b["type"] == "tool_use"]
        said.append({"role": "user", "content": results})
        return results


class Chat(Agent):
    path = "/chat/completions"

    def begin(self, prompt):
        return [{"role": "system", "content": self.run.system()}, {"role": "user", "content": prompt}]

    def body(self, said):
        return {"model": "m-2", "stream": True, "stream_options": {"include_usage": True}, "user": self.run.uuid,
                "tools": [{"type": "function", "function": {"name": n, "description": d, "parameters": SCHEMA}}
                          for n, d in TOOLS.items()], "messages": said}

    def go_on(self, said, body):
        message = heard_chat(body)
        said.append(message)
        calls = message.get("tool_calls", [])
        said += [{"role": "tool", "tool_call_id": c["id"],
                  "content": self.run.tool(c["function"]["name"], json.loads(c["function"]["arguments"]))}
                 for c in calls]
        return calls


class Responses(Agent):
    path = "/responses"

    def begin(self, prompt):
        return [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}]

    def body(self, said):
        return {"model": "m-3", "stream": True, "store": False, "instructions": self.run.system(),
                "prompt_cache_key": self.run.uuid, "include": ["reasoning.encrypted_content"],
                "tools": [{"type": "function", "name": n, "description": d, "parameters": SCHEMA, "strict": False}
                          for n, d in TOOLS.items()], "input": said}

    def go_on(self, said, body):
        items = heard_responses(body)
        said += items
        calls = [i for i in items if i["type"] == "function_call"]
        said += [{"type": "function_call_output", "call_id": c["call_id"],
                  "output": self.run.tool(c["name"], json.loads(c["arguments"]))} for c in calls]
        return calls
