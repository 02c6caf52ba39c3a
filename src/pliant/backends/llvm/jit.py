"""LLVM itself: optimise a module, make it executable, keep it alive."""

from __future__ import annotations

import platform
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, final

import llvmlite
import llvmlite.binding

from pliant.backends.llvm.choices import are_branches, may_have_branches, without_branches
from pliant.backends.llvm.made_once import lock, made_once
from pliant.backends.llvm.unlocked import emit_object, run_passes
from pliant.backends.llvm.workers import available, in_parallel
from pliant.backends.store import key_of, packed, store, unpacked
from pliant.core.data import frozen

llvm: Final[Any] = llvmlite.binding  # it has no types
VERSIONS: Final = f"pliant code 7, llvmlite {llvmlite.__version__}, LLVM {llvm.llvm_version_info}"
FEWEST: Final = "-vectorizer-min-trip-count=9"
"""The fewest steps of a loop that has vectors and a rest. LLVM's own number is 16: of fewer steps it makes masked
vectors, and what was stored by a mask is waited for where it is read again; eight steps are one vector and no rest.
There is no such option for one loop: it holds for all that LLVM compiles in this process."""
LONG: Final = 400
"""Lines of a text from which on LLVM's strength reduction, which turns addresses into pointers that move along, is left
out: it gains a few hundredths where a kernel walks across a matrix, and takes an eighth of a long compile."""
NEXT: Final = "\n; module\n"
"""What lies between the modules of a text, which are compiled at the same time."""
SECOND: Final = "\n; functions that are written in vectors\n"
"""What lies before the last module of a text, if that is of functions in which LLVM looks for no vectors."""


@final
class Target:
    """The machine we run on, as LLVM sees it."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.set_option("pliant", FEWEST)
        self.triple: str = llvm.get_process_triple()
        self.cpu: str = llvm.get_host_cpu_name()
        features: Any = llvm.get_host_cpu_features()
        self.features: str = features.flatten()
        self.has: set[str] = {name for name, on in features.items() if on}
        self.widths = vector_widths(self.has)
        self.vectors = vector_math(self.widths)
        self.compilers: dict[int, list[Any]] = {}
        self.contexts: list[Any] = []

    @contextmanager
    def workers(self, count: int, level: int = 2) -> Generator[list[tuple[Any, Any]]]:
        """Target machines that make code, each with a context: what one knows of the processor takes a millisecond to
        find out, so they are kept. After an exception they are not, as a thread may still use them then, and contexts
        live on: the garbage collector, to which a traceback leaves modules, would free them in any order."""
        free = self.compilers.setdefault(level, [])
        made = [(free.pop() if free else self.machine(level), llvm.create_context()) for _ in range(count)]
        contexts = [context for _, context in made]
        self.contexts += contexts
        yield made
        self.contexts = [c for c in self.contexts if not any([c is other for other in contexts])]
        free += [machine for machine, _ in made]

    def machine(self, level: int = 2) -> Any:
        """A new target machine; each engine owns one. level: of what it does for its code."""
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=level, jit=True)


def vector_widths(features: set[str]) -> tuple[int, ...]:
    """Bytes of the vectors that a processor with these features has."""
    wider = {"avx2": 32, "avx512f": 64}
    return (16, *[width for name, width in wider.items() if name in features])


def vector_math(widths: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """The vector variants of libm that glibc has for this machine: letter and bytes."""
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        return ()
    try:
        llvm.load_library_permanently("libmvec.so.1")
    except RuntimeError:
        return ()  # musl, or an old glibc: scalar libm is used
    return tuple(zip("bde", widths, strict=False))


@made_once
def host_target() -> Target:
    """The target of this process."""
    return Target()


@final
class Code:
    """Executable code of one module; the code lives as long as this does."""

    def __init__(
        self, text: str, effort: int = 2, *, keep: bool = True, level: int = 2, made: bytes | None = None
    ) -> None:
        """Code of `text`, which is LLVM IR. keep: look for it on disk, and leave it there. level: 0 for code that
        is made fast, rather than fast. made: the machine code, if it is at hand."""
        with lock:
            target = host_target()
            kept = store() if keep and made is None else None
            self.key = key = key_of(VERSIONS, str(effort), text) if kept else ""
            found = kept.get(key) if kept else made
            if found is None:
                found = packed(compiled(text, level, effort))
                if kept:
                    kept.put(key, found)
            self.engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine(level))
            for code in unpacked(found):
                self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self.engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function lies."""
        with lock:
            return int(self.engine.get_function_address(name))


def compiled(text: str, level: int, effort: int) -> list[bytes]:
    """Machine code of the modules of a text."""
    modules, target = modules_of(text), host_target()

    def compile(module: Text, worker: tuple[Any, Any]) -> bytes:
        return emit_object(worker[0], _module(module, *worker, effort))

    with target.workers(min(len(modules), available()), level) as workers:
        if text.count("\n") < LONG:
            return in_parallel(compile, modules, workers)
        try:  # an alarm may come between any two lines
            llvm.set_option("pliant", "-disable-lsr=true")
            return in_parallel(compile, modules, workers)
        finally:
            llvm.set_option("pliant", "-disable-lsr=false")  # for others in this process


def optimised(text: str) -> str:
    """LLVM IR after LLVM's passes."""
    modules = modules_of(text)
    with lock, host_target().workers(len(modules)) as workers:
        return "\n".join([str(_module(m, *worker, 2)) for m, worker in zip(modules, workers, strict=True)])


@final
@frozen
class Text:
    """LLVM IR of one module. in_vectors: LLVM is to look for no vectors in it."""

    text: str
    in_vectors: bool


def modules_of(text: str) -> list[Text]:
    """The modules of a text."""
    first, *others = text.split(SECOND)
    return [*[Text(x, in_vectors=False) for x in first.split(NEXT)], *[Text(x, in_vectors=True) for x in others]]


def _module(given: Text, machine: Any, context: Any, effort: int) -> Any:
    """A module after LLVM's passes."""
    module: Any = llvm.parse_assembly(given.text, context)
    if given.in_vectors:
        optimise_written(module, machine)
        return module
    optimise(module, machine, effort)
    if are_branches(host_target().has) and may_have_branches(given.text):
        made = without_branches(before := str(module))
        module = module if made is before else llvm.parse_assembly(made, context)
    return module


@lru_cache
def symbol(name: str, address: int) -> str:
    """The name under which code finds a function of a library that is loaded; code names no addresses, so
    that another process can use it."""
    with lock:
        llvm.add_symbol(name, address)
    return name


def optimise(module: Any, machine: Any, effort: int) -> None:
    """Run LLVM's passes. Effort 0: promote to registers only, for very long programs."""
    options: Any = llvm.create_pipeline_tuning_options(speed_level=effort)
    options.loop_vectorization = effort > 0
    options.slp_vectorization = False
    options.loop_interleaving = effort > 0
    options.loop_unrolling = False  # only loops that are marked: see `UNROLLED` in `emit`, and `several`
    builder: Any = llvm.create_pass_builder(machine, options)
    if effort == 0:
        passes: Any = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    else:
        put_in_place(module, builder)
        passes = builder.getModulePassManager()
    run_passes(passes, module, builder)


def put_in_place(module: Any, builder: Any) -> None:
    """Put the steps of loops in their places before all other passes. LLVM would simplify each by itself first, those
    that compute the same in different ways, and no longer see that they do."""
    passes: Any = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    run_passes(passes, module, builder)


def optimise_written(module: Any, machine: Any) -> None:
    """Run those of LLVM's passes that do something for loops that are written in vectors: half the time for the code of
    a factorisation, which is as fast."""
    builder: Any = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes: Any = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    run_passes(passes, module, builder)
