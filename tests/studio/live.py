"""live.py: a real studio and a real browser at it, for tests and for the pictures in docs: a lesson
is opened, its editor typed into, its exercise run, as a learner does it with keyboard and mouse.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages

os.chdir(pages.ROOT)
os.environ.setdefault("LOCKSTEP", os.path.join(pages.ROOT, "build", "lockstep"))
import studio as server

COURSE, WORK = server.COURSE, server.WORK
MINE = WORK / "home/gpu-course"  # where the studio lays out the learner's files


def begin_work():
    for folder in ("home", "data", "tmp"):
        (WORK / folder).mkdir(exist_ok=True)


def end_work():
    shutil.rmtree(WORK, ignore_errors=True)


class Studio(server.Studio):
    def __init__(self, *options, **more):
        super().__init__(*options, **more)
        self.address = f"http://{self.host}"


def course_file(exercise, name="solution.cu"):
    return (COURSE / exercise / name).read_text()


class Browser(pages.Browser):
    """At a studio's pages; paths begin at the studio's address."""

    def visit(self):
        """With the token, as the command prints it."""
        self.driver.get(self.studio.url)

    def go(self, path):
        self.driver.get(self.studio.address + path)

    def path(self):
        return self.driver.current_url.removeprefix(self.studio.address)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        """What stands there, also where it is scrolled out of sight; "" if nothing is there."""
        return self.script("return document.querySelector(arguments[0])?.textContent ?? ''",
                           selector)

    def click(self, selector):
        self.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})",
                    selector)
        self.find(selector).click()

    def press(self, key, **held):
        """A key of the keyboard, to whatever has the focus: press("Enter", ctrl=True)."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        keys = {"Enter": Keys.ENTER, "Tab": Keys.TAB, "Esc": Keys.ESCAPE, "Up": Keys.ARROW_UP,
                "Left": Keys.ARROW_LEFT, "Right": Keys.ARROW_RIGHT, "Down": Keys.ARROW_DOWN}
        chain = ActionChains(self.driver)
        modifiers = [Keys.CONTROL] * held.get("ctrl", False) + [Keys.SHIFT] * held.get("shift",
                                                                                     False)
        for each in modifiers:
            chain.key_down(each)
        chain.send_keys(keys.get(key, key))
        for each in modifiers:
            chain.key_up(each)
        chain.perform()

    # A lesson's exercise -------------------------------------------------------------------------

    def lesson(self, exercise):
        """Opens week1/day4_first_kernel/add and waits until it can be used."""
        lesson, name = exercise.rsplit("/", 1)
        self.go(f"/lesson/{lesson}?exercise={name}")
        self.lesson_ready()

    def lesson_ready(self):
        self.wait("return document.querySelector('#work')?.dataset.ready === 'yes'",
                  "the exercise can be used")

    def code(self):
        return self.script("return document.querySelector('.CodeMirror').CodeMirror.getValue()")

    def focus_editor(self):
        self.click(".CodeMirror-line")  # not in the middle, where a verdict's words may stand

    def type_code(self, text):
        """In place of all that is there, by the keyboard."""
        self.focus_editor()
        self.press("a", ctrl=True)
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})
        got = self.code()
        assert got == text, f"typed {text!r}, and the editor has {got!r}"

    def run(self, text=None):
        """Types the text and presses Ctrl-Enter; the verdict's stage."""
        if text is not None:
            self.type_code(text)
        else:
            self.focus_editor()
        self.script("""const verdict = document.getElementById('verdict');
            verdict.dataset.stage = 'waiting';""")
        self.press("Enter", ctrl=True)
        return self.verdict()

    def verdict(self):
        self.wait("return document.getElementById('verdict').dataset.stage !== 'waiting'",
                  "there is a verdict")
        return self.script("return document.getElementById('verdict').dataset.stage")

    def in_frame(self, name, script):
        """What a script returns inside a lesson's interactive; document is the frame's own. Its
        frame is scrolled to first: one that is far away is not loaded."""
        self.script("document.querySelector(arguments[0]).scrollIntoView()",
                    f"iframe[data-interactive={name}]")
        return self.script("""const document = window.document.querySelector(arguments[0])
            .contentDocument; """ + script, f"iframe[data-interactive={name}]")

    def wait_in_frame(self, name, condition, words):
        self.in_frame(name, "return true")
        self.wait(f"""const document = window.document.querySelector(
            'iframe[data-interactive={name}]').contentDocument; return {condition}""", words)
