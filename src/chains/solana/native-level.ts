// How sure a payment in SOL must be. A cluster knows two levels beyond a mere block; whoever asks for as many blocks as
// finality takes gets finality.

/** From so many blocks on a payment has to be final. */
const FINAL_CONFIRMATIONS = 32;

/** The commitment that stands for so many blocks; where their number is not known, finality alone counts. */
export const levelFor = (confirmations: number | undefined): "confirmed" | "finalized" =>
  confirmations !== undefined && confirmations < FINAL_CONFIRMATIONS ? "confirmed" : "finalized";
