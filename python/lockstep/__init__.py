"""Lockstep in a notebook: `%load_ext lockstep`, then `%%lockstep` cells.

This package holds no machinery of its own: it calls the command `lockstep` and shows what it says.
docs/notebooks.md lists the cells.
"""

from .magic import Magic

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_magic = None


def load_ipython_extension(ipython):
    """Called by `%load_ext lockstep`."""
    global _magic
    _magic = Magic()
    ipython.register_magic_function(_magic.line_or_cell, "line_cell", "lockstep")


def unload_ipython_extension(ipython):
    """Called by `%unload_ext lockstep`, and by `%reload_ext` before it loads again."""
    global _magic
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("lockstep", None)
    if _magic:
        _magic.close()
    _magic = None
