"""Programs kept on disk: another process neither plans nor emits them, and they are the same programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pliant.backends.llvm import kept
from pliant.backends.llvm.kept import all_nodes, is_ours, key_of_program
from pliant.backends.store import DIGEST, PROGRAM, SUFFIX
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops.elementwise import Add
from pliant.ops.transcendental import Sin

PROGRAM_TEXT = """
import sys
import numpy as np, pliant
from pliant.backends.llvm import kept
kept.sources = lambda: "as they are"
A, B = np.arange(9.0).reshape(3, 3) + 10 * np.eye(3), np.linspace(0, 1, 40000).reshape(200, 200)
X = np.arange(12.0)

def solved(A):
    return (np.linalg.solve(A, A @ A[0]) * np.exp(-A[1])).sum()

def looped(x):
    total = 0.0
    for i in range(len(x)):
        total = np.sin(total + x[i])
    return total

def reached(x):
    return pliant.while_loop(lambda x: np.sum(x) < 1e6, lambda x: x + 0.1 * x * x, x)[0]

def twice(x):
    x *= 2

@pliant.jit
def taken(x, i):
    return x[i]

print(repr(pliant.value_and_grad(solved)(A)[1].tolist()))
print(repr(pliant.jit(lambda B: np.sum(B @ B) + np.exp(B).sum())(B)))
print(repr(pliant.grad(looped)(X).tolist()))
print(repr(pliant.grad(reached)(X).tolist()))
for dtype in ("f4", "f8", "i8"):
    print(repr(pliant.jit(np.sort)(-A.astype(dtype)).tolist()), repr(pliant.jit(np.median)(A.astype(dtype))))
pliant.jit(twice)(X)
print(X.tolist())
for n in range(5):
    print(taken(X, np.array([n, -1])).tolist())
for bad in (12, -13):
    try:
        taken(X, np.array([0, bad]))
    except IndexError as error:
        print(error)
try:
    pliant.jit(np.linalg.cholesky)(-A)
except np.linalg.LinAlgError as error:
    print(error)
print("kernel.build" if "pliant.kernel.build" in sys.modules else "nothing was planned", file=sys.stderr)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("PLIANT_VERIFY", "0")
    return tmp_path / "kept"


def run(place):
    """What the program prints with a cache in a folder, and whether it planned anything."""
    settings = os.environ | {"PLIANT_CACHE": str(place), "PLIANT_VERIFY": "0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM_TEXT], capture_output=True, text=True, check=True, env=settings
    )
    return done.stdout, done.stderr.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with what two processes kept that started at once, and what they printed."""
    place = tmp_path_factory.mktemp("cache") / "kept"
    with ThreadPoolExecutor(2) as pool:
        printed = [*pool.map(lambda _: run(place), range(2))]
    (text,) = {text for text, _ in printed}
    assert "kernel.build" in {planned for _, planned in printed}  # both, if neither waited for a core
    return place, text


def test_another_process_plans_nothing_and_gives_the_same_results_and_errors(filled):
    place, text = filled
    assert "index 12 is out of range for axis 0 of extent 12" in text
    assert "not positive definite" in text
    assert run(place) == (text, "nothing was planned")


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (PROGRAM, lambda content: b""),
        (PROGRAM, lambda content: content[:-9]),
        (PROGRAM, lambda content: content[:-1] + b"?"),
        (SUFFIX, lambda content: content[:-1] + b"?"),
        (SUFFIX, None),
    ],
    ids=["empty", "cut", "changed", "other code", "no code"],
)
def test_damaged_entries_are_made_anew(filled, tmp_path, suffix, damage):
    place, text = filled
    shutil.copytree(place, tmp_path / "kept")
    for path in (tmp_path / "kept").glob("*" + suffix):
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage(path.read_bytes()))
    assert run(tmp_path / "kept") == (text, "kernel.build")
    names = {path.name for path in place.iterdir()}
    assert {path.name for path in (tmp_path / "kept").iterdir()} == names
    assert all([(tmp_path / "kept" / name).read_bytes() == (place / name).read_bytes() for name in names])


@pytest.mark.parametrize("suffix", [SUFFIX, PROGRAM])
def test_entries_in_the_places_of_others_are_made_anew(filled, tmp_path, suffix):
    place, text = filled
    shutil.copytree(place, tmp_path / "kept")
    paths = sorted((tmp_path / "kept").glob("*" + suffix))
    contents = [path.read_bytes() for path in paths]
    assert len(paths) > 1
    for path, content in zip(paths, [*contents[1:], contents[0]], strict=True):
        path.write_bytes(content)
    assert run(tmp_path / "kept") == (text, "kernel.build")
    assert [path.read_bytes() for path in paths] == contents


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_folder_that_cannot_be_written(filled, tmp_path):
    place, text = filled
    shutil.copytree(place, tmp_path / "kept")
    (tmp_path / "kept").chmod(0o500)
    try:
        assert run(tmp_path / "kept") == (text, "nothing was planned")
    finally:
        (tmp_path / "kept").chmod(0o700)


def program():
    return trace(lambda x: Sin()(x), Type("f64", (3,)))


@pytest.mark.parametrize(
    "other",
    [
        lambda: trace(lambda x: Sin()(x), Type("f64", (4,))),
        lambda: trace(lambda x: Sin()(x), Type("f32", (3,))),
        lambda: trace(lambda x: Add()(x, x), Type("f64", (3,))),
    ],
)
def test_another_program_has_another_key(folder, other):
    assert key_of_program(program(), (), ()) == key_of_program(program(), (), ()) != ""
    assert key_of_program(program(), (), ()) != key_of_program(other(), (), ())


def test_the_key_depends_on_versions_machine_sources_and_what_may_be_written(folder, monkeypatch):
    keys = {key_of_program(program(), pinned, free) for pinned in ((), ((0, 0),)) for free in ((), (0,))}
    assert len(keys) == 4
    monkeypatch.setattr(kept.host_target(), "features", "+other")
    keys.add(key_of_program(program(), (), ()))
    monkeypatch.setattr(kept, "VERSIONS", "others")
    keys.add(key_of_program(program(), (), ()))
    monkeypatch.setattr(kept, "sources", lambda: "others")
    keys.add(key_of_program(program(), (), ()))
    assert len(keys) == 7


@pytest.mark.parametrize(
    ("name", "value"), [("PLIANT_VERIFY", "1"), ("PLIANT_POISON", "1"), ("PLIANT_SHARING", "0"), ("PLIANT_MATH", "own")]
)
def test_what_is_to_be_verified_is_made_anew(folder, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert key_of_program(program(), (), ()) == ""


def test_operations_of_others_are_not_kept(folder):
    theirs = type("Theirs", (Sin,), {"__module__": "theirs"})
    assert all(is_ours(node.op) for node in all_nodes(program()))
    assert not is_ours(theirs())


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_entries_name_their_code_and_are_the_owners(filled):
    place, _ = filled
    entries = [*place.glob("*" + PROGRAM)]
    assert len(entries) > 4
    for path in entries:
        assert (place / (json.loads(path.read_bytes()[DIGEST:])["code"] + SUFFIX)).exists()
        assert path.stat().st_mode & 0o077 == 0
