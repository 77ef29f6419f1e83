"""forms.py: instructions as the rows of src/ptx/ops.def spell them, and others that are nearly so.

For compare_ptxas.py. A form is one line of PTX: an opcode and operands. form_lines() writes the forms
of a row, with suffixes and operands drawn at random; near_lines() changes one thing in such a form: a
suffix is added, dropped, or becomes any other suffix that there is; an operand is added, dropped, or
becomes another kind of operand. PROLOGUE declares all that the lines name.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gen"))
from ops import ROOT, ROWS, TYPES  # noqa: E402

REG_TYPES = ["pred", "b16", "b32", "b64", "b128", "u16", "u32", "u64", "s16", "s32", "s64", "f16",
             "f16x2", "f32", "f64"]

PROLOGUE = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 in_global[256];
.const .align 16 .b8 in_const[256];
.visible .entry forms(.param .b64 in_param)
{
.shared .align 128 .b8 in_shared[256];
.local .align 16 .b8 in_local[256];
""" + "".join(f".reg .{t} %{t}_<4>;\n" for t in REG_TYPES)
EPILOGUE = "L: ret;\n}\n"


def bits_of():
    text = open(os.path.join(ROOT, "src/ptx/types.def")).read()
    return {name: int(bits) for name, bits in re.findall(r'^TYPE\(\w+, "(\w+)", (\d+)', text, re.M)}


BITS = bits_of()


def mod_names():
    text = open(os.path.join(ROOT, "src/ptx/mods.def")).read()
    return [name for name in re.findall(r'^MOD\(\w+, "([^"]+)"', text, re.M)
            if not name.startswith("m64nN")]


POOL = sorted(set(mod_names()) | TYPES)


def suffixes_by_mnemonic():
    known = {}
    for row in ROWS:
        own = known.setdefault(row.mnemonic, set())
        for _, choices in row.slots:
            own.update(x for choice in choices for x in choice.split("."))
    return known


OWN = suffixes_by_mnemonic()


def is_odd(line):
    """Has it a suffix twice, or one that no form of this instruction has? ptxas overlooks many of those."""
    mnemonic, *suffixes = line.split(" ")[0].rstrip(";").split(".")
    own = [s for s in suffixes if s not in TYPES]
    return len(own) != len(set(own)) or any(s not in OWN[mnemonic] and not s.startswith("m64n")
                                            for s in suffixes)


class Form:
    """An opcode's suffixes, and what its operands are to be (see operand)."""

    def __init__(self, row, rng):
        self.row, self.suffixes, self.operands = row, [], []
        for optional, choices in row.slots:
            if choices == ["*"] or (optional and rng.random() < 0.6):
                continue
            choice = rng.choice(choices)
            match = re.fullmatch(r"m64nNk(\d+)", choice)
            if match:
                choice = f"m64n{8 * rng.randint(1, 32)}k{match[1]}"
            self.suffixes.append(choice)

    def types(self):
        return [s for s in self.suffixes if s in TYPES]

    def vector_length(self):
        for length in (2, 4, 8):
            if f"v{length}" in self.suffixes:
                return length
        return 1

    def text(self):
        opcode = ".".join([self.row.mnemonic] + self.suffixes)
        return opcode + " " + ", ".join(self.operands) + ";"


def register(name, rng):
    """A register that holds the type: of bits, or now and then of the type itself."""
    bits = max(BITS.get(name, 32), 16)
    if name == "pred":
        return f"%pred_{rng.randrange(4)}"
    kind = name if name in REG_TYPES and rng.random() < 0.3 else f"b{bits}"
    return f"%{kind}_{rng.randrange(4)}"


def literal(name, rng):
    if name in ("f32", "f64"):
        return rng.choice(["1.5", "-0.25", "0f3F800000", "0d3FF0000000000000"])
    return rng.choice(["0", "1", "2", "3", "4", "8", "16", "24", "128", "-1"])


def braces(name, count, rng):
    return "{" + ", ".join(register(name, rng) for _ in range(count)) + "}"


def named_space(suffixes):
    for suffix in suffixes:
        space = suffix.split("::")[0]
        if space in ("global", "shared", "local", "const", "param"):
            return space
    return None


def address(form, rng):
    space = named_space(form.suffixes)
    base = "%b64_1"
    if space == "param":
        base = "in_param"
    elif space and rng.random() < 0.2:
        base = "in_" + space
    elif space in ("shared", "local") and rng.random() < 0.1:
        base = "%b32_1"
    if base != "in_param" and rng.random() < 0.2:
        base += "+16"
    ranks = [s for s in form.suffixes if re.fullmatch(r"a?[1-5]d|a?cube", s)]
    if ranks and form.row.mnemonic in ("tex", "tld4", "suld", "sust", "sured"):
        geometry = ranks[0]
        count = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4}.get(geometry, 4)
        kind = form.types()[-1] if form.row.mnemonic in ("tex", "tld4") else "s32"
        return f"[{base}, {braces(kind, count, rng)}]"
    if ranks and form.row.name.startswith("TMA") and not form.row.name.startswith("TMA_R"):
        return f"[{base}, {braces('b32', int(ranks[0][0]), rng)}]"
    return f"[{base}]"


def spec_parts(spec):
    """name, is address, marks and type source of an operand of ops.def"""
    optional = spec.endswith("?") or "?" in spec.split(":")[0]
    pair = spec.split("|")[1] if "|" in spec else None
    first = spec.split("|")[0]
    is_address = first.startswith("[")
    body = first.strip("[]?")
    name, _, source = body.partition(":")
    return name[0], is_address, name[1:], source.rstrip("?"), pair, optional


def source_type(form, source):
    types = form.types() or ["b32"]
    if source in ("", "t1"):
        return types[0]
    if re.fullmatch(r"t[2-4]", source):
        index = int(source[1]) - 1
        return types[index] if index < len(types) else types[-1]
    if source == "wide":
        return f"{types[0][0]}{BITS[types[0]] * 2}"
    if source == "half":
        return f"b{BITS[types[0]] // 2}"
    if source == "addr":
        return "b64"
    return source


def fragment(form, name):
    """Registers of a matrix product's operand; 0 where that is not known."""
    shape = next((re.fullmatch(r"m(\d+)n(\d+)k(\d+)", s) for s in form.suffixes
                  if re.fullmatch(r"m(\d+)n(\d+)k(\d+)", s)), None)
    types = form.types()
    if not shape or not types:
        return 0
    m, n, k = map(int, shape.groups())
    kind = types[0] if name == "d" else types[-1] if name == "c" else types[len(types) // 2]
    is_half = kind == "f16"
    if form.row.mnemonic == "wmma" and is_half and (name in "ab" or {"a", "b"} & set(form.suffixes)):
        return 8
    if form.row.mnemonic == "wmma" and "load" in form.suffixes:
        name = next((s for s in form.suffixes if s in ("a", "b", "c")), name)
    if form.row.mnemonic == "wmma" and "store" in form.suffixes:
        name = "d"
    if shape[0] == "m8n8k4" and is_half | (types[1:2] == ["f16"]):
        return 2 if name in "ab" else 4 if is_half else 8
    if form.row.mnemonic == "wgmma":
        return 4 if name == "a" else n * BITS[kind] // 64
    elements = {"a": m * k, "b": k * n}.get(name, m * n)
    if name == "a" and form.row.name.startswith("MMA_SP"):
        elements //= 2
    return max(elements // 32 * BITS[kind] // (64 if kind == "f64" else 32), 1)


def any_operand(form, name, marks, rng):
    """An operand whose type the row leaves open."""
    wide = "f64" in form.suffixes or "b64" in form.suffixes and rng.random() < 0.5
    kind = "b64" if wide else "b32"
    if form.row.name.startswith("WGMMA") and name == "a" and rng.random() < 0.5:
        return "%b64_0"
    if "{}" in marks or form.row.mnemonic in ("mma", "wmma", "wgmma", "tex", "tld4"):
        count = fragment(form, name) if rng.random() < 0.95 else 0
        return braces(kind, count or rng.choice([1, 2, 4, 8]), rng)
    if rng.random() < 0.3:
        return rng.choice(["_", "%b16_0", "%pred_0", "%b32_0", "%b64_0", "1"])
    return register(name, rng)


def operand(form, spec, rng):
    name, is_address, marks, source, pair, _ = spec_parts(spec)
    if spec == "L":
        return "L"
    if is_address:
        return address(form, rng)
    kind = source_type(form, source)
    if "!" in marks:
        return literal(kind, rng)
    if source == "any":
        text = any_operand(form, name, marks, rng)
    elif "*" in marks and form.vector_length() > 1:
        text = braces(kind, form.vector_length(), rng)
    elif "{}" in marks and "matrix" in form.row.mnemonic:
        text = braces(kind, int(next((s[1] for s in form.suffixes if s in ("x1", "x2", "x4")), 1)), rng)
    elif "{}" in marks and rng.random() < 0.6:
        text = braces(kind, rng.choice([1, 2, 4]), rng)
    elif name != "d" and rng.random() < 0.15:
        text = literal(kind, rng)
    else:
        text = register(kind, rng)
    if pair and rng.random() < 0.6:
        text += "|" + register(source_type(form, pair.partition(":")[2]), rng)
    return text


def fill_operands(form, rng):
    form.operands = []
    for spec in form.row.operands.split(","):
        if not spec or spec in ("*", "C"):
            continue
        if spec_parts(spec)[5] and rng.random() < 0.5:
            break
        form.operands.append(operand(form, spec, rng))
    return form


def form_of(row, rng):
    return fill_operands(Form(row, rng), rng)


OTHERS = ["%" + t + "_1" for t in REG_TYPES] + [
    "1", "-1", "1.5", "0", "_", "in_global", "in_shared", "%tid.x", "%clock64", "!%pred_1", "-%b32_1",
    "{%b32_0, %b32_1}", "[%b64_1]", "[in_shared+4]", "[%b64_1+-8]", "L", "%b32_1.h1", "%pred_0|%pred_1"]


def any_suffix(form, rng):
    own = sorted(x for x in OWN[form.row.mnemonic] if x not in "*" and not x.startswith("m64nN"))
    roll = rng.random()
    return rng.choice(own if roll < 0.5 and own else sorted(TYPES) if roll < 0.8 else POOL)


def change(form, rng):
    """Changes one thing."""
    roll = rng.random()
    if roll < 0.35 and form.suffixes:
        form.suffixes[rng.randrange(len(form.suffixes))] = any_suffix(form, rng)
    elif roll < 0.6:
        form.suffixes.insert(rng.randint(0, len(form.suffixes)), any_suffix(form, rng))
    elif roll < 0.75 and form.suffixes:
        del form.suffixes[rng.randrange(len(form.suffixes))]
    elif roll < 0.92 and form.operands:
        form.operands[rng.randrange(len(form.operands))] = rng.choice(OTHERS)
    elif roll < 0.96 and form.operands:
        del form.operands[rng.randrange(len(form.operands))]
    else:
        form.operands.insert(rng.randint(0, len(form.operands)), rng.choice(OTHERS))


def near_form(row, rng):
    """A form with one change; the operands follow a change of the suffixes half of the time."""
    form = form_of(row, rng)
    before = list(form.suffixes)
    change(form, rng)
    if form.suffixes != before and rng.random() < 0.6:
        fill_operands(form, rng)
    return form


def lines(seed, count, near, only=None):
    """count different forms of every row, in a random order that the seed fixes"""
    rng = random.Random(seed)
    made = {}
    for row in ROWS:
        if row.operands in ("C", "a:u32,L") or (only and row.mnemonic not in only):
            continue
        for _ in range(count):
            form = (near_form if near else form_of)(row, rng)
            made[form.text()] = row.name
    return made
