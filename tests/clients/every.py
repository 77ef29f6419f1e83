"""every.py: a pytest plugin that runs every Nth test, for suite.py; EVERY=20 pytest -p every also works.

A whole suite of a client takes hours on the machine; every Nth test of it takes minutes and touches
all of it. The choice depends on the order of collection only, so a run can be repeated.
"""

import importlib
import os

import suite

if "SUITE_PACKAGE" in os.environ:  # before pytest puts the folders of conftest.py files into sys.path
    importlib.import_module(os.environ["SUITE_PACKAGE"])
progress = suite.Progress()
failed_in_call = set()


def pytest_collection_modifyitems(session, config, items):
    kept = progress.choose(items)
    chosen = set(map(id, kept))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = kept


def pytest_collectreport(report):
    if report.failed and progress.first == 0:
        lines = str(report.longrepr).strip().splitlines()
        progress.not_collected(report.nodeid, lines[-1] if lines else "cannot be read")


def pytest_runtest_logstart(nodeid, location):
    progress.start(nodeid)


def pytest_runtest_logreport(report):
    if report.failed:
        why = str(report.longrepr).strip().splitlines()
        lines = [line[1:].strip() for line in why if line.startswith("E  ")] or why[-1:]
        # A test that fails and then cannot be torn down has failed once.
        progress.failed(report.nodeid, lines[0] if lines else report.when, "\n".join(why),
                        again=report.nodeid in failed_in_call)
        failed_in_call.add(report.nodeid)
    elif report.skipped:
        progress.skipped()
    elif report.when == "call":
        progress.passed()


def pytest_runtest_teardown(item, nextitem):
    if nextitem is not None and progress.over():
        item.session.shouldstop = "time is over, or the GPU's context is lost"
