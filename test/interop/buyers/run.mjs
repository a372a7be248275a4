// Runs one published buyer in a process of its own: `node run.mjs BUYER [at-once]`, requests as a JSON array on the standard
// input, answers as a JSON array on the standard output. Whatever a buyer prints goes to the standard error.
import { text } from "node:stream/consumers";

console.log = console.error;
const [buyer, pace] = process.argv.slice(2);
const { pay } = await import(`./${buyer}.mjs`);
const requests = JSON.parse(await text(process.stdin));
const answers = pace === "at-once" ? await Promise.all(requests.map(pay)) : [];
if (pace !== "at-once") for (const request of requests) answers.push(await pay(request));
process.stdout.write(JSON.stringify(answers));
