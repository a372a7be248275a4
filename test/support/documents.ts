// What the tests of the documents read from them: links, headings, and the code that a reader would copy.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Link {
  /** The document it stands in. */
  readonly from: string;
  /** What it leads to, from the same root. */
  readonly to: string;
  readonly heading: string | undefined;
}

/** Links of these documents to files and headings; those to the web are left out. */
export function linksOf(root: string, documents: readonly string[]): readonly Link[] {
  return documents.flatMap((from) => {
    const text = readFileSync(join(root, from), "utf8");
    const links = [...text.matchAll(/\]\(([^)#]*)#?([^)]*)\)/g)].filter(([, file]) => !/^https?:/.test(file!));
    return links.map(([, file, heading]) => ({
      from,
      to: file ? join(dirname(from), file) : from,
      heading: heading || undefined,
    }));
  });
}

/** The names under which a document's headings can be linked to. */
export function headingsOf(path: string): readonly string[] {
  return [...readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** The TypeScript blocks of a document, in order. */
export function codeOf(path: string): readonly string[] {
  return [...readFileSync(path, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
}
