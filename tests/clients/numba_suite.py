"""numba_suite.py: Numba's own tests, or every Nth of them; suite.py runs it, and says how.

The suite comes with the package, as unittest cases. Prints each failure with its reason at once.
"""

import importlib
import os
import pkgutil
import unittest
import warnings

import suite

os.environ["NUMBA_CACHE_DIR"] = ""  # tests of caching look for files beside their source

# Tests that ask more of this machine than it may have.
LEFT_OUT = {"test_managed_alloc_driver_undersubscribe": "fills a tenth of the GPU's memory, 14 GB"}


def modules(progress):
    import numba.cuda.tests as tests

    for found in pkgutil.walk_packages(tests.__path__, "numba.cuda.tests."):
        if found.ispkg or ".test_" not in found.name:
            continue
        try:
            yield importlib.import_module(found.name)
        except BaseException as error:
            kind = type(error).__name__  # pytest's Skipped, too, skips a module as a whole
            if kind not in ("Skipped", "SkipTest") and progress.first == 0:
                progress.not_collected(found.name, f"{kind}: {error}")


def cases(tests):
    for each in tests:
        if isinstance(each, unittest.TestSuite):
            yield from cases(each)
        else:
            yield each


class Result(unittest.TextTestResult):
    def __init__(self, *arguments, progress, **options):
        super().__init__(*arguments, **options)
        self.progress = progress
        self.bad = False

    def startTest(self, test):
        super().startTest(test)
        self.bad = False
        self.progress.start(test.id())

    def say(self, test, error):
        why = str(error[1]).strip().splitlines()
        self.progress.failed(test.id(), why[0] if why else error[0].__name__, str(error[1]), again=self.bad)
        self.bad = True

    def addError(self, test, error):
        if error[0].__name__ == "Skipped":  # by pytest.importorskip
            self.addSkip(test, str(error[1]))
            return
        super().addError(test, error)
        self.say(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.say(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.progress.skipped()

    def addSuccess(self, test):
        super().addSuccess(test)
        if not self.bad:
            self.progress.passed()

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.progress.passed()

    def stopTest(self, test):
        super().stopTest(test)
        if self.progress.over():
            self.stop()


def main():
    warnings.simplefilter("ignore")
    progress = suite.Progress()
    every = []
    for module in modules(progress):
        every += cases(unittest.defaultTestLoader.loadTestsFromModule(module))
    for test in every:
        why = LEFT_OUT.get(getattr(test, "_testMethodName", None))
        if why:
            setattr(test, test._testMethodName, unittest.skip(why)(lambda: None))
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        runner = unittest.TextTestRunner(
            resultclass=lambda *a, **k: Result(*a, progress=progress, **k), verbosity=0, stream=nowhere
        )
        runner.run(unittest.TestSuite(progress.choose(every)))


if __name__ == "__main__":
    main()
