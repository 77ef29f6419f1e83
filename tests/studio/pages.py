"""pages.py: what tests of the studio's pages share: a server that stands in for the studio and
serves src/studio/web, a headless Chromium, and a way to call the pages' modules, in node where it
is installed and in that browser otherwise.
"""
import http.server, importlib.util, json, os, re, shutil, subprocess, tempfile, threading, time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WEB = os.path.join(ROOT, "src", "studio", "web")

SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>interactive</title><link rel="icon" href="/web/icon.svg">
<link rel="stylesheet" href="/web/interactives/interactives.css"></head>
<body><main id="interactive" data-name="%s"></main>
<script type="module" src="/web/interactive.js"></script></body></html>
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """/web/... are files, /interactive/NAME a page with it, /blank an empty page, /api/run the
    server's run."""
    protocol_version = "HTTP/1.1"

    def translate_path(self, path):
        parts = os.path.normpath(urllib.parse.urlsplit(path).path).split("/")
        return os.path.join(WEB, *parts[2:]) if parts[1] == "web" else os.path.join(WEB, "absent")

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.startswith("/interactive/"):
            self.reply("text/html", SHELL % re.sub(r"\W", "", path.rsplit("/", 1)[1]))
        elif path == "/blank":  # it names an icon: a browser asks for one otherwise
            self.reply("text/html", '<!doctype html><link rel="icon" href="/web/icon.svg">')
        elif path == "/api/run":
            self.reply("application/json", json.dumps(self.server.run))
        else:
            super().do_GET()

    def end_headers(self):
        """With the studio's own policy: what it forbids must not go unnoticed here."""
        self.send_header("Content-Security-Policy", "default-src 'self'")
        super().end_headers()

    def reply(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Studio:
    """with Studio() as studio: studio.address; studio.run is what /api/run answers (None: null)"""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.run = None
        self.address = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *why):
        self.server.shutdown()
        self.server.server_close()


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def find_driver():
    return shutil.which("chromedriver") or shutil.which("/usr/bin/chromedriver")


def without_browser():
    """Why no browser can be driven here, as the end of a "skip" line; "" where one can."""
    missing = [name for name, there in (
        ("chromium", find_chromium()), ("chromium-driver", find_driver()),
        ("python3-selenium", importlib.util.find_spec("selenium"))) if not there]
    return missing and "there is no %s; 'scripts/setup tests' gets it" % " and no ".join(
        missing) or ""


class Browser:
    """A headless Chromium at a studio's pages; preferences are Chromium's own."""

    def __init__(self, studio, preferences=None):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        options = Options()
        options.binary_location = find_chromium()
        self.folder = tempfile.mkdtemp()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1100,900", "--user-data-dir=" + self.folder):
            options.add_argument(word)
        options.add_experimental_option("prefs", preferences or {})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service(find_driver())
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(60)
        self.studio = studio

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def show(self, name, search=""):
        """Opens an interactive and waits until it is drawn."""
        self.driver.get("%s/interactive/%s%s" % (self.studio.address, name, search))
        self.wait("return document.getElementById('interactive').dataset.ready === 'yes' || "
                  "document.querySelector('.error') !== null", "%s%s is drawn" % (name, search))

    def wait(self, condition, words):
        end = time.monotonic() + 60
        while not self.script(condition):
            if time.monotonic() > end:
                raise AssertionError("waited a minute until " + words)
            time.sleep(0.02)

    def move(self, name, value):
        """Sets the control of a parameter as a hand would: the value, then its event."""
        return self.script("""
            const control = document.getElementById(`control-${arguments[0]}`);
            if (!control || control.closest('.control').hidden)
                throw new Error(`no control ${arguments[0]} is shown`);
            control.value = String(arguments[1]);
            control.dispatchEvent(new Event(control.tagName === 'SELECT' ? 'change' : 'input',
                { bubbles: true }));
            return control.value;""", name, value)

    def results(self):
        return self.script("""return Object.fromEntries([...document.querySelectorAll(
            '[data-result]')].map((each) => [each.dataset.result, each.textContent]))""")

    def errors(self):
        """What the browser's console has got since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})


NODE_FRAME = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const { web, argument } = JSON.parse(readFileSync(0, "utf8"));
const load = (path) => import(pathToFileURL(`${web}/${path}`).href);
const body = async (load, argument) => { %s };
console.log(JSON.stringify(await body(load, argument)));
"""


def evaluate(body, argument, browser=None):
    """What the JavaScript function's body returns; it has load("draw.js") and argument. browser:
    a Browser, for machines without node."""
    node = shutil.which("node") or shutil.which("nodejs")
    if node:
        done = subprocess.run([node, "--input-type=module", "--no-warnings", "-e",
                               NODE_FRAME % body],
                              input=json.dumps({"web": WEB, "argument": argument}), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise AssertionError("node: " + done.stderr)
        return json.loads(done.stdout)
    browser.driver.get(browser.studio.address + "/blank")
    answer = browser.driver.execute_async_script("""
        const done = arguments[arguments.length - 1];
        const load = (path) => import(`/web/${path}`);
        const body = async (load, argument) => { %s };
        body(load, arguments[0]).then((value) => done({ value }),
            (error) => done({ error: String(error.stack) }));""" % body, argument)
    if "error" in answer:
        raise AssertionError(answer["error"])
    return answer["value"]
