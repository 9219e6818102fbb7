// In-memory positional index for the help-centre search: builds the index
// from generated articles and answers a query log with BM25 and a bonus for
// terms that stand next to each other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr int DOCS = 13000;
constexpr int VOCAB = 20000;
constexpr int QUERIES = 2000;
constexpr int TOP = 10;

struct Posting {
    uint32_t doc;
    std::vector<uint32_t> positions;
};

using PostingList = std::vector<Posting>;

struct Hit {
    double score;
    uint32_t doc;
};

std::string word(int id)
{
    static const char *syl[] = {"ka", "ro", "mi", "ten", "lu", "sa", "vor", "ne", "pi", "dal"};
    std::string w;
    do {
        w += syl[id % 10];
        id /= 10;
    } while (id);
    return w;
}

class ZipfWords {
public:
    ZipfWords() : cdf_(VOCAB)
    {
        double sum = 0;
        for (int i = 0; i < VOCAB; i++)
            cdf_[i] = sum += 1.0 / (i + 8);
        for (double &c : cdf_)
            c /= sum;
    }

    int pick(std::mt19937 &rng) const
    {
        double u = std::uniform_real_distribution<double>(0, 1)(rng);
        return std::min<int>(VOCAB - 1, std::lower_bound(cdf_.begin(), cdf_.end(), u) - cdf_.begin());
    }

private:
    std::vector<double> cdf_;
};

class Index {
public:
    void add(uint32_t doc, const std::vector<std::string> &words)
    {
        lengths_.push_back((uint32_t)words.size());
        total_ += words.size();
        for (uint32_t pos = 0; pos < words.size(); pos++) {
            PostingList &list = terms_[words[pos]];
            if (list.empty() || list.back().doc != doc) list.push_back({doc, {}});
            list.back().positions.push_back(pos);
        }
    }

    PostingList postings(const std::string &term) const
    {
        auto it = terms_.find(term);
        return it == terms_.end() ? PostingList() : it->second;
    }

    size_t docs() const { return lengths_.size(); }
    double average() const { return (double)total_ / lengths_.size(); }
    uint32_t length(uint32_t doc) const { return lengths_[doc]; }

private:
    std::unordered_map<std::string, PostingList> terms_;
    std::vector<uint32_t> lengths_;
    uint64_t total_ = 0;
};

class Searcher {
public:
    explicit Searcher(const Index &index) : index_(index), scores_(index.docs()) {}

    std::vector<Hit> search(const std::vector<std::string> &query)
    {
        for (size_t t = 0; t < query.size(); t++) {
            const auto &list = index_.postings(query[t]);
            score_term(list);
            if (t > 0) score_adjacent(index_.postings(query[t - 1]), list);
        }
        std::vector<Hit> hits;
        hits.reserve(touched_.size());
        for (uint32_t d : touched_) {
            hits.push_back({scores_[d], d});
            scores_[d] = 0;
        }
        touched_.clear();
        size_t k = std::min<size_t>(TOP, hits.size());
        std::partial_sort(hits.begin(), hits.begin() + k, hits.end(), [](const Hit &a, const Hit &b) {
            return a.score != b.score ? a.score > b.score : a.doc < b.doc;
        });
        hits.resize(k);
        return hits;
    }

private:
    void score_term(const PostingList &list)
    {
        const double k1 = 1.2, b = 0.75, n = index_.docs(), avg = index_.average();
        const double idf = std::log(1 + (n - list.size() + 0.5) / (list.size() + 0.5));
        for (const Posting &p : list) {
            double tf = p.positions.size();
            if (scores_[p.doc] == 0) touched_.push_back(p.doc);
            scores_[p.doc] +=
                idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * index_.length(p.doc) / avg));
        }
    }

    void score_adjacent(const PostingList &left, const PostingList &right)
    {
        auto l = left.begin();
        for (const Posting &r : right) {
            while (l != left.end() && l->doc < r.doc)
                ++l;
            if (l == left.end()) return;
            if (l->doc != r.doc) continue;
            size_t i = 0, pairs = 0;
            for (uint32_t pos : r.positions) {
                while (i < l->positions.size() && l->positions[i] + 1 < pos)
                    i++;
                if (i < l->positions.size() && l->positions[i] + 1 == pos) pairs++;
            }
            scores_[r.doc] += 0.8 * pairs;
        }
    }

    const Index &index_;
    std::vector<double> scores_;
    std::vector<uint32_t> touched_;
};

}  // namespace

int main()
{
    std::mt19937 rng(31);
    ZipfWords words;
    Index index;
    for (uint32_t d = 0; d < DOCS; d++) {
        std::vector<std::string> text(120 + rng() % 240);
        for (auto &w : text)
            w = word(words.pick(rng));
        index.add(d, text);
    }
    Searcher searcher(index);
    size_t found = 0;
    double best = 0;
    uint32_t check = 0;
    for (int q = 0; q < QUERIES; q++) {
        std::vector<std::string> query(2 + rng() % 3);
        for (auto &w : query)
            w = word(words.pick(rng));
        auto hits = searcher.search(query);
        found += hits.size();
        if (!hits.empty()) {
            best += hits[0].score;
            check = check * 31 + hits[0].doc;
        }
    }
    std::printf("docs %zu queries %d hits %zu mean best %.5f check %08x\n", index.docs(), QUERIES,
                found, best / QUERIES, check);
    return 0;
}
