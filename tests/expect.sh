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
