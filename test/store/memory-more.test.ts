import { memoryStore } from "../../src/store/memory.js";
import { createFakeClock } from "../support/fake-clock.js";
import { describeExactness } from "./contract-more.js";

describeExactness("memory", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  // Closing is the end of a memory, and the next one begins later.
  const close = async () => {
    await clock.advance(1);
    await store.close();
  };
  return { store: { ...store, close }, advance: clock.advance };
});
