#!/bin/sh
# run.sh: compiles each NAME.cu that has a NAME.expect with nvcc -cudart shared, runs it on the
# simulated GPU with our libcudart, and compares what it prints. Also compares our declarations and
# exported symbols with NVIDIA's where those are installed.
#   tests/cudart/run.sh [NAME...]
# In a .cu: "// nvcc: FLAGS", "// with: FILES" (more units), "// library: FILE" (made to NAME.so),
# "// status: N" (of the program, 0 if not given), "// needs: HEADER" and "// cuda: RELEASE"
# (skipped where nvcc has none, or is older).
# CUDART=DIR takes the runtime from another folder, the real one for instance:
#   CUDART=/usr/local/cuda/lib64 tests/cudart/run.sh      on a machine with an H200
set -u
cd "$(dirname "$0")" || exit 1
BUILD=${BUILD:-$PWD/../../build}
NVCC=${NVCC:-$(../../scripts/get-nvcc --find)}
CC=${CC:-gcc}
CUDART=${CUDART:-$BUILD}
out=$BUILD/tests/cudart
mkdir -p "$out"
failed=0
# What -lcuda finds where the toolkit has no libcuda.so.
export LIBRARY_PATH="${LIBRARY_PATH:+$LIBRARY_PATH:}$BUILD/stubs"
. ../expect.sh

report() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        failed=1
    fi
}

option() { # NAME WORD
    sed -n "s|^// $2: ||p" "$1.cu"
}

compile() { # NAME
    libraries=$(option "$1" library)
    flags="-cudart shared -gencode arch=compute_80,code=compute_80 -diag-suppress 20012"
    newest=$(ls -t "$1.cu" check.h $(option "$1" with) $libraries "$out/$1" 2>/dev/null | head -n 1)
    [ "$newest" = "$out/$1" ] && return 0
    if [ -n "$libraries" ]; then
        "$NVCC" $flags -shared -Xcompiler -fPIC $libraries -o "$out/$1.so" || return 1
    fi
    "$NVCC" $flags $(option "$1" nvcc) "$1.cu" $(option "$1" with) -o "$out/$1" -lcuda -ldl
}

program() { # NAME
    compile "$1" >"$out/$1.log" 2>&1 || {
        cat "$out/$1.log"
        return 1
    }
    LD_LIBRARY_PATH=$CUDART${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        timeout 120 "$out/$1" >"$out/$1.out" 2>"$out/$1.err"
    status=$?
    expected=$(option "$1" status)
    [ $status -eq "${expected:-0}" ] || echo "$1: exit status $status"
    diff "$1.expect" "$out/$1.out" >"$out/$1.diff" && [ $status -eq "${expected:-0}" ] && return 0
    head -n 40 "$out/$1.diff"
    tail -n 10 "$out/$1.err"
    return 1
}

abi() { # VERSION INCLUDE
    $CC -I../../src -DOURS -DCUDART_VERSION_MAJOR="$1" abi.c -o "$out/abi_ours" &&
        $CC -I../../src -I"$2" abi.c -o "$out/abi_nvidia" &&
        "$out/abi_ours" >"$out/abi_ours.txt" && "$out/abi_nvidia" >"$out/abi_nvidia.txt" &&
        diff "$out/abi_ours.txt" "$out/abi_nvidia.txt"
}

# Every symbol of the real library, with its version, is in ours.
symbols() { # VERSION LIBRARY
    nm -D --defined-only "$2" | awk '{ print $3 }' | sort >"$out/symbols_nvidia.txt"
    nm -D --defined-only "$BUILD/libcudart.so.$1" | awk '{ print $3 }' | sort >"$out/symbols.txt"
    missing=$(comm -23 "$out/symbols_nvidia.txt" "$out/symbols.txt")
    [ -z "$missing" ] || echo "missing: $missing"
    [ -z "$missing" ]
}

# CUDA 12's runtime, in C: needs neither nvcc nor NVIDIA's headers.
runtime12() {
    $CC -I../../src -DCUDART_VERSION_MAJOR=12 runtime12.c -o "$out/runtime12" \
        "$BUILD/libcudart.so.12" -Wl,-rpath-link,"$BUILD" || return 1
    LD_LIBRARY_PATH=$CUDART${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        timeout 60 "$out/runtime12" >"$out/runtime12.out" || echo "exit status $?"
    diff runtime12.expect "$out/runtime12.out"
}

if [ $# -eq 0 ]; then
    runtime12
    report runtime12 $?
    toolkit=$(dirname "$(dirname "${NVCC:-/nowhere/bin/nvcc}")")
    headers=
    for home in "$toolkit" /usr/local/cuda-12*; do
        header=$home/include/cuda_runtime_api.h
        release=$(sed -n 's/^#define CUDART_VERSION  *\([0-9]*\)$/\1/p' "$header" 2>/dev/null)
        version=${release%0?0}
        case $release in 12??? | 13???) ;; *) continue ;; esac
        headers=$version
        if [ "$release" -lt 12080 ]; then
            skip "abi-$version" "$header is of $release, ours of 12080"
            continue
        fi
        abi "$version" "$home/include"
        report "abi-$version" $?
        library=$home/lib64/libcudart.so.$version
        if [ ! -e "$library" ]; then
            skip "symbols-$version" "there is no $library"
            continue
        fi
        symbols "$version" "$library"
        report "symbols-$version" $?
    done
    [ -n "$headers" ] || skip abi "there is no cuda_runtime_api.h in $toolkit/include"
    set -- $(for expect in *.expect; do basename "$expect" .expect; done | grep -v runtime12)
fi
for name in "$@"; do
    why=$(why_not "$name.cu")
    if [ -n "$why" ]; then
        skip "$name" "$why"
    else
        program "$name"
        report "$name" $?
    fi
done
exit $failed
