/**
 * The number of bits of each symbol (RFC 7541, appendix B). The code is canonical, so its bits follow from the lengths.
 */
const bitsOf = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26,
]
const endOfString = 256
const endBits = 30
const none = 0xffff

/** A state machine that decodes four bits per step. A state is an inner node of the code tree. */
interface Transitions {
  /** The next state by state and bits. `none` if no symbol has these bits. */
  next: Uint16Array
  /** The symbol that ends there, by state and bits, or `none`. */
  symbol: Uint16Array
  /** True if the text may end in the state: the remaining bits are padding. */
  isEnd: Uint8Array
}

/** The children of each tree node: another node, or the complement of a symbol. 0 is undefined. */
function growTree(): number[][] {
  const symbols = [...bitsOf.map((bits, symbol) => ({ bits, symbol })), { bits: endBits, symbol: endOfString }].sort(
    (a, b) => a.bits - b.bits || a.symbol - b.symbol,
  )
  const tree: number[][] = [[0, 0]]
  let code = 0
  let bits = 0
  for (const leaf of symbols) {
    code *= 2 ** (leaf.bits - bits)
    bits = leaf.bits
    let state = 0
    for (let i = bits - 1; i > 0; i--) {
      const bit = Math.floor(code / 2 ** i) % 2
      if (tree[state]![bit] === 0) tree[state]![bit] = tree.push([0, 0]) - 1
      state = tree[state]![bit]!
    }
    tree[state]![code % 2] = ~leaf.symbol
    code++
  }
  return tree
}

function makeTransitions(): Transitions {
  const tree = growTree()
  const transitions: Transitions = {
    next: new Uint16Array(tree.length * 16).fill(none),
    symbol: new Uint16Array(tree.length * 16).fill(none),
    isEnd: new Uint8Array(tree.length),
  }
  for (let state = 0; state < tree.length; state++) {
    for (let bits = 0; bits < 16; bits++) {
      let at = state
      let symbol = none
      for (let i = 3; i >= 0 && at !== none; i--) {
        const child = tree[at]![(bits >> i) & 1]!
        if (child >= 0) at = child
        else if (~child === endOfString) at = none
        else [at, symbol] = [0, ~child]
      }
      transitions.next[state * 16 + bits] = at
      transitions.symbol[state * 16 + bits] = symbol
    }
  }
  // Padding is a prefix of the end-of-string code, which is all ones, and shorter than a byte.
  for (let at = 0, depth = 0; depth < 8; depth++) {
    transitions.isEnd[at] = 1
    at = tree[at]![1]!
  }
  return transitions
}

let transitions: Transitions | undefined
let output = Buffer.allocUnsafe(1024)

/** Decodes a text. Returns undefined if the bytes are invalid. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | undefined {
  const { next, symbol, isEnd } = (transitions ??= makeTransitions())
  const longest = Math.ceil(((end - start) * 8) / 5)
  if (output.length < longest) output = Buffer.allocUnsafe(longest)
  let state = 0
  let length = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = state * 16 + ((byte >> shift) & 15)
      state = next[step]!
      if (state === none) return undefined
      if (symbol[step] !== none) output[length++] = symbol[step]!
    }
  }
  return isEnd[state] ? output.toString('latin1', 0, length) : undefined
}
