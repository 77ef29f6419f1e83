#!/bin/sh
# run.sh: the tables and plots in kernels/*/README.md are up to date ('make tables' makes them), and
# scripts/family-tables itself: with a recording and without, what it finds stale, bad input.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/expect.sh
BUILD=${BUILD:-$PWD/build}
LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
export BUILD LOCKSTEP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sample=tests/tables/sample.json
tables=scripts/family-tables

. tests/expect.sh

# 'make tables' followed by 'git diff' does it for all.
expect up-to-date 0 '' $tables --check --quick

# With a recording: the GPU's columns, the peers, and bars of both
one="$tables --into $work/a elementwise --recording $sample"
readme=$work/a/elementwise/README.md
expect recorded 0 '^ *$' $one
expect recorded-table 0 'Measured on Made-up GPU, driver 000.00, 2000-01-02; kernels by nvcc, release 0.0, V0.0.0' \
    cat "$readme"
expect recorded-variants 0 '\| naive \| 96.0 us \| 500 \| 50.0 % \| \| in_flight \| 60.0 us \| 800 \| 80.0 % \| \| \*CUB 0.1\* \| 64.0 us \| 750 \| 75.0 % \| +\|' \
    cat "$readme"
sed 's/"name": "naive",/& "date": "2000-02-03T04:05:06Z",/' $sample >"$work/dated.json"
expect recorded-later 0 '\| naive \(2000-02-03\) \| 96.0 us .*\| in_flight \| 60.0 us .*\| naive \(2000-02-03\) \| 2.00 us' sh -c \
    "scripts/family-tables --into $work/d elementwise --recording $work/dated.json && cat $work/d/elementwise/README.md"
expect recorded-others 0 'best peer / ours .*\| `n=8 op=add` \| naive \| 2.00 us \| 0.0480 GB/s \| 3.00 us \| 1.50x \|' \
    cat "$readme"
expect recorded-plot 0 'n=4K op=add: measured.*class="measured".*60.0 us, 1.25x.*class="peer".*</svg>' \
    cat "$work/a/elementwise/journey.svg"
expect plot-is-xml 0 '' python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('$work/a/elementwise/journey.svg')"
expect same-again 0 '' sh -c "$tables --into $work/b elementwise --recording $sample && diff -r $work/a $work/b"
expect checked 0 '' $one --check

# The plot first, then what was measured, and the wide table last
expect order 0 'made by scripts/family-tables --> !\[times.*journey.svg\).*Measured on.*Modelled for an H200.*\| step \| time' \
    cat "$readme"

# Lines beside the steps, in a README that asks for them
mkdir -p "$work/repo/scripts" "$work/repo/kernels"
cp scripts/family-tables scripts/family_problems.py scripts/figures.py scripts/get-nvcc "$work/repo/scripts/"
cp -r kernels/elementwise "$work/repo/kernels/"
story=$work/repo/kernels/elementwise/README.md
beside="$work/repo/scripts/family-tables elementwise --recording $PWD/$sample"
mark() { # MARK...: below the README's title
    cp kernels/elementwise/README.md "$story"
    for each; do
        sed -i "1a <!-- step $each -->\\n" "$story"
    done
}
mark 'naive: time, rate, roof, instructions, sectors' 'naive on n=8 op=add: time' 'bulk: registers'
expect steps-written 0 '^ *$' $beside
expect steps 0 'step bulk: registers --> \*modelled: [0-9]+ registers\* .*step naive on n=8 op=add: time --> \*Made-up GPU: 2.00 us\* .*step naive: time, rate, roof, instructions, sectors --> \*Made-up GPU: 96.0 us, 500 GB/s, 50 % of the roof · modelled: [0-9.]+ [KM] instructions, [0-9.]+ sectors per request\* ' \
    cat "$story"
cp "$story" "$work/story.md"
expect steps-again 0 '^ *$' sh -c "$beside && diff $story $work/story.md"
expect steps-checked 0 '' $beside --check
remark=$($beside --check)
sed -i 's/96.0 us, 500 GB/69.0 us, 500 GB/' "$story"
[ -n "$remark" ] || expect steps-out-of-date 1 "-\*Made-up GPU: 69.0 us.*\+\*Made-up GPU: 96.0 us.*run 'make tables'" $beside --check
mark 'naive: time, wattage'
expect unknown-figure 2 "step naive: there is no figure 'wattage'; there are time, rate, roof, modelled" $beside
mark 'naif: time'
expect unknown-step 2 'step naif: there are no figures' $beside
mark 'naive on n=7 op=add: time'
expect unknown-problem 2 'step naive: there are no figures on n=7 op=add' $beside

# What has not changed is not profiled again; comments do not count.
cp -r kernels/dropout kernels/include "$work/repo/kernels/"
mkdir -p "$work/repo/docs/measured"
cp docs/measured/h200.json "$work/repo/docs/measured/"
quick="$work/repo/scripts/family-tables --check --quick dropout"
expect quick-unchanged 0 '^ *$' $quick
sed -i '1i // another comment' "$work/repo/kernels/dropout/naive.cu"
expect quick-comment 0 '^ *$' $quick
echo '__device__ int another;' >>"$work/repo/kernels/dropout/naive.cu"
expect quick-changed 1 "made of.*run 'make tables'" $quick
expect quick-writes-not 2 'quick needs --check' $tables --quick dropout

# Without one
printf '{"modelled": false, "gpu_name": "x", "driver": "x", "compiler": "x", "date": "x", "results": []}' \
    >"$work/empty.json"
expect not-recorded 0 'have not been recorded yet' sh -c \
    "$tables --into $work/c elementwise --recording $work/empty.json && cat $work/c/elementwise/README.md"
expect recording-added 1 'elementwise/README.md is out of date.*Measured on Made-up' \
    $tables --into "$work/c" elementwise --recording $sample --check

# Stale. Numbers are compared if the ptxas here is the kernels' own, which the check says otherwise.
remark=$($one --check)
sed -i 's/| naive | [0-9.]* us | \([0-9.]*x\)/| naive | 1.23 us | \1/' "$readme"
[ -n "$remark" ] || expect stale-number 1 "-\| naive \| 1.23 us.*run 'make tables'" $one --check
$one && sed -i '/^| vectorised |/d' "$readme"
expect stale-variant 1 'vectorised.*make tables' $one --check
$one && sed -i 's/>in_flight</>in_fright</' "$work/a/elementwise/journey.svg"
expect stale-plot 1 'journey.svg is out of date' $one --check
$one && sed -i 's/\*\*grid_stride\*\*/grid stride/; s/^## What to try next/## Next/' "$readme"
expect missing-parts 1 'lacks ## What to try next.*lacks the step grid_stride' $one --check
$one && rm "$work/a/elementwise/journey.svg"
expect no-plot 1 'journey.svg is out of date' $one --check

# Another compiler's numbers are not compared, but its variants are.
$one && sed -i 's/^kernels by .*/kernels by nvcc, release 1.0, V1.0.0./;
    s/| naive | [0-9.]* us | \([0-9.]*x\)/| naive | 1.23 us | \1/' "$readme"
expect other-compiler 0 'only names, problems and line counts were compared' $one --check
sed -i '/^| vectorised |/d' "$readme"
expect other-compiler-variant 1 'vectorised' $one --check

# Bad input
sed -i 's/^<!-- end -->//' "$readme"
expect no-marks 2 'needs the lines' $one --check
rm "$readme"
expect no-readme 2 'README.md does not exist' $one --check
expect unknown-family 2 "there is no family 'elementwize'" $tables elementwize --into "$work/a"
expect no-recording 2 'none.json: no such file' $tables elementwise --recording "$work/none.json"
echo '{"results": [{"entries": 3}]}' >"$work/alien.json"
expect alien-recording 2 "not a result of '[^ ]*lockstep bench --json'" \
    $tables elementwise --into "$work/a" --recording "$work/alien.json"
echo '{' >"$work/broken.json"
expect broken-recording 2 'not a result of' \
    $tables elementwise --into "$work/a" --recording "$work/broken.json"
sed 's/"modelled": false/"modelled": true/' $sample >"$work/modelled.json"
expect modelled-recording 2 'its times are modelled' \
    $tables elementwise --into "$work/a" --recording "$work/modelled.json"
