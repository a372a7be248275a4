// Where a gateway's process may end: each point stands around database, networks or node, so that no line of the product knows
// of it. A process that is told a point kills itself there with SIGKILL, once as many requests have come there as it is told.
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** Requests with this header may end the process; repeats, the background and everybody else pass. */
const DYING = "x-dies";

const never = () => new Promise(() => {});

/** @param point one of the names below @param count how many requests have to come there */
export function createDeath(point, count) {
  const requests = new AsyncLocalStorage();
  /** Transactions that were announced and not yet seen to leave. */
  const announced = new Set();
  let arrived = 0;

  const end = () => {
    arrived += 1;
    // For who reads why a process has not died: a pipe is written to before the next line runs.
    process.stderr.write(`${arrived} of ${count} have come to the point\n`);
    if (arrived >= count) process.kill(process.pid, "SIGKILL");
    return never();
  };
  const isDying = (name) => name === point && requests.getStore() === true;
  /** Whoever comes here stays, until the process ends. */
  const at = (name) => (isDying(name) ? end() : undefined);

  /** The bytes have left: the node has answered with the id that was announced. */
  const hasLeft = (method, answer) => {
    if (!/"(?:eth_sendRawTransaction|sendTransaction)"/.test(method)) return false;
    const id = [...announced].find((one) => answer.toLowerCase().includes(one.toLowerCase()));
    return id !== undefined && announced.delete(id);
  };

  return {
    /** A gateway whose requests are told apart. */
    around: (gateway) => ({
      ...gateway,
      fetch: (request, env) => requests.run(request.headers.has(DYING), () => gateway.fetch(request, env)),
    }),
    wrap: {
      database: (database) => wrapDatabase(database, at),
      networks: (networks) => wrapNetworks(networks, at, isDying, announced),
    },
    /** A node in front of the node, whose answer is kept back where it tells that the bytes have left. */
    async passOn(rpcUrl) {
      if (point !== "receive: the bytes have left") return rpcUrl;
      const server = createServer(async (req, res) => {
        const body = await text(req);
        const got = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
        const answer = await got.text();
        if (hasLeft(body, answer)) await end();
        res.writeHead(got.status, { "content-type": "application/json" }).end(answer);
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${server.address().port}`;
    },
  };
}

const NAMES = { send: "send", receive: "receive", build_send: "build" };

function wrapDatabase(database, at) {
  const { payments, requests } = database;
  return {
    ...database,
    payments: {
      ...payments,
      async insert(payment, together = {}) {
        const flow = NAMES[payment.flow];
        await at(`${flow}: nothing is written`);
        const { complete } = together;
        const signed =
          complete &&
          (async (nonce) => {
            const made = await complete(nonce);
            await at(`${flow}: it is signed inside the transaction`);
            return made;
          });
        const inserted = await payments.insert(payment, { ...together, ...(signed && { complete: signed }) });
        await at(`${flow}: the record stands`);
        return inserted;
      },
      async change(payment, status, change) {
        const flow = NAMES[payment.flow];
        const changed = await payments.change(payment, status, change);
        if (status === "submitted") await at(`${flow}: the record says submitted`);
        return changed;
      },
    },
    requests: {
      ...requests,
      async finish(id, answer) {
        await at("send: confirmed, no answer is kept");
        await at("receive: confirmed, no answer is kept");
        return requests.finish(id, answer);
      },
    },
  };
}

function wrapNetworks(networks, at, isDying, announced) {
  const known = new Map(networks.all.map((network) => [network, wrapNetwork(network)]));
  const wrapped = (network) => known.get(network);
  return {
    ...networks,
    all: [...known.values()],
    find: (name) => wrapped(networks.find(name)),
    defaultFor: (family, mode) => wrapped(networks.defaultFor(family, mode)),
  };

  function wrapNetwork(network) {
    const { transfers, receiver } = network;
    return {
      ...network,
      transfers: {
        ...transfers,
        async broadcast(pursuit, signal) {
          const result = await transfers.broadcast(pursuit, signal);
          await at("send: the bytes have left");
          return result;
        },
      },
      receiver: {
        ...receiver,
        async settle(proof, context) {
          const sending = async (transaction, expiry) => {
            await context.sending(transaction, expiry);
            if (isDying("receive: the bytes have left")) announced.add(transaction);
          };
          const settlement = await receiver.settle(proof, { ...context, sending });
          // Its bytes are kept back by the node, and it found out in another way: the others are not there yet.
          if (isDying("receive: the bytes have left")) await never();
          if (settlement.outcome === "settled") await at("receive: settled, not written");
          return settlement;
        },
      },
    };
  }
}
