#!/usr/bin/env python3
"""culprit trace and run with the real llama-server, under the ggml-op collector.

    run_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

What is shown is that the whole job works, not how fast anything is: which row makes a difference on
a machine that others use as well is chance.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
import ab_test  # noqa: E402
from ab_test import Ab, note_ids, rows, variant  # noqa: E402

TRACED = "traced"
FAKES = pathlib.Path(__file__).resolve().parent.parent / "fakes"


class WholeJob(Ab):
    def run_of(self, name, *options):
        words = self.command(name, "-o", f"{name}.json", "--collector", "ggml-ops", *self.GATE,
                             *options)[2:]
        self.culprit("run", *words)
        return json.loads((self.home / f"{name}.json").read_text())

    def test_a_verdict_and_rows_that_add_up(self):
        report = self.run_of("kv", *variant("f16"), *variant("q4", "kv=q4_0"), "--tokens", "64",
                                   "--pairs", "2")
        self.assertEqual(report["kind"], "run")
        self.assertTrue(all(check["holds"] for check in report["proof"]), report["proof"])
        table = {row["name"]: row for row in rows(report, TRACED)}
        self.assertGreater(table["KV rotation"]["b_ms_per_token"], 0)
        self.assertEqual(table["KV rotation"]["a_ms_per_token"], 0)
        self.assertIn("flash attention", table)
        categories = [row for name, row in table.items()
                      if not row.get("is_total") and not name.startswith("[unexplained")]
        for side in ("a_ms_per_token", "b_ms_per_token"):
            self.assertAlmostEqual(sum(row[side] for row in categories),
                                   table["traced total"][side], places=6)
        self.assertIn("untraced (median)", table)
        traces = sorted((self.home / "kv" / "traces").glob("[0-9]*"))
        self.assertEqual([trace.name for trace in traces], ["001-f16", "002-q4"])
        record = self.record(traces[1])
        self.assertEqual((record["collector"], record["objections"]), ("ggml-ops", []))
        # The same again from disk, by either command.
        self.culprit("summarize", "kv")
        self.assertEqual(self.culprit("compare", "kv", "--format", "json").stdout.count("traced total"), 1)
        self.assertIn("flash attention", self.culprit("analyze", str(traces[0])).stdout)

    def test_one_variant_is_traced_and_not_compared(self):
        words = self.command("one", *variant("f16"), "--tokens", "2", "--collector", "ggml-ops")[2:]
        done = self.culprit("trace", *words)
        self.assertIn("1 trace kept.", done.stdout)
        self.assertIn("culprit analyze", done.stdout)
        done = self.culprit("ab", "--resume", "one", expect=2)
        self.assertIn("one variant alone cannot be compared", done.stderr)

    def test_traces_are_added_to_a_run_that_has_none(self):
        self.ab("later", *variant("t1"), *variant("t2", "extra=-t 2"), "--tokens", "32", "--pairs", "2")
        done = self.culprit("compare", "later", expect=3)
        self.assertIn("culprit trace --resume later takes them", done.stderr)
        self.culprit("trace", "--resume", "later")
        report = json.loads(self.culprit("compare", "later", "--format", "json").stdout)
        names = [row["name"] for row in rows(report, TRACED)]
        self.assertTrue(any(name.startswith("dense") for name in names), names)

    def test_a_verdict_stands_without_its_trace(self):
        words = self.command("lost", *self.GATE, *variant("f16"), *variant("q4", "kv=q4_0"), "--tokens", "32",
                             "--pairs", "2", "--collector", "rocprofv3", "-o", "lost.json")[2:]
        missing = self.culprit("run", *words, expect=5)
        self.assertIn("rocprofv3 is neither in PATH nor", missing.stderr)
        self.assertIn("culprit ab measures without traces", missing.stderr)
        self.assertFalse((self.home / "lost").exists())
        # The stand-in for the tool records nothing of a program that is not Python.
        done = self.culprit("run", *words, expect=3, CULPRIT_ROCPROFV3=str(FAKES / "rocprofv3"))
        report = json.loads((self.home / "lost.json").read_text())
        self.assertIn("no_attribution", note_ids(report))
        self.assertEqual(len(rows(report, "verdicts")), 2)
        self.assertEqual(rows(report, TRACED), [])
        self.assertIn("f16 has no trace", done.stdout)

    def test_windows_by_the_client_and_by_the_largest_gap_agree(self):
        self.culprit("trace", *self.command("agree", *variant("f16"), "--tokens", "256",
                                            "--collector", "ggml-ops")[2:])
        trace = self.home / "agree" / "traces" / "001-f16"
        seen = {}
        for name, words in (("client", [trace]), ("gap", [next(trace.glob("*.ggml-ops")), "--log",
                                                          trace / "server.log"])):
            done = self.culprit("analyze", *map(str, words), "--format", "json")
            seen[name] = next(row["exclusive_ms_per_token"] for row in
                              rows(json.loads(done.stdout), TRACED) if row["name"] == "window")
        self.assertLess(abs(seen["client"] / seen["gap"] - 1), 0.01, seen)

    def test_a_long_request_of_one_of_two_slots(self):
        words = self.command("long", *variant("f16", "extra=-np 2"), "--tokens", "1024",
                             "--collector", "ggml-ops")[2:]
        self.culprit("trace", *words)
        done = self.culprit("analyze", str(self.home / "long" / "traces" / "001-f16"))
        self.assertIn("1023 steps seen", done.stdout)

    def test_one_token_has_no_decode(self):
        words = self.command("none", *variant("f16"), "--tokens", "1", "--collector", "ggml-ops")[2:]
        done = self.culprit("trace", *words, expect=2)
        self.assertIn("the number of output tokens is 1; give 2", done.stderr)

    def test_speculation_splits_into_steps(self):
        report = self.run_of("ngram", *variant("plain"),
                             *variant("ngram", "extra=--spec-type ngram-simple"), "--tokens", "64",
                             "--pairs", "2")
        self.assertTrue(rows(report, TRACED))
        self.assertTrue(rows(report, "steps"), "no table of steps")


class Named(Ab):
    """Which row changed most: on a machine where the servers have it to themselves."""
    run_of = WholeJob.run_of

    def largest(self, report):
        """The category whose time changed most, and its kernel that did."""
        table = [row for row in rows(report, TRACED) if "delta_ms_per_token" in row]
        row = max((row for row in table if row.get("details") and not row["name"].startswith("[")),
                  key=lambda row: abs(row["delta_ms_per_token"]))
        return row["name"], max(row["details"], key=lambda row: abs(row["delta_ms_per_token"]))["name"]

    def test_half_the_threads_cost_products(self):
        report = self.run_of("threads", *variant("two", "extra=-t 2"), *variant("one", "extra=-t 1"),
                             "--tokens", "256", "--pairs", "2")
        category, kernel = self.largest(report)
        self.assertTrue(category.startswith("dense") and kernel.startswith("MUL_MAT<"),
                        (category, kernel))

    def test_a_server_against_itself_names_nothing(self):
        report = self.run_of("itself", *variant("f16"), "--aa", "--tokens", "256", "--pairs", "4")
        self.assertIn("No category stands out", " ".join(report["headline"]))


if __name__ == "__main__":
    ab_test.main()
