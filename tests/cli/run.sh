#!/bin/sh
# The commands from outside: output, exit status, cache, what is passed through, bad input.
# The programs here have no kernels; lockstep is copied beside stub libraries, in a folder of its
# own, with a cache and a home of its own.
# shellcheck disable=SC2086,SC2102,SC2153,SC2238 # $sim is several words
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lockstep=$work/bin/lockstep
NVCC=$("$here/../../scripts/get-nvcc" --find || echo none)
export NVCC
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_GPU LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_POISON LOCKSTEP_CACHE_MIB LD_LIBRARY_PATH
mkdir -p "$work/bin" "$HOME" "$work/src"
cp "$LOCKSTEP" "$lockstep"
cp "$BUILD/liblockstep_audit.so" "$work/bin/"
echo 'libcudart.so.13 { global: *; };' >"$work/map"
gcc -shared -fPIC -o "$work/bin/libcudart.so.13" -Wl,-soname,libcudart.so.13 \
    -Wl,--version-script="$work/map" "$here/stub_cudart.c"
gcc -shared -fPIC -o "$work/bin/libcuda.so.1" -Wl,-soname,libcuda.so.1 "$here/stub_cudart.c"
cd "$work/src" || exit 1

# Help and unknown words
expect version 0 '^lockstep [0-9]' "$lockstep" --version
expect help 0 'run .*gpus .*doctor' "$lockstep" --help
expect help-of-a-command 0 'usage: [^ ]*lockstep run' "$lockstep" help run
expect help-flag 0 'usage: [^ ]*lockstep gpus' "$lockstep" gpus --help
mkdir -p "$work/typed" && ln -sf "$lockstep" "$work/typed/lockstep"
expect names-what-was-typed 2 "see '\./typed/lockstep gpus --help'" \
    sh -c "cd '$work' && ./typed/lockstep gpus --frobnicate"
expect names-what-is-on-path 2 "see 'lockstep gpus --help'" \
    sh -c "PATH='$work/typed:'\$PATH lockstep gpus --frobnicate"
expect no-command 2 'usage' "$lockstep"
expect unknown-command 2 "did you mean 'doctor'" "$lockstep" docter
expect unknown-command-far 2 'lists them' "$lockstep" frobnicate
expect unknown-flag 2 'not understood' "$lockstep" gpus --bogus
expect no-colour-in-a-pipe 0 '^[^[]*$' "$lockstep" --help

# gpus
expect gpus 0 't4 .*h200 .*b200' "$lockstep" gpus
expect gpus-one 0 'compute capability 9.0.*sources:' "$lockstep" gpus H200
expect gpus-near 2 "did you mean 'h200'" "$lockstep" gpus h20o
expect gpus-json 0 '"id": "a100".*"sms": 108' "$lockstep" gpus a100 --json
expect gpus-json-all 0 'True' sh -c "'$lockstep' gpus --json | python3 -c '
import json, sys
print(len(json.load(sys.stdin)) >= 10)'"
expect occupancy 0 '4 blocks per SM, 32 of 64 warps: occupancy 50.0 %, limited by registers' \
    "$lockstep" gpus h200 --block 256 --registers 64 --shared 16384
expect occupancy-too-many 0 'does not run' "$lockstep" gpus t4 --block=2000
expect occupancy-json 0 '"limiter": "shared memory"' \
    "$lockstep" gpus t4 --block 128 --shared 40000 --json
expect occupancy-without-gpu 2 'needs a GPU' "$lockstep" gpus --block 128
expect occupancy-bad-number 2 'whole number' "$lockstep" gpus h200 --block -3

# doctor
expect doctor 1 'missing +libcudart.so.12.*get it: make' "$lockstep" doctor
expect doctor-json 1 '"ready": false' "$lockstep" doctor --json
expect doctor-unknown 2 'not understood' "$lockstep" doctor now

# doctor finds the compilers that the scripts find, and so the Makefile: by a variable, on PATH, and otherwise.
root=$here/../..
mkdir -p "$work/tools/it's \$HOME"
for tool in nvcc clang-16 clang-19; do
    printf '#!/bin/sh\necho "%s version 16.0 release 99.9"\n' $tool >"$work/tools/$tool"
    chmod +x "$work/tools/$tool"
done
cp "$work/tools/nvcc" "$work/tools/it's \$HOME/"
same_tools() { # CASE SETTINGS...
    case_name=$1
    shift
    nvcc=$(env "$@" "$root/scripts/get-nvcc" --find) && nvcc="($nvcc)"
    clang=$(env "$@" "$root/scripts/find-clang") && clang="($clang)"
    env "$@" "$lockstep" doctor >"$work/doctor"
    expect "doctor-nvcc-$case_name" 0 . grep -F "${nvcc:-missing  nvcc}" "$work/doctor"
    expect "doctor-clang-$case_name" 0 . grep -F "${clang:-missing  clang}" "$work/doctor"
}
same_tools as-it-is _=
same_tools unset -u NVCC -u CLANG
same_tools on-path -u NVCC -u CLANG PATH="$work/tools:$PATH"
same_tools by-variable NVCC="$work/tools/nvcc" CLANG="$work/tools/clang-16"
same_tools missing NVCC=/nowhere/nvcc CLANG=/nowhere/clang
expect doctor-runs-no-shell 0 '99.9 .*/it.s .HOME/nvcc' \
    sh -c "NVCC=\"\$1/it's \\\$HOME/nvcc\" '$lockstep' doctor | grep nvcc" sh "$work/tools"

# run: bad input, which needs no compiler
echo 'not a program' >text.txt
printf '\177ELF\002\001\001' >broken
head -c 3000 "$lockstep" >cut
chmod +x text.txt broken cut
cp broken broken.o
expect run-nothing 2 'which program' "$lockstep" run
expect run-missing 2 'none.cu: no such file' "$lockstep" run none.cu
expect run-folder 2 'is a folder' "$lockstep" run .
expect run-text 2 'neither' "$lockstep" run text.txt
expect run-broken-elf 2 'damaged' "$lockstep" run ./broken
expect run-cut-elf 2 'damaged' "$lockstep" run ./cut
expect run-unknown-gpu 2 "did you mean 'sim:b200'" "$lockstep" run --gpu sim:b20 text.txt
expect run-bad-gpu 2 'sim:NAME or cuda:N' "$lockstep" run --gpu h200 text.txt
expect run-bad-gpu-variable 2 'sim:NAME' env LOCKSTEP_GPU=bogus "$lockstep" run text.txt
expect run-bad-schedule 2 'random:SEED' "$lockstep" run --schedule never text.txt
expect run-bad-threads 2 'whole number' "$lockstep" run --threads many text.txt
expect run-no-value 2 'needs a value' "$lockstep" run text.txt --gpu
expect run-refuses-output 2 'cache' "$lockstep" run -o x text.txt
expect run-no-nvcc 2 'scripts/get-nvcc' env NVCC=/dev/null/nvcc "$lockstep" run --gpu sim:h200 "$here/stub_cudart.c"

# Every command names itself in what it prints, with nothing, with an option that is none, and with
# a file that is not there.
for command in run check profile; do
    expect "$command-names-itself" 2 "^lockstep $command: which program. as in '[^ ]*lockstep $command prog.cu'" \
        "$lockstep" $command
    expect "$command-names-itself-option" 2 "^lockstep $command: which program" "$lockstep" $command --bogus
    expect "$command-names-itself-missing" 2 "^lockstep $command: none.cu: no such file" \
        "$lockstep" $command none.cu
    expect "$command-names-itself-object" 2 "lockstep $command ./program'" "$lockstep" $command broken.o
done
for command in bench doctor gpus learn roofline studio tune zoo; do
    expect "$command-names-itself" 2 "^lockstep $command: .*--bogus" "$lockstep" $command --bogus
done

# Numbers: 0 where it makes no sense, negative, too large, empty, no number.
numbers() { # NAME LEAST MOST COMMAND...: the option's value comes last
    name=$1 least=$2 most=$3
    shift 3
    for bad in -1 99999999999999999999999 '' many 1.5 0x10 "$((least - 1))"; do
        expect "$name-$bad" 2 "takes a whole number from $least to $most, not '$bad'" "$@" "$bad"
    done
}
for command in run check profile; do
    numbers $command-threads 1 4096 "$lockstep" $command text.txt --threads
    numbers $command-limit 1 18446744073709551615 "$lockstep" $command text.txt --limit
done
numbers family-threads 1 4096 "$lockstep" check reduction --threads
numbers family-limit 1 18446744073709551615 "$lockstep" profile reduction --limit
numbers profile-records 1 2147483647 "$lockstep" profile text.txt --trace-records
numbers profile-events 1 2147483647 "$lockstep" profile text.txt --replay-events
numbers profile-launch 0 2147483647 "$lockstep" profile text.txt --launch
numbers gpus-block 1 2147483647 "$lockstep" gpus h200 --block
numbers gpus-registers 0 2147483647 "$lockstep" gpus h200 --block 32 --registers
numbers gpus-shared 0 2147483647 "$lockstep" gpus h200 --block 32 --shared
numbers zoo-repeat 1 1000000 "$lockstep" zoo run reduction --repeat
numbers zoo-launches 1 1000000 "$lockstep" zoo run reduction --launches
numbers learn-seconds 1 3600 "$lockstep" learn check --seconds
numbers learn-memory 1 1048576 "$lockstep" learn check --memory
numbers studio-port 0 65535 "$lockstep" studio --port
numbers tune-seed 0 9223372036854775807 "$lockstep" tune reduction --seed

# --gpu is what LOCKSTEP_GPU is, several GPUs too.
for many in 0 9 99999999999 ''; do
    expect "gpus-at-once-$many" 2 '1 to 8 GPUs|no GPU' "$lockstep" run --gpu "sim:h200x$many" text.txt
    expect "gpus-at-once-variable-$many" 2 '1 to 8 GPUs|no GPU' \
        env LOCKSTEP_GPU="sim:h200x$many" "$lockstep" run text.txt
done
expect gpus-at-once 2 'neither' "$lockstep" run --gpu sim:h200x2 text.txt

if [ "$NVCC" = none ]; then
    skip run "there is no nvcc"
    exit 0
fi

# run: compile, pass through, cache
cat >say.cu <<'CU'
#include "word.h"
#include <cstdio>
#include <cstdlib>
int main(int count, char **words)
{
    char line[64] = "";
    if (count > 1 && fgets(line, sizeof line, stdin))
        printf("stdin %s", line);
    printf("%s %s %d %s gpu=%s threads=%s schedule=%s limit=%s poison=%s\n", WORD, words[0], count,
           words[count - 1], getenv("LOCKSTEP_GPU"), getenv("LOCKSTEP_THREADS"),
           getenv("LOCKSTEP_SCHEDULE"), getenv("LOCKSTEP_LIMIT"), getenv("LOCKSTEP_POISON"));
    fprintf(stderr, "to stderr\n");
    return count == 4 ? abort(), 0 : 7;
}
CU
echo '#define WORD "first"' >word.h
sim="$lockstep run --gpu sim:t4 --verbose say.cu"
expect run 7 'compute_75,code=compute_75 .*built:.*first [^ ]*/say 1 [^ ]*/say gpu=sim:t4 threads=.null.' $sim
expect run-cached 7 'cached:.*first' $sim
expect run-options 7 'cached:.*gpu=sim:t4 threads=2 schedule=random:9 limit=1000 poison=0xff' \
    $sim --threads 2 --schedule=random:9 --limit 1000 --poison
expect run-arguments 7 'first [^ ]*/say 3 a b ' $sim -- --gpu 'a b'
expect run-stdin 7 'stdin typed' sh -c "echo typed | $sim -- x"
expect run-signal 134 'to stderr' $sim -- 1 2 3
expect run-stdout-is-the-programs 0 '^first [^+]*$' sh -c "$sim 2>/dev/null; :"
expect run-two-gpus 7 'gpu=sim:h200x2 ' "$lockstep" run --gpu SIM:H200x2 say.cu
expect run-two-gpus-variable 7 'gpu=sim:t4x8 ' env LOCKSTEP_GPU=sim:t4x8 "$lockstep" run say.cu
expect run-variable 7 'gpu=sim:a100' env LOCKSTEP_GPU=sim:a100 "$lockstep" run say.cu
echo '#define WORD "second"' >word.h
expect run-header-changed 7 'built:.*second' $sim
echo '#define WORD "first"' >word.h
expect run-header-back 7 'cached:.*first' $sim
expect run-flags-are-part 7 'built:.*first' $sim -DX=1
mkdir -p editing && cat >editing/gcc <<'SH'
#!/bin/sh
# a host compiler during whose last run the header is edited
case " $* " in *' -c '*) echo '#define WORD "late"' >word.h ;; esac
exec "${0##*/}" "$@"
SH
chmod +x editing/gcc && ln -s gcc editing/g++
expect run-header-edited-meanwhile 7 'built:.*first' $sim -ccbin editing
expect run-header-edited-after 7 'built:.*late' $sim -ccbin editing
echo '#define WORD "first"' >word.h
mkdir -p elsewhere && echo '#define WORD "else"' >elsewhere/word.h
expect run-arch 7 'compute_80,code=compute_80 .*gpu=sim:h200' \
    "$lockstep" run --gpu sim:h200 --verbose -arch sm_80 -O2 -I elsewhere say.cu
expect run-gencode 7 'compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a' \
    "$lockstep" run --gpu sim:h200 --verbose -gencode arch=compute_80,code=sm_80 \
    --generate-code=arch=compute_90a,code=[sm_90a,compute_90a] -arch=native say.cu
expect run-keep 7 'kept: .*/say ' "$lockstep" run --gpu sim:t4 --keep say.cu
kept=$("$lockstep" run --gpu sim:t4 --keep say.cu 2>&1 | sed -n 's/.*kept: \(.*\)\/say .*/\1/p')
expect run-keeps-ptx 0 'say.*ptx' sh -c "ls '$kept/keep'"

# The program that nvcc made, given by name
program=$($sim 2>&1 | sed -n 's/.*cached: //p')
cp "$program" ./built
expect run-program 7 'first ./built 1' "$lockstep" run --gpu sim:h200 ./built
expect run-program-arguments 7 'first ./built 3 10' "$lockstep" run --gpu sim:h200 ./built -n 10
expect run-program-our-options 7 'first ./built 1' "$lockstep" run ./built --gpu sim:h200
expect run-program-own-options 7 'first ./built 3 1 .*threads=.null.' "$lockstep" run ./built --gpu=sim:h200 -- --threads 1
expect run-program-missing 2 'nowhere: no such file' "$lockstep" run ./nowhere 10
expect check-program-arguments 7 'first ./built 3 10' "$lockstep" check ./built -n 10
expect profile-program-arguments 7 'first ./built 3 10' "$lockstep" profile ./built -n 10
expect run-not-cuda 0 'remark: .*does not load' "$lockstep" run --gpu sim:h200 /bin/true

# A program that starts itself again, by argv[0] and by what /proc says
cat >again.cu <<'CU'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
static int start_again(char *path)
{
    char word[] = "child";
    char *words[] = {path, word, NULL};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execvp(path, words);
        perror(path);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
int main(int count, char **words)
{
    char itself[] = "/proc/self/exe";
    if (count > 1)
        return strcmp(getenv("LOCKSTEP_GPU"), "sim:t4") == 0 ? 5 : 6;
    printf("by argv[0] %d, by /proc %d\n", start_again(words[0]), start_again(itself));
    return 0;
}
CU
expect run-starts-itself 0 'by argv.0. 5, by /proc 5' "$lockstep" run --gpu sim:t4 again.cu
expect run-starts-itself-no-cache 0 'by argv.0. 5, by /proc 5' \
    env HOME=/dev/null XDG_CACHE_HOME= TMPDIR="$work" "$lockstep" run --gpu sim:t4 again.cu

# Several sources; errors of the compiler
echo 'int helper() { return 5; }' >helper.cpp
echo 'int helper(); int main() { return helper(); }' >two.cu
expect run-several 5 '^ *$' "$lockstep" run --gpu sim:h200 two.cu helper.cpp
echo 'int helper() { return 6; }' >helper.cpp
expect run-several-changed 6 '^ *$' "$lockstep" run --gpu sim:h200 two.cu helper.cpp
echo 'int main() { return wrong; }' >wrong.cu
expect run-compile-error 2 'wrong.cu.*"wrong" is undefined' "$lockstep" run --gpu sim:h200 wrong.cu
expect run-error-leaves-nothing 0 '^ *$' sh -c "ls '$XDG_CACHE_HOME/lockstep/run' | grep new; :"

# A program that has the runtime linked into it runs as long as it has its symbols
"$NVCC" -cudart static -gencode arch=compute_75,code=compute_75 -o static two.cu helper.cpp
expect run-static-runtime 6 '^ *$' "$lockstep" run --gpu sim:h200 ./static
strip static
expect run-static-runtime-stripped 2 'was stripped.*link it with .nvcc -cudart shared' \
    "$lockstep" run --gpu sim:h200 ./static

# The assembler, which may take longer than a launch, is asked for the registers of kernels whose
# time matters: not of those that wait by the clock, and not under check. Its answers are kept.
# These programs have kernels: they run on the machine itself.
cat >asked.cu <<'PROGRAM'
#include <cstdlib>
__global__ void waits(long long *out)
{
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    *out = now;
}
__global__ void counts(long long *out) { *out = clock64(); }
int main(int argc, char **argv)
{
    long long *out;
    cudaMalloc(&out, 8);
    argc > 1 ? counts<<<1, 1>>>(out) : waits<<<1, 1>>>(out);
    return cudaFree(out);
}
PROGRAM
asked() { find "$XDG_CACHE_HOME/lockstep/run" -name 'ptxas.*' | wc -l; }
before=$(asked)
expect run-waits-by-clock 0 '^ *$' "$LOCKSTEP" run --gpu sim:h200 asked.cu
expect check-counts-cycles 0 '0 errors' "$LOCKSTEP" check --gpu sim:h200 asked.cu -- 1
expect run-asks-nothing 0 "" test "$(asked)" -eq "$before"
expect run-counts-cycles 0 '^ *$' "$LOCKSTEP" run --gpu sim:h200 asked.cu -- 1
expect run-asks-assembler 0 "" test "$(asked)" -eq "$((before + 1))"

# Scripts, modules and commands on PATH: what follows is theirs; our libraries come first
cat >show.py <<'SCRIPT'
import ctypes, os, sys
ctypes.CDLL("libcuda.so.1"); ctypes.CDLL(os.path.abspath("theirs/libcudart.so.13"))
loaded = sorted({line.split()[-1] for line in open("/proc/self/maps") if "libcuda" in line})
print("args", sys.argv[1:], "gpu", os.environ["LOCKSTEP_GPU"], "loaded", *loaded)
SCRIPT
mkdir -p theirs
gcc -shared -fPIC -o theirs/libcudart.so.13 -Wl,-soname,libcudart.so.13 -DOTHER "$here/stub_cudart.c"
expect client-script 0 "args \\['--json', '-n', '5'\\] gpu sim:a100 loaded $work/bin/libcuda.so.1 $work/bin/libcudart.so.13" \
    "$lockstep" run --gpu sim:a100 show.py --json -n 5
expect client-script-dashes 0 "args \\['--', 'x'\\]" "$lockstep" run show.py -- -- x
expect client-module 0 "args \\['-m', '64'\\].*sim:h200" "$lockstep" run --gpu=sim:h200 -m show -m 64
expect client-command 0 '^5 $' "$lockstep" run python3 -c 'import sys; print(len(sys.argv) + 2)' a b
expect client-missing 2 "nothing.py: no such file" "$lockstep" run nothing.py
expect client-tools 0 "$work/bin/clients/ptxas" "$lockstep" run sh -c 'echo $TRITON_PTXAS_PATH'
printf '#!/bin/sh\necho "mine $*"\n' >mine
chmod +x mine
expect client-script-with-shebang 0 '^mine a -b $' "$lockstep" run ./mine a -b
mkdir -p env/bin
printf '#!/bin/sh\necho "environment $*"\n' >env/bin/python
chmod +x env/bin/python
expect client-virtual-environment 0 '^environment show.py 1 $' env VIRTUAL_ENV="$PWD/env" "$lockstep" run show.py 1
printf '#!%s\n' "$PWD/mine" >own.py
expect client-own-interpreter 0 '^mine own.py 1 $' "$lockstep" run own.py 1
expect client-not-our-option 2 "is not a source file|no such file|not understood" "$lockstep" run -O3 show.py

# RPATH goes before LD_LIBRARY_PATH, so ours must go before it in another way
mkdir -p theirs
gcc -shared -fPIC -o theirs/libcudart.so.13 -Wl,-soname,libcudart.so.13 \
    -Wl,--version-script="$work/map" -DOTHER "$here/stub_cudart.c"
"$NVCC" -cudart shared -gencode arch=compute_75,code=compute_75 -o rpath say.cu \
    -Xlinker --disable-new-dtags -Xlinker -rpath -Xlinker "$work/src/theirs"
expect run-rpath 7 "$work/bin/libcudart.so.13" env LD_DEBUG=files "$lockstep" run --gpu sim:h200 ./rpath

# The cache: what is damaged is built again, and is then as good as any
damage() { # NAME HOW: HOW is a command, run in the entry's folder, or in the cache's
    expect "damage-before-$1" 7 'cached:.*first' $sim
    (cd "$(dirname "$program")" && sh -c "$2")
    expect "damage-$1" 7 'built:.*first [^ ]*/say 1' $sim
    expect "damage-after-$1" 7 'cached:.*first' $sim
}
damage empty ': >say'
damage cut 'truncate -s -100 say'
damage flipped "python3 -c \"
data = bytearray(open('say', 'rb').read())
data[len(data) // 2] ^= 4
open('say', 'wb').write(data)\""
damage gone 'rm say'
damage not-executable 'chmod -x say'
damage another-program 'cp /bin/true say'
damage no-hash 'rm say.hash'
damage empty-hash ': >say.hash'
damage wrong-hash 'echo 0123456789abcdef0123456789abcdef >say.hash'
damage no-list 'rm ../*.files'
damage cut-list 'for list in ../*.files; do truncate -s -20 "$list"; done'
damage wrong-list 'for list in ../*.files; do echo /nowhere >>"$list"; done'
damage a-folder 'rm say && mkdir say'

# The cache: no home, a limit, two at a time
expect run-no-cache 7 'first /proc/self/fd/' env HOME=/dev/null XDG_CACHE_HOME= TMPDIR="$work" \
    "$lockstep" run --gpu sim:t4 say.cu
find "$XDG_CACHE_HOME/lockstep/run" -exec touch -d '2 hours ago' {} +
expect run-limit 7 'first' env LOCKSTEP_CACHE_MIB=0 "$lockstep" run --gpu sim:t4 -DX=2 say.cu
expect run-limit-drops 0 '^ *1 *$' sh -c "find '$XDG_CACHE_HOME' -name say | wc -l"
"$lockstep" run --gpu sim:t4 -DX=3 say.cu >one.txt 2>&1 &
"$lockstep" run --gpu sim:t4 -DX=3 say.cu >two.txt 2>&1
wait
expect run-at-the-same-time 0 '^2' sh -c 'cat one.txt two.txt | grep -c first'
expect run-same-time-leaves-nothing 0 '^ *$' sh -c "ls '$XDG_CACHE_HOME/lockstep/run' | grep new; :"
