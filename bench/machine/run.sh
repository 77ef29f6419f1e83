#!/bin/bash
# run.sh: `make bench-machine`. Compiles kernels.cu to PTX (nvcc, or clang 16 or newer without any
# NVIDIA software), plain.c with -O2 and bench.c against the machine's objects, and runs the bench.
#   bench/machine/run.sh [--json] [--quick] [--only KERNEL]
# BUILD is the build folder (default build).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
out=$build/bench-machine
mkdir -p "$out"

# The machine's objects: one a source, and one a source and instruction set for the bodies.
objects=()
for source in "$root"/src/{base,host,gpu,ptx,simt}/*.c; do
    object=$build/obj/${source#"$root"/src/}
    object=${object%.c}
    case $source in
    */exec_*) objects+=("$object".v[1-4].o) ;;
    *) objects+=("$object.o") ;;
    esac
done
for object in "${objects[@]}"; do
    [ -f "$object" ] || { echo "bench-machine: no $object; run make first" >&2; exit 2; }
done

# The command line that the Makefile and `lockstep` compile kernels with.
ptx_words() { # NVCC or CLANG
    sed -n "s/^$1(\"\(.*\)\")\$/\1/p" "$root/src/toolchain/ptx_command.def" |
        sed "s|{arch}|80|; s|{include}|$root/kernels/include|"
}
ptx=$out/kernels.ptx
if compiler=$("$root/scripts/get-nvcc" --find); then
    mapfile -t words < <(ptx_words NVCC)
elif compiler=$("$root/scripts/find-clang"); then
    mapfile -t words < <(ptx_words CLANG)
else
    echo "bench-machine: neither nvcc nor clang" >&2
    exit 2
fi
"$compiler" "${words[@]}" "$here/kernels.cu" -o "$ptx"
cc=${CC:-gcc}
flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -I$root/src -I$here"
# shellcheck disable=SC2086
$cc $flags -O2 -c "$here/plain.c" -o "$out/plain.o"
# shellcheck disable=SC2086
$cc $flags -O2 "$here/bench.c" "$out/plain.o" "${objects[@]}" -o "$out/bench" -lzstd \
    -llz4 -lm -ldl -lpthread
exec "$out/bench" "$@" "$ptx"
