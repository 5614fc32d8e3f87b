import { assert, isAsserting } from '../../../base/assert.ts'

/**
 * The driver appends white space to each value, which JSON readers skip: a line feed, the mark of the version in 12
 * characters of 2 bits, and a number of the write in 16 characters. The number distinguishes writes of equal bytes when
 * a response was lost.
 */
const digits = ' \t\r\n'
const markDigits = 12
const writeDigits = 16
const suffixBytes = 1 + markDigits + writeDigits
const lineFeed = 0x0a
/** The digit of each byte; -1 if it is none. */
const digitOf = new Int8Array(256).fill(-1)
for (const [i, digit] of Array.from(digits).entries()) digitOf[digit.charCodeAt(0)] = i
/**
 * Values that Kubernetes has encrypted are authenticated byte by byte, so the driver appends nothing to them and they
 * have no mark.
 */
const encrypted = Buffer.from('k8s:enc:')

/** Returns the stored form of a value. `writeId` must be below 2^32. */
export function storedValue(value: Buffer, mark: number | undefined, writeId: number): Buffer {
  if (value.subarray(0, encrypted.length).equals(encrypted)) return value
  if (isAsserting) assert(() => writeId >= 0 && writeId < 2 ** 32, 'the number of a write is below 2^32')
  const stored = Buffer.allocUnsafe(value.length + suffixBytes)
  value.copy(stored)
  let at = value.length
  stored[at++] = lineFeed
  at = writeNumber(stored, at, mark ?? 0, markDigits)
  writeNumber(stored, at, writeId, writeDigits)
  return stored
}

/**
 * Splits a stored value into value and mark. The value shares its memory. One that another program stored is returned
 * unchanged.
 */
export function readValue(stored: Buffer): { value: Buffer; mark: number | undefined } {
  const end = stored.length - suffixBytes
  const mark =
    end >= 0 && stored[end] === lineFeed && isSuffix(stored, end + 1) ? readNumber(stored, end + 1, markDigits) : -1
  return mark < 0 ? { value: stored, mark: undefined } : { value: stored.subarray(0, end), mark: mark || undefined }
}

function isSuffix(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (digitOf[bytes[i]!]! < 0) return false
  return true
}

function writeNumber(bytes: Buffer, at: number, value: number, count: number): number {
  let rest = value
  for (let i = at + count - 1; i >= at; i--) {
    bytes[i] = digits.charCodeAt(rest % 4)
    rest = Math.floor(rest / 4)
  }
  return at + count
}

function readNumber(bytes: Buffer, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) value = value * 4 + digitOf[bytes[i]!]!
  return value
}

/** kine creates this key when it starts. */
const kinesOwn = Buffer.from('/registry/health')

/** Maps keys of the store to keys of etcd: `ours` + x becomes `theirs` + x. Every x starts with a slash. */
export class KeyLayout {
  readonly #ours: string
  readonly #theirs: string
  readonly #theirLength: number
  readonly #isSame: boolean
  /** The prefix of all keys. */
  readonly root: Buffer
  /**
   * The key that is written to make watches report their progress. It is not a key of the store and sorts directly
   * before them.
   */
  readonly fence: Buffer

  constructor(ours: string, theirs: string) {
    this.#ours = ours
    this.#theirs = theirs.replace(/\/+$/, '')
    this.#theirLength = Buffer.byteLength(this.#theirs)
    this.#isSame = this.#ours === this.#theirs
    this.root = Buffer.from(`${this.#theirs}/`)
    this.fence = Buffer.from(`${this.#theirs}!fence`)
  }

  /** Maps a key. Throws if it does not start with `ours`. */
  toEtcd(key: string): Buffer {
    if (!key.startsWith(`${this.#ours}/`)) throw new RangeError(`the key ${key} is not below ${this.#ours}/`)
    return Buffer.from(this.#theirs + key.slice(this.#ours.length))
  }

  fromEtcd(key: Buffer): string {
    return this.#isSame ? key.toString() : this.#ours + key.toString('utf8', this.#theirLength)
  }

  /** Maps a prefix. A prefix shorter than `ours` matches all keys. */
  prefixToEtcd(prefix: string): Buffer {
    return `${this.#ours}/`.startsWith(prefix) ? this.root : this.toEtcd(prefix)
  }

  isOurs(key: Buffer): boolean {
    return key.length > this.root.length && this.root.compare(key, 0, this.root.length) === 0 && !key.equals(kinesOwn)
  }

  /**
   * A key to read for the current revision. kine takes the revision from the row that it finds; without one, it answers
   * with a revision that may be a second old if there are other processes of kine.
   */
  revisionKey(isKine: boolean): Buffer {
    return isKine ? kinesOwn : this.fence
  }
}

/** Returns the first key after all keys that start with `prefix`. */
export function endOf(prefix: Buffer): Buffer {
  for (let last = prefix.length - 1; last >= 0; last--) {
    if (prefix[last] === 0xff) continue
    const end = Buffer.from(prefix.subarray(0, last + 1))
    end[last]!++
    return end
  }
  // A zero byte means "no upper bound" in etcd's API.
  return Buffer.from([0])
}
