"""What rewritten functions call, by name: see `rewrite.RUNTIME`."""

from __future__ import annotations

from typing import Any, Final

from pliant.frontend.control.attempts import attempt, may_fail
from pliant.frontend.control.branch import both, branch, choose, compare, either, follow, negated
from pliant.frontend.control.builtins import reduced, searched
from pliant.frontend.control.classes import is_of, part
from pliant.frontend.control.comprehension import listed
from pliant.frontend.control.effects import assign, augmented, deleted, owns, rebinds, store, undone
from pliant.frontend.control.handlers import attempted, caught, handled, unfinished
from pliant.frontend.control.lists import asked, unpacked
from pliant.frontend.control.loops import loop
from pliant.frontend.control.ornone import result
from pliant.frontend.control.partly import bound
from pliant.frontend.control.patterns import fits, has_keys, others_of
from pliant.frontend.control.pushed import Pushed, emitted
from pliant.frontend.control.pushes import first_of, items
from pliant.frontend.control.region import born
from pliant.frontend.control.signals import BROKEN, CONTINUED, returned, settled
from pliant.frontend.control.specials import managed, unary
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.control.whiles import repeat
from pliant.frontend.failures import raised
from pliant.frontend.text import text

CALLS: Final[dict[str, Any]] = {
    "branch": branch, "loop": loop, "repeat": repeat, "after": follow, "result": result, "settled": settled,
    "returned": returned, "broken": BROKEN, "continued": CONTINUED, "both": both, "either": either, "negated": negated,
    "choose": choose, "compare": compare, "items": items, "attempted": attempted, "may_fail": may_fail,
    "attempt": attempt, "store": store, "assign": assign,
    "born": born, "asked": asked, "augmented": augmented, "listed": listed, "reduced": reduced, "searched": searched,
    "fits": fits, "has_keys": has_keys,
    "others_of": others_of, "is_of": is_of, "part": part, "rebinds": rebinds, "owns": owns, "raised": raised,
    "handled": handled, "unfinished": unfinished,
    "caught": caught, "unary": unary, "deleted": deleted, "undone": undone, "unpacked": unpacked,
    "unset": Unbound.local, "bound": bound, "pushed": Pushed, "emitted": emitted, "first_of": first_of,
    "text": text, "managed": managed,
}  # fmt: skip
