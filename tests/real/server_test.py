#!/usr/bin/env python3
"""The real llama-server loads our model, answers, and leaves nothing behind.

The server is $CULPRIT_LLAMA_SERVER and the model $CULPRIT_TEST_MODEL; scripts/test sets both.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ports import claimed_port  # noqa: E402

SERVER, MODEL = os.environ.get("CULPRIT_LLAMA_SERVER"), os.environ.get("CULPRIT_TEST_MODEL")
SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt
LIMIT_S = 60
TOKENS = 32


def request(port, path, body=None):
    """(HTTP status, parsed answer); the status is None while nothing listens."""
    data = body and json.dumps(body).encode()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, LIMIT_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except urllib.error.URLError:
        return None, None


class RealServer(unittest.TestCase):
    def setUp(self):
        self.port = claimed_port()
        self.log = tempfile.TemporaryFile()
        self.server = subprocess.Popen(
            [SERVER, "-m", MODEL, "--host", "127.0.0.1", "--port", str(self.port), "-t", "1",
             "-c", "1024", "-np", "1"], stdout=self.log, stderr=self.log, start_new_session=True)
        self.addCleanup(self.log.close)
        self.addCleanup(self.end)

    def end(self):
        self.server.kill()
        self.server.wait()

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def await_health(self):
        deadline = time.monotonic() + LIMIT_S
        while self.server.poll() is None and time.monotonic() < deadline:
            if request(self.port, "/health")[0] == 200:
                return
            time.sleep(0.02)
        self.fail(f"the server did not become healthy; it said:\n{self.said()}")

    def test_answers_alike_twice_and_stops_when_told(self):
        self.await_health()
        completion = {"prompt": "The lamp was lit early that evening.", "n_predict": TOKENS,
                      "temperature": 0, "ignore_eos": True, "cache_prompt": False,
                      "return_tokens": True}
        answers = [request(self.port, "/completion", completion) for _ in range(2)]
        for status, answer in answers:
            timings = answer["timings"]
            self.assertEqual((status, answer["stop_type"]), (200, "limit"))
            self.assertEqual(len(answer["tokens"]), TOKENS)
            self.assertEqual(timings["predicted_n"], TOKENS)
            self.assertEqual(timings["cache_n"] + timings["prompt_n"], answer["tokens_evaluated"])
            self.assertGreater(timings["prompt_ms"], 0)
            self.assertGreater(timings["predicted_ms"], 0)
        self.assertEqual(answers[0][1]["tokens"], answers[1][1]["tokens"])
        self.assertGreater(len(set(answers[0][1]["tokens"])), 1)

        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(LIMIT_S), 0, self.said())
        with self.assertRaises(ProcessLookupError):
            os.killpg(self.server.pid, 0)
        self.assertEqual(request(self.port, "/health")[0], None)


if __name__ == "__main__":
    if not (SERVER and MODEL):
        print("skipped: no llama-server to test with; scripts/real_server gets one for "
              "CULPRIT_LLAMA_SERVER, tools/make_gguf writes a model for CULPRIT_TEST_MODEL")
        sys.exit(SKIPPED)
    unittest.main()
