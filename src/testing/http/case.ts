// One case: a name that says what a buyer or a seller can rely on, and what proves it on any framework.
import type { Sandbox } from "../sandbox.js";
import type { Ability, HttpFramework } from "./framework.js";
import { openShop, type Shop, type ShopOptions } from "./shop.js";

export interface HttpCase {
  /** A sentence about behaviour. */
  readonly name: string;
  readonly needs?: Ability;
  /** Rejects with what was expected and what came. */
  run(framework: HttpFramework, sandbox: Sandbox): Promise<void>;
}

/** A case with one shop, which is closed whatever happens; closing runs the standing test. */
export function inShop(
  name: string,
  options: ShopOptions & { readonly needs?: Ability },
  use: (shop: Shop, sandbox: Sandbox) => Promise<void>,
): HttpCase {
  const { needs, ...shopOptions } = options;
  return {
    name,
    ...(needs && { needs }),
    async run(framework, sandbox) {
      const shop = await openShop(framework, sandbox, shopOptions);
      try {
        await use(shop, sandbox);
      } catch (error) {
        // The failure itself is the message; what closing would say after it is not.
        await shop.close().catch(() => undefined);
        throw error;
      }
      await shop.close();
    },
  };
}

/** Cases whose handlers share state are made anew for each run. */
export function fresh(name: string, make: () => HttpCase): HttpCase {
  const { needs } = make();
  return { name, ...(needs && { needs }), run: (framework, sandbox) => make().run(framework, sandbox) };
}

export interface Latch {
  readonly opened: Promise<void>;
  open(): void;
}

export function latch(): Latch {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
