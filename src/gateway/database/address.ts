// Addresses as the database compares them.

/** One spelling of an address: the letters of an EVM address say nothing but its checksum. Those of Solana are the address. */
export const spellAddress = (address: string): string => (address.startsWith("0x") ? address.toLowerCase() : address);
