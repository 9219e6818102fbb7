// Summarises a station export: per-channel statistics over comma-separated readings.
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace station {

constexpr int kChannels = 14;

std::string make_export(size_t rows, uint32_t seed) {
    std::mt19937 rng(seed);
    std::string out;
    char cell[32];
    for (size_t r = 0; r < rows; ++r) {
        out += std::to_string(1700000000 + r * 60);
        for (int c = 0; c < kChannels; ++c) {
            out += ',';
            unsigned k = unsigned(rng() % 100);
            if (k < 9) continue;
            if (k < 13) {
                out += "n/a";
                continue;
            }
            double v = 15 + 8 * std::sin(r * 0.001 + c) + double(rng() % 1000) / 500.0;
            out.append(cell, size_t(std::snprintf(cell, sizeof cell, "%.3f", v)));
        }
        out += '\n';
    }
    return out;
}

class LineReader {
public:
    explicit LineReader(std::string_view text) : text_(text) {}
    bool next(std::vector<std::string_view>& cells) {
        if (at_ >= text_.size()) return false;
        cells.clear();
        size_t end = text_.find('\n', at_);
        std::string_view line = text_.substr(at_, end - at_);
        at_ = end + 1;
        size_t from = 0;
        for (;;) {
            size_t comma = line.find(',', from);
            if (comma == std::string_view::npos) {
                cells.push_back(line.substr(from));
                return true;
            }
            cells.push_back(line.substr(from, comma - from));
            from = comma + 1;
        }
    }

private:
    std::string_view text_;
    size_t at_ = 0;
};

std::optional<double> reading(std::string_view cell) {
    const std::string text(cell);
    char* end = nullptr;
    errno = 0;
    double v = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || size_t(end - text.c_str()) != text.size() || errno == ERANGE) return std::nullopt;
    return v;
}

class Channel {
public:
    void add(const std::optional<double>& v) {
        if (!v) {
            ++gaps_;
            return;
        }
        ++n_;
        double d = *v - mean_;
        mean_ += d / double(n_);
        m2_ += d * (*v - mean_);
        low_ = std::fmin(low_, *v);
        high_ = std::fmax(high_, *v);
        smooth_ += 0.01 * (*v - smooth_);
    }
    void print(int id) const {
        std::printf("ch%02d n=%llu gaps=%llu mean=%.5f sd=%.5f range=%.3f..%.3f smooth=%.4f\n", id,
                    (unsigned long long)n_, (unsigned long long)gaps_, mean_, std::sqrt(m2_ / double(n_)), low_,
                    high_, smooth_);
    }

private:
    uint64_t n_ = 0, gaps_ = 0;
    double mean_ = 0, m2_ = 0, smooth_ = 0;
    double low_ = std::numeric_limits<double>::infinity();
    double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace station

int main() {
    using namespace station;
    std::vector<Channel> channels(kChannels);
    std::vector<std::string_view> cells;
    uint64_t bad_rows = 0;
    const std::string text = make_export(100000, 9);
    for (int file = 0; file < 16; ++file) {
        LineReader reader(text);
        while (reader.next(cells)) {
            if (cells.size() != kChannels + 1) {
                ++bad_rows;
                continue;
            }
            for (int c = 0; c < kChannels; ++c) channels[size_t(c)].add(reading(cells[size_t(c) + 1]));
        }
    }
    for (int c = 0; c < kChannels; c += 3) channels[size_t(c)].print(c);
    std::printf("bad rows %llu\n", (unsigned long long)bad_rows);
    return 0;
}
