// Labels islands in a sparse world map kept as a set of occupied cells, and
// reports the size distribution and the coast length of each island.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

struct Cell {
    int x, y;
    bool operator==(const Cell& o) const { return x == o.x && y == o.y; }
};

struct CellHash {
    size_t operator()(const Cell& c) const
    {
        return std::hash<int>()(c.x) ^ std::hash<int>()(c.y);
    }
};

using CellSet = std::unordered_set<Cell, CellHash>;
using Labels = std::unordered_map<Cell, int, CellHash>;

constexpr Cell kSteps[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

struct Island {
    long cells = 0, coast = 0;
    int min_x = 1 << 30, max_x = -1;
};

CellSet make_world(int side, double fill, unsigned seed)
{
    std::mt19937 rng(seed);
    std::uniform_real_distribution<double> u(0, 1);
    CellSet land;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            if (u(rng) < fill)
                land.insert({x, y});
    return land;
}

Island explore(const CellSet& land, Labels& labels, Cell start, int id)
{
    Island is;
    std::vector<Cell> stack{start};
    labels[start] = id;
    while (!stack.empty()) {
        Cell c = stack.back();
        stack.pop_back();
        is.cells++;
        is.min_x = std::min(is.min_x, c.x);
        is.max_x = std::max(is.max_x, c.x);
        for (const Cell& s : kSteps) {
            Cell n{c.x + s.x, c.y + s.y};
            if (land.count(n) == 0) {
                is.coast++;
                continue;
            }
            if (labels.emplace(n, id).second)
                stack.push_back(n);
        }
    }
    return is;
}

std::vector<Island> label_world(const CellSet& land, int side)
{
    Labels labels;
    std::vector<Island> islands;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            Cell c{x, y};
            if (land.count(c) && !labels.count(c))
                islands.push_back(explore(land, labels, c, static_cast<int>(islands.size())));
        }
    return islands;
}

std::vector<long> size_distribution(std::vector<Island> islands)
{
    std::sort(islands.begin(), islands.end(), [](const Island& a, const Island& b) { return a.cells > b.cells; });
    std::vector<long> bins(20, 0);
    for (const Island& i : islands) {
        size_t b = 0;
        for (long n = i.cells; n > 1 && b < 19; n /= 2)
            b++;
        bins[b]++;
    }
    return bins;
}

}  // namespace

int main(int argc, char** argv)
{
    int side = argc > 1 ? std::atoi(argv[1]) : 410;
    int worlds = 3;
    long coast = 0, largest = 0, widest = 0;
    size_t count = 0;
    uint64_t digest = 1;
    for (int w = 0; w < worlds; w++) {
        CellSet land = make_world(side, 0.50 + 0.03 * w, 100u + static_cast<unsigned>(w));
        std::vector<Island> islands = label_world(land, side);
        count += islands.size();
        for (const Island& i : islands) {
            coast += i.coast;
            largest = std::max(largest, i.cells);
            widest = std::max<long>(widest, i.max_x - i.min_x + 1);
        }
        for (long n : size_distribution(islands))
            digest = digest * 1000003u + static_cast<uint64_t>(n);
    }
    std::printf("islands %zu coast %ld largest %ld widest %ld digest %016llx\n", count, coast, largest, widest,
                static_cast<unsigned long long>(digest));
    return 0;
}
