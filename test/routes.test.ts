// The route table: its keys, its order, and every spelling trick that once opened a paywall.
import { describe, expect, it } from "vitest";
import { compileRoutes, parseRouteKey, routeShape, samplePath } from "../src/routes.js";
import { table } from "./support/route-tables.js";

function routes(prices: Record<string, string>, strict = false) {
  const { match } = compileRoutes(table(prices), { strict });
  return (method: string, target: string): string => {
    const result = match(method, target);
    return result.kind === "priced" || result.kind === "free" ? `${result.kind} ${result.entry.key}` : result.kind;
  };
}

describe("route keys", () => {
  it.each([
    ["GET /c/:a/:b", "/c/1/2"],
    ["/c/*", "/c/1/2"],
    ["/c/:a/*", "/c/1/2"],
    ["POST /caf%C3%A9", undefined],
    ["/", undefined],
    ["/a/", undefined],
  ])("%s is a route", (key, target) => {
    expect(parseRouteKey(key).ok).toBe(true);
    if (target) expect(routes({ [key]: "$1" })("GET", target)).toBe(`priced ${key}`);
  });

  it.each([
    "/c/[a]",
    "/c/{a}",
    "/c/(a)",
    "/c/a?",
    "/c/:a?",
    "/c/:a(\\d+)",
    "/c/a+",
    "/c/**",
    "/c/*/d",
    "/c/a*",
    "/c/:a-:b",
    "/c/a:b",
    "/c/:",
    "/c//d",
    "/c/../d",
    "/c/./d",
    "/c/%2e%2e",
    "/c/a%2Fb",
    "/c/a%",
    "/c/%ff",
    "/c\\d",
    "/c;d",
    "/c?d=1",
    "/c#d",
    "/^c$",
    "c",
    "",
    "GET c",
    "get /c",
    "GTE /c",
    "HEAD /c",
    "OPTIONS /c",
    "GET  POST /c",
    "https://host/c",
    "*",
  ])("F36: %s is a problem, not a route that matches nothing", (key) => {
    const parsed = parseRouteKey(key);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.problem.length).toBeGreaterThan(20);
  });

  it("gives a path that the pattern matches", () => {
    for (const key of ["/", "/a", "/a/:b/c", "/a/*", "/*", "/:a/:b/*"]) {
      expect(routes({ [key]: "$1" })("GET", samplePath(key)), key).toBe(`priced ${key}`);
    }
  });

  it("knows two spellings of one route as one", () => {
    expect(routeShape("/A/:x/caf%C3%A9/")).toBe(routeShape("/a/:y/Café"));
    expect(routeShape("/a/:x")).not.toBe(routeShape("/a/*"));
    expect(routeShape("/%3Ax")).not.toBe(routeShape("/a"));
  });
});

describe("table order and methods", () => {
  it("takes the first match in table order", () => {
    expect(routes({ "/a/:x": "$1", "/a/b": "$2" })("GET", "/a/b")).toBe("priced /a/:x");
    expect(routes({ "/a/b": "$2", "/a/:x": "$1" })("GET", "/a/b")).toBe("priced /a/b");
    expect(routes({ "/*": "$3", "/a/b": "$2" })("GET", "/a/b")).toBe("priced /*");
    expect(routes({ "POST /a": "$3", "/:x": "$2" })("GET", "/a")).toBe("priced /:x");
  });

  it("lets /x/* match /x itself and everything below, and nothing beside", () => {
    const at = routes({ "/x/*": "$1" });
    for (const path of ["/x", "/x/", "/x/1", "/x/1/2/3"]) expect(at("GET", path), path).toBe("priced /x/*");
    for (const path of ["/", "/xy", "/y/x"]) expect(at("GET", path), path).toBe("open");
  });

  it("covers HEAD by a GET key, and OPTIONS by a key of any method", () => {
    const at = routes({ "GET /a": "$1", "POST /b": "$1", "/c": "$1" });
    expect(["GET", "HEAD", "OPTIONS", "POST"].map((method) => at(method, "/a"))).toEqual([
      "priced GET /a",
      "priced GET /a",
      "priced GET /a",
      "open",
    ]);
    expect(["GET", "HEAD", "OPTIONS", "POST"].map((method) => at(method, "/b"))).toEqual([
      "open",
      "open",
      "priced POST /b",
      "priced POST /b",
    ]);
    for (const method of ["GET", "HEAD", "OPTIONS", "PROPFIND"]) expect(at(method, "/c")).toBe("priced /c");
  });

  it("prices a preflight where one method is free and another priced", () => {
    const at = routes({ "GET /a": "free", "/a": "$1" });
    expect(at("GET", "/a")).toBe("free GET /a");
    expect(at("HEAD", "/a")).toBe("free GET /a");
    expect(at("OPTIONS", "/a")).toBe("priced /a");
    expect(routes({ "/a": "free", "POST /a": "$1" })("OPTIONS", "/a")).toBe("free /a");
  });

  it("opens unlisted paths, or refuses them in a strict table", () => {
    expect(routes({ "/a": "$1" })("GET", "/b")).toBe("open");
    expect(routes({ "/a": "$1" }, true)("GET", "/b")).toBe("unlisted");
    expect(routes({ "/docs/*": "free", "/a": "$1" }, true)("GET", "/docs/../b")).toBe("unlisted");
    expect(routes({ "/docs/*": "free", "/a": "$1" }, true)("GET", "/docs/b%20c")).toBe("free /docs/*");
  });
});

describe("forms of a priced path", () => {
  const at = routes({ "GET /health": "free", "/paid": "$1", "/api/paid": "$1", "/p/:id": "$1", "/paid/*": "$1" });

  it.each([
    ["A46", ["/p%61id", "/%70aid", "/%70%61%69%64", "/api/%70aid", "/p%2561id"]],
    ["A47", ["//paid/f.txt", "/paid//f.txt", "///paid", "/paid//", "/api//paid"]],
    ["F32", ["/api%252Fpaid", "/api\\paid", "/api%5Cpaid", "/paid/", "/paid/x/", "/paid\\"]],
    [
      "F33",
      ["/api%2Fpaid", "//api/paid", "/./api/paid", "/api/./paid", "/x/../paid", "/x/%2e%2e/paid", "/x%2f..%2Fpaid"],
    ],
    ["F34", ["//paid", "///paid", "/paid//", "/paid/./", "/.//paid"]],
    ["F35", ["/PAID", "/Paid", "/paid?x=1", "/paid?x=/health", "/paid;x=1", "/paid#a", "/paid;/"]],
    [
      "absolute form",
      ["http://host/paid", "HTTPS://HOST:8080/paid?x", "http://[::1]:80/paid", "http://h.example/x/../paid"],
    ],
  ])("%s: is priced in every form", (_name, targets) => {
    for (const target of targets) expect(at("GET", target), target).toMatch(/^priced /);
  });

  it.each([
    ["F30", ["/paid/x%", "/paid/x%c0", "/paid/%zz", "/paid/%E0%A4%A", "/%", "/paid%", "/p%ff"]],
    ["controls", ["/pa\tid", "/paid\t", "/paid%09", "/paid%00", "/paid\u00a0", "/paid\ufeff", "/paid%250a"]],
    [
      "odd targets",
      [
        "paid",
        "*",
        "ftp://h/paid",
        "http:/paid",
        "http:///paid",
        "http://h;x/paid",
        "http://u@h/paid",
        "http://h\\paid",
      ],
    ],
    ["mixed backslashes", ["/a\\b%5Cpaid"]],
    ["longer than 2 KiB", [`/paid/${"a".repeat(2048)}`]],
  ])("%s: cannot be read, so it is undecodable and never open", (_name, targets) => {
    for (const target of targets) expect(at("GET", target), target).toBe("undecodable");
  });

  it("resolves dot segments as URL parsers do and as file systems do", () => {
    // A URL parser counts the empty segment that `..` takes away, a file system does not.
    expect(routes({ "/a/paid": "$1" })("GET", "/a//../paid")).toBe("priced /a/paid");
    expect(routes({ "/paid": "$1" })("GET", "/a//../paid")).toBe("priced /paid");
  });

  it("leaves query and fragment out of the match, also when they cannot be decoded", () => {
    expect(at("GET", "/x?/paid")).toBe("open");
    expect(at("GET", "/x#/../paid")).toBe("open");
    expect(at("GET", "/paid?%zz")).toBe("priced /paid");
    expect(at("GET", `/paid?${"a".repeat(5000)}`)).toBe("priced /paid");
  });

  it("does not call a path undecodable in a table without a price", () => {
    expect(routes({ "/health": "free" })("GET", "/%zz")).toBe("open");
  });

  it("refuses a path that two priced keys claim under different readings", () => {
    const shop = routes({ "/cheap": "$1", "/shop/sale": "$1", "/shop/:id": "$5", "/files/*": "$2", "/:a/:b": "$5" });
    for (const target of ["/%2e%2e/cheap", "/shop/sal%65", "/shop/SALE", "/shop/%2e%2e%2fcheap", "/files/..%2fcheap"]) {
      expect(shop("GET", target), target).toBe("undecodable");
    }
    expect(shop("GET", "/shop/sale")).toBe("priced /shop/sale");
    expect(shop("GET", "/shop/9%20")).toBe("priced /shop/:id");
    expect(shop("HEAD", "/shop/SALE")).toBe("priced /shop/sale");
  });

  it("takes the first of several keys that ask for the same", () => {
    const same = routes({ "/paid": "$1", "/paid/*": "$1", "/:page": "$1" });
    expect(same("GET", "/paid/")).toBe("priced /paid");
    expect(same("GET", "/PAID")).toBe("priced /paid");
  });
});

describe("free keys", () => {
  const at = routes({ "/health": "free", "/docs/*": "free", "/caf%C3%A9": "free", "/paid": "$1", "/:page": "$2" });

  it("open their exact form alone", () => {
    expect(at("GET", "/health")).toBe("free /health");
    expect(at("GET", "/health?x=/paid")).toBe("free /health");
    expect(at("GET", "/caf%C3%A9")).toBe("free /caf%C3%A9");
    for (const target of ["/HEALTH", "/health/", "//health", "/h%65alth", "/health;a", "/./health", "/caf%c3%a9"]) {
      expect(at("GET", target), target).toBe("priced /:page");
    }
  });

  it("do not open a priced path that is written through them", () => {
    for (const target of ["/docs/../paid", "/docs/%2e%2e/paid", "/docs/..%2fpaid", "/docs/%252e%252e/paid"]) {
      expect(at("GET", target), target).toBe("priced /paid");
    }
    expect(at("GET", "/docs\\..\\paid")).toBe("undecodable");
    expect(routes({ "/docs/*": "free", "/x/y": "$1" })("GET", "/docs/%2e%2e%2Fx%2Fy")).toBe("priced /x/y");
    expect(at("GET", "/docs/a%20b")).toBe("free /docs/*");
    expect(at("GET", "/docs/%zz/../../paid")).toBe("undecodable");
  });

  it("yield to a priced key before them, in every spelling", () => {
    const later = routes({ "/paid": "$1", "/:page": "free" });
    for (const target of ["/paid", "/p%61id", "/PAID"]) expect(later("GET", target), target).toBe("priced /paid");
    expect(later("GET", "/other")).toBe("free /:page");
  });
});

describe("cost", () => {
  const time = (run: () => void): number => {
    const rounds = [0, 1, 2, 3, 4].map(() => {
      const start = performance.now();
      run();
      return performance.now() - start;
    });
    return Math.min(...rounds);
  };

  it("A51: reads the longest and worst path in milliseconds on every pattern style", () => {
    const { match } = compileRoutes(table({ "/a/:x/b": "$1", "/a/*": "$1", "/:x/:y/:z": "$1", "/a-a-a": "$1" }), {
      strict: true,
    });
    for (const unit of ["a-", "/a", "/../a", "a%2f", "%252f", "/;%2f..%5c", "/%2e%2e;a%252f%5c%255c//", "é"]) {
      for (const length of [2000, 50_000]) {
        const target = `/${unit.repeat(Math.ceil(length / unit.length)).slice(0, length - 1)}`;
        expect(
          time(() => match("GET", target)),
          `${unit} ${length}`,
          // A millisecond where nothing else runs; a matcher that goes back and forth would take minutes.
        ).toBeLessThan(50);
      }
    }
  });

  it("10,000 routes cost what one costs", () => {
    const many: Record<string, string> = {};
    for (let i = 0; i < 5000; i++) {
      many[`GET /literal/${i}`] = "$1";
      many[`GET /pattern/${i}/:id`] = "$1";
    }
    const large = compileRoutes(table({ ...many, "/last/:id": "$1" }), { strict: false });
    const small = compileRoutes(table({ "/last/:id": "$1" }), { strict: false });
    const run = (match: typeof large.match) => () => {
      for (let i = 0; i < 20_000; i++) match("GET", i % 2 ? "/last/7" : "/pattern/4999/7");
    };
    expect(large.match("GET", "/pattern/4999/7").kind).toBe("priced");
    // A scan of the table would be thousands of times slower; the margin is for a busy machine.
    expect(time(run(large.match))).toBeLessThan(10 * time(run(small.match)) + 5);
  });
});
