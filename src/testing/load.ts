// Loads a part that needs a package of the user's own, so that `tollgate/testing` can be imported without it.

/** Rejects with a sentence that names what to install when a package is missing. */
export async function load<Module>(part: Promise<Module>, sentence: string): Promise<Module> {
  return part.catch((error: unknown) => {
    if (!isMissingPackage(error)) throw error;
    throw new Error(sentence, { cause: error });
  });
}

const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
