const { VITEST, COXSWAIN_ASSERT } = process.env

/** True in tests and with `COXSWAIN_ASSERT=1`. */
const isChecking = VITEST !== undefined || COXSWAIN_ASSERT === '1'

/** Throws in tests if an invariant is violated. `holds` is not called otherwise, so checks may be expensive. */
export function assert(holds: () => boolean, invariant: string): void {
  if (isChecking && !holds()) throw new Error(`invariant violated: ${invariant}`)
}
