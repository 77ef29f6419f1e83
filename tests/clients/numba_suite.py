"""numba_suite.py: Numba's own tests, or every Nth of them: EVERY=15 lockstep run numba_suite.py.

The suite comes with the package, as unittest cases. Prints each failure with its reason at once, and
a line of counts at the end; the exit status is 1 if there was one.
"""

import importlib
import os
import pkgutil
import sys
import unittest
import warnings


def modules():
    import numba.cuda.tests as suite

    for found in pkgutil.walk_packages(suite.__path__, "numba.cuda.tests."):
        if found.ispkg or ".test_" not in found.name:
            continue
        try:
            yield importlib.import_module(found.name)
        except BaseException as why:  # a module that asks for another package skips itself as a whole
            print(f"skip {found.name}: {why}", flush=True)


def cases(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases(each)
        else:
            yield each


class Result(unittest.TextTestResult):
    def say(self, test, error):
        why = str(error[1]).strip().splitlines()
        print(f"not ok {test.id()}: {why[0][:160] if why else error[0].__name__}", flush=True)

    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.say(subtest, error)


def main():
    warnings.simplefilter("ignore")
    every = []
    for module in modules():
        every += cases(unittest.defaultTestLoader.loadTestsFromModule(module))
    chosen = every[:: int(os.environ.get("EVERY", "1"))]
    print(f"numba: {len(chosen)} of {len(every)} tests", flush=True)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        runner = unittest.TextTestRunner(resultclass=Result, verbosity=0, stream=nowhere)
        result = runner.run(unittest.TestSuite(chosen))
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed - len(result.skipped)
    print(f"numba: {passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
