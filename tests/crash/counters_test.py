#!/usr/bin/env python3
"""`culprit counters` as a whole, with a fake server under the stand-in for rocprofv3: what it keeps and
where, how it goes on, and what it says where the server dies of being counted.

    counters_test.py --culprit build/debug/culprit [CLASS[.TEST]…]
"""
import json
import shutil
import signal
import sys

sys.dont_write_bytecode = True
from ab_world import DONE, ENVIRONMENT, INTERRUPTED, INVALID, SERVER, AbTest, AbWorld  # noqa: E402
from world import FAKES, main, wait_until  # noqa: E402

PASSES = ["--pmc", "SQ_WAVES,GRBM_GUI_ACTIVE", "--pmc", "L2CacheHit"]


class CountersWorld(AbWorld):
    def __init__(self):
        super().__init__()
        self.environment |= {"CULPRIT_ROCPROFV3": str(FAKES / "rocprofv3"), "FAKE_MS_PER_TOKEN": "10"}

    def counters(self, *more, b="", **popen):
        return self.culprit("counters", "--variant", f"a={SERVER}", "--variant", f"b={SERVER}|extra=-b{b}",
                            "--prompt-tokens", "50", "--tokens", "16", "--idle-readings", "0", "--port",
                            str(self.port), *self.borrow[:-2], "--into", str(self.run_folder), *more, **popen)

    def kept(self):
        """What trial.json says of each trial that counted, and its folder."""
        folders = sorted((self.run_folder / "counters").glob("[0-9]*"))
        return [(json.loads((folder / "trial.json").read_text()), folder) for folder in folders]


class Counters(AbTest):
    WORLD = CountersWorld

    def finish(self, run, code=DONE):
        returned, out, said = self.ended(run)
        self.assertEqual(returned, code, said)
        return out, said

    def valid(self, world):
        return [(record["variant"], " ".join(record["counters"])) for record, _ in world.kept()
                if not record["objections"]]

    def test_each_variant_once_for_each_pass(self):
        world = self.world()
        out, said = self.finish(world.counters(*PASSES))
        self.assertEqual(self.valid(world), [("a", "SQ_WAVES GRBM_GUI_ACTIVE"), ("b", "SQ_WAVES GRBM_GUI_ACTIVE"),
                                             ("a", "L2CacheHit"), ("b", "L2CacheHit")])
        self.assertIn("counts 1 · rocprofv3 --pmc · a · SQ_WAVES, GRBM_GUI_ACTIVE", said)
        for text in ("a: ", "Launches, and what one takes: a → b", "SQ_WAVES", "L2CacheHit", "32.67"):
            self.assertIn(text, out)
        for record, folder in world.kept():
            self.assertTrue(record["trace"]["file"].endswith("_counter_collection.csv"))
            self.assertTrue((folder / record["trace"]["file"]).exists())
        self.assertFalse((world.run_folder / "traces").exists())
        self.assertEqual(world.trials(), [])
        self.assert_as_before(world)
        again, _ = self.finish(world.culprit("counters", "--read", str(world.run_folder)))
        self.assertEqual(again, out)
        # No time is told of any of it.
        for word in (" ms", "µs", "tok/s"):
            self.assertNotIn(word, again.partition("! ")[0].replace("10 ms", ""))

    def test_nobody_else_looks_at_counters(self):
        world = self.world()
        self.finish(world.counters("--pmc", "SQ_WAVES"))
        for command in ("summarize", "compare"):
            _, said = self.finish(world.culprit(command, str(world.run_folder)), INVALID)
            self.assertNotIn("counter", said)
        record, folder = world.kept()[0]
        _, said = self.finish(world.culprit("analyze", str(folder / record["trace"]["file"])), INVALID)
        self.assertIn("culprit counters --read shows it", said)
        # Moved to where times and traces lie it is refused, or void.
        shutil.copytree(folder, world.run_folder / "traces" / folder.name)
        _, said = self.finish(world.culprit("compare", str(world.run_folder)), INVALID)
        self.assertIn("the baseline has no trace", said)
        shutil.copytree(folder, world.run_folder / "trials" / folder.name)
        _, said = self.finish(world.culprit("summarize", str(world.run_folder)), INVALID)
        self.assertIn("its times are no speed", said)

    def test_goes_on_with_what_is_missing(self):
        world = self.world()
        run = world.counters(*PASSES)
        wait_until(lambda: len(world.kept()) == 1 or run.poll() is not None, "one is counted")
        run.send_signal(signal.SIGINT)
        _, said = self.finish(run, INTERRUPTED)
        self.assertIn("culprit counters --resume", said)
        self.assert_as_before(world)
        _, said = self.finish(world.culprit("counters", "--read", str(world.run_folder)), INVALID)
        self.finish(world.culprit("counters", "--resume", str(world.run_folder)))
        self.assertEqual(len(self.valid(world)), 4)
        self.finish(world.culprit("counters", "--resume", str(world.run_folder), "--pmc", "L2CacheHit,SQ_WAVES"))
        self.assertEqual(len(self.valid(world)), 6)
        _, said = self.finish(world.culprit("counters", "--resume", str(world.run_folder)))
        self.assertIn("nothing is left to do", said)
        self.assert_as_before(world)

    def test_an_unknown_counter(self):
        world = self.world()
        out, said = self.finish(world.counters("--pmc", "SQ_WAVES,SQ_WAVE"))
        self.assertIn("nothing was counted of SQ_WAVE", " ".join(out.split()))
        world = self.world()
        world.environment["FAKE_ROCPROF_VERSION"] = "6.4"
        _, said = self.finish(world.counters("--pmc", "SQ_WAVES,SQ_WAVE"), INVALID)
        self.assertIn("Unable to find all counters for agent 1", said)
        self.assertIn("ask for fewer at a time", said)
        self.assert_as_before(world)

    def test_a_device_on_which_counting_crashes(self):
        world = self.world()
        world.environment["FAKE_ROCPROF"] = "crash"
        _, said = self.finish(world.counters("--pmc", "SQ_WAVES"), INVALID)
        self.assertIn("hsa_ven_amd_aqlprofile_get_info", said)
        self.assertIn("on gfx1151 every --pmc is known to crash before ROCm 7.2", said)
        self.assertEqual([record["objections"][0]["id"] for record, _ in world.kept()], ["server_failed"] * 2)
        self.assert_as_before(world)

    def test_a_server_that_refuses_is_not_the_tools_fault(self):
        world = self.world()
        _, said = self.finish(world.counters("--pmc", "SQ_WAVES", b="|env=FAKE_FAULT=error-event"), INVALID)
        self.assertIn("Compute error.", said)
        self.assertNotIn("gfx1151", said)
        self.assert_as_before(world)

    def test_without_the_tool(self):
        world = self.world()
        world.environment["CULPRIT_ROCPROFV3"] = "/none/rocprofv3"
        _, said = self.finish(world.counters(), ENVIRONMENT)
        self.assertIn("names no program", said)
        self.assertFalse(world.run_folder.exists())


if __name__ == "__main__":
    main("culprit")
