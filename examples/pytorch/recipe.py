"""PyTorch's profiler recipe on ResNet-18.

    python3 recipe.py [FOLDER]         with torch.profiler
    python3 recipe.py --dwell [FOLDER] the same lines, one import changed

Files go to FOLDER, by default the current one. examples/recipe.c does the same in C, on
the same network.
"""
import os
import sys

import torch

from resnet import ResNet

arguments = sys.argv[1:]
if "--dwell" in arguments:
    arguments.remove("--dwell")
    from dwell import ProfilerActivity, profile, record_function, schedule
else:
    from torch.profiler import ProfilerActivity, profile, record_function, schedule

folder = arguments[0] if arguments else "."
torch.manual_seed(1)
model = ResNet().eval()
inputs = torch.randn(5, 1, 28, 28)


def run():
    with torch.no_grad(), record_function("model_inference"):
        model(inputs)


run()

print("\n3. execution time")
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    run()
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10))

print("\n4. memory consumption")
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
    run()
print(prof.key_averages().table(sort_by="self_cpu_memory_usage", row_limit=10))
print(prof.key_averages().table(sort_by="cpu_memory_usage", row_limit=10))

print("\n5. tracing")
with profile(activities=[ProfilerActivity.CPU], with_stack=True) as prof:
    run()
path = os.path.join(folder, "recipe.json")
prof.export_chrome_trace(path)
print(f"wrote {path}")

print("\n6. stack traces")
print(prof.key_averages(group_by_stack_n=5).table(sort_by="self_cpu_time_total", row_limit=2))

print("\n7. flame graph")
if hasattr(prof, "export_stacks"):
    path = os.path.join(folder, "recipe_stacks.txt")
    prof.export_stacks(path, "self_cpu_time_total")
    print(f"wrote {path}")


def ready(prof):
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    path = os.path.join(folder, f"recipe_{prof.step_num}.json")
    prof.export_chrome_trace(path)
    print(f"wrote {path}")


print("\n8. a long-running job: steps 2, 3 and 6, 7 of 8")
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2),
             on_trace_ready=ready) as prof:
    for _ in range(8):
        run()
        prof.step()
