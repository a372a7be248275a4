// Results as Markdown: one table for each part and framework, and the goals.

const table = (heads, rows) =>
  [heads, heads.map((_, i) => (i === 0 ? "---" : "---:")), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const whole = (value) => Math.round(value).toLocaleString("en-US");
const tenth = (value) => (value === undefined ? "–" : value.toFixed(1));
const hundredth = (value) => value.toFixed(2);
const percent = (value) => `±${Math.round(value * 100)} %`;
const micro = (value) => (value < 100 ? value.toFixed(1) : whole(value));

/** Answers other than the one that is wanted are a fault of the run, so they are shown. */
const answers = (row) =>
  Object.entries(row.statuses)
    .map(([status, count]) => `${status}: ${whole(count)}`)
    .join(", ") + (row.dry ? " (payments ran out)" : "");

const wire = ({ version }) => (version === undefined ? "–" : `v${version}`);

const loadRow = (row) => [
  row.library,
  `${whole(row.rps)} ${percent(row.rpsSpread)}`,
  hundredth(row.rpsRatio),
  `${micro(row.cpuUs)} ${percent(row.cpuSpread)}`,
  hundredth(row.cpuRatio),
  micro(row.addedUs),
  `${hundredth(row.p50)} / ${hundredth(row.p99)}`,
  answers(row),
];
const LOAD_HEADS = ["", "requests/s", "÷ bare", "CPU µs", "÷ bare", "added µs", "p50 / p99 ms", "answers"];

const PARTS = {
  free: { title: "Free route", heads: LOAD_HEADS, row: loadRow },
  unpaid: { title: "Request without a payment", heads: LOAD_HEADS, row: loadRow },
  paid: {
    title: "Paid request",
    heads: ["", "wire", ...LOAD_HEADS.slice(1, -1), "verify + settle calls", "answers"],
    row: (row) => {
      const [name, ...figures] = loadRow(row);
      const calls = `${tenth(row.verifyCalls)} + ${tenth(row.settleCalls)}`;
      return [name, wire(row), ...figures.slice(0, -1), calls, figures.at(-1)];
    },
  },
  imports: {
    title: "Import",
    heads: ["", "import ms", "above bare", "RSS MB", "heap MB"],
    row: (row) => [row.library, whole(row.importMs), whole(row.addedMs), tenth(row.rssMb), tenth(row.heapMb)],
  },
  growth: {
    title: "Memory left after many requests (MB)",
    heads: ["", "at start", "RSS after unpaid", "heap after unpaid", "RSS after paid", "heap after paid"],
    row: (row) => [
      row.library,
      ...[row.startMb, row.unpaidRssMb, row.unpaidHeapMb, row.paidRssMb, row.paidHeapMb].map(tenth),
    ],
  },
  stream: {
    title: "Paid event stream",
    heads: ["", "first byte ms", "whole stream ms", "status"],
    row: (row) => [row.library, tenth(row.firstByteMs), whole(row.totalMs), row.statuses],
  },
  download: {
    title: "64 MB paid answer",
    heads: ["", "ms", "peak RSS above start, MB", "bytes", "status"],
    row: (row) => [row.library, whole(row.totalMs), tenth(row.peakMb), whole(row.bytes), row.statuses],
  },
};

function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

/** Routes are wide: one column for each size. */
function routesTables(rows) {
  const sizes = [...new Set(rows.map((row) => row.routes))];
  const groups = groupBy(
    rows,
    ({ framework, kind }) => `Many priced routes, ${framework}, ${kind}: CPU µs (requests/s)`,
  );
  return [...groups].map(([title, group]) => {
    const lines = [...groupBy(group, ({ library }) => library)].map(([library, own]) => {
      const cells = sizes.map((size) => own.find((row) => row.routes === size));
      const last = cells.at(-1).cpuUs / cells[0].cpuUs;
      return [library, ...cells.map((row) => `${micro(row.cpuUs)} (${whole(row.rps)})`), hundredth(last)];
    });
    const heads = ["", ...sizes.map((size) => `${whole(size)} routes`), `${whole(sizes.at(-1))} ÷ ${whole(sizes[0])}`];
    return `### ${title}\n\n${table(heads, lines)}\n`;
  });
}

function partTables(part, rows) {
  if (part === "routes") return routesTables(rows);
  const { title, heads, row } = PARTS[part];
  return [...groupBy(rows, ({ framework }) => framework)].map(
    ([framework, own]) => `### ${title}, ${framework}\n\n${table(heads, own.map(row))}\n`,
  );
}

/** The whole run. */
export function toMarkdown({ about, results, goals }) {
  const judged = goals.map(({ name, limit, got, kept }) => [name, limit, hundredth(got), kept ? "kept" : "**missed**"]);
  return [
    `${about.date}, Node ${about.node}, ${about.cpus} × ${about.cpu}, load average up to ${hundredth(about.load)}; ${about.rounds} rounds of ${about.ms} ms, ${about.connections} connections.`,
    Object.entries(about.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(" · "),
    "",
    ...(judged.length > 0 ? [`### Goals\n\n${table(["", "goal", "measured", ""], judged)}\n`] : []),
    ...Object.entries(results).flatMap(([part, rows]) => partTables(part, rows)),
  ].join("\n");
}
