// Runs one published buyer in a process of its own: `node run.mjs BUYER`, requests as a JSON array on the standard
// input, answers as a JSON array on the standard output. Whatever a buyer prints goes to the standard error.
import { text } from "node:stream/consumers";

console.log = console.error;
const { pay } = await import(`./${process.argv[2]}.mjs`);
const answers = [];
for (const request of JSON.parse(await text(process.stdin))) answers.push(await pay(request));
process.stdout.write(JSON.stringify(answers));
