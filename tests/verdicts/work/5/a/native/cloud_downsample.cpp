// cloud_downsample: thins the laser scans of a survey drone. Points fall into
// voxels; each voxel keeps its centroid, from which normals are estimated.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <unordered_map>
#include <vector>

namespace {

struct Point {
    float x, y, z, intensity;
};

struct VoxelKey {
    int32_t x, y, z;
    bool operator==(const VoxelKey& o) const { return x == o.x && y == o.y && z == o.z; }
};

struct VoxelHash {
    size_t operator()(const VoxelKey& k) const noexcept {
        std::hash<int32_t> h;
        return h(k.x) ^ h(k.y) << 1 ^ h(k.z) << 2;
    }
};

struct Cell {
    double x = 0, y = 0, z = 0, intensity = 0;
    uint32_t count = 0;
};

using VoxelMap = std::unordered_map<VoxelKey, Cell, VoxelHash>;

float groundAt(float x, float y) {
    return 6 * std::sin(x * 0.045f) + 4 * std::cos(y * 0.06f + x * 0.01f) + 0.8f * std::sin(x * 0.31f + y * 0.27f);
}

// One pass of the drone: a strip of ground returns, with trees and a few stray echoes.
std::vector<Point> scanStrip(int strip, size_t n, std::mt19937& gen) {
    std::uniform_real_distribution<float> along(0, 300), across(0, 34), unit(0, 1);
    std::normal_distribution<float> noise(0, 0.03f);
    std::vector<Point> pts;
    pts.reserve(n);
    for (size_t i = 0; i < n; ++i) {
        float x = along(gen), y = 22.0f * strip + across(gen), z = groundAt(x, y) + noise(gen);
        float u = unit(gen);
        if (u < 0.12f)
            z += 9 * unit(gen) * std::max(0.0f, std::sin(x * 0.5f) * std::sin(y * 0.4f));
        else if (u > 0.9995f)
            z += 40 * unit(gen);
        pts.push_back({x, y, z, unit(gen)});
    }
    return pts;
}

VoxelKey keyOf(float x, float y, float z, float size) {
    return {static_cast<int32_t>(std::floor(x / size)), static_cast<int32_t>(std::floor(y / size)),
            static_cast<int32_t>(std::floor(z / size))};
}

void insertStrip(VoxelMap& map, const std::vector<Point>& pts, float size) {
    for (const Point& p : pts) {
        Cell& c = map[keyOf(p.x, p.y, p.z, size)];
        c.x += p.x;
        c.y += p.y;
        c.z += p.z;
        c.intensity += p.intensity;
        ++c.count;
    }
}

// Smallest eigenvector of a symmetric 3x3 matrix, by Jacobi rotations.
std::array<double, 3> smallestAxis(double a[3][3]) {
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 8; ++sweep) {
        for (int p = 0; p < 2; ++p) {
            for (int q = p + 1; q < 3; ++q) {
                if (std::fabs(a[p][q]) < 1e-14)
                    continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
                double c = 1 / std::sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; ++k) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; ++k) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
        }
    }
    int m = 0;
    for (int i = 1; i < 3; ++i)
        if (a[i][i] < a[m][m])
            m = i;
    return {v[0][m], v[1][m], v[2][m]};
}

// The normal of a voxel out of the centroids of its 27 neighbours; false where they are too few.
bool normalOf(const VoxelMap& map, const VoxelKey& k, std::array<double, 3>& out) {
    double pts[27][3], mean[3] = {0, 0, 0};
    int n = 0;
    for (int dx = -1; dx <= 1; ++dx)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dz = -1; dz <= 1; ++dz) {
                auto it = map.find({k.x + dx, k.y + dy, k.z + dz});
                if (it == map.end())
                    continue;
                const Cell& c = it->second;
                pts[n][0] = c.x / c.count, pts[n][1] = c.y / c.count, pts[n][2] = c.z / c.count;
                for (int i = 0; i < 3; ++i)
                    mean[i] += pts[n][i];
                ++n;
            }
    if (n < 5)
        return false;
    double cov[3][3] = {};
    for (int j = 0; j < n; ++j)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                cov[a][b] += (pts[j][a] - mean[a] / n) * (pts[j][b] - mean[b] / n);
    out = smallestAxis(cov);
    return true;
}

}  // namespace

int main() {
    constexpr int kStrips = 5;
    constexpr size_t kPerStrip = 1200000;
    constexpr float kVoxel = 1.3f;
    std::mt19937 gen(31337);
    VoxelMap map;
    size_t raw = 0;
    for (int s = 0; s < kStrips; ++s) {
        auto pts = scanStrip(s, kPerStrip, gen);
        insertStrip(map, pts, kVoxel);
        raw += pts.size();
    }

    size_t kept = 0, flat = 0, oriented = 0, stray = 0;
    double bright = 0;
    for (const auto& [key, cell] : map) {
        bright += cell.intensity / cell.count;
        ++kept;
        std::array<double, 3> normal;
        if (!normalOf(map, key, normal)) {
            ++stray;
            continue;
        }
        ++oriented;
        flat += std::fabs(normal[2]) > 0.95;
    }
    std::printf("%zu points into %zu voxels; %zu with normal, %zu level, %zu stray; mean intensity %.5f\n", raw, kept,
                oriented, flat, stray, bright / kept);
    return 0;
}
