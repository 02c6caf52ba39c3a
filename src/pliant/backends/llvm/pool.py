"""Threads that large kernels share: a few workers, made when first needed, that sleep in between.

`pliant_parallel(task, table, frame, parts)` runs `task(table, frame, n)` for each n below
`parts`, in any order, on the calling thread and on workers that come in time. Only one call at a time has
workers; one that finds them taken runs all parts itself, and so does one inside a part. See Note [joining].
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
from typing import Final, final

from pliant.backends.llvm.jit import Code, host_target, symbol
from pliant.backends.llvm.made_once import made_once
from pliant.backends.llvm.workers import MOST, available

YIELDS: Final = 60
"""How often a thread that waits lets others run before it sleeps: some 20 µs."""
SIGNALS: Final = {"block": signal.SIG_BLOCK, "restore": signal.SIG_SETMASK} if sys.platform != "win32" else {}
"""How workers are kept from signals, which are for Python's threads."""


@final
class Pool:
    """The workers of this process."""

    def __init__(self) -> None:
        self.code = Code(serial_text() if sys.platform == "win32" else threads_text())
        self.limit = ctypes.c_int64.from_address(self.code.address("pliant_thread_limit"))
        self.limit.value = available()
        self._call("pliant_pool_begin")
        if hasattr(os, "register_at_fork"):
            # a child has none of the workers, and may have been made while they ran
            os.register_at_fork(after_in_child=lambda: self._call("pliant_pool_begin"))
        atexit.register(self._call, "pliant_pool_end")

    def _call(self, name: str) -> None:
        ctypes.CFUNCTYPE(None)(self.code.address(name))()


@made_once
def pool() -> Pool:
    """The workers of this process."""
    return Pool()


def parallel() -> str:
    """The name under which code finds `pliant_parallel`."""
    return symbol("pliant_parallel", pool().code.address("pliant_parallel"))


def threads(count: int | None = None) -> int:
    """How many threads a kernel may use from now on: `count`, if it is given."""
    limit = pool().limit
    if count is not None:
        limit.value = min(count, MOST)
    return limit.value


def serial_text() -> str:
    """The module where there are no POSIX threads: one thread does everything."""
    return f"""target triple = "{host_target().triple}"
@pliant_thread_limit = global i64 1
define void @pliant_pool_begin() {{
  ret void
}}
define void @pliant_pool_end() {{
  ret void
}}
{IN_TURN}
define void @pliant_parallel(ptr %task, ptr %table, ptr %frame, i64 %parts) {{
  call void @in_turn(ptr %task, ptr %table, ptr %frame, i64 %parts)
  ret void
}}
"""


def threads_text() -> str:
    """The module on POSIX threads."""
    return "\n".join(
        [
            f'target triple = "{host_target().triple}"',
            STATE.format(most=MOST),
            IN_TURN,
            LIFE.format(**SIGNALS),
            WORKER.format(yields=YIELDS),
            CALL.format(yields=YIELDS),
        ]
    )


IN_TURN: Final = """
define internal void @in_turn(ptr %task, ptr %table, ptr %frame, i64 %parts) {
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  call void %task(ptr %table, ptr %frame, i64 %n)
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %parts
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""

# 128 bytes are enough for a mutex, a condition or a set of signals of every system.
STATE: Final = """
@pliant_thread_limit = global i64 1
@lock = internal global [128 x i8] zeroinitializer, align 64
@work = internal global [128 x i8] zeroinitializer, align 64
@done = internal global [128 x i8] zeroinitializer, align 64
@made = internal global i64 0
@stop = internal global i8 0
@workers = internal global [{most} x ptr] zeroinitializer
@taken = internal global i64 0, align 64
@number = internal global i64 0
@open = internal global i8 0
@wanted = internal global i64 0
@running = internal global i64 0, align 64
@next = internal global i64 0, align 64
@task = internal global ptr null, align 64
@table = internal global ptr null
@frame = internal global ptr null
@parts = internal global i64 0
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sched_yield()
"""

LIFE: Final = """
define void @pliant_pool_begin() {{
  call i32 @pthread_mutex_init(ptr @lock, ptr null)
  call i32 @pthread_cond_init(ptr @work, ptr null)
  call i32 @pthread_cond_init(ptr @done, ptr null)
  store i64 0, ptr @made
  store i64 0, ptr @running
  store i8 0, ptr @open
  store atomic i64 0, ptr @taken seq_cst, align 8
  ret void
}}

define void @pliant_pool_end() {{
  store i64 1, ptr @pliant_thread_limit
  call i32 @pthread_mutex_lock(ptr @lock)
  store i8 1, ptr @stop
  %count = load i64, ptr @made
  call i32 @pthread_cond_broadcast(ptr @work)
  call i32 @pthread_mutex_unlock(ptr @lock)
  br label %head
head:
  %n = phi i64 [ 0, %0 ], [ %following, %body ]
  %more = icmp ult i64 %n, %count
  br i1 %more, label %body, label %end
body:
  %place = getelementptr ptr, ptr @workers, i64 %n
  %thread = load ptr, ptr %place
  call i32 @pthread_join(ptr %thread, ptr null)
  %following = add i64 %n, 1
  br label %head
end:
  ret void
}}

define internal void @make_workers(i64 %count) {{
  %set = alloca [128 x i8], align 16
  %before = alloca [128 x i8], align 16
  %first = load i64, ptr @made
  %some = icmp ult i64 %first, %count
  br i1 %some, label %begin, label %none
none:
  ret void
begin:
  call i32 @sigfillset(ptr %set)
  call i32 @pthread_sigmask(i32 {block}, ptr %set, ptr %before)
  br label %loop
loop:
  %n = phi i64 [ %first, %begin ], [ %following, %good ]
  %place = getelementptr ptr, ptr @workers, i64 %n
  %failed = call i32 @pthread_create(ptr %place, ptr null, ptr @worker, ptr null)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %good, label %end
good:
  %following = add i64 %n, 1
  store i64 %following, ptr @made
  %more = icmp ult i64 %following, %count
  br i1 %more, label %loop, label %end
end:
  call i32 @pthread_sigmask(i32 {restore}, ptr %before, ptr null)
  ret void
}}
"""

WORKER: Final = """
define internal void @run_parts() {{
  %task = load ptr, ptr @task
  %table = load ptr, ptr @table
  %frame = load ptr, ptr @frame
  %parts = load i64, ptr @parts
  br label %head
head:
  %n = atomicrmw add ptr @next, i64 1 monotonic
  %more = icmp ult i64 %n, %parts
  br i1 %more, label %body, label %end
body:
  call void %task(ptr %table, ptr %frame, i64 %n)
  br label %head
end:
  ret void
}}

define internal ptr @worker(ptr %nothing) {{
  br label %again
again:
  %seen = phi i64 [ 0, %0 ], [ %current, %look ], [ %current, %left ]
  br label %idle
idle:
  %turn = phi i64 [ 0, %again ], [ %later, %rest ]
  %now = load atomic i64, ptr @number monotonic, align 8
  %came = icmp ne i64 %now, %seen
  %long = icmp uge i64 %turn, {yields}
  %awake = or i1 %came, %long
  br i1 %awake, label %enter, label %rest
rest:
  call i32 @sched_yield()
  %later = add i64 %turn, 1
  br label %idle
enter:
  call i32 @pthread_mutex_lock(ptr @lock)
  br label %check
check:
  %stop = load i8, ptr @stop
  %ends = icmp ne i8 %stop, 0
  br i1 %ends, label %leave, label %ask
leave:
  call i32 @pthread_mutex_unlock(ptr @lock)
  ret ptr null
ask:
  %current = load atomic i64, ptr @number monotonic, align 8
  %same = icmp eq i64 %current, %seen
  br i1 %same, label %sleep, label %join
sleep:
  call i32 @pthread_cond_wait(ptr @work, ptr @lock)
  br label %check
join:
  %open = load i8, ptr @open
  %is_open = icmp ne i8 %open, 0
  %wanted = load i64, ptr @wanted
  %is_wanted = icmp ne i64 %wanted, 0
  %joins = and i1 %is_open, %is_wanted
  br i1 %joins, label %work, label %look
look:
  call i32 @pthread_mutex_unlock(ptr @lock)
  br label %again
work:
  %fewer = sub i64 %wanted, 1
  store i64 %fewer, ptr @wanted
  %before = load i64, ptr @running
  %after = add i64 %before, 1
  store atomic i64 %after, ptr @running monotonic, align 8
  call i32 @pthread_mutex_unlock(ptr @lock)
  call void @run_parts()
  call i32 @pthread_mutex_lock(ptr @lock)
  %others = load i64, ptr @running
  %rest_of_us = sub i64 %others, 1
  store atomic i64 %rest_of_us, ptr @running monotonic, align 8
  %last = icmp eq i64 %rest_of_us, 0
  br i1 %last, label %tell, label %left
tell:
  call i32 @pthread_cond_signal(ptr @done)
  br label %left
left:
  call i32 @pthread_mutex_unlock(ptr @lock)
  br label %again
}}
"""

CALL: Final = """
define void @pliant_parallel(ptr %task, ptr %table, ptr %frame, i64 %parts) {{
  %limit = load atomic i64, ptr @pliant_thread_limit monotonic, align 8
  %most = call i64 @llvm.umin.i64(i64 %limit, i64 %parts)
  %alone = icmp ule i64 %most, 1
  br i1 %alone, label %serial, label %take
take:
  %pair = cmpxchg ptr @taken, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %start, label %serial
serial:
  call void @in_turn(ptr %task, ptr %table, ptr %frame, i64 %parts)
  ret void
start:
  call i32 @pthread_mutex_lock(ptr @lock)
  %others = sub i64 %most, 1
  call void @make_workers(i64 %others)
  store ptr %task, ptr @task
  store ptr %table, ptr @table
  store ptr %frame, ptr @frame
  store i64 %parts, ptr @parts
  store atomic i64 0, ptr @next monotonic, align 8
  store i64 %others, ptr @wanted
  store i8 1, ptr @open
  %before = load i64, ptr @number
  %current = add i64 %before, 1
  store atomic i64 %current, ptr @number monotonic, align 8
  call i32 @pthread_cond_broadcast(ptr @work)
  call i32 @pthread_mutex_unlock(ptr @lock)
  call void @run_parts()
  br label %idle
idle:
  %turn = phi i64 [ 0, %start ], [ %later, %rest ]
  %busy = load atomic i64, ptr @running monotonic, align 8
  %none = icmp eq i64 %busy, 0
  %long = icmp uge i64 %turn, {yields}
  %stop = or i1 %none, %long
  br i1 %stop, label %close, label %rest
rest:
  call i32 @sched_yield()
  %later = add i64 %turn, 1
  br label %idle
close:
  call i32 @pthread_mutex_lock(ptr @lock)
  store i8 0, ptr @open
  br label %check
check:
  %left = load i64, ptr @running
  %all = icmp eq i64 %left, 0
  br i1 %all, label %end, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr @done, ptr @lock)
  br label %check
end:
  call i32 @pthread_mutex_unlock(ptr @lock)
  store atomic i64 0, ptr @taken release, align 8
  ret void
}}
declare i64 @llvm.umin.i64(i64, i64)
"""

# Note [joining]:
# A call puts its task where workers find it, gives it a new number, opens it, and wakes them. A worker that
# comes while it is open joins: it counts itself as running, and takes parts as the caller does, until
# none is left. When the caller finds none left it closes the task, so that nobody joins any more, and waits
# until nobody runs. So no call waits for a worker to wake up: on a busy machine the caller does most of the
# work. All but `next` and the two counters that are looked at while yielding are touched under the lock only,
# or by those who have joined. Which thread runs a part has no influence on what the part computes.
