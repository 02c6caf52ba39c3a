"""Settings of the whole suite: hypothesis profiles, and what to skip when an extra is absent."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import pytest
from hypothesis import HealthCheck, settings

from pliant.cached import forget
from pliant.frontend.decided import Deciding
from pliant.frontend.known import Known

matplotlib.use("Agg")
settings.register_profile("quick", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("quick"), derandomize=True)
settings.register_profile("fuzz", settings.get_profile("quick"), max_examples=5000)
os.environ.setdefault("PLIANT_VERIFY", "1")  # after every pass
os.environ.setdefault("PLIANT_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "code"))
settings.load_profile("ci" if os.environ.get("CI") else "quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden texts instead of comparing")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for extra in ("jax", "torch"):
        if find_spec(extra) is None:
            for item in items:
                if item.get_closest_marker(extra):
                    item.add_marker(pytest.mark.skip(reason=f"needs the {extra} extra"))


def pytest_collection_finish() -> None:
    """What all modules hold is there to stay: collections that went through it took a third of the suite's time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """Each test finds nothing that others compiled of the same functions."""
    forget()


@pytest.fixture(autouse=True)
def for_all_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of traced bounds are what tests of them compile, whichever integers come first."""
    monkeypatch.setattr(Known, "may_guess", False)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the file `<name>.txt` beside the test; `--update-golden` rewrites the file."""

    def check(name: str, text: str) -> None:
        path = Path(request.path).parent / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert text == path.read_text(), f"{path.name} differs; look, then run pytest --update-golden"

    return check


@pytest.fixture
def for_all_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data decide no numbers: what a trace would have to know of them is an error, as in `pliant.trace`."""
    monkeypatch.setattr(Deciding, "sources", lambda *_: [])
