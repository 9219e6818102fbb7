"""Programs in shells and other scripts, and shells around `dwell run`.

In AROUND the word RUN is `dwell run OPTIONS` or nothing, and TRACE the trace of the first one; HARM and HERE are the path of harm and
the folder of this file.
"""

# Variables that `dwell run` sets: its own, and those by which other libraries are told of a tool.
VARIABLES = "^(DWELL_|LD_PRELOAD|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|INTEL_LIBITTNOTIFY64|NCCL_PROFILER_PLUGIN|ONEDNN_ITT_TASK_LEVEL)"

BASH = {
    "traps": "trap 'echo int' INT; trap 'echo usr1' USR1; trap 'echo urg' URG; trap 'echo exit' EXIT; for i in {1..3000}; do :; done;"
             " kill -USR1 $$; kill -URG $$; kill -INT $$; exit 3",
    "trap of ERR and DEBUG": "n=0; trap 'n=$((n+1))' DEBUG; trap 'echo failed' ERR; for i in {1..300}; do :; done; false; trap - DEBUG; echo $n",
    "traps in a subshell": "trap 'echo parent' USR1; (trap 'echo child' USR1; kill -USR1 $BASHPID; exit 4); echo $?; kill -USR1 $$",
    "pipes": "for i in {1..10}; do seq 1000 | sort -rn | head -$i | tail -1; done; false | true | false; echo ${PIPESTATUS[@]}",
    "closed standard error": "exec 2>&-; ls /nonexistent; echo $?; for i in {1..2000}; do :; done; /bin/true; echo done",
    "closed standard output": "exec 3>&1 >&-; echo lost; echo $? >&3; /bin/echo lost; echo $? >&3",
    "closed standard input": "exec <&-; cat; echo $?; read x; echo $?",
    "descriptor 3": "{ echo ready >&3; } 2>/dev/null && echo told || echo nobody; for i in {1..2000}; do :; done;"
                    " { echo ready >&3; } 2>/dev/null && echo told || echo nobody",
    "descriptors 3 to 9": "for n in 3 4 5 6 7 8 9; do eval \"{ echo x >&$n; } 2>/dev/null\" && echo open $n || echo closed $n; done",
    "descriptor of a variable": "exec {fd}>out.tmp; echo $fd; echo text >&$fd; exec {fd}>&-; cat out.tmp",
    "set -e": "set -e; echo one; for i in {1..2000}; do :; done; (exit 5); echo two",
    "set -euo pipefail": "set -euo pipefail; echo one; false | cat; echo two",
    "background jobs": "for i in 1 2 3 4 5; do (for k in {1..500}; do :; done; exit $i) & pids[$i]=$!; done;"
                       " for i in 1 2 3 4 5; do wait ${pids[$i]}; echo $?; done; wait; echo $?",
    "wait -n": "for i in 1 6; do (sleep .$i; exit $i) & done; wait -n; echo $?; wait -n; echo $?; wait -n; echo $?",
    "signals end jobs": "for s in TERM KILL HUP USR1 ALRM; do sleep 20 & p=$!; kill -$s $p; wait $p 2>/dev/null; echo $s $?; done 2>/dev/null",
    "substitutions": "for i in {1..20}; do x=$(echo $i | tr 1-5 a-e); printf %s \"$x \"; done; diff <(seq 3) <(seq 4); echo $?",
    "coprocess": "coproc cat; echo hello >&${COPROC[1]}; read -u ${COPROC[0]} line; echo $line; eval \"exec ${COPROC[1]}>&-\"; wait; echo $?",
    "exec": "echo before; exec sh -c 'echo executed; exec sh -c \"exit 6\"'",
    "read with a timeout": "read -t .1 x < <(sleep 1); echo $? > status.tmp; test $(cat status.tmp) -gt 128 && echo late",
    "ulimit": "ulimit -n 20; exec 5</dev/null; echo $?; (ulimit -f 1; yes | head -c 5000 > big.tmp; echo ${PIPESTATUS[@]}) 2>/dev/null; ulimit -a | grep -v '(-[iuqlv])'",
    "here documents": "cat <<X | while read a; do echo \"[$a]\"; done\none\ntwo\nX\ncat <<< three",
    "variables": f"echo $# $0 $- $SHLVL; export X=1; env | grep -v -E '{VARIABLES}' | sort; env -i /bin/echo $X",
    "arithmetic": "s=0; for ((i = 0; i < 30000; i++)); do s=$(((s * 31 + i) % 65537)); done; echo $s",
    "time and files": "TIMEFORMAT=; time ls -d /; ls | wc -l; umask; mkdir sub; cd sub; pwd | sed 's,.*/,,'; cd - >/dev/null; ls",
    "not found": "nonexistent_command; echo $?; ./nonexistent; echo $?; touch plain.tmp; ./plain.tmp; echo $?",
    "stop and continue": "sleep .3 & kill -STOP $!; sleep .05; kill -CONT $!; wait $!; echo $?",
}

DASH = {
    "traps": "trap 'echo usr1' USR1; trap 'echo exit' EXIT; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; kill -USR1 $$; exit 3",
    "closed descriptors": "exec 0<&- 2>&-; i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; ls /nonexistent; echo $?; echo x >&3 || echo closed",
    "descriptor 3": "if { echo ready >&3; } 2>/dev/null; then echo told; else echo nobody; fi",
    "background": "for i in 1 2 3; do (sleep .02; exit $i) & done; wait; echo $?",
    "pipe": "seq 100000 | head -1; i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i | cat; done",
    "subshells": "x=1; (x=2; exit 7); echo $? $x; y=$(exit 8); echo $?",
}

PERL = {
    "signals": "$SIG{ALRM}=sub{$n++}; $SIG{URG}=sub{$u++}; use Time::HiRes qw(ualarm); ualarm(5000,5000); my $t=times; 1 while times-$t<.2;"
               " ualarm(0); print $n>2?1:0,' ',$u||0,qq(\\n); kill 'URG',$$; print $u,qq(\\n); exit 4",
    "fork and wait": "for (1..5) { my $p=fork; exit $_ unless $p; waitpid $p,0; print $?>>8,qq(\\n) } print `echo from a shell`; print $?,qq(\\n)",
    "die in eval": "for (1..3) { eval { die qq(inside\\n) }; print $@ } local $SIG{ALRM}=sub{die qq(alarm\\n)}; eval { alarm 1; select undef,undef,undef,5 }; print $@; die qq(end\\n)",
    "errors": "open(F,'<','/nonexistent') or print $!+0,qq(\\n); print fileno(STDIN),fileno(STDOUT),qq(\\n); open(G,'<','/dev/null'); print fileno(G),qq(\\n)",
    "select": "my $t=times; 1 while times-$t<.1; my $n=select(undef,undef,undef,.05); print qq($n\\n); my $s=0; $s=($s*31+$_)%65537 for 1..200000; print qq($s\\n)",
}

OTHERS = {
    "make -j 2": "printf 'all: a b c\\n\\techo all\\na b c:\\n\\tsleep .0$$$$; for i in 1 2 3; do :; done; echo $@ > $@.tmp\\nfail:\\n\\texit 3\\n' > Makefile;"
                 " make -s -j 2; echo $?; cat *.tmp; make -s fail 2>&1; echo $?",
    "make, jobs of a job server": "printf 'all:\\n\\t+$(MAKE) -s one two\\none two:\\n\\techo $@\\n' > Makefile; make -s -j 2 | sort; echo $?",
    "xargs -P 4": "seq 40 | xargs -P 4 -n 1 sh -c 'echo $((${0} * 2))' | sort -n | md5sum; seq 3 | xargs -P 2 -I{} sh -c 'exit {}'; echo $?",
    "find and sort": "mkdir a b; for i in 1 2 3; do echo $i > a/$i; done; find . -type f -exec cat {} + | sort -r; tar cf - a | tar tf - | sort",
    "awk and sed": "seq 20000 | awk '{s+=$1} END {print s}'; seq 5 | sed -n '2,4p'; awk 'BEGIN { \"echo x\" | getline v; print v; exit 4 }'; echo $?",
    "gzip": "seq 100000 | gzip -9 | gunzip | md5sum; seq 1000 | bzip2 2>/dev/null | bunzip2 2>/dev/null | tail -1",
    "timeout": "timeout .2 sleep 5; echo $?; timeout -s KILL .2 sleep 5; echo $?; timeout 5 sh -c 'exit 9'; echo $?",
    "env and nice": "env -i /bin/echo nothing; nice -n 3 nice; env -u HOME sh -c 'echo ${HOME-none}'; nohup sh -c 'echo x' 2>/dev/null; setsid -w sh -c 'exit 5'; echo $?",
    "zsh": "zsh -f -c 'trap \"echo usr1\" USR1; for i in {1..5000}; do :; done; kill -USR1 $$; print -u2 error; echo ${(U)HOME:t}; exit 7'; echo $?",
    "tclsh": "echo 'set s 0; for {set i 0} {$i < 50000} {incr i} {incr s $i}; puts $s; after 20 {puts later; exit 5}; vwait forever' | tclsh; echo $?",
    "node": "node -e 'let s=0; for (let i=0;i<3e7;i++) s+=i%7; console.log(s); process.on(\"SIGUSR2\",()=>{console.log(\"usr2\"); process.exitCode=6});"
            " setTimeout(()=>process.kill(process.pid,\"SIGUSR2\"),20); setTimeout(()=>{},60)'; echo $?",
    "C++ compiler": "echo 'int main() { return 3; }' > a.c; gcc -O1 -o a a.c && ./a; echo $?; gcc -c nonexistent.c 2>&1 | head -1",
    "sqlite": "python3 -c 'import sqlite3; c=sqlite3.connect(\"x.db\"); c.execute(\"create table t(x)\"); c.executemany(\"insert into t values(?)\",[(i,) for i in range(5000)]);"
              " c.commit(); print(c.execute(\"select sum(x) from t\").fetchone())'",
}

AROUND = {
    **{f"descriptors closed:{''.join(f' {fd}' for fd in range(3) if which >> fd & 1) or ' none'}":
       "RUN HARM 'closed 0, 1, 2' .child" + "".join(("<&-", ">&-", " 2>&-")[fd] if fd else " <&-" for fd in range(3) if which >> fd & 1) +
       "; echo $?; cat result.tmp; echo; cat closed.tmp" for which in range(8)},
    "descriptor 3 is closed": "RUN bash -c '{ echo ready >&3; } 2>/dev/null && echo told || echo nobody'",
    "descriptor 3 is a file": "RUN sh -c 'echo to three >&3; ls -l /proc/self/fd | grep -c three' 3>three.tmp; cat three.tmp",
    "descriptor 9 is a file": "RUN sh -c 'echo to nine >&9; sleep .1; cat <&8' 9>nine.tmp 8</etc/hostname >/dev/null; cat nine.tmp",
    "ulimit -n 4": "(ulimit -n 4; RUN HARM 'few descriptors' .child); echo $?",
    "ulimit -n 16": "(ulimit -n 16; RUN HARM 'few descriptors' .child); echo $?",
    "ulimit -v 250000": "(ulimit -v 250000; RUN HARM limits '.space 250'); echo $?",
    "ulimit -v 150000": "(ulimit -v 150000; RUN HARM limits '.space 150'); echo $?",
    "ulimit -s 80": "(ulimit -s 80; RUN HARM limits .compute); echo $?",
    "ulimit -f 1000": "(ulimit -f 1000; RUN HARM limits .compute); echo $?",
    "ulimit -i 0": "(ulimit -i 0; RUN HARM limits .compute); echo $?",
    "ulimit -t 2": "(ulimit -t 2; RUN HARM limits .compute); echo $?",
    "limits as they are": "RUN bash -c 'ulimit -a'",
    "ignored signals": "trap '' INT QUIT HUP USR1 PIPE; RUN HARM state .signals",
    "nohup": "nohup RUN HARM state .signals 2>/dev/null",
    "environment": f"env -i PATH=\"$PATH\" A=1 RUN env | grep -v -E '{VARIABLES}|^_=' | sort",
    "standard input": "seq 1000 | RUN sh -c 'sort -rn | head -2'",
    "standard input is a file": "seq 100 > in.tmp; RUN sh -c 'read a; read b; echo $a $b' < in.tmp",
    "reader ends": "RUN sh -c 'seq 1000000' | head -1; echo ${PIPESTATUS[@]}",
    "full device": "RUN /bin/echo x >/dev/full; echo $?",
    "exit status": "for s in 0 1 2 77 124 125 126 127 128 130 137 255; do RUN sh -c \"exit $s\"; echo $?; done",
    "ends by signals": "for s in 1 2 3 6 9 11 13 14 15 31; do RUN sh -c \"kill -$s \\$\\$\"; echo $?; done 2>/dev/null",
    "exec": "exec RUN sh -c 'exit 5'",
    "not found": "RUN /nonexistent 2>/dev/null; echo $?; RUN nonexistent_command 2>/dev/null; echo $?; touch plain.tmp; RUN ./plain.tmp 2>/dev/null; echo $?",
    "folder that was removed": "mkdir gone; cd gone; rmdir ../gone; RUN sh -c 'echo here; exit 2' 2>/dev/null; echo $?",
    "timeout": "timeout 1 RUN sleep 5; echo $?",
    "timeout -s INT": "timeout -s INT 1 RUN sleep 5; echo $?",
    **{f"kill -{name}": f"exec 2>/dev/null; RUN HARM around '.counts' & p=$!; sleep .6; kill -{name} $p; wait $p; echo $?; sleep .3; a=$(cat count.tmp); sleep .3; b=$(cat count.tmp);"
                        " test \"$a\" = \"$b\" && echo ended || echo runs; touch stop.tmp" for name in ("TERM", "HUP", "USR1", "USR2", "ALRM", "KILL", "RTMIN+2")},
    "kill -STOP and -CONT": "RUN HARM around '.counts' & p=$!; sleep .4; kill -STOP $p; kill -CONT $p; sleep .1; touch stop.tmp; wait $p; echo $?",
    **{f"the trace {what}{while_it}": f"RUN HARM around {name} & p=$!; sleep .5; {{ {text}; }} 2>/dev/null; sleep .4; touch stop.tmp; wait $p; echo $?; cat count.tmp 2>/dev/null | wc -l"
       for name, while_it in ((".counts", ""), (".computes", " while the program computes")) for what, text in (
        ("is truncated", ": > TRACE"), ("is overwritten", "head -c 100000 /dev/zero > TRACE"), ("is removed", "rm -f TRACE"),
        ("is moved", "mv TRACE TRACE.old"), ("is copied", "cp TRACE TRACE.old"))},
    "nice": "nice -n 5 RUN nice",
    "umask": "umask 077; RUN sh -c 'umask; touch x.tmp; stat -c %a x.tmp'",
    "xargs": "seq 6 | xargs -I{} RUN sh -c 'echo {}' | sort",
    "make -j 2": "printf 'all: a b\\na:\\n\\tRUN sh -c \"echo a\"\\nb:\\n\\tRUN sh -c \"echo b\"\\nfail:\\n\\tRUN sh -c \"exit 3\"\\n' > Makefile; make -s -j 2 all | sort; make -s fail >/dev/null 2>&1; echo $?",
    "two at once": "RUN sh -c 'sleep .1; exit 3' & a=$!; RUN sh -c 'exit 4' & b=$!; wait $a; echo $?; wait $b; echo $?",
    "in a pipeline": "set -o pipefail; RUN sh -c 'echo one; exit 3' | RUN sh -c 'cat; exit 4' | cat; echo ${PIPESTATUS[@]}",
    "another user": "RUN setpriv --reuid 65534 --clear-groups --regid 65534 sh -c 'id -u; true; exit 4'; echo $?",
    "chroot": "RUN chroot / sh -c 'echo inside; exit 3'; echo $?",
    "arguments": "RUN printf '[%s]' -o --help -- '' 'a b' '*' $'new\\nline'; echo",
    "background process stays": "RUN sh -c '(sleep .3; echo late) & echo early'; echo $?; sleep .5",
    "interrupt at the terminal": "python3 HERE/terminal.py interrupt 1 \"for i in 1 2 3; do echo round \\$i; RUN sleep 2; done; echo the loop went on\"",
    "interrupt that is handled": "python3 HERE/terminal.py interrupt 1 \"RUN bash -c 'trap \\\"echo handled; exit 7\\\" INT; echo waits; while :; do sleep .1; done'; echo status \\$?\"",
    "interrupt that is ignored": "python3 HERE/terminal.py interrupt .7 \"RUN bash -c 'trap \\\"\\\" INT; echo waits; sleep 1.5; exit 4'; echo status \\$?\"",
    "quit at the terminal": "python3 HERE/terminal.py quit .7 \"RUN sleep 3; echo status \\$?\"",
}
