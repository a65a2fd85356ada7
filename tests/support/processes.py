# SPDX-License-Identifier: MIT
"""processes.py -- what /proc says about processes, and waiting for a condition."""

import contextlib
import os
import signal
import time

PATIENCE = 60  # seconds; only what is broken waits so long


def wait_for(condition, what="waited in vain", seconds=PATIENCE):
    """Waits until condition() is true, and returns what it gave."""
    deadline = time.monotonic() + seconds
    pause = 0.0005
    while not (found := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    return found


def stat(pid):
    """The fields of /proc/PID/stat from the state on; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def state(pid):
    """'R', 'S', 'T', 'Z' …; None when it is gone."""
    fields = stat(pid)
    return fields[0].decode() if fields else None


def has_heard(pid):
    """Signals that were sent to it have been handled: it waits again, and none is pending."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        pending = [line.split()[1] for line in file if line.startswith(("SigPnd", "ShdPnd"))]
    return state(pid) == "S" and not any(int(mask, 16) for mask in pending)


def times_slept(pid):
    """How often it has waited for something, of its own will."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))


def is_quiet(pid):
    """It does nothing for a moment."""
    before = stat(pid)[11:13]
    time.sleep(0.1)
    return stat(pid)[11:13] == before


def is_gone(pid):
    """All its threads have ended, and so its files are closed."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return all(state(f"{pid}/task/{thread}") in (None, "Z", "X") for thread in threads)


def is_in_foreground(pid):
    """Does its process group have its terminal?"""
    fields = stat(pid)
    return bool(fields) and fields[2] == fields[5]


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    """The living children of a process."""
    found = []
    for other in pids():
        fields = stat(other)
        if fields and int(fields[1]) == pid and fields[0] not in (b"Z", b"X"):
            found.append(other)
    return found


def command(pid):
    """The name of what it runs; None when it is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return None


def open_files(pid):
    """The paths of what it has open just now; none when it is gone."""
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    except OSError:
        pass
    return found


def with_home(home, with_doubtful=False):
    """The living processes that were started with this HOME, whoever their parent is by now. One
    that is just beginning or dying has no environment, though its files may be open: with_doubtful,
    an ahr in that state is taken for one of them."""
    needle = b"\0HOME=" + os.fsencode(home) + b"\0"
    found = []
    for pid in pids():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
        except ProcessLookupError:  # it is dying; older kernels give nothing to read
            environment = b""
        except OSError:
            continue
        is_ours = needle in b"\0" + environment + b"\0" or (
            with_doubtful and not environment and command(pid) in ("ahr", "exe"))
        if is_ours and not is_gone(pid):
            found.append(pid)
    return found


def describe(some):
    return ", ".join(f"{pid} {command(pid)} ({state(pid)})" for pid in some)


def kill(pid, number=signal.SIGKILL):
    """A signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
