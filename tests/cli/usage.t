# The command itself.
$ dwell
2> dwell: where a neural network's training time and memory go
2> 
2>   dwell COMMAND...      run a program, record it and show the overview
2> 
2> Record:
2>   dwell run             run a program and record it
2>   dwell attach          record the stacks of a program that runs, until Ctrl-C
2> 
2> Read:
2>   dwell report          show where a trace's time goes
2>   dwell view            show a trace in a browser, also while it is written
2>   dwell query           answer a question in SQL about a trace
2>   dwell info            list what a trace holds
2>   dwell mcp             answer an agent's program about traces (Model Context
2>                         Protocol)
2> 
2> Compare:
2>   dwell diff            compare runs before and after a change
2>   dwell ranks           compare the ranks of a job: which one is slow, and where
2> 
2> While a program runs:
2>   dwell top             show what a running program does, in a terminal
2>   dwell stacks          print the stacks of all threads of running programs
2>   dwell watch           say when a running job hangs, loses a rank or becomes
2>                         slow
2>   dwell capture         record some steps of a running job or server
2>   dwell serve           let TensorBoard capture from a running program
2> 
2> Files:
2>   dwell export          write a trace for another tool
2>   dwell import          store another tool's files as a trace
2>   dwell pack            store a trace in a fraction of its size
2>   dwell unpack          write the trace that dwell pack stored
2>   dwell summarize       store what the steps of traces took, in a small file
2> 
2> More:
2>   dwell help VERB       how to use a verb, with examples (or dwell VERB --help)
2>   dwell --version       the version; with --verbose also what it was built with
2> 
2> Examples:
2>   dwell python train.py              record a script and show the overview
2>   dwell report --view operators      look at the newest trace of this folder
2>   dwell view                         the same in a browser
[2]

$ dwell --version
dwell 0.1.0

$ dwell --help
dwell: where a neural network's training time and memory go

  dwell COMMAND...      run a program, record it and show the overview

Record:
  dwell run             run a program and record it
  dwell attach          record the stacks of a program that runs, until Ctrl-C

Read:
  dwell report          show where a trace's time goes
  dwell view            show a trace in a browser, also while it is written
  dwell query           answer a question in SQL about a trace
  dwell info            list what a trace holds
  dwell mcp             answer an agent's program about traces (Model Context
                        Protocol)

Compare:
  dwell diff            compare runs before and after a change
  dwell ranks           compare the ranks of a job: which one is slow, and where

While a program runs:
  dwell top             show what a running program does, in a terminal
  dwell stacks          print the stacks of all threads of running programs
  dwell watch           say when a running job hangs, loses a rank or becomes
                        slow
  dwell capture         record some steps of a running job or server
  dwell serve           let TensorBoard capture from a running program

Files:
  dwell export          write a trace for another tool
  dwell import          store another tool's files as a trace
  dwell pack            store a trace in a fraction of its size
  dwell unpack          write the trace that dwell pack stored
  dwell summarize       store what the steps of traces took, in a small file

More:
  dwell help VERB       how to use a verb, with examples (or dwell VERB --help)
  dwell --version       the version; with --verbose also what it was built with

Examples:
  dwell python train.py              record a script and show the overview
  dwell report --view operators      look at the newest trace of this folder
  dwell view                         the same in a browser

$ dwell -o x.dwell -- python train.py
2> dwell: no option '-o' without a verb; to record a program with it: dwell run -o ... -- PROGRAM
[2]

$ dwell --serve=9000 python train.py
2> dwell: no option '--serve=9000' without a verb; to record a program with it: dwell run --serve=9000 ... -- PROGRAM
[2]

$ dwell --view tree
2> dwell: no option '--view' (dwell --help); it is one of dwell report or dwell top
[2]

$ dwell info --steps 1..2
2> dwell: no option '--steps' (dwell info --help); it is one of dwell run, dwell report or dwell diff
[2]

$ dwell --outptu x.dwell python train.py
2> dwell: no option '--outptu'; did you mean 'dwell run --output'? (dwell --help lists all)
[2]

$ dwell --hlep
2> dwell: no option '--hlep'; did you mean 'dwell --help'? (dwell --help lists all)
[2]

$ dwell reprot
2> dwell: 'reprot' is neither a verb nor a program; did you mean 'dwell report'?
[2]

$ trace train && dwell train.dwell
2> dwell: train.dwell is a trace; did you mean 'dwell report train.dwell'?
[2]

$ dwell report --help
dwell report: show where a trace's time goes

Usage: dwell report [OPTION...] [TRACE...]

What to show:
  -v, --view NAME         a view of the list below (default overview); may be
                          given several times
      --layout NAME       a layout of the list below: what another profiler
                          would have printed
  -f, --format FORMAT     how to print views (default text); csv and json have
                          raw values and all rows
      --summary           print a summary of at most 64 KB instead of views:
                          verdicts with their evidence, what was not measured,
                          losses, the machine; --format json for programs, md
                          for pull requests
  -o, --output FILE       write to FILE
  -h, --help              show this help and exit

Which part of the trace:
      --steps A..B        look only at steps A to B, counted from 0
      --time A..B         look only at what begins between these times since the
                          start of the run, as 1.5s..2s, and steps that begin
                          and end between them
      --profile P         look only at the ranges of the profile with this name
                          or id
      --action NAME       look only at what begins within this action or zone
      --thread T          look only at the thread with this name or number

Options of views and layouts:
      --sort COLUMN       sort rows by a column, by its label or as CSV names it
  -n, --limit N           show the first N rows, or all
      --group-by WHAT     separate operators by shape, overload, stack:N (the N
                          innermost frames), or by a list of these, as
                          shape,stack:3; hot, waits: separate functions by line,
                          thread, phase or range, or a list of these; python:
                          only functions of Python; heap: thread
      --top-level         show only operators that no other operator called
      --engine NAME       show this training engine (default: of nested ones the
                          outermost)
      --skip-iteration N  leave the run's first N iterations out of the view
                          sequence and the layout singa (default: 0, in the
                          layout what the program chose)
      --events            layers: show the operators within each layer
      --paths LIST        layers: show only these layers and the layers below
                          them, as Net.stem,Net.block.*
      --leaves            layers: show only layers that contain no other layer
      --per-call          layers: a row for each call of a layer
      --header TEXT       print TEXT above the table, in layouts that have such
                          a line
      --widths LIST       how wide columns of a layout may be, in characters:
                          name=N,shapes=N,source=N
      --verbosity 0|1|2|3 layout singa: 1 forward and backward, 2 every
                          operation, 3 the distributed ones (default: what the
                          program chose, otherwise 2)
      --time-unit s|ms|us|ns
                          print all times in one unit
      --all               verdict: list every rule, with those that were not
                          measured and what to record for them
      --name PATTERN      show only rows of this name, as 'aten::conv*': * is
                          any text, ? any character
      --min-duration TIME show only rows of at least this time, as 10us or
                          1.5ms; a row's time is its total, in the view steps
                          the step's duration, in sequence the mean
      --merge-threads     threads: show the threads of a process that have one
                          name as one row
      --ranges LIST       calls, layout torch: the rows beside operators, a list
                          of named, steps and actions, or none (default:
                          named,steps)

--view NAME:
  overview    where does the time go?
  verdict     what makes a step longer than necessary, and what to try?
  account     where does the time of the loop's thread go?
  steps       how long does each step take, and why are slow ones slow?
  phases      how much of the run is forward, backward, optimizer, data?
  actions     what do the program's own named ranges take?
  events      what do an engine's events, iterations and fetches take?
  handlers    what does each handler of an engine take?
  operators   which operators take the time?
  sequence    which operators does a step run, in order, and what does each
              take?
  calls       what was called, operators and named ranges, grouped as asked?
  functions   which functions take the time?
  hot         which functions use the CPU?
  waits       in which functions of libc do threads wait, and which functions
              call them?
  layers      which layers of the model take the time and the memory?
  dataloader  does the loop wait for its data, and what do the workers do?
  gc          when did the garbage collector stop the program, and for how long?
  tree        who calls whom, and what does it take?
  threads     what did each thread record, and how busy was it?
  requests    how long do requests take, to their first token and for a token,
              where does their time go, and what is in a batch?
  workers     do the processes of a pool do as much work each, and for what do
              they wait?
  stragglers  which ranks make the others wait, and in which part of the step?
  counters    how do values change that the program reports, as a loss?
  marks       when and how often did the program report that something happened?
  async       how long did asynchronous ranges take, and how many were open at
              once?
  flows       how long did it take to hand things on to another thread?
  memory      who allocates, who holds it at the peak, what is left at the end?
  heap        which places of the code allocate the heap's memory, and which let
              it grow?
  flops       how much arithmetic is it, how fast, and what was not counted?
  facts       which measured quantities do verdicts and comparisons use?
  device      how busy was the device in a step, and why was it idle?
  kernels     which kernels and copies take the device's time?
  roofline    how near is the device's work for operators to what the device can
              do?
  streams     how busy was each stream, and was its work submitted in time?

--layout NAME:
  ignite             PyTorch-Ignite's time profilers (ignite:basic,
                     ignite:handlers)
  lightning          Lightning's SimpleProfiler
  lightning-short    Lightning's SimpleProfiler(extended=False)
  lightning-pytorch  Lightning's PyTorchProfiler: operators of each step and
                     backward
  torch              torch.profiler's table, PyTorch 2.13 (torch:1.13)
  pstats             Python's cProfile and Lightning's AdvancedProfiler
                     (pstats:0.1: its first tenth)
  singa              SINGA's PrintTimeProfiling() at verbosity 1, 2 or 3
  torchprof          torchprof's tree of modules

--format FORMAT:
  text  aligned columns for people
  csv   comma-separated values, raw
  json  one document, raw values
  md    Markdown tables
  html  a page for a browser, or tables for a notebook

Examples:
  dwell report
  dwell report --view operators --sort calls -n 20 train.dwell
  dwell report -o train.html train.dwell

$ dwell info --help
dwell info: list what a trace holds

Usage: dwell info [OPTION...] [TRACE]

      --texts             print every text that is stored in the trace, one per
                          line
  -h, --help              show this help and exit

Examples:
  dwell info train.dwell

$ dwell --dump-verbs | grep '^verb'
verb	run	run a program and record it
verb	attach	record the stacks of a program that runs, until Ctrl-C
verb	report	show where a trace's time goes
verb	view	show a trace in a browser, also while it is written
verb	query	answer a question in SQL about a trace
verb	info	list what a trace holds
verb	mcp	answer an agent's program about traces (Model Context Protocol)
verb	diff	compare runs before and after a change
verb	ranks	compare the ranks of a job: which one is slow, and where
verb	top	show what a running program does, in a terminal
verb	stacks	print the stacks of all threads of running programs
verb	watch	say when a running job hangs, loses a rank or becomes slow
verb	capture	record some steps of a running job or server
verb	serve	let TensorBoard capture from a running program
verb	export	write a trace for another tool
verb	import	store another tool's files as a trace
verb	pack	store a trace in a fraction of its size
verb	unpack	write the trace that dwell pack stored
verb	summarize	store what the steps of traces took, in a small file

$ dwell --dump-verbs | awk -F '\t' '$1 == "option" && NF != 7'

$ dwell run --layers , true
2> dwell: --layers: the list of layers ',' names none
[2]

# Help fits into a terminal.
$ dwell --dump-verbs | awk -F '\t' '$1 == "verb" { print $2 }' > verbs; for verb in "" $(cat verbs); do terminal 80 dwell $verb --help; done | awk 'length > 80'
  dwell mcp        as the command of a server, in the settings of the agent's program

$ for verb in "" $(cat verbs); do terminal 70 dwell $verb --help; done | awk 'length > 70 && !/^  dwell /'

# Help as a verb, and verbs of other profilers that are names of programs.
$ dwell --help > help.txt && dwell help | cmp - help.txt

$ dwell help info
dwell info: list what a trace holds

Usage: dwell info [OPTION...] [TRACE]

      --texts             print every text that is stored in the trace, one per
                          line
  -h, --help              show this help and exit

Examples:
  dwell info train.dwell

$ dwell help reprot
2> dwell: no verb 'reprot'; did you mean 'report'? (dwell --help lists all)
[2]

$ dwell attach
2> dwell: dwell attach needs the number of one process: dwell attach PID
[2]

$ dwell stat
2> dwell: no verb 'stat'; did you mean 'dwell report'? To run a program of this name: dwell run -- stat
[2]

$ dwell record x
2> dwell: no verb 'record'; did you mean 'dwell run'? To run a program of this name: dwell run -- record
[2]

$ touch diff && dwell diff nothing 2>&1 | grep -c 'no verb'
0
[1]

$ dwell report --format xml
2> dwell: no format 'xml'; there are text, csv, json, md, html
[2]

# A reader that has seen enough ends dwell as it ends any command: by SIGPIPE, without a message.
$ trace train && for what in "report train.dwell -f json" "export train.dwell -f chrome" "report train.dwell --layout torch"; do python3 -c 'import os, subprocess, sys; r, w = os.pipe(); os.close(r); print(subprocess.run(sys.argv[1:], stdout=w).returncode)' dwell $what; done
-13
-13
-13

# The same where SIGPIPE is ignored.
$ for what in "report train.dwell -f json" "export train.dwell -f chrome" "report train.dwell --layout torch"; do python3 -c 'import os, subprocess, sys; r, w = os.pipe(); os.close(r); print(subprocess.run(sys.argv[1:], stdout=w, restore_signals=False).returncode)' dwell $what; done
141
141
141

# A trace that is moved to another folder; one that does not exist changes no exit status.
$ mkdir all && dwell run --gather all -o gathered.dwell true 2>&1 | grep -o 'recorded to all/gathered.dwell' && ls all gathered.dwell 2>&1
recorded to all/gathered.dwell
ls: cannot access 'gathered.dwell': No such file or directory
all:
gathered.dwell
[2]

# A folder that is not there is made; if it cannot be, the program does not start.
$ dwell run --gather made -o gathered.dwell sh -c 'exit 5' 2> messages; echo $?; ls made
5
gathered.dwell

$ dwell run --gather /proc/nowhere -o refused.dwell sh -c 'echo started' 2> messages; echo $?; cat messages
125
dwell: --gather: cannot write to /proc/nowhere: No such file or directory
