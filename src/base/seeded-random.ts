import type { Random } from './random.ts'

/** A random source that is reproducible from its seed. Not for secrets. */
export class SeededRandom implements Random {
  readonly #seed: string
  // The state of sfc32: three mixed words and a counter, which guarantees a long period for every seed.
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number | string) {
    this.#seed = String(seed)
    this.#a = hash(this.#seed, 0x9e3779b9)
    this.#b = hash(this.#seed, 0x243f6a88)
    this.#c = hash(this.#seed, 0xb7e15162)
    // Seeds that differ in one bit produce similar states at first; twelve rounds remove the similarity.
    for (let i = 0; i < 12; i++) this.#word()
  }

  /** Returns an independent source for one purpose. It depends only on the seed and the name, not on earlier draws. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`)
  }

  next(): number {
    return this.#word() / 2 ** 32
  }

  uuid(): string {
    const hex = [this.#word(), this.#word(), this.#word(), this.#word()]
      .map((word) => word.toString(16).padStart(8, '0'))
      .join('')
    const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  /** Returns an integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Returns a number in [low, high). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns one element with equal probability. The list must not be empty. */
  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}

/** FNV-1a over UTF-16 units, mixed at the end as murmur3 does. */
function hash(text: string, salt: number): number {
  let h = (0x811c9dc5 ^ salt) | 0
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
