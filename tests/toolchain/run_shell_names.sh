#!/bin/bash
# Names with characters that a shell acts upon, of folders and of files: no command runs anything in
# them. nvcc would, so it is not started with such a name; what needs no nvcc works as anywhere.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data" NO_COLOR=1
unset LOCKSTEP_GPU LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE LOCKSTEP_TRACE
mkdir -p "$HOME"
NVCC=$("$here/../../scripts/get-nvcc" --find || echo none)
export NVCC
export LOCKSTEP_COURSE="$here/../../course" # the sanitizers' build has none beside it

# Those that a shell expands between double quotes, and those that it does not.
wicked=('$(touch pwned)' '`touch pwned`' '"; touch pwned; "' '$HOME' 'back\slash' $'line\ntouch pwned')
odd=('a;touch pwned' "'; touch pwned; '" 'a|touch pwned&' 'two words' '>pwned' '*' '-lead' '#hash')

nothing_ran() { # NAME
    found=$(find "$work" -name 'pwned*' | head -n 1)
    if [ -z "$found" ]; then
        echo "ok $1-ran-nothing"
    else
        echo "not ok $1-ran-nothing: there is $found"
        find "$work" -name 'pwned*' -delete
    fi
}

program() { # FILE
    cat >"$1" <<'CU'
#include <cstdio>
#if __has_include(<value.h>)
#include <value.h>
#else
#define VALUE 41
#endif
__global__ void k(int *to) { *to = VALUE; }
int main()
{
    int *to, value;
    cudaMalloc(&to, 4);
    k<<<1, 1>>>(to);
    cudaMemcpy(&value, to, 4, cudaMemcpyDeviceToHost);
    cudaFree(to);
    printf("value %d\n", value);
}
CU
}

# In a folder with the name in word: every way in which nvcc would see it.
refused() {
    told='nvcc would hand it to a shell'
    program prog.cu
    for command in run check profile; do
        expect "folder-$number-$command" 2 "^lockstep $command: .*$told" "$LOCKSTEP" $command prog.cu
    done
    expect "folder-$number-from-outside" 2 "$told" \
        sh -c 'cd / && exec "$0" run "$1"' "$LOCKSTEP" "$PWD/prog.cu"
    cd "$work" || exit 1
    program "./$word.cu"
    expect "file-$number" 2 "$told" "$LOCKSTEP" run "./$word.cu"
    program plain.cu
    expect "include-$number" 2 "$told" "$LOCKSTEP" run plain.cu "-I$word"
    expect "temporary-$number" 2 "$told" \
        env TMPDIR="$work/in/$word" XDG_CACHE_HOME="$work/cache$number" "$LOCKSTEP" run plain.cu
}

# The same where it works: folder, file, -I and TMPDIR at once, as what all of them together leave
# whole, each of them does.
taken() {
    program "./$word.cu"
    echo '#define VALUE 42' >"$word/value.h"
    value=42
    [[ $word != *\'* ]] || value=41 # nvcc itself does not find such a folder
    expect "names-$number" 0 "value $value" env TMPDIR="$PWD" XDG_CACHE_HOME="$PWD/$word/cache" \
        "$LOCKSTEP" run "./$word.cu" "-I$word"
    expect "names-$number-from-outside" 0 'value 41' sh -c 'cd / && exec "$0" run "$1"' \
        "$LOCKSTEP" "$PWD/$word.cu"
}

# What nvcc compiles.
if [ "$NVCC" = none ]; then
    skip nvcc-names "there is no nvcc"
else
    number=0
    for word in "${wicked[@]}" "${odd[@]}"; do
        number=$((number + 1))
        mkdir -p "$work/in/$word/$word"
        cd "$work/in/$word" || exit 1
        if [ $number -gt ${#wicked[@]} ]; then
            taken
        else
            refused
        fi
        nothing_ran "nvcc-$number"
    done
    cd "$work" || exit 1
    program plain.cu
    expect definition 2 'hand it to a shell' "$LOCKSTEP" run plain.cu '-DX=$(touch pwned)'
    expect definition-quoted 0 'value 41' "$LOCKSTEP" run plain.cu '-DX="a word"' -D 'Y="$b"'
    nothing_ran definition
fi

# What needs no nvcc.
compiler=$("$here/../../scripts/find-clang" >/dev/null 2>&1 && echo clang || echo nvcc)
number=0
for word in "${wicked[@]}" "${odd[@]}"; do
    number=$((number + 1))
    mkdir -p "$work/out/$word"
    cd "$work/out/$word" || exit 1
    expect "zoo-test-$number" 0 'right' "$LOCKSTEP" zoo test reduction/vectorised n=100
    expect "profile-family-$number" 0 'reduce' \
        "$LOCKSTEP" profile reduction/vectorised n=100 --html "./$word.html" --trace "./$word.json"
    expect "check-family-$number" 0 '0 errors' "$LOCKSTEP" check reduction/vectorised n=100
    expect "export-$number" 0 '.' "$LOCKSTEP" zoo export reduction/vectorised -o "./$word.cu"
    expect "bench-$number" 0 'vectorised' \
        "$LOCKSTEP" bench reduction/vectorised n=100 --no-peers --time 0.05
    expect "roofline-$number" 0 'vectorised' \
        "$LOCKSTEP" roofline reduction/vectorised n=100 --no-peers --time 0.05 --svg "./$word.svg"
    for file in html json cu svg; do
        [ -s "./$word.$file" ] && echo "ok wrote-$number-$file" || echo "not ok wrote-$number-$file"
    done
    nothing_ran "library-$number"
done
if [ "$compiler" = clang ]; then
    number=0
    for word in "${wicked[@]}" "${odd[@]}"; do
        number=$((number + 1))
        cd "$work" || exit 1
        expect "learn-init-$number" 0 '.' env XDG_DATA_HOME="$work/data$number" \
            "$LOCKSTEP" learn init "$work/learn/$word"
        expect "learn-check-$number" 1 'TODO|not right|fails|wrong|does not' env XDG_DATA_HOME="$work/data$number" \
            sh -c 'cd "$1" && exec "$0" learn check --compiler clang' "$LOCKSTEP" "$work/learn/$word"
        nothing_ran "learn-$number"
    done
else
    skip learn-names "there is no clang"
fi
