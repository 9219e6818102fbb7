// Compress generated text with LZ77 (hash chains), unpack it and compare.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

using Bytes = std::vector<uint8_t>;
static const int Window = 1 << 15, HashBits = 15, Shortest = 4, Longest = 258, Tries = 48;

static uint32_t hash_at(const uint8_t* p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v * 2654435761u >> (32 - HashBits);
}

static void put_number(Bytes& out, uint32_t n) {
    for (; n >= 128; n >>= 7) out.push_back(uint8_t(n | 128));
    out.push_back(uint8_t(n));
}

static uint32_t get_number(const uint8_t*& p) {
    uint32_t n = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t b = *p++;
        n |= uint32_t(b & 127) << shift;
        if (b < 128) return n;
    }
}

static int match_length(const uint8_t* a, const uint8_t* b, int most) {
    int n = 0;
    while (n + 8 <= most) {
        uint64_t x, y;
        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        if (x != y) return n + __builtin_ctzll(x ^ y) / 8;
        n += 8;
    }
    while (n < most && a[n] == b[n]) ++n;
    return n;
}

class Packer {
public:
    Packer() : head_(1 << HashBits), previous_(Window) {}

    // A run of literals (length, bytes) is followed by one match (length, distance).
    void pack(const Bytes& in, Bytes& out) {
        std::fill(head_.begin(), head_.end(), -1);
        out.clear();
        const int size = int(in.size());
        int literals = 0, at = 0;
        while (at < size) {
            int distance = 0, length = at + Shortest <= size ? longest(in, at, distance) : 0;
            if (length < Shortest) {
                enter(in, at++);
                continue;
            }
            put_number(out, uint32_t(at - literals));
            out.insert(out.end(), in.begin() + literals, in.begin() + at);
            put_number(out, uint32_t(length));
            put_number(out, uint32_t(distance));
            for (int end = at + length; at < end; ++at) enter(in, at);
            literals = at;
        }
        put_number(out, uint32_t(size - literals));
        out.insert(out.end(), in.begin() + literals, in.end());
        put_number(out, 0);
    }

private:
    void enter(const Bytes& in, int at) {
        if (at + 4 > int(in.size())) return;
        uint32_t h = hash_at(&in[at]);
        previous_[at & (Window - 1)] = head_[h];
        head_[h] = at;
    }
    int longest(const Bytes& in, int at, int& distance) const {
        int most = std::min(Longest, int(in.size()) - at), best = 0;
        int from = head_[hash_at(&in[at])];
        for (int tries = 0; from >= 0 && at - from < Window && tries < Tries; ++tries) {
            if (best == 0 || in[from + best] == in[at + best]) {
                int n = match_length(&in[from], &in[at], most);
                if (n > best) {
                    best = n;
                    distance = at - from;
                    if (n == most) break;
                }
            }
            from = previous_[from & (Window - 1)];
        }
        return best;
    }
    std::vector<int> head_, previous_;
};

static void unpack(const Bytes& in, Bytes& out) {
    out.clear();
    const uint8_t* p = in.data();
    for (;;) {
        uint32_t n = get_number(p);
        out.insert(out.end(), p, p + n);
        p += n;
        uint32_t length = get_number(p);
        if (!length) return;
        size_t from = out.size() - get_number(p);
        for (uint32_t i = 0; i < length; ++i) out.push_back(out[from + i]);
    }
}

static Bytes make_text(int kind, size_t size) {
    static const char* words[] = {"the", "pump", "valve", "pressure", "was", "found", "to", "be", "open", "at", "station", "and", "report", "of", "a", "leak", "in", "line", "no", "further", "action", "required", "inspection", "replaced"};
    Bytes out;
    uint32_t s = 100u + kind;
    while (out.size() < size) {
        s = s * 1664525u + 1013904223u;
        std::string w = kind % 3 == 2 && s >> 29 == 0 ? std::to_string(s >> 7) : words[(s >> 11) % 24];
        w += (s >> 20) % 12 ? ' ' : '\n';
        out.insert(out.end(), w.begin(), w.end());
    }
    return out;
}

int main() {
    auto start = Clock::now();
    Packer packer;
    Bytes packed, back;
    size_t before = 0, after = 0;
    for (int kind = 0; kind < 30; ++kind) {
        Bytes text = make_text(kind, 2400000);
        packer.pack(text, packed);
        unpack(packed, back);
        before += text.size();
        after += packed.size();
        if (back != text) printf("file %d differs\n", kind);
        if (kind % 10 == 9) printf("file %d: %zu to %zu bytes\n", kind, text.size(), packed.size());
    }
    printf("all: %zu to %zu bytes (%.1f%%)\n", before, after, 100.0 * after / before);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}
