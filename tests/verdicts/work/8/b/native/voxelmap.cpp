// voxelmap: builds an occupancy map of a yard from the scans of a slowly driving
// vehicle with a lidar, one scan after another.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <unordered_map>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kScans = 100;
constexpr int kBeams = 8000;
constexpr float kVoxel = 0.3f;

struct Point {
    float x, y, z;
};

struct VoxelKey {
    int32_t x, y, z;
    bool operator==(const VoxelKey& o) const { return x == o.x && y == o.y && z == o.z; }
};

struct VoxelKeyHash {
    size_t operator()(const VoxelKey& k) const {
        size_t h = std::hash<int32_t>()(k.x);
        h ^= std::hash<int32_t>()(k.y) << 1;
        h ^= std::hash<int32_t>()(k.z) << 2;
        return h;
    }
};

struct Voxel {
    uint32_t hits = 0;
    uint32_t last_scan = 0;
    float log_odds = 0.0f;
};

struct Box {
    float x0, y0, x1, y1, h;
};

class Yard {
public:
    explicit Yard(uint32_t seed) {
        std::mt19937 gen(seed);
        std::uniform_real_distribution<float> pos(4.0f, 116.0f), size(1.0f, 4.0f), height(1.0f, 7.0f);
        for (int i = 0; i < 260; ++i) {
            float x = pos(gen), y = pos(gen);
            if (std::fabs(y - 60.0f) < 11.0f) y += y < 60.0f ? -11.0f : 11.0f;
            boxes_.push_back({x, y, x + size(gen), y + size(gen), height(gen)});
        }
    }

    // Distance along the ray to the first surface (slab test), at most `range`.
    float cast(const Point& o, const Point& d, float range) const {
        float best = range;
        if (d.z < -1e-4f) best = std::min(best, -o.z / d.z);
        for (const Box& b : boxes_) {
            float tx0 = (b.x0 - o.x) / d.x, tx1 = (b.x1 - o.x) / d.x;
            float ty0 = (b.y0 - o.y) / d.y, ty1 = (b.y1 - o.y) / d.y;
            float t0 = std::max(std::min(tx0, tx1), std::min(ty0, ty1));
            float t1 = std::min(std::max(tx0, tx1), std::max(ty0, ty1));
            if (t0 > 0.0f && t0 <= t1 && t0 < best && o.z + t0 * d.z <= b.h) best = t0;
        }
        return best;
    }

private:
    std::vector<Box> boxes_;
};

class VoxelMap {
public:
    void insert(const Point& p, uint32_t scan) {
        Voxel& v = cells_[key(p)];
        ++v.hits;
        v.last_scan = scan;
        v.log_odds = std::min(3.5f, v.log_odds + 0.85f);
    }

    // Free space between the sensor and the hit, sampled coarsely.
    void carve(const Point& o, const Point& d, float length) {
        for (float t = 1.0f; t < length - 2.0f * kVoxel; t += 3.0f) {
            auto it = cells_.find(key({o.x + t * d.x, o.y + t * d.y, o.z + t * d.z}));
            if (it != cells_.end()) it->second.log_odds = std::max(-2.0f, it->second.log_odds - 0.4f);
        }
    }

    size_t size() const { return cells_.size(); }

    template <class F>
    void each(F f) const {
        for (const auto& [k, v] : cells_) f(k, v);
    }

private:
    static VoxelKey key(const Point& p) {
        return {static_cast<int32_t>(std::floor(p.x / kVoxel)), static_cast<int32_t>(std::floor(p.y / kVoxel)),
                static_cast<int32_t>(std::floor(p.z / kVoxel))};
    }

    std::unordered_map<VoxelKey, Voxel, VoxelKeyHash> cells_;
};

std::vector<Point> beam_pattern() {
    std::vector<Point> dirs;
    dirs.reserve(kBeams);
    constexpr int rings = 32;
    for (int i = 0; i < kBeams; ++i) {
        float az = 6.2831853f * static_cast<float>(i / rings) / (kBeams / rings) + 1e-3f;
        float el = -0.43f + 0.6f * static_cast<float>(i % rings) / rings;
        dirs.push_back({std::cos(az) * std::cos(el), std::sin(az) * std::cos(el), std::sin(el)});
    }
    return dirs;
}

}  // namespace

int main() {
    const Yard yard(20240117);
    const std::vector<Point> beams = beam_pattern();
    VoxelMap map;
    std::mt19937 gen(7);
    std::normal_distribution<float> noise(0.0f, 0.02f);
    uint64_t returns = 0;
    for (uint32_t scan = 0; scan < kScans; ++scan) {
        DWELL_STEP();
        Point o{8.0f + 0.8f * static_cast<float>(scan), 60.0f + 3.0f * std::sin(0.07f * static_cast<float>(scan)), 1.8f};
        for (const Point& d : beams) {
            float t = yard.cast(o, d, 60.0f);
            map.carve(o, d, t);
            if (t >= 60.0f) continue;
            t += noise(gen);
            map.insert({o.x + t * d.x, o.y + t * d.y, o.z + t * d.z}, scan);
            ++returns;
        }
    }
    uint64_t occupied = 0, hits = 0, fresh = 0, sum = 0;
    map.each([&](const VoxelKey& k, const Voxel& v) {
        occupied += v.log_odds > 0.0f;
        hits += v.hits;
        fresh += v.last_scan + 20 >= kScans;
        sum += static_cast<uint64_t>(k.x * 73 + k.y * 31 + k.z + 100000) * v.hits;
    });
    std::printf("scans %d returns %llu voxels %zu occupied %llu hits %llu fresh %llu sum %llu\n", kScans,
                (unsigned long long)returns, map.size(), (unsigned long long)occupied, (unsigned long long)hits,
                (unsigned long long)fresh, (unsigned long long)sum);
    return hits == returns ? 0 : 1;
}
