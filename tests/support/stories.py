# SPDX-License-Identifier: MIT
"""stories.py -- sessions as lists of turns, pairs of them with known differences, and their files.

    a = story(rng, 40)
    b, made = edited(rng, a)          # made: {("change", 3, 3), ("insert", None, 7), …}
    write_story(home, sid, b, rng, name="b")

A turn is a tuple (type, who or which tool, text or arguments). Ids, times and usage are other ones in
every file: by nature they differ.
"""

import json

KINDS = ("user", "assistant", "thinking", "call", "result", "error")
TOOLS = ("Bash", "Read", "Edit")
APART = 3  # turns that stay between two edits, so that there is one way to tell them


def turn(rng, number, kind=None):
    """One that is like no other of that session."""
    kind = kind or rng.choice(KINDS)
    words = " ".join(rng.choice(("look", "at", "the", "test", "変更", "file", "ok")) for _ in range(rng.randrange(1, 9)))
    text = f"{words} {number}" + ("\n\tmore\n" * rng.randrange(3))
    if kind in ("user", "assistant"):
        return ("text", kind, text)
    if kind == "call":
        return ("tool_call", rng.choice(TOOLS), {"command": text, "limit": number, "nested": {"b": [1, 2], "a": None}})
    if kind == "result":
        return ("tool_result", rng.random() < 0.2, text)
    return (kind, None, text)


def story(rng, count):
    return [turn(rng, number) for number in range(count)]


def changed(one, number):
    """The same kind of turn with another text."""
    kind, who, what = one
    return (kind, who, {**what, "limit": -number} if isinstance(what, dict) else f"{what} changed {number}")


def places(rng, count, edits):
    """So many places that are apart, in order."""
    found, at = [], rng.randrange(APART + 1)
    while at < count and len(found) < edits:
        found.append(at)
        at += APART + 1 + rng.randrange(max(1, 2 * count // (edits + 1)))
    return found


def edited(rng, a, edits=6):
    """Another session, and how it differs: (kind, turn of a, turn of b), from 1, None where there is none."""
    fresh = 1_000_000
    at = places(rng, len(a), edits)
    what = {place: rng.choice(("insert", "delete", "change", "move")) for place in at}
    # What moves goes to the place of another edit, which then is none: apart from all others, too.
    targets = {}
    free = list(at)
    rng.shuffle(free)
    for place in at:
        if what.get(place) != "move":
            continue
        others = [other for other in free if other != place and other not in targets.values()
                  and what.get(other) in ("insert", "delete", "change")]
        if others:
            targets[place] = others[0]
            what[others[0]] = "target"
        else:
            what[place] = "change"
    b, made = [], []
    moved = {}  # place in a -> place in b
    for place, one in enumerate([*a, None]):
        for source, target in targets.items():
            if target == place:
                moved[source] = len(b) + 1
                b.append(a[source])
        if one is None:
            break
        kind = what.get(place)
        fresh += 1
        if kind == "insert":
            made.append(("insert", None, len(b) + 1))
            b.append(turn(rng, fresh))
        if kind == "delete":
            made.append(("delete", place + 1, None))
        elif kind == "change":
            made.append(("change", place + 1, len(b) + 1))
            b.append(changed(one, fresh))
        elif kind != "move":
            b.append(one)
    made += [("move", source + 1, place) for source, place in moved.items()]
    return b, set(made)


def event(one, at, rng):
    """Its line in session.turns.jsonl."""
    kind, who, what = one
    facts = {}
    if kind == "text":
        facts = {"role": who, "id": f"msg_{rng.getrandbits(40):x}", "text": what}
    elif kind == "tool_call":
        keys = list(what)
        rng.shuffle(keys)  # in which order they stand says nothing
        facts = {"id": f"toolu_{rng.getrandbits(40):x}", "name": who, "input": {key: what[key] for key in keys}}
    elif kind == "tool_result":
        facts = {"id": f"toolu_{rng.getrandbits(40):x}", "text": what, **({"is_error": True} if who else {})}
    else:
        facts = {"text": what}
    return json.dumps({"ts_ns": str(at), "t_ms": at % 1000, "session": "", "iteration": 1, "type": kind, **facts})


def lines(turns, rng):
    """All of them, with what is no turn between them."""
    at, out = 1_780_000_000_000_000_000 + rng.randrange(10**12), []
    for one in turns:
        at += rng.randrange(1, 10**9)
        out.append(event(one, at, rng))
        if rng.random() < 0.2:
            out.append(json.dumps({"ts_ns": str(at), "t_ms": 0, "session": "", "type": "usage", "id": f"{at}",
                                   "usage": {"input_tokens": rng.randrange(99), "output_tokens": rng.randrange(99)}}))
        if rng.random() < 0.1:
            out.append(json.dumps({"ts_ns": str(at), "t_ms": 0, "session": "", "type": "stderr",
                                   "text": f"noise {rng.random()}"}))
    return [line.encode() + b"\n" for line in out]


def write_story(home, sid, turns, rng, **facts):
    """A session in a home (support/sessions.py), as a run leaves it, but for its recording."""
    folder = home.folder("sessions", sid)
    home.write_meta(folder, sid, kind="stream", **facts)
    (folder / "session.turns.jsonl").write_bytes(b"".join(lines(turns, rng)))
    return folder
