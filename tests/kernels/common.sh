# common.sh: for run.sh and gpu.sh: 'lockstep zoo test' as "ok NAME" and "not ok NAME" lines.
# shellcheck shell=bash

families() {
    "$LOCKSTEP" zoo list --json | python3 -c 'import json, sys
for family in json.load(sys.stdin): print(family["name"])'
}

# "family/variant  right 3 problems" -> "ok WHAT family/variant"; the line after a wrong one says
# why. What needs a library that is not here takes no problem. A command that ends early is
# reported.
zoo_test() { # WHAT FAMILY OPTION...
    local what=$1 family=$2 output status
    shift 2
    output=$("$LOCKSTEP" zoo test "$family" "$@" 2>&1)
    status=$?
    # At once: others write to the same pipe.
    output=$(printf '%s\n' "$output" | sed -n \
        -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *right .*|ok $what \1|p" \
        -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *WRONG.*|not ok $what \1|p" \
        -e "s|^\([a-z0-9_]*/cpu_openblas\)  *takes none.*|skip $what \1: there is no OpenBLAS|p" \
        -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *takes none.*|not ok $what \1 (takes no edge problem)|p" \
        -e 's|^\(    .*\)|\1|p' -e 's|^\(lockstep: .*\)|    \1|p')
    if [ $status -gt 1 ] || { [ $status -eq 1 ] && [[ $output != *"not ok "* ]]; }; then
        output+=$'\n'"not ok $what $family (status $status)"
    fi
    [[ $output == *"ok "* ]] || output+="not ok $what $family (nothing was tested)"
    printf '%s\n' "$output"
}
