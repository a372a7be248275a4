// Replaces the passphrase of the hosted wallets. Everything is sealed anew in one transaction, so that a crash leaves either
// the old passphrase or the new one, never some of both. Running instances must be started again with the new one.
import { type CustodyDatabase, openVault } from "./custody.js";
import { checkPassphrase, refused } from "./passphrase.js";
import { createVault, newSalt, sealWord } from "./vault.js";

/**
 * Seals every hosted wallet under another passphrase; gives the number of wallets.
 *
 * @throws PaywallConfigError where the old passphrase is wrong or the new one weak, and where there is nothing to rotate;
 *   Error where a wallet does not open. Nothing is changed then.
 */
export async function rotatePassphrase({ wallets }: CustodyDatabase, old: string, next: string): Promise<number> {
  checkPassphrase(next);
  if (old === next) throw refused(undefined, "expected another passphrase than the present one, got the same");
  if (!(await wallets.readVault()))
    throw refused(undefined, "expected a database with hosted wallets, got one without");
  const { vault: opened } = await openVault(old, wallets);
  const salt = newSalt();
  const sealing = await createVault(next, salt);
  return wallets.resealAll({ salt, check: sealWord(sealing) }, ({ id, account, sealedKey }) => {
    const place = { account, wallet: id };
    const secret = opened.open(sealedKey, place);
    if (!secret) throw new Error(`The key of the hosted wallet ${id} cannot be opened, so nothing was changed`);
    try {
      return sealing.seal(secret, place);
    } finally {
      secret.fill(0);
    }
  });
}
