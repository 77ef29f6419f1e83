# expect.sh: for the scripts of whole commands, which source it.

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
