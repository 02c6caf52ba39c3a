"""Functions of PyTorch's tensors as graphs: operators in order, on tensors of known dtypes and shapes.

`torch.fx` records what the function does to tensors that hold no numbers; PyTorch's decompositions leave the operators
of its core. A graph writes to nothing. What is computed without gradients (`torch.no_grad`) is detached.
"""

from __future__ import annotations

import inspect
import logging
import operator
import os
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any, cast, final

import numpy as np

from pliant.backends.torch_namespace import torch
from pliant.backends.torch_operators import SAME_DTYPES, check_dtypes, decomposed, line_of, packet_of, users_line
from pliant.core.data import frozen
from pliant.core.types import DTYPES, SHORT
from pliant.errors import ArgumentError, DTypeError, PliantError, TracedValueError, UnsupportedError
from pliant.frontend.aten import OPERATORS, Call
from pliant.frontend.convert import as_traced
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.tracing import back_in, current, is_tracing

proxies: Any = import_module("torch.fx.experimental.proxy_tensor")
primitives: Any = import_module("torch._prims_common")
functional: Any = import_module("torch.func")
pytree: Any = import_module("torch.utils._pytree")
attention: Any = import_module("torch.nn.attention")
traceback: Any = import_module("torch.fx.traceback")


@final
@frozen
class Ref:
    """Where an operand comes from: the value of a step, or input, of that number."""

    number: int


@final
@frozen
class Step:
    """One operator: its rule, what is known of the call, and operands, which hold `Ref`s."""

    rule: Callable[..., Any]
    call: Call | None  # None for what only takes one of several results
    args: Any
    kwargs: Any


@final
@frozen
class Graph:
    """Steps after `count` inputs. constants: arrays that the function made outside, which follow the inputs.

    results: the returned leaves, tensors as `Ref`s; structure: of these.
    """

    count: int
    constants: tuple[Any, ...]
    steps: tuple[Step, ...]
    results: tuple[Any, ...]
    structure: Any

    def run(self, inputs: Sequence[Any]) -> Any:
        """What the function returns, of arrays."""
        values = [_entered(x) for x in (*inputs, *self.constants)]

        def given(x: Any) -> Any:
            if type(x) is Ref:
                return values[x.number]
            several = _several(x)
            return x if several is None else [given(y) for y in several]

        for step in self.steps:
            args, kwargs = given(step.args), {name: given(x) for name, x in step.kwargs.items()}
            if step.call is None:
                values.append(step.rule(*args))
                continue
            try:
                made = step.rule(step.call, *args, **kwargs)
            except TypeError as error:
                raise step.call.refused(f"with these arguments: {error}") from error
            values.append(_checked(step.call, made))
        return unflatten(self.structure, [given(x) for x in self.results])


def _entered(x: Any) -> Any:
    """An array as one that answers to traced ones, if something is being traced."""
    return as_traced(x) if is_tracing() and isinstance(x, np.ndarray | np.generic) else x


def _several(x: Any) -> list[Any] | None:
    """What a list or a tuple holds; None for anything else."""
    return list(cast("Sequence[Any]", x)) if isinstance(x, list | tuple) else None


def _checked(call: Call, made: Any) -> Any:
    """Results in the dtypes that PyTorch has; a shape that differs would be our error."""
    several = _several(made)
    found = list[Any]()
    for y, dtype, shape in zip(several or [made], call.dtypes, call.shapes, strict=False):
        if tuple(np.shape(y)) != shape:
            raise call.refused(f"made {np.shape(y)}, PyTorch has {shape}")
        found.append(_entered(y if y.dtype == dtype else y.astype(dtype)))
    return found if several is not None else found[0] if found else None


def graph_of(f: Callable[..., Any], leaves: Sequence[Any], structure: Any) -> Graph:
    """The graph of f for arguments like these: leaves that are arrays become tensors, others are known."""
    if torch._C._functorch.peek_interpreter_stack() is None:
        return _recorded(f, leaves, structure)
    trace = current() if is_tracing() else None

    def recorded() -> Graph:
        with nullcontext() if trace is None else back_in(trace):
            return _recorded(f, leaves, structure)

    with ThreadPoolExecutor(1) as apart:  # what is made inside `torch.func.grad` is a tensor of its own kind
        return apart.submit(recorded).result()


def _recorded(f: Callable[..., Any], leaves: Sequence[Any], structure: Any) -> Graph:
    places = [n for n, x in enumerate(leaves) if hasattr(x, "dtype") and hasattr(x, "shape")]
    returned = list[Any]()

    def flat(*tensors: Any) -> Any:
        given = [*leaves]
        for n, t in zip(places, tensors, strict=True):
            given[n] = t
        args, kwargs = unflatten(structure, given)
        with torch.enable_grad(), _Ungraded():
            made, shape = flatten(f(*args, **kwargs))
        returned[:] = [shape, made]
        return [y for y in made if isinstance(y, torch.Tensor)]

    inputs = [_empty(leaves[n]) for n in places]
    with _lock, _plain():
        try:
            with traceback.preserve_node_meta():
                first = _traced(flat, inputs, decomposed())
                shape, made = returned
                graph = _traced(torch.fx.Interpreter(first).run, inputs, {})
        except PliantError:
            raise
        except Exception as error:
            raise _explained(error) from error
        return _read(graph, len(places), made, shape)


def _traced(f: Callable[..., Any], inputs: Sequence[Any], table: Any) -> Any:
    """The graph of a function that writes to nothing but what it made. It is traced twice: decompositions write too."""
    return proxies.make_fx(
        functional.functionalize(f), decomposition_table=table, tracing_mode="fake",
        _allow_non_fake_inputs=True,
    )(*inputs)  # fmt: skip


def _empty(x: Any) -> Any:
    """A tensor like an array."""
    name = str(x.dtype)
    if name not in SHORT or not hasattr(torch, name):
        raise DTypeError(f"from_torch: PyTorch has no {name}")
    return torch.empty(tuple(x.shape), dtype=getattr(torch, name))


class _Ungraded(torch.overrides.TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
    """Notes the user's line with each operation, and detaches what is computed while gradients are off."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        traceback.set_stack_trace([users_line(inspect.currentframe())])
        if func in _SETTING:  # PyTorch would put a tensor that holds no numbers into a parameter, and then crash
            return None if args[0] is args[1] else _refuse_setting("what a tensor or parameter holds")
        if func in _LOOKING:
            return _looked(func, args, kwargs or {})
        made = _INSTEAD.get(func, func)(*args, **(kwargs or {}))
        if torch.is_grad_enabled() or func in _LEFT or (args and made is args[0]):
            return made
        return pytree.tree_map(_detached, made)


def _refuse_setting(what: str) -> None:
    raise UnsupportedError(
        f"from_torch: the function replaces {what}\n{users_line(inspect.currentframe())}",
        hint="do that before the call, as in module.double() or module.eval()",
    )


def _looked(func: Any, args: Any, kwargs: Any) -> Any:
    """The numbers of a tensor, if it is one that the function has made of what is known."""
    x, hint = args[0], "torch.where instead of if; sizes and numbers of steps as Python ints"
    is_known = type(x) in (torch.Tensor, torch.nn.Parameter) and not torch._C._functorch.is_functorch_wrapped_tensor(x)
    hint = "PyTorch's functions inside, NumPy's and Pliant's around it" if func in _READING else hint
    made = None
    if is_known or func not in _READING:
        try:
            made = func(*args, **kwargs)
        except Exception as error:
            if "data-dependent" not in str(error).lower() and "DataDependent" not in type(error).__name__:
                raise
    if made is None or isinstance(made, torch.SymBool | torch.SymInt | torch.SymFloat):
        line, frame = users_line(inspect.currentframe()), inspect.currentframe()
        while frame is not None and users_line(frame) == line:
            if f"torch{os.sep}distributions" in frame.f_code.co_filename:
                hint = "give the distribution validate_args=False"
            frame = frame.f_back
        raise TracedValueError(f"from_torch: the function looks at numbers while it is recorded\n{line}", hint=hint)
    return made


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def _one_hot(x: Any, num_classes: int = -1) -> Any:
    """Which class each number names; PyTorch's own looks at the numbers."""
    if num_classes < 0:
        raise TracedValueError("from_torch: one_hot has to know the number of classes", hint="give num_classes=")
    return (x[..., None] == torch.arange(num_classes, device=x.device)).to(torch.int64)


_SETTING = frozenset({torch.Tensor.data.__set__, torch.Tensor.set_, torch.utils.swap_tensors})
_READING = frozenset({torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.tolist})
_LOOKING = _READING | {
    torch.Tensor.item, torch.Tensor.__bool__, torch.Tensor.__int__, torch.Tensor.__float__, torch.Tensor.__index__,
    torch.Tensor.__complex__, torch.Tensor.__contains__, torch.is_nonzero, torch.Tensor.is_nonzero, torch.equal,
}  # fmt: skip
_LEFT = frozenset({torch.Tensor.detach, torch._C._set_grad_enabled})
_INSTEAD: dict[Any, Any] = {torch.nn.functional.one_hot: _one_hot}


_lock = threading.RLock()  # settings of PyTorch are for all


@contextmanager
def _plain() -> Generator[None]:
    """PyTorch without kernels for whole layers, which have no graph. Custom derivatives, and others in the place of a
    module's tensors, are refused."""
    function, own, here = torch.autograd.Function, torch.autograd.Function.__dict__["apply"], threading.get_ident()

    def refused(cls: Any, *args: Any, **options: Any) -> Any:
        if threading.get_ident() != here:  # what others do meanwhile
            return own.__get__(None, cls)(*args, **options)
        raise UnsupportedError(
            f"from_torch: {cls.__name__} has its own derivative, which the graph would lose",
            hint="write it with torch operations, or with pliant.custom_derivative",
        )

    def set_of(module: Any, name: str, value: Any) -> None:
        held = {**module.__dict__.get("_parameters", {}), **module.__dict__.get("_buffers", {})}
        if threading.get_ident() == here and isinstance(held.get(name), torch.Tensor) and held[name] is not value:
            _refuse_setting(f"{name}, a parameter or buffer of {type(module).__name__}")
        setting(module, name, value)

    modules, setting = torch.nn.Module, torch.nn.Module.__setattr__
    logger = logging.getLogger("torch._subclasses.fake_tensor")  # which writes down what is raised
    fast, layers, is_quiet = torch.backends.mha.get_fastpath_enabled(), torch._C._get_mkldnn_enabled(), logger.disabled
    with attention.sdpa_kernel(attention.SDPBackend.MATH):
        function.apply, modules.__setattr__ = classmethod(refused), set_of
        torch.backends.mha.set_fastpath_enabled(False)
        torch._C._set_mkldnn_enabled(False)
        logger.disabled = True
        try:
            yield
        finally:
            logger.disabled = is_quiet
            torch._C._set_mkldnn_enabled(layers)
            torch.backends.mha.set_fastpath_enabled(fast)
            function.apply, modules.__setattr__ = own, setting


def _explained(error: Exception) -> PliantError:
    """The error for what cannot be recorded."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    line = line_of(error)
    where = f"\n{line}" if line else ""
    if "data-dependent" in text.lower() or "DataDependent" in type(error).__name__:
        return TracedValueError(
            f"from_torch: the function looks at numbers while it is recorded{where}",
            hint="torch.where instead of if; sizes and numbers of steps as Python ints",
        )
    return ArgumentError(f"from_torch: PyTorch cannot record the function: {type(error).__name__}: {text}{where}")


def _read(graph: Any, count: int, made: Sequence[Any], structure: Any) -> Graph:
    """A graph of torch.fx as steps."""
    numbers = dict[Any, int]()
    constants, steps, output = list[Any](), list[Step](), None
    body = [n for n in graph.graph.nodes if n.op not in ("placeholder", "get_attr", "output")]
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            numbers[node] = len(numbers)
        elif node.op == "get_attr":
            numbers[node] = count + len(constants)
            constants.append(operator.attrgetter(node.target)(graph).detach().cpu().numpy())
        elif node.op == "output":
            output = node.args[0]
    for n, node in enumerate(body):
        numbers[node] = count + len(constants) + n

    def refs(x: Any) -> Any:
        if isinstance(x, torch.fx.Node):
            return Ref(numbers[x])
        several = _several(x)
        if several is not None:
            return tuple([refs(y) for y in several])
        return None if isinstance(x, torch.device | torch.layout | torch.memory_format) else x

    for node in body:
        if "copy_" in str(node.target) and node.args[0].op in ("placeholder", "get_attr"):
            raise UnsupportedError(
                "from_torch: the function writes to its arguments, or to buffers of its module",
                hint="return new tensors; call module.eval()",
            )
        steps.append(_step(node, refs))
    leaves, tensors = list[Any](), iter(output or ())
    for y in made:
        leaves.append(refs(next(tensors)) if isinstance(y, torch.Tensor) else y)
    return Graph(count, tuple(constants), tuple(steps), tuple(leaves), structure)


def _step(node: Any, refs: Callable[[Any], Any]) -> Step:
    """One node of the graph."""
    if node.target is operator.getitem:
        return Step(operator.getitem, None, refs(node.args), {})
    name = getattr(node.target, "_schema", node.target)
    packet = str(getattr(node.target, "overloadpacket", node.target))
    line = str(node.meta.get("stack_trace") or node.stack_trace or "")
    found = node.meta.get("val")
    tensors: list[Any] = [t for t in _several(found) or [found] if isinstance(t, torch.Tensor)]
    if any([not isinstance(n, int) for t in tensors for n in t.shape]):
        raise TracedValueError(
            f"from_torch: the shape of what {packet} makes depends on numbers" + (f"\n{line}" if line else ""),
            hint="torch.where keeps the shape; indices may be an argument",
        )
    if packet_of(node.target) in SAME_DTYPES:
        check_dtypes(packet_of(node.target), [_shown(x) for x in node.args], line)
    dtypes = tuple([_name(t, packet) for t in tensors])
    call = Call(packet, dtypes, tuple([tuple(t.shape) for t in tensors]), _common(node), line)
    rule = OPERATORS.get(packet.rpartition(".")[2])
    if rule is None or (packet.partition(".")[0] not in ("aten", "prims")):
        draws = packet.rpartition(".")[2].rstrip("_").removesuffix("_like") in _DRAWS
        raise call.refused(
            f"has no translation ({name})" if rule is None else "is no operator of PyTorch's own",
            hint="call module.eval() if it is dropout; else draw outside, and pass the numbers" if draws else "",
        )
    if packet == "aten.as_strided" and not _is_whole(_shown(node.args[0])):
        raise call.refused("of a part of an array, or of one in another order", "x.contiguous()")
    return Step(rule, call, refs(node.args), {k: refs(v) for k, v in node.kwargs.items()})


_DRAWS = frozenset({
    "bernoulli", "rand", "randn", "randint", "randperm", "normal", "uniform", "exponential", "multinomial", "poisson",
    "native_dropout", "cauchy", "geometric", "log_normal", "random", "binomial", "normal_functional",
})  # fmt: skip


def _name(tensor: Any, packet: str) -> str:
    found = str(tensor.dtype).rpartition(".")[2]
    if found not in SHORT:
        raise DTypeError(f"from_torch: {packet} makes {found}, which NumPy has not", hint="use float32")
    return DTYPES[SHORT[found]]


def _is_whole(x: Any) -> bool:
    """Whether a tensor is all of its memory, in row-major order."""
    return bool(x.is_contiguous()) and x.untyped_storage().nbytes() == x.numel() * x.element_size()


def _shown(x: Any) -> Any:
    """What stands for an operand."""
    return x.meta["val"] if isinstance(x, torch.fx.Node) else x


def _common(node: Any) -> str:
    """The dtype that the tensors and numbers among the operands are promoted to; none if there are no tensors."""
    given = [_shown(a) for a in node.args]
    given = [a for a in given if isinstance(a, torch.Tensor | bool | int | float | complex)]
    if not any([isinstance(a, torch.Tensor) for a in given]):
        return ""
    kind = primitives.ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    return str(primitives.elementwise_dtypes(*given, type_promotion_kind=kind)[1]).rpartition(".")[2]


__all__ = ["Graph", "graph_of"]
