// Front controller of the shop API: a server thread parses requests from a
// keep-alive connection, routes them, and answers with small JSON bodies.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Request {
    std::string method, path;
    std::map<std::string, std::string> headers;
    std::string body;
    std::vector<std::string> params;
};

struct Response {
    int status = 200;
    std::string body;
};

using Handler = std::function<Response(const Request &)>;

class Router {
public:
    void on(const std::string &method, const std::string &pattern, Handler h)
    {
        routes_.push_back({method, std::regex("^" + pattern + "$"), std::move(h)});
    }

    Response dispatch(Request &req) const
    {
        for (const Route &r : routes_) {
            if (r.method != req.method) continue;
            std::smatch m;
            if (!std::regex_match(req.path, m, r.pattern)) continue;
            req.params.assign(m.begin() + 1, m.end());
            return r.handler(req);
        }
        return {404, "{\"error\":\"not found\"}"};
    }

private:
    struct Route {
        std::string method;
        std::regex pattern;
        Handler handler;
    };
    std::vector<Route> routes_;
};

class Connection {
public:
    explicit Connection(int fd) : fd_(fd) {}

    bool read_until(const char *mark, std::string &out)
    {
        size_t at;
        while ((at = buf_.find(mark)) == std::string::npos)
            if (!fill()) return false;
        at += std::strlen(mark);
        out = buf_.substr(0, at);
        buf_.erase(0, at);
        return true;
    }

    bool read_bytes(size_t n, std::string &out)
    {
        while (buf_.size() < n)
            if (!fill()) return false;
        out = buf_.substr(0, n);
        buf_.erase(0, n);
        return true;
    }

    bool write_all(const std::string &s)
    {
        for (size_t off = 0; off < s.size();) {
            ssize_t n = ::write(fd_, s.data() + off, s.size() - off);
            if (n <= 0) return false;
            off += n;
        }
        return true;
    }

private:
    bool fill()
    {
        char tmp[8192];
        ssize_t n = ::read(fd_, tmp, sizeof tmp);
        if (n <= 0) return false;
        buf_.append(tmp, n);
        return true;
    }

    int fd_;
    std::string buf_;
};

static bool read_message(Connection &c, std::string &first, Request &req)
{
    std::string head;
    if (!c.read_until("\r\n\r\n", head)) return false;
    size_t pos = head.find("\r\n");
    first = head.substr(0, pos);
    for (pos += 2; pos + 2 < head.size();) {
        size_t end = head.find("\r\n", pos), colon = head.find(": ", pos);
        if (colon != std::string::npos && colon < end)
            req.headers[head.substr(pos, colon - pos)] = head.substr(colon + 2, end - colon - 2);
        pos = end + 2;
    }
    auto it = req.headers.find("Content-Length");
    return it == req.headers.end() || c.read_bytes(std::stoul(it->second), req.body);
}

static void serve(int fd, const Router &router)
{
    Connection c(fd);
    for (;;) {
        Request req;
        std::string line;
        if (!read_message(c, line, req)) break;
        size_t a = line.find(' '), b = line.rfind(' ');
        req.method = line.substr(0, a);
        req.path = line.substr(a + 1, b - a - 1);
        Response r = router.dispatch(req);
        if (!c.write_all("HTTP/1.1 " + std::to_string(r.status) +
                         " -\r\nContent-Type: application/json\r\nContent-Length: " +
                         std::to_string(r.body.size()) + "\r\n\r\n" + r.body))
            break;
    }
    close(fd);
}

static void add_routes(Router &router, std::map<int, int> &stock)
{
    auto echo = [](const char *what) {
        return [what](const Request &r) {
            std::string body = "{\"kind\":\"" + std::string(what) + "\",\"args\":[";
            for (size_t i = 0; i < r.params.size(); i++)
                body += (i ? ",\"" : "\"") + r.params[i] + "\"";
            return Response{200, body + "]}"};
        };
    };
    router.on("GET", "/health", echo("health"));
    router.on("GET", "/v1/products/(\\d+)", echo("product"));
    router.on("GET", "/v1/products/(\\d+)/reviews/(\\d+)", echo("review"));
    router.on("GET", "/v1/categories/([a-z-]+)/products", echo("category"));
    router.on("GET", "/v1/users/(\\d+)/orders/([0-9a-f]{8})", echo("order"));
    router.on("POST", "/v1/stock/(\\d+)/(add|take)", [&stock](const Request &r) {
        int n = std::atoi(r.body.c_str()), &have = stock[std::stoi(r.params[0])];
        if (r.params[1] == "take" && have < n) return Response{409, "{\"error\":\"stock\"}"};
        have += r.params[1] == "add" ? n : -n;
        return Response{200, "{\"have\":" + std::to_string(have) + "}"};
    });
}

int main()
{
    const int requests = 62000;
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) return 1;
    Router router;
    std::map<int, int> stock;
    add_routes(router, stock);
    std::thread server(serve, fds[0], std::cref(router));

    Connection client(fds[1]);
    std::mt19937 rng(8);
    std::map<std::string, int> by_status;
    size_t bytes = 0;
    for (int i = 0; i < requests; i++) {
        std::string id = std::to_string(rng() % 500), body, line;
        char order[16];
        std::snprintf(order, sizeof order, "%08x", (unsigned)rng());
        switch (rng() % 6) {
        case 0: line = "GET /v1/products/" + id; break;
        case 1: line = "GET /v1/products/" + id + "/reviews/" + std::to_string(i); break;
        case 2: line = "GET /v1/categories/garden-tools/products"; break;
        case 3: line = "GET /v1/users/" + id + "/orders/" + order; break;
        case 4: line = "GET /v2/unknown/" + id; break;
        default:
            line = "POST /v1/stock/" + id + (rng() % 3 ? "/add" : "/take");
            body = std::to_string(1 + rng() % 9);
        }
        std::string msg = line + " HTTP/1.1\r\nHost: shop\r\n";
        if (!body.empty()) msg += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        Request reply;
        if (!client.write_all(msg + "\r\n" + body) || !read_message(client, line, reply)) return 1;
        by_status[line.substr(9, 3)]++;
        bytes += reply.body.size();
    }
    close(fds[1]);
    server.join();
    for (auto &[status, n] : by_status)
        std::printf("status %s: %d\n", status.c_str(), n);
    std::printf("%d requests, %zu body bytes, %zu stock items\n", requests, bytes, stock.size());
    return 0;
}
