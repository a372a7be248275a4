// One figure of a running gateway, as its operator reads it.

/** @param name of a gauge or counter without labels */
export async function figureOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (found === undefined) throw new Error(`the gateway has no figure ${name}`);
  return Number(found);
}
