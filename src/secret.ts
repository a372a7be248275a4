// What a message must never repeat: a key or a password that was put in the wrong place.

/** Could this text hold a private key, or be a URL with a password? */
export const mayBeSecret = (text: string): boolean => /[0-9a-f]{64}/i.test(text) || /\/\/[^/]*@/.test(text);

/** Stands in its place. */
export const NOT_SHOWN = "a text that may hold a secret (not shown)";
