// The extensions that Token-2022 keeps behind the 165 bytes of an account or a mint: a list of type, length, value.

/** Types that are read or judged, by the program's own numbers. */
export const EXTENSIONS = {
  transferFee: 1,
  transferFeeAmount: 2,
  mintCloseAuthority: 3,
  confidentialTransfer: 4,
  defaultState: 6,
  nonTransferable: 9,
  interestBearing: 10,
  permanentDelegate: 12,
  transferHook: 14,
  confidentialTransferFee: 16,
  metadataPointer: 18,
  metadata: 19,
  groupPointer: 20,
  group: 21,
  groupMemberPointer: 22,
  groupMember: 23,
  confidentialMintBurn: 24,
  scaledUiAmount: 25,
  pausable: 26,
} as const;

export type ExtensionName = keyof typeof EXTENSIONS;

/** Where the list begins: after the 165 bytes of an account, to which a mint is filled up, and one byte for which it is. */
const LIST_AT = 166;

export interface Extension {
  readonly type: number;
  readonly value: Uint8Array;
}

/** All extensions of an account or mint; undefined where the list breaks off. */
export function readExtensions(data: Uint8Array): readonly Extension[] | undefined {
  const found: Extension[] = [];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = LIST_AT;
  // Two zero bytes where a type should be are the unused rest.
  while (at + 2 <= data.length && view.getUint16(at, true) !== 0) {
    if (at + 4 > data.length) return undefined;
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    if (at + 4 + length > data.length) return undefined;
    found.push({ type, value: data.subarray(at + 4, at + 4 + length) });
    at += 4 + length;
  }
  return found;
}

/** The value of one extension. */
export const findExtension = (data: Uint8Array, name: ExtensionName): Uint8Array | undefined =>
  readExtensions(data)?.find(({ type }) => type === EXTENSIONS[name])?.value;
