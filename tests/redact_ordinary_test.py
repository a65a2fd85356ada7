#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_ordinary_test.py -- ordinary text comes through as it is.

usage: redact_ordinary_test.py REDACT_SPLIT RULES [--sanitized]   (the same texts; fewer secrets)
AHR_TEST_SEED gives other made texts.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ordinary import collect
from support.planted import plant
from support.secrets import Templates, read_rules
from support.split import Case, split
from support.tap import run, test

SPLIT, RULES = sys.argv[1:3]
IS_SANITIZED = "--sanitized" in sys.argv
SEED = int(os.environ.get("AHR_TEST_SEED", "2026"))
LINES_MIN = 50000
FALSE_MAX = 25
SHOWN_MAX = 5  # of each kind and rule

rules = read_rules(RULES)
texts = collect(SEED)
lines = sum(text.bytes.count(b"\n") for text in texts)
print(f"# {lines} lines, {sum(len(t.bytes) for t in texts)} bytes in {len(texts)} texts")


def false_finds(name, cases):
    """Every find is one too many; each is shown by its line."""
    said = split(SPLIT, cases)
    wrong = [(text, s["wrong"]) for text, s in zip(texts, said) if s["wrong"]]
    for text, why in wrong:
        print(f"# {name}: {text.name}: {why}")
    finds = [(text, case, find) for text, case, s in zip(texts, cases, said) for find in s["finds"]]
    counts = Counter((t.kind, f[0]) for t, _, f in finds)
    for (kind, rule), count in counts.most_common():
        print(f"# {name}: {kind}: {count} found as {rule}")
    shown = Counter()
    for text, case, (rule, start, end) in finds:
        shown[text.kind, rule] += 1
        if shown[text.kind, rule] > SHOWN_MAX:
            continue
        number = case.bytes.count(b"\n", 0, start) + 1
        before, found, behind = (repr(part)[2:-1] for part in (
            case.bytes[max(0, start - 40):start], case.bytes[start:end], case.bytes[end:end + 20]))
        print(f"# {name}: {text.name}:{number}: {rule}: {before}[[{found}]]{behind}")
    print(f"# {name}: {len(finds)} false finds in {lines} lines")
    assert not wrong, f"{len(wrong)} texts"
    return len(finds)


def as_text():
    return [Case(text.bytes, is_long=True) for text in texts]


def as_screen(cols):
    return [Case(text.bytes.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), is_long=True,
                 is_terminal=True, keeps_length=True, cols=cols) for text in texts]


counts = {}


@test
def ordinary_text_is_left_alone():
    assert lines >= LINES_MIN, lines
    counts["text"] = false_finds("text", as_text())
    assert counts["text"] <= FALSE_MAX


@test
def ordinary_text_on_a_screen_is_left_alone():
    counts["screen"] = false_finds("screen", as_screen(80))
    assert counts["screen"] <= FALSE_MAX


@test
def ordinary_text_on_a_screen_of_unknown_width_is_left_alone():
    counts["no width"] = false_finds("no width", as_screen(0))
    assert counts["no width"] <= FALSE_MAX


@test
def examples_are_masked_by_their_rule():
    templates = Templates(random.Random(SEED))
    hits = [(rule, *templates.hit(hit)) for rule in rules for hit in rule.hits]
    cases = []
    for _, before, secret, after in hits:
        start = len(before.encode())
        cases.append(Case(f"{before}{secret}{after}\n".encode(),
                          [(start, start + len(secret.encode()))]))
    wrong = [(rule.id, s["finds"], case.bytes)
             for (rule, *_), case, s in zip(hits, cases, split(SPLIT, cases))
             if s["wrong"] or s["left"] or [find[0] for find in s["finds"]] != [rule.id]]
    for rule, finds, text in wrong:
        print(f"# {rule}: {text!r} is found as {finds}")
    assert not wrong, f"{len(wrong)} of {len(hits)}"
    assert all(rule.hits and rule.misses for rule in rules)


@test
def counter_examples_come_through():
    templates = Templates(random.Random(SEED))
    misses = [(rule.id, templates.expand(miss)) for rule in rules for miss in rule.misses]
    # The line has an end: at the end of the input, the beginning of a secret is masked as one.
    said = split(SPLIT, [Case(f"{text}\n".encode()) for _, text in misses])
    found = [(rule, text, s["finds"]) for (rule, text), s in zip(misses, said) if s["finds"]]
    for rule, text, finds in found:
        print(f"# {rule}: {text!r} is found: {finds}")
    assert not found, f"{len(found)} of {len(misses)}"


@test
def most_of_what_is_masked_is_a_secret():
    planted = plant(rules, SEED, *((500, 150) if IS_SANITIZED else (1900, 600)))
    for p in planted:
        p.case.is_long = True  # where it is cut is another test's matter
    true = sum(not s["left"] for s in split(SPLIT, [p.case for p in planted]))
    # A quarter of the secrets has to bear a quarter of the false finds.
    false = max(counts.values()) / (4 if IS_SANITIZED else 1)
    print(f"# precision {true / (true + false):.4f}: {true} true, {false:g} false")
    assert true / (true + false) >= 0.90


run()
