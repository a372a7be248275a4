// The HTTP face of a published facilitator on a free port; its URL is printed when it listens.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export function serve(facilitator) {
  const routes = {
    "GET /supported": () => facilitator.getSupported(),
    "POST /verify": (body) => facilitator.verify(body.paymentPayload, body.paymentRequirements),
    "POST /settle": (body) => facilitator.settle(body.paymentPayload, body.paymentRequirements),
  };

  const server = createServer(async (req, res) => {
    res.setHeader("content-type", "application/json");
    try {
      const answer = routes[`${req.method} ${req.url}`];
      const body = await text(req);
      if (!answer) res.statusCode = 404;
      res.end(JSON.stringify(answer ? await answer(body && JSON.parse(body)) : { error: "not found" }));
    } catch (error) {
      console.error(error);
      res.statusCode = 500;
      res.end(JSON.stringify({ error: String(error) }));
    }
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}
