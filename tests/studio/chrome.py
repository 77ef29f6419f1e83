"""chrome.py: an interactive in a browser, as its tests handle it; and how such tests run and
print. The server and the browser themselves are those of pages.py."""

import os
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages


class Page:
    """An interactive that is drawn."""

    def __init__(self, browser, name, query=""):
        self.browser, self.driver = browser, browser.driver
        browser.show(name, "?" + query if query else "")
        self.no_problem()

    def no_problem(self):
        error = self.texts("#interactive > .error")
        assert not error, error

    def set(self, **controls):
        for name, value in controls.items():
            self.browser.move(name, value)

    def shown(self, name):
        """What the control itself says."""
        return self.browser.script(
            "return document.getElementById('control-' + arguments[0]).value", name)

    def results(self):
        return self.browser.results()

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def press(self, selector):
        self.find(selector)[0].click()

    def texts(self, selector):
        return self.browser.script(
            "return [...document.querySelectorAll(arguments[0])].map((x) => x.textContent)",
            selector)

    def focused(self):
        return self.browser.script("return document.activeElement.dataset.key")

    def focus(self, key):
        self.browser.script("document.querySelector(`[data-key=${arguments[0]}]`).focus()", key)

    def address(self):
        """Once it is written: after many changes that takes the page a while."""
        self.browser.wait("return !document.getElementById('interactive').dataset.address",
                          "the address is written")
        return self.driver.current_url

    def reload_is_same(self):
        """The address alone brings back the results, the controls and the picture."""
        address = self.address()
        before = self.state()
        self.driver.get("about:blank")
        self.driver.get(address)
        self.browser.wait("return document.getElementById('interactive')?.dataset.ready === 'yes'",
                          address + " is drawn again")
        for one, other, what in zip(before, self.state(), ("results", "picture", "controls")):
            assert one == other, f"{address}: other {what} when loaded again: {one} and {other}"

    def state(self):
        return (self.results(), self.browser.script(
            "return document.querySelector('.figure').innerHTML"), self.browser.script(
            "return [...document.querySelectorAll('.controls [id]')].map((x) => [x.id, x.value])"))


def skip_tests(tests, name):
    for test in tests:
        print(f"skip {name} {test.__name__}: {pages.without_browser()}")
    return 0


def run_tests(tests, name):
    """Runs the functions of (name, function) pairs with a browser, each with no run of a learner's,
    and prints a line for each; the exit status. Where there is no browser, they are skipped."""
    if pages.without_browser():
        for each, _ in tests:
            print(f"skip {name} {each}: {pages.without_browser()}")
        return 0
    failed = 0
    with pages.Studio() as studio:
        browser = pages.Browser(studio)
        try:
            for each, test in tests:
                studio.server.run = None
                failed += not run_test(browser, f"{name} {each}", test)
        finally:
            browser.close()
    return 1 if failed else 0


def run_live_tests(live, tests, name, wanted):
    """Runs the functions at one real studio, of live.py: the first, and of the others those that are
    wanted, or all; the exit status."""
    live.begin_work()
    studio, browser, failed = live.Studio(), None, 0
    try:
        browser = live.Browser(studio)
        for test in tests:
            if not wanted or test.__name__ in wanted or test is tests[0]:
                failed += not run_test(browser, f"{name} {test.__name__}", test)
    finally:
        if browser:
            browser.close()
        if studio.process.poll() is None:  # a test may have stopped it
            studio.stop()
        live.end_work()
    return 1 if failed else 0


def run_test(browser, name, test):
    browser.errors()
    try:
        test(browser)
        errors = browser.errors()
        assert not errors, f"in the console: {errors[:3]}"
        print(f"ok {name}", flush=True)
        return True
    except Exception as error:  # one that fails must not hide the others
        place = traceback.extract_tb(error.__traceback__)[-1]
        words = " ".join(str(error).split())[:600] or type(error).__name__
        print(f"not ok {name}: {words} (line {place.lineno})", flush=True)
        return False
