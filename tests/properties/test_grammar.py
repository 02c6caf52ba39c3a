"""Random programs hold all of NumPy that is supported, and every line that they may hold is one that NumPy runs."""

from __future__ import annotations

from random import Random

import pytest

from pliant.tools.coverage import numpy_groups
from tests.properties.generate import Options, arguments_of, line_of
from tests.properties.grammar import templates
from tests.properties.programs import Program, quiet

TEXTS = tuple(dict.fromkeys([text for _, text in templates(is_smooth=False)]))
CALLS = {
    "ufuncs": "np.{}(", "ufunc.reduce": "np.{}.reduce(", "ufunc.accumulate": "np.{}.accumulate(", "ufunc.reduceat": "np.{}.reduceat(",
    "ufunc.at": "np.{}.at(", "ufuncs of other libraries": "special.{}(", "methods of arrays": ".{}(", "properties of arrays": ".{}",
}  # fmt: skip
ELSEWHERE = {"strides"}  # NumPy lays out many results as it likes: see tests/frontend/functions/test_as_strided.py
NO_NUMPY = ("refused", "scipy.")  # SciPy's functions are in tests/frontend/functions/test_scipy_*.py
GROUPS = {heading: names for heading, names in numpy_groups().items() if not heading.startswith(NO_NUMPY)}


@pytest.mark.parametrize("heading", GROUPS)
def test_every_function_that_is_supported_is_drawn(heading: str) -> None:
    text, call = "\n".join(TEXTS), CALLS.get(heading, heading + ".{}(")
    assert [name for name in GROUPS[heading] if call.format(name) not in text and name not in ELSEWHERE] == []


def test_every_line_is_one_that_numpy_runs() -> None:
    draw, options = Random(5), Options()
    given = [Program(arguments_of(draw, options, 8), (), ()) for _ in range(60)]
    envs = [dict(zip([n for n, _ in made.arguments], made.inputs(), strict=True)) for made in given]
    with quiet():
        dead = [t for t in TEXTS if not any(line_of(t, draw, options, envs[n % 60], "y") for n in range(600))]
    assert dead == []
