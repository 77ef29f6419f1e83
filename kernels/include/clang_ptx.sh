#!/bin/sh
# clang_ptx.sh: clang's command line for PTX, in two steps where a kernel may have tensor maps, or
# structures with some, as parameters. The TMA unit reads a map where the host put it.
# __grid_constant__ promises clang that a parameter is never written, so that it takes that address;
# before clang 20 the back end knows the promise but the front end does not, and the kernel would hand
# out a local copy. So it is added to the intermediate code. Newer ones write it themselves, and nothing
# is added.
#   sh clang_ptx.sh CLANG WORD... -o OUTPUT SOURCE
set -e
previous=
for word; do
    case $word in --cuda-gpu-arch=*) arch=${word#*=} ;; esac
    [ "$previous" != -o ] || output=$word
    previous=$word
done
case $arch in sm_[2-8]?) exec "$@" ;; esac # no TMA unit
trap 'rm -f "$output.ll" "$output.map.ll"' EXIT
"$@" -emit-llvm -o "$output.ll"
awk '
    BEGIN { has_maps["%struct.tensor_map"] = 1 }
    /^%struct\.[A-Za-z0-9_]+ = type .*%struct\.tensor_map/ { has_maps[$1] = 1 }
    /^define .*byval\(%struct\./ {
        match($0, /@[^(]+\(/)
        name = substr($0, RSTART, RLENGTH - 1)
        count = split(substr($0, RSTART + RLENGTH), parameter, ", ")
        for (i = 1; i <= count; i++)
            if (match(parameter[i], /%struct\.[A-Za-z0-9_]+/) &&
                substr(parameter[i], RSTART, RLENGTH) in has_maps)
                maps[name] = maps[name] (maps[name] ? ", " : "") "i32 " i
    }
    /^![0-9]+ = !\{ptr @.*, !"kernel", i32 1\}/ {
        match($0, /@[^,]+/)
        is_kernel[substr($0, RSTART, RLENGTH)] = 1
    }
    { print }
    END {
        node = 1000000 # above those of clang
        for (name in maps)
            if (is_kernel[name]) {
                printf "!%d = !{ptr %s, !\"grid_constant\", !%d}\n", node, name, node + 1
                printf "!%d = !{%s}\n!nvvm.annotations = !{!%d}\n", node + 1, maps[name], node
                node += 2
            }
    }' "$output.ll" >"$output.map.ll"
"$1" -x ir --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang "$arch" -Xclang -target-feature \
    -Xclang +ptx80 -O3 -Xclang -disable-llvm-passes -S -o "$output" "$output.map.ll"
