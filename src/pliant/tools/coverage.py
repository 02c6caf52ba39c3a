"""What is supported: which rules each primitive has, and which functions of NumPy and SciPy are compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from pliant import ops
from pliant.core.ir import Op
from pliant.frontend import functions
from pliant.frontend.functions import scipys
from pliant.frontend.functions.scipys import distributions

RULES = ("infer", "array", "expand", "jvp", "transpose", "batch", "kernel", "fill")


def rule_mark(cls: type[Op], rule: str) -> str:
    """Where a primitive has a rule from: `own`, the name of its family, or `-`."""
    owner = next((c for c in cls.__mro__ if rule in vars(c)), Op)
    if owner is Op:
        return "-"
    return "own" if owner is cls else owner.__name__.lower()


def primitive_rows(primitives: Mapping[str, type[Op]] = ops.ALL) -> list[tuple[str, ...]]:
    """Name and marks of every primitive, by name."""
    return [(name, *(rule_mark(cls, rule) for rule in RULES)) for name, cls in sorted(primitives.items())]


def numpy_groups() -> dict[str, list[str]]:
    """What the frontend's tables answer for, by heading; at the end what they refuse, with a hint."""
    tables: Mapping[str, Any] = vars(functions)
    refused = {qualified(f) for f in tables["UNSUPPORTED"]}
    named = sorted({qualified(f) for f in tables["FUNCTIONS"]} - refused, key=lambda n: n.rpartition("."))
    no_methods = {n.rpartition(".")[2] for n in refused} | set(tables["REFUSED_METHODS"])
    groups = {where: list(names) for where, names in groupby(named, lambda n: n.rpartition(".")[0])}
    ufuncs = {"ufuncs": "UFUNCS", "ufunc.reduce": "REDUCTIONS", "ufunc.accumulate": "ACCUMULATIONS"}
    ufuncs |= {"ufunc.reduceat": "PARTS", "ufunc.at": "AT"}
    return {
        **{heading: sorted(f.__name__ for f in tables[table]) for heading, table in ufuncs.items()},
        "ufuncs of other libraries": sorted(tables["NAMED_UFUNCS"]),
        **{where: [n.rpartition(".")[2] for n in names] for where, names in groups.items()},
        "methods of arrays": sorted(set(tables["METHODS"]) - no_methods),
        "properties of arrays": sorted(set(tables["PROPERTIES"]) - set(tables["REFUSED_PROPERTIES"])),
        **{module: sorted(table) for module, table in scipys.FUNCTIONS.items()},
        "scipy.stats": sorted(f"{name}.{which}" for name in distributions.NAMES for which in distributions.has(name)),
        "refused functions": sorted(refused),
        "refused methods": sorted(no_methods & set(tables["METHODS"])),
        "refused properties": sorted(tables["REFUSED_PROPERTIES"]),
    }


def qualified(function: Any) -> str:
    """`np.linalg.solve` for a function of NumPy."""
    module = str(getattr(function, "__module__", None) or "numpy")
    return f"{'np' + module.removeprefix('numpy')}.{function.__name__}"


def coverage_text() -> str:
    """Both tables for a terminal."""
    matrix = columns([("primitive", *RULES), *primitive_rows()])
    lists = [f"{heading} ({len(names)})\n{wrapped(names)}" for heading, names in numpy_groups().items() if names]
    return "\n\n".join([matrix, *lists])


def coverage_markdown() -> str:
    """Both tables for the documentation."""
    head = ["# Coverage", "", "Made by `python -m pliant coverage --markdown`; do not edit.", ""]
    meaning = "`own`: written for it; another word: its family's; `-`: none, or by `expand`."
    rules = ["## Rules of each primitive", "", meaning]
    table = [markdown_row(("primitive", *RULES)), markdown_row(["---"] * (1 + len(RULES)))]
    table += [markdown_row((f"`{name}`", *marks)) for name, *marks in primitive_rows()]
    lists = ["## NumPy and SciPy", "", "What is refused raises UnsupportedError, which says what to write instead."]
    for heading, names in numpy_groups().items():
        if names:
            lists += ["", f"**{heading}** ({len(names)}): {', '.join(f'`{n}`' for n in names)}"]
    return "\n".join([*head, *rules, "", *table, "", *lists])


def markdown_row(cells: Sequence[str]) -> str:
    """`| a | b |`."""
    return f"| {' | '.join(cells)} |"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def wrapped(names: Iterable[str], width: int = 100) -> str:
    """Names in indented lines."""
    lines = ["  "]
    for name in names:
        if len(lines[-1]) + len(name) > width:
            lines.append("  ")
        lines[-1] += name + " "
    return "\n".join(line.rstrip() for line in lines)
