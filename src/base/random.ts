import { randomUUID } from 'node:crypto'

/** The only source of randomness. Production uses `systemRandom`; tests pass a seeded one. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number
  /** Returns an RFC 4122 version 4 UUID. */
  uuid(): string
}

export const systemRandom: Random = { next: Math.random, uuid: randomUUID }
