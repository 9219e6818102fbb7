// dose_tally: Monte Carlo transport of photons through a layered slab for a plan of
// beam spots; two workers follow the histories, the dose is tallied on a grid.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <future>
#include <vector>

namespace {

constexpr int kSide = 330;  // spots per side of the field
constexpr int kWorkers = 2;
constexpr int kDepth = 120, kRadial = 60;
constexpr double kCell = 0.5;  // mm

struct Layer {
    double to;  // mm
    double scatter, absorb, g;
};

const Layer kLayers[] = {{8.0, 0.9, 0.05, 0.80}, {22.0, 0.5, 0.09, 0.70}, {60.0, 1.1, 0.03, 0.88}};

class Rng {
public:
    explicit Rng(uint64_t history) : s_(history * 0x9e3779b97f4a7c15ull + 0xd1b54a32d192ed03ull) {}
    double uniform() {
        uint64_t z = (s_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53 + 0x1.0p-54;
    }

private:
    uint64_t s_;
};

// Energy is kept in whole micro-units, so that the sums do not depend on the order.
struct Deposit {
    float depth, radius;
    uint64_t energy;
};

class Tally {
public:
    Tally() : cells_(kDepth * kRadial) {}

    void add(const Deposit& dep) {
        int d = std::min(kDepth - 1, static_cast<int>(dep.depth / kCell));
        int r = std::min(kRadial - 1, static_cast<int>(dep.radius / kCell));
        cells_[d * kRadial + r] += dep.energy;
        total_ += dep.energy;
    }

    void merge(const Tally& other) {
        for (size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
        total_ += other.total_;
    }

    uint64_t total() const { return total_; }
    uint64_t at_depth(int d) const {
        uint64_t sum = 0;
        for (int r = 0; r < kRadial; ++r) sum += cells_[d * kRadial + r];
        return sum;
    }

private:
    std::vector<uint64_t> cells_;
    uint64_t total_ = 0;
};

// A spot of the treatment plan: where the beam points and how many photons it gets.
struct Spot {
    double x, y;
    int histories;
};

std::vector<Spot> make_plan() {
    std::vector<Spot> plan;
    plan.reserve(static_cast<size_t>(kSide) * kSide);
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j) {
            double x = (i - kSide / 2) * 0.12, y = (j - kSide / 2) * 0.12;
            int n = 6 + static_cast<int>(14.0 * std::exp(-(x * x + y * y) / 300.0));
            plan.push_back({x, y, n});
        }
    return plan;
}

struct Photon {
    double x = 0, y = 0, z = 0;
    double u = 0, v = 0, w = 1;
    uint64_t energy = 1'000'000;
};

const Layer& layer_at(double z) {
    for (const Layer& l : kLayers)
        if (z < l.to) return l;
    return kLayers[2];
}

// Henyey-Greenstein scattering.
void scatter(Photon& p, double g, Rng& rng) {
    double t = (1.0 - g * g) / (1.0 - g + 2.0 * g * rng.uniform());
    double c = (1.0 + g * g - t * t) / (2.0 * g);
    double s = std::sqrt(std::max(0.0, 1.0 - c * c));
    double phi = 2.0 * M_PI * rng.uniform();
    double cp = std::cos(phi), sp = std::sin(phi);
    if (std::fabs(p.w) > 0.99999) {
        p.u = s * cp;
        p.v = s * sp;
        p.w = p.w > 0 ? c : -c;
        return;
    }
    double q = std::sqrt(1.0 - p.w * p.w);
    double u = s * (p.u * p.w * cp - p.v * sp) / q + p.u * c;
    double v = s * (p.v * p.w * cp + p.u * sp) / q + p.v * c;
    p.w = -s * cp * q + p.w * c;
    p.u = u;
    p.v = v;
}

struct Outcome {
    std::vector<Deposit> deposits;
    uint64_t reflected = 0, transmitted = 0;
};

void follow(uint64_t history, const Spot& spot, Outcome& out) {
    Rng rng(history);
    Photon p;
    p.x = spot.x;
    p.y = spot.y;
    while (p.energy > 0) {
        const Layer& l = layer_at(p.z);
        double step = -std::log(rng.uniform()) / (l.scatter + l.absorb);
        p.x += step * p.u;
        p.y += step * p.v;
        p.z += step * p.w;
        if (p.z < 0.0) {
            out.reflected += p.energy;
            return;
        }
        if (p.z >= kDepth * kCell) {
            out.transmitted += p.energy;
            return;
        }
        uint64_t lost = static_cast<uint64_t>(static_cast<double>(p.energy) * l.absorb / (l.scatter + l.absorb));
        if (p.energy - lost < 40'000) lost = p.energy;
        out.deposits.push_back({static_cast<float>(p.z), static_cast<float>(std::hypot(p.x, p.y)), lost});
        p.energy -= lost;
        scatter(p, l.g, rng);
    }
}

Outcome irradiate(const Spot& spot, uint64_t first, uint64_t last) {
    Outcome out;
    for (uint64_t h = first; h < last; ++h) follow(h, spot, out);
    return out;
}

struct Dose {
    Tally tally;
    uint64_t reflected = 0, transmitted = 0;

    void add(const Outcome& o) {
        for (const Deposit& d : o.deposits) tally.add(d);
        reflected += o.reflected;
        transmitted += o.transmitted;
    }
};

// The histories of a spot are shared among the workers.
void deliver(const Spot& spot, uint64_t first, Dose& dose) {
    uint64_t n = static_cast<uint64_t>(spot.histories);
    std::future<Outcome> parts[kWorkers];
    for (uint64_t w = 0; w < kWorkers; ++w)
        parts[w] = std::async(std::launch::async, irradiate, spot, first + n * w / kWorkers, first + n * (w + 1) / kWorkers);
    for (std::future<Outcome>& part : parts) dose.add(part.get());
}

}  // namespace

int main() {
    const std::vector<Spot> plan = make_plan();
    Dose dose;
    uint64_t histories = 0;
    for (const Spot& spot : plan) {
        deliver(spot, histories, dose);
        histories += static_cast<uint64_t>(spot.histories);
    }
    const Tally& tally = dose.tally;
    int peak = 0;
    for (int d = 1; d < kDepth; ++d)
        if (tally.at_depth(d) > tally.at_depth(peak)) peak = d;
    double in = 1e6 * static_cast<double>(histories);
    std::printf("spots %zu histories %llu absorbed %.6f reflected %.6f transmitted %.6f peak at %.2f mm (%llu)\n", plan.size(),
                (unsigned long long)histories, double(tally.total()) / in, double(dose.reflected) / in,
                double(dose.transmitted) / in, (peak + 0.5) * kCell, (unsigned long long)tally.at_depth(peak));
    return tally.total() + dose.reflected + dose.transmitted == histories * 1'000'000 ? 0 : 1;
}
