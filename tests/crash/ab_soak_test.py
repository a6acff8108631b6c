#!/usr/bin/env python3
"""Runs `culprit ab` over and over with servers that fail at random, and looks at what is left.

    ab_soak_test.py --culprit build/debug/culprit [--seed N]

40 trials, with CULPRIT_LONG_TESTS 200. Most faults end an experiment, so there are many of them, each
with two variants whose servers have a fault drawn at random, always or in one start only.
"""
import collections
import os
import random
import sys

sys.dont_write_bytecode = True
from ab_world import DONE, ENVIRONMENT, INVALID, AbTest  # noqa: E402
from world import OPTIONS, main  # noqa: E402

TRIALS = 200 if os.environ.get("CULPRIT_LONG_TESTS") else 40
FAULTS = ["", "", "", "", "ignore-term", "spawn-child", "die-loading", "die-request", "hang-request",
          "hang-load", "garbage-sse", "error-json", "error-event", "stop-early",
          "wrong-prompt-count", "cached", "wrong-model", "hostile-log"]
LIMITS = """
[machine]
stop_timeout_s = 1
load_timeout_s = 3
request_timeout_s = 3
"""


class Soak(AbTest):
    def variant(self, choose, world, number, label):
        """The words that give a variant's servers a fault, and the fault."""
        fault = choose.choice(FAULTS)
        words = f"|env=FAKE_FAULT={fault}" if fault else ""
        if fault and choose.random() < 0.5:
            words += f"|env=FAKE_FAULT_ONCE={world.path}/once-{number}-{label}"
        return words, fault

    def test_leaves_nothing(self):
        choose, world = random.Random(OPTIONS.seed), self.world()
        (world.path / "limits.toml").write_text(LIMITS)
        counts, codes, trials, number = collections.Counter(), collections.Counter(), 0, 0
        while trials < TRIALS:
            number += 1
            world.run_folder = world.path / f"run-{number}"
            (a, a_fault), (b, b_fault) = (self.variant(choose, world, number, label)
                                          for label in "ab")
            code, out, said = self.ended(world.ab("--seed", str(number),
                                                  str(world.path / "limits.toml"), a=a, b=b))
            with self.subTest(experiment=number, a=a, b=b):
                codes[code] += 1
                # 5 is an answer only where the calibration could not be made.
                self.assertIn(code, (DONE, INVALID, ENVIRONMENT), said)
                self.assertTrue(code == DONE or "culprit: " in said, said)
                self.assertNotIn("NOT RESTORED", said)
                self.assert_as_before(world)
                self.assert_readable(world)
            kept = world.trials()
            trials += len(kept)
            for trial in kept:
                fault = a_fault if trial["variant"] == "a" else b_fault
                ids = ", ".join(sorted({o["id"] for o in trial["objections"]})) or "valid"
                counts[f"{fault or 'no fault'}: {ids}"] += 1
        self.assertEqual(sorted(path.name for path in world.state_folder.iterdir()),
                         ["guardian.log", "hashes.json"])
        print(f"{number} experiments, {trials} trials, exit codes {dict(codes)}", file=sys.stderr)
        for what, count in sorted(counts.items()):
            print(f"  {count:4}  {what}", file=sys.stderr)


if __name__ == "__main__":
    main("culprit", seed=1)
