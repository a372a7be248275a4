// One Postgres and one Redis for the tests of a file, started when they are first asked for and ended with it.
import { atEndOfFile } from "../support/end-of-file.js";
import { type PostgresServer, startPostgres } from "../support/postgres.js";
import { type RedisServer, startRedis } from "../support/redis.js";

export const sharedPostgres: () => Promise<PostgresServer> = oncePerFile(startPostgres);
export const sharedRedis: () => Promise<RedisServer> = oncePerFile(startRedis);

function oncePerFile<Service extends { stop(): Promise<void> }>(start: () => Promise<Service>): () => Promise<Service> {
  let started: Promise<Service> | undefined;
  return () => {
    if (started) return started;
    const service = start();
    started = service;
    atEndOfFile(async () => {
      // The next test file in this process starts one of its own.
      started = undefined;
      await (await service).stop();
    });
    return service;
  };
}
