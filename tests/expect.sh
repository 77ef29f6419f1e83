# expect.sh: for the scripts of whole commands, which source it.

# skip NAME WHY: a test that cannot run here; it counts as skipped, never as passed.
skip() {
    echo "skip $1: $2"
}

# has_header NAME: nvcc's programs can include it.
has_header() {
    "$NVCC" -E -x cu - -o /dev/null <<HEADER >/dev/null 2>&1
#include <$1>
HEADER
}

# is_old RELEASE: nvcc is older than that, as in "13.0".
is_old() {
    release=$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    [ "$(printf '%s\n%s\n' "$1" "$release" | sort -V | head -n 1)" != "$1" ]
}

# why_not CU-FILE: why nvcc cannot compile it here, by its lines "// needs: HEADER" and
# "// cuda: RELEASE", the oldest that will do; nothing if it can.
why_not() {
    header=$(sed -n 's|^// needs: \([^ ]*\)$|\1|p' "$1")
    oldest=$(sed -n 's|^// cuda: \([0-9.]*\)$|\1|p' "$1")
    if [ "$NVCC" = none ]; then
        echo "there is no nvcc"
    elif [ -n "$header" ] && ! has_header "$header"; then
        echo "there is no $header"
    elif [ -n "$oldest" ] && is_old "$oldest"; then
        echo "needs CUDA $oldest, and nvcc is of $release"
    fi
}

# programs FOLDER: its .cu files by name, without those that say "// takes: long" (nvcc's time), unless
# PROGRAMS_ALL is set.
programs() {
    for file in "$1"/*.cu; do
        [ -z "${PROGRAMS_ALL:-}" ] && grep -q '^// takes: long$' "$file" || basename "$file" .cu
    done
}

# expect NAME STATUS PATTERN COMMAND...: exit status, and an extended regular expression that the
# output (both streams; newlines as blanks) must match.
expect() {
    name=$1 status=$2 pattern=$3
    shift 3
    output=$("$@" 2>&1 </dev/null)
    got=$?
    if [ $got -eq "$status" ] && echo "$output" | tr '\n' ' ' | grep -Eq -e "$pattern"; then
        echo "ok $name"
    else
        echo "not ok $name: status $got, wanted $status; wanted output '$pattern', got: $output"
    fi
}
