/** RFC 7541, appendix B: how many bits each byte takes. The code is canonical, so its bits follow from that. */
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

/** What four more bits lead to, from each place between two letters. */
interface Steps {
  /** By place and bits: the next place; `none` where no letter has such bits. */
  next: Uint16Array
  /** By place and bits: the letter that ends there, or `none`. */
  letter: Uint16Array
  /** By place: whether a text may end here, what is left over being filling. */
  isEnd: Uint8Array
}

/** Children of the places of the tree: another place, or a letter as its complement; 0 where there is none yet. */
function growTree(): number[][] {
  const letters = [...bitsOf.map((bits, letter) => ({ bits, letter })), { bits: endBits, letter: endOfString }].sort(
    (a, b) => a.bits - b.bits || a.letter - b.letter,
  )
  const tree: number[][] = [[0, 0]]
  let code = 0
  let bits = 0
  for (const leaf of letters) {
    code *= 2 ** (leaf.bits - bits)
    bits = leaf.bits
    let place = 0
    for (let i = bits - 1; i > 0; i--) {
      const bit = Math.floor(code / 2 ** i) % 2
      if (tree[place]![bit] === 0) tree[place]![bit] = tree.push([0, 0]) - 1
      place = tree[place]![bit]!
    }
    tree[place]![code % 2] = ~leaf.letter
    code++
  }
  return tree
}

function makeSteps(): Steps {
  const tree = growTree()
  const steps: Steps = {
    next: new Uint16Array(tree.length * 16).fill(none),
    letter: new Uint16Array(tree.length * 16).fill(none),
    isEnd: new Uint8Array(tree.length),
  }
  for (let place = 0; place < tree.length; place++) {
    for (let bits = 0; bits < 16; bits++) {
      let at = place
      let letter = none
      for (let i = 3; i >= 0 && at !== none; i--) {
        const child = tree[at]![(bits >> i) & 1]!
        if (child >= 0) at = child
        else if (~child === endOfString) at = none
        else [at, letter] = [0, ~child]
      }
      steps.next[place * 16 + bits] = at
      steps.letter[place * 16 + bits] = letter
    }
  }
  // Filling is the beginning of the end's code, which is all ones, and shorter than a byte.
  for (let at = 0, depth = 0; depth < 8; depth++) {
    steps.isEnd[at] = 1
    at = tree[at]![1]!
  }
  return steps
}

let steps: Steps | undefined
let letters = Buffer.allocUnsafe(1024)

/** The text of these bytes; undefined if they are none. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | undefined {
  const { next, letter, isEnd } = (steps ??= makeSteps())
  const longest = Math.ceil(((end - start) * 8) / 5)
  if (letters.length < longest) letters = Buffer.allocUnsafe(longest)
  let place = 0
  let length = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = place * 16 + ((byte >> shift) & 15)
      place = next[step]!
      if (place === none) return undefined
      if (letter[step] !== none) letters[length++] = letter[step]!
    }
  }
  return isEnd[place] ? letters.toString('latin1', 0, length) : undefined
}
