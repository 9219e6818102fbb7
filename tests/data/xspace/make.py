"""Makes generated.xplane.pb with the protobuf of JAX: make.py FILE. Needs jax (tools/venv jax)."""
import sys

import jax.profiler

# A host, a GPU with two streams and a derived line, and a TPU with its steps, as XLA's profiler names them.
TEXT = """
planes { id: 1 name: "/host:CPU"
  lines { id: 9 name: "python" timestamp_ns: 1000
    events { metadata_id: 1 offset_ps: 0 duration_ps: 5000000
      stats { metadata_id: 1 int64_value: 5 } stats { metadata_id: 2 int64_value: 0 } }
    events { metadata_id: 2 offset_ps: 6000000 duration_ps: 1000000 stats { metadata_id: 1 int64_value: 6 } } }
  event_metadata { key: 1 value { id: 1 name: "cuLaunchKernel" } }
  event_metadata { key: 2 value { id: 2 name: "cuMemcpyHtoDAsync_v2" } }
  stat_metadata { key: 1 value { id: 1 name: "correlation_id" } }
  stat_metadata { key: 2 value { id: 2 name: "device_id" } } }
planes { id: 2 name: "/device:GPU:0"
  lines { id: 7 name: "Stream #7(Compute)" timestamp_ns: 1000
    events { metadata_id: 1 offset_ps: 8000000 duration_ps: 20000000
      stats { metadata_id: 1 int64_value: 5 }
      stats { metadata_id: 2 str_value: "regs:32 static_shared:64 dynamic_shared:128 grid:8,16,5 block:128,1,1 occ_pct:50" } }
    events { metadata_id: 1 offset_ps: 30000000 duration_ps: 10000000 } }
  lines { id: 8 name: "Stream #8(MemcpyH2D)" timestamp_ns: 1000
    events { metadata_id: 2 offset_ps: 9000000 duration_ps: 4000000
      stats { metadata_id: 1 int64_value: 6 }
      stats { metadata_id: 3 str_value: "kind_src:pinned kind_dst:device size:4096 dest:0 async:1" } } }
  lines { id: 3735928559 name: "XLA Modules" timestamp_ns: 1000
    events { metadata_id: 3 offset_ps: 8000000 duration_ps: 32000000 } }
  event_metadata { key: 1 value { id: 1 name: "gemm_fusion" } }
  event_metadata { key: 2 value { id: 2 name: "MemcpyH2D" } }
  event_metadata { key: 3 value { id: 3 name: "jit_step" } }
  stat_metadata { key: 1 value { id: 1 name: "correlation_id" } }
  stat_metadata { key: 2 value { id: 2 name: "kernel_details" } }
  stat_metadata { key: 3 value { id: 3 name: "memcpy_details" } } }
planes { id: 3 name: "/device:TPU:0"
  lines { id: 1 name: "Steps" timestamp_ns: 1000
    events { metadata_id: 1 offset_ps: 0 duration_ps: 20000000 }
    events { metadata_id: 2 offset_ps: 20000000 duration_ps: 25000000 } }
  lines { id: 2 name: "XLA Modules" timestamp_ns: 1000
    events { metadata_id: 3 offset_ps: 1000000 duration_ps: 18000000 } }
  lines { id: 3 name: "XLA Ops" timestamp_ns: 1000
    events { metadata_id: 4 offset_ps: 1000000 duration_ps: 11000000 }
    events { metadata_id: 4 offset_ps: 21000000 duration_ps: 12000000 } }
  event_metadata { key: 1 value { id: 1 name: "0" } }
  event_metadata { key: 2 value { id: 2 name: "1" } }
  event_metadata { key: 3 value { id: 3 name: "jit_train" } }
  event_metadata { key: 4 value { id: 4 name: "%fusion.3 = f32[8] fusion(...)" display_name: "fusion.3" } } }
"""


def main():
    data = jax.profiler.ProfileData
    if hasattr(data, "text_proto_to_serialized_xspace"):
        content = data.text_proto_to_serialized_xspace(TEXT)
    else:
        content = data.from_text_proto(TEXT).to_serialized_xspace()
    with open(sys.argv[1], "wb") as file:
        file.write(content)


main()
