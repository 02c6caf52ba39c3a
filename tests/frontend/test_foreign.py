"""Arrays of other libraries, and buffers, as arguments: taken as they lie in memory."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import numpy as np
import pytest

import pliant


def add_one(x: Any) -> Any:
    x += 1
    return x


class OnlyDLPack:
    """An array by DLPack alone, as some libraries have it."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __dlpack__(self, **options: Any) -> Any:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return (1, 0)


class OnlyInterface:
    """An array by `__array_interface__` alone."""

    def __init__(self, content: Any) -> None:
        self.content = content

    @property
    def __array_interface__(self) -> Any:
        return self.content.__array_interface__


MAKERS: dict[str, Any] = {
    "memoryview": lambda x: memoryview(x),
    "array.array": lambda x: array.array("d", x.tolist()),
    "ctypes": lambda x: (ctypes.c_double * len(x))(*x.tolist()),
    "DLPack": OnlyDLPack,
    "array interface": OnlyInterface,
}


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_by_protocol_are_arguments_and_are_written_in_place(name: str) -> None:
    compiled = pliant.jit(add_one)
    for turn in range(5):
        given = MAKERS[name](np.arange(3.0))
        made = compiled(given)
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, [1, 2, 3])
        np.testing.assert_array_equal(np.asarray(getattr(given, "content", given)), [1, 2, 3], err_msg=str(turn))


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_by_protocol_stand_in_containers_and_beside_numpys(name: str) -> None:
    compiled = pliant.value_and_grad(lambda p, y: np.sum(p["w"] ** 2 * y))
    for _ in range(4):
        value, gradient = compiled({"w": MAKERS[name](np.arange(3.0))}, np.arange(3.0))
        assert value == 9
        np.testing.assert_array_equal(gradient["w"], [0, 2, 8])


def test_a_buffer_that_cannot_be_written_is_read_and_not_written() -> None:
    read, write = pliant.jit(lambda x: x * 2), pliant.jit(add_one)
    for _ in range(4):
        content = memoryview(bytes(np.arange(3.0))).cast("d")
        np.testing.assert_array_equal(read(content), [0, 2, 4])
        with pytest.raises(ValueError, match="read-only"):
            write(content)
        fixed = np.arange(3.0)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            write(OnlyInterface(fixed))
    for _ in range(4):
        write(np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        write(memoryview(bytes(24)).cast("d"))


def test_bytes_and_text_are_values() -> None:
    compiled = pliant.jit(lambda x, tag: (x * len(tag), tag))
    for _ in range(3):
        assert compiled(2.0, b"abc") == (6.0, b"abc")
        assert compiled(2.0, "ab") == (4.0, "ab")


def test_errors_of_dlpack_come_through() -> None:
    compiled = pliant.jit(lambda x: x + 1)
    for _ in range(3):
        compiled(OnlyDLPack(np.ones(2)))
    with pytest.raises(BufferError, match="elsewhere"):
        compiled(OnlyDLPack(BufferError("it lies elsewhere")))


def test_a_class_of_arrays_is_no_array() -> None:
    compiled = pliant.jit(lambda x, kind: x.astype(kind))
    for _ in range(3):
        assert compiled(np.ones(2), np.float32).dtype == np.float32


@pytest.mark.torch
def test_torch_tensors_are_arguments_without_copies() -> None:
    torch = pytest.importorskip("torch")
    compiled = pliant.jit(add_one)
    for dtype in (torch.float64, torch.float32, torch.int32):
        for _ in range(4):
            x = torch.arange(3, dtype=dtype)
            made = compiled(x)
            assert type(made) is np.ndarray
            np.testing.assert_array_equal(x.numpy(), [1, 2, 3])
            assert np.shares_memory(made, x.numpy())


@pytest.mark.torch
def test_torch_tensors_of_any_strides() -> None:
    torch = pytest.importorskip("torch")
    compiled = pliant.jit(lambda x: np.cumsum(x, axis=0))
    x = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    for view in (x.T, x[::2, 1:], x.expand(2, 3, 4), x[:0], x[0, 0]):
        for _ in range(4):
            np.testing.assert_array_equal(compiled(view), np.cumsum(view.numpy(), axis=0))


@pytest.mark.torch
def test_a_tensor_that_torch_differentiates_says_to_detach_it() -> None:
    torch = pytest.importorskip("torch")
    compiled = pliant.jit(lambda x: x + 1)
    for _ in range(4):
        compiled(torch.ones(3))
        with pytest.raises(RuntimeError, match="detach"):
            compiled(torch.ones(3, requires_grad=True))
    np.testing.assert_array_equal(compiled(torch.ones(3, requires_grad=True).detach()), [2, 2, 2])


@pytest.mark.torch
def test_gradients_of_tensors_are_numpys() -> None:
    torch = pytest.importorskip("torch")
    gradient = pliant.grad(lambda x: np.sum(np.sin(x)))
    for _ in range(4):
        made = gradient(torch.arange(3, dtype=torch.float64))
        np.testing.assert_allclose(made, np.cos(np.arange(3.0)))
    value, pullback = pliant.vjp(np.sin, torch.zeros(2, dtype=torch.float64))
    np.testing.assert_array_equal(pullback(torch.ones(2, dtype=torch.float64))[0], [1, 1])
    np.testing.assert_array_equal(value, [0, 0])


@pytest.mark.jax
def test_jax_arrays_are_arguments_that_cannot_be_written() -> None:
    jax = pytest.importorskip("jax")
    read, write = pliant.jit(lambda x: x * 2), pliant.jit(add_one)
    for _ in range(4):
        x = jax.numpy.arange(3.0, dtype="float32")
        made = read(x)
        assert made.dtype == np.float32
        np.testing.assert_array_equal(made, [0, 2, 4])
        with pytest.raises(ValueError, match="read-only"):
            write(x)
