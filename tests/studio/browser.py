"""What the browser's tests share: a stub of the studio's server and a headless Chromium.

The stub serves src/studio/web under /web/ and a bare page for /interactive/NAME, as the studio does;
`run` (a JSON string) is the answer to /api/run, which is 404 where there is none.
"""

import http.server
import shutil
import threading
import traceback
import urllib.parse
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "src" / "studio" / "web"
SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/web/interactives/interactives.css">
<style>body {{ background: var(--paper); color: var(--ink); font-family: system-ui, sans-serif; }}
</style></head><body><main id="interactive" data-name="{name}"></main>
<script type="module" src="/web/interactive.js"></script></body></html>"""
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json",
         ".html": "text/html", ".svg": "image/svg+xml"}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if path.startswith("/interactive/"):
            page = SHELL.format(name=path.removeprefix("/interactive/"))
            return self.answer(200, "text/html; charset=utf-8", page.encode())
        if path == "/api/run" and self.server.run is not None:
            return self.answer(200, "application/json", self.server.run.encode())
        file = (WEB / path.removeprefix("/web/")).resolve()
        if path.startswith("/web/") and file.is_relative_to(WEB) and file.is_file():
            return self.answer(200, TYPES.get(file.suffix, "text/plain"), file.read_bytes())
        return self.answer(404, "text/plain", b"not there")

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(run=None, port=0):
    """A server on a free port of this machine; server.address is its root."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.run = run
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(tests):
    """Runs tests(driver, server), a list of (name, function), and gives the exit status. Only a machine
    without Chromium skips them."""
    if not shutil.which("chromium"):
        print(f"ok {tests.__module__} # skipped: chromium is not installed")
        return 0
    try:
        driver = start_browser()
    except Exception as error:
        print("not ok browser: it does not start; packages chromium-driver and python3-selenium "
              f"are needed: {' '.join(str(error).split())[:300]}")
        return 1
    server = serve()
    try:
        return 0 if run_tests(tests(driver, server)) else 1
    finally:
        driver.quit()
        server.shutdown()


def start_browser(width=1100, height=900):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--window-size={width},{height}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(60)
    return driver


class Page:
    """An interactive in the browser."""

    def __init__(self, driver, server, name, query=""):
        self.driver, self.name = driver, name
        self.go(f"{server.address}/interactive/{name}{'?' + query if query else ''}")

    def go(self, address):
        from selenium.webdriver.support.ui import WebDriverWait
        self.driver.get(address)
        WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(
            "return document.querySelector('#interactive[data-ready], #interactive .error')"))
        error = self.driver.execute_script(
            "return document.querySelector('#interactive .error')?.textContent")
        assert not error, error

    def set(self, **controls):
        """Moves controls as a hand would: the value, then the event that goes with it."""
        for name, value in controls.items():
            self.driver.execute_script(
                "const control = document.getElementById('control-' + arguments[0]);"
                "control.value = arguments[1];"
                "const kind = control.tagName === 'SELECT' ? 'change' : 'input';"
                "control.dispatchEvent(new Event(kind, {bubbles: true}));", name, str(value))

    def shown(self, name):
        """What the control itself says."""
        return self.driver.execute_script(
            "return document.getElementById('control-' + arguments[0]).value", name)

    def results(self):
        return self.driver.execute_script(
            "return Object.fromEntries([...document.querySelectorAll('[data-result]')].map("
            "(each) => [each.dataset.result, each.textContent]))")

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((x) => x.textContent)", selector)

    def figure(self):
        """The drawing as markup: equal pictures are equal strings."""
        return self.driver.execute_script("return document.querySelector('.figure').innerHTML")

    def reload_is_same(self):
        """The address alone brings back the results, the controls and the picture."""
        state = (self.results(), self.figure(), self.controls())
        address = self.driver.current_url
        self.driver.get("about:blank")
        self.go(address)
        again = (self.results(), self.figure(), self.controls())
        for before, after, what in zip(state, again, ("results", "picture", "controls")):
            assert before == after, f"{address}: other {what} after loading it again: " \
                f"{before} and {after}"

    def controls(self):
        return self.driver.execute_script(
            "return [...document.querySelectorAll('.controls [id]')].map((x) => [x.id, x.value])")

    def overflow(self):
        """How many pixels the page is wider than its window."""
        return self.driver.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def script(self, body):
        """Runs the body of an async function in the page and gives what it returns."""
        answer = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            f"(async () => {{ {body} }})().then((x) => done([x, null]), (e) => done([null, '' + e]));")
        assert answer[1] is None, answer[1]
        return answer[0]


def console_errors(driver, known=("/api/run",)):
    """What the console complained of, without what is meant to fail."""
    return [entry["message"] for entry in driver.get_log("browser")
            if entry["level"] == "SEVERE" and not any(word in entry["message"] for word in known)]


def run_tests(tests):
    """Prints "ok NAME" or "not ok NAME: why" for each (name, function); True if all are right."""
    good = True
    for name, test in tests:
        try:
            test()
            print(f"ok {name}", flush=True)
        except Exception as error:  # a test that breaks is a test that fails
            good = False
            place = traceback.extract_tb(error.__traceback__)[-1]
            words = " ".join(str(error).split())[:600] or type(error).__name__
            print(f"not ok {name}: {words} (line {place.lineno})", flush=True)
    return good


if __name__ == "__main__":
    import sys
    import time
    print(serve(run=None, port=int(sys.argv[1]) if len(sys.argv) > 1 else 0).address, flush=True)
    while True:
        time.sleep(3600)
