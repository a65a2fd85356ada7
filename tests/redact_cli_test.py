#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_cli_test.py -- `ahr redact` as a user meets it. usage: redact_cli_test.py AHR

Secrets are made up here when the tests run; none stands in this file.
"""

import ctypes
import json
import os
import pty
import random
import re
import select
import signal
import socket
import stat
import string
import subprocess
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.ahr import Ahr
from support.tap import run, test

AHR = sys.argv[1]
COMPILER = Path(AHR).resolve().parent / "ahr-rules"
ALNUM = string.digits + string.ascii_uppercase + string.ascii_lowercase
MASK = rb"\[REDACTED:[a-z0-9-]+\]"


def base62(number, width):
    digits = ""
    while number or len(digits) < width:
        number, digit = divmod(number, 62)
        digits = ALNUM[digit] + digits
    return digits


def token(seed):
    """A token as GitHub makes them, checksum and all."""
    body = "".join(random.Random(seed).choices(ALNUM, k=30))
    return ("ghp" + "_" + body + base62(zlib.crc32(body.encode()), 6)).encode()


def acme(seed):
    """What OWN_RULE finds, and no rule that is built in."""
    letters = random.Random(seed).choices("ghijkmnpqrstuvwxyz", k=20)
    return ("acme" + "~" + "".join(letters)).encode()


OWN_RULE = """# ours
rule acme-token
about A token of ours
keywords acme~
pattern acme~[a-z]{20}
"""
GITHUB_RULE = None


def github_rule():
    """The id of the rule that finds token()."""
    global GITHUB_RULE
    if not GITHUB_RULE:
        with Ahr(AHR) as a:
            found = re.fullmatch(rb"\[REDACTED:([a-z0-9-]+)\]\n",
                                 a.ok("redact", input=token(0) + b"\n"))
            assert found
            GITHUB_RULE = found[1].decode()
    return GITHUB_RULE


def own(a, text, name=".config/ahr/redact"):
    """Writes rules to where they are looked for by default."""
    path = a.dir / "home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def script(a, text, name="compiler"):
    """A program in place of ahr-rules; returns the environment that asks for it."""
    path = a.dir / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return {"AHR_RULES_PROGRAM": str(path)}


def packs(a):
    return sorted(p.name for p in (a.dir / "home/.cache/ahr").iterdir())


def without_override():
    """For preexec_fn: file modes hold for root, too."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def read_until(stream, wanted):
    """Output of a live pipe up to where `wanted` is in it."""
    got = b""
    while wanted not in got:
        ready, _, _ = select.select([stream], [], [], 60)
        assert ready, ("waited in vain", got)
        piece = os.read(stream.fileno(), 65536)
        assert piece, ("the output has ended", got)
        got += piece
    return got


def check(a, *args, status=1, **more):
    """The lines of --check, and what it says."""
    done = a.run("redact", "--check", *args, **more)
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout.decode(errors="surrogateescape").splitlines(), done.stderr.decode()


# -- the filter --


@test
def a_secret_is_masked_and_all_else_is_untouched():
    with Ahr(AHR) as a:
        head, tail = bytes(range(256)) * 300 + b"\n", b" behind\r\n" + bytes(range(255, -1, -1))
        out = a.ok("redact", input=head + token(1) + tail)
        assert re.fullmatch(re.escape(head) + MASK + re.escape(tail), out, re.S)
        plain = random.Random(5).randbytes(500000)
        assert a.ok("redact", input=plain) == plain
        assert a.ok("redact") == b""
        assert a.ok("redact", "-", input=b"x") == b"x"


@test
def a_live_pipe_shows_lines_at_once_and_no_part_of_a_secret():
    with Ahr(AHR) as a:
        child = a.popen("redact", stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        secret = token(2)
        child.stdin.write(b"first line\n")
        assert read_until(child.stdout, b"\n") == b"first line\n"
        child.stdin.write(b"second " + secret[:20])
        early = read_until(child.stdout, b"sec")
        child.stdin.write(secret[20:] + b" end\n")
        late = early + read_until(child.stdout, b"end\n")
        assert re.fullmatch(b"second " + MASK + b" end\n", late), late
        child.stdin.write(b"last " + secret[:30])
        child.stdin.close()
        rest = child.stdout.read()
        assert rest.startswith(b"last ") and secret[:12] not in rest, rest
        assert child.wait() == 0


@test
def a_terminals_bytes_keep_their_length():
    with Ahr(AHR) as a:
        secret = token(3)
        text = b"\x1b[31mkey: " + secret + b"\x1b[0m\r\nmore\r\n"
        out = a.ok("redact", "--terminal", input=text)
        assert len(out) == len(text) and secret not in out and b"****" in out
        assert out.endswith(b"\x1b[0m\r\nmore\r\n")
        wrapped = b"\r\n".join((b"x" * 20 + b" " + secret)[i:i + 30] for i in range(0, 61, 30))
        out = a.ok("redact", "--terminal", "--cols", "30", input=wrapped + b"\r\n")
        assert len(out) == len(wrapped) + 2 and out.count(b"\r\n") == wrapped.count(b"\r\n") + 1
        assert secret[10:30] not in out and secret[-8:] not in out, out


@test
def wrong_usage_is_told_with_status_2():
    with Ahr(AHR) as a:
        assert "unknown option '--chekc'" in a.fails(2, "redact", "--chekc", "x")
        said = a.fails(2, "redact", "notes.txt")
        assert "not 'notes.txt'; to look into files say --check" in said
        assert "which file or folder?" in a.fails(2, "redact", "--check")
        assert "do not go together" in a.fails(2, "redact", "--check", "--rules", "x")
        assert "--rules takes no file" in a.fails(2, "redact", "--rules", "x")
        assert "--cols must be a number" in a.fails(2, "redact", "--terminal", "--cols", "0")
        assert "--own needs a value" in a.fails(2, "redact", "--own")


@test
def what_cannot_be_read_or_written_is_a_failure():
    with Ahr(AHR) as a:
        (a.dir / "x").write_bytes(b"see " + token(4) + b"\n")
        with open("/dev/full", "wb") as full:
            for args in (["redact"], ["redact", "--check", "x"], ["redact", "--rules"],
                         ["redact", "--check", "--json", "home"]):
                child = a.popen(*args, stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE)
                said = child.communicate(b"text\n")[1]
                assert child.returncode == 1, args
                assert b"cannot write to standard output: No space left on device" in said
        folder = os.open(a.dir, os.O_RDONLY)
        child = a.popen("redact", stdin=folder, stderr=subprocess.PIPE)
        assert b"cannot read standard input: Is a directory" in child.communicate()[1]
        assert child.returncode == 1
        os.close(folder)
        said = a.fails(1, "redact", input=b"text\n", preexec_fn=lambda: os.close(1))
        assert "cannot write to standard output" in said


@test
def a_reader_that_has_gone_ends_it():
    with Ahr(AHR) as a:
        for restore, status in ((True, -signal.SIGPIPE), (False, 1)):
            child = a.popen("redact", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, restore_signals=restore)
            child.stdout.close()
            child.stdin.write(b"text\n")
            child.stdin.close()
            assert child.wait() == status
            assert (b"Broken pipe" in child.stderr.read()) == (not restore)
            child.stderr.close()


@test
def ctrl_c_ends_it():
    with Ahr(AHR) as a:
        child = a.popen("redact", stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        child.stdin.write(b"running\n")
        read_until(child.stdout, b"running\n")
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == -signal.SIGINT
        child.stdin.close()
        child.stdout.close()


@test
def a_person_may_type_into_it():
    with Ahr(AHR) as a:
        leader, follower = pty.openpty()
        child = a.popen("redact", stdin=follower, stdout=subprocess.PIPE)
        os.close(follower)
        os.write(leader, b"see " + token(5) + b" here\n")
        assert re.fullmatch(b"see " + MASK + b" here\n", read_until(child.stdout, b"\n"))
        os.write(leader, b"\x04")
        assert child.wait(60) == 0
        child.stdout.close()
        os.close(leader)


# -- looking into files --


@test
def a_finding_has_its_place_and_a_masked_excerpt():
    with Ahr(AHR) as a:
        rule, secret = github_rule(), token(6)
        (a.dir / "x").write_bytes(b"one\r\n\ttwo \xc3\xa4 " + secret + b" end\r\nthree\n")
        lines, said = check(a, "x")
        assert lines == [f"x:2:9: {rule}: two ä [REDACTED:{rule}] end"]
        assert said == "ahr redact: 1 secret in 1 of 1 file\n"
        lines, said = check(a, "-", input=secret)
        assert lines == [f"-:1:1: {rule}: [REDACTED:{rule}]"]
        (a.dir / "clean").write_bytes(b"nothing here\n")
        lines, said = check(a, "clean", "clean", status=0)
        assert not lines and said == "ahr redact: no secrets in 2 files\n"


@test
def an_excerpt_shows_no_secret_and_no_control_character():
    with Ahr(AHR) as a:
        one, two, three = token(7), token(8), token(9)
        (a.dir / "x").write_bytes(b"\x1b]0;t\x07 " + one + b" \xff\xc2\x9b " + two + b" " + three +
                                  b"\x00\xe2\x80\xae" + b"y" * 300 + b"\n")
        out = a.run("redact", "--check", "x").stdout
        assert len(out.splitlines()) == 3
        for line in out.splitlines():
            assert len(line.decode()) < 220, line
            for secret in (one, two, three):
                assert secret[4:14] not in line
            assert not re.search(rb"[\x00-\x1f\x7f]|\xc2\x9b|\xff|\xe2\x80\xae", line)
        assert out.splitlines()[2].endswith("y…".encode())


@test
def json_names_the_very_bytes():
    with Ahr(AHR) as a:
        text = "größe\n".encode() + b"a " * 70000 + token(10) + b"\n\xff" + token(11) + b"\""
        (a.dir / "x").write_bytes(text)
        (a.dir / "y").write_bytes(b"")
        done = a.run("redact", "--check", "--json", "x", "y")
        found = json.loads(done.stdout)
        assert done.returncode == 1 and len(found) == 2
        assert list(found[0]) == ["file", "line", "column", "byte", "length", "rule", "excerpt"]
        for one, secret, line in zip(found, (token(10), token(11)), (2, 3)):
            assert text[one["byte"]:one["byte"] + one["length"]] == secret
            assert one["file"] == "x" and one["line"] == line and one["rule"] == github_rule()
            assert one["column"] == one["byte"] - text.rfind(b"\n", 0, one["byte"])
            assert f"[REDACTED:{one['rule']}]" in one["excerpt"]
        assert json.loads(a.ok("redact", "--check", "--json", "y")) == []


@test
def many_findings_at_every_distance_from_the_end_of_a_piece():
    with Ahr(AHR) as a:
        text = b""
        rng = random.Random(12)
        for i in range(3000):
            text += b"w" * rng.randrange(200) + (b"\n" if rng.random() < 0.3 else b" ") + token(i)
            text += rng.choice([b" ", b"\n", b"\r\n"])
        (a.dir / "x").write_bytes(text)
        found = json.loads(a.run("redact", "--check", "--json", "x").stdout)
        assert len(found) == 3000
        starts = [m.start() for m in re.finditer(rb"ghp_", text)]
        assert [f["byte"] for f in found] == starts
        for one in found:
            assert one["line"] == text.count(b"\n", 0, one["byte"]) + 1
            assert one["column"] == one["byte"] - text.rfind(b"\n", 0, one["byte"])
            assert "ghp_" not in one["excerpt"] and "*" not in one["excerpt"]


@test
def long_keys_and_many_lines_have_their_place_too():
    with Ahr(AHR) as a:
        rng = random.Random(21)
        key = b"".join(bytes(rng.choices(ALNUM.encode(), k=64)) + b"\n" for _ in range(1500))
        begin = b"-----BEGIN RSA PRIVATE " + b"KEY-----\n"
        text = b"one\n  cat " + begin + key + begin.replace(b"BEGIN", b"END")
        text += b"\n" * 100000 + b"see " + token(21) + b" " + b"\n" * 100000
        (a.dir / "x").write_bytes(text)
        found = json.loads(a.run("redact", "--check", "--json", "x").stdout)
        assert [f["line"] for f in found] == [3, 101504], found
        assert [f["column"] for f in found] == [1, 5]
        assert found[0]["length"] >= len(key) - 1
        assert found[1]["excerpt"].startswith("see [REDACTED:")


@test
def a_line_of_any_length_needs_no_memory():
    def peak(a, size):
        with open(a.dir / "big", "wb") as f:
            for _ in range(size >> 20):
                f.write(b"word " * 209715 + b"word")
            f.write(b" " + token(13) + b" end")
        child = a.popen("redact", "--check", "big", stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL)
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        at = (size >> 20) * 1048579 + 2
        assert out.startswith(b"big:1:%d: " % at) and out.endswith(b"] end\n"), out
        return usage.ru_maxrss
    with Ahr(AHR) as a:
        small = peak(a, 1 << 20)
        assert peak(a, 96 << 20) - small < 32 << 10


@test
def folders_are_looked_through_in_order_and_nothing_outside_of_them():
    with Ahr(AHR) as a:
        secret = b"see " + token(14) + b"\n"
        for name in ("tree/b/2", "tree/b/10", "tree/a", "tree/c/.hidden", "tree/.git/config",
                     "outside/x"):
            (a.dir / name).parent.mkdir(parents=True, exist_ok=True)
            (a.dir / name).write_bytes(secret)
        (a.dir / "tree/b/loop").symlink_to("..")
        (a.dir / "tree/link").symlink_to("../outside")
        (a.dir / "tree/file").symlink_to("../outside/x")
        (a.dir / "tree/nowhere").symlink_to("nothing")
        os.mkfifo(a.dir / "tree/fifo")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.relpath(a.dir / "tree/socket"))
        lines, said = check(a, "tree")
        listener.close()
        assert [line.split(":")[0] for line in lines] == ["tree/a", "tree/b/10", "tree/b/2",
                                                          "tree/c/.hidden"]
        assert said == "ahr redact: 4 secrets in 4 of 4 files\n"
        # What the user names is meant.
        lines, _ = check(a, "tree/file", "tree/link/", "tree/.git")
        assert [line.split(":")[0] for line in lines] == ["tree/file", "tree/link/x",
                                                          "tree/.git/config"]
        lines, _ = check(a, "/dev/stdin", input=secret)
        assert len(lines) == 1


@test
def names_may_hold_anything():
    with Ahr(AHR) as a:
        (a.dir / "tree").mkdir()
        path = os.fsencode(a.dir) + b"/tree/\x1b[31m\n\xff"
        with open(path, "wb") as f:
            f.write(token(15) + b"\n")
        lines, _ = check(a, "tree")
        assert len(lines) == 1 and lines[0].startswith("tree/?[31m?\udcff:1:1: "), lines
        found = json.loads(a.run("redact", "--check", "--json", "tree").stdout)
        assert found[0]["file"] == "tree/\x1b[31m\n\ufffd"


@test
def what_cannot_be_looked_at_does_not_stop_the_rest():
    with Ahr(AHR) as a:
        (a.dir / "clean").write_bytes(b"nothing\n")
        (a.dir / "dirty").write_bytes(token(16) + b"\n")
        lines, said = check(a, "nowhere", "clean", status=3)
        assert "cannot open 'nowhere': No such file or directory\n" in said
        assert "no secrets in 1 file, 1 not looked at" in said
        lines, said = check(a, "nowhere", "dirty")
        assert len(lines) == 1 and "1 secret in 1 of 1 file, 1 not looked at" in said
        (a.dir / "tree/locked").mkdir(parents=True)
        (a.dir / "tree/private").write_bytes(b"x")
        (a.dir / "tree/private").chmod(0)
        (a.dir / "tree/z").write_bytes(token(17) + b"\n")
        (a.dir / "tree/locked").chmod(0)
        lines, said = check(a, "tree", preexec_fn=without_override)
        (a.dir / "tree/locked").chmod(0o700)
        assert len(lines) == 1 and lines[0].startswith("tree/z:1:1:")
        assert "cannot open 'tree/locked': Permission denied" in said
        assert "cannot open 'tree/private': Permission denied" in said
        (a.dir / "tree/z").unlink()
        check(a, "tree/private", status=1, preexec_fn=without_override)
        _, said = check(a, "/proc/self/mem", status=1)
        assert "cannot read '/proc/self/mem': Input/output error" in said


@test
def a_recording_is_named_as_one():
    with Ahr(AHR) as a:
        a.ok("pack", "-o", "x.ahr", input=b"key " + token(18) + b"\r\n")
        lines, said = check(a, "x.ahr", status=1)
        assert not lines and "'x.ahr' is a recording: not looked at" in said
        assert said.count("look with: ahr cat FILE | ahr redact --check --terminal -") == 1
        assert "no secrets in 0 files, 1 not looked at" in said
        bytes_ = a.ok("cat", "x.ahr")
        assert len(check(a, "--terminal", "-", input=bytes_)[0]) == 1


# -- the list of rules --


@test
def rules_are_listed_and_own_ones_marked():
    with Ahr(AHR) as a:
        own(a, OWN_RULE)
        rules = json.loads(a.ok("redact", "--rules", "--json"))
        assert all(list(r) == ["id", "about", "pattern", "own"] for r in rules)
        mine = [r for r in rules if r["own"]]
        assert mine == [{"id": "acme-token", "about": "A token of ours",
                         "pattern": "acme~[a-z]{20}", "own": True}]
        text = a.ok("redact", "--rules").decode()
        assert len(text.splitlines()) == len(rules) > 50
        assert re.search(r"^acme-token +A token of ours \(own\)$", text, re.M)
        assert re.search(rf"^{github_rule()} +\S", text, re.M)


# -- own rules --


@test
def own_rules_are_used_from_their_place_or_by_option():
    with Ahr(AHR) as a:
        text = b"see " + acme(1) + b" there\n"
        masked = b"see [REDACTED:acme-token] there\n"
        assert a.ok("redact", input=text) == text
        path = own(a, OWN_RULE)
        assert a.ok("redact", input=text) == masked
        assert a.ok("redact", "--own", "/dev/null", input=text) == text
        path.rename(a.dir / "mine")
        assert a.ok("redact", input=text) == text
        assert a.ok("redact", "--own", "mine", input=text) == masked
        assert a.ok("redact", input=text, env={"AHR_OWN": "mine"}) == masked
        # The rules that are built in stay.
        assert b"ghp" not in a.ok("redact", "--own", "mine", input=token(19))
        assert "cannot open 'nowhere': No such file" in a.fails(3, "redact", "--own", "nowhere")
        assert "not a file" in a.fails(1, "redact", "--own", "home")
        elsewhere = {"XDG_CONFIG_HOME": str(a.dir / "c"), "XDG_CACHE_HOME": str(a.dir / "d/e")}
        (a.dir / "c/ahr").mkdir(parents=True)
        (a.dir / "mine").rename(a.dir / "c/ahr/redact")
        assert a.ok("redact", input=text, env=elsewhere) == masked
        assert len(list((a.dir / "d/e/ahr").iterdir())) == 1


@test
def a_mistake_in_own_rules_is_told_with_its_line_and_nothing_comes_through():
    with Ahr(AHR) as a:
        for wrong, line in (("pattern acme~[a-z\n", 2), ("patern x\n", 4), ("max 0\n", 4),
                            ("entropy much\n", 4), ("rule acme-token\n", 4)):
            path = own(a, "# mine\nrule acme-token\nkeywords acme~\n" + wrong)
            done = a.run("redact", input=b"text\n")
            assert done.returncode == 2 and not done.stdout, (wrong, done)
            said = done.stderr.decode()
            assert re.match(rf"ahr redact: {path}:\d+: \S", said), (wrong, said)
            assert f"{path}:{line}:" in said, (wrong, said)
            assert packs(a) == []
        own(a, OWN_RULE + "\0rule hidden\n")
        assert "NUL" in a.fails(2, "redact")
        own(a, "#" * (1 << 20) + "\n")
        assert "larger than 1 MiB" in a.fails(1, "redact")


@test
def own_rules_are_compiled_once_and_anew_when_they_change():
    with Ahr(AHR) as a:
        count = script(a, f'echo ran >>"$HOME/ran"; exec "{COMPILER}" "$@"\n')
        ran = a.dir / "home/ran"
        text = b"see " + acme(2) + b" there\n"
        path = own(a, OWN_RULE)
        for _ in range(3):
            assert a.ok("redact", input=text, env=count) == b"see [REDACTED:acme-token] there\n"
        assert ran.read_text() == "ran\n" and len(packs(a)) == 1
        path.write_text(OWN_RULE.replace("acme-token", "acme-other"))
        assert a.ok("redact", input=text, env=count) == b"see [REDACTED:acme-other] there\n"
        assert ran.read_text() == "ran\n" * 2 and len(packs(a)) == 2
        path.write_text(OWN_RULE)
        assert a.ok("redact", input=text, env=count) == b"see [REDACTED:acme-token] there\n"
        assert ran.read_text() == "ran\n" * 2


@test
def compiled_rules_are_private_and_old_ones_go():
    for mask in (0, 0o777):
        with Ahr(AHR) as a:
            own(a, OWN_RULE)
            cache = a.dir / "home/.cache/ahr"
            a.ok("redact", preexec_fn=lambda: os.umask(mask))
            assert stat.S_IMODE(cache.stat().st_mode) == 0o700
            assert stat.S_IMODE((cache / packs(a)[0]).stat().st_mode) == 0o600
            for name, age in (("rules-0.pack", 40), ("rules-1.pack.abcdef", 40),
                              ("rules-2.pack", 3), ("other", 40)):
                (cache / name).write_bytes(b"x")
                then = (cache / name).stat().st_mtime - age * 24 * 3600
                os.utime(cache / name, (then, then))
            own(a, OWN_RULE + "# changed\n")
            a.ok("redact")
            left = packs(a)
            assert len(left) == 4 and {"rules-2.pack", "other"} < set(left), left


@test
def several_at_once_do_no_harm():
    with Ahr(AHR) as a:
        own(a, OWN_RULE)
        text = b"see " + acme(3) + b" there\n"
        children = [a.popen("redact", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    for _ in range(8)]
        for child in children:
            assert child.communicate(text)[0] == b"see [REDACTED:acme-token] there\n"
            assert child.returncode == 0
        assert len(packs(a)) == 1


@test
def a_damaged_pack_is_made_anew():
    with Ahr(AHR) as a:
        own(a, OWN_RULE)
        text = b"see " + acme(4) + b" there\n"
        a.ok("redact", input=text)
        pack = a.dir / "home/.cache/ahr" / packs(a)[0]
        whole = pack.read_bytes()
        flips = [whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1:]
                 for i in range(0, len(whole), len(whole) // 40)]
        for bad in [b"", b"x", whole[:len(whole) // 2], b"x" * len(whole), *flips]:
            pack.write_bytes(bad)
            assert a.ok("redact", input=text) == b"see [REDACTED:acme-token] there\n", len(bad)
            assert pack.read_bytes() == whole


@test
def a_pack_that_cannot_be_kept_is_told():
    with Ahr(AHR) as a:
        own(a, OWN_RULE)
        cache = a.dir / "home/.cache"
        cache.mkdir()
        cache.chmod(0o500)
        said = a.fails(1, "redact", preexec_fn=without_override)
        assert f"cannot make the folder '{cache}/ahr' for compiled rules: Permission" in said
        cache.chmod(0o700)
        (cache / "ahr").mkdir()
        (cache / "ahr").chmod(0o500)
        said = a.fails(1, "redact", preexec_fn=without_override)
        assert f"cannot write compiled rules to '{cache}/ahr': Permission denied" in said
        (cache / "ahr").chmod(0o700)

        def small_files():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        said = a.fails(1, "redact", preexec_fn=small_files)
        assert "cannot write" in said and "File too large" in said, said
        assert packs(a) == []
        env = {"HOME": "", "XDG_CONFIG_HOME": str(a.dir / "home/.config")}
        assert "nowhere to keep compiled rules" in a.fails(1, "redact", env=env)


@test
def a_compiler_that_is_missing_or_fails_is_told():
    with Ahr(AHR) as a:
        path = own(a, OWN_RULE)
        said = a.fails(1, "redact", env={"AHR_RULES_PROGRAM": "/nowhere/ahr-rules"})
        assert f"cannot compile '{path}': cannot run '/nowhere/ahr-rules': No such file" in said
        for text, wanted in (("kill -9 $$", "ended by signal 9"),
                             ("exit 7", "failed with status 7"),
                             ("echo out of luck >&2; exit 1", "out of luck"),
                             (">\"$2\"", "No data available"),
                             ("yes | head -c 100000 >&2; exit 3", ": y\n")):
            said = a.fails(1, "redact", env=script(a, text + "\n"))
            assert wanted in said and len(said) < 1000, (text, said)
        said = a.fails(5, "redact", env=script(a, 'echo x >"$2"; echo "#" >>"$1"\n'))
        assert "changes all the time" in said
        assert packs(a) == []


@test
def exceptions_leave_alone_what_they_name():
    with Ahr(AHR) as a:
        one, two = acme(5), acme(6)
        text = b"see " + one + b" " + two + b" " + token(20) + b"\n"
        masked = rf"\[REDACTED:acme-token\] \[REDACTED:{github_rule()}\]\n".encode()
        own(a, OWN_RULE + f"\nallow {one.decode()}\n")
        assert re.fullmatch(b"see " + re.escape(one) + b" " + masked, a.ok("redact", input=text))
        own(a, OWN_RULE + f"allow {one.decode()[:12]}*\n")
        assert re.fullmatch(b"see " + re.escape(one) + b" " + masked, a.ok("redact", input=text))
        own(a, OWN_RULE + f"allow *{token(20).decode()[-6:]}\n")
        assert a.ok("redact", input=text) == (
            b"see [REDACTED:acme-token] [REDACTED:acme-token] " + token(20) + b"\n")
        own(a, OWN_RULE + "off acme-token\n")
        out = a.ok("redact", input=text)
        assert one in out and two in out and token(20) not in out
        own(a, f"off {github_rule()}\n")
        assert check(a, "-", status=0, input=b"see " + token(20) + b" here\n")[0] == []


run()
