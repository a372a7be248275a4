// Requests as bytes, each odd in one way: host, method, target, head, body framing. Nothing in them pays.

export interface RawRequest {
  readonly name: string;
  readonly bytes: Buffer;
  /** It never comes to its end by itself. */
  readonly hangUp?: true;
}

interface Parts {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Lines of the head as they are sent, without their ends. */
  readonly head?: readonly string[];
  readonly body?: string;
}

const HOST = "Host: shop.test";

const request = (
  name: string,
  { method = "GET", target = "/paid", version = "1.1", head = [HOST], body = "" }: Parts,
): RawRequest => ({
  name,
  bytes: Buffer.from(
    `${method} ${target} HTTP/${version}\r\n${[...head, "Connection: close"].join("\r\n")}\r\n\r\n${body}`,
    "latin1",
  ),
});
const unending = (name: string, parts: Parts): RawRequest => ({ ...request(name, parts), hangUp: true });
const length = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text);

const HOSTS = [
  ...[
    "",
    " ",
    "[::1",
    "[::1]",
    "[::1]:80",
    "::1",
    "a b",
    "a\tb",
    "x".repeat(10_000),
    "shop.test:99999",
    "shop.test:",
    ":80",
  ],
  ...[
    "shop.test:80:80",
    "shop.test/free",
    "shop.test?/free",
    "shop.test#",
    "shop.test\\free",
    "u@shop.test",
    "u:p@shop.test",
  ],
  ...[
    "<script>",
    '"',
    "'",
    "%",
    "%zz",
    "%2ffree",
    "\xe9.test",
    "\xff",
    "*",
    ".",
    "..",
    "-",
    "_",
    "0",
    "127.0.0.1",
    "0x7f.1",
  ],
  ...["shop.test, evil.test", "shop.test\x7f", "//", "http://shop.test", "xn--", "xn--a", "[v1.x]", "[]", "1.2.3.256"],
];

const TARGETS = [
  ...[
    "*",
    "//",
    "/",
    "///",
    "/?",
    "?",
    "#",
    "/paid#",
    "/paid?",
    "paid",
    "./paid",
    "../paid",
    "\\paid",
    "/\\paid",
    "//paid",
  ],
  ...[
    "http://shop.test/paid",
    "https://shop.test/paid",
    "HTTP://SHOP.TEST/PAID",
    "http://shop.test",
    "http:///paid",
    "http://",
  ],
  ...[
    "http:/paid",
    "http:paid",
    "http://u:p@shop.test/paid",
    "http://[::1/paid",
    "http://a b/paid",
    "http://evil.test\\@shop.test/paid",
  ],
  ...[
    "ftp://shop.test/paid",
    "file:///paid",
    "ws://shop.test/paid",
    "shop.test:80",
    "//shop.test/paid",
    "javascript:1",
  ],
  ...[
    "/paid%",
    "/paid%00",
    "/paid%0d%0aX:1",
    "/paid\x00",
    "/paid\x7f",
    "/paid\xe9",
    "/p\taid",
    "/%",
    "/%zz",
    "/%c0%af",
    "/%ff/paid",
  ],
  ...[
    "/paid/../free",
    "/free/../paid",
    "/free/..%2fpaid",
    "/free%2f..%2fpaid",
    "/free;/../paid",
    "/free#/../paid",
    "/free?/../paid",
  ],
  ...[
    "/report/__proto__",
    "/report/constructor",
    "/__proto__",
    "/constructor/prototype",
    "/report/%5f%5fproto__",
    "/report/toString",
  ],
  ...[
    `/${"x".repeat(10_000)}`,
    `/paid/${"a/".repeat(5000)}`,
    `/paid/${"../".repeat(3000)}`,
    `/paid?${"q=1&".repeat(5000)}`,
  ],
  ...[
    `/${"%2f".repeat(3000)}paid`,
    `/${"a-".repeat(25_000)}`,
    `/report/${"%25".repeat(600)}`,
    `/paid${";a".repeat(900)}`,
  ],
];

const METHODS = [
  ...[
    "HEAD",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "PUT",
    "PATCH",
    "DELETE",
    "POST",
    "QUERY",
    "PROPFIND",
    "M-SEARCH",
    "LOCK",
    "PRI",
  ],
  ...[
    "get",
    "Get",
    "post",
    "GETS",
    "G",
    "",
    " ",
    "GET\t",
    "GET GET",
    "__proto__",
    "constructor",
    "x".repeat(300),
    "\xe9",
    "*",
  ],
];

/** A value of each length that meets a limit, of this paywall or of Node. */
const LENGTHS = [0, 1, 8191, 8192, 8193, 16_384, 16_385, 65_536, 1_000_000];

/** Headers by which some layer lets a request choose another path, method, host or scheme. */
const OVERRIDES = [
  ...[
    "x-middleware-subrequest: src/middleware:src/middleware:src/middleware",
    "X-Original-URL: /free",
    "X-Rewrite-URL: /free",
  ],
  ...[
    "X-HTTP-Method-Override: OPTIONS",
    "X-HTTP-Method: HEAD",
    "X-Method-Override: OPTIONS",
    "X-Forwarded-Host: evil.test",
  ],
  ...[
    "X-Forwarded-Proto: javascript",
    "X-Forwarded-Prefix: /free",
    "X-Forwarded-Path: /free",
    "X-Forwarded-Uri: /free",
  ],
  ...[
    "Forwarded: host=evil.test;proto=http",
    "X-Host: evil.test",
    "X-Real-IP: 127.0.0.1",
    "X-Forwarded-For: 127.0.0.1",
  ],
  ...[
    "X-Accel-Redirect: /free",
    "X-Sendfile: /free",
    "X-Matched-Path: /free",
    "X-Invoke-Path: /free",
    "x-middleware-next: 1",
  ],
  ...[
    "X-Payment-Verified: true",
    "X-PAYMENT-RESPONSE: e30=",
    "PAYMENT-RESPONSE: e30=",
    "Payment-Pass: x",
    "Authorization: Bearer x",
  ],
  ...[
    "Upgrade: websocket",
    "HTTP2-Settings: AAMAAABkAAQAAP__",
    "Expect: 100-continue",
    "Expect: 200-ok",
    "Range: bytes=0-0",
  ],
  ...["If-None-Match: *", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT", "Cookie: __proto__=1", "Origin: null"],
];

const PAYMENTS = ["X-PAYMENT", "PAYMENT-SIGNATURE"].flatMap((name) => [
  ...LENGTHS.map((size) => request(`${name} of ${size}`, { head: [HOST, `${name}: ${"A".repeat(size)}`] })),
  request(`two ${name} headers`, { head: [HOST, `${name}: e30=`, `${name}: e30=`] }),
  request(`${name} in three spellings`, {
    head: [HOST, `${name}: e30=`, `${name.toLowerCase()}: e30`, `${name.toUpperCase()}: `],
  }),
  request(`a folded ${name}`, { head: [HOST, `${name}: e30=`, " e30=", "\te30="] }),
  request(`${name} with a space before the colon`, { head: [HOST, `${name} : e30=`] }),
  request(`NUL in ${name}`, { head: [HOST, `${name}: e30\x00=`] }),
  request(`a bare CR in ${name}`, { head: [HOST, `${name}: e30=\rX-Evil: 1`] }),
  request(`a bare LF in ${name}`, { head: [HOST, `${name}: e30=\nX-Evil: 1`] }),
  request(`bytes over 127 in ${name}`, { head: [HOST, `${name}: \xe9\xff\x80`] }),
  request(`${name} with a line's worth of injection, encoded`, {
    head: [
      HOST,
      `${name}: ${Buffer.from('{"x402Version":2,"accepted":{"scheme":"a\\r\\nX-Evil: 1"}}').toString("base64")}`,
    ],
  }),
]);

const CHUNKED = "Transfer-Encoding: chunked";
const SMUGGLED = "0\r\n\r\nGET /paid HTTP/1.1\r\nHost: shop.test\r\n\r\n";
const PLAIN = "GET /paid HTTP/1.1\r\nHost: shop.test\r\n\r\n";

const FRAMES: readonly RawRequest[] = [
  request("no Host", { head: [] }),
  request("HTTP/1.0 without a Host", { version: "1.0", head: [] }),
  ...["0.9", "2.0", "3.0", "1.2", "9.9", "", "1", "1.1 "].map((version) =>
    request(`HTTP version ${version}`, { version }),
  ),
  request("two Hosts", { head: [HOST, "Host: evil.test"] }),
  request("chunked and a length", { method: "POST", head: [HOST, CHUNKED, "Content-Length: 4"], body: SMUGGLED }),
  request("two lengths", { method: "POST", head: [HOST, "Content-Length: 4", "Content-Length: 5"], body: "abcde" }),
  request("two encodings", { method: "POST", head: [HOST, "Transfer-Encoding: identity", CHUNKED], body: SMUGGLED }),
  request("chunked not last", { method: "POST", head: [HOST, "Transfer-Encoding: chunked, identity"], body: SMUGGLED }),
  request("an obscured encoding", { method: "POST", head: [HOST, "Transfer-Encoding: xchunked"], body: SMUGGLED }),
  request("a negative length", { method: "POST", head: [HOST, "Content-Length: -1"] }),
  request("a length in hex", { method: "POST", head: [HOST, "Content-Length: 0x10"], body: "x".repeat(16) }),
  unending("a huge length", { method: "POST", head: [HOST, "Content-Length: 99999999999999999999"] }),
  unending("less body than its length", { method: "POST", head: [HOST, "Content-Length: 100"], body: "x" }),
  unending("a chunk without an end", { method: "POST", head: [HOST, CHUNKED], body: "5\r\nab" }),
  request("a chunk size that is none", { method: "POST", head: [HOST, CHUNKED], body: "zz\r\nab\r\n0\r\n\r\n" }),
  request("a body on GET", { head: [HOST, "Content-Length: 5"], body: "hello" }),
  request("trailers that pay", {
    method: "POST",
    head: [HOST, CHUNKED, "Trailer: X-PAYMENT"],
    body: "0\r\nX-PAYMENT: e30=\r\n\r\n",
  }),
  request("a header without a name", { head: [HOST, ": x"] }),
  request("a header without a colon", { head: [HOST, "X-PAYMENT"] }),
  request("__proto__ as a header", { head: [HOST, "__proto__: x", "constructor: x"] }),
  request("900 headers", { head: [HOST, ...Array.from({ length: 900 }, (_, at) => `X-${at}: ${at}`)] }),
  {
    name: "ten pipelined",
    bytes: Buffer.from(PLAIN.repeat(10) + PLAIN.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")),
  },
  { name: "priced behind free, pipelined", bytes: Buffer.from(PLAIN.replace("/paid", "/free") + PLAIN), hangUp: true },
  { name: "a head that never ends", bytes: Buffer.from("GET /paid HTTP/1.1\r\nHost: shop.test\r\nX-"), hangUp: true },
  { name: "nothing", bytes: Buffer.alloc(0), hangUp: true },
  { name: "line ends alone", bytes: Buffer.from("\r\n\r\n\r\n"), hangUp: true },
  { name: "TLS to a plain port", bytes: Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), hangUp: true },
  { name: "HTTP/2 to a plain port", bytes: Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), hangUp: true },
  { name: "bare line feeds", bytes: Buffer.from("GET /paid HTTP/1.1\nHost: shop.test\n\n"), hangUp: true },
];

/** All of them, by what is odd. */
export const RAW_REQUESTS: Readonly<Record<string, readonly RawRequest[]>> = {
  hosts: HOSTS.flatMap((host) =>
    ["/paid", "/direct"].map((target) => request(`${target} at ${length(host)}`, { target, head: [`Host: ${host}`] })),
  ),
  targets: TARGETS.map((target) => request(length(target), { target })),
  methods: METHODS.flatMap((method) =>
    ["/paid", "/direct"].map((target) => request(`${length(method)} ${target}`, { method, target })),
  ),
  payments: PAYMENTS,
  "headers that would choose for us": OVERRIDES.flatMap((header) =>
    ["/paid", "/direct"].map((target) => request(`A53: ${target} ${header}`, { target, head: [HOST, header] })),
  ),
  frames: FRAMES,
};
