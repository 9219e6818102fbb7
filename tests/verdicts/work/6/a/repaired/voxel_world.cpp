// Headless server of a voxel game, as run for the nightly load test: players
// walk, dig and build, water flows, chunks that changed get their surface mesh
// rebuilt (greedy, per layer), and meshes are hashed for the clients' checks.
#include <dwell/probe.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

constexpr int kSize = 16, kHeight = 32, kSide = 8, kWorld = kSize * kSide, kTicks = 800, kPlayers = 60;

enum Block : uint8_t { Air, Stone, Dirt, Grass, Sand, Water };

struct Quad { uint8_t x, y, z, w, h, face, block; };

struct Chunk {
    std::array<uint8_t, kSize * kSize * kHeight> blocks{};
    std::vector<Quad> mesh;
    uint64_t mesh_hash = 0;
    uint32_t revision = 0, meshed = 0;
};

struct Player { double x, z, heading; int digs, builds; };

class World {
public:
    explicit World(uint32_t seed) : gen_(seed), chunks_(kSide * kSide) {
        for (int x = 0; x < kWorld; x++)
            for (int z = 0; z < kWorld; z++) {
                const int h = 8 + (noise(x / 8, z / 8) % 7) + (noise(x / 3, z / 3) % 3);
                for (int y = 0; y < h; y++) put(x, y, z, y < h - 3 ? Stone : y < h - 1 ? Dirt : h < 11 ? Sand : Grass);
                for (int y = h; y < 11; y++) put(x, y, z, Water);
            }
        std::uniform_real_distribution<double> at(8, kWorld - 8), dir(0, 6.283);
        for (int i = 0; i < kPlayers; i++) players_.push_back({at(gen_), at(gen_), dir(gen_), 0, 0});
    }

    uint8_t get(int x, int y, int z) const {
        if (x < 0 || z < 0 || x >= kWorld || z >= kWorld || y < 0) return Stone;
        if (y >= kHeight) return Air;
        return chunk(x, z).blocks[index(x, y, z)];
    }

    void set(int x, int y, int z, uint8_t b) {
        put(x, y, z, b);
        touch(x, z);
        if (x % kSize == 0) touch(x - 1, z);
        if (x % kSize == kSize - 1) touch(x + 1, z);
        if (z % kSize == 0) touch(x, z - 1);
        if (z % kSize == kSize - 1) touch(x, z + 1);
        for (const auto& d : kSides) flow_.push_back({x + d[0], y + d[1], z + d[2]});
    }

    void move_players() {
        std::uniform_real_distribution<double> turn(-0.4, 0.4);
        for (Player& p : players_) {
            p.heading += turn(gen_);
            const double nx = p.x + 0.35 * cos4(p.heading), nz = p.z + 0.35 * cos4(p.heading - 1.5708);
            if (nx < 2 || nz < 2 || nx > kWorld - 3 || nz > kWorld - 3) { p.heading += 2.2; continue; }
            p.x = nx;
            p.z = nz;
            if (gen_() % 24 == 0) edit(p);
        }
    }

    // Water spreads down, then sideways where it stands on something.
    void flow() {
        size_t budget = std::min<size_t>(flow_.size(), 400);
        while (budget--) {
            const std::array<int, 3> c = flow_.front();
            flow_.pop_front();
            const int x = c[0], y = c[1], z = c[2];
            if (x < 0 || z < 0 || x >= kWorld || z >= kWorld || y < 1 || y > 10 || get(x, y, z) != Air) continue;
            bool wet = get(x, y + 1, z) == Water;
            for (int k = 0; k < 4 && !wet; k++) wet = get(x + kSides[k][0], y, z + kSides[k][2]) == Water;
            if (wet) set(x, y, z, Water);
        }
    }

    int remesh() {
        int n = 0;
        for (int cz = 0; cz < kSide; cz++)
            for (int cx = 0; cx < kSide; cx++) {
                Chunk& c = chunks_[cz * kSide + cx];
                if (c.meshed > c.revision) continue;
                build_mesh(c, cx * kSize, cz * kSize);
                c.meshed = c.revision + 1;
                n++;
            }
        return n;
    }

    uint64_t snapshot() const {
        uint64_t h = 14695981039346656037ULL;
        for (const Chunk& c : chunks_) h = (h ^ c.mesh_hash) * 1099511628211ULL;
        return h;
    }

    // Each player is sent what he can see: blocks hit by a fan of rays.
    uint64_t visibility() const {
        uint64_t seen = 0;
        for (const Player& p : players_)
            for (int r = 0; r < 360; r++) {
                double x = p.x, z = p.z, y = top(int(x), int(z)) + 1.6;
                const double a = p.heading + (r - 180) * 0.005, dx = cos4(a) * 0.5, dz = cos4(a - 1.5708) * 0.5;
                for (int s = 0; s < 60 && get(int(x), int(y), int(z)) == Air; s++) { x += dx; z += dz; y -= 0.04; seen++; }
            }
        return seen;
    }

    size_t quads() const { size_t n = 0; for (const Chunk& c : chunks_) n += c.mesh.size(); return n; }
    int edits() const { int n = 0; for (const Player& p : players_) n += p.digs + p.builds; return n; }

private:
    static constexpr int kSides[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}, {0, 1, 0}, {0, -1, 0}};
    std::mt19937 gen_;
    std::vector<Chunk> chunks_;
    std::vector<Player> players_;
    std::deque<std::array<int, 3>> flow_;

    static uint32_t noise(int x, int z) {
        uint32_t h = uint32_t(x) * 374761393u + uint32_t(z) * 668265263u;
        h = (h ^ (h >> 13)) * 1274126177u;
        return h ^ (h >> 16);
    }
    static double cos4(double a) {     // the clients use the same approximation
        a = a / 6.283185307179586;
        a -= 0.25 + double(int64_t(a + 0.25 + 1024) - 1024);
        a *= 16.0 * ((a < 0 ? -a : a) - 0.5);
        return a + 0.225 * a * ((a < 0 ? -a : a) - 1.0);
    }
    static size_t index(int x, int y, int z) { return size_t((y * kSize + z % kSize) * kSize + x % kSize); }
    const Chunk& chunk(int x, int z) const { return chunks_[(z / kSize) * kSide + x / kSize]; }
    Chunk& chunk(int x, int z) { return chunks_[(z / kSize) * kSide + x / kSize]; }
    void put(int x, int y, int z, uint8_t b) { chunk(x, z).blocks[index(x, y, z)] = b; }
    void touch(int x, int z) { if (x >= 0 && z >= 0 && x < kWorld && z < kWorld) chunk(x, z).revision++; }
    int top(int x, int z) const { int y = kHeight - 1; while (y > 0 && get(x, y, z) == Air) y--; return y; }

    void edit(Player& p) {
        const int x = int(p.x + 1), z = int(p.z + 1), y = top(x, z);
        if (gen_() % 3) { if (y > 2) { set(x, y, z, Air); p.digs++; } }
        else if (y < kHeight - 4) { set(x, y + 1, z, Stone); p.builds++; }
    }

    void build_mesh(Chunk& c, int ox, int oz) {
        c.mesh.clear();
        uint64_t hash = 1469598103934665603ULL;
        for (int face = 0; face < 6; face++) {
            const int* d = kSides[face];
            for (int y = 0; y < kHeight; y++) {
                uint8_t mask[kSize][kSize];
                for (int z = 0; z < kSize; z++)
                    for (int x = 0; x < kSize; x++) {
                        const uint8_t b = c.blocks[index(x, y, z)];
                        const uint8_t o = b == Air ? uint8_t(Stone) : get(ox + x + d[0], y + d[1], oz + z + d[2]);
                        mask[z][x] = b != Air && (o == Air || (o == Water && b != Water)) ? b : uint8_t(Air);
                    }
                for (int z = 0; z < kSize; z++)
                    for (int x = 0; x < kSize; x++) {
                        const uint8_t b = mask[z][x];
                        if (b == Air) continue;
                        int w = 1, h = 1;
                        while (x + w < kSize && mask[z][x + w] == b) w++;
                        for (bool ok = true; ok && z + h < kSize;) {
                            for (int k = 0; k < w && ok; k++) ok = mask[z + h][x + k] == b;
                            if (ok) h++;
                        }
                        for (int j = 0; j < h; j++) std::fill_n(&mask[z + j][x], w, uint8_t(Air));
                        const Quad q{uint8_t(x), uint8_t(y), uint8_t(z), uint8_t(w), uint8_t(h), uint8_t(face), b};
                        c.mesh.push_back(q);
                        for (uint8_t v : {q.x, q.y, q.z, q.w, q.h, q.face, q.block}) hash = (hash ^ v) * 1099511628211ULL;
                    }
            }
        }
        c.mesh_hash = hash;
    }
};

int main() {
    World world(4711);
    uint64_t check = 0, seen = 0;
    for (int tick = 0; tick < kTicks; tick++) {
        DWELL_STEP();
        world.move_players();
        world.flow();
        world.remesh();
        seen += world.visibility();
        check = check * 31 + world.snapshot();
    }
    printf("ticks %d edits %d quads %zu seen %llu check %016llx\n", kTicks, world.edits(), world.quads(),
           (unsigned long long)seen, (unsigned long long)check);
}
