"""A small random model for llama.cpp, as a GGUF file."""
import array
import random
import struct

VOCABULARY, WIDTH, BLOCKS, HEADS, INNER = 512, 256, 4, 8, 768


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def write_model(path):
    """Writes a GGUF file: keys, descriptions of tensors, then their values, each at a multiple of 32 bytes."""
    rng, keys, tensors = random.Random(1), [], []
    uint, real, string, many = 4, 6, 8, 9

    def key(name, kind, value):
        keys.append(text(name) + struct.pack("<I", kind) + value)

    def tensor(name, *shape):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        data = array.array("f", [1.0] * count if len(shape) == 1 else [rng.uniform(-0.05, 0.05) for _ in range(count)])
        if name == "output.weight":  # the end of a text and bytes are never the likeliest
            data[2 * WIDTH:259 * WIDTH] = array.array("f", bytes(4 * WIDTH * 257))
        tensors.append((name, shape, data.tobytes()))

    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += [f"w{at}" for at in range(len(pieces), VOCABULARY)]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259)
    key("general.architecture", string, text("llama"))
    for name, value in (("context_length", 1024), ("embedding_length", WIDTH), ("block_count", BLOCKS),
                        ("feed_forward_length", INNER), ("attention.head_count", HEADS), ("vocab_size", VOCABULARY),
                        ("rope.dimension_count", WIDTH // HEADS)):
        key(f"llama.{name}", uint, struct.pack("<I", value))
    key("llama.attention.layer_norm_rms_epsilon", real, struct.pack("<f", 1e-5))
    key("tokenizer.ggml.model", string, text("llama"))
    key("tokenizer.ggml.tokens", many, struct.pack("<IQ", string, VOCABULARY) + b"".join(map(text, pieces)))
    key("tokenizer.ggml.scores", many, struct.pack("<IQ", real, VOCABULARY) + bytes(4 * VOCABULARY))
    key("tokenizer.ggml.token_type", many, struct.pack(f"<IQ{VOCABULARY}i", 5, VOCABULARY, *kinds))
    tensor("token_embd.weight", WIDTH, VOCABULARY)
    tensor("output_norm.weight", WIDTH)
    tensor("output.weight", WIDTH, VOCABULARY)
    for block in range(BLOCKS):
        for name, *shape in (("attn_norm", WIDTH), ("ffn_norm", WIDTH), ("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH, WIDTH),
                             ("attn_v", WIDTH, WIDTH), ("attn_output", WIDTH, WIDTH), ("ffn_gate", WIDTH, INNER),
                             ("ffn_up", WIDTH, INNER), ("ffn_down", INNER, WIDTH)):
            tensor(f"blk.{block}.{name}.weight", *shape)
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys))
        at = 0
        for name, shape, data in tensors:
            file.write(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, at))
            at += len(data) + -len(data) % 32
        file.write(bytes(-file.tell() % 32))
        for _, _, data in tensors:
            file.write(data + bytes(-len(data) % 32))
