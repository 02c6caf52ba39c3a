"""Code kept on disk: used again by other processes, never if it is damaged or another's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import jit
from pliant.backends.store import SUFFIX, Store, folder

PROGRAM = """
import numpy as np, pliant
from pliant.backends.llvm import jit
asked = []
real = jit.compiled
jit.compiled = lambda *args: asked.append(1) or real(*args)
A = np.arange(9.0).reshape(3, 3) + 10 * np.eye(3)
print(repr(pliant.grad(lambda A: (np.linalg.solve(A, A @ A[0]) * np.exp(-A[1])).sum())(A).tolist()))
print(len(asked))
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def run(kept: Path) -> tuple[str, int]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    answer, count = done.stdout.splitlines()
    return answer, int(count)


def test_another_process_uses_what_the_first_one_kept(kept):
    first, compiled = run(kept)
    again, compiled_again = run(kept)
    assert compiled > 0
    assert compiled_again == 0
    assert again == first


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_the_owner_may_read_what_is_kept(kept):
    pliant.jit(lambda x: x * 3.25)(np.ones(3))
    assert kept.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept.iterdir())


@pytest.mark.parametrize("damage", [b"", b"too short", bytes(200)])
def test_a_damaged_entry_is_written_anew(kept, damage):
    def f(x):
        return x * 4.25

    np.testing.assert_array_equal(pliant.jit(f)(np.ones(3)), 4.25 * np.ones(3))
    (path,) = kept.glob("*" + SUFFIX)
    whole = path.read_bytes()
    path.write_bytes(damage)
    np.testing.assert_array_equal(pliant.jit(lambda x: x * 4.25)(np.ones(3)), 4.25 * np.ones(3))
    assert path.read_bytes() == whole


def test_one_changed_byte_is_noticed(tmp_path):
    store = Store(tmp_path)
    store.put("a", b"some code")
    path = tmp_path / ("a" + SUFFIX)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    assert store.get("a") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_others_may_write_is_not_looked_at(tmp_path, which):
    place = tmp_path / "kept"
    store = Store(place)
    store.put("a", b"some code")
    assert store.get("a") == b"some code"
    (place if which == "folder" else place / ("a" + SUFFIX)).chmod(0o777)
    assert store.get("a") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_link_is_not_followed(tmp_path):
    elsewhere, store = Store(tmp_path / "elsewhere"), Store(tmp_path / "kept")
    for each in (elsewhere, store):
        each.put("a", b"some code")
    (tmp_path / "kept" / ("a" + SUFFIX)).unlink()
    (tmp_path / "kept" / ("a" + SUFFIX)).symlink_to(tmp_path / "elsewhere" / ("a" + SUFFIX))
    assert store.get("a") is None


def test_a_folder_that_cannot_be_made_only_turns_the_cache_off(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "file" / "kept"))
    np.testing.assert_array_equal(pliant.jit(lambda x: x * 5.25)(np.ones(3)), 5.25 * np.ones(3))
    assert pliant.cache.info().programs == 0


def test_an_empty_variable_turns_the_cache_off(monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", "")
    asked = []
    real = jit.compiled
    monkeypatch.setattr(jit, "compiled", lambda *args: asked.append(args) or real(*args))
    for _ in range(2):
        pliant.jit(lambda x: x * 6.25)(np.ones(3))
    assert len(asked) == 2
    assert pliant.cache.info() == pliant.cache.Info(None, 0, 0)


def test_what_was_not_used_for_longest_is_dropped_first(tmp_path):
    store = Store(tmp_path)
    for number, key in enumerate("abc"):
        store.put(key, bytes(100))
        os.utime(tmp_path / (key + SUFFIX), (number, number))
    assert store.get("a")  # used now
    assert store.shrink(2 * 132) == 1
    assert [store.get(key) is None for key in "abc"] == [False, True, False]


def test_info_counts_and_clear_drops(kept):
    pliant.jit(lambda x: x * 7.25)(np.ones(3))
    found = pliant.cache.info()
    assert (found.folder, found.programs) == (kept, 1)
    assert found.bytes > 100
    assert pliant.cache.clear() == 1
    assert pliant.cache.info().programs == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other folders")
def test_the_folder_is_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("PLIANT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder() == tmp_path / "pliant"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / ".cache" / "pliant"
