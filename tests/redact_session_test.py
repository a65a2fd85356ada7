#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redact_session_test.py -- secrets taken out of a stored session after the fact: nothing of them is left
under the home, and all else is as it was. usage: redact_session_test.py AHR [KILL_SHIM] [--sanitized]

Secrets are made up here when the tests run; none stands in this file.
"""

import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import sqlite3
import string
import subprocess
import sys
import termios
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from ahr_reader import unpack
from support.ahr import Ahr
from support.mounts import mounted, own_mounts
from support.on_pty import OnPty
from support.processes import wait_for
from support.recorder import Recorder
from support.sessions import Home, session_id
from support.tap import run, test
from support.tape import Tape

own_mounts()
AHR = sys.argv[1]
SHIM = next((str(Path(a).resolve()) for a in sys.argv[2:] if not a.startswith("--")), None)
ID = session_id("2026-01-02", "a")
ALNUM = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET = "pass" + "".join(random.Random(os.getpid()).choices(string.ascii_letters, k=16))
COLS = 40


def token():
    """As GitHub makes them, checksum and all."""
    body = "".join(random.Random(7).choices(ALNUM, k=30))
    number, digits = zlib.crc32(body.encode()), ""
    while number or len(digits) < 6:
        number, digit = divmod(number, 62)
        digits = ALNUM[digit] + digits
    return "ghp" + "_" + body + digits


class Stored(Home):
    """A home with one session in which the secret stands wherever it can."""

    def __init__(self, a, secret=SECRET):
        super().__init__(a)
        a.env["AHR_UPKEEP"] = "off"
        self.secret = secret
        half = len(secret) // 2
        coloured = "\x1b[1m".join(secret)
        tape = Tape(COLS, 10)
        tape.data(f"plain {secret} and on\r\n").snapshot(1, f"label {secret}")
        tape.data(f"{coloured}\x1b[0m and on\r\n").seal()
        tape.data("." * (COLS - half) + secret + " behind a wrap\r\n")
        tape.data(f"nothing here\r\n\x1b]0;{secret}\x07").snapshot(2, "plain")
        tape.data("the ").seal().data(secret[:5]).data(secret[5:]).seal().data(" end\r\n")
        tape.instruct(1, f"say {secret}\nand on").instruct(2, 'nothing "odd"', delivered=True).end()
        self.session = self.folder("sessions", ID)
        tape.write(self.session / "session.ahr", sessionId=ID, status="completed", name="demo",
                   cmd=["sh", "-c", f"echo {secret}"], task=f"\u00e4 \"{secret}\"", startedAtNs=5)
        (self.session / "host.log").write_text(f"told: {secret}\n")
        (self.session / "session.meta.json.bad").write_text(f'{{"task":"{secret}')
        (self.session / "notes").write_bytes(b"\x00\xff" + secret.encode() + b"\x00")
        (self.session / "keyframes").write_text(secret)
        self.cached = a.dir / "home/.cache/ahr/keyframes" / self.cache_name()
        self.cached.parent.mkdir(parents=True)
        self.cached.write_text(secret)
        a.ok("index", ID)

    def cache_name(self):
        h = 0xcbf29ce484222325
        for byte in str((self.session / "session.ahr").resolve()).encode():
            h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
        return f"{h:016x}"

    def redact(self, *texts, status=0, more=(), **env):
        """By texts on standard input."""
        done = self.ahr.run("redact", "demo", "--text-file", "-", *more, env=env,
                            input="".join(t + "\n" for t in texts or [self.secret]).encode())
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def lines(self):
        return json.loads(self.ahr.ok("export", ID, "--format", "json", "--no-redact"))

    def contents(self):
        """The files of all sessions."""
        return {str(p.relative_to(self.dir)): p.read_bytes()
                for p in sorted((self.dir / "sessions").rglob("*")) if p.is_file()}

    def opened(self):
        """The library, for reading; closed at the end, so that its disk can go."""
        return contextlib.closing(sqlite3.connect(f"file:{self.dir / 'library.db'}?mode=ro", uri=True))

    def indexed(self):
        """All that can be read from the library, unpacked."""
        with self.opened() as db:
            rows = [*db.execute("SELECT * FROM sessions"), *db.execute("SELECT * FROM moments")]
            packed = [blob for blob, in db.execute("SELECT packed FROM pieces")]
        text = repr(rows).encode()
        for blob in packed:
            at = next(i for i, byte in enumerate(blob) if byte < 0x80) + 1
            size = sum((byte & 0x7f) << 7 * i for i, byte in enumerate(blob[:at]))
            text += unpack(blob[at:], size)
        return text

    def has_no_bytes_of_it(self):
        """No file under the home holds it as it is, and nothing is left beside the session."""
        for path in self.ahr.dir.joinpath("home").rglob("*"):
            assert not path.is_file() or self.secret.encode() not in path.read_bytes(), path
        assert sorted(p.name for p in (self.dir / "sessions").iterdir()) == [ID]
        assert not list(self.dir.glob("library.db.new*"))
        log = self.dir / "library.db-wal"
        assert not log.exists() or log.stat().st_size == 0

    def is_clean(self):
        """Nor does what can be unpacked of them."""
        self.has_no_bytes_of_it()
        secret = self.secret.encode()
        shown = self.ahr.ok("cat", ID)
        assert secret not in shown and secret not in shown.replace(b"\x1b[1m", b"")
        for kind in ("json", "md", "cast", "html"):
            assert secret not in self.ahr.ok("export", ID, "--format", kind, "--no-redact"), kind
        text = self.indexed()
        assert b"nothing here" in text and secret not in text
        grams = " AND ".join(secret[i:i + 3].lower().hex() for i in range(len(secret) - 2))
        with self.opened() as db:
            assert not db.execute("SELECT rowid FROM words WHERE words MATCH ?", (grams,)).fetchall()
            # Words that are deleted lie in an older segment until all are made one; pages stay free.
            assert db.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone() <= (1,)
            assert db.execute("PRAGMA freelist_count").fetchone() == (0,)


@test
def nothing_of_a_text_is_left_under_the_home():
    with Ahr(AHR) as a:
        home = Stored(a)
        assert SECRET.encode() in home.indexed()
        said, _ = home.redact()
        assert said.startswith(f"{ID}: masked in ") and "8 files" not in said, said
        home.is_clean()
        assert a.verify(ID)["damaged"] == []
        assert home.redact() == (f"{ID}: nothing of it was found\n", "")


@test
def layout_offsets_and_anchors_are_as_they_were():
    with Ahr(AHR) as a:
        home = Stored(a)
        before, points = home.lines(), json.loads(a.ok("branch-points", ID))
        raw, checked = a.ok("cat", ID), a.verify(ID)
        home.redact()
        after, now = home.lines(), a.ok("cat", ID)
        assert len(now) == len(raw) and len(after) == len(before)
        assert [c for c in now if c == 27] == [c for c in raw if c == 27]
        for old, new in zip(before, after):
            assert {**old, "text": 0, "label": 0} == {**new, "text": 0, "label": 0}, (old, new)
            if "text" in old and "label" not in old and old.get("kind") != "instruction":
                assert len(old["text"]) == len(new["text"])
                assert all(x in (y, "*") for x, y in zip(new["text"], old["text"]))
        for old, new in zip(points["items"], json.loads(a.ok("branch-points", ID))["items"]):
            assert {k: v for k, v in old.items() if not isinstance(v, str)} == \
                {k: v for k, v in new.items() if not isinstance(v, str)}
        assert {k: v for k, v in a.verify(ID).items() if k != "file_bytes"} == \
            {k: v for k, v in checked.items() if k != "file_bytes"}
        assert "plain " + "*" * len(SECRET) + " and on" in [x.get("text") for x in after]


@test
def journals_stay_what_they_are():
    with Ahr(AHR) as a:
        home = Stored(a)
        home.redact()
        read = lambda name: (home.session / name).read_text()
        meta = json.loads(read("session.meta.json"))
        assert meta == {"version": 1, "sessionId": ID, "status": "completed", "name": "demo",
                        "cmd": ["sh", "-c", "echo [REDACTED:text]"], "startedAtNs": 5,
                        "task": "\u00e4 \"[REDACTED:text]\""}
        labels = [json.loads(line) for line in read("session.snapshots.jsonl").splitlines()]
        assert [(s["id"], s["label"]) for s in labels] == [(1, "label [REDACTED:text]"), (2, "plain")]
        said = [json.loads(line) for line in read("session.instructions.jsonl").splitlines()]
        assert [s["text"] for s in said] == ["say [REDACTED:text]\nand on", 'nothing "odd"']
        assert read("host.log") == "told: [REDACTED:text]\n"
        assert (home.session / "notes").read_bytes() == b"\x00\xff" + b"*" * len(SECRET) + b"\x00"
        assert oct((home.session / "host.log").stat().st_mode)[-3:] == "600"
        assert oct(home.session.stat().st_mode)[-3:] == "700"


@test
def what_was_masked_is_noted_and_never_what_it_was():
    with Ahr(AHR) as a:
        home = Stored(a)
        told = json.loads(home.redact("nowhere-to-be-found", SECRET, more=["--json"])[0])
        note, = (json.loads(line) for line in
                 (home.session / "session.audit.jsonl").read_text().splitlines())
        assert note["what"] == "redact" and note["by"] == "2 texts" and int(note["ts_ns"]) > 0
        assert note["masked"] == told["masked"] == sum(note["files"].values())
        assert set(note["files"]) == {"host.log", "notes", "session.ahr", "session.instructions.jsonl",
                                      "session.meta.json", "session.meta.json.bad",
                                      "session.snapshots.jsonl"}, note
        assert told["changed"] and told["by"] == "2 texts" and told["files"] == 7
        shown = a.ok("show", ID).decode()
        assert f"redacted      {note['time']}, 2 texts, {note['masked']} places\n" in shown, shown
        home.redact("nothing here")
        assert len((home.session / "session.audit.jsonl").read_text().splitlines()) == 2


@test
def a_rule_masks_what_it_finds_and_nothing_else():
    with Ahr(AHR) as a:
        home = Stored(a, token())
        before = a.ok("cat", ID)
        assert "nothing of it was found" in a.ok("redact", "demo", "--rule", "jwt").decode()
        assert a.ok("cat", ID) == before
        told = json.loads(a.ok("redact", "demo", "--rule", "github-pat", "--json"))
        assert told["by"] == "rule github-pat" and told["masked"] >= 6
        home.is_clean()
        assert b"[REDACTED:github-pat]" in (home.session / "session.meta.json").read_bytes()


@test
def what_a_mask_makes_is_masked_too():
    with Ahr(AHR) as a:
        home = Stored(a)
        made = "plain " + "*" * len(SECRET)
        home.redact(SECRET, made)
        home.is_clean()
        assert made.encode() not in a.ok("cat", ID)


@test
def what_was_typed_is_masked_too():
    with Recorder(AHR) as a:
        a.env["AHR_UPKEEP"] = "off"
        a.ok("record", "--input", "--name", "typed", "--", "cat", input=f"pw {SECRET}\n".encode())
        sid = a.session().name
        before = a.verify(sid)
        a.ok("redact", "typed", "--text-file", "-", input=SECRET.encode())
        assert a.verify(sid)["records"] == before["records"]
        shown = a.ok("export", sid, "--format", "cast", "--no-redact")
        assert SECRET.encode() not in shown and b"*" * len(SECRET) in shown
        for path in a.home.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@test
def a_text_that_is_typed_is_not_seen():
    with Ahr(AHR) as a:
        home = Stored(a)
        for keys, status in ((b"\x03", -signal.SIGINT), (SECRET.encode() + b"\n\x04", 0)):
            with OnPty([a.binary, "redact", "demo", "--text-file", "-"], env=a.env, cwd=a.dir) as p:
                p.read_until(b"Ctrl-D ends")
                assert not p.state()[3] & termios.ECHO
                os.write(p.master, keys)
                assert p.finish() == status and SECRET.encode() not in p.bytes, p.bytes
                assert p.state() == p.first_state
        assert b": masked in " in p.bytes
        home.is_clean()
        with OnPty([a.binary, "redact", "nobody", "--text-file", "-"], env=a.env, cwd=a.dir) as p:
            assert p.finish() == 3 and b"to be masked" not in p.bytes


@test
def odd_texts_do_no_harm():
    """The name of a mask, digits that stand in every stamp, a word of the format, the year."""
    with Ahr(AHR) as a:
        home = Stored(a)
        for text in ("REDACTED", "text]", "1700", "completed", "task", "2026", 'nothing "odd"'):
            home.redact(SECRET, text)
            meta = json.loads((home.session / "session.meta.json").read_text())
            assert meta["sessionId"] == ID and meta["status"] == "completed", text
            a.ok("verify", ID)
            assert len(a.ok("branch-points", ID)) > 100
        said = (home.session / "session.instructions.jsonl").read_text()
        assert "odd" not in said and [json.loads(line) for line in said.splitlines()]


@test
def a_live_session_is_refused():
    with Recorder(AHR) as a:
        a.env["AHR_UPKEEP"] = "off"
        live = a.start("record", "--name", "now", "--", "cat", stdin=subprocess.PIPE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: a.run("show", "now").returncode == 0)  # its facts come behind its folder
        assert "is being recorded; 'ahr stop" in a.fails(5, "redact", "now", "--rule", "jwt")
        live.stdin.close()
        a.ends(live, 0)
        a.ok("redact", "now", "--rule", "jwt")


@test
def what_is_asked_for_wrongly_is_told():
    with Ahr(AHR) as a:
        home = Stored(a)
        before = home.contents()
        (a.dir / "empty").write_text("\n \n")
        (a.dir / "short").write_text("long enough\nabc\n")
        asked = {
            ("demo", "--rule", "githb-pat"): (2, "did you mean 'github-pat'?"),
            ("demo", "--rule", "no such rule at all"): (2, "'ahr redact --rules' lists them"),
            ("demo", "--text-file", "empty"): (2, "there is no text to look for"),
            ("demo", "--text-file", "short"): (2, "the text in line 2 is shorter than"),
            ("demo", "--text-file", "missing"): (3, "cannot read 'missing'"),
            ("demo", "--rule", "jwt", "--text-file", "short"): (2, "not both"),
            ("demo", "--rule", "jwt", "--check"): (2, "does not go with --check"),
            ("--rule", "jwt"): (2, "which? see"),
            ("demo", "demo", "--rule", "jwt"): (2, "which one? see"),
            ("demo",): (2, "say --rule or --text-file"),
            ("nobody", "--rule", "jwt"): (3, "no session or file 'nobody'"),
            (str(home.session / "session.ahr"), "--rule", "jwt"): (2, "only sessions of the library"),
        }
        for args, (status, words) in asked.items():
            assert words in a.fails(status, "redact", *args), args
        assert home.contents() == before


@test
def two_at_once_take_turns():
    with Ahr(AHR) as a:
        home = Stored(a)
        both = [a.popen("redact", "demo", "--text-file", "-", "--json", stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE) for _ in range(2)]
        told = []
        for one in both:
            one.stdin.write(SECRET.encode())
            one.stdin.close()
        for one in both:
            told.append(json.loads(one.stdout.read()))
            assert one.wait() == 0
            one.stdout.close()
        assert sorted(t["changed"] for t in told) == [False, True]
        home.is_clean()


@test
def a_damaged_recording_is_masked_as_far_as_it_can_be_read():
    with Ahr(AHR) as a:
        home = Stored(a)
        tape = home.session / "session.ahr"
        raw = bytearray(tape.read_bytes())
        at = raw.index(b"AHRC", raw.index(b"AHRC", 1) + 1)
        raw[at - 3] ^= 1
        tape.write_bytes(raw)
        said, told = home.redact(status=4)
        assert "masked in " in said and "what could not be read of it is gone" in told
        assert a.verify(ID, 4)["damaged"]
        assert SECRET.encode() not in a.run("cat", ID).stdout
        assert home.redact()[0].endswith("nothing of it was found\n")
        tape.write_bytes(b"AHRC" + bytes(100))
        before = home.contents()
        assert "nothing of it can be masked" in home.redact(status=4)[1]
        assert home.contents() == before


@test
def scraps_that_cannot_be_read_go_and_those_that_can_are_masked():
    with Ahr(AHR) as a:
        home = Stored(a)
        whole = (home.session / "session.ahr").read_bytes()
        (home.session / "session.ahr.torn").write_bytes(whole[100:])
        (home.session / "session.ahr.kept").write_bytes(whole)
        os.mkfifo(home.session / "ipc.sock")
        said, told = home.redact()
        assert "session.ahr.torn' cannot be read, may hold anything, and is gone" in told
        assert not (home.session / "session.ahr.torn").exists()
        assert not (home.session / "ipc.sock").exists()
        home.is_clean()
        assert SECRET.encode() not in a.ok("cat", home.session / "session.ahr.kept")


@test
def what_leads_elsewhere_is_refused():
    with Ahr(AHR) as a:
        home = Stored(a)
        before = home.contents()
        (home.session / "link").symlink_to("/etc/passwd")
        assert "is a link: what it leads to is no part" in home.redact(status=1)[1]
        (home.session / "link").unlink()
        (home.session / "more").mkdir()
        assert "is a folder: what it leads to is no part" in home.redact(status=1)[1]
        (home.session / "more").rmdir()
        assert home.contents() == before
        assert [p.name for p in home.session.parent.iterdir()] == [ID]


@test
def what_was_drawn_piece_by_piece_cannot_be_masked_and_nothing_is():
    with Ahr(AHR) as a:
        home = Stored(a)
        tape = Tape(COLS, 10).data("first\r\n" + SECRET[5:].rjust(len(SECRET)) + "\r" + SECRET[:5]).data("\x1b[5;1Hmore").end()
        (home.session / "session.ahr").write_bytes(tape.bytes())
        before = home.contents()
        told = home.redact(status=1)[1]
        assert "line 2 of '" in told and "nothing was changed" in told
        assert home.contents() == before


@test
def a_library_that_cannot_be_read_comes_first():
    with Ahr(AHR) as a:
        home = Stored(a)
        before = home.contents()
        whole = (home.dir / "library.db").read_bytes()
        for path in home.dir.glob("library.db-*"):
            path.unlink()
        (home.dir / "library.db").write_bytes(b"this is no library" * 100)
        assert "say 'ahr reindex' first. Nothing was changed" in home.redact(status=4)[1]
        assert home.contents() == before
        a.ok("reindex")
        home.redact()
        home.is_clean()
        assert len(whole) > 1000


@test
def a_cache_that_is_no_folder_holds_nothing_up():
    with Ahr(AHR) as a:
        home = Stored(a)
        home.cached.unlink()
        home.redact(XDG_CACHE_HOME="/dev/null")
        home.is_clean()


@test
def what_others_have_left_is_swept_also_when_the_files_are_clean():
    with Ahr(AHR) as a:
        home = Stored(a)
        kept = a.dir / "kept"
        shutil.copytree(home.session, kept)
        shutil.copytree(home.dir, a.dir / "old")
        home.redact()
        shutil.copytree(kept, home.session.parent / f".new-{ID}")
        shutil.copytree(kept, home.session.parent / f".old-{ID}")
        for path in home.dir.glob("library.db*"):
            path.unlink()
        shutil.copy(a.dir / "old" / "library.db", home.dir / "library.db")
        shutil.copy(a.dir / "old" / "library.db", home.dir / "library.db.new")
        shutil.rmtree(a.dir / "old")
        shutil.rmtree(kept)
        assert home.redact()[0].endswith("nothing of it was found\n")
        home.is_clean()


@test
def a_reindex_is_waited_for_and_never_kept_waiting():
    with Ahr(AHR) as a:
        home = Stored(a)
        beside = os.open(home.dir / "library.db.new.lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(beside, fcntl.LOCK_EX)  # as reindex has it, from its beginning on
        redact = a.popen("redact", ID, "--text-file", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        redact.stdin.write(SECRET.encode())
        redact.stdin.close()

        def can_lock(path):
            fd = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False
            finally:
                os.close(fd)
        wait_for(lambda: not can_lock(home.session), "it does not begin")
        wait_for(lambda: can_lock(home.dir / "library.db.lock"), "reindex could not end", 20)
        assert redact.poll() is None
        os.unlink(home.dir / "library.db.new.lock")
        os.close(beside)
        with redact.stdout:
            assert redact.wait(60) == 0 and b"masked in" in redact.stdout.read()
        home.is_clean()


@test
def an_old_folder_without_a_new_one_comes_back():
    with Ahr(AHR) as a:
        home = Stored(a)
        home.session.rename(home.session.parent / f".old-{ID}")
        home.redact()
        home.is_clean()


@test
def a_full_disk_changes_nothing():
    with Ahr(AHR) as a:
        with mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
            small = a.dir / "disk"
            (small / "ahr").mkdir()
            (a.dir / "home/.local/share").mkdir(parents=True)
            (a.dir / "home/.local/share/ahr").symlink_to(small / "ahr")
            home = Stored(a)
            (home.session / "large").write_bytes(random.Random(1).randbytes(600_000))
            before = home.contents()
            told = home.redact(status=1)[1]
            assert "No space left on device" in told, told
            assert home.contents() == before
            (home.session / "large").unlink()
            home.redact()
            home.is_clean()


def killed_at(home, n, **env):
    """True when it was killed there; false when it came to its end."""
    done = home.ahr.run("redact", ID, "--text-file", "-", input=SECRET.encode(),
                        env={"LD_PRELOAD": SHIM, "KILL_AT": str(n), **env})
    assert done.returncode in (0, -signal.SIGKILL), done
    return done.returncode != 0


def kill_everywhere(step, **env):
    with Ahr(AHR) as a:
        home = Stored(a)
        shutil.copytree(home.dir, a.dir / "before")
        old = a.ok("cat", ID)
        home.redact()
        new, n = a.ok("cat", ID), 1
        while True:
            shutil.rmtree(home.dir)
            shutil.copytree(a.dir / "before", home.dir)
            was_killed = killed_at(home, n, **env)
            folders = [p for p in (home.dir / "sessions").iterdir() if not p.name.startswith(".")]
            if folders:  # else it is put back by the next who looks
                shown = a.ok("cat", ID)
                assert shown in (old, new), n
                # What the files do not have any more, the index does not have either.
                assert shown == old or SECRET.encode() not in home.indexed(), n
            done = a.run("redact", ID, "--text-file", "-", input=SECRET.encode())
            assert done.returncode == 0, (n, done)
            home.has_no_bytes_of_it()
            assert a.ok("cat", ID) == new
            if not was_killed:
                break
            n += 1 if os.environ.get("AHR_TEST_LONG") else step
        home.is_clean()
        assert n > 30
        print(f"# {n} calls")


def test_with_shim(function):
    """Preloading does not go with the sanitizers."""
    return test(function) if SHIM else function


@test_with_shim
def killed_at_any_call_it_is_there_once_and_the_next_run_ends_the_work():
    kill_everywhere(7)


@test_with_shim
def the_same_where_folders_cannot_be_exchanged_in_one_step():
    kill_everywhere(9, NO_EXCHANGE="1")


run()
