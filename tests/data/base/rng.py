#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes rng.txt: xoshiro256** seeded through splitmix64, from the published definitions, with
Python's integers. Lines: SEED LABEL N OUTPUT...; LABEL "-" is none, N 0 is the plain 64-bit stream,
else the outputs are below N (multiply-shift, low words under 2^64 mod N refused)."""
MASK = (1 << 64) - 1


def splitmix64(x):
    while True:
        x = (x + 0x9E3779B97F4A7C15) & MASK
        z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def rotated(x, k):
    return ((x << k) & MASK) | (x >> (64 - k))


def xoshiro256starstar(state):
    a, b, c, d = state
    while True:
        yield (rotated((b * 5) & MASK, 7) * 9) & MASK
        t = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= t
        d = rotated(d, 45)


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def stream(seed, label):
    source = splitmix64(seed if label == "-" else seed ^ fnv1a(label))
    return xoshiro256starstar([next(source) for _ in range(4)])


def below(words, n):
    while True:
        product = next(words) * n
        if product & MASK >= (1 << 64) % n:
            yield product >> 64


# The first four states and outputs that others print for these algorithms.
assert [w for w, _ in zip(splitmix64(1234567), range(4))] == [
    6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
assert [w for w, _ in zip(xoshiro256starstar([1, 2, 3, 4]), range(4))] == [
    11520, 0, 1509978240, 1215971899390074240]

for seed, label, n in ((0, "-", 0), (1, "-", 0), (20260105, "-", 0), (MASK, "-", 0),
                       (7, "host 0", 0), (7, "host 1", 0), (7, "", 0),
                       (1, "-", 6), (1, "-", 3 << 62), (99, "-", 1), (99, "-", (1 << 63) + 1)):
    words = stream(seed, label)
    numbers = below(words, n) if n else words
    print(seed, label.replace(" ", "_") or "''", n, *[next(numbers) for _ in range(12)])
