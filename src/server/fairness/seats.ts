import type { PriorityLevelConfiguration } from '../../api/generated/types.ts'

/** The seats of a level: nominal, minimum and maximum. */
export interface Bounds {
  nominal: number
  least: number
  most: number
}

const sharesOf = ({ spec }: PriorityLevelConfiguration): number =>
  (spec.limited ?? spec.exempt)?.nominalConcurrencyShares ?? (spec.type === 'Limited' ? 30 : 0)

/** Divides the server's seats between levels by their shares. */
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

/** A level and its recent peak demand. */
interface Wish extends Bounds {
  demand: number
}

/**
 * Lends unused seats to levels that need more. Each level keeps its minimum. The rest goes to levels with demand, in
 * proportion to nominal seats, and what is left is divided in the same way.
 */
export function lendSeats(wishes: readonly Wish[], total: number): number[] {
  const limits = wishes.map(({ least }) => least)
  const spare = () => total - limits.reduce((sum, limit) => sum + limit, 0)
  fill(limits, wishes, spare(), ({ demand, most }) => Math.min(demand, most))
  fill(limits, wishes, spare(), ({ nominal, most }) => Math.min(nominal, most))
  fill(limits, wishes, spare(), ({ most }) => most)
  return limits.map((limit) => Math.max(1, Math.floor(limit)))
}

/** Raises limits toward `wanted`, in proportion to nominal seats, until nothing is left or all are satisfied. */
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

/** The number of objects a seat covers, and the maximum seats of a list, as in Kubernetes. */
const objectsOfSeat = 100
const mostSeats = 10
const mostOfLevel = 0.15

/** The number of seats of a list, by the objects it examines. It never takes the whole level. */
export const listSeats = (objects: number, nominal: number): number => {
  const most = Math.max(1, Math.min(mostSeats, Math.ceil(nominal * mostOfLevel)))
  return Math.max(1, Math.min(most, Math.ceil(objects / objectsOfSeat)))
}
