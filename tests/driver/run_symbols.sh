#!/bin/bash
# run_symbols.sh: our libcuda.so.1 exports every symbol that the toolkit's stub library does, and
# every function that its cuda.h declares, under the name that a program which includes it links.
# Skipped without a toolkit.
set -u
BUILD=${BUILD:-build}
NVCC=${NVCC:-$(scripts/get-nvcc --find || echo none)}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

exported() { # LIBRARY
    nm -D --defined-only "$1" | awk '$2 ~ /^[TWi]$/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

compare() { # NAME: what $work/theirs has and ours does not
    missing=$(LC_ALL=C comm -23 "$work/theirs" "$work/ours")
    if [ ! -s "$work/theirs" ]; then
        echo "not ok $1: no symbol was found to compare with"
        failed=1
    elif [ -z "$missing" ]; then
        echo "ok $1 ($(wc -l <"$work/theirs") symbols)"
    else
        echo "not ok $1"
        printf '    missing: %s\n' $missing
        failed=1
    fi
}

exported "$BUILD/libcuda.so.1" >"$work/ours"
root=$(dirname "$(dirname "$(readlink -f "$NVCC" 2>/dev/null || echo /none/none)")")
stub=$(find -L "$root" -path '*/stubs/libcuda.so' 2>/dev/null | head -n 1)
if [ -n "$stub" ]; then
    exported "$stub" | grep '^cu' >"$work/theirs"
    compare "the stub library's symbols"
else
    echo "skip the stub library's symbols: there is no toolkit"
fi

header=$(find -L "$root" -path '*/include/cuda.h' 2>/dev/null | head -n 1)
if [ -n "$header" ]; then
    for flags in "" "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"; do
        # cuda.h renames calls with macros: the preprocessor has the last word. The GL, VDPAU and
        # EGL calls are declared elsewhere.
        # shellcheck disable=SC2086
        ${CC:-gcc} -E -P $flags -x c - -I"$(dirname "$header")" <<<'#include <cuda.h>' |
            grep -o '\<CUresult *\(__stdcall\)\? *cu[A-Za-z0-9_]* *(' |
            sed 's/.*\(cu[A-Z][A-Za-z0-9_]*\) *($/\1/' | LC_ALL=C sort -u >"$work/theirs"
        compare "cuda.h's functions${flags:+, per-thread default stream}"
    done
else
    echo "skip cuda.h's functions: there is no toolkit"
fi
exit $failed
