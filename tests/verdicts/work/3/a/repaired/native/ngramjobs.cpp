// Two worker threads fingerprint documents by character n-grams and merge the
// results into one shared index, which is then queried for near duplicates.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Document {
    uint32_t id = 0;
    std::string text;
};

struct Fingerprint {
    uint32_t id = 0;
    std::vector<uint64_t> minima;
};

static std::vector<Document> makeCorpus(int n) {
    std::vector<Document> docs;
    uint64_t s = 99991;
    auto roll = [&s](uint32_t m) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<uint32_t>((s >> 33) % m);
    };
    for (int i = 0; i < n; i++) {
        Document d;
        d.id = static_cast<uint32_t>(i);
        if (i > 10 && roll(5) == 0) {
            d.text = docs[roll(static_cast<uint32_t>(i))].text;
            for (int k = 0; k < 6; k++)
                d.text[roll(static_cast<uint32_t>(d.text.size()))] = 'x';
        } else {
            int words = 250 + static_cast<int>(roll(150));
            for (int w = 0; w < words; w++) {
                int len = 2 + static_cast<int>(roll(8));
                for (int k = 0; k < len; k++)
                    d.text += static_cast<char>('a' + roll(20));
                d.text += ' ';
            }
        }
        docs.push_back(std::move(d));
    }
    return docs;
}

static uint64_t mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

static Fingerprint fingerprint(const Document &d, int hashes) {
    Fingerprint f;
    f.id = d.id;
    f.minima.assign(static_cast<size_t>(hashes), UINT64_MAX);
    const size_t width = 7;
    for (size_t i = 0; i + width <= d.text.size(); i++) {
        uint64_t base = 1469598103934665603ull;
        for (size_t k = 0; k < width; k++)
            base = (base ^ static_cast<unsigned char>(d.text[i + k])) * 1099511628211ull;
        for (int h = 0; h < hashes; h++) {
            uint64_t v = mix(base + static_cast<uint64_t>(h) * 0x9E3779B97F4A7C15ull);
            if (v < f.minima[static_cast<size_t>(h)])
                f.minima[static_cast<size_t>(h)] = v;
        }
    }
    return f;
}

class Index {
public:
    void insert(const Document &d) {
        Fingerprint f = fingerprint(d, kHashes);
        std::lock_guard<std::mutex> guard(mutex_);
        for (int band = 0; band < kHashes / kRows; band++) {
            uint64_t key = static_cast<uint64_t>(band);
            for (int r = 0; r < kRows; r++)
                key = mix(key ^ f.minima[static_cast<size_t>(band * kRows + r)]);
            bands_[key].push_back(f.id);
        }
    }

    std::vector<std::pair<uint32_t, uint32_t>> nearDuplicates() const {
        std::vector<std::pair<uint32_t, uint32_t>> pairs;
        for (const auto &kv : bands_)
            for (size_t i = 0; i < kv.second.size(); i++)
                for (size_t j = i + 1; j < kv.second.size(); j++)
                    pairs.push_back(std::minmax(kv.second[i], kv.second[j]));
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }

private:
    static constexpr int kHashes = 64;
    static constexpr int kRows = 8;
    std::mutex mutex_;
    std::unordered_map<uint64_t, std::vector<uint32_t>> bands_;
};

class JobQueue {
public:
    explicit JobQueue(const std::vector<Document> &docs) {
        for (const Document &d : docs)
            jobs_.push_back(&d);
    }
    const Document *take() {
        std::lock_guard<std::mutex> guard(mutex_);
        if (jobs_.empty())
            return nullptr;
        const Document *d = jobs_.front();
        jobs_.pop_front();
        return d;
    }

private:
    std::mutex mutex_;
    std::deque<const Document *> jobs_;
};

static void worker(JobQueue &queue, Index &index) {
    while (const Document *d = queue.take())
        index.insert(*d);
}

int main() {
    std::vector<Document> corpus = makeCorpus(28000);
    JobQueue queue(corpus);
    Index index;
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; i++)
        workers.emplace_back(worker, std::ref(queue), std::ref(index));
    for (std::thread &t : workers)
        t.join();
    auto pairs = index.nearDuplicates();
    uint64_t check = 0;
    for (const auto &p : pairs)
        check = mix(check ^ (static_cast<uint64_t>(p.first) << 32 | p.second));
    std::printf("documents %zu pairs %zu check %016llx\n", corpus.size(), pairs.size(),
                static_cast<unsigned long long>(check));
    return 0;
}
