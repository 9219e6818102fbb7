// Imports questionnaire exports: splits the rows, converts the answers,
// computes per-question moments and the correlation matrix.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kQuestions = 30;

struct Table {
    std::vector<double> v;
    size_t rows() const { return v.size() / kQuestions; }
};

std::string make_export(size_t rows)
{
    std::mt19937 rng(77);
    std::uniform_real_distribution<double> u(0, 1);
    std::string out;
    char buf[32];
    for (size_t r = 0; r < rows; r++) {
        double mood = u(rng);
        for (size_t q = 0; q < kQuestions; q++) {
            double p = u(rng);
            if (p < 0.28) {
                out += p < 0.2 ? "" : "n/a";
            } else {
                std::snprintf(buf, sizeof buf, "%.2f", 1.0 + 4.0 * (0.6 * mood + 0.4 * p));
                out += buf;
            }
            out += q + 1 < kQuestions ? ';' : '\n';
        }
    }
    return out;
}

double to_answer(const std::string& field)
{
    try {
        return std::stod(field);
    } catch (const std::invalid_argument&) {
        return std::numeric_limits<double>::quiet_NaN();
    }
}

void parse_row(std::string_view row, std::vector<double>& out)
{
    size_t at = 0;
    for (size_t q = 0; q < kQuestions; q++) {
        size_t end = row.find(';', at);
        if (end == std::string_view::npos)
            end = row.size();
        out.push_back(to_answer(std::string(row.substr(at, end - at))));
        at = end + 1;
    }
}

Table parse_export(const std::string& text)
{
    Table t;
    std::string_view rest(text);
    while (!rest.empty()) {
        size_t nl = rest.find('\n');
        parse_row(rest.substr(0, nl), t.v);
        rest.remove_prefix(nl + 1);
    }
    return t;
}

std::vector<double> question_means(const Table& t)
{
    std::vector<double> sum(kQuestions, 0), n(kQuestions, 0);
    for (size_t i = 0; i < t.v.size(); i++)
        if (!std::isnan(t.v[i])) {
            sum[i % kQuestions] += t.v[i];
            n[i % kQuestions] += 1;
        }
    for (size_t q = 0; q < kQuestions; q++)
        sum[q] /= n[q];
    return sum;
}

double mean_correlation(const Table& t, const std::vector<double>& mean)
{
    double acc = 0;
    for (size_t a = 0; a < kQuestions; a++)
        for (size_t b = a + 1; b < kQuestions; b++) {
            double ab = 0, aa = 0, bb = 0;
            for (size_t r = 0; r < t.rows(); r++) {
                double x = t.v[r * kQuestions + a] - mean[a];
                double y = t.v[r * kQuestions + b] - mean[b];
                if (std::isnan(x) || std::isnan(y))
                    continue;
                ab += x * y;
                aa += x * x;
                bb += y * y;
            }
            acc += ab / std::sqrt(aa * bb);
        }
    return acc / (kQuestions * (kQuestions - 1) / 2);
}

}  // namespace

int main(int argc, char** argv)
{
    size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200000;
    std::string text = make_export(rows);
    Table t = parse_export(text);
    std::vector<double> mean = question_means(t);
    double grand = 0;
    for (double m : mean)
        grand += m;
    std::printf("rows %zu bytes %zu mean %.6f correlation %.6f\n", t.rows(), text.size(), grand / kQuestions,
                mean_correlation(t, mean));
    return 0;
}
