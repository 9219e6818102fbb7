// Assigns vehicle positions to delivery zones: a uniform grid over the zones
// narrows the candidates, an even-odd test decides.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "dwell.h"

namespace {

constexpr int kZones = 1800;
constexpr int kTicks = 650;
constexpr int kVehicles = 6000;
constexpr int kGrid = 96;

struct Point {
    double lon, lat;
};

struct Box {
    double west = 1e9, south = 1e9, east = -1e9, north = -1e9;

    void extend(Point p)
    {
        west = std::min(west, p.lon);
        east = std::max(east, p.lon);
        south = std::min(south, p.lat);
        north = std::max(north, p.lat);
    }
    bool contains(Point p) const { return p.lon >= west && p.lon <= east && p.lat >= south && p.lat <= north; }
};

struct Zone {
    int id;
    bool assigned;
    Box box;
    std::vector<Point> ring;
};

struct Vehicle {
    Point at;
    double heading;
    int zone;
};

bool inside(const std::vector<Point> &ring, Point p)
{
    bool in = false;
    for (size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
        const Point &a = ring[i], &b = ring[j];
        if ((a.lat > p.lat) != (b.lat > p.lat) &&
            p.lon < (b.lon - a.lon) * (p.lat - a.lat) / (b.lat - a.lat) + a.lon)
            in = !in;
    }
    return in;
}

Zone make_zone(int id, Point centre, double radius, std::mt19937 &rng)
{
    std::uniform_real_distribution<double> wobble(0.7, 1.3);
    Zone z{id, true, {}, {}};
    int corners = 24 + id % 17;
    for (int k = 0; k < corners; ++k) {
        double a = 2 * M_PI * k / corners, r = radius * wobble(rng);
        Point p{centre.lon + 1.6 * r * std::cos(a), centre.lat + r * std::sin(a)};
        z.ring.push_back(p);
        z.box.extend(p);
    }
    return z;
}

// As the planning system exports them: the position in the list is the id,
// also where a zone has not been drawn yet.
std::vector<Zone> load_zones(std::mt19937 &rng)
{
    std::uniform_real_distribution<double> lon(13.05, 13.75), lat(52.33, 52.68), size(0.003, 0.010);
    std::vector<Zone> zones;
    for (int id = 0; id < kZones; ++id) {
        if (id % 300 == 299) {
            Zone z{id, false, {}, {{0, 0}}};
            z.box.extend({0, 0});
            zones.push_back(z);
        } else {
            Point centre{lon(rng), lat(rng)};
            double radius = size(rng);
            zones.push_back(make_zone(id, centre, radius, rng));
        }
    }
    return zones;
}

class ZoneIndex {
public:
    explicit ZoneIndex(const std::vector<Zone> &zones) : zones_(zones), cells_(kGrid * kGrid)
    {
        for (const Zone &z : zones_) {
            if (!z.assigned)
                continue;
            bounds_.extend({z.box.west, z.box.south});
            bounds_.extend({z.box.east, z.box.north});
        }
        for (const Zone &z : zones_) {
            if (!z.assigned)
                continue;
            for (int y = row(z.box.south); y <= row(z.box.north); ++y)
                for (int x = column(z.box.west); x <= column(z.box.east); ++x)
                    cells_[size_t(y * kGrid + x)].push_back(z.id);
        }
    }

    int find(Point p) const
    {
        for (int id : cells_[size_t(row(p.lat) * kGrid + column(p.lon))]) {
            const Zone &z = zones_[size_t(id)];
            if (z.box.contains(p) && inside(z.ring, p))
                return id;
        }
        return -1;
    }

private:
    const std::vector<Zone> &zones_;
    std::vector<std::vector<int>> cells_;
    Box bounds_;

    static int clamp(double v) { return std::clamp(int(v), 0, kGrid - 1); }
    int column(double lon) const { return clamp((lon - bounds_.west) / (bounds_.east - bounds_.west) * kGrid); }
    int row(double lat) const { return clamp((lat - bounds_.south) / (bounds_.north - bounds_.south) * kGrid); }
};

class Fleet {
public:
    Fleet() : rng_(77)
    {
        std::uniform_real_distribution<double> lon(13.05, 13.75), lat(52.33, 52.68), turn(0, 2 * M_PI);
        for (int i = 0; i < kVehicles; ++i) {
            Point p{lon(rng_), lat(rng_)};
            vehicles_.push_back({p, turn(rng_), -1});
        }
    }

    void advance()
    {
        std::normal_distribution<double> swerve(0, 0.3);
        for (Vehicle &v : vehicles_) {
            v.heading += swerve(rng_);
            v.at.lon += 0.0012 * std::cos(v.heading);
            v.at.lat += 0.0008 * std::sin(v.heading);
            if (v.at.lon < 13.0 || v.at.lon > 13.8 || v.at.lat < 52.3 || v.at.lat > 52.7)
                v.heading += M_PI;
        }
    }

    std::vector<Vehicle> &vehicles() { return vehicles_; }

private:
    std::mt19937 rng_;
    std::vector<Vehicle> vehicles_;
};

} // namespace

int main()
{
    std::mt19937 rng(4242);
    std::vector<Zone> zones = load_zones(rng);
    ZoneIndex index(zones);
    Fleet fleet;
    std::vector<long> seconds(kZones);
    long crossings = 0, outside = 0;
    for (int tick = 0; tick < kTicks; ++tick) {
        fleet.advance();
        for (Vehicle &v : fleet.vehicles()) {
            int zone = index.find(v.at);
            crossings += zone != v.zone;
            if (zone < 0)
                ++outside;
            else
                ++seconds[size_t(zone)];
            v.zone = zone;
        }
        DWELL_STEP();
    }
    auto busiest = std::max_element(seconds.begin(), seconds.end());
    std::printf("positions %d outside %ld crossings %ld\n", kTicks * kVehicles, outside, crossings);
    std::printf("busiest zone %ld with %ld\n", long(busiest - seconds.begin()), *busiest);
    return 0;
}
