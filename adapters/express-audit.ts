// Finds the routes of an Express app, 4 or 5, by walking its router with the router's own matchers.
import type { PaywallCore } from "../src/paywall.js";
import { type AuditedRoute, type AuditReport, coreOf, report } from "./audit.js";

/** What is read of Express's layers: none of it is typed, and the two majors differ. */
interface Layer {
  readonly handle?: unknown;
  readonly route?: {
    readonly path: unknown;
    readonly methods: Record<string, boolean>;
    readonly stack: readonly Layer[];
  };
  /** Express 5 answers with the match, Express 4 with a boolean and the match in `path`. */
  match?(path: string): boolean | { readonly path: string };
  readonly path?: string | undefined;
  readonly rawPath?: unknown;
}

type Step = (path: string) => string | undefined;
type Test = (path: string) => boolean;

interface Walk {
  readonly core: object;
  readonly routes: AuditedRoute[];
  /** A middleware of the core was found. */
  seen: boolean;
}

/** Where the walk is: inside which mounts, and behind which paywalls. */
interface Place {
  readonly steps: readonly Step[];
  readonly prefix: string;
  readonly guards: readonly Test[];
}

/**
 * Reports each route of `app` with its price, and every table key that no route answers. Layers without a route
 * (static files, apps mounted with `app.use(otherApp)`, which Express hides) are not counted as answers.
 */
export function auditExpress(core: Pick<PaywallCore, "auditEntries" | "samplePath">, app: unknown): AuditReport {
  const walk: Walk = { core, routes: [], seen: false };
  visit(walk, stackOf(routerOf(app)), { steps: [], prefix: "", guards: [] });
  return report(core, walk.routes, walk.seen);
}

function visit(walk: Walk, stack: readonly Layer[], { steps, prefix, guards }: Place): void {
  // A paywall guards what follows it in its own router, and the routers mounted there.
  const found = [...guards];
  for (const layer of stack) {
    const here = (path: string) => {
      const rest = steps.reduce<string | undefined>((left, step) => left && step(left), path);
      return rest !== undefined && matched(layer, rest) !== undefined;
    };
    if (layer.route) addRoute(walk, layer.route, here, { steps, prefix, guards: [...found] });
    else if (coreOf(layer.handle) === walk.core) {
      walk.seen = true;
      found.push(here);
    } else {
      const into = (path: string) => restAfter(layer, path);
      const place = { steps: [...steps, into], prefix: prefix + mountOf(layer), guards: [...found] };
      visit(walk, stackOf(layer.handle), place);
    }
  }
}

function addRoute(walk: Walk, route: NonNullable<Layer["route"]>, answers: Test, { prefix, guards }: Place): void {
  const handlers = route.stack.map((inner) => inner.handle);
  const own = handlers.some((handler) => coreOf(handler) === walk.core);
  const behind = (path: string) => own || guards.some((guard) => guard(path));
  for (const method of Object.keys(route.methods)) {
    if (!route.methods[method]) continue;
    const name = method === "_all" ? undefined : method.toUpperCase();
    walk.routes.push({ method: name, path: prefix + String(route.path), handlers, answers, behind });
  }
}

/** The part of `path` that the layer matched; undefined where it does not match or cannot decode. */
function matched(layer: Layer, path: string): string | undefined {
  try {
    const match = layer.match?.(path);
    if (!match) return undefined;
    return typeof match === "object" ? match.path : (layer.path ?? "");
  } catch {
    // A layer that cannot decode the path does not answer it.
    return undefined;
  }
}

function restAfter(layer: Layer, path: string): string | undefined {
  const match = matched(layer, path);
  if (match === undefined) return undefined;
  const rest = path.slice(match.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Express 4 keeps only the pattern of a mount, so its path is shown as `…`. */
function mountOf(layer: Layer): string {
  if (layer.rawPath === "/" || matched(layer, "/") === "") return "";
  return typeof layer.rawPath === "string" ? layer.rawPath : "/…";
}

function stackOf(handle: unknown): readonly Layer[] {
  const isRouter = typeof handle === "function" && "stack" in handle && Array.isArray(handle.stack);
  return isRouter ? (handle.stack as readonly Layer[]) : [];
}

/** Express 4 has `_router`, and throws when `router` is read; Express 5 has `router`. A router may be given as well. */
function routerOf(app: unknown): unknown {
  if (typeof app !== "function" || stackOf(app).length > 0) return app;
  if ("_router" in app && app._router) return app._router;
  if ("lazyrouter" in app) return undefined;
  return "router" in app ? app.router : undefined;
}
