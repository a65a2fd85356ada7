#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_planted_test.py -- planted secrets are found, however the input is cut.

usage: redact_planted_test.py REDACT_SPLIT RULES [--sanitized]   (a quarter of the secrets)
AHR_TEST_SEED gives another choice of secrets and places.
"""

import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.planted import plant
from support.secrets import read_rules
from support.split import split
from support.tap import run, test

SPLIT, RULES = sys.argv[1:3]
IS_SANITIZED = "--sanitized" in sys.argv
SEED = int(os.environ.get("AHR_TEST_SEED", "2026"))
KNOWN, GENERIC = (500, 150) if IS_SANITIZED else (1900, 600)
SHOWN_MAX = 40
CLEAR_MAX = 24  # bytes behind a prefix so short that they tell nothing yet

planted = plant(read_rules(RULES), SEED, KNOWN, GENERIC)
said = split(SPLIT, [p.case for p in planted])
print(f"# seed {SEED}: {len(planted)} secrets of {len({p.rule for p in planted})} kinds")


def show(p, why):
    """One planted secret, so that it can be looked into."""
    print(f"# {why}: {p.rule or 'generic'} ({p.syntax}; {p.around}; cols {p.case.cols}"
          f"{', stars' if p.case.keeps_length else ''}): {p.secret} in {p.case.bytes!r}")


def recall(name, kinds):
    """The share that was masked from end to end; every class below 1 is listed."""
    chosen = [(p, s) for p, s in zip(planted, said) if p.kind in kinds]
    for what in ("rule", "syntax", "around"):
        total, missed = Counter(), Counter()
        for p, s in chosen:
            total[getattr(p, what)] += 1
            missed[getattr(p, what)] += s["left"] > 0
        for key, count in missed.most_common():
            if count and key:
                print(f"# {name}, {what} {key}: {total[key] - count} of {total[key]}")
    failed = [(p, s) for p, s in chosen if s["left"]]
    for p, s in failed[:SHOWN_MAX]:
        show(p, f"{s['left']} of {len(p.secret)} bytes left" if s["finds"] else "missed")
    share = 1 - len(failed) / len(chosen)
    print(f"# {name}: recall {share:.4f} of {len(chosen)}")
    return share


@test
def secrets_of_known_kinds_are_masked():
    assert recall("known", ("known", "named", "key")) >= 0.95


@test
def passwords_next_to_a_telling_name_are_masked():
    assert recall("generic", ("generic",)) >= 0.80


@test
def every_rule_catches_its_own_examples():
    """… most of the time; another rule may have the better claim to a part of them."""
    found, total, others = Counter(), Counter(), Counter()
    for p, s in zip(planted, said):
        if not p.rule or s["left"]:
            continue
        names = {rule for rule, _, _ in s["finds"]}
        total[p.rule] += 1
        found[p.rule] += p.rule in names
        if p.rule not in names:
            others[p.rule, "+".join(sorted(names))] += 1
    for (rule, names), count in others.most_common():
        print(f"# {rule} found as {names}: {count} of {total[rule]}")
    assert total and sum(found.values()) >= 0.9 * sum(total.values())


@test
def the_output_is_the_same_however_the_input_is_cut():
    wrong = [(p, s) for p, s in zip(planted, said) if s["wrong"]]
    for p, s in wrong[:SHOWN_MAX]:
        show(p, s["wrong"])
    assert not wrong, f"{len(wrong)} of {len(planted)}"


@test
def nothing_of_a_secret_comes_out_when_the_input_ends_in_it():
    """Its keyword may: as long as there is no more, nothing tells a secret."""
    caught = [(p, s) for p, s in zip(planted, said) if not s["left"]]
    seen = [(p, s) for p, s in caught if s["cut_left"] > p.clear_length]
    more = [s["cut_left"] - p.clear_length for p, s in caught]
    kinds = Counter((p.kind, p.rule) for p, _ in seen)
    for (kind, rule), count in kinds.most_common():
        print(f"# {kind} {rule}: {count} can be seen when cut off")
    seen.sort(key=lambda one: one[0].clear_length - one[1]["cut_left"])
    for p, s in seen[:SHOWN_MAX]:
        show(p, f"{s['cut_left']} bytes clear when {s['cut_at']} had come")
    print(f"# {len(seen)} of {len(caught)} show something, at most {max(more)} bytes")
    assert max(more) <= CLEAR_MAX and len(seen) <= 0.07 * len(caught)


@test
def what_is_not_the_secret_stays():
    """A neighbour that could belong to it (a dot at the end) may go with it, now and then."""
    over = [(p, s) for p, s in zip(planted, said)
            if s["over"] and not s["left"] and p.kind != "key"]
    for (rule, around), count in Counter((p.rule, p.around) for p, _ in over).most_common(SHOWN_MAX):
        print(f"# {rule or 'generic'} in {around}: {count} masked too much")
    for p, s in over[:SHOWN_MAX]:
        show(p, f"{s['over']} bytes too many, {s['finds']}")
    assert len(over) <= 0.02 * len(planted), f"{len(over)} of {len(planted)}"


run()
