"""every.py: a pytest plugin that takes every Nth test: `-p every` with EVERY=20.

A whole suite of a client takes hours on the machine; every Nth test of it takes minutes and touches
all of it. The choice depends on the order of collection only, so a run can be repeated.
"""

import os


def pytest_collection_modifyitems(config, items):
    step = int(os.environ.get("EVERY", "1"))
    kept, left = items[::step], [item for i, item in enumerate(items) if i % step]
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = kept
