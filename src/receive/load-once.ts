// Chain code is loaded at first use. The promise is kept, because even of a loaded module `import()` takes a good part of
// what a signature check itself does; a failed load is tried again.

/** A function that loads once, whoever asks how often. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
