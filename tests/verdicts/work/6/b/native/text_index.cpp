// text_index: builds the search index of the help-centre articles and answers
// a log of queries with BM25.
//
// Postings are delta-coded in byte streams; queries are ranked with a bounded
// heap. The articles are synthetic: Zipf-distributed words with morphology.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kArticles = 40000;
constexpr int kWordsPerArticle = 220;
constexpr int kLexicon = 40000;
constexpr int kQueries = 18000;
constexpr std::size_t kTop = 10;

class Corpus {
public:
    explicit Corpus(std::uint32_t seed) : rng_(seed) {
        const char* onset[] = {"b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "st", "pr", "tr", "gl"};
        const char* vowel[] = {"a", "e", "i", "o", "u", "ea", "io"};
        lexicon_.reserve(kLexicon);
        for (int i = 0; i < kLexicon; ++i) {
            std::string w;
            for (int s = 0, n = 2 + i % 3; s < n; ++s) w.append(onset[rng_() % 16]).append(vowel[rng_() % 7]);
            lexicon_.push_back(std::move(w));
        }
        cumulative_.reserve(kLexicon);
        double sum = 0;
        for (int i = 0; i < kLexicon; ++i) cumulative_.push_back(sum += 1.0 / (i + 8.0));
    }

    const std::string& word() {
        double u = std::uniform_real_distribution<double>(0, cumulative_.back())(rng_);
        return lexicon_[std::lower_bound(cumulative_.begin(), cumulative_.end(), u) - cumulative_.begin()];
    }

    void article(std::string& out) {
        out.clear();
        int n = kWordsPerArticle / 2 + int(rng_() % kWordsPerArticle);
        for (int i = 0; i < n; ++i) {
            std::size_t at = out.size();
            out += word();
            if (rng_() % 12 == 0) out[at] = char(out[at] - 32);
            unsigned r = rng_() % 20;
            out += r == 0 ? "ing" : r == 1 ? "ed" : r == 2 ? "s" : "";
            out += rng_() % 15 == 0 ? ". " : " ";
        }
    }

private:
    std::mt19937 rng_;
    std::vector<std::string> lexicon_;
    std::vector<double> cumulative_;
};

// Calls f(term) for the lower-cased, lightly stemmed words of the text.
template <class F>
void tokenize(std::string_view text, std::string& term, F f) {
    auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    for (std::size_t i = 0; i < text.size();) {
        while (i < text.size() && !letter(text[i])) ++i;
        term.clear();
        for (; i < text.size() && letter(text[i]); ++i) term.push_back(char(text[i] | 0x20));
        if (term.empty()) break;
        std::string_view v = term;
        if (v.size() > 5 && v.substr(v.size() - 3) == "ing") term.resize(v.size() - 3);
        else if (v.size() > 4 && v.substr(v.size() - 2) == "ed") term.resize(v.size() - 2);
        else if (v.size() > 3 && v.back() == 's') term.pop_back();
        f(term);
    }
}

struct Posting {
    std::vector<std::uint8_t> bytes;
    std::uint32_t documents = 0, last = 0;
};

class Index {
public:
    void add(std::uint32_t doc, std::string_view text) {
        counts_.clear();
        std::uint32_t length = 0;
        tokenize(text, term_, [&](const std::string& t) {
            auto [it, fresh] = terms_.try_emplace(t, std::uint32_t(postings_.size()));
            if (fresh) postings_.emplace_back();
            counts_.push_back(it->second);
            ++length;
        });
        std::sort(counts_.begin(), counts_.end());
        for (std::size_t i = 0, j; i < counts_.size(); i = j) {
            for (j = i; j < counts_.size() && counts_[j] == counts_[i];) ++j;
            Posting& p = postings_[counts_[i]];
            put(p.bytes, doc - p.last);
            put(p.bytes, std::uint32_t(j - i));
            p.last = doc;
            ++p.documents;
        }
        lengths_.push_back(length);
        words_ += length;
    }

    void seal() {
        const double average = double(words_) / double(lengths_.size());
        norm_.reserve(lengths_.size());
        for (std::uint32_t n : lengths_) norm_.push_back(float(1.2 * (0.25 + 0.75 * n / average)));
        score_.assign(lengths_.size(), 0.0f);
    }

    std::vector<std::pair<float, std::uint32_t>> search(std::string_view query) {
        touched_.clear();
        tokenize(query, term_, [&](const std::string& t) {
            auto it = terms_.find(t);
            if (it == terms_.end()) return;
            const Posting& p = postings_[it->second];
            const float idf = std::log(1.0f + (float(lengths_.size()) - p.documents + 0.5f) / (p.documents + 0.5f));
            const std::uint8_t *b = p.bytes.data(), *end = b + p.bytes.size();
            std::uint32_t doc = 0;
            while (b < end) {
                doc += get(b);
                float tf = float(get(b));
                if (score_[doc] == 0.0f) touched_.push_back(doc);
                score_[doc] += idf * tf * 2.2f / (tf + norm_[doc]);
            }
        });
        using Entry = std::pair<float, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> best;
        for (std::uint32_t d : touched_) {
            if (best.size() < kTop) best.push({score_[d], d});
            else if (score_[d] > best.top().first) best.pop(), best.push({score_[d], d});
            score_[d] = 0.0f;
        }
        std::vector<Entry> out;
        for (; !best.empty(); best.pop()) out.push_back(best.top());
        std::reverse(out.begin(), out.end());
        return out;
    }

    std::size_t terms() const { return terms_.size(); }
    std::uint64_t words() const { return words_; }

private:
    static void put(std::vector<std::uint8_t>& b, std::uint32_t v) {
        for (; v >= 0x80; v >>= 7) b.push_back(std::uint8_t(v | 0x80));
        b.push_back(std::uint8_t(v));
    }
    static std::uint32_t get(const std::uint8_t*& b) {
        std::uint32_t v = *b & 0x7f;
        for (int shift = 7; *b++ & 0x80; shift += 7) v |= std::uint32_t(*b & 0x7f) << shift;
        return v;
    }

    std::unordered_map<std::string, std::uint32_t> terms_;
    std::vector<Posting> postings_;
    std::vector<std::uint32_t> lengths_, counts_, touched_;
    std::vector<float> norm_, score_;
    std::string term_;
    std::uint64_t words_ = 0;
};

}  // namespace

int main() {
    Corpus corpus(404);
    Index index;
    std::string text;
    for (std::uint32_t d = 0; d < kArticles; ++d) {
        corpus.article(text);
        index.add(d, text);
    }
    index.seal();
    double top = 0;
    std::uint64_t results = 0, check = 0;
    for (int q = 0; q < kQueries; ++q) {
        text = corpus.word() + " " + corpus.word() + " " + corpus.word();
        auto hits = index.search(text);
        results += hits.size();
        for (const auto& h : hits) check = check * 31 + h.second;
        if (!hits.empty()) top += hits.front().first;
    }
    std::printf("articles %d  words %llu  terms %zu\n", kArticles, (unsigned long long)index.words(), index.terms());
    std::printf("queries %d  results %llu  mean top score %.4f  check %016llx\n", kQueries,
                (unsigned long long)results, top / kQueries, (unsigned long long)check);
    return 0;
}
