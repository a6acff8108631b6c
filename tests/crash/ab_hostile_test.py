#!/usr/bin/env python3
"""Lets `culprit ab` meet a hostile server (tests/fakes/hostile.py).

    ab_hostile_test.py --culprit build/debug/culprit

Whatever the server prints or answers: nothing of it is run, what culprit prints cannot disturb a
terminal, trial.json stays JSON, and memory stays bounded.
"""
import json
import pathlib
import re
import sys
import threading
import time

sys.dont_write_bytecode = True
from ab_world import DONE, INVALID, AbTest  # noqa: E402
from world import FAKES, OPTIONS, main  # noqa: E402

sys.path.append(str(FAKES))
import hostile  # noqa: E402

MOST_MEMORY_MIB = 400
SANITIZER = 3  # so many times the memory of a plain build
# What base::Printable makes of hostile.ESCAPES.
ESCAPED = r"\x1b[2J\x1b[31m\x1b]0;owned\x07\x9b31m\u{202e}"
FORMATS = ("terminal", "json", "csv", "markdown", "github")


class PeakMemory(threading.Thread):
    """Looks at the most memory that a process has had, until it ends."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status, self.mib = pathlib.Path(f"/proc/{pid}/status"), 0
        self.start()

    def run(self):
        while True:
            try:
                found = re.search(r"VmHWM:\s+(\d+) kB", self.status.read_text())
            except OSError:
                return
            if not found:  # a zombie has none
                return
            self.mib = int(found[1]) / 1024
            time.sleep(0.005)


class Hostile(AbTest):
    peak_mib = 0

    @classmethod
    def tearDownClass(cls):
        print(f"at most {cls.peak_mib:.0f} MiB of memory", file=sys.stderr)

    def watched(self, run):
        """As ended(), for a process whose memory stays bounded."""
        memory = PeakMemory(run.pid)
        ended = self.ended(run)
        memory.join()
        Hostile.peak_mib = max(Hostile.peak_mib, memory.mib)
        sanitized = b"__asan_init" in pathlib.Path(OPTIONS.culprit).read_bytes()
        self.assertLess(memory.mib, MOST_MEMORY_MIB * (SANITIZER if sanitized else 1))
        return ended

    def assert_printable(self, text):
        found = {character for character in text
                 if not character.isprintable() and character not in "\n"}
        self.assertEqual(found, set(), text[:2000])
        self.assertLess(len(text), 100_000)

    def meet(self, fault, where="b"):
        """An experiment with a hostile server; returns its exit code and what it said."""
        world = self.world()
        ended, out, said = self.watched(world.ab(**{where: f"|env=FAKE_FAULT={fault}"}))
        for text in (out, said):
            self.assert_printable(text)
        for name in FORMATS:
            code, out, complaint = self.watched(
                world.culprit("summarize", str(world.run_folder), "--format", name))
            self.assertIn(code, (DONE, INVALID), complaint)
            self.assert_printable(out)
            self.assert_printable(complaint)
            if name == "json" and out:
                json.loads(out)
        for trial in world.trials():
            self.assertLess(len(json.dumps(trial)), 100_000)
        self.assertEqual(list(world.path.rglob("owned")), [])
        self.assertEqual(list(FAKES.glob("owned")), [])
        self.assert_as_before(world)
        return ended, said

    def test_a_log(self):
        code, _ = self.meet("hostile-log")
        self.assertEqual(code, DONE)

    def test_properties(self):
        code, _ = self.meet("hostile-props")
        self.assertEqual(code, DONE)

    def test_a_text(self):
        code, _ = self.meet("hostile-text")
        self.assertEqual(code, DONE)

    def test_what_ends_an_experiment(self):
        for fault, why in (
                ("hostile-death", "llama-server left before it was healthy (killed by signal 6): "
                                  f"/x.cpp:1: GGML_ASSERT({ESCAPED}"),
                ("hostile-error", f"llama-server says: {ESCAPED}\\x0d\\x0a\\x09\\x00{hostile.SHELL}"),
                ("hostile-event", "an event of the stream is longer than 16 MiB"),
                ("hostile-stream", "the answer is longer than 67108864 bytes"),
                ("hostile-json", "llama-server streamed what is no JSON: [[[[")):
            with self.subTest(fault=fault):
                code, said = self.meet(fault)
                self.assertEqual(code, INVALID)
                self.assertIn(why, said)

    def test_while_calibrating(self):
        for fault, expected in (("hostile-props", DONE), ("hostile-log", DONE),
                                ("hostile-error", INVALID)):
            with self.subTest(fault=fault):
                code, _ = self.meet(fault, where="a")
                self.assertEqual(code, expected)


if __name__ == "__main__":
    main("culprit")
