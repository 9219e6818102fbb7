/*
 * Names that writers and readers of a trace share: keys of metadata (META entries) and names
 * of counters, and two kinds of records. Of several entries with one key the last one counts.
 *
 * Probes include this header too, although they use only public headers: it has no code.
 */
#pragma once

/* The kinds of records that the probe for PyTorch writes without a call: dwell_put_words() of probe_abi.h. */
#define DW_WORD_ALLOC (3u << 28)
#define DW_WORD_FREE (4u << 28)

/* ---- metadata of dwell itself ---------------------------------------------------------------- */

#define DW_KEY_RANK "dwell.rank"                   /* JSON: a number */
#define DW_KEY_STATUS "dwell.status"               /* JSON: how the program ended */
#define DW_KEY_OOM_KILLED "dwell.oom_killed"       /* text: whose memory ran out when the kernel killed the program */
#define DW_KEY_COST_RANGE_NS "dwell.cost_range_ns" /* JSON: what a range costs on this machine */
#define DW_KEY_WALL_NS "dwell.wall_ns"             /* JSON: how long the program ran */
#define DW_KEY_DELAY_NS "dwell.delay_ns"           /* JSON: how long the main thread was ready to
                                                    * run and got no CPU */
#define DW_KEY_PROCESS_CPU_NS "dwell.process_cpu_ns" /* JSON: CPU time of the process from when the recorder was loaded to
                                                    * its end, by the kernel's account */
#define DW_KEY_PROCESS_USED "dwell.process_used"   /* JSON: [minor faults, major faults, waits, preemptions, system time in
                                                    * ns] of the process from its begin to its end */
#define DW_KEY_PROCESS_DELAY_NS "dwell.process_delay_ns" /* JSON: how long the main thread of the process was ready to run and got no
                                                          * CPU; DW_KEY_DELAY_NS is of the program that `dwell run` started */
#define DW_KEY_LOADED_CPU_NS "dwell.loaded_cpu_ns"   /* JSON: what the process had used before the recorder was loaded, in other
                                                    * programs that it executed; no entry: next to nothing */
#define DW_KEY_GAP "gap."                          /* begins a key; text: what the trace lacks of this process, as a report
                                                    * says it behind "Not recorded: " */
#define DW_KEY_PEAK_FLOPS "peak_flops_per_second" /* JSON: what the machine can do; only measured
                                                    * with --flops */
#define DW_KEY_STEP_ON "dwell.step_on"             /* text: the NAME of `dwell run --step-on` */
#define DW_KEY_FUNCTIONS "dwell.functions"         /* "not asked for": the program has the functions
                                                    * probe, but none were requested */
#define DW_KEY_LIBRARIES "dwell.libraries"         /* text: see libraries.h */
#define DW_KEY_LACKS ".lacks"                      /* behind the id of a library: why it is not recorded */
#define DW_KEY_ITT "itt.domains"                   /* text: domains whose ITT events are recorded */
#define DW_KEY_NVTX "nvtx.domains"                 /* text: domains whose NVTX events are recorded */
#define DW_KEY_CUDA "cuda.recorded"                /* text: the CUPTI by which device work was recorded */
#define DW_KEY_CUDA_LACKS "cuda.lacks"             /* text: why device work is missing, or a part of it */
#define DW_KEY_CUDA_LOST "cuda.lost"               /* text: causes of what was lost of device work, with their counts */
#define DW_KEY_MPI "mpi.recorded"                  /* text: the MPI library whose calls are recorded */
#define DW_KEY_MPI_LACKS "mpi.lacks"               /* text: why calls of an MPI library are not recorded */
#define DW_KEY_NCCL "nccl.recorded"                /* text: the version of NCCL's profiler interface in use */
#define DW_KEY_GGML "ggml.recorded"                /* text: the ggml whose graphs are recorded */
#define DW_KEY_GGML_NODES "ggml.nodes"             /* text: how nodes of graphs were recorded, or why not */
#define DW_KEY_ONNX "onnxruntime.recorded"         /* text: the version of ONNX Runtime whose runs are recorded */
#define DW_KEY_ONNX_NODES "onnxruntime.nodes"      /* text: how nodes are recorded, and what that costs */
#define DW_KEY_ONNX_FILES "onnxruntime.files"      /* text: how the names of files with its nodes begin */
#define DW_KEY_NATIVE_STEP_ON "native.step_on"     /* text: "steps": calls of this function were steps; "there"; or why not */
#define DW_KEY_NATIVE_STEP_ON_FILE "native.step_on.file" /* text: the library that has this function; absent: the program */
#define DW_KEY_NATIVE_STEP_NS "native.step_ns"     /* JSON: what the begin of a step there costs */
#define DW_KEY_INJECTED_STEP_ON "injected.step_on" /* "steps": ITT or NVTX ranges of this name were steps */

/* ---- metadata of samples ---------------------------------------------------------------------- */

#define DW_KEY_SAMPLE_PERIOD_NS "sample.period_ns" /* JSON: CPU time of a thread for which a sample of weight 1 stands */
#define DW_KEY_SAMPLE_ASKED_NS "sample.asked_ns"   /* JSON: the period with which the process was to be sampled */
#define DW_KEY_SAMPLE_UNSEEN "sample.unseen"       /* JSON: [threads that ended without a THREAD entry, their CPU time in ns] */
#define DW_KEY_SAMPLE_METHOD "sample.method"       /* text: how samples are taken */
#define DW_KEY_SAMPLE_KERNEL_LACKS "sample.kernel_lacks" /* text: why functions of the kernel, asked for, are missing */
#define DW_KERNEL "[kernel]"                       /* the name of frames in the kernel, until their functions are named */
#define DW_KEY_SAMPLE_CALLS "sample.calls"         /* JSON: calls of libc that were measured because they may wait */
#define DW_KEY_SAMPLE_TOOK_NS "sample.took_ns"     /* JSON: CPU time that samples took */
#define DW_FRAMES_LEFT_OUT "[frames left out]" /* the name of a frame in place of the middle of a deep stack */
#define DW_KEY_SAMPLE_LACKS "sample.lacks"         /* text: why there are none, or not of all threads */
#define DW_KEY_SAMPLE_NAMES_LACK "sample.names_lack" /* text: why names of code made at run time are missing */
#define DW_KEY_APART "processes.apart"             /* text: programs that used CPU time and are not in the trace, and why */
#define DW_KEY_HEAP_PERIOD "heap.period_bytes"     /* JSON: the mean distance of sampled bytes; see dwell_heap() */
#define DW_KEY_HEAP_LACKS "heap.lacks"             /* text: why allocations are missing */
#define DW_KEY_REQUESTS_UNSEEN "requests.unseen"   /* begins a key; text: what connections carry in which requests are not seen, as "TLS" */

/* ---- metadata of the machine ------------------------------------------------------------------ */

#define DW_KEY_FAULT_NS "host.fault_ns" /* JSON: what it takes to get a page of memory and return it */
#define DW_KEY_CPUS_ALLOWED "host.cpus_allowed" /* JSON: CPUs that the program may use (affinity, quota) */
#define DW_KEY_MEMORY_ALLOWED "host.memory_allowed" /* JSON: bytes that it may use (limit of a container) */
#define DW_KEY_COUNTERS_LACK "host.counters_lack" /* text: why --counters recorded no counters */
#define DW_KEY_BFLOAT16 "host.bfloat16" /* text: the processor's instructions for bfloat16 */

/* ---- metadata of Python's and PyTorch's probes ----------------------------------------------- */

#define DW_KEY_PYTHON_UNCAUGHT "python.uncaught"   /* text: what ended the program, "ValueError: the message's last line" */
#define DW_KEY_PYTHON_FUNCTIONS "python.functions" /* text: why functions are missing */
#define DW_KEY_TORCH_VERSION "torch.version"       /* text */
#define DW_KEY_TORCH_FRAMEWORK "torch.framework"   /* "lightning", "ignite": its loop calls the optimizer */
#define DW_KEY_TORCH_LACKS "torch.lacks"           /* text: what is not recorded of this PyTorch */
#define DW_KEY_TORCH_SLOWER "torch.slower"         /* text: what takes longer to record with this PyTorch */
#define DW_KEY_TORCH_DEVICE "torch.device"         /* "cuda": an optimizer works on that device */
#define DW_KEY_TORCH_THREADS "torch.threads"       /* JSON: threads that an operator may use, when an
                                                    * optimizer was made */
#define DW_KEY_TORCH_CALLBACK_NS "torch.callback_ns" /* JSON: time added to an operator */
#define DW_KEY_TORCH_GRADIENTS "torch.evaluation_gradients" /* "named": evaluation with gradients has
                                                    * the first name below */
#define DW_KEY_TORCH_INFERENCE "torch.inference"   /* "named": calls without gradients that are no
                                                    * evaluation of a trained model have the second */
#define DW_KEY_TORCH_OPTIMIZER_LOOPS "torch.optimizer_loops" /* text: "1=3/5 2=3": the first optimizer steps in the loop 5 of the
                                                   * program, which is in its loop 3, and the second one in loop 3 */
#define DW_KEY_TORCH_FLOAT64 "torch.float64"       /* text: "aten::mm=90 aten::add=100": how much of the operators' work is
                                                    * in 64-bit floating point, in percent; or "none" */
#define DW_KEY_TORCH_UNUSED_GRADIENTS "torch.unused_gradients" /* text: "900 1000 Net.encoder": of 1000 numbers of parameters that
                                                   * get gradients, no optimizer has 900, most of these in that module */
#define DW_KEY_TORCH_DENSE_EMBEDDINGS "torch.dense_embeddings" /* text: "900 1000 Net.items": the same of those that embeddings with
                                                   * dense gradients have, and an optimizer updates */
#define DW_KEY_TORCH_PADDING "torch.padding"       /* text: "900 1000 24 96 collate (a.py:9)": of 1000 places in a batch's rows
                                                   * 900 are padding, and the longest row uses 24 of 96; what made it */
#define DW_KEY_TORCH_RECOMPILED "torch.recompiled" /* text: "5 f (a.py:4) was compiled 6 times, the last because ...": how
                                                   * often all functions were compiled again; the one that was most often */
#define DW_KEY_IMPORT_LOST "import.lost"           /* text: which events of the file were left out, and why */
#define DW_KEY_IMPORT_NOTES "import.notes"         /* text: what else of the file is not as it should be */
#define DW_KEY_TORCH_HOOK_NS "torch.hook_ns"       /* JSON: what a layer's hooks cost */
#define DW_KEY_TORCH_RECORDED_NS "torch.recorded_ns" /* JSON: cost of a step that is recorded whole, by --cost */
#define DW_KEY_TORCH_BRIEF_NS "torch.brief_ns"     /* JSON: cost of a step of which only begin and end are recorded */
#define DW_KEY_TORCH_REDUCED_NS "torch.reduced_ns" /* JSON: cost of a step without operators */
#define DW_KEY_TORCH_STEP_ON "torch.step_on"       /* result of --step-on: "there", "steps" */
#define DW_KEY_TORCH_STEP_ON_CANDIDATES "torch.step_on.candidates" /* text: possible names */

/* ---- names of ranges --------------------------------------------------------------------------- */

#define DW_NAME_EVALUATION_GRADIENTS "evaluation with gradients"
#define DW_NAME_INFERENCE "inference"

/* Details of ranges that Python's probe knows by their function (probes/python/known.def). */
#define DW_DETAIL_ITERATION "iteration" /* a library calls it once an iteration of a fit */
#define DW_DETAIL_TASK "task"           /* a request, or what a thread of a pool gets to do */
#define DW_DETAIL_TURN "turn"           /* what a coroutine that is a task does between two waits */

/* Details of a request's asynchronous ranges, which have its handle: itself, and a part of it, whose end is where the next part
 * or the request's end is. */
#define DW_DETAIL_REQUEST "request"
#define DW_DETAIL_ANSWERED "answered" /* a request that came over a connection; ignored if the process marks requests */
#define DW_DETAIL_STAGE "stage"

/* Details of PyTorch's phases and evaluations. */
#define DW_DETAIL_BARE "no parameters" /* of a call: the module has none, as a loss */
#define DW_DETAIL_CLEARS "zero_grad"   /* of an optimizer: it clears gradients. Otherwise the optimizer's number among
                                        * those of its process that live, from 2; the first one has none */

/* ---- counters of data loading ---------------------------------------------------------------- */

#define DW_COUNTER_SAMPLES "batch samples"         /* samples of the batch being made */
#define DW_COUNTER_READY_BATCHES "DataLoader queue" /* batches ready at a request */

/* ---- counters of memory ------------------------------------------------------------------------ */

/* Behind the name of a device ("cuda:0 reserved"), in bytes: what an allocator has from the device for the
 * blocks that it gives out. */
#define DW_COUNTER_RESERVED " reserved"
#define DW_COUNTER_ENERGY " energy" /* in J: what the device has used since its driver was loaded */
