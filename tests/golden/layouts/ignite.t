$ trace engine && dwell report engine.dwell --layout ignite | cat -E
$
 ----------------------------------------------------$
| Time profiling stats (in seconds):                 |$
 ----------------------------------------------------$
total  |  min/index  |  max/index  |  mean  |  std$
$
Processing function:$
0.06002 | 0.01000/1 | 0.01001/6 | 0.01000 | 0.00000$
$
Dataflow:$
0.04200 | 0.00200/1 | 0.01200/6 | 0.00700 | 0.00374$
$
Event handlers:$
0.09010$
$
- Events.STARTED: ['on_start']$
0.00200$
$
- Events.EPOCH_STARTED: []$
0.00000 | 0.00000/1 | 0.00000/1 | 0.00000 | 0.00000$
$
- Events.ITERATION_STARTED: []$
0.00001 | 0.00000/1 | 0.00000/1 | 0.00000 | 0.00000$
$
- Events.ITERATION_COMPLETED: ['log', 'log #2', 'every_2']$
0.02407 | 0.00400/1 | 0.00402/2 | 0.00401 | 0.00001$
$
- Events.EPOCH_COMPLETED: ['validate']$
0.06402 | 0.02201/1 | 0.04201/2 | 0.03201 | 0.01414$
$
- Events.COMPLETED: ['never']$
0.00000$
$
$
--------------  -----------------------  --------------  --------------  --------------  --------------  --------------  $
Handler         Event Name                     Total(s)      Min(s)/IDX      Max(s)/IDX         Mean(s)          Std(s)  $
--------------  -----------------------  --------------  --------------  --------------  --------------  --------------  $
validate        EPOCH_COMPLETED                 0.06401       0.02201/1       0.04201/2         0.03201         0.01414  $
on_start        STARTED                           0.002         0.002/0         0.002/0           0.002            None  $
never           COMPLETED                 not triggered       None/None       None/None            None            None  $
log             ITERATION_COMPLETED               0.006         0.001/1         0.001/1           0.001             0.0  $
log #2          ITERATION_COMPLETED               0.018         0.003/1         0.003/1           0.003             0.0  $
every_2         ITERATION_COMPLETED               6e-05         2e-05/2         2e-05/2           2e-05             0.0  $
keep            SAVED                            0.0005        0.0005/4        0.0005/4          0.0005            None  $
--------------  -----------------------  --------------  --------------  --------------  --------------  --------------  $
Total                                           0.09057                                                                  $
--------------  -----------------------  --------------  --------------  --------------  --------------  --------------  $
Processing took total 0.06002s [min/index: 0.01s/1, max/index: 0.01001s/6, mean: 0.01s, std: 0.0s]$
Dataflow took total 0.042s [min/index: 0.002s/1, max/index: 0.012s/6, mean: 0.007s, std: 0.00374s]$
$

$ dwell report engine.dwell --layout ignite:basic --engine evaluator | cat -E
$
 ----------------------------------------------------$
| Time profiling stats (in seconds):                 |$
 ----------------------------------------------------$
total  |  min/index  |  max/index  |  mean  |  std$
$
Processing function:$
0.04000$
$
Dataflow:$
0.00100$
$
Event handlers:$
0.00001$
$
- Events.STARTED: []$
0.00000$
$
- Events.EPOCH_STARTED: []$
0.00000$
$
- Events.ITERATION_STARTED: []$
0.00000$
$
- Events.ITERATION_COMPLETED: []$
0.00000$
$
- Events.EPOCH_COMPLETED: []$
0.00000$
$
- Events.COMPLETED: []$
0.00000$
$

$ dwell report engine.dwell --layout ignite:handlers --engine evaluator | cat -E
$
--------------  --------  --------------  --------------  --------------  --------------  --------------  $
Handler         Event Name        Total(s)      Min(s)/IDX      Max(s)/IDX         Mean(s)          Std(s)  $
--------------  --------  --------------  --------------  --------------  --------------  --------------  $
--------------  --------  --------------  --------------  --------------  --------------  --------------  $
Total                                0.0                                                                  $
--------------  --------  --------------  --------------  --------------  --------------  --------------  $
Processing took total 0.04s [min/index: 0.04s/1, max/index: 0.04s/1, mean: 0.04s, std: None]$
Dataflow took total 0.001s [min/index: 0.001s/1, max/index: 0.001s/1, mean: 0.001s, std: None]$
$

$ dwell report engine.dwell --layout ignite:timer
2> dwell: no layout 'ignite:timer'; there are ignite, ignite:basic and ignite:handlers
[2]
