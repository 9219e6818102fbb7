// Back-end pass of a small compiler: builds three-address functions with nested
// loops, computes live variables and assigns registers by linear scan.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <dwell/probe.h>

namespace {

constexpr int kFunctions = 700;
constexpr int kRegisters = 16;

struct Instr {
    int def = -1;
    int use[2] = {-1, -1};
};

struct Block {
    std::vector<Instr> code;
    std::vector<int> succ;
};

struct Function {
    int vars = 0;
    std::vector<Block> blocks; // in layout order
};

class BitSet {
public:
    explicit BitSet(int n = 0) : words_((n + 63) / 64) {}
    void set(int i) { words_[i >> 6] |= 1ull << (i & 63); }
    bool test(int i) const { return words_[i >> 6] >> (i & 63) & 1; }
    void merge(const BitSet &o) {
        for (size_t k = 0; k < words_.size(); k++)
            words_[k] |= o.words_[k];
    }
    // this = gen | (out & ~kill); tells whether it changed
    bool transfer(const BitSet &gen, const BitSet &out, const BitSet &kill) {
        uint64_t diff = 0;
        for (size_t k = 0; k < words_.size(); k++) {
            const uint64_t v = gen.words_[k] | (out.words_[k] & ~kill.words_[k]);
            diff |= v ^ words_[k];
            words_[k] = v;
        }
        return diff != 0;
    }
    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    int count() const {
        int c = 0;
        for (uint64_t w : words_)
            c += __builtin_popcountll(w);
        return c;
    }

private:
    std::vector<uint64_t> words_;
};

class Builder {
public:
    explicit Builder(uint32_t seed) : rng_(seed) {}

    Function build() {
        fn_ = Function();
        fn_.vars = 700 + rng_() % 400;
        const int n = 500 + rng_() % 400;
        fn_.blocks.resize(n);
        for (int b = 0; b < n; b++) {
            fill(fn_.blocks[b], b, n);
            if (b + 1 < n)
                fn_.blocks[b].succ.push_back(b + 1);
            if (rng_() % 4 == 0 && b + 6 < n)
                fn_.blocks[b].succ.push_back(b + 2 + rng_() % 4); // if / else
            else if (rng_() % 9 == 0 && b > 12)
                fn_.blocks[b].succ.push_back(b - rng_() % 12); // loop
        }
        return std::move(fn_);
    }

private:
    // Most operands are of the neighbourhood; some are of the whole function.
    int pick(int b, int n) {
        if (rng_() % 12 == 0)
            return rng_() % fn_.vars;
        const int centre = int(int64_t(b) * fn_.vars / n);
        return std::clamp(centre + int(rng_() % 13) - 6, 0, fn_.vars - 1);
    }
    void fill(Block &blk, int b, int n) {
        const int len = 4 + rng_() % 12;
        for (int i = 0; i < len; i++) {
            Instr in;
            in.use[0] = pick(b, n);
            if (rng_() % 3)
                in.use[1] = pick(b, n);
            if (rng_() % 5)
                in.def = pick(b, n);
            blk.code.push_back(in);
        }
    }

    std::mt19937 rng_;
    Function fn_;
};

struct Liveness {
    std::vector<BitSet> in, out;
};

Liveness compute_liveness(const Function &fn) {
    const int n = int(fn.blocks.size());
    std::vector<BitSet> gen(n, BitSet(fn.vars)), kill(n, BitSet(fn.vars));
    for (int b = 0; b < n; b++)
        for (const Instr &i : fn.blocks[b].code) {
            for (int u : i.use)
                if (u >= 0 && !kill[b].test(u))
                    gen[b].set(u);
            if (i.def >= 0)
                kill[b].set(i.def);
        }
    Liveness live{std::vector<BitSet>(n, BitSet(fn.vars)), std::vector<BitSet>(n, BitSet(fn.vars))};
    bool changed = true;
    while (changed) {
        changed = false;
        for (int b = n - 1; b >= 0; b--) {
            live.out[b].clear();
            for (int s : fn.blocks[b].succ)
                live.out[b].merge(live.in[s]);
            if (live.in[b].transfer(gen[b], live.out[b], kill[b]))
                changed = true;
        }
    }
    return live;
}

struct Interval {
    int var, start, end, uses;
};

std::vector<Interval> build_intervals(const Function &fn, const Liveness &live) {
    std::vector<Interval> iv(fn.vars);
    for (int v = 0; v < fn.vars; v++)
        iv[v] = {v, 1 << 30, -1, 0};
    auto touch = [&](int v, int pos) {
        iv[v].start = std::min(iv[v].start, pos);
        iv[v].end = std::max(iv[v].end, pos);
    };
    int pos = 0;
    for (size_t b = 0; b < fn.blocks.size(); b++) {
        const int first = pos;
        for (const Instr &i : fn.blocks[b].code) {
            for (int u : i.use)
                if (u >= 0) {
                    touch(u, pos);
                    iv[u].uses++;
                }
            if (i.def >= 0)
                touch(i.def, pos + 1);
            pos += 2;
        }
        for (int v = 0; v < fn.vars; v++) {
            if (live.in[b].test(v))
                touch(v, first);
            if (live.out[b].test(v))
                touch(v, pos);
        }
    }
    iv.erase(std::remove_if(iv.begin(), iv.end(), [](const Interval &i) { return i.end < 0; }),
             iv.end());
    std::sort(iv.begin(), iv.end(), [](const Interval &a, const Interval &b) {
        return a.start != b.start ? a.start < b.start : a.var < b.var;
    });
    return iv;
}

// Returns the number of spilled intervals.
int linear_scan(const std::vector<Interval> &iv) {
    std::set<std::pair<int, int>> active; // (end, variable)
    int spilled = 0;
    for (const Interval &i : iv) {
        while (!active.empty() && active.begin()->first < i.start)
            active.erase(active.begin());
        active.insert({i.end, i.var});
        if (int(active.size()) > kRegisters) {
            active.erase(std::prev(active.end()));
            spilled++;
        }
    }
    return spilled;
}

} // namespace

int main() {
    Builder builder(31337);
    long blocks = 0, instrs = 0, intervals = 0, spills = 0, pressure = 0;
    for (int f = 0; f < kFunctions; f++) {
        DWELL_STEP();
        const Function fn = builder.build();
        const Liveness live = compute_liveness(fn);
        const auto iv = build_intervals(fn, live);
        spills += linear_scan(iv);
        intervals += long(iv.size());
        blocks += long(fn.blocks.size());
        for (size_t b = 0; b < fn.blocks.size(); b++) {
            instrs += long(fn.blocks[b].code.size());
            pressure = std::max<long>(pressure, live.in[b].count());
        }
    }
    std::printf("%d functions, %ld blocks, %ld instructions: %ld intervals, %ld spilled, "
                "max pressure %ld\n",
                kFunctions, blocks, instrs, intervals, spills, pressure);
}
