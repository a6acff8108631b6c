"""What the fake llama_server says of the tokens that could come next.

Environment:
  FAKE_VOCABULARY    how many tokens there are; with it, tokens have numbers below this, and a
                     completion is what is likeliest. Without it the fake tells no probabilities
  FAKE_LOGIT_NOISE   spread of what this variant's logits differ from the fake model's, and FAKE_SEED
                     which noise it is
  FAKE_SELF_NOISE    the same, another for each request
  FAKE_SHORTLIST     how many of the likeliest tokens keep their logits; the others are ruled out
  FAKE_MODEL_SIZE    number of parameters that it tells
  FAKE_FAULT_FROM    number of tokens of a text from which on FAKE_FAULT is shown [0]
"""
import binascii
import math
import os
import random
import struct

FAULTS = "nan-logits shifted-ids sum-0.9 few-probs ok-error no-probs stale-cache loops die-position strange-tokens few-tokens".split()
LOWEST = -3.4028234663852886e38  # the lowest float: what the real one writes for the logarithm of 0
FEW = 10


def number(name, default=0):
    return float(os.environ.get(name) or default)


def vocabulary():
    return int(number("FAKE_VOCABULARY"))


def as_float(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Probabilities:
    def __init__(self, fault):
        self.fault = fault
        self.noise, self.self_noise = number("FAKE_LOGIT_NOISE"), number("FAKE_SELF_NOISE")
        self.shortlist = int(number("FAKE_SHORTLIST"))
        self.fault_from = int(number("FAKE_FAULT_FROM"))
        self.seed = os.environ.get("FAKE_SEED", "0")

    def has_fault(self, name, ids):
        return self.fault == name and len(ids) >= self.fault_from

    def logits(self, ids):
        text = str(ids)
        draw = random.Random(binascii.crc32(text.encode()))
        found = [draw.gauss(0, 3) for _ in range(vocabulary())]
        own, each = random.Random(self.seed + text), random.Random()
        for token in range(len(found)):
            found[token] += own.gauss(0, self.noise) + each.gauss(0, self.self_noise)
        if self.shortlist:
            kept = set(sorted(range(len(found)), key=lambda token: -found[token])[:self.shortlist])
            found = [logit if token in kept else -math.inf for token, logit in enumerate(found)]
        return found

    def likeliest(self, ids):
        if self.fault == "loops":
            return len(ids) % 2
        logits = self.logits(ids)
        return max(range(len(logits)), key=lambda token: logits[token])

    def listed(self, ids, most):
        """(token, log-probability) pairs, the likeliest first."""
        logits = self.logits(ids)
        total = math.log(sum(math.exp(logit) for logit in logits))
        pairs = [(token, as_float(logit - total) if logit > -100 else LOWEST)
                 for token, logit in enumerate(logits)]
        pairs.sort(key=lambda pair: -pair[1])
        if self.has_fault("few-probs", ids):
            most = min(most, FEW)
        if self.has_fault("nan-logits", ids):
            pairs = [(token, None) for token, _ in pairs]
        if self.has_fault("shifted-ids", ids):
            pairs = [(token + 1, logprob) for token, logprob in pairs]
        if self.has_fault("sum-0.9", ids):
            pairs = [(token, logprob + math.log(0.9)) for token, logprob in pairs]
        return pairs[:most]

    def position(self, ids, most):
        """An entry of completion_probabilities."""
        entries = [{"id": token, "token": f" {token}", "bytes": list(f" {token}".encode()),
                    "logprob": logprob} for token, logprob in self.listed(ids, most)]
        sampled = self.likeliest(ids)
        return {"id": sampled, "token": f" {sampled}", "bytes": list(f" {sampled}".encode()),
                "logprob": 0.0, "top_logprobs": entries}
