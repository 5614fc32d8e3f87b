import { randomUUID } from 'node:crypto'

/** The only source of chance. Production uses `systemRandom`; tests hand in a seeded one. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** An RFC 4122 version 4 UUID. */
  uuid(): string
}

export const systemRandom: Random = { next: Math.random, uuid: randomUUID }
