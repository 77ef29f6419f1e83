#!/bin/sh
# What a learner's machine can do to 'lockstep learn': kernels and sources without bounds, files that go
# away, folders that cannot be written, disks that are full, two at once. Each gets a clear message,
# and nothing of the learner's is lost. No times are compared.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_DATA_HOME="$work/data" LOCKSTEP_COURSE="$work/course" TERM=xterm
unset LOCKSTEP_PROGRESS LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE \
    LOCKSTEP_CHECK LOCKSTEP_TRACE LD_LIBRARY_PATH TMPDIR NO_COLOR
mkdir -p "$HOME"
cp -r course "$work/course" # a path that is in the command line of our workers only
cd "$work" || exit 1
learn="$LOCKSTEP learn"
solution=$LOCKSTEP_COURSE/week1/day4_first_kernel/add/solution.cu
$learn init mine >/dev/null
$learn start day4 >/dev/null
add=mine/week1/day4_first_kernel/add.cu
head='__global__ void add(const float *a, const float *b, float *c, int n)'

# A terminal
python3 "$here/terminal.py" "$LOCKSTEP" "$work/mine" "$solution"
expect attempts 0 'add +solved, [5-9] attempts' $learn progress

# Kernels
body() { printf '%s\n{\n%s\n}\n' "$head" "$1" >$add; }
printf '__device__ float big[1u << 29];\n' >$add
cat >>$add <<CU
$head
{
    for (unsigned i = threadIdx.x; i < 1u << 29; i += 1024)
        big[i] = a[0];
    c[0] = big[n];
}
CU
expect memory 1 'does not run to its end.*add.cu: the kernel was stopped: it uses more than 300 MiB of memory' \
    $learn check --memory 300
expect memory-stage 1 '"stage": "fault"' $learn check --memory 300 --json
body 'float own[1 << 20]; own[threadIdx.x + n] = a[0]; c[0] = own[n - threadIdx.x];'
expect local 1 'uses [0-9]+ bytes of local memory a thread [(]limit 524288[)]' $learn check
body '__shared__ float big[1 << 20]; big[threadIdx.x * n] = a[0]; c[0] = big[n];'
expect shared 1 'declares 4194304 bytes of shared memory' $learn check
printf 'extern "C" __device__ void *malloc(unsigned long);\n' >$add
cat >>$add <<CU
$head
{
    for (char *at; (at = (char *)malloc(1 << 20));)
        at[n] = 1;
}
CU
expect device-malloc 1 'not right yet.*never written' $learn check
body 'volatile int x = 0; for (int i = 0; i < 200000; i++) x = x + 1; c[0] = x;'
expect slow 1 'the kernel was stopped after 1 seconds|the kernel does not end' $learn check --seconds 1

# Sources
template='template <int A, int B> struct s { static const int v = s<A - 1, 2 * B>::v + s<A - 1, 2 * B + 1>::v; };
template <int B> struct s<0, B> { static const int v = 1; };'
printf '%s\n%s\n{\n    c[0] = s<28, 0>::v;\n}\n' "$template" "$head" >$add
expect compile-time 1 'does not compile yet.*add.cu: the compiler was stopped after 2 seconds' \
    $learn check --seconds 2
expect compile-memory 1 'add.cu: the compiler was stopped: it needed more than 150 MiB of memory' \
    $learn check --memory 150 --seconds 300
printf 'template <int A> struct s { static const int v = s<A + 1>::v; };\n%s { c[0] = s<0>::v; }\n' \
    "$head" >$add
expect recursion 1 'add.cu:1:[0-9]+: fatal error: recursive template.*maximum depth' $learn check
printf '#include "add.cu"\n%s {}\n' "$head" >$add
expect includes-itself 1 'add.cu:1:[0-9]+: error: #include nested too deeply' $learn check
printf '#include "/dev/zero"\n%s {}\n' "$head" >$add
expect dev-zero 1 'add.cu' $learn check --seconds 5
head -c 3000000 /dev/zero | tr '\0' ' ' >$add
expect big-source 1 'add.cu: it has 3000000 bytes; an exercise has at most 1048576' $learn check
rm $add && mkfifo $add
expect pipe 1 'add.cu: not a file' $learn check
rm $add && mkdir $add
expect directory 1 'add.cu: not a file' $learn check
rmdir $add && cp "$solution" $add
expect limit-zero 2 '--seconds takes a whole number from 1 to 3600' $learn check --seconds 0
expect limit-word 2 'memory' $learn check --memory much

# Disks: a small one in a mount namespace of its own, where the system allows that.
if unshare -rm true 2>/dev/null; then
    cat >disk.sh <<'SH'
# disk.sh KIB COMMAND: runs COMMAND in a shell where disk/ is a file system of that many KiB.
mkdir -p disk
mount -t tmpfs -o size="$1"k none disk || exit 9
full() { dd if=/dev/zero of=disk/rest bs=1024 2>/dev/null; }
eval "$2"
SH
    disk() { name=$1 status=$2 pattern=$3 size=$4; shift 4; expect "$name" "$status" "$pattern" unshare -rm sh disk.sh "$size" "$1"; }
    export learn solution
    disk full-init 0 'disk/mine/.*No space left.*half: 0.*are in /.*disk/mine.*whole: 0' 40 '
        LOCKSTEP_PROGRESS=p1.db $learn init disk/mine; test $? = 2 || exit 8
        find disk/mine -name "*.cu" | while read f; do
            cmp -s "$f" "$LOCKSTEP_COURSE/$(echo "$f" | sed "s|disk/mine/||; s|\.cu$|/exercise.cu|")" || echo x
        done | wc -l | sed "s/^/half: /"
        mount -o remount,size=4m disk
        LOCKSTEP_PROGRESS=p1.db $learn init disk/mine || exit 8
        find disk/mine -size 0 | wc -l | sed "s/^/whole: /"'
    disk full-reset 0 'add.cu: No space left.*mine again' 4096 '
        LOCKSTEP_PROGRESS=p2.db $learn init disk/mine >/dev/null
        f=disk/mine/week1/day4_first_kernel/add.cu
        echo "// of the learner" >$f
        full
        LOCKSTEP_PROGRESS=p2.db $learn reset add; test $? = 2 || exit 8
        grep -q "of the learner" $f && echo "mine again"'
    disk full-progress 0 'passed.*remark: this (attempt|run) was not saved.*solved, 1 attempt, .*passed.*solved, 2 attempts' 400 '
        export LOCKSTEP_PROGRESS=disk/p.db
        $learn init own3 >/dev/null && cp "$solution" own3/week1/day4_first_kernel/add.cu
        $learn check add && full
        $learn check add; $learn progress
        rm disk/rest
        $learn check add && $learn progress'
    disk full-temporary 0 'nothing could be graded.*nowhere to compile|No space left' 16 '
        mkdir disk/t; full
        TMPDIR=$PWD/disk/t $learn check add; test $? = 1'
    disk read-only 0 'passed.*Read-only.*still: 0' 4096 '
        export LOCKSTEP_PROGRESS=p4.db
        $learn init disk/mine >/dev/null && cp "$solution" disk/mine/week1/day4_first_kernel/add.cu
        mount -o remount,ro disk
        $learn check add
        $learn reset add && exit 8
        $learn note words && exit 8
        cmp "$solution" disk/mine/week1/day4_first_kernel/add.cu; echo "still: $?"'
else
    echo "# no mount namespaces here: full disks are not tried"
fi

# Another process has the progress file for a while: it is waited for, and then told.
cat >hold.py <<'PY'
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1])
db.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
PY
python3 hold.py "$XDG_DATA_HOME/lockstep/progress.db" 1 >held.txt &
while [ ! -s held.txt ]; do sleep 0.1; done
expect busy 0 'passed' $learn check add
wait

# A real GPU, played by our own driver without its mark: what is right runs there too.
mkdir driver
sed 's/lk_driver_marker/xx_driver_marker/g' "$BUILD/libcuda.so.1" >driver/libcuda.so.1
real="env LD_LIBRARY_PATH=$work/driver"
expect no-gpu 2 'cuda:0: this machine has no NVIDIA GPU.*--gpu sim:h200 needs none' \
    env LD_LIBRARY_PATH="$BUILD" $learn check add --gpu cuda:0
expect measured 0 'passed.*\(modelled\).*right on NVIDIA H200 too: [0-9.e+]+ us measured there' \
    $real $learn check add --gpu cuda:0
expect measured-json 0 '"gpu_name": "NVIDIA H200".*"measured_us": [0-9.]+' \
    $real $learn check add --gpu cuda:0 --json
expect measured-in-place 0 'right on NVIDIA H200 too' sh -c "cp $LOCKSTEP_COURSE/week1/day4_first_kernel/saxpy/solution.cu mine/week1/day4_first_kernel/saxpy.cu; $real $learn check saxpy --gpu cuda:0"
expect too-many-gpus 2 'this machine has 1 GPU' $real $learn check add --gpu cuda:1
sed -i 's/i < n/i <= n/' $add
expect not-measured 1 'out of bounds' $real $learn check add --gpu cuda:0
