import type { PriorityLevelConfiguration } from '../../api/generated/types.ts'

/** The bounds of a level's seats: what it is given, what it keeps of that, and what it may have at most. */
export interface Bounds {
  nominal: number
  least: number
  most: number
}

const sharesOf = ({ spec }: PriorityLevelConfiguration): number =>
  (spec.limited ?? spec.exempt)?.nominalConcurrencyShares ?? (spec.type === 'Limited' ? 30 : 0)

/** Divides the seats of the server between levels, by their shares. */
export function boundsOf(levels: readonly PriorityLevelConfiguration[], total: number): Map<string, Bounds> {
  const shares = levels.reduce((sum, level) => sum + sharesOf(level), 0)
  const bounds = new Map<string, Bounds>()
  for (const level of levels) {
    const { limited, exempt } = level.spec
    const nominal = Math.ceil((total * sharesOf(level)) / Math.max(1, shares))
    const lendable = Math.round((nominal * ((limited ?? exempt)?.lendablePercent ?? 0)) / 100)
    const borrowing = limited?.borrowingLimitPercent
    const most = borrowing === undefined ? nominal + total : nominal + Math.round((nominal * borrowing) / 100)
    bounds.set(level.metadata.name ?? '', { nominal, least: nominal - lendable, most })
  }
  return bounds
}

/** A level with the most seats that were asked for at one time, lately. */
export interface Wish extends Bounds {
  demand: number
}

/**
 * Lends the seats that some levels do not need to those that need more. Each keeps its least; the rest goes first to
 * who has asked for it, by nominal seats, and what is left then is divided between all in the same way.
 */
export function lendSeats(wishes: readonly Wish[], total: number): number[] {
  const limits = wishes.map(({ least }) => least)
  const spare = () => total - limits.reduce((sum, limit) => sum + limit, 0)
  fill(limits, wishes, spare(), ({ demand, most }) => Math.min(demand, most))
  fill(limits, wishes, spare(), ({ nominal, most }) => Math.min(nominal, most))
  fill(limits, wishes, spare(), ({ most }) => most)
  return limits.map((limit) => Math.max(1, Math.floor(limit)))
}

/** Raises limits up to what is wanted, in proportion to nominal seats, until nothing is left or nobody wants more. */
function fill(limits: number[], wishes: readonly Wish[], spare: number, wanted: (wish: Wish) => number): void {
  let left = spare
  for (let round = 0; round <= wishes.length && left > 0; round++) {
    const open = wishes.flatMap((wish, i) => (limits[i]! < wanted(wish) ? [i] : []))
    const weight = open.reduce((sum, i) => sum + Math.max(1, wishes[i]!.nominal), 0)
    if (open.length === 0) return
    let given = 0
    for (const i of open) {
      const share = (left * Math.max(1, wishes[i]!.nominal)) / weight
      const more = Math.min(share, wanted(wishes[i]!) - limits[i]!)
      limits[i]! += more
      given += more
    }
    left -= given
  }
}

/** Objects that a list looks at for each seat that it takes, and the most seats of one request; upstream's numbers. */
const objectsOfSeat = 100
const mostSeats = 10
const mostOfLevel = 0.15

/** How many seats of a level a list takes: by the objects that it looks at, and never so many that nobody sits beside. */
export const listSeats = (objects: number, nominal: number): number => {
  const most = Math.max(1, Math.min(mostSeats, Math.ceil(nominal * mostOfLevel)))
  return Math.max(1, Math.min(most, Math.ceil(objects / objectsOfSeat)))
}
