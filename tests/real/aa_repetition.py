#!/usr/bin/env python3
"""Compares the real llama-server with itself again and again: how often is a difference claimed?

    CULPRIT_LONG_TESTS=1 aa_repetition.py --culprit build/release/culprit [--repetitions 20]
        [--sessions 6] [--arguments "-ngl 99 -np 1 -c 4096"] [OPTIONS OF culprit ab…]

Prints a row for each repetition. --sessions measures the noise floor first, by so many runs with
--aa, as one should on a machine that is not quiet. --arguments are the server's. Exit code 1 when
more than one of twenty claims a regression or an improvement, of decode or of prefill. The server
is $CULPRIT_LLAMA_SERVER and the model $CULPRIT_TEST_MODEL; scripts/test sets both. The result of a
run is in doc/measurements.md.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SERVER, MODEL = os.environ.get("CULPRIT_LLAMA_SERVER"), os.environ.get("CULPRIT_TEST_MODEL")
SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt
CLAIMS = ("regression", "improvement")
METRICS = ("decode", "prefill")
LIMIT_S = 900


def variant(label):
    return ["--variant", f"{label}={SERVER}|kv=f16"]


def run_ab(options, folder, name, more):
    """The rows of verdicts of one experiment, by metric."""
    run = os.path.join(folder, name)
    environment = {**os.environ, "CULPRIT_STATE_DIR": os.path.join(folder, "state"),
                   "CULPRIT_LOCK": os.path.join(folder, "lock")}
    done = subprocess.run(
        [options.culprit, "ab", "--model", MODEL, "--arguments", options.arguments,
         "--prompt-tokens", "500", "--tokens", "128", "--idle-readings", "0", "--into", run,
         "-o", run + ".json", *more],
        env=environment, timeout=LIMIT_S, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode} of {name}:\n{done.stderr}")
    with open(run + ".json") as file:
        tables = json.load(file)["tables"]
    return {row["metric"]: row for table in tables if table["id"] == "verdicts"
            for row in table["rows"]}


def cell(row):
    return (f"{row['verdict']:24} {row['change']:+8.1%} {row['interval_low']:+8.1%} to "
            f"{row['interval_high']:+8.1%} {row['pairs']:3}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--culprit", required=True, type=os.path.abspath)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--arguments", default="-t 1 -np 1 -c 4096")
    options, more = parser.parse_known_args()
    if not os.environ.get("CULPRIT_LONG_TESTS"):
        print("skipped: takes minutes; CULPRIT_LONG_TESTS=1 runs it")
        sys.exit(SKIPPED)
    if not (SERVER and MODEL):
        print("skipped: no llama-server to test with; scripts/real_server gets one for "
              "CULPRIT_LLAMA_SERVER, tools/make_gguf writes a model for CULPRIT_TEST_MODEL")
        sys.exit(SKIPPED)
    claims = dict.fromkeys(METRICS, 0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.sessions + 1):
            run_ab(options, folder, f"session-{number}",
                   ["--aa", *variant("f16"), "--seed", str(number), *more])
        for seed in range(1, options.repetitions + 1):
            rows = run_ab(options, folder, str(seed),
                          [*variant("f16"), *variant("again"), "--seed", str(seed), *more])
            if seed == 1:
                print("margins: " + ", ".join(f"{metric} {rows[metric]['margin']:.1%}"
                                              for metric in METRICS))
            print(f"{seed:3}  " + "  |  ".join(f"{metric} {cell(rows[metric])}"
                                               for metric in METRICS), flush=True)
            for metric in METRICS:
                claims[metric] += rows[metric]["verdict"] in CLAIMS
    print(f"of {options.repetitions} experiments without a difference, "
          + " and ".join(f"{claims[metric]} claimed one of {metric}" for metric in METRICS))
    sys.exit(max(claims.values()) > options.repetitions / 20)


if __name__ == "__main__":
    main()
