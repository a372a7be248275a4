// The cookies between the page and the guard: one carries a payment through a navigation, one tells the page that it was taken.
// Handlers see neither: a payment is nobody's to pass on.

const PREFIX = "tollgate-pa";
const COOKIE = /(^|[;,])\s*tollgate-pa(?:yment|id)-[^;,]*/g;

/** A `Cookie` header without the page's cookies; undefined where nothing is left. */
export function withoutPageCookies(cookies: string): string | undefined {
  if (!cookies.includes(PREFIX)) return cookies;
  const left = cookies.replace(COOKIE, "").replace(/^[;,\s]+/, "");
  return left === "" ? undefined : left;
}

/** Is this cookie one of the page's? */
export const isPageCookie = (name: string): boolean => /^tollgate-pa(?:yment|id)-/.test(name);

/** The name under which a payment for this target travels: a payment for one query must not be shown for another. */
export const paymentCookie = (target: string): string => `tollgate-payment-${digestOf(target)}`;

/** The name of the cookie that says that the payment for this target was taken. */
export const paidCookie = (target: string): string => `tollgate-paid-${digestOf(target)}`;

/** FNV-1a: two targets of one name would only refuse each other's payment. */
function digestOf(target: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < target.length; at += 1) hash = Math.imul(hash ^ target.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
