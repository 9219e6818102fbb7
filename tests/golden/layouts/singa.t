$ trace device_train && dwell report device_train.dwell --layout singa | cat -E
$
Time Profiling:$
OP_ID0. aten::linear : 0.0001 sec$
OP_ID1. aten::relu : 4e-05 sec$
OP_ID2. autograd::engine::evaluate_function: AddmmBackward0 : 0.0003 sec$
OP_ID3. aten::norm : 6e-05 sec$

$ trace singa && dwell report singa.dwell --layout singa | cat -E
$
Time Profiling:$
OP_ID0. SetValue : 2.00634e-05 sec$
OP_ID1. cudnnConvForward : 0.000600076 sec$
OP_ID2. ReLU : 0.000300079 sec$
OP_ID3. SoftmaxCrossEntropy : 0.000100069 sec$
OP_ID4. SoftmaxCrossEntropyBackward : 0.000100067 sec$
OP_ID5. ReLUBackward : 0.000400068 sec$
OP_ID6. ConvForward (recomputed in backward) : 0.000200066 sec$
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000200064 sec$
OP_ID9. SGDUpdate : 5.00696e-05 sec$

$ dwell report singa.dwell --layout singa --verbosity 0
2> dwell: at verbosity 0 nothing is printed (--verbosity 1, 2 or 3)

$ dwell report singa.dwell --layout singa --verbosity 1 | cat -E
$
Time Profiling:$
Forward Propagation Time : 0.00102029 sec$
Backward Propagation Time : 0.000953335 sec$

$ dwell report singa.dwell --layout singa --verbosity 2 | cat -E
$
Time Profiling:$
OP_ID0. SetValue : 2.00634e-05 sec$
OP_ID1. cudnnConvForward : 0.000600076 sec$
OP_ID2. ReLU : 0.000300079 sec$
OP_ID3. SoftmaxCrossEntropy : 0.000100069 sec$
OP_ID4. SoftmaxCrossEntropyBackward : 0.000100067 sec$
OP_ID5. ReLUBackward : 0.000400068 sec$
OP_ID6. ConvForward (recomputed in backward) : 0.000200066 sec$
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000200064 sec$
OP_ID9. SGDUpdate : 5.00696e-05 sec$

$ dwell report singa.dwell --layout singa --verbosity 3 | cat -E
$
Time Profiling:$
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000200064 sec$

$ dwell report singa.dwell --layout singa --skip-iteration 0 | cat -E
$
Time Profiling:$
OP_ID0. SetValue : 0.000130042 sec$
OP_ID1. cudnnConvForward : 0.000700076 sec$
OP_ID2. ReLU : 0.000400079 sec$
OP_ID3. SoftmaxCrossEntropy : 0.000200069 sec$
OP_ID4. SoftmaxCrossEntropyBackward : 0.000200067 sec$
OP_ID5. ReLUBackward : 0.000500068 sec$
OP_ID6. ConvForward (recomputed in backward) : 0.000300066 sec$
OP_ID7. Dist_s_fusedSynch_allreduce : 0.000300064 sec$
OP_ID9. SGDUpdate : 0.00016338 sec$

$ dwell report singa.dwell --layout singa --skip-iteration 15
2> dwell: the first 15 iterations are skipped, and there are no more than 15 here: skip fewer (--skip-iteration 14 leaves one)
[1]

$ dwell report singa.dwell --layout singa:3
2> dwell: the layout singa has no version '3'
[2]

$ trace sequence && dwell report sequence.dwell --layout singa | cat -E
$
Time Profiling:$
OP_ID0. init_workspace : 0.0005 sec$
OP_ID1. copy : 2e-05 sec$
OP_ID2. layer_norm : 3e-05 sec$
OP_ID3. linear : 0.0002019 sec$
OP_ID4. gelu : 4e-05 sec$
OP_ID5. layer_norm : 3e-05 sec$
OP_ID6. linear : 0.0002019 sec$
OP_ID7. gelu : 4e-05 sec$
OP_ID8. layer_norm : 3e-05 sec$
OP_ID9. linear : 0.0002019 sec$
OP_ID10. gelu : 4e-05 sec$
OP_ID11. layer_norm : 3e-05 sec$
OP_ID12. linear : 0.0002019 sec$
OP_ID13. gelu : 4e-05 sec$
OP_ID14. dropout : 2.5e-05 sec$
OP_ID15. head : 0.000145 sec$
OP_ID16. log_softmax : 1.5e-05 sec$
OP_ID17. loss_backward : 1e-05 sec$
OP_ID18. gelu_backward : 5e-05 sec$
OP_ID19. linear_backward : 0.0004 sec$
OP_ID20. norm_backward : 6e-05 sec$
OP_ID21. gelu_backward : 5e-05 sec$
OP_ID22. linear_backward : 0.0004 sec$
OP_ID23. norm_backward : 6e-05 sec$
OP_ID24. gelu_backward : 5e-05 sec$
OP_ID25. linear_backward : 0.0004 sec$
OP_ID26. norm_backward : 6e-05 sec$
OP_ID27. gelu_backward : 5e-05 sec$
OP_ID28. linear_backward : 0.0004 sec$
OP_ID29. norm_backward : 6e-05 sec$
OP_ID30. sgd : 0.0001005 sec$
2> dwell: the graph changes: 3 of these 31 operations are not in all 40 iterations; their means are over those that have them

$ dwell report sequence.dwell --layout singa --verbosity 1 | cat -E
$
Time Profiling:$
Forward Propagation Time : 0.00127885 sec$
Backward Propagation Time : 0.00221928 sec$
