"""Choices between floats that a tape decides are masks where the processor would branch: the same bits."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.choices import are_branches, without_branches
from pliant.backends.llvm.jit import Code, host_target
from pliant.testing import check_gradient

Program = Callable[..., Any]
TYPES = {"double": np.float64, "float": np.float32}
NUMBERS = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
FORMS = {
    "held": ["%t = load i8, ptr %p", "%c = icmp ne i8 %t, 0"],
    "not held": ["%t = load i8, ptr %p", "%c = icmp eq i8 %t, 0"],
    "made of held": ["%t = load i8, ptr %p", "%h = icmp ne i8 %t, 0", "%l = fcmp olt {t} %x, %y", "%c = and i1 %h, %l"],
    "compared": ["%c = fcmp ult {t} %y, %x", "%k = zext i1 %c to i8", "store i8 %k, ptr %p"],
    "with a number": ["%c = fcmp oge {t} %x, 1.500000e+00", "%k = zext i1 %c to i8", "store i8 %k, ptr %p"],
}
ARMS = {
    "both": ("%x", "%y"),
    "first": ("%x", "0.000000e+00"),
    "second": ("0.000000e+00", "%y"),
    "minus": ("-1.0", "%x"),
}


def chosen(form: str, arms: str, type: str) -> str:
    """A function of two numbers and a byte that chooses one of the numbers."""
    made = [line.format(t=type) for line in FORMS[form]]
    x, y = ARMS[arms]
    lines = [f"define {type} @f({type} %x, {type} %y, ptr %p) {{", *made]
    lines += [f"%r = select i1 %c, {type} {x}, {type} {y}", f"ret {type} %r"]
    return "\n  ".join(lines) + "\n}\n"


def assert_same_bits(before: str, after: str, type: str) -> None:
    """Two functions of two numbers and a byte return the same."""
    kind: Any = ctypes.c_double if type == "double" else ctypes.c_float
    codes = [Code(text, 0, keep=False) for text in (before, after)]
    first, second = (ctypes.CFUNCTYPE(kind, kind, kind, ctypes.c_void_p)(code.address("f")) for code in codes)
    for x in NUMBERS:
        for y in NUMBERS:
            for held in (0, 1):
                byte = ctypes.c_uint8(held)
                got, want = (TYPES[type](f(x, y, ctypes.addressof(byte))) for f in (second, first))
                assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_chosen_has_the_bits_of_what_was_chosen(form: str, arms: str, type: str) -> None:
    before = chosen(form, arms, type)
    after = without_branches(before)
    assert f"select i1 %c, {type}" not in after
    assert_same_bits(before, after, type)


@pytest.mark.parametrize(
    "lines",
    [
        ["%c = fcmp ult double %y, %x"],
        ["%c = fcmp ogt double %x, %y", "%k = zext i1 %c to i8", "store i8 %k, ptr %p"],
        ["%t = load i64, ptr %p", "%c = icmp ne i64 %t, 0"],
    ],
)
def test_what_is_one_instruction_or_kept_nowhere_stays(lines: list[str]) -> None:
    head, tail = "define double @f(double %x, double %y, ptr %p) {", ["%r = select i1 %c, double %x, double %y"]
    text = "\n  ".join([head, *lines, *tail, "ret double %r"]) + "\n}\n"
    assert without_branches(text) == text


@pytest.mark.parametrize(
    ("condition", "choice"),
    [
        ("%c = icmp ne i8 %t, 0", "select fast i1 %c, double %x, double %y"),
        ("%c = icmp ne i8 %t, 0", "select i1 %c, double %x, double %y, !prof !0"),
        ("%c = icmp ne i8 %t, 0", "select i1 %c, fp128 %x, fp128 %y"),
        ("%c = icmp ne i8 %t, 0", "select <2 x i1> %c, <2 x double> %x, <2 x double> %y"),
        ("%c = icmp ugt i8 %t, 1", "select i1 %c, double %x, double %y"),
        ("%c = trunc i8 %t to i1", "select i1 %c, double %x, double %y"),
        ("%c = icmp ne i8 %unknown, 0", "select i1 %c, double %x, double %y"),
        ('%"c" = icmp ne i8 %t, 0', 'select i1 %"c", double %x, double %y'),
        ("%c = fcmp fast olt double %x, %y", "select i1 %c, double %x, double %y"),
        ("%c = call i1 @any(i8 %t)", "select i1 %c, double %x, double %y"),
        ("", "select i1 true, double %x, double %y"),
    ],
)
def test_lines_of_forms_that_are_not_known_stay(condition: str, choice: str) -> None:
    kept = ["%k = zext i1 %c to i8", "store i8 %k, ptr %p"]
    lines = ["define double @f(double %x, double %y, ptr %p) {", "%t = load i8, ptr %p", condition, *kept]
    text = "\n  ".join([*lines, f"%r = {choice}", "ret double %r"]) + "\n}\n"
    assert without_branches(text) == text


def test_the_type_of_a_comparison_is_not_read_from_names() -> None:
    """Of floats, deciding between doubles: one mask would not fit the other."""
    head, tail = "define double @f(double %x, float %double, ptr %p) {", "ret double %r"
    lines = ["%c = fcmp olt float %double, 1.0", "%k = zext i1 %c to i8", "store i8 %k, ptr %p"]
    text = "\n  ".join([head, *lines, "%r = select i1 %c, double %x, double 2.0", tail]) + "\n}\n"
    assert without_branches(text) == text


@pytest.mark.parametrize("type", TYPES)
def test_parts_of_one_cotangent_are_masks(type: str) -> None:
    """A comparison decides which of two numbers has it, and has nothing."""
    lines = ["%c = fcmp olt {t} %x, %y", "%a = select i1 %c, {t} %x, {t} 0.000000e+00"]
    lines += ["%b = select i1 %c, {t} 0.000000e+00, {t} %y", "%r = fsub {t} %a, %b", "ret {t} %r"]
    before = "\n  ".join(["define {t} @f({t} %x, {t} %y, ptr %p) {{", *lines]).format(t=type) + "\n}\n"
    after = without_branches(before)
    assert "select i1" not in after
    assert_same_bits(before, after, type)


def table(s: Any, gap: Any) -> Any:
    n, m = s.shape
    f = np.zeros((n + 1, m + 1), s.dtype)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            f[i, j] = max(f[i - 1, j - 1] + s[i - 1, j - 1], f[i - 1, j] - gap, f[i, j - 1] - 1.1 * gap)
    return f[n, m]


def table_of_branches(s: Any, gap: Any) -> Any:
    n, m = s.shape
    f = np.zeros((n + 1, m + 1), s.dtype)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best, slope = f[i - 1, j - 1] + s[i - 1, j - 1], 0.5
            if f[i - 1, j] - gap > best:
                best, slope = f[i - 1, j] - gap, 2.0
            if f[i, j - 1] > best:
                best = f[i, j - 1] - 1.1 * gap
            f[i, j] = best + 0.01 * slope * s[i - 1, j - 1]
    return f[n, m]


def table_of_extrema(s: Any, gap: Any) -> Any:
    n, m = s.shape
    f = np.zeros((n + 1, m + 1), s.dtype)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            f[i, j] = np.maximum(np.minimum(f[i - 1, j - 1] + s[i - 1, j - 1], f[i - 1, j] + gap), f[i, j - 1] - gap)
    return f[n, m]


def table_of_costs(c: Any, gap: Any) -> Any:
    """Whose comparisons the way back makes again, of what the table holds."""
    n, m = c.shape
    f = np.full((n + 1, m + 1), gap)
    for i in range(n):
        for j in range(m):
            f[i + 1, j + 1] = c[i, j] + np.minimum(np.minimum(f[i, j], f[i, j + 1]), f[i + 1, j])
    return f[n, m] + gap * f[n, 1]


TABLES = [table, table_of_branches, table_of_extrema, table_of_costs]


@pytest.mark.parametrize("f", TABLES, ids=lambda f: f.__name__)
def test_gradients_of_tables_agree_with_differences(f: Program) -> None:
    s = np.random.default_rng(0).normal(size=(7, 9))
    check_gradient(f, s, 0.3)
    check_gradient(f, s, np.array(0.3), argnums=1)
    single = pliant.grad(f)(s.astype(np.float32), np.float32(0.3))
    np.testing.assert_allclose(single, pliant.grad(f)(s, 0.3), rtol=1e-5)


@pytest.mark.skipif(not are_branches(host_target().has), reason="this processor moves floats by conditions")
@pytest.mark.parametrize("f", TABLES, ids=lambda f: f.__name__)
def test_gradients_of_tables_have_no_branches_that_a_tape_decides(f: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[str]()

    def seen(text: str) -> str:
        made.append(without_branches(text))
        return made[-1]

    monkeypatch.setattr("pliant.backends.llvm.jit.without_branches", seen)
    monkeypatch.setenv("PLIANT_CACHE", "")
    s = np.random.default_rng(1).normal(size=(8, 9))
    pliant.grad(f)(s, 0.3)
    assert made
    for text in made:
        held = set(re.findall(r"(%[\w.]+) = icmp (?:eq|ne) i8 ", text))
        assert not [c for c in re.findall(r"select i1 (%[\w.]+), double", text) if c in held]
        compared = set(re.findall(r"(%[\w.]+) = fcmp ", text))
        chosen = re.findall(r"select i1 (%[\w.]+), double ([^,\n]+), double ([^,\n]+)$", text, re.MULTILINE)
        assert not [c for c, *operands in chosen if c in compared and "0.000000e+00" in operands]
        assert not [c for c in re.findall(r"br i1 (%[\w.]+),", text) if c in held | compared]
