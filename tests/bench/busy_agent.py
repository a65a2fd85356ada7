#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""busy_agent.py -- an agent that works in bursts, and how long each of its steps takes.

usage: busy_agent.py DIR BURSTS OUT

A step writes a file in DIR, reads it and says so on the terminal. The pauses are just so long that an automatic
snapshot begins with the next burst, if one is taken after a second of rest. OUT: {"step_us": […], "steps_per_s": N}.
"""

import json
import os
import sys
import time

BURST_S = 1.5
PAUSE_S = 1.05
FILES = 200


def step(path, text):
    with open(path, "wb", buffering=0) as file:
        file.write(text)
    with open(path, "rb", buffering=0) as file:
        file.read()
    os.write(1, b"  edited %s\r\n" % os.fsencode(path))


def burst(folder, number, took):
    end = time.monotonic() + BURST_S
    while (begin := time.monotonic()) < end:
        step(f"{folder}/by_agent_{len(took) % FILES}.c", b"%d of burst %d\n" % (len(took), number) * 200)
        took.append((time.monotonic() - begin) * 1e6)


def main(folder, bursts, out):
    took, busy_s = [], 0
    for number in range(int(bursts)):
        begin = time.monotonic()
        burst(folder, number, took)
        busy_s += time.monotonic() - begin
        time.sleep(PAUSE_S)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"step_us": took, "steps_per_s": len(took) / busy_s}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
