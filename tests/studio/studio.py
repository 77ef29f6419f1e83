"""Starts studios and asks them, as a browser and as an intruder would; prints "ok NAME" lines."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import traceback
from pathlib import Path
from urllib.parse import urlencode, urlsplit

LOCKSTEP = os.environ["LOCKSTEP"]
COURSE = Path("course").resolve()
DAY = "week1/day4_first_kernel"
ADD = f"{DAY}/add"
SOLUTION = (COURSE / ADD / "solution.cu").read_text()
GIVEN = (COURSE / ADD / "exercise.cu").read_text()
WORK = Path(tempfile.mkdtemp())


def environment(**more):
    words = {name: value for name, value in os.environ.items()
             if not name.startswith("LOCKSTEP_") and name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    words.update(HOME=str(WORK / "home"), XDG_DATA_HOME=str(WORK / "data"),
                 TMPDIR=str(WORK / "tmp"))
    words.update(more)
    return words


def expect(name, fine, saw=""):
    print(f"ok {name}" if fine else f"not ok {name}: {str(saw)[:1500]!r}", flush=True)


def command(*words, **more):
    return subprocess.run([LOCKSTEP, *words], capture_output=True, text=True,
                          env=environment(**more), check=False, timeout=120)


class Answer:
    def __init__(self, reply):
        self.status, self.headers, self.body = reply.status, reply.headers, reply.read()
        self.text = self.body.decode(errors="replace")

    def json(self):
        return json.loads(self.text)


class Studio:
    def __init__(self, *options, **more):
        self.process = subprocess.Popen([LOCKSTEP, "studio", "--json", *options],
                                        stdout=subprocess.PIPE, text=True, env=environment(**more))
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = urlsplit(self.url).port
        self.token = self.url.split("token=")[1]
        self.host = f"127.0.0.1:{self.port}"
        visit = self.raw("GET", f"/?token={self.token}", Host=self.host)
        self.cookie = visit.headers["Set-Cookie"].split(";")[0]

    def raw(self, method, path, body=None, **headers):
        """Only the headers that are given; _ stands for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has answered before it had read everything
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path, **words):
        path += f"?{urlencode(words)}" if words else ""
        return self.raw("GET", path, Host=self.host, Cookie=self.cookie)

    def post(self, path, body="", **words):
        path += f"?{urlencode(words)}" if words else ""
        body = body.encode() if isinstance(body, str) else body
        return self.raw("POST", path, body, Host=self.host, Cookie=self.cookie,
                        Origin=f"http://{self.host}")

    def check(self, text, exercise=ADD, version=None):
        if version is None:
            version = self.get("/api/file", exercise=exercise).json()["version"]
        return self.post("/api/check", text, exercise=exercise, version=version)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


def first_visit(studio):
    welcome = studio.get("/")
    expect("welcome", 'id="begin"' in welcome.text and "broken on purpose" in welcome.text,
           welcome.text)
    expect("no-folder-yet", studio.check("x", version="none").status == 409)
    begun = studio.post("/begin")
    expect("begin", begun.status == 303 and (WORK / "home/gpu-course" / f"{ADD}.cu").exists(),
           begun.text)
    place = studio.get("/")
    expect("course-page", 'id="go-on"' in place.text and ADD in place.text, place.text)


def who_is_let_in(studio):
    host, cookie = studio.host, studio.cookie
    wrong = cookie[:-1] + ("0" if cookie[-1] != "0" else "1")
    for name, headers in {
            "no-cookie": {"Host": host},
            "wrong-cookie": {"Host": host, "Cookie": wrong},
            "short-cookie": {"Host": host, "Cookie": cookie[:-1]},
            "empty-cookie": {"Host": host, "Cookie": cookie.split("=")[0] + "="},
            "token-as-cookie": {"Host": host, "Cookie": f"lockstep_{studio.port}={studio.token}"},
            "other-port's-cookie": {"Host": host, "Cookie": f"lockstep_1={cookie.split('=')[1]}"},
            "foreign-host": {"Host": f"evil.example:{studio.port}", "Cookie": cookie},
            "host-without-port": {"Host": "127.0.0.1", "Cookie": cookie},
            "no-host": {"Cookie": cookie}}.items():
        for path in ("/", "/api/progress", "/web/style.css"):
            answer = studio.raw("GET", path, **headers)
            if answer.status not in (400, 403):
                break
        expect(f"refused-{name}", answer.status in (400, 403) and "Lockstep" not in
               answer.headers.get("Set-Cookie", ""), (path, answer.status))
    refused = studio.raw("GET", "/", Host=host)
    expect("refusal-says-what-to-do", "lockstep studio" in refused.text, refused.text)
    expect("wrong-token", studio.raw("GET", f"/?token={'0' * 32}", Host=host).status == 403)
    expect("empty-token", studio.raw("GET", "/?token=", Host=host).status == 403)
    expect("empty-ticket", studio.raw("GET", "/?ticket=", Host=host).status == 403)
    expect("localhost", studio.raw("GET", "/", Host=f"localhost:{studio.port}",
                                   Cookie=cookie).status == 200)
    visit = studio.raw("GET", f"/lesson/{DAY}?token={studio.token}&exercise=add", Host=host)
    expect("token-becomes-cookie", visit.status == 303 and
           visit.headers["Location"] == f"/lesson/{DAY}?exercise=add" and
           all(word in visit.headers["Set-Cookie"] for word in
               (cookie, "HttpOnly", "SameSite=Strict")), dict(visit.headers))
    away = studio.raw("GET", f"//evil.example/?token={studio.token}", Host=host)
    expect("token-leads-nowhere-else", away.headers.get("Location") == "/", dict(away.headers))
    led = studio.raw("GET", f"/?token={studio.token}", Host=host, Sec_Fetch_Site="cross-site")
    expect("token-from-another-page", led.status == 200 and "refresh" in led.text, led.text)


def what_may_change(studio):
    host, cookie = studio.host, studio.cookie
    path = f"/api/hint?exercise={DAY}/saxpy"
    for name, headers in {
            "no-origin": {}, "null-origin": {"Origin": "null"},
            "foreign-origin": {"Origin": "http://evil.example"},
            "other-port's-origin": {"Origin": "http://127.0.0.1:1"},
            "https-origin": {"Origin": f"https://{host}"},
            "same-site": {"Sec_Fetch_Site": "same-site"}}.items():
        answer = studio.raw("POST", path, b"", Host=host, Cookie=cookie, **headers)
        expect(f"refused-{name}", answer.status == 403, answer.status)
    fine = studio.raw("POST", path, b"", Host=host, Cookie=cookie, Sec_Fetch_Site="same-origin")
    expect("same-origin", fine.status == 200 and fine.json()["rung"] == 1, fine.text)
    expect("no-get-for-changes", studio.get("/api/hint", exercise=ADD).status == 405)
    expect("no-other-method", studio.raw("DELETE", "/api/file", Host=host, Cookie=cookie,
                                         Origin=f"http://{host}").status == 405)


def other_users(studio):
    """A browser shows our cookie to servers of other users, on other ports."""
    words = ("import http.client, sys; port, cookie = sys.argv[1:]; "
             "c = http.client.HTTPConnection('127.0.0.1', int(port)); "
             "c.request('GET', '/', headers={'Cookie': cookie}); print(c.getresponse().status)")
    for name, user, status in (("same-user", os.getuid(), "200"), ("other-user", 65534, "403")):
        if user != os.getuid() and os.getuid() != 0:
            print(f"skip cookie-of-{name}: only root can try it")
            continue
        result = subprocess.run(["python3", "-c", words, str(studio.port), studio.cookie],
                                capture_output=True, text=True, check=False, user=user)
        expect(f"cookie-of-{name}", result.stdout.strip() == status, result)


def is_closed(connection, seconds):
    """By the studio, within so many seconds."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except socket.timeout:
        return False


def slow_peers(studio):
    """Requests that never end: nobody else waits for them."""
    address = ("127.0.0.1", studio.port)
    silent = [socket.create_connection(address) for _ in range(200)]
    half = []
    for _ in range(200):
        connection = socket.create_connection(address)
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        except (ConnectionResetError, BrokenPipeError):
            pass  # its place was given to the next
        half.append(connection)
    begin = time.monotonic()
    answer = studio.get("/api/progress")
    expect("not-locked-out", answer.status == 200 and time.monotonic() - begin < 5, answer.text)
    expect("oldest-go-first", is_closed(silent[0], 5))
    slow = socket.create_connection(address)
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 20:
            slow.sendall(b"G")
            time.sleep(0.2)
    except (ConnectionResetError, BrokenPipeError):
        pass
    expect("deadline-for-headers", 5 < time.monotonic() - begin < 15, time.monotonic() - begin)
    expect("half-open-are-gone", all(is_closed(connection, 5) for connection in half + silent))
    for connection in half + silent + [slow]:
        connection.close()


def large_bodies(studio):
    """Refused by the headers: the body is never sent."""
    for name, cookie, status in (("too-large", studio.cookie, b"413"), ("stranger", "", b"403")):
        connection = socket.create_connection(("127.0.0.1", studio.port))
        connection.sendall((f"POST /api/check?exercise={ADD} HTTP/1.1\r\nHost: {studio.host}\r\n"
                            f"Origin: http://{studio.host}\r\nCookie: {cookie}\r\n"
                            f"Content-Length: {1 << 40}\r\n\r\n").encode())
        connection.settimeout(5)
        answer = connection.recv(4096)
        expect(f"refused-at-once-{name}", answer.split(b" ")[1:2] == [status], answer)
        connection.close()
    connection = socket.create_connection(("127.0.0.1", studio.port))
    connection.sendall((f"POST /api/check?exercise={ADD} HTTP/1.1\r\nHost: {studio.host}\r\n"
                        f"Origin: http://{studio.host}\r\nCookie: {studio.cookie}\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n").encode())
    sent, chunk = 0, b"10000\r\n" + b"/" * 65536 + b"\r\n"
    try:
        while sent < 64 << 20:
            connection.sendall(chunk)
            sent += 65536
    except (ConnectionResetError, BrokenPipeError):
        pass
    expect("endless-body", sent < 32 << 20, sent)
    connection.close()


def only_here(studio):
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ours = [line.split()[1] for line in lines
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{studio.port:04X}")]
    expect("loopback-only", ours == [f"0100007F:{studio.port:04X}"], ours)


def files(studio):
    style = studio.get("/web/style.css")
    expect("style", style.status == 200 and style.headers["Content-Type"].startswith("text/css") and
           style.headers["X-Content-Type-Options"] == "nosniff" and
           "default-src 'self'" in style.headers["Content-Security-Policy"] and
           "unsafe" not in style.headers["Content-Security-Policy"], dict(style.headers))
    for path in ("/web/../inside.h", "/web/..%2finside.h", "/web/%2e%2e/inside.h", "/web/", "/web",
                 "/web//etc/passwd", "/web/.git/config", "/web/style.css/",
                 "/web/interactives/../../inside.h", "/lib/codemirror/../../../../etc/passwd",
                 "/lib/katex/%2e%2e/%2e%2e/doc.json", "/web/interactives", "/etc/passwd", "/../x"):
        answer = studio.get(path)
        if answer.status != 404:
            break
    expect("no-traversal", answer.status == 404, (path, answer.status))
    head = studio.raw("HEAD", "/web/style.css", Host=studio.host, Cookie=studio.cookie)
    expect("head", head.status == 200 and head.body == b"", head.body)
    expect("no-store", studio.get("/api/progress").headers["Cache-Control"] == "no-store")


def verdicts(studio, mine):
    expect("no-run-yet", studio.get("/api/run", exercise=ADD).status == 204)
    given = studio.check(GIVEN).json()
    expect("given", given["stage"] == "wrong" and
           given["text"].startswith("add.cu: wrong result for n=1000"), given)
    terminal = json.loads(command("learn", "check", "add", "--json").stdout)
    expect("as-the-terminal", terminal["stage"] == given["stage"] and
           terminal["text"].replace(str(mine.parent) + "/", "") == given["text"], terminal)
    syntax = studio.check(SOLUTION.replace("threadIdx.x;", "threadIdx.x")).json()
    expect("syntax-error", syntax["stage"] == "compile" and
           re.match(r"add\.cu:4:\d+: error: expected ';'", syntax["text"]), syntax)
    foreign = studio.check('#include "/etc/passwd"\n' + SOLUTION).json()
    expect("foreign-include", foreign["stage"] == "compile" and "root:" not in foreign["text"] and
           foreign["text"].startswith("add.cu:1: error: an exercise may include"), foreign)
    endless = studio.check(SOLUTION.replace("if (i < n)", "while (c[0] == c[0] || i < n)")).json()
    expect("endless", endless["stage"] == "fault" and "endless loop" in endless["text"], endless)
    passed = studio.check(SOLUTION).json()
    expect("passed", passed["passed"] and passed["counters"][0]["kept"] and passed["picture"] and
           passed["next"]["exercise"] == f"{DAY}/saxpy", passed)
    expect("saved", mine.read_text() == SOLUTION)
    last = studio.get("/api/file", exercise=ADD).json()["last"]
    expect("last-gain", last["gain"]["size"] == passed["gain"]["size"] and
           abs(last["gain"]["yours"]["us"] / passed["gain"]["yours"]["us"] - 1) < 0.01 and
           "large_us" not in last["counters"], last)
    progress = json.loads(command("learn", "progress", "--json").stdout)
    row = [row for row in progress["exercises"] if row["exercise"] == ADD][0]
    expect("same-progress", row["passed"] and row["attempts"] >= 4 and
           [(each["exercise"], each["attempts"], each["passed"]) for each in
            studio.get("/api/progress").json()["exercises"]] ==
           [(each["exercise"], each["attempts"], each["passed"]) for each in
            progress["exercises"]], row)
    run = studio.get("/api/run", exercise=ADD).json()
    records = [row for row in run["trace"]["launches"][0]["records"] if row["kind"] == "load"]
    expect("run", run["source"] == "yours" and run["code"] == SOLUTION and
           run["file"] == "add.cu" and records[0]["file"] == "add.cu" and
           len(records[0]["addresses"]) == 32 and
           run["profile"]["kernels"][0]["lines"][0]["file"] == "add.cu", str(run)[:400])
    kept = WORK / "data/lockstep/runs" / f"{ADD}.json"
    expect("run-is-kept", json.loads(kept.read_text()) == run)
    expect("run-of-the-current", studio.get("/api/run").json()["exercise"] == ADD)


def nothing_is_lost(studio, mine):
    before = studio.get("/api/file", exercise=ADD).json()
    mine.write_text(SOLUTION + "// by another editor\n")
    clash = studio.check(SOLUTION + "// here\n", version=before["version"])
    expect("conflict", clash.status == 409 and
           clash.json()["theirs"].endswith("another editor\n") and
           clash.json()["yours"].endswith("here\n") and
           mine.read_text().endswith("another editor\n"), clash.text)
    no_version = studio.post("/api/check", "x", exercise=ADD)
    expect("no-version", no_version.status == 409 and mine.read_text().endswith("editor\n"),
           no_version.text)
    again = studio.check(SOLUTION + "// here\n", version=clash.json()["version"])
    expect("conflict-resolved", again.status == 200 and mine.read_text().endswith("here\n"))
    mine.unlink()
    gone = studio.get("/api/file", exercise=ADD).json()
    expect("deleted", gone["text"] is None and gone["version"] == "none", gone)
    back = studio.check(SOLUTION, version=again.json()["version"])
    expect("deleted-and-written", back.json()["passed"] and mine.read_text() == SOLUTION, back.text)
    for name, body, status in (("too-large", b"/" * (1 << 20) + b"/", 413),
                               ("no-text", b"\xff\xfe\x00", 400)):
        answer = studio.post("/api/check", body, exercise=ADD, version=back.json()["version"])
        expect(name, answer.status == status and mine.read_text() == SOLUTION, answer.text)
    mine.write_bytes(b"\x00\x01")
    binary = studio.check(SOLUTION, version="none")
    expect("no-text-on-disk", binary.status >= 400 and mine.read_bytes() == b"\x00\x01",
           binary.text)
    mine.write_text(SOLUTION)
    mine.chmod(0o640)
    studio.post("/api/file", GIVEN, exercise=ADD,
                version=studio.get("/api/file", exercise=ADD).json()["version"])
    expect("save-keeps-the-mode", mine.read_text() == GIVEN and
           mine.stat().st_mode & 0o777 == 0o640)
    reset = studio.post("/api/reset", exercise=ADD).json()
    kept = Path(reset["kept"])
    expect("reset", reset["text"] == GIVEN and kept.read_text() == GIVEN and
           kept.name == "add.cu.1", reset)
    shutil.move(mine.parent, mine.parent.with_name("aside"))
    mine.parent.write_text("in the way")
    blocked = studio.check(SOLUTION, version="none")
    expect("unwritable", blocked.status == 507 and "your text is not saved" in blocked.text,
           blocked.text)
    mine.parent.unlink()
    shutil.move(mine.parent.with_name("aside"), mine.parent)


def help_and_quiz(studio):
    expect("no-such-exercise", studio.post("/api/hint", exercise="week1/day4/none").status == 404)
    expect("no-path-as-exercise",
           studio.get("/api/file", exercise="../../../etc/passwd").status == 404)
    rungs = [studio.post("/api/hint", exercise=ADD).json()["kind"] for _ in range(4)]
    expect("hints", rungs == ["concept", "line", "diff", "diff"], rungs)
    expect("solution", studio.post("/api/solution", exercise=ADD).json()["solution"] == SOLUTION)
    quiz = json.loads((COURSE / DAY / "lesson.json").read_text())["quiz"]
    right = quiz[0]["answer"]
    wrong = right % len(quiz[0]["choices"]) + 1
    for choice, expected in ((wrong, False), (right, True)):
        answer = studio.post("/api/answer", json.dumps(
            {"lesson": DAY, "question": 0, "choice": choice})).json()
        expect(f"answer-{expected}", answer["right"] == expected and
               answer["why"] == quiz[0]["why"], answer)
    for name, body in (("no-json", "{"),
                       ("no-lesson", '{"lesson": "x", "question": 0, "choice": 1}'),
                       ("no-question", json.dumps({"lesson": DAY, "question": 99, "choice": 1})),
                       ("no-choice", json.dumps({"lesson": DAY, "question": 0, "choice": 99}))):
        expect(f"answer-{name}", studio.post("/api/answer", body).status == 400)
    form = studio.post(f"/quiz/{DAY}", urlencode({"q0": right, "q1": 1, "q9": 1, "q2": "x"}),
                       exercise="add")
    expect("quiz-form", form.status == 303 and form.headers["Location"].endswith("#quiz"),
           form.text)
    page = studio.get(f"/lesson/{DAY}", exercise="add").text
    expect("quiz-says-why", page.count("<strong>Right.</strong>") +
           page.count("<strong>No.</strong>") == 2, page[-3000:])


def pages(studio):
    page = studio.get(f"/lesson/{DAY}", exercise="add").text
    expect("lesson-page", "<h1>Your first kernel</h1>" in page and 'id="part-challenge"' in page and
           "__global__ void add" in page and f'data-exercise="{ADD}"' in page, page[:3000])
    inline = re.findall(r"<script(?![^>]* src=)|\son\w+=|style=\"|javascript:", page)
    expect("nothing-inline", not inline, inline)
    expect("links-to-lessons", f'href="/lesson/{DAY}?exercise=saxpy"' in page and
           re.search(r'href="/lesson/week1/day5_naive_matmul"', page), page)
    for path, words in (("/progress", "Days in a row"), ("/interactives", "Coalescing"),
                        ("/interactive/banks", 'id="interactive" data-name="banks"')):
        answer = studio.get(path)
        expect(f"page{path}", answer.status == 200 and words in answer.text, answer.text)
    for path in ("/lesson/week9/day9", "/lesson/../x", "/interactive/none", "/nothing"):
        answer = studio.get(path)
        expect(f"no-page{path}", answer.status == 404 and "Lockstep" in answer.text, answer.text)
    export = studio.get("/api/progress", download=1)
    expect("export", "attachment" in export.headers["Content-Disposition"])


def events(studio, mine):
    file = studio.get("/api/file", exercise=ADD).json()
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=20)
    words = urlencode({"exercise": ADD, "version": file["version"], "attempt": file["attempt"]})
    connection.request("GET", f"/api/events?{words}",
                       headers={"Host": studio.host, "Cookie": studio.cookie})
    stream = connection.getresponse()

    def next_event(kind):
        while True:
            line = stream.readline().decode()
            if line.strip() == f"event: {kind}":
                return json.loads(stream.readline().decode().removeprefix("data: "))
            if not line:
                return None

    mine.write_text(SOLUTION)
    changed = next_event("file")
    expect("event-file", changed and changed["exists"] and changed["version"] != file["version"],
           changed)
    command("learn", "check", "add")
    verdict = next_event("verdict")
    expect("event-verdict", verdict and verdict["stage"] == "passed", verdict)
    mine.unlink()
    expect("event-deleted", next_event("file") == {"version": "none", "exists": False})
    connection.close()


def saves_at_once(studios, mine):
    """Many pages save over the same version: one is thanked, and its text stays."""
    lost = []
    for turn in range(40):
        version = studios[0].get("/api/file", exercise=ADD).json()["version"]
        gate, thanked = threading.Barrier(4), []

        def save(studio, text):
            gate.wait()
            if studio.post("/api/file", text, exercise=ADD, version=version).status == 200:
                thanked.append(text)

        threads = [threading.Thread(target=save, args=(studios[i % 2], f"// {turn} {i}\n"))
                   for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if thanked != [mine.read_text()]:
            lost.append((thanked, mine.read_text()))
    expect("no-save-is-lost", not lost, lost[:3])


def two_at_once(studio, mine):
    other = Studio()
    expect("two-at-once", other.port != studio.port and
           other.get("/api/progress").json() == studio.get("/api/progress").json())
    expect("not-the-other's-token", other.raw("GET", "/", Host=other.host,
                                              Cookie=studio.cookie).status == 403)
    saves_at_once([studio, other], mine)
    results = {}

    def ask(which, exercise):
        results[exercise] = which.check(SOLUTION if exercise == ADD else "", exercise).json()

    threads = [threading.Thread(target=ask, args=(which, exercise)) for which, exercise in
               ((studio, ADD), (other, f"{DAY}/saxpy"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("both-grade", results[ADD]["passed"] and
           results[f"{DAY}/saxpy"]["stage"] == "fault", results)
    taken = command("studio", "--port", str(studio.port), "--no-open")
    expect("port-in-use", taken.returncode == 2 and
           f"port {studio.port} is in use" in taken.stderr and
           "without --port" in taken.stderr, taken)
    expect("ends", other.stop() == 0)


def odd_compilers(mine):
    tools = WORK / "tools"
    tools.mkdir()
    slow = tools / "clang-19"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    studio = Studio(PATH=f"{tools}:{os.environ['PATH']}")
    results = {}

    def ask(name, text):
        try:
            results[name] = studio.check(text, version=version).json()
        except http.client.HTTPException:
            results[name] = None  # the studio was ended

    version = studio.get("/api/file", exercise=ADD).json()["version"]
    first = threading.Thread(target=ask, args=("first", SOLUTION))
    first.start()
    while not list((WORK / "tmp").glob("lockstep-studio-*/*/lockstep-learn-*")):
        time.sleep(0.05)
    second = threading.Thread(target=ask, args=("second", SOLUTION))
    second.start()
    first.join(timeout=20)
    expect("superseded", (results.get("first") or {}).get("superseded") is True, results)
    begin = time.monotonic()
    status = studio.stop()
    second.join(timeout=20)
    expect("ends-while-it-grades", status == 0 and time.monotonic() - begin < 15, status)
    expect("leaves-nothing", not list((WORK / "tmp").iterdir()), list((WORK / "tmp").iterdir()))
    studio = Studio(PATH=str(WORK / "home"), NVCC="none")
    broken = studio.check(SOLUTION + "// kept\n").json()
    expect("no-compiler", broken["stage"] == "broken" and
           "apt install clang-19" in broken["text"] and
           mine.read_text().endswith("// kept\n"), broken)
    studio.stop()


def hostile_course():
    course = WORK / "course"
    shutil.copytree(COURSE, course)
    with open(course / DAY / "lesson.md", "a") as file:
        file.write("\n<script>alert(1)</script> <b onclick=x>b</b> [x](javascript:alert(1)) "
                   "[y](data:text/html,x) [z](interactive:banks?pad=1&w=2) ![i](x\" onerror=\"y)\n")
    studio = Studio("--folder", str(WORK / "elsewhere"), LOCKSTEP_COURSE=str(course))
    page = studio.get(f"/lesson/{DAY}", exercise="add").text
    expect("no-html-from-lessons", "<script>alert" not in page and "&lt;script&gt;alert" in page and
           "<b " not in page and "javascript:" not in page.replace("&quot;", "") and
           'href="data:' not in page, page[-6000:])
    expect("interactive-link", '<a class="interactive" data-interactive="banks" href="/interactive/'
           f'banks?pad=1&amp;w=2&amp;exercise={ADD}">' in page, page[-6000:])
    expect("folder-option", (WORK / "elsewhere" / f"{ADD}.cu").exists())
    studio.stop()


def usage():
    for name, words, said in (("port-no-number", ["--port", "x"], "--port"),
                              ("port-too-high", ["--port", "70000"], "65535"),
                              ("word", ["now"], "there is no 'now'"),
                              ("gpu", ["--gpu", "sim:h20"], "h20")):
        result = command("studio", *words)
        expect(f"usage-{name}", result.returncode == 2 and said in result.stderr, result)
    result = command("studio", LOCKSTEP_WEB="/nowhere")
    expect("usage-no-pages", result.returncode == 2 and "LOCKSTEP_WEB" in result.stderr, result)
    expect("help", "examples:" in command("studio", "--help").stdout)


def main():
    for folder in ("home", "data", "tmp"):
        (WORK / folder).mkdir()
    usage()
    studio = Studio()
    mine = WORK / "home/gpu-course" / f"{ADD}.cu"
    try:
        first_visit(studio)
        who_is_let_in(studio)
        what_may_change(studio)
        other_users(studio)
        large_bodies(studio)
        slow_peers(studio)
        only_here(studio)
        files(studio)
        verdicts(studio, mine)
        nothing_is_lost(studio, mine)
        help_and_quiz(studio)
        pages(studio)
        events(studio, mine)
        two_at_once(studio, mine)
        expect("still-there", studio.process.poll() is None)
        studio.stop()
        odd_compilers(mine)
        hostile_course()
    except Exception:  # noqa: BLE001 - whatever it was, it is a failure
        print("not ok studio:", traceback.format_exc().replace("\n", " | "))
    finally:
        if studio.process.poll() is None:
            studio.process.kill()
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    main()
