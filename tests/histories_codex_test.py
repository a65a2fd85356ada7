#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories_codex_test.py -- `ahr import` of Codex's threads of all versions and their forks: each answer counts once.

usage: histories_codex_test.py AHR; prints TAP.
"""

import itertools
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.histories import USAGE, thread
from support.importer import Importer
from support.tap import run, test

AHR = sys.argv[1]
LONG = "AHR_TEST_LONG" in os.environ


def used(a):
    a.ok("index", "--all")
    total = json.loads(a.ok("usage", "--json"))["total"]
    return {key: total[key] for key in (*USAGE, "calls")}


def are_counted_once(make, answers):
    """`make` gives threads in a folder; in any order they are imported, their own answers are what was used."""
    with Importer(AHR) as probe:
        count = len(make(probe.codex))
    for order in itertools.permutations(range(count)):
        with Importer(AHR) as a:
            made = make(a.codex)
            want = {key: sum(h.usage[key] for h in made) for key in USAGE} | {"calls": answers}
            for h in made:
                h.write()
            for at in order:
                row = a.take(made[at].path)[made[at].path]
                assert row["result"] == "new" and not row["places"], row
            assert used(a) == want, (order, used(a), want)


@test
def a_thread_of_each_version_counts_its_answers():
    for form in ("calls", "turns", "records"):
        are_counted_once(lambda folder: [thread(folder, 1, form).turn().compact().turn(2)], 5)


@test
def a_thread_that_a_newer_version_goes_on_with_counts_on():
    are_counted_once(lambda folder: [thread(folder, 2, "turns").turn().go_on_as("records").turn().turn(1)], 7)


@test
def a_fork_that_copies_its_parents_lines_counts_its_own():
    for form in ("calls", "turns"):
        def make(folder):
            parent = thread(folder, 3, form).turn().turn()
            child = parent.fork(4, is_copy=True).turn(2)
            return [parent.turn(1), child]  # both go on
        are_counted_once(make, 9)


@test
def a_fork_of_a_fork_counts_its_own():
    def make(folder):
        eldest = thread(folder, 5, "turns").turn(2)
        middle = eldest.fork(6, is_copy=True).turn(2).go_on_as("records").turn(1)
        return [eldest, middle, middle.fork(7, is_copy=True).turn(2)]
    are_counted_once(make, 7)


@test
def a_fork_without_its_parents_lines_counts_its_own():
    def make(folder):
        parent = thread(folder, 8).turn()
        child = parent.fork(9, is_copy=False).turn(2)
        return [parent.turn(1), child, child.fork(10, is_copy=False).compact().turn(2)]
    are_counted_once(make, 8)


@test
def a_fork_that_grows_counts_as_in_one_go():
    with Importer(AHR) as a:
        parent = thread(a.codex, 11, "turns").turn()
        child = parent.fork(12, is_copy=True).go_on_as("records").turn().turn()
        child.write(0), parent.write()
        a.take()
        for at in range(len(child.steps)):
            child.append(at, at + 1)
            a.take(child.path)
        want = {key: parent.usage[key] + child.usage[key] for key in USAGE} | {"calls": 9}
        assert used(a) == want, (used(a), want)


def run_of(a, h, totals):
    """A run that goes on with the thread: at the end of the turn its stream tells the thread's total."""
    path = a.dir / f"{h.sid}-{totals[0]}.ndjson"
    told = dict(zip(("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"), totals))
    path.write_text("".join(json.dumps(line) + "\n" for line in (
        {"type": "thread.started", "thread_id": h.sid}, {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "so"}},
        {"type": "turn.completed", "usage": told})))
    a.ok("run", "-q", "--agent", "codex", "--", "cat", path)


@test
def runs_of_a_thread_and_its_history_count_once():
    orders = list(itertools.permutations(("run 0", "run 1", "run 2", "old history")))
    for form in ("turns", "records"):
        for order in orders if LONG else orders[::5]:
            with Importer(AHR) as a:
                h, totals, ends = thread(a.codex, 15, form), [], []
                for _ in range(3):
                    h.turn(2)
                    totals.append(list(h.totals))
                    ends.append(len(h.steps))
                for step in order:
                    if step == "old history":
                        h.write(ends[1])
                        a.take()
                    else:
                        run_of(a, h, totals[int(step[-1])])
                tokens = used(a)
                assert tokens.pop("calls") == 5, (form, order)  # four answers of the history's, and one turn behind it
                assert tokens == h.usage, (form, order, tokens, h.usage)
                h.write()
                a.take()
                assert used(a) == h.usage | {"calls": 6}, (form, order, used(a))


@test
def threads_that_have_used_the_same_are_several():
    with Importer(AHR) as a:
        made = [thread(a.codex, seed, "turns") for seed in (13, 14)]
        for h in made:
            h.rng.seed(5)
            h.id = lambda prefix="", h=h, real=h.id: real(prefix + h.sid[:8])
            h.turn()
            h.write()
        assert made[0].usage == made[1].usage and made[0].sid != made[1].sid
        a.take()
        assert used(a) == {key: 2 * made[0].usage[key] for key in USAGE} | {"calls": 6}, used(a)


if __name__ == "__main__":
    run()
