"""Abstract classes without members from elsewhere: what is an instance depends on its class alone."""

from __future__ import annotations

from abc import ABCMeta


class Family(ABCMeta):
    """The class of such classes. `isinstance` takes a half of the time, and is much of what passes do."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__
