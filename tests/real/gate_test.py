#!/usr/bin/env python3
"""culprit gate with the real llama-server: what is identical, near, apart, and not to be compared.

    gate_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

The server is $CULPRIT_LLAMA_SERVER and the model $CULPRIT_TEST_MODEL; scripts/test sets both. Other
models are made of it with tools/change_weights, or anew with tools/make_gguf.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ports import claimed_port  # noqa: E402

SERVER, MODEL = os.environ.get("CULPRIT_LLAMA_SERVER"), os.environ.get("CULPRIT_TEST_MODEL")
ROOT = pathlib.Path(__file__).parents[2]
TOOLS = ROOT / "tools"
SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt
LIMIT_S = 240
OPTIONS = argparse.Namespace(culprit=None)


@contextlib.contextmanager
def server(*arguments):
    """A function that posts a body to a path of a running server."""
    port = claimed_port()
    url = f"http://127.0.0.1:{port}"

    def post(path, **body):
        request = urllib.request.Request(url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return json.load(answer)

    with subprocess.Popen([SERVER, "--host", "127.0.0.1", "--port", str(port), "-m", MODEL, *arguments],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + LIMIT_S
            while True:
                try:
                    urllib.request.urlopen(url + "/health", timeout=LIMIT_S).close()
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)
            yield post
        finally:
            process.terminate()


def follow(post, prompt, answer):
    """{token: probability} at each position, each scaled to add up to 1."""
    found = []
    for i in range(len(answer)):
        reply = post("/completion", prompt=prompt + answer[:i], n_predict=1, n_probs=10_000,
                     temperature=0, cache_prompt=i > 0)
        listed = reply["completion_probabilities"][0]["top_logprobs"]
        shares = {each["id"]: math.exp(each["logprob"]) for each in listed}
        total = math.fsum(shares.values())
        found.append({token: share / total for token, share in shares.items()})
    return found


class Gate(unittest.TestCase):
    """A machine of its own (state, lock, port)."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = pathlib.Path(cls.folder.name)
        cls.port = claimed_port()
        cls.environment = {**os.environ, "CULPRIT_STATE_DIR": str(cls.home / "state"),
                           "CULPRIT_LOCK": str(cls.home / "lock")}

    def changed(self, name, *how):
        """A model with other weights."""
        out = self.home / name
        subprocess.run([TOOLS / "change_weights", MODEL, out, *how], check=True)
        return str(out)

    def made(self, name, *how):
        """Another model."""
        out = self.home / name
        subprocess.run([TOOLS / "make_gguf", out, *how], check=True, capture_output=True)
        return str(out)

    def gate(self, *variants, expect=0, prompt=700, positions=48, context=4096, options=()):
        """({candidate: its row of the answers}, {(candidate, metric): its row}, the report)"""
        words = [OPTIONS.culprit, "gate", "--model", MODEL, "--arguments", f"-t 1 -np 1 -c {context}",
                 "--prompt-tokens", str(prompt), "--positions", str(positions), "--port",
                 str(self.port), "--format", "json", *options]
        for label, *keys in variants:
            words += ["--variant", "|".join([f"{label}={SERVER}", *keys])]
        done = subprocess.run(words, env=self.environment, timeout=LIMIT_S, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        self.assertEqual(list((self.home / "state" / "gate").glob("*.positions")), [])
        if not done.stdout:
            return done.stderr
        report = json.loads(done.stdout)
        tables = {table["id"]: table["rows"] for table in report["tables"]}
        answers = {row["candidate"]: row for row in tables["answers"]}
        spreads = {(row["candidate"], row["metric"]): row for row in tables.get("differences", [])}
        return answers, spreads, report

    def test_the_same_server_is_identical(self):
        answers, _, report = self.gate(("a",), ("b",), options=["--gate", "strict"])
        self.assertEqual(answers["b"]["answer"], "identical")
        self.assertEqual(answers["b"]["identical_positions"], 48)
        self.assertEqual({note["id"] for note in report["notes"]}, {"repeats_itself", "short_prompts", "few_positions"})

    def test_caches_are_graded_by_their_bits(self):
        answers, spreads, _ = self.gate(("f16", "kv=f16"), ("q8", "kv=q8_0"), ("q4", "kv=q4_0"),
                                        expect=4)
        self.assertEqual(answers["q8"]["answer"], "equivalent")
        self.assertEqual(answers["q4"]["answer"], "diverged")
        for metric in ("kl_nats", "total_variation_share", "js_nats"):
            for column in ("median", "p95", "worst"):
                self.assertLess(3 * spreads["q8", metric][column], spreads["q4", metric][column])
        self.assertGreater(spreads["q8", "cosine"]["worst"], spreads["q4", "cosine"]["worst"])
        # Means of the cosine would have passed both.
        self.assertGreater(spreads["q4", "cosine"]["worst"], 0.999)

    def test_figures_are_those_of_another_client(self):
        common = ["-t", "1", "-np", "1", "-c", "4096"]
        prose = "".join(file.read_text() for file in sorted((ROOT / "data/prose").glob("*.txt")))
        with server(*common) as post:
            prompt = post("/tokenize", content=prose, add_special=True)["tokens"][:700]
            answer = post("/completion", prompt=prompt, n_predict=8, temperature=0, ignore_eos=True,
                          cache_prompt=False, return_tokens=True)["tokens"]
            f16 = follow(post, prompt, answer)
        with server(*common, "-ctk", "q4_0", "-ctv", "q4_0") as post:
            q4 = follow(post, prompt, answer)
        _, _, report = self.gate(("f16",), ("q4", "kv=q4_0"), positions=8,
                                 options=["--gate", "kl=100"])
        rows = next(t["rows"] for t in report["tables"] if t["id"] == "positions")
        self.assertEqual(len(rows), 8)
        for row, p, q in zip(rows, f16, q4):
            kl = math.fsum(p[token] * math.log(p[token] / q[token]) for token in p)
            moved = math.fsum(abs(p[token] - q[token]) for token in p) / 2
            self.assertAlmostEqual(row["kl_nats"], kl, delta=1e-9)
            self.assertAlmostEqual(row["total_variation_share"], moved, delta=1e-9)

    def test_weights_are_graded_by_their_bits(self):
        answers, spreads, _ = self.gate(
            ("q8",), ("q7", "model=" + self.changed("q7.gguf", "--bits", "7")),
            ("q4", "model=" + self.changed("q4.gguf", "--bits", "4")), expect=4)
        self.assertEqual(answers["q4"]["answer"], "diverged")
        self.assertLess(10 * spreads["q7", "kl_nats"]["worst"], spreads["q4", "kl_nats"]["worst"])

    def test_a_single_flipped_block_is_found(self):
        flipped = self.changed("flipped.gguf", "--flip", "blk.2.ffn_down.weight")
        answers, _, _ = self.gate(("a",), ("b", "model=" + flipped), expect=4,
                                  options=["--gate", "strict"])
        self.assertEqual(answers["b"]["answer"], "diverged")
        answers, _, _ = self.gate(("a",), ("b", "model=" + flipped))
        self.assertEqual(answers["b"]["answer"], "equivalent")

    def test_other_models_do_not_pass(self):
        answers, _, _ = self.gate(("a",), ("b", "model=" + self.made("b.gguf", "--layers", "2")),
                                  expect=3)
        self.assertEqual(answers["b"]["answer"], "not comparable")
        # Of the same shape: nothing but its answers tells.
        answers, _, _ = self.gate(("a",), ("b", "model=" + self.made("c.gguf", "--seed", "2")),
                                  expect=4)
        self.assertEqual(answers["b"]["answer"], "broken")

    def test_speculation_and_batches_do_not_change_the_answer(self):
        # 700 and 1,500 tokens are more than one ubatch of 512, and of 128.
        _, _, report = self.gate(("a",), ("ngram", "extra=--spec-type ngram-simple"),
                                 ("ub", "extra=-ub 64"), positions=16,
                                 options=["--gate-prompts", "700,1500", "--gate-ubatch", "128"])
        rows = next(t["rows"] for t in report["tables"] if t["id"] == "answers")
        self.assertEqual({(row["candidate"], row["prompt_tokens"], row["ubatch"]) for row in rows},
                         {(candidate, prompt, ubatch) for candidate in ("ngram", "ub")
                          for prompt in (700, 1500) for ubatch in (None, 128)})
        for row in rows:
            self.assertIn(row["answer"], ("identical", "equivalent"))
        # Where all have the same ubatches, nothing is left that differs.
        self.assertEqual({row["answer"] for row in rows if row["candidate"] == "ub" and row["ubatch"]},
                         {"identical"})

    def test_a_long_prompt_says_that_it_was_one(self):
        answers, _, report = self.gate(("a",), ("ub", "extra=-ub 256"), prompt=5100, positions=4,
                                       context=8192)
        self.assertIn(answers["ub"]["answer"], ("identical", "equivalent"))
        self.assertNotIn("short_prompts", {note["id"] for note in report["notes"]})

    def test_a_candidate_with_too_small_a_context_is_broken(self):
        answers, _, report = self.gate(("a",), ("b", "extra=-c 512"), expect=4)
        self.assertEqual(answers["b"]["answer"], "broken")
        self.assertIn("exceeds the available context size", report["headline"][0])

    def test_a_baseline_that_is_broken_is_no_comparison(self):
        said = self.gate(("a", "extra=-c 512"), ("b",), expect=3)
        self.assertIn("a: ", said)


class Perplexity(unittest.TestCase):
    def test_llama_perplexity_finds_the_same_divergence(self):
        tool = pathlib.Path(SERVER).with_name("llama-perplexity")
        if not tool.exists():
            self.skipTest(f"no {tool}: scripts/real_server gets one")
        context, chunks = 512, 2
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home = pathlib.Path(folder.name)
        text = home / "prose.txt"
        text.write_text("".join(f.read_text() for f in sorted((ROOT / "data/prose").glob("*.txt")))[:9000])
        base = home / "base"
        common = [tool, "-m", MODEL, "-f", text, "-c", str(context), "--chunks", str(chunks), "-t", "1",
                  "--kl-divergence-base", base]
        q4 = ["-ctk", "q4_0", "-ctv", "q4_0"]
        subprocess.run(common, check=True, capture_output=True, timeout=LIMIT_S)
        for _ in range(20):  # the tool may lose its table at its exit (llama.cpp, issue 22142)
            said = subprocess.run([*common, "--kl-divergence", *q4], check=True, capture_output=True,
                                  text=True, timeout=LIMIT_S).stdout
            found = re.search(r"Mean +KLD: +([\d.]+) ± +([\d.]+)", said)
            if found:
                break
        mean, error = map(float, found.groups())

        def distributions(*arguments):
            """Behind each token of the second half of each chunk, as the tool reads them."""
            with server("-t", "1", "-np", "1", "-c", "4096", *arguments) as post:
                tokens = post("/tokenize", content=text.read_text(), add_special=True)["tokens"]
                found = []
                for chunk in range(chunks):
                    part = [tokens[0], *tokens[chunk * context + 1:(chunk + 1) * context]]
                    found += follow(post, part[:context // 2 + 1], part[context // 2 + 1:])
                return found
        ours = [math.fsum(p[token] * math.log(p[token] / q[token]) for token in p)
                for p, q in zip(distributions(), distributions(*q4))]
        self.assertEqual(len(ours), chunks * 255)
        self.assertAlmostEqual(math.fsum(ours) / len(ours), mean, delta=error)


def main():
    if not (SERVER and MODEL):
        print("skipped: no llama-server to test with; scripts/real_server gets one for "
              "CULPRIT_LLAMA_SERVER, tools/make_gguf writes a model for CULPRIT_TEST_MODEL")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--culprit", required=True, type=os.path.abspath)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
