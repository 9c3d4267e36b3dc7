"""Fits the polynomial coefficients of the maths library.

Run with `python fit.py` where `mpmath` is installed. Each table is the polynomial in `z` that
minimises the largest weighted error over its interval. Tables for `f32` are
rounded one coefficient at a time, refitting the rest, so that later ones absorb the rounding.
"""

import struct

from mpmath import (asin, atan, cos, erf, erfc, exp, expm1, log, log1p, lu_solve, matrix, mp, mpf,
                    pi, sin, sqrt, tan, tanh)

mp.dps = 80


def minimax(target, weight, low, high, count):
    """Coefficients, lowest power first (Lawson's iteration of weighted least squares)."""
    low, high = mpf(low), mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    points = 16 * count + 1
    grid = [middle - half * cos(pi * (i + mpf(1) / 3) / points) for i in range(points)]
    table = [(z, target(z), weight(z) ** 2) for z in grid]
    share = [mpf(1)] * points
    best, coefficients = mp.inf, []
    for _ in range(40):
        moments, right = [mpf(0)] * (2 * count - 1), matrix(count, 1)
        for (z, value, square), part in zip(table, share):
            term = part * square
            for power in range(2 * count - 1):
                moments[power] += term
                if power < count:
                    right[power] += term * value
                term *= z
        system = matrix(count, count)
        for row in range(count):
            for column in range(count):
                system[row, column] = moments[row + column]
        trial = list(lu_solve(system, right))
        errors = [sqrt(w) * abs(evaluate(trial, z) - g) for z, g, w in table]
        if max(errors) < best:
            best, coefficients = max(errors), trial
        share = [part * error for part, error in zip(share, errors)]
        total = sum(share)
        share = [part / total for part in share]
    return coefficients


def evaluate(coefficients, z):
    total = mpf(0)
    for coefficient in reversed(coefficients):
        total = total * z + coefficient
    return total


def single(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def shortest(value):
    """The fewest digits that give the same `f32`."""
    return next(t for t in (f"{value:.{n}g}" for n in range(1, 10)) if single(float(t)) == value)


def fit(name, target, weight, low, high, count, kind):
    """Prints one table as a Rust constant."""
    fixed = []
    if kind == "f32":
        while len(fixed) < count:
            known = [mpf(c) for c in fixed]
            shift = len(fixed)
            rest = minimax(
                lambda z: (target(z) - evaluate(known, z)) / z**shift,
                lambda z: weight(z) * abs(z) ** shift,
                low, high, count - shift,
            )
            fixed.append(single(rest[0]))
    else:
        fixed = [float(c) for c in minimax(target, weight, low, high, count)]
    steps = [mpf(low) + (mpf(high) - mpf(low)) * (i + mpf(1) / 3) / 3000 for i in range(3000)]
    worst = max(abs(weight(z) * (evaluate([mpf(c) for c in fixed], z) - target(z))) for z in steps)
    print(f"// largest error 2^{float(log(worst, 2)):.1f}")
    print(f"const {name}: [{kind}; {count}] = [")
    for c in fixed:
        print(f"    {shortest(c) if kind == 'f32' else repr(c)},")
    print("];", flush=True)


def main():
    ln2 = log(mpf(2))
    r = ln2 / 2 * mpf("1.001")
    fit("EXP", lambda z: (expm1(z) - z) / z**2, lambda z: z**2 * exp(-z), -r, r, 5, "f32")
    high = mpf(1419) / 2048
    fit("EXP2", lambda z: (expm1(z * ln2) - high * z) / z, lambda z: z * exp(-z * ln2),
        mpf("-0.5005"), mpf("0.5005"), 6, "f32")
    fit("EXPM1", lambda z: (expm1(z) - z) / z**2, lambda z: z**2 / abs(expm1(z)), -r, r, 6, "f64")

    low, high = sqrt(mpf(2)) / 2 - 1, sqrt(mpf(2)) - 1
    fit("LOG", lambda z: (log1p(z) - z + z**2 / 2) / z**3, lambda z: abs(z**3 / log1p(z)),
        low, high, 9, "f32")
    top = (3 - 2 * sqrt(mpf(2))) ** 2 * mpf("1.0001")
    tiny = mpf("1e-9")
    root = lambda z: log((1 + sqrt(z)) / (1 - sqrt(z)))
    fit("LOG_ODD", lambda z: (root(z) / sqrt(z) - 2) / z, lambda z: z ** mpf("1.5") / root(z),
        tiny, top, 5, "f64")

    top = (pi / 2) ** 2 * mpf("1.0001")
    fit("SIN", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z ** mpf("1.5") / sin(sqrt(z)),
        tiny, top, 5, "f64")
    top = (pi / 4) ** 2 * mpf("1.0001")
    fit("SIN_QUARTER", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z,
        lambda z: z ** mpf("1.5") / sin(sqrt(z)), tiny, top, 4, "f64")
    fit("COS_QUARTER", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2 / cos(sqrt(z)),
        tiny, top, 3, "f64")

    top = tan(pi / 8) ** 2 * mpf("1.0001")
    fit("ATAN", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z,
        lambda z: z ** mpf("1.5") / atan(sqrt(z)), tiny, top, 6, "f64")
    fit("ASIN", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z,
        lambda z: z ** mpf("1.5") / asin(sqrt(z)), tiny, mpf("0.2501"), 8, "f64")

    fit("TANH", lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z,
        lambda z: z ** mpf("1.5") / tanh(sqrt(z)), tiny, mpf("0.64") ** 2, 5, "f32")
    fit("ERF", lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: sqrt(z) / erf(sqrt(z)),
        tiny, mpf(1), 7, "f32")
    fit("LOG_ERFC", lambda z: log(erfc(z + 1)), lambda z: erfc(z + 1), mpf(0), mpf("2.93"), 9, "f32")
    x = lambda q: 3 * (1 + q) / (1 - q)
    fit("ERFC", lambda q: exp(x(q) ** 2) * erfc(x(q)), lambda q: exp(-x(q) ** 2) / erfc(x(q)),
        mpf(-1), mpf("7.1") / mpf("13.1"), 13, "f64")


main()
