/** Mixes the bits of a 32-bit number. */
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
 * Shuffle sharding: deals a flow's queues by a hash of its name. A flow that fills its own queues leaves nearly every
 * other flow at least one.
 */
export function dealHand(flow: string, queues: number, handSize: number): number[] {
  const hand: number[] = []
  for (let i = 0; i < Math.min(handSize, queues); i++) {
    // The card's index among the remaining ones. Each smaller or equal card of the hand shifts it by one.
    let card = hashOf(flow, 0x811c9dc5 + i) % (queues - i)
    for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card++
    hand.push(card)
  }
  return hand
}
