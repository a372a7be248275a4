// What a test file has made is ended with that file, though files share a process and with it this list: a hook at a
// module's top belongs to the first file that loads the module, and to no later one.
type End = () => unknown;

const ends: End[] = [];

/** Called once, when the test file that runs now has ended. */
export const atEndOfFile = (end: End): void => void ends.push(end);

export async function endFile(): Promise<void> {
  await Promise.all(ends.splice(0).map((end) => end()));
}
