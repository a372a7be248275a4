// Where a process of the rig may be hit: each point stands around the store, the receiver, the node or the connection, so that no
// line of the product knows of it. The first payment that comes to the point named by POINT meets ACT: `die` is SIGKILL, `stop` is
// SIGSTOP until somebody sends SIGCONT, `tell` says so on standard error and waits for SIGUSR2.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const never = () => new Promise(() => {});

/** The points of a write of a proof's record, before and after it. */
function pointsOf({ settlement, delivery, trace }) {
  if (settlement === "claimed") return ["verified, not claimed", "claimed"];
  if (settlement === "settling" && !trace.transaction) return [undefined, "settling, not signed"];
  if (settlement === "settling") return ["signed, not announced", "announced, not sent"];
  if (settlement !== "settled") return [];
  if (delivery === "delivering") return ["mined, not written", "settled, not answered"];
  return delivery === "delivered" ? ["answered, not written", "delivered"] : [];
}

/** @param point one of the names here @param act `die`, `stop` or `tell` */
export function createPoints(point, act) {
  /** Transactions that were announced. */
  const announced = new Set();
  let hit = false;

  const meet = async () => {
    hit = true;
    process.stderr.write(`came to the point: ${point}\n`);
    if (act === "tell") {
      const resumed = new Promise((resolve) => process.once("SIGUSR2", resolve));
      return resumed;
    }
    process.kill(process.pid, act === "stop" ? "SIGSTOP" : "SIGKILL");
    if (act !== "stop") await never();
  };
  const isAt = (name) => !hit && name !== undefined && name === point;
  const at = (name) => (isAt(name) ? meet() : undefined);

  /** Sends half of the answer, and the rest if the process still lives. */
  function cutInTwo(res) {
    for (const name of ["write", "end"]) {
      const original = res[name].bind(res);
      res[name] = (chunk, ...rest) => {
        if (typeof chunk === "function" || !chunk?.length || res.statusCode >= 300 || !isAt("half is answered")) {
          return original(chunk, ...rest);
        }
        const bytes = Buffer.from(chunk);
        const half = bytes.length >> 1;
        hit = true;
        res.constructor.prototype.write.call(res, bytes.subarray(0, half), () => {
          void meet().then(() => original(bytes.subarray(half), ...rest));
        });
        return true;
      };
    }
  }

  return {
    at,
    answer(res) {
      if (point === "half is answered") cutInTwo(res);
    },
    store: (store) => ({
      ...store,
      async commit(transaction) {
        const record = transaction.writes.find(({ key }) => key.startsWith("proof:"))?.value;
        const [before, afterwards] = record ? pointsOf(record) : [];
        await at(before);
        const result = await store.commit(transaction);
        if (result === "ok") await at(afterwards);
        return result;
      },
    }),
    receiver: (receiver) => ({
      ...receiver,
      settle(proof, context) {
        const sending = async (transaction, expiry) => {
          await context.sending(transaction, expiry);
          announced.add(transaction.toLowerCase());
        };
        return receiver.settle(proof, { ...context, sending });
      },
    }),
    /** A node in front of the node, which keeps back the answer that tells that the bytes have left. */
    async passOn(rpcUrl) {
      if (point !== "the bytes have left") return rpcUrl;
      const server = createServer(async (req, res) => {
        const body = await text(req);
        const got = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
        const answer = await got.text();
        const isSent = body.includes("eth_sendRawTransaction") && [...announced].some((id) => answer.includes(id));
        if (isSent && !hit) await meet();
        res.writeHead(got.status, { "content-type": "application/json" }).end(answer);
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${server.address().port}`;
    },
  };
}
