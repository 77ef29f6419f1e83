"""sitecustomize.py: what `lockstep run`, `profile` and `check` change in a Python that they start.

Python imports it by name at start-up, because the command puts this folder into PYTHONPATH. It only
arranges for lockstep_hooks to be asked when one of the packages there is imported: a script that
uses none of them pays for one failed look-up a module.
"""

import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))


def _import_next():
    """Python takes the first sitecustomize only; the user's own comes after ours."""
    rest = [path for path in sys.path if os.path.abspath(path or ".") != _folder]
    if not any(os.path.exists(os.path.join(path, "sitecustomize.py")) for path in rest):
        return
    ours = sys.modules.pop("sitecustomize")
    kept, sys.path[:] = sys.path[:], rest
    try:
        __import__("sitecustomize")
    finally:
        sys.path[:] = kept
        sys.modules.setdefault("sitecustomize", ours)


def _install():
    sys.path.insert(0, _folder)
    try:
        import lockstep_hooks
    finally:
        sys.path.remove(_folder)
    lockstep_hooks.install()


if os.environ.get("LOCKSTEP_GPU", "").startswith("sim:"):
    _install()
_import_next()
