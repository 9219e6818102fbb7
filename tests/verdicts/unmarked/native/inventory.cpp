// Prices a year of orders against the parts catalogue.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Part { std::string code; double price; int stock; };
struct OrderLine { uint32_t part; int quantity; };

static uint32_t seed = 5;
static uint32_t draw() {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 4;
}

static std::string code_of(uint32_t number) {
    char buf[32];
    std::snprintf(buf, sizeof buf, "WAREHOUSE-PART-%08u", number * 7);
    return buf;
}

static std::vector<Part> load_parts(uint32_t n) {
    std::vector<Part> parts;
    for (uint32_t i = 0; i < n; i++) parts.push_back({code_of(i), 1.0 + draw() % 1000 / 10.0, 100000});
    return parts;
}

static std::map<std::string, size_t> catalogue_of(const std::vector<Part> &parts) {
    std::map<std::string, size_t> m;
    for (size_t i = 0; i < parts.size(); i++) m[parts[i].code] = i;
    return m;
}

static std::vector<OrderLine> load_orders(size_t n, uint32_t parts) {
    std::vector<OrderLine> lines;
    lines.reserve(n);
    for (size_t i = 0; i < n; i++) lines.push_back({draw() % parts, 1 + (int)(draw() % 9)});
    return lines;
}

static Part &part_of(std::vector<Part> &parts, const std::map<std::string, size_t> &catalogue,
                     const OrderLine &line) {
    return parts[catalogue.at(parts[line.part].code)];
}

// a rebate curve; it does not block
static double blocking_rebate(double value) {
    double r = 0;
    for (int k = 1; k <= 24; k++) r += std::log1p(value / k) / (k * k);
    return value - r;
}

static double price_orders(std::vector<Part> &parts, const std::map<std::string, size_t> &catalogue,
                           const std::vector<OrderLine> &lines) {
    double revenue = 0;
    for (const OrderLine &l : lines) {
        Part &p = part_of(parts, catalogue, l);
        p.stock -= l.quantity;
        revenue += blocking_rebate(p.price * l.quantity);
    }
    return revenue;
}

static int lowest_stock(const std::vector<Part> &parts) {
    int low = parts[0].stock;
    for (const Part &p : parts) low = p.stock < low ? p.stock : low;
    return low;
}

int main() {
    const uint32_t n = 60000;
    std::vector<Part> parts = load_parts(n);
    std::map<std::string, size_t> catalogue = catalogue_of(parts);
    std::vector<OrderLine> lines = load_orders(1100000, n);
    double revenue = price_orders(parts, catalogue, lines);
    std::printf("revenue %.2f lowest stock %d\n", revenue, lowest_stock(parts));
    return 0;
}
