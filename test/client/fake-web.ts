// A web of the test's own behind a fetch: any scheme and any host, with fetch's rules of redirects as far as tests need them.

export interface WebRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}
export type Web = Readonly<Record<string, (request: WebRequest) => Response>>;

export const leadsTo = (location: string, status = 302, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { location, ...headers } });

/** Answers by the URL without its query; what no page stands for is a 404. */
export function fakeWeb(web: Web): { readonly fetch: typeof globalThis.fetch; readonly requests: WebRequest[] } {
  const requests: WebRequest[] = [];
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let hop = 0; ; hop += 1) {
      const request = {
        url: url.href,
        method: init.method ?? "GET",
        headers: new Headers(init.headers),
        body: init.body,
      };
      requests.push(request);
      const response = web[url.origin + url.pathname]?.(request) ?? new Response(null, { status: 404 });
      const location = response.headers.get("location");
      if (location !== null && init.redirect !== "manual") {
        url = new URL(location, url);
        continue;
      }
      Object.defineProperty(response, "url", { value: url.href });
      Object.defineProperty(response, "redirected", { value: hop > 0 });
      return response;
    }
  };
  return { fetch: fetch as typeof globalThis.fetch, requests };
}
