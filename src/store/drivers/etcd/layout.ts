/**
 * What the driver adds to a value: white space behind it, which every reader of JSON skips. A line feed, the mark of the
 * version in 12 characters of 2 bits, and a number of the write in 16. The number tells a write from another one of the
 * same bytes, when its answer was lost.
 */
const digits = ' \t\r\n'
const markDigits = 12
const writeDigits = 16
const suffixBytes = 1 + markDigits + writeDigits
const lineFeed = 0x0a
const digitOf = new Map(Array.from(digits, (digit, i) => [digit.charCodeAt(0), i]))
/** Values that Kubernetes has encrypted must stay as they are: whoever decrypts them checks every byte. They keep no mark. */
const encrypted = Buffer.from('k8s:enc:')

/** A value as it is stored. `writeId` is below 2^32. */
export function storedValue(value: Buffer, mark: number | undefined, writeId: number): Buffer {
  if (value.subarray(0, encrypted.length).equals(encrypted)) return value
  const stored = Buffer.allocUnsafe(value.length + suffixBytes)
  value.copy(stored)
  let at = value.length
  stored[at++] = lineFeed
  at = writeNumber(stored, at, mark ?? 0, markDigits)
  writeNumber(stored, at, writeId, writeDigits)
  return stored
}

/** The value and its mark; a value that another program has stored is returned as it is. */
export function readValue(stored: Buffer): { value: Buffer; mark: number | undefined } {
  const end = stored.length - suffixBytes
  const mark = end >= 0 && stored[end] === lineFeed && isSuffix(stored, end + 1) ? readNumber(stored, end + 1, markDigits) : -1
  if (mark < 0) return { value: Buffer.from(stored), mark: undefined }
  return { value: Buffer.from(stored.subarray(0, end)), mark: mark || undefined }
}

function isSuffix(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (!digitOf.has(bytes[i]!)) return false
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
  for (let i = at; i < at + count; i++) value = value * 4 + digitOf.get(bytes[i]!)!
  return value
}

/** Names keys for etcd: what the store calls `ours` + x is `theirs` + x there. Every x starts with a slash. */
export class KeyLayout {
  readonly #ours: string
  readonly #theirs: string
  readonly #theirLength: number
  /** The prefix of all keys. */
  readonly root: Buffer
  /** A key that is written so that watches say how far they are. It is none of the store's, and sorts just before them. */
  readonly fence: Buffer

  constructor(ours: string, theirs: string) {
    this.#ours = ours
    this.#theirs = theirs.replace(/\/+$/, '')
    this.#theirLength = Buffer.byteLength(this.#theirs)
    this.root = Buffer.from(`${this.#theirs}/`)
    this.fence = Buffer.from(`${this.#theirs}!fence`)
  }

  /** Throws for a key that is not below `ours`. */
  toEtcd(key: string): Buffer {
    if (!key.startsWith(`${this.#ours}/`)) throw new RangeError(`the key ${key} is not below ${this.#ours}/`)
    return Buffer.from(this.#theirs + key.slice(this.#ours.length))
  }

  fromEtcd(key: Buffer): string {
    return this.#ours + key.toString('utf8', this.#theirLength)
  }

  /** The prefix of keys in etcd. One that is shorter than `ours` is that of all keys. */
  prefixToEtcd(prefix: string): Buffer {
    return `${this.#ours}/`.startsWith(prefix) ? this.root : this.toEtcd(prefix)
  }

  isOurs(key: Buffer): boolean {
    return key.length > this.root.length && this.root.compare(key, 0, this.root.length) === 0
  }
}

/** The first key behind all that start with `prefix`. */
export function endOf(prefix: Buffer): Buffer {
  for (let last = prefix.length - 1; last >= 0; last--) {
    if (prefix[last] === 0xff) continue
    const end = Buffer.from(prefix.subarray(0, last + 1))
    end[last]!++
    return end
  }
  // All keys: etcd's own way to say it.
  return Buffer.from([0])
}
