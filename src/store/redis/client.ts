// The two Redis clients behind one function: run a script that the server most often has already.

/** What is used of a client of `ioredis`, cluster or not. */
export interface IoredisClient {
  evalsha(sha: string, keys: number, ...args: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>;
}

/** What is used of a client of `redis` (node-redis), cluster or not. It has to be connected. */
export interface NodeRedisClient {
  evalSha(sha: string, options: NodeRedisCall): Promise<unknown>;
  eval(script: string, options: NodeRedisCall): Promise<unknown>;
}
export interface NodeRedisCall {
  keys: string[];
  arguments: string[];
}

export type RedisClient = IoredisClient | NodeRedisClient;

/** Runs a script on one key. */
export type Run = (script: string, key: string, args: readonly string[]) => Promise<unknown>;

/** Runs scripts by their digest, and in full where the server does not know them. */
export function runWith(client: RedisClient): Run {
  const digests = new Map<string, Promise<string>>();
  const digestOf = (script: string) => {
    const digest = digests.get(script) ?? sha1(script);
    digests.set(script, digest);
    return digest;
  };
  const once =
    "evalSha" in client
      ? (script: string, sha: string | undefined, key: string, args: readonly string[]) => {
          const call = { keys: [key], arguments: [...args] };
          return sha === undefined ? client.eval(script, call) : client.evalSha(sha, call);
        }
      : (script: string, sha: string | undefined, key: string, args: readonly string[]) =>
          sha === undefined ? client.eval(script, 1, key, ...args) : client.evalsha(sha, 1, key, ...args);
  return async (script, key, args) => {
    const digest = await digestOf(script);
    try {
      return await once(script, digest, key, args);
    } catch (error) {
      // Safe because a script that the server does not know has done nothing.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return once(script, undefined, key, args);
    }
  };
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
