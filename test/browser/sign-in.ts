// Somebody who comes to the dashboard of a world by a link.
import type { Browser } from "playwright-core";
import { linkFor, tokenOf } from "../gateway/dashboard/visitor.js";
import type { GatewayWorld } from "../gateway/world.js";
import { type Visit, visit } from "./visit.js";

export const siteOf = ({ url }: GatewayWorld): string => `${url.replace("127.0.0.1", "localhost")}/dashboard`;

/** In a new window, or in the one that is given. */
export async function signInBy(browser: Browser, world: GatewayWorld, account: string, given?: Visit): Promise<Visit> {
  const at = given ?? (await visit(browser));
  await at.page.goto(`${siteOf(world)}/login#${tokenOf(await linkFor(world, account))}`);
  await at.page.getByRole("heading", { name: "Overview" }).waitFor();
  return at;
}
