// Summarises web access logs: hits and bytes per route, status classes and a
// latency histogram.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace {

struct Entry {
    std::string client, method, path;
    int status = 0;
    long bytes = 0;
    double ms = 0;
};

struct RouteStats {
    long hits = 0, bytes = 0, errors = 0;
    std::array<long, 12> latency{};
};

std::vector<std::string> make_log(size_t lines)
{
    static const char* const paths[] = {"/", "/search", "/item/", "/cart", "/api/v2/stock/", "/static/app.js", "/login"};
    static const char* const methods[] = {"GET", "GET", "GET", "POST", "PUT"};
    static const int codes[] = {200, 200, 200, 204, 301, 404, 500};
    std::mt19937 rng(2024);
    std::vector<std::string> log;
    log.reserve(lines);
    char buf[256];
    for (size_t i = 0; i < lines; i++) {
        std::string path = paths[rng() % 7];
        if (path.size() > 1 && path.back() == '/')
            path += std::to_string(rng() % 5000);
        if (rng() % 40 == 0)
            std::snprintf(buf, sizeof buf, "-- rotated segment %zu --", i);
        else
            std::snprintf(buf, sizeof buf, "10.%u.%u.%u [%zu] \"%s %s\" %d %u %.1fms", unsigned(rng() % 256),
                          unsigned(rng() % 256), unsigned(rng() % 256), 1700000000 + i / 50, methods[rng() % 5],
                          path.c_str(), codes[rng() % 7], unsigned(rng() % 90000), double(rng() % 9000) / 10.0);
        log.emplace_back(buf);
    }
    return log;
}

std::optional<Entry> parse_entry(const std::string& line)
{
    static const std::regex format(
        R"re(^(\d+\.\d+\.\d+\.\d+) \[(\d+)\] "(GET|POST|PUT|DELETE) ([^" ]+)" (\d{3}) (\d+) (\d+\.\d)ms$)re");
    std::smatch m;
    if (!std::regex_match(line, m, format))
        return std::nullopt;
    Entry e;
    e.client = m[1];
    e.method = m[3];
    e.path = m[4];
    e.status = std::atoi(m[5].str().c_str());
    e.bytes = std::atol(m[6].str().c_str());
    e.ms = std::atof(m[7].str().c_str());
    return e;
}

std::string route_of(const std::string& path)
{
    size_t end = path.size();
    while (end > 0 && path[end - 1] >= '0' && path[end - 1] <= '9')
        end--;
    return end == path.size() ? path : path.substr(0, end) + ":id";
}

size_t latency_bucket(double ms)
{
    size_t b = 0;
    while (ms > 1.0 && b < 11) {
        ms /= 2;
        b++;
    }
    return b;
}

void add_entry(std::map<std::string, RouteStats>& stats, const Entry& e)
{
    RouteStats& r = stats[e.method + " " + route_of(e.path)];
    r.hits++;
    r.bytes += e.bytes;
    r.errors += e.status >= 500;
    r.latency[latency_bucket(e.ms)]++;
}

// Width of the bootstrap interval of the 95th latency percentile.
double p95_interval(const std::vector<double>& ms, int resamples)
{
    std::minstd_rand rng(3);
    std::vector<double> sample(ms.size()), p95;
    size_t rank = ms.size() * 95 / 100;
    for (int i = 0; i < resamples; i++) {
        for (double& v : sample)
            v = ms[rng() % ms.size()];
        auto nth = sample.begin() + static_cast<long>(rank);
        std::nth_element(sample.begin(), nth, sample.end());
        p95.push_back(*nth);
    }
    std::sort(p95.begin(), p95.end());
    return p95[p95.size() * 39 / 40] - p95[p95.size() / 40];
}

uint64_t digest(const std::map<std::string, RouteStats>& stats)
{
    uint64_t h = 7;
    for (const auto& [route, r] : stats) {
        for (char c : route)
            h = h * 31 + static_cast<unsigned char>(c);
        h = h * 31 + static_cast<uint64_t>(r.hits + r.bytes + r.errors);
        for (long n : r.latency)
            h = h * 31 + static_cast<uint64_t>(n);
    }
    return h;
}

}  // namespace

int main(int argc, char** argv)
{
    size_t lines = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16000;
    std::map<std::string, RouteStats> stats;
    std::vector<double> ms;
    size_t skipped = 0;
    for (const std::string& line : make_log(lines)) {
        if (auto e = parse_entry(line)) {
            add_entry(stats, *e);
            ms.push_back(e->ms);
        } else {
            skipped++;
        }
    }
    std::printf("routes %zu skipped %zu p95 width %.2f digest %016llx\n", stats.size(), skipped,
                p95_interval(ms, 6000), static_cast<unsigned long long>(digest(stats)));
    return 0;
}
