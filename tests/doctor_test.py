#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor_test.py -- `ahr doctor`: each trouble that is planted is found, the command that it names mends it,
and looking changes nothing. usage: doctor_test.py AHR"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.household import Household, start_of
from support.library import is_clear
from support.mounts import mounted, own_mounts, sh
from support.processes import wait_for
from support.sessions import GOLDEN
from support.tap import Skip, run, test

own_mounts()
AHR = sys.argv[1]


class Patient(Household):
    def __enter__(self):
        super().__enter__()
        self.env["PATH"] = f"{Path(self.binary).parent}:{self.env['PATH']}"
        self.env["LC_ALL"] = "C.UTF-8"
        return self

    def seen(self, *args, status=None, **more):
        """What doctor says, by check."""
        done = self.run("doctor", "--json", *args, **more)
        assert not done.stderr, done.stderr.decode()
        told = json.loads(done.stdout)
        assert done.returncode == (1 if told["attention"] else 0), done.returncode
        assert status is None or done.returncode == status, (status, done.stdout.decode())
        return {check["check"]: check for check in told["checks"]}

    def found(self, check, *args, grade="attention", **more):
        """The one finding of that check, as (text, command)."""
        seen = self.seen(*args, **more)[check]
        assert len(seen["findings"]) == 1 and seen["grade"] == grade, seen
        return seen["findings"][0]["text"], seen["findings"][0]["mend"]

    def mends(self, check, words, *args, answer="", grade="attention", cwd=None, **more):
        """The trouble is found and told in these words; its command makes it go away."""
        text, command = self.found(check, *args, grade=grade, **more)
        for word in words if isinstance(words, tuple) else (words,):
            assert str(word) in text, (word, text)
        done = subprocess.run(["sh", "-c", command + answer], cwd=cwd or self.dir, env=self.env, capture_output=True)
        assert done.returncode in (0, 4), (command, done.stderr.decode())
        assert self.seen(*args, **more)[check]["findings"] == [], (command, self.seen(*args, **more)[check])
        return command


def tree(folder):
    """Everything that a look must not change, times included; and what it is."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        st = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        found[str(path)] = (st.st_mode, st.st_uid, st.st_mtime_ns, st.st_ino, path.read_bytes() if is_file else None)
    return found


LOCKED, ARCHIVED = 0x21, 0x22
PACKED = f"{Household.id(ARCHIVED)}/session.turns.jsonl.gz"


def run_with_events(a, n, name):
    """A run that has an event, and a folder in the project."""
    folder = a.ran(n, name)
    turns = a.sessions / a.id(n) / "session.turns.jsonl"
    event = {"ts_ns": "1794886402140431618", "t_ms": 10, "session": a.id(n), "iteration": 1, "type": "text",
             "role": "assistant", "text": "a text " * 1000}
    turns.write_text(3 * (json.dumps(event) + "\n"))
    return folder


def in_good_order(a):
    """Two as they were recorded, one that is encrypted, and a run that is archived."""
    a.stored(1)
    a.stored(2, status="failed")
    a.stored(LOCKED)
    run_with_events(a, ARCHIVED, "put-away")
    a.ok("index", "--all")
    a.lock_away(LOCKED)
    a.ok("archive", a.id(ARCHIVED))
    assert (a.sessions / PACKED).exists() and (a.sessions / a.id(LOCKED) / "session.vault").exists()
    for path in a.home.dir.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def put(golden, path):
    shutil.copyfile(golden, path)
    path.chmod(0o600)


# -- nothing is changed, whatever there is --

@test
def what_is_in_order_needs_no_attention():
    with Patient(AHR) as a:
        in_good_order(a)
        for args in ((), ("--deep",)):
            seen = a.seen(*args, status=0)
            assert {c["grade"] for name, c in seen.items() if name != "environment"} == {"ok"}, seen
        text = a.ok("doctor").decode()
        assert all(line.startswith(("✓ ", "! ", "    ")) for line in text.splitlines()), text
        for name in ("Brotli", "Jansson", "libsodium", "libuv", "PCRE2", "SQLite", "utf8proc", "Vectorscan", "zlib", "git",
                     "Linux"):
            version = text.partition(name + " ")[2].split()[0]
            assert version[0].isdigit() and "." in version, (name, version)
        assert sqlite3.sqlite_version.split(".")[0] + "." in text


@test
def looking_leaves_no_trace_in_any_state():
    with Patient(AHR) as a, a.going_on(9):
        in_good_order(a)
        a.ran(3, "dead", metadata={"status": "active", "pid": 999999, "pid_start": 1})
        (a.stored(4, kind="live", status="active") / "lock").touch()
        (a.sessions / (".gone-" + a.id(5))).mkdir()
        (a.sessions / (".old-" + a.id(6))).mkdir()
        (a.sessions / a.id(7)).symlink_to("/etc")
        (a.home.dir / "damaged" / a.id(8)).mkdir(parents=True)
        a.configure("nonsense\n")
        for is_writing in (False, True):
            before = tree(a.dir)
            for args in ((), ("--deep",), ("--json", "--deep")):
                assert a.run("doctor", *args).returncode == 1
            after = tree(a.dir)
            assert after == before, [p for p in {**after, **before} if after.get(p) != before.get(p)]
            if not is_writing:  # and with a log beside the index, as a killed one leaves it
                db = sqlite3.connect(a.home.dir / "library.db")
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("DELETE FROM sessions WHERE id = ?", (a.id(2),))
                db.commit()
                wal = (a.home.dir / "library.db-wal").read_bytes()
                db.close()
                (a.home.dir / "library.db-wal").write_bytes(wal)
                assert wal


@test
def the_index_is_read_with_the_log_beside_it():
    with Patient(AHR) as a:
        in_good_order(a)
        db = sqlite3.connect(a.home.dir / "library.db")
        db.execute("DELETE FROM sessions WHERE id = ?", (a.id(2),))
        db.commit()
        assert (a.home.dir / "library.db-wal").stat().st_size
        text, command = a.found("index", grade="note")
        db.close()
        assert text.startswith("1 of 3 stored sessions") and command == "ahr index --all", text


# -- the home --

@test
def no_home_at_all_is_fine():
    with Patient(AHR) as a:
        assert "not there yet" in a.seen("--deep", status=0)["home"]["text"]
        assert not a.home.dir.exists() and not a.home.dir.parent.exists()
        seen = a.run("doctor", env={"HOME": "", "AHR_HOME": "/nowhere/at/all"})
        assert seen.returncode == 0, seen


@test
def a_home_that_is_a_file_can_be_moved_away():
    with Patient(AHR) as a:
        a.home.dir.parent.mkdir(parents=True)
        a.home.dir.write_text("a file")
        a.mends("home", "is a file, and should be a folder")
        assert "set AHR_HOME" in a.found("home", env={"AHR_HOME": f"{a.home.dir}.file/below"})[0]


@test
def what_others_could_read_is_closed_to_them():
    for mode, pick in ((0o755, "."), (0o750, "sessions"), (0o711, f"sessions/{Household.id(1)}"),
                       (0o644, f"sessions/{Household.id(1)}/session.ahr"), (0o640, "library.db"), (0o000, "sessions")):
        with Patient(AHR) as a:
            in_good_order(a)
            (a.home.dir / pick).chmod(mode)
            a.mends("home", (a.home.dir / pick, "others could read" if mode & 0o77 else "you may not read"))
            assert (a.home.dir / pick).stat().st_mode & 0o777 in (0o600, 0o700)


@test
def a_home_behind_a_link_is_looked_at():
    with Patient(AHR) as a:
        in_good_order(a)
        there = a.dir / "elsewhere"
        a.home.dir.rename(there)
        a.home.dir.symlink_to(there)
        (there / f"sessions/{a.id(1)}/session.ahr").chmod(0o644)
        a.mends("home", f"sessions/{a.id(1)}/session.ahr")
        assert there.is_dir() and a.home.dir.is_symlink()


@test
def what_belongs_to_another_is_found():
    if os.geteuid():
        raise Skip("giving a file away needs root")
    with Patient(AHR) as a:
        in_good_order(a)
        os.chown(a.sessions / a.id(1) / "session.ahr", 65534, 65534)
        a.mends("home", (a.sessions / a.id(1) / "session.ahr", "not yours"))


@test
def a_disk_that_cannot_be_written_is_looked_at_all_the_same():
    with Patient(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "tmpfs"):
        in_good_order(a)
        shutil.copytree(a.home.dir, a.dir / "disk" / "ahr")
        assert sh("mount", "-o", "remount,ro", a.dir / "disk").returncode == 0
        for args in ((), ("--deep",)):
            text, command = a.found("home", *args, env={"AHR_HOME": str(a.dir / "disk" / "ahr")})
            assert "cannot be written to" in text and command is None
            assert a.seen(*args, env={"AHR_HOME": str(a.dir / "disk" / "ahr")})["index"]["grade"] == "ok"


@test
def a_home_that_nobody_may_read_is_told():
    if os.geteuid():
        raise Skip("being another user needs root")
    with Patient(AHR) as a:
        in_good_order(a)
        a.dir.chmod(0o711)
        a.home.dir.chmod(0o700)
        for path in (a.dir / "home", *a.home.dir.parents):
            if str(path).startswith(str(a.dir)):
                path.chmod(0o755)
        copy = Path("/tmp") / f"ahr-{os.getpid()}"
        shutil.copy(a.binary, copy)
        try:
            done = subprocess.run([copy, "doctor", "--json"], cwd="/", capture_output=True,
                                  env={"AHR_HOME": str(a.home.dir), "PATH": "/usr/bin:/bin", "HOME": "/"},
                                  user=65534, group=65534)
        finally:
            copy.unlink()
        told = json.loads(done.stdout)
        assert done.returncode == 1 and told["attention"], done
        texts = " ".join(f["text"] for c in told["checks"] for f in c["findings"])
        assert "Permission denied" in texts or "not yours" in texts, texts


# -- live ones --

@test
def one_whose_recorder_has_vanished_would_be_recovered():
    with Patient(AHR) as a:
        a.home.add_cut_off(a.id(1))
        assert a.mends("live", (a.id(1), "would be recovered")) == "ahr recover --all"
        assert a.names() == {1}


@test
def a_recorder_whose_socket_is_gone_is_named_and_nothing_is_killed():
    with Patient(AHR) as a:
        recorder = a.popen("run", "--dir", a.dir, "--", "sh", "-c", "read x", stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def socket():
            noted = [Path(p.read_text().strip()) for p in a.live.glob("*/sockets")]
            return [s for d in [*noted, *a.live.glob("2*")] for s in d.glob("ctl.sock")]
        wait_for(socket, "a socket")
        wait_for(lambda: a.run("doctor").returncode == 0, lambda: a.run("doctor").stdout.decode())
        for path in socket():
            path.unlink()
        text, command = a.found("live")
        assert f"by process {recorder.pid}" in text and command == f"kill {recorder.pid}", (text, recorder.pid)
        assert recorder.poll() is None
        subprocess.run(["sh", "-c", command], check=True)
        assert recorder.wait(30) == 128 + signal.SIGTERM
        recorder.stdin.close()
        assert a.seen(status=0)["live"]["findings"] == []
        assert json.loads(a.ok("list", "--json"))[0]["status"] == "aborted"


@test
def what_is_no_folder_is_no_session():
    for kind, check in (("live", "live"), ("sessions", "sessions")):
        with Patient(AHR) as a:
            in_good_order(a)
            a.live.mkdir(exist_ok=True, mode=0o700)
            (a.home.dir / kind / a.id(7)).symlink_to(a.dir)
            a.mends(check, ("is a link", a.id(7)))
            assert a.dir.exists()


# -- stored ones --

@test
def a_meta_that_tells_nothing_is_made_anew():
    for text in ("", "{", "[]", "{}", '{"status": 7}', None):
        with Patient(AHR) as a:
            in_good_order(a)
            meta = a.sessions / a.id(1) / "session.meta.json"
            meta.write_text(text) if text is not None else meta.unlink()
            before = a.ok("cat", a.id(1))
            a.mends("sessions", f"what session {a.id(1)} is cannot be read")
            assert json.loads(meta.read_text())["status"] == "interrupted" and a.ok("cat", a.id(1)) == before
            assert {s["id"] for s in json.loads(a.ok("list", "--json"))} == \
                {a.id(n) for n in (1, 2, LOCKED, ARCHIVED)}


@test
def a_recording_that_was_not_sealed_or_is_none_is_found():
    with Patient(AHR) as a:
        in_good_order(a)
        folder = a.sessions / a.id(1)
        for piece in GOLDEN.glob("tails.ahr*"):
            put(piece, folder / piece.name.replace("tails", "session"))
        a.mends("sessions", (a.id(1), "was not sealed"))
        (folder / "session.ahr").write_bytes(b"this is no recording at all")
        text, command = a.found("sessions")
        assert "does not begin as one" in text and command == f"ahr recover {a.id(1)}"
        a.run(*command.split()[1:])  # it is set aside, which is told as well
        text, command = a.found("sessions")
        assert command.startswith("rm -r '") and "nothing of" in text
        a.mends("sessions", f"damaged/{a.id(1)}")
        (a.sessions / a.id(2) / "session.ahr").write_bytes(b"")
        a.mends("sessions", "has an empty recording", answer=" --yes")


@test
def one_that_does_not_end_with_a_block_is_torn():
    for args in ((), ("--deep",)):
        for cut_off in (1, 20, 50):
            with Patient(AHR) as a:
                in_good_order(a)
                tape = a.sessions / a.id(1) / "session.ahr"
                data = (GOLDEN / "all-tags.ahr").read_bytes()
                put(GOLDEN / "all-tags.ahr", tape)
                assert a.seen(*args, status=0)["sessions"]["grade"] == "ok"
                tape.write_bytes(data[:-cut_off])
                a.mends("sessions", (a.id(1), "is torn"), *args)


@test
def one_of_a_newer_ahr_is_not_taken_for_torn():
    with Patient(AHR) as a:
        in_good_order(a)
        data = bytearray((GOLDEN / "all-tags.ahr").read_bytes())
        data[4] = 2
        (a.sessions / a.id(1) / "session.ahr").write_bytes(data)
        assert a.seen(status=0)["sessions"]["grade"] == "ok"


@test
def only_a_deep_look_finds_what_is_damaged_inside():
    with Patient(AHR) as a:
        in_good_order(a)
        tape = a.sessions / a.id(1) / "session.ahr"
        put(GOLDEN / "flipped-payload.ahr", tape)
        assert a.seen(status=0)["sessions"]["grade"] == "ok"
        text, command = a.found("sessions", "--deep")
        assert f"'ahr verify {a.id(1)}' names the places" in text and command is None, text
        a.fails(4, "verify", a.id(1))


def cut(path):
    path.write_bytes(path.read_bytes()[:-12])


@test
def a_vault_that_is_none_is_told_and_nobody_is_led_to_delete_it():
    for harm in (lambda v: v.write_bytes(b""), lambda v: v.write_bytes(v.read_bytes()[:50]),
                 lambda v: spoil(v, 40, b"\x99\x98\x97")):
        with Patient(AHR) as a:
            in_good_order(a)
            harm(a.sessions / a.id(LOCKED) / "session.vault")
            for args in ((), ("--deep",)):
                text, command = a.found("sessions", *args)
                assert f"session {a.id(LOCKED)} is encrypted, and its vault cannot be opened" in text, text
                assert command is None, command


@test
def what_a_run_has_besides_its_recording_is_looked_at():
    with Patient(AHR) as a:
        in_good_order(a)
        turns, folder = a.sessions / PACKED, a.project / ".ahr" / "sessions" / "put-away"
        undo = f"ahr archive --undo {a.id(ARCHIVED)}"
        whole = turns.read_bytes()
        cut(turns)
        assert a.seen(status=0)["sessions"]["grade"] == "ok"
        text, command = a.found("sessions", "--deep")
        assert str(turns) in text and command == undo, (text, command)
        turns.write_bytes(whole)
        cut(folder / "io.log.gz")
        assert a.seen(status=0)["sessions"]["grade"] == "ok"
        text, command = a.found("sessions", "--deep")
        assert str(folder / "io.log.gz") in text and command == undo, (text, command)
        a.fails(4, *command.split()[1:])  # what can be read is unpacked
        assert a.seen("--deep", status=0)["sessions"]["findings"] == []
        with open(turns.with_suffix(""), "a") as file:
            file.write("no event\n")
        assert a.seen(status=0)["sessions"]["grade"] == "ok"
        text, command = a.found("sessions", "--deep")
        assert f"'ahr verify {a.id(ARCHIVED)}' names them" in text and command is None, text
        a.fails(4, "verify", a.id(ARCHIVED))


@test
def a_run_of_which_the_project_tells_nothing_is_found():
    for text in ("", "{", None):
        with Patient(AHR) as a:
            in_good_order(a)
            metadata = a.project / ".ahr" / "sessions" / "put-away" / "metadata.json"
            metadata.write_text(text) if text is not None else metadata.unlink()
            text, command = a.found("sessions")
            assert a.id(ARCHIVED) in text and str(metadata) in text and command is None, text


# -- what killed commands leave --

@test
def what_killed_commands_have_left_is_found():
    for prefix in (".gone-", ".old-", ".new-"):
        with Patient(AHR) as a:
            in_good_order(a)
            left = a.sessions / (prefix + a.id(7))
            shutil.copytree(a.sessions / a.id(1), left)
            lock = os.open(left, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert a.seen(status=0)["leftovers"]["text"] == "0"  # somebody is at it
            os.close(lock)
            a.mends("leftovers", left)
            assert not left.exists()
    with Patient(AHR) as a:
        in_good_order(a)
        left = a.live / (".new-" + a.id(7))
        left.mkdir(parents=True)
        a.live.chmod(0o700), left.chmod(0o700)
        assert a.seen(status=0)["leftovers"]["text"] == "0"  # it may just be made
        os.utime(left, (1, 1))
        a.mends("leftovers", left)


# -- the index --

def spoil(path, at, byte):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(byte)


@test
def an_index_that_cannot_be_used_is_made_anew():
    for harm, words in ((lambda db: db.write_bytes(b"no database " * 1000), "library.db"),
                        (lambda db: spoil(db, 60, b"\x7f"), "newer ahr"),
                        (lambda db: spoil(db, 68, b"\x01"), "no library of ahr"),
                        (lambda db: db.write_bytes(db.read_bytes()[:-100]), "ends inside of a page")):
        with Patient(AHR) as a:
            in_good_order(a)
            db = a.home.dir / "library.db"
            harm(db)
            is_clear("\n".join("ahr " + f["text"] for f in a.seen()["index"]["findings"]))
            assert a.mends("index", words) == "ahr reindex"


@test
def pages_that_do_not_fit_are_found_by_a_deep_look():
    with Patient(AHR) as a:
        in_good_order(a)
        db = a.home.dir / "library.db"
        with sqlite3.connect(db) as c:
            c.execute("PRAGMA writable_schema = ON")
            c.execute("INSERT INTO pieces (place, packed) VALUES (77 << 20, x'00')")
        c.close()
        a.mends("index", "text of a session that it does not know", "--deep")


@test
def what_is_not_in_the_index_yet_is_a_note():
    with Patient(AHR) as a:
        a.stored(1)
        a.mends("index", "there is no", grade="note")
        a.stored(2)
        for path in (a.sessions / a.id(2)).iterdir():
            path.chmod(0o600)
        a.mends("index", "1 of 2 stored sessions are not in it yet", grade="note")


# -- the project around --

@test
def a_run_that_says_it_is_active_and_is_dead_is_found():
    with Patient(AHR) as a:
        folder = a.run_folder(1, "dead", status="active", pid=os.getpid(), pid_start=1)
        (a.project / "below").mkdir()
        assert a.seen(status=0)["project"]["findings"] == []  # not here
        here = {"cwd": a.project / "below"}
        done = subprocess.run([a.binary, "doctor", "--json"], env=a.env, capture_output=True, **here)
        project = next(c for c in json.loads(done.stdout)["checks"] if c["check"] == "project")
        assert done.returncode == 1 and str(folder) in project["findings"][0]["text"], project
        subprocess.run(["sh", "-c", project["findings"][0]["mend"]], env=a.env, check=True, capture_output=True, **here)
        done = subprocess.run([a.binary, "doctor"], env=a.env, capture_output=True, **here)
        assert done.returncode == 0, done.stdout.decode()
        assert json.loads((folder / "metadata.json").read_text())["status"] == "interrupted"


@test
def what_a_killed_clean_has_left_in_the_project_is_found():
    with Patient(AHR) as a:
        left = a.run_folder(1, ".gone-" + a.id(1))
        (a.dir / ".ahr").symlink_to(a.project / ".ahr")
        assert a.seen(status=0)["project"]["findings"] == []  # no link is followed
        (a.dir / ".ahr").unlink()
        (a.project / ".ahr").rename(a.dir / ".ahr")
        a.mends("project", ".gone-" + a.id(1))
        assert not left.exists() and (a.dir / ".ahr" / "sessions").exists()


@test
def a_name_that_is_kept_for_a_deleted_session_is_found():
    with Patient(AHR) as a:
        folder = a.ran(1, "locked")
        a.lock_away(1)
        here = {"cwd": a.project, "env": a.env}
        def looked():
            done = subprocess.run([a.binary, "doctor", "--json"], capture_output=True, **here)
            return next(c for c in json.loads(done.stdout)["checks"] if c["check"] == "project")["findings"]
        assert looked() == []
        a.ok("delete", "--yes", a.id(1))  # from elsewhere
        found, = looked()
        assert found["grade"] == "note" and str(folder) in found["text"], found
        subprocess.run(["sh", "-c", found["mend"]], check=True, **here)
        assert looked() == [] and not folder.exists() and folder.parent.exists()


@test
def a_run_whose_process_lives_is_not_dead():
    with Patient(AHR) as a:
        folder = a.run_folder(1, "alive", status="active", pid=os.getpid(), pid_start=start_of(os.getpid()))
        done = subprocess.run([a.binary, "doctor"], env=a.env, capture_output=True, cwd=folder)
        assert done.returncode == 0 and b"process %d is still at the run" % os.getpid() in done.stdout, done.stdout


# -- the rest --

@test
def what_is_wrong_in_the_config_file_is_named_by_its_line():
    for line, words in (("nonsense", "not of the form"), ("no-such-option = 1", "no command has an option"),
                        ("list.no-such = 1", "no such option"), ("nobody.limit = 1", "no command has an option"),
                        ("list.limit = many", "must be a number"), ("upkeep = maybe", "must be one of"),
                        ("retention.failed = soon", "retention.failed"), ("limit = -3", "must be a number")):
        with Patient(AHR) as a:
            a.configure(f"# fine\nlist.limit = 3\nretention.completed = 90d\n\n{line}\nfs list.json = no\n")
            command = a.mends("config", (f"{a.config}:5:", words))
            assert command.startswith("sed -i '5s/^/# /'")
            assert a.seen(status=0)["config"]["text"] == "3 lines in the config file"


@test
def a_variable_that_no_command_can_take_is_named():
    with Patient(AHR) as a:
        text, command = a.found("config", env={"AHR_LIMIT": "many"})
        assert "AHR_LIMIT must be a number" in text and command == "unset AHR_LIMIT"
        assert a.seen(env={"AHR_LIMIT": "5"}, status=0)["config"]["grade"] == "ok"


@test
def where_sockets_are_is_told():
    with Patient(AHR) as a:
        deep = a.dir / ("x" * 100)
        told = a.seen(env={"AHR_HOME": str(deep)}, status=0)["environment"]
        assert told["grade"] == "note" and "'/tmp'" in told["findings"][0]["text"], told
        told = a.seen(env={"AHR_HOME": str(deep), "TMPDIR": "/nowhere"}, status=1)["environment"]
        assert "shorter" in told["findings"][0]["text"]
        text, command = a.found("environment", grade="note", env={"AHR_HOME": "/tmp/x", "XDG_RUNTIME_DIR": "/nowhere"})
        assert "no folder of yours" in text and command == "unset XDG_RUNTIME_DIR"
        text, command = a.found("environment", grade="note", env={"AHR_HOME": "/tmp/x", "XDG_DATA_HOME": "here"})
        assert "is ignored" in text and command == "unset XDG_DATA_HOME"


@test
def a_disk_that_is_nearly_full_can_be_cleaned():
    with Patient(AHR) as a, mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=100m", "tmpfs"):
        a.stored(1)
        home = a.dir / "disk" / "ahr"
        shutil.copytree(a.home.dir, home)
        (home / "sessions" / a.id(1) / "large").write_bytes(bytes(60_000_000))
        a.env["AHR_HOME"] = str(home)
        text, command = a.found("disk")
        assert "little room for sessions" in text, text
        a.ok(*command.split()[1:], "--yes")
        told = a.seen(status=0)["disk"]
        assert told["grade"] == "note", told  # more than nothing, and still not much


@test
def agents_are_found_and_never_run():
    with Patient(AHR) as a:
        tools = a.dir / "tools"
        tools.mkdir()
        for name in ("claude", "gemini"):
            (tools / name).write_text(f"#!/bin/sh\ntouch {a.dir}/ran\n")
            (tools / name).chmod(0o755)
        (tools / "codex").write_text("not executable")
        (tools / "opencode").mkdir()
        told = a.seen(env={"PATH": f"/nowhere:{tools}:/usr/bin"}, status=0)["agents"]
        assert told["text"] == f"{tools}/claude, {tools}/gemini", told
        assert not (a.dir / "ran").exists()
        assert "none of claude" in a.seen(env={"PATH": "/nowhere"}, status=0)["agents"]["text"]
        assert a.seen(env={"PATH": "/nowhere"})["versions"]["grade"] == "note"  # no git


@test
def without_utf_8_it_prints_ascii():
    with Patient(AHR) as a:
        in_good_order(a)
        (a.sessions / a.id(7)).symlink_to("/etc\x1b[31m")
        done = a.run("doctor", env={"LC_ALL": "C"})
        lines = done.stdout.decode("ascii").splitlines()
        assert done.returncode == 1 and {line[:2] for line in lines if line[:1] != " "} <= {"ok", "! ", "x "}, lines


run()
