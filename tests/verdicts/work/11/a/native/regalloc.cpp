// Register pressure study: generates control flow graphs as the middle end of a compiler
// makes them, removes dead code, and colours the virtual registers that are left.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kFunctions = 2400;
constexpr int kBlocks = 220;
constexpr int kRegisters = 384;
constexpr int kColours = 24;

class RegSet {
public:
    static constexpr int kWords = kRegisters / 64;

    void add(int r) { w_[r >> 6] |= 1ull << (r & 63); }
    void drop(int r) { w_[r >> 6] &= ~(1ull << (r & 63)); }
    bool has(int r) const { return w_[r >> 6] >> (r & 63) & 1; }
    void merge(const RegSet& o) {
        for (int k = 0; k < kWords; ++k) w_[k] |= o.w_[k];
    }
    // in = use | (out - def); true if it has grown
    bool transfer(const RegSet& use, const RegSet& out, const RegSet& def) {
        bool grown = false;
        for (int k = 0; k < kWords; ++k) {
            const uint64_t now = use.w_[k] | (out.w_[k] & ~def.w_[k]);
            grown |= now != w_[k];
            w_[k] = now;
        }
        return grown;
    }
    template <typename F>
    void each(F f) const {
        for (int k = 0; k < kWords; ++k)
            for (uint64_t bits = w_[k]; bits; bits &= bits - 1) f(k * 64 + __builtin_ctzll(bits));
    }
    int count() const {
        int n = 0;
        for (uint64_t w : w_) n += __builtin_popcountll(w);
        return n;
    }

private:
    uint64_t w_[kWords] = {};
};

enum class Op : uint8_t { Add, Mul, Load, Store, Move, Compare };

struct Instr {
    Op op;
    int dst;  // -1: none
    int a;
    int b;
    std::string symbol;  // of the memory that it reads or writes
};

struct Block {
    std::string label;
    std::vector<Instr> code;
    std::vector<int> next;
    RegSet use, def, liveIn, liveOut;
};

class Function {
public:
    explicit Function(std::mt19937& rng) : blocks_(kBlocks) {
        for (int n = 0; n < kBlocks; ++n) fill(n, rng);
    }

    int size() const { return static_cast<int>(blocks_.size()); }
    Block block(int n) const { return blocks_[n]; }
    Block& edit(int n) { return blocks_[n]; }

private:
    // Straight code with branches forward and loops back, values mostly used near their birth.
    void fill(int n, std::mt19937& rng) {
        Block& b = blocks_[n];
        b.label = "bb" + std::to_string(n) + (n % 9 == 0 ? ".loop.header" : ".body");
        const int length = 6 + static_cast<int>(rng() % 20);
        const int centre = n * kRegisters / kBlocks;
        auto born = [&] { return std::min(kRegisters - 1, centre + static_cast<int>(rng() % 6)); };
        auto used = [&] {
            const int reach = rng() % 24 == 0 ? 80 : 12;
            return std::max(0, centre - static_cast<int>(rng() % reach));
        };
        for (int i = 0; i < length; ++i) {
            const Op op = static_cast<Op>(rng() % 6);
            const bool value = op != Op::Store && op != Op::Compare;
            const bool two = op != Op::Move && op != Op::Load;
            std::string symbol;
            if (op == Op::Load || op == Op::Store) symbol = "frame.object." + std::to_string(rng() % 4000);
            b.code.push_back({op, value ? born() : -1, used(), two ? used() : -1, std::move(symbol)});
        }
        if (n + 1 < kBlocks) b.next.push_back(n + 1);
        if (n + 2 < kBlocks && rng() % 3 == 0) b.next.push_back(std::min<int>(kBlocks - 1, n + 2 + rng() % 6));
        if (n > 40 && rng() % 5 == 0) b.next.push_back(n - 1 - static_cast<int>(rng() % (rng() % 4 ? 8 : 40)));
    }

    std::vector<Block> blocks_;
};

void summarize(Block& b) {
    b.use = b.def = b.liveIn = b.liveOut = RegSet();
    for (const Instr& in : b.code) {
        for (int r : {in.a, in.b})
            if (r >= 0 && !b.def.has(r)) b.use.add(r);
        if (in.dst >= 0) b.def.add(in.dst);
    }
}

// Backward dataflow until nothing changes; returns the number of sweeps.
int liveness(Function& f) {
    for (int n = 0; n < f.size(); ++n) summarize(f.edit(n));
    int sweeps = 0;
    for (bool changed = true; changed; ++sweeps) {
        changed = false;
        for (int n = f.size() - 1; n >= 0; --n) {
            Block& b = f.edit(n);
            RegSet out;
            for (int s : b.next) out.merge(f.block(s).liveIn);
            b.liveOut = out;
            changed |= b.liveIn.transfer(b.use, out, b.def);
        }
    }
    return sweeps;
}

int removeDead(Function& f) {
    int removed = 0;
    for (int n = 0; n < f.size(); ++n) {
        Block& b = f.edit(n);
        RegSet live = b.liveOut;
        std::vector<Instr> kept;
        kept.reserve(b.code.size());
        for (auto in = b.code.rbegin(); in != b.code.rend(); ++in) {
            if (in->dst >= 0 && !live.has(in->dst)) {
                ++removed;
                continue;
            }
            if (in->dst >= 0) live.drop(in->dst);
            for (int r : {in->a, in->b})
                if (r >= 0) live.add(r);
            kept.push_back(std::move(*in));
        }
        std::reverse(kept.begin(), kept.end());
        b.code = std::move(kept);
    }
    return removed;
}

// Interference graph, then greedy colouring by degree; returns the number of spilled registers.
int colour(Function& f, int& pressure) {
    std::vector<RegSet> touches(kRegisters);
    for (int n = 0; n < f.size(); ++n) {
        const Block& b = f.edit(n);
        RegSet live = b.liveOut;
        for (auto in = b.code.rbegin(); in != b.code.rend(); ++in) {
            if (in->dst >= 0) {
                live.drop(in->dst);
                touches[in->dst].merge(live);
            }
            for (int r : {in->a, in->b})
                if (r >= 0) live.add(r);
            pressure = std::max(pressure, live.count());
        }
    }
    for (int r = 0; r < kRegisters; ++r) touches[r].each([&](int o) { touches[o].add(r); });

    std::vector<std::pair<int, int>> order;
    for (int r = 0; r < kRegisters; ++r) order.emplace_back(touches[r].count(), r);
    std::sort(order.begin(), order.end());
    std::vector<int> chosen(kRegisters, -1);
    int spilled = 0;
    for (const auto& [degree, r] : order) {
        uint32_t taken = 0;
        touches[r].each([&](int o) {
            if (chosen[o] >= 0) taken |= 1u << chosen[o];
        });
        const int c = __builtin_ctz(~taken);
        if (c < kColours)
            chosen[r] = c;
        else
            ++spilled;
    }
    return spilled;
}

}  // namespace

int main() {
    std::mt19937 rng(99);
    long sweeps = 0, removed = 0, spilled = 0;
    int pressure = 0;
    for (int n = 0; n < kFunctions; ++n) {
        Function f(rng);
        for (int gone = 1; gone;) {
            sweeps += liveness(f);
            gone = removeDead(f);
            removed += gone;
        }
        spilled += colour(f, pressure);
    }
    std::printf("functions %d, sweeps %ld, dead instructions %ld\n", kFunctions, sweeps, removed);
    std::printf("spilled %ld, highest pressure %d\n", spilled, pressure);
    return 0;
}
