// ssa_liveness: register-pressure report for a batch of generated functions.
// For every function it builds a control flow graph, solves live variables with
// bit sets, and derives the interference degree and the peak pressure.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using Word = uint64_t;

class BitSet {
public:
    explicit BitSet(size_t bits = 0) : words_((bits + 63) / 64, 0) {}
    void set(size_t i) { words_[i >> 6] |= Word(1) << (i & 63); }
    void reset(size_t i) { words_[i >> 6] &= ~(Word(1) << (i & 63)); }
    bool test(size_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    void merge(const BitSet &o) {
        for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
    }
    // this = use | (out & ~def); true if anything changed
    bool transfer(const BitSet &use, const BitSet &out, const BitSet &def) {
        Word diff = 0;
        for (size_t i = 0; i < words_.size(); ++i) {
            Word w = use.words_[i] | (out.words_[i] & ~def.words_[i]);
            diff |= w ^ words_[i];
            words_[i] = w;
        }
        return diff != 0;
    }
    int count() const {
        int n = 0;
        for (Word w : words_) n += __builtin_popcountll(w);
        return n;
    }

private:
    std::vector<Word> words_;
};

struct Insn { int dst, a, b; };

struct Block {
    std::vector<Insn> code;
    std::vector<int> succ;
    BitSet use, def, in, out;
};

struct Function {
    int vars = 0;
    std::vector<Block> blocks;
};

// Structured code: long straight regions, diamonds, and loops of various size.
Function generate(std::mt19937 &rng, int n_blocks, int n_vars) {
    Function f;
    f.vars = n_vars;
    f.blocks.resize(n_blocks);
    auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    for (int b = 0; b < n_blocks; ++b) {
        Block &blk = f.blocks[b];
        int base = static_cast<int>(int64_t(b) * n_vars / n_blocks);
        for (int i = 0, n = 3 + pick(6); i < n; ++i) {
            auto operand = [&] {
                int near = std::min(n_vars - 1, std::max(0, base - pick(40)));
                return pick(12) == 0 ? pick(std::max(1, base)) : near;
            };
            blk.code.push_back({std::min(n_vars - 1, base + pick(6)), operand(), operand()});
        }
        if (b + 1 < n_blocks) blk.succ.push_back(b + 1);
        if (pick(5) == 0 && b + 4 < n_blocks) blk.succ.push_back(b + 2 + pick(3));
        if (pick(9) == 0 && b > 8) blk.succ.push_back(b - 1 - pick(8));
    }
    return f;
}

void summarize(Function &f) {
    for (Block &b : f.blocks) {
        b.use = BitSet(f.vars);
        b.def = BitSet(f.vars);
        b.in = BitSet(f.vars);
        b.out = BitSet(f.vars);
        for (const Insn &i : b.code) {
            if (!b.def.test(i.a)) b.use.set(i.a);
            if (!b.def.test(i.b)) b.use.set(i.b);
            b.def.set(i.dst);
        }
    }
}

bool visit(Function &f, Block &b) {
    b.out.clear();
    for (int s : b.succ) b.out.merge(f.blocks[s].in);
    return b.in.transfer(b.use, b.out, b.def);
}

void solve_liveness(Function &f) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = f.blocks.size(); i-- > 0;)
            changed |= visit(f, f.blocks[i]);
    }
}

struct Pressure { int peak = 0; uint64_t edges = 0; };

// Walks every block backwards with the live set at hand.
Pressure measure(const Function &f) {
    Pressure p;
    for (const Block &b : f.blocks) {
        BitSet live = b.out;
        for (auto i = b.code.rbegin(); i != b.code.rend(); ++i) {
            int n = live.count();
            p.peak = std::max(p.peak, n);
            p.edges += static_cast<uint64_t>(n - (live.test(i->dst) ? 1 : 0));
            live.reset(i->dst);
            live.set(i->a);
            live.set(i->b);
        }
    }
    return p;
}

// Dead definitions: written, not live afterwards, within the block.
int count_dead(const Function &f) {
    int dead = 0;
    for (const Block &b : f.blocks) {
        BitSet live = b.out;
        for (auto i = b.code.rbegin(); i != b.code.rend(); ++i) {
            dead += !live.test(i->dst);
            live.reset(i->dst);
            live.set(i->a);
            live.set(i->b);
        }
    }
    return dead;
}

}  // namespace

int main() {
    std::mt19937 rng(20240611);
    uint64_t edges = 0, insns = 0;
    int peak = 0, dead = 0;
    const int functions = 240;
    for (int i = 0; i < functions; ++i) {
        int blocks = 300 + static_cast<int>(rng() % 900);
        Function f = generate(rng, blocks, blocks * 3);
        summarize(f);
        solve_liveness(f);
        Pressure p = measure(f);
        peak = std::max(peak, p.peak);
        edges += p.edges;
        dead += count_dead(f);
        for (const Block &b : f.blocks) insns += b.code.size();
    }
    std::printf("%d functions, %llu instructions, peak pressure %d, interference %llu, dead %d\n",
                functions, static_cast<unsigned long long>(insns), peak,
                static_cast<unsigned long long>(edges), dead);
    return 0;
}
