// Keccak-256 as Ethereum uses it (padding 0x01, not SHA-3's 0x06), for address checksums without a chain library.
// Spec: Keccak reference, sections 1.1 and 1.2. Lanes are pairs of 32-bit words, because bigint lanes are far slower.

const RATE = 136;
const ROUNDS = 24;
/** Low and high word of each round constant, from the reference's feedback shift register. */
const CONSTANTS = roundConstants();

/** Rho and pi: step t moves a lane to the t-th place of their cycle, turned by the t-th triangular number. */
const PLACES = new Uint8Array(24);
const TURNS = new Uint8Array(24);
for (let t = 0, x = 1, y = 0; t < 24; t++) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  PLACES[t] = 2 * (x + 5 * y);
  TURNS[t] = (((t + 1) * (t + 2)) / 2) % 64;
}

function roundConstants(): Uint32Array {
  const words = new Uint32Array(2 * ROUNDS);
  let register = 1;
  for (let round = 0; round < ROUNDS; round++) {
    for (let j = 0; j < 7; j++) {
      register = ((register << 1) ^ ((register >> 7) * 0x71)) & 0xff;
      if ((register & 2) === 0) continue;
      const bit = (1 << j) - 1;
      words[2 * round + (bit >> 5)]! ^= 1 << (bit & 31);
    }
  }
  return words;
}

/** The 32-byte digest of `data`. */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((data.length + 1) / RATE) * RATE);
  padded.set(data);
  padded[data.length] = 0x01;
  padded[padded.length - 1]! |= 0x80;

  const input = new DataView(padded.buffer);
  const state = new Uint32Array(50);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let word = 0; word < RATE / 4; word++) state[word]! ^= input.getUint32(block + 4 * word, true);
    permute(state);
  }

  const digest = new DataView(new ArrayBuffer(32));
  for (let word = 0; word < 8; word++) digest.setUint32(4 * word, state[word]!, true);
  return new Uint8Array(digest.buffer);
}

/** Keccak-f[1600] in place: lane (x, y) is the pair of words at 2 * (x + 5 * y), low word first. */
function permute(state: Uint32Array): void {
  const column = new Uint32Array(10);
  for (let round = 0; round < ROUNDS; round++) {
    mixColumns(state, column);
    rotateAndPlace(state);
    for (let y = 0; y < 50; y += 10) {
      for (let i = 0; i < 10; i++) column[i] = state[y + i]!;
      for (let i = 0; i < 10; i++) state[y + i]! ^= ~column[(i + 2) % 10]! & column[(i + 4) % 10]!;
    }
    state[0]! ^= CONSTANTS[2 * round]!;
    state[1]! ^= CONSTANTS[2 * round + 1]!;
  }
}

/** Theta. */
function mixColumns(state: Uint32Array, column: Uint32Array): void {
  for (let i = 0; i < 10; i++) {
    column[i] = state[i]! ^ state[i + 10]! ^ state[i + 20]! ^ state[i + 30]! ^ state[i + 40]!;
  }
  for (let x = 0; x < 5; x++) {
    const before = 2 * ((x + 4) % 5);
    const after = 2 * ((x + 1) % 5);
    const low = column[before]! ^ ((column[after]! << 1) | (column[after + 1]! >>> 31));
    const high = column[before + 1]! ^ ((column[after + 1]! << 1) | (column[after]! >>> 31));
    for (let y = 0; y < 50; y += 10) {
      state[y + 2 * x]! ^= low;
      state[y + 2 * x + 1]! ^= high;
    }
  }
}

/** Follows the one cycle of all lanes but (0, 0). */
function rotateAndPlace(state: Uint32Array): void {
  let low = state[2]!;
  let high = state[3]!;
  for (let t = 0; t < 24; t++) {
    const at = PLACES[t]!;
    const bits = TURNS[t]!;
    const nextLow = state[at]!;
    const nextHigh = state[at + 1]!;
    // No turn is by whole words, which matters because a shift by 32 is a shift by 0 in JavaScript.
    if (bits < 32) {
      state[at] = (low << bits) | (high >>> (32 - bits));
      state[at + 1] = (high << bits) | (low >>> (32 - bits));
    } else {
      state[at] = (high << (bits - 32)) | (low >>> (64 - bits));
      state[at + 1] = (low << (bits - 32)) | (high >>> (64 - bits));
    }
    low = nextLow;
    high = nextHigh;
  }
}
