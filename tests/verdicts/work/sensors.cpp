// Daily statistics from a semicolon-separated export of weather stations.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Column { std::string name; long good = 0, missing = 0; double sum = 0, squares = 0, low = 1e9, high = -1e9; };

static double gap_time;

#ifdef REPAIRED
static bool number(const std::string& text, double& value) {
    char* end;
    value = std::strtod(text.c_str(), &end);
    return end != text.c_str();
}
#else
static double number(const std::string& text) {
    size_t used = 0;
    double v = std::stod(text, &used);
    if (used == 0) throw std::invalid_argument("not a number: " + text);
    return v;
}
#endif

static std::string make_export(int rows, int columns) {
    std::string out = "time";
    uint32_t s = 5;
    auto next = [&s](uint32_t m) { s = s * 1664525u + 1013904223u; return (s >> 9) % m; };
    char text[32];
    for (int c = 0; c < columns; ++c) out += ";t" + std::to_string(c);
    out += '\n';
    for (int r = 0; r < rows; ++r) {
        snprintf(text, sizeof text, "%d", r * 600);
        out += text;
        for (int c = 0; c < columns; ++c) {
            double v = 12 + 9 * std::sin(r * 0.0436 + c) + 0.01 * next(300);
            if (next(100) < 22) out += next(2) ? ";n/a" : ";";
            else { snprintf(text, sizeof text, ";%.3f", v); out += text; }
        }
        out += '\n';
    }
    return out;
}

static void split(const std::string& text, size_t from, size_t to, std::vector<std::string>& fields) {
    fields.clear();
    while (from <= to) {
        size_t e = std::min(text.find(';', from), to);
        fields.push_back(text.substr(from, e - from));
        from = e + 1;
    }
}

static void enter(Column& c, double v, std::vector<double>& series) {
    ++c.good;
    c.sum += v;
    c.squares += v * v;
    c.low = std::min(c.low, v);
    c.high = std::max(c.high, v);
    series.push_back(v);
}

static void gap(Column& c, std::vector<double>& series) {
    ++c.missing;
    series.push_back(series.empty() ? 0 : series.back());
}

// Strongest period of a series: autocorrelation at lags of up to two days.
static int period(const std::vector<double>& x, double mean) {
    double best = -1e300;
    int lag = 0;
    for (int k = 60; k < 288; ++k) {
        double sum = 0;
        for (size_t i = k; i < x.size(); i += 8) sum += (x[i] - mean) * (x[i - k] - mean);
        if (sum > best) { best = sum; lag = k; }
    }
    return lag;
}

int main() {
    auto start = Clock::now();
    const int columns = 24;
    std::string text = make_export(140000, columns);
    std::vector<Column> table(columns);
    std::vector<std::vector<double>> series(columns);
    std::vector<std::string> fields;
    size_t at = text.find('\n');
    split(text, 0, at, fields);
    for (int c = 0; c < columns; ++c) table[c].name = fields[c + 1];
    long rows = 0;
    for (++at; at < text.size(); ++rows) {
        size_t end = text.find('\n', at);
        split(text, at, end, fields);
        for (int c = 0; c < columns; ++c) {
#ifdef REPAIRED
            double v;
            if (number(fields[c + 1], v)) enter(table[c], v, series[c]);
            else gap(table[c], series[c]);
#else
            auto t = Clock::now();
            try {
                enter(table[c], number(fields[c + 1]), series[c]);
            } catch (const std::invalid_argument&) {
                gap(table[c], series[c]);
                gap_time += since(t);
            }
#endif
        }
        at = end + 1;
    }
    for (int c = 0; c < columns; ++c) {
        const Column& k = table[c];
        double mean = k.sum / k.good;
        int p = period(series[c], mean);
        if (c % 6 == 0)
            printf("%s: mean %.3f, deviation %.3f, %.3f to %.3f, %ld missing, period %d\n", k.name.c_str(), mean,
                   std::sqrt(k.squares / k.good - mean * mean), k.low, k.high, k.missing, p);
    }
    printf("%ld rows\n", rows);
    double total = since(start);
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", gap_time / total, total);
}
