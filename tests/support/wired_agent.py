# SPDX-License-Identifier: MIT
"""wired_agent.py -- an agent that asks a model's API what it is told to, and prints what that says as it comes.

usage: wired_agent.py STEP...

  say:TEXT     prints it
  as:NAME      its User-Agent
  ask:TEXT     goes on with the conversation; "!" and the error where there is none
  ask-file:FILE  the same of what is in it
  env:FILE     its environment as JSON
  wait:FILE    until there is such a file
  touch:FILE   makes one
  ignore:NAME  a signal
  exit:N
"""

import http.client
import json
import os
import re
import signal
import sys
import time


def put(text):
    data = text.encode()
    while data:
        data = data[os.write(1, data):]


class Agent:
    def __init__(self):
        self.messages, self.name = [], "wired/1"
        base = os.environ.get("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
        self.where, _, self.path = base.removeprefix("http://").partition("/")

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        body = json.dumps({"model": "m-1", "max_tokens": 9, "stream": True, "messages": self.messages})
        said = ""
        try:
            c = http.client.HTTPConnection(self.where, timeout=60)
            c.request("POST", f"/{self.path}/v1/messages", body, {"content-type": "application/json", "x-api-key": "k", "user-agent": self.name})
            reply = c.getresponse()
            if reply.status != 200:
                put(f"!{reply.status} {reply.read().decode()}\n")
                return
            for line in reply:
                told = re.search(rb'"text_delta", "text": ("(?:[^"\\]|\\.)*")', line)
                if told:
                    said += json.loads(told[1])
                    put(json.loads(told[1]))
        except (OSError, http.client.HTTPException) as why:
            put(f"!{type(why).__name__}")
        put("\n")
        self.messages.append({"role": "assistant", "content": said})


def wait(path):
    while not os.path.exists(path):
        time.sleep(0.005)


def main():
    agent = Agent()
    steps = {
        "say": put,
        "as": lambda name: setattr(agent, "name", name),
        "ask": agent.ask,
        "ask-file": lambda path: agent.ask(open(path, encoding="utf-8").read()),
        "env": lambda path: open(path, "w", encoding="utf-8").write(json.dumps(dict(os.environ))),
        "wait": wait,
        "touch": lambda path: open(path, "w", encoding="utf-8").close(),
        "ignore": lambda name: signal.signal(getattr(signal, name), lambda *_: None),
        "exit": lambda status: sys.exit(int(status)),
    }
    for step in sys.argv[1:]:
        name, _, value = step.partition(":")
        steps[name](value)


if __name__ == "__main__":
    main()
