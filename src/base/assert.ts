const { VITEST, COXSWAIN_ASSERT } = process.env

/** True in tests and with `COXSWAIN_ASSERT=1`. Hot paths ask it first, so that they make no closure otherwise. */
export const isAsserting = VITEST !== undefined || COXSWAIN_ASSERT === '1'

/** Throws in tests if an invariant is violated. `holds` is not called otherwise, so checks may be expensive. */
export function assert(holds: () => boolean, invariant: string): void {
  if (isAsserting && !holds()) throw new Error(`invariant violated: ${invariant}`)
}
