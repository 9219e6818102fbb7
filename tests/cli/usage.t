# The command itself.
$ dwell
2> dwell: where a neural network's training time and memory go
2> 
2>   dwell COMMAND...          run a program and show the overview
2>   dwell run COMMAND...      run a program and record it
2>   dwell report [TRACE...]   show where a trace's time goes
2>   dwell export [TRACE]      write a trace for another tool
2>   dwell serve TRACE         let TensorBoard capture from a running program
2>   dwell info [TRACE]        list what a trace holds
2> 
2>   dwell VERB --help         the options of a verb
2>   dwell --version
[2]

$ dwell --version
dwell 0.1.0

$ dwell --help
dwell: where a neural network's training time and memory go

  dwell COMMAND...          run a program and show the overview
  dwell run COMMAND...      run a program and record it
  dwell report [TRACE...]   show where a trace's time goes
  dwell export [TRACE]      write a trace for another tool
  dwell serve TRACE         let TensorBoard capture from a running program
  dwell info [TRACE]        list what a trace holds

  dwell VERB --help         the options of a verb
  dwell --version

$ dwell --hlep
2> dwell: no option '--hlep' (dwell --help)
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

  -v, --view NAME         what to show; may be given several times (default
                          overview)
  -f, --format FORMAT     text or md for people; csv or json with raw values and
                          all rows
      --sort COLUMN       sort rows by a column, by its label or as CSV names it
  -n, --limit N           show the first N rows, or all
      --steps A..B        look only at steps A to B, counted from 0
      --profile P         look only at what the profile of this name or id saw
      --action NAME       look only at what begins within this action or zone
      --thread T          look only at the thread of this name or number
      --group-by WHAT     keep operators apart by shape, overload, stack:N (so
                          many innermost frames), or several of them
      --top-level         only operators that lie in no other operator
      --time-unit UNIT    print all times in one unit
      --engine NAME       of several nested engines, this one
      --events            of layers: show the operators within each
      --paths LIST        of layers: only these and what lies below them, as
                          Net.stem,Net.block.*
      --leaves            of layers: only those that hold no others
      --per-call          of layers: show each call
      --layout NAME       print what another profiler would have printed
      --header TEXT       a line above the table, for layouts that have one
      --widths LIST       how wide columns of a layout may be, in characters:
                          name=N,shapes=N,source=N
      --verbosity LEVEL   of the layout singa: 1 forward and backward, 2 every
                          operation, 3 the distributed ones (default: the
                          program's, else 2)
      --skip-iteration N  leave the run's first N iterations out of the view
                          sequence and the layout singa (default: 0; of the
                          layout, the program's)
  -o, --output FILE       write to FILE
  -h, --help              say what this does and exit

NAME:
  overview     where does the time go?
  steps        how long does each step take, and why are slow ones slow?
  phases       how much of the run is forward, backward, optimizer, data?
  actions      what do the program's own named ranges take?
  events       what do an engine's events, iterations and fetches take?
  handlers     what does each handler of an engine take?
  operators    which operators take the time?
  sequence     which operators does a step run, in order, and what does each take?
  calls        what was called, operators and named ranges, grouped as asked?
  functions    which functions take the time?
  layers       which layers of the model take the time and the memory?
  dataloader   does the loop wait for its data, and what do the workers do?
  gc           when did the garbage collector stop the program, and for how long?
  tree         who calls whom, and what does it take?
  threads      what did each thread record, and how busy was it?
  memory       who allocates, who holds it at the peak, what is left at the end?
  flops        how much arithmetic is it, how fast, and what was not counted?

FORMAT:
  text csv json md

UNIT:
  s ms us ns

NAME:
  ignite       PyTorch-Ignite's time profilers (ignite:basic, ignite:handlers)
  lightning    Lightning's SimpleProfiler
  lightning-short Lightning's SimpleProfiler(extended=False)
  lightning-pytorch Lightning's PyTorchProfiler: operators of each step and backward
  torch        torch.profiler's table, PyTorch 2.13 (torch:1.13)
  pstats       Python's cProfile and Lightning's AdvancedProfiler (pstats:0.1 a tenth of it)
  singa        SINGA's PrintTimeProfiling() at verbosity 1, 2 or 3
  torchprof    torchprof's tree of modules

LEVEL:
  0 1 2 3

$ dwell info --help
dwell info: list what a trace holds

Usage: dwell info [OPTION...] [TRACE]

      --texts             print every text that is stored in the trace, a line
                          each
  -h, --help              say what this does and exit

$ dwell --dump-verbs | grep '^verb'
verb	run	run a program and record it
verb	report	show where a trace's time goes
verb	export	write a trace for another tool
verb	serve	let TensorBoard capture from a running program
verb	info	list what a trace holds

$ dwell --dump-verbs | awk -F '\t' '$1 == "option" && NF != 7'
