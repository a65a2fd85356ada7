#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encrypt_memory_test.py -- a passphrase and the keys made of it are in the memory of encrypt and decrypt while
they are needed, and nowhere in it afterwards. usage: encrypt_memory_test.py AHR STOP_SHIM VAULT_KEY

The program is stopped, and all of its memory that can be read is looked through. That the same look finds them
while they are in use says that it can.
"""

import contextlib
import os
import random
import signal
import string
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.locked import Locked
from support.on_pty import OnPty
from support.processes import wait_for
from support.tap import run, test

AHR = sys.argv[1]
SHIM, VAULT_KEY = (str(Path(p).resolve()) for p in sys.argv[2:4])
PHRASE = "".join(random.Random(f"phrase {os.getpid()}").choices(string.ascii_letters, k=40)).encode()


def memory(pid):
    """Every readable piece of it, with its name."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            place, rights, _, _, _, *name = line.split(maxsplit=5)
            begin, end = (int(x, 16) for x in place.split("-"))
            if name and name[0].startswith(("[vvar", "[vsyscall")):
                continue
            try:
                yield (name or ["?"])[0].strip(), os.pread(mem.fileno(), end - begin, begin)
            except OSError:
                continue  # a wall


def where(pid, secret):
    """A part of it is enough: what was overwritten only half is found, too."""
    parts = [secret[i:i + 12] for i in range(0, len(secret) - 11, 4)]
    return sorted({name for name, bytes_ in memory(pid) for part in parts if part in bytes_})


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"


@contextlib.contextmanager
def stopped(a, place, *args, input=PHRASE):
    """The command, at that place; then it goes on to its end."""
    env = {"LD_PRELOAD": SHIM, "STOP_AT": place, "STOP_PATH": "session.vault"}
    p = a.popen(*args, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    p.stdin.write(input)
    p.stdin.close()
    try:
        wait_for(lambda: is_stopped(p.pid), f"it does not stop at {place}")
        yield p.pid
    finally:
        p.send_signal(signal.SIGCONT)
        told = p.stderr.read()
        p.stderr.close()
        assert p.wait() == 0, told


def keys_of(vault, *args, input=PHRASE):
    done = subprocess.run([VAULT_KEY, vault, *args], input=input, stdout=subprocess.PIPE, check=True)
    return [bytes.fromhex(line.decode()) for line in done.stdout.split()]


WITH = ("--passphrase-file", "-")
CHEAP = (*WITH, "--kdf", "interactive")


@test
def encrypt_has_the_passphrase_only_while_it_is_used():
    with Locked(AHR) as a:
        sid = a.record()
        with stopped(a, "derive", "encrypt", sid, *CHEAP) as pid:
            assert where(pid, PHRASE), "the look finds nothing"
        a.decrypt(sid, *WITH, input=PHRASE)
        with stopped(a, "exit", "encrypt", sid, *CHEAP, input=PHRASE + b"\nmore\n") as pid:
            assert a.vault(sid).exists()
            assert where(pid, PHRASE) == [], where(pid, PHRASE)
            for key in keys_of(a.vault(sid)):
                assert where(pid, key) == [], where(pid, key)


@test
def encrypt_has_the_keys_only_while_they_are_used():
    with Locked(AHR) as a:
        sid = a.run_agent()  # of several chunks: behind the last one there is another key
        with stopped(a, "write", "encrypt", sid, *CHEAP) as pid:
            vault = next(a.sessions.glob(".new-*")) / "session.vault"
            for key in keys_of(vault):
                assert where(pid, key), "the look finds nothing"
                # Whole in memory of its own, and nowhere else: not on the stack, not on the heap.
                assert [name for name, bytes_ in memory(pid) if key in bytes_] == ["?"]


@test
def decrypt_has_neither_at_its_end():
    with Locked(AHR) as a:
        sid = a.record()
        a.encrypt(sid, *CHEAP, input=PHRASE)
        keys = keys_of(a.vault(sid))
        with stopped(a, "derive", "decrypt", sid, *WITH) as pid:
            assert where(pid, PHRASE), "the look finds nothing"
        a.encrypt(sid, *CHEAP, input=PHRASE)
        keys += keys_of(a.vault(sid))
        with stopped(a, "exit", "decrypt", sid, *WITH) as pid:
            assert not a.vault(sid).exists()
            for secret in (PHRASE, *keys):
                assert where(pid, secret) == [], where(pid, secret)


@test
def a_wrong_passphrase_is_wiped_too():
    with Locked(AHR) as a:
        sid = a.record()
        a.encrypt(sid)
        a.decrypt(sid)
        a.encrypt(sid, *CHEAP, input=b"another")
        env = {"LD_PRELOAD": SHIM, "STOP_AT": "exit"}
        p = a.popen("decrypt", sid, *WITH, env=env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        p.stdin.write(PHRASE)
        p.stdin.close()
        wait_for(lambda: is_stopped(p.pid), "it does not stop")
        assert where(p.pid, PHRASE) == []
        p.send_signal(signal.SIGCONT)
        assert p.wait() == 1


@test
def what_was_typed_is_wiped_too():
    with Locked(AHR) as a:
        sid = a.record()
        for place in ("derive", "exit"):
            env = {**a.env, "LD_PRELOAD": SHIM, "STOP_AT": place}
            with OnPty([a.binary, "encrypt", sid, "--kdf", "interactive"], env=env, cwd=a.dir) as p:
                for question in (b"it is not shown", b"the passphrase again"):
                    p.read_until(question)
                    os.write(p.master, PHRASE + b"\n")
                wait_for(lambda: is_stopped(p.process.pid), "it does not stop")
                assert bool(where(p.process.pid, PHRASE)) == (place == "derive")
                p.process.send_signal(signal.SIGCONT)
                assert p.finish() == 0
            a.decrypt(sid, *WITH, input=PHRASE)


@test
def a_key_file_is_wiped_too():
    with Locked(AHR) as a:
        sid = a.run_agent()
        a.key.write_bytes(PHRASE)
        with stopped(a, "write", "encrypt", sid, "--key-file", a.key) as pid:
            vault = next(a.sessions.glob(".new-*")) / "session.vault"
            assert all(where(pid, key) for key in keys_of(vault, a.key)), "the look finds nothing"
        a.decrypt(sid)
        with stopped(a, "exit", "encrypt", sid, "--key-file", a.key) as pid:
            for secret in (PHRASE, *keys_of(a.vault(sid), a.key)):
                assert where(pid, secret) == [], where(pid, secret)


run()
