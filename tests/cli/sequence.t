# The view sequence and the layout singa: what can be asked wrongly, what is not there. A
# listing begins with an empty line, as SINGA's does.
$ trace singa && dwell report singa.dwell --layout singa --verbosity 4
2> dwell: --verbosity takes 0, 1, 2 or 3, not '4'
[2]

$ dwell report singa.dwell --layout singa --verbosity -1
2> dwell: --verbosity takes 0, 1, 2 or 3, not '-1'
[2]

$ dwell report singa.dwell --layout singa --verbosity
2> dwell: --verbosity needs LEVEL (dwell report --help)
[2]

$ dwell report singa.dwell --layout singa --skip-iteration ten
2> dwell: --skip-iteration takes a number, 0 or more; not 'ten'
[2]

$ dwell report singa.dwell --layout singa --skip-iteration=-1
2> dwell: --skip-iteration takes a number, 0 or more; not '-1'
[2]

$ dwell report singa.dwell --view sequence --skip-iteration 99999999999999999999
2> dwell: --skip-iteration takes a number, 0 or more; not '99999999999999999999'
[2]

# As many as there are, more, and one fewer.
$ dwell report singa.dwell --layout singa --skip-iteration 15
2> dwell: the first 15 iterations are skipped, and there are no more than 15 here: skip fewer (--skip-iteration 14 leaves one)
[1]

$ dwell report singa.dwell --layout singa --skip-iteration 1000 --verbosity 1
2> dwell: the first 1,000 iterations are skipped, and there are no more than 15 here: skip fewer (--skip-iteration 14 leaves one)
[1]

$ dwell report singa.dwell --layout singa --skip-iteration 14 --verbosity 3 | grep .
Time Profiling:
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000200064 sec

$ dwell report singa.dwell --layout singa --steps 0..4
2> dwell: the first 5 iterations are skipped, and there are no more than 5 here: skip fewer (--skip-iteration 4 leaves one)
[1]

$ dwell report singa.dwell --layout singa --steps 5..5 --limit 2 | grep .
Time Profiling:
OP_ID0. SetValue : 2.0064e-05 sec
OP_ID1. cudnnConvForward : 0.000600076 sec

$ dwell report singa.dwell --layout singa --verbosity 0
2> dwell: at verbosity 0 nothing is printed (--verbosity 1, 2 or 3)

$ dwell report singa.dwell --layout sigma
2> dwell: no layout 'sigma'; did you mean 'singa'? (dwell report --help lists all)
[2]

$ dwell report singa.dwell --layout singa -o listing && grep . listing
Time Profiling:
OP_ID0. SetValue : 2.00634e-05 sec
OP_ID1. cudnnConvForward : 0.000600076 sec
OP_ID2. ReLU : 0.000300079 sec
OP_ID3. SoftmaxCrossEntropy : 0.000100069 sec
OP_ID4. SoftmaxCrossEntropyBackward : 0.000100067 sec
OP_ID5. ReLUBackward : 0.000400068 sec
OP_ID6. ConvForward (recomputed in backward) : 0.000200066 sec
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000200064 sec
OP_ID9. SGDUpdate : 5.00696e-05 sec

# Phases alone.
$ trace singa_phases && dwell report singa_phases.dwell --layout singa | grep .
Time Profiling:
Forward Propagation Time : 0.0004 sec
Backward Propagation Time : 0.00085 sec

$ dwell report singa_phases.dwell --layout singa --verbosity 2
2> dwell: phases were recorded and no operations: --verbosity 1 shows them, and recording at verbosity 2 has the operations too
[1]

$ dwell report singa_phases.dwell --layout singa --verbosity 3
2> dwell: phases were recorded and no operations: --verbosity 1 shows them, and recording at verbosity 2 has the operations too
[1]

$ dwell report singa_phases.dwell --layout singa --skip-iteration 0 | grep .
Time Profiling:
Forward Propagation Time : 0.000816667 sec
Backward Propagation Time : 0.00173333 sec

$ dwell report singa_phases.dwell --view sequence
2> dwell: singa_phases.dwell has no operators in steps: mark them with DWELL_OP("name") and each iteration with DWELL_STEP()
[1]

# Metadata that makes no sense, and options in their place.
$ trace singa_metadata && dwell report singa_metadata.dwell --layout singa
2> dwell: the trace says that singa.verbosity is '7', which is no number from 0 to 3: give one with --verbosity
[1]

$ dwell report singa_metadata.dwell --layout singa --skip-iteration 0
2> dwell: the trace says that singa.verbosity is '7', which is no number from 0 to 3: give one with --verbosity
[1]

$ dwell report singa_metadata.dwell --layout singa --verbosity 2 --skip-iteration 0 | grep .
Time Profiling:
OP_ID0. Conv : 0.001 sec

# No operators, no steps, nothing distributed, several ranks.
$ trace nosteps && dwell report nosteps.dwell --layout singa
2> dwell: no iterations were recorded here: mark each with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ dwell report nosteps.dwell --view sequence
2> dwell: nosteps.dwell has no operators in steps: mark them with DWELL_OP("name") and each iteration with DWELL_STEP()
[1]

$ trace train && dwell report train.dwell --layout singa --verbosity 3 | grep .
Time Profiling:
2> dwell: no operation is distributed: none has "Dist" in its name

$ dwell report train.dwell --view sequence --thread loader
2> dwell: no iterations were recorded here: mark each with DWELL_STEP() or dwell_step(), in Python dwell.step(), or record with dwell run --step-on NAME
[1]

$ dwell report train.dwell --view sequence --sort nothing
2> dwell: no column 'nothing' in sequence; it has name op_id phase repeats iterations mean_ns min_ns max_ns p99_ns std_ns share drift
[2]

$ trace ranks && dwell report ranks.dwell --view sequence --limit 3
10 iterations of 7.00 ms on average from begin to end.

operator       OP_ID  iterations    mean     min     max     p99    std  of a step  drift
all_reduce         0          10  1.50ms  1.00ms  2.00ms  2.00ms  527us      21.4%
all operators                 10  1.50ms                                     21.4%

Iterations of 2 processes are shown as one sequence; --thread NAME shows those of one.

$ dwell report ranks.dwell --layout singa --verbosity 1 | grep .
Time Profiling:
Forward Propagation Time : 0.0045 sec
Backward Propagation Time : 0.0025 sec
2> dwell: the means are over the iterations of 2 processes; --thread shows one of them
