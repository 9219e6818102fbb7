// Build a compressed inverted index over generated messages and answer AND queries.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// The documents of one word, as differences in variable-length bytes.
struct List {
    std::vector<uint8_t> bytes;
    uint32_t last = 0, count = 0;
    void add(uint32_t doc) {
        uint32_t d = doc - last;
        for (; d >= 128; d >>= 7) bytes.push_back(uint8_t(d | 128));
        bytes.push_back(uint8_t(d));
        last = doc;
        ++count;
    }
};

class Reader {
public:
    explicit Reader(const List& l) : p_(l.bytes.data()), end_(p_ + l.bytes.size()) { next(); }
    bool done() const { return done_; }
    uint32_t doc() const { return doc_; }
    void next() {
        if (p_ == end_) { done_ = true; return; }
        uint32_t d = 0;
        int shift = 0;
        for (; *p_ >= 128; shift += 7) d |= uint32_t(*p_++ & 127) << shift;
        doc_ += d | uint32_t(*p_++) << shift;
    }
    void reach(uint32_t doc) { while (!done_ && doc_ < doc) next(); }

private:
    const uint8_t *p_, *end_;
    uint32_t doc_ = 0;
    bool done_ = false;
};

class Index {
public:
    Index() { words_.reserve(30000); }
    void add(uint32_t doc, std::string_view text) {
        size_t i = 0;
        while (i < text.size()) {
            while (i < text.size() && !letter(text[i])) ++i;
            size_t from = i;
            while (i < text.size() && letter(text[i])) ++i;
            if (i == from) break;
            auto [at, fresh] = words_.try_emplace(text.substr(from, i - from), uint32_t(lists_.size()));
            if (fresh) lists_.emplace_back();
            List& l = lists_[at->second];
            if (l.count == 0 || l.last != doc) l.add(doc);
            ++tokens;
        }
    }
    size_t both(const std::vector<std::string>& words, uint32_t& sum) const {
        std::vector<const List*> lists;
        for (const auto& w : words) {
            auto at = words_.find(w);
            if (at == words_.end()) return 0;
            lists.push_back(&lists_[at->second]);
        }
        std::sort(lists.begin(), lists.end(), [](auto* a, auto* b) { return a->count < b->count; });
        std::vector<Reader> readers;
        for (const List* l : lists) readers.emplace_back(*l);
        size_t n = 0;
        for (; !readers[0].done(); readers[0].next()) {
            uint32_t doc = readers[0].doc();
            bool all = true;
            for (size_t k = 1; k < readers.size() && all; ++k) {
                readers[k].reach(doc);
                all = !readers[k].done() && readers[k].doc() == doc;
            }
            if (all) { ++n; sum = sum * 31 + doc; }
        }
        return n;
    }
    size_t bytes() const {
        size_t n = 0;
        for (const List& l : lists_) n += l.bytes.size();
        return n;
    }
    size_t words() const { return lists_.size(); }
    size_t tokens = 0;

private:
    static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
    std::unordered_map<std::string_view, uint32_t> words_;   // views into the archive's text
    std::vector<List> lists_;
};

class Author {
public:
    std::string word(uint32_t n) const {
        static const char* part[] = {"ka", "lo", "mi", "ter", "sun", "bo", "re", "ni", "gal", "pex", "tu", "vor", "shi", "el", "dra", "qua"};
        std::string w;
        do w += part[n & 15]; while (n >>= 4);
        return w;
    }
    uint32_t draw() {
        s_ = s_ * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t r = uint32_t(s_ >> 32);
        return (r & 0x3FFF) >> (r >> 14 & 15) % 12;
    }

private:
    uint64_t s_ = 77;
};

int main() {
    auto start = Clock::now();
    Author author;
    const uint32_t documents = 110000;
    std::vector<std::string> dictionary;
    for (uint32_t n = 0; n < 0x4000; ++n) dictionary.push_back(author.word(n));
    std::string text;
    text.reserve(documents * 560ul);
    std::vector<size_t> begins;
    for (uint32_t d = 0; d < documents; ++d) {
        begins.push_back(text.size());
        for (int i = 0; i < 70; ++i) {
            text += dictionary[author.draw()];
            text += i % 9 == 8 ? ". " : " ";
        }
    }
    begins.push_back(text.size());
    Index index;
    for (uint32_t d = 0; d < documents; ++d) index.add(d, std::string_view(text).substr(begins[d], begins[d + 1] - begins[d]));
    printf("%zu words of text, %zu different ones, index of %zu bytes\n", index.tokens, index.words(), index.bytes());
    size_t found = 0;
    uint32_t sum = 0;
    for (int q = 0; q < 12000; ++q) {
        std::vector<std::string> asked;
        for (int i = 0; i < 2 + q % 2; ++i) asked.push_back(dictionary[author.draw()]);
        found += index.both(asked, sum);
    }
    printf("12000 queries found %zu documents, checksum %08x\n", found, sum);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}
