// Which URL this gateway lets a caller name, and which address of it it connects to.
import { describe, expect, it } from "vitest";
import { createPinnedLookup, isPublic, permitUrl } from "../../src/gateway/receive/safe-url.js";

const LISTED = ["https://x402.org/facilitator", "https://pay.example:8443", "http://127.0.0.1:4021/f"];
const permitted = (url: string): string | undefined => {
  const result = permitUrl(url, LISTED);
  return result.ok ? result.value.url : undefined;
};

describe("a URL that a caller names", () => {
  it.each([
    ["https://x402.org/facilitator", "https://x402.org/facilitator"],
    ["https://x402.org/facilitator/", "https://x402.org/facilitator"],
    ["https://X402.ORG/facilitator/v2", "https://x402.org/facilitator/v2"],
    ["https://pay.example:8443", "https://pay.example:8443"],
    ["https://pay.example:8443/any/path", "https://pay.example:8443/any/path"],
    ["http://127.0.0.1:4021/f", "http://127.0.0.1:4021/f"],
  ])("is called where the operator has listed it: %s", (url, called) => {
    expect(permitted(url)).toBe(called);
  });

  it.each([
    "https://x402.org",
    "https://x402.org/facilitators",
    "https://x402.org/facilitator/../admin",
    "https://x402.org/facilitator/%2e%2e/admin",
    "https://x402.org/facilitator/..%2fadmin",
    "https://x402.org/facilitator;x=1/admin",
    "https://x402.org/facilitator\\..\\admin",
    "https://x402.org/facilitator?next=http://10.0.0.1",
    "https://x402.org/facilitator#fragment",
    "https://user:password@x402.org/facilitator",
    "https://x402.org@evil.example/facilitator",
    "https://x402.org.evil.example/facilitator",
    "https://x402.org:8443/facilitator",
    "https://pay.example/",
    "http://x402.org/facilitator",
    "http://127.0.0.1:4022/f",
    "http://127.0.0.1:4021",
    "http://localhost:4021/f",
    "https://127.0.0.1:4021/f",
    "http://0x7f.1:4021/",
    "file:///etc/passwd",
    "gopher://x402.org/facilitator",
    "//x402.org/facilitator",
    "not a URL",
  ])("is refused where it is anything else: %s", (url) => {
    expect(permitted(url)).toBeUndefined();
  });

  it("is one address in whatever spelling, and is judged as that", () => {
    for (const spelling of ["2130706433", "0x7f000001", "0177.0.0.1", "127.1"]) {
      expect(permitUrl(`http://${spelling}:4021/f`, LISTED).ok).toBe(true);
      expect(permitUrl(`http://${spelling}/`, ["http://169.254.169.254/"]).ok).toBe(false);
    }
    expect(permitUrl("https://169.254.169.254/", ["https://169.254.169.254"]).ok).toBe(false);
    expect(permitUrl("https://[fd00:ec2::254]/", ["https://[fd00:ec2::254]"]).ok).toBe(false);
    expect(permitUrl("https://10.0.0.7/", ["https://10.0.0.7"]).ok).toBe(false);
    expect(permitUrl("http://10.0.0.7/", ["http://10.0.0.7"]).ok).toBe(false);
    expect(permitUrl("https://[::ffff:10.0.0.7]/", ["https://[::ffff:10.0.0.7]"]).ok).toBe(false);
  });
});

describe("an address", () => {
  it.each([
    ...[
      "0.0.0.0",
      "0.1.2.3",
      "10.0.0.1",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.9.9.9",
      "168.63.129.16",
      "169.254.169.254",
    ],
    ...[
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.88.99.1",
      "192.168.1.1",
      "198.18.0.1",
      "198.19.9.9",
    ],
    ...["198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
    ...[
      "::",
      "::1",
      "::ffff:8.8.8.8",
      "::ffff:10.0.0.1",
      "::8.8.8.8",
      "64:ff9b::8.8.8.8",
      "64:ff9b::a00:1",
      "64:ff9b:1::1",
    ],
    ...[
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "fc00::1",
      "fd00:ec2::254",
      "ff02::1",
      "100::1",
      "2001::1",
      "2001:db8::1",
    ],
    ...["2002:0a00:0001::1", "2002:7f00:1::", "3fff::1", "5f00::1", "text", "", "8.8.8.8.8"],
  ])("is not somebody's in the public internet: %s", (address) => {
    expect(isPublic(address)).toBe(false);
  });

  it.each([
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
  ])("is public: %s", (address) => {
    expect(isPublic(address)).toBe(true);
  });
});

describe("the name of a permitted URL", () => {
  const https = { url: "https://pay.example", loopback: false };
  const ask = (lookup: ReturnType<typeof createPinnedLookup>, all = false) =>
    new Promise<unknown>((resolve) =>
      lookup("pay.example", { all }, (error, address, family) =>
        resolve(error ? error.code : all ? address : [address, family]),
      ),
    );
  const answers = (...given: string[][]) => {
    let asked = 0;
    return {
      asked: () => asked,
      resolve: async () => {
        const now = given[Math.min(asked, given.length - 1)] ?? [];
        asked += 1;
        return now.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      },
    };
  };

  it("is resolved once, and connected to what was judged: a name that moves afterwards leads nowhere else", async () => {
    const rebinding = answers(["93.184.216.34"], ["127.0.0.1"]);
    const lookup = createPinnedLookup(https, rebinding.resolve);
    expect(await ask(lookup)).toEqual(["93.184.216.34", 4]);
    expect(await ask(lookup, true)).toEqual([{ address: "93.184.216.34", family: 4 }]);
    expect(rebinding.asked()).toBe(1);
  });

  it("is refused where any of its addresses is not public", async () => {
    for (const hidden of [
      "10.0.0.1",
      "127.0.0.1",
      "169.254.169.254",
      "::1",
      "fd00:ec2::254",
      "::ffff:127.0.0.1",
      "64:ff9b::7f00:1",
    ]) {
      expect(await ask(createPinnedLookup(https, answers(["93.184.216.34", hidden]).resolve))).toBe("ADDRESS_REFUSED");
    }
    expect(await ask(createPinnedLookup(https, answers([]).resolve))).toBe("ADDRESS_REFUSED");
  });

  it("is loopback and nothing else where the operator listed a loopback URL", async () => {
    const local = { url: "http://localhost:4021", loopback: true };
    expect(await ask(createPinnedLookup(local, answers(["127.0.0.1", "::1"]).resolve))).toEqual(["127.0.0.1", 4]);
    expect(await ask(createPinnedLookup(local, answers(["127.0.0.1", "93.184.216.34"]).resolve))).toBe(
      "ADDRESS_REFUSED",
    );
  });

  it("may be resolved again after its resolver has failed", async () => {
    let failing = true;
    const lookup = createPinnedLookup(https, async () => {
      if (failing) throw Object.assign(new Error("no answer"), { code: "EAI_AGAIN" });
      return [{ address: "93.184.216.34", family: 4 }];
    });
    expect(await ask(lookup)).toBe("EAI_AGAIN");
    failing = false;
    expect(await ask(lookup)).toEqual(["93.184.216.34", 4]);
  });
});
