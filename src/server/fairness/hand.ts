/** Mixes the bits of a number of 32 bits. */
function mix(n: number): number {
  let h = n ^ (n >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

function hashOf(text: string, seed: number): number {
  let h = seed
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16_777_619)
  return mix(h)
}

/**
 * The queues that a flow may wait in, dealt from all queues by the flow's name: a flow that floods its own leaves at
 * least one of nearly every other flow alone.
 */
export function dealHand(flow: string, queues: number, handSize: number): number[] {
  const hand: number[] = []
  for (let i = 0; i < Math.min(handSize, queues); i++) {
    // A card of those that are left; each card of the hand that is not above it moves it up.
    let card = hashOf(flow, 0x811c9dc5 + i) % (queues - i)
    for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card++
    hand.push(card)
  }
  return hand
}
