"""Programs that must be refused, each with what it is given. The messages are golden texts."""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from typing import Any

import numpy as np

import pliant

X, TWO, THREE = np.arange(3.0), np.array(2), np.array(3)  # Python's integers would be known where they have to be
FROZEN, TABLE = np.arange(3.0), np.zeros((2, 3))
FROZEN.flags.writeable = False


def shapes_that_do_not_fit(x: Any) -> Any:
    u = np.sin(x)
    y = np.ones(4)
    return u + y


def matrix_product_of_wrong_shapes(x: Any) -> Any:
    return TABLE @ x[:2]


def reshape_to_another_size(x: Any) -> Any:
    return x.reshape(2, 2)


def assignment_of_a_wrong_shape(x: Any) -> Any:
    x[:2] = np.ones(3)
    return x


def concatenation_of_different_ranks(x: Any) -> Any:
    return np.concatenate([x, TABLE * x])


def float_added_into_integers(x: Any) -> Any:
    n = np.zeros(3, int)
    n += x
    return n


def bitwise_and_of_floats(x: Any) -> Any:
    return x & x


def subtraction_of_booleans(x: Any) -> Any:
    return (x > 0) - (x > 1)


def write_to_a_read_only_argument(x: Any) -> Any:
    x[0] = 1
    return x


def write_to_a_broadcast_view(x: Any) -> Any:
    y = np.broadcast_to(x, (2, 3))
    y[0, 0] = 1
    return y


def branch_on_a_traced_number(x: Any) -> Any:
    return next(filter(None, x))


def truth_of_a_whole_array(x: Any) -> Any:
    return x if x > 0 else -x


def state_that_changes_shape(x: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        return {"u": np.sum(state["u"]), "v": state["v"]}

    return pliant.fori_loop(0, 3, step, {"u": x, "v": 0.0})


def state_that_changes_dtype(x: Any) -> Any:
    count = np.zeros(3, np.int64)
    return pliant.while_loop(lambda s: np.sum(s[1]) < 9, lambda s: (s[0] + 1, s[1] + x), (0, count))


def carry_that_changes_structure(x: Any) -> Any:
    return pliant.scan(lambda carry, row: ((carry, row), row), 0.0, x)


def inverse_of_another_state(x: Any) -> Any:
    back = pliant.reversible(lambda i, y: (y, y))
    return pliant.fori_loop(0, 3, lambda i, y: y * 2, x, save=back)


def unknown_saving(x: Any) -> Any:
    return pliant.fori_loop(0, 3, lambda i, y: y * 2, x, save="all")  # type: ignore[arg-type]


def branches_of_two_shapes(x: Any) -> Any:
    return pliant.cond(x[0] > 0, np.sum, np.sin, x)


def list_without_a_bound_in_a_step(x: Any) -> Any:
    return pliant.scan(lambda total, v: (total + list_without_a_bound(v + x), None), 0.0, x)


def math_of_a_traced_number(x: Any) -> Any:
    return math.gamma(x[0])


def math_of_a_whole_array(x: Any) -> Any:
    return math.sqrt(x)


def c_function_of_a_traced_number(x: Any) -> Any:
    return next(map(math.sqrt, x))


def returned_indexer(x: Any) -> Any:
    return x.at[0]


class Summary:
    def __init__(self, mean: Any) -> None:
        self.mean = mean

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def returned_object_that_holds_arrays(x: Any) -> Any:
    return Summary(np.mean(x))


def histogram_of_complex_numbers(x: Any) -> Any:
    return np.histogram(x + 1j)


def index_out_of_range(x: Any) -> Any:
    return x[3]


def index_array_out_of_range(x: Any) -> Any:
    return x[[0, 5]]


def too_many_indices(x: Any) -> Any:
    return x[0, 1]


def float_index(x: Any) -> Any:
    return x[x]


def mask_of_a_wrong_shape(x: Any) -> Any:
    return x[np.array([True, False])]


def traced_slice_bound(x: Any, n: int) -> Any:
    return x[:n]


def traced_slices_that_do_not_fit(x: Any, n: int) -> Any:
    return np.sum(x[:n] + x)


def unwrap_of_a_traced_slice(x: Any, n: int) -> Any:
    return np.sum(np.unwrap(x[:n], 0.5))


def traced_slices_of_other_lengths(x: Any, n: int) -> Any:
    return np.sum(x[:n] * x[n:])


def unknown_number_of_elements(x: Any) -> Any:
    y = x[x > 1]
    rows = np.array([[y], [y]])
    return rows


def unsupported_function(x: Any) -> Any:
    return np.unique_all(x)


def unsupported_keyword(x: Any) -> Any:
    return np.sin(x, where=x > 0)


def axis_out_of_range(x: Any) -> Any:
    return np.sum(x, axis=1)


def random_numbers_while_tracing(x: Any) -> Any:
    return x + random.gauss(0, 1)


def a_string_among_the_operands(x: Any) -> Any:
    return np.add(x, "one")


def iteration_over_a_number(x: Any) -> Any:
    return [y for y in x[0]]


def maximum_of_nothing(x: Any) -> Any:
    return np.max(x[:0])


def gradient_of_a_vector(x: Any) -> Any:
    return np.sin(x)


def gradient_of_an_integer_result(x: Any) -> Any:
    return np.argmax(x)


def scalar_loss(x: Any) -> Any:
    return np.sum(x**2)


def into_an_array_of_numpy(x: Any) -> Any:
    outside = [np.zeros(3)]
    np.ndarray.__setitem__(outside[0], 0, x[0])
    return outside


def state_that_grows_in_a_loop(x: Any) -> Any:
    while x[0] < 5:
        x = np.concatenate([x, x * 2])
    return x


def name_bound_in_one_branch(x: Any) -> Any:
    if x[0] > 0:
        y = x * 2

    def total() -> Any:
        return y.sum()

    return total()


def name_bound_in_a_loop_that_may_have_no_step(x: Any, n: int) -> Any:
    for i in range(n):
        y = x * i
    return (lambda: y)()


def different_objects_by_branch(x: Any) -> Any:
    dtype = "float32" if x[0] > 0 else "float64"
    return x.astype(dtype)


def exception_under_a_condition(x: Any) -> Any:
    total = 0.0
    try:
        for v in x:
            if v > 2:
                raise ValueError("large")
            total += v
    except ValueError:
        return total
    return -total


def try_in_a_loop(x: Any) -> Any:
    while x[0] < 5:
        try:
            x = x * {"scale": 2.0}["factor"]
        except KeyError:
            x = x + 1
    return x


def list_by_a_number_of_run_time(x: Any, n: int) -> Any:
    parts = [x, x[1:]]
    for i in range(n):
        x = x + parts[i]
    return x


def drawn_in_a_while(x: Any) -> Any:
    rng = np.random.default_rng(0)
    while x[0] < 5:
        x = x + rng.hypergeometric(5, 6, 7)
    return x


def repeated_list(x: Any) -> Any:
    return np.array([1.0] * int(x[0]))


def iterator_in_a_branch(x: Any) -> Any:
    elements = iter(x)
    return next(elements) if x[0] > 0 else 0.0


def list_that_grows_by_a_condition(x: Any) -> Any:
    ys = []
    for v in x:
        if v > 0:
            ys.append(v)  # noqa: PERF401
    return np.array(ys)


def list_of_things_that_are_not_alike(x: Any) -> Any:
    ys = []
    for v in x:
        if v > 0:
            ys.append([v])  # noqa: PERF401
    return ys


def list_without_a_bound(x: Any) -> Any:
    ys = []
    while x[0] < 5:
        ys.append(x[0])
        x = x * 2
    return sum(ys)


def list_that_gets_elements_in_between(x: Any) -> Any:
    ys = [v for v in x if v > 0]
    ys[::2] = [x[0]]
    return ys[0]


def list_in_a_function_of_python(x: Any) -> Any:
    ys = [v for v in x if v > 0]
    return len(set(ys))


def exception_that_a_handler_would_hide(x: Any) -> Any:
    def checked() -> None:
        x[1] = 0.0
        if x[0] > 0:
            raise ValueError

    try:
        checked()
    except Exception:
        return x - 1
    return x


def return_out_of_a_finally(x: Any) -> Any:
    try:
        y = -x
    finally:
        if x[0] > 0:
            return x  # noqa: B012
    return y


def _truths(x: Any) -> Any:
    while x[0] > 0:
        x = x - 1
        _sent = yield x


def branch_in_a_generator(x: Any) -> Any:
    return sum(_truths(x))


WITHOUT_SOURCE: dict[str, Any] = {}
exec("def branch_without_source(x):\n    return x if x[0] > 0 else -x\n", WITHOUT_SOURCE)
branch_without_source: Any = WITHOUT_SOURCE["branch_without_source"]

CONTROL: dict[str, Any] = {
    f.__name__: (pliant.jit(f), (X.copy(), THREE)[: f.__code__.co_argcount])
    for f in (
        state_that_grows_in_a_loop, name_bound_in_one_branch, name_bound_in_a_loop_that_may_have_no_step,
        different_objects_by_branch, exception_under_a_condition, try_in_a_loop, list_by_a_number_of_run_time,
        return_out_of_a_finally, drawn_in_a_while, repeated_list,
        list_of_things_that_are_not_alike, list_without_a_bound,
        list_that_gets_elements_in_between, list_in_a_function_of_python, exception_that_a_handler_would_hide,
        iterator_in_a_branch, branch_in_a_generator, branch_without_source,
    )
}  # fmt: skip


def integer_stored_in_narrow_elements(x: Any) -> Any:
    n = np.zeros(3, np.uint8)
    n[1:] = x.shape[0] + 300
    return n


def shape_changed_under_a_condition(x: Any) -> Any:
    y = x.copy()
    if x[0] > 0:
        y.shape = (3, 1)
    return y


def resize_of_an_argument(x: Any) -> Any:
    x.resize(2)
    return x


def resize_of_a_view(x: Any) -> Any:
    y = x.copy()[1:]
    y.resize(4)
    return y


WRONG: dict[str, Any] = CONTROL | {
    f.__name__: (pliant.jit(f), (X.copy(),))
    for f in (
        integer_stored_in_narrow_elements, shape_changed_under_a_condition, resize_of_an_argument, resize_of_a_view,
        shapes_that_do_not_fit, matrix_product_of_wrong_shapes, reshape_to_another_size, assignment_of_a_wrong_shape,
        concatenation_of_different_ranks, float_added_into_integers, bitwise_and_of_floats, subtraction_of_booleans,
        write_to_a_broadcast_view, branch_on_a_traced_number, truth_of_a_whole_array, math_of_a_traced_number,
        math_of_a_whole_array, c_function_of_a_traced_number, returned_indexer, returned_object_that_holds_arrays,
        histogram_of_complex_numbers,
        index_out_of_range, index_array_out_of_range, too_many_indices, float_index, mask_of_a_wrong_shape,
        unknown_number_of_elements, unsupported_function, unsupported_keyword, axis_out_of_range,
        random_numbers_while_tracing, a_string_among_the_operands, iteration_over_a_number, maximum_of_nothing,
    )
}  # fmt: skip
WRONG |= {
    "write_to_a_read_only_argument": (pliant.jit(write_to_a_read_only_argument), (FROZEN,)),
    "state_that_changes_shape": (pliant.jit(state_that_changes_shape), (X,)),
    "state_that_changes_dtype": (pliant.jit(state_that_changes_dtype), (X,)),
    "carry_that_changes_structure": (pliant.jit(carry_that_changes_structure), (X,)),
    "inverse_of_another_state": (pliant.jit(inverse_of_another_state), (X,)),
    "unknown_saving": (pliant.jit(unknown_saving), (X,)),
    "branches_of_two_shapes": (pliant.jit(branches_of_two_shapes), (X,)),
    "list_without_a_bound_in_a_step": (pliant.jit(list_without_a_bound_in_a_step), (X,)),
    "list_that_grows_by_a_condition": (pliant.jacobian(list_that_grows_by_a_condition), (X,)),
    "traced_slice_bound": (pliant.vmap(traced_slice_bound, in_axes=(0, None)), (np.stack([X, X]), TWO)),
    "traced_slices_that_do_not_fit": (pliant.jit(traced_slices_that_do_not_fit), (X, TWO)),
    "unwrap_of_a_traced_slice": (pliant.jit(unwrap_of_a_traced_slice), (X, TWO)),
    "traced_slices_of_other_lengths": (pliant.jit(traced_slices_of_other_lengths), (X, TWO)),
    "gradient_of_a_vector": (pliant.grad(gradient_of_a_vector), (X,)),
    "gradient_of_an_integer_result": (pliant.grad(gradient_of_an_integer_result), (X,)),
    "gradient_of_an_integer": (pliant.grad(scalar_loss), (np.arange(3),)),
    "wrong_argnums": (pliant.grad(scalar_loss, argnums=2), (X,)),
    "object_array": (pliant.jit(scalar_loss), (np.array([1, "a"], object),)),
    "not_an_array": (pliant.jit(scalar_loss), ({1, 2},)),
    "tangent_of_another_shape": (lambda: pliant.jvp(scalar_loss, (X,), (np.ones(2),)), ()),
    "vmap_over_different_sizes": (pliant.vmap(np.add), (X, np.ones(4))),
    "vmap_axis_out_of_range": (pliant.vmap(scalar_loss, in_axes=1), (X,)),
    "not_a_function": (pliant.grad, (3,)),
}


def squared_tangent(x: Any) -> Any:
    rule = pliant.custom_derivative(np.sin, jvp=lambda xs, dxs: dxs[0] ** 2 + dxs[0] * dxs[0])
    return np.sum(rule(x))


WRONG["custom_derivative_that_is_not_linear"] = (pliant.grad(lambda x: np.sum(squared_tangent(x))), (X,))
WRONG["extent_of_a_new_array"] = (pliant.jit(lambda n: np.zeros((2, n))), (THREE,))
WRONG["python_integer_beyond_the_dtype"] = (pliant.jit(lambda x, n: x + n), (np.ones(2, np.int8), 300))


KEPT: list[Any] = [1.0] * 20


def list_from_outside_that_grows_and_is_read(x: Any) -> Any:
    KEPT.append(x * 2)
    return x * len(KEPT)


WRONG["list_from_outside_that_grows_and_is_read"] = (pliant.jit(list_from_outside_that_grows_and_is_read), (X,))
WRONG["object_that_keeps_arrays"] = (pliant.jit(lambda s, x: setattr(s, "mean", x * 2)), (Summary(X), X))
WRONG["traced_index_out_of_range"] = (pliant.jit(lambda x, i: x[i]), (X, -5))


def key_of_a_dict_known_only_at_run_time(x: Any) -> Any:
    groups: dict[int, Any] = {}
    for v in x:
        groups[int(v)] = v
    return groups


def array_as_the_key_of_a_dict(x: Any) -> Any:
    return {x: 1}[x]


def name_without_a_value_beside_an_array(x: Any) -> Any:
    for v in x:
        if v > 1:
            found = v
            break

    def scaled() -> Any:
        return x * found

    return scaled()


def maximum_of_what_a_condition_leaves(x: Any) -> Any:
    return max(v * w for v in x if v > 0 for w in x)


for name in (
    maximum_of_what_a_condition_leaves,
    key_of_a_dict_known_only_at_run_time, array_as_the_key_of_a_dict, name_without_a_value_beside_an_array,
):  # fmt: skip
    WRONG[name.__name__] = (pliant.jit(name), (X,))


def length_of_a_dict_that_a_condition_fills(x: Any) -> Any:
    counts = Counter[str]()
    if x[0] > 1:
        counts["a"] += 1
    return x * len(counts)


WRONG["length_of_a_dict_that_a_condition_fills"] = (pliant.jit(length_of_a_dict_that_a_condition_fills), (X,))

WRONG["half_of_a_number_as_an_extent"] = (pliant.jit(lambda x: x.reshape(x.size / 2, 2)), (np.ones(6),))
WRONG["index_of_an_empty_axis"] = (pliant.jit(lambda x, i: x[i]), (np.zeros(0), 0))
WRONG["range_of_a_float"] = (pliant.jit(lambda x: [i for i in range(x[2])]), (X,))
WRONG["arms_with_different_texts"] = (pliant.jit(lambda x: pliant.cond(x[0] > 0, lambda: "a", lambda: "b")), (X,))
WRONG["condition_of_many_values"] = (
    pliant.jit(lambda x: pliant.cond(x > 0, lambda x: x, lambda x: -x, x)), (X,),
)  # fmt: skip
WRONG["python_integer_of_more_than_64_bits"] = (pliant.jit(lambda x: x + 1), (2**70,))


def loop_without_source() -> Any:
    """A function whose text Python does not keep, with a loop to a number known only at run time."""
    names: dict[str, Any] = {}
    exec("def f(x):\n  for i in range(x.argmax()): x = x * i\n  return x", names)
    return names["f"]


WRONG["range_in_a_function_without_source"] = (pliant.jit(loop_without_source()), (X,))


WRONG["iterator_as_an_argument"] = (pliant.jit(lambda items: sum(items)), (iter([1.0, 2.0]),))
WRONG["generator_that_is_returned"] = (pliant.jit(lambda x: (v for v in x)), (X,))


def tuples_of_two_lengths(x: Any) -> Any:
    if x[0] > 0:
        return x, 1
    return x, 1, 2


def dicts_of_other_keys(x: Any) -> Any:
    if x[0] > 0:
        return {"up": x}
    return {"down": x}


for _wrong in (tuples_of_two_lengths, dicts_of_other_keys):
    WRONG[_wrong.__name__] = (pliant.jit(_wrong), (X,))


def truth_of_nothing(x: Any) -> Any:
    return x if x[3:] else -x


WRONG["truth_of_nothing"] = (pliant.jit(truth_of_nothing), (X,))


def queue_under_a_condition(x: Any) -> Any:
    queue, total = deque([x[1]], maxlen=9), 0.0
    while queue:
        y = queue.popleft()
        total = total + y
        if total < 10:
            queue.append(y * 2)
    return total


def integers_or_floats_by_a_condition(x: Any) -> Any:
    y = np.array([1, 0])
    while x[0] * y[0] < 5:
        y = y * 1.5
    return y


def array_that_gets_longer(x: Any) -> Any:
    y = x[x > 0]
    while y.sum() < 10:
        y = np.append(y, y.max())
    return y.size


WRONG |= {
    f.__name__: (pliant.jit(f), (X,))
    for f in (
        queue_under_a_condition, integers_or_floats_by_a_condition, array_that_gets_longer,
    )
}  # fmt: skip
