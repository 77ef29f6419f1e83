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


def pytest_runtest_logreport(report):
    """Each failure at once, in one line, into EVERY_LOG: a run that is stopped has told what it saw."""
    path = os.environ.get("EVERY_LOG")
    if path and report.failed:
        why = str(report.longrepr).strip().splitlines()
        lines = [line for line in why if line.startswith("E  ")] or why[-1:]
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"{report.nodeid}: {lines[0][:200] if lines else report.when}\n")
