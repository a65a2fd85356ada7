#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage_test.py -- what agents have used: each message once, whatever comes and goes, and what that costs.

usage: usage_test.py AHR
"""

import fcntl
import itertools
import json
import subprocess
import sys
import zlib
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.on_pty import OnPty
from support.processes import wait_for, with_home
from support.real_runs import Runs
from support.tap import run, test

AHR = sys.argv[1]
FIELDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
BIG, SMALL = "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001"
PRICES = f"claude-opus-4-5 5 25 6.25 0.50\n{SMALL} 1 5 1.25 0.10\n"


# -- streams as Claude Code writes them --

def told(n_in, n_out, made=0, read=0):
    return dict(zip(FIELDS, (n_in, n_out, made, read)))


def begin(model=BIG, session="s"):
    return {"type": "system", "subtype": "init", "session_id": session, "model": model, "cwd": "/"}


def said(ident, usage, *, model=BIG, stop=None, inside=None, text="x"):
    """A line of a message; a message may have several."""
    return {"type": "assistant", "parent_tool_use_id": inside, "session_id": "s",
            "message": {"id": ident, "type": "message", "role": "assistant", "model": model, "stop_reason": stop,
                        "content": [{"type": "text", "text": text}], "usage": usage}}


def calls(ident, call, usage, **more):
    """The same, which calls a sub-agent."""
    line = said(ident, usage, **more)
    line["message"]["content"] = [{"type": "tool_use", "id": call, "name": "Agent", "input": {}}]
    return line


def piece(ident, usage, stop):
    """A message in pieces: its beginning, and the delta that tells its final count (stop None: it breaks off)."""
    start = {"id": ident, "type": "message", "role": "assistant", "model": BIG, "content": [],
             "stop_reason": None, "usage": told(usage["input_tokens"], 1)}
    events = [{"type": "message_start", "message": start}]
    if stop:
        events += [{"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}, {"type": "message_stop"}]
    return [{"type": "stream_event", "parent_tool_use_id": None, "session_id": "s", "event": e} for e in events]


def result(usage, **models):
    by_model = {model: dict(zip(("inputTokens", "outputTokens"), told_of)) for model, told_of in models.items()}
    return {**({"modelUsage": by_model} if models else {}),
            "type": "result", "subtype": "success", "is_error": False, "duration_ms": 5, "num_turns": 1,
            "session_id": "s", "result": "done", "total_cost_usd": 0.1, "usage": usage}


def utc_day():
    return datetime.now(timezone.utc).date().isoformat()


def unique(n):
    return f"msg_01Uniq{n:018d}"


class Used(Runs):
    """Runs of streams in one project, and what was used by them."""

    def stream(self, name, *lines, options=()):
        path = self.dir / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        if "--agent" not in options:
            options = (*options, "--agent", "claude")
        self.ok("run", "-q", "--name", name, *options, "--", "cat", path)
        return name

    def imported(self, name, *messages):
        """A history of messages, each with its time and its usage."""
        path = self.dir / f"{name}.jsonl"
        sid = f"00000000-0000-4000-8000-{zlib.crc32(name.encode()):012x}"
        lines = [{"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": str(self.project),
                  "sessionId": sid, "version": "2.1.197", "uuid": f"{sid[:-4]}{number:04x}", "timestamp": time,
                  **said(f"msg_01{name}{number:018d}", usage, stop="end_turn"), "type": "assistant"}
                 for number, (time, usage) in enumerate(messages)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.ok("import", path)

    def used(self, *args, index=True):
        if index:
            self.ok("index", "--all")
        return json.loads(self.ok("usage", "--json", *args))

    def by(self, what, *args):
        """Input and output tokens of each row."""
        rows = self.used("--by", what, *args)["rows"]
        return {row["name" if what == "session" else what]: (row["input_tokens"], row["output_tokens"]) for row in rows}

    def total(self, *args):
        total = self.used(*args)["total"]
        return tuple(total[field] for field in FIELDS)

    def costs(self, text):
        path = self.dir / "prices"
        path.write_text(text)
        return ("--prices", path)


def three(a):
    """A message on three lines, one in pieces, one of a sub-agent; all with their final counts."""
    usage = told(100, 7, 20, 30)
    return a.stream("three", begin(), said(unique(1), told(100, 1, 20, 30)), said(unique(1), told(100, 1, 20, 30)),
                    said(unique(1), usage, stop="tool_use"), *piece(unique(2), told(200, 11), "end_turn"),
                    said(unique(3), told(50, 5), model=SMALL, stop="end_turn", inside="toolu_1"))


# -- tests --

@test
def a_message_counts_once_with_the_model_that_said_it():
    with Used(AHR) as a:
        three(a)
        assert a.total() == (350, 23, 20, 30)
        assert a.by("model") == {BIG: (300, 18), SMALL: (50, 5)}
        assert a.used()["total"]["calls"] == 3


@test
def every_grouping_has_the_same_sum():
    with Used(AHR) as a:
        three(a)
        a.stream("four", begin(), said(unique(4), told(1, 2, 3, 4), stop="end_turn"))
        whole = a.used()["total"]
        for what in ("day", "model", "session", "agent", "project"):
            told_by = a.used("--by", what)
            assert told_by["by"] == what
            assert told_by["total"] == whole, what
            for field in (*FIELDS, "calls"):
                assert sum(row[field] for row in told_by["rows"]) == whole[field], (what, field)
        assert a.by("session") == {"four": (1, 2), "three": (350, 23)}
        assert a.by("agent") == {"claude": (351, 25)}
        assert a.by("project") == {str(a.project): (351, 25)}
        began = min(one["started_at"][:10] for one in a.json("list"))
        assert all(began <= day <= utc_day() for day in a.by("day")), (began, a.by("day"))


@test
def days_are_those_of_utc_wherever_one_is():
    with Used(AHR) as a:
        a.imported("late", ("2026-11-14T23:59:59.999Z", told(1, 10)), ("2026-11-15T00:00:00.000Z", told(2, 20)),
                   ("2026-11-15T23:30:00.000Z", told(4, 40)), ("2026-11-16T00:30:00.000Z", told(8, 80)))
        days = {"2026-11-14": (1, 10), "2026-11-15": (6, 60), "2026-11-16": (8, 80)}
        a.ok("index", "--all")
        for zone in ("UTC0", "JST-9", "HST10"):
            a.env["TZ"] = zone
            assert a.by("day") == days, zone
            assert a.ok("usage").decode().split()[::7] == [*days, "total"], zone
            for since in days:
                later = {day: n for day, n in days.items() if day >= since}
                assert a.by("day", "--since", since) == later, (zone, since)
        a.env["TZ"] = "JST-9"
        assert list(a.by("day", "--since", "2026-11-15T08:59")) == [*days]
        assert list(a.by("day", "--since", "2026-11-15T09:00")) == [*days][1:]


@test
def the_end_of_an_answer_is_the_truth():
    with Used(AHR) as a:
        a.stream("one", begin(), said(unique(1), told(10, 1)), said(unique(2), told(20, 1)), result(told(31, 500, 2, 0)),
                 said(unique(5), told(7, 3), stop="end_turn"))
        assert a.total() == (38, 503, 2, 0)
        assert a.by("model") == {BIG: (38, 503)}
        assert a.used()["total"]["is_lower_bound"] is False


@test
def a_message_that_breaks_off_is_marked_as_a_lower_bound():
    with Used(AHR) as a:
        three(a)
        a.stream("torn", begin(), *piece(unique(9), told(400, 99), None))
        rows = {row["name"]: row for row in a.used("--by", "session")["rows"]}
        assert (rows["torn"]["is_lower_bound"], rows["three"]["is_lower_bound"]) == (True, False)
        assert rows["torn"]["output_tokens"] == 1
        assert a.used()["total"]["is_lower_bound"] is True
        table = a.ok("usage", "--by", "session").decode()
        (torn,) = [line for line in table.splitlines() if line.startswith("torn")]
        assert "≥1" in torn, table
        (whole,) = [line for line in table.splitlines() if line.startswith("three")]
        assert "≥" not in whole, table


def histories(a):
    """A conversation, its copy that went on, the same once more as a run saw it, and another one."""
    old = [said(unique(i), told(100, 10), stop="end_turn") for i in range(3)]
    a.stream("first", begin(), *old)
    a.stream("copy", begin(), *old, said(unique(7), told(1000, 100), stop="end_turn"))
    a.stream("seen", begin(), *[said(unique(i), told(100, 1)) for i in range(3)], result(told(300, 30)))
    a.stream("other", begin(), said(unique(8), told(5, 5), stop="end_turn"), said("msg_1", told(5, 5), stop="end_turn"),
             said("", told(5, 5), stop="end_turn"))


@test
def sessions_that_repeat_messages_count_them_once():
    with Used(AHR) as a:
        histories(a)
        assert a.total() == (1315, 145, 0, 0)
        assert a.by("session") == {"other": (15, 15), "first": (300, 30), "copy": (1000, 100)}
        assert all(a.json("show", name)["usage"]["input_tokens"] == n
                   for name, n in (("first", 300), ("copy", 1300), ("seen", 300)))
        said_of = a.run("usage", "seen").stderr.decode()
        assert "3 messages of it are in another session, too" in said_of, said_of


def turns(thread, *totals):
    """A stream of Codex: each turn ends with what its thread has used since it was begun."""
    lines = [{"type": "thread.started", "thread_id": thread}]
    for n_in, cached, n_out in totals:
        lines += [{"type": "turn.started"},
                  {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "so"}},
                  {"type": "turn.completed", "usage": {"input_tokens": n_in, "cached_input_tokens": cached,
                                                       "output_tokens": n_out}}]
    return lines


THREAD = "019a1de2-2285-74e1-833b-68633f363660"


@test
def iterations_that_go_on_with_a_thread_count_what_it_has_grown_by():
    with Used(AHR) as a:
        totals = ((3000, 300, 66), (7000, 1300, 166), (7500, 1300, 170))
        for number, total in enumerate(totals, 1):
            (a.dir / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in turns(THREAD, total)))
        a.ok("run", "-q", "--agent", "codex", "--entire", "--name", "loop", "--iterations", "3", "--", "cat", f"{a.dir}/{{n}}.jsonl")
        wanted = (6200, 170, 1300)
        assert (a.total()[0], a.total()[1], a.total()[3]) == wanted
        usage = a.json("show", "loop")["usage"]
        assert (usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"]) == wanted, usage
        lines = [json.loads(line) for path in a.project.glob(".entire/metadata/*/full.jsonl") for line in path.open()]
        took = [line["message"]["usage"] for line in lines if "usage" in line["message"]]
        assert tuple(sum(u[key] for u in took) for key in (FIELDS[0], FIELDS[1], FIELDS[3])) == wanted, took


@test
def a_run_that_is_killed_knows_whose_it_was():
    with Used(AHR) as a:
        for number in (1, 2):
            lines = [begin(), said(unique(number), told(10, number))]
            (a.dir / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        wait = "while [ ! -e {0}/go{1} ]; do sleep 0.01; done"
        script = "; ".join(f"cat {a.dir}/{n}.jsonl; {wait.format(a.dir, n)}" for n in (1, 2))
        with a.popen("run", "-q", "--name", "cut", "--", "sh", "-c", script, stdout=subprocess.DEVNULL) as process:
            try:
                for number in (1, 2):
                    wait_for(lambda: any(unique(number).encode() in path.read_bytes()
                                         for path in a.home.glob("live/*/session.turns.jsonl")), "it says nothing")
                    if number == 1:
                        (a.dir / "go1").touch()
            finally:
                process.kill()
                (a.dir / "go1").touch(), (a.dir / "go2").touch()
        a.run("recover", "--all")
        assert a.json("show", "cut")["agent"] == "claude"
        assert a.by("agent") == {"claude": (20, 3)}


@test
def a_thread_that_goes_on_counts_what_it_has_grown_by():
    with Used(AHR) as a:
        codex = {"options": ("--agent", "codex")}
        a.stream("both", *turns("019a1de2-0000-74e1-833b-000000000000", (100, 0, 10), (250, 50, 30)), **codex)
        assert a.total() == (200, 30, None, 50), a.total()
        assert a.json("show", "both")["usage"]["input_tokens"] == 200
        a.stream("first", *turns(THREAD, (6000, 2700, 70)), **codex)
        a.stream("second", *turns(THREAD, (18000, 10500, 310)), **codex)
        a.stream("third", *turns(THREAD, (27000, 17400, 630)), **codex)
        grown = {"both": (200, 30), "first": (3300, 70), "second": (4200, 240), "third": (2100, 320)}
        assert a.by("session") == grown, a.by("session")
        ids = {one["name"]: one["id"] for one in a.json("list")}
        for order in itertools.permutations(("first", "second", "third")):
            for old in a.home.glob("library.db*"):
                old.unlink()
            for name in ("both", *order):
                a.ok("index", ids[name])
            assert {r["name"]: (r["input_tokens"], r["output_tokens"])
                    for r in a.used("--by", "session", index=False)["rows"]} == grown, order
        a.ok("delete", "--yes", "second")
        assert a.by("session")["third"] == (6300, 560), a.by("session")


@test
def what_a_result_tells_beyond_its_messages_is_counted_beside_a_history_of_them():
    with Used(AHR) as a:
        beyond = result(told(1000, 50))
        a.stream("run", begin(), said(unique(1), told(100, 1)), said(unique(2), told(200, 1)), beyond)
        assert a.total()[:2] == (1000, 50)
        a.stream("kept", begin(), said(unique(1), told(100, 20), stop="end_turn"),
                 said(unique(2), told(200, 25), stop="end_turn"))
        assert a.total()[:2] == (1000, 50), a.total()
        a.stream("copy", begin(), said(unique(1), told(100, 1)), said(unique(2), told(200, 1)), beyond)
        assert a.total()[:2] == (1000, 50), a.total()
        assert a.by("session") == {"run": (700, 5), "kept": (300, 45)}, a.by("session")


@test
def what_a_stream_does_not_show_of_sub_agents_counts_once():
    """The last message of a sub-agent is in its history alone; so is all of one that calls no tools."""
    one, two, deep = (f"toolu_01Uniq{n:018d}" for n in range(3))
    run = [begin(), calls(unique(1), one, told(100, 1)), calls(unique(2), deep, told(200, 1), inside=one),
           calls(unique(3), two, told(30, 1)), result(told(1500, 80))]
    history = [begin(), calls(unique(1), one, told(100, 20), stop="tool_use"),
               calls(unique(2), deep, told(200, 10), stop="tool_use", inside=one),
               said(unique(4), told(150, 5), stop="end_turn", inside=one),
               said(unique(5), told(40, 6), stop="end_turn", inside=deep),
               calls(unique(3), two, told(30, 7), stop="tool_use"),
               said(unique(6), told(60, 8), stop="end_turn", inside=two)]
    for order in (1, -1):
        with Used(AHR) as a:
            for name, lines in (("run", run), ("kept", history))[::order]:
                a.stream(name, *lines)
            assert a.total()[:2] == (1500, 80), a.total()
            assert a.by("session") == {"run": (1500 - 580, 80 - 56), "kept": (580, 56)}, a.by("session")
            # Another answer, of which nobody has seen more.
            a.stream("next", begin(), said(unique(7), told(10, 1)), result(told(1000, 40)))
            assert a.total()[:2] == (2500, 120), a.total()
            a.ok("delete", "--yes", "kept")
            assert a.total()[:2] == (2500, 120), a.total()


@test
def what_each_model_has_used_beside_its_messages_is_that_models():
    with Used(AHR) as a:
        a.stream("run", begin(), said(unique(1), told(1000, 1)),
                 result(told(1000, 100), **{BIG + "[1m]": (1000, 100), SMALL: (1000000, 10000)}),
                 said(unique(2), told(500, 1)),
                 result(told(500, 50), **{BIG + "[1m]": (1500, 150), SMALL: (1000000, 10000)}))
        assert a.by("model") == {BIG: (1500, 150), SMALL: (1000000, 10000)}, a.by("model")
        # Nobody has told how often that one was called.
        assert {row["model"]: row["calls"] for row in a.used("--by", "model")["rows"]} == {BIG: 2, SMALL: None}
        total = a.used(*a.costs(PRICES))["total"]
        assert abs(total["cost_usd"] - (0.0075 + 0.00375 + 1 + 0.05)) < 1e-9, total
        a.stream("kept", begin(), said(unique(1), told(1000, 99), stop="end_turn"))
        assert a.by("model") == {BIG: (1500, 150), SMALL: (1000000, 10000)}, a.by("model")


@test
def an_iteration_that_never_told_its_result_counts_beside_the_next():
    with Used(AHR) as a:
        for n, lines in enumerate(([begin(), said(unique(1), told(700, 7), stop="end_turn")],
                                   [begin(), said(unique(2), told(30, 3)), result(told(30, 40))]), 1):
            (a.dir / f"{n}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        a.ok("run", "-q", "--agent", "claude", "--name", "two", "--iterations", "2", "--", "cat", f"{a.dir}/{{n}}.jsonl")
        assert a.total()[:2] == (730, 47), a.total()
        usage = a.json("show", "two")["usage"]
        assert (usage["input_tokens"], usage["output_tokens"]) == (730, 47), usage


@test
def short_ids_are_never_taken_for_the_same():
    with Used(AHR) as a:
        for name in ("one", "two"):
            a.stream(name, begin(), said("msg_0006", told(10, 1), stop="end_turn"))
        assert a.total() == (20, 2, 0, 0)


@test
def what_is_deleted_is_counted_by_those_who_have_it_too():
    with Used(AHR) as a:
        histories(a)
        a.ok("index", "--all")
        wanted = [("seen", (1315, 145)), ("first", (1315, 145)), ("copy", (15, 15)), ("other", (None, None))]
        for name, total in wanted:
            a.ok("delete", "--yes", name)
            assert a.total()[:2] == total, name


@test
def the_order_of_indexing_does_not_matter():
    with Used(AHR) as a:
        histories(a)
        ids = [one["id"] for one in a.json("list")]
        a.ok("index", "--all")
        wanted = [a.used("--by", what) for what in ("session", "day", "model")]
        for order in itertools.permutations(ids):
            for old in a.home.glob("library.db*"):
                old.unlink()
            for ident in order:
                a.ok("index", ident)
            assert [a.used("--by", what, index=False) for what in ("session", "day", "model")] == wanted, order
        for again in (*ids, *reversed(ids)):
            a.ok("index", again)
            assert a.used("--by", "session", index=False) == wanted[0], again
        a.ok("reindex")
        assert a.used("--by", "session", index=False) == wanted[0]


@test
def costs_are_exact_and_by_the_users_prices():
    with Used(AHR) as a:
        three(a)
        rows = a.used("--by", "model", *a.costs(PRICES))["rows"]
        assert {row["model"]: row["cost_usd"] for row in rows} == {
            BIG: (300 * 5 + 18 * 25 + 20 * 6.25 + 30 * 0.5) / 1e6, SMALL: (50 * 1 + 5 * 5) / 1e6}
        config = a.dir / "home/.config/ahr"
        config.mkdir(parents=True)
        (config / "prices").write_text("claude-opus-4-5 1000 0 0 0\n")
        (big,) = [row for row in a.used("--by", "model")["rows"] if row["model"] == BIG]
        assert big["cost_usd"] == 0.3, big
        (big,) = [row for row in a.used("--by", "model", *a.costs(PRICES))["rows"] if row["model"] == BIG]
        assert big["cost_usd"] == 0.00209, big
        (config / "prices").write_text("# mine\nclaude-opus-4-5 1000 0 0\n")
        done = a.run("usage", "--by", "model", "--json")
        (big,) = [row for row in json.loads(done.stdout)["rows"] if row["model"] == BIG]
        assert big["cost_usd"] == 0.00209, big
        assert b"prices:2: " in done.stderr and b"the prices of this file are left out" in done.stderr, done.stderr
        assert "prices:2: " in a.fails(2, "usage", "--prices", config / "prices")


@test
def a_model_without_a_price_has_tokens_and_no_cost():
    with Used(AHR) as a:
        three(a)
        a.stream("new", begin("nobody-knows"), said(unique(6), told(9, 9), model="nobody-knows", stop="end_turn"))
        rows = {row["model"]: row for row in a.used("--by", "model", *a.costs(PRICES))["rows"]}
        new = rows["nobody-knows"]
        assert (new["input_tokens"], new["cost_usd"], new["known_cost_usd"]) == (9, None, 0)
        total = a.used(*a.costs(PRICES))["total"]
        assert total["cost_usd"] is None
        assert total["known_cost_usd"] == rows[BIG]["cost_usd"] + rows[SMALL]["cost_usd"], total


@test
def what_was_not_told_is_not_zero():
    with Used(AHR) as a:
        a.stream("some", begin(), said(unique(1), {"input_tokens": 0, "output_tokens": 4}, stop="end_turn"))
        total = a.used()["total"]
        assert (total["input_tokens"], total["output_tokens"], total["cache_read_input_tokens"]) == (0, 4, None)
        assert a.ok("usage").decode().split()[1:5] == ["0", "4", "-", "-"]
        a.stream("none", begin())
        assert a.total("none") == (None, None, None, None)
        assert "no tokens" in a.run("usage", "none").stderr.decode()


def in_a_loop(session, own, small, cost):
    """What `claude -p` prints: its end tells the agent's own tokens, and those of all models beside them."""
    ident = unique(int(session, 16))
    end = {**result(told(own, 10)), "session_id": session, "total_cost_usd": cost, "modelUsage": {
        BIG: {"inputTokens": own, "outputTokens": 10}, SMALL: {"inputTokens": small, "outputTokens": 10}}}
    return [begin(session=session), said(ident, told(own, 1)), end]


@test
def agents_in_a_loop_within_a_run_are_summed():
    with Used(AHR) as a:
        a.stream("loop", *in_a_loop("a", 500, 500, 0.4), *in_a_loop("b", 600, 1000, 0.5))
        assert a.total()[:2] == (2600, 40)
        assert a.json("show", "loop")["usage"]["input_tokens"] == 2600
        assert [e["cost_microusd"] for e in a.events("loop") if e["type"] == "done"] == [400000, 500000]


@test
def messages_that_come_again_much_later_count_once():
    """As a transcript that is printed twice, and once more behind the end of the answer."""
    with Used(AHR) as a:
        hundred = [said(unique(i), told(10, 1), stop="end_turn") for i in range(100)]
        a.stream("twice", begin(), *hundred, *hundred, said(unique(1), told(10, 4), stop="end_turn"))
        a.stream("behind", begin(), *[said(unique(1000 + i), told(10, 1)) for i in range(100)], result(told(1000, 900)),
                 *[said(unique(1000 + i), told(10, 1), stop="end_turn") for i in range(100)])
        for name, wanted in (("twice", (1000, 103, 0, 0, 100)), ("behind", (1000, 900, 0, 0, 100))):
            usage = a.json("show", name)["usage"]
            assert tuple(usage[field] for field in (*FIELDS, "calls")) == wanted, (name, usage)
        assert a.by("session") == {"twice": (1000, 103), "behind": (1000, 900)}
        assert a.used()["total"]["calls"] == 200


@test
def a_stream_that_comes_again_is_used_once():
    """As what `cat` prints in each iteration, with its end, which tells more than its messages."""
    with Used(AHR) as a:
        one = [begin(), *[said(unique(i), told(500, 1), stop="end_turn") for i in range(2)], result(told(1000, 90))]
        a.stream("again", *one, *one)
        usage = a.json("show", "again")["usage"]
        assert tuple(usage[field] for field in (*FIELDS, "calls")) == (1000, 90, 0, 0, 2), usage
        assert a.total()[:2] == (1000, 90)


@test
def a_count_that_no_model_can_reach_costs_itself_and_not_the_session():
    with Used(AHR) as a:
        for number, huge in enumerate((1 << 53, 1 << 63, (1 << 64) - 2, 1 << 80)):
            name = a.stream(f"huge{number}", begin(), said(unique(2 * number), told(huge, 7, huge), stop="end_turn"),
                            said(unique(2 * number + 1), told(3, 1), stop="end_turn"))
            shown = a.json("show", name)
            assert (shown["name"], shown["status"]) == (name, "completed"), shown
            assert tuple(shown["usage"][field] for field in FIELDS) == (3, 8, 0, 0), (huge, shown["usage"])
        assert a.total() == (12, 32, 0, 0)


@test
def sums_end_where_readers_of_json_begin_to_round():
    most = (1 << 53) - 1
    with Used(AHR) as a:
        a.stream("many", begin(), *[said(unique(i), told(most, 1), stop="end_turn") for i in range(1200)])
        shown = a.json("show", "many")
        assert (shown["status"], shown["usage"]["input_tokens"], shown["usage"]["output_tokens"]) == \
            ("completed", most, 1200), shown
        assert a.total() == (most, 1200, 0, 0)


@test
def vendors_get_their_own_numbers():
    with Used(AHR) as a:
        three(a)
        stream = a.dir / "codex.jsonl"
        stream.write_text("\n".join(json.dumps(line) for line in (
            {"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"},
            {"type": "turn.completed", "usage": {"input_tokens": 3300, "cached_input_tokens": 300,
                                                 "cache_write_input_tokens": 0, "output_tokens": 66}})) + "\n")
        a.ok("run", "-q", "--agent", "codex", "--name", "codex", "--", "cat", stream)
        codex = {"input_tokens": 3300, "cached_input_tokens": 300, "output_tokens": 66}
        of_codex = a.used("codex")["total"]
        assert of_codex["vendor"] == {"codex": codex}
        assert (of_codex["input_tokens"], of_codex["cache_read_input_tokens"]) == (3000, 300)
        assert a.used()["total"]["vendor"] == {"codex": codex, "claude": dict(zip(FIELDS, (350, 23, 20, 30)))}


@test
def one_session_is_told_by_model_and_days_can_be_left_out():
    with Used(AHR) as a:
        three(a)
        a.stream("other", begin(), said(unique(8), told(5, 5), stop="end_turn"))
        one = a.used("three")
        assert (one["by"], len(one["rows"])) == ("model", 2)
        assert a.used("three", "--by", "day")["total"]["input_tokens"] == 350
        assert a.used("--since", "2d")["total"]["input_tokens"] == 355
        later = a.used("--since", "2248-01-01")
        assert (later["rows"], later["total"]["input_tokens"]) == ([], None)
        a.fails(3, "usage", "nobody")
        a.fails(2, "usage", "three", "other")
        a.fails(2, "usage", "--by", "moon")


@test
def what_is_not_indexed_is_told():
    with Used(AHR) as a:
        three(a)
        done = a.run("usage", "--json")
        told_of = json.loads(done.stdout)
        assert told_of["rows"] == [] and told_of["not_counted"] == 1, told_of
        assert "1 session is not indexed yet, and was not counted; 'ahr index --all' does that" in \
            done.stderr.decode(), done.stderr
        assert "ahr index" in a.fails(3, "usage", "three")
        assert a.run("usage", "--json", "three", env={"AHR_UPKEEP": "auto"}).returncode == 0
        assert a.total() == (350, 23, 20, 30)


@test
def what_is_not_indexed_is_being_indexed():
    with Used(AHR) as a:
        three(a)
        a.stream("four", begin(), said(unique(4), told(1, 2, 3, 4), stop="end_turn"))
        told_of = a.run("usage", env={"AHR_UPKEEP": "auto"}).stderr.decode()
        assert "2 sessions are not indexed yet, and were not counted; that is being done now: ask again" in told_of, \
            told_of
        wait_for(lambda: a.used(index=False)["total"]["calls"] == 4, "it is not indexed")
        wait_for(lambda: not with_home(a.env["HOME"]), "it does not end")
        assert not a.run("usage").stderr
        assert a.used(index=False)["not_counted"] == 0


@test
def what_somebody_is_indexing_is_being_indexed():
    with Used(AHR) as a:
        three(a)
        with open(a.home / "library.tend", "w") as tended:
            fcntl.flock(tended, fcntl.LOCK_EX)
            done = a.run("usage", env={"AHR_UPKEEP": "auto"})
            assert b"was not counted; that is being done now: ask again" in done.stderr, done.stderr
            done = a.run("usage")
            assert b"was not counted; 'ahr index --all' does that" in done.stderr, done.stderr
        assert not (a.home / "library.tend").read_text()  # nor was anything begun


def on_terminal(a, cols, *args):
    """The lines of `ahr usage` there, without colours."""
    with OnPty([a.binary, "usage", *args], cols=cols, env={**a.env, "NO_COLOR": "1"}, cwd=a.project) as p:
        assert p.finish() == 0
        lines = p.bytes.decode().splitlines()
    assert all(len(line) <= cols for line in lines), (cols, lines)
    assert lines[0].startswith(args[-1].upper()) and lines[-1].startswith("total"), lines
    assert "\x1b" not in "".join(lines)
    return lines


@test
def a_terminal_of_any_width_shows_bars_and_no_line_too_long():
    with Used(AHR) as a:
        three(a)
        a.stream("large", begin(), said(unique(8), told(123456789, 98765432, 0, 9876543210), stop="end_turn"))
        a.ok("index", "--all")
        for cols in (30, 60, 80, 120, 200):
            lines = on_terminal(a, cols, "--by", "session")
            assert ("█" in "".join(lines)) == (cols >= 80), (cols, lines)


@test
def a_long_name_takes_neither_the_bars_nor_the_digits():
    with Used(AHR) as a:
        long = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/" + f"eu.anthropic.{BIG}-v1:0"
        three(a)
        a.stream("large", begin(long), said(unique(8), told(123456789, 98765432, 0, 9876543210), model=long,
                                            stop="end_turn"))
        a.ok("index", "--all")
        for cols, number in ((60, "123M"), (80, "123M"), (100, "123M"), (120, "123,456,789"), (160, "123,456,789")):
            lines = on_terminal(a, cols, "--by", "model")
            assert ("█" * 6 in lines[1]) == (cols >= 100), (cols, lines)
            assert number in lines[1], (cols, lines)
            assert long[:min(cols // 4, 23) - 10] in lines[1], (cols, lines)
        assert long in on_terminal(a, 240, "--by", "model")[1]


run()
