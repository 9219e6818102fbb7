// Middle end of a small compiler: control flow graphs of generated functions,
// live variable analysis, interference counts and linear-scan allocation.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kFunctions = 850;
constexpr int kRegisters = 14;

struct Instr {
    int def;
    int use[2];
};

struct Block {
    std::vector<Instr> code;
    std::vector<int> succ;
};

struct Function {
    int n_vars = 0;
    std::vector<Block> blocks;
};

class BitRows {
public:
    BitRows(size_t rows, size_t bits) : words_((bits + 63) / 64), data_(rows * words_) {}
    uint64_t* row(size_t r) { return data_.data() + r * words_; }
    const uint64_t* row(size_t r) const { return data_.data() + r * words_; }
    size_t words() const { return words_; }
    void set(size_t r, int b) { row(r)[b >> 6] |= 1ull << (b & 63); }
    bool get(size_t r, int b) const { return row(r)[b >> 6] >> (b & 63) & 1; }

private:
    size_t words_;
    std::vector<uint64_t> data_;
};

struct Liveness {
    BitRows in, out;
    int rounds = 0;
};

// Structured control flow: straight code, if/else diamonds and loops, laid
// out in source order.
Function generate(std::mt19937& rng) {
    Function f;
    f.n_vars = 500 + rng() % 200;
    int n = 600 + rng() % 200;
    f.blocks.resize(n);
    for (int b = 0; b < n; ++b) {
        Block& block = f.blocks[b];
        int len = 4 + rng() % 8, window = b * f.n_vars / n;
        auto pick = [&] {
            if (rng() % 12 == 0) return int(rng() % f.n_vars);
            return std::min(f.n_vars - 1, std::max(0, window + int(rng() % 30) - 15));
        };
        for (int i = 0; i < len; ++i) {
            int def = pick(), a = pick(), c = pick();
            block.code.push_back({def, {a, c}});
        }
        if (b + 1 < n) block.succ.push_back(b + 1);
        uint32_t kind = rng() % 10;
        if (kind < 3 && b + 3 < n)
            block.succ.push_back(b + 2 + rng() % 2);
        else if (kind == 3 && b > 8)
            block.succ.push_back(b - int(rng() % 8));
    }
    return f;
}

Liveness analyse(const Function& f) {
    size_t n = f.blocks.size();
    BitRows use(n, f.n_vars), def(n, f.n_vars);
    for (size_t b = 0; b < n; ++b) {
        for (const Instr& i : f.blocks[b].code) {
            for (int u : i.use)
                if (!def.get(b, u)) use.set(b, u);
            def.set(b, i.def);
        }
    }
    Liveness live{BitRows(n, f.n_vars), BitRows(n, f.n_vars)};
    size_t words = use.words();
    bool changed = true;
    while (changed) {
        changed = false;
        ++live.rounds;
        for (size_t b = n; b-- > 0;) {
            uint64_t* out = live.out.row(b);
            for (int s : f.blocks[b].succ) {
                const uint64_t* succ_in = live.in.row(s);
                for (size_t w = 0; w < words; ++w) out[w] |= succ_in[w];
            }
            uint64_t* in = live.in.row(b);
            const uint64_t *u = use.row(b), *d = def.row(b);
            for (size_t w = 0; w < words; ++w) {
                uint64_t next = u[w] | (out[w] & ~d[w]);
                changed |= next != in[w];
                in[w] = next;
            }
        }
    }
    return live;
}

struct Interval {
    int var, start, end;
};

struct Allocation {
    int spilled = 0;
    uint64_t interferences = 0;
    int max_pressure = 0;
};

// Walks every block backwards once: counts interferences per definition and
// extends the interval of each variable over the points where it lives.
std::vector<Interval> build_intervals(const Function& f, const Liveness& live, Allocation& stats) {
    std::vector<Interval> iv(f.n_vars);
    for (int v = 0; v < f.n_vars; ++v) iv[v] = {v, INT32_MAX, -1};
    std::vector<char> now(f.n_vars);
    int position = 0;
    for (size_t b = 0; b < f.blocks.size(); ++b) {
        const auto& code = f.blocks[b].code;
        int end = position + int(code.size()), pressure = 0;
        for (int v = 0; v < f.n_vars; ++v) {
            now[v] = live.out.get(b, v);
            pressure += now[v];
            if (now[v] || live.in.get(b, v)) {
                iv[v].start = std::min(iv[v].start, live.in.get(b, v) ? position : end - 1);
                iv[v].end = std::max(iv[v].end, now[v] ? end : position);
            }
        }
        for (size_t k = code.size(); k-- > 0;) {
            const Instr& i = code[k];
            int at = position + int(k);
            stats.interferences += pressure - now[i.def];
            pressure -= now[i.def];
            now[i.def] = 0;
            iv[i.def].start = std::min(iv[i.def].start, at);
            iv[i.def].end = std::max(iv[i.def].end, at);
            for (int u : i.use) {
                pressure += !now[u];
                now[u] = 1;
                iv[u].start = std::min(iv[u].start, at);
                iv[u].end = std::max(iv[u].end, at);
            }
            stats.max_pressure = std::max(stats.max_pressure, pressure);
        }
        position = end;
    }
    iv.erase(std::remove_if(iv.begin(), iv.end(), [](const Interval& i) { return i.end < 0; }),
             iv.end());
    std::sort(iv.begin(), iv.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    return iv;
}

void linear_scan(const std::vector<Interval>& intervals, Allocation& stats) {
    std::vector<Interval> active;
    for (const Interval& cur : intervals) {
        active.erase(std::remove_if(active.begin(), active.end(),
                                    [&](const Interval& a) { return a.end < cur.start; }),
                     active.end());
        active.push_back(cur);
        if (active.size() > size_t(kRegisters)) {
            auto victim = std::max_element(
                active.begin(), active.end(),
                [](const Interval& a, const Interval& b) { return a.end < b.end; });
            active.erase(victim);
            ++stats.spilled;
        }
    }
}

}  // namespace

int main() {
    std::mt19937 rng(2024);
    uint64_t interferences = 0;
    int spilled = 0, pressure = 0, instrs = 0;
    for (int i = 0; i < kFunctions; ++i) {
        Function f = generate(rng);
        Liveness live = analyse(f);
        Allocation stats;
        linear_scan(build_intervals(f, live, stats), stats);
        interferences += stats.interferences;
        spilled += stats.spilled;
        pressure = std::max(pressure, stats.max_pressure);
        for (const Block& b : f.blocks) instrs += int(b.code.size());
    }
    std::printf("functions %d, instructions %d, interferences %llu\n", kFunctions, instrs,
                (unsigned long long)interferences);
    std::printf("spilled %d, highest pressure %d\n", spilled, pressure);
    return 0;
}
