#!/usr/bin/env python3
"""What the interactives of runs compute, beside the machine: occupancy with `lockstep gpus`,
sectors and bank passes of whole traces with the counters of the same runs; and a few values by
hand.
"""
import json, os, random, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages

LOCKSTEP = os.environ.get("LOCKSTEP") or os.path.join(pages.ROOT, "build", "lockstep")

# Kernels in which NVIDIA's assembler would merge few accesses, so that counts of single records add
# up; the second list needs nvcc and has every kind of access there is.
FAMILIES = ["transpose/naive rows=64 cols=96", "transpose/shared rows=65 cols=96",
            "transpose/vectorised rows=64 cols=96", "coalescing/offset n=1K pattern=offset k=5",
            "coalescing/strided n=1K pattern=stride k=3",
            "coalescing/aos_vectors n=1K pattern=aos k=4", "histogram/shared_private n=4K",
            "histogram/global_atomics n=4K",
            "reduction/interleaved n=4K", "gemm/pipelined m=64 n=64 k=32",
            "scan/blelloch n=4K", "spmv/scalar rows=256"]
PROGRAMS = ["tests/counters/access_patterns.cu", "src/studio/runs/banks.cu",
            "src/studio/runs/warp.cu", "src/studio/runs/coalescing.cu"]

SUMS = """
const { sectors, bankPasses } = await load("interactives/access.js");
const { accessesOf } = await load("interactives/records.js");
const sums = {};
for (const space of ["global", "shared"]) {
    for (const record of accessesOf({ trace: argument }, space)) {
        const key = `${record.launch} ${record.file}:${record.line} ${space}`;
        const sum = sums[key] ??= [0, 0, 0];
        const access = space === "global" ? sectors(record) : bankPasses(record);
        sum[0]++;
        sum[1] += space === "global" ? access.fetched : access.passes;
        sum[2] += space === "global" ? access.needed : access.conflicts;
    }
}
return sums;
"""
OCCUPANCY = """
const { gpus } = await load("gpus.js"), { occupancy } = await load("occupancy.js");
return argument.map(([id, threads, registers, shared]) => {
    const got = occupancy(gpus.find((gpu) => gpu.id === id), threads, registers, shared);
    const limit = (name) => Number.isFinite(got.limits[name]) ? got.limits[name] : null;
    return [got.blocks, got.warps, got.fraction, got.limiter, limit("warps"), limit("registers"),
        limit("shared memory"), limit("blocks")];
});
"""


def lockstep(*arguments):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("LOCKSTEP") and k != "LD_LIBRARY_PATH"}
    done = subprocess.run([LOCKSTEP] + list(arguments), stdout=subprocess.PIPE, cwd=pages.ROOT,
                          stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 0, "lockstep %s: %s" % (" ".join(arguments), done.stderr)
    return done.stdout


def check_sums(browser, words):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        profile = json.loads(lockstep(
            "profile", *words.split(), "--json", "--trace", file, "--trace-blocks", "0-100000",
            "--trace-warps", "0-31", "--trace-records", "200000"))
        with open(file) as stream:
            trace = json.load(stream)
    assert not any(launch["dropped"] for launch in trace["launches"])
    expected = {}
    for kernel in profile["kernels"]:
        for line in kernel["lines"]:
            for space, columns in (("global", ("requests", "sectors", "sectors_ideal")),
                                   ("shared", ("requests", "wavefronts", "conflicts"))):
                if space in line:
                    key = "%d %s:%d %s" % (kernel["launch"], line["file"], line["line"], space)
                    expected[key] = [line[space][column] for column in columns]
    assert expected, "no line touches memory"
    got = pages.evaluate(SUMS, trace, browser)
    assert set(got) == set(expected), "lines %s and %s" % (sorted(got), sorted(expected))
    # A line with more records than requests has accesses that were merged.
    whole = [key for key in expected if got[key][0] == expected[key][0]]
    wrong = [(key, got[key], expected[key]) for key in whole if got[key] != expected[key]]
    assert not wrong, "got and expected: %s" % wrong[:4]
    assert 2 * len(whole) >= len(expected), "most lines were merged: choose another kernel"


def check_occupancy(browser):
    random.seed(5)
    ids = [gpu["id"] for gpu in json.loads(lockstep("gpus", "--json"))]
    inputs = [[id, threads, registers, shared] for id in ids
              for threads, registers, shared in ((1, 0, 0), (1024, 64, 0), (1025, 32, 0),
                                                 (96, 255, 0), (96, 256, 0), (32, 16, 48 * 1024),
                                                 (33, 1, 101376), (128, 32, 1 << 20))]
    inputs += [[random.choice(ids), random.randint(1, 1100), random.randint(0, 260),
                random.choice((0, random.randint(0, 4096), random.randint(0, 240000)))]
               for _ in range(400)]
    got = pages.evaluate(OCCUPANCY, inputs, browser)
    for (id, threads, registers, shared), row in zip(inputs, got):
        o = json.loads(lockstep("gpus", id, "--block", str(threads), "--registers", str(registers),
                                "--shared", str(shared), "--json"))["occupancy"]
        expected = [o["blocks_per_sm"], o["warps_per_sm"], o["occupancy"], o["limiter"],
                    o["limit_warps"], o["limit_registers"], o["limit_shared"], o["limit_blocks"]]
        row[2] = round(row[2], 9)
        expected[2] = round(expected[2], 9)
        assert row == expected, "%s: %s, and lockstep gpus says %s" % (
            (id, threads, registers, shared), row, expected)


def check_by_hand(browser):
    """Cases that a reader can count on fingers."""
    got = pages.evaluate("""
        const { formulaAccess, sectors, bankPasses, padded } = await load("interactives/access.js");
        const { matmulTraffic } = await load("interactives/traffic.js");
        const far = 2 ** 45;
        return {
            row: sectors(formulaAccess(4, (lane) => far + 4 * lane)).fetched,
            shifted: sectors(formulaAccess(4, (lane) => far + 4 + 4 * lane)).fetched,
            same: sectors(formulaAccess(4, () => far)).fetched,
            column: bankPasses(formulaAccess(4, (lane) => 128 * lane)).passes,
            padded: bankPasses(padded(formulaAccess(4, (lane) => 128 * lane), 32, 1)).passes,
            broadcast: bankPasses(formulaAccess(4, () => 64)).passes,
            pairs: bankPasses(formulaAccess(8, (lane) => 8 * lane)),
            fours: bankPasses(formulaAccess(16, (lane) => 16 * lane)),
            tile: matmulTraffic(64, 16), none: matmulTraffic(64, 1),
        };""", None, browser)
    passes = {key: got[key] if isinstance(got[key], int) else
              (got[key]["passes"], got[key]["conflicts"]) for key in
              ("row", "shifted", "same", "column", "padded", "broadcast", "pairs", "fours")}
    assert passes == {"row": 4, "shifted": 5, "same": 1, "column": 32, "padded": 1, "broadcast": 1,
                      "pairs": (2, 0), "fours": (4, 0)}, passes
    assert got["none"]["dram"] == 2 * 64 ** 3 * 4 + 64 * 64 * 4
    assert got["tile"]["dram"] == 2 * 64 ** 3 * 4 / 16 + 64 * 64 * 4
    assert got["tile"]["least"] == 3 * 64 * 64 * 4


def check_worst(browser):
    """A picture opens at the access that costs most: its line, and its number among that line's."""
    got = pages.evaluate("""
        const { worstRecord } = await load("interactives/records.js");
        const records = [[3, 1], [7, 2], [7, 9], [3, 9], [7, 5]]
            .map(([line, cost]) => ({ line, cost }));
        const cost = (record) => record.cost;
        return [worstRecord(records, cost), worstRecord(records.slice(3), cost),
            worstRecord([], cost)];""", None, browser)
    assert got[0] == {"line": 7, "record": 1} and got[1] == {"line": 3, "record": 0}, got
    assert got[2].get("line") is None and got[2]["record"] == 0, got


def main():
    tests = [("occupancy", check_occupancy, ()), ("by hand", check_by_hand, ()),
             ("worst access", check_worst, ())]
    tests += [("sums of " + words, check_sums, (words,)) for words in FAMILIES]
    if pages.find_nvcc():
        tests += [("sums of " + words, check_sums, (words,)) for words in PROGRAMS]
    else:
        for words in PROGRAMS:
            print("skip sums of %s: there is no nvcc" % words)
    browser, studio = None, pages.Studio()
    if not (shutil.which("node") or shutil.which("nodejs")):
        if pages.without_browser():
            for name, _, _ in tests:
                print("skip %s: %s, or get node" % (name, pages.without_browser()))
            return 0
        browser = pages.Browser(studio.__enter__())
    failed = False
    for name, test, arguments in tests:
        try:
            test(browser, *arguments)
            print("ok " + name)
        except AssertionError as error:
            print("not ok %s: %s" % (name, error))
            failed = True
    if browser:
        browser.close()
        studio.__exit__()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
