// In-memory full-text index with BM25 ranking.  Builds an index of generated
// support articles and answers a batch of queries with the ten best articles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr uint32_t kDocuments = 60000;
constexpr uint32_t kVocabulary = 20000;
constexpr uint32_t kQueries = 3000;
constexpr size_t kResults = 10;

struct Posting {
    uint32_t doc;
    uint16_t count;
};

struct Hit {
    uint32_t doc;
    float score;
};

// Draws term ranks with a Zipf-like law.
class TermSource {
public:
    explicit TermSource(uint32_t seed) : rng_(seed) {
        cumulative_.reserve(kVocabulary);
        double sum = 0.0;
        for (uint32_t r = 0; r < kVocabulary; ++r) cumulative_.push_back(sum += 1.0 / (r + 12.0));
    }
    uint32_t draw() {
        const double u = double(rng_()) / 4294967296.0 * cumulative_.back();
        return uint32_t(std::lower_bound(cumulative_.begin(), cumulative_.end(), u) - cumulative_.begin());
    }
    uint32_t uniform(uint32_t n) { return rng_() % n; }

private:
    std::mt19937 rng_;
    std::vector<double> cumulative_;
};

std::string word(uint32_t rank) {
    static const char* kSyllable[] = {"ka", "re", "mi", "to", "su", "la", "ne", "po", "vi", "du"};
    std::string w;
    for (uint32_t v = rank + 100; v > 0; v /= 10) w += kSyllable[v % 10];
    return w;
}

class Index {
public:
    void add(uint32_t doc, const std::vector<uint32_t>& terms, const std::vector<std::string>& words) {
        counts_.clear();
        for (uint32_t t : terms) ++counts_[t];
        for (const auto& [term, count] : counts_) {
            auto [it, inserted] = dictionary_.try_emplace(words[term], uint32_t(postings_.size()));
            if (inserted) postings_.emplace_back();
            postings_[it->second].push_back({doc, uint16_t(count)});
        }
        length_.push_back(uint32_t(terms.size()));
        total_length_ += terms.size();
    }

    void finish() {
        const double mean = double(total_length_) / double(length_.size());
        norm_.resize(length_.size());
        for (size_t i = 0; i < length_.size(); ++i)
            norm_[i] = float(kK1 * (1.0 - kB + kB * length_[i] / mean));
        score_.assign(length_.size(), 0.0f);
    }

    std::vector<Hit> search(const std::vector<std::string>& terms, size_t limit) {
        touched_.clear();
        for (const std::string& term : terms) {
            auto it = dictionary_.find(term);
            if (it == dictionary_.end()) continue;
            const std::vector<Posting>& list = postings_[it->second];
            const float idf = float(std::log(1.0 + (length_.size() - list.size() + 0.5) / (list.size() + 0.5)));
            for (const Posting& p : list) {
                if (score_[p.doc] == 0.0f) touched_.push_back(p.doc);
                score_[p.doc] += idf * p.count * float(kK1 + 1.0) / (p.count + norm_[p.doc]);
            }
        }
        std::vector<Hit> hits;
        hits.reserve(touched_.size());
        for (uint32_t doc : touched_) {
            hits.push_back({doc, score_[doc]});
            score_[doc] = 0.0f;
        }
        matched_ += hits.size();
        std::partial_sort(hits.begin(), hits.begin() + long(std::min(limit, hits.size())), hits.end(), better);
        if (hits.size() > limit) hits.resize(limit);
        return hits;
    }

    size_t terms() const { return dictionary_.size(); }
    uint64_t matched() const { return matched_; }

private:
    static bool better(const Hit& a, const Hit& b) {
        return a.score != b.score ? a.score > b.score : a.doc < b.doc;
    }

    static constexpr double kK1 = 1.2, kB = 0.75;
    std::unordered_map<std::string, uint32_t> dictionary_;
    std::unordered_map<uint32_t, uint32_t> counts_;
    std::vector<std::vector<Posting>> postings_;
    std::vector<uint32_t> length_, touched_;
    std::vector<float> norm_, score_;
    uint64_t total_length_ = 0, matched_ = 0;
};

}  // namespace

int main() {
    TermSource source(2718);
    std::vector<std::string> words;
    words.reserve(kVocabulary);
    for (uint32_t r = 0; r < kVocabulary; ++r) words.push_back(word(r));

    Index index;
    std::vector<uint32_t> terms;
    for (uint32_t doc = 0; doc < kDocuments; ++doc) {
        terms.clear();
        const uint32_t length = 40 + source.uniform(90);
        for (uint32_t i = 0; i < length; ++i) terms.push_back(source.draw());
        index.add(doc, terms, words);
    }
    index.finish();

    double best = 0.0;
    uint64_t digest = 1469598103934665603ull;
    for (uint32_t q = 0; q < kQueries; ++q) {
        std::vector<std::string> query;
        const uint32_t n = 2 + source.uniform(3);
        for (uint32_t i = 0; i < n; ++i) query.push_back(words[source.draw() % 2000]);
        for (const Hit& h : index.search(query, kResults)) {
            digest = (digest ^ h.doc) * 1099511628211ull;
            best = std::max(best, double(h.score));
        }
    }
    std::printf("documents %u, terms %zu, queries %u, matched %llu, best score %.4f, digest %016llx\n", kDocuments,
                index.terms(), kQueries, (unsigned long long)index.matched(), best, (unsigned long long)digest);
    return 0;
}
