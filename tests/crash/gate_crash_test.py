#!/usr/bin/env python3
"""Kills `culprit ab` all along its correctness gate and what comes after, and looks at what is left.

    gate_crash_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

As ab_crash_test.py, but the fakes tell probabilities, and their answers are compared before any speed
is measured. Whatever is killed, the run can be gone on with, and then it has the whole gate.
"""
import json
import sys

sys.dont_write_bytecode = True
from ab_crash_test import KilledAllAlong  # noqa: E402
from ab_world import DONE, INVALID, AbTest, AbWorld  # noqa: E402
from world import main, wait_until  # noqa: E402

GATE_FAILED = 4
POSITIONS = 6


class GateWorld(AbWorld):
    GATE = ["--positions", str(POSITIONS), "--gate-prompts", "20,40"]

    def __init__(self):
        super().__init__()
        self.environment |= {"FAKE_VOCABULARY": "64"}

    def gate(self):
        try:
            return json.loads((self.run_folder / "gate.json").read_text())
        except FileNotFoundError:
            return None


class GateTest(AbTest):
    WORLD = GateWorld

    def assert_as_before(self, world):
        super().assert_as_before(world)
        self.assertEqual(list(world.run_folder.glob("gate/*.positions")), [])

    def assert_completed(self, world):
        super().assert_completed(world)
        probes = world.gate()["probes"]
        self.assertEqual([probe["prompt_tokens"] for probe in probes], [20, 40])
        for probe in probes:
            self.assertEqual(len(probe["candidates"][0]["positions"]), POSITIONS)


class KilledAllAlongTheGate(GateTest, KilledAllAlong):
    MOMENTS = 8


class Gated(GateTest):
    def asked(self, world, run, times):
        """Waits until a server was asked so many times, and stands in the gate."""
        def lines():
            return len(world.requests.read_bytes().splitlines()) if world.requests.exists() else 0
        wait_until(lambda: lines() >= times or run.poll() is not None, "a gate asks")
        self.assertIsNone(run.poll())

    def test_a_baseline_that_dies_ends_the_run_and_leaves_no_gate(self):
        world = self.world()
        run = world.ab()
        self.asked(world, run, 8)
        world.kill_servers()
        code, out, said = self.ended(run)
        self.assertEqual(code, INVALID, said)
        self.assertIn("--no-gate measures without comparing answers", said)
        self.assertEqual(out, "")
        self.assertIsNone(world.gate())
        self.assert_as_before(world)
        self.complete(world)

    def test_a_candidate_that_dies_is_broken(self):
        world = self.world()
        run = world.ab(b="|env=FAKE_FAULT=die-position|env=FAKE_FAULT_FROM=23")
        code, out, said = self.ended(run)
        self.assertEqual(code, GATE_FAILED, said)
        self.assertIn("Not the same answers, so no speed to claim: b behind 20 tokens is broken", " ".join(out.split()))
        self.assertIn("gate: b is broken", said)
        self.assert_as_before(world)
        # All that looks at the run later says so first, and ends like this.
        for command in (["summarize"], ["gate", "--read"], ["ab", "--resume"]):
            code, out, said = self.ended(world.culprit(*command, str(world.run_folder)))
            self.assertEqual(code, GATE_FAILED, said)
            self.assertIn("b behind 20 tokens is broken", " ".join(out.split())[:100])

    def test_without_a_gate_the_report_says_so(self):
        world = self.world()
        world.GATE = ["--no-gate"]
        code, out, said = self.ended(world.ab(b="|env=FAKE_FAULT=nan-logits"))
        self.assertEqual(code, DONE, said)
        self.assertIsNone(world.gate())
        self.assertIn("no correctness gate was run (--no-gate)", " ".join(out.split()))
        code, _, said = self.ended(world.culprit("gate", "--read", str(world.run_folder)))
        self.assertEqual(code, INVALID)
        self.assertIn("has no gate", said)

    def test_what_was_written_can_be_read_again(self):
        world = self.world()
        # Variables in no order, one of them twice; and a shortlist without the baseline's likeliest token.
        run = world.ab(a="|env=FAKE_Z=1|env=FAKE_A=1",
                       b="|env=FAKE_SHORTLIST=1|env=FAKE_LOGIT_NOISE=3|env=FAKE_A=2|env=FAKE_A=1")
        code, out, said = self.ended(run)
        self.assertEqual(code, GATE_FAILED, said)
        positions = world.gate()["probes"][0]["candidates"][0]["positions"]
        self.assertTrue(any("flip_gap_nats" not in position for position in positions))
        again, told, said = self.ended(world.summarize())
        self.assertEqual((again, told), (code, out), said)

    def test_a_level_is_that_of_the_experiment(self):
        world = self.world()
        self.assertEqual(self.ended(world.ab(b="|env=FAKE_LOGIT_NOISE=0.01"))[0], DONE)
        file = world.run_folder / "experiment.toml"
        text = file.read_text()
        self.assertIn("level = 'default'", text)
        file.write_text(text.replace("level = 'default'", "level = 'strict'"))
        self.assertEqual(self.ended(world.summarize())[0], GATE_FAILED)
        file.write_text(text.replace("level = 'default'", "level = 'loose'"))
        code, _, said = self.ended(world.summarize())
        self.assertEqual(code, 2)
        self.assertIn("loose is no level", said)

    def test_a_gate_of_another_run_is_refused(self):
        other = self.world()
        self.assertEqual(self.ended(other.ab(b="|extra=-c 9999"))[0], DONE)
        foreign = (other.run_folder / "gate.json").read_bytes()
        world = self.world()
        self.assertEqual(self.ended(world.ab())[0], DONE)
        (world.run_folder / "gate.json").write_bytes(foreign)
        code, _, said = self.ended(world.summarize())
        self.assertEqual(code, INVALID)
        self.assertIn("the gate was run with another variant or workload", said)
        (world.run_folder / "gate.json").write_text("{}")
        code, _, said = self.ended(world.summarize())
        self.assertIn("gate.json", said)
        self.assertNotEqual(code, DONE)


if __name__ == "__main__":
    main("culprit")
