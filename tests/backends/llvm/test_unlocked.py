"""LLVM's long calls without llvmlite's lock do what they do with it, also while another thread has it."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import llvmlite.binding
import pytest

from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.unlocked import emit_object, run_passes

TEXT = """
define double @twice(double %x) {
  %p = alloca double
  store double %x, ptr %p
  %y = load double, ptr %p
  %z = fadd double %y, %y
  ret double %z
}
"""
llvm: Any = llvmlite.binding


def parsed() -> tuple[Any, Any]:
    """A module, and a target machine, that nobody else has."""
    return llvm.parse_assembly(TEXT, llvm.create_context()), host_target().machine()


def promoting(machine: Any) -> tuple[Any, Any]:
    """Passes that put what lies in memory into registers, and who builds them."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    return passes, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())


def test_code_is_that_of_llvmlite() -> None:
    module, machine = parsed()
    assert emit_object(machine, module) == machine.emit_object(module)


def test_passes_do_what_they_do_in_llvmlite() -> None:
    (module, machine), (other, _) = parsed(), parsed()
    passes, builder = promoting(machine)
    passes.run(other, builder)
    run_passes(passes, module, builder)
    assert str(module) == str(other)
    assert "alloca" not in str(module)


def test_another_thread_may_have_the_lock() -> None:
    module, machine = parsed()
    passes, builder = promoting(machine)
    thread = threading.Thread(target=run_passes, args=(passes, module, builder), daemon=True)
    with llvm.ffi.lib._lock:
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
    assert "alloca" not in str(module)


def test_arguments_of_other_types_are_refused() -> None:
    module, _ = parsed()
    with pytest.raises(Exception, match="argument 1"):
        emit_object(module, module)


INTERRUPTED = f"""
import gc
from pliant.backends.llvm import jit

def interrupted(machine, module):
    raise KeyboardInterrupt

emit, jit.emit_object = jit.emit_object, interrupted
for _ in range(4):
    try:
        jit.compiled({TEXT!r}, 2, 2)
    except KeyboardInterrupt as error:
        cycle = [error]
        cycle.append(cycle)
    del cycle
    gc.collect()
jit.emit_object = emit
assert len(jit.compiled({TEXT!r}, 2, 2)) == 1
"""


def test_what_an_interrupt_leaves_in_a_cycle_may_be_collected() -> None:
    """A module that is freed after its context is a segmentation fault."""
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=100)


KEPT = f"""
import resource
from pliant.backends.llvm import jit

def growth(count):
    before = pages()
    for _ in range(count):
        jit.compiled({TEXT!r}, 2, 2)
    return (pages() - before) * resource.getpagesize()

def pages():
    return int(open("/proc/self/statm").read().split()[1])

growth(150)
print(growth(150))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory in use is read from /proc")
def test_compiling_leaves_no_memory_behind() -> None:
    """The passes of one compilation take more than 30 kB."""
    run = subprocess.run([sys.executable, "-c", KEPT], check=True, timeout=100, capture_output=True, text=True)
    assert int(run.stdout) < 150 * 10_000
